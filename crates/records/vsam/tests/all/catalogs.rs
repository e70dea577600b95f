//! The catalog: what can be defined, found, changed and deleted.

#![allow(clippy::unwrap_used)] // a test that fails says where

use store::{SetAttributes, Store, Unit};
use vsam::{
    AlternateIndexAttributes, Catalog, CatalogError, ClusterAttributes, Definition, DeleteOptions,
    Filter, Intent, KeyField, Kind, NonVsamAttributes, OpenError, OpenMode, OpenOptions,
    Organization, PathAttributes, RecordOwner, Redirection, Share, ShareOptions, SourceId, State,
};

use crate::common::{
    BY_NAME, BY_TOWN, Folder, KEY, all, begin, catalog, define, fill, index, keyed, name, open,
    record, run_in,
};

fn names(entries: &[vsam::Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.name.as_str()).collect()
}

fn delete() -> DeleteOptions {
    DeleteOptions::default()
}

#[test]
fn what_is_defined_is_found_listed_and_deleted_with_what_stands_over_it() {
    let catalog = catalog();
    keyed(&catalog, "BANK.ACCOUNT");
    index(&catalog, "BANK.BYNAME", "BANK.ACCOUNT", |_| ());
    let path = PathAttributes { entry: name("BANK.ACCOUNT"), update: true };
    catalog.define(&name("OTHER.NAME"), Definition::Path(path), None).unwrap();
    let listed = catalog.list(&Filter::parse("BANK.**").unwrap(), None).unwrap();
    assert_eq!(names(&listed), ["BANK.ACCOUNT", "BANK.BYNAME", "BANK.BYNAME.PATH"]);
    let base = catalog.get(&name("BANK.ACCOUNT")).unwrap().unwrap();
    assert_eq!(base.related, [name("BANK.BYNAME"), name("OTHER.NAME")]);
    let data = catalog.get(&name("BANK.ACCOUNT.DATA")).unwrap().unwrap();
    assert_eq!(data.kind(), Kind::Component);
    assert!(catalog.store().set("BANK.BYNAME").unwrap().is_some());

    let gone = catalog.delete(&name("BANK.BYNAME"), delete()).unwrap();
    assert_eq!(names(&gone), ["BANK.BYNAME", "BANK.BYNAME.PATH"]);
    let base = catalog.get(&name("BANK.ACCOUNT")).unwrap().unwrap();
    assert_eq!(base.related, [name("OTHER.NAME")]);
    let gone = catalog.delete(&name("BANK.ACCOUNT"), delete()).unwrap();
    assert_eq!(names(&gone), ["BANK.ACCOUNT", "OTHER.NAME"]);
    assert_eq!(catalog.list(&Filter::all(), None).unwrap(), vec![]);
    assert_eq!(catalog.get(&name("BANK.ACCOUNT.DATA")).unwrap(), None);
    for set in ["BANK.ACCOUNT", "BANK.BYNAME"] {
        assert_eq!(catalog.store().set(set).unwrap(), None);
    }
    let again = catalog.delete(&name("BANK.ACCOUNT"), delete());
    assert!(matches!(again, Err(CatalogError::NotFound(_))));
}

#[test]
fn a_name_is_taken_once_components_included() {
    let catalog = catalog();
    keyed(&catalog, "A");
    let cluster = || Definition::Cluster(ClusterAttributes::keyed(KEY, 80));
    for (taken, kind) in [("A", Kind::Cluster), ("A.DATA", Kind::Component)] {
        match catalog.define(&name(taken), cluster(), None) {
            Err(CatalogError::Exists { kind: found, .. }) => assert_eq!(found, kind),
            other => panic!("{other:?}"),
        }
    }
    let mut attributes = ClusterAttributes::keyed(KEY, 80);
    attributes.data_name = Some(name("A.INDEX"));
    let refused = catalog.define(&name("B"), Definition::Cluster(attributes), None);
    assert!(matches!(refused, Err(CatalogError::Exists { .. })));
    // Nothing of it is left.
    assert_eq!(catalog.get(&name("B")).unwrap(), None);
    assert_eq!(catalog.store().set("B").unwrap(), None);
    keyed(&catalog, "B");
}

#[test]
fn a_database_of_the_same_name_keeps_its_set() {
    let catalog = catalog();
    let database = catalog.store().create_set("BANK", &SetAttributes::default()).unwrap();
    keyed(&catalog, "BANK");
    fill(&catalog, "BANK", &[record("1", "", "")]);
    let entry = catalog.get(&name("BANK")).unwrap().unwrap();
    assert_eq!(entry.data.unwrap().set, format!("BANK@{}", entry.number.0));
    catalog.delete(&name("BANK"), delete()).unwrap();
    assert_eq!(catalog.store().set("BANK").unwrap(), Some(database));
}

#[test]
fn user_catalogs_are_picked_by_first_qualifiers_or_by_name() {
    let catalog = catalog();
    for user in ["SALES", "UCAT.TWO"] {
        catalog.define(&name(user), Definition::UserCatalog, None).unwrap();
    }
    let alias = |of| Definition::Alias(name(of));
    catalog.define(&name("STOCK"), alias("UCAT.TWO"), None).unwrap();
    keyed(&catalog, "SALES.A");
    keyed(&catalog, "STOCK.A");
    keyed(&catalog, "OTHER.A");
    let in_catalog = |named: &str| catalog.get(&name(named)).unwrap().unwrap().catalog;
    assert_eq!(in_catalog("SALES.A"), Some(name("SALES")));
    assert_eq!(in_catalog("STOCK.A"), Some(name("UCAT.TWO")));
    assert_eq!(in_catalog("OTHER.A"), None);
    assert_eq!(in_catalog("UCAT.TWO"), None);

    // An explicit catalog, whatever the name begins with.
    let cluster = Definition::Cluster(ClusterAttributes::keyed(KEY, 80));
    catalog.define(&name("OTHER.A"), cluster, Some(&name("SALES"))).unwrap();
    let sales = catalog.within(Some(&name("SALES"))).unwrap();
    fill(&sales, "OTHER.A", &[record("1", "", "")]);
    assert_eq!((all(&sales, "OTHER.A").len(), all(&catalog, "OTHER.A").len()), (1, 0));
    let listed = catalog.list(&Filter::all(), Some(&name("SALES"))).unwrap();
    assert_eq!(names(&listed), ["OTHER.A", "SALES.A"]);

    assert!(matches!(catalog.delete(&name("SALES"), delete()), Err(CatalogError::NotEmpty(_))));
    let force = DeleteOptions { force: true, ..delete() };
    assert_eq!(catalog.delete(&name("SALES"), force).unwrap().len(), 3);
    catalog.delete(&name("STOCK.A"), delete()).unwrap();
    catalog.delete(&name("UCAT.TWO"), delete()).unwrap();
    // With its catalog an alias goes, too.
    assert_eq!(names(&catalog.list(&Filter::all(), None).unwrap()), ["OTHER.A"]);
    let nowhere = catalog.within(Some(&name("SALES"))).map(drop);
    assert!(matches!(nowhere, Err(CatalogError::NoCatalog(_))));
}

#[test]
fn an_alias_of_a_data_set_leads_to_it() {
    let catalog = catalog();
    keyed(&catalog, "LONG.NAME");
    catalog.define(&name("SHORT"), Definition::Alias(name("LONG.NAME")), None).unwrap();
    fill(&catalog, "SHORT", &[record("1", "", "")]);
    assert_eq!(all(&catalog, "LONG.NAME").len(), 1);
    let second = catalog.define(&name("SHORTER"), Definition::Alias(name("SHORT")), None);
    assert!(matches!(second, Err(CatalogError::WrongKind { .. })));
    catalog.delete(&name("SHORT"), delete()).unwrap();
    assert_eq!(all(&catalog, "LONG.NAME").len(), 1);
}

#[test]
fn what_is_to_be_kept_is_deleted_only_with_purge() {
    let catalog = catalog();
    let mut attributes = ClusterAttributes::keyed(KEY, 80);
    attributes.remarks.expires = Some(2_999_365);
    define(&catalog, "KEPT", attributes);
    let refused = catalog.delete(&name("KEPT"), delete());
    assert!(matches!(refused, Err(CatalogError::NotExpired { until: 2_999_365, .. })));
    let purge = DeleteOptions { purge: true, ..delete() };
    catalog.delete(&name("KEPT"), purge).unwrap();
    let mut attributes = ClusterAttributes::keyed(KEY, 80);
    attributes.remarks.expires = Some(1_999_365);
    define(&catalog, "KEPT", attributes);
    catalog.delete(&name("KEPT"), delete()).unwrap();
}

#[test]
fn a_renamed_cluster_keeps_its_records_and_all_that_names_it_follows() {
    let catalog = catalog();
    keyed(&catalog, "OLD");
    index(&catalog, "AIX", "OLD", |_| ());
    fill(&catalog, "OLD", &[record("1", "ANN", "")]);
    catalog.rename(&name("OLD"), &name("NEW")).unwrap();
    assert_eq!(catalog.get(&name("OLD")).unwrap(), None);
    assert_eq!(all(&catalog, "NEW"), ["1   ANN     "]);
    assert_eq!(all(&catalog, "AIX.PATH"), ["1   ANN     "]);
    catalog.rename(&name("AIX"), &name("BYNAME")).unwrap();
    assert_eq!(all(&catalog, "AIX.PATH"), ["1   ANN     "]);
    // The old name is free, in the catalog and for a set.
    keyed(&catalog, "OLD");
    assert!(all(&catalog, "OLD").is_empty());
    let taken = catalog.rename(&name("OLD"), &name("NEW"));
    assert!(matches!(taken, Err(CatalogError::Exists { .. })));
    let gone = catalog.delete(&name("NEW"), delete()).unwrap();
    assert_eq!(names(&gone), ["NEW", "BYNAME", "AIX.PATH"]);
}

#[test]
fn an_alteration_keeps_what_records_rest_on() {
    let catalog = catalog();
    keyed(&catalog, "A");
    let alter = |change: fn(&mut ClusterAttributes)| {
        catalog.alter(&name("A"), &mut |definition| {
            if let Definition::Cluster(attributes) = definition {
                change(attributes);
            }
        })
    };
    alter(|a| a.key = Some(KeyField { offset: 2, bytes: 2 })).unwrap();
    alter(|a| a.key = Some(KEY)).unwrap();
    fill(&catalog, "A", &[record("1", "", "")]);
    for change in [
        (|a: &mut ClusterAttributes| a.key = None) as fn(&mut ClusterAttributes),
        |a| a.key = Some(BY_NAME),
        |a| a.record_bytes_max = 10,
        |a| a.organization = Organization::EntrySequenced,
        |a| a.free_space.interval_percent = 101,
    ] {
        assert!(matches!(alter(change), Err(CatalogError::Attributes { .. })));
    }
    alter(|a| a.reuse = true).unwrap();
    alter(|a| a.record_bytes_max = 200).unwrap();
    let entry = catalog.get(&name("A")).unwrap().unwrap();
    assert!(entry.cluster().unwrap().reuse);
    assert_eq!(all(&catalog, "A").len(), 1);
}

#[test]
fn what_is_open_or_changed_and_not_committed_is_not_deleted() {
    let catalog = catalog();
    keyed(&catalog, "A");
    let file = open(&catalog, "A", OpenMode::InputOutput);
    let refused = catalog.delete(&name("A"), delete());
    assert!(matches!(refused, Err(CatalogError::InUse(_))));
    assert!(matches!(catalog.rename(&name("A"), &name("B")), Err(CatalogError::InUse(_))));
    let mut unit = begin(&catalog);
    let mut position = file.position().unwrap();
    file.put(&mut unit, &mut position, &record("1", "", "")).unwrap();
    drop(position);
    file.close().unwrap();
    let refused = catalog.delete(&name("A"), delete());
    assert!(matches!(refused, Err(CatalogError::InUse(_))), "{refused:?}");
    unit.commit().unwrap();
    assert_eq!(all(&catalog, "A").len(), 1);
    catalog.delete(&name("A"), delete()).unwrap();
}

#[test]
fn what_rests_on_records_waits_for_the_units_of_work_that_have_changed_them() {
    let catalog = catalog();
    let running = run_in(&Folder::new("uncommitted"));
    rests_on_what_is_committed(&catalog);
    rests_on_what_is_committed(&running.catalog);
}

fn rests_on_what_is_committed<S: Store>(catalog: &Catalog<S>) {
    keyed(catalog, "A");
    index(catalog, "N", "A", |_| {});
    fill(catalog, "A", &[record("1", "ANN", ""), record("2", "BOB", "")]);
    // A program deletes all of them, closes its file, and has not ended.
    let mut unit = begin(catalog);
    let file = open(catalog, "A", OpenMode::InputOutput);
    let (mut position, mut area) = (file.position().unwrap(), Vec::new());
    while file.get_next(&mut unit, &mut position, Intent::Update, &mut area).is_ok() {
        file.erase(&mut unit, &mut position).unwrap();
    }
    drop(position);
    file.close().unwrap();

    let in_use = |answer: Result<(), CatalogError>, what: &str| {
        assert!(matches!(answer, Err(CatalogError::InUse(_))), "{what}: {answer:?}");
    };
    in_use(catalog.build_index(&name("N")).map(drop), "BLDINDEX");
    let town = AlternateIndexAttributes::new(name("A"), BY_TOWN);
    let town = Definition::AlternateIndex(town);
    in_use(catalog.define(&name("T"), town.clone(), None).map(drop), "DEFINE AIX");
    let mut shorter = |definition: &mut Definition| {
        if let Definition::Cluster(attributes) = definition {
            attributes.key = Some(KeyField { offset: 0, bytes: 2 });
        }
    };
    in_use(catalog.alter(&name("A"), &mut shorter).map(drop), "ALTER KEYS");
    in_use(catalog.delete(&name("A"), delete()).map(drop), "DELETE");
    in_use(catalog.delete(&name("N"), delete()).map(drop), "DELETE of the index");
    let redirection = Redirection {
        owner: RecordOwner::Vsam,
        to: "elsewhere".into(),
        object: "A".into(),
        page: None,
        source: SourceId([1; 16]),
    };
    in_use(catalog.redirect(&name("A"), &redirection).map(drop), "redirect");
    // It was not defined with REUSE, and what is there to be seen is nothing.
    let options = OpenOptions::default();
    let loads = |unit: Option<&mut S::Unit>| {
        catalog.open_file_within(unit, &name("A"), OpenMode::Output, &options)
    };
    let mut another = begin(catalog);
    for unit in [None, Some(&mut another)] {
        let refused = loads(unit).map(drop);
        let in_use = matches!(refused, Err(OpenError::Catalog(CatalogError::InUse(_))));
        assert!(in_use, "{refused:?}");
    }
    loads(Some(&mut unit)).unwrap().close().unwrap();
    unit.backout().unwrap();

    assert_eq!(all(catalog, "A"), ["1   ANN     ", "2   BOB     "]);
    assert_eq!(all(catalog, "N.PATH"), ["1   ANN     ", "2   BOB     "]);
    let refused = catalog.alter(&name("A"), &mut shorter);
    assert!(matches!(refused, Err(CatalogError::Attributes { .. })), "{refused:?}");
    assert_eq!(catalog.build_index(&name("N")).unwrap(), 2);
    let made = catalog.define(&name("T"), town, None).unwrap();
    assert_eq!(made.entry.state, State::Unbuilt);
}

#[test]
fn two_that_load_what_both_have_changed_are_refused_and_wait_for_nobody() {
    load_what_both_have_changed(&catalog());
    load_what_both_have_changed(&run_in(&Folder::new("both")).catalog);
}

fn load_what_both_have_changed<S: Store>(catalog: &Catalog<S>) {
    let reuse = ClusterAttributes { reuse: true, ..ClusterAttributes::keyed(KEY, 80) };
    let share = ShareOptions { regions: Share::Anybody, ..reuse.share };
    define(catalog, "W", ClusterAttributes { share, ..reuse });
    let add = |unit: &mut S::Unit, key: &str| {
        let options = OpenOptions { record_level: true, ..OpenOptions::default() };
        let file = catalog.open_file(&name("W"), OpenMode::InputOutput, &options).unwrap();
        let mut position = file.position().unwrap();
        file.put(unit, &mut position, &record(key, "", "")).unwrap();
        drop(position);
        file.close().unwrap();
    };
    let loads = |unit: &mut S::Unit| {
        let options = OpenOptions::default();
        catalog.open_file_within(Some(unit), &name("W"), OpenMode::Output, &options).map(drop)
    };
    let (mut one, mut two) = (begin(catalog), begin(catalog));
    add(&mut one, "1");
    add(&mut two, "5");
    for unit in [&mut one, &mut two] {
        let refused = loads(unit);
        let in_use = matches!(refused, Err(OpenError::Catalog(CatalogError::InUse(_))));
        assert!(in_use, "{refused:?}");
        assert!(unit.failure().is_none());
    }
    two.commit().unwrap();
    loads(&mut one).unwrap();
    one.backout().unwrap();
    assert_eq!(all(catalog, "W"), ["5           "]);
}

#[test]
fn an_index_over_records_is_built_before_it_is_used() {
    let catalog = catalog();
    keyed(&catalog, "K");
    let records =
        [record("1", "BOB", "ROM"), record("2", "ANN", "ROM"), record("3", "BOB", "OSLO")];
    fill(&catalog, "K", &records);
    index(&catalog, "N", "K", |_| ());
    assert_eq!(catalog.get(&name("N")).unwrap().unwrap().state, State::Unbuilt);
    let opened = catalog.open_file(&name("N.PATH"), OpenMode::Input, &Default::default());
    assert!(matches!(opened.map(drop), Err(OpenError::NotBuilt(_))));
    assert_eq!(catalog.build_index(&name("N.PATH")).unwrap(), 3);
    assert_eq!(all(&catalog, "N.PATH"), ["2   ANN ROM ", "1   BOB ROM ", "3   BOB OSLO"]);
    index(&catalog, "U", "K", |attributes| (attributes.key, attributes.unique) = (BY_TOWN, true));
    match catalog.build_index(&name("U")) {
        Err(CatalogError::DuplicateKey { key, .. }) => assert_eq!(key, "ROM "),
        other => panic!("{other:?}"),
    }
    let file = open(&catalog, "K", OpenMode::Input);
    assert!(matches!(catalog.build_index(&name("N")), Err(CatalogError::InUse(_))));
    drop(file);
    assert!(matches!(catalog.build_index(&name("K")), Err(CatalogError::WrongKind { .. })));
}

#[test]
fn what_rests_on_nothing_is_refused() {
    let catalog = catalog();
    let index = AlternateIndexAttributes::new(name("NONE"), BY_NAME);
    let path = PathAttributes { entry: name("NONE"), update: true };
    for definition in
        [Definition::AlternateIndex(index), Definition::Path(path), Definition::Alias(name("NONE"))]
    {
        let refused = catalog.define(&name("X"), definition, None);
        assert!(matches!(refused, Err(CatalogError::NotFound(_))), "{refused:?}");
    }
    let file = NonVsamAttributes::default();
    catalog.define(&name("FLAT"), Definition::NonVsam(file), None).unwrap();
    let path = PathAttributes { entry: name("FLAT"), update: true };
    let refused = catalog.define(&name("X"), Definition::Path(path), None);
    assert!(matches!(refused, Err(CatalogError::WrongKind { .. })));
    let opened = catalog.open_file(&name("FLAT"), OpenMode::Input, &Default::default());
    assert!(matches!(opened.map(drop), Err(OpenError::Catalog(CatalogError::WrongKind { .. }))));
    keyed(&catalog, "K");
    let long = AlternateIndexAttributes::new(name("K"), KeyField { offset: 79, bytes: 2 });
    let refused = catalog.define(&name("X"), Definition::AlternateIndex(long), None);
    assert!(matches!(refused, Err(CatalogError::Attributes { .. })));
}

#[test]
fn what_was_done_is_counted_and_kept() {
    let catalog = catalog();
    keyed(&catalog, "K");
    fill(&catalog, "K", &[record("1", "", ""), record("2", "", ""), record("3", "", "")]);
    let file = open(&catalog, "K", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    let mut unit = begin(&catalog);
    let mut read = Vec::new();
    file.get_next(&mut unit, &mut position, Intent::Update, &mut read).unwrap();
    file.rewrite(&mut unit, &mut position, &record("1", "NEW", "")).unwrap();
    file.get_next(&mut unit, &mut position, Intent::Update, &mut read).unwrap();
    file.erase(&mut unit, &mut position).unwrap();
    unit.commit().unwrap();
    drop(position);
    file.close().unwrap();
    let entry = catalog.get(&name("K")).unwrap().unwrap();
    let counted = catalog.statistics(&entry).unwrap();
    let wanted = vsam::Statistics { records: 2, inserted: 3, deleted: 1, updated: 1, retrieved: 2 };
    assert_eq!(counted, wanted);
}

#[test]
fn an_entry_whose_name_picks_another_catalog_is_not_listed_as_if_it_were_found() {
    let catalog = catalog();
    keyed(&catalog, "PAY.A");
    keyed(&catalog, "PAY.B");
    fill(&catalog, "PAY.A", &[record("1", "", "")]);
    catalog.define(&name("UCAT"), Definition::UserCatalog, None).unwrap();
    catalog.define(&name("PAY"), Definition::Alias(name("UCAT")), None).unwrap();
    keyed(&catalog, "PAY.A");
    let listed = catalog.list(&Filter::all(), None).unwrap();
    assert_eq!(names(&listed), ["PAY", "PAY.A", "UCAT"]);
    assert_eq!(listed[1].catalog, Some(name("UCAT")));
    let hidden = catalog.hidden(&Filter::all()).unwrap();
    assert_eq!(names(&hidden), ["PAY.A", "PAY.B"]);
    assert!(hidden.iter().all(|entry| entry.catalog.is_none()));
    // Without the alias they are found again, as they were.
    catalog.delete(&name("PAY"), delete()).unwrap();
    assert_eq!(all(&catalog, "PAY.A").len(), 1);
    assert_eq!(catalog.hidden(&Filter::all()).unwrap().len(), 1);
}
