//! Values sealed before they leave the process.
//!
//! A stored value begins with its form.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | form: 0 in the clear, 1 sealed |
//! | 4 | generation of the data key, little-endian |
//! | 16 | salt of the open that wrote it |
//! | 8 | counter, little-endian |
//! | 16 | tag |
//! | rest | AES-256-GCM of the value |
//!
//! Invariants:
//! 1. *No nonce twice under one key*: the working key follows from data key, salt and identity; the
//!    salt is drawn when the store is opened, and the counter only grows.
//! 2. *Bound to its place*: the identity names the store, the associated data are the header and
//!    the whole stored key with the number of its set, which is never used again. A value that
//!    stands under another key, in another set or in another store does not open.
//! 3. *No downgrade*: a store that seals takes nothing in the clear, whatever stands in the engine.
//!
//! What is not found out: that an entry was put back to an older value of the same key, or that it
//! was taken away. The engine's operator can do either; the log of a kernel has no place here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::KeyGeneration;
use seal::{KeyTokens, Salt, TAG_BYTES, Tag, WorkingKey};
use seam::entropy::Entropy;
use seam::sync::Mutex;
use store::{Damage, Result, SetId, StoreError};

use crate::error::EngineError;
use crate::options::Sealing;

const PLAIN: u8 = 0;
const SEALED: u8 = 1;
const HEADER_BYTES: usize = 1 + 4 + 16 + 8;
/// How many bytes sealing adds to a value.
pub const SEAL_BYTES: usize = HEADER_BYTES + TAG_BYTES;
/// How many keys of other opens are kept.
const KEYS_KEPT: usize = 1_024;

/// Seals what goes out and opens what comes in.
pub(crate) struct Sealer {
    sealed: Option<Keys>,
}

/// Working keys by generation and salt.
type OfOthers = BTreeMap<(u32, [u8; 16]), Arc<WorkingKey>>;

struct Keys {
    sealing: Sealing,
    identity: Vec<u8>,
    generation: KeyGeneration,
    salt: Salt,
    key: WorkingKey,
    next: AtomicU64,
    of_others: Mutex<OfOthers>,
}

impl Sealer {
    pub(crate) fn new(
        sealing: Option<Sealing>,
        store: &[u8],
        entropy: &dyn Entropy,
    ) -> Result<Sealer> {
        let Some(sealing) = sealing else { return Ok(Sealer { sealed: None }) };
        let identity = [b"holdfast engine values 1", store].concat();
        let generation = sealing.keys.current(&sealing.label).map_err(no_keys)?;
        let data_key = sealing.keys.key(&sealing.label, generation).map_err(no_keys)?;
        let salt = Salt::draw(entropy).map_err(no_keys)?;
        let key = WorkingKey::derive(&data_key, &salt, &identity);
        let (next, of_others) = (AtomicU64::new(1), Mutex::default());
        let keys = Keys { sealing, identity, generation, salt, key, next, of_others };
        Ok(Sealer { sealed: Some(keys) })
    }

    pub(crate) fn seals(&self) -> bool {
        self.sealed.is_some()
    }

    /// The generation whose key would turn keys into tokens from now on.
    pub(crate) fn generation(&self) -> Option<u32> {
        self.sealed.as_ref().map(|keys| keys.generation.0)
    }

    /// What turns the keys of a set into tokens.
    pub(crate) fn tokens(&self, generation: u32) -> Result<KeyTokens> {
        let keys = self.sealed.as_ref().ok_or_else(|| no_keys("the store was opened without"))?;
        let key = keys.sealing.keys.key(&keys.sealing.label, KeyGeneration(generation));
        let identity = [b"holdfast engine tokens 1", &keys.identity[..]].concat();
        Ok(KeyTokens::derive(&key.map_err(no_keys)?, &identity))
    }

    /// A value as it is stored under a key.
    pub(crate) fn seal(&self, key: &[u8], value: &[u8]) -> Vec<u8> {
        let Some(keys) = &self.sealed else { return [&[PLAIN], value].concat() };
        let counter = keys.next.fetch_add(1, Ordering::Relaxed);
        let mut stored = Vec::with_capacity(SEAL_BYTES + value.len());
        stored.push(SEALED);
        stored.extend_from_slice(&keys.generation.0.to_le_bytes());
        stored.extend_from_slice(&keys.salt.0);
        stored.extend_from_slice(&counter.to_le_bytes());
        let associated = [&stored[..], key].concat();
        stored.resize(SEAL_BYTES, 0);
        stored.extend_from_slice(value);
        let tag = keys.key.seal(counter, &associated, &mut stored[SEAL_BYTES..]);
        stored[HEADER_BYTES..SEAL_BYTES].copy_from_slice(&tag.0);
        stored
    }

    /// The value that is stored under a key, into `value`.
    pub(crate) fn open(&self, key: &[u8], stored: &[u8], value: &mut Vec<u8>) -> Result<()> {
        value.clear();
        match (&self.sealed, stored.first()) {
            (None, Some(&PLAIN)) => value.extend_from_slice(&stored[1..]),
            (None, Some(&SEALED)) => {
                return Err(no_keys("the entries are sealed, and the store was opened without"));
            }
            (Some(keys), Some(&SEALED)) if stored.len() >= SEAL_BYTES => {
                return keys.open(key, stored, value);
            }
            (Some(_), Some(&PLAIN)) => return Err(damaged(key, "it stands in the clear")),
            _ => return Err(damaged(key, "it is no stored value")),
        }
        Ok(())
    }
}

impl Keys {
    fn open(&self, key: &[u8], stored: &[u8], value: &mut Vec<u8>) -> Result<()> {
        let generation = base::bytes::get_u32(stored, 1);
        let salt: [u8; 16] = std::array::from_fn(|at| stored[5 + at]);
        let counter = base::bytes::get_u64(stored, 21);
        let tag = Tag(std::array::from_fn(|at| stored[HEADER_BYTES + at]));
        let associated = [&stored[..HEADER_BYTES], key].concat();
        value.extend_from_slice(&stored[SEAL_BYTES..]);
        let opened = if salt == self.salt.0 && generation == self.generation.0 {
            self.key.open(counter, &associated, value, &tag)
        } else {
            self.of_other(generation, salt)?.open(counter, &associated, value, &tag)
        };
        opened.map_err(|_| {
            value.clear();
            damaged(key, "it is not what was sealed under this key")
        })
    }

    fn of_other(&self, generation: u32, salt: [u8; 16]) -> Result<Arc<WorkingKey>> {
        if let Some(key) = self.of_others.lock().get(&(generation, salt)) {
            return Ok(Arc::clone(key));
        }
        let data_key = self.sealing.keys.key(&self.sealing.label, KeyGeneration(generation));
        let data_key = data_key.map_err(no_keys)?;
        let key = Arc::new(WorkingKey::derive(&data_key, &Salt(salt), &self.identity));
        let mut kept = self.of_others.lock();
        if kept.len() >= KEYS_KEPT {
            kept.clear();
        }
        kept.insert((generation, salt), Arc::clone(&key));
        Ok(key)
    }
}

#[allow(clippy::needless_pass_by_value)] // for map_err
fn no_keys(error: impl ToString) -> StoreError {
    StoreError::beneath(EngineError::Keys(error.to_string()))
}

pub(crate) fn damaged(key: &[u8], detail: &str) -> StoreError {
    let set = SetId(key.first_chunk().map_or(0, |number| u32::from_be_bytes(*number)));
    let within = key.get(4..).unwrap_or_default().escape_ascii();
    StoreError::Damaged(Box::new(Damage {
        object: format!("{set} in the engine"),
        detail: format!("the value of key {within}: {detail}"),
        recovery: "Somebody has written to the engine beside Holdfast. Restore the engine's own \
                   backup, and look at who may write to it."
            .into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seal::TestKeys;
    use seam::entropy::OsEntropy;

    fn sealer(seed: u64, store: &[u8]) -> Sealer {
        let keys = Arc::new(TestKeys::new(seed));
        let sealing = Sealing { keys, label: "engine".into(), identity: None };
        Sealer::new(Some(sealing), store, &OsEntropy).unwrap()
    }

    fn opens(sealer: &Sealer, key: &[u8], stored: &[u8]) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        sealer.open(key, stored, &mut value).ok().map(|()| value)
    }

    #[test]
    fn a_value_opens_where_it_was_sealed_and_nowhere_else() {
        let (one, again) = (sealer(1, b"store"), sealer(1, b"store"));
        let stored = one.seal(b"\0\0\0\x01key", b"value");
        assert_eq!(stored.len(), SEAL_BYTES + 5);
        assert!(!stored.windows(5).any(|window| window == b"value"));
        assert_eq!(opens(&one, b"\0\0\0\x01key", &stored).as_deref(), Some(&b"value"[..]));
        assert_eq!(opens(&again, b"\0\0\0\x01key", &stored).as_deref(), Some(&b"value"[..]));
        assert_eq!(opens(&one, b"\0\0\0\x01kez", &stored), None, "another key");
        assert_eq!(opens(&one, b"\0\0\0\x02key", &stored), None, "another set");
        assert_eq!(opens(&sealer(1, b"other"), b"\0\0\0\x01key", &stored), None, "another store");
        assert_eq!(opens(&sealer(2, b"store"), b"\0\0\0\x01key", &stored), None, "other keys");
    }

    #[test]
    fn every_altered_byte_is_found() {
        let sealer = sealer(1, b"store");
        let stored = sealer.seal(b"key", b"value");
        for at in 0..stored.len() {
            let mut altered = stored.clone();
            altered[at] ^= 1;
            assert_eq!(opens(&sealer, b"key", &altered), None, "byte {at}");
        }
        for length in 0..stored.len() {
            assert_eq!(opens(&sealer, b"key", &stored[..length]), None, "cut to {length}");
        }
    }

    #[test]
    fn a_store_that_seals_takes_nothing_in_the_clear() {
        let plain = Sealer::new(None, b"store", &OsEntropy).unwrap();
        let stored = plain.seal(b"key", b"value");
        assert_eq!(opens(&plain, b"key", &stored).as_deref(), Some(&b"value"[..]));
        assert_eq!(opens(&sealer(1, b"store"), b"key", &stored), None);
        assert_eq!(opens(&plain, b"key", &sealer(1, b"store").seal(b"key", b"value")), None);
    }
}
