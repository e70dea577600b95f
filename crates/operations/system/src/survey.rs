//! A look at a stopped system through its control file and its log: which data sets there are,
//! what a restart would find. Nothing is written, no file is opened for writing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use archive::LogBegins;
use base::{GroupNumber, Lsn, UowId};
use seal::{KeyProvider, Keyset, Passphrase};
use seam::Seam;
use seam::disk::HeldLock;
use seam::stop::StopSwitch;
use space::Definition;
use uow::checkpoint::{Checkpoint, Gathered};
use uow::control::{ControlBlock, ControlFile, ControlKeys, refused_by_log};
use uow::record::{CatalogRecord, KernelRecord};
use uow::{Catalog, Lowered, Protection, UowError};
use wal::{Beginning, GroupInfo, LogEnv, LogEvents, LogStart, Record, Scanned};

use crate::bound::{self, ProtectionStatus};
use crate::error::explain;
use crate::keyset::open_keys;
use crate::lock::{absolute, lock};
use crate::shadow::without_writes;
use crate::status::{
    DataSetStatus, SegmentStatus, StaleCopy, StoppedStatus, SystemStatus, offline_note, paused_note,
};
use crate::{SystemConfig, SystemError, hygiene};

/// A stopped system, locked against being opened, and seen through a disk that forgets writes.
pub struct Stopped {
    pub(crate) dir: PathBuf,
    pub(crate) config: SystemConfig,
    pub(crate) keys: Arc<Keyset>,
    /// What its bytes must prove, if its control file can be read.
    pub(crate) bound: Option<Protection>,
    /// Where its configuration asks for less.
    pub(crate) lowered: Vec<Lowered>,
    /// The outside, with every write kept in memory.
    pub(crate) seam: Seam,
    _lock: Box<dyn HeldLock>,
}

/// What the control file and the log say.
#[derive(Clone, Debug)]
pub struct LogSurvey {
    /// The control block.
    pub control: ControlBlock,
    /// Where the last whole record ends.
    pub end: Lsn,
    /// The newest checkpoint.
    pub checkpoint: Checkpoint,
    /// Records from the oldest that restart reads.
    pub records: u64,
    /// Groups that hold them.
    pub groups: u64,
    /// The last of them.
    pub last_group: GroupNumber,
    /// Where the oldest segment begins that is still there; restart may need less.
    pub oldest: Option<LogBegins>,
    /// The segments' files, in order, on the copy that they were read from.
    pub segments: Vec<SurveyedSegment>,
    /// Groups that one copy lacks.
    pub damages: Vec<LogDamage>,
    /// Groups that no copy has and no start needs, and where the log goes on.
    pub passed: Vec<(LogDamage, Lsn)>,
    /// Files that are shorter than a segment, and how long they are.
    pub short: Vec<(PathBuf, u64)>,
    /// Copies that cannot be used at all.
    pub lost: Vec<LostLogCopy>,
    /// Which data sets a restart would find.
    pub catalog: Catalog,
    /// Units of work that a restart backs out, and where each begins.
    pub in_flight: BTreeMap<UowId, Lsn>,
}

/// A file of a segment, as far as the scan went through it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurveyedSegment {
    /// The file.
    pub path: PathBuf,
    /// Its first group that was looked at.
    pub first_group: GroupNumber,
    /// How many stripes the segment has.
    pub stripes: u8,
    /// Where that begins.
    pub first: Lsn,
    /// Where its last group ends.
    pub end: Lsn,
    /// Groups in it.
    pub groups: u64,
    /// Their bytes on disk.
    pub disk_bytes: u64,
}

/// A group that a copy of the log lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogDamage {
    /// The group.
    pub number: GroupNumber,
    /// The file that should hold it.
    pub path: PathBuf,
    /// Where in the file.
    pub offset: u64,
    /// What is wrong there.
    pub why: String,
}

/// A copy of the log that cannot be used, while another one can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostLogCopy {
    /// Which one, from 1.
    pub number: u8,
    /// Its folder.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

/// The log seals at most so many groups for each stripe before the first of them is durable.
const GROUPS_IN_FLIGHT_PER_STRIPE: u64 = 2;

impl Stopped {
    /// Locks a stopped system and opens its key file.
    ///
    /// # Errors
    /// [`SystemError::InUse`]; whatever is wrong with configuration or key file.
    pub fn look(seam: &Seam, dir: &Path, passphrase: &Passphrase) -> Result<Stopped, SystemError> {
        let notes = hygiene::protect_process();
        drop(notes); // Nothing depends on it here; `status` of a running system shows them.
        let dir = absolute(seam, dir)?;
        SystemConfig::read(seam.disk.as_ref(), &dir)?;
        let lock = lock(seam, &dir)?;
        // Again: whoever held the lock before may have changed it.
        let config = SystemConfig::read(seam.disk.as_ref(), &dir)?;
        let keys = Arc::new(open_keys(seam, &dir, &config, passphrase)?);
        Ok(Stopped::around(dir, config, keys, without_writes(seam), lock))
    }

    /// What is left of a system, as somebody has found it; `seam` writes to no disk.
    pub(crate) fn around(
        dir: PathBuf,
        mut config: SystemConfig,
        keys: Arc<Keyset>,
        seam: Seam,
        lock: Box<dyn HeldLock>,
    ) -> Stopped {
        let (bound, lowered) = bound::look(&seam, &dir, &mut config, &keys);
        Stopped { dir, config, keys, bound, lowered, seam, _lock: lock }
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &SystemConfig {
        &self.config
    }

    /// The keyset.
    #[must_use]
    pub fn keys(&self) -> &Arc<Keyset> {
        &self.keys
    }

    /// The newest control block that proves itself.
    ///
    /// # Errors
    /// If none does.
    pub fn control(&self) -> Result<ControlBlock, SystemError> {
        Ok(self.control_file()?.1)
    }

    fn control_file(&self) -> Result<(ControlFile, ControlBlock), SystemError> {
        let keys = ControlKeys {
            keys: Arc::clone(&self.keys) as Arc<dyn KeyProvider>,
            label: self.config.kernel(&self.dir).system_label,
            system: self.config.system,
        };
        Ok(ControlFile::open(&self.seam, &self.dir.join("control"), &keys)?)
    }

    /// Compares the control file with the anchor, if the system has one; says where that is.
    ///
    /// # Errors
    /// The control file cannot be read; it was put back, or the anchor is gone.
    pub fn prove_anchor(&self) -> Result<Option<PathBuf>, SystemError> {
        let Some(plan) = self.config.kernel(&self.dir).anchor else { return Ok(None) };
        self.control_file()?.0.anchor_to(&plan)?;
        Ok(Some(plan.path))
    }

    /// Goes through the log from where restart would read it, and shows every record and group to
    /// `visit` on the way.
    ///
    /// # Errors
    /// Damage that no copy can repair; a log that was cut or put back.
    pub fn survey(&self, visit: &mut dyn FnMut(&Scanned<'_>)) -> Result<LogSurvey, SystemError> {
        let control = self.control()?;
        let kernel = self.config.kernel(&self.dir);
        let env = self.log_env();
        let start = LogStart {
            from: control.needed_from,
            proven: control.proven,
            stale: control.stale,
            ahead: control.ahead,
            ..LogStart::NEW
        };
        let mut surveyor = Surveyor::new(&control);
        let end = wal::scan(&env, &kernel.log, &start, &mut |scanned| {
            surveyor.see(&scanned);
            visit(&scanned);
        });
        let refused = |error| match error {
            gone @ wal::LogError::Gone { .. } => {
                SystemError::Kernel(refused_by_log(&self.dir.join("control"), gone))
            }
            other => other.into(),
        };
        let end = end.map_err(refused)?;
        surveyor.finish(control, end)
    }

    fn log_env(&self) -> LogEnv {
        LogEnv {
            seam: self.seam.clone(),
            keys: Arc::clone(&self.keys) as Arc<dyn KeyProvider>,
            system: self.config.system,
            stop: Arc::new(StopSwitch::default()),
            events: Arc::new(NoEvents),
        }
    }

    /// The files of the write-ahead data set, which `holds` what the log lacks since that
    /// beginning: how many entries prove themselves in each, or why it cannot be used.
    #[must_use]
    pub fn look_ahead(&self, holds: Option<Beginning>) -> Vec<(PathBuf, Result<u64, String>)> {
        wal::look_ahead(&self.log_env(), &self.config.kernel(&self.dir).log, holds)
    }

    /// How the system is.
    ///
    /// # Errors
    /// As [`Stopped::survey`].
    pub fn status(&self) -> Result<SystemStatus, SystemError> {
        let survey = self.survey(&mut |_| ())?;
        let orderly = survey.is_orderly();
        let status = Box::new(self.stopped_status(&survey));
        Ok(match orderly {
            true => SystemStatus::StoppedInOrder(status),
            false => SystemStatus::NeedsRestart(status),
        })
    }

    fn stopped_status(&self, survey: &LogSurvey) -> StoppedStatus {
        let control = &survey.control;
        let copies = self.config.log_folders(&self.dir);
        let stale_copy = control.stale.map(|(copy, from)| StaleCopy {
            path: copies.get(usize::from(copy)).map_or(String::new(), |p| p.display().to_string()),
            from_group: from.0,
        });
        let damage = |damage: &LogDamage| {
            let LogDamage { number, path, offset, why } = damage;
            format!("{number}: {} at {offset}: {why}", path.display())
        };
        let damages = survey.damages.iter().chain(survey.passed.iter().map(|(one, _)| one));
        let offline = survey.catalog.offline().map(|set| offline_note(&set.name));
        let paused = survey.catalog.existing().filter_map(paused_note);
        let lost = survey.lost.iter().map(|lost| {
            let LostLogCopy { number, path, why } = lost;
            format!("copy {number}, {}, cannot be used: {why}", path.display())
        });
        StoppedStatus {
            system: self.config.system.to_string(),
            dir: self.dir.display().to_string(),
            written_utc_us: control.utc_us,
            log_end: survey.end.0,
            restart_from: control.needed_from.0,
            redo_from: survey.checkpoint.redo.0,
            records: survey.records,
            units_in_flight: survey.in_flight.keys().map(|uow| uow.0).collect(),
            stale_copy,
            segments: survey.segments.iter().map(segment).collect(),
            data_sets: survey.catalog.open().map(|(_, set)| self.data_set(set)).collect(),
            damages: lost.chain(damages.map(damage)).collect(),
            notes: self.lowered_note().into_iter().chain(offline).chain(paused).collect(),
            protection: self.bound.as_ref().map(ProtectionStatus::of),
        }
    }

    /// Why the next start is refused, if its configuration asks for less than what is bound.
    pub(crate) fn lowered_note(&self) -> Option<String> {
        let (home, lowered) = (self.dir.clone(), self.lowered.clone());
        (!lowered.is_empty())
            .then(|| explain(&UowError::Protection { home, lowered }).replace('\n', ". "))
    }

    fn data_set(&self, definition: &Definition) -> DataSetStatus {
        let (_, intervals) = self.files(definition);
        DataSetStatus { intervals, ..DataSetStatus::of_definition(definition) }
    }

    /// Whether a group may have been in flight when the log ended: then nobody was told of it, and
    /// it need not be on every copy.
    pub(crate) fn was_in_flight(&self, survey: &LogSurvey, number: GroupNumber) -> bool {
        let stripes = survey.segments.last().map_or(1, |segment| segment.stripes);
        let lanes = u64::from(stripes);
        number.0 + GROUPS_IN_FLIGHT_PER_STRIPE * lanes > survey.last_group.0
    }

    /// The files of a data set with their lengths, and how many whole intervals they hold.
    pub(crate) fn files(&self, definition: &Definition) -> (Vec<(PathBuf, u64)>, u32) {
        let unit = definition.unit_bytes() as u64;
        let mut files = Vec::new();
        let mut intervals = 0;
        for number in 0.. {
            let path = self.dir.join(definition.file_name(number));
            let how = seam::disk::Open::READ;
            let Ok(len) = self.seam.disk.open(&path, how).and_then(|file| file.len()) else {
                break;
            };
            files.push((path, len));
            intervals += len / unit;
            let full = len / unit >= u64::from(definition.file_intervals);
            if definition.file_intervals == 0 || !full {
                break;
            }
        }
        (files, u32::try_from(intervals).unwrap_or(u32::MAX))
    }
}

impl LogSurvey {
    /// Whether the system was stopped in order, or never started: a restart has nothing to do.
    #[must_use]
    pub fn is_orderly(&self) -> bool {
        let untouched = self.control.checkpoint == Lsn::NONE && self.records == 0;
        (self.control.orderly || untouched) && self.in_flight.is_empty()
    }
}

fn segment(segment: &SurveyedSegment) -> SegmentStatus {
    let name = segment.path.file_stem().map(|name| name.to_string_lossy().into_owned());
    SegmentStatus {
        name: name.unwrap_or_default(),
        first_lsn: segment.first.0,
        end_lsn: Some(segment.end.0),
        first_group: segment.first_group.0,
        stripes: segment.stripes,
        current: false,
    }
}

/// A scan changes nothing, so nothing can be lost on the way.
struct NoEvents;

impl LogEvents for NoEvents {
    fn copy_lost(&self, _copy: u8, _from: GroupNumber, _why: &str) -> Result<(), String> {
        Err("the log is only being looked at".into())
    }

    fn copy_back(&self, _: u8) -> Result<(), String> {
        Ok(())
    }
}

/// Puts a survey together from what a scan meets.
struct Surveyor {
    from: Lsn,
    checkpoint_at: Lsn,
    gathered: Gathered,
    checkpoint: Option<Result<Checkpoint, String>>,
    records: u64,
    groups: u64,
    last_group: GroupNumber,
    oldest: Option<LogBegins>,
    segments: Vec<SurveyedSegment>,
    damages: Vec<LogDamage>,
    passed: Vec<(LogDamage, Lsn)>,
    short: Vec<(PathBuf, u64)>,
    lost: Vec<LostLogCopy>,
    /// What the log says of data sets, and where it says it.
    changes: Vec<(Lsn, CatalogRecord)>,
    in_flight: BTreeMap<UowId, Lsn>,
    /// The first record that does not decode.
    fault: Option<UowError>,
}

impl Surveyor {
    fn new(control: &ControlBlock) -> Surveyor {
        Surveyor {
            from: control.needed_from,
            checkpoint_at: control.checkpoint,
            gathered: Gathered::default(),
            checkpoint: None,
            records: 0,
            groups: 0,
            last_group: GroupNumber(0),
            oldest: None,
            segments: Vec::new(),
            damages: Vec::new(),
            passed: Vec::new(),
            short: Vec::new(),
            lost: Vec::new(),
            changes: Vec::new(),
            in_flight: BTreeMap::new(),
            fault: None,
        }
    }

    fn see(&mut self, scanned: &Scanned<'_>) {
        match scanned {
            Scanned::Oldest { group, first } => {
                self.oldest = Some(LogBegins { group: *group, lsn: *first });
            }
            Scanned::Group(group) => self.group(group),
            Scanned::Record(record) => {
                // A scan begins where the segment does; a restart reads less.
                self.records += u64::from(record.lsn >= self.from);
                match KernelRecord::of(record) {
                    Ok(decoded) => self.record(record, decoded),
                    Err(error) => drop(self.fault.get_or_insert(error)),
                }
            }
            Scanned::Damage { number, path, offset, why } => self.damages.push(LogDamage {
                number: *number,
                path: path.clone(),
                offset: *offset,
                why: why.clone(),
            }),
            Scanned::Passed { number, path, offset, why, end } => {
                let (number, path, offset, why) = (*number, path.clone(), *offset, why.clone());
                self.passed.push((LogDamage { number, path, offset, why }, *end));
            }
            Scanned::Short { path, len } => self.short.push((path.clone(), *len)),
            Scanned::Lost { copy, path, why } => self.lost.push(LostLogCopy {
                number: copy + 1,
                path: path.clone(),
                why: why.clone(),
            }),
        }
    }

    fn group(&mut self, group: &GroupInfo) {
        self.groups += 1;
        self.last_group = group.number;
        let known = self.segments.iter_mut().rev().find(|segment| segment.path == group.path);
        match known {
            Some(segment) if group.number >= segment.first_group => {
                segment.end = group.end;
                segment.groups += 1;
                segment.disk_bytes += group.disk_bytes;
            }
            _ => self.segments.push(SurveyedSegment {
                path: group.path.clone(),
                first_group: group.number,
                stripes: group.stripes,
                first: group.first,
                end: group.end,
                groups: 1,
                disk_bytes: group.disk_bytes,
            }),
        }
    }

    fn record(&mut self, record: &Record<'_>, decoded: KernelRecord<'_>) {
        match decoded {
            KernelRecord::Commit { .. } | KernelRecord::BackedOut { .. } => {
                self.in_flight.remove(&record.uow);
            }
            // It names the unit of work that has freed the interval, long committed.
            KernelRecord::TakenBack(_) => {}
            KernelRecord::Checkpoint(part) => {
                if record.lsn >= self.checkpoint_at && self.checkpoint.is_none() {
                    self.checkpoint = self.gathered.part(&part).transpose();
                }
            }
            KernelRecord::Catalog(change) => self.changes.push((record.lsn, change)),
            KernelRecord::FreesAtCommit(_)
            | KernelRecord::UndoEnd(_)
            | KernelRecord::UndoSkipped(_)
            | KernelRecord::GivenOut(_)
            | KernelRecord::Write(_)
            | KernelRecord::Change(_) => {
                if record.uow != UowId::NONE {
                    self.in_flight.entry(record.uow).or_insert(record.lsn);
                }
            }
        }
    }

    fn finish(self, control: ControlBlock, end: Lsn) -> Result<LogSurvey, SystemError> {
        if let Some(fault) = self.fault {
            return Err(SystemError::Kernel(fault));
        }
        let at = self.checkpoint_at;
        let checkpoint = match self.checkpoint {
            _ if at == Lsn::NONE => Ok(Checkpoint::initial()),
            Some(gathered) => gathered,
            None => Err("it is not whole".into()),
        };
        let object = || format!("the checkpoint at {at}");
        let checkpoint = checkpoint
            .map_err(|why| SystemError::Kernel(UowError::Damaged { object: object(), why }))?;
        let mut catalog = Catalog::at(&checkpoint);
        self.changes.iter().for_each(|(lsn, change)| catalog.apply(*lsn, change));
        catalog.end_building();
        Ok(LogSurvey {
            control,
            end,
            checkpoint,
            records: self.records,
            groups: self.groups,
            last_group: self.last_group,
            oldest: self.oldest,
            segments: self.segments,
            damages: self.damages,
            passed: self.passed,
            short: self.short,
            lost: self.lost,
            catalog,
            in_flight: self.in_flight,
        })
    }
}

#[cfg(test)]
mod tests;
