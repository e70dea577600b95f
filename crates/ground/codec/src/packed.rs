//! Packed decimal: two digits a byte, the sign in the last half byte (COMP-3, TYPE=P).
//!
//! Invariants:
//!
//! 1. Every half byte but the last is a digit; A, C, E and F there mean plus, B and D minus.
//! 2. What is written has the preferred signs: C or D with a sign, F without one.

use crate::number::{NumberError, check_length, digits_of, push_digit};

/// The longest packed field: 37 digits and a sign.
pub const BYTES_MAX: usize = 19;

/// Which sign a written number carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// C or D.
    Signed,
    /// F; a negative number is an error.
    Unsigned,
}

/// The number in a field.
///
/// # Errors
/// If a half byte is no digit, the last one no sign, or the length impossible.
pub fn decode(field: &[u8]) -> Result<i128, NumberError> {
    check_length(field.len(), BYTES_MAX)?;
    let mut value = 0;
    let last = field.len() - 1;
    for (offset, &byte) in field.iter().enumerate() {
        let (high, low) = (byte >> 4, byte & 0x0f);
        if high > 9 || (offset < last && low > 9) {
            return Err(NumberError::Digit { offset, byte });
        }
        value = push_digit(value, high);
        if offset < last {
            value = push_digit(value, low);
        }
    }
    match field[last] & 0x0f {
        0x0b | 0x0d => Ok(-value),
        0x0a | 0x0c | 0x0e | 0x0f => Ok(value),
        _ => Err(NumberError::Sign { offset: last, byte: field[last] }),
    }
}

/// Writes a number over a whole field, with leading zeros.
///
/// # Errors
/// If it does not fit, is negative without a sign, or the length is impossible; the field is then
/// as it was.
pub fn encode(value: i128, sign: Sign, field: &mut [u8]) -> Result<(), NumberError> {
    check_length(field.len(), BYTES_MAX)?;
    let length = field.len();
    if value < 0 && sign == Sign::Unsigned {
        return Err(NumberError::Negative { value });
    }
    let (digits, fits) = digits_of(value, length * 2 - 1);
    if !fits {
        return Err(NumberError::TooLarge { value, length });
    }
    let mark = match (sign, value < 0) {
        (Sign::Unsigned, _) => 0x0f,
        (Sign::Signed, true) => 0x0d,
        (Sign::Signed, false) => 0x0c,
    };
    let mut halves = digits.into_iter().chain([mark]);
    for byte in field {
        let high = halves.next().unwrap_or_default();
        *byte = high << 4 | halves.next().unwrap_or_default();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_fields() {
        assert_eq!(decode(b"\x12\x34\x5c"), Ok(12345));
        assert_eq!(decode(b"\x00\x1d"), Ok(-1));
        assert_eq!(decode(b"\x7f"), Ok(7));
        assert_eq!(decode(b"\x0b"), Ok(0));
        let mut field = [0xee; 3];
        encode(-98, Sign::Signed, &mut field).unwrap();
        assert_eq!(field, *b"\x00\x09\x8d");
        encode(98, Sign::Unsigned, &mut field).unwrap();
        assert_eq!(field, *b"\x00\x09\x8f");
    }

    #[test]
    fn wrong_fields_are_named() {
        assert_eq!(decode(b""), Err(NumberError::NoBytes));
        assert_eq!(decode(b"\x40\x40"), Err(NumberError::Sign { offset: 1, byte: 0x40 }));
        assert_eq!(decode(b"\x1a\x0c"), Err(NumberError::Digit { offset: 0, byte: 0x1a }));
        assert_eq!(decode(&[0; 20]), Err(NumberError::TooLong { length: 20, most: 19 }));
        assert!(decode(b"\x1a\x0c").unwrap_err().to_string().contains("X'1A'"));
    }

    #[test]
    fn what_does_not_fit_leaves_the_field_alone() {
        let mut field = [0x11; 2];
        let wide = encode(1000, Sign::Signed, &mut field);
        assert_eq!(wide, Err(NumberError::TooLarge { value: 1000, length: 2 }));
        assert_eq!(
            encode(-1, Sign::Unsigned, &mut field),
            Err(NumberError::Negative { value: -1 })
        );
        assert_eq!(
            encode(i128::MIN, Sign::Signed, &mut [0; 19]),
            Err(NumberError::TooLarge { value: i128::MIN, length: 19 })
        );
        assert_eq!(field, [0x11; 2]);
    }

    proptest! {
        #[test]
        fn numbers_come_back(value in -9_999_999_999_999_i128..=9_999_999_999_999, more in 0..12) {
            let mut field = vec![0; 7 + more as usize];
            encode(value, Sign::Signed, &mut field).unwrap();
            prop_assert_eq!(decode(&field), Ok(value));
        }

        #[test]
        fn bytes_that_decode_encode_to_the_same_number(field: Vec<u8>) {
            if let Ok(value) = decode(&field) {
                let mut again = vec![0; field.len()];
                encode(value, Sign::Signed, &mut again).unwrap();
                prop_assert_eq!(decode(&again), Ok(value));
            }
        }
    }
}
