//! An index used as a database: a PCB that names its DBD (DLI-12.70).
//!
//! | index | what the segment stands for | what may be done |
//! |---|---|---|
//! | secondary | an entry: key, duplicate data, symbolic pointer, user data | gets; REPL of user data; DLET unless the DBD says PROT |
//! | primary, of HIDAM | the key of a root | gets |
//!
//! Invariants:
//! 1. A view of entries has the target's database as the home of its one segment, and the segment
//!    as the index's DBD describes it.
//! 2. A view of a primary index is one of the root, of which only the key is seen.

use super::databases::is_primary;
use super::index::{Index, complete, describe};
use super::segments::home;
use super::set::Definitions;
use super::structure::Type;
use super::view::{SeenField, ViewSegment};
use crate::codes;
use crate::finding::{Findings, Spot};
use crate::model::Dbd;

/// What the segment of an index stands for.
pub(super) enum IndexUse {
    /// The entries of a secondary index.
    Entries(Index),
    /// The keys of the roots.
    Roots(Type),
}

/// What an index that a PCB names is for.
pub(super) fn index_use(
    dbd: &Dbd,
    spot: Spot,
    all: &dyn Definitions,
    found: &mut Findings,
) -> Option<IndexUse> {
    let of = dbd.segments.iter().find_map(|segment| {
        let mut targets = segment.children.iter();
        targets.find_map(|target| {
            let of = all.dbd(target.dbd)?;
            let secondary = of.secondary_indexes().find_map(|(at, _, child, indexed)| {
                let pairs = (child.dbd, child.segment) == (dbd.name, segment.name)
                    && target.index == Some(indexed.name);
                pairs.then(|| describe(&of, at, child, indexed)).flatten()
            });
            if let Some(mut index) = secondary {
                complete(&mut index, dbd);
                return Some(IndexUse::Entries(index));
            }
            let mut children = of.root()?.children.iter();
            let names = children.any(|child| is_primary(child) && child.dbd == dbd.name);
            names.then(|| IndexUse::Roots(Type { dbd: of.clone(), at: 0 }))
        })
    });
    if of.is_none() {
        let message = format!("{} is an index, and its target does not name it", dbd.name);
        found.error(codes::INDEX_PAIR, (spot, "NAME"), message).help(format!(
            "write an LCHILD for it in the DBD of the target, and compile that; or take the \
                 index out: `holdfast gen --remove {}`",
            dbd.name
        ));
    }
    of
}

impl IndexUse {
    /// The options that make sense, and why not others.
    pub(super) fn options(&self) -> (&'static str, &'static str) {
        match self {
            IndexUse::Entries(index) if index.protected => {
                ("GRPONTEKS", "a protected index takes neither inserts nor deletes")
            }
            IndexUse::Entries(_) => ("GRDPONTEKS", "an index takes no inserts"),
            IndexUse::Roots(_) => ("GPONTEKS", "a primary index can only be read"),
        }
    }

    /// Gives the index's segment its home.
    pub(super) fn settle(&self, segment: &mut ViewSegment) {
        match self {
            IndexUse::Entries(index) => {
                segment.home.dbd = index.target_dbd;
                segment.home.segment = index.target;
                segment.home.code = index.target_code;
                segment.stored = segment.home;
            }
            IndexUse::Roots(root) => {
                segment.home = home(root);
                segment.stored = segment.home;
                let key = root.segment().key();
                let Some((key, from)) = key.and_then(|key| Some((key, key.offset()?))) else {
                    return;
                };
                // An offset within a segment, which has 64 KiB at most.
                let from = from as u16;
                let within =
                    |len: u16, at: u16| u32::from(at) + u32::from(len) <= u32::from(key.len);
                segment.fields.retain(|field| within(field.len, field.offset));
                for field in &mut segment.fields {
                    field.offset += from;
                }
                if let Some(own) = &mut segment.key {
                    own.offset += from;
                }
            }
        }
    }

    /// Without sensitive fields of its own a root is seen as its key.
    pub(super) fn narrow(&self, segment: &mut ViewSegment) {
        let IndexUse::Roots(_) = self else { return };
        let from = segment.key.map_or(0, |key| key.offset);
        if segment.access.seen.is_empty() {
            let seen = |field: &super::view::ViewField| SeenField {
                field: *field,
                offset: field.offset.saturating_sub(from),
                replace: false,
            };
            segment.access.seen = segment.fields.iter().map(seen).collect();
            segment.access.seen_len = u32::from(segment.form.max);
        }
    }
}
