//! The door to who is who: the user that this process runs as.
//!
//! Invariants:
//! 1. A user or a group that nobody has given a name is its number.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};

/// A user and the user's main group, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The user's name.
    pub name: String,
    /// The group's name.
    pub group: String,
}

/// Room for an entry of the user database: beyond this it is asked no further.
const ROOM_MAX: usize = 1 << 20;

/// The user that this process acts as.
#[must_use]
pub fn own() -> User {
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    User {
        name: name_of_user(user).unwrap_or_else(|| user.to_string()),
        group: name_of_group(group).unwrap_or_else(|| group.to_string()),
    }
}

fn name_of_user(number: u32) -> Option<String> {
    lookup(|room| {
        // SAFETY: it is numbers and pointers, for which zeros are values.
        let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
        let mut found = std::ptr::null_mut();
        let (at, len) = (room.as_mut_ptr(), room.len());
        // SAFETY: everything is ours, and as long as it says.
        let errno = unsafe { libc::getpwuid_r(number, &raw mut entry, at, len, &raw mut found) };
        (errno, (!found.is_null()).then_some(entry.pw_name.cast_const()))
    })
}

fn name_of_group(number: u32) -> Option<String> {
    lookup(|room| {
        // SAFETY: it is numbers and pointers, for which zeros are values.
        let mut entry: libc::group = unsafe { std::mem::zeroed() };
        let mut found = std::ptr::null_mut();
        let (at, len) = (room.as_mut_ptr(), room.len());
        // SAFETY: everything is ours, and as long as it says.
        let errno = unsafe { libc::getgrgid_r(number, &raw mut entry, at, len, &raw mut found) };
        (errno, (!found.is_null()).then_some(entry.gr_name.cast_const()))
    })
}

/// Asks with more and more room. The name that `ask` answers points into the room.
fn lookup(mut ask: impl FnMut(&mut [c_char]) -> (c_int, Option<*const c_char>)) -> Option<String> {
    let mut room = vec![0; 1024];
    loop {
        match ask(&mut room) {
            (libc::ERANGE, _) if room.len() < ROOM_MAX => room.resize(room.len() * 4, 0),
            (0, Some(name)) if !name.is_null() => {
                // SAFETY: the call succeeded, so the name is text with a zero behind it in the
                // room, which is still there.
                let name = unsafe { CStr::from_ptr(name) };
                return Some(name.to_string_lossy().into_owned());
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_a_name_or_none() {
        assert_eq!(name_of_user(0).as_deref(), Some("root"));
        assert_eq!(name_of_group(0).as_deref(), Some("root"));
        assert_eq!(name_of_user(u32::MAX - 7), None);
        assert!(!own().name.is_empty());
    }
}
