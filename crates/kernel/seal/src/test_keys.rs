//! Keys for tests and the simulator: derived from a seed, at once, the same in every run.
//!
//! Never for data that matters: who knows the seed knows the keys.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use base::KeyGeneration;

use crate::working_key::derive_key;
use crate::{DataKey, KeyProvider, Salt, SealError};

/// Every label exists, with the generations from [`TestKeys::forget_below`] to the current one.
pub struct TestKeys {
    root: DataKey,
    first: AtomicU32,
    current: AtomicU32,
}

impl TestKeys {
    /// Keys that follow from `seed`; the current generation is 1.
    #[must_use]
    pub fn new(seed: u64) -> TestKeys {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let root = DataKey::from_bytes(bytes);
        TestKeys { root, first: AtomicU32::new(1), current: AtomicU32::new(1) }
    }

    /// Starts a new generation of every label.
    pub fn new_generation(&self) -> KeyGeneration {
        KeyGeneration(self.current.fetch_add(1, SeqCst) + 1)
    }

    /// Loses all generations before `generation`, as if they had been deleted.
    pub fn forget_below(&self, generation: KeyGeneration) {
        self.first.store(generation.0, SeqCst);
    }
}

impl KeyProvider for TestKeys {
    fn current(&self, _label: &str) -> Result<KeyGeneration, SealError> {
        Ok(KeyGeneration(self.current.load(SeqCst)))
    }

    fn key(&self, label: &str, generation: KeyGeneration) -> Result<DataKey, SealError> {
        let known = self.first.load(SeqCst)..=self.current.load(SeqCst);
        if !known.contains(&generation.0) {
            return Err(SealError::UnknownGeneration { label: label.to_owned(), generation });
        }
        let mut salt = Salt::default();
        salt.0[..4].copy_from_slice(&generation.0.to_le_bytes());
        Ok(derive_key(&self.root, &salt, label.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(keys: &TestKeys, label: &str, generation: u32) -> [u8; 32] {
        *keys.key(label, KeyGeneration(generation)).unwrap().bytes()
    }

    #[test]
    fn seeds_labels_and_generations_have_keys_of_their_own() {
        let keys = TestKeys::new(1);
        assert_eq!(keys.new_generation(), KeyGeneration(2));
        let first = bytes(&keys, "A", 1);
        assert_eq!(first, bytes(&TestKeys::new(1), "A", 1));
        assert_ne!(first, bytes(&keys, "A", 2));
        assert_ne!(first, bytes(&keys, "B", 1));
        assert_ne!(first, bytes(&TestKeys::new(2), "A", 1));
    }

    #[test]
    fn generations_that_do_not_exist_are_refused() {
        let keys = TestKeys::new(1);
        assert!(keys.key("A", KeyGeneration(0)).is_err());
        assert!(keys.key("A", KeyGeneration(2)).is_err());
        keys.new_generation();
        keys.forget_below(KeyGeneration(2));
        assert!(keys.key("A", KeyGeneration(1)).is_err());
        assert_eq!(keys.current("A").unwrap(), KeyGeneration(2));
    }
}
