//! Keys and certificates: made, changed, revoked, certified.
//!
//! 1. A key's change is a new signature beside the old ones; nothing that others may have is taken
//!    back, so copies of a certificate can be merged in any order.
//! 2. A secret key that had a passphrase keeps it through every change.
//! 3. Nothing weaker than 2048 bits of RSA is made.
//! 4. What a key says of itself stands in a direct signature if it is of version 6 or has no user
//!    id, else with its user ids, where older programs look for it.

use pgp::composed::{EncryptionCaps, KeyType, SecretKeyParamsBuilder, SubkeyParamsBuilder};
use pgp::composed::{SignedPublicKey, SignedSecretKey, SignedSecretSubKey};
use pgp::crypto::aead::AeadAlgorithm;
use pgp::crypto::ecc_curve::ECCCurve;
use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::sym::SymmetricKeyAlgorithm;
use pgp::packet::{PublicKey, RevocationCode, Signature, SignatureType, Subpacket, SubpacketData};
use pgp::types::{
    CompressionAlgorithm, KeyDetails, KeyVersion, Password, S2kParams, SecretParams, SignedUser,
    SigningKey, StringToKey,
};
use rpgpie::certificate::Certificate;
use rpgpie::key::ComponentKeyPriv;
use rpgpie::tsk::Tsk;

use crate::certification;
use crate::entropy::Random;
use crate::error::{Error, Result};
use crate::expiry::{NewEnd, from_now, wait_for_a_later_second};
use crate::signature_config::config_for;

/// What a key is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// RSA with so many bits, from 2048 to 8192.
    Rsa(u32),
    /// Ed25519 and X25519; in version 4 in the form that every program reads.
    Curve25519,
    /// Ed448 and X448; version 6 only.
    Curve448,
    /// ECDSA and ECDH on a NIST curve of 256, 384 or 521 bits.
    Nist(u32),
}

/// How a key is to be made.
pub struct NewKey {
    /// Who it belongs to; the first one is the primary name. Without any, GnuPG does not import a
    /// key of version 4.
    pub users: Vec<String>,
    /// What it is made of.
    pub algorithm: Algorithm,
    /// Whether it is of version 6 (RFC 9580); else of version 4.
    pub v6: bool,
    /// What locks its secret part.
    pub passphrase: Option<Password>,
    /// After how many seconds it expires.
    pub lifetime_s: Option<u32>,
    /// Whether it is for signing only.
    pub signing_only: bool,
}

impl NewKey {
    fn kinds(&self) -> Result<(KeyType, KeyType)> {
        Ok(match (self.algorithm, self.v6) {
            (Algorithm::Rsa(bits @ 2048..=8192), _) => (KeyType::Rsa(bits), KeyType::Rsa(bits)),
            (Algorithm::Rsa(bits), _) => {
                let what = format!("RSA keys have 2048 to 8192 bits, not {bits}");
                return Err(Error::Usage(what));
            }
            (Algorithm::Curve25519, true) => (KeyType::Ed25519, KeyType::X25519),
            (Algorithm::Curve25519, false) => {
                (KeyType::Ed25519Legacy, KeyType::ECDH(ECCCurve::Curve25519Legacy))
            }
            (Algorithm::Curve448, true) => (KeyType::Ed448, KeyType::X448),
            (Algorithm::Curve448, false) => {
                let what = "keys on curve 448 are of version 6 alone; add --v6";
                return Err(Error::Usage(what.to_owned()));
            }
            (Algorithm::Nist(bits), _) => {
                let curve = match bits {
                    256 => ECCCurve::P256,
                    384 => ECCCurve::P384,
                    521 => ECCCurve::P521,
                    _ => {
                        let what = format!("NIST curves have 256, 384 or 521 bits, not {bits}");
                        return Err(Error::Usage(what));
                    }
                };
                (KeyType::ECDSA(curve.clone()), KeyType::ECDH(curve))
            }
        })
    }

    /// Makes the key.
    ///
    /// # Errors
    /// If what is wanted does not fit together.
    pub fn generate(&self) -> Result<Tsk> {
        use SymmetricKeyAlgorithm::{AES128, AES192, AES256};
        let version = if self.v6 { KeyVersion::V6 } else { KeyVersion::V4 };
        let (primary, encrypting) = self.kinds()?;
        let mut builder = SecretKeyParamsBuilder::default();
        builder
            .version(version)
            .key_type(primary)
            .can_certify(true)
            .can_sign(true)
            .feature_seipd_v2(self.v6)
            .preferred_symmetric_algorithms([AES256, AES192, AES128].into_iter().collect())
            .preferred_hash_algorithms(
                [HashAlgorithm::Sha512, HashAlgorithm::Sha384, HashAlgorithm::Sha256]
                    .into_iter()
                    .collect(),
            )
            .preferred_compression_algorithms(
                [CompressionAlgorithm::ZLIB, CompressionAlgorithm::ZIP].into_iter().collect(),
            );
        if self.v6 {
            let modes = [AeadAlgorithm::Ocb, AeadAlgorithm::Gcm].into_iter();
            let pairs = modes.flat_map(|mode| [(AES256, mode), (AES128, mode)]);
            builder.preferred_aead_algorithms(pairs.collect());
        }
        let is_nobodys = self.users.is_empty() && !self.v6;
        if is_nobodys {
            builder.primary_user_id(NOBODY.to_owned());
        }
        if let Some((first, others)) = self.users.split_first() {
            builder.primary_user_id(first.clone()).user_ids(others.to_vec());
        }
        if !self.signing_only {
            let mut part = SubkeyParamsBuilder::default();
            part.version(version).key_type(encrypting).can_encrypt(EncryptionCaps::All);
            builder.subkeys(vec![part.build().map_err(unfit)?]);
        }
        let mut key = builder.build().map_err(unfit)?.generate(Random)?;
        if is_nobodys {
            say_it_directly(&mut key)?;
        }
        if let Some(lifetime) = self.lifetime_s {
            expire_parts(&mut key, &Password::empty(), Some(lifetime))?;
        }
        if let Some(passphrase) = &self.passphrase {
            lock(&mut key, passphrase)?;
        }
        Ok(Tsk::from(key))
    }
}

/// The builder makes no key of version 4 without a user id; this one goes before the key is given
/// out.
const NOBODY: &str = "nobody";

/// Takes the user ids away; what the first one's signature says, the key says of itself (4).
fn say_it_directly(key: &mut SignedSecretKey) -> Result<()> {
    let users = std::mem::take(&mut key.details.users);
    let signed = users.first().and_then(|user| user.signatures.first()?.config());
    let mut config = config_for(&key.primary_key, SignatureType::Key)?;
    let known: Vec<_> = config.hashed_subpackets.iter().map(|part| part.typ()).collect();
    let is_new = |part: &&Subpacket| {
        !known.contains(&part.typ()) && !matches!(part.data, SubpacketData::IsPrimary(_))
    };
    let signed = signed.into_iter().flat_map(|config| &config.hashed_subpackets);
    config.hashed_subpackets.extend(signed.filter(is_new).cloned());
    let public = key.primary_key.public_key();
    let made = config.sign_key(&key.primary_key, &Password::empty(), &public)?;
    key.details.direct_signatures.push(made);
    Ok(())
}

fn unfit<E: std::fmt::Display>(error: E) -> Error {
    Error::Usage(format!("such a key cannot be made: {error}"))
}

pub(crate) fn lock(key: &mut SignedSecretKey, passphrase: &Password) -> Result<()> {
    if !is_stub(key.primary_key.secret_params()) {
        key.primary_key.set_password(Random, passphrase)?;
    }
    for part in &mut key.secret_subkeys {
        if !is_stub(part.key.secret_params()) {
            part.key.set_password(Random, passphrase)?;
        }
    }
    Ok(())
}

/// The certificate of a secret key: what others may have.
#[must_use]
pub fn certificate_of(key: &Tsk) -> Certificate {
    Certificate::from(key.clone())
}

/// Whether some part of a secret key needs a passphrase.
#[must_use]
pub fn is_locked(key: &Tsk) -> bool {
    let key = key.key();
    let parts = key.secret_subkeys.iter().map(|part| part.key.secret_params());
    let mut all = std::iter::once(key.primary_key.secret_params()).chain(parts);
    all.any(|secret| secret.is_encrypted() && !is_stub(secret))
}

/// The secret of a part.
pub(crate) fn secret_of(part: &ComponentKeyPriv) -> &SecretParams {
    match part {
        ComponentKeyPriv::Primary(key) => key.secret_params(),
        ComponentKeyPriv::Subkey(key) => key.secret_params(),
    }
}

/// Whether a secret part is none: GnuPG leaves a stub where it was taken out, or is in a card.
pub(crate) fn is_stub(secret: &SecretParams) -> bool {
    let SecretParams::Encrypted(secret) = secret else { return false };
    let (S2kParams::Cfb { s2k, .. } | S2kParams::MalleableCfb { s2k, .. }) =
        secret.string_to_key_params()
    else {
        return false;
    };
    matches!(s2k, StringToKey::Private { .. })
}

/// Whether a passphrase unlocks a secret key that is locked.
#[must_use]
pub fn unlocks(key: &Tsk, passphrase: &Password) -> bool {
    let key = key.key();
    let primary = ComponentKeyPriv::Primary(key.primary_key.clone());
    let parts = key.secret_subkeys.iter().map(|part| part.key.clone());
    let all = std::iter::once(primary).chain(parts.map(ComponentKeyPriv::Subkey));
    // One is enough to know it: programs lock all parts by one passphrase.
    let locked = |part: &ComponentKeyPriv| {
        let secret = secret_of(part);
        secret.is_encrypted() && !is_stub(secret)
    };
    let first = all.into_iter().find(locked);
    first.is_some_and(|part| match part {
        ComponentKeyPriv::Primary(mut key) => key.remove_password(passphrase).is_ok(),
        ComponentKeyPriv::Subkey(mut key) => key.remove_password(passphrase).is_ok(),
    })
}

/// The secret key of a certificate, each part from the first of these keys that has it.
pub(crate) fn united(certificate: Certificate, keys: &[&Tsk]) -> Tsk {
    let public = SignedPublicKey::from(certificate);
    let all: Vec<&SignedSecretKey> = keys.iter().map(|key| key.key()).collect();
    let primaries = all.iter().map(|key| &key.primary_key);
    let primary = primaries.clone().find(|key| !is_stub(key.secret_params()));
    let (Some(primary), Some(first)) = (primary.or(primaries.clone().next()), all.first()) else {
        unreachable!("a secret key is united from at least one");
    };
    let mut key = SignedSecretKey {
        primary_key: primary.clone(),
        details: public.details,
        ..(*first).clone()
    };
    (key.public_subkeys, key.secret_subkeys) = (Vec::new(), Vec::new());
    for part in public.public_subkeys {
        let print = part.key.fingerprint();
        let secrets = all.iter().flat_map(|key| &key.secret_subkeys).map(|part| &part.key);
        let secrets = secrets.filter(|secret| secret.fingerprint() == print);
        let whole = secrets.clone().find(|secret| !is_stub(secret.secret_params()));
        match whole.or(secrets.clone().next()) {
            Some(secret) => {
                let with = SignedSecretSubKey::new(secret.clone(), part.signatures);
                key.secret_subkeys.push(with);
            }
            None => key.public_subkeys.push(part),
        }
    }
    Tsk::from(key)
}

/// The passphrase among these that unlocks the primary key; the empty one if it has none.
pub(crate) fn fitting<'a>(
    key: &SignedSecretKey,
    none: &'a Password,
    passphrases: &'a [Password],
) -> Result<&'a Password> {
    if is_stub(key.primary_key.secret_params()) {
        let what = format!("the secret part of key {} itself is not here", key.fingerprint());
        return Err(Error::UnfitKey(what));
    }
    // What deriving a key from a passphrase costs is spent on the likely ones first.
    let mut tried = passphrases.iter().chain(std::iter::once(none));
    let fits = |passphrase: &&Password| {
        key.primary_key.unlock(passphrase, |_, _| Ok(())).is_ok_and(|done| done.is_ok())
    };
    tried.find(fits).ok_or_else(|| Error::Locked(key.fingerprint().to_string()))
}

/// The same key, locked by another passphrase, or by none.
///
/// # Errors
/// If none of the old passphrases unlocks every part.
pub fn change_passphrase(key: &Tsk, old: &[Password], new: Option<&Password>) -> Result<Tsk> {
    let mut key = key.key().clone();
    let name = key.fingerprint().to_string();
    let none = [Password::empty()];
    let tried = || old.iter().chain(&none);
    let mut all_open = is_stub(key.primary_key.secret_params())
        || tried().any(|one| key.primary_key.remove_password(one).is_ok());
    for part in &mut key.secret_subkeys {
        all_open &= is_stub(part.key.secret_params())
            || tried().any(|one| part.key.remove_password(one).is_ok());
    }
    if !all_open {
        return Err(Error::Locked(name));
    }
    if let Some(new) = new {
        lock(&mut key, new)?;
    }
    Ok(Tsk::from(key))
}

/// The revocation of a key by itself: its users stop using the key.
///
/// # Errors
/// If no passphrase unlocks the key.
pub fn revoke(
    key: &Tsk,
    passphrases: &[Password],
    code: RevocationCode,
    why: &str,
) -> Result<Signature> {
    let key = key.key();
    let none = Password::empty();
    let passphrase = fitting(key, &none, passphrases)?;
    let primary = &key.primary_key;
    revocation(primary, passphrase, primary.public_key(), code, why)
}

/// The revocation of a key, signed by the key wherever it is.
pub(crate) fn revocation(
    signer: &impl SigningKey,
    passphrase: &Password,
    public: &PublicKey,
    code: RevocationCode,
    why: &str,
) -> Result<Signature> {
    let mut config = config_for(signer, SignatureType::KeyRevocation)?;
    let reason = SubpacketData::RevocationReason(code, why.to_owned().into());
    config.hashed_subpackets.push(Subpacket::regular(reason)?);
    Ok(config.sign_key(signer, passphrase, public)?)
}

/// The certificate with the revocation in it.
#[must_use]
pub fn with_revocation(certificate: Certificate, revocation: Signature) -> Certificate {
    let mut inner = SignedPublicKey::from(certificate);
    inner.details.revocation_signatures.push(revocation);
    Certificate::from(inner)
}

/// The secret key with the revocation in it.
#[must_use]
pub fn key_with_revocation(key: &Tsk, revocation: Signature) -> Tsk {
    let mut inner = key.key().clone();
    inner.details.revocation_signatures.push(revocation);
    Tsk::from(inner)
}

/// The same key with another end: so many seconds from now, or never.
///
/// # Errors
/// If no passphrase unlocks the key.
pub fn expire(key: &Tsk, passphrases: &[Password], lifetime_s: Option<u32>) -> Result<Tsk> {
    let mut inner = key.key().clone();
    let none = Password::empty();
    let passphrase = fitting(&inner, &none, passphrases)?;
    wait_for_a_later_second(&inner.details);
    expire_parts(&mut inner, passphrase, lifetime_s)?;
    Ok(Tsk::from(inner))
}

/// Gives the key, and its parts that end with it, another end: so many seconds from now.
pub(crate) fn expire_parts(
    key: &mut SignedSecretKey,
    passphrase: &Password,
    lifetime_s: Option<u32>,
) -> Result<()> {
    let signer = key.primary_key.clone();
    let public = signer.public_key();
    let end = NewEnd { signer: &signer, passphrase, public, until: from_now(lifetime_s) };
    let before = end.of_key(&mut key.details)?;
    for part in &mut key.secret_subkeys {
        end.of_part(part.key.public_key(), &mut part.signatures, before)?;
    }
    for part in &mut key.public_subkeys {
        end.of_part(&part.key, &mut part.signatures, before)?;
    }
    Ok(())
}

/// The certificate, with this key's word that the user id belongs to it.
///
/// # Errors
/// If no passphrase unlocks the key, or the certificate has no such user id.
pub fn certify(
    key: &Tsk,
    passphrases: &[Password],
    certificate: Certificate,
    user: &str,
) -> Result<Certificate> {
    let key = key.key();
    let none = Password::empty();
    let passphrase = fitting(key, &none, passphrases)?;
    certified(&key.primary_key, passphrase, certificate, user)
}

/// The certificate with the word of a key, wherever that key is.
pub(crate) fn certified(
    signer: &impl SigningKey,
    passphrase: &Password,
    certificate: Certificate,
    user: &str,
) -> Result<Certificate> {
    let mut inner = SignedPublicKey::from(certificate);
    let named = |one: &&mut SignedUser| one.id.id() == user.as_bytes();
    let Some(found) = inner.details.users.iter_mut().find(named) else {
        return Err(Error::Name(format!("the certificate has no user id \"{user}\"")));
    };
    let made = certification::certify(signer, passphrase, &inner.primary_key, &found.id)?;
    found.signatures.push(made);
    Ok(Certificate::from(inner))
}
