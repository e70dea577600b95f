//! What can go wrong with a unit of work or with opening a system.

use std::fmt;

use base::{Code, Coded, DataSetId, UowId};
use lock::LockError;
use pool::PoolError;
use seal::SealError;
use seam::stop::Stopped;
use space::SpaceError;
use wal::LogError;

/// How much log a unit of work may span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanLimit {
    /// From its first record to the log's end.
    pub bytes_max: u64,
    /// The setting that makes it so.
    pub set_by: SpanSetting,
}

/// The setting of `holdfast.toml` that says how much log a unit of work may span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanSetting {
    /// `units.log_bytes_max`.
    Units,
    /// The size of the log, whatever `units.log_bytes_max` says.
    Log {
        /// `log.segments_max`.
        segments_max: u32,
        /// `log.segment_bytes`.
        segment_bytes: u64,
    },
}

impl SpanSetting {
    fn remedy(self) -> String {
        match self {
            SpanSetting::Units => "Commit more often, or raise units.log_bytes_max in \
                                   holdfast.toml, to at most half of the log, and start the \
                                   system again."
                .into(),
            SpanSetting::Log { segments_max, .. } => format!(
                "Commit more often, or make the log larger: raise log.segments_max, which is \
                 {segments_max}, in holdfast.toml, units.log_bytes_max with it, and start the \
                 system again."
            ),
        }
    }
}

impl fmt::Display for SpanSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpanSetting::Units => f.write_str("units.log_bytes_max allows"),
            SpanSetting::Log { segments_max, segment_bytes } => write!(
                f,
                "a log of {segments_max} segments of {} (log.segments_max, log.segment_bytes) \
                 leaves one",
                Amount(*segment_bytes)
            ),
        }
    }
}

/// Bytes as people write them in the configuration.
struct Amount(u64);

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes >= 1 << 20 => write!(f, "{} MiB", bytes >> 20),
            bytes => write!(f, "{} KiB", bytes >> 10),
        }
    }
}

/// What keeps the log full.
fn keeps_full(keeper: Option<UowId>) -> String {
    match keeper {
        Some(uow) => format!("unit of work {uow} keeps it"),
        None => "what was changed reaches the data sets too slowly: it stays".into(),
    }
}

/// Why a unit of work, or the kernel as a whole, cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UowError {
    /// The kernel has stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The unit of work has logged more than one may.
    #[error(
        "unit of work {uow} spans {} MiB of log, more than the {} that {set_by}: it is backed out",
        bytes >> 20,
        Amount(*bytes_max)
    )]
    PastLogLimit {
        /// The unit of work.
        uow: UowId,
        /// The log between its first record and now, or the room that it keeps of one that is full.
        bytes: u64,
        /// The limit.
        bytes_max: u64,
        /// The setting that makes it so.
        set_by: SpanSetting,
    },
    /// The log stayed full.
    #[error("the log is full and {} so; {uow} cannot log", keeps_full(*keeper))]
    LogFull {
        /// Who wanted to log.
        uow: UowId,
        /// The unit of work whose first record stands in the oldest segment; if there is none, what
        /// was changed is not written to the data sets fast enough.
        keeper: Option<UowId>,
    },
    /// No such data set.
    #[error("there is no data set {name}")]
    NoSuchSet {
        /// What was asked for.
        name: String,
    },
    /// There is one already.
    #[error("there is a data set {name} already ({set})")]
    SetExists {
        /// Its name.
        name: String,
        /// Its number.
        set: DataSetId,
    },
    /// There is one already, which is offline.
    #[error("data set {name} ({set}) is offline: the system was started without it")]
    SetOffline {
        /// Its name.
        name: String,
        /// Its number.
        set: DataSetId,
    },
    /// It is being converted already.
    #[error("data set {name} is being converted already")]
    Converting {
        /// The data set.
        name: String,
    },
    /// It is not being converted.
    #[error("data set {name} is not being converted")]
    NotConverting {
        /// The data set.
        name: String,
    },
    /// There is nothing to convert.
    #[error("data set {name} is {form} already")]
    SameForm {
        /// The data set.
        name: String,
        /// The form that it has.
        form: String,
    },
    /// No pool fits.
    #[error("data set {name} wants pool {pool} with units of {unit_bytes} bytes; there is none")]
    NoPool {
        /// The data set.
        name: String,
        /// The pool it names.
        pool: String,
        /// The unit of its intervals.
        unit_bytes: usize,
    },
    /// There is no such pool.
    #[error("there is no pool {name}")]
    NoSuchPool {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// A data set cannot be in that pool.
    #[error(
        "data set {name} has units of {unit_bytes} bytes, pool {pool} has units of {pool_unit_bytes}"
    )]
    OtherUnit {
        /// The data set.
        name: String,
        /// Its unit.
        unit_bytes: usize,
        /// The pool.
        pool: String,
        /// The pool's unit.
        pool_unit_bytes: usize,
    },
    /// A pool that is to go has data sets.
    #[error("pool {name} holds data sets: {}", sets.join(", "))]
    PoolUsed {
        /// The pool.
        name: String,
        /// Their names.
        sets: Vec<String>,
    },
    /// A pool that is to go is the last of its kind.
    #[error("pool {name} is the only one with units of {unit_bytes} bytes")]
    LastPool {
        /// The pool.
        name: String,
        /// The unit of its intervals.
        unit_bytes: usize,
    },
    /// A structure on disk that does not make sense although it is genuine.
    #[error("{object} is damaged: {why}")]
    Damaged {
        /// What and where.
        object: String,
        /// What does not fit.
        why: String,
    },
    /// The control file.
    #[error("control file {path}: {why}", path = path.display())]
    Control {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong.
        why: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The anchor contradicts the system, or cannot be compared with it.
    #[error("anchor {path}: {why}", path = path.display())]
    Anchor {
        /// Its file.
        path: std::path::PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The configuration asks for less than what the control file binds.
    #[error(
        "the configuration of {home} asks for less protection than its control file binds: {}",
        list(lowered), home = home.display()
    )]
    Protection {
        /// The system's folder.
        home: std::path::PathBuf,
        /// The settings.
        lowered: Vec<Lowered>,
    },
    /// A definition says that a data set is plain, and nothing proves that it may be.
    #[error("the log says that data set {name} is in clear, but nobody with the system's key has")]
    NotPermitted {
        /// The data set.
        name: String,
    },
    /// The log is plain, and says that a data set is sealed or being converted.
    #[error(
        "the log is plain, and data set {name} is {state}: nothing of it may get into that log"
    )]
    SealedUnderPlainLog {
        /// The data set.
        name: String,
        /// What it is.
        state: &'static str,
    },
    /// The log is plain, and a data set is to be sealed or converted.
    #[error("data set {name} cannot be {wanted}: the log is plain")]
    PlainLogTakesNoSealed {
        /// The data set.
        name: String,
        /// What it was to be.
        wanted: &'static str,
    },
    /// The log is to become plain, and data sets are sealed or being converted.
    #[error(
        "the log cannot become plain while data sets are sealed or being converted: {}",
        names.join(", ")
    )]
    LogStaysSealed {
        /// Their names.
        names: Vec<String>,
    },
    /// The operating system.
    #[error("{what}: {source}")]
    Io {
        /// What was tried, with the object.
        what: String,
        /// What it said.
        source: std::io::Error,
    },
    /// Intervals.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// Data sets.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// Locks.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Keys.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The double-write area.
    #[error(transparent)]
    DoubleWrite(#[from] pool::double_write::DoubleWriteError),
}

/// A setting by which a configuration asks for less than what is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// The setting, as the configuration names it.
    pub setting: String,
    /// What is bound.
    pub bound: String,
    /// What the configuration asks for.
    pub asked: String,
}

impl fmt::Display for Lowered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lowered { setting, bound, asked } = self;
        write!(f, "{setting} asks for {asked} where {bound} is bound")
    }
}

fn list(lowered: &[Lowered]) -> String {
    lowered.iter().map(Lowered::to_string).collect::<Vec<_>>().join("; ")
}

impl UowError {
    /// The data set whose file is not there, or damaged. What fails for want of room or of rights
    /// fails for other data sets, too.
    #[must_use]
    pub fn data_set(&self) -> Option<&String> {
        match self {
            UowError::Pool(PoolError::Damaged { name, .. })
            | UowError::Space(SpaceError::Pool(PoolError::Damaged { name, .. })) => Some(name),
            UowError::Space(SpaceError::Io { name, source, .. }) => {
                use std::io::ErrorKind as Kind;
                let elsewhere = [
                    Kind::StorageFull,
                    Kind::QuotaExceeded,
                    Kind::PermissionDenied,
                    Kind::ReadOnlyFilesystem,
                    Kind::OutOfMemory,
                ];
                (!elsewhere.contains(&source.kind())).then_some(name)
            }
            _ => None,
        }
    }

    /// Whether the unit of work was chosen to break a deadlock, and may be tried again.
    #[must_use]
    pub fn is_deadlock(&self) -> bool {
        matches!(self, UowError::Lock(LockError::Deadlock { .. }))
    }

    /// Whether the kernel has stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.code() == Code("HFM001")
    }
}

impl Coded for UowError {
    fn code(&self) -> Code {
        match self {
            UowError::Stopped(error) => error.code(),
            UowError::PastLogLimit { .. } => Code("HFU001"),
            UowError::LogFull { .. } => Code("HFU002"),
            UowError::NoSuchSet { .. } => Code("HFU003"),
            UowError::SetExists { .. } => Code("HFU004"),
            UowError::NoPool { .. } => Code("HFU005"),
            UowError::Damaged { .. } => Code("HFU006"),
            UowError::Control { .. } => Code("HFU007"),
            UowError::Io { .. } => Code("HFU008"),
            UowError::Converting { .. } => Code("HFU009"),
            UowError::NotConverting { .. } => Code("HFU010"),
            UowError::SameForm { .. } => Code("HFU011"),
            UowError::Anchor { .. } => Code("HFU012"),
            UowError::Protection { .. } => Code("HFU013"),
            UowError::NotPermitted { .. } => Code("HFU014"),
            UowError::SealedUnderPlainLog { .. } => Code("HFU015"),
            UowError::PlainLogTakesNoSealed { .. } => Code("HFU016"),
            UowError::LogStaysSealed { .. } => Code("HFU017"),
            UowError::NoSuchPool { .. } => Code("HFU020"),
            UowError::PoolUsed { .. } => Code("HFU021"),
            UowError::LastPool { .. } => Code("HFU022"),
            UowError::OtherUnit { .. } => Code("HFU023"),
            UowError::SetOffline { .. } => Code("HFU024"),
            UowError::Pool(error) => error.code(),
            UowError::Space(error) => error.code(),
            UowError::Lock(error) => error.code(),
            UowError::Log(error) => error.code(),
            UowError::Seal(error) => error.code(),
            UowError::DoubleWrite(error) => error.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            UowError::PastLogLimit { set_by, .. } => set_by.remedy(),
            UowError::LogFull { .. } => "End the unit of work that it names, or look for what \
                                         slows down the devices of the data sets; or give the log \
                                         more segments: raise log.segments_max in holdfast.toml, \
                                         and start the system again."
                .into(),
            UowError::NoSuchSet { .. } => "Check the name; `holdfast status` lists them.".into(),
            UowError::SetExists { .. } => "Choose another name, or drop the old one.".into(),
            UowError::SetOffline { name, .. } => {
                format!("Bring it back with `holdfast recover --set {name}`.")
            }
            UowError::Converting { .. } => {
                "Wait until that is over, or have it go on with `holdfast rekey resume`.".into()
            }
            UowError::NotConverting { .. } | UowError::SameForm { .. } => {
                "There is nothing to do; `holdfast rekey status` lists what is under way.".into()
            }
            UowError::NoPool { .. } => "Define such a pool, or name one that exists.".into(),
            UowError::Damaged { .. } => "Run `holdfast verify`, then restore a copy.".into(),
            UowError::Control { remedy, .. } => (*remedy).into(),
            UowError::Anchor { .. } => "Put the newest state of the system back. If the anchor is \
                                        new, or what it proves is given up for good, say so: \
                                        `holdfast restart --begin-anchor DIR`."
                .into(),
            UowError::Protection { home, .. } => format!(
                "If nobody here has changed it, somebody else has: put the setting back. If less \
                 is wanted, bind it: `holdfast protect --accept -s {}`.",
                home.display()
            ),
            UowError::NotPermitted { .. } => FORGED_PERMIT.into(),
            UowError::SealedUnderPlainLog { .. } => FORGED_LOG.into(),
            UowError::PlainLogTakesNoSealed { .. } => SEAL_LOG_FIRST.into(),
            UowError::LogStaysSealed { names } => {
                let set = names.first().map_or("DATASET", String::as_str);
                format!(
                    "Leave the log sealed. If all is to be readable, put `[log] format` back, and \
                     make each plain first: `holdfast convert --set {set} --to plain`."
                )
            }
            UowError::Io { .. } => "Check the device, its space and the permissions.".into(),
            UowError::Stopped(error) => error.remedy(),
            UowError::NoSuchPool { known, .. } => format!("Name one of: {known}."),
            UowError::PoolUsed { sets, .. } => {
                let set = sets.first().map_or("DATASET", String::as_str);
                format!(
                    "Assign each to another pool first, one that `holdfast pool list` shows: \
                     `holdfast pool assign POOL {set}`."
                )
            }
            UowError::OtherUnit { unit_bytes, .. } => {
                format!("Name a pool with units of {unit_bytes} bytes; `holdfast pool list`.")
            }
            UowError::LastPool { .. } => "Add another pool with that unit first.".into(),
            UowError::Pool(error) => error.remedy(),
            UowError::Space(error) => error.remedy(),
            UowError::Lock(error) => error.remedy(),
            UowError::Log(error) => error.remedy(),
            UowError::Seal(error) => error.remedy(),
            UowError::DoubleWrite(error) => error.remedy(),
        }
    }
}

/// What to do about a plain data set that nobody with the key has made.
const FORGED_PERMIT: &str = "Somebody may have forged the log, which is plain: restore the system \
                             in a new folder from its archives and image copies, and have its log \
                             sealed.";
/// What to do about a sealed data set under a plain log.
const FORGED_LOG: &str = "Somebody may have forged the log, or put back one of a time at which it \
                          was plain: restore the system in a new folder from its archives and \
                          image copies, with `[log] format = \"sealed\"`.";
/// What to do before a data set can be sealed.
const SEAL_LOG_FIRST: &str = "Have the log sealed first: `[log] format = \"sealed\"` in \
                              holdfast.toml, and a start. Or leave the data set plain.";

impl From<std::io::Error> for UowError {
    fn from(source: std::io::Error) -> UowError {
        UowError::Io { what: "the operating system refuses".into(), source }
    }
}
