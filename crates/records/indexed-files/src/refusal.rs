//! Why a request was not carried out.

use rustix::io::Errno;

/// Why a request was not carried out; the file is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A record with this key is there already.
    #[error("a record with this key is there already")]
    Duplicate,
    /// Keys do not ascend, or the prime key was changed.
    #[error("the key is out of sequence")]
    Sequence,
    /// There is no such record.
    #[error("there is no such record")]
    NotFound,
    /// There is no next record.
    #[error("there is no further record")]
    End,
    /// The record has no room for its prime key, or is longer than the file's may be.
    #[error("the record has a length that this file's records cannot have")]
    Length,
    /// The request names a key that the file does not have, or a part of one that is none.
    #[error("there is no such key")]
    NoKey,
    /// The device is full, or the file may not grow.
    #[error("there is no room for it on the device")]
    NoRoom,
    /// Another opener has the file.
    #[error("somebody else has the file open")]
    InUse,
    /// The file has other keys or other records.
    #[error("the file was made with other keys or another length of records")]
    Attributes,
    /// The file is no indexed file.
    #[error("the file is no indexed file")]
    Foreign,
    /// There is no such file.
    #[error("there is no such file")]
    Missing,
    /// The file may not be opened like this.
    #[error("the file may not be opened this way")]
    Forbidden,
    /// The file's bytes are not those that were written.
    #[error("the file is damaged: {0}")]
    Damaged(String),
    /// The device does not do what it is told.
    #[error("the device fails: {0}")]
    Device(String),
}

impl Refusal {
    pub(crate) fn of_errno(errno: Errno) -> Refusal {
        match errno {
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => Refusal::NoRoom,
            Errno::PERM | Errno::ACCESS | Errno::ISDIR | Errno::ROFS => Refusal::Forbidden,
            Errno::NOENT | Errno::NOTDIR => Refusal::Missing,
            Errno::AGAIN | Errno::DEADLK | Errno::TXTBSY => Refusal::InUse,
            errno => Refusal::Device(errno.to_string()),
        }
    }

    pub(crate) fn damaged(what: &str) -> Refusal {
        Refusal::Damaged(what.to_owned())
    }

    /// From an error of the store of tables, whatever it was doing.
    pub(crate) fn of_store(error: impl Into<redb::Error>) -> Refusal {
        match error.into() {
            redb::Error::Io(io) => match io.raw_os_error().map(Errno::from_raw_os_error) {
                Some(errno) => Refusal::of_errno(errno),
                None => Refusal::Device(io.to_string()),
            },
            redb::Error::DatabaseAlreadyOpen => Refusal::InUse,
            redb::Error::Corrupted(text) => Refusal::Damaged(text),
            other => Refusal::Device(other.to_string()),
        }
    }
}
