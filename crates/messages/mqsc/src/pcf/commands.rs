//! What each command message answers.
//!
//! 1. Commands that define, change or remove become the commands that operators type, so that both
//!    obey the same rules; inquiries answer with the numbers that attributes have.
//! 2. Each object is an answer of its own; the last answer says that it is the last. Where nothing
//!    was found, there is one answer with the reason.

use queue_manager::event::Commanded;
use queue_manager::objects::{Attribute, Kind, Object, Value, ValueKind};
use queue_manager::{AdminError, QueueManager};
use store::Store;

use super::channels;
use super::wire::{
    Content, HEADER_BYTES, Header, Message, Order, Parameter, malformed, read, write,
};
use crate::attributes::displayed;
use crate::console::Console;
use crate::define::find;
use crate::display::{QUEUES, is_generic};
use crate::dump::{quoted, written};
use crate::failure::CommandError;
use crate::moment::if_any;

const RESPONSE: i32 = 2;
const FAILED: i32 = 2;
const UNKNOWN_OBJECT: i32 = 2085;
const BAD_COMMAND: i32 = 3007;
const BAD_INTEGER: i32 = 3014;
const BAD_TEXT: i32 = 3015;
pub(super) const TOO_FEW: i32 = 3019;
const BAD_QUEUE_TYPE: i32 = 3022;

const QUEUE_NAME: i32 = 2016;
const QUEUE_TYPE: i32 = 20;
const REPLACE: i32 = 1006;
const PURGE: i32 = 1007;
const ALL: i32 = 1009;
const ESCAPE: i32 = 38;
const ESCAPE_TYPE: i32 = 1017;
const ESCAPE_TEXT: i32 = 3014;

/// The commands of a kind of objects.
struct Family {
    kind: Kind,
    name: i32,
    inquire: i32,
    create: i32,
    change: i32,
    copy: i32,
    delete: i32,
    from: i32,
    to: i32,
    attributes: i32,
}

const fn family(
    kind: Kind,
    name: i32,
    [inquire, create, change, copy, delete]: [i32; 5],
    [from, to, attributes]: [i32; 3],
) -> Family {
    Family { kind, name, inquire, create, change, copy, delete, from, to, attributes }
}

const FAMILIES: [Family; 8] = [
    family(Kind::QueueLocal, QUEUE_NAME, [13, 11, 8, 10, 12], [3001, 3002, 1002]),
    family(Kind::Process, 2012, [7, 5, 3, 4, 6], [3003, 3004, 1003]),
    family(Kind::Namelist, 2010, [36, 34, 32, 33, 35], [3005, 3006, 1004]),
    family(Kind::Channel, 3501, [25, 23, 21, 22, 24], [3007, 3008, 1015]),
    family(Kind::Topic, 2092, [174, 172, 170, 171, 173], [3150, 3149, 1269]),
    family(Kind::Listener, 3554, [97, 95, 93, 94, 96], [3124, 3125, 1222]),
    family(Kind::Service, 2077, [153, 151, 149, 150, 152], [3126, 3127, 1224]),
    family(Kind::AuthenticationInformation, 2045, [83, 81, 79, 80, 82], [3009, 3010, 1019]),
];

/// Numbers of the kinds of queues.
const QUEUE_TYPES: [(Kind, i32); 4] =
    [(Kind::QueueLocal, 1), (Kind::QueueModel, 2), (Kind::QueueAlias, 3), (Kind::QueueRemote, 6)];

pub(super) type Found = Result<Vec<Vec<Parameter>>, i32>;

/// The parameters of a command.
pub(super) struct Given<'m>(&'m [Parameter]);

impl Given<'_> {
    pub(super) fn integer(&self, id: i32) -> Option<i32> {
        self.0.iter().find_map(|one| match one.content {
            Content::Integer(value) if one.id == id => Some(value),
            _ => None,
        })
    }

    pub(super) fn text(&self, id: i32) -> Option<&str> {
        self.0.iter().find_map(|one| match &one.content {
            Content::Text(text) if one.id == id => Some(text.trim_end()),
            _ => None,
        })
    }

    /// Identifiers that are asked for; none: all.
    fn selection(&self, id: i32) -> Option<Vec<i32>> {
        let list = self.0.iter().find_map(|one| match &one.content {
            Content::Integers(list) if one.id == id => Some(list.clone()),
            Content::Integer(value) if one.id == id => Some(vec![*value]),
            _ => None,
        });
        list.filter(|list| !list.contains(&ALL))
    }
}

/// Answers a command message with the messages of its answer.
pub fn answer<S: Store>(manager: &QueueManager<S>, bytes: &[u8], order: Order) -> Vec<Vec<u8>> {
    let (command, found) = match read(bytes, order) {
        Err(reason) => (0, Err(reason)),
        Ok(message) if ![1, 16].contains(&message.header.kind) => {
            (message.header.command, Err(malformed::TYPE))
        }
        Ok(message) => {
            let command = message.header.command;
            let found = execute(manager, command, &Given(&message.parameters));
            // A command within the message is told by itself.
            if found.is_ok() && command != ESCAPE {
                tell(manager, &message);
            }
            (command, found)
        }
    };
    let (completion, reason, mut bodies) = match found {
        Ok(bodies) => (0, 0, bodies),
        Err(reason) => (FAILED, reason, Vec::new()),
    };
    if bodies.is_empty() {
        bodies.push(Vec::new());
    }
    let count = bodies.len();
    let messages = bodies.into_iter().enumerate().map(|(at, parameters)| {
        let header = Header {
            kind: RESPONSE,
            version: 1,
            command,
            sequence: i32::try_from(at + 1).unwrap_or(i32::MAX),
            last: at + 1 == count,
            completion,
            reason,
        };
        write(&Message { header, parameters }, order)
    });
    messages.collect()
}

/// Tells of a command that was carried out, in the order of bytes that events have.
fn tell<S: Store>(manager: &QueueManager<S>, message: &Message) {
    let number = message.header.command;
    let displays = FAMILIES.iter().any(|family| family.inquire == number)
        || [2, 18, 20, 41, 42].contains(&number);
    let bytes = write(message, Order::Little);
    // The last field of the header counts them, those of groups by their group.
    let count = bytes.get(HEADER_BYTES - 4..).and_then(|rest| rest.first_chunk::<4>());
    let count = count.map_or(0, |count| i32::from_le_bytes(*count));
    let parameters = (bytes.get(HEADER_BYTES..).unwrap_or_default(), count);
    manager.carried_out(&Commanded { number, displays, text: None, parameters });
}

/// The answer to a command that is not carried out.
pub(super) fn refusal(bytes: &[u8], order: Order, reason: i32) -> Vec<u8> {
    let command = read(bytes, order).map_or(0, |message| message.header.command);
    let header = Header {
        kind: RESPONSE,
        version: 1,
        command,
        sequence: 1,
        last: true,
        completion: FAILED,
        reason,
    };
    write(&Message { header, parameters: Vec::new() }, order)
}

fn execute<S: Store>(manager: &QueueManager<S>, command: i32, given: &Given<'_>) -> Found {
    for family in &FAMILIES {
        match command {
            one if one == family.inquire => return inquire(manager, family, given),
            one if one == family.create => return create(manager, family, given, None),
            one if one == family.change => return change(manager, family, given),
            one if one == family.copy => {
                let from = given.text(family.from).ok_or(TOO_FEW)?;
                return create(manager, family, given, Some(from));
            }
            one if one == family.delete => return delete(manager, family, given),
            _ => {}
        }
    }
    match command {
        1 => {
            let words = words(Kind::QueueManager, given, &[])?;
            run(manager, &format!("ALTER QMGR {words}"))
        }
        2 => {
            let object = manager.object(Kind::QueueManager, manager.name());
            let object = object.unwrap_or_else(|| Object::new(Kind::QueueManager, manager.name()));
            Ok(vec![described(&object, 2015, given.selection(1001).as_deref())])
        }
        9 => {
            let name = quoted(given.text(QUEUE_NAME).ok_or(TOO_FEW)?);
            run(manager, &format!("CLEAR QLOCAL({name})"))
        }
        17 => reset_statistics(manager, given),
        18 => names(manager, given),
        20 => channel_names(manager, given),
        ESCAPE => escape(manager, given),
        40 => Ok(Vec::new()),
        26..=29 | 39 => run(manager, &channels::command(command, given)?),
        41 => queue_status(manager, given),
        42 => channels::statuses(manager, given),
        _ => Err(BAD_COMMAND),
    }
}

/// Runs a command as operators type it.
fn run<S: Store>(manager: &QueueManager<S>, text: &str) -> Found {
    match Console::silent(manager).try_execute(text) {
        Ok(_) => Ok(Vec::new()),
        Err(error) => Err(reason(&error)),
    }
}

/// The reason code of a command that was not processed.
pub fn reason(error: &CommandError) -> i32 {
    match error {
        CommandError::Channel(error) => channels::reason(error),
        CommandError::Syntax(_) => 4005,
        CommandError::NotFound { .. } | CommandError::Admin(AdminError::NotFound { .. }) => {
            UNKNOWN_OBJECT
        }
        CommandError::Admin(AdminError::Exists { .. }) => 4001,
        CommandError::Admin(AdminError::BadName { .. }) => 4008,
        CommandError::Admin(AdminError::BadAttribute { .. }) => 4005,
        CommandError::Admin(AdminError::InUse { .. }) => 4004,
        CommandError::Admin(AdminError::NotEmpty { .. }) => 2055,
        CommandError::Admin(AdminError::Call { reason, .. }) => reason.0,
        CommandError::Admin(AdminError::Damaged { .. }) => 2101,
        CommandError::NotProvided { .. } => 2298,
        _ => 3008,
    }
}

/// The kinds that a command is about.
fn kinds(family: &Family, given: &Given<'_>) -> Result<Vec<Kind>, i32> {
    match (family.kind, given.integer(QUEUE_TYPE)) {
        (Kind::QueueLocal, None | Some(1001)) => Ok(QUEUES.to_vec()),
        (Kind::QueueLocal, Some(number)) => {
            let found = QUEUE_TYPES.iter().find(|(_, known)| *known == number);
            found.map(|(kind, _)| vec![*kind]).ok_or(BAD_QUEUE_TYPE)
        }
        (Kind::Channel, _) => Ok(vec![Kind::Channel, Kind::ClientChannel]),
        (kind, _) => Ok(vec![kind]),
    }
}

fn matching<S: Store>(manager: &QueueManager<S>, kinds: &[Kind], name: &str) -> Vec<Object> {
    let mut found: Vec<Object> = kinds
        .iter()
        .flat_map(|kind| match is_generic(name) {
            false => find(manager, *kind, name).into_iter().collect(),
            true => {
                let mut all = manager.list(*kind, name);
                all.retain(|object| object.kind == *kind);
                all
            }
        })
        .collect();
    found.sort_by(|left, right| left.name.cmp(&right.name));
    found
}

fn inquire<S: Store>(manager: &QueueManager<S>, family: &Family, given: &Given<'_>) -> Found {
    let name = given.text(family.name).ok_or(TOO_FEW)?;
    let selection = given.selection(family.attributes);
    let found = matching(manager, &kinds(family, given)?, name);
    if found.is_empty() {
        return Err(UNKNOWN_OBJECT);
    }
    let held = found.iter().filter(|object| filtered(object, given));
    Ok(held.map(|object| described(object, family.name, selection.as_deref())).collect())
}

/// Whether every filter of a command holds for an object.
fn filtered(object: &Object, given: &Given<'_>) -> bool {
    given.0.iter().all(|one| match &one.content {
        Content::IntegerFilter(operator, wanted) => {
            let number =
                object.selected(one.id).and_then(|(attribute, value)| number_of(attribute, value));
            number.is_some_and(|number| compares(*operator, number.cmp(wanted)))
        }
        Content::TextFilter(operator, wanted) => {
            let text = object.selected(one.id).map(|(_, value)| value.to_string());
            text.is_some_and(|text| match operator {
                18 => queue_manager::name::matches_generic(&text, wanted),
                21 => !queue_manager::name::matches_generic(&text, wanted),
                operator => compares(*operator, text.as_str().cmp(wanted)),
            })
        }
        _ => true,
    })
}

/// Bits of an operator: 1 less, 2 equal, 4 greater.
fn compares(operator: i32, order: std::cmp::Ordering) -> bool {
    let bit = match order {
        std::cmp::Ordering::Less => 1,
        std::cmp::Ordering::Equal => 2,
        std::cmp::Ordering::Greater => 4,
    };
    (1..8).contains(&operator) && operator & bit != 0
}

/// The number of an attribute that programs see as a number, though commands may write a word.
fn number_of(attribute: &Attribute, value: &Value) -> Option<i32> {
    match (attribute.kind, value) {
        (ValueKind::Number(..) | ValueKind::Word(_), value) => attribute.number_of(value),
        (_, Value::Text(text)) if attribute.selector < 2000 => Some(text.parse().unwrap_or(-1)),
        _ => None,
    }
}

/// An object as the parameters of an answer.
fn described(object: &Object, name: i32, selection: Option<&[i32]>) -> Vec<Parameter> {
    let mut all = vec![Parameter { id: name, content: Content::Text(object.name.clone()) }];
    if let Some((_, number)) = QUEUE_TYPES.iter().find(|(kind, _)| *kind == object.kind) {
        all.push(Parameter { id: QUEUE_TYPE, content: Content::Integer(*number) });
    }
    if let Some((attribute, value)) = object.selected(1511) {
        let number = attribute.number_of(value).unwrap_or(0);
        all.push(Parameter { id: 1511, content: Content::Integer(number) });
    }
    for (attribute, value) in displayed(object) {
        let id = attribute.selector;
        let wanted = selection.is_none_or(|selection| selection.contains(&id));
        if id == 0 || id == name || !wanted || all.iter().any(|one| one.id == id) {
            continue;
        }
        let content = match (number_of(attribute, &value), value) {
            (Some(number), _) => Content::Integer(number),
            (None, Value::List(list)) => Content::Texts(list),
            (None, value) => Content::Text(value.to_string()),
        };
        all.push(Parameter { id, content });
    }
    all
}

/// Parameters as keywords of a command, but for those that were understood already.
fn words(kind: Kind, given: &Given<'_>, known: &[i32]) -> Result<String, i32> {
    let mut words = String::new();
    for one in given.0.iter().filter(|one| !known.contains(&one.id)) {
        let attribute = kind.attributes().iter().find(|attribute| attribute.selector == one.id);
        let (value, unknown) = match &one.content {
            Content::Integer(number) => (Value::Number(i64::from(*number)), BAD_INTEGER),
            Content::Text(text) => (Value::Text(text.clone()), BAD_TEXT),
            Content::Texts(list) => (Value::List(list.clone()), 3033),
            Content::Integers(_) => return Err(3047),
            _ => return Err(malformed::STRUCTURE),
        };
        let attribute = attribute.ok_or(unknown)?;
        let value = match (attribute.kind, &value) {
            (ValueKind::Text(_), Value::Number(-1)) if attribute.selector < 2000 => {
                attribute.default_value()
            }
            _ => attribute.check(&value).map_err(|_| 4005)?,
        };
        words.push_str(&written(attribute, &value));
        words.push(' ');
    }
    Ok(words)
}

/// The kind that a definition makes.
fn made_kind(family: &Family, given: &Given<'_>) -> Result<Kind, i32> {
    match family.kind {
        Kind::QueueLocal => {
            let number = given.integer(QUEUE_TYPE).ok_or(TOO_FEW)?;
            let found = QUEUE_TYPES.iter().find(|(_, known)| *known == number);
            found.map(|(kind, _)| *kind).ok_or(BAD_QUEUE_TYPE)
        }
        kind => Ok(kind),
    }
}

fn create<S: Store>(
    manager: &QueueManager<S>,
    family: &Family,
    given: &Given<'_>,
    like: Option<&str>,
) -> Found {
    let kind = made_kind(family, given)?;
    let name = given.text(if like.is_some() { family.to } else { family.name });
    let name = quoted(name.ok_or(TOO_FEW)?);
    let known = [family.name, family.from, family.to, QUEUE_TYPE, REPLACE];
    let words = words(kind, given, &known)?;
    let like = like.map(|like| format!("LIKE({})", quoted(like))).unwrap_or_default();
    let replace = if given.integer(REPLACE) == Some(1) { "REPLACE" } else { "NOREPLACE" };
    let what = if kind == Kind::Channel { "CHANNEL" } else { kind.keyword() };
    run(manager, &format!("DEFINE {what}({name}) {words} {like} {replace}"))
}

fn change<S: Store>(manager: &QueueManager<S>, family: &Family, given: &Given<'_>) -> Found {
    let name = given.text(family.name).ok_or(TOO_FEW)?;
    let kind = match family.kind {
        Kind::QueueLocal => {
            let queue = manager.object(Kind::QueueLocal, name).ok_or(UNKNOWN_OBJECT)?;
            match given.integer(QUEUE_TYPE) {
                Some(_) if made_kind(family, given)? != queue.kind => return Err(4002),
                _ => queue.kind,
            }
        }
        kind => kind,
    };
    // Whether programs that have it open are to be stopped: they need not be.
    const FORCE: i32 = 1005;
    let words = words(kind, given, &[family.name, QUEUE_TYPE, FORCE])?;
    run(manager, &format!("ALTER {}({}) {words}", kind.keyword(), quoted(name)))
}

fn delete<S: Store>(manager: &QueueManager<S>, family: &Family, given: &Given<'_>) -> Found {
    let name = given.text(family.name).ok_or(TOO_FEW)?;
    let kind = match (family.kind, given.integer(QUEUE_TYPE)) {
        (Kind::QueueLocal, None) => "QUEUE",
        _ => made_kind(family, given)?.keyword(),
    };
    let purge = if given.integer(PURGE) == Some(1) { "PURGE" } else { "" };
    run(manager, &format!("DELETE {kind}({}) {purge}", quoted(name)))
}

fn names<S: Store>(manager: &QueueManager<S>, given: &Given<'_>) -> Found {
    let name = given.text(QUEUE_NAME).ok_or(TOO_FEW)?;
    let found = matching(manager, &kinds(&FAMILIES[0], given)?, name);
    if found.is_empty() {
        return Err(UNKNOWN_OBJECT);
    }
    let type_of = |object: &Object| {
        QUEUE_TYPES.iter().find(|(kind, _)| *kind == object.kind).map_or(0, |(_, number)| *number)
    };
    let types = found.iter().map(type_of).collect();
    let names = found.into_iter().map(|object| object.name).collect();
    Ok(vec![vec![
        Parameter { id: 3011, content: Content::Texts(names) },
        Parameter { id: 1261, content: Content::Integers(types) },
    ]])
}

fn channel_names<S: Store>(manager: &QueueManager<S>, given: &Given<'_>) -> Found {
    let name = given.text(3501).ok_or(TOO_FEW)?;
    let found = matching(manager, &[Kind::Channel, Kind::ClientChannel], name);
    if found.is_empty() {
        return Err(4032);
    }
    let type_of = |object: &Object| {
        object.selected(1511).and_then(|(attribute, value)| attribute.number_of(value))
    };
    let types = found.iter().map(|object| type_of(object).unwrap_or(0)).collect();
    let names = found.into_iter().map(|object| object.name).collect();
    Ok(vec![vec![
        Parameter { id: 3512, content: Content::Texts(names) },
        Parameter { id: 1582, content: Content::Integers(types) },
    ]])
}

fn count(number: u64) -> Content {
    Content::Integer(i32::try_from(number).unwrap_or(i32::MAX))
}

fn queue_status<S: Store>(manager: &QueueManager<S>, given: &Given<'_>) -> Found {
    let name = given.text(QUEUE_NAME).ok_or(TOO_FEW)?;
    let selection = given.selection(1026);
    let found = matching(manager, &[Kind::QueueLocal], name);
    if found.is_empty() {
        return Err(UNKNOWN_OBJECT);
    }
    let statuses = found.iter().filter_map(|queue| manager.queue_status(&queue.name));
    let all = statuses.map(|status| {
        let (put_date, put_time) = if_any(status.statistics.last_put_ms);
        let (get_date, get_time) = if_any(status.statistics.last_get_ms);
        let text = |text: String| Content::Text(text);
        let times = [status.statistics.time_short_us, status.statistics.time_long_us];
        let times = times.map(|time| i32::try_from(time).unwrap_or(i32::MAX)).to_vec();
        let parts = [
            (QUEUE_NAME, text(status.name.clone())),
            (1103, Content::Integer(1105)),
            (3, count(status.depth)),
            (17, count(status.input_handles)),
            (18, count(status.output_handles)),
            (1027, Content::Integer(i32::from(status.uncommitted > 0))),
            (1227, count(status.message_age_s.unwrap_or(0))),
            (1226, Content::Integers(times)),
            (3128, text(put_date)),
            (3129, text(put_time)),
            (3130, text(get_date)),
            (3131, text(get_time)),
        ];
        let wanted = |id: i32| {
            [QUEUE_NAME, 1103].contains(&id)
                || selection.as_ref().is_none_or(|selection| selection.contains(&id))
        };
        let parts = parts.into_iter().filter(|(id, _)| wanted(*id));
        parts.map(|(id, content)| Parameter { id, content }).collect::<Vec<Parameter>>()
    });
    // Filters look at the numbers that are answered.
    let holds = |body: &Vec<Parameter>| {
        given.0.iter().all(|one| match one.content {
            Content::IntegerFilter(operator, wanted) => {
                let number = Given(body).integer(one.id);
                number.is_some_and(|number| compares(operator, number.cmp(&wanted)))
            }
            _ => true,
        })
    };
    Ok(all.filter(holds).collect())
}

fn reset_statistics<S: Store>(manager: &QueueManager<S>, given: &Given<'_>) -> Found {
    let name = given.text(QUEUE_NAME).ok_or(TOO_FEW)?;
    let found = matching(manager, &[Kind::QueueLocal], name);
    if found.is_empty() {
        return Err(UNKNOWN_OBJECT);
    }
    let statuses = found.iter().filter_map(|queue| manager.reset_statistics(&queue.name));
    let all = statuses.map(|status| {
        let parts = [
            (QUEUE_NAME, Content::Text(status.name.clone())),
            (37, count(status.statistics.puts)),
            (38, count(status.statistics.gets)),
            (36, count(status.statistics.high_depth)),
        ];
        parts.map(|(id, content)| Parameter { id, content }).to_vec()
    });
    Ok(all.collect())
}

/// A command as operators type it, in a message; each reply comes as text.
fn escape<S: Store>(manager: &QueueManager<S>, given: &Given<'_>) -> Found {
    const MQSC: i32 = 1;
    if given.integer(ESCAPE_TYPE) != Some(MQSC) {
        return Err(3054);
    }
    let text = given.text(ESCAPE_TEXT).ok_or(TOO_FEW)?;
    let answer = Console::new(manager).execute(text);
    let escaped = answer.replies.iter().map(|reply| {
        vec![
            Parameter { id: ESCAPE_TYPE, content: Content::Integer(MQSC) },
            Parameter { id: ESCAPE_TEXT, content: Content::Text(reply.to_string()) },
        ]
    });
    Ok(escaped.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_bits_of_an_order() {
        use std::cmp::Ordering::{Equal, Greater, Less};
        assert!(compares(1, Less) && compares(2, Equal) && compares(4, Greater));
        assert!(compares(5, Less) && compares(5, Greater) && !compares(5, Equal));
        assert!(compares(6, Equal) && compares(3, Less) && !compares(0, Less));
        assert!(!compares(18, Equal) && !compares(-1, Equal));
    }
}
