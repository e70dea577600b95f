//! Reports, expiry, dead letters.

use queue_manager::options::GetOptions;
use queue_manager::options::value::{get, put};
use queue_manager::{MessageDescriptor, Reason};

use crate::common::{ALL, Calls, System, persistent};

fn asking(report: i32) -> MessageDescriptor {
    MessageDescriptor { report, reply_to_q: "REPLY".into(), ..persistent() }
}

#[test]
fn arrival_and_delivery_are_confirmed_in_the_unit_of_work() {
    let system = System::new();
    system.queue("Q", &[]);
    system.queue("REPLY", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let reply = client.open_queue("REPLY", ALL).unwrap();
    // Arrival without data, delivery with all of it.
    let sent = client.put_with(q, asking(0x100 | 0x3800), put::SYNCPOINT, b"data").unwrap();
    assert_eq!(client.next(reply), Err(Reason::NO_MSG_AVAILABLE));
    client.commit().unwrap();
    let mut md = MessageDescriptor::default();
    let (_, data) = client.get_with(reply, &mut md, &mut GetOptions::default()).unwrap();
    assert_eq!((md.msg_type, md.feedback, data.len()), (4, 259, 0));
    assert_eq!((md.correl_id, md.persistence), (sent.msg_id, 1));
    client.get_text(q, get::SYNCPOINT).unwrap();
    client.back().unwrap();
    assert_eq!(client.next(reply), Err(Reason::NO_MSG_AVAILABLE));
    client.get_text(q, get::NO_SYNCPOINT).unwrap();
    let mut md = MessageDescriptor::default();
    let (_, data) = client.get_with(reply, &mut md, &mut GetOptions::default()).unwrap();
    assert_eq!((md.feedback, data.as_slice()), (260, &b"data"[..]));
}

#[test]
fn identifiers_are_passed_to_reports_where_that_is_asked_for() {
    let system = System::new();
    system.queue("Q", &[]);
    system.queue("REPLY", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let reply = client.open_queue("REPLY", ALL).unwrap();
    let md = MessageDescriptor { correl_id: [5; 24], ..asking(0x300 | 0x40 | 0x80) };
    let sent = client.put_with(q, md, put::NO_SYNCPOINT, &[7; 150]).unwrap();
    let mut md = MessageDescriptor::default();
    let (_, data) = client.get_with(reply, &mut md, &mut GetOptions::default()).unwrap();
    assert_eq!((md.msg_id, md.correl_id, data.len()), (sent.msg_id, [5; 24], 100));
}

#[test]
fn a_message_whose_time_is_over_is_not_returned_and_reported() {
    let system = System::new();
    system.queue("Q", &[]);
    system.queue("REPLY", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let reply = client.open_queue("REPLY", ALL).unwrap();
    let short = MessageDescriptor { expiry: 20, ..asking(0x0020_0000) };
    for _ in 0..2 {
        client.put_with(q, short.clone(), put::NO_SYNCPOINT, b"short").unwrap();
    }
    client.put_with(q, MessageDescriptor { expiry: 100, ..persistent() }, 0, b"long").unwrap();
    system.clock.pass(1_500);
    let mut md = MessageDescriptor::default();
    let (_, data) = client.get_with(q, &mut md, &mut GetOptions::new(get::BROWSE_FIRST)).unwrap();
    assert_eq!((data.as_slice(), md.expiry), (&b"short"[..], 5));
    system.clock.pass(600);
    assert_eq!(system.manager.expire(), 2);
    assert_eq!((system.depth("Q"), system.depth("REPLY")), (1, 2));
    let mut md = MessageDescriptor::default();
    client.get_with(reply, &mut md, &mut GetOptions::default()).unwrap();
    assert_eq!((md.msg_type, md.feedback), (4, 258));
    assert_eq!(system.manager.queue_status("Q").unwrap().statistics.expired, 2);
    // A getter that meets one removes it, too; the time is kept over a restart.
    let system = system.restarted();
    system.clock.pass(20_000);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    assert_eq!(client.next(q), Err(Reason::NO_MSG_AVAILABLE));
    assert_eq!(system.depth("Q"), 0);
}

#[test]
fn the_scan_comes_by_itself_and_lives_are_capped() {
    let system = System::new();
    system.queue("Q", &[("CAPEXPRY", "50")]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let sent = client.put_with(q, persistent(), put::NO_SYNCPOINT, b"x").unwrap();
    assert_eq!(sent.expiry, 50);
    system.clock.pass(10_000);
    system.manager.tick();
    assert_eq!(system.depth("Q"), 1);
    system.clock.pass(60_000);
    system.manager.tick();
    assert_eq!(system.depth("Q"), 0);
}

#[test]
fn a_report_without_a_place_becomes_a_dead_letter() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    client.put_with(q, asking(0x700), put::NO_SYNCPOINT, b"data").unwrap();
    let dead = client.open_queue("SYSTEM.DEAD.LETTER.QUEUE", ALL).unwrap();
    let mut md = MessageDescriptor::default();
    let (_, data) = client.get_with(dead, &mut md, &mut GetOptions::default()).unwrap();
    assert_eq!((md.format, &data[..4], data.len()), (*b"MQDEAD  ", &b"DLH "[..], 172 + 4));
    assert_eq!(data[8..12], Reason::UNKNOWN_OBJECT_NAME.0.to_le_bytes());
    assert!(data[12..].starts_with(b"REPLY "));
    assert!(data[60..].starts_with(b"QM1 "));
    assert_eq!(&data[172..], b"data");
}

#[test]
fn a_dead_letter_makes_the_exception_report_that_was_asked_for() {
    let system = System::new();
    system.queue("REPLY", &[]);
    let mut client = system.connect();
    let reply = client.open_queue("REPLY", ALL).unwrap();
    let names = ("GONE".into(), "QM2".into());
    let md = MessageDescriptor { msg_id: [3; 24], ..asking(0x0100_0000) };
    client.dead_letter(&md, b"data", names, Reason::UNKNOWN_REMOTE_Q_MGR).unwrap();
    let md = asking(0x0100_0000 | 0x0800_0000);
    client.dead_letter(&md, b"thrown away", names, Reason::UNKNOWN_REMOTE_Q_MGR).unwrap();
    client.commit().unwrap();
    assert_eq!(system.depth("SYSTEM.DEAD.LETTER.QUEUE"), 1);
    assert_eq!(system.depth("REPLY"), 2);
    let mut found = MessageDescriptor::default();
    client.get_with(reply, &mut found, &mut GetOptions::default()).unwrap();
    assert_eq!((found.feedback, found.correl_id), (2_087, [3; 24]));
}
