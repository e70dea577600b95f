//! Indexed files of the machine: records by their keys, in one file that survives a kill.
//!
//! A file has a prime key and alternate keys. Records and entries of the alternate keys stand in
//! blocks, each a value of a table of `redb`, which commits or forgets a whole set of changes. What
//! a program changes gathers in memory as changed blocks and is committed at the latest after a
//! second, and when the file is closed.
//!
//! ```text
//!  requests -> file -> trees of blocks, changed ones in memory --commit--> redb -> device
//! ```
//!
//! | to understand | look at |
//! |---|---|
//! | what a request does, which order duplicates have | `file.rs` |
//! | where the next record is | `place.rs` |
//! | how blocks are found, changed and committed | `tree.rs`; their bytes: `block.rs` |
//! | which file a path leads to, who has it, how much room there is | `device.rs` |
//! | what a file's keys are, on disk too | `definition.rs` |
//! | what is committed together, and when there is no room | `core.rs`; after a second: `keeper.rs` |
//!
//! Invariants:
//! 1. A commit holds whole requests: record and alternate keys, all or nothing. A kill leaves the
//!    file as it was at the end of some request of the last second, or later.
//! 2. A request that is refused has changed nothing.
//! 3. What a request has changed is not given up for lack of room: before room gets short, requests
//!    commit one by one, so that the one that does not fit is refused.
//! 4. A block whose bytes are not those that were written is an error, never data.
//! 5. Among equal alternate keys, records stand in the order in which they came by that key.

mod block;
mod core;
mod definition;
mod device;
mod file;
mod keeper;
mod place;
mod refusal;
mod tree;

pub use definition::{Definition, Key, Part};
pub use device::{Kind, kind_of, remove};
pub use file::{IndexedFile, Purpose, Written};
pub use place::{Relation, Seen};
pub use refusal::Refusal;

#[cfg(test)]
mod tests;
