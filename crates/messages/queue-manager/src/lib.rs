//! The queue manager: queues, topics and messages over the keyed store, as programs of the
//! message queue interface know them.
//!
//! | to understand | look at |
//! |---|---|
//! | what is defined | [`objects`] |
//! | opening, definitions, displays | [`QueueManager`] |
//! | the calls of programs | [`Connection`] |
//! | what calls take and answer | [`descriptor`], [`options`], [`reason`] |
//! | messages to and from other queue managers | [`channel`] |
//! | units of work that another transaction manager ends | [`branch`] |
//! | what is told of what happens | [`event`] |
//! | properties of messages, selectors | [`properties`], [`selector`] |
//! | text from one code page to another | [`convert`] |
//! | page sets, and what is beneath them | [`page_sets`], [`storage`] |
//! | what connections share: units of work, delivery, triggers, publications | `core` |
//! | a queue: its index in memory, its messages in the store | `queue` |

pub mod branch;
pub mod channel;
mod channel_state;
pub mod connection;
pub mod convert;
mod core;
mod defaults;
pub mod descriptor;
mod error;
mod extension;
pub mod manager;
mod message;
pub mod name;
pub mod objects;
pub mod options;
pub mod page_sets;
mod pattern;
pub mod properties;
mod queue;
pub mod reason;
pub mod selector;
pub mod status;
pub mod storage;
mod topic;

pub use connection::Connection;
pub use core::event;
pub use core::{Authority, MEMORY_BYTES_MAX, Options, Permission, Point, Users};
pub use descriptor::MessageDescriptor;
pub use error::AdminError;
pub use manager::QueueManager;
pub use name::ObjectName;
pub use reason::{Answer, Completion, Failed, Outcome, Reason};

/// Bytes of the longest message.
pub const MESSAGE_BYTES_MAX: usize = 100 << 20;
