//! Memory of the pipeline: blocks of bytes that are used again and again.
//!
//! 1. A buffer that is given back keeps its memory, so that a long file costs no page faults, and
//!    its bytes, so that who fills all of it anyway need not clear it first.
//! 2. No more are kept than stages can hold at once, so memory does not depend on the file's size.

use std::sync::Arc;

use seam::sync::Mutex;

/// Plain bytes between two stages.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The bytes; those before `start` do not count.
    pub(crate) data: Vec<u8>,
    /// Where the bytes begin.
    pub(crate) start: usize,
    /// Whether nothing follows.
    pub(crate) last: bool,
}

impl Block {
    /// The bytes that count.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.data[self.start..]
    }
}

/// Buffers that nobody uses at the moment.
#[derive(Clone, Default)]
pub(crate) struct Buffers(Arc<Mutex<Vec<Vec<u8>>>>);

const KEPT_MAX: usize = 24;

impl Buffers {
    /// An empty buffer.
    pub(crate) fn take(&self) -> Vec<u8> {
        let mut buffer = self.any();
        buffer.clear();
        buffer
    }

    /// A buffer of so many bytes, which are whatever was in it (1).
    pub(crate) fn take_full(&self, bytes: usize) -> Vec<u8> {
        let mut buffer = self.any();
        buffer.resize(bytes, 0);
        buffer
    }

    fn any(&self) -> Vec<u8> {
        self.0.lock().pop().unwrap_or_default()
    }

    /// Gives a buffer back.
    pub(crate) fn give(&self, buffer: Vec<u8>) {
        let mut kept = self.0.lock();
        if kept.len() < KEPT_MAX {
            kept.push(buffer);
        }
    }
}
