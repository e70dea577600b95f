//! A signature may stand around what the data is packed into: it is over the data all the same.
//! Also text whose lines end as not everybody ends them.

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use crate::common::{BUSY, DATA, QUIET, key, literal, packet, stored, zip};
use holdfast_openpgp as openpgp;
use openpgp::keys::certificate_of;
use openpgp::pgp::packet::{OnePassSignature, PacketTrait as _};
use openpgp::{Kind, Opened, Reading, SecretKey, Signer, Stages, Stats, Writing};
use openpgp::{sign_detached, signatures, verify_detached};

fn apart(key: &SecretKey, data: &[u8], is_text: bool) -> Vec<u8> {
    let signers = Signer::of(key, &[]).unwrap();
    sign_detached(&mut &data[..], &signers, is_text, None, false, &Stats::default()).unwrap()
}

/// What announces a signature over the data, and the signature.
fn around(key: &SecretKey, data: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let signature = apart(key, data, false);
    let packet = signatures(&signature).unwrap().remove(0);
    let (config, id) = (packet.config().unwrap(), *packet.issuer_key_id()[0]);
    let announced = OnePassSignature::v3(config.typ, config.hash_alg, config.pub_alg, id);
    let mut bytes = Vec::new();
    announced.to_writer_with_header(&mut bytes).unwrap();
    (bytes, signature)
}

fn read(key: &SecretKey, message: &[u8], stages: Stages) -> openpgp::Result<(Opened, Vec<u8>)> {
    let reading = Reading { certificates: vec![certificate_of(key)], stages, ..Reading::default() };
    let mut data = Vec::new();
    let opened = reading.run(&mut &message[..], &mut data, &Stats::default())?;
    Ok((opened, data))
}

#[test]
fn it_is_over_the_data_however_that_is_packed() {
    let ada = key();
    let long: Vec<u8> = (0..3_000_000_u32).map(|at| (at.wrapping_mul(at) >> 7) as u8).collect();
    for data in [DATA, &long] {
        let (one, sig) = around(&ada, data);
        let (two, other) = around(&ada, data);
        let bare = literal(data);
        let inside = [&two[..], &bare, &other].concat();
        let marker = packet(10, b"PGP");
        let packed = zip(&bare);
        let (of_packet, sig_of_packet) = around(&ada, &packed);
        for (what, message, count) in [
            ("the packet", [&of_packet[..], &packed, &sig_of_packet].concat(), 1),
            ("the packet, first", [&sig_of_packet[..], &packed].concat(), 1),
            ("the packet, inside", zip(&[&of_packet[..], &packed, &sig_of_packet].concat()), 1),
            ("zip", [&one[..], &zip(&bare), &sig].concat(), 1),
            ("stored", [&one[..], &stored(&bare), &sig].concat(), 1),
            ("signature first", [&sig[..], &zip(&bare)].concat(), 1),
            ("twice packed", [&one[..], &zip(&stored(&bare)), &sig].concat(), 1),
            ("packed again", zip(&[&one[..], &zip(&bare), &sig].concat()), 1),
            ("both", [&one[..], &zip(&inside), &sig].concat(), 2),
            ("two around", [&one[..], &two, &zip(&bare), &other, &sig].concat(), 2),
            ("first and behind", [&sig[..], &one, &zip(&inside), &sig].concat(), 3),
            ("markers", [&one[..], &zip(&bare), &marker, &sig, &marker].concat(), 1),
        ] {
            for stages in [QUIET, BUSY] {
                let (opened, found) = read(&ada, &message, stages).expect(what);
                assert!(found == data, "{what}");
                let counts = (opened.verified.len(), opened.signatures, opened.packets.len());
                assert_eq!(counts, (count, count, count), "{what}: {:?}", opened.bad);
            }
        }
    }
}

#[test]
fn what_is_missing_or_too_much_is_seen() {
    let ada = key();
    let (one, sig) = around(&ada, DATA);
    let bare = literal(DATA);
    let packed = zip(&bare);
    let cut = &packed[..packed.len() - 4];
    for (what, message) in [
        ("no signature", [&one[..], &packed].concat()),
        ("it is inside", [&one[..], &zip(&[&bare[..], &sig].concat())].concat()),
        ("one too many", [&one[..], &packed, &sig, &sig].concat()),
        ("data follows", [&one[..], &packed, &sig, &bare].concat()),
        ("data between", [&one[..], &packed, &bare, &sig].concat()),
        ("a cut layer", [&one[..], cut, &sig].concat()),
        ("something behind the first", [&sig[..], &packed, &sig].concat()),
        ("a tail in the layer", [&one[..], &zip(&[&bare[..], &bare].concat()), &sig].concat()),
        ("nine layers", [&one[..], &(0..9).fold(bare.clone(), |at, _| stored(&at)), &sig].concat()),
    ] {
        for stages in [QUIET, BUSY] {
            let error = read(&ada, &message, stages).map(drop).expect_err(what);
            assert_eq!(error.kind(), Kind::Damaged, "{what}: {error}");
        }
    }
    // It is over the packet, but of another one with the same data.
    let (one, sig) = around(&ada, &packed);
    let other = [&one[..], &stored(&bare), &sig].concat();
    let (opened, _) = read(&ada, &other, QUIET).unwrap();
    assert_eq!((opened.verified.len(), opened.bad.len()), (0, 1), "{:?}", opened.bad);
    let (one, sig) = around(&ada, DATA);
    let changed = [&one[..], &zip(&literal(b"pay 900 to Bob\n")), &sig].concat();
    let (opened, _) = read(&ada, &changed, QUIET).unwrap();
    assert_eq!((opened.verified.len(), opened.bad.len()), (0, 1), "{:?}", opened.bad);
}

#[test]
fn text_counts_by_each_reading_of_a_carriage_return_that_ends_no_line() {
    let ada = key();
    let text = b"one\rtwo\r\nthree\n\r\r\nfour\r";
    // What other programs hash, in lines that everybody reads in one way.
    let blank = b"one\rtwo\r\nthree\r\n\r\nfour";
    let end = b"one\r\ntwo\r\nthree\r\n\r\n\r\nfour\r\n";
    let writing = Writing {
        encrypted: false,
        signers: Signer::of(&ada, &[]).unwrap(),
        text: true,
        compression: None,
        stages: QUIET,
        ..Writing::default()
    };
    let mut message = Vec::new();
    writing.run(&mut &text[..], &mut message, &Stats::default()).unwrap();
    let (opened, _) = read(&ada, &message, QUIET).unwrap();
    assert_eq!(opened.verified.len(), 1, "{:?}", opened.bad);
    let mut letter = Vec::new();
    opened.packets[0].to_writer_with_header(&mut letter).unwrap();

    let certificates = [certificate_of(&ada)];
    let count = |signature: &[u8], data: &[u8]| {
        let stats = Stats::default();
        let judged = verify_detached(&mut &data[..], signature, &certificates, false, &stats);
        judged.unwrap().verified.len()
    };
    for signature in
        [apart(&ada, text, true), apart(&ada, blank, true), apart(&ada, end, true), letter]
    {
        assert_eq!(count(&signature, text), 1);
        assert_eq!(count(&signature, b"one\rtwo\r\nthree\n\r\r\nfive\r"), 0);
    }
    // To the letter is to the letter.
    assert_eq!(count(&apart(&ada, blank, false), text), 0);
    assert_eq!(count(&apart(&ada, text, false), text), 1);
}
