//! What can go wrong with image copies and recoveries, in words an operator can act on.

use std::io;
use std::path::PathBuf;

use archive::ArchiveError;
use base::{Code, Coded, Lsn, SystemId, UowId};
use pool::PoolError;
use recon::ReconError;
use seal::SealError;
use store::StoreError;
use uow::UowError;
use wal::LogError;

/// An error of an image copy or a recovery.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecoveryError {
    /// There is no such data set.
    #[error("there is no data set {name}")]
    NoSuchSet {
        /// What was asked for.
        name: String,
    },
    /// No image copy can be used.
    #[error("data set {name} has no image copy that {why}")]
    NoCopy {
        /// The data set.
        name: String,
        /// What such a copy would have to be.
        why: String,
    },
    /// The point cannot be reached.
    #[error("{lsn} is no point to recover data set {name} to: {why}")]
    BadPoint {
        /// The data set.
        name: String,
        /// The point.
        lsn: Lsn,
        /// Why not.
        why: String,
    },
    /// A file of an image copy is damaged.
    #[error("image copy {}: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Of what a recovery needs of an image copy no file is whole.
    #[error("{error}")]
    Unreadable {
        /// The copy.
        number: u32,
        /// The data sets that it was read for.
        names: Vec<String>,
        /// What is wrong with its last file.
        error: Box<RecoveryError>,
    },
    /// A newer release wrote it.
    #[error("image copy {} was written by a newer release: version {version}", path.display())]
    Future {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u16,
    },
    /// It is another system's.
    #[error("image copy {} belongs to system {found}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// That system.
        found: SystemId,
    },
    /// Reading or writing a copy failed.
    #[error("{} could not be {verb}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was attempted, as a participle.
        verb: &'static str,
        /// What the operating system says.
        #[source]
        error: io::Error,
    },
    /// The folder of a new copy is not mounted.
    #[error(
        "{} holds none of the image copies that RECON knows there: it is not mounted, or was \
         emptied",
        folder.display()
    )]
    Away {
        /// The folder.
        folder: PathBuf,
    },
    /// There is too little that a system could be made of.
    #[error("no system can be restored: {why}")]
    NotRestored {
        /// What is missing, or does not fit.
        why: String,
    },
    /// The data set would not come free.
    #[error("data set {name} is in use; nothing was changed")]
    InUse {
        /// The data set.
        name: String,
    },
    /// A unit of work cannot be backed out.
    #[error("{uow} cannot be backed out: {why}")]
    NotBackedOut {
        /// The unit of work.
        uow: UowId,
        /// Why not.
        why: String,
    },
    /// A unit of work of the system itself, not of a program.
    #[error("{uow} cannot be backed out: it changed {name}, which says how databases are read")]
    OfTheSystem {
        /// The unit of work.
        uow: UowId,
        /// The data set.
        name: String,
    },
    /// What units of work have changed is not as they left it.
    #[error("data set {name} was changed since, {}", by_whom(by))]
    ChangedSince {
        /// The first data set of which that is so.
        name: String,
        /// Who has changed the same records, in any data set; empty if the log does not say.
        by: Vec<UowId>,
    },
    /// A value that was given up is not to be had any more.
    #[error(
        "a long value of data set {name} that is to come back was written before the log begins"
    )]
    LongValueGone {
        /// The data set.
        name: String,
    },
    /// A data set is another one than when its copy or recovery was begun.
    #[error("data set {name} was recovered or dropped meanwhile: nothing was done")]
    Replaced {
        /// The data set.
        name: String,
    },
    /// An image copy does not stand where the caller says.
    #[error("RECON says of image copy {number} what it said before: {why}")]
    NotMoved {
        /// The copy.
        number: u32,
        /// Why.
        why: String,
    },
    /// The caller that wanted an image copy wants it no more.
    #[error("the image copy was ended before it was whole; nothing is left of it")]
    Interrupted,
    /// The kernel.
    #[error(transparent)]
    Kernel(#[from] UowError),
    /// The archive.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// RECON.
    #[error(transparent)]
    Recon(#[from] ReconError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<LogError> for RecoveryError {
    fn from(error: LogError) -> RecoveryError {
        RecoveryError::Kernel(error.into())
    }
}

impl From<PoolError> for RecoveryError {
    fn from(error: PoolError) -> RecoveryError {
        RecoveryError::Kernel(error.into())
    }
}

impl From<SealError> for RecoveryError {
    fn from(error: SealError) -> RecoveryError {
        RecoveryError::Kernel(error.into())
    }
}

impl Coded for RecoveryError {
    fn code(&self) -> Code {
        match self {
            RecoveryError::NoSuchSet { .. } => Code("HFV001"),
            RecoveryError::NoCopy { .. } => Code("HFV002"),
            RecoveryError::BadPoint { .. } => Code("HFV003"),
            RecoveryError::Damaged { .. } => Code("HFV004"),
            RecoveryError::Unreadable { error, .. } => error.code(),
            RecoveryError::Future { .. } => Code("HFV005"),
            RecoveryError::Foreign { .. } => Code("HFV006"),
            RecoveryError::Io { .. } => Code("HFV007"),
            RecoveryError::InUse { .. } => Code("HFV008"),
            RecoveryError::NotRestored { .. } => Code("HFV009"),
            RecoveryError::NotBackedOut { .. } => Code("HFV010"),
            RecoveryError::ChangedSince { .. } => Code("HFV011"),
            RecoveryError::LongValueGone { .. } => Code("HFV012"),
            RecoveryError::Replaced { .. } => Code("HFV013"),
            RecoveryError::OfTheSystem { .. } => Code("HFV016"),
            RecoveryError::Away { .. } => Code("HFV015"),
            RecoveryError::Interrupted => Code("HFV017"),
            RecoveryError::NotMoved { .. } => Code("HFV018"),
            RecoveryError::Kernel(error) => error.code(),
            RecoveryError::Archive(error) => error.code(),
            RecoveryError::Recon(error) => error.code(),
            RecoveryError::Store(error) => error.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            RecoveryError::NoSuchSet { .. } => {
                "Check the name; `holdfast status` lists the data sets."
            }
            RecoveryError::NoCopy { .. } => {
                "`holdfast recon list` shows the copies, and `holdfast recon change --copy N --file \
                 FILE` tells where one is that went to a pipe; if RECON was lost, `holdfast recon \
                 rebuild --from FOLDER` finds those in a folder. Make one available, or choose \
                 another point."
            }
            RecoveryError::BadPoint { .. } => "Choose another point, or an older image copy.",
            RecoveryError::Damaged { .. } => {
                "Put a good copy of the file there, or have another copy used: `holdfast recon \
                 change --copy N` with --file or --gone."
            }
            RecoveryError::Unreadable { number, .. } => {
                return format!(
                    "No other copy brings the data sets there. Bring a file of image copy {number} \
                     back, or say where it stands: `holdfast recon change --copy {number}` with \
                     --file or --moved-to."
                );
            }
            RecoveryError::Future { .. } => "Use the release that wrote it.",
            RecoveryError::Foreign { .. } => "Use a copy of this system.",
            RecoveryError::Io { .. } => {
                "Check the path, the device, its space and permissions; nothing was done, so give the \
                 command again."
            }
            RecoveryError::InUse { .. } => "End the programs that use it, then try again.",
            RecoveryError::NotRestored { .. } => {
                "Name the folders of its archives and copies, and the newest copy of its key file. \
                 If its archives were plain on purpose, say --accept-plain."
            }
            RecoveryError::Away { .. } => {
                "Mount it, or name another folder. If what it held is gone for good, `holdfast \
                 verify` names for each of those copies what has it forgotten."
            }
            RecoveryError::NotBackedOut { .. } => {
                "`holdfast backout --list` names units of work. One that is not over is backed out \
                 when its program ends without a commit."
            }
            RecoveryError::OfTheSystem { .. } => {
                "Leave it out. Definitions go with `holdfast gen --remove NAME`, and become what they \
                 were with `holdfast gen FILE` of the older source."
            }
            RecoveryError::ChangedSince { .. } => {
                "Name those units of work, too, or recover the data sets to a point before."
            }
            RecoveryError::LongValueGone { .. } => {
                "Recover the data set to a point before, from an image copy."
            }
            RecoveryError::NotMoved { number, .. } => {
                return format!(
                    "Name the folder that one of its files stands in, or the file itself: \
                     `holdfast recon change --copy {number} --file FILE`."
                );
            }
            RecoveryError::Interrupted => "Give the command again.",
            RecoveryError::Replaced { .. } => "Try again if it is still wanted.",
            RecoveryError::Kernel(error) => return error.remedy(),
            RecoveryError::Archive(error) => return error.remedy(),
            RecoveryError::Recon(error) => return error.remedy(),
            RecoveryError::Store(error) => return error.remedy(),
        }
        .into()
    }
}

/// The units of work in words; the first of many.
fn by_whom(units: &[UowId]) -> String {
    const NAMED: usize = 16;
    let names: Vec<String> = units.iter().take(NAMED).map(UowId::to_string).collect();
    match units.len() {
        0 => "and the log does not say by whom".into(),
        1..=NAMED => format!("by {}", names.join(", ")),
        more => format!("by {} and {} others", names.join(", "), more - NAMED),
    }
}
