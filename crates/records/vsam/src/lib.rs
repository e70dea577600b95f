//! VSAM over the keyed store: catalogs, clusters, alternate indexes, paths, and requests to them.
//!
//! A [`Catalog`] knows objects by name. [`Catalog::open_file`] connects to a cluster, directly or
//! through an alternate index (a path): a [`File`] is an ACB. A [`Position`] is a place in it and
//! what was read for update there: an RPL. Requests are made in the caller's unit of work, so a
//! file is committed with the databases and messages around it.
//!
//! | to understand | look at |
//! |---|---|
//! | names, filters with wild cards | `name` |
//! | what DEFINE says, and its rules | `attributes` |
//! | what an entry is, and its bytes | `entry`, `rows` |
//! | which catalog a name is looked for in | `catalog` |
//! | DEFINE; DELETE and ALTER; what an interruption leaves | `define`, `change`, `pending` |
//! | generation data groups | `generations` |
//! | who may have a cluster open at once | `share` |
//! | how records stand in sets of the store | `layout` |
//! | opening | `open` |
//! | POINT and GET; PUT and ERASE; blocks of a linear cluster | `read`, `write`, `blocks` |
//! | how alternate indexes follow their base; how one is built | `upgrade`, `build` |
//! | an index's own records; bulk loads | `raw`, `load` |
//! | what a request answers | `feedback` |
//! | clusters whose records or changes go elsewhere | `redirection`, `redirect`, `handler_rows`, `redirected`, [`handler`]; what is sent on: `forward`, `unsent` |
//! | copies of many clusters while they are in use | `snap`; their records at one moment: `freeze` |
//!
//! Invariants:
//! 1. A request does what it should, with the base and its upgrade set, or nothing.
//! 2. A record that was read for update is locked to the end of the unit of work. What is only
//!    looked at is not locked, and may be another unit of work's that is not committed yet.
//! 3. No wait is without end: it ends in reason 20 when the unit of work has waited as long as its
//!    options say ([`unit_options`]), a deadlock at once.
//! 4. A relative byte address belongs to its record for ever, a name to one object at a time.
//! 5. A read that hits memory allocates nothing once the caller's and the position's buffers have
//!    grown.
//!
//! It is not: a codec of VSAM's own control intervals; those are the store's. Control statements
//! are read by `idcams`, programs' files are served by `file-handler`.

mod ahead;
pub mod attributes;
mod blocks;
mod build;
mod catalog;
mod change;
mod deferred;
mod define;
mod entry;
mod error;
pub mod feedback;
mod forward;
mod freeze;
mod generations;
pub mod handler;
mod handler_rows;
mod layout;
mod load;
mod name;
mod open;
mod pending;
mod position;
mod raw;
mod read;
mod redirect;
mod redirected;
mod redirection;
mod rows;
mod share;
mod snap;
mod unsent;
mod upgrade;
mod write;

pub use attributes::{
    AlternateIndexAttributes, AttributeError, BLOCK_BYTES, ClusterAttributes, FreeSpace,
    GenerationGroupAttributes, KeyField, NonVsamAttributes, Organization, PathAttributes, Remarks,
    Share, ShareOptions, Space, SpaceUnit,
};
pub use catalog::Catalog;
pub use change::{Claimed, DeleteOptions};
pub use deferred::Deferred;
pub use define::Defined;
pub use entry::{DataSet, Definition, Entry, Kind, ObjectNumber, State, Statistics};
pub use error::{CatalogError, OpenError};
pub use feedback::{Component, Condition, Failure, Feedback, LogicalReason, Rba, RecordNumber};
pub use forward::SET as UNSENT_SET;
pub use freeze::{Frozen, Take};
pub use generations::GenerationList;
pub use name::{DataSetName, Filter, NameError};
pub use open::{File, OpenMode, OpenOptions};
pub use position::{Access, Direction, Intent, Match, Position, Search, Target};
pub use redirection::{RecordOwner, Redirection, SourceId};
pub use rows::{LOCK_WAIT, SET as CATALOG_SET, unit_options};
pub use snap::{Snapped, Synonyms};
pub use unsent::{Batch, Turn, Unsent};
