//! How a message stands in the store.
//!
//! | bytes of a key | of each piece of a message |
//! |---|---|
//! | 1 | kind |
//! | 8 | the queue's name |
//! | 8 | place: order (1) and arrival number (7), most significant byte first |
//! | 2 | number of the piece, most significant byte first |
//!
//! | bytes of the value | of the first piece |
//! |---|---|
//! | 1 | version, 1 |
//! | 8 | when it was put, milliseconds since 1970 UTC |
//! | 4 | when it is worth nothing any more, seconds since 1970 UTC; 0: never |
//! | 4 | its length, all pieces together |
//! | rest | its bytes; further pieces hold nothing else |
//!
//! Invariants:
//! 1. Keys of a queue ascend in the order in which its messages are to be taken.

use std::fmt;

use otma::Name;

/// Bytes of a message in one piece.
pub const CHUNK_BYTES: usize = 32 << 10;
/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = 19;
/// Bytes in front of the first piece.
pub(crate) const HEAD_BYTES: usize = 17;
/// Bytes of the longest message.
pub(crate) const MESSAGE_BYTES_MAX: usize = 16 << 20;

const VERSION: u8 = 1;
const ARRIVAL_BITS: u32 = 56;

/// The kinds of queues, and of what else is kept beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Inputs for a transaction.
    Input = 1,
    /// Outputs for a tpipe or logical terminal.
    Output = 2,
    /// What could not be processed or delivered, by the queue it came from.
    DeadLetter = 3,
    /// A conversation and its scratch pad area: one record for each terminal.
    Conversation = 4,
    /// A terminal that has been seen: one record for each.
    Terminal = 5,
    /// Expedited inputs for a Fast Path program; in memory only.
    Expedited = 6,
}

impl Kind {
    fn of(byte: u8) -> Option<Kind> {
        let all = [Kind::Input, Kind::Output, Kind::DeadLetter, Kind::Conversation, Kind::Terminal];
        all.into_iter().find(|kind| *kind as u8 == byte)
    }

    /// Whether messages wait there; otherwise it holds records.
    #[must_use]
    pub fn is_queue(self) -> bool {
        matches!(self, Kind::Input | Kind::Output | Kind::DeadLetter | Kind::Expedited)
    }
}

/// A queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueName {
    /// What waits there.
    pub kind: Kind,
    /// For whom.
    pub name: Name,
}

impl QueueName {
    /// The inputs of a transaction.
    #[must_use]
    pub const fn input(name: Name) -> QueueName {
        QueueName { kind: Kind::Input, name }
    }

    /// The outputs of a tpipe.
    #[must_use]
    pub const fn output(name: Name) -> QueueName {
        QueueName { kind: Kind::Output, name }
    }

    /// The expedited inputs of a program.
    #[must_use]
    pub const fn expedited(program: Name) -> QueueName {
        QueueName { kind: Kind::Expedited, name: program }
    }

    /// The dead letters of a queue.
    #[must_use]
    pub const fn dead_letter(name: Name) -> QueueName {
        QueueName { kind: Kind::DeadLetter, name }
    }
}

impl fmt::Display for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Input => "TRAN",
            Kind::Output => "TPIPE",
            Kind::DeadLetter => "DEAD",
            Kind::Conversation => "CONV",
            Kind::Terminal => "LTERM",
            Kind::Expedited => "PGM",
        };
        write!(f, "{kind} {}", self.name)
    }
}

/// A message's place in its queue: its order, then its arrival.
pub(crate) fn place(order: u8, arrival: u64) -> u64 {
    (u64::from(order) << ARRIVAL_BITS) | (arrival & ((1 << ARRIVAL_BITS) - 1))
}

pub(crate) fn arrival_of(place: u64) -> u64 {
    place & ((1 << ARRIVAL_BITS) - 1)
}

pub(crate) fn key(queue: QueueName, place: u64, chunk: u16) -> [u8; KEY_BYTES] {
    let mut key = [queue.kind as u8; KEY_BYTES];
    key[1..9].copy_from_slice(&queue.name.0);
    key[9..17].copy_from_slice(&place.to_be_bytes());
    key[17..].copy_from_slice(&chunk.to_be_bytes());
    key
}

/// A key's queue, place and piece.
pub(crate) fn of_key(key: &[u8]) -> Option<(QueueName, u64, u16)> {
    let key: &[u8; KEY_BYTES] = key.try_into().ok()?;
    let name = Name(key[1..9].try_into().ok()?);
    let place = u64::from_be_bytes(key[9..17].try_into().ok()?);
    let chunk = u16::from_be_bytes(key[17..].try_into().ok()?);
    Some((QueueName { kind: Kind::of(key[0])?, name }, place, chunk))
}

/// What stands in front of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) put_at_ms: u64,
    pub(crate) expires_s: u32,
    pub(crate) bytes: u32,
}

impl Head {
    pub(crate) fn write(&self, into: &mut Vec<u8>) {
        into.push(VERSION);
        into.extend_from_slice(&self.put_at_ms.to_le_bytes());
        into.extend_from_slice(&self.expires_s.to_le_bytes());
        into.extend_from_slice(&self.bytes.to_le_bytes());
    }

    /// The head and what follows it.
    pub(crate) fn read(value: &[u8]) -> Option<(Head, &[u8])> {
        let (head, rest) = value.split_at_checked(HEAD_BYTES)?;
        if head[0] != VERSION {
            return None;
        }
        let put_at_ms = u64::from_le_bytes(head[1..9].try_into().ok()?);
        let expires_s = u32::from_le_bytes(head[9..13].try_into().ok()?);
        let bytes = u32::from_le_bytes(head[13..17].try_into().ok()?);
        Some((Head { put_at_ms, expires_s, bytes }, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_heads_come_back_and_keys_ascend() {
        let queue = QueueName::input(Name::new("PART").expect("a name"));
        let low = key(queue, place(1, 300), 0);
        assert!(low < key(queue, place(1, 300), 1));
        assert!(key(queue, place(1, 300), 9) < key(queue, place(1, 301), 0));
        assert!(key(queue, place(1, 301), 0) < key(queue, place(2, 1), 0));
        assert_eq!(of_key(&low), Some((queue, place(1, 300), 0)));
        assert_eq!(arrival_of(place(1, 300)), 300);
        assert_eq!(of_key(b"short"), None);
        let head = Head { put_at_ms: 7, expires_s: 8, bytes: 9 };
        let mut bytes = Vec::new();
        head.write(&mut bytes);
        assert_eq!(Head::read(&bytes), Some((head, &[][..])));
        bytes[0] = 2;
        assert_eq!(Head::read(&bytes), None);
    }
}
