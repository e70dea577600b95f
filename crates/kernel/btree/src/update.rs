//! Inserting, replacing and removing records through a unit of work, and undoing that.
//!
//! Each change finds its leaf, makes sure that it fits, logs and applies one record under the
//! leaf's latch. If it does not fit the leaf is split first, as a structure change of its own.

use pool::{ExclusiveCi, FrameHint, SharedCi};
use space::{DataSet, Purpose};
use uow::{Undo, Uow, UowError};

use crate::TreeError;
use crate::answer::{Below, Inserted, InsertedBelow, Renewed, Replaced};
use crate::node::{NodeView, Place, Value};
use crate::overflow::{self, Reference};
use crate::overflow_write;
use crate::records::{Fields, Replace, ReplaceParts, entry_fields, kind, push_run_entry};
use crate::scratch::Scratch;
use crate::structure::{Growth, is_sparse};
use crate::tree::{Bound, LeafHint, Reached, RecordHint, Stored, Tree};

/// What a change logs to: a unit of work, or the undo of one.
trait Changes {
    const PURPOSE: Purpose;

    fn log(
        &mut self,
        set: &DataSet,
        kind: u8,
        body: &[&[u8]],
        page: &mut ExclusiveCi<'_>,
    ) -> Result<(), UowError>;
}

impl Changes for Uow {
    const PURPOSE: Purpose = Purpose::Work;

    #[inline]
    fn log(
        &mut self,
        set: &DataSet,
        kind: u8,
        body: &[&[u8]],
        page: &mut ExclusiveCi<'_>,
    ) -> Result<(), UowError> {
        self.change(set, kind, body, page)
    }
}

/// Undo of a record by one compensation, or by several of which this is one.
struct Compensation<'u, 'k> {
    undo: &'u mut Undo<'k>,
    whole: bool,
}

impl Changes for Compensation<'_, '_> {
    const PURPOSE: Purpose = Purpose::Undo;

    fn log(
        &mut self,
        set: &DataSet,
        kind: u8,
        body: &[&[u8]],
        page: &mut ExclusiveCi<'_>,
    ) -> Result<(), UowError> {
        match self.whole {
            true => self.undo.compensate(set, kind, body, page),
            false => self.undo.compensate_part(set, kind, body, page),
        }
    }
}

/// What to do with a key that is there already, or is not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Insert only.
    New,
    /// Replace only.
    Old,
    /// Either.
    Any,
}

/// How to write a record.
#[derive(Clone, Copy)]
struct How<'b> {
    wanted: Wanted,
    below: Option<&'b Below<'b>>,
    near: Near,
    /// So many leading bytes are compared with those of the entry before a new one.
    beside: Option<usize>,
}

/// Where a key was seen.
#[derive(Clone, Copy, Default)]
enum Near {
    /// Nowhere.
    #[default]
    Unknown,
    /// In this leaf, or missed there.
    Leaf(LeafHint),
    /// There.
    Record(RecordHint),
}

impl Near {
    fn leaf(noted: Option<LeafHint>) -> Near {
        noted.map_or(Near::Unknown, Near::Leaf)
    }

    fn record(noted: Option<RecordHint>) -> Near {
        noted.map_or(Near::Unknown, Near::Record)
    }
}

impl How<'_> {
    fn simply(wanted: Wanted) -> How<'static> {
        How { wanted, below: None, near: Near::Unknown, beside: None }
    }
}

/// What has been done, and the reference of a value that is no longer in use.
struct Written {
    was_there: bool,
    done: bool,
    freed: Option<Reference>,
    renewed: Option<Renewed>,
    /// Whether the entry before a new one begins as it does, if that was asked and to be seen.
    beside: Option<bool>,
    /// Where a new one is.
    seen: Option<RecordHint>,
}

impl Written {
    fn nothing(was_there: bool) -> Written {
        Written { was_there, done: false, freed: None, renewed: None, beside: None, seen: None }
    }

    fn done(was_there: bool) -> Written {
        Written { done: true, ..Written::nothing(was_there) }
    }
}

/// Log bytes of a change beside key and values.
const LOG_EXTRA: usize = 128;

impl Tree<'_> {
    /// Inserts a record.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn insert(&self, uow: &mut Uow, key: &[u8], value: &[u8]) -> Result<Inserted, TreeError> {
        Ok(self.insert_noted(uow, key, value, None)?.0)
    }

    /// [`Tree::insert`] of a record whose leaf may be one that was noted, because what it belongs
    /// to stands there. Answers, too, where the new record is.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn insert_noted(
        &self,
        uow: &mut Uow,
        key: &[u8],
        value: &[u8],
        noted: Option<LeafHint>,
    ) -> Result<(Inserted, Option<RecordHint>), TreeError> {
        let how = How { near: Near::leaf(noted), ..How::simply(Wanted::New) };
        let written = self.write(uow, key, value, how)?;
        let inserted = if written.was_there { Inserted::Duplicate } else { Inserted::Yes };
        Ok((inserted, written.seen))
    }

    /// Inserts a record if, at that moment, the key follows that the caller believes to follow, and
    /// his own condition holds. Who locks the gap above a key by the name of the key that follows
    /// is sure that way that it is still that gap (K14).
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn insert_below(
        &self,
        uow: &mut Uow,
        key: &[u8],
        value: &[u8],
        below: &Below<'_>,
    ) -> Result<InsertedBelow, TreeError> {
        let (below, near) = (Some(below), Near::record(below.leaves.seen()));
        let how = How { below, near, ..How::simply(Wanted::New) };
        let written = self.write(uow, key, value, how)?;
        Ok(match (written.was_there, written.done) {
            (true, _) => InsertedBelow::Duplicate,
            (false, true) => InsertedBelow::Yes,
            (false, false) => InsertedBelow::Moved,
        })
    }

    /// Inserts a record. Answers, too, whether the one before it begins with the same `prefix`
    /// bytes; `None` if that one is in another leaf, perhaps.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn insert_beside(
        &self,
        uow: &mut Uow,
        key: &[u8],
        value: &[u8],
        prefix: usize,
    ) -> Result<(Inserted, Option<bool>), TreeError> {
        let how = How { beside: Some(prefix), ..How::simply(Wanted::New) };
        let written = self.write(uow, key, value, how)?;
        let inserted = if written.was_there { Inserted::Duplicate } else { Inserted::Yes };
        Ok((inserted, written.beside))
    }

    /// Gives a record another value; `false` if there is no such record.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn replace(&self, uow: &mut Uow, key: &[u8], value: &[u8]) -> Result<bool, TreeError> {
        self.replace_noted(uow, key, value, None)
    }

    /// [`Tree::replace`] of a record that may have been looked for.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn replace_noted(
        &self,
        uow: &mut Uow,
        key: &[u8],
        value: &[u8],
        noted: Option<RecordHint>,
    ) -> Result<bool, TreeError> {
        let how = How { near: Near::record(noted), ..How::simply(Wanted::Old) };
        Ok(self.write(uow, key, value, how)?.was_there)
    }

    /// [`Tree::replace`] of a record that was seen, as its key.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn replace_seen(
        &self,
        uow: &mut Uow,
        key: &[u8],
        seen: RecordHint,
        value: &[u8],
    ) -> Result<Replaced, TreeError> {
        let how = How { near: Near::Record(seen), ..How::simply(Wanted::Old) };
        let written = self.write(uow, key, value, how)?;
        Ok(Replaced { was_there: written.was_there, renewed: written.renewed })
    }

    /// Inserts a record or gives it another value; says whether it was there.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn put(&self, uow: &mut Uow, key: &[u8], value: &[u8]) -> Result<bool, TreeError> {
        Ok(self.write(uow, key, value, How::simply(Wanted::Any))?.was_there)
    }

    /// Removes a record; `false` if there is none.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn remove(&self, uow: &mut Uow, key: &[u8]) -> Result<bool, TreeError> {
        self.remove_noted(uow, key, None)
    }

    /// [`Tree::remove`] of a record that may have been looked for.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn remove_noted(
        &self,
        uow: &mut Uow,
        key: &[u8],
        noted: Option<RecordHint>,
    ) -> Result<bool, TreeError> {
        self.remove_if(uow, key, Near::record(noted), None)
    }

    /// Removes a record if it has this value; `false` if there is none, or it has another one,
    /// `None` if a value like this stands outside of leaves.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn remove_equal(
        &self,
        uow: &mut Uow,
        key: &[u8],
        value: &[u8],
    ) -> Result<Option<bool>, TreeError> {
        match self.is_inline(key.len(), value.len()) {
            true => self.remove_if(uow, key, Near::Unknown, Some(value)).map(Some),
            false => Ok(None),
        }
    }

    fn remove_if(
        &self,
        uow: &mut Uow,
        key: &[u8],
        near: Near,
        value: Option<&[u8]>,
    ) -> Result<bool, TreeError> {
        uow.prepare(key.len() + self.set.usable_bytes() / 4 + LOG_EXTRA)?;
        let removed = self.remove_stored(uow, key, near, value)?;
        if removed.sparse {
            self.tidy(key)?;
        }
        if let Some(reference) = removed.freed {
            self.free_chain(uow, reference)?;
        }
        Ok(removed.found)
    }

    /// Removes every record from `from` up to but not including `to`; returns how many.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn remove_range(
        &self,
        uow: &mut Uow,
        from: Bound<'_>,
        to: Bound<'_>,
    ) -> Result<u64, TreeError> {
        let (mut from, mut behind) = match from {
            Bound::At(key) => (key.to_vec(), false),
            Bound::Behind(key) => (key.to_vec(), true),
            Bound::End => return Ok(0),
        };
        let mut removed = 0;
        loop {
            uow.prepare(2 * self.set.usable_bytes() + LOG_EXTRA)?;
            let run = self.remove_run(uow, &from, behind, to)?;
            if let Some(undo_bytes) = run.lacks {
                uow.prepare(undo_bytes)?;
                continue;
            }
            removed += run.count;
            for reference in run.freed {
                self.free_chain(uow, reference)?;
            }
            if run.sparse {
                self.tidy(&from)?;
            }
            match run.next {
                Some(next) => (from, behind) = (next, false),
                None => return Ok(removed),
            }
        }
    }

    fn write(
        &self,
        uow: &mut Uow,
        key: &[u8],
        value: &[u8],
        how: How<'_>,
    ) -> Result<Written, TreeError> {
        let wanted = how.wanted;
        self.check_limits(key, value)?;
        let stored = if self.is_inline(key.len(), value.len()) {
            Stored::Inline(value)
        } else {
            // The caller has the key locked, so what is true now stays true.
            let there = self.contains(key)?;
            if there && wanted == Wanted::New || !there && wanted == Wanted::Old {
                return Ok(Written::nothing(there));
            }
            Stored::Reference(self.write_chain(uow, value)?.encode())
        };
        let value = stored.value();
        uow.prepare(key.len() + value.bytes.len() + self.set.usable_bytes() / 4 + LOG_EXTRA)?;
        let written = self.write_stored(uow, key, value, how)?;
        if !written.done
            && let Stored::Reference(bytes) = &stored
        {
            self.free_chain(uow, Reference::decode(bytes))?;
        }
        if let Some(reference) = written.freed {
            self.free_chain(uow, reference)?;
        }
        Ok(written)
    }

    /// Writes a value as the leaf stores it.
    fn write_stored<C: Changes>(
        &self,
        changes: &mut C,
        key: &[u8],
        value: Value<'_>,
        how: How<'_>,
    ) -> Result<Written, TreeError> {
        let How { wanted, below, mut near, beside } = how;
        loop {
            let mut leaf = self.reach_for(key, std::mem::take(&mut near))?;
            let was_there = matches!(leaf.place, Place::Found(_));
            if was_there && wanted == Wanted::New || !was_there && wanted == Wanted::Old {
                return Ok(Written::nothing(was_there));
            }
            let ci = leaf.guard.ci();
            let node = NodeView::new(leaf.guard.bytes());
            let growth = match leaf.place {
                Place::Found(slot) => {
                    let old = node.value_at(slot);
                    if old == value {
                        return Ok(Written::done(was_there));
                    }
                    if node.can_replace(slot, value) {
                        let freed = old.overflow.then(|| Reference::decode(old.bytes));
                        let before = LeafHint { ci, hint: leaf.guard.hint() };
                        log_replace(changes, self.set, &mut leaf.guard, slot, key, value)?;
                        let after = LeafHint { ci, hint: leaf.guard.hint_after() };
                        self.leave(leaf, Vec::new(), C::PURPOSE);
                        let renewed = Renewed { before, after, slot };
                        let renewed = (!value.overflow).then_some(renewed);
                        return Ok(Written { freed, renewed, ..Written::done(was_there) });
                    }
                    Growth::Replace(value)
                }
                Place::Gap(slot) => {
                    if node.can_insert(slot, key, value) {
                        let hint = leaf.guard.hint();
                        let held = below.map(|below| self.latch_below(node, (slot, hint), below));
                        let Some(held) = held.unwrap_or_else(|| Some(Vec::new())) else {
                            return Ok(Written::nothing(false));
                        };
                        let beside = beside.and_then(|prefix| node.begins_as(slot, key, prefix));
                        let fields = entry_fields(ci, slot, key, value.overflow);
                        let body = [fields.bytes(), key, value.bytes];
                        changes.log(self.set, kind::INSERT, &body, &mut leaf.guard)?;
                        let hint = leaf.guard.hint_after();
                        let leaf_hint = LeafHint { ci, hint };
                        let place = Place::Found(slot);
                        self.leave(leaf, held, C::PURPOSE);
                        let seen = Some(RecordHint { leaf: leaf_hint, place });
                        return Ok(Written { beside, seen, ..Written::done(was_there) });
                    }
                    Growth::Insert(value)
                }
                _ => unreachable!("a descent ends within the fences"),
            };
            drop(leaf);
            self.split(ci, 0, key, growth, C::PURPOSE)?;
        }
    }

    fn reach_for(&self, key: &[u8], near: Near) -> Result<Reached<ExclusiveCi<'_>>, TreeError> {
        match near {
            Near::Record(seen) => self.reach_seen_record(key, seen),
            Near::Leaf(noted) => self.reach_noted(key, Some(noted)),
            Near::Unknown => self.reach_leaf(key),
        }
    }

    /// Whether what must be so at the moment of an insert is so: then the latches of the leaves
    /// behind that of the insert, as far as the next key. While they are held nobody can add a key
    /// in between, nor bring one back. `node` is latched exclusively; left comes before right.
    fn latch_below(
        &self,
        node: NodeView<'_>,
        (slot, hint): (usize, FrameHint),
        below: &Below<'_>,
    ) -> Option<Vec<SharedCi<'_>>> {
        let mut held = Vec::new();
        if slot < node.count() {
            // In a leaf that is as it was seen the key that follows is, too.
            let is_seen = below.leaves.passed.first().is_some_and(|(_, seen)| *seen == hint);
            let follows = |next| node.find(next) == Place::Found(slot);
            if !is_seen && !below.next.is_some_and(follows) {
                return None;
            }
        } else if let Some(right) = node.right() {
            let behind = below.leaves.passed.get(1..)?;
            if behind.first().is_none_or(|(ci, _)| *ci != right) {
                return None;
            }
            for (ci, hint) in behind {
                held.push(self.set.by_hint(*hint, *ci)?);
            }
        } else if below.next.is_some() {
            return None;
        }
        (below.holds)().then_some(held)
    }

    fn remove_stored<C: Changes>(
        &self,
        changes: &mut C,
        key: &[u8],
        near: Near,
        value: Option<&[u8]>,
    ) -> Result<Removed, TreeError> {
        let mut leaf = self.reach_for(key, near)?;
        let Place::Found(slot) = leaf.place else { return Ok(Removed::default()) };
        let ci = leaf.guard.ci();
        let old = NodeView::new(leaf.guard.bytes()).value_at(slot);
        if value.is_some_and(|value| old != Value::inline(value)) {
            return Ok(Removed::default());
        }
        let freed = old.overflow.then(|| Reference::decode(old.bytes));
        let fields = entry_fields(ci, slot, key, old.overflow);
        let mut scratch = Scratch::new();
        let body = [fields.bytes(), key, scratch.copy(old.bytes)];
        changes.log(self.set, kind::REMOVE, &body, &mut leaf.guard)?;
        let node = NodeView::new(leaf.guard.bytes());
        // A node that no neighbour can take is not tried at every removal.
        let sparse = is_sparse(node) && node.count().is_multiple_of(SPARSE_TRIES);
        self.leave(leaf, Vec::new(), C::PURPOSE);
        Ok(Removed { found: true, freed, sparse })
    }

    /// Removes what one leaf has of a range.
    fn remove_run(
        &self,
        uow: &mut Uow,
        from: &[u8],
        behind: bool,
        to: Bound<'_>,
    ) -> Result<Run, TreeError> {
        let mut leaf = self.reach_leaf::<ExclusiveCi<'_>>(from)?;
        let ci = leaf.guard.ci();
        let node = NodeView::new(leaf.guard.bytes());
        let first = match leaf.place {
            Place::Found(slot) => slot + usize::from(behind),
            Place::Gap(slot) => slot,
            _ => unreachable!("a descent ends within the fences"),
        };
        let (end, is_last) = range_end(node, to);
        let mut high = Vec::new();
        let next = (node.high_fence(&mut high) && !is_last).then_some(high);
        let (mut body, mut key) = (Vec::new(), Vec::new());
        let (mut freed, mut undo_bytes) = (Vec::new(), self.set.usable_bytes() + UNDO_END_BYTES);
        for slot in first..end {
            node.key_at(slot, &mut key);
            let value = node.value_at(slot);
            push_run_entry(&mut body, &key, value);
            undo_bytes += UNDO_ENTRY_BYTES + key.len() + value.bytes.len();
            freed.extend(value.overflow.then(|| Reference::decode(value.bytes)));
        }
        let count = end.saturating_sub(first);
        if count > 0 && !uow.covers(undo_bytes as u64) {
            self.leave(leaf, Vec::new(), Purpose::Work);
            let lacks = Some(undo_bytes);
            return Ok(Run { lacks, count: 0, freed: Vec::new(), sparse: false, next: None });
        }
        if count > 0 {
            let fields = Fields::new().ci(ci).u16(first).u16(count);
            let (body, page) = (&[fields.bytes(), &body], &mut leaf.guard);
            uow.change_undone_by(undo_bytes as u64, self.set, kind::REMOVE_RUN, body, page)?;
        }
        let sparse = is_sparse(NodeView::new(leaf.guard.bytes()));
        self.leave(leaf, Vec::new(), Purpose::Work);
        Ok(Run { lacks: None, count: count as u64, freed, sparse, next })
    }

    /// Lets go of a leaf and of those behind it; if it was hard to find, its parent learns of it.
    fn leave(&self, leaf: Reached<ExclusiveCi<'_>>, behind: Vec<SharedCi<'_>>, purpose: Purpose) {
        let unposted = leaf.unposted;
        drop(leaf);
        drop(behind);
        if let Some(child) = unposted {
            self.post_if_possible(child, 0, purpose);
        }
    }

    fn write_chain(&self, uow: &mut Uow, value: &[u8]) -> Result<Reference, TreeError> {
        let uow = std::cell::RefCell::new(uow);
        overflow_write::write(
            *self,
            value,
            None,
            &mut |bytes| Ok(uow.borrow_mut().prepare(bytes)?),
            &mut |body, page| Ok(uow.borrow_mut().change(self.set, kind::OVERFLOW, body, page)?),
        )
    }

    fn free_chain(&self, uow: &mut Uow, reference: Reference) -> Result<(), TreeError> {
        let intervals = overflow::intervals(self.set, reference)?;
        for ci in intervals.ok_or_else(|| self.broken_chain(reference))? {
            uow.free_at_commit(self.set, ci);
        }
        Ok(())
    }
}

#[derive(Default)]
struct Removed {
    found: bool,
    freed: Option<Reference>,
    sparse: bool,
}

struct Run {
    /// Nothing was removed: its undo takes so much log, and less is reserved.
    lacks: Option<usize>,
    count: u64,
    freed: Vec<Reference>,
    sparse: bool,
    /// Where the range goes on.
    next: Option<Vec<u8>>,
}

/// What the undo of a removed run logs for each entry besides key and value: a record's head, its
/// data set, where undo goes on, and an insertion's fields; then a record that ends it. A leaf that
/// has filled up meanwhile is split.
const UNDO_ENTRY_BYTES: usize = 64;
const UNDO_END_BYTES: usize = 64;

/// A sparse node is offered to its neighbours when its entries are a multiple of this.
const SPARSE_TRIES: usize = 4;

/// The entry at which a range ends in a node, and whether it ends there at all.
fn range_end(node: NodeView<'_>, to: Bound<'_>) -> (usize, bool) {
    let (key, included) = match to {
        Bound::End => return (node.count(), false),
        Bound::At(key) => (key, false),
        Bound::Behind(key) => (key, true),
    };
    match node.find(key) {
        Place::BelowLow => (0, true),
        Place::Found(slot) => (slot + usize::from(included), true),
        Place::Gap(slot) => (slot, true),
        Place::AboveHigh => (node.count(), false),
    }
}

fn log_replace<C: Changes>(
    changes: &mut C,
    set: &DataSet,
    page: &mut ExclusiveCi<'_>,
    slot: usize,
    key: &[u8],
    value: Value<'_>,
) -> Result<(), UowError> {
    let mut scratch = Scratch::new();
    let old = NodeView::new(page.bytes()).value_at(slot);
    let old = Value { bytes: scratch.copy(old.bytes), overflow: old.overflow };
    let parts = ReplaceParts::new(page.ci(), slot, key, old, value);
    changes.log(set, kind::REPLACE, &parts.body(), page)
}

/// Undoes an insert: the record goes, wherever it is by now.
pub(crate) fn undo_insert(tree: Tree<'_>, undo: &mut Undo<'_>, key: &[u8]) -> Result<(), UowError> {
    tree.remove_stored(&mut Compensation { undo, whole: true }, key, Near::Unknown, None)?;
    Ok(())
}

/// Undoes a removal: the record comes back, wherever it belongs by now. If this is one of several
/// of one record, it may be there already: a crash came between.
pub(crate) fn undo_remove(
    tree: Tree<'_>,
    undo: &mut Undo<'_>,
    key: &[u8],
    value: Value<'_>,
    whole: bool,
) -> Result<(), UowError> {
    tree.write_stored(&mut Compensation { undo, whole }, key, value, How::simply(Wanted::New))?;
    Ok(())
}

/// Undoes a replacement.
pub(crate) fn undo_replace(
    tree: Tree<'_>,
    undo: &mut Undo<'_>,
    replace: &Replace<'_>,
) -> Result<(), UowError> {
    let leaf = tree.reach_leaf::<SharedCi<'_>>(replace.key)?;
    let ci = leaf.guard.ci();
    let Place::Found(slot) = leaf.place else {
        return Err(tree.damaged(ci, "a replaced record is gone before it is undone").into());
    };
    let now = NodeView::new(leaf.guard.bytes()).value_at(slot);
    // The unit of work still has the key locked: nobody else changes the value meanwhile.
    let before = replace.apply(now.bytes, true);
    let before = before.map_err(|damage| tree.damaged(ci, damage.0))?;
    drop(leaf);
    let value = Value { bytes: &before, overflow: replace.was_overflow };
    let mut compensation = Compensation { undo, whole: true };
    tree.write_stored(&mut compensation, replace.key, value, How::simply(Wanted::Old))?;
    Ok(())
}
