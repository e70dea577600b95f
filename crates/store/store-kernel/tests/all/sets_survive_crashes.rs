//! Crashes at every write while a set is emptied, filled or dropped: afterwards it is as it was or
//! as it was to become, no interval is lost, its attributes are there, and its sequence goes on.

use std::sync::Arc;

use crate::common::{reopened, simulated};
use holdfast_store_kernel::{KernelStore, KernelUnit};
use seam::sim::{self, CrashStyle, End, Rng, SimConfig, SimDisk};
use seam::sync::Mutex;
use store::{
    KeyRange, Locking, Pairs, Read, Result, SetAttributes, SetId, Store, Unit, UnitOptions, run,
};

/// More than the pool holds, with their long values.
const RECORDS: u64 = 700;

/// What is done to the set when the machine crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Empty,
    Load,
    Drop,
    Draw,
}

fn attributes() -> SetAttributes {
    SetAttributes {
        interval_bytes: Some(8192),
        free_percent: 10,
        locking: Locking::Caller,
        ..SetAttributes::default()
    }
}

fn pairs() -> impl Iterator<Item = ([u8; 8], Vec<u8>)> {
    // Every tenth value stands outside of its leaf.
    let value = |number: u64| vec![7; if number.is_multiple_of(10) { 20_000 } else { 300 }];
    (0..RECORDS).map(move |number| (number.to_be_bytes(), value(number)))
}

/// Makes the set as it is before the deed.
fn prepare(store: &KernelStore, deed: Deed) -> Result<SetId> {
    let set = store.create_set("SET", &attributes())?;
    store.load_sorted(set, &mut Pairs::new(pairs()))?;
    // What this frees is on its way when the deed begins.
    run(store, UnitOptions::default(), |unit| -> Result<()> {
        for number in (0..RECORDS).step_by(20) {
            unit.put(set, &number.to_be_bytes(), b"short now")?;
        }
        match deed {
            Deed::Load => unit.delete_range(set, KeyRange::ALL).map(drop),
            _ => Ok(()),
        }
    })?;
    Ok(set)
}

fn act(store: &KernelStore, set: SetId, deed: Deed, drawn: &Mutex<u64>) -> Result<()> {
    match deed {
        Deed::Empty => store.empty_set(set),
        Deed::Load => store.load_sorted(set, &mut Pairs::new(pairs())).map(drop),
        Deed::Drop => store.drop_set(set),
        Deed::Draw => (0..4).try_for_each(|_| {
            let first = store.draw(set, 700)?;
            let mut drawn = drawn.lock();
            let before = *drawn;
            assert!(first > before, "{first} is drawn again, after {before}");
            *drawn = first + 699;
            Ok(())
        }),
    }
}

/// Starts a thread that commits all the time, so that the log is written in the middle of the deed.
fn bystand(store: &KernelStore) {
    let store = store.clone();
    let body = move || {
        let set = store.create_set("OTHER", &SetAttributes::default()).expect("a set");
        for number in 0_u64.. {
            let put = |unit: &mut KernelUnit| unit.put(set, b"key", &number.to_be_bytes());
            run(&store, UnitOptions::default(), put).expect("a commit");
        }
    };
    seam::thread::spawn("bystander", body).expect("a thread");
}

/// The first life: up to the deed, and a crash at its `crash_after`th write.
fn first_life(disk: &SimDisk, seed: u64, deed: Deed, crash_after: u64) -> (End, bool, u64) {
    let (done, drawn) = (Arc::new(Mutex::new(false)), Arc::new(Mutex::new(0)));
    let (answer, numbers) = (Arc::clone(&done), Arc::clone(&drawn));
    let medium = disk.clone();
    let outcome = sim::run(SimConfig::new(seed), disk.clone(), move |seam| {
        let store = simulated(&seam);
        let set = prepare(&store, deed).expect("a set");
        bystand(&store);
        medium.crash_after(crash_after);
        act(&store, set, deed, &numbers).expect("the deed");
        *answer.lock() = true;
        sim::crash();
    });
    let (done, drawn) = (*done.lock(), *drawn.lock());
    (outcome.end, done, drawn)
}

/// The second life: what is there.
fn second_life(disk: SimDisk, seed: u64, deed: Deed, done: bool, drawn: u64) {
    let outcome = sim::run(SimConfig::new(seed), disk, move |seam| {
        let store = reopened(&seam);
        let Some(set) = store.set("SET").expect("an answer") else {
            assert_eq!(deed, Deed::Drop, "the set is gone");
            return store.kernel().close().expect("the system closes in order");
        };
        assert!(deed != Deed::Drop || !done, "a set that was dropped is there again");
        let sets = store.sets().expect("an answer");
        let info = sets.iter().find(|info| info.id == set).expect("a set that has a name");
        assert_eq!((&info.name[..], &info.attributes), ("SET", &attributes()));
        let data = store.kernel().set_named("SET").expect("the set");
        let report = btree::Tree::new(store.kernel(), &data).check().expect("a sound tree");
        assert_eq!((report.unreachable, report.in_transit), (0, 0), "intervals are lost");
        match (deed, done) {
            (Deed::Empty, true) => assert_eq!(report.records, 0),
            (Deed::Load, true) => assert_eq!(report.records, RECORDS),
            _ => assert!([0, RECORDS].contains(&report.records), "{} records", report.records),
        }
        assert!(store.draw(set, 1).expect("a number") > drawn, "a number is drawn again");
        // And it goes on.
        if report.records == 0 {
            store.load_sorted(set, &mut Pairs::new(pairs())).expect("a load");
        }
        let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
        let mut value = Vec::new();
        for (key, _) in pairs() {
            assert!(unit.get(set, &key, Read::Shared, &mut value).expect("a read"));
        }
        unit.commit().expect("a commit");
        store.empty_set(set).expect("the set is emptied");
        assert_eq!(btree::Tree::new(store.kernel(), &data).check().expect("a tree").records, 0);
        store.kernel().close().expect("the system closes in order");
    });
    outcome.expect_completed();
}

fn sweep(deed: Deed) {
    let (mut crashes, mut done_in_a_row, mut crash_after) = (0, 0, 0);
    // How many writes there are depends on who goes first.
    while done_in_a_row < 8 {
        crash_after += 1 + crash_after / 20;
        for seed in crate::common::seeds(1_000..1_004) {
            let disk = SimDisk::new();
            let (end, done, drawn) = first_life(&disk, seed, deed, crash_after);
            assert_eq!(end, End::Crashed, "crash after write {crash_after}");
            crashes += u32::from(!done);
            done_in_a_row = if done { done_in_a_row + 1 } else { 0 };
            let mut rng = Rng::stream(seed + crash_after, "crash");
            let style = if rng.one_in(3) { CrashStyle::DropAll } else { CrashStyle::Random };
            second_life(disk.crash_image(&mut rng, style), seed, deed, done, drawn);
        }
    }
    assert!(crashes > 10, "only {crashes} crashes before the deed was done");
}

#[test]
fn a_set_that_is_emptied_survives_crashes() {
    sweep(Deed::Empty);
}

#[test]
fn a_set_that_is_filled_survives_crashes() {
    sweep(Deed::Load);
}

#[test]
fn a_set_that_is_dropped_survives_crashes() {
    sweep(Deed::Drop);
}

#[test]
fn drawn_numbers_survive_crashes() {
    sweep(Deed::Draw);
}
