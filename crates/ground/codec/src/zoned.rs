//! Zoned decimal: one digit a byte, the sign in the last byte (DISPLAY, TYPE=Z).
//!
//! Invariants:
//!
//! 1. EBCDIC: zone F before the last byte; there A, C, E and F mean plus, B and D minus.
//! 2. ASCII: characters 0 to 9; the last byte is a digit, or `p` to `y` for minus (GnuCOBOL), or
//!    one of `{ABCDEFGHI` plus and `}JKLMNOPQR` minus (data translated from EBCDIC). All are read.
//! 3. What is written has the signs that the [`Sign`] asks for.

use crate::number::{DIGITS_MAX, NumberError, check_length, digits_of, push_digit};

const PLUS: &[u8; 10] = b"{ABCDEFGHI";
const MINUS: &[u8; 10] = b"}JKLMNOPQR";

/// The alphabet of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// X'F0' to X'F9'.
    Ebcdic,
    /// X'30' to X'39'.
    Ascii,
}

/// Which sign a written number carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A digit throughout; a negative number is an error.
    Unsigned,
    /// Zones C and D; in ASCII a plain digit for plus and `p` to `y` for minus.
    Zone,
    /// Zones C and D; in ASCII the letters that C and D become when text is translated.
    Overpunch,
}

/// The number in a field.
///
/// # Errors
/// If a byte is no digit, the last one carries no sign, or the length is impossible.
pub fn decode(alphabet: Alphabet, field: &[u8]) -> Result<i128, NumberError> {
    check_length(field.len(), DIGITS_MAX)?;
    let zone = match alphabet {
        Alphabet::Ebcdic => 0xf0,
        Alphabet::Ascii => 0x30,
    };
    let last = field.len() - 1;
    let mut value = 0;
    for (offset, &byte) in field[..last].iter().enumerate() {
        if byte & 0xf0 != zone || byte & 0x0f > 9 {
            return Err(NumberError::Digit { offset, byte });
        }
        value = push_digit(value, byte & 0x0f);
    }
    let byte = field[last];
    let signed = match alphabet {
        Alphabet::Ebcdic => ebcdic_sign(byte),
        Alphabet::Ascii => ascii_sign(byte),
    };
    let (digit, minus) = signed.ok_or(NumberError::Sign { offset: last, byte })?;
    let value = push_digit(value, digit);
    Ok(if minus { -value } else { value })
}

fn ebcdic_sign(byte: u8) -> Option<(u8, bool)> {
    let digit = byte & 0x0f;
    match byte >> 4 {
        _ if digit > 9 => None,
        0x0b | 0x0d => Some((digit, true)),
        0x0a | 0x0c | 0x0e | 0x0f => Some((digit, false)),
        _ => None,
    }
}

fn ascii_sign(byte: u8) -> Option<(u8, bool)> {
    let letter = |letters: &[u8; 10]| letters.iter().position(|letter| *letter == byte);
    match byte {
        b'0'..=b'9' => Some((byte - b'0', false)),
        b'p'..=b'y' => Some((byte - b'p', true)),
        _ => letter(PLUS)
            .map(|digit| (digit as u8, false))
            .or_else(|| letter(MINUS).map(|digit| (digit as u8, true))),
    }
}

/// Writes a number over a whole field, with leading zeros.
///
/// # Errors
/// If it does not fit, is negative without a sign, or the length is impossible; the field is then
/// as it was.
pub fn encode(
    alphabet: Alphabet,
    value: i128,
    sign: Sign,
    field: &mut [u8],
) -> Result<(), NumberError> {
    check_length(field.len(), DIGITS_MAX)?;
    let length = field.len();
    if value < 0 && sign == Sign::Unsigned {
        return Err(NumberError::Negative { value });
    }
    let (digits, fits) = digits_of(value, length);
    if !fits {
        return Err(NumberError::TooLarge { value, length });
    }
    let last = length - 1;
    for (byte, digit) in field[..last].iter_mut().zip(&digits) {
        *byte = digit + if alphabet == Alphabet::Ebcdic { 0xf0 } else { b'0' };
    }
    let digit = digits[last];
    let letter = usize::from(digit);
    field[last] = match (alphabet, sign, value < 0) {
        (Alphabet::Ebcdic, Sign::Unsigned, _) => 0xf0 | digit,
        (Alphabet::Ebcdic, _, false) => 0xc0 | digit,
        (Alphabet::Ebcdic, _, true) => 0xd0 | digit,
        (Alphabet::Ascii, Sign::Overpunch, false) => PLUS[letter],
        (Alphabet::Ascii, Sign::Overpunch, true) => MINUS[letter],
        (Alphabet::Ascii, _, true) => b'p' + digit,
        (Alphabet::Ascii, _, false) => b'0' + digit,
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_fields() {
        assert_eq!(decode(Alphabet::Ebcdic, b"\xf1\xf2\xc3"), Ok(123));
        assert_eq!(decode(Alphabet::Ebcdic, b"\xf1\xf2\xf3"), Ok(123));
        assert_eq!(decode(Alphabet::Ebcdic, b"\xf1\xf2\xd3"), Ok(-123));
        for (text, value) in
            [("120", 120), ("12p", -120), ("12{", 120), ("12}", -120), ("12I", 129), ("12R", -129)]
        {
            assert_eq!(decode(Alphabet::Ascii, text.as_bytes()), Ok(value), "{text}");
        }
    }

    #[test]
    fn wrong_fields_are_named() {
        let blank = decode(Alphabet::Ebcdic, b"\x40\xf1");
        assert_eq!(blank, Err(NumberError::Digit { offset: 0, byte: 0x40 }));
        assert_eq!(
            decode(Alphabet::Ascii, b"1 "),
            Err(NumberError::Sign { offset: 1, byte: b' ' })
        );
        assert_eq!(decode(Alphabet::Ascii, b""), Err(NumberError::NoBytes));
        let mut field = [0; 2];
        let wide = encode(Alphabet::Ascii, 100, Sign::Zone, &mut field);
        assert_eq!(wide, Err(NumberError::TooLarge { value: 100, length: 2 }));
        let minus = encode(Alphabet::Ascii, -1, Sign::Unsigned, &mut field);
        assert_eq!(minus, Err(NumberError::Negative { value: -1 }));
        assert_eq!(field, [0; 2]);
    }

    proptest! {
        #[test]
        fn numbers_come_back(value in -99_999_999_i128..=99_999_999, more in 0..30_usize) {
            for alphabet in [Alphabet::Ebcdic, Alphabet::Ascii] {
                for sign in [Sign::Zone, Sign::Overpunch] {
                    let mut field = vec![0; 8 + more];
                    encode(alphabet, value, sign, &mut field).unwrap();
                    prop_assert_eq!(decode(alphabet, &field), Ok(value));
                }
            }
        }

        #[test]
        fn bytes_that_decode_encode_to_the_same_number(field: Vec<u8>) {
            for alphabet in [Alphabet::Ebcdic, Alphabet::Ascii] {
                if let Ok(value) = decode(alphabet, &field) {
                    let mut again = vec![0; field.len()];
                    encode(alphabet, value, Sign::Zone, &mut again).unwrap();
                    prop_assert_eq!(decode(alphabet, &again), Ok(value));
                }
            }
        }
    }
}
