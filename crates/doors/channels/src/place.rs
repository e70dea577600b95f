//! The place of a connection that has come in.
//!
//! 1. It is given back however the connection ends.

use std::net::IpAddr;
use std::sync::Arc;

use store::Store;

use crate::shared::Shared;

/// A place that a connection has until this is dropped.
pub(crate) struct Place<S: Store> {
    shared: Arc<Shared<S>>,
    from: IpAddr,
    greeted: bool,
}

impl<S: Store> Place<S> {
    /// One for a greeting, that was taken.
    pub(crate) fn of(shared: &Arc<Shared<S>>, from: IpAddr) -> Place<S> {
        Place { shared: Arc::clone(shared), from, greeted: false }
    }

    /// It has said what it is for: it takes a place of partners; `false`: there is none.
    pub(crate) fn greeted(&mut self) -> bool {
        self.greeted = self.shared.state.lock().visitors.greeted(self.from);
        self.greeted
    }
}

impl<S: Store> Drop for Place<S> {
    fn drop(&mut self) {
        self.shared.state.lock().visitors.leave(self.from, self.greeted);
    }
}
