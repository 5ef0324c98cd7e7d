//! One process's CPU clock as a perf event: every so much CPU time the kernel leaves a copy of its user stack in a ring.
//!
//! ```text
//! kernel: timer of the task --> record: header | pid tid | time | registers | stack ... | --> ring (ours to read)
//! ```
//!
//! The ring is one for each process (events of different tasks may not share one), read without a system call: `head`
//! is written by the kernel, `tail` by us. A record that finds no room is counted by the kernel and said in a record
//! of its own. The layouts are those of perf_event_open(2).

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use super::copy::{Registers, StackCopy};
use crate::perf::{self, Attributes, FLAG_EXCLUDE_HYPERVISOR, FLAG_EXCLUDE_KERNEL};

const COUNT_CPU_CLOCK: u64 = 0;
const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_TIME: u64 = 1 << 2;
const SAMPLE_REGISTERS_USER: u64 = 1 << 12;
const SAMPLE_STACK_USER: u64 = 1 << 13;
/// rbp, rsp and rip, which the kernel writes in this order.
const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
const FLAG_FREQUENCY: u64 = 1 << 10;

const RECORD_LOST: u32 = 2;
const RECORD_SAMPLE: u32 = 9;
const MISC_MODE: u16 = 7;
const MISC_KERNEL: u16 = 1;

/// What is asked of the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Stacks a second of CPU time.
    pub frequency_hz: u64,
    /// How much of the stack is copied; a multiple of eight.
    pub stack_bytes: u32,
    /// Also while the task runs in the kernel, which not everybody may ask for.
    pub in_kernel: bool,
}

/// One record of the ring.
#[derive(Debug)]
pub enum Record {
    /// A stack, and whether the task was in the kernel.
    Stack(StackCopy, bool),
    /// So many records found no room.
    Lost(u64),
}

/// An open event with its ring; closed when dropped.
pub struct PerfEvent {
    /// The event ends when this is closed.
    _descriptor: OwnedFd,
    ring: NonNull<u8>,
    page: usize,
    /// A power of two.
    data_bytes: usize,
}

// SAFETY: the mapping belongs to the value alone; nothing in it is tied to the thread that made it.
unsafe impl Send for PerfEvent {}

/// Offsets of `data_head` and `data_tail` in the ring's first page.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

impl PerfEvent {
    /// Opens the CPU clock of a process and a ring of at most `ring_bytes`, less where the user may not lock as much.
    pub fn open(pid: i32, sampling: Sampling, ring_bytes: usize) -> io::Result<Self> {
        let descriptor = open_event(pid, sampling)?;
        // SAFETY: sysconf has no preconditions.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let least = (sampling.stack_bytes as usize + 2 * page).next_power_of_two();
        let mut data_bytes = ring_bytes.next_power_of_two().max(least);
        loop {
            match map(&descriptor, page + data_bytes) {
                Ok(ring) => return Ok(PerfEvent { _descriptor: descriptor, ring, page, data_bytes }),
                Err(error) if error.raw_os_error() == Some(libc::EPERM) && data_bytes > least => data_bytes /= 2,
                Err(error) => return Err(error),
            }
        }
    }

    /// How many records of this stack size the ring holds.
    pub fn capacity(&self, sampling: Sampling) -> usize {
        self.data_bytes / (sampling.stack_bytes as usize + 128)
    }

    /// Hands over all records that are there, and gives their room back to the kernel.
    pub fn drain(&self, mut take: impl FnMut(Record)) {
        let head = self.position(HEAD).load(Ordering::Acquire);
        let mut tail = self.position(TAIL).load(Ordering::Relaxed);
        while tail < head {
            let header = self.word(tail);
            let (kind, misc, size) = (header as u32, (header >> 32) as u16, header >> 48);
            if size == 0 {
                break;
            }
            match kind {
                RECORD_SAMPLE => {
                    if let Some(copy) = self.stack(tail + 8) {
                        take(Record::Stack(copy, misc & MISC_MODE == MISC_KERNEL));
                    }
                }
                RECORD_LOST => take(Record::Lost(self.word(tail + 16))),
                _ => {}
            }
            tail += size;
        }
        self.position(TAIL).store(head, Ordering::Release);
    }

    /// pid and tid, time, ABI, three registers, size, stack, how much of it was copied.
    fn stack(&self, at: u64) -> Option<StackCopy> {
        const NO_REGISTERS: u64 = 0;
        if self.word(at + 16) == NO_REGISTERS {
            return None; // a task on its way out has no user stack any more
        }
        let registers =
            Registers { base: Some(self.word(at + 24)), stack: self.word(at + 32), instruction: self.word(at + 40) };
        let size = self.word(at + 48);
        let copied = if size == 0 { 0 } else { self.word(at + 56 + size).min(size) };
        let mut bytes = vec![0; copied as usize];
        self.copy(at + 56, &mut bytes);
        Some(StackCopy { registers, bytes })
    }

    fn position(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the first page holds aligned 64-bit positions there as long as the mapping lives, shared with the kernel.
        unsafe { self.ring.add(offset).cast::<AtomicU64>().as_ref() }
    }

    fn word(&self, position: u64) -> u64 {
        let mut bytes = [0; 8];
        self.copy(position, &mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// Copies from the ring, around its end where need be.
    fn copy(&self, position: u64, target: &mut [u8]) {
        let from = position as usize & (self.data_bytes - 1);
        let first = target.len().min(self.data_bytes - from);
        // SAFETY: `from` and `first` stay within the data pages, `target` is ours; the kernel leaves records before
        // `head` alone until `tail` has passed them.
        unsafe {
            let data = self.ring.as_ptr().add(self.page);
            ptr::copy_nonoverlapping(data.add(from), target.as_mut_ptr(), first);
            ptr::copy_nonoverlapping(data, target.as_mut_ptr().add(first), target.len() - first);
        }
    }
}

impl Drop for PerfEvent {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing uses it after this.
        unsafe { libc::munmap(self.ring.as_ptr().cast(), self.page + self.data_bytes) };
    }
}

fn open_event(pid: i32, sampling: Sampling) -> io::Result<OwnedFd> {
    let attributes = Attributes {
        config: COUNT_CPU_CLOCK,
        period_or_frequency: sampling.frequency_hz,
        sample_type: SAMPLE_TID | SAMPLE_TIME | SAMPLE_REGISTERS_USER | SAMPLE_STACK_USER,
        flags: FLAG_FREQUENCY | FLAG_EXCLUDE_HYPERVISOR | if sampling.in_kernel { 0 } else { FLAG_EXCLUDE_KERNEL },
        sample_registers_user: REGISTERS,
        sample_stack_user: sampling.stack_bytes,
        ..Attributes::software()
    };
    perf::open(&attributes, pid)
}

fn map(descriptor: &OwnedFd, length: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: a new mapping where the kernel likes; nothing else is touched.
    let address = unsafe {
        libc::mmap(
            ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            descriptor.as_raw_fd(),
            0,
        )
    };
    match NonNull::new(address.cast()) {
        Some(ring) if address != libc::MAP_FAILED => Ok(ring),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::now_ns;

    #[test]
    fn a_spinning_thread_leaves_its_stacks_and_a_full_ring_counts_what_it_lost() {
        let sampling = Sampling { frequency_hz: 2000, stack_bytes: 8192, in_kernel: false };
        let Ok(event) = PerfEvent::open(0, sampling, 0) else {
            eprintln!("left out: perf events are refused here");
            return;
        };
        // By the thread's own clock: on a busy machine the time that goes by is not the time it runs.
        let spin = |ns: u64| {
            let until = now_ns(libc::CLOCK_THREAD_CPUTIME_ID) + ns;
            while now_ns(libc::CLOCK_THREAD_CPUTIME_ID) < until {}
        };
        let (mut stacks, mut lost) = (Vec::new(), 0);
        let mut drain = || {
            event.drain(|record| match record {
                Record::Stack(copy, _) => stacks.push(copy),
                Record::Lost(count) => lost += count,
            });
        };
        spin(50_000_000);
        drain();
        // What was lost is said before the next record that finds room.
        spin(20_000_000);
        drain();

        assert!(!stacks.is_empty());
        assert!(lost > 0, "a ring of {} records overflowed", event.capacity(sampling));
        for copy in &stacks {
            assert_eq!(copy.registers.stack % 8, 0);
            assert!(copy.word(copy.registers.stack).is_some(), "the stack was copied");
        }
    }
}
