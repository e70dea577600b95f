//! Which signatures over data are good, and why others are not.
//!
//! 1. A signature counts as good only if its key belongs to a certificate that was given, was
//!    allowed to sign at the signature's time, and was not revoked or expired then; if all that is
//!    critical in it is understood; and if it has not expired itself.
//! 2. A hash or a key that is too weak today counts only if that is asked for, whatever time the
//!    signature claims: who can forge it writes any time into it.
//! 3. Of each signature that is of a key which is known, and not good, the reason is told.

use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{
    Notation, Signature, SignatureConfig, SignatureType, SignatureVersionSpecific, SubpacketData,
    SubpacketType,
};
use pgp::types::{Fingerprint, KeyDetails, KeyVersion, PublicParams, Timestamp, VerifyingKey};
use rpgpie::key::ComponentKeyPub;

use crate::fitness::{is_by, obstacle, unsupported};
use crate::validity::{Checked, is_over, lasts, words_of};

/// A good signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The fingerprint of the key that signed.
    pub key: Fingerprint,
    /// The fingerprint of its certificate.
    pub certificate: Fingerprint,
    /// When it was made, in seconds since 1970.
    pub made: u32,
    /// Whether it is over text, whose line ends do not count.
    pub is_text: bool,
}

/// What has come of signatures over data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// The signatures that are good.
    pub verified: Vec<Verified>,
    /// Why others of keys that are known are not (3).
    pub doubts: Vec<String>,
}

impl Judged {
    /// Takes a signature with the hash of what it signs, if that can be computed.
    pub(crate) fn take(
        &mut self,
        signature: &Signature,
        digest: Option<&[u8]>,
        known: &[Checked],
        allow_old: bool,
    ) {
        let Some(config) = signature.config() else {
            let what = "a signature is malformed, or of a version that is not known";
            self.doubts.push(what.to_owned());
            return;
        };
        let mut doubt = None;
        for certificate in known.iter().filter(|one| has_signer(one, signature)) {
            let case = Case { signature, config, digest, certificate, allow_old };
            match case.judge() {
                Ok(verified) => return self.verified.push(verified),
                Err(why) => {
                    let name = certificate.fingerprint().to_string().to_uppercase();
                    doubt.get_or_insert_with(|| format!("a signature of key {name} {why}"));
                }
            }
        }
        self.doubts.extend(doubt);
    }
}

fn has_signer(certificate: &Checked, signature: &Signature) -> bool {
    let inner = certificate.as_signed_public_key();
    is_by(signature, &inner.primary_key)
        || inner.public_subkeys.iter().any(|part| is_by(signature, &part.key))
}

/// A signature, and a certificate that has a key which it names.
struct Case<'a> {
    signature: &'a Signature,
    config: &'a SignatureConfig,
    digest: Option<&'a [u8]>,
    certificate: &'a Checked,
    allow_old: bool,
}

impl Case<'_> {
    fn judge(&self) -> Result<Verified, String> {
        let made = self.signature.created().ok_or("does not say when it was made")?;
        if let Some(flaw) = self.flaw(made) {
            return Err(flaw);
        }
        let is_weak = self.weakness(made)?;
        let mut keys = match is_weak {
            true => weak_signing_keys(self.certificate, made),
            false => self.certificate.signing_keys_at(made),
        };
        keys.retain(|key| self.may_be_of(key, made));
        if keys.is_empty() {
            return Err("does not count: its key was not to sign at its time".to_owned());
        }
        let digest = self.digest.ok_or("is not the one that was announced, or is malformed")?;
        let Some(key) = keys.iter().find(|key| self.fits(key, digest)) else {
            let is_short = digest.len() < DIGEST_MIN && keys.iter().any(|key| !is_rsa(key));
            return Err(match is_short {
                true => format!("is made with {}, too short for its key", self.config.hash_alg),
                false => "does not fit: something was changed".to_owned(),
            });
        };
        Ok(Verified {
            key: key.fingerprint(),
            certificate: self.certificate.fingerprint().clone(),
            made: made.as_secs(),
            is_text: self.config.typ == SignatureType::Text,
        })
    }

    /// Why the signature counts for nothing, whatever its key and what it signs.
    fn flaw(&self, made: Timestamp) -> Option<String> {
        if !matches!(self.config.typ, SignatureType::Binary | SignatureType::Text) {
            let number = u8::from(self.config.typ);
            return Some(format!("is none over data, but of type 0x{number:02X}"));
        }
        let now = Timestamp::now();
        if made > now {
            return Some("is of a time that is yet to come".to_owned());
        }
        if is_over(self.signature, now) {
            return Some("has expired".to_owned());
        }
        riddle(self.config).or_else(|| match self.config.hash_alg {
            hash @ (HashAlgorithm::Md5 | HashAlgorithm::Sha1 | HashAlgorithm::Ripemd160) => {
                let what = format!("is made with {hash}, {OLD}");
                (!self.allow_old).then_some(what)
            }
            HashAlgorithm::None | HashAlgorithm::Private10 | HashAlgorithm::Other(_) => {
                let number = u8::from(self.config.hash_alg);
                Some(format!("is made with hash {number}, which is not known here"))
            }
            _ => None,
        })
    }

    /// Whether its key, or what that belongs to, is weak, and counts because that is asked for (2).
    fn weakness(&self, made: Timestamp) -> Result<bool, String> {
        let inner = self.certificate.as_signed_public_key();
        let parts = inner.public_subkeys.iter().map(|part| &part.key);
        let mut signers = parts.filter(|key| is_by(self.signature, *key));
        let is_weak = |key: &dyn KeyDetails| {
            let at = if is_rsa(key) { u32::MAX } else { made.as_secs() };
            obstacle(key, at).map(|why| (why, unsupported(key).is_some()))
        };
        let weak = is_weak(&inner.primary_key).or_else(|| signers.find_map(|key| is_weak(key)));
        match weak {
            Some((why, true)) => Err(format!("does not count: {why}")),
            Some((why, _)) if !self.allow_old => Err(format!("does not count: {why}; {OLD}")),
            weak => Ok(weak.is_some()),
        }
    }

    /// Whether it says that it is of this key, and may be.
    fn may_be_of(&self, key: &ComponentKeyPub, made: Timestamp) -> bool {
        let is_v6 = matches!(self.config.version_specific, SignatureVersionSpecific::V6 { .. });
        let is_younger = made < key.created_at() || made < self.certificate.made();
        is_by(self.signature, key) && is_v6 == (key.version() == KeyVersion::V6) && !is_younger
    }

    /// Whether the key has signed what has this hash.
    fn fits(&self, key: &ComponentKeyPub, digest: &[u8]) -> bool {
        let starts_right =
            self.signature.signed_hash_value().as_ref().map(|start| &start[..]) == digest.get(..2);
        let is_made = |raw| VerifyingKey::verify(key, self.config.hash_alg, digest, raw).is_ok();
        starts_right && self.signature.signature().is_some_and(is_made)
    }
}

const OLD: &str = "which is old and weak, and counts only with --allow-old";
/// Keys on curves sign no hash that is shorter, in bytes.
const DIGEST_MIN: usize = 32;

fn is_rsa(key: &(impl KeyDetails + ?Sized)) -> bool {
    matches!(key.public_params(), PublicParams::RSA(_))
}

/// What must be understood, and is not.
fn riddle(config: &SignatureConfig) -> Option<String> {
    let named = |notation: &Notation| {
        let name = String::from_utf8_lossy(&notation.name).escape_debug().to_string();
        format!("has a critical notation, {name}, that is not understood")
    };
    let critical = config.hashed_subpackets.iter().filter(|one| one.is_critical);
    let mut riddles = critical.filter_map(|one| match (&one.data, one.typ()) {
        (SubpacketData::Notation(notation), _) => Some(named(notation)),
        (_, SubpacketType::Experimental(number) | SubpacketType::Other(number)) => {
            Some(format!("has something critical, subpacket {number}, that is not understood"))
        }
        _ => None,
    });
    riddles.next()
}

/// The keys that might sign data at that time if they were stronger. Unlike with others, any
/// revocation counts, whatever it says and whenever it was made.
fn weak_signing_keys(certificate: &Checked, at: Timestamp) -> Vec<ComponentKeyPub> {
    let inner = certificate.as_signed_public_key();
    let is_revoked = !inner.details.revocation_signatures.is_empty();
    let says = certificate.says_at(at);
    let last = says.iter().all(|one| lasts(one, &inner.primary_key, at));
    let Some(active) = says.first().filter(|_| last && !is_revoked) else { return Vec::new() };
    let mut keys = Vec::new();
    if may_sign(active) {
        keys.push(ComponentKeyPub::Primary(inner.primary_key.clone()));
    }
    for part in &inner.public_subkeys {
        let is_revocation = |one: &Signature| one.typ() == Some(SignatureType::SubkeyRevocation);
        let newest = part.signatures.iter().max_by_key(|one| one.created());
        let binds = newest.is_some_and(|one| {
            let mut words = words_of(one, &part.key, &inner.primary_key);
            lasts(one, &part.key, at) && may_sign(one) && words.next().is_some()
        });
        if binds && !part.signatures.iter().any(is_revocation) {
            keys.push(ComponentKeyPub::Subkey(part.key.clone()));
        }
    }
    keys
}

/// Whether a signature on a key lets that sign data. Old ones often say nothing about it.
fn may_sign(on_key: &Signature) -> bool {
    let said = on_key.config().map(|config| &config.hashed_subpackets[..]).unwrap_or_default();
    on_key.key_flags().sign() || !said.iter().any(|one| one.typ() == SubpacketType::KeyFlags)
}
