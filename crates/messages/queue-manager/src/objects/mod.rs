//! What is defined: queues, topics, processes and the like, each with typed attributes.
//!
//! | to understand | look at |
//! |---|---|
//! | which attributes a kind has, with defaults and selectors | `tables`, `other_tables` |
//! | what a value is, how it is read | `value` |
//! | how a definition stands in the store | [`Object::write`] |
//!
//! | bytes of a definition | |
//! |---|---|
//! | 1 | version, 1 |
//! | 4 | the queue's number; 0 for others |
//! | for each attribute: 1, n | length of the keyword, keyword |
//! | 4, n | length of the value, the value as it is written |
//!
//! 1. All queues share one space of names, whatever their kind.
//! 2. A definition is read by keywords, so attributes may be added to the tables; what a
//!    definition does not have, has its default.

mod other_tables;
mod tables;
mod value;

use std::fmt;

pub use value::{Access, Attribute, BadValue, Value, ValueKind};

use base::bytes::Reader;

const VERSION: u8 = 1;

/// The kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // the names say it
pub enum Kind {
    QueueManager = 1,
    QueueLocal = 2,
    QueueAlias = 3,
    QueueRemote = 4,
    QueueModel = 5,
    Topic = 6,
    Subscription = 7,
    Process = 8,
    Namelist = 9,
    Channel = 10,
    ClientChannel = 11,
    Listener = 12,
    Service = 13,
    StorageClass = 14,
    AuthenticationInformation = 15,
    ChannelAuthority = 16,
    AuthorityRecord = 17,
    PageSet = 18,
    BufferPool = 19,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 19] = [
        Kind::QueueManager,
        Kind::QueueLocal,
        Kind::QueueAlias,
        Kind::QueueRemote,
        Kind::QueueModel,
        Kind::Topic,
        Kind::Subscription,
        Kind::Process,
        Kind::Namelist,
        Kind::Channel,
        Kind::ClientChannel,
        Kind::Listener,
        Kind::Service,
        Kind::StorageClass,
        Kind::AuthenticationInformation,
        Kind::ChannelAuthority,
        Kind::AuthorityRecord,
        Kind::PageSet,
        Kind::BufferPool,
    ];

    /// The attributes of objects of this kind.
    #[must_use]
    pub fn attributes(self) -> &'static [Attribute] {
        match self {
            Kind::QueueManager => other_tables::QUEUE_MANAGER,
            Kind::QueueLocal => tables::QLOCAL,
            Kind::QueueAlias => tables::QALIAS,
            Kind::QueueRemote => tables::QREMOTE,
            Kind::QueueModel => tables::QMODEL,
            Kind::Topic => other_tables::TOPIC,
            Kind::Subscription => other_tables::SUBSCRIPTION,
            Kind::Process => other_tables::PROCESS,
            Kind::Namelist => other_tables::NAMELIST,
            Kind::Channel | Kind::ClientChannel => other_tables::CHANNEL,
            Kind::Listener => other_tables::LISTENER,
            Kind::Service => other_tables::SERVICE,
            Kind::StorageClass => tables::STORAGE_CLASS,
            Kind::AuthenticationInformation => other_tables::AUTHENTICATION_INFORMATION,
            Kind::ChannelAuthority => other_tables::CHANNEL_AUTHORITY,
            Kind::AuthorityRecord => other_tables::AUTHORITY_RECORD,
            Kind::PageSet => tables::PAGE_SET,
            Kind::BufferPool => tables::BUFFER_POOL,
        }
    }

    /// Whether objects of this kind are queues.
    #[must_use]
    pub fn is_queue(self) -> bool {
        matches!(self, Kind::QueueLocal | Kind::QueueAlias | Kind::QueueRemote | Kind::QueueModel)
    }

    /// The kind that stands for all kinds with the same space of names.
    #[must_use]
    pub fn space(self) -> Kind {
        if self.is_queue() { Kind::QueueLocal } else { self }
    }

    /// The word of commands.
    #[must_use]
    pub fn keyword(self) -> &'static str {
        match self {
            Kind::QueueManager => "QMGR",
            Kind::QueueLocal => "QLOCAL",
            Kind::QueueAlias => "QALIAS",
            Kind::QueueRemote => "QREMOTE",
            Kind::QueueModel => "QMODEL",
            Kind::Topic => "TOPIC",
            Kind::Subscription => "SUB",
            Kind::Process => "PROCESS",
            Kind::Namelist => "NAMELIST",
            Kind::Channel => "CHANNEL",
            Kind::ClientChannel => "CLNTCONN",
            Kind::Listener => "LISTENER",
            Kind::Service => "SERVICE",
            Kind::StorageClass => "STGCLASS",
            Kind::AuthenticationInformation => "AUTHINFO",
            Kind::ChannelAuthority => "CHLAUTH",
            Kind::AuthorityRecord => "AUTHREC",
            Kind::PageSet => "PSID",
            Kind::BufferPool => "BUFFPOOL",
        }
    }

    pub(crate) fn of_byte(byte: u8) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }

    /// Bytes of the longest name of this kind.
    #[must_use]
    pub fn name_bytes_max(self) -> usize {
        match self {
            Kind::Subscription => 10_240,
            Kind::Channel | Kind::ClientChannel => 20,
            Kind::StorageClass => 8,
            Kind::PageSet | Kind::BufferPool => 2,
            // Composed of what tells one record from another.
            Kind::ChannelAuthority | Kind::AuthorityRecord => 4_096,
            _ => 48,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.keyword())
    }
}

/// A definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// The number of a local queue, under which its messages are kept; 0 for others.
    pub number: u32,
    values: Vec<Value>,
}

impl Object {
    /// An object with the defaults of its kind.
    #[must_use]
    pub fn new(kind: Kind, name: &str) -> Object {
        let values = kind.attributes().iter().map(Attribute::default_value).collect();
        Object { kind, name: name.to_owned(), number: 0, values }
    }

    /// The attributes with their values, in the order of the table.
    pub fn attributes(&self) -> impl Iterator<Item = (&'static Attribute, &Value)> {
        self.kind.attributes().iter().zip(&self.values)
    }

    /// The value of an attribute.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.attributes().find(|(attribute, _)| attribute.name == name).map(|(_, value)| value)
    }

    /// A number; 0 if the object has no such attribute.
    #[must_use]
    pub fn number_of(&self, name: &str) -> i64 {
        self.get(name).map_or(0, Value::number)
    }

    /// A text or word; empty if the object has no such attribute.
    #[must_use]
    pub fn text_of(&self, name: &str) -> &str {
        self.get(name).map_or("", Value::text)
    }

    /// Whether an attribute has this word.
    #[must_use]
    pub fn is(&self, name: &str, word: &str) -> bool {
        self.text_of(name) == word
    }

    /// Sets an attribute, whatever its access is.
    ///
    /// # Errors
    /// If there is no such attribute, or it does not take the value.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<(), BadValue> {
        let table = self.kind.attributes();
        let Some(at) = table.iter().position(|attribute| attribute.name == name) else {
            let why = format!("{} has no attribute {name}", self.kind);
            return Err(BadValue { attribute: "", value: value.to_string(), why });
        };
        self.values[at] = table[at].check(value)?;
        Ok(())
    }

    /// The attribute with a selector, and its value.
    #[must_use]
    pub fn selected(&self, selector: i32) -> Option<(&'static Attribute, &Value)> {
        self.attributes().find(|(attribute, _)| attribute.selector == selector && selector != 0)
    }

    /// The object as the store keeps it.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&self.number.to_le_bytes());
        for (attribute, value) in self.attributes() {
            let text = value.to_string();
            bytes.push(attribute.name.len() as u8);
            bytes.extend_from_slice(attribute.name.as_bytes());
            bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes
    }

    /// The object that was written; `None` if the bytes are not one.
    #[must_use]
    pub fn read(kind: Kind, name: &str, bytes: &[u8]) -> Option<Object> {
        let mut reader = Reader::new(bytes);
        if reader.u8()? != VERSION {
            return None;
        }
        let mut object = Object::new(kind, name);
        object.number = reader.u32()?;
        while !reader.is_empty() {
            let length = usize::from(reader.u8()?);
            let keyword = std::str::from_utf8(reader.take(length)?).ok()?;
            let length = reader.u32()? as usize;
            let value = std::str::from_utf8(reader.take(length)?).ok()?;
            // An attribute that a later release no longer has is passed over.
            let _ = object.set(keyword, &Value::Text(value.to_owned()));
        }
        Some(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_of_its_attribute() {
        for kind in Kind::ALL {
            for attribute in kind.attributes() {
                assert!(attribute.parse(attribute.default).is_ok(), "{kind} {}", attribute.name);
            }
        }
    }

    #[test]
    fn an_object_comes_back_as_it_was_written() {
        for kind in Kind::ALL {
            let mut object = Object::new(kind, "APP.THING");
            object.number = 7;
            let _ = object.set("DESCR", &"it's a thing, with a comma".into());
            let _ = object.set("NAMES", &Value::List(vec!["A".into(), "B".into()]));
            assert_eq!(Object::read(kind, "APP.THING", &object.write()), Some(object), "{kind}");
        }
        assert_eq!(Object::read(Kind::Topic, "T", &[9, 0]), None);
    }

    #[test]
    fn values_are_held_to_their_rules() {
        let mut queue = Object::new(Kind::QueueLocal, "Q");
        assert!(queue.set("MAXDEPTH", &Value::Number(1_000_000_000)).is_err());
        assert!(queue.set("DEFPSIST", &"maybe".into()).is_err());
        assert!(queue.set("NOSUCH", &"1".into()).is_err());
        queue.set("DEFPSIST", &"yes".into()).unwrap();
        queue.set("GET", &Value::Number(1)).unwrap();
        assert!(queue.is("DEFPSIST", "YES") && queue.is("GET", "DISABLED"));
        assert_eq!(queue.selected(15).map(|(attribute, _)| attribute.name), Some("MAXDEPTH"));
    }
}
