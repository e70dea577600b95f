//! Rows of a handler that were read ahead by one position.
//!
//! Invariants:
//! 1. Rows count only where they go on from: at the place and in the direction for which they were
//!    read, and while nothing was changed through the file.

use std::collections::VecDeque;

use store::Position as At;

use crate::handler::Row;

/// Rows of the first batch, and by how much each one grows.
const BATCH: u32 = 4;
const BATCH_ROWS_MAX: u32 = 512;

/// A place, kept to be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Place(u8, Vec<u8>);

impl Place {
    fn set(&mut self, at: At<'_>) {
        let (kind, key): (u8, &[u8]) = parts(at);
        self.0 = kind;
        self.1.clear();
        self.1.extend_from_slice(key);
    }

    fn is(&self, at: At<'_>) -> bool {
        let (kind, key) = parts(at);
        self.0 == kind && self.1 == key
    }
}

fn parts(at: At<'_>) -> (u8, &[u8]) {
    match at {
        At::Front => (1, &[]),
        At::Before(key) => (2, key),
        At::On(key) => (3, key),
        At::After(key) => (4, key),
        At::Back => (5, &[]),
    }
}

/// What was read ahead.
#[derive(Default)]
pub(crate) struct Ahead {
    rows: VecDeque<Row>,
    place: Place,
    backward: bool,
    changes: u64,
    most: u32,
}

impl Ahead {
    pub(crate) fn forget(&mut self) {
        self.rows.clear();
        self.most = 0;
    }

    /// The next row from a place in a direction, if it was read ahead.
    pub(crate) fn take(&mut self, at: At<'_>, backward: bool, changes: u64) -> Option<Row> {
        if !(self.place.is(at) && self.backward == backward && self.changes == changes) {
            self.forget();
            return None;
        }
        self.rows.pop_front()
    }

    /// How many rows are read next.
    pub(crate) fn most(&mut self) -> u32 {
        self.most = (self.most * BATCH).clamp(1, BATCH_ROWS_MAX);
        self.most
    }

    /// Keeps what was read behind a place.
    pub(crate) fn keep(&mut self, rows: VecDeque<Row>, backward: bool, changes: u64) {
        (self.rows, self.backward, self.changes) = (rows, backward, changes);
    }

    /// Says where it goes on from.
    pub(crate) fn goes_on(&mut self, at: At<'_>) {
        self.place.set(at);
    }

    /// The row that comes next, put back.
    pub(crate) fn put_back(&mut self, row: Row) {
        self.rows.push_front(row);
    }
}
