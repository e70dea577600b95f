//! DELETE and ALTER: what is taken out of the catalog, and what is changed in it.

use base::calendar::Date;
use store::{Store, StoreError};

use crate::attributes::ClusterAttributes;
use crate::catalog::{Catalog, wrong_kind};
use crate::define::{Defined, rolled_by};
use crate::entry::{Definition, Entry, Kind, ObjectNumber, State, catalog_prefix};
use crate::error::CatalogError;
use crate::generations::{is_of, past_limit};
use crate::name::DataSetName;
use crate::pending;
use crate::redirect;
use crate::rows::{Rows, over};
use crate::share::Ticket;

/// What DELETE is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// `PURGE`: before its retention period is over, too.
    pub purge: bool,
    /// `FORCE`: a catalog or a group with all its entries.
    pub force: bool,
}

/// An object that is to be deleted, with all that stands over it. While this is there, nobody
/// opens it.
pub struct Claimed<S: Store> {
    pub(crate) catalog: Catalog<S>,
    /// The number of the catalog that has it.
    within: ObjectNumber,
    /// The object first.
    pub(crate) all: Vec<Entry>,
    _alone: Option<Ticket>,
}

impl<S: Store> Claimed<S> {
    /// The object, and what stands over it.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.all
    }

    /// Deletes it: marks what is to go, drops its sets, and removes the entries. Answers those.
    ///
    /// # Errors
    /// If a unit of work has changed it and has not ended, or the store fails.
    pub fn delete(self) -> Result<Vec<Entry>, CatalogError> {
        let Claimed { catalog, within, all, _alone } = self;
        let Some(first) = all.first() else { return Ok(all) };
        // Paths may have been defined since.
        let all = catalog.look(|rows| over(rows, within, first))?;
        catalog.mark(within, &all, |_| State::Deleting)?;
        for (at, gone) in all.iter().enumerate() {
            match pending::drop_data(&catalog.shared.store, gone.data.as_ref()) {
                Ok(()) => {}
                // Somebody has come since it was asked. The first set decides.
                Err(StoreError::SetInUse(_)) if at == 0 => {
                    catalog.mark(within, &all, |was| was.state)?;
                    return Err(CatalogError::InUse(gone.name.clone()));
                }
                Err(error) => return Err(error.into()),
            }
        }
        catalog.change(|rows| all.iter().try_for_each(|gone| rows.remove(within, gone)))?;
        all.iter().for_each(|gone| catalog.shared.registry.forget(gone.number));
        Ok(all)
    }
}

impl<S: Store> Catalog<S> {
    /// Deletes an object with all that stands over it: a cluster with its alternate indexes and
    /// paths, an index with its paths. Answers the entries that are gone; files that are not
    /// VSAM's are left to the caller.
    ///
    /// # Errors
    /// If it is not there, is open, has to be kept, or still has entries.
    pub fn delete(
        &self,
        name: &DataSetName,
        options: DeleteOptions,
    ) -> Result<Vec<Entry>, CatalogError> {
        let found = self.look(|rows| self.find_itself(rows, name))?;
        let (catalog, entry) = found.ok_or_else(|| CatalogError::NotFound(name.clone()))?;
        self.check_expiry(&entry, options)?;
        match entry.kind() {
            Kind::Component => Err(wrong_kind(&entry, "components go with their cluster")),
            Kind::Cluster | Kind::AlternateIndex | Kind::Path => {
                self.claim_sphere(catalog, &entry, options)?.delete()
            }
            Kind::GenerationGroup => self.delete_group(catalog, &entry, options),
            Kind::UserCatalog => self.delete_catalog(&entry, options),
            Kind::NonVsam | Kind::Alias => {
                self.change(|rows| rows.remove(catalog, &entry))?;
                Ok(vec![entry])
            }
        }
    }

    fn check_expiry(&self, entry: &Entry, options: DeleteOptions) -> Result<(), CatalogError> {
        let remarks = match &entry.definition {
            Definition::Cluster(attributes) => &attributes.remarks,
            Definition::AlternateIndex(attributes) => &attributes.remarks,
            Definition::NonVsam(attributes) => &attributes.remarks,
            Definition::GenerationGroup(attributes) => &attributes.remarks,
            _ => return Ok(()),
        };
        let today = day_of(self.shared.clock.utc_us());
        match remarks.expires.filter(|until| *until > today && !options.purge) {
            Some(until) => Err(CatalogError::NotExpired { name: entry.name.clone(), until }),
            None => Ok(()),
        }
    }

    /// Has a cluster, an index or a path alone that is to be deleted, with all that stands over it.
    ///
    /// # Errors
    /// If it is not there, is open, has changes that are not committed, or has to be kept.
    pub fn claim(
        &self,
        name: &DataSetName,
        options: DeleteOptions,
    ) -> Result<Claimed<S>, CatalogError> {
        let found = self.look(|rows| self.find_itself(rows, name))?;
        let (catalog, entry) = found.ok_or_else(|| CatalogError::NotFound(name.clone()))?;
        match entry.kind() {
            Kind::Cluster | Kind::AlternateIndex | Kind::Path => {
                self.claim_sphere(catalog, &entry, options)
            }
            _ => Err(wrong_kind(&entry, "nobody opens it")),
        }
    }

    fn claim_sphere(
        &self,
        within: ObjectNumber,
        entry: &Entry,
        options: DeleteOptions,
    ) -> Result<Claimed<S>, CatalogError> {
        let _alone = self.alone(entry)?;
        let all = self.look(|rows| over(rows, within, entry))?;
        if let Some(redirected) = all.iter().find(|entry| entry.redirection.is_some()) {
            return Err(CatalogError::Redirected(redirected.name.clone()));
        }
        for other in &all {
            self.check_expiry(other, options)?;
        }
        // Before anything is marked: what is marked goes, if there is a crash.
        all.iter().try_for_each(|entry| self.settled(entry))?;
        Ok(Claimed { catalog: self.clone(), within, all, _alone })
    }

    fn mark(
        &self,
        catalog: ObjectNumber,
        all: &[Entry],
        state: impl Fn(&Entry) -> State,
    ) -> Result<(), CatalogError> {
        self.change(|rows| {
            all.iter().try_for_each(|entry| {
                rows.put(catalog, &Entry { state: state(entry), ..entry.clone() })
            })
        })
    }

    fn delete_group(
        &self,
        catalog: ObjectNumber,
        entry: &Entry,
        options: DeleteOptions,
    ) -> Result<Vec<Entry>, CatalogError> {
        if !entry.related.is_empty() && !options.force {
            return Err(CatalogError::NotEmpty(entry.name.clone()));
        }
        let within = self.within(entry.catalog.as_ref())?;
        let mut gone = Vec::new();
        for name in entry.related.iter().filter(|name| is_of(name, &entry.name)) {
            match within.delete(name, options) {
                Ok(entries) => gone.extend(entries),
                Err(CatalogError::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.change(|rows| rows.remove(catalog, entry))?;
        gone.push(entry.clone());
        Ok(gone)
    }

    fn delete_catalog(
        &self,
        entry: &Entry,
        options: DeleteOptions,
    ) -> Result<Vec<Entry>, CatalogError> {
        if self.look(|rows| rows.has_entries(entry.number))? && !options.force {
            return Err(CatalogError::NotEmpty(entry.name.clone()));
        }
        let within = self.within(Some(&entry.name))?;
        let mut gone = Vec::new();
        // Clusters take what stands over them along; groups go after their generations.
        for (_, inside) in self.look(|rows| rows.list(&catalog_prefix(entry.number)))? {
            if inside.kind() == Kind::Component {
                continue;
            }
            match within.delete(&inside.name, options) {
                Ok(entries) => gone.extend(entries),
                Err(CatalogError::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.change(|rows| {
            for (catalog, alias) in rows.list(&catalog_prefix(ObjectNumber::MASTER))? {
                if alias.definition == Definition::Alias(entry.name.clone()) {
                    rows.remove(catalog, &alias)?;
                }
            }
            rows.remove(ObjectNumber::MASTER, entry)
        })?;
        gone.push(entry.clone());
        Ok(gone)
    }

    /// Changes attributes (ALTER). The organization of a cluster and what an object stands over
    /// stay; keys and longest records change only while there are no records, and the key of an
    /// alternate index and whether it is unique only while it has no entries. The oldest
    /// generations leave a group whose limit is lower then.
    ///
    /// # Errors
    /// If a rule is broken, or the object, or a generation that is to leave, is open.
    pub fn alter(
        &self,
        name: &DataSetName,
        change: &mut dyn FnMut(&mut Definition),
    ) -> Result<Defined, CatalogError> {
        let _alone = self.alone(&self.known(name)?)?;
        // Only now: it may have been another one before.
        let entry = self.known(name)?;
        let mut altered = entry.clone();
        change(&mut altered.definition);
        let base = self.base_of(&entry)?;
        self.check_alteration(&entry, &altered.definition, base.as_ref())?;
        let wrong = |error| CatalogError::Attributes { name: entry.name.clone(), error };
        redirect::refusal(&entry, &altered.definition).map_or(Ok(()), Err).map_err(wrong)?;
        match &mut altered.definition {
            Definition::Cluster(attributes) => attributes.settle().map_err(wrong)?,
            Definition::AlternateIndex(attributes) => {
                if let Some(cluster) = base.as_ref().and_then(Entry::cluster) {
                    attributes.settle(cluster).map_err(wrong)?;
                }
            }
            Definition::GenerationGroup(attributes) => attributes.settle().map_err(wrong)?,
            _ => {}
        }
        let scope = self.look(|rows| self.scope_of(rows, &entry.name))?;
        let leaving = past_limit(&altered.definition, &mut entry.related.clone());
        let held = self.hold(&leaving, scope.1)?;
        let (altered, rolled) = self.change(|rows| {
            let (catalog, now) =
                self.find(rows, name)?.ok_or_else(|| CatalogError::NotFound(name.clone()))?;
            // The names of components may change with it.
            rows.remove_names(catalog, &now)?;
            let mut altered = Entry { definition: altered.definition.clone(), ..now };
            let leave = past_limit(&altered.definition, &mut altered.related);
            rows.add_whole(catalog, &altered)?;
            let scratch = match &altered.definition {
                Definition::GenerationGroup(group) => Some(group.scratch),
                _ => None,
            };
            Ok((altered, scratch.map(|scratch| (leave, scratch))))
        })?;
        self.roll_off(altered, scope.1, rolled, &held)
    }

    /// Whether what is there lets attributes change like that.
    fn check_alteration(
        &self,
        entry: &Entry,
        altered: &Definition,
        base: Option<&Entry>,
    ) -> Result<(), CatalogError> {
        let refusal = refusal(&entry.definition, altered);
        if let Some((operand, what)) = refusal.outright {
            return Err(attribute_error(entry, operand, what));
        }
        let Some(operand) = refusal.while_records else { return Ok(()) };
        // What is backed out has to fit, too.
        base.into_iter().chain([entry]).try_for_each(|one| self.settled(one))?;
        match pending::is_empty(&self.shared.store, self.data_of(entry)?)? {
            true => Ok(()),
            false => {
                let what = "it cannot change while there are records";
                Err(attribute_error(entry, operand, what))
            }
        }
    }

    /// Gives an object another name (ALTER NEWNAME). What stands over it follows; its set in the
    /// store keeps its name. A generation that is called otherwise then has left its group, and
    /// what is called as a generation then is one.
    ///
    /// # Errors
    /// If the name is taken or leads to another catalog, or the object is open; if another
    /// generation would leave its group for it, or it is a group that has some.
    pub fn rename(&self, name: &DataSetName, to: &DataSetName) -> Result<Entry, CatalogError> {
        let entry = self.known(name)?;
        if entry.kind() == Kind::UserCatalog || entry.kind() == Kind::Component {
            return Err(wrong_kind(&entry, "it keeps its name"));
        }
        let _alone = self.alone(&entry)?;
        self.change(|rows| {
            let (catalog, entry) =
                self.find(rows, name)?.ok_or_else(|| CatalogError::NotFound(name.clone()))?;
            if self.scope_of(rows, to)?.1 != catalog {
                return Err(attribute_error(
                    &entry,
                    "NEWNAME",
                    "the name leads to another catalog",
                ));
            }
            if entry.kind() == Kind::GenerationGroup && !entry.related.is_empty() {
                let what = "the generations of a group are called as it";
                return Err(attribute_error(&entry, "NEWNAME", what));
            }
            rows.remove_names(catalog, &entry)?;
            rows.leave_group(catalog, &entry.name)?;
            let renamed = Entry { name: to.clone(), joins_later: false, ..entry.clone() };
            rows.add_whole(catalog, &renamed)?;
            follow(rows, catalog, &entry, to)?;
            join(rows, catalog, &renamed)?;
            Ok(renamed)
        })
    }
}

/// What names a renamed object names it anew.
fn follow<S: Store>(
    rows: &mut Rows<'_, S>,
    catalog: ObjectNumber,
    entry: &Entry,
    to: &DataSetName,
) -> Result<(), CatalogError> {
    for (catalog, mut other) in rows.list(&catalog_prefix(catalog))? {
        if other.kind() == Kind::GenerationGroup {
            continue;
        }
        let before = other.clone();
        for name in &mut other.related {
            if *name == entry.name {
                name.clone_from(to);
            }
        }
        let named = match &mut other.definition {
            Definition::AlternateIndex(attributes) => Some(&mut attributes.base),
            Definition::Path(attributes) => Some(&mut attributes.entry),
            Definition::Alias(of) => Some(of),
            _ => None,
        };
        if let Some(named) = named.filter(|named| **named == entry.name) {
            named.clone_from(to);
        }
        if other != before {
            rows.put(catalog, &other)?;
        }
    }
    Ok(())
}

/// What has got the name of a generation joins its group.
fn join<S: Store>(
    rows: &mut Rows<'_, S>,
    catalog: ObjectNumber,
    renamed: &Entry,
) -> Result<(), CatalogError> {
    let Some((mut group, rolled, _)) = rolled_by(rows, catalog, renamed)? else { return Ok(()) };
    if !rolled.leave.is_empty() {
        let what = "another generation would leave the group for it";
        return Err(attribute_error(renamed, "NEWNAME", what));
    }
    group.related = rolled.generations;
    rows.put(catalog, &group)
}

/// What an alteration breaks.
#[derive(Default)]
struct Refusal {
    outright: Option<(&'static str, &'static str)>,
    while_records: Option<&'static str>,
}

fn refusal(before: &Definition, after: &Definition) -> Refusal {
    let outright = |operand, what| Refusal { outright: Some((operand, what)), while_records: None };
    match (before, after) {
        (Definition::Cluster(old), Definition::Cluster(new)) => of_cluster(old, new),
        (Definition::AlternateIndex(old), Definition::AlternateIndex(new)) => {
            if old.base != new.base {
                return outright("RELATE", "an index stays with its cluster");
            }
            let key = (old.key != new.key).then_some("KEYS");
            let unique = (new.unique != old.unique).then_some("UNIQUEKEY");
            let upgrade = (new.upgrade && !old.upgrade).then_some("UPGRADE");
            Refusal { outright: None, while_records: key.or(unique).or(upgrade) }
        }
        (Definition::Path(old), Definition::Path(new)) if old.entry != new.entry => {
            outright("PATHENTRY", "a path keeps what it leads to")
        }
        (old, new) if old.kind() != new.kind() => outright("NAME", "an object keeps its kind"),
        _ => Refusal::default(),
    }
}

fn of_cluster(old: &ClusterAttributes, new: &ClusterAttributes) -> Refusal {
    if old.organization != new.organization {
        let what = "a cluster keeps its organization";
        return Refusal { outright: Some(("INDEXED", what)), while_records: None };
    }
    let key = (old.key != new.key).then_some("KEYS");
    let shorter = new.record_bytes_max < old.record_bytes_max
        || (!new.organization.is_relative() && new.spanned != old.spanned)
        || (new.organization == crate::attributes::Organization::Relative
            && new.record_bytes_max != old.record_bytes_max);
    let record = shorter.then_some("RECORDSIZE");
    Refusal { outright: None, while_records: key.or(record) }
}

fn attribute_error(entry: &Entry, operand: &'static str, what: &'static str) -> CatalogError {
    let error = crate::attributes::AttributeError { operand, what };
    CatalogError::Attributes { name: entry.name.clone(), error }
}

/// The day of a moment, as `yyyyddd`, in UTC.
fn day_of(utc_us: u64) -> u32 {
    let date = Date::of_second(utc_us / 1_000_000);
    u32::try_from(date.year * 1000 + date.day_of_year()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::day_of;

    #[test]
    fn a_moment_falls_on_a_day_of_the_year() {
        let days = [(0, 1_970_001), (364, 1_970_365), (365, 1_971_001), (59, 1_970_060)];
        for (day, wanted) in days {
            assert_eq!(day_of(day * 86_400_000_000), wanted);
        }
        // 2000-02-29, 2000-12-31, 2024-03-01.
        for (day, wanted) in [(11_016, 2_000_060), (11_322, 2_000_366), (19_783, 2_024_061)] {
            assert_eq!(day_of(day * 86_400_000_000), wanted);
        }
    }
}
