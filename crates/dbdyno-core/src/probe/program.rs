//! A running server seen from outside: its program's variables, and its shared memory.
//!
//! ```text
//! executable's .dynsym --(+ load bias)--> address of a variable, the same in the postmaster and all its children,
//!                                         because they are forks of it
//! ```
//!
//! What a variable holds differs from process to process. Of a pointer only addresses in shared memory count: one
//! that aims at a private variable can be followed through another process, and gives that one's value.

use std::{fs, io};

use super::copied::Copier;
use super::elf::Executable;
use super::maps::{self, MemoryMapping};
use super::process;

/// A server's program and memory map.
pub struct Program {
    /// The process that maps the shared memory as long as the server lives.
    pub postmaster_pid: i32,
    /// Every shared mapping of the postmaster.
    shared: Vec<MemoryMapping>,
    executable: Executable,
    bias: u64,
    path: String,
    image: Vec<u8>,
}

impl Program {
    /// Look at a running server.
    pub fn open(postmaster_pid: i32) -> Result<Self, String> {
        let describe = |what: &str, error: io::Error| format!("{what} of process {postmaster_pid}: {error}");
        let mappings = maps::of_process(postmaster_pid).map_err(|error| describe("memory map", error))?;
        let link = format!("/proc/{postmaster_pid}/exe");
        let path = fs::read_link(&link).map_err(|error| describe("executable", error))?;
        let image = fs::read(&link).map_err(|error| describe("executable", error))?;
        let executable = Executable::parse(&image).map_err(|error| describe("executable", error))?;
        // Path and map are printed by the same code of the kernel, a trailing " (deleted)" included.
        let path = path.to_string_lossy().into_owned();
        let mapped = mappings.iter().find(|mapping| mapping.path == path);
        let bias = mapped.and_then(|mapping| executable.load_bias(mapping.offset, mapping.start));
        let bias = bias.ok_or_else(|| format!("{path} is not in the memory map of process {postmaster_pid}"))?;
        let shared = mappings.into_iter().filter(|mapping| mapping.shared).collect();
        Ok(Program { postmaster_pid, shared, executable, bias, path, image })
    }

    /// Where the server's processes have a global variable.
    pub fn variable(&self, name: &str) -> Result<u64, String> {
        let linked = self.executable.symbol(name);
        let missing = || format!("{} has no dynamic symbol {name} (PostgreSQL 14 and later have it)", self.path);
        linked.map(|linked| linked + self.bias).ok_or_else(missing)
    }

    /// A variable that a server may lack.
    pub fn variable_if_any(&self, name: &str) -> Option<u64> {
        self.executable.symbol(name).map(|linked| linked + self.bias)
    }

    /// The file that runs, and its contents.
    pub fn file(&self) -> (&str, &[u8]) {
        (&self.path, &self.image)
    }

    /// The memory of one of the server's processes.
    pub fn memory_of(&self, pid: i32) -> Result<Copier, String> {
        let probe = self.variable("MyProc")?;
        Copier::of_process(pid, probe).map_err(|error| format!("memory of process {pid}: {error}"))
    }

    /// The children of the postmaster.
    pub fn children(&self) -> Result<Vec<i32>, String> {
        let pid = self.postmaster_pid;
        process::children(pid).map_err(|error| format!("children of process {pid}: {error}"))
    }

    /// Whether these bytes are shared by the server's processes.
    pub fn is_shared(&self, address: u64, length: u64) -> bool {
        self.mapping_of(address, length).is_some()
    }

    /// The shared mapping that holds these bytes.
    pub fn mapping_of(&self, address: u64, length: u64) -> Option<&MemoryMapping> {
        self.shared.iter().find(|mapping| mapping.contains(address, length))
    }

    /// The major version that the server's data directory, its working directory, was made by.
    pub fn major_version(&self) -> Result<u32, String> {
        let path = format!("/proc/{}/cwd/PG_VERSION", self.postmaster_pid);
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        text.trim().parse().map_err(|_| format!("{path}: {:?} is no version of PostgreSQL 14 or later", text.trim()))
    }
}
