//! The log: one totally ordered stream of records that carries everything.
//!
//! A caller appends records; they gather in a ring, are sealed in groups, and each group is
//! written once to every copy. A position, or LSN, counts the bytes of records before it (K10).
//! Nobody sleeps for the log except for its durability: [`Log::wait_durable`],
//! [`Log::when_durable`].
//!
//! ```text
//!   append ──> ring ──> sealer ──> lane (copy 1, stripe s) ──> segment-NNN.stripe-s
//!            log_ring  sealer.rs  lane (copy 2, stripe s)     segment.rs
//!                                  flush_state.rs, writer.rs
//!                │                   └─> recent ──> the archive
//!                └────> write-ahead data set, if there is one: ahead.rs, wads.rs
//!   damage: repair, from the other copy or from an archive
//!   open:  survey ──> walk ──> restore ──> Log           read: directory ──> lens ──> records
//! ```
//!
//! The running log is made of layers. Each holds the one below as a field, adds what it owns, and
//! knows nothing of those above; a caller of the highest one reaches them all:
//!
//! | layer | owns |
//! |---|---|
//! | `read.rs`, `Reading` | how records and groups are found again |
//! | `writer.rs`, `Writing` | who writes groups and entries, and who waits for that |
//! | `sealer.rs`, `Sealing` | keys, salts, the current segment: groups and entries are made here |
//! | `append.rs`, `Append` | the way of a record into the ring |
//! | `slots.rs`, `Slots` | segments, slots, and the room in them |
//! | `flush.rs`, `Flush` | the ring, how far the log is, groups in flight, who is told |
//!
//! The lowest one has its parts in `positions.rs`, `flush_state.rs`, `writers.rs`, `ring_room.rs`.
//!
//! Beside them stand files for what is done to a running log as a whole: `repair.rs`, `prove.rs`,
//! `renew.rs`, `resync.rs`, `restripe.rs`, `watch.rs`, `ahead_care.rs`, `sealed.rs`.
//!
//! What holds, whatever crashes:
//! 1. A position that was acknowledged is there after a restart, and so is everything before it.
//! 2. The log is what was appended or a prefix of it, never anything else; a record is whole or
//!    absent.
//! 3. Damage is never taken for the end (K7), a cut log never for a whole one if anything proves
//!    more (K6), a stale copy never for a good one (K9).
//! 4. A segment is used again only when restart needs none of it and, if there is an archive, all
//!    its groups are archived.
//! 5. After an error on the last copy nothing is acknowledged any more: the stop switch is set.
//!
//! The log does not know what its records mean; kinds and flags are bytes of the layers above.

mod ahead;
mod ahead_care;
mod append;
mod beginning;
mod commit_delay;
mod config;
mod directory;
mod error;
mod flush;
mod flush_state;
mod front;
mod group;
mod group_lost;
mod group_source;
mod lens;
mod log;
mod positions;
mod prove;
mod read;
mod recent;
mod record;
mod renew;
mod repair;
mod restore;
mod restripe;
mod resync;
mod ring_room;
mod scan;
mod sealed;
mod sealer;
mod segment;
mod slots;
mod stats;
mod survey;
mod wads;
mod waiters;
mod walk;
mod watch;
mod writer;
mod writers;

pub use ahead_care::{AheadDamage, look_ahead};
pub use append::Place;
pub use beginning::{BEGINNING_BYTES, Beginning};
pub use config::{
    COPIES_MAX, LogConfig, LogEnd, LogEnv, LogEvents, LogStart, Moved, Opened, Origin, PlainSpan,
    STRIPES_MAX, WADS_COPIES_MAX, WADS_FILE, WadsConfig,
};
pub use directory::ToArchive;
pub use error::LogError;
pub use front::{read_front, write_front};
pub use group::{Flaw, GROUP_HEADER, GroupHead, KeyBook, Purpose, disk_len};
pub use group_source::{Elsewhere, GroupSource};
pub use log::Log;
pub use prove::ProofStep;
pub use read::LogReader;
pub use record::{
    RECORD_BYTES_MAX, RECORD_HEADER, Record, RecordHead, decode as decode_record,
    length_of as record_length,
};
pub use repair::{LostGroup, Repaired};
pub use scan::{GroupInfo, Scanned, scan};
pub use sealed::{RecentGroup, SealedGroups};
pub use stats::{AheadInfo, CopyInfo, LogSpace, LogStatistics, SegmentInfo};
pub use waiters::DurableSink;
