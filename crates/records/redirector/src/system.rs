//! Another Holdfast system as a handler: its cluster, over its port for files.
//!
//! An address is `#VSAM.#CICS.APPLID`, the object is a file or a cluster there. Where the system
//! is, and who one is there, the environment says as for every program (`owner::place`).
//!
//! Invariants:
//! 1. A batch is one unit of work there, with its number: a change that is not taken backs all of
//!    it out.
//! 2. Records of an entry-sequenced cluster have addresses that only their owner gives out: such a
//!    cluster does not go to another system.

use std::fmt;
use std::sync::Arc;

use file_handler::acb_wire::{AcbAnswer, AcbRequest, Options, Rpl, Verb};
use file_handler::wire::Answer;
use file_handler::{Carrier as _, FileStatus};
use owner::client::Line;
use owner::unit::{BACKOUT, BEGIN, COMMIT, mark, received};
use owner::{Owners, Places};
use seam::sync::Mutex;
use vsam::handler::{Change, Changed, Described, Edge, Handler, HandlerError, Handlers, Row};
use vsam::{LogicalReason, OpenMode, Organization, SourceId};

/// What addresses of systems begin with.
pub const SCHEME: &str = owner::name::VIRTUAL;

/// Other systems.
pub struct Systems {
    places: Places,
}

impl Systems {
    /// Those that the environment of this process knows.
    #[must_use]
    pub fn new(places: Places) -> Systems {
        Systems { places }
    }
}

impl Handlers for Systems {
    fn connect(&self, file: &Described) -> Result<Box<dyn Handler>, HandlerError> {
        let remote = Remote::open(&self.places, file)?;
        Ok(Box::new(Rows { remote, key: file.attributes.key }))
    }

    fn prepare(&self, file: &Described) -> Result<(), HandlerError> {
        Remote::open(&self.places, file).map(drop)
    }
}

/// A cluster of another system.
struct Remote {
    line: Arc<Mutex<Line>>,
    acb: u32,
    area: u32,
    by_number: bool,
    key_bytes: usize,
    request: Vec<u8>,
    answer: Vec<u8>,
}

/// Strings: one is read through, the other one changes.
const READS: u16 = 1;
const CHANGES: u16 = 2;
/// OPEN: there is no such entry.
const NO_ENTRY: u8 = 148;
/// Bytes behind the front of the answer to an OPEN.
const OPENED: usize = 13;

fn silent(_: &str) {}

fn refused(what: impl Into<String>) -> HandlerError {
    HandlerError::Refused(what.into())
}

/// What is asked for by a string of a file.
struct RplCall {
    verb: Verb,
    string: u16,
    options: u32,
}

/// What an answer says besides its record.
struct RplReply {
    reason: u8,
    number: u64,
}

impl Remote {
    fn open(places: &Places, file: &Described) -> Result<Remote, HandlerError> {
        let attributes = &file.attributes;
        let key_bytes = match attributes.organization {
            Organization::Keyed => attributes.key.map_or(0, |key| key.bytes as usize),
            Organization::Relative | Organization::VariableRelative => 4,
            _ => {
                let what = "an entry-sequenced cluster does not go to another system";
                return Err(refused(what));
            }
        };
        let name = format!("{}/{}", file.redirection.to, file.redirection.object);
        let mut owners = Owners::new(None, places.clone(), silent);
        let line = owners.line(&name).map_err(|error| HandlerError::Lost(error.to_string()))?;
        let line = line.ok_or_else(|| refused(format!("{name} names no system")))?;
        let mut remote = Remote {
            line,
            acb: 0,
            area: attributes.record_bytes_max,
            by_number: attributes.organization.is_relative(),
            key_bytes,
            request: Vec::new(),
            answer: Vec::new(),
        };
        let mode = OpenMode::InputOutput;
        let open = AcbRequest::Open { mode, reset: false, strings: 0, name: name.as_bytes() };
        let reply = remote.ask(&open)?;
        match reply.reason {
            0 => {}
            NO_ENTRY => return Err(refused(format!("there is no {name}"))),
            reason => return Err(refused(format!("{name} cannot be opened: reason {reason}"))),
        }
        remote.acb = u32::try_from(reply.number).map_err(|_| strange())?;
        remote.fits(file)?;
        Ok(remote)
    }

    /// Whether the cluster there is one like that here.
    fn fits(&self, file: &Described) -> Result<(), HandlerError> {
        let opened = AcbAnswer::read(&self.answer).ok_or_else(strange)?.record;
        let opened: &[u8; OPENED] = opened.try_into().map_err(|_| strange())?;
        let number = |at: usize| {
            let four = opened.get(at..at + 4).and_then(|four| four.try_into().ok());
            four.map_or(0, u32::from_le_bytes)
        };
        let attributes = &file.attributes;
        let organization = match attributes.organization {
            Organization::Keyed => 0,
            Organization::EntrySequenced => 1,
            Organization::Relative => 2,
            Organization::VariableRelative => 3,
            Organization::Linear => 4,
        };
        let (offset, bytes) = attributes.key.map_or((0, 0), |key| (key.offset, key.bytes));
        let own = [offset, bytes, attributes.record_bytes_max];
        if opened[0] == organization && own == [number(1), number(5), number(9)] {
            return Ok(());
        }
        Err(refused("organization, key or longest record are others there"))
    }

    fn ask(&mut self, request: &AcbRequest<'_>) -> Result<RplReply, HandlerError> {
        request.write(&mut self.request);
        self.carry()?;
        let answer = AcbAnswer::read(&self.answer).ok_or_else(strange)?;
        if answer.return_code != 0 && (answer.return_code != 8 || answer.reason == 0) {
            return Err(refused(format!("it has failed: return code {}", answer.return_code)));
        }
        let reason = if answer.return_code == 0 { 0 } else { answer.reason };
        if reason == LogicalReason::HeldByAnother.number() {
            return Err(HandlerError::Held("a program of the other system has it".into()));
        }
        if reason == LogicalReason::NoSpace.number() {
            return Err(HandlerError::NoSpace("the other system".into()));
        }
        Ok(RplReply { reason, number: answer.number })
    }

    fn carry(&mut self) -> Result<(), HandlerError> {
        match self.line.lock().carry(&self.request, &mut self.answer) {
            true => Ok(()),
            false => Err(HandlerError::Lost("the connection to the system is cut".into())),
        }
    }

    /// A request of the unit of work, or about batches.
    fn unit(&mut self, request: &[u8]) -> Result<u64, HandlerError> {
        match self.exchange(request)? {
            (FileStatus::DONE, number) => Ok(number),
            (status, _) => Err(refused(format!("its unit of work ends with status {status:?}"))),
        }
    }

    fn exchange(&mut self, request: &[u8]) -> Result<(FileStatus, u64), HandlerError> {
        self.request.clear();
        self.request.extend_from_slice(request);
        self.carry()?;
        let answer = Answer::read(&self.answer).ok_or_else(strange)?;
        Ok((answer.status, answer.number))
    }

    fn rpl(
        &mut self,
        RplCall { verb, string, options }: RplCall,
        key: &[u8],
        record: &[u8],
    ) -> Result<RplReply, HandlerError> {
        let number: [u8; 4];
        let argument = match key.try_into().map(u32::from_be_bytes) {
            Ok(wanted) if self.by_number => {
                number = wanted.to_le_bytes();
                &number[..]
            }
            _ => key,
        };
        let (acb, area) = (self.acb, self.area);
        let options = Options(options);
        self.ask(&AcbRequest::Do(Rpl { acb, string, verb, options, area, argument, record }))
    }

    /// The record of the last answer, with its key.
    fn row(&self, reply: &RplReply, file_key: Option<vsam::KeyField>) -> Result<Row, HandlerError> {
        let record = AcbAnswer::read(&self.answer).ok_or_else(strange)?.record.to_vec();
        let key = match file_key {
            Some(field) => field.of(&record).ok_or_else(strange)?.to_vec(),
            None => u32::try_from(reply.number).map_err(|_| strange())?.to_be_bytes().to_vec(),
        };
        Ok(Row { key, record })
    }

    /// Takes a place in front of the first record that is not less; whether there is one.
    fn point(&mut self, key: &[u8]) -> Result<bool, HandlerError> {
        let mut whole = key.to_vec();
        whole.resize(self.key_bytes, 0);
        if self.by_number && whole == [0; 4] {
            whole[3] = 1;
        }
        let options = Options::KEYED | Options::GREATER_OR_EQUAL;
        let reply = self.rpl(RplCall { verb: Verb::Point, string: READS, options }, &whole, b"")?;
        found(&reply)
    }

    fn last(&mut self) -> Result<bool, HandlerError> {
        let options = Options::KEYED | Options::BACKWARD | Options::LAST;
        let reply = self.rpl(RplCall { verb: Verb::Point, string: READS, options }, b"", b"")?;
        found(&reply)
    }
}

fn strange() -> HandlerError {
    HandlerError::Nonsense("the other system answers something else".into())
}

/// A key for people: as text if it is some, else its bytes.
struct Shown<'k>(&'k [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match std::str::from_utf8(self.0) {
            Ok(text) if !text.chars().any(char::is_control) => write!(f, "{text:?}"),
            _ => write!(f, "X'{}'", base::hex::upper(self.0)),
        }
    }
}

fn found(reply: &RplReply) -> Result<bool, HandlerError> {
    match reply.reason {
        0 => Ok(true),
        reason if is(reason, LogicalReason::NotFound) || is(reason, LogicalReason::EndOfData) => {
            Ok(false)
        }
        reason => Err(refused(format!("the other system answers with reason {reason}"))),
    }
}

fn is(reason: u8, other: LogicalReason) -> bool {
    reason == other.number()
}

/// A [`Remote`] and the key of its records.
struct Rows {
    remote: Remote,
    key: Option<vsam::KeyField>,
}

impl Rows {
    fn take(
        &mut self,
        backward: bool,
        most: usize,
        beyond: Option<&[u8]>,
        rows: &mut Vec<Row>,
    ) -> Result<(), HandlerError> {
        let options = Options::KEYED | if backward { Options::BACKWARD } else { 0 };
        while rows.len() < most {
            let reply =
                self.remote.rpl(RplCall { verb: Verb::Get, string: READS, options }, b"", b"")?;
            if !found(&reply)? {
                break;
            }
            let row = self.remote.row(&reply, self.key)?;
            if beyond != Some(&row.key) {
                rows.push(row);
            }
        }
        Ok(())
    }

    /// Reads a record to change it; whether it is there.
    fn hold(&mut self, key: &[u8]) -> Result<bool, HandlerError> {
        let options = Options::KEYED | Options::DIRECT | Options::UPDATE;
        let reply =
            self.remote.rpl(RplCall { verb: Verb::Get, string: CHANGES, options }, key, b"")?;
        found(&reply)
    }

    fn put(&mut self, key: &[u8], record: &[u8], held: bool) -> Result<Changed, HandlerError> {
        let how = if held { Options::UPDATE } else { Options::DIRECT };
        let reply = self.remote.rpl(
            RplCall { verb: Verb::Put, string: CHANGES, options: Options::KEYED | how },
            key,
            record,
        )?;
        match reply.reason {
            0 => Ok(Changed::Done),
            reason if is(reason, LogicalReason::Duplicate) => Ok(Changed::Exists),
            reason => Err(refused(format!("PUT ends with reason {reason}"))),
        }
    }

    fn erase(&mut self) -> Result<(), HandlerError> {
        let reply = self.remote.rpl(
            RplCall { verb: Verb::Erase, string: CHANGES, options: Options::KEYED },
            b"",
            b"",
        )?;
        if found(&reply)? { Ok(()) } else { Err(strange()) }
    }

    /// Makes a change that stands there afterwards; anything else is an error that names its key.
    fn apply_one(&mut self, change: &Change) -> Result<(), HandlerError> {
        let (key, done) = match change {
            Change::Put(row) => (&row.key, self.put_anyway(row)),
            Change::Delete(key) => (key, self.delete(key).map(drop)),
            // It stands alone in its batch, and was done before.
            Change::Clear => return Ok(()),
        };
        done.map_err(|error| match error {
            HandlerError::Refused(what) => {
                refused(format!("the record of key {}: {what}", Shown(key)))
            }
            other => other,
        })
    }

    /// Has a record be this, whether it is there or not.
    fn put_anyway(&mut self, row: &Row) -> Result<(), HandlerError> {
        let held = self.hold(&row.key)?;
        match self.put(&row.key, &row.record, held)? {
            Changed::Done => Ok(()),
            // The record is not there, or is held: it is another one, or has come in between.
            Changed::Exists if held => Err(refused("an alternate key is another record's there")),
            Changed::Exists => {
                Err(refused("there is such a record by now, or an alternate key is another one's"))
            }
            Changed::Absent => Err(refused("it has gone meanwhile")),
        }
    }
}

impl Handler for Rows {
    fn read(
        &mut self,
        from: Edge<'_>,
        backward: bool,
        most: u32,
        rows: &mut Vec<Row>,
    ) -> Result<(), HandlerError> {
        let most = rows.len() + most as usize;
        match (from, backward) {
            (Edge::End, false) => {
                if self.remote.point(b"")? {
                    self.take(false, most, None, rows)?;
                }
            }
            (Edge::With(key), false) => {
                if self.remote.point(key)? {
                    self.take(false, most, None, rows)?;
                }
            }
            (Edge::Beyond(key), false) => {
                if self.remote.point(key)? {
                    self.take(false, most, Some(key), rows)?;
                }
            }
            (Edge::End, true) => {
                if self.remote.last()? {
                    self.take(true, most, None, rows)?;
                }
            }
            (Edge::With(key) | Edge::Beyond(key), true) => {
                let with = matches!(from, Edge::With(_)) && key.len() == self.remote.key_bytes;
                let is_zero = self.remote.by_number && key == [0; 4];
                if with && !is_zero {
                    let options = Options::KEYED | Options::DIRECT;
                    let reply = self.remote.rpl(
                        RplCall { verb: Verb::Get, string: CHANGES, options },
                        key,
                        b"",
                    )?;
                    if found(&reply)? {
                        let row = self.remote.row(&reply, self.key)?;
                        rows.push(row);
                    }
                }
                // A step backward from the first that is not less.
                if self.remote.point(key)? || self.remote.last()? {
                    self.take(true, most, None, rows)?;
                }
            }
        }
        Ok(())
    }

    fn insert(&mut self, key: &[u8], record: &[u8]) -> Result<Changed, HandlerError> {
        self.put(key, record, false)
    }

    fn replace(&mut self, key: &[u8], record: &[u8]) -> Result<Changed, HandlerError> {
        match self.hold(key)? {
            true => self.put(key, record, true),
            false => Ok(Changed::Absent),
        }
    }

    fn delete(&mut self, key: &[u8]) -> Result<Changed, HandlerError> {
        if !self.hold(key)? {
            return Ok(Changed::Absent);
        }
        self.erase()?;
        Ok(Changed::Done)
    }

    fn clear(&mut self) -> Result<(), HandlerError> {
        loop {
            let mut rows = Vec::new();
            self.read(Edge::End, false, CLEARED_AT_ONCE, &mut rows)?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in &rows {
                self.delete(&row.key)?;
            }
        }
    }

    fn received(&mut self, source: SourceId) -> Result<u64, HandlerError> {
        self.remote.unit(&received(&source.0))
    }

    fn apply(
        &mut self,
        source: SourceId,
        number: u64,
        changes: &[Change],
    ) -> Result<(), HandlerError> {
        let has = self.received(source)?;
        if has >= number {
            return Ok(());
        }
        if has + 1 != number {
            return Err(HandlerError::Gap { has, sent: number });
        }
        if changes.contains(&Change::Clear) {
            self.clear()?;
        }
        self.remote.unit(&[BEGIN])?;
        let done = match self.remote.exchange(&mark(&source.0, number)) {
            Ok((FileStatus::DONE, _)) => changes.iter().try_for_each(|one| self.apply_one(one)),
            // Another thread has sent it meanwhile.
            Ok((FileStatus::KEY_EXISTS, _)) => Ok(()),
            Ok((FileStatus::SEQUENCE, has)) => Err(HandlerError::Gap { has, sent: number }),
            Ok((status, _)) => Err(refused(format!("a batch ends with status {status:?}"))),
            Err(error) => Err(error),
        };
        let end = if done.is_ok() { COMMIT } else { BACKOUT };
        let ended = self.remote.unit(&[end]);
        done.and(ended.map(drop))
    }
}

/// Records that are erased before the next are read.
const CLEARED_AT_ONCE: u32 = 256;
