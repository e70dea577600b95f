//! Inserting, replacing and deleting stored segments, with their index entries and relations.
//!
//! Invariants:
//! 1. The caller holds the locks of the database records (H5) and takes care of partial work:
//!    an answer other than `Done` may leave index entries behind, to be rolled back to a savepoint
//!    that was set where [`Database::needs_savepoint`] says so.
//! 2. What was deleted and stays for another path is inserted again in its place: what led to it
//!    leads to the new one. As long as a logical child lives on its logical path, its place is
//!    taken.
//! 3. A segment that is deleted physically has no index entries.

use seam::failpoint::{Failpoint, armed};
use store::{KeyRange, Outcome, Read, SetId, Store, Unit};

use crate::database::Database;
use crate::entry::Keeper;
use crate::error::Result;
use crate::index::{IndexEntry, Source};
use crate::order::{self, Orders};
use crate::schema::{Levels, TypeAt};
use crate::target::{DataChange, SegmentPath, Target};
use crate::value::{self, Deleted, Stored};

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

/// A stored segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its path.
    pub path: Vec<u8>,
    /// What stands where in the path.
    pub levels: Levels,
    /// Its value as it is stored.
    pub value: Vec<u8>,
}

impl Segment {
    /// Its type.
    #[must_use]
    pub fn of(&self) -> TypeAt {
        self.levels.type_at(self.levels.len())
    }
}

/// Buffers that are used again from change to change.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Whether others use the databases at the same time.
    shared: bool,
    orders: Vec<u8>,
    value: Vec<u8>,
    old_value: Vec<u8>,
    expanded: Vec<u8>,
    concatenated: Vec<u8>,
    old: IndexEntry,
    new: IndexEntry,
}

/// A version of a segment.
#[derive(Clone, Copy)]
struct Version<'v> {
    /// How it is stored.
    stored: &'v Stored<'v>,
    data: &'v [u8],
}

impl Work {
    /// For changes that others may make at the same time, too, or not.
    #[must_use]
    pub fn new(shared: bool) -> Work {
        Work { shared, ..Work::default() }
    }
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
        target: Target<'_, S>,
        at: SegmentPath<'_>,
        data: &[u8],
        logical_parent: &[u8],
        work: &mut Work,
    ) -> Result<Changed> {
        let (Target { store, unit }, SegmentPath { path, levels }) = (target, at);
        let of = at.of();
        let kind = self.schema.of(of);
        let (set, key) = self.locate(path)?;
        let identity = if kind.has_identity { store.draw(self.identities(), 1)? } else { 0 };
        let stored = Stored { identity, logical_parent, ..Stored::new(data) };
        stored.write(kind, &mut work.value);
        if unit.insert(set, key, &work.value)? == Outcome::Exists {
            if self.is_taken(unit, of, path, &mut work.old_value)? {
                return Ok(Changed::Exists);
            }
            let _ = unit.replace(set, key, &work.value)?;
        }
        if self.is_source(of) {
            self.concatenated(path, levels, work);
            let source = Source::new(&stored, data, path, &work.concatenated, self.blank);
            let mut keeper = Keeper { store, unit: &mut *unit, shared: work.shared };
            for tree in self.indexes.iter().filter(|tree| tree.source == of) {
                if tree.make(self.schema.placement.collation(), &source, &mut work.new)
                    && !keeper.add(tree, &work.new)?
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

    /// Replaces the data of the segment under `path`, whose present data is `old`; a cursor may
    /// stand on it. In an index that
    /// is not unique an entry that moves stands in front of all equal ones, as a new one does.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn replace<S: Store>(
        &self,
        target: Target<'_, S>,
        at: SegmentPath<'_>,
        cursor: Option<&mut S::Cursor>,
        stored: &Stored<'_>,
        change: DataChange<'_>,
        work: &mut Work,
    ) -> Result<Changed> {
        let (Target { store, unit }, SegmentPath { path, levels }) = (target, at);
        let (of, DataChange { old, new }) = (at.of(), change);
        let kind = self.schema.of(of);
        let (set, key) = self.locate(path)?;
        let write = |unit: &mut S::Unit, value: &[u8]| match cursor {
            Some(cursor) => unit.replace_at(cursor, value),
            None => unit.replace(set, key, value),
        };
        if !self.is_source(of) || stored.is_deleted {
            stored.with(new).write(kind, &mut work.value);
            let _ = write(unit, &work.value)?;
            return Ok(Changed::Done);
        }
        self.concatenated(path, levels, work);
        let mut orders = std::mem::take(&mut work.orders);
        self.renew_orders(store, at, stored, change, work, &mut orders)?;
        let replaced = Stored { orders: Orders::of_bytes(&orders), ..stored.with(new) };
        replaced.write(kind, &mut work.value);
        let _ = write(unit, &work.value)?;
        let was = Version { stored, data: old };
        let is = Version { stored: &replaced, data: new };
        let changed = self.move_entries(Target { store, unit }, at, was, is, work);
        work.orders = orders;
        changed
    }

    /// Gives a number to each entry that new data moves in an index that is not unique.
    fn renew_orders<S: Store>(
        &self,
        store: &S,
        at: SegmentPath<'_>,
        stored: &Stored<'_>,
        change: DataChange<'_>,
        work: &mut Work,
        orders: &mut Vec<u8>,
    ) -> Result<()> {
        let (of, path, DataChange { old, new }) = (at.of(), at.path, change);
        orders.clear();
        orders.extend_from_slice(stored.orders.bytes());
        let collation = self.schema.placement.collation();
        let trees = self.indexes.iter().filter(|tree| tree.source == of && !tree.index.unique);
        for tree in trees {
            let joined = &work.concatenated[..];
            let before = Source::new(stored, old, path, joined, self.blank);
            let after = Source::new(stored, new, path, joined, self.blank);
            let had = tree.make(collation, &before, &mut work.old);
            let has = tree.make(collation, &after, &mut work.new);
            if has && !(had && work.old.key == work.new.key) {
                order::renew(orders, tree.index.dbd, store.draw(self.identities(), 1)?);
            }
        }
        Ok(())
    }

    /// Brings the entries of a source in line with its new data.
    fn move_entries<S: Store>(
        &self,
        target: Target<'_, S>,
        at: SegmentPath<'_>,
        was: Version<'_>,
        is: Version<'_>,
        work: &mut Work,
    ) -> Result<Changed> {
        let (Target { store, unit }, of) = (target, at.of());
        let collation = self.schema.placement.collation();
        let mut keeper = Keeper { store, unit, shared: work.shared };
        for tree in self.indexes.iter().filter(|tree| tree.source == of) {
            let (path, joined) = (at.path, &work.concatenated[..]);
            let before = Source::new(was.stored, was.data, path, joined, self.blank);
            let after = Source::new(is.stored, is.data, path, joined, self.blank);
            let had = tree.make(collation, &before, &mut work.old);
            let has = tree.make(collation, &after, &mut work.new);
            if had == has && work.old == work.new {
                continue;
            }
            if had && has && work.old.key == work.new.key {
                keeper.refill(tree, &mut work.new, &mut work.old_value)?;
                continue;
            }
            if had && !armed(Failpoint::IndexEntryKept) {
                keeper.remove(tree, &work.old.key)?;
            }
            if has && !keeper.add(tree, &work.new)? {
                return Ok(Changed::IndexExists);
            }
        }
        Ok(Changed::Done)
    }

    /// Deletes the segment under `path` and everything beneath it, none of which
    /// [may outlive](crate::SegmentType::may_outlive). Answers how many segments went.
    ///
    /// # Errors
    /// If the store refuses, or a stored segment cannot be read.
    pub fn delete<S: Store>(
        &self,
        target: Target<'_, S>,
        at: SegmentPath<'_>,
        work: &mut Work,
    ) -> Result<u64> {
        let (Target { store, unit }, path, of) = (target, at.path, at.of());
        let (set, key) = self.locate(path)?;
        if !self.schema.of(of).has_children && !self.is_linked(of) {
            return Ok(u64::from(unit.delete(set, key)?.is_done()));
        }
        let mut end = Vec::new();
        if self.is_linked(of) {
            self.unlink(store, unit, set, path, work)?;
        }
        Ok(unit.delete_range(set, KeyRange::prefix(key, &mut end))?)
    }

    /// Removes the index entries of everything that begins with `path`.
    fn unlink<S: Store>(
        &self,
        store: &S,
        unit: &mut S::Unit,
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
            let target = Target { store, unit: &mut *unit };
            let at = SegmentPath { path: &here, levels: &levels };
            self.leave(target, at, &value, work)?;
            work.old_value = value;
        }
        Ok(())
    }

    /// Removes the index entries of one stored segment, of which its value is known.
    fn leave<S: Store>(
        &self,
        target: Target<'_, S>,
        at: SegmentPath<'_>,
        value: &[u8],
        work: &mut Work,
    ) -> Result<()> {
        let of = at.of();
        if !self.is_source(of) {
            return Ok(());
        }
        let kind = self.schema.of(of);
        let stored = Stored::read(kind, value).map_err(|what| self.damaged(what))?;
        let mut expanded = std::mem::take(&mut work.expanded);
        let data = stored.data(&mut expanded).map_err(|what| self.damaged(what))?;
        self.leave_indexes(target, at, &stored, data, work)?;
        work.expanded = expanded;
        Ok(())
    }

    /// Removes the index entries of one stored segment.
    fn leave_indexes<S: Store>(
        &self,
        target: Target<'_, S>,
        at: SegmentPath<'_>,
        stored: &Stored<'_>,
        data: &[u8],
        work: &mut Work,
    ) -> Result<()> {
        let (Target { store, unit }, SegmentPath { path, levels }) = (target, at);
        let of = at.of();
        if !self.is_source(of) {
            return Ok(());
        }
        self.concatenated(path, levels, work);
        let source = Source::new(stored, data, path, &work.concatenated, self.blank);
        let mut keeper = Keeper { store, unit, shared: work.shared };
        for tree in self.indexes.iter().filter(|tree| tree.source == of) {
            if tree.make(self.schema.placement.collation(), &source, &mut work.old) {
                keeper.remove(tree, &work.old.key)?;
            }
        }
        Ok(())
    }

    /// Whether a place is taken: by a segment that is there, or by a logical child that was
    /// deleted on its physical path alone.
    ///
    /// # Errors
    /// If the store refuses, or the segment cannot be read.
    pub fn is_taken<U: Unit>(
        &self,
        unit: &mut U,
        of: TypeAt,
        path: &[u8],
        value: &mut Vec<u8>,
    ) -> Result<bool> {
        let (set, key) = self.locate(path)?;
        if !unit.get(set, key, Read::Unlocked, value)? {
            return Ok(false);
        }
        let kind = self.schema.of(of);
        let stored = Stored::read(kind, value).map_err(|what| self.damaged(what))?;
        Ok(!stored.is_deleted || (kind.is_logical_child && !stored.is_remnant()))
    }

    /// A segment and everything beneath it, in hierarchic order; also what was deleted before and
    /// stays.
    ///
    /// # Errors
    /// If the store refuses, or a key is no path.
    pub fn with_dependents<S: Store>(
        &self,
        store: &S,
        unit: &mut S::Unit,
        path: &[u8],
    ) -> Result<Vec<Segment>> {
        let (set, key) = self.locate(path)?;
        let front = path.len() - key.len();
        let (mut cursor, mut end) = (store.cursor(set)?, Vec::new());
        cursor_limit(&mut cursor, key, &mut end);
        let mut all = Vec::new();
        while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
            let path = [&path[..front], entry.key].concat();
            let levels = self.parse(&path)?;
            all.push(Segment { path, levels, value: entry.value.to_vec() });
        }
        Ok(all)
    }

    /// Deletes a segment on a path, in its index entries, its relation and its bytes; whether it
    /// stays in the store is up to [`Database::keep`] and [`Database::erase`].
    ///
    /// # Errors
    /// If the store refuses, or the segment cannot be read.
    pub fn mark<S: Store>(
        &self,
        target: Target<'_, S>,
        segment: &mut Segment,
        deleted: Deleted,
        work: &mut Work,
    ) -> Result<()> {
        let Target { store, unit } = target;
        let Deleted { physically, logically } = deleted;
        let Segment { path, levels, value } = segment;
        let of = levels.type_at(levels.len());
        let kind = self.schema.of(of);
        let damaged = |what| self.damaged(what);
        let mut expanded = std::mem::take(&mut work.expanded);
        let stored = Stored::read(kind, value).map_err(damaged)?;
        let data = stored.data(&mut expanded).map_err(damaged)?;
        if physically && !stored.is_deleted {
            let target = Target { store, unit: &mut *unit };
            self.leave_indexes(target, SegmentPath { path, levels }, &stored, data, work)?;
        }
        let before = self.relation_entry(of, path, &stored, data)?;
        let marked = Stored {
            is_deleted: stored.is_deleted || physically,
            is_deleted_logically: stored.is_deleted_logically || logically,
            ..stored
        };
        let after = self.relation_entry(of, path, &marked, data)?;
        if before != after {
            if let Some((set, key)) = before {
                let _ = unit.delete(set, &key)?;
            }
            if let Some((set, key)) = after {
                let _ = unit.insert(set, &key, path)?;
            }
        }
        work.expanded = expanded;
        if kind.may_outlive() {
            value::mark(value, physically, logically);
        }
        Ok(())
    }

    /// Gives a logical child another identity: it stands elsewhere among equal logical twins then.
    pub(crate) fn renumber<S: Store>(
        &self,
        store: &S,
        unit: &mut S::Unit,
        segment: &mut Segment,
        identity: u64,
        work: &mut Work,
    ) -> Result<()> {
        let of = segment.of();
        let Segment { path, levels, value } = segment;
        let mut expanded = std::mem::take(&mut work.expanded);
        let damaged = |what| self.damaged(what);
        let stored = Stored::read(self.schema.of(of), value).map_err(damaged)?;
        let data = stored.data(&mut expanded).map_err(damaged)?;
        let renumbered = Stored { identity, ..stored.with(data) };
        if let Some((set, key)) = self.relation_entry(of, path, &stored, data)? {
            let _ = unit.delete(set, &key)?;
        }
        if let Some((set, key)) = self.relation_entry(of, path, &renumbered, data)? {
            let _ = unit.insert(set, &key, path)?;
        }
        if self.is_source(of) && !stored.is_deleted {
            self.concatenated(path, levels, work);
            let was = Version { stored: &stored, data };
            let is = Version { stored: &renumbered, data };
            let target = Target { store, unit: &mut *unit };
            let _ = self.move_entries(target, SegmentPath { path, levels }, was, is, work)?;
        }
        renumbered.write(self.schema.of(of), &mut work.value);
        value.clone_from(&work.value);
        work.expanded = expanded;
        self.keep(unit, segment)
    }

    /// Keeps a marked segment in the store.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn keep<U: Unit>(&self, unit: &mut U, segment: &Segment) -> Result<()> {
        let (set, key) = self.locate(&segment.path)?;
        let _ = unit.replace(set, key, &segment.value)?;
        Ok(())
    }

    /// Takes a marked segment, beneath which nothing is left, out of the store.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn erase<U: Unit>(&self, unit: &mut U, path: &[u8]) -> Result<()> {
        let (set, key) = self.locate(path)?;
        let _ = unit.delete(set, key)?;
        Ok(())
    }

    fn concatenated(&self, path: &[u8], levels: &Levels, work: &mut Work) {
        work.concatenated.clear();
        self.concatenate(path, levels, &mut work.concatenated);
    }
}

fn cursor_limit<C: store::Cursor>(cursor: &mut C, key: &[u8], end: &mut Vec<u8>) {
    cursor.limit(KeyRange::prefix(key, end));
}
