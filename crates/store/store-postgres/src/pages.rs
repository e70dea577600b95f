//! Pages: stretches of a set as they were read from the engine, kept by the unit of work that
//! read them.
//!
//! Invariants:
//! 1. A page holds every committed entry from `from` up to but without `to`, as of one moment.
//! 2. Pages of the snapshot come from the unit of work's present snapshot; the others are as fresh
//!    as its last lock on a name. All are forgotten when it takes one.

use std::collections::VecDeque;
use std::sync::Arc;

/// So many pages are kept: as many cursors can take turns without reading anything twice.
const KEPT: usize = 16;

/// An entry as it is stored.
pub(crate) struct Row {
    pub(crate) key: Vec<u8>,
    pub(crate) value: Vec<u8>,
    pub(crate) stamp: i64,
}

/// A stretch that was read.
pub(crate) struct Page {
    pub(crate) from: Vec<u8>,
    pub(crate) to: Vec<u8>,
    pub(crate) rows: Vec<Row>,
    /// Whether it was read in the snapshot.
    pub(crate) firm: bool,
}

impl Page {
    /// The rows from `from` up to but without `to`.
    pub(crate) fn range(&self, from: &[u8], to: &[u8]) -> &[Row] {
        let first = self.rows.partition_point(|row| row.key[..] < *from);
        let last = self.rows.partition_point(|row| row.key[..] < *to).max(first);
        &self.rows[first..last]
    }

    /// How many bytes its entries have.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.iter().map(|row| row.key.len() + row.value.len()).sum()
    }
}

/// The pages of a unit of work, the newest last.
#[derive(Default)]
pub(crate) struct Pages {
    kept: VecDeque<Arc<Page>>,
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
