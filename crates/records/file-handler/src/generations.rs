//! Generations of a group by relative numbers, as a step sees them.
//!
//! Invariants:
//! 1. Relative numbers count from the newest generation that there was when the step began to use
//!    the group, whoever adds some meanwhile: what the step itself makes is `(+1)` to its end, and
//!    `(0)` stays what it was.
//! 2. A new generation is made by OPEN OUTPUT, as the program describes its records. Of a step it
//!    joins its group when that ends well, in the unit of work that the end commits, and the oldest
//!    one leaves then; if the step fails, it goes, or joins all the same if that is said.
//! 3. Who has no steps makes it a member at once, and none where an old one would go for it: that
//!    could not be backed out.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use store::{Store, Unit as _};
use vsam::{
    Catalog, CatalogError, ClusterAttributes, DataSetName, Deferred, Definition, GenerationList,
    KeyField,
};

use crate::data_set::Opening;
use crate::fcd::{OpenMode, Organization};
use crate::feedback::of_open;
use crate::name::{kept, relative};
use crate::status::FileStatus;

/// The groups of generations that a step uses.
pub(crate) struct Generations<S: Store> {
    /// What each had when the step began to use it.
    groups: BTreeMap<String, GenerationList>,
    /// What the step has made.
    made: BTreeSet<DataSetName>,
    /// Those that join their groups at its end; `None` where there are no steps.
    deferred: Option<Vec<Made<S>>>,
    /// Those that leave when the end is committed.
    leaving: Vec<DataSetName>,
}

/// A generation that a step has made.
struct Made<S: Store> {
    generation: Deferred<S>,
    /// It joins its group if the step fails, too.
    is_kept: bool,
}

impl<S: Store> Made<S> {
    /// The step has failed.
    fn give_up(self, catalog: &Catalog<S>) -> Result<(), CatalogError> {
        if !self.is_kept {
            return self.generation.give_up();
        }
        let mut unit = catalog.store().begin(vsam::unit_options())?;
        let left = self.generation.join(&mut unit)?;
        unit.commit()?;
        self.generation.joined(&left)
    }
}

/// Why there is no such data set.
pub(crate) enum Missing {
    /// Its name is none, or nothing has it.
    Name,
    /// What the catalog says.
    Catalog(CatalogError),
}

impl Missing {
    /// The status of its OPEN.
    pub(crate) fn status(self) -> FileStatus {
        match self {
            Missing::Name | Missing::Catalog(CatalogError::NoGeneration { .. }) => {
                FileStatus::NO_FILE
            }
            Missing::Catalog(error) => of_open(&error.into()),
        }
    }
}

impl<S: Store> Generations<S> {
    /// Those that a step makes join at its end, or at once.
    pub(crate) fn new(at_end: bool) -> Generations<S> {
        Generations {
            groups: BTreeMap::new(),
            made: BTreeSet::new(),
            deferred: at_end.then(Vec::new),
            leaving: Vec::new(),
        }
    }

    /// The step ends well: in this unit of work, what it has made becomes a member of its group.
    pub(crate) fn join(&mut self, unit: &mut S::Unit) -> Result<(), CatalogError> {
        for one in self.deferred.iter().flatten() {
            let mut left = one.generation.join(unit)?;
            self.leaving.append(&mut left);
        }
        Ok(())
    }

    /// Whether the end of the step has something to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.deferred.as_ref().is_none_or(Vec::is_empty)
    }

    /// That unit of work is committed.
    pub(crate) fn joined(&mut self) -> Result<(), CatalogError> {
        let leaving = std::mem::take(&mut self.leaving);
        let deferred = self.deferred.as_mut().map(std::mem::take).unwrap_or_default();
        deferred.into_iter().try_for_each(|one| one.generation.joined(&leaving))
    }

    /// The step has failed.
    pub(crate) fn give_up(&mut self, catalog: &Catalog<S>) -> Result<(), CatalogError> {
        let deferred = self.deferred.as_mut().map(std::mem::take).unwrap_or_default();
        let gone: Vec<_> = deferred.into_iter().map(|one| one.give_up(catalog)).collect();
        gone.into_iter().collect()
    }

    /// The data set that a program opens.
    pub(crate) fn resolve(
        &mut self,
        catalog: &Catalog<S>,
        opening: &Opening,
    ) -> Result<DataSetName, Missing> {
        let parse = |name: &str| DataSetName::parse(name).map_err(|_| Missing::Name);
        let (data_set, is_kept) = kept(&opening.data_set);
        let Some((group, number)) = relative(data_set) else {
            return parse(data_set);
        };
        let name = self.group(catalog, group)?.relative(number).map_err(Missing::Catalog)?;
        if number <= 0 || self.made.contains(&name) {
            return Ok(name);
        }
        if opening.mode != OpenMode::Output {
            return Err(Missing::Name);
        }
        let attributes = attributes(opening).ok_or(Missing::Name)?;
        let definition = Definition::Cluster(attributes);
        match &mut self.deferred {
            Some(deferred) => {
                let made = catalog.define_deferred(&name, definition);
                deferred.push(Made { generation: made.map_err(Missing::Catalog)?, is_kept });
            }
            None => {
                catalog.define_within_limit(&name, definition).map_err(Missing::Catalog)?;
            }
        }
        self.made.insert(name.clone());
        Ok(name)
    }

    fn group(&mut self, catalog: &Catalog<S>, group: &str) -> Result<&GenerationList, Missing> {
        Ok(match self.groups.entry(group.to_ascii_uppercase()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let name = DataSetName::parse(group).map_err(|_| Missing::Name)?;
                place.insert(catalog.generations(&name).map_err(Missing::Catalog)?)
            }
        })
    }
}

/// A cluster as the program describes it. The program may load it anew.
fn attributes(opening: &Opening) -> Option<ClusterAttributes> {
    let most = u32::try_from(opening.shape.most).ok()?;
    let attributes = match opening.shape.organization {
        Organization::Indexed => {
            let prime = opening.keys.first()?;
            ClusterAttributes::keyed(KeyField { offset: prime.offset, bytes: prime.bytes }, most)
        }
        Organization::Sequential => {
            ClusterAttributes::new(vsam::Organization::EntrySequenced).with_records(most)
        }
        Organization::Relative => {
            let organization = match opening.shape.is_variable() {
                true => vsam::Organization::VariableRelative,
                false => vsam::Organization::Relative,
            };
            ClusterAttributes::new(organization).with_records(most)
        }
        Organization::LineSequential => return None,
    };
    // An average that is the maximum says that all records have that length.
    let average_bytes = match opening.shape.is_variable() {
        true => u32::try_from(opening.shape.least).ok()?.max(1),
        false => most,
    };
    Some(ClusterAttributes { average_bytes, reuse: true, ..attributes })
}
