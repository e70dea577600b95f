//! Bytes of EBCDIC fields as programs compiled on this machine have them, and back.
//!
//! | class of a byte | conversion |
//! |---|---|
//! | raw | none: packed, binary, floating point |
//! | text | by its character, EBCDIC to ISO 8859-1 |
//! | unsigned | the last digit of a zoned number without a sign: zones A, C, E and F are digits |
//! | signed | the digit with the sign: zones C and F become `0` to `9`, D becomes `p` to `y` |
//!
//! Invariants:
//! 1. Every byte has a counterpart; text is a bijection.
//! 2. X'FF' is X'FF' on both sides, as X'00' is X'00': HIGH-VALUES and LOW-VALUES stay what they
//!    are. The character that ISO 8859-1 has at X'FF' changes places with the control X'9F'.
//! 3. What a sign with zone C, D (signed) or F (unsigned) becomes, comes back as it was.
//! 4. The pages with the euro have it where the others have the currency sign, as ISO 8859-15 does.

use crate::page::CodePage;

/// What a byte of a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Not converted.
    Raw,
    /// A character.
    Text,
    /// The last digit of a zoned number without a sign.
    Unsigned,
    /// The digit of a zoned number that holds its sign.
    Signed,
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From EBCDIC to what programs have here.
    FromEbcdic,
    /// From what programs have here to EBCDIC.
    ToEbcdic,
}

const HIGH: u8 = 0xff;
const MINUS: u8 = b'p';

/// The tables of a code page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcoder {
    page: CodePage,
    /// By direction and class; raw has none.
    tables: [[[u8; 256]; 3]; 2],
}

impl Transcoder {
    /// The tables of an EBCDIC page; `None` for another one.
    #[must_use]
    pub fn new(page: CodePage) -> Option<Transcoder> {
        let mut from = *page.latin()?;
        if let Some(place) = from.iter().position(|byte| *byte == HIGH) {
            from.swap(place, usize::from(HIGH));
        }
        let mut to = [0; 256];
        for (place, byte) in from.iter().enumerate() {
            to[usize::from(*byte)] = place as u8;
        }
        let (mut unsigned, mut signed) = (from, from);
        let (mut unsigned_back, mut signed_back) = (to, to);
        for digit in 0..=9_u8 {
            for zone in [0xa0, 0xc0, 0xe0, 0xf0] {
                unsigned[usize::from(zone | digit)] = b'0' + digit;
                signed[usize::from(zone | digit)] = b'0' + digit;
            }
            for zone in [0xb0, 0xd0] {
                signed[usize::from(zone | digit)] = MINUS + digit;
            }
            unsigned_back[usize::from(b'0' + digit)] = 0xf0 | digit;
            signed_back[usize::from(b'0' + digit)] = 0xc0 | digit;
            signed_back[usize::from(MINUS + digit)] = 0xd0 | digit;
        }
        let tables = [[from, unsigned, signed], [to, unsigned_back, signed_back]];
        Some(Transcoder { page, tables })
    }

    /// The page.
    #[must_use]
    pub fn page(&self) -> CodePage {
        self.page
    }

    /// The counterpart of a byte.
    #[inline]
    #[must_use]
    pub fn byte(&self, direction: Direction, class: Class, byte: u8) -> u8 {
        let tables = &self.tables[usize::from(direction == Direction::ToEbcdic)];
        let table = match class {
            Class::Raw => return byte,
            Class::Text => &tables[0],
            Class::Unsigned => &tables[1],
            Class::Signed => &tables[2],
        };
        table[usize::from(byte)]
    }

    /// Converts bytes in their place, each by its class; what has no class is not converted.
    pub fn convert(&self, direction: Direction, classes: &[Class], bytes: &mut [u8]) {
        for (byte, class) in bytes.iter_mut().zip(classes) {
            *byte = self.byte(direction, *class, *byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zoned::{self, Alphabet, Sign};

    const PAGES: [&str; 6] = ["037", "1047", "273", "500", "1140", "1141"];

    fn of(name: &str) -> Transcoder {
        Transcoder::new(CodePage::named(name).expect(name)).expect(name)
    }

    #[test]
    fn text_is_a_bijection_that_keeps_the_lowest_and_the_highest_value() {
        for name in PAGES {
            let page = of(name);
            let there = |byte| page.byte(Direction::FromEbcdic, Class::Text, byte);
            let back = |byte| page.byte(Direction::ToEbcdic, Class::Text, byte);
            for byte in 0..=255 {
                assert_eq!(back(there(byte)), byte, "{name} X'{byte:02X}'");
            }
            assert_eq!((there(0), there(0xff), there(0x40), there(0xf0)), (0, 0xff, b' ', b'0'));
        }
        assert_eq!(of("1141").byte(Direction::FromEbcdic, Class::Text, 0x4a), 0xc4);
        assert!(Transcoder::new(CodePage::Latin1).is_none());
    }

    #[test]
    fn numbers_keep_their_value_and_come_back_with_the_signs_that_the_language_writes() {
        let page = of("037");
        for value in -999..=999_i128 {
            for sign in [Sign::Zone, Sign::Unsigned] {
                if value < 0 && sign == Sign::Unsigned {
                    continue;
                }
                let last = if sign == Sign::Zone { Class::Signed } else { Class::Unsigned };
                let classes = [Class::Text, Class::Text, last];
                let (mut host, mut known) = ([0; 3], [0; 3]);
                zoned::encode(Alphabet::Ebcdic, value, sign, &mut host).expect("it fits");
                zoned::encode(Alphabet::Ascii, value, sign, &mut known).expect("it fits");
                let mut bytes = host;
                page.convert(Direction::FromEbcdic, &classes, &mut bytes);
                assert_eq!(bytes, known, "{value}");
                page.convert(Direction::ToEbcdic, &classes, &mut bytes);
                assert_eq!(bytes, host, "{value}");
            }
        }
    }

    #[test]
    fn other_signs_keep_the_value() {
        let page = of("037");
        let there = |class, byte| page.byte(Direction::FromEbcdic, class, byte);
        assert_eq!(there(Class::Signed, 0xf3), b'3');
        assert_eq!(there(Class::Signed, 0xa3), b'3');
        assert_eq!(there(Class::Signed, 0xb3), b's');
        assert_eq!(there(Class::Unsigned, 0xc3), b'3');
        assert_eq!(there(Class::Signed, 0x40), b' ');
        assert_eq!(there(Class::Raw, 0x40), 0x40);
    }
}
