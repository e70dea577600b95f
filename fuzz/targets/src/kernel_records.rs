//! Bodies of the kernel's own log records.

use base::{CiNumber, DataSetId, Lsn, UowId};
use log::Record;
use recovery::Past;
use uow::record::{
    Change, SettledEntry, Written, WrittenEntry, decode_places, decode_settled, encode_places,
    encode_settled, name_of, set_of,
};

use crate::input::Input;

/// Each decoder on the same body; what decodes encodes to the same bytes.
pub fn fuzz(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (kind, flags, body) = (input.byte(), input.byte(), input.rest());
    assert!(!name_of(kind).is_empty());
    let set = set_of(kind, body);
    see(kind, flags, body);
    if let Some(change) = Change::decode(flags, body) {
        assert!(change.body.len() < body.len());
        assert!(set.is_none_or(|set| kind == 18 || set == change.set));
    }
    if let Some(written) = Written::decode(body) {
        assert_eq!(written.encode(), body);
    }
    if let Some((batch, entries)) = decode_settled(body) {
        assert_eq!(encode_settled(batch, &entries), body);
    }
    if let Some(places) = decode_places(body) {
        assert_eq!(encode_places(&places), body);
    }
}

/// What looks at the past of a lost system takes the record, or refuses it.
fn see(kind: u8, flags: u8, body: &[u8]) {
    let (lsn, end, uow, previous) = (Lsn(640), Lsn(900), UowId(5), Lsn::NONE);
    let record = Record { lsn, end, kind, flags, uow, previous, body };
    for from in [Lsn::FIRST, lsn] {
        let mut past = Past::from(from);
        let _ = past.see(&record);
        assert_eq!(past.end, end);
        assert!(past.sets().is_some() || from != Lsn::FIRST);
    }
}

/// One record of each shape.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let (set, ci, page_lsn) = (DataSetId(7), CiNumber(9), Lsn(640));
    let entry = WrittenEntry { ci, page_lsn, new: 3, old: 2 };
    let settled = SettledEntry { set, ci, page_lsn, prefix: 3 };
    let record = |kind: u8, body: &[u8]| [&[kind, 1], body].concat();
    vec![
        record(1, &5_u64.to_le_bytes()),
        record(3, &encode_places(&[(set, ci)])),
        record(18, &Written { batch: 1, set, entries: vec![entry; 2] }.encode()),
        record(21, &encode_settled(1, &[settled])),
        record(32, &[7; 40]),
    ]
}
