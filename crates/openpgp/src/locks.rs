//! What stands before the contents of an encrypted message, and who opens it.
//!
//! 1. What costs nobody anything is tried first: keys and passphrases that were given. Then people
//!    are asked for what unlocks a key that would open it, then tokens, and at last people for a
//!    passphrase of the message.
//! 2. A sender decides how much trying a passphrase takes; what is out of proportion is not tried.

use pgp::composed::{PlainSessionKey, decrypt_session_key_with_password};
use pgp::packet::{PublicKeyEncryptedSessionKey, PublicSubkey, SymKeyEncryptedSessionKey};
use pgp::types::{KeyDetails, Password, StringToKey};
use rpgpie::tsk::Tsk;
use zeroize::Zeroizing;

use crate::decrypt::{Ask, Reading};
use crate::encrypt::SessionKey;
use crate::error::{Error, Result};
use crate::fitness::unsupported;
use crate::held::Held;
use crate::keys::{is_stub, secret_of};
use crate::sign::unlocked;

/// What may open the contents.
#[derive(Default)]
pub(crate) struct Locks {
    pub(crate) by_key: Vec<PublicKeyEncryptedSessionKey>,
    pub(crate) by_passphrase: Vec<SymKeyEncryptedSessionKey>,
}

impl Locks {
    pub(crate) fn is_empty(&self) -> bool {
        self.by_key.is_empty() && self.by_passphrase.is_empty()
    }

    /// The session key, if something that was given opens it. A wrong passphrase opens an older
    /// lock by chance, once in so many times; `fits` then decides.
    pub(crate) fn open(
        &self,
        reading: &Reading,
        is_v2: bool,
        fits: impl Fn(&SessionKey) -> bool,
    ) -> Result<Option<SessionKey>> {
        if let Some(key) = reading.session_keys.iter().find(|key| fits(key)) {
            return Ok(Some(key.clone()));
        }
        let mut locked = Vec::new();
        let found = self.by_keys(&reading.keys, &reading.key_passphrases, is_v2, &mut locked);
        if found.is_some() {
            return Ok(found);
        }
        let found = self.by_passphrases(&reading.passphrases, is_v2, &fits);
        if found.is_some() {
            return Ok(found);
        }
        let ask = reading.ask.as_deref();
        let asked = ask.filter(|_| !locked.is_empty()).map(|ask| ask.for_keys(&locked));
        if let Some(Ok(words)) = &asked {
            let found = self.by_keys(&locked, words, is_v2, &mut Vec::new());
            if found.is_some() {
                return Ok(found);
            }
        }
        let found = self.by_token(reading, is_v2)?;
        if found.is_some() {
            return Ok(found);
        }
        if let Some(Err(error)) = asked {
            return Err(error);
        }
        if let Some(key) = locked.first() {
            return Err(Error::Locked(key.key().fingerprint().to_string()));
        }
        self.by_word(ask.filter(|_| reading.passphrases.is_empty()), is_v2, &fits)
    }

    /// What a secret key opens; those that would, but are locked, are told.
    fn by_keys(
        &self,
        keys: &[Tsk],
        passphrases: &[Password],
        is_v2: bool,
        locked: &mut Vec<Tsk>,
    ) -> Option<SessionKey> {
        for lock in &self.by_key {
            for key in keys {
                for part in key.decryption_keys_sec() {
                    if !lock.match_identity(&part) || is_stub(secret_of(&part)) {
                        continue;
                    }
                    let Some(part_open) = unlocked(part, passphrases) else {
                        locked.push(key.clone());
                        continue;
                    };
                    let found = part_open.decrypt_session_key(lock, &Password::empty());
                    if let Some(key) = found.ok().and_then(|key| sort(&key, is_v2)) {
                        return Some(key);
                    }
                }
            }
        }
        None
    }

    /// What a passphrase opens.
    fn by_passphrases(
        &self,
        passphrases: &[Password],
        is_v2: bool,
        fits: &impl Fn(&SessionKey) -> bool,
    ) -> Option<SessionKey> {
        for lock in self.by_passphrase.iter().filter(|lock| is_affordable(lock)) {
            for passphrase in passphrases {
                let found = decrypt_session_key_with_password(lock, passphrase);
                let found = found.ok().and_then(|key| sort(&key, is_v2));
                if let Some(key) = found.filter(fits) {
                    return Some(key);
                }
            }
        }
        None
    }

    /// What a passphrase opens that is asked for.
    fn by_word(
        &self,
        ask: Option<&dyn Ask>,
        is_v2: bool,
        fits: &impl Fn(&SessionKey) -> bool,
    ) -> Result<Option<SessionKey>> {
        let Some(ask) = ask.filter(|_| !self.by_passphrase.is_empty()) else { return Ok(None) };
        let words = ask.for_message()?;
        let found = self.by_passphrases(&words, is_v2, fits);
        if found.is_none() && !words.is_empty() {
            return Err(Error::NoKey("the passphrase does not".to_owned()));
        }
        Ok(found)
    }

    /// What a token opens. Its first error is the last word: a wrong PIN is not tried again.
    fn by_token(&self, reading: &Reading, is_v2: bool) -> Result<Option<SessionKey>> {
        for key in reading.held.iter().flat_map(Held::keys) {
            for lock in self.by_key.iter().filter(|lock| lock.match_identity(&key)) {
                let found = key.open(lock)?.filter(|found| is_v2 == (found.cipher == 0));
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    /// Why a key that was given, and that it is for, does not open it.
    fn obstacle(&self, reading: &Reading) -> Option<String> {
        reading.keys.iter().find_map(|key| {
            let inner = key.key();
            let parts = inner.secret_subkeys.iter().map(|part| part.key.public_key());
            let is_named = |part: &&PublicSubkey| self.by_key.iter().any(|lock| names(lock, *part));
            let why = parts.filter(is_named).find_map(unsupported)?;
            let name = inner.fingerprint().to_string().to_uppercase();
            Some(format!("it is for a part of the key {name} that cannot be used here: {why}"))
        })
    }

    /// Why nothing opened it.
    pub(crate) fn explain(&self, reading: &Reading) -> Error {
        if let Some(why) = self.obstacle(reading) {
            return Error::UnfitKey(why);
        }
        let mut ways = Vec::new();
        if !self.by_key.is_empty() {
            let ids: Vec<String> = self.by_key.iter().map(recipient).collect();
            ways.push(format!("it is for {}", ids.join(", ")));
        }
        if !self.by_passphrase.is_empty() {
            ways.push(match reading.passphrases.is_empty() {
                true => "a passphrase opens it, and none was given".to_owned(),
                false => "no passphrase that was given opens it".to_owned(),
            });
        }
        if !reading.session_keys.is_empty() {
            ways.push(
                "no session key that was given does, or its beginning was changed".to_owned(),
            );
        } else if ways.is_empty() {
            ways.push("only its session key does".to_owned());
        }
        Error::NoKey(ways.join("; "))
    }
}

/// Whether trying a passphrase takes memory in proportion; a sender may ask for terabytes.
fn is_affordable(lock: &SymKeyEncryptedSessionKey) -> bool {
    const KIBIBYTES_MAX_POWER: u8 = 21;
    const PASSES_MAX: u8 = 32;
    match lock.s2k() {
        Some(StringToKey::Argon2 { t, m_enc, .. }) => {
            *m_enc <= KIBIBYTES_MAX_POWER && *t <= PASSES_MAX
        }
        _ => true,
    }
}

/// Whether it says that it is for this key, and not for anybody.
fn names(lock: &PublicKeyEncryptedSessionKey, key: &impl KeyDetails) -> bool {
    lock.id().is_ok_and(|id| *id == key.legacy_key_id())
        || lock.fingerprint().is_ok_and(|print| print == Some(&key.fingerprint()))
}

fn recipient(lock: &PublicKeyEncryptedSessionKey) -> String {
    match (lock.id(), lock.fingerprint()) {
        (Ok(id), _) => format!("key {id}"),
        (_, Ok(Some(print))) => format!("key {print}"),
        _ => "a key that it does not name".to_owned(),
    }
}

/// The session key as the container wants it.
fn sort(key: &PlainSessionKey, is_v2: bool) -> Option<SessionKey> {
    let (cipher, key) = match key {
        PlainSessionKey::V3_4 { sym_alg, key } => (u8::from(*sym_alg), key),
        PlainSessionKey::V6 { key } if is_v2 => (0, key),
        _ => return None,
    };
    (is_v2 == (cipher == 0))
        .then(|| SessionKey { cipher, key: Zeroizing::new(key.as_ref().to_vec()) })
}
