//! What a conversation has the queue manager do, in threads that may wait.
//!
//! 1. Puts and settlements of a conversation are done in their order by one thread; each link that
//!    takes messages has a thread that waits for them while there is credit.
//! 2. Puts and settlements that wait at the same time are one unit of work, and each is answered
//!    when that is durable. One that is refused takes nothing of the others with it.
//! 3. A transaction is a unit of work of a connection of its own; a message that was delivered
//!    goes from its lock into that unit of work without being free in between.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use queue_manager::objects::Kind;
use queue_manager::options::value::{close, open};
use queue_manager::options::{ConnectOptions, Handle, ObjectDescriptor};
use queue_manager::properties::PropertyValue;
use queue_manager::{Answer, Connection, Failed, ObjectName, QueueManager, Reason};
use store::Store;
use tokio::sync::mpsc::UnboundedSender;

use crate::budget::Member;
use crate::calls::{place_of, put_parts};
use crate::context::{Commons, Context, Delivery, Gate, is_topic, shown};
use crate::error_condition::trouble_of;
use crate::message::{PROPERTIES_BYTES_MAX, PROPERTIES_MAX, Parts, limit, read};
use crate::subscriptions::Wanted;
use crate::taker::{From, Taker, Taking};
use crate::work::{Consumer, Event, Fate, Job, LinkKey, Place, Subscribing};
use crate::work::{TRANSACTIONS_MAX, Trouble, trouble};

/// What queues are made from: a model whose queues many handles can get from.
const MODEL: &str = "SYSTEM.NDURABLE.MODEL.QUEUE";
/// What one unit of work has of puts and settlements that wait at the same time.
const TOGETHER_MAX: usize = 64;
const TOGETHER_BYTES_MAX: usize = 4 << 20;
/// How long a link's thread may take to end.
const END: Duration = Duration::from_secs(5);
/// Why a message is a dead letter: an application did not want it.
const UNWANTED: Reason = Reason(65_536);
/// Says of a publication which client it is from.
const FROM: &str = "amqp_from";

/// Where a link leads that brings messages.
enum Target {
    To(Box<ObjectDescriptor>),
    /// Each message says where it goes.
    Anywhere,
}

/// A link that takes messages.
struct Consuming {
    gate: Arc<Gate>,
    connection: u64,
    subscription: Option<Subscribing>,
}

/// Does the jobs of a conversation.
pub(crate) struct Worker<S: Store> {
    context: Arc<Context<S>>,
    connection: Connection<S>,
    /// What the client calls itself.
    client: String,
    producers: BTreeMap<LinkKey, Target>,
    consumers: BTreeMap<LinkKey, Consuming>,
    /// Queues that were made for links.
    dynamic: BTreeMap<LinkKey, Handle>,
    transactions: BTreeMap<u64, Connection<S>>,
    /// Transactions in which something could not be done: they can only end without effect.
    doomed: BTreeSet<u64>,
    /// What is to be told when the unit of work of the conversation is committed.
    done: Vec<Event>,
    done_bytes: usize,
}

impl<S: Store> Worker<S> {
    pub(crate) fn new(
        manager: &QueueManager<S>,
        commons: &Arc<Commons<S>>,
        who: (ConnectOptions, Arc<Member>),
        events: UnboundedSender<Event>,
    ) -> Answer<Worker<S>> {
        let context = Arc::new(Context::new(manager, commons, who, events));
        let connection = context.connect()?;
        Ok(Worker {
            context,
            connection,
            client: String::new(),
            producers: BTreeMap::new(),
            consumers: BTreeMap::new(),
            dynamic: BTreeMap::new(),
            transactions: BTreeMap::new(),
            doomed: BTreeSet::new(),
            done: Vec::new(),
            done_bytes: 0,
        })
    }

    /// Does a job.
    pub(crate) fn take(&mut self, job: Job) {
        match job {
            Job::Put { key, delivery, message, transaction, room } => {
                self.put_and_tell(key, delivery, &message, transaction);
                drop(room);
                return;
            }
            Job::Settle { token, fate, transaction, answer } => {
                self.settle(token, fate, transaction, answer);
                return;
            }
            Job::Credit(key, limit, drain) => {
                if let Some(Consuming { gate, .. }) = self.consumers.get(&key) {
                    let mut permission = gate.permission.lock();
                    permission.limit = limit;
                    permission.drain = drain;
                    gate.changed.notify_all();
                }
                return;
            }
            _ => self.flush(),
        }
        match job {
            Job::Name(name) => self.client = name,
            Job::Produce(key, place) => {
                let opened = self.produce(key, &place);
                self.context.tell(Event::Opened(key, opened));
            }
            Job::Consume(key, consumer) => {
                let opened = self.consume(key, &consumer);
                self.context.tell(Event::Opened(key, opened));
            }
            Job::Declare { key, delivery, transaction } => {
                let result = self.declare(transaction);
                if result.is_err() {
                    self.context.tell(Event::NotBegun(transaction));
                }
                let transaction = Some(transaction);
                self.context.tell(Event::Done { key, delivery, result, transaction });
            }
            Job::Discharge { key, delivery, transaction, fail } => {
                let result = self.discharge(transaction, fail);
                self.context.tell(Event::Done { key, delivery, result, transaction: None });
            }
            Job::Close { key, for_good, answer } => {
                self.close(key, for_good);
                if answer {
                    self.context.tell(Event::Closed(key, for_good));
                }
            }
            Job::End(channel) => self.context.tell(Event::Ended(channel)),
            Job::Put { .. } | Job::Settle { .. } | Job::Credit(..) => {}
        }
    }

    /// Commits what was done, and tells of it.
    pub(crate) fn flush(&mut self) {
        if self.done.is_empty() {
            return;
        }
        let committed = self.connection.commit();
        self.tell_done(committed.err());
    }

    fn tell_done(&mut self, failed: Option<Failed>) {
        self.done_bytes = 0;
        for event in self.done.drain(..) {
            let event = match (event, failed) {
                (event, None) => event,
                (Event::Done { key, delivery, .. }, Some(failed)) => {
                    let result = Err(trouble_of(failed, "the message"));
                    Event::Done { key, delivery, result, transaction: None }
                }
                (Event::Settled { channel, delivery, .. }, Some(_)) => {
                    Event::Settled { channel, delivery, fate: Fate::Released }
                }
                (event, Some(_)) => event,
            };
            self.context.tell(event);
        }
    }

    /// Something of the unit of work failed in a way that may have ended all of it.
    fn give_up(&mut self, failed: Failed) {
        let _ = self.connection.back();
        self.tell_done(Some(failed));
    }

    /// Ends what the conversation has.
    pub(crate) fn end(mut self) {
        self.flush();
        self.context.end();
        // Dropped, they are backed out, and what was claimed is seen by others again.
        self.transactions.clear();
        self.context.deliveries.lock().clear();
        let links: Vec<LinkKey> = self.consumers.keys().copied().collect();
        for gate in self.consumers.values().map(|one| &one.gate) {
            gate.permission.lock().closed = true;
            gate.changed.notify_all();
        }
        links.into_iter().for_each(|key| self.close(key, false));
        self.context.deliveries.lock().clear();
        let _ = self.connection.disconnect();
    }

    fn close(&mut self, key: LinkKey, for_good: bool) {
        self.producers.remove(&key);
        if let Some(Consuming { gate, connection, subscription }) = self.consumers.remove(&key) {
            {
                let mut permission = gate.permission.lock();
                permission.closed = true;
                gate.changed.notify_all();
            }
            // It may wait for messages.
            let _ = self.context.manager.break_connection(connection);
            let mut permission = gate.permission.lock();
            while !permission.ended && gate.changed.wait_for(&mut permission, END) {}
            drop(permission);
            if let Some(which) = subscription {
                self.context.commons.subscriptions.leave(&self.context.asker(), &which, for_good);
            }
        }
        if let Some(handle) = self.dynamic.remove(&key) {
            // If somebody has messages of it, it goes with the last of them.
            let purged = self.connection.close(handle, close::DELETE_PURGE);
            if purged.is_err() {
                let _ = self.connection.close(handle, close::NONE);
            }
        }
    }

    /// What a link leads to, and its address if it was made for the link.
    fn place(&mut self, key: LinkKey, place: &Place) -> Result<(Place, Option<String>), Trouble> {
        match place {
            Place::DynamicQueue => {
                let mut what = ObjectDescriptor::queue(MODEL);
                what.dynamic_q_name = ObjectName::from("AMQP.*");
                let opened = self.connection.open(&mut what, open::OUTPUT);
                let opened = opened.map_err(|failed| trouble_of(failed, "a queue for the link"));
                self.dynamic.insert(key, opened?.0);
                let name = what.object_name.text();
                Ok((Place::Queue(name.clone()), Some(name)))
            }
            Place::DynamicTopic => {
                let name =
                    format!("AMQP/{:X}/{:X}", self.connection.number(), self.context.token());
                Ok((Place::Topic(name.clone()), Some(name)))
            }
            place => Ok((place.clone(), None)),
        }
    }

    fn produce(&mut self, key: LinkKey, place: &Place) -> Result<Option<String>, Trouble> {
        if *place == Place::Anonymous {
            self.producers.insert(key, Target::Anywhere);
            return Ok(None);
        }
        let (place, address) = self.place(key, place)?;
        let mut what = self.context.described(&place)?;
        // A link that could not be put to is refused when it is made.
        let opened = self.connection.open(&mut what.clone(), open::OUTPUT);
        let (handle, _) = opened.map_err(|failed| trouble_of(failed, &shown(&what)))?;
        let _ = self.connection.close(handle, close::NONE);
        what.selection_string.clear();
        self.producers.insert(key, Target::To(Box::new(what)));
        Ok(address)
    }

    fn put_and_tell(
        &mut self,
        key: LinkKey,
        delivery: u32,
        message: &[u8],
        transaction: Option<u64>,
    ) {
        if transaction.is_none() {
            self.make_room();
        }
        let result = self.put(key, message, transaction);
        let done = Event::Done { key, delivery, result: Ok(()), transaction };
        match (result, transaction) {
            (Ok(()), None) => self.is_done(done, message.len()),
            (Ok(()), Some(_)) => self.context.tell(done),
            (Err((trouble, failed)), _) => {
                if let (Some(failed), None) = (failed.filter(|it| !takes_nothing(*it)), transaction)
                {
                    self.give_up(failed);
                }
                let of = transaction.filter(|id| self.transactions.contains_key(id));
                self.doomed.extend(of);
                let result = Err(trouble);
                self.context.tell(Event::Done { key, delivery, result, transaction });
            }
        }
    }

    /// Something is done that is to be told when it is committed.
    fn is_done(&mut self, event: Event, bytes: usize) {
        self.done.push(event);
        self.done_bytes += bytes;
        if self.done.len() >= TOGETHER_MAX || self.done_bytes >= TOGETHER_BYTES_MAX {
            self.flush();
        }
    }

    fn put(
        &mut self,
        key: LinkKey,
        bytes: &[u8],
        transaction: Option<u64>,
    ) -> Result<(), (Trouble, Option<Failed>)> {
        let plain = |condition, words: &str| (Trouble { condition, words: words.into() }, None);
        let gone = || plain("amqp:not-found", "the link is gone");
        let target = self.producers.get(&key).ok_or_else(gone)?;
        let words = format!(
            "the message cannot be decoded, or has more than {PROPERTIES_MAX} properties, more \
             than {PROPERTIES_BYTES_MAX} bytes around its body, or too many values"
        );
        let no_message = || plain("amqp:decode-error", &words);
        let mut parts = read(bytes).ok_or_else(no_message)?;
        limit(&mut parts, self.context.manager.now_ms());
        let mut what = match target {
            Target::To(what) => (**what).clone(),
            Target::Anywhere => {
                let place = place_of(&parts);
                let place =
                    place.ok_or_else(|| plain("amqp:invalid-field", "it has no address"))?;
                self.context.described(&place).map_err(|trouble| (trouble, None))?
            }
        };
        if is_topic(&what) {
            self.sign(&mut parts);
        }
        let words = shown(&what);
        let connection = match transaction {
            None => &mut self.connection,
            Some(id) => self.transactions.get_mut(&id).ok_or_else(|| {
                plain("amqp:transaction:unknown-id", "there is no such transaction")
            })?,
        };
        let put = put_parts(connection, &mut what, parts, true);
        put.map_err(|failed| (trouble_of(failed, &words), Some(failed)))
    }

    /// Says in a publication which client it is from.
    fn sign(&self, parts: &mut Parts) {
        let client = PropertyValue::String(self.client.clone());
        parts.properties.push((FROM.to_owned(), client));
    }

    /// The selector of a subscription, which may leave out what the client publishes itself.
    fn selector(&self, consumer: &Consumer) -> String {
        if !consumer.no_local {
            return consumer.selector.clone();
        }
        let client = self.client.replace('\'', "''");
        let others = format!("({FROM} IS NULL OR {FROM} <> '{client}')");
        match consumer.selector.is_empty() {
            true => others,
            false => format!("{others} AND ({})", consumer.selector),
        }
    }

    fn consume(&mut self, key: LinkKey, consumer: &Consumer) -> Result<Option<String>, Trouble> {
        let gate = Arc::new(Gate::default());
        let taking = Taking { key, browse: consumer.browse, settled: consumer.settled };
        let (place, mut address) = self.place(key, &consumer.place)?;
        let mut subscription = None;
        let taker = if place == Place::Subscription {
            let which = consumer.subscription.as_ref();
            let which = which.ok_or_else(no_subscription)?;
            let asker = self.context.asker();
            address = Some(self.context.commons.subscriptions.enter(&asker, which, None)?);
            subscription = Some(which.clone());
            let from = From::Subscription(&which.name);
            Taker::open(&self.context, &gate, taking, &from)
        } else {
            let what = self.context.described(&place)?;
            if !is_topic(&what) {
                let from = From::Queue(&what, &consumer.selector);
                Taker::open(&self.context, &gate, taking, &from)
            } else {
                let taking = Taking { browse: false, ..taking };
                let (topic, selector) = (what.object_string.clone(), self.selector(consumer));
                let wanted = Wanted { topic, selector };
                match &consumer.subscription {
                    None => Taker::open(&self.context, &gate, taking, &From::Topic(&wanted)),
                    Some(which) => {
                        let commons = &self.context.commons.subscriptions;
                        commons.enter(&self.context.asker(), which, Some(wanted))?;
                        subscription = Some(which.clone());
                        let from = From::Subscription(&which.name);
                        Taker::open(&self.context, &gate, taking, &from)
                    }
                }
            }
        };
        let taker = match taker {
            Ok(taker) => taker,
            Err(trouble) => {
                if let Some(which) = subscription {
                    self.context.commons.subscriptions.leave(&self.context.asker(), &which, false);
                }
                return Err(trouble);
            }
        };
        let connection = taker.connection();
        self.consumers.insert(key, Consuming { gate, connection, subscription });
        tokio::task::spawn_blocking(move || taker.run());
        Ok(address)
    }

    fn settle(
        &mut self,
        token: u64,
        fate: Fate,
        transaction: Option<u64>,
        answer: Option<(u16, u32)>,
    ) {
        let settlement =
            |fate| answer.map(|(channel, delivery)| Event::Settled { channel, delivery, fate });
        let delivery = self.context.deliveries.lock().remove(&token);
        let Some(Delivery { claim, gate }) = delivery else {
            settlement(fate).into_iter().for_each(|event| self.context.tell(event));
            return;
        };
        gate.settled();
        let done = match (fate, transaction) {
            (Fate::Accepted, Some(id)) => {
                let connection = self.transactions.get_mut(&id);
                match connection.map(|one| one.take_claimed(claim, true, false)) {
                    Some(taken) => {
                        self.doomed.extend(taken.is_err().then_some(id));
                        fate
                    }
                    None => Fate::Released,
                }
            }
            (Fate::Accepted, None) => {
                self.make_room();
                match self.connection.take_claimed(claim, true, false) {
                    Ok(_) => return self.is_done(settlement(fate).unwrap_or(Event::Nothing), 0),
                    // It is there no longer.
                    Err(failed) if takes_nothing(failed) => fate,
                    Err(failed) => {
                        self.give_up(failed);
                        Fate::Released
                    }
                }
            }
            (Fate::Released, _) => {
                // Dropped, the claim gives the message back.
                drop(claim);
                fate
            }
            (Fate::Failed, _) => {
                self.flush();
                let _ = self.connection.take_claimed(claim, true, false);
                let _ = self.connection.back();
                fate
            }
            (Fate::Rejected, _) => {
                self.flush();
                self.reject(claim);
                fate
            }
        };
        settlement(done).into_iter().for_each(|event| self.context.tell(event));
    }

    /// Commits what is done so far if the unit of work of the conversation takes no more.
    fn make_room(&mut self) {
        if !self.connection.has_room() {
            self.flush();
        }
    }

    /// A message that was rejected goes to the dead-letter queue; if there is none, it goes back.
    fn reject(&mut self, claim: queue_manager::connection::Claim<S>) {
        let manager = &self.context.manager;
        let object = manager.object(Kind::QueueManager, manager.name());
        if object.is_none_or(|object| object.text_of("DEADQ").is_empty()) {
            return;
        }
        let from = (claim.queue(), ObjectName::BLANK);
        let connection = &mut self.connection;
        let Ok(Some((descriptor, data))) = connection.take_claimed(claim, true, true) else {
            let _ = connection.back();
            return;
        };
        let moved = connection.dead_letter(&descriptor, &data, from, UNWANTED);
        let _ = if moved.is_ok() { connection.commit() } else { connection.back() };
    }

    fn declare(&mut self, transaction: u64) -> Result<(), Trouble> {
        if self.transactions.len() == TRANSACTIONS_MAX {
            let words = format!("a connection has at most {TRANSACTIONS_MAX} transactions");
            return trouble("amqp:resource-limit-exceeded", words);
        }
        let begun = self.context.connect().map_err(|failed| trouble_of(failed, "a transaction"))?;
        self.transactions.insert(transaction, begun);
        Ok(())
    }

    fn discharge(&mut self, transaction: u64, fail: bool) -> Result<(), Trouble> {
        let doomed = self.doomed.remove(&transaction);
        let Some(mut connection) = self.transactions.remove(&transaction) else {
            return trouble("amqp:transaction:unknown-id", "there is no such transaction");
        };
        if fail || doomed {
            let _ = connection.back();
            if doomed && !fail {
                let words = "something of the transaction could not be done";
                return trouble("amqp:transaction:rollback", words);
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

fn no_subscription() -> Trouble {
    Trouble { condition: "amqp:not-found", words: "there is no such subscription".into() }
}

/// Whether a call that failed for this reason left the unit of work as it was.
fn takes_nothing(failed: Failed) -> bool {
    let of_the_call = [
        Reason::UNKNOWN_OBJECT_NAME,
        Reason::UNKNOWN_ALIAS_BASE_Q,
        Reason::NOT_AUTHORIZED,
        Reason::Q_FULL,
        Reason::Q_DELETED,
        Reason::PUT_INHIBITED,
        Reason::MSG_TOO_BIG_FOR_Q,
        Reason::MSG_TOO_BIG_FOR_Q_MGR,
        Reason::PUBLICATION_FAILURE,
        Reason::NO_MSG_AVAILABLE,
        Reason::PROPERTY_NAME_ERROR,
        Reason::PROPERTY_NAME_TOO_BIG,
        Reason::TOPIC_STRING_ERROR,
    ];
    of_the_call.contains(&failed.0)
}
