//! The queues: messages in the store, and their index.
//!
//! Invariants:
//! 1. The index is asked first: a message that is taken is nobody else's.
//! 2. A volatile message is in memory only, in the same order as the others of its queue.
//! 3. A unit of work that is committed although a message could not be put or removed in it has
//!    nothing of that: there is no message in part.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use otma::Name;
use seam::clock::Clock;
use seam::failpoint::{Failpoint, armed};
use seam::sync::Mutex;
use store::{
    Cursor, KeyRange, Locking, Outcome, Position, Read, SetAttributes, SetId, Store, Unit,
    UnitOptions,
};

use crate::error::QueueError;
use crate::index::{Figures, Held, Index, Looked, Pending, Totals, Waiting};
use crate::layout::{
    CHUNK_BYTES, Head, Kind, MESSAGE_BYTES_MAX, QueueName, arrival_of, key, of_key, place,
};

/// The set's name.
pub const SET: &str = "HOLDFAST.MESSAGES";

/// The order of messages that have no other.
const NORMAL: u8 = 128;
/// Numbers that are drawn at a time. Whoever draws waits for the log, and everybody who puts
/// something waits for him: it is to be seldom. A start leaves at most so many out.
const DRAWN: u32 = 1 << 20;
/// Messages that are looked at for somebody's before others get at the queues.
const LOOKED_AT: usize = 4_096;

/// Whose a message is: what its first [`CHUNK_BYTES`] say. A blank name is nobody's.
pub type OwnerOf = fn(&[u8]) -> Name;

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Messages of one queue.
    pub queue_messages_max: u64,
    /// Messages of all.
    pub messages_max: u64,
    /// Bytes of all.
    pub bytes_max: u64,
    /// Percent of a limit at which there is a warning.
    pub warning_percent: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            queue_messages_max: 10_000_000,
            messages_max: 20_000_000,
            bytes_max: 1 << 40,
            warning_percent: 75,
        }
    }
}

#[derive(Debug, Default)]
struct State {
    index: Index,
    volatile: BTreeMap<u64, Arc<[u8]>>,
    warned: BTreeMap<Option<QueueName>, ()>,
    warnings: Vec<String>,
}

/// Numbers that are drawn and not given out.
#[derive(Debug)]
struct Numbers {
    next: u64,
    end: u64,
}

/// The message queues of a system.
pub struct Queues<S: Store> {
    store: S,
    set: SetId,
    clock: Arc<dyn Clock>,
    limits: Limits,
    owner_of: OwnerOf,
    state: Mutex<State>,
    /// Apart from the state: drawing may wait for the log, and who writes the log tells of commits.
    numbers: Mutex<Numbers>,
    /// The first number of this start: what has a lower one is older.
    first: u64,
}

impl<S: Store> Queues<S> {
    /// The queues of a store, with what waits there.
    ///
    /// # Errors
    /// If the store fails, or what is there was not written by this release.
    pub fn open(
        store: &S,
        clock: Arc<dyn Clock>,
        limits: Limits,
        owner_of: OwnerOf,
    ) -> Result<Queues<S>, QueueError> {
        let set = match store.set(SET)? {
            Some(set) => set,
            None => {
                let attributes =
                    SetAttributes { locking: Locking::Caller, ..SetAttributes::default() };
                store.create_set(SET, &attributes)?
            }
        };
        let first = store.draw(set, DRAWN)?;
        let mut state = State::default();
        scan(store, set, owner_of, &mut state.index)?;
        let state = Mutex::new(state);
        let numbers = Mutex::new(Numbers { next: first, end: first + u64::from(DRAWN) });
        Ok(Queues { store: store.clone(), set, clock, limits, owner_of, state, numbers, first })
    }

    /// Forgets everything that waits, for a cold start.
    ///
    /// # Errors
    /// If the store fails, or units of work use the queues.
    pub fn erase(store: &S) -> Result<(), QueueError> {
        store.set(SET)?.map_or(Ok(()), |set| Ok(store.empty_set(set)?))
    }

    fn now_ms(&self) -> u64 {
        self.clock.utc_us() / 1_000
    }

    /// A number that no message and nothing else ever has.
    ///
    /// # Errors
    /// If the store fails.
    pub fn number(&self) -> Result<u64, QueueError> {
        let mut numbers = self.numbers.lock();
        if numbers.next == numbers.end {
            numbers.next = self.store.draw(self.set, DRAWN)?;
            numbers.end = numbers.next + u64::from(DRAWN);
        }
        numbers.next += 1;
        Ok(numbers.next - 1)
    }

    /// Makes room for a message, and gives it its place.
    fn admit(
        &self,
        queue: QueueName,
        message: &[u8],
        lives: Option<Duration>,
    ) -> Result<Pending, QueueError> {
        let bytes = message.len();
        if bytes > MESSAGE_BYTES_MAX {
            return Err(QueueError::TooLong { queue, bytes, most: MESSAGE_BYTES_MAX });
        }
        let arrival = self.number()?;
        let put_at_ms = self.now_ms();
        let expires_s = lives.map_or(0, |lives| {
            let at = put_at_ms.saturating_add(u64::try_from(lives.as_millis()).unwrap_or(u64::MAX));
            u32::try_from(at.div_ceil(1_000)).unwrap_or(0)
        });
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let owner = (self.owner_of)(&message[..message.len().min(CHUNK_BYTES)]);
        let place = place(NORMAL, arrival);
        let waiting = Waiting { place, put_at_ms, expires_s, bytes, owner };
        let mut state = self.state.lock();
        // A dead letter is the last of something: there is always room for it.
        if queue.kind != Kind::DeadLetter {
            self.has_room(&mut state, queue, u64::from(bytes))?;
        }
        state.index.coming(queue, &waiting);
        Ok(Pending { queue, waiting })
    }

    fn has_room(&self, state: &mut State, queue: QueueName, bytes: u64) -> Result<(), QueueError> {
        let limits = self.limits;
        let figures = state.index.figures(queue);
        let depth = figures.waiting + figures.coming + figures.taken;
        let totals = state.index.totals;
        if depth >= limits.queue_messages_max {
            return Err(QueueError::QueueFull { queue, most: limits.queue_messages_max });
        }
        if totals.messages >= limits.messages_max {
            return Err(QueueError::AllFull { what: "messages", most: limits.messages_max });
        }
        if totals.bytes + bytes > limits.bytes_max {
            return Err(QueueError::AllFull { what: "bytes", most: limits.bytes_max });
        }
        let part = |most: u64| most / 100 * limits.warning_percent;
        let all =
            totals.messages >= part(limits.messages_max) || totals.bytes >= part(limits.bytes_max);
        warn(state, Some(queue), depth, part(limits.queue_messages_max), limits.queue_messages_max);
        let level = if all { limits.messages_max } else { 0 };
        warn(state, None, level, limits.messages_max, limits.messages_max);
        Ok(())
    }

    /// Puts a message in a unit of work. It appears after the commit.
    ///
    /// # Errors
    /// If there is no room, or the store fails. The unit of work is to be backed out then; one that
    /// goes on takes [`Queues::put_whole`].
    pub fn put(
        &self,
        unit: &mut S::Unit,
        queue: QueueName,
        lives: Option<Duration>,
        message: &[u8],
    ) -> Result<Pending, QueueError> {
        let pending = self.admit(queue, message, lives)?;
        if armed(Failpoint::MessageUnwritten) {
            self.state.lock().volatile.insert(pending.waiting.place, message.into());
            return Ok(pending);
        }
        let written = self.write(unit, queue, &pending.waiting, message);
        if let Err(error) = written {
            self.forget(pending);
            return Err(error);
        }
        Ok(pending)
    }

    /// Puts a message in a unit of work that may go on without it.
    ///
    /// # Errors
    /// If there is no room, or the store fails. Nothing of it is in the unit of work then, unless
    /// that is doomed.
    pub fn put_whole(
        &self,
        unit: &mut S::Unit,
        queue: QueueName,
        lives: Option<Duration>,
        message: &[u8],
    ) -> Result<Pending, QueueError> {
        whole(unit, message.len(), |unit| self.put(unit, queue, lives, message))
    }

    fn write(
        &self,
        unit: &mut S::Unit,
        queue: QueueName,
        one: &Waiting,
        message: &[u8],
    ) -> Result<(), QueueError> {
        let head = Head { put_at_ms: one.put_at_ms, expires_s: one.expires_s, bytes: one.bytes };
        let (first, rest) = message.split_at(message.len().min(CHUNK_BYTES));
        let mut value = Vec::with_capacity(first.len() + crate::layout::HEAD_BYTES);
        head.write(&mut value);
        value.extend_from_slice(first);
        unit.put(self.set, &key(queue, one.place, 0), &value)?;
        for (chunk, piece) in (1..).zip(rest.chunks(CHUNK_BYTES)) {
            unit.put(self.set, &key(queue, one.place, chunk), piece)?;
        }
        Ok(())
    }

    /// The unit of work in which they were put is committed, durably: they appear.
    pub fn appear(&self, pending: &[Pending]) {
        let mut state = self.state.lock();
        for one in pending {
            state.index.appear(one);
        }
    }

    /// The unit of work in which it was put is backed out.
    pub fn forget(&self, pending: Pending) {
        let mut state = self.state.lock();
        state.volatile.remove(&pending.waiting.place);
        state.index.forget(&pending);
        drop(pending);
    }

    /// Puts a message into memory only, where it is to [appear](Queues::appear); it ends with the
    /// system.
    ///
    /// # Errors
    /// If there is no room.
    pub fn put_volatile(
        &self,
        queue: QueueName,
        lives: Option<Duration>,
        message: &[u8],
    ) -> Result<Pending, QueueError> {
        let pending = self.admit(queue, message, lives)?;
        self.state.lock().volatile.insert(pending.waiting.place, message.into());
        Ok(pending)
    }

    /// Takes the first message of a queue.
    pub fn take(&self, queue: QueueName) -> Option<Held> {
        self.state.lock().index.take(queue)
    }

    /// Takes the message of a queue that has that number, if it waits.
    pub fn take_arrival(&self, queue: QueueName, arrival: u64) -> Option<Held> {
        self.state.lock().index.take_place(queue, place(NORMAL, arrival))
    }

    /// Takes the first message with an owner of whom `is_he` says so, behind those that have been
    /// looked at before.
    pub fn take_owned(
        &self,
        queue: QueueName,
        looked: &mut Looked,
        is_he: impl Fn(Name) -> bool,
    ) -> Option<Held> {
        loop {
            let mut state = self.state.lock();
            if let ControlFlow::Break(found) =
                state.index.take_owned(queue, looked, LOOKED_AT, &is_he)
            {
                return found;
            }
        }
    }

    /// Takes messages that are worth nothing any more, at most `most`.
    pub fn take_expired(&self, most: usize) -> Vec<Held> {
        let now = self.now_ms();
        self.state.lock().index.take_expired(now, most)
    }

    /// Whether a message that was taken is in memory only.
    pub fn is_volatile(&self, held: &Held) -> bool {
        self.state.lock().volatile.contains_key(&held.waiting.place)
    }

    /// Whether a message is older than this start of the system.
    pub fn is_old(&self, held: &Held) -> bool {
        held.arrival() < self.first
    }

    /// Reads a message that was taken.
    ///
    /// # Errors
    /// If the store fails, or the message is damaged.
    pub fn read(&self, held: &Held) -> Result<Vec<u8>, QueueError> {
        if let Some(bytes) = self.state.lock().volatile.get(&held.waiting.place) {
            return Ok(bytes.to_vec());
        }
        self.read_place(held.queue, held.waiting.place)
    }

    /// Shows messages that wait in a queue, at most `most` of them, one after another, without
    /// taking them: their numbers, when they were put, and their bytes.
    ///
    /// # Errors
    /// If the store fails.
    pub fn browse(
        &self,
        queue: QueueName,
        most: usize,
        mut show: impl FnMut(u64, u64, Vec<u8>),
    ) -> Result<(), QueueError> {
        let waiting = self.state.lock().index.peek(queue, most);
        for one in waiting {
            let memory = self.state.lock().volatile.get(&one.place).map(|bytes| bytes.to_vec());
            let bytes = match memory {
                Some(bytes) => bytes,
                None => match self.read_place(queue, one.place) {
                    Ok(bytes) => bytes,
                    // Somebody has taken and removed it meanwhile.
                    Err(QueueError::Damaged { .. }) => continue,
                    Err(error) => return Err(error),
                },
            };
            show(arrival_of(one.place), one.put_at_ms, bytes);
        }
        Ok(())
    }

    fn read_place(&self, queue: QueueName, place: u64) -> Result<Vec<u8>, QueueError> {
        // A unit of work of its own: that of a program may have begun before the message came.
        let mut unit = self.store.begin(UnitOptions::READ_ONLY)?;
        let read = self.read_in(&mut unit, queue, place);
        // It is durable already, so nothing has to be waited for.
        unit.backout()?;
        read
    }

    fn read_in(
        &self,
        unit: &mut S::Unit,
        queue: QueueName,
        place: u64,
    ) -> Result<Vec<u8>, QueueError> {
        let damaged = |what| QueueError::Damaged { queue, arrival: arrival_of(place), what };
        let mut value = Vec::new();
        if !unit.get(self.set, &key(queue, place, 0), Read::Unlocked, &mut value)? {
            return Err(damaged("it is not there"));
        }
        let (head, bytes) = Head::read(&value).ok_or_else(|| damaged("its head is wrong"))?;
        let length = head.bytes as usize;
        if length <= CHUNK_BYTES && bytes.len() == length {
            value.drain(..crate::layout::HEAD_BYTES);
            return Ok(value);
        }
        let mut message = bytes.to_vec();
        let mut chunk = 1;
        while message.len() < length {
            if !unit.get(self.set, &key(queue, place, chunk), Read::Unlocked, &mut value)? {
                return Err(damaged("a piece of it is not there"));
            }
            message.extend_from_slice(&value);
            chunk += 1;
        }
        if message.len() == length { Ok(message) } else { Err(damaged("it is too long")) }
    }

    /// Removes a message that was taken, in a unit of work that may go on without that.
    ///
    /// # Errors
    /// If the store fails. All of it is there still then, unless the unit of work is doomed.
    pub fn remove_whole(&self, unit: &mut S::Unit, held: &Held) -> Result<(), QueueError> {
        whole(unit, held.waiting.bytes as usize, |unit| self.remove(unit, held))
    }

    /// Removes a message that was taken, in a unit of work.
    ///
    /// # Errors
    /// If the store fails. The unit of work is to be backed out then; one that goes on takes
    /// [`Queues::remove_whole`].
    pub fn remove(&self, unit: &mut S::Unit, held: &Held) -> Result<(), QueueError> {
        if self.is_volatile(held) || armed(Failpoint::MessageKept) {
            return Ok(());
        }
        let pieces = (held.waiting.bytes as usize).div_ceil(CHUNK_BYTES).max(1);
        for chunk in 0..u16::try_from(pieces).unwrap_or(u16::MAX) {
            let key = key(held.queue, held.waiting.place, chunk);
            if unit.delete(self.set, &key)? != Outcome::Done {
                return Err(QueueError::Damaged {
                    queue: held.queue,
                    arrival: held.arrival(),
                    what: "it is not there",
                });
            }
        }
        Ok(())
    }

    /// The unit of work in which it was removed is committed.
    pub fn gone(&self, held: Held) {
        let mut state = self.state.lock();
        state.volatile.remove(&held.waiting.place);
        state.index.gone(&held);
        drop(held);
    }

    /// It is not removed after all: it waits again, in its place.
    pub fn put_back(&self, held: Held) {
        self.state.lock().index.put_back(&held);
        drop(held);
    }

    /// What is known of a queue.
    pub fn figures(&self, queue: QueueName) -> Figures {
        self.state.lock().index.figures(queue)
    }

    /// What is known of the queues of a kind that have something.
    pub fn all(&self, kind: Kind) -> Vec<(QueueName, Figures)> {
        self.state.lock().index.all(kind).collect()
    }

    /// What is known of all queues together.
    pub fn totals(&self) -> Totals {
        self.state.lock().index.totals
    }

    /// The limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Warnings that have come up since this was last asked.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().warnings)
    }

    /// Keeps a record of a kind that is no queue, in a unit of work, in place of the one there.
    ///
    /// # Errors
    /// If the store fails.
    pub fn keep(
        &self,
        unit: &mut S::Unit,
        kind: Kind,
        name: Name,
        record: &[u8],
    ) -> Result<(), QueueError> {
        let queue = QueueName { kind, name };
        self.drop_record(unit, kind, name)?;
        let bytes = u32::try_from(record.len()).unwrap_or(u32::MAX);
        let (put_at_ms, owner) = (self.now_ms(), Name::BLANK);
        let one = Waiting { place: 0, put_at_ms, expires_s: 0, bytes, owner };
        self.write(unit, queue, &one, record)
    }

    /// Drops a record, in a unit of work.
    ///
    /// # Errors
    /// If the store fails.
    pub fn drop_record(
        &self,
        unit: &mut S::Unit,
        kind: Kind,
        name: Name,
    ) -> Result<(), QueueError> {
        let queue = QueueName { kind, name };
        let mut chunk = 0;
        while unit.delete(self.set, &key(queue, 0, chunk))? == Outcome::Done {
            chunk += 1;
        }
        Ok(())
    }

    /// Every record of a kind.
    ///
    /// # Errors
    /// If the store fails.
    pub fn records(&self, kind: Kind) -> Result<Vec<(Name, Vec<u8>)>, QueueError> {
        let mut unit = self.store.begin(UnitOptions::READ_ONLY)?;
        let mut cursor = self.store.cursor(self.set)?;
        let (from, to) = ([kind as u8], [kind as u8 + 1]);
        cursor.limit(KeyRange::between(&from, &to));
        cursor.seek(Position::Before(&from));
        let mut names = Vec::new();
        while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
            if let Some((queue, place, 0)) = of_key(entry.key) {
                names.push((queue, place));
            }
        }
        let mut records = Vec::with_capacity(names.len());
        for (queue, place) in names {
            records.push((queue.name, self.read_in(&mut unit, queue, place)?));
        }
        unit.backout()?;
        Ok(records)
    }
}

/// Makes the changes of a message of so many bytes: all of them or none. A store that is out of
/// savepoints does not begin with several.
fn whole<U: Unit, T>(
    unit: &mut U,
    bytes: usize,
    change: impl FnOnce(&mut U) -> Result<T, QueueError>,
) -> Result<T, QueueError> {
    // One change is all or nothing by itself.
    let before = if bytes > CHUNK_BYTES { Some(unit.savepoint()?) } else { None };
    change(unit).map_err(|error| match before.map(|before| unit.rollback_to(before)) {
        // It is doomed by what is told.
        Some(Err(worse)) => worse.into(),
        _ => error,
    })
}

fn warn(state: &mut State, queue: Option<QueueName>, depth: u64, level: u64, most: u64) {
    if depth < level.max(1) {
        state.warned.remove(&queue);
    } else if state.warned.insert(queue, ()).is_none() {
        let text = match queue {
            Some(queue) => format!("queue {queue} has {depth} of {most} messages"),
            None => format!("the message queues are nearly full; they may have {most} messages"),
        };
        state.warnings.push(text);
    }
}

/// Finds what waits. Of each message only its head is looked at.
fn scan<S: Store>(
    store: &S,
    set: SetId,
    owner_of: OwnerOf,
    index: &mut Index,
) -> Result<(), QueueError> {
    let mut unit = store.begin(UnitOptions::READ_ONLY)?;
    let mut cursor = store.cursor(set)?;
    let mut behind = None;
    loop {
        if let Some((queue, place)) = behind.take() {
            cursor.seek(Position::After(&key(queue, place, u16::MAX)));
        }
        let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? else { break };
        let Some((queue, place, _)) = of_key(entry.key) else {
            let queue = QueueName::input(Name::BLANK);
            return Err(QueueError::Damaged { queue, arrival: 0, what: "a key is wrong" });
        };
        if !queue.kind.is_queue() {
            continue;
        }
        let arrival = arrival_of(place);
        let what = "its head is wrong";
        let (head, first) =
            Head::read(entry.value).ok_or(QueueError::Damaged { queue, arrival, what })?;
        let Head { put_at_ms, expires_s, bytes } = head;
        let owner = owner_of(first);
        index.found(queue, Waiting { place, put_at_ms, expires_s, bytes, owner });
        if bytes as usize > CHUNK_BYTES {
            behind = Some((queue, place));
        }
    }
    unit.backout()?;
    Ok(())
}
