//! How a connect is answered, whatever it came by.

use queue_manager::reason::Answer;
use queue_manager::{Failed, ObjectName, Outcome, Reason};

use crate::wire::codec::Writer;

/// The answer to a connect: the queue manager's name, and the connection's number.
#[must_use]
pub fn welcome(name: &str, connected: Answer<u64>) -> Vec<u8> {
    let outcome = connected.map_or_else(Outcome::from, |_| Outcome::OK);
    let number = connected.unwrap_or_default();
    let mut fields = Writer::new();
    fields.number(outcome.completion as i32).number(outcome.reason.0).bytes(name.as_bytes());
    fields.long(i64::try_from(number).unwrap_or_default());
    fields.into_bytes()
}

/// Whether a program asks for the queue manager of that name, or for any.
///
/// # Errors
/// `Q_MGR_NAME_ERROR`, if it asks for another one.
pub fn is_asked_for(asked: &ObjectName, name: &str) -> Answer<()> {
    let asked = asked.text();
    let asked = asked.trim_start_matches('*');
    if asked.is_empty() || asked == name { Ok(()) } else { Err(Failed(Reason::Q_MGR_NAME_ERROR)) }
}
