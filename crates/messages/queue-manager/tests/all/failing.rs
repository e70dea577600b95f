//! What programs observe when the store fails under way: a unit of work is kept or backed out
//! whole, and who commits it hears which.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::sync::Arc;
use std::time::Duration;

use queue_manager::objects::{Kind, Value};
use queue_manager::options::value::{get, matching, open, put};
use queue_manager::options::{ConnectOptions, GetOptions, ObjectDescriptor};
use queue_manager::{MessageDescriptor, Options, QueueManager, Reason};
use seam::clock::RealClock;
use seam::sync::Mutex;
use store::{
    Capabilities, CommitSink, Committed, Damage, Entry, Grant, KeyRange, LoadSource, LockMode,
    LockName, Outcome, Read, Savepoint, SetAttributes, SetId, SetInfo, Store, StoreError, Unit,
    UnitOptions, Wait, Waited,
};
use store_suite::model::{ModelCursor, ModelStore, ModelUnit};

use crate::channels::{Link, define_receiver, define_sender, open_on, send};
use crate::common::{ALL, Calls, System, persistent, reason};

/// Three messages of so many bytes are too much for one unit of work of [`narrow`].
const BYTES: usize = 15_000;

fn narrow() -> ModelStore {
    let limits = Capabilities { unit_bytes_max: Some(40_000), ..ModelStore::CAPABILITIES };
    ModelStore::with(limits, Arc::new(RealClock::new()))
}

#[test]
fn a_unit_of_work_that_the_store_gave_up_is_not_committed_from_there_on() {
    let system = System::on(&narrow());
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let text = "x".repeat(BYTES);
    for commits in [true, false] {
        client.put_text(q, "there");
        client.get_text(q, get::SYNCPOINT).unwrap();
        client.put_in_unit(q, &text);
        client.put_in_unit(q, &text);
        let failed = client.put_with(q, persistent(), put::SYNCPOINT, text.as_bytes());
        assert_eq!(reason(failed), Reason::SYNCPOINT_LIMIT_REACHED);
        let volatile = MessageDescriptor { persistence: 0, ..persistent() };
        let more = client.put_with(q, volatile, put::SYNCPOINT, b"more");
        assert_eq!(reason(more), Reason::BACKED_OUT);
        assert_eq!(client.get_text(q, get::SYNCPOINT), Err(Reason::BACKED_OUT));
        assert_eq!(reason(client.begin()), Reason::UOW_IN_PROGRESS);
        if commits {
            assert_eq!(reason(client.commit()), Reason::BACKED_OUT);
        } else {
            client.back().unwrap();
        }
        assert_eq!(client.next(q).as_deref(), Ok("there"));
        assert_eq!(client.next(q), Err(Reason::NO_MSG_AVAILABLE));
        client.put_in_unit(q, "after");
        client.commit().unwrap();
        assert_eq!(client.next(q).as_deref(), Ok("after"));
    }
}

#[test]
fn a_batch_that_the_store_gave_up_is_not_confirmed() {
    let (from, to) = (open_on(&ModelStore::new(), "QM1"), open_on(&narrow(), "QM2"));
    define_sender(&from);
    define_receiver(&to);
    send(&from, (0..3).map(|_| "x".repeat(BYTES)));
    let (mut link, _) = Link::meet(&from, &to).unwrap();
    assert!(link.run(|| true).is_err());
    drop(link);
    let depths = ["IN", "SYSTEM.DEAD.LETTER.QUEUE"].map(|it| to.queue_status(it).unwrap().depth);
    assert_eq!(depths, [0, 0]);
    assert_eq!(from.channels().in_doubt(), Vec::<String>::new());
}

#[test]
fn a_publication_that_costs_the_unit_of_work_is_told_so() {
    let system = System::on(&narrow());
    system.queue("Q", &[]);
    system.define(Kind::Subscription, "S", &[("TOPICSTR", "news"), ("DEST", "Q")]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    let mut what = ObjectDescriptor::topic("news");
    let (topic, _) = client.open(&mut what, open::OUTPUT).unwrap();
    let text = "x".repeat(BYTES);
    client.put_in_unit(q, &text);
    client.put_in_unit(q, &text);
    let published = client.put_with(topic, persistent(), put::SYNCPOINT, text.as_bytes());
    assert_eq!(reason(published), Reason::BACKED_OUT);
    assert_eq!(reason(client.commit()), Reason::BACKED_OUT);
    assert_eq!((system.depth("Q"), system.depth("SYSTEM.DEAD.LETTER.QUEUE")), (0, 0));
}

#[test]
fn a_message_that_cannot_be_moved_waits_where_it_is() {
    let system = System::new();
    system.queue("Q", &[("BOTHRESH", "1"), ("BOQNAME", "POISON")]);
    system.queue("POISON", &[("PUT", "DISABLED")]);
    let settings = [("BOMOVE", Value::from("YES")), ("DEADQ", Value::from(""))];
    system.manager.alter(Kind::QueueManager, "QM1", &settings).unwrap();
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).unwrap();
    client.put_text(q, "bad");
    for _ in 0..2 {
        assert_eq!(client.get_text(q, get::SYNCPOINT).as_deref(), Ok("bad"));
        client.back().unwrap();
    }
    assert_eq!((system.depth("Q"), system.depth("POISON")), (1, 0));
}

/// A fault to come: behind so many changes, one fails in that way.
type Fault = Arc<Mutex<Option<(u32, StoreError)>>>;

/// Keys that nobody can read.
type Damaged = Arc<Mutex<Vec<Vec<u8>>>>;

/// The model, with faults.
#[derive(Clone, Default)]
struct Faulty {
    model: ModelStore,
    fault: Fault,
    damaged: Damaged,
}

struct FaultyUnit {
    model: ModelUnit,
    fault: Fault,
    damaged: Damaged,
}

impl Faulty {
    fn fail_behind(&self, changes: u32, error: StoreError) {
        *self.fault.lock() = Some((changes, error));
    }

    fn manager(&self) -> QueueManager<Faulty> {
        QueueManager::open(self, Options::new("QM1")).expect("it opens")
    }
}

impl Store for Faulty {
    type Unit = FaultyUnit;
    type Cursor = ModelCursor;

    fn capabilities(&self) -> &Capabilities {
        self.model.capabilities()
    }

    fn begin(&self, options: UnitOptions) -> store::Result<FaultyUnit> {
        let (fault, damaged) = (Arc::clone(&self.fault), Arc::clone(&self.damaged));
        Ok(FaultyUnit { model: self.model.begin(options)?, fault, damaged })
    }

    fn cursor(&self, set: SetId) -> store::Result<ModelCursor> {
        self.model.cursor(set)
    }

    fn create_set(&self, name: &str, attributes: &SetAttributes) -> store::Result<SetId> {
        self.model.create_set(name, attributes)
    }

    fn drop_set(&self, set: SetId) -> store::Result<()> {
        self.model.drop_set(set)
    }

    fn empty_set(&self, set: SetId) -> store::Result<()> {
        self.model.empty_set(set)
    }

    fn set(&self, name: &str) -> store::Result<Option<SetId>> {
        self.model.set(name)
    }

    fn sets(&self) -> store::Result<Vec<SetInfo>> {
        self.model.sets()
    }

    fn load_sorted(&self, set: SetId, source: &mut impl LoadSource) -> store::Result<u64> {
        self.model.load_sorted(set, source)
    }

    fn draw(&self, set: SetId, count: u32) -> store::Result<u64> {
        self.model.draw(set, count)
    }

    fn wait_durable(&self) -> store::Result<()> {
        self.model.wait_durable()
    }
}

impl FaultyUnit {
    fn change(&self) -> store::Result<()> {
        let mut fault = self.fault.lock();
        match fault.take() {
            None => Ok(()),
            Some((0, error)) => Err(error),
            Some((left, error)) => {
                *fault = Some((left - 1, error));
                Ok(())
            }
        }
    }
}

impl Unit for FaultyUnit {
    type Cursor = ModelCursor;

    fn get(
        &mut self,
        set: SetId,
        key: &[u8],
        read: Read,
        value: &mut Vec<u8>,
    ) -> store::Result<bool> {
        if self.damaged.lock().iter().any(|damaged| damaged == key) {
            let (object, detail, recovery) = ("a key".into(), "x".into(), "none".into());
            return Err(StoreError::Damaged(Damage { object, detail, recovery }.into()));
        }
        self.model.get(set, key, read, value)
    }

    fn insert(&mut self, set: SetId, key: &[u8], value: &[u8]) -> store::Result<Outcome> {
        self.change()?;
        self.model.insert(set, key, value)
    }

    fn replace(&mut self, set: SetId, key: &[u8], value: &[u8]) -> store::Result<Outcome> {
        self.change()?;
        self.model.replace(set, key, value)
    }

    fn put(&mut self, set: SetId, key: &[u8], value: &[u8]) -> store::Result<()> {
        self.change()?;
        self.model.put(set, key, value)
    }

    fn delete(&mut self, set: SetId, key: &[u8]) -> store::Result<Outcome> {
        self.change()?;
        self.model.delete(set, key)
    }

    fn delete_range(&mut self, set: SetId, range: KeyRange<'_>) -> store::Result<u64> {
        self.change()?;
        self.model.delete_range(set, range)
    }

    fn next<'c>(
        &mut self,
        cursor: &'c mut ModelCursor,
        read: Read,
    ) -> store::Result<Option<Entry<'c>>> {
        self.model.next(cursor, read)
    }

    fn previous<'c>(
        &mut self,
        cursor: &'c mut ModelCursor,
        read: Read,
    ) -> store::Result<Option<Entry<'c>>> {
        self.model.previous(cursor, read)
    }

    fn current<'c>(
        &mut self,
        cursor: &'c mut ModelCursor,
        read: Read,
    ) -> store::Result<Option<Entry<'c>>> {
        self.model.current(cursor, read)
    }

    fn claim_next<'c>(&mut self, cursor: &'c mut ModelCursor) -> store::Result<Option<Entry<'c>>> {
        self.model.claim_next(cursor)
    }

    fn lock(&mut self, name: LockName<'_>, mode: LockMode, wait: Wait) -> store::Result<Grant> {
        self.model.lock(name, mode, wait)
    }

    fn unlock(&mut self, name: LockName<'_>) -> store::Result<bool> {
        self.model.unlock(name)
    }

    fn held(&self, name: LockName<'_>) -> Option<LockMode> {
        self.model.held(name)
    }

    fn savepoint(&mut self) -> store::Result<Savepoint> {
        self.model.savepoint()
    }

    fn rollback_to(&mut self, savepoint: Savepoint) -> store::Result<()> {
        self.model.rollback_to(savepoint)
    }

    fn failure(&self) -> Option<&StoreError> {
        self.model.failure()
    }

    fn commit(self) -> store::Result<Committed> {
        self.model.commit()
    }

    fn commit_queued(self, sink: &Arc<dyn CommitSink>, token: u64) -> store::Result<()> {
        self.model.commit_queued(sink, token)
    }

    fn backout(self) -> store::Result<()> {
        self.model.backout()
    }
}

#[test]
fn after_a_wait_that_was_too_long_the_unit_of_work_goes_on() {
    let store = Faulty::default();
    let manager = store.manager();
    manager.define(Kind::QueueLocal, "Q", &[], false, None).unwrap();
    let mut client = manager.connect(ConnectOptions::default()).unwrap();
    let q = client.open_queue("Q", ALL).unwrap();
    client.put_in_unit(q, "one");
    let waited = Waited { what: "a key".into(), waited: Duration::ZERO, holder: None };
    store.fail_behind(0, StoreError::Timeout(waited.into()));
    let failed = client.put_with(q, persistent(), put::SYNCPOINT, b"two");
    assert_eq!(reason(failed), Reason::RESOURCE_PROBLEM);
    client.put_in_unit(q, "three");
    client.commit().unwrap();
    assert_eq!(client.next(q).as_deref(), Ok("one"));
    assert_eq!(client.next(q).as_deref(), Ok("three"));
}

fn no_space() -> StoreError {
    StoreError::NoSpace("the log".into())
}

#[test]
fn a_large_message_is_put_whole_or_not_at_all() {
    let store = Faulty::default();
    let manager = store.manager();
    manager.define(Kind::QueueLocal, "Q", &[], false, None).unwrap();
    let mut client = manager.connect(ConnectOptions::default()).unwrap();
    let q = client.open_queue("Q", ALL).unwrap();
    client.put_in_unit(q, "one");
    store.fail_behind(3, no_space());
    let failed = client.put_with(q, persistent(), put::SYNCPOINT, &[b'x'; 200_000]);
    assert_eq!(reason(failed), Reason::STORAGE_MEDIUM_FULL);
    client.commit().unwrap();
    drop((client, manager));
    let manager = store.manager();
    assert_eq!(manager.queue_status("Q").unwrap().depth, 1);
    let mut client = manager.connect(ConnectOptions::default()).unwrap();
    let q = client.open_queue("Q", ALL).unwrap();
    assert_eq!(client.next(q).as_deref(), Ok("one"));
}

#[test]
fn a_large_message_is_got_whole_or_not_at_all() {
    let store = Faulty::default();
    let manager = store.manager();
    manager.define(Kind::QueueLocal, "Q", &[], false, None).unwrap();
    let mut client = manager.connect(ConnectOptions::default()).unwrap();
    let q = client.open_queue("Q", ALL).unwrap();
    let text = "x".repeat(200_000);
    client.put_text(q, &text);
    client.put_in_unit(q, "other");
    store.fail_behind(3, no_space());
    assert_eq!(client.get_text(q, get::SYNCPOINT), Err(Reason::STORAGE_MEDIUM_FULL));
    client.commit().unwrap();
    drop((client, manager));
    let manager = store.manager();
    let mut client = manager.connect(ConnectOptions::default()).unwrap();
    let q = client.open_queue("Q", ALL).unwrap();
    assert_eq!(client.next(q).as_deref(), Ok(&*text));
    assert_eq!(client.next(q).as_deref(), Ok("other"));
}

#[test]
fn a_message_in_segments_is_got_whole_or_not_at_all() {
    let store = Faulty::default();
    let manager = store.manager();
    manager.define(Kind::QueueLocal, "Q", &[], false, None).unwrap();
    let mut client = manager.connect(ConnectOptions::default()).unwrap();
    let q = client.open_queue("Q", ALL).unwrap();
    let order = put::LOGICAL_ORDER | put::NO_SYNCPOINT;
    for (msg_flags, data) in [(2, b"a"), (2, b"b"), (4, b"c")] {
        let md = MessageDescriptor { msg_flags, ..persistent() };
        client.put_with(q, md, order, data).unwrap();
    }
    for unit in [get::SYNCPOINT, get::NO_SYNCPOINT] {
        store.fail_behind(1, no_space());
        let failed = client.get_text(q, unit | get::COMPLETE_MSG);
        assert_eq!(failed, Err(Reason::STORAGE_MEDIUM_FULL));
        client.commit().unwrap();
    }
    assert_eq!(client.get_text(q, get::NO_SYNCPOINT | get::COMPLETE_MSG).as_deref(), Ok("abc"));
}

#[test]
fn a_lock_ends_with_the_get_and_a_backout_to_a_point_gives_the_message_to_all() {
    let system = System::new();
    system.queue("Q", &[]);
    let (mut client, mut other) = (system.connect(), system.connect());
    let q = client.open_queue("Q", ALL).unwrap();
    let same = other.open_queue("Q", ALL).unwrap();
    client.put_text(q, "one");
    client.lend(Some(system.store.begin(UnitOptions::default()).unwrap()));
    client.get_text(q, get::BROWSE_FIRST | get::LOCK).unwrap();
    let point = client.point();
    client.get_text(q, get::MSG_UNDER_CURSOR | get::SYNCPOINT).unwrap();
    client.leave().unwrap().backout().unwrap();
    client.return_to(point);
    assert_eq!(other.next(same).as_deref(), Ok("one"));
}

// No index was ever built: each get by an identifier failed.
#[test]
fn a_message_that_cannot_be_read_keeps_no_other_from_being_found() {
    let store = Faulty::default();
    let manager = store.manager();
    manager.define(Kind::QueueLocal, "Q", &[], false, None).unwrap();
    let mut client = manager.connect(ConnectOptions::default()).unwrap();
    let q = client.open_queue("Q", ALL).unwrap();
    let ids = ["one", "two", "three"].map(|text| client.put_text(q, text).msg_id);
    let set = store.model.set("HOLDFAST.MQ.MESSAGES").unwrap().unwrap();
    let mut unit = store.model.begin(UnitOptions::READ_ONLY).unwrap();
    let mut cursor = store.model.cursor(set).unwrap();
    let first = unit.next(&mut cursor, Read::Unlocked).unwrap().map(|entry| entry.key.to_vec());
    unit.backout().unwrap();
    store.damaged.lock().extend(first);
    let mut by_id = |msg_id| {
        let mut md = MessageDescriptor { msg_id, ..MessageDescriptor::default() };
        let match_options = matching::MSG_ID;
        let mut options = GetOptions { match_options, ..GetOptions::new(get::NO_SYNCPOINT) };
        client.get_with(q, &mut md, &mut options).map(|(_, data)| data).map_err(|it| it.0)
    };
    assert_eq!(by_id(ids[2]).as_deref(), Ok(&b"three"[..]));
    assert_eq!(by_id(ids[0]), Err(Reason::NO_MSG_AVAILABLE));
    assert_eq!(by_id(ids[1]).as_deref(), Ok(&b"two"[..]));
    assert_eq!(manager.queue_status("Q").unwrap().damaged, 1);
}

// It was forgotten first: it came back with the next start.
#[test]
fn a_retained_publication_that_cannot_be_cleared_is_retained() {
    let store = Faulty::default();
    let manager = store.manager();
    let mut client = manager.connect(ConnectOptions::default()).unwrap();
    let (topic, _) = client.open(&mut ObjectDescriptor::topic("news"), open::OUTPUT).unwrap();
    client.put_with(topic, persistent(), put::RETAIN | put::NO_SYNCPOINT, b"old").unwrap();
    store.fail_behind(0, no_space());
    assert_eq!(reason(manager.clear_retained("news")), Reason::STORAGE_MEDIUM_FULL);
    assert_eq!(manager.clear_retained("news"), Ok(true));
    assert_eq!(manager.clear_retained("news"), Ok(false));
}

#[test]
fn a_retained_publication_that_a_program_has_got_is_cleared_once_it_is_gone() {
    let system = System::new();
    let mut client = system.connect();
    let (topic, _) = client.open(&mut ObjectDescriptor::topic("news"), open::OUTPUT).unwrap();
    client.put_with(topic, persistent(), put::RETAIN | put::NO_SYNCPOINT, b"old").unwrap();
    let q = client.open_queue("SYSTEM.RETAINED.PUB.QUEUE", open::INPUT_SHARED).unwrap();
    let mut options = GetOptions::new(get::SYNCPOINT);
    client.get_with(q, &mut MessageDescriptor::default(), &mut options).unwrap();
    assert_eq!(reason(system.manager.clear_retained("news")), Reason::NO_MSG_AVAILABLE);
    client.commit().unwrap();
    assert_eq!(system.manager.clear_retained("news"), Ok(false));
}
