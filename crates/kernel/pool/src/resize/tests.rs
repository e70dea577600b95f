//! A pool keeps what it holds, whatever its size.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use base::CiNumber;
use proptest::prelude::*;

use super::*;
use crate::FRAMES_MIN;
use crate::testing::{Memory, SET, pool};

/// Changes an interval: a number stands in its tenth bytes.
fn change(pool: &Pool, set: &Memory, ci: u32, value: u8, lsn: u64) {
    let mut page = pool.exclusive(set, CiNumber(ci)).unwrap();
    page.begin_change(Lsn(lsn));
    page.bytes_mut()[10] = value;
    page.set_lsn(Lsn(lsn));
}

fn resident(pool: &Pool) -> Vec<u32> {
    (0..500).filter(|ci| pool.is_resident(SET, CiNumber(*ci))).collect()
}

#[test]
fn a_pool_grows_and_what_it_holds_stays() {
    let (pool, _) = pool(16);
    let set = Memory::default();
    (0..12).for_each(|ci| drop(pool.shared(&set, CiNumber(ci)).unwrap()));
    let hint = pool.shared(&set, CiNumber(3)).unwrap().hint();
    assert_eq!(pool.resize(60).unwrap(), Resized { before: 16, now: 60, carried: 0, dropped: 0 });
    assert!(pool.by_hint(hint, SET, CiNumber(3)).is_some(), "nothing has moved");
    (12..56).for_each(|ci| drop(pool.shared(&set, CiNumber(ci)).unwrap()));
    assert_eq!(resident(&pool), (0..56).collect::<Vec<_>>());
    assert_eq!((pool.statistics().steals, set.reads.lock().len()), (0, 56));
    assert!(matches!(pool.resize(3), Err(PoolError::TooSmall { least: FRAMES_MIN, .. })));
    assert!(matches!(pool.resize(1 << 40), Err(PoolError::TooLarge { .. })));
    assert_eq!((pool.frames(), pool.statistics().frames), (60, 60));
}

#[test]
fn a_pool_shrinks_and_keeps_what_was_changed_and_what_it_must_keep() {
    let (pool, dirty) = pool(64);
    let set = Memory::default();
    (0..50).for_each(|ci| drop(pool.shared(&set, CiNumber(ci)).unwrap()));
    change(&pool, &set, 40, 9, 77);
    pool.shared(&set, CiNumber(45)).unwrap().keep();
    let hint = pool.shared(&set, CiNumber(40)).unwrap().hint();
    let resized = pool.resize(16).unwrap();
    assert_eq!((resized.before, resized.now, resized.carried), (64, 16, 2));
    assert!(pool.by_hint(hint, SET, CiNumber(40)).is_none() && !pool.is_unchanged(hint));
    assert_eq!((dirty.oldest(), dirty.head()), (Some(Lsn(77)), Some(Lsn(77))));
    let before = set.reads.lock().len();
    assert_eq!(pool.shared(&set, CiNumber(40)).unwrap().bytes()[10], 9);
    assert!(pool.is_resident(SET, CiNumber(45)));
    assert_eq!(set.reads.lock().len(), before, "what was carried is not read again");
    (100..400).for_each(|ci| drop(pool.shared(&set, CiNumber(ci)).unwrap()));
    assert!(pool.is_resident(SET, CiNumber(45)) && resident(&pool).len() <= 16);
    assert_eq!((pool.pins(), pool.frames()), (0, 16));
}

#[test]
fn what_somebody_has_is_waited_for() {
    let (pool, _) = pool(64);
    let set = Arc::new(Memory::default());
    (0..60).for_each(|ci| drop(pool.shared(&*set, CiNumber(ci)).unwrap()));
    let pins: Vec<_> = (50..60).map(|ci| pool.pin(&*set, CiNumber(ci)).unwrap()).collect();
    let done = Arc::new(AtomicBool::new(false));
    let (theirs, flag) = (Arc::clone(&pool), Arc::clone(&done));
    let thread = seam::thread::spawn("resize", move || {
        theirs.resize(20).unwrap();
        flag.store(true, SeqCst);
    });
    pool.clock.sleep(Duration::from_millis(20));
    assert!(!done.load(SeqCst));
    assert_eq!(pool.shared(&*set, CiNumber(55)).unwrap().ci(), CiNumber(55));
    drop(pins);
    thread.unwrap().join();
    assert_eq!(pool.frames(), 20);
}

#[test]
fn programs_find_what_they_wrote_while_the_pool_changes_its_size() {
    let (pool, _) = pool(64);
    let set = Arc::new(Memory::default());
    let done = Arc::new(AtomicBool::new(false));
    let program = |number: u32| {
        let (pool, set, done) = (Arc::clone(&pool), Arc::clone(&set), Arc::clone(&done));
        let body = move || {
            let mut rounds = 0_u32;
            while !done.load(SeqCst) {
                rounds += 1;
                for ci in number * 5..number * 5 + 5 {
                    let mut page = pool.exclusive(&*set, CiNumber(ci)).unwrap();
                    let at = base::bytes::get_u32(page.bytes(), 16);
                    assert_eq!(at, rounds - 1, "interval {ci}");
                    page.begin_change(Lsn(u64::from(rounds)));
                    base::bytes::put_u32(page.bytes_mut(), 16, rounds);
                    page.set_lsn(Lsn(u64::from(rounds)));
                }
            }
        };
        seam::thread::spawn("program", body).unwrap()
    };
    let programs: Vec<_> = (0..3).map(program).collect();
    for frames in [400, 40, 1_000, 30, 300, 24].repeat(3) {
        pool.resize(frames).unwrap();
        assert_eq!(pool.frames(), frames);
    }
    done.store(true, SeqCst);
    programs.into_iter().for_each(seam::thread::JoinHandle::join);
    assert_eq!(pool.pins(), 0);
}

#[derive(Clone, Debug)]
enum Step {
    Read(u32),
    Change(u32, u8),
    Forget(u32),
    Ahead(u32, u32),
    Resize(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let ci = 0..90_u32;
    prop_oneof![
        6 => ci.clone().prop_map(Step::Read),
        4 => (ci.clone(), any::<u8>()).prop_map(|(ci, value)| Step::Change(ci, value)),
        1 => (80..90_u32).prop_map(Step::Forget),
        2 => (ci, 1..12_u32).prop_map(|(ci, count)| Step::Ahead(ci, count)),
        2 => (FRAMES_MIN..200).prop_map(Step::Resize),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

    #[test]
    fn whatever_its_size_a_pool_holds_what_a_map_would(
        steps in proptest::collection::vec(step(), 1..120)
    ) {
        let (pool, dirty) = pool(40);
        let set = Memory::default();
        let mut model: BTreeMap<u32, (u8, u64)> = BTreeMap::new();
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Read(ci) => {
                    let page = pool.shared(&set, CiNumber(ci)).unwrap();
                    prop_assert_eq!(page.bytes()[10], model.get(&ci).map_or(0, |it| it.0));
                }
                // More changes than frames would wait for a page writer, which there is not.
                Step::Change(ci, _) if model.len() >= 8 && !model.contains_key(&ci) => {}
                Step::Change(ci, value) => {
                    let lsn = number as u64 + 1;
                    change(&pool, &set, ci, value, lsn);
                    model.entry(ci).and_modify(|it| it.0 = value).or_insert((value, lsn));
                }
                Step::Forget(from) => {
                    pool.forget(SET, CiNumber(from)).unwrap();
                    model.retain(|ci, _| *ci < from);
                }
                Step::Ahead(ci, count) => pool.read_ahead(&set, CiNumber(ci), count),
                Step::Resize(frames) => {
                    pool.resize(frames).unwrap();
                    prop_assert_eq!(pool.frames(), frames);
                }
            }
            let oldest = model.values().map(|it| it.1).min();
            prop_assert!(dirty.oldest().map(|lsn| lsn.0) <= oldest || oldest.is_none());
            prop_assert!(oldest.is_none() || dirty.oldest().is_some());
            let (free, held) = (pool.statistics().free, resident(&pool).len());
            prop_assert_eq!(free + held, pool.frames());
        }
        for (ci, (value, _)) in model {
            prop_assert_eq!(pool.shared(&set, CiNumber(ci)).unwrap().bytes()[10], value);
        }
        prop_assert_eq!(pool.pins(), 0);
    }
}

#[test]
fn what_must_be_kept_leaves_room_for_others() {
    let (pool, _) = pool(64);
    let set = Memory::default();
    (0..20).for_each(|ci| pool.shared(&set, CiNumber(ci)).unwrap().keep());
    assert!(matches!(pool.resize(31), Err(PoolError::TooSmall { wanted: 31, least: 32, .. })));
    pool.resize(32).unwrap();
    pool.room_to_keep(0).unwrap();
    assert!(matches!(pool.room_to_keep(2), Err(PoolError::TooSmall { least: 34, .. })));
    // All that can be pinned beside them can be had.
    let pins: Vec<_> = (100..108).map(|ci| pool.pin(&set, CiNumber(ci)).unwrap()).collect();
    drop(pins);
    pool.resize(34).unwrap();
    pool.room_to_keep(2).unwrap();
}
