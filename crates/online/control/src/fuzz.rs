//! What stands in queues, for whoever tries to break it.
//!
//! Invariants:
//! 1. No bytes make a decoder panic, or take more memory than they have themselves.

use crate::conversation::Conversation;
use crate::envelope::Envelope;

/// Takes bytes as a message of a queue and as a conversation's record: what is accepted is the same
/// once it is encoded and read again.
///
/// # Panics
/// If it is not.
pub fn exercise(bytes: &[u8]) {
    if let Some(one) = Envelope::decode(bytes) {
        let again = one.encode();
        assert!(again.len() <= 3 * bytes.len(), "a message does not grow");
        assert_eq!(Envelope::decode(&again), Some(one), "a message stays what it is");
    }
    if let Some(one) = Conversation::decode(bytes) {
        let again = Conversation::decode(&one.encode());
        assert_eq!(again, Some(one), "a conversation stays what it is");
    }
}

/// Messages and records that are good.
#[must_use]
pub fn examples() -> Vec<Vec<u8>> {
    let mut segments = otma::Segments::new();
    let _ = segments.push([0; 2], b"PART    AN960C10");
    let name = otma::Name(*b"PART    ");
    let plain = Envelope { transaction: name, segments, ..Envelope::default() };
    let rich = Envelope {
        correlator: Some(otma::Correlator(vec![1, 2, 3])),
        spa: vec![7; 20],
        reason: "DFS555I".to_owned(),
        answers: 9,
        in_conversation: true,
        ..plain.clone()
    };
    let new = Conversation::new(name, plain.identity.user);
    let record = Conversation { spa: vec![0; 30], ..new };
    let old = Conversation { owner: None, ..record.clone() };
    vec![plain.encode(), rich.encode(), record.encode(), old.encode()]
}
