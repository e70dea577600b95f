//! Events and statistics: what is told of what happens, and that nothing else depends on it.

use queue_manager::event::{Commanded, Commander, Origin};
use queue_manager::objects::{Kind, Value};
use queue_manager::options::value::open;
use queue_manager::{MessageDescriptor, Reason};

use crate::common::{ALL, Calls, Client, System, reason};

fn answer(system: &System, queue: &str) -> Vec<Vec<u8>> {
    let mut client = system.connect();
    let queue = client.open_queue(queue, ALL).expect("it opens");
    let mut all = Vec::new();
    loop {
        let mut md = MessageDescriptor::default();
        let mut options = queue_manager::options::GetOptions::new(4);
        match client.get_with(queue, &mut md, &mut options) {
            Ok((_, data)) => all.push(data),
            Err(_) => return all,
        }
    }
}

fn number(bytes: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// Command, reason.
fn heads(all: &[Vec<u8>]) -> Vec<(i32, i32)> {
    all.iter().map(|bytes| (number(bytes, 12), number(bytes, 28))).collect()
}

fn ask_for(system: &System, attribute: &str, value: &str) {
    let values = [(attribute, Value::from(value))];
    system.manager.alter(Kind::QueueManager, "QM1", &values).expect("it is altered");
}

fn fill(client: &mut Client, queue: &str, count: usize) -> Reason {
    let handle = client.open_queue(queue, ALL).expect("it opens");
    for _ in 0..count {
        let put = client.put_with(handle, crate::common::persistent(), 4, b"x");
        if let Err(failed) = put {
            return failed.0;
        }
    }
    Reason::NONE
}

#[test]
fn a_deep_queue_and_a_full_one_are_told_once() {
    let system = System::new();
    ask_for(&system, "PERFMEV", "ENABLED");
    system.queue("Q", &[("MAXDEPTH", "5"), ("QDPHIEV", "ENABLED")]);
    let mut client = system.connect();
    assert_eq!(fill(&mut client, "Q", 7), Reason::Q_FULL);
    assert_eq!(fill(&mut client, "Q", 1), Reason::Q_FULL);
    let queue = client.open_queue("Q", ALL).expect("it opens");
    while client.next(queue).is_ok() {}
    let all = answer(&system, "SYSTEM.ADMIN.PERFM.EVENT");
    assert_eq!(heads(&all), [(45, 2224), (45, 2053), (45, 2225)]);
    // The queue's name stands behind that of the queue manager.
    assert_eq!(&all[0][36 + 68 + 20..36 + 68 + 22], b"Q ");
}

#[test]
fn nothing_is_told_that_nobody_asked_for() {
    let system = System::new();
    system.queue("Q", &[("MAXDEPTH", "1"), ("QDPHIEV", "ENABLED")]);
    let mut client = system.connect();
    assert_eq!(fill(&mut client, "Q", 2), Reason::Q_FULL);
    assert!(reason(client.open_queue("NONE", open::OUTPUT)) == Reason::UNKNOWN_OBJECT_NAME);
    assert!(answer(&system, "SYSTEM.ADMIN.PERFM.EVENT").is_empty());
    assert_eq!(heads(&answer(&system, "SYSTEM.ADMIN.QMGR.EVENT")), [(44, 2222)], "that it started");
}

#[test]
fn names_that_lead_nowhere_and_inhibited_queues_are_told() {
    let system = System::new();
    for switch in ["LOCALEV", "REMOTEEV", "INHIBTEV"] {
        ask_for(&system, switch, "ENABLED");
    }
    answer(&system, "SYSTEM.ADMIN.QMGR.EVENT");
    system.queue("Q", &[("PUT", "DISABLED")]);
    let mut client = system.connect();
    assert_eq!(reason(client.open_queue("NONE", open::OUTPUT)), Reason::UNKNOWN_OBJECT_NAME);
    let mut what = queue_manager::options::ObjectDescriptor {
        object_name: "X".into(),
        object_q_mgr_name: "FAR".into(),
        ..Default::default()
    };
    assert_eq!(reason(client.open(&mut what, open::OUTPUT)), Reason::UNKNOWN_REMOTE_Q_MGR);
    assert_eq!(fill(&mut client, "Q", 1), Reason::PUT_INHIBITED);
    let all = answer(&system, "SYSTEM.ADMIN.QMGR.EVENT");
    assert_eq!(heads(&all), [(44, 2085), (44, 2087), (44, 2051)]);
}

#[test]
fn statistics_of_an_interval_name_the_queues_that_did_something() {
    let system = System::new();
    ask_for(&system, "STATQ", "ON");
    ask_for(&system, "STATINT", "60");
    system.queue("BUSY", &[]);
    system.queue("IDLE", &[]);
    let mut client = system.connect();
    assert_eq!(fill(&mut client, "BUSY", 3), Reason::NONE);
    system.manager.tick();
    assert!(answer(&system, "SYSTEM.ADMIN.STATISTICS.QUEUE").is_empty(), "the interval goes on");
    system.clock.pass(61_000);
    system.manager.tick();
    let all = answer(&system, "SYSTEM.ADMIN.STATISTICS.QUEUE");
    assert_eq!((all.len(), number(&all[0], 0), number(&all[0], 12)), (1, 21, 165));
    let has = |name: &[u8]| all[0].windows(name.len()).any(|part| part == name);
    assert!(has(b"BUSY ") && !has(b"IDLE "));
    system.clock.pass(61_000);
    system.manager.tick();
    let again = answer(&system, "SYSTEM.ADMIN.STATISTICS.QUEUE");
    assert!(!again.iter().any(|one| one.windows(5).any(|part| part == b"BUSY ")), "it did nothing");
}

/// Where a parameter stands in a message.
fn parameter(bytes: &[u8], id: i32) -> Option<usize> {
    let mut at = 36;
    while at + 12 <= bytes.len() {
        if number(bytes, at + 8) == id {
            return Some(at);
        }
        at += usize::try_from(number(bytes, at + 4)).expect("a length");
    }
    None
}

/// A list of two.
fn two(bytes: &[u8], id: i32) -> [i32; 2] {
    let at = parameter(bytes, id).expect("it is there");
    [number(bytes, at + 16), number(bytes, at + 20)]
}

fn integer(bytes: &[u8], id: i32) -> i32 {
    number(bytes, parameter(bytes, id).expect("it is there") + 12)
}

#[test]
fn the_account_of_a_connection_says_what_it_did() {
    let system = System::new();
    ask_for(&system, "ACCTMQI", "ON");
    ask_for(&system, "ACCTQ", "ON");
    system.queue("Q", &[]);
    system.queue("R", &[("ACCTQ", "OFF")]);
    let mut client = system.connect();
    assert_eq!(fill(&mut client, "Q", 3), Reason::NONE);
    assert_eq!(fill(&mut client, "R", 1), Reason::NONE);
    let queue = client.open_queue("Q", ALL).expect("it opens");
    assert!(client.next(queue).is_ok());
    client.put_in_unit(queue, "x");
    client.commit().expect("it is committed");
    client.disconnect().expect("it ends");
    ask_for(&system, "ACCTMQI", "OFF");
    ask_for(&system, "ACCTQ", "OFF");
    let all = answer(&system, "SYSTEM.ADMIN.ACCOUNTING.QUEUE");
    assert_eq!(heads(&all), [(167, 0), (168, 0)]);
    let [calls, queues] = &all[..] else { panic!("{} messages", all.len()) };
    assert_eq!(number(calls, 0), 22);
    let puts: i32 = two(calls, 735).iter().sum();
    assert_eq!((puts, two(calls, 735)[1] >= 4, two(calls, 722)), (5, true, [0, 1]));
    assert_eq!((integer(calls, 733), integer(calls, 710), integer(calls, 716)), (3, 1, 0));
    assert_eq!((integer(queues, 732), two(queues, 722)), (1, [0, 1]));
    let of_queue: i32 = two(queues, 735).iter().sum();
    assert_eq!(of_queue, 4);
}

#[test]
fn a_connection_that_stays_is_accounted_for_after_each_interval() {
    let system = System::new();
    ask_for(&system, "ACCTMQI", "ON");
    ask_for(&system, "ACCTINT", "60");
    system.queue("Q", &[]);
    let mut client = system.connect();
    ask_for(&system, "ACCTMQI", "OFF");
    assert_eq!(fill(&mut client, "Q", 2), Reason::NONE);
    system.clock.pass(60_000);
    assert_eq!(fill(&mut client, "Q", 1), Reason::NONE);
    drop(client);
    let all = answer(&system, "SYSTEM.ADMIN.ACCOUNTING.QUEUE");
    assert_eq!(heads(&all), [(167, 0), (167, 0)]);
    // The call that ended the interval, an open, is in it.
    assert_eq!((two(&all[0], 735), two(&all[1], 735)), ([0, 2], [0, 1]));
    assert_eq!((parameter(&all[0], 716), integer(&all[1], 716)), (None, 1));
}

#[test]
fn messages_that_are_got_too_late_are_told_of() {
    let system = System::new();
    ask_for(&system, "PERFMEV", "ENABLED");
    system.queue("Q", &[("QSVCIEV", "HIGH"), ("QSVCINT", "1000")]);
    let mut client = system.connect();
    assert_eq!(fill(&mut client, "Q", 2), Reason::NONE);
    let queue = client.open_queue("Q", ALL).expect("it opens");
    system.clock.pass(1_001);
    assert!(client.next(queue).is_ok());
    system.clock.pass(1_000);
    assert!(client.next(queue).is_ok());
    let all = answer(&system, "SYSTEM.ADMIN.PERFM.EVENT");
    assert_eq!(heads(&all), [(45, 2226), (45, 2227)]);
}

fn commander() -> Commander {
    Commander { user: "anna".into(), origin: Origin::Console, application: "a test".into() }
}

/// The text of a parameter.
fn text_at(bytes: &[u8], id: i32) -> String {
    let at = parameter(bytes, id).expect("it is there");
    let length = usize::try_from(number(bytes, at + 16)).expect("a length");
    String::from_utf8_lossy(&bytes[at + 20..at + 20 + length]).trim_end().to_owned()
}

#[test]
fn what_becomes_of_objects_is_told_with_who_did_it() {
    const QUEUE: &str = "SYSTEM.ADMIN.CONFIG.EVENT";
    let system = System::new();
    let manager = system.manager.commanded_by(commander());
    let define = |name: &str| {
        let values = [("MAXDEPTH", Value::Number(7)), ("DESCR", Value::from("orders"))];
        manager.define(Kind::QueueLocal, name, &values, false, None)
    };
    define("SILENT").expect("it is defined");
    assert!(answer(&system, QUEUE).is_empty(), "nobody asked for it");
    ask_for(&system, "CONFIGEV", "ENABLED");
    define("Q").expect("it is defined");
    define("Q").expect_err("it is there");
    let values = [("MAXDEPTH", Value::Number(9))];
    manager.alter(Kind::QueueLocal, "Q", &values).expect("it is altered");
    // What no user commands makes no event.
    system.manager.alter(Kind::QueueLocal, "Q", &values).expect("it is altered");
    let mut client = system.connect();
    let queue = client.open_queue("Q", ALL).expect("it opens");
    client.set(queue, &[10], &[1], &[]).expect("it is set");
    client.close(queue, 0).expect("it is closed");
    manager.delete(Kind::QueueLocal, "Q", false).expect("it is deleted");
    assert_eq!(manager.tell_configuration(Some(Kind::QueueLocal), "SIL*"), 1);
    let all = answer(&system, QUEUE);
    let reasons: Vec<i32> = heads(&all).into_iter().map(|(_, reason)| reason).collect();
    assert_eq!(reasons, [2367, 2368, 2368, 2368, 2368, 2369, 2370]);
    assert!(heads(&all).iter().all(|(command, _)| *command == 43));
    assert_eq!(text_at(&all[0], 3045), "anna");
    assert_eq!((text_at(&all[0], 2016), text_at(&all[0], 2013)), ("Q".into(), "orders".into()));
    let value =
        |at: usize, id| number(&all[at], parameter(&all[at], id).expect("it is there") + 12);
    assert_eq!([value(0, 1011), value(0, 1016), value(0, 20)], [1, 1, 1]);
    // As it was, and as it is: two parts of one event.
    assert_eq!([value(0, 15), value(1, 15), value(2, 15)], [7, 7, 9]);
    let part = |at: usize| (number(&all[at], 16), number(&all[at], 20));
    assert_eq!([part(0), part(1), part(2)], [(1, 1), (1, 0), (2, 1)]);
    assert_eq!([value(3, 10), value(4, 10), value(4, 1011)], [0, 1, 4], "a call of a program");
    let counted = |bytes: &[u8]| {
        let (mut at, mut count) = (36, 0);
        while at < bytes.len() {
            at += usize::try_from(number(bytes, at + 4)).expect("a length");
            count += 1;
        }
        assert_eq!(at, bytes.len());
        count
    };
    assert!(all.iter().all(|one| number(one, 32) == counted(one)));
}

#[test]
fn commands_are_told_but_for_displays_that_nobody_wants() {
    const QUEUE: &str = "SYSTEM.ADMIN.COMMAND.EVENT";
    let system = System::new();
    let manager = system.manager.commanded_by(commander());
    let carried_out = |text, displays| {
        let parameters = (&[] as &[u8], 0);
        manager.carried_out(&Commanded { number: 11, displays, text: Some(text), parameters });
    };
    carried_out("DEFINE QLOCAL(A)", false);
    ask_for(&system, "CMDEV", "NODISPLAY");
    carried_out("DEFINE QLOCAL(B)", false);
    carried_out("DISPLAY QLOCAL(B)", true);
    ask_for(&system, "CMDEV", "ENABLED");
    carried_out("DISPLAY QLOCAL(C)", true);
    let parameters = [3, 16, 15, 5].map(i32::to_le_bytes).concat();
    let parameters = (&parameters[..], 1);
    manager.carried_out(&Commanded { number: 8, displays: false, text: None, parameters });
    let all = answer(&system, QUEUE);
    assert_eq!(heads(&all), [(99, 2412), (99, 2412), (99, 2413)]);
    assert_eq!(text_at(&all[0], 3075), "DEFINE QLOCAL(B)");
    assert_eq!(text_at(&all[1], 3075), "DISPLAY QLOCAL(C)");
    // Two groups, with who commanded, and what.
    assert!(all.iter().all(|one| number(one, 32) == 2));
    let at = |id| parameter(&all[2], id).expect("it is there") + 12;
    assert_eq!([number(&all[2], at(8001)), number(&all[2], at(8002))], [10, 1]);
    assert_eq!([number(&all[2], at(1021)), number(&all[2], at(15))], [8, 5]);
}
