//! A unit of work that needs more locks than it may hold locks the whole set instead; and who waits
//! in vain is told for whom.

#![allow(clippy::disallowed_methods)] // tests make and remove their folders themselves

use crate::common::{fresh, fresh_with};
use holdfast_store_kernel::KernelStore;
use store::{
    KeyRange, LockMode, LockName, Locking, Outcome, Read, SetAttributes, SetId, Store, StoreError,
    Unit, UnitOptions, Wait,
};

const LOCKS_MAX: usize = 60;

fn key(number: u32) -> [u8; 4] {
    number.to_be_bytes()
}

fn small(name: &str) -> (KernelStore, SetId, crate::common::Running) {
    let (store, running) = fresh_with(name, |config| config.locks.locks_per_owner_max = LOCKS_MAX);
    let set = store.create_set("SET", &SetAttributes::default()).expect("a set");
    (store, set, running)
}

fn impatient() -> UnitOptions {
    UnitOptions { wait: Wait::No, owner: 8, ..UnitOptions::default() }
}

#[test]
fn many_changes_lock_the_whole_set() {
    let (store, set, _running) = small("changes");
    let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
    for number in 0..300 {
        let added = unit.insert(set, &key(number), b"value").expect("an insert");
        assert_eq!(added, Outcome::Done);
    }
    assert!(unit.uow().kernel().locks().statistics().held <= LOCKS_MAX as u64 + 1);
    let mut other = store.begin(impatient()).expect("a unit of work");
    let refused = other.get(set, b"elsewhere", Read::Shared, &mut Vec::new());
    assert!(matches!(refused, Err(StoreError::Timeout(_))), "the whole set is locked: {refused:?}");
    drop(other);
    for number in (0..300).step_by(2) {
        assert!(unit.delete(set, &key(number)).expect("a delete").is_done());
    }
    unit.commit().expect("a commit");
    let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
    assert_eq!(unit.delete_range(set, KeyRange::ALL).expect("a range delete"), 150);
    unit.backout().expect("a backout");
    crate::common::expect_quiet(store.kernel());
}

#[test]
fn many_reads_of_a_reader_leave_other_readers_alone() {
    let (store, set, _running) = small("reads");
    let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
    for number in 0..200 {
        unit.put(set, &key(number), b"value").expect("a put");
    }
    unit.commit().expect("a commit");
    let scan = |unit: &mut <KernelStore as Store>::Unit| {
        let mut cursor = store.cursor(set).expect("a cursor");
        let mut count = 0;
        while unit.next(&mut cursor, Read::Shared).expect("a step").is_some() {
            count += 1;
        }
        count
    };
    let mut one = store.begin(UnitOptions::READ_ONLY).expect("a unit of work");
    let mut two = store.begin(UnitOptions::READ_ONLY).expect("a unit of work");
    assert_eq!((scan(&mut one), scan(&mut two)), (200, 200));
    let mut writer = store.begin(impatient()).expect("a unit of work");
    let refused = writer.put(set, b"new", b"value");
    assert!(matches!(refused, Err(StoreError::Timeout(_))), "it was read: {refused:?}");
    drop(writer);
    one.commit().expect("a commit");
    two.commit().expect("a commit");
    crate::common::expect_quiet(store.kernel());
}

#[test]
fn locks_that_no_set_stands_for_are_refused() {
    let (store, set, _running) = small("names");
    let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
    for number in 0..LOCKS_MAX as u32 {
        let name = LockName { space: 1, name: &key(number) };
        assert!(unit.lock(name, LockMode::Shared, Wait::No).expect("a lock").is_held());
    }
    unit.put(set, b"key", b"value").expect("a put, with the whole set locked");
    let name = LockName { space: 2, name: b"one too many" };
    let refused = unit.lock(name, LockMode::Shared, Wait::No);
    assert!(matches!(refused, Err(StoreError::TooLarge(_))), "{refused:?}");
    assert!(unit.failure().is_some(), "it can only be backed out");
    unit.backout().expect("a backout");
}

#[test]
fn who_waits_in_vain_is_told_for_whom() {
    let (store, set, _running) = small("holder");
    let options = UnitOptions { owner: 7, ..UnitOptions::default() };
    let mut holder = store.begin(options).expect("a unit of work");
    holder.put(set, b"key", b"value").expect("a put");
    let mut other = store.begin(impatient()).expect("a unit of work");
    match other.get(set, b"key", Read::Shared, &mut Vec::new()) {
        Err(StoreError::Timeout(waited)) => assert_eq!(waited.holder, Some(7), "{waited}"),
        other => panic!("the key is locked: {other:?}"),
    }
    holder.commit().expect("a commit");
}

#[test]
fn a_set_whose_caller_locks_stays_the_same_until_its_readers_are_over() {
    let (store, _running) = fresh("readers");
    let attributes = SetAttributes { locking: Locking::Caller, ..SetAttributes::default() };
    let set = store.create_set("READ", &attributes).unwrap();
    let mut reader = store.begin(UnitOptions::default()).unwrap();
    assert!(!reader.get(set, b"absent", Read::Unlocked, &mut Vec::new()).unwrap());
    assert!(matches!(store.drop_set(set), Err(StoreError::SetInUse(_))));
    reader.commit().unwrap();
    store.drop_set(set).unwrap();
}

/// Names of the space of a set whose locking is the caller's, as those of database records.
fn name(set: SetId, number: &[u8; 4]) -> LockName<'_> {
    LockName { space: set.0, name: number }
}

fn callers(test: &str) -> (KernelStore, SetId, crate::common::Running) {
    let (store, running) = fresh_with(test, |config| config.locks.locks_per_owner_max = LOCKS_MAX);
    let attributes = SetAttributes { locking: Locking::Caller, ..SetAttributes::default() };
    let set = store.create_set("RECORDS", &attributes).expect("a set");
    (store, set, running)
}

#[test]
fn many_names_of_records_become_a_lock_on_their_set() {
    let (store, set, _running) = callers("records");
    let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
    for number in (0..500_u32).map(u32::to_be_bytes) {
        let grant = unit.lock(name(set, &number), LockMode::Exclusive, Wait::Forever);
        assert!(grant.expect("a lock").is_held());
        assert!(unit.insert(set, &number, b"value").expect("an insert").is_done());
        assert_eq!(unit.held(name(set, &number)), Some(LockMode::Exclusive));
    }
    assert!(unit.uow().kernel().locks().statistics().held <= LOCKS_MAX as u64 + 1);
    let mut other = store.begin(impatient()).expect("a unit of work");
    for number in [7_u32, 7_000].map(u32::to_be_bytes) {
        let grant = other.lock(name(set, &number), LockMode::Shared, Wait::No).expect("an answer");
        assert!(!grant.is_held(), "all of the set is locked");
    }
    drop(other);
    unit.commit().expect("a commit");
    crate::common::expect_quiet(store.kernel());
}

#[test]
fn a_lock_on_a_set_waits_for_whoever_has_locked_a_record_of_it() {
    let (store, set, _running) = callers("waits");
    let mut reader = store.begin(UnitOptions::default()).expect("a unit of work");
    let far = 9_999_u32.to_be_bytes();
    assert!(reader.lock(name(set, &far), LockMode::Shared, Wait::No).expect("a lock").is_held());
    let mut unit = store.begin(impatient()).expect("a unit of work");
    let mut granted = 0;
    let busy = (0..500_u32).map(u32::to_be_bytes).any(|number| {
        let grant = unit.lock(name(set, &number), LockMode::Exclusive, Wait::No);
        let is_held = grant.expect("an answer").is_held();
        granted += u32::from(is_held);
        !is_held
    });
    assert!(busy && granted as usize >= LOCKS_MAX - 1, "{granted} were granted");
    reader.commit().expect("a commit");
    let number = 499_u32.to_be_bytes();
    let grant = unit.lock(name(set, &number), LockMode::Exclusive, Wait::No);
    assert_eq!(grant.expect("a lock"), store::Grant::New, "what was read before may be old");
    unit.commit().expect("a commit");
    crate::common::expect_quiet(store.kernel());
}

#[test]
fn two_that_lock_the_same_set_for_too_many_records_do_not_wait_for_ever() {
    let (store, set, _running) = callers("deadlock");
    let turns = std::sync::Barrier::new(2);
    let lock_all = |from: u32| {
        let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
        for number in (from..from + LOCKS_MAX as u32 - 1).map(u32::to_be_bytes) {
            let _ = unit.lock(name(set, &number), LockMode::Exclusive, Wait::Forever).expect("one");
        }
        turns.wait();
        let more = (from + 500..from + 600).map(u32::to_be_bytes);
        let locked = more.into_iter().try_for_each(|number| {
            unit.lock(name(set, &number), LockMode::Exclusive, Wait::Forever).map(drop)
        });
        match locked {
            Ok(()) => unit.commit().map(drop).map_err(|error| error.to_string()),
            Err(StoreError::Deadlock) => {
                unit.backout().expect("a backout");
                Err("deadlock".to_owned())
            }
            Err(other) => panic!("{other}"),
        }
    };
    let ended = std::thread::scope(|scope| {
        let one = scope.spawn(|| lock_all(0));
        let other = scope.spawn(|| lock_all(10_000));
        [one.join().expect("it ends"), other.join().expect("it ends")]
    });
    assert!(ended.iter().any(Result::is_ok), "one of them goes on: {ended:?}");
    crate::common::expect_quiet(store.kernel());
}

#[test]
fn a_unit_of_work_that_spans_too_much_log_is_told_which_setting_helps() {
    let (store, _running) = fresh_with("span", |config| config.uow_log_bytes_max = 1 << 20);
    let set = store.create_set("SET", &SetAttributes::default()).expect("a set");
    let fill = |store: &KernelStore| {
        let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
        let put = (0..200_000_u32).try_for_each(|number| unit.put(set, &key(number), &[7; 1_000]));
        let error = put.expect_err("it is too much");
        assert!(error.to_string().contains("unit of work uow"), "{error}");
        unit.backout().expect("a backout");
        (error.to_string(), base::Coded::remedy(&error))
    };
    let (text, remedy) = fill(&store);
    assert!(
        text.contains("units.log_bytes_max") && remedy.contains("units.log_bytes_max"),
        "{text}"
    );
    drop(store);
    let (store, _running) = fresh_with("capped", |config| config.uow_log_bytes_max = u64::MAX);
    let set_again = store.create_set("SET", &SetAttributes::default()).expect("a set");
    assert_eq!(set_again, set);
    let (text, remedy) = fill(&store);
    assert!(text.contains("log.segments_max") && remedy.contains("log.segments_max"), "{text}");
}
