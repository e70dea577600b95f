//! Big-endian binary integers of 1 to 16 bytes (COMP, TYPE=X, H and F).
//!
//! Invariant: all bit patterns are numbers, so only an impossible length fails to decode.

use crate::number::{NumberError, check_length};

/// The longest binary field.
pub const BYTES_MAX: usize = 16;

/// The number in a field in two's complement.
///
/// # Errors
/// If the field has no bytes or more than 16.
pub fn decode_signed(field: &[u8]) -> Result<i128, NumberError> {
    check_length(field.len(), BYTES_MAX)?;
    let fill = if field[0] & 0x80 == 0 { 0 } else { -1 };
    Ok(field.iter().fold(fill, |value, byte| value << 8 | i128::from(*byte)))
}

/// The number in a field without sign.
///
/// # Errors
/// If the field has no bytes or more than 16.
pub fn decode_unsigned(field: &[u8]) -> Result<u128, NumberError> {
    check_length(field.len(), BYTES_MAX)?;
    Ok(field.iter().fold(0, |value, byte| value << 8 | u128::from(*byte)))
}

/// Writes a number over a whole field in two's complement.
///
/// # Errors
/// If it does not fit or the length is impossible; the field is then as it was.
pub fn encode_signed(value: i128, field: &mut [u8]) -> Result<(), NumberError> {
    check_length(field.len(), BYTES_MAX)?;
    let length = field.len();
    let bytes = value.to_be_bytes();
    let (cut, kept) = bytes.split_at(BYTES_MAX - length);
    let fill = if value < 0 { 0xff } else { 0 };
    let sign_kept = (kept[0] & 0x80 != 0) == (value < 0);
    if cut.iter().any(|byte| *byte != fill) || !sign_kept {
        return Err(NumberError::TooLarge { value, length });
    }
    field.copy_from_slice(kept);
    Ok(())
}

/// Writes a number over a whole field without sign.
///
/// # Errors
/// If it does not fit, is negative, or the length is impossible; the field is then as it was.
pub fn encode_unsigned(value: i128, field: &mut [u8]) -> Result<(), NumberError> {
    check_length(field.len(), BYTES_MAX)?;
    let length = field.len();
    if value < 0 {
        return Err(NumberError::Negative { value });
    }
    let bytes = value.to_be_bytes();
    let (cut, kept) = bytes.split_at(BYTES_MAX - length);
    if cut.iter().any(|byte| *byte != 0) {
        return Err(NumberError::TooLarge { value, length });
    }
    field.copy_from_slice(kept);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_fields() {
        assert_eq!(decode_signed(b"\xff\xfe"), Ok(-2));
        assert_eq!(decode_unsigned(b"\xff\xfe"), Ok(65534));
        assert_eq!(decode_signed(&[0xff; 16]), Ok(-1));
        let mut field = [0; 2];
        encode_signed(-32768, &mut field).unwrap();
        assert_eq!(field, [0x80, 0]);
        encode_unsigned(65535, &mut field).unwrap();
        assert_eq!(field, [0xff, 0xff]);
    }

    #[test]
    fn what_does_not_fit_leaves_the_field_alone() {
        let mut field = [7; 2];
        let large = |value| Err(NumberError::TooLarge { value, length: 2 });
        assert_eq!(encode_signed(32768, &mut field), large(32768));
        assert_eq!(encode_signed(-32769, &mut field), large(-32769));
        assert_eq!(encode_unsigned(65536, &mut field), large(65536));
        assert_eq!(encode_unsigned(-1, &mut field), Err(NumberError::Negative { value: -1 }));
        assert_eq!(field, [7; 2]);
        assert_eq!(decode_signed(&[]), Err(NumberError::NoBytes));
        assert_eq!(decode_signed(&[0; 17]), Err(NumberError::TooLong { length: 17, most: 16 }));
    }

    proptest! {
        #[test]
        fn bytes_come_back(field in proptest::collection::vec(any::<u8>(), 1..=15)) {
            let mut again = vec![0; field.len()];
            encode_signed(decode_signed(&field).unwrap(), &mut again).unwrap();
            prop_assert_eq!(&again, &field);
            encode_unsigned(decode_unsigned(&field).unwrap() as i128, &mut again).unwrap();
            prop_assert_eq!(&again, &field);
        }
    }
}
