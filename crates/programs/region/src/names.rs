//! Names as programs see them.
//!
//! Invariants:
//! 1. A name has 8 bytes, padded with blanks.

/// A name as a program sees it: 8 bytes, padded with blanks.
pub type Name = [u8; 8];

/// Eight blanks: no name.
pub const NO_NAME: Name = *b"        ";

/// A name from text, cut and padded to 8 bytes.
#[must_use]
pub fn name(text: &str) -> Name {
    let mut name = NO_NAME;
    for (place, byte) in name.iter_mut().zip(text.bytes()) {
        *place = byte;
    }
    name
}

/// A name as text without the blanks behind it.
#[must_use]
pub fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).trim_end_matches([' ', '\0']).to_owned()
}
