//! Walks that lock each record hold the names of records that come next: whoever wants one of
//! those has it, wherever it runs, and nothing is seen that a lock of its own would not show.

#![allow(clippy::disallowed_methods)] // threads beside the stores, as programs are

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::common::Server;
use holdfast_store_postgres::{EngineOptions, EngineStore};
use seam::Seam;
use seam::clock::{Clock, RealClock};
use store::{
    Cursor, Grant, LockMode, LockName, Locking, Outcome, Pairs, Position, Read, Result,
    SetAttributes, SetId, Store, StoreError, Unit, UnitOptions, Wait,
};

const RECORDS: u32 = 60;
/// Longer than anything takes that is not held up.
const LONG: Wait = Wait::AtMost(Duration::from_secs(120));

fn root(record: u32) -> Vec<u8> {
    format!("{record:06}").into_bytes()
}

fn child(record: u32, number: u8) -> Vec<u8> {
    [&root(record)[..], &[1, number]].concat()
}

/// Each record is a root and two children with a number each.
fn filled(store: &EngineStore) -> SetId {
    let attributes = SetAttributes { locking: Locking::Caller, ..SetAttributes::default() };
    let set = store.create_set("S", &attributes).unwrap();
    let entries = (0..RECORDS).flat_map(|record| {
        let child = move |number| (child(record, number), 100_i64.to_be_bytes().to_vec());
        [(root(record), b"root".to_vec()), child(0), child(1)]
    });
    store.load_sorted(set, &mut Pairs::new(entries)).unwrap();
    set
}

/// Two systems on one engine.
fn systems() -> (EngineStore, EngineStore, SetId) {
    let server = Server::shared();
    let options: EngineOptions = server.new_schema(|_| ());
    let open = || EngineStore::open(&server.url(), options.clone(), &Seam::real()).unwrap();
    let (one, two) = (open(), open());
    let set = filled(&one);
    (one, two, set)
}

/// Steps to the next root and locks it; its number.
fn step<U: Unit>(unit: &mut U, cursor: &mut U::Cursor, mode: LockMode) -> Result<Option<u32>> {
    let set = cursor.set();
    loop {
        let Some(entry) = unit.next(cursor, Read::Unlocked)? else { return Ok(None) };
        if entry.key.len() != root(0).len() {
            continue;
        }
        let key = entry.key.to_vec();
        if unit.lock_along(cursor, mode)? == Grant::Busy {
            let _ = unit.lock(LockName { space: set.0, name: &key }, mode, Wait::Forever)?;
        }
        if unit.current(cursor, Read::Unlocked)?.is_some() {
            return Ok(Some(std::str::from_utf8(&key).unwrap().parse().unwrap()));
        }
        let _ = unit.unlock(LockName { space: set.0, name: &key })?;
    }
}

fn leave<U: Unit>(unit: &mut U, set: SetId, record: u32) -> Result<()> {
    assert!(unit.unlock(LockName { space: set.0, name: &root(record) })?, "it was held");
    Ok(())
}

fn number<U: Unit>(unit: &mut U, set: SetId, key: &[u8]) -> Result<i64> {
    let mut value = Vec::new();
    assert!(unit.get(set, key, Read::Unlocked, &mut value)?, "a child is there");
    Ok(i64::from_be_bytes(value.try_into().unwrap()))
}

#[test]
fn others_have_what_a_walk_has_not_come_to_or_has_left() {
    let (one, two, set) = systems();
    let mut walker = one.begin(UnitOptions::default()).unwrap();
    let mut cursor = one.cursor(set).unwrap();
    for record in 0..10 {
        let reached = step(&mut walker, &mut cursor, LockMode::Update).unwrap();
        assert_eq!(reached, Some(record));
        if record < 9 {
            leave(&mut walker, set, record).unwrap();
        }
    }
    for other in [&one, &two] {
        let mut unit = other.begin(UnitOptions::default()).unwrap();
        let stands = root(9);
        let name = LockName { space: set.0, name: &stands };
        let grant = unit.lock(name, LockMode::Update, Wait::No).unwrap();
        assert_eq!(grant, Grant::Busy, "where the walk stands");
        for record in (0..9).chain(10..RECORDS) {
            let key = root(record);
            let name = LockName { space: set.0, name: &key };
            let grant = unit.lock(name, LockMode::Exclusive, LONG).unwrap();
            assert_eq!(grant, Grant::New, "record {record}");
        }
        let changed = unit.replace(set, &child(10, 0), &7_i64.to_be_bytes()).unwrap();
        assert_eq!(changed, Outcome::Done);
        unit.commit().unwrap();
    }
    leave(&mut walker, set, 9).unwrap();
    assert_eq!(step(&mut walker, &mut cursor, LockMode::Update).unwrap(), Some(10));
    assert_eq!(number(&mut walker, set, &child(10, 0)).unwrap(), 7, "as it was committed");
    walker.commit().unwrap();
}

#[test]
fn what_is_spare_at_the_end_is_free() {
    let (one, two, set) = systems();
    let ends: [fn(<EngineStore as Store>::Unit); 3] =
        [|unit| assert!(unit.commit().is_ok()), |unit| unit.backout().unwrap(), drop];
    for end in ends {
        let mut walker = one.begin(UnitOptions::READ_ONLY).unwrap();
        let mut cursor = one.cursor(set).unwrap();
        for record in 0..20 {
            assert_eq!(step(&mut walker, &mut cursor, LockMode::Shared).unwrap(), Some(record));
            leave(&mut walker, set, record).unwrap();
        }
        end(walker);
        let mut unit = two.begin(UnitOptions::default()).unwrap();
        for record in 0..RECORDS {
            let key = root(record);
            let name = LockName { space: set.0, name: &key };
            assert_eq!(unit.lock(name, LockMode::Exclusive, Wait::No).unwrap(), Grant::New);
        }
        unit.backout().unwrap();
    }
}

#[test]
fn spare_names_close_no_circle() {
    let (one, two, set) = systems();
    let mut walker = one.begin(UnitOptions::default()).unwrap();
    let mut cursor = one.cursor(set).unwrap();
    for record in 0..10 {
        assert_eq!(step(&mut walker, &mut cursor, LockMode::Update).unwrap(), Some(record));
        leave(&mut walker, set, record).unwrap();
    }
    // The other has what the walker will wait for, and waits for what the walker has no need of.
    let mut other = two.begin(UnitOptions::default()).unwrap();
    let (mine, spare) = (b"mine".to_vec(), root(12));
    let name = LockName { space: 7, name: &mine };
    assert_eq!(other.lock(name, LockMode::Exclusive, Wait::No).unwrap(), Grant::New);
    let waiting = thread::spawn(move || {
        let name = LockName { space: set.0, name: &spare };
        let grant = other.lock(name, LockMode::Exclusive, Wait::Forever).unwrap();
        other.commit().unwrap();
        grant
    });
    let name = LockName { space: 7, name: &mine };
    assert_eq!(walker.lock(name, LockMode::Exclusive, Wait::Forever).unwrap(), Grant::New);
    assert_eq!(waiting.join().unwrap(), Grant::New);
    walker.commit().unwrap();
}

/// The machine's clock, moved forward.
struct Moved(RealClock, AtomicU64);

impl Clock for Moved {
    fn monotonic(&self) -> Duration {
        self.0.monotonic() + Duration::from_secs(self.1.load(Ordering::SeqCst))
    }

    fn utc_us(&self) -> u64 {
        self.0.utc_us()
    }

    fn sleep(&self, time: Duration) {
        self.0.sleep(time);
    }
}

#[test]
fn what_is_added_between_spare_names_is_seen_once_they_are_old() {
    let server = Server::shared();
    let options: EngineOptions = server.new_schema(|_| ());
    let clock = Arc::new(Moved(RealClock::new(), AtomicU64::new(0)));
    let seam = Seam { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Seam::real() };
    let store = EngineStore::open(&server.url(), options, &seam).unwrap();
    let set = filled(&store);
    let change = |body: &dyn Fn(&mut <EngineStore as Store>::Unit) -> Outcome| {
        let mut unit = store.begin(UnitOptions::default()).unwrap();
        assert_eq!(body(&mut unit), Outcome::Done);
        unit.commit().unwrap();
    };
    change(&|unit| unit.delete(set, &root(12)).unwrap());
    let mut walker = store.begin(UnitOptions::READ_ONLY).unwrap();
    let mut cursor = store.cursor(set).unwrap();
    for record in 0..=10 {
        assert_eq!(step(&mut walker, &mut cursor, LockMode::Shared).unwrap(), Some(record));
        leave(&mut walker, set, record).unwrap();
    }
    change(&|unit| unit.insert(set, &root(12), b"root").unwrap());
    clock.1.store(2, Ordering::SeqCst);
    for record in 11..RECORDS {
        assert_eq!(step(&mut walker, &mut cursor, LockMode::Shared).unwrap(), Some(record));
        leave(&mut walker, set, record).unwrap();
    }
    assert_eq!(step(&mut walker, &mut cursor, LockMode::Shared).unwrap(), None);
    walker.commit().unwrap();
}

/// Takes from one child of every third record and gives to the other.
fn change_all(store: &EngineStore, set: SetId, victims: &mut u32) -> Result<()> {
    let options = UnitOptions { victim_count: *victims, ..UnitOptions::default() };
    let mut unit = store.begin(options)?;
    let mut cursor = store.cursor(set)?;
    cursor.seek(Position::Front);
    while let Some(record) = step(&mut unit, &mut cursor, LockMode::Update)? {
        if record % 3 != 0 {
            leave(&mut unit, set, record)?;
            continue;
        }
        let key = root(record);
        let name = LockName { space: set.0, name: &key };
        let _ = unit.lock(name, LockMode::Exclusive, Wait::Forever)?;
        let (from, to) = (child(record, 0), child(record, 1));
        let (had, other) = (number(&mut unit, set, &from)?, number(&mut unit, set, &to)?);
        assert!(unit.replace(set, &from, &(had - 1).to_be_bytes())?.is_done());
        assert!(unit.replace(set, &to, &(other + 1).to_be_bytes())?.is_done());
    }
    unit.commit().map(drop)
}

#[test]
fn updates_of_many_walks_are_not_lost_and_readers_see_whole_records() {
    const ROUNDS: u32 = 6;
    let (one, two, set) = systems();
    thread::scope(|scope| {
        for store in [&one, &one, &two, &two] {
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    let mut victims = 0;
                    loop {
                        match change_all(store, set, &mut victims) {
                            Ok(()) => break,
                            Err(StoreError::Deadlock) => victims += 1,
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            });
        }
        for store in [&one, &two] {
            scope.spawn(move || {
                for _ in 0..ROUNDS * 2 {
                    let mut unit = store.begin(UnitOptions::READ_ONLY).unwrap();
                    let mut cursor = store.cursor(set).unwrap();
                    let mut seen = 0;
                    loop {
                        let found = match step(&mut unit, &mut cursor, LockMode::Shared) {
                            Ok(found) => found,
                            Err(StoreError::Deadlock) => break,
                            Err(error) => panic!("{error}"),
                        };
                        let Some(record) = found else { break };
                        assert_eq!(record, seen, "every record, in order");
                        seen += 1;
                        let first = number(&mut unit, set, &child(record, 0)).unwrap();
                        let second = number(&mut unit, set, &child(record, 1)).unwrap();
                        assert_eq!(first + second, 200, "record {record} is whole");
                        leave(&mut unit, set, record).unwrap();
                    }
                    drop(unit);
                }
            });
        }
    });
    let mut unit = one.begin(UnitOptions::READ_ONLY).unwrap();
    let moved = i64::from(ROUNDS * 4);
    for record in (0..RECORDS).step_by(3) {
        assert_eq!(number(&mut unit, set, &child(record, 0)).unwrap(), 100 - moved);
        assert_eq!(number(&mut unit, set, &child(record, 1)).unwrap(), 100 + moved);
    }
    unit.commit().unwrap();
}

#[test]
fn a_store_of_the_version_before_is_brought_up_to_date() {
    let server = Server::shared();
    let options = server.new_schema(|_| ());
    let schema = &options.schema;
    server.psql(&format!("DROP FUNCTION {schema}.hf_ahead; UPDATE {schema}.meta SET version = 1"));
    let store = EngineStore::open(&server.url(), options.clone(), &Seam::real()).unwrap();
    let set = filled(&store);
    let mut unit = store.begin(UnitOptions::default()).unwrap();
    let mut cursor = store.cursor(set).unwrap();
    for record in 0..RECORDS {
        assert_eq!(step(&mut unit, &mut cursor, LockMode::Shared).unwrap(), Some(record));
        leave(&mut unit, set, record).unwrap();
    }
    unit.commit().unwrap();
    let again = EngineStore::open(&server.url(), options, &Seam::real()).unwrap();
    assert_eq!(again.set("S").unwrap(), Some(set));
}
