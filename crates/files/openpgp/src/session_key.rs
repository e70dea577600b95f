//! The key of one message, and how many may have it.

use zeroize::Zeroizing;

/// No message is for more people.
pub(crate) const KEYS_MAX: usize = 1024;

/// The secret under which the contents of one message are encrypted.
#[derive(Clone)]
pub struct SessionKey {
    /// The number of the cipher, 0 if the message itself says it.
    pub cipher: u8,
    /// The key.
    pub key: Zeroizing<Vec<u8>>,
}
