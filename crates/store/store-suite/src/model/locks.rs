//! The locks that one unit of work of the model holds, on keys, stretches and names.
//!
//! Invariants:
//! 1. A key is held in the join of the modes asked for; stretches are only ever shared.
//! 2. What is granted conflicts with nothing that others hold.

use std::collections::BTreeMap;

use super::cut::Stretch;
use store::SetId;
use store::{LockMode, LockName};

/// What a unit of work waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// A stretch shared, and a key in a mode.
    Keys { set: SetId, stretch: Option<Stretch>, key: Option<(Vec<u8>, LockMode)> },
    /// A name in a mode.
    Name { space: u32, name: Vec<u8>, mode: LockMode },
}

impl Request {
    pub(super) fn key(set: SetId, key: &[u8], mode: LockMode) -> Request {
        Request::Keys { set, stretch: None, key: Some((key.to_vec(), mode)) }
    }

    /// Whether both cannot be granted to different units of work.
    pub(super) fn conflicts_with(&self, other: &Request) -> bool {
        let mut locks = Locks::default();
        locks.add(self.clone());
        locks.conflict_with(other)
    }

    pub(super) fn name(name: LockName<'_>, mode: LockMode) -> Request {
        Request::Name { space: name.space, name: name.name.to_vec(), mode }
    }
}

impl std::fmt::Display for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Request::Keys { set, key: Some((key, _)), .. } => {
                write!(f, "key {} of {set}", key.escape_ascii())
            }
            Request::Keys { set, .. } => write!(f, "a range of {set}"),
            Request::Name { space, name, .. } => LockName { space: *space, name }.fmt(f),
        }
    }
}

/// All locks of one unit of work.
#[derive(Debug, Default)]
pub(super) struct Locks {
    sets: BTreeMap<SetId, SetLocks>,
    names: BTreeMap<(u32, Vec<u8>), LockMode>,
}

#[derive(Debug, Default)]
struct SetLocks {
    points: BTreeMap<Vec<u8>, LockMode>,
    stretches: Vec<Stretch>,
}

impl Locks {
    /// Whether another unit of work's request has to wait for these locks.
    pub(super) fn conflict_with(&self, request: &Request) -> bool {
        match request {
            Request::Keys { set, stretch, key } => self.sets.get(set).is_some_and(|held| {
                let stretch = stretch.as_ref().filter(|stretch| !stretch.is_empty());
                stretch.is_some_and(|stretch| held.conflict_with_stretch(stretch))
                    || key.as_ref().is_some_and(|(key, mode)| held.conflict_with_key(key, *mode))
            }),
            Request::Name { space, name, mode } => self
                .names
                .get(&(*space, name.clone()))
                .is_some_and(|held| !held.is_compatible_with(*mode)),
        }
    }

    /// Notes what has been granted.
    pub(super) fn add(&mut self, request: Request) {
        match request {
            Request::Keys { set, stretch, key } => {
                let held = self.sets.entry(set).or_default();
                if let Some(stretch) = stretch.filter(|stretch| !stretch.is_empty()) {
                    held.add_stretch(stretch);
                }
                if let Some((key, mode)) = key {
                    let held = held.points.entry(key).or_insert(mode);
                    *held = held.join(mode);
                }
            }
            Request::Name { space, name, mode } => {
                let held = self.names.entry((space, name)).or_insert(mode);
                *held = held.join(mode);
            }
        }
    }

    pub(super) fn name(&self, name: LockName<'_>) -> Option<LockMode> {
        self.names.get(&(name.space, name.name.to_vec())).copied()
    }

    pub(super) fn drop_name(&mut self, name: LockName<'_>) -> bool {
        self.names.remove(&(name.space, name.name.to_vec())).is_some()
    }

    pub(super) fn hold_in(&self, set: SetId) -> bool {
        self.sets.contains_key(&set)
    }
}

impl SetLocks {
    fn conflict_with_key(&self, key: &[u8], mode: LockMode) -> bool {
        let point = Stretch::point(key);
        self.points.get(key).is_some_and(|held| !held.is_compatible_with(mode))
            || !mode.is_compatible_with(LockMode::Shared)
                && self.stretches.iter().any(|stretch| stretch.overlaps(&point))
    }

    fn conflict_with_stretch(&self, stretch: &Stretch) -> bool {
        let mut points = self.points.range::<[u8], _>(stretch.bounds());
        points.any(|(_, held)| !held.is_compatible_with(LockMode::Shared))
    }

    /// A scan adds one stretch after another that touches it: kept as one.
    fn add_stretch(&mut self, stretch: Stretch) {
        if !self.stretches.iter_mut().rev().any(|held| held.absorb(&stretch)) {
            self.stretches.push(stretch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cut::Cut;
    use super::*;

    const SET: SetId = SetId(1);

    #[test]
    fn a_range_that_was_read_keeps_others_from_writing_in_it() {
        let mut locks = Locks::default();
        let stretch = Some(Stretch { from: Cut::after(b"a"), to: Cut::after(b"c") });
        locks.add(Request::Keys { set: SET, stretch, key: None });
        let write = |key: &[u8]| Request::key(SET, key, LockMode::Exclusive);
        assert!(!locks.conflict_with(&write(b"a")));
        assert!(locks.conflict_with(&write(b"b")) && locks.conflict_with(&write(b"c")));
        assert!(!locks.conflict_with(&write(b"c\0")));
        assert!(!locks.conflict_with(&Request::key(SET, b"b", LockMode::Shared)));
        assert!(!locks.conflict_with(&Request::key(SetId(2), b"b", LockMode::Exclusive)));
    }

    #[test]
    fn a_key_that_was_written_keeps_others_from_reading_across_it() {
        let mut locks = Locks::default();
        locks.add(Request::key(SET, b"b", LockMode::Shared));
        let stretch = Some(Stretch { from: Cut::FRONT, to: Cut::END });
        let scan = Request::Keys { set: SET, stretch, key: None };
        assert!(!locks.conflict_with(&scan));
        locks.add(Request::key(SET, b"b", LockMode::Exclusive));
        assert!(locks.conflict_with(&scan));
    }
}
