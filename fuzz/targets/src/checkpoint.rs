//! The checkpoint: what restart knows besides the log behind it.

use base::{CiNumber, DataSetId, UowId};
use uow::checkpoint::Checkpoint;

use crate::definition;

/// What decodes encodes to something that decodes to the same, and never asks for a later log
/// than it begins with.
pub fn fuzz(bytes: &[u8]) {
    let Ok(checkpoint) = Checkpoint::decode(bytes) else { return };
    assert_eq!(Checkpoint::decode(&checkpoint.encode()).as_ref(), Ok(&checkpoint));
    assert!(checkpoint.needed_from() <= checkpoint.begin);
}

/// The first checkpoint of a system, and a fuller one.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut full = Checkpoint::initial();
    full.sets = vec![(5, definition::sample("A", 1)), (6, definition::sample("B", 2))];
    full.frees.insert(UowId(4), vec![(DataSetId(7), CiNumber(9))]);
    vec![Checkpoint::initial().encode(), full.encode()]
}
