//! A server's shared memory by one of the routes over memory, behind one face.
//!
//! Addresses are the server's own. Where a read is free (`mapped`, `sysv`) it is a load; elsewhere the spans that are
//! watched are copied by `refresh`, and reads are of the last copy.

use std::io;

use super::copied::{CopiedMemory, Copier};
use super::mapped::MappedMemory;
use super::maps::MemoryMapping;
use super::route::Route;

/// The server's shared memory.
pub struct SharedMemory {
    route: Route,
    note: Option<String>,
    way: Way,
}

enum Way {
    Mapped(MappedMemory),
    Copied(CopiedMemory),
}

impl SharedMemory {
    /// By one route; `mapping` is the server's main shared memory. The error names what was refused.
    pub fn open(postmaster_pid: i32, mapping: &MemoryMapping, route: Route) -> Result<Self, String> {
        let way = match route {
            Route::Mapped => {
                let name = mapping.file_name();
                let mapped = MappedMemory::through_map_files(postmaster_pid, mapping);
                Way::Mapped(mapped.map_err(|error| format!("map_files/{name}: {error}"))?)
            }
            Route::Sysv if mapping.system_v_id().is_none() => {
                return Err("the server's shared memory is no System V segment (shared_memory_type)".to_owned());
            }
            Route::Sysv => Way::Mapped(MappedMemory::of_segment(mapping).map_err(|error| format!("shmat: {error}"))?),
            Route::Contiguous => Way::Copied(CopiedMemory::new(Copier::by_call(postmaster_pid))),
            Route::Mem => {
                let copier = Copier::by_file(postmaster_pid);
                let copier = copier.map_err(|error| format!("/proc/{postmaster_pid}/mem: {error}"))?;
                Way::Copied(CopiedMemory::new(copier))
            }
            Route::Sql | Route::Off => return Err("it does not read memory".to_owned()),
        };
        let memory = SharedMemory { route, note: None, way };
        memory.fresh_u32(mapping.start).map_err(|error| format!("memory of process {postmaster_pid}: {error}"))?;
        Ok(memory)
    }

    /// The same, with the reason why it is not by a better route.
    pub fn with_note(self, note: Option<String>) -> Self {
        SharedMemory { note, ..self }
    }

    /// The route in use.
    pub fn route(&self) -> Route {
        self.route
    }

    /// Why not by a better route.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Whether a read costs no system call.
    pub fn reads_are_free(&self) -> bool {
        matches!(self.way, Way::Mapped(_))
    }

    /// The spans (address, bytes) that `refresh` copies from now on.
    ///
    /// # Errors
    ///
    /// One of them does not lie in what is mapped: the addresses are the server's, or of a layout that is not its own.
    pub fn watch(&mut self, spans: &[(u64, usize)]) -> io::Result<()> {
        match &mut self.way {
            Way::Mapped(memory) => {
                let inside = spans.iter().all(|&(start, length)| memory.contains(start, length as u64));
                if inside { Ok(()) } else { Err(io::Error::other("a span lies outside of the shared memory")) }
            }
            Way::Copied(memory) => {
                memory.watch(spans);
                Ok(())
            }
        }
    }

    /// Copy the watched spans; nothing to do where reads are free.
    pub fn refresh(&mut self) -> io::Result<()> {
        match &mut self.way {
            Way::Mapped(_) => Ok(()),
            Way::Copied(memory) => memory.refresh(),
        }
    }

    /// Four bytes of a watched span: a load, or from the last copy.
    pub fn u32(&self, address: u64) -> u32 {
        match &self.way {
            Way::Mapped(memory) => memory.u32(address),
            Way::Copied(memory) => memory.u32(address),
        }
    }

    /// Eight bytes of a watched span.
    pub fn u64(&self, address: u64) -> u64 {
        match &self.way {
            Way::Mapped(memory) => memory.u64(address),
            Way::Copied(memory) => memory.u64(address),
        }
    }

    /// Four bytes as they are now, whatever the route; they need not be watched.
    pub fn fresh_u32(&self, address: u64) -> io::Result<u32> {
        match &self.way {
            Way::Mapped(memory) => Ok(memory.u32(address)),
            Way::Copied(memory) => {
                let mut bytes = [0; 4];
                memory.read_now(address, &mut bytes).map(|()| u32::from_le_bytes(bytes))
            }
        }
    }
}
