//! Programs as guests: their processes, their call interface, their libraries.
//!
//! An application program is a process of its own. It can loop, crash or stop; its unit of work is
//! then backed out, and no other program notices.
//!
//! ```text
//!  program --CBLTDLI--> abi -> interface -> link --embedded--> Server (types DLI and DBB)
//!                                                \--mailbox--> bmp ---> Server (type BMP)
//!                                                 \-mailbox--> region-> Server (MPP, IFP)
//! ```
//!
//! | to understand | look at |
//! |---|---|
//! | what a call means to a server | [`Server`], [`Request`], [`Reply`] |
//! | which bytes travel | [`wire`] |
//! | how addresses become a call | `parameters`, `calls`, `compose`, `interface` |
//! | what PCBs say; their masks, AIBs | `feedback`; `masks`, `aib` |
//! | the exported functions, and why the executable exports them | `exports`; what they come to: `caller` |
//! | libraries that programs are, the run time of COBOL | `abi` |
//! | sources, the compiler, its cache | [`program`] |
//! | how a program's process begins and ends | [`guest`], from outside [`host`], [`Handover`] |
//! | message regions, the processes of their programs | [`MessageRegion`], [`Reserve`], [`worker`] |
//! | calls to a running system | [`bmp`], `mailbox` |
//! | programs that are executables of their own | [`executable`], `handing_on` |
//! | what is converted for programs over EBCDIC data | [`encoding`] |
//! | DD names, the trace, EXEC DLI | [`Dd`], [`Trace`], [`exec`] |
//!
//! Invariants:
//! 1. A program and a server share nothing but messages. In type BMP they are two processes, and
//!    neither sees more of the other than the mailbox; in types DLI and DBB they are one process,
//!    and the program is trusted like the server.
//! 2. Bytes from the other side of that border are checked like bytes from outside, on both sides.
//! 3. A program's normal end, whatever its return code, is a commit; every other end is a backout.
//! 4. An executable whose programs are to find the call interface must be linked with the dynamic
//!    list `exports.list`; [`guest::run`] refuses to start a program otherwise.

mod abends;
mod abi;
mod aib;
mod assignment;
pub mod bmp;
mod caller;
mod calls;
mod client;
mod commands;
mod compose;
mod dd;
mod disposition;
pub mod encoding;
mod error;
pub mod exec;
pub mod executable;
mod exports;
mod feedback;
mod fuzz;
pub mod grace_period;
pub mod guest;
mod handing_on;
mod handover;
pub mod host;
mod interface;
pub mod layout;
mod ledger;
mod lines;
mod link;
mod mailbox;
mod masks;
mod memory;
mod message_region;
mod names;
mod parameters;
pub mod program;
mod record;
mod reserve;
mod scratch;
mod server;
mod ssas;
mod trace;
pub mod wire;
pub mod worker;

pub use client::Client;
pub use commands::{ExecDli, Preprocessor};
pub use compose::is_counted;
pub use dd::{Dd, Dispositions, Files, without_dd};
pub use disposition::{Disposition, Status as DispositionStatus};
pub use error::{DOES_NOT_COMPILE, RegionError};
pub use fuzz::exercise;
pub use handover::Handover;
pub use interface::{DirectAnswer, DirectCall};
pub use link::{Embedded, Handed, Link};
pub use masks::Order;
pub use message_region::{Limit, MessageRegion, ProgramToRun, Stopper};
pub use record::CallRecord;
pub use reserve::{Admit, MakeCommand, Reserve};
pub use scratch::RECORDS;
pub use server::{
    Abend, AibFields, AibReply, Ending, Failure, Feedback, IoFeedback, Reply, Request, Server,
};
pub use trace::{Trace, TraceForm};
