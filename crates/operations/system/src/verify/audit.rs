//! What archives say together: held against RECON, each other and the log, and what repairs it.
//!
//! Invariants:
//! 1. In a system in use archives come and go, and RECON hears of it a moment before or after:
//!    what seems wrong is looked at again, and told only if it stays.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use archive::{ArchiveCatalog, Cure, Discord, LogBegins};
use recon::{ImageCopy, State};
use seam::clock::Clock;
use serde::{Deserialize, Serialize};
use uow::Kernel;

use crate::remedy::{Repair, log_begins};

/// How often something that seems wrong is looked at.
const LOOKS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(20);
/// What to do about a folder that is away.
const MOUNT: &str = "Mount it; the archiver goes on by itself.";

/// Something that is wrong with archives, and the commands that repair it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveDiscord {
    /// The group that the archive begins with, or the first one that is missing.
    pub first_group: u64,
    /// The file that it is about.
    pub file: Option<String>,
    /// What is wrong.
    pub why: String,
    /// Whether a recovery needs what it is about.
    pub needed: bool,
    /// What to do, in words.
    pub remedy: String,
    /// The commands that repair it; none if no command can.
    pub repair: Vec<Repair>,
    /// Whether it was repaired just now, and how.
    pub repaired: Option<String>,
}

impl ArchiveDiscord {
    pub(crate) fn of(dir: &Path, state: &State, away: &Away, discord: &Discord) -> ArchiveDiscord {
        let first = discord.from.0;
        let (remedy, repair) = match discord.cure {
            Cure::Mount => (MOUNT, Vec::new()),
            Cure::Record => {
                let words = ["--first-group", &first.to_string(), "--repair"];
                ("Have RECON told of it.", vec![Repair::of("archive verify", dir, &words)])
            }
            Cure::Log => {
                let words = ["--first-group", &first.to_string(), "--repair"];
                let repair = vec![Repair::of("archive verify", dir, &words)];
                ("The log still has its groups: have it written again.", repair)
            }
            Cure::Copies => {
                let remedy = "Bring the right file back. If there is none, make new image copies \
                              of everything, `holdfast image-copy --all --to FOLDER`: then no \
                              recovery needs it.";
                (remedy, fresh_copies(dir, state, None, away))
            }
            Cure::Unneeded => ("Nothing: no recovery needs it.", Vec::new()),
        };
        let mut remedy = remedy.to_owned();
        if let (Cure::Mount, Some(folder)) = (discord.cure, &discord.path) {
            // Nobody but the operator knows whether it is gone for good.
            let folder = folder.display().to_string();
            let begin = Repair::of("archive begin", dir, &[&folder]);
            remedy += &format!(" If what it held is gone for good, begin anew in it: `{begin}`.");
        }
        ArchiveDiscord {
            first_group: first,
            file: discord.path.as_ref().map(|path| path.display().to_string()),
            why: discord.why.clone(),
            needed: discord.cure != Cure::Unneeded,
            remedy,
            repair,
            repaired: None,
        }
    }

    /// What it is about, and what is wrong.
    pub(crate) fn text(&self) -> String {
        match &self.file {
            Some(file) => format!("{file}: {}", self.why),
            None => self.why.clone(),
        }
    }
}

/// What stays wrong for as long as it is looked at (1).
pub(crate) fn lasting(clock: &dyn Clock, look: &mut dyn FnMut() -> Vec<Discord>) -> Vec<Discord> {
    let mut found = look();
    for _ in 1..LOOKS {
        if found.is_empty() {
            break;
        }
        clock.sleep(PAUSE);
        let again = look();
        found.retain(|discord| again.contains(discord));
    }
    found
}

/// What is wrong with the archives of a stopped system. Of the newest one the next start tells
/// RECON.
pub(crate) fn stopped(
    catalog: &ArchiveCatalog,
    state: &State,
    log: Option<LogBegins>,
) -> Vec<Discord> {
    let newest = catalog.newest().map(|newest| newest.info.from);
    let mut found = archive::audit(catalog, state, log);
    found.retain(|one| one.cure != Cure::Record || Some(one.from) != newest);
    found
}

/// What is wrong with the archives of a system in use.
pub(crate) fn in_use(
    kernel: &Kernel,
    catalog: &ArchiveCatalog,
    state: &mut dyn FnMut() -> State,
) -> Vec<Discord> {
    let clock = kernel.seam().clock.as_ref();
    lasting(clock, &mut || archive::audit(catalog, &state(), log_begins(kernel)))
}

/// Folders of image copies that are not mounted.
pub(crate) type Away = BTreeSet<PathBuf>;

/// What copies everything anew, or what a copy held, to where copies went so far; nothing if RECON
/// does not know where that is, or it is not mounted.
pub(crate) fn fresh_copies(
    dir: &Path,
    state: &State,
    like: Option<&ImageCopy>,
    away: &Away,
) -> Vec<Repair> {
    let folders = |copy: &ImageCopy| -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> =
            copy.files.iter().filter_map(|file| file.path.parent()).map(Path::to_owned).collect();
        folders.retain(|folder| !away.contains(folder));
        folders.dedup();
        folders
    };
    let newest = || state.image_copies.values().rev().find(|copy| !folders(copy).is_empty());
    let Some(model) = like.or_else(newest) else { return Vec::new() };
    let has = |copy: &ImageCopy, name: &str| copy.sets.iter().any(|set| set.name == name);
    // Of everything what is offline is left out.
    let like = like.filter(|copy| !state.sets.values().all(|set| has(copy, &set.name)));
    let mut words: Vec<String> = match like {
        None => vec!["--all".into()],
        Some(copy) => {
            let there = |name: &str| state.sets.values().any(|set| set.name == name);
            let sets = copy.sets.iter().filter(|set| there(&set.name));
            sets.flat_map(|set| ["--set".into(), set.name.clone()]).collect()
        }
    };
    let folders = folders(model);
    if words.is_empty() || folders.is_empty() {
        return Vec::new();
    }
    for folder in folders {
        words.extend(["--to".into(), folder.display().to_string()]);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    vec![Repair::of("image-copy", dir, &words)]
}
