//! Keys as people write them: text, or `x'..'` with two hexadecimal digits for each byte.
//!
//! Invariants:
//! 1. Text becomes bytes in the code page of the database's character data; a character that the
//!    page lacks is named, never replaced.
//! 2. What begins with `x'` and ends with `'`, in either case, is hexadecimal and nothing else.

use codec::CodePage;

/// A key as written, not yet brought to the length of the root key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Literal {
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
    /// Whether it was hexadecimal.
    pub(crate) hexadecimal: bool,
}

impl Literal {
    /// Reads a key; the error says what is wrong with it.
    pub(crate) fn read(text: &str, page: CodePage) -> Result<Literal, String> {
        let quoted = text.strip_prefix("x'").or_else(|| text.strip_prefix("X'"));
        match quoted.and_then(|rest| rest.strip_suffix('\'')) {
            Some(digits) => Ok(Literal { bytes: hexadecimal(digits)?, hexadecimal: true }),
            None => {
                let bytes = page.encode(text).map_err(|error| error.to_string())?;
                Ok(Literal { bytes, hexadecimal: false })
            }
        }
    }
}

fn hexadecimal(digits: &str) -> Result<Vec<u8>, String> {
    if !digits.len().is_multiple_of(2) {
        return Err(format!("it has {} hexadecimal digits, two for each byte", digits.len()));
    }
    base::hex::read(digits)
        .ok_or_else(|| format!("\"{digits}\" has other characters than 0 to 9 and A to F"))
}

/// Bytes as `x'..'`.
pub(crate) fn shown(bytes: &[u8]) -> String {
    format!("x'{}'", base::hex::upper(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, page: CodePage) -> Result<Vec<u8>, String> {
        Literal::read(text, page).map(|literal| literal.bytes)
    }

    #[test]
    fn text_takes_the_code_page_and_hexadecimal_does_not() {
        for (text, page, bytes) in [
            ("A1", CodePage::Ascii, &b"A1"[..]),
            ("A1", CodePage::Cp037, b"\xc1\xf1"),
            ("x'00fF'", CodePage::Cp037, b"\x00\xff"),
            ("X'C1'", CodePage::Ascii, b"\xc1"),
            ("x''", CodePage::Ascii, b""),
            ("", CodePage::Ascii, b""),
            ("x'", CodePage::Ascii, b"x'"),
        ] {
            assert_eq!(read(text, page).as_deref(), Ok(bytes), "{text}");
        }
        assert_eq!(shown(b"\x00\xff"), "x'00FF'");
    }

    #[test]
    fn what_is_no_key_is_named() {
        let ascii = CodePage::Ascii;
        assert!(read("x'123'", ascii).unwrap_err().contains("3 hexadecimal digits"));
        assert!(read("x'1G'", ascii).unwrap_err().contains("1G"));
        assert!(read("x'\u{e9}'", ascii).unwrap_err().contains("other characters"));
        assert!(read("caf\u{e9}", ascii).unwrap_err().contains("character 4"));
    }
}
