//! The proof of what is kept for a recovery: RECON, archives, accumulations, image copies.
//!
//! Invariants:
//! 1. What is damaged and has a good copy is named with the command that copies it. What has none
//!    is named with the commands after which nothing needs it any more.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use archive::{ArchiveCatalog, CatalogEntry, CopyFault, Cure, LogBegins};
use base::{Coded, GroupNumber, Lsn};
use recon::{ImageCopy, Reading, Setup};
use recovery::{CopyFiles, CopyKeys};
use seal::KeyProvider;
use seam::Seam;
use seam::disk::Disk;

use super::audit::{self, ArchiveDiscord, Away};
use super::{Finding, Phase, Repair, Verifier, Watch, plain_finding};
use crate::remedy::log_begins;
use crate::system::System;
use crate::{LABELS, Stopped, SystemConfig, archives, registry};

/// Where a system keeps things, in use or not.
pub(crate) struct Site {
    seam: Seam,
    config: SystemConfig,
    keys: Arc<dyn KeyProvider>,
    setup: Setup,
    /// The archives of a system in use.
    catalog: Option<Arc<ArchiveCatalog>>,
    in_use: bool,
}

/// RECON is looked at again if a copy of it seems wrong: an entry may just be written.
const LOOKS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(20);

impl Site {
    pub(crate) fn of_stopped(stopped: &Stopped) -> Site {
        let keys = Arc::clone(&stopped.keys) as Arc<dyn KeyProvider>;
        let (seam, config) = (stopped.seam.clone(), stopped.config.clone());
        let setup = registry::recon_setup(&seam, &stopped.dir, &config, Arc::clone(&keys));
        Site { seam, config, keys, setup, catalog: None, in_use: false }
    }

    pub(crate) fn of_running(system: &System) -> Site {
        Site {
            seam: system.kernel().seam().clone(),
            config: system.config().clone(),
            keys: Arc::clone(system.keys()) as Arc<dyn KeyProvider>,
            setup: system.recon().setup().clone(),
            catalog: system.archiver().map(|archiver| Arc::clone(archiver.catalog())),
            in_use: true,
        }
    }

    fn copy_keys(&self) -> CopyKeys {
        let keys = Arc::clone(&self.keys);
        CopyKeys { keys, label: LABELS[0].into(), system: self.config.system }
    }

    /// What RECON's files say; whether all of it was well.
    fn look(&self) -> Result<(Reading, Vec<Wrong>), recon::ReconError> {
        for look in 1.. {
            let read = recon::read(&self.setup);
            let wrong = read.as_ref().map(wrong_copies).unwrap_or_default();
            if !self.in_use || look == LOOKS || (read.is_ok() && wrong.is_empty()) {
                return read.map(|reading| (reading, wrong));
            }
            self.seam.clock.sleep(PAUSE);
        }
        unreachable!("the last look returns")
    }

    /// What RECON says by now of a system in use, where somebody may delete what is looked at:
    /// RECON forgets it before its files go. `None` if that cannot be told.
    fn by_now(&self) -> Option<recon::State> {
        self.look().ok().filter(|_| self.in_use).map(|(reading, _)| reading.state)
    }
}

/// A copy of RECON that is not as it should be.
struct Wrong {
    file: PathBuf,
    what: String,
    /// Whether a crash does that: the copy lacks what was being written, and nothing else.
    of_crash: bool,
}

/// The copies that are damaged or behind, and how.
fn wrong_copies(reading: &Reading) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    for copy in &reading.copies {
        let behind = || {
            let newest = copy.newest.filter(|newest| *newest < reading.newest)?;
            let (path, last) = (copy.path.display(), reading.newest);
            Some(format!("{path}: it ends with entry {newest}, the other one with {last}"))
        };
        let of_crash = copy.wrong.is_none();
        let what = copy.wrong.clone().or_else(behind);
        wrong.extend(what.map(|what| Wrong { file: copy.path.clone(), what, of_crash }));
    }
    wrong
}

impl Verifier {
    /// Reads RECON, whose word on image copies decides what repairs a data set. Returns what is
    /// wrong with it, and of each whether a crash does that.
    pub(crate) fn recon(&mut self, site: &Site) -> Vec<(Finding, bool)> {
        let repair = vec![self.command("repair", &["--recon"])];
        let finding = |file: PathBuf, what: String, remedy: &str, repair: Vec<Repair>| Finding {
            object: "RECON".into(),
            file: Some(file),
            offset: None,
            interval: None,
            what,
            remedy: remedy.into(),
            repair,
        };
        match site.look() {
            Ok((reading, wrong)) => {
                reading.state.forgotten().into_iter().for_each(|what| self.note(what));
                let disk = site.seam.disk.as_ref();
                self.copies_away = recovery::folders_away(disk, &reading.state);
                self.recon = Some(reading.state);
                let findings = wrong.into_iter().map(|Wrong { file, what, of_crash }| {
                    let remedy = "The other copy has everything.";
                    (finding(file, what, remedy, repair.clone()), of_crash)
                });
                findings.collect()
            }
            Err(error) => {
                let [file, _] = site.setup.paths();
                let what = error.with_code();
                let (remedy, repair) = match site.in_use {
                    true => ("The system knows what it said.".to_owned(), repair),
                    false => (error.remedy(), Vec::new()),
                };
                vec![(finding(file, what, &remedy, repair), false)]
            }
        }
    }

    /// Every archive and accumulation, on every copy.
    pub(crate) fn archives(&mut self, site: &Site, watch: &mut Watch<'_>) {
        let opened = match &site.catalog {
            Some(catalog) => Ok(Some(Arc::clone(catalog))),
            None => archives::looked_at(&site.seam, &site.keys, &site.config, &self.dir),
        };
        let catalog = match opened {
            Ok(Some(catalog)) => catalog,
            Ok(None) => return,
            Err(error) => return self.of_error("archives", None, &error, Vec::new()),
        };
        if let Some(state) = self.recon.as_ref().filter(|_| !site.in_use)
            && let Err(error) = catalog.expect(state)
        {
            self.of_error("archives", None, &error, Vec::new());
        }
        let list = catalog.list();
        let total = list.len() as u64;
        for (number, copy) in list.iter().enumerate() {
            let (done, object, unit) = (number as u64, "archives", "archives");
            let bytes = copy.info.file_bytes() * copy.files.len() as u64;
            if !watch.step(Phase { object, done, total, unit }, bytes) {
                return;
            }
            self.archive(&catalog, copy);
        }
        let faults = catalog.faults();
        let unread = catalog.unread_archives().into_iter().map(|one| one.from);
        let unread: BTreeSet<GroupNumber> = unread.collect();
        // Some may have been made since, and some deleted.
        let known = || list.iter().cloned().chain(catalog.list());
        for fault in faults {
            if fault.is_foreign() {
                self.foreign_archive(fault);
            } else if !known().any(|copy| copy.info.from == fault.from) {
                let (from, what) = (fault.from, fault.why.to_string());
                let behind = list.iter().find(|copy| copy.info.from > from);
                let recorded = self.recon.as_ref().and_then(|state| archive::end_of(state, from));
                let end = recorded.or(behind.map(|copy| copy.info.first)).unwrap_or(Lsn(u64::MAX));
                self.lost_archive((from, end), fault.path, what, unread.contains(&from));
            }
        }
        self.audit(site, &catalog);
        self.accumulations(&catalog);
    }

    fn archive(&mut self, catalog: &ArchiveCatalog, copy: &CatalogEntry) {
        self.report.archive_files += copy.files.len() as u64;
        // It may have been deleted since the list was made.
        let Ok(faults) = catalog.verify(copy.info.from) else { return };
        let bad = |path: &PathBuf| faults.iter().any(|fault| fault.path == *path);
        let is_left = copy.files.iter().any(|path| !bad(path));
        let is_whole = is_left || (!faults.is_empty() && catalog.is_whole_together(copy.info.from));
        let first = copy.info.from.0;
        for fault in faults {
            let what = fault.why.with_code();
            if fault.is_foreign() {
                // It was told with the other files that are no archives.
                continue;
            }
            if !is_whole {
                self.lost_archive((copy.info.from, copy.info.end), fault.path, what, false);
                continue;
            }
            let words = ["--first-group", &first.to_string(), "--repair"];
            let repair = vec![self.command("archive verify", &words)];
            let remedy = match is_left {
                true => "The other copy is whole: have this one made anew.",
                false => "Both copies are damaged, but not in the same place: have both made anew.",
            };
            self.find(Finding {
                object: format!("archive from group {first}"),
                file: Some(fault.path),
                offset: None,
                interval: None,
                what,
                remedy: remedy.into(),
                repair,
            });
        }
    }

    /// A file of another system, which only somebody who knows that system can move.
    fn foreign_archive(&mut self, fault: CopyFault) {
        let what = fault.why.with_code();
        let remedy = "Move it away, to a folder of its own system: with it, this one does not \
                      archive to the folder, and is not started if it has no other.";
        let finding = plain_finding("folder of the archive", what, remedy);
        self.find(Finding { file: Some(fault.path), ..finding });
    }

    /// An archive of which no copy is whole, its first group and its end. If it is `unread` on all
    /// of them, a restore is refused for as long as it stands there.
    fn lost_archive(
        &mut self,
        (first, end): (GroupNumber, Lsn),
        path: PathBuf,
        what: String,
        unread: bool,
    ) {
        let state = self.recon.as_ref();
        let needed = state.and_then(recon::State::log_needed_from).is_none_or(|from| end > from);
        let group = first.0.to_string();
        let delete = self.command("archive delete", &["--first-group", &group]);
        let in_log = self.log_begins().is_some_and(|log| log.group <= first);
        let again = self.command("archive verify", &["--first-group", &group, "--repair"]);
        if !needed && !unread {
            let (file, command) = (path.display(), if in_log { again } else { delete });
            self.note(format!("{file}: {what}; no recovery needs it: `{command}`"));
            return;
        }
        let (remedy, repair) = if in_log {
            let remedy =
                "No copy of it is left, but the log has its groups: have it written again.";
            (remedy, vec![again])
        } else if needed {
            let remedy = "No copy of it is left. Make new image copies of everything: then no \
                          recovery needs it.";
            (remedy, self.fresh_copies(None))
        } else {
            let remedy = "No copy of it is left, and no recovery needs it: delete it, for it may \
                          keep a restore from going on behind it.";
            (remedy, vec![delete])
        };
        self.find(Finding {
            object: format!("archive from group {}", first.0),
            file: Some(path),
            offset: None,
            interval: None,
            what,
            remedy: remedy.into(),
            repair,
        });
    }

    /// Where the log begins.
    fn log_begins(&self) -> Option<LogBegins> {
        self.kernel.as_ref().map_or(self.log_begins, |kernel| log_begins(kernel))
    }

    /// What archives say together.
    fn audit(&mut self, site: &Site, catalog: &ArchiveCatalog) {
        let Some(state) = self.recon.clone() else { return };
        let by_now = || site.look().map_or_else(|_| state.clone(), |(reading, _)| reading.state);
        let found = match &self.kernel {
            Some(kernel) => audit::in_use(kernel, catalog, &mut { by_now }),
            None => audit::stopped(catalog, &state, self.log_begins),
        };
        for discord in &found {
            let findings = ArchiveDiscord::of(&self.dir, &state, &self.copies_away, discord);
            if !findings.needed {
                self.note(format!("{}; no recovery needs it", findings.text()));
                continue;
            }
            self.find(Finding {
                object: match discord.cure {
                    Cure::Mount => "folder of the archive".to_owned(),
                    _ => format!("archive from group {}", findings.first_group),
                },
                file: discord.path.clone(),
                offset: None,
                interval: None,
                what: findings.why,
                remedy: findings.remedy,
                repair: findings.repair,
            });
        }
    }

    fn accumulations(&mut self, catalog: &ArchiveCatalog) {
        self.report.archive_files +=
            catalog.accumulations().iter().map(|one| one.files.len() as u64).sum::<u64>();
        for (path, error) in catalog.damaged_accumulations() {
            let what = error.with_code();
            let remedy = "The archives it was made of serve instead: have it deleted, and make \
                          another one.";
            let repair = vec![self.command("archive verify", &["--repair"])];
            let finding = plain_finding("accumulation", what, remedy);
            self.find(Finding { file: Some(path), repair, ..finding });
        }
    }

    /// Every image copy that RECON knows, on every file.
    pub(crate) fn image_copies(&mut self, site: &Site, watch: &mut Watch<'_>) {
        let Some(state) = self.recon.clone() else { return };
        for path in unfinished_copies(site.seam.disk.as_ref(), &state) {
            let or_now = if site.in_use { ", unless one is being made now" } else { "" };
            let path = path.display();
            self.note(format!("{path} is left over from an image copy that was cut off{or_now}"));
        }
        for copy in state.image_copies.values() {
            let mut bad = Vec::new();
            for file in &copy.files {
                self.report.copy_files += 1;
                if let Err(what) = prove_copy(site, copy, &file.path, watch) {
                    bad.push((file.path.clone(), what));
                }
                if watch.is_ended() {
                    return;
                }
            }
            if state.chain_of(copy.number).is_none() {
                self.baseless(copy);
            }
            let is_left = bad.len() < copy.files.len();
            if !bad.is_empty()
                && site.by_now().is_some_and(|now| !now.image_copies.contains_key(&copy.number))
            {
                continue;
            }
            for (path, what) in bad {
                self.bad_copy(copy, path, what, is_left);
            }
        }
    }

    /// A copy that goes on from one that RECON does not know.
    fn baseless(&mut self, copy: &ImageCopy) {
        let number = copy.number.to_string();
        let mut repair = vec![self.command("recon change", &["--copy", &number, "--gone"])];
        let names = copy.sets.iter().map(|set| &set.name);
        let is_alone =
            |state: &recon::State| names.clone().any(|name| state.copies_of(name).is_empty());
        if self.recon.as_ref().is_some_and(is_alone) {
            repair.extend(self.fresh_copies(Some(copy)));
        }
        let what = format!("it goes on from image copy {}, which RECON does not know", copy.base);
        let remedy = format!(
            "It is of no use without: have RECON forget it; or, if image copy {} is to be found, \
             stop the system and have it named again: `holdfast recon rebuild --from FOLDER`.",
            copy.base
        );
        let finding = plain_finding(&format!("image copy {number}"), what, &remedy);
        self.find(Finding { repair, ..finding });
    }

    fn bad_copy(&mut self, copy: &ImageCopy, path: PathBuf, what: String, is_left: bool) {
        let number = copy.number.to_string();
        let again = self.command("repair", &["--copy", &number]);
        let gone = self.command("recon change", &["--copy", &number, "--gone"]);
        let is_in_away =
            |file: &Path| file.parent().is_some_and(|folder| self.copies_away.contains(folder));
        let is_away = is_in_away(&path);
        // As long as one of its files may come back, it is not gone.
        let waits = is_away || (!is_left && copy.files.iter().any(|file| is_in_away(&file.path)));
        let (remedy, repair) = match (waits, is_left) {
            // Nobody but the operator knows whether what a folder held is gone for good.
            (true, true) => {
                let remedy = format!(
                    "Mount its folder. If what that held is gone for good, have this file made \
                     anew from the other one: `{again}`."
                );
                (remedy, Vec::new())
            }
            (true, false) => (self.when_mounted(copy, &gone), Vec::new()),
            (false, true) => {
                ("The other file is whole: have this one made anew.".into(), vec![again])
            }
            (false, false) => {
                // A recovery of what is whole in it, and a new copy, come first.
                let mut repair = self.fresh_copies(Some(copy));
                repair.push(gone);
                ("No file of it is whole: make a new one, and have RECON forget it.".into(), repair)
            }
        };
        let what = match is_away {
            true => format!("its folder is not mounted, or was emptied: {what}"),
            false => what,
        };
        let object = format!("image copy {number}");
        let finding = plain_finding(&object, what, &remedy);
        self.find(Finding { file: Some(path), repair, ..finding });
    }

    /// What to do about a copy of which no file can be read while a folder is away.
    fn when_mounted(&self, copy: &ImageCopy, gone: &Repair) -> String {
        let number = copy.number.to_string();
        let moved = self.command("recon change", &["--copy", &number, "--moved-to", "FOLDER"]);
        let state = self.recon.as_ref();
        let new =
            state.map(|state| audit::fresh_copies(&self.dir, state, Some(copy), &Away::new()));
        let new = new.unwrap_or_default().into_iter().map(|one| format!(", then `{one}`"));
        format!(
            "Mount the folder, or say in which folder its files stand now: `{moved}`. If they are \
             gone for good, have RECON forget it, and make a new one: `{gone}`{}.",
            new.collect::<String>()
        )
    }

    /// What copies everything anew, or what a copy held.
    pub(super) fn fresh_copies(&self, like: Option<&ImageCopy>) -> Vec<Repair> {
        let state = self.recon.as_ref();
        state
            .map(|state| audit::fresh_copies(&self.dir, state, like, &self.copies_away))
            .unwrap_or_default()
    }
}

/// What image copies that were cut off have left in the folders where others stand.
pub(crate) fn unfinished_copies(disk: &dyn Disk, state: &recon::State) -> Vec<PathBuf> {
    let files = state.image_copies.values().flat_map(|copy| &copy.files);
    let folders: BTreeSet<&Path> = files.filter_map(|file| file.path.parent()).collect();
    let mut found = Vec::new();
    for folder in folders {
        let names = disk.list(folder).unwrap_or_default().into_iter();
        let cut_off = names.filter(|name| recovery::is_unfinished(name));
        found.extend(cut_off.map(|name| folder.join(name)));
    }
    found
}

/// Reads one file of an image copy from front to back.
fn prove_copy(
    site: &Site,
    copy: &ImageCopy,
    path: &Path,
    watch: &mut Watch<'_>,
) -> Result<(), String> {
    let object = format!("image copy {}", copy.number);
    let mut seen = 0;
    let mut progress = |done: u64, total: u64| {
        let (done_mib, total) = (done >> 20, total >> 20);
        let phase = Phase { object: &object, done: done_mib, total, unit: "MiB" };
        watch.step(phase, done.saturating_sub(seen));
        seen = done;
    };
    match CopyFiles::verify(&site.seam, path, &site.copy_keys(), &mut progress) {
        Ok(info) if info.tag == copy.tag => Ok(()),
        Ok(_) => Err("it is another copy than the one that RECON knows".into()),
        Err(error) => Err(error.with_code()),
    }
}
