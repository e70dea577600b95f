//! Secrets in memory: data keys and passphrases, wiped when dropped; and the salts beside them.
//!
//! 1. Nothing here prints its bytes; `Debug` says only what kind of secret it is.
//! 2. A copy is made only by an explicit `clone`, and is wiped like its original.
//!
//! What this cannot prevent: the key schedule that the cipher keeps while a working key lives, and
//! pages of this process that the operating system swaps out or dumps (K22 forbids core dumps).

use std::fmt;
use std::io;

use seam::entropy::Entropy;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{SALT_BYTES, SealError};

/// How many bytes a data key has: AES-256, HKDF-SHA256.
pub(crate) const KEY_BYTES: usize = 32;

/// A secret of 32 bytes from which working keys are derived: a data key, or the master key.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct DataKey([u8; KEY_BYTES]);

impl DataKey {
    /// A key of these bytes. The caller wipes its own copy.
    #[must_use]
    pub fn from_bytes(bytes: [u8; KEY_BYTES]) -> DataKey {
        DataKey(bytes)
    }

    /// A fresh random key.
    ///
    /// # Errors
    /// [`SealError::Entropy`] if the source of randomness fails.
    pub fn draw(entropy: &dyn Entropy) -> Result<DataKey, SealError> {
        let mut key = DataKey([0; KEY_BYTES]);
        entropy.fill(&mut key.0).map_err(SealError::Entropy)?;
        Ok(key)
    }

    /// The bytes, for deriving and wrapping only.
    pub(crate) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// A key that is all zero, to be filled through [`DataKey::bytes_mut`].
    pub(crate) fn blank() -> DataKey {
        DataKey([0; KEY_BYTES])
    }

    /// The bytes of a blank key, to be filled in place so that no copy stays behind.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8; KEY_BYTES] {
        &mut self.0
    }
}

impl fmt::Debug for DataKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DataKey(secret)")
    }
}

/// Random bytes, in clear beside what they salt, that make each working key its own (K3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Salt(pub [u8; SALT_BYTES]);

impl Salt {
    /// A fresh random salt.
    ///
    /// # Errors
    /// Whatever the source of randomness says; nothing may be sealed then.
    pub fn draw(entropy: &dyn Entropy) -> io::Result<Salt> {
        let mut salt = Salt::default();
        entropy.fill(&mut salt.0)?;
        Ok(salt)
    }
}

impl fmt::Debug for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_show_their_bytes() {
        let key = DataKey::from_bytes([0xab; KEY_BYTES]);
        assert_eq!(format!("{key:?}"), "DataKey(secret)");
    }

    #[test]
    fn wiping_leaves_zeros() {
        let mut key = DataKey::from_bytes([0xab; KEY_BYTES]);
        key.zeroize();
        assert_eq!(key.bytes(), &[0; KEY_BYTES]);
    }
}
