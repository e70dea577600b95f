//! What can go wrong with files at rest, sorted by what the user can do about it.
//!
//! 1. An error names what happened and what to do; it never holds plaintext, a passphrase or a key.
//! 2. An error that travels through `std::io` comes out again as what it was: see the conversions.
//! 3. [`Error::kind`] decides exit codes; nothing else looks into an error.

use std::io;

use base::{Code, Coded};
use seal::{TokenFault, TokenPlace};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The message is not what its sender wrote, or not all of it.
    #[error("the message is damaged, or was changed: {0}")]
    Damaged(String),
    /// No key, passphrase or session key that was given opens the message.
    #[error("nothing that was given opens it: {0}")]
    NoKey(String),
    /// A secret key could not be unlocked.
    #[error("the secret key {0} is locked, and no passphrase that was given unlocks it")]
    Locked(String),
    /// A token that keeps a key does not use it.
    #[error("{place}: {fault}")]
    Token {
        /// Which key of which token.
        place: TokenPlace,
        /// Why not.
        fault: TokenFault,
    },
    /// A signature that had to be good is not.
    #[error("no signature is good: {0}")]
    BadSignature(String),
    /// A signature of a key that is known is bad, whatever others are.
    #[error("a signature is bad: {0}")]
    SpoiltSignature(String),
    /// A key that cannot do what it should.
    #[error("{0}")]
    UnfitKey(String),
    /// Something old, weak or unknown.
    #[error("{0}")]
    Unsupported(String),
    /// Something that is read only if that is asked for.
    #[error("{0}: it is old and weak, and is not read unless that is asked for")]
    Old(String),
    /// Text that stayed readable, where something else is expected.
    #[error("this is text with its signature below it, and no message in packets")]
    Cleartext,
    /// An encrypted message, where signatures are to be verified.
    #[error("the message is encrypted, and so are its signatures")]
    Encrypted,
    /// Signatures without what they sign, where a message is expected.
    #[error("this is a signature apart from what it signs, and no message")]
    SignatureAlone,
    /// Input that is not OpenPGP, or not the kind that is expected.
    #[error("this is not what was expected: {0}")]
    NotOpenPgp(String),
    /// A wrong combination of options.
    #[error("{0}")]
    Usage(String),
    /// Nothing is called like this, or it is there already.
    #[error("{0}")]
    Name(String),
    /// A file of the key ring that does not hold what it should.
    #[error("{0}, a file of the key ring, is damaged")]
    RingFile(String),
    /// Output was to take the place of a file of a system.
    #[error("{path} is {holds}: no output takes its place")]
    OfASystem {
        /// The file.
        path: String,
        /// What it is, in words.
        holds: &'static str,
    },
    /// A file is not there.
    #[error("{0} is missing")]
    Missing(String),
    /// The machine: disk full, broken pipe, no such file.
    #[error("{what}: {source}")]
    Io {
        /// What was being done, to which object.
        what: String,
        /// What the operating system said.
        source: io::Error,
    },
}

/// What sort of error it is: what a caller decides by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Damaged, truncated, extended, reordered: not what was written.
    Damaged,
    /// It cannot be opened with what was given.
    NoKey,
    /// A signature is missing or not good.
    Signature,
    /// The options do not fit together.
    Usage,
    /// Input of another kind, or an algorithm that is not read.
    Input,
    /// Everything else.
    Failed,
}

impl Error {
    /// What sort of error it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Error::Damaged(_) => Kind::Damaged,
            Error::NoKey(_) | Error::Encrypted | Error::Locked(_) | Error::Token { .. } => {
                Kind::NoKey
            }
            Error::BadSignature(_) | Error::SpoiltSignature(_) => Kind::Signature,
            Error::Usage(_) => Kind::Usage,
            Error::Unsupported(_)
            | Error::Old(_)
            | Error::Cleartext
            | Error::SignatureAlone
            | Error::NotOpenPgp(_) => Kind::Input,
            Error::UnfitKey(_)
            | Error::Name(_)
            | Error::RingFile(_)
            | Error::OfASystem { .. }
            | Error::Missing(_)
            | Error::Io { .. } => Kind::Failed,
        }
    }

    /// Damage that is described by a few words.
    pub(crate) fn damaged(what: impl Into<String>) -> Error {
        Error::Damaged(what.into())
    }

    /// An error of the operating system, with what was being done. What travelled through
    /// `std::io` is taken out again (2).
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let what = what.into();
        move |source| match source.downcast::<Error>() {
            Ok(ours) => ours,
            Err(source) if source.kind() == io::ErrorKind::UnexpectedEof => {
                Error::Damaged("it ends too early".to_owned())
            }
            Err(source) => Error::Io { what, source },
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, error)
    }
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Damaged(_) => Code("HFO101"),
            Error::NoKey(_) => Code("HFO102"),
            Error::Locked(_) => Code("HFO103"),
            Error::BadSignature(_) => Code("HFO104"),
            Error::UnfitKey(_) => Code("HFO105"),
            Error::Unsupported(_) => Code("HFO106"),
            Error::NotOpenPgp(_) => Code("HFO107"),
            Error::Usage(_) => Code("HFO108"),
            Error::Name(_) => Code("HFO109"),
            Error::Io { .. } => Code("HFO110"),
            Error::Old(_) => Code("HFO111"),
            Error::Cleartext => Code("HFO112"),
            Error::SignatureAlone => Code("HFO113"),
            Error::RingFile(_) => Code("HFO114"),
            Error::Encrypted => Code("HFO115"),
            Error::SpoiltSignature(_) => Code("HFO116"),
            Error::Missing(_) => Code("HFO117"),
            Error::OfASystem { .. } => Code(seam::system_files::REFUSED),
            Error::Token { fault, .. } => fault.code(),
        }
    }

    fn remedy(&self) -> String {
        let text = match self {
            Error::Token { fault, .. } => return remedy_of(fault),
            Error::Damaged(_) => "Use nothing of it, and get it again from its sender.",
            Error::NoKey(_) => {
                "Give the passphrase, or import the secret key of a recipient; one of RSA with less \
                 than 2048 bits is read with --allow-old."
            }
            Error::Locked(_) => "Give its passphrase by --key-passphrase-file.",
            Error::BadSignature(_) => {
                "Trust nothing of it. If the signer's certificate is missing, import it first."
            }
            Error::SpoiltSignature(_) => {
                "Trust nothing of it, and get it again from its sender. --signed-by KEY looks at \
                 signatures of KEY alone; decrypt --allow-bad-signature writes the file all the \
                 same."
            }
            Error::UnfitKey(_) => "Ask its owner for a newer certificate, or choose another key.",
            Error::Unsupported(_) | Error::Usage(_) | Error::Name(_) => "",
            Error::Old(_) => "Decrypt it with --allow-old, if you know where it comes from.",
            Error::Encrypted => {
                "Decrypt it with `holdfast pgp decrypt`, which verifies its signatures, too; \
                 --signed-by KEY refuses others."
            }
            Error::SignatureAlone => {
                "Verify it with its file: `holdfast pgp verify --signature SIGNATURE FILE`."
            }
            Error::Cleartext => "Verify it with `holdfast pgp verify --cleartext`.",
            Error::OfASystem { .. } => "Name another file: this one would be lost.",
            Error::Missing(_) => "Check its name, and that it is where the name says.",
            Error::NotOpenPgp(_) => "Check that this is the right file.",
            Error::RingFile(_) => {
                "Put it back from a copy, or remove it and import the key again; \
                 `holdfast pgp check` names all such files."
            }
            Error::Io { .. } => "Check the path, its permissions and the space on the device.",
        };
        text.to_owned()
    }
}

/// What to do about a token; nothing here is about a key file.
fn remedy_of(fault: &TokenFault) -> String {
    match fault {
        TokenFault::NoKey => "Use the token that has the key, or correct its label.".to_owned(),
        TokenFault::ManyKeys => "Give one of them another label with the token's tools.".to_owned(),
        TokenFault::Failed { .. } => {
            "Try again; if it stays so, look at the token with its maker's tools.".to_owned()
        }
        fault => fault.remedy(),
    }
}

/// What a parser says, in our words where it has its own, and up to where it begins to repeat its
/// input: that may be a secret key.
#[must_use]
pub fn without_input(error: &impl std::fmt::Display) -> String {
    const CHARACTERS_MAX: usize = 200;
    const OWN: [(&str, &str); 9] = [
        ("No TSKs found", "there is no secret key in it"),
        ("No certificates found", "there is no certificate in it"),
        ("valid UTF-8", "it is no text"),
        ("PacketBodyReader", "a packet of it is cut or damaged"),
        ("acket is incomplete", "a packet of it is cut"),
        ("Invalid Packet Content", "a packet of it is damaged"),
        ("empty input", "there is nothing in it"),
        ("armor header", "its armor header is damaged"),
        ("armor footer", "the end of its armor is missing or damaged"),
    ];
    let text = error.to_string();
    if let Some((_, ours)) = OWN.iter().find(|(theirs, _)| text.contains(theirs)) {
        return (*ours).to_owned();
    }
    let mut text = &text[..text.find(['[', '{', '(', '"']).unwrap_or(text.len())];
    for name in ["rPGP error: ", "Internal error: ", "IO error: ", "failed reading: "] {
        text = text.strip_prefix(name).unwrap_or(text);
    }
    let text = text.trim_end().trim_end_matches("Error").trim_end();
    text.chars().take(CHARACTERS_MAX).collect()
}

/// What a parser of packets says about bytes from outside; what travelled through it is taken out
/// again (2).
impl From<pgp::errors::Error> for Error {
    fn from(error: pgp::errors::Error) -> Error {
        match error {
            pgp::errors::Error::IO { source, .. }
                if source.get_ref().is_some_and(|inner| inner.is::<Error>()) =>
            {
                Error::io("asking a token")(source)
            }
            error => Error::NotOpenPgp(without_input(&error)),
        }
    }
}

impl From<rpgpie::Error> for Error {
    fn from(error: rpgpie::Error) -> Error {
        match error {
            rpgpie::Error::CantUnlock(key) => Error::Locked(key.to_string()),
            rpgpie::Error::Io(source) => Error::io("reading")(source),
            rpgpie::Error::NotSigningCapable(key) => {
                Error::UnfitKey(format!("no part of key {key} may sign now"))
            }
            rpgpie::Error::NotEncryptionCapable(key) => {
                Error::UnfitKey(format!("nothing can be encrypted to key {key} now"))
            }
            other => Error::NotOpenPgp(without_input(&other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SecretKey;
    use crate::keys::{Algorithm, NewKey};

    #[test]
    fn what_is_wrong_with_a_secret_key_never_shows_it() {
        let new = NewKey {
            users: vec!["Ada".to_owned()],
            algorithm: Algorithm::Curve25519,
            v6: false,
            passphrase: None,
            lifetime_s: None,
            signing_only: true,
        };
        let mut armored = Vec::new();
        SecretKey::save_all(&[new.generate().unwrap()], true, &mut armored).unwrap();
        let armored = String::from_utf8(armored).unwrap();
        for line in ["Foo", " ", "Foo : bar", "Comment: x\nFoo"] {
            let broken = armored.replacen('\n', &format!("\n{line}\n"), 1);
            let Err(error) = SecretKey::load(&mut broken.as_bytes()) else { continue };
            let shown = Error::from(error).to_string();
            assert!(shown.contains("armor header") && !shown.contains("120, "), "{shown}");
            assert!(shown.len() < 120, "{shown}");
        }
    }
}
