//! Definitions and displays.

use base::Coded;
use queue_manager::objects::{Kind, Value};
use queue_manager::options::value::open;

use crate::common::{ALL, Calls, System};

#[test]
fn a_definition_begins_with_the_default_object_or_the_one_it_is_like() {
    let system = System::new();
    system.alter("SYSTEM.DEFAULT.LOCAL.QUEUE", "MAXDEPTH", "11");
    system.queue("A", &[("DESCR", "first")]);
    let like = Some("A");
    system.manager.define(Kind::QueueLocal, "B", &[], false, like).unwrap();
    let b = system.manager.object(Kind::QueueLocal, "B").unwrap();
    assert_eq!((b.number_of("MAXDEPTH"), b.text_of("DESCR")), (11, "first"));
    // Replacing gives what is not named its default again; altering leaves it.
    let depth = [("MAXDEPTH", Value::Number(5))];
    system.manager.alter(Kind::QueueLocal, "B", &depth).unwrap();
    assert_eq!(system.manager.object(Kind::QueueLocal, "B").unwrap().text_of("DESCR"), "first");
    let mut client = system.connect();
    let q = client.open_queue("B", ALL).unwrap();
    client.put_text(q, "stays");
    system.manager.define(Kind::QueueLocal, "B", &depth, true, None).unwrap();
    let b = system.manager.object(Kind::QueueLocal, "B").unwrap();
    assert_eq!((b.number_of("MAXDEPTH"), b.text_of("DESCR")), (5, ""));
    assert_eq!((b.number_of("CURDEPTH"), b.number_of("IPPROCS")), (1, 1));
    assert_eq!(client.next(q).as_deref(), Ok("stays"));
}

#[test]
fn what_cannot_be_defined_says_why() {
    let system = System::new();
    system.queue("Q", &[]);
    let define = |kind, name: &str, attributes: &[(&str, Value)], replace| {
        let answer = system.manager.define(kind, name, attributes, replace, None);
        answer.map_err(|error| error.code().0)
    };
    assert_eq!(define(Kind::QueueLocal, "Q", &[], false), Err("HFQM002"));
    assert_eq!(define(Kind::QueueAlias, "Q", &[], true), Err("HFQM002"));
    assert_eq!(define(Kind::QueueLocal, "NOT A NAME", &[], false), Err("HFQM003"));
    assert_eq!(define(Kind::StorageClass, "TOOLONGNAME", &[], false), Err("HFQM003"));
    let bad = [("MAXDEPTH", Value::Number(-1))];
    assert_eq!(define(Kind::QueueLocal, "X", &bad, false), Err("HFQM004"));
    let shown = [("CURDEPTH", Value::Number(1))];
    assert_eq!(define(Kind::QueueLocal, "X", &shown, false), Err("HFQM005"));
    let alter = system.manager.alter(Kind::QueueLocal, "NOSUCH", &[]);
    assert_eq!(alter.map_err(|error| error.code().0), Err("HFQM001"));
    let sub =
        system.manager.define(Kind::Subscription, "S", &[("TOPICSTR", "a".into())], false, None);
    assert_eq!(sub.map_err(|error| error.code().0), Err("HFQM009"));
}

#[test]
fn a_queue_in_use_is_neither_deleted_nor_cleared() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    client.put_text(q, "x");
    let code = |answer: Result<u64, queue_manager::AdminError>| answer.map_err(|e| e.code().0);
    let delete = |purge| {
        let answer = system.manager.delete(Kind::QueueLocal, "Q", purge);
        answer.map_err(|error| error.code().0)
    };
    assert_eq!(delete(true), Err("HFQM006"));
    assert_eq!(code(system.manager.clear("Q")), Err("HFQM006"));
    client.put_in_unit(q, "y");
    client.close(q, 0).unwrap();
    assert_eq!(delete(true), Err("HFQM008"));
    assert_eq!(code(system.manager.clear("Q")), Err("HFQM008"));
    client.commit().unwrap();
    assert_eq!(delete(false), Err("HFQM007"));
    assert_eq!(code(system.manager.clear("Q")), Ok(2));
    assert_eq!(delete(false), Ok(()));
    assert_eq!(code(system.manager.clear("Q")), Err("HFQM001"));
}

#[test]
fn messages_move_from_queue_to_queue() {
    let system = System::new();
    ["A", "B"].iter().for_each(|name| system.queue(name, &[]));
    let mut client = system.connect();
    let a = client.open_queue("A", ALL).unwrap();
    let b = client.open_queue("B", ALL).unwrap();
    client.put_text(b, "first");
    for text in ["x", "y"] {
        client.put_text(a, text);
    }
    assert!(system.manager.move_messages("A", "B", false).is_err());
    assert_eq!(system.manager.move_messages("A", "B", true).unwrap(), 2);
    for text in ["first", "x", "y"] {
        assert_eq!(client.next(b).as_deref(), Ok(text));
    }
    assert_eq!(system.depth("A"), 0);
}

#[test]
fn displays_count_without_looking_at_messages() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    for text in ["a", "bb", "ccc"] {
        client.put_text(q, text);
        system.clock.pass(2_000);
    }
    client.next(q).unwrap();
    let _ = client.open_queue("Q", open::OUTPUT).unwrap();
    let status = system.manager.queue_status("Q").unwrap();
    let counted = &status.statistics;
    assert_eq!((status.depth, counted.high_depth, counted.puts, counted.gets), (2, 3, 3, 1));
    assert_eq!((status.bytes, counted.put_bytes, counted.get_bytes), (5, 6, 1));
    assert_eq!((status.message_age_s, status.input_handles), (Some(4), 1));
    assert_eq!(counted.time_short_us, 6_000_000);
    assert_eq!(system.manager.reset_statistics("Q").unwrap().statistics.puts, 3);
    let counted = system.manager.queue_status("Q").unwrap().statistics;
    assert_eq!((counted.puts, counted.high_depth), (0, 2));
    client.put_in_unit(q, "d");
    let connections = system.manager.connections();
    assert_eq!((connections.len(), connections[0].unit_messages), (1, 1));
    assert!(connections[0].unit_began_ms.is_some());
    assert_eq!(connections[0].handles.len(), 2);
    client.commit().unwrap();
    assert_eq!(system.manager.connections()[0].unit_began_ms, None);
    assert_eq!(system.manager.list(Kind::QueueLocal, "Q*").len(), 1);
}
