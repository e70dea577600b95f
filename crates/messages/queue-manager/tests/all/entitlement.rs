//! What is carried out, and who says that another user has put a message.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::sync::Arc;

use queue_manager::name::{padded, unpadded};
use queue_manager::objects::{Kind, Value};
use queue_manager::options::value::{close, get, open, put, subscribe as so};
use queue_manager::options::{
    ConnectOptions, GetOptions, ObjectDescriptor, PutOptions, SubscriptionDescriptor,
};
use queue_manager::{AdminError, Connection, MessageDescriptor, Options, QueueManager, Reason};
use store_suite::model::ModelStore;

use crate::channels::{Link, define_receiver, define_sender, open_on};
use crate::common::{Calls, persistent, reason};
use crate::security::{People, connect, grant, manager};

const COMMANDS: &str = "SYSTEM.ADMIN.COMMAND.QUEUE";

fn visitor(manager: &QueueManager<ModelStore>, user: &str) -> Connection<ModelStore> {
    let who = ConnectOptions {
        user: user.into(),
        may_command: false,
        by_door: true,
        ..ConnectOptions::default()
    };
    manager.connect(who).unwrap()
}

fn depth(manager: &QueueManager<ModelStore>, queue: &str) -> u64 {
    manager.queue_status(queue).unwrap().depth
}

fn publish(client: &mut Connection<ModelStore>, topic: &str, text: &str) {
    let (mut md, mut options) = (MessageDescriptor::default(), PutOptions::new(put::RETAIN));
    let mut what = ObjectDescriptor::topic(topic);
    client.put1(&mut what, &mut md, &mut options, text.as_bytes()).unwrap();
}

fn to(topic: &str) -> SubscriptionDescriptor {
    let options = so::CREATE;
    SubscriptionDescriptor { options, object_string: topic.into(), ..Default::default() }
}

// A handle that could not put was as good a destination as one that could: a publisher put
// commands.
#[test]
fn no_subscription_sends_publications_where_they_are_carried_out() {
    let manager = manager();
    let mut client = visitor(&manager, "bob");
    for queue in [COMMANDS, "SYSTEM.CHANNEL.INITQ", "SYSTEM.DEFAULT.INITIATION.QUEUE"] {
        let handle = client.open_queue(queue, open::INQUIRE).unwrap();
        let refused = client.subscribe(&mut to("evil"), Some(handle));
        assert_eq!(reason(refused), Reason::NOT_AUTHORIZED);
        let sub = [("TOPICSTR", Value::from("evil")), ("DEST", Value::from(queue))];
        let refused = manager.define(Kind::Subscription, "S", &sub, false, None);
        assert!(matches!(refused, Err(AdminError::Refused { .. })), "{refused:?}");
    }
    assert!(manager.subscriptions("*").is_empty());
    publish(&mut client, "evil", "a command");
    assert_eq!(depth(&manager, COMMANDS), 0);
}

#[test]
fn a_queue_that_became_one_whose_messages_are_carried_out_gets_no_publications_any_more() {
    let manager = manager();
    let mut client = visitor(&manager, "bob");
    let handle = client.open_queue("APP.DEEP.IN", open::INPUT_SHARED).unwrap();
    let (_, subscription, _) = client.subscribe(&mut to("news"), Some(handle)).unwrap();
    publish(&mut client, "news", "one");
    assert_eq!(depth(&manager, "APP.DEEP.IN"), 1);
    let named = [("INITQ", Value::from("APP.DEEP.IN"))];
    manager.alter(Kind::QueueLocal, "APP.IN", &named).unwrap();
    publish(&mut client, "news", "two");
    let _ = client.subscription_request(subscription, 1);
    assert_eq!(depth(&manager, "APP.DEEP.IN"), 1);
    // Neither the publication nor the retained one is lost.
    assert_eq!(depth(&manager, "SYSTEM.DEAD.LETTER.QUEUE"), 2);
}

#[test]
fn who_may_not_put_on_a_queue_has_no_publications_sent_there() {
    let manager = manager();
    grant(&manager, ("SELF", "QMGR"), ("bob", "PRINCIPAL"), &["CONNECT"]);
    grant(&manager, ("APP.IN", "QUEUE"), ("bob", "PRINCIPAL"), &["INQ"]);
    grant(&manager, ("APP.DEEP.IN", "QUEUE"), ("bob", "PRINCIPAL"), &["GET", "PUT"]);
    grant(&manager, ("SYSTEM.BASE.TOPIC", "TOPIC"), ("bob", "PRINCIPAL"), &["SUB"]);
    let mut bob = connect(&manager, "bob").unwrap();
    let handle = bob.open_queue("APP.IN", open::INQUIRE).unwrap();
    assert_eq!(reason(bob.subscribe(&mut to("a"), Some(handle))), Reason::NOT_AUTHORIZED);
    // To subscribe needs no right to resume.
    let handle = bob.open_queue("APP.DEEP.IN", open::INPUT_SHARED).unwrap();
    assert!(bob.subscribe(&mut to("a"), Some(handle)).is_ok());
}

// A report with all of the data is what its cause says: anybody's words on an initiation queue.
#[test]
fn a_report_is_never_carried_out() {
    let manager = manager();
    let mut client = visitor(&manager, "bob");
    for queue in [COMMANDS, "SYSTEM.DEFAULT.INITIATION.QUEUE"] {
        let mut md = MessageDescriptor {
            report: 0x700,
            reply_to_q: queue.into(),
            ..MessageDescriptor::default()
        };
        let mut options = PutOptions::new(put::NO_SYNCPOINT);
        let mut what = ObjectDescriptor::queue("APP.IN");
        client.put1(&mut what, &mut md, &mut options, b"TM  ").unwrap();
        assert_eq!(depth(&manager, queue), 0, "{queue}");
    }
    assert_eq!(depth(&manager, "SYSTEM.DEAD.LETTER.QUEUE"), 2);
}

#[test]
fn a_publisher_sets_identity_only_where_a_record_lets_it() {
    let manager = manager();
    manager.define(Kind::Topic, "NEWS", &[("TOPICSTR", "news".into())], false, None).unwrap();
    let alias = [("TARGET", Value::from("NEWS")), ("TARGTYPE", Value::from("TOPIC"))];
    manager.define(Kind::QueueAlias, "AS.QUEUE", &alias, false, None).unwrap();
    grant(&manager, ("SELF", "QMGR"), ("bob", "PRINCIPAL"), &["CONNECT"]);
    grant(&manager, ("NEWS", "TOPIC"), ("bob", "PRINCIPAL"), &["PUB"]);
    grant(&manager, ("AS.QUEUE", "QUEUE"), ("bob", "PRINCIPAL"), &["PUT", "SETID"]);
    grant(&manager, ("AS.QUEUE", "QUEUE"), ("ann", "PRINCIPAL"), &["PUT", "SETID"]);
    grant(&manager, ("SELF", "QMGR"), ("ann", "PRINCIPAL"), &["CONNECT"]);
    let mut bob = connect(&manager, "bob").unwrap();
    let mut news = ObjectDescriptor::topic("news");
    assert!(bob.open(&mut news, open::OUTPUT).is_ok());
    for context in [open::SET_IDENTITY_CONTEXT, open::SET_ALL_CONTEXT, open::PASS_ALL_CONTEXT] {
        let refused = bob.open(&mut news, open::OUTPUT | context);
        assert_eq!(reason(refused), Reason::NOT_AUTHORIZED);
    }
    let by_alias = open::OUTPUT | open::SET_IDENTITY_CONTEXT;
    assert_eq!(reason(bob.open_queue("AS.QUEUE", by_alias)), Reason::NOT_AUTHORIZED);
    // Nor is the right to the alias one to publish.
    let mut ann = connect(&manager, "ann").unwrap();
    assert_eq!(reason(ann.open_queue("AS.QUEUE", open::OUTPUT)), Reason::NOT_AUTHORIZED);
    grant(&manager, ("NEWS", "TOPIC"), ("ann", "PRINCIPAL"), &["PUB", "SETID"]);
    assert!(ann.open_queue("AS.QUEUE", by_alias).is_ok());
}

// Without records everything was allowed, and so was every name.
#[test]
fn who_comes_by_a_door_speaks_for_nobody_else_unless_a_record_lets_him() {
    let manager = manager();
    let mut bob = visitor(&manager, "bob");
    let contexts = [
        open::SET_IDENTITY_CONTEXT,
        open::SET_ALL_CONTEXT,
        open::PASS_IDENTITY_CONTEXT,
        open::PASS_ALL_CONTEXT,
        open::ALTERNATE_USER_AUTHORITY,
    ];
    for context in contexts {
        let mut what = ObjectDescriptor::queue("APP.IN");
        what.alternate_user_id = padded("boss");
        let refused = bob.open(&mut what, open::OUTPUT | context);
        assert_eq!(reason(refused), Reason::NOT_AUTHORIZED, "{context:#x}");
        let mut what = ObjectDescriptor::topic("news");
        what.alternate_user_id = padded("boss");
        let refused = bob.open(&mut what, open::OUTPUT | context);
        assert_eq!(reason(refused), Reason::NOT_AUTHORIZED, "{context:#x}");
    }
    let mut what = SubscriptionDescriptor {
        options: so::CREATE | so::MANAGED | so::ALTERNATE_USER_AUTHORITY,
        alternate_user_id: padded("boss"),
        ..to("news")
    };
    assert_eq!(reason(bob.subscribe(&mut what, None)), Reason::NOT_AUTHORIZED);
    let mut md = MessageDescriptor { user_identifier: padded("boss"), ..Default::default() };
    let mut options = PutOptions::new(put::SET_IDENTITY_CONTEXT);
    let refused = bob.put1(&mut ObjectDescriptor::queue("APP.IN"), &mut md, &mut options, b"");
    assert_eq!(reason(refused), Reason::NOT_AUTHORIZED);
    // Programs of this machine and administrators do, and whom a record lets.
    for mut other in [connect(&manager, "bob").unwrap(), visitor(&manager, "root")] {
        assert!(other.open_queue("APP.IN", open::OUTPUT | open::SET_ALL_CONTEXT).is_ok());
    }
    grant(&manager, ("SELF", "QMGR"), ("bob", "PRINCIPAL"), &["CONNECT"]);
    grant(&manager, ("APP.IN", "QUEUE"), ("bob", "PRINCIPAL"), &["PUT", "GET", "SETID"]);
    let identity = open::OUTPUT | open::INPUT_SHARED | open::SET_IDENTITY_CONTEXT;
    let queue = bob.open_queue("APP.IN", identity).unwrap();
    let md = MessageDescriptor { user_identifier: padded("boss"), ..Default::default() };
    bob.put_with(queue, md, put::SET_IDENTITY_CONTEXT, b"x").unwrap();
    let (mut md, mut options) = (MessageDescriptor::default(), GetOptions::new(get::NO_SYNCPOINT));
    bob.get_with(queue, &mut md, &mut options).unwrap();
    assert_eq!(unpadded(&md.user_identifier), "boss");
    bob.close(queue, close::NONE).unwrap();
}

// A partner said of a message that the boss had put it, and the bridge believed that.
#[test]
fn a_partner_is_not_believed_whose_a_message_is_where_inputs_are_made_of_it() {
    for (bridge, expected) in [(true, "channels"), (false, "boss")] {
        let from = open_on(&ModelStore::new(), "QM1");
        let options = Options { users: Some(Arc::new(People)), ..Options::new("QM2") };
        let to = QueueManager::open(&ModelStore::new(), options).unwrap();
        define_sender(&from);
        define_receiver(&to);
        if bridge {
            let class = [("XCFGNAME", Value::from("G")), ("XCFMNAME", Value::from("M"))];
            to.define(Kind::StorageClass, "IMS", &class, false, None).unwrap();
            to.alter(Kind::QueueLocal, "IN", &[("STGCLASS", "IMS".into())]).unwrap();
        }
        let mut client = from.connect(ConnectOptions::default()).unwrap();
        let mut md = MessageDescriptor { user_identifier: padded("boss"), ..persistent() };
        let mut options = PutOptions::new(put::SET_IDENTITY_CONTEXT);
        client.put1(&mut ObjectDescriptor::queue("OUT"), &mut md, &mut options, b"x").unwrap();
        let (mut link, _) = Link::meet(&from, &to).unwrap();
        assert!(link.run(|| true).unwrap());
        let mut reader = connect(&to, "root").unwrap();
        let queue = reader.open_queue("IN", open::INPUT_SHARED).unwrap();
        let (mut md, mut options) =
            (MessageDescriptor::default(), GetOptions::new(get::NO_SYNCPOINT));
        reader.get_with(queue, &mut md, &mut options).unwrap();
        assert_eq!(unpadded(&md.user_identifier), expected);
    }
}
