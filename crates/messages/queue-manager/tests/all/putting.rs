//! What a put checks and fills in.

use queue_manager::objects::Kind;
use queue_manager::options::value::{get, open, put};
use queue_manager::options::{ConnectOptions, GetOptions, ObjectDescriptor, PutOptions, Status};
use queue_manager::{MessageDescriptor, Outcome, Reason};

use crate::common::{ALL, Calls, System, persistent, reason};

#[test]
fn a_descriptor_is_checked_field_by_field() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let good = MessageDescriptor::default;
    for (md, expected) in [
        (MessageDescriptor { report: 1 << 30, ..good() }, Reason::REPORT_OPTIONS_ERROR),
        (MessageDescriptor { msg_type: 0, ..good() }, Reason::MSG_TYPE_ERROR),
        (MessageDescriptor { msg_type: 1_000_000_000, ..good() }, Reason::MSG_TYPE_ERROR),
        (MessageDescriptor { expiry: 0, ..good() }, Reason::EXPIRY_ERROR),
        (MessageDescriptor { feedback: -1, ..good() }, Reason::FEEDBACK_ERROR),
        (MessageDescriptor { priority: -9, ..good() }, Reason::PRIORITY_ERROR),
        (MessageDescriptor { priority: -2, ..good() }, Reason::PRIORITY_ERROR),
        (MessageDescriptor { priority: -3, ..good() }, Reason::PRIORITY_ERROR),
        (MessageDescriptor { persistence: 3, ..good() }, Reason::PERSISTENCE_ERROR),
        (MessageDescriptor { msg_type: 1, ..good() }, Reason::MISSING_REPLY_TO_Q),
        (MessageDescriptor { report: 0x100, ..good() }, Reason::MISSING_REPLY_TO_Q),
        (MessageDescriptor { msg_flags: 64, ..good() }, Reason::MSG_FLAGS_ERROR),
        (MessageDescriptor { msg_seq_number: 0, ..good() }, Reason::MSG_SEQ_NUMBER_ERROR),
        (MessageDescriptor { offset: -1, ..good() }, Reason::OFFSET_ERROR),
        (MessageDescriptor { msg_flags: 2, ..good() }, Reason::SEGMENT_LENGTH_ZERO),
    ] {
        assert_eq!(reason(client.put_with(q, md, put::NO_SYNCPOINT, b"")), expected);
    }
    let mut md = MessageDescriptor { priority: 12, ..good() };
    let answer = client.put(q, &mut md, &mut PutOptions::new(0), b"").unwrap();
    assert_eq!(answer, Outcome::warning(Reason::PRIORITY_EXCEEDS_MAXIMUM));
    assert_eq!((md.priority, system.depth("Q")), (9, 1));
}

#[test]
fn a_put_fails_where_it_has_to() {
    let system = System::new();
    system.queue("Q", &[("MAXDEPTH", "2"), ("MAXMSGL", "10")]);
    system.define(Kind::QueueAlias, "CLOSED", &[("TARGET", "Q"), ("PUT", "DISABLED")]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let input = client.open_queue("Q", open::INPUT_SHARED).unwrap();
    let closed = client.open_queue("CLOSED", open::OUTPUT).unwrap();
    let both = put::SYNCPOINT | put::NO_SYNCPOINT;
    let contexts = put::NO_CONTEXT | put::DEFAULT_CONTEXT;
    let responses = put::ASYNC_RESPONSE | put::SYNC_RESPONSE;
    for (handle, options, data, expected) in [
        (input, 0, &b""[..], Reason::NOT_OPEN_FOR_OUTPUT),
        (closed, 0, b"", Reason::PUT_INHIBITED),
        (q, both, b"", Reason::OPTIONS_ERROR),
        (q, contexts, b"", Reason::OPTIONS_ERROR),
        (q, responses, b"", Reason::OPTIONS_ERROR),
        (q, 1 << 30, b"", Reason::OPTIONS_ERROR),
        (q, put::RETAIN, b"", Reason::OPTION_NOT_VALID_FOR_TYPE),
        (q, put::SET_ALL_CONTEXT, b"", Reason::NOT_OPEN_FOR_SET_ALL),
        (q, put::SET_IDENTITY_CONTEXT, b"", Reason::NOT_OPEN_FOR_SET_IDENT),
        (q, put::PASS_ALL_CONTEXT, b"", Reason::NOT_OPEN_FOR_PASS_ALL),
        (q, put::PASS_IDENTITY_CONTEXT, b"", Reason::NOT_OPEN_FOR_PASS_IDENT),
        (q, 0, b"01234567890", Reason::MSG_TOO_BIG_FOR_Q),
    ] {
        let answer = client.put_with(handle, persistent(), options, data);
        assert_eq!(reason(answer), expected, "{options:#x}");
    }
    client.put_text(q, "one");
    client.put_in_unit(q, "two");
    let full = client.put_with(q, persistent(), put::NO_SYNCPOINT, b"");
    assert_eq!(reason(full), Reason::Q_FULL);
    client.back().unwrap();
    client.put_text(q, "two");
    system.alter("Q", "PUT", "DISABLED");
    let inhibited = client.put_with(q, persistent(), put::NO_SYNCPOINT, b"");
    assert_eq!(reason(inhibited), Reason::PUT_INHIBITED);
    let values = [("MAXMSGL", 32_768.into())];
    system.manager.alter(Kind::QueueManager, "QM1", &values).unwrap();
    let big = client.put_with(q, persistent(), put::NO_SYNCPOINT, &[0; 32_769]);
    assert_eq!(reason(big), Reason::MSG_TOO_BIG_FOR_Q_MGR);
    assert_eq!(system.depth("Q"), 2);
}

#[test]
fn what_a_program_leaves_open_is_filled_in() {
    let system = System::new();
    system.queue("Q", &[("DEFPRTY", "5"), ("DEFPSIST", "YES")]);
    system.define(Kind::QueueAlias, "A", &[("TARGET", "Q"), ("DEFPRTY", "3")]);
    let options = ConnectOptions {
        user: "alice".into(),
        application: "orders".into(),
        ..ConnectOptions::default()
    };
    let mut client = system.manager.connect(options).unwrap();
    let q = client.open_queue("Q", ALL).unwrap();
    let mut md = MessageDescriptor { reply_to_q: "R".into(), ..Default::default() };
    client.put(q, &mut md, &mut PutOptions::new(0), b"x").unwrap();
    assert_eq!((md.priority, md.persistence, md.ccsid), (5, 1, 0));
    assert_eq!((&md.msg_id[..4], &md.msg_id[4..7]), (&b"AMQ "[..], &b"QM1"[..]));
    assert_eq!((&md.user_identifier, &md.put_date), (b"alice       ", b"20251127"));
    assert_eq!(md.put_time, *b"08000000");
    assert!(md.put_appl_name.starts_with(b"orders "));
    assert_eq!((md.put_appl_type, md.reply_to_q_mgr.to_string().as_str()), (6, "QM1"));
    let mut got = MessageDescriptor::default();
    client.get_with(q, &mut got, &mut GetOptions::default()).unwrap();
    assert_eq!((got.ccsid, got.msg_id), (1_208, md.msg_id));
    // By another name, the defaults of that name count.
    let alias = client.open_queue("A", open::OUTPUT).unwrap();
    let md = client.put_with(alias, MessageDescriptor::default(), 0, b"").unwrap();
    assert_eq!((md.priority, md.persistence), (3, 0));
    // A given identifier stays; a new one comes where that is asked for.
    let md = MessageDescriptor { msg_id: [1; 24], correl_id: [2; 24], ..Default::default() };
    let same = client.put_with(q, md.clone(), 0, b"").unwrap();
    assert_eq!((same.msg_id, same.correl_id), (md.msg_id, md.correl_id));
    let new = client.put_with(q, md.clone(), put::NEW_MSG_ID | put::NEW_CORREL_ID, b"").unwrap();
    assert!(new.msg_id != md.msg_id && new.correl_id != md.correl_id);
    let without = client.put_with(q, md, put::NO_CONTEXT, b"").unwrap();
    assert_eq!((without.user_identifier, without.put_appl_type), ([b' '; 12], 0));
}

#[test]
fn context_is_passed_and_set_by_those_who_opened_for_that() {
    let system = System::new();
    system.queue("IN", &[]);
    system.queue("OUT", &[]);
    let mut client = system.connect();
    let input = client.open_queue("IN", open::INPUT_SHARED | open::SAVE_ALL_CONTEXT).unwrap();
    let context = open::PASS_ALL_CONTEXT | open::SET_ALL_CONTEXT;
    let both = client.open_queue("IN", open::OUTPUT | context).unwrap();
    let out = client.open_queue("OUT", ALL | context).unwrap();
    let mut md = MessageDescriptor { user_identifier: *b"carol       ", ..persistent() };
    md.put_date = *b"20200101";
    client.put_with(both, md, put::SET_ALL_CONTEXT, b"x").unwrap();
    let mut options = PutOptions::new(put::PASS_ALL_CONTEXT);
    let missing = client.put(out, &mut persistent(), &mut options, b"");
    assert_eq!(reason(missing), Reason::CONTEXT_HANDLE_ERROR);
    options.context = Some(input);
    let early = client.put(out, &mut persistent(), &mut options, b"");
    assert_eq!(reason(early), Reason::CONTEXT_NOT_AVAILABLE);
    client.next(input).unwrap();
    let mut md = persistent();
    client.put(out, &mut md, &mut options, b"").unwrap();
    assert_eq!((&md.user_identifier, &md.put_date), (b"carol       ", b"20200101"));
    let mut options = PutOptions::new(put::PASS_IDENTITY_CONTEXT);
    options.context = Some(input);
    let mut md = persistent();
    client.put(out, &mut md, &mut options, b"").unwrap();
    assert_eq!((&md.user_identifier, &md.put_date), (b"carol       ", b"20251127"));
    client.get_text(out, get::BROWSE_FIRST).unwrap();
    // Only a handle that was opened to save it has any.
    let plain = client.open_queue("IN", open::INPUT_SHARED).unwrap();
    client.put_with(both, persistent(), put::NO_SYNCPOINT, b"x").unwrap();
    client.next(plain).unwrap();
    options.context = Some(plain);
    let none = client.put(out, &mut persistent(), &mut options, b"");
    assert_eq!(reason(none), Reason::CONTEXT_HANDLE_ERROR);
}

#[test]
fn an_asynchronous_put_is_answered_by_the_status() {
    let system = System::new();
    system.queue("Q", &[("MAXDEPTH", "1")]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    for _ in 0..3 {
        client.put_with(q, persistent(), put::ASYNC_RESPONSE, b"x").unwrap();
    }
    system.define(Kind::QueueAlias, "A", &[("TARGET", "Q")]);
    let alias = client.open_queue("A", open::OUTPUT).unwrap();
    client.put_with(alias, persistent(), put::ASYNC_RESPONSE, b"x").unwrap();
    let status = client.status(0).unwrap();
    assert_eq!((status.put_success_count, status.put_failure_count), (1, 3));
    assert_eq!(status.outcome, Outcome::failed(Reason::Q_FULL));
    // It names what the first failure concerned.
    let named = |status: &Status| (status.object_name.text(), status.resolved_object_name.text());
    assert_eq!(named(&status), ("Q".into(), "Q".into()));
    assert_eq!((status.object_type, status.object_q_mgr_name.text()), (1, "QM1".into()));
    client.put_with(alias, persistent(), put::ASYNC_RESPONSE, b"x").unwrap();
    assert_eq!(named(&client.status(0).unwrap()), ("A".into(), "Q".into()));
    let nothing = client.status(0).unwrap();
    assert_eq!((nothing.put_failure_count, nothing.object_type), (0, 1));
    assert!(nothing.object_name.is_blank());
    assert_eq!(reason(client.status(7)), Reason::STAT_TYPE_ERROR);
    assert_eq!(reason(client.status(1)), Reason::ENVIRONMENT_ERROR);
}

#[test]
fn a_put_to_one_leaves_nothing_open() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let mut what = ObjectDescriptor::queue("Q");
    for options in [put::SYNCPOINT, put::NO_SYNCPOINT] {
        client.put1(&mut what, &mut persistent(), &mut PutOptions::new(options), b"x").unwrap();
    }
    assert_eq!(system.manager.queue_status("Q").unwrap().output_handles, 0);
    client.back().unwrap();
    assert_eq!(system.depth("Q"), 1);
    let mut options = PutOptions::new(put::LOGICAL_ORDER);
    let refused = client.put1(&mut what, &mut persistent(), &mut options, b"");
    assert_eq!(reason(refused), Reason::OPTIONS_ERROR);
}
