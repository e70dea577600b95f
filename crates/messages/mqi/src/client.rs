//! The program's side of a connection: calls that go over a socket, over the network, or the way of
//! the calls of the region that the program is in.
//!
//! Invariants:
//! 1. A connection that failed in the middle of a call is broken from then on: what would be read
//!    next might be half an answer.

use std::cell::RefCell;
use std::io;
use std::path::Path;

use queue_manager::branch::{BranchAnswer, BranchCall, BranchError};
use queue_manager::properties::PropertyValue;
use queue_manager::{Completion, Outcome, Reason};

use crate::stream::{Carrier, Network, Stream};
use crate::structures::{Md, Sd, Sts};
use crate::table::Structure as _;
use crate::wire;
use crate::wire::codec::Reader;
use crate::wire::frame::{self, Incoming};
use crate::wire::{Connecting, Entry, Object, Posting, Request, Wanted, property, read_records};

/// A connection to a queue manager.
#[derive(Debug)]
pub struct Client {
    incoming: Incoming<Stream>,
    broken: bool,
    name: String,
    number: i64,
}

/// Where message data goes.
enum Sink<'a> {
    Nowhere,
    Room(&'a mut [u8]),
    All(&'a mut Vec<u8>),
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
    /// The outcome that the program is told: `Q_MGR_NOT_AVAILABLE` if nobody listens there.
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
        let mut client = Client { incoming, broken: false, name: String::new(), number: 0 };
        let answer = client.call(request, &[], Sink::Nowhere)?;
        if answer.outcome.completion == Completion::Failed {
            return Err(answer.outcome);
        }
        let mut from = Reader::new(&answer.fields);
        let name = from.bytes().and_then(|name| String::from_utf8(name.to_vec()).ok());
        client.name = name.ok_or(BROKEN)?;
        client.number = from.long().ok_or(BROKEN)?;
        Ok(client)
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
                object.od = od;
                (outcome, handle, string, all)
            }
            Ok((outcome, None)) | Err(outcome) => (outcome, -1, String::new(), Vec::new()),
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
                    one.1 = after;
                }
                (outcome, Some(place), length)
            }
            Ok((outcome, None)) | Err(outcome) => (outcome, None, 0),
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
                *sd = after;
                (outcome, string, queue, subscription)
            }
            Ok((outcome, None)) | Err(outcome) => (outcome, String::new(), -1, -1),
        }
    }

    /// Asks for retained publications; returns how many come.
    pub fn subscription_request(&mut self, handle: i32, action: i32) -> (Outcome, i32) {
        let request = Request::SubscriptionRequest { handle, action };
        self.value(&request, |from| from.number()).unwrap_or_else(|bad| (bad, 0))
    }

    /// What became of puts that nobody waited for.
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
            return Err(BROKEN);
        }
        let answer = self.exchange(request, data, sink);
        self.broken = answer.is_err();
        answer.map_err(|error| match error.kind() {
            io::ErrorKind::NotConnected => Outcome::failed(Reason::HCONN_ERROR),
            io::ErrorKind::AddrNotAvailable => Outcome::failed(Reason::Q_MGR_NOT_AVAILABLE),
            _ => BROKEN,
        })
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

fn outcome(from: &mut Reader<'_>) -> Option<Outcome> {
    let completion = match from.number()? {
        0 => Completion::Ok,
        1 => Completion::Warning,
        2 => Completion::Failed,
        _ => return None,
    };
    Some(Outcome { completion, reason: Reason(from.number()?) })
}

fn outcomes(from: &mut Reader<'_>) -> Option<Vec<Outcome>> {
    let count = from.count(8)?;
    (0..count).map(|_| outcome(from)).collect()
}

fn object_answer(
    from: &mut Reader<'_>,
    object: &Object,
) -> Option<(crate::structures::Od, String, Vec<Outcome>)> {
    let od = from.structure(&object.od)?;
    let string = String::from_utf8(from.bytes()?.to_vec()).ok()?;
    Some((od, string, outcomes(from)?))
}

fn posting_answer(from: &mut Reader<'_>, posting: &Posting) -> Option<(Posting, Vec<Outcome>)> {
    let md = from.structure(&posting.md)?;
    let pmo = from.structure(&posting.pmo)?;
    let (records, wants_responses) = (read_records(from)?, posting.wants_responses);
    // The caller has memory for as many as it has sent.
    (records.len() <= posting.records.len()).then_some(())?;
    Some((Posting { md, pmo, records, wants_responses }, outcomes(from)?))
}

fn wanted_answer(from: &mut Reader<'_>, wanted: &Wanted) -> Option<(Wanted, i32)> {
    let md = from.structure(&wanted.md)?;
    let gmo = from.structure(&wanted.gmo)?;
    Some((Wanted { md, gmo, room: wanted.room }, from.number()?))
}
