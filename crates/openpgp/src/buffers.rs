//! Memory of the pipeline: blocks of bytes that are used again and again.
//!
//! 1. A buffer that is given back keeps its memory, so that a long file costs no page faults, and
//!    its bytes, so that who fills all of it anyway need not clear it first.
//! 2. What a file is read to lies in a page where it lies in a page of the file ([`place_of`]):
//!    some processors copy three times slower to a few bytes further on in a page than from.
//! 3. No more are kept than stages can hold at once, so memory does not depend on the file's size.

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

    /// The bytes that count, to be changed in place.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.data[self.start..]
    }
}

/// Buffers that nobody uses at the moment.
#[derive(Clone, Default)]
pub(crate) struct Buffers(Arc<Mutex<Vec<Vec<u8>>>>);

const KEPT_MAX: usize = 24;
const PAGE: usize = 4096;

/// The bytes that [`place_of`] may skip.
pub(crate) const PLACES: usize = PAGE;

/// The first place in a buffer, from `from` on, for the byte of a file at `position` (2).
pub(crate) fn place_of(position: u64, buffer: &[u8], from: usize) -> usize {
    let wanted = (position % PAGE as u64) as usize;
    from + (PAGE + wanted - (buffer.as_ptr().addr() + from) % PAGE) % PAGE
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_lies_in_its_page_where_it_lies_in_a_page_of_the_file() {
        let buffer = vec![0; 3 * PAGE];
        for (position, from) in [(0, 0), (1, 70), (4095, 1), (1 << 40, 4096), (12_345, 77)] {
            let place = place_of(position, &buffer, from);
            assert!((from..from + PLACES).contains(&place));
            let address = (buffer.as_ptr().addr() + place) as u64;
            assert_eq!(address % 4096, position % 4096);
        }
    }
}
