//! How long a search argument is.
//!
//! A program passes no lengths, and a value may hold any bytes; only with the lengths of the fields
//! can one tell where an argument ends. Whether it is right is the engine's business: an argument
//! that is wrong somewhere is cut behind that place, so that the engine finds the same mistake.
//!
//! Invariants:
//! 1. Not more is taken than the syntax reaches, and never more than the bytes given.
//! 2. An argument that is right is taken whole.

use crate::layout::{DatabaseLayout, SegmentLayout};

/// The most that is looked at for one search argument.
pub(crate) const SSA_BYTES_MAX: usize = 16 << 10;

const NAME: usize = 8;
const OPERATOR: usize = 2;
/// With command code O the field's name is its place and length, two bytes each, and 4 blanks.
const PLACE: usize = 4;

/// How many of `bytes` the search argument at their front takes.
pub(crate) fn measure(database: &DatabaseLayout, bytes: &[u8]) -> usize {
    let is_segment = |segment: &&SegmentLayout| bytes.starts_with(&segment.name);
    let segment = database.segments.iter().find(is_segment);
    let (codes, open) = command_codes(bytes);
    if bytes.get(open).is_none_or(|byte| !is_open(*byte)) {
        return (open + 1).min(bytes.len());
    }
    let Some(segment) = segment else { return (open + 1).min(bytes.len()) };
    let first = open + 1;
    let end = match codes {
        Codes { concatenated: true, .. } => first + usize::from(segment.key_path),
        Codes { by_place, .. } => conditions(segment, bytes, first, by_place),
    };
    (end + 1).min(bytes.len())
}

struct Codes {
    concatenated: bool,
    by_place: bool,
}

/// The command codes, and where the parenthesis or blank behind them should stand.
fn command_codes(bytes: &[u8]) -> (Codes, usize) {
    let mut codes = Codes { concatenated: false, by_place: false };
    let mut at = NAME;
    if bytes.get(at).is_none_or(|byte| !matches!(byte, b'*' | 0x5c)) {
        return (codes, at);
    }
    at += 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'C' | 0xc3 => codes.concatenated = true,
            b'O' | 0xd6 => codes.by_place = true,
            b'-' | 0x60 | b'0'..=b'9' | 0xf0..=0xf9 => {}
            byte if byte.is_ascii_uppercase() || is_ebcdic_letter(*byte) => {}
            _ => break,
        }
        at += 1;
    }
    (codes, at)
}

/// Where the parenthesis that closes the conditions stands, or what stands wrong in its place.
fn conditions(segment: &SegmentLayout, bytes: &[u8], first: usize, by_place: bool) -> usize {
    let mut at = first;
    loop {
        let value = at + NAME + OPERATOR;
        let Some(field) = bytes.get(at..at + NAME) else { return bytes.len() };
        let len = if by_place {
            let len = field.get(2..PLACE).and_then(|len| len.first_chunk::<2>());
            len.map(|len| u16::from_be_bytes(*len))
        } else {
            segment.fields.iter().find(|known| known.name == field).map(|known| known.len)
        };
        let Some(len) = len else { return value };
        let end = value + usize::from(len);
        match bytes.get(end) {
            Some(byte) if is_boolean(*byte) => at = end + 1,
            _ => return end,
        }
    }
}

fn is_open(byte: u8) -> bool {
    matches!(byte, b'(' | 0x4d)
}

/// AND, OR and independent AND, in ASCII and in EBCDIC.
fn is_boolean(byte: u8) -> bool {
    matches!(byte, b'*' | b'&' | b'+' | b'|' | b'#' | 0x5c | 0x50 | 0x4e | 0x4f | 0x7b)
}

fn is_ebcdic_letter(byte: u8) -> bool {
    matches!(byte, 0xc1..=0xc9 | 0xd1..=0xd9 | 0xe2..=0xe9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{PcbKind, tests::sample};

    fn length(ssa: &[u8]) -> usize {
        let PcbKind::Database(database) = &sample()[1].kind else { unreachable!() };
        let mut bytes = ssa.to_vec();
        bytes.extend_from_slice(b"(whatever stands behind it)");
        measure(database, &bytes)
    }

    #[test]
    fn right_arguments_are_taken_whole() {
        for ssa in [
            &b"CUSTOMER "[..],
            b"CUSTOMER(CUSTKEY  =000042)",
            b"CUSTOMER(CUSTKEY  =)00(42)",
            b"CUSTOMER*D(CUSTKEY >=000042&CUSTKEY <=000050)",
            b"CUSTOMER*-P-- ",
            b"CUSTOMER*QAP(CITY     =ROTTERDAM +CITY     =UTRECHT   )",
            b"ORDER   *C(000042ORD1)",
            b"ORDER   *L ",
        ] {
            assert_eq!(length(ssa), ssa.len(), "{}", String::from_utf8_lossy(ssa));
        }
    }

    #[test]
    fn an_argument_that_goes_on_behind_what_was_looked_at_takes_all_of_it() {
        let PcbKind::Database(database) = &sample()[1].kind else { unreachable!() };
        let ssa = b"CUSTOMER*DP(CUSTKEY >=000042&CITY    <=ROTTERDAM +CUSTKEY  =000050)";
        for len in 0..ssa.len() {
            assert_eq!(measure(database, &ssa[..len]), len, "cut at {len}");
        }
    }

    #[test]
    fn wrong_arguments_are_cut_behind_the_mistake() {
        assert_eq!(length(b"CUSTOMER(CUSTKEY  =000042X"), b"CUSTOMER(CUSTKEY  =000042X".len());
        assert_eq!(length(b"CUSTOMER(NOFIELD  =000042)"), b"CUSTOMER(NOFIELD  =0".len());
        assert_eq!(length(b"NOSEG   (CUSTKEY  =000042)"), b"NOSEG   (".len());
        let PcbKind::Database(database) = &sample()[1].kind else { unreachable!() };
        for len in 0..12 {
            assert!(measure(database, &b"CUSTOMER(CUSTKEY"[..len]) <= len);
        }
    }
}
