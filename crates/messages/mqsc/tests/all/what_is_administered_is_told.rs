//! Events of administration: who commanded what, and what became of objects by it.

use mqsc::Console;
use mqsc::pcf::answer;
use mqsc::pcf::wire::{Content, Header, Message, Order, Parameter, read, write};
use queue_manager::event::{Commander, Origin};
use queue_manager::options::value::{get, open};
use queue_manager::options::{GetOptions, ObjectDescriptor};
use queue_manager::{MessageDescriptor, Reason};

use crate::common::{Manager, connected, done, manager, refused};

const COMMANDS: &str = "SYSTEM.ADMIN.COMMAND.EVENT";
const CONFIGURATIONS: &str = "SYSTEM.ADMIN.CONFIG.EVENT";

fn commanded() -> (Manager, Console<store_suite::model::ModelStore>) {
    let manager = manager();
    let who =
        Commander { user: "anna".into(), origin: Origin::Console, application: "a test".into() };
    let console = Console::new(&manager.commanded_by(who));
    (manager, console)
}

/// The events that wait on a queue, taken off.
fn events(manager: &Manager, queue: &str) -> Vec<Message> {
    let mut connection = connected(manager);
    let mut what = ObjectDescriptor::queue(queue);
    let (handle, _) = connection.open(&mut what, open::INPUT_SHARED).expect("the queue is there");
    let (mut all, mut data) = (Vec::new(), Vec::new());
    loop {
        let mut options = GetOptions::new(get::NO_SYNCPOINT);
        let mut descriptor = MessageDescriptor::default();
        match connection.get(handle, &mut descriptor, &mut options, 1 << 20, &mut data) {
            Ok(_) => {
                // An event is no command, but has its form.
                assert_eq!(data[..4], 7_i32.to_le_bytes());
                data[..4].copy_from_slice(&1_i32.to_le_bytes());
                all.push(read(&data, Order::Little).expect("an event is well formed"));
            }
            Err(failed) => {
                assert_eq!(failed.0, Reason::NO_MSG_AVAILABLE);
                return all;
            }
        }
    }
}

fn content(event: &Message, id: i32) -> &Content {
    let found = event.parameters.iter().find(|one| one.id == id);
    &found.expect("the parameter is there").content
}

fn text(event: &Message, id: i32) -> &str {
    match content(event, id) {
        Content::Text(text) => text.trim_end(),
        other => panic!("no text: {other:?}"),
    }
}

fn heads(events: &[Message]) -> Vec<(i32, i32)> {
    events.iter().map(|one| (one.header.command, one.header.reason)).collect()
}

#[test]
fn a_command_is_told_once_however_it_came() {
    let (manager, console) = commanded();
    done(&console, "DEFINE QLOCAL(BEFORE)");
    done(&console, "ALTER QMGR CMDEV(NODISPLAY)");
    done(&console, "DEFINE QLOCAL(Q) MAXDEPTH(7)");
    done(&console, "DISPLAY QLOCAL(Q)");
    refused(&console, "DEFINE QLOCAL(Q)");
    refused(&console, "DEFINE NONSENSE");
    let who = Commander { user: "otto".into(), origin: Origin::Message, application: "b".into() };
    let by_message = manager.commanded_by(who);
    let header = Header {
        kind: 1,
        version: 1,
        command: 8,
        sequence: 1,
        last: true,
        completion: 0,
        reason: 0,
    };
    let parameters = vec![
        Parameter { id: 2016, content: Content::Text("Q".into()) },
        Parameter { id: 20, content: Content::Integer(1) },
        Parameter { id: 15, content: Content::Integer(9) },
    ];
    // The event has its own order of bytes.
    let command = write(&Message { header, parameters: parameters.clone() }, Order::Big);
    answer(&by_message, &command, Order::Big);
    let escape = vec![
        Parameter { id: 1017, content: Content::Integer(1) },
        Parameter { id: 3014, content: Content::Text("ALTER QLOCAL(Q) MAXDEPTH(8)".into()) },
    ];
    let escape = Message { header: Header { command: 38, ..header }, parameters: escape };
    answer(&by_message, &write(&escape, Order::Little), Order::Little);
    let reported = events(&manager, COMMANDS);
    // The command that asks for events is told itself.
    assert_eq!(heads(&reported), [(99, 2412), (99, 2412), (99, 2413), (99, 2412)]);
    assert_eq!(text(&reported[1], 3075), "DEFINE QLOCAL(Q) MAXDEPTH(7)");
    assert_eq!(content(&reported[1], 1021), &Content::Integer(11));
    assert_eq!(
        (text(&reported[1], 3045), content(&reported[1], 1011)),
        ("anna", &Content::Integer(1))
    );
    assert_eq!(
        (text(&reported[2], 3045), content(&reported[2], 1011)),
        ("otto", &Content::Integer(3))
    );
    assert_eq!(reported[2].parameters[reported[2].parameters.len() - 3..], parameters);
    assert_eq!(content(&reported[2], 8002), &Content::Group(3));
    assert_eq!(text(&reported[3], 3075), "ALTER QLOCAL(Q) MAXDEPTH(8)");
}

#[test]
fn objects_are_told_of_when_they_change_and_when_somebody_asks() {
    let (manager, console) = commanded();
    refused(&console, "REFRESH QMGR TYPE(CONFIGEV)");
    done(&console, "ALTER QMGR CONFIGEV(ENABLED)");
    done(&console, "DEFINE QLOCAL(Q) MAXDEPTH(7)");
    done(&console, "DEFINE QLOCAL(Q) MAXDEPTH(8) REPLACE");
    done(&console, "DEFINE NAMELIST(N) NAMES(ONE, TWO)");
    done(&console, "DELETE QLOCAL(Q)");
    done(&console, "REFRESH QMGR TYPE(CONFIGEV) OBJECT(NAMELIST) NAME(N)");
    done(&console, "ALTER QMGR CONFIGEV(DISABLED)");
    done(&console, "DEFINE QLOCAL(LATER)");
    let reported = events(&manager, CONFIGURATIONS);
    let reasons: Vec<i32> = reported.iter().map(|one| one.header.reason).collect();
    let manager_changed = [2368, 2368];
    let rest = [2367, 2368, 2368, 2367, 2369, 2370];
    assert_eq!(reasons, [&manager_changed[..], &rest[..], &manager_changed[..]].concat());
    assert_eq!(content(&reported[0], 51), &Content::Integer(0));
    assert_eq!(content(&reported[1], 51), &Content::Integer(1));
    assert_eq!((text(&reported[2], 2016), content(&reported[2], 15)), ("Q", &Content::Integer(7)));
    assert_eq!(content(&reported[4], 15), &Content::Integer(8));
    for at in [5, 7] {
        let Content::Texts(names) = content(&reported[at], 2020) else { panic!("no names") };
        let names: Vec<&str> = names.iter().map(|name| name.trim_end()).collect();
        assert_eq!((text(&reported[at], 2010), names), ("N", vec!["ONE", "TWO"]));
    }
}
