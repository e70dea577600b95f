//! Which signatures over data are good, and why others are not.
//!
//! 1. A signature counts as good only if its key belongs to a certificate that was given, was
//!    allowed to sign at the signature's time, and was not revoked or expired then; if all that is
//!    critical in it is understood; and if it has not expired itself.
//! 2. A hash or a key that is too weak today counts only if that is asked for, whatever time the
//!    signature claims: who can forge it writes any time into it.
//! 3. A signature that is not good is either bad, if it is of a key that is known, or was not
//!    checked: nothing is known of its key, or it is of a sort that is not known here. Of each the
//!    reason is told.

use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{
    Notation, Signature, SignatureConfig, SignatureType, SignatureVersionSpecific, SubpacketData,
    SubpacketType,
};
use pgp::types::{Fingerprint, KeyDetails, KeyVersion, PublicParams, Timestamp, VerifyingKey};
use rpgpie::key::ComponentKeyPub;

use crate::revocation::is_by;
use crate::strength::{obstacle, unsupported};
use crate::validity::{Checked, is_over, lasts, latest, words_of};

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
    /// Why others of keys that are known are bad (3).
    pub bad: Vec<String>,
    /// Why others could not be checked (3).
    pub unchecked: Vec<String>,
}

impl Judged {
    /// Takes a signature with the hash of what it signs, by each reading of that; without one if
    /// none can be computed.
    pub(crate) fn take(
        &mut self,
        signature: &Signature,
        digests: &[Box<[u8]>],
        known: &[Checked],
        allow_old: bool,
    ) {
        let Some(config) = signature.config() else {
            let what = "a signature is malformed, or of a version that is not known";
            self.unchecked.push(what.to_owned());
            return;
        };
        let mut bad = None;
        let mut unchecked = None;
        for certificate in known.iter().filter(|one| has_signer(one, signature)) {
            let case = Case { signature, config, digests, certificate, allow_old };
            let name = certificate.fingerprint().to_string().to_uppercase();
            let described = |why: String| format!("a signature of key {name} {why}");
            match case.judge() {
                Ok(verified) => return self.verified.push(verified),
                Err(Flaw::Bad(why)) => drop(bad.get_or_insert_with(|| described(why))),
                Err(Flaw::Unknown(why)) => drop(unchecked.get_or_insert_with(|| described(why))),
            }
        }
        match (bad, unchecked) {
            (Some(bad), _) => self.bad.push(bad),
            (None, Some(unchecked)) => self.unchecked.push(unchecked),
            (None, None) => self.unchecked.push(format!(
                "a signature of {}, whose certificate is not here",
                signer_of(signature)
            )),
        }
    }

    /// Why signatures do not count, the bad ones first.
    #[must_use]
    pub fn doubts(&self) -> Vec<&str> {
        self.bad.iter().chain(&self.unchecked).map(String::as_str).collect()
    }
}

/// Whom a signature says it is of.
fn signer_of(signature: &Signature) -> String {
    let print = signature.issuer_fingerprint().into_iter().next();
    let id = signature.issuer_key_id().into_iter().next();
    match (print, id) {
        (Some(print), _) => format!("key {}", print.to_string().to_uppercase()),
        (None, Some(id)) => format!("key {}", id.to_string().to_uppercase()),
        (None, None) => "a key that it does not name".to_owned(),
    }
}

/// Why a signature of a key that is known does not count.
enum Flaw {
    Bad(String),
    /// It is made in a way that is not known here.
    Unknown(String),
}

impl From<String> for Flaw {
    fn from(why: String) -> Flaw {
        Flaw::Bad(why)
    }
}

impl From<&str> for Flaw {
    fn from(why: &str) -> Flaw {
        Flaw::Bad(why.to_owned())
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
    digests: &'a [Box<[u8]>],
    certificate: &'a Checked,
    allow_old: bool,
}

impl Case<'_> {
    fn judge(&self) -> Result<Verified, Flaw> {
        let made = self.signature.created().ok_or("does not say when it was made")?;
        if let Some(flaw) = self.flaw(made) {
            return Err(flaw.into());
        }
        if let Some(number) = self.unknown_hash() {
            let why = format!("is made with hash {number}, which is not known here");
            return Err(Flaw::Unknown(why));
        }
        let is_weak = self.weakness(made)?;
        let mut keys = match is_weak {
            true => weak_signing_keys(self.certificate, made),
            false => self.certificate.signing_keys_at(made),
        };
        keys.retain(|key| self.may_be_of(key, made));
        if keys.is_empty() {
            return Err("does not count: its key was not to sign at its time".into());
        }
        let none = "is not the one that was announced, or is malformed";
        let digest = self.digests.first().ok_or(none)?;
        let fits = |key: &&ComponentKeyPub| self.digests.iter().any(|one| self.fits(key, one));
        let Some(key) = keys.iter().find(fits) else {
            let is_short = digest.len() < DIGEST_MIN && keys.iter().any(|key| !is_rsa(key));
            return Err(match is_short {
                true => format!("is made with {}, too short for its key", self.config.hash_alg),
                false => "does not fit: something was changed".to_owned(),
            }
            .into());
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
        if made > latest() {
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
            _ => None,
        })
    }

    /// The number of its hash, if that is not known here.
    fn unknown_hash(&self) -> Option<u8> {
        use HashAlgorithm::{None as Nothing, Other, Private10};
        let hash = self.config.hash_alg;
        matches!(hash, Nothing | Private10 | Other(_)).then(|| u8::from(hash))
    }

    /// Whether its key, or what that belongs to, is weak, and counts because that is asked for (2).
    fn weakness(&self, made: Timestamp) -> Result<bool, Flaw> {
        let inner = self.certificate.as_signed_public_key();
        let parts = inner.public_subkeys.iter().map(|part| &part.key);
        let mut signers = parts.filter(|key| is_by(self.signature, *key));
        let is_weak = |key: &dyn KeyDetails| {
            let at = if is_rsa(key) { u32::MAX } else { made.as_secs() };
            obstacle(key, at).map(|why| (why, unsupported(key).is_some()))
        };
        let weak = is_weak(&inner.primary_key).or_else(|| signers.find_map(|key| is_weak(key)));
        match weak {
            Some((why, true)) => Err(Flaw::Unknown(format!("does not count: {why}"))),
            Some((why, _)) if !self.allow_old => {
                Err(Flaw::Bad(format!("does not count: {why}; {OLD}")))
            }
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
    let subpackets = certificate.says_at(at);
    let last = subpackets.iter().all(|one| lasts(one, &inner.primary_key, at));
    let Some(active) = subpackets.first().filter(|_| last && !is_revoked) else {
        return Vec::new();
    };
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
    let hashed = on_key.config().map(|config| &config.hashed_subpackets[..]).unwrap_or_default();
    on_key.key_flags().sign() || !hashed.iter().any(|one| one.typ() == SubpacketType::KeyFlags)
}
