//! Tokens in place of keys: what stands where a key of a record may be seen by others.
//!
//! A token is HMAC-SHA256 of the key, cut to 16 bytes, under a key of its own that follows from a
//! data key and an identity. The same key always has the same token, so it can be looked up;
//! tokens stand in no order that anything could be read from, and nobody without the data key can
//! tell which key one stands for, or try keys until one fits.

use aws_lc_rs::hmac;

use crate::working_key::derive_key;
use crate::{DataKey, Salt};

/// How many bytes a token has: two keys of 2^32 share one with a chance of less than 2^-64.
pub const TOKEN_BYTES: usize = 16;

/// Turns keys into tokens.
pub struct KeyTokens(hmac::Key);

impl KeyTokens {
    /// The tokens of one identity, which names what they are for and begins with a word of its
    /// own for each purpose.
    #[must_use]
    pub fn derive(key: &DataKey, identity: &[u8]) -> KeyTokens {
        let derived = derive_key(key, &Salt::default(), identity);
        KeyTokens(hmac::Key::new(hmac::HMAC_SHA256, derived.bytes()))
    }

    /// The token of a key.
    #[must_use]
    pub fn token(&self, key: &[u8]) -> [u8; TOKEN_BYTES] {
        let whole = hmac::sign(&self.0, key);
        let mut token = [0; TOKEN_BYTES];
        token.copy_from_slice(&whole.as_ref()[..TOKEN_BYTES]);
        token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_depends_on_key_data_key_and_identity() {
        let data_key = |byte| DataKey::from_bytes([byte; 32]);
        let tokens = KeyTokens::derive(&data_key(1), b"one");
        assert_eq!(tokens.token(b"k"), KeyTokens::derive(&data_key(1), b"one").token(b"k"));
        assert_ne!(tokens.token(b"k"), tokens.token(b"l"));
        assert_ne!(tokens.token(b"k"), KeyTokens::derive(&data_key(2), b"one").token(b"k"));
        assert_ne!(tokens.token(b"k"), KeyTokens::derive(&data_key(1), b"two").token(b"k"));
    }
}
