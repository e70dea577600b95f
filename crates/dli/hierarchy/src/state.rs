//! What is known about a database's data beside the data: whether it is whole, and under which
//! definition and settings it was stored.
//!
//! Owns the set [`SET`].
//!
//! | key | value |
//! |---|---|
//! | name of a DBD, 8 bytes with blanks | version 1, then `R` ready, `L` loading, `N` in a numbering or `B` to be built (indexes), then the layout as text |
//! | that, and the name of a partition | version 1, then `O`: it is offline |
//!
//! The set has the forms of the past, too ([`crate::form`]), when data was replaced
//! ([`crate::replacements`]), and with which map it was converted ([`crate::converted`]).
//!
//! Between `N` and the layout, which is the one that the numbering makes, stands how far it is
//! ([`crate::number`]): one byte, so many segment codes, two bytes (big endian), a path of that
//! length.
//!
//! The *layout* of a database is what its stored keys and values follow from, one fact a line:
//! where roots go ([`placement::Placement::identity`]), then each segment type with its code, key
//! and what stands in front of its data.
//!
//! Invariants:
//! 1. Data never has another layout than the one that is recorded: what the system says now is
//!    compared whenever a database is admitted, and an empty database takes on what is said now.
//! 2. A database whose load or numbering was begun and not ended is never taken for a whole one,
//!    nor an index that has to be built for a built one, over any crash.
//! 3. Which segments carry an identity, their data says and not what needs it now: the recorded
//!    layout. Only an empty database takes on what is needed.
//! 4. A partition is offline as long as its record is there, whatever becomes of its data.

use definitions::DbdName;
use store::{Read, Store, Unit, UnitOptions};

use crate::converted;
use crate::database::Database;
use crate::error::{HierarchyError, Result};
use crate::form;
pub use crate::layout::{compare, compare_to_read, layout, layout_of, same_places, unnumbered};
use crate::record::{Numbering, VERSION, put, put_value};
pub use crate::record::{Record, SET, State, holds_something, state_of};
use crate::replacements;
use crate::schema::TypeAt;

/// Takes a database into use: compares its recorded layout with what the system says now. Answers
/// whether it is ready or in a load.
///
/// # Errors
/// [`HierarchyError::Placed`], [`HierarchyError::LaidOut`], [`HierarchyError::Numbering`], or if
/// the store refuses.
pub fn admit<S: Store>(store: &S, database: &Database) -> Result<State> {
    let lacks_identity =
        || database.indexes.iter().any(|tree| database.lacks_identity(tree.source));
    match compared(store, database)?.state {
        State::Numbering => Err(HierarchyError::Numbering(database.name())),
        // It cannot go on: its segments would have no place in an index that is new.
        State::Loading if lacks_identity() => Err(HierarchyError::Loading(database.name())),
        state => Ok(state),
    }
}

/// Takes a database into use for those who only read it from end to end: they need no randomizer,
/// for its keys are stored behind their anchors, so one that is lost or was changed keeps nobody
/// from the data. Answers whether it is ready or in a load.
///
/// # Errors
/// As [`admit`], but for what the settings say of randomizers.
pub fn admit_to_read<S: Store>(store: &S, database: &mut Database) -> Result<State> {
    let name = database.name();
    let Some(record) = state_of(store, name)? else { return Ok(State::Ready) };
    let hashed = database.schema.is_hashed();
    let now = layout(&database.schema);
    if record.layout != now && holds_something(store, name)? {
        match hashed {
            true => compare_to_read(name, &record.layout, &now)?,
            false => compare(name, &record.layout, &now)?,
        }
        database.knows_placing =
            same_places(&record.placing(), &database.schema.placement.identity());
    }
    match record.state {
        State::Numbering => Err(HierarchyError::Numbering(name)),
        state => Ok(state),
    }
}

/// What is recorded of a database, compared with what the system says now.
pub(crate) fn compared<S: Store>(store: &S, database: &Database) -> Result<Record> {
    let name = database.name();
    let layout = layout(&database.schema);
    match state_of(store, name)? {
        Some(record) if record.layout == layout => {
            form::note(store, database, record.state)?;
            Ok(record)
        }
        was => {
            if let Some(record) = &was
                && let Err(differs) = compare(name, &record.layout, &layout)
                && holds_something(store, name)?
            {
                return Err(differs);
            }
            let record = match was {
                Some(was) => Record { layout, ..was },
                None => Record::new(State::Ready, layout),
            };
            form::note(store, database, record.state)?;
            put(store, name, Some(&record))?;
            Ok(record)
        }
    }
}

/// Whether what is recorded of a database fits what the system says now, partitions and all. Takes
/// nothing into use and changes nothing.
///
/// # Errors
/// [`HierarchyError::Placed`], [`HierarchyError::LaidOut`], or if the store refuses.
pub fn fits<S: Store>(store: &S, database: &Database) -> Result<()> {
    let (name, now) = (database.name(), layout(&database.schema));
    let recorded = state_of(store, name)?.map(|record| record.layout);
    match recorded.filter(|was| *was != now).map(|was| compare(name, &was, &now)) {
        Some(Err(differs)) if holds_something(store, name)? => Err(differs),
        _ => Ok(()),
    }
}

/// Takes a database into use for programs: as [`admit`], and it has to be whole.
///
/// # Errors
/// As [`admit`]; [`HierarchyError::Loading`], [`HierarchyError::IndexDue`],
/// [`HierarchyError::Waiting`].
pub fn admit_whole<S: Store>(store: &S, database: &Database) -> Result<()> {
    if admit(store, database)? == State::Loading {
        return Err(HierarchyError::Loading(database.name()));
    }
    if let Some(relation) = database.waits_for(store)? {
        let (database, other) = (database.name(), relation.child_dbd);
        return Err(HierarchyError::Waiting { database, other });
    }
    for tree in &database.indexes {
        let index = tree.index.dbd;
        let is_due = state_of(store, index)?.is_some_and(|record| record.state == State::Due);
        if is_due || database.lacks_identity(tree.source) {
            return Err(HierarchyError::IndexDue { database: database.name(), index });
        }
    }
    Ok(())
}

/// Begins a load: from now on the database is in a load until [`end_load`].
///
/// # Errors
/// [`HierarchyError::NotEmpty`], or [`HierarchyError::Loading`] if a load was broken off and has
/// left something; as [`admit`].
pub fn begin_load<S: Store>(store: &S, database: &Database) -> Result<()> {
    let state = admit(store, database)?;
    if !is_empty(store, database)? {
        return Err(match state {
            State::Loading => HierarchyError::Loading(database.name()),
            _ => HierarchyError::NotEmpty(database.name()),
        });
    }
    record(store, database, State::Loading)?;
    replacements::note(store, database.name(), 0)?;
    converted::note(store, database.name(), None)
}

/// Ends a load: everything is there.
///
/// # Errors
/// If the store refuses.
pub fn end_load<S: Store>(store: &S, database: &Database) -> Result<()> {
    record(store, database, State::Ready)
}

pub(crate) fn record<S: Store>(store: &S, database: &Database, state: State) -> Result<()> {
    let layout = layout(&database.schema);
    form::note(store, database, state)?;
    put(store, database.name(), Some(&Record::new(state, layout)))
}

/// Records that a database has gone back to what it was under a layout.
///
/// # Errors
/// If the store refuses.
pub fn record_recovered<S: Store>(store: &S, name: DbdName, form: &str) -> Result<()> {
    form::note_text(store, name, form)?;
    put(store, name, Some(&Record::new(State::Ready, form::layout_in(form))))
}

/// Records that a database has been emptied: from now on its segments carry what is needed.
pub(crate) fn record_empty<S: Store>(store: &S, database: &Database) -> Result<()> {
    let mut emptied = database.clone();
    for at in 0..emptied.schema.types.len() {
        emptied.schema.types[at].has_identity = database.needs_identity(TypeAt(at as u8));
    }
    replacements::note(store, database.name(), 0)?;
    converted::note(store, database.name(), None)?;
    record(store, &emptied, State::Ready)
}

/// Records that a database is in a numbering, and how far that is.
pub(crate) fn begin_numbering<S: Store>(
    store: &S,
    database: &Database,
    numbering: Numbering,
) -> Result<Record> {
    let (state, layout) = (State::Numbering, layout(&database.schema));
    form::note(store, database, state)?;
    let record = Record { state, layout, numbering };
    put(store, database.name(), Some(&record))?;
    Ok(record)
}

/// Records that an index has to be built before programs use its database, or that it is built.
///
/// # Errors
/// If the store refuses.
pub fn set_due<S: Store>(store: &S, index: DbdName, due: bool) -> Result<()> {
    let record = Record::new(State::Due, String::new());
    form::note_text(store, index, if due { form::DUE } else { form::BUILT })?;
    match due {
        true => put(store, index, Some(&record)),
        false => put(store, index, None),
    }
}

/// The partitions of a database that are recorded as offline, by their numbers.
///
/// # Errors
/// If the store refuses.
pub fn offline<S: Store>(store: &S, database: &Database) -> Result<Vec<u16>> {
    let mut numbers = Vec::new();
    let Some(set) = store.set(SET)?.filter(|_| database.schema.is_partitioned()) else {
        return Ok(numbers);
    };
    let mut unit = store.begin(UnitOptions::READ_ONLY)?;
    let mut value = Vec::new();
    for (number, partition) in (0..).zip(database.schema.placement.partitions()) {
        let key = partition_key(database, &partition.name);
        if unit.get(set, &key, Read::Shared, &mut value)? {
            numbers.push(number);
        }
    }
    unit.commit()?;
    Ok(numbers)
}

/// Records a partition as offline, or as online again. Answers whether that is new.
///
/// # Errors
/// [`HierarchyError::NoPartition`], or if the store refuses.
pub fn set_offline<S: Store>(
    store: &S,
    database: &Database,
    partition: &str,
    offline: bool,
) -> Result<bool> {
    let partitions = database.schema.placement.partitions();
    let known = partitions.iter().position(|one| one.name == partition && !partition.is_empty());
    let Some(number) = known else {
        let (database, partition) = (database.name(), partition.to_owned());
        return Err(HierarchyError::NoPartition { database, partition });
    };
    let is_new =
        self::offline(store, database)?.iter().any(|one| usize::from(*one) == number) != offline;
    let value = offline.then_some(&[VERSION, b'O'][..]);
    put_value(store, &partition_key(database, partition), value)?;
    Ok(is_new)
}

fn partition_key(database: &Database, partition: &str) -> Vec<u8> {
    [&database.name().bytes()[..], partition.as_bytes()].concat()
}

/// Whether a database holds no segments.
///
/// # Errors
/// If the store refuses.
pub fn is_empty<S: Store>(store: &S, database: &Database) -> Result<bool> {
    database.is_empty(store)
}

impl Database {
    /// Keeps everybody who uses this database out of the partitions that are recorded as offline
    /// ([`offline`]). Utilities do without that: it is for them that a partition is taken offline.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn heed_offline<S: Store>(&mut self, store: &S) -> Result<()> {
        let offline = offline(store, self)?;
        self.keep_out_of(offline);
        Ok(())
    }
}
