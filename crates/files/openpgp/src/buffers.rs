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

/// Buffers that no thread uses at the moment.
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
    /// An empty buffer: those with many bytes are left to others (1).
    pub(crate) fn take(&self) -> Vec<u8> {
        let mut buffer = self.best(|bytes| usize::MAX - bytes);
        buffer.clear();
        buffer
    }

    /// A buffer of so many bytes, which are whatever was in it (1).
    pub(crate) fn take_full(&self, bytes: usize) -> Vec<u8> {
        let mut buffer = self.best(|bytes| bytes);
        buffer.resize(bytes, 0);
        buffer
    }

    /// The buffer that ranks highest by its bytes.
    fn best(&self, rank: impl Fn(usize) -> usize) -> Vec<u8> {
        let mut kept = self.0.lock();
        let best = kept.iter().enumerate().max_by_key(|(_, buffer)| rank(buffer.len()));
        best.map(|(at, _)| at).map_or_else(Vec::new, |at| kept.swap_remove(at))
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
    fn who_fills_a_buffer_gets_the_one_with_the_most_bytes() {
        let buffers = Buffers::default();
        [3, 9, 5].into_iter().for_each(|bytes| buffers.give(vec![1; bytes]));
        assert_eq!(buffers.take_full(9), [1; 9]);
        assert_eq!((buffers.take().len(), buffers.take_full(5)), (0, vec![1; 5]));
        assert_eq!(buffers.take_full(2), [0; 2]);
    }

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
