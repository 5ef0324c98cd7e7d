//! Which server to talk to, and how.

use serde::Deserialize;

/// The `target` of a trial spec. The password is never part of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Directory of a Unix socket (starts with `/`), host name or address.
    pub host: String,
    /// TCP port, or the number in the socket's file name.
    pub port: u16,
    /// Role to log in as.
    pub user: String,
    /// Database to connect to.
    pub dbname: String,
    /// How much TLS is wanted.
    #[serde(default)]
    pub sslmode: SslMode,
    /// PEM file with the certificates to trust; the system's when absent.
    #[serde(default)]
    pub sslrootcert: Option<String>,
    /// Shown in pg_stat_activity.
    #[serde(default = "default_application_name")]
    pub application_name: String,
    /// Time for connecting and logging in, each of them.
    #[serde(default = "default_connect_timeout_ns")]
    pub connect_timeout_ns: u64,
}

/// libpq's sslmode, without `allow`. Unix sockets never use TLS.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum SslMode {
    /// Never.
    Disable,
    /// If the server has it; verifies nothing.
    #[default]
    Prefer,
    /// Always; verifies nothing unless `sslrootcert` is given (then as `verify-ca`, as libpq does).
    Require,
    /// Always; the certificate's chain is verified, its name is not.
    VerifyCa,
    /// Always; chain and name are verified.
    VerifyFull,
}

impl Target {
    /// Whether the server is reached by a Unix socket.
    #[must_use]
    pub fn is_unix(&self) -> bool {
        self.host.starts_with('/')
    }

    /// The address as messages show it.
    #[must_use]
    pub fn address(&self) -> String {
        if self.is_unix() {
            format!("{}/.s.PGSQL.{}", self.host.trim_end_matches('/'), self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

fn default_application_name() -> String {
    "dbdyno".to_owned()
}

fn default_connect_timeout_ns() -> u64 {
    10_000_000_000
}
