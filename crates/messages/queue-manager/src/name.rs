//! Names of objects: up to 48 characters, padded with blanks.
//!
//! 1. A name compares without its trailing blanks, because it always has all of them.
//! 2. A name that passed [`ObjectName::new`] has only letters, digits and `. / _ %`.

use std::fmt;

/// Characters of the longest name.
pub const NAME_BYTES: usize = 48;

/// The name of an object, padded with blanks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName(pub [u8; NAME_BYTES]);

impl ObjectName {
    /// No name.
    pub const BLANK: ObjectName = ObjectName([b' '; NAME_BYTES]);

    /// A name, if it has 1 to 48 characters that a name may have.
    #[must_use]
    pub fn new(name: &str) -> Option<ObjectName> {
        let fits = (1..=NAME_BYTES).contains(&name.len());
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"./_%".contains(&byte);
        (fits && name.bytes().all(allowed)).then(|| ObjectName::from_bytes(name.as_bytes()))
    }

    /// A name as a structure holds it: it ends at a zero byte or with blanks. Too long: cut.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> ObjectName {
        let mut name = ObjectName::BLANK;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        let len = end.min(NAME_BYTES);
        name.0[..len].copy_from_slice(&bytes[..len]);
        name
    }

    /// The characters without the blanks behind them.
    #[must_use]
    pub fn trimmed(&self) -> &[u8] {
        let end = self.0.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
        &self.0[..end]
    }

    /// Whether it has no character.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.trimmed().is_empty()
    }

    /// The characters as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.trimmed()).into_owned()
    }

    /// Whether a generic name stands for it: `*` at the end stands for any characters.
    #[must_use]
    pub fn matches(&self, pattern: &str) -> bool {
        matches_generic(&self.text(), pattern)
    }
}

/// Whether a generic name, with `*` at the end for any characters, stands for `name`.
#[must_use]
pub fn matches_generic(name: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    }
}

impl Default for ObjectName {
    fn default() -> ObjectName {
        ObjectName::BLANK
    }
}

impl From<&str> for ObjectName {
    fn from(name: &str) -> ObjectName {
        ObjectName::from_bytes(name.as_bytes())
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text())
    }
}

/// A field of `N` characters, padded with blanks or cut.
#[must_use]
pub fn padded<const N: usize>(text: &str) -> [u8; N] {
    let mut field = [b' '; N];
    let len = text.len().min(N);
    field[..len].copy_from_slice(&text.as_bytes()[..len]);
    field
}

/// The text of a field without zero bytes and blanks at its end.
#[must_use]
pub fn unpadded(field: &[u8]) -> String {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).trim_end_matches(' ').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_at_blanks_or_a_zero_byte() {
        let name = ObjectName::from("APP.ORDERS");
        assert_eq!(name, ObjectName::from_bytes(b"APP.ORDERS\0rest"));
        assert_eq!(name.to_string(), "APP.ORDERS");
        assert!(ObjectName::new("APP ORDERS").is_none());
        assert!(ObjectName::new(&"A".repeat(49)).is_none());
        assert!(name.matches("APP.*") && name.matches("APP.ORDERS") && !name.matches("APP"));
        assert!(ObjectName::BLANK.is_blank());
    }
}
