//! Events of administration: which commands were carried out, and what became of objects by them.
//!
//! | queue | what comes there | asked for by |
//! |---|---|---|
//! | `SYSTEM.ADMIN.CONFIG.EVENT` | an object was made, changed, removed; what it is, again | `CONFIGEV` |
//! | `SYSTEM.ADMIN.COMMAND.EVENT` | a command was carried out | `CMDEV`, but for displays where it is `NODISPLAY` |
//!
//! 1. What has failed is not told.
//! 2. Of a change two messages tell, with one correlation identifier: the object as it was, and as
//!    it is.
//! 3. What no user commands, such as dynamic queues and what the queue manager makes for itself, is
//!    not told.

use store::Store;

use super::{EVENT, WARNING, pcf};
use crate::core::Core;
use crate::descriptor::{Identifier, NO_IDENTIFIER, value};
use crate::objects::{Access, Attribute, Kind, Object, Value, ValueKind};

const CONFIGURATION_QUEUE: &str = "SYSTEM.ADMIN.CONFIG.EVENT";
const COMMAND_QUEUE: &str = "SYSTEM.ADMIN.COMMAND.EVENT";
const OF_CONFIGURATION: i32 = 43;
const OF_COMMAND: i32 = 99;
const BY_TEXT: i32 = 2412;
const BY_MESSAGE: i32 = 2413;
/// Texts of attributes that are longer come as long as they are.
const WIDTH_MAX: usize = 64;

/// Identifiers of parameters.
mod id {
    pub(super) const ACCOUNTING_TOKEN: i32 = 7001;
    pub(super) const SECURITY: i32 = 7002;
    pub(super) const CONTEXT: i32 = 8001;
    pub(super) const DATA: i32 = 8002;
    pub(super) const APPL_TYPE: i32 = 1010;
    pub(super) const ORIGIN: i32 = 1011;
    pub(super) const OBJECT_TYPE: i32 = 1016;
    pub(super) const COMMAND: i32 = 1021;
    pub(super) const QUEUE_TYPE: i32 = 20;
    pub(super) const USER: i32 = 3045;
    pub(super) const OBJECT_NAME: i32 = 3046;
    pub(super) const MANAGER: i32 = 3047;
    pub(super) const IDENTITY: i32 = 3049;
    pub(super) const APPLICATION: i32 = 3050;
    pub(super) const APPL_ORIGIN: i32 = 3051;
    pub(super) const TEXT: i32 = 3075;
}

/// How a command comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Origin {
    /// Typed, or from a file.
    Console = 1,
    /// A message on the queue of commands.
    Message = 3,
    /// A program's call.
    Call = 4,
    /// A request over HTTP.
    Rest = 8,
}

/// Who gives commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commander {
    /// The user.
    pub user: String,
    /// How they come.
    pub origin: Origin,
    /// By which program.
    pub application: String,
}

/// A command that was carried out.
#[derive(Clone, Copy, Debug)]
pub struct Commanded<'c> {
    /// Its number among command messages; 0: it has none.
    pub number: i32,
    /// Whether it only shows something.
    pub displays: bool,
    /// As it was typed; `None`: it was a message.
    pub text: Option<&'c str>,
    /// The parameters of the message, as they stood there, and how many they are.
    pub parameters: (&'c [u8], i32),
}

/// What became of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'o> {
    Made(&'o Object),
    Changed {
        before: &'o Object,
        now: &'o Object,
    },
    Removed(&'o Object),
    /// Nothing: it is only inquired about.
    Shown(&'o Object),
}

/// The number of an object's kind, and that of its name.
fn kind_and_name(kind: Kind) -> (i32, i32) {
    match kind {
        Kind::QueueManager => (5, 2015),
        Kind::QueueLocal | Kind::QueueAlias | Kind::QueueRemote | Kind::QueueModel => (1, 2016),
        Kind::Topic => (8, 2092),
        Kind::Process => (3, 2012),
        Kind::Namelist => (2, 2010),
        Kind::Channel => (6, 3501),
        Kind::ClientChannel => (1014, 3501),
        Kind::Listener => (11, 3554),
        Kind::Service => (12, 2077),
        Kind::StorageClass => (4, 2022),
        Kind::AuthenticationInformation => (7, 2045),
        Kind::ChannelAuthority => (1016, id::OBJECT_NAME),
        Kind::AuthorityRecord => (1022, id::OBJECT_NAME),
        Kind::Subscription => (0, 3152),
        Kind::PageSet | Kind::BufferPool => (0, id::OBJECT_NAME),
    }
}

fn queue_type(kind: Kind) -> Option<i32> {
    match kind {
        Kind::QueueLocal => Some(1),
        Kind::QueueModel => Some(2),
        Kind::QueueAlias => Some(3),
        Kind::QueueRemote => Some(6),
        _ => None,
    }
}

/// Who it was, in any event of administration. Answers how many parameters that are.
fn context(message: &mut pcf::Message, who: &Commander, manager: &str) -> i32 {
    message.text(id::USER, &who.user, 12);
    message.bytes(id::SECURITY, &[0; 40]);
    message.integer(id::ORIGIN, who.origin as i32);
    message.text(id::MANAGER, manager, 48);
    message.bytes(id::ACCOUNTING_TOKEN, &[0; 32]);
    message.text(id::IDENTITY, "", 32);
    message.integer(id::APPL_TYPE, value::appl_type::UNIX);
    message.text(id::APPLICATION, &who.application, 28);
    message.text(id::APPL_ORIGIN, "", 4);
    9
}

fn parameter(message: &mut pcf::Message, attribute: &Attribute, value: &Value) {
    let selector = attribute.selector;
    match (attribute.number_of(value), value) {
        (Some(number), _) => message.integer(selector, number),
        (None, Value::List(list)) => message.texts(selector, list, attribute.length()),
        (None, value) => {
            let text = value.to_string();
            let fixed = matches!(attribute.kind, ValueKind::Text(most) | ValueKind::Name(most)
                if most <= WIDTH_MAX && text.len() <= most);
            let width = if fixed { attribute.length() } else { text.len() };
            message.text(selector, &text, width);
        }
    }
}

/// An object, as it is defined.
fn described(message: &mut pcf::Message, object: &Object) {
    let (kind, name) = kind_and_name(object.kind);
    message.integer(id::OBJECT_TYPE, kind);
    message.text(name, &object.name, object.name.len().max(object.kind.name_bytes_max().min(48)));
    if let Some(queue_type) = queue_type(object.kind) {
        message.integer(id::QUEUE_TYPE, queue_type);
    }
    let defined = object.attributes().filter(|(attribute, _)| {
        let own = [0, name, id::QUEUE_TYPE].contains(&attribute.selector);
        !own && attribute.access != Access::Shown
    });
    for (attribute, value) in defined {
        parameter(message, attribute, value);
    }
}

impl<S: Store> Core<S> {
    /// Tells what became of an object; `wanted`: such events were asked for before.
    pub(crate) fn changed(&self, who: &Commander, wanted: bool, change: Change<'_>) {
        if !wanted && !self.manager_settings().events.configuration {
            return;
        }
        let (reason, objects) = match change {
            Change::Made(object) => (2367, [Some(object), None]),
            Change::Changed { before, now } => (2368, [Some(before), Some(now)]),
            Change::Removed(object) => (2369, [Some(object), None]),
            Change::Shown(object) => (2370, [Some(object), None]),
        };
        let count = objects.iter().flatten().count();
        let pair = if count > 1 { self.new_identifier() } else { Ok(NO_IDENTIFIER) };
        let Ok(pair) = pair else { return };
        for (at, object) in (1..).zip(objects.into_iter().flatten()) {
            let mut message = pcf::Message::new(EVENT, OF_CONFIGURATION, (WARNING, reason));
            message.part(at, at as usize == count);
            context(&mut message, who, &self.options.name);
            described(&mut message, object);
            self.put_correlated(CONFIGURATION_QUEUE, message, pair);
        }
    }

    /// Whether changes of objects are told now.
    pub(crate) fn tells_changes(&self) -> bool {
        self.manager_settings().events.configuration
    }

    /// Tells of a command that was carried out.
    pub(crate) fn commanded(&self, who: &Commander, what: &Commanded<'_>) {
        let wanted = self.manager_settings().events;
        if !wanted.commands || (what.displays && !wanted.displays) {
            return;
        }
        let reason = if what.text.is_some() { BY_TEXT } else { BY_MESSAGE };
        let mut message = pcf::Message::new(EVENT, OF_COMMAND, (WARNING, reason));
        let group = message.begin_group(id::CONTEXT);
        let members = context(&mut message, who, &self.options.name) + 1;
        message.integer(id::COMMAND, what.number);
        message.end_group(group, members);
        let group = message.begin_group(id::DATA);
        let members = match what.text {
            Some(text) => {
                message.text(id::TEXT, text, text.len());
                1
            }
            None => message.parameters(what.parameters),
        };
        message.end_group(group, members);
        self.put_correlated(COMMAND_QUEUE, message, NO_IDENTIFIER);
    }

    fn put_correlated(&self, queue: &str, message: pcf::Message, correlation: Identifier) {
        self.put_own_as(queue, value::format::EVENT, message, correlation);
    }
}
