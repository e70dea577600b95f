//! What a message is read with: keys, passphrases, and who is asked for more of them.
//! [`Reading::run`](crate::Reading::run) reads it.

use pgp::types::Password;
use rpgpie::certificate::Certificate;
use rpgpie::tsk::Tsk;

use crate::error::Result;
use crate::session_key::SessionKey;
use crate::token_keys::TokenKey;
use crate::writing::Stages;

/// What a message is read with.
#[derive(Default)]
pub struct Reading {
    /// Secret keys that may open it.
    pub keys: Vec<Tsk>,
    /// Passphrases that may unlock the secret keys.
    pub key_passphrases: Vec<Password>,
    /// Who knows more passphrases.
    pub ask: Option<Box<dyn Ask>>,
    /// Keys whose private halves are in tokens, which are asked if nothing else opens it.
    pub token_keys: Vec<TokenKey>,
    /// Passphrases that may open it.
    pub passphrases: Vec<Password>,
    /// Session keys that may open it.
    pub session_keys: Vec<SessionKey>,
    /// Certificates whose signatures count.
    pub certificates: Vec<Certificate>,
    /// Whether what is not encrypted is an error.
    pub must_be_encrypted: bool,
    /// Whether ciphers are read that no sender should use any more, and what is encrypted without
    /// protection against change, and whether signatures count that are as weak.
    pub allow_old: bool,
    /// Whether the lines of what its sender calls text get the ends that lines have here: LF.
    pub native_lines: bool,
    /// Which stages run on their own.
    pub stages: Stages,
}

/// A person who knows passphrases, and is asked only for what nothing else opens.
pub trait Ask: Send + Sync {
    /// What may unlock one of these secret keys, each of which opens the message.
    ///
    /// # Errors
    /// If no person answers.
    fn for_keys(&self, locked: &[Tsk]) -> Result<Vec<Password>>;

    /// What may open a message that is encrypted under a passphrase; nothing if no person is there.
    ///
    /// # Errors
    /// If the answer cannot be taken.
    fn for_message(&self) -> Result<Vec<Password>>;
}
