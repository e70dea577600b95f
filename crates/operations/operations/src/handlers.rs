//! The handlers of redirected clusters: all that there are.
//!
//! Invariants:
//! 1. A process has them once, whichever part opens a catalog.

use std::sync::{Arc, OnceLock};

use owner::Places;
use redirector::Registry;
use vsam::handler::Handlers;

/// All handlers that there are.
#[must_use]
pub fn handlers() -> Arc<dyn Handlers> {
    static ALL: OnceLock<Arc<dyn Handlers>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let databases: Arc<dyn Handlers> = Arc::new(redirect_postgres::Databases::default());
        let systems = redirector::system::Systems::new(Places::of_process());
        let registry = Registry::default()
            .with(redirect_postgres::SCHEME, databases)
            .with(redirector::system::SCHEME, Arc::new(systems));
        Arc::new(registry)
    });
    Arc::clone(all)
}
