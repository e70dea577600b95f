//! Calls of the queue manager that several jobs make: puts and gets with properties.

use queue_manager::descriptor::value::persistence;
use queue_manager::options::value::{get, matching, put};
use queue_manager::options::{GetOptions, Handle, ObjectDescriptor, PutOptions};
use queue_manager::properties::{InquireOptions, PropertyValue};
use queue_manager::{Answer, Connection, MessageDescriptor, Reason};
use store::Store;

use crate::message::{Parts, annotation};
use crate::terminus::addressed;
use crate::value::Value;
use crate::work::{MESSAGE_BYTES_MAX, Place};

/// How often a thread that waits for messages looks whether it is to go on.
const LOOK_MS: i32 = 250;

/// Where a message of an anonymous link goes.
pub(crate) fn place_of(parts: &Parts) -> Option<Place> {
    let found = parts.properties.iter().find(|(name, _)| name == "amqp_to")?;
    let PropertyValue::String(address) = &found.1 else { return None };
    // Clients of JMS say what their addresses are of: 0 and 2 are queues, 1 and 3 topics.
    let kind = annotation(parts, "x-opt-jms-dest").and_then(|kind| match kind {
        Value::Byte(kind) => u64::try_from(kind).ok(),
        other => other.number(),
    });
    let (topic, queue) = (matches!(kind, Some(1 | 3)), matches!(kind, Some(0 | 2)));
    Some(addressed(address, topic, queue))
}

/// Puts a message on what it is for.
pub(crate) fn put_parts<S: Store>(
    connection: &mut Connection<S>,
    what: &mut ObjectDescriptor,
    parts: Parts,
    in_unit: bool,
) -> Answer<()> {
    let Parts { mut descriptor, properties, data } = parts;
    let unit = if in_unit { put::SYNCPOINT } else { put::NO_SYNCPOINT };
    let mut options = PutOptions::new(unit);
    if descriptor.msg_id == [0; 24] {
        options.options |= put::NEW_MSG_ID;
    }
    let handle = match properties.is_empty() {
        true => None,
        false => Some(connection.create_message_handle()?),
    };
    let mut set = Ok(());
    if let Some(handle) = handle {
        for (name, value) in properties {
            set = set.and_then(|()| connection.set_property(handle, &name, value).map(|_| ()));
        }
        options.original_msg_handle = Some(handle);
    }
    let put = set.and_then(|()| {
        let put = connection.put1(what, &mut descriptor, &mut options, &data);
        match put {
            // A queue that goes with its connection keeps nothing longer than that.
            Err(failed) if failed.0 == Reason::PERSISTENT_NOT_ALLOWED => {
                descriptor.persistence = persistence::NOT_PERSISTENT;
                connection.put1(what, &mut descriptor, &mut options, &data)
            }
            put => put,
        }
    });
    if let Some(handle) = handle {
        let _ = connection.delete_message_handle(handle);
    }
    put.map(|_| ())
}

/// A message, and how many bytes it has, all of them in it or not.
pub(crate) type Taken = Option<(MessageDescriptor, Parts, usize)>;

/// Gets a message with its properties and as many of its bytes as there is room for, or waits a
/// while for one.
pub(crate) fn got<S: Store>(
    connection: &mut Connection<S>,
    queue: Handle,
    (how, room): (i32, usize),
    drain: bool,
) -> Answer<Taken> {
    let handle = connection.create_message_handle()?;
    let mut options = GetOptions::new(how | get::PROPERTIES_IN_HANDLE | get::FAIL_IF_QUIESCING);
    if room < MESSAGE_BYTES_MAX {
        options.options |= get::ACCEPT_TRUNCATED_MSG;
    }
    if !drain {
        options.options |= get::WAIT;
        options.wait_interval = LOOK_MS;
    }
    options.match_options = matching::NONE;
    options.msg_handle = Some(handle);
    let mut descriptor = MessageDescriptor::default();
    let mut data = Vec::new();
    let found = connection.get(queue, &mut descriptor, &mut options, room, &mut data);
    let mut properties = Vec::new();
    if found.is_ok() {
        let mut which = InquireOptions::First;
        while let Ok(property) = connection.inquire_property(handle, "%", which) {
            properties.push((property.name, property.value));
            which = InquireOptions::Next;
        }
    }
    let _ = connection.delete_message_handle(handle);
    match found {
        Err(failed) if failed.0 == Reason::NO_MSG_AVAILABLE => Ok(None),
        Err(failed) => Err(failed),
        Ok(got) => {
            let of_properties: usize =
                properties.iter().map(|(name, value)| size(name, value)).sum();
            let bytes = got.data_length + of_properties;
            let parts = Parts { descriptor: MessageDescriptor::default(), properties, data };
            Ok(Some((descriptor, parts, bytes)))
        }
    }
}

/// Bytes of a property, about.
fn size(name: &str, value: &PropertyValue) -> usize {
    name.len()
        + match value {
            PropertyValue::Bytes(bytes) => bytes.len(),
            PropertyValue::String(text) => text.len(),
            _ => 8,
        }
}
