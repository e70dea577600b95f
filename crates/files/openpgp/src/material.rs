//! Key packets from the bare numbers of keys that were made elsewhere, and the numbers of packets.
//!
//! ```text
//! | key        | public part of the packet (RFC 9580, 5.5)  | secret part         |
//! |------------|--------------------------------------------|---------------------|
//! | RSA        | n, e                                       | d, p, q, 1/p mod q  |
//! | NIST curve | curve, point; to encrypt also hash, cipher | the scalar          |
//! | Ed25519    | curve, point, in the older form            | the seed            |
//! | X25519     | curve, point, hash, cipher, the same       | the scalar          |
//! ```
//!
//! 1. Packets are of version 4: their fingerprint follows from the time and the public numbers, so
//!    a program that takes the same key from the same certificate gets the same fingerprint.
//! 2. Secret numbers are wiped; what the packet does with them, it does itself.

use pgp::packet::{PacketHeader, PublicKey, PublicSubkey, SecretKey, SecretSubkey};
use pgp::types::Tag;
use zeroize::Zeroizing;

use crate::der::{BITS, NAME, NULL, SEQUENCE, put, put_number};
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

    /// How long its numbers are.
    pub(crate) fn field_bytes(self) -> usize {
        match self {
            Curve::P256 => 32,
            Curve::P384 => 48,
            Curve::P521 => 66,
        }
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
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    Nist {
        curve: Curve,
        point: Vec<u8>,
    },
    /// It signs.
    Ed25519 {
        point: Vec<u8>,
    },
    /// It agrees on secrets.
    X25519 {
        point: Vec<u8>,
    },
}

/// The numbers of a secret key.
pub(crate) enum Secret {
    /// As PKCS#1 has them; `coefficient` is 1/q mod p.
    Rsa { d: Number, p: Number, q: Number, coefficient: Number },
    /// As packets have it: the first byte is the highest of a scalar.
    Curve { scalar: Number },
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
/// Names of curve 25519 in packets, as [`Curve::name`], and what stands before its points there.
const ED25519: &[u8] = &[0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x0F, 0x01];
const X25519: &[u8] = &[0x2B, 0x06, 0x01, 0x04, 0x01, 0x97, 0x55, 0x01, 0x05, 0x01];
const NATIVE: u8 = 0x40;
/// Names of algorithms in certificates.
const RSA_NAME: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01];
const NIST_NAME: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01];
pub(crate) const ED25519_NAME: &[u8] = &[0x2B, 0x65, 0x70];
pub(crate) const X25519_NAME: &[u8] = &[0x2B, 0x65, 0x6E];
/// Algorithms of packets.
const RSA: u8 = 1;
const ECDH: u8 = 18;
const ECDSA: u8 = 19;
const EDDSA: u8 = 22;

impl Public {
    /// The time and the numbers of a key packet of version 4, and what stands behind them.
    pub(crate) fn of(body: &[u8]) -> Option<(u32, Public, &[u8])> {
        let (version, rest) = body.split_first()?;
        let (made, rest) = rest.split_first_chunk::<4>()?;
        let (algorithm, rest) = rest.split_first()?;
        if *version != 4 {
            return None;
        }
        let made = u32::from_be_bytes(*made);
        if *algorithm == RSA {
            let (n, rest) = number(rest)?;
            let (e, rest) = number(rest)?;
            return Some((made, Public::Rsa { n: n.to_vec(), e: e.to_vec() }, rest));
        }
        let (length, rest) = rest.split_first()?;
        let (name, rest) = rest.split_at_checked(usize::from(*length))?;
        let (point, mut rest) = number(rest)?;
        if *algorithm == ECDH {
            // How session keys are wrapped.
            let (length, behind) = rest.split_first()?;
            rest = behind.get(usize::from(*length)..)?;
        }
        let native = || Some(point.strip_prefix(&[NATIVE])?.to_vec());
        let public = match (*algorithm, name) {
            (EDDSA, ED25519) => Public::Ed25519 { point: native()? },
            (ECDH, X25519) => Public::X25519 { point: native()? },
            (ECDSA | ECDH, name) => {
                Public::Nist { curve: Curve::named(name)?, point: point.to_vec() }
            }
            _ => return None,
        };
        Some((made, public, rest))
    }

    /// Whether such a key signs, and whether it can be encrypted to.
    pub(crate) fn abilities(&self) -> (bool, bool) {
        match self {
            Public::Rsa { .. } | Public::Nist { .. } => (true, true),
            Public::Ed25519 { .. } => (true, false),
            Public::X25519 { .. } => (false, true),
        }
    }

    /// The algorithm, as certificates and PKCS#8 name it.
    pub(crate) fn algorithm(&self) -> Vec<u8> {
        let named = |name: &[u8], more: &[u8]| put(SEQUENCE, &[&put(NAME, &[name]), more]);
        match self {
            Public::Rsa { .. } => named(RSA_NAME, &put(NULL, &[])),
            Public::Nist { curve, .. } => named(NIST_NAME, &put(NAME, &[curve.name()])),
            Public::Ed25519 { .. } => named(ED25519_NAME, &[]),
            Public::X25519 { .. } => named(X25519_NAME, &[]),
        }
    }

    /// The bare key, as certificates have it.
    pub(crate) fn bare(&self) -> Vec<u8> {
        match self {
            Public::Rsa { n, e } => put(SEQUENCE, &[&put_number(n), &put_number(e)]),
            Public::Nist { point, .. } | Public::Ed25519 { point } | Public::X25519 { point } => {
                point.clone()
            }
        }
    }

    /// What certificates say of a key: its algorithm, and the key.
    pub(crate) fn info(&self) -> Vec<u8> {
        let bare = put(BITS, &[&[0], &self.bare()]);
        put(SEQUENCE, &[&self.algorithm(), &bare])
    }

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
                body.push(RSA);
                put_mpi(&mut body, n);
                put_mpi(&mut body, e);
            }
            Public::Nist { curve, point } => {
                body.push(if purpose == Use::Sign { ECDSA } else { ECDH });
                put_point(&mut body, curve.name(), point);
                if purpose == Use::Encrypt {
                    body.extend([3, 1]);
                    body.extend(curve.wrapping());
                }
            }
            // These do one of both, whatever they are wanted for.
            Public::Ed25519 { point } => {
                body.push(EDDSA);
                put_point(&mut body, ED25519, &[&[NATIVE], &point[..]].concat());
            }
            Public::X25519 { point } => {
                body.push(ECDH);
                put_point(&mut body, X25519, &[&[NATIVE], &point[..]].concat());
                body.extend([3, 1]);
                body.extend(Curve::P256.wrapping());
            }
        }
        Ok(body)
    }

    /// The packet of the secret key, not locked.
    pub(crate) fn secret_packet(&self, made: u32, secret: &Secret) -> Result<SecretKey> {
        let body = self.secret_body(made, Use::Sign, secret)?;
        let key = SecretKey::try_from_reader(header(Tag::SecretKey, &body)?, &body[..]);
        key.map_err(|_| not_of_one_key())
    }

    /// The same as a part of another key, to decrypt with.
    pub(crate) fn secret_part(&self, made: u32, secret: &Secret) -> Result<SecretSubkey> {
        let body = self.secret_body(made, Use::Encrypt, secret)?;
        let key = SecretSubkey::try_from_reader(header(Tag::SecretSubkey, &body)?, &body[..]);
        key.map_err(|_| not_of_one_key())
    }

    fn secret_body(&self, made: u32, purpose: Use, secret: &Secret) -> Result<Number> {
        let mut numbers = Zeroizing::new(Vec::with_capacity(8 << 10));
        match secret {
            // The packet wants 1/p mod q of its p and q: PKCS#1's with p and q exchanged.
            Secret::Rsa { d, p, q, coefficient } => {
                for number in [d, q, p, coefficient] {
                    put_mpi(&mut numbers, number);
                }
            }
            Secret::Curve { scalar } => put_mpi(&mut numbers, scalar),
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

impl Secret {
    /// The numbers behind the public part of a secret packet that is not locked.
    pub(crate) fn of(public: &Public, behind: &[u8]) -> Option<Secret> {
        let owned = |bytes: &[u8]| Zeroizing::new(bytes.to_vec());
        let (0, rest) = behind.split_first().map(|(locked, rest)| (*locked, rest))? else {
            return None;
        };
        let (first, rest) = number(rest)?;
        if !matches!(public, Public::Rsa { .. }) {
            return Some(Secret::Curve { scalar: owned(first) });
        }
        // See above: the packet's p and q are PKCS#1's q and p.
        let (q, rest) = number(rest)?;
        let (p, rest) = number(rest)?;
        let (coefficient, _sum) = number(rest)?;
        let (d, p, q) = (owned(first), owned(p), owned(q));
        Some(Secret::Rsa { d, p, q, coefficient: owned(coefficient) })
    }
}

/// A number with its length in bits before it, and what is behind it.
fn number(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (bits, rest) = bytes.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(*bits)).div_ceil(8))
}

fn put_point(to: &mut Vec<u8>, curve: &[u8], point: &[u8]) {
    to.push(u8::try_from(curve.len()).unwrap_or(u8::MAX));
    to.extend(curve);
    put_mpi(to, point);
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
fn put_mpi(to: &mut Vec<u8>, number: &[u8]) {
    let length = u16::try_from(bits(number)).unwrap_or(u16::MAX);
    to.extend(length.to_be_bytes());
    to.extend_from_slice(trimmed(number));
}
fn not_of_one_key() -> Error {
    let what = "the secret key and the certificate beside it are not of one key, or one is damaged";
    Error::NotOpenPgp(what.to_owned())
}
