//! TLS by sslmode against a server that has it: set DBDYNO_TEST_TLS_SERVER_BIN to a directory with its
//! programs (Debian's /usr/lib/postgresql/15/bin). Certificates are made with the openssl program.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use dbdyno_core::CoreError;
use dbdyno_core::load::run_trial;
use serde_json::{Value, json};
use support::{Server, Setup};

fn setup() -> Setup {
    Setup {
        programs_variable: "DBDYNO_TEST_TLS_SERVER_BIN",
        hba: "local all all trust\nhostssl all scram 127.0.0.1/32 scram-sha-256\nhostssl all all 127.0.0.1/32 trust\n\
              hostnossl all plain 127.0.0.1/32 trust\n",
        settings: &["listen_addresses=127.0.0.1", "ssl=on"],
        port: free_port(),
        prepare: Some(make_certificates),
    }
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its number").port()
}

/// An authority, and a server certificate of it for the name `localhost` only.
fn make_certificates(data: &Path) {
    let openssl = |arguments: &str| {
        let mut command = Command::new("openssl");
        command.args(arguments.split(' ')).current_dir(data).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status().expect("openssl runs").success(), "openssl {arguments}");
    };
    openssl("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout root.key -out root.crt");
    openssl("req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr");
    fs::write(data.join("names"), "subjectAltName=DNS:localhost\n").expect("a file");
    openssl(
        "x509 -req -in server.csr -CA root.crt -CAkey root.key -CAcreateserial -days 2 -extfile names -out server.crt",
    );
    openssl("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=stranger -keyout other.key -out other.crt");
    for file in ["server.key", "server.crt"] {
        fs::set_permissions(data.join(file), fs::Permissions::from_mode(0o600)).expect("its permissions");
        support::own(&data.join(file));
    }
}

fn try_tls(server: &Server, host: &str, user: &str, sslmode: &str, root: Option<&str>) -> Result<Value, CoreError> {
    let root = root.map(|root| server.directory.join("data").join(root));
    let target = json!({"host": host, "port": server.port, "user": user, "dbname": "postgres", "sslmode": sslmode, "sslrootcert": root});
    let script = "SELECT 1 / ssl::int FROM pg_stat_ssl WHERE pid = pg_backend_pid();\nSELECT repeat('x', 100000);\n";
    let script = if user == "plain" { "SELECT 1;" } else { script };
    let spec = server.spec(script, json!({"target": target, "window_ns": 50_000_000}));
    run_trial(&spec, Some("open sesame")).map(|outcome| serde_json::from_str(&outcome).expect("JSON"))
}

#[test]
fn sslmodes_check_what_they_promise() {
    let Some((server, _turn)) = support::server(setup) else { return };
    server.sql("CREATE ROLE scram LOGIN PASSWORD 'open sesame'; CREATE ROLE plain LOGIN");
    let works = [
        ("127.0.0.1", "postgres", "prefer", None),
        ("127.0.0.1", "postgres", "require", None),
        ("127.0.0.1", "scram", "require", None),
        ("127.0.0.1", "postgres", "require", Some("root.crt")),
        ("127.0.0.1", "postgres", "verify-ca", Some("root.crt")),
        ("localhost", "postgres", "verify-full", Some("root.crt")),
        ("127.0.0.1", "plain", "disable", None),
    ];
    for (host, user, sslmode, root) in works {
        let outcome = try_tls(server, host, user, sslmode, root);
        let outcome = outcome.unwrap_or_else(|error| panic!("{host} {user} {sslmode} {root:?}: {error}"));
        assert!(outcome["units"]["successful"].as_u64() > Some(0), "{sslmode}");
    }
    let refused = [
        ("127.0.0.1", "postgres", "disable", None, "authentication_failed"),
        ("127.0.0.1", "postgres", "require", Some("other.crt"), "tls"),
        ("127.0.0.1", "postgres", "verify-ca", Some("other.crt"), "tls"),
        ("127.0.0.1", "postgres", "verify-full", Some("root.crt"), "tls"),
        ("127.0.0.1", "postgres", "verify-ca", Some("absent.crt"), "tls"),
    ];
    for (host, user, sslmode, root, code) in refused {
        let error = try_tls(server, host, user, sslmode, root).expect_err(sslmode);
        assert_eq!(code, error.code, "{sslmode} {root:?}: {error}");
        assert!(!error.message.contains('\n') && !error.message.contains("sesame"), "{error}");
    }
}
