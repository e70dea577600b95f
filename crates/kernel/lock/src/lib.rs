//! The lock manager: who may read and who may change what, until the end of a unit of work.
//!
//! A unit of work has an [`Owner`]. It asks the [`LockManager`] for a [`LockName`] in a [`Mode`]
//! and gets it, waits for it, or gets a [`LockError`] that says why not. Pure memory: locks of
//! units of work in flight are not on disk, for restart backs these out before anybody else runs.
//!
//! * [`Mode`], [`LockName`]: what is asked for;
//! * `table`: heads, requests and queues of one shard, as plain data;
//! * `held_locks`, `owner`: what one owner holds, and where it sleeps;
//! * `manager`: the path without waits; `wait`: the one with; `deadlock`: the search for cycles;
//! * `report`: counters, and who waits for whom.
//!
//! Invariants:
//! 1. No two owners ever hold one name in modes that exclude each other.
//! 2. A request that waits, waits for somebody. No wake is lost.
//! 3. A cycle of waits is broken the moment it is closed; nobody is chosen three times in a row
//!    while somebody else could be (K14).
//! 4. No latch is held while a thread sleeps (K16); nobody is woken under a shard's latch.
//! 5. In steady state granting and releasing allocate nothing.
//!
//! It is not: a latch for pages (the pool has those), a lock table shared by machines, or a
//! guard against callers who use what they did not lock.
//!
//! ```
//! # use holdfast_lock as lock;
//! use std::sync::Arc;
//! use base::{DataSetId, UowId};
//! use lock::{Acquired, LockConfig, LockManager, LockName, Mode, Wait};
//!
//! let locks = LockManager::new(Arc::new(seam::clock::RealClock::new()), LockConfig::default());
//! let mut owner = locks.owner(UowId(1), 0);
//! let set = DataSetId(7);
//! locks.acquire(&mut owner, LockName::set(set), Mode::IntentExclusive, Wait::Yes)?;
//! let key = LockName::key(set, b"SMITH");
//! assert_eq!(locks.acquire(&mut owner, key, Mode::Exclusive, Wait::Yes)?, Acquired::New);
//!
//! let mut other = locks.owner(UowId(2), 0);
//! assert!(locks.acquire(&mut other, key, Mode::Shared, Wait::No).is_err());
//! locks.release_all(&mut owner);
//! assert!(locks.acquire(&mut other, key, Mode::Shared, Wait::No).is_ok());
//! locks.release_all(&mut other);
//! # Ok::<(), lock::LockError>(())
//! ```

mod deadlock;
mod error;
mod graph;
mod held_locks;
mod manager;
mod mode;
mod name;
mod owner;
mod report;
mod table;
mod wait;

pub use error::{Limit, LockError};
pub use manager::{Acquired, BYTES_PER_LOCK, LockConfig, LockManager, Mark, Wait};
pub use mode::Mode;
pub use name::{LockName, USER_SPACE};
pub use owner::Owner;
pub use report::{HeldInfo, LockStatistics};
