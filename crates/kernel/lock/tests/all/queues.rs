//! Who gets a lock when, without deadlocks: order, conversions, time, budgets, early release.

use std::time::Duration;

use crate::common::{ask, finish, manager, name, owners, take, until, with};
use base::{Code, Coded, DataSetId, UowId};
use holdfast_lock::{Acquired, Limit, LockConfig, LockError, LockName, Mode, Wait};
use seam::stop::StopSwitch;

use Mode::{Exclusive, IntentExclusive, IntentShared, Shared, SharedIntentExclusive, Update};

#[test]
fn what_is_held_is_not_taken_again_and_what_is_weaker_is_converted() {
    let locks = manager();
    let [mut owner] = owners(&locks);
    let mut acquire = |mode| locks.acquire(&mut owner, name(1), mode, Wait::No).unwrap();
    assert_eq!(acquire(IntentExclusive), Acquired::New);
    assert_eq!(acquire(IntentShared), Acquired::AlreadyHeld);
    assert_eq!(acquire(Shared), Acquired::Converted);
    assert_eq!(owner.mode_of(name(1)), Some(SharedIntentExclusive));
    assert!(locks.holds(&owner, name(1), Shared) && !locks.holds(&owner, name(1), Exclusive));
    assert_eq!(owner.locks_held(), 1);
    finish(&locks, [owner]);
}

#[test]
fn requests_are_served_in_the_order_of_their_arrival() {
    let locks = manager();
    let [mut holder, first, second, third] = owners(&locks);
    take(&locks, &mut holder, 1, Exclusive);
    let first = ask(&locks, first, 1, Exclusive);
    let second = ask(&locks, second, 1, Shared);
    let third = ask(&locks, third, 1, Exclusive);
    locks.release_all(&mut holder);
    let mut first = first.granted();
    assert!(!second.is_over() && !third.is_over());
    locks.release_all(&mut first);
    let mut second = second.granted();
    assert!(!third.is_over());
    locks.release_all(&mut second);
    let third = third.granted();
    finish(&locks, [holder, first, second, third]);
}

#[test]
fn readers_do_not_overtake_a_writer_that_waits() {
    let locks = manager();
    let [mut reader, writer, mut late] = owners(&locks);
    take(&locks, &mut reader, 1, Shared);
    let writer = ask(&locks, writer, 1, Exclusive);
    let refused = locks.acquire(&mut late, name(1), Shared, Wait::No).unwrap_err();
    let expected = LockError::WouldBlock { object: name(1), mode: Shared, holder: UowId(2) };
    assert_eq!(refused, expected);
    assert_eq!(refused.code(), Code("HFK003"));
    let late = ask(&locks, late, 1, Shared);
    locks.release_all(&mut reader);
    let mut writer = writer.granted();
    locks.release_all(&mut writer);
    finish(&locks, [reader, writer, late.granted()]);
}

#[test]
fn a_request_that_delays_nobody_goes_past_the_queue() {
    let locks = manager();
    let [mut holder, reader, mut other, mut fourth] = owners(&locks);
    take(&locks, &mut holder, 1, IntentExclusive);
    let reader = ask(&locks, reader, 1, Shared);
    // Intent Shared is compatible with the holder and with the one that waits.
    take(&locks, &mut other, 1, IntentShared);
    // Intent Exclusive is compatible with the holder only.
    assert!(locks.acquire(&mut fourth, name(1), IntentExclusive, Wait::No).is_err());
    take(&locks, &mut fourth, 1, IntentShared);
    locks.release_all(&mut holder);
    finish(&locks, [holder, reader.granted(), other, fourth]);
}

#[test]
fn a_conversion_stands_before_new_requests() {
    let locks = manager();
    let [mut one, mut two, newcomer] = owners(&locks);
    take(&locks, &mut one, 1, Shared);
    take(&locks, &mut two, 1, Shared);
    let newcomer = ask(&locks, newcomer, 1, Exclusive);
    let one = ask(&locks, one, 1, Exclusive);
    locks.release_all(&mut two);
    let (mut one, got) = one.end();
    assert_eq!(got, Ok(Acquired::Converted));
    assert!(!newcomer.is_over());
    assert!(locks.holds(&one, name(1), Exclusive));
    locks.release_all(&mut one);
    finish(&locks, [one, two, newcomer.granted()]);
}

#[test]
fn update_stands_beside_readers_until_its_holder_wants_to_change() {
    let locks = manager();
    let [mut reader, mut updater, mut late, mut rival] = owners(&locks);
    take(&locks, &mut reader, 1, Shared);
    take(&locks, &mut updater, 1, Update);
    take(&locks, &mut late, 1, Shared);
    assert!(locks.acquire(&mut rival, name(1), Update, Wait::No).is_err());
    let updater = ask(&locks, updater, 1, Exclusive);
    // New readers do not keep it waiting.
    assert!(locks.acquire(&mut rival, name(1), Shared, Wait::No).is_err());
    locks.release_all(&mut reader);
    assert!(!updater.is_over());
    locks.release_all(&mut late);
    finish(&locks, [reader, updater.granted(), late, rival]);
}

#[test]
fn the_time_of_a_wait_is_limited_and_names_the_holder() {
    let locks = with(LockConfig { timeout: Some(Duration::from_millis(5)), ..Default::default() });
    let [mut holder, mut waiter, mut third] = owners(&locks);
    take(&locks, &mut holder, 1, IntentExclusive);
    let limits = [Wait::Yes, Wait::AtMost(Duration::from_millis(2)), Wait::AtMost(Duration::ZERO)];
    for wait in limits {
        let late = locks.acquire(&mut waiter, name(1), Shared, wait).unwrap_err();
        assert_eq!(late.code(), Code("HFK002"));
        let LockError::Timeout { object, mode, waiter, holder, waited } = late else {
            panic!("{late}");
        };
        assert_eq!((object, mode), (name(1), Shared));
        assert_eq!((waiter, holder), (UowId(2), UowId(1)));
        assert!(waited >= Duration::from_millis(2) || wait == Wait::AtMost(Duration::ZERO));
    }
    // Whoever gave up is in nobody's way.
    take(&locks, &mut third, 1, IntentExclusive);
    assert_eq!(locks.statistics().timeouts, 3);
    assert_eq!(waiter.locks_held(), 0);
    finish(&locks, [holder, waiter, third]);
}

#[test]
fn whoever_stood_behind_one_that_gave_up_goes_on() {
    let locks = manager();
    let [mut holder, mut impatient, patient] = owners(&locks);
    take(&locks, &mut holder, 1, Shared);
    let inner = std::sync::Arc::clone(&locks);
    let thread = seam::thread::spawn("impatient", move || {
        let wait = Wait::AtMost(Duration::from_millis(400));
        assert!(inner.acquire(&mut impatient, name(1), Exclusive, wait).is_err());
    })
    .unwrap();
    until("the writer waits", || locks.statistics().waiting == 1);
    let patient = ask(&locks, patient, 1, Shared);
    thread.join();
    finish(&locks, [patient.granted(), holder]);
}

#[test]
fn each_budget_refuses_by_its_own_name() {
    let config = LockConfig { locks_max: 12, locks_per_owner_max: 8, ..LockConfig::default() };
    let locks = with(config);
    let [mut large, mut other] = owners(&locks);
    (0..8).for_each(|number| take(&locks, &mut large, number, Shared));
    let refused = locks.acquire(&mut large, name(8), Shared, Wait::Yes).unwrap_err();
    let (object, uow) = (name(8), UowId(1));
    assert_eq!(refused, LockError::Budget { limit: Limit::PerOwner, max: 8, object, uow });
    assert!(refused.to_string().contains("locks.locks_per_unit_max = 8"), "{refused}");
    // What it holds it may still strengthen.
    take(&locks, &mut large, 0, Exclusive);

    (10..14).for_each(|number| take(&locks, &mut other, number, Shared));
    let refused = locks.acquire(&mut other, name(14), Shared, Wait::Yes).unwrap_err();
    assert!(matches!(refused, LockError::Budget { limit: Limit::Total, max: 12, .. }));
    assert_eq!(refused.code(), Code("HFK004"));
    // What is given back can be taken again, by anybody.
    for round in 0..100 {
        assert!(locks.release(&mut large, name(round % 8)));
        if round % 2 == 0 {
            take(&locks, &mut other, 100, Shared);
            assert!(locks.acquire(&mut large, name(round % 8), Shared, Wait::No).is_err());
            assert!(locks.release(&mut other, name(100)));
        }
        take(&locks, &mut large, round % 8, Shared);
    }
    finish(&locks, [large, other]);
}

#[test]
fn a_refused_wait_costs_no_budget() {
    let locks = with(LockConfig { locks_max: 2, ..LockConfig::default() });
    let [mut holder, mut other] = owners(&locks);
    take(&locks, &mut holder, 1, Exclusive);
    for _ in 0..10 {
        assert!(locks.acquire(&mut other, name(1), Shared, Wait::No).is_err());
        let wait = Wait::AtMost(Duration::from_micros(1));
        assert!(locks.acquire(&mut other, name(1), Shared, wait).is_err());
    }
    take(&locks, &mut other, 2, Exclusive);
    finish(&locks, [holder, other]);
}

#[test]
fn escalation_trades_the_locks_on_keys_for_one_on_their_set() {
    let config = LockConfig { locks_per_owner_max: 10, ..LockConfig::default() };
    let locks = with(config);
    let [mut owner, mut other] = owners(&locks);
    let (set, elsewhere) = (DataSetId(1), DataSetId(2));
    let key = |number: u8| LockName::key(set, &[number]);
    locks.acquire(&mut owner, LockName::set(set), IntentExclusive, Wait::No).unwrap();
    locks.acquire(&mut owner, LockName::key(elsewhere, b"a"), Exclusive, Wait::No).unwrap();
    for number in 0..8 {
        let mode = if number < 3 { Exclusive } else { Shared };
        locks.acquire(&mut owner, key(number), mode, Wait::No).unwrap();
    }
    assert!(locks.acquire(&mut owner, key(8), Shared, Wait::No).is_err());

    // To read all of the set: the locks for reading go, those for writing stay.
    assert_eq!(locks.escalate(&mut owner, set, Shared, Wait::No), Ok(5));
    assert!(locks.holds(&owner, LockName::set(set), SharedIntentExclusive));
    assert!(locks.holds(&owner, key(1), Exclusive) && !locks.holds(&owner, key(4), Shared));
    let intent = locks.acquire(&mut other, LockName::set(set), IntentExclusive, Wait::No);
    assert!(intent.is_err());

    assert_eq!(locks.escalate(&mut owner, set, Exclusive, Wait::No), Ok(3));
    assert!(locks.holds(&owner, LockName::key(elsewhere, b"a"), Exclusive));
    assert_eq!((owner.locks_held(), locks.statistics().escalations), (2, 2));
    finish(&locks, [owner, other]);
}

#[test]
fn escalation_works_where_the_budget_of_the_owner_is_used_up_without_an_intent() {
    let locks = with(LockConfig { locks_per_owner_max: 2, ..LockConfig::default() });
    let [mut owner] = owners(&locks);
    let set = DataSetId(1);
    locks.acquire(&mut owner, LockName::key(set, b"a"), Exclusive, Wait::No).unwrap();
    locks.acquire(&mut owner, LockName::end(set), Exclusive, Wait::No).unwrap();
    assert_eq!(locks.escalate(&mut owner, set, Exclusive, Wait::No), Ok(2));
    assert_eq!(owner.locks_held(), 1);
    finish(&locks, [owner]);
}

#[test]
fn an_instant_lock_waits_but_is_not_kept() {
    let locks = manager();
    let [mut reader, mut inserter, mut third] = owners(&locks);
    take(&locks, &mut reader, 1, Shared);
    assert!(locks.acquire_instant(&mut inserter, name(1), IntentExclusive, Wait::No).is_err());
    let inner = std::sync::Arc::clone(&locks);
    let thread = seam::thread::spawn("inserter", move || {
        inner.acquire_instant(&mut inserter, name(1), Exclusive, Wait::Yes).unwrap();
        assert_eq!(inserter.locks_held(), 0);
    })
    .unwrap();
    until("the inserter waits", || locks.statistics().waiting == 1);
    locks.release_all(&mut reader);
    until("the inserter goes on", || locks.statistics().waiting == 0);
    thread.join();
    take(&locks, &mut third, 1, Exclusive);
    finish(&locks, [reader, third]);
}

#[test]
fn an_instant_lock_on_what_is_held_leaves_its_mode() {
    let locks = manager();
    let [mut one, mut two] = owners(&locks);
    take(&locks, &mut one, 1, Shared);
    take(&locks, &mut two, 1, Shared);
    assert!(locks.acquire_instant(&mut one, name(1), Exclusive, Wait::No).is_err());
    locks.release_all(&mut two);
    locks.acquire_instant(&mut one, name(1), Exclusive, Wait::No).unwrap();
    assert_eq!(one.mode_of(name(1)), Some(Shared));
    take(&locks, &mut two, 1, Shared);
    finish(&locks, [one, two]);
}

#[test]
fn early_release_and_downgrade_let_others_in() {
    let locks = manager();
    let [mut one, two, three] = owners(&locks);
    take(&locks, &mut one, 1, Exclusive);
    take(&locks, &mut one, 2, Exclusive);
    let two = ask(&locks, two, 1, Shared);
    let three = ask(&locks, three, 2, IntentShared);
    assert!(locks.release(&mut one, name(1)) && !locks.release(&mut one, name(1)));
    locks.downgrade(&mut one, name(2), Shared).unwrap();
    let refused = locks.downgrade(&mut one, name(2), Exclusive).unwrap_err();
    assert_eq!(refused.code(), Code("HFK006"));
    assert_eq!(one.mode_of(name(2)), Some(Shared));
    finish(&locks, [two.granted(), three.granted(), one]);
}

#[test]
fn a_partial_backout_lets_go_of_what_was_locked_since() {
    let locks = manager();
    let [mut one, mut two] = owners(&locks);
    for number in 0..20 {
        take(&locks, &mut one, number, Shared);
    }
    let mark = locks.mark(&one);
    for number in 10..40 {
        take(&locks, &mut one, number, Exclusive);
    }
    locks.release_since(&mut one, mark);
    assert_eq!(one.locks_held(), 20);
    // Converted since, so it stays as strong as it became.
    assert!(locks.holds(&one, name(15), Exclusive));
    (20..40).for_each(|number| take(&locks, &mut two, number, Exclusive));
    finish(&locks, [one, two]);
}

#[test]
fn a_stopped_kernel_ends_every_wait() {
    let locks = manager();
    let [mut holder, one, two, mut late] = owners(&locks);
    take(&locks, &mut holder, 1, Exclusive);
    let one = ask(&locks, one, 1, Exclusive);
    let two = ask(&locks, two, 1, Shared);
    let stopped = StopSwitch::default().stop("the log cannot be written");
    locks.wake_all_stopped(&stopped);
    for (owner, result) in [one.end(), two.end()] {
        assert_eq!(result, Err(LockError::Stopped(stopped.clone())));
        drop(owner);
    }
    let result = locks.acquire(&mut late, name(1), Shared, Wait::Yes);
    assert_eq!(result, Err(LockError::Stopped(stopped)));
    finish(&locks, [holder, late]);
}

#[test]
fn operators_see_who_holds_and_who_waits_for_whom() {
    let locks = manager();
    let [mut one, mut two, three] = owners(&locks);
    take(&locks, &mut one, 1, Shared);
    take(&locks, &mut two, 1, Shared);
    let three = ask(&locks, three, 1, Exclusive);
    let lines: Vec<String> = locks.print().iter().map(ToString::to_string).collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.contains(&"space 1 object 0x1 held in S by uow1".to_owned()), "{lines:?}");
    assert_eq!(lines[2], "space 1 object 0x1 wanted in X by uow3, behind uow1 uow2");
    locks.release_all(&mut one);
    locks.release_all(&mut two);
    let statistics = locks.statistics();
    assert_eq!((statistics.waits, statistics.acquired), (1, 3));
    let three = three.granted();
    assert_eq!(locks.statistics().wait_us.count, 1);
    finish(&locks, [one, two, three]);
}

#[test]
fn an_owner_that_is_dropped_with_locks_lets_nobody_see_what_they_protect() {
    let locks = manager();
    let [mut lost, mut other] = owners(&locks);
    take(&locks, &mut lost, 1, Exclusive);
    drop(lost);
    assert!(locks.acquire(&mut other, name(1), Shared, Wait::No).is_err());
    assert_eq!(locks.statistics().owners_abandoned, 1);
}

#[test]
fn owners_come_and_go_and_their_slots_are_used_again() {
    let locks = manager();
    for round in 0..1_000 {
        let mut owner = locks.owner(UowId(round), 0);
        assert_eq!((owner.locks_held(), owner.uow()), (0, UowId(round)));
        (0..20).for_each(|number| take(&locks, &mut owner, number, Exclusive));
        locks.release_all(&mut owner);
    }
    finish(&locks, []);
}
