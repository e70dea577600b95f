//! Stores in a PostgreSQL of the tests' own.
#![allow(clippy::disallowed_methods)] // the same as in the tests
#![allow(dead_code, unreachable_pub)] // each test uses a part

mod nodes;
mod server;

use std::sync::atomic::{AtomicU32, Ordering};

use holdfast_store_postgres::{EngineOptions, EngineStore};
pub use nodes::Nodes;
use seam::Seam;
pub use server::Server;

impl Server {
    /// A new store in a schema of its own.
    pub fn store(&self) -> EngineStore {
        self.store_with(|_| ())
    }

    /// The same, set up otherwise.
    pub fn store_with(&self, change: impl FnOnce(&mut EngineOptions)) -> EngineStore {
        let options = self.new_schema(change);
        EngineStore::open(&self.url(), options, &Seam::real()).expect("a store can be opened")
    }

    /// A new store, made but not opened.
    pub fn new_schema(&self, change: impl FnOnce(&mut EngineOptions)) -> EngineOptions {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let schema = format!("test_{number}");
        let mut options = EngineOptions { schema, ..EngineOptions::default() };
        change(&mut options);
        EngineStore::create(&self.url(), &options, &Seam::real()).expect("a store can be made");
        options
    }
}
