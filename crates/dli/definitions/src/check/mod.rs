//! Whether a single definition is right in itself, before it is fitted to others.
//!
//! Invariants:
//! 1. A definition without an error here is sound ([`Dbd::is_sound`], [`Psb::is_sound`]).
//! 2. A check looks at one definition and nothing else.

mod database;
mod fields;
mod index;
mod program;

use crate::finding::{Finding, Findings, MemberName};
use crate::model::{Dbd, Psb};

/// What is wrong with a DBD by itself.
pub(crate) fn dbd(dbd: &Dbd) -> Vec<Finding> {
    let mut found = Findings::new(MemberName::Dbd(dbd.name));
    database::check(dbd, &mut found);
    for at in 0..dbd.segments.len() {
        fields::check(dbd, at, &mut found);
    }
    index::check(dbd, &mut found);
    found.list
}

/// What is wrong with a PSB by itself.
pub(crate) fn psb(psb: &Psb) -> Vec<Finding> {
    let mut found = Findings::new(MemberName::Psb(psb.name));
    program::check(psb, &mut found);
    found.list
}
