//! The door to the kernel's keyring: a secret that is held for a login session, for a time.
//!
//! Invariants:
//! 1. A secret can be read by who has the session's keyring alone, not by other sessions, and is
//!    gone when its time is over. The kernel keeps it in memory that is never swapped out.
//! 2. A process that has left the session reaches nothing of it by asking, nor do those that it
//!    starts.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_long};
use std::io;
use std::ptr;

use libc::{
    KEY_SPEC_SESSION_KEYRING, KEYCTL_GET_KEYRING_ID, KEYCTL_INVALIDATE,
    KEYCTL_JOIN_SESSION_KEYRING, KEYCTL_READ, KEYCTL_SEARCH, KEYCTL_SET_TIMEOUT,
};

/// The kind of key that holds bytes and gives them back.
const KIND: &CStr = c"user";
/// No secret is longer.
const BYTES_MAX: usize = 4096;

/// Holds a secret under a name for so many seconds, in place of one that was there.
///
/// # Errors
/// If the kernel has no keyrings, or lets this process use none.
pub fn hold(name: &str, secret: &[u8], seconds: u32) -> io::Result<()> {
    let (name, ring) = (of(name)?, session()?);
    // SAFETY: the strings end in a zero, and the secret is as long as is said.
    let key = call(unsafe {
        libc::syscall(
            libc::SYS_add_key,
            KIND.as_ptr(),
            name.as_ptr(),
            secret.as_ptr(),
            secret.len(),
            ring,
        )
    })?;
    // SAFETY: it takes numbers.
    let timed = call(unsafe {
        libc::syscall(
            libc::SYS_keyctl,
            c_long::from(KEYCTL_SET_TIMEOUT),
            key,
            c_long::from(seconds),
        )
    });
    if timed.is_err() {
        // Nothing is held without an end.
        let _ = drop_key(key);
    }
    timed.map(drop)
}

/// The secret that is held under a name, if one is.
///
/// # Errors
/// If the kernel has no keyrings, or lets this process use none.
pub fn held(name: &str) -> io::Result<Option<Vec<u8>>> {
    let Some(key) = find(name)? else { return Ok(None) };
    let mut secret = vec![0; BYTES_MAX];
    // SAFETY: the buffer is ours, and as long as is said.
    let read = call(unsafe {
        libc::syscall(
            libc::SYS_keyctl,
            c_long::from(KEYCTL_READ),
            key,
            secret.as_mut_ptr(),
            secret.len(),
        )
    });
    match read {
        Ok(len) => {
            secret.truncate(usize::try_from(len).unwrap_or(0));
            Ok(Some(secret))
        }
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Holds a secret no longer; says whether one was held.
///
/// # Errors
/// If the kernel has no keyrings, or lets this process use none.
pub fn let_go(name: &str) -> io::Result<bool> {
    let Some(key) = find(name)? else { return Ok(false) };
    drop_key(key).map(|()| true)
}

/// Leaves the session: this process, and what it starts, have an empty keyring from now on.
///
/// # Errors
/// If the kernel does not let it.
pub fn leave() -> io::Result<()> {
    let no_name: *const libc::c_char = ptr::null();
    // SAFETY: no name makes a keyring that is this process's alone.
    call(unsafe {
        libc::syscall(libc::SYS_keyctl, c_long::from(KEYCTL_JOIN_SESSION_KEYRING), no_name)
    })
    .map(drop)
}

/// The keyring of the session: asked for by its number, so that a session without one of its own
/// has that of its user's sessions, and none is made that would end with this process.
fn session() -> io::Result<c_long> {
    // SAFETY: it takes numbers.
    call(unsafe {
        libc::syscall(
            libc::SYS_keyctl,
            c_long::from(KEYCTL_GET_KEYRING_ID),
            c_long::from(KEY_SPEC_SESSION_KEYRING),
            0 as c_long,
        )
    })
}

fn find(name: &str) -> io::Result<Option<c_long>> {
    let (name, ring) = (of(name)?, session()?);
    // SAFETY: the strings end in a zero; nothing is linked.
    let found = call(unsafe {
        libc::syscall(
            libc::SYS_keyctl,
            c_long::from(KEYCTL_SEARCH),
            ring,
            KIND.as_ptr(),
            name.as_ptr(),
            0 as c_long,
        )
    });
    match found {
        Ok(key) => Ok(Some(key)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn drop_key(key: c_long) -> io::Result<()> {
    // SAFETY: it takes numbers.
    call(unsafe { libc::syscall(libc::SYS_keyctl, c_long::from(KEYCTL_INVALIDATE), key) }).map(drop)
}

fn of(name: &str) -> io::Result<CString> {
    CString::new(name).map_err(io::Error::other)
}

/// Not there, out of time, or taken back.
fn is_absent(error: &io::Error) -> bool {
    let absent = [libc::ENOKEY, libc::EKEYEXPIRED, libc::EKEYREVOKED, libc::EACCES];
    error.raw_os_error().is_some_and(|number| absent.contains(&number))
}

fn call(result: c_long) -> io::Result<c_long> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}

#[cfg(test)]
#[cfg(not(miri))] // it asks the operating system
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_held_until_it_is_let_go_or_out_of_time() {
        let name = format!("holdfast:test:{}", std::process::id());
        if let Err(error) = hold(&name, b"secret", 60) {
            // A container may forbid keyrings; then nothing is held.
            let forbidden = [libc::ENOSYS, libc::EPERM, libc::EACCES];
            assert!(error.raw_os_error().is_some_and(|number| forbidden.contains(&number)));
            return;
        }
        assert_eq!(held(&name).unwrap().as_deref(), Some(&b"secret"[..]));
        hold(&name, b"another", 60).unwrap();
        assert_eq!(held(&name).unwrap().as_deref(), Some(&b"another"[..]));
        assert!(let_go(&name).unwrap());
        assert_eq!((held(&name).unwrap(), let_go(&name).unwrap()), (None, false));
        assert_eq!(held("holdfast:test:nobody").unwrap(), None);
    }
}
