//! Programs put and get messages in a started system, which is killed: what was acknowledged is
//! there once, what was in a unit of work that had not ended is not.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::path::Path;

use mqi::client::Client;
use mqi::place::SOCKET;
use mqi::structures::{Gmo, Md, Od, Pmo};
use mqi::table::{Structure as _, text};
use mqi::wire::{Connecting, Object, Posting, Request, Wanted};
use queue_manager::options::value::{get, open, put as posted};
use queue_manager::{ObjectName, Outcome, Reason};

use crate::common::in_time::EndInTime as _;
use crate::common::{Folder, SECRET, init, on, start};

const QUEUE: &str = "ORDERS";

fn mqsc(dir: &Path, script: &str) -> String {
    let file = dir.with_extension("mqsc");
    std::fs::write(&file, script).unwrap();
    let file = file.display().to_string();
    on(SECRET, &["mqsc", "-s"], dir, &["-f", &file]).done().out
}

/// A program with the queue open.
fn program(dir: &Path) -> (Client, i32) {
    let connecting = Connecting::new(ObjectName::default(), text("TEST"));
    let mut client = Client::connect(&dir.join(SOCKET), connecting).unwrap();
    let mut object = Object::new(Od { object_name: text(QUEUE), ..Od::initial() });
    let options = open::INPUT_SHARED | open::OUTPUT;
    let (outcome, handle, _, _) = client.open(&mut object, options);
    assert_eq!(outcome, Outcome::OK);
    (client, handle)
}

fn put(client: &mut Client, handle: i32, content: &str, options: i32) {
    let mut posting = Posting {
        md: Md { persistence: 1, ..Md::initial() },
        pmo: Pmo { options: options | posted::NEW_MSG_ID, ..Pmo::initial() },
        records: Vec::new(),
        wants_responses: false,
    };
    assert_eq!(client.put(handle, &mut posting, content.as_bytes()).0, Outcome::OK);
}

/// Everything in the queue, in its order, taken for good.
fn all(client: &mut Client, handle: i32) -> Vec<String> {
    let mut found = Vec::new();
    let mut room = [0; 100];
    loop {
        let gmo = Gmo { options: get::NO_SYNCPOINT, ..Gmo::initial() };
        let mut wanted = Wanted { md: Md::initial(), gmo, room: 100 };
        let (outcome, length) = client.get(handle, &mut wanted, &mut room);
        if outcome.reason == Reason::NO_MSG_AVAILABLE {
            return found;
        }
        assert_eq!(outcome, Outcome::OK);
        let content = &room[..usize::try_from(length).unwrap()];
        found.push(String::from_utf8_lossy(content).into_owned());
    }
}

#[test]
fn acknowledged_messages_survive_a_kill_and_units_that_had_not_ended_do_not() {
    let folder = Folder::new("messages");
    let dir = folder.join("qm");
    init(&dir, &[]);
    let mut system = start(&dir);
    // A started system takes commands, too.
    let printed = mqsc(&dir, "DEFINE QLOCAL(ORDERS)\nDISPLAY QLOCAL(ORDERS) CURDEPTH\n");
    assert!(printed.contains("AMQ8006I") && printed.contains("CURDEPTH(0)"), "{printed}");

    let (mut client, handle) = program(&dir);
    (0..20).for_each(|n| put(&mut client, handle, &format!("kept {n}"), posted::NO_SYNCPOINT));
    put(&mut client, handle, "committed", posted::SYNCPOINT);
    assert_eq!(client.plain(&Request::Commit), Outcome::OK);
    put(&mut client, handle, "backed out", posted::SYNCPOINT);
    assert_eq!(client.plain(&Request::Back), Outcome::OK);
    put(&mut client, handle, "in flight", posted::SYNCPOINT);
    system.kill().unwrap();
    system.wait_in_time().unwrap();

    let mut system = start(&dir);
    let (mut client, handle) = program(&dir);
    let mut expected: Vec<String> = (0..20).map(|n| format!("kept {n}")).collect();
    expected.push("committed".to_owned());
    assert_eq!(all(&mut client, handle), expected);
    // One that goes without a word is backed out while the system runs.
    put(&mut client, handle, "half done", posted::SYNCPOINT);
    drop(client);
    let (mut client, handle) = program(&dir);
    assert!(all(&mut client, handle).is_empty());
    assert_eq!(client.disconnect(), Outcome::OK);
    on(SECRET, &["stop", "-s"], &dir, &[]).done();
    system.wait_in_time().unwrap();
    let printed = mqsc(&dir, "DISPLAY QLOCAL(ORDERS) CURDEPTH\n");
    assert!(printed.contains("CURDEPTH(0)"), "{printed}");
}
