//! Taking checkpoints (K4): what they carry is gathered from everything that is open, logged, and
//! entered in the control file; then data sets are cut whose ends are free.
//!
//! Invariants:
//! 1. One checkpoint, or one round of freeing, at a time: so a checkpoint never carries a free that
//!    has been logged already.
//! 2. What a checkpoint says of units of work and data sets is as of its `begin`: their tables are
//!    read behind it, and a record that changes them is appended while they are held.

use seam::failpoint::{Failpoint, armed};

use crate::checkpoint::Checkpoint;
use crate::control::ControlBlock;
use crate::{Kernel, UowError};

/// With more than this part of the log free, it is kept for data sets that wait for a recovery.
const KEPT_ROOM: u64 = 4;
/// One sees a free end, with the next one the redo point passes that look, the third one cuts.
const CHECKPOINTS_TO_CUT: u32 = 3;
impl Kernel {
    /// The state of the kernel at this moment: where a recovery from an image copy that is begun
    /// now goes on in the log. Nothing is written.
    ///
    /// # Errors
    /// If the kernel has stopped.
    pub fn moment(&self) -> Result<Checkpoint, UowError> {
        let _work = self.upkeep.checkpoints.work.lock();
        self.stop.check()?;
        Ok(self.gather_checkpoint())
    }

    /// What a checkpoint says now; `work` is held.
    fn gather_checkpoint(&self) -> Checkpoint {
        let mut checkpoint = Checkpoint::initial();
        {
            let sets = self.sets.lock();
            let _tops = self.journal.tops.lock();
            (checkpoint.transit, checkpoint.begin) = self.work.transit.list(|| self.log.next_lsn());
            checkpoint.next_set = sets.next.max(1);
            let all = sets.all();
            checkpoint.sets =
                all.iter().map(|set| (set.top(), (*set.definition()).clone())).collect();
            (checkpoint.building, checkpoint.offline) = (sets.building(), sets.offline());
        }
        checkpoint.active = self.work.active.list();
        checkpoint.anchored = self.work.active.anchored_of(&checkpoint.active);
        checkpoint.frees = self.work.frees.list();
        checkpoint.next_uow = self.work.units.next_number();
        checkpoint.last_batch = self.buffers.writer.last_batch();
        let oldest = self.buffers.dirty.oldest().filter(|_| !armed(Failpoint::CheckpointTooNew));
        checkpoint.redo = oldest.map_or(checkpoint.begin, |oldest| oldest.min(checkpoint.begin));
        checkpoint
    }

    /// Takes a checkpoint now. `orderly`: nobody is active and everything is on disk.
    ///
    /// # Errors
    /// If the log or the control file cannot be written.
    pub fn checkpoint_now(&self, orderly: bool) -> Result<(), UowError> {
        let _work = self.upkeep.checkpoints.work.lock();
        self.stop.check()?;
        let checkpoint = self.gather_checkpoint();
        self.log_checkpoint(&checkpoint, orderly)?;
        self.upkeep.checkpoints.taken.one();
        let now = self.parts.seam.clock.monotonic();
        self.upkeep.checkpoints.took(self.log.next_lsn(), now);
        self.upkeep.checkpoints.cut_tails(&self.all_sets(), &self.log, checkpoint.redo)
    }

    /// Gives devices back at once what is free at the ends of data sets, which checkpoints do by
    /// and by. No latch is held.
    ///
    /// # Errors
    /// If log or disk refuse; the kernel stops then.
    pub fn shrink_now(&self) -> Result<(), UowError> {
        self.free_after_commit()?;
        for _ in 0..CHECKPOINTS_TO_CUT {
            self.write_out()?;
            self.checkpoint_now(false)?;
        }
        Ok(())
    }

    fn log_checkpoint(&self, checkpoint: &Checkpoint, orderly: bool) -> Result<(), UowError> {
        let (first, end) = checkpoint.log(&self.log)?;
        let mut needed_from = checkpoint.needed_from();
        // What brings back a data set that waits for its recovery may be nowhere but in the log, so
        // that is kept from where it was needed when the set went offline, while there is room.
        let has_room = self.log.room() >= self.log.capacity_bytes() / KEPT_ROOM;
        let keeps = !checkpoint.offline.is_empty() && has_room;
        // Nobody appends any more, so what has landed is all that there will be.
        let ended = match orderly {
            true => {
                self.log.land(self.log.next_lsn())?;
                Some(self.log.last_group())
            }
            false => None,
        };
        let change = |block: &mut ControlBlock| {
            if keeps {
                needed_from = needed_from.min(block.needed_from);
            }
            block.checkpoint = first;
            block.needed_from = needed_from;
            // Where a record ends: what is durable behind it may be the piece of a record that a
            // crash cuts off, and the log would then seem to have been cut.
            block.proven = end;
            block.orderly = orderly && checkpoint.active.is_empty();
            block.ended = ended.filter(|_| block.orderly);
        };
        // The last word of an orderly stop stands in both slots, so that neither can be lost
        // unseen.
        let updated = match orderly {
            true => self.control.update_both(change),
            false => self.control.update(change),
        };
        // What the file says now is not known: whoever asked for the checkpoint, nobody goes on.
        updated.map_err(|error| UowError::Stopped(self.stop.stop(error.to_string())))?;
        self.log.truncate(needed_from);
        Ok(())
    }
}
