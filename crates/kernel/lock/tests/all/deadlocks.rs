//! Deadlocks are found the moment they are closed, and the right one gives way.

#![allow(clippy::unwrap_used)] // helpers of tests

use crate::common::{Pending, ask, finish, manager, owners, take};
use base::{Code, Coded, UowId};
use holdfast_lock::{LockError, LockManager, Mode, Owner};

use Mode::{Exclusive, IntentExclusive, IntentShared, Shared, Update};

/// The cycle that a victim was told of; the victim's locks are given back.
fn victim(locks: &LockManager, pending: Pending) -> (Owner, Vec<UowId>) {
    let (mut owner, result) = pending.end();
    let error = result.unwrap_err();
    assert_eq!(error.code(), Code("HFK001"));
    let LockError::Deadlock { victim, cycle, .. } = error else { panic!("{error}") };
    assert_eq!(victim, owner.uow());
    assert!(cycle.contains(&victim), "{cycle:?}");
    locks.release_all(&mut owner);
    (owner, cycle)
}

#[test]
fn of_two_the_one_with_less_log_gives_way_though_the_other_closed_the_cycle() {
    let locks = manager();
    let [mut small, mut large] = owners(&locks);
    small.add_log_weight(100);
    large.add_log_weight(101);
    take(&locks, &mut small, 1, Exclusive);
    take(&locks, &mut large, 2, Exclusive);
    let small = ask(&locks, small, 2, Exclusive);
    let large = ask(&locks, large, 1, Exclusive);
    let (small, cycle) = victim(&locks, small);
    assert_eq!(cycle, [UowId(2), UowId(1)]);
    assert_eq!(small.times_chosen(), 1);
    finish(&locks, [small, large.granted()]);
    assert_eq!(locks.statistics().deadlocks, 1);
}

#[test]
fn the_one_that_closes_the_cycle_gives_way_if_it_has_the_least_log() {
    let locks = manager();
    let [mut one, mut two] = owners(&locks);
    one.add_log_weight(1);
    take(&locks, &mut one, 1, Exclusive);
    take(&locks, &mut two, 2, Exclusive);
    let one = ask(&locks, one, 2, Shared);
    let (two, _) = victim(&locks, ask(&locks, two, 1, Shared));
    finish(&locks, [one.granted(), two]);
}

#[test]
fn among_equals_the_youngest_gives_way() {
    let locks = manager();
    let [mut old, mut young] = owners(&locks);
    take(&locks, &mut old, 1, Exclusive);
    take(&locks, &mut young, 2, Exclusive);
    let young = ask(&locks, young, 1, Exclusive);
    let old = ask(&locks, old, 2, Exclusive);
    let (young, _) = victim(&locks, young);
    finish(&locks, [old.granted(), young]);
}

#[test]
fn rings_of_any_size_are_found_when_they_close() {
    for size in [3, 4, 8, 20] {
        let locks = manager();
        let mut closed: Vec<Owner> = (0..size).map(|at| locks.owner(UowId(at + 1), 0)).collect();
        for (at, owner) in closed.iter_mut().enumerate() {
            owner.add_log_weight(1_000 - at as u64);
            take(&locks, owner, at as u64, Exclusive);
        }
        // The last has the least log; the first closes the ring.
        let last = closed.len() - 1;
        let mut pending: Vec<Pending> = Vec::new();
        for owner in closed.drain(1..).rev() {
            let next = owner.uow().0 % size;
            pending.push(ask(&locks, owner, next, Exclusive));
        }
        assert_eq!(locks.statistics().deadlocks, 0);
        let closing = closed.remove(0);
        pending.push(ask(&locks, closing, 1, Exclusive));
        let (chosen, cycle) = victim(&locks, pending.remove(0));
        assert_eq!((chosen.uow(), cycle.len()), (UowId(last as u64 + 1), size as usize));
        let mut done = vec![chosen];
        for request in pending {
            let mut owner = request.granted();
            locks.release_all(&mut owner);
            done.push(owner);
        }
        finish(&locks, done);
        assert_eq!(locks.statistics().deadlocks, 1);
    }
}

#[test]
fn two_readers_that_both_want_to_write_deadlock_and_two_updaters_do_not() {
    let locks = manager();
    let [mut one, mut two] = owners(&locks);
    one.add_log_weight(5);
    take(&locks, &mut one, 1, Shared);
    take(&locks, &mut two, 1, Shared);
    let one = ask(&locks, one, 1, Exclusive);
    let (mut two, _) = victim(&locks, ask(&locks, two, 1, Exclusive));
    let mut one = one.granted();
    locks.release_all(&mut one);

    take(&locks, &mut one, 1, Update);
    let waiting = ask(&locks, two, 1, Update);
    take(&locks, &mut one, 1, Exclusive);
    locks.release_all(&mut one);
    two = waiting.granted();
    take(&locks, &mut two, 1, Exclusive);
    finish(&locks, [one, two]);
    assert_eq!(locks.statistics().deadlocks, 1);
}

#[test]
fn conversions_to_compatible_modes_do_not_wait_for_each_other() {
    let locks = manager();
    let [mut writer, mut one, mut two] = owners(&locks);
    take(&locks, &mut writer, 1, IntentExclusive);
    take(&locks, &mut one, 1, IntentShared);
    take(&locks, &mut two, 1, IntentShared);
    let one = ask(&locks, one, 1, Exclusive);
    // Waits for the writer only, not for the conversion before it, which waits for this one.
    let two = ask(&locks, two, 1, Shared);
    assert_eq!(locks.statistics().deadlocks, 0);
    locks.release_all(&mut writer);
    let mut two = two.granted();
    locks.release_all(&mut two);
    finish(&locks, [writer, one.granted(), two]);
}

#[test]
fn a_cycle_through_the_order_of_a_queue_is_found() {
    let locks = manager();
    let [mut reader, mut writer, mut late] = owners(&locks);
    writer.add_log_weight(9);
    reader.add_log_weight(9);
    take(&locks, &mut reader, 1, Shared);
    take(&locks, &mut late, 2, Exclusive);
    take(&locks, &mut writer, 3, Exclusive);
    let writer = ask(&locks, writer, 1, Exclusive);
    // Compatible with the holder, but behind the writer.
    let late = ask(&locks, late, 1, Shared);
    let reader = ask(&locks, reader, 2, Shared);
    let (late, cycle) = victim(&locks, late);
    assert_eq!(cycle, [UowId(1), UowId(3), UowId(2)]);
    let mut reader = reader.granted();
    locks.release_all(&mut reader);
    finish(&locks, [reader, writer.granted(), late]);
}

#[test]
fn one_request_can_close_many_cycles_and_all_are_broken() {
    let locks = manager();
    let [mut closer, mut one, mut two, mut three] = owners(&locks);
    closer.add_log_weight(1_000);
    take(&locks, &mut closer, 9, Exclusive);
    for owner in [&mut one, &mut two, &mut three] {
        take(&locks, owner, 1, Shared);
    }
    let waiting = [one, two, three].map(|owner| ask(&locks, owner, 9, Exclusive));
    let closer = ask(&locks, closer, 1, Exclusive);
    let losers = waiting.map(|pending| victim(&locks, pending).0);
    assert_eq!(locks.statistics().deadlocks, 3);
    finish(&locks, losers.into_iter().chain([closer.granted()]));
}

#[test]
fn whoever_only_stands_in_the_queue_is_not_chosen() {
    let locks = manager();
    let [mut holder, bystander, mut closer] = owners(&locks);
    holder.add_log_weight(50);
    closer.add_log_weight(40);
    take(&locks, &mut holder, 1, Exclusive);
    take(&locks, &mut closer, 2, Exclusive);
    let bystander = ask(&locks, bystander, 1, Exclusive);
    let holder = ask(&locks, holder, 2, Exclusive);
    let (closer, cycle) = victim(&locks, ask(&locks, closer, 1, Exclusive));
    assert_eq!(cycle, [UowId(3), UowId(1)]);
    let mut holder = holder.granted();
    locks.release_all(&mut holder);
    finish(&locks, [holder, bystander.granted(), closer]);
}

#[test]
fn nobody_is_chosen_three_times_in_a_row() {
    let locks = manager();
    let mut times_chosen = 0;
    for round in 0..4 {
        let mut small = locks.owner(UowId(10 + round), times_chosen);
        let mut large = locks.owner(UowId(1), 0);
        large.add_log_weight(1_000_000);
        take(&locks, &mut small, 1, Exclusive);
        take(&locks, &mut large, 2, Exclusive);
        let small = ask(&locks, small, 2, Exclusive);
        let large = ask(&locks, large, 1, Exclusive);
        if round < 2 {
            let (small, _) = victim(&locks, small);
            times_chosen = small.times_chosen();
            assert_eq!(times_chosen, round as u32 + 1);
            finish(&locks, [small, large.granted()]);
        } else {
            let (large, _) = victim(&locks, large);
            finish(&locks, [small.granted(), large]);
        }
    }
}

#[test]
fn if_everybody_was_chosen_often_the_least_log_decides_again() {
    let locks = manager();
    let mut one = locks.owner(UowId(1), 2);
    let mut two = locks.owner(UowId(2), 5);
    one.add_log_weight(70);
    two.add_log_weight(80);
    take(&locks, &mut one, 1, Exclusive);
    take(&locks, &mut two, 2, Exclusive);
    let one = ask(&locks, one, 2, Exclusive);
    let two = ask(&locks, two, 1, Exclusive);
    let (one, _) = victim(&locks, one);
    assert_eq!(one.times_chosen(), 3);
    finish(&locks, [one, two.granted()]);
}
