//! Reading the wait events of the clients' backends, three ways.
//!
//! | route | how | one sweep of 28 backends |
//! |---|---|---|
//! | mapped | loads from the server's shared memory, mapped here too | 14 ns |
//! | contiguous | one copy of the span of PGPROCs that holds the clients | 7 us |
//! | iovec | one copy with a piece per client | 18 us |
//!
//! Words are numbered: clients first, in their order, then background processes.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use super::maps::MemoryMapping;
use super::memory::{expect_whole, read_remote};

/// A longer span costs more than a piece per client: copying takes 0.1 us a page, a piece 0.4 us.
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
    /// The events of some clients.
    pub fn read_clients(&mut self, clients: Range<usize>, events: &mut [u32]) -> io::Result<()> {
        match self {
            EventSource::Mapped(words) => {
                clients.zip(events).for_each(|(client, event)| *event = words.load(client));
                Ok(())
            }
            EventSource::Contiguous(copy) => copy.read(clients, events),
            EventSource::Iovec(copy) => copy.read(clients, events),
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

/// One copy of the stretch of memory between the first and the last of a group's words.
pub struct SpanCopy {
    postmaster_pid: i32,
    words: Vec<u64>,
    buffer: Vec<u8>,
}

impl SpanCopy {
    /// Lay the spans out, one for each group of so many clients; an error if a group's backends are too
    /// far apart for it to pay.
    pub fn new(postmaster_pid: i32, words: Vec<u64>, clients: usize, group: usize) -> Result<Self, String> {
        let lengths = words[..clients].chunks(group).filter_map(span).map(|(_, length)| length);
        let length = lengths.max().ok_or("there are no clients")?;
        if length > SPAN_BYTES_MAX {
            return Err(format!("the backends' wait events are spread over {length} bytes"));
        }
        Ok(SpanCopy { postmaster_pid, words, buffer: vec![0; length as usize] })
    }

    fn read(&mut self, clients: Range<usize>, events: &mut [u32]) -> io::Result<()> {
        let words = &self.words[clients];
        let Some((first, length)) = span(words) else { return Ok(()) };
        let buffer = &mut self.buffer[..length as usize];
        read_remote(self.postmaster_pid, first, buffer)?;
        for (event, word) in events.iter_mut().zip(words) {
            let offset = (word - first) as usize;
            *event = u32::from_le_bytes(buffer[offset..offset + 4].try_into().expect("four bytes"));
        }
        Ok(())
    }
}

/// (first address, bytes) of the stretch that holds all these words.
fn span(words: &[u64]) -> Option<(u64, u64)> {
    let (&first, &last) = words.iter().min().zip(words.iter().max())?;
    Some((first, last + 4 - first))
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

    fn read(&mut self, clients: Range<usize>, events: &mut [u32]) -> io::Result<()> {
        let remote = &self.remote[clients];
        // The kernel takes 1024 pieces in one call (IOV_MAX).
        for (events, remote) in events.chunks_mut(1024).zip(remote.chunks(1024)) {
            let wanted = size_of_val(events);
            let local = libc::iovec { iov_base: events.as_mut_ptr().cast(), iov_len: wanted };
            let pieces = remote.len() as libc::c_ulong;
            // SAFETY: `local` describes `events`, of which any bytes are valid; the kernel checks `remote`.
            let copied = unsafe { libc::process_vm_readv(self.postmaster_pid, &local, 1, remote.as_ptr(), pieces, 0) };
            expect_whole(copied, wanted)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of this very process, a page apart from one another, read as if it were a server.
    fn words_of_own_memory(values: &[u32]) -> (Vec<Box<[u32; 1024]>>, Vec<u64>) {
        let pages: Vec<_> = values.iter().map(|&value| Box::new([value; 1024])).collect();
        let words = pages.iter().map(|page| page.as_ptr() as u64).collect();
        (pages, words)
    }

    #[test]
    fn pieces_and_single_words_give_what_is_there_also_beyond_the_limit_of_one_call() {
        let values: Vec<u32> = (0..1500).collect();
        let (_pages, words) = words_of_own_memory(&values);
        let mut source = EventSource::Iovec(PieceCopy::new(std::process::id() as i32, words, 1400));
        let mut events = vec![0; 1390];
        source.read_clients(10..1400, &mut events).unwrap();
        assert_eq!(events, values[10..1400]);
        assert_eq!(source.read_one(1450).unwrap(), 1450);
    }

    #[test]
    fn a_span_gives_the_words_of_a_group_and_refuses_to_be_huge() {
        let memory: Vec<u32> = (0..4096).collect();
        let word = |index: usize| &raw const memory[index] as u64;
        let words = vec![word(3000), word(7), word(500), word(0)];
        let own = std::process::id() as i32;
        let mut source = EventSource::Contiguous(SpanCopy::new(own, words, 3, 8).unwrap());
        let mut events = [0; 3];
        source.read_clients(0..3, &mut events).unwrap();
        assert_eq!(events, [3000, 7, 500]);
        source.read_clients(1..3, &mut events[..2]).unwrap();
        assert_eq!(events[..2], [7, 500]);
        assert_eq!(source.read_one(3).unwrap(), 0);
        assert!(SpanCopy::new(own, vec![0x10_0000, 0x30_0000], 2, 8).is_err());
        assert!(SpanCopy::new(own, vec![0x10_0000, 0x30_0000], 2, 1).is_ok());
    }

    #[test]
    fn an_unmapped_address_is_an_error() {
        let mut source = EventSource::Iovec(PieceCopy::new(std::process::id() as i32, vec![16], 1));
        assert!(source.read_clients(0..1, &mut [0]).is_err());
    }
}
