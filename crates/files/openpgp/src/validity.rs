//! Which parts of a certificate count at a time, and what they may do.
//!
//! 1. Only what proves itself and is strong enough for its time is looked at: the library says
//!    which signatures do.
//! 2. A revocation of a key that may be of a stolen one counts for all times, others from their own
//!    on. Nothing that is said later takes one back; user ids may be certified anew.
//! 3. Of other signatures the newest counts that was made until the time in question and has not
//!    expired; if there is none, the newest that was made since. Of one second, the strictest does.
//! 4. Times are added in 64 bits: an end beyond the year 2106 has not come.
//! 5. A part signs data for the certificate only if it has said itself, by its own key, whose it
//!    is: anybody can bind the key of another to their own.
//! 6. What is said with the primary user id comes first, what is said of the key itself second; of
//!    the ends that they say the earlier counts.
//! 7. What a part may do is said where it is bound; if it is not, then of the key itself.
//! 8. Clocks differ: what is made a little later than it is here has been made ([`AHEAD_MAX_S`]).

use std::cmp::Reverse;

use pgp::composed::{SignedPublicKey, SignedPublicSubKey};
use pgp::crypto::aead::AeadAlgorithm;
use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::sym::SymmetricKeyAlgorithm;
use pgp::packet::{
    Features, KeyFlags, PublicKey, PublicSubkey, RevocationCode, Signature, Subpacket,
    SubpacketData,
};
use pgp::types::{
    CompressionAlgorithm, EcdhPublicParams, Fingerprint, KeyDetails, KeyVersion, PublicParams,
    SignedUser, Tag, Timestamp,
};
use rpgpie::certificate::{Certificate, Checked as Proven};
use rpgpie::key::ComponentKeyPub;
use rpgpie::signature::signature_acceptable;

use crate::revocation::{is_by, is_revocation, revokes_key, revokes_part, revokes_user};
use crate::strength::weakness;

/// So far, in seconds, the clock of a signer or a key's maker may be ahead of the one here (8).
/// Sequoia takes as much.
const AHEAD_MAX_S: u32 = 30 * 60;

/// Until when what says its time may have been made by now (8).
pub(crate) fn latest() -> Timestamp {
    Timestamp::from_secs(Timestamp::now().as_secs().saturating_add(AHEAD_MAX_S))
}

/// A certificate, of which only what proves itself is left.
pub(crate) struct Checked {
    inner: SignedPublicKey,
    fingerprint: Fingerprint,
}

impl Checked {
    /// Leaves out of a certificate what does not prove itself. The library also leaves out what was
    /// signed with a hash that is too weak for promises; to take a key back it is strong enough.
    pub(crate) fn new(certificate: Certificate) -> Checked {
        let given = SignedPublicKey::from(certificate.clone());
        let proven = Proven::new(certificate);
        let mut inner = proven.as_signed_public_key().clone();
        let primary = &given.primary_key;
        let known = &mut inner.details.revocation_signatures;
        let proves = |one: &Signature| revokes_key(one, primary);
        add_revocations(known, &given.details.revocation_signatures, primary, proves);
        for part in &mut inner.public_subkeys {
            let given = given.public_subkeys.iter().find(|one| one.key == part.key);
            let proves = |one: &Signature| revokes_part(one, primary, &part.key);
            let all = given.map_or(&[][..], |given| &given.signatures);
            add_revocations(&mut part.signatures, all, primary, proves);
        }
        for (user, given) in inner.details.users.iter_mut().zip(&given.details.users) {
            let proves = |one: &Signature| revokes_user(one, primary, Tag::UserId, &given.id);
            add_revocations(&mut user.signatures, &given.signatures, primary, proves);
        }
        Checked { inner, fingerprint: proven.fingerprint().clone() }
    }

    pub(crate) fn as_signed_public_key(&self) -> &SignedPublicKey {
        &self.inner
    }

    pub(crate) fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    pub(crate) fn user_ids(&self) -> &[SignedUser] {
        &self.inner.details.users
    }

    /// When its primary key was made.
    pub(crate) fn made(&self) -> Timestamp {
        self.inner.primary_key.created_at()
    }

    /// What time it is for the certificate: the one here, or the one at which its owner, whose
    /// clock is a little ahead, has made the last thing in it (8).
    pub(crate) fn present(&self) -> Timestamp {
        let inner = &self.inner;
        let parts = inner.public_subkeys.iter();
        let keys = parts.clone().map(|part| part.key.created_at());
        let details = &inner.details;
        let dated = details.direct_signatures.iter().chain(&details.revocation_signatures);
        let dated = dated.chain(details.users.iter().flat_map(|user| &user.signatures));
        let dated = dated.chain(parts.flat_map(|part| &part.signatures));
        let all = keys.chain(dated.filter_map(Signature::created)).chain([self.made()]);
        let latest = latest();
        all.filter(|made| *made <= latest).fold(Timestamp::now(), Timestamp::max)
    }

    /// The user id that stands for the certificate now.
    pub(crate) fn primary_user_id(&self) -> Option<&SignedUser> {
        self.primary_user_at(self.present()).map(|(user, _)| user)
    }

    /// Of the user ids that count the newest that is marked as primary; if none is, the newest.
    fn primary_user_at(&self, at: Timestamp) -> Option<(&SignedUser, &Signature)> {
        let bound = self.user_ids().iter().filter_map(|user| {
            let active = user_active_at(&user.signatures, at, self.made())?;
            (!is_revocation(active)).then_some((user, active))
        });
        let rank = |one: &Signature| (one.is_primary(), one.created());
        bound.reduce(|one, other| if rank(other.1) > rank(one.1) { other } else { one })
    }

    /// What the primary key says of itself, without a user id.
    fn direct_at(&self, at: Timestamp) -> Option<&Signature> {
        let details = &self.inner.details;
        let all = details.direct_signatures.iter().chain(&details.revocation_signatures);
        active_at(all, at, self.made())
    }

    /// What the owner says of the certificate: with the primary user id, then of the key itself.
    /// What the first does not say the second does (6). In version 6 only the second counts.
    pub(crate) fn says_at(&self, at: Timestamp) -> Vec<&Signature> {
        let direct = self.direct_at(at).filter(|one| !is_revocation(one));
        let by_user = match self.inner.version() {
            KeyVersion::V6 => None,
            _ => self.primary_user_at(at).map(|(_, signature)| signature),
        };
        by_user.into_iter().chain(direct).collect()
    }

    /// When the certificate ends by the strictest of that, in seconds since 1970.
    pub(crate) fn end_at(&self, at: Timestamp) -> Option<u64> {
        let subpackets = self.says_at(at).into_iter();
        subpackets.filter_map(|one| end_by(one, &self.inner.primary_key)).min()
    }

    /// Whether the certificate as a whole counts at that time.
    pub(crate) fn is_valid_at(&self, at: Timestamp) -> bool {
        let has_ended = self.end_at(at).is_some_and(|end| end <= u64::from(at.as_secs()));
        let binds = !self.is_revoked_at(at) && !self.says_at(at).is_empty() && !has_ended;
        binds && at >= self.made() && weakness(&self.inner.primary_key, at.as_secs()).is_none()
    }

    /// Whether the certificate as a whole was taken back as of that time.
    pub(crate) fn is_revoked_at(&self, at: Timestamp) -> bool {
        self.direct_at(at).is_some_and(is_revocation)
    }

    pub(crate) fn ciphers(&self, at: Timestamp) -> Option<&[SymmetricKeyAlgorithm]> {
        self.listed(at, Signature::preferred_symmetric_algs)
    }

    pub(crate) fn modes(&self, at: Timestamp) -> Option<&[(SymmetricKeyAlgorithm, AeadAlgorithm)]> {
        self.listed(at, Signature::preferred_aead_algs)
    }

    pub(crate) fn compressions(&self, at: Timestamp) -> Option<&[CompressionAlgorithm]> {
        self.listed(at, Signature::preferred_compression_algs)
    }

    /// What the owner prefers of something; empty if that is not said.
    fn listed<'a, T>(
        &'a self,
        at: Timestamp,
        list: impl Fn(&'a Signature) -> &'a [T],
    ) -> Option<&'a [T]> {
        let subpackets = self.says_at(at);
        let dated = subpackets.iter().map(|one| list(one)).find(|list| !list.is_empty());
        dated.or_else(|| subpackets.first().map(|one| list(one)))
    }

    pub(crate) fn features(&self, at: Timestamp) -> Option<&Features> {
        self.says_at(at).into_iter().find_map(Signature::features)
    }

    /// The keys that one may encrypt to now.
    pub(crate) fn keys_to_encrypt_to(&self) -> Vec<ComponentKeyPub> {
        let mut keys = self.keys_at(self.present());
        let wraps = |flags: &KeyFlags| flags.encrypt_comms() || flags.encrypt_storage();
        keys.retain(|one| one.flags.as_ref().is_some_and(wraps) && wraps_well(&one.key));
        keys.into_iter().map(|one| one.key).collect()
    }

    /// The keys that may sign data at that time; parts must have said themselves whose they are.
    pub(crate) fn signing_keys_at(&self, at: Timestamp) -> Vec<ComponentKeyPub> {
        let mut keys = self.keys_at(at);
        let primary = &self.inner.primary_key;
        keys.retain(|one| {
            one.flags.as_ref().is_some_and(KeyFlags::sign) && one.is_mutual_at(primary, at)
        });
        keys.into_iter().map(|one| one.key).collect()
    }

    /// The keys that count at that time.
    fn keys_at(&self, at: Timestamp) -> Vec<Part<'_>> {
        if !self.is_valid_at(at) {
            return Vec::new();
        }
        let flags = self.says_at(at).into_iter().find_map(flags_of);
        let by_user = || self.primary_user_at(at).and_then(|(_, one)| flags_of(one));
        let inner = &self.inner;
        let primary = Part {
            key: ComponentKeyPub::Primary(inner.primary_key.clone()),
            forms: Vec::new(),
            flags: flags.or_else(by_user),
        };
        // A part of which nothing is said may do what is said of the key as a whole (7).
        let direct = self.direct_at(at).filter(|one| !is_revocation(one)).and_then(flags_of);
        let part = |part| {
            let mut part = part_at(part, self.made(), at)?;
            part.flags = part.flags.or_else(|| direct.clone());
            Some(part)
        };
        std::iter::once(primary).chain(inner.public_subkeys.iter().filter_map(part)).collect()
    }
}

/// Takes over revocations that prove themselves and are not there yet.
fn add_revocations(
    known: &mut Vec<Signature>,
    all: &[Signature],
    by: &PublicKey,
    proves: impl Fn(&Signature) -> bool,
) {
    for one in all.iter().filter(|one| is_revocation(one) && is_by(one, by)) {
        if !known.contains(one) && proves(one) {
            known.push(one.clone());
        }
    }
}

/// A key that counts, and what it may be used for.
struct Part<'a> {
    key: ComponentKeyPub,
    /// The forms of the signature that binds it, unless it is the primary one. They differ in what
    /// stands beside what is signed.
    forms: Vec<&'a Signature>,
    flags: Option<KeyFlags>,
}

impl Part<'_> {
    /// Whether it is the primary key, or has said itself by then whose it is (5).
    fn is_mutual_at(&self, primary: &PublicKey, at: Timestamp) -> bool {
        let ComponentKeyPub::Subkey(part) = &self.key else { return true };
        let mut words = self.forms.iter().flat_map(|form| words_of(form, part, primary));
        words.any(|word| signature_acceptable(word) && !is_over(word, at))
    }
}

/// What a part itself has said of whose it is, in what binds it (5). That is proven by itself, and
/// may stand where it is not signed with the rest: adding one that proves nothing hides none.
pub(crate) fn words_of<'a>(
    bound: &'a Signature,
    part: &PublicSubkey,
    primary: &PublicKey,
) -> impl Iterator<Item = &'a Signature> {
    let areas = bound.config().map(|dated| [&dated.hashed_subpackets, &dated.unhashed_subpackets]);
    let all = areas.into_iter().flatten().flatten();
    all.filter_map(|one| word_in(one, part, primary))
}

/// What a part itself has said of whose it is, if that is what stands here.
pub(crate) fn word_in<'a>(
    one: &'a Subpacket,
    part: &PublicSubkey,
    primary: &PublicKey,
) -> Option<&'a Signature> {
    let SubpacketData::EmbeddedSignature(word) = &one.data else { return None };
    let made = word.created()?;
    let is_timely = part.created_at() <= made && made <= latest();
    (is_timely && word.verify_primary_key_binding(part, primary).is_ok()).then_some(&**word)
}

/// A part, if it counts at that time.
fn part_at(part: &SignedPublicSubKey, primary_made: Timestamp, at: Timestamp) -> Option<Part<'_>> {
    let bound = active_at(&part.signatures, at, primary_made)?;
    let counts = !is_revocation(bound)
        && part.key.created_at() <= at
        && lasts(bound, &part.key, at)
        && weakness(&part.key, at.as_secs()).is_none();
    counts.then(|| Part {
        key: ComponentKeyPub::Subkey(part.key.clone()),
        forms: part.signatures.iter().filter(|one| hashed(one) == hashed(bound)).collect(),
        flags: flags_of(bound),
    })
}

/// What of a signature is signed.
fn hashed(signature: &Signature) -> Option<&[Subpacket]> {
    signature.config().map(|dated| &dated.hashed_subpackets[..])
}

/// Of the signatures about a key the one that counts at that time (2, 3).
fn active_at<'a>(
    all: impl IntoIterator<Item = &'a Signature>,
    at: Timestamp,
    key_made: Timestamp,
) -> Option<&'a Signature> {
    let (revocations, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|one| is_revocation(one));
    if let Some(hard) = revocations.iter().find(|one| is_hard(one)) {
        return Some(hard);
    }
    let is_of = |one: &&Signature, until: Timestamp| {
        one.created().is_some_and(|made| key_made <= made && made <= until)
    };
    let soft = revocations.into_iter().filter(|one| is_of(one, at)).reduce(stricter);
    soft.or_else(|| {
        let latest = latest();
        let counts =
            |one: &&Signature| is_of(one, latest) && signature_acceptable(one) && !is_over(one, at);
        let counting = others.into_iter().filter(counts);
        let (before, since): (Vec<_>, Vec<_>) = counting.partition(|one| is_of(one, at));
        before.into_iter().reduce(stricter).or_else(|| since.into_iter().reduce(stricter))
    })
}

/// The same of a user id: that it was taken back counts from then on, until it is certified anew.
fn user_active_at(all: &[Signature], at: Timestamp, key_made: Timestamp) -> Option<&Signature> {
    let latest = latest();
    let made_until = |one: &&Signature, until: Timestamp| {
        one.created().is_some_and(|made| key_made <= made && made <= until)
    };
    let counts =
        |one: &&Signature| is_revocation(one) || (signature_acceptable(one) && !is_over(one, at));
    let counting = all.iter().filter(|one| made_until(one, latest)).filter(counts);
    let (before, since): (Vec<_>, Vec<_>) = counting.partition(|one| made_until(one, at));
    let since = || since.into_iter().filter(|one| !is_revocation(one)).reduce(stricter);
    before.into_iter().reduce(stricter).or_else(since)
}

/// The newer one of two signatures; of two of one second the one that allows less, in whatever
/// order they stand.
fn stricter<'a>(one: &'a Signature, other: &'a Signature) -> &'a Signature {
    let rank = |one: &Signature| {
        let lifetime = one.key_expiration_time().map_or(0, |time| time.as_secs());
        let lasts = if lifetime == 0 { u32::MAX } else { lifetime };
        let flags = flags_of(one).unwrap_or_default();
        let uses = [flags.sign(), flags.encrypt_comms(), flags.encrypt_storage(), flags.certify()];
        let uses = uses.into_iter().filter(|may| *may).count();
        (one.created(), is_revocation(one), Reverse(lasts), Reverse(uses))
    };
    if rank(other) > rank(one) { other } else { one }
}

/// Whether a signature is a revocation that does not say that no one else had the key.
fn is_hard(signature: &Signature) -> bool {
    use RevocationCode::{CertUserIdInvalid, KeyRetired, KeySuperseded};
    let reason = signature.revocation_reason_code();
    let is_soft = matches!(reason, Some(KeyRetired | CertUserIdInvalid | KeySuperseded));
    is_revocation(signature) && !is_soft
}

/// Whether a signature has expired at that time (4).
pub(crate) fn is_over(signature: &Signature, at: Timestamp) -> bool {
    let lifetime = signature.signature_expiration_time().map_or(0, |time| time.as_secs());
    let made = signature.created().map_or(0, Timestamp::as_secs);
    lifetime != 0 && u64::from(made) + u64::from(lifetime) <= u64::from(at.as_secs())
}

/// When a key ends by what this signature says of it, in seconds since 1970 (4).
pub(crate) fn end_by(signature: &Signature, key: &(impl KeyDetails + ?Sized)) -> Option<u64> {
    let lifetime = signature.key_expiration_time()?.as_secs();
    (lifetime != 0).then(|| u64::from(key.created_at().as_secs()) + u64::from(lifetime))
}

/// Whether a key has not come to the end that this signature says it has.
pub(crate) fn lasts(signature: &Signature, key: &impl KeyDetails, at: Timestamp) -> bool {
    end_by(signature, key).is_none_or(|end| u64::from(at.as_secs()) < end)
}

/// What a signature lets a key do, if it says that.
pub(crate) fn flags_of(signature: &Signature) -> Option<KeyFlags> {
    hashed(signature)?.iter().find_map(|one| match &one.data {
        SubpacketData::KeyFlags(flags) => Some(flags.clone()),
        _ => None,
    })
}

/// Whether a key wraps others by what is strong enough.
fn wraps_well(key: &ComponentKeyPub) -> bool {
    use EcdhPublicParams::{Curve25519Legacy, P256, P384, P521};
    use HashAlgorithm::{Sha256, Sha384, Sha512};
    use SymmetricKeyAlgorithm::{AES128, AES192, AES256};
    match key.public_params() {
        PublicParams::ECDH(
            Curve25519Legacy { hash, alg_sym, .. }
            | P256 { hash, alg_sym, .. }
            | P384 { hash, alg_sym, .. }
            | P521 { hash, alg_sym, .. },
        ) => {
            matches!(hash, Sha256 | Sha384 | Sha512) && matches!(alg_sym, AES128 | AES192 | AES256)
        }
        // Whatever their flags say, these only sign.
        PublicParams::DSA(_)
        | PublicParams::ECDSA(_)
        | PublicParams::EdDSALegacy(_)
        | PublicParams::Ed25519(_)
        | PublicParams::Ed448(_) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use pgp::composed::SignedSecretKey;
    use pgp::packet::{SignatureConfig, SignatureType};
    use pgp::types::{Duration, Password};
    use rpgpie::tsk::Tsk;

    use super::*;
    use crate::detached::{sign_detached, verify_detached};
    use crate::expiry::wait_for_a_later_second;
    use crate::keys::{Algorithm, NewKey, certificate_of, key_with_revocation, revoke};
    use crate::reading::Reading;
    use crate::sign::Signer;
    use crate::stats::Stats;
    use crate::usability::end_of;
    use crate::writing::Writing;

    fn key() -> SignedSecretKey {
        let new = NewKey {
            users: vec!["Ada".to_owned()],
            algorithm: Algorithm::Curve25519,
            v6: false,
            passphrase: None,
            lifetime_s: None,
            signing_only: false,
        };
        new.generate().unwrap().key().clone()
    }

    /// What a signature says, said again now, with this in it.
    fn again(old: &Signature, added: &SubpacketData) -> SignatureConfig {
        let mut config = old.config().unwrap().clone();
        let parts = &mut config.hashed_subpackets;
        parts.retain(|one| !matches!(one.data, SubpacketData::SignatureCreationTime(_)));
        let made = SubpacketData::SignatureCreationTime(Timestamp::now());
        parts.extend([&made, added].map(|data| Subpacket::regular(data.clone()).unwrap()));
        config
    }

    /// The key, whose user id and part are bound by words with this in them.
    fn saying(mut key: SignedSecretKey, added: &SubpacketData) -> Tsk {
        let (primary, none) = (key.primary_key.clone(), Password::empty());
        let public = primary.public_key();
        let user = &mut key.details.users[0];
        let config = again(&user.signatures[0], added);
        let dated = config.sign_certification(&primary, public, &none, Tag::UserId, &user.id);
        user.signatures = vec![dated.unwrap()];
        let part = &mut key.secret_subkeys[0];
        let config = again(&part.signatures[0], added);
        let of = part.key.public_key();
        let dated = config.sign_subkey_binding(&primary, public, &none, of);
        part.signatures = vec![dated.unwrap()];
        Tsk::from(key)
    }

    fn checked(key: &Tsk) -> Checked {
        Checked::new(certificate_of(key))
    }

    /// Whether something can be encrypted to a key, and what it signs now is good.
    fn is_of_use(key: &Tsk) -> (bool, bool) {
        let signers = Signer::of(key, &[]).unwrap_or_default();
        let (mut data, stats) = (&b"at rest"[..], Stats::default());
        let made = sign_detached(&mut data, &signers, false, None, false, &stats);
        let good = made.is_ok_and(|signature| {
            let known = [certificate_of(key)];
            let mut data = &b"at rest"[..];
            let judged = verify_detached(&mut data, &signature, &known, false, &stats);
            judged.is_ok_and(|judged| !judged.verified.is_empty())
        });
        (!checked(key).keys_to_encrypt_to().is_empty(), good)
    }

    /// Words about whose a part is, made by this key.
    fn word_by(key: &SignedSecretKey, primary: &PublicKey) -> Signature {
        let mut config = again(
            &key.secret_subkeys[0].signatures[0],
            &SubpacketData::SignatureExpirationTime(Duration::from_secs(0)),
        );
        config.typ = SignatureType::KeyBinding;
        let own = key.primary_key.public_key();
        config.sign_primary_key_binding(&key.primary_key, own, &Password::empty(), primary).unwrap()
    }

    #[test]
    fn the_word_of_another_key_makes_no_part_sign() {
        let (mine, stolen) = (key(), key());
        let primary = mine.primary_key.public_key();
        let part = stolen.secret_subkeys[0].key.public_key();
        let mut bound = mine.secret_subkeys[0].signatures[0].clone();
        let junk = SubpacketData::EmbeddedSignature(Box::new(word_by(&mine, primary)));
        bound.unhashed_subpacket_push(Subpacket::regular(junk).unwrap()).unwrap();
        assert!(bound.embedded_signature().is_some());
        assert_eq!(words_of(&bound, part, primary).count(), 0);
    }

    #[test]
    fn a_part_of_which_nothing_is_said_may_do_what_is_said_of_the_key() {
        let plain = key();
        let (primary, none) = (plain.primary_key.clone(), Password::empty());
        let public = primary.public_key();
        let direct = |wraps: bool| {
            let mut flags = KeyFlags::default();
            flags.set_certify(true);
            flags.set_encrypt_comms(wraps);
            let mut config =
                again(&plain.details.users[0].signatures[0], &SubpacketData::KeyFlags(flags));
            config.hashed_subpackets.retain(|one| match &one.data {
                SubpacketData::KeyFlags(flags) => flags.certify() && !flags.sign(),
                _ => true,
            });
            config.typ = SignatureType::Key;
            config.sign_key(&primary, &none, public).unwrap()
        };
        let part = &plain.secret_subkeys[0];
        let nothing = SubpacketData::KeyExpirationTime(Duration::from_secs(0));
        let mut config = again(&part.signatures[0], &nothing);
        config.hashed_subpackets.retain(|one| !matches!(one.data, SubpacketData::KeyFlags(_)));
        let bound = config.sign_subkey_binding(&primary, public, &none, part.key.public_key());
        let bound = bound.unwrap();
        for (direct, wraps) in
            [(None, false), (Some(direct(false)), false), (Some(direct(true)), true)]
        {
            let mut key = plain.clone();
            key.details.direct_signatures = direct.into_iter().collect();
            key.secret_subkeys[0].signatures = vec![bound.clone()];
            let key = Tsk::from(key);
            assert_eq!(is_of_use(&key), (wraps, true));
            if wraps {
                let recipients = vec![certificate_of(&key)];
                let writing = Writing { recipients, ..Writing::default() };
                let (mut message, mut data) = (Vec::new(), Vec::new());
                let stats = Stats::default();
                writing.run(&mut &b"at rest"[..], &mut message, &stats).unwrap();
                let reading = Reading { keys: vec![key], ..Reading::default() };
                reading.run(&mut &message[..], &mut data, &stats).unwrap();
                assert_eq!(data, b"at rest");
            }
        }
    }

    #[test]
    fn an_end_beyond_the_year_2106_has_not_come() {
        let key = key();
        let made = key.primary_key.created_at().as_secs();
        let last = u32::MAX - made;
        for lifetime in [last - 100, last, last + 1, last + 100, u32::MAX] {
            let time = Duration::from_secs(lifetime);
            let ending = saying(key.clone(), &SubpacketData::KeyExpirationTime(time));
            assert_eq!(is_of_use(&ending), (true, true), "{lifetime}");
            let end = u64::from(made) + u64::from(lifetime);
            assert_eq!(end_of(&checked(&ending)), Some(end), "{lifetime}");
            let ending = saying(key.clone(), &SubpacketData::SignatureExpirationTime(time));
            assert_eq!(is_of_use(&ending), (true, true), "{lifetime}");
        }
    }

    #[test]
    fn a_key_counts_until_its_end() {
        let key = key();
        let made = key.primary_key.created_at().as_secs();
        let time = Duration::from_secs(1_000);
        let ending = checked(&saying(key, &SubpacketData::KeyExpirationTime(time)));
        for (second, counts) in [(made - 1, false), (made, true), (made + 999, true)] {
            assert_eq!(ending.is_valid_at(Timestamp::from_secs(second)), counts, "{second}");
        }
        for second in [made + 1_000, made + 1_001, u32::MAX] {
            let at = Timestamp::from_secs(second);
            assert!(!ending.is_valid_at(at) && ending.signing_keys_at(at).is_empty(), "{second}");
        }
    }

    #[test]
    fn nothing_that_is_said_later_takes_a_revocation_back() {
        let key = key();
        let whole = Tsk::from(key.clone());
        for reason in [RevocationCode::KeyCompromised, RevocationCode::KeyRetired] {
            let revocation = revoke(&whole, &[], reason, "").unwrap();
            let revoked = key_with_revocation(&whole, revocation);
            assert_eq!(is_of_use(&revoked), (false, false));
            wait_for_a_later_second(&revoked.key().details);
            let never = SubpacketData::KeyExpirationTime(Duration::from_secs(0));
            let later = saying(revoked.key().clone(), &never);
            assert_eq!(is_of_use(&later), (false, false), "{reason:?}");
        }
    }
}
