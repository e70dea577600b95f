//! The queue manager.

use std::sync::Arc;

use seam::clock::Clock;
use seam::entropy::Entropy;
use store::Store;

use crate::connection::Connection;
use crate::error::AdminError;
use crate::objects::{Kind, Object, Value};
use crate::options::ConnectOptions;
use crate::reason::{Answer, Reason, fail};
use crate::status::{ConnectionStatus, HandleStatus, QueueStatus, SubscriptionStatus};

/// What a user wants to do with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum Wish {
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
}

/// Who may do what.
pub trait Authority: Send + Sync {
    /// Whether `user` may do that with the object.
    fn allows(&self, user: &str, kind: Kind, name: &str, wish: Wish) -> bool;
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
    /// Connections at a time, at most.
    pub connections_max: usize,
}

/// A queue manager over a store. Clones stand for the same one.
pub struct QueueManager<S: Store> {
    store: S,
    options: Arc<Options>,
}

impl<S: Store> Clone for QueueManager<S> {
    fn clone(&self) -> Self {
        QueueManager { store: self.store.clone(), options: Arc::clone(&self.options) }
    }
}

fn not_yet(kind: Kind, name: &str) -> AdminError {
    AdminError::NotFound { kind, name: name.to_owned() }
}

#[allow(missing_docs)]
impl<S: Store> QueueManager<S> {
    /// Opens the queue manager of a store; makes its default objects the first time.
    ///
    /// # Errors
    /// If the store fails, or what stands there was not written by this release.
    pub fn open(store: &S, options: Options) -> Result<QueueManager<S>, AdminError> {
        Ok(QueueManager { store: store.clone(), options: Arc::new(options) })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.options.name
    }

    /// Connects a program.
    ///
    /// # Errors
    /// `Q_MGR_QUIESCING`, `Q_MGR_STOPPING`, `MAX_CONNS_LIMIT_REACHED`, `NOT_AUTHORIZED`.
    pub fn connect(&self, _options: ConnectOptions) -> Answer<Connection<S>> {
        fail(Reason::FUNCTION_NOT_SUPPORTED)
    }

    /// Defines an object. With `replace`, one that is there is changed: attributes that are not
    /// given keep their values. `like` is an object of the same kind with other defaults.
    pub fn define(
        &self,
        kind: Kind,
        name: &str,
        _attributes: &[(&str, Value)],
        _replace: bool,
        _like: Option<&str>,
    ) -> Result<(), AdminError> {
        Err(not_yet(kind, name))
    }

    /// Changes attributes of an object.
    pub fn alter(
        &self,
        kind: Kind,
        name: &str,
        _attributes: &[(&str, Value)],
    ) -> Result<(), AdminError> {
        Err(not_yet(kind, name))
    }

    /// Deletes an object; a queue with messages only with `purge`.
    pub fn delete(&self, kind: Kind, name: &str, _purge: bool) -> Result<(), AdminError> {
        Err(not_yet(kind, name))
    }

    /// An object with its attributes as they are now (`CURDEPTH` and the like among them). For
    /// queues, the kind matters not: a name is a name.
    #[must_use]
    pub fn object(&self, _kind: Kind, _name: &str) -> Option<Object> {
        None
    }

    /// The objects of a kind whose names match a generic name, in their order.
    #[must_use]
    pub fn list(&self, _kind: Kind, _pattern: &str) -> Vec<Object> {
        Vec::new()
    }

    /// Removes the messages of a queue and answers how many there were.
    pub fn clear(&self, name: &str) -> Result<u64, AdminError> {
        Err(not_yet(Kind::QueueLocal, name))
    }

    /// Moves the messages of a queue to another one, behind its own or in place of them.
    pub fn move_messages(&self, from: &str, _to: &str, _add: bool) -> Result<u64, AdminError> {
        Err(not_yet(Kind::QueueLocal, from))
    }

    /// What is known of a local queue.
    #[must_use]
    pub fn queue_status(&self, _name: &str) -> Option<QueueStatus> {
        None
    }

    /// The same, and the counters since the last reset begin again.
    #[must_use]
    pub fn reset_statistics(&self, _name: &str) -> Option<QueueStatus> {
        None
    }

    /// What is open of an object.
    #[must_use]
    pub fn handles(&self, _kind: Kind, _name: &str) -> Vec<HandleStatus> {
        Vec::new()
    }

    /// Every connection.
    #[must_use]
    pub fn connections(&self) -> Vec<ConnectionStatus> {
        Vec::new()
    }

    /// Every subscription whose name matches a generic name.
    #[must_use]
    pub fn subscriptions(&self, _pattern: &str) -> Vec<SubscriptionStatus> {
        Vec::new()
    }

    /// Breaks a connection: its calls fail and its unit of work is backed out.
    #[must_use]
    pub fn break_connection(&self, _connection: u64) -> bool {
        false
    }

    /// Lets nobody connect any more, and ends waits of those who asked for that.
    pub fn quiesce(&self) {}

    /// Ends every call: for a stop of the system.
    pub fn stop(&self) {}

    /// Removes messages that have expired, and answers how many: what the scan does every
    /// `EXPRYINT` seconds.
    pub fn expire(&self) -> u64 {
        0
    }

    /// What housekeeping there is to do: expiry, triggers whose interval is over, subscriptions
    /// that expired. To be called every second or so.
    pub fn tick(&self) {}
}
