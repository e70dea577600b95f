//! What strangers send costs no more time and memory than it should, whatever it says of itself.
//!
//! Pieces of one byte, packed into a few kilobytes, took minutes; locks were kept without a bound.
//! Nothing here looks at a clock: what is out of proportion is refused, with a reason that says so.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use holdfast_openpgp as openpgp;
use openpgp::keys::{Algorithm, NewKey, certificate_of};
use openpgp::{Kind, Opened, Reading, SecretKey, Stats, Writing};
use pgp::types::Password;

fn packet(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[0xc0 | tag, 255], &(body.len() as u32).to_be_bytes()[..], body].concat()
}

fn zip(inner: &[u8]) -> Vec<u8> {
    let mut stream = DeflateEncoder::new(vec![1], Compression::new(9));
    stream.write_all(inner).unwrap();
    packet(8, &stream.finish().unwrap())
}

/// Literal data in pieces of `piece` bytes.
fn in_pieces(piece: usize, count: usize) -> Vec<u8> {
    let mut bytes = vec![0xcb];
    let body: Vec<u8> = (0..piece * count).map(|at| [b'b', 0][at.min(1)]).collect();
    for one in body.chunks(piece) {
        bytes.push(224 | piece.ilog2() as u8);
        bytes.extend(one);
    }
    bytes.push(0);
    bytes
}

fn read(reading: &Reading, message: &[u8]) -> openpgp::Result<(Opened, usize)> {
    let mut data = Vec::new();
    let opened = reading.run(&mut &message[..], &mut data, &Stats::default())?;
    Ok((opened, data.len()))
}

fn refused(message: &[u8], why: &str) {
    let error = read(&Reading::default(), message).map(drop).unwrap_err();
    assert!(matches!(error.kind(), Kind::Damaged | Kind::Input), "{error}");
    assert!(error.to_string().contains(why), "{why}: {error}");
}

fn key() -> SecretKey {
    let new = NewKey {
        users: vec!["Ada <ada@example.org>".to_owned()],
        algorithm: Algorithm::Curve25519,
        v6: false,
        passphrase: None,
        lifetime_s: None,
        signing_only: false,
    };
    new.generate().unwrap()
}

#[test]
fn data_that_is_cut_into_crumbs_is_refused_however_it_is_packed() {
    // Some are read, as they come: a program may have a small buffer.
    for (piece, count) in [(1, 1000), (64, 100_000), (512, 20_000)] {
        let message = in_pieces(piece, count);
        assert_eq!(read(&Reading::default(), &message).unwrap().1, piece * count - 6);
    }
    let crumbs = in_pieces(1, 10_000_000);
    refused(&crumbs, "pieces of a few bytes");
    let packed = zip(&crumbs);
    assert!(packed.len() < 60_000);
    refused(&packed, "pieces of a few bytes");
}

#[test]
fn locks_and_signatures_are_kept_only_as_far_as_any_are_as_long() {
    let (long, body) = (packet(1, &[3; 1 << 20]), packet(1, &[3; 100_000]));
    refused(&long, "a session key is too long");
    refused(&body.repeat(60), "longer than any are");
    // Also such that nobody here understands.
    refused(&packet(1, &[99; 12]).repeat(2000), "more than 1024 recipients");
    refused(&packet(2, &[4; 100_000]).repeat(60), "longer than any are");
    refused(&packet(4, &[3, 0]).repeat(100), "more than 64 signatures");
    let many = packet(2, &[4, 0, 22, 8, 0, 0]).repeat(100);
    assert!(openpgp::signatures(&many).is_err());
}

#[test]
fn what_means_nothing_is_passed_over_only_so_often() {
    let marker = packet(10, b"PGP");
    let data = packet(11, b"b\0\0\0\0\0data");
    let around = [&marker.repeat(500)[..], &data, &marker.repeat(500)].concat();
    assert_eq!(read(&Reading::default(), &around).unwrap().1, 4);
    for many in [marker.repeat(2000), [data.clone(), marker.repeat(2000)].concat()] {
        refused(&many, "packets of it mean nothing");
    }
    // What is packed a thousandfold, and becomes no data.
    let padding = [packet(21, &vec![0; 200 << 20]), data].concat();
    let packed = zip(&padding);
    assert!(packed.len() < 400_000);
    refused(&packed, "far more than the data in it");
}

#[test]
fn layers_that_unpack_to_layers_come_to_an_end() {
    // Blocks of nothing: five bytes each, and the last one marked.
    let nothing = [&[1][..], &[0, 0, 0, 255, 255].repeat(40_000_000), &[1, 0, 0, 255, 255]];
    let packed = zip(&packet(8, &nothing.concat()));
    assert!(packed.len() < 1_000_000);
    refused(&packed, "mostly empty");
}

#[test]
fn nobody_unlocks_a_key_or_asks_for_it_once_for_each_lock() {
    let ada = key();
    let other = key();
    let to = |key: &SecretKey| {
        let recipients = vec![certificate_of(key)];
        let mut message = Vec::new();
        let writing = Writing { recipients, ..Writing::default() };
        writing.run(&mut &b"data"[..], &mut message, &Stats::default()).unwrap();
        let lock = 2 + usize::from(message[1]);
        (message[..lock].to_vec(), message[lock..].to_vec())
    };
    let (lock, container) = to(&ada);
    let (foreign, _) = to(&other);
    // The key id of a lock stands behind its version; nobody's is zero.
    let mut hidden = foreign;
    hidden[3..11].fill(0);
    let many = [&hidden.repeat(1000)[..], &lock, &container].concat();
    let reading = Reading { keys: vec![ada.clone()], ..Reading::default() };
    assert_eq!(read(&reading, &many).unwrap().1, 4, "what names the key is tried first");
    let failed = read(&reading, &[&hidden.repeat(1000)[..], &container].concat());
    let error = failed.map(drop).unwrap_err();
    assert_eq!(error.kind(), Kind::NoKey);
    assert!(error.to_string().contains("and 992 others"), "{error}");
}

#[test]
fn passphrases_are_tried_only_as_long_as_that_is_in_proportion() {
    let passphrases: Vec<Password> = (0..20).map(|at| Password::from(format!("{at}"))).collect();
    let mut message = Vec::new();
    let writing = Writing { passphrases, ..Writing::default() };
    writing.run(&mut &b"data"[..], &mut message, &Stats::default()).unwrap();
    let lock = 2 + usize::from(message[1]);
    let many = [message[..lock].repeat(1000), message[20 * lock..].to_vec()].concat();
    let wrong = vec![Password::from("wrong")];
    let reading = Reading { passphrases: wrong, ..Reading::default() };
    let error = read(&reading, &many).map(drop).unwrap_err();
    assert!(error.to_string().contains("744 of its 1000 locks"), "{error}");
}
