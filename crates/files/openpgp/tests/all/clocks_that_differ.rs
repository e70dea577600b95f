//! Clocks differ: what a user has made whose clock is a little ahead counts here, and what is of
//! a time far away does not.

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use holdfast_openpgp as openpgp;
use openpgp::keys::{Algorithm, NewKey, certificate_of};
use openpgp::pgp::composed::{SignedSecretKey, SignedSecretSubKey};
use openpgp::pgp::packet::{
    KeyFlags, PacketTrait as _, PubKeyInner, PublicKey, PublicSubkey, SecretKey as Primary,
    SecretSubkey, Signature, SignatureConfig, SignatureType, Subpacket, SubpacketData,
};
use openpgp::pgp::types::{KeyDetails, KeyVersion, Password, SigningKey, Tag, Timestamp};
use openpgp::{Judged, Reading, SecretKey, Stats, Writing, verify_detached};

const DATA: &[u8] = b"pay 100 to Bob\n";

fn in_seconds(seconds: i64) -> Timestamp {
    let now = i64::from(Timestamp::now().as_secs());
    Timestamp::from_secs(u32::try_from(now + seconds).unwrap())
}

fn key() -> SignedSecretKey {
    let new = NewKey {
        users: vec!["Ada <ada@example.org>".to_owned()],
        algorithm: Algorithm::Curve25519,
        v6: false,
        passphrase: None,
        lifetime_s: None,
        signing_only: false,
    };
    new.generate().unwrap().key().clone()
}

fn config(
    key: &impl SigningKey,
    kind: SignatureType,
    made: Timestamp,
    expected_text: Option<KeyFlags>,
) -> SignatureConfig {
    let mut config = SignatureConfig::v4(kind, key.algorithm(), key.hash_alg());
    let all = [
        SubpacketData::SignatureCreationTime(made),
        SubpacketData::IssuerFingerprint(key.fingerprint()),
    ];
    let all = all.into_iter().chain(expected_text.map(SubpacketData::KeyFlags));
    config.hashed_subpackets = all.map(|one| Subpacket::regular(one).unwrap()).collect();
    config
}

/// A key that was made at another time, and says everything at that time.
fn key_made(made: Timestamp) -> SecretKey {
    let (mut key, none) = (key(), Password::empty());
    let again = |old: &dyn KeyDetails| {
        let params = old.public_params().clone();
        PubKeyInner::new(KeyVersion::V4, old.algorithm(), made, None, params).unwrap()
    };
    let old = &key.primary_key;
    let public = PublicKey::from_inner(again(old)).unwrap();
    let primary = Primary::new(public, old.secret_params().clone()).unwrap();
    let mut flags = KeyFlags::default();
    flags.set_certify(true);
    flags.set_sign(true);
    let expected_text = config(&primary, SignatureType::CertPositive, made, Some(flags));
    let user = &mut key.details.users[0];
    let public = primary.public_key().clone();
    let word =
        expected_text.sign_certification(&primary, &public, &none, Tag::UserId, &user.id).unwrap();
    user.signatures = vec![word];
    key.details.direct_signatures.clear();
    let part = key.secret_subkeys.iter().find(|part| part.key.algorithm().can_encrypt()).unwrap();
    let subkey = PublicSubkey::from_inner(again(&part.key)).unwrap();
    let subkey = SecretSubkey::new(subkey, part.key.secret_params().clone()).unwrap();
    let mut flags = KeyFlags::default();
    flags.set_encrypt_comms(true);
    let expected_text = config(&primary, SignatureType::SubkeyBinding, made, Some(flags));
    let word =
        expected_text.sign_subkey_binding(&primary, &public, &none, subkey.public_key()).unwrap();
    key.secret_subkeys = vec![SignedSecretSubKey::new(subkey, vec![word])];
    key.primary_key = primary;
    SecretKey::from(key)
}

/// A signature over the data by the primary key, made at that time.
fn signature(key: &SecretKey, made: Timestamp) -> Signature {
    let primary = &key.key().primary_key;
    let config = config(primary, SignatureType::Binary, made, None);
    config.sign(primary, &Password::empty(), DATA).unwrap()
}

fn verified(key: &SecretKey, signature: &Signature) -> Judged {
    let mut bytes = Vec::new();
    signature.to_writer_with_header(&mut bytes).unwrap();
    let certificates = [certificate_of(key)];
    let stats = Stats::default();
    verify_detached(&mut &DATA[..], &bytes, &certificates, false, &stats).unwrap()
}

#[test]
fn signatures_of_a_clock_that_is_a_little_ahead_count() {
    let key = key_made(in_seconds(-100));
    for (ahead, counts) in [(-50, true), (0, true), (1_000, true), (1_790, true), (1_820, false)] {
        let judged = verified(&key, &signature(&key, in_seconds(ahead)));
        assert_eq!(judged.verified.len(), usize::from(counts), "{ahead}: {judged:?}");
        let late = judged.bad.iter().any(|why| why.contains("a time that is yet to come"));
        assert_eq!(late, !counts, "{ahead}: {judged:?}");
    }
}

#[test]
fn keys_of_a_clock_that_is_a_little_ahead_are_used() {
    for (ahead, counts) in [(1_000, true), (1_790, true), (1_900, false)] {
        let made = in_seconds(ahead);
        let key = key_made(made);
        let judged = verified(&key, &signature(&key, made));
        assert_eq!(judged.verified.len(), usize::from(counts), "{ahead}: {judged:?}");
        // No key has signed before it was made, by its own clock.
        let before = Timestamp::from_secs(made.as_secs() - 1);
        assert!(verified(&key, &signature(&key, before)).verified.is_empty(), "{ahead}");

        let recipients = vec![certificate_of(&key)];
        let writing = Writing { recipients, ..Writing::default() };
        let mut message = Vec::new();
        let written = writing.run(&mut &DATA[..], &mut message, &Stats::default());
        assert_eq!(written.is_ok(), counts, "{ahead}: {:?}", written.err());
        if counts {
            let reading = Reading { keys: vec![key], ..Reading::default() };
            let mut data = Vec::new();
            reading.run(&mut &message[..], &mut data, &Stats::default()).unwrap();
            assert_eq!(data, DATA);
        }
    }
}
