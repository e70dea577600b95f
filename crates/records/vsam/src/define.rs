//! DEFINE: a new object, its place in the catalog, and its set in the store.

use std::collections::BTreeMap;

use store::{Locking, SetAttributes, SetId, Store, StoreError};

use crate::attributes::AttributeError;
use crate::catalog::{Catalog, Scope, wrong_kind};
use crate::entry::{DataSet, Definition, Entry, Kind, ObjectNumber, State};
use crate::error::CatalogError;
use crate::generations::{RolledIn, group_of, roll_in};
use crate::name::DataSetName;
use crate::pending;
use crate::rows::{Rows, over};
use crate::share::Ticket;

/// Those that have the generations that leave a group, for nobody to open them meanwhile.
pub(crate) type Held = BTreeMap<DataSetName, Option<Ticket>>;

/// What becomes of a new generation where others would leave their group for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rolling {
    Done,
    Refused,
    /// It joins its group later, and they leave then.
    Later,
}

/// What a definition, or a change of one, has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defined {
    /// The entry as it is now.
    pub entry: Entry,
    /// Generations that have left their group. Their entries are gone.
    pub rolled_off: Vec<Entry>,
    /// Whether the data of those is to go, too (`SCRATCH`). That of clusters is gone.
    pub scratch: bool,
}

impl<S: Store> Catalog<S> {
    /// Defines an object: in the named user catalog, or in the one that its first qualifiers pick,
    /// which is also where what it rests on has to be.
    ///
    /// An alternate index over a cluster without records is ready at once; otherwise it has to be
    /// built. A name that is a generation's by its form, while there is its group, becomes one.
    ///
    /// # Errors
    /// If a name is taken, something it rests on is not there, is open, or has changes that are not
    /// committed, or attributes break a rule.
    pub fn define(
        &self,
        name: &DataSetName,
        definition: Definition,
        catalog: Option<&DataSetName>,
    ) -> Result<Defined, CatalogError> {
        match catalog {
            Some(_) => self.within(catalog)?.define_as(name, definition, Rolling::Done),
            None => self.define_as(name, definition, Rolling::Done),
        }
    }

    /// The same for a generation, if none leaves its group for it.
    ///
    /// # Errors
    /// [`CatalogError::GroupFull`] otherwise, and those of [`Catalog::define`].
    pub fn define_within_limit(
        &self,
        name: &DataSetName,
        definition: Definition,
    ) -> Result<Entry, CatalogError> {
        Ok(self.define_as(name, definition, Rolling::Refused)?.entry)
    }

    pub(crate) fn define_as(
        &self,
        name: &DataSetName,
        definition: Definition,
        rolling: Rolling,
    ) -> Result<Defined, CatalogError> {
        let scope = match &definition {
            Definition::UserCatalog => (None, ObjectNumber::MASTER),
            Definition::Alias(of) if self.is_catalog(of)? => (None, ObjectNumber::MASTER),
            _ => self.look(|rows| self.scope_of(rows, name))?,
        };
        let mut definition = definition;
        let base = self.settle(name, &mut definition, &scope)?;
        // Nobody adds records while it is decided whether an index knows all of them.
        let alone = base.as_ref().map(|base| self.alone(base)).transpose()?;
        let ready = match &base {
            Some(base) => {
                self.settled(base)?;
                pending::is_empty(&self.shared.store, self.data_of(base)?)?
            }
            None => true,
        };
        let mut entry = self.first_entry(name, definition, &scope)?;
        entry.joins_later = rolling == Rolling::Later;
        let held = match rolling {
            Rolling::Later => Held::new(),
            _ => self.hold_leaving(&entry, scope.1)?,
        };
        let rolled = self.change(|rows| note(rows, scope.1, &entry, rolling))?;
        let made = self.make_set(&entry).and_then(|data| {
            let state = if ready { State::Ready } else { State::Unbuilt };
            let done = Entry { data, state, ..entry.clone() };
            self.change(|rows| rows.put(scope.1, &done))?;
            Ok(done)
        });
        drop(alone);
        match made {
            Ok(entry) => self.roll_off(entry, scope.1, rolled, &held),
            Err(error) => {
                // If this fails, too, the next open of the catalog does it.
                self.change(|rows| rows.remove(scope.1, &entry))?;
                Err(error)
            }
        }
    }

    fn is_catalog(&self, name: &DataSetName) -> Result<bool, CatalogError> {
        let entry = self.get_in(None, name)?;
        Ok(entry.is_some_and(|entry| entry.kind() == Kind::UserCatalog))
    }

    /// Checks a definition, and fills in what it leaves open. Answers the cluster whose records an
    /// alternate index is to know.
    fn settle(
        &self,
        name: &DataSetName,
        definition: &mut Definition,
        scope: &Scope,
    ) -> Result<Option<Entry>, CatalogError> {
        let wrong = |error| CatalogError::Attributes { name: name.clone(), error };
        let beneath = |of: &DataSetName| {
            let found = self.look(|rows| rows.get(scope.1, of))?;
            let there = found.filter(|entry| matches!(entry.state, State::Ready | State::Unbuilt));
            there.ok_or_else(|| CatalogError::NotFound(of.clone()))
        };
        match definition {
            Definition::Cluster(attributes) => attributes.settle().map_err(wrong)?,
            Definition::AlternateIndex(attributes) => {
                let base = beneath(&attributes.base)?;
                let Some(cluster) = base.cluster() else {
                    return Err(wrong_kind(&base, "an alternate index stands over a cluster"));
                };
                attributes.settle(cluster).map_err(wrong)?;
                return Ok(Some(base));
            }
            Definition::Path(attributes) => {
                let entry = beneath(&attributes.entry)?;
                if !matches!(entry.kind(), Kind::Cluster | Kind::AlternateIndex) {
                    return Err(wrong_kind(
                        &entry,
                        "a path leads through an index or to a cluster",
                    ));
                }
            }
            Definition::GenerationGroup(attributes) => {
                attributes.settle().map_err(wrong)?;
                if name.with("G0001V00").is_err() {
                    let what = "a group's name has at most 35 characters";
                    return Err(wrong(AttributeError { operand: "NAME", what }));
                }
            }
            Definition::Alias(of) => {
                let entry = self.known(of)?;
                if matches!(entry.kind(), Kind::Alias) || entry.name != *of {
                    return Err(wrong_kind(&entry, "an alias cannot have an alias"));
                }
            }
            Definition::NonVsam(_) | Definition::UserCatalog => {}
            Definition::Component(_) => {
                let what = "components are defined with their cluster";
                return Err(wrong(AttributeError { operand: "NAME", what }));
            }
        }
        Ok(None)
    }

    /// The entry of an object that is being defined.
    fn first_entry(
        &self,
        name: &DataSetName,
        definition: Definition,
        scope: &Scope,
    ) -> Result<Entry, CatalogError> {
        let drawn = self.shared.store.draw(self.shared.set, 1)?;
        let Ok(number) = u32::try_from(drawn).map(ObjectNumber) else {
            return Err(StoreError::NoSpace("the numbers of objects in the catalog".into()).into());
        };
        let has_data = matches!(definition.kind(), Kind::Cluster | Kind::AlternateIndex);
        let data = match has_data {
            true => Some(DataSet { set: self.free_set(name, number)?, id: None }),
            false => None,
        };
        let state = if has_data { State::Defining } else { State::Ready };
        Ok(Entry {
            name: name.clone(),
            catalog: scope.0.clone(),
            number,
            created_us: self.shared.clock.utc_us(),
            definition,
            data,
            state,
            related: Vec::new(),
            joins_later: false,
            redirection: None,
        })
    }

    /// A name for a set: the object's, unless another catalog, or a database, has it.
    pub(crate) fn free_set(
        &self,
        name: &DataSetName,
        number: ObjectNumber,
    ) -> Result<String, CatalogError> {
        Ok(match self.shared.store.set(name.as_str())? {
            None => name.to_string(),
            Some(_) => format!("{name}@{}", number.0),
        })
    }

    /// Makes the set of an object that has data.
    pub(crate) fn make_set(&self, entry: &Entry) -> Result<Option<DataSet>, CatalogError> {
        let Some(data) = &entry.data else { return Ok(None) };
        let free = match &entry.definition {
            Definition::Cluster(attributes) => attributes.free_space,
            Definition::AlternateIndex(attributes) => attributes.free_space,
            _ => return Ok(None),
        };
        let attributes = SetAttributes {
            locking: Locking::Keys,
            // A load leaves something in every interval; one that is all free holds nothing.
            free_percent: free.interval_percent.min(90),
            ..SetAttributes::default()
        };
        let SetId(id) = self.shared.store.create_set(&data.set, &attributes)?;
        Ok(Some(DataSet { set: data.set.clone(), id: Some(id) }))
    }

    /// Has those alone that are to leave a group for an entry: one that is open stays, and the
    /// entry is not defined.
    fn hold_leaving(&self, entry: &Entry, catalog: ObjectNumber) -> Result<Held, CatalogError> {
        let rolled = self.look(|rows| rolled_by(rows, catalog, entry))?;
        self.hold(&rolled.map(|(_, rolled, _)| rolled.leave).unwrap_or_default(), catalog)
    }

    /// Has those of these entries of a catalog alone that have data.
    pub(crate) fn hold(
        &self,
        names: &[DataSetName],
        catalog: ObjectNumber,
    ) -> Result<Held, CatalogError> {
        let leave = self.look(|rows| {
            let entries = names.iter().map(|name| rows.get(catalog, name));
            entries.collect::<Result<Vec<_>, _>>()
        })?;
        let leave = leave.into_iter().flatten().filter(|old| old.data.is_some());
        leave.map(|old| Ok((old.name.clone(), self.alone_and_settled(&old, catalog)?))).collect()
    }

    /// Has an entry of a catalog alone, with all that stands over it, while no unit of work that
    /// has not ended has changed any of that: files are closed before units of work end.
    fn alone_and_settled(
        &self,
        entry: &Entry,
        catalog: ObjectNumber,
    ) -> Result<Option<Ticket>, CatalogError> {
        let alone = self.alone(entry)?;
        let all = self.look(|rows| over(rows, catalog, entry))?;
        all.iter().try_for_each(|entry| self.settled(entry))?;
        Ok(alone)
    }

    /// Deletes the generations that have left a group.
    pub(crate) fn roll_off(
        &self,
        entry: Entry,
        catalog: ObjectNumber,
        left: Option<(Vec<DataSetName>, bool)>,
        held: &Held,
    ) -> Result<Defined, CatalogError> {
        let Some((left, scratch)) = left else {
            return Ok(Defined { entry, rolled_off: Vec::new(), scratch: false });
        };
        let group = match entry.kind() {
            Kind::GenerationGroup => Some(entry.name.clone()),
            _ => group_of(&entry.name),
        };
        let mut rolled_off = Vec::new();
        for name in left.iter().filter(|name| group_of(name) == group) {
            let Some(old) = self.look(|rows| rows.get(catalog, name))? else { continue };
            if old.data.is_some() {
                // An entry without its data could never be deleted: a cluster goes whole.
                let within = Catalog {
                    shared: std::sync::Arc::clone(&self.shared),
                    scope: Some((old.catalog.clone(), catalog)),
                };
                // Another definition may have come between.
                let _alone = match held.contains_key(name) {
                    true => None,
                    false => within.alone_and_settled(&old, catalog)?,
                };
                within.delete_generation(&old, catalog)?;
            } else {
                self.change(|rows| rows.remove(catalog, &old))?;
            }
            rolled_off.push(old);
        }
        Ok(Defined { entry, rolled_off, scratch })
    }

    /// Deletes a generation with all that stands over it.
    fn delete_generation(&self, old: &Entry, catalog: ObjectNumber) -> Result<(), CatalogError> {
        let all = self.change(|rows| {
            let all = over(rows, catalog, old)?;
            for gone in &all {
                rows.put(catalog, &Entry { state: State::Deleting, ..gone.clone() })?;
            }
            Ok(all)
        })?;
        for gone in &all {
            pending::drop_data(&self.shared.store, gone.data.as_ref())?;
        }
        self.change(|rows| all.iter().try_for_each(|gone| rows.remove(catalog, gone)))?;
        all.iter().for_each(|gone| self.shared.registry.forget(gone.number));
        Ok(())
    }
}

/// Adds an entry, and its name to what it stands over. Answers which generations leave its group
/// for it, and whether they are to be scratched.
fn note<S: Store>(
    rows: &mut Rows<'_, S>,
    catalog: ObjectNumber,
    entry: &Entry,
    rolling: Rolling,
) -> Result<Option<(Vec<DataSetName>, bool)>, CatalogError> {
    rows.add_whole(catalog, entry)?;
    let above = match &entry.definition {
        Definition::AlternateIndex(attributes) => Some(&attributes.base),
        Definition::Path(attributes) => Some(&attributes.entry),
        _ => None,
    };
    if let Some(above) = above {
        let mut above = rows.known(catalog, above)?;
        above.related.push(entry.name.clone());
        rows.put(catalog, &above)?;
        return Ok(None);
    }
    if rolling == Rolling::Later {
        return Ok(None);
    }
    let Some((mut group, rolled, scratch)) = rolled_by(rows, catalog, entry)? else {
        return Ok(None);
    };
    if rolling == Rolling::Refused && !rolled.leave.is_empty() {
        return Err(CatalogError::GroupFull(group.name));
    }
    group.related.clone_from(&rolled.generations);
    rows.put(catalog, &group)?;
    Ok(Some((rolled.leave, scratch)))
}

/// The group of an entry that is to be a generation, what becomes of it, and whether those that
/// leave are to be scratched.
pub(crate) fn rolled_by<S: Store>(
    rows: &mut Rows<'_, S>,
    catalog: ObjectNumber,
    entry: &Entry,
) -> Result<Option<(Entry, RolledIn, bool)>, CatalogError> {
    if !matches!(entry.kind(), Kind::Cluster | Kind::NonVsam) {
        return Ok(None);
    }
    let Some(group) = group_of(&entry.name) else { return Ok(None) };
    let Some(group) = rows.get(catalog, &group)? else { return Ok(None) };
    let Definition::GenerationGroup(attributes) = &group.definition else { return Ok(None) };
    let rolled = roll_in(attributes, &group.related, &entry.name);
    let scratch = attributes.scratch;
    Ok(Some((group, rolled, scratch)))
}
