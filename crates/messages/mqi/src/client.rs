//! The program's side of a connection: calls that go over a socket, over the network, or the way of
//! the calls of the region that the program is in.
//!
//! Invariants:
//! 1. A connection that failed in the middle of a call is broken from then on: what would be read
//!    next might be half an answer.
//! 2. With a [`Recovery`] it is made again, with everything that the program has open; what that
//!    means for the call on its way says `keeper.rs`.

mod answers;
mod keeper;

use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::time::Duration;

use queue_manager::branch::{BranchAnswer, BranchCall, BranchError};
use queue_manager::options::value;
use queue_manager::properties::PropertyValue;
use queue_manager::{Completion, Outcome, Reason};

use self::answers::{object_answer, outcome, posting_answer, wanted_answer};
use self::keeper::{Held, Keeper, Then, shorten};
use crate::stream::{Carrier, Network, Stream};
use crate::structures::{Md, Sd, Sts};
use crate::table::Structure as _;
use crate::wire;
use crate::wire::codec::Reader;
use crate::wire::frame::{self, Incoming};
use crate::wire::{Connecting, Entry, Object, Posting, Request, Wanted, property};

/// A connection to a queue manager.
#[derive(Debug)]
pub struct Client {
    incoming: Incoming<Stream>,
    broken: bool,
    name: String,
    number: i64,
    identifier: String,
    unit_is_default: bool,
    /// If the connection is made again when it breaks.
    again: Option<Box<Again>>,
}

/// Makes a connection that broke again.
pub trait Recovery: Send {
    /// Time since some fixed moment.
    fn now(&self) -> Duration;

    /// Connects until somebody answers and `restores` what was open there.
    ///
    /// # Errors
    /// Why there is no connection: `RECONNECTING` if another call is to try again, anything else
    /// if that is for good.
    fn reconnect(
        &mut self,
        restores: &mut dyn FnMut(&mut Client) -> Result<(), Reason>,
    ) -> Result<Client, Reason>;
}

/// What a connection needs to be made again.
struct Again {
    keeper: Keeper,
    /// None, once a transaction manager has a part in it.
    recovery: Option<Box<dyn Recovery>>,
    /// The connection is gone, and not made again yet.
    is_lost: bool,
    /// Why it was given up.
    given_up: Option<Reason>,
    /// How often it was made again.
    times: u64,
}

impl std::fmt::Debug for Again {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Again").field("keeper", &self.keeper).finish_non_exhaustive()
    }
}

/// Where message data goes.
enum Sink<'a> {
    Nowhere,
    Room(&'a mut [u8]),
    All(&'a mut Vec<u8>),
}

impl Sink<'_> {
    /// For another try.
    fn again(&mut self) -> Sink<'_> {
        match self {
            Sink::Nowhere => Sink::Nowhere,
            Sink::Room(room) => Sink::Room(room),
            Sink::All(all) => Sink::All(all),
        }
    }
}

/// What came for a call.
struct Answer {
    outcome: Outcome,
    fields: Vec<u8>,
}

const BROKEN: Outcome = Outcome::failed(Reason::CONNECTION_BROKEN);

impl Client {
    /// Connects to the queue manager that listens at a path.
    ///
    /// # Errors
    /// The outcome that the program is told: `Q_MGR_NOT_AVAILABLE` if no manager listens there.
    pub fn connect(path: &Path, connecting: Connecting) -> Result<Client, Outcome> {
        let stream = seam::socket::connect(path)
            .map_err(|_| Outcome::failed(Reason::Q_MGR_NOT_AVAILABLE))?;
        Client::begin(Stream::Socket(stream), &Request::Connect(connecting))
    }

    /// Connects to the queue manager of the region that this process is a program of.
    ///
    /// # Errors
    /// The outcome that the program is told: `Q_MGR_NOT_AVAILABLE` if there is none.
    pub fn carried(carrier: Box<dyn Carrier>, connecting: Connecting) -> Result<Client, Outcome> {
        Client::begin(Stream::carried(carrier), &Request::Connect(connecting))
    }

    /// Connects to the queue manager at the other end of a connection over the network.
    ///
    /// # Errors
    /// The outcome that the program is told.
    pub fn enter(
        network: Box<dyn Network>,
        entry: Entry,
        connecting: Connecting,
    ) -> Result<Client, Outcome> {
        let stream = Stream::Network(RefCell::new(network));
        Client::begin(stream, &Request::Enter(entry, connecting))
    }

    fn begin(stream: Stream, request: &Request) -> Result<Client, Outcome> {
        let incoming = Incoming::new(stream);
        let mut client = Client {
            incoming,
            broken: false,
            name: String::new(),
            number: 0,
            identifier: String::new(),
            unit_is_default: false,
            again: None,
        };
        let answer = client.call(request, &[], Sink::Nowhere)?;
        if answer.outcome.completion == Completion::Failed {
            return Err(answer.outcome);
        }
        let mut from = Reader::new(&answer.fields);
        let name = from.bytes().and_then(|name| String::from_utf8(name.to_vec()).ok());
        client.name = name.ok_or(BROKEN)?;
        client.number = from.long().ok_or(BROKEN)?;
        // Those of a system of an earlier version do not say more.
        if !from.is_done() {
            let name = from.bytes().and_then(|name| String::from_utf8(name.to_vec()).ok());
            client.identifier = name.ok_or(BROKEN)?;
            client.unit_is_default = from.flag().ok_or(BROKEN)?;
        }
        Ok(client)
    }

    /// Has the connection made again when it breaks; `same_manager`: to the same queue manager
    /// alone. Nothing is open yet.
    pub fn recovers(&mut self, recovery: Box<dyn Recovery>, same_manager: bool) {
        let keeper = Keeper::new(self.unit_is_default, same_manager);
        let recovery = Some(recovery);
        let again = Again { keeper, recovery, is_lost: false, given_up: None, times: 0 };
        self.again = Some(Box::new(again));
    }

    /// How often the connection was made again: what the other side alone knew is gone by that.
    #[must_use]
    pub fn times_made_again(&self) -> u64 {
        self.again.as_ref().map_or(0, |again| again.times)
    }

    /// The queue manager's identifier, which no other one has.
    #[must_use]
    pub fn identifier(&self) -> &str {
        &self.identifier
    }

    /// The queue manager's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The connection's number, as displays show it.
    #[must_use]
    pub fn number(&self) -> i64 {
        self.number
    }

    /// Whether the connection goes through a region: its unit of work is the region's.
    #[must_use]
    pub fn is_carried(&self) -> bool {
        self.incoming.get_ref().is_carried()
    }

    /// Whether the connection is still there: a region may have ended it at a sync point.
    #[must_use]
    pub fn is_there(&self) -> bool {
        !self.broken && self.incoming.get_ref().is_there()
    }

    /// Disconnects: commits.
    pub fn disconnect(&mut self) -> Outcome {
        let outcome = self.plain(&Request::Disconnect);
        self.broken = true;
        outcome
    }

    /// A call that has nothing to return but its outcome.
    pub fn plain(&mut self, request: &Request) -> Outcome {
        match self.call(request, &[], Sink::Nowhere) {
            Ok(answer) => answer.outcome,
            Err(outcome) => outcome,
        }
    }

    /// Opens an object; returns its handle, its resolved topic string, and the answers for the
    /// destinations of a list.
    pub fn open(
        &mut self,
        object: &mut Object,
        options: i32,
    ) -> (Outcome, i32, String, Vec<Outcome>) {
        let request = Request::Open { object: object.clone(), options };
        let read = |from: &mut Reader<'_>| {
            let (od, string, all) = object_answer(from, object)?;
            Some((od, from.number()?, string, all))
        };
        match self.typed(&request, &[], Sink::Nowhere, read) {
            Ok((outcome, Some((od, handle, string, all)))) => {
                let before = std::mem::replace(&mut object.od, od);
                let resolved = object.od.object_name;
                let object = || Object { od: before, ..object.clone() };
                let kept = self.keep(outcome, handle, || Held::Object {
                    object: object(),
                    options,
                    resolved,
                });
                (outcome, kept, string, all)
            }
            Ok((outcome, None)) | Err(outcome) => (outcome, -1, String::new(), Vec::new()),
        }
    }

    /// The program's number of a handle that a call has made.
    fn keep(&mut self, outcome: Outcome, there: i32, held: impl FnOnce() -> Held) -> i32 {
        match &mut self.again {
            Some(again) if outcome.completion != Completion::Failed => {
                again.keeper.keep(there, held())
            }
            _ => there,
        }
    }

    /// Puts a message; returns the answers for the destinations of a list.
    pub fn put(
        &mut self,
        handle: i32,
        posting: &mut Posting,
        data: &[u8],
    ) -> (Outcome, Vec<Outcome>) {
        let request = Request::Put { handle, posting: posting.clone() };
        let read = |from: &mut Reader<'_>| posting_answer(from, posting);
        match self.typed(&request, data, Sink::Nowhere, read) {
            Ok((outcome, Some((after, all)))) => {
                *posting = after;
                (outcome, all)
            }
            Ok((outcome, None)) | Err(outcome) => (outcome, Vec::new()),
        }
    }

    /// Opens an object, puts one message and closes it.
    pub fn put1(
        &mut self,
        object: &mut Object,
        posting: &mut Posting,
        data: &[u8],
    ) -> (Outcome, Vec<Outcome>) {
        let request = Request::Put1 { object: object.clone(), posting: posting.clone() };
        let read = |from: &mut Reader<'_>| {
            let (od, _, opened) = object_answer(from, object)?;
            let (after, put) = posting_answer(from, posting)?;
            Some((od, after, if put.is_empty() { opened } else { put }))
        };
        match self.typed(&request, data, Sink::Nowhere, read) {
            Ok((outcome, Some((od, after, all)))) => {
                object.od = od;
                *posting = after;
                (outcome, all)
            }
            Ok((outcome, None)) | Err(outcome) => (outcome, Vec::new()),
        }
    }

    /// Gets a message into a buffer; returns the message's length.
    pub fn get(&mut self, handle: i32, wanted: &mut Wanted, into: &mut [u8]) -> (Outcome, i32) {
        let request = Request::Get { handle, wanted: wanted.clone() };
        let read = |from: &mut Reader<'_>| wanted_answer(from, wanted);
        match self.typed(&request, &[], Sink::Room(into), read) {
            Ok((outcome, Some((after, length)))) => {
                self.note_got(wanted, &after, outcome);
                *wanted = after;
                (outcome, length)
            }
            Ok((outcome, None)) | Err(outcome) => (outcome, 0),
        }
    }

    /// Gets from whichever of several has a message first; returns its place and its length.
    pub fn consume(
        &mut self,
        wait_ms: i32,
        list: &mut [(i32, Wanted)],
        into: &mut Vec<u8>,
    ) -> (Outcome, Option<usize>, i32) {
        let request = Request::Consume { wait_ms, list: list.to_vec() };
        let read = |from: &mut Reader<'_>| {
            let place = usize::try_from(from.number()?).ok()?;
            let (after, length) = wanted_answer(from, &list.get(place)?.1)?;
            Some((place, after, length))
        };
        match self.typed(&request, &[], Sink::All(into), read) {
            Ok((outcome, Some((place, after, length)))) => {
                if let Some(one) = list.get_mut(place) {
                    self.note_got(&one.1, &after, outcome);
                    one.1 = after;
                }
                (outcome, Some(place), length)
            }
            Ok((outcome, None)) | Err(outcome) => (outcome, None, 0),
        }
    }

    fn note_got(&mut self, before: &Wanted, after: &Wanted, outcome: Outcome) {
        if let Some(again) = &mut self.again {
            again.keeper.got(before, after, outcome);
        }
    }

    /// Inquires attributes.
    pub fn inquire(&mut self, handle: i32, selectors: &[i32]) -> (Outcome, Vec<i32>, Vec<u8>) {
        let request = Request::Inquire { handle, selectors: selectors.to_vec() };
        let read = |from: &mut Reader<'_>| Some((from.numbers()?, from.bytes()?.to_vec()));
        match self.typed(&request, &[], Sink::Nowhere, read) {
            Ok((outcome, Some((numbers, characters)))) => (outcome, numbers, characters),
            Ok((outcome, None)) | Err(outcome) => (outcome, Vec::new(), Vec::new()),
        }
    }

    /// Subscribes; returns the topic string, the queue's handle and the subscription's.
    pub fn subscribe(
        &mut self,
        sd: &mut Sd,
        texts: &[String; 4],
        handle: i32,
    ) -> (Outcome, String, i32, i32) {
        let request = Request::Subscribe { sd: sd.clone(), texts: texts.clone(), handle };
        let read = |from: &mut Reader<'_>| {
            let after = from.structure(sd)?;
            let string = String::from_utf8(from.bytes()?.to_vec()).ok()?;
            Some((after, string, from.number()?, from.number()?))
        };
        match self.typed(&request, &[], Sink::Nowhere, read) {
            Ok((outcome, Some((after, string, queue, subscription)))) => {
                let before = std::mem::replace(sd, after);
                let (queue, subscription) =
                    self.keep_subscription(outcome, (queue, subscription), || (before, texts));
                (outcome, string, queue, subscription)
            }
            Ok((outcome, None)) | Err(outcome) => (outcome, String::new(), -1, -1),
        }
    }

    /// The program's numbers of the handles of a queue and a subscription to it.
    fn keep_subscription<'t>(
        &mut self,
        outcome: Outcome,
        (queue, subscription): (i32, i32),
        made_by: impl FnOnce() -> (Sd, &'t [String; 4]),
    ) -> (i32, i32) {
        let Some(again) = &mut self.again else { return (queue, subscription) };
        if outcome.completion == Completion::Failed {
            return (queue, subscription);
        }
        let (sd, texts) = made_by();
        let is_managed = sd.options & value::subscribe::MANAGED != 0;
        let queue = match is_managed {
            true => again.keeper.keep(queue, Held::Managed),
            false => again.keeper.here(queue),
        };
        let held = Held::Subscription { sd, texts: texts.clone(), queue };
        (queue, again.keeper.keep(subscription, held))
    }

    /// Asks for retained publications; returns how many come.
    pub fn subscription_request(&mut self, handle: i32, action: i32) -> (Outcome, i32) {
        let request = Request::SubscriptionRequest { handle, action };
        self.value(&request, |from| from.number()).unwrap_or_else(|bad| (bad, 0))
    }

    /// What became of puts that no call waited for.
    pub fn status(&mut self, kind: i32) -> (Outcome, Sts) {
        let request = Request::Status { kind };
        let read = |from: &mut Reader<'_>| from.structure(&Sts::initial());
        self.value(&request, read).unwrap_or_else(|bad| (bad, Sts::initial()))
    }

    /// Makes a message handle.
    pub fn create_handle(&mut self) -> (Outcome, i64) {
        let read = |from: &mut Reader<'_>| from.long();
        self.value(&Request::CreateHandle, read).unwrap_or_else(|bad| (bad, -1))
    }

    /// Inquires a property; returns its name and value.
    ///
    /// # Errors
    /// The outcome, if there is none.
    pub fn inquire_property(
        &mut self,
        handle: i64,
        name: &str,
        which: i32,
    ) -> Result<(Outcome, String, PropertyValue), Outcome> {
        let request = Request::InquireProperty { handle, name: name.to_owned(), which };
        let (outcome, (name, value)) = self.value(&request, |from| {
            let name = String::from_utf8(from.bytes()?.to_vec()).ok()?;
            Some((name, property(from.number()?, from.bytes()?)?))
        })?;
        Ok((outcome, name, value))
    }

    /// Moves properties between a buffer and a message handle; the buffer that comes of it is in
    /// `into`.
    pub fn turn(&mut self, request: &Request, data: &[u8], into: &mut Vec<u8>) -> (Outcome, Md) {
        let base = match request {
            Request::BufferToHandle { md, .. } | Request::HandleToBuffer { md, .. } => md.clone(),
            _ => Md::initial(),
        };
        let read = |from: &mut Reader<'_>| from.structure(&base);
        match self.typed(request, data, Sink::All(into), read) {
            Ok((outcome, Some(after))) => (outcome, after),
            Ok((outcome, None)) | Err(outcome) => (outcome, base.clone()),
        }
    }

    /// Asks as a transaction manager about a branch.
    ///
    /// # Errors
    /// Why it is not done; [`BranchError::Stopping`] if the connection is broken.
    pub fn branch(&mut self, call: &BranchCall) -> Result<BranchAnswer, BranchError> {
        let answer = self.value(&Request::Branch(call.clone()), wire::branch::read_answer);
        answer.map_or(Err(BranchError::Stopping), |(_, answer)| answer)
    }

    /// A call whose answer has a value unless it failed.
    fn value<T>(
        &mut self,
        request: &Request,
        read: impl FnOnce(&mut Reader<'_>) -> Option<T>,
    ) -> Result<(Outcome, T), Outcome> {
        match self.typed(request, &[], Sink::Nowhere, read)? {
            (outcome, Some(value)) if outcome.completion != Completion::Failed => {
                Ok((outcome, value))
            }
            (outcome, _) => Err(outcome),
        }
    }

    /// A call and what is read of its answer's fields; nothing, if it has none but the outcome.
    fn typed<T>(
        &mut self,
        request: &Request,
        data: &[u8],
        sink: Sink<'_>,
        read: impl FnOnce(&mut Reader<'_>) -> Option<T>,
    ) -> Result<(Outcome, Option<T>), Outcome> {
        let answer = self.call(request, data, sink)?;
        if answer.fields.is_empty() || answer.fields == (-1_i32).to_le_bytes() {
            return Ok((answer.outcome, None));
        }
        let mut from = Reader::new(&answer.fields);
        match read(&mut from).filter(|_| from.is_done()) {
            Some(value) => Ok((answer.outcome, Some(value))),
            None => {
                self.broken = true;
                Err(BROKEN)
            }
        }
    }

    fn call(&mut self, request: &Request, data: &[u8], sink: Sink<'_>) -> Result<Answer, Outcome> {
        if self.broken {
            let why = self.again.as_ref().and_then(|again| again.given_up);
            return Err(why.map_or(BROKEN, Outcome::failed));
        }
        if let Some(mut again) = self.again.take() {
            let answer = self.call_again(&mut again, request, data, sink);
            self.again = Some(again);
            return answer;
        }
        self.call_once(request, data, sink)
    }

    fn call_once(
        &mut self,
        request: &Request,
        data: &[u8],
        sink: Sink<'_>,
    ) -> Result<Answer, Outcome> {
        let answer = self.exchange(request, data, sink);
        self.broken = answer.is_err();
        answer.map_err(|error| match error.kind() {
            io::ErrorKind::NotConnected => Outcome::failed(Reason::HCONN_ERROR),
            io::ErrorKind::AddrNotAvailable => Outcome::failed(Reason::Q_MGR_NOT_AVAILABLE),
            _ => BROKEN,
        })
    }

    /// A call on a connection that is made again when it breaks.
    fn call_again(
        &mut self,
        again: &mut Again,
        request: &Request,
        data: &[u8],
        mut sink: Sink<'_>,
    ) -> Result<Answer, Outcome> {
        if matches!(request, Request::Branch(_)) {
            // What a branch has done is known where it was done.
            again.recovery = None;
        }
        let Some(recovery) = &again.recovery else {
            let answer = self.call_once(&again.keeper.translated(request), data, sink)?;
            again.keeper.done(request, answer.outcome);
            return Ok(answer);
        };
        if matches!(request, Request::Disconnect) {
            return self.leave(again);
        }
        let (began, mut request) = (recovery.now(), request.clone());
        if !again.is_lost && !self.incoming.get_ref().is_there() {
            again.is_lost = true;
            again.keeper.lost();
        }
        loop {
            if again.is_lost {
                self.make_again(again)?;
                shorten(&mut request, || {
                    again.recovery.as_ref().map(|one| one.now()).unwrap_or_default() - began
                });
            }
            again.keeper.admits(&request)?;
            let sent = again.keeper.translated(&request);
            if let Ok(answer) = self.exchange(&sent, data, sink.again()) {
                again.keeper.done(&request, answer.outcome);
                return Ok(answer);
            }
            again.is_lost = true;
            if let Then::Ends(outcome) = again.keeper.interrupted(&request) {
                return Err(match self.make_again(again) {
                    // Another call makes it again; what became of this one is told all the same.
                    Err(later) if later.reason != Reason::RECONNECTING => later,
                    Ok(()) | Err(_) => outcome,
                });
            }
        }
    }

    /// Disconnects. Nothing is made again for that; what it would have committed is not.
    fn leave(&mut self, again: &mut Again) -> Result<Answer, Outcome> {
        let was_told = again.keeper.admits(&Request::Commit);
        if again.is_lost {
            return Err(was_told.err().unwrap_or(BROKEN));
        }
        let answer = self.call_once(&Request::Disconnect, &[], Sink::Nowhere)?;
        was_told.map(|()| answer)
    }

    /// Makes the connection again, with what was open.
    fn make_again(&mut self, again: &mut Again) -> Result<(), Outcome> {
        let Again { keeper, recovery: Some(recovery), .. } = again else { return Err(BROKEN) };
        match recovery.reconnect(&mut |fresh| restore(keeper, fresh)) {
            Ok(fresh) => {
                let again_then = self.again.take();
                *self = Client { again: again_then, ..fresh };
                again.is_lost = false;
                again.times += 1;
                Ok(())
            }
            Err(Reason::RECONNECTING) => Err(Outcome::failed(Reason::RECONNECTING)),
            Err(reason) => {
                self.broken = true;
                again.given_up = Some(reason);
                Err(Outcome::failed(reason))
            }
        }
    }

    fn exchange(&mut self, request: &Request, data: &[u8], sink: Sink<'_>) -> io::Result<Answer> {
        let fields = request.fields();
        frame::send(&mut self.incoming.get_ref(), request.kind(), &fields, data)?;
        let (header, fields) = self.incoming.begin()?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut from = Reader::new(&fields);
        let outcome = outcome(&mut from).filter(|_| header.kind == request.kind());
        let outcome = outcome.ok_or(io::ErrorKind::InvalidData)?;
        match sink {
            Sink::Nowhere => self.incoming.fill_and_drop(header.data, &mut [])?,
            Sink::Room(room) => self.incoming.fill_and_drop(header.data, room)?,
            Sink::All(all) => {
                all.clear();
                self.incoming.append(header.data, all)?;
            }
        }
        let fields = fields.get(8..).unwrap_or_default().to_vec();
        Ok(Answer { outcome, fields })
    }
}

fn done(outcome: Outcome) -> Result<(), Reason> {
    match outcome.completion {
        Completion::Failed => Err(outcome.reason),
        _ => Ok(()),
    }
}

/// Opens everything again that a program had open, over a new connection.
fn restore(keeper: &mut Keeper, fresh: &mut Client) -> Result<(), Reason> {
    let all: Vec<(i32, Held)> =
        keeper.handles.iter().map(|(handle, kept)| (*handle, kept.held.clone())).collect();
    for (handle, held) in &all {
        match held {
            Held::Object { object, options, resolved } => {
                let there = reopen(fresh, object, *options, resolved)?;
                keeper.move_to(*handle, there);
            }
            // One whose subscription is gone leads nowhere.
            Held::Managed => keeper.move_to(*handle, -1),
            Held::Subscription { .. } => {}
        }
    }
    for (handle, held) in all {
        if let Held::Subscription { mut sd, texts, queue } = held {
            let is_managed = sd.options & value::subscribe::MANAGED != 0;
            if sd.options & value::subscribe::DURABLE != 0 {
                // It is there, whoever has made it.
                sd.options &= !(value::subscribe::CREATE | value::subscribe::ALTER);
                sd.options |= value::subscribe::RESUME;
            }
            let to = if is_managed { -1 } else { keeper.there(queue) };
            let (outcome, _, own, there) = fresh.subscribe(&mut sd, &texts, to);
            done(outcome)?;
            keeper.move_to(handle, there);
            if is_managed {
                keeper.move_to(queue, own);
            }
        }
    }
    Ok(())
}

/// Opens an object again: a dynamic queue by the name that it had, and if it has gone with the
/// connection, a new one of that name.
fn reopen(
    fresh: &mut Client,
    object: &Object,
    options: i32,
    resolved: &[u8; 48],
) -> Result<i32, Reason> {
    let mut same = object.clone();
    let is_dynamic = same.od.object_name != *resolved;
    same.od.object_name = *resolved;
    let (mut outcome, mut handle, ..) = fresh.open(&mut same, options);
    if is_dynamic && outcome.reason == Reason::UNKNOWN_OBJECT_NAME {
        let mut made = object.clone();
        made.od.dynamic_q_name = *resolved;
        (outcome, handle, ..) = fresh.open(&mut made, options);
    }
    done(outcome).map(|()| handle)
}
