//! Names, options, dynamic queues, distribution lists, authority.

use std::sync::Arc;

use queue_manager::objects::Kind;
use queue_manager::options::value::{close, object_type, open, put};
use queue_manager::options::{
    ConnectOptions, Handle, ObjectDescriptor, ObjectRecord, PutOptions, PutRecord,
};
use queue_manager::{
    Authority, MessageDescriptor, ObjectName, Options, Outcome, Permission, QueueManager, Reason,
};
use store_suite::model::ModelStore;

use crate::common::{ALL, Calls, System, persistent, reason};

#[test]
fn names_that_lead_nowhere_are_told_apart() {
    let system = System::new();
    system.queue("Q", &[]);
    system.queue("PLAIN", &[]);
    system.define(Kind::QueueAlias, "LOST", &[("TARGET", "NOWHERE")]);
    system.define(Kind::QueueAlias, "A1", &[("TARGET", "Q")]);
    system.define(Kind::QueueAlias, "A2", &[("TARGET", "A1")]);
    let remote = [("RNAME", "THERE"), ("RQMNAME", "QM2")];
    system.define(Kind::QueueRemote, "R1", &remote);
    system.define(Kind::QueueRemote, "R2", &[remote[0], remote[1], ("XMITQ", "NONE")]);
    system.define(Kind::QueueRemote, "R3", &[remote[0], remote[1], ("XMITQ", "PLAIN")]);
    system.define(Kind::QueueRemote, "R4", &[remote[0], remote[1], ("XMITQ", "A1")]);
    let mut client = system.connect();
    for (name, expected) in [
        ("Q", Reason::NONE),
        ("A1", Reason::NONE),
        ("NOSUCH", Reason::UNKNOWN_OBJECT_NAME),
        ("", Reason::UNKNOWN_OBJECT_NAME),
        ("LOST", Reason::UNKNOWN_ALIAS_BASE_Q),
        ("A2", Reason::ALIAS_BASE_Q_TYPE_ERROR),
        ("R1", Reason::UNKNOWN_REMOTE_Q_MGR),
        ("R2", Reason::UNKNOWN_XMIT_Q),
        ("R3", Reason::XMIT_Q_USAGE_ERROR),
        ("R4", Reason::XMIT_Q_TYPE_ERROR),
    ] {
        assert_eq!(reason(client.open_queue(name, open::OUTPUT)), expected, "{name}");
    }
    let values = [("DEFXMITQ", "NONE".into())];
    system.manager.alter(Kind::QueueManager, "QM1", &values).unwrap();
    assert_eq!(reason(client.open_queue("R1", open::OUTPUT)), Reason::UNKNOWN_DEF_XMIT_Q);
    let values = [("DEFXMITQ", "PLAIN".into())];
    system.manager.alter(Kind::QueueManager, "QM1", &values).unwrap();
    assert_eq!(reason(client.open_queue("R1", open::OUTPUT)), Reason::DEF_XMIT_Q_USAGE_ERROR);
    let values = [("DEFXMITQ", "A1".into())];
    system.manager.alter(Kind::QueueManager, "QM1", &values).unwrap();
    assert_eq!(reason(client.open_queue("R1", open::OUTPUT)), Reason::DEF_XMIT_Q_TYPE_ERROR);
    let mut what = ObjectDescriptor::queue("Q");
    what.object_type = 99;
    assert_eq!(reason(client.open(&mut what, open::INQUIRE)), Reason::OBJECT_TYPE_ERROR);
    what.object_type = object_type::PROCESS;
    assert_eq!(reason(client.open(&mut what, open::INQUIRE)), Reason::UNKNOWN_OBJECT_NAME);
    assert_eq!(reason(client.open(&mut what, open::OUTPUT)), Reason::OPTION_NOT_VALID_FOR_TYPE);
}

#[test]
fn a_message_for_another_queue_manager_waits_on_its_transmission_queue() {
    let system = System::new();
    system.queue("QM2", &[("USAGE", "XMITQ")]);
    system.define(Kind::QueueRemote, "R", &[("RNAME", "THERE"), ("RQMNAME", "QM2")]);
    system.define(Kind::QueueRemote, "QM9", &[("RQMNAME", "QM2")]);
    let mut client = system.connect();
    let by_definition = client.open_queue("R", open::OUTPUT).unwrap();
    let mut md = MessageDescriptor { format: *b"MQSTR   ", ..persistent() };
    let mut options = PutOptions::new(put::NO_SYNCPOINT);
    client.put(by_definition, &mut md, &mut options, b"data").unwrap();
    assert_eq!(options.resolved_q_name.to_string(), "THERE");
    assert_eq!(options.resolved_q_mgr_name.to_string(), "QM2");
    assert_eq!(
        reason(client.open_queue("R", open::INPUT_SHARED)),
        Reason::OPTION_NOT_VALID_FOR_TYPE
    );
    let mut what = ObjectDescriptor::queue("ELSEWHERE");
    what.object_q_mgr_name = ObjectName::from("QM9");
    client.put1(&mut what, &mut persistent(), &mut PutOptions::new(0), b"more").unwrap();
    let transmission = client.open_queue("QM2", ALL).unwrap();
    let mut found = MessageDescriptor::default();
    let (_, data) = client.get_with(transmission, &mut found, &mut Default::default()).unwrap();
    assert_eq!(found.format, *b"MQXMIT  ");
    assert_eq!((&data[..4], data.len()), (b"XQH ".as_slice(), 428 + 4));
    assert_eq!(ObjectName::from_bytes(&data[8..56]).to_string(), "THERE");
    assert_eq!(ObjectName::from_bytes(&data[56..104]).to_string(), "QM2");
    assert_eq!((&data[104..108], &data[104 + 32..104 + 40]), (&b"MD  "[..], &b"MQSTR   "[..]));
    assert_eq!(&data[104 + 48..104 + 72], md.msg_id);
    assert_eq!(&data[428..], b"data");
    let (_, data) =
        client.get_with(transmission, &mut Default::default(), &mut Default::default()).unwrap();
    assert!(data[8..].starts_with(b"ELSEWHERE ") && data.ends_with(b"more"));
}

#[test]
fn exclusive_input_is_for_one() {
    let system = System::new();
    system.queue("Q", &[]);
    system.queue("SINGLE", &[("SHARE", "NOSHARE")]);
    system.queue("BYDEF", &[("DEFSOPT", "EXCL")]);
    let (mut one, mut other) = (system.connect(), system.connect());
    let shared = one.open_queue("Q", open::INPUT_SHARED).unwrap();
    assert_eq!(reason(other.open_queue("Q", open::INPUT_EXCLUSIVE)), Reason::OBJECT_IN_USE);
    other.open_queue("Q", open::BROWSE | open::OUTPUT).unwrap();
    one.close(shared, 0).unwrap();
    let alone = one.open_queue("Q", open::INPUT_EXCLUSIVE).unwrap();
    assert_eq!(reason(other.open_queue("Q", open::INPUT_SHARED)), Reason::OBJECT_IN_USE);
    one.close(alone, 0).unwrap();
    other.open_queue("Q", open::INPUT_SHARED).unwrap();
    for name in ["SINGLE", "BYDEF"] {
        one.open_queue(name, open::INPUT_AS_Q_DEF).unwrap();
        assert_eq!(reason(other.open_queue(name, open::INPUT_SHARED)), Reason::OBJECT_IN_USE);
    }
    assert_eq!(system.manager.handles(Kind::QueueLocal, "Q").len(), 2);
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    for options in [
        0,
        1 << 30,
        open::INPUT_SHARED | open::INPUT_EXCLUSIVE,
        open::INPUT_SHARED | open::SET_ALL_CONTEXT,
        open::OUTPUT | open::SAVE_ALL_CONTEXT,
        open::OUTPUT | open::BIND_ON_OPEN | open::BIND_NOT_FIXED,
    ] {
        assert_eq!(reason(client.open_queue("Q", options)), Reason::OPTIONS_ERROR, "{options:#x}");
    }
    let q = client.open_queue("Q", open::OUTPUT).unwrap();
    assert_eq!(reason(client.close(q, 1 << 20)), Reason::OPTIONS_ERROR);
    assert_eq!(reason(client.close(q, close::DELETE)), Reason::OPTION_NOT_VALID_FOR_TYPE);
    client.close(q, 0).unwrap();
    assert_eq!(reason(client.close(q, 0)), Reason::HOBJ_ERROR);
}

#[test]
fn a_temporary_queue_goes_with_the_handle_that_made_it() {
    let system = System::new();
    let mut client = system.connect();
    let mut what = ObjectDescriptor::queue("SYSTEM.DEFAULT.MODEL.QUEUE");
    what.dynamic_q_name = ObjectName::from("REPLY.*");
    let (own, _) = client.open(&mut what, open::INPUT_EXCLUSIVE).unwrap();
    let name = what.object_name.text();
    assert!(name.starts_with("REPLY.") && name.len() > 10, "{name}");
    let mut other = system.connect();
    let output = other.open_queue(&name, open::OUTPUT).unwrap();
    let answer = other.put_with(output, persistent(), put::NO_SYNCPOINT, b"x");
    assert_eq!(reason(answer), Reason::PERSISTENT_NOT_ALLOWED);
    let volatile = MessageDescriptor { persistence: 0, ..persistent() };
    other.put_with(output, volatile.clone(), put::NO_SYNCPOINT, b"x").unwrap();
    assert_eq!(client.next(own).as_deref(), Ok("x"));
    client.close(own, 0).unwrap();
    assert_eq!(reason(other.open_queue(&name, open::OUTPUT)), Reason::UNKNOWN_OBJECT_NAME);
    let answer = other.put_with(output, volatile, put::NO_SYNCPOINT, b"x");
    assert_eq!(reason(answer), Reason::Q_DELETED);
    let mut bad = ObjectDescriptor::queue("SYSTEM.DEFAULT.MODEL.QUEUE");
    bad.dynamic_q_name = ObjectName::from("NOT A NAME*");
    assert_eq!(reason(client.open(&mut bad, open::OUTPUT)), Reason::DYNAMIC_Q_NAME_ERROR);
    system.queue("TAKEN", &[]);
    bad.dynamic_q_name = ObjectName::from("TAKEN");
    bad.object_name = ObjectName::from("SYSTEM.DEFAULT.MODEL.QUEUE");
    assert_eq!(reason(client.open(&mut bad, open::OUTPUT)), Reason::OBJECT_ALREADY_EXISTS);
}

#[test]
fn a_permanent_dynamic_queue_goes_when_somebody_says_so() {
    let system = System::new();
    system.define(Kind::QueueModel, "MODEL", &[("DEFTYPE", "PERMDYN")]);
    let mut client = system.connect();
    let mut what = ObjectDescriptor::queue("MODEL");
    what.dynamic_q_name = ObjectName::from("KEPT");
    let (q, _) = client.open(&mut what, ALL).unwrap();
    client.put_text(q, "one");
    client.close(q, 0).unwrap();
    let system = system.restarted();
    let mut client = system.connect();
    let q = client.open_queue("KEPT", ALL).unwrap();
    assert_eq!(reason(client.close(q, close::DELETE)), Reason::Q_NOT_EMPTY);
    client.put_in_unit(q, "two");
    assert_eq!(reason(client.close(q, close::DELETE_PURGE)), Reason::OBJECT_IN_USE);
    client.back().unwrap();
    client.close(q, close::DELETE_PURGE).unwrap();
    assert!(system.manager.object(Kind::QueueLocal, "KEPT").is_none());
    assert!(system.restarted().manager.object(Kind::QueueLocal, "KEPT").is_none());
}

#[test]
fn a_list_goes_to_each_of_its_destinations() {
    let system = System::new();
    ["A", "B", "C"].iter().for_each(|name| system.queue(name, &[]));
    system.alter("C", "PUT", "DISABLED");
    let mut client = system.connect();
    let record = |name: &str| ObjectRecord { object_name: name.into(), ..Default::default() };
    let mut what = ObjectDescriptor {
        records: vec![record("A"), record("NOSUCH"), record("B"), record("C")],
        ..ObjectDescriptor::default()
    };
    let (list, outcome) = client.open(&mut what, open::OUTPUT).unwrap();
    assert_eq!(outcome, Outcome::warning(Reason::MULTIPLE_REASONS));
    assert_eq!((what.known_dest_count, what.invalid_dest_count), (3, 1));
    assert_eq!(what.responses[1].reason, Reason::UNKNOWN_OBJECT_NAME);
    let mut options = PutOptions::new(put::NO_SYNCPOINT);
    options.record_fields = queue_manager::options::value::put_record::CORREL_ID;
    let record = |byte| PutRecord { correl_id: [byte; 24], ..PutRecord::default() };
    options.records = vec![record(1), record(2), record(3), record(4)];
    let outcome = client.put(list, &mut persistent(), &mut options, b"all").unwrap();
    assert_eq!(outcome, Outcome::warning(Reason::MULTIPLE_REASONS));
    assert_eq!((options.known_dest_count, options.invalid_dest_count), (2, 2));
    assert_eq!(options.responses[3].reason, Reason::PUT_INHIBITED);
    let b = client.open_queue("B", ALL).unwrap();
    let mut md = MessageDescriptor::default();
    client.get_with(b, &mut md, &mut Default::default()).unwrap();
    assert_eq!(md.correl_id, [3; 24]);
    // What each was put with comes back.
    assert_eq!(options.records[2].msg_id, md.msg_id);
    assert_ne!(options.records[0].msg_id, md.msg_id);
    // A message that the program has identified is that for all.
    options.record_fields = 0;
    options.records.clear();
    let mut own = MessageDescriptor { msg_id: [9; 24], ..persistent() };
    client.put(list, &mut own, &mut options, b"own").unwrap();
    for new in [false, true] {
        let mut md = MessageDescriptor::default();
        client.get_with(b, &mut md, &mut Default::default()).unwrap();
        assert_eq!(md.msg_id == [9; 24], !new);
        options.options |= put::NEW_MSG_ID;
        client.put(list, &mut own.clone(), &mut options, b"new").unwrap();
    }
    // Nothing was done for any of them.
    system.alter("A", "PUT", "DISABLED");
    system.alter("B", "MAXDEPTH", "0");
    let answer = client.put(list, &mut persistent(), &mut options, b"none");
    assert_eq!(reason(answer), Reason::MULTIPLE_REASONS);
    // A reason that all have in common is told as it is.
    what.records = vec![ObjectRecord::default(); 2];
    assert_eq!(reason(client.open(&mut what, open::OUTPUT)), Reason::UNKNOWN_OBJECT_NAME);
}

struct Rules;

impl Authority for Rules {
    fn allows(&self, user: &str, _: Kind, name: &str, permission: Permission) -> bool {
        match user {
            "nobody" => false,
            "reader" => {
                permission != Permission::Output
                    && permission != Permission::AlternateUser
                    && name != "SECRET"
            }
            _ => true,
        }
    }
}

#[test]
fn who_may_not_is_told_so() {
    let options = Options { authority: Some(Arc::new(Rules)), ..Options::new("QM1") };
    let manager = QueueManager::open(&ModelStore::new(), options).unwrap();
    for name in ["Q", "SECRET"] {
        manager.define(Kind::QueueLocal, name, &[], false, None).unwrap();
    }
    let user = |user: &str| ConnectOptions { user: user.into(), ..Default::default() };
    assert_eq!(reason(manager.connect(user("nobody"))), Reason::NOT_AUTHORIZED);
    let mut reader = manager.connect(user("reader")).unwrap();
    reader.open_queue("Q", open::INPUT_SHARED).unwrap();
    assert_eq!(reason(reader.open_queue("Q", open::OUTPUT)), Reason::NOT_AUTHORIZED);
    assert_eq!(reason(reader.open_queue("SECRET", open::BROWSE)), Reason::NOT_AUTHORIZED);
    let mut what = ObjectDescriptor::queue("Q");
    let answer = reader.put1(&mut what, &mut persistent(), &mut PutOptions::new(0), b"");
    assert_eq!(reason(answer), Reason::NOT_AUTHORIZED);
    what.alternate_user_id = *b"boss        ";
    let alternate = open::OUTPUT | open::ALTERNATE_USER_AUTHORITY;
    assert_eq!(reason(reader.open(&mut what, alternate)), Reason::NOT_AUTHORIZED);
    let mut boss = manager.connect(user("boss")).unwrap();
    what.alternate_user_id = *b"reader      ";
    assert_eq!(reason(boss.open(&mut what, alternate)), Reason::NOT_AUTHORIZED);
}

#[test]
fn there_is_a_limit_of_connections_and_of_handles() {
    let options = Options { connections_max: 1, ..Options::new("QM1") };
    let manager = QueueManager::open(&ModelStore::new(), options).unwrap();
    manager.alter(Kind::QueueManager, "QM1", &[("MAXHANDS", 2.into())]).unwrap();
    manager.define(Kind::QueueLocal, "Q", &[], false, None).unwrap();
    let mut client = manager.connect(ConnectOptions::default()).unwrap();
    let more = manager.connect(ConnectOptions::default());
    assert_eq!(reason(more), Reason::MAX_CONNS_LIMIT_REACHED);
    let first = client.open_queue("Q", open::OUTPUT).unwrap();
    client.open_queue("Q", open::OUTPUT).unwrap();
    assert_eq!(reason(client.open_queue("Q", open::OUTPUT)), Reason::HANDLE_NOT_AVAILABLE);
    client.close(first, 0).unwrap();
    assert_ne!(client.open_queue("Q", open::OUTPUT).unwrap(), Handle(first.0));
    drop(client);
    manager.connect(ConnectOptions::default()).unwrap();
}
