//! What can go wrong with keys and sealed blocks, with the code and the remedy of each.

use std::io;
use std::path::PathBuf;

use base::{CiNumber, Code, Coded, DataSetId, KeyGeneration, SystemId};

use crate::{Format, TokenFault, TokenPlace};

/// What is wrong with a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageFault {
    /// Damaged, torn, forged, or sealed for another place or with another key.
    #[error("its tag does not fit: it is damaged, torn, forged or belongs elsewhere")]
    BadTag,
    /// Every byte is zero.
    #[error("it has never been written")]
    NeverWritten,
    /// The last bytes can be no trailer.
    #[error("its last bytes are no trailer: it is damaged or no page of Holdfast")]
    NotATrailer,
    /// Plain where sealed is expected, or the other way (K4).
    #[error("it is {found} where only {expected} pages may stand")]
    WrongFormat {
        /// What the page says.
        found: Format,
        /// What the catalog says.
        expected: Format,
    },
    /// Sealed with a key generation that the catalog does not admit here (K4).
    #[error("it is sealed with key {found} where only {expected} may be used")]
    WrongGeneration {
        /// What the page says.
        found: KeyGeneration,
        /// What the catalog says.
        expected: KeyGeneration,
    },
    /// The key file has no such generation (any more).
    #[error("it is sealed with key {generation}, which the key file does not have")]
    UnknownGeneration {
        /// What the page says.
        generation: KeyGeneration,
    },
    /// Written by a later Holdfast (K21).
    #[error("its trailer has version {version}, which this Holdfast does not know")]
    FutureVersion {
        /// What the page says.
        version: u8,
    },
}

/// What went wrong with a key, a key file or a page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// A page was refused.
    #[error("control interval {ci} of {set} is refused: {fault}")]
    Page {
        /// The data set.
        set: DataSetId,
        /// The interval.
        ci: CiNumber,
        /// What is wrong with it.
        fault: PageFault,
    },
    /// No key has that label.
    #[error("the key file has no label {label}")]
    UnknownLabel {
        /// The label.
        label: String,
    },
    /// The label exists, the generation does not.
    #[error("the key file has no {generation} of label {label}")]
    UnknownGeneration {
        /// The label.
        label: String,
        /// The generation.
        generation: KeyGeneration,
    },
    /// The source of randomness failed; nothing may be sealed.
    #[error("no random bytes can be had: {0}")]
    Entropy(io::Error),
    /// There is no key file.
    #[error("there is no key file {}", path.display())]
    NoKeyFile {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A key file would have been overwritten.
    #[error("there is a key file {} already", path.display())]
    KeyFileExists {
        /// Where it is.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} is no key file of Holdfast", path.display())]
    ForeignKeyFile {
        /// The file.
        path: PathBuf,
    },
    /// Written by a later Holdfast (K21).
    #[error("key file {} has version {version}, which this Holdfast does not know", path.display())]
    FutureKeyFile {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u16,
    },
    /// The master key is wrapped in a way that this build cannot undo.
    #[error("the master key in {} is wrapped by method {kind}, unknown here", path.display())]
    UnknownWrapping {
        /// The file.
        path: PathBuf,
        /// The number of the method.
        kind: u16,
    },
    /// The file's bytes are not as they were written.
    #[error("key file {} is damaged: {what}", path.display())]
    DamagedKeyFile {
        /// The file.
        path: PathBuf,
        /// Which part.
        what: &'static str,
    },
    /// The keys are those of another system.
    #[error("key file {} belongs to system {found}, not to {expected}", path.display())]
    OtherSystem {
        /// The file.
        path: PathBuf,
        /// Whose keys it has.
        found: SystemId,
        /// Whose keys are wanted.
        expected: SystemId,
    },
    /// The passphrase is wrong, or somebody altered the wrapped master key: one cannot tell.
    #[error("wrong passphrase for {}, or the key file was altered", path.display())]
    WrongPassphrase {
        /// The file.
        path: PathBuf,
    },
    /// The passphrase fits, but what it protects was changed by somebody without it.
    #[error("key file {} was altered without its passphrase: {what}", path.display())]
    AlteredKeyFile {
        /// The file.
        path: PathBuf,
        /// Which part.
        what: &'static str,
    },
    /// Somebody else has written it since it was read.
    #[error("key file {} was written by another process since this one read it", path.display())]
    ChangedKeyFile {
        /// The file.
        path: PathBuf,
    },
    /// The token that protects the master key, or shall, cannot be used.
    #[error("{place}: {fault}")]
    Token {
        /// The token and its key.
        place: TokenPlace,
        /// What is wrong.
        fault: TokenFault,
    },
    /// Names that can be no labels of a token and its key.
    #[error("{place:?} cannot be the labels of a token and its key")]
    BadTokenPlace {
        /// The names.
        place: TokenPlace,
    },
    /// A key file must not be protected by nothing.
    #[error("the passphrase is empty")]
    EmptyPassphrase,
    /// The price of guessing a passphrase is outside the limits.
    #[error("passphrase cost refused: {what}")]
    CostRefused {
        /// What is outside.
        what: &'static str,
    },
    /// Argon2id could not have the memory that the key file asks for.
    #[error("the passphrase needs {memory_kib} KiB of memory, which cannot be had")]
    NoMemory {
        /// How much.
        memory_kib: u32,
    },
    /// The name cannot be a label.
    #[error("{label:?} cannot be a key label")]
    BadLabel {
        /// The name.
        label: String,
    },
    /// The label exists already.
    #[error("the key file has label {label} already")]
    LabelExists {
        /// The label.
        label: String,
    },
    /// The current generation of a label cannot be deleted.
    #[error("{generation} is the current generation of label {label}")]
    CurrentGeneration {
        /// The label.
        label: String,
        /// The generation.
        generation: KeyGeneration,
    },
    /// The key file is full.
    #[error("key file {} holds {keys_max} keys already", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// The limit.
        keys_max: usize,
    },
    /// The disk failed while the key file was read.
    #[error("key file {} cannot be read: {error}", path.display())]
    KeyFileUnread {
        /// The file.
        path: PathBuf,
        /// What the disk says.
        error: io::Error,
    },
    /// The disk failed while the key file was replaced.
    #[error("key file {} could not be replaced: {error}", path.display())]
    KeyFileUnwritten {
        /// The file.
        path: PathBuf,
        /// What the disk says.
        error: io::Error,
    },
}

impl Coded for PageFault {
    fn code(&self) -> Code {
        Code(match self {
            PageFault::BadTag => "HFS001",
            PageFault::NeverWritten => "HFS002",
            PageFault::NotATrailer => "HFS003",
            PageFault::WrongFormat { .. } => "HFS004",
            PageFault::WrongGeneration { .. } => "HFS005",
            PageFault::UnknownGeneration { .. } => "HFS006",
            PageFault::FutureVersion { .. } => "HFS007",
        })
    }

    fn remedy(&self) -> String {
        let text = match self {
            PageFault::BadTag | PageFault::NotATrailer | PageFault::NeverWritten => {
                "Recover the data set from its last image copy and the logs."
            }
            PageFault::WrongFormat { .. } | PageFault::WrongGeneration { .. } => {
                "Somebody put a page of another time or place here, or the catalog is older than \
                 the data set: recover the data set, and look who could write to it."
            }
            PageFault::UnknownGeneration { .. } => {
                "Put back the key file that has this generation."
            }
            PageFault::FutureVersion { .. } => {
                "Use the Holdfast that wrote it; if none did, the page is damaged: recover the \
                 data set."
            }
        };
        text.to_owned()
    }
}

impl Coded for SealError {
    fn code(&self) -> Code {
        Code(match self {
            SealError::Page { fault, .. } => return fault.code(),
            SealError::UnknownLabel { .. } => "HFS010",
            SealError::UnknownGeneration { .. } => "HFS011",
            SealError::Entropy(_) => "HFS012",
            SealError::NoKeyFile { .. } => "HFS020",
            SealError::KeyFileExists { .. } => "HFS021",
            SealError::ForeignKeyFile { .. } => "HFS022",
            SealError::FutureKeyFile { .. } => "HFS023",
            SealError::UnknownWrapping { .. } => "HFS024",
            SealError::DamagedKeyFile { .. } => "HFS025",
            SealError::OtherSystem { .. } => "HFS026",
            SealError::WrongPassphrase { .. } => "HFS027",
            SealError::AlteredKeyFile { .. } => "HFS028",
            SealError::KeyFileUnread { .. } => "HFS029",
            SealError::ChangedKeyFile { .. } => "HFS031",
            SealError::KeyFileUnwritten { .. } => "HFS030",
            SealError::Token { fault, .. } => return fault.code(),
            SealError::BadTokenPlace { .. } => "HFS058",
            SealError::EmptyPassphrase => "HFS040",
            SealError::CostRefused { .. } => "HFS041",
            SealError::NoMemory { .. } => "HFS042",
            SealError::BadLabel { .. } => "HFS043",
            SealError::LabelExists { .. } => "HFS044",
            SealError::CurrentGeneration { .. } => "HFS045",
            SealError::Full { .. } => "HFS046",
        })
    }

    fn remedy(&self) -> String {
        let text = match self {
            SealError::Page { fault, .. } => return fault.remedy(),
            SealError::UnknownLabel { .. } => "Add the label to the key file, or correct the name.",
            SealError::UnknownGeneration { .. } => {
                "Put back the key file that has this generation."
            }
            SealError::Entropy(_) => {
                "Find out why the operating system gives no random bytes, and start again."
            }
            SealError::NoKeyFile { .. } => {
                "Name the right file, or put the key file back from its copy."
            }
            SealError::KeyFileExists { .. } => {
                "Name another file; the keys in this one may be the only ones for some data."
            }
            SealError::ForeignKeyFile { .. } | SealError::OtherSystem { .. } => {
                "Name the key file of this system."
            }
            SealError::FutureKeyFile { .. } | SealError::UnknownWrapping { .. } => {
                "Use the Holdfast that wrote it."
            }
            SealError::ChangedKeyFile { .. } => {
                "Nothing was changed. Stop the system, start it again, and give the command again."
            }
            SealError::DamagedKeyFile { .. } | SealError::AlteredKeyFile { .. } => {
                "Put the key file back from a copy; every copy of any age with the needed \
                 generations will do."
            }
            SealError::WrongPassphrase { .. } => {
                "Try the passphrase again; if it is surely right, put the key file back from a \
                 copy."
            }
            SealError::Token { fault, .. } => return fault.remedy(),
            SealError::BadTokenPlace { .. } => {
                "Use labels of 1 to 64 bytes without signs of control."
            }
            SealError::EmptyPassphrase => "Choose a passphrase.",
            SealError::CostRefused { .. } => {
                "Choose 8 KiB for each lane to 1 GiB of memory, 1 to 32 passes, 1 to \
                 16 lanes, and at most 4 GiB of memory times passes."
            }
            SealError::NoMemory { .. } => "Free memory, or raise the process's limit.",
            SealError::BadLabel { .. } => {
                "Use 1 to 64 letters, digits and the signs . - _ $ # @ of ASCII."
            }
            SealError::LabelExists { .. } => "Start a new generation of it instead.",
            SealError::CurrentGeneration { .. } => {
                "Start a new generation and convert what uses this one, then delete it."
            }
            SealError::Full { .. } => "Delete generations that nothing uses any more.",
            SealError::KeyFileUnread { .. } => "Look at the disk and the file's permissions.",
            SealError::KeyFileUnwritten { .. } => {
                "Look at the disk and repeat the command: the file is whole, but may be the old \
                 one or the new one."
            }
        };
        text.to_owned()
    }
}
