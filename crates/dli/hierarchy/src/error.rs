//! What can go wrong with a database, beneath the rules of DL/I.

use std::fmt;
use std::sync::Arc;

use base::{Code, Coded};
use definitions::{DbdName, SegmentName};
use placement::PlacementError;
use store::StoreError;

/// The result of work on a database.
pub type Result<T> = std::result::Result<T, HierarchyError>;

/// Stored bytes that no release of this crate has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Damaged(pub &'static str);

/// A segment that a load cannot take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The database.
    pub database: DbdName,
    /// The place of the segment in the input, from 1, where it is known.
    pub number: Option<u64>,
    /// Its type, where it is known.
    pub segment: Option<SegmentName>,
    /// Its concatenated key, for people.
    pub key: String,
    /// Why not.
    pub why: String,
    /// What to do.
    pub remedy: &'static str,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "load of {}", self.database)?;
        if let Some(number) = self.number {
            write!(f, ", segment number {number}")?;
        }
        if let Some(segment) = self.segment {
            write!(f, ", {segment}")?;
        }
        match self.key.is_empty() {
            true => write!(f, ": {}", self.why),
            false => write!(f, " with key {}: {}", self.key, self.why),
        }
    }
}

/// What differs between stored data and what the system says about it now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differs {
    /// The database.
    pub database: DbdName,
    /// As the data was stored.
    pub was: String,
    /// As the system says now.
    pub is: String,
}

impl Differs {
    /// Whether both places of roots are of one of these kinds.
    fn is_of(&self, kinds: &[&str]) -> bool {
        let has = |text: &str| kinds.iter().any(|kind| text.contains(kind));
        has(&self.was) && has(&self.is)
    }

    /// What to do where roots and keys would stand elsewhere.
    fn remedy(&self) -> String {
        let (first, needs) = if self.is_of(&[" by list "]) {
            let first = "Put the list of root keys back as it was. To go on with another one";
            (first, ", which needs no list,")
        } else if self.is_of(&[" by list ", " by hash, "]) {
            ("Set it as it was. To change it", ", which needs no randomizer,")
        } else {
            ("Set it as it was. To change it", " under the old settings,")
        };
        format!(
            "{first}, `holdfast unload {0} FILE`{needs} `holdfast db empty {0} --yes`, then \
             `holdfast load {0} FILE`.",
            self.database
        )
    }
}

impl fmt::Display for Differs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Differs { database, was, is } = self;
        write!(f, "database {database} holds data that was stored under \"{was}\"")?;
        match is.is_empty() {
            true => write!(f, ", which is gone"),
            false => write!(f, ", now it says \"{is}\""),
        }
    }
}

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
    /// The definition is for something that is not kept in the store; what it indexes, if it is an
    /// index.
    #[error("{0} is {1}, which is no database of its own")]
    NotKept(DbdName, definitions::Organization, Vec<DbdName>),
    /// The configuration does not say where roots go.
    #[error(transparent)]
    Placement(#[from] Arc<PlacementError>),
    /// A load of the database was begun and not ended.
    #[error("a load of database {0} was begun and has not ended")]
    Loading(DbdName),
    /// The database holds segments, and the work needs an empty one.
    #[error("database {0} is not empty")]
    NotEmpty(DbdName),
    /// The settings that decide where roots and keys stand are others than when data was stored.
    #[error("{0}")]
    Placed(Box<Differs>),
    /// The definition says otherwise what stored segments look like.
    #[error("{0}")]
    LaidOut(Box<Differs>),
    /// A segment cannot be loaded.
    #[error("{0}")]
    Refused(Box<Refused>),
    /// What a load reads from has failed.
    #[error("{0}")]
    Input(Arc<dyn Coded + Send + Sync>),
    /// An index has to be built first.
    #[error("index {index} of database {database} is not built")]
    IndexDue {
        /// The database.
        database: DbdName,
        /// The index.
        index: DbdName,
    },
    /// A recovery would bring back data that what the system says now does not fit.
    #[error("at that point {0}")]
    OtherForm(Box<Differs>),
    /// A recovery would bring back a database in the middle of a load or a numbering.
    #[error("at that point a load of database {0}, or the build of its first index, was under way")]
    Moving(DbdName),
    /// Segments are being made ready for a new index, and not all of them are.
    #[error("segments of database {0} are being rewritten for a new index, which has not ended")]
    Numbering(DbdName),
    /// The other side of a physical pair has to be loaded first.
    #[error("segments of database {database} wait for their pairs in {other}")]
    Waiting {
        /// The database.
        database: DbdName,
        /// The database that stores the pairs.
        other: DbdName,
    },
    /// A partition was taken offline.
    #[error("partition {partition} of database {database} is offline")]
    Offline {
        /// The database.
        database: DbdName,
        /// The partition.
        partition: String,
    },
    /// The database has no such partition.
    #[error("database {database} has no partition {partition}")]
    NoPartition {
        /// The database.
        database: DbdName,
        /// The partition that was asked for.
        partition: String,
    },
    /// The database has no such secondary index.
    #[error("database {database} has no secondary index {index}")]
    NoIndex {
        /// The database.
        database: DbdName,
        /// The index.
        index: DbdName,
    },
}

impl HierarchyError {
    /// The definition is for something that is not kept in the store.
    pub(crate) fn not_kept(dbd: &definitions::Dbd) -> HierarchyError {
        let children = dbd.segments.iter().flat_map(|segment| &segment.children);
        let indexed = children.map(|child| child.dbd).filter(|indexed| *indexed != dbd.name);
        HierarchyError::NotKept(dbd.name, dbd.organization, indexed.collect())
    }
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
            HierarchyError::Placed(_) => Code("HFH006"),
            HierarchyError::LaidOut(_) => Code("HFH007"),
            HierarchyError::Refused(_) => Code("HFH008"),
            HierarchyError::Input(error) => error.code(),
            HierarchyError::IndexDue { .. } => Code("HFH009"),
            HierarchyError::NoIndex { .. } => Code("HFH010"),
            HierarchyError::Offline { .. } => Code("HFH011"),
            HierarchyError::NoPartition { .. } => Code("HFH012"),
            HierarchyError::Waiting { .. } => Code("HFH013"),
            HierarchyError::Numbering(_) => Code("HFH014"),
            HierarchyError::OtherForm(_) => Code("HFH015"),
            HierarchyError::Moving(_) => Code("HFH016"),
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
            HierarchyError::NotKept(_, organization, indexed) if organization.is_index() => {
                let name = indexed.first().map(|name| format!(", {name}")).unwrap_or_default();
                format!("Its entries go with the database that it indexes{name}: name that one.")
            }
            HierarchyError::NotKept(..) => "It has no data of its own in the system.".into(),
            HierarchyError::Placement(error) => error.remedy(),
            HierarchyError::Loading(name) => format!(
                "Restart the load from its last checkpoint, or empty the database with \
                 `holdfast db empty {name} --yes` and load it again."
            ),
            HierarchyError::NotEmpty(name) => {
                format!("Empty it with `holdfast db empty {name} --yes` first.")
            }
            HierarchyError::Placed(differs) => differs.remedy(),
            HierarchyError::LaidOut(differs) => format!(
                "Compile the definition that {0} was loaded with. To change it, \
                 `holdfast unload {0} FILE` with the old one, `holdfast db empty {0} --yes`, \
                 `holdfast gen`, then `holdfast load {0} FILE`.",
                differs.database
            ),
            HierarchyError::Refused(refused) => refused.remedy.into(),
            HierarchyError::Input(error) => error.remedy(),
            HierarchyError::IndexDue { database, index } => {
                format!("Build it with `holdfast index build {database} {index}`.")
            }
            HierarchyError::OtherForm(differs) => format!(
                "Bring back what the system said then: keep the present data with `holdfast unload \
                 {0} FILE`, `holdfast db empty {0} --yes`, compile the DBD of that time or set \
                 holdfast.toml as it was, then recover.",
                differs.database
            ),
            HierarchyError::Moving(_) => "Choose a moment before or after that.".into(),
            HierarchyError::Numbering(name) => {
                format!("Run `holdfast index build {name}`: it goes on where it was broken off.")
            }
            HierarchyError::NoIndex { database, .. }
            | HierarchyError::NoPartition { database, .. } => {
                format!("`holdfast db status {database}` names those that it has.")
            }
            HierarchyError::Waiting { other, .. } => format!(
                "Load {other} with `holdfast load {other} FILE`; the two are compared then. If it \
                 is loaded, empty it with `holdfast db empty {other} --yes` first."
            ),
            HierarchyError::Offline { database, partition } => format!(
                "Bring it back with `holdfast db partition online {database} {partition}` when \
                 its data may be used."
            ),
        }
    }
}
