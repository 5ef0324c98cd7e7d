//! Waiting, but not beyond the server's end.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::thread;
use std::time::Duration;

/// The postmaster: while it lives there is a server. None for another host, or a kernel without process
/// descriptors (before 5.3): then its end shows in what is read from it.
pub struct Postmaster(Option<OwnedFd>);

impl Postmaster {
    /// Keep an eye on this process.
    pub fn watch(pid: Option<i32>) -> Self {
        let open = |pid: i32| {
            // SAFETY: no pointers; a negative number says that there is no such process.
            let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
            // SAFETY: the call has just given us this descriptor; nobody else owns it.
            (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor as i32) })
        };
        Postmaster(pid.and_then(open))
    }

    /// Sleep so long, less if it ends; whether it has.
    pub fn ends_within(&self, time: Duration) -> bool {
        let Some(descriptor) = &self.0 else {
            thread::sleep(time);
            return false;
        };
        let mut event = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let timeout =
            libc::timespec { tv_sec: time.as_secs() as libc::time_t, tv_nsec: libc::c_long::from(time.subsec_nanos()) };
        // SAFETY: one descriptor, and a time that outlives the call; no signal mask.
        unsafe { libc::ppoll(&raw mut event, 1, &raw const timeout, std::ptr::null()) == 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::Instant;

    #[test]
    fn waiting_ends_with_the_process() {
        let mut child = Command::new("sleep").arg("100").stdout(Stdio::null()).spawn().expect("it is there");
        let process = Postmaster::watch(Some(child.id() as i32));
        let started = Instant::now();
        assert!(!process.ends_within(Duration::from_millis(20)));
        assert!(started.elapsed() >= Duration::from_millis(20));
        child.kill().expect("it runs");
        assert!(process.ends_within(Duration::from_secs(60)));
        child.wait().expect("it ends");
    }

    #[test]
    fn another_host_is_only_waited_for() {
        assert!(!Postmaster::watch(None).ends_within(Duration::from_millis(1)));
    }
}
