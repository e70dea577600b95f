//! The checkpoint: what restart knows besides the log behind it.

use base::{CiNumber, DataSetId, UowId};
use uow::checkpoint::{Checkpoint, Gathered};
use uow::record::Part;

use crate::definition;

/// What decodes encodes to something that decodes to the same, and never asks for a later log
/// than it begins with.
pub fn fuzz(bytes: &[u8]) {
    // As a part, and as two parts that belong together.
    let _ = Gathered::default().part(&Part { number: 0, count: 1, bytes });
    let (mut gathered, halves) = (Gathered::default(), bytes.split_at(bytes.len() / 2));
    let part = |number: u32, bytes| Part { number, count: 2, bytes };
    assert_eq!(gathered.part(&part(0, halves.0)), Ok(None));
    assert_eq!(gathered.part(&part(1, halves.1)), Checkpoint::decode(bytes).map(Some));
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
