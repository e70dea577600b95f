//! Why an operation has no result.
//!
//! Invariants:
//! 1. What a layer below says keeps its code and its remedy; what another process says is told
//!    word by word.

use base::{Code, Coded};
use control::ControlError;
use copybook::CopybookError;
use definitions::DbdName;
use hierarchy::HierarchyError;
use hierarchy::repository::RepositoryError;
use idcams::IdcamsError;
use queue_manager::AdminError;
use recon::ReconError;
use recovery::RecoveryError;
use redirector::SendError;
use store::StoreError;
use system::SystemError;
use system::operator::{Refusal, USAGE};
use uow::UowError;
use vsam::CatalogError;
use vsam::handler::HandlerError;

use crate::moment::utc;
use crate::move_error::MoveError;

/// An answer or the reason why there is none.
pub type Result<T> = std::result::Result<T, OperationsError>;

/// What stands in place of a layer's code where an operation itself refuses.
pub const FAILED: Code = Code("HFY100");
/// No copy is there to go on from, as when none is there to recover from.
const NO_COPY: Code = Code("HFV002");
/// A point that nothing can be recovered to.
const BAD_POINT: Code = Code("HFV003");

/// What ends an operation before its time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OperationsError {
    /// The system.
    #[error(transparent)]
    System(#[from] SystemError),
    /// Copies and recoveries.
    #[error(transparent)]
    Recovery(#[from] RecoveryError),
    /// RECON.
    #[error(transparent)]
    Recon(#[from] ReconError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Units of work, and data sets that are offline.
    #[error(transparent)]
    Uow(#[from] UowError),
    /// A database.
    #[error(transparent)]
    Hierarchy(#[from] HierarchyError),
    /// The definitions that the system keeps.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// A database on its way to another system.
    #[error(transparent)]
    Move(#[from] MoveError),
    /// A verb of the system, or the process that has it open.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// The transaction manager.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The queue manager.
    #[error(transparent)]
    Messages(#[from] AdminError),
    /// The catalog of clusters.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// Changes that are sent on.
    #[error(transparent)]
    Send(#[from] SendError),
    /// A record map that does not go with its cluster, or is not there.
    #[error("the record map of {name}: {what}")]
    RecordMap {
        /// The cluster.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// The handler of a cluster does not take it.
    #[error("{name} cannot be redirected: {error}")]
    Handler {
        /// The cluster.
        name: String,
        /// Why not.
        error: HandlerError,
    },
    /// Control statements.
    #[error(transparent)]
    Idcams(#[from] IdcamsError),
    /// The process that has the system open is no system for programs.
    #[error("the process that has the system open works on it alone, and executes no statements")]
    NoCatalog,
    /// An operand that names no file.
    #[error("{0} is no DD")]
    NoDd(String),
    /// Statements that the client that has them does not hand over.
    #[error("the control statements cannot be had: {0}")]
    Statements(String),
    /// A name that no user can have.
    #[error("\"{0}\" is no name for a user")]
    UserName(String),
    /// A map of record descriptions, in the file of that name.
    #[error("{}{error}", .file.as_ref().map(|file| format!("{file}: ")).unwrap_or_default())]
    Map {
        /// The file, if the error does not name it.
        file: Option<String>,
        /// What is wrong.
        error: CopybookError,
    },
    /// Data that cannot be converted.
    #[error("{what}")]
    Encoding {
        /// Why not.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// A conversion was asked for that makes no sense.
    #[error("{what}")]
    NoConversion {
        /// Why not.
        what: String,
        /// How it would be right.
        remedy: String,
    },
    /// A name that no definition has.
    #[error("there is no DBD {name}")]
    NoDatabase {
        /// The name.
        name: String,
    },
    /// No copy holds all of these data sets as they are.
    #[error("there is no image copy of these data sets that another one could go on from")]
    NoBaseCopy,
    /// A moment that has not come.
    #[error("{} is yet to come", utc(*.utc_us))]
    Future {
        /// The moment.
        utc_us: u64,
    },
    /// Data sets of one database would be of different times.
    #[error("{}", .warnings.join("; "))]
    TornApart {
        /// Of which databases, and what stays behind.
        warnings: Vec<String>,
        /// The databases.
        databases: Vec<String>,
    },
    /// Loads draw numbers from it.
    #[error("{set} is offline: nothing could be loaded into {database}")]
    SequencesOffline {
        /// The data set that says which numbers were drawn.
        set: String,
        /// The database that was to be emptied.
        database: DbdName,
    },
    /// Numbers that were drawn would be given out again.
    #[error("{set} says which numbers were drawn, which must not be given out again")]
    NumbersDrawn {
        /// The data set that says it.
        set: String,
    },
    /// A data set was named that the system starts with.
    #[error("data set {set} does not keep the system from starting")]
    KeepsNothing {
        /// The data set.
        set: String,
    },
    /// Data sets were to be given up that can be recovered.
    #[error("image copies and the log have all of {}", .sets.join(", "))]
    Recoverable {
        /// The data sets.
        sets: Vec<String>,
        /// The command that gives them up all the same.
        again: String,
    },
    /// Data sets were to be given up, which was not confirmed.
    #[error("{sets} would be given up: {error} ({})", .error.code())]
    NotConfirmed {
        /// The data sets.
        sets: String,
        /// Why they cannot be recovered.
        error: Box<OperationsError>,
    },
    /// An error with more to do about it.
    #[error("{error}")]
    Advised {
        /// The error.
        error: Box<OperationsError>,
        /// What else can be done.
        more: String,
    },
}

impl OperationsError {
    /// The stable code; what another process refuses has its own.
    #[must_use]
    pub fn code(&self) -> String {
        match self {
            OperationsError::Refused(refusal) => refusal.code.clone(),
            OperationsError::Advised { error, .. } => error.code(),
            OperationsError::TornApart { .. } => TORN_APART.to_string(),
            OperationsError::UserName(_) => USER_NAME.to_string(),
            OperationsError::NoCatalog => NO_CATALOG.to_string(),
            OperationsError::Handler { .. } => NO_HANDLER.to_string(),
            OperationsError::RecordMap { .. } => RECORD_MAP.to_string(),
            OperationsError::NoConversion { .. } => USAGE.to_owned(),
            OperationsError::NoBaseCopy => NO_COPY.to_string(),
            OperationsError::Future { .. } => BAD_POINT.to_string(),
            other => other.layer().map_or(FAILED, Coded::code).to_string(),
        }
    }

    /// What to do; empty if nothing can be done.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            OperationsError::Refused(refusal) => refusal.advice.clone(),
            OperationsError::Encoding { remedy, .. }
            | OperationsError::NoConversion { remedy, .. } => remedy.clone(),
            OperationsError::NoDatabase { .. } => {
                "Correct the name, or compile its source with `holdfast gen`.".into()
            }
            OperationsError::UserName(_) => "Give a name of up to 8 letters and digits.".into(),
            OperationsError::NoCatalog => {
                "Wait until it has ended, or start the system with `holdfast start`.".into()
            }
            OperationsError::RecordMap { name, .. } => format!(
                "`holdfast recmap define {name} COPYBOOK` keeps a COBOL description of its records."
            ),
            OperationsError::Handler { .. } => {
                "Correct the address, or see that the handler can be reached.".into()
            }
            OperationsError::NoDd(_) => {
                "Write it as in --dd IN=accounts.txt,text or --dd IN=BANK.ACCT.".into()
            }
            OperationsError::Statements(_) => "Give the command again, with text in UTF-8.".into(),
            OperationsError::NoBaseCopy => {
                "Make a full copy first: leave out --incremental.".into()
            }
            OperationsError::Future { .. } => {
                "Say a moment in UTC that is over, or leave out --to.".into()
            }
            OperationsError::TornApart { databases, .. } => {
                let whole: Vec<String> =
                    databases.iter().map(|name| format!("--db {name}")).collect();
                format!(
                    "`holdfast recover {}` with the same --to takes all of it back. If a part is \
                     meant, add --yes, and verify the database afterwards.",
                    whole.join(" ")
                )
            }
            OperationsError::SequencesOffline { set, .. } => {
                format!("`holdfast recover --set {set}` goes first.")
            }
            OperationsError::NumbersDrawn { .. } => {
                "`holdfast unload` works without it: load the databases into a new system.".into()
            }
            OperationsError::KeepsNothing { set } => format!("Leave out `--without {set}`."),
            OperationsError::Recoverable { sets, again } => {
                let sets: Vec<String> = sets.iter().map(|name| format!("--set {name}")).collect();
                format!(
                    "`holdfast recover {}` brings it back. {again} starts without it all the \
                     same; then recover it soon: without archives, the log that has it is used \
                     again once three quarters of the log are in use.",
                    sets.join(" ")
                )
            }
            OperationsError::NotConfirmed { error, .. } => error.remedy(),
            OperationsError::Advised { error, more } => match error.remedy() {
                remedy if remedy.is_empty() => more.clone(),
                remedy => format!("{remedy} {more}"),
            },
            other => other.layer().map(Coded::remedy).unwrap_or_default(),
        }
    }

    /// The same, with more to do about it.
    #[must_use]
    pub fn advised(self, more: String) -> OperationsError {
        OperationsError::Advised { error: Box::new(self), more }
    }

    /// What a layer below says.
    fn layer(&self) -> Option<&dyn Coded> {
        Some(match self {
            OperationsError::System(error) => error,
            OperationsError::Recovery(error) => error,
            OperationsError::Recon(error) => error,
            OperationsError::Store(error) => error,
            OperationsError::Uow(error) => error,
            OperationsError::Hierarchy(error) => error,
            OperationsError::Repository(error) => error,
            OperationsError::Move(error) => error,
            OperationsError::Control(error) => error,
            OperationsError::Messages(error) => error,
            OperationsError::Catalog(error) => error,
            OperationsError::Send(error) => error,
            OperationsError::Idcams(error) => error,
            OperationsError::Map { error, .. } => error,
            _ => return None,
        })
    }
}

/// Data sets of one database at different times.
const TORN_APART: Code = Code("HFV014");
/// A record map does not go with its cluster.
const RECORD_MAP: Code = Code("HFRD004");
/// A handler of a redirected cluster does not take it.
const NO_HANDLER: Code = Code("HFRD003");
/// Statements for a process that has no catalog for programs.
const NO_CATALOG: Code = Code("HFY041");
/// A user's name that is none.
const USER_NAME: Code = Code("HFY039");

impl From<OperationsError> for Refusal {
    fn from(error: OperationsError) -> Refusal {
        match error {
            OperationsError::Refused(refusal) => refusal,
            other => {
                Refusal { code: other.code(), message: other.to_string(), advice: other.remedy() }
            }
        }
    }
}

impl From<CopybookError> for OperationsError {
    fn from(error: CopybookError) -> OperationsError {
        OperationsError::Map { file: None, error }
    }
}

impl From<Refusal> for OperationsError {
    fn from(refusal: Refusal) -> OperationsError {
        OperationsError::Refused(refusal)
    }
}
