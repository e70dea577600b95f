//! Secrets in memory: data keys and passphrases, wiped when dropped; and the salts beside them.
//!
//! 1. Nothing here prints its bytes; `Debug` says only what kind of secret it is.
//! 2. A copy is made only by an explicit `clone`, and is wiped like its original.
//!
//! What this cannot prevent: the key schedule that the cipher keeps while a working key lives, and
//! pages of this process that the operating system swaps out or dumps (K22 forbids core dumps).

use std::fmt;
use std::io;
use std::sync::Arc;

use base::bytes::Reader;
use seam::entropy::Entropy;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::{KdfCost, SALT_BYTES, SealError, Token};

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

/// What a person types to open the key file: its passphrase, or the PIN of the token that protects
/// it, together with the way to that token. In place of a passphrase the key may stand that was
/// stretched from it, which opens one key file until its passphrase or master key is changed.
#[derive(Clone)]
pub struct Passphrase {
    typed: Zeroizing<Vec<u8>>,
    token: Option<Arc<dyn Token>>,
    stretched: Option<Stretched>,
}

/// A key that was stretched from a passphrase, with what it was stretched by.
#[derive(Clone)]
pub(crate) struct Stretched {
    pub(crate) cost: KdfCost,
    pub(crate) salt: Salt,
    pub(crate) key: DataKey,
}

/// What stands in front of a stretched key in bytes.
const STRETCHED: &[u8; 8] = b"HFSTRCH\x01";

impl Passphrase {
    /// A passphrase of these bytes, taken over and wiped when dropped. Line ends belong to it:
    /// whoever reads it from a terminal or a file cuts them off.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Passphrase {
        Passphrase { typed: Zeroizing::new(bytes), token: None, stretched: None }
    }

    /// The key that was stretched from a passphrase, in its place.
    pub(crate) fn of_stretched(stretched: Stretched) -> Passphrase {
        Passphrase { stretched: Some(stretched), ..Passphrase::new(Vec::new()) }
    }

    /// The stretched key, if it stands for this cost and salt.
    pub(crate) fn stretched_by(&self, cost: KdfCost, salt: &Salt) -> Option<&DataKey> {
        let held = self.stretched.as_ref()?;
        (held.cost == cost && held.salt == *salt).then_some(&held.key)
    }

    /// In bytes that another process can take it from: what was typed, or the stretched key.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let Some(Stretched { cost, salt, key }) = &self.stretched else {
            return self.typed.clone();
        };
        // Room for all of it at once, so that growing leaves no copy behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(128));
        bytes.extend_from_slice(STRETCHED);
        for number in [cost.memory_kib, cost.passes, cost.lanes] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&salt.0);
        bytes.extend_from_slice(key.bytes());
        bytes
    }

    /// What [`Passphrase::to_bytes`] gave; everything that is no stretched key was typed.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>) -> Passphrase {
        let bytes = Zeroizing::new(bytes);
        match Stretched::read(&bytes) {
            Some(stretched) => Passphrase::of_stretched(stretched),
            None => Passphrase { typed: bytes, token: None, stretched: None },
        }
    }

    /// The same, and how tokens are reached if it is a PIN.
    #[must_use]
    pub fn with_token(self, token: Arc<dyn Token>) -> Passphrase {
        Passphrase { token: Some(token), ..self }
    }

    /// How tokens are reached.
    pub(crate) fn token(&self) -> Option<&dyn Token> {
        self.token.as_deref()
    }

    /// Whether nothing was typed; such a passphrase is refused when a key file is written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.typed.is_empty()
    }

    /// What was typed. Leave no copies of it behind.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.typed
    }
}

impl Stretched {
    fn read(bytes: &[u8]) -> Option<Stretched> {
        let mut reader = Reader::new(bytes.strip_prefix(STRETCHED)?);
        let cost =
            KdfCost { memory_kib: reader.u32()?, passes: reader.u32()?, lanes: reader.u32()? };
        let salt = Salt(reader.array()?);
        let key = DataKey::from_bytes(reader.array()?);
        reader.is_empty().then_some(Stretched { cost, salt, key })
    }
}

impl From<&str> for Passphrase {
    fn from(text: &str) -> Passphrase {
        Passphrase::new(text.as_bytes().to_vec())
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(secret)")
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
        let passphrase = Passphrase::from("correct horse");
        let text = format!("{key:?} {passphrase:?}");
        assert_eq!(text, "DataKey(secret) Passphrase(secret)");
    }

    #[test]
    fn bytes_give_back_what_they_were_made_of() {
        let typed = Passphrase::from("correct horse");
        assert_eq!(Passphrase::from_bytes(typed.to_bytes().to_vec()).bytes(), typed.bytes());
        let (cost, salt) = (KdfCost::TEST, Salt([7; SALT_BYTES]));
        let key = DataKey::from_bytes([0xab; KEY_BYTES]);
        let held = Passphrase::of_stretched(Stretched { cost, salt, key });
        let again = Passphrase::from_bytes(held.to_bytes().to_vec());
        assert_eq!(again.stretched_by(cost, &salt).unwrap().bytes(), &[0xab; KEY_BYTES]);
        assert!(again.is_empty() && again.stretched_by(cost, &Salt::default()).is_none());
        // Whatever else begins so was typed.
        let odd = Passphrase::from_bytes(STRETCHED.to_vec());
        assert_eq!(odd.bytes(), STRETCHED);
    }

    #[test]
    fn wiping_leaves_zeros() {
        let mut key = DataKey::from_bytes([0xab; KEY_BYTES]);
        key.zeroize();
        assert_eq!(key.bytes(), &[0; KEY_BYTES]);
    }
}
