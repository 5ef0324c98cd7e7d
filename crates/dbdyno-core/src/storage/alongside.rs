//! Flushes that a checkpointer would ask for, while a cell runs.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use crate::clock;

/// Does `work`, and flushes the file so often meanwhile (0: never); returns how long each flush took, too.
///
/// # Errors
/// That of `work`, or the first flush that failed.
pub(super) fn flushed<T>(
    file: BorrowedFd<'_>,
    every_ns: u64,
    work: impl FnOnce() -> io::Result<T>,
) -> io::Result<(T, Vec<u64>)> {
    if every_ns == 0 {
        return Ok((work()?, Vec::new()));
    }
    std::thread::scope(|scope| {
        // Nothing is ever sent: the end of the work closes it, and the flusher wakes up at once.
        let (ended, end) = mpsc::channel::<()>();
        let flusher = scope.spawn(move || {
            let mut times_ns = Vec::new();
            while end.recv_timeout(Duration::from_nanos(every_ns)) == Err(RecvTimeoutError::Timeout) {
                times_ns.push(flush(file)?);
            }
            Ok(times_ns)
        });
        let done = work();
        drop(ended);
        let times_ns: io::Result<Vec<u64>> = flusher.join().expect("a flusher does not panic");
        Ok((done?, times_ns?))
    })
}

fn flush(file: BorrowedFd<'_>) -> io::Result<u64> {
    let began_ns = clock::now_ns();
    // SAFETY: the descriptor is open for as long as it is borrowed.
    match unsafe { libc::fdatasync(file.as_raw_fd()) } {
        0 => Ok(clock::now_ns() - began_ns),
        _ => Err(io::Error::last_os_error()),
    }
}
