//! A system from what is left of it: on a bare machine from key file, archives and image copies;
//! RECON alone from the same and the log.
//!
//! Invariants:
//! 1. A restored system is none before its `holdfast.toml` is written, last.
//! 2. Files that are only read here, archives and copies and key file, stay as they are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use archive::{ArchiveCatalog, LogSource};
use base::{Lsn, SystemId};
use recon::{Recon, Record, State};
use recovery::{CopyKeys, LeftSet, LostSystem, Progress, RecoveryError, SetHistory, find_copies};
use seal::{Format, KeyProvider, Keyset, Passphrase};
use seam::Seam;
use seam::disk::{Disk, read_small};
use seam::fresh::replace_small;
use serde::{Deserialize, Serialize};
use uow::{Parts, Protection};
use wal::Scanned;

use crate::bound::ProtectionStatus;
use crate::config::CONFIG_FILE;
use crate::create::{make_alone, parts};
use crate::lock::{absolute, open_keyset};
use crate::places::{Places, RESTORING};
use crate::{LABELS, Repair, Stopped, System, SystemConfig, SystemError, archives, registry};

/// What a system is restored from.
#[derive(Clone, Debug)]
pub struct RestoreOptions {
    /// The newest copy of its key file.
    pub key_file: PathBuf,
    /// A copy of its configuration, whose `[archive]` says where the archives are on this machine.
    pub config: Option<PathBuf>,
    /// Without one: where they are. Everything else has its default then.
    pub archives: Vec<PathBuf>,
    /// Folders with image copies.
    pub copies: Vec<PathBuf>,
    /// Believe archives that are plain, and make a system that is less than sealed if its
    /// configuration says so. Nothing else tells here whether it was one.
    pub accept_plain: bool,
}

/// What was restored, so far: its data sets are offline.
#[derive(Clone, Debug)]
pub struct RestoredSystem {
    /// The system.
    pub system: SystemId,
    /// Where the archives end.
    pub end: Lsn,
    /// When the newest commit in them happened: UTC in microseconds; 0 for none.
    pub committed_us: u64,
    /// Where its log goes on.
    pub began: Lsn,
    /// Archives and image copies that were found.
    pub archives: usize,
    /// Image copies.
    pub copies: usize,
    /// The names of its data sets.
    pub sets: Vec<String>,
    /// Those that do not come back, or not to where the archives end.
    pub left: Vec<LeftSet>,
    /// What its bytes must prove from now on.
    pub protection: ProtectionStatus,
    /// What an operator should know, a sentence each.
    pub notes: Vec<String>,
}

/// What of RECON was found in files.
#[derive(Clone, Copy, Debug)]
pub struct RebuiltRecon {
    /// Image copies.
    pub copies: usize,
    /// Archives and accumulations that RECON did not know.
    pub archives: usize,
    /// Recoveries and restores that it did not know.
    pub recoveries: usize,
}

/// No key file is longer.
const KEY_FILE_BYTES_MAX: usize = 64 << 20;

/// What to say if RECON has forgotten all image copies, and none are looked for.
const NO_COPIES: &str = "no folder of image copies was named, so RECON knows none: say \
                         `holdfast recon rebuild --from FOLDER` with each FOLDER that holds some";

type ProgressSink<'t> = &'t mut dyn FnMut(Progress<'_>);

impl System {
    /// Makes a system anew in a folder that is empty or does not exist, as far as its archives
    /// reach. Its data sets are offline until they are recovered.
    ///
    /// # Errors
    /// [`SystemError::Occupied`], [`RecoveryError::NotRestored`]; whatever is wrong with the files.
    pub fn restore(
        seam: &Seam,
        dir: &Path,
        passphrase: &Passphrase,
        options: &RestoreOptions,
        tell: ProgressSink<'_>,
    ) -> Result<RestoredSystem, SystemError> {
        let disk = seam.disk.as_ref();
        let dir = &absolute(seam, dir)?;
        // What root makes in the folder of another user is that user's.
        dir.ancestors().find(|above| disk.work_for_owner_of(above).is_ok());
        let system = Keyset::inspect(disk, &options.key_file)?.system;
        let (mut config, text) = configuration(seam, options, system)?;
        if options.accept_plain {
            // Where plain archives end nobody knows before they are read.
            config.log.plain.until = Lsn(u64::MAX);
        } else {
            refuse_plain(&config, dir)?;
        }
        let places = Places::of(&config, dir);
        places.free(disk)?;
        let key_file = read_small(disk, &options.key_file, KEY_FILE_BYTES_MAX)
            .map_err(|error| SystemError::io("read", &options.key_file, error))?;
        let keyset = Keyset::open(seam, &options.key_file, system, passphrase)?;
        let keys = Arc::new(keyset) as Arc<dyn KeyProvider>;
        let parts = parts(seam, dir, &config, Arc::clone(&keys));
        let catalog = catalog(&parts, &config, dir)?;
        let copies = copy_keys(Arc::clone(&keys), system);
        let lost = LostSystem::look(seam, &catalog, &copies, &options.copies, tell)?;
        // What the configuration names is for new ones: these come back to where they were.
        let folders = lost.folders();
        folders.iter().try_for_each(|one| places.free_of_data_sets(disk, &dir.join(one)))?;
        let restoring = dir.join(RESTORING);
        let made = make_alone(seam, dir, &config.clone(), |seam| {
            let again = serde_json::to_vec(&Again::of(options)).unwrap_or_default();
            write(seam, &restoring, &again)?;
            write(seam, &config.key_file(dir), &key_file)?;
            let parts = Parts { seam: seam.clone(), ..parts.clone() };
            let recon = registry::recon_setup(seam, dir, &config, keys);
            if options.accept_plain {
                config.log.plain.until = lost.began();
            }
            lost.make(&parts, &config.kernel(dir), &recon)?;
            write(seam, &dir.join(CONFIG_FILE), text.as_bytes())?;
            // Beside the system's configuration it says nothing.
            let _ = seam.disk.remove(&restoring);
            Ok(())
        });
        made.map(|()| RestoredSystem {
            system,
            end: lost.past().end,
            committed_us: lost.past().committed_us,
            began: lost.began(),
            archives: catalog.list().len(),
            copies: lost.copies().copies.len(),
            sets: lost.sets(),
            left: lost.left().to_vec(),
            protection: ProtectionStatus::of(&config.asked(dir)),
            notes: lost.notes(),
        })
    }
}

/// What a restore that is cut off is begun again with. The command is made of it anew: whoever can
/// write here must not put words into anybody's mouth.
#[derive(Serialize, Deserialize)]
struct Again {
    keys: PathBuf,
    config: Option<PathBuf>,
    archives: Vec<PathBuf>,
    copies: Vec<PathBuf>,
}

impl Again {
    fn of(options: &RestoreOptions) -> Again {
        Again {
            keys: options.key_file.clone(),
            config: options.config.clone(),
            archives: options.archives.clone(),
            copies: options.copies.clone(),
        }
    }

    fn command(&self, dir: &Path) -> Repair {
        let text = |path: &Path| path.display().to_string();
        let mut words = vec!["holdfast".into(), "restore".into(), text(dir)];
        let keys = [("--keys", &self.keys)].into_iter();
        let config = self.config.iter().map(|path| ("--config", path));
        let archives = self.archives.iter().map(|path| ("--archives", path));
        let copies = self.copies.iter().map(|path| ("--copies", path));
        for (option, path) in keys.chain(config).chain(archives).chain(copies) {
            words.extend([option.into(), text(path)]);
        }
        Repair(words)
    }
}

/// Whether a restore was cut off in a folder before there was a system; how it is begun again, as
/// far as that can be read.
pub(crate) fn cut_off(disk: &dyn Disk, dir: &Path) -> Option<Repair> {
    if !matches!(disk.exists(&dir.join(CONFIG_FILE)), Ok(false)) {
        return None;
    }
    let bytes = read_small(disk, &dir.join(RESTORING), KEY_FILE_BYTES_MAX).ok()?;
    let again = serde_json::from_slice::<Again>(&bytes);
    Some(again.map_or(Repair(Vec::new()), |again| again.command(dir)))
}

fn write(seam: &Seam, path: &Path, bytes: &[u8]) -> Result<(), SystemError> {
    let written = replace_small(seam.disk.as_ref(), path, bytes);
    written.map_err(|error| SystemError::io("write", path, error))
}

/// The configuration of a restored system, and its text.
fn configuration(
    seam: &Seam,
    options: &RestoreOptions,
    system: SystemId,
) -> Result<(SystemConfig, String), SystemError> {
    let Some(path) = &options.config else {
        let mut config = SystemConfig::new(system);
        config.archive.folders.clone_from(&options.archives);
        let checked = config.archive(Path::new("")).map(|archive| archive.check());
        checked.ok_or_else(|| not_restored("no folder of archives was named"))??;
        let text = config.to_text();
        return Ok((config, text));
    };
    let config = SystemConfig::read_file(seam.disk.as_ref(), path)?;
    if config.system != system {
        let (key, other) = (options.key_file.display(), path.display());
        let why = format!("{key} and {other} belong to different systems");
        return Err(not_restored(&why));
    }
    if config.archive.folders.is_empty() {
        let why = format!("{} names no folder of archives", path.display());
        return Err(not_restored(&why));
    }
    let text = read_small(seam.disk.as_ref(), path, KEY_FILE_BYTES_MAX)
        .map_err(|error| SystemError::io("read", path, error))?;
    Ok((config, String::from_utf8_lossy(&text).into_owned()))
}

/// Refuses a configuration that would make a system less than sealed.
fn refuse_plain(config: &SystemConfig, dir: &Path) -> Result<(), SystemError> {
    let lowered = Protection::SEALED.lowered_by(&config.asked(dir));
    let Some(first) = lowered.into_iter().find(|one| one.asked == Format::Plain.to_string()) else {
        return Ok(());
    };
    let why = format!(
        "{} of its configuration asks for plain, and nothing here proves that the system was so; \
         if it was, say --accept-plain",
        first.setting
    );
    Err(not_restored(&why))
}

/// The archives of a system that is to be restored.
fn catalog(
    parts: &Parts,
    config: &SystemConfig,
    dir: &Path,
) -> Result<Arc<ArchiveCatalog>, SystemError> {
    let catalog = archives::look(parts, config, dir)?;
    catalog.ok_or_else(|| not_restored("no folder of archives was named"))
}

fn not_restored(why: &str) -> SystemError {
    RecoveryError::NotRestored { why: why.to_owned() }.into()
}

/// Makes RECON anew from files: image copies in some folders, the archives, and the log. What RECON
/// still says is kept. The system is stopped.
///
/// # Errors
/// Whatever is wrong with folders, key file or configuration. What is wrong with single files comes
/// back as notes.
pub fn rebuild_recon(
    seam: &Seam,
    dir: &Path,
    passphrase: &Passphrase,
    folders: &[PathBuf],
    (notes, tell): (&mut Vec<String>, ProgressSink<'_>),
) -> Result<RebuiltRecon, SystemError> {
    let dir = &absolute(seam, dir)?;
    let stopped = Stopped::look(seam, dir, passphrase)?;
    let config = stopped.config.clone();
    let past = read_log(&stopped, notes, tell)?;
    let bound = stopped.bound.clone();
    drop(stopped);
    // Nobody opens the system meanwhile.
    let (keyset, _lock) = open_keyset(seam, dir, passphrase)?;
    Places::of(&config, dir).take(seam, false)?;
    let keys = Arc::new(keyset) as Arc<dyn KeyProvider>;
    let setup = registry::recon_setup(seam, dir, &config, Arc::clone(&keys));
    let kept = recon::read(&setup);
    let mut state = match &kept {
        Ok(reading) => reading.state.clone(),
        Err(error) => {
            notes.push(format!("nothing of RECON is kept: {error}"));
            if folders.is_empty() {
                notes.push(NO_COPIES.to_owned());
            }
            State::default()
        }
    };
    let found = find_copies(seam, &copy_keys(Arc::clone(&keys), config.system), folders, tell)?;
    notes.extend(found.faults);
    let copies = found.copies.len();
    state.learn(found.copies.into_values().map(Record::ImageCopy));
    let parts = parts(seam, dir, &config, keys);
    let catalog = archives::look(&parts, &config, dir)?;
    let label = config.kernel(dir).log.key_label;
    let archived = catalog.map(|catalog| archive::unrecorded(&catalog, &state, &label));
    let archived = archived.unwrap_or_default();
    let archives = archived.len();
    state.learn(archived);
    let recovered = past.unrecorded(&state);
    let recoveries = recovered.iter().filter(|one| matches!(one, Record::Recovery(_))).count();
    state.learn(recovered);
    match kept.is_err() && folders.is_empty() {
        true => state.learn(registry::forgotten(&setup, past.end.max(Lsn::FIRST))),
        false => state.learn([Record::Recreated(Lsn::NONE)]),
    }
    if let Some(bound) = bound {
        state.learn([Record::Protected(bound.edition)]);
        notes.push(format!("the control file binds: {}", ProtectionStatus::of(&bound)));
    }
    Recon::rebuild(&setup, &state.records())?;
    Ok(RebuiltRecon { copies, archives, recoveries })
}

/// What archives and log of a stopped system say of recoveries. As far as they cannot be read,
/// nothing is known; copies are then of less use, and never taken for what they are not.
fn read_log(
    stopped: &Stopped,
    notes: &mut Vec<String>,
    tell: ProgressSink<'_>,
) -> Result<SetHistory, SystemError> {
    let keys = Arc::clone(stopped.keys()) as Arc<dyn KeyProvider>;
    let parts = parts(&stopped.seam, &stopped.dir, stopped.config(), keys);
    let mut past = SetHistory::from(Lsn::NONE);
    let mut archived = None;
    if let Some(catalog) = archives::look(&parts, stopped.config(), &stopped.dir)? {
        archived = catalog.archived_to();
        let source = LogSource::new(Some(catalog), None);
        let (from, to) = (source.oldest(), source.end());
        let mut tell_lsn = |lsn: Lsn| {
            let (done, total) = (lsn.0.saturating_sub(from.0), to.0.saturating_sub(from.0));
            tell(Progress { what: "the archives", done, total });
        };
        match SetHistory::read_around(&source, from, &mut tell_lsn) {
            Ok((read, unread)) => {
                past = read;
                notes.extend(unread.into_iter().map(|one| one.why));
            }
            Err(error) => notes.push(format!("the archives cannot be read: {error}")),
        }
    }
    let (mut first, mut bad) = (true, None);
    let surveyed = stopped.survey(&mut |scanned| match scanned {
        Scanned::Group(group) if first => {
            first = false;
            // Groups between archive and log were in segments that restart does not read.
            if archived.is_none_or(|archived| group.number > archived) {
                past.lose_track();
            }
        }
        Scanned::Record(record) if record.lsn >= past.end && bad.is_none() => {
            bad = past.see(record).err();
        }
        _ => {}
    });
    notes.extend(surveyed.err().map(|error| format!("the log cannot be read: {error}")));
    notes.extend(bad.map(|error| format!("the log cannot be read: {error}")));
    Ok(past)
}

fn copy_keys(keys: Arc<dyn KeyProvider>, system: SystemId) -> CopyKeys {
    CopyKeys { keys, label: LABELS[0].into(), system }
}
