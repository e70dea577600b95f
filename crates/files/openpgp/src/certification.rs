//! One key's word that a user id belongs to another key.
//!
//! 1. How the other key stands in what is hashed follows from the version of the signature, not of
//!    that key (RFC 9580, 5.2.4): keys of versions 4 and 6 certify each other. The crate `pgp` goes
//!    by the key, so for such pairs it neither makes nor accepts what others do.
//! 2. Of several words of one certifier the newest counts, and it may take the others back.
//! 3. A word counts if its certifier was fit to give it then, and still is at the time in question.

use pgp::packet::{PublicKey, Signature, SignatureConfig, SignatureType, UserId};
use pgp::packet::{SignatureVersion, SignatureVersionSpecific};
use pgp::ser::Serialize as _;
use pgp::types::{
    KeyDetails as _, KeyVersion, Password, SignedUser, SigningKey, Timestamp, VerifyingKey as _,
};
use rpgpie::signature::signature_acceptable;

use crate::error::{Error, Result};
use crate::revocation::{Revoker, is_by, is_revocation};
use crate::signature_config::config_for;
use crate::validity::{Checked, is_over};

/// The word of `signer` that this user id belongs to that key.
pub(crate) fn certify(
    signer: &impl SigningKey,
    passphrase: &Password,
    key: &PublicKey,
    user: &UserId,
) -> Result<Signature> {
    let config = config_for(signer, SignatureType::CertGeneric)?;
    let digest = digest(&config, key, user)?;
    let raw = signer.sign(passphrase, config.hash_alg, &digest)?;
    let start = [digest[0], digest[1]];
    Ok(Signature::from_config(config, start, raw)?)
}

/// Whether this certifier says, at that time, that the user id belongs to the key (2, 3).
pub(crate) fn vouches(by: &Checked, key: &PublicKey, user: &SignedUser, at: Timestamp) -> bool {
    use SignatureType::{CertCasual, CertGeneric, CertPositive, CertRevocation};
    let is_fit_at = |second| by.is_valid_at(second);
    let counts = |one: &&Signature| {
        let Some(made) = one.created() else { return false };
        let kinds = [CertPositive, CertGeneric, CertCasual, CertRevocation];
        one.typ().is_some_and(|kind| kinds.contains(&kind))
            && made <= at
            && !is_over(one, at)
            && is_fit_at(made)
            && (is_revocation(one) || signature_acceptable(one))
            && is_right(one, by, key, &user.id)
    };
    if !is_fit_at(at) {
        return false;
    }
    let newest = user.signatures.iter().filter(counts).max_by_key(|one| one.created());
    newest.is_some_and(|one| !is_revocation(one))
}

/// Whether a signature is this certifier's, over this key and user id.
fn is_right(signature: &Signature, by: &Checked, key: &PublicKey, user: &UserId) -> bool {
    let signer = &by.as_signed_public_key().primary_key;
    let (Some(config), Some(raw)) = (signature.config(), signature.signature()) else {
        return false;
    };
    let is_v6 = config.version() == SignatureVersion::V6;
    let same_age = is_v6 == (signer.version() == KeyVersion::V6);
    let Ok(digest) = digest(config, key, user) else { return false };
    same_age
        && is_by(signature, signer)
        && signature.signed_hash_value() == Some([digest[0], digest[1]])
        && match is_revocation(signature) {
            true => Revoker(signer).verify(config.hash_alg, &digest, raw).is_ok(),
            false => signer.verify(config.hash_alg, &digest, raw).is_ok(),
        }
}

/// What is signed (1).
fn digest(config: &SignatureConfig, key: &PublicKey, user: &UserId) -> Result<Box<[u8]>> {
    let long = |_| Error::NotOpenPgp("a key is too long to be certified".to_owned());
    let mut hash = config.hash_alg.new_hasher().map_err(pgp::errors::Error::from)?;
    if let SignatureVersionSpecific::V6 { salt } = &config.version_specific {
        hash.update(salt);
    }
    let body = key.to_bytes()?;
    match config.version() {
        SignatureVersion::V6 => {
            hash.update(&[0x9B]);
            hash.update(&u32::try_from(body.len()).map_err(long)?.to_be_bytes());
        }
        _ => {
            hash.update(&[0x99]);
            hash.update(&u16::try_from(body.len()).map_err(long)?.to_be_bytes());
        }
    }
    hash.update(&body);
    let name = user.id();
    // Those before version 4 hash the bare name.
    if !matches!(config.version(), SignatureVersion::V2 | SignatureVersion::V3) {
        hash.update(&[0xB4]);
        hash.update(&u32::try_from(name.len()).map_err(long)?.to_be_bytes());
    }
    hash.update(name);
    let length = config.hash_signature_data(&mut hash)?;
    hash.update(&config.trailer(length)?);
    Ok(hash.finalize())
}
