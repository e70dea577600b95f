//! Whoever has the catalog: requests of programs become those of VSAM, its feedback statuses.
//!
//! Invariants:
//! 1. The unit of work is the caller's: a file's changes are committed and backed out with
//!    whatever else it has changed.
//! 2. A file of a program is the cluster and, for each alternate key, a path. Changes go to the
//!    cluster, which keeps the indexes of its upgrade set.

use std::cmp::Ordering;

use store::{Store, StoreError};
use vsam::{
    Catalog, Condition, DataSetName, Definition, Failure, Feedback, File, Intent, LogicalReason,
    Match, OpenError, OpenOptions, Position, RecordNumber, Search, Target,
};

use crate::acb_wire;
use crate::acbs::Acbs;
use crate::ahead::Marks;
use crate::body::{Done, Which};
use crate::data_set::Opening;
use crate::fcd::{Access, KeyDefinition, OpenMode, Organization};
use crate::feedback::{of_failure, of_open};
use crate::generations::Generations;
use crate::nature::Holder;
use crate::opcode::Relation;
use crate::status::FileStatus;
use crate::wire::{Batch, Request, answer, plain_answer, push_answer, refuse};

/// The most files that a program has open at once.
const FILES_MAX: usize = 4096;

/// The files of a program.
pub struct Clusters<S: Store> {
    catalog: Catalog<S>,
    files: Vec<Option<Cluster<S>>>,
    acbs: Acbs<S>,
    record_level: bool,
    generations: Generations,
}

/// A way to the records of a cluster: its own, or a path.
struct Way<S: Store> {
    file: File<S>,
    position: Position<S>,
}

/// An open file of a program.
struct Cluster<S: Store> {
    base: Way<S>,
    /// By number of the program's keys, the prime key's empty.
    paths: Vec<Option<Way<S>>>,
    /// Where records are written, apart from where they are read.
    writer: Position<S>,
    organization: Organization,
    mode: OpenMode,
    /// The key along which records are read.
    key: usize,
    prime: Option<KeyDefinition>,
    /// The prime key or number of the record that was read last.
    current: Option<Current>,
    /// Where each record of the last batch stands.
    marks: Marks,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Current {
    Key(Vec<u8>),
    Number(u64),
    Address,
}

/// What a request came to, or that the unit of work is doomed.
type Outcome<T> = Result<Done<T>, StoreError>;

/// Shorthand: statuses go to the program, what dooms goes to the caller.
macro_rules! done {
    ($outcome:expr) => {
        match $outcome {
            Ok(value) => value,
            Err(status) => return Ok(Err(status)),
        }
    };
}

impl<S: Store> Clusters<S> {
    /// Over a catalog.
    #[must_use]
    pub fn new(catalog: Catalog<S>) -> Clusters<S> {
        let acbs = Acbs::new(catalog.clone(), false);
        let generations = Generations::default();
        Clusters { catalog, files: Vec::new(), acbs, record_level: false, generations }
    }

    /// The same for programs that share by record locks with all others who do, whatever the share
    /// options of clusters say.
    #[must_use]
    pub fn sharing_records(catalog: Catalog<S>) -> Clusters<S> {
        let acbs = Acbs::new(catalog.clone(), true);
        Clusters { acbs, record_level: true, ..Clusters::new(catalog) }
    }

    /// Whether a record that was read for update is to stay locked until the next request.
    #[must_use]
    pub fn holds(&self, holder: Holder) -> bool {
        match holder {
            Holder::String(acb, string) => self.acbs.holds(acb, string),
            Holder::File(file) => {
                let slot = (file as usize).checked_sub(1).and_then(|at| self.files.get(at));
                slot.and_then(Option::as_ref).is_some_and(|cluster| {
                    cluster.mode == OpenMode::InputOutput && cluster.current.is_some()
                })
            }
        }
    }

    /// Whether a file is being loaded: nobody else sees what was written before it is closed.
    #[must_use]
    pub fn loads(&self, holder: Holder) -> bool {
        let Holder::File(file) = holder else { return false };
        let slot = (file as usize).checked_sub(1).and_then(|at| self.files.get(at));
        slot.and_then(Option::as_ref).is_some_and(|cluster| cluster.mode == OpenMode::Output)
    }

    /// Carries out a request in a unit of work, and replaces `out` by the answer.
    ///
    /// # Errors
    /// What dooms the unit of work: it has to be backed out.
    pub fn serve(
        &mut self,
        unit: &mut S::Unit,
        request: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        out.clear();
        if request.first().is_some_and(|kind| *kind >= acb_wire::FIRST) {
            return self.acbs.serve(unit, request, out);
        }
        let outcome = match Request::read(request) {
            None => Err(FileStatus::LOGIC),
            Some(Request::Open(opening)) => self.open(unit, &opening)?,
            Some(Request::Close(file)) => self.close(file),
            Some(Request::Ahead(file, batch)) => match self.cluster(file) {
                Ok(cluster) => return cluster.ahead(unit, &batch, out),
                Err(status) => Err(status),
            },
            Some(request) => self.on_file(unit, &request, out)?,
        };
        match outcome {
            Ok((status, number)) => answer(status, number, out),
            Err(status) => refuse(request, status, out),
        }
        Ok(())
    }

    /// Closes all files.
    pub fn close_all(&mut self) {
        self.files.clear();
        self.acbs.close_all();
    }

    fn cluster(&mut self, file: u32) -> Done<&mut Cluster<S>> {
        let slot = (file as usize).checked_sub(1).and_then(|at| self.files.get_mut(at));
        slot.and_then(Option::as_mut).ok_or(FileStatus::NOT_OPEN)
    }

    fn close(&mut self, file: u32) -> Done<(FileStatus, u64)> {
        let slot = (file as usize).checked_sub(1).and_then(|at| self.files.get_mut(at));
        let cluster = slot.and_then(Option::take).ok_or(FileStatus::NOT_OPEN)?;
        let Cluster { base, paths, writer, .. } = cluster;
        drop(writer);
        for Way { file, position } in paths.into_iter().flatten().chain([base]) {
            drop(position);
            file.close().map_err(|error| of_open(&error))?;
        }
        Ok((FileStatus::DONE, 0))
    }

    fn open(&mut self, unit: &mut S::Unit, opening: &Opening) -> Outcome<(FileStatus, u64)> {
        let free = self.files.iter().position(Option::is_none);
        if free.is_none() && self.files.len() >= FILES_MAX {
            return Ok(Err(FileStatus::RESOURCE));
        }
        let (cluster, status) = match self.connect(unit, opening)? {
            Ok(opened) => opened,
            Err(FileStatus::NO_FILE)
                if opening.shape.optional && opening.mode == OpenMode::Input =>
            {
                return Ok(Ok((FileStatus::OPTIONAL, 0)));
            }
            Err(status) => return Ok(Err(status)),
        };
        let at = free.unwrap_or_else(|| {
            self.files.push(None);
            self.files.len() - 1
        });
        self.files[at] = Some(cluster);
        Ok(Ok((status, at as u64 + 1)))
    }

    fn connect(
        &mut self,
        unit: &mut S::Unit,
        opening: &Opening,
    ) -> Outcome<(Cluster<S>, FileStatus)> {
        let name = self.generations.resolve(&self.catalog, opening);
        let name = done!(name.map_err(|missing| missing.status()));
        let entry = self.catalog.get(&name).map_err(OpenError::from);
        if done!(entry.map_err(|error| of_open(&error))).is_none() {
            return Ok(Err(FileStatus::NO_FILE));
        }
        let paths = done!(self.paths_of(&name, opening));
        // Several ways to one cluster are one opener: they share by record locks.
        let record_level = self.record_level || paths.iter().any(Option::is_some);
        let base = done!(self.base_of(&name, opening, record_level));
        done!(fits(&base, opening));
        let mut ways = Vec::new();
        for path in paths {
            let way = path.map(|path| self.way(&path, vsam::OpenMode::Input, record_level));
            ways.push(done!(way.transpose()));
        }
        let position = done!(base.position().map_err(|failure| of_failure(&failure, false)));
        let writer = done!(base.position().map_err(|failure| of_failure(&failure, false)));
        let mut cluster = Cluster {
            base: Way { file: base, position },
            paths: ways,
            writer,
            organization: opening.shape.organization,
            mode: opening.mode,
            key: 0,
            prime: opening.keys.first().cloned(),
            current: None,
            marks: Marks::default(),
        };
        let mut status = FileStatus::DONE;
        if opening.mode != OpenMode::Output && cluster.never_loaded(unit, &self.catalog)? {
            // A cluster that never had a record is no file yet.
            if !opening.shape.optional {
                return Ok(Err(FileStatus::NO_FILE));
            }
            status = FileStatus::OPTIONAL;
        }
        Ok(Ok((cluster, status)))
    }

    /// Opens the cluster, or the path that a program has in place of one.
    fn base_of(&self, name: &DataSetName, opening: &Opening, record_level: bool) -> Done<File<S>> {
        let options = OpenOptions { record_level, ..OpenOptions::default() };
        let open =
            |mode| self.catalog.open_file(name, mode, &options).map_err(|error| of_open(&error));
        match (opening.mode, opening.access) {
            (OpenMode::Input, _) => open(vsam::OpenMode::Input),
            (OpenMode::InputOutput, _) => open(vsam::OpenMode::InputOutput),
            (OpenMode::Extend, _) => open(vsam::OpenMode::Extend),
            (OpenMode::Output, Access::Sequential) => open(vsam::OpenMode::Output),
            // In any order of keys: emptied as for a load, then written as one inserts.
            (OpenMode::Output, _) => {
                drop(open(vsam::OpenMode::Output)?);
                open(vsam::OpenMode::InputOutput)
            }
        }
    }

    fn way(&self, name: &DataSetName, mode: vsam::OpenMode, record_level: bool) -> Done<Way<S>> {
        let options = OpenOptions { record_level, ..OpenOptions::default() };
        let file = self.catalog.open_file(name, mode, &options).map_err(|error| of_open(&error))?;
        let position = file.position().map_err(|failure| of_failure(&failure, false))?;
        Ok(Way { file, position })
    }

    /// The paths of a program's alternate keys; none where the file is loaded.
    fn paths_of(&self, name: &DataSetName, opening: &Opening) -> Done<Vec<Option<DataSetName>>> {
        let mut found = vec![None; opening.keys.len()];
        if opening.mode == OpenMode::Output {
            return Ok(found);
        }
        for (number, key) in opening.keys.iter().enumerate().skip(1) {
            let named = match opening.paths.get(number) {
                Some(Some(path)) => {
                    Some(DataSetName::parse(path).map_err(|_| FileStatus::NO_FILE)?)
                }
                _ => self.path_for(name, key)?,
            };
            let path = named.ok_or(FileStatus::NO_DD)?;
            let index = self.index_of(&path)?.ok_or(FileStatus::ATTRIBUTES)?;
            if (index.offset, index.bytes) != (key.offset, key.bytes)
                || index.duplicates != key.duplicates
            {
                return Err(FileStatus::ATTRIBUTES);
            }
            found[number] = Some(path);
        }
        Ok(found)
    }

    fn entry(&self, name: &DataSetName) -> Done<Option<vsam::Entry>> {
        self.catalog.get(name).map_err(|error| of_open(&OpenError::from(error)))
    }

    /// The key of a path's index.
    fn index_of(&self, path: &DataSetName) -> Done<Option<KeyDefinition>> {
        let Some(entry) = self.entry(path)? else { return Err(FileStatus::NO_FILE) };
        let Definition::Path(attributes) = &entry.definition else { return Ok(None) };
        let Some(index) = self.entry(&attributes.entry)? else { return Ok(None) };
        let key = index.alternate_index().map(|index| KeyDefinition {
            offset: index.key.offset,
            bytes: index.key.bytes,
            duplicates: !index.unique,
            sparse: None,
            rest: Vec::new(),
        });
        Ok(key)
    }

    /// A path over an index of the cluster with this key.
    fn path_for(&self, base: &DataSetName, key: &KeyDefinition) -> Done<Option<DataSetName>> {
        let Some(cluster) = self.entry(base)? else { return Ok(None) };
        for related in &cluster.related {
            let Some(index) = self.entry(related)? else { continue };
            let Some(attributes) = index.alternate_index() else { continue };
            if (attributes.key.offset, attributes.key.bytes) == (key.offset, key.bytes)
                && let Some(path) = index.related.first()
            {
                return Ok(Some(path.clone()));
            }
        }
        Ok(None)
    }

    fn on_file(
        &mut self,
        unit: &mut S::Unit,
        request: &Request<'_>,
        out: &mut Vec<u8>,
    ) -> Outcome<(FileStatus, u64)> {
        let number = match request {
            Request::Start(file, ..)
            | Request::Next(file, _)
            | Request::Read(file, _)
            | Request::Write { file, .. }
            | Request::Rewrite(file, ..)
            | Request::Delete(file, _)
            | Request::Ahead(file, _)
            | Request::Close(file) => *file,
            Request::Open(_) => 0,
        };
        let cluster = done!(self.cluster(number));
        cluster.marks.clear();
        let found = match request {
            Request::Start(_, relation, which) => cluster.start(unit, *relation, *which),
            Request::Next(_, previous) => cluster.next(unit, *previous, out),
            Request::Read(_, which) => cluster.read(unit, *which, out),
            Request::Write { in_sequence, number, record, .. } => {
                cluster.write(unit, *in_sequence, *number, record)
            }
            Request::Rewrite(_, which, record) => cluster.rewrite(unit, *which, record),
            Request::Delete(_, which) => cluster.delete(unit, *which),
            Request::Open(_) | Request::Close(_) | Request::Ahead(..) => {
                return Ok(Err(FileStatus::LOGIC));
            }
        };
        let keyed = cluster.organization != Organization::Sequential;
        let is_write = matches!(request, Request::Write { .. });
        outcome_of(found, is_write && keyed)
    }
}

/// What a program is told; `boundary`: of a WRITE to a keyed or relative file.
fn outcome_of(answered: Answered, boundary: bool) -> Outcome<(FileStatus, u64)> {
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
enum Refusal {
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

type Answered = Result<Feedback, Refusal>;

impl<S: Store> Cluster<S> {
    /// Whether the cluster has no record and never had one.
    fn never_loaded(
        &mut self,
        unit: &mut S::Unit,
        catalog: &Catalog<S>,
    ) -> Result<bool, StoreError> {
        let file = &self.base.file;
        let known = catalog.statistics(file.base());
        if known.is_ok_and(|known| known.inserted > 0 || known.records > 0) {
            return Ok(false);
        }
        let (mut record, first) = (Vec::new(), Search::equal(Target::First));
        let mut position = match file.position() {
            Ok(position) => position,
            Err(_) => return Ok(false),
        };
        match file.get(unit, &mut position, &first, Intent::Look, &mut record) {
            Ok(_) => Ok(false),
            Err(Failure::Store(error)) if error.dooms_unit() => Err(error),
            Err(failure) => Ok(matches!(
                failure.reason(),
                Some(LogicalReason::EndOfData | LogicalReason::NotFound)
            )),
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

    fn start(&mut self, unit: &mut S::Unit, relation: Relation, which: Which<'_>) -> Answered {
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
        self.key = key;
        self.current = None;
        let Way { file, position } = self.way(key)?;
        Ok(file.point(unit, position, &Search::by(target, by))?)
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

    fn next(&mut self, unit: &mut S::Unit, previous: bool, out: &mut Vec<u8>) -> Answered {
        let mut record = std::mem::take(out);
        let (key, intent) = (self.key, self.intent(self.key));
        self.current = None;
        let Way { file, position } = self.way(key)?;
        let found = match previous {
            false => file.get_next(unit, position, intent, &mut record),
            true => file.get_previous(unit, position, intent, &mut record),
        };
        let found = self.lock_base(unit, key, found, &mut record);
        self.give(found, &record, out)
    }

    /// Reads a batch: several answers, one behind the other.
    fn ahead(
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

    fn read(&mut self, unit: &mut S::Unit, which: Which<'_>, out: &mut Vec<u8>) -> Answered {
        let mut record = std::mem::take(out);
        let (key, target) = self.target(which)?;
        (self.key, self.current) = (key, None);
        let intent = self.intent(key);
        let Way { file, position } = self.way(key)?;
        let found = file.get(unit, position, &Search::equal(target), intent, &mut record);
        let found = self.lock_base(unit, key, found, &mut record);
        self.give(found, &record, out)
    }

    /// A record that was found by an alternate key and may be changed is read again by its prime
    /// key, which locks it.
    fn lock_base(
        &mut self,
        unit: &mut S::Unit,
        key: usize,
        found: Result<Feedback, Failure>,
        record: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        let feedback = found?;
        if key == 0 || self.mode != OpenMode::InputOutput {
            return Ok(feedback);
        }
        if let Some(prime) = self.prime.as_ref().and_then(|prime| prime_of(prime, record)) {
            let prime = prime.to_vec();
            let search = Search::equal(Target::Key(&prime));
            let (file, writer) = (&self.base.file, &mut self.writer);
            file.get(unit, writer, &search, Intent::Update, record)?;
        }
        Ok(feedback)
    }

    /// Puts a record behind the place of an answer's front.
    fn give(
        &mut self,
        found: Result<Feedback, Failure>,
        record: &[u8],
        out: &mut Vec<u8>,
    ) -> Answered {
        let feedback = found?;
        self.note(record, &feedback);
        plain_answer(FileStatus::DONE, 0, out);
        out.extend_from_slice(record);
        Ok(feedback)
    }

    fn write(
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
        Ok(file.put(unit, writer, record)?)
    }

    fn rewrite(&mut self, unit: &mut S::Unit, which: Which<'_>, record: &[u8]) -> Answered {
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

    fn delete(&mut self, unit: &mut S::Unit, which: Which<'_>) -> Answered {
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

/// Whether a cluster is what a program says that it is.
fn fits<S: Store>(file: &File<S>, opening: &Opening) -> Done<()> {
    let attributes = file.attributes();
    let organization = attributes.organization;
    let same = match opening.shape.organization {
        Organization::Indexed => organization == vsam::Organization::Keyed,
        Organization::Relative => organization.is_relative(),
        Organization::Sequential => organization == vsam::Organization::EntrySequenced,
        Organization::LineSequential => false,
    };
    let own = match file.alternate_index() {
        None => attributes.key,
        Some(index) => index.alternate_index().map(|index| index.key),
    };
    let prime = opening.keys.first().map(|key| (key.offset, key.bytes));
    let same_key = prime.is_none() || own.map(|key| (key.offset, key.bytes)) == prime;
    let same_length = opening.shape.most == attributes.record_bytes_max as usize;
    if same && same_key && same_length { Ok(()) } else { Err(FileStatus::ATTRIBUTES) }
}
