//! The proof of the double-write area: what a restart after a crash would take from it.

use std::path::Path;
use std::sync::Arc;

use base::bytes::get_u64;
use base::{CiNumber, DataSetId};
use pool::double_write::{BATCH_BYTES_MAX, DoubleWrite, DoubleWriteKeys, FoundBatch};
use seal::{Format, KeyProvider, PageSealer, TagPrefix};
use seam::disk::{BLOCK, Open};
use seam::mem::AlignedBuf;

use super::{Finding, Verifier};
use crate::{LogSurvey, Stopped, SystemError};

/// Slots of the area, and the length of each.
const SLOTS: u64 = 2;
const SLOT_BYTES: u64 = (BLOCK + BATCH_BYTES_MAX) as u64;
const BATCH_AT: usize = 48;

impl Verifier {
    pub(super) fn double_write(&mut self, stopped: &Stopped, survey: &LogSurvey) {
        let path = stopped.dir.join("double-write");
        if let Err(error) = self.area(stopped, survey, &path) {
            self.of_error("double-write area", Some(path), &error);
        }
    }

    fn area(
        &mut self,
        stopped: &Stopped,
        survey: &LogSurvey,
        path: &Path,
    ) -> Result<(), SystemError> {
        let failed = |error| SystemError::io("look at", path, error);
        let file = stopped.seam.disk.open(path, Open::READ).map_err(failed)?;
        let len = file.len().map_err(failed)?;
        if len < SLOTS * SLOT_BYTES {
            self.slot(path, len, format!("it ends there; it has {} bytes", SLOTS * SLOT_BYTES));
            return Ok(());
        }
        let mut heads = Vec::new();
        for slot in 0..SLOTS {
            let mut head = AlignedBuf::zeroed(BLOCK);
            file.read_at(&mut head, slot * SLOT_BYTES).map_err(failed)?;
            heads.push(head);
        }
        let keys = DoubleWriteKeys {
            keys: Arc::clone(&stopped.keys) as Arc<dyn KeyProvider>,
            label: stopped.config.kernel(&stopped.dir).system_label,
            format: Format::Sealed,
            system: stopped.config.system,
        };
        let found = DoubleWrite::open(&stopped.seam, path, keys)?.found()?;
        for (slot, head) in (0..SLOTS).zip(&heads) {
            let batch = found.iter().find(|found| found.batch == get_u64(head, BATCH_AT));
            let offset = slot * SLOT_BYTES;
            match batch {
                Some(batch) => self.batch(stopped, survey, path, offset, batch),
                None if head.iter().all(|byte| *byte == 0) => {}
                None if !survey.is_orderly() => {
                    self.note(format!("slot {slot} of the double-write area was being written"));
                }
                None => self.slot(path, offset, format!("slot {slot} does not prove itself")),
            }
        }
        Ok(())
    }

    /// The intervals of a slot whose header has proven itself. After a crash the newest slot may
    /// be torn; a restart sees that by the same tags.
    fn batch(
        &mut self,
        stopped: &Stopped,
        survey: &LogSurvey,
        path: &Path,
        slot: u64,
        batch: &FoundBatch,
    ) {
        let mut offset = slot + BLOCK as u64;
        for (set, ci, prefix, unit) in &batch.units {
            match proves(stopped, survey, (*set, *ci), *prefix, unit) {
                None => {}
                Some(true) => self.report.double_write_intervals += 1,
                Some(false) if !survey.is_orderly() => {
                    self.note(format!("the copy of {set} {ci} in the double-write area is torn"));
                }
                Some(false) => {
                    self.slot(
                        path,
                        offset,
                        format!("the copy of {set} {ci} does not prove itself"),
                    );
                }
            }
            offset += unit.len() as u64;
        }
    }

    fn slot(&mut self, path: &Path, offset: u64, what: String) {
        self.find(Finding {
            object: "double-write area".into(),
            file: Some(path.to_owned()),
            offset: Some(offset),
            interval: None,
            what,
            remedy: "Nothing is lost while the data sets prove themselves: the next start writes \
                     it anew. Look at the device."
                .into(),
        });
    }
}

/// Whether a copy is genuine; `None` if its data set is gone.
fn proves(
    stopped: &Stopped,
    survey: &LogSurvey,
    place: (DataSetId, CiNumber),
    prefix: u64,
    unit: &[u8],
) -> Option<bool> {
    let (_, definition) = survey.sets.get(&place.0)?;
    let sealer = PageSealer::new(
        Arc::clone(&stopped.keys) as Arc<dyn KeyProvider>,
        Arc::clone(&stopped.seam.entropy),
        stopped.config.system,
        definition.id,
        &definition.label,
        definition.format,
        definition.generation,
    );
    let mut plain = AlignedBuf::zeroed(unit.len());
    plain.copy_from_slice(unit);
    Some(sealer.open(place.1, &mut plain).is_ok_and(|found| found == TagPrefix(prefix)))
}
