//! Why a command was not done: a message, and the condition code that it ends with.
//!
//! Invariants:
//! 1. What the catalog or a file answers becomes the message id that operators know for it.

use std::fmt::Display;
use std::io;

use base::{Code, Coded};
use store::StoreError;
use thiserror::Error;
use vsam::{CatalogError, Failure, LogicalReason, NameError, OpenError};

use crate::fault::Fault;

/// The condition codes that commands end with.
pub(crate) const WARNING: u32 = 4;
/// Some of it was not done.
pub(crate) const ERROR: u32 = 8;
/// It was not done.
pub(crate) const SEVERE: u32 = 12;
/// Nothing more can be done.
pub(crate) const TERMINATE: u32 = 16;

/// Why a command, or a part of it, was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: u32,
    pub(crate) id: &'static str,
    pub(crate) text: String,
}

impl Refusal {
    pub(crate) fn new(code: u32, id: &'static str, text: impl Into<String>) -> Refusal {
        Refusal { code, id, text: text.into() }
    }

    /// A command that was not done.
    pub(crate) fn severe(id: &'static str, text: impl Into<String>) -> Refusal {
        Refusal::new(SEVERE, id, text)
    }

    /// The same with another condition code, unless the system has failed.
    pub(crate) fn with(self, code: u32) -> Refusal {
        Refusal { code: if self.code == TERMINATE { TERMINATE } else { code }, ..self }
    }

    /// Whether it says that there is no such entry.
    pub(crate) fn is_not_found(&self) -> bool {
        self.id == "IDC3012I"
    }

    /// A file of the machine that cannot be used.
    pub(crate) fn of_file(name: impl Display, error: &io::Error) -> Refusal {
        Refusal::severe("IDC3300I", format!("ERROR OPENING {name}: {error}"))
    }

    /// Statements that nobody wants to go on.
    pub(crate) fn of_end(error: &io::Error) -> Refusal {
        Refusal::new(TERMINATE, "IDC3351I", format!("PROCESSING WAS ENDED: {error}"))
    }

    /// A request that failed.
    pub(crate) fn of_request(name: impl Display, failure: &Failure) -> Refusal {
        match failure {
            Failure::Logical { reason, .. } => {
                let number = reason.number();
                let text = format!("ACTION ERROR ON {name}: {reason} (feedback {number})");
                Refusal::severe("IDC3302I", text)
            }
            Failure::Store(error) | Failure::InPart(error) => Refusal::from(error.clone()),
            other => Refusal::severe("IDC3302I", format!("ACTION ERROR ON {name}: {other}")),
        }
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::severe(fault.id, fault.to_string())
    }
}

impl From<NameError> for Refusal {
    fn from(error: NameError) -> Refusal {
        Refusal::severe("IDC3203I", error.to_string())
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Refusal {
        let text = format!("THE STORE HAS FAILED: {} {error}. {}", error.code(), error.remedy());
        Refusal::new(TERMINATE, "IDC3351I", text)
    }
}

impl From<CatalogError> for Refusal {
    fn from(error: CatalogError) -> Refusal {
        let coded = |error: &CatalogError| error.with_code();
        match &error {
            CatalogError::NotFound(name) => {
                Refusal::severe("IDC3012I", format!("ENTRY {name} NOT FOUND"))
            }
            CatalogError::NoCatalog(name) => {
                Refusal::severe("IDC3012I", format!("CATALOG {name} NOT FOUND"))
            }
            CatalogError::NoGeneration { .. } => Refusal::severe("IDC3012I", coded(&error)),
            CatalogError::Exists { .. } => {
                let text = format!("DUPLICATE DATA SET NAME: {error}");
                Refusal::severe("IDC3013I", text)
            }
            CatalogError::InUse(name) => {
                Refusal::severe("IDC3024I", format!("{name} IS IN USE: close it, then try again"))
            }
            CatalogError::NotExpired { .. } => {
                let text = format!("{error}: PURGE deletes it before");
                Refusal::severe("IDC3022I", text)
            }
            CatalogError::NotEmpty(name) => {
                let text = format!("{name} IS NOT EMPTY: delete its entries first, or with FORCE");
                Refusal::severe("IDC3028I", text)
            }
            CatalogError::WrongKind { .. } => Refusal::severe("IDC3019I", coded(&error)),
            CatalogError::Attributes { .. } => Refusal::severe("IDC3210I", coded(&error)),
            CatalogError::Name(_) => Refusal::severe("IDC3203I", coded(&error)),
            CatalogError::DuplicateKey { .. } => Refusal::severe("IDC1646I", coded(&error)),
            CatalogError::Store(store) => Refusal::from(store.clone()),
            _ => {
                let text = format!("CATALOG ERROR: {}. {}", coded(&error), error.remedy());
                Refusal::severe("IDC3014I", text)
            }
        }
    }
}

impl From<OpenError> for Refusal {
    fn from(error: OpenError) -> Refusal {
        match error {
            OpenError::Catalog(error) => error.into(),
            error => {
                let text = format!("ERROR OPENING: {error} ({}). {}", error.code(), error.remedy());
                Refusal::severe("IDC3300I", text)
            }
        }
    }
}

/// What an operator is told of a record that was refused.
pub(crate) fn of_record(reason: LogicalReason) -> (&'static str, &'static str) {
    match reason {
        LogicalReason::Duplicate => ("IDC3308I", "** DUPLICATE RECORD"),
        LogicalReason::OutOfSequence => ("IDC3314I", "** RECORD OUT OF SEQUENCE"),
        LogicalReason::BadLength => ("IDC3309I", "** RECORD LENGTH IS INVALID"),
        LogicalReason::NoSpace => ("IDC3316I", "** THERE IS NO SPACE LEFT"),
        LogicalReason::NotFound => ("IDC3313I", "** RECORD NOT FOUND"),
        _ => ("IDC3302I", "** THE RECORD IS REFUSED"),
    }
}

/// Why control statements could not be executed to their end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IdcamsError {
    /// What SYSPRINT is written to fails.
    #[error("SYSPRINT cannot be written: {0}")]
    Sysprint(#[source] io::Error),
}

impl Coded for IdcamsError {
    fn code(&self) -> Code {
        match self {
            IdcamsError::Sysprint(_) => Code("HFVI001"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            IdcamsError::Sysprint(_) => {
                "Write it where there is room; what was done before it is done.".into()
            }
        }
    }
}
