//! Administration: what is installed, queue managers, queues, channels, subscriptions, commands.
//!
//! | to understand | look at |
//! |---|---|
//! | attributes as JSON has them, selections, filters | `shape` |
//! | queues: shown, defined, changed, deleted | `queue` |
//! | channels, subscriptions | `channel`, `subscription` |
//! | commands, as text and as JSON | `command` |
//!
//! 1. What is shown of an object is made from the attribute tables of the queue manager; nothing
//!    is kept here.

pub(crate) mod channel;
pub(crate) mod command;
pub(crate) mod queue;
pub(crate) mod shape;
pub(crate) mod subscription;

use axum::http::StatusCode;
use axum::response::Response;
use mqsc::Console;
use mqsc::moment::date_and_time;
use queue_manager::QueueManager;
use serde_json::{Value, json};
use store::Store;

use self::shape::{Selection, moment};
use crate::error::{Problem, json_response};
use crate::request::Ask;

/// The only installation there is.
const INSTALLATION: &str = "Holdfast";

/// What the installation can be asked for.
const OF_INSTALLATION: &[&str] = &["extended.description", "extended.level"];
/// What a queue manager can be asked for.
const OF_MANAGER: &[&str] =
    &["extended.installationName", "extended.isDefaultQmgr", "extended.permitStandby"];
/// What its status can be asked for.
const OF_MANAGER_STATUS: &[&str] = &[
    "status.channelInitiatorState",
    "status.connectionCount",
    "status.ldapConnectionState",
    "status.publishSubscribeState",
    "status.started",
];

/// What is installed.
pub(crate) fn installations(ask: &Ask) -> Result<Response, Problem> {
    let name = ask.name("installationName");
    if !name.is_empty() && name != INSTALLATION {
        return Err(Problem::no_object("installation", name));
    }
    let selected = Selection::read("attributes", ask.query.get("attributes"), OF_INSTALLATION)?;
    let version = env!("CARGO_PKG_VERSION");
    let all = json!({
        "name": INSTALLATION,
        "platform": "unix",
        "version": version,
        "extended": {
            "description": "An open transaction platform",
            "level": format!("holdfast-{version}"),
        },
    });
    let one = selected.pruned(&all, &["name", "platform", "version"]);
    Ok(json_response(StatusCode::OK, &json!({ "installation": [one] })))
}

/// Queue managers, of which there is one.
pub(crate) fn managers<S: Store>(
    manager: &QueueManager<S>,
    ask: &Ask,
    opened_ms: u64,
) -> Result<Response, Problem> {
    let selected = Selection::read("attributes", ask.query.get("attributes"), OF_MANAGER)?;
    let status = Selection::read("status", ask.query.get("status"), OF_MANAGER_STATUS)?;
    let state = if manager.is_stopping() { "endingImmediately" } else { "running" };
    if ask.query.get("state").is_some_and(|wanted| wanted != state) {
        return Ok(json_response(StatusCode::OK, &json!({ "qmgr": [] })));
    }
    let field = |name: &str| status_field(manager, name).to_ascii_lowercase();
    let (date, time) = date_and_time(opened_ms);
    let enabled = manager
        .object(queue_manager::objects::Kind::QueueManager, manager.name())
        .is_none_or(|object| object.is("PSMODE", "ENABLED"));
    let all = json!({
        "name": manager.name(),
        "state": state,
        "extended": {
            "installationName": INSTALLATION,
            "isDefaultQmgr": true,
            "permitStandby": "notPermitted",
        },
        "status": {
            "channelInitiatorState": field("CHINIT"),
            "connectionCount": manager.connections().len(),
            "ldapConnectionState": "disconnected",
            "publishSubscribeState": if enabled { "running" } else { "inactive" },
            "started": moment(&date, &time),
        },
    });
    let one = selected.and(status).pruned(&all, &["name", "state"]);
    Ok(json_response(StatusCode::OK, &json!({ "qmgr": [one] })))
}

/// A field of the queue manager's status, as commands show it.
fn status_field<S: Store>(manager: &QueueManager<S>, name: &str) -> String {
    let answer = Console::new(manager).execute("DISPLAY QMSTATUS ALL");
    let mut fields = answer.replies.into_iter().flat_map(|reply| reply.fields);
    fields.find(|field| field.name == name).and_then(|field| field.value).unwrap_or_default()
}

/// Whether a name is meant: a whole one, or the beginning of one with `*` behind it.
pub(crate) fn is_meant(ask: &Ask, of_path: &str, name: &str) -> bool {
    use queue_manager::name::matches_generic;
    let exact = ask.name(of_path);
    let pattern = ask.query.get("name").unwrap_or("*");
    (exact.is_empty() || exact == name) && matches_generic(name, pattern)
}

/// What was found, under its name; an error if one was asked for by its path and is not there.
pub(crate) fn listed(what: &str, asked: &str, found: &[Value]) -> Result<Response, Problem> {
    if !asked.is_empty() && found.is_empty() {
        return Err(Problem::no_object(what, asked));
    }
    Ok(json_response(StatusCode::OK, &json!({ what: found })))
}
