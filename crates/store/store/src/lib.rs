//! The keyed store: the seam between the models (DL/I, VSAM, message queues) and any engine (H1).
//!
//! A [`Store`] holds named *sets* of entries; an entry is a key and a value, both byte strings,
//! and a set is ordered by key. A [`Unit`] of work reads and changes entries of any number of sets
//! and is committed or backed out as a whole. A [`Cursor`] is a place in a set.
//!
//! The embedded kernel implements it, an adapter to engines that speak PostgreSQL's protocol does,
//! and so does the [`model`] in memory that stands here to say what is right. What all of them
//! must do is written down in [`traits`] and tried by the [`conformance`] suite.
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
//! | does my implementation conform? | [`conformance`] |
//! | was that history serializable? | [`history`] |
//!
//! # Three models in miniature
//!
//! A file of records by key: the store locks, and `run` repeats what loses a deadlock.
//!
//! ```
//! use holdfast_store::{
//!     Read, Result, SetAttributes, SetId, Store, Unit, UnitOptions, model::ModelStore, run,
//! };
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
//!
//! let store = ModelStore::new();
//! let accounts = store.create_set("ACCOUNTS", &SetAttributes::default())?;
//! run(&store, UnitOptions::default(), |unit| unit.put(accounts, b"7", &100_u64.to_be_bytes()))?;
//! assert!(withdraw(&store, accounts, b"7", 60)?);
//! assert!(!withdraw(&store, accounts, b"7", 60)?);
//! # Ok::<(), holdfast_store::StoreError>(())
//! ```
//!
//! A database of records with a root and segments beneath it: the caller locks, a name for each
//! record, and gives it back when it moves on without having changed anything (H5).
//!
//! ```
//! use holdfast_store::{
//!     Cursor, KeyRange, LockMode, LockName, Locking, Read, Result, SetAttributes, SetId, Store,
//!     Unit, UnitOptions, Wait, model::ModelStore, run,
//! };
//!
//! fn segments<S: Store>(store: &S, database: SetId, root: &[u8]) -> Result<usize> {
//!     let mut unit = store.begin(UnitOptions::READ_ONLY)?;
//!     let record = LockName { space: database.0, name: root };
//!     let _ = unit.lock(record, LockMode::Shared, Wait::Forever)?;
//!     let (mut cursor, mut end, mut count) = (store.cursor(database)?, Vec::new(), 0);
//!     cursor.limit(KeyRange::prefix(root, &mut end));
//!     while unit.next(&mut cursor, Read::Unlocked)?.is_some() {
//!         count += 1;
//!     }
//!     unit.unlock(record)?;
//!     unit.commit()?;
//!     Ok(count)
//! }
//!
//! let store = ModelStore::new();
//! let attributes = SetAttributes { locking: Locking::Caller, ..SetAttributes::default() };
//! let database = store.create_set("DEALERS", &attributes)?;
//! run(&store, UnitOptions::default(), |unit| -> Result<()> {
//!     let _ = unit.lock(
//!         LockName { space: database.0, name: b"DLR1" },
//!         LockMode::Exclusive,
//!         Wait::Forever,
//!     )?;
//!     ["DLR1", "DLR1/MODEL A", "DLR1/MODEL B"]
//!         .iter()
//!         .try_for_each(|key| unit.put(database, key.as_bytes(), b"..."))
//! })?;
//! assert_eq!(segments(&store, database, b"DLR1")?, 3);
//! # Ok::<(), holdfast_store::StoreError>(())
//! ```
//!
//! A queue: arrivals draw a number, so that nobody waits for a counter; many take from the head,
//! each passing over what the others hold; an answer is sent when the sink is told.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use holdfast_store::{
//!     CommitSink, Committed, Result, SetAttributes, SetId, Store, Unit, UnitOptions,
//!     model::ModelStore,
//! };
//!
//! fn arrive<S: Store>(
//!     store: &S, queue: SetId, message: &[u8], sink: &Arc<dyn CommitSink>, token: u64,
//! ) -> Result<()> {
//!     let mut unit = store.begin(UnitOptions::default())?;
//!     let number = store.draw(queue, 1)?;
//!     unit.put(queue, &number.to_be_bytes(), message)?;
//!     unit.commit_queued(sink, token)
//! }
//!
//! fn take<S: Store>(store: &S, queue: SetId) -> Result<Option<Vec<u8>>> {
//!     let mut unit = store.begin(UnitOptions::default())?;
//!     let mut cursor = store.cursor(queue)?;
//!     let message = unit.claim_next(&mut cursor)?.map(|entry| entry.value.to_vec());
//!     if message.is_some() {
//!         let _ = unit.delete_at(&mut cursor)?;
//!     }
//!     unit.commit()?;
//!     Ok(message)
//! }
//!
//! # #[allow(clippy::disallowed_types)]
//! #[derive(Default)]
//! struct Replies(Mutex<Vec<u64>>);
//! impl CommitSink for Replies {
//!     fn settled(&self, token: u64, outcome: Result<Committed>) {
//!         if outcome.is_ok() {
//!             self.0.lock().unwrap().push(token);
//!         }
//!     }
//! }
//!
//! let store = ModelStore::new();
//! let queue = store.create_set("ORDERS", &SetAttributes::default())?;
//! let replies = Arc::new(Replies::default());
//! let sink: Arc<dyn CommitSink> = Arc::clone(&replies) as _;
//! arrive(&store, queue, b"one bolt", &sink, 41)?;
//! arrive(&store, queue, b"two nuts", &sink, 42)?;
//! store.wait_durable()?;
//! assert_eq!(take(&store, queue)?.as_deref(), Some(&b"one bolt"[..]));
//! assert_eq!(*replies.0.lock().unwrap(), [41, 42]);
//! # Ok::<(), holdfast_store::StoreError>(())
//! ```

mod capabilities;
mod chance;
mod commit;
pub mod conformance;
pub mod error;
pub mod history;
mod key;
mod load;
mod locking;
pub mod model;
mod run;
mod set;
pub mod traits;

pub use capabilities::Capabilities;
pub use commit::{CommitOrder, CommitSink, CommitToken, Committed, Resolution};
pub use error::{Damage, Excess, Limit, Result, StoreError, Waited};
pub use key::{Entry, KeyRange, Position};
pub use load::{LoadSource, Pairs, source_error};
pub use locking::{Grant, LockMode, LockName, Read, Wait};
pub use run::{RUN_TRIES_MAX, run};
pub use set::{Locking, SetAttributes, SetId, SetInfo};
pub use traits::{Cursor, Outcome, Savepoint, Store, Unit, UnitOptions};
