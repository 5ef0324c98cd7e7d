//! The system calls of one process for a short, bounded while: counts, bytes, times, and the files behind them.
//!
//! ```text
//! SEIZE -> INTERRUPT -> SYSCALL -> stop at entry -> SYSCALL -> stop at exit -> ... -> this thread ends: released
//! ```
//!
//! Each call costs two stops, so its time is that of the call and of the tracing, and the process is slower meanwhile:
//! how long it stood is summed and said. The kernel releases the process when the tracing thread ends, however it ends.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::cpu::stop_advice;
use super::ptrace::request;
use crate::error::{CoreError, Result};

/// What to trace.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    pid: i32,
    #[serde(default = "one_second")]
    seconds_ns: u64,
    #[serde(default = "two_thousand")]
    calls: u64,
}

fn one_second() -> u64 {
    1_000_000_000
}

fn two_thousand() -> u64 {
    2_000
}

/// What was seen.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TraceOutcome {
    format: u32,
    pid: i32,
    /// `time`, `calls`, `stopped` or `gone`.
    ended: &'static str,
    elapsed_ns: u64,
    /// How often the process stood still, and for how long at least.
    stops: u64,
    held_ns: u64,
    /// The shortest call with its tracing: at most so much of each call's time is the tracing.
    shortest_ns: Option<u64>,
    calls: Vec<CallCounts>,
}

/// All calls of one name.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CallCounts {
    call: String,
    count: u64,
    errors: u64,
    /// Transferred by reads and writes; null for calls that transfer nothing.
    bytes: Option<u64>,
    total_ns: u64,
    max_ns: u64,
    /// By the file behind the descriptor, the most frequent first.
    files: Vec<FileCounts>,
}

/// The calls on one file.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FileCounts {
    file: String,
    count: u64,
    bytes: u64,
    total_ns: u64,
}

/// Traces for the time or the number of calls that the spec says, or until `stop` is set; the outcome as JSON.
///
/// Runs on a thread of its own, whose end releases the process.
pub fn trace(spec_json: &str, stop: &AtomicBool) -> Result<String> {
    let spec: TraceSpec = serde_json::from_str(spec_json)
        .map_err(|error| CoreError::new("spec_invalid", format!("system calls: {error}")))?;
    let tracing = std::thread::scope(|scope| scope.spawn(|| Tracing::run(spec, stop)).join());
    let outcome = tracing.unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map_err(|error| {
        let message = match error.raw_os_error() {
            Some(libc::ESRCH) => format!("--syscalls {}: no such process", spec.pid),
            _ => format!("--syscalls {}: {}", spec.pid, stop_advice(&error)),
        };
        CoreError::new("trace_refused", message)
    })?;
    serde_json::to_string(&outcome).map_err(|error| CoreError::new("io", format!("system calls: {error}")))
}

/// A call that was entered and has not come back.
struct Entered {
    number: u64,
    descriptor: Option<i32>,
    at: Instant,
}

struct Tracing {
    pid: i32,
    entered: Option<Entered>,
    calls: u64,
    shortest_ns: Option<u64>,
    stops: u64,
    held: Duration,
    counts: BTreeMap<u64, (CallCounts, HashMap<String, FileCounts>)>,
    files: HashMap<i32, String>,
}

/// Why the process stands.
enum Stop {
    Entry {
        number: u64,
        first_argument: u64,
    },
    Exit {
        result: i64,
        is_error: bool,
    },
    /// To receive this signal; 0 for our interruption.
    Signal(libc::c_int),
    /// Somebody has sent it SIGSTOP, or the like.
    Group,
}

impl Tracing {
    fn run(spec: TraceSpec, stop: &AtomicBool) -> io::Result<TraceOutcome> {
        let mut tracing = Tracing {
            pid: spec.pid,
            entered: None,
            calls: 0,
            shortest_ns: None,
            stops: 0,
            held: Duration::ZERO,
            counts: BTreeMap::new(),
            files: HashMap::new(),
        };
        request(libc::PTRACE_SEIZE, spec.pid, libc::PTRACE_O_TRACESYSGOOD)?;
        request(libc::PTRACE_INTERRUPT, spec.pid, 0)?;
        let began = Instant::now();
        let deadline = began + Duration::from_nanos(spec.seconds_ns);
        let ended = loop {
            if tracing.calls >= spec.calls {
                break "calls";
            }
            let Some(status) = wait_until(spec.pid, deadline, stop)? else {
                break if stop.load(Ordering::Relaxed) { "stopped" } else { "time" };
            };
            let stopped_at = Instant::now();
            if !libc::WIFSTOPPED(status) {
                break "gone";
            }
            let (how, signal) = tracing.meet(status, stopped_at);
            if request(how, spec.pid, signal).is_err() {
                break "gone";
            }
            tracing.stops += 1;
            tracing.held += stopped_at.elapsed();
        };
        Ok(tracing.outcome(ended, began.elapsed()))
    }

    /// Takes note of why the process stands; how it is to go on, and the signal to hand on to it.
    fn meet(&mut self, status: libc::c_int, now: Instant) -> (libc::c_uint, libc::c_int) {
        match why_stopped(self.pid, status) {
            Stop::Entry { number, first_argument } => {
                let descriptor = has_descriptor(number).then_some(first_argument as i32);
                if let Some(descriptor) = descriptor {
                    self.files.entry(descriptor).or_insert_with(|| file_behind(self.pid, descriptor));
                }
                self.entered = Some(Entered { number, descriptor, at: now });
                (libc::PTRACE_SYSCALL, 0)
            }
            Stop::Exit { result, is_error } => {
                if let Some(entered) = self.entered.take() {
                    self.count(&entered, result, is_error, now);
                }
                (libc::PTRACE_SYSCALL, 0)
            }
            Stop::Signal(signal) => (libc::PTRACE_SYSCALL, signal),
            // It stays stopped, and tells us when it is continued (ptrace(2), PTRACE_LISTEN).
            Stop::Group => (libc::PTRACE_LISTEN, 0),
        }
    }

    fn count(&mut self, entered: &Entered, result: i64, is_error: bool, now: Instant) {
        let ns = now.duration_since(entered.at).as_nanos() as u64;
        self.calls += 1;
        self.shortest_ns = Some(self.shortest_ns.map_or(ns, |shortest| shortest.min(ns)));
        let transferred = if transfers(entered.number) && !is_error { result as u64 } else { 0 };
        let (counts, by_file) = self.counts.entry(entered.number).or_insert_with(|| {
            let bytes = transfers(entered.number).then_some(0);
            (CallCounts { call: name(entered.number), bytes, ..CallCounts::default() }, HashMap::new())
        });
        counts.count += 1;
        counts.errors += u64::from(is_error);
        counts.bytes = counts.bytes.map(|bytes| bytes + transferred);
        counts.total_ns += ns;
        counts.max_ns = counts.max_ns.max(ns);
        if let Some(file) = entered.descriptor.and_then(|descriptor| self.files.get(&descriptor)) {
            let counts = by_file.entry(file.clone()).or_default();
            counts.count += 1;
            counts.bytes += transferred;
            counts.total_ns += ns;
        }
        if entered.number == libc::SYS_close as u64 {
            self.files.remove(&entered.descriptor.unwrap_or(-1));
        }
    }

    fn outcome(self, ended: &'static str, elapsed: Duration) -> TraceOutcome {
        let with_files = |(mut counts, by_file): (CallCounts, HashMap<String, FileCounts>)| {
            counts.files = by_file.into_iter().map(|(file, counts)| FileCounts { file, ..counts }).collect();
            counts.files.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.file.cmp(&b.file)));
            counts
        };
        let mut calls: Vec<CallCounts> = self.counts.into_values().map(with_files).collect();
        calls.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.call.cmp(&b.call)));
        TraceOutcome {
            format: 1,
            pid: self.pid,
            ended,
            elapsed_ns: elapsed.as_nanos() as u64,
            stops: self.stops,
            held_ns: self.held.as_nanos() as u64,
            shortest_ns: self.shortest_ns,
            calls,
        }
    }
}

/// The next stop of the process; None at the deadline or when told to stop.
///
/// A process in the midst of its calls comes back within microseconds: asked without sleeping at first.
fn wait_until(pid: i32, deadline: Instant, stop: &AtomicBool) -> io::Result<Option<libc::c_int>> {
    const ASKED_AT_ONCE: u32 = 300;
    let mut asked = 0;
    loop {
        let mut status = 0;
        // SAFETY: `status` outlives the call.
        match unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG | libc::__WALL) } {
            0 if Instant::now() >= deadline || stop.load(Ordering::Relaxed) => return Ok(None),
            0 if asked < ASKED_AT_ONCE => {
                asked += 1;
                std::thread::yield_now();
            }
            0 => std::thread::sleep(Duration::from_micros(100)),
            -1 => return Err(io::Error::last_os_error()),
            _ => return Ok(Some(status)),
        }
    }
}

fn why_stopped(pid: i32, status: libc::c_int) -> Stop {
    const SYSCALL_STOP: libc::c_int = libc::SIGTRAP | 0x80;
    if status >> 16 == libc::PTRACE_EVENT_STOP {
        return if libc::WSTOPSIG(status) == libc::SIGTRAP { Stop::Signal(0) } else { Stop::Group };
    }
    if libc::WSTOPSIG(status) != SYSCALL_STOP {
        return Stop::Signal(libc::WSTOPSIG(status));
    }
    let mut info = MaybeUninit::<libc::ptrace_syscall_info>::zeroed();
    // SAFETY: the process stands and we trace it; the kernel writes at most the size given into `info`.
    let info = unsafe {
        let size = size_of::<libc::ptrace_syscall_info>();
        libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, pid, size, info.as_mut_ptr().cast::<libc::c_void>());
        info.assume_init()
    };
    // SAFETY: `op` says which member of the union the kernel has filled; all are integers.
    unsafe {
        match info.op {
            libc::PTRACE_SYSCALL_INFO_ENTRY => {
                Stop::Entry { number: info.u.entry.nr, first_argument: info.u.entry.args[0] }
            }
            libc::PTRACE_SYSCALL_INFO_EXIT => {
                Stop::Exit { result: info.u.exit.sval, is_error: info.u.exit.is_error != 0 }
            }
            _ => Stop::Signal(0),
        }
    }
}

fn file_behind(pid: i32, descriptor: i32) -> String {
    let link = std::fs::read_link(format!("/proc/{pid}/fd/{descriptor}"));
    link.map_or_else(|_| format!("descriptor {descriptor}"), |path| path.to_string_lossy().into_owned())
}

/// A table of calls: number, name, whether the first argument is a descriptor, whether the result is a size.
macro_rules! calls {
    ($($constant:ident $name:literal $descriptor:literal $transfers:literal;)*) => {
        const CALLS: &[(u64, &str, bool, bool)] = &[$((libc::$constant as u64, $name, $descriptor, $transfers)),*];
    };
}

calls! {
    SYS_read "read" true true;
    SYS_write "write" true true;
    SYS_pread64 "pread" true true;
    SYS_pwrite64 "pwrite" true true;
    SYS_readv "readv" true true;
    SYS_writev "writev" true true;
    SYS_preadv "preadv" true true;
    SYS_pwritev "pwritev" true true;
    SYS_recvfrom "recv" true true;
    SYS_sendto "send" true true;
    SYS_recvmsg "recvmsg" true true;
    SYS_sendmsg "sendmsg" true true;
    SYS_fsync "fsync" true false;
    SYS_fdatasync "fdatasync" true false;
    SYS_sync_file_range "sync_file_range" true false;
    SYS_lseek "lseek" true false;
    SYS_fallocate "fallocate" true false;
    SYS_ftruncate "ftruncate" true false;
    SYS_fadvise64 "posix_fadvise" true false;
    SYS_close "close" true false;
    SYS_fstat "fstat" true false;
    SYS_fcntl "fcntl" true false;
    SYS_ioctl "ioctl" true false;
    SYS_getdents64 "getdents" true false;
    SYS_epoll_wait "epoll_wait" true false;
    SYS_epoll_pwait "epoll_pwait" true false;
    SYS_epoll_ctl "epoll_ctl" true false;
    SYS_openat "openat" false false;
    SYS_open "open" false false;
    SYS_stat "stat" false false;
    SYS_newfstatat "fstatat" false false;
    SYS_lstat "lstat" false false;
    SYS_unlink "unlink" false false;
    SYS_rename "rename" false false;
    SYS_poll "poll" false false;
    SYS_select "select" false false;
    SYS_pselect6 "pselect" false false;
    SYS_futex "futex" false false;
    SYS_semop "semop" false false;
    SYS_getpid "getpid" false false;
    SYS_semtimedop "semtimedop" false false;
    SYS_nanosleep "nanosleep" false false;
    SYS_clock_nanosleep "clock_nanosleep" false false;
    SYS_clock_gettime "clock_gettime" false false;
    SYS_kill "kill" false false;
    SYS_rt_sigprocmask "sigprocmask" false false;
    SYS_rt_sigreturn "sigreturn" false false;
    SYS_setitimer "setitimer" false false;
    SYS_restart_syscall "restart_syscall" false false;
    SYS_brk "brk" false false;
    SYS_mmap "mmap" false false;
    SYS_munmap "munmap" false false;
    SYS_mremap "mremap" false false;
    SYS_madvise "madvise" false false;
    SYS_getrusage "getrusage" false false;
    SYS_io_uring_enter "io_uring_enter" true false;
}

fn entry(number: u64) -> Option<&'static (u64, &'static str, bool, bool)> {
    CALLS.iter().find(|(known, ..)| *known == number)
}

fn name(number: u64) -> String {
    entry(number).map_or_else(|| format!("call {number}"), |(_, name, ..)| (*name).to_owned())
}

fn has_descriptor(number: u64) -> bool {
    entry(number).is_some_and(|(_, _, descriptor, _)| *descriptor)
}

fn transfers(number: u64) -> bool {
    entry(number).is_some_and(|(.., transfers)| *transfers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn the_calls_of_a_copying_process_are_counted_and_it_goes_on() {
        let mut child = Command::new("dd")
            .args(["if=/dev/zero", "of=/dev/null", "bs=4096"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let pid = child.id();
        std::thread::sleep(Duration::from_millis(50));

        let spec = format!(r#"{{"pid": {pid}, "calls": 200, "seconds_ns": 5000000000}}"#);
        let outcome: serde_json::Value = serde_json::from_str(&trace(&spec, &AtomicBool::new(false)).unwrap()).unwrap();

        assert_eq!(outcome["ended"], "calls");
        let of = |name: &str| {
            let calls = outcome["calls"].as_array().unwrap();
            calls.iter().find(|call| call["call"] == name).unwrap_or_else(|| panic!("{name}: {outcome}")).clone()
        };
        let (read, write) = (of("read"), of("write"));
        assert_eq!(read["count"].as_u64().unwrap() + write["count"].as_u64().unwrap(), 200);
        assert_eq!(read["bytes"].as_u64().unwrap(), 4096 * read["count"].as_u64().unwrap());
        assert_eq!(write["files"][0]["file"], "/dev/null");
        assert!(outcome["held_ns"].as_u64().unwrap() > 0);
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        assert!(status.contains("TracerPid:\t0\n") && !status.contains("State:\tt"), "{status}");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_that_is_not_there_is_said() {
        let error = trace(r#"{"pid": 2147483000}"#, &AtomicBool::new(false)).unwrap_err();

        assert_eq!((error.code, error.message.as_str()), ("trace_refused", "--syscalls 2147483000: no such process"));
    }
}
