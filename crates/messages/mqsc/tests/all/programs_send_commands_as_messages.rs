//! Command messages: what programs of administration send, and what they get.

use mqsc::pcf::answer;
use mqsc::pcf::server::{COMMAND_QUEUE, CommandServer, FORMAT};
use mqsc::pcf::wire::{Content, Header, Message, Order, Parameter, read, write};
use queue_manager::options::value::{get, open, put};
use queue_manager::options::{GetOptions, ObjectDescriptor, PutOptions};
use queue_manager::{MessageDescriptor, ObjectName};

use crate::common::{Manager, connected, manager, put_messages};

fn command(number: i32, parameters: Vec<(i32, Content)>) -> Vec<u8> {
    let header = Header {
        kind: 1,
        version: 1,
        command: number,
        sequence: 1,
        last: true,
        completion: 0,
        reason: 0,
    };
    let parameters = parameters.into_iter().map(|(id, content)| Parameter { id, content });
    write(&Message { header, parameters: parameters.collect() }, Order::Little)
}

fn ask(manager: &Manager, number: i32, parameters: Vec<(i32, Content)>) -> Vec<Message> {
    let answers = answer(manager, &command(number, parameters), Order::Little);
    answers.iter().map(|one| read(one, Order::Little).expect("an answer is well formed")).collect()
}

fn text(text: &str) -> Content {
    Content::Text(text.into())
}

fn reason(answers: &[Message]) -> (i32, i32) {
    (answers[0].header.completion, answers[0].header.reason)
}

fn integer(message: &Message, id: i32) -> Option<i32> {
    message.parameters.iter().find_map(|one| match one.content {
        Content::Integer(number) if one.id == id => Some(number),
        _ => None,
    })
}

const NAME: i32 = 2016;
const TYPE: i32 = 20;
const LOCAL: Content = Content::Integer(1);

#[test]
fn a_queue_is_created_inquired_changed_and_deleted() {
    let manager = manager();
    let create = vec![(NAME, text("PCF.Q")), (TYPE, LOCAL), (15, Content::Integer(42))];
    assert_eq!(reason(&ask(&manager, 11, create.clone())), (0, 0));
    assert_eq!(reason(&ask(&manager, 11, create)), (2, 4001));
    put_messages(&manager, "PCF.Q", 2);
    let answers = ask(&manager, 13, vec![(NAME, text("PCF.*"))]);
    assert_eq!(answers.len(), 1);
    assert!(answers[0].header.last && answers[0].header.kind == 2);
    assert_eq!(integer(&answers[0], 15), Some(42), "MaxQDepth");
    assert_eq!(integer(&answers[0], 3), Some(2), "CurrentQDepth");
    assert_eq!(integer(&answers[0], TYPE), Some(1));
    let change = vec![(NAME, text("PCF.Q")), (TYPE, LOCAL), (15, Content::Integer(43))];
    assert_eq!(reason(&ask(&manager, 8, change)), (0, 0));
    let only = vec![(NAME, text("PCF.Q")), (1002, Content::Integers(vec![15]))];
    let answers = ask(&manager, 13, only);
    assert_eq!(integer(&answers[0], 15), Some(43));
    assert_eq!(integer(&answers[0], 3), None, "it was not asked for");
    assert_eq!(reason(&ask(&manager, 12, vec![(NAME, text("PCF.Q"))])), (2, 2055));
    assert_eq!(reason(&ask(&manager, 9, vec![(NAME, text("PCF.Q"))])), (0, 0));
    assert_eq!(reason(&ask(&manager, 12, vec![(NAME, text("PCF.Q"))])), (0, 0));
    assert_eq!(reason(&ask(&manager, 13, vec![(NAME, text("PCF.Q"))])), (2, 2085));
}

#[test]
fn names_status_and_the_queue_manager_are_inquired() {
    let manager = manager();
    for name in ["N.1", "N.2"] {
        ask(&manager, 11, vec![(NAME, text(name)), (TYPE, LOCAL)]);
    }
    put_messages(&manager, "N.2", 3);
    let answers = ask(&manager, 18, vec![(NAME, text("N.*"))]);
    let names = Content::Texts(vec!["N.1".into(), "N.2".into()]);
    assert_eq!(answers[0].parameters[0], Parameter { id: 3011, content: names });
    let deep = vec![(NAME, text("N.*")), (3, Content::IntegerFilter(4, 0))];
    let answers = ask(&manager, 41, deep);
    assert_eq!(answers.len(), 1);
    assert_eq!(integer(&answers[0], 3), Some(3));
    assert_eq!(reason(&ask(&manager, 40, vec![])), (0, 0));
    let answers = ask(&manager, 2, vec![]);
    assert_eq!(answers[0].parameters[0], Parameter { id: 2015, content: text("QM1") });
}

#[test]
fn any_command_of_operators_can_be_sent_as_text() {
    let manager = manager();
    let escape = |command: &str| vec![(1017, Content::Integer(1)), (3014, text(command))];
    let answers = ask(&manager, 38, escape("DEFINE QLOCAL(ESC) MAXDEPTH(4)"));
    assert!(matches!(&answers[0].parameters[1].content, Content::Text(reported)
        if reported.starts_with("AMQ8006I")));
    let answers = ask(&manager, 38, escape("DISPLAY QLOCAL(ESC) MAXDEPTH"));
    assert!(matches!(&answers[0].parameters[1].content, Content::Text(reported)
        if reported.contains("MAXDEPTH(4)")));
}

#[test]
fn what_is_no_command_is_refused_with_its_reason() {
    let manager = manager();
    assert_eq!(reason(&ask(&manager, 999, vec![])), (2, 3007));
    assert_eq!(reason(&ask(&manager, 13, vec![])), (2, 3019));
    let unknown = vec![(NAME, text("Q")), (TYPE, LOCAL), (1999, Content::Integer(1))];
    assert_eq!(reason(&ask(&manager, 11, unknown)), (2, 3014));
    let value = vec![(NAME, text("Q")), (TYPE, LOCAL), (15, Content::Integer(-1))];
    assert_eq!(reason(&ask(&manager, 11, value)), (2, 4005));
    let kind = vec![(NAME, text("Q")), (TYPE, Content::Integer(77))];
    assert_eq!(reason(&ask(&manager, 11, kind)), (2, 3022));
    let answers = answer(&manager, b"no message", Order::Little);
    let read = read(&answers[0], Order::Little).expect("an answer is well formed");
    assert_eq!(read.header.reason, 3016);
}

#[test]
fn the_command_server_answers_to_the_queue_that_a_command_names() {
    let manager = manager();
    ask(&manager, 11, vec![(NAME, text("REPLIES")), (TYPE, LOCAL)]);
    let mut server = CommandServer::open(&manager).expect("the command queue is there");
    assert_eq!(server.serve(0), Ok(false));
    let mut connection = connected(&manager);
    let mut message = MessageDescriptor {
        msg_type: 1,
        format: FORMAT,
        reply_to_q: ObjectName::from("REPLIES"),
        ..MessageDescriptor::default()
    };
    let mut options = PutOptions { options: put::NO_SYNCPOINT, ..PutOptions::default() };
    let mut what = ObjectDescriptor::queue(COMMAND_QUEUE);
    connection.put1(&mut what, &mut message, &mut options, &command(40, vec![])).expect("put");
    assert_eq!(server.serve(1_000), Ok(true));
    let mut what = ObjectDescriptor::queue("REPLIES");
    let (replies, _) = connection.open(&mut what, open::INPUT_SHARED).expect("it is there");
    let mut reply = MessageDescriptor { correl_id: message.msg_id, ..Default::default() };
    let mut buffer = Vec::new();
    let mut options = GetOptions::new(get::NO_SYNCPOINT);
    connection.get(replies, &mut reply, &mut options, 1 << 20, &mut buffer).expect("a reply");
    assert_eq!((reply.msg_type, reply.format), (2, FORMAT));
    let reported = read(&buffer, Order::Little).expect("an answer is well formed");
    assert_eq!((reported.header.command, reported.header.completion), (40, 0));
}

#[test]
fn channels_are_asked_about_and_told() {
    let manager = manager();
    let channel = || (3501, text("R"));
    let create = vec![channel(), (1511, Content::Integer(3))];
    assert_eq!(reason(&ask(&manager, 23, create)), (0, 0));
    assert_eq!(reason(&ask(&manager, 42, vec![channel()])), (2, 3065));
    assert_eq!(reason(&ask(&manager, 29, vec![channel()])), (0, 0));
    let answers = ask(&manager, 42, vec![channel()]);
    assert_eq!(integer(&answers[0], 1527), Some(6), "stopped");
    assert_eq!(reason(&ask(&manager, 28, vec![(3501, text("NONE"))])), (2, 4032));
    assert_eq!(reason(&ask(&manager, 27, vec![channel(), (1514, Content::Integer(9))])), (0, 0));
}

#[test]
fn once_authority_is_recorded_only_administrators_are_served() {
    let options = queue_manager::Options {
        users: Some(std::sync::Arc::new(Nobody)),
        ..queue_manager::Options::new("QM1")
    };
    let store = store_suite::model::ModelStore::new();
    let manager = queue_manager::QueueManager::open(&store, options).expect("it opens");
    assert!(manager.may_administer("bob"));
    let console = mqsc::Console::new(&manager);
    let record = "SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('bob') AUTHADD(CONNECT)";
    assert!(!console.execute(record).failed);
    assert!(!manager.may_administer("bob") && manager.may_administer("holdfast"));
}

/// Users of whom the queue manager's own is the one administrator.
struct Nobody;

impl queue_manager::Users for Nobody {
    fn is_administrator(&self, user: &str) -> bool {
        user == "holdfast"
    }

    fn groups(&self, _: &str) -> Vec<String> {
        Vec::new()
    }
}

#[test]
fn a_report_that_was_sent_to_the_command_queue_is_no_command() {
    let manager = manager();
    ask(&manager, 11, vec![(NAME, text("ANY")), (TYPE, LOCAL)]);
    let mut connection = connected(&manager);
    // Its arrival is to be reported with all of it: a command. The report is a dead letter.
    let mut message = MessageDescriptor {
        report: 0x700,
        format: FORMAT,
        reply_to_q: ObjectName::from(COMMAND_QUEUE),
        ..MessageDescriptor::default()
    };
    let mut what = ObjectDescriptor::queue("ANY");
    let mut options = PutOptions { options: put::NO_SYNCPOINT, ..PutOptions::default() };
    let create = command(11, vec![(NAME, text("MADE")), (TYPE, LOCAL)]);
    connection.put1(&mut what, &mut message, &mut options, &create).expect("it is put");
    let mut server = CommandServer::open(&manager).expect("the command queue is there");
    assert_eq!(server.serve(0), Ok(false), "no report has come");
    // A user who may put there may put a report, too.
    let mut report = MessageDescriptor { msg_type: 4, format: FORMAT, ..Default::default() };
    let mut what = ObjectDescriptor::queue(COMMAND_QUEUE);
    connection.put1(&mut what, &mut report, &mut options, &create).expect("it is put");
    assert_eq!(server.serve(0), Ok(true), "the report has come");
    assert_eq!(reason(&ask(&manager, 13, vec![(NAME, text("MADE"))])), (2, 2085));
}
