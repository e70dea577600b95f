//! Changes of the catalog that take more than one unit of work, because sets of the store are made
//! and dropped outside of them. Each step can be repeated.
//!
//! | state | what is there | what becomes of it |
//! |---|---|---|
//! | defining | the entry, perhaps its set | both go |
//! | emptying | the entry, its sets, some of them empty | all are emptied |
//! | deleting | the entry, perhaps its set | both go |

use store::{Read, SetId, Store, StoreError, run};

use crate::entry::{DataSet, ENTRIES, Entry, ObjectNumber, State};
use crate::error::CatalogError;
use crate::forward::{Forward, Kept, unsent_set};
use crate::redirection::RecordOwner;
use crate::rows::{Rows, unit_options};

/// Changes the catalog in a unit of work.
pub(crate) fn change<S: Store, T>(
    store: &S,
    set: SetId,
    mut body: impl FnMut(&mut Rows<'_, S>) -> Result<T, CatalogError>,
) -> Result<T, CatalogError> {
    run(store, unit_options(), |unit| body(&mut Rows { store, unit, set, read: Read::Update }))
}

/// Finishes or takes back everything that an interruption left half done.
pub(crate) fn settle<S: Store>(store: &S, set: SetId) -> Result<(), CatalogError> {
    let all = change(store, set, |rows| rows.list(ENTRIES))?;
    for (catalog, entry) in all {
        match entry.state {
            State::Ready | State::Unbuilt => {}
            State::Defining | State::Deleting => {
                drop_data(store, entry.data.as_ref())?;
                change(store, set, |rows| rows.remove(catalog, &entry))?;
            }
            State::Emptying => empty(store, set, catalog, &entry)?,
        }
    }
    Ok(())
}

/// Drops an object's set, if it is there.
///
/// A set whose number the entry does not know was made just before an interruption, or is somebody
/// else's; it goes only if nothing stands in it.
pub(crate) fn drop_data<S: Store>(store: &S, data: Option<&DataSet>) -> Result<(), StoreError> {
    let Some(data) = data else { return Ok(()) };
    let Some(set) = store.set(&data.set)? else { return Ok(()) };
    let is_own = match data.id {
        Some(id) => id == set.0,
        None => is_empty(store, set)?,
    };
    if !is_own {
        return Ok(());
    }
    match store.drop_set(set) {
        Err(StoreError::NoSuchSet(_)) => Ok(()),
        other => other,
    }
}

/// Whether a set has no entry.
pub(crate) fn is_empty<S: Store>(store: &S, set: SetId) -> Result<bool, StoreError> {
    let mut unit = store.begin(store::UnitOptions::READ_ONLY)?;
    let mut cursor = store.cursor(set)?;
    let empty = store::Unit::next(&mut unit, &mut cursor, Read::Unlocked)?.is_none();
    store::Unit::commit(unit)?;
    Ok(empty)
}

/// Empties a cluster and all its alternate indexes, which know all of its records then.
pub(crate) fn empty<S: Store>(
    store: &S,
    set: SetId,
    catalog: ObjectNumber,
    cluster: &Entry,
) -> Result<(), CatalogError> {
    let indexes = change(store, set, |rows| {
        let mut cluster = rows.known(catalog, &cluster.name)?;
        cluster.state = State::Emptying;
        rows.put(catalog, &cluster)?;
        indexes(rows, catalog, &cluster)
    })?;
    for (at, entry) in [cluster].into_iter().chain(&indexes).enumerate() {
        let own = entry.data.as_ref().map(|data| store.set(&data.set)).transpose()?.flatten();
        match own.map_or(Ok(()), |own| store.empty_set(own)) {
            Ok(()) => {}
            // A unit of work that is not committed has changed it: nothing has been emptied yet.
            Err(error @ StoreError::SetInUse(_)) if at == 0 => {
                change(store, set, |rows| {
                    let entry = rows.known(catalog, &cluster.name)?;
                    rows.put(catalog, &Entry { state: State::Ready, ..entry })
                })?;
                return Err(error.into());
            }
            Err(error) => return Err(error.into()),
        }
    }
    change(store, set, |rows| {
        for entry in indexes.iter().chain([cluster]) {
            let mut entry = rows.known(catalog, &entry.name)?;
            entry.state = State::Ready;
            rows.put(catalog, &entry)?;
            let mut statistics = rows.statistics(entry.number)?;
            statistics.records = 0;
            rows.put_statistics(entry.number, &statistics)?;
        }
        // Nobody changes a record before this is committed.
        if let Some(set) = sent_on(store, cluster)? {
            let forward = Forward { set, cluster: cluster.number };
            forward.keep(store, rows.unit, Kept::Clear)?;
        }
        Ok(())
    })
}

/// The set that changes of a cluster are kept in, if they are sent on.
pub(crate) fn sent_on<S: Store>(store: &S, cluster: &Entry) -> Result<Option<SetId>, StoreError> {
    let owner = cluster.redirection.as_ref().map(|redirection| redirection.owner);
    match owner {
        Some(RecordOwner::Vsam) => unsent_set(store).map(Some),
        _ => Ok(None),
    }
}

/// The alternate indexes of a cluster.
pub(crate) fn indexes<S: Store>(
    rows: &mut Rows<'_, S>,
    catalog: ObjectNumber,
    cluster: &Entry,
) -> Result<Vec<Entry>, CatalogError> {
    let mut found = Vec::new();
    for name in &cluster.related {
        found.extend(rows.get(catalog, name)?.filter(|entry| entry.alternate_index().is_some()));
    }
    Ok(found)
}
