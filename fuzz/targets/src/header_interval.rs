//! The header interval of a data set, and the maps beside it.

use base::{CiNumber, SystemId};
use space::header::{read_header_interval, write_header_interval};
use space::{Header, MapLayout, map};

use crate::definition;

/// Any bytes as a header interval and as a map.
pub fn fuzz(bytes: &[u8]) {
    if let Ok((system, definition)) = read_header_interval(bytes) {
        let mut page = vec![0; 32 << 10];
        if definition.encode().len() + 44 <= page.len() {
            write_header_interval(&mut page, system, &definition);
            assert_eq!(read_header_interval(&page).ok(), Some((system, definition)));
        }
    }
    let mut page = bytes.to_vec();
    page.resize(4048, 0);
    let layout = MapLayout::new(page.len());
    let header = Header::read(&page);
    let last = layout.per_map() - 1;
    let _ =
        (layout.guardian(header.ci), layout.map_level(header.ci), layout.is_reserved(header.ci));
    for index in [0, 1, last / 2, last] {
        let _ = (map::tag_prefix(&page, index), map::is_used(&page, layout, index));
        if let Some(free) = map::first_free(&page, layout, index) {
            assert!((index..=last).contains(&free) && !map::is_used(&page, layout, free));
        }
    }
}

/// A header interval and a map with an entry.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut header = vec![0; 512];
    write_header_interval(&mut header, SystemId([3; 16]), &definition::sample("A", 2));
    let mut page = vec![0; 4048];
    map::format(&mut page, CiNumber(1), 1);
    map::set_tag_prefix(&mut page, 3, 99);
    map::set_used(&mut page, MapLayout::new(4048), 3, true);
    vec![header, page]
}
