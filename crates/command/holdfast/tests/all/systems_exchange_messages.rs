//! Two started systems with a channel between them: each message arrives once, though either is
//! killed again and again; programs of administration, trigger messages and dead letters are
//! served.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Child;

use mqi::client::Client;
use mqi::place::SOCKET;
use mqi::structures::{Gmo, Md, Od, Pmo};
use mqi::table::{Structure as _, text};
use mqi::wire::{Connecting, Object, Posting, Wanted};
use mqsc::pcf::wire::{Content, Header, Message, Order, Parameter, read, write};
use queue_manager::options::value::{get, open, put as posted};
use queue_manager::{ObjectName, Outcome, Reason};

use crate::common::in_time::EndInTime as _;
use crate::common::{Folder, SECRET, init, on, start};

/// Milliseconds that a test waits for what must come.
const PATIENCE_MS: i32 = 60_000;

fn mqsc(dir: &Path, script: &str) -> String {
    let file = dir.with_extension("mqsc");
    std::fs::write(&file, script).unwrap();
    let file = file.display().to_string();
    on(SECRET, &["mqsc", "-s"], dir, &["-f", &file]).done().out
}

/// A system with a port for partners.
fn system(folder: &Folder, name: &str) -> (PathBuf, u16) {
    let dir = folder.join(name);
    init(&dir, &[]);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = dir.join("holdfast.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let line = text.lines().find(|line| line.starts_with("#: listen = ")).unwrap();
    let text = text.replace(line, &format!("listen = [\"127.0.0.1:{port}\"]"));
    std::fs::write(&config, text).unwrap();
    (dir, port)
}

fn connect(dir: &Path) -> Client {
    let connecting = Connecting::new(ObjectName::default(), text("TEST"));
    Client::connect(&dir.join(SOCKET), connecting).unwrap()
}

fn put(client: &mut Client, (queue, manager): (&str, &str), md: Md, content: &[u8]) -> Outcome {
    let od = Od { object_name: text(queue), object_q_mgr_name: text(manager), ..Od::initial() };
    let mut posting = Posting {
        md,
        pmo: Pmo { options: posted::NO_SYNCPOINT | posted::NEW_MSG_ID, ..Pmo::initial() },
        records: Vec::new(),
        wants_responses: false,
    };
    client.put1(&mut Object::new(od), &mut posting, content).0
}

fn persistent() -> Md {
    Md { persistence: 1, ..Md::initial() }
}

fn next(client: &mut Client, queue: &str, wait_interval: i32) -> Option<Vec<u8>> {
    let mut object = Object::new(Od { object_name: text(queue), ..Od::initial() });
    let (outcome, handle, _, _) = client.open(&mut object, open::INPUT_SHARED);
    assert_eq!(outcome, Outcome::OK);
    let mut room = vec![0; 10_000];
    let gmo = Gmo { options: get::WAIT | get::NO_SYNCPOINT, wait_interval, ..Gmo::initial() };
    let mut wanted = Wanted { md: Md::initial(), gmo, room: 10_000 };
    let (outcome, length) = client.get(handle, &mut wanted, &mut room);
    if outcome.reason == Reason::NO_MSG_AVAILABLE {
        return None;
    }
    assert_eq!(outcome, Outcome::OK);
    room.truncate(usize::try_from(length).unwrap());
    Some(room)
}

fn kill(system: &mut Child) {
    system.kill().unwrap();
    system.wait_in_time().unwrap();
}

const SENDER: &str = "DEFINE QLOCAL(TWO) USAGE(XMITQ) TRIGGER INITQ(SYSTEM.CHANNEL.INITQ)
DEFINE QREMOTE(OUT) RNAME(IN) RQMNAME(TWO)
DEFINE CHANNEL(TO.TWO) CHLTYPE(SDR) XMITQ(TWO) CONNAME('127.0.0.1(PORT)') +
  SHORTTMR(0) SHORTRTY(999999) BATCHSZ(7)
";

#[test]
fn each_message_arrives_once_though_both_systems_are_killed() {
    let folder = Folder::new("exchange");
    let (one, _) = system(&folder, "one");
    let (two, port) = system(&folder, "two");
    let (mut first, mut second) = (start(&one), start(&two));
    mqsc(&one, &SENDER.replace("PORT", &port.to_string()));
    mqsc(&two, "DEFINE QLOCAL(IN)\nDEFINE CHANNEL(TO.TWO) CHLTYPE(RCVR)\n");
    let mut got = Vec::new();
    for round in 0..4 {
        let mut client = connect(&one);
        for number in 0..25 {
            let content = format!("{round}-{number}");
            let outcome = put(&mut client, ("OUT", ""), persistent(), content.as_bytes());
            assert_eq!(outcome, Outcome::OK, "{content}");
        }
        drop(client);
        // Some are carried; what is on its way when the kill comes is nobody's for a while.
        let mut other = connect(&two);
        for _ in 0..(round * 5) {
            let message = next(&mut other, "IN", PATIENCE_MS).expect("it comes");
            got.push(String::from_utf8(message).unwrap());
        }
        drop(other);
        if round % 2 == 0 {
            kill(&mut first);
            first = start(&one);
        } else {
            kill(&mut second);
            second = start(&two);
        }
    }
    let expected: Vec<String> =
        (0..4).flat_map(|round| (0..25).map(move |number| format!("{round}-{number}"))).collect();
    let mut other = connect(&two);
    while got.len() < expected.len() {
        let message = next(&mut other, "IN", PATIENCE_MS).expect("it comes");
        got.push(String::from_utf8(message).unwrap());
    }
    assert_eq!(got, expected);
    assert_eq!(next(&mut other, "IN", 0), None);
    let printed = mqsc(&one, "DISPLAY CHSTATUS(TO.TWO) ALL\nDISPLAY QSTATUS(TWO)\n");
    assert!(printed.contains("STATUS(RUNNING)") && printed.contains("RQMNAME(TWO)"), "{printed}");
    on(SECRET, &["stop", "-s"], &one, &[]).done();
    on(SECRET, &["stop", "-s"], &two, &[]).done();
    first.wait_in_time().unwrap();
    second.wait_in_time().unwrap();
}

/// A command message that inquires queues by a generic name.
fn inquiry() -> Vec<u8> {
    let header = Header {
        kind: 1,
        version: 1,
        command: 13,
        sequence: 1,
        last: true,
        completion: 0,
        reason: 0,
    };
    let parameters = vec![Parameter { id: 2016, content: Content::Text("APP.*".into()) }];
    write(&Message { header, parameters }, Order::Little)
}

#[test]
fn a_started_system_serves_command_messages_triggers_and_dead_letters() {
    let folder = Folder::new("served");
    let (dir, _) = system(&folder, "serves");
    let mut process = start(&dir);
    let reported = folder.join("told");
    let script = format!(
        "DEFINE PROCESS(P) APPLICID('printf %.12s >{}')\n\
         DEFINE QLOCAL(APP.IN) TRIGGER TRIGTYPE(FIRST) PROCESS(P) +\n  \
         INITQ(SYSTEM.DEFAULT.INITIATION.QUEUE)\n\
         DEFINE QLOCAL(APP.SMALL) MAXDEPTH(1)\nDEFINE QLOCAL(APP.FAILED)\nDEFINE QLOCAL(ANSWERS)\n",
        reported.display()
    );
    let printed = mqsc(&dir, &script);
    assert!(printed.contains("All valid MQSC commands were processed."), "{printed}");

    let mut client = connect(&dir);
    let md =
        Md { msg_type: 1, format: text("MQADMIN"), reply_to_q: text("ANSWERS"), ..persistent() };
    let asked = put(&mut client, ("SYSTEM.ADMIN.COMMAND.QUEUE", ""), md, &inquiry());
    assert_eq!(asked, Outcome::OK);
    let answer = next(&mut client, "ANSWERS", PATIENCE_MS).expect("it is answered");
    let answer = read(&answer, Order::Little).unwrap();
    assert_eq!((answer.header.kind, answer.header.completion), (2, 0));
    let named = answer.parameters.iter().find(|one| one.id == 2016).unwrap();
    assert_eq!(named.content, Content::Text("APP.FAILED".into()));

    let before = put(&mut client, ("APP.IN", ""), persistent(), b"work");
    assert_eq!(before, Outcome::OK);
    let ended = on(SECRET, &["mq", "trigger-monitor", "--once", "-s"], &dir, &[]).done();
    assert!(ended.out.contains("queue APP.IN: printf"), "{}", ended.out);
    assert_eq!(std::fs::read_to_string(&reported).unwrap(), "TMC    2APP.");

    dead_letters(&folder, &dir, &mut client);
    let status = on(SECRET, &["status"], &dir, &[]).done().out;
    assert!(status.contains("messages wait on") && status.contains(" s on "), "{status}");
    on(SECRET, &["stop", "-s"], &dir, &[]).done();
    process.wait_in_time().unwrap();
}

/// A dead letter for a queue.
fn dead(queue: &str, reason: i32, content: &str) -> Vec<u8> {
    let header = mqi::structures::Dlh {
        reason,
        dest_q_name: text(queue),
        dest_q_mgr_name: text("SERVES"),
        encoding: 546,
        ccsid: 1208,
        format: text("MQSTR"),
        ..mqi::structures::Dlh::initial()
    };
    let mut bytes = vec![0; 172];
    header.put_all(&mut bytes);
    bytes.extend_from_slice(content.as_bytes());
    bytes
}

fn dead_letters(folder: &Folder, dir: &Path, client: &mut Client) {
    let letters = [
        ("APP.SMALL", 2053, "again"),
        ("NONE", 2085, "elsewhere"),
        ("X", 2051, "left"),
        // The maker of this one wants a program started.
        ("SYSTEM.DEFAULT.INITIATION.QUEUE", 2053, "TM  "),
    ];
    for (queue, reason, content) in letters {
        let md = Md { format: text("MQDEAD"), ..persistent() };
        let bytes = dead(queue, reason, content);
        assert_eq!(put(client, ("SYSTEM.DEAD.LETTER.QUEUE", ""), md, &bytes), Outcome::OK);
    }
    let rules = folder.join("rules");
    let table = "WAIT(NO) RETRYINT(1)\nREASON(MQRC_Q_FULL) ACTION(RETRY) RETRY(2)\n\
                 REASON(2085) ACTION(FWD) FWDQ(APP.FAILED) HEADER(YES)\n";
    std::fs::write(&rules, table).unwrap();
    let rules = rules.display().to_string();
    let ended = on(SECRET, &["mq", "dlq", "-s"], dir, &[&rules]).done();
    let expected = "1 put where they were for, 1 sent elsewhere, 0 thrown away, 2 left";
    assert!(ended.out.contains(expected), "{} {}", ended.out, ended.err);
    assert!(ended.err.contains("may be carried out"), "{}", ended.err);
    assert_eq!(next(client, "APP.SMALL", 0).as_deref(), Some(&b"again"[..]));
    let forwarded = next(client, "APP.FAILED", 0).unwrap();
    assert_eq!((&forwarded[..4], &forwarded[172..]), (&b"DLH "[..], &b"elsewhere"[..]));
    // A rule that cannot be read does nothing.
    let wrong = folder.join("wrong");
    std::fs::write(&wrong, "ACTION(EAT)\n").unwrap();
    let wrong = wrong.display().to_string();
    let ended = on(SECRET, &["mq", "dlq", "-s"], dir, &[&wrong]);
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("line 1 of the rules"), "{}", ended.err);
}
