//! Rooms for PCBs: zeroed pages below 4 GiB, because an AIB holds the address of a PCB in 4 bytes.
//!
//! Invariants:
//! 1. All rooms lie in one mapping below 4 GiB, and stay there until the process ends: a program
//!    may keep their addresses in its own storage.
//! 2. A room is written with bounds checked, and never read.

use std::ffi::c_void;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

/// Bytes of one room (DLI-12.78).
pub(crate) const ROOM_BYTES: usize = 4096;

/// The lowest place that is tried; below it may lie an executable without a place of its own.
const LOWEST: usize = 0x1000_0000;
/// How far apart the places are that are tried one after the other.
const STRIDE: usize = 0x0100_0000;
const LIMIT: usize = 1 << 32;

/// Zeroed rooms of 4 KiB each below 4 GiB.
pub(crate) struct Rooms {
    start: usize,
    count: usize,
}

impl Rooms {
    /// `count` rooms, or why there are none.
    pub(crate) fn new(count: usize) -> Result<Rooms, Errno> {
        let bytes = count.max(1) * ROOM_BYTES;
        let mut place = LOWEST;
        while place + bytes < LIMIT {
            if let Some(start) = map_at(place, bytes)? {
                return Ok(Rooms { start, count });
            }
            place += STRIDE;
        }
        Err(Errno::NOMEM)
    }

    /// Where a room begins.
    pub(crate) fn address(&self, room: usize) -> usize {
        assert!(room < self.count, "there is a room for every PCB");
        self.start + room * ROOM_BYTES
    }

    /// Zeroes all rooms; `false` if there are fewer than are wanted.
    pub(crate) fn clear_for(&self, wanted: usize) -> bool {
        if wanted > self.count {
            return false;
        }
        (0..self.count).for_each(|room| self.write(room, 0, &[0; ROOM_BYTES]));
        true
    }

    /// Which room begins at an address.
    pub(crate) fn at(&self, address: usize) -> Option<usize> {
        let offset = address.checked_sub(self.start)?;
        let room = offset / ROOM_BYTES;
        (offset % ROOM_BYTES == 0 && room < self.count).then_some(room)
    }

    /// Writes bytes into a room; what does not fit is left out.
    pub(crate) fn write(&self, room: usize, offset: usize, bytes: &[u8]) {
        let len = bytes.len().min(ROOM_BYTES.saturating_sub(offset));
        if len == 0 {
            return;
        }
        let place = (self.address(room) + offset) as *mut u8;
        // SAFETY: the room is mapped for as long as the process lives, offset and length stay
        // within it, and no reference to it exists anywhere.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, len) };
    }
}

/// Maps zeroed pages at exactly `place`; `None` if something is there already.
fn map_at(place: usize, bytes: usize) -> Result<Option<usize>, Errno> {
    let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE;
    // SAFETY: a new mapping that replaces none; nothing refers to its pages yet.
    let mapped = unsafe {
        mmap_anonymous(place as *mut c_void, bytes, ProtFlags::READ | ProtFlags::WRITE, flags)
    };
    match mapped {
        Ok(start) if start as usize == place => Ok(Some(place)),
        Ok(start) => {
            // A kernel that does not know the flag takes the place as a wish.
            // SAFETY: the pages were mapped right above and not given away.
            let _ = unsafe { rustix::mm::munmap(start, bytes) };
            Ok(None)
        }
        Err(Errno::EXIST | Errno::PERM | Errno::INVAL) => Ok(None),
        Err(errno) => Err(errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_lie_below_four_gigabytes_and_are_told_apart() {
        let rooms = Rooms::new(3).expect("rooms");
        assert!(rooms.address(2) + ROOM_BYTES < LIMIT);
        assert_eq!(rooms.at(rooms.address(1)), Some(1));
        assert_eq!(rooms.at(rooms.address(1) + 8), None);
        assert_eq!(rooms.at(rooms.address(2) + ROOM_BYTES), None);
        assert_eq!(rooms.at(0), None);
        rooms.write(2, ROOM_BYTES - 2, b"longer than what is left");
    }
}
