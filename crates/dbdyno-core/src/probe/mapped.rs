//! The server's shared memory in our own address space, read-only: a look at a word costs a load.
//!
//! ```text
//! mapped   /proc/POSTMASTER/map_files/START-END --mmap-->  for root: the kernel opens whatever is mapped there,
//!                                                          anonymous, huge, System V or a deleted file
//! sysv     the id of the System V segment     --shmat-->   for the server's own user, if the server was started
//!                                                          with shared_memory_type = sysv
//! ```
//!
//! A System V segment that we are attached to counts us: a server that is started again on the same data refuses
//! to while anybody is (`pre-existing shared memory block is still in use`). So it is detached with the value.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::maps::MemoryMapping;

/// One shared mapping of the server, here too.
///
/// The whole of it: that takes address space, not memory, as only the pages touched get entries.
pub struct MappedMemory {
    ours: *const u8,
    /// Where the server has it.
    start: u64,
    length: u64,
    release: Release,
}

enum Release {
    Unmap,
    Detach,
}

// SAFETY: the mapping is read-only, lives as long as the value and is read with atomic loads only.
unsafe impl Send for MappedMemory {}

impl MappedMemory {
    /// What a process has at `mapping`, by the kernel's name for it.
    pub fn through_map_files(pid: i32, mapping: &MemoryMapping) -> io::Result<Self> {
        let file = File::open(format!("/proc/{pid}/map_files/{}", mapping.file_name()))?;
        let length = mapping.end - mapping.start;
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        let offset = mapping.offset as libc::off_t;
        let file = file.as_raw_fd();
        // SAFETY: a new mapping at an address of the kernel's choice; nothing of ours is replaced.
        let ours = unsafe { libc::mmap(ptr::null_mut(), length as usize, libc::PROT_READ, flags, file, offset) };
        if ours == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(MappedMemory { ours: ours.cast(), start: mapping.start, length, release: Release::Unmap })
    }

    /// The System V segment that a process has attached at `mapping`.
    pub fn of_segment(mapping: &MemoryMapping) -> io::Result<Self> {
        let id = mapping.system_v_id().ok_or_else(|| io::Error::other("no System V segment"))?;
        // SAFETY: attached at an address of the kernel's choice; nothing of ours is replaced.
        let ours = unsafe { libc::shmat(id, ptr::null(), libc::SHM_RDONLY) };
        if ours as isize == -1 {
            return Err(io::Error::last_os_error());
        }
        let length = mapping.end - mapping.start;
        Ok(MappedMemory { ours: ours.cast(), start: mapping.start, length, release: Release::Detach })
    }

    /// Whether these bytes of the server are in it.
    pub fn contains(&self, address: u64, length: u64) -> bool {
        address >= self.start && length <= self.length && address - self.start <= self.length - length
    }

    /// Four bytes of the server at an address that is a multiple of four.
    pub fn u32(&self, address: u64) -> u32 {
        // SAFETY: `place` has checked bounds and alignment; the server writes with plain stores, which an
        // atomic load may race with.
        unsafe { &*self.place(address, 4).cast::<AtomicU32>() }.load(Ordering::Relaxed)
    }

    /// Eight bytes at an address that is a multiple of eight.
    pub fn u64(&self, address: u64) -> u64 {
        // SAFETY: as above.
        unsafe { &*self.place(address, 8).cast::<AtomicU64>() }.load(Ordering::Relaxed)
    }

    fn place(&self, address: u64, length: u64) -> *const u8 {
        assert!(address.is_multiple_of(length) && self.contains(address, length), "{address:#x} is not watched");
        // SAFETY: inside the mapping, as was just checked.
        unsafe { self.ours.add((address - self.start) as usize) }
    }
}

impl Drop for MappedMemory {
    fn drop(&mut self) {
        let ours = self.ours.cast_mut().cast();
        match self.release {
            // SAFETY: our own mapping, and no reference into it outlives a load.
            Release::Unmap => unsafe { libc::munmap(ours, self.length as usize) },
            // SAFETY: our own attachment, likewise.
            Release::Detach => unsafe { libc::shmdt(ours) },
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::maps;

    /// A System V segment of our own, attached for writing, removed when dropped.
    struct Segment {
        id: i32,
        words: *mut u64,
    }

    impl Segment {
        fn new() -> Self {
            // SAFETY: a new private segment, attached where the kernel likes.
            unsafe {
                let id = libc::shmget(libc::IPC_PRIVATE, 8192, 0o600);
                let words = libc::shmat(id, ptr::null(), 0).cast();
                Segment { id, words }
            }
        }

        fn attached(&self) -> u64 {
            // SAFETY: the kernel fills the structure, which has no invalid values.
            unsafe {
                let mut status: libc::shmid_ds = std::mem::zeroed();
                libc::shmctl(self.id, libc::IPC_STAT, &mut status);
                status.shm_nattch
            }
        }
    }

    impl Drop for Segment {
        fn drop(&mut self) {
            // SAFETY: our own segment.
            unsafe {
                libc::shmdt(self.words.cast());
                libc::shmctl(self.id, libc::IPC_RMID, ptr::null_mut());
            }
        }
    }

    #[test]
    fn a_segment_is_read_while_attached_and_detached_with_the_value() {
        let segment = Segment::new();
        let address = segment.words as u64;
        let map = maps::of_process(std::process::id() as i32).unwrap();
        let mapping = map.iter().find(|mapping| mapping.contains(address, 8192)).unwrap();
        assert_eq!(mapping.system_v_id(), Some(segment.id));
        let memory = MappedMemory::of_segment(mapping).unwrap();
        // SAFETY: the segment is attached for writing, and larger.
        unsafe { segment.words.add(3).write_volatile(0x1122_3344_5566_7788) };
        assert_eq!(memory.u64(address + 24), 0x1122_3344_5566_7788);
        assert_eq!((memory.u32(address + 24), memory.u32(address + 28)), (0x5566_7788, 0x1122_3344));
        assert!(memory.contains(address, 8192) && !memory.contains(address + 8, 8192));
        assert!(!memory.contains(address - 8, 8) && !memory.contains(u64::MAX, 8));
        assert_eq!(segment.attached(), 2);
        drop(memory);
        assert_eq!(segment.attached(), 1);
    }
}
