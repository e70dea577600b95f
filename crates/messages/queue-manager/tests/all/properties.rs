//! Properties of messages, selectors, attributes.

#![allow(clippy::unwrap_used)] // a test that fails says where

use queue_manager::objects::Kind;
use queue_manager::options::value::{get, object_type, open, put};
use queue_manager::options::{GetOptions, MessageHandle, ObjectDescriptor, PutOptions};
use queue_manager::properties::{InquireOptions, PropertyValue};
use queue_manager::{MessageDescriptor, Outcome, Reason};

use crate::common::{ALL, Calls, Client, System, persistent, reason};

fn put_colored(client: &mut Client, to: queue_manager::options::Handle, color: &str) {
    let handle = client.create_message_handle().unwrap();
    client.set_property(handle, "color", PropertyValue::String(color.into())).unwrap();
    let mut options = PutOptions::new(put::NO_SYNCPOINT);
    options.original_msg_handle = Some(handle);
    let mut md = MessageDescriptor { format: *b"MQSTR   ", ..persistent() };
    client.put(to, &mut md, &mut options, color.as_bytes()).unwrap();
    assert_eq!(md.format, *b"MQSTR   ");
    client.delete_message_handle(handle).unwrap();
}

#[test]
fn properties_travel_with_a_message() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    for options in [get::PROPERTIES_IN_HANDLE, 0] {
        put_colored(&mut client, q, "blue");
        let handle = client.create_message_handle().unwrap();
        let mut options = GetOptions { msg_handle: Some(handle), ..GetOptions::new(options) };
        let mut md = MessageDescriptor::default();
        let (_, data) = client.get_with(q, &mut md, &mut options).unwrap();
        assert_eq!((data.as_slice(), md.format), (&b"blue"[..], *b"MQSTR   "));
        let found = client.inquire_property(handle, "%", InquireOptions::First).unwrap();
        assert_eq!(
            (found.name.as_str(), found.value),
            ("color", PropertyValue::String("blue".into()))
        );
        let more = client.inquire_property(handle, "%", InquireOptions::Next);
        assert_eq!(reason(more), Reason::PROPERTY_NOT_AVAILABLE);
    }
}

#[test]
fn without_a_handle_properties_come_in_front_of_the_data_or_not_at_all() {
    let system = System::new();
    system.queue("COMPAT", &[]);
    system.queue("NONE", &[("PROPCTL", "NONE")]);
    let mut client = system.connect();
    for (queue, options, kept) in [
        ("COMPAT", 0, true),
        ("COMPAT", get::NO_PROPERTIES, false),
        ("COMPAT", get::PROPERTIES_FORCE_MQRFH2, true),
        ("NONE", 0, false),
        ("NONE", get::PROPERTIES_FORCE_MQRFH2, true),
    ] {
        let q = client.open_queue(queue, ALL).unwrap();
        put_colored(&mut client, q, "red");
        let mut md = MessageDescriptor::default();
        let (_, data) = client.get_with(q, &mut md, &mut GetOptions::new(options)).unwrap();
        assert!(data.ends_with(b"red"));
        assert_eq!(md.format == *b"MQHRF2  ", kept, "{queue} {options:#x}");
        assert_eq!(data.len() == 3, !kept);
        if kept {
            let handle = client.create_message_handle().unwrap();
            let rest = client.buffer_to_handle(handle, &mut md, &data, true).unwrap();
            assert_eq!((rest.as_slice(), md.format), (&b"red"[..], *b"MQSTR   "));
            let again = client.handle_to_buffer(handle, "%", &mut md, true).unwrap();
            assert_eq!(md.format, *b"MQHRF2  ");
            assert!(data.starts_with(&again[..36]));
            let none = client.handle_to_buffer(handle, "%", &mut md, true);
            assert_eq!(reason(none), Reason::PROPERTY_NOT_AVAILABLE);
        }
    }
}

#[test]
fn message_handles_are_checked() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let wrong = MessageHandle(77);
    let set = client.set_property(wrong, "a", PropertyValue::Null);
    assert_eq!(reason(set), Reason::HMSG_ERROR);
    assert_eq!(reason(client.delete_message_handle(wrong)), Reason::HMSG_ERROR);
    let mut options = GetOptions { msg_handle: Some(wrong), ..GetOptions::default() };
    let got = client.get_with(q, &mut MessageDescriptor::default(), &mut options);
    assert_eq!(reason(got), Reason::HMSG_ERROR);
    let mut options = PutOptions { original_msg_handle: Some(wrong), ..PutOptions::new(0) };
    assert_eq!(reason(client.put(q, &mut persistent(), &mut options, b"")), Reason::HMSG_ERROR);
    let handle = client.create_message_handle().unwrap();
    let name = client.set_property(handle, "not a name", PropertyValue::Null);
    assert_eq!(reason(name), Reason::PROPERTY_NAME_ERROR);
    assert_eq!(reason(client.delete_property(handle, "a")), Reason::PROPERTY_NOT_AVAILABLE);
    // What claims to be a header and is none is refused where it is to be read.
    let mut md = MessageDescriptor { format: *b"MQHRF2  ", ..persistent() };
    let bad = client.buffer_to_handle(handle, &mut md, b"RFH ", true);
    assert_eq!(reason(bad), Reason::RFH_ERROR);
}

#[test]
fn a_handle_with_a_selector_sees_what_it_selects() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    ["red", "blue", "red", "green"].iter().for_each(|color| put_colored(&mut client, q, color));
    let mut what = ObjectDescriptor::queue("Q");
    what.selection_string = "color = 'red' OR color LIKE 'g%'".into();
    let (selecting, _) = client.open(&mut what, ALL).unwrap();
    let options = get::NO_PROPERTIES | get::NO_SYNCPOINT;
    let browse = get::BROWSE_FIRST | get::NO_PROPERTIES;
    assert_eq!(client.get_text(selecting, browse).as_deref(), Ok("red"));
    for expected in ["red", "red", "green"] {
        assert_eq!(client.get_text(selecting, options).as_deref(), Ok(expected));
    }
    assert_eq!(client.get_text(selecting, options), Err(Reason::NO_MSG_AVAILABLE));
    assert_eq!(system.depth("Q"), 1);
    what.selection_string = "color = ".into();
    assert_eq!(reason(client.open(&mut what, ALL)), Reason::SELECTOR_SYNTAX_ERROR);
    what.selection_string = " ".repeat(20_000);
    assert_eq!(reason(client.open(&mut what, ALL)), Reason::SELECTION_STRING_ERROR);
}

#[test]
fn attributes_can_be_asked_for_and_some_be_set() {
    let system = System::new();
    system.queue("Q", &[("MAXDEPTH", "77"), ("DESCR", "my queue")]);
    system.define(Kind::Process, "P", &[("APPLICID", "prog")]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    client.put_text(q, "x");
    let answer = client.inquire(q, &[3, 2_013, 15, 20, 2_016, 17]).unwrap();
    assert_eq!(answer.numbers, [1, 77, 1, 1]);
    assert_eq!(answer.characters.len(), 64 + 48);
    assert!(answer.characters.starts_with(b"my queue  "));
    assert!(answer.characters[64..].starts_with(b"Q  "));
    assert_eq!(answer.outcome, Outcome::OK);
    // What it does not have is as long as with those that have it.
    system.define(Kind::QueueAlias, "A", &[("TARGET", "Q")]);
    let alias = client.open_queue("A", open::INQUIRE).unwrap();
    let answer = client.inquire(alias, &[2_004, 2_016]).unwrap();
    assert_eq!(answer.outcome, Outcome::warning(Reason::SELECTOR_NOT_FOR_TYPE));
    assert_eq!(&answer.characters[..14], b"************A ");
    assert_eq!(answer.characters.len(), 12 + 48);
    assert_eq!(client.inquire(alias, &[3_999]).unwrap().characters, [b'*'; 48]);
    let other = client.inquire(q, &[31]).unwrap();
    assert_eq!(other.outcome, Outcome::warning(Reason::SELECTOR_NOT_FOR_TYPE));
    assert_eq!(reason(client.inquire(q, &[0])), Reason::SELECTOR_ERROR);
    assert_eq!(reason(client.inquire(q, &[3; 257])), Reason::SELECTOR_LIMIT_EXCEEDED);
    let output = client.open_queue("Q", open::OUTPUT).unwrap();
    assert_eq!(reason(client.inquire(output, &[3])), Reason::NOT_OPEN_FOR_INQUIRE);
    assert_eq!(reason(client.set(output, &[9], &[1], b"")), Reason::NOT_OPEN_FOR_SET);
    let data = [b'd'; 64];
    client.set(q, &[9, 2_023, 29], &[1, 5], &data).unwrap();
    assert_eq!(client.next(q), Err(Reason::GET_INHIBITED));
    let shown = system.restarted().manager.object(Kind::QueueLocal, "Q").unwrap();
    assert!(shown.is("GET", "DISABLED") && shown.number_of("TRIGDPTH") == 5);
    for (selector, number, expected) in [
        (9, 7, Reason::INHIBIT_VALUE_ERROR),
        (24, 7, Reason::TRIGGER_CONTROL_ERROR),
        (29, 0, Reason::TRIGGER_DEPTH_ERROR),
        (26, 10, Reason::TRIGGER_MSG_PRIORITY_ERR),
        (28, 9, Reason::TRIGGER_TYPE_ERROR),
        (15, 1, Reason::SELECTOR_ERROR),
    ] {
        assert_eq!(reason(client.set(q, &[selector], &[number], b"")), expected, "{selector}");
    }
    assert_eq!(reason(client.set(q, &[9], &[], b"")), Reason::INT_ATTR_COUNT_ERROR);
    assert_eq!(reason(client.set(q, &[2_023], &[], b"x")), Reason::CHAR_ATTR_LENGTH_ERROR);
    let mut what = ObjectDescriptor::queue("P");
    what.object_type = object_type::PROCESS;
    let (process, _) = client.open(&mut what, open::INQUIRE).unwrap();
    assert!(client.inquire(process, &[2_001]).unwrap().characters.starts_with(b"prog "));
    let mut what = ObjectDescriptor { object_type: object_type::Q_MGR, ..Default::default() };
    let (manager, _) = client.open(&mut what, open::INQUIRE).unwrap();
    let answer = client.inquire(manager, &[2_015, 31, 2]).unwrap();
    assert!(answer.characters.starts_with(b"QM1  ") && answer.numbers == [940, 1_208]);
    assert_eq!(reason(client.put_with(manager, persistent(), 0, b"")), Reason::NOT_OPEN_FOR_OUTPUT);
}
