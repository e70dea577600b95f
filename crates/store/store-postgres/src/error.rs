//! What an engine or the way to it answers, in the store's words.

use base::{Code, Coded};
use store::{CommitToken, SetId, StoreError};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Why an exchange with the engine did not do what was asked.
#[derive(Debug)]
pub(crate) enum Fault {
    /// No answer will come: the connection is gone, or the time is over.
    Lost(String),
    /// The engine cannot place the transaction in one order with the others.
    Retry(String),
    /// What the unit of work has read has changed.
    Changed(String),
    /// The engine's other users have ended this system, or the engine has forgotten it.
    Fenced(String),
    /// A set that was written is gone.
    NoSet(SetId),
    /// The engine lacks the last commits of so many lanes, which it has confirmed.
    Unconfirmed(i64),
    /// Anything else that the engine answers.
    Refused { state: String, message: String },
}

impl Fault {
    pub(crate) fn of(error: &Error) -> Fault {
        let Some(refusal) = error.as_db_error() else { return Fault::Lost(whole(error)) };
        let (code, message) = (refusal.code(), refusal.message().to_owned());
        match code.code() {
            "HF001" => return Fault::Fenced(message),
            "HF002" => return Fault::NoSet(SetId(message.parse().unwrap_or(0))),
            "HF003" => return Fault::Changed(message),
            _ => (),
        }
        match *code {
            SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => {
                Fault::Retry(message)
            }
            // These end the session, whatever it was about to answer.
            SqlState::ADMIN_SHUTDOWN
            | SqlState::CRASH_SHUTDOWN
            | SqlState::CANNOT_CONNECT_NOW
            | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => Fault::Lost(message),
            _ => Fault::Refused { state: code.code().into(), message },
        }
    }

    /// The fault as the answer to a call that is no commit.
    pub(crate) fn into_error(self) -> StoreError {
        match self {
            Fault::Lost(why) => StoreError::Unavailable(why.into()),
            Fault::Retry(why) | Fault::Changed(why) => StoreError::Conflict(why.into()),
            Fault::Fenced(why) => StoreError::Unavailable(
                format!("this system was ended by the engine, and its locks with it: {why}").into(),
            ),
            Fault::NoSet(set) => StoreError::NoSuchSet(set),
            Fault::Unconfirmed(lanes) => StoreError::beneath(EngineError::Unconfirmed { lanes }),
            Fault::Refused { state, message } => match state.as_str() {
                "53100" => StoreError::NoSpace(format!("the engine: {message}").into()),
                // Out of memory or connections, a statement or a lock that took too long, a
                // standby that has not become the leader yet.
                "53000" | "53200" | "53300" | "53400" | "57014" | "55P03" | "25006" => {
                    StoreError::Unavailable(format!("{message} (SQLSTATE {state})").into())
                }
                _ => StoreError::beneath(EngineError::Refused { state, message }),
            },
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::of(&error)
    }
}

/// The error of an answer that is not what was asked for.
#[allow(clippy::needless_pass_by_value)] // for map_err
pub(crate) fn strange(error: Error) -> StoreError {
    Fault::of(&error).into_error()
}

/// An error with everything that stands behind it.
fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// What only this implementation meets.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The engine refused a statement for a reason that the store has no word for.
    #[error("the engine refused a statement (SQLSTATE {state}): {message}")]
    Refused {
        /// The engine's code.
        state: String,
        /// Its words.
        message: String,
    },
    /// The address of the engine is none.
    #[error("the address of the engine is not usable: {0}")]
    Address(String),
    /// The certificates for TLS cannot be used.
    #[error("TLS to the engine cannot be set up: {0}")]
    Tls(String),
    /// The schema holds something else, or the work of another release.
    #[error("schema {schema} is no store of this release: {why}")]
    Foreign {
        /// The schema.
        schema: String,
        /// What was found in it.
        why: String,
    },
    /// What became of a commit was asked too late, or of another store.
    #[error("the engine no longer knows of the commit with token {0}")]
    Forgotten(CommitToken),
    /// The engine has lost what it had confirmed.
    #[error(
        "the engine has lost units of work that it had confirmed: the last commits of {lanes} \
         connections of this system are not there any more"
    )]
    Unconfirmed {
        /// Of how many connections.
        lanes: i64,
    },
    /// The keys that seal what leaves the process are not to be had.
    #[error("the keys for the engine's entries cannot be had: {0}")]
    Keys(String),
}

impl Coded for EngineError {
    fn code(&self) -> Code {
        Code(match self {
            EngineError::Refused { .. } => "HFG001",
            EngineError::Address(_) => "HFG002",
            EngineError::Tls(_) => "HFG003",
            EngineError::Foreign { .. } => "HFG004",
            EngineError::Keys(_) => "HFG005",
            EngineError::Forgotten(_) => "HFG006",
            EngineError::Unconfirmed { .. } => "HFG007",
        })
    }

    fn remedy(&self) -> String {
        match self {
            EngineError::Refused { .. } => {
                "Look the SQLSTATE up in the engine's manual; its log may say more."
            }
            EngineError::Address(_) => "Write it as postgres://USER@HOST:PORT/DATABASE.",
            EngineError::Tls(_) => {
                "Name the file of the certification authority with sslrootcert, in PEM."
            }
            EngineError::Foreign { .. } => "Name another schema, or use the release that made it.",
            EngineError::Forgotten(_) => {
                "Look at the entries that the unit of work changed: they tell what became of it."
            }
            EngineError::Unconfirmed { .. } => {
                "Stop all systems on the engine. A node that led before may still have what is \
                 missing: keep its data. Once the engine has the data that you want, start again: \
                 a system asks only for what was confirmed to it since its start."
            }
            EngineError::Keys(_) => "Look at the key file and its label.",
        }
        .into()
    }
}
