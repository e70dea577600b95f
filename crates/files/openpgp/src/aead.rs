//! The chunks of version 2 of the encrypted container (RFC 9580, 5.13.2; PGP-1 to PGP-3).
//!
//! ```text
//! | container          | bytes                                              |
//! |--------------------|----------------------------------------------------|
//! | version            | 1 (value 2)                                        |
//! | cipher             | 1                                                  |
//! | mode               | 1 (1 EAX, 2 OCB, 3 GCM)                            |
//! | chunk size octet c | 1: a chunk is 2^(c+6) bytes of plaintext           |
//! | salt               | 32                                                 |
//! | chunks             | each followed by its tag of 16 bytes; the last may be short |
//! | final tag          | 16: over nothing, with the length as extra data    |
//! ```
//!
//! 1. A chunk's nonce is a prefix that belongs to the message, and the chunk's number: moved,
//!    repeated and missing chunks are found.
//! 2. The final tag is over the plaintext's length: a cut between chunks is found.

use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use pgp::bytes::BytesMut;
use pgp::crypto::aead::AeadAlgorithm;
use pgp::crypto::sym::SymmetricKeyAlgorithm;
use seal::Gcm;
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::ocb::Ocb;

/// Bytes of a tag.
pub(crate) const TAG: usize = 16;
/// Bytes of the container before its chunks.
pub(crate) const HEADER: usize = 36;
/// The chunk size octet that we write: 256 KiB, which fit a core's cache.
pub(crate) const CHUNK_OCTET: u8 = 12;
/// The largest that RFC 9580 allows: 4 MiB.
const CHUNK_OCTET_MAX: u8 = 16;

/// What seals and opens the chunks of one message.
pub(crate) struct ChunkCipher {
    mode: Mode,
    prefix: Vec<u8>,
    info: [u8; 5],
    /// Plaintext bytes of a chunk.
    pub(crate) chunk: usize,
}

enum Mode {
    Ocb(Box<Ocb>),
    Gcm(Gcm),
    Eax(SymmetricKeyAlgorithm, Zeroizing<Vec<u8>>),
}

/// How long a derived key should be.
struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn refused<E>(_: E) -> Error {
    Error::Unsupported("the cipher library does not take this key".to_owned())
}

/// How many bytes of plaintext a chunk has in a container that begins with these bytes.
pub(crate) fn chunk_of(header: &[u8; HEADER]) -> Result<usize> {
    let octet = header[3];
    if octet > CHUNK_OCTET_MAX {
        return Err(Error::damaged("its chunks are larger than the standard allows"));
    }
    Ok(1 << (octet + 6))
}

impl ChunkCipher {
    /// The cipher of a container that begins with these bytes, under a session key.
    pub(crate) fn new(header: &[u8; HEADER], session_key: &[u8]) -> Result<ChunkCipher> {
        let [_, cipher, mode, octet, salt @ ..] = header;
        let cipher = SymmetricKeyAlgorithm::from(*cipher);
        let mode = AeadAlgorithm::from(*mode);
        let chunk = chunk_of(header)?;
        let is_aes = matches!(
            cipher,
            SymmetricKeyAlgorithm::AES128
                | SymmetricKeyAlgorithm::AES192
                | SymmetricKeyAlgorithm::AES256
        );
        if !is_aes || session_key.len() != cipher.key_size() {
            let what = format!("authenticated encryption with {cipher:?} is not read");
            return Err(Error::Unsupported(what));
        }
        let nonce = match mode {
            AeadAlgorithm::Eax => 16,
            AeadAlgorithm::Ocb => 15,
            AeadAlgorithm::Gcm => 12,
            other => {
                let number = u8::from(other);
                let what = format!("the mode of encryption of number {number} is not known");
                return Err(Error::Unsupported(what));
            }
        };
        let info = [0xd2, 2, header[1], header[2], *octet];
        let length = session_key.len() + nonce - 8;
        let mut derived = Zeroizing::new(vec![0; length]);
        let salt = Salt::new(HKDF_SHA256, salt).extract(session_key);
        let done = salt.expand(&[&info], Length(length)).and_then(|okm| okm.fill(&mut derived));
        done.map_err(refused)?;
        let (key, prefix) = derived.split_at(session_key.len());
        let mode = match mode {
            AeadAlgorithm::Ocb => Mode::Ocb(Box::new(Ocb::new(key).ok_or_else(|| refused(()))?)),
            AeadAlgorithm::Gcm => Mode::Gcm(Gcm::new(key).ok_or_else(|| refused(()))?),
            _ => Mode::Eax(cipher, Zeroizing::new(key.to_vec())),
        };
        Ok(ChunkCipher { mode, prefix: prefix.to_vec(), info, chunk })
    }

    fn nonce<const N: usize>(&self, number: u64) -> [u8; N] {
        let mut nonce = [0; N];
        nonce[..N - 8].copy_from_slice(&self.prefix);
        nonce[N - 8..].copy_from_slice(&number.to_be_bytes());
        nonce
    }

    /// Seals a chunk in place.
    pub(crate) fn seal(&self, number: u64, data: &mut [u8]) -> Result<[u8; TAG]> {
        self.seal_with(number, &self.info, data)
    }

    /// Opens a chunk in place; an error if it is not what was sealed.
    pub(crate) fn open(&self, number: u64, data: &mut [u8], tag: &[u8]) -> Result<()> {
        let is_good = self.open_with(number, &self.info, data, tag);
        is_good.then_some(()).ok_or_else(|| {
            Error::damaged(format!("part {number} of its contents is not what was encrypted"))
        })
    }

    /// The tag that closes a message of so many chunks and bytes.
    pub(crate) fn final_tag(&self, chunks: u64, bytes: u64) -> Result<[u8; TAG]> {
        self.seal_with(chunks, &self.closing(bytes), &mut [])
    }

    /// Whether a message of so many chunks and bytes ends with this tag (2).
    pub(crate) fn check_end(&self, chunks: u64, bytes: u64, tag: &[u8]) -> Result<()> {
        let is_good = self.open_with(chunks, &self.closing(bytes), &mut [], tag);
        let cut = || Error::damaged("its end is missing or is not its own");
        is_good.then_some(()).ok_or_else(cut)
    }

    fn closing(&self, bytes: u64) -> [u8; 13] {
        let mut extra = [0; 13];
        extra[..5].copy_from_slice(&self.info);
        extra[5..].copy_from_slice(&bytes.to_be_bytes());
        extra
    }

    fn seal_with(&self, number: u64, extra: &[u8], data: &mut [u8]) -> Result<[u8; TAG]> {
        match &self.mode {
            Mode::Ocb(ocb) => Ok(ocb.seal(&self.nonce(number), extra, data)),
            Mode::Gcm(key) => Ok(key.seal(self.nonce(number), extra, data)),
            Mode::Eax(cipher, key) => {
                let mut bytes = BytesMut::from(&*data);
                let nonce: [u8; 16] = self.nonce(number);
                let done =
                    AeadAlgorithm::Eax.encrypt_in_place(cipher, key, &nonce, extra, &mut bytes);
                done.map_err(refused)?;
                let (text, tag) = bytes.split_at(data.len());
                data.copy_from_slice(text);
                <[u8; TAG]>::try_from(tag).map_err(refused)
            }
        }
    }

    fn open_with(&self, number: u64, extra: &[u8], data: &mut [u8], tag: &[u8]) -> bool {
        match &self.mode {
            Mode::Ocb(ocb) => ocb.open(&self.nonce(number), extra, data, tag),
            Mode::Gcm(key) => {
                let tag = tag.try_into();
                tag.is_ok_and(|tag| key.open(self.nonce(number), extra, data, tag))
            }
            Mode::Eax(cipher, key) => {
                let mut bytes = BytesMut::from(&*data);
                bytes.extend_from_slice(tag);
                let nonce: [u8; 16] = self.nonce(number);
                let done =
                    AeadAlgorithm::Eax.decrypt_in_place(cipher, key, &nonce, extra, &mut bytes);
                if done.is_err() || bytes.len() != data.len() {
                    return false;
                }
                data.copy_from_slice(&bytes);
                true
            }
        }
    }
}
