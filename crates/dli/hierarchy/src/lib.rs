//! Databases as key order: hierarchies of segments over a keyed store (rules H1 to H8).
//!
//! Hierarchic sequence is key sequence: a segment's key is its path, so the next segment is the
//! next key, what lies beneath a segment is a range, and one tree serves every organization.
//! This crate owns how segments, index entries and logical relationships are stored and how they
//! change together. It knows the store trait and nothing beneath it, and nothing of calls, status
//! codes or positions: those are the call engine's.
//!
//! | question | where |
//! |---|---|
//! | what does a key look like? | [`schema`], [`twin`] |
//! | what stands in front of a segment's data? | [`value`] |
//! | which sets does a database have? | [`database`] |
//! | what does an index entry look like? where among equal ones? | [`index`]; [`order`] |
//! | who are the logical children of a segment? | [`relation`], `relate`; both sides of a physical pair: `pair` |
//! | what changes with a segment? | [`change`]; its index entries: [`entry`] |
//! | in which form was its data at some time? | [`form`] |
//! | may this database be used? under which definition was it stored? | [`state`]; `layout`, `record` |
//! | how is a database filled, walked, emptied as a whole? | [`load`], [`walk`], [`build`] |
//! | how do segments that are there get what a new index needs? | [`number`] |
//! | how many segments are there? are they sound? | [`count`], [`verify`] |
//!
//! Invariants stand at the top of each module.

mod arrange;
pub mod build;
pub mod change;
pub mod converted;
pub mod count;
pub mod database;
pub mod display;
pub mod entry;
pub mod error;
mod fill;
pub mod find;
pub mod form;
pub mod index;
mod input;
mod layout;
pub mod load;
pub mod number;
pub mod order;
mod pair;
mod record;
mod relate;
pub mod relation;
pub mod replacements;
pub mod repository;
pub mod schema;
pub mod state;
mod target;
pub mod twin;
pub mod value;
pub mod verify;
pub mod walk;

pub use change::{Changed, Segment, Work};
pub use database::{Database, Unlike, is_kept};
pub use error::{Damaged, Differs, HierarchyError, Refused, Result};
pub use index::{IndexEntry, IndexTree, Source};
pub use order::Orders;
pub use relation::Relation;
pub use schema::{KeyField, LEVELS_MAX, Levels, Schema, SegmentType, TypeAt, behind};
pub use target::{DataChange, SegmentPath, Target};
pub use value::{Deleted, SEGMENT_BYTES_MAX, Stored};
