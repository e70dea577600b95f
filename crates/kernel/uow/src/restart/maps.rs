//! Bringing the maps up to date with the log, top down (K5).
//!
//! Entries and bits are set, never computed, and the log's last word on each is known; so this
//! needs no history. Top down, because an interval can be written only once its own map is right.

use std::collections::BTreeMap;

use base::{CiNumber, Lsn};
use space::{DataSet, Overlay, map};

use crate::{Kernel, UowError};

/// What one map interval must say.
#[derive(Default)]
struct News {
    prefixes: Vec<(u32, u64)>,
    used: Vec<(u32, bool)>,
}

impl Kernel {
    pub(super) fn bring_maps_up(&self, redo: Lsn) -> Result<(), UowError> {
        for set in self.all_sets() {
            // A crash may have taken the end of a file that nothing was written to yet.
            if let Some(last) = set.with_overlay(Overlay::last_in_use) {
                set.cover(last)?;
            }
            let news = set.with_overlay(|overlay| collect(&set, overlay));
            for level in [3, 2, 1] {
                for (map_ci, news) in &news {
                    if set.layout().map_level(*map_ci) == Some(level) {
                        self.apply_news(&set, *map_ci, news, redo)?;
                    }
                }
            }
            set.load_maps()?;
        }
        Ok(())
    }

    fn apply_news(
        &self,
        set: &DataSet,
        map_ci: CiNumber,
        news: &News,
        redo: Lsn,
    ) -> Result<(), UowError> {
        let mut page = set.exclusive(map_ci)?;
        // The changes were logged at or behind the redo point and may be missing on disk.
        page.begin_change(redo);
        let lsn = page.lsn().max(redo);
        for (index, prefix) in &news.prefixes {
            map::set_tag_prefix(page.bytes_mut(), *index, *prefix);
        }
        for (index, used) in &news.used {
            map::set_used(page.bytes_mut(), set.layout(), *index, *used);
        }
        page.set_lsn(lsn);
        Ok(())
    }
}

fn collect(set: &DataSet, overlay: &Overlay) -> BTreeMap<CiNumber, News> {
    let layout = set.layout();
    let mut all: BTreeMap<CiNumber, News> = BTreeMap::new();
    for (ci, (prefix, _)) in &overlay.written {
        if let Some(guardian) = layout.guardian(CiNumber(*ci)) {
            all.entry(guardian.map).or_default().prefixes.push((guardian.index, *prefix));
        }
    }
    for (ci, used) in &overlay.used {
        let news = all.entry(layout.map1_of(CiNumber(*ci))).or_default();
        news.used.push((ci % layout.per_map(), *used));
    }
    all
}
