//! The file handler of COBOL programs: what stands behind OPEN, READ, WRITE and all the others.
//!
//! A program that was compiled with `-fcallfh` calls one function with an operation and a control
//! block. Here they are decoded, checked against the file's state, and carried out.
//!
//! ```text
//!  program --operation, block--> abi -> handler --sequential, lines, relative--> machine -> files
//!                                              \--data sets--> remote ~ wire ~> clusters -> vsam
//!                                               \--indexed--> indexed-files (older ones: libcob)
//! ```
//!
//! | to understand | look at |
//! |---|---|
//! | which request a file's state allows, with which status | [`handler`] |
//! | the control block and its key definitions | [`fcd`]; operations [`opcode`]; statuses [`status`] |
//! | which file a name means | [`name`] |
//! | what a request takes from the program, and tells it | `request` |
//! | sequential, line, printer, relative and indexed files of the machine | [`machine`] |
//! | data sets of a catalog | [`data_set`]; from afar [`remote`], over [`wire`]; by VSAM [`clusters`] |
//! | records that come before they are wanted | [`read_ahead`], for the other side `ahead` |
//! | what a request needs of a unit of work; units of requests that bring none | [`request_kind`]; [`own_units`] |
//! | programs that use them as VSAM has them | [`acb_wire`]; by VSAM `acbs`; in C [`abi::rpl`] |
//! | memory of the program, and the run time's own files | [`caller`], [`abi`] |
//!
//! Invariants:
//! 1. What a program passes is bytes from outside; only [`abi`] follows addresses.
//! 2. An error of a device is never lost: it comes back at the WRITE or at the CLOSE.

pub mod abi;
pub mod acb_wire;
mod acbs;
mod ahead;
pub mod body;
pub mod caller;
mod cluster;
pub mod clusters;
pub mod data_set;
pub mod fcd;
mod feedback;
mod generations;
pub mod handler;
pub mod machine;
pub mod name;
pub mod opcode;
pub mod own_units;
pub mod read_ahead;
pub mod remote;
mod request;
pub mod request_kind;
pub mod status;
pub mod wire;

pub use caller::{Caller, Native};
pub use clusters::Clusters;
pub use handler::{Handler, Unfinished};
pub use remote::{Carrier, Remote, Way, Ways};
pub use status::FileStatus;
