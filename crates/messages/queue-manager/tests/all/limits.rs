//! What a connection, and what all of them, may take of memory.

#![allow(clippy::unwrap_used)] // a test that fails says where

use queue_manager::objects::{Kind, Value};
use queue_manager::options::value::{get, open, put};
use queue_manager::options::{ConnectOptions, GetOptions, ObjectDescriptor, ObjectRecord};
use queue_manager::properties::PropertyValue;
use queue_manager::{MessageDescriptor, Options, QueueManager, Reason};
use store_suite::model::ModelStore;

use crate::common::{ALL, Calls, Client, System, persistent, reason};

fn visitor(system: &System) -> Client {
    let who = ConnectOptions { by_door: true, ..ConnectOptions::default() };
    system.manager.connect(who).unwrap()
}

fn few_handles(system: &System) {
    let few = [("MAXHANDS", Value::Number(4))];
    system.manager.alter(Kind::QueueManager, "QM1", &few).unwrap();
}

#[test]
fn message_handles_are_as_many_as_handles_may_be() {
    let system = System::new();
    few_handles(&system);
    let mut client = visitor(&system);
    let handles: Vec<_> = (0..4).map(|_| client.create_message_handle().unwrap()).collect();
    assert_eq!(reason(client.create_message_handle()), Reason::HANDLE_NOT_AVAILABLE);
    client.delete_message_handle(handles[0]).unwrap();
    assert!(client.create_message_handle().is_ok());
}

#[test]
fn destinations_of_lists_count_as_handles() {
    let system = System::new();
    few_handles(&system);
    system.queue("Q", &[]);
    let mut client = system.connect();
    let record = ObjectRecord { object_name: "Q".into(), ..ObjectRecord::default() };
    let list = |count: usize| ObjectDescriptor {
        records: vec![record; count],
        ..ObjectDescriptor::queue("")
    };
    let refused = client.open(&mut list(4), open::OUTPUT);
    assert_eq!(reason(refused), Reason::HANDLE_NOT_AVAILABLE);
    let (handle, _) = client.open(&mut list(2), open::OUTPUT).unwrap();
    assert!(client.open_queue("Q", open::OUTPUT).is_ok());
    assert_eq!(reason(client.open_queue("Q", open::OUTPUT)), Reason::HANDLE_NOT_AVAILABLE);
    client.close(handle, 0).unwrap();
    assert!(client.open(&mut list(2), open::OUTPUT).is_ok());
}

#[test]
fn properties_of_all_handles_have_a_limit_together() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = visitor(&system);
    let long = || PropertyValue::Bytes(vec![0; 3 << 20]);
    let first = client.create_message_handle().unwrap();
    let second = client.create_message_handle().unwrap();
    client.set_property(first, "a", long()).unwrap();
    client.set_property(second, "a", long()).unwrap();
    let refused = client.set_property(second, "b", long());
    assert_eq!(reason(refused), Reason::PROPERTIES_TOO_BIG);
    // One handle alone has no more, and what is small counts, too.
    assert_eq!(reason(client.set_property(first, "b", long())), Reason::PROPERTIES_TOO_BIG);
    let many =
        (0..100_000).map(|at| client.set_property(first, &format!("p{at}"), PropertyValue::Null));
    let refused = many.map(reason).find(|reason| *reason != Reason::NONE);
    assert_eq!(refused, Some(Reason::PROPERTIES_TOO_BIG));
    client.delete_message_handle(first).unwrap();
    client.set_property(second, "b", long()).unwrap();
}

#[test]
fn messages_are_got_with_their_properties_while_there_is_room() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = visitor(&system);
    let q = client.open_queue("Q", ALL).unwrap();
    let handle = client.create_message_handle().unwrap();
    client.set_property(handle, "a", PropertyValue::Bytes(vec![0; 1 << 20])).unwrap();
    let mut options = queue_manager::options::PutOptions::new(put::NO_SYNCPOINT);
    options.original_msg_handle = Some(handle);
    client.put(q, &mut persistent(), &mut options, b"x").unwrap();
    let mut answers = Vec::new();
    for _ in 0..12 {
        let into = client.create_message_handle().unwrap();
        let how = get::BROWSE_FIRST | get::PROPERTIES_IN_HANDLE;
        let mut options = GetOptions { msg_handle: Some(into), ..GetOptions::new(how) };
        let mut md = MessageDescriptor::default();
        answers.push(reason(client.get_with(q, &mut md, &mut options)));
    }
    let got = answers.iter().filter(|reason| **reason == Reason::NONE).count();
    assert!((6..=9).contains(&got), "{answers:?}");
    assert_eq!(answers.last(), Some(&Reason::PROPERTIES_TOO_BIG));
}

#[test]
fn messages_in_memory_have_a_limit_together_and_persistent_ones_have_none() {
    let options = Options { memory_bytes_max: 1 << 20, ..Options::new("QM1") };
    let manager = QueueManager::open(&ModelStore::new(), options).unwrap();
    for name in ["ONE", "TWO"] {
        manager.define(Kind::QueueLocal, name, &[], false, None).unwrap();
    }
    let mut client = manager.connect(ConnectOptions::default()).unwrap();
    let one = client.open_queue("ONE", ALL).unwrap();
    let two = client.open_queue("TWO", ALL).unwrap();
    let volatile = || MessageDescriptor { persistence: 0, ..persistent() };
    let long = vec![0; 400 << 10];
    client.put_with(one, volatile(), put::NO_SYNCPOINT, &long).unwrap();
    client.put_with(two, volatile(), put::NO_SYNCPOINT, &long).unwrap();
    for options in [put::NO_SYNCPOINT, put::SYNCPOINT] {
        let refused = client.put_with(two, volatile(), options, &long);
        assert_eq!(reason(refused), Reason::Q_SPACE_NOT_AVAILABLE);
    }
    client.put_with(two, persistent(), put::NO_SYNCPOINT, &long).unwrap();
    // What is got, or backed out, or goes with its queue makes room.
    let take = |client: &mut Client, from| {
        let mut options = GetOptions::new(get::NO_SYNCPOINT);
        client.get_with(from, &mut MessageDescriptor::default(), &mut options).unwrap();
    };
    take(&mut client, one);
    client.put_with(one, volatile(), put::SYNCPOINT, &long).unwrap();
    client.back().unwrap();
    let mut model = ObjectDescriptor::queue("SYSTEM.DEFAULT.MODEL.QUEUE");
    let (temporary, _) = client.open(&mut model, ALL).unwrap();
    client.put_with(temporary, volatile(), put::NO_SYNCPOINT, &long).unwrap();
    let refused = client.put_with(one, volatile(), put::NO_SYNCPOINT, &long);
    assert_eq!(reason(refused), Reason::Q_SPACE_NOT_AVAILABLE);
    client.close(temporary, 0).unwrap();
    client.put_with(one, volatile(), put::NO_SYNCPOINT, &long).unwrap();
}

#[test]
fn properties_that_a_program_writes_itself_have_the_limit_of_those_of_handles() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let handle = client.create_message_handle().unwrap();
    client.set_property(handle, "a", PropertyValue::String("long".repeat(50))).unwrap();
    let with_handle = || queue_manager::options::PutOptions {
        original_msg_handle: Some(handle),
        ..queue_manager::options::PutOptions::new(put::NO_SYNCPOINT)
    };
    client.put(q, &mut persistent(), &mut with_handle(), b"").unwrap();
    let mut md = MessageDescriptor::default();
    let mut how = GetOptions::new(get::NO_SYNCPOINT | get::PROPERTIES_FORCE_MQRFH2);
    let mut written = Vec::new();
    client.get(q, &mut md, &mut how, 1 << 20, &mut written).unwrap();
    assert!(written.starts_with(b"RFH "));
    let limit = |most: usize| {
        let most = [("MAXPROPL", Value::from(most as i64))];
        system.manager.alter(Kind::QueueManager, "QM1", &most).unwrap();
    };
    let described = || MessageDescriptor { format: md.format, ..persistent() };
    let length = written.len();
    written.extend_from_slice(b"data that are no properties");
    for (most, answer) in [(length, Reason::NONE), (length - 1, Reason::PROPERTIES_TOO_BIG)] {
        limit(most);
        let put_it = client.put_with(q, described(), put::NO_SYNCPOINT, &written);
        assert_eq!(reason(put_it), answer);
        let put_it = client.put(q, &mut persistent(), &mut with_handle(), b"more");
        assert_eq!(reason(put_it), answer);
    }
}
