//! The owner's side of one connection: its files, and the units of work of what it asks.
//!
//! | request | unit of work |
//! |---|---|
//! | after BEGIN, up to COMMIT or BACKOUT | the program's; OPEN and DELETE FILE only empty there what it has changed |
//! | RECEIVED; MARK | its own; the program's, which has to be begun |
//! | others | their own ([`file_handler::own_units`]) |
//!
//! Invariants:
//! 1. A record that was read for update stays locked until the next request through the same file
//!    or string, and no longer.
//! 2. A change that was answered is committed; it is durable when CLOSE or COMMIT is answered.
//! 3. A program's unit of work that has failed is over: everything but CLOSE is refused until the
//!    program has ended it, and COMMIT says so.

use std::sync::Arc;

use file_handler::own_units::{Apart, refuse, status_of};
use file_handler::request_kind::{Holder, Nature, nature};
use file_handler::wire::{self, Request, plain_answer};
use file_handler::{Clusters, FileStatus, acb_wire};
use store::{Read, SetAttributes, Store, StoreError, Unit as _};
use vsam::Catalog;

use crate::name::Files;
use crate::unit::{BACKOUT, BEGIN, COMMIT, MARK, RECEIVED, RECEIVED_SET};

/// The unit of work that a program has begun.
enum Own<U> {
    None,
    Open(U),
    /// It was backed out.
    Failed,
}

/// A connection's files.
pub struct Session<S: Store> {
    apart: Apart<S>,
    files: Arc<Files>,
    own: Own<S::Unit>,
    rewritten: Vec<u8>,
}

impl<S: Store> Session<S> {
    /// Over a catalog; files have these names.
    #[must_use]
    pub fn new(catalog: Catalog<S>, files: Arc<Files>) -> Session<S> {
        let store = catalog.store().clone();
        let apart = Apart::new(store, Clusters::sharing_records(catalog));
        Session { apart, files, own: Own::None, rewritten: Vec::new() }
    }

    /// Whether something waits for [`Session::tick`].
    #[must_use]
    pub fn is_loading(&self) -> bool {
        self.apart.is_loading()
    }

    /// A second has passed: what loads have written is committed.
    pub fn tick(&mut self) {
        self.apart.tick();
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
                self.apart.let_go();
                self.tick();
                self.own = Own::Open(self.apart.begin().map_err(|error| status_of(&error))?);
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
        let store = self.apart.store();
        let set = match store.set(RECEIVED_SET)? {
            Some(set) => set,
            None => match store.create_set(RECEIVED_SET, &SetAttributes::default()) {
                Err(StoreError::SetExists(_)) => store.set(RECEIVED_SET)?.ok_or_else(wrong)?,
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
        let mut unit = self.apart.begin()?;
        unit.get(set, source, Read::Shared, &mut value)?;
        unit.commit()?;
        Ok((FileStatus::DONE, last(value)))
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
            nature => self.apart.serve(nature, request, out),
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
        if matches!(self.own, Own::Failed) && !is_close(request) {
            // What it empties would stand outside of the unit of work that it was meant for.
            return Err(StoreError::Unsupported("a unit of work that was backed out"));
        }
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
        let own = match &mut self.own {
            Own::Open(unit) => Some(unit),
            Own::None | Own::Failed => None,
        };
        let served = self.apart.opens(holder, request, out, own);
        self.rewritten = rewritten;
        self.doomed_by(served)
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
        if let Some(Request::Empty(name)) = Request::read(request) {
            let Some(name) = self.files.resolve(name) else { return Some(false) };
            Request::Empty(&name).write(rewritten);
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
        let served = self.apart.clusters().serve(unit, request, out);
        self.doomed_by(served)
    }

    /// What fails in the program's unit of work ends that.
    fn doomed_by(&mut self, served: Result<(), StoreError>) -> Result<(), StoreError> {
        if served.is_err()
            && matches!(self.own, Own::Open(_))
            && let Own::Open(unit) = std::mem::replace(&mut self.own, Own::Failed)
        {
            unit.backout()?;
        }
        served
    }
}

fn is_close(request: &[u8]) -> bool {
    matches!(Request::read(request), Some(Request::Close(_)))
        || matches!(acb_wire::AcbRequest::read(request), Some(acb_wire::AcbRequest::Close(_)))
}

fn refuse_name(request: &[u8], out: &mut Vec<u8>) {
    match acb_wire::is_request(request) {
        true => acb_wire::refuse(NO_ENTRY, out),
        false => plain_answer(FileStatus::NO_FILE, 0, out),
    }
}

/// The reason of an OPEN that finds no such name.
const NO_ENTRY: u8 = 148;
