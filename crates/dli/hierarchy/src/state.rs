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
//! The set has the forms of the past, too ([`crate::form`]).
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

use std::sync::Arc;

use definitions::resolve::{Definitions, resolve_dbd};
use definitions::{Dbd, DbdName, SegmentName};
use placement::Placement;
use store::{Read, SetAttributes, SetId, Store, Unit, UnitOptions};

use crate::database::Database;
use crate::error::{Damaged, Differs, HierarchyError, Result};
use crate::form;
use crate::index::IndexTree;
use crate::number::Numbering;
use crate::relation;
use crate::schema::{Schema, TypeAt};

/// The set that holds it.
pub const SET: &str = "HOLDFAST.DATABASES";

const VERSION: u8 = 1;
/// With what the facts about segment types begin.
const SEGMENT: &str = "segment ";
/// The fact that segments of a type carry an identity.
const IDENTITY: &str = ", identity";

/// How a database or an index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It can be used.
    Ready,
    /// A load of the database was begun and has not ended.
    Loading,
    /// Its segments are being given the identity that a new index needs, and some have it.
    Numbering,
    /// The index has to be built.
    Due,
}

/// What is recorded of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// How it is.
    pub state: State,
    /// Its layout; empty for an index.
    pub layout: String,
    /// How far its numbering is; nothing where there is none.
    pub numbering: Numbering,
}

impl Record {
    fn new(state: State, layout: String) -> Record {
        Record { state, layout, numbering: Numbering::default() }
    }

    /// What of the layout says where roots go, as [`placement::Placement::identity`] does.
    #[must_use]
    pub fn placing(&self) -> String {
        let lines = self.layout.lines().filter(|line| !line.starts_with(SEGMENT));
        lines.flat_map(|line| [line, "\n"]).collect()
    }

    fn encode(&self) -> Vec<u8> {
        let state = match self.state {
            State::Ready => b'R',
            State::Loading => b'L',
            State::Numbering => b'N',
            State::Due => b'B',
        };
        let mut bytes = vec![VERSION, state];
        if self.state == State::Numbering {
            self.numbering.encode(&mut bytes);
        }
        bytes.extend_from_slice(self.layout.as_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> std::result::Result<Record, Damaged> {
        let (version, state, mut layout) = match bytes {
            [version, state, layout @ ..] => (*version, *state, layout),
            _ => return Err(Damaged("its state is too short")),
        };
        let mut numbering = Numbering::default();
        let state = match (version, state) {
            (VERSION, b'R') => State::Ready,
            (VERSION, b'L') => State::Loading,
            (VERSION, b'N') => {
                let bad = Damaged("how far its numbering is, is cut off");
                (numbering, layout) = Numbering::decode(layout).ok_or(bad)?;
                State::Numbering
            }
            (VERSION, b'B') => State::Due,
            (VERSION, _) => return Err(Damaged("its state is none that there is")),
            _ => return Err(Damaged("its state was written by a later release")),
        };
        let layout =
            str::from_utf8(layout).map_err(|_| Damaged("its recorded layout is no text"))?;
        Ok(Record { state, layout: layout.to_owned(), numbering })
    }
}

/// What is recorded of a database, or of an index.
///
/// # Errors
/// If the store refuses, or no release up to this one wrote it.
pub fn state_of<S: Store>(store: &S, name: DbdName) -> Result<Option<Record>> {
    let Some(set) = store.set(SET)? else { return Ok(None) };
    let mut unit = store.begin(UnitOptions::READ_ONLY)?;
    let mut value = Vec::new();
    let found = unit.get(set, name.bytes(), Read::Shared, &mut value)?;
    unit.commit()?;
    match found {
        false => Ok(None),
        true => Record::decode(&value)
            .map(Some)
            .map_err(|what| HierarchyError::Damaged { database: name, what }),
    }
}

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
        database.knows_placing = record.placing() == database.schema.placement.identity();
    }
    match record.state {
        State::Numbering => Err(HierarchyError::Numbering(name)),
        state => Ok(state),
    }
}

/// As [`compare`], for those who need no randomizers of a hashed database.
///
/// # Errors
/// As [`compare`].
pub fn compare_to_read(database: DbdName, was: &str, is: &str) -> Result<()> {
    compare(database, &without_randomizers(was), &without_randomizers(is))
}

/// A layout without what it says of the randomizers of a hashed database. Roots by key may be those
/// of a database without anchors, so that is kept.
fn without_randomizers(layout: &str) -> String {
    let cut = |line: &str| {
        let at = ["roots by hash", "roots by list"].iter().find_map(|words| line.find(words));
        match at.filter(|_| !line.starts_with(SEGMENT)) {
            Some(at) => format!("{}roots by a randomizer\n", &line[..at]),
            None => format!("{line}\n"),
        }
    };
    layout.lines().map(cut).collect()
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
    record(store, database, State::Loading)
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

fn put<S: Store>(store: &S, name: DbdName, record: Option<&Record>) -> Result<()> {
    put_value(store, name.bytes(), record.map(Record::encode).as_deref())
}

/// Records something of a database within a unit of work; its set is there already.
pub(crate) fn put_in<S: Store>(
    store: &S,
    unit: &mut S::Unit,
    name: DbdName,
    record: &Record,
) -> Result<()> {
    match store.set(SET)? {
        Some(set) => Ok(unit.put(set, name.bytes(), &record.encode())?),
        None => Err(HierarchyError::Damaged { database: name, what: Damaged("its state is gone") }),
    }
}

pub(crate) fn put_value<S: Store>(store: &S, key: &[u8], value: Option<&[u8]>) -> Result<()> {
    let set = match (store.set(SET)?, value) {
        (Some(set), _) => set,
        (None, None) => return Ok(()),
        (None, Some(_)) => store.create_set(SET, &SetAttributes::default())?,
    };
    store::run(store, UnitOptions::default(), |unit| match value {
        Some(value) => unit.put(set, key, value),
        None => unit.delete(set, key).map(drop),
    })?;
    Ok(())
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
    for set in &database.sets {
        if !is_empty_set(store, *set)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether any set of a database holds something, also those of partitions that the settings no
/// longer name: what they hold would be out of reach.
///
/// # Errors
/// If the store refuses.
pub fn holds_something<S: Store>(store: &S, name: DbdName) -> Result<bool> {
    for set in store.sets()? {
        let part = set.name.strip_prefix(name.text());
        let is_segments = part.is_some_and(|part| {
            part.is_empty() || part.strip_prefix('.').is_some_and(|part| !part.contains('.'))
        });
        if is_segments && !is_empty_set(store, set.id)? {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) fn is_empty_set<S: Store>(store: &S, set: SetId) -> Result<bool> {
    let mut unit = store.begin(UnitOptions::READ_ONLY)?;
    let mut cursor = store.cursor(set)?;
    let empty = unit.next(&mut cursor, Read::Unlocked)?.is_none();
    unit.commit()?;
    Ok(empty)
}

/// The layout of a database.
#[must_use]
pub fn layout(schema: &Schema) -> String {
    use std::fmt::Write as _;
    let mut text = schema.placement.identity();
    for (at, kind) in schema.types.iter().enumerate().filter(|(_, kind)| !kind.is_virtual) {
        let parent = kind.parent.map_or(0, TypeAt::code);
        let _ = write!(text, "{SEGMENT}{} code {} under {parent}", kind.name, at + 1);
        if let Some(key) = kind.key {
            let unique = if key.unique { "unique " } else { "" };
            let _ = write!(text, ", {unique}key {} at {}", key.len, key.offset);
            let order = schema.key_collation(TypeAt(at as u8)).name();
            let _ = write!(text, " {order}");
        }
        let parts = [
            (kind.has_identity, IDENTITY),
            (kind.is_logical_child, ", logical child"),
            (kind.is_logical_parent, ", logical parent"),
            (kind.is_above_logical, ", above logical"),
            (kind.compression.is_some(), ", compressed"),
        ];
        text.extend(parts.into_iter().filter(|(has, _)| *has).map(|(_, part)| part));
        text.push('\n');
    }
    text
}

/// The segment types that carry an identity under a recorded layout.
pub(crate) fn with_identity(layout: &str) -> impl Iterator<Item = SegmentName> + '_ {
    let segments = layout.lines().filter_map(|line| line.strip_prefix(SEGMENT));
    let carrying = segments.filter(|line| line.contains(IDENTITY));
    carrying.filter_map(|line| SegmentName::new(line.split(' ').next()?))
}

/// The indexes of a definition for which segments that are stored under a layout lack an identity,
/// each with the segment type.
#[must_use]
pub fn unnumbered(
    dbd: &Arc<Dbd>,
    definitions: &dyn Definitions,
    recorded: &str,
) -> Vec<(DbdName, SegmentName)> {
    let (indexes, _) = resolve_dbd(dbd, definitions);
    let needing = indexes.iter().filter(|index| IndexTree::needs_identity(index));
    let sources = needing.filter_map(|index| {
        let source = dbd.segments.get(TypeAt::of_code(index.source_code)?.index())?;
        Some((index.dbd, source.name))
    });
    sources.filter(|(_, source)| with_identity(recorded).all(|one| one != *source)).collect()
}

/// The layout that a definition gives a database which holds data under a recorded layout, without
/// touching the store. An identity that an index needs is not part of it: building the index gives
/// it ([`unnumbered`]).
///
/// # Errors
/// If a definition that it needs is missing.
pub fn layout_of(
    dbd: &Arc<Dbd>,
    definitions: &dyn Definitions,
    placement: Placement,
    recorded: &str,
) -> Result<String> {
    schema_of(dbd, definitions, placement, recorded).map(|schema| layout(&schema))
}

/// The schema that comes with it.
pub(crate) fn schema_of(
    dbd: &Arc<Dbd>,
    definitions: &dyn Definitions,
    placement: Placement,
    recorded: &str,
) -> Result<Schema> {
    let (as_child, _) = relation::open(dbd, definitions, |_| Ok(SetId(0)))?;
    let unordered = as_child.iter().filter(|relation| !relation.unique);
    let mut with_identity: Vec<TypeAt> = unordered.map(|relation| relation.child).collect();
    let carrying = self::with_identity(recorded).filter_map(|name| dbd.position(name));
    with_identity.extend(carrying.map(|at| TypeAt(at as u8)));
    let placement = Arc::new(placement);
    let elsewhere = |one| relation::is_elsewhere(dbd, one, definitions);
    Ok(Schema::new(dbd, placement, |one| with_identity.contains(&one), elsewhere))
}

/// Whether data of one layout can be used under another one: it places roots alike, and has at
/// least the same segment types.
///
/// # Errors
/// The first fact that differs.
pub fn compare(database: DbdName, was: &str, is: &str) -> Result<()> {
    let is_segment = |line: &&str| line.starts_with(SEGMENT);
    let mut now = is.lines().filter(|line| !is_segment(line));
    for line in was.lines().filter(|line| !is_segment(line)) {
        let other = now.next().unwrap_or("");
        if line != other {
            let (was, is) = (line.to_owned(), other.to_owned());
            return Err(HierarchyError::Placed(Box::new(Differs { database, was, is })));
        }
    }
    if let Some(more) = now.next() {
        let (was, is) = ("fewer partitions".to_owned(), more.to_owned());
        return Err(HierarchyError::Placed(Box::new(Differs { database, was, is })));
    }
    for line in was.lines().filter(is_segment) {
        if is.lines().any(|one| one == line) {
            continue;
        }
        let name = |line: &str| line.split(' ').nth(1).map(str::to_owned);
        let other = is.lines().filter(is_segment).find(|one| name(one) == name(line));
        let (was, is) = (line.to_owned(), other.unwrap_or("").to_owned());
        return Err(HierarchyError::LaidOut(Box::new(Differs { database, was, is })));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_and_anything_else_is_named() {
        for state in [State::Ready, State::Loading, State::Due] {
            let record = Record::new(state, "collation binary\n".into());
            assert_eq!(Record::decode(&record.encode()), Ok(record));
        }
        let numbering = Numbering { types: vec![TypeAt(0), TypeAt(4)], reached: b"0001".to_vec() };
        let layout = "collation binary\n".to_owned();
        let record = Record { state: State::Numbering, layout, numbering };
        assert_eq!(Record::decode(&record.encode()), Ok(record));
        let wrong =
            [&b""[..], b"\x01", b"\x01X", b"\x02R", b"\x01R\xFF", b"\x01N", b"\x01N\x00\x00\x01"];
        for bytes in wrong {
            assert!(Record::decode(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn a_layout_without_randomizers_says_the_rest() {
        let layout = "collation binary\n\
                      partition A up to x, roots by list of 3 keys 00, others behind\n\
                      segment HASH code 1 under 0\n";
        let other = layout.replace("list of 3 keys 00, others behind", "hash, 9 blocks, 2 anchors");
        assert_eq!(without_randomizers(layout), without_randomizers(&other));
        assert_ne!(
            without_randomizers(layout),
            without_randomizers(&layout.replace("up to x", ""))
        );
        let by_key = "collation binary\nroots by key\n";
        assert_eq!(without_randomizers(by_key), by_key);
    }

    #[test]
    fn more_segments_fit_and_other_places_do_not() {
        let name = DbdName::new("CUSTDB").unwrap();
        let was = "collation binary\nroots by key\nsegment A code 1 under 0\n";
        let more = format!("{was}segment B code 2 under 1\n");
        assert!(compare(name, was, was).is_ok() && compare(name, was, &more).is_ok());
        let gone = compare(name, &more, was).unwrap_err().to_string();
        assert!(gone.contains("segment B") && gone.contains("gone"), "{gone}");
        let moved = compare(name, was, &was.replace("binary", "ebcdic")).unwrap_err();
        assert!(matches!(moved, HierarchyError::Placed(_)), "{moved}");
    }
}
