//! REST: messages and administration of the queue manager over HTTP, versions 1 to 3 of the
//! interface, as clients know it.
//!
//! | to understand | look at |
//! |---|---|
//! | which resources there are | `resources`, and `openapi`, which describes them from that table |
//! | how a request goes through the door | `door`, `request`, `budget` |
//! | who may come in | [`Authenticator`], `authentication`, `token` |
//! | messages | `messaging`, `headers`, `properties` |
//! | administration | `admin` |
//! | what is told when something was not done | `error` |
//!
//! 1. Whatever a client sends is answered by a status and an error object, and nothing is done of a
//!    request that is wrong in any part.
//! 2. What waits for the queue manager waits in threads of its own, so many at a time; what waits
//!    for the network takes none.
//! 3. Bodies take a bounded amount of memory, each and all together.

mod admin;
mod authentication;
mod budget;
mod door;
mod error;
mod headers;
mod messaging;
mod openapi;
mod properties;
mod request;
mod resources;
mod token;

use serde_json::Value;

pub use authentication::Authenticator;
pub use door::{Door, Managers, Options};
pub use openapi::describe;

/// Reads any bytes as everything that a request can bring: for the fuzzer.
///
/// # Panics
/// If what was read and written again is something else.
pub fn read_anything(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (path, query) = text.split_once('?').unwrap_or((&text, ""));
    let _ = resources::lead("GET", path);
    let _ = request::Query::read(query);
    if let Some(decoded) = request::decoded(&text) {
        let again = request::decoded(&request::encoded(&decoded));
        assert_eq!(again, Some(decoded), "what was escaped is the same");
    }
    if let Ok(read) = properties::read(&text) {
        let all = read.iter().map(|(name, value)| queue_manager::properties::Property {
            name: name.clone(),
            value: value.clone(),
        });
        let written = properties::write(&all.collect::<Vec<_>>());
        let names_fit = read.iter().all(|(name, _)| name.is_ascii());
        let again = properties::read(&written);
        assert!(!names_fit || again == Ok(read), "properties are the same: {written}");
    }
    let Ok(body) = serde_json::from_slice::<Value>(bytes) else { return };
    if let Ok(command) = admin::command::read(&body) {
        let (admin::command::Command::Text(text) | admin::command::Command::Json(text)) = command;
        let _ = mqsc::command::Command::parse(&text);
    }
    if let Value::Object(body) = &body {
        let _ = admin::shape::given(body, admin::queue::ROWS, None);
    }
}
