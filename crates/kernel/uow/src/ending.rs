//! The end of an open system: in order, or as a crash would end it.
//!
//! Invariants:
//! 1. After an orderly end the next start has nothing to redo.

use crate::{Kernel, UowError};

impl Kernel {
    /// Stops in order: a last checkpoint with everything on disk, so that the next start has
    /// nothing to redo. Nobody uses the kernel any more.
    ///
    /// # Errors
    /// If the kernel has stopped already, or the disk refuses; restart then does the rest.
    pub fn close(&self) -> Result<(), UowError> {
        self.upkeep.converter.end();
        self.upkeep.housekeeper.end();
        let written = self.stop.check().map_err(UowError::from).and_then(|()| {
            self.free_after_commit()?;
            self.buffers.writer.write_all()?;
            self.checkpoint_now(true)
        });
        self.buffers.writer.end();
        self.environment.read_ahead.end();
        self.log.close()?;
        written
    }

    /// Ends the threads without writing anything, as a crash would. For tests of restart.
    pub fn abandon(&self) {
        self.stop.stop("the kernel was abandoned");
        self.upkeep.converter.end();
        self.upkeep.housekeeper.end();
        self.buffers.writer.end();
        self.environment.read_ahead.end();
        let _ = self.log.close();
    }
}
