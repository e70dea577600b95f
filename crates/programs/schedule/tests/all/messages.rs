//! Message programs: their calls, their sync points, and what reaches the keeper of the messages
//! (DLI-1 and DLI-5).

#[allow(dead_code, reason = "the tests of other files need more of it")]
use std::sync::Arc;

use crate::support::memory_messages::{MemoryMessages, MessageQueues, message, segment};
use crate::support::{Caller, Shop};
use holdfast_schedule::{Mode, Options, RegionKind};
use region::{AibFields, Client, DirectAnswer, DirectCall, Embedded, Ending};
use seam::sync::Mutex;
use store::{CommitSink, Committed};

/// PCB 1 for a fixed destination, PCB 2 modifiable, PCB 3 the database.
const TELLER: &str = "
         PCB   TYPE=TP,LTERM=PRINTER
         PCB   TYPE=TP,MODIFY=YES
         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=AP,KEYLEN=6
         SENSEG NAME=CUSTOMER,PARENT=0
         SENSEG NAME=ORDER,PARENT=CUSTOMER
         PSBGEN LANG=COBOL,PSBNAME=TELLER
";

fn mpp() -> Options {
    Options { kind: RegionKind::Mpp, transaction: "TELL".to_owned(), ..Options::default() }
}

fn start(shop: &Shop, message_queues: &Arc<Mutex<MessageQueues>>, options: Options) -> Caller {
    let schedule = shop.schedule(TELLER, options).expect("a schedule");
    let clerk = MemoryMessages::new(message_queues, &[(1, "PRINTER")]);
    let server = schedule.with_messages(Box::new(clerk));
    Caller(Client::new(Box::new(Embedded::new(Box::new(server)))))
}

fn queues_of(inputs: &[&[&str]]) -> Arc<Mutex<MessageQueues>> {
    let inputs = inputs.iter().map(|texts| message(texts)).collect();
    Arc::new(Mutex::new(MessageQueues { inputs, ..MessageQueues::default() }))
}

fn get(caller: &mut Caller, function: &[u8; 4]) -> (String, String) {
    let answer = caller.get(0, function, &[]);
    let text = answer.area.get(4..).unwrap_or_default();
    let status = String::from_utf8_lossy(&answer.status).into_owned();
    (status, String::from_utf8_lossy(text).into_owned())
}

fn printed(status: &str, text: &str) -> (String, String) {
    (status.to_owned(), text.to_owned())
}

fn sent(to: &str, mod_name: &str, texts: &[&str]) -> crate::support::memory_messages::Sent {
    (to.to_owned(), mod_name.to_owned(), texts.iter().map(|text| (*text).to_owned()).collect())
}

#[test]
fn a_get_unique_is_a_sync_point_and_gets_the_next_message() {
    let (shop, message_queues) = (Shop::new("gu"), queues_of(&[&["first", "more"], &["second"]]));
    let mut caller = start(&shop, &message_queues, mpp());
    assert_eq!(get(&mut caller, b"GN  "), printed("QE", ""));
    assert_eq!(get(&mut caller, b"GU  "), printed("  ", "first"));
    assert!(message_queues.lock().events.is_empty(), "nothing was done before");
    assert_eq!(get(&mut caller, b"GN  "), printed("  ", "more"));
    assert_eq!(get(&mut caller, b"GN  "), printed("QD", ""));
    caller.customer(3, "0001");
    assert_eq!(caller.service(b"ISRT", &segment("answer"), &[b"MODNAME1"]), "  ");
    assert!(message_queues.lock().sent.is_empty(), "nothing leaves before the sync point");
    assert_eq!(get(&mut caller, b"GU  "), printed("  ", "second"));
    assert_eq!(message_queues.lock().sent, [sent("IO", "MODNAME1", &["answer"])]);
    assert_eq!(message_queues.lock().events, ["committed 1"]);
    caller.customer(3, "0002");
    assert_eq!(get(&mut caller, b"GU  "), printed("QC", ""));
    assert_eq!(message_queues.lock().events, ["committed 1", "committed 1"]);
    caller.end().expect("an end");
    assert_eq!(shop.customers(), ["0001", "0002"]);
}

#[test]
fn a_program_of_mode_multiple_commits_at_its_end() {
    let (shop, message_queues) = (Shop::new("mult"), queues_of(&[&["one"], &["two"]]));
    let mut caller = start(&shop, &message_queues, Options { mode: Mode::Multiple, ..mpp() });
    for text in ["one", "two"] {
        assert_eq!(get(&mut caller, b"GU  "), printed("  ", text));
        assert_eq!(caller.service(b"PURG", &segment(text), &[]), "  ");
    }
    assert_eq!(get(&mut caller, b"GU  "), printed("QC", ""));
    assert!(message_queues.lock().events.is_empty());
    caller.end().expect("an end");
    assert_eq!(message_queues.lock().events, ["committed 2"]);
    assert_eq!(message_queues.lock().sent, [sent("IO", "", &["one"]), sent("IO", "", &["two"])]);
}

#[test]
fn alternate_pcbs_have_destinations_and_mod_names_begin_messages() {
    let (shop, message_queues) = (Shop::new("alternate"), queues_of(&[&["input"]]));
    let mut caller = start(&shop, &message_queues, mpp());
    assert_eq!(get(&mut caller, b"GU  "), printed("  ", "input"));
    let area = segment("text");
    assert_eq!(caller.status(2, b"ISRT", Some(&area), &[]), "A3");
    assert_eq!(caller.status(2, b"PURG", None, &[]), "A3");
    assert_eq!(caller.status(1, b"CHNG", Some(b"ELSEWHER"), &[]), "A2");
    assert_eq!(caller.status(2, b"CHNG", Some(b"NOBODY  "), &[]), "A1");
    assert_eq!(caller.status(2, b"CHNG", Some(b"BACKEND "), &[]), "  ");
    assert_eq!(caller.status(2, b"ISRT", Some(&area), &[b"MODNAME1"]), "  ");
    assert_eq!(caller.status(2, b"ISRT", Some(&area), &[b"MODNAME1"]), "A5");
    assert_eq!(caller.status(2, b"ISRT", Some(&area), &[b"        "]), "  ");
    assert_eq!(caller.status(2, b"CHNG", Some(b"OTHER   "), &[]), "A2");
    assert_eq!(caller.status(2, b"SETO", Some(&area), &[]), "A2");
    assert_eq!(caller.status(2, b"PURG", None, &[]), "  ");
    assert_eq!(caller.status(2, b"CHNG", Some(b"OTHER   "), &[]), "  ");
    assert_eq!(caller.status(2, b"SETO", Some(&area), &[]), "  ");
    assert_eq!(caller.status(2, b"ISRT", Some(&area), &[b"MODNAME2"]), "  ");
    assert_eq!(caller.status(1, b"ISRT", Some(&area), &[]), "  ");
    assert_eq!(caller.status(1, b"GU  ", Some(&area), &[]), "AD");
    caller.end().expect("an end");
    let mut all = message_queues.lock().sent.clone();
    all.sort();
    let expected = [
        sent("BACKEND", "MODNAME1", &["text", "text"]),
        sent("OTHER", "MODNAME2", &["text"]),
        sent("PRINTER", "", &["text"]),
    ];
    assert_eq!(all, expected);
}

#[test]
fn lengths_of_segments_are_checked() {
    let (shop, message_queues) = (Shop::new("lengths"), queues_of(&[&["input"]]));
    let mut caller = start(&shop, &message_queues, mpp());
    assert_eq!(caller.service(b"ISRT", b"\0\x04\0\0", &[]), "QF");
    assert_eq!(caller.service(b"ISRT", b"\0\x40\0\0short", &[]), "QF");
    assert_eq!(caller.service(b"ISRT", b"\0\0\0\0none", &[]), "QH");
    assert_eq!(caller.status(0, b"ISRT", None, &[]), "AB");
    assert_eq!(caller.status(0, b"GU  ", None, &[]), "AB");
    assert_eq!(caller.service(b"ISRT", b"\x09\0\0\0other", &[]), "  ");
    caller.end().expect("an end");
    assert_eq!(message_queues.lock().sent, [sent("IO", "", &["other"])]);
}

#[test]
fn rolb_gives_the_message_again_and_forgets_what_was_sent() {
    let (shop, message_queues) = (Shop::new("rolb-message"), queues_of(&[&["input", "more"]]));
    let mut caller = start(&shop, &message_queues, mpp());
    assert_eq!(get(&mut caller, b"GU  "), printed("  ", "input"));
    assert_eq!(get(&mut caller, b"GN  "), printed("  ", "more"));
    caller.customer(3, "0001");
    assert_eq!(caller.service(b"ISRT", &segment("wrong"), &[]), "  ");
    let again = caller.call(0, b"ROLB", Some(&[b'.'; 64]), (&[], &[])).expect("an answer");
    assert_eq!((again.status, &again.area[..]), (*b"  ", &segment("input")[..]));
    assert_eq!(get(&mut caller, b"GN  "), printed("  ", "more"));
    assert_eq!(caller.service(b"ISRT", &segment("right"), &[b"MODNAME1"]), "  ");
    assert_eq!(get(&mut caller, b"GU  "), printed("QC", ""));
    caller.end().expect("an end");
    assert_eq!(message_queues.lock().sent, [sent("IO", "MODNAME1", &["right"])]);
    assert_eq!(message_queues.lock().events, ["backed out, again", "committed 1"]);
    assert_eq!(shop.customers(), [""; 0]);
}

#[test]
fn what_ends_a_program_is_told_before_its_messages_are_backed_out() {
    let (shop, message_queues) = (Shop::new("roll-message"), queues_of(&[&["input"], &["next"]]));
    let mut caller = start(&shop, &message_queues, mpp());
    assert_eq!(get(&mut caller, b"GU  "), printed("  ", "input"));
    caller.customer(3, "0001");
    assert_eq!(caller.service(b"ROLL", b"", &[]), "U0778");
    caller.abend();
    assert_eq!(message_queues.lock().events, ["U0778", "backed out"]);

    let mut caller = start(&shop, &message_queues, mpp());
    assert_eq!(get(&mut caller, b"GU  "), printed("  ", "next"));
    caller.customer(3, "0002");
    message_queues.lock().refuses = true;
    assert_eq!(caller.status(0, b"GU  ", Some(&[0; 64]), &[]), "U0119");
    caller.abend();
    assert_eq!(message_queues.lock().events[2..], ["U0119", "backed out"]);
    assert!(message_queues.lock().sent.is_empty());
    assert_eq!(shop.customers(), [""; 0]);
}

#[test]
fn checkpoints_of_message_programs_get_the_next_message() {
    let (shop, message_queues) = (Shop::new("chkp-message"), queues_of(&[&["first"], &["second"]]));
    let mut caller = start(&shop, &message_queues, mpp());
    assert_eq!(get(&mut caller, b"GU  "), printed("  ", "first"));
    let mut area = b"CKPT0001".to_vec();
    area.resize(64, b'.');
    assert_eq!(caller.service(b"CHKP", &area, &[b"an area"]), "AD", "not symbolic");
    let next = caller.call(0, b"CHKP", Some(&area), (&[], &[])).expect("an answer");
    assert_eq!((next.status, &next.area[..]), (*b"  ", &segment("second")[..]));
    assert_eq!(message_queues.lock().events, ["committed 1"]);
    assert_eq!(caller.service(b"CHKP", &area, &[]), "QC");
    assert_eq!(caller.status(0, b"SYNC", None, &[]), "AD");
    caller.end().expect("an end");
}

#[test]
fn bmps_read_messages_where_they_have_a_transaction() {
    let (shop, message_queues) = (Shop::new("bmp-message"), queues_of(&[&["input"]]));
    let options = Options { kind: RegionKind::Bmp, ..mpp() };
    let mut caller = start(&shop, &message_queues, options);
    assert_eq!(get(&mut caller, b"GU  "), printed("  ", "input"));
    assert_eq!(caller.status(0, b"SYNC", None, &[]), "AD");
    caller.end().expect("an end");
    // One that has messages to send alone has its sync points itself.
    let options = Options { kind: RegionKind::Bmp, ..Options::default() };
    let mut caller = start(&shop, &message_queues, options);
    assert_eq!(caller.service(b"ISRT", &segment("report"), &[]), "  ");
    assert_eq!(caller.status(0, b"SYNC", None, &[]), "  ");
    assert_eq!(message_queues.lock().sent, [sent("IO", "", &["report"])]);
    assert_eq!(caller.service(b"CHKP", b"CKPT0001", &[]), "  ");
    caller.end().expect("an end");
}

#[test]
fn without_messages_an_mpp_is_told_that_there_are_none() {
    let shop = Shop::new("mpp-without");
    let mut caller = shop.program_with(TELLER, mpp());
    assert_eq!(get(&mut caller, b"GU  "), printed("QC", ""));
    assert_eq!(get(&mut caller, b"GN  "), printed("QD", ""));
    assert_eq!(caller.service(b"ISRT", &segment("text"), &[]), "QH");
}

#[test]
fn programs_ask_what_they_run_in() {
    let (shop, message_queues) = (Shop::new("inqy-message"), queues_of(&[&["input"]]));
    let mut caller = start(&shop, &message_queues, Options { program: "TELLER".into(), ..mpp() });
    let ask = |caller: &mut Caller, subfunction: &str| -> DirectAnswer {
        let fields = AibFields {
            subfunction: region::layout::name(subfunction),
            resource: *b"IOPCB   ",
            ..AibFields::default()
        };
        let function = definitions::Function::Inqy;
        let area = [0; 152];
        let call =
            DirectCall { function, pcb: 0, ssas: &[], more: &[], area: Some(&area), room: 152 };
        caller.0.call_with_aib(&call, &fields).expect("an answer").0
    };
    assert_eq!(ask(&mut caller, "MSGINFO").status, *b"AL", "no message yet");
    assert_eq!(get(&mut caller, b"GU  "), printed("  ", "input"));
    let block = ask(&mut caller, "ENVIRON").area;
    assert_eq!(&block[12..28], b"DB/DC   MPP     ");
    assert_eq!(&block[32..72], b"TELLER  TELLER  TELL    ANNA    TELLERS ");
    assert_eq!(ask(&mut caller, "PROGRAM").area, b"TELLER  ");
    assert_eq!(&ask(&mut caller, "MSGINFO").area[8..], b"HOLDFAST");
    assert_eq!(ask(&mut caller, "FIND").status, *b"  ");
    caller.0.end(Ending::Abend).expect("a backout");
}

#[test]
fn an_area_of_an_aib_takes_what_fits() {
    let (shop, message_queues) = (Shop::new("aib-message"), queues_of(&[&["a long message"]]));
    let mut caller = start(&shop, &message_queues, mpp());
    let fields = AibFields { resource: *b"IOPCB   ", ..AibFields::default() };
    let function = definitions::Function::Gu;
    let call = DirectCall { function, pcb: 0, ssas: &[], more: &[], area: Some(&[0; 8]), room: 8 };
    let (answer, reply) = caller.0.call_with_aib(&call, &fields).expect("an answer");
    assert_eq!(&answer.area[..], b"\0\x12\0\0a lo");
    assert_eq!((reply.return_code, reply.reason, reply.area_used), (0x100, 0x0c, 18));
    caller.end().expect("an end");
}

#[test]
fn a_user_may_ask_for_what_nobody_protects() {
    let (shop, message_queues) = (Shop::new("auth"), queues_of(&[]));
    let mut caller = start(&shop, &message_queues, mpp());
    let area = b"\0\x14\0\0TRAN    TELL    ";
    let answer = caller.call(0, b"AUTH", Some(area), (&[], &[])).expect("an answer");
    assert_eq!((answer.status, &answer.area[4..6]), (*b"  ", &b"\0\x04"[..]));
    assert_eq!(caller.service(b"AUTH", b"\0\x06\0\0XX", &[]), "QF");
    assert_eq!(caller.service(b"SETS", b"", &[b"AAAA"]), "SC", "no marks here");
}

/// Notes which commits are durable.
struct Bell(Mutex<Vec<u64>>);

impl CommitSink for Bell {
    fn settled(&self, token: u64, outcome: store::Result<Committed>) {
        assert!(outcome.is_ok());
        self.0.lock().push(token);
    }
}

#[test]
fn a_commit_may_be_queued_while_the_program_goes_on() {
    let (shop, message_queues) = (Shop::new("queued"), queues_of(&[&["first"], &["second"]]));
    let bell = Arc::new(Bell(Mutex::default()));
    message_queues.lock().sink = Some(bell.clone());
    let mut caller = start(&shop, &message_queues, mpp());
    assert_eq!(get(&mut caller, b"GU  "), printed("  ", "first"));
    caller.customer(3, "0001");
    assert_eq!(get(&mut caller, b"GU  "), printed("  ", "second"));
    caller.customer(3, "0002");
    caller.end().expect("an end");
    assert_eq!(*bell.0.lock(), [1, 1]);
    assert!(message_queues.lock().events.is_empty(), "the sink hears of them, and nobody else");
    assert_eq!(shop.customers(), ["0001", "0002"]);
}
