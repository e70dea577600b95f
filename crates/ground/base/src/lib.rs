//! The ground floor: names of places, codes of errors, and counters that every layer shares.
//!
//! Owns no state and touches nothing outside. What stands here is what at least two layers of
//! the kernel must agree on:
//!
//! * [`ids`]: newtypes for log positions, data sets, control intervals, units of work;
//! * [`fault`]: what every error of Holdfast can say about itself (code, object, remedy);
//! * [`stats`]: counters and histograms without locks;
//! * [`bytes`]: little-endian readers that never panic on short input;
//! * [`hex`]: hexadecimal digits;
//! * [`calendar`]: days and dates;
//! * [`mod@coding`]: how the smallest parts of stored records become bytes;
//! * [`wildcard`]: patterns, compared in bounded time;
//! * [`hash`]: the one non-cryptographic hash, with a fixed seed, so that a run can be replayed.

pub mod bytes;
pub mod calendar;
pub mod coding;
pub mod fault;
pub mod hash;
pub mod hex;
pub mod ids;
pub mod stats;
pub mod wildcard;

pub use fault::{Code, CodeMeaning, Coded};
pub use ids::{CiNumber, DataSetId, GroupNumber, KeyGeneration, Lsn, SystemId, UowId};
