//! Units of work for requests that bring none.
//!
//! | request | unit of work |
//! |---|---|
//! | a read | its own; it stays open while a record is held for update |
//! | a change | that of the read that holds the record, or its own; committed at once |
//! | a WRITE of a load in sequence | one for several, committed after a second at the latest |
//!
//! Invariants:
//! 1. A record that was read for update stays locked until the next request through the same file
//!    or string, and no longer; or until another file of the same program asks for the same
//!    cluster: a program never waits for itself.
//! 2. A change that was answered is committed, whole; it is durable when CLOSE is answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use store::{CommitSink, Committed, Store, StoreError, Unit as _};

use crate::acb_wire;
use crate::clusters::Clusters;
use crate::request_kind::{Holder, Nature};
use crate::status::FileStatus;
use crate::wire::{self, plain_answer};

/// WRITEs of a load that are committed together.
const LOAD_WRITES: u32 = 256;

/// A load under way.
struct Load<U> {
    unit: Option<U>,
    writes: u32,
    /// What was written since the last commit was backed out.
    failed: bool,
}

/// Nobody waits for a commit by itself: CLOSE waits for all.
struct NoSink;

impl CommitSink for NoSink {
    fn settled(&self, _token: u64, _outcome: store::Result<Committed>) {}
}

/// The files of a program whose requests are units of work of their own.
pub struct Apart<S: Store> {
    store: S,
    clusters: Clusters<S>,
    /// Units of work whose only purpose is to hold a record.
    held: BTreeMap<Holder, S::Unit>,
    loads: BTreeMap<Holder, Load<S::Unit>>,
    sink: Arc<dyn CommitSink>,
    /// Something was committed that may not be durable yet.
    is_dirty: bool,
}

impl<S: Store> Apart<S> {
    /// Over these.
    #[must_use]
    pub fn new(store: S, clusters: Clusters<S>) -> Apart<S> {
        let (held, loads) = (BTreeMap::new(), BTreeMap::new());
        Apart { store, clusters, held, loads, sink: Arc::new(NoSink), is_dirty: false }
    }

    /// The files themselves, for requests that bring their unit of work.
    pub fn clusters(&mut self) -> &mut Clusters<S> {
        &mut self.clusters
    }

    /// Where the files are.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// A unit of work as files need one.
    ///
    /// # Errors
    /// What the store says.
    pub fn begin(&self) -> Result<S::Unit, StoreError> {
        self.store.begin(vsam::unit_options())
    }

    /// Whether something waits for [`Apart::tick`].
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

    /// Lets go of all records that are held for update.
    pub fn let_go(&mut self) {
        self.held.clear();
    }

    /// Closes all files and waits until everything that was answered is durable.
    ///
    /// # Errors
    /// What the store says: something that was answered may be lost.
    pub fn finish(&mut self) -> Result<(), StoreError> {
        self.held.clear();
        self.tick();
        let failed = std::mem::take(&mut self.loads).into_values().any(|load| load.failed);
        self.clusters.close_all();
        self.settle()?;
        match failed {
            true => Err(StoreError::Unsupported("a load whose last records were backed out")),
            false => Ok(()),
        }
    }

    fn settle(&mut self) -> Result<(), StoreError> {
        if std::mem::take(&mut self.is_dirty) { self.store.wait_durable() } else { Ok(()) }
    }

    /// Carries out a request of this nature, and replaces `out` by the answer.
    ///
    /// # Errors
    /// What the store says: nothing of the request was done.
    pub fn serve(
        &mut self,
        nature: Nature,
        request: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        match nature {
            Nature::Opens(holder) => self.opens(holder, request, out, None),
            Nature::Looks(holder) => self.looks(holder, request, out),
            Nature::Changes(holder) if self.clusters.loads(holder) => {
                self.loads(holder, request, out)
            }
            Nature::Changes(holder) => self.changes(holder, request, out),
        }
    }

    /// Opens or closes: what is held through the file is not any more, and what was changed through
    /// it is durable. `own` is the unit of work that the program has begun.
    ///
    /// # Errors
    /// What the store says; then `own` is to be backed out.
    pub fn opens(
        &mut self,
        holder: Holder,
        request: &[u8],
        out: &mut Vec<u8>,
        own: Option<&mut S::Unit>,
    ) -> Result<(), StoreError> {
        let is_same = |other: &Holder| match (holder, other) {
            (Holder::File(one), Holder::File(other)) => one == *other,
            (Holder::String(one, _), Holder::String(other, _)) => one == *other,
            _ => false,
        };
        self.held.retain(|other, _| !is_same(other));
        self.commit_load(holder);
        let failed = self.loads.remove(&holder).is_some_and(|load| load.failed);
        let ended = match own {
            Some(own) => self.clusters.serve(own, request, out),
            None => self.begin().and_then(|mut unit| {
                self.clusters.serve_apart(&mut unit, request, out)?;
                // Opening only looks; what it makes stands outside of units of work.
                unit.backout()
            }),
        };
        self.settle()?;
        if failed {
            plain_answer(FileStatus::ERROR, 0, out);
        }
        ended
    }

    /// What other files of the program hold of the same cluster is let go.
    fn make_way(&mut self, holder: Holder) {
        if self.held.is_empty() {
            return;
        }
        let Some(cluster) = self.clusters.cluster_of(holder) else { return };
        let clusters = &self.clusters;
        self.held.retain(|other, _| {
            *other == holder || clusters.cluster_of(*other).is_none_or(|its| its != cluster)
        });
    }

    fn looks(
        &mut self,
        holder: Holder,
        request: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        // Whatever it held, the next request lets go.
        self.held.remove(&holder);
        self.make_way(holder);
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
        self.make_way(holder);
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

impl<S: Store> Drop for Apart<S> {
    fn drop(&mut self) {
        // What a program wrote and was answered stays; what it had begun goes.
        self.tick();
        self.clusters.close_all();
    }
}

fn is_done(request: &[u8], answer: &[u8]) -> bool {
    let good = if acb_wire::is_request(request) { 0 } else { b'0' };
    answer.first() == Some(&good)
}

/// Answers a request that the store has refused.
pub fn refuse(request: &[u8], error: &StoreError, out: &mut Vec<u8>) {
    let status = status_of(error);
    if !acb_wire::is_request(request) {
        return wire::refuse(request, status, out);
    }
    match status {
        FileStatus::RESOURCE => acb_wire::refuse(vsam::LogicalReason::HeldByAnother.number(), out),
        FileStatus::NO_SPACE => acb_wire::refuse(vsam::LogicalReason::NoSpace.number(), out),
        _ => acb_wire::fail(out),
    }
}

/// The status of a request that the store has refused.
#[must_use]
pub fn status_of(error: &StoreError) -> FileStatus {
    match error {
        StoreError::Deadlock | StoreError::Conflict(_) | StoreError::Timeout(_) => {
            FileStatus::RESOURCE
        }
        StoreError::Unsupported(_) | StoreError::TooOld(_) => FileStatus::RESOURCE,
        StoreError::NoSpace(_) | StoreError::LogFull(_) => FileStatus::NO_SPACE,
        _ => FileStatus::ERROR,
    }
}
