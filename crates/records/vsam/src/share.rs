//! Who has which sphere open: a cluster with all that stands over it.
//!
//! 1. Share options hold among all openers of one [`Catalog`](crate::Catalog) handle and its
//!    clones; a process that owns a store has one.
//! 2. Openers that share by record locks count together as one opener.
//! 3. Whoever loads, empties or changes the definition of a sphere has it alone. A copy that is
//!    being made keeps out only those.
//! 4. Within a sphere's life addresses and arrivals are given out from memory, without waiting for
//!    units of work; what a unit of work that is backed out was given is not given again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

use seam::sync::Mutex;
use store::{SetId, Store};

use crate::attributes::Share;
use crate::entry::{ObjectNumber, Statistics};
use crate::name::DataSetName;

/// The open spheres, and those that were.
#[derive(Default)]
pub(crate) struct Registry {
    spheres: Mutex<BTreeMap<ObjectNumber, Arc<Sphere>>>,
    arrivals: Mutex<BTreeMap<ObjectNumber, Arc<Arrivals>>>,
    /// Generations that steps are making.
    deferred: Mutex<BTreeSet<DataSetName>>,
}

impl Registry {
    /// The sphere of a cluster.
    pub(crate) fn sphere(&self, number: ObjectNumber) -> Arc<Sphere> {
        Arc::clone(self.spheres.lock().entry(number).or_default())
    }

    /// The arrivals in an alternate index.
    pub(crate) fn arrivals(&self, number: ObjectNumber) -> Arc<Arrivals> {
        Arc::clone(self.arrivals.lock().entry(number).or_default())
    }

    /// Notes that a step makes a generation; `false` if another one does.
    pub(crate) fn defer(&self, name: &DataSetName) -> bool {
        self.deferred.lock().insert(name.clone())
    }

    /// Nobody makes that generation any more.
    pub(crate) fn settle(&self, name: &DataSetName) {
        self.deferred.lock().remove(name);
    }

    /// Forgets a cluster or index that is deleted.
    pub(crate) fn forget(&self, number: ObjectNumber) {
        self.spheres.lock().remove(&number);
        self.arrivals.lock().remove(&number);
    }
}

/// What all openers of a cluster share.
#[derive(Default)]
pub(crate) struct Sphere {
    openers: Mutex<Openers>,
    /// The address of the next record of an entry-sequenced cluster, and one; 0: not known yet.
    next_address: AtomicU64,
    counters: Counters,
    /// How many note which records are changed.
    noting: AtomicU32,
    notes: Mutex<BTreeMap<u64, BTreeSet<Vec<u8>>>>,
}

#[derive(Default)]
struct Openers {
    readers: u32,
    writers: u32,
    record_level_readers: u32,
    record_level_writers: u32,
    copies: u32,
    alone: bool,
}

/// How somebody has a sphere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
    /// Read and write beside others who lock records.
    ReadRecords,
    WriteRecords,
    Copy,
    Alone,
}

/// What gives a sphere back when it is dropped.
pub(crate) struct Ticket {
    sphere: Arc<Sphere>,
    held: Use,
}

impl Sphere {
    /// Takes the sphere in use, if its share options allow it now.
    pub(crate) fn admit(self: &Arc<Self>, wanted: Use, share: Share) -> Option<Ticket> {
        let mut openers = self.openers.lock();
        if !openers.allow(wanted, share) {
            return None;
        }
        match wanted {
            Use::Alone => openers.alone = true,
            other => *openers.count(other) += 1,
        }
        Some(Ticket { sphere: Arc::clone(self), held: wanted })
    }

    /// Where the next record of an entry-sequenced cluster goes, `bytes` long. `last_end` finds
    /// where the last one ends, when nobody has asked before.
    pub(crate) fn next_address<E>(
        &self,
        bytes: u64,
        last_end: impl FnOnce() -> Result<u64, E>,
    ) -> Result<u64, E> {
        if self.next_address.load(Acquire) == 0 {
            let known = last_end()? + 1;
            // Whoever was first is right: nobody can have added a record before.
            let _ = self.next_address.compare_exchange(0, known, Release, Acquire);
        }
        Ok(self.next_address.fetch_add(bytes, Relaxed) - 1)
    }

    /// The next address is looked for again: somebody else has added records, or all are gone.
    pub(crate) fn forget_address(&self) {
        self.next_address.store(0, Release);
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// A record was changed by a unit of work that has it locked.
    #[inline]
    pub(crate) fn note(&self, key: &[u8]) {
        if self.noting.load(SeqCst) > 0 {
            for keys in self.notes.lock().values_mut() {
                keys.insert(key.to_vec());
            }
        }
    }

    /// Keys of records that are changed are kept from now on.
    pub(crate) fn begin_notes(&self) -> u64 {
        let mut notes = self.notes.lock();
        let number = notes.last_key_value().map_or(0, |(last, _)| last + 1);
        notes.insert(number, BTreeSet::new());
        self.noting.fetch_add(1, SeqCst);
        number
    }

    /// The keys that were kept since this was asked last.
    pub(crate) fn take_notes(&self, number: u64) -> BTreeSet<Vec<u8>> {
        self.notes.lock().get_mut(&number).map(std::mem::take).unwrap_or_default()
    }

    /// No keys are kept any more.
    pub(crate) fn end_notes(&self, number: u64) {
        if self.notes.lock().remove(&number).is_some() {
            self.noting.fetch_sub(1, SeqCst);
        }
    }
}

impl Openers {
    fn count(&mut self, held: Use) -> &mut u32 {
        match held {
            Use::Read => &mut self.readers,
            Use::Write => &mut self.writers,
            Use::ReadRecords => &mut self.record_level_readers,
            Use::WriteRecords => &mut self.record_level_writers,
            Use::Copy | Use::Alone => &mut self.copies,
        }
    }

    fn allow(&self, wanted: Use, share: Share) -> bool {
        let (reading, writing) = match wanted {
            Use::ReadRecords | Use::WriteRecords => (self.readers, self.writers),
            _ => {
                (self.readers + self.record_level_readers, self.writers + self.record_level_writers)
            }
        };
        let writes = matches!(wanted, Use::Write | Use::WriteRecords);
        match wanted {
            _ if self.alone => false,
            Use::Alone => {
                let all = self.record_level_readers + self.record_level_writers + self.copies;
                self.readers + self.writers + all == 0
            }
            Use::Copy => true,
            _ => match share {
                Share::ReadersOrWriter => writing == 0 && (!writes || reading == 0),
                Share::WriterAndReaders => !writes || writing == 0,
                Share::Anybody | Share::AnybodyLocked => true,
            },
        }
    }
}

impl Ticket {
    pub(crate) fn sphere(&self) -> &Arc<Sphere> {
        &self.sphere
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut openers = self.sphere.openers.lock();
        match self.held {
            Use::Alone => openers.alone = false,
            held => {
                let count = openers.count(held);
                *count = count.saturating_sub(1);
            }
        }
    }
}

/// What was done to records and is not in the catalog yet.
#[derive(Default)]
pub(crate) struct Counters {
    inserted: AtomicU64,
    deleted: AtomicU64,
    updated: AtomicU64,
    retrieved: AtomicU64,
}

impl Counters {
    /// Adds what a position has counted.
    pub(crate) fn add(&self, counts: &Counts) {
        let pairs = [
            (&self.inserted, counts.inserted),
            (&self.deleted, counts.deleted),
            (&self.updated, counts.updated),
            (&self.retrieved, counts.retrieved),
        ];
        for (counter, more) in pairs.into_iter().filter(|(_, more)| *more != 0) {
            counter.fetch_add(more, Relaxed);
        }
    }

    /// Takes everything that was counted.
    pub(crate) fn take(&self) -> Counts {
        Counts {
            inserted: self.inserted.swap(0, Relaxed),
            deleted: self.deleted.swap(0, Relaxed),
            updated: self.updated.swap(0, Relaxed),
            retrieved: self.retrieved.swap(0, Relaxed),
        }
    }
}

/// The same, counted by one position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) inserted: u64,
    pub(crate) deleted: u64,
    pub(crate) updated: u64,
    pub(crate) retrieved: u64,
}

impl Counts {
    /// Adds it to an object's statistics.
    pub(crate) fn add_to(&self, statistics: &mut Statistics) {
        statistics.records = (statistics.records + self.inserted).saturating_sub(self.deleted);
        statistics.inserted += self.inserted;
        statistics.deleted += self.deleted;
        statistics.updated += self.updated;
        statistics.retrieved += self.retrieved;
    }
}

/// The order of arrival in an alternate index: numbers of its set's sequence, drawn many at once.
#[derive(Default)]
pub(crate) struct Arrivals(Mutex<(u64, u64)>);

/// So many are drawn at once. What is left of them is lost when the process ends.
const DRAWN_AT_ONCE: u32 = 1 << 16;

impl Arrivals {
    pub(crate) fn next<S: Store>(&self, store: &S, set: SetId) -> Result<u64, store::StoreError> {
        let mut drawn = self.0.lock();
        let (next, end) = *drawn;
        if next < end {
            drawn.0 += 1;
            return Ok(next);
        }
        let first = store.draw(set, DRAWN_AT_ONCE)?;
        *drawn = (first + 1, first + u64::from(DRAWN_AT_ONCE));
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(first: Use, second: Use, share: Share) -> bool {
        let sphere = Arc::new(Sphere::default());
        let Some(_first) = sphere.admit(first, share) else { return false };
        sphere.admit(second, share).is_some()
    }

    #[test]
    fn share_options_say_who_may_be_there_at_once() {
        use Share::{Anybody, ReadersOrWriter, WriterAndReaders};
        use Use::{Read, Write};
        assert!(pair(Read, Read, ReadersOrWriter));
        assert!(!pair(Read, Write, ReadersOrWriter) && !pair(Write, Read, ReadersOrWriter));
        assert!(pair(Read, Write, WriterAndReaders) && pair(Write, Read, WriterAndReaders));
        assert!(!pair(Write, Write, WriterAndReaders) && pair(Write, Write, Anybody));
        assert!(pair(Use::WriteRecords, Use::WriteRecords, ReadersOrWriter));
        assert!(!pair(Use::WriteRecords, Write, WriterAndReaders));
        assert!(!pair(Use::Alone, Read, Anybody) && !pair(Read, Use::Alone, Anybody));
        assert!(pair(Use::Copy, Write, ReadersOrWriter) && !pair(Use::Copy, Use::Alone, Anybody));
    }

    #[test]
    fn what_is_given_back_can_be_had_again() {
        let sphere = Arc::new(Sphere::default());
        drop(sphere.admit(Use::Alone, Share::ReadersOrWriter));
        drop(sphere.admit(Use::Write, Share::ReadersOrWriter));
        assert!(sphere.admit(Use::Write, Share::ReadersOrWriter).is_some());
    }
}
