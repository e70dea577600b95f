//! The anomalies by name, between two systems that share an engine, step by step.

use crate::common::Server;
use holdfast_store_postgres::{EngineStore, EngineUnit};
use seam::Seam;
use store::{
    Cursor, KeyRange, LockMode, LockName, Locking, Read, SetAttributes, SetId, Store, StoreError,
    Unit, UnitOptions, Wait,
};

struct Two {
    one: EngineStore,
    other: EngineStore,
    set: SetId,
}

fn two(entries: &[(&[u8], &[u8])]) -> Two {
    let server = Server::shared();
    let options = server.new_schema(|_| ());
    let open = || EngineStore::open(&server.url(), options.clone(), &Seam::real()).unwrap();
    let (one, other) = (open(), open());
    let set = one.create_set("S", &SetAttributes::default()).unwrap();
    let mut unit = begin(&one);
    for (key, value) in entries {
        unit.put(set, key, value).unwrap();
    }
    unit.commit().unwrap();
    Two { one, other, set }
}

fn begin(store: &EngineStore) -> EngineUnit {
    store.begin(UnitOptions::default()).unwrap()
}

fn get(unit: &mut EngineUnit, set: SetId, key: &[u8]) -> Option<Vec<u8>> {
    let mut value = Vec::new();
    unit.get(set, key, Read::Shared, &mut value).unwrap().then_some(value)
}

fn keys(store: &EngineStore, unit: &mut EngineUnit, set: SetId, range: KeyRange<'_>) -> usize {
    let mut cursor = store.cursor(set).unwrap();
    cursor.limit(range);
    let mut count = 0;
    while unit.next(&mut cursor, Read::Shared).unwrap().is_some() {
        count += 1;
    }
    count
}

fn is_conflict<T>(result: Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Conflict(_)))
}

#[test]
fn write_skew_is_refused() {
    let Two { one, other, set } = two(&[(b"x", b"1"), (b"y", b"1")]);
    let (mut first, mut second) = (begin(&one), begin(&other));
    for unit in [&mut first, &mut second] {
        assert_eq!(get(unit, set, b"x").as_deref(), Some(&b"1"[..]));
        assert_eq!(get(unit, set, b"y").as_deref(), Some(&b"1"[..]));
    }
    first.put(set, b"x", b"0").unwrap();
    second.put(set, b"y", b"0").unwrap();
    first.commit().unwrap();
    assert!(is_conflict(second.commit()));
}

#[test]
fn a_lost_update_is_refused() {
    let Two { one, other, set } = two(&[(b"counter", b"1")]);
    let (mut first, mut second) = (begin(&one), begin(&other));
    get(&mut first, set, b"counter");
    get(&mut second, set, b"counter");
    first.put(set, b"counter", b"2").unwrap();
    first.commit().unwrap();
    second.put(set, b"counter", b"2").unwrap();
    assert!(is_conflict(second.commit()));
    // What did not read does not mind.
    let (mut first, mut second) = (begin(&one), begin(&other));
    first.put(set, b"counter", b"3").unwrap();
    second.put(set, b"counter", b"4").unwrap();
    second.commit().unwrap();
    first.commit().unwrap();
}

#[test]
fn a_phantom_is_refused() {
    let Two { one, other, set } = two(&[(b"a", b""), (b"z", b"")]);
    let range = KeyRange::between(b"m", b"n");
    let (mut first, mut second) = (begin(&one), begin(&other));
    assert_eq!(keys(&one, &mut first, set, range), 0);
    assert_eq!(keys(&other, &mut second, set, range), 0);
    first.put(set, b"m1", b"").unwrap();
    second.put(set, b"m2", b"").unwrap();
    first.commit().unwrap();
    assert!(is_conflict(second.commit()));
    // An entry that goes is as good as one that comes, one that is put in the place of another
    // too; what happens beside the range is nobody's business.
    for (change, conflicts) in [(&b"m1"[..], true), (b"m1", true), (b"b", false)] {
        let mut reader = begin(&one);
        let seen = keys(&one, &mut reader, set, range);
        let mut writer = begin(&other);
        match get(&mut writer, set, change) {
            Some(_) => writer.delete(set, change).map(drop).unwrap(),
            None => writer.put(set, change, b"").unwrap(),
        }
        writer.commit().unwrap();
        // Its own snapshot still shows what it showed.
        assert_eq!(keys(&one, &mut reader, set, range), seen);
        reader.put(set, b"note", b"").unwrap();
        assert_eq!(is_conflict(reader.commit()), conflicts, "{change:?}");
    }
}

#[test]
fn a_reader_among_two_writers_sees_one_order() {
    // The anomaly of a report: what only reads must not see an order that nobody else has.
    let Two { one, other, set } = two(&[(b"batch", b"1"), (b"total", b"0")]);
    let mut receipt = begin(&one);
    assert_eq!(get(&mut receipt, set, b"batch").as_deref(), Some(&b"1"[..]));
    receipt.put(set, b"receipt", b"in batch 1").unwrap();
    let mut close = begin(&other);
    get(&mut close, set, b"batch");
    close.put(set, b"batch", b"2").unwrap();
    close.commit().unwrap();
    let mut report = one.begin(UnitOptions::READ_ONLY).unwrap();
    assert_eq!(get(&mut report, set, b"batch").as_deref(), Some(&b"2"[..]));
    assert_eq!(get(&mut report, set, b"receipt"), None);
    report.commit().unwrap();
    assert!(is_conflict(receipt.commit()), "the report has told that batch 1 has no receipt");
}

#[test]
fn a_lock_on_a_name_refreshes_what_the_store_guards_or_ends_in_a_conflict() {
    let Two { one, other, set } = two(&[(b"a", b"1"), (b"b", b"1")]);
    let name = LockName { space: 7, name: b"record" };
    let mut unit = begin(&one);
    assert_eq!(get(&mut unit, set, b"a").as_deref(), Some(&b"1"[..]));
    let mut writer = begin(&other);
    writer.put(set, b"b", b"2").unwrap();
    writer.commit().unwrap();
    assert_eq!(get(&mut unit, set, b"b").as_deref(), Some(&b"1"[..]), "one snapshot");
    let _ = unit.lock(name, LockMode::Shared, Wait::No).unwrap();
    let mut value = Vec::new();
    let read = unit.get(set, b"b", Read::Shared, &mut value);
    assert!(is_conflict(read), "it has read b as it was");
    assert!(is_conflict(unit.commit()));
    // Without a read that became wrong the lock shows what is there now.
    let mut unit = begin(&one);
    get(&mut unit, set, b"a");
    let mut writer = begin(&other);
    writer.put(set, b"b", b"3").unwrap();
    writer.commit().unwrap();
    let _ = unit.lock(name, LockMode::Shared, Wait::No).unwrap();
    assert_eq!(get(&mut unit, set, b"b").as_deref(), Some(&b"3"[..]));
    unit.commit().unwrap();
}

#[test]
fn who_waits_for_a_record_never_conflicts_over_it() {
    // Both disciplines in one unit of work: the snapshot of the guarded set is older than the lock
    // on the record, and must not spoil what was read and written under that lock.
    let Two { one, other, set } = two(&[(b"message", b"1")]);
    let attributes = SetAttributes { locking: Locking::Caller, ..SetAttributes::default() };
    let records = one.create_set("RECORDS", &attributes).unwrap();
    let name = LockName { space: records.0, name: b"r" };
    let mut unit = begin(&one);
    assert!(get(&mut unit, set, b"message").is_some());
    let mut writer = begin(&other);
    let _ = writer.lock(name, LockMode::Exclusive, Wait::No).unwrap();
    writer.put(records, b"r", b"by the other").unwrap();
    writer.commit().unwrap();
    let _ = unit.lock(name, LockMode::Exclusive, Wait::No).unwrap();
    assert_eq!(get(&mut unit, records, b"r").as_deref(), Some(&b"by the other"[..]));
    unit.put(records, b"r", b"by the one").unwrap();
    let _ = unit.delete(set, b"message").unwrap();
    unit.commit().unwrap();
    let mut unit = begin(&other);
    assert_eq!(get(&mut unit, records, b"r").as_deref(), Some(&b"by the one"[..]));
    assert_eq!(get(&mut unit, set, b"message"), None);
}
