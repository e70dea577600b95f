//! Cursors, locks and marks.

#![allow(clippy::unwrap_used)] // a test that fails says where

use queue_manager::options::value::{get, open};
use queue_manager::options::{GetOptions, Handle};
use queue_manager::{MessageDescriptor, Outcome, Reason};

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

#[test]
fn a_cursor_goes_from_message_to_message_and_back_to_the_first() {
    let system = three();
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    assert_eq!(client.get_text(q, get::BROWSE_NEXT).as_deref(), Ok("a"));
    assert_eq!(client.get_text(q, get::BROWSE_NEXT).as_deref(), Ok("b"));
    assert_eq!(client.get_text(q, get::BROWSE_MSG_UNDER_CURSOR).as_deref(), Ok("b"));
    assert_eq!(client.get_text(q, get::BROWSE_FIRST).as_deref(), Ok("a"));
    assert_eq!(client.get_text(q, get::BROWSE_NEXT).as_deref(), Ok("b"));
    assert_eq!(client.get_text(q, get::BROWSE_NEXT).as_deref(), Ok("c"));
    assert_eq!(client.get_text(q, get::BROWSE_NEXT), Err(Reason::NO_MSG_AVAILABLE));
    assert_eq!(system.depth("Q"), 3);
}

#[test]
fn the_message_under_the_cursor_can_be_got() {
    let system = three();
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    assert_eq!(client.get_text(q, get::MSG_UNDER_CURSOR), Err(Reason::NO_MSG_UNDER_CURSOR));
    client.get_text(q, get::BROWSE_FIRST).unwrap();
    client.get_text(q, get::BROWSE_NEXT).unwrap();
    assert_eq!(client.get_text(q, get::MSG_UNDER_CURSOR).as_deref(), Ok("b"));
    assert_eq!(client.get_text(q, get::MSG_UNDER_CURSOR), Err(Reason::NO_MSG_UNDER_CURSOR));
    client.get_text(q, get::BROWSE_FIRST).unwrap();
    // Another getter takes it.
    let mut other = system.connect();
    let same = other.open_queue("Q", open::INPUT_SHARED).unwrap();
    assert_eq!(other.next(same).as_deref(), Ok("a"));
    assert_eq!(client.get_text(q, get::MSG_UNDER_CURSOR), Err(Reason::NO_MSG_UNDER_CURSOR));
}

#[test]
fn a_locked_message_is_for_its_handle_alone() {
    let system = three();
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let mut other = system.connect();
    let same = other.open_queue("Q", ALL).unwrap();
    client.get_text(q, get::BROWSE_FIRST | get::LOCK).unwrap();
    assert_eq!(other.get_text(same, get::BROWSE_FIRST).as_deref(), Ok("b"));
    assert_eq!(other.next(same).as_deref(), Ok("b"));
    assert_eq!(client.get_text(q, get::UNLOCK).as_deref(), Ok(""));
    assert_eq!(client.get_text(q, get::UNLOCK), Err(Reason::NO_MSG_LOCKED));
    assert_eq!(other.get_text(same, get::BROWSE_FIRST).as_deref(), Ok("a"));
    // The next browse gives it back; a get of the message under the cursor takes it.
    client.get_text(q, get::BROWSE_FIRST | get::LOCK).unwrap();
    client.get_text(q, get::BROWSE_NEXT | get::LOCK).unwrap();
    assert_eq!(other.get_text(same, get::BROWSE_FIRST).as_deref(), Ok("a"));
    assert_eq!(client.get_text(q, get::MSG_UNDER_CURSOR).as_deref(), Ok("c"));
    client.get_text(q, get::BROWSE_FIRST | get::LOCK).unwrap();
    client.close(q, 0).unwrap();
    assert_eq!(other.next(same).as_deref(), Ok("a"));
    assert_eq!(system.depth("Q"), 0);
}

#[test]
fn marks_hide_messages_from_browsers_that_look_for_unmarked_ones() {
    let system = three();
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let mut other = system.connect();
    let same = other.open_queue("Q", ALL).unwrap();
    let unmarked = get::BROWSE_FIRST | get::UNMARKED_BROWSE_MSG;
    let own = unmarked | get::MARK_BROWSE_HANDLE;
    assert_eq!(client.get_text(q, own).as_deref(), Ok("a"));
    assert_eq!(client.get_text(q, own).as_deref(), Ok("b"));
    assert_eq!(other.get_text(same, unmarked).as_deref(), Ok("a"));
    let shared = unmarked | get::MARK_BROWSE_CO_OP;
    assert_eq!(other.get_text(same, shared).as_deref(), Ok("a"));
    assert_eq!(other.get_text(same, shared).as_deref(), Ok("b"));
    assert_eq!(client.get_text(q, shared).as_deref(), Ok("c"));
    assert_eq!(other.get_text(same, shared), Err(Reason::NO_MSG_AVAILABLE));
    // Marks that are shared last for an interval.
    system.clock.pass(5_001);
    assert_eq!(other.get_text(same, unmarked).as_deref(), Ok("a"));
    assert_eq!(client.get_text(q, unmarked).as_deref(), Ok("c"));
}

#[test]
fn a_browser_sees_no_message_of_a_unit_of_work_that_is_not_ended() {
    let system = three();
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let mut other = system.connect();
    let same = other.open_queue("Q", ALL).unwrap();
    client.put_in_unit(q, "d");
    assert_eq!(client.get_text(q, get::SYNCPOINT).as_deref(), Ok("a"));
    assert_eq!(other.get_text(same, get::BROWSE_FIRST).as_deref(), Ok("b"));
    assert_eq!(other.get_text(same, get::BROWSE_NEXT).as_deref(), Ok("c"));
    assert_eq!(other.get_text(same, get::BROWSE_NEXT), Err(Reason::NO_MSG_AVAILABLE));
}

/// Browses into a buffer of one byte.
fn browse_short(client: &mut Client, q: Handle, how: i32) -> (Outcome, Vec<u8>) {
    let (mut md, mut data) = (MessageDescriptor::default(), Vec::new());
    let got = client.get(q, &mut md, &mut GetOptions::new(how), 1, &mut data).unwrap();
    (got.outcome, data)
}

#[test]
fn a_first_message_that_does_not_fit_leaves_the_cursor_in_front_of_it() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    for text in ["long", "b", "c"] {
        client.put_text(q, text);
    }
    assert_eq!(client.get_text(q, get::BROWSE_FIRST).as_deref(), Ok("long"));
    assert_eq!(client.get_text(q, get::BROWSE_NEXT).as_deref(), Ok("b"));
    let cut = (Outcome::warning(Reason::TRUNCATED_MSG_FAILED), b"l".to_vec());
    assert_eq!(browse_short(&mut client, q, get::BROWSE_FIRST), cut);
    assert_eq!(client.get_text(q, get::BROWSE_NEXT).as_deref(), Ok("long"));
}

// The cursor went on to it, with lock and marks.
#[test]
fn a_message_that_does_not_fit_leaves_cursor_lock_and_marks_as_they_were() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    for text in ["a", "long", "c"] {
        client.put_text(q, text);
    }
    let cut = (Outcome::warning(Reason::TRUNCATED_MSG_FAILED), b"l".to_vec());
    assert_eq!(client.get_text(q, get::BROWSE_FIRST | get::LOCK).as_deref(), Ok("a"));
    let marks = get::MARK_BROWSE_HANDLE | get::MARK_BROWSE_CO_OP;
    let next = get::BROWSE_NEXT | get::LOCK | marks;
    for _ in 0..2 {
        assert_eq!(browse_short(&mut client, q, next), cut);
    }
    assert_eq!(client.get_text(q, get::BROWSE_MSG_UNDER_CURSOR | get::LOCK).as_deref(), Ok("a"));
    let mut other = system.connect();
    let same = other.open_queue("Q", ALL).unwrap();
    let unmarked = get::BROWSE_FIRST | get::UNMARKED_BROWSE_MSG;
    // The first is still locked, the second is neither that nor marked.
    assert_eq!(other.get_text(same, unmarked).as_deref(), Ok("long"));
    assert_eq!(client.get_text(q, get::BROWSE_NEXT).as_deref(), Ok("long"));
    // Who takes it so goes on.
    client.get_text(q, get::BROWSE_FIRST).unwrap();
    let accepts = get::BROWSE_NEXT | get::ACCEPT_TRUNCATED_MSG;
    let accepted = (Outcome::warning(Reason::TRUNCATED_MSG_ACCEPTED), b"l".to_vec());
    assert_eq!(browse_short(&mut client, q, accepts), accepted);
    assert_eq!(client.get_text(q, get::BROWSE_NEXT).as_deref(), Ok("c"));
}
