//! A stack by stopping its process: for kernels that refuse perf events.
//!
//! ```text
//! SEIZE -> INTERRUPT -> wait until it stands -> registers, one copy of the stack -> DETACH (it goes on)
//! ```
//!
//! Seized, not attached: a process that was seized goes on when its tracer dies, however that dies, as long as
//! PTRACE_O_EXITKILL is not asked for, and it is not. The pause is measured from the request to the release.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::time::{Duration, Instant};

use super::copy::{Registers, StackCopy};
use super::ptrace::request;

/// A process that does not stand after this long sleeps where nothing can interrupt it (a dead disk).
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// How long processes stood still for us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pauses {
    /// How often one was stopped.
    pub count: u64,
    /// All the time together.
    pub total_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

impl Pauses {
    fn add(&mut self, pause: Duration) {
        let ns = pause.as_nanos() as u64;
        self.count += 1;
        self.total_ns += ns;
        self.max_ns = self.max_ns.max(ns);
    }
}

/// Stops a process, copies its registers and its stack up to `stack_end`, and lets it go on.
///
/// The calling thread is the tracer and must not trace the process otherwise. After `TimedOut` the process is still
/// ours: `release_late` must be called until it says that it is not.
pub fn snapshot(pid: i32, stack_end: u64, stack_bytes: usize, pauses: &mut Pauses) -> io::Result<StackCopy> {
    let began = Instant::now();
    let seized = Seized::new(pid)?;
    let copy = seized.registers().and_then(|registers| StackCopy::take(pid, registers, stack_end, stack_bytes));
    drop(seized);
    pauses.add(began.elapsed());
    copy
}

/// Lets a process go on that did not stand in time, if it stands by now; whether it is ours no more.
///
/// Without this it would stand as soon as it can, and until this thread ends.
pub fn release_late(pid: i32) -> bool {
    match wait_for(pid) {
        Ok(None) => false,
        Ok(Some(signal)) => {
            drop(Seized { pid, signal });
            true
        }
        Err(_) => true,
    }
}

/// A process that stands still and is ours to look at until this is dropped.
struct Seized {
    pid: i32,
    /// A signal that was on its way to the process when it stopped: handed on at the release.
    signal: libc::c_int,
}

impl Seized {
    fn new(pid: i32) -> io::Result<Self> {
        request(libc::PTRACE_SEIZE, pid, 0)?;
        // From here on the kernel releases the process when this thread ends, if we do not.
        request(libc::PTRACE_INTERRUPT, pid, 0)?;
        let began = Instant::now();
        loop {
            match wait_for(pid)? {
                Some(signal) => return Ok(Seized { pid, signal }),
                None if began.elapsed() > LONGEST_WAIT => return Err(io::Error::from(io::ErrorKind::TimedOut)),
                None => std::thread::sleep(Duration::from_micros(20)),
            }
        }
    }

    fn registers(&self) -> io::Result<Registers> {
        let mut registers = MaybeUninit::<libc::user_regs_struct>::uninit();
        // SAFETY: the process stands and we trace it; the kernel fills `registers`.
        let result = unsafe {
            libc::ptrace(
                libc::PTRACE_GETREGS,
                self.pid,
                ptr::null_mut::<libc::c_void>(),
                registers.as_mut_ptr().cast::<libc::c_void>(),
            )
        };
        if result == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: filled by the successful call.
        let registers = unsafe { registers.assume_init() };
        Ok(Registers { instruction: registers.rip, stack: registers.rsp, base: Some(registers.rbp) })
    }
}

impl Drop for Seized {
    fn drop(&mut self) {
        let _ = request(libc::PTRACE_DETACH, self.pid, self.signal);
    }
}

/// The signal that a process stopped to receive, 0 if it stopped for our interruption; None while it still runs.
fn wait_for(pid: i32) -> io::Result<Option<libc::c_int>> {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    match unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG | libc::__WALL) } {
        0 => Ok(None),
        -1 => Err(io::Error::last_os_error()),
        _ if !libc::WIFSTOPPED(status) => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        _ if status >> 16 == libc::PTRACE_EVENT_STOP => Ok(Some(0)),
        _ => Ok(Some(libc::WSTOPSIG(status))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_goes_on_after_its_snapshot() {
        let mut child = Command::new("sleep").arg("100").stdout(Stdio::null()).spawn().unwrap();
        let pid = child.id() as i32;
        std::thread::sleep(Duration::from_millis(50));
        let map = super::super::address_space::CodeMap::of_process(pid).unwrap();
        let mut pauses = Pauses::default();

        let copy = snapshot(pid, map.stack_end, 4096, &mut pauses).unwrap();

        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let goes_on = status.contains("State:\tS") || status.contains("State:\tR");
        assert!(status.contains("TracerPid:\t0\n") && goes_on, "{status}");
        assert!(copy.registers.stack < map.stack_end && copy.word(copy.registers.stack).is_some());
        assert_eq!(pauses.count, 1);
        assert!(pauses.max_ns > 0 && pauses.max_ns == pauses.total_ns);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(snapshot(pid, map.stack_end, 4096, &mut pauses).is_err());
    }
}
