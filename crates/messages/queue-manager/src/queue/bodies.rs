//! Messages in the store.
//!
//! | set | key | value |
//! |---|---|---|
//! | `HOLDFAST.MQ.MESSAGES` | queue's number (4), place (8) | the record, see `message` |
//! | the same | queue's number (4), place (8), `B` | how often it was backed out (4) |
//! | `HOLDFAST.MQ.DATA` | arrival (8), chunk (4) | up to 32 KiB of the data of a large message |
//! | `HOLDFAST.MQ.PSnn.MESSAGES`, `.DATA` | | the same, of page set nn; the two above are page set 00 |
//!
//! Numbers of keys have their most significant byte first.
//!
//! 1. Only the holder of a message in the index removes it, so no unit of work waits for a lock.
//! 2. A message's arrival number is never given twice.
//! 3. All messages of a queue are in one page set.
//! 4. A large message is written and deleted whole or not at all; what cannot be undone is told.

use seam::sync::Mutex;
use store::{
    Locking, Outcome, Read, Result, SetAttributes, SetId, Store, StoreError, Unit, UnitOptions,
};

use super::index::{Entry, Place};
use crate::message::{Head, Message};

const MESSAGES: &str = "HOLDFAST.MQ.MESSAGES";
const DATA: &str = "HOLDFAST.MQ.DATA";
/// Bytes of a chunk.
pub(crate) const CHUNK_BYTES: usize = 32 << 10;
/// Numbers that are drawn at a time.
const DRAWN: u32 = 4_096;
const BACKOUTS: u8 = b'B';

struct Numbers {
    next: u64,
    end: u64,
}

/// The number of a page set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PageSet(pub(crate) u8);

impl PageSet {
    /// The one that every queue manager has.
    pub(crate) const ZERO: PageSet = PageSet(0);
    /// One more than the highest number.
    const COUNT: usize = 100;

    /// The page set of a name or a number, if there can be one.
    pub(crate) fn of(number: i64) -> Option<PageSet> {
        u8::try_from(number).ok().filter(|number| usize::from(*number) < Self::COUNT).map(PageSet)
    }

    /// The names of its data sets: of messages, and of the data of large ones.
    pub(crate) fn data_sets(self) -> [String; 2] {
        match self {
            PageSet::ZERO => [MESSAGES.to_owned(), DATA.to_owned()],
            PageSet(number) => {
                ["MESSAGES", "DATA"].map(|part| format!("HOLDFAST.MQ.PS{number:02}.{part}"))
            }
        }
    }
}

/// Where the messages of a queue are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) queue: u32,
    pub(crate) page_set: PageSet,
}

/// The data sets of a page set.
#[derive(Clone, Copy)]
struct Sets {
    messages: SetId,
    data: SetId,
}

/// The sets of messages.
pub(crate) struct Bodies<S: Store> {
    store: S,
    messages: SetId,
    /// Those of the page sets, by their numbers.
    sets: Mutex<[Option<Sets>; PageSet::COUNT]>,
    numbers: Mutex<Numbers>,
}

/// What stands in the store about a queue's messages, one after the other.
pub(crate) enum Stored {
    Message(Head),
    Backouts(u32),
}

/// Why a message was not written or deleted.
pub(crate) struct Broken {
    pub(crate) error: StoreError,
    /// Nothing of it was done; otherwise it may be done in part.
    pub(crate) undone: bool,
}

impl From<StoreError> for Broken {
    fn from(error: StoreError) -> Broken {
        Broken { error, undone: true }
    }
}

/// Makes the changes of one message: all of them or none.
fn whole<U: Unit>(
    unit: &mut U,
    in_parts: bool,
    change: impl FnOnce(&mut U) -> Result<()>,
) -> std::result::Result<(), Broken> {
    // One change is all or nothing by itself; and few stores are out of savepoints.
    let before = if in_parts { unit.savepoint().ok() } else { None };
    change(unit).map_err(|error| {
        let back = before.is_some_and(|before| unit.rollback_to(before).is_ok());
        Broken { error, undone: back || !in_parts }
    })
}

/// The set of a name, made if it is not there.
pub(crate) fn set_of<S: Store>(store: &S, name: &str) -> Result<SetId> {
    set_in(store, name, None)
}

/// The same; made in that pool.
fn set_in<S: Store>(store: &S, name: &str, pool: Option<&str>) -> Result<SetId> {
    match store.set(name)? {
        Some(set) => Ok(set),
        None => {
            let (locking, pool) = (Locking::Caller, pool.map(str::to_owned));
            store.create_set(name, &SetAttributes { locking, pool, ..SetAttributes::default() })
        }
    }
}

fn key(queue: u32, at: Place) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&queue.to_be_bytes());
    key[4..].copy_from_slice(&at.to_be_bytes());
    key
}

fn backouts_key(queue: u32, at: Place) -> [u8; 13] {
    let mut long = [BACKOUTS; 13];
    long[..12].copy_from_slice(&key(queue, at));
    long
}

fn chunk_key(at: Place, chunk: u32) -> [u8; 12] {
    let mut key = [0; 12];
    // The arrival number alone: it is unique.
    key[..8].copy_from_slice(&(at << 8 >> 8).to_be_bytes());
    key[8..].copy_from_slice(&chunk.to_be_bytes());
    key
}

impl<S: Store> Bodies<S> {
    pub(crate) fn open(store: &S) -> Result<Bodies<S>> {
        let messages = set_of(store, MESSAGES)?;
        let data = set_of(store, DATA)?;
        let numbers = Mutex::new(Numbers { next: 0, end: 0 });
        let mut sets = [None; PageSet::COUNT];
        sets[0] = Some(Sets { messages, data });
        Ok(Bodies { store: store.clone(), messages, sets: Mutex::new(sets), numbers })
    }

    /// Opens a page set; its data sets are made, in that pool, if they are not there.
    pub(crate) fn open_page_set(&self, page_set: PageSet, pool: Option<&str>) -> Result<()> {
        let [messages, data] = page_set.data_sets();
        let messages = set_in(&self.store, &messages, pool)?;
        let data = set_in(&self.store, &data, pool)?;
        if let Some(sets) = self.sets.lock().get_mut(usize::from(page_set.0)) {
            *sets = Some(Sets { messages, data });
        }
        Ok(())
    }

    /// Removes the data sets of a page set in which no queue has messages.
    pub(crate) fn drop_page_set(&self, page_set: PageSet) -> Result<()> {
        let slot = usize::from(page_set.0);
        let before = self.sets.lock().get_mut(slot).and_then(Option::take);
        let Some(Sets { messages, data }) = before else { return Ok(()) };
        let dropped = self.store.drop_set(messages).and_then(|()| self.store.drop_set(data));
        if dropped.is_err() {
            // What is left of it is found again, or made anew.
            let _ = self.open_page_set(page_set, None);
        }
        dropped
    }

    /// Whether a page set is open.
    pub(crate) fn has(&self, page_set: PageSet) -> bool {
        self.sets.lock().get(usize::from(page_set.0)).is_some_and(Option::is_some)
    }

    fn sets(&self, page_set: PageSet) -> Result<Sets> {
        let sets = self.sets.lock().get(usize::from(page_set.0)).copied().flatten();
        sets.ok_or_else(|| damaged(0, 0, &format!("page set {:02} is not defined", page_set.0)))
    }

    /// A number that no message and nothing else ever has.
    pub(crate) fn number(&self) -> Result<u64> {
        let mut numbers = self.numbers.lock();
        if numbers.next == numbers.end {
            numbers.next = self.store.draw(self.messages, DRAWN)?;
            numbers.end = numbers.next + u64::from(DRAWN);
        }
        numbers.next += 1;
        Ok(numbers.next - 1)
    }

    /// Everything in the order of page sets, queues and places.
    pub(crate) fn scan(&self, mut each: impl FnMut(Location, Place, Stored)) -> Result<()> {
        let open = *self.sets.lock();
        for (number, sets) in (0..).zip(open) {
            if let Some(sets) = sets {
                self.scan_one(PageSet(number), sets.messages, &mut each)?;
            }
        }
        Ok(())
    }

    fn scan_one(
        &self,
        page_set: PageSet,
        messages: SetId,
        each: &mut impl FnMut(Location, Place, Stored),
    ) -> Result<()> {
        let mut unit = self.store.begin(UnitOptions::READ_ONLY)?;
        let mut cursor = self.store.cursor(messages)?;
        while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
            let (Some(queue), Some(at)) = (entry.key.get(..4), entry.key.get(4..12)) else {
                continue;
            };
            let queue = queue.try_into().map_or(0, u32::from_be_bytes);
            let location = Location { queue, page_set };
            let at = at.try_into().map_or(0, u64::from_be_bytes);
            if entry.key.len() == 13 {
                let count = entry.value.try_into().map_or(0, u32::from_le_bytes);
                each(location, at, Stored::Backouts(count));
            } else if let Some(head) = Head::read(entry.value) {
                each(location, at, Stored::Message(head));
            }
        }
        unit.backout()
    }

    pub(crate) fn write(
        &self,
        unit: &mut S::Unit,
        location: Location,
        at: Place,
        message: &Message,
    ) -> std::result::Result<(), Broken> {
        let sets = self.sets(location.page_set)?;
        let mut record = Vec::new();
        message.write(&mut record);
        whole(unit, message.is_large(), |unit| {
            unit.put(sets.messages, &key(location.queue, at), &record)?;
            if message.is_large() {
                for (chunk, piece) in (0..).zip(message.data.chunks(CHUNK_BYTES)) {
                    unit.put(sets.data, &chunk_key(at, chunk), piece)?;
                }
            }
            Ok(())
        })
    }

    /// Reads a message in a unit of work; `None` if it is not there. Asks a unit of work of its
    /// own where the given one began before the message was committed.
    pub(crate) fn read(
        &self,
        unit: Option<&mut S::Unit>,
        location: Location,
        at: Place,
    ) -> Result<Option<Message>> {
        if let Some(unit) = unit
            && let Some(message) = self.read_in(unit, location, at)?
        {
            return Ok(Some(message));
        }
        let mut fresh = self.store.begin(UnitOptions::READ_ONLY)?;
        let message = self.read_in(&mut fresh, location, at)?;
        // What it read is durable already, so nothing has to be waited for.
        fresh.backout()?;
        Ok(message)
    }

    fn read_in(
        &self,
        unit: &mut S::Unit,
        location: Location,
        at: Place,
    ) -> Result<Option<Message>> {
        let (queue, sets) = (location.queue, self.sets(location.page_set)?);
        let mut record = Vec::new();
        if !unit.get(sets.messages, &key(queue, at), Read::Unlocked, &mut record)? {
            return Ok(None);
        }
        let Some((head, mut message)) = Message::read(&record) else {
            return Err(damaged(queue, at, "its record is wrong"));
        };
        if head.in_chunks {
            let length = head.bytes as usize;
            message.data = Vec::with_capacity(length);
            for chunk in 0.. {
                if message.data.len() >= length {
                    break;
                }
                if !unit.get(sets.data, &chunk_key(at, chunk), Read::Unlocked, &mut record)? {
                    return Err(damaged(queue, at, "a chunk of its data is not there"));
                }
                message.data.extend_from_slice(&record);
            }
            if message.data.len() != length {
                return Err(damaged(queue, at, "its data is too long"));
            }
        }
        Ok(Some(message))
    }

    /// Only the descriptors of messages, one unit of work for all: to build an index. Answers which
    /// are damaged.
    pub(crate) fn read_many(
        &self,
        location: Location,
        places: &[Place],
        mut each: impl FnMut(Place, &Message),
    ) -> Result<Vec<Place>> {
        let (queue, sets) = (location.queue, self.sets(location.page_set)?);
        let mut unit = self.store.begin(UnitOptions::READ_ONLY)?;
        let (mut record, mut damaged) = (Vec::new(), Vec::new());
        for at in places {
            match unit.get(sets.messages, &key(queue, *at), Read::Unlocked, &mut record) {
                Ok(true) => match Message::read(&record) {
                    Some((_, message)) => each(*at, &message),
                    None => damaged.push(*at),
                },
                Ok(false) => {}
                Err(StoreError::Damaged(_)) => {
                    damaged.push(*at);
                    // The unit of work may have ended with that.
                    let _ = std::mem::replace(&mut unit, self.store.begin(UnitOptions::READ_ONLY)?)
                        .backout();
                }
                Err(error) => return Err(error),
            }
        }
        unit.backout()?;
        Ok(damaged)
    }

    pub(crate) fn delete(
        &self,
        unit: &mut S::Unit,
        location: Location,
        at: Place,
        entry: &Entry,
        backed_out: bool,
    ) -> std::result::Result<(), Broken> {
        whole(unit, entry.large || backed_out, |unit| {
            self.delete_in(unit, location, at, entry, backed_out)
        })
    }

    fn delete_in(
        &self,
        unit: &mut S::Unit,
        location: Location,
        at: Place,
        entry: &Entry,
        backed_out: bool,
    ) -> Result<()> {
        let (queue, sets) = (location.queue, self.sets(location.page_set)?);
        if unit.delete(sets.messages, &key(queue, at))? != Outcome::Done {
            return Err(damaged(queue, at, "it is not there"));
        }
        if backed_out {
            let _ = unit.delete(sets.messages, &backouts_key(queue, at))?;
        }
        if entry.large {
            for chunk in 0..(entry.bytes as usize).div_ceil(CHUNK_BYTES) as u32 {
                if unit.delete(sets.data, &chunk_key(at, chunk))? != Outcome::Done {
                    return Err(damaged(queue, at, "a chunk of its data is not there"));
                }
            }
        }
        Ok(())
    }

    /// Keeps how often messages were backed out: of queues, by places.
    pub(crate) fn harden(&self, counts: &[(Location, Place, u32)]) -> Result<()> {
        if counts.is_empty() {
            return Ok(());
        }
        let mut unit = self.store.begin(UnitOptions::default())?;
        for (location, at, count) in counts {
            let messages = self.sets(location.page_set)?.messages;
            unit.put(messages, &backouts_key(location.queue, *at), &count.to_le_bytes())?;
        }
        unit.commit().map(drop)
    }
}

fn damaged(queue: u32, at: Place, what: &str) -> StoreError {
    StoreError::Damaged(Box::new(store::Damage {
        object: format!("message {at:#x} of queue number {queue}"),
        detail: what.to_owned(),
        recovery: "Recover the data sets of the queue manager, then start again.".to_owned(),
    }))
}
