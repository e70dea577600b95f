//! Cursors: a place in a set, and the steps from it.
//!
//! The place is a key (H10). The tree's cursor beneath saves the search as long as it stands on the
//! same record; what it has copied of the tree it checks at every step.

use std::ops::Bound::{Excluded, Included, Unbounded};
use std::sync::Arc;

use base::UowId;
use btree::{Bound, RecordHint, Renewed, Tree};
use lock::{Mode, Wait};
use store::{Cursor, Entry, KeyRange, Place, Position, Result, SetId};
use uow::{Kernel, Uow};

use crate::error::{of_tree, of_uow};
use crate::locks::{gap, gap_below, record, wait_for_ghost};
use crate::sets::SetHandle;

/// A cursor of the kernel's store.
pub struct KernelCursor {
    pub(crate) handle: Arc<SetHandle>,
    walk: Walk,
}

/// What moves when a cursor does.
struct Walk {
    tree: btree::Cursor,
    /// The tree's cursor stands on the record of the spot's key.
    synced: bool,
    spot: Spot,
}

/// A place and the limits of the steps from it.
struct Spot {
    place: Place,
    /// The key that the place speaks of.
    key: Vec<u8>,
    from: Vec<u8>,
    to: Option<Vec<u8>>,
}

/// How a step locks.
#[derive(Clone, Copy)]
pub(crate) struct Locks {
    /// The mode for what is returned; `None` locks nothing.
    pub(crate) mode: Option<Mode>,
    /// The mode for the gaps below what is returned; others are locked shared.
    pub(crate) gaps: Mode,
    pub(crate) wait: Wait,
    /// What cannot be locked at once is passed over.
    pub(crate) claim: bool,
}

impl Cursor for KernelCursor {
    fn set(&self) -> SetId {
        self.handle.id
    }

    fn limit(&mut self, range: KeyRange<'_>) {
        self.walk.synced = false;
        self.walk.spot.from.clear();
        self.walk.spot.from.extend_from_slice(range.from);
        self.walk.spot.to = range.to.map(|to| {
            let mut buffer = self.walk.spot.to.take().unwrap_or_default();
            buffer.clear();
            buffer.extend_from_slice(to);
            buffer
        });
    }

    fn seek(&mut self, to: Position<'_>) {
        let (place, key) = to.parts();
        self.walk.spot.place = place;
        self.walk.spot.key.clear();
        self.walk.spot.key.extend_from_slice(key);
        self.walk.synced = false;
    }

    fn position(&self) -> Position<'_> {
        self.walk.spot.place.at(&self.walk.spot.key)
    }
}

impl KernelCursor {
    pub(crate) fn new(handle: Arc<SetHandle>) -> KernelCursor {
        let spot = Spot { place: Place::Front, key: Vec::new(), from: Vec::new(), to: None };
        KernelCursor { handle, walk: Walk { tree: btree::Cursor::new(), synced: false, spot } }
    }

    /// Goes on in the data set that has the place of the cursor's own since a recovery, if another
    /// one has: it stands on a key, which is sought there.
    #[inline]
    pub(crate) fn follow(&mut self, handle: &Arc<SetHandle>) {
        if !Arc::ptr_eq(&self.handle, handle) {
            self.handle = Arc::clone(handle);
            self.walk.synced = false;
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.walk.spot.place == Place::On
    }

    /// The record that it stands on, as it was seen.
    pub(crate) fn record(&self) -> Option<RecordHint> {
        self.walk.tree.record().filter(|_| self.walk.synced)
    }

    pub(crate) fn key_bytes(&self) -> &[u8] {
        &self.walk.spot.key
    }

    /// What the cursor stands on, after a step that said yes.
    pub(crate) fn entry(&self) -> Entry<'_> {
        Entry { key: &self.walk.spot.key, value: self.walk.tree.value() }
    }

    /// Steps forward; `false` if there is nothing within the limits, and then nothing has moved.
    #[inline]
    pub(crate) fn step_forward(
        &mut self,
        kernel: &Arc<Kernel>,
        uow: &mut Uow,
        locks: Locks,
    ) -> Result<bool> {
        self.walk.step_forward(&self.handle, kernel, uow, locks)
    }

    /// Steps backward; otherwise as [`KernelCursor::step_forward`].
    #[inline]
    pub(crate) fn step_backward(
        &mut self,
        kernel: &Arc<Kernel>,
        uow: &mut Uow,
        locks: Locks,
    ) -> Result<bool> {
        self.walk.step_backward(&self.handle, kernel, uow, locks)
    }

    /// Takes over that the unit of work has replaced a value in the leaf where it stands.
    pub(crate) fn renew(&mut self, renewed: &Renewed, value: &[u8]) {
        self.walk.tree.renew(self.handle.data.id(), renewed, value);
    }

    /// Reads the record that the cursor stands on again; `false` if it is gone.
    pub(crate) fn read_again(&mut self, kernel: &Arc<Kernel>) -> Result<bool> {
        self.walk.read_again(&Tree::new(kernel, &self.handle.data))
    }
}

impl Walk {
    fn step_forward(
        &mut self,
        handle: &SetHandle,
        kernel: &Arc<Kernel>,
        uow: &mut Uow,
        locks: Locks,
    ) -> Result<bool> {
        let tree = Tree::new(kernel, &handle.data);
        if self.spot.nothing_ahead() {
            return Ok(false);
        }
        // A claim that passed something over goes on from there.
        let mut passed = false;
        loop {
            let ends = handle.ghosts.ends();
            if !passed && !self.synced {
                self.tree.seek(self.spot.lower_bound());
            }
            self.synced = false;
            let moved = self.tree.next(&tree).map_err(of_tree)?;
            let within = moved && self.spot.to.as_deref().is_none_or(|to| self.tree.key() < to);
            let Some(mode) = locks.mode else {
                if within {
                    self.arrive();
                }
                return Ok(within);
            };
            if locks.claim {
                match self.claim(handle, &tree, uow, within)? {
                    Claimed::Yes => return Ok(true),
                    Claimed::Nothing => return Ok(false),
                    Claimed::Passed => passed = true,
                    Claimed::Changed => passed = false,
                }
                continue;
            }
            if let Some(ghost) = self.ghost_ahead(handle, moved, uow.id()) {
                wait_for_ghost(handle, uow, &ghost, locks.wait).map_err(of_uow)?;
                continue;
            }
            if !within {
                let name = gap(handle, moved.then(|| self.tree.key()));
                uow.lock(name, Mode::Shared, locks.wait).map_err(of_uow)?;
            } else {
                let name = record(handle, self.tree.key());
                uow.lock(gap_below(name), locks.gaps, locks.wait).map_err(of_uow)?;
                uow.lock(name, mode, locks.wait).map_err(of_uow)?;
            }
            // In this order: see invariant 1 of `ghosts`.
            if self.tree.still_holds(&tree)
                && self.ghost_ahead(handle, moved, uow.id()).is_none()
                && handle.ghosts.ends() == ends
            {
                if within {
                    self.arrive();
                }
                return Ok(within);
            }
        }
    }

    fn step_backward(
        &mut self,
        handle: &SetHandle,
        kernel: &Arc<Kernel>,
        uow: &mut Uow,
        locks: Locks,
    ) -> Result<bool> {
        let tree = Tree::new(kernel, &handle.data);
        let limited = self.spot.limits_above();
        if self.spot.nothing_behind(limited) {
            return Ok(false);
        }
        if locks.mode.is_none() {
            if !std::mem::take(&mut self.synced) || limited {
                self.tree.seek(self.spot.upper_bound(limited));
            }
            let moved = self.tree.previous(&tree).map_err(of_tree)?;
            let within = moved && self.tree.key() >= &self.spot.from[..];
            if within {
                self.arrive();
            }
            return Ok(within);
        }
        loop {
            let ends = handle.ghosts.ends();
            if !self.lock_above(handle, &tree, uow, locks, limited)? {
                continue;
            }
            let moved = self.tree.previous(&tree).map_err(of_tree)?;
            let within = moved && self.tree.key() >= &self.spot.from[..];
            if let Some(ghost) = self.ghost_behind(handle, within, limited, uow.id()) {
                wait_for_ghost(handle, uow, &ghost, locks.wait).map_err(of_uow)?;
                continue;
            }
            if let Some(mode) = locks.mode.filter(|_| within) {
                let name = record(handle, self.tree.key());
                uow.lock(name, mode, locks.wait).map_err(of_uow)?;
            }
            if self.tree.still_holds(&tree)
                && self.ghost_behind(handle, within, limited, uow.id()).is_none()
                && handle.ghosts.ends() == ends
            {
                if within {
                    self.arrive();
                }
                return Ok(within);
            }
        }
    }

    fn read_again(&mut self, tree: &Tree<'_>) -> Result<bool> {
        if !(self.synced && self.tree.is_current(tree)) {
            self.synced = false;
            self.tree.seek(Bound::At(&self.spot.key));
            let moved = self.tree.next(tree).map_err(of_tree)?;
            if !moved || self.tree.key() != self.spot.key {
                return Ok(false);
            }
        }
        self.synced = true;
        Ok(true)
    }

    /// The tree's cursor has moved onto a record that is the new place.
    fn arrive(&mut self) {
        self.spot.key.clear();
        self.spot.key.extend_from_slice(self.tree.key());
        self.spot.place = Place::On;
        self.synced = true;
    }

    fn claim(
        &mut self,
        handle: &SetHandle,
        tree: &Tree<'_>,
        uow: &mut Uow,
        within: bool,
    ) -> Result<Claimed> {
        if !within {
            return Ok(Claimed::Nothing);
        }
        let name = record(handle, self.tree.key());
        let new = match uow.lock(name, Mode::Exclusive, Wait::No) {
            Ok(acquired) => acquired == lock::Acquired::New,
            Err(uow::UowError::Lock(lock::LockError::WouldBlock { .. })) => {
                return Ok(Claimed::Passed);
            }
            Err(error) => return Err(of_uow(error)),
        };
        let current = self.tree.is_current(tree) || self.still_there(tree)?;
        if current {
            self.arrive();
            return Ok(Claimed::Yes);
        }
        if new {
            uow.unlock(name);
        }
        Ok(Claimed::Changed)
    }

    /// Whether the record that the tree's cursor has stepped onto is still there; reads it again.
    fn still_there(&mut self, tree: &Tree<'_>) -> Result<bool> {
        let key = self.tree.key().to_vec();
        self.tree.seek(Bound::At(&key));
        Ok(self.tree.next(tree).map_err(of_tree)? && self.tree.key() == key)
    }

    /// Locks the gap below the first key at or above the place, so that nothing appears between the
    /// place and what the step finds below. Leaves the tree's cursor on that key, or, if there is
    /// none, at the place. `false` if it has to be done again.
    fn lock_above(
        &mut self,
        handle: &SetHandle,
        tree: &Tree<'_>,
        uow: &mut Uow,
        locks: Locks,
        limited: bool,
    ) -> Result<bool> {
        let ends = handle.ghosts.ends();
        // On the record of the place itself there is nothing between.
        let on_it = std::mem::take(&mut self.synced) && self.spot.place == Place::On && !limited;
        if !on_it {
            self.tree.seek(self.spot.upper_bound(limited));
        }
        let there = on_it || self.tree.next(tree).map_err(of_tree)?;
        if let Some(ghost) = self.ghost_above(handle, there, limited, uow.id()) {
            wait_for_ghost(handle, uow, &ghost, locks.wait).map_err(of_uow)?;
            return Ok(false);
        }
        let name = gap(handle, there.then(|| self.tree.key()));
        uow.lock(name, locks.gaps, locks.wait).map_err(of_uow)?;
        let holds = if on_it { self.tree.is_current(tree) } else { self.tree.still_holds(tree) };
        let no_ghost = self.ghost_above(handle, there, limited, uow.id()).is_none();
        Ok(holds && no_ghost && handle.ghosts.ends() == ends)
    }

    /// A foreign ghost that a step forward would pass over.
    fn ghost_ahead(&self, handle: &SetHandle, moved: bool, me: UowId) -> Option<Arc<[u8]>> {
        let ghosts = &handle.ghosts;
        if !ghosts.any() {
            return None;
        }
        let from = match self.spot.lower_bound() {
            Bound::At(key) => Included(key),
            Bound::Behind(key) => Excluded(key),
            Bound::End => return None,
        };
        let to = if moved { Excluded(self.tree.key()) } else { Unbounded };
        ghosts.foreign(from, to, self.spot.to.as_deref(), me)
    }

    /// A foreign ghost between the place and what a step backward found within the limits.
    fn ghost_behind(
        &self,
        handle: &SetHandle,
        within: bool,
        limited: bool,
        me: UowId,
    ) -> Option<Arc<[u8]>> {
        let ghosts = &handle.ghosts;
        if !ghosts.any() {
            return None;
        }
        let from = if within { Excluded(self.tree.key()) } else { Included(&self.spot.from[..]) };
        let to = match self.spot.upper_bound(limited) {
            Bound::At(key) => Excluded(key),
            Bound::Behind(key) => Included(key),
            Bound::End => Unbounded,
        };
        ghosts.foreign(from, to, None, me)
    }

    /// A foreign ghost that stands first at or above the place of a step backward, below the first
    /// key there.
    fn ghost_above(
        &self,
        handle: &SetHandle,
        there: bool,
        limited: bool,
        me: UowId,
    ) -> Option<Arc<[u8]>> {
        let ghosts = &handle.ghosts;
        if !ghosts.any() {
            return None;
        }
        let from = match self.spot.upper_bound(limited) {
            Bound::At(key) => Included(key),
            Bound::Behind(key) => Excluded(key),
            Bound::End => return None,
        };
        let to = if there { Excluded(self.tree.key()) } else { Unbounded };
        ghosts.foreign(from, to, Some(b""), me)
    }
}

impl Spot {
    /// Whether no key at all lies between the place and the upper limit.
    fn nothing_ahead(&self) -> bool {
        let Some(to) = self.to.as_deref() else { return self.place == Place::Back };
        match self.lower_bound() {
            Bound::At(key) | Bound::Behind(key) => to <= key,
            Bound::End => true,
        }
    }

    /// Whether no key at all lies between the place and the lower limit.
    fn nothing_behind(&self, limited: bool) -> bool {
        match self.upper_bound(limited) {
            Bound::At(key) => key <= &self.from[..],
            Bound::Behind(key) => key < &self.from[..],
            Bound::End => false,
        }
    }

    /// Whether the upper limit lies below the place.
    fn limits_above(&self) -> bool {
        let Some(to) = self.to.as_deref() else { return false };
        match self.place {
            Place::Front => false,
            Place::Before | Place::On => &self.key[..] > to,
            Place::After => &self.key[..] >= to,
            Place::Back => true,
        }
    }

    /// Where a step backward begins to look.
    fn upper_bound(&self, limited: bool) -> Bound<'_> {
        match (&self.to, self.place) {
            (Some(to), _) if limited => Bound::At(to),
            (_, Place::Front) => Bound::At(b""),
            (_, Place::Before | Place::On) => Bound::At(&self.key),
            (_, Place::After) => Bound::Behind(&self.key),
            (_, Place::Back) => Bound::End,
        }
    }

    /// Where a step forward begins to look.
    fn lower_bound(&self) -> Bound<'_> {
        let from = &self.from[..];
        let is_within = from.is_empty() || &self.key[..] >= from;
        match self.place {
            Place::Before if is_within => Bound::At(&self.key),
            Place::On | Place::After if is_within => Bound::Behind(&self.key),
            Place::Back => Bound::End,
            _ => Bound::At(from),
        }
    }
}

enum Claimed {
    Yes,
    Nothing,
    Passed,
    Changed,
}
