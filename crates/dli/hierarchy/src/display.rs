//! Keys and other bytes as people read them.

use placement::Encoding;

/// Bytes as text, where all of them are characters, and as hexadecimal digits.
///
/// ```
/// use holdfast_hierarchy::display::shown;
/// use placement::Encoding;
/// assert_eq!(shown(b"K1", Encoding::Ascii), "'K1' x'4b31'");
/// assert_eq!(shown(&[0, 12], Encoding::Ascii), "x'000c'");
/// assert_eq!(shown(&[0xC1], Encoding::Ebcdic), "'A' x'c1'");
/// ```
#[must_use]
pub fn shown(bytes: &[u8], encoding: Encoding) -> String {
    let mut text = String::with_capacity(3 * bytes.len() + 8);
    let page = encoding.page();
    let is_printable = |byte: &u8| matches!(page.character(*byte), ' '..='~');
    if !bytes.is_empty() && bytes.iter().all(is_printable) {
        text.push('\'');
        text.extend(bytes.iter().map(|byte| page.character(*byte)));
        text.push_str("' ");
    }
    text.push_str("x'");
    text.push_str(&base::hex::lower(bytes));
    text.push('\'');
    text
}
