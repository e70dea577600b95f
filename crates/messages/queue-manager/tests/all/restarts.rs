//! What is there after a restart.

use queue_manager::objects::Kind;
use queue_manager::options::GetOptions;
use queue_manager::options::value::{get, put};
use queue_manager::{MessageDescriptor, Reason};

use crate::common::{ALL, Calls, System, persistent};

#[test]
fn persistent_messages_stay_in_their_order_and_others_go() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    for (priority, persistence, text) in [(0, 1, "a"), (9, 0, "b"), (5, 1, "c"), (0, 1, "d")] {
        let md = MessageDescriptor { priority, persistence, ..persistent() };
        client.put_with(q, md, put::NO_SYNCPOINT, text.as_bytes()).unwrap();
    }
    client.put_with(q, persistent(), put::NO_SYNCPOINT, &vec![b'e'; 100_000]).unwrap();
    client.put_in_unit(q, "not committed");
    drop(client);
    let again = system.restarted();
    let mut client = again.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    for text in ["c", "a", "d"] {
        assert_eq!(client.next(q).as_deref(), Ok(text));
    }
    assert_eq!(client.next(q).map(|text| text.len()), Ok(100_000));
    assert_eq!(client.next(q), Err(Reason::NO_MSG_AVAILABLE));
}

#[test]
fn identifiers_find_what_was_there_before() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    for number in 0..200_u8 {
        let md = MessageDescriptor { correl_id: [number; 24], ..persistent() };
        client.put_with(q, md, put::NO_SYNCPOINT, &[number]).unwrap();
    }
    let again = system.restarted();
    let mut client = again.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let mut md = MessageDescriptor { correl_id: [150; 24], ..Default::default() };
    let (_, data) = client.get_with(q, &mut md, &mut GetOptions::default()).unwrap();
    assert_eq!(data, [150]);
    let new = MessageDescriptor { correl_id: [250; 24], ..persistent() };
    client.put_with(q, new, put::NO_SYNCPOINT, b"new").unwrap();
    let mut md = MessageDescriptor { correl_id: [250; 24], ..Default::default() };
    let (_, data) = client.get_with(q, &mut md, &mut GetOptions::default()).unwrap();
    assert_eq!(data, b"new");
}

#[test]
fn backout_counts_are_kept_where_the_queue_says_so() {
    let system = System::new();
    system.queue("HARD", &[("HARDENBO", "HARDENBO")]);
    system.queue("SOFT", &[("HARDENBO", "NOHARDENBO")]);
    let mut client = system.connect();
    for name in ["HARD", "SOFT"] {
        let q = client.open_queue(name, ALL).unwrap();
        client.put_text(q, "x");
        for _ in 0..3 {
            client.get_text(q, get::SYNCPOINT).unwrap();
            client.back().unwrap();
        }
    }
    let again = system.restarted();
    let mut client = again.connect();
    for (name, expected) in [("HARD", 3), ("SOFT", 0)] {
        let q = client.open_queue(name, ALL).unwrap();
        let mut md = MessageDescriptor::default();
        client.get_with(q, &mut md, &mut GetOptions::default()).unwrap();
        assert_eq!(md.backout_count, expected, "{name}");
    }
    assert_eq!(again.restarted().depth("HARD"), 0);
}

#[test]
fn definitions_stay_and_a_deleted_queue_takes_its_messages_with_it() {
    let system = System::new();
    system.queue("Q", &[("MAXDEPTH", "9")]);
    system.queue("GONE", &[]);
    let mut client = system.connect();
    let gone = client.open_queue("GONE", ALL).unwrap();
    client.put_text(gone, "x");
    drop(client);
    system.manager.delete(Kind::QueueLocal, "GONE", true).unwrap();
    system.queue("GONE", &[]);
    let again = system.restarted();
    assert_eq!(again.manager.object(Kind::QueueLocal, "Q").unwrap().number_of("MAXDEPTH"), 9);
    assert_eq!(again.depth("GONE"), 0);
    let default = again.manager.object(Kind::QueueLocal, "SYSTEM.DEAD.LETTER.QUEUE");
    assert!(default.is_some());
}
