//! DL/I as a plain tree in memory, written only from `docs/spec/dli.md`; for tests.
//!
//! The judge against which the call engine is compared with random calls. Simplicity beats speed
//! everywhere: trees of structs, linear searches, the name of the rule beside it. Where
//! the specification leaves something open, a comment with `decision:` says what was taken.
//!
//! * [`Model`]: databases, PCBs and their calls; [`Subject`] is what it and an engine have in
//!   common, [`Feedback`] what a call gives back;
//! * [`Setup`]: DBDs and a PSB from macro source;
//! * [`cases`]: the rules one by one, as calls with what they must give back;
//! * `random` (feature `generate`): random databases, programs and calls;
//! * [`script`]: calls as text; [`compare`](compare::compare): two subjects, the same calls.
//!
//! ```
//! use std::sync::Arc;
//! use holdfast_dli_model::{Model, Setup, Subject};
//!
//! let setup = Setup::from_source("* A DATABASE AND A PROGRAM
//!          DBD   NAME=TOYDB,ACCESS=(HDAM,OSAM),RMNAME=(HASH,1,10,500)
//!          DATASET DD1=TOYDD
//!          SEGM  NAME=TOY,PARENT=0,BYTES=4
//!          FIELD NAME=(NO,SEQ,U),START=1,BYTES=2
//!          DBDGEN
//!          PCB   TYPE=DB,DBDNAME=TOYDB,PROCOPT=A
//!          SENSEG NAME=TOY
//!          PSBGEN LANG=COBOL,PSBNAME=PLAY
//! ")?;
//! let mut model = Model::new(&setup, Arc::new(|_, key| key.to_vec()));
//! model.call(0, "ISRT", b"T1ab", &[b"TOY      ".to_vec()]);
//! let feedback = model.call(0, "GU", &[], &[b"TOY     (NO      = T1)".to_vec()]);
//! assert_eq!(feedback.status, *b"  ");
//! assert_eq!(feedback.area.as_deref(), Some(&b"T1ab"[..]));
//! # Ok::<(), holdfast_dli_model::SetupError>(())
//! ```
//!
//! An engine is held to it by [`cases::suite`] (the rules), [`cases::replay`] (what was found
//! once) and `random::check` inside of a proptest (what was not found yet).
//!
//! Invariants:
//! 1. Nothing here knows the engine: neither its code nor its way of storing.
//! 2. The same calls give the same feedback, always.

use std::sync::Arc;

use definitions::DbdName;

pub mod cases;
pub mod compare;
#[cfg(any(test, feature = "generate"))]
pub mod random;
pub mod script;

mod area;
mod bytes;
mod forest;
mod get;
mod index;
mod insert;
mod keys;
mod lens;
mod load;
mod logical;
mod model;
mod position;
mod qualify;
mod remove;
mod search;
mod setup;
mod ssa;
mod types;
mod update;

pub use compare::compare;
pub use model::Model;
pub use setup::{Setup, SetupError};

/// What orders the roots of a hashed database: of a database and a root key the bytes by which
/// roots are sorted, equal ones by key.
pub type RootOrder = Arc<dyn Fn(DbdName, &[u8]) -> Vec<u8> + Send + Sync>;

/// What a call gives back: the PCB, and what went into the area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// The status code; blanks if done.
    pub status: [u8; 2],
    /// The segment level.
    pub level: u8,
    /// The segment name.
    pub segment: [u8; 8],
    /// The key feedback in its returned length.
    pub key: Vec<u8>,
    /// What a get put into the area; `None` if it is untouched.
    pub area: Option<Vec<u8>>,
}

impl Feedback {
    /// A feedback of these parts.
    #[must_use]
    pub fn new(
        status: [u8; 2],
        level: u8,
        segment: [u8; 8],
        key: Vec<u8>,
        area: Option<Vec<u8>>,
    ) -> Feedback {
        Feedback { status, level, segment, key, area }
    }
}

/// Whatever takes database calls: the model, or an engine.
pub trait Subject {
    /// A call. `pcb` counts the database PCBs of the PSB from 0; `area` is what ISRT, REPL and
    /// DLET read.
    fn call(&mut self, pcb: usize, function: &str, area: &[u8], ssas: &[Vec<u8>]) -> Feedback;
    /// Commits; positions are lost.
    fn checkpoint(&mut self);
    /// Backs out to the last commit; positions are lost.
    fn rollback(&mut self);
}
