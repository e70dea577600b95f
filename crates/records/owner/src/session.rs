//! The owner's side of one connection: its files, and the units of work of what it asks.
//!
//! | request | unit of work |
//! |---|---|
//! | after BEGIN, up to COMMIT or BACKOUT | the program's |
//! | a read otherwise | its own; it stays open while a record is held for update |
//! | a change otherwise | that of the read that holds the record, or its own; committed at once |
//! | a WRITE of a load | one for several, committed after a second at the latest |
//! | RECEIVED; MARK | its own; the program's, which has to be begun |
//!
//! Invariants:
//! 1. A record that was read for update stays locked until the next request through the same file
//!    or string, and no longer.
//! 2. A change that was answered is committed; it is durable when CLOSE or COMMIT is answered.
//! 3. A program's unit of work that has failed is over: everything is refused until the program
//!    has ended it, and COMMIT says so.

use std::collections::BTreeMap;
use std::sync::Arc;

use file_handler::nature::{Holder, Nature, nature};
use file_handler::wire::{self, Request, plain_answer};
use file_handler::{Clusters, FileStatus, acb_wire};
use store::{CommitSink, Committed, Read, SetAttributes, Store, StoreError, Unit as _};
use vsam::Catalog;

use crate::name::Files;
use crate::unit::{BACKOUT, BEGIN, COMMIT, MARK, RECEIVED, RECEIVED_SET};

/// WRITEs of a load that are committed together.
const LOAD_WRITES: u32 = 256;

/// The unit of work that a program has begun.
enum Own<U> {
    None,
    Open(U),
    /// It was backed out.
    Failed,
}

/// A load under way.
struct Load<U> {
    unit: Option<U>,
    writes: u32,
    /// What was written since the last commit was backed out.
    failed: bool,
}

/// Nobody waits for a commit by itself: CLOSE waits for all.
struct Unheard;

impl CommitSink for Unheard {
    fn settled(&self, _token: u64, _outcome: store::Result<Committed>) {}
}

/// A connection's files.
pub struct Session<S: Store> {
    store: S,
    clusters: Clusters<S>,
    files: Arc<Files>,
    own: Own<S::Unit>,
    /// Units of work whose only purpose is to hold a record.
    held: BTreeMap<Holder, S::Unit>,
    loads: BTreeMap<Holder, Load<S::Unit>>,
    sink: Arc<dyn CommitSink>,
    /// Something was committed that may not be durable yet.
    is_dirty: bool,
    rewritten: Vec<u8>,
}

impl<S: Store> Session<S> {
    /// Over a catalog; files have these names.
    #[must_use]
    pub fn new(catalog: Catalog<S>, files: Arc<Files>) -> Session<S> {
        Session {
            store: catalog.store().clone(),
            clusters: Clusters::sharing_records(catalog),
            files,
            own: Own::None,
            held: BTreeMap::new(),
            loads: BTreeMap::new(),
            sink: Arc::new(Unheard),
            is_dirty: false,
            rewritten: Vec::new(),
        }
    }

    /// Whether something waits for [`Session::tick`].
    #[must_use]
    pub fn is_loading(&self) -> bool {
        self.loads.values().any(|load| load.unit.is_some())
    }

    /// A second has passed: what loads have written is committed.
    pub fn tick(&mut self) {
        let holders: Vec<Holder> = self.loads.keys().copied().collect();
        for holder in holders {
            self.commit_load(holder);
        }
    }

    /// Carries out a request, and replaces `out` by the answer.
    pub fn serve(&mut self, request: &[u8], out: &mut Vec<u8>) {
        let outcome = match request.first() {
            Some(&(BEGIN | COMMIT | BACKOUT)) => {
                let status = self.unit_of_work(request[0]).unwrap_or_else(|status| status);
                plain_answer(status, 0, out);
                return;
            }
            Some(&(RECEIVED | MARK)) => {
                let answer = self.batch_of(request);
                let (status, number) = answer.unwrap_or_else(|error| (status_of(&error), 0));
                plain_answer(status, number, out);
                return;
            }
            _ => match nature(request) {
                None => return wire::refuse(request, FileStatus::LOGIC, out),
                Some(nature) => self.request(nature, request, out),
            },
        };
        if let Err(error) = outcome {
            refuse(request, &error, out);
        }
    }

    fn unit_of_work(&mut self, code: u8) -> Result<FileStatus, FileStatus> {
        let own = std::mem::replace(&mut self.own, Own::None);
        match (code, own) {
            (BEGIN, Own::None) => {
                self.held.clear();
                self.tick();
                self.own = Own::Open(self.begin().map_err(|error| status_of(&error))?);
                Ok(FileStatus::DONE)
            }
            (COMMIT, Own::Open(unit)) => {
                unit.commit().map_err(|error| status_of(&error))?;
                Ok(FileStatus::DONE)
            }
            (BACKOUT, Own::Open(unit)) => {
                unit.backout().map_err(|error| status_of(&error))?;
                Ok(FileStatus::DONE)
            }
            (BACKOUT, Own::Failed) => Ok(FileStatus::DONE),
            (COMMIT, Own::Failed) => Err(FileStatus::RESOURCE),
            // There is one at a time, and none to end.
            (_, own) => {
                self.own = own;
                Err(FileStatus::LOGIC)
            }
        }
    }

    /// Answers the number of the last batch of a source, or notes the next one, if it is that.
    fn batch_of(&mut self, request: &[u8]) -> Result<(FileStatus, u64), StoreError> {
        let wrong = || StoreError::Unsupported("such a request about batches");
        let (source, number) = request[1..].split_at_checked(16).ok_or_else(wrong)?;
        let set = match self.store.set(RECEIVED_SET)? {
            Some(set) => set,
            None => match self.store.create_set(RECEIVED_SET, &SetAttributes::default()) {
                Err(StoreError::SetExists(_)) => self.store.set(RECEIVED_SET)?.ok_or_else(wrong)?,
                made => made?,
            },
        };
        let last = |value: Vec<u8>| value.try_into().map_or(0, u64::from_le_bytes);
        let mut value = Vec::new();
        if request[0] == MARK {
            let Own::Open(unit) = &mut self.own else { return Err(wrong()) };
            let number = number.try_into().map_err(|_| wrong())?;
            unit.get(set, source, Read::Update, &mut value)?;
            let (has, next) = (last(value), u64::from_le_bytes(number));
            if has >= next {
                return Ok((FileStatus::KEY_EXISTS, has));
            }
            if has + 1 != next {
                return Ok((FileStatus::SEQUENCE, has));
            }
            unit.put(set, source, &number)?;
            return Ok((FileStatus::DONE, next));
        }
        let mut unit = self.begin()?;
        unit.get(set, source, Read::Shared, &mut value)?;
        unit.commit()?;
        Ok((FileStatus::DONE, last(value)))
    }

    fn begin(&self) -> Result<S::Unit, StoreError> {
        self.store.begin(vsam::unit_options())
    }

    fn request(
        &mut self,
        nature: Nature,
        request: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        match nature {
            Nature::Opens(holder) => self.opens(holder, request, out),
            Nature::Looks(_) | Nature::Changes(_) if !matches!(self.own, Own::None) => {
                self.in_own(request, out)
            }
            Nature::Looks(holder) => self.looks(holder, request, out),
            Nature::Changes(holder) if self.clusters.loads(holder) => {
                self.loads(holder, request, out)
            }
            Nature::Changes(holder) => self.changes(holder, request, out),
        }
    }

    /// Opens or closes: what is held through the file is not any more, and what was changed through
    /// it is durable.
    fn opens(
        &mut self,
        holder: Holder,
        request: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let is_same = |other: &Holder| match (holder, other) {
            (Holder::File(one), Holder::File(other)) => one == *other,
            (Holder::String(one, _), Holder::String(other, _)) => one == *other,
            _ => false,
        };
        let mut rewritten = std::mem::take(&mut self.rewritten);
        let request = match self.named(request, &mut rewritten) {
            None => request,
            Some(true) => &rewritten,
            Some(false) => {
                refuse_name(request, out);
                self.rewritten = rewritten;
                return Ok(());
            }
        };
        self.held.retain(|other, _| !is_same(other));
        self.commit_load(holder);
        let failed = self.loads.remove(&holder).is_some_and(|load| load.failed);
        let mut unit = self.begin()?;
        let served = self.clusters.serve(&mut unit, request, out);
        self.rewritten = rewritten;
        // Opening only looks; what it makes stands outside of units of work.
        let ended = served.and_then(|()| unit.backout());
        if std::mem::take(&mut self.is_dirty) {
            self.store.wait_durable()?;
        }
        if failed {
            plain_answer(FileStatus::ERROR, 0, out);
        }
        ended
    }

    /// The request with names of the catalog; `None` if it has none, `false` for other systems'.
    fn named(&self, request: &[u8], rewritten: &mut Vec<u8>) -> Option<bool> {
        use acb_wire::AcbRequest;
        if let Some(AcbRequest::Open { mode, reset, strings, name }) = AcbRequest::read(request) {
            let Some(name) =
                std::str::from_utf8(name).ok().and_then(|name| self.files.resolve(name))
            else {
                return Some(false);
            };
            let name = name.as_bytes();
            AcbRequest::Open { mode, reset, strings, name }.write(rewritten);
            return Some(true);
        }
        let Some(Request::Open(mut opening)) = Request::read(request) else { return None };
        let Some(name) = self.files.resolve(&opening.data_set) else { return Some(false) };
        opening.data_set = name;
        for path in opening.paths.iter_mut().flatten() {
            let Some(name) = self.files.resolve(path) else { return Some(false) };
            *path = name;
        }
        Request::Open(opening).write(rewritten);
        Some(true)
    }

    /// In the unit of work that the program has begun.
    fn in_own(&mut self, request: &[u8], out: &mut Vec<u8>) -> Result<(), StoreError> {
        let Own::Open(unit) = &mut self.own else {
            return Err(StoreError::Unsupported("a unit of work that was backed out"));
        };
        let served = self.clusters.serve(unit, request, out);
        if served.is_err()
            && let Own::Open(unit) = std::mem::replace(&mut self.own, Own::Failed)
        {
            unit.backout()?;
        }
        served
    }

    fn looks(
        &mut self,
        holder: Holder,
        request: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        // Whatever it held, the next request lets go.
        self.held.remove(&holder);
        let mut unit = self.begin()?;
        self.clusters.serve(&mut unit, request, out)?;
        if self.clusters.holds(holder) {
            self.held.insert(holder, unit);
            return Ok(());
        }
        unit.backout()
    }

    fn changes(
        &mut self,
        holder: Holder,
        request: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let mut unit = match self.held.remove(&holder) {
            Some(unit) => unit,
            None => self.begin()?,
        };
        self.clusters.serve(&mut unit, request, out)?;
        if !is_done(request, out) {
            return unit.backout();
        }
        unit.commit_queued(&self.sink, 0)?;
        self.is_dirty = true;
        Ok(())
    }

    /// A WRITE to a file that nobody else sees before it is closed.
    fn loads(
        &mut self,
        holder: Holder,
        request: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let known = self.loads.remove(&holder);
        let mut load = known.unwrap_or(Load { unit: None, writes: 0, failed: false });
        if load.failed {
            self.loads.insert(holder, load);
            plain_answer(FileStatus::ERROR, 0, out);
            return Ok(());
        }
        let unit = match load.unit.take() {
            Some(unit) => Ok(unit),
            None => self.begin(),
        };
        let served = unit.and_then(|mut unit| {
            self.clusters.serve(&mut unit, request, out)?;
            Ok(unit)
        });
        match served {
            Ok(unit) => {
                load.unit = Some(unit);
                load.writes += 1;
                let is_full = load.writes >= LOAD_WRITES;
                self.loads.insert(holder, load);
                if is_full {
                    self.commit_load(holder);
                }
                Ok(())
            }
            Err(error) => {
                load.failed = load.writes > 0;
                self.loads.insert(holder, load);
                Err(error)
            }
        }
    }

    fn commit_load(&mut self, holder: Holder) {
        let Some(load) = self.loads.get_mut(&holder) else { return };
        let Some(unit) = load.unit.take() else { return };
        load.writes = 0;
        load.failed |= unit.commit_queued(&self.sink, 0).is_err();
        self.is_dirty = true;
    }
}

impl<S: Store> Drop for Session<S> {
    fn drop(&mut self) {
        // What a program wrote and was answered stays; what it had begun goes.
        self.tick();
        self.clusters.close_all();
    }
}

fn is_acb(request: &[u8]) -> bool {
    request.first().is_some_and(|kind| *kind >= acb_wire::FIRST)
}

fn is_done(request: &[u8], answer: &[u8]) -> bool {
    let good = if is_acb(request) { 0 } else { b'0' };
    answer.first() == Some(&good)
}

fn refuse_name(request: &[u8], out: &mut Vec<u8>) {
    match is_acb(request) {
        true => acb_wire::refuse(NO_ENTRY, out),
        false => plain_answer(FileStatus::NO_FILE, 0, out),
    }
}

/// The reason of an OPEN that finds no such name.
const NO_ENTRY: u8 = 148;

/// What a program is told whose unit of work has failed.
fn refuse(request: &[u8], error: &StoreError, out: &mut Vec<u8>) {
    let status = status_of(error);
    if !is_acb(request) {
        return wire::refuse(request, status, out);
    }
    match status {
        FileStatus::RESOURCE => acb_wire::refuse(vsam::LogicalReason::HeldByAnother.number(), out),
        FileStatus::NO_SPACE => acb_wire::refuse(vsam::LogicalReason::NoSpace.number(), out),
        _ => acb_wire::fail(out),
    }
}

fn status_of(error: &StoreError) -> FileStatus {
    match error {
        StoreError::Deadlock | StoreError::Conflict(_) | StoreError::Timeout(_) => {
            FileStatus::RESOURCE
        }
        StoreError::Unsupported(_) | StoreError::TooOld(_) => FileStatus::RESOURCE,
        StoreError::NoSpace(_) => FileStatus::NO_SPACE,
        _ => FileStatus::ERROR,
    }
}
