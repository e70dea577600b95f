//! Commands that repair what is damaged, and what RECON knows that a recovery can use.
//!
//! Invariants:
//! 1. A [`Repair`] is a whole command line: typed as it stands, it repairs what it is named for.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use archive::LogBegins;
use base::Lsn;
use recovery::{Births, Target};
use serde::{Deserialize, Serialize};
use uow::Kernel;

/// A command that repairs something, word by word.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Repair(pub Vec<String>);

impl Repair {
    /// `holdfast VERB -s DIR WORDS...`; a verb may have two words.
    #[must_use]
    pub fn of(verb: &str, dir: &Path, words: &[&str]) -> Repair {
        let own = ["-s".to_owned(), dir.display().to_string()];
        let verb = verb.split(' ').map(str::to_owned);
        let words = words.iter().map(|word| (*word).to_owned());
        Repair(["holdfast".to_owned()].into_iter().chain(verb).chain(own).chain(words).collect())
    }
}

impl Display for Repair {
    /// As a shell takes it.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
        for (at, word) in self.0.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            match !word.is_empty() && word.chars().all(plain) {
                true => write!(f, "{space}{word}")?,
                false => write!(f, "{space}'{}'", word.replace('\'', "'\\''"))?,
            }
        }
        Ok(())
    }
}

/// What gives a data set its files again that only the open system has: from copies and log, or, if
/// these do not have all of it, from a copy that is made first.
pub(crate) fn bring_back(
    dir: &Path,
    kernel: &Kernel,
    state: Option<&recon::State>,
    name: &str,
) -> Vec<Repair> {
    let mut repair = vec![Repair::of("recover", dir, &["--set", name])];
    if !state.is_some_and(|state| is_recoverable_in_use(kernel, state, name)) {
        let disk = &kernel.seam().disk;
        let files = state.iter().flat_map(|state| state.image_copies.values().rev());
        let mut folders = files.flat_map(|copy| &copy.files).filter_map(|file| file.path.parent());
        let folder =
            folders.find(|folder| matches!(disk.exists(folder), Ok(true))).map(Path::to_owned);
        let folder = folder.unwrap_or_else(|| dir.join("image-copies")).display().to_string();
        repair.insert(0, Repair::of("image-copy", dir, &["--set", name, "--to", &folder]));
    }
    repair
}

/// Whether copies and log bring a data set of a system in use back, as far as RECON knows.
pub(crate) fn is_recoverable_in_use(kernel: &Kernel, state: &recon::State, name: &str) -> bool {
    let (names, births) = ([name.to_owned()], Births::new());
    let planned = recovery::plan(kernel, state, &names, Target::Now, &births);
    planned.is_ok() || is_all_in_log(state, log_begins(kernel).map(|log| log.lsn), name)
}

/// Whether all of the life of a data set is in archives and log, as far as RECON knows; `log` is
/// where the log begins.
#[must_use]
pub fn is_all_in_log(state: &recon::State, log: Option<Lsn>, name: &str) -> bool {
    let archived = state.archives.values().map(|one| one.first);
    let oldest = archived.chain(log).min();
    let made = state.sets.values().find(|set| set.name == name).map(|set| set.made);
    oldest.zip(made).is_some_and(|(oldest, made)| oldest <= made)
}

/// Whether a data set of a stopped system has an image copy, or all of its life is in archives and
/// log, as far as RECON knows: the recovery itself knows better.
pub(crate) fn is_recoverable(state: &recon::State, log: Option<LogBegins>, name: &str) -> bool {
    is_all_in_log(state, log.map(|log| log.lsn), name) || !state.copies_of(name).is_empty()
}

/// Where the log of a system in use begins.
pub(crate) fn log_begins(kernel: &Kernel) -> Option<LogBegins> {
    let segments = kernel.log().segments();
    segments.first().map(|oldest| LogBegins { group: oldest.first_group, lsn: oldest.first })
}
