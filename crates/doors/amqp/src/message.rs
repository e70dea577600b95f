//! Messages of AMQP as messages of the queue manager, and back.
//!
//! | AMQP | here |
//! |---|---|
//! | durable, priority (4 if not said), ttl in ms, delivery-count | persistence, priority, expiry in tenths, backout count |
//! | message-id, correlation-id `ID:` and 48 digits | MsgId, CorrelId; others: properties `amqp_...` |
//! | reply-to `Q` or `Q@QM` | ReplyToQ, ReplyToQMgr; others: a property |
//! | group-id `ID:` and 48 digits, group-sequence | GroupId, MsgSeqNumber; others: properties |
//! | application-properties | message properties; what those cannot say, beside them in `amqp_properties` |
//! | message-annotations, absolute-expiry-time | properties `amqp_...`; without a ttl that time is the expiry, too |
//! | a string | format MQSTR |
//! | data | no format |
//! | any other body | its bytes as they are, with a property that says so |
//!
//! 1. What is put by AMQP and got by AMQP is the same, but for what a queue manager sets.
//! 2. What cannot be read as a message is refused; nothing of it is put.

use std::collections::BTreeSet;

use base::calendar::Date;
use base::hex;
use queue_manager::descriptor::value::{EXPIRY_UNLIMITED, format, msg_flags, msg_type};
use queue_manager::descriptor::{Identifier, NO_IDENTIFIER};
use queue_manager::properties::{Properties, PropertyValue};
use queue_manager::{MessageDescriptor, ObjectName};

use crate::value::{Reader, Value, field, write};

/// A message as the queue manager takes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parts {
    pub(crate) descriptor: MessageDescriptor,
    pub(crate) properties: Vec<(String, PropertyValue)>,
    pub(crate) data: Vec<u8>,
}

/// Fields of the properties section that are kept as properties, with their place.
const KEPT: [(usize, &str); 7] = [
    (2, "amqp_to"),
    (3, "amqp_subject"),
    (6, "amqp_content_type"),
    (7, "amqp_content_encoding"),
    (8, EXPIRES_AT),
    (9, "amqp_creation_time"),
    (12, "amqp_reply_to_group_id"),
];
const EXPIRES_AT: &str = "amqp_absolute_expiry_time";
const MESSAGE_ID: &str = "amqp_message_id";
const CORRELATION_ID: &str = "amqp_correlation_id";
const REPLY_TO: &str = "amqp_reply_to";
const GROUP_ID: &str = "amqp_group_id";
const GROUP_SEQUENCE: &str = "amqp_group_sequence";
/// The map of message annotations, encoded.
const ANNOTATIONS: &str = "amqp_annotations";
/// The map of application properties that are not what a property can say, encoded.
const EXACT: &str = "amqp_properties";
/// Folders with what the queue manager says of publications: no properties of applications.
const OF_PUBLICATIONS: &str = "mqps.";
/// Says that the data are body sections of AMQP.
const BODY: &str = "amqp_body";

/// Application properties of a message that comes in.
pub(crate) const PROPERTIES_MAX: usize = 1_000;
/// Bytes of all that stands around the body of a message.
pub(crate) const PROPERTIES_BYTES_MAX: usize = 1 << 20;

/// What properties begin with that only this door makes something of.
const OWN: &str = "amqp_";

/// The letters of `ID:` and 48 digits.
fn identifier(value: &Value) -> Option<Identifier> {
    hex::array(value.text()?.strip_prefix("ID:")?)
}

pub(crate) fn identifier_text(id: &Identifier) -> String {
    let digits = hex::lower(id);
    format!("ID:{digits}")
}

/// An identifier that is no number of ours, as a text that keeps its kind.
fn kept_identifier(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(format!("s:{text}")),
        Value::Ulong(number) => Some(format!("u:{number}")),
        Value::Uuid(uuid) => Some(format!("g:{}", hex::lower(uuid))),
        Value::Binary(bytes) => Some(format!("b:{}", hex::lower(bytes))),
        _ => None,
    }
}

fn restored_identifier(text: &str) -> Option<Value> {
    let (kind, rest) = text.split_once(':')?;
    match kind {
        "s" => Some(Value::Text(rest.to_owned())),
        "u" => rest.parse().ok().map(Value::Ulong),
        "g" => Some(Value::Uuid(hex::read(rest)?.try_into().ok()?)),
        "b" => hex::read(rest).map(Value::Binary),
        _ => None,
    }
}

/// Reads a message from its sections; `None` if they are none.
pub(crate) fn read(bytes: &[u8]) -> Option<Parts> {
    let mut parts = Parts {
        descriptor: MessageDescriptor {
            persistence: 0,
            priority: 4,
            ..MessageDescriptor::default()
        },
        properties: Vec::new(),
        data: Vec::new(),
    };
    let mut reader = Reader::new(bytes);
    let mut body: Option<&[u8]> = None;
    let (mut kinds, mut values) = (Vec::new(), Vec::new());
    let mut around = 0;
    while !reader.bytes.is_empty() {
        let before = reader.bytes;
        let Value::Described(section) = reader.value()? else { return None };
        let (descriptor, value) = *section;
        let kind = descriptor.number().or_else(|| named_section(&descriptor))?;
        if !(0x75..=0x77).contains(&kind) {
            around += before.len() - reader.bytes.len();
        }
        if around > PROPERTIES_BYTES_MAX {
            return None;
        }
        match (kind, value) {
            (0x70, Value::List(fields)) => header(&mut parts, &fields),
            (0x73, Value::List(fields)) => properties(&mut parts, &fields),
            (0x72, Value::Map(pairs)) => keep_map(&mut parts, ANNOTATIONS, pairs),
            (0x74, Value::Map(pairs)) => application(&mut parts, pairs)?,
            (0x75..=0x77, value) => {
                body.get_or_insert(before);
                kinds.push(kind);
                values.push(value);
            }
            (0x71 | 0x78, _) => {}
            _ => return None,
        }
    }
    // Some clients send no body where there is nothing in it.
    let Some(sections) = body else {
        let is_message = !bytes.is_empty();
        parts.properties.push((BODY.into(), PropertyValue::String("none".into())));
        return is_message.then_some(parts);
    };
    let end = sections.len() - footer_bytes(sections)?;
    set_body(&mut parts, &kinds, values, &sections[..end])?;
    Some(parts)
}

fn named_section(descriptor: &Value) -> Option<u64> {
    let names = [
        ("amqp:header:list", 0x70),
        ("amqp:delivery-annotations:map", 0x71),
        ("amqp:message-annotations:map", 0x72),
        ("amqp:properties:list", 0x73),
        ("amqp:application-properties:map", 0x74),
        ("amqp:data:binary", 0x75),
        ("amqp:amqp-sequence:list", 0x76),
        ("amqp:amqp-value:*", 0x77),
        ("amqp:footer:map", 0x78),
    ];
    let name = descriptor.text()?;
    names.iter().find(|(known, _)| *known == name).map(|(_, code)| *code)
}

/// Bytes of what stands behind the last body section.
fn footer_bytes(sections: &[u8]) -> Option<usize> {
    let mut reader = Reader::new(sections);
    let mut left = sections.len();
    while !reader.bytes.is_empty() {
        let Value::Described(section) = reader.value()? else { return None };
        let kind = section.0.number().or_else(|| named_section(&section.0))?;
        if (0x75..=0x77).contains(&kind) {
            left = reader.bytes.len();
        }
    }
    Some(left)
}

fn set_body(parts: &mut Parts, kinds: &[u64], values: Vec<Value>, raw: &[u8]) -> Option<()> {
    let all_data = kinds.iter().all(|kind| *kind == 0x75);
    if all_data {
        for value in values {
            let Value::Binary(data) = value else { return None };
            parts.data.extend_from_slice(&data);
        }
        return Some(());
    }
    if let ([0x77], [Value::Text(text)]) = (kinds, &values[..]) {
        parts.data = text.clone().into_bytes();
        parts.descriptor.format = format::STRING;
        parts.descriptor.ccsid = 1208;
        return Some(());
    }
    parts.properties.push((BODY.into(), PropertyValue::String("sections".into())));
    parts.data = raw.to_vec();
    Some(())
}

fn header(parts: &mut Parts, fields: &[Value]) {
    parts.descriptor.persistence = i32::from(field(fields, 0).is_true());
    if let Some(priority) = field(fields, 1).number() {
        parts.descriptor.priority = i32::try_from(priority.min(9)).unwrap_or(9);
    }
    if let Some(ttl) = field(fields, 2).number() {
        let tenths = ttl.div_ceil(100).max(1);
        parts.descriptor.expiry = i32::try_from(tenths).unwrap_or(i32::MAX);
    }
}

fn properties(parts: &mut Parts, fields: &[Value]) {
    let kept = |parts: &mut Parts, name: &str, value: Option<PropertyValue>| {
        parts.properties.extend(value.map(|value| (name.to_owned(), value)));
    };
    let text = |value: &Value| kept_identifier(value).map(PropertyValue::String);
    match identifier(field(fields, 0)) {
        Some(id) => parts.descriptor.msg_id = id,
        None => kept(parts, MESSAGE_ID, text(field(fields, 0))),
    }
    match identifier(field(fields, 5)) {
        Some(id) => parts.descriptor.correl_id = id,
        None => kept(parts, CORRELATION_ID, text(field(fields, 5))),
    }
    if let Some(reply_to) = field(fields, 4).text() {
        let (queue, manager) = reply_to.split_once('@').unwrap_or((reply_to, ""));
        match (ObjectName::new(queue), manager.is_empty() || ObjectName::new(manager).is_some()) {
            (Some(queue), true) => {
                parts.descriptor.reply_to_q = queue;
                parts.descriptor.reply_to_q_mgr = ObjectName::from(manager);
                parts.descriptor.msg_type = msg_type::REQUEST;
            }
            _ => {
                let value = PropertyValue::String(reply_to.to_owned());
                parts.properties.push((REPLY_TO.into(), value));
            }
        }
    }
    let sequence = field(fields, 11).number().and_then(|number| i32::try_from(number).ok());
    match (identifier(field(fields, 10)), field(fields, 10).text()) {
        (Some(id), _) => {
            parts.descriptor.group_id = id;
            parts.descriptor.msg_flags = msg_flags::MSG_IN_GROUP;
            parts.descriptor.msg_seq_number = sequence.unwrap_or(1).max(1);
        }
        (None, Some(group)) => {
            kept(parts, GROUP_ID, Some(PropertyValue::String(group.to_owned())));
            kept(parts, GROUP_SEQUENCE, sequence.map(PropertyValue::Int32));
        }
        _ => {}
    }
    for (at, name) in KEPT {
        let value = match field(fields, at) {
            Value::Timestamp(ms) => Some(PropertyValue::Int64(*ms)),
            other => other.text().map(|text| PropertyValue::String(text.to_owned())),
        };
        kept(parts, name, value);
    }
}

/// Has a message expire when it says, if its header does not limit its life; one whose time is
/// over expires at once.
pub(crate) fn limit(parts: &mut Parts, now_ms: u64) {
    let moment = parts.properties.iter().find(|(name, _)| name == EXPIRES_AT);
    let Some((_, PropertyValue::Int64(at))) = moment else { return };
    if parts.descriptor.expiry == EXPIRY_UNLIMITED {
        let left_ms = u64::try_from(*at).unwrap_or(0).saturating_sub(now_ms);
        let tenths = left_ms.div_ceil(100).max(1);
        parts.descriptor.expiry = i32::try_from(tenths).unwrap_or(EXPIRY_UNLIMITED);
    }
}

/// Keeps a map as it is.
fn keep_map(parts: &mut Parts, name: &str, pairs: Vec<(Value, Value)>) {
    if !pairs.is_empty() {
        let mut bytes = Vec::new();
        write(&Value::Map(pairs), &mut bytes);
        parts.properties.push((name.to_owned(), PropertyValue::Bytes(bytes)));
    }
}

/// A map that was kept.
fn kept_map(parts: &Parts, name: &str) -> Vec<(Value, Value)> {
    let found = parts.properties.iter().find(|(known, _)| known == name);
    let Some((_, PropertyValue::Bytes(bytes))) = found else { return Vec::new() };
    match Reader::new(bytes).value() {
        Some(Value::Map(pairs)) => pairs,
        _ => Vec::new(),
    }
}

/// An annotation of a message.
pub(crate) fn annotation(parts: &Parts, name: &str) -> Option<Value> {
    let pairs = kept_map(parts, ANNOTATIONS);
    pairs.into_iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| value)
}

fn application(parts: &mut Parts, pairs: Vec<(Value, Value)>) -> Option<()> {
    if pairs.len() > PROPERTIES_MAX {
        return None;
    }
    let mut exact = Vec::new();
    let mut names = Properties::default();
    for (key, value) in pairs {
        let name = key.text()?;
        let property = match &value {
            Value::Null => Some(PropertyValue::Null),
            Value::Bool(value) => Some(PropertyValue::Boolean(*value)),
            Value::Byte(value) => Some(PropertyValue::Int8(*value)),
            Value::Short(value) => Some(PropertyValue::Int16(*value)),
            Value::Int(value) => Some(PropertyValue::Int32(*value)),
            Value::Long(value) | Value::Timestamp(value) => Some(PropertyValue::Int64(*value)),
            Value::Ubyte(value) => Some(PropertyValue::Int16(i16::from(*value))),
            Value::Ushort(value) => Some(PropertyValue::Int32(i32::from(*value))),
            Value::Uint(value) => Some(PropertyValue::Int64(i64::from(*value))),
            Value::Ulong(value) => i64::try_from(*value).ok().map(PropertyValue::Int64),
            Value::Float(value) => Some(PropertyValue::Float32(*value)),
            Value::Double(value) => Some(PropertyValue::Float64(*value)),
            Value::Binary(bytes) => Some(PropertyValue::Bytes(bytes.clone())),
            Value::Text(text) | Value::Symbol(text) => Some(PropertyValue::String(text.clone())),
            Value::Uuid(uuid) => Some(PropertyValue::String(hex::lower(uuid))),
            _ => None,
        };
        // A name with a dot is one of a folder there, and those in front of `amqp_` are ours.
        let free = !name.contains('.') && !name.starts_with(OWN);
        let can = free && names.set(name, PropertyValue::Null).is_ok();
        let (name, property) = (name.to_owned(), property.filter(|_| can));
        if property.as_ref().is_none_or(|property| property_value(property) != value) {
            exact.push((key, value));
        }
        parts.properties.extend(property.map(|property| (name, property)));
    }
    keep_map(parts, EXACT, exact);
    Some(())
}

/// The application properties of a message.
fn pairs_of(parts: &Parts) -> Vec<(Value, Value)> {
    let exact = kept_map(parts, EXACT);
    let names: BTreeSet<&str> = exact.iter().filter_map(|(key, _)| key.text()).collect();
    let is_exact = |name: &str| names.contains(name);
    let ours = |name: &str| name.starts_with(OWN) || name.starts_with(OF_PUBLICATIONS);
    let others = parts.properties.iter().filter(|(name, _)| !ours(name) && !is_exact(name));
    let others = others.map(|(name, value)| (Value::Text(name.clone()), property_value(value)));
    let mut pairs: Vec<(Value, Value)> = others.collect();
    drop(names);
    pairs.extend(exact);
    pairs
}

/// The sections of a message of the queue manager with that name, which addresses of its own
/// queues do not say.
pub(crate) fn write_sections(parts: &Parts, own_manager: &str) -> Vec<u8> {
    let descriptor = &parts.descriptor;
    let find = |name: &str| {
        let found = parts.properties.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    };
    let text = |name: &str| match find(name) {
        Some(PropertyValue::String(text)) => Some(&**text),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(parts.data.len() + 256);
    let backouts = u32::try_from(descriptor.backout_count).unwrap_or(0);
    let ttl = match u32::try_from(descriptor.expiry) {
        Ok(tenths) => Value::Uint(tenths.saturating_mul(100)),
        Err(_) => Value::Null,
    };
    let header = vec![
        Value::Bool(descriptor.is_persistent()),
        Value::Ubyte(u8::try_from(descriptor.priority).unwrap_or(4)),
        ttl,
        Value::Bool(backouts == 0),
        Value::Uint(backouts),
    ];
    write(&Value::composite(0x70, header), &mut bytes);
    let annotations = kept_map(parts, ANNOTATIONS);
    if !annotations.is_empty() {
        let section = (Value::Ulong(0x72), Value::Map(annotations));
        write(&Value::Described(Box::new(section)), &mut bytes);
    }
    write(
        &Value::composite(0x73, property_fields(descriptor, own_manager, &text, &find)),
        &mut bytes,
    );
    let pairs = pairs_of(parts);
    if !pairs.is_empty() {
        let section = (Value::Ulong(0x74), Value::Map(pairs));
        write(&Value::Described(Box::new(section)), &mut bytes);
    }
    let is_text = descriptor.format == format::STRING;
    let body = match (text(BODY), std::str::from_utf8(&parts.data)) {
        (Some(_), _) => {
            bytes.extend_from_slice(&parts.data);
            return bytes;
        }
        (None, Ok(text)) if is_text => (Value::Ulong(0x77), Value::Text(text.to_owned())),
        _ => (Value::Ulong(0x75), Value::Binary(parts.data.clone())),
    };
    write(&Value::Described(Box::new(body)), &mut bytes);
    bytes
}

fn property_fields<'p>(
    descriptor: &MessageDescriptor,
    own_manager: &str,
    text: &dyn Fn(&str) -> Option<&'p str>,
    find: &dyn Fn(&str) -> Option<&'p PropertyValue>,
) -> Vec<Value> {
    let id = |name: &str, id: &Identifier| match text(name).and_then(restored_identifier) {
        Some(value) => value,
        None if *id == NO_IDENTIFIER => Value::Null,
        None => Value::Text(identifier_text(id)),
    };
    let manager = descriptor.reply_to_q_mgr.text();
    let reply_to = match (text(REPLY_TO), descriptor.reply_to_q.is_blank()) {
        (Some(address), _) => Value::Text(address.to_owned()),
        (None, true) => Value::Null,
        (None, false) if manager.is_empty() || manager == own_manager => {
            Value::Text(descriptor.reply_to_q.text())
        }
        (None, false) => Value::Text(format!("{}@{manager}", descriptor.reply_to_q)),
    };
    let in_group = descriptor.msg_flags & msg_flags::MSG_IN_GROUP != 0;
    let group = match (text(GROUP_ID), in_group) {
        (Some(group), _) => Value::Text(group.to_owned()),
        (None, true) => Value::Text(identifier_text(&descriptor.group_id)),
        (None, false) => Value::Null,
    };
    let sequence = match (find(GROUP_SEQUENCE), in_group) {
        (Some(PropertyValue::Int32(number)), _) => Value::Uint(u32::try_from(*number).unwrap_or(0)),
        (None, true) => Value::Uint(u32::try_from(descriptor.msg_seq_number).unwrap_or(1)),
        _ => Value::Null,
    };
    let user: Vec<u8> = descriptor.user_identifier.to_vec();
    let user = user.trim_ascii_end().to_vec();
    let symbol = |name: &str| text(name).map_or(Value::Null, Value::symbol);
    let moment = |name: &str| match find(name) {
        Some(PropertyValue::Int64(ms)) => Some(Value::Timestamp(*ms)),
        _ => None,
    };
    let put = || put_moment(descriptor).map_or(Value::Null, Value::Timestamp);
    let created = moment("amqp_creation_time").unwrap_or_else(put);
    vec![
        id(MESSAGE_ID, &descriptor.msg_id),
        if user.is_empty() { Value::Null } else { Value::Binary(user) },
        Value::text_or_null(text("amqp_to")),
        Value::text_or_null(text("amqp_subject")),
        reply_to,
        id(CORRELATION_ID, &descriptor.correl_id),
        symbol("amqp_content_type"),
        symbol("amqp_content_encoding"),
        moment(EXPIRES_AT).unwrap_or(Value::Null),
        created,
        group,
        sequence,
        Value::text_or_null(text("amqp_reply_to_group_id")),
    ]
}

/// When a message was put, milliseconds since 1970.
fn put_moment(descriptor: &MessageDescriptor) -> Option<i64> {
    let digits = |field: &[u8], from: usize, to: usize| {
        std::str::from_utf8(field.get(from..to)?).ok()?.parse::<i64>().ok()
    };
    let (date, time) = (&descriptor.put_date[..], &descriptor.put_time[..]);
    let (year, month, day) = (digits(date, 0, 4)?, digits(date, 4, 6)?, digits(date, 6, 8)?);
    let (hour, minute) = (digits(time, 0, 2)?, digits(time, 2, 4)?);
    let (second, hundredths) = (digits(time, 4, 6)?, digits(time, 6, 8)?);
    let days = Date { year, month, day }.to_day();
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(seconds * 1_000 + hundredths * 10)
}

fn property_value(value: &PropertyValue) -> Value {
    match value {
        PropertyValue::Null => Value::Null,
        PropertyValue::Boolean(value) => Value::Bool(*value),
        PropertyValue::Bytes(bytes) => Value::Binary(bytes.clone()),
        PropertyValue::Int8(value) => Value::Byte(*value),
        PropertyValue::Int16(value) => Value::Short(*value),
        PropertyValue::Int32(value) => Value::Int(*value),
        PropertyValue::Int64(value) => Value::Long(*value),
        PropertyValue::Float32(value) => Value::Float(*value),
        PropertyValue::Float64(value) => Value::Double(*value),
        PropertyValue::String(text) => Value::Text(text.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(code: u64, value: Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&Value::Described(Box::new((Value::Ulong(code), value))), &mut bytes);
        bytes
    }

    #[test]
    fn a_text_is_a_string_with_its_header_and_properties() {
        let id = identifier_text(&[7; 24]);
        let mut fields = vec![Value::Null; 6];
        fields[0] = Value::Text(id.clone());
        fields[4] = Value::Text("REPLY.Q@QM2".into());
        fields[5] = Value::Ulong(77);
        let header = vec![Value::Bool(true), Value::Ubyte(7), Value::Uint(1_500)];
        let pairs = vec![(Value::Text("colour".into()), Value::Text("red".into()))];
        let bytes = [
            section(0x70, Value::List(header)),
            section(0x73, Value::List(fields)),
            section(0x74, Value::Map(pairs)),
            section(0x77, Value::Text("hello".into())),
        ]
        .concat();
        let parts = read(&bytes).expect("it is a message");
        let descriptor = &parts.descriptor;
        assert_eq!((descriptor.persistence, descriptor.priority, descriptor.expiry), (1, 7, 15));
        assert_eq!((descriptor.msg_id, descriptor.format), ([7; 24], format::STRING));
        assert_eq!(descriptor.reply_to_q.text(), "REPLY.Q");
        assert_eq!(descriptor.reply_to_q_mgr.text(), "QM2");
        assert_eq!(parts.data, b"hello");
        let again = read(&write_sections(&parts, "QM1")).expect("it is a message again");
        assert_eq!(again.descriptor.msg_id, descriptor.msg_id);
        assert_eq!(again.properties, parts.properties);
        assert_eq!(again.data, parts.data);
    }

    #[test]
    fn a_moment_limits_a_life_that_nothing_else_does() {
        let read_with = |header: Vec<Value>, moment| {
            let mut fields = vec![Value::Null; 9];
            fields[8] = Value::Timestamp(moment);
            let bytes = [
                section(0x70, Value::List(header)),
                section(0x73, Value::List(fields)),
                section(0x77, Value::Text("hello".into())),
            ];
            let mut parts = read(&bytes.concat()).expect("it is a message");
            limit(&mut parts, 10_000);
            parts.descriptor.expiry
        };
        let unlimited = || vec![Value::Bool(true)];
        assert_eq!(read_with(unlimited(), 11_001), 11);
        assert_eq!([read_with(unlimited(), 9_000), read_with(unlimited(), -1)], [1, 1]);
        assert_eq!(read_with(unlimited(), i64::MAX), EXPIRY_UNLIMITED);
        let header = vec![Value::Bool(true), Value::Null, Value::Uint(200)];
        assert_eq!(read_with(header, 11_001), 2, "the ttl counts");
    }

    #[test]
    fn bodies_of_every_kind_come_back() {
        let map = Value::Map(vec![(Value::Text("k".into()), Value::Int(1))]);
        for body in [
            section(0x75, Value::Binary(vec![1, 2, 3])),
            section(0x77, map),
            section(0x76, Value::List(vec![Value::Int(1)])),
            section(0x77, Value::Null),
        ] {
            let parts = read(&body).expect("it is a message");
            let written = write_sections(&parts, "QM1");
            assert!(written.ends_with(&body), "{parts:?}");
            let footer = section(0x78, Value::Map(vec![]));
            let with = read(&[body.clone(), footer].concat()).expect("it is a message");
            assert_eq!(with.data, parts.data);
        }
    }

    #[test]
    fn properties_and_annotations_keep_their_kinds_and_names() {
        let text = |text: &str| Value::Text(text.into());
        let mut pairs = vec![
            (text("n"), Value::Int(5)),
            (text("u"), Value::Ulong(u64::MAX)),
            (text("b"), Value::Ubyte(7)),
            (text("a-b c"), text("odd")),
            (text("x.y"), Value::Bool(true)),
            (text("amqp_body"), text("not ours")),
            (text("when"), Value::Timestamp(5)),
            (text("nothing"), Value::Null),
        ];
        let mut notes = vec![(Value::symbol("x-opt-jms-dest"), Value::Byte(1))];
        let bytes = [
            section(0x72, Value::Map(notes.clone())),
            section(0x74, Value::Map(pairs.clone())),
            section(0x77, text("hello")),
        ]
        .concat();
        let parts = read(&bytes).expect("it is a message");
        assert_eq!(annotation(&parts, "x-opt-jms-dest"), Some(Value::Byte(1)));
        let visible = |name: &str| parts.properties.iter().any(|(known, _)| known == name);
        assert!(visible("n") && visible("b") && visible("when") && !visible("x.y"));
        let again = write_sections(&parts, "QM1");
        let mut reader = Reader::new(&again);
        while let Some(Value::Described(one)) = reader.value() {
            match (one.0.number(), one.1) {
                (Some(0x74), Value::Map(found)) => {
                    pairs.retain(|pair| !found.contains(pair));
                }
                (Some(0x72), Value::Map(found)) => notes.retain(|pair| !found.contains(pair)),
                _ => {}
            }
        }
        assert_eq!((pairs, notes), (vec![], vec![]));
    }

    #[test]
    fn a_message_has_at_most_a_thousand_properties() {
        let with = |count: usize| {
            let pairs = (0..count).map(|at| (Value::Text(format!("p{at}")), Value::Int(1)));
            read(&section(0x74, Value::Map(pairs.collect())))
        };
        assert_eq!(with(1_000).expect("it is a message").properties.len(), 1_001);
        assert_eq!(with(1_001), None);
    }

    #[test]
    fn what_stands_around_a_body_has_a_limit_and_a_body_its_own() {
        let with = |kind: u64, bytes: usize| {
            let long = Value::Text("x".repeat(bytes));
            let pairs = Value::Map(vec![(Value::Text("p".into()), long.clone())]);
            let value = if kind == 0x77 { long } else { pairs };
            read(&section(kind, value)).is_some()
        };
        for kind in [0x72, 0x74] {
            assert!(with(kind, 1_000_000) && !with(kind, PROPERTIES_BYTES_MAX), "{kind:x}");
        }
        assert!(with(0x77, 2 * PROPERTIES_BYTES_MAX));
    }

    #[test]
    fn a_message_without_a_body_is_one() {
        let bytes = section(0x70, Value::List(vec![Value::Bool(true)]));
        let parts = read(&bytes).expect("it is a message");
        assert_eq!((parts.data.len(), parts.descriptor.persistence), (0, 1));
        let again = read(&write_sections(&parts, "QM1")).expect("it is a message again");
        assert_eq!((again.data, again.properties), (parts.data, parts.properties));
    }

    #[test]
    fn what_is_no_message_is_refused() {
        assert_eq!(read(b""), None);
        assert_eq!(read(b"junk"), None);
        assert_eq!(read(&section(0x75, Value::Text("x".into()))), None);
        assert_eq!(read(&section(0x75, Value::Null)), None);
    }

    #[test]
    fn moments_are_those_of_the_descriptor() {
        let descriptor = MessageDescriptor {
            put_date: *b"20000229",
            put_time: *b"00000050",
            ..MessageDescriptor::default()
        };
        assert_eq!(put_moment(&descriptor), Some(951_782_400_500));
        assert_eq!(put_moment(&MessageDescriptor::default()), None);
    }
}
