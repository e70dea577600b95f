//! What a unit of work does to one set: which locks a call takes, in which order, and what it then
//! does to the tree. `ghosts` says why it takes these.

use std::sync::Arc;

use btree::{Around, Below, Bound, Inserted, InsertedBelow, LeafHint, Leaves, RecordHint, Tree};
use lock::{Acquired, LockError, LockName, Mode};
use seam::failpoint::{Failpoint, armed};
use store::{
    Cover, Cursor as _, KeyRange, Locking, Outcome, Position, Read, Result, SetId, StoreError,
};
use uow::{Uow, UowError};

use crate::cursor::{KernelCursor, Locks};
use crate::error::{StoreOrUow, of_tree, of_uow};
use crate::ghosts::Above;
use crate::locks::{covered, gap, gap_below, mode_of, record, wait_for_ghost};
use crate::own_ghosts::OwnGhosts;
use crate::sets::SetHandle;
use crate::shared::Shared;

/// The sets that a unit of work uses.
#[derive(Default)]
pub(crate) struct UsedSets {
    list: Vec<Used>,
    /// The place of the one used last: mostly the next one, too.
    last: usize,
}

/// One of them, and how it holds the set itself.
pub(crate) struct Used {
    id: SetId,
    pub(crate) handle: Arc<SetHandle>,
    pub(crate) mode: Option<Mode>,
    /// How it holds the lock that stands for changes which others' locks cover.
    covered: Option<Mode>,
    /// It has asked for the whole set, which was not to be had.
    refused: bool,
}

/// The unit of work beneath, and what its calls need.
pub(crate) struct Work {
    pub(crate) shared: Arc<Shared>,
    pub(crate) uow: Uow,
    pub(crate) wait: lock::Wait,
    /// The key above the one in hand and the leaves between; kept for their memory.
    next: Vec<u8>,
    leaves: Leaves,
    /// Where the latest call was: the next one may read or change a record there.
    noted: Option<Noted>,
    /// The key that it was about, if it was about one.
    noted_key: Vec<u8>,
    /// The leaf where the latest insert was.
    inserted: Option<(SetId, LeafHint)>,
    /// The keys that it has deleted, once there are any.
    ghosts: Option<Arc<OwnGhosts>>,
}

struct Noted {
    seen: RecordHint,
    of: NotedBy,
}

/// How a place came to be noted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NotedBy {
    /// A cursor of the set stepped to the record there.
    Step(SetId),
    /// The key was found there, or missed, or inserted.
    Key(SetId),
    /// The key was inserted there, and the one before it elsewhere: so may the next one be.
    Alone(SetId),
}

/// A range delete locks so many keys one by one, then the whole set.
const KEYS_LOCKED_MAX: u64 = 256;

impl UsedSets {
    /// A set, known from now on.
    #[inline]
    pub(crate) fn of(&mut self, set: SetId, shared: &Shared) -> Result<&mut Used> {
        if self.list.get(self.last).is_none_or(|used| used.id != set) {
            self.last = match self.list.iter().position(|used| used.id == set) {
                Some(place) => place,
                None => {
                    let handle = shared.sets.handle(set)?;
                    self.list.push(Used {
                        id: set,
                        handle,
                        mode: None,
                        covered: None,
                        refused: false,
                    });
                    self.list.len() - 1
                }
            };
        }
        let used = &mut self.list[self.last];
        if used.handle.check().is_err() && used.mode.is_none() {
            // A recovery may have put another data set in its place.
            used.handle = shared.sets.handle(set)?;
        }
        used.handle.check()?;
        Ok(used)
    }

    /// The set that names of a space stand for parts of: one whose locking is the caller's.
    #[inline]
    pub(crate) fn whose_parts(&mut self, space: SetId, shared: &Shared) -> Option<&mut Used> {
        let locking = match self.known(space) {
            Some(handle) => handle.locking,
            None => shared.sets.handle(space).ok()?.locking,
        };
        match locking {
            Locking::Caller => self.of(space, shared).ok(),
            Locking::Keys => None,
        }
    }

    /// What the lock on the set itself gives on all its parts.
    pub(crate) fn whole_of(&self, set: SetId) -> Option<Mode> {
        self.list.iter().find(|used| used.id == set)?.mode?.on_parts()
    }

    /// A set that is used already.
    #[inline]
    pub(crate) fn known(&self, set: SetId) -> Option<&SetHandle> {
        self.list.iter().find(|used| used.id == set).map(|used| &*used.handle)
    }
}

impl Used {
    /// Whether the lock on the set itself gives this mode on all its keys and gaps.
    #[inline]
    pub(crate) fn covers(&self, mode: Mode) -> bool {
        self.mode.and_then(Mode::on_parts).is_some_and(|whole| whole.covers(mode))
    }

    /// Whether the caller's own locks cover what is changed here.
    #[inline]
    fn is_covered(&self) -> bool {
        self.covered.is_some_and(|covered| covered.covers(Mode::IntentExclusive))
    }

    /// Whether keys have to be locked one by one to be changed.
    #[inline]
    fn locks_keys(&self) -> bool {
        self.handle.locking == Locking::Keys && !self.is_covered() && !self.covers(Mode::Exclusive)
    }

    /// Notes the mode in which the set itself is held by now.
    fn hold(&mut self, mode: Mode) {
        self.mode = Some(self.mode.map_or(mode, |held| held.join(mode)));
    }
}

impl Work {
    pub(crate) fn new(shared: Arc<Shared>, uow: Uow, wait: lock::Wait) -> Work {
        let (next, leaves) = (Vec::new(), Leaves::default());
        let (noted, noted_key, inserted, ghosts) = (None, Vec::new(), None, None);
        Work { shared, uow, wait, next, leaves, noted, noted_key, inserted, ghosts }
    }

    /// Locks the set itself.
    #[inline]
    pub(crate) fn intend(&mut self, used: &mut Used, intent: Mode) -> Result<()> {
        self.intend_within(used, intent, self.wait).map_err(|error| match error {
            StoreOrUow::Store(error) => error,
            StoreOrUow::Uow(error) => of_uow(error),
        })
    }

    /// The same for a caller that waits longer or shorter than usual.
    #[inline]
    pub(crate) fn intend_within(
        &mut self,
        used: &mut Used,
        intent: Mode,
        wait: lock::Wait,
    ) -> std::result::Result<(), StoreOrUow> {
        if used.mode.is_some_and(|held| held.covers(intent)) {
            return Ok(());
        }
        loop {
            let name = LockName::set(used.handle.data.id());
            self.uow.lock(name, intent, wait).map_err(StoreOrUow::Uow)?;
            if used.handle.check().is_ok() {
                used.hold(intent);
                return Ok(());
            }
            // While this waited it was dropped, or recovered: then another data set has its place.
            let handle = self.shared.sets.handle(used.handle.id);
            used.handle = handle.map_err(StoreOrUow::Store)?;
        }
    }

    /// Locks the whole set in place of the names of its parts: there are too many.
    pub(crate) fn escalate_names(
        &mut self,
        used: &mut Used,
        space: u32,
        mode: Mode,
        wait: lock::Wait,
    ) -> std::result::Result<(), StoreOrUow> {
        let (set, space) = (used.handle.data.id(), space & !lock::USER_SPACE);
        self.uow.escalate_names(set, space, mode, wait).map_err(StoreOrUow::Uow)?;
        used.hold(mode);
        Ok(())
    }

    /// Locks the whole set and gives back the locks on its keys: there are too many. `false` if
    /// that is of no use, because the keys are not locked by the store.
    pub(crate) fn escalate(&mut self, used: &mut Used, mode: Mode) -> Result<bool> {
        if used.handle.locking == Locking::Caller {
            return Ok(false);
        }
        self.uow.escalate(used.handle.data.id(), mode, self.wait).map_err(of_uow)?;
        used.hold(mode);
        Ok(true)
    }

    #[cold]
    fn take_whole(&mut self, used: &mut Used) -> Result<()> {
        if used.handle.locking == Locking::Caller {
            return Ok(());
        }
        used.refused = !self.try_whole(used)?;
        Ok(())
    }

    /// Locks the whole set, if nobody else has anything of it locked.
    pub(crate) fn try_whole(&mut self, used: &mut Used) -> Result<bool> {
        match self.intend_within(used, Mode::Exclusive, lock::Wait::No) {
            Ok(()) => Ok(true),
            Err(StoreOrUow::Uow(UowError::Lock(LockError::WouldBlock { .. }))) => Ok(false),
            Err(StoreOrUow::Uow(error)) => Err(of_uow(error)),
            Err(StoreOrUow::Store(error)) => Err(error),
        }
    }

    /// The mode in which a read locks what it returns, if it does; the set is locked with intent.
    /// So it is where the caller locks, by names that say nothing of the set: a reader of it
    /// goes on in the same data set until the end of the unit of work, and no recovery takes back
    /// what the next change rests on.
    #[inline]
    fn reading(&mut self, used: &mut Used, read: Read) -> Result<Option<Mode>> {
        if used.handle.locking == Locking::Caller {
            self.intend(used, Mode::IntentShared)?;
            return Ok(None);
        }
        let Some(mode) = mode_of(read) else { return Ok(None) };
        self.intend(used, mode.intent())?;
        Ok(Some(mode).filter(|mode| !used.is_covered() && !used.covers(*mode)))
    }

    /// Takes the lock that stands for covered changes: to make some, or against those of others.
    /// Or the whole set, if that is to be had at once.
    #[inline]
    pub(crate) fn cover(&mut self, used: &mut Used, cover: Cover) -> Result<()> {
        let mode = match cover {
            Cover::Changes => Mode::IntentExclusive,
            Cover::Look => Mode::Shared,
            Cover::Whole if used.refused || used.covers(Mode::Exclusive) => return Ok(()),
            Cover::Whole => return self.take_whole(used),
        };
        if used.handle.locking == Locking::Caller
            || used.covered.is_some_and(|held| held.covers(mode))
        {
            return Ok(());
        }
        self.intend(used, mode.intent())?;
        self.uow.lock(covered(&used.handle), mode, self.wait).map_err(of_uow)?;
        used.covered = Some(used.covered.map_or(mode, |held| held.join(mode)));
        Ok(())
    }

    /// Locks a record that is to be changed; the set with intent. Returns the name of its lock.
    #[inline]
    fn changing(&mut self, used: &mut Used, key: &[u8]) -> Result<LockName> {
        self.intend(used, Mode::IntentExclusive)?;
        let name = record(&used.handle, key);
        if used.locks_keys() {
            self.uow.lock(name, Mode::Exclusive, self.wait).map_err(of_uow)?;
        }
        Ok(name)
    }

    /// Where a record is, if the latest call was about its key.
    #[inline]
    fn noted(&self, handle: &SetHandle, key: &[u8]) -> Option<RecordHint> {
        let noted = self.noted.as_ref()?;
        let is_key =
            matches!(noted.of, NotedBy::Key(set) | NotedBy::Alone(set) if set == handle.id);
        (is_key && self.noted_key == key).then_some(noted.seen)
    }

    /// Where the latest call was, if that was about the same key or a step to one beside it.
    #[inline]
    fn noted_near(&self, handle: &SetHandle, key: &[u8]) -> Option<Around> {
        let noted = self.noted.as_ref()?;
        match noted.of {
            NotedBy::Step(set) if set == handle.id => Some(Around::Leaf(noted.seen.leaf())),
            _ => self.noted(handle, key).map(Around::Key),
        }
    }

    /// The leaf of the latest call, if that was in the same set: what is inserted mostly goes
    /// beside the record that was read before.
    #[inline]
    fn noted_beside(&self, handle: &SetHandle) -> Option<LeafHint> {
        let beside = |noted: &&Noted| match noted.of {
            NotedBy::Step(set) | NotedBy::Key(set) => set == handle.id,
            NotedBy::Alone(_) => false,
        };
        self.noted.as_ref().filter(beside).map(|noted| noted.seen.leaf())
    }

    #[inline]
    fn note(&mut self, of: NotedBy, key: &[u8], seen: RecordHint) {
        self.noted = Some(Noted { seen, of });
        self.noted_key.clear();
        self.noted_key.extend_from_slice(key);
    }

    pub(crate) fn get(
        &mut self,
        used: &mut Used,
        key: &[u8],
        read: Read,
        value: &mut Vec<u8>,
    ) -> Result<bool> {
        value.clear();
        if let Some(mode) = self.reading(used, read)? {
            self.uow.lock(record(&used.handle, key), mode, self.wait).map_err(of_uow)?;
        }
        let near = self.noted_near(&used.handle, key);
        let tree = Tree::new(&self.shared.kernel, &used.handle.data);
        let seen = tree.get_seen(key, value, near).map_err(of_tree)?;
        self.note(NotedBy::Key(used.handle.id), key, seen);
        if !seen.is_there() {
            value.clear();
        }
        Ok(seen.is_there())
    }

    pub(crate) fn insert(&mut self, used: &mut Used, key: &[u8], value: &[u8]) -> Result<Outcome> {
        self.check_limits(&used.handle, key, value)?;
        let name = self.changing(used, key)?;
        self.insert_locked(used, name, key, value)
    }

    pub(crate) fn replace(&mut self, used: &mut Used, key: &[u8], value: &[u8]) -> Result<Outcome> {
        self.check_limits(&used.handle, key, value)?;
        self.changing(used, key)?;
        let noted = self.noted(&used.handle, key);
        let tree = Tree::new(&self.shared.kernel, &used.handle.data);
        let replaced = tree.replace_noted(&mut self.uow, key, value, noted).map_err(of_tree)?;
        Ok(if replaced { Outcome::Done } else { Outcome::Absent })
    }

    /// Replaces the value of the record that a cursor stands on, which goes on from there.
    pub(crate) fn replace_at(
        &mut self,
        used: &mut Used,
        cursor: &mut KernelCursor,
        value: &[u8],
    ) -> Result<Outcome> {
        cursor.follow(&used.handle);
        let key = cursor.key_bytes();
        let Some(seen) = cursor.record() else { return self.replace(used, key, value) };
        self.check_limits(&used.handle, key, value)?;
        self.changing(used, key)?;
        let tree = Tree::new(&self.shared.kernel, &used.handle.data);
        let replaced = tree.replace_seen(&mut self.uow, key, seen, value).map_err(of_tree)?;
        if let Some(renewed) = replaced.renewed {
            cursor.renew(&renewed, value);
        }
        Ok(if replaced.was_there { Outcome::Done } else { Outcome::Absent })
    }

    pub(crate) fn put(&mut self, used: &mut Used, key: &[u8], value: &[u8]) -> Result<()> {
        // In a set whose locking is the caller's, others may come in between.
        while self.replace(used, key, value)? == Outcome::Absent {
            let name = record(&used.handle, key);
            if self.insert_locked(used, name, key, value)? == Outcome::Done {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn delete(
        &mut self,
        used: &mut Used,
        key: &[u8],
        seen: Option<RecordHint>,
    ) -> Result<Outcome> {
        let name = self.changing(used, key)?;
        let mut seen = seen.or_else(|| self.noted(&used.handle, key));
        if used.locks_keys() {
            let tree = Tree::new(&self.shared.kernel, &used.handle.data);
            let there = tree.contains_seen(key, seen.map(Around::Key)).map_err(of_tree)?;
            if !there.is_there() {
                return Ok(Outcome::Absent);
            }
            seen = Some(there);
            self.uow.lock(gap_below(name), Mode::Exclusive, self.wait).map_err(of_uow)?;
            self.bury(&used.handle, key);
        }
        let tree = Tree::new(&self.shared.kernel, &used.handle.data);
        let removed = tree.remove_noted(&mut self.uow, key, seen).map_err(of_tree)?;
        Ok(if removed { Outcome::Done } else { Outcome::Absent })
    }

    /// Adds an entry whose key no other unit of work can be at work on. Answers, too, whether the
    /// entry before it begins with the same `prefix` bytes; `None` if that was not to be seen.
    pub(crate) fn insert_beside(
        &mut self,
        used: &mut Used,
        key: &[u8],
        value: &[u8],
        prefix: usize,
    ) -> Result<(Outcome, Option<bool>)> {
        if used.locks_keys() {
            return Ok((self.insert(used, key, value)?, None));
        }
        self.check_limits(&used.handle, key, value)?;
        self.intend(used, Mode::IntentExclusive)?;
        let tree = Tree::new(&self.shared.kernel, &used.handle.data);
        let inserted = tree.insert_beside(&mut self.uow, key, value, prefix).map_err(of_tree)?;
        Ok(match inserted {
            (Inserted::Yes, beside) => (Outcome::Done, beside),
            (Inserted::Duplicate, _) => (Outcome::Exists, Some(false)),
        })
    }

    /// Removes an entry that no other unit of work can be at work on, if it has this value; `None`
    /// if that has to be seen first.
    pub(crate) fn delete_equal(
        &mut self,
        used: &mut Used,
        key: &[u8],
        value: &[u8],
    ) -> Result<Option<Outcome>> {
        if used.locks_keys() {
            return Ok(None);
        }
        self.intend(used, Mode::IntentExclusive)?;
        let tree = Tree::new(&self.shared.kernel, &used.handle.data);
        let removed = tree.remove_equal(&mut self.uow, key, value).map_err(of_tree)?;
        Ok(removed.map(|removed| if removed { Outcome::Done } else { Outcome::Absent }))
    }

    pub(crate) fn delete_range(&mut self, used: &mut Used, range: KeyRange<'_>) -> Result<u64> {
        self.intend(used, Mode::IntentExclusive)?;
        if range.is_empty() {
            return Ok(0);
        }
        if used.locks_keys() {
            self.lock_range(used, range)?;
        }
        let tree = Tree::new(&self.shared.kernel, &used.handle.data);
        let (from, to) = (Bound::At(range.from), range.to.map_or(Bound::End, Bound::At));
        tree.remove_range(&mut self.uow, from, to).map_err(of_tree)
    }

    /// Locks every key of a range and its gap exclusively and the gap behind it shared, and makes
    /// the keys ghosts; or locks the whole set.
    fn lock_range(&mut self, used: &mut Used, range: KeyRange<'_>) -> Result<()> {
        let (mode, gaps) = (Some(Mode::Exclusive), Mode::Exclusive);
        let locks = Locks { mode, gaps, wait: self.wait, claim: false };
        let mut cursor = KernelCursor::new(Arc::clone(&used.handle));
        cursor.seek(Position::Before(range.from));
        cursor.limit(range);
        let mut count = 0;
        while cursor.step_forward(&self.shared.kernel, &mut self.uow, locks)? {
            count += 1;
            if count > KEYS_LOCKED_MAX {
                return self.intend(used, Mode::Exclusive);
            }
            self.bury(&used.handle, cursor.key_bytes());
        }
        Ok(())
    }

    /// Makes a key that is about to be deleted a ghost; record and gap are locked exclusively.
    fn bury(&mut self, handle: &Arc<SetHandle>, key: &[u8]) {
        let ghosts = match &self.ghosts {
            Some(ghosts) => ghosts,
            None => {
                let ghosts = Arc::new(OwnGhosts::new(self.uow.id()));
                self.uow.tell_at_end(Arc::clone(&ghosts) as _);
                self.ghosts.insert(ghosts)
            }
        };
        ghosts.add(handle, key);
    }

    /// Inserts a record that is locked already.
    fn insert_locked(
        &mut self,
        used: &Used,
        name: LockName,
        key: &[u8],
        value: &[u8],
    ) -> Result<Outcome> {
        let handle = &*used.handle;
        if used.locks_keys()
            && !armed(Failpoint::NextKeyNotLocked)
            && !handle.ghosts.is_own(key, self.uow.id())
        {
            return self.insert_into_gap(handle, gap_below(name), key, value);
        }
        let tree = Tree::new(&self.shared.kernel, &handle.data);
        let noted = self.noted_beside(handle);
        let inserted = tree.insert_noted(&mut self.uow, key, value, noted).map_err(of_tree)?;
        if let Some(seen) = inserted.1 {
            let leaf = seen.leaf();
            let before = self.inserted.replace((handle.id, leaf));
            let again = before.filter(|(set, _)| *set == handle.id).map(|(_, before)| before);
            let again = noted.into_iter().chain(again).any(|before| before.is_leaf_of(leaf));
            let of = if again { NotedBy::Key } else { NotedBy::Alone };
            self.note(of(handle.id), key, seen);
        }
        match inserted.0 {
            Inserted::Yes => Ok(Outcome::Done),
            Inserted::Duplicate => Ok(Outcome::Exists),
        }
    }

    /// Inserts below whatever key or ghost follows, with the gap there locked. `own` is the new
    /// key's own gap.
    fn insert_into_gap(
        &mut self,
        handle: &SetHandle,
        own: LockName,
        key: &[u8],
        value: &[u8],
    ) -> Result<Outcome> {
        let Work { shared, uow, wait, next, leaves, .. } = self;
        let (tree, wait, me) = (Tree::new(&shared.kernel, &handle.data), *wait, uow.id());
        loop {
            let look = tree.look_through(key, next, leaves).map_err(of_tree)?;
            if look.found {
                return Ok(Outcome::Exists);
            }
            let next = look.has_next.then_some(&next[..]);
            let name = match handle.ghosts.above(key, next, me) {
                Above::Foreign(ghost) => {
                    wait_for_ghost(handle, uow, &ghost, wait).map_err(of_uow)?;
                    continue;
                }
                Above::Own(ghost) => gap(handle, Some(&ghost)),
                Above::NoGhost => gap(handle, next),
            };
            let locked = uow.lock(name, Mode::IntentExclusive, wait).map_err(of_uow)?;
            let passing = locked == Acquired::New && name != own;
            // A gap that this unit of work has locked for itself is divided: the lower part, too.
            let mode = if passing { None } else { uow.mode_of(name) };
            let mode = mode.unwrap_or(Mode::IntentExclusive);
            let inserted = uow.lock(own, mode, wait).map_err(of_uow).and_then(|_| {
                let holds = || !matches!(handle.ghosts.above(key, next, me), Above::Foreign(_));
                let below = Below { next, leaves, holds: &holds };
                tree.insert_below(uow, key, value, &below).map_err(of_tree)
            });
            if passing {
                uow.unlock(name);
            }
            match inserted? {
                InsertedBelow::Yes => return Ok(Outcome::Done),
                InsertedBelow::Duplicate => return Ok(Outcome::Exists),
                InsertedBelow::Moved => seam::thread::yield_now(),
            }
        }
    }

    fn check_limits(&self, handle: &SetHandle, key: &[u8], value: &[u8]) -> Result<()> {
        let tree = Tree::new(&self.shared.kernel, &handle.data);
        let key_max = tree.key_bytes_max();
        if key.len() > key_max {
            return Err(StoreError::too_large(store::Limit::KeyBytes, key.len(), key_max));
        }
        let value_max = tree.value_bytes_max();
        if value.len() > value_max {
            return Err(StoreError::too_large(store::Limit::ValueBytes, value.len(), value_max));
        }
        Ok(())
    }

    pub(crate) fn current(
        &mut self,
        used: &mut Used,
        cursor: &mut KernelCursor,
        read: Read,
    ) -> Result<bool> {
        if let Some(mode) = self.reading(used, read)? {
            let name = record(&used.handle, cursor.key_bytes());
            self.uow.lock(name, mode, self.wait).map_err(of_uow)?;
        }
        cursor.follow(&used.handle);
        cursor.read_again(&self.shared.kernel)
    }

    #[inline]
    pub(crate) fn step(
        &mut self,
        used: &mut Used,
        cursor: &mut KernelCursor,
        read: Read,
        forward: bool,
    ) -> Result<bool> {
        let mode = self.reading(used, read)?;
        cursor.follow(&used.handle);
        let locks = Locks { mode, gaps: Mode::Shared, wait: self.wait, claim: false };
        let stepped = match forward {
            true => cursor.step_forward(&self.shared.kernel, &mut self.uow, locks)?,
            false => cursor.step_backward(&self.shared.kernel, &mut self.uow, locks)?,
        };
        let of = NotedBy::Step(used.handle.id);
        self.noted = cursor.record().map(|seen| Noted { seen, of });
        Ok(stepped)
    }

    pub(crate) fn claim(&mut self, used: &mut Used, cursor: &mut KernelCursor) -> Result<bool> {
        let mode = self.reading(used, Read::Exclusive)?;
        cursor.follow(&used.handle);
        let locks = Locks { mode, gaps: Mode::Shared, wait: self.wait, claim: mode.is_some() };
        cursor.step_forward(&self.shared.kernel, &mut self.uow, locks)
    }
}
