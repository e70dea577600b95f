//! Takes messages for a link while there is credit, in a thread of its own.
//!
//! 1. What is sent is claimed before, or is gone from its queue where the client wants that.
//! 2. No message is passed over: one that was found when the credit was taken back goes back, or
//!    is sent when there is credit again.
//! 3. A message that is long is read when there is room for it in the conversation and the door.

use std::sync::Arc;

use queue_manager::options::value::{get, open, subscribe};
use queue_manager::options::{Handle, ObjectDescriptor, SubscriptionDescriptor};
use queue_manager::{Answer, Connection, Failed, Reason};
use store::Store;

use crate::calls::got;
use crate::context::{Context, Delivery, Gate, Seat, is_topic, shown};
use crate::error_condition::trouble_of;
use crate::message::{Parts, write_sections};
use crate::subscriptions::Wanted;
use crate::work::{Event, LinkKey, MESSAGE_BYTES_MAX, Room, Trouble};

/// Messages of a link that may be delivered and not settled.
const IN_FLIGHT_MAX: u32 = 1_000;
/// A message that is not longer is read at once; for others there is room first.
const SHORT_BYTES: usize = 16 << 10;

/// What a link takes, and how.
#[derive(Clone)]
pub(crate) struct Taking {
    pub(crate) key: LinkKey,
    pub(crate) browse: bool,
    /// Messages are gone once they are sent.
    pub(crate) settled: bool,
}

/// Takes messages for a link.
pub(crate) struct Taker<S: Store> {
    context: Arc<Context<S>>,
    gate: Arc<Gate>,
    taking: Taking,
    connection: Connection<S>,
    queue: Handle,
    /// What the cursor is on was browsed without credit to send it.
    again: bool,
    has_browsed: bool,
    name: String,
    _seat: Seat<S>,
}

/// What the thread of a link does next.
enum Turn {
    Take { drain: bool },
    Dry(u32),
    End,
}

/// A message that was read.
struct Whole {
    parts: Parts,
    bytes: usize,
    /// What it takes; none: that is still to be found.
    room: Option<Room>,
}

/// What was found.
enum Found {
    Message(Box<Whole>),
    /// It is there no longer, or nobody wants it any more.
    Gone,
    Nothing,
}

/// What a link takes from.
pub(crate) enum From<'a> {
    /// A queue, as it is described.
    Queue(&'a ObjectDescriptor, &'a str),
    /// The queue of a subscription, by the subscription's name.
    Subscription(&'a str),
    /// What is published from now on.
    Topic(&'a Wanted),
}

impl<S: Store> Taker<S> {
    /// Opens what the link takes from.
    pub(crate) fn open(
        context: &Arc<Context<S>>,
        gate: &Arc<Gate>,
        taking: Taking,
        from: &From<'_>,
    ) -> Result<Taker<S>, Trouble> {
        let seat = context.commons.seat(&context.member)?;
        let name = match from {
            From::Queue(what, _) => shown(what),
            From::Subscription(name) => format!("subscription {name}"),
            From::Topic(wanted) => format!("topic {}", wanted.topic),
        };
        let wrong = |failed| trouble_of(failed, &name);
        let mut connection = context.connect().map_err(wrong)?;
        let queue = open_queue(&mut connection, &taking, from).map_err(wrong)?;
        Ok(Taker {
            context: Arc::clone(context),
            gate: Arc::clone(gate),
            taking,
            connection,
            queue,
            again: false,
            has_browsed: false,
            name,
            _seat: seat,
        })
    }

    /// The number of its connection.
    pub(crate) fn connection(&self) -> u64 {
        self.connection.number()
    }

    /// Goes on until the link is closed.
    pub(crate) fn run(mut self) {
        let gate = Arc::clone(&self.gate);
        self.go_on();
        // The queue is closed before anybody is told.
        drop(self);
        gate.permission.lock().ended = true;
        gate.changed.notify_all();
    }

    fn go_on(&mut self) {
        loop {
            match self.wait() {
                Turn::End => return,
                Turn::Dry(limit) => self.context.tell(Event::Dry(self.taking.key, limit)),
                Turn::Take { drain } => match self.take(drain) {
                    Ok(true) => {}
                    Ok(false) => self.found_nothing(),
                    Err(failed) => {
                        if !self.gate.permission.lock().closed {
                            let trouble = trouble_of(failed, &self.name);
                            self.context.tell(Event::Broken(self.taking.key, trouble));
                        }
                        return;
                    }
                },
            }
        }
    }

    /// There is no message: who wants to know is told.
    fn found_nothing(&self) {
        let mut permission = self.gate.permission.lock();
        // Only if that is still wanted: other credit may have come meanwhile.
        if permission.drain && !permission.closed {
            permission.drain = false;
            permission.sent = permission.limit;
            let limit = permission.limit;
            drop(permission);
            self.context.tell(Event::Dry(self.taking.key, limit));
        }
    }

    /// Waits until there is something to do.
    fn wait(&self) -> Turn {
        let mut permission = self.gate.permission.lock();
        loop {
            if permission.closed {
                return Turn::End;
            }
            let may = permission.has_credit() && permission.in_flight < IN_FLIGHT_MAX;
            if may {
                return Turn::Take { drain: permission.drain };
            }
            if permission.drain {
                permission.drain = false;
                permission.sent = permission.limit;
                return Turn::Dry(permission.limit);
            }
            self.gate.changed.wait(&mut permission);
        }
    }

    /// Takes the credit for a message; `false`: it was taken back meanwhile.
    fn spend(&self, in_flight: u32) -> bool {
        let mut permission = self.gate.permission.lock();
        let may = permission.has_credit() && !permission.closed;
        if may {
            permission.sent = permission.sent.wrapping_add(1);
            permission.in_flight += in_flight;
        }
        may
    }

    /// Takes a message and sends it; `false`: there is none.
    fn take(&mut self, drain: bool) -> Answer<bool> {
        if self.taking.browse {
            return self.look(drain);
        }
        let found = match self.find(get::BROWSE_FIRST | get::LOCK, drain)? {
            Found::Nothing => return Ok(false),
            Found::Gone => return Ok(true),
            Found::Message(found) => found,
        };
        let claim = self.connection.claim(self.queue)?;
        if !self.spend(u32::from(!self.taking.settled)) {
            // Dropped, the claim gives the message back.
            return Ok(true);
        }
        if self.taking.settled {
            self.connection.take_claimed(claim, false, false)?;
            return Ok(self.send(None, *found));
        }
        let token = self.context.token();
        let delivery = Delivery { claim, gate: Arc::clone(&self.gate) };
        self.context.deliveries.lock().insert(token, delivery);
        Ok(self.send(Some(token), *found))
    }

    /// Sends a message that stays where it is.
    fn look(&mut self, drain: bool) -> Answer<bool> {
        let how = match (std::mem::take(&mut self.again), self.has_browsed) {
            (true, _) => get::BROWSE_MSG_UNDER_CURSOR,
            (false, true) => get::BROWSE_NEXT,
            (false, false) => get::BROWSE_FIRST,
        };
        let found = self.find(how, drain)?;
        if matches!(found, Found::Nothing) {
            return Ok(false);
        }
        self.has_browsed = true;
        let Found::Message(found) = found else { return Ok(true) };
        if !self.spend(0) {
            // Nothing is kept in memory until there is credit.
            self.again = true;
            return Ok(true);
        }
        Ok(self.send(None, *found))
    }

    /// Finds a message. One that is long is read when there is room for it.
    fn find(&mut self, how: i32, drain: bool) -> Answer<Found> {
        let drain = drain || how == get::BROWSE_MSG_UNDER_CURSOR;
        let found = self.read((how, SHORT_BYTES), drain)?;
        let bytes = match found {
            Found::Message(found) if found.bytes > SHORT_BYTES => found.bytes,
            other => return Ok(other),
        };
        let Some(room) = self.context.room(bytes) else { return Ok(Found::Gone) };
        let again = get::BROWSE_MSG_UNDER_CURSOR | (how & get::LOCK);
        let found = self.read((again, MESSAGE_BYTES_MAX), true)?;
        Ok(match found {
            Found::Message(found) => Found::Message(Box::new(Whole { room: Some(room), ..*found })),
            other => other,
        })
    }

    fn read(&mut self, (how, room): (i32, usize), drain: bool) -> Answer<Found> {
        match got(&mut self.connection, self.queue, (how, room), drain) {
            Ok(None) => Ok(Found::Nothing),
            Ok(Some((descriptor, parts, bytes))) => {
                let parts = Parts { descriptor, ..parts };
                Ok(Found::Message(Box::new(Whole { parts, bytes, room: None })))
            }
            Err(failed) if failed.0 == Reason::NO_MSG_UNDER_CURSOR => Ok(Found::Gone),
            Err(failed) => Err(failed),
        }
    }

    /// Sends a message as soon as there is room for it; `true`.
    fn send(&self, token: Option<u64>, whole: Whole) -> bool {
        let Whole { parts, room, .. } = whole;
        let tag = token.unwrap_or_else(|| self.context.token());
        let message = write_sections(&parts, self.context.manager.name());
        drop(parts);
        // None: the conversation ends, and what was claimed goes back with it.
        let Some(room) = room.or_else(|| self.context.room(message.len())) else { return true };
        let key = self.taking.key;
        self.context.tell(Event::Message { key, token, tag, message, room });
        true
    }
}

fn open_queue<S: Store>(
    connection: &mut Connection<S>,
    taking: &Taking,
    from: &From<'_>,
) -> Answer<Handle> {
    let mut what = match from {
        From::Topic(wanted) => {
            let mut what = SubscriptionDescriptor {
                options: subscribe::CREATE | subscribe::MANAGED,
                object_string: wanted.topic.clone(),
                selection_string: wanted.selector.clone(),
                ..SubscriptionDescriptor::default()
            };
            let (queue, _, _) = connection.subscribe(&mut what, None)?;
            return queue.ok_or(Failed(Reason::HOBJ_ERROR));
        }
        From::Subscription(name) => return connection.open_subscription(name, taking.browse),
        From::Queue(what, selector) => {
            ObjectDescriptor { selection_string: (*selector).to_owned(), ..(*what).clone() }
        }
    };
    debug_assert!(!is_topic(&what), "a topic is subscribed to");
    let browses = open::BROWSE | open::FAIL_IF_QUIESCING;
    let options = if taking.browse { browses } else { browses | open::INPUT_SHARED };
    connection.open(&mut what, options).map(|(handle, _)| handle)
}
