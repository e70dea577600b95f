//! `DISPLAY` of how things are, and `RESET QSTATS`.
//!
//! 1. What is shown is a counter or a state that the queue manager has; an attribute that it has
//!    nothing for is blank, or is not there.
//! 2. Looking at a queue's status looks at no message.

use queue_manager::QueueManager;
use queue_manager::name::matches_generic;
use queue_manager::objects::{Kind, Object};
use queue_manager::options::value::open;
use queue_manager::status::{ConnectionStatus, HandleStatus, QueueStatus};
use store::Store;

use crate::command::Command;
use crate::define::not_found;
use crate::display::{Wanted, is_generic};
use crate::failure::{CommandError, Done};
use crate::moment::{date_and_time, if_any};
use crate::reply::{Field, MessageId, Reply};

const QUEUE_WORDS: &[&str] = &[
    "CURDEPTH", "CURFSIZE", "CURMAXFS", "IPPROCS", "LGETDATE", "LGETTIME", "LPUTDATE", "LPUTTIME",
    "MEDIALOG", "MONQ", "MSGAGE", "OPPROCS", "QTIME", "TYPE", "QUEUE", "UNCOM",
];
const HANDLE_WORDS: &[&str] = &[
    "APPLDESC", "APPLTAG", "APPLTYPE", "ASTATE", "BROWSE", "CHANNEL", "CONNAME", "HSTATE", "INPUT",
    "INQUIRE", "OUTPUT", "PID", "QMURID", "SET", "TID", "TYPE", "QUEUE", "URID", "URTYPE",
    "USERID",
];

pub(crate) fn queues<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let name = command.named()?.text.trim_end().to_owned();
    let of_type = command.keywords.word("TYPE", &["QUEUE", "HANDLE"])?;
    let wanted = Wanted::read(&mut command.keywords)?;
    let words = if of_type == Some("HANDLE") { HANDLE_WORDS } else { QUEUE_WORDS };
    wanted.check(&command.title, |keyword| words.contains(&keyword))?;
    let whole = !is_generic(&name);
    let mut local: Vec<Object> = match whole {
        false => manager.list(Kind::QueueLocal, &name),
        true => manager.object(Kind::QueueLocal, &name).into_iter().collect(),
    };
    local.retain(|queue| queue.kind == Kind::QueueLocal);
    let mut replies = Vec::new();
    for queue in &local {
        if of_type == Some("HANDLE") {
            let handles = manager.handles(Kind::QueueLocal, &queue.name);
            let connections = manager.connections();
            let rows = handles.iter().map(|handle| handle_fields(queue, handle, &connections));
            replies.extend(rows.filter(|row| wanted.holds(row)).map(|row| {
                let fields = wanted.select(row, 2, true);
                Reply::new(MessageId::done(8450), "Display queue status details.").with(fields)
            }));
            continue;
        }
        let Some(status) = manager.queue_status(&queue.name) else { continue };
        let row = queue_fields(queue, &status);
        if wanted.holds(&row) {
            let mut fields = wanted.select(row, 2, whole);
            if fields.len() == 2 {
                fields.push(Field::new("CURDEPTH", status.depth));
            }
            let text = "Display queue status details.";
            replies.push(Reply::new(MessageId::done(8450), text).with(fields));
        }
    }
    match replies.is_empty() {
        true if of_type == Some("HANDLE") && !local.is_empty() => {
            Err(CommandError::NoStatus { what: "Queue status", number: 8459 })
        }
        true => Err(not_found(Kind::QueueLocal, &name)),
        false => Ok(replies),
    }
}

fn queue_fields(queue: &Object, status: &QueueStatus) -> Vec<Field> {
    let (get_date, get_time) = if_any(status.statistics.last_get_ms);
    let (put_date, put_time) = if_any(status.statistics.last_put_ms);
    let mebibytes = status.bytes.div_ceil(1 << 20);
    let most = queue.text_of("MAXFSIZE");
    let times = match (status.statistics.time_short_us, status.statistics.time_long_us) {
        (0, 0) => " , ".to_owned(),
        (short, long) => format!("{}, {}", short.min(999_999_999), long.min(999_999_999)),
    };
    let age = status.message_age_s.map_or(0, |age| age.min(999_999_999));
    let uncommitted = if status.uncommitted > 0 { "YES" } else { "NO" };
    vec![
        Field::new("QUEUE", &queue.name),
        Field::new("TYPE", "QUEUE"),
        Field::new("CURDEPTH", status.depth),
        Field::new("CURFSIZE", mebibytes),
        Field::new("CURMAXFS", if most == "DEFAULT" { "" } else { most }),
        Field::new("IPPROCS", status.input_handles),
        Field::new("LGETDATE", get_date),
        Field::new("LGETTIME", get_time),
        Field::new("LPUTDATE", put_date),
        Field::new("LPUTTIME", put_time),
        Field::new("MEDIALOG", ""),
        Field::new("MONQ", queue.text_of("MONQ")),
        Field::new("MSGAGE", age),
        Field::new("OPPROCS", status.output_handles),
        Field::new("QTIME", times),
        Field::new("UNCOM", uncommitted),
    ]
}

fn yes(options: i32, bit: i32) -> &'static str {
    if options & bit != 0 { "YES" } else { "NO" }
}

fn handle_fields(
    queue: &Object,
    handle: &HandleStatus,
    connections: &[ConnectionStatus],
) -> Vec<Field> {
    let of = connections.iter().find(|one| one.connection == handle.connection);
    let text = |get: fn(&ConnectionStatus) -> String| of.map(get).unwrap_or_default();
    let input = match handle.options & open::ANY_INPUT {
        0 => "NO",
        bits if bits & open::INPUT_EXCLUSIVE != 0 => "EXCL",
        _ => "SHARED",
    };
    vec![
        Field::new("QUEUE", &queue.name),
        Field::new("TYPE", "HANDLE"),
        Field::new("APPLDESC", ""),
        Field::new("APPLTAG", &handle.application),
        Field::new("APPLTYPE", "USER"),
        Field::new("ASTATE", "NONE"),
        Field::new("BROWSE", yes(handle.options, open::BROWSE)),
        Field::new("CHANNEL", text(|one| one.options.channel.clone())),
        Field::new("CONNAME", text(|one| one.options.connection_name.clone())),
        Field::new("HSTATE", "ACTIVE"),
        Field::new("INPUT", input),
        Field::new("INQUIRE", yes(handle.options, open::INQUIRE)),
        Field::new("OUTPUT", yes(handle.options, open::OUTPUT)),
        Field::new("PID", text(|one| one.options.process.to_string())),
        Field::new("QMURID", ""),
        Field::new("SET", yes(handle.options, open::SET)),
        Field::new("TID", text(|one| one.options.thread.to_string())),
        Field::new("URID", ""),
        Field::new("URTYPE", "QMGR"),
        Field::new("USERID", &handle.user),
    ]
}

/// Shows what was counted since the last time, and begins again.
pub(crate) fn reset_queue<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let name = command.named()?.text.trim_end().to_owned();
    let end = command.keywords.rest();
    if let Some(word) = end.first() {
        return Err(crate::command::unknown(&command.title, word).into());
    }
    let queues = manager.list(Kind::QueueLocal, &name);
    let local = queues.iter().filter(|queue| queue.kind == Kind::QueueLocal);
    let replies: Vec<Reply> = local
        .filter_map(|queue| manager.reset_statistics(&queue.name))
        .map(|status| {
            let (date, time) = date_and_time(status.statistics.reset_ms);
            Reply::new(MessageId::done(8441), "Reset queue statistics.").with(vec![
                Field::new("QSTATS", &status.name),
                Field::new("HIQDEPTH", status.statistics.high_depth),
                Field::new("MSGSIN", status.statistics.puts),
                Field::new("MSGSOUT", status.statistics.gets),
                Field::new("RESETDA", date),
                Field::new("RESETTI", time),
            ])
        })
        .collect();
    match replies.is_empty() {
        true => Err(not_found(Kind::QueueLocal, &name)),
        false => Ok(replies),
    }
}

/// A connection's number as displays show it.
pub(crate) fn connection_name(number: u64) -> String {
    format!("{number:016X}")
}

const CONNECTION_WORDS: &[&str] = &[
    "APPLDESC", "APPLTAG", "APPLTYPE", "ASTATE", "CHANNEL", "CONNAME", "CONNOPTS", "EXTCONN",
    "EXTURID", "NID", "PID", "QMURID", "TID", "TYPE", "UOWLOG", "UOWLOGDA", "UOWLOGTI", "UOWSTATE",
    "UOWSTDA", "UOWSTTI", "URTYPE", "USERID", "OBJNAME", "OBJTYPE", "OPENOPTS", "HSTATE", "CONN",
];

pub(crate) fn connections<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let name = command.named()?.text.trim_end().to_owned();
    let of_type = command.keywords.word("TYPE", &["CONN", "HANDLE", "ALL", "*"])?;
    let outside = command.keywords.one_if_valued("EXTCONN")?;
    let wanted = Wanted::read(&mut command.keywords)?;
    wanted.check(&command.title, |keyword| CONNECTION_WORDS.contains(&keyword))?;
    let external = external_name(manager.name());
    let (shows_connection, shows_handles) = match of_type {
        Some("HANDLE") => (false, true),
        Some("ALL" | "*") => (true, true),
        _ => (true, false),
    };
    let mut replies = Vec::new();
    for one in manager.connections() {
        let number = connection_name(one.connection);
        let row = connection_fields(&number, &external, &one);
        let meant = matches_generic(&number, &name)
            && outside.as_ref().is_none_or(|other| matches_generic(&external, &other.text));
        if !meant || !wanted.holds(&row) {
            continue;
        }
        let reply =
            |fields| Reply::new(MessageId::done(8276), "Display Connection details.").with(fields);
        if shows_connection {
            replies.push(reply(wanted.select(row, 3, !is_generic(&name))));
        }
        for handle in one.handles.iter().filter(|_| shows_handles) {
            let fields = open_fields(&number, &external, handle);
            replies.push(reply(wanted.select(fields, 3, true)));
        }
    }
    match replies.is_empty() {
        true => Err(CommandError::NotFound { what: "Connection", name }),
        false => Ok(replies),
    }
}

/// What identifies connections of a queue manager outside of it.
fn external_name(manager: &str) -> String {
    let name = format!("{manager:12.12}");
    base::hex::upper(format!("AMQC{name}").as_bytes())
}

fn connection_fields(number: &str, external: &str, one: &ConnectionStatus) -> Vec<Field> {
    let (began_date, began_time) = if_any(one.unit_began_ms);
    let state = if one.unit_began_ms.is_some() { "ACTIVE" } else { "NONE" };
    vec![
        Field::new("CONN", number),
        Field::new("EXTCONN", external),
        Field::new("TYPE", "CONN"),
        Field::new("APPLDESC", ""),
        Field::new("APPLTAG", &one.options.application),
        Field::new("APPLTYPE", "USER"),
        Field::new("ASTATE", "NONE"),
        Field::new("CHANNEL", &one.options.channel),
        Field::new("CONNAME", &one.options.connection_name),
        Field::new("CONNOPTS", "MQCNO_STANDARD_BINDING"),
        Field::new("EXTURID", ""),
        Field::new("PID", one.options.process),
        Field::new("QMURID", ""),
        Field::new("TID", one.options.thread),
        Field::new("UOWLOG", ""),
        Field::new("UOWLOGDA", ""),
        Field::new("UOWLOGTI", ""),
        Field::new("UOWSTATE", state),
        Field::new("UOWSTDA", began_date),
        Field::new("UOWSTTI", began_time),
        Field::new("URTYPE", "QMGR"),
        Field::new("USERID", &one.options.user),
    ]
}

fn open_fields(number: &str, external: &str, handle: &HandleStatus) -> Vec<Field> {
    vec![
        Field::new("CONN", number),
        Field::new("EXTCONN", external),
        Field::new("TYPE", "HANDLE"),
        Field::new("HSTATE", "ACTIVE"),
        Field::new("OBJNAME", handle.object),
        Field::new("OBJTYPE", object_type(handle.object_type)),
        Field::new("OPENOPTS", open_options(handle.options)),
    ]
}

fn object_type(number: i32) -> &'static str {
    use queue_manager::options::value::object_type;
    match number {
        object_type::NAMELIST => "NAMELIST",
        object_type::PROCESS => "PROCESS",
        object_type::Q_MGR => "QMGR",
        object_type::TOPIC => "TOPIC",
        _ => "QUEUE",
    }
}

fn open_options(options: i32) -> String {
    let names = [
        (open::INPUT_AS_Q_DEF, "MQOO_INPUT_AS_Q_DEF"),
        (open::INPUT_SHARED, "MQOO_INPUT_SHARED"),
        (open::INPUT_EXCLUSIVE, "MQOO_INPUT_EXCLUSIVE"),
        (open::BROWSE, "MQOO_BROWSE"),
        (open::OUTPUT, "MQOO_OUTPUT"),
        (open::INQUIRE, "MQOO_INQUIRE"),
        (open::SET, "MQOO_SET"),
        (open::SAVE_ALL_CONTEXT, "MQOO_SAVE_ALL_CONTEXT"),
        (open::PASS_IDENTITY_CONTEXT, "MQOO_PASS_IDENTITY_CONTEXT"),
        (open::PASS_ALL_CONTEXT, "MQOO_PASS_ALL_CONTEXT"),
        (open::SET_IDENTITY_CONTEXT, "MQOO_SET_IDENTITY_CONTEXT"),
        (open::SET_ALL_CONTEXT, "MQOO_SET_ALL_CONTEXT"),
        (open::FAIL_IF_QUIESCING, "MQOO_FAIL_IF_QUIESCING"),
    ];
    let set = names.iter().filter(|(bit, _)| options & bit != 0).map(|(_, name)| *name);
    set.collect::<Vec<_>>().join(",")
}

pub(crate) fn manager<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let wanted = Wanted::read(&mut command.keywords)?;
    let runs = manager.channels().initiator().is_ok();
    let initiator = if runs { "RUNNING" } else { "STOPPED" };
    let row = vec![
        Field::new("QMNAME", manager.name()),
        Field::new("TYPE", "QMGR"),
        Field::new("STATUS", "RUNNING"),
        Field::new("CHINIT", initiator),
        Field::new("CONNS", manager.connections().len()),
    ];
    wanted.check(&command.title, |keyword| row.iter().any(|field| field.name == keyword))?;
    let text = "Display Queue Manager Status Details.";
    Ok(vec![Reply::new(MessageId::done(8705), text).with(wanted.select(row, 3, true))])
}

pub(crate) fn publish_subscribe<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let _ = command.keywords.word("TYPE", &["LOCAL", "ALL"])?;
    let wanted = Wanted::read(&mut command.keywords)?;
    let object = manager.object(Kind::QueueManager, manager.name());
    let enabled = object.is_none_or(|object| !object.is("PSMODE", "DISABLED"));
    let row = vec![
        Field::new("QMNAME", manager.name()),
        Field::new("TYPE", "LOCAL"),
        Field::new("STATUS", if enabled { "ACTIVE" } else { "INACTIVE" }),
        Field::new("SUBCOUNT", manager.subscriptions("*").len()),
    ];
    wanted.check(&command.title, |keyword| row.iter().any(|field| field.name == keyword))?;
    let text = "Display pub/sub status details.";
    Ok(vec![Reply::new(MessageId::done(8723), text).with(wanted.select(row, 2, true))])
}

pub(crate) fn subscriptions<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    const WORDS: &[&str] = &["SUB", "SUBID", "TOPICSTR", "DEST", "DURABLE", "NUMMSGS"];
    let name = command.named()?.text.trim_end().to_owned();
    let wanted = Wanted::read(&mut command.keywords)?;
    wanted.check(&command.title, |keyword| WORDS.contains(&keyword))?;
    let found = manager.subscriptions(&name);
    let replies: Vec<Reply> = found
        .iter()
        .map(|one| {
            vec![
                Field::new("SUB", &one.name),
                Field::new("SUBID", base::hex::upper(&one.id)),
                Field::new("DEST", one.destination),
                Field::new("DURABLE", if one.durable { "YES" } else { "NO" }),
                Field::new("NUMMSGS", one.messages),
                Field::new("TOPICSTR", &one.topic),
            ]
        })
        .filter(|row| wanted.holds(row))
        .map(|row| {
            let fields = wanted.select(row, 2, !is_generic(&name));
            Reply::new(MessageId::done(8099), "Display subscription status.").with(fields)
        })
        .collect();
    match replies.is_empty() {
        true => Err(not_found(Kind::Subscription, &name)),
        false => Ok(replies),
    }
}

/// The topics that were defined or subscribed to, with how many did.
pub(crate) fn topics<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    const WORDS: &[&str] = &["TOPICSTR", "ADMIN", "SUBCOUNT", "TYPE"];
    let name = command.named()?.text.trim_end().to_owned();
    let _ = command.keywords.word("TYPE", &["TOPIC"])?;
    let wanted = Wanted::read(&mut command.keywords)?;
    wanted.check(&command.title, |keyword| WORDS.contains(&keyword))?;
    let subscriptions = manager.subscriptions("*");
    let objects = manager.list(Kind::Topic, "*");
    let mut strings: Vec<&str> = objects.iter().map(|topic| topic.text_of("TOPICSTR")).collect();
    strings.extend(subscriptions.iter().map(|one| &*one.topic));
    strings.sort_unstable();
    strings.dedup();
    let matches = |topic: &str| match name.strip_suffix('#') {
        Some(prefix) => topic.starts_with(prefix.trim_end_matches('/')),
        None => matches_generic(topic, &name),
    };
    let found = strings.into_iter().filter(|topic| !topic.is_empty() && matches(topic));
    let replies: Vec<Reply> = found
        .map(|topic| {
            let object = objects.iter().find(|object| object.text_of("TOPICSTR") == topic);
            let count = subscriptions.iter().filter(|one| one.topic == topic).count();
            vec![
                Field::new("TOPICSTR", topic),
                Field::new("ADMIN", object.map_or("", |object| &*object.name)),
                Field::new("SUBCOUNT", count),
            ]
        })
        .filter(|row| wanted.holds(row))
        .map(|row| {
            let fields = wanted.select(row, 1, true);
            Reply::new(MessageId::done(8754), "Display topic status details.").with(fields)
        })
        .collect();
    match replies.is_empty() {
        true => Err(CommandError::NotFound { what: "Topic", name }),
        false => Ok(replies),
    }
}

/// Status of services: none of them runs here.
pub(crate) fn none_runs(command: &Command) -> Done {
    let name = command.named()?.text.trim_end().to_owned();
    Err(CommandError::NotFound { what: "Service status", name })
}
