//! Messages in queues, and records of conversations beside them.

/// What is accepted stays what it is; other bytes are refused.
///
/// # Panics
/// If it does not.
pub fn fuzz(bytes: &[u8]) {
    control::exercise(bytes);
}

/// A message with little in it, one with everything, a conversation.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    control::examples()
}
