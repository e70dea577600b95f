//! Which records of the log a recovery needs: what an accumulation keeps.
//!
//! Invariants:
//! 1. Whatever a [`uow::Rebuild`] looks at is kept: changes of the data set and what gives its
//!    intervals out and takes them back; of units of work that have changed it, what they free and
//!    how they end.
//! 2. What says which version of an interval is on disk says nothing of a copy, and is left out.
//!
//! Of a unit of work that has changed other data sets too, those changes and their compensations
//! are left out: each own change is undone by an own compensation, or by a record that ends or
//! skips its undo, which are kept. So whatever is left of the unit's own changes is right at every
//! point. Whether a unit of work has changed other data sets cannot be seen in an accumulation;
//! `recover` looks for that in the log.

use archive::Concern;
use seam::failpoint::{Failpoint, armed};
use uow::record::{CatalogRecord, KernelRecord};
use wal::Record;

/// Whom a record of the kernel concerns among those who recover data sets from copies.
#[must_use]
pub fn log_filter(record: &Record<'_>) -> Concern {
    // The reader of what does not decode refuses it.
    let Ok(decoded) = KernelRecord::of(record) else { return Concern::Everybody };
    match decoded {
        KernelRecord::Commit { .. } | KernelRecord::BackedOut { .. } => Concern::End,
        KernelRecord::FreesAtCommit(_) if armed(Failpoint::FreesNotAccumulated) => Concern::Nobody,
        KernelRecord::FreesAtCommit(_)
        | KernelRecord::UndoEnd(_)
        | KernelRecord::UndoSkipped(_) => Concern::Unit,
        KernelRecord::Checkpoint(_) | KernelRecord::Write(_) => Concern::Nobody,
        KernelRecord::Catalog(CatalogRecord::Changed(definition)) => Concern::Set(definition.id),
        KernelRecord::Catalog(CatalogRecord::Gone(set) | CatalogRecord::Offline(set)) => {
            Concern::Set(set)
        }
        KernelRecord::Catalog(
            CatalogRecord::Made { .. }
            | CatalogRecord::Building { .. }
            | CatalogRecord::Recovered(_)
            | CatalogRecord::Protected { .. },
        ) => Concern::Everybody,
        KernelRecord::GivenOut((set, _)) | KernelRecord::TakenBack((set, _)) => Concern::Set(set),
        KernelRecord::Change(change) => Concern::Set(change.set),
    }
}
