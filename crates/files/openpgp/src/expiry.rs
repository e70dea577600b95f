//! When keys end: signed anew by the key itself, wherever it is.
//!
//! 1. A new end is a new signature beside the old ones; the newest counts, in every program.
//! 2. Parts that end together with the key go on ending together with it; within a day is together,
//!    as parts are often made after the key. A part with an end of its own, and one that was
//!    revoked, is left alone.
//! 3. Only what proves itself is signed anew: anybody can add user ids and parts to a certificate.

use pgp::composed::SignedKeyDetails;
use pgp::packet::{
    PublicKey, PublicSubkey, Signature, SignatureConfig, SignatureType, Subpacket, SubpacketData,
};
use pgp::types::{Duration, KeyDetails, Password, SigningKey, Tag, Timestamp};
use seam::clock::{Clock as _, RealClock};

use crate::error::{Error, Result};
use crate::revocation::{is_by, revokes_part};
use crate::signature_config::config_for;
use crate::usability::{Claim, claim_of};
use crate::validity::end_by;

/// Times of signatures are whole seconds, and the latest one counts: a new one in the second of the
/// last one would be a matter of chance. A clock that went back is not waited for.
pub(crate) fn wait_for_a_later_second(details: &SignedKeyDetails) {
    let users = details.users.iter().flat_map(|user| &user.signatures);
    let latest = users.chain(&details.direct_signatures).filter_map(Signature::created).max();
    let clock = RealClock::new();
    for _ in 0..24 {
        if latest != Some(Timestamp::now()) {
            return;
        }
        clock.sleep(std::time::Duration::from_millis(50));
    }
}

/// So far apart may what ends together end.
const TOGETHER_S_MAX: u64 = 86_400;

/// A new end of a key, and the key that signs it.
pub(crate) struct NewEnd<'a, K> {
    pub(crate) signer: &'a K,
    pub(crate) passphrase: &'a Password,
    pub(crate) public: &'a PublicKey,
    /// When it ends, in seconds since 1970; nothing for never.
    pub(crate) until: Option<u32>,
}

/// So many seconds from now, in seconds since 1970.
pub(crate) fn from_now(lifetime_s: Option<u32>) -> Option<u32> {
    lifetime_s.map(|lifetime| Timestamp::now().as_secs().saturating_add(lifetime))
}

impl<K: SigningKey> NewEnd<'_, K> {
    /// Signs anew what says when the key ends. What was signed in this very second is replaced: it
    /// is of a key that is still being made.
    ///
    /// Gives the end that the key had before, in seconds since 1970.
    pub(crate) fn of_key(&self, details: &mut SignedKeyDetails) -> Result<Option<u64>> {
        let (mut by_user, mut by_key): (Option<Signature>, _) = (None, None);
        let own = |one: &&Signature| is_by(one, self.public);
        for user in &mut details.users {
            // One that was taken back stays so.
            if claim_of(user, self.public) == Claim::Withdrawn {
                continue;
            }
            let proven = |one: &&Signature| {
                own(one)
                    && one.typ() != Some(SignatureType::CertRevocation)
                    && one.verify_certification(self.public, Tag::UserId, &user.id).is_ok()
            };
            let newest = user.signatures.iter().filter(proven).max_by_key(|one| one.created());
            let Some(newest) = newest.cloned() else { continue };
            let config = self.renewed(&newest, self.public)?;
            let (signer, passphrase) = (self.signer, self.passphrase);
            let made = config.sign_certification(
                signer,
                self.public,
                passphrase,
                Tag::UserId,
                &user.id,
            )?;
            user.signatures.retain(|one| !own(&one) || one.created() < made.created());
            user.signatures.push(made);
            by_user = later(by_user, newest);
        }
        let proven = |one: &&Signature| own(one) && one.verify_key(self.public).is_ok();
        let direct = details.direct_signatures.iter().filter(proven);
        if let Some(newest) = direct.max_by_key(|one| one.created()).cloned() {
            let config = self.renewed(&newest, self.public)?;
            let made = config.sign_key(self.signer, self.passphrase, self.public)?;
            details.direct_signatures.retain(|one| !own(&one) || one.created() < made.created());
            details.direct_signatures.push(made);
            by_key = Some(newest);
        }
        // One of them may say nothing of an end.
        let both = by_user.iter().chain(&by_key);
        Ok(both.filter_map(|newest| end_by(newest, self.public)).min())
    }

    /// The same for a part, if it ended together with the key (2).
    pub(crate) fn of_part(
        &self,
        part: &PublicSubkey,
        signatures: &mut Vec<Signature>,
        before: Option<u64>,
    ) -> Result<()> {
        let is_revoked = signatures.iter().any(|one| revokes_part(one, self.public, part));
        let newest = signatures.iter().filter(|one| {
            one.typ() == Some(SignatureType::SubkeyBinding)
                && one.verify_subkey_binding(self.public, part).is_ok()
        });
        let newest = newest.max_by_key(|one| one.created());
        let Some(newest) = newest.filter(|_| !is_revoked) else { return Ok(()) };
        let (Some(end), Some(before)) = (end_by(newest, part), before) else { return Ok(()) };
        if end.abs_diff(before) > TOGETHER_S_MAX {
            return Ok(());
        }
        let mut config = self.renewed(newest, part)?;
        // A part that signs says itself whose it is; others keep that beside what is hashed.
        let beside = newest.config().into_iter().flat_map(|config| &config.unhashed_subpackets);
        let kept = beside.filter(|one| matches!(one.data, SubpacketData::EmbeddedSignature(_)));
        config.unhashed_subpackets.extend(kept.cloned());
        let made = config.sign_subkey_binding(self.signer, self.public, self.passphrase, part)?;
        signatures.push(made);
        Ok(())
    }

    /// What an older signature said, with a new time and the new end of this key.
    fn renewed(&self, old: &Signature, of: &impl KeyDetails) -> Result<SignatureConfig> {
        let unknown =
            || Error::Unsupported("a signature of this key is of an unknown form".to_owned());
        let before = old.config().ok_or_else(unknown)?;
        let mut config = config_for(self.signer, before.typ)?;
        let kept = before.hashed_subpackets.iter().filter(|part| {
            !matches!(
                part.data,
                SubpacketData::SignatureCreationTime(_)
                    | SubpacketData::IssuerFingerprint(_)
                    | SubpacketData::IssuerKeyId(_)
                    | SubpacketData::KeyExpirationTime(_)
            )
        });
        config.hashed_subpackets.extend(kept.cloned());
        if let Some(until) = self.until {
            let lifetime = until.saturating_sub(of.created_at().as_secs()).max(1);
            let end = SubpacketData::KeyExpirationTime(Duration::from_secs(lifetime));
            config.hashed_subpackets.push(Subpacket::regular(end)?);
        }
        Ok(config)
    }
}

/// The later one of two signatures.
fn later(one: Option<Signature>, other: Signature) -> Option<Signature> {
    one.filter(|one| one.created() > other.created()).or(Some(other))
}

#[cfg(test)]
mod tests {
    use pgp::composed::SignedSecretKey;

    use super::*;
    use crate::keys::{Algorithm, NewKey};

    const DAY_S: u64 = 86_400;

    fn key() -> SignedSecretKey {
        let new = NewKey {
            users: vec!["Ada".to_owned()],
            algorithm: Algorithm::Curve25519,
            v6: false,
            passphrase: None,
            lifetime_s: Some(40 * 86_400),
            signing_only: false,
        };
        new.generate().unwrap().key().clone()
    }

    /// Whether a part that ends so many seconds after its key gets the new end of that, too.
    fn part_moves(ahead_s: i64, spoil: impl FnOnce(&mut SignedSecretKey)) -> bool {
        let mut key = key();
        let signer = key.primary_key.clone();
        let (public, none) = (signer.public_key(), Password::empty());
        let end = |until: u64| NewEnd {
            signer: &signer,
            passphrase: &none,
            public,
            until: Some(u32::try_from(until).unwrap()),
        };
        let made = u64::from(public.created_at().as_secs());
        let before = made + 40 * DAY_S;
        let part = &mut key.secret_subkeys[0];
        let mut config = config_for(&signer, SignatureType::SubkeyBinding).unwrap();
        let lasts = (40 * DAY_S).checked_add_signed(ahead_s).unwrap();
        let lasts =
            SubpacketData::KeyExpirationTime(Duration::from_secs(u32::try_from(lasts).unwrap()));
        config.hashed_subpackets.push(Subpacket::regular(lasts).unwrap());
        let of = part.key.public_key();
        part.signatures.push(config.sign_subkey_binding(&signer, public, &none, of).unwrap());
        spoil(&mut key);
        let last = before + 40 * DAY_S;
        let known = end(last).of_key(&mut key.details).unwrap();
        assert_eq!(known, Some(before));
        let part = &mut key.secret_subkeys[0];
        let of = part.key.public_key();
        end(last).of_part(of, &mut part.signatures, known).unwrap();
        let bindings =
            part.signatures.iter().filter(|one| one.verify_subkey_binding(public, of).is_ok());
        end_by(bindings.last().unwrap(), of) == Some(last)
    }

    #[test]
    fn parts_that_end_with_the_key_within_a_day_go_on_ending_with_it() {
        for (ahead_s, moves) in [
            (0, true),
            (1, true),
            (-3_600, true),
            (86_400, true),
            (86_401, false),
            (-90_000, false),
        ] {
            assert_eq!(part_moves(ahead_s, |_| ()), moves, "{ahead_s}");
        }
    }

    #[test]
    fn a_revocation_by_another_key_leaves_no_part_behind() {
        assert!(part_moves(0, |key| {
            let other = self::key().primary_key;
            let config = config_for(&other, SignatureType::SubkeyRevocation).unwrap();
            let part = &mut key.secret_subkeys[0];
            let of = part.key.public_key();
            let public = key.primary_key.public_key();
            let forged = config.sign_subkey_binding(&other, public, &Password::empty(), of);
            part.signatures.push(forged.unwrap());
        }));
    }

    #[test]
    fn a_word_of_the_key_that_says_nothing_of_an_end_leaves_no_part_behind() {
        assert!(part_moves(0, |key| {
            let config = config_for(&key.primary_key, SignatureType::Key).unwrap();
            let public = key.primary_key.public_key();
            let signature = config.sign_key(&key.primary_key, &Password::empty(), public).unwrap();
            key.details.direct_signatures.push(signature);
        }));
    }
}
