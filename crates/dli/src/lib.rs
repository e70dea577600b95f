//! The DL/I call engine: what a program's calls do to databases.

mod area;
mod direct;
mod failure;
mod gaps;
mod get;
mod hold;
mod insert;
mod load;
mod locks;
mod marks;
mod mask;
mod pcb;
mod plan;
mod position;
mod relate;
mod remove;
mod scan;
mod search;
mod session;
mod shape;
mod status;
mod subject;
mod trail;
mod weave;

pub use failure::{Failure, SessionError};
pub use mask::Mask;
pub use session::{Place, Reply, Session, SessionOptions};
pub use status::Status;
