//! What a message that is being read still owes before anybody may take it for right, and how much
//! work it has made.
//!
//! 1. Every layer that is opened, encrypted or compressed, owes its end: its last block, which it
//!    gives only when everything beneath it and in it has proven itself, and that this was read to
//!    its last byte. A message of which anything is owed is damaged, whatever has been read of it.
//! 2. What means nothing, and what is unpacked without becoming data, is bounded: else a small
//!    message could keep a machine busy for as long as its sender likes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// No message has more packets that mean nothing.
const NOISE_MAX: u64 = 1024;
/// What may be unpacked beside what becomes data, in bytes.
const UNPACKED_MAX: u64 = 16 << 20;

/// What one message owes, and has cost; shared by all threads that read it.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<Counts>);

#[derive(Default)]
struct Counts {
    opened: AtomicU64,
    ended: AtomicU64,
    noise: AtomicU64,
    unpacked: AtomicU64,
    data: AtomicU64,
}

/// The end of one layer, which is owed (1).
pub(crate) struct Owed(Arc<Counts>);

impl Owed {
    /// The layer has been read to its end, which was proven.
    pub(crate) fn settle(self) {
        self.0.ended.fetch_add(1, Ordering::SeqCst);
    }
}

impl Ledger {
    /// A layer is opened.
    pub(crate) fn open(&self) -> Owed {
        self.0.opened.fetch_add(1, Ordering::SeqCst);
        Owed(Arc::clone(&self.0))
    }

    /// Makes sure that nothing is owed (1).
    pub(crate) fn settled(&self) -> Result<()> {
        let ended = self.0.ended.load(Ordering::SeqCst);
        let is_settled = ended == self.0.opened.load(Ordering::SeqCst);
        let open = || Error::damaged("not all that it is packed into was read to a proven end");
        is_settled.then_some(()).ok_or_else(open)
    }

    /// There is a packet that means nothing (2).
    pub(crate) fn noise(&self) -> Result<()> {
        let before = self.0.noise.fetch_add(1, Ordering::Relaxed);
        let many = || Error::damaged(format!("more than {NOISE_MAX} packets of it mean nothing"));
        (before < NOISE_MAX).then_some(()).ok_or_else(many)
    }

    /// So many bytes have been unpacked (2). Every byte of data is unpacked once for each layer.
    pub(crate) fn unpacked(&self, bytes: usize, layers_max: usize) -> Result<()> {
        let bytes = bytes as u64;
        let unpacked = self.0.unpacked.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let data = self.0.data.load(Ordering::Relaxed);
        let most = data.saturating_mul(layers_max as u64).saturating_add(UNPACKED_MAX);
        let idle = || Error::damaged("it unpacks to far more than the data in it");
        (unpacked <= most).then_some(()).ok_or_else(idle)
    }

    /// So many bytes of data have come.
    pub(crate) fn data(&self, bytes: usize) {
        self.0.data.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_right_as_long_as_a_layer_owes_its_end() {
        let ledger = Ledger::default();
        assert!(ledger.settled().is_ok());
        let (one, other) = (ledger.open(), ledger.open());
        one.settle();
        assert!(ledger.settled().is_err());
        other.settle();
        assert!(ledger.settled().is_ok());
        drop(ledger.open());
        assert!(ledger.settled().is_err(), "what is dropped was not read to its end");
    }

    #[test]
    fn what_becomes_no_data_is_bounded() {
        let ledger = Ledger::default();
        assert!((0..NOISE_MAX).all(|_| ledger.noise().is_ok()) && ledger.noise().is_err());
        let most = UNPACKED_MAX as usize;
        assert!(ledger.unpacked(most, 8).is_ok() && ledger.unpacked(1, 8).is_err());
        ledger.data(1);
        assert!(ledger.unpacked(7, 8).is_ok() && ledger.unpacked(1, 8).is_err());
    }
}
