//! A PostgreSQL server for tests, sessions of it driven through psql, and trial specs for it.
//!
//! The binaries are those in a directory that the environment names. As root the server runs under
//! uid 65534, because PostgreSQL refuses root.

#![allow(dead_code, reason = "each test program uses a part of it")]

mod session;

use std::ops::Deref;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::sleep;
use std::time::Duration;

use dbdyno_core::wire::{Connection, Rows, Target};
use serde_json::{Value, json};
pub use session::Session;

const UNPRIVILEGED: u32 = 65534;
const USER: &str = "dyno";

/// How the server of a test program differs from a fresh one.
pub struct Setup {
    /// The environment variable that holds the directory of the server's programs.
    pub programs_variable: &'static str,
    /// pg_hba.conf.
    pub hba: &'static str,
    /// For `-c`.
    pub settings: &'static [&'static str],
    pub port: u16,
    /// Done to the data directory before the start.
    pub prepare: fn(&Path),
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            programs_variable: "DBDYNO_TEST_SERVER_BIN",
            hba: "local all all trust\n",
            settings: &["listen_addresses="],
            port: 5432,
            prepare: |_| (),
        }
    }
}

/// A running server, stopped and removed when dropped.
pub struct Server {
    postmaster: Child,
    /// Holds the socket, and `data`.
    pub directory: PathBuf,
    /// Of the server's programs.
    pub binaries: PathBuf,
    pub port: u16,
}

/// The server, for one test at a time: what one plants must not show in another.
pub struct Turn {
    _turn: MutexGuard<'static, ()>,
    server: Arc<Server>,
}

impl Deref for Turn {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

/// The server that all tests of this process share, or `None` (and a line that says so) where no
/// binaries are named. It lives as long as a test has it or waits for it.
pub fn take_turn() -> Option<Turn> {
    take_turn_of(Setup::default)
}

/// Likewise, with a setup: all tests of a process must name the same.
pub fn take_turn_of(setup: fn() -> Setup) -> Option<Turn> {
    static RUNNING: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    static TURN: Mutex<()> = Mutex::new(());
    let setup = setup();
    let Some(binaries) = std::env::var_os(setup.programs_variable).map(PathBuf::from) else {
        eprintln!("left out: {} does not name the directory of a server's programs", setup.programs_variable);
        return None;
    };
    let server = {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.upgrade().unwrap_or_else(|| {
            let started = Arc::new(Server::start(binaries, &setup));
            *running = Arc::downgrade(&started);
            started
        })
    };
    // A test that failed during its turn has left nothing behind that matters.
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Some(Turn { _turn: turn, server })
}

impl Server {
    /// A server of one's own.
    pub fn start(binaries: PathBuf, setup: &Setup) -> Self {
        static SERVERS: AtomicU32 = AtomicU32::new(0);
        let number = SERVERS.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("dbdyno-test-{}-{number}", std::process::id()));
        std::fs::create_dir(&directory).unwrap();
        give_to_server(&directory);
        let data = directory.join("data");
        let initdb = ["-U", USER, "-A", "trust", "--no-sync", "-D"];
        let made = as_server(&binaries.join("initdb")).args(initdb).arg(&data).stdout(Stdio::null()).status().unwrap();
        assert!(made.success());
        std::fs::write(data.join("pg_hba.conf"), setup.hba).unwrap();
        (setup.prepare)(&data);
        let mut command = as_server(&binaries.join("postgres"));
        command.arg("-D").arg(&data).arg("-k").arg(&directory).arg("-p").arg(setup.port.to_string());
        // A backend in a loop ends with its session.
        let settings = ["client_connection_check_interval=100", "max_connections=60"];
        settings.iter().chain(setup.settings).for_each(|setting| _ = command.args(["-c", setting]));
        let postmaster = command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let server = Server { postmaster, directory, binaries, port: setup.port };
        server.wait_until_ready();
        server
    }

    fn wait_until_ready(&self) {
        let ready = || Connection::connect(&self.target(), None).is_ok();
        assert!(
            (0..300).any(|_| ready() || {
                sleep(Duration::from_millis(50));
                false
            }),
            "the server does not start"
        );
    }

    /// The process that everything else is a child of.
    pub fn postmaster_pid(&self) -> i32 {
        self.postmaster.id() as i32
    }

    /// A new session through psql.
    pub fn session(&self) -> Session {
        // Some builds have no psql of their own.
        let own = self.binaries.join("psql").exists().then(|| self.binaries.clone());
        let binaries = own.or_else(|| std::env::var_os("DBDYNO_TEST_SERVER_BIN").map(PathBuf::from));
        Session::open(&binaries.expect("DBDYNO_TEST_SERVER_BIN names a psql"), &self.directory)
    }

    /// For a connection of one's own.
    pub fn target(&self) -> Target {
        serde_json::from_value(self.target_json(USER)).unwrap()
    }

    /// The Unix socket, as this user.
    pub fn target_json(&self, user: &str) -> Value {
        json!({"host": self.directory, "port": self.port, "user": user, "dbname": "postgres"})
    }

    /// Runs SQL in a session of its own.
    pub fn sql(&self, sql: &str) -> Rows {
        let mut connection = Connection::connect(&self.target(), None).unwrap();
        connection.query(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"))
    }

    /// The one integer that a query gives.
    pub fn number(&self, sql: &str) -> i64 {
        self.sql(sql)[0][0].as_ref().expect("not null").parse().expect("a number")
    }

    /// A trial spec with one script, short, and changed as `changes` says.
    pub fn trial_spec(&self, script: &str, changes: Value) -> String {
        let mut spec = json!({
            "target": self.target_json(USER),
            "scripts": [{"name": "test.sql", "text": script}],
            "clients": 2, "threads": 1, "mode": "prepared",
            "arrival": {"kind": "closed"}, "seed": 42,
            "warm_up_ns": 100_000_000, "window_ns": 200_000_000,
            "waits": {"route": "off"}
        });
        for (key, value) in changes.as_object().expect("an object") {
            spec[key] = value.clone();
        }
        spec.to_string()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SAFETY: a signal to our own child, which has not been waited for.
        unsafe { libc::kill(self.postmaster_pid(), libc::SIGINT) };
        let _ = self.postmaster.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Whether the test runs as root.
pub fn is_root() -> bool {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Lets the server's user have a file.
pub fn give_to_server(path: &Path) {
    if is_root() {
        chown(path, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
    }
}

fn as_server(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/");
    if is_root() {
        command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
    }
    command
}
