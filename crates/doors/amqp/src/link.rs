//! What attaches say, what answers to them are, and what states of deliveries mean.

use crate::budget::Member;
use crate::terminus::{self, Named};
use crate::value::{Reader, Value, field};
use crate::work::{Fate, Job, LinkKey, MESSAGE_BYTES_MAX, Room, Trouble, trouble};

/// The performative that makes a link.
pub(crate) const ATTACH: u64 = 0x12;
const COORDINATOR: u64 = 0x30;

/// A message that comes in several frames.
pub(crate) struct Partial {
    pub(crate) delivery: u32,
    pub(crate) settled: bool,
    pub(crate) transaction: Option<u64>,
    pub(crate) message: Vec<u8>,
    /// Room that it has in the door, and for how many bytes.
    pub(crate) room: (Room, usize),
}

impl Partial {
    /// Whether the door has room for more of it. It takes twice as much each time, as its bytes do.
    pub(crate) fn has_room(&mut self, more: usize, member: Option<&Member>) -> bool {
        let Some(member) = member else { return true };
        let (room, bytes) = &mut self.room;
        let needed = self.message.len() + more;
        let grows = needed.saturating_sub(*bytes);
        let wanted = grows.max(*bytes).min(MESSAGE_BYTES_MAX - (*bytes).min(MESSAGE_BYTES_MAX));
        if grows == 0 {
            return true;
        }
        *bytes += wanted;
        member.partial(wanted, room)
    }
}

/// What a link does.
pub(crate) enum Role {
    /// It brings messages.
    Producer { partial: Option<Partial>, unanswered: u32 },
    /// It takes messages.
    Consumer { credit: u32, drain: bool },
    /// It begins and ends transactions.
    Coordinator { partial: Option<Partial> },
}

/// A link.
pub(crate) struct Link {
    pub(crate) key: LinkKey,
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) delivery_count: u32,
    pub(crate) credit: u32,
    /// Source and target of the attach, for its answer.
    pub(crate) ends: (Value, Value),
    pub(crate) settle_modes: (u8, u8),
    pub(crate) open: bool,
}

impl Link {
    /// Bytes of a message that has begun to come.
    pub(crate) fn partial_bytes(&self) -> usize {
        match &self.role {
            Role::Producer { partial, .. } | Role::Coordinator { partial } => {
                partial.as_ref().map_or(0, |partial| partial.message.len())
            }
            Role::Consumer { .. } => 0,
        }
    }
}

/// An error as the peer reads it.
pub(crate) fn error_value(trouble: &Trouble) -> Value {
    let words = Value::Text(trouble.words.clone());
    Value::composite(0x1d, vec![Value::symbol(trouble.condition), words])
}

/// A link as an attach of a client of that name wants it, and what it takes to open it.
pub(crate) fn attached(
    key: LinkKey,
    fields: &[Value],
    container: &str,
) -> (Link, Result<Option<Job>, Trouble>) {
    let name = field(fields, 0).text().unwrap_or_default().to_owned();
    // True: the peer takes messages.
    let takes = field(fields, 2).is_true();
    let sender_mode = field(fields, 3).number().unwrap_or(2);
    let receiver_mode = field(fields, 4).number().unwrap_or(0);
    let modes = [sender_mode, receiver_mode].map(|mode| u8::try_from(mode).unwrap_or(2));
    let ends = (field(fields, 5).clone(), field(fields, 6).clone());
    let settled = sender_mode == 1;
    let coordinates = ends.1.as_composite().is_some_and(|(code, _)| code == COORDINATOR);
    let (role, job) = match (takes, coordinates) {
        (true, _) => {
            let named = Named { link: &name, container, desired: field(fields, 12) };
            let consumer = terminus::consumer(&ends.0, &named, settled);
            let job = consumer.map(|consumer| Some(Job::Consume(key, consumer)));
            (Role::Consumer { credit: 0, drain: false }, job)
        }
        (false, true) => (Role::Coordinator { partial: None }, Ok(None)),
        (false, false) => {
            let job = Job::Produce(key, terminus::target(&ends.1));
            (Role::Producer { partial: None, unanswered: 0 }, Ok(Some(job)))
        }
    };
    let first_count = field(fields, 9).number().filter(|_| !takes);
    let link = Link {
        key,
        name,
        role,
        delivery_count: first_count.and_then(|count| u32::try_from(count).ok()).unwrap_or(0),
        credit: 0,
        ends,
        settle_modes: (modes[0], modes[1]),
        open: false,
    };
    (link, job)
}

/// The answer to an attach; `address` is that of what was made for it, or known already.
pub(crate) fn answer(link: &Link, address: Option<&str>) -> Value {
    let takes = matches!(link.role, Role::Consumer { .. });
    let (mut source, mut target) = link.ends.clone();
    if let (true, Value::Null, Some(address)) = (takes, &source, address) {
        source = terminus::source_of(address);
    } else if let Some(address) = address {
        let end = if takes { &mut source } else { &mut target };
        if let Value::Described(parts) = end
            && let Value::List(fields) = &mut parts.1
        {
            if fields.is_empty() {
                fields.push(Value::Null);
            }
            fields[0] = Value::Text(address.to_owned());
        }
    }
    attach(link, takes, source, target)
}

/// The answer to an attach that is refused: it leads nowhere. Some clients know it by both ends.
pub(crate) fn refusal(link: &Link) -> Value {
    attach(link, matches!(link.role, Role::Consumer { .. }), Value::Null, Value::Null)
}

fn attach(link: &Link, takes: bool, source: Value, target: Value) -> Value {
    let fields = vec![
        Value::Text(link.name.clone()),
        Value::Uint(link.key.handle),
        // This side's role is the other one.
        Value::Bool(!takes),
        Value::Ubyte(link.settle_modes.0),
        Value::Ubyte(link.settle_modes.1),
        source,
        target,
        Value::Null,
        Value::Null,
        if takes { Value::Uint(link.delivery_count) } else { Value::Null },
        Value::Ulong(u64::try_from(MESSAGE_BYTES_MAX).unwrap_or(u64::MAX)),
    ];
    Value::composite(ATTACH, fields)
}

fn transaction_number(value: &Value) -> Option<u64> {
    let Value::Binary(bytes) = value else { return None };
    Some(u64::from_be_bytes(bytes.as_slice().try_into().ok()?))
}

fn transaction_id(number: u64) -> Value {
    Value::Binary(number.to_be_bytes().to_vec())
}

/// The transaction that a state names; one that nobody has begun if it cannot be read.
pub(crate) fn transaction_of(state: &Value) -> Option<u64> {
    let (code, fields) = state.as_composite()?;
    (code == 0x34).then(|| transaction_number(field(fields, 0)).unwrap_or(0))
}

/// What a state says became of a delivery, and in which transaction.
pub(crate) fn fate(state: &Value) -> (Option<Fate>, Option<u64>) {
    let Some((code, fields)) = state.as_composite() else { return (None, None) };
    let fate = match code {
        0x24 => Fate::Accepted,
        0x25 => Fate::Rejected,
        0x26 => Fate::Released,
        // Undeliverable here: it would come again and again to who cannot process it.
        0x27 if field(fields, 1).is_true() => Fate::Rejected,
        0x27 if field(fields, 0).is_true() => Fate::Failed,
        0x27 => Fate::Released,
        0x34 => {
            let transaction = transaction_of(state);
            let (fate, _) = match field(fields, 1).as_composite() {
                Some((0x34, _)) | None => (Some(Fate::Accepted), None),
                Some(_) => fate(field(fields, 1)),
            };
            return (fate, transaction);
        }
        _ => return (None, None),
    };
    (Some(fate), None)
}

/// The state that says what became of a delivery.
pub(crate) fn state(fate: Fate) -> Value {
    match fate {
        Fate::Accepted => Value::composite(0x24, vec![]),
        Fate::Rejected => Value::composite(0x25, vec![]),
        Fate::Released => Value::composite(0x26, vec![]),
        Fate::Failed => Value::composite(0x27, vec![Value::Bool(true)]),
    }
}

/// The state that says which transaction was begun.
pub(crate) fn declared(number: u64) -> Value {
    Value::composite(0x33, vec![transaction_id(number)])
}

/// The state that says that a message was taken in a transaction.
pub(crate) fn in_transaction(number: u64) -> Value {
    Value::composite(0x34, vec![transaction_id(number), state(Fate::Accepted)])
}

/// What a message to the coordinator asks for: to begin, or to end a transaction, failed or not.
pub(crate) fn coordination(message: &[u8]) -> Result<Option<(u64, bool)>, Trouble> {
    let wrong = || trouble("amqp:decode-error", "that is no message for a coordinator");
    let mut reader = Reader::new(message);
    while let Some(Value::Described(section)) = reader.value() {
        if section.0.number() != Some(0x77) {
            continue;
        }
        return match section.1.as_composite() {
            Some((0x31, _)) => Ok(None),
            Some((0x32, fields)) => match transaction_number(field(fields, 0)) {
                Some(number) => Ok(Some((number, field(fields, 1).is_true()))),
                None => Ok(Some((0, true))),
            },
            _ => wrong(),
        };
    }
    wrong()
}
