//! How a connect is answered, whatever it came by.

use queue_manager::reason::Answer;
use queue_manager::{Failed, ObjectName, Outcome, QueueManager, Reason};
use store::Store;

use crate::wire::codec::Writer;

/// What a queue manager says of itself to whoever connects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its name.
    pub name: String,
    /// Its identifier, which no other one has.
    pub identifier: String,
    /// Whether puts and gets that do not say so are in the unit of work.
    pub unit_is_default: bool,
}

impl About {
    /// What a queue manager of a store says.
    #[must_use]
    pub fn of<S: Store>(manager: &QueueManager<S>) -> About {
        About {
            name: manager.name().to_owned(),
            identifier: manager.identifier(),
            unit_is_default: manager.unit_is_default(),
        }
    }
}

/// The answer to a connect: what the queue manager says of itself, and the connection's number.
#[must_use]
pub fn welcome(about: &About, connected: Answer<u64>) -> Vec<u8> {
    let outcome = connected.map_or_else(Outcome::from, |_| Outcome::OK);
    let number = connected.unwrap_or_default();
    let mut fields = Writer::new();
    fields.number(outcome.completion as i32).number(outcome.reason.0);
    fields.bytes(about.name.as_bytes());
    fields.long(i64::try_from(number).unwrap_or_default());
    fields.bytes(about.identifier.as_bytes()).flag(about.unit_is_default);
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
