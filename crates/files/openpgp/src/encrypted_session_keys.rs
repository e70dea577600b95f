//! The encrypted session keys (ESK) before the contents of a message, and what opens them.
//!
//! 1. What costs no person anything is tried first: keys and passphrases that were given. Then
//!    people are asked for what unlocks a key that would open it, then tokens, and at last people
//!    for a passphrase of the message.
//! 2. A sender decides how much trying a passphrase takes. What is out of proportion is not tried,
//!    by itself ([`is_affordable`]) or together with what was tried before it ([`WORK_MAX`]).
//! 3. A sender decides, too, how many encrypted session keys there are. Each secret key is unlocked
//!    once for all of them; those that name it come first, and of all of them so many are tried
//!    ([`TRIALS_MAX`]). One that is made for keys of another kind does not count
//!    ([`may_be_for`]).

use pgp::composed::{PlainSessionKey, decrypt_session_key_with_password};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{
    KeyFlags, PublicKeyEncryptedSessionKey, PublicSubkey, SymKeyEncryptedSessionKey,
};
use pgp::ser::Serialize as _;
use pgp::types::{EcdhPublicParams, KeyDetails, Password, PkeskBytes, PublicParams, StringToKey};
use rpgpie::key::ComponentKeyPriv;
use rpgpie::tsk::Tsk;
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::keys::{is_stub, secret_of};
use crate::reading::{Ask, Reading};
use crate::session_key::SessionKey;
use crate::sign::unlocked;
use crate::strength::unsupported;
use crate::token_keys::TokenKey;
use crate::validity::flags_of;

/// All encrypted session keys of a container.
#[derive(Default)]
pub(crate) struct EncryptedSessionKeys {
    pub(crate) by_key: Vec<PublicKeyEncryptedSessionKey>,
    pub(crate) by_passphrase: Vec<SymKeyEncryptedSessionKey>,
    /// How many there are that are not understood; they may be for others.
    pub(crate) unknown: usize,
}

impl EncryptedSessionKeys {
    pub(crate) fn is_empty(&self) -> bool {
        self.by_key.is_empty() && self.by_passphrase.is_empty() && self.unknown == 0
    }

    /// The session key, if something that was given opens it. A wrong passphrase opens one
    /// of the older form by chance, once in so many times; `fits` then decides.
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

    /// What a secret key opens; those that would, but are locked, are told (3).
    fn by_keys(
        &self,
        keys: &[Tsk],
        passphrases: &[Password],
        is_v2: bool,
        locked: &mut Vec<Tsk>,
    ) -> Option<SessionKey> {
        let mut left = TRIALS_MAX;
        for is_named in [true, false] {
            for key in keys {
                for part in parts_of(key) {
                    let fits = |esk: &&PublicKeyEncryptedSessionKey| {
                        names(esk, &part) == is_named && may_be_for(esk, &part)
                    };
                    let mut own = self.by_key.iter().filter(fits).peekable();
                    if own.peek().is_none() || is_stub(secret_of(&part)) {
                        continue;
                    }
                    let own: Vec<_> = own.collect();
                    let Some(part_open) = unlocked(part, passphrases) else {
                        put_once(locked, key);
                        continue;
                    };
                    for esk in own {
                        left = left.checked_sub(1)?;
                        let found = part_open.decrypt_session_key(esk, &Password::empty());
                        if let Some(key) = found.ok().and_then(|key| sort(&key, is_v2)) {
                            return Some(key);
                        }
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
        self.trials(passphrases.len()).find_map(|(esk, at)| {
            let found = decrypt_session_key_with_password(esk, &passphrases[at]);
            found.ok().and_then(|key| sort(&key, is_v2)).filter(fits)
        })
    }

    /// Which of them are tried with which of so many passphrases (2).
    fn trials(
        &self,
        passphrases: usize,
    ) -> impl Iterator<Item = (&SymKeyEncryptedSessionKey, usize)> {
        let mut left = WORK_MAX;
        let all = self.by_passphrase.iter();
        let all = all.flat_map(move |esk| (0..passphrases).map(move |at| (esk, at)));
        all.filter(move |(esk, _)| {
            let rest = left.checked_sub(work_of(esk)).filter(|_| is_affordable(esk));
            left = rest.unwrap_or(left);
            rest.is_some()
        })
    }

    /// How many are not tried with all of so many passphrases.
    fn left_out(&self, passphrases: usize) -> usize {
        let all = self.by_passphrase.len() * passphrases;
        (all - self.trials(passphrases).count()).div_ceil(passphrases.max(1))
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
        let mut left = TOKEN_TRIALS_MAX;
        for is_named in [true, false] {
            for key in reading.token_keys.iter().flat_map(TokenKey::keys) {
                let fits = |esk: &&PublicKeyEncryptedSessionKey| {
                    names(esk, &key) == is_named && may_be_for(esk, &key)
                };
                for esk in self.by_key.iter().filter(fits) {
                    let Some(rest) = left.checked_sub(1) else { return Ok(None) };
                    left = rest;
                    let found = key.open(esk)?.filter(|found| is_v2 == (found.cipher == 0));
                    if found.is_some() {
                        return Ok(found);
                    }
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
            let is_named = |part: &&PublicSubkey| self.by_key.iter().any(|esk| names(esk, *part));
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
            let ids: Vec<String> = self.by_key.iter().take(NAMED_MAX).map(recipient).collect();
            let more = match self.by_key.len().saturating_sub(NAMED_MAX) {
                0 => String::new(),
                more => format!(" and {more} others"),
            };
            ways.push(format!("it is for {}{more}", ids.join(", ")));
        }
        if !self.by_passphrase.is_empty() {
            ways.push(match reading.passphrases.is_empty() {
                true => "a passphrase opens it, and none was given".to_owned(),
                false => "no passphrase that was given opens it".to_owned(),
            });
            let left_out = self.left_out(reading.passphrases.len().max(1));
            if left_out > 0 {
                ways.push(format!(
                    "{left_out} of its {} session keys for passphrases would take more memory or \
                     time than a message gets, and were not tried",
                    self.by_passphrase.len()
                ));
            }
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

/// What trying passphrases with all encrypted session keys of a message may take, in bytes that are
/// hashed or filled: two passes over the most memory that is given, or as much as the most
/// passphrases that are written ask for.
const WORK_MAX: u64 = 4 << 30;

/// How often secret keys are tried at the encrypted session keys of a message.
const TRIALS_MAX: usize = 256;
/// The same of keys in tokens, which take their time.
const TOKEN_TRIALS_MAX: usize = 32;
/// How many recipients an error names.
const NAMED_MAX: usize = 8;

/// The parts of a secret key that may open something: those that are bound for that, whenever that
/// was, and those of which it is not said what they are for.
fn parts_of(key: &Tsk) -> Vec<ComponentKeyPriv> {
    let mut parts = key.decryption_keys_sec();
    for part in &key.key().secret_subkeys {
        let is_there = |one: &ComponentKeyPriv| one.fingerprint() == part.key.fingerprint();
        let flags = part.signatures.iter().map(flags_of);
        let opens = |one: KeyFlags| one.encrypt_comms() || one.encrypt_storage();
        let may_open = flags.clone().all(|one| one.is_none()) || flags.flatten().any(opens);
        if may_open && !parts.iter().any(is_there) {
            parts.push(ComponentKeyPriv::Subkey(part.key.clone()));
        }
    }
    parts
}

/// Adds a key to others, unless it is among them.
fn put_once(keys: &mut Vec<Tsk>, key: &Tsk) {
    let print = key.key().fingerprint();
    if !keys.iter().any(|one| one.key().fingerprint() == print) {
        keys.push(key.clone());
    }
}

/// What trying a passphrase takes, in bytes that are hashed or filled.
fn work_of(esk: &SymKeyEncryptedSessionKey) -> u64 {
    match esk.s2k() {
        Some(StringToKey::Argon2 { t, m_enc, .. }) => {
            let kibibytes = 1_u64.checked_shl(u32::from(*m_enc)).unwrap_or(u64::MAX);
            kibibytes.saturating_mul(1 << 10).saturating_mul(u64::from(*t))
        }
        Some(StringToKey::IteratedAndSalted { hash_alg, count, .. }) => {
            // What hashes slowly costs more for the same bytes.
            let weight = match hash_alg {
                HashAlgorithm::Ripemd160 | HashAlgorithm::Sha3_512 => 4,
                HashAlgorithm::Sha384 | HashAlgorithm::Sha512 | HashAlgorithm::Sha3_256 => 2,
                _ => 1,
            };
            weight * ((16 + u64::from(count & 15)) << (u32::from(count >> 4) + 6))
        }
        _ => 0,
    }
}

/// Whether trying a passphrase takes memory in proportion; a sender may ask for terabytes.
fn is_affordable(esk: &SymKeyEncryptedSessionKey) -> bool {
    const KIBIBYTES_MAX_POWER: u8 = 21;
    const PASSES_MAX: u8 = 32;
    match esk.s2k() {
        Some(StringToKey::Argon2 { t, m_enc, .. }) => {
            *m_enc <= KIBIBYTES_MAX_POWER && *t <= PASSES_MAX
        }
        _ => true,
    }
}

/// Whether it may be for this key: it names it, or none, and is made for one of its kind.
fn may_be_for(esk: &PublicKeyEncryptedSessionKey, key: &impl KeyDetails) -> bool {
    let is_of_kind = esk.algorithm().is_ok_and(|algorithm| algorithm == key.algorithm());
    is_of_kind && esk.match_identity(key) && esk.values().is_ok_and(|values| fits(values, key))
}

/// Whether an encrypted session key was made with a key of this size, or on its curve.
fn fits(values: &PkeskBytes, key: &impl KeyDetails) -> bool {
    match (values, key.public_params()) {
        (PkeskBytes::Ecdh { public_point, .. }, PublicParams::ECDH(params)) => {
            // A point is marked, and has one coordinate or two.
            let bytes = match params {
                EcdhPublicParams::Curve25519Legacy { .. } => 33,
                EcdhPublicParams::P256 { .. } => 65,
                EcdhPublicParams::P384 { .. } => 97,
                EcdhPublicParams::P521 { .. } => 133,
                _ => return true,
            };
            public_point.len() == bytes
        }
        (PkeskBytes::Rsa { mpi }, PublicParams::RSA(params)) => {
            // Both begin with their length in bits; what was encrypted is less than the modulus.
            let bits = params.to_bytes().ok().and_then(|bytes| bytes.first_chunk().copied());
            let bytes = bits.map_or(0, u16::from_be_bytes).div_ceil(8);
            mpi.len() <= usize::from(bytes)
        }
        _ => true,
    }
}

/// Whether it says that it is for this key, and not for anybody.
fn names(esk: &PublicKeyEncryptedSessionKey, key: &impl KeyDetails) -> bool {
    esk.id().is_ok_and(|id| *id == key.legacy_key_id())
        || esk.fingerprint().is_ok_and(|print| print == Some(&key.fingerprint()))
}

fn recipient(esk: &PublicKeyEncryptedSessionKey) -> String {
    match (esk.id(), esk.fingerprint()) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use pgp::packet::{Packet, PacketParser};

    use crate::encrypt::PASSPHRASES_MAX;

    /// One of version 4 whose key is made as these bytes say.
    fn esk(s2k: &[u8]) -> SymKeyEncryptedSessionKey {
        let body = [&[4, 9], s2k, &[7; 33]].concat();
        let packet = [&[0xc3, body.len() as u8], &body[..]].concat();
        match PacketParser::new(&packet[..]).next() {
            Some(Ok(Packet::SymKeyEncryptedSessionKey(esk))) => esk,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_all_locks_of_a_message_take_is_bounded() {
        let argon = |passes: u8, power: u8| [&[4][..], &[1; 16], &[passes, 4, power]].concat();
        let iterated = |count: u8| [&[3, 8][..], &[1; 8], &[count]].concat();
        for (s2k, given, tried) in [
            (argon(1, 21), 10, 2),
            (argon(2, 21), 2, 1),
            (argon(3, 21), 1, 0),
            (argon(1, 22), 1, 0),
            (argon(33, 10), 1, 0),
            (argon(3, 16), 100, 21),
            (iterated(255), 300, 66),
            // As many as a message may have, as they are written here.
            (iterated(224), PASSPHRASES_MAX, PASSPHRASES_MAX),
            (iterated(224), 1024, 256),
        ] {
            let encrypted = EncryptedSessionKeys {
                by_passphrase: vec![esk(&s2k); given],
                ..EncryptedSessionKeys::default()
            };
            assert_eq!(encrypted.trials(1).count(), tried, "{s2k:?}");
            let text = encrypted.explain(&Reading::default()).to_string();
            assert_eq!(text.contains("were not tried"), tried < given, "{text}");
        }
        // What is dear hides nothing behind it that is not.
        let by_passphrase = vec![esk(&argon(32, 21)), esk(&iterated(96))];
        assert_eq!(
            EncryptedSessionKeys { by_passphrase, ..EncryptedSessionKeys::default() }
                .trials(1)
                .count(),
            1
        );
        // Nor does it cost more to give more passphrases.
        let by_passphrase = vec![esk(&argon(1, 21)), esk(&argon(1, 21))];
        let encrypted = EncryptedSessionKeys { by_passphrase, ..EncryptedSessionKeys::default() };
        assert_eq!((encrypted.trials(2).count(), encrypted.trials(9).count()), (2, 2));
        assert_eq!(
            (encrypted.left_out(1), encrypted.left_out(2), encrypted.left_out(9)),
            (0, 1, 2)
        );
    }
}
