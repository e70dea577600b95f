//! Places in a set.

use std::sync::Arc;

use store::{Cursor, Entry, KeyRange, Place, Position, SetId};

use crate::pages::{Epoch, Page};
use crate::read_set::successor;
use crate::sets::{Known, back, front};
use crate::walk::Walk;

/// A place in a set of an [`EngineStore`](crate::EngineStore).
pub struct EngineCursor {
    pub(crate) set: Arc<Known>,
    from: Vec<u8>,
    to: Vec<u8>,
    place: Place,
    key: Vec<u8>,
    pub(crate) value: Vec<u8>,
    pub(crate) ahead: Ahead,
    pub(crate) walk: Walk,
    /// The row that it stands on since the last step, as long as nothing has moved it.
    pub(crate) stand: Option<Stand>,
    /// How many sets were dropped when its own was last known to be there.
    pub(crate) sees: Option<u64>,
}

/// A row of a page that a unit of work keeps.
pub(crate) struct Stand {
    pub(crate) page: Arc<Page>,
    pub(crate) at: usize,
    /// While which the page is kept.
    pub(crate) epoch: Epoch,
}

/// How far the cursor is to read ahead: further when it goes on where it had read to.
#[derive(Default)]
pub(crate) struct Ahead {
    edge: Vec<u8>,
    rows: usize,
}

const ROWS_FIRST: usize = 32;
const ROWS_MAX: usize = 1_000;
const PAGE_BYTES: usize = 256 << 10;

impl Ahead {
    /// How many rows to ask for at this edge.
    pub(crate) fn rows_at(&self, edge: &[u8]) -> usize {
        if self.rows > 0 && self.edge == edge { self.rows } else { ROWS_FIRST }
    }

    /// So many rows of so many bytes came; they reach up to this edge.
    pub(crate) fn note(&mut self, asked: usize, rows: usize, bytes: usize, edge: &[u8]) {
        let fit = PAGE_BYTES.checked_div(bytes / rows.max(1)).unwrap_or(ROWS_MAX);
        self.rows = (asked * 4).min(ROWS_MAX).min(fit.max(1));
        self.edge.clear();
        self.edge.extend_from_slice(edge);
    }
}

impl EngineCursor {
    pub(crate) fn new(set: Arc<Known>) -> EngineCursor {
        let (from, to) = (front(set.info.id), back(set.info.id));
        let (key, value) = (Vec::new(), Vec::new());
        let (ahead, walk) = (Ahead::default(), Walk::default());
        let place = Place::Front;
        EngineCursor { set, from, to, place, key, value, ahead, walk, stand: None, sees: None }
    }

    /// The stored keys that a step forward may return: from the first up to but without the second.
    pub(crate) fn forward(&self) -> (Vec<u8>, Vec<u8>) {
        let key = || [&front(self.set.info.id)[..], &self.key].concat();
        let from = match self.place {
            Place::Front => self.from.clone(),
            Place::Before => key().max(self.from.clone()),
            Place::On | Place::After => successor(&key()).max(self.from.clone()),
            Place::Back => self.to.clone(),
        };
        (from, self.to.clone())
    }

    /// The stored keys that a step backward may return.
    pub(crate) fn backward(&self) -> (Vec<u8>, Vec<u8>) {
        let key = || [&front(self.set.info.id)[..], &self.key].concat();
        let to = match self.place {
            Place::Front => self.from.clone(),
            Place::Before | Place::On => key().min(self.to.clone()),
            Place::After => successor(&key()).min(self.to.clone()),
            Place::Back => self.to.clone(),
        };
        (self.from.clone(), to)
    }

    /// Stands on a stored key, whose value is in place.
    pub(crate) fn land(&mut self, stored: &[u8]) {
        self.key.clear();
        self.key.extend_from_slice(Known::within(stored));
        self.place = Place::On;
        self.stand = None;
    }

    /// Below which stored key every step stays.
    pub(crate) fn upper(&self) -> &[u8] {
        &self.to
    }

    pub(crate) fn entry(&self) -> Entry<'_> {
        Entry { key: &self.key, value: &self.value }
    }
}

impl Cursor for EngineCursor {
    fn set(&self) -> SetId {
        self.set.info.id
    }

    fn limit(&mut self, range: KeyRange<'_>) {
        self.stand = None;
        let front = front(self.set.info.id);
        self.from = [&front[..], range.from].concat();
        self.to = range.to.map_or_else(|| back(self.set.info.id), |to| [&front[..], to].concat());
    }

    fn seek(&mut self, to: Position<'_>) {
        let (place, key) = to.parts();
        self.place = place;
        self.stand = None;
        self.key.clear();
        self.key.extend_from_slice(key);
    }

    fn position(&self) -> Position<'_> {
        self.place.at(&self.key)
    }
}
