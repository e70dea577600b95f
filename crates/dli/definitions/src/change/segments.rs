//! Segments that went, came, moved or changed.

use super::{Changes, Effect};
use crate::model::{Dbd, Segment, SegmentName};

pub(super) fn compare(old: &Dbd, new: &Dbd, changes: &mut Changes) {
    // An index holds what its target gives it, so it can always be built again.
    let is_index = new.organization.is_index();
    if new.organization == crate::model::Organization::Logical {
        return;
    }
    let build = Effect::BuildIndex(new.name);
    let reload = if is_index { build } else { Effect::Reload };
    let loses = if is_index { build } else { Effect::LosesData };
    for was in &old.segments {
        match new.segment(was.name) {
            None if was.is_virtual() => {
                let what = format!("the virtual segment {} goes: it held no data", was.name);
                changes.add(Effect::Harmless, what);
            }
            None => {
                let what = format!("the segment {} goes, and its data with it", was.name);
                changes.add(loses, what);
            }
            Some(is) => {
                place(old, was, new, is, reload, loses, changes);
                keys(was, is, reload, changes);
                lengths(was, is, reload, loses, changes);
                relationship(was, is, reload, changes);
            }
        }
    }
    for is in new.segments.iter().filter(|is| old.segment(is.name).is_none()) {
        let what = format!("the segment {} is new: it starts without occurrences", is.name);
        changes.add(Effect::Harmless, what);
    }
}

fn parent_name(dbd: &Dbd, segment: &Segment) -> Option<SegmentName> {
    let at = usize::from(segment.parent?);
    dbd.segments.get(at).map(|parent| parent.name)
}

fn place(
    old: &Dbd,
    was: &Segment,
    new: &Dbd,
    is: &Segment,
    reload: Effect,
    loses: Effect,
    changes: &mut Changes,
) {
    let name = is.name;
    if parent_name(old, was) != parent_name(new, is) {
        let what = format!("the segment {name} gets another parent, which an unload cannot carry");
        changes.add(loses, what);
    } else if was.code != is.code {
        let what = format!(
            "the segment {name} gets the code {} for {}: unload and load the database",
            is.code, was.code
        );
        changes.add(reload, what);
    }
    if was.sequential != is.sequential {
        let what = format!("the segment {name} changes TYPE=: unload and load the database");
        changes.add(reload, what);
    }
}

fn keys(was: &Segment, is: &Segment, reload: Effect, changes: &mut Changes) {
    let key = |segment: &Segment| segment.key().map(|key| (key.start, key.len));
    let name = is.name;
    let todo = match reload {
        Effect::BuildIndex(_) => "build it again",
        _ => "unload and load the database",
    };
    if key(was) != key(is) {
        let what = format!("the key of {name} changes: {todo}");
        changes.add(reload, what);
    } else if was.has_unique_key() != is.has_unique_key() {
        let what = match (is.has_unique_key(), reload) {
            (true, Effect::BuildIndex(_)) => {
                format!("the key of {name} becomes unique: {todo}, which will refuse equal ones")
            }
            (true, _) => format!("the key of {name} becomes unique: a load will refuse equal ones"),
            (false, _) => format!("the key of {name} need not be unique any more: {todo}"),
        };
        changes.add(reload, what);
    }
    let single = (was.pointers.has("NOTWIN"), is.pointers.has("NOTWIN"));
    if single == (false, true) {
        let what = format!("{name} becomes NOTWIN: a load will refuse second twins");
        changes.add(reload, what);
    }
}

fn lengths(was: &Segment, is: &Segment, reload: Effect, loses: Effect, changes: &mut Changes) {
    let name = is.name;
    if was.variable != is.variable {
        let form = if is.variable { "variable" } else { "fixed" };
        let what = format!("the segment {name} gets a {form} length: unload and load the database");
        changes.add(reload, what);
    }
    if is.max < was.max {
        let what = format!(
            "the segment {name} shrinks from {} to {} bytes, which would cut data off",
            was.max, is.max
        );
        changes.add(loses, what);
    } else if is.variable && was.variable {
        if is.min > was.min {
            let what = format!(
                "the shortest length of {name} grows from {} to {}: unload and load the database",
                was.min, is.min
            );
            changes.add(reload, what);
        } else if is.max > was.max {
            let what = format!("the segment {name} may be longer than before");
            changes.add(Effect::Harmless, what);
        }
    } else if is.max > was.max {
        let what = format!(
            "the segment {name} grows from {} to {} bytes: unload and load the database",
            was.max, is.max
        );
        changes.add(reload, what);
    }
    if was.compression != is.compression {
        let what = format!("COMPRTN= of {name} changes: unload and load the database");
        changes.add(reload, what);
    }
}

fn relationship(was: &Segment, is: &Segment, reload: Effect, changes: &mut Changes) {
    let parent = |segment: &Segment| {
        segment.logical_parent.as_ref().map(|parent| (parent.dbd, parent.segment))
    };
    if parent(was) != parent(is) || was.sources != is.sources {
        let what = format!("the logical parent of {} changes: unload and load both", is.name);
        changes.add(reload, what);
    }
}
