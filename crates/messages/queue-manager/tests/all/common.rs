//! A queue manager on the model store, and calls in a few words.
#![allow(dead_code)] // each test uses its part

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use queue_manager::objects::{Kind, Value};
use queue_manager::options::value::{get, open, put};
use queue_manager::options::{
    ConnectOptions, GetOptions, Got, Handle, ObjectDescriptor, PutOptions,
};
use queue_manager::{
    Answer, Connection, MessageDescriptor, Options, Outcome, QueueManager, Reason,
};
use seam::clock::Clock;
use store::Store;
use store_suite::model::ModelStore;

/// A clock that goes when it is told to.
pub(crate) struct TestClock(AtomicU64);

impl TestClock {
    pub(crate) fn pass(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }

    fn utc_us(&self) -> u64 {
        1_764_230_400_000_000 + self.0.load(Ordering::Relaxed) * 1_000
    }

    fn sleep(&self, time: Duration) {
        self.pass(u64::try_from(time.as_millis()).unwrap_or(0));
    }
}

pub(crate) struct System {
    pub(crate) store: ModelStore,
    pub(crate) manager: QueueManager<ModelStore>,
    pub(crate) clock: Arc<TestClock>,
}

pub(crate) type Client = Connection<ModelStore>;

impl System {
    pub(crate) fn new() -> System {
        System::on(&ModelStore::new())
    }

    pub(crate) fn on(store: &ModelStore) -> System {
        let clock = Arc::new(TestClock(AtomicU64::new(0)));
        let options = Options { clock: clock.clone(), ..Options::new("QM1") };
        let manager = QueueManager::open(store, options).expect("it opens");
        System { store: store.clone(), manager, clock }
    }

    /// The same store, opened again.
    pub(crate) fn restarted(&self) -> System {
        System::on(&self.store)
    }

    pub(crate) fn queue(&self, name: &str, attributes: &[(&str, &str)]) {
        self.define(Kind::QueueLocal, name, attributes);
    }

    pub(crate) fn define(&self, kind: Kind, name: &str, attributes: &[(&str, &str)]) {
        let values: Vec<_> = attributes.iter().map(|(k, v)| (*k, Value::from(*v))).collect();
        self.manager.define(kind, name, &values, false, None).expect("it is defined");
    }

    pub(crate) fn alter(&self, name: &str, attribute: &str, value: &str) {
        let values = [(attribute, Value::from(value))];
        self.manager.alter(Kind::QueueLocal, name, &values).expect("it is altered");
    }

    pub(crate) fn connect(&self) -> Client {
        self.manager.connect(ConnectOptions::default()).expect("it connects")
    }

    pub(crate) fn depth(&self, name: &str) -> u64 {
        self.manager.queue_status(name).expect("a queue").depth
    }
}

/// Input, output, browsing, inquiring and setting at once.
pub(crate) const ALL: i32 =
    open::INPUT_SHARED | open::OUTPUT | open::BROWSE | open::INQUIRE | open::SET;

/// What the tests do with a connection.
pub(crate) trait Calls {
    fn open_queue(&mut self, name: &str, options: i32) -> Answer<Handle>;
    fn put_with(
        &mut self,
        to: Handle,
        md: MessageDescriptor,
        options: i32,
        data: &[u8],
    ) -> Answer<MessageDescriptor>;
    fn put_text(&mut self, to: Handle, text: &str) -> MessageDescriptor;
    fn put_in_unit(&mut self, to: Handle, text: &str) -> MessageDescriptor;
    fn get_with(
        &mut self,
        from: Handle,
        md: &mut MessageDescriptor,
        options: &mut GetOptions,
    ) -> Answer<(Got, Vec<u8>)>;
    fn get_text(&mut self, from: Handle, options: i32) -> Result<String, Reason>;
    fn next(&mut self, from: Handle) -> Result<String, Reason> {
        self.get_text(from, get::NO_SYNCPOINT)
    }
}

impl<S: Store> Calls for Connection<S> {
    fn open_queue(&mut self, name: &str, options: i32) -> Answer<Handle> {
        Ok(self.open(&mut ObjectDescriptor::queue(name), options)?.0)
    }

    fn put_with(
        &mut self,
        to: Handle,
        mut md: MessageDescriptor,
        options: i32,
        data: &[u8],
    ) -> Answer<MessageDescriptor> {
        self.put(to, &mut md, &mut PutOptions::new(options), data)?;
        Ok(md)
    }

    fn put_text(&mut self, to: Handle, text: &str) -> MessageDescriptor {
        let md = persistent();
        self.put_with(to, md, put::NO_SYNCPOINT, text.as_bytes()).expect("it is put")
    }

    fn put_in_unit(&mut self, to: Handle, text: &str) -> MessageDescriptor {
        self.put_with(to, persistent(), put::SYNCPOINT, text.as_bytes()).expect("it is put")
    }

    fn get_with(
        &mut self,
        from: Handle,
        md: &mut MessageDescriptor,
        options: &mut GetOptions,
    ) -> Answer<(Got, Vec<u8>)> {
        let mut data = Vec::new();
        let got = self.get(from, md, options, 1 << 20, &mut data)?;
        Ok((got, data))
    }

    fn get_text(&mut self, from: Handle, options: i32) -> Result<String, Reason> {
        let mut md = MessageDescriptor::default();
        let mut options = GetOptions::new(options);
        let (got, data) = self.get_with(from, &mut md, &mut options).map_err(|failed| failed.0)?;
        assert_eq!(got.outcome, Outcome::OK);
        Ok(String::from_utf8(data).expect("text"))
    }
}

pub(crate) fn persistent() -> MessageDescriptor {
    MessageDescriptor { persistence: 1, priority: 0, ..MessageDescriptor::default() }
}

/// The reason of a call that fails.
pub(crate) fn reason<T>(answer: Answer<T>) -> Reason {
    answer.err().map_or(Reason::NONE, |failed| failed.0)
}
