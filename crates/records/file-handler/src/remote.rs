//! Data sets that somebody else has: requests go there, answers come back.
//!
//! Invariants:
//! 1. An answer that makes no sense, or none, is status 90; the program goes on.
//! 2. A file that is only read is read ahead; what the program changes, by whatever way, ends that.

use std::sync::Arc;

use seam::sync::Mutex;

use crate::body::{Absent, Body, Done, Found, Place, Which};
use crate::data_set::{DataSets, Opening};
use crate::fcd::OpenMode;
use crate::opcode::Relation;
use crate::read_ahead::ReadAhead;
use crate::status::FileStatus;
use crate::wire::{Answer, Request};

/// The way to whoever has the catalog.
pub trait Carrier: Send {
    /// Sends a request and replaces `answer` by what comes back; `false` if nothing does.
    fn carry(&mut self, request: &[u8], answer: &mut Vec<u8>) -> bool;

    /// Rises when the program may have changed records in another way.
    fn others(&self) -> u64 {
        0
    }
}

/// The way to whoever has data sets, for programs that use them as VSAM has them.
pub trait Way: Send + Sync {
    /// Sends a request and replaces `answer` by what comes back; `false` if nothing does.
    fn carry(&self, request: &[u8], answer: &mut Vec<u8>) -> bool;
}

/// Finds the way by the name of a data set.
pub trait Ways: Send {
    /// The way; `None` if its owner cannot be reached.
    fn way(&mut self, name: &str) -> Option<Arc<dyn Way>>;
}

struct Line {
    carrier: Box<dyn Carrier>,
    /// Rises with every change.
    changes: u64,
    request: Vec<u8>,
    answer: Vec<u8>,
    feedback: [u8; 3],
}

impl Line {
    fn ask(&mut self, request: &Request<'_>) -> Done<Answer<'_>> {
        self.feedback = [0; 3];
        self.changes += u64::from(request.changes());
        request.write(&mut self.request);
        if !self.carrier.carry(&self.request, &mut self.answer) {
            return Err(FileStatus::UNREACHABLE);
        }
        let answer = Answer::read(&self.answer).ok_or(FileStatus::UNREACHABLE)?;
        self.feedback = answer.feedback();
        if answer.status.is_done() { Ok(answer) } else { Err(answer.status) }
    }
}

/// Data sets over a [`Carrier`].
pub struct Remote {
    line: Arc<Mutex<Line>>,
}

impl Remote {
    /// Over this one.
    #[must_use]
    pub fn new(carrier: Box<dyn Carrier>) -> Remote {
        let (request, answer, feedback) = (Vec::new(), Vec::new(), [0; 3]);
        let line = Line { carrier, changes: 0, request, answer, feedback };
        Remote { line: Arc::new(Mutex::new(line)) }
    }
}

impl DataSets for Remote {
    fn open(&mut self, opening: &Opening) -> Done<(Box<dyn Body>, FileStatus)> {
        let (status, number) = {
            let mut line = self.line.lock();
            let answer = line.ask(&Request::Open(Box::new(opening.clone())))?;
            (answer.status, answer.number)
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
        let (line, looks) = (Arc::clone(&self.line), opening.mode == OpenMode::Input);
        Ok((Box::new(File { line, number, looks, ahead: ReadAhead::default() }), status))
    }

    fn empty(&mut self, data_set: &str) -> Done<()> {
        self.line.lock().ask(&Request::Empty(data_set)).map(drop)
    }
}

struct File {
    line: Arc<Mutex<Line>>,
    number: u32,
    /// It is only read.
    looks: bool,
    ahead: ReadAhead,
}

impl File {
    fn found(&mut self, request: &Request<'_>, record: Option<&mut Vec<u8>>) -> Done<Found> {
        self.ahead.forget();
        let mut line = self.line.lock();
        Ok(line.ask(request)?.found(record))
    }

    /// Reads the next record, with others behind it.
    fn batch(&mut self, previous: bool, record: &mut Vec<u8>) -> Done<Found> {
        let mut line = self.line.lock();
        let Line { carrier, changes, request: bytes, feedback, .. } = &mut *line;
        *feedback = [0; 3];
        let changes = *changes + carrier.others();
        self.ahead.next((self.number, previous), changes, record, |request, answers| {
            request.write(bytes);
            if carrier.carry(bytes, answers) { Ok(()) } else { Err(FileStatus::UNREACHABLE) }
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

    fn write(&mut self, record: &[u8], place: Place) -> Done<Found> {
        let Place { in_sequence, number, .. } = place;
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
