//! Pages: stretches of a set as they were read from the engine, kept by the unit of work that
//! read them.
//!
//! Invariants:
//! 1. A page holds every committed entry from `from` up to but without `to`, as of one moment.
//! 2. Pages of the snapshot come from the unit of work's present snapshot; the others are as fresh
//!    as its last lock on a name. All are forgotten when it takes one.
//! 3. The entries of a page stand in one buffer: reading one allocates nothing.
//! 4. An [`Epoch`] is that of one unit of work, between two moments at which it forgets its pages.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use store::Result;

use crate::error::strange;

/// So many pages are kept: as many cursors can take turns without reading anything twice.
const KEPT: usize = 16;

/// An entry as it is stored.
#[derive(Clone, Copy)]
pub(crate) struct Row<'p> {
    pub(crate) key: &'p [u8],
    pub(crate) value: &'p [u8],
    pub(crate) stamp: i64,
}

/// A row of `entries`, as the statements that read it answer.
pub(crate) fn row_of(row: &tokio_postgres::Row) -> Result<Row<'_>> {
    let read = || {
        Ok::<_, tokio_postgres::Error>(Row {
            key: row.try_get(0)?,
            value: row.try_get(1)?,
            stamp: row.try_get(2)?,
        })
    };
    read().map_err(strange)
}

/// Where an entry stands in the buffer.
struct Place {
    key: usize,
    value: usize,
    end: usize,
    stamp: i64,
}

/// Entries in the order of their keys.
#[derive(Default)]
pub(crate) struct Rows {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

impl Rows {
    /// What a statement has answered; the other way round if it read backward.
    pub(crate) fn read(answer: &[tokio_postgres::Row], backward: bool) -> Result<Rows> {
        let mut rows = Rows::default();
        rows.places.reserve_exact(answer.len());
        rows.bytes.reserve_exact(answer.iter().map(tokio_postgres::Row::raw_size_bytes).sum());
        for row in answer {
            let Row { key, value, stamp } = row_of(row)?;
            let start = rows.bytes.len();
            rows.bytes.extend_from_slice(key);
            let middle = rows.bytes.len();
            rows.bytes.extend_from_slice(value);
            let end = rows.bytes.len();
            rows.places.push(Place { key: start, value: middle, end, stamp });
        }
        if backward {
            rows.places.reverse();
        }
        Ok(rows)
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<Row<'_>> {
        self.places.get(at).map(|place| self.row(place))
    }

    fn row(&self, place: &Place) -> Row<'_> {
        Row {
            key: &self.bytes[place.key..place.value],
            value: &self.bytes[place.value..place.end],
            stamp: place.stamp,
        }
    }

    /// How many come before the first whose key is not below this one.
    pub(crate) fn below(&self, key: &[u8]) -> usize {
        self.places.partition_point(|place| self.bytes[place.key..place.value] < *key)
    }

    /// How many bytes they have.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

/// A stretch that was read.
pub(crate) struct Page {
    pub(crate) from: Vec<u8>,
    pub(crate) to: Vec<u8>,
    pub(crate) rows: Rows,
    /// Whether it was read in the snapshot.
    pub(crate) firm: bool,
}

impl Page {
    /// Which rows stand from `from` up to but without `to`.
    pub(crate) fn range(&self, from: &[u8], to: &[u8]) -> std::ops::Range<usize> {
        let first = self.rows.below(from);
        first..self.rows.below(to).max(first)
    }

    /// The rows from `from` up to but without `to`.
    pub(crate) fn between(
        &self,
        from: &[u8],
        to: &[u8],
    ) -> impl ExactSizeIterator<Item = Row<'_>> + DoubleEndedIterator {
        self.rows.places[self.range(from, to)].iter().map(|place| self.rows.row(place))
    }
}

/// Tells pages that are kept from those that were forgotten.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Epoch(u64);

impl Epoch {
    fn next() -> Epoch {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Epoch(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

/// The pages of a unit of work, the newest last.
pub(crate) struct Pages {
    kept: VecDeque<Arc<Page>>,
    epoch: Epoch,
}

impl Default for Pages {
    fn default() -> Pages {
        Pages { kept: VecDeque::new(), epoch: Epoch::next() }
    }
}

impl Pages {
    pub(crate) fn keep(&mut self, page: Page) -> Arc<Page> {
        if self.kept.len() >= KEPT {
            self.kept.pop_front();
        }
        let page = Arc::new(page);
        self.kept.push_back(Arc::clone(&page));
        page
    }

    pub(crate) fn clear(&mut self) {
        self.kept.clear();
        self.epoch = Epoch::next();
    }

    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// A page that holds what stands at `key` and just behind it.
    pub(crate) fn at(&self, key: &[u8], firm: bool) -> Option<Arc<Page>> {
        let holds =
            |page: &&Arc<Page>| (page.firm || !firm) && page.from[..] <= *key && *key < page.to[..];
        self.kept.iter().rev().find(holds).map(Arc::clone)
    }

    /// A page that holds what stands just in front of `key`.
    pub(crate) fn before(&self, key: &[u8], firm: bool) -> Option<Arc<Page>> {
        let holds =
            |page: &&Arc<Page>| (page.firm || !firm) && page.from[..] < *key && *key <= page.to[..];
        self.kept.iter().rev().find(holds).map(Arc::clone)
    }
}
