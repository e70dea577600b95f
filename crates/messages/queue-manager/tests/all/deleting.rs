//! Deleting by a close: who may, and that nothing that was answered goes with the queue.

#![allow(clippy::unwrap_used)] // a test that fails says where

use queue_manager::objects::Kind;
use queue_manager::options::ObjectDescriptor;
use queue_manager::options::value::{close, open};
use queue_manager::{ObjectName, QueueManager, Reason};
use store_suite::model::ModelStore;

use crate::common::{ALL, Calls, Client, System, reason};
use crate::security::{connect, grant, manager};

fn make(client: &mut Client, name: &str) -> queue_manager::options::Handle {
    let mut what = ObjectDescriptor::queue("MODEL");
    what.dynamic_q_name = ObjectName::from(name);
    client.open(&mut what, ALL).unwrap().0
}

// The queue was marked to go with its last handle, and what was put and answered meanwhile went
// with it.
#[test]
fn a_permanent_queue_that_others_have_open_is_not_deleted_with_what_they_put() {
    let system = System::new();
    system.define(Kind::QueueModel, "MODEL", &[("DEFTYPE", "PERMDYN")]);
    let (mut first, mut second) = (system.connect(), system.connect());
    let q = make(&mut first, "KEPT");
    let other = second.open_queue("KEPT", open::INQUIRE).unwrap();
    for how in [close::DELETE, close::DELETE_PURGE] {
        assert_eq!(reason(second.close(other, how)), Reason::OBJECT_IN_USE);
    }
    first.put_text(q, "one");
    second.close(other, close::NONE).unwrap();
    first.put_text(q, "two");
    first.close(q, close::NONE).unwrap();
    drop((first, second));
    assert_eq!(system.depth("KEPT"), 2);
    assert_eq!(system.restarted().depth("KEPT"), 2);
}

#[test]
fn an_empty_queue_that_nobody_else_has_open_is_deleted_and_made_again() {
    let system = System::new();
    system.define(Kind::QueueModel, "MODEL", &[("DEFTYPE", "PERMDYN")]);
    let mut client = system.connect();
    for _ in 0..2 {
        let q = make(&mut client, "KEPT");
        client.close(q, close::DELETE).unwrap();
        let opened = client.open_queue("KEPT", open::OUTPUT);
        assert_eq!(reason(opened), Reason::UNKNOWN_OBJECT_NAME);
    }
}

fn kept() -> QueueManager<ModelStore> {
    let manager = manager();
    let permanent = [("DEFTYPE", "PERMDYN".into())];
    manager.define(Kind::QueueModel, "MODEL", &permanent, false, None).unwrap();
    let mut root = connect(&manager, "root").unwrap();
    let q = make(&mut root, "KEPT");
    root.close(q, close::NONE).unwrap();
    manager
}

#[test]
fn a_close_deletes_a_queue_for_who_made_it_and_for_whom_a_record_lets() {
    let manager = kept();
    grant(&manager, ("SELF", "QMGR"), ("bob", "PRINCIPAL"), &["CONNECT"]);
    let rights = ["INQ", "PUT", "GET", "BROWSE", "SET"];
    grant(&manager, ("**", "QUEUE"), ("bob", "PRINCIPAL"), &rights);
    let mut bob = connect(&manager, "bob").unwrap();
    let q = bob.open_queue("KEPT", open::INQUIRE).unwrap();
    for how in [close::DELETE, close::DELETE_PURGE] {
        assert_eq!(reason(bob.close(q, how)), Reason::NOT_AUTHORIZED);
    }
    assert!(manager.object(Kind::QueueLocal, "KEPT").is_some());
    // The handle that made a queue may delete it.
    let own = make(&mut bob, "OWN");
    bob.close(own, close::DELETE).unwrap();
    assert!(manager.object(Kind::QueueLocal, "OWN").is_none());
    grant(&manager, ("KEPT", "QUEUE"), ("bob", "PRINCIPAL"), &["INQ", "DLT"]);
    bob.close(q, close::DELETE).unwrap();
    assert!(manager.object(Kind::QueueLocal, "KEPT").is_none());
}
