//! Where a root goes: partitions, randomizers, collation.
//!
//! Owns the sections `[randomizer.NAME]`, `[database.NAME]` and `[compat]` of a system's
//! configuration, and what follows from them for the order in which a database keeps its roots.
//! Touches no data and no files: who builds a [`Placement`] brings the contents of a list.
//!
//! ```text
//!   root key ──▶ partition_of ──▶ anchor ──▶ key in the partition's tree: [anchor][root key]...
//!                high keys        randomizer, hashed organizations only
//! ```
//!
//! | file | owns |
//! |---|---|
//! | `settings` | the sections as people write them, and what is wrong with them by themselves |
//! | `amount` | amounts of bytes, such as `"64 MiB"` |
//! | `literal` | keys as people write them: text, or `x'..'` |
//! | `collation` | the orders in which character keys compare |
//! | `hash` | the randomizer that this product brings, with a worked example |
//! | `list` | the randomizer that follows a file of root keys |
//! | `partition` | which partition a root belongs to |
//! | `placement` | all of it for one database |
//! | `error` | what can be wrong, and what deserves a note |
//!
//! Invariants:
//! 1. The same definition, settings and lists place a root at the same spot, in every release:
//!    anchors are part of keys on disk. [`Placement::identity`] says which facts decide, so that
//!    whoever keeps data can see that a person changed one of them.
//! 2. Placing a root allocates nothing and cannot fail in any other way than "refused", which a
//!    program sees as FM.
//! 3. Settings are wrong or right before any data is touched: [`Settings::check`] finds what is
//!    wrong with them alone, [`Placement::new`] what does not fit the definition.
//! 4. Data is never changed: a collation orders keys, and a hash is taken of the bytes as they are.

mod amount;
mod collation;
mod error;
mod hash;
mod list;
mod literal;
mod partition;
mod placement;
mod settings;

pub use amount::Bytes;
pub use collation::Collation;
pub use error::{Note, PlacementError};
pub use hash::hash;
pub use partition::Partition;
pub use placement::{ENCODING, Placement, places_of};
pub use settings::{
    BatchLog, Compat, DatabaseSettings, Encoding, FileUnit, PartitionSettings, ProgramUser,
    RandomizerKind, RandomizerSettings, Settings, Unlisted, WithoutMap,
};
