//! Which data sets exist, as the log says: a checkpoint, and the records behind it.
//!
//! Restart, the look at a stopped system and the recovery of a lost one all fold the same records
//! into it, so that they cannot differ in what a system has.
//!
//! Invariants:
//! 1. [`Catalog::apply`] of every [`CatalogRecord`] in the order of the log, begun at a checkpoint,
//!    gives what exists where the log ends. Records before the checkpoint's begin are in it already
//!    and change nothing.
//! 2. A data set that is being built exists for nobody else until a record says that it has taken
//!    its place; where the log ends before that, it is given up ([`Catalog::end_building`]).

use std::collections::BTreeMap;

use base::{DataSetId, Lsn};
use space::Definition;

use crate::checkpoint::Checkpoint;
use crate::record::{CatalogRecord, Recovered};

/// The data sets of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalog {
    /// What was logged before is in it.
    begin: Lsn,
    sets: BTreeMap<DataSetId, CatalogEntry>,
    /// Those whose end is logged; files may be left.
    gone: Vec<Definition>,
    next_set: u32,
    protection: u32,
}

/// A data set of a [`Catalog`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogEntry {
    /// The tag prefix that its topmost map had.
    pub top: u64,
    /// What it is.
    pub definition: Definition,
    /// What it is good for.
    pub state: SetState,
}

/// What a data set is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetState {
    /// It is opened, and in use.
    Open,
    /// It is being built, to take the place of another one.
    Building,
    /// It waits for its recovery.
    Offline,
}

impl Catalog {
    /// What a checkpoint says: as of where it was begun.
    #[must_use]
    pub fn at(checkpoint: &Checkpoint) -> Catalog {
        let mut catalog = Catalog {
            begin: checkpoint.begin,
            sets: BTreeMap::new(),
            gone: Vec::new(),
            next_set: checkpoint.next_set,
            protection: 0,
        };
        for (top, definition) in &checkpoint.sets {
            let state = match checkpoint.building.contains(&definition.id) {
                true => SetState::Building,
                false => SetState::Open,
            };
            catalog.insert(*top, definition, state);
        }
        checkpoint.offline.iter().for_each(|set| catalog.insert(0, set, SetState::Offline));
        catalog
    }

    /// Takes the next record of the log.
    pub fn apply(&mut self, lsn: Lsn, record: &CatalogRecord) {
        if lsn < self.begin {
            return;
        }
        match record {
            CatalogRecord::Made { top, definition } => {
                self.insert(*top, definition, SetState::Open);
            }
            CatalogRecord::Building { top, definition } => {
                self.insert(*top, definition, SetState::Building);
            }
            CatalogRecord::Changed(definition) => {
                if let Some(entry) = self.sets.get_mut(&definition.id) {
                    entry.definition.clone_from(definition);
                }
            }
            CatalogRecord::Gone(set) => self.remove(*set),
            CatalogRecord::Recovered(Recovered { sets, .. }) => {
                for (old, new) in sets {
                    self.remove(*old);
                    if let Some(entry) = self.sets.get_mut(new) {
                        entry.state = SetState::Open;
                    }
                }
            }
            CatalogRecord::Offline(set) => self.put_offline(*set),
            CatalogRecord::Protected { edition } => {
                self.protection = self.protection.max(*edition);
            }
        }
    }

    /// A data set waits for its recovery: it is not opened, and nothing of it is repeated or
    /// undone.
    pub fn put_offline(&mut self, set: DataSetId) {
        if let Some(entry) = self.sets.get_mut(&set)
            && entry.state == SetState::Open
        {
            entry.state = SetState::Offline;
        }
    }

    /// The log has ended: whoever was building data sets begins again, and these are gone.
    pub fn end_building(&mut self) {
        let is_building =
            |_: &DataSetId, entry: &mut CatalogEntry| entry.state == SetState::Building;
        let building = self.sets.extract_if(.., is_building);
        self.gone.extend(building.map(|(_, entry)| entry.definition));
    }

    /// Everything that it knows, whatever it is good for.
    #[must_use]
    pub fn sets(&self) -> &BTreeMap<DataSetId, CatalogEntry> {
        &self.sets
    }

    /// The definition of a data set, whatever it is good for.
    #[must_use]
    pub fn get(&self, set: DataSetId) -> Option<&Definition> {
        self.sets.get(&set).map(|entry| &entry.definition)
    }

    /// The data sets that are in use, with the tag prefixes of their topmost maps.
    pub fn open(&self) -> impl Iterator<Item = (u64, &Definition)> {
        let all = self.sets.values().filter(|entry| entry.state == SetState::Open);
        all.map(|entry| (entry.top, &entry.definition))
    }

    /// The data sets that wait for their recovery.
    pub fn offline(&self) -> impl Iterator<Item = &Definition> {
        let all = self.sets.values().filter(|entry| entry.state == SetState::Offline);
        all.map(|entry| &entry.definition)
    }

    /// The data sets that there are for whoever uses the system, in use or offline.
    pub fn existing(&self) -> impl Iterator<Item = &Definition> {
        let all = self.sets.values().filter(|entry| entry.state != SetState::Building);
        all.map(|entry| &entry.definition)
    }

    /// The data sets whose end it has seen; files may be left.
    #[must_use]
    pub fn gone(&self) -> &[Definition] {
        &self.gone
    }

    /// Nothing has this number or a later one.
    #[must_use]
    pub fn next_set(&self) -> u32 {
        self.next_set
    }

    /// The newest edition of what the control file binds, as far as the log says.
    #[must_use]
    pub fn protection(&self) -> u32 {
        self.protection
    }

    fn insert(&mut self, top: u64, definition: &Definition, state: SetState) {
        self.next_set = self.next_set.max(definition.id.0.saturating_add(1));
        let definition = definition.clone();
        self.sets.insert(definition.id, CatalogEntry { top, definition, state });
    }

    fn remove(&mut self, set: DataSetId) {
        self.gone.extend(self.sets.remove(&set).map(|entry| entry.definition));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(number: u32) -> Box<Definition> {
        Box::new(Definition {
            id: DataSetId(number),
            name: format!("SET{number}"),
            ci_bytes: 8192,
            format: seal::Format::Sealed,
            label: "data".into(),
            generation: base::KeyGeneration(1),
            pool: "default".into(),
            file_intervals: 0,
            folders: vec!["data".into()],
            attributes: Vec::new(),
            conversion: None,
            permit: None,
        })
    }

    fn ids<'a>(sets: impl Iterator<Item = &'a Definition>) -> Vec<u32> {
        sets.map(|set| set.id.0).collect()
    }

    #[test]
    fn records_behind_a_checkpoint_say_what_exists() {
        let checkpoint = Checkpoint {
            begin: Lsn(100),
            next_set: 5,
            sets: vec![(11, *set(1)), (12, *set(2)), (13, *set(3))],
            building: vec![DataSetId(3)],
            offline: vec![*set(4)],
            ..Checkpoint::initial()
        };
        let mut catalog = Catalog::at(&checkpoint);
        let sets = |catalog: &Catalog| ids(catalog.open().map(|(_, set)| set));
        assert_eq!((sets(&catalog), ids(catalog.offline())), (vec![1, 2], vec![4]));
        catalog.apply(Lsn(99), &CatalogRecord::Gone(DataSetId(1)));
        assert_eq!(sets(&catalog), [1, 2], "the checkpoint has what is before it");

        catalog.apply(Lsn(100), &CatalogRecord::Building { top: 16, definition: set(6) });
        catalog.apply(Lsn(101), &CatalogRecord::Made { top: 17, definition: set(7) });
        catalog.apply(Lsn(102), &CatalogRecord::Offline(DataSetId(2)));
        let mut changed = set(1);
        changed.pool = "small".into();
        catalog.apply(Lsn(103), &CatalogRecord::Changed(changed));
        catalog.apply(Lsn(104), &CatalogRecord::Protected { edition: 2 });
        assert_eq!(ids(catalog.existing()), [1, 2, 4, 7]);
        assert_eq!(catalog.get(DataSetId(1)).unwrap().pool, "small");
        assert_eq!((catalog.next_set(), catalog.protection()), (8, 2));

        let places = vec![(DataSetId(4), DataSetId(3)), (DataSetId(2), DataSetId(6))];
        let recovered = Recovered { to: Lsn(90), sets: places };
        catalog.apply(Lsn(105), &CatalogRecord::Recovered(recovered));
        assert_eq!((sets(&catalog), ids(catalog.offline())), (vec![1, 3, 6, 7], vec![]));
        assert_eq!(ids(catalog.gone().iter()), [4, 2]);
        catalog.apply(Lsn(106), &CatalogRecord::Building { top: 18, definition: set(8) });
        catalog.apply(Lsn(107), &CatalogRecord::Gone(DataSetId(7)));
        catalog.end_building();
        assert_eq!(ids(catalog.existing()), [1, 3, 6]);
        assert_eq!(ids(catalog.gone().iter()), [4, 2, 7, 8]);
    }
}
