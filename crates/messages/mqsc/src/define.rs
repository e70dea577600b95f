//! `DEFINE`, `ALTER`, `DELETE`.
//!
//! 1. What a definition does not say, it takes from the object that `LIKE` names, or from the
//!    default object of its kind; what `ALTER` does not say, stays.
//! 2. `DEFINE ... REPLACE` of an object that is there changes its attributes as if it were new.
//!    What it keeps are its messages, and what no definition sets.
//! 3. What makes an object what it is, such as a channel's type, can be said again, but not
//!    changed.

use queue_manager::objects::{Access, Kind, Object};
use queue_manager::{AdminError, QueueManager};
use store::Store;

use crate::attributes::{Given, assign, has};
use crate::channel;
use crate::command::{Command, Keywords, Verb, unknown};
use crate::error::SyntaxError;
use crate::failure::{CommandError, Done};
use crate::reply::{MessageId, Reply};
use crate::syntax::{Value, Word};

/// What messages call an object of a kind.
pub(crate) fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::QueueManager => "Queue manager",
        Kind::Topic => "Topic",
        Kind::Subscription => "Subscription",
        Kind::Process => "Process",
        Kind::Namelist => "Namelist",
        Kind::Channel | Kind::ClientChannel => "Channel",
        Kind::Listener => "Listener",
        Kind::Service => "Service",
        Kind::StorageClass => "Storage class",
        Kind::PageSet => "Page set",
        Kind::BufferPool => "Buffer pool",
        Kind::AuthenticationInformation => "Authentication information",
        Kind::ChannelAuthority => "Channel authentication record",
        Kind::AuthorityRecord => "Authority record",
        _ => "Queue",
    }
}

/// The messages for created, changed, deleted.
fn numbers(kind: Kind) -> [u16; 3] {
    match kind {
        Kind::QueueManager => [8005, 8005, 8005],
        Kind::Process => [8010, 8012, 8011],
        Kind::Channel | Kind::ClientChannel => [8014, 8016, 8015],
        Kind::Namelist => [8552, 8551, 8553],
        Kind::Topic => [8690, 8691, 8694],
        Kind::Subscription => [8094, 8095, 8097],
        Kind::Listener => [8626, 8624, 8628],
        Kind::Service => [8625, 8623, 8627],
        Kind::AuthenticationInformation => [8563, 8567, 8564],
        _ => [8006, 8008, 8007],
    }
}

fn confirmed(kind: Kind, which: usize) -> Vec<Reply> {
    let (number, done) = (numbers(kind)[which], ["created", "changed", "deleted"][which]);
    vec![Reply::new(MessageId::done(number), format!("{} {done}.", noun(kind)))]
}

/// The object that definitions of a kind begin with.
fn default_object(kind: Kind, channel_type: &str, given: &Given) -> &'static str {
    let authentication = given.iter().find(|(name, _)| *name == "AUTHTYPE");
    match kind {
        Kind::QueueLocal => "SYSTEM.DEFAULT.LOCAL.QUEUE",
        Kind::QueueAlias => "SYSTEM.DEFAULT.ALIAS.QUEUE",
        Kind::QueueRemote => "SYSTEM.DEFAULT.REMOTE.QUEUE",
        Kind::QueueModel => "SYSTEM.DEFAULT.MODEL.QUEUE",
        Kind::Topic => "SYSTEM.DEFAULT.TOPIC",
        Kind::Subscription => "SYSTEM.DEFAULT.SUB",
        Kind::Process => "SYSTEM.DEFAULT.PROCESS",
        Kind::Namelist => "SYSTEM.DEFAULT.NAMELIST",
        Kind::Channel | Kind::ClientChannel => channel::default_object(channel_type),
        Kind::Listener => "SYSTEM.DEFAULT.LISTENER.TCP",
        Kind::Service => "SYSTEM.DEFAULT.SERVICE",
        Kind::AuthenticationInformation => {
            match authentication.map_or("IDPWOS", |(_, value)| value.text()) {
                "CRLLDAP" => "SYSTEM.DEFAULT.AUTHINFO.CRLLDAP",
                "OCSP" => "SYSTEM.DEFAULT.AUTHINFO.OCSP",
                "IDPWLDAP" => "SYSTEM.DEFAULT.AUTHINFO.IDPWLDAP",
                _ => "SYSTEM.DEFAULT.AUTHINFO.IDPWOS",
            }
        }
        _ => "",
    }
}

/// Whether a name can be that of an object of this kind.
pub(crate) fn check_name(kind: Kind, name: &Value) -> Result<String, SyntaxError> {
    let text = name.text.trim_end().to_owned();
    let wrong = |why| SyntaxError::Name { name: text.clone(), why, end: name.end };
    if text.is_empty() {
        return Err(wrong("it is blank"));
    }
    if text.len() > kind.name_bytes_max() {
        return Err(wrong("it is too long"));
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"./_%".contains(&byte);
    // Names of subscriptions are chosen by programs, and may be anything that can be shown.
    let fits = match kind {
        Kind::Subscription => !text.chars().any(char::is_control),
        _ => text.bytes().all(allowed),
    };
    match fits {
        true => Ok(text),
        false => Err(wrong("names have letters, digits and . / _ % only")),
    }
}

/// The type of the channel that a definition makes, which decides about its kind.
fn channel_type(words: &[Word], title: &str, end: usize) -> Result<String, SyntaxError> {
    let word = words.iter().find(|word| word.name == "CHLTYPE");
    let value = word.and_then(|word| word.values.as_ref()).and_then(|values| values.first());
    match value {
        Some(value) => Ok(value.text.to_ascii_uppercase()),
        None => Err(SyntaxError::Missing { command: title.to_owned(), keyword: "CHLTYPE", end }),
    }
}

fn kind_of_channel(channel_type: &str) -> Kind {
    if channel_type == "CLNTCONN" { Kind::ClientChannel } else { Kind::Channel }
}

/// Whether every attribute is one that channels of the type have.
fn check_channel(channel_type: &str, title: &str, words: &[Word]) -> Result<(), SyntaxError> {
    match words.iter().find(|word| !channel::has(channel_type, &word.name)) {
        Some(word) => Err(unknown(&format!("{title} CHLTYPE({channel_type})"), word)),
        None => Ok(()),
    }
}

/// A definition as it was read: nothing has been done.
struct Definition {
    kind: Kind,
    name: String,
    like: Option<Value>,
    replace: bool,
    channel_type: String,
    given: Given,
}

fn read(command: &mut Command, kind: Kind) -> Result<Definition, SyntaxError> {
    let named = command.named()?.clone();
    let name = check_name(kind, &named)?;
    let like = command.keywords.one("LIKE")?;
    let replace = command.keywords.choice("REPLACE", "NOREPLACE")? == Some(true);
    let words = command.keywords.rest();
    let (mut kind, mut of_type) = (kind, String::new());
    if kind == Kind::Channel {
        of_type = channel_type(&words, &command.title, command.keywords.end_of_text())?;
        kind = kind_of_channel(&of_type);
        check_channel(&of_type, &command.title, &words)?;
    }
    let given = assign(kind, &command.title, &words)?;
    settable(kind, &command.title, &words)?;
    let definition = Definition { kind, name, like, replace, channel_type: of_type, given };
    needed(&definition, &command.keywords)?;
    Ok(definition)
}

/// What the queue manager alone sets, no command does.
fn settable(kind: Kind, title: &str, words: &[Word]) -> Result<(), SyntaxError> {
    let shown = |word: &&Word| {
        let attribute = crate::attributes::named(kind, &word.name);
        attribute.is_some_and(|attribute| attribute.access == Access::Shown)
    };
    words.iter().find(shown).map_or(Ok(()), |word| Err(unknown(title, word)))
}

/// What some definitions must say.
fn needed(definition: &Definition, keywords: &Keywords) -> Result<(), SyntaxError> {
    let gives = |name: &str| {
        definition.given.iter().any(|(given, value)| *given == name && !value.text().is_empty())
    };
    let missing = |keyword| {
        let command = keywords.title().to_owned();
        Err(SyntaxError::Missing { command, keyword, end: keywords.end_of_text() })
    };
    let of_type = |types: &[&str]| types.contains(&&*definition.channel_type);
    match definition.kind {
        // What is taken from another object may say it.
        _ if definition.like.is_some() => Ok(()),
        // What others begin with leads nowhere itself.
        Kind::Channel if definition.name.starts_with("SYSTEM.DEF.") => Ok(()),
        Kind::Channel | Kind::ClientChannel
            if of_type(&["SDR", "RQSTR", "CLNTCONN", "CLUSSDR"]) && !gives("CONNAME") =>
        {
            missing("CONNAME")
        }
        Kind::Channel if of_type(&["SDR", "SVR"]) && !gives("XMITQ") => missing("XMITQ"),
        Kind::Topic if !gives("TOPICSTR") && !definition.name.starts_with("SYSTEM.") => {
            missing("TOPICSTR")
        }
        Kind::AuthenticationInformation if !gives("AUTHTYPE") => missing("AUTHTYPE"),
        _ => Ok(()),
    }
}

/// Whether a command is one that could be executed, as far as it says itself.
pub(crate) fn check(command: &mut Command) -> Result<(), SyntaxError> {
    use crate::command::Target;
    command.keywords.here()?;
    match (command.verb, command.target) {
        (Verb::Define, Target::Object(kind)) => read(command, kind).map(|_| ()),
        (Verb::Alter, Target::Object(kind)) if kind != Kind::Channel => {
            let _ = command.keywords.flag("FORCE")?;
            let words = command.keywords.rest();
            assign(kind, &command.title, &words)?;
            settable(kind, &command.title, &words)
        }
        _ => Ok(()),
    }
}

pub(crate) fn define<S: Store>(
    manager: &QueueManager<S>,
    mut command: Command,
    kind: Kind,
) -> Done {
    let mut definition = read(&mut command, kind)?;
    let (kind, name) = (definition.kind, definition.name.clone());
    let begins_with = match &definition.like {
        Some(like) => {
            let found = find(manager, kind, &like.text);
            Some(found.ok_or_else(|| not_found(kind, &like.text))?)
        }
        None => {
            let default = default_object(kind, &definition.channel_type, &definition.given);
            find(manager, kind, default).filter(|object| object.name != name)
        }
    };
    if begins_with.is_none() {
        own_defaults(&mut definition);
    }
    let here = match kind {
        Kind::Channel | Kind::ClientChannel => find_channel(manager, &name),
        _ => manager.object(kind, &name),
    };
    if let Some(here) = here {
        // A queue has one kind for ever, and so has a channel.
        let same = here.kind == kind
            && definition.given.iter().all(|(name, value)| {
                *name != "CHLTYPE" || here.get(name).is_some_and(|now| now == value)
            });
        if !definition.replace || !same {
            return Err(AdminError::Exists { kind: here.kind, name }.into());
        }
        let base = begins_with.unwrap_or_else(|| Object::new(kind, &name));
        let given = renewed(&here, &base, &definition)?;
        manager.alter(kind, &name, &given)?;
        return Ok(confirmed(kind, 0));
    }
    let like = begins_with.map(|object| object.name);
    manager.define(kind, &name, &definition.given, definition.replace, like.as_deref())?;
    Ok(confirmed(kind, 0))
}

/// Where there is no default object: what differs between types of channels.
fn own_defaults(definition: &mut Definition) {
    for (name, text) in channel::defaults(&definition.channel_type) {
        if !definition.given.iter().any(|(given, _)| given == name) {
            definition.given.push((name, (*text).into()));
        }
    }
}

/// Every attribute that a definition sets, where it replaces an object that is there.
fn renewed(here: &Object, base: &Object, definition: &Definition) -> Result<Given, CommandError> {
    let mut all = Given::new();
    for (attribute, _) in here.attributes().filter(|(attribute, _)| has(here, attribute)) {
        let given_value = definition.given.iter().find(|(name, _)| *name == attribute.name);
        match (attribute.access, given_value) {
            (Access::Settable, Some((_, value))) => all.push((attribute.name, value.clone())),
            (Access::Settable, None) => {
                let value = base.get(attribute.name).cloned();
                all.push((attribute.name, value.unwrap_or_else(|| attribute.default_value())));
            }
            (Access::Fixed, Some((name, value))) => same(here, name, value)?,
            _ => {}
        }
    }
    Ok(all)
}

/// Whether an attribute that cannot be changed is said as it is.
fn same(
    here: &Object,
    name: &'static str,
    value: &queue_manager::objects::Value,
) -> Result<(), CommandError> {
    let now = here.get(name).map(ToString::to_string).unwrap_or_default();
    match now == value.to_string() {
        true => Ok(()),
        false => Err(CommandError::Fixed {
            object: format!("{} {}", here.kind, here.name),
            attribute: name,
            now,
            wanted: value.to_string(),
        }),
    }
}

pub(crate) fn alter<S: Store>(manager: &QueueManager<S>, mut command: Command, kind: Kind) -> Done {
    let name = match kind {
        Kind::QueueManager => manager.name().to_owned(),
        _ => command.named()?.text.trim_end().to_owned(),
    };
    // A program that has the object open sees the change at once: there is nothing to be forced.
    let _ = command.keywords.flag("FORCE")?;
    let words = command.keywords.rest();
    let kind = match kind {
        Kind::Channel => find_channel(manager, &name).map_or(kind, |channel| channel.kind),
        kind => kind,
    };
    let given = assign(kind, &command.title, &words)?;
    settable(kind, &command.title, &words)?;
    let here = find(manager, kind, &name).ok_or_else(|| not_found(kind, &name))?;
    if kind == Kind::Channel {
        check_channel(here.text_of("CHLTYPE"), &command.title, &words)?;
    }
    let mut changes = Given::new();
    for (name, value) in given {
        let attribute = crate::attributes::named(kind, name);
        match attribute.map(|attribute| attribute.access) {
            Some(Access::Fixed) => same(&here, name, &value)?,
            _ => changes.push((name, value)),
        }
    }
    manager.alter(kind, &here.name, &changes)?;
    Ok(confirmed(kind, 1))
}

pub(crate) fn delete<S: Store>(
    manager: &QueueManager<S>,
    mut command: Command,
    kind: Option<Kind>,
) -> Done {
    let name = command.named()?.text.trim_end().to_owned();
    let purge = command.keywords.choice("PURGE", "NOPURGE")? == Some(true);
    let ignores = command.keywords.word("IGNSTATE", &["NO", "YES"])? == Some("YES");
    let keeps_records = command.keywords.word("AUTHREC", &["YES", "NO"])? == Some("NO");
    let table = command.keywords.word("CHLTABLE", &["QMGRTBL", "CLNTTBL"])?;
    let queue_type = ["QLOCAL", "QALIAS", "QREMOTE", "QMODEL"];
    let wanted = command.keywords.word("QTYPE", &queue_type)?;
    command.keywords.end()?;
    let found = match (kind, table) {
        (Some(Kind::Channel), Some("CLNTTBL")) => find(manager, Kind::ClientChannel, &name),
        (Some(Kind::Channel), Some(_)) => find(manager, Kind::Channel, &name),
        (Some(Kind::Channel), None) => find_channel(manager, &name),
        (Some(kind), _) => find(manager, kind, &name),
        (None, _) => manager
            .object(Kind::QueueLocal, &name)
            .filter(|queue| wanted.is_none_or(|wanted| queue.kind.keyword() == wanted)),
    };
    let kind = kind.unwrap_or(Kind::QueueLocal);
    let Some(object) = found else {
        return if ignores { Ok(confirmed(kind, 2)) } else { Err(not_found(kind, &name)) };
    };
    manager.delete(object.kind, &object.name, purge)?;
    if !keeps_records {
        manager.delete_authority_of(object.kind, &object.name)?;
    }
    Ok(confirmed(object.kind, 2))
}

/// An object of just this kind.
pub(crate) fn find<S: Store>(manager: &QueueManager<S>, kind: Kind, name: &str) -> Option<Object> {
    manager.object(kind, name.trim_end()).filter(|object| object.kind == kind)
}

/// A channel, whichever table it stands in.
pub(crate) fn find_channel<S: Store>(manager: &QueueManager<S>, name: &str) -> Option<Object> {
    find(manager, Kind::Channel, name).or_else(|| find(manager, Kind::ClientChannel, name))
}

/// The error for an object that is not there.
pub(crate) fn not_found(kind: Kind, name: &str) -> CommandError {
    CommandError::NotFound { what: noun(kind), name: name.trim_end().to_owned() }
}
