//! Units of work.

use queue_manager::options::GetOptions;
use queue_manager::options::value::{get, put};
use queue_manager::{MessageDescriptor, Outcome, Reason};
use store::{Read, SetAttributes, Store, Unit, UnitOptions};

use crate::common::{ALL, Calls, System, persistent, reason};

#[test]
fn a_put_is_seen_by_others_after_the_commit() {
    let system = System::new();
    system.queue("Q", &[]);
    let (mut client, mut other) = (system.connect(), system.connect());
    let q = client.open_queue("Q", ALL).unwrap();
    let same = other.open_queue("Q", ALL).unwrap();
    client.put_in_unit(q, "one");
    assert_eq!(other.next(same), Err(Reason::NO_MSG_AVAILABLE));
    let status = system.manager.queue_status("Q").unwrap();
    assert_eq!((status.depth, status.uncommitted), (1, 1));
    assert_eq!(client.commit().unwrap(), Outcome::OK);
    assert_eq!(other.next(same).as_deref(), Ok("one"));
}

#[test]
fn a_backout_takes_puts_away_and_brings_gets_back() {
    let system = System::new();
    system.queue("Q", &[]);
    let (mut client, mut other) = (system.connect(), system.connect());
    let q = client.open_queue("Q", ALL).unwrap();
    let same = other.open_queue("Q", ALL).unwrap();
    client.put_text(q, "a");
    let volatile = MessageDescriptor { persistence: 0, ..persistent() };
    client.put_with(q, volatile, put::NO_SYNCPOINT, b"b").unwrap();
    for round in 1..4 {
        for text in ["a", "b"] {
            let mut md = MessageDescriptor::default();
            let (_, data) =
                client.get_with(q, &mut md, &mut GetOptions::new(get::SYNCPOINT)).unwrap();
            assert_eq!((data.as_slice(), md.backout_count), (text.as_bytes(), round - 1));
        }
        client.put_in_unit(q, "c");
        assert_eq!(other.next(same), Err(Reason::NO_MSG_AVAILABLE));
        client.back().unwrap();
        assert_eq!(system.depth("Q"), 2);
    }
    assert_eq!(other.next(same).as_deref(), Ok("a"));
    assert_eq!(other.next(same).as_deref(), Ok("b"));
}

#[test]
fn what_a_unit_of_work_put_it_can_get() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    for committed in [true, false] {
        client.put_in_unit(q, "own");
        assert_eq!(client.get_text(q, get::NO_SYNCPOINT), Err(Reason::NO_MSG_AVAILABLE));
        assert_eq!(client.get_text(q, get::SYNCPOINT).as_deref(), Ok("own"));
        if committed {
            client.commit().unwrap()
        } else {
            client.back().unwrap()
        };
        assert_eq!(system.depth("Q"), 0);
    }
    let after = system.restarted();
    assert_eq!(after.depth("Q"), 0);
}

#[test]
fn a_connection_that_is_dropped_backs_out_and_one_that_disconnects_commits() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    client.put_in_unit(q, "lost");
    drop(client);
    assert_eq!(system.depth("Q"), 0);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    client.put_in_unit(q, "kept");
    client.disconnect().unwrap();
    assert_eq!(system.depth("Q"), 1);
    assert!(system.manager.connections().is_empty());
}

#[test]
fn closing_a_queue_does_not_end_the_unit_of_work() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    client.put_in_unit(q, "one");
    client.close(q, 0).unwrap();
    assert_eq!(system.manager.queue_status("Q").unwrap().uncommitted, 1);
    client.commit().unwrap();
    let q = client.open_queue("Q", ALL).unwrap();
    assert_eq!(client.next(q).as_deref(), Ok("one"));
}

#[test]
fn syncpoint_if_persistent_takes_only_persistent_messages_into_the_unit_of_work() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    client.put_text(q, "kept");
    let volatile = MessageDescriptor { persistence: 0, ..persistent() };
    client.put_with(q, volatile, put::NO_SYNCPOINT, b"gone").unwrap();
    let option = get::SYNCPOINT_IF_PERSISTENT;
    assert_eq!(client.get_text(q, option).as_deref(), Ok("kept"));
    assert_eq!(client.get_text(q, option).as_deref(), Ok("gone"));
    client.back().unwrap();
    assert_eq!(client.next(q).as_deref(), Ok("kept"));
    assert_eq!(client.next(q), Err(Reason::NO_MSG_AVAILABLE));
}

#[test]
fn a_message_that_is_marked_stays_got_when_the_rest_is_backed_out() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    client.put_text(q, "poison");
    client.put_text(q, "other");
    let marked = get::SYNCPOINT | get::MARK_SKIP_BACKOUT;
    assert_eq!(client.get_text(q, marked).as_deref(), Ok("poison"));
    assert_eq!(client.get_text(q, get::SYNCPOINT).as_deref(), Ok("other"));
    client.back().unwrap();
    assert_eq!(client.get_text(q, get::SYNCPOINT).as_deref(), Ok("other"));
    assert_eq!(client.get_text(q, get::SYNCPOINT), Err(Reason::NO_MSG_AVAILABLE));
    client.commit().unwrap();
    assert_eq!(system.restarted().depth("Q"), 0);
}

#[test]
fn a_unit_of_work_takes_so_many_messages_and_no_more() {
    let system = System::new();
    system.queue("Q", &[]);
    let most = [("MAXUMSGS", 3_i64.into())];
    system.manager.alter(queue_manager::objects::Kind::QueueManager, "QM1", &most).unwrap();
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    for _ in 0..3 {
        client.put_in_unit(q, "x");
    }
    let more = client.put_with(q, persistent(), put::SYNCPOINT, b"x");
    assert_eq!(reason(more), Reason::SYNCPOINT_LIMIT_REACHED);
    assert_eq!(client.get_text(q, get::SYNCPOINT), Err(Reason::SYNCPOINT_LIMIT_REACHED));
    client.put_text(q, "outside");
    client.commit().unwrap();
    assert_eq!(system.depth("Q"), 4);
}

#[test]
fn messages_and_other_sets_are_committed_together() {
    let system = System::new();
    system.queue("Q", &[]);
    let set = system.store.create_set("RECORDS", &SetAttributes::default()).unwrap();
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    for committed in [false, true] {
        let mut unit = system.store.begin(UnitOptions::default()).unwrap();
        unit.put(set, b"key", b"value").unwrap();
        client.join(unit).map_err(|(_, reason)| reason).unwrap();
        // Who does not say takes part, too.
        client.put_with(q, persistent(), 0, b"one").unwrap();
        assert_eq!(reason(client.commit()), Reason::ENVIRONMENT_ERROR);
        assert_eq!(reason(client.back()), Reason::ENVIRONMENT_ERROR);
        let unit = client.leave().unwrap();
        if committed {
            unit.commit().unwrap();
        } else {
            unit.backout().unwrap();
        }
        client.settle(committed);
        assert_eq!(system.depth("Q"), u64::from(committed));
        let mut unit = system.store.begin(UnitOptions::READ_ONLY).unwrap();
        let mut value = Vec::new();
        assert_eq!(unit.get(set, b"key", Read::Shared, &mut value).unwrap(), committed);
    }
    // And back: what is got in a unit of work that is backed out comes back.
    client.join(system.store.begin(UnitOptions::default()).unwrap()).map_err(|_| ()).unwrap();
    assert_eq!(client.get_text(q, 0).as_deref(), Ok("one"));
    client.leave().unwrap().backout().unwrap();
    client.settle(false);
    assert_eq!(system.restarted().depth("Q"), 1);
    // The other way round: another program changes a set in the connection's unit of work.
    client.put_in_unit(q, "two");
    client.unit().unwrap().put(set, b"other", b"value").unwrap();
    client.back().unwrap();
    let mut unit = system.store.begin(UnitOptions::READ_ONLY).unwrap();
    assert!(!unit.get(set, b"other", Read::Shared, &mut Vec::new()).unwrap());
}

#[test]
fn begin_warns_that_nobody_else_takes_part() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let warning = Outcome::warning(Reason::NO_EXTERNAL_PARTICIPANTS);
    assert_eq!(client.begin().unwrap(), warning);
    client.put_in_unit(q, "one");
    assert_eq!(reason(client.begin()), Reason::UOW_IN_PROGRESS);
    let unit = system.store.begin(UnitOptions::default()).unwrap();
    let refused = client.join(unit).map_err(|(_, reason)| reason);
    assert_eq!(refused, Err(Reason::UOW_IN_PROGRESS));
}

#[test]
fn a_message_that_is_backed_out_too_often_moves_where_the_queue_says() {
    let system = System::new();
    system.queue("Q", &[("BOTHRESH", "2"), ("BOQNAME", "POISON")]);
    system.queue("POISON", &[]);
    let kind = queue_manager::objects::Kind::QueueManager;
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let poison = client.open_queue("POISON", ALL).unwrap();
    client.put_text(q, "bad");
    // Unless the queue manager is told to, programs do it themselves.
    for _ in 0..3 {
        client.get_text(q, get::SYNCPOINT).unwrap();
        client.back().unwrap();
    }
    system.manager.alter(kind, "QM1", &[("BOMOVE", "YES".into())]).unwrap();
    client.get_text(q, get::SYNCPOINT).unwrap();
    client.back().unwrap();
    assert_eq!((system.depth("Q"), system.depth("POISON")), (0, 1));
    assert_eq!(client.next(poison).as_deref(), Ok("bad"));
    // Where that queue takes nothing, it becomes a dead letter.
    system.alter("POISON", "PUT", "DISABLED");
    client.put_text(q, "worse");
    for _ in 0..2 {
        client.get_text(q, get::SYNCPOINT).unwrap();
        client.back().unwrap();
    }
    assert_eq!((system.depth("Q"), system.depth("SYSTEM.DEAD.LETTER.QUEUE")), (0, 1));
}
