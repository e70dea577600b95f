//! The keyed store: the seam between the models (DL/I, VSAM, message queues) and any engine (H1).
//!
//! A [`Store`] holds named *sets* of entries; an entry is a key and a value, both byte strings,
//! and a set is ordered by key. A [`Unit`] of work reads and changes entries of any number of sets
//! and is committed or backed out as a whole. A [`Cursor`] is a place in a set.
//!
//! The embedded kernel implements it, so does an adapter to engines that speak PostgreSQL's
//! protocol, and a model in memory that says what is right. What all of them must do is written
//! down in [`traits`] and tried by the conformance suite; model and suite stand in `store-suite`.
//! Calls are dispatched statically; a read that hits memory allocates nothing.
//!
//! It is not a query language, knows nothing of fields or types, and keeps no secondary indexes:
//! those are the models' business, written against these calls.
//!
//! | question | where |
//! |---|---|
//! | what can I call? | [`Store`], [`Unit`], [`Cursor`] in [`traits`] |
//! | who keeps units of work apart? | [`Locking`] of each set, [`Read`] of each call |
//! | what can go wrong? | [`StoreError`] in [`error`] |
//! | what does this engine offer? | [`Capabilities`] |
//! | retry after a deadlock? | [`run`](run()) |
//! | does my implementation conform? was that history serializable? | crate `store-suite` |
//!
//! # In miniature
//!
//! A file of records by key: the store locks, and `run` repeats what loses a deadlock. More, and
//! running, stands at the head of the crate `store-suite`.
//!
//! ```
//! use holdfast_store::{Read, Result, SetId, Store, Unit, UnitOptions, run};
//!
//! fn withdraw<S: Store>(store: &S, accounts: SetId, id: &[u8], amount: u64) -> Result<bool> {
//!     run(store, UnitOptions::default(), |unit| {
//!         let mut value = Vec::new();
//!         // With the intention to change, so that two of these queue up instead of deadlocking.
//!         if !unit.get(accounts, id, Read::Update, &mut value)? {
//!             return Ok(false);
//!         }
//!         let balance = value.try_into().map_or(0, u64::from_be_bytes);
//!         let Some(left) = balance.checked_sub(amount) else { return Ok(false) };
//!         Ok(unit.replace(accounts, id, &left.to_be_bytes())?.is_done())
//!     })
//! }
//! ```

mod capabilities;
mod commit;
mod commit_token;
pub mod error;
mod key;
mod load;
mod locking;
mod run;
mod set;
pub mod traits;

pub use capabilities::Capabilities;
pub use commit::{CommitOrder, CommitSink, Committed, Resolution};
pub use commit_token::CommitToken;
pub use error::{Damage, Excess, Limit, Result, StoreError, Waited};
pub use key::{Entry, KeyRange, Place, Position};
pub use load::{LoadSource, Pairs, source_error};
pub use locking::{Cover, Grant, LockMode, LockName, Read, Wait};
pub use run::{RUN_TRIES_MAX, run};
pub use set::{Locking, SetAttributes, SetId, SetInfo};
pub use traits::{Cursor, Outcome, Savepoint, Store, Unit, UnitOptions};
