//! A map interval: which intervals of its block are in use, and the tag each had when written last.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 16 | common header, kind 2, 3 or 4 by level |
//! | 16 | 4 | intervals in use (level 1) |
//! | 20 | 12 | zero |
//! | 32 | 8 K | first 8 bytes of the tag of each interval or map below; 0: never written |
//! | 32 + 8 K | K / 8 | one bit an interval: in use (level 1) |
//!
//! Each change sets one entry or one bit, so that repeating a change does no harm (restart counts
//! on it).

use base::CiNumber;
use base::bytes::{get_u32, get_u64, put_u32, put_u64};

use crate::header::Header;
use crate::layout::{ENTRIES_AT, MapLayout};

const USED_AT: usize = 16;

/// Formats an empty map of `level` (1 to 3).
pub fn format(page: &mut [u8], ci: CiNumber, level: u8) {
    page.fill(0);
    Header::write(page, crate::kind::HEADER + level, 0, ci);
}

/// The tag prefix at `index`.
#[must_use]
pub fn tag_prefix(page: &[u8], index: u32) -> u64 {
    get_u64(page, ENTRIES_AT + index as usize * 8)
}

/// Sets the tag prefix at `index`.
pub fn set_tag_prefix(page: &mut [u8], index: u32, prefix: u64) {
    put_u64(page, ENTRIES_AT + index as usize * 8, prefix);
}

/// How many intervals of the block are in use.
#[must_use]
pub fn used(page: &[u8]) -> u32 {
    get_u32(page, USED_AT)
}

/// Whether the interval at `index` is in use.
#[must_use]
pub fn is_used(page: &[u8], layout: MapLayout, index: u32) -> bool {
    page[bit_byte(layout, index)] & (1 << (index % 8)) != 0
}

/// Says whether the interval at `index` is in use. Returns whether that is news.
pub fn set_used(page: &mut [u8], layout: MapLayout, index: u32, now: bool) -> bool {
    if is_used(page, layout, index) == now {
        return false;
    }
    page[bit_byte(layout, index)] ^= 1 << (index % 8);
    let count = used(page);
    put_u32(page, USED_AT, if now { count + 1 } else { count - 1 });
    true
}

/// The first interval at or behind `from` that is not in use.
#[must_use]
pub fn first_free(page: &[u8], layout: MapLayout, from: u32) -> Option<u32> {
    (from..layout.per_map()).find(|index| {
        // Whole bytes in use are passed over quickly.
        !is_used(page, layout, *index)
    })
}

fn bit_byte(layout: MapLayout, index: u32) -> usize {
    ENTRIES_AT + layout.per_map() as usize * 8 + index as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_and_entries_do_not_touch_each_other() {
        let layout = MapLayout::new(4048);
        let mut page = vec![0; 4048];
        format(&mut page, CiNumber(1), 1);
        let last = layout.per_map() - 1;
        set_tag_prefix(&mut page, last, u64::MAX);
        assert!((0..layout.per_map()).all(|index| !is_used(&page, layout, index)));
        assert!(set_used(&mut page, layout, 0, true));
        assert!(!set_used(&mut page, layout, 0, true), "once is enough");
        assert!(set_used(&mut page, layout, last, true));
        assert_eq!(used(&page), 2);
        assert_eq!(tag_prefix(&page, last), u64::MAX);
        assert_eq!(first_free(&page, layout, 0), Some(1));
        assert_eq!(first_free(&page, layout, last), None);
        assert!(set_used(&mut page, layout, 0, false));
        assert_eq!((used(&page), first_free(&page, layout, 0)), (1, Some(0)));
    }
}
