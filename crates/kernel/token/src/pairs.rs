//! Key pairs in tokens: made there, or found by label; their private halves sign, decrypt and
//! agree on secrets without leaving the token.
//!
//! ```text
//! | kind of key | signs                     | opens what was encrypted to it        |
//! |-------------|---------------------------|---------------------------------------|
//! | RSA         | CKM_RSA_PKCS, a whole     | CKM_RSA_PKCS                          |
//! |             | DigestInfo                |                                       |
//! | NIST curves | CKM_ECDSA, a digest       | CKM_ECDH1_DERIVE: the secret that two |
//! |             |                           | keys share                            |
//! ```
//!
//! 1. Both halves of a pair have the same label; the private one is made never to leave the token.
//! 2. A pair is made only under a label that no private key has, so nothing is used by chance.
//! 3. Requests are those of [`Pkcs11`]: one session each, and the PIN is tried once in it.

use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::elliptic_curve::{EcKdf, Ecdh1DeriveParams};
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::Session;
use cryptoki::types::Ulong;
use seal::{Passphrase, TokenFault, TokenPlace};
use zeroize::Zeroizing;

use crate::{Pkcs11, Result, decrypted, failed};

/// What a pair is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PairKind {
    /// RSA with so many bits.
    Rsa(u32),
    /// A curve, by its object identifier as DER has it, without tag and length.
    Curve(Vec<u8>),
}

/// The public half of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicHalf {
    /// RSA.
    Rsa {
        /// The modulus.
        n: Vec<u8>,
        /// The exponent.
        e: Vec<u8>,
    },
    /// A point on a curve.
    Curve {
        /// The curve, as in [`PairKind::Curve`].
        curve: Vec<u8>,
        /// The point, not compressed: 4, x, y.
        point: Vec<u8>,
    },
}

/// What a pair in a token is, and what its token lets it do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The public half.
    pub public: PublicHalf,
    /// Whether the private half signs.
    pub signs: bool,
    /// Whether it decrypts, or agrees on secrets.
    pub decrypts: bool,
}

/// The exponent of RSA that is made.
const EXPONENT: [u8; 3] = [1, 0, 1];
/// Tags of DER.
const OCTETS: u8 = 4;
const IDENTIFIER: u8 = 6;

impl Pkcs11 {
    /// Makes a pair of that label, for signing, or to be encrypted to.
    ///
    /// # Errors
    /// [`TokenFault::Taken`] if there is one already (2), and others.
    pub fn make_pair(
        &self,
        pin: &Passphrase,
        place: &TokenPlace,
        kind: &PairKind,
        to_sign: bool,
    ) -> Result<()> {
        self.request(pin.bytes(), place, |session| {
            if find(session, ObjectClass::PRIVATE_KEY, &place.key)?.is_some() {
                return Err(TokenFault::Taken);
            }
            let label = Attribute::Label(place.key.as_bytes().to_vec());
            let id = Attribute::Id(place.key.as_bytes().to_vec());
            let mut public = vec![Attribute::Token(true), label.clone(), id.clone()];
            let mut private = vec![
                Attribute::Token(true),
                Attribute::Private(true),
                Attribute::Sensitive(true),
                Attribute::Extractable(false),
                Attribute::Sign(to_sign),
                label,
                id,
            ];
            let mechanism = match kind {
                PairKind::Rsa(bits) => {
                    public.push(Attribute::ModulusBits(Ulong::from(u64::from(*bits))));
                    public.push(Attribute::PublicExponent(EXPONENT.to_vec()));
                    public.push(Attribute::Verify(to_sign));
                    public.push(Attribute::Encrypt(!to_sign));
                    private.push(Attribute::Decrypt(!to_sign));
                    Mechanism::RsaPkcsKeyPairGen
                }
                PairKind::Curve(curve) => {
                    public.push(Attribute::EcParams(with_tag(IDENTIFIER, curve)));
                    public.push(Attribute::Verify(to_sign));
                    private.push(Attribute::Derive(!to_sign));
                    Mechanism::EccKeyPairGen
                }
            };
            session.generate_key_pair(&mechanism, &public, &private).map_err(failed)?;
            Ok(())
        })
    }

    /// What the pair of that label is.
    ///
    /// # Errors
    /// [`TokenFault::NoKey`] if there is none, and others.
    pub fn pair(&self, pin: &Passphrase, place: &TokenPlace) -> Result<Pair> {
        self.request(pin.bytes(), place, |session| {
            let key = private(session, place)?;
            let of = |kind| flag(session, key, kind);
            let signs = of(AttributeType::Sign)?;
            match one(session, key, AttributeType::KeyType)? {
                Some(Attribute::KeyType(KeyType::RSA)) => {
                    let n = bytes(session, key, AttributeType::Modulus)?;
                    let e = bytes(session, key, AttributeType::PublicExponent)?;
                    let public = PublicHalf::Rsa { n, e };
                    Ok(Pair { public, signs, decrypts: of(AttributeType::Decrypt)? })
                }
                Some(Attribute::KeyType(KeyType::EC)) => {
                    let other = find(session, ObjectClass::PUBLIC_KEY, &place.key)?;
                    let other =
                        other.ok_or_else(|| refused("it has no public half of that key"))?;
                    let curve = bytes(session, other, AttributeType::EcParams)?;
                    let curve = without_tag(IDENTIFIER, &curve);
                    let curve = curve.ok_or_else(|| refused("its curve has no name"))?.to_vec();
                    let point = bytes(session, other, AttributeType::EcPoint)?;
                    // Some give the point as it is, most in an octet string.
                    let point = without_tag(OCTETS, &point).unwrap_or(&point).to_vec();
                    let public = PublicHalf::Curve { curve, point };
                    Ok(Pair { public, signs, decrypts: of(AttributeType::Derive)? })
                }
                _ => Err(refused("the key is neither RSA nor on a curve of NIST's")),
            }
        })
    }

    /// Signs: a `DigestInfo` with RSA, a digest with a curve. Gives the block of RSA, or both
    /// numbers of the signature, one after the other in equal lengths.
    ///
    /// # Errors
    /// See [`TokenFault`].
    pub fn sign(&self, pin: &Passphrase, place: &TokenPlace, what: &[u8]) -> Result<Vec<u8>> {
        self.request(pin.bytes(), place, |session| {
            let key = private(session, place)?;
            let mechanism = match one(session, key, AttributeType::KeyType)? {
                Some(Attribute::KeyType(KeyType::RSA)) => Mechanism::RsaPkcs,
                _ => Mechanism::Ecdsa,
            };
            session.sign(&mechanism, key, what).map_err(failed)
        })
    }

    /// Decrypts a block of RSA, whose leading zeros may be missing, and takes its padding away.
    ///
    /// # Errors
    /// [`TokenFault::Altered`] if it was not encrypted to this key, and others.
    pub fn decrypt(
        &self,
        pin: &Passphrase,
        place: &TokenPlace,
        block: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>> {
        self.request(pin.bytes(), place, |session| {
            let key = private(session, place)?;
            let length = bytes(session, key, AttributeType::Modulus)?.len();
            let mut whole = vec![0; length.saturating_sub(block.len())];
            whole.extend_from_slice(block);
            decrypted(session.decrypt(&Mechanism::RsaPkcs, key, &whole))
        })
    }

    /// The secret that a key on a curve shares with the one whose point this is: `length` bytes.
    ///
    /// # Errors
    /// [`TokenFault::Altered`] if the point is not on the curve, and others.
    pub fn agree(
        &self,
        pin: &Passphrase,
        place: &TokenPlace,
        point: &[u8],
        length: usize,
    ) -> Result<Zeroizing<Vec<u8>>> {
        self.request(pin.bytes(), place, |session| {
            let key = private(session, place)?;
            let with = Ecdh1DeriveParams::new(EcKdf::null(), point);
            // It lives as long as the session.
            let template = [
                Attribute::Class(ObjectClass::SECRET_KEY),
                Attribute::KeyType(KeyType::GENERIC_SECRET),
                Attribute::ValueLen(Ulong::from(length as u64)),
                Attribute::Token(false),
                Attribute::Sensitive(false),
                Attribute::Extractable(true),
            ];
            match session.derive_key(&Mechanism::Ecdh1Derive(with), key, &template) {
                Ok(shared) => bytes(session, shared, AttributeType::Value).map(Zeroizing::new),
                Err(Error::Pkcs11(RvError::MechanismParamInvalid | RvError::GeneralError, _)) => {
                    Err(TokenFault::Altered)
                }
                Err(error) => Err(failed(error)),
            }
        })
    }
}

fn refused(why: &str) -> TokenFault {
    TokenFault::Failed { why: why.to_owned() }
}

fn private(session: &Session, place: &TokenPlace) -> Result<ObjectHandle> {
    find(session, ObjectClass::PRIVATE_KEY, &place.key)?.ok_or(TokenFault::NoKey)
}

/// The one object of that class and label.
fn find(session: &Session, class: ObjectClass, label: &str) -> Result<Option<ObjectHandle>> {
    let found = session.find_objects(&[
        Attribute::Class(class),
        Attribute::Token(true),
        Attribute::Label(label.as_bytes().to_vec()),
    ]);
    match found.map_err(failed)?[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => Err(TokenFault::ManyKeys),
    }
}

fn one(session: &Session, object: ObjectHandle, kind: AttributeType) -> Result<Option<Attribute>> {
    Ok(session.get_attributes(object, &[kind]).map_err(failed)?.into_iter().next())
}

fn flag(session: &Session, object: ObjectHandle, kind: AttributeType) -> Result<bool> {
    use Attribute::{Decrypt, Derive, Sign};
    let found = one(session, object, kind)?;
    Ok(matches!(found, Some(Sign(true) | Decrypt(true) | Derive(true))))
}

fn bytes(session: &Session, object: ObjectHandle, kind: AttributeType) -> Result<Vec<u8>> {
    use Attribute::{EcParams, EcPoint, Modulus, PublicExponent, Value};
    match one(session, object, kind)? {
        Some(
            EcParams(bytes)
            | EcPoint(bytes)
            | Modulus(bytes)
            | PublicExponent(bytes)
            | Value(bytes),
        ) => Ok(bytes),
        _ => Err(refused("it does not tell what its key is")),
    }
}

/// A short value of DER.
fn with_tag(tag: u8, value: &[u8]) -> Vec<u8> {
    let mut all = vec![tag, u8::try_from(value.len()).unwrap_or(u8::MAX)];
    all.extend_from_slice(value);
    all
}

/// What is in a value of DER that is exactly these bytes.
fn without_tag(tag: u8, bytes: &[u8]) -> Option<&[u8]> {
    let (length, value) = match bytes {
        [found, 0x81, length, value @ ..] if *found == tag && *length > 0x7f => (length, value),
        [found, length @ 0..=0x7f, value @ ..] if *found == tag => (length, value),
        _ => return None,
    };
    (value.len() == usize::from(*length)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_found_with_and_without_its_octet_string() {
        for size in [65_u8, 97, 133] {
            let mut point = vec![7; usize::from(size)];
            point[0] = 4;
            assert_eq!(without_tag(OCTETS, &point), None, "{size}");
            let mut wrapped = if size > 127 { vec![4, 0x81, size] } else { vec![4, size] };
            wrapped.extend(&point);
            assert_eq!(without_tag(OCTETS, &wrapped), Some(&point[..]), "{size}");
        }
    }
}
