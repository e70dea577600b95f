//! Up to where the log is void for what a recovery has built, from the log alone.
//!
//! Invariants:
//! 1. A successor is whole where the log has last something of it in front of the record that puts
//!    it in place. What others log in between does not make that void: a point there may have been
//!    recovered to since.
//! 2. Where the log was not read, it may have had something: the end lies behind that.

use std::collections::BTreeMap;

use base::{DataSetId, Lsn, UowId};
use uow::record::{CatalogRecord, KernelRecord, Recovered};
use wal::Record;

/// Where the log had last something of each data set.
pub(crate) struct VoidEnds {
    /// From here on nothing is left out.
    from: Lsn,
    last: BTreeMap<DataSetId, Last>,
}

/// The last record of a data set.
#[derive(Clone, Copy)]
struct Last {
    end: Lsn,
    /// Whose it is: what a unit of work does to a successor is done once that is over.
    uow: UowId,
}

impl VoidEnds {
    /// Nothing was read in front of a position.
    pub(crate) fn from(from: Lsn) -> VoidEnds {
        VoidEnds { from, last: BTreeMap::new() }
    }

    /// Takes the next record.
    pub(crate) fn see(&mut self, record: &Record<'_>, kernel_record: &KernelRecord<'_>) {
        let set = match kernel_record {
            KernelRecord::BackedOut { .. } if record.uow != UowId::NONE => {
                let own = self.last.values_mut().filter(|last| last.uow == record.uow);
                own.for_each(|last| last.end = record.end);
                return;
            }
            KernelRecord::Catalog(CatalogRecord::Building { definition, .. }) => definition.id,
            KernelRecord::Catalog(CatalogRecord::Gone(set)) => {
                self.last.remove(set);
                return;
            }
            KernelRecord::Change(change) => change.set,
            KernelRecord::GivenOut((set, _)) | KernelRecord::TakenBack((set, _)) => *set,
            KernelRecord::UndoEnd(undone) | KernelRecord::UndoSkipped(undone) => undone.set,
            // Which version of an interval is on disk changes nothing in it.
            KernelRecord::Write(_)
            | KernelRecord::Catalog(_)
            | KernelRecord::Checkpoint(_)
            | KernelRecord::FreesAtCommit(_)
            | KernelRecord::BackedOut { .. }
            | KernelRecord::Commit { .. } => return,
        };
        self.last.insert(set, Last { end: record.end, uow: record.uow });
    }

    /// Up to where the log is void for data sets that were just put in place.
    pub(crate) fn of(&self, Recovered { to, sets }: &Recovered) -> Lsn {
        let ends =
            sets.iter().map(|(_, new)| self.last.get(new).map_or(self.from, |last| last.end));
        ends.fold(*to, Lsn::max)
    }
}

#[cfg(test)]
mod tests {
    use base::CiNumber;
    use uow::record::{Change, WriteRecord};

    use super::*;

    fn give(ends: &mut VoidEnds, lsn: u64, uow: u64, record: &KernelRecord<'_>) {
        let (lsn, end, uow) = (Lsn(lsn), Lsn(lsn + 10), UowId(uow));
        let (kind, flags, previous) = (record.kind(), record.flags(), Lsn::NONE);
        ends.see(&Record { lsn, end, kind, flags, uow, previous, body: &[] }, record);
    }

    fn change(set: u32) -> KernelRecord<'static> {
        let (set, undo_next) = (DataSetId(set), Some(Lsn::NONE));
        KernelRecord::Change(Change { kind: 32, set, undo_next, undoable: false, body: &[] })
    }

    fn recovered(to: u64) -> Recovered {
        Recovered { to: Lsn(to), sets: vec![(DataSetId(1), DataSetId(7))] }
    }

    #[test]
    fn what_others_log_before_a_successor_takes_its_place_is_not_void() {
        let mut ends = VoidEnds::from(Lsn(100));
        give(&mut ends, 300, 5, &change(7));
        assert_eq!(ends.of(&recovered(280)), Lsn(310));
        // Its backout is over, and what belonged to no unit of work is taken back.
        give(&mut ends, 320, 5, &KernelRecord::BackedOut { utc_us: 1 });
        assert_eq!(ends.of(&recovered(280)), Lsn(330));
        give(&mut ends, 340, 0, &KernelRecord::TakenBack((DataSetId(7), CiNumber(9))));
        assert_eq!(ends.of(&recovered(280)), Lsn(350));
        give(&mut ends, 400, 6, &change(2));
        give(&mut ends, 410, 6, &KernelRecord::Commit { utc_us: 2 });
        give(&mut ends, 420, 0, &KernelRecord::Write(WriteRecord::BatchDone { batch: 3 }));
        assert_eq!(ends.of(&recovered(280)), Lsn(350));
        // Nothing had to be backed out behind the point.
        assert_eq!(ends.of(&recovered(500)), Lsn(500));
    }

    #[test]
    fn a_successor_of_which_nothing_was_read_may_not_be_whole_before_reading_began() {
        let mut ends = VoidEnds::from(Lsn(900));
        give(&mut ends, 900, 6, &change(2));
        assert_eq!(ends.of(&recovered(280)), Lsn(900));
    }
}
