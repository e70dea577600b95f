//! Databases as a whole: loaded, unloaded, verified, their indexes built, emptied.

use std::path::Path;

use definitions::resolve::{Nothing, Overlay};
use definitions::{DbdName, compile};
use macros::{NoMembers, Sources};
use placement::{Placement, Settings};
use proptest::prelude::*;
use store::SetId;
use store_suite::model::ModelStore;

use super::*;
use crate::number::Numbering;
use crate::value::Deleted;
use crate::verify::Report;

mod pairs;

const SOURCE: &str = "* A SMALL WORLD
         DBD   NAME=CUSTDB,ACCESS=(HIDAM,VSAM)
         DATASET DD1=CUSTDD
         SEGM  NAME=CUSTOMER,PARENT=0,BYTES=12
         FIELD NAME=(CUSTNO,SEQ,U),START=1,BYTES=4
         FIELD NAME=CITY,START=5,BYTES=2
         LCHILD NAME=(CUSTKEY,CUSTPX),PTR=INDX
         LCHILD NAME=(CITYKEY,CITYIX),PTR=INDX
         XDFLD NAME=XCITY,SRCH=CITY,NULLVAL=BLANK
         SEGM  NAME=ACCOUNT,PARENT=CUSTOMER,BYTES=6
         FIELD NAME=(KIND,SEQ,M),START=1,BYTES=2
         SEGM  NAME=NOTE,PARENT=ACCOUNT,BYTES=(20,4)
         SEGM  NAME=ADDRESS,PARENT=CUSTOMER,BYTES=5,PTR=NOTWIN
         DBDGEN
         FINISH
         END
         DBD   NAME=CUSTPX,ACCESS=(INDEX,VSAM)
         DATASET DD1=CUSTPXDD
         SEGM  NAME=CUSTKEY,PARENT=0,BYTES=4
         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=4
         LCHILD NAME=(CUSTOMER,CUSTDB),INDEX=CUSTNO
         DBDGEN
         FINISH
         END
         DBD   NAME=CITYIX,ACCESS=(INDEX,VSAM)
         DATASET DD1=CITYDD,OVFLW=CITYOV
         SEGM  NAME=CITYKEY,PARENT=0,BYTES=2
         FIELD NAME=(KEY,SEQ,M),START=1,BYTES=2
         LCHILD NAME=(CUSTOMER,CUSTDB),INDEX=XCITY
         DBDGEN
         FINISH
         END
         DBD   NAME=PARTDB,ACCESS=(HDAM,OSAM),RMNAME=(PARTRAND,2,10)
         DATASET DD1=PARTDD
         SEGM  NAME=PART,PARENT=0,BYTES=6
         FIELD NAME=(PARTNO,SEQ,U),START=1,BYTES=3
         LCHILD NAME=(LINE,ORDERDB)
         DBDGEN
         FINISH
         END
         DBD   NAME=ORDERDB,ACCESS=(HISAM,VSAM)
         DATASET DD1=ORDERDD,OVFLW=ORDEROV
         SEGM  NAME=ORDER,PARENT=0,BYTES=8
         FIELD NAME=(ORDERNO,SEQ,U),START=1,BYTES=4
         SEGM  NAME=LINE,PARENT=((ORDER,SNGL),(PART,P,PARTDB)),BYTES=5
         FIELD NAME=(PARTNO,SEQ,U),START=1,BYTES=3
         DBDGEN
         FINISH
         END
         DBD   NAME=HISTDB,ACCESS=(PHDAM,OSAM),RMNAME=(HISTRAND,1,50)
         SEGM  NAME=DAY,PARENT=0,BYTES=6
         FIELD NAME=(DATE,SEQ,U),START=1,BYTES=4
         FIELD NAME=KIND,START=5,BYTES=2
         LCHILD NAME=(KINDKEY,KINDIX),PTR=INDX
         FIELD NAME=/SX1
         XDFLD NAME=XKIND,SRCH=KIND,SUBSEQ=/SX1
         SEGM  NAME=DEED,PARENT=DAY,BYTES=3
         DBDGEN
         FINISH
         END
         DBD   NAME=KINDIX,ACCESS=(PSINDEX,VSAM)
         SEGM  NAME=KINDKEY,PARENT=0,BYTES=10
         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=10
         LCHILD NAME=(DAY,HISTDB),INDEX=XKIND
         DBDGEN
         FINISH
         END
";

struct World {
    store: ModelStore,
    definitions: Overlay<'static>,
}

impl World {
    fn new() -> World {
        World::of(SOURCE)
    }

    fn of(source: &str) -> World {
        let mut sources = Sources::default();
        let program = macros::read(&mut sources, Path::new("world"), source.as_bytes(), &NoMembers);
        let compiled = compile(&program);
        assert!(compiled.diagnostics.is_empty(), "{:#?}", compiled.diagnostics);
        let mut definitions = Overlay::new(&Nothing);
        for member in compiled.members {
            definitions.add(member.member.unwrap());
        }
        World { store: ModelStore::new(), definitions }
    }

    fn open(&self, name: &str) -> Arc<Database> {
        let name = DbdName::new(name).unwrap();
        let mut settings = Settings::default();
        let partition = |name: &str, high_key: Option<&str>| placement::PartitionSettings {
            name: name.into(),
            high_key: high_key.map(str::to_owned),
            ..placement::PartitionSettings::default()
        };
        let own = settings.databases.entry("HISTDB".into()).or_default();
        own.partitions = vec![partition("OLD", Some("0009")), partition("NEW", None)];
        let mut placements = |dbd: &definitions::Dbd| {
            Placement::new(dbd, &settings, &mut |_| Ok(Vec::new()))
                .map_err(|error| Arc::new(error).into())
        };
        Arc::new(Database::open(&self.store, name, &self.definitions, &mut placements).unwrap())
    }

    fn load(&self, database: &Database, segments: &[(u8, Vec<u8>)]) -> Result<Loaded> {
        self.load_within(database, segments, ROOM)
    }

    fn load_within(
        &self,
        database: &Database,
        segments: &[(u8, Vec<u8>)],
        room: usize,
    ) -> Result<Loaded> {
        let mut input = List(segments.iter());
        let mut others = |name: DbdName| Ok(self.open(name.text()));
        database.load_within(&self.store, &mut others, &mut input, room)
    }

    fn verify(&self, database: &Database) -> Report {
        let mut others = |name: DbdName| Ok(self.open(name.text()));
        database.verify(&self.store, &mut others, |_| {}).unwrap()
    }
}

struct List<'l>(std::slice::Iter<'l, (u8, Vec<u8>)>);

impl Input for List<'_> {
    fn next_segment(&mut self) -> std::result::Result<Option<Given<'_>>, InputError> {
        let next = self.0.next();
        Ok(next.map(|(code, data)| Given {
            of: TypeAt(code.wrapping_sub(1)),
            data,
            deleted: Deleted::default(),
        }))
    }
}

fn seg(code: u8, data: &str) -> (u8, Vec<u8>) {
    (code, data.as_bytes().to_vec())
}

fn note(text: &str) -> (u8, Vec<u8>) {
    let mut data = (text.len() as u16 + 2).to_be_bytes().to_vec();
    data.extend_from_slice(text.as_bytes());
    (3, data)
}

fn unloaded(world: &World, database: &Database) -> Vec<(u8, Vec<u8>)> {
    let mut all = Vec::new();
    let mut others = |name: DbdName| Ok(world.open(name.text()));
    let give = |of: TypeAt, deleted: Deleted, data: &[u8]| {
        assert!(!deleted.physically);
        all.push((of.code(), data.to_vec()));
        Ok(())
    };
    database.unload(&world.store, &mut others, give).unwrap();
    all
}

fn customers() -> Vec<(u8, Vec<u8>)> {
    vec![
        seg(1, "0001BNADAMS "),
        seg(2, "AA0001"),
        note("first"),
        note("first"),
        note("NO"),
        seg(2, "AA0000"),
        seg(2, "BB0001"),
        note("other"),
        seg(4, "HERE "),
        seg(1, "0002  NOBODY"),
        seg(1, "0003BNCLARK "),
        seg(4, "THERE"),
    ]
}

#[test]
fn what_is_loaded_comes_out_as_it_went_in() {
    let world = World::new();
    let database = world.open("CUSTDB");
    let loaded = world.load(&database, &customers()).unwrap();
    let city = DbdName::new("CITYIX").unwrap();
    let expected = Loaded { segments: 12, indexes: vec![(city, 2)], ..Loaded::default() };
    assert_eq!(loaded, expected);
    assert_eq!(unloaded(&world, &database), customers());
    let report = world.verify(&database);
    assert_eq!((report.segments, report.entries, report.findings), (12, 2, Vec::new()));
    let counts = database.count(&world.store, |_| {}).unwrap();
    let counts: Vec<u64> = counts.iter().map(|count| count.segments).collect();
    assert_eq!(counts, [3, 3, 4, 2]);
    assert!(matches!(world.load(&database, &customers()), Err(HierarchyError::NotEmpty(_))));
    database.empty(&world.store).unwrap();
    assert_eq!(world.verify(&database), Report::default());
    // However little room there is, what comes in order is in order.
    for room in [1, 40, 100] {
        let loaded = world.load_within(&database, &customers(), room).unwrap();
        assert_eq!(loaded, expected);
        assert_eq!(unloaded(&world, &database), customers());
        assert_eq!(world.verify(&database).findings, []);
        database.empty(&world.store).unwrap();
    }
    let turned: Vec<_> = customers().into_iter().rev().filter(|(code, _)| *code == 1).collect();
    assert!(world.load(&database, &turned).unwrap().out_of_order);
    assert_eq!(unloaded(&world, &database).len(), 3);
}

#[test]
fn what_cannot_be_loaded_is_named_and_nothing_stays() {
    let world = World::new();
    let database = world.open("CUSTDB");
    let changed = |at: usize, with: (u8, Vec<u8>)| {
        let mut segments = customers();
        segments[at] = with;
        segments
    };
    for (segments, words) in [
        (changed(1, seg(2, "AA001")), &["segment number 2", "ACCOUNT", "'0001AA'", "5 bytes"][..]),
        (changed(2, (3, vec![0, 9, 1])), &["number 3", "NOTE", "says 9"]),
        (changed(9, seg(1, "0001BNADAMS ")), &["number 10", "CUSTOMER", "already", "II"]),
        (changed(10, seg(3, "\0\u{4}AA")), &["number 11", "NOTE", "parent"]),
        (changed(6, seg(9, "BB0001")), &["number 7", "code 9"]),
        (changed(7, seg(4, "TWICE")), &["number 9", "ADDRESS", "NOTWIN"]),
    ] {
        for room in [ROOM, 1] {
            let error = world.load_within(&database, &segments, room).unwrap_err();
            let text = error.to_string();
            assert!(words.iter().all(|word| text.contains(word)), "{words:?} in {text}");
            assert!(state::is_empty(&world.store, &database).unwrap());
            state::admit_whole(&world.store, &database).unwrap();
        }
    }
    assert_eq!(unloaded(&world, &database), []);
}

#[test]
fn a_path_that_is_too_long_is_named() {
    let mut source = "* DEEP\n         DBD   NAME=DEEPDB,ACCESS=(HDAM,OSAM),RMNAME=(DEEPRAND)
         DATASET DD1=DEEPDD\n"
        .to_owned();
    for level in 1..=9 {
        let above = if level == 1 { "0".into() } else { format!("S{}", level - 1) };
        source += &format!("         SEGM  NAME=S{level},PARENT={above},BYTES=240\n");
        source += "         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=240\n";
    }
    let world = World::of(&(source + "         DBDGEN\n"));
    let database = world.open("DEEPDB");
    let segments: Vec<_> = (1..=9).map(|code| (code, vec![b'K'; 240])).collect();
    world.load(&database, &segments[..8]).unwrap();
    database.empty(&world.store).unwrap();
    let error = world.load(&database, &segments).unwrap_err().to_string();
    assert!(error.contains("number 9, S9") && error.contains("more than 2000"), "{error}");
}

#[test]
fn a_load_that_was_broken_off_is_never_taken_for_a_loaded_database() {
    let world = World::new();
    let database = world.open("CUSTDB");
    state::begin_load(&world.store, &database).unwrap();
    let whole = state::admit_whole(&world.store, &database);
    assert!(matches!(whole, Err(HierarchyError::Loading(_))));
    // It has left nothing, so it may begin again.
    world.load(&database, &customers()).unwrap();
    state::admit_whole(&world.store, &database).unwrap();
    state::record(&world.store, &database, State::Loading).unwrap();
    assert!(matches!(world.load(&database, &[]), Err(HierarchyError::Loading(_))));
}

#[test]
fn settings_do_not_change_under_data() {
    let world = World::new();
    let database = world.open("CUSTDB");
    world.load(&database, &customers()).unwrap();
    let mut settings = Settings::default();
    let own = settings.databases.entry("CUSTDB".into()).or_default();
    own.collation = placement::Collation::Ebcdic;
    let placement = Placement::new(&database.schema.dbd, &settings, &mut |_| Ok(vec![])).unwrap();
    let mut other = (*database).clone();
    other.schema = crate::Schema::new(
        &database.schema.dbd,
        Arc::new(placement.clone()),
        |at| database.schema.of(at).has_identity,
        |_| false,
    );
    let recorded = state::layout(&database.schema);
    let dbd = &database.schema.dbd;
    let layout = state::layout_of(dbd, &world.definitions, placement, &recorded).unwrap();
    assert_eq!(layout, state::layout(&other.schema));
    assert!(matches!(state::admit(&world.store, &other), Err(HierarchyError::Placed(_))));
    database.empty(&world.store).unwrap();
    assert_eq!(state::admit(&world.store, &other).unwrap(), State::Ready);
    assert_eq!(state::admit(&world.store, &database).unwrap(), State::Ready);
}

/// The source without a secondary index.
fn without_index(lines: &[&str]) -> String {
    let kept = |line: &&str| lines.iter().all(|gone| !line.contains(gone));
    SOURCE.lines().filter(kept).map(|line| format!("{line}\n")).collect()
}

fn entries_of(world: &World, set: SetId) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut unit = world.store.begin(UnitOptions::READ_ONLY).unwrap();
    let (mut cursor, mut all) = (world.store.cursor(set).unwrap(), Vec::new());
    while let Some(entry) = unit.next(&mut cursor, Read::Unlocked).unwrap() {
        all.push((entry.key.to_vec(), entry.value.to_vec()));
    }
    all
}

#[test]
fn an_index_of_equal_keys_is_built_over_data_and_taken_off_without_a_reload() {
    let days: Vec<_> = (0..40)
        .flat_map(|day| [seg(1, &format!("{day:04}AA")), seg(2, "ONE"), seg(2, "TWO")])
        .collect();
    let cases = [
        ("CUSTDB", &["CITYKEY,CITYIX", "XCITY,SRCH"][..], customers(), 2),
        ("HISTDB", &["KINDKEY,KINDIX", "XKIND,SRCH", "/SX1"], days, 40),
    ];
    for (name, lines, segments, entries) in cases {
        let mut world = World::of(&without_index(lines));
        world.load(&world.open(name), &segments).unwrap();
        let plain: Vec<_> =
            world.open(name).sets.iter().map(|set| entries_of(&world, *set)).collect();
        // The index is new: its database is refused, and nothing else.
        let without = std::mem::replace(&mut world.definitions, World::new().definitions);
        let database = world.open(name);
        let due = state::admit_whole(&world.store, &database);
        assert!(matches!(due, Err(HierarchyError::IndexDue { .. })), "{due:?}");
        let kept = unloaded(&world, &database);
        let index = database.indexes[0].index.dbd;
        let layout = state::layout(&database.schema);
        let named = state::unnumbered(&database.schema.dbd, &world.definitions, &layout);
        assert_eq!((named.len(), named[0].0), (1, index));
        let built = database.build_indexes_in(&world.store, Some(index), 100, |_| {}).unwrap();
        assert_eq!(built[0].entries, entries);
        // From now on it is what a load would have made.
        let database = world.open(name);
        state::admit_whole(&world.store, &database).unwrap();
        assert_eq!(unloaded(&world, &database), kept);
        assert_eq!(world.verify(&database).findings, []);
        let other = World::new();
        let loaded = other.open(name);
        other.load(&loaded, &kept).unwrap();
        for (one, of_other) in database.sets.iter().zip(&loaded.sets) {
            assert_eq!(entries_of(&world, *one), entries_of(&other, *of_other));
        }
        // It goes: the segments keep what they have, until the database is emptied.
        world.definitions = without;
        let database = world.open(name);
        state::admit_whole(&world.store, &database).unwrap();
        assert_eq!(unloaded(&world, &database), kept);
        assert_eq!(world.verify(&database).findings, []);
        database.empty(&world.store).unwrap();
        let database = world.open(name);
        world.load(&database, &segments).unwrap();
        let sets = database.sets.iter();
        assert_eq!(sets.map(|set| entries_of(&world, *set)).collect::<Vec<_>>(), plain);
    }
}

#[test]
fn a_numbering_that_was_broken_off_keeps_everybody_out_until_a_build_ends_it() {
    let mut world = World::of(&without_index(&["CITYKEY,CITYIX", "XCITY,SRCH"]));
    world.load(&world.open("CUSTDB"), &customers()).unwrap();
    let kept = unloaded(&world, &world.open("CUSTDB"));
    world.definitions = World::new().definitions;
    let mut numbered = (*world.open("CUSTDB")).clone();
    numbered.schema.types[0].has_identity = true;
    let begun = Numbering { types: vec![TypeAt::ROOT], reached: Vec::new() };
    state::begin_numbering(&world.store, &numbered, begun).unwrap();
    let database = world.open("CUSTDB");
    for refused in [
        state::admit(&world.store, &database).map(drop),
        state::admit_whole(&world.store, &database),
        state::begin_load(&world.store, &database),
    ] {
        assert!(matches!(refused, Err(HierarchyError::Numbering(_))), "{refused:?}");
    }
    database.build_indexes(&world.store, None, |_| {}).unwrap();
    let database = world.open("CUSTDB");
    state::admit_whole(&world.store, &database).unwrap();
    assert_eq!(unloaded(&world, &database), kept);
    assert_eq!(world.verify(&database).findings, []);
}

#[test]
fn partitions_share_their_indexes() {
    let world = World::new();
    let database = world.open("HISTDB");
    let days = (0_u32..40).map(|day| {
        let number = (day * 7) % 40;
        [seg(1, &format!("{number:04}AA")), seg(2, "ONE"), seg(2, "TWO"), seg(2, "ONE")]
    });
    let days: Vec<_> = days.flatten().collect();
    for room in [ROOM, 100] {
        let loaded = world.load_within(&database, &days, room).unwrap();
        assert_eq!((loaded.segments, loaded.indexes[0].1, loaded.out_of_order), (160, 40, false));
        let report = world.verify(&database);
        assert_eq!((report.segments, report.entries, report.findings), (160, 40, Vec::new()));
        let counted = |set: SetId| crate::count::count_entries(&world.store, set).unwrap();
        let [old, new] = [database.sets[0], database.sets[1]].map(counted);
        assert_eq!((old, new), (40, 120));
        let all = unloaded(&world, &database);
        let again: Vec<_> = days.chunks(4).map(<[_]>::to_vec).collect();
        assert!(all.chunks(4).all(|one| again.contains(&one.to_vec())));
        // What comes out goes in again, and comes out the same.
        database.empty(&world.store).unwrap();
        world.load_within(&database, &all, room).unwrap();
        assert_eq!(unloaded(&world, &database), all);
        database.empty(&world.store).unwrap();
    }
    // A root in the wrong partition is found.
    world.load(&database, &days).unwrap();
    let (old, new) = (database.sets[0], database.sets[1]);
    let mut unit = world.store.begin(UnitOptions::default()).unwrap();
    let mut cursor = world.store.cursor(old).unwrap();
    let entry = unit.next(&mut cursor, Read::Unlocked).unwrap().unwrap();
    let (key, value) = (entry.key.to_vec(), entry.value.to_vec());
    unit.put(new, &key, &value).unwrap();
    unit.commit().unwrap();
    let found = format!("{:?}", world.verify(&database).findings);
    assert!(found.contains("not in the partition"), "{found}");
}

fn change(world: &World, set: SetId, change: impl Fn(&mut Vec<u8>, &mut Vec<u8>)) {
    let mut unit = world.store.begin(UnitOptions::default()).unwrap();
    let mut cursor = world.store.cursor(set).unwrap();
    let entry = unit.next(&mut cursor, Read::Unlocked).unwrap().unwrap();
    let (old, mut key, mut value) = (entry.key.to_vec(), entry.key.to_vec(), entry.value.to_vec());
    change(&mut key, &mut value);
    let _ = unit.delete(set, &old).unwrap();
    unit.put(set, &key, &value).unwrap();
    unit.commit().unwrap();
}

#[test]
fn every_kind_of_damage_is_found() {
    let world = World::new();
    let database = world.open("CUSTDB");
    let [segments, index] = [database.sets[0], database.indexes[0].set];
    type Damage<'d> = (SetId, &'d dyn Fn(&mut Vec<u8>, &mut Vec<u8>), &'d [&'d str]);
    let damages: [Damage<'_>; 7] = [
        (segments, &|_, value| value.truncate(9 + 11), &["11 bytes"]),
        (segments, &|_, value| value[9] = b'9', &["another key"]),
        (segments, &|_, value| value[0] = 0xF0, &["flags"]),
        (segments, &|key, _| key[3] = b'0', &["parent is missing", "another key", "CITYIX"]),
        (segments, &|key, _| key.truncate(1), &["no path"]),
        (index, &|_, value| value.truncate(1), &["too short", "something else"]),
        (index, &|key, _| key[0] = b'X', &["entry is missing", "no source"]),
    ];
    for (set, damage, words) in damages {
        world.load(&database, &customers()).unwrap();
        change(&world, set, damage);
        let report = world.verify(&database);
        let found = format!("{:?}", report.findings);
        assert!(words.iter().all(|word| found.contains(word)), "{words:?} in {found}");
        assert!(report.findings.iter().all(|one| one.remedy.starts_with("`holdfast ")));
        if set == index {
            let only = Some(database.indexes[0].index.dbd);
            let report = database.verify_indexes(&world.store, only, |_| {}).unwrap();
            assert!(!report.findings.is_empty());
            database.build_indexes(&world.store, only, |_| {}).unwrap();
            assert_eq!(world.verify(&database).findings, []);
        }
        database.empty(&world.store).unwrap();
    }
}

/// DLI-12.70: what programs do that use an index as a database.
#[test]
fn user_data_is_sound_and_a_deleted_entry_is_named_until_the_index_is_built() {
    let world = World::of(&SOURCE.replace("NAME=CITYKEY,PARENT=0,BYTES=2", "NAME=CITYKEY,BYTES=6"));
    let database = world.open("CUSTDB");
    world.load(&database, &customers()).unwrap();
    let tree = &database.indexes[0];
    assert_eq!(tree.user_len(), 4);
    let mut unit = world.store.begin(UnitOptions::default()).unwrap();
    let mut cursor = world.store.cursor(tree.set).unwrap();
    let entry = unit.next(&mut cursor, Read::Unlocked).unwrap().unwrap();
    let (key, value) = (entry.key.to_vec(), entry.value.to_vec());
    tree.replace_user_data(&mut unit, &key, &value, b"USER").unwrap();
    tree.replace_user_data(&mut unit, &key, &[&value[..], b"USER"].concat(), b"user").unwrap();
    unit.commit().unwrap();
    assert_eq!(world.verify(&database).findings, []);
    let mut unit = world.store.begin(UnitOptions::default()).unwrap();
    let mut stored = Vec::new();
    assert!(unit.get(tree.set, &key, Read::Unlocked, &mut stored).unwrap());
    assert_eq!(stored, [&value[..], b"user"].concat());
    let behind = unit.next(&mut cursor, Read::Unlocked).unwrap().unwrap().key.to_vec();
    for there in [true, false] {
        let target = crate::Target { store: &world.store, unit: &mut unit };
        assert_eq!(tree.delete(target, &behind, false).unwrap(), there);
    }
    unit.commit().unwrap();
    let found = world.verify(&database).findings;
    assert!(found.len() == 1 && found[0].what.contains("a program deleted it"), "{found:?}");
    let built = database.build_indexes(&world.store, None, |_| {}).unwrap();
    assert_eq!(built[0].user_data_lost, Some(1));
    assert_eq!(world.verify(&database).findings, []);
    let again = database.build_indexes(&world.store, None, |_| {}).unwrap();
    assert_eq!((again[0].entries, again[0].user_data_lost), (built[0].entries, Some(0)));
}

#[test]
fn logical_children_find_their_parents_and_are_found() {
    let world = World::new();
    let (parts, orders) = (world.open("PARTDB"), world.open("ORDERDB"));
    let of_orders = [seg(1, "O001GIVE"), seg(2, "P0112"), seg(2, "P0220"), seg(1, "O002GIVE")];
    let error = world.load(&orders, &of_orders).unwrap_err().to_string();
    assert!(error.contains("LINE") && error.contains("'P0"), "{error}");
    assert!(error.contains("PART in PARTDB"), "{error}");
    // Hashed roots come in any order.
    world.load(&parts, &[seg(1, "P02NUT"), seg(1, "P01NUT"), seg(1, "P03NUT")]).unwrap();
    world.load(&orders, &of_orders).unwrap();
    assert_eq!(unloaded(&world, &orders), of_orders);
    let (report, of_parts) = (world.verify(&orders), world.verify(&parts));
    assert_eq!((report.relations, &report.findings[..]), (2, &[][..]));
    assert_eq!(of_parts.findings, []);
    assert_eq!(unloaded(&world, &parts).len(), 3);
    parts.empty(&world.store).unwrap();
    let (report, of_parts) = (world.verify(&orders), world.verify(&parts));
    assert_eq!((report.findings.len(), of_parts.findings.len()), (2, 2), "{report:?}");
    orders.empty(&world.store).unwrap();
    assert_eq!(world.verify(&parts).findings, []);
}

#[test]
fn a_bulk_load_and_inserts_make_the_same_database() {
    let (world, other) = (World::new(), World::new());
    let database = world.open("CUSTDB");
    world.load(&database, &customers()).unwrap();
    let by_hand = other.open("CUSTDB");
    let mut unit = other.store.begin(UnitOptions::default()).unwrap();
    let mut work = crate::Work::default();
    database
        .walk(&world.store, |seen| {
            let stored = crate::Stored::read(database.schema.of(seen.of), seen.value).unwrap();
            let mut expanded = Vec::new();
            let data = stored.data(&mut expanded).unwrap();
            let at = crate::SegmentPath { path: seen.path, levels: seen.levels };
            let target = crate::Target { store: &other.store, unit: &mut unit };
            let done = by_hand.insert(target, at, data, &[], &mut work)?;
            assert_eq!(done, crate::Changed::Done);
            Ok(())
        })
        .unwrap();
    unit.commit().unwrap();
    // Identities are drawn one by one there.
    assert_eq!(entries_of(&world, database.sets[0]), entries_of(&other, by_hand.sets[0]));
    assert_eq!(other.verify(&by_hand).findings, []);
}

/// A database as a tree of numbers.
fn tree() -> impl Strategy<Value = Vec<(u8, Vec<u8>)>> {
    let account = (0_u8..3, prop::collection::vec(2_u8..5, 0..3));
    let customer = (prop::collection::vec(account, 0..4), any::<bool>(), 0_u8..3);
    prop::collection::btree_map(0_u16..60, customer, 0..12).prop_flat_map(|all| {
        let roots: Vec<_> = all.into_iter().collect();
        Just(roots).prop_shuffle().prop_map(|roots| {
            let mut all = Vec::new();
            for (number, (accounts, has_address, city)) in roots {
                let city = ["AA", "BB", "  "][usize::from(city)];
                all.push(seg(1, &format!("{number:04}{city}SOMEBO")));
                for (at, (kind, notes)) in accounts.iter().enumerate() {
                    all.push(seg(2, &format!("K{kind}{at:04}")));
                    all.extend(notes.iter().map(|one| note(&"x".repeat(usize::from(*one)))));
                }
                if has_address {
                    all.push(seg(4, "HERE!"));
                }
            }
            all
        })
    })
}

/// The order in which the database keeps them: roots, then accounts by key, equal ones as they
/// came.
fn in_order(segments: &[(u8, Vec<u8>)]) -> Vec<(u8, Vec<u8>)> {
    let mut groups = Vec::new();
    let (mut root, mut account) = (Vec::new(), Vec::new());
    let mut accounts = 0;
    for (at, (code, data)) in segments.iter().enumerate() {
        match code {
            1 => (root, account) = (data[..4].to_vec(), Vec::new()),
            2 => {
                accounts += 1;
                account = [&[1][..], &data[..2], &u32::to_be_bytes(accounts)].concat();
            }
            4 => account = vec![9],
            _ => {}
        }
        groups.push((root.clone(), account.clone(), at, (*code, data.clone())));
    }
    groups.sort();
    groups.into_iter().map(|(.., segment)| segment).collect()
}

proptest! {
    #[test]
    fn any_order_and_any_room_come_to_the_same(segments in tree(), room in 1_usize..3_000) {
        let world = World::new();
        let database = world.open("CUSTDB");
        world.load_within(&database, &segments, room).unwrap();
        prop_assert_eq!(unloaded(&world, &database), in_order(&segments));
        let before = world.verify(&database);
        prop_assert_eq!(&before.findings, &[]);
        database.build_indexes(&world.store, None, |_| {}).unwrap();
        prop_assert_eq!(world.verify(&database), before);
        state::admit_whole(&world.store, &database).unwrap();
    }
}
