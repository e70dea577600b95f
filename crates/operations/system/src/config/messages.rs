//! The section `[messages]`: the queue manager of a started system.

use serde::Deserialize;

use super::template::{Text, plain};

/// The section `[messages]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MessageSettings {
    /// Whether a started system is a queue manager, with the name of its folder in upper case.
    pub start: bool,
}

pub(super) fn write(text: &mut Text, messages: &MessageSettings) {
    let usual = MessageSettings::default();
    text.line("");
    text.line("# Messages: programs of the message queue interface, through libmqm_r.so.");
    text.line("[messages]");
    let start = (&messages.start, &usual.start);
    text.set("start", start, plain, "true: a started system is a queue manager");
}
