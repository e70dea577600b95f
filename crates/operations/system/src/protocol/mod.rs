//! What goes between an operator's command and a process that has a system open.
//!
//! What a command asks for is a [`Request`]: a verb and its arguments. It goes through a socket in
//! the system's folder (`client`, `server`) to whatever is [`Served`].
//!
//! | line | who | what |
//! |---|---|---|
//! | `{"verb": "...", "arguments": {...}}` | client | the request, one line |
//! | `{"prove": "..."}` | server | only for verbs that need it: a challenge, drawn for this one time |
//! | `{"proof": "..."}` | client | the challenge and the request, authenticated under the keys |
//! | `{"progress": {...}}` | server | any number: how far it is |
//! | `{"ask": {...}}` | server | a question of the verb, see `exchange` |
//! | `{"done": {...}}` | server | the result; the end |
//! | `{"error": {"code", "message", "advice"}}` | server | why there is none; the end |
//!
//! Invariants:
//! 1. Only the owner of the folder can connect: the socket has mode 0600 before it gets its name,
//!    and the kernel says who has come. Programs that the system serves, and whoever they start,
//!    are sent away.
//! 2. A client has a thread of its own: nobody waits for a slow one, and there are at most
//!    32 of them.
//! 3. A verb hears, at its next [`Talk::progress`], that its client is gone or the system is being
//!    stopped, and then ends as if it had failed. Closing a system waits for it.
//! 4. A verb that panics is told as an error, and nobody else notices.
//! 5. A socket that a dead process left behind is replaced by the next one to open the system.
//! 6. Neither the passphrase nor a key crosses the socket: who has to, proves that he knows it.

mod client;
mod error;
mod exchange;
pub(crate) mod line;
mod server;

use std::sync::Arc;
use std::time::Duration;

use seam::clock::Clock;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use client::{ask, call, call_and_answer, holder};
pub(crate) use client::{asked, served_by, unanswered, understood};
pub use error::{OperatorError, Refusal};
pub use exchange::{Asker, PAYLOAD_BYTES_MAX, Respond};
pub use line::{Answer, Ask, LINE_BYTES_MAX, Proven, REQUEST_BYTES_MAX};
pub use line::{read_answer, read_proof, read_request};
#[cfg(test)]
pub(crate) use server::PATIENCE;
pub(crate) use server::{Served, Server};

/// Commands that a system serves at once.
pub(crate) const CLIENTS_MAX: usize = 32;

/// The socket within a system's folder.
pub const SOCKET: &str = "operator.sock";

/// The code of a refusal that says that a request makes no sense for this system: wrong usage.
pub const USAGE: &str = "HFY101";

/// What a command asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The name of the verb.
    pub verb: String,
    /// What it is given: an object, or nothing.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub arguments: Value,
}

impl Request {
    /// A request without arguments.
    #[must_use]
    pub fn new(verb: &str) -> Request {
        Request { verb: verb.to_owned(), arguments: Value::Null }
    }

    /// The same with arguments.
    ///
    /// # Errors
    /// If they cannot be written as JSON: a path that is no text.
    pub fn with(self, arguments: &impl Serialize) -> Result<Request, Refusal> {
        let arguments = serde_json::to_value(arguments)
            .map_err(|error| OperatorError::Arguments { verb: self.verb.clone(), error })?;
        Ok(Request { arguments, ..self })
    }

    /// Its arguments as the verb wants them.
    ///
    /// # Errors
    /// If they are something else.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        let arguments = match &self.arguments {
            Value::Null => Value::Object(serde_json::Map::new()),
            given => given.clone(),
        };
        serde_json::from_value(arguments)
            .map_err(|error| OperatorError::Arguments { verb: self.verb.clone(), error }.into())
    }
}

/// How far long work is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// What is being worked on.
    pub object: String,
    /// How much of it is done.
    pub done: u64,
    /// How much there is; 0 if nobody knows.
    pub total: u64,
    /// What is counted.
    pub unit: String,
}

/// Who hears how far a verb is.
pub trait Listener {
    /// Takes what there is to say.
    ///
    /// # Errors
    /// [`OperatorError::Gone`], [`OperatorError::Stopping`]: the verb shall end.
    fn report_progress(&mut self, progress: &Progress) -> Result<(), OperatorError>;

    /// Whether the verb shall go on.
    ///
    /// # Errors
    /// As for [`Listener::report_progress`].
    fn check(&mut self) -> Result<(), OperatorError>;

    /// The way to ask the client; `None` for somebody in this process.
    fn asker(&self) -> Option<Asker> {
        None
    }
}

/// What a verb has besides the system: somebody who listens.
pub struct Talk<'a> {
    listener: &'a mut dyn Listener,
    clock: Arc<dyn Clock>,
    last: Option<Duration>,
}

/// Between two lines of progress.
const STEP: Duration = Duration::from_millis(100);

impl<'a> Talk<'a> {
    pub(crate) fn new(listener: &'a mut dyn Listener, clock: &Arc<dyn Clock>) -> Talk<'a> {
        Talk { listener, clock: Arc::clone(clock), last: None }
    }

    /// Says how far the work is, as often as it likes: ten times a second somebody is told.
    ///
    /// # Errors
    /// The verb shall end: nobody wants its result, or the system is being stopped.
    pub fn progress(
        &mut self,
        object: &str,
        done: u64,
        total: u64,
        unit: &str,
    ) -> Result<(), Refusal> {
        let now = self.clock.monotonic();
        if self.last.is_some_and(|last| now.saturating_sub(last) < STEP) {
            return Ok(());
        }
        self.last = Some(now);
        let (object, unit) = (object.to_owned(), unit.to_owned());
        self.listener.report_progress(&Progress { object, done, total, unit })?;
        self.check()
    }

    /// The way to ask the client for what only it may touch.
    ///
    /// # Errors
    /// If nobody who could answer has asked for the verb.
    pub fn asker(&self) -> Result<Asker, Refusal> {
        self.listener.asker().ok_or_else(|| OperatorError::Gone.into())
    }

    /// Whether the verb shall go on, for one that has nothing to say.
    ///
    /// # Errors
    /// As for [`Talk::progress`].
    pub fn check(&mut self) -> Result<(), Refusal> {
        Ok(self.listener.check()?)
    }
}

/// The result of a verb as it goes to whoever asked.
///
/// # Errors
/// If it cannot be written as JSON.
pub fn done(result: &impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(result).map_err(|error| OperatorError::Result { error }.into())
}

/// Somebody in this process, who is there until it ends.
pub(crate) struct Here<'a>(pub(crate) &'a mut dyn FnMut(&Progress));

impl Listener for Here<'_> {
    fn report_progress(&mut self, progress: &Progress) -> Result<(), OperatorError> {
        (self.0)(progress);
        Ok(())
    }

    fn check(&mut self) -> Result<(), OperatorError> {
        Ok(())
    }
}
