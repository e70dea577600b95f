//! Names of segment types, and the code page that a file has them in.
//!
//! Invariants:
//!
//! 1. A [`Name`] has 1 to 8 characters: a letter, `$`, `#` or `@`, then letters, digits and those.
//! 2. A name's first byte tells EBCDIC from ASCII, for no byte begins a name in both.

use std::fmt;

use codec::CodePage;

/// How long a name is in a file.
pub(crate) const NAME_BYTES: usize = 8;

/// The name of a segment type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    bytes: [u8; NAME_BYTES],
    len: u8,
}

impl Name {
    /// The name, if it is one.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let is_letter = |byte: u8| byte.is_ascii_uppercase() || b"$#@".contains(&byte);
        let (first, rest) = text.as_bytes().split_first()?;
        let is_name = is_letter(*first) && rest.iter().all(|b| is_letter(*b) || b.is_ascii_digit());
        if !is_name || text.len() > NAME_BYTES {
            return None;
        }
        let mut bytes = [b' '; NAME_BYTES];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Some(Name { bytes, len: text.len() as u8 })
    }

    /// The name without padding.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }

    /// As a file has it, padded with blanks.
    pub(crate) fn encoded(&self, encoding: Encoding) -> [u8; NAME_BYTES] {
        let page = encoding.page();
        self.bytes.map(|byte| page.byte(char::from(byte)).unwrap_or(page.blank()))
    }

    /// From a file; padding is blanks, or zeros.
    pub(crate) fn decoded(bytes: &[u8], encoding: Encoding) -> Option<Self> {
        let page = encoding.page();
        let text = page.decode(bytes);
        Name::new(text.trim_end_matches([' ', '\0']))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The code page of the names in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As hosts write them.
    Ebcdic,
    /// As a tool elsewhere may have written them.
    Ascii,
}

impl Encoding {
    /// The encoding of a name that begins with that byte.
    pub(crate) fn of(first: u8) -> Option<Self> {
        let begins = |encoding: &Encoding| {
            let character = encoding.page().character(first);
            character.is_ascii_uppercase() || "$#@".contains(character)
        };
        [Encoding::Ebcdic, Encoding::Ascii].into_iter().find(begins)
    }

    fn page(self) -> CodePage {
        match self {
            Encoding::Ebcdic => CodePage::Cp037,
            Encoding::Ascii => CodePage::Ascii,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_names() {
        for good in ["A", "PAUTSUM0", "$A", "#1", "@"] {
            assert_eq!(Name::new(good).expect(good).as_str(), good);
        }
        for bad in ["", "1A", "a", "A B", "NINELONG1", "A\u{e4}"] {
            assert_eq!(Name::new(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_first_byte_tells_the_encoding() {
        for text in ["A1", "Z", "$X", "#X", "@X"] {
            let name = Name::new(text).expect("a name");
            for encoding in [Encoding::Ebcdic, Encoding::Ascii] {
                let bytes = name.encoded(encoding);
                assert_eq!(Encoding::of(bytes[0]), Some(encoding), "{text}");
                assert_eq!(Name::decoded(&bytes, encoding), Some(name));
            }
        }
        assert_eq!(Encoding::of(0), None);
        assert_eq!(Encoding::of(b' '), None);
    }
}
