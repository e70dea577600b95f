//! Subscriptions of others: who takes them up, and what a call that fails leaves.

#![allow(clippy::unwrap_used)] // a test that fails says where

use queue_manager::objects::{Kind, Value};
use queue_manager::options::value::{close, get, open, put, subscribe as so};
use queue_manager::options::{ObjectDescriptor, PutOptions, SubscriptionDescriptor};
use queue_manager::{MessageDescriptor, QueueManager, Reason};
use store_suite::model::ModelStore;

use crate::common::{Calls, Client, System, persistent, reason};
use crate::security::{connect, grant, manager};

const TOPIC: (&str, &str) = ("SYSTEM.BASE.TOPIC", "TOPIC");

fn durable(options: i32) -> SubscriptionDescriptor {
    SubscriptionDescriptor {
        options,
        object_string: "news".into(),
        sub_name: "S".into(),
        ..SubscriptionDescriptor::default()
    }
}

/// With a durable subscription of ann's that no handle has.
fn with_subscription(more: i32) -> QueueManager<ModelStore> {
    let manager = manager();
    for user in ["ann", "bob"] {
        grant(&manager, ("SELF", "QMGR"), (user, "PRINCIPAL"), &["CONNECT"]);
    }
    grant(&manager, TOPIC, ("ann", "PRINCIPAL"), &["SUB", "RESUME"]);
    let mut ann = connect(&manager, "ann").unwrap();
    let create = so::CREATE | so::DURABLE | so::MANAGED | more;
    let (_, handle, _) = ann.subscribe(&mut durable(create), None).unwrap();
    ann.close(handle, close::KEEP_SUB).unwrap();
    manager
}

fn expiry(manager: &QueueManager<ModelStore>) -> Option<Value> {
    manager.object(Kind::Subscription, "S").unwrap().get("EXPIRY").cloned()
}

// The change was kept before anybody was asked, and the subscription stayed in use for good.
#[test]
fn an_alteration_that_is_refused_changes_nothing_and_locks_nobody_out() {
    let manager = with_subscription(0);
    grant(&manager, TOPIC, ("bob", "PRINCIPAL"), &["SUB"]);
    let mut bob = connect(&manager, "bob").unwrap();
    let before = expiry(&manager);
    let mut what = SubscriptionDescriptor { sub_expiry: 10, ..durable(so::ALTER) };
    assert_eq!(reason(bob.subscribe(&mut what, None)), Reason::NOT_AUTHORIZED);
    assert_eq!(reason(bob.subscribe(&mut durable(so::RESUME), None)), Reason::NOT_AUTHORIZED);
    assert_eq!(expiry(&manager), before);
    let mut ann = connect(&manager, "ann").unwrap();
    // A call that fails later gives it back, too.
    let mut other =
        SubscriptionDescriptor { object_string: "another".into(), ..durable(so::ALTER) };
    assert_eq!(reason(ann.subscribe(&mut other, None)), Reason::ALTER_SUB_ERROR);
    let (queue, handle, _) = ann.subscribe(&mut what, None).unwrap();
    assert!(queue.is_some());
    assert_ne!(expiry(&manager), before);
    // Who has altered it has it.
    let mut second = connect(&manager, "ann").unwrap();
    let refused = second.subscribe(&mut durable(so::RESUME), None);
    assert_eq!(reason(refused), Reason::SUBSCRIPTION_IN_USE);
    ann.close(handle, close::KEEP_SUB).unwrap();
    assert!(second.subscribe(&mut durable(so::RESUME), None).is_ok());
}

#[test]
fn a_subscription_that_cannot_be_made_whole_leaves_nothing() {
    let manager = manager();
    grant(&manager, ("SELF", "QMGR"), ("bob", "PRINCIPAL"), &["CONNECT"]);
    grant(&manager, TOPIC, ("bob", "PRINCIPAL"), &["SUB"]);
    // The queue that is made for it does not take what is to be sent to it.
    let shut = [("PUT", Value::from("DISABLED")), ("DEFTYPE", Value::from("PERMDYN"))];
    manager.define(Kind::QueueModel, "SHUT", &shut, false, None).unwrap();
    let news = [
        ("TOPICSTR", Value::from("news")),
        ("MDURMDL", Value::from("SHUT")),
        ("MNDURMDL", Value::from("SHUT")),
        ("USEDLQ", Value::from("NO")),
    ];
    manager.define(Kind::Topic, "NEWS", &news, false, None).unwrap();
    let mut root = connect(&manager, "root").unwrap();
    let mut retained = PutOptions::new(put::RETAIN);
    let mut topic = ObjectDescriptor::topic("news");
    root.put1(&mut topic, &mut persistent(), &mut retained, b"x").unwrap();
    let mut bob = connect(&manager, "bob").unwrap();
    for options in [so::CREATE | so::MANAGED, so::CREATE | so::MANAGED | so::DURABLE] {
        let refused = bob.subscribe(&mut durable(options), None);
        assert_eq!(reason(refused), Reason::PUT_INHIBITED);
    }
    assert!(manager.list(Kind::QueueLocal, "SYSTEM.MANAGED.*").is_empty());
    assert!(manager.subscriptions("*").is_empty());
    assert!(manager.list(Kind::Subscription, "*").is_empty());
}

#[test]
fn an_operator_who_changes_a_subscription_takes_it_from_nobody() {
    let manager = with_subscription(0);
    let mut ann = connect(&manager, "ann").unwrap();
    let (_, handle, _) = ann.subscribe(&mut durable(so::RESUME), None).unwrap();
    manager.alter(Kind::Subscription, "S", &[("USERDATA", "x".into())]).unwrap();
    let mut second = connect(&manager, "ann").unwrap();
    let again = |of: &mut Client| reason(of.subscribe(&mut durable(so::RESUME), None));
    assert_eq!(again(&mut second), Reason::SUBSCRIPTION_IN_USE);
    ann.close(handle, close::KEEP_SUB).unwrap();
    assert_eq!(again(&mut second), Reason::NONE);
}

#[test]
fn a_subscription_with_a_fixed_user_is_taken_up_by_nobody_else() {
    for (more, refusal) in [(so::FIXED_USERID, Reason::IDENTITY_MISMATCH), (0, Reason::NONE)] {
        let manager = with_subscription(more);
        grant(&manager, TOPIC, ("bob", "PRINCIPAL"), &["SUB", "RESUME"]);
        for options in [so::RESUME, so::ALTER] {
            for (user, expected) in
                [("bob", refusal), ("root", Reason::NONE), ("ann", Reason::NONE)]
            {
                let mut client = connect(&manager, user).unwrap();
                let answer = client.subscribe(&mut durable(options), None);
                assert_eq!(reason(answer), expected, "{user}");
            }
        }
    }
}

// The right to queues by name was asked for: who had it could take everybody's publications.
#[test]
fn who_may_subscribe_gets_its_publications_and_nobody_gets_others_by_the_queue() {
    let manager = with_subscription(so::FIXED_USERID);
    grant(&manager, TOPIC, ("bob", "PRINCIPAL"), &["SUB", "RESUME", "PUB"]);
    let (mut ann, mut bob) = (connect(&manager, "ann").unwrap(), connect(&manager, "bob").unwrap());
    let (kept, ..) = ann.subscribe(&mut durable(so::RESUME), None).unwrap();
    let mut passing = SubscriptionDescriptor {
        options: so::CREATE | so::MANAGED,
        object_string: "news".into(),
        ..SubscriptionDescriptor::default()
    };
    let (passing, ..) = ann.subscribe(&mut passing, None).unwrap();
    let mut options = PutOptions::new(put::NO_SYNCPOINT);
    let mut news = ObjectDescriptor::topic("news");
    bob.put1(&mut news, &mut MessageDescriptor::default(), &mut options, b"today").unwrap();
    let queues = manager.list(Kind::QueueLocal, "SYSTEM.MANAGED.*");
    assert_eq!(queues.len(), 2);
    for queue in &queues {
        for user in [&mut ann, &mut bob] {
            for how in [open::INPUT_SHARED, open::BROWSE, open::INQUIRE, open::OUTPUT] {
                assert_eq!(reason(user.open_queue(&queue.name, how)), Reason::NOT_AUTHORIZED);
            }
        }
    }
    assert_eq!(reason(bob.open_subscription("S", false)), Reason::IDENTITY_MISMATCH);
    for queue in [kept, passing] {
        assert_eq!(ann.next(queue.unwrap()).as_deref(), Ok("today"));
    }
    // Others of the same user take from it, too: links that share it.
    let mut second = connect(&manager, "ann").unwrap();
    let shared = second.open_subscription("S", false).unwrap();
    bob.put1(&mut news, &mut MessageDescriptor::default(), &mut options, b"later").unwrap();
    assert_eq!(second.next(shared).as_deref(), Ok("later"));
    assert_eq!(reason(second.open_subscription("T", false)), Reason::NO_SUBSCRIPTION);
}

#[test]
fn a_queue_that_an_operator_has_named_is_reached_by_the_right_to_it_alone() {
    let manager = with_subscription(0);
    let sub = [
        ("TOPICSTR", Value::from("news")),
        ("DEST", Value::from("APP.IN")),
        ("VARUSER", Value::from("ANY")),
    ];
    let mut managed = sub.to_vec();
    managed.push(("DESTCLAS", Value::from("MANAGED")));
    assert!(manager.define(Kind::Subscription, "P", &managed, false, None).is_err());
    manager.define(Kind::Subscription, "P", &sub, false, None).unwrap();
    let mut ann = connect(&manager, "ann").unwrap();
    let mut what = SubscriptionDescriptor { sub_name: "P".into(), ..durable(so::RESUME) };
    assert_eq!(reason(ann.subscribe(&mut what, None)), Reason::NOT_AUTHORIZED);
    // Nor does it go with the subscription.
    manager.delete(Kind::Subscription, "P", true).unwrap();
    assert!(manager.object(Kind::QueueLocal, "APP.IN").is_some());
}

fn publish(client: &mut Client, text: &str) {
    let mut what = ObjectDescriptor {
        object_type: 8,
        object_string: "news".into(),
        ..ObjectDescriptor::default()
    };
    let mut options = PutOptions::new(put::NO_SYNCPOINT);
    client.put1(&mut what, &mut persistent(), &mut options, text.as_bytes()).unwrap();
}

fn define_managed(system: &System, more: &[(&str, &str)], replace: bool) -> Result<(), String> {
    let mut values = vec![("TOPICSTR", Value::from("news")), ("DESTCLAS", Value::from("MANAGED"))];
    values.extend(more.iter().map(|(name, value)| (*name, Value::from(*value))));
    let done = system.manager.define(Kind::Subscription, "S", &values, replace, None);
    done.map_err(|error| error.to_string())
}

fn destination(system: &System) -> String {
    system.manager.object(Kind::Subscription, "S").unwrap().text_of("DEST").to_owned()
}

#[test]
fn a_managed_subscription_of_an_operator_has_a_queue_of_its_own_that_goes_with_it() {
    let system = System::new();
    define_managed(&system, &[], false).unwrap();
    let queue = destination(&system);
    assert!(queue.starts_with("SYSTEM.MANAGED.DURABLE."), "{queue}");
    publish(&mut system.connect(), "one");
    assert_eq!(system.depth(&queue), 1);

    let system = system.restarted();
    assert_eq!(destination(&system), queue);
    let mut client = system.connect();
    publish(&mut client, "two");
    let mut what = durable(so::RESUME);
    let (own, handle, _) = client.subscribe(&mut what, None).unwrap();
    for text in ["one", "two"] {
        assert_eq!(client.get_text(own.unwrap(), get::NO_SYNCPOINT).unwrap(), text);
    }
    client.close(handle, close::KEEP_SUB).unwrap();
    client.close(own.unwrap(), 0).unwrap();

    // What is changed keeps its queue; it is made anew only by another definition.
    publish(&mut client, "three");
    system.manager.alter(Kind::Subscription, "S", &[("USERDATA", "x".into())]).unwrap();
    define_managed(&system, &[("USERDATA", "y")], true).unwrap();
    assert_eq!((destination(&system), system.depth(&queue)), (queue.clone(), 1));
    system.manager.delete(Kind::Subscription, "S", false).unwrap();
    assert!(system.manager.object(Kind::QueueLocal, &queue).is_none());
    assert!(system.restarted().manager.object(Kind::QueueLocal, &queue).is_none());
}

#[test]
fn a_name_that_a_program_has_for_its_subscription_is_not_defined() {
    let system = System::new();
    system.queue("OWN", &[]);
    let mut client = system.connect();
    let mut what = SubscriptionDescriptor {
        options: so::CREATE | so::MANAGED,
        object_string: "news".into(),
        sub_name: "S".into(),
        ..SubscriptionDescriptor::default()
    };
    let (own, handle, _) = client.subscribe(&mut what, None).unwrap();
    let provided = [("TOPICSTR", Value::from("news")), ("DEST", Value::from("OWN"))];
    for replace in [false, true] {
        assert!(define_managed(&system, &[], replace).is_err());
        assert!(system.manager.define(Kind::Subscription, "S", &provided, replace, None).is_err());
    }
    publish(&mut client, "one");
    assert_eq!(client.get_text(own.unwrap(), get::NO_SYNCPOINT).unwrap(), "one");
    client.close(handle, 0).unwrap();
    define_managed(&system, &[], false).unwrap();
}

#[test]
fn a_managed_destination_is_named_by_nobody_and_goes_when_another_one_is_provided() {
    let system = System::new();
    system.queue("OWN", &[]);
    let refused = define_managed(&system, &[("DEST", "OWN")], false).unwrap_err();
    assert!(refused.contains("leave DEST"), "{refused}");
    let refused = define_managed(&system, &[("SELECTOR", "((")], false).unwrap_err();
    assert!(refused.contains("SELECTOR"), "{refused}");
    assert!(system.manager.list(Kind::QueueLocal, "SYSTEM.MANAGED.*").is_empty());
    define_managed(&system, &[], false).unwrap();
    let queue = destination(&system);
    let altered = system.manager.alter(Kind::Subscription, "S", &[("DEST", "OWN".into())]);
    assert!(altered.is_err());
    assert_eq!(destination(&system), queue);
    let provided = [("TOPICSTR", Value::from("news")), ("DEST", Value::from("OWN"))];
    system.manager.define(Kind::Subscription, "S", &provided, true, None).unwrap();
    assert!(system.manager.object(Kind::QueueLocal, &queue).is_none());
    publish(&mut system.connect(), "one");
    assert_eq!(system.depth("OWN"), 1);
}
