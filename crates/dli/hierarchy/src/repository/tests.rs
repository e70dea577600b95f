//! The repository over the store's model in memory.

use std::path::Path;

use definitions::compile;
use macros::{NoMembers, Sources};
use store_suite::model::ModelStore;

use super::*;

const SHELF: &str = "\
* SHELVES WITH ROWS
         DBD   NAME=SHELF,ACCESS=HIDAM
         DATASET DD1=SHELFDD
         SEGM  NAME=ROW,PARENT=0,BYTES=20
         FIELD NAME=(ROWNO,SEQ,U),START=1,BYTES=4
         LCHILD NAME=(ROWKEY,SHELFX),PTR=INDX
         DBDGEN
         DBD   NAME=SHELFX,ACCESS=INDEX
         DATASET DD1=SHELFXDD
         SEGM  NAME=ROWKEY,PARENT=0,BYTES=4
         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=4
         LCHILD NAME=(ROW,SHELF),INDEX=ROWNO
         DBDGEN
         PCB   TYPE=DB,DBDNAME=SHELF,PROCOPT=A,KEYLEN=4
         SENSEG NAME=ROW,PARENT=0
         PSBGEN PSBNAME=READER
";

fn members(text: &str) -> Vec<Member> {
    let mut sources = Sources::new();
    let program = macros::read(&mut sources, Path::new("TEST"), text.as_bytes(), &NoMembers);
    let compiled = compile(&program);
    let shown: Vec<_> = compiled.diagnostics.iter().map(|one| sources.show(one)).collect();
    let members: Vec<_> = compiled.members.into_iter().filter_map(|one| one.member).collect();
    assert_eq!(members.len(), text.matches("GEN").count(), "{shown:#?}");
    members
}

fn dbd(name: &str) -> DbdName {
    DbdName::new(name).unwrap()
}

#[test]
fn lists_are_kept_by_what_they_say_and_stand_in_nobody_s_way() {
    let store = ModelStore::new();
    let (shelf, other) = (dbd("SHELF"), dbd("SHELFX"));
    assert_eq!(lists::files(&store, shelf, "one").unwrap(), None);
    let long: Vec<u8> = (0..5_000_000_u32).map(|at| at as u8).collect();
    let files = vec![("roots.txt".to_owned(), long), ("more.txt".to_owned(), Vec::new())];
    assert!(lists::keep(&store, shelf, "one", &files).unwrap());
    assert!(!lists::keep(&store, shelf, "one", &[]).unwrap(), "a version never changes");
    let longer = vec![("roots.txt".to_owned(), b"A\nB\nC\n".to_vec())];
    assert!(lists::keep(&store, shelf, "two", &longer).unwrap());
    put(&store, &members(SHELF), &[]).unwrap();
    assert_eq!(Repository::read(&store).unwrap().names().count(), 3);
    assert_eq!(lists::files(&store, shelf, "one").unwrap(), Some(files));
    assert_eq!(lists::files(&store, shelf, "two").unwrap(), Some(longer));
    assert_eq!(lists::files(&store, shelf, "three").unwrap(), None);
    assert_eq!(lists::files(&store, other, "one").unwrap(), None);
}

fn texts(names: impl IntoIterator<Item = MemberName>) -> Vec<String> {
    names.into_iter().map(|name| name.to_string()).collect()
}

#[test]
fn members_come_back_and_tell_who_refers_to_whom() {
    let store = ModelStore::new();
    let members = members(SHELF);
    let empty = Repository::read(&store).unwrap();
    assert_eq!(store.set(SET).unwrap(), None, "reading makes nothing");
    assert!(members.iter().all(|one| empty.difference(one) == Difference::New));
    put(&store, &members, &[]).unwrap();
    let all = Repository::read(&store).unwrap();
    assert_eq!(texts(all.names()), ["DBD SHELF", "DBD SHELFX", "PSB READER"]);
    assert!(members.iter().all(|one| all.difference(one) == Difference::Same));
    assert_eq!(texts(all.referring(dbd("SHELF"))), ["DBD SHELFX", "PSB READER"]);
    assert_eq!(texts(all.referring(dbd("SHELFX"))), ["DBD SHELF"]);
    assert_eq!(all.dbd(dbd("SHELF")).unwrap().name, dbd("SHELF"));
    assert!(all.psb(PsbName::new("SHELF").unwrap()).is_none());
}

#[test]
fn a_changed_member_replaces_the_old_one() {
    let store = ModelStore::new();
    put(&store, &members(SHELF), &[]).unwrap();
    let changed = members(&SHELF.replace("BYTES=20", "BYTES=24"));
    let all = Repository::read(&store).unwrap();
    let differences: Vec<_> = changed.iter().map(|one| all.difference(one)).collect();
    assert_eq!(differences, [Difference::Changed, Difference::Same, Difference::Same]);
    put(&store, &changed[..1], &[]).unwrap();
    let all = Repository::read(&store).unwrap();
    assert_eq!(all.difference(&changed[0]), Difference::Same);
    assert_eq!(all.names().count(), 3);
}

#[test]
fn a_damaged_entry_is_told_and_can_be_replaced() {
    let store = ModelStore::new();
    let members = members(SHELF);
    put(&store, &members, &[]).unwrap();
    let set = store.set(SET).unwrap().unwrap();
    let spoil = |key: &[u8], value: &[u8]| {
        store::run(&store, UnitOptions::default(), |unit| unit.put(set, key, value)).unwrap();
    };
    spoil(b"DSHELF   ", b"nonsense");
    spoil(b"PREADER  ", &encode(&members[0]));
    spoil(b"no such key", b"");
    let all = Repository::read(&store).unwrap();
    assert_eq!(texts(all.names()), ["DBD SHELFX"]);
    assert_eq!(texts(all.damaged().keys().copied()), ["DBD SHELF", "PSB READER"]);
    assert_eq!(all.difference(&members[0]), Difference::Changed);
    put(&store, &members, &[]).unwrap();
    assert!(Repository::read(&store).unwrap().damaged().is_empty());
}

#[test]
fn an_entry_of_the_future_is_refused_by_name() {
    let store = ModelStore::new();
    let members = members(SHELF);
    put(&store, &members, &[]).unwrap();
    let set = store.set(SET).unwrap().unwrap();
    let mut bytes = encode(&members[0]);
    bytes[4] = 99;
    store::run(&store, UnitOptions::default(), |unit| unit.put(set, b"DSHELF   ", &bytes)).unwrap();
    let error = Repository::read(&store).unwrap_err();
    assert_eq!(error.code(), Code("HFG302"));
    assert!(error.to_string().contains("DBD SHELF"), "{error}");
}
