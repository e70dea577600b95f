//! Slots: where the next segment comes from.
//!
//! Invariants:
//! 1. A thread of its own keeps one slot ready ahead, so that no group waits for files to be made.
//!    If that fails, the log stays as large as it is: ordinary records find it full sooner, and
//!    undo still has the segment that has just begun.
//! 2. Slots are made one at a time; whoever needs one waits for the one that is being made.
//! 3. Only undo gets slots beyond the configured number (K15).

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use crate::LogError;
use crate::core::Core;
use crate::flow::CopyState;
use crate::segment::{SlotFiles, make_slot};

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
        match made {
            Ok(files) => {
                directory.slots = slot + 1;
                directory.free.push_back(Arc::new(files));
            }
            Err(_) => {
                directory.stuck = true;
                self.capacity.store(directory.capacity_bytes(&self.config), SeqCst);
                self.stats.growth_failed.one();
            }
        }
        self.limit.store(directory.limit(&self.config, self.taken.load(SeqCst)), SeqCst);
    }

    /// Makes a slot's files on all living copies; `failed` decides about a copy that refuses.
    fn make(
        &self,
        slot: u32,
        failed: impl Fn(u8, LogError) -> Result<(), LogError>,
    ) -> Result<SlotFiles, LogError> {
        let mut files = SlotFiles::new(&self.config, slot);
        let states = self.board.lock().copies().to_vec();
        for (copy, state) in states.into_iter().enumerate() {
            if state != CopyState::Living {
                continue;
            }
            let dir = &self.config.folder(copy as u8);
            let made = make_slot(&self.env, &self.config, &self.heads, copy as u8, slot);
            let made = made.and_then(|made| {
                let synced = self.env.seam.disk.sync_dir(dir);
                synced.map(|()| made).map_err(|error| LogError::io("sync", dir, error))
            });
            match made {
                Err(error) => failed(copy as u8, error)?,
                Ok(made) => made
                    .into_iter()
                    .enumerate()
                    .for_each(|(stripe, file)| files.set(copy as u8, stripe as u8, file)),
            }
        }
        Ok(files)
    }
}
