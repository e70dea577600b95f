//! How a message is to be written: for whom, signed by whom, in which container and with how many
//! threads. [`Writing::run`](crate::Writing::run) writes it.

use pgp::crypto::aead::AeadAlgorithm;
use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::sym::SymmetricKeyAlgorithm;
use pgp::types::{CompressionAlgorithm, Password};
use rpgpie::certificate::Certificate;

use crate::sign::Signer;
use crate::x509::X509;

/// How contents are protected against change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// Version 1 (RFC 4880): CFB and a SHA-1 sum. Every program reads it.
    V1,
    /// Version 2 (RFC 9580): authenticated encryption in chunks.
    V2(AeadAlgorithm),
}

/// Which stages of the pipeline have threads of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stages {
    /// Reading and writing.
    pub io: bool,
    /// Enciphering and deciphering.
    pub cipher: bool,
    /// Compressing and decompressing.
    pub compress: bool,
    /// How many threads a stage has that can use several.
    pub threads: usize,
}

impl Default for Stages {
    fn default() -> Stages {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        Stages { io: true, cipher: true, compress: true, threads }
    }
}

impl Stages {
    /// The threads of a stage that is on or off.
    pub(crate) fn workers(self, on: bool) -> usize {
        if on { self.threads.clamp(1, 8) } else { 0 }
    }
}

/// How a message is to be written.
pub struct Writing {
    /// Who can read it, by secret keys.
    pub recipients: Vec<Certificate>,
    /// Who can read it, by secret keys that have certificates of X.509.
    pub x509: Vec<X509>,
    /// Who can read it, by passphrases.
    pub passphrases: Vec<Password>,
    /// Whether it is encrypted at all; without, it is only signed or compressed.
    pub encrypted: bool,
    /// Who signs it.
    pub signers: Vec<Signer>,
    /// The hash of signatures; without, what fits the key.
    pub hash: Option<HashAlgorithm>,
    /// The cipher; without, what all recipients like best.
    pub cipher: Option<SymmetricKeyAlgorithm>,
    /// The container; without, version 2 if all recipients say that they read it.
    pub container: Option<Container>,
    /// The compression and its level from 0 to 9.
    pub compression: Option<(CompressionAlgorithm, u32)>,
    /// Whether the result is text.
    pub armor: bool,
    /// Whether the data is text, whose lines get canonical ends.
    pub text: bool,
    /// The name of the file, as the message tells it.
    pub name: Vec<u8>,
    /// Which stages run on their own.
    pub stages: Stages,
}

impl Default for Writing {
    fn default() -> Writing {
        Writing {
            recipients: Vec::new(),
            x509: Vec::new(),
            passphrases: Vec::new(),
            encrypted: true,
            signers: Vec::new(),
            hash: None,
            cipher: None,
            container: None,
            compression: None,
            armor: false,
            text: false,
            name: Vec::new(),
            stages: Stages::default(),
        }
    }
}
