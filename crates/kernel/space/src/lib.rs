//! Data sets: numbered control intervals in one or several files, with the map that says which are
//! in use and what each one's newest version is.
//!
//! A [`DataSet`] is what a pool has behind it. Its own intervals lie among those of its user:
//!
//! | interval | holds |
//! |---|---|
//! | 0 | header: the data set's definition, for whoever has only the file |
//! | 1, and 1 + n*K | map, level 1: freshness and use of the K intervals of its block |
//! | 2, and 2 + n*K*K | map, level 2: freshness of K maps of level 1 |
//! | 3 | map, level 3: freshness of the maps of level 2 |
//! | 4 ([`ROOT`]) | the root of the user's tree |
//!
//! Invariants:
//! 1. An interval is opened only if its tag is the one that the map holds for it (K5); the tag of
//!    interval 3 is in the checkpoint record, so the whole set hangs on the sealed log.
//! 2. A map interval that its own map says was never written is an empty map: maps need no
//!    formatting, and a data set grows without it.
//! 3. What form an interval may have comes from the [`Definition`], never from the interval (K4).
//! 4. Ordinary allocation leaves room for undo on the device (K15).

mod allocate;
pub mod create;
mod data_set;
pub mod definition;
mod error;
mod extent;
mod files;
mod freshness;
pub mod header;
pub mod layout;
pub mod map;
mod overlay;
mod settled;

pub use allocate::Purpose;
pub use data_set::{Contents, DataSet, DataSetStatistics, Environment, LookupKey};
pub use definition::{Conversion, Definition};
pub use error::SpaceError;
pub use header::{Header, kind};
pub use layout::{MapLayout, ROOT};
pub use overlay::Overlay;
pub use settled::Settled;
