//! Buffer pools: frames that hold control intervals in memory, and the page writer.
//!
//! A [`Pool`] keeps intervals of one unit size in frames, whose number may change while it is in
//! use. Frames hold plaintext; an interval is sealed into a copy when it is written and opened when
//! it is read. What lies behind a pool is a [`Backing`] (a data set of the layer above), which may
//! change its pool for another ([`Home`]); the log is known only through [`Journal`] (K24).
//!
//! Invariants:
//! 1. A frame is found through the translation table if and only if it holds, or is being filled
//!    with, that interval; a pinned frame is never evicted.
//! 2. Bytes of a frame are read under its shared latch and written under its exclusive latch.
//! 3. A frame is dirty (its `rec_lsn` is not 0) from before its first change is logged until a copy
//!    that contains the change is on its way to disk; the batch in flight keeps the oldest such LSN
//!    visible until its final sync (K12).
//! 4. No interval is written before the log that describes it is durable, and none in place before
//!    its copy is durable in the double-write area.
//! 5. No latch is held while waiting for input, output or a lock (K16).
//! 6. A frame that the pool no longer has is claimed, holds nothing, and is in no list; its memory
//!    is given back only then. Its descriptor stays.

pub mod ahead;
pub mod backing;
pub mod dirty;
pub mod double_write;
mod error;
mod fetch;
pub mod frame;
mod frame_id;
mod home;
mod key;
mod latches;
mod lookup_hints;
mod pool;
mod pools;
mod resize;
pub mod sequential;
mod table;
#[cfg(test)]
mod testing;
pub mod writer;

pub use backing::{Backing, BatchEntry, Journal};
pub use error::PoolError;
pub use frame::{ExclusiveCi, Pinned, SharedCi};
pub use frame_id::FrameHint;
pub use home::{Home, Moved};
pub use latches::assert_none_held;
pub use pool::{FRAMES_MIN, Pool, PoolConfig, PoolStatistics};
pub use pools::Pools;
pub use resize::Resized;
pub use writer::{PageWriter, WriterConfig};

/// Where the page LSN stands in every interval: its first eight bytes.
pub const PAGE_LSN_AT: usize = 0;
