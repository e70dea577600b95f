//! Where a twin stands among twins that no unique key orders (H3).
//!
//! Owns the *position*: bytes that stand behind the key of such a twin. Positions compare as their
//! bytes do. A new twin gets one in front of all, behind all, or between two; an old one never
//! changes, for the keys of all its dependents contain it.
//!
//! | part | bytes | holds |
//! |---|---|---|
//! | head | 1 | X'80' + n for a number from 0 up, X'7F' - n for one below; n bytes of it follow |
//! | number | n | its magnitude, big endian, without leading zeros; inverted below zero |
//! | fraction | any | digits X'01' to X'FF', the last one never X'01' |
//! | end | 1 | X'00' |
//!
//! Invariants:
//! 1. No position is the beginning of another one, so what stands behind one is told from it.
//! 2. Between two positions there is always a third.

use std::cmp::Ordering;

/// Bytes of a number at most: what 64 bits need.
const NUMBER_BYTES_MAX: usize = 8;

/// How many bytes the position at the beginning of `bytes` has; `None` if there is none.
#[must_use]
pub fn len(bytes: &[u8]) -> Option<usize> {
    let number = number_len(*bytes.first()?);
    let fraction = bytes.get(1 + number..)?;
    let digits = fraction.iter().position(|digit| *digit == 0)?;
    Some(1 + number + digits + 1)
}

/// Appends the position of the first twin there is.
pub fn only(to: &mut Vec<u8>) {
    encode(0, &[], to);
}

/// Appends a position behind `last`.
pub fn behind(last: &[u8], to: &mut Vec<u8>) {
    encode(decode(last).0.saturating_add(1), &[], to);
}

/// Appends a position in front of `first`.
pub fn in_front(first: &[u8], to: &mut Vec<u8>) {
    encode(decode(first).0.saturating_sub(1), &[], to);
}

/// Appends a position between two others, of which `low` is the lower one.
pub fn between(low: &[u8], high: &[u8], to: &mut Vec<u8>) {
    let ((low, low_digits), (high, high_digits)) = (decode(low), decode(high));
    if let Some(middle) = low.checked_add(1).filter(|middle| *middle < high) {
        return encode(middle, &[], to);
    }
    let mut digits = Vec::with_capacity(low_digits.len() + 2);
    let limit = (low == high).then_some(high_digits);
    fraction_between(low_digits, limit, &mut digits);
    encode(low, &digits, to);
}

fn number_len(head: u8) -> usize {
    usize::from(if head >= 0x80 { head - 0x80 } else { 0x7F - head })
}

/// The number and the digits of a position. Bytes that are none count as the number zero: they
/// are never stored, and whatever is computed from them is a sound position.
fn decode(bytes: &[u8]) -> (i64, &[u8]) {
    let Some(total) = len(bytes) else { return (0, &[]) };
    let number = number_len(bytes[0]).min(NUMBER_BYTES_MAX);
    let below = bytes[0] < 0x80;
    let magnitude = bytes[1..=number]
        .iter()
        .fold(0_u64, |value, byte| value << 8 | u64::from(if below { !*byte } else { *byte }));
    let magnitude = i64::try_from(magnitude).unwrap_or(i64::MAX);
    (if below { -magnitude } else { magnitude }, &bytes[1 + number..total - 1])
}

fn encode(number: i64, digits: &[u8], to: &mut Vec<u8>) {
    let magnitude = number.unsigned_abs().to_be_bytes();
    let zeros = magnitude.iter().take_while(|byte| **byte == 0).count();
    let magnitude = &magnitude[zeros..];
    // At most eight bytes.
    let len = magnitude.len() as u8;
    match number.cmp(&0) {
        Ordering::Less => {
            to.push(0x7F - len);
            to.extend(magnitude.iter().map(|byte| !byte));
        }
        _ => {
            to.push(0x80 + len);
            to.extend_from_slice(magnitude);
        }
    }
    to.extend_from_slice(digits);
    to.push(0);
}

/// Digits above `low` and, if there is a limit, below `high`.
fn fraction_between(low: &[u8], high: Option<&[u8]>, to: &mut Vec<u8>) {
    let (mut low, mut high) = (low, high);
    loop {
        let from = low.first().copied().map_or(0, u16::from);
        let limit = high.map_or(256, |digits| digits.first().copied().map_or(256, u16::from));
        low = low.get(1..).unwrap_or(&[]);
        let middle = from.midpoint(limit);
        if middle > from {
            // Below 256, and at least one.
            to.push(middle as u8);
            if middle == 1 {
                to.push(0x80);
            }
            return;
        }
        if from == 0 {
            // `high` begins with 1, and does not end with it.
            to.push(1);
            high = high.map(|digits| digits.get(1..).unwrap_or(&[]));
            continue;
        }
        to.push(from as u8);
        high = match high {
            Some(digits) if from == limit => Some(digits.get(1..).unwrap_or(&[])),
            _ => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn made(make: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        make(&mut bytes);
        bytes
    }

    #[test]
    fn the_first_positions_are_short() {
        let first = made(only);
        assert_eq!(first, [0x80, 0]);
        assert_eq!(made(|to| behind(&first, to)), [0x81, 1, 0]);
        assert_eq!(made(|to| in_front(&first, to)), [0x7E, 0xFE, 0]);
        assert_eq!(len(&[0x81, 1, 0, 7, 7]), Some(3));
        assert_eq!(len(&[0x82, 1]), None);
    }

    #[test]
    fn a_thousand_twins_fit_between_two() {
        let low = made(only);
        let mut high = made(|to| behind(&low, to));
        for _ in 0..1_000 {
            let middle = made(|to| between(&low, &high, to));
            assert!(low < middle && middle < high, "{low:?} {middle:?} {high:?}");
            high = middle;
        }
    }

    proptest! {
        #[test]
        fn positions_order_as_twins_were_put(
            places in prop::collection::vec(any::<u16>(), 1..200),
        ) {
            let mut all: Vec<Vec<u8>> = vec![made(only)];
            for place in places {
                let at = usize::from(place) % (all.len() + 1);
                let new = made(|to| match at {
                    0 => in_front(&all[0], to),
                    at if at == all.len() => behind(&all[at - 1], to),
                    at => between(&all[at - 1], &all[at], to),
                });
                prop_assert_eq!(len(&new), Some(new.len()));
                all.insert(at, new);
            }
            for pair in all.windows(2) {
                prop_assert!(pair[0] < pair[1] && !pair[1].starts_with(&pair[0]), "{:?}", pair);
            }
        }

        #[test]
        fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            let _ = len(&bytes);
            let new = made(|to| behind(&bytes, to));
            prop_assert_eq!(len(&new), Some(new.len()));
        }
    }
}
