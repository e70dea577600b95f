//! Why a database does not come to another system.

use std::io;
use std::path::PathBuf;

use base::{Code, Coded};
use definitions::DbdName;

/// Why a stream is no database.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// It ends before its end, or is not what was sealed.
    #[error("what comes from the other system is not whole: {0}")]
    Broken(String),
    /// The pipe.
    #[error("the pipe {} cannot be {what}: {source}", path.display())]
    Pipe {
        /// Its path.
        path: PathBuf,
        /// What was to be done.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The target has another definition.
    #[error("{database} is defined otherwise in the system that it is to move to")]
    Unlike {
        /// The database.
        database: DbdName,
    },
    /// It is another one at its new place.
    #[error("{database} is not the same at its new place: {detail}")]
    Differs {
        /// The database.
        database: DbdName,
        /// How they differ.
        detail: String,
    },
}

impl Coded for MoveError {
    fn code(&self) -> Code {
        Code(match self {
            MoveError::Broken(_) => "HFY110",
            MoveError::Pipe { .. } => "HFY111",
            MoveError::Unlike { .. } => "HFY112",
            MoveError::Differs { .. } => "HFY113",
        })
    }

    fn remedy(&self) -> String {
        match self {
            MoveError::Broken(_) => {
                "Give the command again; what the source says tells why it ended.".into()
            }
            MoveError::Pipe { .. } => "Check the folder of the source and the disk.".into(),
            MoveError::Unlike { database } => format!(
                "Compile the same sources there with `holdfast gen`, and give {database} the same \
                 section [database.{database}] in holdfast.toml."
            ),
            MoveError::Differs { database, .. } => format!(
                "Empty it there (`holdfast db empty {database} --yes`), verify both systems, and \
                 move it again; at its old place nothing has changed."
            ),
        }
    }
}
