//! The proof of the double-write area: what a restart after a crash would take from it.
//!
//! Invariants:
//! 1. A slot keeps what was written into it until it is used again, although a conversion may have
//!    passed those intervals since. What is genuine in the form before is no damage then, and
//!    nobody takes it: its batch is done.
//! 2. What proves itself in neither form is damage.

use std::path::Path;
use std::sync::Arc;

use base::bytes::get_u64;
use base::{CiNumber, DataSetId};
use pool::double_write::{BATCH_BYTES_MAX, DoubleWrite, DoubleWriteKeys, FoundBatch};
use seal::{Format, KeyProvider, PageSealer, TagPrefix};
use seam::Seam;
use seam::disk::{BLOCK, Open};
use seam::mem::AlignedBuf;
use space::Definition;

use super::{Finding, Verifier};
use crate::{LABELS, SystemConfig, SystemError};

/// Slots of the area, and the length of each.
const SLOTS: u64 = 2;
const SLOT_BYTES: u64 = (BLOCK + BATCH_BYTES_MAX) as u64;
const BATCH_AT: usize = 48;

/// The area, and what its contents are held against.
pub(super) struct Area<'a> {
    pub(super) seam: &'a Seam,
    pub(super) config: &'a SystemConfig,
    pub(super) keys: &'a Arc<dyn KeyProvider>,
    pub(super) path: &'a Path,
    /// No crash can have left it unfinished.
    pub(super) orderly: bool,
    /// What a data set is.
    pub(super) definition: &'a dyn Fn(DataSetId) -> Option<Definition>,
}

impl Verifier {
    pub(super) fn double_write(&mut self, area: &Area<'_>) {
        if let Err(error) = self.slots(area) {
            let repair = vec![self.command("repair", &["--double-write"])];
            self.of_error("double-write area", Some(area.path.to_owned()), &error, repair);
        }
    }

    fn slots(&mut self, area: &Area<'_>) -> Result<(), SystemError> {
        let path = area.path;
        let failed = |error| SystemError::io("look at", path, error);
        let file = area.seam.disk.open(path, Open::READ).map_err(failed)?;
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
            keys: Arc::clone(area.keys),
            label: LABELS[0].into(),
            format: Format::Sealed,
            system: area.config.system,
        };
        let found = DoubleWrite::open(area.seam, path, keys)?.found()?;
        for (slot, head) in (0..SLOTS).zip(&heads) {
            let batch = found.iter().find(|found| found.batch == get_u64(head, BATCH_AT));
            let offset = slot * SLOT_BYTES;
            match batch {
                Some(batch) => self.batch(area, offset, batch),
                None if head.iter().all(|byte| *byte == 0) => {}
                None if !area.orderly => {
                    self.note(format!("slot {slot} of the double-write area was being written"));
                }
                None => self.slot(path, offset, format!("slot {slot} does not prove itself")),
            }
        }
        Ok(())
    }

    /// The intervals of a slot whose header has proven itself. After a crash the newest slot may
    /// be torn; a restart sees that by the same tags.
    fn batch(&mut self, area: &Area<'_>, slot: u64, batch: &FoundBatch) {
        let mut offset = slot + BLOCK as u64;
        for (set, ci, prefix, unit) in &batch.units {
            match judge(area, (*set, *ci), *prefix, unit) {
                Copy::OfNothing => {}
                Copy::Genuine => self.report.double_write_intervals += 1,
                Copy::Wrong if !area.orderly => {
                    self.note(format!("the copy of {set} {ci} in the double-write area is torn"));
                }
                Copy::Wrong => {
                    let what = format!("the copy of {set} {ci} does not prove itself");
                    self.slot(area.path, offset, what);
                }
            }
            offset += unit.len() as u64;
        }
    }

    fn slot(&mut self, path: &Path, offset: u64, what: String) {
        let repair = vec![self.command("repair", &["--double-write"])];
        self.find(Finding {
            object: "double-write area".into(),
            file: Some(path.to_owned()),
            offset: Some(offset),
            interval: None,
            what,
            remedy:
                "Nothing is lost while the data sets prove themselves: have it cleared. Look at \
                     the device."
                    .into(),
            repair,
        });
    }
}

/// What a copy is.
enum Copy {
    /// What was written, in the form that its data set has, or had when it was written (1).
    Genuine,
    /// Something else.
    Wrong,
    /// Its data set is gone.
    OfNothing,
}

fn judge(area: &Area<'_>, place: (DataSetId, CiNumber), prefix: u64, unit: &[u8]) -> Copy {
    let Some(definition) = (area.definition)(place.0) else { return Copy::OfNothing };
    let mut accept = definition.accept();
    if let Some(converting) = &mut accept.converting {
        // However far it is: the slot may be older.
        converting.left = CiNumber(0)..CiNumber(u32::MAX);
    }
    let sealer = PageSealer::accepting(
        Arc::clone(area.keys),
        Arc::clone(&area.seam.entropy),
        area.config.system,
        definition.id,
        &definition.label,
        &accept,
    );
    let mut plain = AlignedBuf::zeroed(unit.len());
    plain.copy_from_slice(unit);
    match sealer.open(place.1, &mut plain).is_ok_and(|found| found == TagPrefix(prefix)) {
        true => Copy::Genuine,
        false => Copy::Wrong,
    }
}
