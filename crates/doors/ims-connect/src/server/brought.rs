//! What a call has brought for a connection, which may have ended while it was made.
//!
//! Invariants:
//! 1. It is taken, or given back: what belongs to a connection is never with nobody.

use std::sync::Arc;

use otma::Manager;

/// What a call has brought.
pub(super) struct Brought<T, B: FnOnce(&dyn Manager, T)> {
    value: Option<(T, B)>,
    manager: Arc<dyn Manager>,
}

impl<T, B: FnOnce(&dyn Manager, T)> Brought<T, B> {
    pub(super) fn new(value: T, manager: Arc<dyn Manager>, give_back: B) -> Brought<T, B> {
        Brought { value: Some((value, give_back)), manager }
    }

    /// It has reached its connection.
    pub(super) fn take(mut self) -> Option<T> {
        self.value.take().map(|(value, _)| value)
    }
}

impl<T, B: FnOnce(&dyn Manager, T)> Drop for Brought<T, B> {
    fn drop(&mut self) {
        if let Some((value, give_back)) = self.value.take() {
            give_back(self.manager.as_ref(), value);
        }
    }
}
