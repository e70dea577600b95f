//! Messages that cannot become inputs: each is a dead letter that says why, or waits.

use control::Profile;
use ims_bridge::iih::Iih;
use otma::{CommitMode, Name};
use queue_manager::descriptor::value::{msg_type, report};
use queue_manager::objects::Kind;
use queue_manager::options::value::put;
use queue_manager::options::{ConnectOptions, ObjectDescriptor, PutOptions};
use queue_manager::{Failed, MessageDescriptor, ObjectName, Reason};
use store_suite::model::ModelStore;

use crate::common::*;

fn reason_of(letter: &[u8]) -> i32 {
    assert_eq!(&letter[..4], b"DLH ");
    i32::from_le_bytes(letter[8..12].try_into().unwrap())
}

#[test]
fn what_is_wrong_with_a_message_stands_in_front_of_its_dead_letter() {
    let world = World::new(&ModelStore::new(), &["ECHO", "STOPPED"]).with_programs(echo).bridged();
    assert!(world.control.command("/STOP TRAN STOPPED", Name::BLANK).done);
    let header = Iih::default();
    let mut wrong_header = with_header(&header, &segment("ECHO")).1;
    wrong_header[81] = b'7';
    let in_none = Iih { in_conversation: true, instance: *b"HOLDFASTQ0000001", ..header };
    let header = with_header(&in_none, &segment("ECHO"));
    let ims = header.0.clone();
    let other = MessageDescriptor { format: *b"MQPCF   ", ..request() };
    for (md, data, reason) in [
        (request(), segment("NOTHERE 1"), 326),
        (request(), segment("STOPPED"), 326),
        (request(), b"\0\0\0\0".to_vec(), 291),
        (request(), b"\xff\0\0\0".to_vec(), 292),
        (request(), b"\0\x40\0\0ECHO".to_vec(), 293),
        (request(), b"\0\x09\0\0ECHO".to_vec(), 295),
        (ims.clone(), wrong_header, 296),
        (ims, header.1, 300),
        (request(), segment("/STOP TRAN ECHO"), 300),
        (other, segment("ECHO"), 2_110),
    ] {
        let sent = world.send(md, &data);
        let (md, letter) = world.receive(DEAD);
        assert_eq!(reason_of(&letter), reason, "{data:?}");
        assert_eq!(&letter[12..18], BRIDGE.as_bytes());
        assert_eq!((md.msg_id, &letter[172..]), (sent.msg_id, &data[..]));
    }
    // What stands behind them is processed.
    world.send(request(), &segment("ECHO 1"));
    assert_eq!(world.receive(REPLIES).1, segment("ECHO 1 OK"));
    world.end();
}

#[test]
fn a_sender_that_asks_for_it_gets_a_report_with_the_feedback() {
    let world = World::new(&ModelStore::new(), &["ECHO"]).bridged();
    let asked = report::EXCEPTION_WITH_FULL_DATA | report::DISCARD_MSG;
    let md = MessageDescriptor { report: asked, ..request() };
    let sent = world.send(md, &segment("NOTHERE"));
    let (md, data) = world.receive(REPLIES);
    assert_eq!((md.msg_type, md.feedback), (msg_type::REPORT, 326));
    assert_eq!((md.correl_id, data), (sent.msg_id, segment("NOTHERE")));
    assert_eq!(world.depth(DEAD), 0);
    world.end();
}

#[test]
fn who_may_not_use_a_transaction_does_not_by_the_bridge() {
    let world = World::new(&ModelStore::new(), &["ECHO", "PAY"]).with_programs(echo).bridged();
    world.control.put_user(name("ANN"), b"secret").unwrap();
    world.control.put_user(name("BOB"), b"other").unwrap();
    let profile =
        Profile { class: name("TRAN"), resource: name("PAY"), permitted: vec![name("BOB")] };
    world.control.protect(&profile).unwrap();
    // The queue manager says that ann has put it.
    world.send(request(), &segment("ECHO 1"));
    assert_eq!(world.receive(REPLIES).1, segment("ECHO 1 OK"));
    world.send(request(), &segment("PAY 1"));
    assert_eq!(reason_of(&world.receive(DEAD).1), 298);
    // Nor does he by saying that he is another user.
    let who = ConnectOptions { user: "ann".into(), by_door: true, ..Default::default() };
    let mut door = world.manager.connect(who).unwrap();
    for options in [put::SET_IDENTITY_CONTEXT, put::ALTERNATE_USER_AUTHORITY] {
        let mut what = ObjectDescriptor::queue(BRIDGE);
        what.alternate_user_id = *b"BOB         ";
        let mut md = MessageDescriptor { user_identifier: *b"BOB         ", ..request() };
        let mut options = PutOptions::new(put::NO_SYNCPOINT | options);
        let refused = door.put1(&mut what, &mut md, &mut options, &segment("PAY 1"));
        assert_eq!(refused, Err(Failed(Reason::NOT_AUTHORIZED)));
    }
    // Who brings a password has to have the right one.
    for (password, is_right) in [(*b"secret  ", true), (*b"wrong   ", false)] {
        let header = Iih { authenticator: password, full_scope: true, ..Iih::default() };
        let (md, data) = with_header(&header, &segment("ECHO 2"));
        world.send(md, &data);
        match is_right {
            true => assert_eq!(header_of(&world.receive(REPLIES).1).1, segment("ECHO 2 OK")),
            false => assert_eq!(reason_of(&world.receive(DEAD).1), 298),
        }
    }
    world.end();
}

#[test]
fn what_finds_no_room_waits_and_is_no_dead_letter() {
    let world = World::with_room(&ModelStore::new(), &["ECHO"], 1).bridged();
    world.send(request(), &segment("ECHO 1"));
    world.send(request(), &segment("ECHO 2"));
    world.send(request(), &segment("ECHO 3"));
    assert!(world.next(REPLIES, 300).is_none());
    assert_eq!((world.depth(BRIDGE), world.depth(DEAD)), (2, 0));
    assert!(world.notes().iter().any(|note| note.contains(BRIDGE)), "{:?}", world.notes());
    let world = world.with_programs(echo);
    for number in 1..4 {
        let (_, data) = world.receive(REPLIES);
        assert_eq!(data, segment(&format!("ECHO {number} OK")));
    }
    // No backout is counted for a message that waits.
    assert_eq!(world.manager.queue_status(BRIDGE).unwrap().statistics.backed_out, 0);
    world.end();
}

#[test]
fn a_queue_for_another_data_store_waits_until_its_class_names_this_one() {
    let world = World::new(&ModelStore::new(), &["ECHO"]).with_programs(echo);
    world.alter(Kind::StorageClass, "IMS", "XCFMNAME", "OTHER");
    let world = world.bridged();
    world.send(request(), &segment("ECHO 1"));
    assert!(world.next(REPLIES, 200).is_none());
    assert_eq!(world.depth(BRIDGE), 1);
    world.alter(Kind::StorageClass, "IMS", "XCFMNAME", "IMS1");
    assert_eq!(world.receive(REPLIES).1, segment("ECHO 1 OK"));
    world.end();
}

#[test]
fn without_a_dead_letter_queue_a_wrong_message_waits_and_is_told_of() {
    let world = World::new(&ModelStore::new(), &["ECHO"]).with_programs(echo);
    world.alter(Kind::QueueManager, "QM1", "DEADQ", "");
    let world = world.bridged();
    world.send(request(), &segment("NOTHERE"));
    world.send(request(), &segment("ECHO 1"));
    assert!(world.next(REPLIES, 300).is_none());
    assert_eq!(world.depth(BRIDGE), 2);
    let notes = world.notes().join("\n");
    assert!(notes.contains("326"), "{notes}");
    world.alter(Kind::QueueManager, "QM1", "DEADQ", DEAD);
    assert_eq!(world.receive(REPLIES).1, segment("ECHO 1 OK"));
    assert_eq!(reason_of(&world.receive(DEAD).1), 326);
    world.end();
}

#[test]
fn a_mode_that_waits_is_refused_where_nobody_would_answer() {
    let world = World::new(&ModelStore::new(), &["ECHO"]).bridged();
    assert!(world.control.command("/STOP PGM PECHO", Name::BLANK).done);
    let header = Iih { mode: CommitMode::SendThenCommit, ..Iih::default() };
    let (md, data) = with_header(&header, &segment("ECHO 1"));
    world.send(md, &data);
    assert_eq!(reason_of(&world.receive(DEAD).1), 326);
    // In the other mode it waits for its program.
    world.send(request(), &segment("ECHO 2"));
    let world = world.with_programs(echo);
    assert!(world.control.command("/START PGM PECHO", Name::BLANK).done);
    assert_eq!(world.receive(REPLIES).1, segment("ECHO 2 OK"));
    world.end();
}

#[test]
fn a_reply_is_put_by_the_right_of_who_asked() {
    let world = World::new(&ModelStore::new(), &["ECHO"]).with_programs(echo).bridged();
    let command = "SYSTEM.ADMIN.COMMAND.QUEUE";
    let md = MessageDescriptor { reply_to_q: ObjectName::from(command), ..request() };
    world.send(md, &segment("ECHO 1"));
    // No user gets a command carried out by having it echoed.
    assert_eq!(reason_of(&world.receive(DEAD).1), 2_035);
    world.end();
}
