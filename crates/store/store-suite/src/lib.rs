//! What every implementation of the store trait is held against: a model, a conformance suite, and
//! a checker of histories. For tests, and for operators who certify an engine of their own.
//!
//! | question | where |
//! |---|---|
//! | what is right? | [`model`]: the trait in memory, written for being read |
//! | does my implementation conform? | [`conformance`] |
//! | was that history serializable? | [`history`] |
//!
//! # Three models in miniature
//!
//! A file of records by key: the store locks, and `run` repeats what loses a deadlock.
//!
//! ```
//! use store::{
//!     Read, Result, SetAttributes, SetId, Store, Unit, UnitOptions, run,
//! };
//! use holdfast_store_suite::model::ModelStore;
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
//! # Ok::<(), store::StoreError>(())
//! ```
//!
//! A database of records with a root and segments beneath it: the caller locks, a name for each
//! record, and gives it back when it moves on without having changed anything (H5).
//!
//! ```
//! use store::{
//!     Cursor, KeyRange, LockMode, LockName, Locking, Read, Result, SetAttributes, SetId, Store,
//!     Unit, UnitOptions, Wait, run,
//! };
//! use holdfast_store_suite::model::ModelStore;
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
//! # Ok::<(), store::StoreError>(())
//! ```
//!
//! A queue: arrivals draw a number, so that nobody waits for a counter; many take from the head,
//! each passing over what the others hold; an answer is sent when the sink is told.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use store::{
//!     CommitSink, Committed, Result, SetAttributes, SetId, Store, Unit, UnitOptions,
//! };
//! use holdfast_store_suite::model::ModelStore;
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
//! # Ok::<(), store::StoreError>(())
//! ```

pub mod conformance;
pub mod history;
pub mod model;
mod rng;
