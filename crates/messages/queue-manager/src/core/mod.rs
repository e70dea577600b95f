//! What the connections of a queue manager share: definitions, queues, topics, messages.
//!
//! | to understand | look at |
//! |---|---|
//! | definitions and the queues they stand for | `registry` |
//! | who may do what | `authority` |
//! | units of work: what is put and got, and what becomes of it | `work` |
//! | where a name leads | `resolve` |
//! | finding a message | `search` |
//! | batches of channels in doubt | `channel_doubts` |
//! | branches of global transactions | `branches` |
//! | events, statistics | `event` |
//! | reports, dead letters, backout | `report`, `dead_letter` |
//! | trigger messages | `trigger` |
//! | messages whose time is over | `expiry` |
//! | whether it runs on; numbers of connections | `running` |
//! | emptying and removing queues | `removal` |
//! | subscriptions and publications | `publish` |
//!
//! 1. Latches are taken in this order: administration, registry, topics, queue. None of the last
//!    three is held across a call of the store.

mod authority;
mod branches;
mod channel_doubts;
mod dead_letter;
pub mod event;
mod expiry;
mod publish;
mod registry;
mod removal;
mod report;
mod resolve;
mod running;
mod search;
mod subscriptions;
mod trigger;
mod work;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use seam::clock::Clock;
use seam::entropy::Entropy;
use seam::sync::Mutex;
use store::{Store, StoreError};

pub use authority::{UNNAMED_USER, Users};
use branches::Branches;
use event::{Counting, Event};
pub(crate) use publish::{Publication, Subscribed, to_hex};
pub(crate) use registry::Definitions;
pub(crate) use report::Report;
pub(crate) use resolve::{Resolved, Target};
use running::Running;
pub(crate) use search::{Found, From, Request};
pub use work::Point;
pub(crate) use work::{TakenEntry, Work};

use crate::channel_state::Table;
use crate::descriptor::Identifier;
use crate::name::{ObjectName, padded};
use crate::objects::Kind;
use crate::options::ConnectOptions;
use crate::queue::Bodies;
use crate::reason::{Answer, Failed, Reason, require};
use crate::status::HandleStatus;
use crate::storage::Storage;
use crate::topic::Topics;

/// What a user wants to do with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum Permission {
    Connect,
    Input,
    Browse,
    Output,
    Inquire,
    Set,
    PassIdentity,
    PassAll,
    SetIdentity,
    SetAll,
    AlternateUser,
    Publish,
    Subscribe,
    Resume,
    Delete,
}

impl Permission {
    /// Whether a program that does that says that a message, or a call, is another user's.
    pub(crate) fn is_for_others(self) -> bool {
        use Permission::{AlternateUser, PassAll, PassIdentity, SetAll, SetIdentity};
        matches!(self, PassIdentity | PassAll | SetIdentity | SetAll | AlternateUser)
    }
}

/// Who may do what.
pub trait Authority: Send + Sync {
    /// Whether `user` may do that with the object.
    fn allows(&self, user: &str, kind: Kind, name: &str, permission: Permission) -> bool;
}

/// How a queue manager is opened.
pub struct Options {
    /// Its name.
    pub name: String,
    /// Its clock.
    pub clock: Arc<dyn Clock>,
    /// Where unique names come from.
    pub entropy: Arc<dyn Entropy>,
    /// Who may do what; none: everybody may do everything.
    pub authority: Option<Arc<dyn Authority>>,
    /// What authority records are told of users; none: records are not asked.
    pub users: Option<Arc<dyn Users>>,
    /// The storage beneath it, for displays; none: nothing is known of it.
    pub storage: Option<Arc<dyn Storage>>,
    /// Connections at a time, at most.
    pub connections_max: usize,
    /// Bytes of messages that are not persistent, and so in memory alone, at most.
    pub memory_bytes_max: u64,
}

impl Options {
    /// A queue manager of that name on this machine's clock, without a limit of users.
    #[must_use]
    pub fn new(name: &str) -> Options {
        Options {
            name: name.to_owned(),
            clock: Arc::new(seam::clock::RealClock::new()),
            entropy: Arc::new(seam::entropy::OsEntropy),
            authority: None,
            users: None,
            storage: None,
            connections_max: 10_000,
            memory_bytes_max: MEMORY_BYTES_MAX,
        }
    }
}

/// Bytes of messages in memory, unless the options say otherwise.
pub const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// What everybody may know of a connection.
pub(crate) struct Client {
    pub(crate) number: u64,
    pub(crate) options: ConnectOptions,
    pub(crate) connected_ms: u64,
    pub(crate) broken: AtomicBool,
    /// 0: it has no unit of work.
    pub(crate) unit_began_ms: AtomicU64,
    pub(crate) unit_messages: AtomicU64,
    pub(crate) handles: Mutex<BTreeMap<i32, HandleStatus>>,
}

/// What the connections share.
pub(crate) struct Core<S: Store> {
    pub(crate) store: S,
    pub(crate) options: Options,
    pub(crate) name: ObjectName,
    pub(crate) bodies: Bodies<S>,
    pub(crate) definitions: Definitions,
    /// Bytes of messages that are in memory alone.
    pub(crate) in_memory: Arc<AtomicU64>,
    pub(crate) topics: Mutex<Topics>,
    pub(crate) clients: Mutex<BTreeMap<u64, Arc<Client>>>,
    pub(crate) channels: Arc<Table>,
    pub(crate) branches: Branches<S>,
    counting: Counting,
    running: Running,
}

impl<S: Store> Core<S> {
    /// Milliseconds since 1970 UTC.
    pub(crate) fn now_ms(&self) -> u64 {
        self.options.clock.utc_us() / 1_000
    }

    /// Tenths of a second since the queue manager was opened; at least 1.
    pub(crate) fn now_tenths(&self) -> u32 {
        self.tenths_of(self.now_ms())
    }

    /// A moment in tenths of a second since the queue manager was opened; at least 1.
    pub(crate) fn tenths_of(&self, ms: u64) -> u32 {
        self.running.tenths_of(ms)
    }

    /// A number for a connection, a handle or a unit of work, unique in this run.
    pub(crate) fn serial(&self) -> u64 {
        self.running.serial()
    }

    /// An identifier that no message ever had: `AMQ `, the queue manager's name, a number.
    pub(crate) fn new_identifier(&self) -> Answer<Identifier> {
        let mut identifier = [0; 24];
        identifier[..4].copy_from_slice(b"AMQ ");
        identifier[4..16].copy_from_slice(&padded::<12>(&self.options.name));
        let number = self.bodies.number().map_err(failed)?;
        identifier[16..].copy_from_slice(&number.to_be_bytes());
        Ok(identifier)
    }

    /// Whether a user may do that.
    pub(crate) fn may(
        &self,
        user: &str,
        kind: Kind,
        name: &str,
        permission: Permission,
    ) -> Answer<()> {
        let authority = self.options.authority.as_ref();
        let allowed = authority.is_none_or(|who| who.allows(user, kind, name, permission));
        let recorded = allowed && self.is_recorded(user, kind, name, permission);
        require(recorded, Reason::NOT_AUTHORIZED)
    }

    /// Whether a message of so many bytes may be kept in memory.
    pub(crate) fn has_memory(&self, bytes: usize) -> Answer<()> {
        let taken = self.in_memory.load(Ordering::Relaxed).saturating_add(bytes as u64);
        require(taken <= self.options.memory_bytes_max, Reason::Q_SPACE_NOT_AVAILABLE)
    }

    /// Fails while the queue manager stops; while it quiesces, if the caller asked for that.
    pub(crate) fn goes_on(&self, fail_if_quiescing: bool) -> Answer<()> {
        self.running.goes_on(fail_if_quiescing)
    }

    pub(crate) fn quiesce(&self) {
        self.running.quiesce();
        self.alarm();
    }

    pub(crate) fn stop(&self) {
        self.running.stop();
        self.alarm();
    }

    /// Lets every getter that waits look again.
    pub(crate) fn alarm(&self) {
        let queues: Vec<_> = self.definitions.registry().queues().cloned().collect();
        for queue in queues {
            queue.alarm();
        }
    }

    /// Admits a connection.
    pub(crate) fn enter(&self, options: ConnectOptions) -> Answer<Arc<Client>> {
        self.goes_on(true)?;
        let name = &self.options.name;
        if let Err(failed) = self.may(&options.user, Kind::QueueManager, name, Permission::Connect)
        {
            let (user, application) = (&*options.user, &*options.application);
            self.event(&Event::MayNotConnect { user, application });
            return Err(failed);
        }
        let client = Arc::new(Client {
            number: self.serial(),
            options,
            connected_ms: self.now_ms(),
            broken: AtomicBool::new(false),
            unit_began_ms: AtomicU64::new(0),
            unit_messages: AtomicU64::new(0),
            handles: Mutex::new(BTreeMap::new()),
        });
        let mut clients = self.clients.lock();
        let room = clients.len() < self.options.connections_max;
        require(room, Reason::MAX_CONNS_LIMIT_REACHED)?;
        clients.insert(client.number, Arc::clone(&client));
        Ok(client)
    }
}

/// What a program is told when the store fails.
pub(crate) fn failed(error: StoreError) -> Failed {
    use store::Limit;
    Failed(match error {
        StoreError::Deadlock | StoreError::Conflict(_) => Reason::BACKED_OUT,
        StoreError::TooLarge(excess) => match excess.limit {
            Limit::KeyBytes | Limit::ValueBytes => Reason::MSG_TOO_BIG_FOR_Q_MGR,
            _ => Reason::SYNCPOINT_LIMIT_REACHED,
        },
        StoreError::NoSpace(_) | StoreError::LogFull(_) => Reason::STORAGE_MEDIUM_FULL,
        StoreError::Damaged(_) => Reason::OBJECT_DAMAGED,
        StoreError::CommitUnknown(_) => Reason::OUTCOME_PENDING,
        StoreError::Stopped(_) => Reason::Q_MGR_STOPPING,
        // After a wait that was too long the unit of work goes on.
        StoreError::Timeout(_) | StoreError::Unavailable(_) => Reason::RESOURCE_PROBLEM,
        _ => Reason::UNEXPECTED_ERROR,
    })
}
