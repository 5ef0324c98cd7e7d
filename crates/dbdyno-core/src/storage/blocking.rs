//! One I/O at a time, with the calls that every kernel has; a thread for each that is to be in flight.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::buffers::Buffers;
use super::device::{Device, Ended, Request};
use crate::clock;

/// A thread's share of a file.
#[derive(Debug)]
pub(super) struct Blocking<'a> {
    file: BorrowedFd<'a>,
    buffers: Buffers,
    ended: Option<Ended>,
}

impl<'a> Blocking<'a> {
    pub(super) fn new(file: BorrowedFd<'a>, io_bytes: u32, seed: u64) -> Self {
        Self { file, buffers: Buffers::new(1, io_bytes as usize, seed), ended: None }
    }
}

impl Device for Blocking<'_> {
    fn now_ns(&mut self) -> u64 {
        clock::now_ns()
    }

    fn start(&mut self, request: Request) -> io::Result<()> {
        let (file, bytes, offset) = (self.file.as_raw_fd(), request.bytes as usize, request.offset as libc::off_t);
        let buffer = self.buffers.get_mut(request.slot);
        assert!(bytes <= buffer.len());
        // SAFETY: the buffer is at least as long as the I/O, and nothing else uses it before the call returns.
        let moved = unsafe {
            match request.write {
                true => libc::pwrite(file, buffer.as_ptr().cast(), bytes, offset),
                false => libc::pread(file, buffer.as_mut_ptr().cast(), bytes, offset),
            }
        };
        let result = match moved {
            ..0 => -io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO),
            _ => moved as i32,
        };
        self.ended = Some(Ended { slot: request.slot, result, at_ns: clock::now_ns() });
        Ok(())
    }

    fn wait(&mut self, deadline_ns: Option<u64>, ended: &mut Vec<Ended>) -> io::Result<()> {
        match (self.ended.take(), deadline_ns) {
            (Some(one), _) => ended.push(one),
            (None, Some(deadline_ns)) => clock::sleep_until(deadline_ns),
            (None, None) => unreachable!("the loop waits for an I/O or for a time"),
        }
        Ok(())
    }

    fn is_zero(&mut self, slot: usize) -> bool {
        self.buffers.is_zero(slot)
    }
}
