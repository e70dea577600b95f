//! What the threads of a conversation share, and those of all conversations.
//!
//! 1. A message that is delivered and not settled is claimed on its queue: nobody else sees it,
//!    and whoever settles it gets it, in a unit of work or outside.
//! 2. Bytes that wait for a client's network are bounded: who has more waits, and has not read
//!    what it waits with.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use queue_manager::connection::Claim;
use queue_manager::objects::Kind;
use queue_manager::options::value::object_type;
use queue_manager::options::{ConnectOptions, ObjectDescriptor};
use queue_manager::{Answer, Connection, QueueManager};
use seam::sync::{Condvar, Mutex};
use store::Store;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Semaphore, watch};

use crate::budget::{Member, most_of};
use crate::subscriptions::{Asker, Subscriptions};
use crate::work::{Event, Place, Room, Trouble, trouble};

/// Kibibytes of messages that may wait for a client's network.
const ROOM_KIB: u32 = 32 << 10;
/// Links that take messages, of all conversations: each has a thread that waits.
const CONSUMERS_MAX: usize = 3_000;

/// What a link that takes messages may do.
#[derive(Default)]
pub(crate) struct Permission {
    /// Up to which count of deliveries; counts go round.
    pub(crate) limit: u32,
    /// How many were sent.
    pub(crate) sent: u32,
    pub(crate) drain: bool,
    pub(crate) closed: bool,
    pub(crate) in_flight: u32,
    /// Its thread has ended.
    pub(crate) ended: bool,
}

impl Permission {
    pub(crate) fn has_credit(&self) -> bool {
        let left = self.limit.wrapping_sub(self.sent);
        left != 0 && left <= u32::MAX / 2
    }
}

/// By which a link's thread is told what it may do.
#[derive(Default)]
pub(crate) struct Gate {
    pub(crate) permission: Mutex<Permission>,
    pub(crate) changed: Condvar,
}

impl Gate {
    /// A delivery is settled: there is room for another.
    pub(crate) fn settled(&self) {
        let mut permission = self.permission.lock();
        permission.in_flight = permission.in_flight.saturating_sub(1);
        self.changed.notify_all();
    }
}

/// A message that is delivered and not settled.
pub(crate) struct Delivery<S: Store> {
    pub(crate) claim: Claim<S>,
    pub(crate) gate: Arc<Gate>,
}

/// What all conversations share.
pub(crate) struct Commons<S: Store> {
    pub(crate) subscriptions: Subscriptions<S>,
    consumers: AtomicUsize,
    conversations: AtomicU64,
}

impl<S: Store> Default for Commons<S> {
    fn default() -> Commons<S> {
        Commons {
            subscriptions: Subscriptions::default(),
            consumers: AtomicUsize::new(0),
            conversations: AtomicU64::new(0),
        }
    }
}

/// A link that takes messages has a thread until this is dropped.
pub(crate) struct Seat<S: Store>(Arc<Commons<S>>, Arc<Member>);

impl<S: Store> Commons<S> {
    pub(crate) fn seat(self: &Arc<Commons<S>>, member: &Arc<Member>) -> Result<Seat<S>, Trouble> {
        let before = self.consumers.fetch_add(1, Ordering::AcqRel);
        let own = member.consumers.fetch_add(1, Ordering::AcqRel);
        let seat = Seat(Arc::clone(self), Arc::clone(member));
        match before < CONSUMERS_MAX && own < most_of(CONSUMERS_MAX) {
            true => Ok(seat),
            false => {
                let words = "too many links take messages already, or too many of this user";
                trouble("amqp:resource-limit-exceeded", words)
            }
        }
    }
}

impl<S: Store> Drop for Seat<S> {
    fn drop(&mut self) {
        self.0.consumers.fetch_sub(1, Ordering::AcqRel);
        self.1.consumers.fetch_sub(1, Ordering::AcqRel);
    }
}

/// What threads of a conversation share.
pub(crate) struct Context<S: Store> {
    pub(crate) manager: QueueManager<S>,
    pub(crate) commons: Arc<Commons<S>>,
    pub(crate) events: UnboundedSender<Event>,
    pub(crate) deliveries: Mutex<BTreeMap<u64, Delivery<S>>>,
    /// For bytes that wait for the network.
    room: Arc<Semaphore>,
    pub(crate) member: Arc<Member>,
    /// The conversation ends: nobody waits for room.
    ends: watch::Sender<bool>,
    pub(crate) options: ConnectOptions,
    tokens: AtomicU64,
    conversation: u64,
}

impl<S: Store> Context<S> {
    pub(crate) fn new(
        manager: &QueueManager<S>,
        commons: &Arc<Commons<S>>,
        (options, member): (ConnectOptions, Arc<Member>),
        events: UnboundedSender<Event>,
    ) -> Context<S> {
        Context {
            manager: manager.clone(),
            commons: Arc::clone(commons),
            events,
            deliveries: Mutex::new(BTreeMap::new()),
            room: Arc::new(Semaphore::new(ROOM_KIB as usize)),
            member,
            ends: watch::channel(false).0,
            options,
            tokens: AtomicU64::new(1),
            conversation: commons.conversations.fetch_add(1, Ordering::Relaxed),
        }
    }

    pub(crate) fn connect(&self) -> Answer<Connection<S>> {
        self.manager.connect(self.options.clone())
    }

    /// Room for a message to the client, as soon as there is any; `None`: the conversation ends.
    pub(crate) fn room(&self, bytes: usize) -> Option<Room> {
        let kib = u32::try_from(bytes / 1_024).unwrap_or(u32::MAX).clamp(1, ROOM_KIB);
        let mut ends = self.ends.subscribe();
        let room = async {
            let own = Arc::clone(&self.room).acquire_many_owned(kib).await;
            let mut room = self.member.outgoing(bytes).await;
            room.add(own.ok());
            room
        };
        tokio::runtime::Handle::current().block_on(async {
            tokio::select! {
                biased;
                _ = ends.wait_for(|ends| *ends) => None,
                room = room => Some(room),
            }
        })
    }

    /// Who asks for a subscription.
    pub(crate) fn asker(&self) -> Asker<'_, S> {
        let (manager, client) = (&self.manager, &self.options);
        Asker { manager, client, conversation: self.conversation }
    }

    /// The conversation ends: who waits for room waits no more.
    pub(crate) fn end(&self) {
        self.ends.send_replace(true);
    }

    /// A number for a delivery.
    pub(crate) fn token(&self) -> u64 {
        self.tokens.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn tell(&self, event: Event) {
        // Who has gone needs no answer.
        let _ = self.events.send(event);
    }

    /// What a place is called in the queue manager.
    pub(crate) fn described(&self, place: &Place) -> Result<ObjectDescriptor, Trouble> {
        let topic = |name: &str| self.manager.object(Kind::Topic, name);
        match place {
            Place::Queue(name) => Ok(ObjectDescriptor::queue(name)),
            Place::Topic(name) => Ok(match topic(name) {
                // By its string: what a subscription is for is compared by it.
                Some(object) => ObjectDescriptor::topic(object.text_of("TOPICSTR")),
                None => ObjectDescriptor::topic(name),
            }),
            Place::Named(name) if self.manager.object(Kind::QueueLocal, name).is_some() => {
                Ok(ObjectDescriptor::queue(name))
            }
            Place::Named(name) if name.contains('/') || topic(name).is_some() => {
                self.described(&Place::Topic(name.clone()))
            }
            Place::Named(name) => {
                trouble("amqp:not-found", format!("there is no queue or topic {name}"))
            }
            _ => trouble("amqp:not-found", "that is no address"),
        }
    }
}

/// Whether a descriptor is of a topic.
pub(crate) fn is_topic(what: &ObjectDescriptor) -> bool {
    what.object_type == object_type::TOPIC
}

/// A place, for people.
pub(crate) fn shown(what: &ObjectDescriptor) -> String {
    match is_topic(what) {
        true => format!("topic {}", what.object_string),
        false => format!("queue {}", what.object_name),
    }
}
