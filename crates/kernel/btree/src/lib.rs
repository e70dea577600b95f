//! Keyed access: a B-link tree of slotted control intervals with delta-coded keys, one tree a data
//! set, its root always at [`space::ROOT`].
//!
//! A [`Tree`] reads, inserts, replaces and removes records through a unit of work, loads sorted
//! data in bulk, and proves itself. [`TreeResource`] is what the kernel needs for redo and undo.
//! The tree knows latches but no locks: who may see and change what is the caller's business.
//!
//! Invariants:
//! 1. Nodes of a level partition all keys by their fences and are chained by right links. A parent
//!    knows some of its level below in order; whoever stands too far left goes right.
//! 2. A descent holds one latch at a time and trusts nothing that it read before: kind, level and
//!    fences of what it latches decide; if they do not fit it begins again at the root.
//! 3. A structure change is one redo-only record (K13). It pins all its intervals first, latches
//!    them parent before child and left before right, and proves that what it saw still holds.
//! 4. Every byte of an interval changes by applying a log record to it, then and at restart alike.
//! 5. Undo finds records by key, wherever they are by then. It may split nodes, never merges them.
//!
//! | file | owns |
//! |---|---|
//! | `node` | one node in the bytes of one interval; pure memory |
//! | `records` | the log records, their layout |
//! | `resource` | redo and undo of records |
//! | `tree` | limits, descents |
//! | `look` | whether keys are there, their values, what follows |
//! | `update` | inserting, replacing, removing; `answer`: what that is asked for and answers |
//! | `structure` | splits, postings, merges, the root |
//! | `overflow` | values that do not fit into a node |
//! | `stored` | what a record did to keys, and the way back |
//! | `cursor` | walking over records |
//! | `load` | filling an empty set with sorted records |
//! | `compact` | moving nodes from the end of a set to its front |
//! | `verify` | the proof of a whole tree |
//! | `scratch` | short copies of bytes of a page |

// The unit tests of descents use what the tests of the whole crate use.
#[cfg(test)]
extern crate self as holdfast_btree;
#[cfg(test)]
#[path = "../tests/all/common/mod.rs"]
mod common;

mod answer;
mod compact;
mod cursor;
mod error;
mod load;
mod look;
pub mod node;
mod overflow;
mod overflow_write;
pub mod records;
mod resource;
mod scratch;
mod stored;
mod structure;
mod tree;
mod update;
mod verify;

pub use answer::{Below, Inserted, InsertedBelow, Renewed, Replaced};
pub use cursor::Cursor;
pub use error::TreeError;
pub use load::Load;
pub use look::Around;
pub use overflow::VALUE_BYTES_MAX;
pub use resource::TreeResource;
pub use stored::{Effect, StoredValue};
pub use tree::{Bound, LeafHint, Leaves, Look, RecordHint, Tree, format_empty};
pub use verify::{TreeReport, node_damage};

const _: () = assert!(node::KIND_LEAF == space::kind::LEAF);
const _: () = assert!(node::KIND_INNER == space::kind::INNER);
const _: () = assert!(node::KIND_OVERFLOW == space::kind::OVERFLOW);
const _: () = assert!(node::KIND_FREE == space::kind::FREE);
