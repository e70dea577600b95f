//! A program of the message queue interface drives the bank's transactions over the IMS bridge; the
//! system is killed in the middle: each order is posted once, and answered once.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use mqi::client::Client;
use mqi::place::SOCKET;
use mqi::structures::{Gmo, Iih, Md, Od, Pmo};
use mqi::table::{Structure as _, text};
use mqi::wire::{Connecting, Object, Posting, Request, Wanted};
use queue_manager::options::value::{get, open, put as posted};
use queue_manager::{ObjectName, Outcome, Reason};

use crate::common::in_time::{EndInTime as _, RunInTime as _};
use crate::common::{Folder, SECRET, on, start};
use crate::tellers_work_over_the_network::{bank, entries, unloaded};

const ORDERS: u32 = 300;
const QUEUES: &str = "DEFINE STGCLASS(IMS) XCFGNAME(HOLDFAST) XCFMNAME(HOLDFAST)\n\
    DEFINE QLOCAL(TELLERS) STGCLASS(IMS) DEFPSIST(YES)\n\
    DEFINE QLOCAL(ANSWERS) DEFPSIST(YES)\n\
    ALTER QMGR DEADQ(SYSTEM.DEAD.LETTER.QUEUE)\n";

fn mqsc(dir: &Path, script: &str) -> String {
    let file = dir.with_extension("mqsc");
    std::fs::write(&file, script).unwrap();
    let file = file.display().to_string();
    on(SECRET, &["mqsc", "-s"], dir, &["-f", &file]).done().out
}

fn program(dir: &Path, queue: &str, options: i32) -> (Client, i32) {
    let connecting = Connecting::new(ObjectName::default(), text("TEST"));
    let mut client = Client::connect(&dir.join(SOCKET), connecting).unwrap();
    let mut object = Object::new(Od { object_name: text(queue), ..Od::initial() });
    let (outcome, handle, _, _) = client.open(&mut object, options);
    assert_eq!(outcome, Outcome::OK);
    (client, handle)
}

/// A deposit with that reference, as the bank's tellers send it, with a header in front.
fn order(reference: u32) -> Vec<u8> {
    let printed = format!(
        "TELL    {reference:09}199604011200000101T012341124832101D{:011}AT THE COUNTER          ",
        100 + reference
    );
    let header = Iih { format: text("MQIMSVS"), ..Iih::initial() };
    let mut bytes = vec![0; 84];
    header.put_all(&mut bytes);
    let length = u16::try_from(printed.len() + 4).unwrap();
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&[0, 0]);
    bytes.extend_from_slice(printed.as_bytes());
    bytes
}

fn put(client: &mut Client, handle: i32, content: &[u8]) {
    let md = Md {
        persistence: 1,
        msg_type: 1,
        format: text("MQIMS"),
        reply_to_q: text("ANSWERS"),
        ..Md::initial()
    };
    let options = posted::SYNCPOINT | posted::NEW_MSG_ID;
    let pmo = Pmo { options, ..Pmo::initial() };
    let mut posting = Posting { md, pmo, records: Vec::new(), wants_responses: false };
    assert_eq!(client.put(handle, &mut posting, content).0, Outcome::OK);
}

/// The next answer's reference, as often as it came; `false` if there is none in time.
fn answer(client: &mut Client, handle: i32, seen: &mut BTreeMap<u32, u32>, wait: i32) -> bool {
    let mut room = [0; 500];
    let options = get::NO_SYNCPOINT | get::WAIT;
    let gmo = Gmo { options, wait_interval: wait, ..Gmo::initial() };
    let mut wanted = Wanted { md: Md::initial(), gmo, room: 500 };
    let (outcome, length) = client.get(handle, &mut wanted, &mut room);
    if outcome.reason == Reason::NO_MSG_AVAILABLE {
        return false;
    }
    assert_eq!(outcome, Outcome::OK);
    let content = &room[..usize::try_from(length).unwrap()];
    assert_eq!(&content[..4], b"IIH ");
    let printed = String::from_utf8_lossy(&content[88..]).into_owned();
    assert!(printed.contains("POSTED"), "{printed}");
    *seen.entry(printed[..9].parse().unwrap()).or_default() += 1;
    true
}

#[test]
fn orders_come_over_the_bridge_and_are_posted_once_although_the_system_is_killed() {
    if Command::new("cobc").arg("--version").output_in_time().is_err() {
        eprintln!("skipped: cobc is not installed (Debian package gnucobol3)");
        return;
    }
    let folder = Folder::new("bridge");
    let dir = bank(&folder);
    let mut system = start(&dir);
    let printed = mqsc(&dir, QUEUES);
    assert!(printed.contains("All valid MQSC commands were processed."), "{printed}");
    let (mut client, handle) = program(&dir, "TELLERS", open::OUTPUT);
    for reference in 1..=ORDERS {
        put(&mut client, handle, &order(reference));
    }
    assert_eq!(client.plain(&Request::Commit), Outcome::OK);
    let mut seen = BTreeMap::new();
    {
        // The first transaction waits for the compiler, as long as it takes.
        let (mut client, handle) = program(&dir, "ANSWERS", open::INPUT_SHARED);
        while seen.len() < 20 {
            assert!(answer(&mut client, handle, &mut seen, 120_000), "no answer comes");
        }
    }
    system.kill().unwrap();
    system.wait_in_time().unwrap();

    let mut system = start(&dir);
    let (mut client, handle) = program(&dir, "ANSWERS", open::INPUT_SHARED);
    while seen.len() < ORDERS as usize {
        let came = answer(&mut client, handle, &mut seen, 60_000);
        assert!(came, "{} of {ORDERS} answers came", seen.len());
    }
    assert!(!answer(&mut client, handle, &mut seen, 100), "an answer came twice");
    // What was got before the kill, outside of a unit of work, was gone for good.
    assert!(seen.values().all(|count| *count == 1), "{seen:?}");
    drop(client);
    let queues = ["TELLERS", "ANSWERS", "SYSTEM.DEAD.LETTER.QUEUE"];
    let asked = queues.map(|queue| format!("DISPLAY QLOCAL({queue}) CURDEPTH\n")).concat();
    let printed = mqsc(&dir, &asked);
    assert_eq!(printed.matches("CURDEPTH(0)").count(), 3, "{printed}");
    on(SECRET, &["stop", "-s"], &dir, &[]).done();
    system.wait_in_time().unwrap();
    for database in ["BANKHIST", "BANKCUST"] {
        let found = entries(&unloaded(&dir, &folder, database));
        for reference in 1..=u64::from(ORDERS) {
            let count = found.get(&reference).copied().unwrap_or_default();
            assert_eq!(count, 1, "{reference} in {database}");
        }
    }
}
