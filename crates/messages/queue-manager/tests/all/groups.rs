//! Groups, segments, logical order.

#![allow(clippy::unwrap_used)] // a test that fails says where

use queue_manager::options::value::{get, matching, put};
use queue_manager::options::{GetOptions, Handle};
use queue_manager::{Answer, MessageDescriptor, Outcome, Reason};

use crate::common::{ALL, Calls, Client, System, persistent, reason};

const IN_GROUP: i32 = 8;
const LAST_IN_GROUP: i32 = 16;
const SEGMENT: i32 = 2;
const LAST_SEGMENT: i32 = 4;
const ORDER: i32 = put::LOGICAL_ORDER | put::NO_SYNCPOINT;

fn flags(msg_flags: i32) -> MessageDescriptor {
    MessageDescriptor { msg_flags, ..persistent() }
}

fn opened(system: &System) -> (Client, Handle) {
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    (client, q)
}

#[test]
fn messages_of_a_group_are_numbered_and_got_together() {
    let system = System::new();
    system.queue("Q", &[]);
    let ((mut one, first), (mut two, second)) = (opened(&system), opened(&system));
    // Two programs put groups at the same time.
    let a = one.put_with(first, flags(IN_GROUP), ORDER, b"a1").unwrap();
    let b = two.put_with(second, flags(IN_GROUP), ORDER, b"b1").unwrap();
    assert!(a.group_id != b.group_id && a.msg_seq_number == 1);
    two.put_with(second, flags(LAST_IN_GROUP), ORDER, b"b2").unwrap();
    let a2 = one.put_with(first, flags(IN_GROUP), ORDER, b"a2").unwrap();
    assert_eq!((a2.group_id, a2.msg_seq_number), (a.group_id, 2));
    let all = get::LOGICAL_ORDER | get::ALL_MSGS_AVAILABLE | get::NO_SYNCPOINT;
    let mut md = MessageDescriptor::default();
    let mut options = GetOptions { match_options: matching::NONE, ..GetOptions::new(all) };
    // Only the second group is complete.
    let (_, data) = two.get_with(second, &mut md, &mut options).unwrap();
    assert_eq!((data.as_slice(), options.group_status), (&b"b1"[..], b'G'));
    one.put_with(first, flags(LAST_IN_GROUP), ORDER, b"a3").unwrap();
    let (_, data) = two.get_with(second, &mut md, &mut options).unwrap();
    assert_eq!((data.as_slice(), options.group_status), (&b"b2"[..], b'L'));
    for expected in [b"a1", b"a2", b"a3"] {
        let (_, data) = two.get_with(second, &mut md, &mut options).unwrap();
        assert_eq!(data, expected);
    }
    let nothing = two.get_with(second, &mut md, &mut options);
    assert_eq!(reason(nothing), Reason::NO_MSG_AVAILABLE);
}

#[test]
fn a_group_that_is_begun_has_to_be_ended() {
    let system = System::new();
    system.queue("Q", &[]);
    let (mut client, q) = opened(&system);
    client.put_with(q, flags(IN_GROUP), ORDER, b"1").unwrap();
    let outside = client.put_with(q, flags(0), ORDER, b"x");
    assert_eq!(reason(outside), Reason::INCOMPLETE_GROUP);
    let inside = put::LOGICAL_ORDER | put::SYNCPOINT;
    let other_unit = client.put_with(q, flags(IN_GROUP), inside, b"x");
    assert_eq!(reason(other_unit), Reason::INCONSISTENT_UOW);
    let volatile = MessageDescriptor { persistence: 0, ..flags(IN_GROUP) };
    let mixed = client.put_with(q, volatile, ORDER, b"x");
    assert_eq!(reason(mixed), Reason::INCONSISTENT_PERSISTENCE);
    let warning = client.close(q, 0).unwrap();
    assert_eq!(warning, Outcome::warning(Reason::INCOMPLETE_GROUP));
    let q = client.open_queue("Q", ALL).unwrap();
    client.put_with(q, flags(SEGMENT), ORDER, b"1").unwrap();
    assert_eq!(reason(client.put_with(q, flags(0), ORDER, b"x")), Reason::INCOMPLETE_MSG);
    assert_eq!(client.close(q, 0).unwrap(), Outcome::warning(Reason::INCOMPLETE_MSG));
}

#[test]
fn segments_are_put_together_again() {
    let system = System::new();
    system.queue("Q", &[]);
    let (mut client, q) = opened(&system);
    let complete = get::COMPLETE_MSG | get::NO_SYNCPOINT;
    client.put_with(q, flags(SEGMENT), ORDER, b"abc").unwrap();
    assert_eq!(client.get_text(q, complete), Err(Reason::NO_MSG_AVAILABLE));
    let second = client.put_with(q, flags(SEGMENT), ORDER, b"def").unwrap();
    assert_eq!(second.offset, 3);
    client.put_text(q, "alone");
    client.put_with(q, flags(LAST_SEGMENT), ORDER, b"g").unwrap();
    assert_eq!(client.get_text(q, get::BROWSE_FIRST | get::COMPLETE_MSG).as_deref(), Ok("abcdefg"));
    assert_eq!(client.get_text(q, complete).as_deref(), Ok("abcdefg"));
    assert_eq!(client.get_text(q, complete).as_deref(), Ok("alone"));
    assert_eq!(system.depth("Q"), 0);
}

#[test]
fn a_long_message_is_segmented_if_it_may_be() {
    let system = System::new();
    system.queue("Q", &[("MAXMSGL", "40")]);
    let (mut client, q) = opened(&system);
    let data: Vec<u8> = (b'0'..=b'z').collect();
    let refused = client.put_with(q, persistent(), put::NO_SYNCPOINT, &data);
    assert_eq!(reason(refused), Reason::MSG_TOO_BIG_FOR_Q);
    client.put_with(q, flags(1), put::NO_SYNCPOINT, &data).unwrap();
    assert_eq!(system.depth("Q"), 3);
    let text = client.get_text(q, get::COMPLETE_MSG | get::SYNCPOINT).unwrap();
    assert_eq!(text.as_bytes(), data);
    client.back().unwrap();
    assert_eq!(system.depth("Q"), 3);
    // All or nothing.
    system.alter("Q", "MAXDEPTH", "5");
    assert_eq!(reason(client.put_with(q, flags(1), put::SYNCPOINT, &data)), Reason::Q_FULL);
    assert_eq!(system.depth("Q"), 3);
    client.commit().unwrap();
    assert_eq!(system.restarted().depth("Q"), 3);
}

#[test]
fn sequence_numbers_and_offsets_can_be_asked_for() {
    let system = System::new();
    system.queue("Q", &[]);
    let (mut client, q) = opened(&system);
    for (flag, text) in [(IN_GROUP, "1"), (IN_GROUP, "2"), (LAST_IN_GROUP, "3")] {
        client.put_with(q, flags(flag), ORDER, text.as_bytes()).unwrap();
    }
    let mut md = MessageDescriptor { msg_seq_number: 2, ..MessageDescriptor::default() };
    let mut options =
        GetOptions { match_options: matching::MSG_SEQ_NUMBER, ..GetOptions::default() };
    let (_, data) = client.get_with(q, &mut md, &mut options).unwrap();
    assert_eq!(data, b"2");
    let mut md = MessageDescriptor { offset: 9, ..MessageDescriptor::default() };
    options.match_options = matching::OFFSET;
    let nothing = client.get_with(q, &mut md, &mut options);
    assert_eq!(reason(nothing), Reason::NO_MSG_AVAILABLE);
}

#[test]
fn a_group_that_was_backed_out_is_got_from_its_beginning() {
    let system = System::new();
    system.queue("Q", &[]);
    let (mut client, q) = opened(&system);
    for (flag, text) in [(IN_GROUP, "1"), (LAST_IN_GROUP, "2")] {
        client.put_with(q, flags(flag), ORDER, text.as_bytes()).unwrap();
    }
    let inside = get::LOGICAL_ORDER | get::SYNCPOINT;
    for _ in 0..2 {
        assert_eq!(client.get_text(q, inside).as_deref(), Ok("1"));
        let outside = client.get_text(q, get::LOGICAL_ORDER | get::NO_SYNCPOINT);
        assert_eq!(outside, Err(Reason::INCONSISTENT_UOW));
        assert_eq!(client.get_text(q, inside).as_deref(), Ok("2"));
        client.back().unwrap();
    }
}

/// Two groups of two messages, the second begun within the first, and a message in none.
fn interleaved(system: &System) {
    let ((mut one, first), (mut two, second)) = (opened(system), opened(system));
    one.put_with(first, flags(IN_GROUP), ORDER, b"a1").unwrap();
    two.put_with(second, flags(IN_GROUP), ORDER, b"b1").unwrap();
    one.put_with(first, flags(LAST_IN_GROUP), ORDER, b"a2").unwrap();
    one.put_text(first, "alone");
    two.put_with(second, flags(LAST_IN_GROUP), ORDER, b"b2").unwrap();
}

// One state was kept for both: a get went on with the group that was browsed.
#[test]
fn browsing_a_group_and_getting_one_do_not_meet() {
    let system = System::new();
    system.queue("Q", &[]);
    interleaved(&system);
    let (mut client, q) = opened(&system);
    let (first, next) =
        (get::BROWSE_FIRST | get::LOGICAL_ORDER, get::BROWSE_NEXT | get::LOGICAL_ORDER);
    let inside = get::SYNCPOINT | get::LOGICAL_ORDER;
    for _ in 0..2 {
        assert_eq!(client.get_text(q, first).as_deref(), Ok("a1"));
    }
    assert_eq!(client.get_text(q, inside).as_deref(), Ok("a1"));
    assert_eq!(client.get_text(q, inside).as_deref(), Ok("a2"));
    client.back().unwrap();
    assert_eq!(client.get_text(q, first).as_deref(), Ok("a1"));
    // Groups follow each other as their first messages do.
    for expected in ["a2", "b1", "b2", "alone"] {
        assert_eq!(client.get_text(q, next).as_deref(), Ok(expected));
    }
    assert_eq!(client.get_text(q, next), Err(Reason::NO_MSG_AVAILABLE));
    for expected in ["a1", "a2", "b1", "b2", "alone"] {
        let outside = get::NO_SYNCPOINT | get::LOGICAL_ORDER;
        assert_eq!(client.get_text(q, outside).as_deref(), Ok(expected));
    }
}

// The place of the next one was counted beyond what a number holds.
#[test]
fn segments_end_where_offsets_end() {
    let system = System::new();
    system.queue("Q", &[]);
    let (mut client, q) = opened(&system);
    let at = |offset: i32| MessageDescriptor { offset, group_id: [7; 24], ..flags(SEGMENT) };
    for offset in [999_999_999, 999_999_998] {
        let beyond = client.put_with(q, at(offset), put::NO_SYNCPOINT, b"ab");
        assert_eq!(reason(beyond), Reason::OFFSET_ERROR);
    }
    assert!(client.put_with(q, at(999_999_997), put::NO_SYNCPOINT, b"ab").is_ok());
    assert_eq!(client.get_text(q, get::BROWSE_FIRST).as_deref(), Ok("ab"));
}

fn put_next(client: &mut Client, q: Handle, options: i32, flag: i32, text: &str) -> Answer<i32> {
    let sent = client.put_with(q, flags(flag), options | put::LOGICAL_ORDER, text.as_bytes());
    sent.map(|md| md.msg_seq_number)
}

// The group went on without it: the next put had the number behind.
#[test]
fn a_put_that_fails_leaves_its_group_where_it_was() {
    let system = System::new();
    system.queue("Q", &[("MAXDEPTH", "1")]);
    for options in [put::NO_SYNCPOINT, put::SYNCPOINT] {
        let (mut client, q) = opened(&system);
        client.put_text(q, "in the way");
        let full = put_next(&mut client, q, options, IN_GROUP, "1");
        assert_eq!(reason(full), Reason::Q_FULL);
        assert_eq!(client.next(q).as_deref(), Ok("in the way"));
        assert_eq!(put_next(&mut client, q, options, IN_GROUP, "1"), Ok(1));
        let full = put_next(&mut client, q, options, LAST_IN_GROUP, "2");
        assert_eq!(reason(full), Reason::Q_FULL);
        system.alter("Q", "MAXDEPTH", "2");
        assert_eq!(put_next(&mut client, q, options, LAST_IN_GROUP, "2"), Ok(2));
        client.commit().unwrap();
        let all = get::LOGICAL_ORDER | get::ALL_MSGS_AVAILABLE | get::NO_SYNCPOINT;
        assert_eq!(client.get_text(q, all).as_deref(), Ok("1"));
        assert_eq!(client.get_text(q, all).as_deref(), Ok("2"));
        system.alter("Q", "MAXDEPTH", "1");
    }
}

// It began again, or was got from its beginning, which had been got and committed.
#[test]
fn a_group_in_several_units_of_work_goes_on_where_the_last_one_was_backed_out() {
    let system = System::new();
    system.queue("Q", &[]);
    let (mut client, q) = opened(&system);
    let inside = put::SYNCPOINT;
    assert_eq!(put_next(&mut client, q, inside, IN_GROUP, "1"), Ok(1));
    client.commit().unwrap();
    for _ in 0..2 {
        assert_eq!(put_next(&mut client, q, inside, IN_GROUP, "2"), Ok(2));
        assert_eq!(put_next(&mut client, q, inside, LAST_IN_GROUP, "3"), Ok(3));
        client.back().unwrap();
    }
    assert_eq!(put_next(&mut client, q, inside, IN_GROUP, "2"), Ok(2));
    assert_eq!(put_next(&mut client, q, inside, LAST_IN_GROUP, "3"), Ok(3));
    client.commit().unwrap();
    let inside = get::LOGICAL_ORDER | get::SYNCPOINT;
    assert_eq!(client.get_text(q, inside).as_deref(), Ok("1"));
    client.commit().unwrap();
    for _ in 0..2 {
        assert_eq!(client.get_text(q, inside).as_deref(), Ok("2"));
        assert_eq!(client.get_text(q, inside).as_deref(), Ok("3"));
        client.back().unwrap();
    }
    assert_eq!(client.get_text(q, inside).as_deref(), Ok("2"));
    assert_eq!(client.get_text(q, inside).as_deref(), Ok("3"));
    client.commit().unwrap();
    assert_eq!(system.depth("Q"), 0);
}

// The message came back, but its group went on behind it.
#[test]
fn a_group_got_in_the_unit_of_work_because_it_is_persistent_comes_back_with_it() {
    let system = System::new();
    system.queue("Q", &[]);
    let (mut client, q) = opened(&system);
    assert_eq!(put_next(&mut client, q, put::NO_SYNCPOINT, IN_GROUP, "1"), Ok(1));
    assert_eq!(put_next(&mut client, q, put::NO_SYNCPOINT, LAST_IN_GROUP, "2"), Ok(2));
    let if_persistent = get::LOGICAL_ORDER | get::SYNCPOINT_IF_PERSISTENT;
    for _ in 0..2 {
        assert_eq!(client.get_text(q, if_persistent).as_deref(), Ok("1"));
        client.back().unwrap();
    }
    assert_eq!(client.get_text(q, if_persistent).as_deref(), Ok("1"));
    assert_eq!(client.get_text(q, if_persistent).as_deref(), Ok("2"));
    client.commit().unwrap();
    assert_eq!(system.depth("Q"), 0);
}
