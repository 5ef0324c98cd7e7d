//! Where each server process keeps its wait event, found from outside.
//!
//! ```text
//! executable's .dynsym: my_wait_event_info, MyProc --(+ load bias)--> two pointers in each process
//!     MyProc -------------> PGPROC of the process, in the server's shared memory
//!     my_wait_event_info -> a 4-byte field of that PGPROC, at the same offset in every process
//! ```
//!
//! The field's offset depends on the version and on how the server was built, so it is learned, never
//! assumed. A process without a PGPROC (the logger; any process before InitProcess) has the pointer
//! aimed at a private variable at the same address in all of them: reading that through another
//! process would succeed and return the reader's value, so only addresses in shared memory count.

use std::{fs, io};

use super::elf::Executable;
use super::maps::{self, MemoryMapping};

/// A server's memory as seen from outside.
pub struct ServerMemory {
    /// The process that maps the shared memory as long as the server lives.
    pub postmaster_pid: i32,
    /// Every shared mapping of the postmaster.
    shared: Vec<MemoryMapping>,
    wait_pointer: u64,
    process_pointer: u64,
}

impl ServerMemory {
    /// Find the two pointers in a running server.
    pub fn open(postmaster_pid: i32) -> Result<Self, String> {
        let describe = |what: &str, error: io::Error| format!("{what} of process {postmaster_pid}: {error}");
        let mappings = maps::of_process(postmaster_pid).map_err(|error| describe("memory map", error))?;
        let link = format!("/proc/{postmaster_pid}/exe");
        let path = fs::read_link(&link).map_err(|error| describe("executable", error))?;
        let image = fs::read(&link).map_err(|error| describe("executable", error))?;
        let executable = Executable::parse(&image).map_err(|error| describe("executable", error))?;
        // Path and map are printed by the same code of the kernel, a trailing " (deleted)" included.
        let path = path.to_string_lossy();
        let mapped = mappings.iter().find(|mapping| mapping.path == path);
        let bias = mapped.and_then(|mapping| executable.load_bias(mapping.offset, mapping.start));
        let bias = bias.ok_or_else(|| format!("{path} is not in the memory map of process {postmaster_pid}"))?;
        let address = |name: &str| executable.symbol(name).map(|linked| linked + bias);
        let missing = |name: &str| format!("{path} has no dynamic symbol {name} (PostgreSQL 14 and later have it)");
        Ok(ServerMemory {
            postmaster_pid,
            shared: mappings.into_iter().filter(|mapping| mapping.shared).collect(),
            wait_pointer: address("my_wait_event_info").ok_or_else(|| missing("my_wait_event_info"))?,
            process_pointer: address("MyProc").ok_or_else(|| missing("MyProc"))?,
        })
    }

    /// Where this process keeps its wait event: (address, the same less the address of its PGPROC).
    fn locate(&self, pid: i32) -> Result<Option<(u64, u64)>, String> {
        let pointer = |address| {
            let mut value = [0; 8];
            read_remote(pid, address, &mut value).map_err(|error| format!("memory of process {pid}: {error}"))?;
            Ok::<u64, String>(u64::from_le_bytes(value))
        };
        let (word, process) = (pointer(self.wait_pointer)?, pointer(self.process_pointer)?);
        let in_shared = |address, length| self.shared.iter().any(|mapping| mapping.contains(address, length));
        let valid = word > process && in_shared(word, 4) && in_shared(process, 8);
        Ok(valid.then(|| (word, word - process)))
    }

    /// The wait words of processes that must have one, all checked to be the same field of a PGPROC.
    pub fn client_words(&self, pids: &[i32]) -> Result<Vec<u64>, String> {
        let mut words = Vec::with_capacity(pids.len());
        let mut offset_seen = None;
        for &pid in pids {
            let (word, offset) =
                self.locate(pid)?.ok_or_else(|| format!("process {pid} keeps no wait event in shared memory"))?;
            if *offset_seen.get_or_insert(offset) != offset {
                return Err(format!("the wait event of process {pid} is not where the other backends have it"));
            }
            words.push(word);
        }
        Ok(words)
    }

    /// The wait word of a process that may have none or may just be ending.
    pub fn background_word(&self, pid: i32) -> Option<u64> {
        self.locate(pid).ok().flatten().map(|(word, _)| word)
    }

    /// The one mapping in which all these words lie.
    pub fn mapping_of(&self, words: &[u64]) -> Result<&MemoryMapping, String> {
        let holds_all = |mapping: &&MemoryMapping| words.iter().all(|&word| mapping.contains(word, 4));
        self.shared.iter().find(holds_all).ok_or_else(|| "the wait events lie in several mappings".to_owned())
    }

    /// The major version that the server's data directory, its working directory, was made by.
    pub fn major_version(&self) -> Result<u32, String> {
        let path = format!("/proc/{}/cwd/PG_VERSION", self.postmaster_pid);
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        text.trim().parse().map_err(|_| format!("{path}: {:?} is no version of PostgreSQL 14 or later", text.trim()))
    }
}

/// Copy from another process's memory.
pub fn read_remote(pid: i32, address: u64, target: &mut [u8]) -> io::Result<()> {
    let local = libc::iovec { iov_base: target.as_mut_ptr().cast(), iov_len: target.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: target.len() };
    // SAFETY: `local` describes `target`, which is ours alone during the call; the kernel checks `remote`.
    let copied = unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) };
    expect_whole(copied, target.len())
}

/// A copy that ended early is an error.
pub fn expect_whole(copied: isize, wanted: usize) -> io::Result<()> {
    match copied {
        -1 => Err(io::Error::last_os_error()),
        copied if copied as usize == wanted => Ok(()),
        _ => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
    }
}
