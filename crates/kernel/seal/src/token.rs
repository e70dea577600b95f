//! Tokens: devices that keep a wrapping key, use it for whoever knows the PIN, and never give it
//! out. This crate knows only what it asks of one; the driver stands in a crate of its own.
//!
//! 1. A token sees the master key and nothing else: it is asked when a key file is opened and when
//!    its wrapping changes, never for data.
//! 2. A PIN is tried once for each request. Tokens count wrong ones and lock themselves.
//! 3. What the key file says of the token is a name, never code to be loaded: which driver is used
//!    is told by the operator.

use std::fmt;

use base::{Code, Coded};
use zeroize::Zeroizing;

/// Which key of which token wraps a master key.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TokenPlace {
    /// The label of the token.
    pub token: String,
    /// The label of the key in it.
    pub key: String,
}

/// How many bytes a name in [`TokenPlace`] may have.
pub(crate) const NAME_BYTES_MAX: usize = 64;
/// How many bytes a nonce for a token has.
pub(crate) const NONCE_BYTES: usize = 12;

/// What can go wrong with a token.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenFault {
    /// Nobody has said how tokens are reached.
    #[error("no driver for tokens is named")]
    NoDriver,
    /// The driver cannot be used.
    #[error("its driver {module} cannot be used: {why}")]
    Driver {
        /// The library.
        module: String,
        /// What it says.
        why: String,
    },
    /// It is not plugged in.
    #[error("it is not there (there is {})", if present.is_empty() { "none".into() } else { present.join(", ") })]
    Absent {
        /// The labels of the tokens that are there.
        present: Vec<String>,
    },
    /// Several have that label.
    #[error("there are several of that label")]
    Ambiguous,
    /// The PIN is wrong; the token counts that.
    #[error("the PIN is wrong{}", if *final_try { "; one more wrong one locks it" } else { "" })]
    WrongPin {
        /// Whether the next wrong one locks the token.
        final_try: bool,
    },
    /// Too many wrong PINs.
    #[error("it is locked: too many wrong PINs")]
    Locked,
    /// The token has no such key.
    #[error("it has no key of that label")]
    NoKey,
    /// The token has several such keys.
    #[error("it has several keys of that label")]
    ManyKeys,
    /// The token has a key of the label under which one is to be made.
    #[error("it has a key of that label already")]
    Taken,
    /// The token does not recognize what it is to decrypt.
    #[error("what it wrapped was altered, or its key is another one by now")]
    Altered,
    /// The token failed.
    #[error("it failed: {why}")]
    Failed {
        /// What the driver says.
        why: String,
    },
}

/// Tokens, as a driver reaches them; a PIN is the bytes that were typed.
pub trait Token: Send + Sync {
    /// Makes the key, if the token has none of that label: AES-256, never to leave it.
    ///
    /// # Errors
    /// See [`TokenFault`].
    fn make_key(&self, pin: &[u8], place: &TokenPlace) -> Result<(), TokenFault>;

    /// Encrypts with AES-256-GCM; the tag of 16 bytes follows the ciphertext.
    ///
    /// # Errors
    /// See [`TokenFault`].
    fn wrap(
        &self,
        pin: &[u8],
        place: &TokenPlace,
        nonce: &[u8; 12],
        associated: &[u8],
        clear: &[u8],
    ) -> Result<Vec<u8>, TokenFault>;

    /// Undoes [`Token::wrap`].
    ///
    /// # Errors
    /// See [`TokenFault`]; [`TokenFault::Altered`] if the tag does not fit.
    fn unwrap(
        &self,
        pin: &[u8],
        place: &TokenPlace,
        nonce: &[u8; 12],
        associated: &[u8],
        wrapped: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, TokenFault>;
}

impl TokenPlace {
    /// Whether both names can stand in a key file.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let fits = |name: &str| {
            (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.chars().any(char::is_control)
        };
        fits(&self.token) && fits(&self.key)
    }
}

impl fmt::Display for TokenPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {} in token {}", self.key, self.token)
    }
}

impl Coded for TokenFault {
    fn code(&self) -> Code {
        Code(match self {
            TokenFault::NoDriver => "HFS050",
            TokenFault::Driver { .. } => "HFS051",
            TokenFault::Absent { .. } | TokenFault::Ambiguous => "HFS052",
            TokenFault::WrongPin { .. } => "HFS053",
            TokenFault::Locked => "HFS054",
            TokenFault::NoKey | TokenFault::ManyKeys | TokenFault::Taken => "HFS055",
            TokenFault::Altered => "HFS056",
            TokenFault::Failed { .. } => "HFS057",
        })
    }

    fn remedy(&self) -> String {
        let text = match self {
            TokenFault::NoDriver => {
                "Name the PKCS#11 library of the token: --token-module FILE, or the variable \
                 HOLDFAST_TOKEN_MODULE."
            }
            TokenFault::Driver { .. } => {
                "Check the path of the library, and that its service runs."
            }
            TokenFault::Absent { .. } => {
                "Plug it in, or correct its label; nothing is lost meanwhile."
            }
            TokenFault::Ambiguous => "Take out the one that is not meant.",
            TokenFault::WrongPin { .. } => {
                "Give the PIN of the token's user. Tokens lock themselves after a few wrong \
                 ones."
            }
            TokenFault::Locked => {
                "Have the token's security officer set a new PIN; the key in it stays."
            }
            TokenFault::NoKey | TokenFault::ManyKeys => {
                "Use the token that has the key, once; or put back a key file that a \
                 passphrase opens."
            }
            TokenFault::Taken => "Choose another label, or use the key that is there.",
            TokenFault::Altered => {
                "Put the key file back from a copy that was made with this key of the token."
            }
            TokenFault::Failed { .. } => {
                "Try again; if it stays so, look at the token with its maker's tools. The key \
                 file is as it was."
            }
        };
        text.to_owned()
    }
}
