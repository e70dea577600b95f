//! Copies of many clusters while they are in use, and bulk loads.

#![allow(clippy::unwrap_used)] // a test that fails says where

use store::{Store, Unit};
use vsam::{
    CatalogError, Definition, Filter, Kind, LogicalReason, OpenError, OpenMode, OpenOptions, State,
    Synonyms,
};

use crate::common::{
    BY_TOWN, Folder, all, begin, catalog, fill, index, keyed, name, open, record, run_in, within,
};

#[test]
fn a_copy_stands_under_other_names_with_its_indexes_and_paths() {
    let catalog = catalog();
    keyed(&catalog, "BANK.K");
    index(&catalog, "BANK.N", "BANK.K", |_| ());
    fill(&catalog, "BANK.K", &[record("2", "ANN", "A"), record("1", "ANN", "B")]);
    let synonyms = Synonyms(vec![(name("BANK"), name("TEST.COPY"))]);
    let made = catalog.snap(&[name("BANK.K")], &synonyms, None).unwrap();
    let made: Vec<_> = made.iter().map(|one| (one.to.as_str(), one.kind, one.records)).collect();
    let wanted = [
        ("TEST.COPY.K", Kind::Cluster, 2),
        ("TEST.COPY.N", Kind::AlternateIndex, 2),
        ("TEST.COPY.N.PATH", Kind::Path, 0),
    ];
    assert_eq!(made, wanted);
    // The order of arrival comes along and goes on behind.
    fill(&catalog, "TEST.COPY.K", &[record("0", "ANN", "C")]);
    let by_name = ["2   ANN A   ", "1   ANN B   ", "0   ANN C   "];
    assert_eq!(all(&catalog, "TEST.COPY.N.PATH"), by_name);
    assert_eq!(all(&catalog, "BANK.N.PATH").len(), 2);
    // A name that is taken: nothing is left of the others.
    let before = catalog.list(&Filter::all(), None).unwrap();
    let again = catalog.snap(&[name("BANK.K")], &synonyms, None);
    assert!(matches!(again, Err(CatalogError::Exists { .. })));
    assert!(matches!(
        catalog.snap(&[name("BANK.K")], &Synonyms::default(), None),
        Err(CatalogError::Exists { .. })
    ));
    assert_eq!(catalog.list(&Filter::all(), None).unwrap(), before);
}

#[test]
fn a_copy_can_have_the_same_names_in_a_catalog_of_its_own() {
    let catalog = catalog();
    keyed(&catalog, "BANK.K");
    index(&catalog, "BANK.N", "BANK.K", |_| ());
    fill(&catalog, "BANK.K", &[record("1", "ANN", "A")]);
    catalog.define(&name("MONDAY"), Definition::UserCatalog, None).unwrap();
    let monday = Some(name("MONDAY"));
    catalog.snap(&[name("BANK.K")], &Synonyms::default(), monday.as_ref()).unwrap();
    fill(&catalog, "BANK.K", &[record("2", "BOB", "B")]);
    let monday = catalog.within(monday.as_ref()).unwrap();
    assert_eq!((all(&monday, "BANK.N.PATH").len(), all(&catalog, "BANK.N.PATH").len()), (1, 2));
}

/// Each unit of work moves one record from one cluster to the other.
fn move_records<S: Store>(
    catalog: &vsam::Catalog<S>,
    records: &[Vec<u8>],
    done: &std::sync::atomic::AtomicBool,
) {
    let (left, right) = (
        open(catalog, "LEFT", OpenMode::InputOutput),
        open(catalog, "RIGHT", OpenMode::InputOutput),
    );
    let (mut of_left, mut of_right) = (left.position().unwrap(), right.position().unwrap());
    for at in (0..300).cycle() {
        if done.load(std::sync::atomic::Ordering::Relaxed) {
            break;
        }
        let record: &Vec<u8> = &records[at];
        let mut unit = catalog.store().begin(vsam::unit_options()).unwrap();
        let moved = match left.erase_keyed(&mut unit, &mut of_left, &record[..4]) {
            Ok(_) => right.put(&mut unit, &mut of_right, record),
            Err(_) => right
                .erase_keyed(&mut unit, &mut of_right, &record[..4])
                .and_then(|_| left.put(&mut unit, &mut of_left, record)),
        };
        match moved {
            Ok(_) => drop(unit.commit().unwrap()),
            Err(_) => unit.backout().unwrap(),
        }
    }
}

#[test]
fn what_is_frozen_while_records_move_is_of_one_moment_and_holds_nobody_up() {
    let folder = Folder::new("freeze");
    let running = run_in(&folder);
    let catalog = &running.catalog;
    for cluster in ["LEFT", "RIGHT"] {
        keyed(catalog, cluster);
        index(catalog, &format!("{cluster}.T"), cluster, |attributes| attributes.key = BY_TOWN);
    }
    let records: Vec<_> = (0..300).map(|n| record(&format!("{n:03}"), "N", "ROM")).collect();
    fill(catalog, "LEFT", &records);
    let before = catalog.list(&Filter::all(), None).unwrap().len();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| move_records(catalog, &records, &done));
        for _ in 0..6 {
            let frozen = catalog.freeze(&[name("LEFT"), name("RIGHT")]);
            if frozen.is_err() {
                done.store(true, std::sync::atomic::Ordering::Relaxed);
            }
            let frozen = frozen.unwrap();
            let (mut both, mut sorted) = (Vec::new(), true);
            for cluster in ["LEFT", "RIGHT"] {
                let mut own: Vec<Vec<u8>> = Vec::new();
                let each = frozen.each(&name(cluster), &mut |record, _| {
                    own.push(record.to_vec());
                    Ok::<(), CatalogError>(())
                });
                assert_eq!(each.unwrap(), own.len() as u64);
                sorted &= own.is_sorted();
                both.extend(own);
            }
            both.sort();
            assert!(sorted && both == records, "{} records", both.len());
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(catalog.list(&Filter::all(), None).unwrap().len(), before, "nothing is left");
}

#[test]
fn copies_made_while_records_move_agree_to_one_moment() {
    let folder = Folder::new("snap");
    let running = run_in(&folder);
    let catalog = &running.catalog;
    for cluster in ["LEFT", "RIGHT"] {
        keyed(catalog, cluster);
        index(catalog, &format!("{cluster}.T"), cluster, |attributes| attributes.key = BY_TOWN);
    }
    let records: Vec<_> = (0..300).map(|n| record(&format!("{n:03}"), "N", "ROM")).collect();
    fill(catalog, "LEFT", &records);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| move_records(catalog, &records, &done));
        for copy in 0..4 {
            let to = |cluster: &str| name(&format!("COPY{copy}.{cluster}"));
            let pairs = ["LEFT", "RIGHT"].map(|cluster| (name(cluster), to(cluster)));
            let sources = [name("LEFT"), name("RIGHT")];
            let made = catalog.snap(&sources, &Synonyms(pairs.to_vec()), None);
            if made.is_err() {
                done.store(true, std::sync::atomic::Ordering::Relaxed);
            }
            made.unwrap();
            let mut both = Vec::new();
            for cluster in ["LEFT", "RIGHT"] {
                let base = all(catalog, to(cluster).as_str());
                let mut by_town = all(catalog, &format!("{}.T.PATH", to(cluster)));
                by_town.sort();
                assert_eq!(by_town, base);
                both.extend(base);
            }
            both.sort();
            let wanted: Vec<_> =
                records.iter().map(|r| String::from_utf8_lossy(&r[..12]).into_owned()).collect();
            assert_eq!(both, wanted);
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_bulk_load_is_there_when_the_file_is_closed() {
    let folder = Folder::new("bulk");
    let running = run_in(&folder);
    let catalog = &running.catalog;
    keyed(catalog, "K");
    index(catalog, "N", "K", |_| ());
    let options = OpenOptions { bulk: true, ..OpenOptions::default() };
    let load = |count: u32| {
        let file = catalog.open_file(&name("K"), OpenMode::Output, &options).unwrap();
        let mut position = file.position().unwrap();
        within(catalog, |unit| {
            for number in 0..count {
                let record = record(&format!("{number:04}"), &format!("{:04}", number % 7), "");
                file.put(unit, &mut position, &record).unwrap();
            }
            let lower = file.put(unit, &mut position, &record("0", "", ""));
            assert_eq!(lower.unwrap_err().reason(), Some(LogicalReason::OutOfSequence));
        });
        file
    };
    // Given up, it leaves nothing, and the index is ready for what comes.
    drop(load(3_000));
    assert!(all(catalog, "K").is_empty());
    assert_eq!(catalog.get(&name("N")).unwrap().unwrap().state, State::Ready);
    load(9_000).close().unwrap();
    assert_eq!((all(catalog, "K").len(), all(catalog, "N.PATH").len()), (9_000, 9_000));
    let entry = catalog.get(&name("K")).unwrap().unwrap();
    assert_eq!(catalog.verify(&entry.name).unwrap().records, 9_000);
    assert!(matches!(
        catalog.open_file(&name("K"), OpenMode::Output, &options).map(drop),
        Err(OpenError::NotEmpty(_))
    ));
    let file = open(catalog, "K", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    let mut unit = begin(catalog);
    file.erase_keyed(&mut unit, &mut position, b"0007").unwrap();
    unit.commit().unwrap();
    assert!(catalog.store().set("K").unwrap().is_some());
    drop((position, file));
    assert_eq!(all(catalog, "N.PATH").len(), 8_999);
}
