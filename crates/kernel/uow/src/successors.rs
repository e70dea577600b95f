//! Repeating changes in the successors of a recovery, however many there are.
//!
//! Invariants:
//! 1. Whoever has started it finishes it before a successor is used or given up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use base::{CiNumber, DataSetId, Lsn};
use pool::ExclusiveCi;
use space::DataSet;

use crate::record::Target;
use crate::sweep::{Gathered, Repeat, Sweep};
use crate::{Kernel, UowError};

/// The most that is gathered from the log before it is repeated, however large the pools are.
const GATHERED_BYTES_MAX: usize = 1 << 30;

/// Gathers changes while the log is read for the successors, and repeats them.
pub struct Repeating {
    sweep: Sweep,
    successors: Arc<Successors>,
}

impl Repeating {
    /// Begins with these data sets. It takes up to four times the memory of their largest pool.
    pub(crate) fn of(kernel: &Arc<Kernel>, sets: impl Iterator<Item = Arc<DataSet>>) -> Repeating {
        let one = |set: Arc<DataSet>| (set.id(), Successor { set, redone: AtomicU64::new(0) });
        let sets: BTreeMap<DataSetId, Successor> = sets.map(one).collect();
        let pools = sets.values().map(|one| one.set.pool().frames() * one.set.unit_bytes());
        let bytes_max = GATHERED_BYTES_MAX.min(pools.max().unwrap_or(0) * 4);
        let successors = Arc::new(Successors { kernel: Arc::clone(kernel), sets });
        let work = Arc::clone(&successors) as Arc<dyn Repeat>;
        Repeating { sweep: Sweep::new(work, bytes_max), successors }
    }

    /// Has a change of an interval repeated; `known`: the interval held something before.
    pub(crate) fn give(
        &mut self,
        set: DataSetId,
        target: Target,
        known: bool,
        (kind, lsn, body): (u8, Lsn, &[u8]),
    ) -> Result<(), UowError> {
        self.sweep.give((set, target.ci), (kind, lsn), (target.fresh, known), body)
    }

    /// Repeats what is left; tells how many changes of each data set were repeated.
    pub(crate) fn end(self, mut count: impl FnMut(DataSetId, u64)) -> Result<(), UowError> {
        let done = self.sweep.finish();
        for (set, successor) in &self.successors.sets {
            count(*set, successor.redone.load(Relaxed));
        }
        done
    }
}

struct Successors {
    kernel: Arc<Kernel>,
    sets: BTreeMap<DataSetId, Successor>,
}

struct Successor {
    set: Arc<DataSet>,
    redone: AtomicU64,
}

impl Repeat for Successors {
    fn fetch(&self, set: DataSetId, first: CiNumber, count: u32) {
        if let Some(Successor { set, .. }) = self.sets.get(&set) {
            set.pool().read_ahead(&**set, first, count);
        }
    }

    fn repeat<'g>(
        &self,
        set: DataSetId,
        changes: &mut dyn Iterator<Item = (&'g Gathered, &'g [u8])>,
    ) -> Result<(), UowError> {
        let Some(Successor { set, redone }) = self.sets.get(&set) else { return Ok(()) };
        let mut changes = changes.peekable();
        let Some((first, _)) = changes.peek() else { return Ok(()) };
        let ci = first.ci;
        let mut page = if first.fresh { fresh(set, ci, first.known)? } else { set.exclusive(ci)? };
        let mut repeated = 0;
        for (change, body) in changes {
            if !change.fresh && page.lsn() >= change.lsn {
                continue;
            }
            if repeated == 0 {
                page.begin_change(self.kernel.log.next_lsn());
            }
            let applied = self.kernel.parts.resource.redo(change.kind, body, ci, page.bytes_mut());
            page.set_lsn(change.lsn);
            applied.map_err(|damage| UowError::Damaged {
                object: format!("interval {ci} of data set {}", set.name()),
                why: format!("the log record at {} does not fit it: {}", change.lsn, damage.0),
            })?;
            repeated += 1;
        }
        redone.fetch_add(repeated, Relaxed);
        Ok(())
    }
}

/// An interval whose contents are about to be written anew; `known`: it held something.
pub(crate) fn fresh(set: &DataSet, ci: CiNumber, known: bool) -> Result<ExclusiveCi<'_>, UowError> {
    let written = set.is_resident(ci) || known;
    Ok(if written { set.exclusive(ci)? } else { set.pin_fresh(ci)?.exclusive() })
}
