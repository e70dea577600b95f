//! A unit of work whose owner waits for somebody else keeps the log behind its first change from
//! being used again. It heard of that with its next change alone, which never came.

use crate::common::fresh_with;
use base::Coded as _;
use store::{SetAttributes, Store, StoreError, Unit, UnitOptions, run};

/// What each of the others writes: a log of 6 MiB is half full after a hundred of them.
static VALUE: [u8; 30_000] = [7; 30_000];
const OTHERS_MAX: u32 = 400;

#[test]
fn who_is_kept_open_hears_that_it_holds_the_log() {
    let (store, _running) = fresh_with("kept-open", |config| {
        config.log.segment_bytes = 1 << 20;
        config.log.ring_bytes = 1 << 20;
        config.log.segments_max = 6;
        config.checkpoint_bytes = 1 << 20;
        config.writer.redo_bytes_max = 1 << 20;
    });
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
