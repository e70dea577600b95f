//! One key with everything that belongs to it, put together from its packets (RFC 9580, 10.1).
//!
//! 1. What cannot be read hides nothing that can: such a part or user id is left out with its
//!    signatures, and named; such a signature is passed over, and counted.
//! 2. A signature belongs to what stands before it; user ids and parts may stand in any order. A
//!    revocation belongs to what it revokes, wherever it stands: what was revoked once stays so.
//! 3. Notes that programs keep in rings of their own (5.10), and comments, mean nothing here.
//! 4. A packet of a kind that is not known, but has to be, makes the key one of no use (4.3).

use pgp::composed::{
    SignedKeyDetails, SignedPublicKey, SignedPublicSubKey, SignedSecretKey, SignedSecretSubKey,
};
use pgp::crypto::ecc_curve::{ECCCurve, ecc_curve_from_oid};
use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::packet::{Packet, PacketParser, PublicKey, Signature, SignatureType, UserId};
use pgp::types::{KeyDetails, KeyVersion, SignedUser, SignedUserAttribute, Tag};
use rpgpie::certificate::Certificate;
use rpgpie::tsk::Tsk;

use crate::packet::{is_noise, next_header, repaired_signature};
use crate::revocation::{is_by, is_revocation, revokes_part, revokes_user};

/// A packet with its header.
#[derive(Clone, Copy)]
pub(crate) struct Raw<'a> {
    pub(crate) tag: Tag,
    pub(crate) bytes: &'a [u8],
}

/// A key, with or without its secret parts.
pub(crate) enum Key {
    Certificate(Box<Certificate>),
    Secret(Box<Tsk>),
}

/// A key, and what of its packets is not in it.
pub(crate) struct Transferable {
    pub(crate) key: Key,
    /// Parts and user ids that cannot be used here, each in words, with the reason.
    pub(crate) left_out: Vec<String>,
    /// What says nothing that could count, in words.
    pub(crate) passed_over: Vec<String>,
    /// Whether a part to encrypt to is left out because such parts are not supported.
    pub(crate) wants_more: bool,
}

/// A packet that stands for something, and the signatures about it (2).
struct Component<'a> {
    raw: Raw<'a>,
    signatures: Vec<Signature>,
}

/// What belongs to a primary key, sorted.
#[derive(Default)]
struct Belongings {
    users: Vec<SignedUser>,
    attributes: Vec<SignedUserAttribute>,
    public: Vec<SignedPublicSubKey>,
    secret: Vec<SignedSecretSubKey>,
    left_out: Vec<String>,
    passed_over: Vec<String>,
    wants_more: bool,
}

impl Transferable {
    /// The key in these packets, the first of which is that of a primary key.
    ///
    /// # Errors
    /// The reason in words, if the key as a whole is of no use here.
    pub(crate) fn of(packets: &[Raw<'_>]) -> Result<Transferable, String> {
        let name = name_of(packets);
        let in_words = |why: String| format!("{name} is of no use here: {why}");
        let (components, unread) = components(packets).map_err(in_words)?;
        let mut components = settled(components).into_iter();
        let first = components.next();
        let first = first.ok_or_else(|| in_words("there is no primary key".to_owned()))?;
        let mut all = Belongings::default();
        let key = match parse(first.raw) {
            Some(Packet::PublicKey(primary)) => {
                components.for_each(|one| all.take(one, primary.version(), false, &name));
                let details = all.details(first.signatures);
                let key = SignedPublicKey::new(primary, details, all.public);
                Key::Certificate(Box::new(Certificate::from(key)))
            }
            Some(Packet::SecretKey(primary)) => {
                components.for_each(|one| all.take(one, primary.version(), true, &name));
                let details = all.details(first.signatures);
                let key = SignedSecretKey::new(primary, details, all.public, all.secret);
                Key::Secret(Box::new(Tsk::from(key)))
            }
            _ => return Err(in_words(why_unread(first.raw))),
        };
        if unread > 0 {
            let what = format!("of {name} {unread} signatures are passed over: none can be read");
            all.passed_over.push(what);
        }
        let Belongings { left_out, passed_over, wants_more, .. } = all;
        Ok(Transferable { key, left_out, passed_over, wants_more })
    }
}

impl Belongings {
    /// Takes what belongs to a primary key of this version.
    fn take(&mut self, one: Component<'_>, version: KeyVersion, is_secret: bool, name: &str) {
        let Component { raw, signatures } = one;
        let belongs = |packet: &Packet| may_belong(packet, version, is_secret);
        let what = kind_of(raw);
        let why = match parse(raw) {
            Some(packet) if belongs(&packet) => {
                if !signatures.is_empty() {
                    return self.put(packet, signatures);
                }
                // A secret part may still open something; of the rest no signature says that it is
                // true.
                if raw.tag != Tag::SecretSubkey {
                    self.passed_over.push(format!("of {name} {what} is not signed, and not taken"));
                    return;
                }
                "it is not signed".to_owned()
            }
            Some(_) => "it does not belong to such a key".to_owned(),
            None => {
                self.wants_more |= raw.tag == Tag::PublicSubkey && may_encrypt(raw.bytes);
                why_unread(raw)
            }
        };
        self.left_out.push(format!("of {name} {what} is left out: {why}"));
    }

    fn put(&mut self, packet: Packet, by: Vec<Signature>) {
        match packet {
            Packet::UserId(id) => self.users.push(SignedUser::new(id, by)),
            Packet::UserAttribute(it) => self.attributes.push(SignedUserAttribute::new(it, by)),
            Packet::PublicSubkey(key) => self.public.push(SignedPublicSubKey::new(key, by)),
            Packet::SecretSubkey(key) => self.secret.push(SignedSecretSubKey::new(key, by)),
            _ => {}
        }
    }

    /// What the primary key says of itself, and its user ids.
    fn details(&mut self, signatures: Vec<Signature>) -> SignedKeyDetails {
        let is_revocation = |one: &Signature| one.typ() == Some(SignatureType::KeyRevocation);
        let (revocations, direct) = signatures.into_iter().partition(is_revocation);
        let users = std::mem::take(&mut self.users);
        SignedKeyDetails::new(revocations, direct, users, std::mem::take(&mut self.attributes))
    }
}

/// Whether a packet can belong to a primary key of this version.
fn may_belong(packet: &Packet, version: KeyVersion, is_secret: bool) -> bool {
    let may_be_part = |part: KeyVersion| match version {
        KeyVersion::V6 => part == KeyVersion::V6,
        KeyVersion::V4 => true,
        _ => false,
    };
    match packet {
        Packet::UserId(_) | Packet::UserAttribute(_) => true,
        Packet::PublicSubkey(key) => may_be_part(key.version()),
        Packet::SecretSubkey(key) => is_secret && may_be_part(key.version()),
        _ => false,
    }
}

/// The packets that stand for something, and how many signatures cannot be read.
fn components<'a>(packets: &[Raw<'a>]) -> Result<(Vec<Component<'a>>, usize), String> {
    let mut all: Vec<Component<'a>> = Vec::new();
    let mut unread = 0;
    for raw in packets {
        match (raw.tag, all.last_mut()) {
            (Tag::Signature, Some(last)) => {
                let read = match parse(*raw) {
                    Some(Packet::Signature(signature)) => Some(signature),
                    _ => repaired_signature(raw.bytes),
                };
                match read {
                    Some(signature) => last.signatures.push(signature),
                    None => unread += 1,
                }
            }
            (tag, _) if is_noise(tag) || is_note(tag) => {}
            (tag @ (Tag::UnassignedCritical(_) | Tag::Invalid(_)), _) => {
                let number = u8::from(tag);
                return Err(format!("what its packet of type {number} says is not known"));
            }
            _ => all.push(Component { raw: *raw, signatures: Vec::new() }),
        }
    }
    Ok((all, unread))
}

/// For so many revocations of a key it is looked where they belong; each look costs all of the key.
const STRAYS_MAX: usize = 64;

/// The components, the first of which is the primary key, with revocations at what they revoke (2).
fn settled(mut all: Vec<Component<'_>>) -> Vec<Component<'_>> {
    let primary = match all.first().and_then(|first| parse(first.raw)) {
        Some(Packet::PublicKey(key)) => key,
        Some(Packet::SecretKey(key)) => key.public_key().clone(),
        _ => return all,
    };
    let mut strays = Vec::new();
    for (place, one) in all.iter_mut().enumerate() {
        let (at_home, astray) =
            std::mem::take(&mut one.signatures).into_iter().partition(|signature| {
                !is_revocation(signature) || revokes(signature, one.raw, &primary)
            });
        one.signatures = at_home;
        strays.extend(Vec::into_iter(astray).map(|signature| (place, signature)));
    }
    let mut looks = 0;
    for (place, signature) in strays {
        // Of the key itself: that needs no look. What others have said is never looked at.
        let meant = if signature.typ() == Some(SignatureType::KeyRevocation) {
            Some(0)
        } else if looks < STRAYS_MAX && is_by(&signature, &primary) {
            looks += 1;
            all.iter().position(|one| revokes(&signature, one.raw, &primary))
        } else {
            None
        };
        // What fits nowhere stays where it was.
        all[meant.unwrap_or(place)].signatures.push(signature);
    }
    all
}

/// Whether a revocation by the primary key is of this component.
fn revokes(signature: &Signature, of: Raw<'_>, primary: &PublicKey) -> bool {
    match (signature.typ(), parse(of)) {
        (Some(SignatureType::KeyRevocation), _) => {
            matches!(of.tag, Tag::PublicKey | Tag::SecretKey)
        }
        (Some(SignatureType::SubkeyRevocation), Some(Packet::PublicSubkey(part))) => {
            revokes_part(signature, primary, &part)
        }
        (Some(SignatureType::SubkeyRevocation), Some(Packet::SecretSubkey(part))) => {
            revokes_part(signature, primary, part.public_key())
        }
        (Some(SignatureType::CertRevocation), Some(Packet::UserId(id))) => {
            revokes_user(signature, primary, Tag::UserId, &id)
        }
        (Some(SignatureType::CertRevocation), Some(Packet::UserAttribute(it))) => {
            revokes_user(signature, primary, Tag::UserAttribute, &it)
        }
        _ => false,
    }
}

/// Whether it is a note of a user's own ring, or a comment of old programs (3).
fn is_note(tag: Tag) -> bool {
    const COMMENT: u8 = 16;
    tag == Tag::Trust || u8::from(tag) == COMMENT
}

/// The packet, if it can be read.
pub(crate) fn parse(raw: Raw<'_>) -> Option<Packet> {
    PacketParser::new(raw.bytes).next()?.ok()
}

/// What a packet is to a key, in words.
fn kind_of(raw: Raw<'_>) -> String {
    match (raw.tag, parse(raw)) {
        (_, Some(Packet::UserId(id))) => format!("the user id {}", quoted(&id)),
        (Tag::UserId, _) => "a user id".to_owned(),
        (Tag::UserAttribute, _) => "a user attribute".to_owned(),
        (Tag::PublicSubkey, _) => "a part".to_owned(),
        (Tag::SecretSubkey, _) => "a secret part".to_owned(),
        (other, _) => crate::packet::kind_of(other),
    }
}

/// Why a packet cannot be read.
fn why_unread(raw: Raw<'_>) -> String {
    let is_key =
        matches!(raw.tag, Tag::PublicKey | Tag::SecretKey | Tag::PublicSubkey | Tag::SecretSubkey);
    match unsupported_kind(raw.bytes).filter(|_| is_key) {
        Some(kind) => format!("{kind} is not supported"),
        None => "it is malformed, or larger than is read".to_owned(),
    }
}

/// What sort of key a packet says that it is, if that is not supported.
fn unsupported_kind(mut key: &[u8]) -> Option<String> {
    next_header(&mut key).ok()??;
    let version = *key.first()?;
    // Version 6 says before its parameters how long they are.
    let parameters = match version {
        4 => key.get(6..)?,
        6 => key.get(10..)?,
        other => return Some(format!("version {other} of keys")),
    };
    let number = *key.get(5)?;
    let algorithm = PublicKeyAlgorithm::from(number);
    match algorithm {
        PublicKeyAlgorithm::ECDSA | PublicKeyAlgorithm::ECDH | PublicKeyAlgorithm::EdDSALegacy => {
            let curve = unsupported_curve(algorithm, parameters)?;
            Some(format!("{algorithm:?} on the curve {curve}"))
        }
        PublicKeyAlgorithm::Unknown(_) => Some(format!("algorithm {number} of keys")),
        _ => None,
    }
}

/// Whether a key that is not supported may be one to encrypt to.
fn may_encrypt(key: &[u8]) -> bool {
    let mut body = key;
    let is_read = matches!(next_header(&mut body), Ok(Some(_)));
    let algorithm = body.get(5).map(|number| PublicKeyAlgorithm::from(*number));
    is_read
        && unsupported_kind(key).is_some()
        && algorithm
            .is_some_and(|one| one.can_encrypt() || matches!(one, PublicKeyAlgorithm::Unknown(_)))
}

fn unsupported_curve(algorithm: PublicKeyAlgorithm, parameters: &[u8]) -> Option<String> {
    let (length, rest) = parameters.split_first()?;
    let curve = ecc_curve_from_oid(rest.get(..usize::from(*length))?);
    match curve {
        Some(ECCCurve::Secp256k1) if algorithm == PublicKeyAlgorithm::ECDSA => None,
        Some(
            ECCCurve::Curve25519Legacy
            | ECCCurve::Ed25519Legacy
            | ECCCurve::P256
            | ECCCurve::P384
            | ECCCurve::P521,
        ) => None,
        Some(ECCCurve::Unknown(oid)) => Some(oid.to_string()),
        Some(curve) => Some(curve.name().to_owned()),
        None => Some("that it names".to_owned()),
    }
}

/// What to call a key, whether it can be read or not: its first user id.
fn name_of(packets: &[Raw<'_>]) -> String {
    let mut ids = packets.iter().filter_map(|raw| match (raw.tag, parse(*raw)) {
        (Tag::UserId, Some(Packet::UserId(id))) => Some(id),
        _ => None,
    });
    ids.next()
        .map_or("a key without a user id".to_owned(), |id| format!("the key of {}", quoted(&id)))
}

fn quoted(id: &UserId) -> String {
    format!("\"{}\"", String::from_utf8_lossy(id.id()).escape_debug())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use crate::armor::{Armorer, Label};
    use crate::bundle::Bundle;
    use crate::keys::{Algorithm, NewKey, certificate_of, revoke};
    use crate::packet::{next_header, skip};
    use pgp::composed::SignedPublicKey;
    use pgp::packet::{
        PacketTrait as _, RevocationCode, Signature, SignatureConfig, SignatureType,
    };
    use pgp::packet::{Subpacket, SubpacketData};
    use pgp::types::{KeyDetails as _, Password, SigningKey as _, Tag, Timestamp};
    use rpgpie::tsk::Tsk;

    /// A signature whose subpacket has no length, by nobody.
    const MALFORMED: &[u8] = &[0xc2, 15, 4, 0x10, 22, 8, 0, 1, 0, 0, 0, 7, 7, 0, 1, 1, 0];
    /// A signature of version 2 that is too short.
    const SHORT: &[u8] = &[0xc2, 4, 2, 5, 7, 7];
    /// What GnuPG notes in its backups.
    const TRUST: &[u8] = &[0xcc, 2, 0, 3];
    /// A comment of old programs.
    const COMMENT: &[u8] = &[0xc0 | 16, 3, b'o', b'l', b'd'];
    /// A part of ECDH on secp256k1.
    const FOREIGN: &[u8] =
        &[0xce, 17, 4, 0, 0, 0, 1, 18, 5, 0x2b, 0x81, 0x04, 0, 0x0a, 0, 9, 1, 1, 7];

    fn key() -> Tsk {
        let new = NewKey {
            users: vec!["Ada".to_owned(), "Ada, too".to_owned()],
            algorithm: Algorithm::Curve25519,
            v6: false,
            passphrase: None,
            lifetime_s: None,
            signing_only: false,
        };
        new.generate().unwrap()
    }

    fn saved(key: &Tsk, is_secret: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        match is_secret {
            true => key.save(false, &mut bytes).unwrap(),
            false => certificate_of(key).save(false, &mut bytes).unwrap(),
        }
        bytes
    }

    fn packets(bytes: &[u8]) -> Vec<(Tag, &[u8])> {
        let mut rest = bytes;
        std::iter::from_fn(|| {
            let from = rest;
            let (tag, length) = next_header(&mut rest).unwrap()?;
            skip(&mut rest, length).unwrap();
            Some((tag, &from[..from.len() - rest.len()]))
        })
        .collect()
    }

    /// These packets with others behind each of them.
    fn sprinkled(bytes: &[u8], with: &[&[u8]]) -> Vec<u8> {
        let all = packets(bytes);
        all.iter().flat_map(|(_, packet)| [*packet, &with.concat()].concat()).collect()
    }

    #[test]
    fn notes_and_signatures_that_cannot_be_read_take_nothing_away() {
        let key = key();
        for with in [&[TRUST][..], &[COMMENT], &[MALFORMED], &[SHORT, TRUST, MALFORMED]] {
            let bundle = Bundle::read(&sprinkled(&saved(&key, true), with)).unwrap();
            assert_eq!(bundle.keys[0].key(), key.key(), "{with:?}");
            assert!(bundle.left_out.is_empty(), "{:?}", bundle.left_out);
            let bundle = Bundle::read(&sprinkled(&saved(&key, false), with)).unwrap();
            assert_eq!(bundle.certificates[0], certificate_of(&key), "{with:?}");
            let is_reported = with.contains(&MALFORMED);
            assert_eq!(
                bundle.passed_over.len(),
                usize::from(is_reported),
                "{:?}",
                bundle.passed_over
            );
        }
    }

    #[test]
    fn a_part_that_is_not_supported_is_named_and_hides_no_other() {
        let key = key();
        let bytes = [&saved(&key, false)[..], FOREIGN].concat();
        let bundle = Bundle::read(&bytes).unwrap();
        assert_eq!(bundle.certificates[0], certificate_of(&key));
        let [reported] = &bundle.left_out[..] else { panic!("{:?}", bundle.left_out) };
        assert!(
            reported.contains("\"Ada\"") && reported.contains("ECDH on the curve secp256k1"),
            "{reported}"
        );
    }

    #[test]
    fn parts_and_user_ids_may_stand_in_any_order() {
        let key = key();
        let bytes = saved(&key, false);
        let all = packets(&bytes);
        let at = all.iter().position(|(tag, _)| *tag == Tag::PublicSubkey).unwrap();
        let order = all[..1].iter().chain(&all[at..]).chain(&all[1..at]);
        let turned: Vec<u8> = order.flat_map(|(_, packet)| packet.to_vec()).collect();
        assert_eq!(Bundle::read(&turned).unwrap().certificates[0], certificate_of(&key));
    }

    #[test]
    fn what_does_not_belong_to_a_key_is_told() {
        let key = key();
        let literal = [0xcb, 7, b'b', 0, 0, 0, 0, 0, b'!'];
        let bare = [0xcd, 3, b'E', b'v', b'e'];
        let bundle = Bundle::read(&[&saved(&key, false)[..], &literal, &bare].concat()).unwrap();
        assert_eq!(SignedPublicKey::from(bundle.certificates[0].clone()).details.users.len(), 2);
        assert!(bundle.left_out[0].contains("data"), "{:?}", bundle.left_out);
        assert!(bundle.passed_over[0].contains("\"Eve\""), "{:?}", bundle.passed_over);
        // What is not known but has to be makes the whole key one of no use.
        let critical = [0xc0 | 39, 1, 7];
        let bundle = Bundle::read(&[&saved(&key, false)[..], &critical].concat()).unwrap();
        assert!(bundle.certificates.is_empty());
        assert!(bundle.left_out[0].contains("type 39"), "{:?}", bundle.left_out);
    }

    /// Revocations of the key, its part and its second user id.
    fn revocations(key: &Tsk) -> [Signature; 3] {
        let (inner, none) = (key.key(), Password::empty());
        let primary = &inner.primary_key;
        let config = |typ| {
            let mut config = SignatureConfig::v4(typ, primary.algorithm(), primary.hash_alg());
            config.hashed_subpackets = [
                SubpacketData::SignatureCreationTime(Timestamp::now()),
                SubpacketData::IssuerFingerprint(primary.fingerprint()),
            ]
            .map(|data| Subpacket::regular(data).unwrap())
            .into();
            config
        };
        let part = inner.secret_subkeys[0].key.public_key();
        let public = primary.public_key();
        let of_part = config(SignatureType::SubkeyRevocation);
        let id = &inner.details.users[1].id;
        let of_user = config(SignatureType::CertRevocation);
        [
            revoke(key, &[], RevocationCode::KeyCompromised, "stolen").unwrap(),
            of_part.sign_subkey_binding(primary, &public, &none, &part).unwrap(),
            of_user.sign_certification(primary, &public, &none, Tag::UserId, id).unwrap(),
        ]
    }

    #[test]
    fn a_revocation_counts_wherever_it_stands() {
        let key = key();
        let revocations = revocations(&key);
        for is_secret in [false, true] {
            let bytes = saved(&key, is_secret);
            let all = packets(&bytes);
            for (number, revocation) in revocations.iter().enumerate() {
                let mut packet = Vec::new();
                revocation.to_writer_with_header(&mut packet).unwrap();
                for place in 1..=all.len() {
                    let mut with: Vec<&[u8]> = all.iter().map(|(_, packet)| *packet).collect();
                    with.insert(place, &packet);
                    let bundle = Bundle::read(&with.concat()).unwrap();
                    let certificate = match is_secret {
                        true => certificate_of(&bundle.keys[0]),
                        false => bundle.certificates[0].clone(),
                    };
                    let inner = SignedPublicKey::from(certificate);
                    let found = [
                        inner.details.revocation_signatures.as_slice(),
                        &inner.public_subkeys[0].signatures,
                        &inner.details.users[1].signatures,
                    ];
                    assert!(found[number].contains(revocation), "{number} {place} {is_secret}");
                }
            }
        }
    }

    #[test]
    fn a_revocation_in_a_block_of_its_own_is_of_the_key_beside_it() {
        let key = key();
        let [revocation, ..] = revocations(&key);
        let mut packet = Vec::new();
        revocation.to_writer_with_header(&mut packet).unwrap();
        let armored = |packets: &[u8], label| {
            let mut armorer = Armorer::new(Vec::new(), label);
            armorer.write_all(packets).unwrap();
            armorer.finish().unwrap()
        };
        let block = armored(&packet, Label::Signature);
        for (is_secret, label) in [(false, Label::PublicKey), (true, Label::PrivateKey)] {
            let bytes = saved(&key, is_secret);
            let own = armored(&bytes, label);
            for both in [
                [&packet[..], &bytes].concat(),
                [&own[..], &block].concat(),
                [&block[..], &own].concat(),
            ] {
                let bundle = Bundle::read(&both).unwrap();
                let mut all = bundle.certificates;
                all.extend(bundle.keys.iter().map(certificate_of));
                let inner = SignedPublicKey::from(all.remove(0));
                assert_eq!(inner.details.revocation_signatures.len(), 1);
                assert!(bundle.revocations.is_empty());
            }
        }
    }

    #[test]
    fn a_secret_part_that_nothing_binds_is_told() {
        let bytes = saved(&key(), true);
        let all = packets(&bytes);
        let (last, others) = all.split_last().unwrap();
        assert_eq!(last.0, Tag::Signature);
        let unbound: Vec<u8> = others.iter().flat_map(|(_, packet)| packet.to_vec()).collect();
        let bundle = Bundle::read(&unbound).unwrap();
        assert!(bundle.left_out[0].contains("secret part"), "{:?}", bundle.left_out);
    }
}
