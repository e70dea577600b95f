//! How a cursor walks from record to record: how far to read, whether to take names ahead.

use crate::pages::Pages;
use crate::read_set::successor;

/// How many names are taken at once: each stands in the engine's table of locks for a moment.
pub(crate) const NAMES_MAX: usize = 128;
const ROWS_FIRST: usize = 32;
const ROWS_MAX: usize = 1_000;
const PAGE_BYTES: usize = 256 << 10;

/// How a cursor walks from name to name.
#[derive(Default)]
pub(crate) struct Walk {
    last: Vec<u8>,
    rows: usize,
}

impl Walk {
    /// How many entries to read from this key on, and whether the walk goes on with it.
    pub(crate) fn rows_at(&self, pages: &Pages, key: &[u8]) -> (usize, bool) {
        let goes_on = self.rows > 0
            && self.last.len() == key.len()
            && self.last[..] < *key
            && self.is_next(pages, key);
        if goes_on { (self.rows, true) } else { (ROWS_FIRST, false) }
    }

    /// Whether no key of that length is known to stand between the last one and this one.
    fn is_next(&self, pages: &Pages, key: &[u8]) -> bool {
        let after = successor(&self.last);
        let Some(page) = pages.at(&self.last, false) else { return true };
        page.between(&after, key).all(|row| row.key.len() != key.len())
    }

    /// So many entries of so many bytes came from this key on. Where no more names were to be had
    /// at once, those reach to the entry before `full`.
    pub(crate) fn note(
        &mut self,
        key: &[u8],
        asked: usize,
        came: (usize, usize),
        full: Option<usize>,
    ) {
        let (rows, bytes) = came;
        let fit = PAGE_BYTES.checked_div(bytes / rows.max(1)).unwrap_or(ROWS_MAX).max(ROWS_FIRST);
        let more = match full {
            // The next root should be seen with this page, too.
            Some(used) => used + used / 8 + 1,
            None => asked * 4,
        };
        self.rows = more.min(ROWS_MAX).min(fit);
        self.go_on(key);
    }

    /// The walk has come to this key.
    pub(crate) fn go_on(&mut self, key: &[u8]) {
        self.last.clear();
        self.last.extend_from_slice(key);
    }
}
