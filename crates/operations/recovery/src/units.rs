//! Which units of work a piece of the log has committed: for a caller that looks for one to back
//! out.

use std::collections::{BTreeMap, VecDeque};

use base::{DataSetId, Lsn, UowId};
use uow::record::{CatalogRecord, KernelRecord, Recovered};

use crate::recover::History;
use crate::{Progress, RecoveryError};

/// A unit of work that was committed and has changed something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its number.
    pub uow: UowId,
    /// Its commit record.
    pub at: Lsn,
    /// When that was: UTC in microseconds.
    pub utc_us: u64,
    /// How many changes of which data set.
    pub changes: BTreeMap<DataSetId, u64>,
}

/// The newest units of work, at most so many, that a piece of the log has committed and that are
/// wanted. They come with the newest numbers of their data sets, but are wanted by the numbers of
/// then; what recoveries have made void is left out.
///
/// # Errors
/// Whatever reading the log says.
pub fn committed(
    history: &dyn History,
    (from, to): (Lsn, Lsn),
    wanted: &dyn Fn(&Committed) -> bool,
    most: usize,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<Committed>, RecoveryError> {
    let mut list = List { wanted, most, open: BTreeMap::new(), done: VecDeque::new() };
    let mut reported = from;
    history.each(from, to, &mut |record| {
        list.see(record);
        if record.lsn.0 > reported.0 + TELL_EACH {
            reported = record.lsn;
            let (done, total) = (reported.0 - from.0, to.0.saturating_sub(from.0));
            progress(Progress { what: "the log", done, total });
        }
        Ok(true)
    })?;
    Ok(list.done.into())
}

/// How often the caller that waits is told, in bytes of log.
const TELL_EACH: u64 = 1 << 20;

struct List<'l> {
    wanted: &'l dyn Fn(&Committed) -> bool,
    most: usize,
    open: BTreeMap<UowId, Vec<(Lsn, DataSetId)>>,
    done: VecDeque<Committed>,
}

impl List<'_> {
    /// A record that does not decode is for the reader that needs it; this is only a list.
    fn see(&mut self, record: &wal::Record<'_>) {
        let Ok(decoded) = KernelRecord::of(record) else { return };
        match decoded {
            KernelRecord::Commit { utc_us } => {
                let mut changes = BTreeMap::new();
                for (_, set) in self.open.remove(&record.uow).unwrap_or_default() {
                    *changes.entry(set).or_insert(0) += 1;
                }
                let (uow, at) = (record.uow, record.lsn);
                self.keep(Committed { uow, at, utc_us, changes });
            }
            KernelRecord::BackedOut { .. } => drop(self.open.remove(&record.uow)),
            KernelRecord::Catalog(CatalogRecord::Recovered(done)) => self.moved(&done),
            KernelRecord::UndoEnd(undone) | KernelRecord::UndoSkipped(undone) => {
                self.undone(record.uow, undone.undo_next);
            }
            KernelRecord::Change(change) => {
                if let Some(next) = change.undo_next {
                    self.undone(record.uow, next);
                } else if change.undoable {
                    self.open.entry(record.uow).or_default().push((record.lsn, change.set));
                }
            }
            KernelRecord::FreesAtCommit(_)
            | KernelRecord::Checkpoint(_)
            | KernelRecord::Catalog(_)
            | KernelRecord::GivenOut(_)
            | KernelRecord::TakenBack(_)
            | KernelRecord::Write(_) => {}
        }
    }

    /// A compensation: what is left of the unit of work stands before undo-next, or there.
    fn undone(&mut self, uow: UowId, next: Lsn) {
        if let Some(changes) = self.open.get_mut(&uow) {
            changes.retain(|(lsn, _)| *lsn <= next);
        }
    }

    fn keep(&mut self, unit: Committed) {
        if unit.changes.is_empty() || !(self.wanted)(&unit) {
            return;
        }
        if self.done.len() >= self.most {
            self.done.pop_front();
        }
        self.done.push_back(unit);
    }

    fn moved(&mut self, done: &Recovered) {
        for (old, new) in &done.sets {
            self.open.values_mut().for_each(|changes| changes.retain(|(_, set)| set != old));
            for unit in &mut self.done {
                if let Some(count) = unit.changes.remove(old)
                    && unit.at < done.to
                {
                    unit.changes.insert(*new, count);
                }
            }
        }
        self.done.retain(|unit| !unit.changes.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use uow::record::{Change, RESOURCE_KINDS};

    use super::*;

    fn see(list: &mut List<'_>, lsn: u64, uow: u64, record: &KernelRecord<'_>) {
        let (lsn, uow, previous) = (Lsn(lsn), UowId(uow), Lsn::NONE);
        let (kind, flags, body) = (record.kind(), record.flags(), record.encode().concat());
        let end = lsn.plus(50);
        list.see(&wal::Record { lsn, end, kind, flags, uow, previous, body: &body });
    }

    fn change(list: &mut List<'_>, lsn: u64, uow: u64, set: u32) {
        let (kind, set) = (*RESOURCE_KINDS.start(), DataSetId(set));
        let change = Change { kind, set, undo_next: None, undoable: true, body: &[] };
        see(list, lsn, uow, &KernelRecord::Change(change));
    }

    #[test]
    fn the_newest_that_count_are_listed_under_the_newest_numbers() {
        let wanted = |unit: &Committed| unit.changes.contains_key(&DataSetId(1));
        let (open, done) = (BTreeMap::new(), VecDeque::new());
        let mut list = List { wanted: &wanted, most: 2, open, done };
        for uow in 1..=4 {
            change(&mut list, uow * 1000, uow, 1);
            change(&mut list, uow * 1000 + 100, uow, 2);
            see(&mut list, uow * 1000 + 200, uow, &KernelRecord::Commit { utc_us: 5 });
        }
        change(&mut list, 5000, 5, 2);
        see(&mut list, 5100, 5, &KernelRecord::Commit { utc_us: 5 });
        let sets = vec![(DataSetId(1), DataSetId(9)), (DataSetId(2), DataSetId(8))];
        let recovered = CatalogRecord::Recovered(Recovered { to: Lsn(4000), sets });
        see(&mut list, 6000, 0, &recovered.into());
        let left: Vec<u64> = list.done.iter().map(|unit| unit.uow.0).collect();
        assert_eq!(left, [3]);
        assert_eq!(list.done[0].changes, BTreeMap::from([(DataSetId(9), 1), (DataSetId(8), 1)]));
    }
}
