//! A conversation without its socket: frames and events in, bytes and jobs out.
//!
//! 1. Memory is bounded, for the conversation, its user and the door: a link that brings messages
//!    has [`CREDIT`] of them at a time, each of at most [`MESSAGE_BYTES_MAX`] bytes; one that
//!    takes them gets no more than its credit; a session sends no more frames than its window.
//! 2. A message is acknowledged when the queue manager has it: durably, if it is durable.
//! 3. A peer that breaks the protocol is told what it broke, and the conversation ends.
//! 4. Handles and channels are those of the peer: each link has one in both directions.
//! 5. An end of a link or a session is answered when all that it had is free for others.

use std::sync::Arc;

use crate::budget::Member;
use crate::clients::{Client, Clients};
use crate::ending::Ending;
use crate::frame::{self, AMQP, FRAME_BYTES_MAX, Frame};
use crate::link::{self, ATTACH, Link, Partial, Role, error_value};
use crate::session::{Outgoing, Session, TRANSFER};
use crate::sessions::{Brought, LINKS_MAX, SESSIONS_MAX, Sessions, WINDOW};
use crate::transactions::Transactions;
use crate::value::{Value, field};
use crate::work::{Event, Fate, Job, LinkKey, Step, TRANSACTIONS_MAX, Trouble, trouble};

/// Messages that a link may bring at a time.
const CREDIT: u32 = 200;
/// How often a peer is to give a sign of life.
pub(crate) const IDLE_MS: u32 = 60_000;

const OPEN: u64 = 0x10;
const BEGIN: u64 = 0x11;
const FLOW: u64 = 0x13;
const DISPOSITION: u64 = 0x15;
const DETACH: u64 = 0x16;
const END: u64 = 0x17;
const CLOSE: u64 = 0x18;
const ERROR: u64 = 0x1d;

/// A conversation.
#[derive(Default)]
pub(crate) struct Engine {
    /// Bytes for the peer.
    pub(crate) out: Vec<u8>,
    /// Jobs for the queue manager.
    pub(crate) jobs: Vec<Job>,
    /// Whether nothing more is to be read.
    pub(crate) closed: bool,
    /// Puts and transactions that are not answered yet.
    pub(crate) unanswered: usize,
    /// Whose conversation it is; nobody's: its messages need no room in a door.
    pub(crate) member: Option<Arc<Member>>,
    /// What the server calls itself.
    container: String,
    client: Client,
    sessions: Sessions,
    ending: Ending,
    transactions: Transactions,
}

impl Engine {
    /// A conversation of a server of that name with one of its clients.
    pub(crate) fn new(container: &str, clients: &Arc<Clients>) -> Engine {
        Engine {
            container: container.to_owned(),
            client: Client::new(clients),
            ..Engine::default()
        }
    }

    /// Takes a frame.
    pub(crate) fn frame(&mut self, frame: Frame) {
        let code = frame.body.as_ref().map(|(code, _)| *code);
        let of_session = frame.kind == AMQP && code.is_some_and(|code| code != CLOSE);
        let frame = if of_session { self.ending.pass(frame) } else { Some(frame) };
        let Some(Frame { kind, channel, body: Some((code, fields)), payload }) = frame else {
            return;
        };
        let done = match (kind, code, self.client.has_opened()) {
            (AMQP, OPEN, false) => self.open(&fields),
            (AMQP, CLOSE, _) => {
                self.send(0, &Value::composite(CLOSE, vec![]), &[]);
                self.closed = true;
                Ok(())
            }
            (AMQP, _, true) => self.of_session(channel, code, &fields, &payload),
            _ => trouble("amqp:illegal-state", "a conversation begins with open"),
        };
        if let Err(trouble) = done {
            self.fail(&trouble);
        }
    }

    /// How often the peer wants a sign of life.
    pub(crate) fn idle_ms(&self) -> Option<u64> {
        self.client.idle_ms()
    }

    /// The client is here no longer: another one may have its name.
    pub(crate) fn leave(&mut self) {
        self.client.leave();
    }

    /// Ends the conversation because of the peer.
    pub(crate) fn fail(&mut self, trouble: &Trouble) {
        if !self.client.has_opened() {
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
        let welcome = self.client.open(fields);
        let name = field(fields, 0).text().unwrap_or_default();
        let offered = ["ANONYMOUS-RELAY", "SHARED-SUBS"].map(Value::symbol).to_vec();
        let mut properties = vec![
            (Value::symbol("product"), Value::Text("Holdfast".into())),
            (Value::symbol("version"), Value::Text(env!("CARGO_PKG_VERSION").into())),
        ];
        if !welcome {
            let failed = Value::symbol("amqp:connection-establishment-failed");
            properties.push((failed, Value::Bool(true)));
        }
        let fields = vec![
            Value::Text(self.container.clone()),
            Value::Null,
            Value::Uint(FRAME_BYTES_MAX),
            Value::Ushort(u16::try_from(SESSIONS_MAX - 1).unwrap_or(255)),
            Value::Uint(IDLE_MS),
            Value::Null,
            Value::Null,
            Value::Array(offered),
            Value::Null,
            Value::Map(properties),
        ];
        self.send(0, &Value::composite(OPEN, fields), &[]);
        match welcome {
            true => self.jobs.push(Job::Name(name.to_owned())),
            false => {
                let info = vec![(Value::symbol("invalid-field"), Value::symbol("container-id"))];
                let words = format!("a client that calls itself {name} is here already");
                let fields =
                    vec![Value::symbol("amqp:invalid-field"), Value::Text(words), Value::Map(info)];
                let close = vec![Value::composite(ERROR, fields)];
                self.send(0, &Value::composite(CLOSE, close), &[]);
                self.closed = true;
            }
        }
        Ok(())
    }

    fn of_session(&mut self, channel: u16, code: u64, fields: &[Value], payload: &[u8]) -> Step {
        match code {
            BEGIN => return self.begin(channel, fields),
            END => {
                if let Some(session) = self.sessions.end(channel) {
                    self.give_back(&session);
                    self.ending.begin(channel);
                    self.jobs.push(Job::End(channel));
                }
                return Ok(());
            }
            _ => {}
        }
        self.sessions.session(channel)?;
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
        let next_incoming = field(fields, 1).uint().unwrap_or(0);
        let remote_window = field(fields, 2).uint().unwrap_or(0);
        self.sessions.begin(channel, Session::new(next_incoming, remote_window))?;
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

    /// Gives back what a session had.
    fn give_back(&mut self, session: &Session) {
        self.jobs.extend(session.tokens().map(release));
        let keys = session.links.values().map(|link| link.key);
        self.jobs.extend(keys.map(|key| Job::Close { key, for_good: false, answer: false }));
    }

    fn attach(&mut self, channel: u16, fields: &[Value]) -> Step {
        let Some(handle) = field(fields, 1).uint() else {
            return trouble("amqp:decode-error", "an attach has no handle");
        };
        let attached = |key| link::attached(key, fields, self.client.name());
        let (key, job) = self.sessions.attach(channel, handle, attached)?;
        match job {
            Ok(Some(job)) => self.jobs.push(job),
            Ok(None) => self.answer_attach(key, Ok(None)),
            Err(trouble) => self.answer_attach(key, Err(trouble)),
        }
        Ok(())
    }

    fn answer_attach(&mut self, key: LinkKey, result: Result<Option<String>, Trouble>) {
        let Some(link) = self.sessions.link(key) else { return };
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
        if self.sessions.link(key).is_none() {
            return;
        }
        let fields = vec![Value::Uint(key.handle), Value::Bool(true), error_value(trouble)];
        self.send(key.channel, &Value::composite(DETACH, fields), &[]);
        self.drop_link(key.channel, key.handle, false, false);
    }

    /// Ends a link on this side: what it had delivered goes back, and then it closes.
    fn drop_link(&mut self, channel: u16, handle: u32, for_good: bool, answer: bool) {
        let Some((link, tokens)) = self.sessions.end_link(channel, handle) else { return };
        self.jobs.extend(tokens.into_iter().map(release));
        self.jobs.push(Job::Close { key: link.key, for_good, answer });
    }

    /// Lets a link bring as many messages as it may have.
    fn grant(&mut self, key: LinkKey) {
        let Some(link) = self.sessions.link(key) else { return };
        link.credit = match link.role {
            Role::Producer { unanswered, .. } => CREDIT.saturating_sub(unanswered),
            _ => CREDIT,
        };
        let (count, credit) = (link.delivery_count, link.credit);
        self.send_flow(key.channel, Some((key.handle, count, credit, false)));
    }

    fn send_flow(&mut self, channel: u16, link: Option<(u32, u32, u32, bool)>) {
        let Some(session) = self.sessions.find(channel) else { return };
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
        let session = self.sessions.session(channel)?;
        let next = field(fields, 0).uint().unwrap_or(0);
        let window = field(fields, 1).uint().unwrap_or(0);
        session.remote_window = next.wrapping_add(window).wrapping_sub(session.next_outgoing);
        self.send_waiting(channel);
        let echo = field(fields, 9).is_true();
        let Some(handle) = field(fields, 4).uint() else {
            if echo {
                self.send_flow(channel, None);
            }
            return Ok(());
        };
        let session = self.sessions.session(channel)?;
        let Some(link) = session.links.get_mut(&handle) else {
            return trouble("amqp:session:unattached-handle", "a flow is for no link");
        };
        let (key, open) = (link.key, link.open);
        let count = field(fields, 5).uint().unwrap_or(link.delivery_count);
        let asked = field(fields, 6).uint();
        if let (Role::Consumer { credit, drain, .. }, Some(asked)) = (&mut link.role, asked) {
            *credit = count.wrapping_add(asked).wrapping_sub(link.delivery_count).min(asked);
            *drain = field(fields, 8).is_true();
            let job = Job::Credit(key, count.wrapping_add(asked), *drain);
            if open {
                self.jobs.push(job);
            }
        }
        if echo {
            let link = self.sessions.link(key).map(|link| {
                let credit = match link.role {
                    Role::Consumer { credit, .. } => credit,
                    _ => link.credit,
                };
                (handle, link.delivery_count, credit, false)
            });
            self.send_flow(channel, link);
        }
        Ok(())
    }

    fn transfer(&mut self, channel: u16, fields: &[Value], payload: &[u8]) -> Step {
        let brought = self.sessions.transfer(channel, fields, payload, self.member.as_deref())?;
        let Brought { key, whole, coordinates, renew } = brought;
        match whole {
            Some(whole) if coordinates => self.coordinate(key, &whole)?,
            Some(whole) => self.deliver(key, whole),
            None => {}
        }
        if renew {
            self.send_flow(channel, None);
        }
        Ok(())
    }

    fn deliver(&mut self, key: LinkKey, whole: Partial) {
        if let Some(Link { role: Role::Producer { unanswered, .. }, .. }) = self.sessions.link(key)
        {
            *unanswered += 1;
        }
        // Who sends settled wants no answer; the number stands for that.
        let Partial { delivery, settled, transaction, message, room: (room, _) } = whole;
        let live = transaction.is_none_or(|id| self.transactions.is_live(id));
        let delivery = if settled { SETTLED } else { delivery };
        match live {
            true => {
                self.unanswered += 1;
                self.jobs.push(Job::Put { key, delivery, message, transaction, room });
            }
            false => {
                let words = "there is no such transaction".into();
                let result = Err(Trouble { condition: "amqp:transaction:unknown-id", words });
                self.done(key, delivery, &result, None);
            }
        }
    }

    fn coordinate(&mut self, key: LinkKey, whole: &Partial) -> Step {
        let delivery = whole.delivery;
        match link::coordination(&whole.message)? {
            None => match self.transactions.declare() {
                Some(transaction) => {
                    self.unanswered += 1;
                    self.jobs.push(Job::Declare { key, delivery, transaction });
                }
                None => {
                    let words = format!("a connection has at most {TRANSACTIONS_MAX} transactions");
                    let result = Err(Trouble { condition: "amqp:resource-limit-exceeded", words });
                    self.done(key, delivery, &result, None);
                }
            },
            Some((transaction, fail)) if self.transactions.end(transaction) => {
                self.unanswered += 1;
                self.jobs.push(Job::Discharge { key, delivery, transaction, fail });
            }
            Some(_) => {
                let words = "there is no such transaction".into();
                let result = Err(Trouble { condition: "amqp:transaction:unknown-id", words });
                self.done(key, delivery, &result, None);
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
        let Some(first) = field(fields, 1).uint() else {
            return trouble("amqp:decode-error", "a disposition has no delivery-id");
        };
        let last = field(fields, 2).uint().unwrap_or(first);
        let settled = field(fields, 3).is_true();
        let (fate, transaction) = link::fate(field(fields, 4));
        let (Some(fate), true) = (fate.or(settled.then_some(Fate::Accepted)), last >= first) else {
            return Ok(());
        };
        for (delivery, token) in self.sessions.session(channel)?.settled(first, last) {
            let answer = (!settled).then_some((channel, delivery));
            self.jobs.push(Job::Settle { token, fate, transaction, answer });
        }
        Ok(())
    }

    fn detach(&mut self, channel: u16, fields: &[Value]) -> Step {
        let handle = field(fields, 0).uint().unwrap_or(u32::MAX);
        let closed = field(fields, 1).is_true();
        // One that was ended from this side is gone already. The answer comes when it is.
        self.sessions.session(channel)?;
        self.drop_link(channel, handle, closed, true);
        Ok(())
    }

    /// Takes what came of a job.
    pub(crate) fn event(&mut self, event: Event) {
        match event {
            Event::Opened(key, result) => self.answer_attach(key, result),
            Event::Done { key, delivery, result, transaction } => {
                self.unanswered = self.unanswered.saturating_sub(1);
                self.done(key, delivery, &result, transaction);
            }
            Event::Message { key, token, tag, message, room } => {
                let (handle, link) = (key.handle, key.number);
                self.message(key, Outgoing { handle, link, token, tag, message, room });
            }
            Event::Dry(key, limit) => {
                let Some(link) = self.sessions.link(key) else { return };
                let Role::Consumer { credit, drain, .. } = &mut link.role else { return };
                let drained = std::mem::take(drain);
                *credit = 0;
                link.delivery_count = limit;
                self.send_flow(key.channel, Some((key.handle, limit, 0, drained)));
            }
            Event::Broken(key, trouble) => self.end_link(key, &trouble),
            Event::Closed(key, closed) => {
                if self.sessions.contains(key.channel) {
                    let fields = vec![Value::Uint(key.handle), Value::Bool(closed)];
                    self.send(key.channel, &Value::composite(DETACH, fields), &[]);
                }
            }
            Event::Ended(channel) => {
                self.send(channel, &Value::composite(END, vec![]), &[]);
                self.ending.end(channel).into_iter().for_each(|frame| self.frame(frame));
            }
            Event::NotBegun(transaction) => {
                self.transactions.end(transaction);
            }
            Event::Nothing => {}
            Event::Settled { channel, delivery, fate } => {
                if self.sessions.contains(channel) {
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
        let Some(link) = self.sessions.link(key) else { return };
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

    fn message(&mut self, key: LinkKey, outgoing: Outgoing) {
        let Some(Link { role: Role::Consumer { credit, .. }, delivery_count, .. }) =
            self.sessions.link(key)
        else {
            // The link has ended meanwhile: the message goes back.
            self.jobs.extend(outgoing.token.map(release));
            return;
        };
        *credit = credit.saturating_sub(1);
        *delivery_count = delivery_count.wrapping_add(1);
        let room = self.client.frame_room();
        if let Some(session) = self.sessions.find(key.channel) {
            session.take(outgoing, room);
        }
        self.send_waiting(key.channel);
    }

    fn send_waiting(&mut self, channel: u16) {
        let Some(session) = self.sessions.find(channel) else { return };
        let out = &mut self.out;
        while session.send_next(|body, part| frame::put(out, AMQP, channel, body, part)) {}
    }
}

/// What was delivered goes back.
fn release(token: u64) -> Job {
    Job::Settle { token, fate: Fate::Released, transaction: None, answer: None }
}

/// The number of a delivery that is settled already.
const SETTLED: u32 = u32::MAX;

fn disposition(receiver: bool, delivery: u32, state: Value) -> Value {
    let fields =
        vec![Value::Bool(receiver), Value::Uint(delivery), Value::Null, Value::Bool(true), state];
    Value::composite(DISPOSITION, fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::write;

    fn frame_of(code: u64, fields: Vec<Value>, payload: Vec<u8>) -> Frame {
        Frame { kind: AMQP, channel: 0, body: Some((code, fields)), payload }
    }

    /// A conversation with a link to the coordinator.
    fn with_coordinator() -> Engine {
        let mut engine = Engine::new("QM1", &Arc::default());
        engine.frame(frame_of(OPEN, vec![Value::Text("c".into())], vec![]));
        let window = [0, 100_000, 100_000].map(Value::Uint);
        engine.frame(frame_of(BEGIN, [vec![Value::Null], window.to_vec()].concat(), vec![]));
        let mut attach = vec![Value::Text("l".into()), Value::Uint(0), Value::Bool(false)];
        attach.resize(6, Value::Null);
        attach.push(Value::composite(0x30, vec![]));
        engine.frame(frame_of(ATTACH, attach, vec![]));
        engine
    }

    /// Declares a transaction; the job that begins it.
    fn declare(engine: &mut Engine, delivery: u32) -> Option<(LinkKey, u64)> {
        let declare = Value::composite(0x31, vec![]);
        let mut message = Vec::new();
        write(&Value::Described(Box::new((Value::Ulong(0x77), declare))), &mut message);
        engine.jobs.clear();
        let fields = vec![Value::Uint(0), Value::Uint(delivery), Value::Binary(vec![1])];
        engine.frame(frame_of(TRANSFER, fields, message));
        assert!(!engine.closed);
        match engine.jobs.pop()? {
            Job::Declare { key, transaction, .. } => Some((key, transaction)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_transaction_that_was_not_begun_is_forgotten_and_too_many_are_refused() {
        let mut engine = with_coordinator();
        for delivery in 0..1_000 {
            let (key, transaction) = declare(&mut engine, delivery).expect("it is to be begun");
            let result = trouble("amqp:resource-limit-exceeded", "no");
            let transaction_of = Some(transaction);
            engine.event(Event::NotBegun(transaction));
            engine.event(Event::Done { key, delivery, result, transaction: transaction_of });
        }
        assert_eq!(engine.transactions.live(), 0);
        for delivery in 0..1_000_u32 {
            let may = usize::try_from(delivery).unwrap() < TRANSACTIONS_MAX;
            assert_eq!(declare(&mut engine, 1_000 + delivery).is_some(), may);
        }
        assert_eq!(engine.transactions.live(), TRANSACTIONS_MAX);
    }
}
