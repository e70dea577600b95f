//! Messages in the store.
//!
//! | set | key | value |
//! |---|---|---|
//! | `HOLDFAST.MQ.MESSAGES` | queue's number (4), place (8) | the record, see `message` |
//! | the same | queue's number (4), place (8), `B` | how often it was backed out (4) |
//! | `HOLDFAST.MQ.DATA` | arrival (8), chunk (4) | up to 32 KiB of the data of a large message |
//!
//! Numbers of keys have their most significant byte first.
//!
//! 1. Nobody but who holds a message in the index removes it, so nobody waits for a lock here.
//! 2. A message's arrival number is never given twice.
//! 3. A large message is written and deleted whole or not at all; what cannot be undone is told.

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

/// The sets of messages.
pub(crate) struct Bodies<S: Store> {
    store: S,
    messages: SetId,
    data: SetId,
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
    match store.set(name)? {
        Some(set) => Ok(set),
        None => {
            let locking = Locking::Caller;
            store.create_set(name, &SetAttributes { locking, ..SetAttributes::default() })
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
        Ok(Bodies { store: store.clone(), messages, data, numbers })
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

    /// Everything in the order of queues and places.
    pub(crate) fn scan(&self, mut each: impl FnMut(u32, Place, Stored)) -> Result<()> {
        let mut unit = self.store.begin(UnitOptions::READ_ONLY)?;
        let mut cursor = self.store.cursor(self.messages)?;
        while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
            let (Some(queue), Some(at)) = (entry.key.get(..4), entry.key.get(4..12)) else {
                continue;
            };
            let queue = queue.try_into().map_or(0, u32::from_be_bytes);
            let at = at.try_into().map_or(0, u64::from_be_bytes);
            if entry.key.len() == 13 {
                let count = entry.value.try_into().map_or(0, u32::from_le_bytes);
                each(queue, at, Stored::Backouts(count));
            } else if let Some(head) = Head::read(entry.value) {
                each(queue, at, Stored::Message(head));
            }
        }
        unit.backout()
    }

    pub(crate) fn write(
        &self,
        unit: &mut S::Unit,
        queue: u32,
        at: Place,
        message: &Message,
    ) -> std::result::Result<(), Broken> {
        let mut record = Vec::new();
        message.write(&mut record);
        whole(unit, message.is_large(), |unit| {
            unit.put(self.messages, &key(queue, at), &record)?;
            if message.is_large() {
                for (chunk, piece) in (0..).zip(message.data.chunks(CHUNK_BYTES)) {
                    unit.put(self.data, &chunk_key(at, chunk), piece)?;
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
        queue: u32,
        at: Place,
    ) -> Result<Option<Message>> {
        if let Some(unit) = unit
            && let Some(message) = self.read_in(unit, queue, at)?
        {
            return Ok(Some(message));
        }
        let mut fresh = self.store.begin(UnitOptions::READ_ONLY)?;
        let message = self.read_in(&mut fresh, queue, at)?;
        // What it read is durable already, so nothing has to be waited for.
        fresh.backout()?;
        Ok(message)
    }

    fn read_in(&self, unit: &mut S::Unit, queue: u32, at: Place) -> Result<Option<Message>> {
        let mut record = Vec::new();
        if !unit.get(self.messages, &key(queue, at), Read::Unlocked, &mut record)? {
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
                if !unit.get(self.data, &chunk_key(at, chunk), Read::Unlocked, &mut record)? {
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

    /// Only the descriptors of messages, one unit of work for all: to build an index.
    pub(crate) fn read_many(
        &self,
        queue: u32,
        places: &[Place],
        mut each: impl FnMut(Place, &Message),
    ) -> Result<()> {
        let mut unit = self.store.begin(UnitOptions::READ_ONLY)?;
        let mut record = Vec::new();
        for at in places {
            if unit.get(self.messages, &key(queue, *at), Read::Unlocked, &mut record)?
                && let Some((_, message)) = Message::read(&record)
            {
                each(*at, &message);
            }
        }
        unit.backout()
    }

    pub(crate) fn delete(
        &self,
        unit: &mut S::Unit,
        queue: u32,
        at: Place,
        entry: &Entry,
        backed_out: bool,
    ) -> std::result::Result<(), Broken> {
        whole(unit, entry.large || backed_out, |unit| {
            self.delete_in(unit, queue, at, entry, backed_out)
        })
    }

    fn delete_in(
        &self,
        unit: &mut S::Unit,
        queue: u32,
        at: Place,
        entry: &Entry,
        backed_out: bool,
    ) -> Result<()> {
        if unit.delete(self.messages, &key(queue, at))? != Outcome::Done {
            return Err(damaged(queue, at, "it is not there"));
        }
        if backed_out {
            let _ = unit.delete(self.messages, &backouts_key(queue, at))?;
        }
        if entry.large {
            for chunk in 0..(entry.bytes as usize).div_ceil(CHUNK_BYTES) as u32 {
                if unit.delete(self.data, &chunk_key(at, chunk))? != Outcome::Done {
                    return Err(damaged(queue, at, "a chunk of its data is not there"));
                }
            }
        }
        Ok(())
    }

    /// Keeps how often messages were backed out: of queues, by places.
    pub(crate) fn harden(&self, counts: &[(u32, Place, u32)]) -> Result<()> {
        if counts.is_empty() {
            return Ok(());
        }
        let mut unit = self.store.begin(UnitOptions::default())?;
        for (queue, at, count) in counts {
            unit.put(self.messages, &backouts_key(*queue, *at), &count.to_le_bytes())?;
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
