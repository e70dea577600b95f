//! Command messages: the same commands, as programs send them.
//!
//! | to understand | look at |
//! |---|---|
//! | the bytes | [`wire`] |
//! | what each command answers | `commands`, `channels` |
//! | who takes commands from the command queue | [`server`] |

mod channels;
mod commands;
pub mod server;
pub mod wire;

pub use commands::{answer, reason};
