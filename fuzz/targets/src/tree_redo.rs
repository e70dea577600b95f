//! The tree's log records, repeated on an interval: bodies may be anything.

use base::CiNumber;
use btree::TreeResource;
use btree::node::Kind;
use uow::Resource;

use crate::input::Input;
use crate::tree_node;

/// Targets and redo of any body on a sound node: done or refused, never a panic. Whether a key
/// stands in its order is not asked: the log is sealed, and redo is also the path of every change.
pub fn fuzz(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (kind, shape, body) = (input.byte(), input.byte(), input.rest());
    let mut targets = Vec::new();
    if TreeResource.targets(kind, body, &mut targets).is_err() {
        return;
    }
    assert!(!targets.is_empty(), "a record that decodes is about some interval");
    for target in targets.iter().take(4) {
        let _ = TreeResource.redo(kind, body, target.ci, &mut page(shape));
    }
    // An interval that the record is not about.
    let _ = TreeResource.redo(kind, body, CiNumber(6), &mut page(shape));
}

fn page(shape: u8) -> Vec<u8> {
    match shape % 5 {
        0 => tree_node::sample(Kind::Leaf, 0, false),
        1 => tree_node::sample(Kind::Leaf, 3, true),
        2 => tree_node::sample(Kind::Leaf, 40, true),
        3 => tree_node::sample(Kind::Inner, 20, false),
        _ => vec![0; 1024],
    }
}

/// An insert, a remove, a post, a free.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let entry = |kind: u8| {
        let mut record = vec![kind, 1];
        record.extend([6, 0, 0, 0, 1, 0, 0]);
        record.extend([8, 0]);
        record.extend(b"key0000xvalue");
        record
    };
    let mut seeds = vec![entry(32), entry(33), vec![49, 1, 6, 0, 0, 0]];
    let mut post = vec![41, 3, 6, 0, 0, 0, 1, 0, 9, 0, 0, 0];
    post.extend(b"key0000x");
    seeds.push(post);
    for kind in [57, 58] {
        let mut load = vec![kind, 4];
        if kind == 57 {
            load.extend([6, 0, 0, 0]);
        }
        load.extend(tree_node::sample(Kind::Leaf, 3, true));
        seeds.push(load);
    }
    seeds
}
