//! The proof of a system: every byte that it would rely on is read and held against what proves it.
//! Nothing on disk is changed.
//!
//! | what | how it is proven |
//! |---|---|
//! | key file | checksum, master key, list of keys |
//! | control file | both slots |
//! | log | every group on every copy: stopped, from where a restart would read; in use, all |
//! | write-ahead data set | what only it has |
//! | double-write area | both slots, and every interval in them |
//! | data sets | each interval in use: tag, place, the freshness map, structure; then the tree |
//! | RECON | both copies |
//! | archives, accumulations, image copies | every file, from front to back |
//!
//! The data sets of a system that was not stopped in order are proven as a restart would leave
//! them: a dry run of the restart is made in memory, by the kernel itself, on a disk that forgets.
//! If that fails, what can be proven without it is: tags and places of all intervals.
//!
//! | file | owns |
//! |---|---|
//! | `mod` | the proof of a stopped system |
//! | `running` | the proof of a system in use |
//! | `finding` | what is found, what repairs it, who watches |
//! | `data_set`, `double_write`, `logs`, `recovery_files` | the proof of one kind of object |
//! | `audit` | what archives, RECON and the log say of each other |
//! | `repair` | what a system in use writes again |

pub(crate) mod audit;
mod data_set;
mod double_write;
mod finding;
mod logs;
mod recovery_files;
pub(crate) mod repair;
mod running;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use base::CiNumber;
use pool::PoolError;
use pool::dirty::DirtyQueue;
use pool::sequential::ReadAhead;
use pool::{Backing as _, Pool, PoolConfig};
use seal::{KeyProvider, PageSealer, Passphrase, SealError};
use seam::Seam;
use seam::disk::{BLOCK, Open};
use seam::mem::AlignedBuf;
use seam::owner::MARK;
use seam::stop::StopSwitch;
use space::{DataSet, Definition, Environment, SpaceError};
use uow::{Kernel, Lowered, Parts, Protection, UowError};

use crate::bound::ProtectionStatus;
use crate::create::parts;
use crate::lock::absolute;
use crate::protection;
use crate::remedy::Repair;
use crate::shadow::ShadowDisk;
use crate::status::paused_note;
use crate::{LABELS, LogSurvey, Stopped, SystemConfig, SystemError};
pub use audit::ArchiveDiscord;
pub use data_set::SetReport;
use double_write::Area;
pub use finding::{Finding, Phase, VerifyReport};
use finding::{Hurt, Verifier, Watch, plain_finding};
pub(crate) use recovery_files::unfinished_copies;
pub use repair::{RepairRequest, Repaired};
pub use running::VerifyRequest;

/// Verifies the stopped system in `dir`. What is damaged is in the report, not an error.
///
/// # Errors
/// If it cannot be begun: no system, in use, a configuration with a mistake, a wrong passphrase.
pub fn verify(
    seam: &Seam,
    dir: &Path,
    passphrase: &Passphrase,
    progress: &mut dyn FnMut(Phase<'_>),
) -> Result<VerifyReport, SystemError> {
    let start = seam.clock.monotonic();
    let dir = &absolute(seam, dir)?;
    let mut verifier = Verifier::new(dir, None);
    let mut tell = |phase: Phase<'_>| {
        progress(phase);
        true
    };
    let watch = &mut Watch::new(&seam.clock, 0, &mut tell);
    watch.step(Phase { object: "key file", done: 0, total: 1, unit: "files" }, 0);
    match Stopped::look(seam, dir, passphrase) {
        Ok(stopped) => {
            verifier.report.system = stopped.config.system.to_string();
            verifier.report.keys = stopped.keys.list().len();
            verifier.protection(stopped.bound.as_ref(), &stopped.lowered);
            let site = recovery_files::Site::of_stopped(&stopped);
            let of_recon = verifier.recon(&site);
            verifier.whole(&stopped, watch);
            verifier.tell_recon(of_recon);
            verifier.archives(&site, watch);
            verifier.image_copies(&site, watch);
            verifier.join_recoveries();
        }
        Err(SystemError::Keys(error)) if is_about_the_file(&error) => {
            let file = SystemConfig::read(seam.disk.as_ref(), dir)?.key_file(dir);
            verifier.of_error("key file", Some(file), &error, Vec::new());
            verifier.note("without keys nothing else can be proven");
        }
        Err(other) => return Err(other),
    }
    let mut report = verifier.report;
    report.elapsed_ms = (seam.clock.monotonic() - start).as_millis() as u64;
    Ok(report)
}

fn is_about_the_file(error: &SealError) -> bool {
    matches!(
        error,
        SealError::NoKeyFile { .. }
            | SealError::ForeignKeyFile { .. }
            | SealError::FutureKeyFile { .. }
            | SealError::DamagedKeyFile { .. }
            | SealError::AlteredKeyFile { .. }
            | SealError::OtherSystem { .. }
            | SealError::KeyFileUnread { .. }
    )
}

impl Verifier {
    fn whole(&mut self, stopped: &Stopped, watch: &mut Watch<'_>) {
        watch.step(Phase { object: "control file", done: 0, total: 1, unit: "files" }, 0);
        if let Err(error) = stopped.control() {
            self.of_error("control file", Some(stopped.dir.join("control")), &error, Vec::new());
            self.note(
                "log and data sets were not looked at: only the control file says where they begin",
            );
            return;
        }
        let Some(survey) = self.log(stopped, watch) else {
            self.note("data sets were not looked at: the log that says which there are is damaged");
            return;
        };
        self.report.orderly = survey.is_orderly();
        self.control_slots(stopped, &survey);
        let definition = |id| survey.catalog.get(id).cloned();
        self.double_write(&Area {
            seam: &stopped.seam,
            config: &stopped.config,
            keys: &(Arc::clone(&stopped.keys) as Arc<dyn KeyProvider>),
            path: &stopped.dir.join("double-write"),
            orderly: survey.is_orderly(),
            definition: &definition,
        });
        self.strangers(stopped, &survey);
        survey.catalog.offline().for_each(|definition| self.offline(definition));
        survey.catalog.existing().filter_map(paused_note).for_each(|paused| self.note(paused));
        watch.step(Phase { object: "restart", done: 0, total: 1, unit: "dry runs" }, 0);
        let restarted = seam::thread::catch(|| dry_run(stopped, &[]));
        match restarted {
            Ok(Ok(kernel)) => {
                self.note_dry_run(&survey, &kernel);
                for set in kernel.all_sets() {
                    self.data_set(&set, Some(&kernel), survey.is_orderly(), watch);
                }
                kernel.abandon();
            }
            Ok(Err(error)) => {
                self.of_restart(&survey, &error);
                self.without_restart(stopped, &survey, watch);
                self.behind_the_first(stopped, &survey, error);
            }
            Err(panic) => {
                let why = format!("a restart would end with a broken invariant: {panic}");
                self.find(plain_finding("restart", why, "Restore a copy of the system."));
                self.without_restart(stopped, &survey, watch);
            }
        }
    }

    /// What is bound, and where the configuration asks for less: no start would take it.
    pub(super) fn protection(&mut self, bound: Option<&Protection>, lowered: &[Lowered]) {
        self.report.protection = bound.map(ProtectionStatus::of);
        for one in lowered {
            let accept = self.command("protect", &["--accept"]);
            self.find(Finding {
                object: "configuration".into(),
                file: Some(self.dir.join(crate::CONFIG_FILE)),
                offset: None,
                interval: None,
                what: format!("{one}: the next start is refused"),
                remedy: format!(
                    "Put the setting back: somebody may have changed it. If less is wanted, bind \
                     it: `{accept}`."
                ),
                repair: Vec::new(),
            });
        }
    }

    fn log(&mut self, stopped: &Stopped, watch: &mut Watch<'_>) -> Option<LogSurvey> {
        let mut groups = 0;
        let survey = stopped.survey(&mut |scanned| {
            if let wal::Scanned::Group(_) = scanned {
                groups += 1;
                watch.step(Phase { object: "log", done: groups, total: 0, unit: "groups" }, 0);
            }
        });
        let survey = match survey {
            Ok(survey) => survey,
            Err(error) => {
                self.stopped_log(stopped, &error);
                return None;
            }
        };
        (self.report.log_groups, self.report.log_records) = (survey.groups, survey.records);
        self.log_begins = survey.oldest;
        if let Some(beginning) = survey.control.ahead {
            self.stopped_ahead(stopped, beginning);
        }
        for damage in &survey.damages {
            if !survey.is_orderly() && stopped.was_in_flight(&survey, damage.number) {
                self.note(format!(
                    "{} was being written when the system ended: {} lacks it",
                    damage.number,
                    damage.path.display()
                ));
                continue;
            }
            self.find(Finding {
                object: format!("log, {}", damage.number),
                file: Some(damage.path.clone()),
                offset: Some(damage.offset),
                interval: None,
                what: damage.why.clone(),
                remedy: "The other copy has it: a start copies it; look at the device.".into(),
                repair: vec![self.restart()],
            });
        }
        self.passed_groups(stopped, &survey);
        self.short_segments(&survey);
        self.lost_copies(&survey);
        let is_lost = |copy: u8| survey.lost.iter().any(|lost| lost.number == copy + 1);
        if let Some((copy, from)) = survey.control.stale.filter(|(copy, _)| !is_lost(*copy)) {
            let copies = stopped.config.log_folders(&stopped.dir);
            let path = copies.get(usize::from(copy)).map(|p| p.display().to_string());
            self.note(format!(
                "log copy {} is recorded as stale from {from} on: the next start makes it anew",
                path.unwrap_or_default()
            ));
        }
        Some(survey)
    }

    /// A file of the log is as long as a segment from the moment it is used.
    fn short_segments(&mut self, survey: &LogSurvey) {
        for (path, len) in &survey.short {
            if !survey.is_orderly() {
                self.note(format!("{} may have been in the making: {len} bytes", path.display()));
                continue;
            }
            self.find(Finding {
                object: "log".into(),
                file: Some(path.clone()),
                offset: Some(*len),
                interval: None,
                what: format!("the file ends after {len} bytes: it was cut short"),
                remedy: "A start fills it from the other copy; look at the device.".into(),
                repair: vec![self.restart()],
            });
        }
    }

    /// The newest slot of the control file has proven itself; does the other one, too?
    fn control_slots(&mut self, stopped: &Stopped, survey: &LogSurvey) {
        let path = stopped.dir.join("control");
        let file = stopped.seam.disk.open(&path, Open::DATA);
        let len = file.and_then(|file| file.len()).unwrap_or(0);
        for (slot, error) in damaged_slots(stopped) {
            // A crash tears a slot that is being written, but it never makes the file shorter.
            let is_there = (slot + 1) * BLOCK as u64 <= len;
            if is_there && !survey.is_orderly() {
                self.note(format!("slot {slot} of the control file was being written: {error}"));
                continue;
            }
            self.control_slot(slot, &error);
        }
    }

    /// A slot of the control file that is damaged.
    fn control_slot(&mut self, slot: u64, error: &SystemError) {
        let repair = vec![self.command("repair", &["--control"])];
        self.find(Finding {
            object: "control file".into(),
            file: Some(self.dir.join("control")),
            offset: Some(slot * BLOCK as u64),
            interval: None,
            what: format!("slot {slot} is damaged: {error}"),
            remedy: "Have it written anew; look at the device.".into(),
            repair,
        });
    }

    /// What is wrong with RECON; after a crash one copy may lack what was being written.
    fn tell_recon(&mut self, findings: Vec<(Finding, bool)>) {
        for (finding, of_crash) in findings {
            match self.report.orderly || !of_crash {
                true => self.find(finding),
                false => self.note(format!("a start repairs RECON: {}", finding.what)),
            }
        }
    }

    /// `holdfast restart DIR`.
    fn restart(&self) -> Repair {
        Repair(["holdfast", "restart", &self.dir.display().to_string()].map(str::to_owned).into())
    }

    /// Files in the data sets' folders that belong to none.
    fn strangers(&mut self, stopped: &Stopped, survey: &LogSurvey) {
        let mut known = BTreeSet::new();
        let mut folders = BTreeSet::new();
        for definition in survey.catalog.existing() {
            folders.extend(definition.folders.iter().map(|folder| stopped.dir.join(folder)));
        }
        // A restart removes the files of what is gone, and of what was being built.
        for definition in survey.catalog.existing().chain(survey.catalog.gone()) {
            known.extend(stopped.files(definition).0.into_iter().map(|(path, _)| path));
        }
        folders.extend(stopped.config.data.folders.iter().map(|folder| stopped.dir.join(folder)));
        for folder in folders {
            for name in stopped.seam.disk.list(&folder).unwrap_or_default() {
                let path = folder.join(&name);
                if !known.contains(&path) && name != Path::new(MARK) {
                    self.note(format!("{} belongs to no data set", path.display()));
                }
            }
        }
    }

    fn note_dry_run(&mut self, survey: &LogSurvey, kernel: &Kernel) {
        let Some(report) = kernel.restart_report() else { return };
        if survey.is_orderly() {
            return;
        }
        self.note(format!(
            "the system was not stopped in order; a dry run of the restart, in memory, repeats \
             {} changes, backs out {} units of work and puts back {} intervals: what follows is \
             proven as it will be then",
            report.redone,
            report.backed_out.len(),
            report.repaired
        ));
    }

    fn of_restart(&mut self, survey: &LogSurvey, error: &UowError) {
        if !self.at_interval(survey, error) {
            self.of_error("restart", None, error, Vec::new());
        }
    }

    /// Names the interval that a restart fails at, if it is that.
    fn at_interval(&mut self, survey: &LogSurvey, error: &UowError) -> bool {
        let (UowError::Pool(PoolError::Damaged { set, ci, why, .. })
        | UowError::Space(SpaceError::Pool(PoolError::Damaged { set, ci, why, .. }))) = error
        else {
            return false;
        };
        let Some(definition) = survey.catalog.get(*set) else { return false };
        self.interval(definition, *ci, why.clone());
        self.note("a start would fail at that interval");
        true
    }

    /// Names the intervals of other data sets that a restart fails at once the first one is
    /// recovered: what brings back one of them has to bring back all.
    fn behind_the_first(&mut self, stopped: &Stopped, survey: &LogSurvey, first: UowError) {
        let (mut error, mut offline) = (first, Vec::new());
        while let Some(name) = error.data_set().filter(|name| !offline.contains(*name)) {
            offline.push(name.clone());
            match seam::thread::catch(|| dry_run(stopped, &offline)) {
                Ok(Err(next)) => error = next,
                Ok(Ok(kernel)) => return kernel.abandon(),
                Err(_) => return,
            }
            self.at_interval(survey, &error);
        }
    }

    /// What can be proven although a restart fails.
    fn without_restart(&mut self, stopped: &Stopped, survey: &LogSurvey, watch: &mut Watch<'_>) {
        let orderly = survey.is_orderly();
        if !orderly {
            self.note(
                "data sets can be proven exactly only once a restart succeeds; here only tags and \
                 places of their intervals were",
            );
        }
        for (top, definition) in survey.catalog.open() {
            match open_alone(stopped, definition, top) {
                Ok(set) => self.data_set(&set, None, orderly, watch),
                Err(error) => {
                    let file = stopped.dir.join(definition.file_name(0));
                    let repair = self.repairing(definition, Hurt::File).1;
                    let object = format!("data set {}", definition.name);
                    self.of_error(&object, Some(file), &error, repair);
                }
            }
        }
    }
}

/// The slots of the control file that do not prove themselves, and why.
pub(crate) fn damaged_slots(stopped: &Stopped) -> Vec<(u64, SystemError)> {
    let keys = Arc::clone(&stopped.keys) as Arc<dyn KeyProvider>;
    let (seam, dir, config) = (&stopped.seam, &stopped.dir, &stopped.config);
    let proven = |slot| control_with_only(seam, dir, config, &keys, slot);
    (0..2).filter_map(|slot| Some((slot, proven(slot).err()?))).collect()
}

/// Opens the control file with the other slot blanked out.
fn control_with_only(
    seam: &Seam,
    dir: &Path,
    config: &SystemConfig,
    keys: &Arc<dyn KeyProvider>,
    slot: u64,
) -> Result<(), SystemError> {
    let path = dir.join("control");
    let disk = Arc::new(ShadowDisk::new(Arc::clone(&seam.disk), 1 << 20));
    let seam = Seam { disk, ..seam.clone() };
    let blank = AlignedBuf::zeroed(BLOCK);
    let file = seam.disk.open(&path, Open::DATA);
    let blanked = file.and_then(|file| file.write_at(&blank, (1 - slot) * BLOCK as u64));
    blanked.map_err(|error| SystemError::io("look at", &path, error))?;
    let keys = uow::control::ControlKeys {
        keys: Arc::clone(keys),
        label: LABELS[0].into(),
        system: config.system,
    };
    uow::control::ControlFile::open(&seam, &path, &keys)?;
    Ok(())
}

/// Pools larger than this are not needed to look at a system.
const POOL_BYTES_MAX: usize = 256 << 20;

/// Opens the kernel, without some data sets, on the disk that forgets.
fn dry_run(stopped: &Stopped, offline: &[String]) -> Result<Arc<Kernel>, UowError> {
    let keys = Arc::clone(&stopped.keys) as Arc<dyn KeyProvider>;
    let parts = parts(&stopped.seam, &stopped.dir, &stopped.config, keys);
    let parts = Parts { offline: offline.to_vec(), ..parts };
    let mut config = stopped.config.kernel(&stopped.dir);
    for pool in &mut config.pools {
        pool.frames = pool.frames.min(POOL_BYTES_MAX / pool.unit_bytes);
    }
    protection::accept_in_memory(stopped)?;
    let kernel = Kernel::open(parts, config)?;
    // A conversion that went on would change files and map while they are held against each other.
    for set in kernel.conversions().iter().filter_map(|one| kernel.set(one.set)) {
        match kernel.steer_conversion(&set, true, None) {
            Err(UowError::NotConverting { .. }) => {}
            paused => paused?,
        }
    }
    Ok(kernel)
}

/// Proves the header of a data set, which stands in its first interval.
pub(crate) fn header_of(stopped: &Stopped, definition: &Definition) -> Result<(), SystemError> {
    let set = open_alone(stopped, definition, 0)?;
    let mut unit = AlignedBuf::zeroed(set.unit_bytes());
    set.read_past_pool(CiNumber(0), &mut unit)?;
    Ok(())
}

/// What a quick look at the intervals of a data set has found.
pub(crate) struct Sample {
    /// How many were read.
    pub(crate) looked: u32,
    /// How many of them do not prove themselves.
    pub(crate) wrong: u32,
    /// What is wrong with the first of those.
    pub(crate) first: Option<String>,
}

/// So much of a data set is read for a quick look: all of a small one.
const SAMPLE_BYTES: u64 = 64 << 20;
const SAMPLE_WINDOW_BYTES: usize = 1 << 20;

/// Proves intervals of a data set by themselves, spread over all of it; whether each is the newest
/// version takes its maps, and is not asked.
pub(crate) fn sample_of(
    stopped: &Stopped,
    definition: &Definition,
    intervals: u32,
) -> Result<Sample, SystemError> {
    let set = open_alone(stopped, definition, 0)?;
    let unit_bytes = set.unit_bytes();
    let per_window = (SAMPLE_WINDOW_BYTES / unit_bytes) as u32;
    let windows = intervals.div_ceil(per_window);
    let step = windows.div_ceil((SAMPLE_BYTES / SAMPLE_WINDOW_BYTES as u64) as u32).max(1);
    let mut window = AlignedBuf::zeroed(per_window as usize * unit_bytes);
    let mut sample = Sample { looked: 0, wrong: 0, first: None };
    for first in (0..windows).step_by(step as usize).map(|number| number * per_window) {
        let count = per_window.min(intervals - first);
        let units = &mut window[..count as usize * unit_bytes];
        let whole = set.read_raw(CiNumber(first), units).is_ok();
        for (number, unit) in (first..).zip(units.chunks_exact_mut(unit_bytes)) {
            sample.looked += 1;
            let ci = CiNumber(number);
            let read = if whole { Ok(()) } else { set.read_raw(ci, unit) };
            let is_blank = || PageSealer::trailer(unit) == Err(seal::PageFault::NeverWritten);
            if read.is_ok() && is_blank() {
                continue;
            }
            if let Err(error) = read.and_then(|()| set.prove(ci, unit)) {
                sample.wrong += 1;
                sample.first.get_or_insert_with(|| error.to_string());
            }
        }
    }
    Ok(sample)
}

/// Opens one data set without a kernel.
fn open_alone(
    stopped: &Stopped,
    definition: &Definition,
    top: u64,
) -> Result<Arc<DataSet>, SystemError> {
    let stop = Arc::new(StopSwitch::default());
    let seam = stopped.seam.clone();
    let no_threads = |error| SystemError::io("look at", &stopped.dir, error);
    let environment = Environment {
        seam: seam.clone(),
        keys: Arc::clone(&stopped.keys) as Arc<dyn KeyProvider>,
        system: stopped.config.system,
        home: stopped.dir.clone(),
        stop: Arc::clone(&stop),
        read_ahead: Arc::new(ReadAhead::start(0).map_err(no_threads)?),
        // Contents are looked at one by one, with a finding for each.
        contents: None,
    };
    let unit_bytes = definition.unit_bytes();
    let config = PoolConfig {
        name: "verify".into(),
        unit_bytes,
        usable_bytes: unit_bytes - seal::TRAILER_BYTES,
        frames: (16 << 20) / unit_bytes,
    };
    let pool = Pool::new(config, 0, Arc::new(DirtyQueue::new()), stop, Arc::clone(&seam.clock));
    Ok(DataSet::open(&environment, definition.clone(), Arc::new(pool), top)?)
}
