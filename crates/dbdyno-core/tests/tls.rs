//! TLS by sslmode against a server that has it: set DBDYNO_TEST_TLS_SERVER_BIN to a directory with its
//! programs (Debian's /usr/lib/postgresql/15/bin). Certificates are made with the openssl program.

mod server;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use dbdyno_core::CoreError;
use dbdyno_core::load::run_trial;
use serde_json::{Value, json};
use server::{Server, Setup, give_to_server, take_turn_of};

fn setup() -> Setup {
    Setup {
        programs_variable: "DBDYNO_TEST_TLS_SERVER_BIN",
        hba: "local all all trust\nhostssl all scram 127.0.0.1/32 scram-sha-256\nhostssl all md5 127.0.0.1/32 md5\n\
              hostssl all dyno 127.0.0.1/32 trust\n\
              hostnossl all plain 127.0.0.1/32 trust\n",
        settings: &["listen_addresses=127.0.0.1", "ssl=on"],
        port: free_port(),
        prepare: make_certificates,
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
        give_to_server(&data.join(file));
    }
}

const PASSWORD: &str = "open sesame";

fn make_roles(server: &Server) {
    server.sql(&format!(
        "DROP ROLE IF EXISTS scram, md5, plain; CREATE ROLE plain LOGIN; CREATE ROLE scram LOGIN PASSWORD '{PASSWORD}';
         SET password_encryption = 'md5'; CREATE ROLE md5 LOGIN PASSWORD '{PASSWORD}'"
    ));
}

fn try_tls(server: &Server, host: &str, user: &str, sslmode: &str, root: Option<&str>) -> Result<Value, CoreError> {
    let root = root.map(|root| server.directory.join("data").join(root));
    let target = json!({"host": host, "port": server.port, "user": user, "dbname": "postgres", "sslmode": sslmode, "sslrootcert": root});
    let script = "SELECT 1 / ssl::int FROM pg_stat_ssl WHERE pid = pg_backend_pid();\nSELECT repeat('x', 100000);\n";
    let script = if user == "plain" { "SELECT 1;" } else { script };
    let spec = server.trial_spec(script, json!({"target": target, "window_ns": 50_000_000}));
    run_trial(&spec, Some(PASSWORD), None).map(|outcome| serde_json::from_str(&outcome).expect("JSON"))
}

#[test]
fn sslmodes_check_what_they_promise() {
    let Some(server) = take_turn_of(setup) else { return };
    make_roles(&server);
    let works = [
        ("127.0.0.1", "dyno", "prefer", None),
        ("127.0.0.1", "dyno", "require", None),
        ("127.0.0.1", "scram", "require", None),
        ("127.0.0.1", "md5", "require", None),
        ("localhost", "scram", "verify-full", Some("root.crt")),
        ("127.0.0.1", "dyno", "require", Some("root.crt")),
        ("127.0.0.1", "dyno", "verify-ca", Some("root.crt")),
        ("localhost", "dyno", "verify-full", Some("root.crt")),
        ("127.0.0.1", "plain", "disable", None),
        ("127.0.0.1", "plain", "prefer", None),
    ];
    for (host, user, sslmode, root) in works {
        let outcome = try_tls(&server, host, user, sslmode, root);
        let outcome = outcome.unwrap_or_else(|error| panic!("{host} {user} {sslmode} {root:?}: {error}"));
        assert!(outcome["units"]["successful"].as_u64() > Some(0), "{sslmode}");
    }
    let refused = [
        ("127.0.0.1", "dyno", "disable", None, "not_admitted"),
        ("127.0.0.1", "dyno", "require", Some("other.crt"), "tls"),
        ("127.0.0.1", "dyno", "verify-ca", Some("other.crt"), "tls"),
        ("127.0.0.1", "dyno", "verify-full", Some("root.crt"), "tls"),
        ("localhost", "dyno", "verify-full", Some("other.crt"), "tls"),
        ("localhost", "dyno", "verify-full", None, "tls"),
        ("127.0.0.1", "plain", "require", None, "not_admitted"),
        ("127.0.0.1", "dyno", "verify-ca", Some("absent.crt"), "tls"),
    ];
    for (host, user, sslmode, root, code) in refused {
        let error = try_tls(&server, host, user, sslmode, root).expect_err(sslmode);
        assert_eq!(code, error.code, "{sslmode} {root:?}: {error}");
        assert!(!error.message.contains('\n') && !error.message.contains("sesame"), "{error}");
    }
}

#[test]
fn wrong_passwords_are_refused_over_tls() {
    let Some(server) = take_turn_of(setup) else { return };
    make_roles(&server);
    server
        .sql("ALTER ROLE scram PASSWORD 'another'; SET password_encryption = 'md5'; ALTER ROLE md5 PASSWORD 'another'");
    for user in ["scram", "md5"] {
        for sslmode in ["prefer", "require"] {
            let error = try_tls(&server, "127.0.0.1", user, sslmode, None).expect_err(sslmode);
            assert_eq!("authentication_failed", error.code, "{user}: {error}");
            assert!(error.message.contains("password authentication failed"), "{error}");
            assert!(!error.message.contains('\n') && !error.message.contains("sesame"), "{error}");
        }
    }
}
