//! Fills sets with entries that come in any order.
//!
//! Entries gather in memory; when the room is used up they are sorted and written. The first time
//! a set is written it is loaded in bulk, if it is empty; later its entries are inserted in key
//! order. So one pass over any amount of input ends with everything in place, nothing is ever
//! written outside the store, where it would not be sealed, and a caller that fills the sets must
//! have recorded that they are not whole yet.
//!
//! Invariants:
//! 1. Two entries of one key in one set are a clash, however far apart they came.
//! 2. Among entries of equal keys the one that came later is the one that clashes.

use store::{Entry, LoadSource, Outcome, SetId, Store, StoreError, Unit, UnitOptions};

use crate::error::{HierarchyError, Result};
use crate::record::is_empty_set;

/// Bytes of entries in memory before they are written.
pub(crate) const ROOM: usize = 512 << 20;
/// What one unit of work inserts at most.
const BATCH_BYTES: usize = 1 << 20;
const BATCH_ENTRIES: usize = 8 << 10;

/// An entry in memory.
#[derive(Clone, Copy, Debug)]
struct Item {
    /// The beginning of its key, which decides most comparisons.
    head: u64,
    /// Where its key and, behind it, its value begin.
    at: u64,
    /// The place in the input of what it was made from.
    number: u64,
    value_len: u32,
    key_len: u16,
    slot: u16,
}

/// An entry whose key is taken.
#[derive(Clone, Debug)]
pub(crate) struct Clash {
    /// Which of the sets.
    pub(crate) slot: usize,
    /// The key.
    pub(crate) key: Vec<u8>,
    /// The value that found no place.
    pub(crate) value: Vec<u8>,
    /// Its place in the input.
    pub(crate) number: u64,
}

/// Why filling stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    Clash(Clash),
    Store(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Stop {
        Stop::Store(error)
    }
}

impl Stop {
    /// As an error; `name` says what a clash means.
    pub(crate) fn error(self, name: impl FnOnce(Clash) -> HierarchyError) -> HierarchyError {
        match self {
            Stop::Clash(clash) => name(clash),
            Stop::Store(error) => error.into(),
        }
    }
}

/// Sets that are being filled.
pub(crate) struct Filler<'s, S> {
    store: &'s S,
    slots: Vec<Slot>,
    bytes: Vec<u8>,
    items: Vec<Item>,
    in_order: bool,
    room: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    set: SetId,
    loads: bool,
    written: u64,
}

impl<'s, S: Store> Filler<'s, S> {
    pub(crate) fn new(store: &'s S, room: usize) -> Filler<'s, S> {
        Filler {
            store,
            slots: Vec::new(),
            bytes: Vec::new(),
            items: Vec::new(),
            in_order: true,
            room,
        }
    }

    /// The slot of a set, which is added if it is not there.
    pub(crate) fn slot(&mut self, set: SetId) -> Result<usize> {
        if let Some(at) = self.slots.iter().position(|slot| slot.set == set) {
            return Ok(at);
        }
        let loads = is_empty_set(self.store, set)?;
        self.slots.push(Slot { set, loads, written: 0 });
        Ok(self.slots.len() - 1)
    }

    pub(crate) fn set(&self, slot: usize) -> SetId {
        self.slots[slot].set
    }

    /// Whether a set can still be loaded in bulk.
    pub(crate) fn loads(&self, slot: usize) -> bool {
        self.slots[slot].loads
    }

    /// A caller has loaded so many entries into a set.
    pub(crate) fn loaded(&mut self, slot: usize, count: u64) {
        self.slots[slot].loads = false;
        self.slots[slot].written += count;
    }

    /// How many entries were written into a set.
    pub(crate) fn written(&self, slot: usize) -> u64 {
        self.slots[slot].written
    }

    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() + self.items.len() * size_of::<Item>() >= self.room
    }

    /// Adds an entry; without writing anything, however full it is.
    pub(crate) fn add(&mut self, slot: usize, key: &[u8], value: &[u8], number: u64) {
        let mut head = [0; 8];
        let len = key.len().min(8);
        head[..len].copy_from_slice(&key[..len]);
        // Keys and values are as long as the store allows, which is less; there are few sets.
        let item = Item {
            head: u64::from_be_bytes(head),
            at: self.bytes.len() as u64,
            number,
            value_len: value.len() as u32,
            key_len: key.len() as u16,
            slot: slot as u16,
        };
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        self.in_order = self.in_order
            && self.items.last().is_none_or(|last| compare(&self.bytes, last, &item).is_lt());
        self.items.push(item);
    }

    /// Writes what has gathered.
    pub(crate) fn flush(&mut self) -> std::result::Result<(), Stop> {
        let Filler { bytes, items, .. } = self;
        if !self.in_order {
            items.sort_unstable_by(|one, other| compare(bytes, one, other));
        }
        let taken = |pair: &[Item]| {
            pair[0].slot == pair[1].slot && key(bytes, &pair[0]) == key(bytes, &pair[1])
        };
        if let Some(pair) = items.windows(2).find(|pair| taken(pair)) {
            return Err(clash(bytes, &pair[1]));
        }
        let mut from = 0;
        while let Some(first) = self.items.get(from) {
            let slot = usize::from(first.slot);
            let rest = &self.items[from..];
            let len = rest.partition_point(|item| usize::from(item.slot) == slot);
            self.write(slot, &rest[..len])?;
            self.loaded(slot, len as u64);
            from += len;
        }
        self.items.clear();
        self.bytes.clear();
        self.in_order = true;
        Ok(())
    }

    fn write(&self, slot: usize, items: &[Item]) -> std::result::Result<(), Stop> {
        let Slot { set, loads, .. } = self.slots[slot];
        if loads {
            self.store.load_sorted(set, &mut Sorted { bytes: &self.bytes, items: items.iter() })?;
            return Ok(());
        }
        let mut rest = items;
        while !rest.is_empty() {
            let mut unit = self.store.begin(UnitOptions::default())?;
            let (mut used, mut done) = (0, 0);
            for item in rest.iter().take(BATCH_ENTRIES) {
                let (key, value) = (key(&self.bytes, item), value(&self.bytes, item));
                if unit.insert(set, key, value)? == Outcome::Exists {
                    return Err(clash(&self.bytes, item));
                }
                used += key.len() + value.len();
                done += 1;
                if used >= BATCH_BYTES {
                    break;
                }
            }
            unit.commit()?;
            rest = &rest[done..];
        }
        Ok(())
    }
}

fn key<'b>(bytes: &'b [u8], item: &Item) -> &'b [u8] {
    let at = item.at as usize;
    &bytes[at..at + usize::from(item.key_len)]
}

fn value<'b>(bytes: &'b [u8], item: &Item) -> &'b [u8] {
    let at = item.at as usize + usize::from(item.key_len);
    &bytes[at..at + item.value_len as usize]
}

fn compare(bytes: &[u8], one: &Item, other: &Item) -> std::cmp::Ordering {
    let heads = (one.slot, one.head).cmp(&(other.slot, other.head));
    heads.then_with(|| key(bytes, one).cmp(key(bytes, other))).then_with(|| one.at.cmp(&other.at))
}

fn clash(bytes: &[u8], item: &Item) -> Stop {
    Stop::Clash(Clash {
        slot: usize::from(item.slot),
        key: key(bytes, item).to_vec(),
        value: value(bytes, item).to_vec(),
        number: item.number,
    })
}

/// Sorted items as a bulk load reads them.
struct Sorted<'b> {
    bytes: &'b [u8],
    items: std::slice::Iter<'b, Item>,
}

impl LoadSource for Sorted<'_> {
    fn next_entry(&mut self) -> store::Result<Option<Entry<'_>>> {
        Ok(self
            .items
            .next()
            .map(|item| Entry { key: key(self.bytes, item), value: value(self.bytes, item) }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use store::{Read, SetAttributes};
    use store_suite::model::ModelStore;

    use super::*;

    type Entries = Vec<(Vec<u8>, Vec<u8>)>;

    fn entries(store: &ModelStore, set: SetId) -> Entries {
        let mut unit = store.begin(UnitOptions::READ_ONLY).unwrap();
        let (mut cursor, mut all) = (store.cursor(set).unwrap(), Vec::new());
        while let Some(entry) = unit.next(&mut cursor, Read::Unlocked).unwrap() {
            all.push((entry.key.to_vec(), entry.value.to_vec()));
        }
        all
    }

    proptest! {
        #[test]
        fn everything_gets_its_place_whatever_the_room(
            given in prop::collection::btree_map(
                (0_usize..3, prop::collection::vec(any::<u8>(), 0..12)), any::<u8>(), 0..60,
            ).prop_flat_map(|given| Just(given.into_iter().collect::<Vec<_>>()).prop_shuffle()),
            room in 1_usize..2_000,
            twice in any::<Option<prop::sample::Index>>(),
        ) {
            let store = ModelStore::new();
            let names = ["A", "B", "C"];
            let sets =
                names.map(|name| store.create_set(name, &SetAttributes::default()).unwrap());
            let mut filler = Filler::new(&store, room);
            let mut expected: BTreeMap<usize, Entries> = BTreeMap::new();
            for (number, ((at, key), value)) in given.iter().enumerate() {
                let slot = filler.slot(sets[*at]).unwrap();
                filler.add(slot, key, &[*value], number as u64);
                if filler.is_full() {
                    filler.flush().unwrap();
                }
                expected.entry(*at).or_default().push((key.clone(), vec![*value]));
            }
            if let Some(twice) = twice.filter(|_| !given.is_empty()) {
                let ((at, key), _) = &given[twice.index(given.len())];
                let slot = filler.slot(sets[*at]).unwrap();
                filler.add(slot, key, b"again", 99);
                let stop = filler.flush().unwrap_err();
                let Stop::Clash(clash) = stop else { panic!("{stop:?}") };
                prop_assert_eq!((clash.slot, &clash.key, clash.number), (slot, key, 99));
                return Ok(());
            }
            filler.flush().unwrap();
            for (at, set) in sets.iter().enumerate() {
                let mut expected = expected.remove(&at).unwrap_or_default();
                expected.sort();
                prop_assert_eq!(entries(&store, *set), expected);
            }
        }
    }
}
