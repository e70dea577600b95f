//! Whether a segment satisfies an SSA, and when no later twin can (DLI-12.6, DLI-12.15 and
//! DLI-12.17).

use crate::bytes::part;
use crate::forest::Entry;
use crate::lens::{Lens, Node};
use crate::ssa::{Condition, Field, Operator, Ssa};

/// What one level of a call asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// Sets of groups of conditions (see [`Ssa::sets`]); none asks for nothing.
    sets: Vec<Vec<Vec<Condition>>>,
}

impl Asked {
    pub(crate) fn of(ssa: &Ssa) -> Asked {
        Asked { sets: ssa.sets.clone() }
    }

    /// DLI-12.20: a C equals `=` on every key of the path.
    pub(crate) fn key(lens: &Lens<'_>, seg: usize, value: &[u8]) -> Asked {
        let field = match (&lens.view.sequence, lens.seg(seg).key) {
            (Some(_), _) if seg == 0 => {
                Field::Indexed { index: 0, len: value.len(), sequence: true }
            }
            (_, Some(key)) => {
                Field::Segment { offset: usize::from(key.offset), len: value.len(), is_key: true }
            }
            (_, None) => return Asked::default(),
        };
        let operator = Operator::Eq;
        Asked { sets: vec![vec![vec![Condition { field, operator, value: value.to_vec() }]]] }
    }

    /// Whether it asks for anything.
    pub(crate) fn is_something(&self) -> bool {
        !self.sets.is_empty()
    }

    pub(crate) fn is_met(&self, lens: &Lens<'_>, node: &Node) -> bool {
        let set_is_met = |set: &Vec<Vec<Condition>>| {
            set.iter().enumerate().all(|(at, group)| group_is_met(lens, node, group, at == 0))
        };
        self.sets.is_empty() || self.sets.iter().any(set_is_met)
    }

    /// DLI-12.15: whether the key has an upper limit, so that a search through its order ends.
    pub(crate) fn is_limited(&self) -> bool {
        !self.sets.is_empty() && self.sets.iter().all(|set| limits(set).next().is_some())
    }

    /// DLI-12.6: whether neither this twin nor a later one can satisfy it, the chain being in
    /// order.
    ///
    /// decision: in a hashed database only `=` ends a search of the roots, by the root's place in
    /// the randomizer's order.
    pub(crate) fn is_passed(&self, lens: &Lens<'_>, node: &Node) -> bool {
        let key = lens.key(node);
        let passed = |condition: &Condition| {
            let value = &condition.value;
            let beyond = lens.rank(node.seg, &key) > lens.rank(node.seg, value);
            match condition.operator {
                Operator::Eq => beyond,
                Operator::Le => beyond && !lens.is_hashed(node.seg),
                Operator::Lt => !lens.is_hashed(node.seg) && (beyond || key == *value),
                _ => false,
            }
        };
        !self.sets.is_empty() && self.sets.iter().all(|set| limits(set).any(passed))
    }

    /// Whether it consists of one `=` on the key: what a load program may write (DLI-12.49).
    pub(crate) fn is_key_alone(&self) -> bool {
        let mut conditions = self.sets.iter().flatten().flatten();
        let is_key = |one: &Condition| one.operator == Operator::Eq && is_order(one);
        conditions.next().is_none_or(is_key) && conditions.next().is_none()
    }
}

fn is_order(condition: &Condition) -> bool {
    match condition.field {
        Field::Segment { is_key, .. } => is_key,
        Field::Indexed { sequence, .. } => sequence,
        Field::Destination { .. } => false,
    }
}

/// The conditions of a set that limit the key.
fn limits(set: &[Vec<Condition>]) -> impl Iterator<Item = &Condition> {
    let upper =
        |one: &&Condition| matches!(one.operator, Operator::Eq | Operator::Lt | Operator::Le);
    set.iter().take(1).flatten().filter(upper).filter(|one| is_order(one))
}

/// DLI-12.18: the conditions on an index in one group are met by one and the same source segment.
fn group_is_met(lens: &Lens<'_>, node: &Node, group: &[Condition], first: bool) -> bool {
    let plain = group.iter().all(|one| plain_is_met(lens, node, one));
    let indexed = |at: usize| {
        group
            .iter()
            .filter(move |one| matches!(one.field, Field::Indexed { index, .. } if index == at))
    };
    let met_by =
        |entry: &Entry, at| indexed(at).all(|one| one.operator.holds(&entry.search, &one.value));
    plain
        && lens.indexes(node.seg).enumerate().all(|(at, index)| {
            if indexed(at).next().is_none() {
                return true;
            }
            match node.entry.filter(|_| at == 0 && first) {
                // Under PROCSEQ the entry that led here; `#` asks the others too.
                Some(entry) => met_by(&lens.forest.entries[entry], at),
                None => lens.entries_to(index, node.id).iter().any(|entry| met_by(entry, at)),
            }
        })
}

/// DLI-12.43: a field that lies beyond LL satisfies NE alone.
fn plain_is_met(lens: &Lens<'_>, node: &Node, condition: &Condition) -> bool {
    let (bytes, offset, len) = match condition.field {
        Field::Segment { offset, len, .. } => (lens.image(node), offset, len),
        Field::Destination { offset, len } => (lens.joined(node), offset, len),
        Field::Indexed { .. } => return true,
    };
    let field = part(&bytes, offset, len);
    match field.len() == len {
        true => condition.operator.holds(field, &condition.value),
        false => condition.operator == Operator::Ne,
    }
}
