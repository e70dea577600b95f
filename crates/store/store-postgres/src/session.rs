//! A plain session with a PostgreSQL, for whoever keeps tables of its own there: the same
//! addresses, protection, passwords and patience as the store's.
//!
//! Invariants:
//! 1. The thread that calls drives the session. Every exchange ends within its time; one that does
//!    not leaves the session broken, and a broken one answers nothing any more.

use std::time::Duration;

use tokio_postgres::{Client, Error};

use crate::connection::{Wire, connect};
use crate::error::Fault;
use crate::history::History;
use crate::options::Address;

/// Why an exchange did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The session is gone, or there was no answer in time.
    #[error("{0}")]
    Lost(String),
    /// The server refused it.
    #[error("{message} (SQLSTATE {state})")]
    Refused {
        /// Its code.
        state: String,
        /// Its words.
        message: String,
    },
}

impl From<Error> for SessionError {
    fn from(error: Error) -> SessionError {
        match error.as_db_error() {
            // Others would lose their SQLSTATE on the way.
            Some(refusal) if !matches!(Fault::of(&error), Fault::Lost(_)) => {
                let (state, message) = (refusal.code().code().into(), refusal.message().into());
                SessionError::Refused { state, message }
            }
            _ => match Fault::of(&error) {
                Fault::Lost(why) => SessionError::Lost(why),
                _ => SessionError::Lost(error.to_string()),
            },
        }
    }
}

/// A session.
pub struct Session {
    wire: Wire,
    client: Client,
    broken: bool,
    answer_within: Duration,
}

impl Session {
    /// Connects to an address such as `postgres://me@host/database`.
    ///
    /// # Errors
    /// If the address is none, or nobody answers there.
    pub fn open(url: &str, answer_within: Duration) -> Result<Session, SessionError> {
        let address = Address::read(url).map_err(|error| SessionError::Refused {
            state: "08001".into(),
            message: error.to_string(),
        })?;
        let connected = connect(&address, answer_within, &History::default());
        let (wire, client, _) = connected.map_err(|fault| match fault {
            Fault::Refused { state, message } => SessionError::Refused { state, message },
            other => SessionError::Lost(other.into_error().to_string()),
        })?;
        let mut session = Session { wire, client, broken: false, answer_within };
        // No limit for statements: it would end the wait of a commit for a standby, too.
        let settings = format!(
            "SET client_min_messages TO warning; SET lock_timeout TO {}; SET bytea_output TO hex",
            answer_within.as_millis()
        );
        session.run(async |client| client.batch_execute(&settings).await)?;
        Ok(session)
    }

    /// Has `work` done over the session.
    ///
    /// # Errors
    /// What the server refuses; the loss of the session or of patience.
    pub fn run<T>(
        &mut self,
        work: impl AsyncFnOnce(&Client) -> Result<T, Error>,
    ) -> Result<T, SessionError> {
        if self.broken || self.client.is_closed() {
            return Err(SessionError::Lost("the session has ended".into()));
        }
        let within = self.answer_within + Duration::from_secs(2);
        let answer = self.wire.drive(within, work(&self.client));
        let Some(answer) = answer else {
            self.broken = true;
            return Err(SessionError::Lost(format!("no answer within {within:?}")));
        };
        let answer = answer.map_err(SessionError::from);
        self.broken |= matches!(answer, Err(SessionError::Lost(_)));
        answer
    }
}
