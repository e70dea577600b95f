//! Headers of messages: what a descriptor says, as requests and answers have it.
//!
//! | header | descriptor |
//! |---|---|
//! | `ibm-mq-md-messageId` | MsgId, 48 digits; in version 3 behind `ID:` |
//! | `ibm-mq-md-correlationId` | CorrelId, the same; in version 3 any other text is that of JMS |
//! | `ibm-mq-md-expiry` | Expiry: milliseconds, or `unlimited` |
//! | `ibm-mq-md-persistence` | Persistence: `persistent`, or `nonPersistent`, as is the default |
//! | `ibm-mq-md-replyTo` | ReplyToQ, or ReplyToQ`@`ReplyToQMgr |
//! | `ibm-mq-md-priority` | Priority, from version 3; 4 is the default |
//! | `ibm-mq-usr` | properties, from version 3 (see `properties`) |
//!
//! 1. A value that a header does not take is refused by its name; nothing is put then.
//! 2. Milliseconds are rounded up to tenths of a second: no message lives shorter than was asked.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use queue_manager::descriptor::value::{EXPIRY_UNLIMITED, format, msg_type, persistence};
use queue_manager::descriptor::{Identifier, NO_IDENTIFIER};
use queue_manager::properties::{Property, PropertyValue};
use queue_manager::{MessageDescriptor, ObjectName};

use crate::error::Problem;
use crate::properties;
use crate::request::{Ask, Version};
use crate::resources::{
    CORRELATION, EXPIRY, MESSAGE_ID, PERSISTENCE, PRIORITY, PROPERTIES, REPLY_TO,
};

/// The code page of texts that are put.
pub(crate) const UTF_8: i32 = 1_208;
/// The most that an expiry can be, in milliseconds.
const EXPIRY_MS_MAX: u64 = 99_999_999_900;
/// What JMS gives a message that says nothing.
const USUAL_PRIORITY: i32 = 4;
/// The property that says what kind of JMS message it is, and its value for texts.
const KIND: &str = "mcd.Msd";
const TEXT_MESSAGE: &str = "jms_text";
/// The property with a correlation identifier that is a text.
const JMS_CORRELATION: &str = "jms.Cid";
const PREFIX: &str = "ID:";

/// What a message belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Correlation {
    Identifier(Identifier),
    /// A text, which JMS keeps as it is.
    Text(String),
}

/// A message to be put, but for its data.
#[derive(Clone, Debug)]
pub(crate) struct Heading {
    pub(crate) descriptor: MessageDescriptor,
    pub(crate) properties: Vec<(String, PropertyValue)>,
}

fn identifier_of(digits: &str) -> Option<Identifier> {
    base::hex::array(digits)
}

fn shown(id: &Identifier, version: Version) -> String {
    let digits = base::hex::lower(id);
    match version {
        Version::V3 => format!("{PREFIX}{digits}"),
        _ => digits,
    }
}

/// An identifier of a message, as a version writes it.
pub(crate) fn message_id(text: &str, version: Version) -> Option<Identifier> {
    match version {
        Version::V3 => identifier_of(text.strip_prefix(PREFIX)?),
        _ => identifier_of(text),
    }
}

/// An identifier of messages that belong together, as a version writes it.
pub(crate) fn correlation(text: &str, version: Version) -> Option<Correlation> {
    match (version, text.strip_prefix(PREFIX)) {
        (Version::V3, Some(digits)) => identifier_of(digits).map(Correlation::Identifier),
        (Version::V3, None) => {
            let fits = !text.is_empty() && !text.chars().any(char::is_control);
            fits.then(|| Correlation::Text(text.to_owned()))
        }
        _ => identifier_of(text).map(Correlation::Identifier),
    }
}

impl Correlation {
    /// As the descriptor has it: of a text its first bytes.
    pub(crate) fn identifier(&self) -> Identifier {
        match self {
            Correlation::Identifier(id) => *id,
            Correlation::Text(text) => {
                let mut id = NO_IDENTIFIER;
                let length = text.len().min(id.len());
                id[..length].copy_from_slice(&text.as_bytes()[..length]);
                id
            }
        }
    }

    /// Whether a message with this identifier in its descriptor is meant.
    pub(crate) fn fits(&self, properties: &[Property]) -> bool {
        match self {
            Correlation::Identifier(_) => true,
            // One that was put by other means has no property, and is meant if it is no longer.
            Correlation::Text(text) => text_correlation(properties)
                .map_or(text.len() <= NO_IDENTIFIER.len(), |own| own == text),
        }
    }
}

fn text_correlation(properties: &[Property]) -> Option<&str> {
    let found = properties.iter().find(|one| one.name == JMS_CORRELATION)?;
    match &found.value {
        PropertyValue::String(text) if !text.starts_with(PREFIX) => Some(text),
        _ => None,
    }
}

/// Whether a message is a text: without properties, or of JMS.
pub(crate) fn is_text(descriptor: &MessageDescriptor, properties: &[Property]) -> bool {
    let kind = properties.iter().find(|one| one.name == KIND).map(|one| &one.value);
    let fits = match kind {
        Some(PropertyValue::String(kind)) => kind == TEXT_MESSAGE || kind == "xms_text",
        _ => true,
    };
    descriptor.format == format::STRING && fits
}

/// Reads the headers of a message to be put.
pub(crate) fn read(ask: &Ask) -> Result<Heading, Problem> {
    let mut heading = Heading {
        descriptor: MessageDescriptor {
            format: format::STRING,
            ccsid: UTF_8,
            persistence: persistence::NOT_PERSISTENT,
            priority: USUAL_PRIORITY,
            ..MessageDescriptor::default()
        },
        properties: Vec::new(),
    };
    let descriptor = &mut heading.descriptor;
    if let Some(text) = ask.header(EXPIRY)? {
        descriptor.expiry = expiry(text)?;
    }
    if let Some(text) = ask.header(PERSISTENCE)? {
        descriptor.persistence = match text {
            "persistent" => persistence::PERSISTENT,
            "nonPersistent" => persistence::NOT_PERSISTENT,
            _ => {
                let why = "It takes persistent or nonPersistent.";
                return Err(Problem::header(PERSISTENCE, text, why));
            }
        };
    }
    if let Some(text) = ask.header(REPLY_TO)? {
        (descriptor.reply_to_q, descriptor.reply_to_q_mgr) = reply_to(text)?;
        descriptor.msg_type = msg_type::REQUEST;
    }
    let correlated = match ask.header(CORRELATION)? {
        None => None,
        Some(text) => {
            let why = match ask.version {
                Version::V3 => "It takes ID: and 48 hexadecimal digits, or a text.",
                _ => "It takes 48 hexadecimal digits.",
            };
            let read = correlation(text, ask.version);
            Some(read.ok_or_else(|| Problem::header(CORRELATION, text, why))?)
        }
    };
    if let Some(correlated) = &correlated {
        descriptor.correl_id = correlated.identifier();
    }
    if ask.version < Version::V3 {
        return Ok(heading);
    }
    if let Some(text) = ask.header(PRIORITY)? {
        let priority = text.parse().ok().filter(|priority| (0..=9).contains(priority));
        descriptor.priority =
            priority.ok_or_else(|| Problem::header(PRIORITY, text, "It takes 0 to 9."))?;
    }
    let mut properties = Vec::new();
    for value in ask.headers.get_all(PROPERTIES) {
        let text = std::str::from_utf8(value.as_bytes());
        let text = text.map_err(|_| Problem::header(PROPERTIES, "", "It is no UTF-8."))?;
        let read = properties::read(text);
        properties.extend(read.map_err(|why| Problem::header(PROPERTIES, text, &why))?);
    }
    if let Some(Correlation::Text(text)) = correlated {
        let value = PropertyValue::String(text);
        heading.properties.push((JMS_CORRELATION.to_owned(), value));
    }
    if !properties.is_empty() || !heading.properties.is_empty() {
        let value = PropertyValue::String(TEXT_MESSAGE.to_owned());
        heading.properties.insert(0, (KIND.to_owned(), value));
    }
    heading.properties.append(&mut properties);
    Ok(heading)
}

fn expiry(text: &str) -> Result<i32, Problem> {
    if text == "unlimited" {
        return Ok(EXPIRY_UNLIMITED);
    }
    let ms = text.parse::<u64>().ok().filter(|ms| *ms <= EXPIRY_MS_MAX);
    let why = || format!("It takes unlimited, or milliseconds from 0 to {EXPIRY_MS_MAX}.");
    let ms = ms.ok_or_else(|| Problem::header(EXPIRY, text, &why()))?;
    // Nothing, as in JMS, is no end.
    Ok(match i32::try_from(ms.div_ceil(100)) {
        Ok(0) => EXPIRY_UNLIMITED,
        tenths => tenths.unwrap_or(i32::MAX),
    })
}

fn reply_to(text: &str) -> Result<(ObjectName, ObjectName), Problem> {
    let (queue, manager) = match text.split_once('@') {
        Some((queue, manager)) => (queue, Some(manager)),
        None => (text, None),
    };
    let queue = ObjectName::new(queue);
    let manager = manager.map_or(Some(ObjectName::BLANK), ObjectName::new);
    let why = "It takes the name of a queue, and perhaps @ and that of its queue manager.";
    queue.zip(manager).ok_or_else(|| Problem::header(REPLY_TO, text, why))
}

fn put(headers: &mut HeaderMap, name: &str, value: &str) {
    let name = HeaderName::from_bytes(name.to_ascii_lowercase().as_bytes());
    // What no header can hold is left out, not the message with it.
    if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes())) {
        headers.insert(name, value);
    }
}

/// Where a message that was put is found again.
pub(crate) fn write_message_id(headers: &mut HeaderMap, id: &Identifier, version: Version) {
    put(headers, MESSAGE_ID, &shown(id, version));
}

/// Writes the headers of a message that is shown.
pub(crate) fn write(
    headers: &mut HeaderMap,
    descriptor: &MessageDescriptor,
    of_message: &[Property],
    version: Version,
) {
    write_message_id(headers, &descriptor.msg_id, version);
    if let Some(text) = shown_correlation(descriptor, of_message, version) {
        put(headers, CORRELATION, &text);
    }
    let expiry = match u64::try_from(descriptor.expiry) {
        Ok(tenths) => (tenths * 100).to_string(),
        Err(_) => "unlimited".to_owned(),
    };
    put(headers, EXPIRY, &expiry);
    let word = if descriptor.is_persistent() { "persistent" } else { "nonPersistent" };
    put(headers, PERSISTENCE, word);
    if !descriptor.reply_to_q.is_blank() {
        let queue = descriptor.reply_to_q.text();
        let to = match descriptor.reply_to_q_mgr.is_blank() {
            true => queue,
            false => format!("{queue}@{}", descriptor.reply_to_q_mgr),
        };
        put(headers, REPLY_TO, &to);
    }
    if version < Version::V3 {
        return;
    }
    put(headers, PRIORITY, &descriptor.priority.to_string());
    let text = properties::write(of_message);
    if !text.is_empty() {
        put(headers, PROPERTIES, &text);
    }
}

/// The correlation identifier of a message, if it has one.
pub(crate) fn shown_correlation(
    descriptor: &MessageDescriptor,
    properties: &[Property],
    version: Version,
) -> Option<String> {
    let text = text_correlation(properties).filter(|_| version == Version::V3);
    let id = (descriptor.correl_id != NO_IDENTIFIER).then_some(&descriptor.correl_id);
    text.map(str::to_owned).or_else(|| id.map(|id| shown(id, version)))
}

/// An identifier as lists show it.
pub(crate) fn shown_id(id: &Identifier, version: Version) -> String {
    shown(id, version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_have_the_form_of_their_version() {
        let digits = "414d5120514d31202020202020202020aabbccdd00112233";
        let id = identifier_of(digits).unwrap();
        assert_eq!(shown(&id, Version::V2), digits);
        assert_eq!(message_id(&shown(&id, Version::V3), Version::V3), Some(id));
        assert_eq!(message_id(digits, Version::V3), None);
        assert_eq!(message_id(&format!("ID:{digits}"), Version::V1), None);
        for bad in ["", "41", &digits[1..], &digits.replace('4', "+"), &digits.replace('4', "g")] {
            assert_eq!(identifier_of(bad), None, "{bad}");
        }
        let text = correlation("order 17", Version::V3).unwrap();
        assert_eq!(&text.identifier()[..9], b"order 17\0");
        assert_eq!(correlation("order 17", Version::V2), None);
        assert_eq!(correlation("ID:17", Version::V3), None);
    }

    #[test]
    fn expiries_are_never_shortened() {
        assert_eq!(expiry("unlimited").unwrap(), -1);
        assert_eq!(expiry("0").unwrap(), -1);
        assert_eq!(expiry("1").unwrap(), 1);
        assert_eq!(expiry("30000").unwrap(), 300);
        assert_eq!(expiry("99999999900").unwrap(), 999_999_999);
        for bad in ["", "-1", "99999999901", "never", "1.5", "Unlimited"] {
            assert!(expiry(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn places_for_answers_are_names() {
        let (queue, manager) = reply_to("REPLIES@QM2").unwrap();
        assert_eq!((queue.text(), manager.text()), ("REPLIES".into(), "QM2".into()));
        assert!(reply_to("REPLIES").unwrap().1.is_blank());
        for bad in ["", "@QM2", "A@", "two words", "A@B@C"] {
            assert!(reply_to(bad).is_err(), "{bad}");
        }
    }
}
