//! What VSAM answers, as the statuses of a COBOL program.
//!
//! | feedback | status |
//! |---|---|
//! | 4 end of data | 10 |
//! | 8 duplicate | 22 |
//! | 12 out of sequence, 96 prime key changed | 21 |
//! | 16 not found, 112 length of a generic key, 192 record number | 23; 24 at a WRITE |
//! | 20 held by another, 64 no string | 93 |
//! | 28 no space | 34; 24 of keyed and relative files |
//! | 32 address, 144 no base record; a handler that is lost | 90 |
//! | OPEN of a cluster whose handler is lost | 93 |
//! | 88 no position | 46 |
//! | 92 not read for update | 43 |
//! | 100, 108 length | 44 |
//! | 104, 116 and others | 92 |
//! | 8 with return code 0: a duplicate alternate key | 02 |

use store::StoreError;
use vsam::{Failure, LogicalReason, OpenError};

use crate::status::FileStatus;

/// What VSAM has said: return code, function (component), feedback (reason).
pub(crate) fn feedback_of(failure: &Failure) -> [u8; 3] {
    match failure {
        Failure::Logical { reason, component, .. } => {
            [failure.return_code(), *component as u8, reason.number()]
        }
        _ => [failure.return_code(), 0, 0],
    }
}

/// What OPEN says to a program that is refused with this status.
pub(crate) fn feedback_of_open(status: FileStatus) -> [u8; 3] {
    const LOGICAL: u8 = 8;
    match status {
        FileStatus::NO_FILE => [LOGICAL, 0, 148],
        FileStatus::MODE => [LOGICAL, 0, 160],
        FileStatus::RESOURCE => [LOGICAL, 0, 168],
        FileStatus::INVALID => [LOGICAL, 0, 188],
        _ => [0; 3],
    }
}

/// The status of an open that failed.
pub(crate) fn of_open(error: &OpenError) -> FileStatus {
    use vsam::CatalogError;
    match error {
        OpenError::Shared(_) | OpenError::Handler { .. } => FileStatus::RESOURCE,
        OpenError::Mode { .. } | OpenError::NotEmpty(_) => FileStatus::MODE,
        OpenError::NotBuilt(_) => FileStatus::INVALID,
        OpenError::Catalog(CatalogError::NotFound(_)) => FileStatus::NO_FILE,
        OpenError::Catalog(CatalogError::GroupFull(_)) => FileStatus::NO_SPACE,
        OpenError::Catalog(CatalogError::InUse(_)) => FileStatus::RESOURCE,
        OpenError::Catalog(CatalogError::Store(
            StoreError::NoSpace(_) | StoreError::LogFull(_),
        )) => FileStatus::NO_SPACE,
        OpenError::Catalog(CatalogError::Store(StoreError::Timeout(_))) => FileStatus::RESOURCE,
        OpenError::Catalog(CatalogError::Store(_)) => FileStatus::ERROR,
        OpenError::Catalog(_) => FileStatus::INVALID,
        _ => FileStatus::UNREACHABLE,
    }
}

/// The status of a failure; `boundary`: at a WRITE to a keyed or relative file.
pub(crate) fn of_failure(failure: &Failure, boundary: bool) -> FileStatus {
    use LogicalReason as Reason;
    if let Failure::Handler(_) = failure {
        return FileStatus::UNREACHABLE;
    }
    let Some(reason) = failure.reason() else { return FileStatus::ERROR };
    match reason {
        Reason::EndOfData => FileStatus::END,
        Reason::Duplicate => FileStatus::KEY_EXISTS,
        Reason::OutOfSequence | Reason::KeyChanged => FileStatus::SEQUENCE,
        Reason::BadNumber if boundary => FileStatus::KEY_BOUNDARY,
        Reason::NotFound | Reason::BadKeyLength | Reason::BadNumber => FileStatus::NOT_FOUND,
        Reason::HeldByAnother | Reason::NoString => FileStatus::RESOURCE,
        Reason::NoSpace if boundary => FileStatus::KEY_BOUNDARY,
        Reason::NoSpace => FileStatus::NO_SPACE,
        Reason::BadAddress | Reason::NoBaseRecord => FileStatus::UNREACHABLE,
        Reason::NoPosition => FileStatus::NO_NEXT,
        Reason::NotReadForUpdate => FileStatus::NO_READ,
        Reason::LengthChanged | Reason::BadLength => FileStatus::RECORD_LENGTH,
        _ => FileStatus::LOGIC,
    }
}
