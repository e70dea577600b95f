//! Who may have a cluster open at once.

use store::{Store, Unit};
use vsam::{
    ClusterAttributes, Definition, Intent, LogicalReason, OpenError, OpenMode, OpenOptions, Search,
    Share, Target,
};

use crate::common::{
    Folder, KEY, all, begin, catalog, define, fill, index, keyed, name, open, record, run_in,
};

fn shared(share: Share) -> ClusterAttributes {
    let mut attributes = ClusterAttributes::keyed(KEY, 80);
    attributes.share.regions = share;
    attributes
}

#[test]
fn share_options_hold_among_openers_by_any_name() {
    let catalog = catalog();
    define(&catalog, "ONE", shared(Share::ReadersOrWriter));
    define(&catalog, "TWO", shared(Share::WriterAndReaders));
    define(&catalog, "ANY", shared(Share::Anybody));
    index(&catalog, "N", "ONE", |_| ());
    let opens = |named: &str, mode, record_level| {
        let options = OpenOptions { record_level, ..OpenOptions::default() };
        catalog.open_file(&name(named), mode, &options)
    };
    let refused = |named: &str, mode| {
        matches!(opens(named, mode, false).map(drop), Err(OpenError::Shared(_)))
    };
    let (input, update) = (OpenMode::Input, OpenMode::InputOutput);
    let reader = opens("ONE", input, false).unwrap();
    assert!(opens("N.PATH", input, false).is_ok());
    assert!(refused("ONE", update) && refused("N.PATH", update));
    drop(reader);
    let writer = opens("N.PATH", update, false).unwrap();
    assert!(refused("ONE", input) && refused("ONE", update));
    drop(writer);
    let _writer = opens("TWO", update, false).unwrap();
    assert!(opens("TWO", input, false).is_ok() && refused("TWO", update));
    let _writers = [opens("ANY", update, false).unwrap(), opens("ANY", update, false).unwrap()];
    // Those who share by record locks are one for the others.
    let _regions = [opens("ONE", update, true).unwrap(), opens("ONE", update, true).unwrap()];
    assert!(refused("ONE", input));
}

#[test]
fn a_load_is_alone_and_a_reusable_cluster_is_emptied_by_it() {
    let catalog = catalog();
    let mut attributes = shared(Share::Anybody);
    attributes.reuse = true;
    define(&catalog, "TEMP", attributes);
    index(&catalog, "N", "TEMP", |_| ());
    fill(&catalog, "TEMP", &[record("1", "ANN", "")]);
    let reader = open(&catalog, "TEMP", OpenMode::Input);
    let load = || catalog.open_file(&name("TEMP"), OpenMode::Output, &OpenOptions::default());
    assert!(matches!(load().map(drop), Err(OpenError::Shared(_))));
    drop(reader);
    drop(load().unwrap());
    assert!(all(&catalog, "TEMP").is_empty() && all(&catalog, "N.PATH").is_empty());

    keyed(&catalog, "KEPT");
    fill(&catalog, "KEPT", &[record("1", "ANN", "")]);
    let load = |options: &OpenOptions| {
        catalog.open_file(&name("KEPT"), OpenMode::Output, options).map(drop)
    };
    assert!(matches!(load(&OpenOptions::default()), Err(OpenError::NotEmpty(_))));
    let reset = OpenOptions { reset: true, ..OpenOptions::default() };
    assert!(matches!(load(&reset), Err(OpenError::Mode { .. })));
    assert_eq!(all(&catalog, "KEPT").len(), 1);
    // In the middle of somebody's unit of work nothing is emptied.
    let file = open(&catalog, "TEMP", OpenMode::InputOutput);
    let mut unit = begin(&catalog);
    let mut position = file.position().unwrap();
    file.put(&mut unit, &mut position, &record("2", "BOB", "")).unwrap();
    drop((position, file));
    let refused = catalog.open_file(&name("TEMP"), OpenMode::Output, &OpenOptions::default());
    assert!(refused.is_err());
    unit.commit().unwrap();
    for path in ["TEMP", "N.PATH"] {
        assert_eq!(all(&catalog, path), ["2   BOB     "]);
    }
}

#[test]
fn two_who_each_want_what_the_other_holds_are_told_at_once() {
    let catalog = catalog();
    define(&catalog, "K", shared(Share::Anybody));
    fill(&catalog, "K", &[record("1", "", ""), record("2", "", "")]);
    let work = |first: &'static [u8], second: &'static [u8]| {
        let catalog = catalog.clone();
        move |barrier: &std::sync::Barrier| {
            let file = open(&catalog, "K", OpenMode::InputOutput);
            let mut position = file.position().unwrap();
            let mut unit = catalog.store().begin(vsam::unit_options()).unwrap();
            let mut read = Vec::new();
            let mut held = |key, unit: &mut _| {
                let search = Search::equal(Target::Key(key));
                file.get(unit, &mut position, &search, Intent::Update, &mut read).map(drop)
            };
            held(first, &mut unit).unwrap();
            barrier.wait();
            let second = held(second, &mut unit);
            let doomed = unit.failure().is_some();
            match second {
                Ok(()) => drop(unit.commit().unwrap()),
                Err(_) => unit.backout().unwrap(),
            }
            doomed
        }
    };
    let barrier = std::sync::Barrier::new(2);
    let (one, two) = (work(b"1   ", b"2   "), work(b"2   ", b"1   "));
    let doomed = std::thread::scope(|scope| {
        let one = scope.spawn(|| one(&barrier));
        let two = scope.spawn(|| two(&barrier));
        [one.join().unwrap(), two.join().unwrap()]
    });
    assert_eq!(doomed.iter().filter(|doomed| **doomed).count(), 1);
}

#[test]
fn who_alone_may_change_a_cluster_keeps_out_those_who_lock() {
    let folder = Folder::new("alone");
    let running = run_in(&folder);
    let catalog = &running.catalog;
    define(catalog, "K", shared(Share::WriterAndReaders));
    index(catalog, "N", "K", |_| ());
    fill(catalog, "K", &[record("1", "ANN", ""), record("2", "BOB", "")]);
    let (base, path) =
        (open(catalog, "K", OpenMode::Input), open(catalog, "N.PATH", OpenMode::Input));
    let (mut at, mut along) = (base.position().unwrap(), path.position().unwrap());
    let (writer, mut read) = (open(catalog, "K", OpenMode::InputOutput), Vec::new());
    let mut position = writer.position().unwrap();
    let mut get = |unit: &mut _, key: &[u8], intent| {
        let search = Search::equal(Target::Key(key));
        match key.starts_with(b"1") || key.starts_with(b"2") {
            true => base.get(unit, &mut at, &search, intent, &mut read),
            false => path.get(unit, &mut along, &search, intent, &mut read),
        }
        .map(drop)
        .map_err(|failure| failure.reason())
    };
    let held = Err(Some(LogicalReason::HeldByAnother));
    let mut unit = begin(catalog);
    writer.rewrite_keyed(&mut unit, &mut position, &record("1", "ANN", "X")).unwrap();
    let mut other = begin(catalog);
    assert_eq!(get(&mut other, b"2   ", Intent::Look), Ok(()));
    assert_eq!(get(&mut other, b"2   ", Intent::Keep), held);
    unit.commit().unwrap();
    assert_eq!(get(&mut other, b"2   ", Intent::Keep), Ok(()));
    // Where somebody has one record locked, records are locked one by one.
    let mut unit = begin(catalog);
    writer.rewrite_keyed(&mut unit, &mut position, &record("1", "ANN", "Y")).unwrap();
    let refused = writer.rewrite_keyed(&mut unit, &mut position, &record("2", "BOB", "Y"));
    assert_eq!(refused.unwrap_err().reason(), Some(LogicalReason::HeldByAnother));
    other.commit().unwrap();
    // A change of the index is not looked at before it is committed.
    writer.rewrite_keyed(&mut unit, &mut position, &record("2", "CAT", "Y")).unwrap();
    let mut other = begin(catalog);
    assert_eq!(get(&mut other, b"ANN ", Intent::Look), Ok(()));
    assert_eq!(get(&mut other, b"ANN ", Intent::Keep), held);
    unit.commit().unwrap();
    assert_eq!(get(&mut other, b"CAT ", Intent::Keep), Ok(()));
}

#[test]
fn an_index_is_not_defined_over_what_is_open() {
    let catalog = catalog();
    keyed(&catalog, "K");
    let _file = open(&catalog, "K", OpenMode::Input);
    let attributes = vsam::AlternateIndexAttributes::new(name("K"), crate::common::BY_NAME);
    let refused = catalog.define(&name("N"), Definition::AlternateIndex(attributes), None);
    assert!(matches!(refused, Err(vsam::CatalogError::InUse(_))));
    assert_eq!(catalog.get(&name("N")).unwrap(), None);
}
