//! In which form the data of a database was at which time: what a recovery to a point has to know.
//!
//! The data sets of a database go back to a point of the log; what the system says of them stays as
//! it is. So each new form is kept with the position of the log where it began, in the set of
//! [`crate::state`]:
//!
//! | key | value |
//! |---|---|
//! | name of a DBD, X'00', position in 8 bytes (big endian) | version 1, then the form as text |
//!
//! The form of a database is its layout, then a line for the lengths of each segment type;
//! [`MOVING`] while a load or a numbering is under way. That of an index is [`DUE`] or [`BUILT`].
//!
//! Invariants:
//! 1. A form is noted before anything is stored in it.
//! 2. Only what differs from the form before is noted.

use std::sync::Arc;

use definitions::resolve::Definitions;
use definitions::{Dbd, DbdName};
use placement::Placement;
use store::{Cursor, KeyRange, Read, Store, Unit, UnitOptions};

use crate::database::Database;
use crate::error::{Damaged, Differs, HierarchyError, Result};
use crate::layout::{self, layout};
use crate::record::{self, State};
use crate::schema::Schema;

/// The form of data that a load or a numbering had not ended with.
pub const MOVING: &str = "moving\n";
/// The form of an index that had to be built.
pub const DUE: &str = "due\n";
/// The form of one that was built.
pub const BUILT: &str = "built\n";

const VERSION: u8 = 1;
/// With what the facts about lengths begin.
const LENGTHS: &str = "lengths ";

/// Notes the form that a database has from now on.
pub(crate) fn note<S: Store>(store: &S, database: &Database, state: State) -> Result<()> {
    match state {
        State::Loading | State::Numbering => note_text(store, database.name(), MOVING),
        State::Ready | State::Due => note_text(store, database.name(), &form(&database.schema)),
    }
}

pub(crate) fn note_text<S: Store>(store: &S, name: DbdName, form: &str) -> Result<()> {
    let position = store.position();
    if at(store, name, u64::MAX)?.is_some_and(|last| last == form) {
        return Ok(());
    }
    let value = [&[VERSION], form.as_bytes()].concat();
    record::put_value(store, &key(name, position), Some(&value))
}

fn key(name: DbdName, position: u64) -> Vec<u8> {
    [&name.bytes()[..], &[0], &position.to_be_bytes()].concat()
}

/// The form of a database, or of an index, as it was before a position of the log; `None` if
/// nothing is known of that time.
///
/// # Errors
/// If the store refuses, or no release up to this one wrote it.
pub fn at<S: Store>(store: &S, name: DbdName, position: u64) -> Result<Option<String>> {
    let Some(set) = store.set(record::SET)? else { return Ok(None) };
    let mut unit = store.begin(UnitOptions::READ_ONLY)?;
    let mut cursor = store.cursor(set)?;
    let (from, to) = (key(name, 0), key(name, position));
    cursor.limit(KeyRange::between(&from, &to));
    let mut found = None;
    while let Some(entry) = unit.next(&mut cursor, Read::Shared)? {
        let damaged = |what| HierarchyError::Damaged { database: name, what: Damaged(what) };
        let form = match entry.value.split_first() {
            Some((&VERSION, form)) => form,
            _ => return Err(damaged("a form of its past was written by a later release")),
        };
        let form = str::from_utf8(form).map_err(|_| damaged("a form of its past is no text"))?;
        found = Some(form.to_owned());
    }
    unit.commit()?;
    Ok(found)
}

/// The form of a database.
fn form(schema: &Schema) -> String {
    let mut text = layout(schema);
    for kind in schema.types.iter().filter(|kind| !kind.is_virtual) {
        let lengths = match kind.variable {
            true => format!("{} to {}", kind.min, kind.max),
            false => kind.max.to_string(),
        };
        text += &format!("{LENGTHS}{} {lengths}\n", kind.name);
    }
    text
}

/// The layout in a form.
pub(crate) fn layout_in(form: &str) -> String {
    let lines = form.lines().filter(|line| !line.starts_with(LENGTHS));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The form that a definition gives a database whose data was stored in another one, without
/// touching the store.
///
/// # Errors
/// If a definition that it needs is missing.
pub fn of(
    dbd: &Arc<Dbd>,
    definitions: &dyn Definitions,
    placement: Placement,
    recorded: &str,
) -> Result<String> {
    layout::schema_of(dbd, definitions, placement, recorded).map(|schema| form(&schema))
}

/// Whether data of the form that a database had at a point can be used under the one that it is
/// given now.
///
/// # Errors
/// [`HierarchyError::Moving`]; [`HierarchyError::OtherForm`] with the first fact that differs.
pub fn compare(database: DbdName, was: &str, is: &str) -> Result<()> {
    if was == MOVING {
        return Err(HierarchyError::Moving(database));
    }
    let other = |differs: Box<Differs>| HierarchyError::OtherForm(differs);
    match layout::compare(database, &layout_in(was), &layout_in(is)) {
        Err(HierarchyError::Placed(differs) | HierarchyError::LaidOut(differs)) => {
            return Err(other(differs));
        }
        compared => compared?,
    }
    for line in was.lines().filter(|line| line.starts_with(LENGTHS)) {
        let name = line.split(' ').nth(1);
        let mut now = is.lines().filter(|line| line.starts_with(LENGTHS));
        let Some(now) = now.find(|now| now.split(' ').nth(1) == name) else { continue };
        if now != line && !holds(now, line) {
            let (was, is) = (line.to_owned(), now.to_owned());
            return Err(other(Box::new(Differs { database, was, is })));
        }
    }
    Ok(())
}

/// Whether segments of a type may be as long now as they were: both variable, and no length gone.
fn holds(now: &str, was: &str) -> bool {
    let range = |line: &str| -> Option<(usize, usize)> {
        let (least, most) = line.split_once(" to ")?;
        Some((least.split(' ').next_back()?.parse().ok()?, most.parse().ok()?))
    };
    range(now).zip(range(was)).is_some_and(|(now, was)| now.0 <= was.0 && was.1 <= now.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_of_another_time_fits_where_nothing_of_its_form_has_gone() {
        let name = DbdName::new("CUSTDB").unwrap();
        let form = |kind: &str, lengths: &str| {
            format!("collation binary\nroots by key\nsegment A code 1 under 0{kind}\n{lengths}\n")
        };
        let was = form("", "lengths A 4 to 30");
        for is in [was.clone(), form("", "lengths A 4 to 40"), form("", "lengths A 2 to 30")] {
            compare(name, &was, &is).unwrap();
        }
        for (is, word) in [
            (form("", "lengths A 30"), "lengths A 4 to 30"),
            (form("", "lengths A 4 to 20"), "lengths A 4 to 20"),
            (form(", compressed", "lengths A 4 to 30"), "compressed"),
            (was.replace("binary", "ebcdic"), "collation ebcdic"),
        ] {
            let error = compare(name, &was, &is).unwrap_err();
            assert!(matches!(&error, HierarchyError::OtherForm(_)), "{error}");
            assert!(error.to_string().contains(word), "{error}");
        }
        assert!(matches!(compare(name, MOVING, &was), Err(HierarchyError::Moving(_))));
        assert_eq!(layout_in(&was), was.replace("lengths A 4 to 30\n", ""));
    }
}
