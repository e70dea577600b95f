//! Records: what they look like in the stream, and how a stream is cut into them again.
//!
//! A record as it stands in the log (little-endian, no padding, may span groups):
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 4 | length, this header included |
//! | 4 | 1 | kind; the log does not know what kinds mean |
//! | 5 | 1 | flags, the caller's own |
//! | 6 | 2 | zero |
//! | 8 | 8 | unit of work, 0 for none |
//! | 16 | 8 | previous LSN of that unit of work, 0 for none |
//! | 24 | | body |
//!
//! Invariants:
//! 1. A record is between [`RECORD_HEADER`] and [`RECORD_BYTES_MAX`] bytes long.
//! 2. The LSN of a record is the position of its first byte; the next record begins where it ends.

use base::bytes::{get_u16, get_u32, get_u64, put_u32, put_u64};
use base::{Lsn, UowId};

use crate::group::Flaw;

/// Bytes before the body of a record.
pub const RECORD_HEADER: usize = 24;
const _: () = assert!(RECORD_HEADER >= log_ring::RECORD_BYTES_MIN, "the ring takes any record");

/// The longest record, header included: 1 MiB. A small ring lowers it to half the ring.
pub const RECORD_BYTES_MAX: usize = 1 << 20;

/// A record without its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// Where it begins.
    pub lsn: Lsn,
    /// Where it ends, and the next one begins.
    pub end: Lsn,
    /// What it is, in the words of the layer that wrote it.
    pub kind: u8,
    /// Flags of the layer that wrote it.
    pub flags: u8,
    /// The unit of work that it belongs to, or [`UowId::NONE`].
    pub uow: UowId,
    /// The previous record of that unit of work, or [`Lsn::NONE`].
    pub previous: Lsn,
}

/// A record as a reader lends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Where it begins.
    pub lsn: Lsn,
    /// Where it ends, and the next one begins.
    pub end: Lsn,
    /// What it is, in the words of the layer that wrote it.
    pub kind: u8,
    /// Flags of the layer that wrote it.
    pub flags: u8,
    /// The unit of work that it belongs to, or [`UowId::NONE`].
    pub uow: UowId,
    /// The previous record of that unit of work, or [`Lsn::NONE`].
    pub previous: Lsn,
    /// What the layer above wrote.
    pub body: &'a [u8],
}

impl Record<'_> {
    /// The record without its body.
    #[must_use]
    pub fn head(&self) -> RecordHead {
        let Record { lsn, end, kind, flags, uow, previous, .. } = *self;
        RecordHead { lsn, end, kind, flags, uow, previous }
    }
}

/// What is said of a record that is appended.
#[derive(Clone, Copy)]
pub(crate) struct NewRecord {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) uow: UowId,
    pub(crate) previous: Lsn,
}

impl NewRecord {
    /// The header of a record of `len` bytes in all.
    #[inline]
    pub(crate) fn encode(&self, len: u32) -> [u8; RECORD_HEADER] {
        let mut head = [0; RECORD_HEADER];
        put_u32(&mut head, 0, len);
        head[4] = self.kind;
        head[5] = self.flags;
        put_u64(&mut head, 8, self.uow.0);
        put_u64(&mut head, 16, self.previous.0);
        head
    }
}

/// The record that fills `bytes`, which begins at `lsn`.
///
/// # Errors
/// [`Flaw::Record`] if it does not.
pub fn decode(lsn: Lsn, bytes: &[u8]) -> Result<Record<'_>, Flaw> {
    if bytes.len() < RECORD_HEADER || get_u32(bytes, 0) as usize != bytes.len() {
        return Err(Flaw::Record);
    }
    if get_u16(bytes, 6) != 0 {
        return Err(Flaw::Record);
    }
    Ok(Record {
        lsn,
        end: lsn.plus(bytes.len() as u64),
        kind: bytes[4],
        flags: bytes[5],
        uow: UowId(get_u64(bytes, 8)),
        previous: Lsn(get_u64(bytes, 16)),
        body: &bytes[RECORD_HEADER..],
    })
}

/// Checks a length field: the first four bytes of a record.
///
/// # Errors
/// [`Flaw::Record`] if no record has such a length.
pub fn length_of(field: u32) -> Result<u64, Flaw> {
    let len = field as usize;
    if (RECORD_HEADER..=RECORD_BYTES_MAX).contains(&len) {
        Ok(len as u64)
    } else {
        Err(Flaw::Record)
    }
}

/// Follows record borders through payloads without keeping them, to learn where the last whole
/// record ends (a crash may leave the first part of one) and to check each group's word about its
/// first record.
#[derive(Clone, Debug)]
pub(crate) struct Framer {
    /// Where the record that is being looked at begins.
    start: u64,
    /// Where it ends, once its length is known.
    end: Option<u64>,
    /// The first bytes of its length, when a group's end cuts through them.
    partial: [u8; 4],
    partial_len: usize,
}

impl Framer {
    /// A framer that stands at the border `at`.
    pub(crate) fn at(at: Lsn) -> Framer {
        Framer { start: at.0, end: None, partial: [0; 4], partial_len: 0 }
    }

    /// Goes through the payload that begins at `first`. Returns where in it a record begins first.
    pub(crate) fn feed(&mut self, first: Lsn, payload: &[u8]) -> Result<Option<u32>, Flaw> {
        let limit = first.0 + payload.len() as u64;
        let mut begins = None;
        loop {
            if let Some(end) = self.end {
                if end > limit {
                    return Ok(begins);
                }
                self.start = end;
                self.end = None;
            }
            if self.partial_len == 0 && self.start >= limit {
                return Ok(begins);
            }
            if self.partial_len == 0 && begins.is_none() {
                begins = Some((self.start - first.0) as u32);
            }
            while self.partial_len < 4 {
                let at = self.start + self.partial_len as u64;
                if at >= limit {
                    return Ok(begins);
                }
                let Some(index) = at.checked_sub(first.0) else { return Err(Flaw::Record) };
                self.partial[self.partial_len] = payload[index as usize];
                self.partial_len += 1;
            }
            self.end = Some(self.start + length_of(u32::from_le_bytes(self.partial))?);
            self.partial_len = 0;
        }
    }

    /// Where the last whole record ends, if the stream ends at `limit`.
    pub(crate) fn whole(&self, limit: Lsn) -> Lsn {
        match self.end {
            Some(end) if end <= limit.0 => Lsn(end),
            _ => Lsn(self.start.min(limit.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(len: usize) -> Vec<u8> {
        let head = NewRecord { kind: 7, flags: 1, uow: UowId(9), previous: Lsn(64) };
        let mut bytes = head.encode(len as u32).to_vec();
        bytes.resize(len, 0xab);
        bytes
    }

    #[test]
    fn a_record_comes_back_and_a_wrong_length_does_not() {
        let bytes = record(100);
        let back = decode(Lsn(500), &bytes).unwrap();
        assert_eq!((back.kind, back.flags, back.uow, back.end), (7, 1, UowId(9), Lsn(600)));
        assert_eq!(back.body, &bytes[24..]);
        assert!(decode(Lsn(500), &bytes[..99]).is_err());
        assert!(decode(Lsn(500), &bytes[..3]).is_err());
    }

    #[test]
    fn borders_are_found_however_the_stream_is_cut() {
        let lengths = [24_usize, 25, 300, 24, 70, 1_000, 31];
        let stream: Vec<u8> = lengths.iter().flat_map(|len| record(*len)).collect();
        for piece in 1..200 {
            let mut framer = Framer::at(Lsn(64));
            let mut at = 64_u64;
            for part in stream.chunks(piece) {
                let begins = framer.feed(Lsn(at), part).unwrap();
                let mut border = 64_u64;
                let wanted = lengths.iter().find_map(|len| {
                    let here = border;
                    border += *len as u64;
                    (here >= at && here < at + part.len() as u64).then(|| (here - at) as u32)
                });
                assert_eq!(begins, wanted, "piece {piece} at {at}");
                at += part.len() as u64;
                let mut whole = 64_u64;
                for len in lengths {
                    if whole + len as u64 > at {
                        break;
                    }
                    whole += len as u64;
                }
                assert_eq!(framer.whole(Lsn(at)), Lsn(whole), "piece {piece} up to {at}");
            }
        }
    }

    #[test]
    fn a_length_out_of_bounds_is_a_flaw() {
        let mut framer = Framer::at(Lsn(64));
        assert!(framer.feed(Lsn(64), &[23, 0, 0, 0]).is_err());
        let mut framer = Framer::at(Lsn(64));
        assert!(framer.feed(Lsn(64), &[0, 0, 0x11, 0]).is_err());
    }
}
