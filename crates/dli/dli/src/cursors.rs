//! The cursors of a PCB, and where a walk places them.

use hierarchy::Result;
use store::{Cursor, Position as Place, SetId, Store};

use crate::position::Side;

/// Cursors by set: a PCB keeps one in each set that it walks.
pub(crate) struct Cursors<S: Store> {
    list: Vec<(SetId, S::Cursor)>,
    last: usize,
}

impl<S: Store> Cursors<S> {
    pub(crate) fn new() -> Cursors<S> {
        Cursors { list: Vec::new(), last: 0 }
    }

    /// The cursor of a set.
    pub(crate) fn get(&mut self, store: &S, set: SetId) -> Result<&mut S::Cursor> {
        if self.list.get(self.last).is_none_or(|(of, _)| *of != set) {
            self.last = match self.list.iter().position(|(of, _)| *of == set) {
                Some(at) => at,
                None => {
                    self.list.push((set, store.cursor(set)?));
                    self.list.len() - 1
                }
            };
        }
        Ok(&mut self.list[self.last].1)
    }
}

/// Where a walk along twins begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// At the first.
    First,
    /// At a cut, whose key stands in the PCB's buffer.
    At(Side),
    /// Nowhere: all of them are in front of the point.
    Nowhere,
}

/// Places a cursor at the start of a walk.
pub(crate) fn seek<C: Cursor>(
    cursor: &mut C,
    prefix: &[u8],
    start: Start,
    at: &[u8],
    buffer: &mut Vec<u8>,
) {
    buffer.clear();
    buffer.extend_from_slice(prefix);
    match start {
        Start::At(side) => {
            buffer.extend_from_slice(at);
            match side {
                Side::Before => cursor.seek(Place::Before(buffer)),
                Side::After => {
                    if cursor.key() != Some(buffer.as_slice()) {
                        cursor.seek(Place::After(buffer));
                    }
                }
                Side::Behind => seek_behind(cursor, buffer),
            }
        }
        Start::First | Start::Nowhere => cursor.seek(Place::Before(buffer)),
    }
}

/// Places a cursor behind everything that begins with the first bytes of its key.
pub(crate) fn skip<C: Cursor>(cursor: &mut C, len: usize, buffer: &mut Vec<u8>) {
    buffer.clear();
    let key = cursor.key().unwrap_or(&[]);
    buffer.extend_from_slice(&key[..len.min(key.len())]);
    seek_behind(cursor, buffer);
}

/// Places a cursor behind everything that begins with the buffer's bytes.
pub(crate) fn seek_behind<C: Cursor>(cursor: &mut C, buffer: &mut Vec<u8>) {
    let end = buffer.iter().rposition(|byte| *byte != 0xFF);
    match end {
        Some(end) => {
            buffer.truncate(end + 1);
            buffer[end] += 1;
            cursor.seek(Place::Before(buffer));
        }
        None => cursor.seek(Place::Back),
    }
}
