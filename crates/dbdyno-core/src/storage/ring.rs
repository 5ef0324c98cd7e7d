//! io_uring: one thread keeps all I/Os in flight, with the file and the buffers known to the kernel beforehand.
//!
//! Each I/O is submitted by a call of its own, so that none waits for its neighbours, save the last before a wait:
//! that one goes with the call that waits. So n I/Os that are started after one wait cost n calls.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::types::{Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode};

use super::buffers::Buffers;
use super::device::{Device, Ended, Request};
use crate::clock;

/// The last stretch before a deadline is polled: a wait for it would end late.
const POLLED_NS: u64 = 80_000;

/// IORING_ENTER_GETEVENTS: without it a ring whose completions are deferred shows none.
const GETEVENTS: u32 = 1;

/// A ring with one file and a buffer for each place.
pub(super) struct Ring {
    // Before the buffers: the kernel lets go of them when the ring is closed.
    ring: IoUring,
    buffers: Buffers,
    /// In the queue, but not yet told to the kernel.
    held: u32,
    in_flight: u32,
}

impl Ring {
    /// A ring for `depth` I/Os of at most `io_bytes`.
    ///
    /// # Errors
    /// Where the kernel does not let us: not built in, forbidden (`kernel.io_uring_disabled`, seccomp), or too little
    /// lockable memory.
    pub(super) fn new(file: BorrowedFd<'_>, depth: usize, io_bytes: u32, seed: u64) -> io::Result<Self> {
        let buffers = Buffers::new(depth, io_bytes as usize, seed);
        let ring = newest(depth as u32)?;
        ring.submitter().register_files(&[file.as_raw_fd()])?;
        let parts: Vec<libc::iovec> = (0..depth)
            .map(|slot| libc::iovec { iov_base: buffers.pointer(slot).cast(), iov_len: buffers.bytes_each() })
            .collect();
        // SAFETY: the buffers live as long as the ring, which is dropped first.
        unsafe { ring.submitter().register_buffers(&parts)? };
        Ok(Self { ring, buffers, held: 0, in_flight: 0 })
    }

    /// Tells the kernel of what is held, and has it work off what has ended, without waiting.
    fn poll(&mut self) -> io::Result<()> {
        // SAFETY: no argument, and the queue's entries are valid since they were pushed.
        let submitted = unsafe { self.ring.submitter().enter::<libc::sigset_t>(self.held, 0, GETEVENTS, None) }?;
        self.held -= submitted as u32;
        Ok(())
    }

    /// Tells the kernel of what is held, and waits for `wanted` to have ended, or for so long.
    fn enter(&mut self, wanted: usize, for_ns: Option<u64>) -> io::Result<()> {
        let pause = for_ns.map(|ns| Timespec::new().sec(ns / 1_000_000_000).nsec((ns % 1_000_000_000) as u32));
        let submitted = match &pause {
            Some(pause) => self.ring.submitter().submit_with_args(wanted, &SubmitArgs::new().timespec(pause)),
            None => self.ring.submitter().submit_and_wait(wanted),
        };
        match submitted {
            Ok(count) => self.held -= count as u32,
            // The time is over, or a signal came: what was held has been taken if the queue says so.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR)) => {
                self.held = self.ring.submission().len() as u32;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn reap(&mut self, ended: &mut Vec<Ended>) -> bool {
        let mut completions = self.ring.completion();
        completions.sync();
        if completions.is_empty() {
            return false;
        }
        let at_ns = clock::now_ns();
        for completion in completions {
            ended.push(Ended { slot: completion.user_data() as usize, result: completion.result(), at_ns });
            self.in_flight -= 1;
        }
        true
    }
}

impl Drop for Ring {
    /// The kernel may write into the buffers as long as an I/O is in flight.
    fn drop(&mut self) {
        let mut ended = Vec::new();
        while self.in_flight > 0 && (self.reap(&mut ended) || self.enter(1, None).is_ok()) {}
    }
}

impl Device for Ring {
    fn now_ns(&mut self) -> u64 {
        clock::now_ns()
    }

    fn start(&mut self, request: Request) -> io::Result<()> {
        if self.held > 0 {
            self.enter(0, None)?;
        }
        let (pointer, index) = (self.buffers.pointer(request.slot), request.slot as u16);
        let entry = match request.write {
            true => opcode::WriteFixed::new(Fixed(0), pointer, request.bytes, index).offset(request.offset).build(),
            false => opcode::ReadFixed::new(Fixed(0), pointer, request.bytes, index).offset(request.offset).build(),
        };
        // SAFETY: the buffer of this place is registered, long enough, and used by no other I/O in flight.
        unsafe { self.ring.submission().push(&entry.user_data(request.slot as u64)) }
            .expect("the queue has an entry for each place");
        self.held += 1;
        self.in_flight += 1;
        Ok(())
    }

    fn wait(&mut self, deadline_ns: Option<u64>, ended: &mut Vec<Ended>) -> io::Result<()> {
        match deadline_ns {
            None => {
                assert!(self.in_flight > 0, "the loop waits for an I/O or for a time");
                while !self.reap(ended) {
                    self.enter(1, None)?;
                }
            }
            Some(deadline_ns) => loop {
                let left_ns = deadline_ns.saturating_sub(clock::now_ns());
                match (left_ns.saturating_sub(POLLED_NS), self.in_flight) {
                    (0, 0) => clock::sleep_until(deadline_ns),
                    (0, _) => self.poll()?,
                    (_, 0) => clock::sleep_until(deadline_ns),
                    (pause_ns, _) => self.enter(1, Some(pause_ns))?,
                }
                if self.reap(ended) || clock::now_ns() >= deadline_ns {
                    break;
                }
            },
        }
        Ok(())
    }

    fn is_zero(&mut self, slot: usize) -> bool {
        self.buffers.is_zero(slot)
    }
}

/// The ring with the least cost that this kernel has: completions are worked off when we ask for them (6.1), or at
/// the next change into the kernel (5.19), or as ever.
fn newest(entries: u32) -> io::Result<IoUring> {
    let unknown = |error: &io::Error| error.raw_os_error() == Some(libc::EINVAL);
    let deferred = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(entries);
    match deferred {
        Err(error) if unknown(&error) => {}
        other => return other,
    }
    match IoUring::builder().setup_coop_taskrun().build(entries) {
        Err(error) if unknown(&error) => IoUring::new(entries),
        other => other,
    }
}
