//! Generation data groups in the catalog.

#![allow(clippy::unwrap_used)] // a test that fails says where

use store::Store;
use vsam::{
    Catalog, CatalogError, ClusterAttributes, DataSetName, Definition, DeleteOptions, Filter,
    GenerationGroupAttributes, NonVsamAttributes, OpenMode, OpenOptions, Organization, Remarks,
};

use crate::common::{all, catalog, fill, name, other};

fn group<S: Store>(catalog: &Catalog<S>, limit: u16, empty: bool, scratch: bool) {
    let remarks = Remarks::default();
    let attributes = GenerationGroupAttributes { limit, empty, scratch, remarks };
    catalog.define(&name("LOG"), Definition::GenerationGroup(attributes), None).unwrap();
}

fn next<S: Store>(catalog: &Catalog<S>) -> vsam::Defined {
    let new = catalog.generation(&name("LOG"), 1).unwrap();
    let file = Some(format!("/data/{new}"));
    let attributes = NonVsamAttributes { file, ..NonVsamAttributes::default() };
    catalog.define(&new, Definition::NonVsam(attributes), None).unwrap()
}

#[test]
fn generations_are_found_by_relative_numbers_and_leave_past_the_limit() {
    let catalog = catalog();
    group(&catalog, 2, false, true);
    let none = catalog.generation(&name("LOG"), 0);
    assert!(matches!(none, Err(CatalogError::NoGeneration { relative: 0, .. })));
    assert_eq!(next(&catalog).rolled_off, vec![]);
    assert_eq!(next(&catalog).rolled_off, vec![]);
    let third = next(&catalog);
    assert_eq!(third.entry.name, name("LOG.G0003V00"));
    assert!(third.scratch);
    let rolled: Vec<_> = third.rolled_off.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(rolled, ["LOG.G0001V00"]);
    assert_eq!(catalog.get(&name("LOG.G0001V00")).unwrap(), None);
    assert_eq!(catalog.generation(&name("LOG"), 0).unwrap(), name("LOG.G0003V00"));
    assert_eq!(catalog.generation(&name("LOG"), -1).unwrap(), name("LOG.G0002V00"));
    assert!(catalog.generation(&name("LOG"), -2).is_err());
    // What is deleted is no generation any more.
    catalog.delete(&name("LOG.G0003V00"), DeleteOptions::default()).unwrap();
    assert_eq!(catalog.generation(&name("LOG"), 0).unwrap(), name("LOG.G0002V00"));
}

#[test]
fn a_generation_that_is_open_stays_and_none_is_defined_for_it() {
    let catalog = catalog();
    group(&catalog, 1, false, true);
    other(&catalog, "LOG.G0001V00", Organization::EntrySequenced);
    fill(&catalog, "LOG.G0001V00", &[b"first".to_vec()]);
    let options = OpenOptions::default();
    let file = catalog.open_file(&name("LOG.G0001V00"), OpenMode::Input, &options).unwrap();
    let attributes = ClusterAttributes::new(Organization::EntrySequenced);
    let define = || {
        let definition = Definition::Cluster(attributes.clone());
        catalog.define(&name("LOG.G0002V00"), definition, None)
    };
    assert!(matches!(define(), Err(CatalogError::InUse(_))));
    assert_eq!(catalog.get(&name("LOG.G0002V00")).unwrap(), None);
    assert_eq!(catalog.generation(&name("LOG"), 0).unwrap(), name("LOG.G0001V00"));
    let refused =
        catalog.define_within_limit(&name("LOG.G0002V00"), Definition::Cluster(attributes.clone()));
    assert!(matches!(refused, Err(CatalogError::InUse(_) | CatalogError::GroupFull(_))));
    file.close().unwrap();
    let refused =
        catalog.define_within_limit(&name("LOG.G0002V00"), Definition::Cluster(attributes.clone()));
    assert!(matches!(refused, Err(CatalogError::GroupFull(_))));
    assert!(!all(&catalog, "LOG.G0001V00").is_empty());
    assert_eq!(define().unwrap().rolled_off.len(), 1);
    assert_eq!(catalog.generation(&name("LOG"), 0).unwrap(), name("LOG.G0002V00"));
}

#[test]
fn an_empty_group_begins_again_past_its_limit() {
    let catalog = catalog();
    group(&catalog, 2, true, false);
    (0..2).for_each(|_| drop(next(&catalog)));
    assert_eq!(next(&catalog).rolled_off.len(), 2);
    assert_eq!(catalog.generation(&name("LOG"), 0).unwrap(), name("LOG.G0003V00"));
    let kept = catalog.delete(&name("LOG"), DeleteOptions::default());
    assert!(matches!(kept, Err(CatalogError::NotEmpty(_))));
    let force = DeleteOptions { force: true, ..DeleteOptions::default() };
    assert_eq!(catalog.delete(&name("LOG"), force).unwrap().len(), 2);
    assert_eq!(catalog.list(&Filter::all(), None).unwrap(), vec![]);
}

#[test]
fn a_cluster_can_be_a_generation_and_goes_with_its_records() {
    let catalog = catalog();
    group(&catalog, 1, false, true);
    other(&catalog, "LOG.G0001V00", Organization::EntrySequenced);
    fill(&catalog, "LOG.G0001V00", &[b"first".to_vec()]);
    other(&catalog, "LOG.G0002V00", Organization::EntrySequenced);
    assert_eq!(catalog.get(&name("LOG.G0001V00")).unwrap(), None);
    assert_eq!(catalog.store().set("LOG.G0001V00").unwrap(), None);
    assert!(all(&catalog, "LOG.G0002V00").is_empty());
    let limit = GenerationGroupAttributes {
        limit: 0,
        empty: false,
        scratch: false,
        remarks: Remarks::default(),
    };
    let refused = catalog.define(&name("X"), Definition::GenerationGroup(limit), None);
    assert!(matches!(refused, Err(CatalogError::Attributes { .. })));
}

#[test]
fn a_generation_of_a_step_joins_its_group_with_the_unit_of_work_that_ends_it() {
    use store::Unit as _;
    let catalog = catalog();
    group(&catalog, 1, false, true);
    other(&catalog, "LOG.G0001V00", Organization::EntrySequenced);
    let new = name("LOG.G0002V00");
    let attributes = ClusterAttributes::new(Organization::EntrySequenced);
    let define = || catalog.define_deferred(&new, Definition::Cluster(attributes.clone()));
    let newest = || catalog.generation(&name("LOG"), 0).unwrap();
    let begin = || catalog.store().begin(vsam::unit_options()).unwrap();

    // Another step cannot make it, too.
    let first = define().unwrap();
    assert!(matches!(define(), Err(CatalogError::InUse(_))));
    assert_eq!(newest(), name("LOG.G0001V00"));
    first.give_up().unwrap();
    assert_eq!(catalog.get(&new).unwrap(), None);

    // What is backed out has not joined; what a step left behind is made anew.
    let second = define().unwrap();
    fill(&catalog, "LOG.G0002V00", &[b"left".to_vec()]);
    let mut unit = begin();
    assert_eq!(second.join(&mut unit).unwrap(), [name("LOG.G0001V00")]);
    unit.backout().unwrap();
    drop(second);
    assert_eq!(newest(), name("LOG.G0001V00"));
    let third = define().unwrap();
    assert!(all(&catalog, "LOG.G0002V00").is_empty());

    let mut unit = begin();
    let left = third.join(&mut unit).unwrap();
    unit.commit().unwrap();
    assert_eq!(newest(), new);
    third.joined(&left).unwrap();
    assert_eq!(catalog.get(&name("LOG.G0001V00")).unwrap(), None);
    assert!(matches!(define(), Err(CatalogError::Exists { .. })));
}

/// The generations of the group, the newest first.
fn members<S: Store>(catalog: &Catalog<S>) -> Vec<String> {
    let of = |back: i32| catalog.generation(&name("LOG"), -back).ok();
    (0..).map_while(of).map(|name| name.to_string()).collect()
}

#[test]
fn what_is_renamed_away_from_its_group_is_not_deleted_with_the_oldest() {
    let catalog = catalog();
    group(&catalog, 3, false, true);
    for number in 1..=3 {
        let named = format!("LOG.G000{number}V00");
        other(&catalog, &named, Organization::EntrySequenced);
        fill(&catalog, &named, &[named.clone().into_bytes()]);
    }
    catalog.rename(&name("LOG.G0001V00"), &name("SAVE.COPY")).unwrap();
    assert_eq!(members(&catalog), ["LOG.G0003V00", "LOG.G0002V00"]);
    // Nothing leaves for the fourth, which is the third now; then the second does.
    for number in 4..=5 {
        other(&catalog, &format!("LOG.G000{number}V00"), Organization::EntrySequenced);
    }
    assert_eq!(members(&catalog), ["LOG.G0005V00", "LOG.G0004V00", "LOG.G0003V00"]);
    assert_eq!(all(&catalog, "SAVE.COPY"), ["LOG.G0001V00"]);
    assert_eq!(catalog.get(&name("LOG.G0002V00")).unwrap(), None);

    // Back again it would be the oldest: nothing leaves for a change of name.
    let refused = catalog.rename(&name("SAVE.COPY"), &name("LOG.G0006V00"));
    assert!(matches!(refused, Err(CatalogError::Attributes { .. })), "{refused:?}");
    assert_eq!(all(&catalog, "SAVE.COPY"), ["LOG.G0001V00"]);
    catalog.delete(&name("LOG.G0004V00"), DeleteOptions::default()).unwrap();
    catalog.rename(&name("SAVE.COPY"), &name("LOG.G0006V00")).unwrap();
    assert_eq!(members(&catalog), ["LOG.G0006V00", "LOG.G0005V00", "LOG.G0003V00"]);
    catalog.rename(&name("LOG.G0003V00"), &name("LOG.G0003V01")).unwrap();
    assert_eq!(members(&catalog), ["LOG.G0006V00", "LOG.G0005V00", "LOG.G0003V01"]);

    // A group keeps its name as long as its generations are called as it.
    let refused = catalog.rename(&name("LOG"), &name("OTHER"));
    assert!(matches!(refused, Err(CatalogError::Attributes { .. })), "{refused:?}");
    assert_eq!(members(&catalog).len(), 3);
}

#[test]
fn a_file_that_was_renamed_away_keeps_its_entry_and_a_later_one_of_that_name_its_own() {
    let catalog = catalog();
    group(&catalog, 2, false, true);
    (0..2).for_each(|_| drop(next(&catalog)));
    catalog.rename(&name("LOG.G0001V00"), &name("SAVE.COPY")).unwrap();
    assert_eq!(next(&catalog).rolled_off, vec![]);
    catalog.delete(&name("SAVE.COPY"), DeleteOptions::default()).unwrap();
    other(&catalog, "SAVE.COPY", Organization::EntrySequenced);
    fill(&catalog, "SAVE.COPY", &[b"another".to_vec()]);
    for _ in 0..3 {
        let rolled = next(&catalog).rolled_off;
        assert!(rolled.iter().all(|old| old.name.as_str().starts_with("LOG.")), "{rolled:?}");
    }
    assert_eq!(all(&catalog, "SAVE.COPY"), ["another"]);
}

#[test]
fn a_step_makes_no_generation_where_a_cluster_has_its_name_that_no_step_has_made() {
    let catalog = catalog();
    other(&catalog, "LOG.G0001V00", Organization::EntrySequenced);
    fill(&catalog, "LOG.G0001V00", &[b"loaded".to_vec()]);
    group(&catalog, 3, false, true);
    let new = catalog.generation(&name("LOG"), 1).unwrap();
    assert_eq!(new, name("LOG.G0001V00"));
    let attributes = ClusterAttributes::new(Organization::EntrySequenced);
    let define =
        |new: &DataSetName| catalog.define_deferred(new, Definition::Cluster(attributes.clone()));
    let refused = define(&new);
    assert!(matches!(refused.map(drop), Err(CatalogError::Exists { .. })));
    assert_eq!(all(&catalog, "LOG.G0001V00"), ["loaded"]);

    // Nor where one that a step has made was renamed to it.
    let made = define(&name("LOG.G0002V00")).unwrap();
    fill(&catalog, "LOG.G0002V00", &[b"made".to_vec()]);
    catalog.rename(&name("LOG.G0002V00"), &name("KEPT")).unwrap();
    made.give_up().unwrap();
    assert_eq!(all(&catalog, "KEPT"), ["made"]);
    catalog.delete(&name("LOG.G0001V00"), DeleteOptions::default()).unwrap();
    catalog.rename(&name("KEPT"), &name("LOG.G0001V00")).unwrap();
    assert!(matches!(define(&new).map(drop), Err(CatalogError::Exists { .. })));
    assert_eq!(all(&catalog, "LOG.G0001V00"), ["made"]);
    assert_eq!(members(&catalog), ["LOG.G0001V00"]);
}

#[test]
fn a_generation_with_changes_that_are_not_committed_does_not_leave() {
    use store::Unit as _;
    let catalog = catalog();
    group(&catalog, 1, false, true);
    other(&catalog, "LOG.G0001V00", Organization::EntrySequenced);
    // Its file is closed before the unit of work ends.
    let file = crate::common::open(&catalog, "LOG.G0001V00", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    let mut unit = catalog.store().begin(vsam::unit_options()).unwrap();
    file.put(&mut unit, &mut position, b"first").unwrap();
    drop(position);
    file.close().unwrap();
    let attributes = ClusterAttributes::new(Organization::EntrySequenced);
    let new = name("LOG.G0002V00");
    let define = || catalog.define(&new, Definition::Cluster(attributes.clone()), None);
    assert!(matches!(define(), Err(CatalogError::InUse(_))));
    assert_eq!(catalog.get(&new).unwrap(), None);
    assert_eq!(catalog.generation(&name("LOG"), 0).unwrap(), name("LOG.G0001V00"));
    unit.commit().unwrap();
    assert_eq!(all(&catalog, "LOG.G0001V00"), ["first"]);
    assert_eq!(define().unwrap().rolled_off.len(), 1);
}

#[test]
fn a_generation_leaves_with_its_indexes_and_paths() {
    let catalog = catalog();
    group(&catalog, 1, false, true);
    crate::common::keyed(&catalog, "LOG.G0001V00");
    crate::common::index(&catalog, "LOG.AIX", "LOG.G0001V00", |_| {});
    crate::common::keyed(&catalog, "LOG.G0002V00");
    for gone in ["LOG.G0001V00", "LOG.AIX", "LOG.AIX.PATH"] {
        assert_eq!(catalog.get(&name(gone)).unwrap(), None, "{gone}");
        assert_eq!(catalog.store().set(gone).unwrap(), None, "{gone}");
    }
    // Their names are free.
    crate::common::index(&catalog, "LOG.AIX", "LOG.G0002V00", |_| {});
}
