//! What can go wrong with a database, beneath the rules of DL/I.

use base::{Code, Coded};
use definitions::DbdName;
use placement::PlacementError;
use store::StoreError;

/// The result of work on a database.
pub type Result<T> = std::result::Result<T, HierarchyError>;

/// Stored bytes that no release of this crate has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Damaged(pub &'static str);

/// Why a database could not do what was asked.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HierarchyError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is stored is no segment, path or index entry.
    #[error("database {database} is damaged: {what}")]
    Damaged {
        /// The database.
        database: DbdName,
        /// What is wrong.
        what: Damaged,
    },
    /// A database that is needed has no definition.
    #[error("there is no DBD {0}")]
    NoDefinition(DbdName),
    /// The definition is for something that is not kept in the store.
    #[error("{0} is {1}, which is not kept in the system")]
    NotKept(DbdName, definitions::Organization),
    /// The configuration does not say where roots go.
    #[error(transparent)]
    Placement(#[from] std::sync::Arc<PlacementError>),
    /// A load of the database was begun and not ended.
    #[error("a load of database {0} was begun and has not ended")]
    Loading(DbdName),
    /// The database holds segments, and the work needs an empty one.
    #[error("database {0} is not empty")]
    NotEmpty(DbdName),
}

impl Coded for HierarchyError {
    fn code(&self) -> Code {
        match self {
            HierarchyError::Store(error) => error.code(),
            HierarchyError::Damaged { .. } => Code("HFH001"),
            HierarchyError::NoDefinition(_) => Code("HFH002"),
            HierarchyError::NotKept(..) => Code("HFH003"),
            HierarchyError::Placement(error) => error.code(),
            HierarchyError::Loading(_) => Code("HFH004"),
            HierarchyError::NotEmpty(_) => Code("HFH005"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            HierarchyError::Store(error) => error.remedy(),
            HierarchyError::Damaged { database, .. } => {
                format!("Run `holdfast db verify {database}`, then recover what it names.")
            }
            HierarchyError::NoDefinition(name) => {
                format!("Compile the source of {name} with `holdfast gen`.")
            }
            HierarchyError::NotKept(..) => "Use it through a GSAM or another PCB.".into(),
            HierarchyError::Placement(error) => error.remedy(),
            HierarchyError::Loading(name) => format!(
                "Restart the load from its last checkpoint, or empty the database with \
                 `holdfast db empty {name} --yes` and load it again."
            ),
            HierarchyError::NotEmpty(name) => {
                format!("Empty it with `holdfast db empty {name} --yes` first.")
            }
        }
    }
}
