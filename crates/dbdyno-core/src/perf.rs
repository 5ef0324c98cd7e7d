//! perf_event_open(2), as far as a software event of one process needs it.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

const TYPE_SOFTWARE: u32 = 1;
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;
/// Without it unprivileged users are refused (perf_event_paranoid 2).
pub const FLAG_EXCLUDE_KERNEL: u64 = 1 << 5;
/// As well.
pub const FLAG_EXCLUDE_HYPERVISOR: u64 = 1 << 6;

/// The part of `struct perf_event_attr` that every kernel since 3.19 knows; the size says so.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Attributes {
    /// PERF_TYPE_*.
    pub kind: u32,
    /// Of this structure.
    pub size: u32,
    /// Which counter.
    pub config: u64,
    /// By what flag `freq` says.
    pub period_or_frequency: u64,
    /// PERF_SAMPLE_*.
    pub sample_type: u64,
    /// PERF_FORMAT_*.
    pub read_format: u64,
    /// The bit field.
    pub flags: u64,
    /// After so many events.
    pub wakeup: u32,
    /// Not of software events.
    pub breakpoint_type: u32,
    /// Not of software events.
    pub config1: u64,
    /// Not of software events.
    pub config2: u64,
    /// Not of software events.
    pub branch_sample_type: u64,
    /// Which registers, a bit each.
    pub sample_registers_user: u64,
    /// Bytes.
    pub sample_stack_user: u32,
    /// CLOCK_*.
    pub clock: i32,
    /// Which registers, a bit each.
    pub sample_registers_intr: u64,
}

impl Attributes {
    /// Of an event that the kernel counts itself; the rest is zero.
    pub fn software() -> Self {
        Attributes { kind: TYPE_SOFTWARE, size: size_of::<Attributes>() as u32, ..Attributes::default() }
    }
}

/// Opens an event of one process on whichever CPU it runs, closed when this program starts another.
pub fn open(attributes: &Attributes, pid: i32) -> io::Result<OwnedFd> {
    const ANY_CPU: libc::c_int = -1;
    const NO_GROUP: libc::c_int = -1;
    // SAFETY: the kernel reads `attributes`, as many bytes as its size field says, during the call only.
    let descriptor = unsafe {
        libc::syscall(libc::SYS_perf_event_open, &raw const *attributes, pid, ANY_CPU, NO_GROUP, CLOSE_ON_EXEC)
    };
    if descriptor == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has just given us this descriptor; nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor as libc::c_int) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attributes_are_of_the_size_that_kernels_since_3_19_know() {
        assert_eq!(size_of::<Attributes>(), 104);
    }
}
