//! A process that ends in the middle: base and indexes agree afterwards, and the catalog has no
//! half of anything.

use store::{Store, Unit};
use vsam::{ClusterAttributes, Filter, Intent, OpenMode, OpenOptions, State};

use crate::common::{BY_TOWN, Folder, KEY, Running, all, begin, define, index, name, open, run_in};

fn numbered(number: u32) -> Vec<u8> {
    // Few towns, so that there are many duplicates.
    format!("{number:04}{:4}{:4}........", number * 7 % 9973, number % 5).into_bytes()
}

/// Records of the base, and of each path sorted by the base's key.
fn agree(running: &Running) -> usize {
    let base = all(&running.catalog, "K");
    for path in ["N.PATH", "T.PATH"] {
        let mut by_path = all(&running.catalog, path);
        by_path.sort();
        assert_eq!(by_path, base, "{path}");
    }
    base.len()
}

fn setup(folder: &Folder) -> Running {
    let running = run_in(folder);
    let mut attributes = ClusterAttributes::keyed(KEY, 80);
    attributes.reuse = true;
    define(&running.catalog, "K", attributes);
    index(&running.catalog, "N", "K", |attributes| attributes.unique = true);
    index(&running.catalog, "T", "K", |attributes| attributes.key = BY_TOWN);
    running
}

#[test]
fn base_and_indexes_agree_after_a_crash_in_the_middle_of_changes() {
    let folder = Folder::new("upkeep");
    let running = setup(&folder);
    let file = open(&running.catalog, "K", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    for batch in 0..5 {
        let mut unit = begin(&running.catalog);
        for number in batch * 100..batch * 100 + 100 {
            file.put(&mut unit, &mut position, &numbered(number)).unwrap();
        }
        unit.commit().unwrap();
    }
    // What follows is neither committed nor backed out when the process is gone.
    let mut unit = begin(&running.catalog);
    for number in (0..500).step_by(3) {
        let mut changed = numbered(number);
        changed[4..12].copy_from_slice(&numbered(number + 5_000)[4..12]);
        match number % 2 {
            0 => file.rewrite_keyed(&mut unit, &mut position, &changed).map(drop).unwrap(),
            _ => {
                let key = &numbered(number)[..4];
                file.erase_keyed(&mut unit, &mut position, key).map(drop).unwrap();
            }
        }
    }
    // The log reaches the disk with half of it.
    running.catalog.store().wait_durable().unwrap();
    // From here nothing reaches the disk.
    running.crash();
    drop((unit, position, file, running));
    let running = run_in(&folder);
    assert_eq!(agree(&running), 500);
}

#[test]
fn a_load_that_was_not_committed_leaves_an_empty_cluster() {
    let folder = Folder::new("load");
    let running = setup(&folder);
    let file = open(&running.catalog, "K", OpenMode::Output);
    let mut position = file.position().unwrap();
    let mut unit = begin(&running.catalog);
    for number in 0..400 {
        file.put(&mut unit, &mut position, &numbered(number)).unwrap();
    }
    running.catalog.store().wait_durable().unwrap();
    // From here nothing reaches the disk.
    running.crash();
    drop((unit, position, file, running));
    let running = run_in(&folder);
    assert_eq!(agree(&running), 0);
    // And it can be loaded again.
    let file = running.catalog.open_file(&name("K"), OpenMode::Output, &OpenOptions::default());
    let file = file.unwrap();
    let mut position = file.position().unwrap();
    let mut unit = begin(&running.catalog);
    for number in 0..400 {
        file.put(&mut unit, &mut position, &numbered(number)).unwrap();
    }
    unit.commit().unwrap();
    drop((position, file));
    assert_eq!(agree(&running), 400);
}

#[test]
fn the_catalog_is_there_after_a_crash_and_everything_in_it_can_be_opened() {
    let folder = Folder::new("catalog");
    let running = setup(&folder);
    running.catalog.rename(&name("T"), &name("TOWNS")).unwrap();
    let before = running.catalog.list(&Filter::all(), None).unwrap();
    drop(running);
    let running = run_in(&folder);
    assert_eq!(running.catalog.list(&Filter::all(), None).unwrap(), before);
    for entry in before {
        assert_eq!(entry.state, State::Ready);
        let file = open(&running.catalog, entry.name.as_str(), OpenMode::Input);
        let mut position = file.position().unwrap();
        let mut unit = begin(&running.catalog);
        let mut read = Vec::new();
        let end = file.get_next(&mut unit, &mut position, Intent::Look, &mut read);
        assert!(end.is_err());
        unit.commit().unwrap();
    }
}
