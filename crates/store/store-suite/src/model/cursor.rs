//! The model's cursor: a place and limits, and buffers for the entry it lends.

use super::cut::{Cut, Stretch};
use store::SetId;
use store::traits::Cursor;
use store::{Entry, KeyRange, Place, Position};

/// A place in a set of the model.
#[derive(Clone, Debug)]
pub struct ModelCursor {
    set: SetId,
    place: Place,
    key: Vec<u8>,
    value: Vec<u8>,
    from: Vec<u8>,
    to: Option<Vec<u8>>,
}

impl Cursor for ModelCursor {
    fn set(&self) -> SetId {
        self.set
    }

    fn limit(&mut self, range: KeyRange<'_>) {
        self.from = range.from.to_vec();
        self.to = range.to.map(<[u8]>::to_vec);
    }

    fn seek(&mut self, to: Position<'_>) {
        let (place, key) = to.parts();
        self.place = place;
        self.key = key.to_vec();
    }

    fn position(&self) -> Position<'_> {
        self.place.at(&self.key)
    }
}

impl ModelCursor {
    pub(super) fn new(set: SetId) -> ModelCursor {
        let (key, value, from) = (Vec::new(), Vec::new(), Vec::new());
        ModelCursor { set, place: Place::Front, key, value, from, to: None }
    }

    /// What lies ahead of the place, within the limits; empty if nothing can.
    pub(super) fn ahead(&self) -> Stretch {
        let place = match self.place {
            Place::Front => Cut::FRONT,
            Place::Before => Cut::before(&self.key),
            Place::On | Place::After => Cut::after(&self.key),
            Place::Back => Cut::END,
        };
        Stretch { from: place.max(Cut::before(&self.from)), to: self.upper_limit() }
    }

    /// What lies behind the place, within the limits; empty if nothing can.
    pub(super) fn behind(&self) -> Stretch {
        let place = match self.place {
            Place::Front => Cut::FRONT,
            Place::Before | Place::On => Cut::before(&self.key),
            Place::After => Cut::after(&self.key),
            Place::Back => Cut::END,
        };
        Stretch { from: Cut::before(&self.from), to: place.min(self.upper_limit()) }
    }

    fn upper_limit(&self) -> Cut {
        self.to.as_ref().map_or(Cut::END, |to| Cut::before(to))
    }

    /// Moves onto an entry and lends it.
    pub(super) fn land_on(&mut self, key: Vec<u8>, value: Vec<u8>) -> Entry<'_> {
        (self.place, self.key, self.value) = (Place::On, key, value);
        Entry { key: &self.key, value: &self.value }
    }
}
