//! Reading the wait events of all clients' backends, three ways.
//!
//! | route | how | one sweep of 28 backends |
//! |---|---|---|
//! | mapped | loads from the server's shared memory, mapped here too | 14 ns |
//! | contiguous | one copy of the span of PGPROCs that holds all clients | about 5 us |
//! | iovec | one copy with a piece per client | 18 us |
//!
//! Words are numbered: clients first, in their order, then background processes.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use super::maps::MemoryMapping;
use super::memory::{expect_whole, read_remote};

/// The kernel takes at most this many pieces in one call (IOV_MAX).
const PIECES_PER_CALL: usize = 1024;

/// A longer span costs more to copy than the clients' words one by one: a page costs 0.05 us, a piece 0.4.
const SPAN_BYTES_MAX: u64 = 1 << 20;

/// A source of wait events.
pub enum EventSource {
    /// Direct loads.
    Mapped(MappedWords),
    /// One piece.
    Contiguous(SpanCopy),
    /// A piece per client.
    Iovec(PieceCopy),
}

impl EventSource {
    /// The events of all clients.
    pub fn read_clients(&mut self, events: &mut [u32]) -> io::Result<()> {
        match self {
            EventSource::Mapped(words) => {
                (0..events.len()).for_each(|index| events[index] = words.load(index));
                Ok(())
            }
            EventSource::Contiguous(copy) => copy.read(events),
            EventSource::Iovec(copy) => copy.read(events),
        }
    }

    /// One event.
    pub fn read_one(&self, index: usize) -> io::Result<u32> {
        match self {
            EventSource::Mapped(words) => Ok(words.load(index)),
            EventSource::Contiguous(copy) => read_word(copy.postmaster_pid, copy.words[index]),
            EventSource::Iovec(copy) => read_word(copy.postmaster_pid, copy.words[index]),
        }
    }

    /// Whether `read_one` costs no system call.
    pub fn reads_one_for_free(&self) -> bool {
        matches!(self, EventSource::Mapped(_))
    }
}

fn read_word(pid: i32, address: u64) -> io::Result<u32> {
    let mut bytes = [0; 4];
    read_remote(pid, address, &mut bytes).map(|()| u32::from_le_bytes(bytes))
}

/// The server's shared memory, mapped read-only into this process.
///
/// The whole of it: that takes address space, not memory, as only the pages touched get entries.
pub struct MappedWords {
    start: *mut libc::c_void,
    length: usize,
    /// Distance of each word from the start.
    offsets: Vec<usize>,
}

// SAFETY: the mapping is read-only, lives as long as the value and is read with atomic loads only.
unsafe impl Send for MappedWords {}

impl MappedWords {
    /// Map what the postmaster has at `mapping`: anonymous, huge, System V or a file, the kernel's
    /// `map_files` opens each, deleted or not, for who may (root, CAP_CHECKPOINT_RESTORE).
    pub fn map(postmaster_pid: i32, mapping: &MemoryMapping, words: &[u64]) -> io::Result<Self> {
        let file = File::open(format!("/proc/{postmaster_pid}/map_files/{}", mapping.file_name()))?;
        let length = (mapping.end - mapping.start) as usize;
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        let offset = mapping.offset as libc::off_t;
        // SAFETY: a new mapping at an address of the kernel's choice; nothing of ours is replaced.
        let start = unsafe { libc::mmap(ptr::null_mut(), length, libc::PROT_READ, flags, file.as_raw_fd(), offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        assert!(words.iter().all(|&word| mapping.contains(word, 4)), "checked when the words were located");
        let offsets = words.iter().map(|word| (word - mapping.start) as usize).collect();
        Ok(MappedWords { start, length, offsets })
    }

    fn load(&self, index: usize) -> u32 {
        // SAFETY: the offset lies inside the mapping (checked in `map`) and is aligned, being that of a
        // uint32 field; the server writes it with plain 4-byte stores, which an atomic load may race with.
        unsafe { &*self.start.byte_add(self.offsets[index]).cast::<AtomicU32>() }.load(Ordering::Relaxed)
    }
}

impl Drop for MappedWords {
    fn drop(&mut self) {
        // SAFETY: start and length are those of our own mapping, and no reference into it outlives `load`.
        unsafe { libc::munmap(self.start, self.length) };
    }
}

/// One copy of the stretch of memory between the first and the last client's word.
pub struct SpanCopy {
    postmaster_pid: i32,
    words: Vec<u64>,
    first: u64,
    buffer: Vec<u8>,
}

impl SpanCopy {
    /// Lay the span out; an error if the backends are too far apart for it to pay.
    pub fn new(postmaster_pid: i32, words: Vec<u64>, clients: usize) -> Result<Self, String> {
        let (first, last) = (words[..clients].iter().min(), words[..clients].iter().max());
        let (&first, &last) = first.zip(last).ok_or("there are no clients")?;
        let length = last + 4 - first;
        if length > SPAN_BYTES_MAX {
            return Err(format!("the backends' wait events are spread over {length} bytes"));
        }
        Ok(SpanCopy { postmaster_pid, words, first, buffer: vec![0; length as usize] })
    }

    fn read(&mut self, events: &mut [u32]) -> io::Result<()> {
        read_remote(self.postmaster_pid, self.first, &mut self.buffer)?;
        for (event, word) in events.iter_mut().zip(&self.words) {
            let offset = (word - self.first) as usize;
            let bytes = self.buffer[offset..offset + 4].try_into().expect("four bytes");
            *event = u32::from_le_bytes(bytes);
        }
        Ok(())
    }
}

/// A copy of each client's word alone.
pub struct PieceCopy {
    postmaster_pid: i32,
    words: Vec<u64>,
    remote: Vec<libc::iovec>,
}

// SAFETY: the pointers in `remote` are addresses of another process, never followed here.
unsafe impl Send for PieceCopy {}

impl PieceCopy {
    /// Lay the pieces out.
    pub fn new(postmaster_pid: i32, words: Vec<u64>, clients: usize) -> Self {
        let piece = |&word: &u64| libc::iovec { iov_base: word as *mut libc::c_void, iov_len: 4 };
        let remote = words[..clients].iter().map(piece).collect();
        PieceCopy { postmaster_pid, words, remote }
    }

    fn read(&mut self, events: &mut [u32]) -> io::Result<()> {
        for (events, remote) in events.chunks_mut(PIECES_PER_CALL).zip(self.remote.chunks(PIECES_PER_CALL)) {
            let wanted = size_of_val(events);
            let local = libc::iovec { iov_base: events.as_mut_ptr().cast(), iov_len: wanted };
            let pieces = remote.len() as libc::c_ulong;
            // SAFETY: `local` describes `events`, any bytes are a u32, and the kernel checks `remote`.
            let copied = unsafe { libc::process_vm_readv(self.postmaster_pid, &local, 1, remote.as_ptr(), pieces, 0) };
            expect_whole(copied, wanted)?;
        }
        Ok(())
    }
}
