//! What ends a program instead of answering its call.

use base::{Code, Coded};
use definitions::{DbdName, PsbName, SegmentName};
use hierarchy::HierarchyError;
use store::StoreError;

/// Why a PSB cannot be scheduled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A database cannot be opened.
    #[error(transparent)]
    Database(#[from] HierarchyError),
    /// The definitions of a segment fit no path.
    #[error("PSB {psb}: no path leads to segment {segment} of {dbd}")]
    NoPath {
        /// The PSB.
        psb: PsbName,
        /// The database that its PCB names.
        dbd: DbdName,
        /// The segment.
        segment: SegmentName,
    },
}

impl Coded for SessionError {
    fn code(&self) -> Code {
        match self {
            SessionError::Database(error) => error.code(),
            SessionError::NoPath { .. } => Code("HFI001"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            SessionError::Database(error) => error.remedy(),
            SessionError::NoPath { psb, dbd, .. } => {
                format!("Compile {dbd}, the databases that it names, and PSB {psb} again.")
            }
        }
    }
}

/// The end of a program that a call leads to: its unit of work has to be backed out.
#[derive(Debug, thiserror::Error)]
#[error("abend {abend}: {error}")]
pub struct Failure {
    /// The abend code, such as `U0777`.
    pub abend: &'static str,
    /// Why.
    #[source]
    pub error: HierarchyError,
}

/// The abend of a program that met a full log. The same input may well be processed later.
pub const LOG_FULL: &str = "U0616";

/// The abend of a program whose store could not do what it was asked.
#[must_use]
pub fn abend_of(error: &StoreError) -> &'static str {
    match error {
        StoreError::Deadlock => "U0777",
        StoreError::LogFull(_) => LOG_FULL,
        _ => "U0844",
    }
}

impl Failure {
    /// Whether data was unavailable. Then the call has changed nothing, and its PCB stands where
    /// it stood: the program may go on without that data if it asked for that (DLI-12.75).
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        matches!(self.error, HierarchyError::Offline { .. })
    }

    /// Data that the call needs is offline (DLI-12.75).
    pub(crate) fn unavailable(error: HierarchyError) -> Failure {
        Failure { abend: "U3303", error }
    }

    /// The store failed.
    pub(crate) fn store(error: HierarchyError) -> Failure {
        let abend = match &error {
            HierarchyError::Store(error) => abend_of(error),
            _ => "U0844",
        };
        Failure { abend, error }
    }
}

impl Coded for Failure {
    fn code(&self) -> Code {
        self.error.code()
    }

    fn remedy(&self) -> String {
        self.error.remedy()
    }
}
