//! What can be wrong with a number in a field; shared by all formats.
//!
//! Owns [`NumberError`] and the digit arithmetic that packed and zoned fields have in common.
//! Invariant: [`push_digit`] and [`digits_of`] work on at most [`DIGITS_MAX`] digits, which an
//! `i128` holds, so nothing overflows unseen.

use thiserror::Error;

/// The longest packed or zoned field in digits; COBOL's extended arithmetic ends there.
pub(crate) const DIGITS_MAX: usize = 38;

/// Why bytes are no number, or a number does not become bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NumberError {
    /// A field of no bytes at all.
    #[error("the field has no bytes, so it holds no number")]
    NoBytes,
    /// More bytes than any number of this format has.
    #[error("the field has {length} bytes; a number of this format has at most {most}")]
    TooLong {
        /// The bytes of the field.
        length: usize,
        /// The bytes allowed.
        most: usize,
    },
    /// A half byte or byte that should be a digit.
    #[error("byte {offset} of the field is X'{byte:02X}', which holds no digit where one belongs")]
    Digit {
        /// Where, from 0.
        offset: usize,
        /// What stands there.
        byte: u8,
    },
    /// A half byte or byte that should hold the sign.
    #[error("byte {offset} of the field is X'{byte:02X}', which holds no sign where one belongs")]
    Sign {
        /// Where, from 0.
        offset: usize,
        /// What stands there.
        byte: u8,
    },
    /// The number needs a longer field.
    #[error("{value} does not fit into a field of {length} bytes")]
    TooLarge {
        /// The number.
        value: i128,
        /// The bytes of the field.
        length: usize,
    },
    /// A negative number for a field without sign.
    #[error("{value} is negative and the field has no sign")]
    Negative {
        /// The number.
        value: i128,
    },
}

/// Refuses fields of no bytes, or of more than `most`.
pub(crate) fn check_length(length: usize, most: usize) -> Result<(), NumberError> {
    match length {
        0 => Err(NumberError::NoBytes),
        _ if length > most => Err(NumberError::TooLong { length, most }),
        _ => Ok(()),
    }
}

/// `value` with one more digit at its end. Safe for [`DIGITS_MAX`] digits.
pub(crate) fn push_digit(value: i128, digit: u8) -> i128 {
    value * 10 + i128::from(digit)
}

/// The last `count` digits of `value`, first digit first, and whether these are all of them.
pub(crate) fn digits_of(value: i128, count: usize) -> (Vec<u8>, bool) {
    let mut rest = value.unsigned_abs();
    let mut digits = vec![0; count];
    for digit in digits.iter_mut().rev() {
        *digit = (rest % 10) as u8;
        rest /= 10;
    }
    (digits, rest == 0)
}
