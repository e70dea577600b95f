//! Subscriptions: those that are defined, and those of programs.

use axum::response::Response;
use queue_manager::QueueManager;
use queue_manager::objects::Kind;
use serde_json::Value;
use store::Store;

use super::queue::known;
use super::shape::{Filter, Row, Selection, Written, full, place, row};
use super::{is_meant, listed};
use crate::error::Problem;
use crate::request::Ask;
use Written::{Flag, Moment, Number, Text, Words};

/// Attributes of subscriptions.
pub(crate) const ROWS: &[Row] = &[
    row("destination.correlationId", "DESTCORL", Text),
    row("destination.isManaged", "DESTCLAS", Flag("MANAGED", "PROVIDED")),
    row("destination.name", "DEST", Text),
    row("destination.qmgrName", "DESTQMGR", Text),
    row("extended.deliverOnDemand", "REQONLY", Flag("YES", "NO")),
    row("general.expiry", "EXPIRY", Text),
    row("general.isDurable", "DURABLE", Flag("YES", "NO")),
    row("general.level", "SUBLEVEL", Number),
    row("general.type", "SUBTYPE", Words(&[("ADMIN", "administrative"), ("API", "api")])),
    row("general.usesCharacterWildcard", "WSCHEMA", Flag("CHAR", "TOPIC")),
    row("selector.value", "SELECTOR", Text),
    row("timestamps.altered", "ALTDATE", Moment("ALTTIME")),
    row("timestamps.created", "CRDATE", Moment("CRTIME")),
    row("topic.definedString", "TOPICSTR", Text),
    row("topic.name", "TOPICOBJ", Text),
    row("user.data", "USERDATA", Text),
    row("user.name", "SUBUSER", Text),
];

/// Subscriptions.
pub(crate) fn show<S: Store>(manager: &QueueManager<S>, ask: &Ask) -> Result<Response, Problem> {
    let places = known(ROWS);
    let selected = Selection::read("attributes", ask.query.get("attributes"), &places)?;
    let filter = Filter::read(ask.query.get("filter"), &places)?;
    let wanted = ask.query.get("id").map(str::to_ascii_lowercase);
    let mut found = Vec::new();
    for one in manager.subscriptions("*") {
        let id = base::hex::lower(&one.id);
        if !is_meant(ask, "subscriptionName", &one.name)
            || wanted.as_ref().is_some_and(|wanted| *wanted != id)
        {
            continue;
        }
        let object = manager.object(Kind::Subscription, &one.name);
        let mut all = object.map(|object| full(&object, ROWS)).unwrap_or_default();
        // What is known of a subscription of a program, too.
        place(&mut all, "general.isDurable", one.durable.into());
        place(&mut all, "destination.name", one.destination.text().into());
        place(&mut all, "user.name", one.user.clone().into());
        all.insert("id".into(), id.into());
        all.insert("name".into(), one.name.clone().into());
        all.insert("resolvedTopicString".into(), one.topic.clone().into());
        let all = Value::Object(all);
        if filter.as_ref().is_none_or(|filter| filter.holds(&all)) {
            found.push(selected.pruned(&all, &["id", "name", "resolvedTopicString"]));
        }
    }
    listed("subscription", ask.name("subscriptionName"), &found)
}
