//! Connections of this process: which handle is which, and who may use it.
//!
//! Invariants:
//! 1. A connection belongs to the process that made it: a child that has inherited it cannot use
//!    it, and cannot end it.
//! 2. A connection that is not shared is used by the thread that made it, and, while messages are
//!    consumed, by the thread that consumes them.
//! 3. No number stands for two connections of a process.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use mqi::client::Client;
use queue_manager::Reason;
use seam::sync::{Condvar, Mutex, MutexGuard};

use crate::consumers::Consumers;

/// The handle that stands for no connection any more.
pub(crate) const UNUSABLE: i32 = -1;
/// A call is in progress on a connection that does not wait for it.
const CALL_IN_PROGRESS: Reason = Reason(2219);
/// Another thread consumes messages on the connection.
const HCONN_ASYNC_ACTIVE: Reason = Reason(2500);

/// Which threads use a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sharing {
    /// The one that made it.
    None,
    /// All, one after another.
    Block,
    /// All; one that comes while another one calls is refused.
    NoBlock,
}

/// A connection.
pub(crate) struct Connection {
    /// Its handle.
    pub(crate) handle: i32,
    /// Its queue manager.
    pub(crate) manager: String,
    pub(crate) sharing: Sharing,
    process: i32,
    thread: i32,
    client: Mutex<Client>,
    /// How often a transaction manager has it open.
    pub(crate) managed: AtomicI32,
    /// The program has connected by itself, too.
    pub(crate) claimed: AtomicBool,
    /// What is called back.
    pub(crate) consumers: Mutex<Consumers>,
    /// The thread that consumes messages; 0: none does.
    pub(crate) consuming: AtomicI32,
    /// Tells the threads that wait for the consuming thread, and that thread, that something is
    /// new.
    pub(crate) changed: Condvar,
    /// The thread that makes the connection again, within a call; 0: none does.
    pub(crate) reconnecting: AtomicI32,
    /// Whether it is made again when it breaks: its message handles are kept here then.
    pub(crate) reconnects: bool,
}

impl Connection {
    /// The wire, for one call.
    pub(crate) fn client(&self) -> Result<MutexGuard<'_, Client>, Reason> {
        let consuming = self.consuming.load(Ordering::SeqCst);
        if consuming != 0 && consuming != this_thread() {
            return Err(HCONN_ASYNC_ACTIVE);
        }
        if self.reconnecting.load(Ordering::SeqCst) == this_thread() {
            return Err(CALL_IN_PROGRESS);
        }
        match self.sharing {
            Sharing::NoBlock => self.client.try_lock().ok_or(CALL_IN_PROGRESS),
            _ => Ok(self.client.lock()),
        }
    }

    /// The wire, for the thread that consumes messages.
    pub(crate) fn client_of_consumer(&self) -> MutexGuard<'_, Client> {
        self.client.lock()
    }

    fn is_usable(&self) -> bool {
        let thread = this_thread();
        let by_thread = self.sharing != Sharing::None
            || self.thread == thread
            || self.consuming.load(Ordering::SeqCst) == thread;
        self.process == this_process() && by_thread
    }
}

#[derive(Default)]
struct Table {
    last: i32,
    open: BTreeMap<i32, Arc<Connection>>,
}

fn table() -> &'static Mutex<Table> {
    static TABLE: OnceLock<Mutex<Table>> = OnceLock::new();
    TABLE.get_or_init(|| Mutex::new(Table::default()))
}

/// Keeps a connection.
pub(crate) fn keep(
    client: Client,
    sharing: Sharing,
    reconnects: bool,
) -> Result<Arc<Connection>, Reason> {
    let mut table = table().lock();
    let handle = table.last.checked_add(1).ok_or(Reason::HANDLE_NOT_AVAILABLE)?;
    table.last = handle;
    let connection = Arc::new(Connection {
        handle,
        manager: client.name().to_owned(),
        sharing,
        process: this_process(),
        thread: this_thread(),
        client: Mutex::new(client),
        managed: AtomicI32::new(0),
        claimed: AtomicBool::new(true),
        consumers: Mutex::new(Consumers::default()),
        consuming: AtomicI32::new(0),
        changed: Condvar::new(),
        reconnecting: AtomicI32::new(0),
        reconnects,
    });
    table.open.insert(handle, Arc::clone(&connection));
    Ok(connection)
}

/// The connection of a handle, for this thread.
pub(crate) fn find(handle: i32) -> Result<Arc<Connection>, Reason> {
    let found = table().lock().open.get(&handle).cloned();
    found.filter(|connection| connection.is_usable()).ok_or(Reason::HCONN_ERROR)
}

/// The connection that this thread has to a queue manager for itself; blank: to any.
pub(crate) fn own(manager: &str) -> Option<Arc<Connection>> {
    let table = table().lock();
    let own = |one: &&Arc<Connection>| {
        one.sharing == Sharing::None
            && one.thread == this_thread()
            && one.process == this_process()
            && (manager.is_empty() || one.manager == manager)
    };
    table.open.values().find(own).cloned()
}

/// Forgets a connection.
pub(crate) fn forget(handle: i32) {
    let _ = table().lock().open.remove(&handle);
}

/// The number of this thread.
pub(crate) fn this_thread() -> i32 {
    thread_local! {
        static THREAD: i32 = rustix::thread::gettid().as_raw_nonzero().get();
    }
    // While a thread ends, its own variables may be gone already.
    THREAD.try_with(|thread| *thread).unwrap_or_default()
}

fn this_process() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}
