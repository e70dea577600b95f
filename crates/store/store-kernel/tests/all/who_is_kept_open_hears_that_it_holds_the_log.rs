//! A unit of work whose owner waits for another keeps the log behind its first change from
//! being used again. It heard of that with its next change alone, which never came.

use crate::common::{Running, fresh_with};
use base::Coded as _;
use holdfast_store_kernel::KernelStore;
use store::{SetAttributes, Store, StoreError, Unit, UnitOptions, run};

/// What each of the others writes: a log of 6 MiB is half full after a hundred of them.
static VALUE: [u8; 30_000] = [7; 30_000];
const OTHERS_MAX: u32 = 400;

fn with_small_log(name: &str) -> (KernelStore, Running) {
    fresh_with(name, |config| {
        config.log.segment_bytes = 1 << 20;
        config.log.ring_bytes = 1 << 20;
        config.log.segments_max = 6;
        config.checkpoint_bytes = 1 << 20;
        config.writer.redo_bytes_max = 1 << 20;
    })
}

#[test]
fn who_is_kept_open_hears_that_it_holds_the_log() {
    let (store, _running) = with_small_log("kept-open");
    let set = store.create_set("SET", &SetAttributes::default()).expect("a set");
    assert!(!store.is_short_of_room());
    let mut waits = store.begin(UnitOptions::default()).expect("a unit of work");
    waits.put(set, b"held", b"1").expect("room");
    let mut reads = store.begin(UnitOptions::READ_ONLY).expect("a unit of work");
    let told = (0..OTHERS_MAX).find_map(|number| {
        run(&store, UnitOptions::default(), |unit| -> Result<(), StoreError> {
            unit.put(set, &number.to_be_bytes(), &VALUE)
        })
        .expect("there is room left");
        reads.keep_open().expect("it has changed nothing");
        waits.keep_open().err()
    });
    let told = told.expect("it is told before the log is full");
    assert_eq!(told.code().to_string(), "HFU001", "{told}");
    assert!(told.dooms_unit());
    waits.backout().expect("a backout");
    reads.backout().expect("nothing to do");
}

// It waited for room that it did not need, heard no answer meanwhile, and was backed out for what
// another one kept.
#[test]
fn who_does_not_hold_the_log_stays_open_though_that_is_full() {
    let (store, _running) = with_small_log("stays-open");
    let set = store.create_set("SET", &SetAttributes::default()).expect("a set");
    let log = store.kernel().log();
    let kept_from_others = log.capacity_bytes() / 8;
    let mut holds = store.begin(UnitOptions::default()).expect("a unit of work");
    holds.put(set, b"held", b"1").expect("room");
    let mut number = 0_u32;
    while log.room() > kept_from_others + 200_000 {
        number += 1;
        run(&store, UnitOptions::default(), |unit| -> Result<(), StoreError> {
            unit.put(set, &number.to_be_bytes(), &VALUE)
        })
        .expect("there is room left");
    }
    let mut stay = Vec::new();
    while log.room() > kept_from_others + 100_000 {
        number += 1;
        let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
        unit.put(set, &number.to_be_bytes(), b"1").expect("there is room left");
        stay.push(unit);
    }
    // What the kernel itself logs may have of what is kept from others.
    for _ in 0..1_000 {
        store.kernel().checkpoint_now(false).expect("a checkpoint");
        if log.room() < kept_from_others {
            break;
        }
    }
    assert!(log.room() < kept_from_others);
    for unit in &mut stay {
        unit.keep_open().expect("another one keeps it full");
    }
    let told = holds.keep_open().expect_err("it keeps the log full");
    assert_eq!(told.code().to_string(), "HFU001", "{told}");
    holds.backout().expect("a backout");
    for unit in stay {
        unit.commit().expect("it may have of what is kept");
    }
}
