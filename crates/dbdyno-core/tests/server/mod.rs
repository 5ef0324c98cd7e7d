//! A PostgreSQL server for tests, and sessions of it driven through psql.
//!
//! The binaries are those in the directory that DBDYNO_TEST_SERVER_BIN names. As root the server runs
//! under uid 65534, because PostgreSQL refuses root.

use std::io::{BufRead, BufReader, Read, Write};
use std::ops::Deref;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::sleep;
use std::time::Duration;

const UNPRIVILEGED: u32 = 65534;

/// A running server, stopped and removed when dropped.
pub struct Server {
    postmaster: Child,
    directory: PathBuf,
    binaries: PathBuf,
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
    static RUNNING: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    static TURN: Mutex<()> = Mutex::new(());
    let Some(binaries) = std::env::var_os("DBDYNO_TEST_SERVER_BIN").map(PathBuf::from) else {
        eprintln!("left out: DBDYNO_TEST_SERVER_BIN does not name the directory of a server's programs");
        return None;
    };
    let server = {
        let mut running = RUNNING.lock().unwrap();
        running.upgrade().unwrap_or_else(|| {
            let started = Arc::new(Server::start(binaries));
            *running = Arc::downgrade(&started);
            started
        })
    };
    // A test that failed during its turn has left nothing behind that matters.
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Some(Turn { _turn: turn, server })
}

impl Server {
    fn start(binaries: PathBuf) -> Self {
        static SERVERS: AtomicU32 = AtomicU32::new(0);
        let number = SERVERS.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("dbdyno-probe-{}-{number}", std::process::id()));
        std::fs::create_dir(&directory).unwrap();
        if is_root() {
            chown(&directory, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
        }
        let data = directory.join("data");
        let initdb = ["-U", "dyno", "-A", "trust", "--no-sync", "-D"];
        let made = as_server(&binaries.join("initdb")).args(initdb).arg(&data).stdout(Stdio::null()).status().unwrap();
        assert!(made.success());
        let mut command = as_server(&binaries.join("postgres"));
        command.arg("-D").arg(&data).arg("-k").arg(&directory).arg("-clisten_addresses=");
        // A backend in a loop ends with its session.
        command.arg("-cclient_connection_check_interval=1000");
        let postmaster = command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let server = Server { postmaster, directory, binaries };
        server.wait_until_ready();
        server
    }

    fn wait_until_ready(&self) {
        let ready = || {
            let mut command = Command::new(self.binaries.join("pg_isready"));
            command.arg("-q").arg("-h").arg(&self.directory).status().unwrap().success()
        };
        assert!(
            (0..100).any(|_| ready() || {
                sleep(Duration::from_millis(100));
                false
            }),
            "the server does not start"
        );
    }

    /// The process that everything else is a child of.
    pub fn postmaster_pid(&self) -> i32 {
        self.postmaster.id() as i32
    }

    /// A new session.
    pub fn session(&self) -> Session {
        Session::open(&self.binaries, &self.directory)
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

fn as_server(program: &Path) -> Command {
    let mut command = Command::new(program);
    if is_root() {
        command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
    }
    command
}

/// A session of the server.
pub struct Session {
    psql: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Process id of its backend.
    pub pid: i32,
}

impl Session {
    fn open(binaries: &Path, socket: &Path) -> Self {
        let mut command = Command::new(binaries.join("psql"));
        command.arg("-h").arg(socket).args(["-XqAt", "-F|", "-U", "dyno", "postgres"]);
        let mut psql = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let input = psql.stdin.take().unwrap();
        let output = BufReader::new(psql.stdout.take().unwrap());
        let mut session = Session { psql, input, output, pid: 0 };
        session.pid = session.rows("select pg_backend_pid()")[0].parse().unwrap();
        session
    }

    /// Send a statement and go on without its result.
    pub fn send(&mut self, statement: &str) {
        writeln!(self.input, "{statement};").unwrap();
        self.input.flush().unwrap();
    }

    /// The rows of a statement; columns are separated by `|`.
    pub fn rows(&mut self, statement: &str) -> Vec<String> {
        self.send(statement);
        self.send("select 'end of rows'");
        let lines = self.output.by_ref().lines().map(Result::unwrap);
        lines.take_while(|line| line != "end of rows").collect()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.psql.kill();
        let _ = self.psql.wait();
    }
}
