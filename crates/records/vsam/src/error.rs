//! What can go wrong with the catalog, and at an open.

use base::{Code, Coded};
use store::StoreError;
use thiserror::Error;

use crate::attributes::AttributeError;
use crate::entry::Kind;
use crate::handler::HandlerError;
use crate::name::{DataSetName, NameError};

/// Why the catalog refused something. Nothing was changed.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// There is no entry of that name.
    #[error("{0} is not in the catalog")]
    NotFound(DataSetName),
    /// There is an entry of that name.
    #[error("{name} is in the catalog already, as {kind}")]
    Exists {
        /// The name.
        name: DataSetName,
        /// What stands under it.
        kind: Kind,
    },
    /// The entry is of another kind than this needs.
    #[error("{name} is of the kind {kind}, which this is not possible for: {what}")]
    WrongKind {
        /// The entry.
        name: DataSetName,
        /// What it is.
        kind: Kind,
        /// What is needed.
        what: &'static str,
    },
    /// Attributes break a rule.
    #[error("{name} cannot be like that: {error}")]
    Attributes {
        /// The object.
        name: DataSetName,
        /// Which, and why.
        error: AttributeError,
    },
    /// A name is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The object is open, or a unit of work that has not ended has changed it.
    #[error("{0} is open, or has changes that are not committed")]
    InUse(DataSetName),
    /// Its retention period is not over.
    #[error("{name} is to be kept until {until}")]
    NotExpired {
        /// The object.
        name: DataSetName,
        /// The day, `yyyyddd`.
        until: u32,
    },
    /// A catalog or a group that still has entries.
    #[error("{0} still has entries")]
    NotEmpty(DataSetName),
    /// There is no such catalog.
    #[error("there is no catalog {0}")]
    NoCatalog(DataSetName),
    /// A group has no such generation.
    #[error("generation data group {name} has no generation {relative:+}")]
    NoGeneration {
        /// The group.
        name: DataSetName,
        /// The number that was asked for.
        relative: i32,
    },
    /// A group has all the generations that it may have: another would take some of them away.
    #[error("generation data group {0} has as many generations as its LIMIT")]
    GroupFull(DataSetName),
    /// Records share a key that is to be unique.
    #[error("alternate index {name} cannot be built: more than one record has the key {key}")]
    DuplicateKey {
        /// The index.
        name: DataSetName,
        /// The key, in printable form.
        key: String,
    },
    /// An entry cannot be read.
    #[error("an entry of the catalog, {name}, is damaged: {what}")]
    Damaged {
        /// What is known of its name.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// The cluster is redirected.
    #[error("{0} is redirected")]
    Redirected(DataSetName),
    /// Changes of a redirected cluster were not sent on yet.
    #[error("{left} changes of {name} were not sent on yet")]
    Unsent {
        /// The cluster.
        name: DataSetName,
        /// How many.
        left: u64,
    },
    /// The store has failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for CatalogError {
    fn code(&self) -> Code {
        match self {
            CatalogError::NotFound(_) => Code("HFVS001"),
            CatalogError::Exists { .. } => Code("HFVS002"),
            CatalogError::WrongKind { .. } => Code("HFVS003"),
            CatalogError::Attributes { .. } => Code("HFVS004"),
            CatalogError::Name(_) => Code("HFVS005"),
            CatalogError::InUse(_) => Code("HFVS006"),
            CatalogError::NotExpired { .. } => Code("HFVS007"),
            CatalogError::NotEmpty(_) => Code("HFVS008"),
            CatalogError::NoCatalog(_) => Code("HFVS009"),
            CatalogError::NoGeneration { .. } => Code("HFVS010"),
            CatalogError::DuplicateKey { .. } => Code("HFVS011"),
            CatalogError::Damaged { .. } => Code("HFVS012"),
            CatalogError::GroupFull(_) => Code("HFVS013"),
            CatalogError::Redirected(_) => Code("HFVS014"),
            CatalogError::Unsent { .. } => Code("HFVS015"),
            CatalogError::Store(error) => error.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            CatalogError::NotFound(_) => "Correct the name, or define it first.",
            CatalogError::Exists { .. } => "Choose another name, or delete that entry first.",
            CatalogError::WrongKind { .. } => "Correct the name.",
            CatalogError::Attributes { .. } => "Correct the operand that is named.",
            CatalogError::Name(_) => "Write it with qualifiers of 1 to 8 characters.",
            CatalogError::InUse(_) => {
                "Close it in all programs and end their units of work, then try again."
            }
            CatalogError::NotExpired { .. } => "Wait until then, or delete it with PURGE.",
            CatalogError::NotEmpty(_) => "Delete its entries first, or with FORCE.",
            CatalogError::NoCatalog(_) => "Define the user catalog first.",
            CatalogError::NoGeneration { .. } => "List the group to see what it has.",
            CatalogError::GroupFull(_) => {
                "Delete generations that nobody needs, or alter the group's LIMIT."
            }
            CatalogError::DuplicateKey { .. } => {
                "Correct the records, or define the index with NONUNIQUEKEY."
            }
            CatalogError::Damaged { .. } => "Recover the data set of the catalog, then try again.",
            CatalogError::Redirected(name) => {
                return format!("End that first: `holdfast redirect remove {name}`.");
            }
            CatalogError::Unsent { name, .. } => {
                return format!(
                    "`holdfast redirect resend {name}` sends them; `holdfast redirect remove \
                     {name} --discard` gives them up."
                );
            }
            CatalogError::Store(error) => return error.remedy(),
        }
        .into()
    }
}

/// Why a file was not opened.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The share options do not allow it while others have it open.
    #[error("{0} is open elsewhere, and its share options do not allow this open beside")]
    Shared(DataSetName),
    /// The mode is not possible for this object.
    #[error("{name} cannot be opened like that: {what}")]
    Mode {
        /// The object.
        name: DataSetName,
        /// Why not.
        what: &'static str,
    },
    /// A load needs an empty cluster, or one that can be emptied.
    #[error("{0} has records and was not defined with REUSE")]
    NotEmpty(DataSetName),
    /// The alternate index has not been built.
    #[error("alternate index {0} has not been built over its records")]
    NotBuilt(DataSetName),
    /// The cluster is redirected, and its handler does not let it be opened.
    #[error("{name} is redirected to {to}: {error}")]
    Handler {
        /// The cluster.
        name: DataSetName,
        /// Where to.
        to: String,
        /// Why not.
        error: HandlerError,
    },
    /// The catalog refused something.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

impl From<StoreError> for OpenError {
    fn from(error: StoreError) -> OpenError {
        OpenError::Catalog(CatalogError::Store(error))
    }
}

impl Coded for OpenError {
    fn code(&self) -> Code {
        match self {
            OpenError::Shared(_) => Code("HFVS101"),
            OpenError::Mode { .. } => Code("HFVS102"),
            OpenError::NotEmpty(_) => Code("HFVS103"),
            OpenError::NotBuilt(_) => Code("HFVS104"),
            OpenError::Handler { .. } => Code("HFVS105"),
            OpenError::Catalog(error) => error.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            OpenError::Shared(_) => "Wait until it is closed, or alter its share options.",
            OpenError::Mode { .. } => "Open it in another mode.",
            OpenError::NotEmpty(_) => "Delete and define it again, or define it with REUSE.",
            OpenError::NotBuilt(_) => "Build it (BLDINDEX), then open it.",
            OpenError::Handler { name, .. } => {
                return format!("`holdfast redirect status {name}` says how it is.");
            }
            OpenError::Catalog(error) => return error.remedy(),
        }
        .into()
    }
}
