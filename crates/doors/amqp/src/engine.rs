//! A conversation without its socket: frames and events in, bytes and jobs out.
//!
//! 1. Memory is bounded: a link that brings messages has [`CREDIT`] of them at a time, each of at
//!    most [`MESSAGE_BYTES_MAX`] bytes; one that takes them gets no more than its credit; a
//!    session sends no more frames than its window.
//! 2. A message is acknowledged when the queue manager has it: durably, if it is durable.
//! 3. A peer that breaks the protocol is told what it broke, and the conversation ends.
//! 4. Handles and channels are those of the peer: each link has one in both directions.

use std::collections::{BTreeMap, VecDeque};

use crate::frame::{self, AMQP, FRAME_BYTES_MAX, Frame};
use crate::link::{self, ATTACH, Link, Partial, Role, error_value};
use crate::value::{Value, field};
use crate::work::{Event, Fate, Job, LinkKey, MESSAGE_BYTES_MAX, Step, Trouble, trouble};

/// Messages that a link may bring at a time.
const CREDIT: u32 = 50;
/// Frames that a session may bring at a time.
const WINDOW: u32 = 2_048;
const SESSIONS_MAX: usize = 256;
const LINKS_MAX: usize = 1_024;
/// Frames that wait for a session's window.
const WAITING_MAX: usize = 100_000;

const OPEN: u64 = 0x10;
const BEGIN: u64 = 0x11;
const FLOW: u64 = 0x13;
const TRANSFER: u64 = 0x14;
const DISPOSITION: u64 = 0x15;
const DETACH: u64 = 0x16;
const END: u64 = 0x17;
const CLOSE: u64 = 0x18;

struct Session {
    next_incoming: u32,
    next_outgoing: u32,
    remote_window: u32,
    next_delivery: u32,
    links: BTreeMap<u32, Link>,
    /// Deliveries to the peer that it has not settled.
    unsettled: BTreeMap<u32, u64>,
    waiting: VecDeque<(Value, Vec<u8>)>,
}

/// A conversation.
#[derive(Default)]
pub(crate) struct Engine {
    /// Bytes for the peer.
    pub(crate) out: Vec<u8>,
    /// Jobs for the queue manager.
    pub(crate) jobs: Vec<Job>,
    /// Whether nothing more is to be read.
    pub(crate) closed: bool,
    /// How often the peer wants a sign of life.
    pub(crate) idle_ms: Option<u64>,
    container: String,
    opened: bool,
    peer_frame: usize,
    sessions: BTreeMap<u16, Session>,
    links_made: u64,
    transactions: u64,
    live_transactions: Vec<u64>,
}

fn uint(value: &Value) -> Option<u32> {
    value.number().and_then(|number| u32::try_from(number).ok())
}

impl Engine {
    pub(crate) fn new(container: &str) -> Engine {
        Engine { container: container.to_owned(), peer_frame: 512, ..Engine::default() }
    }

    /// Takes a frame.
    pub(crate) fn frame(&mut self, frame: Frame) {
        let Some((code, fields)) = frame.body else { return };
        let done = match (frame.kind, code, self.opened) {
            (AMQP, OPEN, false) => self.open(&fields),
            (AMQP, CLOSE, _) => {
                self.send(0, &Value::composite(CLOSE, vec![]), &[]);
                self.closed = true;
                Ok(())
            }
            (AMQP, _, true) => self.of_session(frame.channel, code, &fields, &frame.payload),
            _ => trouble("amqp:illegal-state", "a conversation begins with open"),
        };
        if let Err(trouble) = done {
            self.fail(&trouble);
        }
    }

    /// Ends the conversation because of the peer.
    pub(crate) fn fail(&mut self, trouble: &Trouble) {
        if !self.opened {
            let fields = vec![Value::Text(self.container.clone())];
            self.send(0, &Value::composite(OPEN, fields), &[]);
        }
        self.send(0, &Value::composite(CLOSE, vec![error_value(trouble)]), &[]);
        self.closed = true;
    }

    fn send(&mut self, channel: u16, body: &Value, payload: &[u8]) {
        frame::put(&mut self.out, AMQP, channel, body, payload);
    }

    fn open(&mut self, fields: &[Value]) -> Step {
        let limit = uint(field(fields, 2)).unwrap_or(u32::MAX).min(FRAME_BYTES_MAX);
        self.peer_frame = usize::try_from(limit).unwrap_or(512).max(512);
        self.idle_ms = field(fields, 4).number();
        self.opened = true;
        let offered = ["ANONYMOUS-RELAY"].map(Value::symbol).to_vec();
        let fields = vec![
            Value::Text(self.container.clone()),
            Value::Null,
            Value::Uint(FRAME_BYTES_MAX),
            Value::Ushort(u16::try_from(SESSIONS_MAX - 1).unwrap_or(255)),
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Array(offered),
        ];
        self.send(0, &Value::composite(OPEN, fields), &[]);
        Ok(())
    }

    fn of_session(&mut self, channel: u16, code: u64, fields: &[Value], payload: &[u8]) -> Step {
        match code {
            BEGIN => return self.begin(channel, fields),
            END => {
                if let Some(session) = self.sessions.remove(&channel) {
                    self.forget(&session);
                    self.send(channel, &Value::composite(END, vec![]), &[]);
                }
                return Ok(());
            }
            _ => {}
        }
        if !self.sessions.contains_key(&channel) {
            return trouble("amqp:not-allowed", "there is no session on that channel");
        }
        match code {
            ATTACH => self.attach(channel, fields),
            FLOW => self.flow(channel, fields),
            TRANSFER => self.transfer(channel, fields, payload),
            DISPOSITION => self.disposition(channel, fields),
            DETACH => self.detach(channel, fields),
            _ => trouble("amqp:not-implemented", "that is no performative"),
        }
    }

    fn begin(&mut self, channel: u16, fields: &[Value]) -> Step {
        if self.sessions.contains_key(&channel) || self.sessions.len() == SESSIONS_MAX {
            return trouble("amqp:resource-limit-exceeded", "there are too many sessions");
        }
        let next_incoming = uint(field(fields, 1)).unwrap_or(0);
        let remote_window = uint(field(fields, 2)).unwrap_or(0);
        self.sessions.insert(
            channel,
            Session {
                next_incoming,
                next_outgoing: 0,
                remote_window,
                next_delivery: 0,
                links: BTreeMap::new(),
                unsettled: BTreeMap::new(),
                waiting: VecDeque::new(),
            },
        );
        let fields = vec![
            Value::Ushort(channel),
            Value::Uint(0),
            Value::Uint(WINDOW),
            Value::Uint(WINDOW),
            Value::Uint(u32::try_from(LINKS_MAX - 1).unwrap_or(1_023)),
        ];
        self.send(channel, &Value::composite(BEGIN, fields), &[]);
        Ok(())
    }

    /// What a session had is given back.
    fn forget(&mut self, session: &Session) {
        for token in session.unsettled.values() {
            let (token, fate) = (*token, Fate::Released);
            self.jobs.push(Job::Settle { token, fate, transaction: None, answer: None });
        }
        self.jobs.extend(session.links.values().map(|link| Job::Close(link.key)));
    }

    fn session(&mut self, channel: u16) -> Result<&mut Session, Trouble> {
        match self.sessions.get_mut(&channel) {
            Some(session) => Ok(session),
            None => trouble("amqp:not-allowed", "there is no session on that channel"),
        }
    }

    fn attach(&mut self, channel: u16, fields: &[Value]) -> Step {
        let number = self.links_made;
        let Some(handle) = uint(field(fields, 1)) else {
            return trouble("amqp:decode-error", "an attach has no handle");
        };
        let session = self.session(channel)?;
        if session.links.contains_key(&handle) || session.links.len() == LINKS_MAX {
            return trouble("amqp:session:handle-in-use", "the handle is in use");
        }
        let key = LinkKey { channel, handle, number };
        let (link, job) = link::attached(key, fields);
        session.links.insert(handle, link);
        self.links_made += 1;
        match job {
            Ok(Some(job)) => self.jobs.push(job),
            Ok(None) => self.answer_attach(key, Ok(None)),
            Err(trouble) => self.answer_attach(key, Err(trouble)),
        }
        Ok(())
    }

    fn link(&mut self, key: LinkKey) -> Option<&mut Link> {
        let link = self.sessions.get_mut(&key.channel)?.links.get_mut(&key.handle)?;
        (link.key == key).then_some(link)
    }

    fn answer_attach(&mut self, key: LinkKey, result: Result<Option<String>, Trouble>) {
        let Some(link) = self.link(key) else { return };
        let answer = link::answer(link, result.as_ref().ok().and_then(Option::as_deref));
        match result {
            Ok(_) => {
                link.open = true;
                let brings = !matches!(link.role, Role::Consumer { .. });
                let asked = match link.role {
                    Role::Consumer { credit, drain, .. } if credit > 0 => Some((credit, drain)),
                    _ => None,
                };
                self.send(key.channel, &answer, &[]);
                if brings {
                    self.grant(key);
                }
                self.jobs.extend(asked.map(|(credit, drain)| Job::Credit(key, credit, drain)));
            }
            Err(trouble) => {
                // An attach that leads nowhere, and why it ends at once.
                let answer = link::refusal(link);
                self.send(key.channel, &answer, &[]);
                self.end_link(key, &trouble);
            }
        }
    }

    fn end_link(&mut self, key: LinkKey, trouble: &Trouble) {
        if self.link(key).is_none() {
            return;
        }
        let fields = vec![Value::Uint(key.handle), Value::Bool(true), error_value(trouble)];
        self.send(key.channel, &Value::composite(DETACH, fields), &[]);
        if let Some(session) = self.sessions.get_mut(&key.channel) {
            session.links.remove(&key.handle);
        }
        self.jobs.push(Job::Close(key));
    }

    /// Lets a link bring as many messages as it may have.
    fn grant(&mut self, key: LinkKey) {
        let Some(link) = self.link(key) else { return };
        link.credit = match link.role {
            Role::Producer { unanswered, .. } => CREDIT.saturating_sub(unanswered),
            _ => CREDIT,
        };
        let (count, credit) = (link.delivery_count, link.credit);
        self.send_flow(key.channel, Some((key.handle, count, credit, false)));
    }

    fn send_flow(&mut self, channel: u16, link: Option<(u32, u32, u32, bool)>) {
        let Some(session) = self.sessions.get(&channel) else { return };
        let mut fields = vec![
            Value::Uint(session.next_incoming),
            Value::Uint(WINDOW),
            Value::Uint(session.next_outgoing),
            Value::Uint(WINDOW),
        ];
        if let Some((handle, count, credit, drain)) = link {
            fields.extend([handle, count, credit].map(Value::Uint));
            fields.extend([Value::Null, Value::Bool(drain)]);
        }
        self.send(channel, &Value::composite(FLOW, fields), &[]);
    }

    fn flow(&mut self, channel: u16, fields: &[Value]) -> Step {
        let session = self.session(channel)?;
        let next = uint(field(fields, 0)).unwrap_or(0);
        let window = uint(field(fields, 1)).unwrap_or(0);
        session.remote_window = next.wrapping_add(window).wrapping_sub(session.next_outgoing);
        self.send_waiting(channel)?;
        let echo = field(fields, 9).is_true();
        let Some(handle) = uint(field(fields, 4)) else {
            if echo {
                self.send_flow(channel, None);
            }
            return Ok(());
        };
        let session = self.session(channel)?;
        let Some(link) = session.links.get_mut(&handle) else {
            return trouble("amqp:session:unattached-handle", "a flow is for no link");
        };
        let (key, open) = (link.key, link.open);
        let count = uint(field(fields, 5)).unwrap_or(link.delivery_count);
        let asked = uint(field(fields, 6));
        if let (Role::Consumer { credit, drain, .. }, Some(asked)) = (&mut link.role, asked) {
            *credit = count.wrapping_add(asked).wrapping_sub(link.delivery_count).min(asked);
            *drain = field(fields, 8).is_true();
            let job = Job::Credit(key, count.wrapping_add(asked), *drain);
            if open {
                self.jobs.push(job);
            }
        }
        if echo {
            let link = self.link(key).map(|link| (handle, link.delivery_count, link.credit, false));
            self.send_flow(channel, link);
        }
        Ok(())
    }

    fn transfer(&mut self, channel: u16, fields: &[Value], payload: &[u8]) -> Step {
        let handle = uint(field(fields, 0)).unwrap_or(u32::MAX);
        let more = field(fields, 5).is_true();
        let aborted = field(fields, 9).is_true();
        let session = self.session(channel)?;
        session.next_incoming = session.next_incoming.wrapping_add(1);
        let renew = session.next_incoming % (WINDOW / 2) == 0;
        let Some(link) = session.links.get_mut(&handle) else {
            return trouble("amqp:session:unattached-handle", "a transfer is for no link");
        };
        let key = link.key;
        let (partial, coordinates) = match &mut link.role {
            Role::Producer { partial, .. } => (partial, false),
            Role::Coordinator { partial } => (partial, true),
            Role::Consumer { .. } => {
                return trouble("amqp:not-allowed", "a link that takes messages brought one");
            }
        };
        if partial.is_none() {
            let Some(delivery) = uint(field(fields, 1)) else {
                return trouble("amqp:decode-error", "a transfer has no delivery-id");
            };
            if link.credit == 0 {
                let words = "a message came without credit";
                return trouble("amqp:link:transfer-limit-exceeded", words);
            }
            let transaction = link::transaction_of(field(fields, 7));
            let settled = field(fields, 4).is_true();
            *partial = Some(Partial { delivery, settled, transaction, message: Vec::new() });
        }
        if let Some(partial) = partial.as_mut() {
            partial.settled |= field(fields, 4).is_true();
            if partial.message.len() + payload.len() > MESSAGE_BYTES_MAX {
                let words = "a message is longer than any may be";
                return trouble("amqp:link:message-size-exceeded", words);
            }
            partial.message.extend_from_slice(payload);
        }
        let whole = if aborted || !more { partial.take() } else { None };
        if let Some(whole) = whole {
            link.delivery_count = link.delivery_count.wrapping_add(1);
            link.credit = link.credit.saturating_sub(1);
            match coordinates {
                _ if aborted => {}
                true => self.coordinate(key, &whole)?,
                false => self.deliver(key, whole),
            }
        }
        if renew {
            self.send_flow(channel, None);
        }
        Ok(())
    }

    fn deliver(&mut self, key: LinkKey, whole: Partial) {
        if let Some(Link { role: Role::Producer { unanswered, .. }, .. }) = self.link(key) {
            *unanswered += 1;
        }
        // Who sends settled wants no answer; the number stands for that.
        let Partial { delivery, settled, transaction, message } = whole;
        let live = transaction.is_none_or(|id| self.live_transactions.contains(&id));
        let delivery = if settled { SETTLED } else { delivery };
        match live {
            true => self.jobs.push(Job::Put { key, delivery, message, transaction }),
            false => {
                let words = "there is no such transaction".into();
                let result = Err(Trouble { condition: "amqp:transaction:unknown-id", words });
                self.event(Event::Done { key, delivery, result, transaction: None });
            }
        }
    }

    fn coordinate(&mut self, key: LinkKey, whole: &Partial) -> Step {
        let delivery = whole.delivery;
        match link::coordination(&whole.message)? {
            None => {
                self.transactions += 1;
                let transaction = self.transactions;
                self.live_transactions.push(transaction);
                self.jobs.push(Job::Declare { key, delivery, transaction });
            }
            Some((transaction, fail)) => {
                let at = self.live_transactions.iter().position(|live| *live == transaction);
                match at {
                    Some(at) => {
                        self.live_transactions.remove(at);
                        self.jobs.push(Job::Discharge { key, delivery, transaction, fail });
                    }
                    None => {
                        let words = "there is no such transaction".into();
                        let condition = "amqp:transaction:unknown-id";
                        let result = Err(Trouble { condition, words });
                        self.event(Event::Done { key, delivery, result, transaction: None });
                    }
                }
            }
        }
        self.grant(key);
        Ok(())
    }

    fn disposition(&mut self, channel: u16, fields: &[Value]) -> Step {
        // What a producer says of its deliveries needs no answer: they are settled already.
        if !field(fields, 0).is_true() {
            return Ok(());
        }
        let Some(first) = uint(field(fields, 1)) else {
            return trouble("amqp:decode-error", "a disposition has no delivery-id");
        };
        let last = uint(field(fields, 2)).unwrap_or(first);
        let settled = field(fields, 3).is_true();
        let (fate, transaction) = link::fate(field(fields, 4));
        let (Some(fate), true) = (fate.or(settled.then_some(Fate::Accepted)), last >= first) else {
            return Ok(());
        };
        let session = self.session(channel)?;
        let ended: Vec<u32> = session.unsettled.range(first..=last).map(|(id, _)| *id).collect();
        for delivery in ended {
            let Some(token) = self.session(channel)?.unsettled.remove(&delivery) else { continue };
            let answer = (!settled).then_some((channel, delivery));
            self.jobs.push(Job::Settle { token, fate, transaction, answer });
        }
        Ok(())
    }

    fn detach(&mut self, channel: u16, fields: &[Value]) -> Step {
        let handle = uint(field(fields, 0)).unwrap_or(u32::MAX);
        // One that was ended from this side is gone already.
        if let Some(link) = self.session(channel)?.links.remove(&handle) {
            let fields = vec![Value::Uint(handle), Value::Bool(true)];
            self.send(channel, &Value::composite(DETACH, fields), &[]);
            self.jobs.push(Job::Close(link.key));
        }
        Ok(())
    }

    /// Takes what came of a job.
    pub(crate) fn event(&mut self, event: Event) {
        match event {
            Event::Opened(key, result) => self.answer_attach(key, result),
            Event::Done { key, delivery, result, transaction } => {
                self.done(key, delivery, &result, transaction);
            }
            Event::Message { key, token, tag, message } => {
                self.message(key, token, tag, &message);
            }
            Event::Dry(key) => {
                let Some(link) = self.link(key) else { return };
                let Role::Consumer { credit, drain, .. } = &mut link.role else { return };
                if std::mem::take(drain) {
                    let unused = std::mem::take(credit);
                    link.delivery_count = link.delivery_count.wrapping_add(unused);
                    let count = link.delivery_count;
                    self.send_flow(key.channel, Some((key.handle, count, 0, true)));
                }
            }
            Event::Broken(key, trouble) => self.end_link(key, &trouble),
            Event::Settled { channel, delivery, fate } => {
                if self.sessions.contains_key(&channel) {
                    let state = link::state(fate);
                    self.send(channel, &disposition(false, delivery, state), &[]);
                }
            }
        }
    }

    fn done(
        &mut self,
        key: LinkKey,
        delivery: u32,
        result: &Result<(), Trouble>,
        transaction: Option<u64>,
    ) {
        let Some(link) = self.link(key) else { return };
        let coordinator = matches!(link.role, Role::Coordinator { .. });
        if let Role::Producer { unanswered, .. } = &mut link.role {
            *unanswered = unanswered.saturating_sub(1);
        }
        let renew = !coordinator && link.credit < CREDIT / 2;
        if delivery != SETTLED {
            let state = match (result, transaction) {
                (Ok(()), Some(id)) if coordinator => link::declared(id),
                (Ok(()), Some(id)) => link::in_transaction(id),
                (Ok(()), None) => link::state(Fate::Accepted),
                (Err(trouble), _) => Value::composite(0x25, vec![error_value(trouble)]),
            };
            self.send(key.channel, &disposition(true, delivery, state), &[]);
        } else if let Err(trouble) = result {
            // Nobody waits for an answer: the link says it.
            self.end_link(key, &trouble.clone());
            return;
        }
        if renew {
            self.grant(key);
        }
    }

    fn message(&mut self, key: LinkKey, token: Option<u64>, tag: u64, message: &[u8]) {
        let gone = match self.link(key) {
            Some(link) => match &mut link.role {
                Role::Consumer { credit, .. } => {
                    *credit = credit.saturating_sub(1);
                    link.delivery_count = link.delivery_count.wrapping_add(1);
                    false
                }
                _ => true,
            },
            None => true,
        };
        if gone {
            // The link has ended meanwhile: the message goes back.
            let back = |token| Job::Settle {
                token,
                fate: Fate::Released,
                transaction: None,
                answer: None,
            };
            self.jobs.extend(token.map(back));
            return;
        }
        let room = self.peer_frame.saturating_sub(128).max(256);
        let Some(session) = self.sessions.get_mut(&key.channel) else { return };
        let delivery = session.next_delivery;
        session.next_delivery = delivery.wrapping_add(1);
        session.unsettled.extend(token.map(|token| (delivery, token)));
        let chunks = message.chunks(room).len().max(1);
        for at in 0..chunks {
            let part = message.chunks(room).nth(at).unwrap_or_default();
            let first = at == 0;
            let body = vec![
                Value::Uint(key.handle),
                if first { Value::Uint(delivery) } else { Value::Null },
                if first { Value::Binary(tag.to_be_bytes().to_vec()) } else { Value::Null },
                if first { Value::Uint(0) } else { Value::Null },
                Value::Bool(token.is_none()),
                Value::Bool(at + 1 < chunks),
            ];
            session.waiting.push_back((Value::composite(TRANSFER, body), part.to_vec()));
        }
        if let Err(trouble) = self.send_waiting(key.channel) {
            self.fail(&trouble);
        }
    }

    fn send_waiting(&mut self, channel: u16) -> Step {
        loop {
            let session = self.session(channel)?;
            if session.waiting.len() > WAITING_MAX {
                let words = "a session takes no frames";
                return trouble("amqp:resource-limit-exceeded", words);
            }
            if session.remote_window == 0 {
                return Ok(());
            }
            let Some((body, payload)) = session.waiting.pop_front() else { return Ok(()) };
            session.remote_window -= 1;
            session.next_outgoing = session.next_outgoing.wrapping_add(1);
            self.send(channel, &body, &payload);
        }
    }
}

/// The number of a delivery that is settled already.
const SETTLED: u32 = u32::MAX;

fn disposition(receiver: bool, delivery: u32, state: Value) -> Value {
    let fields =
        vec![Value::Bool(receiver), Value::Uint(delivery), Value::Null, Value::Bool(true), state];
    Value::composite(DISPOSITION, fields)
}
