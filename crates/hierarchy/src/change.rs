//! Inserting, replacing and deleting stored segments, with their index entries and relations.
//!
//! Invariants:
//! 1. Whoever calls holds the locks of the database records (H5) and takes care of partial work:
//!    an answer other than `Done` may leave index entries behind, to be rolled back to a savepoint
//!    that was set where [`Database::needs_savepoint`] says so.

use store::{KeyRange, LockMode, LockName, Outcome, Read, SetId, Store, Unit, Wait};

use crate::database::Database;
use crate::error::Result;
use crate::index::{IndexEntry, IndexTree, Source};
use crate::schema::{Levels, TypeAt};
use crate::value::Stored;

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Changed {
    /// It was made.
    Done,
    /// The path is taken.
    Exists,
    /// A unique index has such an entry already.
    IndexExists,
}

/// Buffers that are used again from change to change.
#[derive(Clone, Debug, Default)]
pub struct Work {
    value: Vec<u8>,
    old_value: Vec<u8>,
    expanded: Vec<u8>,
    concatenated: Vec<u8>,
    old: IndexEntry,
    new: IndexEntry,
}

impl Database {
    /// Whether a change of a segment of this type may stop halfway.
    #[must_use]
    pub fn needs_savepoint(&self, of: TypeAt) -> bool {
        self.schema.of(of).is_logical_child || self.is_source(of)
    }

    /// Whether a secondary index has entries for segments of this type.
    fn is_source(&self, of: TypeAt) -> bool {
        self.indexes.iter().any(|tree| tree.source == of)
    }

    /// Inserts a segment under `path`, whose last level has the type `of`.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn insert<S: Store>(
        &self,
        (store, unit): (&S, &mut S::Unit),
        (path, levels): (&[u8], &Levels),
        data: &[u8],
        logical_parent: &[u8],
        work: &mut Work,
    ) -> Result<Changed> {
        let of = levels.type_at(levels.len());
        let kind = self.schema.of(of);
        let (set, key) = self.locate(path)?;
        let identity = if kind.has_identity { store.draw(self.identities(), 1)? } else { 0 };
        let stored = Stored { identity, logical_parent, ..Stored::new(data) };
        stored.write(kind, &mut work.value);
        if unit.insert(set, key, &work.value)? == Outcome::Exists {
            return Ok(Changed::Exists);
        }
        if self.is_source(of) {
            self.concatenated(path, levels, work);
            let source = Source {
                data,
                concatenated: &work.concatenated,
                identity,
                path,
                blank: self.blank,
            };
            for tree in self.indexes.iter().filter(|tree| tree.source == of) {
                if tree.make(self.schema.placement.collation(), &source, &mut work.new)
                    && !add_entry(unit, tree, &work.new)?
                {
                    return Ok(Changed::IndexExists);
                }
            }
        }
        if kind.is_logical_child {
            return self.relate(unit, of, path, &stored, data);
        }
        Ok(Changed::Done)
    }

    /// Replaces the data of the segment under `path`, whose present data is `old`. If its entry
    /// moves in an index that is not unique, it gets a new identity: the entry stands in front of
    /// all equal ones then, as a new one does.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn replace<S: Store>(
        &self,
        (store, unit): (&S, &mut S::Unit),
        (path, levels): (&[u8], &Levels),
        stored: &Stored<'_>,
        (old, new): (&[u8], &[u8]),
        work: &mut Work,
    ) -> Result<Changed> {
        let of = levels.type_at(levels.len());
        let (set, key) = self.locate(path)?;
        let mut identity = stored.identity;
        let is_source = self.is_source(of);
        if is_source {
            self.concatenated(path, levels, work);
            // The identity of a logical child orders it among logical twins, too.
            let is_free = !self.schema.of(of).is_logical_child;
            if is_free && self.moves_among_equals(of, (path, stored.identity), (old, new), work) {
                identity = store.draw(set, 1)?;
            }
        }
        let (logical_parent, is_deleted) = (stored.logical_parent, stored.is_deleted);
        let value = Stored { identity, logical_parent, is_deleted, ..Stored::new(new) };
        value.write(self.schema.of(of), &mut work.value);
        let _ = unit.replace(set, key, &work.value)?;
        if !is_source {
            return Ok(Changed::Done);
        }
        let (concatenated, blank) = (&work.concatenated, self.blank);
        let source = |data, identity| Source { data, concatenated, identity, path, blank };
        let collation = self.schema.placement.collation();
        for tree in self.indexes.iter().filter(|tree| tree.source == of) {
            let had = tree.make(collation, &source(old, stored.identity), &mut work.old);
            let has = tree.make(collation, &source(new, identity), &mut work.new);
            if had == has && work.old == work.new {
                continue;
            }
            if had {
                remove_entry(unit, tree, &work.old)?;
            }
            if has && !add_entry(unit, tree, &work.new)? {
                return Ok(Changed::IndexExists);
            }
        }
        Ok(Changed::Done)
    }

    /// Whether new data moves the entry of an index that is not unique.
    fn moves_among_equals(
        &self,
        of: TypeAt,
        (path, identity): (&[u8], u64),
        (old, new): (&[u8], &[u8]),
        work: &mut Work,
    ) -> bool {
        let (concatenated, blank) = (&work.concatenated, self.blank);
        let source = |data| Source { data, concatenated, identity, path, blank };
        let collation = self.schema.placement.collation();
        let trees = self.indexes.iter().filter(|tree| tree.source == of && !tree.index.unique);
        for tree in trees {
            tree.make(collation, &source(old), &mut work.old);
            if tree.make(collation, &source(new), &mut work.new) && work.old.key != work.new.key {
                return true;
            }
        }
        false
    }

    /// Deletes the segment under `path` and everything beneath it. Answers how many segments went.
    ///
    /// # Errors
    /// If the store refuses, or a stored segment cannot be read.
    pub fn delete<S: Store>(
        &self,
        (store, unit): (&S, &mut S::Unit),
        (path, levels): (&[u8], &Levels),
        work: &mut Work,
    ) -> Result<u64> {
        let of = levels.type_at(levels.len());
        let (set, key) = self.locate(path)?;
        if !self.schema.of(of).has_children && !self.is_entangled(of) {
            return Ok(u64::from(unit.delete(set, key)?.is_done()));
        }
        let mut end = Vec::new();
        if self.is_entangled(of) {
            self.disentangle((store, unit), set, path, work)?;
        }
        Ok(unit.delete_range(set, KeyRange::prefix(key, &mut end))?)
    }

    /// Removes the index entries and relations of everything that begins with `path`.
    fn disentangle<S: Store>(
        &self,
        (store, unit): (&S, &mut S::Unit),
        set: SetId,
        path: &[u8],
        work: &mut Work,
    ) -> Result<()> {
        let (_, key) = self.schema.split(path);
        let front = path.len() - key.len();
        let (mut cursor, mut end) = (store.cursor(set)?, Vec::new());
        cursor_limit(&mut cursor, key, &mut end);
        let mut here = path[..front].to_vec();
        while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
            here.truncate(front);
            here.extend_from_slice(entry.key);
            let mut value = std::mem::take(&mut work.old_value);
            value.clear();
            value.extend_from_slice(entry.value);
            let levels = self.parse(&here)?;
            self.leave(unit, (&here, &levels), &value, work)?;
            work.old_value = value;
        }
        Ok(())
    }

    /// Removes the index entries and the relation of one stored segment.
    pub(crate) fn leave<U: Unit>(
        &self,
        unit: &mut U,
        (path, levels): (&[u8], &Levels),
        value: &[u8],
        work: &mut Work,
    ) -> Result<()> {
        let of = levels.type_at(levels.len());
        let kind = self.schema.of(of);
        let indexed = self.is_source(of);
        if !indexed && !kind.is_logical_child {
            return Ok(());
        }
        let stored = Stored::read(kind, value).map_err(|what| self.damaged(what))?;
        let mut expanded = std::mem::take(&mut work.expanded);
        let data = stored.data(&mut expanded).map_err(|what| self.damaged(what))?;
        if indexed {
            self.concatenated(path, levels, work);
            let source = Source {
                data,
                concatenated: &work.concatenated,
                identity: stored.identity,
                path,
                blank: self.blank,
            };
            for tree in self.indexes.iter().filter(|tree| tree.source == of) {
                if tree.make(self.schema.placement.collation(), &source, &mut work.old) {
                    remove_entry(unit, tree, &work.old)?;
                }
            }
        }
        if kind.is_logical_child {
            self.unrelate(unit, of, path, &stored, data)?;
        }
        work.expanded = expanded;
        Ok(())
    }

    fn concatenated(&self, path: &[u8], levels: &Levels, work: &mut Work) {
        work.concatenated.clear();
        self.concatenate(path, levels, &mut work.concatenated);
    }
}

/// Adds an entry; `false` if there is one of its key.
fn add_entry<U: Unit>(unit: &mut U, tree: &IndexTree, entry: &IndexEntry) -> Result<bool> {
    lock_entry(unit, tree, entry)?;
    Ok(unit.insert(tree.set, &entry.key, &entry.value)?.is_done())
}

/// Removes an entry. One that is not there is no matter for the program (status NE goes to the
/// operator alone).
fn remove_entry<U: Unit>(unit: &mut U, tree: &IndexTree, entry: &IndexEntry) -> Result<()> {
    lock_entry(unit, tree, entry)?;
    let _ = unit.delete(tree.set, &entry.key)?;
    Ok(())
}

/// Entries of a unique index are keys that two database records may compete for.
fn lock_entry<U: Unit>(unit: &mut U, tree: &IndexTree, entry: &IndexEntry) -> Result<()> {
    if tree.index.unique {
        let name = LockName { space: tree.set.0, name: &entry.key };
        let _ = unit.lock(name, LockMode::Exclusive, Wait::Forever)?;
    }
    Ok(())
}

fn cursor_limit<C: store::Cursor>(cursor: &mut C, key: &[u8], end: &mut Vec<u8>) {
    cursor.limit(KeyRange::prefix(key, end));
}
