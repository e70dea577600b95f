//! What a checkpoint keeps of a file, and a restart goes back to (DLI-12.63).
//!
//! | offset | bytes | field, little-endian |
//! |---|---|---|
//! | 0 | 1 | 0 closed, 1 input, 2 output |
//! | 1 | 8 | input: where the next record begins; output: the length |
//! | 9 | 8 | records read or written up to there |
//! | 17 | 0..4095 | output: what stands behind the last whole 4 KiB |
//!
//! Invariants:
//! 1. A closed file has the first byte alone, and input the first 17.
//! 2. The bytes behind the last whole 4 KiB are here because a crash may spoil them although they
//!    were synced: later output is written into the same block (K19).

/// A block that a torn write may spoil.
pub(crate) const BLOCK: u64 = 4096;

/// Where a program is in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is not open: never opened, at its end, or closed by the program.
    Closed,
    /// It is being read.
    Input {
        /// Where the next record begins.
        offset: u64,
        /// Records read.
        records: u64,
    },
    /// It is being written.
    Output {
        /// The length of the file.
        offset: u64,
        /// Records written.
        records: u64,
        /// What stands behind its last whole block.
        tail: Vec<u8>,
    },
}

impl Place {
    /// As bytes, for a checkpoint's record.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let (kind, offset, records, tail) = match self {
            Place::Closed => return vec![0],
            Place::Input { offset, records } => (1, offset, records, &[][..]),
            Place::Output { offset, records, tail } => (2, offset, records, &tail[..]),
        };
        let mut bytes = Vec::with_capacity(17 + tail.len());
        bytes.push(kind);
        bytes.extend_from_slice(&offset.to_le_bytes());
        bytes.extend_from_slice(&records.to_le_bytes());
        bytes.extend_from_slice(tail);
        bytes
    }

    /// From the bytes of a checkpoint's record; `None` if they are none of these.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Place> {
        let (kind, rest) = bytes.split_first()?;
        if *kind == 0 {
            return rest.is_empty().then_some(Place::Closed);
        }
        let (offset, rest) = rest.split_first_chunk::<8>()?;
        let (records, tail) = rest.split_first_chunk::<8>()?;
        let (offset, records) = (u64::from_le_bytes(*offset), u64::from_le_bytes(*records));
        match kind {
            1 if tail.is_empty() => Some(Place::Input { offset, records }),
            2 if tail.len() as u64 == offset % BLOCK => {
                Some(Place::Output { offset, records, tail: tail.to_vec() })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_back() {
        for place in [
            Place::Closed,
            Place::Input { offset: 1 << 40, records: 7 },
            Place::Output { offset: 0, records: 0, tail: vec![] },
            Place::Output { offset: 4100, records: 41, tail: b"four".to_vec() },
        ] {
            let bytes = place.encode();
            assert_eq!(Place::decode(&bytes), Some(place.clone()), "{place:?}");
            assert_eq!(Place::decode(&bytes[..bytes.len() - 1]), None, "{place:?}");
            assert_eq!(Place::decode(&[&bytes[..], b"x"].concat()), None, "{place:?}");
        }
        assert_eq!(Place::decode(&[3; 17]), None);
    }
}
