//! Repair: a batch of writes that was cut short is settled from the double-write area (K12).
//!
//! The log names the intervals of the batch with their new and old tags. If not all of that was
//! logged, nothing was written in place: every interval has its old version. Otherwise the copies
//! in the double-write area, if they are whole, are put where the interval is torn or still the old
//! one; if they are not whole, writing in place had not begun. Either way each interval is then
//! read and must be one of the two.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{CiNumber, DataSetId, Lsn};
use pool::PoolError;
use pool::double_write::{BATCH_INTERVALS_MAX, FoundBatch};
use seam::mem::AlignedBuf;
use space::DataSet;

use super::analysis::{Analysis, OpenBatch};
use crate::record::{KernelRecord, List, SettledEntry, WriteRecord, WrittenEntry};
use crate::{Kernel, UowError};

impl Kernel {
    /// Settles the open batch, if there is one. Returns how many intervals were put back.
    pub(super) fn settle(&self, analysis: &mut Analysis) -> Result<u64, UowError> {
        let Some(batch) = analysis.open_batch.take() else { return Ok(0) };
        let mut repaired = 0;
        if batch.begun {
            repaired = self.restore(&batch)?;
        }
        let mut settled = Vec::with_capacity(batch.entries.len());
        for (id, entry) in &batch.entries {
            let Some(set) = self.set(*id) else { continue };
            let entry = if batch.begun { on_disk(&set, *entry)? } else { old(&set, *entry) };
            let overlay = analysis.overlays.entry(*id).or_default();
            overlay.written.insert(entry.ci.0, (entry.prefix, entry.page_lsn));
            settled.push(entry);
        }
        if !settled.is_empty() {
            let (batch, entries) = (batch.number, List::of(&settled));
            let settled = WriteRecord::BatchSettled { batch, entries };
            KernelRecord::Write(settled).append_reserved(&self.log)?;
        }
        Ok(repaired)
    }

    /// Puts the copies of the double-write area where they are needed.
    fn restore(&self, batch: &OpenBatch) -> Result<u64, UowError> {
        let found = self.buffers.writer.found_batches()?;
        let Some(copies) = found.into_iter().find(|found| found.batch == batch.number) else {
            return Ok(0);
        };
        let Some(proven) = self.prove(batch, copies) else { return Ok(0) };
        let mut repaired = 0;
        for (id, units) in proven {
            let Some(set) = self.set(id) else { continue };
            let mut needed = Vec::new();
            for (ci, prefix, unit) in &units {
                let mut present = AlignedBuf::zeroed(set.unit_bytes());
                if set.read_past_pool(*ci, &mut present).ok() != Some(*prefix) {
                    needed.push((*ci, unit));
                }
            }
            let writes: Vec<(CiNumber, &[u8])> =
                needed.iter().map(|(ci, u)| (*ci, &u[..])).collect();
            let io = |source| UowError::Io { what: format!("data set {}", set.name()), source };
            set.restore_raw(&writes).map_err(io)?;
            pool::Backing::sync(&*set).map_err(io)?;
            repaired += writes.len() as u64;
        }
        Ok(repaired)
    }

    /// The copies by data set, if every one of the batch is there and proves itself.
    fn prove(&self, batch: &OpenBatch, copies: FoundBatch) -> Option<Proven> {
        let mut proven = Proven::new();
        let logged: BTreeMap<(DataSetId, CiNumber), u64> =
            batch.entries.iter().map(|(set, entry)| ((*set, entry.ci), entry.new)).collect();
        for (id, ci, prefix, unit) in copies.units {
            let Some(set) = self.set(id) else { continue };
            let mut plain = AlignedBuf::zeroed(unit.len());
            plain.copy_from_slice(&unit);
            let genuine = set.prove(ci, &mut plain).ok() == Some(prefix);
            if !genuine || logged.get(&(id, ci)) != Some(&prefix) {
                return None;
            }
            let mut aligned = AlignedBuf::zeroed(unit.len());
            aligned.copy_from_slice(&unit);
            proven.entry(id).or_default().push((ci, prefix, aligned));
        }
        Some(proven)
    }
}

type Proven = BTreeMap<DataSetId, Vec<(CiNumber, u64, AlignedBuf)>>;

/// Entries of a "batch settled" record.
const ENTRIES_A_RECORD: usize = 256;
const _: () = assert!(BATCH_INTERVALS_MAX <= ENTRIES_A_RECORD, "one record settles a batch");

/// The entry of an interval whose writing had not begun.
fn old(set: &Arc<DataSet>, entry: WrittenEntry) -> SettledEntry {
    // Which LSN the old version has is not known; redo will look.
    SettledEntry { set: set.id(), ci: entry.ci, page_lsn: Lsn::NONE, prefix: entry.old }
}

/// Whether nothing stands where an interval should.
fn is_blank(set: &Arc<DataSet>, ci: CiNumber) -> Result<bool, UowError> {
    if ci.0 >= set.intervals() {
        return Ok(true);
    }
    let mut unit = AlignedBuf::zeroed(set.unit_bytes());
    pool::Backing::read_raw(&**set, ci, &mut unit)?;
    Ok(unit.iter().all(|byte| *byte == 0))
}

/// Which of its two versions an interval has on disk.
fn on_disk(set: &Arc<DataSet>, entry: WrittenEntry) -> Result<SettledEntry, UowError> {
    let mut unit = AlignedBuf::zeroed(set.unit_bytes());
    match set.read_past_pool(entry.ci, &mut unit) {
        Ok(prefix) if prefix == entry.new => {
            let page_lsn = entry.page_lsn;
            Ok(SettledEntry { set: set.id(), ci: entry.ci, page_lsn, prefix })
        }
        Ok(prefix) if prefix == entry.old => Ok(old(set, entry)),
        // Never written before, and not now either: whatever stands there is of no interest.
        _ if entry.old == 0 => Ok(old(set, entry)),
        // Cut off with the end of the file since its old version, and the file has grown again.
        _ if is_blank(set, entry.ci)? => Ok(SettledEntry { prefix: 0, ..old(set, entry) }),
        Ok(_) => Err(UowError::Pool(PoolError::Damaged {
            name: set.name().to_owned(),
            set: set.id(),
            ci: entry.ci,
            why: "it is neither of the two versions that the log knows".into(),
        })),
        Err(error) => Err(error.into()),
    }
}
