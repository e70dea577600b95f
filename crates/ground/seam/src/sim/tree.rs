//! Names of simulated files and folders, and which of them would survive a crash.
//!
//! Invariants:
//! 1. A change of a folder's entries is durable once that folder was synced after it; until then a
//!    crash keeps a prefix of the folder's changes, in their order.
//! 2. A file whose folder did not survive did not survive either.
//! 3. A rename belongs to the folder of its target and is durable or not as a whole.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::disk::CrashStyle;
use super::rng::Rng;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Folder,
    /// A file, by the number of its inode.
    File(u64),
}

#[derive(Clone, Debug)]
pub(super) enum Change {
    Add(PathBuf, Entry),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
}

impl Change {
    /// The folder whose sync makes it durable.
    fn folder(&self) -> &Path {
        let (Change::Add(path, _) | Change::Remove(path) | Change::Rename(_, path)) = self;
        path.parent().unwrap_or(Path::new("/"))
    }

    fn apply(&self, entries: &mut BTreeMap<PathBuf, Entry>) {
        match self {
            Change::Add(path, entry) => {
                entries.insert(path.clone(), *entry);
            }
            Change::Remove(path) => {
                entries.remove(path);
            }
            Change::Rename(from, to) => {
                if let Some(entry) = entries.remove(from) {
                    entries.insert(to.clone(), entry);
                }
            }
        }
    }
}

/// All names of a disk.
#[derive(Clone)]
pub(super) struct Tree {
    pub(super) current: BTreeMap<PathBuf, Entry>,
    durable: BTreeMap<PathBuf, Entry>,
    pending: Vec<Change>,
    /// What was unmounted, by its folder.
    unmounted: BTreeMap<PathBuf, BTreeMap<PathBuf, Entry>>,
}

impl Tree {
    pub(super) fn new() -> Tree {
        let root = BTreeMap::from([(PathBuf::from("/"), Entry::Folder)]);
        Tree {
            current: root.clone(),
            durable: root,
            pending: Vec::new(),
            unmounted: BTreeMap::new(),
        }
    }

    pub(super) fn change(&mut self, change: Change) {
        change.apply(&mut self.current);
        self.pending.push(change);
    }

    /// Makes the changes of one folder durable.
    pub(super) fn sync(&mut self, folder: &Path) {
        let durable = &mut self.durable;
        self.pending.retain(|change| {
            let settled = change.folder() == folder;
            if settled {
                change.apply(durable);
            }
            !settled
        });
    }

    pub(super) fn sync_all(&mut self) {
        self.durable.clone_from(&self.current);
        self.pending.clear();
    }

    /// Takes all names below a folder away, durably; the folder itself stays.
    pub(super) fn unmount(&mut self, folder: &Path) {
        let below = |path: &Path| path != folder && path.starts_with(folder);
        self.sync_all();
        let (away, left) =
            std::mem::take(&mut self.current).into_iter().partition(|(path, _)| below(path));
        self.current = left;
        self.unmounted.insert(folder.to_owned(), away);
        self.sync_all();
    }

    /// Brings them back in place of what is there by now.
    pub(super) fn mount(&mut self, folder: &Path) {
        let Some(back) = self.unmounted.remove(folder) else { return };
        self.current.retain(|path, _| path == folder || !path.starts_with(folder));
        self.current.extend(back);
        self.sync_all();
    }

    /// Sets or removes a name durably, past every sync.
    pub(super) fn force(&mut self, path: PathBuf, entry: Option<Entry>) {
        match entry {
            Some(entry) => {
                self.current.insert(path.clone(), entry);
                self.durable.insert(path, entry);
            }
            None => {
                self.current.remove(&path);
                self.durable.remove(&path);
            }
        }
    }

    /// A name of each inode that has one: the one that programs see, or else the durable one.
    pub(super) fn names(&self) -> BTreeMap<u64, PathBuf> {
        let entries = self.durable.iter().chain(&self.current);
        let files = entries.filter_map(|(path, entry)| match entry {
            Entry::File(inode) => Some((*inode, path.clone())),
            Entry::Folder => None,
        });
        files.collect()
    }

    /// The inodes that any name, durable or not, may still lead to.
    pub(super) fn inodes(&self) -> impl Iterator<Item = u64> + '_ {
        let pending = self.pending.iter().filter_map(|change| match change {
            Change::Add(_, entry) => Some(entry),
            _ => None,
        });
        let away = self.unmounted.values().flat_map(BTreeMap::values);
        let entries = self.current.values().chain(self.durable.values()).chain(pending).chain(away);
        entries.filter_map(|entry| match entry {
            Entry::File(inode) => Some(*inode),
            Entry::Folder => None,
        })
    }

    /// The names that may be there after a crash now.
    pub(super) fn after_crash(&self, rng: &mut Rng, style: CrashStyle) -> Tree {
        let mut left: BTreeMap<&Path, usize> = BTreeMap::new();
        for change in &self.pending {
            *left.entry(change.folder()).or_default() += 1;
        }
        for count in left.values_mut() {
            *count = match style {
                CrashStyle::DropAll => 0,
                CrashStyle::KeepAll => *count,
                CrashStyle::Random | CrashStyle::TearAll => rng.index(*count + 1),
            };
        }
        let mut entries = self.durable.clone();
        for change in &self.pending {
            let left = left.get_mut(change.folder()).expect("counted above");
            if *left > 0 {
                *left -= 1;
                change.apply(&mut entries);
            }
        }
        let all = entries.clone();
        entries.retain(|path, _| {
            path.ancestors().skip(1).all(|folder| all.get(folder) == Some(&Entry::Folder))
        });
        let unmounted = self.unmounted.clone();
        Tree { current: entries.clone(), durable: entries, pending: Vec::new(), unmounted }
    }
}
