//! OpenPGP messages, signatures and keys, as they come from anybody.
//!
//! No bytes make a reader panic, loop or take memory out of proportion. There is no secret key
//! here that the seeds are encrypted to; a passphrase opens some of them.

use openpgp::pgp::crypto::aead::AeadAlgorithm;
use openpgp::pgp::types::{CompressionAlgorithm, Password};
use openpgp::{Container, Reading, SessionKey, Stages, Stats, Writing};

/// No threads: a fuzzer runs many of these.
const QUIET: Stages = Stages { io: false, cipher: false, compress: false, threads: 1 };

/// Reads any bytes as a message, as a signature, as keys.
pub fn fuzz(bytes: &[u8]) {
    let reading = Reading { allow_old: true, stages: QUIET, ..Reading::default() };
    let mut input = bytes;
    let _ = reading.run(&mut input, &mut std::io::sink(), &Stats::default());
    // With a key that seems to fit, what is encrypted in old ways is deciphered, too.
    let key = SessionKey { cipher: 2, key: vec![7; 24].into() };
    let reading = Reading { session_keys: vec![key], ..reading };
    let _ = reading.run(&mut &bytes[..], &mut std::io::sink(), &Stats::default());
    let _ = openpgp::verify_detached(&mut &b"data"[..], bytes, &[], true, &Stats::default());
    let mut signed = Vec::new();
    if let Ok(message) = openpgp::Cleartext::read(&mut &bytes[..], &mut signed) {
        let _ = message.verify(&mut &signed[..], &[], true);
    }
    let _ = openpgp::Label::of(bytes);
    let _ = openpgp::Certificate::load(&mut &bytes[..]);
}

/// Messages of every form, armored and not.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let forms = [
        (true, Container::V1, None),
        (true, Container::V2(AeadAlgorithm::Ocb), Some(CompressionAlgorithm::ZIP)),
        (false, Container::V1, Some(CompressionAlgorithm::ZIP)),
        (false, Container::V1, Some(CompressionAlgorithm::ZLIB)),
        (false, Container::V1, Some(CompressionAlgorithm::BZip2)),
        (false, Container::V1, None),
    ];
    let messages = forms.into_iter().enumerate().map(|(index, (encrypted, form, packed))| {
        let writing = Writing {
            encrypted,
            passphrases: vec![Password::from("word")],
            container: Some(form),
            compression: packed.map(|algorithm| (algorithm, 6)),
            armor: index % 2 == 1,
            stages: QUIET,
            ..Writing::default()
        };
        let mut message = Vec::new();
        let data = b"what is at rest, at rest, at rest";
        let done = writing.run(&mut &data[..], &mut message, &Stats::default());
        assert!(done.is_ok(), "a message is written");
        message
    });
    // Containers of old: without protection, and under Triple-DES.
    let old = [vec![0xC9, 30], vec![0xD2, 31, 1]].map(|head| [head, vec![7; 30]].concat());
    messages.chain(old).collect()
}
