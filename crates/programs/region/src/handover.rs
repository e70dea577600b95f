//! A secret on its way to a program's process, past its environment and its command line.
//!
//! It lies in memory that only the two processes know, as a file without a name. The program's
//! process takes it before the program is loaded: it copies it, overwrites it, and closes the file.
//!
//! Invariants:
//! 1. What was taken is nowhere but with the one who took it: the file is zeros for both processes.

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::MemfdFlags;
use rustix::io::Errno;

use crate::error::RegionError;
use crate::memory::inherited;

/// No secret is longer.
const BYTES_MAX: u64 = 1 << 20;

/// A secret that a process which is about to be started may take.
pub struct Handover(OwnedFd);

impl Handover {
    /// Puts a secret where every process that is started from now on inherits it; it goes away
    /// with this value and with those processes.
    ///
    /// # Errors
    /// If the system gives no memory.
    pub fn new(secret: &[u8]) -> Result<Handover, RegionError> {
        // Not closed on exec: that is the point.
        let fd = rustix::fs::memfd_create("holdfast-handover", MemfdFlags::empty()).map_err(no)?;
        write_all(&fd, secret).map_err(no)?;
        Ok(Handover(fd))
    }

    /// Under which number the other process finds it.
    #[must_use]
    pub fn number(&self) -> i32 {
        self.0.as_raw_fd()
    }

    /// Takes the secret that this process was started with under a number.
    ///
    /// # Errors
    /// If there is none.
    pub fn take(number: i32) -> Result<Vec<u8>, RegionError> {
        let fd = inherited(number).map_err(no)?;
        let len = rustix::fs::fstat(&fd).map_err(no)?.st_size.unsigned_abs();
        if len > BYTES_MAX {
            return Err(no(Errno::FBIG));
        }
        let mut secret = vec![0; len as usize];
        let mut done = 0;
        while done < secret.len() {
            match rustix::io::pread(&fd, &mut secret[done..], done as u64).map_err(no)? {
                0 => return Err(no(Errno::IO)),
                count => done += count,
            }
        }
        write_all(&fd, &vec![0; secret.len()]).map_err(no)?;
        Ok(secret)
    }
}

fn write_all(fd: &OwnedFd, bytes: &[u8]) -> Result<(), Errno> {
    let mut done = 0;
    while done < bytes.len() {
        done += rustix::io::pwrite(fd, &bytes[done..], done as u64)?;
    }
    Ok(())
}

fn no(errno: Errno) -> RegionError {
    RegionError::Memory { what: "the passphrase of a program's process", text: errno.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_taken_once() {
        let handover = Handover::new(b"a secret").expect("memory");
        let other = handover.0.try_clone().expect("a second handle");
        // As if another process had inherited it: the number belongs to the process that takes it.
        let number = std::os::fd::IntoRawFd::into_raw_fd(handover.0);
        assert_eq!(Handover::take(number).expect("it"), b"a secret");
        let mut left = [1; 8];
        assert_eq!(rustix::io::pread(&other, &mut left, 0), Ok(8));
        assert_eq!(left, [0; 8]);
        assert!(Handover::take(-1).is_err());
        assert!(Handover::take(100_000).is_err());
    }
}
