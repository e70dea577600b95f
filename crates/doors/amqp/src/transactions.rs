//! The transactions of a conversation.
//!
//! 1. A number is given once. It is live until its transaction ends or could not be begun.
//! 2. No more than [`TRANSACTIONS_MAX`] are live.

use crate::work::TRANSACTIONS_MAX;

/// The transactions of a conversation.
#[derive(Default)]
pub(crate) struct Transactions {
    made: u64,
    live: Vec<u64>,
}

impl Transactions {
    /// The number of a new one; `None` if there are as many as there may be.
    pub(crate) fn declare(&mut self) -> Option<u64> {
        if self.live.len() == TRANSACTIONS_MAX {
            return None;
        }
        self.made += 1;
        self.live.push(self.made);
        Some(self.made)
    }

    pub(crate) fn is_live(&self, transaction: u64) -> bool {
        self.live.contains(&transaction)
    }

    /// Forgets one; `false` if it is not live.
    pub(crate) fn end(&mut self, transaction: u64) -> bool {
        let at = self.live.iter().position(|live| *live == transaction);
        at.map(|at| self.live.remove(at)).is_some()
    }

    #[cfg(test)]
    pub(crate) fn live(&self) -> usize {
        self.live.len()
    }
}
