//! The DL/I call engine: what a program's calls do to databases.

mod area;
mod get;
mod hold;
mod insert;
mod load;
mod locks;
mod mask;
mod pcb;
mod plan;
mod position;
mod relate;
mod search;
mod shape;
mod status;
mod subject;
mod trail;
mod weave;

pub use mask::Mask;
pub use status::Status;
