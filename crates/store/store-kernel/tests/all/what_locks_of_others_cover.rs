//! Changes that the caller's own locks cover: they take no locks of their keys, and a reader that
//! wants to see only what is committed says so.

use std::collections::BTreeMap;

use crate::common::{Running, fresh};
use holdfast_store_kernel::{KernelStore, KernelUnit};
use store::{
    Cover, Outcome, Read, SetAttributes, SetId, Store, StoreError, Unit, UnitOptions, Wait,
};

fn set(test: &str) -> (KernelStore, SetId, Running) {
    let (store, running) = fresh(test);
    let set = store.create_set("SET", &SetAttributes::default()).expect("a set");
    (store, set, running)
}

fn begin(store: &KernelStore) -> KernelUnit {
    let options = UnitOptions { wait: Wait::No, ..UnitOptions::default() };
    store.begin(options).expect("a unit of work")
}

fn locks(unit: &KernelUnit) -> u64 {
    unit.uow().kernel().locks().statistics().held
}

#[test]
fn covered_changes_lock_the_set_and_no_key() {
    let (store, set, _running) = set("covered");
    let mut unit = begin(&store);
    unit.cover(set, Cover::Changes).unwrap();
    for number in 0..500_u32 {
        assert!(unit.insert(set, &number.to_be_bytes(), b"value").unwrap().is_done());
    }
    for number in (0..500_u32).step_by(3) {
        assert!(unit.delete(set, &number.to_be_bytes()).unwrap().is_done());
    }
    assert_eq!(locks(&unit), 2);
    let mut other = begin(&store);
    other.cover(set, Cover::Changes).unwrap();
    assert!(other.insert(set, b"another", b"value").unwrap().is_done());
    other.commit().unwrap();
    unit.commit().unwrap();
    crate::common::expect_quiet(store.kernel());
}

#[test]
fn who_looks_waits_for_covered_changes_and_keeps_them_out() {
    let (store, set, _running) = set("looks");
    let mut unit = begin(&store);
    unit.cover(set, Cover::Changes).unwrap();
    unit.put(set, b"key", b"value").unwrap();
    let mut looks = begin(&store);
    assert!(matches!(looks.cover(set, Cover::Look), Err(StoreError::Timeout(_))));
    unit.commit().unwrap();
    looks.cover(set, Cover::Look).unwrap();
    let mut late = begin(&store);
    assert!(matches!(late.cover(set, Cover::Changes), Err(StoreError::Timeout(_))));
    // One that looks may change something, too.
    looks.cover(set, Cover::Changes).unwrap();
    assert!(looks.delete(set, b"key").unwrap().is_done());
    looks.commit().unwrap();
    late.cover(set, Cover::Changes).unwrap();
}

#[test]
fn a_whole_set_is_taken_only_from_nobody() {
    let (store, set, _running) = set("whole");
    let mut one = begin(&store);
    one.put(set, b"one", b"value").unwrap();
    let mut two = begin(&store);
    two.cover(set, Cover::Whole).unwrap();
    two.put(set, b"two", b"value").unwrap();
    assert!(matches!(
        two.get(set, b"one", Read::Update, &mut Vec::new()),
        Err(StoreError::Timeout(_))
    ));
    one.commit().unwrap();
    two.commit().unwrap();
    let mut unit = begin(&store);
    unit.cover(set, Cover::Whole).unwrap();
    for number in 0..500_u32 {
        unit.put(set, &number.to_be_bytes(), b"value").unwrap();
    }
    assert_eq!(locks(&unit), 1);
    let mut other = begin(&store);
    assert!(other.get(set, b"one", Read::Unlocked, &mut Vec::new()).unwrap());
    let refused = other.get(set, b"one", Read::Shared, &mut Vec::new());
    assert!(matches!(refused, Err(StoreError::Timeout(_))), "{refused:?}");
    unit.backout().unwrap();
    assert!(!other.get(set, &1_u32.to_be_bytes(), Read::Shared, &mut Vec::new()).unwrap());
}

/// Keys of two parts, of which the first is what entries are compared by.
fn key(random: &mut u64) -> Vec<u8> {
    *random = random.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
    let (front, back) = ((*random >> 33) % 400, (*random >> 20) % 40);
    // Different lengths, and bytes of zero.
    let mut key = vec![0; (front % 3) as usize + 1];
    key.extend_from_slice(&(front as u16).to_be_bytes());
    key.extend_from_slice(&back.to_be_bytes());
    key
}

#[test]
fn an_index_learns_of_its_neighbours_however_it_is_locked() {
    for cover in [None, Some(Cover::Changes), Some(Cover::Whole)] {
        let (store, set, _running) = set("neighbours");
        let (mut random, mut buffer) = (1, Vec::new());
        let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        let mut cursor = store.cursor(set).unwrap();
        for _ in 0..20 {
            let mut unit = begin(&store);
            cover.map_or(Ok(()), |cover| unit.cover(set, cover)).unwrap();
            for step in 0..400 {
                let key = key(&mut random);
                if step % 4 == 3 {
                    let other = unit.delete_equal(set, &key, b"other", &mut buffer).unwrap();
                    assert_eq!(other, Outcome::Absent);
                    let gone = unit.delete_equal(set, &key, &key, &mut buffer).unwrap();
                    assert_eq!(gone.is_done(), model.remove(&key).is_some());
                    continue;
                }
                let prefix = key.len() - 8;
                let before = model.range::<Vec<u8>, _>(..&key).next_back();
                let same = before.is_some_and(|(before, _)| before.starts_with(&key[..prefix]));
                let added = unit.insert_beside(&mut cursor, &key, &key, prefix).unwrap();
                match model.insert(key.clone(), key.clone()) {
                    None => assert_eq!(added, (Outcome::Done, same), "{key:?}"),
                    Some(_) => assert_eq!(added.0, Outcome::Exists, "{key:?}"),
                }
            }
            unit.commit().unwrap();
        }
        let mut unit = begin(&store);
        let mut cursor = store.cursor(set).unwrap();
        for (key, value) in &model {
            let entry = unit.next(&mut cursor, Read::Unlocked).unwrap().expect("an entry");
            assert_eq!((entry.key, entry.value), (&key[..], &value[..]));
        }
        assert!(unit.next(&mut cursor, Read::Unlocked).unwrap().is_none());
    }
}
