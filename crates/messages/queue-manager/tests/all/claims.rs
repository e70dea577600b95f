//! Claims: messages that were seen, and are got by whichever connection takes them.

#![allow(clippy::unwrap_used)] // a test that fails says where

use queue_manager::connection::Claim;
use queue_manager::options::Handle;
use queue_manager::options::value::{get, open};
use queue_manager::{MessageDescriptor, Reason};
use store_suite::model::ModelStore;

use crate::common::{ALL, Calls, Client, System};

fn three() -> System {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", open::OUTPUT).unwrap();
    for text in ["a", "b", "c"] {
        client.put_text(q, text);
    }
    system
}

/// Claims the next message that no other getter has.
fn claim(client: &mut Client, q: Handle) -> (String, Claim<ModelStore>) {
    let text = client.get_text(q, get::BROWSE_FIRST | get::LOCK).unwrap();
    (text, client.claim(q).unwrap())
}

#[test]
fn a_handle_claims_one_message_after_the_other() {
    let system = three();
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let (a, first) = claim(&mut client, q);
    let (b, second) = claim(&mut client, q);
    assert_eq!((&*a, &*b), ("a", "b"));
    assert_eq!(client.claim(q).err().map(|failed| failed.0), Some(Reason::NO_MSG_LOCKED));
    // Neither the handle nor anybody else sees them now.
    let mut other = system.connect();
    let same = other.open_queue("Q", ALL).unwrap();
    assert_eq!(other.next(same).as_deref(), Ok("c"));
    assert_eq!(other.next(same), Err(Reason::NO_MSG_AVAILABLE));
    drop(first);
    assert_eq!(other.next(same).as_deref(), Ok("a"));
    client.take_claimed(second, false, false).unwrap();
    assert_eq!(system.depth("Q"), 0);
}

#[test]
fn a_claim_outlives_the_connection_that_made_it() {
    let system = three();
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let (_, held) = claim(&mut client, q);
    drop(client);
    let mut other = system.connect();
    let same = other.open_queue("Q", ALL).unwrap();
    assert_eq!(other.next(same).as_deref(), Ok("b"));
    let message = other.take_claimed(held, false, true).unwrap();
    assert_eq!(message.map(|(_, data)| data).as_deref(), Some(&b"a"[..]));
    assert_eq!(system.depth("Q"), 1);
}

#[test]
fn a_claim_goes_into_a_unit_of_work_and_comes_back_with_its_count() {
    let system = three();
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let (_, held) = claim(&mut client, q);
    let mut unit = system.connect();
    unit.take_claimed(held, true, false).unwrap();
    assert_eq!(client.next(q).as_deref(), Ok("b"), "a is in a unit of work");
    unit.back().unwrap();
    let mut descriptor = MessageDescriptor::default();
    let mut options = queue_manager::options::GetOptions::new(get::BROWSE_FIRST | get::LOCK);
    let mut data = Vec::new();
    client.get(q, &mut descriptor, &mut options, 100, &mut data).unwrap();
    assert_eq!((&data[..], descriptor.backout_count), (&b"a"[..], 1));
    let held = client.claim(q).unwrap();
    assert_eq!(held.descriptor().msg_id, descriptor.msg_id);
    unit.take_claimed(held, true, false).unwrap();
    unit.commit().unwrap();
    assert_eq!(system.depth("Q"), 1);
}

#[test]
fn what_is_claimed_is_there_after_a_restart() {
    let system = three();
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let (_, _first) = claim(&mut client, q);
    let (_, second) = claim(&mut client, q);
    client.take_claimed(second, true, false).unwrap();
    drop(client);
    assert_eq!(system.restarted().depth("Q"), 3);
}

#[test]
fn a_claim_of_a_queue_that_is_gone_is_refused() {
    let system = three();
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let (_, held) = claim(&mut client, q);
    client.close(q, 0).unwrap();
    system.manager.delete(queue_manager::objects::Kind::QueueLocal, "Q", true).unwrap();
    let refused = client.take_claimed(held, false, false).err().map(|failed| failed.0);
    assert_eq!(refused, Some(Reason::Q_DELETED));
}
