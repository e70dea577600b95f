//! VSAM's clusters over the keyed store: catalogs, files, requests, alternate indexes.

pub mod attributes;
mod catalog;
mod entry;
mod error;
pub mod feedback;
mod name;
mod open;
mod position;
mod request;

pub use attributes::{
    AlternateIndexAttributes, AttributeError, BLOCK_BYTES, ClusterAttributes, FreeSpace,
    GenerationGroupAttributes, KeyField, NonVsamAttributes, Organization, PathAttributes, Remarks,
    Share, ShareOptions, Space, SpaceUnit,
};
pub use catalog::{Catalog, Defined, DeleteOptions};
pub use entry::{DataSet, Definition, Entry, Kind, ObjectNumber, State, Statistics};
pub use error::{CatalogError, OpenError};
pub use feedback::{Component, Condition, Failure, Feedback, LogicalReason, Rba, RecordNumber};
pub use name::{DataSetName, Filter, NameError};
pub use open::{File, OpenMode, OpenOptions};
pub use position::{Access, Direction, Intent, Match, Position, Search, Target};
