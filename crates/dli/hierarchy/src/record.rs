//! What is recorded of databases and indexes beside their data, and how that is stored.
//!
//! | bytes of a record | |
//! |---|---|
//! | 1 | version |
//! | 1 | `R` ready, `L` loading, `N` numbering, `B` to be built |
//! | | of a numbering: count and codes of types, length and bytes of the path reached |
//! | rest | the layout |

use definitions::DbdName;
use store::{Cursor, KeyRange, Read, SetAttributes, SetId, Store, Unit, UnitOptions};

use crate::error::{Damaged, HierarchyError, Result};
use crate::layout::SEGMENT;
use crate::schema::TypeAt;

/// The set that holds it.
pub const SET: &str = "HOLDFAST.DATABASES";

pub(crate) const VERSION: u8 = 1;

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

/// How far a numbering is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbering {
    /// The types whose segments are numbered.
    pub types: Vec<TypeAt>,
    /// The path up to which they are; empty at the beginning.
    pub reached: Vec<u8>,
}

impl Record {
    pub(crate) fn new(state: State, layout: String) -> Record {
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

impl Numbering {
    pub(crate) fn encode(&self, to: &mut Vec<u8>) {
        // A DBD has 255 segment types at most, and a path is shorter than a key of the store.
        to.push(self.types.len() as u8);
        to.extend(self.types.iter().map(|of| of.code()));
        to.extend_from_slice(&(self.reached.len() as u16).to_be_bytes());
        to.extend_from_slice(&self.reached);
    }

    /// Reads what [`Numbering::encode`] wrote, and what stands behind it.
    pub(crate) fn decode(bytes: &[u8]) -> Option<(Numbering, &[u8])> {
        let (count, rest) = bytes.split_first()?;
        let (codes, rest) = rest.split_at_checked(usize::from(*count))?;
        let (len, rest) = rest.split_first_chunk()?;
        let (reached, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))?;
        let types = codes.iter().map(|code| TypeAt::of_code(*code)).collect::<Option<_>>()?;
        Some((Numbering { types, reached: reached.to_vec() }, rest))
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

pub(crate) fn put<S: Store>(store: &S, name: DbdName, record: Option<&Record>) -> Result<()> {
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

/// What was noted of a database under a kind and positions of the log, the oldest first. `decode`
/// has the position and the value; where it knows no such value, `what` is damaged.
pub(crate) fn noted<S: Store, T>(
    store: &S,
    name: DbdName,
    kind: u8,
    what: Damaged,
    decode: impl Fn(u64, &[u8]) -> Option<T>,
) -> Result<Vec<T>> {
    let Some(set) = store.set(SET)? else { return Ok(Vec::new()) };
    let mut unit = store.begin(UnitOptions::READ_ONLY)?;
    let mut cursor = store.cursor(set)?;
    let front = [&name.bytes()[..], &[kind]].concat();
    let mut end = Vec::new();
    cursor.limit(KeyRange::prefix(&front, &mut end));
    let mut all = Vec::new();
    while let Some(entry) = unit.next(&mut cursor, Read::Shared)? {
        let at = entry.key.get(front.len()..).and_then(|at| at.try_into().ok());
        let noted = at.and_then(|at| decode(u64::from_be_bytes(at), entry.value));
        all.push(noted.ok_or(HierarchyError::Damaged { database: name, what })?);
    }
    unit.commit()?;
    Ok(all)
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
    fn how_far_a_numbering_is_comes_back_and_what_is_cut_off_is_none() {
        let numbering = Numbering { types: vec![TypeAt(0), TypeAt(6)], reached: b"PATH".to_vec() };
        let mut bytes = Vec::new();
        numbering.encode(&mut bytes);
        let len = bytes.len();
        bytes.extend_from_slice(b"behind");
        assert_eq!(Numbering::decode(&bytes), Some((numbering, &b"behind"[..])));
        assert!((0..len).all(|len| Numbering::decode(&bytes[..len]).is_none()));
        assert_eq!(Numbering::decode(&[1, 0, 0, 0]), None);
    }
}
