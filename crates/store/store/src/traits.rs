//! The traits: [`Store`], [`Unit`] and [`Cursor`].
//!
//! What an implementation must keep, beside what each call says:
//!
//! 1. *Isolation.* In sets under [`Locking::Keys`](crate::Locking), units of work that read with
//!    [`Read::Shared`] or more are serializable; with `strict` in the capabilities also in real
//!    time. A range that was read is as good as locked: nothing appears in it.
//! 2. *Own changes.* A unit of work sees what it has changed, at once, through every call.
//! 3. *Freshness.* Every read sees at least what was committed when the unit of work began, and
//!    when it took its last lock on a name. An implementation that reads ahead forgets what it has
//!    read whenever the unit of work writes, locks a name, or the cursor meets another unit.
//! 4. *Atomicity.* A call that fails has done nothing; a unit of work is committed whole or not at
//!    all. Dropping a unit of work backs it out.
//! 5. *The gate (K2).* Neither [`Unit::commit`] returns nor [`CommitSink::settled`] is called
//!    before everything that the unit of work has *read* is durable, too, even if it changed
//!    nothing.
//! 6. *Doom.* After an error that dooms the unit of work ([`StoreError::dooms_unit`]) every call
//!    repeats it, until the unit of work is backed out. It keeps its locks until then.
//! 7. *Progress.* Who waits is not overtaken for ever by those who come later: a unit of work that
//!    is backed out and run again queues up behind those that wait.
//! 8. *Cost.* A call that finds what it needs in memory allocates nothing, once the caller's and
//!    the cursor's buffers have grown.

use std::sync::Arc;

use crate::capabilities::Capabilities;
use crate::commit::{CommitSink, Committed, Resolution};
use crate::commit_token::CommitToken;
use crate::error::{Result, StoreError};
use crate::key::{Entry, KeyRange, Position};
use crate::load::LoadSource;
use crate::locking::{Cover, Grant, LockMode, LockName, Read, Wait};
use crate::set::{SetAttributes, SetId, SetInfo};

/// How a unit of work is to behave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitOptions {
    /// It will change nothing; a call that would is refused.
    pub read_only: bool,
    /// How long to wait for a lock on a key.
    pub wait: Wait,
    /// How often in a row this work has already been chosen to end a deadlock. None is chosen
    /// three times (K14).
    pub victim_count: u32,
    /// Whom to name in messages and displays: a region, a connection. Zero is nobody.
    pub owner: u64,
}

impl UnitOptions {
    /// For a unit of work that will change nothing.
    pub const READ_ONLY: UnitOptions =
        UnitOptions { read_only: true, wait: Wait::Forever, victim_count: 0, owner: 0 };
}

/// What a change found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// The change was made.
    Done,
    /// The key is there already; nothing was changed.
    Exists,
    /// The key is not there; nothing was changed.
    Absent,
}

impl Outcome {
    /// Whether the change was made.
    pub fn is_done(self) -> bool {
        self == Outcome::Done
    }
}

/// A point in a unit of work to which it can be rolled back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint {
    /// What the implementation finds the point by, such as a log position.
    pub point: u64,
    /// How many savepoints stood before it; tells one that was rolled back past.
    pub number: u32,
}

/// An ordered, transactional store of keyed entries in named sets.
///
/// A value of this type is a handle: clones stand for the same store.
///
/// What concerns whole sets ([`create_set`](Store::create_set) and so on) stands outside units of
/// work: it is durable and visible on return, and cannot be backed out.
///
/// What is written for any store runs on the model of `store-suite` and on every engine:
///
/// ```
/// use holdfast_store::{Outcome, Result, SetAttributes, SetId, Store, Unit, UnitOptions, run};
///
/// /// The set of parts, made if it is not there.
/// fn parts<S: Store>(store: &S) -> Result<SetId> {
///     match store.set("PARTS")? {
///         Some(set) => Ok(set),
///         None => store.create_set("PARTS", &SetAttributes::default()),
///     }
/// }
///
/// /// Adds a part, again where the unit of work was chosen to end a deadlock.
/// fn add<S: Store>(store: &S, number: &[u8], name: &str) -> Result<Outcome> {
///     let set = parts(store)?;
///     run(store, UnitOptions::default(), |unit| unit.insert(set, number, name.as_bytes()))
/// }
/// ```
pub trait Store: Clone + Send + Sync + 'static {
    /// Its units of work.
    type Unit: Unit<Cursor = Self::Cursor>;
    /// Its cursors.
    type Cursor: Cursor;

    /// What this store offers, and its limits.
    fn capabilities(&self) -> &Capabilities;

    /// Begins a unit of work.
    ///
    /// # Errors
    /// If the store has stopped, cannot be reached, or has no room for another unit of work.
    fn begin(&self, options: UnitOptions) -> Result<Self::Unit>;

    /// A cursor in front of the first entry of `set`, without limits.
    ///
    /// # Errors
    /// [`StoreError::NoSuchSet`].
    fn cursor(&self, set: SetId) -> Result<Self::Cursor>;

    /// Creates an empty set.
    ///
    /// # Errors
    /// [`StoreError::SetExists`]; [`StoreError::Unsupported`] for attributes it cannot honour;
    /// [`StoreError::NoSpace`].
    fn create_set(&self, name: &str, attributes: &SetAttributes) -> Result<SetId>;

    /// Drops a set and all its entries. Cursors on it answer [`StoreError::NoSuchSet`] from then.
    ///
    /// # Errors
    /// [`StoreError::NoSuchSet`]; [`StoreError::SetInUse`] while a unit of work has changed
    /// something in it, or keeps something in it locked.
    fn drop_set(&self, set: SetId) -> Result<()>;

    /// Drops all entries of a set, but not the set, whatever is damaged of what they stand in. Its
    /// sequence goes on.
    ///
    /// # Errors
    /// As [`drop_set`](Store::drop_set).
    fn empty_set(&self, set: SetId) -> Result<()>;

    /// The set of that name.
    ///
    /// # Errors
    /// If the store has stopped or cannot be reached.
    fn set(&self, name: &str) -> Result<Option<SetId>>;

    /// Every set, ordered by name.
    ///
    /// # Errors
    /// If the store has stopped or cannot be reached.
    fn sets(&self) -> Result<Vec<SetInfo>>;

    /// Where the store's log stands: what is committed from now on stands behind it. Always 0 where
    /// there is no log that a set could be recovered from.
    fn position(&self) -> u64 {
        0
    }

    /// Whether so little room is left for what is logged that a change may have to wait for it. Who
    /// serves others makes such changes where a wait holds up no other.
    fn is_short_of_room(&self) -> bool {
        false
    }

    /// Bytes of a set's control intervals as they are, whatever was asked for; `None` where sets
    /// have none.
    ///
    /// # Errors
    /// [`StoreError::NoSuchSet`].
    fn interval_bytes(&self, set: SetId) -> Result<Option<u32>> {
        let _ = set;
        Ok(None)
    }

    /// Fills an empty set with entries whose keys ascend, faster than inserts would. All or
    /// nothing; durable on return. Answers how many there were.
    ///
    /// Whether the set is in use, as for [`drop_set`](Store::drop_set), is asked before anything
    /// else, where that can be told at all: whether it is empty, and what the source has.
    ///
    /// # Errors
    /// [`StoreError::SetNotEmpty`], [`StoreError::SetInUse`], [`StoreError::OutOfOrder`],
    /// [`StoreError::TooLarge`], [`StoreError::NoSpace`], and what the source answers.
    fn load_sorted(&self, set: SetId, source: &mut impl LoadSource) -> Result<u64>;

    /// Draws `count` numbers of the set's sequence, which starts at 1, and answers the first.
    ///
    /// A number is never drawn twice, not even after a crash; a later draw answers greater
    /// numbers; some may be skipped. Drawing belongs to no unit of work, so that those who append
    /// to one set (arrivals at a queue, record addresses) need not wait for each other.
    ///
    /// # Errors
    /// [`StoreError::NoSuchSet`]; [`StoreError::NoSpace`] when all numbers are drawn.
    fn draw(&self, set: SetId, count: u32) -> Result<u64>;

    /// Returns when all that is committed by now is durable, queued commits included.
    ///
    /// # Errors
    /// If the store stops or is cut off before that.
    fn wait_durable(&self) -> Result<()>;

    /// What became of a commit that ended with [`StoreError::CommitUnknown`].
    ///
    /// # Errors
    /// [`StoreError::Unsupported`] by a store whose commits always answer;
    /// [`StoreError::Unavailable`].
    fn resolve(&self, token: CommitToken) -> Result<Resolution> {
        let _ = token;
        Err(StoreError::Unsupported("unknown outcomes of commits"))
    }
}

/// A place in a set, from which a unit of work steps to the next or the previous entry.
///
/// A cursor belongs to the store, not to a unit of work: it keeps its place over a commit, and any
/// unit of work of the same store may use it, one at a time. Its place is a key (H10), so it also
/// survives every change to the set, of the entry it stands on too. It holds no locks and nothing
/// is pinned for it. Placing it reads nothing, and costs least near where it stood.
///
/// ```
/// use holdfast_store::{Cursor, KeyRange, Position, Read, Result, SetId, Store, Unit};
///
/// /// The last key that begins with `prefix`.
/// fn last<S: Store>(
///     store: &S,
///     unit: &mut S::Unit,
///     set: SetId,
///     prefix: &[u8],
/// ) -> Result<Option<Vec<u8>>> {
///     let (mut cursor, mut end) = (store.cursor(set)?, Vec::new());
///     cursor.limit(KeyRange::prefix(prefix, &mut end));
///     cursor.seek(Position::Back);
///     let found = unit.previous(&mut cursor, Read::Shared)?;
///     Ok(found.map(|entry| entry.key.to_vec()))
/// }
/// ```
pub trait Cursor: Send {
    /// The set.
    fn set(&self) -> SetId;

    /// Confines the steps to a range: they return no entry outside it and lock nothing beyond
    /// what that needs. The place stays as it is, even outside.
    fn limit(&mut self, range: KeyRange<'_>);

    /// Places the cursor.
    fn seek(&mut self, to: Position<'_>);

    /// Where it stands.
    fn position(&self) -> Position<'_>;

    /// The key it stands on, which is that of the entry last returned unless it was placed since.
    fn key(&self) -> Option<&[u8]> {
        match self.position() {
            Position::On(key) => Some(key),
            _ => None,
        }
    }
}

/// A unit of work: reads and changes that are committed together or backed out.
///
/// Dropping it backs it out.
///
/// ```
/// use holdfast_store::{Outcome, Result, SetId, Unit};
///
/// /// Gives an entry another key; where there is one already, all is as it was.
/// fn rename<U: Unit>(unit: &mut U, set: SetId, from: &[u8], to: &[u8]) -> Result<Outcome> {
///     let mut value = Vec::new();
///     if !unit.get(set, from, holdfast_store::Read::Update, &mut value)? {
///         return Ok(Outcome::Absent);
///     }
///     let before = unit.savepoint()?;
///     let _ = unit.delete(set, from)?;
///     let outcome = unit.insert(set, to, &value)?;
///     if !outcome.is_done() {
///         unit.rollback_to(before)?;
///     }
///     Ok(outcome)
/// }
/// ```
pub trait Unit: Sized + Send {
    /// The cursors of its store.
    type Cursor: Cursor;

    /// Reads the value of `key` into `value`, whose old contents are dropped. `false` if the key
    /// is not there; then `value` is empty.
    ///
    /// # Errors
    /// [`StoreError::NoSuchSet`], [`StoreError::Timeout`], and what dooms the unit of work.
    fn get(&mut self, set: SetId, key: &[u8], read: Read, value: &mut Vec<u8>) -> Result<bool>;

    /// Says that a key is about to be sought, so that the store may prefetch what the search
    /// needs first. Promises nothing and never fails.
    fn prefetch(&self, set: SetId, key: &[u8]) {
        let _ = (set, key);
    }

    /// Adds an entry: `Done`, or `Exists` if the key is there already.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`], [`StoreError::ReadOnly`], [`StoreError::NoSpace`],
    /// [`StoreError::NoSuchSet`], [`StoreError::Timeout`], and what dooms the unit of work. So do
    /// all changes.
    fn insert(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<Outcome>;

    /// [`insert`](Unit::insert), and whether the entry before the new one begins with the same
    /// `prefix` bytes as it does: so an index learns that it has a key already. What is said of an
    /// entry that was not inserted has no meaning. `cursor`, one of this set without limits, loses
    /// its place.
    ///
    /// # Errors
    /// As [`insert`](Unit::insert) and [`previous`](Unit::previous).
    fn insert_beside(
        &mut self,
        cursor: &mut Self::Cursor,
        key: &[u8],
        value: &[u8],
        prefix: usize,
    ) -> Result<(Outcome, bool)> {
        let outcome = self.insert(cursor.set(), key, value)?;
        if !outcome.is_done() {
            return Ok((outcome, false));
        }
        cursor.seek(Position::Before(key));
        let before = self.previous(cursor, Read::Unlocked)?;
        let prefix = key.get(..prefix).unwrap_or(key);
        Ok((outcome, before.is_some_and(|before| before.key.starts_with(prefix))))
    }

    /// Gives the key another value: `Done`, or `Absent` if the key is not there.
    ///
    /// # Errors
    /// As [`insert`](Unit::insert).
    fn replace(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<Outcome>;

    /// Adds the entry or replaces its value, whichever it takes.
    ///
    /// # Errors
    /// As [`insert`](Unit::insert).
    fn put(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<()>;

    /// Removes an entry: `Done`, or `Absent` if the key is not there.
    ///
    /// # Errors
    /// As [`insert`](Unit::insert).
    fn delete(&mut self, set: SetId, key: &[u8]) -> Result<Outcome>;

    /// Removes the entry with that key if it has this value, and answers `Absent` if there is none
    /// or it has another one. `buffer` is memory to use.
    ///
    /// # Errors
    /// As [`insert`](Unit::insert).
    fn delete_equal(
        &mut self,
        set: SetId,
        key: &[u8],
        value: &[u8],
        buffer: &mut Vec<u8>,
    ) -> Result<Outcome> {
        match self.get(set, key, Read::Exclusive, buffer)? && buffer[..] == *value {
            true => self.delete(set, key),
            false => Ok(Outcome::Absent),
        }
    }

    /// Removes every entry of a range and answers how many there were.
    ///
    /// # Errors
    /// As [`insert`](Unit::insert).
    fn delete_range(&mut self, set: SetId, range: KeyRange<'_>) -> Result<u64>;

    /// Steps to the first entry after the cursor's place, within its limits, and lends it until
    /// the cursor is used again. With `None` the place stays as it was: an entry that is added
    /// later is found by the next step.
    ///
    /// # Errors
    /// As [`get`](Unit::get).
    fn next<'c>(&mut self, cursor: &'c mut Self::Cursor, read: Read) -> Result<Option<Entry<'c>>>;

    /// Steps to the last entry before the cursor's place; otherwise as [`next`](Unit::next).
    ///
    /// # Errors
    /// As [`get`](Unit::get).
    fn previous<'c>(
        &mut self,
        cursor: &'c mut Self::Cursor,
        read: Read,
    ) -> Result<Option<Entry<'c>>>;

    /// Reads the entry that the cursor stands on once more: with a stronger lock, or to see what
    /// became of it. `None` if it is gone.
    ///
    /// # Errors
    /// [`StoreError::NoPosition`] unless the place is [`Position::On`] a key; otherwise as
    /// [`get`](Unit::get).
    fn current<'c>(
        &mut self,
        cursor: &'c mut Self::Cursor,
        read: Read,
    ) -> Result<Option<Entry<'c>>>;

    /// Steps to the next entry that can be locked exclusively at once, passing over those that
    /// other units of work have locked: how the head of a queue is taken by many. What it passes
    /// over is neither locked nor waited for, so the choice is not serializable; what it returns
    /// is locked to the end of the unit of work like any other.
    ///
    /// In a set whose locking is the caller's it is [`next`](Unit::next).
    ///
    /// # Errors
    /// As [`get`](Unit::get), without the timeout.
    fn claim_next<'c>(&mut self, cursor: &'c mut Self::Cursor) -> Result<Option<Entry<'c>>>;

    /// [`replace`](Unit::replace) of the entry that the cursor stands on; finds it faster.
    ///
    /// # Errors
    /// [`StoreError::NoPosition`]; as [`insert`](Unit::insert).
    fn replace_at(&mut self, cursor: &mut Self::Cursor, value: &[u8]) -> Result<Outcome> {
        let key = cursor.key().ok_or(StoreError::NoPosition)?;
        self.replace(cursor.set(), key, value)
    }

    /// [`delete`](Unit::delete) of the entry that the cursor stands on; finds it faster. The
    /// cursor stays on the key.
    ///
    /// # Errors
    /// [`StoreError::NoPosition`]; as [`insert`](Unit::insert).
    fn delete_at(&mut self, cursor: &mut Self::Cursor) -> Result<Outcome> {
        let key = cursor.key().ok_or(StoreError::NoPosition)?;
        self.delete(cursor.set(), key)
    }

    /// Locks a name. A unit of work holds a name once, in the join of all modes it asked for.
    ///
    /// Names of the space that has the number of a set whose locking is the caller's stand for
    /// parts of that set: a store may lock the set with them, and in their place where a unit of
    /// work would hold too many.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] for the name; what dooms the unit of work, a deadlock above all.
    fn lock(&mut self, name: LockName<'_>, mode: LockMode, wait: Wait) -> Result<Grant>;

    /// Locks the name that the key stands for which the cursor is on, in the space of its set, as
    /// [`lock`](Unit::lock) does without a wait; and says that the caller steps forward from one
    /// key of that length to the next, locks each and gives the last one back.
    ///
    /// A store for which each request is a journey may hold the names of keys that follow, or one
    /// that was given back, for as long as nobody else waits for it. It answers
    /// [`Grant::Busy`] meanwhile to whoever does not wait.
    ///
    /// # Errors
    /// [`StoreError::NoPosition`]; as [`lock`](Unit::lock).
    fn lock_along(&mut self, cursor: &mut Self::Cursor, mode: LockMode) -> Result<Grant> {
        let name = cursor.key().ok_or(StoreError::NoPosition)?;
        self.lock(LockName { space: cursor.set().0, name }, mode, Wait::No)
    }

    /// Says what the caller's own locks cover in a set whose locking is the store's, to the end of
    /// the unit of work: the store need not lock the keys there one by one. It may ignore that. A
    /// set is changed either by those who say so or by others, never by both at once.
    ///
    /// # Errors
    /// As [`get`](Unit::get).
    fn cover(&mut self, set: SetId, cover: Cover) -> Result<()> {
        let _ = (set, cover);
        Ok(())
    }

    /// Whether no other unit of work has anything of a set locked or changed now, so that this one
    /// would wait for nobody there. The store may lock the set as a whole for it then. Where units
    /// of work do not wait for each other the answer is always `true`.
    ///
    /// # Errors
    /// As [`get`](Unit::get).
    fn uses_alone(&mut self, set: SetId) -> Result<bool> {
        let _ = set;
        Ok(true)
    }

    /// Gives a name back before the end of the unit of work; `false` if it was not held. What was
    /// read under it may change from now on, and what was written under it can be read by others
    /// before it is committed: the caller knows what it does.
    ///
    /// # Errors
    /// What dooms the unit of work.
    fn unlock(&mut self, name: LockName<'_>) -> Result<bool>;

    /// The mode in which this unit of work holds a name.
    fn held(&self, name: LockName<'_>) -> Option<LockMode>;

    /// Marks the point reached. Savepoints nest; each stays valid until the unit of work ends or
    /// is rolled back past it.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] past the limit; what dooms the unit of work.
    fn savepoint(&mut self) -> Result<Savepoint>;

    /// Undoes every change made since the savepoint, which stays valid; later ones do not. Locks
    /// stay, and so do the places of cursors.
    ///
    /// # Errors
    /// [`StoreError::NoSuchSavepoint`]; what dooms the unit of work.
    fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()>;

    /// The error that dooms this unit of work, if one does.
    fn failure(&self) -> Option<&StoreError>;

    /// Commits and returns when that is durable: for programs that wait for the answer anyway.
    ///
    /// # Errors
    /// The unit of work is backed out, except after [`StoreError::CommitUnknown`] (ask
    /// [`Store::resolve`]) and [`StoreError::Stopped`] (restart tells).
    fn commit(self) -> Result<Committed>;

    /// Commits and returns at once, with every lock given back; `sink` is told with `token` when
    /// it is durable. Others can see the changes before that, but their own commits are not
    /// acknowledged earlier (K2).
    ///
    /// # Errors
    /// The unit of work is backed out and `sink` is not told. Once this answers `Ok`, it is.
    fn commit_queued(self, sink: &Arc<dyn CommitSink>, token: u64) -> Result<()>;

    /// Says that the unit of work goes on, while its owner waits for another and changes
    /// nothing: called now and then, so that no owner keeps the log from being used again
    /// unnoticed. It needs no room in the log, and waits for none.
    ///
    /// # Errors
    /// It spans too much log, or keeps one full that others want: it has to be backed out.
    fn keep_open(&mut self) -> Result<()> {
        Ok(())
    }

    /// Undoes every change and gives back the locks.
    ///
    /// # Errors
    /// If the store has stopped or is cut off; then the changes are undone at restart.
    fn backout(self) -> Result<()>;
}
