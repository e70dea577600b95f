//! What is known of the checkpoints of an open system: when the last one was, and which data sets
//! have had a free end since when.
//!
//! Invariants:
//! 1. One checkpoint, or one round of freeing, at a time, under [`Checkpoints::work`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base::stats::Counter;
use base::{DataSetId, Lsn};
use seam::sync::Mutex;
use space::DataSet;
use wal::Log;

use crate::UowError;

/// A shorter free end is kept for what comes next.
const TAIL_MIN: u32 = 64;

/// The checkpoints of an open system.
#[derive(Default)]
pub(crate) struct Checkpoints {
    /// Held for (1), and by whoever ends a data set, so that nobody looks at its maps meanwhile.
    pub(crate) work: Mutex<()>,
    /// Where the log stood at the last one, and when that was.
    last: Mutex<(Lsn, Duration)>,
    /// Data sets with a free end, and when that was seen.
    tails: Mutex<BTreeMap<DataSetId, Lsn>>,
    pub(crate) taken: Counter,
}

impl Checkpoints {
    /// Where the log stood at the last one, and when that was.
    pub(crate) fn last(&self) -> (Lsn, Duration) {
        *self.last.lock()
    }

    /// One was taken.
    pub(crate) fn took(&self, log_end: Lsn, now: Duration) {
        *self.last.lock() = (log_end, now);
    }

    /// Cuts the files of data sets whose end is no longer used. What was free at the end of a data
    /// set when an earlier checkpoint looked, and was not used since, no restart can ask for any
    /// more once the redo point has passed that look.
    pub(crate) fn cut_tails(
        &self,
        sets: &[Arc<DataSet>],
        log: &Log,
        redo: Lsn,
    ) -> Result<(), UowError> {
        let mut tails = self.tails.lock();
        for set in sets {
            match tails.get(&set.id()) {
                Some(looked) if *looked > redo => continue,
                Some(_) => {
                    tails.remove(&set.id());
                    set.cut()?;
                }
                None => {}
            }
            let used = set.watch_peak()?;
            if set.intervals() > used + used / 8 + TAIL_MIN {
                tails.insert(set.id(), log.next_lsn());
            }
        }
        Ok(())
    }
}
