//! Which revocations are true.
//!
//! 1. A hash that is too weak for promises is strong enough to take them back: an attacker who
//!    forges a revocation needs a second text to a hash that is given, and gains nothing that can
//!    be used.
//! 2. The crate `pgp` verifies no hash that is short for its key. Keys but those of RSA sign the
//!    octets of a hash and not its name, so what it asks for is that name alone.

use std::io::Write;

use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::errors::Result;
use pgp::packet::{PublicKey, PublicSubkey, Signature, SignatureType};
use pgp::ser::Serialize;
use pgp::types::{
    Fingerprint, KeyDetails, KeyId, KeyVersion, PublicParams, SignatureBytes, Tag, Timestamp,
    VerifyingKey,
};

/// Whether a signature takes something back.
pub(crate) fn is_revocation(signature: &Signature) -> bool {
    use SignatureType::{CertRevocation, KeyRevocation, SubkeyRevocation};
    matches!(signature.typ(), Some(CertRevocation | KeyRevocation | SubkeyRevocation))
}

/// Whether a signature is a primary key's revocation of itself.
pub(crate) fn revokes_key(signature: &Signature, primary: &PublicKey) -> bool {
    is_revocation(signature) && signature.verify_key(&Revoker(primary)).is_ok()
}

/// Whether it is one of this part.
pub(crate) fn revokes_part(
    signature: &Signature,
    primary: &PublicKey,
    part: &PublicSubkey,
) -> bool {
    is_revocation(signature) && signature.verify_subkey_binding(&Revoker(primary), part).is_ok()
}

/// Whether it is one of this user id, or user attribute.
pub(crate) fn revokes_user(
    signature: &Signature,
    primary: &PublicKey,
    tag: Tag,
    user: &impl Serialize,
) -> bool {
    let by = Revoker(primary);
    is_revocation(signature) && signature.verify_certification(&by, tag, user).is_ok()
}

/// A key that takes something back, by whatever hash (1).
#[derive(Debug)]
pub(crate) struct Revoker<'a>(pub(crate) &'a PublicKey);

/// Shorter ones, such as MD5, are broken whatever they are for.
const DIGEST_MIN: usize = 20;

impl VerifyingKey for Revoker<'_> {
    fn verify(&self, hash: HashAlgorithm, digest: &[u8], raw: &SignatureBytes) -> Result<()> {
        let long = HashAlgorithm::Sha512;
        match self.0.public_params() {
            _ if digest.len() < DIGEST_MIN => self.0.verify(hash, digest, raw),
            PublicParams::RSA(_) => self.0.verify(hash, digest, raw),
            PublicParams::ECDSA(params) => {
                // A number, which zeros in front do not change; half of a field is asked for.
                let length = params.secret_key_length().unwrap_or(0).div_ceil(2);
                let mut padded = vec![0; length.saturating_sub(digest.len())];
                padded.extend_from_slice(digest);
                self.0.verify(long, &padded, raw)
            }
            _ => self.0.verify(long, digest, raw),
        }
    }
}

impl KeyDetails for Revoker<'_> {
    fn version(&self) -> KeyVersion {
        self.0.version()
    }

    fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint()
    }

    fn legacy_key_id(&self) -> KeyId {
        self.0.legacy_key_id()
    }

    fn algorithm(&self) -> PublicKeyAlgorithm {
        self.0.algorithm()
    }

    fn created_at(&self) -> Timestamp {
        self.0.created_at()
    }

    fn legacy_v3_expiration_days(&self) -> Option<u16> {
        self.0.legacy_v3_expiration_days()
    }

    fn public_params(&self) -> &PublicParams {
        self.0.public_params()
    }
}

impl Serialize for Revoker<'_> {
    fn to_writer<W: Write>(&self, writer: &mut W) -> Result<()> {
        self.0.to_writer(writer)
    }

    fn write_len(&self) -> usize {
        self.0.write_len()
    }
}

/// Whether a signature says that it is of this key.
pub(crate) fn is_by(signature: &Signature, key: &(impl KeyDetails + ?Sized)) -> bool {
    signature.issuer_key_id().contains(&&key.legacy_key_id())
        || signature.issuer_fingerprint().contains(&&key.fingerprint())
}

#[cfg(test)]
mod tests {
    use pgp::composed::SignedPublicKey;
    use pgp::packet::{Subpacket, SubpacketData};

    use super::*;
    use crate::bundle::Bundle;
    use crate::usability::{Claim, claim_of, is_revoked};
    use crate::validity::Checked;

    /// Keys of Ed25519 (three), P-256, P-384, P-521, and Ed25519 again, made in 2026. Of these were
    /// taken back the key by SHA-1; part and second user id by SHA-1, by SHA-224 and RIPEMD-160;
    /// the keys on NIST's curves by SHA-1, SHA-1 and SHA-224, the user id of the second and the
    /// part of the third by SHA-1; all of the last one by MD5.
    const SHORT: &[u8] = include_bytes!("../tests/data/short_revocations.pgp");

    #[test]
    fn what_was_taken_back_by_a_short_hash_is_taken_back() {
        let bundle = Bundle::read(SHORT).unwrap();
        let taken_back = bundle.certificates.iter().map(|one| {
            let given = SignedPublicKey::from(one.clone());
            let checked = Checked::new(one.clone());
            let inner = checked.as_signed_public_key();
            let by_user = claim_of(&given.details.users[1], &given.primary_key);
            assert_eq!(claim_of(&given.details.users[0], &given.primary_key), Claim::Good);
            let of_part = inner.public_subkeys[0].signatures.iter().any(is_revocation);
            let of_user = inner.details.users[1].signatures.iter().any(is_revocation);
            assert_eq!(by_user == Claim::Withdrawn, of_user);
            let is_of_use = !checked.keys_to_encrypt_to().is_empty();
            assert_eq!(is_of_use, !is_revoked(&checked) && !of_part);
            (is_revoked(&checked), of_part, of_user)
        });
        let expected = [
            (true, false, false),
            (false, true, true),
            (false, true, true),
            (true, false, false),
            (true, false, true),
            (true, true, false),
            (false, false, false),
        ];
        assert_eq!(taken_back.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn nobody_else_takes_a_key_back_and_no_word_of_it_can_change() {
        let bundle = Bundle::read(SHORT).unwrap();
        let inner = |number: usize| SignedPublicKey::from(bundle.certificates[number].clone());
        for number in [0, 3, 4, 5] {
            let SignedPublicKey { primary_key, details, .. } = inner(number);
            let [true_one] = &details.revocation_signatures[..] else { panic!("{number}") };
            assert!(revokes_key(true_one, &primary_key));
            assert!(!revokes_key(true_one, &inner(1).primary_key));
            let mut config = true_one.config().unwrap().clone();
            let note = SubpacketData::SignersUserID("Eve".into());
            config.hashed_subpackets.push(Subpacket::regular(note).unwrap());
            let (start, raw) = (true_one.signed_hash_value(), true_one.signature().cloned());
            let forged = Signature::from_config(config, start.unwrap(), raw.unwrap()).unwrap();
            assert!(!revokes_key(&forged, &primary_key));
            // The same with what a hash of it begins with: that alone proves nothing.
            let other = with_right_start(&forged, &primary_key).unwrap();
            assert!(!revokes_key(&other, &primary_key));
        }
    }

    /// A forged revocation of a key that says of its hash what is true.
    fn with_right_start(forged: &Signature, primary: &PublicKey) -> Option<Signature> {
        let config = forged.config()?;
        let mut hash = config.hash_alg.new_hasher().ok()?;
        let body = primary.to_bytes().ok()?;
        hash.update(&[0x99]);
        hash.update(&u16::try_from(body.len()).ok()?.to_be_bytes());
        hash.update(&body);
        let length = config.hash_signature_data(&mut hash).ok()?;
        hash.update(&config.trailer(length).ok()?);
        let digest = hash.finalize();
        let raw = forged.signature()?.clone();
        Signature::from_config(config.clone(), [digest[0], digest[1]], raw).ok()
    }
}
