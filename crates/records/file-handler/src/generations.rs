//! Generations of a group by relative numbers, as a step sees them.
//!
//! Invariants:
//! 1. Relative numbers count from the newest generation that there was when the step began to use
//!    the group: what the step itself makes is `(+1)` to its end, and `(0)` stays what it was.
//! 2. A new generation is made by OPEN OUTPUT, as the program describes its records. It stays if
//!    the step is backed out, and is empty then.

use std::collections::BTreeMap;

use store::Store;
use vsam::{Catalog, CatalogError, ClusterAttributes, DataSetName, Definition, KeyField};

use crate::data_set::Opening;
use crate::fcd::{OpenMode, Organization};
use crate::name::relative;

/// Generations that a step has made: names by group and relative number.
#[derive(Default)]
pub(crate) struct Generations(BTreeMap<(String, i32), DataSetName>);

/// Why there is no such data set.
pub(crate) enum Missing {
    /// Its name is none, or nothing has it.
    Name,
    /// What the catalog says.
    Catalog(CatalogError),
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
        let key = (group.to_ascii_uppercase(), number);
        if let Some(made) = self.0.get(&key) {
            return Ok(made.clone());
        }
        let group = parse(group)?;
        if number <= 0 {
            let made = self.0.keys().filter(|(own, _)| *own == key.0).count();
            let number = number.saturating_sub(i32::try_from(made).unwrap_or(i32::MAX));
            return catalog.generation(&group, number).map_err(Missing::Catalog);
        }
        if opening.mode != OpenMode::Output {
            return Err(Missing::Name);
        }
        let name = catalog.generation(&group, number).map_err(Missing::Catalog)?;
        let attributes = attributes(opening).ok_or(Missing::Name)?;
        let definition = Definition::Cluster(attributes);
        catalog.define(&name, definition, None).map_err(Missing::Catalog)?;
        self.0.insert(key, name.clone());
        Ok(name)
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
