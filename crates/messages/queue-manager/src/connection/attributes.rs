//! Inquiring about attributes and setting them.
//!
//! 1. An inquiry answers in the order of its selectors: numbers by themselves, characters by
//!    themselves, each in its full length, whether or not the object has it.
//! 2. Only a few attributes of a queue can be set by programs; what is set is durable at once.

use store::Store;

use super::session::{Opened, Session};
use crate::core::event::{Change, Commander, Origin};
use crate::error::AdminError;
use crate::name::NAME_BYTES;
use crate::objects::{Attribute, Kind, Object, Value, ValueKind};
use crate::options::value::open as opening;
use crate::options::{Handle, Inquired};
use crate::reason::{Answer, Failed, Outcome, Reason, fail, require};

/// Selectors of numbers.
const NUMBERS: std::ops::RangeInclusive<i32> = 1..=2_000;
/// Selectors of characters.
const CHARACTERS: std::ops::RangeInclusive<i32> = 2_001..=4_000;
/// Selectors at a time.
const SELECTORS_MAX: usize = 256;

const INHIBIT_GET: i32 = 9;
const INHIBIT_PUT: i32 = 10;
const TRIGGER_CONTROL: i32 = 24;
const TRIGGER_DEPTH: i32 = 29;
const TRIGGER_PRIORITY: i32 = 26;
const TRIGGER_TYPE: i32 = 28;
const DISTRIBUTION_LISTS: i32 = 34;
const TRIGGER_DATA: i32 = 2_023;
const NAMES: i32 = 2_020;
/// Selectors of names: of a queue, a process, a namelist, a queue manager.
const OWN_NAMES: [(i32, Kind); 4] = [
    (2_016, Kind::QueueLocal),
    (2_012, Kind::Process),
    (2_010, Kind::Namelist),
    (2_015, Kind::QueueManager),
];
const QUEUE_TYPE: i32 = 20;

pub(super) fn inquire<S: Store>(
    session: &mut Session<S>,
    handle: Handle,
    selectors: &[i32],
) -> Answer<Inquired> {
    session.goes_on(false)?;
    let object = object_of(session, handle, opening::INQUIRE, Reason::NOT_OPEN_FOR_INQUIRE)?;
    require(selectors.len() <= SELECTORS_MAX, Reason::SELECTOR_LIMIT_EXCEEDED)?;
    let mut answer = Inquired::default();
    for selector in selectors {
        if NUMBERS.contains(selector) {
            let number = number_of(&object, *selector);
            if number.is_none() {
                answer.outcome = Outcome::warning(Reason::SELECTOR_NOT_FOR_TYPE);
            }
            answer.numbers.push(number.unwrap_or(-1));
        } else if CHARACTERS.contains(selector) {
            let found = characters_of(&object, *selector, &mut answer.characters);
            if !found {
                answer.outcome = Outcome::warning(Reason::SELECTOR_NOT_FOR_TYPE);
            }
        } else {
            return fail(Reason::SELECTOR_ERROR);
        }
    }
    Ok(answer)
}

/// The definition behind a handle, as it is now.
fn object_of<S: Store>(
    session: &mut Session<S>,
    handle: Handle,
    option: i32,
    otherwise: Reason,
) -> Answer<Object> {
    let open = session.open(handle)?;
    open.may(option, otherwise)?;
    let (kind, name) = match &open.object {
        Opened::Queue(queue) => match (&queue.resolved.via, queue.counted()) {
            (Some(via), _) => (via.kind, via.name.clone()),
            (None, Some(queue)) => (Kind::QueueLocal, queue.name.text()),
            (None, None) => return fail(Reason::HOBJ_ERROR),
        },
        Opened::Other(kind, name) => (*kind, name.clone()),
        _ => return fail(otherwise),
    };
    let shown = session.core.shown(kind, &name);
    let gone = if kind.is_queue() { Reason::Q_DELETED } else { Reason::OBJECT_CHANGED };
    shown.map_or(fail(gone), Ok)
}

fn number_of(object: &Object, selector: i32) -> Option<i32> {
    if selector == QUEUE_TYPE {
        return match object.kind {
            Kind::QueueLocal => Some(1),
            Kind::QueueModel => Some(2),
            Kind::QueueAlias => Some(3),
            Kind::QueueRemote => Some(6),
            _ => None,
        };
    }
    let (attribute, value) = object.selected(selector)?;
    attribute.number_of(value)
}

fn characters_of(object: &Object, selector: i32, out: &mut Vec<u8>) -> bool {
    let from = out.len();
    let own = OWN_NAMES.iter().find(|(known, _)| *known == selector);
    if own.is_some_and(|(_, kind)| *kind == object.kind.space()) {
        out.extend_from_slice(object.name.as_bytes());
        out.resize(from + NAME_BYTES, b' ');
        return true;
    }
    match object.selected(selector) {
        Some((attribute, Value::List(list))) => {
            for name in list {
                let from = out.len();
                out.extend_from_slice(name.as_bytes());
                out.resize(from + attribute.length(), b' ');
            }
            true
        }
        Some((attribute, value)) if !matches!(attribute.kind, ValueKind::Number(..)) => {
            out.extend_from_slice(value.text().as_bytes());
            out.resize(from + attribute.length(), b' ');
            true
        }
        _ => {
            out.resize(from + length_of(selector), b'*');
            false
        }
    }
}

/// Characters of an attribute that an object does not have, as objects that have it do.
fn length_of(selector: i32) -> usize {
    if selector == NAMES {
        return 0;
    }
    let mut all = Kind::ALL.into_iter().flat_map(Kind::attributes);
    let known = all.find(|attribute| attribute.selector == selector);
    known.map_or(NAME_BYTES, Attribute::length)
}

pub(super) fn set<S: Store>(
    session: &mut Session<S>,
    handle: Handle,
    selectors: &[i32],
    numbers: &[i32],
    characters: &[u8],
) -> Answer<Outcome> {
    session.goes_on(false)?;
    let object = object_of(session, handle, opening::SET, Reason::NOT_OPEN_FOR_SET)?;
    require(selectors.len() <= SELECTORS_MAX, Reason::SELECTOR_LIMIT_EXCEEDED)?;
    let mut numbers = numbers.iter();
    let mut characters = characters;
    let mut values = Vec::new();
    for selector in selectors {
        let otherwise = match *selector {
            INHIBIT_GET | INHIBIT_PUT | DISTRIBUTION_LISTS => Reason::INHIBIT_VALUE_ERROR,
            TRIGGER_CONTROL => Reason::TRIGGER_CONTROL_ERROR,
            TRIGGER_DEPTH => Reason::TRIGGER_DEPTH_ERROR,
            TRIGGER_PRIORITY => Reason::TRIGGER_MSG_PRIORITY_ERR,
            TRIGGER_TYPE => Reason::TRIGGER_TYPE_ERROR,
            TRIGGER_DATA => Reason::CHAR_ATTRS_ERROR,
            _ => return fail(Reason::SELECTOR_ERROR),
        };
        let Some((attribute, _)) = object.selected(*selector) else {
            return fail(Reason::SELECTOR_NOT_FOR_TYPE);
        };
        let value = if CHARACTERS.contains(selector) {
            let Some((field, rest)) = characters.split_at_checked(attribute.length()) else {
                return fail(Reason::CHAR_ATTR_LENGTH_ERROR);
            };
            characters = rest;
            Value::Text(crate::name::unpadded(field))
        } else {
            let Some(number) = numbers.next() else { return fail(Reason::INT_ATTR_COUNT_ERROR) };
            Value::Number(i64::from(*number))
        };
        let value = attribute.check(&value).map_err(|_| Failed(otherwise))?;
        values.push((attribute.name, value));
    }
    let wanted = session.core.tells_changes();
    session.core.adjust(object.kind, &object.name, &values).map_err(|error| match error {
        AdminError::Store(error) => crate::core::failed(error),
        AdminError::NotFound { .. } => Failed(Reason::Q_DELETED),
        _ => Failed(Reason::UNEXPECTED_ERROR),
    })?;
    if let Some(now) = session.core.object(object.kind, &object.name) {
        let who = &session.client.options;
        let (user, application) = (who.user.clone(), who.application.clone());
        let who = Commander { user, origin: Origin::Call, application };
        session.core.changed(&who, wanted, Change::Changed { before: &object, now: &now });
    }
    Ok(Outcome::OK)
}
