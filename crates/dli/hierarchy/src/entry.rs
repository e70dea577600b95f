//! Changing the entries of an index, and what other programs have to wait for meanwhile.
//!
//! An entry leads to a record, and a caller that changes it has locked that. What is not there
//! leads nowhere; so names are locked in the space of the index's set:
//!
//! | name | who locks it |
//! |---|---|
//! | the key of an entry | to the sync point, who adds or removes it in a unique index: two programs may compete for a key |
//! | a key and X'00': the gap in front of that entry; nothing: the gap at the end | to the sync point, who has removed something in the gap; for a moment, shared, who adds an entry there or reads across ([`gap`]) |
//!
//! Invariants:
//! 1. An entry that may come back has a locked gap behind it, whatever else is added or removed
//!    there: the next key is read again once its gap is locked, and stays the next one while it
//!    is (K14).
//! 2. Where no other program uses the databases, nothing is locked.
//! 3. An entry that is not there is not missed: a program that uses the index as a database may
//!    have deleted it (DLI-12.70). It comes back when its source changes its key.

use store::{Cursor, LockMode, LockName, Position, Read, SetId, Store, Unit, Wait};

use crate::error::Result;
use crate::index::{IndexEntry, IndexTree};
use crate::target::Target;

/// Writes the name of the gap in front of an entry, or of that at the end.
pub fn gap(next: Option<&[u8]>, to: &mut Vec<u8>) {
    to.clear();
    if let Some(key) = next {
        to.extend_from_slice(key);
        to.push(0);
    }
}

/// Locks a gap, whose name `find` writes: again, until what is there does not change any more.
/// Answers its name if it was not locked before.
///
/// # Errors
/// If the store refuses, or what `find` answers.
pub fn lock_gap<U: Unit>(
    unit: &mut U,
    set: SetId,
    mode: LockMode,
    mut find: impl FnMut(&mut U, &mut Vec<u8>) -> Result<()>,
) -> Result<Option<Vec<u8>>> {
    let (mut name, mut now) = (Vec::new(), Vec::new());
    find(unit, &mut name)?;
    loop {
        let lock = LockName { space: set.0, name: &name };
        let held = unit.held(lock);
        if held.is_none_or(|held| !held.covers(mode)) {
            let _ = unit.lock(lock, mode, Wait::Forever)?;
        }
        find(unit, &mut now)?;
        if now == name {
            return Ok(held.is_none().then_some(name));
        }
        // Another program has added or removed something meanwhile.
        if held.is_none() {
            unit.unlock(lock)?;
        }
        std::mem::swap(&mut name, &mut now);
    }
}

/// Who changes entries.
pub(crate) struct Keeper<'k, S: Store> {
    pub(crate) store: &'k S,
    pub(crate) unit: &'k mut S::Unit,
    /// Whether others use the databases at the same time.
    pub(crate) shared: bool,
}

impl<S: Store> Keeper<'_, S> {
    /// Adds an entry; `false` if there is one of its key.
    pub(crate) fn add(&mut self, tree: &IndexTree, entry: &IndexEntry) -> Result<bool> {
        self.lock_key(tree, &entry.key)?;
        let passed = self.lock_gap(tree, &entry.key, LockMode::Shared)?;
        let done = self.unit.insert(tree.set, &entry.key, &entry.value)?.is_done();
        if let Some(name) = passed {
            self.unit.unlock(LockName { space: tree.set.0, name: &name })?;
        }
        Ok(done)
    }

    /// Removes an entry; `false` if it is not there, which is no matter for the program (status
    /// NE goes to the operator alone).
    pub(crate) fn remove(&mut self, tree: &IndexTree, key: &[u8]) -> Result<bool> {
        if self.shared {
            self.lock_key(tree, key)?;
            let mut name = Vec::new();
            gap(Some(key), &mut name);
            self.lock(tree, &name, LockMode::Exclusive)?;
            self.lock_gap(tree, key, LockMode::Exclusive)?;
        }
        Ok(self.unit.delete(tree.set, key)?.is_done())
    }

    /// Gives an entry another value; its user data stays.
    pub(crate) fn refill(
        &mut self,
        tree: &IndexTree,
        entry: &mut IndexEntry,
        old: &mut Vec<u8>,
    ) -> Result<()> {
        if tree.user_len() > 0 {
            self.unit.get(tree.set, &entry.key, Read::Unlocked, old)?;
            entry.value.extend_from_slice(tree.user_data(old));
        }
        let _ = self.unit.replace(tree.set, &entry.key, &entry.value)?;
        Ok(())
    }

    fn lock_key(&mut self, tree: &IndexTree, key: &[u8]) -> Result<()> {
        match self.shared && tree.index.unique {
            true => self.lock(tree, key, LockMode::Exclusive),
            false => Ok(()),
        }
    }

    fn lock(&mut self, tree: &IndexTree, name: &[u8], mode: LockMode) -> Result<()> {
        let _ = self.unit.lock(LockName { space: tree.set.0, name }, mode, Wait::Forever)?;
        Ok(())
    }

    /// Locks the gap behind a key. Answers its name if it was not locked before.
    fn lock_gap(
        &mut self,
        tree: &IndexTree,
        key: &[u8],
        mode: LockMode,
    ) -> Result<Option<Vec<u8>>> {
        if !self.shared {
            return Ok(None);
        }
        let mut cursor = self.store.cursor(tree.set)?;
        lock_gap(self.unit, tree.set, mode, |unit, name| {
            cursor.seek(Position::After(key));
            gap(unit.next(&mut cursor, Read::Unlocked)?.map(|entry| entry.key), name);
            Ok(())
        })
    }
}

impl IndexTree {
    /// Deletes an entry of an index that is used as a database: its source cannot be found over
    /// the index any longer. `shared` says whether others use the databases at the same time.
    /// Answers whether it was there.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn delete<S: Store>(
        &self,
        target: Target<'_, S>,
        key: &[u8],
        shared: bool,
    ) -> Result<bool> {
        let Target { store, unit } = target;
        Keeper { store, unit, shared }.remove(self, key)
    }

    /// Replaces the user data of an entry.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn replace_user_data<U: Unit>(
        &self,
        unit: &mut U,
        key: &[u8],
        value: &[u8],
        user_data: &[u8],
    ) -> Result<()> {
        let own = value.len() - self.user_data(value).len();
        let value = [&value[..own], user_data].concat();
        let _ = unit.replace(self.set, key, &value)?;
        Ok(())
    }
}
