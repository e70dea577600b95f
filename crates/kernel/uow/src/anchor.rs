//! The anchor: proof, outside of the system's folders, of how far the system has come (K6).
//!
//! A cut log looks like a crash, and a control file, a log and data sets that were all put back
//! together agree with each other. Only what was not put back with them can tell. So whoever wants
//! to know names a file elsewhere, on another machine or in other hands, and it is given the newest
//! control block, byte for byte: sealed, numbered, with the LSN that the log has reached.
//!
//! Invariants:
//! 1. The anchor is written after the control file has the same block durably: it is never ahead of
//!    an honest system.
//! 2. A system whose control file is behind its anchor, or has another block under the anchor's
//!    number, was put back: it is not opened.
//! 3. An anchor that cannot be written stops nobody: it is behind then, which is told, and proves
//!    as much as it holds.

use std::path::PathBuf;

use seam::Seam;
use seam::disk::{BLOCK, Open};
use seam::failpoint::{Failpoint, armed};
use seam::fresh::replace_small;
use seam::mem::AlignedBuf;
use seam::sync::Mutex;

use crate::UowError;
use crate::control_block::{ControlKeys, Numbered, decode};

/// Which anchor a system has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorPlan {
    /// The file.
    pub path: PathBuf,
    /// Begin with the system as it is, whatever the anchor says or whether there is one: what was
    /// put back before is not noticed.
    pub replaces: bool,
}

/// The anchor of an open system.
pub(crate) struct Anchor {
    seam: Seam,
    path: PathBuf,
    /// Why it could not be written the last time.
    trouble: Mutex<Option<String>>,
}

impl Anchor {
    /// The anchor, once it has been compared with the blocks that the control file has.
    ///
    /// # Errors
    /// [`UowError::Anchor`]: the system was put back; the anchor is gone, or another system's.
    pub(crate) fn open(
        seam: &Seam,
        plan: &AnchorPlan,
        keys: &ControlKeys,
        blocks: &[Numbered],
    ) -> Result<Anchor, UowError> {
        let path = plan.path.clone();
        let anchor = Anchor { seam: seam.clone(), path, trouble: Mutex::new(None) };
        if plan.replaces {
            anchor.refuse_other_files(keys)?;
        }
        if !plan.replaces && !armed(Failpoint::AnchorNotCompared) {
            anchor.compare(keys, blocks)?;
        }
        Ok(anchor)
    }

    /// An anchor is begun where there is none: what else stands there would be lost.
    fn refuse_other_files(&self, keys: &ControlKeys) -> Result<(), UowError> {
        let refuse = |why: &str| UowError::Anchor { path: self.path.clone(), why: why.into() };
        let file = match self.seam.disk.open(&self.path, Open::READ) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                return Err(refuse(&format!("what stands there cannot be read: {error}")));
            }
        };
        let mut slot = AlignedBuf::zeroed(BLOCK);
        let len = file.len().unwrap_or(u64::MAX);
        if len == 0 {
            return Ok(());
        }
        let is_anchor = len == BLOCK as u64
            && file.read_at(&mut slot, 0).is_ok()
            && decode(&mut slot, keys).is_ok();
        if is_anchor { Ok(()) } else { Err(refuse("a file stands there that is no anchor of it")) }
    }

    fn compare(&self, keys: &ControlKeys, blocks: &[Numbered]) -> Result<(), UowError> {
        let refuse = |why: String| UowError::Anchor { path: self.path.clone(), why };
        let mut slot = AlignedBuf::zeroed(BLOCK);
        let read =
            self.seam.disk.open(&self.path, Open::READ).and_then(|file| file.read_at(&mut slot, 0));
        read.map_err(|error| refuse(format!("it cannot be read: {error}")))?;
        let anchored = decode(&mut slot, keys)
            .map_err(|fault| refuse(format!("it is none of this system: {fault}")))?;
        let newest = blocks.iter().map(|block| block.sequence).max().unwrap_or(0);
        if newest < anchored.sequence {
            return Err(refuse(format!(
                "it has seen control block {} and the log up to {}; the system has only block \
                 {newest}: it was put back to an earlier state",
                anchored.sequence, anchored.block.proven
            )));
        }
        let same_number = blocks.iter().find(|block| block.sequence == anchored.sequence);
        if same_number.is_some_and(|block| block.tag != anchored.tag) {
            return Err(refuse(format!(
                "it has seen another control block {} than the system has: the system was put \
                 back to an earlier state and has gone on from there",
                anchored.sequence
            )));
        }
        Ok(())
    }

    /// Gives it the control block that has just been written.
    pub(crate) fn store(&self, slot: &[u8]) {
        let stored = replace_small(self.seam.disk.as_ref(), &self.path, slot);
        *self.trouble.lock() = stored.err().map(|error| error.to_string());
    }

    /// Why it is behind, if it is.
    pub(crate) fn trouble(&self) -> Option<String> {
        let trouble = self.trouble.lock().clone()?;
        Some(format!("the anchor {} cannot be written: {trouble}", self.path.display()))
    }
}
