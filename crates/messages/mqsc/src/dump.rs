//! A queue manager as commands that make it again, in the form that `dmpmqcfg` has.
//!
//! 1. Everything that is defined is there, in an order in which it can be defined: queues before
//!    aliases and remote ones, topics before subscriptions.
//! 2. What the queue manager sets itself stands as a comment within the command.
//! 3. Running the commands in an empty queue manager makes one with the same definitions. Messages
//!    are no definitions.

use queue_manager::QueueManager;
use queue_manager::name::matches_generic;
use queue_manager::objects::{Access, Attribute, Kind, Object, Value, ValueKind};
use store::Store;

use crate::attributes::{displayed, field, head_attribute};
use crate::moment::date_and_time;

/// What a dump has in it.
#[derive(Clone, Debug)]
pub struct Selection {
    /// A generic name that objects must match.
    pub name: String,
    /// Kinds of objects; none: all.
    pub kinds: Vec<Kind>,
    /// Attributes with their defaults, too.
    pub all: bool,
    /// Each command in one line.
    pub one_line: bool,
    /// When, milliseconds since 1970, for the head.
    pub now_ms: u64,
}

impl Default for Selection {
    fn default() -> Selection {
        Selection { name: "*".into(), kinds: Vec::new(), all: true, one_line: false, now_ms: 0 }
    }
}

const ORDER: [Kind; 19] = [
    Kind::QueueManager,
    Kind::BufferPool,
    Kind::PageSet,
    Kind::StorageClass,
    Kind::QueueModel,
    Kind::QueueLocal,
    Kind::QueueRemote,
    Kind::QueueAlias,
    Kind::Process,
    Kind::Namelist,
    Kind::AuthenticationInformation,
    Kind::Channel,
    Kind::ClientChannel,
    Kind::Listener,
    Kind::Service,
    Kind::Topic,
    Kind::Subscription,
    Kind::ChannelAuthority,
    Kind::AuthorityRecord,
];

/// Everything that is defined, as commands.
pub fn dump<S: Store>(manager: &QueueManager<S>, selection: &Selection) -> String {
    let mut text = head(manager, selection);
    for kind in ORDER {
        if !selection.kinds.is_empty() && !selection.kinds.contains(&kind) {
            continue;
        }
        let mut objects = match kind {
            Kind::QueueManager => manager.object(kind, manager.name()).into_iter().collect(),
            kind => manager.list(kind, "*"),
        };
        objects.retain(|object| object.kind == kind && is_defined(object));
        for object in objects {
            let by_name = match kind {
                Kind::QueueManager => matches_generic(manager.name(), &selection.name),
                Kind::ChannelAuthority => {
                    matches_generic(object.text_of("CHLAUTH"), &selection.name)
                }
                Kind::AuthorityRecord => {
                    matches_generic(object.text_of("PROFILE"), &selection.name)
                }
                _ => matches_generic(&object.name, &selection.name),
            };
            if by_name {
                text.push_str(&command(&object, selection));
            }
        }
    }
    let rule = "*".repeat(80);
    text.push_str(&format!("{rule}\n* Script ended\n{rule}\n"));
    text
}

/// Dynamic queues, and subscriptions that programs made, are no user's definitions.
fn is_defined(object: &Object) -> bool {
    match object.kind {
        Kind::QueueLocal => object.is("DEFTYPE", "PREDEFINED"),
        Kind::Subscription => object.is("SUBTYPE", "ADMIN"),
        _ => true,
    }
}

fn head<S: Store>(manager: &QueueManager<S>, selection: &Selection) -> String {
    let rule = "*".repeat(80);
    let (date, time) = date_and_time(selection.now_ms);
    let object = manager.object(Kind::QueueManager, manager.name());
    let object = object.unwrap_or_else(|| Object::new(Kind::QueueManager, manager.name()));
    format!(
        "{rule}\n* Script generated on {date} at {time} (UTC)\n* Queue manager name: {}\n* Queue \
         manager platform: {}\n* Queue manager command level: {}\n{rule}\n",
        manager.name(),
        object.text_of("PLATFORM"),
        object.number_of("CMDLEVEL"),
    )
}

/// The command that makes an object.
fn command(object: &Object, selection: &Selection) -> String {
    let mut parts = vec![format!("{} +", opening(object))];
    let attributes = match object.kind {
        Kind::AuthorityRecord => Vec::new(),
        _ => displayed(object),
    };
    let says_kind = !matches!(object.kind, Kind::Subscription | Kind::Topic);
    if let Some(attribute) = head_attribute(object.kind).filter(|_| says_kind) {
        parts.push(format!("   {attribute}({}) +", object.text_of(attribute)));
    }
    if object.kind == Kind::AuthorityRecord {
        parts.push(format!(
            "   AUTHADD({}) +",
            object.get("AUTHLIST").map_or_else(String::new, ToString::to_string)
        ));
    }
    let mut comments = Vec::new();
    for (attribute, value) in &attributes {
        let is_default = *value == attribute.default_value();
        match attribute.access {
            Access::Shown if !selection.one_line && !value.to_string().is_empty() => {
                comments.push(format!("*  {} +", field(attribute, value)));
            }
            Access::Shown => {}
            // The queue of a managed destination is made with it.
            _ if attribute.name == "DEST" && object.is("DESTCLAS", "MANAGED") => {}
            Access::Fixed if is_default || in_head(object.kind, attribute.name) => {}
            _ if is_default && !selection.all => {}
            _ => parts.push(format!("   {} +", written(attribute, value))),
        }
    }
    parts.extend(comments);
    match object.kind {
        // The last attribute ends the command.
        Kind::QueueManager | Kind::AuthorityRecord => {}
        Kind::ChannelAuthority => parts.push("   ACTION(REPLACE)".into()),
        _ => parts.push("   REPLACE".into()),
    }
    ended(parts, selection.one_line)
}

/// The lines of a command, the last that is no comment without its continuation.
fn ended(mut parts: Vec<String>, one_line: bool) -> String {
    if let Some(last) = parts.iter().rposition(|part| !part.starts_with('*')) {
        let end = parts[last].trim_end_matches(" +").to_owned();
        // Comments behind the end of a command would belong to no command.
        parts.truncate(last);
        parts.push(end);
    }
    match one_line {
        false => format!("{}\n", parts.join("\n")),
        true => {
            let words = parts.iter().map(|part| part.trim_end_matches(" +").trim());
            format!("{}\n", words.collect::<Vec<_>>().join(" "))
        }
    }
}

/// Whether an attribute stands in the head of a command.
fn in_head(kind: Kind, attribute: &str) -> bool {
    kind == Kind::ChannelAuthority && ["CHLAUTH", "TYPE"].contains(&attribute)
}

fn opening(object: &Object) -> String {
    let name = quoted(&object.name);
    match object.kind {
        Kind::QueueManager => "ALTER QMGR".into(),
        Kind::Channel | Kind::ClientChannel => format!("DEFINE CHANNEL({name})"),
        Kind::ChannelAuthority => format!(
            "SET CHLAUTH({}) TYPE({})",
            quoted(object.text_of("CHLAUTH")),
            object.text_of("TYPE")
        ),
        Kind::AuthorityRecord => format!(
            "SET AUTHREC PROFILE({}) OBJTYPE({}) {}({})",
            quoted(object.text_of("PROFILE")),
            object.text_of("OBJTYPE"),
            object.text_of("ENTTYPE"),
            quoted(object.text_of("ENTITY"))
        ),
        kind => format!("DEFINE {}({name})", kind.keyword()),
    }
}

pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// An attribute as a command writes it.
pub(crate) fn written(attribute: &Attribute, value: &Value) -> String {
    match (attribute.kind, value) {
        (ValueKind::Text(_) | ValueKind::Name(_), value) => {
            format!("{}({})", attribute.name, quoted(&value.to_string()))
        }
        (ValueKind::List(_), Value::List(list)) => {
            let items: Vec<String> = list.iter().map(|item| quoted(item)).collect();
            format!("{}({})", attribute.name, items.join(","))
        }
        _ => field(attribute, value).to_string(),
    }
}
