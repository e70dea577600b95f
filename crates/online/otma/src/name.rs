//! Names of at most eight characters: transactions, clients, tpipes, terminals, users.

use std::fmt;

/// A name: eight bytes of ASCII, padded with blanks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub [u8; 8]);

impl Name {
    /// Eight blanks: no name.
    pub const BLANK: Name = Name(*b"        ");

    /// A name from text; `None` if it is longer than eight bytes or not of printable ASCII.
    #[must_use]
    pub fn new(text: &str) -> Option<Name> {
        let text = text.trim_end_matches(' ');
        let fits = text.len() <= 8 && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| {
            let mut name = Name::BLANK;
            name.0[..text.len()].copy_from_slice(text.as_bytes());
            name
        })
    }

    /// Whether there is no name.
    #[must_use]
    pub fn is_blank(self) -> bool {
        self.0.iter().all(|byte| matches!(byte, b' ' | 0))
    }

    /// The name without the blanks behind it; bytes that are no ASCII show as `?`.
    #[must_use]
    pub fn text(self) -> String {
        let text: String = self.0.iter().map(|byte| shown(*byte)).collect();
        text.trim_end().to_owned()
    }
}

fn shown(byte: u8) -> char {
    match byte {
        0 => ' ',
        b' '..=b'~' => char::from(byte),
        _ => '?',
    }
}

impl Default for Name {
    fn default() -> Name {
        Name::BLANK
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_padded_and_shown_without_its_padding() {
        assert_eq!(Name::new("PART").map(|name| name.0), Some(*b"PART    "));
        assert_eq!(Name::new("PART  ").map(Name::text).as_deref(), Some("PART"));
        assert_eq!(Name::new("NINECHARS"), None);
        assert_eq!(Name::new("A B"), None);
        assert!(Name::new("").is_some_and(Name::is_blank));
        assert_eq!(Name(*b"A\xffB\0\0\0\0\0").text(), "A?B");
    }
}
