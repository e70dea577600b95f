//! The DL/I call engine: what a program's calls do to databases.
//!
//! A [`Session`] is a scheduled PSB: its database PCBs, each with a position of its own, over one
//! unit of work. It answers GU, GN, GNP, their hold forms, ISRT, REPL and DLET with status codes
//! and fills the [`Mask`] of the PCB. It stands on `hierarchy`, which keeps databases as key
//! order, and on the store trait; it knows nothing of processes, files or message queues.
//!
//! | question | where |
//! |---|---|
//! | what does a PCB see, and how is it reached? | `view` |
//! | what is a PCB made of? | `pcb`; `search_state`, `hold_state`, `parentage`, `feedback`, `loading` |
//! | what do the SSAs of a call ask? | `ssa`, `plan` |
//! | how is a path searched? | `search`, `search_stack`; with a key that is known whole: `direct` |
//! | GU, GN, GNP; what GE and GB leave | `get`; GN without SSAs: `scan` |
//! | where is the PCB afterwards? | `position`; with `POS=MULTIPLE`: `marks` |
//! | ISRT; load mode | `insert`; `load` |
//! | REPL, DLET | `hold` |
//! | indexes and logical relationships | `derived`, `join`; their rules on changes: `relate` |
//! | an index used as a database | `entry` |
//! | I/O areas, sensitive fields | `area` |
//! | locks of records, gaps between roots and between index entries | `locks`, `gaps` |
//! | PCBs that are limited to partitions; partitions that are offline | `span`, `offline` |
//!
//! Invariants:
//! 1. What a call does is decided by `docs/spec/dli.md` alone; code cites the rule.
//! 2. A call whose status says that nothing was done has changed nothing stored.
//! 3. A position is keys; nothing is pinned between calls (H10).
//! 4. Bytes of a program are read only within the slices that a call brings.

mod area;
mod context;
mod cursors;
mod derived;
mod direct;
mod entry;
mod failure;
mod feedback;
mod gaps;
mod get;
mod hold;
mod hold_state;
mod implied;
mod insert;
mod join;
mod load;
mod loading;
mod locks;
mod marks;
mod mask;
mod offline;
mod parentage;
mod pcb;
mod plan;
mod position;
mod refusal;
mod relate;
mod remove;
mod replacement;
mod scan;
mod search;
mod search_stack;
mod search_state;
mod session;
mod span;
pub mod ssa;
mod status;
mod subject;
mod table;
mod view;

pub use failure::{Failure, LOG_FULL, SessionError, abend_of};
pub use mask::Mask;
pub use offline::{Availability, Stand};
pub use session::{Place, Reply, Session, SessionOptions};
pub use status::Status;
