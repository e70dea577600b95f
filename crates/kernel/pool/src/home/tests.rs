//! A data set that moves is the same data set.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

use super::*;
use crate::testing::{Memory, SET, config, pools};

fn change(set: &Memory, ci: u32, value: u8, lsn: u64) {
    let mut page = home(set).pool().exclusive(set, CiNumber(ci)).unwrap();
    page.begin_change(Lsn(lsn));
    page.bytes_mut()[10] = value;
    page.set_lsn(Lsn(lsn));
}

fn home(set: &Memory) -> &Home {
    set.home.get().unwrap()
}

fn settled(pool: &Arc<Pool>) -> Memory {
    let set = Memory::default();
    assert!(set.home.set(Home::new(Arc::clone(pool))).is_ok());
    set
}

#[test]
fn what_is_in_memory_goes_along_with_its_changes() {
    let (pools, dirty) = pools();
    let (from, to) = (pools.add(config("from", 60)).unwrap(), pools.add(config("to", 40)).unwrap());
    let set = settled(&from);
    (0..20).for_each(|ci| drop(from.shared(&set, CiNumber(ci)).unwrap()));
    change(&set, 7, 9, 55);
    from.shared(&set, CiNumber(8)).unwrap().keep();
    let hint = from.shared(&set, CiNumber(9)).unwrap().hint();
    let moved = home(&set).move_to(SET, &to).unwrap();
    assert_eq!((moved.carried, moved.dropped), (20, 0));
    assert!(ptr::eq(home(&set).pool(), &*to) && home(&set).leaving().is_none());
    assert!(to.by_hint(hint, SET, CiNumber(9)).is_none() && !to.is_unchanged(hint));
    assert_eq!((from.statistics().free, dirty.oldest()), (60, Some(Lsn(55))));
    assert_eq!(to.shared(&set, CiNumber(7)).unwrap().bytes()[10], 9);
    assert_eq!(set.reads.lock().len(), 20, "nothing was read again");
    // Whoever still knows the old pool finds the new one.
    assert_eq!(from.shared(&set, CiNumber(7)).unwrap().bytes()[10], 9);
    drop(from.shared(&set, CiNumber(30)).unwrap());
    from.read_ahead(&set, CiNumber(40), 5);
    assert_eq!((from.statistics().free, to.is_resident(SET, CiNumber(30))), (60, true));
    assert_eq!(home(&set).move_to(SET, &to).unwrap(), Moved::default());
}

#[test]
fn what_somebody_has_is_used_where_it_is_and_carried_when_it_is_free() {
    let (pools, _) = pools();
    let (from, to) = (pools.add(config("from", 60)).unwrap(), pools.add(config("to", 40)).unwrap());
    let set = Arc::new(settled(&from));
    change(&set, 3, 5, 1);
    let pin = from.pin(&*set, CiNumber(3)).unwrap();
    let (theirs, target) = (Arc::clone(&set), Arc::clone(&to));
    let thread = seam::thread::spawn("assign", move || {
        assert_eq!(home(&theirs).move_to(SET, &target).unwrap().carried, 1);
    });
    while home(&set).leaving().is_none() {
        seam::thread::yield_now();
    }
    // The second look of the same program does not wait for the first one to end.
    assert_eq!(home(&set).pool().shared(&*set, CiNumber(3)).unwrap().bytes()[10], 5);
    change(&set, 3, 6, 2);
    assert!(from.is_resident(SET, CiNumber(3)) && !to.is_resident(SET, CiNumber(3)));
    drop(pin);
    thread.unwrap().join();
    assert_eq!(to.shared(&*set, CiNumber(3)).unwrap().bytes()[10], 6);
    assert_eq!((from.pins(), to.pins(), from.statistics().free), (0, 0, 60));
}

#[test]
fn programs_find_what_they_wrote_while_their_data_set_moves() {
    let (pools, _) = pools();
    let all: Vec<_> =
        [("a", 60), ("b", 40), ("c", 90)].map(|(n, f)| pools.add(config(n, f)).unwrap()).into();
    let set = Arc::new(settled(&all[0]));
    let done = Arc::new(AtomicBool::new(false));
    let rounds = Arc::new(AtomicU32::new(0));
    let program = |number: u32| {
        let (set, done, total) = (Arc::clone(&set), Arc::clone(&done), Arc::clone(&rounds));
        let body = move || {
            let mut rounds = 0_u32;
            while !done.load(SeqCst) {
                rounds += 1;
                for ci in number * 5..number * 5 + 5 {
                    let pool = home(&set).pool();
                    let mut page = pool.exclusive(&*set, CiNumber(ci)).unwrap();
                    assert_eq!(base::bytes::get_u32(page.bytes(), 16), rounds - 1, "{ci}");
                    page.begin_change(Lsn(u64::from(rounds)));
                    base::bytes::put_u32(page.bytes_mut(), 16, rounds);
                    page.set_lsn(Lsn(u64::from(rounds)));
                    drop(page);
                    drop(home(&set).pool().shared(&*set, CiNumber(100 + (rounds + ci) % 15)));
                }
                total.fetch_add(1, SeqCst);
            }
        };
        seam::thread::spawn("program", body).unwrap()
    };
    let programs: Vec<_> = (0..2).map(program).collect();
    for step in 1..100 {
        home(&set).move_to(SET, &all[step % 3]).unwrap();
        home(&set).forget(SET, CiNumber(200)).unwrap();
        all[step % 3].resize(40 + step % 50).unwrap();
    }
    done.store(true, SeqCst);
    programs.into_iter().for_each(seam::thread::JoinHandle::join);
    assert!(rounds.load(SeqCst) > 0);
    let pins: u64 = all.iter().map(|pool| pool.pins()).sum();
    assert_eq!(pins, 0);
}
