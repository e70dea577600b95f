//! A database that moves from one system to another: from a kernel to an engine, or back.
//!
//! The source sends it, through a pipe that the command has made, as segments in hierarchic order,
//! sealed in frames under the source's own keys: no data is in clear outside of the two processes.
//! Programs read it meanwhile; a program that would change it waits, or is told to come later.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | generation of the data key, little-endian |
//! | 16 | salt |
//! | then frames of | 4 bytes length, little-endian; 16 bytes tag; AES-256-GCM of records |
//!
//! | record | what |
//! |---|---|
//! | form | 3; the digest of its definition and of what settings say of its places |
//! | segment | 1; type; 1 if deleted physically, 2 if logically; 4 bytes length; its data |
//! | end | 2; 8 bytes, how many segments there were; their digest |
//!
//! Invariants:
//! 1. A stream that was cut, altered or put together otherwise is no database: frames are numbered,
//!    and the last one says how much there was.
//! 2. A database counts as moved once it was read again at its new place and has the digest that it
//!    had at the old one.
//! 3. Nothing is taken away at the source.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest;
use base::{Coded, KeyGeneration, hex};
use definitions::{DbdName, Member, encode};
use hierarchy::load::{Given, Input, InputError};
use hierarchy::{Database, Deleted, HierarchyError, TypeAt};
use seal::{KeyProvider, Salt, TAG_BYTES, Tag, WorkingKey};
use seam::Seam;
use serde::{Deserialize, Serialize};
use store::Store;
use system::operator::{Refusal, Talk};
use system::{Home, LABELS, SystemError};

pub use crate::move_error::MoveError;
use crate::pipe::Pipe;
use crate::{Databases, Result};

/// So much is sealed at once.
const FRAME_BYTES: usize = 64 << 10;
const SALT_BYTES: usize = 16;
const SEGMENT: u8 = 1;
const END: u8 = 2;
const FORM: u8 = 3;
/// A digest in hexadecimal digits.
const DIGITS: usize = 64;
/// No frame is longer: a segment of the greatest length fits in.
const FRAME_BYTES_MAX: usize = 1 << 20;

/// Which database is to be sent where.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SendRequest {
    /// Its name.
    pub database: String,
    /// The pipe.
    pub pipe: PathBuf,
    /// How many seconds to wait for programs that change it.
    pub wait_seconds: u64,
}

/// What was sent, or found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// How many segments there are of each type, in the order of the definition.
    pub segments: Vec<(String, u64)>,
    /// SHA-256 of all of them, in hexadecimal digits.
    pub digest: String,
}

/// Sums up segments in their order.
struct Sum {
    counts: Vec<u64>,
    digest: digest::Context,
}

impl Sum {
    fn new() -> Sum {
        Sum { counts: vec![0; 256], digest: digest::Context::new(&digest::SHA256) }
    }

    fn add(&mut self, of: TypeAt, deleted: Deleted, data: &[u8]) {
        self.counts[usize::from(of.0)] += 1;
        self.digest.update(&head(of, deleted, data.len()));
        self.digest.update(data);
    }

    fn all(&self) -> u64 {
        self.counts.iter().sum()
    }

    fn counted(&self, database: &Database) -> Counted {
        let types = database.schema.types.iter().zip(&self.counts);
        let digest = self.digest.clone().finish();
        Counted {
            segments: types.map(|(kind, count)| (kind.name.text().to_owned(), *count)).collect(),
            digest: hex::lower(digest.as_ref()),
        }
    }
}

/// What stands in front of a segment's data.
fn head(of: TypeAt, deleted: Deleted, bytes: usize) -> [u8; 7] {
    let marks = u8::from(deleted.physically) | u8::from(deleted.logically) << 1;
    let [a, b, c, d] = (bytes as u32).to_le_bytes();
    [SEGMENT, of.0, marks, a, b, c, d]
}

/// The keys of a stream.
fn working_key(
    keys: &dyn KeyProvider,
    generation: KeyGeneration,
    salt: &Salt,
    name: DbdName,
) -> std::result::Result<WorkingKey, SystemError> {
    let data_key = keys.key(LABELS[0], generation)?;
    let identity = [b"holdfast database on its way 1 ", name.text().as_bytes()].concat();
    Ok(WorkingKey::derive(&data_key, salt, &identity))
}

/// Sends a database of an open system. `freeze` keeps changes of its data sets away.
///
/// # Errors
/// If there is none, it cannot be read, it is changed for too long, or the pipe has no reader;
/// what is no pipe of the system's owner.
pub fn send<F>(
    home: &impl Home,
    asked: &SendRequest,
    talk: &mut Talk<'_>,
    freeze: impl FnOnce(DbdName, &[String], Duration) -> std::result::Result<F, SystemError>,
) -> Result<Counted> {
    // Before anybody is kept from changing it: who waits for nothing has nothing to wait for.
    let pipe = Pipe::open(&asked.pipe, home.dir(), &home.seam().clock);
    let pipe = pipe.map_err(|error| trouble(&asked.pipe, "opened", error))?;
    let databases = Databases::of(home)?;
    let database = databases.open_to_read(databases.named(&asked.database)?)?;
    let name = database.name();
    let sets = databases.sets_of(name)?;
    let _frozen = freeze(name, &sets, Duration::from_secs(asked.wait_seconds))?;
    let keys = home.keys();
    let generation = keys.current(LABELS[0]).map_err(SystemError::from)?;
    let entropy = &home.seam().entropy;
    let salt = Salt::draw(&**entropy).map_err(|source| trouble(&asked.pipe, "sealed", source))?;
    let key = working_key(&**keys, generation, &salt, name)?;
    let (path, stopped) = (asked.pipe.clone(), None);
    let mut sink = Sink { pipe, talk, stopped, key, frame: Vec::new(), number: 0, path };
    let sent = sink
        .write(&[&generation.0.to_le_bytes()[..], &salt.0].concat())
        .map_err(Into::into)
        .and_then(|()| sink.fill(&databases, &database));
    match sink.stopped.take() {
        Some(refusal) => Err(refusal.into()),
        None => sent,
    }
}

fn coded(error: MoveError) -> Arc<dyn Coded + Send + Sync> {
    Arc::new(error)
}

fn trouble(path: &Path, what: &'static str, source: io::Error) -> MoveError {
    MoveError::Pipe { path: path.to_owned(), what, source }
}

/// The writing end.
struct Sink<'a, 't> {
    pipe: Pipe,
    talk: &'a mut Talk<'t>,
    /// Why the caller, or the system, goes on no more.
    stopped: Option<Refusal>,
    key: WorkingKey,
    frame: Vec<u8>,
    number: u64,
    path: PathBuf,
}

impl Sink<'_, '_> {
    fn fill<S: Store>(
        &mut self,
        databases: &Databases<S>,
        database: &Arc<Database>,
    ) -> Result<Counted> {
        self.give(&[&[FORM], form(databases, database).as_bytes()])?;
        let (name, mut sum) = (database.name(), Sum::new());
        let mut others = |name| databases.open_to_read(name);
        database.unload(&databases.store, &mut others, |of, deleted, data| {
            sum.add(of, deleted, data);
            let given = self.give(&[&head(of, deleted, data.len())[..], data]);
            let reported = given.and_then(|()| {
                let reported = self.talk.progress(name.text(), sum.all(), 0, "segments");
                reported.map_err(|refusal| self.stop(refusal))
            });
            reported.map_err(|error| HierarchyError::Input(coded(error)))
        })?;
        let counted = sum.counted(database);
        self.give(&[&[END], &sum.all().to_le_bytes(), counted.digest.as_bytes()])?;
        self.seal()?;
        Ok(counted)
    }

    fn stop(&mut self, refusal: Refusal) -> MoveError {
        let why = MoveError::Broken(refusal.message.clone());
        self.stopped = Some(refusal);
        why
    }

    fn write(&mut self, bytes: &[u8]) -> std::result::Result<(), MoveError> {
        let (talk, stopped) = (&mut *self.talk, &mut self.stopped);
        let mut goes_on = || {
            talk.check().map_err(|refusal| {
                let why = io::Error::other(refusal.message.clone());
                *stopped = Some(refusal);
                why
            })
        };
        let written = self.pipe.write(bytes, &mut goes_on);
        written.map_err(|error| trouble(&self.path, "written", error))
    }

    fn give(&mut self, parts: &[&[u8]]) -> std::result::Result<(), MoveError> {
        parts.iter().for_each(|part| self.frame.extend_from_slice(part));
        if self.frame.len() >= FRAME_BYTES { self.seal() } else { Ok(()) }
    }

    fn seal(&mut self) -> std::result::Result<(), MoveError> {
        let mut frame = std::mem::take(&mut self.frame);
        let length = (frame.len() as u32).to_le_bytes();
        self.number += 1;
        let tag = self.key.seal(self.number, &length, &mut frame);
        self.write(&length)?;
        self.write(&tag.0)?;
        self.write(&frame)?;
        frame.clear();
        self.frame = frame;
        Ok(())
    }
}

/// What comes through the pipe, for a load.
pub struct Stream<R> {
    from: R,
    key: Option<WorkingKey>,
    keys: Arc<dyn KeyProvider>,
    database: Arc<Database>,
    frame: Vec<u8>,
    at: usize,
    number: u64,
    sum: Sum,
    ended: bool,
}

impl<R: Read> Stream<R> {
    /// A stream of a database; `keys` are those of the system that sends it.
    pub fn new(from: R, keys: Arc<dyn KeyProvider>, database: Arc<Database>) -> Stream<R> {
        Stream {
            from,
            key: None,
            keys,
            database,
            frame: Vec::new(),
            at: 0,
            number: 0,
            sum: Sum::new(),
            ended: false,
        }
    }

    fn exactly(&mut self, bytes: &mut [u8]) -> std::result::Result<(), MoveError> {
        self.from.read_exact(bytes).map_err(|error| MoveError::Broken(error.to_string()))
    }

    fn begin(&mut self) -> std::result::Result<(), MoveError> {
        let (mut generation, mut salt) = ([0; 4], [0; SALT_BYTES]);
        self.exactly(&mut generation)?;
        self.exactly(&mut salt)?;
        let generation = KeyGeneration(u32::from_le_bytes(generation));
        let key = working_key(&*self.keys, generation, &Salt(salt), self.database.name());
        self.key = Some(key.map_err(|error| MoveError::Broken(error.to_string()))?);
        Ok(())
    }

    fn next_frame(&mut self) -> std::result::Result<(), MoveError> {
        if self.key.is_none() {
            self.begin()?;
        }
        let (mut length, mut tag) = ([0; 4], [0; TAG_BYTES]);
        self.exactly(&mut length)?;
        self.exactly(&mut tag)?;
        let bytes = u32::from_le_bytes(length) as usize;
        if bytes > FRAME_BYTES_MAX {
            return Err(MoveError::Broken("a frame is longer than any".into()));
        }
        let mut frame = std::mem::take(&mut self.frame);
        frame.clear();
        frame.resize(bytes, 0);
        self.exactly(&mut frame)?;
        self.number += 1;
        let Some(key) = &self.key else { return Err(MoveError::Broken("it has no key".into())) };
        key.open(self.number, &length, &mut frame, &Tag(tag))
            .map_err(|_| MoveError::Broken("a frame is not what was sealed".into()))?;
        (self.frame, self.at) = (frame, 0);
        Ok(())
    }

    fn take(&mut self, bytes: usize) -> std::result::Result<std::ops::Range<usize>, MoveError> {
        let end = self.at.saturating_add(bytes);
        if end > self.frame.len() {
            return Err(MoveError::Broken("a record goes beyond its frame".into()));
        }
        let range = self.at..end;
        self.at = end;
        Ok(range)
    }

    /// Whether the source makes the same of the database as `form` says.
    ///
    /// # Errors
    /// [`MoveError::Unlike`]; a stream that has broken off.
    fn is_of(&mut self, form: &str) -> std::result::Result<(), MoveError> {
        self.next_frame()?;
        let kind = self.take(1)?;
        let digits = self.take(DIGITS)?;
        let is_form = self.frame.get(kind.start) == Some(&FORM);
        match is_form && self.frame.get(digits) == Some(form.as_bytes()) {
            true => Ok(()),
            false => Err(MoveError::Unlike { database: self.database.name() }),
        }
    }

    /// Where the next segment stands in the frame.
    fn next_given(
        &mut self,
    ) -> std::result::Result<Option<(TypeAt, Deleted, std::ops::Range<usize>)>, MoveError> {
        if self.ended {
            return Ok(None);
        }
        if self.at >= self.frame.len() {
            self.next_frame()?;
        }
        let kind = self.take(1)?;
        if self.frame.get(kind.start) == Some(&END) {
            let rest = self.take(8 + DIGITS)?;
            let received = self.frame.get(rest).unwrap_or_default();
            let mine = self.sum.counted(&self.database).digest;
            let count = self.sum.all().to_le_bytes();
            if received != [&count[..], mine.as_bytes()].concat() {
                return Err(MoveError::Broken("it is not all that was sent".into()));
            }
            self.ended = true;
            return Ok(None);
        }
        let head = self.take(6)?;
        let head: Option<&[u8; 6]> = self.frame.get(head).and_then(|head| head.first_chunk());
        let [of, marks, a, b, c, d] = head.copied().unwrap_or_default();
        if usize::from(of) >= self.database.schema.types.len() {
            return Err(MoveError::Broken("a segment is of a type that is not defined".into()));
        }
        let data = self.take(u32::from_le_bytes([a, b, c, d]) as usize)?;
        let deleted = Deleted { physically: marks & 1 != 0, logically: marks & 2 != 0 };
        let of = TypeAt(of);
        self.sum.add(of, deleted, &self.frame[data.clone()]);
        Ok(Some((of, deleted, data)))
    }

    /// What has come, once the end has.
    ///
    /// # Errors
    /// If the end has not come.
    pub fn counted(&self) -> std::result::Result<Counted, MoveError> {
        match self.ended {
            true => Ok(self.sum.counted(&self.database)),
            false => Err(MoveError::Broken("its end has not come".into())),
        }
    }
}

impl<R: Read> Input for Stream<R> {
    fn next_segment(&mut self) -> std::result::Result<Option<Given<'_>>, InputError> {
        match self.next_given() {
            Ok(None) => Ok(None),
            Ok(Some((of, deleted, data))) => {
                Ok(Some(Given { of, data: &self.frame[data], deleted }))
            }
            Err(error) => Err(coded(error)),
        }
    }
}

/// What a system makes of a database: its definition, and what settings say of its places.
fn form<S: Store>(databases: &Databases<S>, database: &Database) -> String {
    let mut digest = digest::Context::new(&digest::SHA256);
    digest.update(&encode(&Member::Dbd(Box::new((*database.schema.dbd).clone()))));
    digest.update(database.schema.placement.exact_identity().as_bytes());
    digest.update(format!("{:?}", databases.encoding(database.name())).as_bytes());
    hex::lower(digest.finish().as_ref())
}

/// Loads a database from a stream, and proves that it is at its new place what it was at the old.
///
/// # Errors
/// As [`Database::load`]; [`MoveError::Differs`].
pub fn receive<S: Store, R: Read>(
    databases: &Databases<S>,
    name: DbdName,
    from: R,
    keys: Arc<dyn KeyProvider>,
) -> Result<Counted> {
    let database = databases.open(name)?;
    let mut stream = Stream::new(from, keys, Arc::clone(&database));
    stream.is_of(&form(databases, &database))?;
    let mut others = |name| databases.open(name);
    database.load(&databases.store, &mut others, &mut stream)?;
    let sent = stream.counted()?;
    let mut sum = Sum::new();
    let mut others = |name| databases.open_to_read(name);
    database.unload(&databases.store, &mut others, |of, deleted, data| {
        sum.add(of, deleted, data);
        Ok(())
    })?;
    let found = sum.counted(&database);
    if found != sent {
        let detail = match found.segments == sent.segments {
            true => "as many segments, and others".to_owned(),
            false => format!("{} segments came, {} are there", stream.sum.all(), sum.all()),
        };
        return Err(MoveError::Differs { database: name, detail }.into());
    }
    Ok(found)
}

/// Reads a pipe that another process, or another thread, writes to once it comes to it.
pub struct Arriving<'a> {
    /// The reading end, which does not wait by itself.
    pub file: File,
    /// Disk, clock, entropy.
    pub seam: Seam,
    /// Whether no program will write any more.
    pub is_over: &'a dyn Fn() -> bool,
}

/// Between two looks at a pipe that is empty.
const LOOK: Duration = Duration::from_millis(2);

impl Read for Arriving<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            // Asked before the pipe is read: what was written before that is still in it.
            let is_over = (self.is_over)();
            match self.file.read(bytes) {
                Ok(0) if is_over => return Ok(0),
                Ok(0) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                other => return other,
            }
            self.seam.clock.sleep(LOOK);
        }
    }
}
