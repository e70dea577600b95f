//! Slots: where the next segment comes from.
//!
//! Invariants:
//! 1. A thread of its own keeps one slot ready ahead, so that no group waits for files to be made.
//!    If that fails, the log stays as large as it is until there is room again (`watch.rs`):
//!    ordinary records find it full sooner, and undo still has the segment that has just begun.
//! 2. Slots are made one at a time; whoever needs one waits for the one that is being made.
//! 3. Only undo gets slots beyond the configured number (K15).

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use crate::LogError;
use crate::core::Core;
use crate::segment::{SlotFiles, make_slot, sync_folders};

impl Core {
    /// A slot for the next segment: a free one, or a new one.
    pub(crate) fn obtain_slot(&self) -> Result<Arc<SlotFiles>, LogError> {
        let free = || self.directory.lock().free.pop_front();
        if let Some(files) = free() {
            return Ok(files);
        }
        let _making = self.making.lock();
        if let Some(files) = free() {
            return Ok(files);
        }
        let slot = self.directory.lock().slots;
        if slot >= self.config.segments_max.saturating_mul(2).saturating_add(2) {
            return Err(LogError::Full {
                used_bytes: self.directory.lock().used_bytes(&self.config),
                capacity_bytes: self.capacity_bytes(),
            });
        }
        if slot >= self.config.segments_max {
            self.stats.overflowed.one();
        }
        // One copy's disk may be full or gone; the other one carries on.
        let files = self.make(slot, |copy, error| self.lose(copy, &error))?;
        self.directory.lock().slots = slot + 1;
        Ok(Arc::new(files))
    }

    /// The body of the thread that makes slots ahead.
    pub(crate) fn keeper_loop(&self) {
        let mut directory = self.directory.lock();
        while !self.closed.load(SeqCst) {
            if directory.wants_slot(&self.config) && !self.env.stop.is_set() {
                drop(directory);
                self.prepare_slot();
                directory = self.directory.lock();
            } else {
                self.keeper_wake.wait(&mut directory);
            }
        }
    }

    fn prepare_slot(&self) {
        let _making = self.making.lock();
        let (wanted, slot) = {
            let directory = self.directory.lock();
            (directory.wants_slot(&self.config), directory.slots)
        };
        if !wanted {
            return;
        }
        let made = self.make(slot, |copy, error| {
            let full = matches!(&error, LogError::Io { source, .. }
                if source.kind() == std::io::ErrorKind::StorageFull);
            // A full disk is no reason to lose a copy that is whole; a dying one is.
            if full { Err(error) } else { self.lose(copy, &error) }
        });
        let mut directory = self.directory.lock();
        directory.tries = false;
        directory.stuck = made.is_err();
        match made {
            Ok(files) => {
                directory.slots = slot + 1;
                directory.free.push_back(Arc::new(files));
            }
            Err(_) => self.stats.growth_failed.one(),
        }
        self.capacity.store(directory.capacity_bytes(&self.layout()), SeqCst);
        let limit = directory.limit(&self.layout(), self.taken.load(SeqCst));
        self.limit.store(limit, SeqCst);
    }

    /// Makes a slot's files on all living copies; `failed` decides about a copy that refuses.
    fn make(
        &self,
        slot: u32,
        failed: impl Fn(u8, LogError) -> Result<(), LogError>,
    ) -> Result<SlotFiles, LogError> {
        let mut files = SlotFiles::new(slot);
        let living: Vec<u8> = self.board.lock().living().collect();
        // Whoever changes the layout makes slots as well, under the same lock.
        let layout = self.layout();
        for copy in living {
            let made = make_slot(&self.env, &layout, &self.heads, copy, slot, layout.stripes);
            let made = made.and_then(|made| {
                sync_folders(self.env.seam.disk.as_ref(), &layout, copy, false)?;
                Ok(made)
            });
            match made {
                Err(error) => failed(copy, error)?,
                Ok(made) => files = files.with(copy, &made),
            }
        }
        Ok(files)
    }
}
