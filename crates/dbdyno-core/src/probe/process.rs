//! What the kernel tells about a process: whether it sleeps, its clocks, its children, its title.
//!
//! Files of `/proc/PID` are opened once and read again with pread. An open file stays tied to its
//! process: once that is gone it gives an error, also if the number is used again.
//!
//! Cost of one such read, 8 to 32 backends of PostgreSQL 18 under pgbench, Linux 6.18 on a virtual
//! machine, CPU time of the reader:
//!
//! | file | microseconds | what it gives |
//! |---|---|---|
//! | `stat` | 2.6 to 3.1 | the state letter, and fifty numbers nobody asked for |
//! | `status` | 6 to 7 | the same, spelled out |
//! | `wchan` | 1.6 to 1.8 | the kernel function a task sleeps in, or 0 |
//! | `syscall` | 1.8 | `running` or the call; may wait a tick for a task just leaving its CPU |
//! | `schedstat` | 0.5 to 0.8 | the clocks, not the state |
//!
//! The cheaper `wchan` says 0 of all tasks where it may not be read, and of a task that sleeps but is still on
//! its run queue (delayed dequeue, Linux 6.12: 1 % of the sleep of a busy backend here); a microsecond is not
//! worth finding out which of the two it is.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;

/// Whether a task has left its CPU of its own accord.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// Waiting for something other than a CPU.
    Asleep,
    /// On a CPU or in line for one.
    Runnable,
}

/// The state of one process, readable again and again.
pub struct StateFile(File);

impl StateFile {
    /// Open the state of a process.
    pub fn open(pid: i32) -> io::Result<Self> {
        File::open(format!("/proc/{pid}/stat")).map(StateFile)
    }

    /// The state now; `None` when the process is gone.
    pub fn read(&self) -> Option<TaskState> {
        let mut buffer = [0; 512];
        let length = self.0.read_at(&mut buffer, 0).ok()?;
        state_of_stat(&buffer[..length])
    }
}

/// `4711 (name) S 1 ...`; the name may hold brackets itself, so the last one counts.
fn state_of_stat(text: &[u8]) -> Option<TaskState> {
    let bracket = text.iter().rposition(|&byte| byte == b')')?;
    match text.get(bracket + 2)? {
        b'R' => Some(TaskState::Runnable),
        b'Z' | b'X' => None,
        _ => Some(TaskState::Asleep),
    }
}

/// The scheduler's clocks of one process: `CPU ns, run-queue ns, turns` since it started.
pub struct SchedstatFile(File);

impl SchedstatFile {
    /// Open the clocks of a process.
    pub fn open(pid: i32) -> io::Result<Self> {
        File::open(format!("/proc/{pid}/schedstat")).map(SchedstatFile)
    }

    /// (CPU, run queue) in nanoseconds. Up to a tick behind while the process runs; exact while it sleeps.
    pub fn read(&self) -> Option<(u64, u64)> {
        let mut buffer = [0; 96];
        let length = self.0.read_at(&mut buffer, 0).ok()?;
        let mut numbers = std::str::from_utf8(&buffer[..length]).ok()?.split_ascii_whitespace();
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }
}

/// The processes that a process started and that still run. An error where the kernel was built without the list.
pub fn children(pid: i32) -> io::Result<Vec<i32>> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
    Ok(text.split_ascii_whitespace().filter_map(|number| number.parse().ok()).collect())
}

/// The process that started this one.
pub fn parent(pid: i32) -> Option<i32> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let bracket = text.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(text.get(bracket + 4..)?).ok()?;
    rest.split(' ').next()?.parse().ok()
}

/// The sessions of a server: the children of its postmaster that serve clients.
pub fn session_pids(postmaster_pid: i32) -> io::Result<Vec<i32>> {
    let is_session = |pid: &i32| title(*pid).is_some_and(|title| session_of_title(&title));
    Ok(children(postmaster_pid)?.into_iter().filter(is_session).collect())
}

/// What a process has written over its arguments.
fn title(pid: i32) -> Option<String> {
    let text = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(String::from_utf8_lossy(&text).replace('\0', " ").trim_end().to_owned())
}

/// The backend type (as pg_stat_activity spells it) of a server process that serves no client.
///
/// `None` for a session, for a process that has not named itself yet, and for one that is gone.
pub fn background_type(pid: i32) -> Option<String> {
    background_type_of_title(&title(pid)?)
}

/// (backend type, leader) of any server process: sessions are `client backend`, parallel workers name their leader.
///
/// `None` for a process that has not named itself yet, and for one that is gone.
pub fn process_kind(pid: i32) -> Option<(String, Option<i32>)> {
    kind_of_title(&title(pid)?)
}

fn kind_of_title(title: &str) -> Option<(String, Option<i32>)> {
    let leader_pid = title.split_once("parallel worker for PID ").and_then(|(_, rest)| {
        let digits = rest.split(|character: char| !character.is_ascii_digit()).next()?;
        digits.parse().ok()
    });
    let is_session = || session_of_title(title).then(|| "client backend".to_owned());
    let backend_type = background_type_of_title(title).or_else(is_session)?;
    Some((backend_type, leader_pid))
}

/// A title is `postgres: [CLUSTER: ]TYPE[ details]`, that of a session
/// `postgres: [CLUSTER: ]USER DB HOST(PORT) ACTIVITY`.
fn background_type_of_title(title: &str) -> Option<String> {
    const TYPES: [&str; 16] = [
        "archiver",
        "autovacuum launcher",
        "autovacuum worker",
        "background writer",
        "checkpointer",
        "io worker",
        "logger",
        "logical replication launcher",
        "logical replication worker",
        "parallel worker",
        "slotsync worker",
        "startup",
        "walreceiver",
        "walsender",
        "walsummarizer",
        "walwriter",
    ];
    let parts: Vec<&str> = title.strip_prefix("postgres: ")?.split(": ").collect();
    let known = |part: &&str| {
        TYPES.iter().find(|name| part.strip_prefix(**name).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
    };
    if let Some(name) = parts.iter().find_map(known) {
        return Some((*name).to_owned());
    }
    let last = parts.last()?;
    (!session_of_title(title) && !last.is_empty()).then(|| (*last).to_owned())
}

/// A session names its client: `[local]` or `HOST(PORT)`; so does a walsender, which serves no load.
fn session_of_title(title: &str) -> bool {
    let names_client = |word: &str| word == "[local]" || (word.contains('(') && word.ends_with(')'));
    title.starts_with("postgres: ") && !title.contains(": walsender ") && title.split(' ').any(names_client)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    use std::process::{Command, Stdio};

    #[test]
    fn state_letters() {
        assert_eq!(state_of_stat(b"7 (a) R) S 1 2"), Some(TaskState::Asleep));
        assert_eq!(state_of_stat(b"7 (postgres) R 1 2"), Some(TaskState::Runnable));
        assert_eq!(state_of_stat(b"7 (postgres) D 1 2"), Some(TaskState::Asleep));
        assert_eq!(state_of_stat(b"7 (postgres) Z 1 2"), None);
    }

    #[test]
    fn a_sleeping_child_and_its_end_are_seen() {
        let mut child = Command::new("sleep").arg("100").stdout(Stdio::null()).spawn().unwrap();
        let pid = child.id() as i32;
        thread::sleep(Duration::from_millis(50));
        let state = StateFile::open(pid).unwrap();
        let schedstat = SchedstatFile::open(pid).unwrap();
        assert_eq!(state.read(), Some(TaskState::Asleep));
        assert_eq!(parent(pid), Some(std::process::id() as i32));
        let clocks = schedstat.read().unwrap();
        thread::sleep(Duration::from_millis(20));
        assert_eq!(schedstat.read().unwrap(), clocks, "the clocks of a sleeping process stand still");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(state.read().is_none() && schedstat.read().is_none());
    }

    #[test]
    fn types_from_titles() {
        let cases = [
            ("postgres: walwriter", Some("walwriter")),
            ("postgres: main: io worker 2", Some("io worker")),
            ("postgres: a: b: checkpointer", Some("checkpointer")),
            ("postgres: walsender joe 10.0.0.1(4242) streaming 0/1", Some("walsender")),
            ("postgres: parallel worker for PID 77", Some("parallel worker")),
            ("postgres: startup recovering 000000010000000000000001", Some("startup")),
            ("postgres: pg_cron launcher", Some("pg_cron launcher")),
            ("postgres: joe bench [local] idle", None),
            ("postgres: main: joe bench 127.0.0.1(5555) UPDATE waiting", None),
            ("/usr/bin/postgres -D data", None),
        ];
        for (title, expected) in cases {
            assert_eq!(background_type_of_title(title).as_deref(), expected, "{title}");
        }
    }

    #[test]
    fn kinds_from_titles() {
        let cases = [
            ("postgres: walwriter", Some(("walwriter", None))),
            ("postgres: main: parallel worker for PID 77", Some(("parallel worker", Some(77)))),
            ("postgres: parallel worker for PID 78  PARALLEL", Some(("parallel worker", Some(78)))),
            ("postgres: joe bench [local] idle", Some(("client backend", None))),
            ("/usr/bin/postgres -D data", None),
        ];
        for (title, expected) in cases {
            let expected = expected.map(|(backend_type, leader_pid)| (backend_type.to_owned(), leader_pid));
            assert_eq!(kind_of_title(title), expected, "{title}");
        }
    }
}
