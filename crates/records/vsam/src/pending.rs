//! Changes of the catalog that take more than one unit of work, because sets of the store are made
//! and dropped outside of them. Each step can be repeated.
//!
//! | state | what is there | what becomes of it |
//! |---|---|---|
//! | defining | the entry, perhaps its set | both go |
//! | emptying | the entry, its sets, some of them empty | all are emptied |
//! | deleting | the entry, perhaps its set | both go |

use store::{KeyRange, Pairs, Read, SetId, Store, StoreError, Unit as _, run};

use crate::entry::{DataSet, ENTRIES, Entry, Kind, ObjectNumber, State};
use crate::error::CatalogError;
use crate::forward::{Forward, Kept, unsent_set};
use crate::generations::is_of;
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
        if entry.kind() == Kind::GenerationGroup {
            only_generations(store, set, (catalog, &entry))?;
        }
        match entry.state {
            State::Ready | State::Unbuilt => {}
            State::Defining | State::Deleting => {
                drop_data(store, entry.data.as_ref())?;
                change(store, set, |rows| rows.remove(catalog, &entry))?;
            }
            State::Emptying => match empty(store, set, catalog, &entry) {
                // A unit of work in doubt has it. Nobody opens it until a start has emptied it.
                Err(CatalogError::InUse(_) | CatalogError::Store(StoreError::SetInUse(_))) => {}
                other => other?,
            },
        }
    }
    Ok(())
}

/// Takes out of a group what is not called as its generations. Releases before this one left those
/// in it that had got another name.
fn only_generations<S: Store>(
    store: &S,
    set: SetId,
    (catalog, group): (ObjectNumber, &Entry),
) -> Result<(), CatalogError> {
    if group.related.iter().all(|name| is_of(name, &group.name)) {
        return Ok(());
    }
    change(store, set, |rows| {
        let mut group = rows.known(catalog, &group.name)?;
        let own = group.name.clone();
        group.related.retain(|name| is_of(name, &own));
        rows.put(catalog, &group)
    })
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
    let empty = unit.next(&mut cursor, Read::Unlocked)?.is_none();
    unit.commit()?;
    Ok(empty)
}

/// Whether a unit of work that has not ended has changed a set, or keeps something in it locked.
/// Who has a cluster alone asks this, too: files are closed before units of work end.
pub(crate) fn is_in_use<S: Store>(store: &S, set: SetId) -> bool {
    // A load is refused for that before anything else, and nothing is loaded.
    let mut nothing = Pairs::new(std::iter::empty::<(Vec<u8>, Vec<u8>)>());
    matches!(store.load_sorted(set, &mut nothing), Err(StoreError::SetInUse(_)))
}

/// Empties a cluster and all its alternate indexes, which know all of its records then.
///
/// Of [`StoreError::SetInUse`] nothing has come: nothing was changed, nor marked.
pub(crate) fn empty<S: Store>(
    store: &S,
    set: SetId,
    catalog: ObjectNumber,
    cluster: &Entry,
) -> Result<(), CatalogError> {
    let indexes = change(store, set, |rows| {
        let cluster = rows.known(catalog, &cluster.name)?;
        indexes(rows, catalog, &cluster)
    })?;
    let mut sets = Vec::new();
    for data in [cluster].into_iter().chain(&indexes).filter_map(|entry| entry.data.as_ref()) {
        sets.extend(store.set(&data.set)?);
    }
    // Asked before it is marked: whoever finds the mark after a crash empties everything, and so
    // what the backout of that unit of work has given back.
    if let Some(used) = sets.iter().find(|own| is_in_use(store, **own)) {
        return Err(StoreError::SetInUse(*used).into());
    }
    let mark = |state| {
        change(store, set, |rows| {
            let entry = rows.known(catalog, &cluster.name)?;
            rows.put(catalog, &Entry { state, ..entry.clone() })?;
            Ok(entry.state)
        })
    };
    let found = mark(State::Emptying)?;
    for (at, own) in sets.iter().enumerate() {
        match store.empty_set(*own) {
            Ok(()) => {}
            // Somebody has come since it was asked. What is emptied by now stays so, and the mark
            // with it: the next who empties it goes on, or the next start.
            Err(StoreError::SetInUse(_)) => {
                if at == 0 {
                    mark(found)?;
                }
                return Err(CatalogError::InUse(cluster.name.clone()));
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

/// The same in a unit of work, which has changed the cluster itself, and uses it alone: backed out,
/// it gives the records back. Answers how many there were.
pub(crate) fn empty_within<S: Store>(
    store: &S,
    unit: &mut S::Unit,
    cluster: &Entry,
    indexes: &[Entry],
) -> Result<u64, StoreError> {
    let before = unit.savepoint()?;
    let emptied = remove_all(store, unit, cluster, indexes);
    if emptied.is_err() && unit.failure().is_none() {
        unit.rollback_to(before)?;
    }
    emptied
}

fn remove_all<S: Store>(
    store: &S,
    unit: &mut S::Unit,
    cluster: &Entry,
    indexes: &[Entry],
) -> Result<u64, StoreError> {
    let mut remove = |entry: &Entry| {
        let own = entry.data.as_ref().map(|data| store.set(&data.set)).transpose()?.flatten();
        own.map_or(Ok(0), |own| unit.delete_range(own, KeyRange::ALL))
    };
    // Whoever is at work on an entry of an index has its record locked.
    let records = remove(cluster)?;
    for index in indexes {
        remove(index)?;
    }
    if let Some(set) = sent_on(store, cluster)? {
        Forward { set, cluster: cluster.number }.keep(store, unit, Kept::Clear)?;
    }
    Ok(records)
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
