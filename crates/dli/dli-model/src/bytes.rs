//! Bytes of segments: parts, fields with their fills, lengths that stand in front.
//!
//! Invariants:
//! 1. What a segment is too short for is filled by its type, never read from behind its end.

use definitions::FieldType;

/// Why an area cannot be used.
pub(crate) type Status = &'static [u8; 2];

/// `len` bytes from `offset`, as far as they are there.
pub(crate) fn part(bytes: &[u8], offset: usize, len: usize) -> &[u8] {
    let from = offset.min(bytes.len());
    &bytes[from..(offset + len).min(bytes.len())]
}

/// A field, or the fill of its type where the segment is too short (DLI-12.46).
pub(crate) fn filled(bytes: &[u8], offset: usize, len: usize, kind: FieldType) -> Vec<u8> {
    match bytes.get(offset..offset + len) {
        Some(field) => field.to_vec(),
        None => fill(len, kind),
    }
}

/// DLI-12.46: C blank, P packed zero, X, F and H binary zeros.
///
/// decision: the sign of packed zero is X'C', and a field that is there in part counts as missing.
pub(crate) fn fill(len: usize, kind: FieldType) -> Vec<u8> {
    match kind {
        FieldType::Character => vec![b' '; len],
        FieldType::Packed => {
            let mut zero = vec![0; len];
            zero.iter_mut().last().into_iter().for_each(|sign| *sign = 0x0C);
            zero
        }
        FieldType::Hexadecimal | FieldType::Fullword | FieldType::Halfword => vec![0; len],
    }
}

pub(crate) fn to_usize(len: u32) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

/// A field of an index source, or what stands for it in a short segment (DLI-12.66).
pub(crate) fn field_or_zeros(bytes: &[u8], offset: usize, len: usize, kind: FieldType) -> Vec<u8> {
    if bytes.len() >= offset + len {
        return filled(bytes, offset, len, kind);
    }
    match kind {
        FieldType::Packed => {
            let mut zero = vec![0; len];
            zero.iter_mut().last().into_iter().for_each(|sign| *sign = 0x0F);
            zero
        }
        FieldType::Character => vec![b'0'; len],
        FieldType::Hexadecimal | FieldType::Fullword | FieldType::Halfword => vec![0; len],
    }
}

/// The LL at the front of the area.
pub(crate) fn ll(area: &[u8], min: u16, max: u16) -> Result<usize, Status> {
    let len = u16::from_be_bytes(*area.first_chunk::<2>().ok_or(b"AB")?);
    if (min..=max).contains(&len) { Ok(usize::from(len)) } else { Err(b"V1") }
}
