//! Trigger messages.

use queue_manager::objects::Kind;
use queue_manager::options::value::{open, put};
use queue_manager::{MessageDescriptor, Reason};

use crate::common::{Calls, Client, System, persistent};

const INITIATION: &str = "SYSTEM.DEFAULT.INITIATION.QUEUE";

fn triggered(attributes: &[(&str, &str)]) -> (System, Client) {
    let system = System::new();
    let program = [("APPLICID", "run me"), ("USERDATA", "mine")];
    system.define(Kind::Process, "P", &program);
    let mut all = vec![("TRIGGER", "TRIGGER"), ("PROCESS", "P"), ("INITQ", INITIATION)];
    all.extend_from_slice(attributes);
    system.queue("Q", &all);
    let client = system.connect();
    (system, client)
}

#[test]
fn the_first_message_starts_a_program_that_is_not_there() {
    let (system, mut client) = triggered(&[("TRIGTYPE", "FIRST"), ("TRIGDATA", "td")]);
    let q = client.open_queue("Q", open::OUTPUT).unwrap();
    client.put_in_unit(q, "1");
    assert_eq!(system.depth(INITIATION), 0);
    client.commit().unwrap();
    client.put_text(q, "2");
    assert_eq!(system.depth(INITIATION), 1);
    let initiation = client.open_queue(INITIATION, open::INPUT_SHARED).unwrap();
    let mut md = MessageDescriptor::default();
    let (_, data) = client.get_with(initiation, &mut md, &mut Default::default()).unwrap();
    assert_eq!((data.len(), &data[..4], md.format), (684, &b"TM  "[..], *b"MQTRIG  "));
    assert!(data[8..].starts_with(b"Q ") && data[56..].starts_with(b"P "));
    assert!(data[104..].starts_with(b"td ") && data[172..].starts_with(b"run me "));
    assert!(data[556..].starts_with(b"mine "));
    // While a program reads the queue, none is started; afterwards for what is left.
    let input = client.open_queue("Q", open::INPUT_SHARED).unwrap();
    client.next(input).unwrap();
    client.next(input).unwrap();
    client.put_text(q, "3");
    assert_eq!(client.next(initiation), Err(Reason::NO_MSG_AVAILABLE));
    client.close(input, 0).unwrap();
    assert_eq!(system.depth(INITIATION), 1);
}

#[test]
fn every_message_may_start_a_program_if_its_priority_is_high_enough() {
    let (system, mut client) = triggered(&[("TRIGTYPE", "EVERY"), ("TRIGMPRI", "4")]);
    let q = client.open_queue("Q", open::OUTPUT).unwrap();
    for priority in [0, 4, 9, 3] {
        let md = MessageDescriptor { priority, ..persistent() };
        client.put_with(q, md, put::SYNCPOINT, b"x").unwrap();
    }
    client.commit().unwrap();
    assert_eq!(system.depth(INITIATION), 2);
}

#[test]
fn so_many_messages_start_a_program_once() {
    let (system, mut client) = triggered(&[("TRIGTYPE", "DEPTH"), ("TRIGDPTH", "3")]);
    let q = client.open_queue("Q", open::OUTPUT).unwrap();
    for text in ["1", "2", "3", "4"] {
        client.put_text(q, text);
        assert_eq!(system.depth(INITIATION), u64::from(text >= "3"));
    }
    let shown = system.manager.object(Kind::QueueLocal, "Q").unwrap();
    assert!(shown.is("TRIGGER", "NOTRIGGER"));
    system.alter("Q", "TRIGGER", "TRIGGER");
    client.put_text(q, "5");
    assert_eq!(system.depth(INITIATION), 2);
}

#[test]
fn a_queue_that_stays_full_is_told_again_when_the_interval_is_over() {
    let (system, mut client) = triggered(&[("TRIGTYPE", "FIRST")]);
    let interval = [("TRIGINT", 5_000.into())];
    system.manager.alter(Kind::QueueManager, "QM1", &interval).unwrap();
    let q = client.open_queue("Q", open::OUTPUT).unwrap();
    client.put_text(q, "1");
    client.put_text(q, "2");
    system.clock.pass(5_000);
    client.put_text(q, "3");
    assert_eq!(system.depth(INITIATION), 2);
}
