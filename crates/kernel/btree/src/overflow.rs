//! Values that do not fit into a leaf: chains of intervals.
//!
//! The leaf holds a [`Reference`]. Each piece is an interval of its own, written whole under one
//! undoable record, so that backing out frees exactly the pieces that were written. The pieces of a
//! value that is replaced or removed stay until that is committed: undo finds them untouched.
//!
//! | at | bytes | field of a piece |
//! |---|---|---|
//! | 0 | 16 | common header, kind 7 |
//! | 16 | 4 | next piece, 0 for none |
//! | 20 | 4 | first piece |
//! | 24 | 4 | which piece this is, from 0 |
//! | 28 | 4 | bytes of data here |
//! | 32 | | data |

use base::CiNumber;
use base::bytes::{get_u32, put_u32};
use space::{DataSet, Header};

use crate::TreeError;
use crate::node::OVERFLOW_REFERENCE_BYTES;
use crate::records::Piece;

const NEXT_AT: usize = 16;
const FIRST_AT: usize = 20;
const NUMBER_AT: usize = 24;
const LEN_AT: usize = 28;
const DATA_AT: usize = 32;

/// The longest value: 1 GiB.
pub const VALUE_BYTES_MAX: usize = 1 << 30;

/// How much of a value one interval takes.
pub(crate) fn piece_bytes_max(usable_bytes: usize) -> usize {
    usable_bytes - DATA_AT
}

/// Where a value stands: 4 bytes length, 4 bytes first interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) len: u32,
    pub(crate) first: CiNumber,
}

impl Reference {
    /// `bytes` are those of an overflow entry, whose length its node has proven.
    pub(crate) fn decode(bytes: &[u8]) -> Reference {
        Reference { len: get_u32(bytes, 0), first: CiNumber(get_u32(bytes, 4)) }
    }

    pub(crate) fn encode(self) -> [u8; OVERFLOW_REFERENCE_BYTES] {
        let mut bytes = [0; OVERFLOW_REFERENCE_BYTES];
        put_u32(&mut bytes, 0, self.len);
        put_u32(&mut bytes, 4, self.first.0);
        bytes
    }
}

/// Fills an interval with a piece that fits.
pub(crate) fn format_piece(page: &mut [u8], piece: &Piece<'_>) {
    page.fill(0);
    Header::write(page, space::kind::OVERFLOW, 0, piece.ci);
    put_u32(page, NEXT_AT, piece.next.map_or(0, |ci| ci.0));
    put_u32(page, FIRST_AT, piece.first.0);
    put_u32(page, NUMBER_AT, piece.number);
    put_u32(page, LEN_AT, piece.data.len() as u32);
    page[DATA_AT..DATA_AT + piece.data.len()].copy_from_slice(piece.data);
}

/// The piece in an interval, if it is that one.
pub(crate) fn piece_in(
    page: &[u8],
    ci: CiNumber,
    first: CiNumber,
    number: u32,
) -> Option<Piece<'_>> {
    let header = Header::read(page);
    let next = get_u32(page, NEXT_AT);
    let data = page[DATA_AT..].get(..get_u32(page, LEN_AT) as usize)?;
    let right = header.kind == space::kind::OVERFLOW
        && header.ci == ci
        && get_u32(page, FIRST_AT) == first.0
        && get_u32(page, NUMBER_AT) == number;
    let next = (next != 0).then_some(CiNumber(next));
    right.then_some(Piece { ci, next, first, number, data })
}

/// Reads a value into `value`; `false` if the chain is not whole, because it was freed meanwhile.
pub(crate) fn read(
    set: &DataSet,
    reference: Reference,
    value: &mut Vec<u8>,
) -> Result<bool, TreeError> {
    value.clear();
    walk(set, reference, &mut |piece| value.extend_from_slice(piece.data))
}

/// The intervals of a value; `None` if the chain is not whole.
pub(crate) fn intervals(
    set: &DataSet,
    reference: Reference,
) -> Result<Option<Vec<CiNumber>>, TreeError> {
    let mut intervals = Vec::new();
    let whole = walk(set, reference, &mut |piece| intervals.push(piece.ci))?;
    Ok(whole.then_some(intervals))
}

fn walk(
    set: &DataSet,
    reference: Reference,
    visit: &mut dyn FnMut(&Piece<'_>),
) -> Result<bool, TreeError> {
    let (mut next, mut number, mut len) = (Some(reference.first), 0, 0);
    while let Some(ci) = next {
        let page = set.shared(ci)?;
        let Some(piece) = piece_in(page.bytes(), ci, reference.first, number) else {
            return Ok(false);
        };
        len += piece.data.len();
        if piece.data.is_empty() || len > reference.len as usize {
            return Ok(false);
        }
        visit(&piece);
        (next, number) = (piece.next, number + 1);
    }
    Ok(len == reference.len as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_known_by_its_chain_and_number() {
        let mut page = vec![0xff; 4048];
        let (ci, first) = (CiNumber(9), CiNumber(7));
        let piece = Piece { ci, next: None, first, number: 2, data: b"data" };
        format_piece(&mut page, &piece);
        assert_eq!(piece_in(&page, ci, first, 2), Some(piece));
        assert_eq!(piece_in(&page, ci, first, 1), None);
        assert_eq!(piece_in(&page, ci, ci, 2), None);
        assert_eq!(piece_in(&page, first, first, 2), None);
        put_u32(&mut page, LEN_AT, 1 << 20);
        assert_eq!(piece_in(&page, ci, first, 2), None);
    }
}
