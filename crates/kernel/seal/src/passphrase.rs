//! What a person types to open the key file, and what was stretched from it.

use std::fmt;
use std::sync::Arc;

use base::bytes::Reader;
use zeroize::Zeroizing;

use crate::kdf::KdfCost;
use crate::secret::{DataKey, Salt};
use crate::{SealError, Token};

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

    /// The key that this passphrase gives at that cost and with that salt.
    pub(crate) fn stretch(&self, cost: KdfCost, salt: &Salt) -> Result<DataKey, SealError> {
        cost.check()?;
        match &self.stretched {
            Some(held) if held.cost == cost && held.salt == *salt => Ok(held.key.clone()),
            _ => cost.stretch(&self.typed, salt),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SALT_BYTES;
    use crate::secret::KEY_BYTES;

    #[test]
    fn a_passphrase_does_not_show_itself() {
        let text = format!("{:?}", Passphrase::from("correct horse"));
        assert_eq!(text, "Passphrase(secret)");
    }

    #[test]
    fn bytes_give_back_what_they_were_made_of() {
        let typed = Passphrase::from("correct horse");
        assert_eq!(Passphrase::from_bytes(typed.to_bytes().to_vec()).bytes(), typed.bytes());
        let (cost, salt) = (KdfCost::TEST, Salt([7; SALT_BYTES]));
        let key = DataKey::from_bytes([0xab; KEY_BYTES]);
        let held = Passphrase::of_stretched(Stretched { cost, salt, key });
        let again = Passphrase::from_bytes(held.to_bytes().to_vec());
        assert_eq!(again.stretch(cost, &salt).unwrap().bytes(), &[0xab; KEY_BYTES]);
        let elsewhere = again.stretch(cost, &Salt::default()).unwrap();
        assert!(again.is_empty() && elsewhere.bytes() != &[0xab; KEY_BYTES]);
        // Whatever else begins so was typed.
        let odd = Passphrase::from_bytes(STRETCHED.to_vec());
        assert_eq!(odd.bytes(), STRETCHED);
    }
}
