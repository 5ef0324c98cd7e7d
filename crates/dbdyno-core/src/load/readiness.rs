//! One epoll per load thread: which clients can go on, and when the next timer is due.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// As many clients as one wait can report.
const EVENTS_PER_WAIT: usize = 256;

/// What a client is ready for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    /// Index among the thread's clients.
    pub client: usize,
    /// Bytes can be read, or the connection ended.
    pub readable: bool,
    /// Bytes can be written.
    pub writable: bool,
}

/// The epoll and its last events.
#[derive(Debug)]
pub(super) struct Readiness {
    epoll: OwnedFd,
    events: Vec<libc::epoll_event>,
}

impl Readiness {
    /// Watches nothing yet.
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: no pointers are passed.
        let epoll = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: a fresh descriptor that nobody else owns.
        let epoll = unsafe { OwnedFd::from_raw_fd(epoll) };
        Ok(Self { epoll, events: vec![libc::epoll_event { events: 0, u64: 0 }; EVENTS_PER_WAIT] })
    }

    /// Watches a client for reading. Level-triggered: it is registered once and never touched again,
    /// unless a write has to wait.
    pub(super) fn add(&self, fd: RawFd, client: usize) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, client, false)
    }

    /// Watches a client for writing too, or no longer.
    pub(super) fn want_write(&self, fd: RawFd, client: usize, wanted: bool) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, client, wanted)
    }

    fn control(&self, operation: libc::c_int, fd: RawFd, client: usize, write: bool) -> io::Result<()> {
        let write = if write { libc::EPOLLOUT } else { 0 };
        let mut event = libc::epoll_event { events: (libc::EPOLLIN | write) as u32, u64: client as u64 };
        // SAFETY: `event` is valid for the call; the kernel copies it.
        check(unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &mut event) }).map(|_| ())
    }

    /// Waits for clients, at most so long, and returns how many are ready.
    pub(super) fn wait(&mut self, limit_ns: u64) -> io::Result<usize> {
        let limit_ns = shortened(limit_ns);
        let timeout = libc::timespec {
            tv_sec: (limit_ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (limit_ns % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: `events` is valid for EVENTS_PER_WAIT entries and `timeout` for reading; no signal mask.
        let found = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                self.events.as_mut_ptr(),
                EVENTS_PER_WAIT,
                &timeout,
                std::ptr::null::<libc::sigset_t>(),
                0_usize,
            )
        };
        match check(found as libc::c_int) {
            Ok(found) => Ok(found as usize),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => self.wait_milliseconds(limit_ns),
            Err(error) => Err(error),
        }
    }

    /// Kernels before 5.11: the last millisecond before a timer is spent polling.
    fn wait_milliseconds(&mut self, limit_ns: u64) -> io::Result<usize> {
        let limit_ms = (limit_ns / 1_000_000) as libc::c_int;
        // SAFETY: `events` is valid for EVENTS_PER_WAIT entries.
        let found = unsafe {
            libc::epoll_wait(self.epoll.as_raw_fd(), self.events.as_mut_ptr(), EVENTS_PER_WAIT as libc::c_int, limit_ms)
        };
        match check(found) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            result => result.map(|found| found as usize),
        }
    }

    /// One of the events of the last wait.
    pub(super) fn ready(&self, index: usize) -> Ready {
        let event = self.events[index];
        let flags = event.events as libc::c_int;
        Ready {
            client: event.u64 as usize,
            readable: flags & (libc::EPOLLIN | libc::EPOLLHUP | libc::EPOLLERR) != 0,
            writable: flags & libc::EPOLLOUT != 0,
        }
    }
}

/// The kernel may be late by a thousandth of a timeout, so that timers coalesce: wait a little less,
/// and the short rest exactly.
fn shortened(limit_ns: u64) -> u64 {
    const EXACT_BELOW_NS: u64 = 1_000_000;
    if limit_ns < EXACT_BELOW_NS { limit_ns } else { limit_ns - limit_ns / 512 }
}

/// Timers of the calling thread fire when they are due; the default lets them be 50 us late.
pub(super) fn make_timers_punctual() {
    // SAFETY: sets an attribute of this thread; no pointers are passed.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
