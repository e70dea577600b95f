//! Events: what happens to queues, users and channels, told as messages on queues.
//!
//! | queue | what comes there | asked for by |
//! |---|---|---|
//! | `SYSTEM.ADMIN.PERFM.EVENT` | a queue is deep, no longer deep, full; its messages are got too late, in time again | `PERFMEV`, queue's `QDP..EV`, `QSVCIEV` |
//! | `SYSTEM.ADMIN.QMGR.EVENT` | starts and stops; somebody may not; names that lead nowhere | `STRSTPEV`, `AUTHOREV`, `INHIBTEV`, `LOCALEV`, `REMOTEEV` |
//! | `SYSTEM.ADMIN.CHANNEL.EVENT` | channels start, stop, refuse | `CHLEV` |
//! | `SYSTEM.ADMIN.STATISTICS.QUEUE` | what queues did in an interval | `STATQ`, see `statistics` |
//! | `SYSTEM.ADMIN.CONFIG.EVENT`, `.COMMAND.EVENT` | what is administered | `CONFIGEV`, `CMDEV`, see `administration` |
//! | `SYSTEM.ADMIN.ACCOUNTING.QUEUE` | what connections did | `ACCTMQI`, `ACCTQ`, see `accounting` |
//!
//! 1. An event is a message of its own, put at once, whatever becomes of the unit of work in which
//!    it happened; if its queue takes it not, it is lost, and nothing else is.
//! 2. No latch is held while an event is put, and events of event queues make no events.

mod accounting;
mod administration;
mod pcf;
mod statistics;

use store::Store;

pub(crate) use accounting::{Account, Accounting, Did, Disconnected, end};
pub(crate) use administration::Change;
pub use administration::{Commanded, Commander, Origin};
pub(crate) use statistics::Counting;

use super::{Core, Work};
use crate::descriptor::{Identifier, NO_IDENTIFIER, value};
use crate::message::Message;
use crate::name::ObjectName;
use crate::objects::Object;
use crate::queue::{DepthEvent, Queue};
use crate::reason::Reason;

/// Queues whose names begin so make no events of their own.
const OWN: &str = "SYSTEM.ADMIN.";
const EVENT: i32 = 7;
const WARNING: i32 = 1;
const PERFORMANCE_QUEUE: &str = "SYSTEM.ADMIN.PERFM.EVENT";
const MANAGER_QUEUE: &str = "SYSTEM.ADMIN.QMGR.EVENT";
const CHANNEL_QUEUE: &str = "SYSTEM.ADMIN.CHANNEL.EVENT";

/// Identifiers of parameters.
mod id {
    pub(super) const APPL_TYPE: i32 = 1;
    pub(super) const TIME_SINCE_RESET: i32 = 35;
    pub(super) const HIGH_DEPTH: i32 = 36;
    pub(super) const ENQUEUED: i32 = 37;
    pub(super) const DEQUEUED: i32 = 38;
    pub(super) const ERROR: i32 = 1013;
    pub(super) const QUALIFIER: i32 = 1020;
    pub(super) const OPEN_OPTIONS: i32 = 1022;
    pub(super) const BASE_OBJECT: i32 = 2002;
    pub(super) const MANAGER: i32 = 2015;
    pub(super) const QUEUE: i32 = 2016;
    pub(super) const OBJECT_MANAGER: i32 = 3023;
    pub(super) const APPLICATION: i32 = 3024;
    pub(super) const USER: i32 = 3025;
    pub(super) const CHANNEL: i32 = 3501;
    pub(super) const TRANSMISSION_QUEUE: i32 = 3505;
    pub(super) const CONNECTION: i32 = 3506;
}

/// Which events are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Switches {
    authority: bool,
    inhibit: bool,
    local: bool,
    remote: bool,
    performance: bool,
    start_stop: bool,
    channel: bool,
    /// Only those of channels that something has gone wrong with.
    channel_exceptions: bool,
    configuration: bool,
    commands: bool,
    /// Commands that only show something, too.
    displays: bool,
}

impl Switches {
    pub(crate) fn of(manager: &Object) -> Switches {
        let on = |name: &str| manager.is(name, "ENABLED");
        Switches {
            authority: on("AUTHOREV"),
            inhibit: on("INHIBTEV"),
            local: on("LOCALEV"),
            remote: on("REMOTEEV"),
            performance: on("PERFMEV"),
            start_stop: on("STRSTPEV"),
            channel: on("CHLEV"),
            channel_exceptions: manager.is("CHLEV", "EXCEPTION"),
            configuration: on("CONFIGEV"),
            commands: on("CMDEV") || manager.is("CMDEV", "NODISPLAY"),
            displays: on("CMDEV"),
        }
    }
}

/// Why a channel has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum ChannelEnd {
    /// It was stopped, or had nothing to do.
    Ok = 7,
    /// It cannot go on.
    Error = 8,
    /// It tries again.
    Retry = 9,
    /// An operator has to start it again.
    Disabled = 10,
}

/// Who was kept outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Blocked {
    /// An address.
    Address = 21,
    /// A user.
    User = 22,
    /// Every client from there.
    NoAccess = 23,
}

/// Something that happened.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // the names say it
pub enum Event<'e> {
    Started,
    Stopping {
        quiesces: bool,
    },
    MayNotConnect {
        user: &'e str,
        application: &'e str,
    },
    MayNotOpen {
        user: &'e str,
        application: &'e str,
        object: ObjectName,
        options: i32,
    },
    Inhibited {
        reason: Reason,
        queue: ObjectName,
        application: &'e str,
    },
    LeadsNowhere {
        reason: Reason,
        queue: ObjectName,
        manager: ObjectName,
        application: &'e str,
    },
    ChannelStarted {
        channel: &'e str,
        connection: &'e str,
        queue: &'e str,
    },
    ChannelStopped {
        channel: &'e str,
        connection: &'e str,
        queue: &'e str,
        end: ChannelEnd,
        error: i32,
    },
    ChannelStoppedByUser {
        channel: &'e str,
    },
    ChannelBlocked {
        channel: &'e str,
        address: &'e str,
        who: Blocked,
        warns: bool,
    },
}

/// A queue for events, and what is put there.
type QueuedEvent = (&'static str, pcf::Message);

/// The categories of events, as commands.
const OF_MANAGER: i32 = 44;
const OF_QUEUE: i32 = 45;
const OF_CHANNEL: i32 = 46;

impl Event<'_> {
    fn is_wanted(&self, by: Switches) -> bool {
        match self {
            Event::Started | Event::Stopping { .. } => by.start_stop,
            Event::MayNotConnect { .. } | Event::MayNotOpen { .. } => by.authority,
            Event::Inhibited { .. } => by.inhibit,
            Event::LeadsNowhere { reason, .. } => match is_remote(*reason) {
                true => by.remote,
                false => by.local,
            },
            Event::ChannelStopped { end, .. } => {
                by.channel || (by.channel_exceptions && *end != ChannelEnd::Ok)
            }
            Event::ChannelBlocked { .. } => by.channel || by.channel_exceptions,
            Event::ChannelStarted { .. } | Event::ChannelStoppedByUser { .. } => by.channel,
        }
    }

    fn message(&self, manager: &str) -> QueuedEvent {
        let begin = |command, reason: i32| {
            let mut message = pcf::Message::new(EVENT, command, (WARNING, reason));
            message.text(id::MANAGER, manager, 48);
            message
        };
        match *self {
            Event::Started => (MANAGER_QUEUE, begin(OF_MANAGER, 2222)),
            Event::Stopping { quiesces } => {
                let mut message = begin(OF_MANAGER, 2223);
                message.integer(id::QUALIFIER, if quiesces { 6 } else { 5 });
                (MANAGER_QUEUE, message)
            }
            Event::MayNotConnect { user, application } => {
                let mut message = begin(OF_MANAGER, Reason::NOT_AUTHORIZED.0);
                message.integer(id::QUALIFIER, 1);
                message.text(id::USER, user, 12);
                program(&mut message, application);
                (MANAGER_QUEUE, message)
            }
            Event::MayNotOpen { user, application, object, options } => {
                let mut message = begin(OF_MANAGER, Reason::NOT_AUTHORIZED.0);
                message.integer(id::QUALIFIER, 2);
                message.integer(id::OPEN_OPTIONS, options);
                message.text(id::USER, user, 12);
                program(&mut message, application);
                message.text(id::QUEUE, &object.text(), 48);
                (MANAGER_QUEUE, message)
            }
            Event::Inhibited { reason, queue, application } => {
                let mut message = begin(OF_MANAGER, reason.0);
                message.text(id::QUEUE, &queue.text(), 48);
                program(&mut message, application);
                (MANAGER_QUEUE, message)
            }
            Event::LeadsNowhere { reason, queue, manager, application } => {
                let mut message = begin(OF_MANAGER, reason.0);
                message.text(id::QUEUE, &queue.text(), 48);
                program(&mut message, application);
                if !manager.is_blank() {
                    message.text(id::OBJECT_MANAGER, &manager.text(), 48);
                }
                (MANAGER_QUEUE, message)
            }
            _ => (CHANNEL_QUEUE, self.of_channel(begin)),
        }
    }

    fn of_channel(&self, begin: impl Fn(i32, i32) -> pcf::Message) -> pcf::Message {
        let route = |message: &mut pcf::Message, channel: &str, connection: &str, queue: &str| {
            message.text(id::CHANNEL, channel, 20);
            if !queue.is_empty() {
                message.text(id::TRANSMISSION_QUEUE, queue, 48);
            }
            message.text(id::CONNECTION, connection, 264);
        };
        match *self {
            Event::ChannelStarted { channel, connection, queue } => {
                let mut message = begin(OF_CHANNEL, 2282);
                route(&mut message, channel, connection, queue);
                message
            }
            Event::ChannelStopped { channel, connection, queue, end, error } => {
                let mut message = begin(OF_CHANNEL, 2283);
                message.integer(id::QUALIFIER, end as i32);
                message.integer(id::ERROR, error);
                route(&mut message, channel, connection, queue);
                message
            }
            Event::ChannelBlocked { channel, address, who, warns } => {
                let mut message = begin(OF_CHANNEL, if warns { 2578 } else { 2577 });
                message.integer(id::QUALIFIER, who as i32);
                route(&mut message, channel, address, "");
                message
            }
            Event::ChannelStoppedByUser { channel } => {
                let mut message = begin(OF_CHANNEL, 2279);
                message.integer(id::QUALIFIER, 10);
                message.text(id::CHANNEL, channel, 20);
                message
            }
            // The others are none of a channel's.
            _ => begin(OF_CHANNEL, 0),
        }
    }
}

fn program(message: &mut pcf::Message, application: &str) {
    message.integer(id::APPL_TYPE, value::appl_type::UNIX);
    message.text(id::APPLICATION, application, 28);
}

/// Whether a reason is about another queue manager.
fn is_remote(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::UNKNOWN_REMOTE_Q_MGR
            | Reason::UNKNOWN_XMIT_Q
            | Reason::XMIT_Q_TYPE_ERROR
            | Reason::XMIT_Q_USAGE_ERROR
            | Reason::UNKNOWN_DEF_XMIT_Q
            | Reason::DEF_XMIT_Q_TYPE_ERROR
            | Reason::DEF_XMIT_Q_USAGE_ERROR
    )
}

/// Whether a name that was to be opened leads nowhere.
pub(crate) fn leads_nowhere(reason: Reason) -> bool {
    let local = [
        Reason::UNKNOWN_OBJECT_NAME,
        Reason::UNKNOWN_ALIAS_BASE_Q,
        Reason::ALIAS_BASE_Q_TYPE_ERROR,
    ];
    is_remote(reason) || local.contains(&reason)
}

impl<S: Store> Core<S> {
    /// Tells of an event, if such events are asked for.
    pub(crate) fn event(&self, event: &Event<'_>) {
        if event.is_wanted(self.manager_settings().events) {
            let (queue, message) = event.message(&self.options.name);
            self.put_own(queue, value::format::EVENT, message);
        }
    }

    /// Tells that a queue has become deep, or no longer is.
    pub(crate) fn depth_event(&self, queue: &Queue, what: DepthEvent) {
        let name = queue.name.text();
        if name.starts_with(OWN) || !self.manager_settings().events.performance {
            return;
        }
        let mut message = pcf::Message::new(EVENT, OF_QUEUE, (WARNING, what.reason()));
        message.text(id::MANAGER, &self.options.name, 48);
        message.text(id::BASE_OBJECT, &name, 48);
        let number = |number: u64| i32::try_from(number).unwrap_or(i32::MAX);
        let state = queue.state.lock();
        let counted = &state.statistics;
        let since_s = self.now_ms().saturating_sub(counted.reset_ms) / 1_000;
        message.integer(id::TIME_SINCE_RESET, number(since_s));
        message.integer(id::HIGH_DEPTH, number(counted.high_depth));
        message.integer(id::ENQUEUED, number(counted.puts));
        message.integer(id::DEQUEUED, number(counted.gets));
        drop(state);
        self.put_own(PERFORMANCE_QUEUE, value::format::EVENT, message);
    }

    /// Puts a message of the queue manager's own on a queue, in a unit of work of its own.
    fn put_own(&self, queue: &str, format: [u8; 8], message: pcf::Message) {
        self.put_own_as(queue, format, message, NO_IDENTIFIER);
    }

    fn put_own_as(
        &self,
        queue: &str,
        format: [u8; 8],
        message: pcf::Message,
        correlation: Identifier,
    ) {
        let Some(queue) = self.queue(&queue.into()) else { return };
        let Ok(mut descriptor) = self.own_descriptor() else { return };
        let settings = queue.settings();
        descriptor.format = format;
        descriptor.correl_id = correlation;
        descriptor.ccsid = 1208;
        descriptor.persistence = i32::from(settings.persistent);
        descriptor.priority = settings.priority;
        let data = message.finish();
        let message = Message { descriptor, put_ms: self.now_ms(), expires_ms: 0, data };
        let mut work = Work::new(self);
        match work.stage(self, &queue, message) {
            // A queue that takes nothing loses the event.
            Ok(_) => drop(work.commit(self)),
            Err(_) => work.back(self),
        }
    }
}
