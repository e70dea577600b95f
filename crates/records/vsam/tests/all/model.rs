//! A cluster with its alternate indexes as plain sorted maps, written only from the facts.

use std::collections::BTreeMap;

use vsam::{KeyField, LogicalReason as Reason, Match, Organization};

/// The place of an entry in an order: key, and arrival among those with the same key.
pub(crate) type Spot = (Vec<u8>, u64);

#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub(crate) key: KeyField,
    pub(crate) unique: bool,
    /// To the keys of the base.
    pub(crate) entries: BTreeMap<Spot, Vec<u8>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub(crate) organization: Organization,
    pub(crate) key: Option<KeyField>,
    pub(crate) bytes_max: usize,
    /// By key, address or number.
    pub(crate) records: BTreeMap<Spot, Vec<u8>>,
    pub(crate) indexes: Vec<Index>,
    pub(crate) next_address: u64,
    pub(crate) clock: u64,
}

/// Where sequential requests are in one order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Lost,
    Front,
    Before(Spot),
    On(Spot),
    After(Spot),
}

/// A record that was found: its spot in the order, the key of the base, and whether the one behind
/// it in the direction has the same alternate key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) spot: Spot,
    pub(crate) base: Vec<u8>,
    pub(crate) record: Vec<u8>,
    pub(crate) duplicate: bool,
}

impl Cluster {
    fn check(&self, record: &[u8]) -> Result<(), Reason> {
        let least = self.key.map_or(1, KeyField::end);
        let fixed = self.organization == Organization::Relative;
        let fits = record.len() >= least && record.len() <= self.bytes_max;
        match fits && (!fixed || record.len() == self.bytes_max) {
            true => Ok(()),
            false => Err(Reason::BadLength),
        }
    }

    fn is_taken(&self, index: &Index, key: &[u8], base: &[u8]) -> bool {
        index.entries.iter().any(|((other, _), of)| other == key && of != base)
    }

    /// Changes the indexes; answers whether an alternate key is not the only one of its value.
    fn upgrade(
        &mut self,
        base: &[u8],
        old: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool, Reason> {
        let moved = |index: &Index| {
            let of =
                |record: Option<&[u8]>| record.and_then(|r| index.key.of(r)).map(<[u8]>::to_vec);
            let (before, after) = (of(old), of(new));
            (before != after).then_some((before, after))
        };
        for index in &self.indexes {
            if let Some((_, Some(after))) = moved(index)
                && index.unique
                && self.is_taken(index, &after, base)
            {
                return Err(Reason::Duplicate);
            }
        }
        let mut duplicate = false;
        for index in &mut self.indexes {
            let Some((before, after)) = moved(index) else { continue };
            if before.is_some() {
                index.entries.retain(|_, of| of != base);
            }
            if let Some(after) = after {
                duplicate |= index.entries.keys().any(|(key, _)| *key == after);
                self.clock += 1;
                // Where keys are unique there is no order of arrival: a place is a key.
                let arrival = if index.unique { 0 } else { self.clock };
                index.entries.insert((after, arrival), base.to_vec());
            }
        }
        Ok(duplicate)
    }

    /// The key of a new record; an address is given out even if nothing comes of it.
    fn new_key(&mut self, record: &[u8], number: Option<u32>) -> Vec<u8> {
        match (self.key, number) {
            (Some(key), _) => key.of(record).unwrap_or_default().to_vec(),
            (None, Some(number)) => number.to_be_bytes().to_vec(),
            (None, None) => {
                let address = self.next_address;
                self.next_address += record.len() as u64;
                address.to_be_bytes().to_vec()
            }
        }
    }

    pub(crate) fn put(&mut self, record: &[u8], number: Option<u32>) -> Result<bool, Reason> {
        self.check(record)?;
        let key = self.new_key(record, number);
        if self.records.contains_key(&(key.clone(), 0)) {
            return Err(Reason::Duplicate);
        }
        let duplicate = self.upgrade(&key, None, Some(record))?;
        self.records.insert((key, 0), record.to_vec());
        Ok(duplicate)
    }

    pub(crate) fn rewrite(&mut self, key: &[u8], record: &[u8]) -> Result<bool, Reason> {
        self.check(record)?;
        if self.key.is_some_and(|field| field.of(record) != Some(key)) {
            return Err(Reason::KeyChanged);
        }
        let spot = (key.to_vec(), 0);
        let Some(old) = self.records.get(&spot).cloned() else { return Err(Reason::NotFound) };
        if self.organization == Organization::EntrySequenced && old.len() != record.len() {
            return Err(Reason::LengthChanged);
        }
        let duplicate = self.upgrade(key, Some(&old), Some(record))?;
        self.records.insert(spot, record.to_vec());
        Ok(duplicate)
    }

    pub(crate) fn erase(&mut self, key: &[u8]) -> Result<(), Reason> {
        if self.organization == Organization::EntrySequenced {
            return Err(Reason::EraseEntrySequenced);
        }
        let spot = (key.to_vec(), 0);
        let Some(old) = self.records.get(&spot).cloned() else { return Err(Reason::NotFound) };
        self.upgrade(key, Some(&old), None)?;
        self.records.remove(&spot);
        Ok(())
    }

    /// Builds an index anew: pairs of keys, sorted.
    pub(crate) fn build(&mut self, at: usize) {
        let Some(index) = self.indexes.get_mut(at) else { return };
        index.entries.clear();
        for ((base, _), record) in &self.records {
            if let Some(key) = index.key.of(record) {
                self.clock += 1;
                let arrival = if index.unique { 0 } else { self.clock };
                index.entries.insert((key.to_vec(), arrival), base.clone());
            }
        }
    }

    /// The order of a route: the base's own, or an index's.
    fn order(&self, route: Option<usize>) -> Vec<(Spot, Vec<u8>)> {
        match route.and_then(|at| self.indexes.get(at)) {
            None => self.records.keys().map(|spot| (spot.clone(), spot.0.clone())).collect(),
            Some(index) => {
                index.entries.iter().map(|(spot, base)| (spot.clone(), base.clone())).collect()
            }
        }
    }

    fn found(&self, route: Option<usize>, at: usize, forward: bool) -> Option<Found> {
        let order = self.order(route);
        let (spot, base) = order.get(at)?.clone();
        let record = self.records.get(&(base.clone(), 0))?.clone();
        let beside = if forward { at.checked_add(1) } else { at.checked_sub(1) };
        let beside = beside.and_then(|beside| order.get(beside));
        let duplicate = route.is_some() && beside.is_some_and(|(other, _)| other.0 == spot.0);
        Some(Found { spot, base, record, duplicate })
    }

    pub(crate) fn next(&self, route: Option<usize>, place: &Place) -> Option<Found> {
        let order = self.order(route);
        let is_ahead = |spot: &Spot| match place {
            Place::Lost => false,
            Place::Front => true,
            Place::Before(at) => spot >= at,
            Place::On(at) | Place::After(at) => spot > at,
        };
        let at = order.iter().position(|(spot, _)| is_ahead(spot))?;
        self.found(route, at, true)
    }

    pub(crate) fn previous(&self, route: Option<usize>, place: &Place) -> Option<Found> {
        let order = self.order(route);
        let is_behind = |spot: &Spot| match place {
            Place::Lost | Place::Front => false,
            Place::After(at) => spot <= at,
            Place::On(at) | Place::Before(at) => spot < at,
        };
        let at = order.iter().rposition(|(spot, _)| is_behind(spot))?;
        self.found(route, at, false)
    }

    /// What a search finds, by the leading bytes of keys.
    pub(crate) fn search(
        &self,
        route: Option<usize>,
        key: &[u8],
        by: Match,
        backward: bool,
    ) -> Option<Found> {
        let order = self.order(route);
        let front = |spot: &Spot| spot.0[..key.len().min(spot.0.len())].to_vec();
        let mut all = order.iter().map(|(spot, _)| front(spot));
        let at = match by {
            Match::Equal if backward => all.rposition(|front| front == key),
            Match::Equal => all.position(|front| front == key),
            Match::GreaterOrEqual => all.position(|front| front[..] >= *key),
            Match::Greater => all.position(|front| front[..] > *key),
            Match::LessOrEqual => all.rposition(|front| front[..] <= *key),
            Match::Less => all.rposition(|front| front[..] < *key),
        };
        self.found(route, at?, !backward)
    }
}
