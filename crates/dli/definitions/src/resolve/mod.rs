//! Fits definitions together, as an ACBGEN does: PSBs to DBDs, indexes to their targets, logical
//! children to their parents.
//!
//! Invariants:
//! 1. Pairs are checked from the side that was compiled and, if the repository tells who refers
//!    to it, from the other side too: neither order of compiling leaves a gap.
//! 2. A [`View`] refers to nothing but itself: the call engine needs no sources and no DBDs.
//! 3. Options are reduced here, with a warning, and never at run time.

mod databases;
mod entries;
mod index;
mod logical;
mod options;
mod segments;
mod set;
mod structure;
mod view;

pub use index::{Index, IndexPart, PartSource};
pub use set::{Definitions, Nothing, Outcome, Overlay};
pub use view::{
    Destination, GsamView, Home, ResolvedKind, ResolvedPcb, ResolvedPsb, SeenField, SegmentAccess,
    SegmentForm, View, ViewField, ViewKey, ViewSegment,
};

use std::sync::Arc;

use crate::finding::{Finding, Findings, MemberName};
use crate::model::{Dbd, Psb};

/// What does not fit between a DBD and the others, and its secondary indexes as far as they fit.
#[must_use]
pub fn resolve_dbd(dbd: &Arc<Dbd>, all: &dyn Definitions) -> (Vec<Index>, Vec<Finding>) {
    let mut found = Findings::new(MemberName::Dbd(dbd.name));
    let indexes = databases::check(dbd, all, &mut found);
    logical::check(dbd, all, &mut found);
    if dbd.organization == crate::model::Organization::Logical {
        let _ = structure::of_logical(dbd, all, &mut found);
    }
    (indexes, found.list)
}

/// What each PCB of a PSB sees; `None` if there is an error among the findings.
#[must_use]
pub fn resolve_psb(psb: &Psb, all: &dyn Definitions) -> (Option<ResolvedPsb>, Vec<Finding>) {
    let mut found = Findings::new(MemberName::Psb(psb.name));
    let resolved = view::psb(psb, all, &mut found);
    let resolved = resolved.filter(|_| !found.has_errors());
    (resolved, found.list)
}
