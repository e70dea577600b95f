//! Locks of open files, which those of processes meet, too.
//!
//! Invariants:
//! 1. A lock belongs to the open file and goes with it: two files of one program keep each other
//!    out, and the close of one lets go of nothing that the other has.
//! 2. Programs of the COBOL run time, whose locks belong to processes, are kept out, and keep out.

#![allow(unsafe_code)] // only the C library has this lock

use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::io::Errno;

/// Locks a whole file without waiting: with others, or, as `alone`, without.
pub(super) fn lock(file: &OwnedFd, alone: bool) -> Result<(), Errno> {
    let kind = if alone { libc::F_WRLCK } else { libc::F_RDLCK };
    // From the first byte on, without an end; the system wants no process named.
    let whole = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    // SAFETY: the descriptor is open as long as `file` is borrowed, and `whole` is only read,
    // before the call returns.
    let done = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const whole) };
    match done {
        0 => Ok(()),
        _ => {
            let error = std::io::Error::last_os_error();
            Err(Errno::from_io_error(&error).unwrap_or(Errno::IO))
        }
    }
}
