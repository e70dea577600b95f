//! What can go wrong with the log, in words an operator can act on.

use std::io::ErrorKind;
use std::path::PathBuf;

use base::{Code, Coded, GroupNumber, Lsn};
use seal::SealError;
use seam::stop::Stopped;

/// An error of the log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The kernel has stopped; nothing is acknowledged any more.
    #[error(transparent)]
    Stopped(#[from] Stopped),

    /// There is no room for ordinary records; what is left belongs to undo (K15).
    #[error(
        "the log is full: {used_bytes} of {capacity_bytes} bytes are needed, the rest is kept for backout"
    )]
    Full {
        /// Bytes of the segments that restart still needs.
        used_bytes: u64,
        /// Bytes of all segments that the configuration allows.
        capacity_bytes: u64,
    },

    /// There is no room for ordinary records because full segments are not archived yet.
    #[error("the log is full: {segments} of its segments wait to be archived; {why}")]
    ArchiveBehind {
        /// Segments that are kept for the archive alone.
        segments: usize,
        /// What keeps the archive.
        why: String,
    },

    /// A record is longer than the log can take.
    #[error("a log record of {bytes} bytes is too long: at most {bytes_max}")]
    RecordTooLong {
        /// Its length, header included.
        bytes: u64,
        /// The limit, header included.
        bytes_max: u64,
    },

    /// Somebody waits for a position that does not exist yet.
    #[error("log position {lsn} is beyond the end of the log at {end}")]
    Beyond {
        /// The position asked for.
        lsn: Lsn,
        /// Where the next record will begin.
        end: Lsn,
    },

    /// A position before the oldest segment that is still there.
    #[error("log position {lsn} is no longer in the log, which begins at {oldest}")]
    Gone {
        /// The position asked for.
        lsn: Lsn,
        /// Where the log begins now.
        oldest: Lsn,
    },

    /// No record begins at this position.
    #[error("no log record begins at {lsn}")]
    NotARecord {
        /// The position asked for.
        lsn: Lsn,
    },

    /// The configuration cannot work.
    #[error("the log cannot be configured so: {why}")]
    Config {
        /// What is wrong with it.
        why: String,
    },

    /// The files were made with another configuration.
    #[error(
        "{} was made with {field} {found}, the configuration says {configured}",
        path.display()
    )]
    Mismatch {
        /// The file.
        path: PathBuf,
        /// Which setting.
        field: &'static str,
        /// What the file says.
        found: String,
        /// What the configuration says.
        configured: String,
    },

    /// A log is there already.
    #[error("there is a log already: {}", path.display())]
    Exists {
        /// One of its files.
        path: PathBuf,
    },

    /// There is no log.
    #[error("there is no log in {}", path.display())]
    Missing {
        /// The folder.
        path: PathBuf,
    },

    /// The disk refused.
    #[error("cannot {verb} {}: {source}", path.display())]
    Io {
        /// What was tried.
        verb: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the disk said.
        source: std::io::Error,
    },

    /// A part of the log that must be there is damaged, in every copy.
    #[error("{group} of the log is damaged, {} at {offset}: {why}", path.display())]
    Damaged {
        /// The first group that is damaged.
        group: GroupNumber,
        /// The file that should hold it.
        path: PathBuf,
        /// Where in the file, in bytes.
        offset: u64,
        /// What is wrong, and how it is known that the log did not simply end there.
        why: String,
    },

    /// A file that is open is not the one that its name leads to.
    #[error(
        "{} is not the file that is being written: its folder was unmounted, or it was removed",
        path.display()
    )]
    Misplaced {
        /// Where the file should be.
        path: PathBuf,
    },

    /// The log ends before a position that something else proves (K6).
    #[error(
        "the log ends at {end}, but the system proves that it reached {proven}: it was cut or put back to an older state"
    )]
    RolledBack {
        /// Where it ends.
        end: Lsn,
        /// Where it must have reached.
        proven: Lsn,
    },

    /// Only a stale copy of the log is there (K9).
    #[error(
        "log copy {copy} is stale from {from} on, and the other copy cannot be read: all work acknowledged since is only there"
    )]
    Stale {
        /// The stale copy, 1 or 2 as operators count.
        copy: u8,
        /// The first group that it may lack.
        from: GroupNumber,
    },

    /// The write-ahead data set may hold what the log lacks, and cannot be used.
    #[error("the write-ahead data set cannot be used: {why}")]
    NoWads {
        /// Why not.
        why: String,
    },

    /// A file is written by a newer Holdfast (K21).
    #[error(
        "{} at {offset} has log version {found}, this Holdfast knows up to {known}",
        path.display()
    )]
    FutureVersion {
        /// The file.
        path: PathBuf,
        /// Where in the file, in bytes.
        offset: u64,
        /// The version it says.
        found: u16,
        /// The newest version known here.
        known: u16,
    },

    /// A file belongs to another system, or stands in the wrong folder.
    #[error("{} does not belong here: {why}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// To what it belongs instead.
        why: String,
    },

    /// A key could not be had.
    #[error("no key for the log: {0}")]
    Key(#[from] SealError),

    /// No random bytes could be had; nothing may be sealed.
    #[error("no random bytes for the log's salt: {0}")]
    Entropy(std::io::Error),

    /// A lost copy could not be recorded, so nothing may be acknowledged on the other one (K9).
    #[error("what became of log copy {copy} could not be recorded: {why}")]
    Unrecorded {
        /// The lost copy, 1 or 2 as operators count.
        copy: u8,
        /// Why it could not be recorded.
        why: String,
    },

    /// A copy that is to be brought back is not lost.
    #[error("log copy {copy} is not lost")]
    NotLost {
        /// The copy, 1 or 2.
        copy: u8,
    },

    /// A lost copy cannot be brought back yet.
    #[error("log copy {copy} is still being written to, or is being brought back already")]
    CopyBusy {
        /// The copy, 1 or 2.
        copy: u8,
    },

    /// A lost copy was not brought back, because whoever asked for it went away.
    #[error("log copy {copy} was not brought back: it was interrupted")]
    Interrupted {
        /// The copy, 1 or 2.
        copy: u8,
    },

    /// The number of stripes cannot be changed now.
    #[error("the stripes of the log cannot be changed now: {why}")]
    Stripes {
        /// What is in the way.
        why: String,
    },

    /// A thread could not be started.
    #[error("the log's writer cannot start: {0}")]
    Thread(std::io::Error),
}

impl LogError {
    pub(crate) fn io(
        verb: &'static str,
        path: impl Into<PathBuf>,
        source: std::io::Error,
    ) -> LogError {
        LogError::Io { verb, path: path.into(), source }
    }

    /// Whether a device has no room.
    pub(crate) fn lacks_room(&self) -> bool {
        matches!(self, LogError::Io { source, .. } if lacks_room(source))
    }
}

/// Whether a device is too small for what was asked of it.
fn lacks_room(source: &std::io::Error) -> bool {
    matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

impl Coded for LogError {
    fn code(&self) -> Code {
        Code(match self {
            LogError::Stopped(stopped) => return stopped.code(),
            LogError::Key(error) => return error.code(),
            LogError::Full { .. } => "HFL001",
            LogError::RecordTooLong { .. } => "HFL002",
            LogError::Beyond { .. } => "HFL003",
            LogError::Gone { .. } => "HFL004",
            LogError::NotARecord { .. } => "HFL005",
            LogError::Config { .. } => "HFL006",
            LogError::Mismatch { .. } => "HFL007",
            LogError::Exists { .. } => "HFL008",
            LogError::Missing { .. } => "HFL009",
            LogError::Io { .. } => "HFL010",
            LogError::Damaged { .. } => "HFL011",
            LogError::RolledBack { .. } => "HFL012",
            LogError::Stale { .. } => "HFL013",
            LogError::FutureVersion { .. } => "HFL014",
            LogError::Foreign { .. } => "HFL015",
            LogError::Entropy(_) => "HFL016",
            LogError::Unrecorded { .. } => "HFL017",
            LogError::Thread(_) => "HFL018",
            LogError::ArchiveBehind { .. } => "HFL019",
            LogError::NotLost { .. } => "HFL020",
            LogError::CopyBusy { .. } => "HFL021",
            LogError::Interrupted { .. } => "HFL022",
            LogError::NoWads { .. } => "HFL023",
            LogError::Stripes { .. } => "HFL024",
            LogError::Misplaced { .. } => "HFL025",
        })
    }

    fn remedy(&self) -> String {
        match self {
            LogError::Stopped(stopped) => return stopped.remedy(),
            LogError::Key(error) => return error.remedy(),
            LogError::Full { .. } => {
                "Let long units of work end, take a checkpoint, or allow the log more segments."
            }
            LogError::ArchiveBehind { .. } => {
                "Make room in the archive's folders, or repair them; work goes on by itself then. \
                 `holdfast archive delete` removes archives that no recovery needs."
            }
            LogError::RecordTooLong { .. } => "Write it as several records.",
            LogError::Beyond { .. } => {
                "The log was probably put back to an older state than the data: restore both."
            }
            LogError::Gone { .. } => "Read it from the archive.",
            LogError::NotARecord { .. } => "Start at the position of a record.",
            LogError::Config { .. } => "Correct the log's configuration.",
            LogError::Mismatch { .. } => "Set the configuration to what the log was made with.",
            LogError::Exists { .. } => "Choose another folder, or remove the old log on purpose.",
            LogError::Missing { .. } => "Check the log's folder, and that its disk is mounted.",
            LogError::Io { source, .. } if lacks_room(source) => {
                "Make room on its device, or take a larger one; then start, or give the command, again."
            }
            LogError::Io { .. } => "Repair the disk or the file it names, then start again.",
            LogError::Damaged { .. } => {
                "`holdfast repair --log` and every start bring back what the other copy or an \
                 archive has. Otherwise recover the data sets from image copies and the archive."
            }
            LogError::RolledBack { .. } => {
                "Bring back the newest log. If it is gone for good, no other one will do: it may \
                 lack more than is known, and data sets may hold that. `holdfast restore NEW \
                 --keys DIR/holdfast.keys --config DIR/holdfast.toml --copies FOLDER` makes the \
                 system in a new folder NEW, as far as its archives reach, from the image copies \
                 in FOLDER; `holdfast doctor` names them."
            }
            LogError::Stale { .. } => {
                "Bring back the other copy. If it is gone for good, `holdfast restart \
                 --accept-loss-with-stale-log-copy` goes on without what only it had."
            }
            LogError::NoWads { .. } => {
                "See that log.write_ahead in holdfast.toml names the folders that it had, and that \
                 its files are there as they were: the last work that was acknowledged may only be \
                 in them. If they are gone for good, \
                 `holdfast restart --accept-loss-with-stale-log-copy` goes on without that work."
            }
            LogError::FutureVersion { .. } => "Start the newer Holdfast.",
            LogError::Foreign { .. } => "Correct the log's folders in the configuration.",
            LogError::Entropy(_) => "Check the operating system's random number generator.",
            LogError::Unrecorded { .. } => "Repair the place where the loss is recorded.",
            LogError::NotLost { .. } => "Nothing need be done: it gets every group.",
            LogError::CopyBusy { .. } => "Wait a moment, and try again.",
            LogError::Interrupted { .. } => "Run the command again; the log goes on as before.",
            LogError::Misplaced { .. } => {
                "Mount the folder again; then `holdfast log resync` brings the copy back."
            }
            LogError::Stripes { .. } => {
                "Nothing has changed. Once that is out of the way, run the command again."
            }
            LogError::Thread(_) => "Allow the process more threads.",
        }
        .into()
    }
}
