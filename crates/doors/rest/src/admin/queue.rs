//! Queues: shown, defined, changed, deleted.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mqsc::moment::date_and_time;
use queue_manager::QueueManager;
use queue_manager::objects::{Kind, Object};
use queue_manager::options::value::open;
use queue_manager::status::{HandleStatus, QueueStatus};
use serde_json::{Map, Value, json};
use store::Store;

use super::shape::{Filter, Row, Selection, Written, full, given, moment, place, row};
use super::{is_meant, listed};
use crate::error::Problem;
use crate::request::{Ask, encoded};
use crate::resources::BASE;
use Written::{Flag, Moment, Number, Text, Words};

const AS_MANAGER: Written =
    Words(&[("QMGR", "asQmgr"), ("ON", "on"), ("OFF", "off"), ("NONE", "none")]);

/// Attributes of queues, of all kinds; a queue has those whose keywords its kind has.
pub(crate) const ROWS: &[Row] = &[
    row("alias.targetName", "TARGET", Text),
    row("alias.targetType", "TARGTYPE", Words(&[("QUEUE", "queue"), ("TOPIC", "topic")])),
    row(
        "applicationDefaults.clusterBind",
        "DEFBIND",
        Words(&[("OPEN", "onOpen"), ("NOTFIXED", "notFixed"), ("GROUP", "onGroup")]),
    ),
    row(
        "applicationDefaults.messagePersistence",
        "DEFPSIST",
        Words(&[("YES", "persistent"), ("NO", "nonPersistent")]),
    ),
    row("applicationDefaults.messagePriority", "DEFPRTY", Number),
    row(
        "applicationDefaults.messagePropertyControl",
        "PROPCTL",
        Words(&[
            ("ALL", "all"),
            ("COMPAT", "compatible"),
            ("FORCE", "force"),
            ("NONE", "none"),
            ("V6COMPAT", "version6Compatible"),
        ]),
    ),
    row(
        "applicationDefaults.putResponse",
        "DEFPRESP",
        Words(&[("SYNC", "synchronous"), ("ASYNC", "asynchronous")]),
    ),
    row(
        "applicationDefaults.readAhead",
        "DEFREADA",
        Words(&[("NO", "no"), ("YES", "yes"), ("DISABLED", "disabled")]),
    ),
    row("applicationDefaults.sharedInput", "DEFSOPT", Flag("SHARED", "EXCL")),
    row("cluster.name", "CLUSTER", Text),
    row("cluster.namelist", "CLUSNL", Text),
    row("cluster.transmissionQueueForChannelName", "CLCHNAME", Text),
    row("cluster.workloadPriority", "CLWLPRTY", Number),
    row(
        "cluster.workloadQueueUse",
        "CLWLUSEQ",
        Words(&[("QMGR", "asQmgr"), ("ANY", "any"), ("LOCAL", "local")]),
    ),
    row("cluster.workloadRank", "CLWLRANK", Number),
    row("dataCollection.accounting", "ACCTQ", AS_MANAGER),
    row(
        "dataCollection.monitoring",
        "MONQ",
        Words(&[
            ("QMGR", "asQmgr"),
            ("OFF", "off"),
            ("NONE", "none"),
            ("LOW", "low"),
            ("MEDIUM", "medium"),
            ("HIGH", "high"),
        ]),
    ),
    row("dataCollection.statistics", "STATQ", AS_MANAGER),
    row("events.depth.fullEnabled", "QDPMAXEV", Flag("ENABLED", "DISABLED")),
    row("events.depth.highEnabled", "QDPHIEV", Flag("ENABLED", "DISABLED")),
    row("events.depth.highPercentage", "QDEPTHHI", Number),
    row("events.depth.lowEnabled", "QDPLOEV", Flag("ENABLED", "DISABLED")),
    row("events.depth.lowPercentage", "QDEPTHLO", Number),
    row("events.serviceInterval.duration", "QSVCINT", Number),
    row("events.serviceInterval.highEnabled", "QSVCIEV", Flag("HIGH", "NONE")),
    row("events.serviceInterval.okEnabled", "QSVCIEV", Flag("OK", "NONE")),
    row("extended.allowSharedInput", "SHARE", Flag("SHARE", "NOSHARE")),
    row("extended.backoutRequeueQueueName", "BOQNAME", Text),
    row("extended.backoutThreshold", "BOTHRESH", Number),
    row("extended.custom", "CUSTOM", Text),
    row(
        "extended.enableMediaImageOperations",
        "IMGRCOVQ",
        Words(&[("QMGR", "asQmgr"), ("YES", "yes"), ("NO", "no")]),
    ),
    row("extended.hardenGetBackout", "HARDENBO", Flag("HARDENBO", "NOHARDENBO")),
    row("extended.supportDistributionLists", "DISTL", Flag("YES", "NO")),
    row("general.description", "DESCR", Text),
    row("general.inhibitGet", "GET", Flag("DISABLED", "ENABLED")),
    row("general.inhibitPut", "PUT", Flag("DISABLED", "ENABLED")),
    row("general.isTransmissionQueue", "USAGE", Flag("XMITQ", "NORMAL")),
    row("remote.qmgrName", "RQMNAME", Text),
    row("remote.queueName", "RNAME", Text),
    row("remote.transmissionQueueName", "XMITQ", Text),
    row("storage.maximumDepth", "MAXDEPTH", Number),
    row("storage.maximumMessageLength", "MAXMSGL", Number),
    row(
        "storage.messageDeliverySequence",
        "MSGDLVSQ",
        Words(&[("PRIORITY", "priority"), ("FIFO", "fifo")]),
    ),
    row(
        "storage.nonPersistentMessageClass",
        "NPMCLASS",
        Words(&[("NORMAL", "normal"), ("HIGH", "high")]),
    ),
    row("timestamps.altered", "ALTDATE", Moment("ALTTIME")),
    row("timestamps.created", "CRDATE", Moment("CRTIME")),
    row("trigger.data", "TRIGDATA", Text),
    row("trigger.depth", "TRIGDPTH", Number),
    row("trigger.enabled", "TRIGGER", Flag("TRIGGER", "NOTRIGGER")),
    row("trigger.initiationQueueName", "INITQ", Text),
    row("trigger.messagePriority", "TRIGMPRI", Number),
    row("trigger.processName", "PROCESS", Text),
    row(
        "trigger.type",
        "TRIGTYPE",
        Words(&[("NONE", "none"), ("FIRST", "first"), ("EVERY", "every"), ("DEPTH", "depth")]),
    ),
];

/// What the status can be asked for.
pub(crate) const STATUS: &[&str] = &[
    "status.currentDepth",
    "status.lastGet",
    "status.lastPut",
    "status.oldestMessageAge",
    "status.onQueueTime.longSamplePeriod",
    "status.onQueueTime.shortSamplePeriod",
    "status.openInputCount",
    "status.openOutputCount",
    "status.uncommittedMessages",
];

/// The types of queues, with their kinds.
pub(crate) const TYPES: [(&str, Kind); 4] = [
    ("local", Kind::QueueLocal),
    ("alias", Kind::QueueAlias),
    ("remote", Kind::QueueRemote),
    ("model", Kind::QueueModel),
];

fn kind_of(word: &str) -> Option<Kind> {
    TYPES.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind)
}

fn word_of(kind: Kind) -> &'static str {
    TYPES.iter().find(|(_, known)| *known == kind).map_or("local", |(word, _)| word)
}

/// The places of all attributes.
pub(crate) fn known(rows: &[Row]) -> Vec<&'static str> {
    rows.iter().map(|row| row.path).collect()
}

/// Queues.
pub(crate) fn show<S: Store>(manager: &QueueManager<S>, ask: &Ask) -> Result<Response, Problem> {
    let places = known(ROWS);
    let attributes = Selection::read("attributes", ask.query.get("attributes"), &places)?;
    let status = Selection::read("status", ask.query.get("status"), STATUS)?;
    let filter = Filter::read(ask.query.get("filter"), &[&places[..], STATUS].concat())?;
    let opened = ask.query.get("applicationHandle").is_some();
    let kinds: Vec<Kind> = match ask.query.get("type") {
        None | Some("all") => TYPES.iter().map(|(_, kind)| *kind).collect(),
        // There are no clusters.
        Some("cluster") => Vec::new(),
        Some(word) => {
            let why = "It takes all, local, alias, remote, cluster or model.";
            vec![kind_of(word).ok_or_else(|| Problem::parameter("type", why))?]
        }
    };
    let looks =
        !status.is_empty() || ask.query.get("filter").is_some_and(|f| f.starts_with("status."));
    let selected = attributes.and(status);
    let always = ["name", "type", "alias", "remote"];
    let mut objects: Vec<Object> =
        kinds.into_iter().flat_map(|kind| manager.list(kind, "*")).collect();
    objects.sort_by(|one, other| one.name.cmp(&other.name));
    let mut found = Vec::new();
    for object in objects.iter().filter(|object| is_meant(ask, "queueName", &object.name)) {
        let mut all = full(object, ROWS);
        all.insert("name".into(), object.name.clone().into());
        all.insert("type".into(), word_of(object.kind).into());
        if looks && let Some(status) = manager.queue_status(&object.name) {
            put_status(&mut all, &status);
        }
        let all = Value::Object(all);
        if filter.as_ref().is_some_and(|filter| !filter.holds(&all)) {
            continue;
        }
        let mut one = selected.pruned(&all, &always);
        if opened {
            let handles = manager.handles(object.kind, &object.name);
            one["applicationHandle"] = handles.iter().map(handle).collect();
        }
        found.push(one);
    }
    listed("queue", ask.name("queueName"), &found)
}

fn put_status(all: &mut Map<String, Value>, status: &QueueStatus) {
    let at = |ms: Option<u64>| {
        let (date, time) = ms.map_or_else(Default::default, date_and_time);
        moment(&date, &time)
    };
    let values: [(&str, Value); 9] = [
        ("status.currentDepth", status.depth.into()),
        ("status.lastGet", at(status.statistics.last_get_ms).into()),
        ("status.lastPut", at(status.statistics.last_put_ms).into()),
        ("status.oldestMessageAge", status.message_age_s.unwrap_or(0).into()),
        ("status.onQueueTime.longSamplePeriod", status.statistics.time_long_us.into()),
        ("status.onQueueTime.shortSamplePeriod", status.statistics.time_short_us.into()),
        ("status.openInputCount", status.input_handles.into()),
        ("status.openOutputCount", status.output_handles.into()),
        ("status.uncommittedMessages", status.uncommitted.into()),
    ];
    for (path, value) in values {
        place(all, path, value);
    }
}

fn handle(handle: &HandleStatus) -> Value {
    let words = [
        (open::INPUT_AS_Q_DEF, "MQOO_INPUT_AS_Q_DEF"),
        (open::INPUT_SHARED, "MQOO_INPUT_SHARED"),
        (open::INPUT_EXCLUSIVE, "MQOO_INPUT_EXCLUSIVE"),
        (open::BROWSE, "MQOO_BROWSE"),
        (open::OUTPUT, "MQOO_OUTPUT"),
        (open::INQUIRE, "MQOO_INQUIRE"),
        (open::SET, "MQOO_SET"),
        (open::FAIL_IF_QUIESCING, "MQOO_FAIL_IF_QUIESCING"),
    ];
    let options = words.iter().filter(|(bit, _)| handle.options & bit != 0);
    json!({
        "tag": handle.application,
        "userID": handle.user,
        "openOptions": options.map(|(_, word)| *word).collect::<Vec<_>>(),
    })
}

/// Name and type that a body says, and the rest of it.
type NamedBody<'b> = (Option<&'b str>, Option<Kind>, Map<String, Value>);

/// What a body says.
fn split(body: &Value) -> Result<NamedBody<'_>, Problem> {
    let Value::Object(all) = body else {
        return Err(Problem::body("It is an object with the attributes of a queue."));
    };
    let mut rest = all.clone();
    let mut text = |name: &str| match rest.remove(name) {
        None => Ok(()),
        Some(Value::String(_)) => Ok(()),
        Some(_) => Err(Problem::body(format!("{name}: It takes a string."))),
    };
    text("name")?;
    text("type")?;
    let name = all.get("name").and_then(Value::as_str);
    let kind = match all.get("type").and_then(Value::as_str) {
        None => None,
        Some(word) => {
            let why = "type: It takes local, alias, remote or model.";
            Some(kind_of(word).ok_or_else(|| Problem::body(why))?)
        }
    };
    Ok((name, kind, rest))
}

/// Defines a queue.
pub(crate) fn define<S: Store>(
    manager: &QueueManager<S>,
    ask: &Ask,
    body: &Value,
) -> Result<Response, Problem> {
    let (name, kind, rest) = split(body)?;
    let name = name.ok_or_else(|| Problem::body("It says no name."))?;
    let kind = kind.unwrap_or(Kind::QueueLocal);
    let replace = !ask.query.flag("noReplace")?;
    let given = given(&rest, ROWS, None)?;
    let like = ask.query.get("like");
    let done = manager.define(kind, name, &given, replace, like);
    done.map_err(|error| Problem::admin(&error, "queue", like.unwrap_or(name)))?;
    let path = format!("{BASE}v1/admin/qmgr/{}/queue/{}", encoded(manager.name()), encoded(name));
    let mut headers = HeaderMap::new();
    if let Ok(path) = HeaderValue::from_str(&path) {
        headers.insert(header::LOCATION, path);
    }
    Ok((StatusCode::CREATED, headers).into_response())
}

/// The queue that a path names.
fn named<S: Store>(manager: &QueueManager<S>, name: &str) -> Result<Object, Problem> {
    let found = manager.object(Kind::QueueLocal, name);
    found.ok_or_else(|| Problem::no_object("queue", name))
}

/// Changes a queue.
pub(crate) fn alter<S: Store>(
    manager: &QueueManager<S>,
    ask: &Ask,
    body: &Value,
) -> Result<Response, Problem> {
    ask.query.flag("force")?;
    let name = ask.name("queueName");
    let object = named(manager, name)?;
    let (named, kind, rest) = split(body)?;
    if named.is_some_and(|named| named != name) {
        return Err(Problem::body("name: A queue keeps its name."));
    }
    if kind.is_some_and(|kind| kind != object.kind) {
        return Err(Problem::body("type: A queue keeps its type."));
    }
    let given = given(&rest, ROWS, Some(&object))?;
    let done = manager.alter(object.kind, name, &given);
    done.map_err(|error| Problem::admin(&error, "queue", name))?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Deletes a queue.
pub(crate) fn delete<S: Store>(manager: &QueueManager<S>, ask: &Ask) -> Result<Response, Problem> {
    let purge = ask.query.flag("purge")?;
    ask.query.flag("keepAuthorityRecords")?;
    let name = ask.name("queueName");
    let object = named(manager, name)?;
    let done = manager.delete(object.kind, name, purge);
    done.map_err(|error| Problem::admin(&error, "queue", name))?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_an_attribute_has_its_value_and_comes_back() {
        for (_, kind) in TYPES {
            for attribute in kind.attributes() {
                let Some(row) = ROWS.iter().find(|row| row.keyword == attribute.name) else {
                    continue;
                };
                let queue_manager::objects::ValueKind::Word(words) = attribute.kind else {
                    continue;
                };
                for (word, _) in words {
                    let fits = match row.written {
                        Words(known) => known.iter().any(|(known, _)| known == word),
                        Flag(..) => {
                            let same = ROWS.iter().filter(|one| one.keyword == row.keyword);
                            let mut both = same.flat_map(|one| match one.written {
                                Flag(on, off) => [on, off],
                                _ => ["", ""],
                            });
                            both.any(|known| known == *word)
                        }
                        _ => false,
                    };
                    assert!(fits, "{} {word}", attribute.name);
                }
            }
        }
    }

    #[test]
    fn flags_of_one_attribute_do_not_undo_each_other() {
        let mut object = Object::new(Kind::QueueLocal, "A");
        object.set("QSVCIEV", &"OK".into()).unwrap();
        let body = |json: Value| match json {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let off = body(json!({ "events": { "serviceInterval": { "highEnabled": false } } }));
        assert!(given(&off, ROWS, Some(&object)).unwrap().is_empty());
        let both = json!({ "highEnabled": true, "okEnabled": true });
        let both = body(json!({ "events": { "serviceInterval": both } }));
        assert!(given(&both, ROWS, None).is_err());
        let one = json!({ "highEnabled": false, "okEnabled": true });
        let one = body(json!({ "events": { "serviceInterval": one } }));
        assert_eq!(given(&one, ROWS, None).unwrap(), [("QSVCIEV", "OK".into())]);
    }
}
