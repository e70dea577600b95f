//! Messages go to other queue managers by themselves, and answers and reports come back.

use queue_manager::descriptor::value::feedback;
use queue_manager::objects::Kind;
use queue_manager::options::value::{get, open, put};
use queue_manager::options::{GetOptions, ObjectDescriptor, PutOptions};
use queue_manager::{Connection, MessageDescriptor};
use store::Store;

use crate::common::{PATIENCE_MS, fresh};

fn get_waiting<S: Store>(client: &mut Connection<S>, queue: &str) -> (MessageDescriptor, Vec<u8>) {
    let (handle, _) =
        client.open(&mut ObjectDescriptor::queue(queue), open::INPUT_SHARED).expect("it opens");
    let mut options =
        GetOptions { wait_interval: PATIENCE_MS, ..GetOptions::new(get::WAIT | get::NO_SYNCPOINT) };
    let (mut md, mut data) = (MessageDescriptor::default(), Vec::new());
    client.get(handle, &mut md, &mut options, 64 << 20, &mut data).expect("it comes");
    (md, data)
}

#[test]
fn a_message_starts_its_channel_and_arrives() {
    let (one, two) = (fresh("QM1"), fresh("QM2"));
    one.leads_to("QM2", two.address(), &[]);
    two.receives("TO.QM2", &[]);
    two.define(Kind::QueueLocal, "IN", &[]);
    for number in 0..12 {
        one.send(("IN", "QM2"), &number.to_string());
    }
    for number in 0..12 {
        assert_eq!(two.next("IN"), number.to_string());
    }
    one.until("TO.QM2", |status| status.is_some_and(|one| one.progress.last_sequence.0 == 12));
    let status = one.status("TO.QM2").expect("it runs");
    assert_eq!((status.state.word(), &*status.partner), ("RUNNING", "QM2"));
    assert_eq!(
        (status.traffic.messages, status.progress.in_doubt, one.depth("QM2")),
        (12, false, 0)
    );
    let status = two.status("TO.QM2").expect("it runs");
    assert_eq!((status.traffic.messages, &*status.partner, status.batch_size), (12, "QM1", 5));
}

#[test]
fn a_question_is_answered_and_reports_come_back() {
    let (one, two) = (fresh("QM1"), fresh("QM2"));
    one.leads_to("QM2", two.address(), &[]);
    two.receives("TO.QM2", &[]);
    two.leads_to("QM1", one.address(), &[]);
    one.receives("TO.QM1", &[]);
    two.define(Kind::QueueLocal, "IN", &[]);
    one.define(Kind::QueueRemote, "OUT", &[("RNAME", "IN"), ("RQMNAME", "QM2")]);
    one.define(Kind::QueueLocal, "ANSWERS", &[]);
    let mut client = one.connect();
    let mut md = MessageDescriptor {
        msg_type: 1,
        report: 0x100 | 0x800,
        persistence: 1,
        reply_to_q: "ANSWERS".into(),
        ..MessageDescriptor::default()
    };
    let mut what = ObjectDescriptor::queue("OUT");
    client.put1(&mut what, &mut md, &mut PutOptions::new(put::NO_SYNCPOINT), b"how?").expect("put");
    let (asked, data) = get_waiting(&mut two.connect(), "IN");
    assert_eq!((data, asked.msg_id), (b"how?".to_vec(), md.msg_id));
    let mut answer = MessageDescriptor {
        msg_type: 2,
        correl_id: asked.msg_id,
        persistence: 1,
        ..MessageDescriptor::default()
    };
    let mut to = ObjectDescriptor {
        object_name: asked.reply_to_q,
        object_q_mgr_name: asked.reply_to_q_mgr,
        ..ObjectDescriptor::default()
    };
    let mut options = PutOptions::new(put::NO_SYNCPOINT);
    two.connect().put1(&mut to, &mut answer, &mut options, b"so").expect("it is put");
    let mut client = one.connect();
    let back: Vec<_> = (0..3).map(|_| get_waiting(&mut client, "ANSWERS")).collect();
    let kinds: Vec<_> = back.iter().map(|(md, _)| (md.msg_type, md.feedback)).collect();
    assert_eq!(kinds, [(4, feedback::COA), (4, feedback::COD), (2, 0)]);
    assert!(back.iter().all(|(md, _)| md.correl_id == asked.msg_id));
    assert_eq!(back[2].1, b"so");
}

#[test]
fn a_long_message_arrives_as_it_is() {
    let (one, two) = (fresh("QM1"), fresh("QM2"));
    let long = [("MAXMSGL", "20000000")];
    one.leads_to("QM2", two.address(), &long);
    two.receives("TO.QM2", &long);
    two.define(Kind::QueueLocal, "IN", &long);
    one.define(
        Kind::QueueLocal,
        "QM2",
        &[
            ("USAGE", "XMITQ"),
            ("MAXMSGL", "20000000"),
            ("TRIGGER", "TRIGGER"),
            ("INITQ", "SYSTEM.CHANNEL.INITQ"),
        ],
    );
    let data: Vec<u8> = (0..5_000_000_u32).map(|at| (at % 251) as u8).collect();
    let mut what = ObjectDescriptor {
        object_name: "IN".into(),
        object_q_mgr_name: "QM2".into(),
        ..ObjectDescriptor::default()
    };
    let mut md = MessageDescriptor { persistence: 1, ..MessageDescriptor::default() };
    let mut options = PutOptions::new(put::NO_SYNCPOINT);
    one.connect().put1(&mut what, &mut md, &mut options, &data).expect("it is put");
    assert_eq!(get_waiting(&mut two.connect(), "IN").1, data);
}

#[test]
fn a_message_that_the_channel_cannot_carry_stays_as_a_dead_letter() {
    let (one, two) = (fresh("QM1"), fresh("QM2"));
    one.leads_to("QM2", two.address(), &[("MAXMSGL", "1000")]);
    two.receives("TO.QM2", &[]);
    two.define(Kind::QueueLocal, "IN", &[]);
    one.send(("IN", "QM2"), &"x".repeat(100_000));
    one.send(("IN", "QM2"), "short");
    assert_eq!(two.next("IN"), "short");
    assert_eq!(one.depth("SYSTEM.DEAD.LETTER.QUEUE"), 1);
}

#[test]
fn messages_that_are_not_kept_travel_too() {
    let (one, two) = (fresh("QM1"), fresh("QM2"));
    one.leads_to("QM2", two.address(), &[]);
    two.receives("TO.QM2", &[]);
    two.define(Kind::QueueLocal, "IN", &[]);
    let mut what = ObjectDescriptor {
        object_name: "IN".into(),
        object_q_mgr_name: "QM2".into(),
        ..ObjectDescriptor::default()
    };
    let mut md = MessageDescriptor { persistence: 0, ..MessageDescriptor::default() };
    let mut options = PutOptions::new(put::NO_SYNCPOINT);
    one.connect().put1(&mut what, &mut md, &mut options, b"fast").expect("it is put");
    assert_eq!(two.next("IN"), "fast");
    assert!(one.status("TO.QM2").is_some_and(|status| status.fast && status.traffic.batches == 0));
}
