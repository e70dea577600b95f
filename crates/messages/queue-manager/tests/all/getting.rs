//! Order, selection by identifiers, truncation, conversion.

use queue_manager::options::value::{get, matching, open, put};
use queue_manager::options::{GetOptions, PutOptions};
use queue_manager::properties::PropertyValue;
use queue_manager::{MessageDescriptor, Outcome, Reason};

use crate::common::{ALL, Calls, System, persistent, reason};

#[test]
fn messages_come_by_priority_and_then_in_the_order_of_arrival() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    for (priority, persistence, text) in
        [(0, 1, "a"), (9, 0, "b"), (4, 1, "c"), (9, 1, "d"), (4, 0, "e")]
    {
        let md = MessageDescriptor { priority, persistence, ..Default::default() };
        client.put_with(q, md, put::NO_SYNCPOINT, text.as_bytes()).unwrap();
    }
    let order: Vec<_> = std::iter::from_fn(|| client.next(q).ok()).collect();
    assert_eq!(order, ["b", "d", "c", "e", "a"]);
    assert_eq!(client.next(q), Err(Reason::NO_MSG_AVAILABLE));
}

#[test]
fn a_fifo_queue_pays_no_heed_to_priority() {
    let system = System::new();
    system.queue("Q", &[("MSGDLVSQ", "FIFO")]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    for (priority, text) in [(0, "a"), (9, "b"), (4, "c")] {
        let md = MessageDescriptor { priority, ..persistent() };
        client.put_with(q, md, put::NO_SYNCPOINT, text.as_bytes()).unwrap();
    }
    let mut md = MessageDescriptor::default();
    client.get_with(q, &mut md, &mut GetOptions::default()).unwrap();
    assert_eq!(md.priority, 0);
    assert_eq!(client.next(q).as_deref(), Ok("b"));
    assert_eq!(client.next(q).as_deref(), Ok("c"));
}

#[test]
fn identifiers_select_and_zeros_stand_for_any() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let one = client.put_text(q, "one");
    let mut md = MessageDescriptor { correl_id: [7; 24], ..persistent() };
    md.persistence = 0;
    let two = client.put_with(q, md.clone(), put::NO_SYNCPOINT, b"two").unwrap();
    client.put_with(q, md, put::NO_SYNCPOINT, b"three").unwrap();
    // By correlation: in the order of arrival.
    let mut md = MessageDescriptor { correl_id: [7; 24], ..Default::default() };
    let (_, data) = client.get_with(q, &mut md, &mut GetOptions::default()).unwrap();
    assert_eq!((data.as_slice(), md.msg_id), (b"two".as_slice(), two.msg_id));
    // The identifiers of what was got now stand in the descriptor: the next get finds nothing.
    let again = client.get_with(q, &mut md, &mut GetOptions::default());
    assert_eq!(reason(again), Reason::NO_MSG_AVAILABLE);
    // Without match options they do not count.
    let mut options = GetOptions { match_options: matching::NONE, ..Default::default() };
    let (_, data) = client.get_with(q, &mut md, &mut options).unwrap();
    assert_eq!(data, b"one");
    let mut md = MessageDescriptor { msg_id: one.msg_id, ..Default::default() };
    let gone = client.get_with(q, &mut md, &mut GetOptions::default());
    assert_eq!(reason(gone), Reason::NO_MSG_AVAILABLE);
    assert_eq!(client.next(q).as_deref(), Ok("three"));
}

#[test]
fn a_token_finds_the_message_that_was_browsed() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    client.put_text(q, "one");
    client.put_text(q, "two");
    let mut options = GetOptions::new(get::BROWSE_FIRST);
    let mut md = MessageDescriptor::default();
    client.get_with(q, &mut md, &mut options).unwrap();
    let mut md = MessageDescriptor::default();
    let mut options = GetOptions::new(get::BROWSE_NEXT);
    client.get_with(q, &mut md, &mut options).unwrap();
    let token = options.msg_token;
    let mut options = GetOptions {
        match_options: matching::MSG_TOKEN,
        msg_token: token,
        ..GetOptions::default()
    };
    let (_, data) = client.get_with(q, &mut md, &mut options).unwrap();
    assert_eq!(data, b"two");
    options.msg_token = token;
    let again = client.get_with(q, &mut md, &mut options);
    assert_eq!(reason(again), Reason::NO_MSG_AVAILABLE);
}

#[test]
fn a_message_that_does_not_fit_stays_unless_the_program_takes_it_so() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let sent = client.put_text(q, "0123456789");
    let mut data = vec![1];
    let mut md = MessageDescriptor::default();
    let mut options = GetOptions::default();
    let got = client.get(q, &mut md, &mut options, 4, &mut data).unwrap();
    assert_eq!(got.outcome, Outcome::warning(Reason::TRUNCATED_MSG_FAILED));
    assert_eq!((got.data_length, data.as_slice()), (10, b"0123".as_slice()));
    assert_eq!((md.msg_id, system.depth("Q")), (sent.msg_id, 1));
    let mut md = MessageDescriptor::default();
    let mut options = GetOptions::new(get::ACCEPT_TRUNCATED_MSG);
    let got = client.get(q, &mut md, &mut options, 4, &mut data).unwrap();
    assert_eq!(got.outcome, Outcome::warning(Reason::TRUNCATED_MSG_ACCEPTED));
    assert_eq!((options.returned_length, system.depth("Q")), (4, 0));
    // Nothing at all fits into a message without data.
    client.put_text(q, "");
    let mut md = MessageDescriptor::default();
    let got = client.get(q, &mut md, &mut GetOptions::default(), 0, &mut data).unwrap();
    assert_eq!((got.outcome, got.data_length), (Outcome::OK, 0));
}

#[test]
fn large_messages_come_back_whole() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    for bytes in [32 << 10, (32 << 10) + 1, 100_000, 1 << 20] {
        let data: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
        for persistence in [0, 1] {
            let md = MessageDescriptor { persistence, ..Default::default() };
            client.put_with(q, md, put::NO_SYNCPOINT, &data).unwrap();
            let mut md = MessageDescriptor::default();
            let (_, back) = client.get_with(q, &mut md, &mut GetOptions::default()).unwrap();
            assert!(back == data, "{bytes} {persistence}");
        }
    }
}

#[test]
fn text_is_converted_where_that_is_asked_for() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let text = MessageDescriptor { ccsid: 37, format: *b"MQSTR   ", ..persistent() };
    client.put_with(q, text, put::NO_SYNCPOINT, &[0xc1, 0xc2, 0xf1]).unwrap();
    let mut md = MessageDescriptor::default();
    let mut options = GetOptions::new(get::CONVERT);
    let (got, data) = client.get_with(q, &mut md, &mut options).unwrap();
    assert_eq!((got.outcome, data.as_slice(), md.ccsid), (Outcome::OK, b"AB1".as_slice(), 1_208));
    for (format, ccsid, expected) in [
        // A program's own format, for which nobody has told how.
        (*b"OWN     ", 37, Reason::FORMAT_ERROR),
        (*b"        ", 37, Reason::FORMAT_ERROR),
        (*b"MQSTR   ", 12_345, Reason::SOURCE_CCSID_ERROR),
    ] {
        let own = MessageDescriptor { ccsid, format, ..persistent() };
        client.put_with(q, own, put::NO_SYNCPOINT, &[0xc1]).unwrap();
        let mut md = MessageDescriptor::default();
        let (got, data) = client.get_with(q, &mut md, &mut options).unwrap();
        assert_eq!((got.outcome, data[0]), (Outcome::warning(expected), 0xc1));
    }
}

// The target was always the queue manager's code page, and data that were in theirs were converted.
#[test]
fn data_come_in_the_form_that_the_descriptor_asks_for() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let (string, none, own) = (*b"MQSTR   ", *b"        ", *b"OWN     ");
    for (format, ccsid, data, asked, expected) in [
        (string, 500, &[0x4a][..], 500, &[0x4a][..]),
        (string, 500, &[0x4a], 819, b"["),
        (string, 500, &[0x4a], 273, &[0x63]),
        // What no page here is, asked for as itself.
        (string, 1_200, b"\0A", 1_200, b"\0A"),
        (none, 37, &[0xc1], 37, &[0xc1]),
        (none, 0, &[0xc1], 0, &[0xc1]),
        (own, 37, &[0xc1], 37, &[0xc1]),
    ] {
        let put = MessageDescriptor { ccsid, format, ..persistent() };
        client.put_with(q, put, put::NO_SYNCPOINT, data).unwrap();
        let mut md = MessageDescriptor { ccsid: asked, ..MessageDescriptor::default() };
        let (got, back) = client.get_with(q, &mut md, &mut GetOptions::new(get::CONVERT)).unwrap();
        assert_eq!((got.outcome, &back[..]), (Outcome::OK, expected), "{format:?} {ccsid} {asked}");
        assert_eq!(md.ccsid, if asked == 0 { 1_208 } else { asked });
    }
    // Text that would not fit in between does as it is.
    let put = MessageDescriptor { ccsid: 500, format: string, ..persistent() };
    client.put_with(q, put, put::NO_SYNCPOINT, &[0x4a; 4]).unwrap();
    let mut md = MessageDescriptor { ccsid: 500, ..MessageDescriptor::default() };
    let (mut options, mut back) = (GetOptions::new(get::CONVERT), Vec::new());
    let got = client.get(q, &mut md, &mut options, 4, &mut back).unwrap();
    assert_eq!((got.outcome, back), (Outcome::OK, vec![0x4a; 4]));
}

#[test]
fn data_behind_properties_are_converted_and_described() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let handle = client.create_message_handle().unwrap();
    client.set_property(handle, "color", PropertyValue::String("red".into())).unwrap();
    let forced = get::CONVERT | get::PROPERTIES_FORCE_MQRFH2;
    for (format, asked, remark) in [
        (*b"MQSTR   ", 819, Outcome::OK),
        (*b"MQSTR   ", 37, Outcome::OK),
        (*b"OWN     ", 37, Outcome::OK),
        (*b"OWN     ", 819, Outcome::warning(Reason::FORMAT_ERROR)),
    ] {
        let mut md = MessageDescriptor { ccsid: 37, format, ..persistent() };
        let mut options =
            PutOptions { original_msg_handle: Some(handle), ..PutOptions::new(put::NO_SYNCPOINT) };
        client.put(q, &mut md, &mut options, &[0xc1]).unwrap();
        let mut md = MessageDescriptor { ccsid: asked, ..MessageDescriptor::default() };
        let (got, data) = client.get_with(q, &mut md, &mut GetOptions::new(forced)).unwrap();
        assert_eq!((got.outcome, md.format), (remark, *b"MQHRF2  "));
        let rest = client.create_message_handle().unwrap();
        let body = client.buffer_to_handle(rest, &mut md, &data, true).unwrap();
        let is_converted = remark == Outcome::OK && asked == 819;
        let expected = if is_converted { (&b"A"[..], 819) } else { (&[0xc1][..], 37) };
        assert_eq!((&body[..], md.ccsid), expected);
    }
}

#[test]
fn text_that_grows_beyond_the_buffer_comes_as_it_was_put() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let text = MessageDescriptor { ccsid: 819, format: *b"MQSTR   ", ..persistent() };
    client.put_with(q, text, put::NO_SYNCPOINT, &[0xfc; 4]).unwrap();
    let (mut md, mut data) = (MessageDescriptor::default(), Vec::new());
    let mut options = GetOptions::new(get::CONVERT);
    let got = client.get(q, &mut md, &mut options, 7, &mut data).unwrap();
    assert_eq!(got.outcome, Outcome::warning(Reason::CONVERTED_MSG_TOO_BIG));
    assert_eq!((md.ccsid, data), (819, vec![0xfc; 4]));
    assert_eq!(system.depth("Q"), 0);
}

#[test]
fn a_damaged_message_is_set_aside_and_the_rest_stays_available() {
    use store::{KeyRange, Store, Unit, UnitOptions};
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    client.put_text(q, &"x".repeat(50_000));
    client.put_text(q, "sound");
    let set = system.store.set("HOLDFAST.MQ.DATA").unwrap().unwrap();
    let mut unit = system.store.begin(UnitOptions::default()).unwrap();
    assert_eq!(unit.delete_range(set, KeyRange::ALL).unwrap(), 2);
    unit.commit().unwrap();
    assert_eq!(client.next(q).as_deref(), Ok("sound"));
    assert_eq!(client.next(q), Err(Reason::NO_MSG_AVAILABLE));
    let status = system.manager.queue_status("Q").unwrap();
    assert_eq!((status.depth, status.damaged), (1, 1));
}

// Each get that looked whether the group was complete failed at it, and met nothing behind it.
#[test]
fn a_damaged_part_hides_its_own_group_alone() {
    use store::{KeyRange, Store, Unit, UnitOptions};
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let large = "x".repeat(50_000);
    let order = put::LOGICAL_ORDER | put::NO_SYNCPOINT;
    // Groups, then segments: the last part of the first is the one that is damaged.
    let all = get::LOGICAL_ORDER | get::ALL_MSGS_AVAILABLE | get::NO_SYNCPOINT;
    for (part, last, asked) in [(8, 16, all), (2, 4, get::COMPLETE_MSG | get::NO_SYNCPOINT)] {
        for (msg_flags, text) in [(part, "1"), (last, &*large), (part, "a"), (last, "b")] {
            let md = MessageDescriptor { msg_flags, ..persistent() };
            client.put_with(q, md, order, text.as_bytes()).unwrap();
        }
        let set = system.store.set("HOLDFAST.MQ.DATA").unwrap().unwrap();
        let mut unit = system.store.begin(UnitOptions::default()).unwrap();
        assert_eq!(unit.delete_range(set, KeyRange::ALL).unwrap(), 2);
        unit.commit().unwrap();
        let expected: &[&str] = if part == 2 { &["ab"] } else { &["a", "b"] };
        for text in expected {
            assert_eq!(client.get_text(q, asked).as_deref(), Ok(*text));
        }
        assert_eq!(client.get_text(q, asked), Err(Reason::NO_MSG_AVAILABLE));
        assert_eq!(client.next(q).as_deref(), Ok("1"));
    }
    assert_eq!(system.manager.queue_status("Q").unwrap().damaged, 2);
}

// The scan met the same hundred each time, and nothing behind them.
#[test]
fn damaged_messages_keep_no_other_from_expiring() {
    use store::{KeyRange, Store, Unit, UnitOptions};
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let mut put = |text: &str| {
        let md = MessageDescriptor { expiry: 1, ..persistent() };
        client.put_with(q, md, put::NO_SYNCPOINT, text.as_bytes()).unwrap()
    };
    let large = "x".repeat(50_000);
    for _ in 0..100 {
        put(&large);
    }
    let set = system.store.set("HOLDFAST.MQ.DATA").unwrap().unwrap();
    let mut unit = system.store.begin(UnitOptions::default()).unwrap();
    assert_eq!(unit.delete_range(set, KeyRange::ALL).unwrap(), 200);
    unit.commit().unwrap();
    put("sound");
    system.clock.pass(1_000);
    assert_eq!(system.manager.expire(), 1);
    let status = system.manager.queue_status("Q").unwrap();
    assert_eq!((status.depth, status.damaged), (100, 100));
    assert_eq!(client.next(q), Err(Reason::NO_MSG_AVAILABLE));
}

#[test]
fn a_get_fails_where_it_has_to() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let input = client.open_queue("Q", open::INPUT_SHARED).unwrap();
    let output = client.open_queue("Q", open::OUTPUT).unwrap();
    let both = get::SYNCPOINT | get::NO_SYNCPOINT;
    for (handle, options, expected) in [
        (output, 0, Reason::NOT_OPEN_FOR_INPUT),
        (input, get::BROWSE_FIRST, Reason::NOT_OPEN_FOR_BROWSE),
        (input, both, Reason::OPTIONS_ERROR),
        (input, 1 << 30, Reason::OPTIONS_ERROR),
        (input, get::SET_SIGNAL, Reason::OPTIONS_ERROR),
        (input, get::MARK_SKIP_BACKOUT, Reason::OPTIONS_ERROR),
        (queue_manager::options::Handle(99), 0, Reason::HOBJ_ERROR),
    ] {
        assert_eq!(client.get_text(handle, options), Err(expected), "{options:#x}");
    }
    let mut md = MessageDescriptor::default();
    let mut options = GetOptions { match_options: 64, ..Default::default() };
    let answer = client.get_with(input, &mut md, &mut options);
    assert_eq!(reason(answer), Reason::MATCH_OPTIONS_ERROR);
    let mut options = GetOptions { wait_interval: -2, ..GetOptions::new(get::WAIT) };
    let answer = client.get_with(input, &mut md, &mut options);
    assert_eq!(reason(answer), Reason::WAIT_INTERVAL_ERROR);
    system.alter("Q", "GET", "DISABLED");
    assert_eq!(client.next(input), Err(Reason::GET_INHIBITED));
}
