//! Generations of a group by relative numbers, as a step sees them.
//!
//! Invariants:
//! 1. Relative numbers count from the newest generation that there was when the step began to use
//!    the group, whoever adds some meanwhile: what the step itself makes is `(+1)` to its end, and
//!    `(0)` stays what it was.
//! 2. A new generation is made by OPEN OUTPUT, as the program describes its records. It stays if
//!    the step is backed out, and is empty then. None is made where an old one would go for it:
//!    that could not be backed out.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use store::Store;
use vsam::{
    Catalog, CatalogError, ClusterAttributes, DataSetName, Definition, GenerationList, KeyField,
};

use crate::data_set::Opening;
use crate::fcd::{OpenMode, Organization};
use crate::feedback::of_open;
use crate::name::relative;
use crate::status::FileStatus;

/// The groups of generations that a step uses.
#[derive(Default)]
pub(crate) struct Generations {
    /// What each had when the step began to use it.
    groups: BTreeMap<String, GenerationList>,
    /// What the step has made.
    made: BTreeSet<DataSetName>,
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

impl Generations {
    /// The data set that a program opens.
    pub(crate) fn resolve<S: Store>(
        &mut self,
        catalog: &Catalog<S>,
        opening: &Opening,
    ) -> Result<DataSetName, Missing> {
        let parse = |name: &str| DataSetName::parse(name).map_err(|_| Missing::Name);
        let Some((group, number)) = relative(&opening.data_set) else {
            return parse(&opening.data_set);
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
        catalog.define_within_limit(&name, definition).map_err(Missing::Catalog)?;
        self.made.insert(name.clone());
        Ok(name)
    }

    fn group<S: Store>(
        &mut self,
        catalog: &Catalog<S>,
        group: &str,
    ) -> Result<&GenerationList, Missing> {
        Ok(match self.groups.entry(group.to_ascii_uppercase()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let name = DataSetName::parse(group).map_err(|_| Missing::Name)?;
                place.insert(catalog.generations(&name).map_err(Missing::Catalog)?)
            }
        })
    }
}

/// A cluster as the program describes it.
fn attributes(opening: &Opening) -> Option<ClusterAttributes> {
    let most = u32::try_from(opening.shape.most).ok()?;
    Some(match opening.shape.organization {
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
    })
}
