//! Headers that the queue manager puts in front of a message: of dead letters and for
//! transmission; and what becomes of messages that were backed out too often.
//!
//! | bytes of a dead-letter header | |
//! |---|---|
//! | 0, 4, 4, 4 | `DLH `, version 1, reason |
//! | 12, 48, 48 | queue and queue manager that it was for |
//! | 108, 4, 4, 8 | encoding, code page, format of what follows |
//! | 124, 4, 28, 8, 8 | kind and name of the program that put it here, date, time |
//!
//! | bytes of a transmission header | |
//! |---|---|
//! | 0, 4, 4 | `XQH `, version 1 |
//! | 8, 48, 48 | queue and queue manager that it is for |
//! | 104, 324 | the message's descriptor, version 1 |
//! | 428, 72 | if it has more than defaults in version 2: the extension |
//!
//! 1. A message moves whole or not at all: got and put in one unit of work.

use std::sync::Arc;

use store::Store;

use super::report::Report;
use super::{Core, TakenEntry, Work, failed};
use crate::descriptor::{MessageDescriptor, NO_IDENTIFIER, value};
use crate::extension;
use crate::message::{Message, date_and_time, write_first_version};
use crate::name::{ObjectName, padded};
use crate::queue::{Entry, Location, Place, Queue};
use crate::reason::{Answer, Reason, fail};

/// Bytes of the version-1 descriptor in a transmission header.
const DESCRIPTOR_BYTES: usize = 324;

impl<S: Store> Core<S> {
    /// Puts a message on the dead-letter queue, with a header that says why; makes the exception
    /// report that it asks for. Throws it away if it asks for that.
    pub(crate) fn dead_letter(
        &self,
        work: &mut Work<S>,
        message: Message,
        (queue, manager): (ObjectName, ObjectName),
        reason: Reason,
    ) -> Answer<()> {
        if message.descriptor.msg_type != value::msg_type::REPORT {
            self.report(work, &message, Report::Exception(reason));
        }
        if message.descriptor.report & value::report::DISCARD_MSG != 0 {
            return Ok(());
        }
        let name = self.manager_settings().dead_letter_queue;
        let Some(dead) = self.queue(&name) else { return fail(Reason::UNKNOWN_OBJECT_NAME) };
        let (date, time) = date_and_time(self.now_ms());
        let of = &message.descriptor;
        let mut data = Vec::with_capacity(172 + message.data.len());
        data.extend_from_slice(b"DLH ");
        data.extend_from_slice(&1_i32.to_le_bytes());
        data.extend_from_slice(&reason.0.to_le_bytes());
        data.extend_from_slice(&queue.0);
        let manager = if manager.is_blank() { self.name } else { manager };
        data.extend_from_slice(&manager.0);
        data.extend_from_slice(&of.encoding.to_le_bytes());
        data.extend_from_slice(&of.ccsid.to_le_bytes());
        data.extend_from_slice(&of.format);
        data.extend_from_slice(&value::appl_type::QMGR.to_le_bytes());
        data.extend_from_slice(&padded::<28>(&self.options.name));
        data.extend_from_slice(&date);
        data.extend_from_slice(&time);
        data.extend_from_slice(&message.data);
        let mut descriptor = message.descriptor;
        descriptor.format = value::format::DEAD_LETTER_HEADER;
        descriptor.encoding = value::ENCODING_NATIVE;
        descriptor.ccsid = self.manager_settings().ccsid;
        // A dead letter does not expire, and says nothing about itself.
        descriptor.report = 0;
        descriptor.expiry = value::EXPIRY_UNLIMITED;
        descriptor.backout_count = 0;
        let letter = Message { descriptor, put_ms: self.now_ms(), expires_ms: 0, data };
        work.stage(self, &dead, letter).map(drop)
    }

    /// A message as it stands on a transmission queue.
    pub(super) fn for_transmission(
        &self,
        message: Message,
        queue: ObjectName,
        manager: ObjectName,
    ) -> Answer<Message> {
        let mut data = Vec::with_capacity(500 + message.data.len());
        data.extend_from_slice(b"XQH ");
        data.extend_from_slice(&1_i32.to_le_bytes());
        data.extend_from_slice(&queue.0);
        data.extend_from_slice(&manager.0);
        let of = &message.descriptor;
        let extended = extension::is_needed(of);
        let mut inner = of.clone();
        if extended {
            inner.format = value::format::MD_EXTENSION;
        }
        let at = data.len();
        write_version_1(&inner, &mut data);
        debug_assert_eq!(data.len() - at, DESCRIPTOR_BYTES);
        if extended {
            extension::write(of, &mut data);
        }
        data.extend_from_slice(&message.data);
        let mut descriptor = message.descriptor;
        descriptor.format = value::format::XMIT_Q_HEADER;
        descriptor.correl_id = NO_IDENTIFIER;
        descriptor.msg_id = self.new_identifier()?;
        descriptor.group_id = NO_IDENTIFIER;
        descriptor.msg_flags = 0;
        descriptor.msg_seq_number = 1;
        descriptor.offset = 0;
        descriptor.original_length = -1;
        descriptor.report = 0;
        let (put_ms, expires_ms) = (message.put_ms, message.expires_ms);
        Ok(Message { descriptor, put_ms, expires_ms, data })
    }

    /// Messages came back by backout: their counts are kept, and they move if it is enough.
    pub(super) fn backed_out(&self, which: &[(Arc<Queue>, Place, Entry, u32)], quiet: bool) {
        let moves = self.manager_settings().moves_backed_out;
        let mut kept: Vec<(Location, Place, u32)> = Vec::new();
        let mut seen: Vec<&Arc<Queue>> = Vec::new();
        for (queue, at, entry, count) in which {
            let settings = queue.settings();
            let threshold = settings.backout_threshold;
            if moves && threshold > 0 && *count >= threshold {
                // If it cannot be moved, it waits where it is.
                if self.move_backed_out(queue, *at, *count).is_ok() {
                    continue;
                }
            }
            if entry.persistent && settings.harden_backout {
                kept.push((queue.location(), *at, *count));
            }
            if !seen.iter().any(|known| Arc::ptr_eq(known, queue)) {
                seen.push(queue);
            }
        }
        // A count that is lost with the system is no harm to a message.
        let _ = self.bodies.harden(&kept);
        if !quiet {
            for queue in seen {
                self.reconsider(queue);
            }
        }
    }

    fn move_backed_out(&self, queue: &Arc<Queue>, at: Place, count: u32) -> Answer<()> {
        let settings = queue.settings();
        let mut work = Work::moving(self);
        let moved = self.move_in(&mut work, queue, at, |core, work, mut message| {
            message.descriptor.backout_count = count as i32;
            let to = core.queue(&settings.backout_queue);
            if let Some(to) = to
                && work.stage(core, &to, message.clone()).is_ok()
            {
                return Ok(());
            }
            core.dead_letter(
                work,
                message,
                (queue.name, core.name),
                Reason::BACKOUT_THRESHOLD_REACHED,
            )
        });
        match moved {
            Ok(()) => work.commit(self),
            Err(failed) => {
                work.back(self);
                Err(failed)
            }
        }
    }

    /// Gets a ready message in a unit of work, and does something else with it there.
    pub(crate) fn move_in(
        &self,
        work: &mut Work<S>,
        queue: &Arc<Queue>,
        at: Place,
        to: impl FnOnce(&Core<S>, &mut Work<S>, Message) -> Answer<()>,
    ) -> Answer<()> {
        let seeker = work.seeker(0, self.now_tenths());
        let (entry, before, volatile) = {
            let mut state = queue.state.lock();
            let Some(entry) = state.index.visible(at, &seeker) else {
                return fail(Reason::NO_MSG_AVAILABLE);
            };
            let before = state.index.take(at, &seeker, work.number());
            let Some(before) = before else { return fail(Reason::NO_MSG_AVAILABLE) };
            (entry, before, state.index.volatile(at))
        };
        let read = match volatile {
            Some(message) => Ok(Some((*message).clone())),
            None => self.bodies.read(work.open_unit(), queue.location(), at),
        };
        let message = match read {
            Ok(Some(message)) => message,
            Ok(None) => {
                queue.give_back(at, before);
                return fail(Reason::OBJECT_DAMAGED);
            }
            Err(error) => {
                queue.give_back(at, before);
                return Err(failed(error));
            }
        };
        let mut message = message;
        message.descriptor.backout_count =
            i32::try_from(queue.state.lock().index.backout_count(at)).unwrap_or(i32::MAX);
        work.take(self, queue, TakenEntry { at, entry, before }, &message.descriptor, false)?;
        to(self, work, message)
    }
}

/// Writes the older form of a descriptor.
fn write_version_1(of: &MessageDescriptor, data: &mut Vec<u8>) {
    data.extend_from_slice(b"MD  ");
    data.extend_from_slice(&1_i32.to_le_bytes());
    write_first_version(of, data);
}
