//! What is particular to the model; all else is the conformance suite's.

use std::sync::Arc;
use std::time::Duration;

use seam::sync::Mutex;

use super::*;
use store::CommitSink;
use store::Read;
use store::traits::Unit;

#[derive(Default)]
struct Calls(Mutex<Vec<(u64, bool)>>);

impl CommitSink for Calls {
    fn settled(&self, token: u64, outcome: Result<Committed>) {
        self.0.lock().push((token, outcome.is_ok()));
    }
}

fn put(store: &ModelStore, set: SetId, key: &[u8]) -> ModelUnit {
    let mut unit = store.begin(UnitOptions::default()).unwrap();
    unit.put(set, key, b"value").unwrap();
    unit
}

fn holds(store: &ModelStore, set: SetId, key: &[u8]) -> bool {
    let mut unit = store.begin(UnitOptions::READ_ONLY).unwrap();
    unit.get(set, key, Read::Unlocked, &mut Vec::new()).unwrap()
}

#[test]
fn a_held_log_delays_the_answer_of_readers_too() {
    let store = ModelStore::new();
    let set = store.create_set("S", &SetAttributes::default()).unwrap();
    let calls = Arc::new(Calls::default());
    let sink: Arc<dyn CommitSink> = Arc::clone(&calls) as _;
    store.hold_log();
    put(&store, set, b"a").commit_queued(&sink, 1).unwrap();
    let mut reader = store.begin(UnitOptions::READ_ONLY).unwrap();
    assert!(reader.get(set, b"a", Read::Shared, &mut Vec::new()).unwrap());
    reader.commit_queued(&sink, 2).unwrap();
    assert_eq!(*calls.0.lock(), []);
    store.release_log();
    assert_eq!(*calls.0.lock(), [(1, true), (2, true)]);
}

#[test]
fn a_crash_keeps_what_is_durable_and_nothing_else() {
    let store = ModelStore::new();
    let set = store.create_set("S", &SetAttributes::default()).unwrap();
    put(&store, set, b"durable").commit().unwrap();
    let in_flight = put(&store, set, b"in flight");
    store.hold_log();
    let calls = Arc::new(Calls::default());
    let sink: Arc<dyn CommitSink> = Arc::clone(&calls) as _;
    put(&store, set, b"queued").commit_queued(&sink, 7).unwrap();
    let later = store.create_set("LATER", &SetAttributes::default()).unwrap();
    let drawn = store.draw(set, 3).unwrap();

    let restarted = store.crash();
    assert_eq!(*calls.0.lock(), [(7, false)]);
    assert!(matches!(in_flight.commit(), Err(StoreError::Stopped(_))));
    assert!(matches!(store.begin(UnitOptions::default()), Err(StoreError::Stopped(_))));
    assert!(holds(&restarted, set, b"durable"));
    assert!(!holds(&restarted, set, b"in flight") && !holds(&restarted, set, b"queued"));
    assert_eq!(restarted.set("LATER").unwrap(), Some(later));
    assert!(restarted.draw(set, 1).unwrap() > drawn);
}

#[test]
fn limits_of_a_unit_of_work_doom_it() {
    let clock = Arc::new(RealClock::new());
    let limits = Capabilities { unit_writes_max: Some(2), ..ModelStore::CAPABILITIES };
    let store = ModelStore::with(limits, clock);
    let set = store.create_set("S", &SetAttributes::default()).unwrap();
    let mut unit = put(&store, set, b"1");
    unit.put(set, b"2", b"").unwrap();
    assert!(matches!(unit.put(set, b"3", b""), Err(StoreError::TooLarge(_))));
    assert!(matches!(unit.failure(), Some(StoreError::TooLarge(_))));
    assert!(matches!(unit.commit(), Err(StoreError::TooLarge(_))));
    assert!(!holds(&store, set, b"1"));
}

#[test]
fn an_old_unit_of_work_is_refused() {
    let limits = Capabilities { unit_age_max: Some(Duration::ZERO), ..ModelStore::CAPABILITIES };
    let clock = Arc::new(RealClock::new());
    let store = ModelStore::with(limits, Arc::clone(&clock) as _);
    let set = store.create_set("S", &SetAttributes::default()).unwrap();
    let mut unit = store.begin(UnitOptions::default()).unwrap();
    clock.sleep(Duration::from_millis(1));
    assert!(matches!(unit.put(set, b"k", b"v"), Err(StoreError::TooOld(_))));
    unit.backout().unwrap();
}
