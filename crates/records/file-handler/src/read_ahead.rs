//! Reading ahead: the records behind the one that is wanted come with it, several by one request.
//!
//! Invariants:
//! 1. Only a file that is only read is read ahead. What was read ahead is forgotten when the
//!    program changes anything through whoever has the data set.
//! 2. What was not taken is given back: the next request begins in front of it.

use crate::body::{Done, Found};
use crate::status::FileStatus;
use crate::wire::{Answer, Batch, Request, first_answer};

/// Records of the first batch that is read ahead, and by how much each one grows.
const BATCH: u32 = 4;
/// Records and bytes of a batch at most.
const BATCH_RECORDS_MAX: u32 = 4096;
const BATCH_BYTES_MAX: u32 = 64 << 10;

/// What was read ahead.
#[derive(Default)]
pub struct ReadAhead {
    /// Answers that were not taken yet.
    answers: Vec<u8>,
    at: usize,
    /// How many of them have records.
    left: u32,
    previous: bool,
    /// Records of the next batch.
    records: u32,
    /// How many changes there had been when the batch came.
    changes: u64,
}

impl ReadAhead {
    /// A request of the file goes elsewhere.
    pub fn forget(&mut self) {
        self.answers.clear();
        (self.at, self.left, self.records) = (0, 0, 0);
    }

    /// The next record of a file, or the previous one. `changes` rises with each change that the
    /// program has made; `ask` replaces what it is given by the answer to a request.
    ///
    /// # Errors
    /// [`FileStatus::END`], or what went wrong.
    pub fn next(
        &mut self,
        (file, previous): (u32, bool),
        changes: u64,
        record: &mut Vec<u8>,
        ask: impl FnOnce(&Request<'_>, &mut Vec<u8>) -> Done<()>,
    ) -> Done<Found> {
        let goes_on = self.previous == previous && self.changes == changes;
        if !(goes_on && self.at < self.answers.len()) {
            // What was not wanted is behind the place: it goes back by so much.
            let back = if goes_on { 0 } else { std::mem::take(&mut self.left) };
            self.records = match goes_on {
                true => (self.records * BATCH).clamp(1, BATCH_RECORDS_MAX),
                false => 1,
            };
            let (records, bytes) = (self.records, BATCH_BYTES_MAX);
            let batch = Batch { previous, back, records, bytes };
            self.answers.clear();
            (self.at, self.left, self.previous) = (0, 0, previous);
            ask(&Request::Ahead(file, batch), &mut self.answers)?;
            self.changes = changes;
            self.left = count(&self.answers)?;
        }
        let rest = self.answers.get(self.at..).unwrap_or_default();
        let (first, _) = first_answer(rest).ok_or(FileStatus::UNREACHABLE)?;
        let answer = Answer::read(first).ok_or(FileStatus::UNREACHABLE)?;
        if !answer.status.is_done() {
            // The end may have moved when it is asked for again.
            let status = answer.status;
            self.forget();
            return Err(status);
        }
        self.at += first.len() + 4;
        self.left = self.left.saturating_sub(1);
        Ok(answer.found(Some(record)))
    }
}

/// How many answers have records.
fn count(mut answers: &[u8]) -> Done<u32> {
    let mut count = 0;
    while !answers.is_empty() {
        let (first, rest) = first_answer(answers).ok_or(FileStatus::UNREACHABLE)?;
        let answer = Answer::read(first).ok_or(FileStatus::UNREACHABLE)?;
        count += u32::from(answer.status.is_done());
        answers = rest;
    }
    Ok(count)
}
