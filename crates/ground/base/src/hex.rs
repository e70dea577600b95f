//! Hexadecimal digits: bytes as text, and back.
//!
//! 1. What is read is pairs of digits in either case and nothing else, signs and blanks included.

/// Bytes as digits in small letters.
#[must_use]
pub fn lower(bytes: &[u8]) -> String {
    written(bytes, b"0123456789abcdef")
}

/// Bytes as digits in capital letters.
#[must_use]
pub fn upper(bytes: &[u8]) -> String {
    written(bytes, b"0123456789ABCDEF")
}

fn written(bytes: &[u8], digits: &[u8; 16]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for half in [byte >> 4, byte & 15] {
            out.push(char::from(digits[usize::from(half)]));
        }
    }
    out
}

/// The bytes that digits stand for; `None` if they are not pairs of digits.
#[must_use]
pub fn read(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let pair = |pair: &[u8; 2]| Some(digit(pair[0])? << 4 | digit(pair[1])?);
    rest.is_empty().then(|| pairs.iter().map(pair).collect())?
}

/// The same for a number of bytes that is known.
#[must_use]
pub fn array<const N: usize>(digits: &str) -> Option<[u8; N]> {
    if digits.len() != 2 * N {
        return None;
    }
    read(digits)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_from_digits_in_either_case() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(read(&lower(&all)), Some(all.clone()));
        assert_eq!(read(&upper(&all)), Some(all));
        assert_eq!((lower(&[0, 0xAB]), upper(&[0, 0xAB])), ("00ab".into(), "00AB".into()));
        assert_eq!(array("00fF"), Some([0, 255]));
    }

    #[test]
    fn what_is_no_pair_of_digits_is_refused() {
        for text in ["0", "0g", "+1", " 1", "1 ", "0x", "\u{e9}", "000"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!((read(""), array::<2>("00"), array::<1>("zz")), (Some(vec![]), None, None));
    }
}
