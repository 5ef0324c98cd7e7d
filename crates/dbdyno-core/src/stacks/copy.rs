//! What is taken of a process at one instant: three registers and the top of its stack.

use std::io;

/// The registers that unwinding starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// The next instruction.
    pub instruction: u64,
    /// The end of the stack in use.
    pub stack: u64,
    /// `rbp`: a frame pointer or any other value; None where it is not known (a sleeping task's is not shown).
    pub base: Option<u64>,
}

/// The stack from `registers.stack` on, as much of it as was copied.
#[derive(Clone, Debug)]
pub struct StackCopy {
    /// Where unwinding starts.
    pub registers: Registers,
    /// From `registers.stack` upwards.
    pub bytes: Vec<u8>,
}

impl StackCopy {
    /// Copies at most so many bytes of a process's stack, from these registers up to its end.
    pub fn take(pid: i32, registers: Registers, stack_end: u64, bytes_max: usize) -> io::Result<Self> {
        let length = bytes_max.min(usize::try_from(stack_end.saturating_sub(registers.stack)).unwrap_or(0));
        let mut bytes = vec![0; length];
        let copied = read_remote(pid, registers.stack, &mut bytes)?;
        bytes.truncate(copied);
        Ok(StackCopy { registers, bytes })
    }

    /// The eight bytes at an address of the process, if they were copied.
    pub fn word(&self, address: u64) -> Option<u64> {
        let from = usize::try_from(address.checked_sub(self.registers.stack)?).ok()?;
        let bytes = self.bytes.get(from..from.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }
}

/// Copies a process's memory from `address` into `target`; how much of it there was.
pub fn read_remote(pid: i32, address: u64, target: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec { iov_base: target.as_mut_ptr().cast(), iov_len: target.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: target.len() };
    // SAFETY: `local` describes `target`, which is ours alone during the call; the kernel checks `remote`.
    let copied = unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) };
    usize::try_from(copied).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_that_were_copied_are_read() {
        let registers = Registers { instruction: 0, stack: 0x1000, base: None };
        let copy = StackCopy { registers, bytes: (0..12).collect() };

        assert_eq!(copy.word(0x1000), Some(u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7])));
        assert_eq!(copy.word(0x1004), Some(u64::from_le_bytes([4, 5, 6, 7, 8, 9, 10, 11])));
        assert_eq!(copy.word(0x1005), None);
        assert_eq!(copy.word(0xfff), None);
        assert_eq!(copy.word(u64::MAX), None);
    }

    #[test]
    fn memory_of_a_process_is_copied() {
        let known = [7_u8; 32];
        let mut copied = [0_u8; 32];

        assert_eq!(read_remote(std::process::id() as i32, known.as_ptr() as u64, &mut copied).unwrap(), 32);
        assert_eq!(copied, known);
    }
}
