//! Signatures over data: made and verified while the data passes by.
//!
//! 1. Which signatures count as good is decided in [`crate::judge`].
//! 2. Secret keys are unlocked before anything is read, so a wrong passphrase costs nothing.
//! 3. Text is hashed with its lines ended by CR LF, however they are ended in the data. Where other
//!    programs read it in other ways, what is signed follows the most of them, and each of their
//!    readings is verified ([`crate::readings`]).

use digest::DynDigest;
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{
    OnePassSignature, OpsVersionSpecific, Signature, SignatureConfig, SignatureType,
    SignatureVersionSpecific, Subpacket, SubpacketData,
};
use pgp::types::{Fingerprint, KeyDetails, KeyVersion, Password, SigningKey, Timestamp};
use rpgpie::certificate::Certificate;
use rpgpie::key::ComponentKeyPriv;
use rpgpie::tsk::Tsk;

use crate::entropy::Random;
use crate::error::{Error, Result};
use crate::judge::Judged;
use crate::keys::{certificate_of, is_stub, secret_of};
use crate::packet::to_bytes;
use crate::readings::{Canonical, Lone, Readings, salted, tail_of};
use crate::validity::Checked;

/// The hash of data that passes by, for one signature that is made.
struct DataHash {
    hash: Box<dyn DynDigest + Send>,
    text: Option<Canonical>,
}

impl DataHash {
    fn new(algorithm: HashAlgorithm, text: Option<Lone>, salt: &[u8]) -> Result<DataHash> {
        Ok(DataHash { hash: salted(algorithm, salt)?, text: text.map(Canonical::new) })
    }

    /// Takes what comes next of the data (3).
    fn update(&mut self, bytes: &[u8]) {
        match &mut self.text {
            Some(text) => text.update(bytes, &mut *self.hash),
            None => self.hash.update(bytes),
        }
    }

    fn finish(mut self, config: &SignatureConfig) -> Result<Box<[u8]>> {
        if let Some(text) = &mut self.text {
            text.finish(&mut *self.hash);
        }
        let length = config.hash_signature_data(&mut self.hash)?;
        let trailer = config.trailer(length)?;
        self.hash.update(&trailer);
        Ok(self.hash.finalize())
    }
}

/// A secret key that may sign, unlocked.
#[derive(Clone)]
pub struct Signer {
    key: std::sync::Arc<dyn SigningKey + Send + Sync>,
}

impl Signer {
    /// The parts of a secret key that may sign now, unlocked with one of the passphrases (2).
    ///
    /// # Errors
    /// If no part may sign now, or none of the passphrases unlocks one that may.
    pub fn of(key: &Tsk, passphrases: &[Password]) -> Result<Vec<Signer>> {
        let may = Checked::new(certificate_of(key)).signing_keys_at(Timestamp::now());
        let may: Vec<_> = may.iter().map(KeyDetails::fingerprint).collect();
        let inner = key.key();
        let primary = ComponentKeyPriv::Primary(inner.primary_key.clone());
        let others = inner.secret_subkeys.iter().map(|part| part.key.clone());
        let parts = std::iter::once(primary).chain(others.map(ComponentKeyPriv::Subkey));
        let parts = parts.filter(|part| may.contains(&part.fingerprint()));
        let mut signers = Vec::new();
        let (mut locked, mut stub) = (false, false);
        for part in parts {
            if is_stub(secret_of(&part)) {
                stub = true;
                continue;
            }
            match unlocked(part, passphrases) {
                Some(part) => signers.push(Signer { key: std::sync::Arc::new(part) }),
                None => locked = true,
            }
        }
        let name = key.key().fingerprint();
        match (signers.is_empty(), locked) {
            (false, _) => Ok(signers),
            (true, true) => Err(Error::Locked(name.to_string())),
            (true, false) if stub => Err(Error::UnfitKey(format!(
                "the secret part of key {name} that signs is not here"
            ))),
            (true, false) => Err(Error::UnfitKey(format!("no part of key {name} may sign now"))),
        }
    }

    /// A key whose private operation happens elsewhere, in a token for example.
    #[must_use]
    pub fn from_key(key: impl SigningKey + Send + Sync + 'static) -> Signer {
        Signer { key: std::sync::Arc::new(key) }
    }
}

/// The secret key, so that it needs no passphrase any more.
pub(crate) fn unlocked(
    mut part: ComponentKeyPriv,
    passphrases: &[Password],
) -> Option<ComponentKeyPriv> {
    let empty = [Password::empty()];
    let tried = passphrases.iter().chain(&empty);
    for passphrase in tried {
        let done = match &mut part {
            ComponentKeyPriv::Primary(key) => key.remove_password(passphrase),
            ComponentKeyPriv::Subkey(key) => key.remove_password(passphrase),
        };
        if done.is_ok() {
            return Some(part);
        }
    }
    None
}

/// Signatures that are being made.
pub(crate) struct Signing {
    parts: Vec<(Signer, SignatureConfig, DataHash)>,
}

impl Signing {
    /// Begins a signature with each of the signers, of text if it says what a lone CR in that is.
    pub(crate) fn begin(
        signers: &[Signer],
        text: Option<Lone>,
        hash: Option<HashAlgorithm>,
    ) -> Result<Signing> {
        if signers.len() > SIGNATURES_MAX {
            let what = format!("at most {SIGNATURES_MAX} keys sign, not {}", signers.len());
            return Err(Error::Usage(what));
        }
        let kind = if text.is_some() { SignatureType::Text } else { SignatureType::Binary };
        let mut parts = Vec::new();
        for signer in signers {
            let key = &*signer.key;
            let hash = hash.unwrap_or_else(|| key.hash_alg());
            let mut config = match key.version() {
                KeyVersion::V6 => SignatureConfig::v6(Random, kind, key.algorithm(), hash)?,
                _ => SignatureConfig::v4(kind, key.algorithm(), hash),
            };
            config.hashed_subpackets = vec![
                Subpacket::regular(SubpacketData::IssuerFingerprint(key.fingerprint()))?,
                Subpacket::critical(SubpacketData::SignatureCreationTime(Timestamp::now()))?,
            ];
            if key.version() != KeyVersion::V6 {
                let id = SubpacketData::IssuerKeyId(key.legacy_key_id());
                config.unhashed_subpackets = vec![Subpacket::regular(id)?];
            }
            let data = DataHash::new(hash, text, salt_of(&config))?;
            parts.push((signer.clone(), config, data));
        }
        Ok(Signing { parts })
    }

    /// The hashes of the signatures, in the order in which these stand behind the data.
    pub(crate) fn hashes(&self) -> Vec<HashAlgorithm> {
        self.parts.iter().rev().map(|(_, config, _)| config.hash_alg).collect()
    }

    /// The packets that stand before the data.
    pub(crate) fn announcements(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for (index, (signer, config, _)) in self.parts.iter().enumerate() {
            let key = &*signer.key;
            let (kind, hash, algorithm) = (config.typ, config.hash_alg, config.pub_alg);
            let mut packet = match key.fingerprint() {
                Fingerprint::V6(print) => {
                    let salt = salt_of(config).to_vec();
                    OnePassSignature::v6(kind, hash, algorithm, salt, print)
                }
                _ => OnePassSignature::v3(kind, hash, algorithm, key.legacy_key_id()),
            };
            if index + 1 < self.parts.len() {
                packet.set_is_nested();
            }
            bytes.extend(to_bytes(&packet)?);
        }
        Ok(bytes)
    }

    /// Takes what comes next of the data.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        for (_, _, hash) in &mut self.parts {
            hash.update(bytes);
        }
    }

    /// The signatures, in the order in which they stand behind the data: the last announced first.
    pub(crate) fn finish(self) -> Result<Vec<Signature>> {
        let signed = self.parts.into_iter().rev().map(|(signer, config, hash)| {
            let digest = hash.finish(&config)?;
            let raw = signer.key.sign(&Password::empty(), config.hash_alg, &digest)?;
            let start = [digest[0], digest[1]];
            Signature::from_config(config, start, raw).map_err(Error::from)
        });
        signed.collect()
    }
}

fn salt_of(config: &SignatureConfig) -> &[u8] {
    match &config.version_specific {
        SignatureVersionSpecific::V6 { salt } => salt,
        _ => &[],
    }
}

/// Signatures that are being verified.
#[derive(Default)]
pub(crate) struct Verifying {
    announced: Vec<(Option<OnePassSignature>, Option<Readings>)>,
    known: Vec<(Signature, Option<Readings>)>,
    /// Hashes of layers, of those signatures that stand around one; see [`Verifying::around`].
    layers: Vec<LayerHash>,
}

/// The hash of a layer, for one signature.
pub(crate) struct LayerHash {
    algorithm: HashAlgorithm,
    salt: Vec<u8>,
    hash: Box<dyn DynDigest + Send>,
}

impl LayerHash {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
    }

    /// What a signature that says this would have signed, if it may be over the layer.
    fn digest(&self, config: &SignatureConfig) -> Option<Box<[u8]>> {
        let is_over = config.typ == SignatureType::Binary
            && config.hash_alg == self.algorithm
            && salt_of(config) == self.salt;
        let tail = tail_of(config).ok().filter(|_| is_over)?;
        let mut hash = self.hash.box_clone();
        hash.update(&tail);
        Some(hash.finalize())
    }
}

/// No message has more signatures.
const SIGNATURES_MAX: usize = 64;

/// Makes sure that there are not more signatures than any message has.
pub(crate) fn is_bounded(count: usize) -> Result<()> {
    let many = || Error::Unsupported(format!("more than {SIGNATURES_MAX} signatures"));
    (count <= SIGNATURES_MAX).then_some(()).ok_or_else(many)
}

/// How many signatures are announced, and how many have come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct SignatureCounts {
    pub(crate) announced: usize,
    pub(crate) known: usize,
}

impl Verifying {
    /// A signature that stands behind the data is announced, maybe in a way that cannot be read.
    pub(crate) fn announce(&mut self, packet: Option<OnePassSignature>) -> Result<()> {
        let hash = packet.as_ref().and_then(|packet| {
            let salt: &[u8] = match packet.version_specific() {
                OpsVersionSpecific::V6 { salt, .. } => salt,
                _ => &[],
            };
            Readings::new(packet.hash_algorithm(), packet.typ(), salt).ok()
        });
        self.announced.push((packet, hash));
        self.bounded()
    }

    /// A signature that stands before the data, or apart from it.
    pub(crate) fn know(&mut self, signature: Signature) -> Result<()> {
        let hash = signature
            .config()
            .and_then(|config| Readings::new(config.hash_alg, config.typ, salt_of(config)).ok());
        self.known.push((signature, hash));
        self.bounded()
    }

    fn bounded(&self) -> Result<()> {
        is_bounded(self.count())
    }

    /// How many signatures still have to come behind the data.
    pub(crate) fn expected(&self) -> usize {
        self.announced.len()
    }

    /// Whether there is any signature.
    pub(crate) fn is_empty(&self) -> bool {
        self.announced.is_empty() && self.known.is_empty()
    }

    /// Whether every signature is of text, whose line ends are anybody's. What is signed to the
    /// letter must stay as it was, whatever form the literal packet says: no signature covers that.
    pub(crate) fn leaves_line_ends(&self) -> bool {
        let announced = self.announced.iter().map(|(_, hash)| hash);
        let known = self.known.iter().map(|(_, hash)| hash);
        announced.chain(known).flatten().all(Readings::is_text)
    }

    /// How many signatures there are.
    pub(crate) fn count(&self) -> usize {
        self.announced.len() + self.known.len()
    }

    /// The signatures that have come.
    pub(crate) fn packets(&self) -> Vec<Signature> {
        self.known.iter().map(|(signature, _)| signature.clone()).collect()
    }

    /// Takes what comes next of the data.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        let announced = self.announced.iter_mut().map(|(_, hash)| hash);
        let known = self.known.iter_mut().map(|(_, hash)| hash);
        for hash in announced.chain(known).flatten() {
            hash.update(bytes);
        }
    }

    /// Begins the hashes of a layer for those signatures around it that stand in the same layer
    /// as it does. RFC 9580 leaves open what they are over: the data, or, as Sequoia has it, the
    /// packet of the layer as it is. Either counts.
    pub(crate) fn around(&self, before: SignatureCounts) -> Vec<LayerHash> {
        let announced = self.announced[before.announced..].iter().filter_map(|(packet, _)| {
            let packet = packet.as_ref()?;
            let salt = match packet.version_specific() {
                OpsVersionSpecific::V6 { salt, .. } => salt.to_vec(),
                _ => Vec::new(),
            };
            Some((packet.typ(), packet.hash_algorithm(), salt))
        });
        let known = self.known[before.known..].iter().filter_map(|(signature, _)| {
            let config = signature.config()?;
            Some((config.typ, config.hash_alg, salt_of(config).to_vec()))
        });
        let mut hashes: Vec<LayerHash> = Vec::new();
        for (kind, algorithm, salt) in announced.chain(known) {
            let is_there = hashes.iter().any(|one| one.algorithm == algorithm && one.salt == salt);
            if kind == SignatureType::Binary
                && !is_there
                && let Ok(hash) = salted(algorithm, &salt)
            {
                hashes.push(LayerHash { algorithm, salt, hash });
            }
        }
        hashes
    }

    /// Takes the hashes of a layer that was read.
    pub(crate) fn take_layer(&mut self, hashes: Vec<LayerHash>) {
        self.layers.extend(hashes);
    }

    /// How many signatures there are by now.
    pub(crate) fn counts(&self) -> SignatureCounts {
        SignatureCounts { announced: self.announced.len(), known: self.known.len() }
    }

    /// The last announced signature, which has come.
    pub(crate) fn arrive(&mut self, signature: Signature) -> Result<()> {
        let Some((announced, hash)) = self.announced.pop() else {
            return Err(Error::damaged("there is a signature that was not announced"));
        };
        let matches = announced.is_some_and(|announced| announced.matches(&signature));
        let hash = hash.filter(|_| matches);
        self.known.push((signature, hash));
        Ok(())
    }

    /// Those signatures that are good, and why others are not.
    pub(crate) fn finish(self, certificates: &[Certificate], allow_old: bool) -> Judged {
        let known: Vec<Checked> =
            certificates.iter().map(|certificate| Checked::new(certificate.clone())).collect();
        let mut judged = Judged::default();
        for (signature, hash) in self.known {
            let config = signature.config();
            let of_data = |(hash, config): (Readings, _)| Some((hash.finish(config).ok()?, config));
            let digests = hash.zip(config).and_then(of_data).map(|(mut digests, config)| {
                digests.extend(self.layers.iter().filter_map(|layer| layer.digest(config)));
                digests
            });
            judged.take(&signature, &digests.unwrap_or_default(), &known, allow_old);
        }
        judged
    }
}
