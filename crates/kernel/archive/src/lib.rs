//! The archive: what the log's segments held, in sealed files, for as long as a recovery needs it.
//!
//! ```text
//!   log ──> archiver ──> writer ──> archive-NNN.hfa, in one folder or two
//!           a thread of its own     file.rs: header, groups as they stood in the log
//!
//!   recovery <── source <── catalog: which archive holds what, and from which copy
//!                       └── the log itself, from where the archive ends
//! ```
//!
//! What holds, whatever crashes:
//! 1. A segment of the log counts as archived only when its archive file is durable in at least one
//!    folder, under its name, and known to the registry. So of every group there is a sealed copy,
//!    in the log or in the archive.
//! 2. A group is sealed once: the archive holds the log's bytes, or, compressed, a seal of its own
//!    that both folders share. Nothing is archived that did not prove itself.
//! 3. An archive file is whole or not there: it gets its name last, and takes nobody else's place.
//! 4. Archives follow each other by group numbers, each naming the tag of the group before its
//!    first one. Whoever reads across them notices what is missing, exchanged or of another past.
//! 5. A position that an archive proves, the log must reach (K6).
//! 6. A folder that must hold archives and holds none is not written to: its device is not mounted.
//! 7. Nothing is deleted that the registry says a recovery needs, and never the newest archive.
//!
//! The archive does not know what records mean, and does not keep the log from being written: it
//! only keeps segments from being used again, until backout alone may go on (K15).

mod accumulate;
mod accumulation;
mod archiver;
mod audit;
mod block;
mod catalog;
mod config;
mod error;
mod expire;
mod file;
mod folders;
mod header;
mod place;
mod registry;
mod source;
mod unreadable;
mod writer;

pub use accumulate::Concern;
pub use accumulation::{Accumulation, AccumulationFile, AccumulationInfo, SETS_MAX};
pub use archiver::{Archiver, ArchiverStatus};
pub use audit::{Cure, Discord, LogBegins, audit};
pub use catalog::{ArchiveCatalog, CatalogEntry, CopyFault};
pub use config::{ArchiveConfig, ArchiveEnv, FOLDERS_MAX, Keep};
pub use error::{ArchiveError, Kept};
pub use expire::Needs;
pub use file::ArchiveFile;
pub use header::ArchiveInfo;
pub use recon::Span;
pub use registry::{NoRegistry, ReconRegistry, Registry, end_of, unrecorded};
pub use source::{ArchivedGroups, LogSource, SourceReader};
pub use unreadable::UnreadArchive;
