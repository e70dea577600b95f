//! The message queue calls of a program in a region: they come the way of its other calls, and
//! are made in the region's unit of work.
//!
//! ```text
//!  program --> library --> client --> region's link --> server of the region --> Carried
//! ```
//!
//! | the region's unit of work | here |
//! |---|---|
//! | is lent for each call, and is the region's again behind it | [`Carried::serve`] |
//! | was committed, or backed out | [`Carried::settle`] |
//! | has ended, and it is not known how | [`Carried::abandon`] |
//! | goes back to a point | [`Carried::points`], [`Carried::return_to`] |
//!
//! Invariants:
//! 1. Nothing here ends the region's unit of work, nor a program that disconnects in the middle of
//!    it: what it has put and got stays in it. MQCMIT, MQBACK and MQBEGIN are refused
//!    (`ENVIRONMENT_ERROR`).
//! 2. A call takes no longer than a piece of a wait: who waits asks again. So the server of a
//!    region sees between two pieces that its program has gone, or that the system stops.
//! 3. A request that cannot be understood ends its connection.

use std::collections::BTreeMap;
use std::sync::Arc;

use queue_manager::options::ConnectOptions;
use queue_manager::reason::Answer;
use queue_manager::{Connection, Failed, Outcome, Point, QueueManager, Reason};
use store::Store;

use super::dialogue::{Dialogue, Reply};
use super::welcome::{About, is_asked_for, welcome};
use crate::wire::carried::{AnswerKind, PIECE_BYTES, RequestKind};
use crate::wire::frame::{self, FRAME_BYTES_MAX, HEADER_BYTES, Header};
use crate::wire::{Connecting, Request, Wanted};

/// How many connections a program may have.
const CONNECTIONS_MAX: usize = 64;

/// A queue manager in the store of a region's databases.
pub trait Managed<S: Store>: Send + Sync {
    /// Its name.
    fn name(&self) -> String;

    /// The queue manager itself.
    ///
    /// # Errors
    /// With the reason why it cannot be used.
    fn manager(&self) -> Answer<QueueManager<S>>;
}

impl<S: Store> Managed<S> for QueueManager<S> {
    fn name(&self) -> String {
        QueueManager::name(self).to_owned()
    }

    fn manager(&self) -> Answer<QueueManager<S>> {
        Ok(self.clone())
    }
}

/// The message queue calls of one program.
pub struct Carried<S: Store> {
    manager: Arc<dyn Managed<S>>,
    who: ConnectOptions,
    parties: BTreeMap<u64, Party<S>>,
    /// Connections that have ended before the unit of work has.
    leaving: Vec<Connection<S>>,
}

/// A connection of the program.
struct Party<S: Store> {
    connection: Connection<S>,
    dialogue: Dialogue,
    /// The frame that is coming in.
    request: Vec<u8>,
    /// The frame that goes out, and how much of it has gone.
    answer: (Vec<u8>, usize),
    /// A get that waits.
    pending: Option<(i32, Wanted)>,
    /// The program has disconnected.
    is_over: bool,
}

/// A point in a unit of work, for each connection that there was.
#[derive(Clone, Debug, Default)]
pub struct Points(Vec<(u64, Point)>);

impl<S: Store> Carried<S> {
    /// Of a program that works as `who`.
    #[must_use]
    pub fn new(manager: Arc<dyn Managed<S>>, who: ConnectOptions) -> Carried<S> {
        Carried { manager, who, parties: BTreeMap::new(), leaving: Vec::new() }
    }

    /// Answers a request ([`crate::wire::carried`]) in a unit of work, which begins if it has to.
    pub fn serve(&mut self, unit: &mut Option<S::Unit>, request: &[u8], answer: &mut Vec<u8>) {
        let Some((ask, number, bytes)) = RequestKind::read(request) else {
            return AnswerKind::Gone.write(0, 0, &[], answer);
        };
        if number == 0 {
            return self.connect(ask, bytes, answer);
        }
        let Some(party) = self.parties.get_mut(&number) else {
            return AnswerKind::Gone.write(number, 0, &[], answer);
        };
        let is_understood = match ask {
            RequestKind::IsThere => {
                AnswerKind::GoOn.write(number, 0, &[], answer);
                true
            }
            RequestKind::Part => {
                let fits = party.add(bytes);
                AnswerKind::GoOn.write(number, 0, &[], answer);
                fits
            }
            RequestKind::Call => party.add(bytes) && party.call(unit, answer).is_some(),
            RequestKind::Again => party.again(unit, answer).is_some(),
            RequestKind::More => {
                party.give(answer);
                true
            }
        };
        if !is_understood || party.is_over {
            self.part(number);
        }
        if !is_understood {
            AnswerKind::Gone.write(number, 0, &[], answer);
        }
    }

    /// A first frame: it has to be a connect.
    fn connect(&mut self, ask: RequestKind, bytes: &[u8], answer: &mut Vec<u8>) {
        let first = frame_of(bytes).and_then(|(header, fields, data)| {
            Request::read(header.kind, fields)
                .filter(|_| ask == RequestKind::Call && data.is_empty())
        });
        let Some(Request::Connect(Connecting { manager, program, thread, proof })) = first else {
            return AnswerKind::Gone.write(0, 0, &[], answer);
        };
        let program = queue_manager::name::unpadded(&program);
        let connected = is_asked_for(&manager, &self.manager.name()).and_then(|()| {
            match proof {
                // As everywhere here: nothing could tell whether they are right.
                Some(_) => Err(Failed(Reason::NOT_AUTHORIZED)),
                None => self.connection(&program, thread),
            }
        });
        let number = connected.as_ref().map(Connection::number).map_err(|failed| *failed);
        // Nothing is made again through a region: a name is enough.
        let about = About { name: self.manager.name(), ..About::default() };
        let fields = welcome(&about, number);
        let mut out = Vec::new();
        // A connect's answer is short, and goes into memory.
        let _ = frame::send(&mut out, CONNECT, &fields, &[]);
        AnswerKind::Answer.write(number.unwrap_or_default(), 0, &out, answer);
        if let Ok(connection) = connected {
            let party = Party {
                connection,
                dialogue: Dialogue::new(),
                request: Vec::new(),
                answer: (Vec::new(), 0),
                pending: None,
                is_over: false,
            };
            self.parties.insert(party.connection.number(), party);
        }
    }

    /// A new connection; or one that has ended in this unit of work, so that what it has put can be
    /// got in it.
    fn connection(&mut self, program: &str, thread: i32) -> Answer<Connection<S>> {
        if self.parties.len() >= CONNECTIONS_MAX {
            return Err(Failed(Reason::MAX_CONNS_LIMIT_REACHED));
        }
        if let Some(connection) = self.leaving.pop() {
            return Ok(connection);
        }
        let mut who = ConnectOptions { thread, ..self.who.clone() };
        if !program.is_empty() {
            program.clone_into(&mut who.application);
        }
        self.manager.manager()?.connect(who)
    }

    /// A connection ends; what was done in the unit of work stays in it.
    fn part(&mut self, number: u64) {
        let Some(mut party) = self.parties.remove(&number) else { return };
        party.connection.retire();
        if party.connection.has_work() {
            self.leaving.push(party.connection);
        }
    }

    /// Ends all connections of the program.
    pub fn disconnect_all(&mut self) {
        let numbers: Vec<u64> = self.parties.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.part(number));
    }

    fn connections(&mut self) -> impl Iterator<Item = &mut Connection<S>> {
        let parties = self.parties.values_mut().map(|party| &mut party.connection);
        parties.chain(&mut self.leaving)
    }

    /// Whether messages were put or got in the unit of work.
    #[must_use]
    pub fn has_work(&self) -> bool {
        !self.leaving.is_empty() || self.parties.values().any(|party| party.connection.has_work())
    }

    /// Whether the unit of work has to be backed out: a call has left something in it.
    #[must_use]
    pub fn must_back_out(&self) -> bool {
        self.parties.values().any(|party| party.connection.must_back_out())
    }

    /// The unit of work was committed, durably, or backed out. What stays got after a backout is
    /// got in the one that follows, which begins here if it has to.
    pub fn settle(&mut self, committed: bool, unit: &mut Option<S::Unit>) {
        self.connections().for_each(|one| one.settle_in(committed, unit));
        self.leaving.retain(Connection::has_work);
    }

    /// The unit of work has ended, and it is not known how: its messages stay held until the next
    /// start.
    pub fn abandon(&mut self) {
        self.connections().for_each(Connection::abandon);
        self.leaving.clear();
    }

    /// The point reached in the unit of work.
    pub fn points(&mut self) -> Points {
        Points(self.connections().map(|one| (one.number(), one.point())).collect())
    }

    /// The unit of work is back at a point in the store.
    pub fn return_to(&mut self, points: &Points) {
        for connection in self.connections() {
            let known = points.0.iter().find(|(number, _)| *number == connection.number());
            // One that was made since had done nothing then.
            connection.return_to(known.map_or_else(Point::default, |(_, point)| *point));
        }
        self.leaving.retain(Connection::has_work);
    }
}

/// Says that there is no queue manager for a program.
pub fn nowhere(answer: &mut Vec<u8>) {
    AnswerKind::Nowhere.write(0, 0, &[], answer);
}

/// The numbers of calls that end or begin a connection.
const CONNECT: u8 = 1;
const DISCONNECT: u8 = 2;

/// A whole frame's parts.
fn frame_of(bytes: &[u8]) -> Option<(Header, &[u8], &[u8])> {
    let (front, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let header = Header::read(*front)?;
    let (fields, data) = rest.split_at_checked(header.fields)?;
    (data.len() == header.data).then_some((header, fields, data))
}

impl<S: Store> Party<S> {
    /// Adds to the frame that comes in; `false` if it becomes longer than any may be.
    fn add(&mut self, bytes: &[u8]) -> bool {
        self.request.extend_from_slice(bytes);
        self.request.len() <= FRAME_BYTES_MAX
    }

    /// Makes the call that has come in; `None` if it is none.
    fn call(&mut self, unit: &mut Option<S::Unit>, answer: &mut Vec<u8>) -> Option<()> {
        let request = std::mem::take(&mut self.request);
        let (header, fields, data) = frame_of(&request)?;
        self.dialogue.buffer.clear();
        self.dialogue.buffer.extend_from_slice(data);
        let request = Request::read(header.kind, fields)?;
        self.make(unit, header.kind, request, answer);
        Some(())
    }

    /// Goes on with a get that waits.
    fn again(&mut self, unit: &mut Option<S::Unit>, answer: &mut Vec<u8>) -> Option<()> {
        let (handle, wanted) = self.pending.take()?;
        let request = Request::Get { handle, wanted };
        self.make(unit, request.kind(), request, answer);
        Some(())
    }

    fn make(
        &mut self,
        unit: &mut Option<S::Unit>,
        kind: u8,
        request: Request,
        answer: &mut Vec<u8>,
    ) {
        let number = self.connection.number();
        let get = match &request {
            Request::Get { handle, wanted } => Some((*handle, wanted.clone())),
            _ => None,
        };
        let reply = if kind == DISCONNECT {
            // The unit of work is not over: it ends with the region's.
            Reply::plain(Ok(Outcome::OK))
        } else {
            self.connection.lend(unit.take());
            let reply = self.dialogue.call(&mut self.connection, request, &|| false);
            *unit = self.connection.leave();
            reply
        };
        if let (Some(left), Some((handle, mut wanted))) = (reply.left_ms, get) {
            wanted.gmo.wait_interval = left;
            self.pending = Some((handle, wanted));
            return AnswerKind::Waits.write(number, 0, &[], answer);
        }
        let (fields, data) = self.dialogue.parts(reply);
        let mut out = Vec::with_capacity(HEADER_BYTES + fields.len() + data.len());
        // Memory takes what is given to it; an answer that is too long would be an empty one.
        let _ = frame::send(&mut out, kind, &fields, data);
        self.dialogue.rest();
        self.answer = (out, 0);
        self.give(answer);
        self.is_over = kind == DISCONNECT;
    }

    /// Gives the next piece of the answer.
    fn give(&mut self, answer: &mut Vec<u8>) {
        let (all, gone) = &mut self.answer;
        let rest = all.get(*gone..).unwrap_or_default();
        let piece = rest.get(..PIECE_BYTES).unwrap_or(rest);
        let left = (rest.len() - piece.len()) as u64;
        AnswerKind::Answer.write(self.connection.number(), left, piece, answer);
        *gone += piece.len();
        if left == 0 {
            self.answer = (Vec::new(), 0);
        }
    }
}
