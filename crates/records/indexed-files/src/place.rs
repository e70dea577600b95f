//! Where a program is in a file, along one of its keys.
//!
//! Invariants:
//! 1. A place is the key of an entry. Its spot is used only as long as no entry of its tree has
//!    moved; then it is sought again by the key.

use crate::refusal::Refusal;
use crate::tree::{Spot, Tree};

/// How a record is sought from a key, or from its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The first with just this key.
    Equal,
    /// The first behind it.
    Greater,
    /// The first with it or behind it.
    GreaterOrEqual,
    /// The last in front of it.
    Less,
    /// The last with it or in front of it.
    LessOrEqual,
    /// The first of all.
    First,
    /// The last of all.
    Last,
}

impl Relation {
    /// Every one, in the order that they have on wires.
    pub const ALL: [Relation; 7] = [
        Relation::Equal,
        Relation::Greater,
        Relation::GreaterOrEqual,
        Relation::Less,
        Relation::LessOrEqual,
        Relation::First,
        Relation::Last,
    ];
}

/// What is to be said of a record that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The next record in this direction has the same alternate key.
    pub duplicate_follows: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// In front of everything, or behind it on the way backward.
    #[default]
    Outside,
    /// START has found a record, which is the next one in both directions.
    Found,
    /// A record was read.
    Read,
}

/// A place.
#[derive(Debug, Default)]
pub(crate) struct Place {
    /// The number of the key.
    pub(crate) key: usize,
    entry: Vec<u8>,
    spot: Option<(Spot, u64)>,
    state: State,
}

impl Place {
    /// The next entry, or the one before.
    pub(crate) fn next(&mut self, tree: &mut Tree, before: bool) -> Result<Spot, Refusal> {
        let spot = self.spot.take().filter(|(_, shape)| *shape == tree.shape());
        let found = match (self.state, spot) {
            (State::Outside, _) if before => tree.end()?,
            (State::Outside, _) => tree.from(b"", false)?,
            (State::Found, Some((spot, _))) => Some(spot),
            (State::Found, None) if before => tree.before(&self.entry, true)?,
            (State::Found, None) => tree.from(&self.entry, false)?,
            (State::Read, Some((spot, _))) => tree.step(spot, before)?,
            (State::Read, None) if before => tree.before(&self.entry, false)?,
            (State::Read, None) => tree.from(&self.entry, true)?,
        };
        found.ok_or(Refusal::End)
    }

    /// Takes a place where START has found an entry.
    pub(crate) fn found(&mut self, key: usize, spot: Spot, tree: &mut Tree) -> Result<(), Refusal> {
        self.take(key, spot, tree, State::Found)
    }

    /// Takes the place of an entry whose record was read.
    pub(crate) fn read(&mut self, key: usize, spot: Spot, tree: &mut Tree) -> Result<(), Refusal> {
        self.take(key, spot, tree, State::Read)
    }

    fn take(
        &mut self,
        key: usize,
        spot: Spot,
        tree: &mut Tree,
        state: State,
    ) -> Result<(), Refusal> {
        self.entry.clear();
        self.entry.extend_from_slice(tree.block(&spot.low)?.key(spot.at));
        (self.key, self.spot, self.state) = (key, Some((spot, tree.shape())), state);
        Ok(())
    }
}

/// The entry that a key, or the first bytes of one, leads to.
pub(crate) fn seek(
    tree: &mut Tree,
    relation: Relation,
    key: &[u8],
) -> Result<Option<Spot>, Refusal> {
    match relation {
        Relation::First => tree.from(b"", false),
        Relation::Last => tree.end(),
        Relation::GreaterOrEqual => tree.from(key, false),
        Relation::Less => tree.before(key, false),
        Relation::Greater => match behind(key) {
            Some(behind) => tree.from(&behind, false),
            None => Ok(None),
        },
        Relation::LessOrEqual => match behind(key) {
            Some(behind) => tree.before(&behind, false),
            None => tree.end(),
        },
        Relation::Equal => {
            let Some(spot) = tree.from(key, false)? else { return Ok(None) };
            let is_equal = tree.block(&spot.low)?.key(spot.at).starts_with(key);
            Ok(is_equal.then_some(spot))
        }
    }
}

/// What follows all keys that begin with these bytes; `None` if nothing does.
fn behind(key: &[u8]) -> Option<Vec<u8>> {
    let end = key.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut behind = key[..=end].to_vec();
    behind[end] += 1;
    Some(behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_key_follows_all_that_begin_with_it() {
        assert_eq!(behind(b"AB"), Some(b"AC".to_vec()));
        assert_eq!(behind(b"A\xff\xff"), Some(b"B".to_vec()));
        assert_eq!(behind(b"\xff"), None);
        assert_eq!(behind(b""), None);
    }
}
