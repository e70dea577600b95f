//! The kernel's log records.

use base::{CiNumber, DataSetId, Lsn, UowId};
use recovery::SetHistory;
use uow::record::{
    CatalogRecord, Change, KernelRecord, List, Part, Recovered, SettledEntry, Undone, WriteRecord,
    Written, WrittenEntry, name_of,
};
use wal::Record;

use crate::input::Input;

/// What decodes encodes to the same bytes, but for flags that nobody reads and definitions of older
/// releases, and those come back as they were.
pub fn fuzz(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (kind, flags, body) = (input.byte(), input.byte(), input.rest());
    assert!(!name_of(kind).is_empty());
    see(kind, flags, body);
    let Some(record) = KernelRecord::decode(kind, flags, body) else { return };
    assert_eq!(record.kind(), kind);
    assert_ne!(name_of(kind), "unknown");
    let encoded = record.encode().concat();
    let again = KernelRecord::decode(kind, record.flags(), &encoded);
    assert_eq!(again.as_ref(), Some(&record));
    let has_definition = matches!(
        record,
        KernelRecord::Catalog(
            CatalogRecord::Made { .. } | CatalogRecord::Building { .. } | CatalogRecord::Changed(_)
        )
    );
    assert!(has_definition || encoded == body);
}

/// What looks at the past of a lost system takes the record, or refuses it.
fn see(kind: u8, flags: u8, body: &[u8]) {
    let (lsn, end, uow, previous) = (Lsn(640), Lsn(900), UowId(5), Lsn::NONE);
    let record = Record { lsn, end, kind, flags, uow, previous, body };
    for from in [Lsn::FIRST, lsn] {
        let mut past = SetHistory::from(from);
        let _ = past.see(&record);
        assert_eq!(past.end, end);
        assert!(past.catalog().is_some() || from != Lsn::FIRST);
    }
}

/// One record of each shape.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let (set, ci, page_lsn) = (DataSetId(7), CiNumber(9), Lsn(640));
    let entry = WrittenEntry { ci, page_lsn, new: 3, old: 2 };
    let settled = SettledEntry { set, ci, page_lsn, prefix: 3 };
    let change = Change { kind: 32, set, undo_next: None, undoable: true, body: &[7; 40] };
    let recovered = Recovered { to: Lsn(320), sets: vec![(set, DataSetId(8))] };
    let records = [
        KernelRecord::Commit { utc_us: 5 },
        KernelRecord::FreesAtCommit(List::of(&[(set, ci)])),
        KernelRecord::UndoEnd(Undone { set, undo_next: Lsn(320) }),
        KernelRecord::Checkpoint(Part { number: 0, count: 2, bytes: &[2, 0] }),
        KernelRecord::Catalog(CatalogRecord::Gone(set)),
        KernelRecord::Catalog(CatalogRecord::Recovered(recovered)),
        KernelRecord::TakenBack((set, ci)),
        KernelRecord::Write(WriteRecord::Written(Written {
            batch: 1,
            set,
            entries: List::of(&[entry; 2]),
        })),
        KernelRecord::Write(WriteRecord::BatchBegins { batch: 1, intervals: 2 }),
        KernelRecord::Write(WriteRecord::BatchSettled { batch: 1, entries: List::of(&[settled]) }),
        KernelRecord::Change(change),
        KernelRecord::Change(Change { undo_next: Some(Lsn(320)), ..change }),
    ];
    let bytes = |record: &KernelRecord<'_>| {
        [&[record.kind(), record.flags()], &record.encode().concat()[..]].concat()
    };
    records.iter().map(bytes).collect()
}
