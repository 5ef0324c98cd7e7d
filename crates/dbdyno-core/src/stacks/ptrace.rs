//! ptrace(2) requests that carry a number and answer with nothing.

use std::{io, ptr};

/// SEIZE, INTERRUPT, DETACH, SYSCALL and their like: none takes or gives memory of ours.
pub fn request(what: libc::c_uint, pid: i32, data: libc::c_int) -> io::Result<()> {
    // SAFETY: none of these requests reads or writes our memory; the kernel checks the process.
    let result = unsafe { libc::ptrace(what, pid, ptr::null_mut::<libc::c_void>(), data as libc::c_long) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
