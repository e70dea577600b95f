//! Tables of client channels: JSON, as `channel` objects have it.
//!
//! ```json
//! { "channel": [ { "name": "TO.QM1", "type": "clientConnection",
//!     "clientConnection": { "connection": [ { "host": "qm1.example", "port": 1414 } ],
//!                           "queueManager": "QM1" },
//!     "transmissionSecurity": { "cipherSpecification": "ANY_TLS13",
//!                               "certificatePeerName": "CN=qm1*" } } ] }
//! ```
//!
//! 1. A program that asks for `*NAME` gets a channel whose `queueManager` is NAME, to whichever
//!    queue manager is there. One that names none gets a channel that names none.
//! 2. Other attributes are passed over. Binary tables are refused.

use std::path::Path;

use mqi::address::Place;
use queue_manager::Reason;
use serde_json::Value;

use super::definition::Definition;
use super::reconnection::Wish;

/// The port that a connection without one means.
const PORT: u64 = 1414;
/// The longest table.
const TABLE_BYTES_MAX: u64 = 16 << 20;

/// The ways to a queue manager of that name that a table has.
#[allow(clippy::disallowed_methods)] // people's files are no part of a system
pub(super) fn read(file: &Path, name: &str) -> Result<Vec<Definition>, Reason> {
    // A table that cannot be read leads nowhere.
    let length = std::fs::metadata(file).map_err(|_| Reason::Q_MGR_NOT_AVAILABLE)?.len();
    if length > TABLE_BYTES_MAX {
        return Err(Reason::CHANNEL_CONFIG_ERROR);
    }
    let bytes = std::fs::read(file).map_err(|_| Reason::Q_MGR_NOT_AVAILABLE)?;
    of_bytes(&bytes, name)
}

fn of_bytes(bytes: &[u8], name: &str) -> Result<Vec<Definition>, Reason> {
    let table: Value = serde_json::from_slice(bytes).map_err(|_| Reason::CHANNEL_CONFIG_ERROR)?;
    let channels = table["channel"].as_array().ok_or(Reason::CHANNEL_CONFIG_ERROR)?;
    let mut found = Vec::new();
    for channel in channels.iter().filter(|channel| is_of_client(channel)) {
        let manager = channel["clientConnection"]["queueManager"].as_str().unwrap_or_default();
        if manager.trim() != name.trim_start_matches('*') {
            continue;
        }
        let mut definition = definition(channel).ok_or(Reason::CHANNEL_CONFIG_ERROR)?;
        definition.any_manager = name.starts_with('*');
        found.push(definition);
    }
    if found.is_empty() { Err(Reason::Q_MGR_NAME_ERROR) } else { Ok(found) }
}

fn is_of_client(channel: &Value) -> bool {
    channel["type"].as_str().is_none_or(|of_type| of_type == "clientConnection")
}

fn definition(channel: &Value) -> Option<Definition> {
    let text = |value: &Value| value.as_str().unwrap_or_default().trim().to_owned();
    let mut definition = Definition::new(channel["name"].as_str()?, "none")?;
    let places = channel["clientConnection"]["connection"].as_array()?.iter().map(|one| {
        let port = match &one["port"] {
            Value::Null => PORT,
            port => port.as_u64()?,
        };
        let host = one["host"].as_str().filter(|host| !host.trim().is_empty())?;
        Some(Place { host: host.trim().to_owned(), port: u16::try_from(port).ok()? })
    });
    definition.places = places.collect::<Option<Vec<_>>>().filter(|all| !all.is_empty())?;
    let security = &channel["transmissionSecurity"];
    definition.cipher = text(&security["cipherSpecification"]);
    definition.peer_name = text(&security["certificatePeerName"]);
    let heartbeat = channel["connectionManagement"]["heartbeatInterval"].as_i64();
    if let Some(heartbeat) = heartbeat.and_then(|beat| i32::try_from(beat).ok()) {
        definition.heartbeat_s = heartbeat;
    }
    let reconnects = channel["connectionManagement"]["defaultReconnect"].as_str();
    definition.reconnects = reconnects.map(Wish::of_word).transpose().ok()?;
    Some(definition)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"{ "channel": [
        { "name": "A", "type": "clientConnection", "clientConnection": { "queueManager": "QM1",
          "connection": [ { "host": "one", "port": 1 }, { "host": "two" } ] },
          "transmissionSecurity": { "cipherSpecification": "ANY_TLS13",
                                    "certificatePeerName": "CN=x" } },
        { "name": "B", "type": "serverConnection" },
        { "name": "C", "clientConnection": { "queueManager": "GROUP",
          "connection": [ { "host": "three", "port": 3 } ] } },
        { "name": "D", "clientConnection": { "connection": [ { "host": "four" } ] } }
    ] }"#;

    #[test]
    fn channels_are_found_by_the_queue_manager_they_lead_to() {
        let found = |name: &str| of_bytes(TABLE.as_bytes(), name).unwrap();
        let one = &found("QM1")[0];
        assert_eq!((&*one.channel, &*one.cipher, &*one.peer_name), ("A", "ANY_TLS13", "CN=x"));
        assert_eq!(one.places[1], Place { host: "two".into(), port: 1414 });
        assert!(!one.any_manager);
        assert!(found("*GROUP")[0].any_manager && found("*GROUP")[0].channel == "C");
        assert_eq!(found("")[0].channel, "D");
        let none = of_bytes(TABLE.as_bytes(), "QM9");
        assert_eq!(none, Err(Reason::Q_MGR_NAME_ERROR));
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let broken = TABLE.replace("\"port\": 1 ", "\"port\": 70000 ");
        for wrong in ["", "AMQR\u{1}", "{}", "[]", "{\"channel\":[{\"name\":\"\"}]}", &broken] {
            assert!(of_bytes(wrong.as_bytes(), "QM1").is_err(), "{wrong}");
        }
    }
}
