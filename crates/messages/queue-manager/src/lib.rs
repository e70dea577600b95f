//! The queue manager: queues, topics and messages over the keyed store, as programs of the
//! message queue interface know them.
//!
//! | to understand | look at |
//! |---|---|
//! | what is defined | [`objects`] |
//! | opening, definitions, displays | [`QueueManager`] |
//! | the calls of programs | [`Connection`] |
//! | what calls take and answer | [`descriptor`], [`options`], [`reason`] |
//! | properties of messages | [`properties`] |

pub mod connection;
pub mod descriptor;
mod error;
pub mod manager;
pub mod name;
pub mod objects;
pub mod options;
pub mod properties;
pub mod reason;
pub mod status;

pub use connection::Connection;
pub use descriptor::MessageDescriptor;
pub use error::AdminError;
pub use manager::{Authority, Options, QueueManager, Wish};
pub use name::ObjectName;
pub use reason::{Answer, Completion, Failed, Outcome, Reason};
