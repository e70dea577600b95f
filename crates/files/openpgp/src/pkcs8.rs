//! PKCS#8: the secret numbers of keys, as keystores and key files have them.
//!
//! ```text
//! | key         | inside of the PrivateKeyInfo                                      |
//! |-------------|-------------------------------------------------------------------|
//! | RSA         | PKCS#1: 0, n, e, d, p, q, d mod p-1, d mod q-1, 1/q mod p         |
//! | NIST curves | SEC 1: 1, the scalar, (1) the point                               |
//! | 25519       | the seed of Ed25519, or the scalar of X25519, low byte first      |
//! ```
//!
//! 1. Everything that holds secret numbers is wiped, and made as long as it gets at once.

use zeroize::Zeroizing;

use crate::der::{BITS, INTEGER, OCTETS, SEQUENCE, field, put, put_number};
use crate::material::{Number, Public, Secret};

/// The tag of the point beside a scalar.
const POINT: u8 = 0xA1;

/// The secret numbers in a PrivateKeyInfo.
pub(crate) fn read(public: &Public, pkcs8: &[u8]) -> Option<Secret> {
    let (info, _) = field(pkcs8, SEQUENCE)?;
    let (_version, rest) = field(info, INTEGER)?;
    let (_algorithm, rest) = field(rest, SEQUENCE)?;
    let (inner, _) = field(rest, OCTETS)?;
    let owned = |bytes: &[u8]| Zeroizing::new(bytes.to_vec());
    match public {
        Public::Rsa { .. } => {
            let (inner, _) = field(inner, SEQUENCE)?;
            let (_version, mut rest) = field(inner, INTEGER)?;
            let mut next = || {
                let (number, behind) = field(rest, INTEGER)?;
                rest = behind;
                Some(number)
            };
            let (_n, _e) = (next()?, next()?);
            let (d, p, q) = (owned(next()?), owned(next()?), owned(next()?));
            let (_dp, _dq) = (next()?, next()?);
            Some(Secret::Rsa { d, p, q, coefficient: owned(next()?) })
        }
        Public::Nist { .. } => {
            let (inner, _) = field(inner, SEQUENCE)?;
            let (_version, rest) = field(inner, INTEGER)?;
            Some(Secret::Curve { scalar: owned(field(rest, OCTETS)?.0) })
        }
        Public::Ed25519 { .. } => Some(Secret::Curve { scalar: owned(field(inner, OCTETS)?.0) }),
        Public::X25519 { .. } => {
            let mut scalar = owned(field(inner, OCTETS)?.0);
            scalar.reverse();
            Some(Secret::Curve { scalar })
        }
    }
}

/// The PrivateKeyInfo of these numbers (1).
pub(crate) fn write(public: &Public, secret: &Secret) -> Option<Number> {
    let inner = match (public, secret) {
        (Public::Rsa { n, e }, Secret::Rsa { d, p, q, coefficient }) => {
            let (dp, dq) = (remainder(d, &less_one(p)), remainder(d, &less_one(q)));
            let secrets = [d, p, q, &dp, &dq, coefficient];
            let secrets = secrets.map(|number| Zeroizing::new(put_number(number)));
            let open = [put_number(&[0]), put_number(n), put_number(e)];
            let open = open.iter().map(Vec::as_slice);
            let all: Vec<&[u8]> = open.chain(secrets.iter().map(|one| one.as_slice())).collect();
            put(SEQUENCE, &all)
        }
        (Public::Nist { curve, point }, Secret::Curve { scalar }) => {
            let scalar = padded(scalar, curve.field_bytes())?;
            let scalar = Zeroizing::new(put(OCTETS, &[&scalar]));
            let point = put(POINT, &[&put(BITS, &[&[0], point])]);
            put(SEQUENCE, &[&put_number(&[1]), &scalar, &point])
        }
        (Public::Ed25519 { .. }, Secret::Curve { scalar }) => {
            put(OCTETS, &[&padded(scalar, KEY_25519_BYTES)?])
        }
        (Public::X25519 { .. }, Secret::Curve { scalar }) => {
            let mut scalar = padded(scalar, KEY_25519_BYTES)?;
            scalar.reverse();
            put(OCTETS, &[&scalar])
        }
        _ => return None,
    };
    let inner = Zeroizing::new(inner);
    let whole = Zeroizing::new(put(OCTETS, &[&inner]));
    Some(Zeroizing::new(put(SEQUENCE, &[&put_number(&[0]), &public.algorithm(), &whole])))
}

/// How long keys on curve 25519 are.
const KEY_25519_BYTES: usize = 32;

/// A number with zeros before it, so long.
pub(crate) fn padded(number: &[u8], length: usize) -> Option<Number> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let digits = &number[zeros..];
    let mut all = Zeroizing::new(vec![0; length]);
    all[length.checked_sub(digits.len())?..].copy_from_slice(digits);
    Some(all)
}

/// One less than a prime number, which is odd.
fn less_one(prime: &[u8]) -> Number {
    let mut number = Zeroizing::new(prime.to_vec());
    if let Some(last) = number.last_mut() {
        *last &= 0xFE;
    }
    number
}

/// What is left of a number after division, by shifting and subtracting: once for each key that is
/// written out, and no caller outside can have it repeated.
fn remainder(number: &[u8], modulus: &[u8]) -> Number {
    let modulus = [&[0], modulus].concat();
    let modulus = Zeroizing::new(modulus);
    let mut rest = Zeroizing::new(vec![0_u8; modulus.len()]);
    for bit in number.iter().flat_map(|byte| (0..8).rev().map(move |place| (byte >> place) & 1)) {
        let mut carry = bit;
        for digit in rest.iter_mut().rev() {
            let above = *digit >> 7;
            *digit = (*digit << 1) | carry;
            carry = above;
        }
        if *rest >= *modulus {
            let mut borrow = false;
            for (digit, other) in rest.iter_mut().zip(modulus.iter()).rev() {
                let (less, first) = digit.overflowing_sub(*other);
                let (less, second) = less.overflowing_sub(u8::from(borrow));
                (*digit, borrow) = (less, first || second);
            }
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_are_those_of_ordinary_arithmetic() {
        let numbers = [0_u64, 1, 254, 255, 256, 65_537, 0x1234_5678_9ABC_DEF0, u64::MAX];
        for number in numbers {
            for modulus in [1_u64, 2, 3, 256, 65_536, 0xFFFF_FFFF_FFFF] {
                let left = remainder(&number.to_be_bytes(), &modulus.to_be_bytes());
                let left = left.iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte));
                assert_eq!(left, number % modulus, "{number} by {modulus}");
            }
        }
    }
}
