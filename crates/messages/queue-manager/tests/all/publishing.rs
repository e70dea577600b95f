//! Topics, subscriptions, retained publications.

#![allow(clippy::unwrap_used)] // a test that fails says where

use queue_manager::branch::{BranchCall, BranchId, WorkEnd};
use queue_manager::objects::{Kind, Value};
use queue_manager::options::value::{close, get, open, put, subscribe as so};
use queue_manager::options::{
    GetOptions, Handle, ObjectDescriptor, PutOptions, SubscriptionDescriptor,
};
use queue_manager::{MessageDescriptor, Outcome, Reason};
use store::{KeyRange, Store, Unit, UnitOptions};

use crate::common::{ALL, Calls, Client, System, persistent, reason};

fn topic(string: &str, options: i32) -> SubscriptionDescriptor {
    SubscriptionDescriptor { options, object_string: string.into(), ..Default::default() }
}

const MANAGED: i32 = so::CREATE | so::MANAGED;

fn managed(client: &mut Client, string: &str) -> (Handle, Handle) {
    let (queue, handle, _) = client.subscribe(&mut topic(string, MANAGED), None).unwrap();
    (queue.unwrap(), handle)
}

fn publish(client: &mut Client, string: &str, text: &str, options: i32) -> Outcome {
    let mut what = ObjectDescriptor::topic(string);
    let mut options = PutOptions::new(options);
    client.put1(&mut what, &mut persistent(), &mut options, text.as_bytes()).unwrap()
}

#[test]
fn publications_go_to_all_whose_topic_matches() {
    let system = System::new();
    let mut client = system.connect();
    let (exact, _) = managed(&mut client, "price/fruit/apple");
    let (level, _) = managed(&mut client, "price/+/apple");
    let (all, _) = managed(&mut client, "price/#");
    let characters = so::WILDCARD_CHAR | MANAGED;
    let (queue, ..) = client.subscribe(&mut topic("price*pp?e", characters), None).unwrap();
    let characters = queue.unwrap();
    let (other, _) = managed(&mut client, "price/fruit");
    publish(&mut client, "price/fruit/apple", "1.20", put::NO_SYNCPOINT);
    publish(&mut client, "price", "none", put::NO_SYNCPOINT);
    for queue in [exact, level, all, characters] {
        assert_eq!(client.next(queue).as_deref(), Ok("1.20"));
    }
    assert_eq!(client.next(all).as_deref(), Ok("none"));
    assert_eq!(client.next(other), Err(Reason::NO_MSG_AVAILABLE));
    let warn = put::WARN_IF_NO_SUBS_MATCHED;
    let outcome = publish(&mut client, "unheard", "of", warn);
    assert_eq!(outcome, Outcome::warning(Reason::NO_SUBS_MATCHED));
}

#[test]
fn a_publication_in_a_unit_of_work_arrives_with_it() {
    let system = System::new();
    let mut client = system.connect();
    let (queue, _) = managed(&mut client, "a");
    publish(&mut client, "a", "lost", put::SYNCPOINT);
    client.back().unwrap();
    publish(&mut client, "a", "kept", put::SYNCPOINT | put::RETAIN);
    assert_eq!(client.next(queue), Err(Reason::NO_MSG_AVAILABLE));
    client.commit().unwrap();
    assert_eq!(client.next(queue).as_deref(), Ok("kept"));
    assert_eq!(client.next(queue), Err(Reason::NO_MSG_AVAILABLE));
}

#[test]
fn retained_publications_wait_for_those_who_come_later() {
    let system = System::new();
    let mut client = system.connect();
    for text in ["old", "new"] {
        publish(&mut client, "state/a", text, put::RETAIN);
    }
    publish(&mut client, "state/b", "b", put::RETAIN);
    assert_eq!(system.depth("SYSTEM.RETAINED.PUB.QUEUE"), 2);
    drop(client);
    let system = system.restarted();
    let mut client = system.connect();
    let (queue, _) = managed(&mut client, "state/a");
    let handle = client.create_message_handle().unwrap();
    let mut options = GetOptions { msg_handle: Some(handle), ..GetOptions::default() };
    let (_, data) =
        client.get_with(queue, &mut MessageDescriptor::default(), &mut options).unwrap();
    assert_eq!(data, b"new");
    let topic_of = client.inquire_property(handle, "mqps.Top", Default::default()).unwrap();
    assert_eq!(topic_of.value, queue_manager::properties::PropertyValue::String("state/a".into()));
    // On request, and only then.
    let on_request = MANAGED | so::PUBLICATIONS_ON_REQUEST;
    let (queue, subscription, _) =
        client.subscribe(&mut topic("state/#", on_request), None).unwrap();
    let queue = queue.unwrap();
    assert_eq!(client.next(queue), Err(Reason::NO_MSG_AVAILABLE));
    assert_eq!(client.subscription_request(subscription, 1).unwrap(), 2);
    assert_eq!(client.next(queue).as_deref(), Ok("new"));
    assert_eq!(client.next(queue).as_deref(), Ok("b"));
    assert_eq!(reason(client.subscription_request(subscription, 7)), Reason::SRO_ERROR);
    assert!(system.manager.clear_retained("state/a").unwrap());
    assert!(!system.manager.clear_retained("state/a").unwrap());
    let (_, none) = managed(&mut client, "state/a");
    assert_eq!(reason(client.subscription_request(none, 1)), Reason::NO_RETAINED_MSG);
}

#[test]
fn what_a_prepared_branch_replaces_is_retained_until_it_is_decided() {
    for commits in [true, false] {
        let branch = BranchId::new(1, b"transaction", b"branch").unwrap();
        let system = System::new();
        let mut client = system.connect();
        publish(&mut client, "state/a", "old", put::RETAIN);
        client.branch(&BranchCall::Start(branch.clone())).unwrap();
        publish(&mut client, "state/a", "new", put::RETAIN | put::SYNCPOINT);
        client.branch(&BranchCall::End(branch.clone(), WorkEnd::Done)).unwrap();
        client.branch(&BranchCall::Prepare(branch.clone())).unwrap();
        drop(client);
        let retained = |system: &System| {
            let mut client = system.connect();
            let (queue, _) = managed(&mut client, "state/a");
            let text = client.next(queue);
            assert_eq!(client.next(queue), Err(Reason::NO_MSG_AVAILABLE));
            text
        };
        assert_eq!(retained(&system).as_deref(), Ok("old"));
        let system = system.restarted();
        assert_eq!(retained(&system).as_deref(), Ok("old"));
        let mut client = system.connect();
        let call = match commits {
            true => BranchCall::Commit { branch, one_phase: false },
            false => BranchCall::BackOut(branch),
        };
        client.branch(&call).unwrap();
        let expected = if commits { "new" } else { "old" };
        assert_eq!(retained(&system).as_deref(), Ok(expected));
        assert_eq!(retained(&system.restarted()).as_deref(), Ok(expected));
    }
}

#[test]
fn a_durable_subscription_collects_while_nobody_is_there() {
    let system = System::new();
    let durable = MANAGED | so::DURABLE;
    let mut what = SubscriptionDescriptor { sub_name: "S1".into(), ..topic("a/b", durable) };
    let mut client = system.connect();
    client.subscribe(&mut what, None).unwrap();
    let mut again = what.clone();
    assert_eq!(reason(client.subscribe(&mut again, None)), Reason::SUB_ALREADY_EXISTS);
    again.options = so::RESUME;
    assert_eq!(reason(client.subscribe(&mut again, None)), Reason::SUBSCRIPTION_IN_USE);
    drop(client);
    let mut client = system.connect();
    publish(&mut client, "a/b", "meanwhile", 0);
    drop(client);
    let system = system.restarted();
    let mut client = system.connect();
    let (queue, handle, _) = client.subscribe(&mut again, None).unwrap();
    assert_eq!(client.next(queue.unwrap()).as_deref(), Ok("meanwhile"));
    assert_eq!(again.resolved_object_string, "a/b");
    client.close(handle, close::REMOVE_SUB).unwrap();
    assert!(system.manager.subscriptions("S1").is_empty());
    let missing = client.subscribe(&mut again, None);
    assert_eq!(reason(missing), Reason::NO_SUBSCRIPTION);
}

#[test]
fn a_subscription_may_name_its_queue_and_its_identifiers() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let mut what = topic("a", so::CREATE | so::SET_CORREL_ID);
    what.sub_correl_id = [9; 24];
    what.selection_string = "JMSPriority > 3".into();
    what.pub_priority = 7;
    let (none, handle, _) = client.subscribe(&mut what, Some(q)).unwrap();
    assert!(none.is_none());
    publish(&mut client, "a", "priority zero", 0);
    let mut to = ObjectDescriptor::topic("a");
    let mut md = MessageDescriptor { priority: 5, ..persistent() };
    client.put1(&mut to, &mut md, &mut PutOptions::new(0), b"five").unwrap();
    let mut md = MessageDescriptor::default();
    let (_, data) = client.get_with(q, &mut md, &mut GetOptions::default()).unwrap();
    assert_eq!((data.as_slice(), md.correl_id, md.priority), (&b"five"[..], [9; 24], 7));
    client.close(handle, 0).unwrap();
    assert_eq!(publish(&mut client, "a", "x", put::WARN_IF_NO_SUBS_MATCHED).reason.0, 2_550);
}

#[test]
fn own_subscriptions_and_higher_levels_can_be_left_out() {
    let system = System::new();
    let (mut client, mut other) = (system.connect(), system.connect());
    let (own, _) = managed(&mut client, "a");
    let (theirs, _) = managed(&mut other, "a");
    publish(&mut client, "a", "x", put::NOT_OWN_SUBS);
    assert_eq!(client.next(own), Err(Reason::NO_MSG_AVAILABLE));
    assert_eq!(other.next(theirs).as_deref(), Ok("x"));
    let mut high = SubscriptionDescriptor { sub_level: 5, ..topic("a", MANAGED) };
    let (queue, ..) = client.subscribe(&mut high, None).unwrap();
    let mut options = PutOptions { pub_level: 3, ..PutOptions::new(0) };
    let mut to = ObjectDescriptor::topic("a");
    client.put1(&mut to, &mut persistent(), &mut options, b"low").unwrap();
    assert_eq!(client.next(queue.unwrap()), Err(Reason::NO_MSG_AVAILABLE));
    assert_eq!(client.next(own).as_deref(), Ok("low"));
}

#[test]
fn topics_can_be_closed_and_their_rules_go_down_the_tree() {
    let system = System::new();
    system.define(Kind::Topic, "T", &[("TOPICSTR", "shut"), ("PUB", "DISABLED"), ("DURSUB", "NO")]);
    system.define(Kind::Topic, "U", &[("TOPICSTR", "shut/but"), ("PUB", "ENABLED")]);
    system.define(Kind::Topic, "V", &[("TOPICSTR", "deaf"), ("SUB", "DISABLED")]);
    let mut client = system.connect();
    let mut options = PutOptions::new(0);
    let closed =
        client.put1(&mut ObjectDescriptor::topic("shut/x"), &mut persistent(), &mut options, b"");
    assert_eq!(reason(closed), Reason::PUT_INHIBITED);
    publish(&mut client, "shut/but/y", "x", 0);
    let deaf = client.subscribe(&mut topic("deaf/x", MANAGED), None);
    assert_eq!(reason(deaf), Reason::SUB_INHIBITED);
    let mut durable = topic("shut", MANAGED | so::DURABLE);
    assert_eq!(reason(client.subscribe(&mut durable, None)), Reason::SUB_NAME_ERROR);
    durable.sub_name = "D".into();
    assert_eq!(reason(client.subscribe(&mut durable, None)), Reason::DURABILITY_NOT_ALLOWED);
    // A topic object gives the string in front.
    let mut what = SubscriptionDescriptor { object_name: "U".into(), ..topic("z", MANAGED) };
    client.subscribe(&mut what, None).unwrap();
    assert_eq!(what.resolved_object_string, "shut/but/z");
    let mut nothing = topic("", MANAGED);
    assert_eq!(reason(client.subscribe(&mut nothing, None)), Reason::TOPIC_STRING_ERROR);
    nothing.options = so::CREATE;
    assert_eq!(reason(client.subscribe(&mut nothing, None)), Reason::HOBJ_ERROR);
    nothing.options = 0;
    assert_eq!(reason(client.subscribe(&mut nothing, None)), Reason::OPTIONS_ERROR);
}

#[test]
fn a_queue_that_takes_nothing_makes_a_dead_letter_or_fails_the_publication() {
    let system = System::new();
    system.queue("FULL", &[("MAXDEPTH", "0")]);
    system.queue("GOOD", &[]);
    for (name, queue) in [("S1", "GOOD"), ("S2", "FULL")] {
        let sub = [("TOPICSTR", Value::from("a")), ("DEST", Value::from(queue))];
        system.manager.define(Kind::Subscription, name, &sub, false, None).unwrap();
    }
    let mut client = system.connect();
    publish(&mut client, "a", "one", 0);
    assert_eq!(system.depth("SYSTEM.DEAD.LETTER.QUEUE"), 1);
    assert_eq!(system.depth("GOOD"), 1);
    let base = [("USEDLQ", Value::from("NO"))];
    system.manager.alter(Kind::Topic, "SYSTEM.BASE.TOPIC", &base).unwrap();
    for options in [put::NO_SYNCPOINT, put::SYNCPOINT] {
        let failed = client.put1(
            &mut ObjectDescriptor::topic("a"),
            &mut persistent(),
            &mut PutOptions::new(options),
            b"two",
        );
        assert_eq!(reason(failed), Reason::PUBLICATION_FAILURE);
        client.commit().unwrap();
        assert_eq!(system.depth("GOOD"), 1);
    }
    system.manager.delete(Kind::Subscription, "S2", false).unwrap();
    publish(&mut client, "a", "three", 0);
    assert_eq!(system.depth("GOOD"), 2);
    let q = client.open_queue("GOOD", open::INPUT_SHARED).unwrap();
    assert_eq!(client.get_text(q, get::NO_PROPERTIES).as_deref(), Ok("one"));
}

#[test]
fn an_alias_may_lead_to_a_topic() {
    let system = System::new();
    system.define(Kind::Topic, "T", &[("TOPICSTR", "news")]);
    system.define(Kind::QueueAlias, "AS.QUEUE", &[("TARGET", "T"), ("TARGTYPE", "TOPIC")]);
    let mut client = system.connect();
    let (queue, _) = managed(&mut client, "news");
    let alias = client.open_queue("AS.QUEUE", open::OUTPUT).unwrap();
    client.put_text(alias, "one");
    client
        .put1(
            &mut ObjectDescriptor::queue("AS.QUEUE"),
            &mut persistent(),
            &mut PutOptions::new(0),
            b"two",
        )
        .unwrap();
    assert_eq!(client.next(queue).as_deref(), Ok("one"));
    assert_eq!(client.next(queue).as_deref(), Ok("two"));
}

#[test]
fn a_subscription_ends_when_its_time_is_over() {
    let system = System::new();
    let mut client = system.connect();
    let durable = MANAGED | so::DURABLE;
    let mut what = SubscriptionDescriptor { sub_name: "S".into(), ..topic("a", durable) };
    what.sub_expiry = 10;
    client.subscribe(&mut what, None).unwrap();
    system.clock.pass(999);
    system.manager.tick();
    assert_eq!(system.manager.subscriptions("*").len(), 1);
    system.clock.pass(1);
    system.manager.tick();
    assert!(system.manager.subscriptions("*").is_empty());
    assert!(system.manager.list(Kind::Subscription, "*").is_empty());
}

// The queue manager did not start: with one of them damaged, or with what a program had put there.
#[test]
fn what_is_no_whole_publication_keeps_nobody_from_starting() {
    let system = System::new();
    let mut client = system.connect();
    publish(&mut client, "state/a", &"x".repeat(50_000), put::RETAIN);
    publish(&mut client, "state/b", "b", put::RETAIN);
    let queue = client.open_queue("SYSTEM.RETAINED.PUB.QUEUE", open::OUTPUT).unwrap();
    let md = MessageDescriptor { format: *b"MQHRF2  ", ..persistent() };
    client.put_with(queue, md, put::NO_SYNCPOINT, b"no header").unwrap();
    let set = system.store.set("HOLDFAST.MQ.DATA").unwrap().unwrap();
    let mut unit = system.store.begin(UnitOptions::default()).unwrap();
    assert_eq!(unit.delete_range(set, KeyRange::ALL).unwrap(), 2);
    unit.commit().unwrap();
    // One that is found damaged later hinders nobody either.
    let (both, _) = managed(&mut client, "state/#");
    assert_eq!(client.next(both).as_deref(), Ok("b"));
    drop(client);
    let system = system.restarted();
    let mut client = system.connect();
    let (both, _) = managed(&mut client, "state/#");
    assert_eq!(client.next(both).as_deref(), Ok("b"));
    assert_eq!(client.next(both), Err(Reason::NO_MSG_AVAILABLE));
    assert_eq!(system.manager.queue_status("SYSTEM.RETAINED.PUB.QUEUE").unwrap().damaged, 1);
}
