//! What tests of messages in layers share: packets made by hand, and a key.

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use holdfast_openpgp as openpgp;
use openpgp::keys::{Algorithm, NewKey};
use openpgp::{SecretKey, Stages};

pub(crate) const DATA: &[u8] = b"pay 100 to Bob\n";
pub(crate) const QUIET: Stages = Stages { io: false, cipher: false, compress: false, threads: 1 };
pub(crate) const BUSY: Stages = Stages { io: true, cipher: true, compress: true, threads: 3 };

pub(crate) fn packet(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[0xc0 | tag, 255], &(body.len() as u32).to_be_bytes()[..], body].concat()
}

pub(crate) fn literal(data: &[u8]) -> Vec<u8> {
    packet(11, &[&b"b\0\0\0\0\0"[..], data].concat())
}

pub(crate) fn stored(inner: &[u8]) -> Vec<u8> {
    packet(8, &[&[0], inner].concat())
}

pub(crate) fn zip(inner: &[u8]) -> Vec<u8> {
    let mut stream = DeflateEncoder::new(vec![1], Compression::new(6));
    stream.write_all(inner).unwrap();
    packet(8, &stream.finish().unwrap())
}

pub(crate) fn key() -> SecretKey {
    let new = NewKey {
        users: vec!["Ada <ada@example.org>".to_owned()],
        algorithm: Algorithm::Curve25519,
        v6: false,
        passphrase: None,
        lifetime_s: None,
        signing_only: true,
    };
    new.generate().unwrap()
}
