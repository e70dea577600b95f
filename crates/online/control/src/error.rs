//! What can go wrong in the transaction manager.

use base::{Code, Coded};
use otma::{Reason, Refusal};
use queues::QueueError;
use resources::ResourceError;
use store::StoreError;
use thiserror::Error;

/// Why something was not done.
#[derive(Clone, Debug, Error)]
pub enum ControlError {
    /// A message in a queue is not what this release writes.
    #[error("message {arrival} of queue {queue} cannot be read: {what}")]
    Unreadable {
        /// The queue.
        queue: String,
        /// The message's number.
        arrival: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// A user's entry, or the parameters of its password, are wrong.
    #[error("user {user}: {what}")]
    User {
        /// The user.
        user: String,
        /// What is wrong.
        what: String,
    },
    /// The message queues have refused something.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The resources have refused something.
    #[error(transparent)]
    Resource(#[from] ResourceError),
    /// The store has failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for ControlError {
    fn code(&self) -> Code {
        match self {
            ControlError::Unreadable { .. } => Code("HFJ601"),
            ControlError::User { .. } => Code("HFJ602"),
            ControlError::Queue(error) => error.code(),
            ControlError::Resource(error) => error.code(),
            ControlError::Store(error) => error.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            ControlError::Unreadable { .. } => {
                "Open the system with the release that wrote it.".into()
            }
            ControlError::User { .. } => "Define the user again.".into(),
            ControlError::Queue(error) => error.remedy(),
            ControlError::Resource(error) => error.remedy(),
            ControlError::Store(error) => error.remedy(),
        }
    }
}

/// An error as a client is told of it.
pub(crate) fn refusal(error: &ControlError) -> Refusal {
    let reason = match error {
        ControlError::Queue(QueueError::QueueFull { .. } | QueueError::AllFull { .. }) => {
            Reason::QueueFull
        }
        ControlError::Queue(QueueError::TooLong { .. }) => Reason::TooLarge,
        _ => Reason::Store,
    };
    Refusal::new(reason, format!("{} {error}", error.code()))
}
