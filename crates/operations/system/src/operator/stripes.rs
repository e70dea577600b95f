//! The verb that changes the stripes of the log.
//!
//! The configuration's file is written after the files of new stripes are there and before the log
//! goes over to them: whatever happens, the next start knows where they are. If the file cannot be
//! changed, nothing is.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use wal::LogError;

use super::{Refusal, Talk};
use crate::config::LogSettings;
use crate::{System, SystemConfig, SystemError};

/// What `log stripes` is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stripes {
    /// How many stripes the log shall be written over.
    pub stripes: u8,
    /// Folders of those that are new, one for each copy, stripe by stripe. None: the folders of
    /// the copies, or those that the configuration has for them already.
    #[serde(default)]
    pub folders: Vec<PathBuf>,
}

/// What became of the stripes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedStripes {
    /// How many there were.
    pub before: u8,
    /// How many a new segment has from now on.
    pub stripes: u8,
    /// Where each is, one folder for each copy.
    pub folders: Vec<Vec<String>>,
    /// What an operator should know.
    pub notes: Vec<String>,
}

/// Goes over to another number of stripes while the log is in use.
pub(super) fn change(
    system: &System,
    asked: &Stripes,
    talk: &mut Talk<'_>,
) -> Result<ChangedStripes, Refusal> {
    let log = system.kernel().log();
    let _alone = system.configuring();
    let (before, _) = log.stripes();
    let disk = system.kernel().seam().disk.as_ref();
    let (mut wrong, mut settings) = (None, LogSettings::default());
    let changed = SystemConfig::change_log(disk, system.dir(), |log| {
        wrong = set(log, before, asked).err();
        settings = log.clone();
    });
    if let Some(why) = wrong {
        return Err(refusal_of(LogError::Config { why }));
    }
    let changed = changed?;
    let folders = settings.stripe_folders(system.dir());
    let keep = || changed.write(disk).map_err(|error| error.to_string());
    let mut ended = None;
    let outcome = log.restripe(asked.stripes, folders, keep, &mut |made, all| {
        ended = talk.progress("files of new stripes", made, all, "bytes").err();
        ended.is_none()
    });
    match (outcome, ended) {
        (Err(_), Some(refusal)) => return Err(refusal),
        (outcome, _) => outcome.map_err(refusal_of)?,
    }
    let folders = all_folders(system, &settings);
    let notes = notes(system, &folders);
    let shown = |folders: &Vec<PathBuf>| folders.iter().map(|f| f.display().to_string()).collect();
    let folders = folders.iter().map(shown).collect();
    Ok(ChangedStripes { before, stripes: asked.stripes, folders, notes })
}

fn refusal_of(error: LogError) -> Refusal {
    SystemError::from(uow::UowError::from(error)).into()
}

/// Sets what was asked for; why not, if it makes no sense.
fn set(log: &mut LogSettings, before: u8, asked: &Stripes) -> Result<(), String> {
    log.stripes = asked.stripes;
    if asked.folders.is_empty() {
        return Ok(());
    }
    let (copies, new) = (log.copies.len(), usize::from(asked.stripes.saturating_sub(before)));
    if asked.folders.len() != new * copies {
        return Err(format!(
            "{} folders for {new} new stripes of {copies} copies: it takes one for each stripe \
             and copy, or none",
            asked.folders.len()
        ));
    }
    let first = usize::from(before.max(1)) - 1;
    log.stripe_folders.truncate(first);
    // Stripes before that have no folders of their own.
    log.stripe_folders.resize(first, log.copies.clone());
    log.stripe_folders.extend(asked.folders.chunks(copies.max(1)).map(<[PathBuf]>::to_vec));
    Ok(())
}

/// The folders of each stripe that is written.
fn all_folders(system: &System, settings: &LogSettings) -> Vec<Vec<PathBuf>> {
    let own = settings.stripe_folders(system.dir());
    let copies: Vec<_> = settings.copies.iter().map(|copy| system.dir().join(copy)).collect();
    let more = (0..usize::from(settings.stripes).saturating_sub(1))
        .map(|at| own.get(at).cloned().unwrap_or_else(|| copies.clone()));
    std::iter::once(copies.clone()).chain(more).collect()
}

/// What stands on one device and would be better on several.
fn notes(system: &System, folders: &[Vec<PathBuf>]) -> Vec<String> {
    let disk = system.kernel().seam().disk.as_ref();
    let device = |folder: &PathBuf| disk.room(folder).ok().map(|room| room.device);
    let devices: Vec<Vec<Option<u64>>> =
        folders.iter().map(|copies| copies.iter().map(device).collect()).collect();
    let mut notes = Vec::new();
    for (stripe, own) in devices.iter().enumerate().skip(1) {
        for (copy, device) in own.iter().enumerate().filter(|(_, device)| device.is_some()) {
            let before = devices[..stripe].iter().position(|other| other.get(copy) == Some(device));
            if let Some(before) = before {
                notes.push(format!(
                    "stripe {} of copy {} is on the device of stripe {}: more stripes on one \
                     device make the log no faster",
                    stripe + 1,
                    copy + 1,
                    before + 1
                ));
            }
        }
        if let [Some(first), Some(second)] = own[..]
            && first == second
        {
            notes.push(format!(
                "both copies of stripe {} are on one device: if it fails, both are lost",
                stripe + 1
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_those_of_new_stripes_copy_by_copy() {
        let dual = || LogSettings { copies: vec!["a".into(), "b".into()], ..Default::default() };
        let asked = |stripes, folders: &[&str]| Stripes {
            stripes,
            folders: folders.iter().map(PathBuf::from).collect(),
        };
        let mut log = dual();
        set(&mut log, 1, &asked(2, &[])).unwrap();
        assert_eq!((log.stripes, log.stripe_folders.len()), (2, 0));
        set(&mut log, 2, &asked(4, &["c", "d", "e", "f"])).unwrap();
        let names = |folders: [&str; 2]| folders.map(PathBuf::from).to_vec();
        let all = [["a", "b"], ["c", "d"], ["e", "f"]].map(names);
        assert_eq!(log.stripe_folders, all);
        assert!(set(&mut dual(), 1, &asked(3, &["c", "d"])).is_err());
        assert!(set(&mut dual(), 2, &asked(1, &["c", "d"])).is_err());
        // Fewer: what segments still have stays known.
        set(&mut log, 4, &asked(1, &[])).unwrap();
        assert_eq!(log.stripe_folders, all);
    }
}
