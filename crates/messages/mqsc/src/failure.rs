//! Why a command that is well formed was not processed.

use base::{Code, Coded};
use queue_manager::AdminError;
use queue_manager::branch::BranchError;
use queue_manager::channel::ChannelError;
use thiserror::Error;

use crate::error::SyntaxError;
use crate::reply::{MessageId, Reply, Severity};

/// What a command answers, or why it was not processed.
pub(crate) type Done = Result<Vec<Reply>, CommandError>;

/// Why a command was not processed.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum CommandError {
    /// It is not well formed after all.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// The queue manager refuses it.
    #[error(transparent)]
    Admin(#[from] AdminError),
    /// A channel does not do what it is to do.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// A branch of a global transaction cannot be decided about.
    #[error("thread {branch}: {error}")]
    Branch {
        /// The branch.
        branch: String,
        /// Why not.
        error: BranchError,
    },
    /// There is nothing of that name.
    #[error("{what} {name} not found")]
    NotFound {
        /// What was looked for.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Nothing has the status that was asked for.
    #[error("{what} not found")]
    NoStatus {
        /// Which status.
        what: &'static str,
        /// The message's number.
        number: u16,
    },
    /// The command is about something that this queue manager does not have.
    #[error("{command} is not provided: {why}")]
    NotProvided {
        /// The command.
        command: String,
        /// Why.
        why: &'static str,
    },
    /// The storage beneath the queue manager does not do what it is to do.
    #[error("{command} failed: {why}")]
    Storage {
        /// The command.
        command: String,
        /// Why.
        why: String,
    },
    /// An attribute that is part of what an object is cannot be changed.
    #[error("{object}: {attribute} is {now} and cannot be changed to {wanted}")]
    Fixed {
        /// The object.
        object: String,
        /// The attribute.
        attribute: &'static str,
        /// Its value.
        now: String,
        /// The value that was given.
        wanted: String,
    },
}

impl CommandError {
    /// How a session says it.
    pub fn reply(&self, command: &str) -> Reply {
        let severity = match self {
            CommandError::Syntax(error) => return error.reply(command),
            CommandError::Admin(AdminError::Damaged { .. } | AdminError::Store(_)) => {
                Severity::Severe
            }
            CommandError::NoStatus { number: 8420, .. } => Severity::Information,
            _ => Severity::Error,
        };
        let number = match self {
            CommandError::NotFound { .. } | CommandError::Admin(AdminError::NotFound { .. }) => {
                8147
            }
            CommandError::Channel(error) => channel_number(error),
            CommandError::NoStatus { number, .. } => *number,
            CommandError::Admin(AdminError::Exists { .. }) => 8150,
            CommandError::Admin(AdminError::NotEmpty { .. }) => 8143,
            CommandError::Admin(AdminError::InUse { .. } | AdminError::Uncommitted { .. }) => 8148,
            CommandError::Admin(AdminError::Damaged { .. }) => 8149,
            _ => 8101,
        };
        let mut text = self.to_string();
        if let Some(first) = text.get(..1).map(str::to_ascii_uppercase) {
            text.replace_range(..1, &first);
        }
        let (remedy, code) = (self.remedy(), self.code().0);
        let what = if text.ends_with('.') { text } else { format!("{text}.") };
        let text = match self {
            // These are so common, and so clear, that advice would be noise.
            CommandError::NoStatus { .. } | CommandError::NotFound { .. } => what,
            _ if remedy.is_empty() => format!("{what} ({code})"),
            _ => format!("{what} {remedy} ({code})"),
        };
        Reply::new(MessageId { number, severity }, text)
    }
}

/// The number of what is said of a channel.
fn channel_number(error: &ChannelError) -> u16 {
    match error {
        ChannelError::NotFound(_) => 8147,
        ChannelError::InUse(_) => 9514,
        ChannelError::NotRunning(_) => 9533,
        ChannelError::Sequence { .. } => 9526,
        ChannelError::Partner { .. } => 9558,
        _ => 8101,
    }
}

impl Coded for CommandError {
    fn code(&self) -> Code {
        match self {
            CommandError::Syntax(error) => error.code(),
            CommandError::Admin(error) => error.code(),
            CommandError::Channel(error) => error.code(),
            CommandError::NotFound { .. } => Code("HFMC020"),
            CommandError::NoStatus { .. } => Code("HFMC021"),
            CommandError::NotProvided { .. } => Code("HFMC022"),
            CommandError::Fixed { .. } => Code("HFMC023"),
            CommandError::Storage { .. } => Code("HFMC024"),
            CommandError::Branch { .. } => Code("HFMC025"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            CommandError::Syntax(error) => error.remedy(),
            CommandError::Admin(error) => error.remedy(),
            CommandError::Channel(error) => error.remedy(),
            CommandError::NotFound { .. } => "Correct the name, or define it first.".into(),
            CommandError::NoStatus { .. } => String::new(),
            CommandError::NotProvided { .. } => {
                "Nothing was done; take the command out of the script.".into()
            }
            CommandError::Fixed { .. } => "Delete the object and define it again.".into(),
            CommandError::Storage { .. } => "Repair what it names, then try again.".into(),
            CommandError::Branch { .. } => {
                "DISPLAY THREAD says where it stands: one that is PREPARED can be decided.".into()
            }
        }
    }
}
