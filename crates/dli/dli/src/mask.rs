//! What a program sees in a database PCB after each call (DLI-4).
//!
//! Invariants:
//! 1. Nothing is read back from what programs hold: this is the only original (DLI-12.78).
//! 2. The key feedback behind the returned length is what earlier calls left (DLI-2.3).

use definitions::SegmentName;
use definitions::resolve::View;

use crate::status::Status;

/// The contents of a database PCB.
#[derive(Clone, Debug)]
pub struct Mask {
    /// The name of the database.
    pub dbd: [u8; 8],
    /// The level number.
    pub level: u8,
    /// The status code.
    pub status: Status,
    /// The processing options as the source has them.
    pub options: [u8; 4],
    /// The segment's name, or blanks.
    pub segment: [u8; 8],
    /// The length of the key.
    pub key_len: usize,
    /// How many segments the program is sensitive to.
    pub sensitive: u32,
    /// The key feedback area, as long as the longest key.
    pub feedback: Vec<u8>,
}

impl Mask {
    /// As it is before the first call.
    #[must_use]
    pub fn new(view: &View) -> Mask {
        Mask {
            dbd: *view.dbd.bytes(),
            level: 0,
            status: Status::OK,
            options: *view.options.shown(),
            segment: [b' '; 8],
            key_len: 0,
            sensitive: u32::try_from(view.segments.len()).unwrap_or(u32::MAX),
            feedback: vec![0; view.key_len as usize],
        }
    }

    /// The key that the last call returned.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.feedback[..self.key_len]
    }

    /// Shows no segment: level 00, no name, no key (DLI-2.2).
    pub(crate) fn clear(&mut self) {
        self.level = 0;
        self.segment = [b' '; 8];
        self.key_len = 0;
    }

    /// Shows a segment with the key that [`put_key`](Mask::put_key) has written.
    pub(crate) fn show(&mut self, level: usize, name: SegmentName) {
        // A hierarchy has 15 levels.
        self.level = level as u8;
        self.segment = *name.bytes();
    }

    /// Writes a piece of the key that is stored as it is shown.
    #[inline]
    pub(crate) fn put_bytes(&mut self, at: usize, key: &[u8]) {
        match self.feedback.get_mut(at..at + key.len()) {
            Some(place) => {
                base::bytes::copy_short(place, key);
                self.key_len = at + key.len();
            }
            None => self.put_key(at, key.iter().copied()),
        }
    }

    /// Writes a piece of the key where it belongs; the key ends behind it.
    pub(crate) fn put_key(&mut self, at: usize, key: impl Iterator<Item = u8>) {
        let mut end = at;
        for byte in key {
            if let Some(place) = self.feedback.get_mut(end) {
                *place = byte;
                end += 1;
            }
        }
        self.key_len = end.min(self.feedback.len());
    }
}
