//! Why a command failed, as the specification counts it: each reason is an exit code.
//!
//! 1. Exit codes are those of the specification's table of failure modes, by the same names.
//! 2. A text says what happened and names the object; it never holds plaintext or a passphrase.

use std::fmt::Display;
use std::io::Write as _;

use openpgp::Error;

/// A result of this program.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// The specification's reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Reason {
    Unspecified = 1,
    NoSignature = 3,
    UnsupportedAsymmetricAlgo = 13,
    CertCannotEncrypt = 17,
    MissingArg = 19,
    IncompleteVerification = 23,
    CannotDecrypt = 29,
    PasswordNotHumanReadable = 31,
    UnsupportedOption = 37,
    BadData = 41,
    ExpectedText = 53,
    OutputExists = 59,
    MissingInput = 61,
    KeyIsProtected = 67,
    UnsupportedSubcommand = 69,
    UnsupportedSpecialPrefix = 71,
    AmbiguousInput = 73,
    KeyCannotSign = 79,
    IncompatibleOptions = 83,
    UnsupportedProfile = 89,
    NoHardwareKeyFound = 97,
    PrimaryKeyBad = 103,
    CertUseridNoMatch = 107,
    KeyCannotCertify = 109,
}

/// A line on standard error; one that takes nothing is nobody's fault.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "holdfast-sop: {text}");
}

/// A reason, and what happened.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) reason: Reason,
    pub(crate) text: String,
}

impl Reason {
    /// This reason, with what happened.
    pub(crate) fn because(self, text: impl Into<String>) -> Failure {
        Failure { reason: self, text: text.into() }
    }

    /// A mapping for errors of the library where unfit keys and damage mean something particular.
    pub(crate) fn of(error: &Error, unfit: Reason, damaged: Reason) -> Reason {
        match error {
            Error::Damaged(_) => damaged,
            Error::NoKey(_) => Reason::CannotDecrypt,
            Error::Locked(_) => Reason::KeyIsProtected,
            Error::BadSignature(_) | Error::SpoiltSignature(_) => Reason::NoSignature,
            Error::UnfitKey(_) => unfit,
            Error::Usage(_) => Reason::MissingArg,
            Error::Name(_) => Reason::CertUseridNoMatch,
            Error::Unsupported(_)
            | Error::Old(_)
            | Error::Cleartext
            | Error::Encrypted
            | Error::SignatureAlone
            | Error::NotOpenPgp(_) => Reason::BadData,
            Error::Missing(_) => Reason::MissingInput,
            Error::RingFile(_)
            | Error::Io { .. }
            | Error::Token { .. }
            | Error::OfASystem { .. } => Reason::Unspecified,
        }
    }
}

/// How a command reads an error of the library: the reason for an unfit key, and for damage.
pub(crate) fn as_failure(unfit: Reason, damaged: Reason) -> impl Fn(Error) -> Failure {
    move |error| Reason::of(&error, unfit, damaged).because(error.to_string())
}

/// Whether a word is an option without its value, or how the help writes one with it.
fn is_like_an_option(word: &str) -> bool {
    let (name, value) = word.split_at(word.find([' ', '=', '[']).unwrap_or(word.len()));
    let letters = name.strip_prefix("--").filter(|letters| !letters.starts_with('-'));
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
    letters.is_some_and(|letters| !letters.is_empty() && letters.bytes().all(is_letter))
        && (value.is_empty() || value.contains('<') || value == "...")
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        as_failure(Reason::Unspecified, Reason::BadData)(error)
    }
}

impl Failure {
    /// What parsing the command line failed with. What was given is not repeated unless it is
    /// written as an option is: it may be a passphrase, or a whole key, in the wrong place.
    pub(crate) fn of_arguments(error: &mut clap::Error) -> Reason {
        use clap::error::{ContextKind, ContextValue, ErrorKind};
        const GIVEN: [ContextKind; 3] =
            [ContextKind::InvalidArg, ContextKind::InvalidValue, ContextKind::InvalidSubcommand];
        for kind in GIVEN {
            let is_known = match error.get(kind) {
                Some(ContextValue::String(given)) => is_like_an_option(given),
                _ => true,
            };
            if !is_known {
                error.insert(kind, ContextValue::String("...".to_owned()));
                error.remove(ContextKind::Suggested);
            }
        }
        match error.kind() {
            ErrorKind::InvalidSubcommand => Reason::UnsupportedSubcommand,
            ErrorKind::ArgumentConflict => Reason::IncompatibleOptions,
            ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand
            | ErrorKind::TooFewValues
            | ErrorKind::WrongNumberOfValues
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Reason::MissingArg,
            _ => Reason::UnsupportedOption,
        }
    }
}
