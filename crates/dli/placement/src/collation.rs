//! The orders in which character keys compare (H4).
//!
//! | name | order |
//! |---|---|
//! | `binary` | that of the bytes, as they are stored |
//! | `ebcdic` | of ASCII data, the one it would have on the host: each byte counts as the code that EBCDIC 037 has for its character (ISO 8859-1) |
//!
//! Invariants:
//! 1. Each table is a bijection of all 256 byte values, so what was transformed comes back.
//! 2. The tables never change: trees hold transformed keys.
//! 3. A collation is about character fields. Packed and binary ones, `TYPE=P`, `X`, `F` and `H`,
//!    compare as bytes in every database: [`Collation::of_field`].

use std::cmp::Ordering;

use definitions::FieldType;
use serde::Deserialize;

/// How a database's character fields compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Collation {
    /// As bytes.
    #[default]
    Binary,
    /// ASCII data in the host's order.
    Ebcdic,
}

static SAME: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte as u8;
        byte += 1;
    }
    table
};

/// The code in EBCDIC 037 of each character of ISO 8859-1.
#[rustfmt::skip]
static HOST: [u8; 256] = [
    0x00, 0x01, 0x02, 0x03, 0x37, 0x2d, 0x2e, 0x2f, 0x16, 0x05, 0x25, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
    0x10, 0x11, 0x12, 0x13, 0x3c, 0x3d, 0x32, 0x26, 0x18, 0x19, 0x3f, 0x27, 0x1c, 0x1d, 0x1e, 0x1f,
    0x40, 0x5a, 0x7f, 0x7b, 0x5b, 0x6c, 0x50, 0x7d, 0x4d, 0x5d, 0x5c, 0x4e, 0x6b, 0x60, 0x4b, 0x61,
    0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0x7a, 0x5e, 0x4c, 0x7e, 0x6e, 0x6f,
    0x7c, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6,
    0xd7, 0xd8, 0xd9, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xba, 0xe0, 0xbb, 0xb0, 0x6d,
    0x79, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96,
    0x97, 0x98, 0x99, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xc0, 0x4f, 0xd0, 0xa1, 0x07,
    0x20, 0x21, 0x22, 0x23, 0x24, 0x15, 0x06, 0x17, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x09, 0x0a, 0x1b,
    0x30, 0x31, 0x1a, 0x33, 0x34, 0x35, 0x36, 0x08, 0x38, 0x39, 0x3a, 0x3b, 0x04, 0x14, 0x3e, 0xff,
    0x41, 0xaa, 0x4a, 0xb1, 0x9f, 0xb2, 0x6a, 0xb5, 0xbd, 0xb4, 0x9a, 0x8a, 0x5f, 0xca, 0xaf, 0xbc,
    0x90, 0x8f, 0xea, 0xfa, 0xbe, 0xa0, 0xb6, 0xb3, 0x9d, 0xda, 0x9b, 0x8b, 0xb7, 0xb8, 0xb9, 0xab,
    0x64, 0x65, 0x62, 0x66, 0x63, 0x67, 0x9e, 0x68, 0x74, 0x71, 0x72, 0x73, 0x78, 0x75, 0x76, 0x77,
    0xac, 0x69, 0xed, 0xee, 0xeb, 0xef, 0xec, 0xbf, 0x80, 0xfd, 0xfe, 0xfb, 0xfc, 0xad, 0xae, 0x59,
    0x44, 0x45, 0x42, 0x46, 0x43, 0x47, 0x9c, 0x48, 0x54, 0x51, 0x52, 0x53, 0x58, 0x55, 0x56, 0x57,
    0x8c, 0x49, 0xcd, 0xce, 0xcb, 0xcf, 0xcc, 0xe1, 0x70, 0xdd, 0xde, 0xdb, 0xdc, 0x8d, 0x8e, 0xdf,
];

static OF_HOST: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[HOST[byte] as usize] = byte as u8;
        byte += 1;
    }
    table
};

impl Collation {
    /// The collation of a field of that type in a database of this one.
    #[must_use]
    pub fn of_field(self, kind: FieldType) -> Collation {
        if kind == FieldType::Character { self } else { Collation::Binary }
    }

    /// What each byte of data counts as.
    #[must_use]
    pub fn table(self) -> &'static [u8; 256] {
        match self {
            Collation::Binary => &SAME,
            Collation::Ebcdic => &HOST,
        }
    }

    /// The byte of data that counts as each value: the inverse of [`table`](Collation::table).
    #[must_use]
    pub fn inverse(self) -> &'static [u8; 256] {
        match self {
            Collation::Binary => &SAME,
            Collation::Ebcdic => &OF_HOST,
        }
    }

    /// Turns bytes of data into bytes that compare in this order.
    pub fn apply(self, bytes: &mut [u8]) {
        if self != Collation::Binary {
            bytes.iter_mut().for_each(|byte| *byte = HOST[usize::from(*byte)]);
        }
    }

    /// Turns bytes that compare in this order back into data.
    pub fn revert(self, bytes: &mut [u8]) {
        if self != Collation::Binary {
            bytes.iter_mut().for_each(|byte| *byte = OF_HOST[usize::from(*byte)]);
        }
    }

    /// Compares data in this order.
    #[must_use]
    pub fn compare(self, left: &[u8], right: &[u8]) -> Ordering {
        match self {
            Collation::Binary => left.cmp(right),
            Collation::Ebcdic => {
                let host = |byte: &u8| HOST[usize::from(*byte)];
                left.iter().map(host).cmp(right.iter().map(host))
            }
        }
    }

    /// Compares data with bytes that were transformed already.
    pub(crate) fn compare_to_applied(self, data: &[u8], applied: &[u8]) -> Ordering {
        match self {
            Collation::Binary => data.cmp(applied),
            Collation::Ebcdic => {
                data.iter().map(|byte| HOST[usize::from(*byte)]).cmp(applied.iter().copied())
            }
        }
    }

    /// The name as people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Collation::Binary => "binary",
            Collation::Ebcdic => "ebcdic",
        }
    }
}

#[cfg(test)]
mod tests {
    use codec::CodePage;
    use proptest::prelude::*;

    use super::*;

    const BOTH: [Collation; 2] = [Collation::Binary, Collation::Ebcdic];

    #[test]
    fn tables_are_bijections_of_all_bytes() {
        for collation in BOTH {
            let mut seen = [false; 256];
            for byte in 0..=255_u8 {
                let value = collation.table()[usize::from(byte)];
                assert_eq!(collation.inverse()[usize::from(value)], byte, "{collation:?}");
                assert!(!std::mem::replace(&mut seen[usize::from(value)], true));
            }
        }
    }

    #[test]
    fn the_hosts_order_is_that_of_the_code_page() {
        for byte in 0..=255_u8 {
            let host = CodePage::Cp037.byte(CodePage::Latin1.character(byte));
            assert_eq!(Some(HOST[usize::from(byte)]), host, "{byte:#x}");
        }
    }

    #[test]
    fn small_letters_come_first_and_digits_last() {
        let mut words: [&[u8]; 5] = [b"9", b"B", b"A1", b"AB", b"a"];
        words.sort_by(|one, other| Collation::Ebcdic.compare(one, other));
        assert_eq!(words, [&b"a"[..], b"AB", b"A1", b"B", b"9"]);
        words.sort_by(|one, other| Collation::Binary.compare(one, other));
        assert_eq!(words, [&b"9"[..], b"A1", b"AB", b"B", b"a"]);
    }

    #[test]
    fn only_character_fields_have_the_hosts_order() {
        use FieldType::{Character, Fullword, Halfword, Hexadecimal, Packed};
        assert_eq!(Collation::Ebcdic.of_field(Character), Collation::Ebcdic);
        for kind in [Hexadecimal, Packed, Fullword, Halfword] {
            assert_eq!(Collation::Ebcdic.of_field(kind), Collation::Binary);
        }
    }

    proptest! {
        #[test]
        fn transformed_bytes_compare_as_data_does(
            left: Vec<u8>, right: Vec<u8>, ebcdic: bool,
        ) {
            let collation = BOTH[usize::from(ebcdic)];
            let (mut one, mut other) = (left.clone(), right.clone());
            collation.apply(&mut one);
            collation.apply(&mut other);
            prop_assert_eq!(one.cmp(&other), collation.compare(&left, &right));
            prop_assert_eq!(one.cmp(&other), collation.compare_to_applied(&left, &other));
            collation.revert(&mut one);
            prop_assert_eq!(one, left);
        }
    }
}
