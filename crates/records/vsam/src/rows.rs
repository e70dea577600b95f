//! The catalog's set: entries read and written within one unit of work.
//!
//! 1. What changes entries reads them with the intention to change, so that two who change the
//!    same queue up.
//! 2. A name stands in one catalog once; components' names, too.

use std::time::Duration;

use store::{
    Cursor as _, KeyRange, Outcome, Position, Read, SetId, Store, Unit as _, UnitOptions, Wait,
};

use crate::entry::{
    Definition, Entry, Kind, ObjectNumber, State, Statistics, catalog_prefix, entry_key,
    statistics_key,
};
use crate::error::CatalogError;
use crate::name::DataSetName;

/// The set of all catalogs of a system.
pub const SET: &str = "HOLDFAST.CATALOG";

/// How long a unit of work waits for a record that another one holds, unless it says otherwise.
/// Then the request ends with reason 20.
pub const LOCK_WAIT: Duration = Duration::from_secs(30);

/// How a unit of work for requests begins: its waits are bounded.
#[must_use]
pub fn unit_options() -> UnitOptions {
    UnitOptions { wait: Wait::AtMost(LOCK_WAIT), ..UnitOptions::default() }
}

/// The entries of the catalogs, in one unit of work.
pub(crate) struct Rows<'u, S: Store> {
    pub(crate) store: &'u S,
    pub(crate) unit: &'u mut S::Unit,
    pub(crate) set: SetId,
    /// How entries are read.
    pub(crate) read: Read,
}

impl<S: Store> Rows<'_, S> {
    /// The entry of that name in a catalog.
    pub(crate) fn get(
        &mut self,
        catalog: ObjectNumber,
        name: &DataSetName,
    ) -> Result<Option<Entry>, CatalogError> {
        let mut value = Vec::new();
        if !self.unit.get(self.set, &entry_key(catalog, name), self.read, &mut value)? {
            return Ok(None);
        }
        let damaged = |what| CatalogError::Damaged { name: name.to_string(), what };
        Entry::decode(&value).map(Some).map_err(damaged)
    }

    /// The same for one that has to be there.
    pub(crate) fn known(
        &mut self,
        catalog: ObjectNumber,
        name: &DataSetName,
    ) -> Result<Entry, CatalogError> {
        self.get(catalog, name)?.ok_or_else(|| CatalogError::NotFound(name.clone()))
    }

    /// Adds an entry.
    pub(crate) fn add(&mut self, catalog: ObjectNumber, entry: &Entry) -> Result<(), CatalogError> {
        let key = entry_key(catalog, &entry.name);
        if self.unit.insert(self.set, &key, &entry.encode())? == Outcome::Exists {
            let kind = self.known(catalog, &entry.name)?.kind();
            return Err(CatalogError::Exists { name: entry.name.clone(), kind });
        }
        Ok(())
    }

    /// Adds an entry, and the names of its components.
    pub(crate) fn add_whole(
        &mut self,
        catalog: ObjectNumber,
        entry: &Entry,
    ) -> Result<(), CatalogError> {
        self.add(catalog, entry)?;
        for component in entry.components() {
            let component = Entry {
                name: component,
                definition: Definition::Component(entry.name.clone()),
                data: None,
                state: State::Ready,
                related: Vec::new(),
                joins_later: false,
                redirection: None,
                ..entry.clone()
            };
            self.add(catalog, &component)?;
        }
        Ok(())
    }

    /// Writes an entry anew.
    pub(crate) fn put(&mut self, catalog: ObjectNumber, entry: &Entry) -> Result<(), CatalogError> {
        Ok(self.unit.put(self.set, &entry_key(catalog, &entry.name), &entry.encode())?)
    }

    /// Removes an entry with its components' names; its statistics stay.
    pub(crate) fn remove_names(
        &mut self,
        catalog: ObjectNumber,
        entry: &Entry,
    ) -> Result<(), CatalogError> {
        for name in entry.components().iter().chain([&entry.name]) {
            let _ = self.unit.delete(self.set, &entry_key(catalog, name))?;
        }
        Ok(())
    }

    /// Removes an entry, its components' names and its statistics; whatever names it forgets it.
    pub(crate) fn remove(
        &mut self,
        catalog: ObjectNumber,
        entry: &Entry,
    ) -> Result<(), CatalogError> {
        self.remove_names(catalog, entry)?;
        let _ = self.unit.delete(self.set, &statistics_key(entry.number))?;
        for above in above(entry) {
            if let Some(mut above) = self.get(catalog, &above)?
                && above.related.contains(&entry.name)
            {
                above.related.retain(|name| *name != entry.name);
                self.put(catalog, &above)?;
            }
        }
        Ok(())
    }

    /// What has that name is no generation any more.
    pub(crate) fn leave_group(
        &mut self,
        catalog: ObjectNumber,
        name: &DataSetName,
    ) -> Result<(), CatalogError> {
        let Some(group) = crate::generations::group_of(name) else { return Ok(()) };
        let Some(mut group) = self.get(catalog, &group)? else { return Ok(()) };
        if group.kind() == Kind::GenerationGroup && group.related.contains(name) {
            group.related.retain(|generation| generation != name);
            self.put(catalog, &group)?;
        }
        Ok(())
    }

    /// All entries whose keys begin with a prefix, in their order, with their catalogs' numbers.
    pub(crate) fn list(
        &mut self,
        prefix: &[u8],
    ) -> Result<Vec<(ObjectNumber, Entry)>, CatalogError> {
        let (mut cursor, mut end, mut all) = (self.store.cursor(self.set)?, Vec::new(), Vec::new());
        cursor.limit(KeyRange::prefix(prefix, &mut end));
        while let Some(row) = self.unit.next(&mut cursor, self.read)? {
            let [_, a, b, c, d, name @ ..] = row.key else { continue };
            let name = String::from_utf8_lossy(name).into_owned();
            let entry =
                Entry::decode(row.value).map_err(|what| CatalogError::Damaged { name, what })?;
            all.push((ObjectNumber(u32::from_be_bytes([*a, *b, *c, *d])), entry));
        }
        Ok(all)
    }

    /// Whether a catalog has any entry.
    pub(crate) fn has_entries(&mut self, catalog: ObjectNumber) -> Result<bool, CatalogError> {
        let (mut cursor, mut end) = (self.store.cursor(self.set)?, Vec::new());
        let prefix = catalog_prefix(catalog);
        cursor.limit(KeyRange::prefix(&prefix, &mut end));
        cursor.seek(Position::Front);
        Ok(self.unit.next(&mut cursor, self.read)?.is_some())
    }

    /// The number of a user catalog.
    pub(crate) fn catalog_number(
        &mut self,
        name: &DataSetName,
    ) -> Result<ObjectNumber, CatalogError> {
        match self.get(ObjectNumber::MASTER, name)? {
            Some(entry) if entry.kind() == Kind::UserCatalog => Ok(entry.number),
            _ => Err(CatalogError::NoCatalog(name.clone())),
        }
    }

    /// The catalog that the first qualifiers of a name pick: that of an alias, or of a user catalog
    /// that is called so; the master catalog if there is none.
    pub(crate) fn picked(
        &mut self,
        name: &DataSetName,
    ) -> Result<(Option<DataSetName>, ObjectNumber), CatalogError> {
        let count = name.qualifiers().count();
        for qualifiers in (1..count).rev() {
            let Some(level) = name.first_qualifiers(qualifiers) else { continue };
            match self.get(ObjectNumber::MASTER, &level)? {
                Some(Entry { definition: Definition::UserCatalog, number, .. }) => {
                    return Ok((Some(level), number));
                }
                Some(Entry { definition: Definition::Alias(of), .. }) => {
                    if let Ok(number) = self.catalog_number(&of) {
                        return Ok((Some(of), number));
                    }
                }
                _ => {}
            }
        }
        Ok((None, ObjectNumber::MASTER))
    }

    /// The statistics of an object.
    pub(crate) fn statistics(&mut self, number: ObjectNumber) -> Result<Statistics, CatalogError> {
        let mut value = Vec::new();
        if !self.unit.get(self.set, &statistics_key(number), self.read, &mut value)? {
            return Ok(Statistics::default());
        }
        let damaged =
            |what| CatalogError::Damaged { name: format!("statistics {}", number.0), what };
        Statistics::decode(&value).map_err(damaged)
    }

    /// Writes the statistics of an object.
    pub(crate) fn put_statistics(
        &mut self,
        number: ObjectNumber,
        statistics: &Statistics,
    ) -> Result<(), CatalogError> {
        Ok(self.unit.put(self.set, &statistics_key(number), &statistics.encode())?)
    }
}

/// What an object stands over and is listed by.
fn above(entry: &Entry) -> Vec<DataSetName> {
    match &entry.definition {
        Definition::AlternateIndex(attributes) => vec![attributes.base.clone()],
        Definition::Path(attributes) => vec![attributes.entry.clone()],
        _ => crate::generations::group_of(&entry.name).into_iter().collect(),
    }
}

/// An entry and all that stands over it, it first, then what has data.
pub(crate) fn over<S: Store>(
    rows: &mut Rows<'_, S>,
    catalog: ObjectNumber,
    entry: &Entry,
) -> Result<Vec<Entry>, CatalogError> {
    let mut all = vec![rows.known(catalog, &entry.name)?];
    if entry.kind() == Kind::Path {
        return Ok(all);
    }
    let mut at = 0;
    while let Some(next) = all.get(at) {
        for name in next.related.clone() {
            all.extend(rows.get(catalog, &name)?);
        }
        at += 1;
    }
    Ok(all)
}
