//! The crew of a recovery: few threads that repeat changes in all of its successors, however many
//! there are.
//!
//! Invariants:
//! 1. Whoever has started it finishes it before a successor is used or given up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use base::DataSetId;
use space::DataSet;

use crate::crew::{Crew, Item, Redo};
use crate::rebuild::fresh;
use crate::resource::Target;
use crate::{Kernel, Rebuild, UowError};

/// Threads that repeat changes in successors while the log is read for them.
pub struct Repeating {
    crew: Crew,
    successors: Arc<Successors>,
}

impl Repeating {
    /// Starts them for these successors.
    ///
    /// # Errors
    /// If the operating system refuses a thread.
    pub fn start(kernel: &Arc<Kernel>, rebuilds: &[Rebuild]) -> Result<Repeating, UowError> {
        let one = |rebuild: &Rebuild| {
            let set = Arc::clone(rebuild.set());
            (set.id(), Successor { set, redone: AtomicU64::new(0) })
        };
        let sets = rebuilds.iter().map(one).collect();
        let successors = Arc::new(Successors { kernel: Arc::clone(kernel), sets });
        let work = Arc::clone(&successors) as Arc<dyn Redo>;
        Ok(Repeating { crew: Crew::start(&work)?, successors })
    }

    /// Has a change repeated.
    pub(crate) fn give(&mut self, item: Item, body: &[u8]) {
        self.crew.give(item, body);
    }

    /// Waits until every change is repeated, and counts them.
    ///
    /// # Errors
    /// A record that does not fit its interval; whatever pool and disk say.
    pub fn finish(self, rebuilds: &mut [Rebuild]) -> Result<(), UowError> {
        let done = self.crew.finish();
        for rebuild in rebuilds {
            if let Some(successor) = self.successors.sets.get(&rebuild.set().id()) {
                rebuild.counts.redone += successor.redone.load(Relaxed);
            }
        }
        done.map(drop)
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

impl Redo for Successors {
    fn redo(&self, item: &Item, body: &[u8]) -> Result<bool, UowError> {
        let Some(Successor { set, redone }) = self.sets.get(&item.set) else { return Ok(false) };
        let Target { ci, fresh: anew, .. } = item.target;
        let mut page = if anew { fresh(set, ci, item.known)? } else { set.exclusive(ci)? };
        if !anew && page.lsn() >= item.lsn {
            return Ok(false);
        }
        page.begin_change(self.kernel.log.next_lsn());
        let applied = self.kernel.parts.resource.redo(item.kind, body, ci, page.bytes_mut());
        page.set_lsn(item.lsn);
        drop(page);
        applied.map_err(|damage| UowError::Damaged {
            object: format!("interval {ci} of data set {}", set.name()),
            why: format!("the log record at {} does not fit it: {}", item.lsn, damage.0),
        })?;
        redone.fetch_add(1, Relaxed);
        Ok(true)
    }

    fn fetch(&self, item: &Item) {
        if let Some(Successor { set, .. }) = self.sets.get(&item.set) {
            set.pool().fetch(item.set, item.target.ci);
        }
    }
}
