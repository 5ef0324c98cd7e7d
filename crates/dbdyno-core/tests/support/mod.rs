//! A server for tests: started once per test program, ended with it.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use dbdyno_core::wire::{Connection, Rows, Target};
use serde_json::{Value, json};

/// PostgreSQL refuses root: as root the server runs as this user.
const UNPRIVILEGED_ID: u32 = 65534;

/// A running server.
pub struct Server {
    pub programs: PathBuf,
    pub directory: PathBuf,
    pub postmaster_pid: i32,
    pub port: u16,
}

/// What is written behind initdb's own files before the start.
#[derive(Default)]
pub struct Setup {
    /// Name of the environment variable that holds the directory of `initdb` and `postgres`.
    pub programs_variable: &'static str,
    pub hba: &'static str,
    pub settings: &'static [&'static str],
    /// 0: the default one, of the Unix socket only.
    pub port: u16,
    /// Prepares the data directory.
    pub prepare: Option<fn(&Path)>,
}

static SERVER: OnceLock<Option<Server>> = OnceLock::new();
static TURN: Mutex<()> = Mutex::new(());

/// The server and the turn to use it: trials would disturb one another. None, with a message, where the
/// environment names no server.
pub fn server(setup: fn() -> Setup) -> Option<(&'static Server, MutexGuard<'static, ()>)> {
    let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let server = SERVER.get_or_init(|| start(&setup())).as_ref()?;
    Some((server, turn))
}

fn start(setup: &Setup) -> Option<Server> {
    let Ok(programs) = std::env::var(setup.programs_variable) else {
        eprintln!("skipped: set {} to a directory with initdb and postgres", setup.programs_variable);
        return None;
    };
    let programs = PathBuf::from(programs);
    let directory = std::env::temp_dir().join(format!("dbdyno-test-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("a directory for the server");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).expect("its permissions");
    own(&directory);
    let data = directory.join("data");
    let mut initdb = as_server_user(&programs.join("initdb"));
    initdb.arg("-D").arg(&data).args(["-U", "postgres", "-A", "trust", "--no-sync"]).stdout(Stdio::null());
    assert!(initdb.status().expect("initdb runs").success());
    fs::write(data.join("pg_hba.conf"), setup.hba).expect("pg_hba.conf");
    if let Some(prepare) = setup.prepare {
        prepare(&data);
    }
    let mut postgres = as_server_user(&programs.join("postgres"));
    postgres.arg("-D").arg(&data).arg("-k").arg(&directory).stderr(Stdio::null()).stdout(Stdio::null());
    for setting in ["fsync=off", "max_connections=60", "listen_addresses="] {
        postgres.arg("-c").arg(setting);
    }
    for setting in setup.settings {
        postgres.arg("-c").arg(setting);
    }
    let port = if setup.port == 0 { 5432 } else { setup.port };
    postgres.arg("-p").arg(port.to_string());
    let postmaster_pid = spawn_for_life(postgres).id() as i32;
    // SAFETY: `clean_up` is a plain function that takes nothing.
    unsafe { libc::atexit(clean_up) };
    let server = Server { programs, directory, postmaster_pid, port };
    server.wait_until_ready();
    Some(server)
}

/// The server is told to end when the thread that started it does: so that thread lives to the end.
fn spawn_for_life(mut postgres: Command) -> Child {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        sender.send(postgres.spawn().expect("postgres runs")).expect("the test waits for it");
        loop {
            thread::park();
        }
    });
    receiver.recv().expect("the thread sends it")
}

extern "C" fn clean_up() {
    if let Some(Some(server)) = SERVER.get() {
        // SAFETY: signals and waits for our own child.
        unsafe {
            libc::kill(server.postmaster_pid, libc::SIGQUIT);
            libc::waitpid(server.postmaster_pid, std::ptr::null_mut(), 0);
        }
        let _ = fs::remove_dir_all(&server.directory);
    }
}

fn as_server_user(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/");
    if is_root() {
        command.uid(UNPRIVILEGED_ID).gid(UNPRIVILEGED_ID);
    }
    // SAFETY: prctl is async-signal-safe and touches only the child.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGQUIT);
            Ok(())
        })
    };
    command
}

/// Gives a file to the user that the server runs as.
pub fn own(path: &Path) {
    if is_root() {
        chown(path, Some(UNPRIVILEGED_ID), Some(UNPRIVILEGED_ID)).expect("root may give files away");
    }
}

fn is_root() -> bool {
    // SAFETY: cannot fail.
    unsafe { libc::geteuid() == 0 }
}

impl Server {
    fn wait_until_ready(&self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while Connection::connect(&self.target("postgres"), None).is_err() {
            assert!(Instant::now() < deadline, "the server did not start in time");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The Unix socket, as this user.
    pub fn target(&self, user: &str) -> Target {
        serde_json::from_value(self.target_json(user)).expect("a valid target")
    }

    pub fn target_json(&self, user: &str) -> Value {
        json!({"host": self.directory, "port": self.port, "user": user, "dbname": "postgres"})
    }

    /// A session of its own.
    pub fn connect(&self) -> Connection {
        Connection::connect(&self.target("postgres"), None).expect("the server takes connections")
    }

    /// Runs SQL in a session of its own.
    pub fn sql(&self, sql: &str) -> Rows {
        self.connect().query(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"))
    }

    /// The one integer that a query gives.
    pub fn number(&self, sql: &str) -> i64 {
        self.sql(sql)[0][0].as_ref().expect("not null").parse().expect("a number")
    }

    /// A spec with one script that starts at once, and whatever `changes` says.
    pub fn spec(&self, script: &str, changes: Value) -> String {
        let mut spec = json!({
            "target": self.target_json("postgres"),
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
