//! Words for keys that are of no use here because of what they are made of.
//!
//! 1. If the primary key is not understood, nothing that its certificate says can be proven: such a
//!    certificate is of no use at all.

use pgp::composed::{SignedPublicKey, SignedPublicSubKey};
use pgp::packet::{PublicKey, SignatureType};
use pgp::types::{KeyDetails, PublicParams, SignedUser, Tag, Timestamp};
use rpgpie::certificate::Certificate;

use crate::revocation::{is_by, is_revocation, revokes_user};
use crate::strength::{obstacle, unsupported};
use crate::validity::{Checked, is_over, words_of};

/// Whether everything that one could encrypt to is of a kind that is not supported. Some of that
/// may be left out since the certificate was read, as [`Bundle::unsupported`](crate::Bundle) says.
#[must_use]
pub fn is_unsupported(certificate: &Certificate, is_left_out: bool) -> bool {
    let inner = SignedPublicKey::from(certificate.clone());
    let may = |key: &dyn KeyDetails| {
        let is_unknown = matches!(key.public_params(), PublicParams::Unknown { .. });
        is_unknown || key.algorithm().can_encrypt()
    };
    let mut parts = inner.public_subkeys.iter().filter(|part| may(&part.key)).peekable();
    let is_there = is_left_out || parts.peek().is_some();
    is_there && parts.all(|part| unsupported(&part.key).is_some())
}

/// Whether a key is of RSA that is too short, which opens what was written to it once, and is good
/// for nothing else.
pub(crate) fn is_short(certificate: &Certificate) -> bool {
    let primary = SignedPublicKey::from(certificate.clone()).primary_key;
    let is_rsa = matches!(primary.public_params(), PublicParams::RSA(_));
    is_rsa && obstacle(&primary, u32::MAX).is_some()
}

/// Why a certificate is of no use at all (1).
pub(crate) fn of_no_use(certificate: &Certificate) -> Option<String> {
    let inner = SignedPublicKey::from(certificate.clone());
    let primary = &inner.primary_key;
    // An old one may still prove what was signed in its time.
    let why = obstacle(primary, primary.created_at().as_secs())?;
    let name = primary.fingerprint().to_string().to_uppercase();
    Some(format!("key {name} is of no use here: {why}"))
}

/// When a certificate ends, in seconds since 1970, if it does.
pub(crate) fn end_of(checked: &Checked) -> Option<u64> {
    checked.end_at(checked.present())
}

/// Whether the owner of a certificate has revoked it.
pub(crate) fn is_revoked(checked: &Checked) -> bool {
    !checked.as_signed_public_key().details.revocation_signatures.is_empty()
}

/// What a key says of a user id beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// That it is its own, however old its word is.
    Good,
    /// The same, in words that have expired.
    Lapsed,
    /// That it is its own no more.
    Withdrawn,
    /// Nothing: anybody can write one behind it.
    Foreign,
}

/// What a key says now of a user id. What it has taken back it may say anew.
pub(crate) fn claim_of(user: &SignedUser, primary: &PublicKey) -> Claim {
    let (mut withdrawn, mut claimed, mut lapsed) = (None, None, false);
    let now = Timestamp::now();
    for one in user.signatures.iter().filter(|one| is_by(one, primary)) {
        if is_revocation(one) {
            if revokes_user(one, primary, Tag::UserId, &user.id) {
                withdrawn = withdrawn.max(one.created());
            }
        } else if one.verify_certification(primary, Tag::UserId, &user.id).is_ok() {
            match is_over(one, now) {
                true => lapsed = true,
                false => claimed = claimed.max(one.created()),
            }
        }
    }
    match (withdrawn >= claimed, claimed.is_some()) {
        (true, _) if withdrawn.is_some() => Claim::Withdrawn,
        (_, true) => Claim::Good,
        _ if lapsed => Claim::Lapsed,
        _ => Claim::Foreign,
    }
}

/// Whether the key says that a part is its own, however old its word is: anybody can write one
/// behind it. Of a part that only signs, it has to say so itself, too: anybody can take the primary
/// key of another as a part, and would be called by its number.
pub(crate) fn is_bound(part: &SignedPublicSubKey, primary: &PublicKey) -> bool {
    part.signatures.iter().any(|one| {
        one.typ() == Some(SignatureType::SubkeyBinding)
            && one.verify_subkey_binding(primary, &part.key).is_ok()
            && (part.key.algorithm().can_encrypt()
                || words_of(one, &part.key, primary).next().is_some())
    })
}

/// Why nothing can be encrypted to a certificate whose keys are made of the right thing.
pub(crate) fn why_not_now(checked: &Checked, at: u32) -> &'static str {
    match end_of(checked) {
        _ if is_revoked(checked) => "it was revoked",
        Some(end) if end <= u64::from(at) => "it has expired",
        _ => "it has no part for that, or only such as are revoked, or have expired",
    }
}

/// Why nothing can be encrypted to a certificate, if it is because of what its keys are made of.
pub(crate) fn cannot_be_encrypted_to(certificate: &Certificate, at: u32) -> Option<String> {
    let inner = SignedPublicKey::from(certificate.clone());
    if let Some(why) = obstacle(&inner.primary_key, at) {
        return Some(why);
    }
    let mut parts = inner.public_subkeys.iter().filter(|part| part.key.algorithm().can_encrypt());
    parts.find_map(|part| obstacle(&part.key, at)).map(|why| format!("of its part for that, {why}"))
}

#[cfg(test)]
mod tests {
    use pgp::packet::{SignatureConfig, Subpacket, SubpacketData};
    use pgp::types::{Duration, Password, SigningKey as _};

    use super::*;
    use crate::keys::{Algorithm, NewKey};

    #[test]
    fn a_part_that_only_signs_is_called_its_own_by_its_own_word() {
        let bytes = include_bytes!("../tests/data/signing_part.pgp");
        let certificate = Certificate::try_from(&bytes[..]).unwrap();
        let SignedPublicKey { primary_key, public_subkeys, .. } = certificate.into();
        let [part] = &public_subkeys[..] else { panic!("not one part") };
        assert!(is_bound(part, &primary_key));
        let mut taken = part.clone();
        while taken.signatures[0].unhashed_subpacket_remove(0).is_ok() {}
        assert!(!is_bound(&taken, &primary_key));
    }

    #[test]
    fn a_user_id_is_what_the_key_said_last_and_says_still() {
        let new = NewKey {
            users: vec!["Ada".to_owned()],
            algorithm: Algorithm::Curve25519,
            v6: false,
            passphrase: None,
            lifetime_s: None,
            signing_only: false,
        };
        let [key, other] = [new.generate().unwrap(), new.generate().unwrap()];
        let (key, other) = (key.key(), other.key());
        let user = key.details.users[0].id.clone();
        // So many seconds ago, for so many seconds.
        let word = |by: &pgp::packet::SecretKey, typ, ago: u32, lasts: u32| {
            let mut config = SignatureConfig::v4(typ, by.algorithm(), by.hash_alg());
            let made = Timestamp::from_secs(Timestamp::now().as_secs() - ago);
            let subpackets = [
                SubpacketData::SignatureCreationTime(made),
                SubpacketData::SignatureExpirationTime(Duration::from_secs(lasts)),
                SubpacketData::IssuerFingerprint(by.fingerprint()),
            ];
            config.hashed_subpackets =
                subpackets.map(|one| Subpacket::regular(one).unwrap()).into();
            let of = key.primary_key.public_key();
            config.sign_certification(by, of, &Password::empty(), Tag::UserId, &user).unwrap()
        };
        let by = &key.primary_key;
        let good = |ago| word(by, SignatureType::CertPositive, ago, 0);
        let lapsed = |ago| word(by, SignatureType::CertPositive, ago, ago / 2);
        let taken_back = |ago| word(by, SignatureType::CertRevocation, ago, 0);
        let foreign = word(&other.primary_key, SignatureType::CertPositive, 100, 0);
        for (words, claim) in [
            (vec![], Claim::Foreign),
            (vec![foreign.clone()], Claim::Foreign),
            (vec![good(100), foreign], Claim::Good),
            (vec![lapsed(100)], Claim::Lapsed),
            (vec![lapsed(100), good(300)], Claim::Good),
            (vec![good(300), taken_back(200)], Claim::Withdrawn),
            (vec![taken_back(200), good(300), good(100)], Claim::Good),
            (vec![good(300), taken_back(200), lapsed(100)], Claim::Withdrawn),
        ] {
            let user = SignedUser::new(user.clone(), words);
            assert_eq!(claim_of(&user, by.public_key()), claim, "{user:?}");
        }
    }
}
