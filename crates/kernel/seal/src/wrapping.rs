//! How a key file holds the master key: under a passphrase, or under a key in a token.
//!
//! Under a passphrase (method 1); the associated data of the master key is the file's first 60
//! bytes: header, cost and salt.
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 4 | Argon2id memory in KiB |
//! | 4 | 4 | passes |
//! | 8 | 4 | lanes |
//! | 12 | 16 | salt |
//! | 28 | 32 | wrapped master key |
//! | 60 | 16 | its tag |
//!
//! In a token (method 2); the associated data is everything of the file before the wrapped key.
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 2 + L | label of the token |
//! | 2+L | 2 + M | label of the key |
//! | 4+L+M | 12 | nonce |
//! | 16+L+M | 48 | wrapped master key with its tag, as the token gave it |
//!
//! 1. What a token has wrapped is unwrapped again before anything rests on it.

use base::SystemId;
use base::bytes::{Reader, push_string16};
use seam::entropy::Entropy;

use crate::passphrase::Stretched;
use crate::secret::KEY_BYTES;
use crate::token::NONCE_BYTES;
use crate::wrapped::{MAGIC, ONCE, VERSION, unwrap};
use crate::{
    DataKey, KdfCost, Passphrase, Salt, SealError, TAG_BYTES, Tag, TokenFault, TokenPlace,
    WorkingKey,
};

/// The number of each method.
pub(crate) const BY_PASSPHRASE: u16 = 1;
pub(crate) const BY_TOKEN: u16 = 2;

const IN_TOKEN_BYTES: usize = KEY_BYTES + TAG_BYTES;

/// What protects the master key of a key file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Protection {
    /// A passphrase; what a guess at it costs.
    Passphrase(KdfCost),
    /// A key in a token.
    Token(TokenPlace),
}

/// The wrapped master key.
#[derive(Clone, Debug)]
pub(crate) enum Wrapping {
    Passphrase { cost: KdfCost, salt: Salt, wrapped: [u8; KEY_BYTES], tag: Tag },
    Token { place: TokenPlace, nonce: [u8; NONCE_BYTES], wrapped: [u8; IN_TOKEN_BYTES] },
}

impl Wrapping {
    /// Wraps `master` under a passphrase with a fresh salt.
    pub(crate) fn by_passphrase(
        master: &DataKey,
        system: &SystemId,
        passphrase: &Passphrase,
        cost: KdfCost,
        entropy: &dyn Entropy,
    ) -> Result<Wrapping, SealError> {
        if passphrase.is_empty() {
            return Err(SealError::EmptyPassphrase);
        }
        let salt = Salt::draw(entropy).map_err(SealError::Entropy)?;
        let key = wrapping_key(passphrase, cost, &salt)?;
        let mut wrapped = *master.bytes();
        let head = head_of_passphrase(system, cost, &salt);
        let tag = key.seal(ONCE, &head, &mut wrapped);
        Ok(Wrapping::Passphrase { cost, salt, wrapped, tag })
    }

    /// Wraps `master` under a key of a token, which is made if there is none (1).
    pub(crate) fn by_token(
        master: &DataKey,
        system: &SystemId,
        pin: &Passphrase,
        place: &TokenPlace,
        entropy: &dyn Entropy,
    ) -> Result<Wrapping, SealError> {
        let failed = |fault| SealError::Token { place: place.clone(), fault };
        if !place.is_valid() {
            return Err(SealError::BadTokenPlace { place: place.clone() });
        }
        let token = pin.token().ok_or_else(|| failed(TokenFault::NoDriver))?;
        token.make_key(pin.bytes(), place).map_err(failed)?;
        let mut nonce = [0; NONCE_BYTES];
        entropy.fill(&mut nonce).map_err(SealError::Entropy)?;
        let head = head_of_token(system, place, &nonce);
        let made = token.wrap(pin.bytes(), place, &nonce, &head, master.bytes()).map_err(failed)?;
        let wrapped = made.try_into().map_err(|other: Vec<u8>| {
            let why = format!("it gave {} bytes instead of {IN_TOKEN_BYTES}", other.len());
            failed(TokenFault::Failed { why })
        })?;
        let wrapping = Wrapping::Token { place: place.clone(), nonce, wrapped };
        match wrapping.unwrap(system, pin)? {
            Some(again) if again.bytes() == master.bytes() => Ok(wrapping),
            _ => {
                Err(failed(TokenFault::Failed { why: "it does not give back what it got".into() }))
            }
        }
    }

    /// The master key; `None` if the passphrase is wrong or what it covers was altered.
    pub(crate) fn unwrap(
        &self,
        system: &SystemId,
        secret: &Passphrase,
    ) -> Result<Option<DataKey>, SealError> {
        match self {
            Wrapping::Passphrase { cost, salt, wrapped, tag } => {
                let key = wrapping_key(secret, *cost, salt)?;
                let head = head_of_passphrase(system, *cost, salt);
                Ok(unwrap(&key, &head, wrapped, tag))
            }
            Wrapping::Token { place, nonce, wrapped } => {
                let failed = |fault| SealError::Token { place: place.clone(), fault };
                let token = secret.token().ok_or_else(|| failed(TokenFault::NoDriver))?;
                let head = head_of_token(system, place, nonce);
                let clear =
                    token.unwrap(secret.bytes(), place, nonce, &head, wrapped).map_err(failed)?;
                let mut master = DataKey::blank();
                if clear.len() != KEY_BYTES {
                    return Err(failed(TokenFault::Altered));
                }
                master.bytes_mut().copy_from_slice(&clear);
                Ok(Some(master))
            }
        }
    }

    /// The key that a passphrase is stretched to, in its place; `None` for a token.
    pub(crate) fn stretch(&self, secret: &Passphrase) -> Result<Option<Passphrase>, SealError> {
        let Wrapping::Passphrase { cost, salt, .. } = self else { return Ok(None) };
        let key = secret.stretch(*cost, salt)?;
        let (cost, salt) = (*cost, *salt);
        Ok(Some(Passphrase::of_stretched(Stretched { cost, salt, key })))
    }

    /// What tells apart the keys that passphrases are stretched to; `None` for a token.
    pub(crate) fn salt(&self) -> Option<&Salt> {
        match self {
            Wrapping::Passphrase { salt, .. } => Some(salt),
            Wrapping::Token { .. } => None,
        }
    }

    /// What protects it.
    pub(crate) fn protection(&self) -> Protection {
        match self {
            Wrapping::Passphrase { cost, .. } => Protection::Passphrase(*cost),
            Wrapping::Token { place, .. } => Protection::Token(place.clone()),
        }
    }

    /// The beginning of the key file, up to and with the wrapped master key.
    pub(crate) fn encode(&self, system: &SystemId) -> Vec<u8> {
        match self {
            Wrapping::Passphrase { cost, salt, wrapped, tag } => {
                let mut out = head_of_passphrase(system, *cost, salt);
                out.extend_from_slice(wrapped);
                out.extend_from_slice(&tag.0);
                out
            }
            Wrapping::Token { place, nonce, wrapped } => {
                let mut out = head_of_token(system, place, nonce);
                out.extend_from_slice(wrapped);
                out
            }
        }
    }

    /// The wrapping of a known method; `bytes` are its own, all of them.
    pub(crate) fn decode(kind: u16, bytes: &[u8]) -> Option<Wrapping> {
        let mut reader = Reader::new(bytes);
        let wrapping = if kind == BY_PASSPHRASE {
            let (memory_kib, passes, lanes) = (reader.u32()?, reader.u32()?, reader.u32()?);
            Wrapping::Passphrase {
                cost: KdfCost { memory_kib, passes, lanes },
                salt: Salt(reader.array()?),
                wrapped: reader.array()?,
                tag: Tag(reader.array()?),
            }
        } else {
            let token = str::from_utf8(reader.string16()?).ok()?.to_owned();
            let key = str::from_utf8(reader.string16()?).ok()?.to_owned();
            let place = TokenPlace { token, key };
            let (nonce, wrapped) = (reader.array()?, reader.array()?);
            place.is_valid().then_some(Wrapping::Token { place, nonce, wrapped })?
        };
        reader.is_empty().then_some(wrapping)
    }
}

fn wrapping_key(
    passphrase: &Passphrase,
    cost: KdfCost,
    salt: &Salt,
) -> Result<WorkingKey, SealError> {
    let stretched = passphrase.stretch(cost, salt)?;
    Ok(WorkingKey::derive(&stretched, salt, b"holdfast master key 1"))
}

/// The header of the file, and what of the wrapping stands before the wrapped key.
fn head(kind: u16, system: &SystemId, fields: &[u8], wrapped_bytes: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&((fields.len() + wrapped_bytes) as u32).to_le_bytes());
    out.extend_from_slice(&system.0);
    out.extend_from_slice(fields);
    out
}

fn head_of_passphrase(system: &SystemId, cost: KdfCost, salt: &Salt) -> Vec<u8> {
    let mut fields = Vec::with_capacity(28);
    fields.extend_from_slice(&cost.memory_kib.to_le_bytes());
    fields.extend_from_slice(&cost.passes.to_le_bytes());
    fields.extend_from_slice(&cost.lanes.to_le_bytes());
    fields.extend_from_slice(&salt.0);
    head(BY_PASSPHRASE, system, &fields, KEY_BYTES + TAG_BYTES)
}

fn head_of_token(system: &SystemId, place: &TokenPlace, nonce: &[u8; NONCE_BYTES]) -> Vec<u8> {
    let mut fields = Vec::with_capacity(160);
    push_string16(&mut fields, place.token.as_bytes());
    push_string16(&mut fields, place.key.as_bytes());
    fields.extend_from_slice(nonce);
    head(BY_TOKEN, system, &fields, IN_TOKEN_BYTES)
}
