//! What is answered, where, and as what.

use ims_bridge::iih::{IMS, IMS_VAR_STRING, Iih, flags};
use otma::{CommitMode, Name};
use queue_manager::descriptor::value::{msg_type, report};
use queue_manager::objects::Kind;
use queue_manager::{MessageDescriptor, ObjectName};
use schedule::messages::Messages as _;
use store::Store;
use store_suite::model::ModelStore;

use crate::common::*;

fn a_request_is_answered<S: Store>(store: &S) {
    let world = World::new(store, &["ECHO"]).with_programs(echo).bridged();
    let sent = world.send(request(), &segment("ECHO 1"));
    let (md, data) = world.receive(REPLIES);
    assert_eq!(data, segment("ECHO 1 OK"));
    assert_eq!((md.msg_type, md.format), (msg_type::REPLY, IMS_VAR_STRING));
    assert_eq!((md.correl_id, md.persistence), (sent.msg_id, 1));
    assert_ne!(md.msg_id, sent.msg_id);
    assert_eq!((world.depth(BRIDGE), world.depth(DEAD)), (0, 0));
    world.end();
}

#[test]
fn a_request_without_a_header_is_processed_and_answered() {
    a_request_is_answered(&ModelStore::new());
}

#[test]
fn the_kernel_keeps_what_the_bridge_moves() {
    let machine = Machine::new("ims-bridge");
    a_request_is_answered(&machine.start());
}

#[test]
fn a_header_says_what_the_program_sees_and_comes_back() {
    let world = World::new(&ModelStore::new(), &["ECHO"]);
    let world = world.with_programs(|program, _, text| {
        let terminal = program.destination(schedule::messages::TerminalPcb::Io);
        reply(program, &format!("{text} AT {}", Name(terminal).text()));
        reply(program, "MORE");
        Ok(())
    });
    let world = world.bridged();
    let header = Iih {
        terminal: name("TERM1"),
        mode: CommitMode::SendThenCommit,
        reply_to_format: *b"MYFORMAT",
        authenticator: [b' '; 8],
        ..Iih::default()
    };
    let (md, data) = with_header(&header, &segment("ECHO"));
    let asked = report::PASS_MSG_ID | report::PASS_CORREL_ID;
    let md = MessageDescriptor { report: asked, msg_id: [5; 24], correl_id: [6; 24], ..md };
    world.send(md, &data);
    let (md, data) = world.receive(REPLIES);
    assert_eq!((md.format, md.msg_id, md.correl_id), (IMS, [5; 24], [6; 24]));
    let (header, rest) = header_of(&data);
    assert_eq!(rest, [segment("ECHO AT TERM1"), segment("MORE")].concat());
    assert_eq!((header.format, header.mode), (*b"MYFORMAT", CommitMode::SendThenCommit));
    assert!(!header.in_conversation && header.instance == [0; 16]);
    world.end();
}

#[test]
fn a_reply_may_have_a_header_that_names_no_format() {
    let world = World::new(&ModelStore::new(), &["ECHO"]).with_programs(echo).bridged();
    let header = Iih { flags: flags::REPLY_FORMAT_NONE, ..Iih::default() };
    let (md, data) = with_header(&header, &segment("ECHO"));
    world.send(md, &data);
    let (_, data) = world.receive(REPLIES);
    assert_eq!(header_of(&data).0.format, [b' '; 8]);
    world.end();
}

#[test]
fn a_program_without_an_answer_is_told_of_if_that_is_asked_for() {
    let world = World::new(&ModelStore::new(), &["QUIET"]).with_programs(|_, _, _| Ok(()));
    let world = world.bridged();
    world.send(request(), &segment("QUIET"));
    let header = Iih { flags: flags::CM0_REQUEST_RESPONSE, ..Iih::default() };
    let (md, data) = with_header(&header, &segment("QUIET"));
    world.send(md, &data);
    let (_, data) = world.receive(REPLIES);
    let (_, rest) = header_of(&data);
    assert!(String::from_utf8_lossy(rest).contains("DFS2082"), "{rest:?}");
    assert!(world.next(REPLIES, 0).is_none());
    world.end();
}

#[test]
fn a_program_that_fails_is_told_of_in_a_reply() {
    let world = World::new(&ModelStore::new(), &["BAD"]);
    let world = world.with_programs(|_, _, _| {
        Err(region::Abend { code: "S0C7".into(), text: "it added letters".into() })
    });
    let world = world.bridged();
    world.send(request(), &segment("BAD 1"));
    let (_, data) = world.receive(REPLIES);
    let text = String::from_utf8_lossy(&data).into_owned();
    assert!(text.contains("DFS555") && text.contains("S0C7"), "{text}");
    let letters = world.control.dead_letters(name("BAD"), 9).unwrap();
    assert_eq!(letters.len(), 1);
    world.end();
}

#[test]
fn replies_in_ebcdic_go_back_as_their_requests_came() {
    let world = World::new(&ModelStore::new(), &["ECHO"]);
    let world = world.with_programs(|program, _, text| {
        assert!(!text.starts_with("ECHO"), "nothing is converted: {text}");
        let first = program.first_segment().map(|one| one.bytes.to_vec()).unwrap();
        let to = schedule::messages::TerminalPcb::Io;
        assert_eq!(program.insert(to, &first, None), *b"  ");
        Ok(())
    });
    let world = world.bridged();
    let md = MessageDescriptor { ccsid: 37, ..request() };
    let data = b"\0\x08\0\0\xc5\xc3\xc8\xd6";
    world.send(md, data);
    let (md, reply) = world.receive(REPLIES);
    assert_eq!((md.ccsid, &reply[..]), (37, &data[..]));
    world.end();
}

#[test]
fn a_reply_that_cannot_be_put_is_a_dead_letter() {
    let world = World::new(&ModelStore::new(), &["ECHO"]).with_programs(echo).bridged();
    let md = MessageDescriptor { reply_to_q: ObjectName::from("NOWHERE"), ..request() };
    world.send(md, &segment("ECHO 1"));
    let (md, data) = world.receive(DEAD);
    assert_eq!(md.format, *b"MQDEAD  ");
    assert_eq!(data[8..12], 2_085_i32.to_le_bytes());
    assert_eq!(&data[12..19], b"NOWHERE");
    assert_eq!(data[172..], segment("ECHO 1 OK"));
    // One that says nothing of a reply is not lost either.
    let md = MessageDescriptor {
        msg_type: msg_type::DATAGRAM,
        reply_to_q: ObjectName::BLANK,
        ..request()
    };
    world.send(md, &segment("ECHO 2"));
    let (_, data) = world.receive(DEAD);
    assert_eq!(data[8..12], 2_027_i32.to_le_bytes());
    world.end();
}

#[test]
fn a_queue_of_another_storage_class_is_left_alone() {
    let world = World::new(&ModelStore::new(), &["ECHO"]);
    world.define(Kind::QueueLocal, "PLAIN", &[]);
    let world = world.with_programs(echo).bridged();
    let mut md = request();
    let mut what = queue_manager::options::ObjectDescriptor::queue("PLAIN");
    let no_unit = queue_manager::options::value::put::NO_SYNCPOINT;
    let mut options = queue_manager::options::PutOptions::new(no_unit);
    world.connect().put1(&mut what, &mut md, &mut options, &segment("ECHO")).unwrap();
    world.send(request(), &segment("ECHO 1"));
    world.receive(REPLIES);
    assert_eq!(world.depth("PLAIN"), 1);
    world.end();
}
