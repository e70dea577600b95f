//! Makes a connection over the network again that broke, while a call waits for it.
//!
//! ```text
//!  a call finds it broken --> RECONNECTING --> tries --> RECONNECTED
//!                             (told)              \----> RECONNECT_FAILED (told, and the call's)
//! ```
//!
//! Invariants:
//! 1. Whoever handles events of the connection is told; calls that it makes on this connection
//!    meanwhile are refused: a call is in progress.
//! 2. A thread that consumes messages gives the try up once it is to stop or to rest; the next call
//!    goes on trying.
//! 3. A queue manager that is not the same one is never taken for it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mqi::client::{Client, Recovery};
use mqi::wire::Connecting;
use queue_manager::{Outcome, Reason};
use seam::clock::{Clock as _, RealClock};

use crate::callbacks;
use crate::consumers::Phase;
use crate::network::definition::Definition;
use crate::network::reconnection::Patience;
use crate::network::{self, KeyFiles, Way};
use crate::state::{Connection, this_thread};

/// How a connection is made again.
pub(crate) struct Reconnector {
    pub(crate) definitions: Vec<Definition>,
    pub(crate) keys: KeyFiles,
    pub(crate) connecting: Connecting,
    pub(crate) patience: Patience,
    /// The queue manager that it has to be; none: any that the program's name for it allows.
    pub(crate) identifier: Option<String>,
    pub(crate) connection: Weak<Connection>,
    pub(crate) clock: RealClock,
}

/// What a round of tries has come to.
enum Tried {
    Later(Reason),
    Never(Reason),
}

/// A thread makes a connection again, until this is dropped.
struct Meanwhile<'c>(&'c Connection);

impl Drop for Meanwhile<'_> {
    fn drop(&mut self) {
        self.0.reconnecting.store(0, Ordering::SeqCst);
    }
}

impl Recovery for Reconnector {
    fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    fn reconnect(
        &mut self,
        restores: &mut dyn FnMut(&mut Client) -> Result<(), Reason>,
    ) -> Result<Client, Reason> {
        let Some(connection) = self.connection.upgrade() else {
            return Err(Reason::RECONNECT_FAILED);
        };
        connection.reconnecting.store(this_thread(), Ordering::SeqCst);
        let _meanwhile = Meanwhile(&connection);
        let made = self.try_on(&connection, restores);
        match &made {
            Ok(_) => tell(&connection, Outcome::warning(Reason::RECONNECTED), Duration::ZERO),
            Err(Reason::RECONNECTING) => {}
            Err(reason) => tell(&connection, Outcome::failed(*reason), Duration::ZERO),
        }
        made
    }
}

impl Reconnector {
    fn try_on(
        &self,
        connection: &Arc<Connection>,
        restores: &mut dyn FnMut(&mut Client) -> Result<(), Reason>,
    ) -> Result<Client, Reason> {
        let end = self.now() + self.patience.timeout;
        let mut tried = 0;
        loop {
            let chance = u64::from(self.now().subsec_nanos()) ^ u64::from(std::process::id());
            let delay = self.patience.delay(tried, chance);
            if tried == 0 {
                tell(connection, Outcome::warning(Reason::RECONNECTING), delay);
            }
            self.wait(connection, delay)?;
            let why = match self.round(restores) {
                Ok(client) => return Ok(client),
                Err(Tried::Never(reason)) => return Err(given_up(reason)),
                Err(Tried::Later(reason)) => reason,
            };
            if self.now() >= end {
                return Err(given_up(why));
            }
            tried += 1;
        }
    }

    /// Tries every place once.
    fn round(
        &self,
        restores: &mut dyn FnMut(&mut Client) -> Result<(), Reason>,
    ) -> Result<Client, Tried> {
        let mut why = Reason::Q_MGR_NOT_AVAILABLE;
        let mut all_are_others = true;
        for definition in &self.definitions {
            for place in &definition.places {
                let way = Way { definition, place, keys: &self.keys };
                let entered = network::enter(&way, &self.connecting);
                let is_same = |client: &Client| match &self.identifier {
                    Some(wanted) => client.identifier() == wanted,
                    None => true,
                };
                let restored = match entered {
                    Ok(client) if !is_same(&client) => {
                        why = Reason::RECONNECT_QMID_MISMATCH;
                        continue;
                    }
                    Ok(mut client) => restores(&mut client).map(|()| client),
                    Err(reason) => Err(reason),
                };
                all_are_others = false;
                match restored {
                    Ok(client) => return Ok(client),
                    Err(reason) if may_pass(reason) => {
                        if why != Reason::RECONNECT_QMID_MISMATCH {
                            why = reason;
                        }
                    }
                    Err(reason) => return Err(Tried::Never(reason)),
                }
            }
        }
        Err(if all_are_others { Tried::Never(why) } else { Tried::Later(why) })
    }

    /// Waits before a try; a thread that consumes does so only as long as it is to go on.
    fn wait(&self, connection: &Connection, delay: Duration) -> Result<(), Reason> {
        let until = self.now() + delay;
        let mut consumers = connection.consumers.lock();
        loop {
            let consumes = connection.consuming.load(Ordering::SeqCst) == this_thread();
            if consumes && consumers.phase != Phase::Started {
                return Err(Reason::RECONNECTING);
            }
            let left = until.saturating_sub(self.now());
            if left.is_zero() {
                return Ok(());
            }
            connection.changed.wait_for(&mut consumers, left);
        }
    }
}

/// Whether a reason may be gone at the next try. The connection that broke may still be there for
/// the queue manager, and have what is wanted again.
fn may_pass(reason: Reason) -> bool {
    network::passes(reason)
        || matches!(
            reason,
            Reason::Q_MGR_NAME_ERROR
                | Reason::CONNECTION_BROKEN
                | Reason::OBJECT_IN_USE
                | Reason::SUBSCRIPTION_IN_USE
                | Reason::SUB_ALREADY_EXISTS
                | Reason::RESOURCE_PROBLEM
        )
}

/// What a program is told when there is no use in trying on.
fn given_up(reason: Reason) -> Reason {
    match reason {
        Reason::RECONNECT_QMID_MISMATCH => reason,
        _ => Reason::RECONNECT_FAILED,
    }
}

fn tell(connection: &Arc<Connection>, outcome: Outcome, delay: Duration) {
    let delay_ms = i32::try_from(delay.as_millis()).unwrap_or(i32::MAX);
    callbacks::tell_event(connection, outcome, delay_ms);
}
