//! Where definitions come from: the repository, and the members that were compiled just now.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::view::ResolvedPsb;
use crate::compile::Member;
use crate::finding::{Finding, MemberName};
use crate::model::{Dbd, DbdName, Psb, PsbName};

/// Definitions by name.
pub trait Definitions {
    /// A database definition.
    fn dbd(&self, name: DbdName) -> Option<Arc<Dbd>>;

    /// A program specification.
    fn psb(&self, name: PsbName) -> Option<Arc<Psb>>;

    /// The members that name this DBD, so that they are checked again when it changes. A source
    /// of definitions that does not know says none.
    fn referring(&self, dbd: DbdName) -> Vec<MemberName> {
        let _ = dbd;
        Vec::new()
    }
}

/// No definitions at all: the repository of a new system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Definitions for Nothing {
    fn dbd(&self, _: DbdName) -> Option<Arc<Dbd>> {
        None
    }

    fn psb(&self, _: PsbName) -> Option<Arc<Psb>> {
        None
    }
}

/// New members over those of a repository, of which some may be taken out.
pub struct Overlay<'b> {
    base: &'b dyn Definitions,
    dbds: BTreeMap<DbdName, Arc<Dbd>>,
    psbs: BTreeMap<PsbName, Arc<Psb>>,
    removed: BTreeSet<MemberName>,
}

impl<'b> Overlay<'b> {
    /// Nothing new over `base`.
    #[must_use]
    pub fn new(base: &'b dyn Definitions) -> Overlay<'b> {
        let (dbds, psbs) = (BTreeMap::new(), BTreeMap::new());
        Overlay { base, dbds, psbs, removed: BTreeSet::new() }
    }

    /// Adds a member; `false` if a new one of that name and kind is there, which it replaces.
    pub fn add(&mut self, member: Member) -> bool {
        match member {
            Member::Dbd(dbd) => self.dbds.insert(dbd.name, Arc::new(*dbd)).is_none(),
            Member::Psb(psb) => self.psbs.insert(psb.name, Arc::new(*psb)).is_none(),
        }
    }

    /// Takes an old member out; a new one of that name and kind stays.
    pub fn remove(&mut self, name: MemberName) {
        self.removed.insert(name);
    }

    /// What was taken out.
    pub fn removed(&self) -> impl Iterator<Item = MemberName> {
        self.removed.iter().copied()
    }

    /// The new DBDs, by name.
    pub fn dbds(&self) -> impl Iterator<Item = &Arc<Dbd>> {
        self.dbds.values()
    }

    /// The new PSBs, by name.
    pub fn psbs(&self) -> impl Iterator<Item = &Arc<Psb>> {
        self.psbs.values()
    }

    /// Fits the new members to all others, and the old ones that refer to a new DBD, or to one that
    /// was taken out, to what is there now.
    #[must_use]
    pub fn resolve(&self) -> Outcome {
        let mut members: BTreeSet<MemberName> = BTreeSet::new();
        members.extend(self.dbds.keys().copied().map(MemberName::Dbd));
        members.extend(self.psbs.keys().copied().map(MemberName::Psb));
        for name in self.dbds.keys() {
            members.extend(self.referring(*name));
        }
        for name in &self.removed {
            if let MemberName::Dbd(name) = name {
                members.extend(self.referring(*name));
            }
        }
        let mut outcome = Outcome { psbs: Vec::new(), findings: Vec::new() };
        for member in members {
            match member {
                MemberName::Dbd(name) => {
                    let Some(dbd) = self.dbd(name) else { continue };
                    outcome.findings.extend(super::resolve_dbd(&dbd, self).1);
                }
                MemberName::Psb(name) => {
                    let Some(psb) = self.psb(name) else { continue };
                    let (resolved, findings) = super::resolve_psb(&psb, self);
                    outcome.psbs.extend(resolved);
                    outcome.findings.extend(findings);
                }
            }
        }
        outcome
    }
}

impl Definitions for Overlay<'_> {
    fn dbd(&self, name: DbdName) -> Option<Arc<Dbd>> {
        let old = || self.base.dbd(name).filter(|_| !self.removed.contains(&MemberName::Dbd(name)));
        self.dbds.get(&name).cloned().or_else(old)
    }

    fn psb(&self, name: PsbName) -> Option<Arc<Psb>> {
        let old = || self.base.psb(name).filter(|_| !self.removed.contains(&MemberName::Psb(name)));
        self.psbs.get(&name).cloned().or_else(old)
    }

    fn referring(&self, dbd: DbdName) -> Vec<MemberName> {
        let mut members = self.base.referring(dbd);
        members.retain(|name| !self.removed.contains(name));
        members
    }
}

/// What came of fitting a set of members together.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The PSBs without an error, by name.
    pub psbs: Vec<ResolvedPsb>,
    /// What there is to say, member by member.
    pub findings: Vec<Finding>,
}
