//! A message counts only when every layer that it is packed into has been read to its proven end.
//!
//! There was a message whose compressed packet said "not compressed": what stood behind it in its
//! container was never read, and so the sum at the container's end was not either. An attacker who
//! knew the first bytes of a file could cut it short without the key.

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use std::io::Write as _;

use crate::common::{BUSY, DATA, QUIET, key, literal, packet, stored, zip};
use bzip2::write::BzEncoder;
use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};
use holdfast_openpgp as openpgp;
use openpgp::keys::certificate_of;
use openpgp::{Container, Kind, Opened, Reading, SecretKey, SessionKey, Signer, Stats};
use openpgp::{Target, Writing};
use pgp::crypto::aead::{AeadAlgorithm, ChunkSize};
use pgp::crypto::sym::SymmetricKeyAlgorithm;
use pgp::packet::{OnePassSignature, PacketTrait as _, SymEncryptedProtectedData};
use pgp::types::{CompressionAlgorithm, Password};

/// More than is deciphered at once.
const LONG: usize = 3 << 20;

/// Numbers that look drawn.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

fn dice() -> Dice {
    Dice(88_172_645_463_325_252)
}

/// The same in pieces of so many bytes, a power of two.
fn in_pieces(tag: u8, body: &[u8], piece: usize) -> Vec<u8> {
    let mut bytes = vec![0xc0 | tag];
    let pieces = body.chunks_exact(piece);
    let rest = pieces.remainder();
    for one in pieces {
        bytes.push(224 | piece.ilog2() as u8);
        bytes.extend(one);
    }
    bytes.extend([&[255], &(rest.len() as u32).to_be_bytes()[..], rest].concat());
    bytes
}

fn zlib(inner: &[u8]) -> Vec<u8> {
    let mut stream = ZlibEncoder::new(vec![2], Compression::new(6));
    stream.write_all(inner).unwrap();
    packet(8, &stream.finish().unwrap())
}

fn signed(ada: &SecretKey, data: &[u8]) -> Vec<u8> {
    let writing = Writing {
        encrypted: false,
        signers: Signer::of(ada, &[]).unwrap(),
        stages: QUIET,
        ..Writing::default()
    };
    let mut message = Vec::new();
    writing.run(&mut &data[..], &mut message, &Stats::default()).unwrap();
    message
}

/// What holds the data, in a signature over that.
fn signed_around(ada: &SecretKey, data: &[u8], inner: &[u8]) -> Vec<u8> {
    let signers = Signer::of(ada, &[]).unwrap();
    let stats = Stats::default();
    let signature =
        openpgp::sign_detached(&mut &data[..], &signers, false, None, false, &stats).unwrap();
    let made = openpgp::signatures(&signature).unwrap().remove(0);
    let (config, id) = (made.config().unwrap(), *made.issuer_key_id()[0]);
    let announced = OnePassSignature::v3(config.typ, config.hash_alg, config.pub_alg, id);
    let mut bytes = Vec::new();
    announced.to_writer_with_header(&mut bytes).unwrap();
    [&bytes[..], inner, &signature].concat()
}

/// What packs packets into a layer.
type Layer = fn(&[u8]) -> Vec<u8>;

/// The containers that there are, with the one that nothing protects.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    V1(SymmetricKeyAlgorithm),
    V2(AeadAlgorithm),
    Bare,
}

const FORMS: [Form; 6] = [
    Form::V1(SymmetricKeyAlgorithm::AES128),
    Form::V1(SymmetricKeyAlgorithm::TripleDES),
    Form::V2(AeadAlgorithm::Ocb),
    Form::V2(AeadAlgorithm::Gcm),
    Form::V2(AeadAlgorithm::Eax),
    Form::Bare,
];

impl Form {
    fn cipher(self) -> SymmetricKeyAlgorithm {
        match self {
            Form::V1(cipher) => cipher,
            Form::V2(_) | Form::Bare => SymmetricKeyAlgorithm::AES128,
        }
    }

    fn key(self) -> Vec<u8> {
        (1..=self.cipher().key_size() as u8).collect()
    }

    fn seal(self, inner: &[u8]) -> Vec<u8> {
        let (drawn, cipher) = (rand::thread_rng(), self.cipher());
        let key = self.key();
        let sealed = match self {
            Form::V1(_) => SymEncryptedProtectedData::encrypt_seipdv1(drawn, cipher, &key, inner),
            Form::V2(mode) => {
                let chunk = ChunkSize::C64KiB;
                SymEncryptedProtectedData::encrypt_seipdv2(drawn, cipher, mode, chunk, &key, inner)
            }
            Form::Bare => return packet(9, &cipher.encrypt(drawn, &key, inner).unwrap()),
        };
        let mut bytes = Vec::new();
        sealed.unwrap().to_writer_with_header(&mut bytes).unwrap();
        bytes
    }

    fn read(self, ada: &SecretKey, message: &[u8]) -> openpgp::Result<(Opened, Vec<u8>)> {
        let key = SessionKey { cipher: self.cipher().into(), key: self.key().into() };
        // Threads matter where there is more than one job for them.
        let stages = if message.len() > 1 << 20 { BUSY } else { QUIET };
        let reading = Reading {
            session_keys: vec![key],
            certificates: vec![certificate_of(ada)],
            allow_old: true,
            must_be_encrypted: true,
            stages,
            ..Reading::default()
        };
        let mut data = Vec::new();
        let opened = reading.run(&mut &message[..], &mut data, &Stats::default())?;
        Ok((opened, data))
    }
}

/// Everything that a message may be packed into.
fn nestings(ada: &SecretKey, data: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let (bare, signed) = (literal(data), signed(ada, data));
    vec![
        ("data", bare.clone()),
        ("data in pieces", in_pieces(11, &[&b"b\0\0\0\0\0"[..], data].concat(), 128)),
        ("signed", signed.clone()),
        ("stored", stored(&bare)),
        ("stored, signed", stored(&signed)),
        ("stored in pieces", in_pieces(8, &[&[0], &bare[..]].concat(), 128)),
        ("stored twice", stored(&stored(&bare))),
        ("zip", zip(&bare)),
        ("zip, signed", zip(&signed)),
        ("zlib", zlib(&bare)),
        ("zip of stored", zip(&stored(&signed))),
        ("stored zip", stored(&zip(&signed))),
        ("zip of zip", zip(&zip(&bare))),
        ("zip of stored zlib", zip(&stored(&zlib(&bare)))),
        ("zip in a signature", signed_around(ada, data, &zip(&bare))),
        ("stored in a signature, zip", zip(&signed_around(ada, data, &stored(&bare)))),
    ]
}

/// The repair's own case: the packet says that it is not compressed, and more follows it.
#[test]
fn whoever_knows_how_a_file_begins_cannot_cut_it_short_without_the_key() {
    let data = dice().bytes(5 << 20);
    let writing = Writing {
        passphrases: vec![Password::from("word")],
        container: Some(Container::V1),
        stages: QUIET,
        ..Writing::default()
    };
    let mut message = Vec::new();
    writing.run(&mut &data[..], &mut message, &Stats::default()).unwrap();
    let forged = forged(&message, &data);
    let reading = |stages| Reading {
        passphrases: vec![Password::from("word")],
        must_be_encrypted: true,
        stages,
        ..Reading::default()
    };
    for stages in [QUIET, BUSY] {
        let mut found = Vec::new();
        let read = |message: &[u8], found: &mut Vec<u8>| {
            reading(stages).run(&mut &message[..], found, &Stats::default()).map(drop)
        };
        read(&message, &mut found).unwrap();
        assert!(found == data);
        let failed = read(&forged, &mut Vec::new()).unwrap_err();
        assert_eq!(failed.kind(), Kind::Damaged, "{failed}");
    }
}

/// A message of version 1, changed where its first bytes are known: it holds a packet that is not
/// compressed, of two mebibytes, and then something else.
fn forged(message: &[u8], data: &[u8]) -> Vec<u8> {
    // Behind the encrypted session key: the container's kind, a length of one byte, the version.
    let esk = 2 + usize::from(message[1]);
    assert_eq!((message[0], message[esk], message[esk + 2]), (0xc3, 0xd2, 1));
    // Sixteen random bytes and two that come twice.
    let begin = esk + 3 + 18;
    let known = [&[0xcb, 0xf4, b'b', 0, 0, 0, 0, 0][..], &data[..6]].concat();
    let (outer, inner) = ((2_u32 << 20).to_be_bytes(), ((2_u32 << 20) - 7).to_be_bytes());
    let wanted = [&[0xc8, 255], &outer[..], &[0, 0xcb, 255], &inner[..], b"b"].concat();
    assert_eq!(known.len(), wanted.len());
    let mut forged = message.to_vec();
    for (at, (known, wanted)) in known.iter().zip(wanted).enumerate() {
        forged[begin + at] ^= known ^ wanted;
    }
    forged
}

#[test]
fn what_follows_what_a_container_holds_is_read_and_is_an_error() {
    let ada = key();
    let junk = dice().bytes(LONG);
    for form in FORMS {
        for (what, inner) in nestings(&ada, DATA) {
            let what = format!("{what} in {form:?}");
            let whole = form.seal(&inner);
            let (opened, found) = form.read(&ada, &whole).expect(&what);
            assert!(found == DATA && opened.verified.len() == opened.signatures, "{what}");
            // What means nothing may follow: a marker, padding, what people try out.
            let noise = [&b"\xca\x03PGP"[..], &packet(21, &junk[..1 << 16]), &packet(60, b"?")];
            let followed = form.seal(&[&inner, &noise.concat()[..]].concat());
            assert_eq!(form.read(&ada, &followed).expect(&what).1, DATA, "{what}");
            for more in [&junk[..], &junk[..1], &literal(b"more"), &stored(b""), &[0; 9]] {
                let long = form.seal(&[&inner, more].concat());
                let failed = form.read(&ada, &long).map(drop).expect_err(&what);
                assert_eq!(failed.kind(), Kind::Damaged, "{what}: {failed}");
                // And so it is if the proof behind it is not right either. Where there is none,
                // what was changed may come to mean nothing.
                let spoilt = &spoilt_at_the_end(&long)[1];
                let failed = form.read(&ada, spoilt);
                assert!(form == Form::Bare || failed.is_err(), "{what}");
            }
            if form != Form::Bare {
                for spoilt in spoilt_at_the_end(&whole) {
                    assert!(form.read(&ada, &spoilt).is_err(), "{what}");
                }
            }
        }
    }
}

/// The contents of a compressed packet: the algorithm, and the stream.
fn streams(inner: &[u8]) -> [(&'static str, Vec<u8>); 3] {
    let mut deflate = DeflateEncoder::new(vec![1], Compression::none());
    deflate.write_all(inner).unwrap();
    let mut zlib = ZlibEncoder::new(vec![2], Compression::new(6));
    zlib.write_all(inner).unwrap();
    let mut bzip2 = BzEncoder::new(vec![3], bzip2::Compression::best());
    bzip2.write_all(inner).unwrap();
    [
        ("deflate", deflate.finish().unwrap()),
        ("zlib", zlib.finish().unwrap()),
        ("bzip2", bzip2.finish().unwrap()),
    ]
}

/// Sequoia pads what it encrypts behind the end of deflate, which no other can do without the
/// key. Behind other streams, and in what is not encrypted, nothing may stand.
#[test]
fn what_follows_a_stream_in_its_packet_is_an_error_but_for_the_padding_of_deflate() {
    let ada = key();
    let junk = dice().bytes(LONG);
    for form in FORMS {
        for (what, stream) in streams(&literal(DATA)) {
            let whole = form.seal(&packet(8, &stream));
            assert_eq!(form.read(&ada, &whole).expect(what).1, DATA, "{what} in {form:?}");
            for more in [&junk[..1], &junk[..], &stream[1..]] {
                let long = form.seal(&packet(8, &[&stream[..], more].concat()));
                let read = form.read(&ada, &long).map(|(_, found)| found);
                match read {
                    Ok(found) => {
                        assert!(what == "deflate" && form != Form::Bare, "{what} in {form:?}");
                        assert_eq!(found, DATA);
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), Kind::Damaged, "{what} in {form:?}: {error}");
                        assert!(what != "deflate" || form == Form::Bare, "{what} in {form:?}");
                    }
                }
            }
        }
    }
}

/// A message with its end changed, cut off, or made of zeros.
fn spoilt_at_the_end(message: &[u8]) -> Vec<Vec<u8>> {
    let last = message.len() - 1;
    let mut changed = message.to_vec();
    changed[last] ^= 1;
    let mut zeroed = message.to_vec();
    zeroed[last - 15..].fill(0);
    vec![changed, zeroed, message[..last].to_vec(), message[..last - 21].to_vec()]
}

#[test]
fn what_is_in_a_layer_is_the_whole_of_it() {
    let ada = key();
    let bare = literal(DATA);
    let message = signed(&ada, DATA);
    let unsigned = message[..message.len() - 2 - usize::from(signature_length(&message))].to_vec();
    let cut = |packet: &[u8]| packet[..packet.len() - 1].to_vec();
    let long = [&b"b\0\0\0\0\0"[..], &dice().bytes(5000)].concat();
    let pieces = in_pieces(11, &long, 512);
    let longer = |packet: &[u8]| {
        let mut packet = packet.to_vec();
        packet[5] += 1;
        packet
    };
    for (what, inner) in [
        ("the signature is missing", unsigned.clone()),
        ("two literals", [&bare[..], &bare].concat()),
        ("a literal that is cut", cut(&bare)),
        ("a literal that should be longer", longer(&bare)),
        ("pieces that are cut", cut(&pieces)),
        ("pieces without their last one", pieces[..1 + 513 * 3].to_vec()),
        ("a signature nobody announced", [&bare[..], &message[message.len() - 90..]].concat()),
        ("an end within a header", [&bare[..], &[0xcb]].concat()),
        ("session keys before what is in clear", [&packet(3, &[9, 9]), &bare[..]].concat()),
        ("nothing", Vec::new()),
        ("a marker alone", b"\xca\x03PGP".to_vec()),
    ] {
        let layers: [Layer; 4] = [<[u8]>::to_vec, stored, zip, |inner: &[u8]| zip(&stored(inner))];
        for layer in layers {
            for form in FORMS {
                let sealed = form.seal(&layer(&inner));
                let read = form.read(&ada, &sealed).map(drop);
                assert!(read.is_err(), "{what} in {form:?}");
            }
        }
    }
    // A packet that says it is longer or shorter than what is in it.
    for layer in [stored, zip, zlib] {
        let whole = layer(&message);
        for form in FORMS {
            assert!(form.read(&ada, &form.seal(&longer(&whole))).is_err());
            assert!(form.read(&ada, &form.seal(&cut(&whole))).is_err());
            let mut shorter = whole.clone();
            shorter[5] -= 1;
            assert!(form.read(&ada, &form.seal(&shorter)).is_err());
        }
    }
}

/// How long the last packet is, which is a signature with a length of one byte.
fn signature_length(message: &[u8]) -> u8 {
    let at = (2..message.len())
        .find(|at| message[*at] == 0xc2 && message.len() - at - 2 == usize::from(message[at + 1]));
    message[at.unwrap() + 1]
}

#[test]
fn nothing_is_encrypted_in_what_was_signed_or_encrypted() {
    let ada = key();
    for form in FORMS {
        let sealed = form.seal(&literal(DATA));
        let message = signed(&ada, DATA);
        let announcement = &message[..2 + usize::from(message[1])];
        for twice in [form.seal(&sealed), [announcement, &sealed].concat()] {
            assert!(form.read(&ada, &twice).is_err(), "{form:?}");
        }
    }
}

/// Any change of any byte of any container is refused, or leaves the plaintext as it was.
#[test]
fn no_change_of_a_container_changes_what_it_says() {
    let ada = key();
    let mut dice = dice();
    let data = dice.bytes((5 << 20) / 2);
    let protected = FORMS.into_iter().filter(|form| *form != Form::Bare);
    for form in protected {
        for (what, inner) in nestings(&ada, &data) {
            let whole = form.seal(&inner);
            let what = format!("{what} in {form:?}");
            assert!(form.read(&ada, &whole).expect(&what).1 == data, "{what}");
            for _ in 0..4 {
                let (changed, how) = changed(&whole, &mut dice);
                if let Ok((_, found)) = form.read(&ada, &changed) {
                    assert!(found == data, "{what}: {how}");
                }
            }
        }
        // And every bit of a small one, inside of the container.
        for (what, inner) in nestings(&ada, DATA) {
            let whole = form.seal(&inner);
            for bit in 0..whole.len() * 8 {
                if bit % 7 > 0 && bit > 50 * 8 {
                    continue;
                }
                let mut changed = whole.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                if let Ok((_, found)) = form.read(&ada, &changed) {
                    assert!(found == DATA, "{what} in {form:?}: bit {bit}");
                }
            }
        }
    }
}

/// A message with something changed somewhere, more often near its ends.
fn changed(message: &[u8], dice: &mut Dice) -> (Vec<u8>, String) {
    let mut bytes = message.to_vec();
    let length = bytes.len();
    let at = match dice.below(4) {
        0 => dice.below(100),
        1 => length - 1 - dice.below(100),
        _ => dice.below(length),
    };
    let end = (at + 1 + dice.below(length - at)).min(length);
    let how = dice.below(7);
    match how {
        0 => bytes[at] ^= 1 << dice.below(8),
        1 => bytes[at..end].fill(0),
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..end)),
        4 => drop(bytes.splice(at..at, dice.bytes(16))),
        5 => bytes[at..end].rotate_left((end - at) / 2),
        _ => bytes.extend_from_within(at..end),
    }
    (bytes, format!("way {how} from {at} to {end}"))
}

#[test]
fn a_file_gets_no_name_from_a_message_that_is_not_proven() {
    let ada = key();
    let form = FORMS[0];
    let out = std::env::temp_dir().join(format!("hf-pgp-proven-{}", std::process::id()));
    let seam = seam::Seam::real();
    let spoilt = form.seal(&[stored(&literal(DATA)), vec![0; LONG]].concat());
    let key = SessionKey { cipher: form.cipher().into(), key: form.key().into() };
    let reading = Reading { session_keys: vec![key], ..Reading::default() };
    for (message, works) in [(spoilt, false), (form.seal(&signed(&ada, DATA)), true)] {
        let mut target = Target::file(&seam, &out, false).unwrap();
        let read = reading.run(&mut &message[..], &mut target, &Stats::default());
        assert_eq!(read.is_ok(), works);
        if works {
            target.release().unwrap();
        }
        assert_eq!(seam.disk.exists(&out).unwrap(), works);
    }
    seam.disk.remove(&out).unwrap();
}

/// What the library writes in every compression, cut and joined anew.
#[test]
fn no_two_messages_make_a_third() {
    let data = dice().bytes(LONG);
    let algorithms =
        [None, Some((CompressionAlgorithm::ZIP, 1)), Some((CompressionAlgorithm::BZip2, 1))];
    for container in [Container::V1, Container::V2(AeadAlgorithm::Ocb)] {
        for compression in algorithms {
            let writing = Writing {
                passphrases: vec![Password::from("word")],
                container: Some(container),
                compression,
                ..Writing::default()
            };
            let mut messages = [Vec::new(), Vec::new()];
            for message in &mut messages {
                writing.run(&mut &data[..], message, &Stats::default()).unwrap();
            }
            let reading =
                Reading { passphrases: vec![Password::from("word")], ..Reading::default() };
            let [one, other] = messages;
            let middle = one.len() / 2;
            for mixed in [
                [&one[..middle], &other[middle.min(other.len())..]].concat(),
                [&one[..], &other].concat(),
                [&one[..100], &other[100..]].concat(),
            ] {
                let read = reading.run(&mut &mixed[..], &mut Vec::new(), &Stats::default());
                assert!(read.is_err(), "{container:?} {compression:?}");
            }
        }
    }
}
