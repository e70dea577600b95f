//! The configuration of a system: `holdfast.toml`, made by `init`, edited by people.
//!
//! 1. A setting that this release does not know is an error that names its line; a setting that is
//!    left out has its default, which stands as a comment in the file that `init` writes.
//! 2. Paths are relative to the system's folder. Amounts of bytes are numbers or texts such as
//!    `"64 MiB"`.
//! 3. Nothing secret stands here, and nothing that must be believed: what it asks for is compared
//!    with what the control file binds (`protection`), and less is refused.

mod amqp;
mod archives;
mod asked;
mod channels;
mod databases;
mod door;
mod edit;
mod engine;
mod limits;
mod mqi;
mod online;
mod rest;
mod template;
mod warn;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::SystemId;
use lock::LockConfig;
use placement::{Compat, DatabaseSettings, RandomizerSettings};
use pool::WriterConfig;
use seal::Format;
use seam::disk::{Disk, read_small};
use serde::Deserialize;
use serde::de::Error as _;
use store_kernel::StoreDefaults;
use uow::{AnchorPlan, KernelConfig, PoolPlan};
use wal::{LogConfig, PlainSpan, WadsConfig};

use crate::SystemError;
pub use amqp::AmqpSettings;
pub use archives::ArchiveSettings;
pub use channels::ChannelSettings;
pub use databases::read_root_list;
pub use door::DoorCertificates;
pub(crate) use edit::ChangedConfig;
pub use engine::EngineSettings;
pub use mqi::MqiSettings;
pub use online::{MapSettings, OnlineSettings, ProgramMessages, RegionSettings};
pub use placement::Bytes;
pub use rest::RestSettings;
pub use warn::WarnSettings;

/// The name of the configuration within a system's folder.
pub const CONFIG_FILE: &str = "holdfast.toml";
/// The version of the configuration that this release writes.
const VERSION: u64 = 1;
/// No configuration is longer.
const FILE_BYTES_MAX: usize = 1 << 20;

/// A system's configuration.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemConfig {
    /// The version of the configuration's layout.
    pub version: u64,
    /// The identity of the system, drawn when it was made.
    #[serde(deserialize_with = "system_id")]
    pub system: SystemId,
    /// The engine that its databases are on; `None`: they are in the folder, in a kernel.
    #[serde(default)]
    pub engine: Option<EngineSettings>,
    /// The log.
    #[serde(default)]
    pub log: LogSettings,
    /// Proof elsewhere of how far the system has come.
    #[serde(default)]
    pub anchor: AnchorSettings,
    /// The archive of the log.
    #[serde(default)]
    pub archive: ArchiveSettings,
    /// Buffer pools by name.
    #[serde(default = "default_pools", rename = "pool")]
    pub pools: BTreeMap<String, PoolSettings>,
    /// What new data sets are like.
    #[serde(default)]
    pub data: DataSettings,
    /// Locks.
    #[serde(default)]
    pub locks: LockSettings,
    /// Limits of a unit of work.
    #[serde(default)]
    pub units: UnitSettings,
    /// When checkpoints are taken and pages written.
    #[serde(default)]
    pub checkpoint: CheckpointSettings,
    /// Sequential buffering.
    #[serde(default)]
    pub read_ahead: ReadAheadSettings,
    /// Keys.
    #[serde(default)]
    pub keys: KeySettings,
    /// RECON.
    #[serde(default)]
    pub recon: ReconSettings,
    /// When operators are warned.
    #[serde(default)]
    pub warn: WarnSettings,
    /// What randomizers do, by the names that DBDs and databases' settings use.
    #[serde(default, rename = "randomizer")]
    pub randomizers: BTreeMap<String, RandomizerSettings>,
    /// Databases, by the names of their DBDs.
    #[serde(default, rename = "database")]
    pub databases: BTreeMap<String, DatabaseSettings>,
    /// Rules of the host that a program could notice.
    #[serde(default)]
    pub compat: Compat,
    /// How a started system processes transactions.
    #[serde(default)]
    pub online: OnlineSettings,
    /// How a started system meets other queue managers.
    #[serde(default)]
    pub channels: ChannelSettings,
    /// Where clients of AMQP come in.
    #[serde(default)]
    pub amqp: AmqpSettings,
    /// Where programs of the message queue interface on other machines come in.
    #[serde(default)]
    pub mqi: MqiSettings,
    /// Where clients of REST come in.
    #[serde(default)]
    pub rest: RestSettings,
}

/// The section `[log]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogSettings {
    /// One folder, or two for dual logging.
    pub copies: Vec<PathBuf>,
    /// Files side by side.
    pub stripes: u8,
    /// Folders of stripes that have their own, one for each copy, from the second stripe on.
    pub stripe_folders: Vec<Vec<PathBuf>>,
    /// The length of a segment's file.
    pub segment_bytes: Bytes,
    /// Segments made at once.
    pub segments_min: u32,
    /// Segments at most.
    pub segments_max: u32,
    /// Memory in which records gather.
    pub ring_bytes: Bytes,
    /// The largest write.
    pub group_bytes_max: Bytes,
    /// `sealed` or `plain`.
    #[serde(deserialize_with = "format")]
    pub format: Format,
    /// Where plain groups are believed. No setting: the control file says it.
    #[serde(skip, default = "asked::no_span")]
    pub(crate) plain: PlainSpan,
    /// Folders of the write-ahead data set; none: commits wait for the log.
    pub write_ahead: Vec<PathBuf>,
    /// Bytes of each of its files.
    pub write_ahead_bytes: Bytes,
}

/// The section `[anchor]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnchorSettings {
    /// A file on another machine or in other hands; empty: there is no anchor.
    pub file: PathBuf,
}

/// A section `[pool.NAME]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolSettings {
    /// The unit of its intervals, in bytes.
    pub unit: Bytes,
    /// How much memory its frames take.
    pub bytes: Bytes,
    /// Data sets that were assigned to it after they were made.
    #[serde(default)]
    pub data_sets: Vec<String>,
}

/// The section `[data]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataSettings {
    /// `sealed` or `plain`.
    #[serde(deserialize_with = "format")]
    pub format: Format,
    /// Bytes of a control interval.
    pub interval_bytes: Bytes,
    /// Where files of data sets lie, in turn.
    pub folders: Vec<String>,
    /// Bytes of one file; 0: one file for all.
    pub file_bytes: Bytes,
}

/// The section `[locks]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LockSettings {
    /// Locks of all units of work together.
    pub locks_max: usize,
    /// Locks of one unit of work.
    pub locks_per_unit_max: usize,
    /// How long a wait lasts at most, in seconds; 0 for ever.
    pub timeout_seconds: u64,
}

/// The section `[units]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UnitSettings {
    /// A unit of work that spans more log is backed out (K15).
    pub log_bytes_max: Bytes,
    /// What of its undo is kept in memory (K23).
    pub undo_bytes_max: Bytes,
}

/// The section `[checkpoint]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckpointSettings {
    /// A checkpoint is taken after so much log.
    pub log_bytes: Bytes,
    /// And after so many seconds.
    pub interval_seconds: u64,
    /// Pages are written so that a restart has at most about so much log to redo.
    pub redo_bytes_max: Bytes,
    /// Pages are written when so many percent of a pool are changed.
    pub changed_percent_max: u8,
}

/// The section `[read_ahead]`: sequential buffering.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReadAheadSettings {
    /// Threads that read what lies ahead of scans, 64 at most. With 0 each interval is
    /// read when a program comes to it.
    pub threads: usize,
}

/// The section `[keys]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KeySettings {
    /// The key file.
    pub file: PathBuf,
}

/// The section `[recon]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReconSettings {
    /// The folder of the second copy.
    pub second: PathBuf,
}

impl Default for ReconSettings {
    fn default() -> ReconSettings {
        ReconSettings { second: ".".into() }
    }
}

impl LogSettings {
    /// The folders of stripes that have their own, of a system in `dir`.
    pub(crate) fn stripe_folders(&self, dir: &Path) -> Vec<Vec<PathBuf>> {
        let whole = |folders: &Vec<PathBuf>| folders.iter().map(|one| dir.join(one)).collect();
        self.stripe_folders.iter().map(whole).collect()
    }
}

impl Default for LogSettings {
    fn default() -> LogSettings {
        let log = LogConfig::new(vec!["log".into()]);
        LogSettings {
            copies: log.copies,
            stripes: log.stripes,
            stripe_folders: log.stripe_folders,
            segment_bytes: Bytes(log.segment_bytes),
            segments_min: log.segments_min,
            segments_max: log.segments_max,
            ring_bytes: Bytes(log.ring_bytes as u64),
            group_bytes_max: Bytes(log.group_bytes_max as u64),
            format: log.format,
            plain: log.plain,
            write_ahead: Vec::new(),
            write_ahead_bytes: Bytes(WadsConfig::new(Vec::new()).bytes),
        }
    }
}

impl Default for DataSettings {
    fn default() -> DataSettings {
        DataSettings {
            format: Format::Sealed,
            interval_bytes: Bytes(8192),
            folders: vec!["data".into()],
            file_bytes: Bytes(0),
        }
    }
}

impl Default for LockSettings {
    fn default() -> LockSettings {
        let locks = LockConfig::default();
        LockSettings {
            locks_max: locks.locks_max,
            locks_per_unit_max: locks.locks_per_owner_max,
            timeout_seconds: locks.timeout.map_or(0, |timeout| timeout.as_secs()),
        }
    }
}

impl Default for UnitSettings {
    fn default() -> UnitSettings {
        let kernel = KernelConfig::new(Path::new(""));
        UnitSettings {
            log_bytes_max: Bytes(kernel.uow_log_bytes_max),
            undo_bytes_max: Bytes(kernel.uow_undo_bytes_max as u64),
        }
    }
}

impl Default for CheckpointSettings {
    fn default() -> CheckpointSettings {
        let kernel = KernelConfig::new(Path::new(""));
        CheckpointSettings {
            log_bytes: Bytes(kernel.checkpoint_bytes),
            interval_seconds: kernel.checkpoint_interval.as_secs(),
            redo_bytes_max: Bytes(kernel.writer.redo_bytes_max),
            changed_percent_max: (kernel.writer.dirty_share_max * 100.0) as u8,
        }
    }
}

impl Default for ReadAheadSettings {
    fn default() -> ReadAheadSettings {
        ReadAheadSettings { threads: KernelConfig::new(Path::new("")).read_ahead_threads }
    }
}

impl Default for KeySettings {
    fn default() -> KeySettings {
        KeySettings { file: "holdfast.keys".into() }
    }
}

fn default_pools() -> BTreeMap<String, PoolSettings> {
    let plans = KernelConfig::new(Path::new("")).pools;
    let settings = |plan: &PoolPlan| PoolSettings {
        unit: Bytes(plan.unit_bytes as u64),
        bytes: Bytes((plan.unit_bytes * plan.frames) as u64),
        data_sets: Vec::new(),
    };
    plans.iter().map(|plan| (plan.name.clone(), settings(plan))).collect()
}

fn system_id<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<SystemId, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_system_id(&text).ok_or_else(|| D::Error::custom("a system has 32 hexadecimal digits"))
}

fn parse_system_id(text: &str) -> Option<SystemId> {
    let mut id = SystemId::default();
    if text.len() != 2 * id.0.len() || !text.is_ascii() {
        return None;
    }
    for (byte, digits) in id.0.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(id)
}

fn format<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Format, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "sealed" => Ok(Format::Sealed),
        "plain" => Ok(Format::Plain),
        other => Err(D::Error::custom(format!("\"{other}\" is neither \"sealed\" nor \"plain\""))),
    }
}

impl SystemConfig {
    /// The usual configuration of a system.
    #[must_use]
    pub fn new(system: SystemId) -> SystemConfig {
        SystemConfig {
            version: VERSION,
            system,
            engine: None,
            log: LogSettings::default(),
            anchor: AnchorSettings::default(),
            archive: ArchiveSettings::default(),
            pools: default_pools(),
            data: DataSettings::default(),
            locks: LockSettings::default(),
            units: UnitSettings::default(),
            checkpoint: CheckpointSettings::default(),
            read_ahead: ReadAheadSettings::default(),
            keys: KeySettings::default(),
            recon: ReconSettings::default(),
            warn: WarnSettings::default(),
            randomizers: BTreeMap::new(),
            databases: BTreeMap::new(),
            compat: Compat::default(),
            online: OnlineSettings::default(),
            channels: ChannelSettings::default(),
            amqp: AmqpSettings::default(),
            mqi: MqiSettings::default(),
            rest: RestSettings::default(),
        }
    }

    /// Reads the configuration of the system in `dir`, for work that needs a kernel. This is the
    /// one place where work without meaning for a system on an engine ends.
    ///
    /// # Errors
    /// [`SystemError::OnEngine`]; as [`SystemConfig::read_any`].
    pub fn read(disk: &dyn Disk, dir: &Path) -> Result<SystemConfig, SystemError> {
        let config = SystemConfig::read_any(disk, dir)?;
        match config.engine {
            None => Ok(config),
            Some(_) => Err(SystemError::OnEngine { dir: dir.to_owned() }),
        }
    }

    /// Reads the configuration of the system in `dir`, wherever its databases are.
    ///
    /// # Errors
    /// [`SystemError::NotASystem`], [`SystemError::Config`] with the line,
    /// [`SystemError::FutureConfig`].
    pub fn read_any(disk: &dyn Disk, dir: &Path) -> Result<SystemConfig, SystemError> {
        let path = dir.join(CONFIG_FILE);
        match disk.exists(&path) {
            Ok(true) => {}
            Ok(false) => return Err(SystemError::NotASystem { dir: dir.to_owned() }),
            Err(error) => return Err(SystemError::io("look for", &path, error)),
        }
        SystemConfig::read_file(disk, &path)
    }

    /// Reads a configuration that is to be a system's.
    ///
    /// # Errors
    /// As [`SystemConfig::read`].
    pub fn read_file(disk: &dyn Disk, path: &Path) -> Result<SystemConfig, SystemError> {
        let bytes = read_small(disk, path, FILE_BYTES_MAX)
            .map_err(|error| SystemError::io("read", path, error))?;
        SystemConfig::parse(&bytes, path)
    }

    fn parse(bytes: &[u8], path: &Path) -> Result<SystemConfig, SystemError> {
        let at = |line: usize, why: String| SystemError::Config { path: path.into(), line, why };
        let text = str::from_utf8(bytes).map_err(|error| {
            let line = line_of(bytes, error.valid_up_to());
            at(line, "it is not text in UTF-8".into())
        })?;
        // The version decides before anything that a later release may have added.
        if let Some(found) = version_of(text)
            && found > VERSION
        {
            return Err(SystemError::FutureConfig { path: path.into(), found });
        }
        let config: SystemConfig = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            at(line_of(bytes, start), error.message().replace('\n', " "))
        })?;
        config.check().map_err(|(setting, why)| at(line_with(text, setting), why))?;
        config.check_engine().map_err(|(setting, why)| at(line_with(text, setting), why))?;
        let checked = config.check_databases();
        checked.map_err(|(section, why)| at(line_with(text, &section), why))?;
        Ok(config)
    }

    /// The file as `init` writes it.
    #[must_use]
    pub fn to_text(&self) -> String {
        template::write(self)
    }

    /// Where the key file is.
    #[must_use]
    pub fn key_file(&self, dir: &Path) -> PathBuf {
        dir.join(&self.keys.file)
    }

    /// The folders of the log's copies.
    #[must_use]
    pub fn log_folders(&self, dir: &Path) -> Vec<PathBuf> {
        self.log.copies.iter().map(|copy| dir.join(copy)).collect()
    }

    /// The folders of the log's copies and of stripes that have their own.
    #[must_use]
    pub fn all_log_folders(&self, dir: &Path) -> Vec<PathBuf> {
        let own = self.log.stripe_folders(dir).into_iter().flatten();
        self.log_folders(dir).into_iter().chain(own).collect()
    }

    /// The write-ahead data set, if there is one.
    #[must_use]
    pub fn write_ahead(&self, dir: &Path) -> Option<WadsConfig> {
        let copies = self.log.write_ahead.iter().map(|folder| dir.join(folder)).collect();
        let wads = WadsConfig { copies, bytes: self.log.write_ahead_bytes.0 };
        (!wads.copies.is_empty()).then_some(wads)
    }

    /// The kernel's set-up for a system in `dir`.
    #[must_use]
    pub fn kernel(&self, dir: &Path) -> KernelConfig {
        let mut kernel = KernelConfig::new(dir);
        kernel.log = LogConfig {
            stripes: self.log.stripes,
            stripe_folders: self.log.stripe_folders(dir),
            segment_bytes: self.log.segment_bytes.0,
            segments_min: self.log.segments_min,
            segments_max: self.log.segments_max,
            ring_bytes: self.log.ring_bytes.0 as usize,
            group_bytes_max: self.log.group_bytes_max.0 as usize,
            format: self.log.format,
            plain: self.log.plain,
            wads: self.write_ahead(dir),
            ..LogConfig::new(self.log_folders(dir))
        };
        let plan = |(name, pool): (&String, &PoolSettings)| PoolPlan {
            name: name.clone(),
            unit_bytes: pool.unit.0 as usize,
            frames: (pool.bytes.0 / pool.unit.0) as usize,
        };
        kernel.pools = self.pools.iter().map(plan).collect();
        let assigned = self.pools.iter().flat_map(|(pool, settings)| {
            settings.data_sets.iter().map(|set| (set.clone(), pool.clone()))
        });
        kernel.assigned = assigned.collect();
        kernel.locks = LockConfig {
            locks_max: self.locks.locks_max.min(limits::LOCKS_MAX),
            locks_per_owner_max: self.locks.locks_per_unit_max,
            timeout: Some(self.locks.timeout_seconds).filter(|s| *s > 0).map(Duration::from_secs),
            ..LockConfig::default()
        };
        kernel.uow_log_bytes_max = self.units.log_bytes_max.0;
        kernel.uow_undo_bytes_max = self.units.undo_bytes_max.0 as usize;
        kernel.checkpoint_bytes = self.checkpoint.log_bytes.0.min(self.log_capacity() / 8);
        kernel.checkpoint_interval = Duration::from_secs(self.checkpoint.interval_seconds);
        kernel.writer = WriterConfig {
            redo_bytes_max: self.checkpoint.redo_bytes_max.0.min(self.log_capacity() / 4),
            dirty_share_max: f64::from(self.checkpoint.changed_percent_max) / 100.0,
            ..WriterConfig::default()
        };
        kernel.read_ahead_threads = self.read_ahead.threads;
        kernel.anchor = (!self.anchor.file.as_os_str().is_empty())
            .then(|| AnchorPlan { path: dir.join(&self.anchor.file), replaces: false });
        (kernel.asked, kernel.sealed_needs_sealed_log) = (self.asked_above(), true);
        kernel
    }

    /// What the log may hold. Long before it is full pages are written and checkpoints taken.
    fn log_capacity(&self) -> u64 {
        let files = u64::from(self.log.segments_max) * u64::from(self.log.stripes);
        files.saturating_mul(self.log.segment_bytes.0)
    }

    /// What a new set is given when its maker leaves it open.
    #[must_use]
    pub fn store_defaults(&self) -> StoreDefaults {
        StoreDefaults {
            interval_bytes: self.data.interval_bytes.0 as u32,
            format: self.data.format,
            folders: self.data.folders.clone(),
            file_bytes: self.data.file_bytes.0,
            ..StoreDefaults::default()
        }
    }

    /// What the layers below would take for granted. The log checks its own settings.
    fn check(&self) -> Result<(), (&'static str, String)> {
        if self.pools.is_empty() {
            return Err(("pool", "a system needs at least one pool".into()));
        }
        for (name, pool) in &self.pools {
            let Bytes(unit) = pool.unit;
            if unit == 0 || !unit.is_multiple_of(4096) || unit > 32_768 {
                return Err((
                    "unit",
                    format!(
                        "pool {name} has a unit of {unit} bytes; a multiple of 4096 up to 32768"
                    ),
                ));
            }
            let frames = pool.bytes.0 / unit;
            if !(FRAMES_MIN..=FRAMES_MAX).contains(&frames) {
                return Err((
                    "bytes",
                    format!("pool {name} would have {frames} frames; {FRAMES_MIN} to {FRAMES_MAX}"),
                ));
            }
        }
        let mut assigned: Vec<&String> =
            self.pools.values().flat_map(|pool| &pool.data_sets).collect();
        assigned.sort();
        if let Some(twice) = assigned.windows(2).find(|two| two[0] == two[1]) {
            return Err(("data_sets", format!("{} is assigned twice", twice[0])));
        }
        let interval = u32::try_from(self.data.interval_bytes.0).unwrap_or(u32::MAX);
        if !space::definition::is_ci_size(interval) {
            let why = format!("{interval} is no control interval size; 512 to 32768 bytes");
            return Err(("interval_bytes", why));
        }
        let unit = space::definition::unit_of(interval);
        if !self.pools.values().any(|pool| pool.unit.0 == unit as u64) {
            return Err(("interval_bytes", format!("no pool has units of {unit} bytes")));
        }
        if !(1..=100).contains(&self.checkpoint.changed_percent_max) {
            return Err(("changed_percent_max", "it is 1 to 100 percent".into()));
        }
        if self.read_ahead.threads > READ_AHEAD_THREADS_MAX {
            return Err(("threads", format!("it is 0 to {READ_AHEAD_THREADS_MAX}")));
        }
        if self.data.folders.is_empty() || self.data.folders.len() > 64 {
            return Err(("folders", "data sets lie in 1 to 64 folders".into()));
        }
        if !(1..=2).contains(&self.log.copies.len()) {
            return Err(("copies", "a log has one or two copies".into()));
        }
        if let Some(Err(error)) = self.archive(Path::new("")).map(|archive| archive.check()) {
            return Err(("archive", error.to_string()));
        }
        self.check_online()?;
        self.check_channels()?;
        self.check_amqp()?;
        self.check_mqi()?;
        self.check_rest()
    }
}

const FRAMES_MIN: u64 = pool::FRAMES_MIN as u64;
const FRAMES_MAX: u64 = 1 << 28;
/// More threads than any device keeps busy.
const READ_AHEAD_THREADS_MAX: usize = 64;

fn version_of(text: &str) -> Option<u64> {
    #[derive(Deserialize)]
    struct Only {
        version: Option<u64>,
    }
    toml::from_str::<Only>(text).ok()?.version
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    1 + bytes[..at.min(bytes.len())].iter().filter(|byte| **byte == b'\n').count()
}

/// The line that sets something, or begins a section of that name, or the first.
fn line_with(text: &str, setting: &str) -> usize {
    let sets = |line: &str| {
        let line = line.trim_start().trim_start_matches('[');
        let rest = line.strip_prefix(setting);
        rest.is_some_and(|rest| rest.trim_start().starts_with(['=', '.', ']']))
    };
    text.lines().position(sets).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests;
