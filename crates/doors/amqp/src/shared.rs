//! What the conversations of a door share: how it was opened, whom it knows, what it counts.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use queue_manager::QueueManager;
use store::Store;
use tls::Tls;
use tokio::sync::{Semaphore, watch};

use crate::budget::Budgets;
use crate::clients::Clients;
use crate::context::Commons;
use crate::sasl::Authenticator;

/// How long a client may take for its handshake.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(30);

/// How the door is opened.
#[derive(Clone, Default)]
pub struct Options {
    /// Where it listens without TLS.
    pub addresses: Vec<SocketAddr>,
    /// Where it listens with TLS.
    pub tls_addresses: Vec<SocketAddr>,
    /// For TLS.
    pub tls: Option<Tls>,
    /// Whether passwords may come from other machines without TLS.
    pub passwords_without_tls: bool,
    /// Connections at a time, at most.
    pub connections_max: usize,
    /// Threads.
    pub threads: usize,
}

/// What a door counts.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) connections: AtomicUsize,
    pub(crate) accepted: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) received: AtomicU64,
    pub(crate) sent: AtomicU64,
}

/// What a door has counted since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Conversations that go on.
    pub connections: u64,
    /// Connections that were let in.
    pub accepted: u64,
    /// Connections whose clients could not say who they are, or that were one too many.
    pub refused: u64,
    /// Messages that clients have brought.
    pub received: u64,
    /// Messages that were sent to clients.
    pub sent: u64,
}

/// What all conversations share.
pub(crate) struct Shared<S: Store> {
    pub(crate) manager: QueueManager<S>,
    pub(crate) options: Options,
    pub(crate) authenticator: Arc<dyn Authenticator>,
    pub(crate) clients: Arc<Clients>,
    pub(crate) commons: Arc<Commons<S>>,
    pub(crate) checks: Arc<Semaphore>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) stopping: watch::Receiver<bool>,
    pub(crate) budgets: Arc<Budgets>,
    pub(crate) places: Arc<Semaphore>,
}

/// A conversation goes on until this is dropped.
pub(crate) struct Here(Arc<Counters>);

impl Here {
    pub(crate) fn new(counters: &Arc<Counters>) -> Here {
        counters.connections.fetch_add(1, Ordering::AcqRel);
        Here(Arc::clone(counters))
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::AcqRel);
    }
}
