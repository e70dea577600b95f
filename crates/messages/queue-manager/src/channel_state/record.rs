//! What both ends of a channel keep, and what they make of it when they meet again.
//!
//! | set | key | value |
//! |---|---|---|
//! | `HOLDFAST.MQ.CHANNELS` | `S`, channel | what its sender keeps |
//! | the same | `R`, channel, 0, partner's name | what its receiver keeps of that partner |
//! | the same | `C`, channel, 0, partner's name | the name in the certificate with which it came first |
//! | the same | `T`, channel | it is stopped: nothing but a command starts it |
//!
//! | bytes of a sender's record | |
//! |---|---|
//! | 1 | version, 1 |
//! | 8, 8 | last batch that both ends have done, sequence number of its last message |
//! | 1 | 1: the receiver is to take that number over |
//! | 8, 8 | batch in doubt, sequence number of its last message; 0: none |
//! | 8 | when a message was last known to have arrived, milliseconds since 1970 UTC |
//! | 4, 4 | number of the transmission queue, messages in doubt |
//! | 8 each | their places |
//!
//! | bytes of a receiver's record | |
//! |---|---|
//! | 1 | version, 1 |
//! | 8, 8, 8 | last batch, sequence number of its last message, when |

use base::bytes::Reader;
use store::{Read, SetId, Store, StoreError, Unit, UnitOptions};

use crate::queue::Place;

const VERSION: u8 = 1;
/// The set of these records.
pub(crate) const CHANNELS: &str = "HOLDFAST.MQ.CHANNELS";

/// The number of a batch; 0 stands for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BatchNumber(pub u64);

impl BatchNumber {
    /// No batch.
    pub const NONE: BatchNumber = BatchNumber(0);

    /// Whether it stands for none.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == BatchNumber::NONE
    }
}

impl std::fmt::Display for BatchNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016X}", self.0)
    }
}

/// The sequence number of a message; 0 stands in front of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sequence(pub u64);

impl Sequence {
    /// The one behind it: 1 behind the highest.
    #[must_use]
    pub fn next(self, highest: u64) -> Sequence {
        Sequence(if self.0 >= highest { 1 } else { self.0 + 1 })
    }
}

/// What a sender knows of its last batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderState {
    /// The last batch that both ends have done.
    pub last: BatchNumber,
    /// The sequence number of its last message.
    pub sequence: Sequence,
    /// The receiver is to take the number over: an operator has reset it.
    pub resets: bool,
    /// The batch that the receiver may have done or not; none.
    pub in_doubt: BatchNumber,
    /// The sequence number of its last message.
    pub in_doubt_sequence: Sequence,
    /// When a message was last known to have arrived, milliseconds since 1970 UTC; 0: never.
    pub last_ms: u64,
}

/// What a receiver knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverState {
    /// The last batch that it has committed.
    pub last: BatchNumber,
    /// The sequence number of its last message.
    pub sequence: Sequence,
    /// When, milliseconds since 1970 UTC; 0: never.
    pub last_ms: u64,
}

/// What a sender does when it has heard what the receiver knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Both know the same: it goes on.
    Agree,
    /// The batch in doubt was committed: its messages are removed.
    Commit,
    /// The batch in doubt was not committed: its messages are sent again.
    BackOut,
    /// The receiver takes the sender's number over.
    Reset,
    /// They do not fit: an operator has to decide.
    Mismatch,
}

impl Decision {
    /// What is to be done where the ends know this.
    #[must_use]
    pub fn of(sender: &SenderState, receiver: &ReceiverState) -> Decision {
        let before = receiver.last == sender.last && receiver.sequence == sender.sequence;
        if !sender.in_doubt.is_none() {
            return match receiver.last == sender.in_doubt {
                true => Decision::Commit,
                false if before => Decision::BackOut,
                false => Decision::Mismatch,
            };
        }
        match (before, sender.resets) {
            (true, _) => Decision::Agree,
            (false, true) => Decision::Reset,
            (false, false) => Decision::Mismatch,
        }
    }
}

/// Messages of a batch in doubt, as they are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doubt {
    pub(crate) queue: u32,
    pub(crate) places: Vec<Place>,
}

pub(crate) fn write_sender(state: &SenderState, doubt: &Doubt) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(50 + doubt.places.len() * 8);
    bytes.push(VERSION);
    bytes.extend_from_slice(&state.last.0.to_le_bytes());
    bytes.extend_from_slice(&state.sequence.0.to_le_bytes());
    bytes.push(u8::from(state.resets));
    bytes.extend_from_slice(&state.in_doubt.0.to_le_bytes());
    bytes.extend_from_slice(&state.in_doubt_sequence.0.to_le_bytes());
    bytes.extend_from_slice(&state.last_ms.to_le_bytes());
    bytes.extend_from_slice(&doubt.queue.to_le_bytes());
    bytes.extend_from_slice(&(doubt.places.len() as u32).to_le_bytes());
    for place in &doubt.places {
        bytes.extend_from_slice(&place.to_le_bytes());
    }
    bytes
}

pub(crate) fn read_sender(bytes: &[u8]) -> Option<(SenderState, Doubt)> {
    let mut reader = Reader::new(bytes);
    if reader.u8()? != VERSION {
        return None;
    }
    let state = SenderState {
        last: BatchNumber(reader.u64()?),
        sequence: Sequence(reader.u64()?),
        resets: reader.u8()? != 0,
        in_doubt: BatchNumber(reader.u64()?),
        in_doubt_sequence: Sequence(reader.u64()?),
        last_ms: reader.u64()?,
    };
    let queue = reader.u32()?;
    let count = reader.u32()? as usize;
    if reader.rest().len() != count.checked_mul(8)? {
        return None;
    }
    let mut places = Vec::with_capacity(count);
    for _ in 0..count {
        places.push(reader.u64()?);
    }
    Some((state, Doubt { queue, places }))
}

pub(crate) fn write_receiver(state: &ReceiverState) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    for number in [state.last.0, state.sequence.0, state.last_ms] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes
}

pub(crate) fn read_receiver(bytes: &[u8]) -> Option<ReceiverState> {
    let mut reader = Reader::new(bytes);
    if reader.u8()? != VERSION {
        return None;
    }
    Some(ReceiverState {
        last: BatchNumber(reader.u64()?),
        sequence: Sequence(reader.u64()?),
        last_ms: reader.u64()?,
    })
}

pub(crate) fn sender_key(channel: &str) -> Vec<u8> {
    [b"S", channel.as_bytes()].concat()
}

pub(crate) fn receiver_key(channel: &str, partner: &str) -> Vec<u8> {
    [b"R", channel.as_bytes(), b"\0", partner.as_bytes()].concat()
}

pub(crate) fn subject_key(channel: &str, partner: &str) -> Vec<u8> {
    [b"C", channel.as_bytes(), b"\0", partner.as_bytes()].concat()
}

pub(crate) fn stopped_key(channel: &str) -> Vec<u8> {
    [b"T", channel.as_bytes()].concat()
}

/// Reads a record; `None` if there is none.
pub(crate) fn fetch<S: Store>(
    store: &S,
    set: SetId,
    key: &[u8],
) -> Result<Option<Vec<u8>>, StoreError> {
    let mut unit = store.begin(UnitOptions::READ_ONLY)?;
    let mut value = Vec::new();
    let found = unit.get(set, key, Read::Unlocked, &mut value)?;
    unit.backout()?;
    Ok(found.then_some(value))
}

/// Keeps a record, durably, or removes it.
pub(crate) fn keep<S: Store>(
    store: &S,
    set: SetId,
    key: &[u8],
    value: Option<&[u8]>,
) -> Result<(), StoreError> {
    let mut unit = store.begin(UnitOptions::default())?;
    match value {
        Some(value) => unit.put(set, key, value)?,
        None => {
            let _ = unit.delete(set, key)?;
        }
    }
    unit.commit().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(last: u64, sequence: u64, in_doubt: u64, resets: bool) -> SenderState {
        SenderState {
            last: BatchNumber(last),
            sequence: Sequence(sequence),
            resets,
            in_doubt: BatchNumber(in_doubt),
            in_doubt_sequence: Sequence(sequence + 3),
            last_ms: 5,
        }
    }

    fn receiver(last: u64, sequence: u64) -> ReceiverState {
        ReceiverState { last: BatchNumber(last), sequence: Sequence(sequence), last_ms: 9 }
    }

    #[test]
    fn a_batch_in_doubt_is_decided_by_the_last_one_that_the_receiver_has() {
        assert_eq!(Decision::of(&sender(7, 10, 8, false), &receiver(8, 13)), Decision::Commit);
        assert_eq!(Decision::of(&sender(7, 10, 8, false), &receiver(7, 10)), Decision::BackOut);
        assert_eq!(Decision::of(&sender(7, 10, 8, false), &receiver(6, 10)), Decision::Mismatch);
        assert_eq!(Decision::of(&sender(0, 0, 8, false), &receiver(0, 0)), Decision::BackOut);
        assert_eq!(Decision::of(&sender(7, 10, 8, true), &receiver(0, 0)), Decision::Mismatch);
    }

    #[test]
    fn without_doubt_both_have_to_know_the_same() {
        assert_eq!(Decision::of(&sender(7, 10, 0, false), &receiver(7, 10)), Decision::Agree);
        assert_eq!(Decision::of(&sender(7, 10, 0, false), &receiver(7, 9)), Decision::Mismatch);
        assert_eq!(Decision::of(&sender(7, 10, 0, false), &receiver(9, 10)), Decision::Mismatch);
        assert_eq!(Decision::of(&sender(7, 10, 0, true), &receiver(9, 10)), Decision::Reset);
        assert_eq!(Decision::of(&sender(0, 0, 0, false), &receiver(0, 0)), Decision::Agree);
    }

    #[test]
    fn records_come_back_as_they_were_written() {
        let state = sender(7, 10, 8, true);
        let doubt = Doubt { queue: 3, places: vec![1, u64::MAX, 5] };
        let bytes = write_sender(&state, &doubt);
        assert_eq!(read_sender(&bytes), Some((state, doubt)));
        for cut in 0..bytes.len() {
            assert_eq!(read_sender(&bytes[..cut]), None);
        }
        let state = receiver(4, 5);
        let bytes = write_receiver(&state);
        assert_eq!(read_receiver(&bytes), Some(state));
        assert_eq!(read_receiver(&bytes[1..]), None);
    }

    #[test]
    fn numbers_begin_again_behind_the_highest() {
        assert_eq!(Sequence(99).next(100), Sequence(100));
        assert_eq!(Sequence(100).next(100), Sequence(1));
        assert_eq!(Sequence(0).next(100), Sequence(1));
    }
}
