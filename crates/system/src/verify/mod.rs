//! The proof of a stopped system: every byte that it would rely on is read and held against what
//! proves it. Nothing on disk is changed.
//!
//! | what | how it is proven |
//! |---|---|
//! | key file | checksum, master key, list of keys |
//! | control file | both slots |
//! | log | every group on every copy, from where a restart would read to its end |
//! | double-write area | both slots, and every interval in them |
//! | data sets | each interval in use: tag, place, the freshness map, structure; then the tree |
//!
//! The data sets of a system that was not stopped in order are proven as a restart would leave
//! them: the restart is rehearsed in memory, by the kernel itself, on a disk that forgets. If that
//! fails, what can be proven without it is: tags and places of all intervals.

mod data_set;
mod double_write;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{CiNumber, Coded};
use pool::PoolError;
use pool::dirty::DirtyQueue;
use pool::sequential::ReadAhead;
use pool::{Pool, PoolConfig};
use seal::{KeyProvider, Passphrase, SealError};
use seam::Seam;
use seam::disk::{BLOCK, Open};
use seam::mem::AlignedBuf;
use seam::stop::StopSwitch;
use serde::Serialize;
use space::{DataSet, Definition, Environment, SpaceError};
use uow::{Kernel, UowError};

use crate::shadow::ShadowDisk;
use crate::{LogSurvey, Stopped, SystemError, system};
pub use data_set::SetReport;

/// Something that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which object: a data set, the log, a file.
    pub object: String,
    /// The file, if it is about one.
    pub file: Option<PathBuf>,
    /// Where in the file, in bytes.
    pub offset: Option<u64>,
    /// The control interval, if it is about one.
    pub interval: Option<u32>,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

/// How far a verification is.
#[derive(Clone, Copy, Debug)]
pub struct Phase<'a> {
    /// What is being looked at.
    pub object: &'a str,
    /// How much of it is done, in `unit`s.
    pub done: u64,
    /// How much there is; 0 if that is not known.
    pub total: u64,
    /// What is counted.
    pub unit: &'static str,
}

/// What a verification has found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VerifyReport {
    /// The system.
    pub system: String,
    /// Whether it was stopped in order.
    pub orderly: bool,
    /// What is wrong; empty if all is well.
    pub findings: Vec<Finding>,
    /// What an operator should know besides.
    pub notes: Vec<String>,
    /// Keys in the key file.
    pub keys: usize,
    /// Groups of the log that were read on every copy.
    pub log_groups: u64,
    /// Records in them.
    pub log_records: u64,
    /// Intervals in the double-write area that were proven.
    pub double_write_intervals: u64,
    /// Each data set.
    pub data_sets: Vec<SetReport>,
    /// How long it took.
    pub elapsed_ms: u64,
}

/// Told how far a verification is.
pub(crate) type Progress<'a> = &'a mut dyn FnMut(Phase<'_>);

/// Verifies the stopped system in `dir`. What is damaged is in the report, not an error.
///
/// # Errors
/// If it cannot be begun: no system, in use, a configuration with a mistake, a wrong passphrase.
pub fn verify(
    seam: &Seam,
    dir: &Path,
    passphrase: &Passphrase,
    progress: Progress<'_>,
) -> Result<VerifyReport, SystemError> {
    let start = seam.clock.monotonic();
    let mut verifier = Verifier::default();
    progress(Phase { object: "key file", done: 0, total: 1, unit: "files" });
    match Stopped::look(seam, dir, passphrase) {
        Ok(stopped) => {
            verifier.report.system = stopped.config.system.to_string();
            verifier.report.keys = stopped.keys.list().len();
            verifier.whole(&stopped, progress);
        }
        Err(SystemError::Keys(error)) if is_about_the_file(&error) => {
            let file = crate::SystemConfig::read(seam.disk.as_ref(), dir)?.key_file(dir);
            verifier.of_error("key file", Some(file), &error);
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

/// Gathers findings, each place once.
#[derive(Default)]
pub(crate) struct Verifier {
    pub(crate) report: VerifyReport,
    seen: BTreeSet<(Option<PathBuf>, Option<u64>, String)>,
}

impl Verifier {
    pub(crate) fn find(&mut self, finding: Finding) {
        // A damaged interval is met by its tag, by restart and by the tree: it is named once.
        let what = if finding.offset.is_some() { String::new() } else { finding.what.clone() };
        if self.seen.insert((finding.file.clone(), finding.offset, what)) {
            self.report.findings.push(finding);
        }
    }

    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.report.notes.push(text.into());
    }

    fn of_error(&mut self, object: &str, file: Option<PathBuf>, error: &dyn Coded) {
        self.find(Finding {
            object: object.to_owned(),
            file,
            offset: None,
            interval: None,
            what: format!("{error} ({})", error.code()),
            remedy: error.remedy(),
        });
    }

    /// A damaged interval, by name and place.
    pub(crate) fn interval(
        &mut self,
        home: &Path,
        definition: &Definition,
        ci: CiNumber,
        what: impl Into<String>,
    ) {
        let (file, offset) = place(home, definition, ci);
        let remedy = format!("Restore {} from an image copy, or load it anew.", definition.name);
        self.find(Finding {
            object: format!("data set {}", definition.name),
            file: Some(file),
            offset: Some(offset),
            interval: Some(ci.0),
            what: what.into(),
            remedy,
        });
    }

    fn whole(&mut self, stopped: &Stopped, progress: Progress<'_>) {
        progress(Phase { object: "control file", done: 0, total: 1, unit: "files" });
        if let Err(error) = stopped.control() {
            self.of_error("control file", Some(stopped.dir.join("control")), &error);
            self.note(
                "log and data sets were not looked at: only the control file says where they begin",
            );
            return;
        }
        let Some(survey) = self.log(stopped, progress) else {
            self.note("data sets were not looked at: the log that says which there are is damaged");
            return;
        };
        self.report.orderly = survey.is_orderly();
        self.control_slots(stopped, &survey);
        self.double_write(stopped, &survey);
        self.strangers(stopped, &survey);
        progress(Phase { object: "restart", done: 0, total: 1, unit: "rehearsals" });
        let rehearsed = seam::thread::catch(|| rehearse(stopped));
        match rehearsed {
            Ok(Ok(kernel)) => {
                self.rehearsed(&survey, &kernel);
                for set in kernel.all_sets() {
                    self.data_set(&stopped.dir, &set, Some(&kernel), survey.is_orderly(), progress);
                }
                kernel.abandon();
            }
            Ok(Err(error)) => {
                self.of_restart(stopped, &survey, &error);
                self.without_restart(stopped, &survey, progress);
            }
            Err(panic) => {
                let why = format!("a restart would end with a broken invariant: {panic}");
                self.find(plain_finding("restart", why, "Restore a copy of the system."));
                self.without_restart(stopped, &survey, progress);
            }
        }
    }

    fn log(&mut self, stopped: &Stopped, progress: Progress<'_>) -> Option<LogSurvey> {
        let mut groups = 0;
        let survey = stopped.survey(&mut |scanned| {
            if let log::Scanned::Group(_) = scanned {
                groups += 1;
                progress(Phase { object: "log", done: groups, total: 0, unit: "groups" });
            }
        });
        let survey = match survey {
            Ok(survey) => survey,
            Err(error) => {
                let file = match &error {
                    SystemError::Log(
                        log::LogError::Damaged { path, .. }
                        | log::LogError::Missing { path }
                        | log::LogError::FutureVersion { path, .. },
                    ) => Some(path.clone()),
                    _ => None,
                };
                self.of_error("log", file, &error);
                return None;
            }
        };
        (self.report.log_groups, self.report.log_records) = (survey.groups, survey.records);
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
                remedy: "The other copy has it: the next start copies it; look at the device."
                    .into(),
            });
        }
        self.short_segments(&survey);
        if let Some((copy, from)) = survey.control.stale {
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
                remedy: "The next start fills it from the other copy; look at the device.".into(),
            });
        }
    }

    /// The newest slot of the control file has proven itself; does the other one, too?
    fn control_slots(&mut self, stopped: &Stopped, survey: &LogSurvey) {
        let path = stopped.dir.join("control");
        let file = stopped.seam.disk.open(&path, Open::DATA);
        let len = file.and_then(|file| file.len()).unwrap_or(0);
        for slot in 0..2_u64 {
            let Err(error) = control_with_only(stopped, slot) else { continue };
            // A crash tears a slot that is being written, but it never makes the file shorter.
            let is_there = (slot + 1) * BLOCK as u64 <= len;
            if is_there && !survey.is_orderly() {
                self.note(format!("slot {slot} of the control file was being written: {error}"));
                continue;
            }
            self.find(Finding {
                object: "control file".into(),
                file: Some(path.clone()),
                offset: Some(slot * BLOCK as u64),
                interval: None,
                what: format!("slot {slot} is damaged, the other one is whole: {error}"),
                remedy: "The next start writes it anew; look at the device.".into(),
            });
        }
    }

    /// Files in the data sets' folders that belong to none.
    fn strangers(&mut self, stopped: &Stopped, survey: &LogSurvey) {
        let mut known = BTreeSet::new();
        let mut folders = BTreeSet::new();
        for (_, definition) in survey.sets.values() {
            folders.extend(definition.folders.iter().map(|folder| stopped.dir.join(folder)));
            known.extend(stopped.files(definition).0.into_iter().map(|(path, _)| path));
        }
        folders.extend(stopped.config.data.folders.iter().map(|folder| stopped.dir.join(folder)));
        for folder in folders {
            for name in stopped.seam.disk.list(&folder).unwrap_or_default() {
                let path = folder.join(name);
                if !known.contains(&path) {
                    self.note(format!("{} belongs to no data set", path.display()));
                }
            }
        }
    }

    fn rehearsed(&mut self, survey: &LogSurvey, kernel: &Kernel) {
        let Some(report) = kernel.restart_report() else { return };
        if survey.is_orderly() {
            return;
        }
        self.note(format!(
            "the system was not stopped in order; a restart, rehearsed in memory, repeats {} \
             changes, backs out {} units of work and puts back {} intervals: what follows is \
             proven as it will be then",
            report.redone,
            report.backed_out.len(),
            report.repaired
        ));
    }

    fn of_restart(&mut self, stopped: &Stopped, survey: &LogSurvey, error: &UowError) {
        let damaged = match error {
            UowError::Pool(PoolError::Damaged { set, ci, why, .. })
            | UowError::Space(SpaceError::Pool(PoolError::Damaged { set, ci, why, .. })) => {
                survey.sets.get(set).map(|(_, definition)| (definition, *ci, why))
            }
            _ => None,
        };
        match damaged {
            Some((definition, ci, why)) => {
                self.interval(&stopped.dir, definition, ci, why.clone());
                self.note("a start would fail at that interval");
            }
            None => self.of_error("restart", None, error),
        }
    }

    /// What can be proven although a restart fails.
    fn without_restart(&mut self, stopped: &Stopped, survey: &LogSurvey, progress: Progress<'_>) {
        let orderly = survey.is_orderly();
        if !orderly {
            self.note(
                "data sets can be proven exactly only once a restart succeeds; here only tags and \
                 places of their intervals were",
            );
        }
        for (top, definition) in survey.sets.values() {
            match open_alone(stopped, definition, *top) {
                Ok(set) => self.data_set(&stopped.dir, &set, None, orderly, progress),
                Err(error) => {
                    let file = stopped.dir.join(definition.file_name(0));
                    self.of_error(&format!("data set {}", definition.name), Some(file), &error);
                }
            }
        }
    }
}

/// The file of an interval, and where in it.
pub(crate) fn place(home: &Path, definition: &Definition, ci: CiNumber) -> (PathBuf, u64) {
    let unit = definition.unit_bytes() as u64;
    let (file, at) = match definition.file_intervals {
        0 => (0, ci.0),
        per_file => (ci.0 / per_file, ci.0 % per_file),
    };
    (home.join(definition.file_name(file)), u64::from(at) * unit)
}

pub(crate) fn plain_finding(object: &str, what: String, remedy: &str) -> Finding {
    let (file, offset, interval) = (None, None, None);
    Finding { object: object.into(), file, offset, interval, what, remedy: remedy.into() }
}

/// Opens the control file with the other slot blanked out.
fn control_with_only(stopped: &Stopped, slot: u64) -> Result<(), SystemError> {
    let path = stopped.dir.join("control");
    let disk = Arc::new(ShadowDisk::new(Arc::clone(&stopped.seam.disk), 1 << 20));
    let seam = Seam { disk, ..stopped.seam.clone() };
    let blank = AlignedBuf::zeroed(BLOCK);
    let file = seam.disk.open(&path, Open::DATA);
    let blanked = file.and_then(|file| file.write_at(&blank, (1 - slot) * BLOCK as u64));
    blanked.map_err(|error| SystemError::io("look at", &path, error))?;
    let keys = uow::control::ControlKeys {
        keys: Arc::clone(&stopped.keys) as Arc<dyn KeyProvider>,
        label: stopped.config.kernel(&stopped.dir).system_label,
        system: stopped.config.system,
    };
    uow::control::ControlFile::open(&seam, &path, &keys)?;
    Ok(())
}

/// Pools larger than this are not needed to look at a system.
const POOL_BYTES_MAX: usize = 256 << 20;

/// Opens the kernel on the disk that forgets.
fn rehearse(stopped: &Stopped) -> Result<Arc<Kernel>, UowError> {
    let keys = Arc::clone(&stopped.keys) as Arc<dyn KeyProvider>;
    let parts = system::parts(&stopped.seam, &stopped.dir, &stopped.config, keys);
    let mut config = stopped.config.kernel(&stopped.dir);
    for pool in &mut config.pools {
        pool.frames = pool.frames.min(POOL_BYTES_MAX / pool.unit_bytes);
    }
    Kernel::open(parts, config)
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
