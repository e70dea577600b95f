//! Key packets from the bare numbers of keys that were made elsewhere.
//!
//! ```text
//! | key        | public part of the packet (RFC 9580, 5.5)  | secret part         |
//! |------------|--------------------------------------------|---------------------|
//! | RSA        | n, e                                       | d, p, q, 1/p mod q  |
//! | NIST curve | curve, point; to encrypt also hash, cipher | the scalar          |
//! ```
//!
//! 1. Packets are of version 4: their fingerprint follows from the time and the public numbers, so
//!    whoever takes the same key from the same certificate gets the same fingerprint.
//! 2. Secret numbers are wiped; what the packet does with them, it does itself.

use pgp::packet::{PacketHeader, PublicKey, PublicSubkey, SecretKey, SecretSubkey};
use pgp::types::Tag;
use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// A curve of NIST's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Curve {
    P256,
    P384,
    P521,
}

impl Curve {
    const ALL: [Curve; 3] = [Curve::P256, Curve::P384, Curve::P521];

    /// Its name as packets and certificates have it: an object identifier without its head.
    pub(crate) fn name(self) -> &'static [u8] {
        match self {
            Curve::P256 => &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07],
            Curve::P384 => &[0x2B, 0x81, 0x04, 0x00, 0x22],
            Curve::P521 => &[0x2B, 0x81, 0x04, 0x00, 0x23],
        }
    }

    pub(crate) fn named(name: &[u8]) -> Option<Curve> {
        Curve::ALL.into_iter().find(|curve| curve.name() == name)
    }

    /// The hash and the cipher that wrap session keys (RFC 9580, 11.5.1).
    fn wrapping(self) -> [u8; 2] {
        match self {
            Curve::P256 => [8, 7],
            Curve::P384 => [9, 8],
            Curve::P521 => [10, 9],
        }
    }
}

/// The numbers of a public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Public {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    Nist { curve: Curve, point: Vec<u8> },
}

/// The numbers of a secret key.
pub(crate) enum Secret {
    /// As PKCS#1 has them; `coefficient` is 1/q mod p.
    Rsa {
        d: Number,
        p: Number,
        q: Number,
        coefficient: Number,
    },
    Nist {
        scalar: Number,
    },
}

/// A secret number.
pub(crate) type Number = Zeroizing<Vec<u8>>;

/// What a key is for: those on curves have packets of their own for each use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Sign,
    Encrypt,
}

const RSA_BITS_MIN: usize = 2048;

impl Public {
    /// The key packet, of that time.
    pub(crate) fn packet(&self, made: u32, purpose: Use) -> Result<PublicKey> {
        let body = self.body(made, purpose)?;
        Ok(PublicKey::try_from_reader(header(Tag::PublicKey, &body)?, &body[..])?)
    }

    /// The packet of a part of another key, of that time, to encrypt to.
    pub(crate) fn part(&self, made: u32) -> Result<PublicSubkey> {
        let body = self.body(made, Use::Encrypt)?;
        Ok(PublicSubkey::try_from_reader(header(Tag::PublicSubkey, &body)?, &body[..])?)
    }

    fn body(&self, made: u32, purpose: Use) -> Result<Vec<u8>> {
        let mut body = vec![4];
        body.extend(made.to_be_bytes());
        match self {
            Public::Rsa { n, e } => {
                let bits = bits(n);
                if bits < RSA_BITS_MIN {
                    let what =
                        format!("an RSA key of {bits} bits is too weak; {RSA_BITS_MIN} are needed");
                    return Err(Error::UnfitKey(what));
                }
                body.push(1);
                put_number(&mut body, n);
                put_number(&mut body, e);
            }
            Public::Nist { curve, point } => {
                body.push(if purpose == Use::Sign { 19 } else { 18 });
                let name = curve.name();
                body.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
                body.extend(name);
                put_number(&mut body, point);
                if purpose == Use::Encrypt {
                    body.extend([3, 1]);
                    body.extend(curve.wrapping());
                }
            }
        }
        Ok(body)
    }

    /// The packet of the secret key, not locked.
    pub(crate) fn secret_packet(&self, made: u32, secret: &Secret) -> Result<SecretKey> {
        let body = self.secret_body(made, Use::Sign, secret)?;
        Ok(SecretKey::try_from_reader(header(Tag::SecretKey, &body)?, &body[..])?)
    }

    /// The same as a part of another key, to decrypt with.
    pub(crate) fn secret_part(&self, made: u32, secret: &Secret) -> Result<SecretSubkey> {
        let body = self.secret_body(made, Use::Encrypt, secret)?;
        Ok(SecretSubkey::try_from_reader(header(Tag::SecretSubkey, &body)?, &body[..])?)
    }

    fn secret_body(&self, made: u32, purpose: Use, secret: &Secret) -> Result<Number> {
        let mut numbers = Zeroizing::new(Vec::with_capacity(8 << 10));
        match secret {
            // The packet wants 1/p mod q of its p and q: PKCS#1's with p and q exchanged.
            Secret::Rsa { d, p, q, coefficient } => {
                for number in [d, q, p, coefficient] {
                    put_number(&mut numbers, number);
                }
            }
            Secret::Nist { scalar } => put_number(&mut numbers, scalar),
        }
        let sum = numbers.iter().fold(0_u16, |sum, byte| sum.wrapping_add(u16::from(*byte)));
        let mut body = Zeroizing::new(Vec::with_capacity(16 << 10));
        body.extend(self.body(made, purpose)?);
        body.push(0);
        body.extend_from_slice(&numbers);
        body.extend(sum.to_be_bytes());
        Ok(body)
    }
}

fn header(tag: Tag, body: &[u8]) -> Result<PacketHeader> {
    let long = |_| Error::NotOpenPgp("a key is too long".to_owned());
    Ok(PacketHeader::new_fixed(tag, u32::try_from(body.len()).map_err(long)?))
}

fn trimmed(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}

fn bits(number: &[u8]) -> usize {
    let number = trimmed(number);
    number.first().map_or(0, |first| number.len() * 8 - first.leading_zeros() as usize)
}

/// A number, with its length in bits before it.
fn put_number(to: &mut Vec<u8>, number: &[u8]) {
    let length = u16::try_from(bits(number)).unwrap_or(u16::MAX);
    to.extend(length.to_be_bytes());
    to.extend_from_slice(trimmed(number));
}
