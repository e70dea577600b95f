//! What can go wrong with messages.

use base::{Code, Coded};
use store::StoreError;
use thiserror::Error;

use crate::layout::QueueName;

/// Why a message cannot be kept or found.
#[derive(Clone, Debug, Error)]
pub enum QueueError {
    /// A queue has as many messages as it may.
    #[error("queue {queue} is full: it has the {most} messages that it may have")]
    QueueFull {
        /// The queue.
        queue: QueueName,
        /// How many it may have.
        most: u64,
    },
    /// All queues together have as many messages, or bytes, as they may.
    #[error("the message queues are full: they have the {most} {what} that they may have")]
    AllFull {
        /// What there is too much of.
        what: &'static str,
        /// How many there may be.
        most: u64,
    },
    /// A message is longer than any may be.
    #[error("a message for queue {queue} has {bytes} bytes, but none may have more than {most}")]
    TooLong {
        /// The queue.
        queue: QueueName,
        /// Its bytes.
        bytes: usize,
        /// How many it may have.
        most: usize,
    },
    /// A message is in the index and not in the store, or the other way round.
    #[error("message {arrival} of queue {queue} is damaged: {what}")]
    Damaged {
        /// The queue.
        queue: QueueName,
        /// The message's number.
        arrival: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// The store has failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for QueueError {
    fn code(&self) -> Code {
        match self {
            QueueError::QueueFull { .. } => Code("HFJ501"),
            QueueError::AllFull { .. } => Code("HFJ502"),
            QueueError::TooLong { .. } => Code("HFJ503"),
            QueueError::Damaged { .. } => Code("HFJ504"),
            QueueError::Store(error) => error.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            QueueError::QueueFull { .. } => {
                "Find out why nobody takes its messages, or raise the limit of a queue.".into()
            }
            QueueError::AllFull { .. } => {
                "Find the deepest queues and have them emptied, or raise the limit of all.".into()
            }
            QueueError::TooLong { .. } => "Send it in several messages.".into(),
            QueueError::Damaged { .. } => {
                "Recover the data set of the message queues, then start again.".into()
            }
            QueueError::Store(error) => error.remedy(),
        }
    }
}
