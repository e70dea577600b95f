//! Where messages wait: in a set of the store, and in an index in memory that decides who gets
//! which.
//!
//! | to understand | look at |
//! |---|---|
//! | how a message stands in the store | `layout` |
//! | who gets which message, depth and age | `index` |
//! | putting, taking and removing in units of work | [`Queues`] |
//! | limits, warnings, refusals | [`Limits`], `error` |
//!
//! A message is put in a unit of work and [appears](Queues::appear) after its commit; it is
//! [taken](Queues::take) in memory alone, removed in a unit of work, and is
//! [gone](Queues::gone) after its commit or [put back](Queues::put_back) in its place.
//!
//! Invariants:
//! 1. A message is in the index if and only if it is committed and nobody has taken it.
//! 2. Nobody but its taker removes a message: so nobody ever waits for a lock of the store here,
//!    and no names are locked; the index stands for them.
//! 3. What is kept in memory for each waiting message takes at most 32 bytes: with its owner, so
//!    that somebody's are found among others' without reading any.
//! 4. Depth, age and bytes are counters: asking for them looks at no message.
//! 5. A message is found again after a crash in its place, with the moment it was put.
//! 6. No more than one message is read into memory at a time.

mod error;
mod index;
mod layout;
mod queues;

pub use error::QueueError;
pub use index::{Figures, Held, Looked, Pending, Totals};
pub use layout::{CHUNK_BYTES, Kind, QueueName};
pub use queues::{Limits, OwnerOf, Queues, SET};
