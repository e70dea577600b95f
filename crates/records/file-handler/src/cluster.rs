//! An open cluster of a program: requests for its records become those of VSAM.
//!
//! Invariants:
//! 1. A file of a program is the cluster and, for each alternate key, a path. Changes go to the
//!    cluster, which keeps the indexes of its upgrade set.
//! 2. START finds a record for either direction: READ NEXT and READ PREVIOUS both read it.

use std::cmp::Ordering;

use store::{Store, StoreError};
use vsam::{
    Catalog, Condition, Failure, Feedback, File, Intent, LogicalReason, Match, Position,
    RecordNumber, Search, Target,
};

use crate::ahead::Marks;
use crate::body::{Done, Which};
use crate::fcd::{KeyDefinition, OpenMode, Organization};
use crate::feedback::of_failure;
use crate::opcode::Relation;
use crate::status::FileStatus;
use crate::wire::{Batch, answer, plain_answer, push_answer};

/// A way to the records of a cluster: its own, or a path.
pub(crate) struct Way<S: Store> {
    pub(crate) file: File<S>,
    pub(crate) position: Position<S>,
}

/// An open file of a program.
pub(crate) struct Cluster<S: Store> {
    pub(crate) base: Way<S>,
    /// By number of the program's keys, the prime key's empty.
    pub(crate) paths: Vec<Option<Way<S>>>,
    /// Where records are written, apart from where they are read.
    pub(crate) writer: Position<S>,
    pub(crate) organization: Organization,
    pub(crate) mode: OpenMode,
    /// The key along which records are read.
    pub(crate) key: usize,
    pub(crate) prime: Option<KeyDefinition>,
    /// The prime key or number of the record that was read last.
    pub(crate) current: Option<Current>,
    /// START has found a record that was not read yet.
    pub(crate) started: bool,
    /// Where each record of the last batch stands.
    pub(crate) marks: Marks,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Current {
    Key(Vec<u8>),
    Number(u64),
    Address,
}

/// What became of a record that was found by an alternate key.
#[derive(Debug, PartialEq, Eq)]
enum Locked {
    /// It is as it was found, and locked if it may be changed.
    Yes,
    /// The record with this prime key has the alternate key no longer.
    Gone(Vec<u8>),
}

/// What a request came to, or that the unit of work is doomed.
pub(crate) type Outcome<T> = Result<Done<T>, StoreError>;

/// What a program is told; `boundary`: of a WRITE to a keyed or relative file.
pub(crate) fn outcome_of(answered: Answered, boundary: bool) -> Outcome<(FileStatus, u64)> {
    match answered {
        Ok(feedback) => {
            let number = feedback.number.map_or(0, |number| u64::from(number.0));
            let duplicate = feedback.condition == Condition::DuplicateKey;
            let status = if duplicate { FileStatus::DUPLICATE } else { FileStatus::DONE };
            Ok(Ok((status, number)))
        }
        Err(Refusal::Status(status)) => Ok(Err(status)),
        Err(Refusal::Failure(Failure::Store(error))) if error.dooms_unit() => Err(error),
        Err(Refusal::Failure(Failure::InPart(error))) => Err(error),
        Err(Refusal::Failure(failure)) => Ok(Err(of_failure(&failure, boundary))),
    }
}

/// Why a request was not carried out.
pub(crate) enum Refusal {
    Status(FileStatus),
    Failure(Failure),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Refusal {
        Refusal::Failure(failure)
    }
}

impl From<FileStatus> for Refusal {
    fn from(status: FileStatus) -> Refusal {
        Refusal::Status(status)
    }
}

pub(crate) type Answered = Result<Feedback, Refusal>;

impl<S: Store> Cluster<S> {
    /// Whether the cluster has no record and never had one.
    pub(crate) fn never_loaded(
        &mut self,
        unit: &mut S::Unit,
        catalog: &Catalog<S>,
    ) -> Result<bool, StoreError> {
        let file = &self.base.file;
        let known = catalog.statistics(file.base());
        if known.is_ok_and(|known| known.inserted > 0 || known.records > 0) {
            return Ok(false);
        }
        match file.is_empty(unit) {
            Err(Failure::Store(error)) if error.dooms_unit() => Err(error),
            is_empty => Ok(is_empty.unwrap_or(false)),
        }
    }

    fn way(&mut self, key: usize) -> Result<&mut Way<S>, Refusal> {
        match key {
            0 => Ok(&mut self.base),
            key => self
                .paths
                .get_mut(key)
                .and_then(Option::as_mut)
                .ok_or(Refusal::Status(FileStatus::LOGIC)),
        }
    }

    /// What is read to be changed is locked.
    fn intent(&self, key: usize) -> Intent {
        if self.mode == OpenMode::InputOutput && key == 0 { Intent::Update } else { Intent::Look }
    }

    /// Notes which record was read.
    fn note(&mut self, record: &[u8], feedback: &Feedback) {
        self.current = match (&self.prime, feedback.number) {
            (_, Some(number)) => Some(Current::Number(u64::from(number.0))),
            (Some(prime), None) => prime_of(prime, record).map(|key| Current::Key(key.to_vec())),
            (None, None) => Some(Current::Address),
        };
    }

    pub(crate) fn start(
        &mut self,
        unit: &mut S::Unit,
        relation: Relation,
        which: Which<'_>,
    ) -> Answered {
        let by = match relation {
            Relation::Equal | Relation::First | Relation::Last => Match::Equal,
            Relation::Greater => Match::Greater,
            Relation::GreaterOrEqual => Match::GreaterOrEqual,
            Relation::Less => Match::Less,
            Relation::LessOrEqual => Match::LessOrEqual,
        };
        let (key, target) = self.target(which)?;
        let target = match relation {
            Relation::First => Target::First,
            Relation::Last => Target::Last,
            _ => target,
        };
        (self.key, self.current, self.started) = (key, None, false);
        let Way { file, position } = self.way(key)?;
        let found = file.point(unit, position, &Search::by(target, by))?;
        self.started = true;
        Ok(found)
    }

    /// What a program's key or number is to VSAM, and along which key.
    fn target<'k>(&self, which: Which<'k>) -> Result<(usize, Target<'k>), Refusal> {
        match which {
            Which::Key { number, value } => {
                let whole = self.key_bytes(number)?;
                let target = match value.len().cmp(&whole) {
                    Ordering::Less => Target::Generic(value),
                    _ => Target::Key(&value[..whole]),
                };
                Ok((number, target))
            }
            Which::Number(number) => {
                let number = u32::try_from(number).map_err(|_| FileStatus::NOT_FOUND)?;
                Ok((0, Target::Number(RecordNumber(number))))
            }
            Which::Current => Err(Refusal::Status(FileStatus::LOGIC)),
        }
    }

    fn key_bytes(&self, key: usize) -> Result<usize, Refusal> {
        let logic = Refusal::Status(FileStatus::LOGIC);
        if key == 0 {
            return self.prime.as_ref().map(|key| key.bytes as usize).ok_or(logic);
        }
        let way = self.paths.get(key).and_then(Option::as_ref);
        let index = way.and_then(|way| way.file.alternate_index());
        index.and_then(|index| Some(index.alternate_index()?.key.bytes as usize)).ok_or(logic)
    }

    pub(crate) fn next(
        &mut self,
        unit: &mut S::Unit,
        previous: bool,
        out: &mut Vec<u8>,
    ) -> Answered {
        let mut record = std::mem::take(out);
        let (key, intent) = (self.key, self.intent(self.key));
        self.current = None;
        let started = std::mem::take(&mut self.started);
        let Way { file, position } = self.way(key)?;
        if previous && started {
            // It stands in front of what was found, which is to be read first.
            file.get_next(unit, position, Intent::Look, &mut record)?;
            position.turn();
        }
        let found = loop {
            let Way { file, position } = self.way(key)?;
            let found = match previous {
                false => file.get_next(unit, position, intent, &mut record),
                true => file.get_previous(unit, position, intent, &mut record),
            }?;
            // What has gone meanwhile is passed over.
            if self.lock_base(unit, key, &mut record)? == Locked::Yes {
                break found;
            }
        };
        self.give(&found, &record, out)
    }

    /// Reads a batch: several answers, one behind the other.
    pub(crate) fn ahead(
        &mut self,
        unit: &mut S::Unit,
        batch: &Batch,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let (mut marks, mut one) = (std::mem::take(&mut self.marks), Vec::new());
        let key = self.key;
        if let Ok(way) = self.way(key)
            && !marks.go_back(&mut way.position, batch.back)
        {
            plain_answer(FileStatus::LOGIC, 0, &mut one);
            push_answer(&one, out);
            return Ok(());
        }
        marks.clear();
        for _ in 0..batch.records.max(1) {
            let found = self.next(unit, batch.previous, &mut one);
            let outcome = outcome_of(found, false)?;
            match outcome {
                Ok((status, number)) => answer(status, number, &mut one),
                Err(status) => plain_answer(status, 0, &mut one),
            }
            push_answer(&one, out);
            if outcome.is_err() {
                break;
            }
            if let Ok(way) = self.way(key) {
                marks.note(&way.position);
            }
            if out.len() >= batch.bytes as usize {
                break;
            }
        }
        self.marks = marks;
        Ok(())
    }

    pub(crate) fn read(
        &mut self,
        unit: &mut S::Unit,
        which: Which<'_>,
        out: &mut Vec<u8>,
    ) -> Answered {
        let mut record = std::mem::take(out);
        let (key, target) = self.target(which)?;
        (self.key, self.current, self.started) = (key, None, false);
        let intent = self.intent(key);
        let mut gone = None;
        let found = loop {
            let Way { file, position } = self.way(key)?;
            let found = file.get(unit, position, &Search::equal(target), intent, &mut record)?;
            match self.lock_base(unit, key, &mut record)? {
                Locked::Yes => break found,
                // Another record may have the key, but not the same one again.
                Locked::Gone(prime) if gone.as_ref() != Some(&prime) => gone = Some(prime),
                Locked::Gone(_) => return Err(Refusal::Status(FileStatus::NOT_FOUND)),
            }
        };
        self.give(&found, &record, out)
    }

    /// A record that was found by an alternate key and may be changed is read again by its prime
    /// key, which locks it. It was found without a lock: what is there now may have another
    /// alternate key, or be nothing.
    fn lock_base(
        &mut self,
        unit: &mut S::Unit,
        key: usize,
        record: &mut Vec<u8>,
    ) -> Result<Locked, Failure> {
        if key == 0 || self.mode != OpenMode::InputOutput {
            return Ok(Locked::Yes);
        }
        let prime = self.prime.as_ref().and_then(|prime| prime_of(prime, record));
        let Some(prime) = prime.map(<[u8]>::to_vec) else { return Ok(Locked::Yes) };
        // An index that does not follow its base may disagree with it for good.
        let way = self.paths.get(key).and_then(Option::as_ref);
        let index = way.and_then(|way| way.file.alternate_index()?.alternate_index());
        let field = index.filter(|index| index.upgrade).map(|index| index.key);
        let before = field.and_then(|field| field.of(record).map(<[u8]>::to_vec));
        let search = Search::equal(Target::Key(&prime));
        let (file, writer) = (&self.base.file, &mut self.writer);
        match file.get(unit, writer, &search, Intent::Update, record) {
            Ok(_) => {}
            Err(failure)
                if field.is_some() && failure.reason() == Some(LogicalReason::NotFound) =>
            {
                return Ok(Locked::Gone(prime));
            }
            Err(failure) => return Err(failure),
        }
        let is_same = field.is_none_or(|field| field.of(record) == before.as_deref());
        Ok(if is_same { Locked::Yes } else { Locked::Gone(prime) })
    }

    /// Puts a record behind the place of an answer's front.
    fn give(&mut self, feedback: &Feedback, record: &[u8], out: &mut Vec<u8>) -> Answered {
        self.note(record, feedback);
        plain_answer(FileStatus::DONE, 0, out);
        out.extend_from_slice(record);
        Ok(*feedback)
    }

    pub(crate) fn write(
        &mut self,
        unit: &mut S::Unit,
        in_sequence: bool,
        number: u64,
        record: &[u8],
    ) -> Answered {
        let (file, writer) = (&self.base.file, &mut self.writer);
        if self.organization == Organization::Relative && !in_sequence {
            let number = u32::try_from(number).map_err(|_| FileStatus::KEY_BOUNDARY)?;
            return Ok(file.put_number(unit, writer, RecordNumber(number), record)?);
        }
        if self.organization == Organization::Relative
            && u64::from(file.next_number(unit, writer)?.0) > number
        {
            return Err(Refusal::Status(FileStatus::KEY_BOUNDARY));
        }
        Ok(file.put(unit, writer, record)?)
    }

    pub(crate) fn rewrite(
        &mut self,
        unit: &mut S::Unit,
        which: Which<'_>,
        record: &[u8],
    ) -> Answered {
        let current = match which {
            Which::Current => self.current.take().ok_or(FileStatus::NO_READ)?,
            Which::Number(number) => Current::Number(number),
            Which::Key { value, .. } => Current::Key(value.to_vec()),
        };
        let is_path = self.base.file.alternate_index().is_some();
        let Way { file, position } = &mut self.base;
        Ok(match current {
            Current::Address => file.rewrite(unit, position, record)?,
            Current::Number(number) => {
                let number = u32::try_from(number).map_err(|_| FileStatus::NOT_FOUND)?;
                file.rewrite_number(unit, &mut self.writer, RecordNumber(number), record)?
            }
            Current::Key(key) => {
                let own = self.prime.as_ref().and_then(|prime| prime_of(prime, record));
                if own != Some(&key[..]) {
                    return Err(Refusal::Status(FileStatus::SEQUENCE));
                }
                if is_path {
                    let search = Search::equal(Target::Key(&key));
                    let mut old = Vec::new();
                    file.get(unit, &mut self.writer, &search, Intent::Update, &mut old)?;
                    file.rewrite(unit, &mut self.writer, record)?
                } else {
                    file.rewrite_keyed(unit, &mut self.writer, record)?
                }
            }
        })
    }

    pub(crate) fn delete(&mut self, unit: &mut S::Unit, which: Which<'_>) -> Answered {
        let current = match which {
            Which::Current => self.current.take().ok_or(FileStatus::NO_READ)?,
            Which::Number(number) => Current::Number(number),
            Which::Key { value, .. } => Current::Key(value.to_vec()),
        };
        let is_path = self.base.file.alternate_index().is_some();
        let Way { file, position } = &mut self.base;
        Ok(match current {
            Current::Address => file.erase(unit, position)?,
            Current::Number(number) => {
                let number = u32::try_from(number).map_err(|_| FileStatus::NOT_FOUND)?;
                file.erase_number(unit, &mut self.writer, RecordNumber(number))?
            }
            Current::Key(key) if is_path => {
                let mut old = Vec::new();
                let search = Search::equal(Target::Key(&key));
                file.get(unit, &mut self.writer, &search, Intent::Update, &mut old)?;
                file.erase(unit, &mut self.writer)?
            }
            Current::Key(key) => file.erase_keyed(unit, &mut self.writer, &key)?,
        })
    }
}

fn prime_of<'r>(prime: &KeyDefinition, record: &'r [u8]) -> Option<&'r [u8]> {
    let begin = prime.offset as usize;
    record.get(begin..begin.checked_add(prime.bytes as usize)?)
}
