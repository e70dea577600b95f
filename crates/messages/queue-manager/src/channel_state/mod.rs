//! What is known of channels, below those who send and receive: what is kept, what runs, what goes
//! wrong.
//!
//! | to understand | look at |
//! |---|---|
//! | what is kept, and what two ends that meet again make of it | `record` |
//! | which channels run, and how they are told to | `table` |

mod error;
mod record;
mod table;

pub use error::ChannelError;
pub use record::{BatchNumber, Decision, ReceiverState, SenderState, Sequence};
pub use table::{
    ChannelProgress, ChannelState, ChannelStatus, ChannelTraffic, ChannelType, Initiator, Instance,
    ListenerStatus, StopMode, StopRequest,
};

pub(crate) use record::{
    CHANNELS, Doubt, fetch, keep, read_receiver, read_sender, receiver_key, sender_key,
    stopped_key, subject_key, write_receiver, write_sender,
};
pub(crate) use table::{Held, Table, Taken};
