//! What a conversation has the queue manager do, in threads that may wait.
//!
//! 1. Puts and settlements of a conversation are done in their order by one thread; each link that
//!    takes messages has a thread that waits for them while there is credit.
//! 2. A message that is delivered and not settled is locked by a connection of its own, on its
//!    queue: it is got when it is accepted, and seen by others again when it is released, or when
//!    the conversation ends.
//! 3. A transaction is a unit of work of a connection of its own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use queue_manager::objects::Kind;
use queue_manager::options::value::{close, get, matching, object_type, open, put, subscribe};
use queue_manager::options::{
    ConnectOptions, GetOptions, Handle, ObjectDescriptor, PutOptions, SubscriptionDescriptor,
};
use queue_manager::{
    Answer, Connection, Failed, MessageDescriptor, ObjectName, QueueManager, Reason,
};
use seam::sync::{Condvar, Mutex};
use store::Store;
use tokio::sync::mpsc::UnboundedSender;

use crate::calls::{address_of, dead_letter_header, got, put_parts};
use crate::message::{Parts, read, write_sections};
use crate::work::{Consumer, Event, Fate, Job, LinkKey, MESSAGE_BYTES_MAX, Place, Trouble};

/// What queues are made from: a model whose queues many handles can get from.
const MODEL: &str = "SYSTEM.NDURABLE.MODEL.QUEUE";
/// Messages of a link that may be delivered and not settled.
const IN_FLIGHT_MAX: u32 = 500;

/// What a link that takes messages may do.
#[derive(Default)]
struct Permission {
    /// Up to which count of deliveries; counts go round.
    limit: u32,
    /// How many were sent.
    sent: u32,
    drain: bool,
    closed: bool,
    in_flight: u32,
}

impl Permission {
    fn has_credit(&self) -> bool {
        let left = self.limit.wrapping_sub(self.sent);
        left != 0 && left <= u32::MAX / 2
    }
}

struct Gate {
    permission: Mutex<Permission>,
    changed: Condvar,
}

/// A message that is delivered and not settled.
struct Delivery<S: Store> {
    connection: Connection<S>,
    queue: Handle,
    name: ObjectName,
    token: [u8; 16],
    descriptor: MessageDescriptor,
    gate: Arc<Gate>,
}

/// What threads of a conversation share.
pub(crate) struct Desk<S: Store> {
    manager: QueueManager<S>,
    options: ConnectOptions,
    events: UnboundedSender<Event>,
    deliveries: Mutex<BTreeMap<u64, Delivery<S>>>,
    tokens: AtomicU64,
}

/// Does the jobs of a conversation.
pub(crate) struct Clerk<S: Store> {
    desk: Arc<Desk<S>>,
    connection: Connection<S>,
    producers: BTreeMap<LinkKey, Place>,
    gates: BTreeMap<LinkKey, Arc<Gate>>,
    transactions: BTreeMap<u64, Connection<S>>,
    /// Transactions in which something could not be done: they can only end without effect.
    doomed: Vec<u64>,
}

pub(crate) fn trouble_of(failed: Failed, what: &str) -> Trouble {
    let condition = match failed.0 {
        Reason::UNKNOWN_OBJECT_NAME => "amqp:not-found",
        Reason::NOT_AUTHORIZED => "amqp:unauthorized-access",
        Reason::Q_FULL => "amqp:resource-limit-exceeded",
        Reason::SELECTION_STRING_ERROR => "amqp:invalid-field",
        Reason::PUT_INHIBITED | Reason::GET_INHIBITED => "amqp:not-allowed",
        _ => "amqp:internal-error",
    };
    Trouble { condition, words: format!("{what}: {failed}") }
}

impl<S: Store> Clerk<S> {
    pub(crate) fn new(
        manager: &QueueManager<S>,
        options: ConnectOptions,
        events: UnboundedSender<Event>,
    ) -> Answer<Clerk<S>> {
        let connection = manager.connect(options.clone())?;
        let desk = Desk {
            manager: manager.clone(),
            options,
            events,
            deliveries: Mutex::new(BTreeMap::new()),
            tokens: AtomicU64::new(1),
        };
        Ok(Clerk {
            desk: Arc::new(desk),
            connection,
            producers: BTreeMap::new(),
            gates: BTreeMap::new(),
            transactions: BTreeMap::new(),
            doomed: Vec::new(),
        })
    }

    /// Does a job.
    pub(crate) fn take(&mut self, job: Job) {
        match job {
            Job::Produce(key, place) => {
                let opened = self.produce(key, place);
                self.tell(Event::Opened(key, opened));
            }
            Job::Consume(key, consumer) => {
                let opened = self.consume(key, consumer);
                self.tell(Event::Opened(key, opened));
            }
            Job::Credit(key, limit, drain) => {
                if let Some(gate) = self.gates.get(&key) {
                    let mut permission = gate.permission.lock();
                    permission.limit = limit;
                    permission.drain = drain;
                    gate.changed.notify_all();
                }
            }
            Job::Put { key, delivery, message, transaction } => {
                let result = self.put(key, &message, transaction);
                self.tell(Event::Done { key, delivery, result, transaction });
            }
            Job::Settle { token, fate, transaction, answer } => {
                self.settle(token, fate, transaction);
                if let Some((channel, delivery)) = answer {
                    self.tell(Event::Settled { channel, delivery, fate });
                }
            }
            Job::Declare { key, delivery, transaction } => {
                let begun = self.desk.connect();
                let result = begun.map_err(|failed| trouble_of(failed, "a transaction"));
                let result = result.map(|begun| {
                    self.transactions.insert(transaction, begun);
                });
                let transaction = Some(transaction);
                self.tell(Event::Done { key, delivery, result, transaction });
            }
            Job::Discharge { key, delivery, transaction, fail } => {
                let result = self.discharge(transaction, fail);
                self.tell(Event::Done { key, delivery, result, transaction: None });
            }
            Job::Close(key) => {
                self.producers.remove(&key);
                if let Some(gate) = self.gates.remove(&key) {
                    gate.permission.lock().closed = true;
                    gate.changed.notify_all();
                }
            }
        }
    }

    /// Ends what the conversation has.
    pub(crate) fn end(mut self) {
        for gate in self.gates.values() {
            gate.permission.lock().closed = true;
            gate.changed.notify_all();
        }
        // Dropped, they are backed out, and what they have locked is seen by others again.
        self.transactions.clear();
        self.desk.deliveries.lock().clear();
        // What nobody committed stays nobody's: every put that was acknowledged is done.
        let _ = self.connection.disconnect();
    }

    fn tell(&self, event: Event) {
        // Who has gone needs no answer.
        let _ = self.desk.events.send(event);
    }

    fn queue(&self, name: &str) -> bool {
        self.desk.manager.object(Kind::QueueLocal, name).is_some()
    }

    fn produce(&mut self, key: LinkKey, place: Place) -> Result<Option<String>, Trouble> {
        let (place, address) = match place {
            Place::Dynamic => {
                let name = self.dynamic_queue()?;
                (Place::Named(name.clone()), Some(name))
            }
            place => (place, None),
        };
        if place != Place::Anonymous {
            // A link that could not be put to is refused when it is made.
            let mut what = self.described(&place);
            let opened = self.connection.open(&mut what, open::OUTPUT);
            let (handle, _) = opened.map_err(|failed| trouble_of(failed, &format!("{place:?}")))?;
            let _ = self.connection.close(handle, close::NONE);
        }
        self.producers.insert(key, place);
        Ok(address)
    }

    fn described(&self, place: &Place) -> ObjectDescriptor {
        match place {
            Place::Named(name) if self.queue(name) => ObjectDescriptor::queue(name),
            Place::Named(name) | Place::Topic(name) => {
                match self.desk.manager.object(Kind::Topic, name) {
                    Some(topic) => ObjectDescriptor {
                        object_type: object_type::TOPIC,
                        object_name: ObjectName::from(&*topic.name),
                        ..ObjectDescriptor::default()
                    },
                    None => ObjectDescriptor::topic(name),
                }
            }
            Place::Dynamic | Place::Anonymous => ObjectDescriptor::default(),
        }
    }

    /// A queue that lives as long as the conversation.
    fn dynamic_queue(&mut self) -> Result<String, Trouble> {
        let mut what = ObjectDescriptor::queue(MODEL);
        what.dynamic_q_name = ObjectName::from("AMQP.*");
        let opened = self.connection.open(&mut what, open::OUTPUT);
        opened.map_err(|failed| trouble_of(failed, "a queue for the link"))?;
        Ok(what.object_name.text())
    }

    fn put(&mut self, key: LinkKey, bytes: &[u8], transaction: Option<u64>) -> Result<(), Trouble> {
        let Some(place) = self.producers.get(&key).cloned() else {
            return Err(Trouble { condition: "amqp:not-found", words: "the link is gone".into() });
        };
        let Some(parts) = read(bytes) else {
            let words = "the message cannot be decoded".into();
            return Err(Trouble { condition: "amqp:decode-error", words });
        };
        let place = match place {
            Place::Anonymous => Place::Named(address_of(&parts).unwrap_or_default()),
            place => place,
        };
        let mut what = self.described(&place);
        let connection = match transaction {
            None => &mut self.connection,
            Some(id) => match self.transactions.get_mut(&id) {
                Some(connection) => connection,
                None => {
                    let words = "there is no such transaction".into();
                    return Err(Trouble { condition: "amqp:transaction:unknown-id", words });
                }
            },
        };
        let put = put_parts(connection, &mut what, parts, transaction.is_some());
        if let (Err(_), Some(id)) = (&put, transaction) {
            self.doomed.push(id);
        }
        put.map_err(|failed| trouble_of(failed, &format!("{place:?}")))
    }

    fn consume(&mut self, key: LinkKey, consumer: Consumer) -> Result<Option<String>, Trouble> {
        let (place, address) = match consumer.place.clone() {
            Place::Dynamic => {
                let name = self.dynamic_queue()?;
                (Place::Named(name.clone()), Some(name))
            }
            place => (place, None),
        };
        let gate = Arc::new(Gate { permission: Mutex::default(), changed: Condvar::new() });
        let what = self.described(&place);
        let mut taker = Taker {
            desk: Arc::clone(&self.desk),
            gate: Arc::clone(&gate),
            key,
            what,
            consumer,
            subscribed: None,
        };
        taker.begin().map_err(|failed| trouble_of(failed, &format!("{place:?}")))?;
        self.gates.insert(key, gate);
        tokio::task::spawn_blocking(move || taker.run());
        Ok(address)
    }

    fn settle(&mut self, token: u64, fate: Fate, transaction: Option<u64>) {
        let Some(mut delivery) = self.desk.deliveries.lock().remove(&token) else { return };
        {
            let mut permission = delivery.gate.permission.lock();
            permission.in_flight = permission.in_flight.saturating_sub(1);
            delivery.gate.changed.notify_all();
        }
        if let Some(id) = transaction {
            if fate == Fate::Accepted && self.take_over(id, &mut delivery).is_err() {
                self.doomed.push(id);
            }
            return;
        }
        let under_cursor = get::MSG_UNDER_CURSOR | get::ACCEPT_TRUNCATED_MSG;
        let mut descriptor = delivery.descriptor.clone();
        let (connection, queue) = (&mut delivery.connection, delivery.queue);
        let mut options = GetOptions::new(under_cursor | get::NO_SYNCPOINT);
        let mut rest = Vec::new();
        match fate {
            Fate::Accepted => {
                let _ = connection.get(queue, &mut descriptor, &mut options, 0, &mut rest);
            }
            // Dropped, the connection gives the lock back.
            Fate::Released => {}
            Fate::Failed => {
                options.options = under_cursor | get::SYNCPOINT;
                let _ = connection.get(queue, &mut descriptor, &mut options, 0, &mut rest);
                let _ = connection.back();
            }
            Fate::Rejected => self.reject(delivery),
        }
    }

    /// A message that was delivered becomes part of a transaction's unit of work.
    fn take_over(&mut self, id: u64, delivery: &mut Delivery<S>) -> Answer<()> {
        let connection = self.transactions.get_mut(&id).ok_or(Failed(Reason::UOW_NOT_AVAILABLE))?;
        let mut what = ObjectDescriptor { object_name: delivery.name, ..Default::default() };
        let (queue, _) = connection.open(&mut what, open::INPUT_SHARED)?;
        // Unlocked here and got there: whoever is faster dooms the transaction; nothing is lost.
        let mut unlock = GetOptions::new(get::UNLOCK);
        let mut descriptor = MessageDescriptor::default();
        let mut rest = Vec::new();
        delivery.connection.get(delivery.queue, &mut descriptor, &mut unlock, 0, &mut rest)?;
        let mut options = GetOptions::new(get::SYNCPOINT | get::ACCEPT_TRUNCATED_MSG);
        options.match_options = matching::MSG_TOKEN;
        options.msg_token = delivery.token;
        let mut descriptor = MessageDescriptor::default();
        connection.get(queue, &mut descriptor, &mut options, 0, &mut rest)?;
        let _ = connection.close(queue, close::NONE);
        Ok(())
    }

    /// A message that was rejected goes to the dead-letter queue, if there is one.
    fn reject(&self, mut delivery: Delivery<S>) {
        let object = self.desk.manager.object(Kind::QueueManager, self.desk.manager.name());
        let dead = object.map(|object| object.text_of("DEADQ").to_owned()).unwrap_or_default();
        if dead.is_empty() {
            return;
        }
        let connection = &mut delivery.connection;
        let mut options = GetOptions::new(get::MSG_UNDER_CURSOR | get::SYNCPOINT);
        let mut descriptor = delivery.descriptor.clone();
        let mut data = Vec::new();
        let got = connection.get(
            delivery.queue,
            &mut descriptor,
            &mut options,
            MESSAGE_BYTES_MAX,
            &mut data,
        );
        if got.is_err() {
            return;
        }
        let mut body = dead_letter_header(&descriptor, delivery.name, self.desk.manager.name());
        body.extend_from_slice(&data);
        descriptor.format = queue_manager::descriptor::value::format::DEAD_LETTER_HEADER;
        descriptor.ccsid = 1208;
        descriptor.encoding = queue_manager::descriptor::value::ENCODING_NATIVE;
        let mut what = ObjectDescriptor::queue(&dead);
        let mut options = PutOptions { options: put::SYNCPOINT, ..PutOptions::default() };
        let moved = connection.put1(&mut what, &mut descriptor, &mut options, &body);
        let _ = if moved.is_ok() { connection.commit() } else { connection.back() };
    }

    fn discharge(&mut self, transaction: u64, fail: bool) -> Result<(), Trouble> {
        let doomed = self.doomed.contains(&transaction);
        self.doomed.retain(|id| *id != transaction);
        let Some(mut connection) = self.transactions.remove(&transaction) else {
            let words = "there is no such transaction".into();
            return Err(Trouble { condition: "amqp:transaction:unknown-id", words });
        };
        if fail || doomed {
            let _ = connection.back();
            if doomed && !fail {
                let words = "something of the transaction could not be done".into();
                return Err(Trouble { condition: "amqp:transaction:rollback", words });
            }
            return Ok(());
        }
        let committed = connection.commit().map_err(|failed| {
            let trouble = trouble_of(failed, "the transaction");
            Trouble { condition: "amqp:transaction:rollback", ..trouble }
        });
        let _ = connection.disconnect();
        committed.map(|_| ())
    }
}

impl<S: Store> Desk<S> {
    fn connect(&self) -> Answer<Connection<S>> {
        self.manager.connect(self.options.clone())
    }
}

/// Takes messages for a link while there is credit.
struct Taker<S: Store> {
    desk: Arc<Desk<S>>,
    gate: Arc<Gate>,
    key: LinkKey,
    what: ObjectDescriptor,
    consumer: Consumer,
    /// The connection that reads along, or that has the subscription, with its queue.
    subscribed: Option<(Connection<S>, Handle)>,
}

impl<S: Store> Taker<S> {
    fn is_topic(&self) -> bool {
        self.what.object_type == object_type::TOPIC
    }

    /// Tries once what each message takes, so that a link that cannot work is refused.
    fn begin(&mut self) -> Answer<()> {
        let mut connection = self.desk.connect()?;
        if self.is_topic() {
            let mut what = SubscriptionDescriptor {
                options: subscribe::CREATE | subscribe::MANAGED,
                object_name: self.what.object_name,
                object_string: self.what.object_string.clone(),
                selection_string: self.consumer.selector.clone(),
                ..SubscriptionDescriptor::default()
            };
            let (queue, _, _) = connection.subscribe(&mut what, None)?;
            let queue = queue.ok_or(Failed(Reason::HOBJ_ERROR))?;
            self.subscribed = Some((connection, queue));
            return Ok(());
        }
        let queue = self.open(&mut connection)?;
        if self.consumer.browse {
            self.subscribed = Some((connection, queue));
        }
        Ok(())
    }

    fn open(&self, connection: &mut Connection<S>) -> Answer<Handle> {
        let mut what = self.what.clone();
        what.selection_string.clone_from(&self.consumer.selector);
        let browses = open::BROWSE | open::FAIL_IF_QUIESCING;
        let options = match self.consumer.browse {
            true => browses,
            false => browses | open::INPUT_SHARED,
        };
        connection.open(&mut what, options).map(|(handle, _)| handle)
    }

    fn run(mut self) {
        let mut spare: Option<(Connection<S>, Handle)> = None;
        let mut browsed = false;
        while let Some(drain) = self.wait() {
            let taken = match self.subscribed.take() {
                Some((mut connection, queue)) => {
                    let taken = self.take_here(&mut connection, queue, drain, &mut browsed);
                    self.subscribed = Some((connection, queue));
                    taken
                }
                None => self.take_locked(&mut spare, drain),
            };
            match taken {
                Ok(true) => {}
                Ok(false) if drain => {
                    let mut permission = self.gate.permission.lock();
                    // What the peer counts as used, is used.
                    if permission.has_credit() {
                        permission.sent = permission.limit;
                    }
                    permission.drain = false;
                    drop(permission);
                    let _ = self.desk.events.send(Event::Dry(self.key));
                }
                Ok(false) => {}
                Err(failed) => {
                    let trouble = trouble_of(failed, &self.what.object_name.text());
                    let _ = self.desk.events.send(Event::Broken(self.key, trouble));
                    return;
                }
            }
        }
    }

    /// Waits for credit: whether to drain; `None`: the link is closed.
    fn wait(&self) -> Option<bool> {
        let mut permission = self.gate.permission.lock();
        loop {
            if permission.closed {
                return None;
            }
            let may = permission.has_credit() && permission.in_flight < IN_FLIGHT_MAX;
            if may || permission.drain {
                return Some(permission.drain);
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

    fn send(&self, token: Option<u64>, descriptor: MessageDescriptor, parts: Parts) {
        let parts = Parts { descriptor, ..parts };
        let tag = match token {
            Some(token) => token,
            None => self.desk.tokens.fetch_add(1, Ordering::Relaxed),
        };
        let message = write_sections(&parts, self.desk.manager.name());
        let _ = self.desk.events.send(Event::Message { key: self.key, token, tag, message });
    }

    /// A message that stays where it is, or a publication.
    fn take_here(
        &self,
        connection: &mut Connection<S>,
        queue: Handle,
        drain: bool,
        browsed: &mut bool,
    ) -> Answer<bool> {
        let how = match (self.consumer.browse && !self.is_topic(), *browsed) {
            (false, _) => get::SYNCPOINT,
            (true, false) => get::BROWSE_FIRST,
            (true, true) => get::BROWSE_NEXT,
        };
        let Some((descriptor, parts, _)) = got(connection, queue, how, drain)? else {
            return Ok(false);
        };
        if how == get::SYNCPOINT {
            if !self.spend(0) {
                connection.back()?;
                return Ok(false);
            }
            connection.commit()?;
        } else {
            *browsed = true;
            if !self.spend(0) {
                return Ok(false);
            }
        }
        self.send(None, descriptor, parts);
        Ok(true)
    }

    /// A message that is locked until its delivery is settled.
    fn take_locked(
        &self,
        spare: &mut Option<(Connection<S>, Handle)>,
        drain: bool,
    ) -> Answer<bool> {
        let (mut connection, queue) = match spare.take() {
            Some(spare) => spare,
            None => {
                let mut connection = self.desk.connect()?;
                let queue = self.open(&mut connection)?;
                (connection, queue)
            }
        };
        let found = got(&mut connection, queue, get::BROWSE_FIRST | get::LOCK, drain)?;
        let Some((descriptor, parts, options)) = found else {
            *spare = Some((connection, queue));
            return Ok(false);
        };
        if !self.spend(1) {
            // The connection is dropped, and with it the lock.
            return Ok(false);
        }
        if self.consumer.settled {
            let mut options = GetOptions::new(
                get::MSG_UNDER_CURSOR | get::NO_SYNCPOINT | get::ACCEPT_TRUNCATED_MSG,
            );
            let mut again = descriptor.clone();
            connection.get(queue, &mut again, &mut options, 0, &mut Vec::new())?;
            let mut permission = self.gate.permission.lock();
            permission.in_flight = permission.in_flight.saturating_sub(1);
            drop(permission);
            *spare = Some((connection, queue));
            self.send(None, descriptor, parts);
            return Ok(true);
        }
        let token = self.desk.tokens.fetch_add(1, Ordering::Relaxed);
        let delivery = Delivery {
            connection,
            queue,
            name: options.resolved_q_name,
            token: options.msg_token,
            descriptor: descriptor.clone(),
            gate: Arc::clone(&self.gate),
        };
        self.desk.deliveries.lock().insert(token, delivery);
        self.send(Some(token), descriptor, parts);
        Ok(true)
    }
}
