//! Log space that a unit of work has reserved for its undo (K15).
//!
//! Invariants:
//! 1. What is reserved, with what the next change has to reserve besides, is at least as much as
//!    the undo of what was logged takes: it shrinks by what undo has logged, to what a savepoint
//!    needed once all behind that is undone, and goes when nothing is left to undo. The changes
//!    themselves, and what the kernel logs besides, take nothing of it.

use wal::Log;

/// Log space is reserved in pieces of this size, in a small log in smaller ones.
const PIECE_BYTES: u64 = 16 << 10;
/// So many of them a log holds at least.
const PIECES_MIN: u64 = 64;
/// What a compensation record may be longer than what is logged of the change that it undoes.
const COMPENSATION_EXTRA: u64 = 96;

/// What a unit of work has reserved.
#[derive(Debug, Default)]
pub(crate) struct UndoReserve {
    bytes: u64,
    /// What of it no change has used yet.
    unused: u64,
    /// What changes that were logged would need besides.
    owed: u64,
}

impl UndoReserve {
    /// How much has to be reserved before a change of `change_bytes` is logged in a log that
    /// holds `capacity_bytes`; nothing if what is reserved suffices. That covers all that was
    /// logged since the last call, and this one.
    pub(crate) fn lacks(&self, change_bytes: u64, capacity_bytes: u64) -> Option<u64> {
        let wanted = change_bytes + COMPENSATION_EXTRA + self.owed;
        let piece = PIECE_BYTES.min(capacity_bytes / PIECES_MIN);
        (self.unused < wanted).then_some(piece.max(wanted))
    }

    /// So much more is reserved.
    pub(crate) fn grow(&mut self, bytes: u64) {
        let settled = self.owed.min(bytes);
        self.owed -= settled;
        self.bytes += bytes;
        self.unused += bytes - settled;
    }

    /// A change was logged whose undo logs so many bytes.
    pub(crate) fn logged(&mut self, undo_bytes: u64) {
        let wanted = undo_bytes + COMPENSATION_EXTRA;
        self.owed += wanted.saturating_sub(self.unused);
        self.unused = self.unused.saturating_sub(wanted);
    }

    /// Undo has logged so many bytes.
    pub(crate) fn undone(&mut self, log: &Log, bytes: u64) {
        let given_back = bytes.min(self.bytes - self.unused);
        self.bytes -= given_back;
        log.release(given_back);
    }

    /// What changes need of it.
    pub(crate) fn needed(&self) -> u64 {
        self.bytes - self.unused + self.owed
    }

    /// Only those changes are left to undo that needed so much: undo has often logged less than
    /// what was reserved for it. Where it has logged more, the next change has to reserve that.
    pub(crate) fn shrink_to(&mut self, log: &Log, needed: u64) {
        let used = self.bytes - self.unused;
        let given_back = used.saturating_sub(needed);
        self.bytes -= given_back;
        self.owed = needed.saturating_sub(used);
        log.release(given_back);
    }

    /// Nothing is left to undo.
    pub(crate) fn give_back(&mut self, log: &Log) {
        log.release(std::mem::take(self).bytes);
    }

    /// What is reserved.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}
