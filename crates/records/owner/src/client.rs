//! The program's side: its files, over a connection to each owner.
//!
//! Invariants:
//! 1. A file that is only read is read ahead once a few records were taken in one direction; what
//!    was read ahead is forgotten when the program changes anything through the same owner.
//! 2. A connection that is lost answers 90 for every file that was open over it; the next OPEN
//!    connects anew.
//! 3. A copy of the process (`fork`) does not speak over its parent's connection.

use std::collections::BTreeMap;
use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use file_handler::body::{Absent, Body, Done, Found, Place as Put, Which};
use file_handler::data_set::{DataSets, Opening};
use file_handler::fcd::OpenMode;
use file_handler::opcode::Relation;
use file_handler::read_ahead::ReadAhead;
use file_handler::wire::{Answer, Request};
use file_handler::{Carrier, FileStatus, Way, Ways};
use seam::sync::Mutex;
use thiserror::Error;

use crate::frame::{FRAME_BYTES_MAX, Frames};
use crate::greeting::{GREETING_BYTES_MAX, Hello, Refused, read_answer};
use crate::name::{Applid, VirtualName};
use crate::place::{Place, Places};
use crate::stream::{Stream, Timed, prepare};
use crate::tls;

/// How long an owner may take to let a program in.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why an owner cannot be reached.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// It is not said where it is.
    #[error("nobody says where the system {0} is: set HOLDFAST_OWNER_{0}, or start it")]
    Unknown(Applid),
    /// No system is named.
    #[error("no system is named: set HOLDFAST_SYSTEM to its folder")]
    NoSystem,
    /// Connecting fails.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// TLS fails.
    #[error("TLS fails: {0}")]
    Tls(String),
    /// A port of another machine without TLS.
    #[error("{0} is another machine's: use tls://")]
    Unsecured(String),
    /// The owner does not let the program in.
    #[error("{0}")]
    Refused(#[from] Refused),
    /// It answers something else.
    #[error("no owner of files answers there")]
    NoOwner,
}

/// A connection to an owner, made when it is needed.
pub struct Line {
    place: Place,
    applid: Option<Applid>,
    places: Places,
    frames: Option<Frames<Stream>>,
    /// Which connection this is; what was opened over another one is gone.
    life: u64,
    /// Rises with every change.
    changes: u64,
    process: u32,
    request: Vec<u8>,
    answer: Vec<u8>,
    /// What VSAM has said to the last request.
    feedback: [u8; 3],
}

impl Line {
    /// To the owner at a place.
    #[must_use]
    pub fn new(place: Place, applid: Option<Applid>, places: Places) -> Line {
        let (request, answer) = (Vec::new(), Vec::new());
        Line {
            place,
            applid,
            places,
            frames: None,
            life: 0,
            changes: 0,
            process: std::process::id(),
            request,
            answer,
            feedback: [0; 3],
        }
    }

    /// Connects, unless it is connected.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn connect(&mut self) -> Result<(), ConnectError> {
        if self.process != std::process::id() {
            // The parent's; it goes on speaking there.
            self.frames = None;
            self.process = std::process::id();
        }
        if self.frames.is_some() {
            return Ok(());
        }
        let mut hello = Hello::default();
        if let Some(applid) = &self.applid {
            applid.text().clone_into(&mut hello.applid);
        }
        let stream = match &self.place {
            Place::Socket(path) => Stream::Unix(Timed::new(seam::socket::connect(path)?, None)),
            Place::Port { address, secured } => {
                (hello.user, hello.password) = self.places.user()?;
                port(address, *secured, &self.places)?
            }
        };
        stream.set_patience(Some(PATIENCE))?;
        let mut frames = Frames::new(stream);
        frames.send(&hello.write())?;
        let mut body = Vec::new();
        if !frames.receive(GREETING_BYTES_MAX, &mut body)? {
            return Err(ConnectError::NoOwner);
        }
        read_answer(&body).ok_or(ConnectError::NoOwner)??;
        frames.stream().set_patience(None)?;
        self.frames = Some(frames);
        self.life += 1;
        Ok(())
    }

    /// Asks over the connection of that life.
    fn ask(&mut self, life: u64, request: &Request<'_>) -> Done<Answer<'_>> {
        request.write(&mut self.request);
        self.changes += u64::from(request.changes());
        self.exchange(life)?;
        self.feedback = [0; 3];
        let answer = Answer::read(&self.answer).ok_or(FileStatus::UNREACHABLE)?;
        self.feedback = answer.feedback();
        if answer.status.is_done() { Ok(answer) } else { Err(answer.status) }
    }

    /// Sends what `request` has, and waits for the answer.
    fn exchange(&mut self, life: u64) -> Done<()> {
        if life != self.life || self.process != std::process::id() {
            return Err(FileStatus::UNREACHABLE);
        }
        let frames = self.frames.as_mut().ok_or(FileStatus::UNREACHABLE)?;
        let exchanged = frames.send(&self.request).and_then(|()| {
            match frames.receive(FRAME_BYTES_MAX, &mut self.answer)? {
                true => Ok(()),
                false => Err(io::ErrorKind::UnexpectedEof.into()),
            }
        });
        exchanged.map_err(|_| {
            self.frames = None;
            FileStatus::UNREACHABLE
        })
    }
}

/// Requests of the C interface go over the connection as they are.
impl Carrier for Line {
    fn carry(&mut self, request: &[u8], answer: &mut Vec<u8>) -> bool {
        // Whatever it is, it may change something.
        self.changes += 1;
        self.request.clear();
        self.request.extend_from_slice(request);
        let life = self.life;
        let carried = self.exchange(life).is_ok();
        answer.clear();
        answer.extend_from_slice(&self.answer);
        carried
    }
}

fn port(address: &str, secured: bool, places: &Places) -> Result<Stream, ConnectError> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for at in address.to_socket_addrs()? {
        if !secured && !at.ip().is_loopback() {
            return Err(ConnectError::Unsecured(address.to_owned()));
        }
        match TcpStream::connect_timeout(&at, PATIENCE) {
            Ok(stream) => {
                prepare(&stream);
                return Ok(match secured {
                    false => Stream::Tcp(Timed::new(stream, None)),
                    true => {
                        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
                        let host = host.trim_start_matches('[').trim_end_matches(']');
                        let roots = places.roots()?;
                        let roots = roots.ok_or_else(|| {
                            ConnectError::Tls("set HOLDFAST_OWNER_ROOTS to a PEM file".into())
                        })?;
                        let secured = tls::connect(stream, host, &roots);
                        Stream::Secured(secured.map_err(|why| ConnectError::Tls(why.to_string()))?)
                    }
                });
            }
            Err(error) => last = error,
        }
    }
    Err(last.into())
}

/// Hears why an owner cannot be reached: a status has no words.
pub type Complain = fn(&str);

/// Data sets of owners, beside those that others have.
pub struct Owners {
    local: Option<Box<dyn DataSets>>,
    places: Places,
    lines: BTreeMap<(Place, Option<Applid>), Arc<Mutex<Line>>>,
    complain: Complain,
}

impl Owners {
    /// Names of no virtual catalog are `local`'s; without it they are those of the system that the
    /// environment names.
    #[must_use]
    pub fn new(local: Option<Box<dyn DataSets>>, places: Places, complain: Complain) -> Owners {
        Owners { local, places, lines: BTreeMap::new(), complain }
    }

    /// The connected line for a name; `None` if the name is local.
    ///
    /// # Errors
    /// Why its owner cannot be reached.
    pub fn line(&mut self, name: &str) -> Result<Option<Arc<Mutex<Line>>>, ConnectError> {
        let (place, applid) = match VirtualName::parse(name) {
            Some(VirtualName { applid, .. }) => {
                let place = self.places.of(&applid);
                (place.ok_or_else(|| ConnectError::Unknown(applid.clone()))?, Some(applid))
            }
            None if self.local.is_some() => return Ok(None),
            None => (self.places.of_system().ok_or(ConnectError::NoSystem)?, None),
        };
        let places = &self.places;
        let known = self.lines.entry((place.clone(), applid.clone()));
        let new = || Arc::new(Mutex::new(Line::new(place, applid, places.clone())));
        let line = Arc::clone(known.or_insert_with(new));
        line.lock().connect()?;
        Ok(Some(line))
    }

    /// The same, where a status is all that can be said.
    fn reached(&mut self, name: &str) -> Done<Option<Arc<Mutex<Line>>>> {
        self.line(name).map_err(|error| {
            if let ConnectError::NoSystem = error {
                return FileStatus::NO_DD;
            }
            (self.complain)(&format!("{name} cannot be reached: {error}"));
            FileStatus::RESOURCE
        })
    }
}

impl DataSets for Owners {
    /// There is one owner: no unit of work commits at two.
    fn unit(&mut self, code: u8) -> Done<()> {
        let mut lines = self.lines.values();
        let (Some(line), None) = (lines.next(), lines.next()) else {
            return Err(FileStatus::LOGIC);
        };
        let mut answer = Vec::new();
        if !line.lock().carry(&[code], &mut answer) {
            return Err(FileStatus::UNREACHABLE);
        }
        let answer = Answer::read(&answer).ok_or(FileStatus::UNREACHABLE)?;
        if answer.status.is_done() { Ok(()) } else { Err(answer.status) }
    }

    fn empty(&mut self, data_set: &str) -> Done<()> {
        let Some(line) = self.reached(data_set)? else {
            return self.local.as_mut().ok_or(FileStatus::NO_DD)?.empty(data_set);
        };
        let mut line = line.lock();
        let life = line.life;
        line.ask(life, &Request::Empty(data_set)).map(drop)
    }

    fn open(&mut self, opening: &Opening) -> Done<(Box<dyn Body>, FileStatus)> {
        let Some(line) = self.reached(&opening.data_set)? else {
            return match &mut self.local {
                Some(local) => local.open(opening),
                None => Err(FileStatus::NO_DD),
            };
        };
        let (status, number, life) = {
            let mut line = line.lock();
            let life = line.life;
            let answer = line.ask(life, &Request::Open(Box::new(opening.clone())))?;
            (answer.status, answer.number, life)
        };
        // Without a number there is nothing behind it.
        let Some(number) = u32::try_from(number).ok().filter(|number| *number > 0) else {
            return match (status, opening.mode) {
                (FileStatus::OPTIONAL, OpenMode::Input) => {
                    Ok((Box::new(Absent::default()), status))
                }
                _ => Err(FileStatus::UNREACHABLE),
            };
        };
        let looks = opening.mode == OpenMode::Input;
        let file = File { line, life, number, looks, ahead: ReadAhead::default() };
        Ok((Box::new(file), status))
    }
}

/// A line that ACBs share with files.
struct Shared(Arc<Mutex<Line>>);

impl Way for Shared {
    fn carry(&self, request: &[u8], answer: &mut Vec<u8>) -> bool {
        self.0.lock().carry(request, answer)
    }
}

/// Owners, for programs that use their files as VSAM has them.
pub struct OwnerWays {
    owners: Owners,
    own: Option<Arc<dyn Way>>,
}

impl OwnerWays {
    /// Names of no virtual catalog go `own`; without it they are those of the system that the
    /// environment names.
    #[must_use]
    pub fn new(own: Option<Arc<dyn Way>>, places: Places, complain: Complain) -> OwnerWays {
        OwnerWays { owners: Owners::new(None, places, complain), own }
    }
}

impl Ways for OwnerWays {
    fn way(&mut self, name: &str) -> Option<Arc<dyn Way>> {
        if let Some(own) = self.own.as_ref().filter(|_| !file_handler::name::is_virtual(name)) {
            return Some(Arc::clone(own));
        }
        let line = self.owners.reached(name).ok().flatten()?;
        Some(Arc::new(Shared(line)))
    }
}

/// An open file.
struct File {
    line: Arc<Mutex<Line>>,
    life: u64,
    number: u32,
    /// It is only read.
    looks: bool,
    ahead: ReadAhead,
}

impl File {
    fn found(&mut self, request: &Request<'_>, record: Option<&mut Vec<u8>>) -> Done<Found> {
        self.ahead.forget();
        let mut line = self.line.lock();
        let answer = line.ask(self.life, request)?;
        Ok(answer.found(record))
    }

    /// Reads the next record, with others behind it.
    fn batch(&mut self, previous: bool, record: &mut Vec<u8>) -> Done<Found> {
        let (life, mut line) = (self.life, self.line.lock());
        let changes = line.changes;
        self.ahead.next((self.number, previous), changes, record, |request, answers| {
            request.write(&mut line.request);
            line.exchange(life)?;
            std::mem::swap(answers, &mut line.answer);
            Ok(())
        })
    }
}

impl Body for File {
    fn read_next(&mut self, previous: bool, record: &mut Vec<u8>) -> Done<Found> {
        match self.looks {
            true => self.batch(previous, record),
            false => self.found(&Request::Next(self.number, previous), Some(record)),
        }
    }

    fn read(&mut self, which: Which<'_>, record: &mut Vec<u8>) -> Done<Found> {
        self.found(&Request::Read(self.number, which), Some(record))
    }

    fn start(&mut self, relation: Relation, which: Which<'_>) -> Done<()> {
        self.found(&Request::Start(self.number, relation, which), None).map(drop)
    }

    fn write(&mut self, record: &[u8], place: Put) -> Done<Found> {
        let Put { in_sequence, number, .. } = place;
        self.found(&Request::Write { file: self.number, in_sequence, number, record }, None)
    }

    fn rewrite(&mut self, record: &[u8], which: Which<'_>) -> Done<FileStatus> {
        self.found(&Request::Rewrite(self.number, which, record), None).map(|found| found.status)
    }

    fn delete(&mut self, which: Which<'_>) -> Done<()> {
        self.found(&Request::Delete(self.number, which), None).map(drop)
    }

    fn feedback(&self) -> [u8; 3] {
        self.line.lock().feedback
    }

    fn close(&mut self) -> Done<()> {
        self.found(&Request::Close(self.number), None).map(drop)
    }
}
