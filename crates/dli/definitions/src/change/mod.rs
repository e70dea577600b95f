//! What a new version of a DBD means for the data that is stored under the old one.
//!
//! A stored key holds codes, root and twin keys of its path (rule H2), so what changes a key or a
//! length of fixed segments needs an unload with the old and a load with the new definition. What
//! no unload could carry over is refused.
//!
//! Invariants:
//! 1. What is not named here changes nothing that is stored: rules, exits, names of data sets,
//!    external names, pointers.
//! 2. Segments are compared by their names; a renamed one is one that went and one that came.

mod segments;

use crate::model::{Dbd, DbdName, Organization, Randomizer};

/// What must be done about a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing: the data stays as it is.
    Harmless,
    /// An index must be built or built again.
    BuildIndex(DbdName),
    /// Roots go to other places, unless the settings say where they go: then the database must be
    /// unloaded with the old and loaded with the new definition.
    Moves,
    /// The database must be unloaded with the old and loaded with the new definition.
    Reload,
    /// Data would be lost: refused while the database holds any.
    LosesData,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What must be done about it.
    pub effect: Effect,
    /// What changed, and what that means, for people.
    pub what: String,
}

/// The most severe effect of changes.
#[must_use]
pub fn effect(changes: &[Change]) -> Effect {
    changes.iter().map(|change| change.effect).max().unwrap_or(Effect::Harmless)
}

/// Gathers changes.
#[derive(Default)]
struct Changes(Vec<Change>);

impl Changes {
    fn add(&mut self, effect: Effect, what: impl Into<String>) {
        self.0.push(Change { effect, what: what.into() });
    }
}

/// What the new version changes for a database that holds data under the old one.
#[must_use]
pub fn compare(old: &Dbd, new: &Dbd) -> Vec<Change> {
    let mut changes = Changes::default();
    if !organization(old, new, &mut changes) {
        return changes.0;
    }
    randomizers(old, new, &mut changes);
    gsam(old, new, &mut changes);
    segments::compare(old, new, &mut changes);
    indexes(old, new, &mut changes);
    changes.0
}

/// Whether the two can be compared further.
fn organization(old: &Dbd, new: &Dbd, changes: &mut Changes) -> bool {
    let (was, is) = (old.organization, new.organization);
    if was == is {
        return true;
    }
    let keeps_segments = |organization: Organization| {
        !organization.is_index()
            && !matches!(organization, Organization::Gsam | Organization::Logical)
    };
    if keeps_segments(was) && keeps_segments(is) {
        let what = format!("{} becomes {is} from {was}: unload and load it", new.name);
        changes.add(Effect::Reload, what);
        return true;
    }
    if was == Organization::Logical {
        let what = format!("{} was logical and held no data of its own", new.name);
        changes.add(Effect::Harmless, what);
    } else if was.is_index() && is.is_index() {
        let what = format!("the index {} becomes {is} from {was}: build it again", new.name);
        changes.add(Effect::BuildIndex(new.name), what);
    } else {
        let what = format!(
            "{} becomes {is} from {was}: its data has no place there; empty it first",
            new.name
        );
        changes.add(Effect::LosesData, what);
    }
    false
}

fn randomizers(old: &Dbd, new: &Dbd, changes: &mut Changes) {
    let hashed = old.organization.is_hashed() && new.organization.is_hashed();
    let part = |dbd: &Dbd| -> Option<(String, Option<u32>, Option<u32>)> {
        let Randomizer { module, anchors, blocks, .. } = dbd.randomizer.as_ref()?;
        Some((module.to_string(), *anchors, *blocks))
    };
    if hashed && part(old) != part(new) {
        let what = format!(
            "RMNAME= of {} changes, so roots go to other places: unload and load it",
            new.name
        );
        changes.add(Effect::Moves, what);
    }
    let partitioned = old.organization.is_partitioned() && new.organization.is_partitioned();
    if partitioned && old.partition_exit != new.partition_exit {
        let what = format!(
            "PSNAME= of {} changes, so roots go to other partitions: unload and load it",
            new.name
        );
        changes.add(Effect::Moves, what);
    }
}

fn gsam(old: &Dbd, new: &Dbd, changes: &mut Changes) {
    if new.organization != Organization::Gsam {
        return;
    }
    let form = |dbd: &Dbd| dbd.data_sets.first().map(|set| (set.record_format.clone(), set.record));
    if form(old) != form(new) {
        let what =
            format!("{} changes its records: files that exist are read in the new form", new.name);
        changes.add(Effect::Harmless, what);
    }
}

/// Secondary indexes, and the segment of an index database itself.
fn indexes(old: &Dbd, new: &Dbd, changes: &mut Changes) {
    for (at, _, child, indexed) in new.secondary_indexes() {
        let target = new.segments[at].name;
        let before = old.secondary_indexes().find(|(_, _, was, _)| was.dbd == child.dbd);
        let Some((was_at, _, _, was)) = before else {
            let what = format!("the index {} on {target} is new: build it", child.dbd);
            changes.add(Effect::BuildIndex(child.dbd), what);
            continue;
        };
        let meaning = |dbd: &Dbd, at: usize, field: &crate::model::IndexedField| {
            let source = field.source.map_or(Some(at), |name| dbd.position(name));
            let place = |name: &crate::model::FieldName| {
                let field = dbd.field(source?, *name)?;
                Some((field.start, field.len, field.kind))
            };
            let places =
                |names: &[crate::model::FieldName]| -> Vec<_> { names.iter().map(place).collect() };
            (
                source.and_then(|source| Some(dbd.segments.get(source)?.name)),
                dbd.segments.get(at).map(|segment| segment.name),
                [places(&field.search), places(&field.subsequence), places(&field.data)],
                (field.constant, field.null, field.exit),
            )
        };
        if meaning(old, was_at, was) != meaning(new, at, indexed) {
            let what = format!("the index {} on {target} changes: build it again", child.dbd);
            changes.add(Effect::BuildIndex(child.dbd), what);
        }
    }
    for (_, _, child, _) in old.secondary_indexes() {
        if new.secondary_indexes().all(|(_, _, is, _)| is.dbd != child.dbd) {
            let what = format!("the index {} goes: its entries are dropped", child.dbd);
            changes.add(Effect::Harmless, what);
        }
    }
}
