//! Why an input, an output or a client is refused.

use std::fmt;

/// The kinds of refusal. A door maps them to its protocol's codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// No data store of that name.
    UnknownDataStore,
    /// The data store is stopped.
    DataStoreStopped,
    /// The system is shutting down.
    ShuttingDown,
    /// No transaction of that code, or no such command.
    UnknownTransaction,
    /// The transaction is stopped, or its program is.
    TransactionStopped,
    /// The program failed and its unit of work was backed out.
    ProgramFailed,
    /// The client refused the output, or did not answer.
    OutputRefused,
    /// The input waited for too long.
    Expired,
    /// The user may not do that.
    NotAuthorized,
    /// The user is unknown, or the password is wrong.
    NotAuthenticated,
    /// A message is too long, or has too many segments.
    TooLarge,
    /// A queue is at its limit.
    QueueFull,
    /// A conversation's rules are broken.
    Conversation,
    /// The transaction and the commit mode do not go together.
    CommitMode,
    /// The output or the ticket is none that is waited for.
    NothingWaiting,
    /// The store does not do what it has to.
    Store,
}

/// Why something was refused, for programs and for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The kind.
    pub reason: Reason,
    /// A message as a terminal shows it, such as `DFS064 DESTINATION CANNOT BE FOUND OR CREATED`.
    pub text: String,
}

impl Refusal {
    /// A refusal with its text.
    #[must_use]
    pub fn new(reason: Reason, text: impl Into<String>) -> Refusal {
        Refusal { reason, text: text.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Refusal {}
