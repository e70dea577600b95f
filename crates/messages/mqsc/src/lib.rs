//! Commands of the queue manager: what operators type, and what scripts of theirs say.
//!
//! | to understand | look at |
//! |---|---|
//! | lines, comments, continuations | [`lexis`] |
//! | words, values, quotes | [`syntax`] |
//! | which commands there are | [`command`] |
//! | attributes, as they are written and shown | `attributes`, `channel` |
//! | what a command does | [`Console`], `define`, `display`, `status`, `control`, `channels`, `branches`, `records` |
//! | page sets, pools, the log | `storage` |
//! | what it answers | [`reply`], [`error`], [`failure`] |
//! | the frame around many commands | [`session`] |
//! | a queue manager as commands that make it again | [`dump`] |
//! | commands in messages | [`pcf`] |
//! | what is done with dead letters | [`dead_letters`] |
//!
//! 1. What is read wrong does nothing: a command is understood to its last word first.
//! 2. Text from outside never ends the program; it ends with an error that shows where it stands.
//! 3. What there is no function for is refused, and never pretended.

mod attributes;
mod branches;
mod channel;
mod channels;
pub mod command;
mod console;
mod control;
pub mod dead_letters;
mod define;
mod display;
pub mod dump;
pub mod error;
pub mod failure;
mod filter;
pub mod lexis;
pub mod moment;
pub mod pcf;
mod records;
pub mod reply;
pub mod session;
mod status;
mod storage;
pub mod syntax;

pub use console::Console;
pub use reply::Reply;
pub use session::{Answer, Frame, Summary};
