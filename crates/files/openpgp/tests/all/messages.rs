//! Messages come back as they went in, through every form that is written, and no attacker can
//! change one without being found out.

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use std::io::Read as _;

use holdfast_openpgp as openpgp;
use openpgp::keys::{Algorithm, NewKey, certificate_of, key_with_revocation, revoke};
use openpgp::{Cleartext, Container, Kind, Reading, Signer, Stages, Stats, Target, Writing};
use pgp::crypto::aead::AeadAlgorithm;
use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::sym::SymmetricKeyAlgorithm;
use pgp::packet::{PacketTrait as _, RevocationCode, SignatureConfig, SignatureType};
use pgp::types::{CompressionAlgorithm, KeyDetails as _, Password, Timestamp};
use rpgpie::tsk::Tsk;

fn key(v6: bool, algorithm: Algorithm) -> Tsk {
    let users = vec!["Ada <ada@example.org>".to_owned()];
    let new =
        NewKey { users, algorithm, v6, passphrase: None, lifetime_s: None, signing_only: false };
    new.generate().unwrap()
}

fn sample(length: usize) -> Vec<u8> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(format!("record {} of {}\n", state % 1000, state % 7).bytes());
    }
    bytes.truncate(length);
    bytes
}

fn write(writing: &Writing, data: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    writing.run(&mut &data[..], &mut message, &Stats::default()).unwrap();
    message
}

fn read(reading: &Reading, message: &[u8]) -> openpgp::Result<(openpgp::Opened, Vec<u8>)> {
    let mut data = Vec::new();
    let opened = reading.run(&mut &message[..], &mut data, &Stats::default())?;
    Ok((opened, data))
}

const CONTAINERS: [Container; 4] = [
    Container::V1,
    Container::V2(AeadAlgorithm::Ocb),
    Container::V2(AeadAlgorithm::Gcm),
    Container::V2(AeadAlgorithm::Eax),
];

#[test]
fn every_form_comes_back_here_and_in_another_implementation() {
    let ada = key(true, Algorithm::Curve25519);
    let reading = Reading {
        keys: vec![ada.clone()],
        certificates: vec![certificate_of(&ada)],
        must_be_encrypted: true,
        ..Reading::default()
    };
    let compressions = [
        None,
        Some((CompressionAlgorithm::ZIP, 1)),
        Some((CompressionAlgorithm::ZLIB, 6)),
        Some((CompressionAlgorithm::BZip2, 9)),
    ];
    let ciphers = [
        SymmetricKeyAlgorithm::AES128,
        SymmetricKeyAlgorithm::AES192,
        SymmetricKeyAlgorithm::AES256,
    ];
    let lengths = [0, 1, 1000, (1 << 20) - 6, 1 << 20, (1 << 20) + 1, 2_500_000];
    for (index, length) in lengths.into_iter().enumerate() {
        let data = sample(length);
        for container in CONTAINERS {
            for compression in compressions {
                let writing = Writing {
                    recipients: vec![certificate_of(&ada)],
                    signers: Signer::of(&ada, &[]).unwrap(),
                    container: Some(container),
                    cipher: Some(ciphers[index % 3]),
                    compression,
                    armor: index % 2 == 1,
                    stages: if index % 2 == 0 {
                        Stages { io: false, cipher: false, compress: false, threads: 1 }
                    } else {
                        Stages { io: true, cipher: true, compress: true, threads: 3 }
                    },
                    name: b"name".to_vec(),
                    ..Writing::default()
                };
                let message = write(&writing, &data);
                let what = format!("{length} {container:?} {compression:?}");
                let (opened, found) = read(&reading, &message).expect(&what);
                assert!(found == data, "{what}");
                assert_eq!((opened.verified.len(), opened.signatures), (1, 1), "{what}");
                assert_eq!(opened.name, b"name");
                elsewhere(&ada, &message, &data, &what);
            }
        }
    }
}

/// The streaming reader of the library that our packets come from: other code for the container,
/// the compression and the lengths.
fn elsewhere(key: &Tsk, message: &[u8], data: &[u8], what: &str) {
    let cursor = std::io::Cursor::new(message.to_vec());
    let (message, _) = pgp::composed::Message::from_reader(cursor).expect(what);
    let certificates = [certificate_of(key)];
    let found =
        rpgpie::message::unpack(message, vec![key.key()], vec![], vec![], &[], &certificates);
    let found = found.expect(what);
    assert!(found.cleartext == data, "{what}");
    assert_eq!(found.validated.len(), 1, "{what}");
}

#[test]
fn readable_text_of_any_length_is_signed_and_verified_without_being_held() {
    let seam = seam::Seam::real();
    let held = || Target::stream(&seam, Box::new(std::io::sink()));
    let data = sample(66 << 20);
    for v6 in [false, true] {
        let ada = key(v6, Algorithm::Curve25519);
        let signers = Signer::of(&ada, &[]).unwrap();
        let mut message = held();
        openpgp::sign_cleartext(&mut &data[..], &signers, None, &mut message).unwrap();
        let mut text = held();
        let found = Cleartext::read(&mut message.again().unwrap(), &mut text).unwrap();
        let known = [certificate_of(&ada)];
        assert_eq!(
            found.verify(&mut text.again().unwrap(), &known, false).unwrap().verified.len(),
            1
        );
        let mut same = Vec::new();
        text.again().unwrap().read_to_end(&mut same).unwrap();
        assert!(data.starts_with(&same) && data.len() - same.len() <= 1);
        same[40 << 20] ^= 1;
        assert!(found.verify(&mut &same[..], &known, false).unwrap().verified.is_empty());
    }
    let line = vec![b'x'; (16 << 20) + 1];
    let error = openpgp::sign_cleartext(&mut &line[..], &[], None, &mut std::io::sink());
    assert!(error.unwrap_err().to_string().contains("longer than 16 MiB"));
}

#[test]
fn passphrases_open_what_they_closed_and_nothing_else_does() {
    let data = sample(70_000);
    for container in CONTAINERS {
        let writing = Writing {
            passphrases: vec![Password::from("one"), Password::from("two")],
            container: Some(container),
            ..Writing::default()
        };
        let message = write(&writing, &data);
        for word in ["one", "two"] {
            let passphrases = vec![Password::from("wrong"), Password::from(word)];
            let reading = Reading { passphrases, ..Reading::default() };
            assert!(read(&reading, &message).unwrap().1 == data);
        }
        let reading = Reading { passphrases: vec![Password::from("three")], ..Reading::default() };
        let error = read(&reading, &message).err().unwrap();
        assert!(matches!(error.kind(), Kind::NoKey | Kind::Damaged), "{error}");
        assert_eq!(read(&Reading::default(), &message).err().unwrap().kind(), Kind::NoKey);
    }
}

/// A wrong passphrase opens an older encrypted session key with something that looks like a key
/// once in 256 times;
/// the right one, tried after it, has to open the message all the same.
#[test]
fn a_wrong_passphrase_before_the_right_one_spoils_nothing() {
    let quiet = Stages { io: false, cipher: false, compress: false, threads: 1 };
    for round in 0..20 {
        let writing = Writing {
            passphrases: vec![Password::from("right")],
            container: Some(Container::V1),
            stages: quiet,
            ..Writing::default()
        };
        let message = write(&writing, b"data");
        let mut passphrases: Vec<Password> =
            (0..4).map(|wrong| Password::from(format!("wrong {wrong}"))).collect();
        passphrases.push(Password::from("right"));
        let reading = Reading { passphrases, stages: quiet, ..Reading::default() };
        assert_eq!(read(&reading, &message).unwrap().1, b"data", "round {round}");
    }
}

#[test]
fn keys_of_every_kind_open_what_is_for_them() {
    let data = sample(5000);
    let kinds = [
        (false, Algorithm::Rsa(2048)),
        (false, Algorithm::Curve25519),
        (false, Algorithm::Nist(256)),
        (false, Algorithm::Nist(384)),
        (false, Algorithm::Nist(521)),
        (true, Algorithm::Curve25519),
        (true, Algorithm::Curve448),
        (true, Algorithm::Nist(256)),
    ];
    let keys: Vec<Tsk> = kinds.iter().map(|(v6, kind)| key(*v6, *kind)).collect();
    let writing = Writing {
        recipients: keys.iter().map(certificate_of).collect(),
        signers: keys.iter().flat_map(|key| Signer::of(key, &[]).unwrap()).collect(),
        ..Writing::default()
    };
    let message = write(&writing, &data);
    for (key, kind) in keys.iter().zip(kinds) {
        let reading = Reading {
            keys: vec![key.clone()],
            certificates: keys.iter().map(certificate_of).collect(),
            ..Reading::default()
        };
        let what = format!("{kind:?}");
        let (opened, found) = read(&reading, &message).expect(&what);
        assert!(found == data, "{kind:?}");
        assert_eq!(opened.verified.len(), keys.len(), "{kind:?}");
    }
}

/// No byte of plaintext counts unless the whole was right: every bit turned, every length cut, and
/// bytes added are found.
#[test]
fn whoever_changes_a_bit_cuts_or_adds_is_found_out() {
    let ada = key(true, Algorithm::Curve25519);
    let data = sample(300);
    let quiet = Stages { io: false, cipher: false, compress: false, threads: 1 };
    for container in CONTAINERS {
        for compression in [None, Some((CompressionAlgorithm::ZIP, 1))] {
            let writing = Writing {
                recipients: vec![certificate_of(&ada)],
                container: Some(container),
                compression,
                stages: quiet,
                ..Writing::default()
            };
            let message = write(&writing, &data);
            let reading = Reading {
                keys: vec![ada.clone()],
                must_be_encrypted: true,
                stages: quiet,
                ..Reading::default()
            };
            assert!(read(&reading, &message).unwrap().1 == data);
            for bit in 0..message.len() * 8 {
                let mut changed = message.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                // Some of the first bytes only name the recipient.
                if let Ok((_, found)) = read(&reading, &changed) {
                    assert!(found == data && bit < 8 * 110, "{container:?} bit {bit}");
                }
            }
            for cut in 0..message.len() {
                assert!(read(&reading, &message[..cut]).is_err(), "{container:?} cut {cut}");
            }
            for more in [&b"\0"[..], b"x", &message[..]] {
                let mut longer = message.clone();
                longer.extend_from_slice(more);
                assert!(read(&reading, &longer).is_err(), "{container:?} with more");
            }
        }
    }
}

#[test]
fn chunks_that_change_places_are_found_out() {
    let ada = key(true, Algorithm::Curve25519);
    let data = sample(1_200_000);
    let writing = Writing {
        recipients: vec![certificate_of(&ada)],
        container: Some(Container::V2(AeadAlgorithm::Ocb)),
        ..Writing::default()
    };
    let message = write(&writing, &data);
    let reading = Reading { keys: vec![ada.clone()], ..Reading::default() };
    // Two neighbouring chunks, well inside the first piece.
    let chunk = (256 << 10) + 16;
    let begin = message.len() - 3 * chunk;
    let mut changed = message.clone();
    let (first, second) = changed[begin - chunk..begin + chunk].split_at_mut(chunk);
    first.swap_with_slice(second);
    assert_eq!(read(&reading, &changed).err().unwrap().kind(), Kind::Damaged);
}

#[test]
fn keys_that_ended_are_refused_with_the_reason() {
    let key = |lifetime_s, signing_only| {
        let new = NewKey {
            users: vec!["Ada <ada@example.org>".to_owned()],
            algorithm: Algorithm::Curve25519,
            v6: false,
            passphrase: None,
            lifetime_s,
            signing_only,
        };
        new.generate().unwrap()
    };
    let (short, signs, gone) = (key(Some(1), false), key(None, true), key(None, false));
    let word = revoke(&gone, &[], RevocationCode::KeyRetired, "").unwrap();
    let gone = key_with_revocation(&gone, word);
    seam::Seam::real().clock.sleep(std::time::Duration::from_secs(2));
    for (key, why) in [(short, "has expired"), (gone, "was revoked"), (signs, "no part for that")] {
        let writing = Writing { recipients: vec![certificate_of(&key)], ..Writing::default() };
        let refused = writing.run(&mut &b"pay"[..], &mut Vec::new(), &Stats::default());
        let printed = refused.err().unwrap().to_string();
        assert!(printed.contains(why), "{printed}");
    }
}

/// A signature of key 7 with a subpacket of no length, and what announces it.
const UNREADABLE: &[u8] = &[0xc2, 15, 4, 0, 22, 8, 0, 1, 0, 0, 0, 7, 7, 0, 1, 1, 0];
const ANNOUNCED: &[u8] = &[0xc4, 13, 3, 0, 8, 22, 0, 0, 0, 0, 0, 0, 0, 7, 0];
/// A signature of version 2 that is cut.
const CUT: &[u8] = &[0xc2, 4, 2, 5, 7, 7];
/// An announcement that is cut.
const CUT_ANNOUNCED: &[u8] = &[0xc4, 2, 3, 0];

#[test]
fn a_signature_that_cannot_be_read_is_not_good_and_spoils_no_other() {
    let ada = key(false, Algorithm::Curve25519);
    let certificates = vec![certificate_of(&ada)];
    let signers = Signer::of(&ada, &[]).unwrap();
    let stats = Stats::default();
    let data = b"pay 100 to Bob";
    let good =
        openpgp::sign_detached(&mut &data[..], &signers, false, None, false, &stats).unwrap();
    for (unreadable, announced) in [(UNREADABLE, ANNOUNCED), (CUT, CUT_ANNOUNCED)] {
        for (signatures, count) in [
            ([unreadable, &good].concat(), 1),
            ([&good, unreadable].concat(), 1),
            (unreadable.to_vec(), 0),
        ] {
            let found =
                openpgp::verify_detached(&mut &data[..], &signatures, &certificates, false, &stats);
            assert_eq!(found.unwrap().verified.len(), count);
        }
        let writing = Writing { encrypted: false, signers: signers.clone(), ..Writing::default() };
        let message = write(&writing, data);
        let bare = write(&Writing { encrypted: false, ..Writing::default() }, data);
        let around = [announced, &message, unreadable].concat();
        let alone = [announced, &bare, unreadable].concat();
        let before = [unreadable, &bare].concat();
        let reading = Reading { certificates: certificates.clone(), ..Reading::default() };
        for (message, all, count) in [(around, 2, 1), (alone, 1, 0), (before, 1, 0)] {
            let (opened, found) = read(&reading, &message).unwrap();
            assert_eq!((opened.signatures, opened.verified.len()), (all, count));
            assert!(found == data);
        }
    }
}

/// No signature covers the form that a literal packet says its data has.
#[test]
fn what_is_signed_to_the_letter_stays_so_whatever_form_its_packet_says() {
    let key = key(false, Algorithm::Curve25519);
    let signers = Signer::of(&key, &[]).unwrap();
    let data = b"a\r\nb\0\r\nc";
    let message = write(&Writing { encrypted: false, signers, ..Writing::default() }, data);
    let at = message.windows(data.len()).position(|part| part == data).unwrap() - 6;
    assert_eq!(message[at], b'b');
    let certificates = vec![certificate_of(&key)];
    let reading = Reading { certificates, native_lines: true, ..Reading::default() };
    for form in [b'b', b't', b'u'] {
        let mut altered = message.clone();
        altered[at] = form;
        let (opened, found) = read(&reading, &altered).unwrap();
        assert_eq!((opened.verified.len(), &found[..]), (1, &data[..]), "{}", form as char);
    }
}

#[test]
fn what_a_wrong_passphrase_gives_by_chance_is_no_key_of_an_old_cipher() {
    use pgp::composed::RawSessionKey;
    use pgp::packet::SymKeyEncryptedSessionKey;
    use pgp::types::StringToKey;

    let writing = Writing {
        passphrases: vec![Password::from("right")],
        container: Some(Container::V1),
        ..Writing::default()
    };
    let message = write(&writing, b"at rest");
    let by_chance = |cipher: SymmetricKeyAlgorithm| {
        let key = RawSessionKey::from(&vec![7; cipher.key_size()][..]);
        let s2k = StringToKey::new_iterated(rand::thread_rng(), Default::default(), 96);
        let wrong = Password::from("wrong");
        let esk = SymKeyEncryptedSessionKey::encrypt_v4(&wrong, &key, s2k, cipher).unwrap();
        let mut bytes = Vec::new();
        esk.to_writer_with_header(&mut bytes).unwrap();
        bytes
    };
    for cipher in [
        SymmetricKeyAlgorithm::Twofish,
        SymmetricKeyAlgorithm::TripleDES,
        SymmetricKeyAlgorithm::Camellia128,
        SymmetricKeyAlgorithm::CAST5,
    ] {
        let message = [&by_chance(cipher)[..], &message].concat();
        for allow_old in [false, true] {
            let wrong = vec![Password::from("wrong")];
            let reading = Reading { passphrases: wrong, allow_old, ..Reading::default() };
            let failed = read(&reading, &message).map(drop).unwrap_err();
            assert_eq!(failed.kind(), Kind::NoKey, "{cipher:?} {failed}");
            let both = ["wrong", "right"].map(Password::from).into();
            let reading = Reading { passphrases: both, allow_old, ..Reading::default() };
            assert_eq!(read(&reading, &message).unwrap().1, b"at rest");
        }
    }
}

#[test]
fn nothing_is_written_for_more_than_can_be_read() {
    let ada = key(false, Algorithm::Curve25519);
    let signer = Signer::of(&ada, &[]).unwrap().remove(0);
    for count in [64, 65] {
        let signers = vec![signer.clone(); count];
        let writing = Writing { encrypted: false, signers, ..Writing::default() };
        let written = writing.run(&mut &b""[..], &mut Vec::new(), &Stats::default());
        assert_eq!(
            written.map_err(|error| error.kind()).err(),
            (count > 64).then_some(Kind::Usage)
        );
    }
    let passphrases: Vec<Password> = (0..257).map(|_| Password::from("word")).collect();
    let writing = Writing { passphrases, ..Writing::default() };
    let written = writing.run(&mut &b""[..], &mut Vec::new(), &Stats::default());
    assert_eq!(written.err().map(|error| error.kind()), Some(Kind::Usage));
    // Who is named twice needs one encrypted session key.
    let twice = vec![certificate_of(&ada); 2];
    let once = vec![certificate_of(&ada)];
    let written = |recipients| write(&Writing { recipients, ..Writing::default() }, b"").len();
    assert_eq!(written(twice), written(once));
}

#[test]
fn why_a_signature_does_not_count_is_said() {
    use pgp::packet::{Notation, Subpacket, SubpacketData};

    let ada = key(false, Algorithm::Curve25519);
    let primary = &ada.key().primary_key;
    let notation =
        Notation { readable: true, name: "terms@example.org".into(), value: "net 30".into() };
    let made = |data: Option<SubpacketData>, hash| {
        let mut config = SignatureConfig::v4(SignatureType::Binary, primary.algorithm(), hash);
        let time = SubpacketData::SignatureCreationTime(Timestamp::now());
        let issuer = SubpacketData::IssuerFingerprint(primary.fingerprint());
        config.hashed_subpackets = [time, issuer]
            .into_iter()
            .chain(data)
            .map(|data| Subpacket::critical(data).unwrap())
            .collect();
        let signature = config.sign(primary, &Password::empty(), &b"pay"[..]).unwrap();
        let mut bytes = Vec::new();
        signature.to_writer_with_header(&mut bytes).unwrap();
        bytes
    };
    let plain = made(None, HashAlgorithm::Sha256);
    let with = |at: usize, byte: u8| {
        let mut bytes = plain.clone();
        let body = bytes.len() - usize::from(bytes[1]);
        bytes[body + at] = byte;
        bytes
    };
    let private = SubpacketData::Experimental(101, vec![1].into());
    for (signature, why) in [
        (made(Some(SubpacketData::Notation(notation)), HashAlgorithm::Sha256), "terms@example.org"),
        (made(Some(private), HashAlgorithm::Sha256), "subpacket 101"),
        (with(1, 0x10), "none over data, but of type 0x10"),
        (with(1, 0x99), "none over data, but of type 0x99"),
        (with(3, 99), "hash 99, which is not known"),
        (with(3, 1), "MD5, which is old and weak, and counts only with --allow-old"),
        (with(3, 11), "SHA224, too short for its key"),
        (with(3, 10), "something was changed"),
    ] {
        let known = [certificate_of(&ada)];
        let stats = Stats::default();
        let judged =
            openpgp::verify_detached(&mut &b"pay"[..], &signature, &known, false, &stats).unwrap();
        assert!(judged.verified.is_empty(), "{why}");
        assert!(judged.doubts()[0].contains(why), "{why}: {:?}", judged.doubts());
    }
}

/// `gpg --rfc2440 --disable-mdc -c --cipher-algo CAST5 --s2k-mode 0` of two letters, passphrase
/// "pw". Each of these other passphrases gives what looks like the packet of data that it begins
/// with.
const BARE: &[u8] = &[
    0x8c, 0x04, 0x04, 0x03, 0x00, 0x02, 0xa4, 0x16, 0x3d, 0x3a, 0x1b, 0x27, 0x74, 0x37, 0xe6, 0xf0,
    0xbe, 0xd7, 0xb5, 0x00, 0xf7, 0xe0, 0xf0, 0x12, 0xa6, 0x55, 0xcc, 0x90, 0x5d, 0x1e,
];
const CHANCES: [&str; 3] = ["w20913", "w4786", "w40401"];

/// Gives a byte at a time, as a slow pipe may.
struct Slow<'a>(&'a [u8]);

impl std::io::Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let length = out.len().min(1);
        self.0.read(&mut out[..length])
    }
}

#[test]
fn a_wrong_passphrase_of_an_old_message_is_told_as_such_however_it_comes() {
    let open = |word: &str| {
        let passphrases = vec![Password::from(word)];
        let reading = Reading { passphrases, allow_old: true, ..Reading::default() };
        let mut data = Vec::new();
        reading.run(&mut Slow(BARE), &mut data, &Stats::default()).map(|_| data)
    };
    assert_eq!(open("pw").unwrap(), b"hi\n");
    for word in CHANCES {
        assert_eq!(open(word).unwrap_err().kind(), Kind::NoKey, "{word}");
    }
}

#[test]
fn what_is_not_known_is_named_by_its_number() {
    let read = |message: &[u8]| {
        let mut data = Vec::new();
        Reading::default().run(&mut &message[..], &mut data, &Stats::default()).err().unwrap()
    };
    let message = write(&Writing { encrypted: false, ..Writing::default() }, b"data");
    let behind = [&message[..], &[0xc0 | 25, 1, 0]].concat();
    for (message, word) in [
        (&[0xc0 | 25, 1, 0][..], "a packet of type 25"),
        (&behind, "a packet of type 25 follows"),
        (&[0xc0 | 8, 2, 99, 0], "compression of number 99"),
        (&[0xc0 | 13, 1, b'A'], "does not begin with a user id"),
    ] {
        let printed = read(message).to_string();
        assert!(printed.contains(word), "{printed}");
    }
}
