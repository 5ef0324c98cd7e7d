//! Copies of spans of a process's memory: for who may read it but not map it.
//!
//! | route | system call | one span of 100 PGPROCs |
//! |---|---|---|
//! | contiguous | `process_vm_readv`, all spans in one call | see docs/architecture.md |
//! | mem | `pread` on `/proc/PID/mem`, kept open, one call a span | where the former is forbidden (seccomp) |
//!
//! The cost is mostly the pages': the kernel pins each while it copies. A span that is whole costs a fifth of as
//! many single words, of which each pins its page again (0.4 to 0.9 us).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The kernel takes so many pieces in one call (IOV_MAX).
const PIECES_MAX: usize = 1024;

/// How bytes of a process are copied.
pub enum Copier {
    /// process_vm_readv.
    Call(i32),
    /// `/proc/PID/mem`.
    File(File),
}

impl Copier {
    /// By process_vm_readv.
    pub fn by_call(pid: i32) -> Self {
        Copier::Call(pid)
    }

    /// By the file.
    pub fn by_file(pid: i32) -> io::Result<Self> {
        File::open(format!("/proc/{pid}/mem")).map(Copier::File)
    }

    /// Whichever of the two is allowed, found out by reading a byte that the process has.
    pub fn of_process(pid: i32, address: u64) -> io::Result<Self> {
        match read_by_call(pid, address, &mut [0]) {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) => Copier::by_file(pid),
            _ => Ok(Copier::Call(pid)),
        }
    }

    /// Eight bytes.
    pub fn u64(&self, address: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes).map(|()| u64::from_le_bytes(bytes))
    }

    /// Four bytes.
    pub fn u32(&self, address: u64) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes).map(|()| u32::from_le_bytes(bytes))
    }

    /// Copy what is at this address.
    pub fn read(&self, address: u64, target: &mut [u8]) -> io::Result<()> {
        match self {
            Copier::Call(pid) => read_by_call(*pid, address, target),
            Copier::File(file) => file.read_exact_at(target, address),
        }
    }
}

/// Spans of memory and their last copy.
pub struct CopiedMemory {
    copier: Copier,
    spans: Vec<Span>,
    bytes: Vec<u8>,
    remote: Vec<libc::iovec>,
}

struct Span {
    start: u64,
    /// Where its copy is.
    place: usize,
    length: usize,
}

// SAFETY: the pointers in `remote` are addresses of another process, never followed here.
unsafe impl Send for CopiedMemory {}

impl CopiedMemory {
    /// Nothing watched yet.
    pub fn new(copier: Copier) -> Self {
        CopiedMemory { copier, spans: Vec::new(), bytes: Vec::new(), remote: Vec::new() }
    }

    /// The spans (address, bytes) that `refresh` copies from now on.
    pub fn watch(&mut self, spans: &[(u64, usize)]) {
        assert!(spans.len() <= PIECES_MAX, "at most {PIECES_MAX} spans");
        self.spans.clear();
        let mut place = 0;
        for &(start, length) in spans {
            self.spans.push(Span { start, place, length });
            place += length;
        }
        self.bytes = vec![0; place];
        let piece = |&(start, length): &(u64, usize)| libc::iovec { iov_base: start as *mut _, iov_len: length };
        self.remote = spans.iter().map(piece).collect();
    }

    /// Copy them.
    pub fn refresh(&mut self) -> io::Result<()> {
        match &self.copier {
            _ if self.spans.is_empty() => Ok(()),
            Copier::Call(pid) => {
                let local = libc::iovec { iov_base: self.bytes.as_mut_ptr().cast(), iov_len: self.bytes.len() };
                let pieces = self.remote.len() as libc::c_ulong;
                // SAFETY: `local` describes `bytes`, ours alone during the call; the kernel checks `remote`.
                let copied = unsafe { libc::process_vm_readv(*pid, &local, 1, self.remote.as_ptr(), pieces, 0) };
                expect_whole(copied, self.bytes.len())
            }
            Copier::File(file) => self.spans.iter().try_for_each(|span| {
                file.read_exact_at(&mut self.bytes[span.place..span.place + span.length], span.start)
            }),
        }
    }

    /// Four bytes of the last copy.
    pub fn u32(&self, address: u64) -> u32 {
        u32::from_le_bytes(self.copied(address))
    }

    /// Eight bytes of the last copy.
    pub fn u64(&self, address: u64) -> u64 {
        u64::from_le_bytes(self.copied(address))
    }

    /// Copy what is at this address now.
    pub fn read_now(&self, address: u64, target: &mut [u8]) -> io::Result<()> {
        self.copier.read(address, target)
    }

    fn copied<const N: usize>(&self, address: u64) -> [u8; N] {
        let holds = |span: &&Span| span.start <= address && address + N as u64 <= span.start + span.length as u64;
        let span = self.spans.iter().find(holds).unwrap_or_else(|| panic!("{address:#x} is not watched"));
        let place = span.place + (address - span.start) as usize;
        self.bytes[place..place + N].try_into().expect("N bytes")
    }
}

fn read_by_call(pid: i32, address: u64, target: &mut [u8]) -> io::Result<()> {
    let local = libc::iovec { iov_base: target.as_mut_ptr().cast(), iov_len: target.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: target.len() };
    // SAFETY: `local` describes `target`, which is ours alone during the call; the kernel checks `remote`.
    let copied = unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) };
    expect_whole(copied, target.len())
}

/// A copy that ended early is an error.
fn expect_whole(copied: isize, wanted: usize) -> io::Result<()> {
    match copied {
        -1 => Err(io::Error::last_os_error()),
        copied if copied as usize == wanted => Ok(()),
        _ => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory of this very process, read as if it were a server.
    #[test]
    fn both_ways_copy_the_spans_that_are_watched() {
        let own = std::process::id() as i32;
        let words: Vec<u32> = (0..4096).collect();
        let address = |index: usize| &raw const words[index] as u64;
        for copier in
            [Copier::by_call(own), Copier::by_file(own).unwrap(), Copier::of_process(own, address(0)).unwrap()]
        {
            let mut memory = CopiedMemory::new(copier);
            memory.refresh().unwrap();
            memory.watch(&[(address(1000), 40), (address(10), 8)]);
            memory.refresh().unwrap();
            assert_eq!([1000, 1009, 10, 11].map(|index| memory.u32(address(index))), [1000, 1009, 10, 11]);
            assert_eq!(memory.u64(address(10)), 11 << 32 | 10);
            let mut now = [0; 4];
            memory.read_now(address(4000), &mut now).unwrap();
            assert_eq!(u32::from_le_bytes(now), 4000);
        }
    }

    #[test]
    fn an_address_without_memory_is_an_error() {
        let own = std::process::id() as i32;
        for copier in [Copier::by_call(own), Copier::by_file(own).unwrap()] {
            let mut memory = CopiedMemory::new(copier);
            memory.watch(&[(16, 4)]);
            assert!(memory.refresh().is_err() && memory.read_now(16, &mut [0; 4]).is_err());
        }
    }

    #[test]
    #[should_panic(expected = "is not watched")]
    fn what_is_not_watched_is_not_read() {
        CopiedMemory::new(Copier::by_call(std::process::id() as i32)).u32(4096);
    }
}
