//! The layout of a database: the facts from which its stored keys and values follow, as lines of
//! text, and whether data of one layout can be used under another.
//!
//! Invariants:
//! 1. Two schemas with the same layout store the same data alike.

use std::sync::Arc;

use definitions::resolve::{Definitions, resolve_dbd};
use definitions::{Dbd, DbdName, SegmentName};
use placement::{ENCODING, Placement, places_of};
use store::SetId;

use crate::error::{Differs, HierarchyError, Result};
use crate::index::IndexTree;
use crate::relation;
use crate::schema::{Schema, TypeAt};

/// With what the facts about segment types begin.
pub(crate) const SEGMENT: &str = "segment ";
/// The fact that segments of a type carry an identity.
const IDENTITY: &str = ", identity";

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

fn is_encoding(line: &&str) -> bool {
    line.starts_with(ENCODING)
}

/// Whether two placements put roots into the same places, whatever code page either says.
#[must_use]
pub fn same_places(one: &str, other: &str) -> bool {
    places_of(one) == places_of(other)
}

/// Whether data of one layout can be used under another one: it places roots alike, and has at
/// least the same segment types.
///
/// # Errors
/// The first fact that differs.
pub fn compare(database: DbdName, was: &str, is: &str) -> Result<()> {
    let encoding = |text: &str| text.lines().find(is_encoding).map(str::to_owned);
    // Data that is older than this line says nothing.
    if let (Some(was), Some(is)) = (encoding(was), encoding(is))
        && was != is
    {
        return Err(HierarchyError::Placed(Box::new(Differs { database, was, is })));
    }
    let is_segment = |line: &&str| line.starts_with(SEGMENT);
    let is_place = |line: &&str| !is_segment(line) && !is_encoding(line);
    let mut now = is.lines().filter(is_place);
    for line in was.lines().filter(is_place) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
        // What was stored before code pages were kept takes the one that is set.
        let (ascii, ebcdic) = (format!("{was}encoding ascii\n"), format!("{was}encoding ebcdic\n"));
        assert!(compare(name, was, &ascii).is_ok() && compare(name, was, &ebcdic).is_ok());
        for (was, is) in [(&ascii, &ebcdic), (&ebcdic, &ascii)] {
            let other = compare(name, was, is).unwrap_err();
            assert!(matches!(other, HierarchyError::Placed(_)), "{other}");
        }
        assert!(same_places(&ascii, was) && !same_places(was, &more));
    }
}
