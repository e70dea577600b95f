//! Bulk load, emptying, and making room at the end.
#![allow(clippy::unwrap_used)] // a test stops where something is not as it should be

use std::collections::BTreeMap;

use crate::common::System;
use holdfast_btree::{Bound, Cursor, TreeError};
use seam::sim::{self, CrashStyle, Rng, SimConfig, SimDisk};

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn records(rng: &mut Rng, count: usize, key_bytes_max: usize) -> Model {
    let mut model = Model::new();
    while model.len() < count {
        let key = match rng.index(8) {
            0 => {
                let mut key = vec![b'm'; key_bytes_max];
                key[key_bytes_max - 2..]
                    .copy_from_slice(&(rng.below(1 << 16) as u16).to_be_bytes());
                key
            }
            1..=3 => format!("customer{:06}/order", rng.below(1 << 30)).into_bytes(),
            _ => rng.below(1 << 40).to_be_bytes().to_vec(),
        };
        let len = if rng.index(60) == 0 { rng.index(20_000) } else { rng.index(200) };
        model.insert(key, vec![rng.below(256) as u8; len]);
    }
    model
}

fn compare(system: &System, model: &Model) {
    let tree = system.tree();
    let mut cursor = Cursor::new();
    for (key, value) in model {
        assert!(cursor.next(&tree).unwrap());
        assert_eq!((cursor.key(), cursor.value()), (&key[..], &value[..]));
    }
    assert!(!cursor.next(&tree).unwrap());
    assert_eq!(system.prove().records, model.len() as u64);
}

#[test]
fn loaded_records_are_there_and_nodes_are_as_full_as_was_asked() {
    for (seed, unit_bytes, count, free_percent) in
        [(1, 4096, 6_000, 0), (2, 4096, 3_000, 30), (3, 8192, 3_000, 10), (4, 4096, 3, 0)]
    {
        sim::run(SimConfig::new(seed), SimDisk::new(), |seam| {
            let mut rng = Rng::stream(seed, "load");
            let system = System::create(&seam, unit_bytes, 400);
            let tree = system.tree();
            let model = records(&mut rng, count, tree.key_bytes_max());
            let mut uow = system.begin();
            assert_eq!(tree.bulk_load(&mut uow, &model, free_percent).unwrap(), count as u64);
            uow.commit().unwrap();
            compare(&system, &model);
            let report = tree.check().unwrap();
            let used = report.node_bytes * 100 / (report.node_bytes + report.node_bytes_free);
            let wanted = 100 - u64::from(free_percent);
            assert!(report.leaves < 10 || (wanted - 15..=wanted).contains(&used), "{used} %");
            // It is a tree like any other.
            let mut uow = system.begin();
            let mut model = model;
            for key in model.keys().filter(|key| key[0] < b'm').cloned().collect::<Vec<_>>() {
                assert!(tree.remove(&mut uow, &key).unwrap());
                model.remove(&key);
            }
            uow.commit().unwrap();
            compare(&system, &model);
            system.kernel.close().unwrap();
        })
        .expect_completed();
    }
}

#[test]
fn a_load_that_is_backed_out_leaves_nothing() {
    sim::run(SimConfig::new(9), SimDisk::new(), |seam| {
        let mut rng = Rng::stream(9, "load");
        let system = System::create(&seam, 4096, 400);
        let tree = system.tree();
        let model = records(&mut rng, 2_000, tree.key_bytes_max());
        let mut uow = system.begin();
        tree.bulk_load(&mut uow, &model, 0).unwrap();
        let again = tree.bulk_load(&mut uow, &model, 0);
        assert!(matches!(again, Err(TreeError::NotEmpty { .. })));
        uow.backout().unwrap();
        compare(&system, &Model::new());
        let mut uow = system.begin();
        let unsorted = tree.bulk_load(&mut uow, [(b"b", b"1"), (b"a", b"2")], 0);
        assert!(matches!(unsorted, Err(TreeError::NotAscending { record: 2, .. })));
        uow.backout().unwrap();
        compare(&system, &Model::new());
        system.kernel.close().unwrap();
    })
    .expect_completed();
}

#[test]
fn a_crash_in_a_load_leaves_all_or_nothing() {
    let mut rng = Rng::stream(10, "crash");
    let model = records(&mut rng, 1_500, 1_012);
    let mut seen = [false; 2];
    for seed in 0..12 {
        let disk = SimDisk::new();
        let (loaded, medium) = (model.clone(), disk.clone());
        let crash_after = 1 + rng.below(30);
        let outcome = sim::run(SimConfig::new(seed), disk.clone(), move |seam| {
            let system = System::create(&seam, 4096, 64);
            medium.crash_after(crash_after);
            let mut uow = system.begin();
            system.tree().bulk_load(&mut uow, &loaded, 5).unwrap();
            uow.commit().unwrap();
        });
        outcome.expect_unbroken();
        let after = disk.crash_image(&mut rng, CrashStyle::Random);
        sim::run(SimConfig::new(seed + 100), after, |seam| {
            let system = System::open(&seam, 4096, 64);
            let whole = system.tree().contains(model.keys().next().unwrap()).unwrap();
            assert!(whole || outcome.end != sim::End::Completed, "it was acknowledged");
            let nothing = Model::new();
            compare(&system, if whole { &model } else { &nothing });
            seen[usize::from(whole)] = true;
        })
        .expect_completed();
    }
    assert!(seen[0], "some crash came in time");
}

#[test]
fn space_comes_back_and_the_end_of_the_files_becomes_free() {
    sim::run(SimConfig::new(11), SimDisk::new(), |seam| {
        let mut rng = Rng::stream(11, "shrink");
        let system = System::create(&seam, 4096, 400);
        let tree = system.tree();
        let mut model = records(&mut rng, 6_000, tree.key_bytes_max());
        model.values_mut().for_each(|value| value.truncate(200));
        let mut uow = system.begin();
        tree.bulk_load(&mut uow, &model, 0).unwrap();
        uow.commit().unwrap();
        let before = system.prove();
        // Everything but each 20th record goes.
        let mut uow = system.begin();
        let keys: Vec<Vec<u8>> = model.keys().cloned().collect();
        for run in keys.chunks(20) {
            let (from, to) = (Bound::Behind(&run[0]), Bound::Behind(&run[run.len() - 1]));
            assert_eq!(tree.remove_range(&mut uow, from, to).unwrap(), run.len() as u64 - 1);
            run[1..].iter().for_each(|key| assert!(model.remove(key).is_some()));
        }
        uow.commit().unwrap();
        compare(&system, &model);
        let after = system.prove();
        assert!(after.leaves * 4 < before.leaves, "{} of {} leaves", after.leaves, before.leaves);
        let high_water = system.set.high_water().unwrap();
        while tree.compact_tail(50).unwrap() > 0 {}
        compare(&system, &model);
        let nodes = (after.leaves + after.inner) as u32;
        let lowered = system.set.high_water().unwrap();
        assert!(lowered <= nodes + 16 && lowered < high_water, "{nodes} nodes up to {lowered}");
        tree.clear().unwrap();
        compare(&system, &Model::new());
        system.kernel.close().unwrap();
    })
    .expect_completed();
}
