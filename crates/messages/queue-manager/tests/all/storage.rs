//! Page sets: where messages are kept, and when a queue changes to another one.

use queue_manager::AdminError;
use queue_manager::branch::{BranchAnswer, BranchCall, BranchId, WorkEnd};
use queue_manager::objects::{Kind, Value};
use queue_manager::options::value::get;
use queue_manager::{Connection, MessageDescriptor, Reason};
use store::{Read, Store, Unit, UnitOptions};
use store_suite::model::ModelStore;

use crate::common::{ALL, Calls, System, persistent};

/// How many entries a set has; `None`: there is no such set.
fn entries(store: &ModelStore, name: &str) -> Option<usize> {
    let set = store.set(name).expect("the store")?;
    let mut unit = store.begin(UnitOptions::READ_ONLY).expect("a unit of work");
    let mut cursor = store.cursor(set).expect("a cursor");
    let mut count = 0;
    while unit.next(&mut cursor, Read::Unlocked).expect("an entry").is_some() {
        count += 1;
    }
    unit.backout().expect("backout");
    Some(count)
}

fn put(system: &System, queue: &str, data: &[u8]) -> Result<(), Reason> {
    let mut client: Connection<ModelStore> = system.connect();
    let handle = client.open_queue(queue, ALL).map_err(|failed| failed.0)?;
    let md = MessageDescriptor { ..persistent() };
    client.put_with(handle, md, 0, data).map(drop).map_err(|failed| failed.0)
}

fn got(system: &System, queue: &str) -> Result<String, Reason> {
    let mut client = system.connect();
    let handle = client.open_queue(queue, ALL).map_err(|failed| failed.0)?;
    client.get_text(handle, get::NO_SYNCPOINT)
}

const FOURTH: &str = "HOLDFAST.MQ.PS04.MESSAGES";

#[test]
fn messages_are_kept_in_the_page_set_that_their_storage_class_names() {
    let system = System::new();
    system.define(Kind::PageSet, "04", &[]);
    system.define(Kind::StorageClass, "FAST", &[("PSID", "4")]);
    system.queue("Q", &[("STGCLASS", "FAST")]);
    system.queue("PLAIN", &[]);
    put(&system, "Q", b"one").expect("it is put");
    put(&system, "PLAIN", b"other").expect("it is put");
    put(&system, "Q", &vec![b'x'; 100_000]).expect("it is put");
    assert_eq!(entries(&system.store, FOURTH), Some(2));
    assert_eq!(entries(&system.store, "HOLDFAST.MQ.PS04.DATA"), Some(4));
    assert_eq!(entries(&system.store, "HOLDFAST.MQ.MESSAGES"), Some(1));
    let sets = system.manager.page_sets().all();
    let counts: Vec<_> = sets.iter().map(|one| (one.number, one.queues, one.messages)).collect();
    // An event of the start is a message, too.
    assert_eq!(counts, [(0, 2, 2), (4, 1, 2)]);
    // A restart finds them there.
    let system = system.restarted();
    assert_eq!(got(&system, "Q").as_deref(), Ok("one"));
    assert_eq!(got(&system, "Q").map(|text| text.len()), Ok(100_000));
    assert_eq!(got(&system, "PLAIN").as_deref(), Ok("other"));
    assert_eq!(entries(&system.store, FOURTH), Some(0));
    assert_eq!(entries(&system.store, "HOLDFAST.MQ.PS04.DATA"), Some(0));
}

#[test]
fn a_queue_changes_its_page_set_when_it_is_empty() {
    let system = System::new();
    system.define(Kind::PageSet, "04", &[]);
    system.define(Kind::StorageClass, "FAST", &[]);
    system.queue("Q", &[("STGCLASS", "FAST")]);
    put(&system, "Q", b"one").expect("it is put");
    let four = [("PSID", Value::Number(4))];
    system.manager.alter(Kind::StorageClass, "FAST", &four).expect("it is altered");
    put(&system, "Q", b"two").expect("it is put");
    assert_eq!(entries(&system.store, FOURTH), Some(0));
    let system = system.restarted();
    assert_eq!(got(&system, "Q").as_deref(), Ok("one"));
    assert_eq!(got(&system, "Q").as_deref(), Ok("two"));
    put(&system, "Q", b"three").expect("it is put");
    assert_eq!(entries(&system.store, FOURTH), Some(1));
    assert_eq!(entries(&system.store, "HOLDFAST.MQ.MESSAGES"), Some(0));
    assert_eq!(got(&system.restarted(), "Q").as_deref(), Ok("three"));
}

/// A system whose queue `Q` has page set 00 and may get 04.
fn with_a_choice() -> System {
    let system = System::new();
    system.define(Kind::PageSet, "04", &[]);
    system.define(Kind::StorageClass, "FAST", &[]);
    system.queue("Q", &[("STGCLASS", "FAST")]);
    system
}

fn go_to(system: &System, page_set: i64) {
    let values = [("PSID", Value::Number(page_set))];
    system.manager.alter(Kind::StorageClass, "FAST", &values).expect("it is altered");
}

fn asked(system: &System, call: &BranchCall) {
    assert_eq!(system.connect().branch(call), Ok(BranchAnswer::Done), "{call:?}");
}

#[test]
fn what_a_prepared_branch_put_keeps_its_queues_page_set_over_a_restart() {
    for commits in [true, false] {
        let branch = BranchId::new(1, b"transaction", b"branch").expect("an identifier");
        let system = with_a_choice();
        let mut client = system.connect();
        let done = |answer| assert_eq!(answer, Ok(BranchAnswer::Done));
        done(client.branch(&BranchCall::Start(branch.clone())));
        let queue = client.open_queue("Q", ALL).expect("it opens");
        client.put_in_unit(queue, "prepared");
        done(client.branch(&BranchCall::End(branch.clone(), WorkEnd::Done)));
        done(client.branch(&BranchCall::Prepare(branch.clone())));
        drop(client);
        // Nothing is seen on the queue when it is to change.
        let system = system.restarted();
        assert_eq!(got(&system, "Q"), Err(Reason::NO_MSG_AVAILABLE));
        go_to(&system, 4);
        put(&system, "Q", b"later").expect("it is put");
        assert_eq!(entries(&system.store, FOURTH), Some(0));
        let system = system.restarted();
        match commits {
            true => asked(&system, &BranchCall::Commit { branch, one_phase: false }),
            false => asked(&system, &BranchCall::BackOut(branch)),
        }
        let system = system.restarted();
        if commits {
            assert_eq!(got(&system, "Q").as_deref(), Ok("prepared"));
        }
        assert_eq!(got(&system, "Q").as_deref(), Ok("later"));
        assert_eq!(got(&system, "Q"), Err(Reason::NO_MSG_AVAILABLE));
        assert_eq!(entries(&system.store, "HOLDFAST.MQ.MESSAGES"), Some(0));
        // Now it goes.
        put(&system, "Q", b"last").expect("it is put");
        assert_eq!(entries(&system.store, FOURTH), Some(1));
    }
}

/// A count of backouts may be written when another one has got the message already, and the queue
/// has gone to another page set. It hid all messages of the queue after the next start.
#[test]
fn a_count_that_outlives_its_message_says_nothing_of_the_queues_page_set() {
    let system = with_a_choice();
    go_to(&system, 4);
    put(&system, "Q", b"one").expect("it is put");
    let set = system.store.set(FOURTH).expect("the store").expect("a set");
    let mut unit = system.store.begin(UnitOptions::default()).expect("a unit of work");
    let mut cursor = system.store.cursor(set).expect("a cursor");
    let entry = unit.next(&mut cursor, Read::Unlocked).expect("an entry").expect("a message");
    let count = [entry.key, b"B"].concat();
    unit.put(set, &count, &1u32.to_le_bytes()).expect("it is put");
    unit.commit().map(drop).expect("commit");
    let mut unit = system.store.begin(UnitOptions::default()).expect("a unit of work");
    assert!(unit.delete(set, &count[..12]).is_ok());
    unit.commit().map(drop).expect("commit");
    let system = system.restarted();
    go_to(&system, 0);
    put(&system, "Q", b"two").expect("it is put");
    assert_eq!(entries(&system.store, "HOLDFAST.MQ.MESSAGES"), Some(1));
    let system = system.restarted();
    assert_eq!(got(&system, "Q").as_deref(), Ok("two"));
}

#[test]
fn a_page_set_that_is_not_defined_takes_no_messages() {
    let system = System::new();
    system.define(Kind::StorageClass, "FAST", &[("PSID", "7")]);
    system.queue("Q", &[("STGCLASS", "FAST")]);
    assert_eq!(put(&system, "Q", b"one"), Err(Reason::PAGESET_ERROR));
    assert_eq!(system.depth("Q"), 0);
    system.define(Kind::PageSet, "07", &[]);
    assert_eq!(put(&system, "Q", b"one"), Ok(()));
}

#[test]
fn a_page_set_in_use_is_not_deleted() {
    let system = System::new();
    let delete = |name: &str| system.manager.delete(Kind::PageSet, name, false);
    let refused = |name: &str| matches!(delete(name), Err(AdminError::Refused { .. }));
    system.define(Kind::PageSet, "04", &[("BUFFPOOL", "0")]);
    system.define(Kind::StorageClass, "FAST", &[("PSID", "4")]);
    system.queue("Q", &[("STGCLASS", "FAST")]);
    put(&system, "Q", b"one").expect("it is put");
    assert!(refused("04") && refused("00"));
    let zero = [("PSID", Value::Number(0))];
    system.manager.alter(Kind::StorageClass, "FAST", &zero).expect("it is altered");
    // Its message is there still.
    assert!(refused("04"));
    assert_eq!(got(&system, "Q").as_deref(), Ok("one"));
    delete("04").expect("it is deleted");
    assert_eq!(entries(&system.store, FOURTH), None);
    put(&system, "Q", b"two").expect("it is put");
    assert_eq!(entries(&system.store, "HOLDFAST.MQ.MESSAGES"), Some(1));
}

#[test]
fn page_sets_and_pools_have_numbers() {
    let system = System::new();
    for (kind, name) in [
        (Kind::PageSet, "4"),
        (Kind::PageSet, "100"),
        (Kind::PageSet, "X1"),
        (Kind::BufferPool, ""),
    ] {
        let defined = system.manager.define(kind, name, &[], false, None);
        assert!(matches!(defined, Err(AdminError::BadName { .. })), "{kind} {name}");
    }
    let pool = |name: &str| system.manager.delete(Kind::BufferPool, name, false);
    system.define(Kind::BufferPool, "03", &[]);
    system.define(Kind::PageSet, "05", &[("BUFFPOOL", "3")]);
    assert!(matches!(pool("03"), Err(AdminError::Refused { .. })));
    assert!(matches!(pool("00"), Err(AdminError::Refused { .. })));
    system.manager.delete(Kind::PageSet, "05", false).expect("it is deleted");
    pool("03").expect("it is deleted");
}
