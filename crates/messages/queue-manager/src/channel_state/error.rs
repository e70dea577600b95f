//! What can go wrong with a channel.

use base::{Code, Coded};
use store::StoreError;
use thiserror::Error;

use crate::reason::{Failed, Reason};

/// Why a channel does not do what it is to do.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ChannelError {
    /// There is no such channel.
    #[error("there is no channel {0}")]
    NotFound(String),
    /// The channel is of a type that cannot do it.
    #[error("channel {channel} is of type {is}, which cannot do that")]
    WrongType {
        /// The channel.
        channel: String,
        /// Its type.
        is: String,
    },
    /// The channel runs, or its partner is connected already.
    #[error("channel {0} is in use")]
    InUse(String),
    /// The channel does not run.
    #[error("channel {0} does not run")]
    NotRunning(String),
    /// An operator has stopped it.
    #[error("channel {0} is stopped")]
    Stopped(String),
    /// A batch is in doubt.
    #[error("channel {0} has a batch in doubt")]
    InDoubt(String),
    /// No batch is in doubt.
    #[error("channel {0} has no batch in doubt")]
    NotInDoubt(String),
    /// The ends do not agree on what has been sent.
    #[error("channel {channel}: this end is at message {here}, its partner at {there}")]
    Sequence {
        /// The channel.
        channel: String,
        /// The sequence number here.
        here: u64,
        /// The one of the partner.
        there: u64,
    },
    /// What is defined cannot work.
    #[error("channel {channel}: {why}")]
    Definition {
        /// The channel.
        channel: String,
        /// Why.
        why: String,
    },
    /// The partner, or the way to it, says no.
    #[error("channel {channel}: {why}")]
    Partner {
        /// The channel.
        channel: String,
        /// What it says.
        why: String,
    },
    /// A message cannot be put anywhere, not even on the dead-letter queue.
    #[error("channel {channel}: a message cannot be put, {reason}, nor as a dead letter")]
    Undeliverable {
        /// The channel.
        channel: String,
        /// Why it cannot be put.
        reason: Reason,
    },
    /// Nothing here runs channels.
    #[error("channels run in a started system only")]
    NoInitiator,
    /// What stands in the store was not written by this release.
    #[error("what is kept of channel {0} is damaged")]
    Damaged(String),
    /// A call has failed.
    #[error("channel {channel}: a call ended with {reason}")]
    Call {
        /// The channel.
        channel: String,
        /// Its reason.
        reason: Reason,
    },
    /// The store has failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ChannelError {
    /// A call that failed for a channel.
    pub(crate) fn call(channel: &str) -> impl Fn(Failed) -> ChannelError + '_ {
        move |failed| ChannelError::Call { channel: channel.to_owned(), reason: failed.0 }
    }

    /// Whether trying again may help without anybody doing anything.
    #[must_use]
    pub fn passes(&self) -> bool {
        matches!(
            self,
            ChannelError::Partner { .. }
                | ChannelError::Sequence { .. }
                | ChannelError::InUse(_)
                | ChannelError::Call { .. }
        )
    }
}

impl Coded for ChannelError {
    fn code(&self) -> Code {
        match self {
            ChannelError::NotFound(_) => Code("HFQC001"),
            ChannelError::WrongType { .. } => Code("HFQC002"),
            ChannelError::InUse(_) => Code("HFQC003"),
            ChannelError::NotRunning(_) => Code("HFQC004"),
            ChannelError::Stopped(_) => Code("HFQC005"),
            ChannelError::InDoubt(_) => Code("HFQC006"),
            ChannelError::NotInDoubt(_) => Code("HFQC007"),
            ChannelError::Sequence { .. } => Code("HFQC008"),
            ChannelError::Definition { .. } => Code("HFQC009"),
            ChannelError::Partner { .. } => Code("HFQC010"),
            ChannelError::Undeliverable { .. } => Code("HFQC011"),
            ChannelError::NoInitiator => Code("HFQC012"),
            ChannelError::Damaged(_) => Code("HFQC013"),
            ChannelError::Call { .. } => Code("HFQC014"),
            ChannelError::Store(error) => error.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            ChannelError::NotFound(_) => "Define it first, or correct the name.".into(),
            ChannelError::WrongType { .. } => "Name a channel of another type.".into(),
            ChannelError::InUse(_) => "Stop it first, or wait until it has ended.".into(),
            ChannelError::NotRunning(_) => "Start it first.".into(),
            ChannelError::Stopped(_) => "START CHANNEL lets it run again.".into(),
            ChannelError::InDoubt(_) => {
                "Start it, so that its partner decides; or decide with RESOLVE CHANNEL.".into()
            }
            ChannelError::NotInDoubt(_) => "Nothing has to be resolved.".into(),
            ChannelError::Sequence { .. } => {
                "Look at both ends which messages arrived, then RESET CHANNEL.".into()
            }
            ChannelError::Definition { .. } => "Alter the channel, then start it again.".into(),
            ChannelError::Partner { .. } => {
                "See whether the partner is started, and what it says of the channel.".into()
            }
            ChannelError::Undeliverable { .. } => {
                "Define a dead-letter queue with room for it, or its destination.".into()
            }
            ChannelError::NoInitiator => "Start the system with holdfast start.".into(),
            ChannelError::Damaged(_) => {
                "Recover the data sets of the queue manager, then start again.".into()
            }
            ChannelError::Call { .. } => "Repair what the reason code names.".into(),
            ChannelError::Store(error) => error.remedy(),
        }
    }
}
