//! Intervals in transit: given out and not yet part of a structure, or no longer part of one and
//! not yet taken back.
//!
//! The map says that they are in use, but nothing leads to them. Whoever has them will soon log the
//! record that makes them part of something, or the one that takes them back; if a crash comes
//! between, restart takes them back, so that none is lost.
//!
//! Invariants:
//! 1. What the table says of an interval is what the last record about it says: it changes under
//!    the same mutex under which that record is appended.
//! 2. So a checkpoint that copies the table and notes the log's end under this mutex, and the
//!    records behind that place, together give the table at the end of the log.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use base::DataSetId;
use seam::sync::Mutex;

use crate::record::{Interval, Target};

/// The table of intervals in transit.
#[derive(Default)]
pub(crate) struct Transit {
    intervals: Mutex<BTreeSet<Interval>>,
    /// How many there are, for those who only want to know that there are none.
    count: AtomicUsize,
}

/// What a record does to an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It belongs to nobody yet, or no longer.
    Leaves,
    /// It has become part of a structure, or it is free.
    Arrives,
}

impl Transit {
    /// Appends a record that moves intervals.
    pub(crate) fn log<T, E>(
        &self,
        steps: &[(Interval, Step)],
        append: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let mut intervals = self.intervals.lock();
        let appended = append()?;
        for (interval, step) in steps {
            match step {
                Step::Leaves => intervals.insert(*interval),
                Step::Arrives => intervals.remove(interval),
            };
        }
        self.count.store(intervals.len(), SeqCst);
        Ok(appended)
    }

    /// The same while restart reads the record in the log.
    pub(crate) fn see(&self, steps: &[(Interval, Step)]) {
        let seen: Result<(), ()> = self.log(steps, || Ok(()));
        debug_assert!(seen.is_ok());
    }

    /// Whether the interval is in transit. Exact for whoever has it.
    #[inline]
    pub(crate) fn has(&self, interval: Interval) -> bool {
        self.count.load(SeqCst) > 0 && self.intervals.lock().contains(&interval)
    }

    /// All of them, and what `note` sees meanwhile.
    pub(crate) fn list<T>(&self, note: impl FnOnce() -> T) -> (Vec<Interval>, T) {
        let intervals = self.intervals.lock();
        (intervals.iter().copied().collect(), note())
    }

    /// Forgets those of a data set that is gone.
    pub(crate) fn forget(&self, set: DataSetId) {
        let mut intervals = self.intervals.lock();
        intervals.retain(|(other, _)| *other != set);
        self.count.store(intervals.len(), SeqCst);
    }
}

/// What a record of the resource does to its intervals.
pub(crate) fn steps_of(set: DataSetId, targets: &[Target]) -> Vec<(Interval, Step)> {
    let moved = targets.iter().filter(|target| target.fresh || target.frees);
    moved
        .map(|target| {
            let step = if target.frees { Step::Leaves } else { Step::Arrives };
            ((set, target.ci), step)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use base::CiNumber;

    use super::*;

    #[test]
    fn an_interval_is_in_transit_from_record_to_record() {
        let transit = Transit::default();
        let (one, two) = ((DataSetId(1), CiNumber(7)), (DataSetId(2), CiNumber(7)));
        let failed = transit.log(&[(one, Step::Leaves)], || Err::<(), ()>(()));
        assert!(
            failed.is_err() && !transit.has(one),
            "a record that was not appended does nothing"
        );
        transit.see(&[(one, Step::Leaves), (two, Step::Leaves)]);
        assert!(transit.has(one) && transit.has(two));
        let target = Target { ci: CiNumber(7), fresh: true, frees: false };
        transit.see(&steps_of(DataSetId(1), &[target]));
        assert_eq!(transit.list(|| ()).0, vec![two]);
        transit.forget(DataSetId(2));
        assert!(!transit.has(two));
    }
}
