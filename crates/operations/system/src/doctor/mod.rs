//! A look at a damaged system: what is there, what is missing, what to do.
//!
//! Every kind of file is looked at by itself, so that what is wrong with one hides nothing of the
//! others. With a passphrase what a file says is proven where that is quick; what takes reading
//! everything is `verify`'s.
//!
//! Invariants:
//! 1. Nothing is written, made or locked, not even the system's lock file: everything goes through
//!    a disk that keeps writes in memory.
//! 2. Whatever stands in the files, there is an answer: no part's failure ends the look.
//! 3. What is advised changes nothing for the worse: lost keys and logs are asked to be brought
//!    back, not replaced.

mod ahead;
mod anchor;
mod copies;
mod files;
mod room;
mod sets;
mod surveyed;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use archive::{ArchiveCatalog, CopyFault, Cure, LogBegins};
use base::{Coded, SystemId};
use recon::State;
use seal::{KeyProvider, Keyset, Passphrase, SealError};
use seam::Seam;
use serde::{Deserialize, Serialize};
use space::Definition;

use crate::bound::ProtectionStatus;
use crate::places::LOCK;
use crate::remedy::{self, Repair};
use crate::restore;
use crate::shadow::ShadowDisk;
use crate::verify::audit::{self, ArchiveDiscord};
use crate::{
    CONFIG_FILE, LogSurvey, Stopped, SystemConfig, SystemError, archives, operator, registry,
    status,
};
pub use files::FoundFile;

/// How a part of a system is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As far as was looked, all is well.
    Sound,
    /// Something of it is damaged or missing; what is left serves.
    Impaired,
    /// It does not serve any more.
    Lost,
    /// It could not be looked at, because something else is lost.
    Unknown,
}

/// A part of a system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// What it is.
    pub name: String,
    /// How it is.
    pub health: Health,
    /// What there is to say, a sentence each.
    #[serde(rename = "says")]
    pub notes: Vec<String>,
}

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What and why.
    pub what: String,
    /// The command, if one does it.
    pub command: Option<Repair>,
}

/// What a look has found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// The folder.
    pub dir: PathBuf,
    /// The system, if anything says which it is.
    pub system: Option<String>,
    /// The process that has it open.
    pub in_use: Option<u32>,
    /// Whether keys were there to prove things with.
    pub keys: bool,
    /// Its parts.
    pub parts: Vec<Part>,
    /// Every file below its folder.
    pub files: Vec<FoundFile>,
    /// What to do, in that order.
    pub steps: Vec<Step>,
}

/// What a look may keep in memory.
const SHADOW_BYTES_MAX: u64 = 256 << 20;

/// Looks at the system in `dir`, whatever is left of it. Without a passphrase only what stands in
/// clear is looked at.
#[must_use]
pub fn diagnose(seam: &Seam, dir: &Path, passphrase: Option<&Passphrase>) -> Diagnosis {
    let disk = ShadowDisk::new(Arc::clone(&seam.disk), SHADOW_BYTES_MAX);
    let seam = Seam { disk: Arc::new(disk), ..seam.clone() };
    // Where even that fails, the files are not found either, and that is told.
    let dir = seam.disk.absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let diagnosis = Diagnosis { dir: dir.clone(), ..Diagnosis::default() };
    let mut doctor = Doctor { seam, dir, diagnosis, damaged: Vec::new() };
    doctor.files();
    if doctor.is_refused() {
        return doctor.diagnosis;
    }
    doctor.process();
    if !doctor.is_half_restored() {
        let config = doctor.configuration();
        doctor.try_part("devices", |doctor| doctor.room(&config.config));
        let keys = doctor.key_file(&config, passphrase);
        match keys {
            Some(keys) => doctor.with_keys(config, keys),
            None => doctor.without_keys(&config),
        }
        doctor.finish();
    }
    doctor.diagnosis
}

struct Doctor {
    seam: Seam,
    dir: PathBuf,
    diagnosis: Diagnosis,
    /// Data sets that must be recovered.
    damaged: Vec<String>,
}

/// The configuration, or what serves in its place.
struct Config {
    config: SystemConfig,
    /// It was read; otherwise it is the usual one, with what the files say.
    is_real: bool,
}

impl Doctor {
    fn part(&mut self, name: &str, health: Health, notes: Vec<String>) {
        self.diagnosis.parts.push(Part { name: name.into(), health, notes });
    }

    fn step(&mut self, what: impl Into<String>, command: Option<Repair>) {
        let step = Step { what: what.into(), command };
        if !self.diagnosis.steps.contains(&step) {
            self.diagnosis.steps.push(step);
        }
    }

    fn command(&self, verb: &str, words: &[&str]) -> Option<Repair> {
        Some(Repair::of(verb, &self.dir, words))
    }

    /// Looks at one part; if that ends badly, it says so (2).
    fn try_part<T>(&mut self, name: &str, look: impl FnOnce(&mut Doctor) -> T) -> Option<T> {
        match seam::thread::catch(|| look(self)) {
            Ok(found) => Some(found),
            Err(panic) => {
                self.part(name, Health::Unknown, vec![format!("looking at it failed: {panic}")]);
                None
            }
        }
    }

    fn files(&mut self) {
        let found = files::below(&*self.seam.disk, &self.dir);
        if found.is_empty() {
            let notes = vec![format!("{} is empty, or no folder", self.dir.display())];
            self.part("folder", Health::Lost, notes);
            self.step("Name the folder of a system, or mount the device that holds it.", None);
        }
        self.diagnosis.files = found;
    }

    /// Whether the folder is not for whoever asks: then nothing can be said of what is in it.
    fn is_refused(&mut self) -> bool {
        let refused = |error: &SystemError| {
            matches!(error, SystemError::Io { source, .. }
                if source.kind() == std::io::ErrorKind::PermissionDenied)
        };
        let disk = &*self.seam.disk;
        let listed =
            disk.list(&self.dir).map_err(|error| SystemError::io("list", &self.dir, error));
        let looked = listed.and_then(|_| SystemConfig::read(disk, &self.dir));
        let Some(error) = looked.err().filter(refused) else { return false };
        self.diagnosis.parts.clear();
        self.diagnosis.steps.clear();
        self.part("folder", Health::Unknown, vec![error.with_code()]);
        self.step("Ask as the owner of the system's folder, or as root.", None);
        true
    }

    fn process(&mut self) {
        let Ok(Some(status)) = operator::ask(&self.dir) else { return };
        self.diagnosis.in_use = Some(status.process.pid);
        let notes = vec![format!("process {} has the system open", status.process.pid)];
        self.part("process", Health::Sound, notes);
    }

    /// What a restore leaves that was cut off is no system, and cannot be made one.
    fn is_half_restored(&mut self) -> bool {
        let disk = &*self.seam.disk;
        let Some(command) = restore::cut_off(disk, &self.dir) else { return false };
        let notes = "a restore was cut off here before the system was made".to_owned();
        self.part("folder", Health::Lost, vec![notes]);
        let what = "Empty the folder, and the others that holdfast.toml names for the log and for \
                    RECON, and begin the restore again: the archives and copies are as they were.";
        self.step(what, (!command.0.is_empty()).then_some(command));
        true
    }

    fn configuration(&mut self) -> Config {
        match SystemConfig::read(&*self.seam.disk, &self.dir) {
            Ok(config) => {
                self.diagnosis.system = Some(config.system.to_string());
                self.part("configuration", Health::Sound, Vec::new());
                Config { config, is_real: true }
            }
            Err(error) => {
                let mut notes = vec![error.with_code()];
                let mut config = SystemConfig::new(SystemId::default());
                let path = config.key_file(&self.dir);
                if let Ok(info) = Keyset::inspect(&*self.seam.disk, &path) {
                    config.system = info.system;
                    self.diagnosis.system = Some(info.system.to_string());
                }
                let copies = self.log_folders();
                if !copies.is_empty() {
                    notes.push(format!("segments of a log stand in {}", copies.join(" and ")));
                    config.log.copies = copies.into_iter().map(PathBuf::from).collect();
                    self.shape_of_log(&mut config);
                }
                self.part("configuration", Health::Lost, notes);
                let id = self.diagnosis.system.clone();
                let what = format!(
                    "Put {CONFIG_FILE} back, or write it anew: system = \"{}\", and the folders, \
                     stripes and segment length that the log was made with; what follows was found \
                     with the usual settings.",
                    id.unwrap_or_else(|| "its identity".into())
                );
                self.step(what, None);
                Config { config, is_real: false }
            }
        }
    }

    /// What the files of the log say of its shape: how long they are, and how many stripes.
    fn shape_of_log(&self, config: &mut SystemConfig) {
        let mut longest = 0;
        for file in &self.diagnosis.files {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            let stripe = name.rsplit_once(".stripe-").and_then(|(_, text)| text.parse::<u8>().ok());
            if let Some(stripe) = stripe.filter(|stripe| *stripe < wal::STRIPES_MAX) {
                config.log.stripes = config.log.stripes.max(stripe + 1);
                longest = longest.max(file.bytes);
            }
        }
        if longest > 0 {
            config.log.segment_bytes.0 = longest;
        }
    }

    /// Folders below the system's own that hold segments of a log.
    fn log_folders(&self) -> Vec<String> {
        let segments = self.diagnosis.files.iter().filter(|file| {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            // Other stripes may have folders of their own.
            name.starts_with("segment-") && name.ends_with(".stripe-0")
        });
        let folders = segments.filter_map(|file| {
            let folder = file.path.parent()?.strip_prefix(&self.dir).ok()?;
            Some(folder.display().to_string())
        });
        let mut folders: Vec<String> = folders.collect();
        folders.sort();
        folders.dedup();
        folders
    }

    fn key_file(
        &mut self,
        config: &Config,
        passphrase: Option<&Passphrase>,
    ) -> Option<Arc<Keyset>> {
        let path = config.config.key_file(&self.dir);
        let inspected = Keyset::inspect(&*self.seam.disk, &path);
        let clear = match inspected {
            Ok(info) => {
                format!("edition {}, {} keys, system {}", info.edition, info.keys, info.system)
            }
            Err(error) => {
                self.lost_keys(&path, &error);
                return None;
            }
        };
        let Some(passphrase) = passphrase else {
            let more = "it was not opened: without a passphrase only what is in clear is seen";
            self.part("key file", Health::Unknown, vec![clear, more.into()]);
            let what = "Look again with the passphrase: most of a system is sealed.";
            self.step(what, self.command("doctor", &[]));
            return None;
        };
        match Keyset::open(&self.seam, &path, config.config.system, passphrase) {
            Ok(keyset) => {
                self.diagnosis.keys = true;
                self.part("key file", Health::Sound, vec![clear]);
                Some(Arc::new(keyset))
            }
            // Nothing is wrong with the file: what would open it is not there.
            Err(error @ (SealError::WrongPassphrase { .. } | SealError::Token { .. })) => {
                self.part("key file", Health::Unknown, vec![clear, error.to_string()]);
                self.step(error.remedy(), None);
                None
            }
            Err(error) => {
                self.lost_keys(&path, &error);
                None
            }
        }
    }

    fn lost_keys(&mut self, path: &Path, error: &SealError) {
        self.part("key file", Health::Lost, vec![error.with_code()]);
        let path = path.display();
        match self.diagnosis.in_use {
            Some(_) => {
                let command = self.command("repair", &["--keys"]);
                self.step("The open system knows its keys: have them written.", command);
            }
            None => self.step(
                format!("Put a copy of {path} back; without it nothing of the system can be read."),
                None,
            ),
        }
    }

    /// What can be said of files whose contents cannot be read.
    fn without_keys(&mut self, config: &Config) {
        let wanted = [("control file", "control"), ("double-write area", "double-write")];
        for (name, file) in wanted {
            let found = files::look(&*self.seam.disk, &self.dir.join(file));
            let (health, notes) = match (found.bytes, found.version) {
                (0, _) => (Health::Lost, "it is missing or empty".to_owned()),
                (bytes, Some(version)) => {
                    (Health::Unknown, format!("{bytes} bytes, layout version {version}"))
                }
                (bytes, None) => (Health::Unknown, format!("{bytes} bytes: {}", found.what)),
            };
            self.part(name, health, vec![notes]);
        }
        for folder in config.config.all_log_folders(&self.dir) {
            let notes = match self.seam.disk.list(&folder) {
                Ok(names) => format!("{}: {} files", folder.display(), names.len()),
                Err(error) => format!("{}: {error}", folder.display()),
            };
            self.part("log", Health::Unknown, vec![notes]);
        }
    }

    fn with_keys(&mut self, config: Config, keyset: Arc<Keyset>) {
        let keys = Arc::clone(&keyset) as Arc<dyn KeyProvider>;
        let is_real = config.is_real;
        let Ok(lock) = self.seam.disk.lock_folder(&self.dir, LOCK) else { return };
        let seam = self.seam.clone();
        let stopped = Stopped::around(self.dir.clone(), config.config, keyset, seam, lock);
        if is_real {
            self.try_part("protection", |doctor| doctor.protection(&stopped));
        }
        let recon = self.try_part("RECON", |doctor| doctor.recon(&stopped, &keys)).flatten();
        let survey = self.try_part("log", |doctor| doctor.log(&stopped, recon.as_ref())).flatten();
        if survey.is_some() {
            self.try_part("anchor", |doctor| doctor.anchor(&stopped));
        }
        self.try_part("double-write area", |doctor| doctor.double_write(&stopped));
        self.try_part("data sets", |doctor| {
            doctor.data_sets(&stopped, survey.as_ref(), recon.as_ref());
        });
        self.try_part("archives", |doctor| {
            let log = survey.as_ref().and_then(|survey| survey.oldest);
            doctor.archives(&stopped, &keys, is_real, recon.as_ref().map(|state| (state, log)));
        });
        if let Some(state) = &recon {
            self.try_part("image copies", |doctor| doctor.image_copies(state));
        }
    }

    /// What the control file binds, and whether the configuration asks for less.
    fn protection(&mut self, stopped: &Stopped) {
        let Some(bound) = &stopped.bound else {
            let notes = "only the control file says what the system's bytes must prove".to_owned();
            return self.part("protection", Health::Unknown, vec![notes]);
        };
        let mut notes = vec![ProtectionStatus::of(bound).to_string()];
        notes.extend(stopped.lowered_note());
        if stopped.lowered.is_empty() {
            return self.part("protection", Health::Sound, notes);
        }
        self.part("protection", Health::Impaired, notes);
        let what = format!(
            "{CONFIG_FILE} asks for less protection than was bound: find out who has changed it, \
             and put it back. If less is wanted, bind it."
        );
        self.step(what, self.command("protect", &["--accept"]));
    }

    fn recon(&mut self, stopped: &Stopped, keys: &Arc<dyn KeyProvider>) -> Option<State> {
        let setup = registry::recon_setup(&self.seam, &self.dir, &stopped.config, Arc::clone(keys));
        match recon::read(&setup) {
            Ok(reading) => {
                let wrong: Vec<String> =
                    reading.copies.iter().filter_map(|copy| copy.wrong.clone()).collect();
                let forgotten = reading.state.forgotten();
                let health = match wrong.is_empty() && forgotten.is_none() {
                    true => Health::Sound,
                    false => Health::Impaired,
                };
                if forgotten.is_some() {
                    let what = "Stop the system, if it runs, and have RECON find what it has \
                                forgotten: name each FOLDER that holds image copies.";
                    self.step(what, self.command("recon rebuild", &["--from", "FOLDER"]));
                }
                if !wrong.is_empty() {
                    let command = self.command("repair", &["--recon"]);
                    self.step("One copy of RECON serves; have the other one made anew.", command);
                }
                let state = reading.state;
                let mut notes = vec![format!(
                    "{} data sets, {} archives, {} image copies; the log was seen to reach {}",
                    state.sets.len(),
                    state.archives.len(),
                    state.image_copies.len(),
                    state.reached.lsn
                )];
                notes.extend(forgotten);
                notes.extend(wrong);
                self.part("RECON", health, notes);
                Some(state)
            }
            Err(error) => {
                self.part("RECON", Health::Lost, vec![error.with_code()]);
                let command = self.command("recon rebuild", &["--from", "FOLDER"]);
                let what = "Make RECON anew: name each FOLDER that holds image copies.";
                self.step(what, command);
                None
            }
        }
    }

    fn log(&mut self, stopped: &Stopped, recon: Option<&State>) -> Option<LogSurvey> {
        let control = match stopped.control() {
            Ok(control) => control,
            Err(error) => {
                let notes = vec![error.with_code()];
                self.part("control file", Health::Lost, notes);
                let what = "only the control file says where it begins".to_owned();
                self.part("log", Health::Unknown, vec![what]);
                if self.diagnosis.in_use.is_some() {
                    let command = self.command("repair", &["--control"]);
                    self.step("The open system knows what it says: have it written.", command);
                    return None;
                }
                self.step(
                    "Put the control file back, of the same moment as the log. None is made from \
                     what is left: it alone proves how far the log had come, and a log that was \
                     cut would pass for a whole one.",
                    None,
                );
                self.restore("If there is none", &stopped.config, recon);
                return None;
            }
        };
        self.control_file(stopped, control.orderly);
        self.ahead(stopped, control.ahead);
        match stopped.survey(&mut |_| ()) {
            Ok(survey) => {
                self.surveyed(&survey);
                Some(survey)
            }
            Err(error) => {
                let notes = vec![error.with_code()];
                self.part("log", Health::Lost, notes);
                self.step(error.remedy(), None);
                self.restore("If the log cannot be brought back", &stopped.config, recon);
                None
            }
        }
    }

    /// How the system is had in a new folder, if nothing else helps.
    fn restore(&mut self, when: &str, config: &SystemConfig, recon: Option<&State>) {
        let Some(archive) = config.archive(&self.dir) else {
            let what = format!(
                "{when}: nothing else has what was logged, for no archives are configured. Start \
                 a copy of the whole folder (docs/operations.md)."
            );
            return self.step(what, None);
        };
        let path = |path: &Path| path.display().to_string();
        let mut words = ["holdfast", "restore", "NEW"].map(str::to_owned).to_vec();
        words.extend(["--keys".into(), path(&config.key_file(&self.dir))]);
        words.extend(["--config".into(), path(&self.dir.join(CONFIG_FILE))]);
        let copies = recon.iter().flat_map(|state| state.image_copies.values());
        let files = copies.flat_map(|copy| &copy.files).filter_map(|file| file.path.parent());
        for folder in files.collect::<BTreeSet<_>>() {
            words.extend(["--copies".into(), path(folder)]);
        }
        let is_here = |folder: &PathBuf| folder.starts_with(&self.dir);
        let mut what = format!(
            "{when}: restore the system in a new folder, NEW, as far as its archives reach."
        );
        if archive.folders.iter().any(is_here) {
            what += " First name the folders of the archive in full, in a copy of holdfast.toml.";
        }
        if !config.all_log_folders(&self.dir).iter().all(is_here) {
            what += " First move what is left in folders of the log elsewhere out of the way.";
        }
        self.step(what, Some(Repair(words)));
    }

    fn double_write(&mut self, stopped: &Stopped) {
        let found = files::look(&*self.seam.disk, &self.dir.join("double-write"));
        let orderly = stopped.control().is_ok_and(|control| control.orderly);
        let (health, notes) = match (found.bytes, orderly) {
            (0, true) => (Health::Impaired, "it is missing; a start makes it anew"),
            (0, false) => (Health::Lost, "it is missing: a page that a crash tore has no copy"),
            _ if self.is_folder("double-write") => {
                (Health::Lost, "a folder stands where it belongs: move that away")
            }
            _ => (Health::Sound, "it is there"),
        };
        self.part("double-write area", health, vec![notes.to_owned()]);
    }

    /// Whether a folder stands where a file of the system belongs.
    fn is_folder(&self, name: &str) -> bool {
        self.seam.disk.list(&self.dir.join(name)).is_ok()
    }

    fn data_sets(&mut self, stopped: &Stopped, survey: Option<&LogSurvey>, recon: Option<&State>) {
        let Some(survey) = survey else {
            let known = recon.map(|state| state.sets.values().map(|set| set.name.clone()));
            let notes = match known {
                Some(names) => format!("RECON knows {}", names.collect::<Vec<_>>().join(", ")),
                None => "nothing says which there are".to_owned(),
            };
            return self.part("data sets", Health::Unknown, vec![notes]);
        };
        for (_, definition) in survey.catalog.open() {
            let (health, notes) = self.data_set(stopped, definition, survey.is_orderly());
            if matches!(health, Health::Impaired | Health::Lost) {
                self.damaged.push(definition.name.clone());
            }
            self.part(&format!("data set {}", definition.name), health, notes);
        }
        for Definition { name, .. } in survey.catalog.offline() {
            self.damaged.push(name.clone());
            let notes = vec![status::offline_note(name)];
            self.part(&format!("data set {name}"), Health::Lost, notes);
        }
        let copied = |name: &String| {
            recon.is_some_and(|state| remedy::is_recoverable(state, survey.oldest, name))
        };
        let (recover, lost): (Vec<String>, Vec<String>) =
            std::mem::take(&mut self.damaged).into_iter().partition(copied);
        if !recover.is_empty() {
            let words: Vec<&str> = recover.iter().flat_map(|name| ["--set", name]).collect();
            let command = self.command("recover", &words);
            self.step("Recover what is damaged from image copies and the log.", command);
        }
        if !lost.is_empty() {
            let without: Vec<String> =
                lost.iter().map(|name| format!("--without {name}")).collect();
            let what = format!(
                "RECON knows no image copy of {}: find one. If the system does not start, and there \
                 is none, `holdfast restart DIR {} --yes` starts it without; then build what is an \
                 index anew, and load what is a database.",
                lost.join(", "),
                without.join(" ")
            );
            self.step(what, None);
        }
    }

    fn archives(
        &mut self,
        stopped: &Stopped,
        keys: &Arc<dyn KeyProvider>,
        is_real: bool,
        others: Option<(&State, Option<LogBegins>)>,
    ) {
        let catalog = match archives::looked_at(&self.seam, keys, &stopped.config, &self.dir) {
            Ok(Some(catalog)) => catalog,
            Ok(None) if is_real => return,
            Ok(None) => {
                let notes = "without the configuration nobody knows where they are".to_owned();
                return self.part("archives", Health::Unknown, vec![notes]);
            }
            Err(error) => {
                let notes = vec![error.with_code()];
                return self.part("archives", Health::Unknown, notes);
            }
        };
        let mut notes = Vec::new();
        if let Some((state, _)) = &others
            && let Err(error) = catalog.expect(state)
        {
            notes.push(error.with_code());
        }
        let list = catalog.list();
        notes.push(match (list.first(), list.last()) {
            (Some(first), Some(last)) => format!(
                "{} archives, from {} up to {}",
                list.len(),
                first.info.first,
                last.info.end
            ),
            _ => "there are none".to_owned(),
        });
        let faults = catalog.faults();
        notes.extend(faults.iter().map(|fault| fault.why.to_string()).take(NOTES_MAX));
        let differences =
            others.map(|(state, log)| self.discords(state, &catalog, log)).unwrap_or_default();
        notes.extend(differences.iter().map(ArchiveDiscord::text).take(NOTES_MAX));
        let whole = faults.is_empty() && !differences.iter().any(|one| one.needed);
        self.part("archives", if whole { Health::Sound } else { Health::Impaired }, notes);
        for one in differences.iter().filter(|one| one.needed) {
            self.step(one.remedy.clone(), one.repair.first().cloned());
        }
        for fault in faults.iter().filter(|fault| fault.is_foreign()) {
            let path = fault.path.display();
            self.step(format!("Move {path} away: it is another system's."), None);
        }
        if !faults.iter().all(CopyFault::is_foreign) {
            let command = self.command("archive verify", &["--repair"]);
            self.step("Have missing and damaged copies of archives made anew.", command);
        }
    }

    /// What archives, RECON and the log say against each other. RECON of a system in use is read
    /// from its files, which may be a moment behind.
    fn discords(
        &self,
        state: &State,
        catalog: &ArchiveCatalog,
        log: Option<LogBegins>,
    ) -> Vec<ArchiveDiscord> {
        let mut found = audit::stopped(catalog, state, log);
        if self.diagnosis.in_use.is_some() {
            found.retain(|one| one.cure != Cure::Record);
        }
        let away = recovery::folders_away(&*self.seam.disk, state);
        found.iter().map(|one| ArchiveDiscord::of(&self.dir, state, &away, one)).collect()
    }

    /// The steps in the order in which they help, and the last of them.
    fn finish(&mut self) {
        let order = |step: &Step| {
            let verb = step.command.as_ref().and_then(|command| command.0.get(1).cloned());
            match verb.as_deref() {
                None => 0,
                Some("recon") => 1,
                Some("recover") => 2,
                Some("restart") => 3,
                Some(_) => 4,
            }
        };
        self.diagnosis.steps.sort_by_key(order);
        if self.diagnosis.keys {
            let words = ["holdfast", "verify", &self.dir.display().to_string()].map(str::to_owned);
            self.step("Then prove every byte.", Some(Repair(words.into())));
        }
    }
}

impl Diagnosis {
    /// Whether anything is damaged or missing.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.parts.iter().all(|part| matches!(part.health, Health::Sound | Health::Unknown))
    }
}

/// More sentences of a kind would say nothing new.
const NOTES_MAX: usize = 10;
