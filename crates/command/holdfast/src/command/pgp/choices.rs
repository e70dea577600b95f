//! What can be chosen: ciphers, forms, compressions, digests; and the list of all of it.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use openpgp::Container;
use openpgp::pgp::crypto::aead::AeadAlgorithm;
use openpgp::pgp::crypto::hash::HashAlgorithm;
use openpgp::pgp::crypto::sym::SymmetricKeyAlgorithm;
use openpgp::pgp::types::CompressionAlgorithm;
use serde_json::json;

use super::super::DONE;
use crate::context::Context;
use crate::failure::Result;

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Cipher {
    Aes128,
    Aes192,
    Aes256,
}

impl Cipher {
    pub(super) fn algorithm(self) -> SymmetricKeyAlgorithm {
        match self {
            Cipher::Aes128 => SymmetricKeyAlgorithm::AES128,
            Cipher::Aes192 => SymmetricKeyAlgorithm::AES192,
            Cipher::Aes256 => SymmetricKeyAlgorithm::AES256,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Form {
    /// CFB and a SHA-1 sum: every program reads it
    V1,
    /// RFC 9580 with OCB
    V2,
    /// RFC 9580 with GCM
    V2Gcm,
    /// RFC 9580 with EAX
    V2Eax,
}

impl Form {
    pub(super) fn container(self) -> Container {
        match self {
            Form::V1 => Container::V1,
            Form::V2 => Container::V2(AeadAlgorithm::Ocb),
            Form::V2Gcm => Container::V2(AeadAlgorithm::Gcm),
            Form::V2Eax => Container::V2(AeadAlgorithm::Eax),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Compression {
    None,
    Zip,
    Zlib,
    Bzip2,
}

impl Compression {
    pub(super) fn with(self, level: u32) -> Option<(CompressionAlgorithm, u32)> {
        let algorithm = match self {
            Compression::None => return None,
            Compression::Zip => CompressionAlgorithm::ZIP,
            Compression::Zlib => CompressionAlgorithm::ZLIB,
            Compression::Bzip2 => CompressionAlgorithm::BZip2,
        };
        Some((algorithm, level))
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Digest {
    Sha256,
    Sha384,
    Sha512,
}

impl Digest {
    pub(super) fn algorithm(self) -> HashAlgorithm {
        match self {
            Digest::Sha256 => HashAlgorithm::Sha256,
            Digest::Sha384 => HashAlgorithm::Sha384,
            Digest::Sha512 => HashAlgorithm::Sha512,
        }
    }
}

/// Nothing to say: all algorithms are shown.
#[derive(Args, Debug)]
pub(super) struct AlgorithmsArgs {}

/// What there is, by use; the last column is what is only read.
const ALGORITHMS: [(&str, &[&str], &[&str]); 6] = [
    (
        "public keys",
        &[
            "RSA 2048 to 8192",
            "Ed25519, X25519",
            "Ed448, X448",
            "ECDSA, ECDH P-256",
            "ECDSA, ECDH P-384",
            "ECDSA, ECDH P-521",
        ],
        &["RSA under 2048, with --allow-old"],
    ),
    (
        "ciphers",
        &["AES-128", "AES-192", "AES-256"],
        &[
            "Triple-DES, with --allow-old",
            "CAST5, with --allow-old",
            "Blowfish, with --allow-old",
            "Twofish, with --allow-old",
            "IDEA, with --allow-old",
            "Camellia, with --allow-old",
        ],
    ),
    (
        "containers",
        &[
            "version 1 (CFB, SHA-1 sum)",
            "version 2 with OCB",
            "version 2 with GCM",
            "version 2 with EAX",
        ],
        &["without protection, with --allow-old"],
    ),
    ("digests", &["SHA-256", "SHA-384", "SHA-512"], &["SHA3-256", "SHA3-512"]),
    ("compression", &["none", "ZIP", "ZLIB", "BZip2"], &[]),
    ("passphrases", &["iterated and salted, SHA-256"], &["Argon2"]),
];

pub(super) fn algorithms(context: &mut Context, _: &AlgorithmsArgs) -> Result<ExitCode> {
    if context.output.is_json() {
        let all = ALGORITHMS.map(
            |(what, written, read)| json!({ "use": what, "written": written, "only_read": read }),
        );
        context.output.value(&all)?;
        return DONE;
    }
    let mut rows = Vec::new();
    for (what, written, read) in ALGORITHMS {
        let kinds = [(written, "written and read"), (read, "only read")];
        for (names, how) in kinds {
            rows.extend(
                names.iter().map(|name| vec![what.to_owned(), (*name).to_owned(), how.to_owned()]),
            );
        }
    }
    context.output.table(&["for", "algorithm", "is"], &rows)?;
    DONE
}
