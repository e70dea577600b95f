//! Messages, written: signed, compressed and encrypted as asked, in one pass.
//!
//! ```text
//! read, hash -> pack (N threads) -> frame -> seal (N threads; version 1: one) -> write
//! ```
//!
//! 1. A message is written to the end or the caller gets an error; what was written before it is
//!    no message and has to go ([`crate::target`] sees to that).
//! 2. Memory is bounded by blocks in flight, whatever the length of the input.
//! 3. Only AES, with integrity, is written; nothing that is merely read for old times' sake.

use std::io::{Read, Write};
use std::thread::Scope;

use pgp::composed::RawSessionKey;
use pgp::crypto::aead::AeadAlgorithm;
use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::sym::SymmetricKeyAlgorithm;
use pgp::packet::SymKeyEncryptedSessionKey;
use pgp::types::{CompressionAlgorithm, KeyDetails, KeyVersion, StringToKey, Timestamp};
use rpgpie::certificate::Certificate;
use rpgpie::key::ComponentKeyPub;
use zeroize::Zeroizing;

use crate::aead::{CHUNK_OCTET, HEADER};
use crate::armor::{Armorer, Label};
use crate::buffers::{Block, Buffers};
use crate::deflate::{Adler, Packer};
use crate::entropy::Random;
use crate::error::{Error, Result};
use crate::frame::{Packed, Plain, frame};
use crate::packet::{Pieces, to_bytes, write_all};
use crate::readings::Lone;
use crate::seal::{self, Job};
use crate::session_key::{KEYS_MAX, SessionKey};
use crate::sign::Signing;
use crate::stage::{Feed, ahead, ordered};
use crate::stats::{Stage, Stats};
use crate::strength::obstacle;
use crate::usability::{cannot_be_encrypted_to, why_not_now};
use crate::validity::Checked;
use crate::writing::{Container, Writing};

/// A message is for no more passphrases: the reader who has the last one tries all of them.
pub(crate) const PASSPHRASES_MAX: usize = 256;

/// What stands before the contents, and what seals them.
struct Opening {
    packets: Vec<u8>,
    container: Container,
    cipher: SymmetricKeyAlgorithm,
    key: Zeroizing<Vec<u8>>,
}

impl Writing {
    /// Writes the message.
    ///
    /// # Errors
    /// If a recipient cannot be encrypted to, a signer cannot sign, or input or output fail.
    pub fn run(
        &self,
        input: &mut (dyn Read + Send),
        output: &mut (dyn Write + Send),
        stats: &Stats,
    ) -> Result<Option<SessionKey>> {
        let opening = if self.encrypted { Some(self.opening()?) } else { None };
        let signing = Signing::begin(&self.signers, self.text.then_some(Lone::Letter), self.hash)?;
        if !self.armor {
            self.pour(opening.as_ref(), signing, input, output, stats)?;
        } else {
            let mut armorer = Armorer::new(&mut *output, Label::Message);
            self.pour(opening.as_ref(), signing, input, &mut armorer, stats)?;
            armorer.finish().map_err(Error::io("writing the output"))?;
        }
        output.flush().map_err(Error::io("writing the output"))?;
        Ok(opening.map(|opening| SessionKey { cipher: opening.cipher.into(), key: opening.key }))
    }

    fn pour(
        &self,
        opening: Option<&Opening>,
        signing: Signing,
        input: &mut (dyn Read + Send),
        output: &mut (dyn Write + Send),
        stats: &Stats,
    ) -> Result<()> {
        std::thread::scope(|scope| {
            let buffers = Buffers::default();
            let plain = Plain::new(input, signing, self, buffers.clone(), stats)?;
            let plain = ahead(scope, Box::new(plain), self.stages.io && !self.is_fed(opening));
            let contents = self.pack(scope, plain, &buffers, stats);
            let mut sink = Sink { output, stats };
            match opening {
                Some(opening) => self.seal(scope, opening, contents, &buffers, &mut sink),
                None => {
                    for block in contents {
                        let block = block?;
                        sink.put(block.bytes())?;
                        buffers.give(block.data);
                    }
                    Ok(())
                }
            }
        })
    }

    /// Whether the stage behind the reading has threads, so that what deals to them reads as well.
    fn is_fed(&self, opening: Option<&Opening>) -> bool {
        let is_v2 = opening.is_some_and(|opening| opening.container != Container::V1);
        match self.compression {
            Some(_) => self.stages.compress,
            None => self.stages.cipher && is_v2,
        }
    }

    /// The compressed packet around the contents, if there is to be one.
    fn pack<'s>(
        &self,
        scope: &'s Scope<'s, '_>,
        plain: Feed<'s, Block>,
        buffers: &Buffers,
        stats: &'s Stats,
    ) -> Feed<'s, Block> {
        let Some((algorithm, level)) = self.compression else { return plain };
        let parallel = self.stages.workers(self.stages.compress);
        let workers = if Packer::is_parallel(algorithm) { parallel } else { parallel.min(1) };
        let packed = ordered(scope, plain, workers, || {
            let buffers = buffers.clone();
            let mut packer = Packer::new(algorithm, level);
            move |block: Block| {
                let mut data = buffers.take();
                let sum = if algorithm == CompressionAlgorithm::ZLIB {
                    Adler::of(block.bytes())
                } else {
                    Adler::EMPTY
                };
                let packed = stats
                    .time(Stage::Compress, || packer.block(block.bytes(), block.last, &mut data));
                packed?;
                let last = block.last;
                buffers.give(block.data);
                Ok(Packed { data, sum, last })
            }
        });
        frame(packed, algorithm, buffers.clone())
    }

    /// The encrypted container around the contents.
    fn seal<'s>(
        &self,
        scope: &'s Scope<'s, '_>,
        opening: &Opening,
        contents: Feed<'s, Block>,
        buffers: &Buffers,
        sink: &mut Sink<'_, 's>,
    ) -> Result<()> {
        sink.put(&opening.packets)?;
        let stats = sink.stats;
        let workers = self.stages.workers(self.stages.cipher);
        let (lead, jobs): (Vec<u8>, Feed<'s, Job>) = match opening.container {
            Container::V1 => {
                let apart = workers > 0;
                (vec![1], seal::v1(scope, contents, &opening.key, apart, buffers, stats)?)
            }
            Container::V2(mode) => {
                let mut header = [0; HEADER];
                header[..4].copy_from_slice(&[2, opening.cipher.into(), mode.into(), CHUNK_OCTET]);
                rand::RngCore::fill_bytes(&mut Random, &mut header[4..]);
                (
                    header.to_vec(),
                    seal::v2(scope, contents, &header, &opening.key, workers, buffers, stats)?,
                )
            }
        };
        let mut pieces = Pieces::new(18, lead);
        for job in jobs {
            let job = job?;
            pieces.put(&job.parts(), job.block.last, |bytes| sink.put(bytes))?;
            buffers.give(job.block.data);
        }
        Ok(())
    }

    /// Draws a session key and encrypts it to everyone.
    fn opening(&self) -> Result<Opening> {
        if self.recipients.is_empty() && self.x509.is_empty() && self.passphrases.is_empty() {
            let what = "nobody could read the message: name a recipient or give a passphrase";
            return Err(Error::Usage(what.to_owned()));
        }
        let checked: Vec<Checked> = self.recipients.iter().cloned().map(Checked::new).collect();
        let cipher = self.cipher.unwrap_or_else(|| agreed_cipher(&checked));
        let by_openpgp = self.x509.is_empty();
        let agreed = || if by_openpgp { agreed_container(&checked, cipher) } else { Container::V1 };
        let container = self.container.unwrap_or_else(agreed);
        if !is_written(cipher) {
            let what = format!("{cipher:?} is only read, not written; choose AES_128 or AES_256");
            return Err(Error::Usage(what));
        }
        let mut key = Zeroizing::new(vec![0; cipher.key_size()]);
        rand::RngCore::fill_bytes(&mut Random, &mut key);
        let mut packets = Vec::new();
        let now = Timestamp::now().as_secs();
        // Who is named twice needs it once.
        let mut named = Vec::new();
        for (certificate, checked) in self.recipients.iter().zip(&checked) {
            for part in &parts_of(certificate, checked, checked.present().as_secs())? {
                if !named.contains(&part.fingerprint()) {
                    named.push(part.fingerprint());
                    packets.extend(to_recipient(part, &key, cipher, container)?);
                }
            }
        }
        for certificate in &self.x509 {
            packets.extend(to_recipient(&certificate.recipient(now)?, &key, cipher, container)?);
        }
        let count = named.len() + self.x509.len() + self.passphrases.len();
        if count > KEYS_MAX {
            let what =
                format!("a message is for at most {KEYS_MAX} keys and passphrases, not {count}");
            return Err(Error::Usage(what));
        }
        if self.passphrases.len() > PASSPHRASES_MAX {
            let count = self.passphrases.len();
            let what =
                format!("a message is for at most {PASSPHRASES_MAX} passphrases, not {count}");
            return Err(Error::Usage(what));
        }
        let raw = RawSessionKey::from(&key[..]);
        for passphrase in &self.passphrases {
            let s2k = StringToKey::new_iterated(Random, HashAlgorithm::Sha256, 224);
            let packet = match container {
                Container::V1 => {
                    SymKeyEncryptedSessionKey::encrypt_v4(passphrase, &raw, s2k, cipher)?
                }
                Container::V2(mode) => SymKeyEncryptedSessionKey::encrypt_v6(
                    Random, passphrase, &raw, s2k, cipher, mode,
                )?,
            };
            packets.extend(to_bytes(&packet)?);
        }
        Ok(Opening { packets, container, cipher, key })
    }
}

/// The parts of a certificate to encrypt to.
fn parts_of(
    certificate: &Certificate,
    checked: &Checked,
    now: u32,
) -> Result<Vec<ComponentKeyPub>> {
    let mut parts = checked.keys_to_encrypt_to();
    parts.retain(|part| obstacle(part, now).is_none());
    if parts.is_empty() {
        let why = cannot_be_encrypted_to(certificate, now);
        let why = why.unwrap_or_else(|| why_not_now(checked, now).to_owned());
        let name = checked.fingerprint();
        let what = format!("nothing can be encrypted to key {name} now: {why}");
        return Err(Error::UnfitKey(what));
    }
    Ok(parts)
}

/// The session key, for one part of one certificate.
fn to_recipient(
    part: &ComponentKeyPub,
    key: &[u8],
    cipher: SymmetricKeyAlgorithm,
    container: Container,
) -> Result<Vec<u8>> {
    let packet = match container {
        Container::V1 => part.pkesk_from_session_key_v3(&mut Random, key, cipher),
        Container::V2(_) => part.pkesk_from_session_key_v6(&mut Random, key),
    };
    let refused = |error: rpgpie::Error| {
        Error::UnfitKey(format!("key {} cannot be encrypted to: {error}", part.fingerprint()))
    };
    to_bytes(&packet.map_err(refused)?)
}

/// Whether we write this cipher (3).
fn is_written(cipher: SymmetricKeyAlgorithm) -> bool {
    use SymmetricKeyAlgorithm::{AES128, AES192, AES256};
    matches!(cipher, AES128 | AES192 | AES256)
}

/// What all recipients say that they read. GCM, if it is among that: processors have instructions
/// for it, which makes it several times as fast as OCB. Everybody who reads version 2 reads OCB.
fn agreed_container(recipients: &[Checked], cipher: SymmetricKeyAlgorithm) -> Container {
    let reads_v2 = |recipient: &Checked| {
        let features = recipient.features(recipient.present());
        features.is_some_and(pgp::packet::Features::seipd_v2)
    };
    let all = recipients.iter().all(reads_v2);
    if !all || recipients.is_empty() {
        return Container::V1;
    }
    let takes_gcm = |recipient: &Checked| {
        let modes = recipient.modes(recipient.present());
        modes.is_some_and(|modes| modes.contains(&(cipher, AeadAlgorithm::Gcm)))
    };
    let mode = match recipients.iter().all(takes_gcm) {
        true => AeadAlgorithm::Gcm,
        false => AeadAlgorithm::Ocb,
    };
    Container::V2(mode)
}

/// The strongest cipher that all recipients want.
fn agreed_cipher(recipients: &[Checked]) -> SymmetricKeyAlgorithm {
    use SymmetricKeyAlgorithm::{AES128, AES192, AES256};
    let wanted = |cipher: &SymmetricKeyAlgorithm| {
        let mut known = recipients.iter().filter_map(|one| one.ciphers(one.present()));
        known.all(|list| list.is_empty() || list.contains(cipher))
    };
    [AES256, AES192, AES128].into_iter().find(wanted).unwrap_or(AES128)
}

/// The compression that all recipients take, ZIP if they do; `None` if they take none in common. A
/// key of version 4 that says nothing takes ZIP (RFC 4880, 13.3.1).
#[must_use]
pub fn agreed_compression(recipients: &[Certificate]) -> Option<CompressionAlgorithm> {
    use CompressionAlgorithm::{BZip2, ZIP, ZLIB};
    let taken = |recipient: &Certificate| -> Vec<CompressionAlgorithm> {
        let checked = Checked::new(recipient.clone());
        let listed = checked.compressions(checked.present()).unwrap_or_default().to_vec();
        let is_old = checked.as_signed_public_key().version() != KeyVersion::V6;
        if listed.is_empty() && is_old { vec![ZIP] } else { listed }
    };
    let all: Vec<_> = recipients.iter().map(taken).collect();
    [ZIP, ZLIB, BZip2].into_iter().find(|one| all.iter().all(|taken| taken.contains(one)))
}

/// The output, counted.
struct Sink<'a, 's> {
    output: &'a mut (dyn Write + Send),
    stats: &'s Stats,
}

impl Sink<'_, '_> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.stats.count_out(bytes.len());
        self.stats.time(Stage::Write, || write_all(self.output, bytes))
    }
}
