//! What a request answers: a condition that is well, a logical reason, or an error of the store.
//!
//! The numbers are those of VSAM's feedback field: with a return code of 0 the condition, with a
//! return code of 8 the reason. Reasons that this store cannot meet are not listed: volumes (24),
//! key ranges (36), virtual storage (40), damaged intervals (156; the store says so itself), and
//! pointers past the longest record of an alternate index (148; there is no such limit).

use store::StoreError;

use crate::handler::HandlerError;

/// Why a request was refused. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[repr(u8)]
#[non_exhaustive]
pub enum LogicalReason {
    /// There are no more records in this direction.
    #[error("end of data")]
    EndOfData = 4,
    /// The prime key, a unique alternate key, or the relative record number is taken.
    #[error("a record with this key or number is there already")]
    Duplicate = 8,
    /// Keys or numbers do not ascend where they must.
    #[error("the record is out of sequence")]
    OutOfSequence = 12,
    /// There is no such record.
    #[error("there is no such record")]
    NotFound = 16,
    /// Another unit of work holds the record for longer than this one waits.
    #[error("another unit of work holds the record")]
    HeldByAnother = 20,
    /// There is no room for more.
    #[error("there is no space left")]
    NoSpace = 28,
    /// No record begins at this address.
    #[error("no record begins at this relative byte address")]
    BadAddress = 32,
    /// The record is longer than the area for it; the feedback says how long it is.
    #[error("the area is too small for the record")]
    AreaTooSmall = 44,
    /// As many requests are active as the file has strings.
    #[error("no string is left for another position")]
    NoString = 64,
    /// The file was not opened for such a request.
    #[error("the file is not open for such a request")]
    NotOpenForThis = 68,
    /// An entry-sequenced or linear cluster has no keys.
    #[error("access by key to a cluster that has none")]
    KeyedAccess = 72,
    /// A record cannot be inserted by address into a keyed cluster.
    #[error("an insert by address into a keyed cluster")]
    AddressedInsert = 76,
    /// Records of an entry-sequenced cluster are not erased.
    #[error("records of an entry-sequenced cluster cannot be erased")]
    EraseEntrySequenced = 80,
    /// A record of a keyed cluster is not erased by address.
    #[error("an erase by address in a keyed cluster")]
    AddressedErase = 84,
    /// A sequential request without a position.
    #[error("there is no position")]
    NoPosition = 88,
    /// A record is updated or erased that was not read for update before.
    #[error("no record was read for update before")]
    NotReadForUpdate = 92,
    /// An update would change the prime key.
    #[error("an update would change the prime key")]
    KeyChanged = 96,
    /// An update would change the length of a record whose length is fixed.
    #[error("an update would change the length of a record of an entry-sequenced cluster")]
    LengthChanged = 100,
    /// The options do not go together, or not with this kind of file.
    #[error("the options of the request do not go together")]
    BadOptions = 104,
    /// The record is too short or too long.
    #[error("the length of the record is not allowed")]
    BadLength = 108,
    /// A generic key is empty or longer than the key.
    #[error("the length of the key is not allowed")]
    BadKeyLength = 112,
    /// Only inserts are possible while a cluster is being loaded.
    #[error("the cluster is being loaded")]
    Loading = 116,
    /// An alternate index has an entry for a record that is not there.
    #[error("the alternate index points to no record")]
    NoBaseRecord = 144,
    /// A relative record number is 0, or higher than any can be.
    #[error("the relative record number is not allowed")]
    BadNumber = 192,
    /// A relative cluster has no addresses.
    #[error("access by address to a relative cluster")]
    AddressedRelative = 196,
}

impl LogicalReason {
    /// Its number.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }
}

/// What a request that did what it should has met, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Condition {
    /// Nothing.
    #[default]
    None = 0,
    /// Read: the next record has the same alternate key. Written: an alternate key of the record
    /// is not the only one of its value.
    DuplicateKey = 8,
}

/// Which part of a sphere an answer is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Component {
    /// The base cluster. What is changed is backed out whole, so the upgrade set is always right.
    #[default]
    Base = 0,
    /// The alternate index through which the request came.
    AlternateIndex = 2,
    /// An index of the upgrade set.
    UpgradeSet = 4,
}

/// A relative byte address: where a record of an entry-sequenced cluster begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rba(pub u64);

/// A relative record number, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordNumber(pub u32);

/// The answer to a request that did what it should.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// What else it met.
    pub condition: Condition,
    /// In which part.
    pub component: Component,
    /// The record's address, in an entry-sequenced or linear cluster.
    pub rba: Option<Rba>,
    /// The record's number, in a relative cluster.
    pub number: Option<RecordNumber>,
    /// Bytes of the record.
    pub bytes: u32,
}

/// Why a request did nothing.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The request was refused; the unit of work goes on.
    #[error("{reason}")]
    Logical {
        /// Why.
        reason: LogicalReason,
        /// In which part of the sphere.
        component: Component,
        /// With [`LogicalReason::AreaTooSmall`], how long the record is; otherwise 0.
        bytes: u32,
    },
    /// The handler of a redirected cluster has failed. What it was asked for may have been done,
    /// whole; the unit of work goes on.
    #[error("{0}")]
    Handler(HandlerError),
    /// The store has failed. Whether the unit of work goes on says
    /// [`StoreError::dooms_unit`].
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A change could be made only in part, and the store sets no more savepoints: the unit of
    /// work has to be backed out.
    #[error("a change was made only in part, back the unit of work out: {0}")]
    InPart(StoreError),
}

impl Failure {
    /// A refusal about the base cluster.
    #[must_use]
    pub fn logical(reason: LogicalReason) -> Failure {
        Failure::Logical { reason, component: Component::Base, bytes: 0 }
    }

    /// The same about another part of the sphere.
    #[must_use]
    pub fn of(reason: LogicalReason, component: Component) -> Failure {
        Failure::Logical { reason, component, bytes: 0 }
    }

    /// The reason of a refusal.
    #[must_use]
    pub fn reason(&self) -> Option<LogicalReason> {
        match self {
            Failure::Logical { reason, .. } => Some(*reason),
            _ => None,
        }
    }

    /// VSAM's return code: 8 for a logical error, 12 for a physical one.
    #[must_use]
    pub fn return_code(&self) -> u8 {
        match self {
            Failure::Logical { .. } => 8,
            _ => 12,
        }
    }

    /// What the store answered, with the reason that VSAM has for it, if there is one.
    #[must_use]
    pub fn of_store(error: StoreError, component: Component) -> Failure {
        match error {
            StoreError::Timeout(_) => Failure::of(LogicalReason::HeldByAnother, component),
            StoreError::NoSpace(_) | StoreError::LogFull(_) => {
                Failure::of(LogicalReason::NoSpace, component)
            }
            other => Failure::Store(other),
        }
    }
}
