//! Page sets: where messages are kept, and when a queue changes to another one.

use queue_manager::AdminError;
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
