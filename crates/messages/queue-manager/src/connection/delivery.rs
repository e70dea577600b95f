//! What a getter receives: the message with its properties where it wants them, in the code page
//! that it asks for.
//!
//! 1. What does not fit converted comes as it was put, if it fits so.

use std::sync::Arc;

use store::Store;

use super::session::OpenQueue;
use crate::convert::{self, Form};
use crate::core::{Core, Found};
use crate::descriptor::{MessageDescriptor, value as of};
use crate::extension::{self, EXTENSION_BYTES};
use crate::message::Message;
use crate::options::GetOptions;
use crate::options::value::get as getting;
use crate::properties::{self, Properties};
use crate::queue::{Place, PropertyControl, Queue};
use crate::reason::{Outcome, Reason};

/// Data that is handed over rather than copied, if only this getter has the message: so much takes
/// longer to copy than the caller's memory is worth to be kept.
const HANDED_OVER_BYTES: usize = 64 << 10;

/// How a message is to be received.
pub(super) struct Receiving<'g> {
    pub(super) options: &'g GetOptions,
    /// Bytes of the buffer.
    pub(super) room: usize,
    /// The form that it is converted to.
    pub(super) form: Option<Form>,
}

/// What a getter receives.
pub(super) struct Delivery {
    message: Arc<Message>,
    remark: Option<Reason>,
    at: Place,
    backouts: u32,
    /// What the caller's descriptor cannot say stands in front of the data.
    extended: bool,
}

impl Delivery {
    /// What a get of `found` delivers to a buffer of so much room, in the form that is asked for.
    pub(super) fn of(
        open: &OpenQueue,
        &Receiving { options, room, form: wanted }: &Receiving<'_>,
        (found, segments): (&Found, &[Found]),
        handle: Option<&mut Properties>,
    ) -> Delivery {
        let is_as_put = found.message.descriptor.format != of::format::RF_HEADER_2
            && segments.is_empty()
            && wanted.is_none()
            && handle.is_none();
        let extended = options.extends && extension::is_needed(&found.message.descriptor);
        let room = room.saturating_sub(if extended { EXTENSION_BYTES } else { 0 });
        let (at, backouts) = (found.at, found.backouts);
        if is_as_put && !extended {
            let (message, remark) = (Arc::clone(&found.message), None);
            return Delivery { message, remark, at, backouts, extended };
        }
        let mut message = (*found.message).clone();
        if let Some(last) = segments.last() {
            segments.iter().for_each(|one| message.data.extend_from_slice(&one.message.data));
            message.descriptor.msg_flags |= last.message.descriptor.msg_flags;
        }
        let control = open.local().map(|queue| queue.settings().property_control);
        let control = open.resolved.property_control().or(control);
        deliver_properties(&mut message, options, control, handle);
        let remark = if let Some(wanted) = wanted {
            let before = (message.data.len() <= room).then(|| message.clone());
            let remark = convert::convert(&mut message.descriptor, &mut message.data, wanted);
            match before {
                // It fits as it was put, and so it comes.
                Some(before) if message.data.len() > room => {
                    message = before;
                    Some(Reason::CONVERTED_MSG_TOO_BIG)
                }
                _ => remark,
            }
        } else {
            None
        };
        if extended {
            let mut whole = Vec::with_capacity(EXTENSION_BYTES + message.data.len());
            extension::write(&message.descriptor, &mut whole);
            whole.append(&mut message.data);
            message.data = whole;
        }
        Delivery { message: Arc::new(message), remark, at, backouts, extended }
    }

    /// Whether it fits the caller's buffer, and what the caller is told.
    pub(super) fn fit(&self, options: &GetOptions, room: usize) -> Outcome {
        if self.message.data.len() > room {
            let accepts = options.options & getting::ACCEPT_TRUNCATED_MSG != 0;
            return Outcome::warning(if accepts {
                Reason::TRUNCATED_MSG_ACCEPTED
            } else {
                Reason::TRUNCATED_MSG_FAILED
            });
        }
        self.remark.map_or(Outcome::OK, Outcome::warning)
    }

    /// Bytes of its data.
    pub(super) fn len(&self) -> usize {
        self.message.data.len()
    }

    /// Gives the caller the data, as far as there is room for it.
    pub(super) fn hand_over(self, room: usize, buffer: &mut Vec<u8>) {
        let fits = (HANDED_OVER_BYTES..=room).contains(&self.message.data.len());
        match Arc::try_unwrap(self.message) {
            Ok(own) if fits => *buffer = own.data,
            Ok(own) => fill(&own.data, room, buffer),
            Err(shared) => fill(&shared.data, room, buffer),
        }
    }

    /// Fills in what the caller receives.
    pub(super) fn tell<S: Store>(
        &self,
        core: &Core<S>,
        options: &mut GetOptions,
        queue: &Queue,
        descriptor: &mut MessageDescriptor,
        room: usize,
    ) {
        let returned = self.message.data.len().min(room);
        *descriptor = self.message.descriptor.clone();
        descriptor.backout_count = i32::try_from(self.backouts).unwrap_or(i32::MAX);
        descriptor.expiry = self.message.expiry_at(core.now_ms());
        options.returned_length = i32::try_from(returned).unwrap_or(i32::MAX);
        options.resolved_q_name = queue.name;
        options.msg_token = [0; 16];
        options.msg_token[..8].copy_from_slice(&self.at.to_be_bytes());
        options.msg_token[8..12].copy_from_slice(&queue.number.to_be_bytes());
        let md = &self.message.descriptor;
        options.group_status = match (md.is_in_group(), md.is_last_in_group()) {
            (false, _) => b' ',
            (true, false) => b'G',
            (true, true) => b'L',
        };
        options.segment_status = match (md.is_segment(), md.is_last_segment()) {
            (false, _) => b' ',
            (true, false) => b'S',
            (true, true) => b'L',
        };
        let may = md.msg_flags & of::msg_flags::SEGMENTATION_ALLOWED != 0;
        options.segmentation = if may { b'A' } else { b' ' };
        if self.extended {
            extension::leave_to_extension(descriptor, core.manager_settings().ccsid);
        }
    }
}

fn fill(data: &[u8], room: usize, buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.extend_from_slice(&data[..data.len().min(room)]);
}

/// Brings the properties of a message where the getter wants them.
fn deliver_properties(
    message: &mut Message,
    options: &GetOptions,
    control: Option<PropertyControl>,
    handle: Option<&mut Properties>,
) {
    let asked = options.options;
    // A header that cannot be read is the program's own.
    let Ok(Some(split)) = properties::split(&message.descriptor, &message.data) else {
        if let Some(handle) = handle {
            *handle = Properties::default();
        }
        return;
    };
    let in_handle = handle.is_some()
        && asked & (getting::PROPERTIES_FORCE_MQRFH2 | getting::NO_PROPERTIES) == 0
        && (asked & getting::PROPERTIES_IN_HANDLE != 0
            || asked & getting::PROPERTIES_COMPATIBILITY == 0);
    let compatible = |name: &str| {
        let folders = ["mcd", "jms", "usr", "mqext"];
        name.split_once('.').is_none_or(|(folder, _)| folders.contains(&folder))
    };
    let keeps = if asked & getting::NO_PROPERTIES != 0 || in_handle {
        false
    } else if asked & (getting::PROPERTIES_FORCE_MQRFH2 | getting::PROPERTIES_IN_HANDLE) != 0 {
        true
    } else if asked & getting::PROPERTIES_COMPATIBILITY != 0 {
        split.properties.iter().any(|one| compatible(&one.name))
    } else {
        match control.unwrap_or(PropertyControl::Compatible) {
            PropertyControl::None => false,
            PropertyControl::All | PropertyControl::Force => true,
            PropertyControl::Compatible => split.properties.iter().any(|one| compatible(&one.name)),
        }
    };
    if let Some(handle) = handle {
        *handle = if in_handle { split.properties.clone() } else { Properties::default() };
    }
    if keeps || split.properties.is_empty() {
        return;
    }
    let body = message.data.split_off(split.data_at);
    message.data = split.remainder;
    if message.data.is_empty() {
        message.descriptor.format = split.format;
        message.descriptor.ccsid = split.ccsid;
        message.descriptor.encoding = split.encoding;
    }
    message.data.extend_from_slice(&body);
}
