//! One certificate out of two forms of it.
//!
//! 1. What either form has is in it once: user ids, parts, and the signatures about them, in the
//!    order of the first form and behind that of the second.
//! 2. Two signatures are one if they differ only in what is not signed; whatever stands there
//!    in one of them is kept, as far as there is room: first what proves itself, so that nothing
//!    that others put there keeps it out.
//! 3. The cost grows with what there is, and not with its square: everybody can add signatures to a
//!    certificate.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use pgp::composed::{SignedPublicKey, SignedPublicSubKey};
use pgp::packet::{PublicKey, Signature, Subpacket, SubpacketData};
use pgp::ser::Serialize as _;
use pgp::types::{KeyDetails as _, SignedUser, SignedUserAttribute};
use rpgpie::certificate::Certificate;

use crate::validity::word_in;

/// What either form of a certificate has; of another key's certificate nothing is taken.
#[must_use]
pub fn merged(one: Certificate, other: Certificate) -> Certificate {
    if one.fingerprint() != other.fingerprint() {
        return one;
    }
    let (mut one, other) = (SignedPublicKey::from(one), SignedPublicKey::from(other));
    let (into, from) = (&mut one.details, other.details);
    into.direct_signatures.extend(from.direct_signatures);
    into.revocation_signatures.extend(from.revocation_signatures);
    into.users.extend(from.users);
    into.user_attributes.extend(from.user_attributes);
    one.public_subkeys.extend(other.public_subkeys);

    let primary = &one.primary_key;
    let by_it = |note: &Subpacket| names(note, primary);
    each_once(&mut into.direct_signatures, by_it);
    each_once(&mut into.revocation_signatures, by_it);
    unite(&mut into.users, |user: &SignedUser| user.id.id().to_vec(), |user| &mut user.signatures);
    into.users.iter_mut().for_each(|user| each_once(&mut user.signatures, by_it));
    let body = |one: &SignedUserAttribute| one.attr.to_bytes().unwrap_or_default();
    unite(&mut into.user_attributes, body, |one| &mut one.signatures);
    into.user_attributes.iter_mut().for_each(|one| each_once(&mut one.signatures, by_it));
    let print = |part: &SignedPublicSubKey| part.key.fingerprint().as_bytes().to_vec();
    unite(&mut one.public_subkeys, print, |part| &mut part.signatures);
    for SignedPublicSubKey { key, signatures } in &mut one.public_subkeys {
        each_once(signatures, |note| by_it(note) || word_in(note, key, primary).is_some());
    }
    Certificate::from(one)
}

/// Whether this says that a signature is of that key.
fn names(note: &Subpacket, key: &PublicKey) -> bool {
    match &note.data {
        SubpacketData::IssuerKeyId(id) => *id == key.legacy_key_id(),
        SubpacketData::IssuerFingerprint(print) => *print == key.fingerprint(),
        _ => false,
    }
}

/// Puts together what has one name, with all of its signatures.
fn unite<T>(
    all: &mut Vec<T>,
    name: impl Fn(&T) -> Vec<u8>,
    signatures: impl Fn(&mut T) -> &mut Vec<Signature>,
) {
    let mut places = BTreeMap::new();
    let mut united: Vec<T> = Vec::with_capacity(all.len());
    for mut one in all.drain(..) {
        match places.entry(name(&one)) {
            Entry::Vacant(place) => {
                place.insert(united.len());
                united.push(one);
            }
            Entry::Occupied(place) => {
                let more = std::mem::take(signatures(&mut one));
                signatures(&mut united[*place.get()]).extend(more);
            }
        }
    }
    *all = united;
}

/// Leaves each signature once (2).
fn each_once(all: &mut Vec<Signature>, proves: impl Fn(&Subpacket) -> bool) {
    let mut places = BTreeMap::new();
    let mut kept: Vec<Signature> = Vec::with_capacity(all.len());
    for one in all.drain(..) {
        match places.entry(signed(&one)) {
            Entry::Vacant(place) => {
                place.insert(kept.len());
                kept.push(one);
            }
            Entry::Occupied(place) => {
                add_unsigned(&mut kept[*place.get()], &one, &proves);
            }
        }
    }
    *all = kept;
}

/// A signature without what is not signed.
fn signed(signature: &Signature) -> Vec<u8> {
    let bare = with_unsigned(signature, Vec::new());
    bare.as_ref().unwrap_or(signature).to_bytes().unwrap_or_default()
}

/// A signature with this beside what is signed, in place of what stood there.
fn with_unsigned(signature: &Signature, notes: Vec<Subpacket>) -> Option<Signature> {
    let mut config = signature.config()?.clone();
    config.unhashed_subpackets = notes;
    let (start, raw) = (signature.signed_hash_value()?, signature.signature()?.clone());
    Signature::from_config(config, start, raw).ok()
}

/// Adds what only another form of a signature has of what is not signed. If there is no room
/// for that, only what proves itself is added, before all else.
fn add_unsigned(kept: &mut Signature, other: &Signature, proves: impl Fn(&Subpacket) -> bool) {
    let notes = |of: &Signature| of.config().map(|config| config.unhashed_subpackets.clone());
    let (Some(mut own), Some(mut more)) = (notes(kept), notes(other)) else { return };
    more.retain(|one| !own.contains(one));
    let is_full = length(&own) + length(&more) > UNSIGNED_BYTES_MAX;
    if is_full {
        more.retain(&proves);
    }
    if more.is_empty() {
        return;
    }
    if is_full {
        let (mut first, others): (Vec<_>, Vec<_>) = own.into_iter().partition(&proves);
        first.append(&mut more);
        first.extend(others);
        own = as_fits(first);
    }
    own.append(&mut more);
    let fuller = with_unsigned(kept, own).filter(|one| one.to_bytes().is_ok());
    if let Some(fuller) = fuller {
        *kept = fuller;
    }
}

/// A signature has room for so much that is not signed.
const UNSIGNED_BYTES_MAX: usize = 0xFFFF;

fn length(notes: &[Subpacket]) -> usize {
    notes.iter().map(Subpacket::write_len).sum()
}

/// The first of these, as far as there is room.
fn as_fits(mut notes: Vec<Subpacket>) -> Vec<Subpacket> {
    let mut room = UNSIGNED_BYTES_MAX;
    notes.retain(|one| {
        let fits = one.write_len() <= room;
        room -= if fits { one.write_len() } else { 0 };
        fits
    });
    notes
}

#[cfg(test)]
mod tests {
    use pgp::packet::RevocationCode;
    use pgp::types::{KeyId, Timestamp};
    use rpgpie::tsk::Tsk;

    use super::*;
    use crate::keys::{Algorithm, NewKey, certificate_of, revoke, with_revocation};
    use crate::validity::Checked;

    fn key(users: &[&str]) -> Tsk {
        let new = NewKey {
            users: users.iter().map(|user| (*user).to_owned()).collect(),
            algorithm: Algorithm::Curve25519,
            v6: false,
            passphrase: None,
            lifetime_s: None,
            signing_only: false,
        };
        new.generate().unwrap()
    }

    /// A certificate without its last user id and without its parts.
    fn lesser(certificate: &Certificate) -> Certificate {
        let mut inner = SignedPublicKey::from(certificate.clone());
        inner.details.users.pop();
        inner.public_subkeys.clear();
        Certificate::from(inner)
    }

    fn note(number: u8) -> Subpacket {
        Subpacket::regular(SubpacketData::IssuerKeyId(KeyId::new([number; 8]))).unwrap()
    }

    #[test]
    fn what_either_form_has_is_in_it_once() {
        let key = key(&["Ada", "Ada, too"]);
        let whole = certificate_of(&key);
        let revoked = with_revocation(
            lesser(&whole),
            revoke(&key, &[], RevocationCode::NoReason, "").unwrap(),
        );
        for (one, other) in [(&whole, &revoked), (&revoked, &whole)] {
            let both = SignedPublicKey::from(merged(one.clone(), other.clone()));
            assert_eq!(both.details.revocation_signatures.len(), 1);
            assert_eq!((both.details.users.len(), both.public_subkeys.len()), (2, 1));
            assert!(both.details.users.iter().all(|user| user.signatures.len() == 1));
            let again = merged(Certificate::from(both.clone()), one.clone());
            assert_eq!(SignedPublicKey::from(again), both);
        }
        assert_eq!(merged(whole.clone(), certificate_of(&self::key(&["Eve"]))), whole);
    }

    #[test]
    fn what_nobody_has_signed_is_added_as_far_as_there_is_room() {
        let certificate = certificate_of(&key(&["Ada"]));
        let with = |numbers: &[u8]| {
            let mut inner = SignedPublicKey::from(certificate.clone());
            for number in numbers {
                let signature = &mut inner.details.users[0].signatures[0];
                signature.unhashed_subpacket_push(note(*number)).unwrap();
            }
            Certificate::from(inner)
        };
        let count = |certificate: Certificate| {
            let inner = SignedPublicKey::from(certificate);
            let [one] = &inner.details.users[0].signatures[..] else { panic!("not one signature") };
            one.config().unwrap().unhashed_subpackets.len()
        };
        let own = count(certificate.clone());
        assert_eq!(count(merged(with(&[0, 1, 2]), with(&[2, 3, 4]))), own + 5);
        // Of 10 bytes each so many fill the 64 KiB that there are.
        let full = with(&[7; 6_500]);
        let others: Vec<u8> = (8..250).collect();
        let both = merged(full, with(&others));
        assert!(Vec::try_from(&both).is_ok());
        assert_eq!(count(both), own + 6_500);
    }

    /// A certificate whose part says beside what is signed, with its own key, whose it is.
    const SIGNING_PART: &[u8] = include_bytes!("../tests/data/signing_part.pgp");

    #[test]
    fn nothing_that_others_put_there_keeps_out_what_proves_itself() {
        let whole = Certificate::try_from(SIGNING_PART).unwrap();
        let stuffed = |notes: Vec<Subpacket>| {
            let mut inner = SignedPublicKey::from(whole.clone());
            let bound = &mut inner.public_subkeys[0].signatures[0];
            *bound = with_unsigned(bound, notes).unwrap();
            Certificate::from(inner)
        };
        let signs = |certificate: Certificate| {
            let bound = &SignedPublicKey::from(certificate.clone()).public_subkeys[0];
            assert_eq!(bound.signatures.len(), 1);
            assert!(Vec::try_from(&certificate).is_ok());
            !Checked::new(certificate).signing_keys_at(Timestamp::now()).is_empty()
        };
        assert!(signs(whole.clone()) && !signs(stuffed(Vec::new())));
        let junk = stuffed(vec![note(7); 6_550]);
        assert!(signs(merged(junk.clone(), whole.clone())));
        assert!(signs(merged(whole.clone(), junk.clone())));
        assert!(!signs(merged(junk.clone(), junk)));
    }

    #[test]
    fn a_signature_with_the_same_numbers_and_other_words_hides_none() {
        let certificate = certificate_of(&key(&["Ada"]));
        let mut forged = SignedPublicKey::from(certificate.clone());
        let own = &forged.details.users[0].signatures[0];
        let mut config = own.config().unwrap().clone();
        config.hashed_subpackets.push(note(7));
        let (start, raw) = (own.signed_hash_value().unwrap(), own.signature().unwrap().clone());
        forged.details.users[0].signatures =
            vec![Signature::from_config(config, start, raw).unwrap()];
        let both = SignedPublicKey::from(merged(Certificate::from(forged), certificate.clone()));
        let kept = &both.details.users[0].signatures;
        let true_one = &SignedPublicKey::from(certificate).details.users[0].signatures[0];
        assert!(kept.len() == 2 && kept.contains(true_one));
    }

    #[test]
    fn thousands_of_signatures_are_merged_in_little_time() {
        let certificate = certificate_of(&key(&["Ada"]));
        let mut flooded = SignedPublicKey::from(certificate.clone());
        let own = flooded.details.users[0].signatures[0].clone();
        for number in 0..20_000_u32 {
            let mut config = own.config().unwrap().clone();
            let word = number.to_be_bytes().to_vec().into();
            let word = Subpacket::regular(SubpacketData::Experimental(100, word)).unwrap();
            config.hashed_subpackets.push(word);
            let (start, raw) = (own.signed_hash_value().unwrap(), own.signature().unwrap().clone());
            let one = Signature::from_config(config, start, raw).unwrap();
            flooded.details.users[0].signatures.push(one);
        }
        let flooded = Certificate::from(flooded);
        let both = SignedPublicKey::from(merged(flooded.clone(), flooded));
        assert_eq!(both.details.users[0].signatures.len(), 20_001);
    }
}
