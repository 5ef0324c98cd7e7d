//! What the loop asks of storage.

use std::io;

/// One I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Which of the loop's places it is in: a number below the depth, and which buffer it uses.
    pub slot: usize,
    pub write: bool,
    pub offset: u64,
    pub bytes: u32,
}

/// An I/O that has ended. `result` is the bytes moved, or a negative error number, as the kernel has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub slot: usize,
    pub result: i32,
    pub at_ns: u64,
}

/// Storage, or what stands for it. Monomorphic in the loop: no call goes through a pointer.
pub(super) trait Device {
    /// The clock that it goes by, in nanoseconds.
    fn now_ns(&mut self) -> u64;

    /// Starts an I/O. It is on its way when this returns, or at the latest with the next call.
    fn start(&mut self, request: Request) -> io::Result<()>;

    /// Waits until an I/O has ended, or until `deadline_ns`, and adds all that have ended.
    fn wait(&mut self, deadline_ns: Option<u64>, ended: &mut Vec<Ended>) -> io::Result<()>;

    /// Whether the read that has just ended there brought nothing but zeros.
    fn is_zero(&mut self, slot: usize) -> bool;
}
