//! What the bridge's threads share: both managers, which queues are served and how, and what keeps
//! them.
//!
//! Invariants:
//! 1. A queue is served as its storage class says at that moment, or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use control::Control;
use otma::Name;
use queue_manager::objects::{Kind, Object};
use queue_manager::options::ConnectOptions;
use queue_manager::{Answer, Connection, QueueManager};
use seam::clock::Clock;
use seam::sync::Mutex;
use store::Store;

use crate::pause::Gate;

/// What programs messages of the bridge come from: a bridge of IMS.
const APPLICATION_TYPE: i32 = 19;
/// In front of the names of the bridge's tpipes. Clients have names in upper case, and terminals
/// that programs name do, too: no other client's outputs wait there.
pub(crate) const TPIPE: [u8; 2] = *b"mq";
const LETTERS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// What the bridge works with.
pub struct Options {
    /// The user as whom it works for the queue manager.
    pub user: String,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// A bridge queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    pub(crate) queue: String,
    number: u32,
    /// The data store that its messages are for.
    pub(crate) member: Name,
    pub(crate) tpipe: Name,
    /// The terminal that programs see if a message names none.
    pub(crate) terminal: Name,
}

/// What the threads share.
pub(crate) struct Common<S: Store> {
    manager: QueueManager<S>,
    pub(crate) control: Control<S>,
    options: Options,
    pub(crate) gate: Gate,
    /// Connections that wait for a message, and have taken none.
    looking: Mutex<BTreeSet<u64>>,
    troubles: Mutex<BTreeMap<String, String>>,
}

impl<S: Store> Common<S> {
    pub(crate) fn new(
        manager: QueueManager<S>,
        control: Control<S>,
        options: Options,
    ) -> Common<S> {
        Common {
            manager,
            control,
            options,
            gate: Gate::default(),
            looking: Mutex::default(),
            troubles: Mutex::default(),
        }
    }

    /// What operators should know.
    pub(crate) fn notes(&self) -> Vec<String> {
        let troubles = self.troubles.lock();
        troubles.iter().map(|(of, why)| format!("IMS bridge, {of}: {why}")).collect()
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.options.clock.utc_us() / 1_000
    }

    /// A connection of the bridge's own. What it puts is never carried out as a command.
    pub(crate) fn connect(&self) -> Answer<Connection<S>> {
        self.manager.connect(ConnectOptions {
            user: self.options.user.clone(),
            application: "IMS bridge".into(),
            application_type: APPLICATION_TYPE,
            may_command: false,
            ..ConnectOptions::default()
        })
    }

    /// Notes that a connection waits for a message, or does so no more. Answers whether the bridge
    /// goes on.
    pub(crate) fn looks(&self, connection: u64, waits: bool) -> bool {
        let mut looking = self.looking.lock();
        match waits {
            true => looking.insert(connection),
            false => looking.remove(&connection),
        };
        drop(looking);
        !self.gate.is_over()
    }

    /// Ends the bridge, and waits for messages with it.
    pub(crate) fn end(&self) {
        self.gate.close();
        let looking = std::mem::take(&mut *self.looking.lock());
        for connection in looking {
            // One that has gone meanwhile waits no more.
            let _ = self.manager.break_connection(connection);
        }
    }

    /// Notes what keeps a queue or a tpipe, or that nothing does.
    pub(crate) fn note(&self, of: &str, trouble: Option<String>) {
        let mut troubles = self.troubles.lock();
        match trouble {
            Some(why) => drop(troubles.insert(of.to_owned(), why)),
            None => drop(troubles.remove(of)),
        }
    }

    /// Whether a queue is still served as it was.
    pub(crate) fn is_served(&self, one: &Served) -> bool {
        let queue = self.manager.object(Kind::QueueLocal, &one.queue);
        queue.and_then(|queue| self.serves(&queue)).as_ref() == Some(one)
    }

    /// How a queue is served, if it is a bridge queue.
    fn serves(&self, queue: &Object) -> Option<Served> {
        let class = self.manager.object(Kind::StorageClass, queue.text_of("STGCLASS"))?;
        if queue.kind != Kind::QueueLocal || !is_of_bridge(&class) {
            return None;
        }
        let (tpipe, terminal) = names_of(queue.number);
        Some(Served {
            queue: queue.name.clone(),
            number: queue.number,
            // A name that is too long is no one's.
            member: Name::new(class.text_of("XCFMNAME")).unwrap_or_default(),
            tpipe,
            terminal,
        })
    }

    /// The bridge queues.
    pub(crate) fn all_served(&self) -> Vec<Served> {
        // There may be many queues; mostly none of them is one.
        if !self.manager.list(Kind::StorageClass, "*").iter().any(is_of_bridge) {
            return Vec::new();
        }
        let queues = self.manager.list(Kind::QueueLocal, "*");
        queues.iter().filter_map(|queue| self.serves(queue)).collect()
    }
}

/// Whether queues of a storage class are bridge queues.
fn is_of_bridge(class: &Object) -> bool {
    ["XCFGNAME", "XCFMNAME"].iter().all(|name| !class.text_of(name).trim().is_empty())
}

/// The names of the tpipe and of the terminal of a queue with that number.
fn names_of(number: u32) -> (Name, Name) {
    let mut name = [b'0'; 8];
    name[..2].copy_from_slice(&TPIPE);
    let mut rest = number;
    for letter in name[2..].iter_mut().rev() {
        *letter = LETTERS[(rest % 36) as usize];
        rest /= 36;
    }
    (Name(name), Name(name.map(|letter| letter.to_ascii_uppercase())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_have_names_of_their_own() {
        assert_eq!(names_of(0), (Name(*b"mq000000"), Name(*b"MQ000000")));
        assert_eq!(names_of(37).0, Name(*b"mq000011"));
        assert_ne!(names_of(1), names_of(36));
    }
}
