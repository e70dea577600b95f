//! Reports: messages about what became of a message, to the queue that it names.
//!
//! 1. A report is asked for in the message's descriptor; without a reply-to queue there is none.
//! 2. A report belongs to the unit of work in which its cause does.
//! 3. A report that cannot be put goes to the dead-letter queue; if that takes it not either, it
//!    is lost, and the message that it is about is not affected.

use store::Store;

use super::{Core, Resolved, Target, Work};
use crate::descriptor::value::{feedback, msg_type, persistence, report};
use crate::descriptor::{MessageDescriptor, NO_IDENTIFIER};
use crate::message::Message;
use crate::queue::Place;
use crate::reason::{Answer, Reason, fail};

/// Bytes of data that a report has when it was asked for with some.
const DATA_BYTES: usize = 100;

/// The bits of an option: asked for, with some data, with all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    Arrival,
    Delivery,
    Expiration,
    Exception(Reason),
}

impl Report {
    fn bits(self) -> (i32, i32, i32) {
        match self {
            Report::Arrival => (report::COA, report::COA_WITH_DATA, report::COA_WITH_FULL_DATA),
            Report::Delivery => (report::COD, report::COD_WITH_DATA, report::COD_WITH_FULL_DATA),
            Report::Expiration => (
                report::EXPIRATION,
                report::EXPIRATION_WITH_DATA,
                report::EXPIRATION_WITH_FULL_DATA,
            ),
            Report::Exception(_) => {
                (report::EXCEPTION, report::EXCEPTION_WITH_DATA, report::EXCEPTION_WITH_FULL_DATA)
            }
        }
    }

    fn feedback(self) -> i32 {
        match self {
            Report::Arrival => feedback::COA,
            Report::Delivery => feedback::COD,
            Report::Expiration => feedback::EXPIRATION,
            Report::Exception(reason) => reason.0,
        }
    }

    /// Whether a descriptor asks for it.
    pub(crate) fn is_wanted(self, by: &MessageDescriptor) -> bool {
        by.report & self.bits().0 != 0 && !by.reply_to_q.is_blank()
    }
}

impl<S: Store> Core<S> {
    /// Puts a report in a unit of work, if the message asks for it.
    pub(crate) fn report(&self, work: &mut Work<S>, about: &Message, what: Report) {
        if !what.is_wanted(&about.descriptor) {
            return;
        }
        let Ok(message) = self.make_report(about, what) else { return };
        let (queue, manager) = (about.descriptor.reply_to_q, about.descriptor.reply_to_q_mgr);
        let sent = match self.resolve(queue, manager) {
            Ok(resolved) => self.send_report(work, &resolved, message.clone()),
            Err(failed) => Err(failed),
        };
        if let Err(failed) = sent {
            let _ = self.dead_letter(work, message, (queue, manager), failed.0);
        }
    }

    fn make_report(&self, about: &Message, what: Report) -> Answer<Message> {
        let of = &about.descriptor;
        let (_, some, full) = what.bits();
        let data = match of.report {
            asked if asked & full == full => about.data.clone(),
            asked if asked & some == some => {
                about.data[..about.data.len().min(DATA_BYTES)].to_vec()
            }
            _ => Vec::new(),
        };
        let mut descriptor = self.own_descriptor()?;
        descriptor.msg_type = msg_type::REPORT;
        descriptor.feedback = what.feedback();
        let pass = |bit| of.report & bit != 0;
        if pass(report::PASS_MSG_ID) {
            descriptor.msg_id = of.msg_id;
        }
        let passed = pass(report::PASS_CORREL_ID);
        descriptor.correl_id = if passed { of.correl_id } else { of.msg_id };
        descriptor.priority = of.priority;
        descriptor.persistence = of.persistence;
        descriptor.user_identifier = of.user_identifier;
        descriptor.accounting_token = of.accounting_token;
        descriptor.appl_identity_data = of.appl_identity_data;
        descriptor.group_id = of.group_id;
        descriptor.msg_seq_number = of.msg_seq_number;
        descriptor.offset = of.offset;
        descriptor.msg_flags = of.msg_flags;
        if of.is_segment() {
            descriptor.original_length = about.data.len() as i32;
        }
        if !data.is_empty() {
            descriptor.format = of.format;
            descriptor.encoding = of.encoding;
            descriptor.ccsid = of.ccsid;
        }
        let now = self.now_ms();
        let mut expires_ms = 0;
        if pass(report::PASS_DISCARD_AND_EXPIRY) {
            descriptor.report = of.report & report::DISCARD_MSG;
            if !matches!(what, Report::Expiration) {
                expires_ms = about.expires_ms;
            }
        }
        descriptor.expiry = Message {
            descriptor: MessageDescriptor::default(),
            put_ms: now,
            expires_ms,
            data: Vec::new(),
        }
        .expiry_at(now);
        Ok(Message { descriptor, put_ms: now, expires_ms, data })
    }

    /// Puts a message that is complete where a name led.
    pub(crate) fn send(
        &self,
        work: &mut Work<S>,
        to: &Resolved,
        mut message: Message,
    ) -> Answer<Place> {
        match &to.target {
            Target::Local(queue) => {
                if message.descriptor.persistence == persistence::PERSISTENT
                    && Core::<S>::is_temporary(queue)
                {
                    return fail(Reason::PERSISTENT_NOT_ALLOWED);
                }
                if message.descriptor.msg_id == NO_IDENTIFIER {
                    message.descriptor.msg_id = self.new_identifier()?;
                }
                let arrived = Report::Arrival.is_wanted(&message.descriptor);
                let about = arrived.then(|| message.clone());
                let at = work.stage(self, queue, message)?;
                if let Some(about) = about {
                    self.report(work, &about, Report::Arrival);
                }
                Ok(at)
            }
            Target::Remote { transmission, queue, manager } => {
                let wrapped = self.for_transmission(message, *queue, *manager)?;
                work.stage(self, transmission, wrapped)
            }
            Target::Model(_) | Target::Topic(_) => fail(Reason::Q_TYPE_ERROR),
        }
    }
}
