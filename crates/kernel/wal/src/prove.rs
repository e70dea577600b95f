//! Proving a running log: every durable group is read on every copy that should have it.
//!
//! Invariants:
//! 1. Nothing is changed, and nobody waits: appenders, writers and readers go on.
//! 2. A group that its segment lost while it was looked at, because the segment was used again, is
//!    not damaged but gone.

use base::GroupNumber;
use seam::disk::File;
use seam::mem::AlignedBuf;

use crate::config::SEGMENT_HEADER;
use crate::flush_state::CopyState;
use crate::group::Flaw;
use crate::lens::LENS_BYTES;
use crate::log::Log;
use crate::read::{Groups, Reading};
use crate::segment::{FileAt, SegmentHead, SegmentId};
use crate::{LogError, Scanned};

/// How far a proof is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProofStep {
    /// Groups that were read.
    pub done: u64,
    /// Groups there are.
    pub total: u64,
    /// Bytes that were read since the last step, over all copies.
    pub bytes: u64,
}

impl Log {
    /// Reads every durable group that the log has on every living copy. `damage` is given what a
    /// copy lacks, as [`crate::scan()`] does; `step` is told how far it is, ends it with `false`.
    /// Returns how many groups were read.
    ///
    /// # Errors
    /// If a segment that was not looked at since the start cannot be walked.
    pub fn prove(
        &self,
        damage: &mut dyn FnMut(Scanned<'_>),
        step: &mut dyn FnMut(ProofStep) -> bool,
    ) -> Result<u64, LogError> {
        Prover { core: &self.core }.prove(damage, step)
    }
}

/// Proves one log.
pub(crate) struct Prover<'a> {
    pub(crate) core: &'a Reading,
}

impl Prover<'_> {
    fn prove(
        &self,
        damage: &mut dyn FnMut(Scanned<'_>),
        step: &mut dyn FnMut(ProofStep) -> bool,
    ) -> Result<u64, LogError> {
        let end = self.core.flush_state.lock().undurable();
        let mut next = self.oldest_group();
        let (first, mut done) = (next, 0);
        let copies = self.core.config.copies.len() as u8;
        let mut readers: Vec<Groups> =
            (0..copies).map(|_| Groups::new(self.core.book(), LENS_BYTES)).collect();
        while next < end {
            let mut bytes = 0;
            for copy in 0..copies {
                let living =
                    self.core.flush_state.lock().copies()[usize::from(copy)] == CopyState::Living;
                if living {
                    bytes +=
                        self.prove_group(next, copy, &mut readers[usize::from(copy)], damage)?;
                }
            }
            done += 1;
            // What was freed meanwhile need not be looked at.
            next = GroupNumber(next.0 + 1).max(self.oldest_group());
            let (behind, total) = (next.0 - first.0, end.0 - first.0);
            if !step(ProofStep { done: behind.min(total), total, bytes }) {
                break;
            }
        }
        Ok(done)
    }

    /// The first group of the oldest segment in use.
    fn oldest_group(&self) -> GroupNumber {
        let directory = self.core.directory.lock();
        directory.segments.front().map_or(GroupNumber(0), |segment| segment.id.first_group)
    }

    /// Reads one group on one copy; returns the bytes that it takes there.
    fn prove_group(
        &self,
        number: GroupNumber,
        copy: u8,
        reader: &mut Groups,
        damage: &mut dyn FnMut(Scanned<'_>),
    ) -> Result<u64, LogError> {
        let place = match self.core.locate(number) {
            Ok(place) => place,
            // It was freed a moment ago (2).
            Err(LogError::Gone { .. }) => return Ok(0),
            Err(error) => return Err(error),
        };
        let at = FileAt { copy, slot: place.files.slot, stripe: place.stripe };
        let path = || at.path(&self.core.layout());
        let id = self.core.directory.lock().holding(number).map(|segment| segment.id);
        let file = place.files.get(copy, place.stripe);
        if let (Some(id), Some(file)) = (id, file)
            && place.offset == SEGMENT_HEADER as u64
            && let Some((offset, why)) = self.file_flaw(&id, at, file.as_ref())
            && number >= self.oldest_group()
        {
            damage(Scanned::Damage { number, path: path(), offset, why });
        }
        match reader.load_from(self.core, number, &place, copy, &mut |_| ()) {
            Ok(head) => Ok(head.disk_len() as u64),
            Err(_) if number < self.oldest_group() => Ok(0),
            Err(flaw) => {
                let (offset, why) = (place.offset, flaw.to_string());
                damage(Scanned::Damage { number, path: path(), offset, why });
                Ok(0)
            }
        }
    }

    /// What is wrong with a file of segment `id`, groups aside, and where: it is shorter than a
    /// segment, or its header is not the one that a restart must find.
    pub(crate) fn file_flaw(
        &self,
        id: &SegmentId,
        at: FileAt,
        file: &dyn File,
    ) -> Option<(u64, String)> {
        let mut block = AlignedBuf::zeroed(SEGMENT_HEADER);
        let proven = file
            .read_at(&mut block, 0)
            .map_err(|error| Flaw::Io(error.to_string()))
            .and_then(|()| SegmentHead::decode(&block))
            .and_then(|head| {
                head.prove(&mut self.core.book(), &self.core.config, &block).map(|()| head)
            });
        match proven {
            Err(flaw) => Some((0, format!("of its header: {flaw}"))),
            Ok(head) if head.id != *id => Some((0, "its header is of another segment".into())),
            Ok(head) if (head.copy, head.slot, head.stripe) != (at.copy, at.slot, at.stripe) => {
                Some((0, "its header is of another file".into()))
            }
            Ok(_) => match file.len() {
                Ok(len) if len < self.core.config.segment_bytes => {
                    Some((len, format!("the file ends after {len} bytes")))
                }
                _ => None,
            },
        }
    }
}
