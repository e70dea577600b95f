//! Calls of the queue manager that several jobs make: puts and gets with properties.

use queue_manager::options::value::{get, matching, put};
use queue_manager::options::{GetOptions, Handle, ObjectDescriptor, PutOptions};
use queue_manager::properties::InquireOptions;
use queue_manager::{Answer, Connection, MessageDescriptor, ObjectName, Reason};
use store::Store;

use crate::message::Parts;
use crate::work::MESSAGE_BYTES_MAX;

/// How often a thread that waits for messages looks whether it is to go on.
const LOOK_MS: i32 = 250;

/// Where a message of an anonymous link goes.
pub(crate) fn address_of(parts: &Parts) -> Option<String> {
    use queue_manager::properties::PropertyValue;
    let found = parts.properties.iter().find(|(name, _)| name == "amqp_to")?;
    let PropertyValue::String(address) = &found.1 else { return None };
    Some(address.trim_start_matches("queue://").to_owned())
}

pub(crate) fn put_parts<S: Store>(
    connection: &mut Connection<S>,
    what: &mut ObjectDescriptor,
    parts: Parts,
    in_unit: bool,
) -> Answer<()> {
    let Parts { mut descriptor, properties, data } = parts;
    let unit = if in_unit { put::SYNCPOINT } else { put::NO_SYNCPOINT };
    let mut options = PutOptions { options: unit, ..PutOptions::default() };
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
    let put = set.and_then(|()| connection.put1(what, &mut descriptor, &mut options, &data));
    if let Some(handle) = handle {
        let _ = connection.delete_message_handle(handle);
    }
    put.map(|_| ())
}

/// What stands in front of a message that nobody took.
pub(crate) fn dead_letter_header(
    descriptor: &MessageDescriptor,
    queue: ObjectName,
    manager: &str,
) -> Vec<u8> {
    let mut header = Vec::with_capacity(172);
    header.extend_from_slice(b"DLH ");
    header.extend_from_slice(&1_i32.to_le_bytes());
    // Feedback of an application that does not want it.
    header.extend_from_slice(&65_536_i32.to_le_bytes());
    header.extend_from_slice(&queue.0);
    header.extend_from_slice(&ObjectName::from(manager).0);
    header.extend_from_slice(&descriptor.encoding.to_le_bytes());
    header.extend_from_slice(&descriptor.ccsid.to_le_bytes());
    header.extend_from_slice(&descriptor.format);
    header.extend_from_slice(&descriptor.put_appl_type.to_le_bytes());
    header.extend_from_slice(&descriptor.put_appl_name);
    header.extend_from_slice(&descriptor.put_date);
    header.extend_from_slice(&descriptor.put_time);
    header
}

pub(crate) type Taken = Option<(MessageDescriptor, Parts, GetOptions)>;

/// Gets a message with its properties, or waits a while for one.
pub(crate) fn got<S: Store>(
    connection: &mut Connection<S>,
    queue: Handle,
    how: i32,
    drain: bool,
) -> Answer<Taken> {
    let handle = connection.create_message_handle()?;
    let mut options = GetOptions::new(how | get::PROPERTIES_IN_HANDLE | get::FAIL_IF_QUIESCING);
    if !drain {
        options.options |= get::WAIT;
        options.wait_interval = LOOK_MS;
    }
    options.match_options = matching::NONE;
    options.msg_handle = Some(handle);
    let mut descriptor = MessageDescriptor::default();
    let mut data = Vec::new();
    let found = connection.get(queue, &mut descriptor, &mut options, MESSAGE_BYTES_MAX, &mut data);
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
        Ok(_) => {
            let parts = Parts { descriptor: MessageDescriptor::default(), properties, data };
            Ok(Some((descriptor, parts, options)))
        }
    }
}
