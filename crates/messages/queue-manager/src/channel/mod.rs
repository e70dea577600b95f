//! Message channels: what is kept of them so that a message goes to another queue manager once.
//!
//! | to understand | look at |
//! |---|---|
//! | what is kept, and what two ends that meet again make of it | `channel_state` |
//! | taking messages from a transmission queue, batch by batch | [`Sender`] |
//! | putting messages of a partner where they are for | [`Receiver`] |
//! | the header in front of a message on a transmission queue | `header` |
//! | who may come in by a channel, and as whom | [`admission`] |
//!
//! The protocol of a batch, without its network:
//!
//! ```text
//!  sender                                         receiver
//!  holds messages of the transmission queue  -->  puts them in a unit of work
//!  keeps "batch B in doubt: these messages"
//!  end of batch B                            -->  keeps "last batch B" and commits
//!  removes them and keeps "last batch B"     <--  B is committed
//! ```
//!
//! 1. A receiver keeps the number of a batch in the unit of work that puts its messages; a sender
//!    keeps it in the unit of work that removes them. So each end has done a batch as a whole, or
//!    not at all, whenever it ends.
//! 2. A sender says "end of batch" only after it has durably noted which messages that batch has.
//!    Until it knows what became of the batch, no getter has them, over restarts, too.
//! 3. A number is never given to two batches. A receiver whose last batch is the one in doubt has
//!    committed it; one whose last batch is the one before has not, and never will: the connection
//!    that carried it is over, and a partner has one connection of a channel at a time.
//! 4. A channel of a name has one sender, and one receiver a partner, at a time.

pub mod admission;
mod channels;
mod header;
mod receiver;
mod sender;

pub use crate::channel_state::{
    BatchNumber, ChannelError, ChannelProgress, ChannelState, ChannelStatus, ChannelTraffic,
    ChannelType, Decision, Initiator, Instance, ListenerStatus, ReceiverState, SenderState,
    Sequence, StopMode, StopRequest,
};
pub use channels::{Channels, WasReset};
pub use receiver::{Receiver, ReceiverOptions};
pub use sender::{Ended, Outgoing, Sender, SenderOptions};
