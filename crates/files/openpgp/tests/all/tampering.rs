//! Every bit of a signed thing turned, and every cut of it: nothing that is changed counts as
//! signed, and nothing panics. (Encrypted messages have the same in `messages.rs`.)

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use holdfast_openpgp as openpgp;
use openpgp::keys::{Algorithm, NewKey, certificate_of};
use openpgp::{Certificate, Cleartext, Reading, SecretKey, Signer, Stages, Stats, Writing};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{PacketTrait as _, SignatureConfig, SignatureType, Subpacket, SubpacketData};
use pgp::types::{KeyDetails as _, Password, Timestamp};

const DATA: &[u8] = b"pay 100 to Bob\n";

fn key(v6: bool) -> SecretKey {
    let new = NewKey {
        users: vec!["Ada <ada@example.org>".to_owned()],
        algorithm: Algorithm::Curve25519,
        v6,
        passphrase: None,
        lifetime_s: None,
        signing_only: true,
    };
    new.generate().unwrap()
}

/// Calls with everything that a message becomes by turning a bit or cutting it.
fn spoilt(message: &[u8], mut judge: impl FnMut(&[u8], String)) {
    for bit in 0..message.len() * 8 {
        let mut changed = message.to_vec();
        changed[bit / 8] ^= 1 << (bit % 8);
        judge(&changed, format!("bit {bit}"));
    }
    for cut in 0..message.len() {
        judge(&message[..cut], format!("cut at {cut}"));
    }
}

fn certificates(key: &SecretKey) -> Vec<Certificate> {
    vec![certificate_of(key)]
}

#[test]
fn detached_signatures_hold_for_their_data_alone() {
    for v6 in [false, true] {
        let ada = key(v6);
        let (signers, known) = (Signer::of(&ada, &[]).unwrap(), certificates(&ada));
        for armor in [false, true] {
            let stats = Stats::default();
            let made = openpgp::sign_detached(&mut &DATA[..], &signers, false, None, armor, &stats);
            let signature = made.unwrap();
            spoilt(DATA, |data, what| {
                let good = openpgp::verify_detached(
                    &mut &data[..],
                    &signature,
                    &known,
                    false,
                    &Stats::default(),
                );
                assert!(good.unwrap().verified.is_empty(), "{what}");
            });
            // What is changed in a signature either breaks it or was not signed: the key id that
            // is only a hint, the forms of lengths and of armor. The data are the same anyway.
            spoilt(&signature, |signature, _| {
                let _ = openpgp::verify_detached(&mut &DATA[..], signature, &known, false, &stats);
            });
        }
    }
}

#[test]
fn signed_messages_that_count_say_what_was_signed() {
    for v6 in [false, true] {
        let ada = key(v6);
        let quiet = Stages { io: false, cipher: false, compress: false, threads: 1 };
        for armor in [false, true] {
            let writing = Writing {
                encrypted: false,
                signers: Signer::of(&ada, &[]).unwrap(),
                armor,
                stages: quiet,
                ..Writing::default()
            };
            let mut message = Vec::new();
            writing.run(&mut &DATA[..], &mut message, &Stats::default()).unwrap();
            let reading =
                Reading { certificates: certificates(&ada), stages: quiet, ..Reading::default() };
            spoilt(&message, |message, what| {
                let mut data = Vec::new();
                let read = reading.run(&mut &message[..], &mut data, &Stats::default());
                if let Ok(opened) = read {
                    assert!(opened.verified.is_empty() || data == DATA, "{what}");
                }
            });
        }
    }
}

#[test]
fn cleartext_messages_that_count_say_what_was_signed() {
    let ada = key(false);
    let signers = Signer::of(&ada, &[]).unwrap();
    let mut message = Vec::new();
    openpgp::sign_cleartext(&mut &DATA[..], &signers, None, &mut message).unwrap();
    let known = certificates(&ada);
    spoilt(&message, |message, what| {
        let mut text = Vec::new();
        if let Ok(message) = Cleartext::read(&mut &message[..], &mut text) {
            let good = message.verify(&mut &text[..], &known, false).unwrap().verified;
            let same = text.trim_ascii_end() == DATA.trim_ascii_end();
            assert!(good.is_empty() || same, "{what}: {}", text.escape_ascii());
        }
    });
    // What is not signed is neither taken for the text, nor stands where it would be.
    let message = String::from_utf8(message).unwrap();
    let spoilt = [
        message.replacen('\n', "\nPay: 100,000 to Bob\n", 1),
        message.replacen('\n', "\nHash: SHA512, pay Bob\n", 1),
        message.replacen("\n\n", "\n\n-----BEGIN PGP MESSAGE-----\n\n", 1),
        message.repeat(2),
        message.replace("-----END", ""),
    ];
    for spoilt in spoilt {
        assert!(Cleartext::read(&mut spoilt.as_bytes(), &mut Vec::new()).is_err(), "{spoilt}");
    }
    let letter = format!("Pay 1,000 to Bob\n{message}Pay 1,000 to Bob\n");
    let mut signed = Vec::new();
    let found = Cleartext::read(&mut letter.as_bytes(), &mut signed).unwrap();
    assert!(found.stands_in_letter() && signed == DATA.trim_ascii_end());
    let done = openpgp::sign_cleartext(&mut &b"no\0text"[..], &signers, None, &mut Vec::new());
    assert!(done.is_err());
}

#[test]
fn a_signature_that_says_more_than_is_understood_does_not_count() {
    let ada = key(false);
    let (primary, known) = (&ada.key().primary_key, certificates(&ada));
    for (is_critical, good) in [(false, 1), (true, 0)] {
        let (kind, algorithm) = (SignatureType::Binary, primary.algorithm());
        let mut config = SignatureConfig::v4(kind, algorithm, HashAlgorithm::Sha256);
        let private = SubpacketData::Experimental(101, b"only on Mondays".to_vec().into());
        let print = SubpacketData::IssuerFingerprint(primary.fingerprint());
        config.hashed_subpackets = vec![
            Subpacket::regular(SubpacketData::SignatureCreationTime(Timestamp::now())).unwrap(),
            Subpacket::regular(print).unwrap(),
            Subpacket { is_critical, ..Subpacket::regular(private).unwrap() },
        ];
        let signature = config.sign(primary, &Password::empty(), DATA).unwrap();
        let mut bytes = Vec::new();
        signature.to_writer_with_header(&mut bytes).unwrap();
        let stats = Stats::default();
        let found = openpgp::verify_detached(&mut &DATA[..], &bytes, &known, false, &stats)
            .unwrap()
            .verified;
        assert_eq!(found.len(), good, "critical: {is_critical}");
    }
}
