//! The characters of an SSA: programs write it in ASCII or in EBCDIC, the parser reads it in ASCII.
//!
//! Invariants:
//! 1. Only syntax goes through [`Alphabet::syntax`]: codes, operators, booleans, parentheses. Names
//!    are compared in the program's own alphabet, values are bytes and are never translated.
//! 2. The not sign in front of `=` has several places; all of them read as `^`. In ASCII they are
//!    `^`, X'5F', X'B0' and Latin-1's X'AC'; in EBCDIC X'5F', X'B0' and X'BA'.

use codec::CodePage;

/// What a program's text is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// ASCII, as programs compiled on this machine write it.
    Ascii,
    /// EBCDIC; names and syntax stand at the same places in all its code pages.
    Ebcdic,
}

impl Alphabet {
    /// From a byte of an SSA to the ASCII character that it is in the syntax.
    pub(super) fn syntax(self) -> &'static [u8; 256] {
        match self {
            Alphabet::Ascii => &ASCII,
            Alphabet::Ebcdic => &EBCDIC,
        }
    }

    fn page(self) -> CodePage {
        match self {
            Alphabet::Ascii => CodePage::Ascii,
            Alphabet::Ebcdic => CodePage::Cp037,
        }
    }

    /// A byte of this alphabet for a character of the syntax or of a name.
    pub(super) fn byte(self, character: char) -> u8 {
        let page = self.page();
        page.byte(character).unwrap_or(page.blank())
    }

    /// A name of eight bytes as programs write it, as a number that compares fast.
    pub(super) fn name(self, name: &[u8; 8]) -> u64 {
        u64::from_be_bytes(name.map(|byte| self.byte(char::from(byte))))
    }

    /// The text of a value; `None` if it has bytes that are no printable characters.
    pub(super) fn text(self, value: &[u8]) -> Option<String> {
        let characters = value.iter().map(|byte| self.page().character(*byte));
        let printable = |one: char| (one == ' ' || one.is_ascii_graphic()).then_some(one);
        characters.map(printable).collect()
    }
}

const ASCII: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte as u8;
        byte += 1;
    }
    table[0x5F] = b'^';
    table[0xB0] = b'^';
    table[0xAC] = b'^';
    table
};

/// The signs of the syntax where EBCDIC has them.
const SIGNS: &[(usize, u8)] = &[
    (0x40, b' '),
    (0x4C, b'<'),
    (0x4D, b'('),
    (0x4E, b'+'),
    (0x4F, b'|'),
    (0x50, b'&'),
    (0x5A, b'!'),
    (0x5C, b'*'),
    (0x5D, b')'),
    (0x5F, b'^'),
    (0x60, b'-'),
    (0x6E, b'>'),
    (0x7B, b'#'),
    (0x7E, b'='),
    (0xB0, b'^'),
    (0xBA, b'^'),
];

/// Where runs of letters and digits begin, their first character, and how many there are.
const RUNS: &[(usize, u8, usize)] =
    &[(0xC1, b'A', 9), (0xD1, b'J', 9), (0xE2, b'S', 8), (0xF0, b'0', 10)];

const EBCDIC: [u8; 256] = {
    let mut table = [0; 256];
    let mut sign = 0;
    while sign < SIGNS.len() {
        table[SIGNS[sign].0] = SIGNS[sign].1;
        sign += 1;
    }
    let mut run = 0;
    while run < RUNS.len() {
        let (place, first, len) = RUNS[run];
        let mut at = 0;
        while at < len {
            table[place + at] = first + at as u8;
            at += 1;
        }
        run += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_syntax_of_ebcdic_agrees_with_its_code_page() {
        let syntax = " <(+|&!*)->#=ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        for character in syntax.chars() {
            let byte = Alphabet::Ebcdic.byte(character);
            let read = Alphabet::Ebcdic.syntax()[usize::from(byte)];
            assert_eq!(char::from(read), character, "X'{byte:02X}'");
        }
    }

    #[test]
    fn names_are_written_in_the_alphabet() {
        assert_eq!(Alphabet::Ascii.name(b"AB#1    ").to_be_bytes(), *b"AB#1    ");
        let ebcdic = [0xC1, 0xC2, 0x7B, 0xF1, 0x40, 0x40, 0x40, 0x40];
        assert_eq!(Alphabet::Ebcdic.name(b"AB#1    ").to_be_bytes(), ebcdic);
    }

    #[test]
    fn a_value_is_shown_as_text_only_if_all_of_it_is() {
        assert_eq!(Alphabet::Ascii.text(b"A 1").as_deref(), Some("A 1"));
        assert_eq!(Alphabet::Ebcdic.text(&[0xC1, 0x40]).as_deref(), Some("A "));
        assert_eq!(Alphabet::Ascii.text(b"A\x00"), None);
    }
}
