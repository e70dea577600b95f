//! Why a request is not done, and how that is told from one process to another.

use base::{Code, Coded};
use serde::{Deserialize, Serialize};

use super::CLIENTS_MAX;

/// Why a request has no result: what any error says of itself, in words that travel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The stable code.
    pub code: String,
    /// What happened, to which object.
    pub message: String,
    /// What to do; empty if nothing can be done.
    pub advice: String,
}

impl<E: Coded> From<E> for Refusal {
    fn from(error: E) -> Refusal {
        Refusal {
            code: error.code().to_string(),
            message: error.to_string(),
            advice: error.remedy(),
        }
    }
}

/// What can go wrong between an operator and a system.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OperatorError {
    /// A line that is no request.
    #[error("the request cannot be read: {why}")]
    NoRequest {
        /// What is wrong with it.
        why: String,
    },
    /// A verb that this release does not know.
    #[error("\"{verb}\" is nothing that this system does")]
    UnknownVerb {
        /// Its name.
        verb: String,
        /// Those that there are.
        known: String,
    },
    /// Arguments that a verb does not take.
    #[error("the arguments of \"{verb}\" do not fit: {error}")]
    Arguments {
        /// The verb.
        verb: String,
        /// What is wrong with them.
        error: serde_json::Error,
    },
    /// A result that cannot be told.
    #[error("the result cannot be written as JSON: {error}")]
    Result {
        /// Why.
        error: serde_json::Error,
    },
    /// Too many clients at once.
    #[error("the system serves {CLIENTS_MAX} commands already")]
    Crowded,
    /// The system is being stopped.
    #[error("the command was ended because the system is being stopped")]
    Stopping,
    /// Nobody waits for the result.
    #[error("the command was ended because nobody waits for it any more")]
    Gone,
    /// The verb panicked.
    #[error("the command failed by an error in Holdfast itself: {panic}")]
    Panicked {
        /// What it said.
        panic: String,
    },
    /// A program that a system serves, or a process that one has started, or has left behind.
    #[error(
        "operators' commands are not for programs: process {process} is one of a started system, \
         was started by one, or has ended"
    )]
    Guest {
        /// The program's process.
        process: u32,
    },
    /// A verb that whoever does not know the keys may not ask for.
    #[error("\"{verb}\" needs the passphrase of this very system, and that was not proven")]
    Unproven {
        /// The verb.
        verb: String,
    },
    /// Whoever listens asks for this command's files, and runs as another user.
    #[error(
        "the process that has the system open runs as user {server}, and asks for files of user \
         {caller}, who gives the command"
    )]
    Stranger {
        /// As whom it runs.
        server: u32,
        /// As whom the command runs.
        caller: u32,
    },
    /// The process that has the system open ended before it answered.
    #[error("the process that has the system open gave no result: {why}")]
    Broken {
        /// What was met.
        why: String,
    },
}

impl Coded for OperatorError {
    fn code(&self) -> Code {
        match self {
            OperatorError::NoRequest { .. } => Code("HFY020"),
            OperatorError::UnknownVerb { .. } => Code("HFY021"),
            OperatorError::Arguments { .. } => Code("HFY022"),
            OperatorError::Result { .. } => Code("HFY023"),
            OperatorError::Crowded => Code("HFY024"),
            OperatorError::Stopping => Code("HFY025"),
            OperatorError::Gone => Code("HFY026"),
            OperatorError::Panicked { .. } => Code("HFY027"),
            OperatorError::Broken { .. } => Code("HFY028"),
            OperatorError::Guest { .. } => Code("HFY029"),
            OperatorError::Unproven { .. } => Code("HFY030"),
            OperatorError::Stranger { .. } => Code("HFY042"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            OperatorError::NoRequest { .. } | OperatorError::Arguments { .. } => {
                "Use the commands of the Holdfast that has the system open.".into()
            }
            OperatorError::UnknownVerb { known, .. } => {
                format!("Use the Holdfast that has the system open; it does: {known}.")
            }
            OperatorError::Result { .. } => "Give files names that are text in UTF-8.".into(),
            OperatorError::Crowded => "Try again when one of them has ended.".into(),
            OperatorError::Stopping => "Start the system, then give the command again.".into(),
            OperatorError::Gone => "Give the command again.".into(),
            OperatorError::Panicked { .. } => {
                "Look at the system with `holdfast status`, and report the error.".into()
            }
            OperatorError::Guest { .. } => {
                "Give the command from a shell, or from a job that the program does not start."
                    .into()
            }
            OperatorError::Unproven { .. } => {
                "Use the Holdfast that has the system open, and check that the key file is the one \
                 that the system was started with: `holdfast verify` proves it."
                    .into()
            }
            OperatorError::Stranger { server, .. } => {
                format!(
                    "Give the command as user {server}: nobody else's files are touched for it."
                )
            }
            OperatorError::Broken { .. } => {
                "Look at the system with `holdfast status`, then give the command again: what was \
                 done until then is not lost."
                    .into()
            }
        }
    }
}
