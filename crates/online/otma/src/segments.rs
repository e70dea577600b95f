//! The segments of a message, as they travel and as programs see them.
//!
//! | bytes | of each segment |
//! |---|---|
//! | 2 | LL: its length with LL and ZZ, most significant byte first |
//! | 2 | ZZ |
//! | LL - 4 | data |
//!
//! Invariants:
//! 1. The bytes are whole segments: every LL is at least 4 and ends within them.

use thiserror::Error;

/// Bytes of LL and ZZ.
pub const SEGMENT_HEAD: usize = 4;
/// The longest segment, LL and ZZ included.
pub const SEGMENT_BYTES_MAX: usize = 0x7fff;

/// Why bytes are no segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SegmentError {
    /// LL is less than 4, or ends behind the bytes.
    #[error("the length of the segment at byte {at} is {length}, which does not fit")]
    Length {
        /// Where the segment begins.
        at: usize,
        /// What its LL says.
        length: usize,
    },
    /// More data than a segment holds.
    #[error("a segment holds at most 32763 bytes of data, not {0}")]
    TooLong(usize),
}

/// Segments, one behind the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    bytes: Vec<u8>,
}

impl Segments {
    /// No segments.
    #[must_use]
    pub const fn new() -> Segments {
        Segments { bytes: Vec::new() }
    }

    /// Segments that are encoded one behind the other, with nothing between or behind them.
    ///
    /// # Errors
    /// If a length does not fit.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Segments, SegmentError> {
        let mut at = 0;
        while at < bytes.len() {
            let head = bytes.get(at..at + 2);
            let length = head.map_or(0, |head| usize::from(u16::from_be_bytes([head[0], head[1]])));
            if length < SEGMENT_HEAD || bytes.len() - at < length {
                return Err(SegmentError::Length { at, length });
            }
            at += length;
        }
        Ok(Segments { bytes })
    }

    /// Adds a segment.
    ///
    /// # Errors
    /// If it is too long.
    pub fn push(&mut self, zz: [u8; 2], data: &[u8]) -> Result<(), SegmentError> {
        let length = data.len() + SEGMENT_HEAD;
        if length > SEGMENT_BYTES_MAX {
            return Err(SegmentError::TooLong(data.len()));
        }
        self.bytes.extend_from_slice(&(length as u16).to_be_bytes());
        self.bytes.extend_from_slice(&zz);
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    /// The segments in their order, each with its LL and ZZ.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            let length = usize::from(u16::from_be_bytes(*rest.first_chunk()?));
            let (segment, behind) = rest.split_at_checked(length)?;
            rest = behind;
            Some(segment)
        })
    }

    /// The segments' data in their order, without LL and ZZ.
    pub fn data(&self) -> impl Iterator<Item = &[u8]> {
        self.iter().map(|segment| &segment[SEGMENT_HEAD..])
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.iter().count()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All of them, encoded.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All of them, encoded.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Forgets them, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_come_back_as_they_went_in() {
        let mut segments = Segments::new();
        segments.push([0, 1], b"FIRST").expect("short");
        segments.push([0, 0], b"").expect("short");
        let back = Segments::from_bytes(segments.as_bytes().to_vec()).expect("whole");
        assert_eq!(back, segments);
        assert_eq!(back.iter().next(), Some(&b"\x00\x09\x00\x01FIRST"[..]));
        assert_eq!(back.data().collect::<Vec<_>>(), [&b"FIRST"[..], b""]);
        assert_eq!(back.count(), 2);
    }

    #[test]
    fn a_length_that_does_not_fit_is_refused() {
        for bytes in [&b"\0"[..], b"\0\x03\0", b"\0\x05\0\0", b"\0\x04\0\0\0\0\0\0"] {
            assert!(Segments::from_bytes(bytes.to_vec()).is_err(), "{bytes:?}");
        }
        let long = vec![0; SEGMENT_BYTES_MAX];
        assert!(Segments::new().push([0; 2], &long).is_err());
    }
}
