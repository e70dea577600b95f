//! Commands that do something to messages, connections and the queue manager itself.
//!
//! 1. What this queue manager does not have is refused with the reason; nothing is pretended.

use queue_manager::objects::Kind;
use queue_manager::{AdminError, QueueManager};
use store::Store;

use crate::channels;
use crate::command::{Command, Target, Verb};
use crate::define::{find, not_found, noun};
use crate::error::SyntaxError;
use crate::failure::{CommandError, Done};
use crate::reply::{MessageId, Reply};
use crate::status::connection_name;

fn done(number: u16, text: impl Into<String>) -> Done {
    Ok(vec![Reply::new(MessageId::done(number), text)])
}

pub(crate) fn run<S: Store>(manager: &QueueManager<S>, command: Command) -> Done {
    match (command.verb, command.target) {
        (Verb::Clear, Target::Object(Kind::QueueLocal)) => clear(manager, &command),
        (Verb::Move, Target::Object(Kind::QueueLocal)) => move_messages(manager, command),
        (Verb::Ping, Target::Object(Kind::QueueManager)) => {
            command.keywords.end()?;
            done(8415, "Ping Queue Manager command complete.")
        }
        (Verb::Refresh, Target::Object(Kind::QueueManager)) => refresh(manager, command),
        (Verb::Refresh, Target::Security) => refresh_security(command),
        (Verb::Stop, Target::Connection) => stop_connection(manager, &command),
        (
            Verb::Start | Verb::Stop | Verb::Ping | Verb::Reset | Verb::Resolve,
            Target::Object(Kind::Channel),
        ) => channels::run(manager, command),
        (Verb::Start | Verb::Stop, Target::Object(Kind::Listener)) => {
            channels::listener(manager, &command)
        }
        (_, Target::Object(Kind::Service)) => not_running(manager, &command),
        (Verb::Start | Verb::Stop, Target::Object(Kind::QueueManager)) => {
            refused(&command, "a system starts and stops with holdfast start and holdfast stop")
        }
        (Verb::Clear, Target::TopicString) => clear_topic(manager, command),
        _ => refused(&command, "this queue manager keeps everything in the system's own store"),
    }
}

fn refused(command: &Command, why: &'static str) -> Done {
    Err(CommandError::NotProvided { command: command.title.clone(), why })
}

fn clear<S: Store>(manager: &QueueManager<S>, command: &Command) -> Done {
    let name = command.named()?.text.trim_end().to_owned();
    command.keywords.end()?;
    let queue =
        find(manager, Kind::QueueLocal, &name).ok_or_else(|| not_found(Kind::QueueLocal, &name))?;
    manager.clear(&queue.name)?;
    done(8022, "Queue cleared.")
}

fn clear_topic<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let topic = command.named()?.text.clone();
    let what = command.keywords.word("CLRTYPE", &["RETAINED"])?;
    let _ = command.keywords.word("SCOPE", &["LOCAL"])?;
    command.keywords.end()?;
    if what.is_none() {
        let (command, end) = (command.title.clone(), command.keywords.end_of_text());
        return Err(SyntaxError::Missing { command, keyword: "CLRTYPE", end }.into());
    }
    let cleared = manager.clear_retained(&topic).map_err(|failed| AdminError::Call {
        kind: Kind::Topic,
        name: topic,
        reason: failed.0,
    })?;
    let outcome = if cleared { "Retained publication cleared." } else { "There was none." };
    done(8022, outcome)
}

fn move_messages<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let from = command.named()?.text.trim_end().to_owned();
    let to = command.keywords.one("TOQLOCAL")?;
    let way = command.keywords.word("TYPE", &["MOVE", "ADD"])?;
    command.keywords.end()?;
    let Some(to) = to else {
        let (command, end) = (command.title.clone(), command.keywords.end_of_text());
        return Err(SyntaxError::Missing { command, keyword: "TOQLOCAL", end }.into());
    };
    for name in [&from, &to.text] {
        let found = find(manager, Kind::QueueLocal, name);
        found.ok_or_else(|| not_found(Kind::QueueLocal, name))?;
    }
    let count = manager.move_messages(&from, to.text.trim_end(), way == Some("ADD"))?;
    done(8023, format!("{count} messages moved."))
}

fn refresh<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let types = ["EXPIRY", "CONFIGEV", "EARLY", "PROXYSUB", "STATISTICS"];
    let of_type = command.keywords.word("TYPE", &types)?;
    match of_type {
        Some("EXPIRY") => {
            command.keywords.end()?;
            let count = manager.expire();
            done(8005, format!("{count} messages have expired."))
        }
        Some("CONFIGEV") => refresh_configuration(manager, command),
        None => {
            let (command, end) = (command.title.clone(), command.keywords.end_of_text());
            Err(SyntaxError::Missing { command, keyword: "TYPE", end }.into())
        }
        Some(_) => refused(&command, "TYPE(EXPIRY) and TYPE(CONFIGEV) have something to refresh"),
    }
}

/// Kinds of objects whose configuration can be told anew.
const REFRESHED: [(&str, Option<Kind>); 14] = [
    ("ALL", None),
    ("QMGR", Some(Kind::QueueManager)),
    ("QLOCAL", Some(Kind::QueueLocal)),
    ("QALIAS", Some(Kind::QueueAlias)),
    ("QREMOTE", Some(Kind::QueueRemote)),
    ("QMODEL", Some(Kind::QueueModel)),
    ("TOPIC", Some(Kind::Topic)),
    ("PROCESS", Some(Kind::Process)),
    ("NAMELIST", Some(Kind::Namelist)),
    ("CHANNEL", Some(Kind::Channel)),
    ("LISTENER", Some(Kind::Listener)),
    ("SERVICE", Some(Kind::Service)),
    ("STGCLASS", Some(Kind::StorageClass)),
    ("AUTHINFO", Some(Kind::AuthenticationInformation)),
];

fn refresh_configuration<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let kind = command.keywords.word("OBJECT", &REFRESHED.map(|(word, _)| word))?;
    let pattern = command.keywords.one("NAME")?;
    command.keywords.end()?;
    let known = REFRESHED.iter().find(|(word, _)| Some(*word) == kind);
    let manager_object = manager.object(Kind::QueueManager, manager.name());
    if !manager_object.is_some_and(|object| object.is("CONFIGEV", "ENABLED")) {
        return refused(&command, "CONFIGEV of the queue manager is DISABLED");
    }
    let pattern = pattern.as_ref().map_or("*", |value| value.text.trim_end());
    let count = manager.tell_configuration(known.and_then(|(_, kind)| *kind), pattern);
    done(8005, format!("{count} objects were told of."))
}

fn refresh_security(mut command: Command) -> Done {
    let _ = command.keywords.word("TYPE", &["AUTHSERV", "CONNAUTH", "SSL", "CLASSES"])?;
    command.keywords.end()?;
    // Authority is looked up in what is defined, each time: nothing is kept that could be stale.
    done(8560, "Security cache refreshed.")
}

fn stop_connection<S: Store>(manager: &QueueManager<S>, command: &Command) -> Done {
    let name = command.named()?.text.trim_end().to_owned();
    command.keywords.end()?;
    let all = manager.connections();
    let meant = all.iter().find(|one| connection_name(one.connection) == name);
    let broken = meant.is_some_and(|one| manager.break_connection(one.connection));
    match broken {
        true => done(8457, "Stop connection command accepted."),
        false => Err(CommandError::NotFound { what: "Connection", name }),
    }
}

/// Services are kept as they are defined; none of them runs.
fn not_running<S: Store>(manager: &QueueManager<S>, command: &Command) -> Done {
    let name = command.named()?.text.trim_end();
    if find(manager, Kind::Service, name).is_none() {
        let (what, name) = (noun(Kind::Service), name.to_owned());
        return Err(CommandError::NotFound { what, name });
    }
    refused(command, "programs are started by regions and by trigger monitors")
}
