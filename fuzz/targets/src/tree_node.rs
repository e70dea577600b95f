//! A node of a tree in one interval.

use base::CiNumber;
use btree::node::{Kind, NodeBuilder, Value, fuzz_check};

/// What the check accepts, every operation survives.
pub fn fuzz(bytes: &[u8]) {
    fuzz_check(bytes);
}

/// Leaves and inner nodes, empty and not.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    vec![
        sample(Kind::Leaf, 0, false),
        sample(Kind::Leaf, 3, true),
        sample(Kind::Leaf, 40, true),
        sample(Kind::Inner, 20, false),
    ]
}

/// A node with `entries` entries behind the low fence "k".
pub(crate) fn sample(kind: Kind, entries: u32, bounded: bool) -> Vec<u8> {
    let mut bytes = vec![0; 1024];
    let level = u8::from(kind == Kind::Inner);
    let mut node = NodeBuilder::new(&mut bytes, kind, level, CiNumber(6), b"k");
    for number in 0..entries {
        // An inner node's first entry stands at its low fence.
        let key = if kind == Kind::Inner && number == 0 {
            b"k".to_vec()
        } else {
            format!("key{number:04}").into_bytes()
        };
        let child = (number + 10).to_le_bytes();
        node.push(&key, Value::inline(&child)).expect("a few entries fit");
    }
    let high: Option<&[u8]> = if bounded { Some(b"l") } else { None };
    let right = bounded.then_some(CiNumber(8));
    node.finish(high, right).expect("the high fence fits");
    bytes
}
