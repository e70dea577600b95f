//! What docs/scale.md promises about round trips, counted where they are made.

use crate::common::Server;
use holdfast_store_postgres::EngineStore;
use store::{
    Cursor, KeyRange, LockMode, LockName, Locking, Outcome, Pairs, Position, Read, SetAttributes,
    SetId, Store, Unit, UnitOptions, Wait,
};

const ENTRIES: u32 = 5_000;

fn key(number: u32) -> Vec<u8> {
    format!("{number:06}").into_bytes()
}

fn store(locking: Locking) -> (EngineStore, SetId) {
    let store = Server::shared().store();
    let attributes = SetAttributes { locking, ..SetAttributes::default() };
    let set = store.create_set("S", &attributes).unwrap();
    store.load_sorted(set, &mut Pairs::new((0..ENTRIES).map(|n| (key(n), [b'v'; 50])))).unwrap();
    // A connection of each kind is there before anything is counted.
    let mut unit = store.begin(UnitOptions::default()).unwrap();
    unit.get(set, b"", Read::Shared, &mut Vec::new()).unwrap();
    let name = LockName { space: 1, name: b"warm" };
    let _ = unit.lock(name, LockMode::Shared, Wait::No).unwrap();
    unit.commit().unwrap();
    (store, set)
}

/// How many round trips something takes.
fn count<T>(store: &EngineStore, body: impl FnOnce() -> T) -> u64 {
    let before = store.figures().round_trips;
    body();
    store.figures().round_trips - before
}

#[test]
fn a_scan_takes_less_than_one_for_a_hundred_entries() {
    for locking in [Locking::Keys, Locking::Caller] {
        let (store, set) = store(locking);
        let mut unit = store.begin(UnitOptions::READ_ONLY).unwrap();
        let mut cursor = store.cursor(set).unwrap();
        let mut read = 0;
        let taken = count(&store, || {
            while unit.next(&mut cursor, Read::Shared).unwrap().is_some() {
                read += 1;
            }
        });
        assert_eq!(read, ENTRIES);
        assert!(taken * 100 < u64::from(read), "{taken} round trips forward, {locking:?}");
        let taken = count(&store, || {
            cursor.seek(Position::Back);
            while unit.previous(&mut cursor, Read::Shared).unwrap().is_some() {}
        });
        assert!(taken * 100 < u64::from(read), "{taken} round trips backward, {locking:?}");
        unit.commit().unwrap();
    }
}

#[test]
fn a_unit_of_twenty_four_calls_takes_at_most_twelve() {
    let (store, set) = store(Locking::Caller);
    let taken = count(&store, || {
        let mut unit = store.begin(UnitOptions::default()).unwrap();
        let mut calls = 0;
        for record in 0..5 {
            let (from, to) = (key(record * 100), key(record * 100 + 10));
            let name = LockName { space: set.0, name: &from };
            let _ = unit.lock(name, LockMode::Exclusive, Wait::No).unwrap();
            let mut cursor = store.cursor(set).unwrap();
            cursor.limit(KeyRange::between(&from, &to));
            assert!(unit.next(&mut cursor, Read::Shared).unwrap().is_some());
            assert_eq!(unit.replace_at(&mut cursor, b"changed").unwrap(), Outcome::Done);
            assert!(unit.next(&mut cursor, Read::Shared).unwrap().is_some());
            calls += 4;
            if record < 4 {
                // Between two entries that were read: it is known to be free.
                assert_eq!(
                    unit.insert(set, &[&from[..], b"+"].concat(), b"").unwrap(),
                    Outcome::Done
                );
                calls += 1;
            }
        }
        assert_eq!(calls, 24);
        unit.commit().unwrap();
    });
    assert!(taken <= 12, "{taken} round trips");
}

#[test]
fn what_is_known_is_not_asked_again() {
    let (store, set) = store(Locking::Keys);
    let mut unit = store.begin(UnitOptions::default()).unwrap();
    let mut value = Vec::new();
    assert_eq!(count(&store, || unit.get(set, &key(7), Read::Shared, &mut value)), 1);
    let more = count(&store, || {
        unit.get(set, &key(7), Read::Shared, &mut value).unwrap();
        assert_eq!(unit.replace(set, &key(7), b"new").unwrap(), Outcome::Done);
        assert_eq!(unit.delete(set, &key(7)).unwrap(), Outcome::Done);
        assert_eq!(unit.insert(set, &key(7), b"newer").unwrap(), Outcome::Done);
        unit.put(set, b"blind", b"").unwrap();
        let savepoint = unit.savepoint().unwrap();
        unit.rollback_to(savepoint).unwrap();
    });
    assert_eq!(more, 0);
    let name = LockName { space: 1, name: b"n" };
    assert_eq!(count(&store, || unit.lock(name, LockMode::Exclusive, Wait::No)), 1);
    assert_eq!(count(&store, || unit.lock(name, LockMode::Shared, Wait::No)), 0);
    assert_eq!(count(&store, || unit.commit().unwrap()), 1, "with its names given back");
    let unit = store.begin(UnitOptions::default()).unwrap();
    assert_eq!(count(&store, || unit.backout().unwrap()), 0);
}

#[test]
fn a_walk_that_locks_each_record_takes_less_than_one_for_a_hundred() {
    let (store, set) = store(Locking::Caller);
    for mode in [LockMode::Shared, LockMode::Update] {
        let mut unit = store.begin(UnitOptions::default()).unwrap();
        let mut cursor = store.cursor(set).unwrap();
        let mut read = 0;
        let taken = count(&store, || {
            while unit.next(&mut cursor, Read::Unlocked).unwrap().is_some() {
                assert!(unit.lock_along(&mut cursor, mode).unwrap().is_held());
                let entry = unit.current(&mut cursor, Read::Unlocked).unwrap().unwrap();
                assert_eq!(entry.key, key(read));
                assert!(unit.unlock(LockName { space: set.0, name: &key(read) }).unwrap());
                read += 1;
            }
            unit.commit().unwrap();
        });
        assert_eq!(read, ENTRIES);
        assert!(taken * 100 <= u64::from(read), "{taken} round trips, {mode}");
    }
}
