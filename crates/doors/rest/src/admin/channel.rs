//! Channels, as they are defined.

use axum::response::Response;
use queue_manager::QueueManager;
use queue_manager::objects::{Kind, Object};
use serde_json::Value;
use store::Store;

use super::queue::known;
use super::shape::{Filter, Row, Selection, Written, full, row};
use super::{is_meant, listed};
use crate::error::Problem;
use crate::request::Ask;
use Written::{Connections, Flag, Moment, Number, Text, Words};

/// The types of channels, as `CHLTYPE` has them.
pub(crate) const TYPES: &[(&str, &str)] = &[
    ("SDR", "sender"),
    ("SVR", "server"),
    ("RCVR", "receiver"),
    ("RQSTR", "requester"),
    ("CLUSSDR", "clusterSender"),
    ("CLUSRCVR", "clusterReceiver"),
    ("SVRCONN", "serverConnection"),
    ("CLNTCONN", "clientConnection"),
    ("AMQP", "amqp"),
];

/// Attributes of channels that are shown in groups, whatever the type.
pub(crate) const ROWS: &[Row] = &[
    row("batch.heartbeatInterval", "BATCHHB", Number),
    row("batch.messageLimit", "BATCHSZ", Number),
    row("batch.timeExtend", "BATCHINT", Number),
    row("batch.dataLimit", "BATCHLIM", Number),
    row("connectionManagement.disconnectInterval", "DISCINT", Number),
    row("connectionManagement.heartbeatInterval", "HBINT", Number),
    row("connectionManagement.localAddress", "LOCLADDR", Text),
    row("connectionManagement.longRetry.count", "LONGRTY", Number),
    row("connectionManagement.longRetry.interval", "LONGTMR", Number),
    row("connectionManagement.shortRetry.count", "SHORTRTY", Number),
    row("connectionManagement.shortRetry.interval", "SHORTTMR", Number),
    row("extended.sequenceNumberWrap", "SEQWRAP", Number),
    row("failedDelivery.useDeadLetterQueue", "USEDLQ", Flag("YES", "NO")),
    row("general.description", "DESCR", Text),
    row("general.maximumMessageLength", "MAXMSGL", Number),
    row("general.transportType", "TRPTYPE", Words(&[("TCP", "tcp"), ("LU62", "lu62")])),
    row("timestamps.altered", "ALTDATE", Moment("ALTTIME")),
    row("transmissionSecurity.certificateLabel", "CERTLABL", Text),
    row("transmissionSecurity.certificatePeerName", "SSLPEER", Text),
    row("transmissionSecurity.cipherSpecification", "SSLCIPH", Text),
];

/// What a channel shows always, under the name of its type.
pub(crate) const OWN: &[(Row, &[&str])] = &[
    (
        row("connection", "CONNAME", Connections),
        &["sender", "server", "requester", "clusterSender"],
    ),
    (row("transmissionQueueName", "XMITQ", Text), &["sender", "server"]),
];

fn type_of(object: &Object) -> &'static str {
    let word = object.text_of("CHLTYPE");
    TYPES.iter().find(|(known, _)| *known == word).map_or("serverConnection", |(_, shown)| shown)
}

/// Channels.
pub(crate) fn show<S: Store>(manager: &QueueManager<S>, ask: &Ask) -> Result<Response, Problem> {
    let places = known(ROWS);
    let selected = Selection::read("attributes", ask.query.get("attributes"), &places)?;
    let filter = Filter::read(ask.query.get("filter"), &places)?;
    let wanted = ask.query.get("type").filter(|wanted| *wanted != "all");
    if wanted.is_some_and(|wanted| TYPES.iter().all(|(_, shown)| *shown != wanted)) {
        let all: Vec<&str> = TYPES.iter().map(|(_, shown)| *shown).collect();
        return Err(Problem::parameter("type", format!("It takes all, {}.", all.join(", "))));
    }
    let kinds = [Kind::Channel, Kind::ClientChannel];
    let objects: Vec<Object> = kinds.into_iter().flat_map(|kind| manager.list(kind, "*")).collect();
    let mut found = Vec::new();
    for object in objects.iter().filter(|object| is_meant(ask, "channelName", &object.name)) {
        let kind = type_of(object);
        if wanted.is_some_and(|wanted| wanted != kind) {
            continue;
        }
        let mut all = full(object, ROWS);
        all.insert("name".into(), object.name.clone().into());
        all.insert("type".into(), kind.into());
        let own: Vec<Row> =
            OWN.iter().filter(|(_, of)| of.contains(&kind)).map(|(row, _)| *row).collect();
        if !own.is_empty() {
            all.insert(kind.into(), Value::Object(full(object, &own)));
        }
        let all = Value::Object(all);
        if filter.as_ref().is_none_or(|filter| filter.holds(&all)) {
            found.push(selected.pruned(&all, &["name", "type", kind]));
        }
    }
    listed("channel", ask.name("channelName"), &found)
}
