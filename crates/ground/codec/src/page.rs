//! Code pages: single bytes to Unicode characters and back.
//!
//! Invariants:
//!
//! 1. Every byte of every page but ASCII is a character, so decoding cannot fail.
//! 2. `encode(decode(bytes)) == bytes` for every page but ASCII; for ASCII, for bytes below 0x80.
//! 3. A character that a page lacks is an error with its position, never a substitute.

use thiserror::Error;

use crate::tables::{CP037, CP273, CP500, CP1047};

/// Where code pages 1140 and 1141 have the euro; 037 and 273 have the currency sign there.
const EURO_BYTE: u8 = 0x9f;
const EURO: char = '\u{20ac}';
const CURRENCY: char = '\u{a4}';

const FROM_037: [u8; 256] = inverse(&CP037);
const FROM_1047: [u8; 256] = inverse(&CP1047);
const FROM_273: [u8; 256] = inverse(&CP273);
const FROM_500: [u8; 256] = inverse(&CP500);

const fn inverse(page: &[u8; 256]) -> [u8; 256] {
    let mut out = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        out[page[byte] as usize] = byte as u8;
        byte += 1;
    }
    out
}

/// A single-byte code page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CodePage {
    /// EBCDIC 037: USA, Canada, Netherlands, Portugal.
    Cp037,
    /// EBCDIC 1047: Latin-1 open systems.
    Cp1047,
    /// EBCDIC 273: Germany and Austria.
    Cp273,
    /// EBCDIC 500: international.
    Cp500,
    /// EBCDIC 1140: 037 with the euro.
    Cp1140,
    /// EBCDIC 1141: 273 with the euro.
    Cp1141,
    /// ASCII; bytes from 0x80 decode to U+FFFD.
    Ascii,
    /// ISO 8859-1.
    Latin1,
}

/// A character that the page lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("character {position} of the text, U+{:04X}, is not in {page}", u32::from(*.character))]
pub struct Unmappable {
    /// Which character of the text, from 1.
    pub position: usize,
    /// The character.
    pub character: char,
    /// The page.
    pub page: CodePage,
}

impl CodePage {
    /// Whether letters, digits and blanks stand where EBCDIC has them. EBCDIC text is no valid
    /// UTF-8: its letters and digits are lead bytes there, one behind the other.
    #[must_use]
    pub fn looks_like_ebcdic(bytes: &[u8]) -> bool {
        if std::str::from_utf8(bytes).is_ok() {
            return false;
        }
        let count = |is: fn(u8) -> bool| bytes.iter().filter(|byte| is(**byte)).count();
        let ebcdic =
            |b: u8| matches!(b, 0x40 | 0xc1..=0xc9 | 0xd1..=0xd9 | 0xe2..=0xe9 | 0xf0..=0xf9);
        let ascii = |b: u8| b == b' ' || b.is_ascii_alphanumeric() || b == b'\n';
        count(ebcdic) > count(ascii)
    }

    /// Every page.
    pub const ALL: [Self; 8] = [
        Self::Cp037,
        Self::Cp1047,
        Self::Cp273,
        Self::Cp500,
        Self::Cp1140,
        Self::Cp1141,
        Self::Ascii,
        Self::Latin1,
    ];

    /// The page of a name such as `037`, `cp1140`, `IBM-1047`, `ascii` or `ISO-8859-1`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let bare = name.to_ascii_lowercase().replace(['-', '_', ' '], "");
        let number = ["ibm", "cp", "ccsid"].iter().find_map(|p| bare.strip_prefix(p));
        match number.unwrap_or(&bare).trim_start_matches('0') {
            "37" => Some(Self::Cp037),
            "1047" => Some(Self::Cp1047),
            "273" => Some(Self::Cp273),
            "500" => Some(Self::Cp500),
            "1140" => Some(Self::Cp1140),
            "1141" => Some(Self::Cp1141),
            "ascii" | "usascii" | "367" => Some(Self::Ascii),
            "latin1" | "iso88591" | "819" => Some(Self::Latin1),
            _ => None,
        }
    }

    /// Whether letters and digits stand where EBCDIC has them.
    #[must_use]
    pub fn is_ebcdic(self) -> bool {
        !matches!(self, Self::Ascii | Self::Latin1)
    }

    /// The blank, X'40' or X'20'.
    #[must_use]
    pub fn blank(self) -> u8 {
        if self.is_ebcdic() { 0x40 } else { 0x20 }
    }

    fn tables(self) -> Option<(&'static [u8; 256], &'static [u8; 256])> {
        match self {
            Self::Cp037 | Self::Cp1140 => Some((&CP037, &FROM_037)),
            Self::Cp1047 => Some((&CP1047, &FROM_1047)),
            Self::Cp273 | Self::Cp1141 => Some((&CP273, &FROM_273)),
            Self::Cp500 => Some((&CP500, &FROM_500)),
            Self::Ascii | Self::Latin1 => None,
        }
    }

    /// What stands at each byte of an EBCDIC page, as a character of ISO 8859-1; the euro counts
    /// as the currency sign.
    pub(crate) fn latin(self) -> Option<&'static [u8; 256]> {
        self.tables().map(|(page, _)| page)
    }

    /// The character of a byte.
    #[must_use]
    pub fn character(self, byte: u8) -> char {
        match (self, self.tables()) {
            (Self::Cp1140 | Self::Cp1141, _) if byte == EURO_BYTE => EURO,
            (Self::Ascii, _) if byte >= 0x80 => char::REPLACEMENT_CHARACTER,
            (_, Some((page, _))) => char::from(page[usize::from(byte)]),
            (_, None) => char::from(byte),
        }
    }

    /// The byte of a character, if the page has it.
    #[must_use]
    pub fn byte(self, character: char) -> Option<u8> {
        if matches!(self, Self::Cp1140 | Self::Cp1141) {
            match character {
                EURO => return Some(EURO_BYTE),
                CURRENCY => return None,
                _ => {}
            }
        }
        let latin = u8::try_from(u32::from(character)).ok()?;
        match self.tables() {
            Some((_, inverse)) => Some(inverse[usize::from(latin)]),
            None if self == Self::Ascii && latin >= 0x80 => None,
            None => Some(latin),
        }
    }

    /// The text of bytes.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> String {
        bytes.iter().map(|byte| self.character(*byte)).collect()
    }

    /// The bytes of a text.
    ///
    /// # Errors
    /// If the page lacks one of its characters.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, Unmappable> {
        let bytes = text.chars().enumerate().map(|(index, character)| {
            self.byte(character).ok_or(Unmappable { position: index + 1, character, page: self })
        });
        bytes.collect()
    }
}

impl std::fmt::Display for CodePage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Cp037 => "EBCDIC 037",
            Self::Cp1047 => "EBCDIC 1047",
            Self::Cp273 => "EBCDIC 273",
            Self::Cp500 => "EBCDIC 500",
            Self::Cp1140 => "EBCDIC 1140",
            Self::Cp1141 => "EBCDIC 1141",
            Self::Ascii => "ASCII",
            Self::Latin1 => "ISO 8859-1",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives_decoding_and_encoding() {
        let all: Vec<u8> = (0..=255).collect();
        for page in CodePage::ALL {
            let bytes = if page == CodePage::Ascii { &all[..128] } else { &all[..] };
            assert_eq!(page.encode(&page.decode(bytes)).as_deref(), Ok(bytes), "{page}");
        }
    }

    #[test]
    fn letters_and_digits_stand_where_they_stand_on_every_ebcdic_page() {
        for page in CodePage::ALL.into_iter().filter(|page| page.is_ebcdic()) {
            let text = page.encode("AIJRSZ aijrsz 09").unwrap();
            let known = b"\xc1\xc9\xd1\xd9\xe2\xe9\x40\x81\x89\x91\x99\xa2\xa9\x40\xf0\xf9";
            assert_eq!(text, known, "{page}");
            assert_eq!(page.byte(' '), Some(page.blank()));
        }
    }

    #[test]
    fn pages_differ_where_they_are_known_to() {
        let byte = |page: CodePage, c| page.byte(c).unwrap();
        assert_eq!(byte(CodePage::Cp037, '['), 0xba);
        assert_eq!(byte(CodePage::Cp1047, '['), 0xad);
        assert_eq!(byte(CodePage::Cp500, '['), 0x4a);
        assert_eq!(byte(CodePage::Cp273, 'Ä'), 0x4a);
        assert_eq!(byte(CodePage::Cp273, 'ß'), 0xa1);
        assert_eq!(byte(CodePage::Cp037, '^'), 0xb0);
        assert_eq!(byte(CodePage::Cp1047, '^'), 0x5f);
        assert_eq!(byte(CodePage::Cp037, '$'), 0x5b);
        assert_eq!(byte(CodePage::Cp037, '#'), 0x7b);
        assert_eq!(byte(CodePage::Cp037, '@'), 0x7c);
    }

    #[test]
    fn the_euro_is_on_1140_and_1141_alone() {
        assert_eq!(CodePage::Cp1141.byte('€'), Some(0x9f));
        assert_eq!(CodePage::Cp1141.byte('¤'), None);
        assert_eq!(CodePage::Cp273.byte('¤'), Some(0x9f));
        assert_eq!(CodePage::Cp1141.byte('ß'), Some(0xa1));
        assert_eq!(CodePage::Cp1140.byte('€'), Some(0x9f));
        assert_eq!(CodePage::Cp1140.byte('¤'), None);
        assert_eq!(CodePage::Cp037.byte('€'), None);
        assert_eq!(CodePage::Cp037.byte('¤'), Some(0x9f));
    }

    #[test]
    fn what_a_page_lacks_is_named_with_its_position() {
        let error = CodePage::Cp037.encode("A€").unwrap_err();
        assert_eq!(error.to_string(), "character 2 of the text, U+20AC, is not in EBCDIC 037");
        assert!(CodePage::Ascii.encode("é").is_err());
        assert_eq!(CodePage::Latin1.encode("é"), Ok(vec![0xe9]));
        assert_eq!(CodePage::Ascii.decode(b"A\xe9"), "A\u{fffd}");
    }

    #[test]
    fn pages_have_many_names() {
        for (name, page) in [
            ("037", CodePage::Cp037),
            ("CP37", CodePage::Cp037),
            ("IBM-1047", CodePage::Cp1047),
            ("cp_273", CodePage::Cp273),
            ("ccsid 500", CodePage::Cp500),
            ("1140", CodePage::Cp1140),
            ("IBM-1141", CodePage::Cp1141),
            ("US-ASCII", CodePage::Ascii),
            ("ISO-8859-1", CodePage::Latin1),
        ] {
            assert_eq!(CodePage::named(name), Some(page), "{name}");
        }
        assert_eq!(CodePage::named("utf-8"), None);
    }
}
