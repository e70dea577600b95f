//! Records come back as they were, and what is cut is refused.

use seal::Format;

use super::*;

fn definition() -> Box<Definition> {
    Box::new(Definition {
        id: DataSetId(7),
        name: "ACCOUNTS".into(),
        ci_bytes: 8192,
        format: Format::Sealed,
        label: "data".into(),
        generation: base::KeyGeneration(2),
        pool: "default".into(),
        file_intervals: 0,
        folders: vec!["data".into()],
        attributes: vec![1, 2, 3],
        conversion: None,
        permit: None,
    })
}

/// One of each.
fn all() -> Vec<KernelRecord<'static>> {
    let (set, ci, page_lsn) = (DataSetId(4), CiNumber(9), Lsn(640));
    let undone = Undone { set, undo_next: Lsn(320) };
    let written = WrittenEntry { ci, page_lsn, new: 3, old: 2 };
    let settled = SettledEntry { set, ci, page_lsn, prefix: 3 };
    let change = Change { kind: 32, set, undo_next: None, undoable: true, body: b"body" };
    let recovered = Recovered { to: Lsn(99), sets: vec![(set, DataSetId(5)), (set, set)] };
    let catalog = [
        CatalogRecord::Made { top: 11, definition: definition() },
        CatalogRecord::Gone(set),
        CatalogRecord::Changed(definition()),
        CatalogRecord::Building { top: 0, definition: definition() },
        CatalogRecord::Recovered(recovered),
        CatalogRecord::Offline(set),
        CatalogRecord::Protected { edition: 3 },
    ];
    let writes = [
        WriteRecord::Written(Written { batch: 5, set, entries: List::of(&[written; 3]) }),
        WriteRecord::BatchBegins { batch: 5, intervals: 3 },
        WriteRecord::BatchDone { batch: 5 },
        WriteRecord::BatchSettled { batch: 5, entries: List::of(&[settled; 2]) },
    ];
    let others = [
        KernelRecord::Commit { utc_us: 1 },
        KernelRecord::BackedOut { utc_us: 2 },
        KernelRecord::FreesAtCommit(List::of(&[(set, ci), (set, CiNumber(10))])),
        KernelRecord::UndoEnd(undone),
        KernelRecord::UndoSkipped(undone),
        KernelRecord::Checkpoint(Part { number: 1, count: 2, bytes: b"part" }),
        KernelRecord::GivenOut((set, ci)),
        KernelRecord::TakenBack((set, ci)),
        KernelRecord::Change(change),
        KernelRecord::Change(Change { kind: 127, body: &[], ..change }),
        KernelRecord::Change(Change { undo_next: Some(Lsn(8)), undoable: false, ..change }),
    ];
    let catalog = catalog.into_iter().map(KernelRecord::Catalog);
    catalog.chain(writes.map(KernelRecord::Write)).chain(others).collect()
}

#[test]
fn every_record_comes_back() {
    for record in all() {
        let (kind, flags, body) = (record.kind(), record.flags(), record.encode().concat());
        assert_eq!(KernelRecord::decode(kind, flags, &body), Some(record), "kind {kind}");
    }
}

#[test]
fn each_kind_with_a_name_is_a_record() {
    let named = (0..=u8::MAX).filter(|kind| name_of(*kind) != "unknown");
    let own: Vec<u8> = named.filter(|kind| !RESOURCE_KINDS.contains(kind)).collect();
    let mut known: Vec<u8> = all().iter().map(KernelRecord::kind).collect();
    known.retain(|kind| !RESOURCE_KINDS.contains(kind));
    known.sort_unstable();
    assert_eq!(own, known);
    for kind in (0..=u8::MAX).filter(|kind| name_of(*kind) == "unknown") {
        assert_eq!(KernelRecord::decode(kind, 0, &[0; 64]), None, "kind {kind}");
    }
}

#[test]
fn what_is_cut_or_too_long_is_none_or_another_record() {
    for record in all() {
        let (kind, flags, body) = (record.kind(), record.flags(), record.encode().concat());
        for len in 0..body.len() {
            let cut = KernelRecord::decode(kind, flags, &body[..len]);
            assert_ne!(cut, Some(record.clone()), "kind {kind}, {len} bytes");
            // Lists may end earlier, and other layers' bytes are theirs to prove.
            let again = cut.map(|cut| cut.encode().concat());
            assert!(again.is_none_or(|again| again == body[..len]), "kind {kind}, {len} bytes");
        }
    }
    let long = [0; 9];
    assert_eq!(KernelRecord::decode(kind::COMMIT, 0, &long), None);
    assert_eq!(KernelRecord::decode(kind::GIVEN_OUT, 0, &long), None);
    assert_eq!(KernelRecord::decode(kind::UNDO_END, 0, &long), None, "it compensates");
}

#[test]
fn a_change_is_encoded_where_it_stands() {
    let body = [7; 40];
    let next = Some(Lsn(8));
    let set = DataSetId(4);
    let change = Change { kind: 40, set, undo_next: next, undoable: false, body: &body };
    let record = KernelRecord::Change(change);
    let encoded = record.encode();
    assert!(std::ptr::eq(encoded.parts()[1], &body[..]));
}
