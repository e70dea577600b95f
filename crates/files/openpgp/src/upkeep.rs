//! Keys and certificates, kept up to date and judged: renewal, and whose a user id is.
//!
//! 1. A renewal adds signatures and parts and takes nothing away that others may rely on.
//! 2. A key that was revoked, or whose algorithm is too weak, is not renewed: nothing would make
//!    it good again.
//! 3. A user id belongs to a certificate if the certificate says so and one that is trusted says
//!    so too, both at the time in question.

use pgp::composed::{SignedPublicKey, SignedSecretSubKey};
use pgp::packet::{KeyFlags, Signature, UserId};
use pgp::types::{
    EcdsaPublicParams, KeyDetails, KeyVersion, Password, PublicParams, SignedUser, Tag, Timestamp,
};
use rpgpie::certificate::Certificate;
use rpgpie::signature::signature_acceptable;
use rpgpie::tsk::Tsk;

use crate::certification::vouches;
use crate::entropy::Random;
use crate::error::{Error, Result};
use crate::expiry::wait_for_a_later_second;
use crate::keys::{Algorithm, NewKey, certificate_of, expire_parts, fitting, lock, united};
use crate::revocation::{is_revocation, revokes_user};
use crate::strength::obstacle;
use crate::usability::is_revoked;
use crate::validity::{Checked, is_over};

pub use crate::merge::merged;

/// What a renewal may do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Renewal {
    /// Nothing is added by which others could encrypt to the key.
    pub signing_only: bool,
    /// Nothing is added that the key could not do before.
    pub nothing_new: bool,
}

/// What of a key cannot be repaired.
#[must_use]
pub fn is_beyond_renewal(key: &Tsk) -> bool {
    let checked = Checked::new(certificate_of(key));
    let key = key.key();
    let now = Timestamp::now().as_secs();
    let is_weak = obstacle(&key.primary_key, now).is_some();
    is_weak || checked.is_revoked_at(Timestamp::now()) || is_revoked(&checked)
}

/// The key with what others know of it, its end moved if it has come, and a part to encrypt to if
/// it has none.
///
/// # Errors
/// If no passphrase unlocks it, or it was revoked (2).
pub fn renew(
    key: &Tsk,
    passphrases: &[Password],
    known: &[Certificate],
    renewal: Renewal,
) -> Result<Tsk> {
    let own = certificate_of(key).fingerprint();
    let all = known.iter().cloned().fold(certificate_of(key), merged);
    let key = united(all, &[key]);
    if is_beyond_renewal(&key) {
        let what = format!("key {own} was revoked or is too weak; make a new one");
        return Err(Error::UnfitKey(what));
    }
    let none = Password::empty();
    let passphrase = fitting(key.key(), &none, passphrases)?;
    let now = Timestamp::now();
    let checked = Checked::new(certificate_of(&key));
    let mut subpackets = checked.says_at(now);
    if subpackets.is_empty() {
        subpackets.extend(newest_self_signature(&key));
    }
    let lifetimes = subpackets.iter().filter_map(|one| one.key_expiration_time());
    let lifetime = lifetimes.map(|time| time.as_secs()).filter(|lifetime| *lifetime != 0).min();
    let mut inner = key.key().clone();
    let age = now.as_secs().saturating_sub(inner.created_at().as_secs());
    if let Some(lifetime) = lifetime.filter(|lifetime| *lifetime <= age) {
        wait_for_a_later_second(&inner.details);
        expire_parts(&mut inner, passphrase, Some(lifetime))?;
    }
    let renewed = Tsk::from(inner);
    let checked = Checked::new(certificate_of(&renewed));
    let may_add = !renewal.signing_only && !renewal.nothing_new;
    if may_add && checked.keys_to_encrypt_to().is_empty() {
        return with_part_to_encrypt_to(&renewed, passphrase);
    }
    Ok(renewed)
}

fn newest_self_signature(key: &Tsk) -> Option<&Signature> {
    let details = &key.key().details;
    let users = details.users.iter().flat_map(|user| &user.signatures);
    users.chain(&details.direct_signatures).max_by_key(|one| one.created())
}

/// The key with a new part, made as the parts of a new key of its kind are.
fn with_part_to_encrypt_to(key: &Tsk, passphrase: &Password) -> Result<Tsk> {
    let mut inner = key.key().clone();
    let v6 = inner.version() == KeyVersion::V6;
    let donor = NewKey {
        users: vec!["a part".to_owned()],
        algorithm: kin(inner.primary_key.public_params(), v6),
        v6,
        passphrase: None,
        lifetime_s: None,
        signing_only: false,
    };
    let mut donor = donor.generate()?.key().clone();
    if inner.primary_key.secret_params().is_encrypted() {
        lock(&mut donor, passphrase)?;
    }
    let mut uses = KeyFlags::default();
    uses.set_encrypt_comms(true);
    uses.set_encrypt_storage(true);
    for part in donor.secret_subkeys {
        let primary = &inner.primary_key;
        let bound = part.key.sign(
            Random,
            primary,
            &primary.public_key(),
            passphrase,
            uses.clone(),
            None,
        )?;
        inner.secret_subkeys.push(SignedSecretSubKey::new(part.key, vec![bound]));
    }
    Ok(Tsk::from(inner))
}

/// What the parts of a key with such a primary one are made of.
fn kin(primary: &PublicParams, v6: bool) -> Algorithm {
    match primary {
        PublicParams::RSA(_) => Algorithm::Rsa(3072),
        PublicParams::ECDSA(EcdsaPublicParams::P256 { .. }) => Algorithm::Nist(256),
        PublicParams::ECDSA(EcdsaPublicParams::P384 { .. }) => Algorithm::Nist(384),
        PublicParams::ECDSA(EcdsaPublicParams::P521 { .. }) => Algorithm::Nist(521),
        PublicParams::Ed448(_) if v6 => Algorithm::Curve448,
        _ => Algorithm::Curve25519,
    }
}

/// The certificate with a user id added that it does not have yet, bound by nothing.
#[must_use]
pub fn with_user(certificate: Certificate, user: &str) -> Option<Certificate> {
    let mut inner = SignedPublicKey::from(certificate);
    if inner.details.users.iter().all(|one| one.id.id() != user.as_bytes()) {
        let id = UserId::from_str(pgp::types::PacketHeaderVersion::New, user).ok()?;
        inner.details.users.push(SignedUser { id, signatures: Vec::new() });
    }
    Some(Certificate::from(inner))
}

/// Whether the certificate itself says, at that time, that this user id is its own.
fn claims(certificate: &Checked, user: &SignedUser, at: Timestamp) -> bool {
    let primary = &certificate.as_signed_public_key().primary_key;
    let says_so = |one: &Signature| {
        signature_acceptable(one)
            && one.verify_certification(primary, Tag::UserId, &user.id).is_ok()
    };
    let is_own = |one: &&Signature| {
        one.created().is_some_and(|made| made <= at)
            && (says_so(one) || revokes_user(one, primary, Tag::UserId, &user.id))
    };
    let newest = user.signatures.iter().filter(is_own).max_by_key(|one| one.created());
    newest.is_some_and(|one| !is_revocation(one) && !is_over(one, at))
}

/// The user ids that belong to the certificate at that time, as these authorities see it (3).
#[must_use]
pub fn authenticated_users(
    certificate: &Certificate,
    authorities: &[Certificate],
    at: Timestamp,
) -> Vec<Vec<u8>> {
    let target = Checked::new(certificate.clone());
    if !target.is_valid_at(at) {
        return Vec::new();
    }
    let authorities: Vec<Checked> = authorities.iter().cloned().map(Checked::new).collect();
    let is_trusted = authorities.iter().any(|one| one.fingerprint() == target.fingerprint());
    let original = SignedPublicKey::from(certificate.clone());
    let users = original.details.users.iter().filter(|user| claims(&target, user, at));
    let belonging = users.filter(|user| {
        is_trusted || authorities.iter().any(|one| vouches(one, &original.primary_key, user, at))
    });
    belonging.map(|user| user.id.id().to_vec()).collect()
}

/// Whether the certificate says, at that time, that this user id is its own.
#[must_use]
pub fn has_user(certificate: &Certificate, user: &str, at: Timestamp) -> bool {
    let checked = Checked::new(certificate.clone());
    let original = SignedPublicKey::from(certificate.clone());
    let mut named = original.details.users.iter().filter(|one| one.id.id() == user.as_bytes());
    named.any(|one| claims(&checked, one, at))
}

/// That a user id may be certified: the certificate has it, and says that it is its own.
///
/// # Errors
/// If it is not there, or the certificate does not say, at that time, that it is its own.
pub fn require_user(certificate: &Certificate, user: &str, at: Timestamp) -> Result<()> {
    let inner = SignedPublicKey::from(certificate.clone());
    if inner.details.users.iter().all(|one| one.id.id() != user.as_bytes()) {
        return Err(Error::Name(format!("the certificate has no user id \"{user}\"")));
    }
    if has_user(certificate, user, at) {
        return Ok(());
    }
    let what = format!("the key does not say, or says no more, that it belongs to \"{user}\"");
    Err(Error::UnfitKey(what))
}

/// Whether a key is good at that time, so that its word about others counts.
#[must_use]
pub fn certifier_is_fit(key: &Tsk, at: Timestamp) -> bool {
    Checked::new(certificate_of(key)).is_valid_at(at)
}
