//! Subscriptions of others: who takes them up, and what a call that fails leaves.

#![allow(clippy::unwrap_used)] // a test that fails says where

use queue_manager::objects::{Kind, Value};
use queue_manager::options::SubscriptionDescriptor;
use queue_manager::options::value::{close, subscribe as so};
use queue_manager::{QueueManager, Reason};
use store_suite::model::ModelStore;

use crate::common::reason;
use crate::security::{connect, grant, manager};

const TOPIC: (&str, &str) = ("SYSTEM.BASE.TOPIC", "TOPIC");
const MANAGED: (&str, &str) = ("SYSTEM.MANAGED.**", "QUEUE");

fn durable(options: i32) -> SubscriptionDescriptor {
    SubscriptionDescriptor {
        options,
        object_string: "news".into(),
        sub_name: "S".into(),
        ..SubscriptionDescriptor::default()
    }
}

/// With a durable subscription of ann's that nobody has.
fn with_subscription(more: i32) -> QueueManager<ModelStore> {
    let manager = manager();
    for user in ["ann", "bob"] {
        grant(&manager, ("SELF", "QMGR"), (user, "PRINCIPAL"), &["CONNECT"]);
        grant(&manager, MANAGED, (user, "PRINCIPAL"), &["GET", "BROWSE", "INQ"]);
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
    let mut bob = connect(&manager, "bob").unwrap();
    // He may not get from the queue that is made for it.
    for options in [so::CREATE | so::MANAGED, so::CREATE | so::MANAGED | so::DURABLE] {
        let refused = bob.subscribe(&mut durable(options), None);
        assert_eq!(reason(refused), Reason::NOT_AUTHORIZED);
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
    let again =
        |of: &mut crate::common::Client| reason(of.subscribe(&mut durable(so::RESUME), None));
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
