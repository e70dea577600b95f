//! Where the records of a batch stand, so that whoever has not taken all of it can go back.
//!
//! Invariants:
//! 1. Going back leads to the record itself, however many have come or gone around it.

use store::Store;
use vsam::Position;

/// Marks of one batch, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    one: Vec<u8>,
}

impl Marks {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Notes where a record stands that was read.
    pub(crate) fn note<S: Store>(&mut self, position: &Position<S>) {
        position.mark(&mut self.one);
        self.bytes.extend_from_slice(&self.one);
        self.ends.push(self.bytes.len());
    }

    /// Goes back by so many records of the batch; `false` if it has not as many, besides one that
    /// was taken.
    pub(crate) fn go_back<S: Store>(&self, position: &mut Position<S>, back: u32) -> bool {
        let back = back as usize;
        if back == 0 {
            return true;
        }
        let Some(at) = self.ends.len().checked_sub(back + 1) else { return false };
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        position.go_back(&self.bytes[begin..self.ends[at]]);
        true
    }
}
