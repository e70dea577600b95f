//! What changed definitions mean for the data that is stored under the old ones.
//!
//! | code | when | what becomes of it |
//! |---|---|---|
//! | HFG301 | data would be lost | refused |
//! | HFG302 | the data has to be unloaded and loaded | refused until the database is empty |
//! | HFG303 | an index has to be built | stored; programs are refused until it is built |
//! | HFG304 | the build writes its source segments again, too | likewise |
//!
//! Invariants:
//! 1. A database without data may change in any way.
//! 2. Databases whose own definition stays are judged, too, where one that they refer to changes.
//! 3. An index is recorded as due before the definition is stored that makes it so.

use std::collections::BTreeSet;

use definitions::change::{Effect, compare};
use definitions::resolve::{Definitions, Overlay};
use definitions::{Dbd, DbdName, MemberName, SegmentName, Severity};
use hierarchy::{is_kept, state};
use operations::databases::{Databases, is_without_list};
use store::Store;

use crate::failure::Result;

/// Something that there is to say about a database with data.
pub(super) struct Remark {
    pub(super) severity: Severity,
    pub(super) code: &'static str,
    pub(super) database: DbdName,
    pub(super) message: String,
    pub(super) help: String,
}

/// What changed definitions mean.
#[derive(Default)]
pub(super) struct Verdict {
    pub(super) remarks: Vec<Remark>,
    /// Indexes that have to be built.
    due: BTreeSet<DbdName>,
    /// Indexes that there are no more.
    gone: BTreeSet<DbdName>,
}

/// Judges the new definitions.
pub(super) fn judge<S: Store>(databases: &Databases<S>, new: &Overlay<'_>) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    for name in affected(databases, new) {
        let Some(old) = databases.repository.dbd(name) else { continue };
        let Some(is) = new.dbd(name) else {
            verdict.judge_removal(databases, &old)?;
            continue;
        };
        if old.organization.is_index() {
            verdict.judge_index(databases, &old, &is)?;
        } else if is_kept(old.organization) && has_data(databases, name)? {
            let moves = || places_roots(databases, &old) != places_roots(databases, &is);
            verdict.judge_changes(&old, &is, moves());
            verdict.judge_layout(databases, &is, new)?;
        }
    }
    Ok(verdict)
}

/// The databases that new definitions are of, refer to, or are referred to by.
fn affected<S: Store>(databases: &Databases<S>, new: &Overlay<'_>) -> BTreeSet<DbdName> {
    let mut names = BTreeSet::new();
    let removed = new.removed().filter_map(|member| match member {
        MemberName::Dbd(name) => Some(name),
        MemberName::Psb(_) => None,
    });
    let new_ones = new.dbds().map(|dbd| (dbd.name, Some(dbd)));
    for (name, new) in new_ones.chain(removed.map(|name| (name, None))) {
        names.insert(name);
        let old = databases.repository.dbd(name);
        for one in [new, old.as_ref()].into_iter().flatten() {
            for segment in &one.segments {
                names.extend(segment.children.iter().map(|child| child.dbd));
                names.extend(segment.logical_parent.as_ref().map(|parent| parent.dbd));
            }
        }
        let referring = databases.repository.referring(name).into_iter();
        names.extend(referring.filter_map(|member| match member {
            MemberName::Dbd(name) => Some(name),
            MemberName::Psb(_) => None,
        }));
    }
    names
}

/// Whether a database holds data. One that was never opened holds none.
fn has_data<S: Store>(databases: &Databases<S>, name: DbdName) -> Result<bool> {
    let store = &databases.store;
    if state::state_of(store, name)?.is_none() {
        return Ok(false);
    }
    let database = databases.open_unchecked(name)?;
    Ok(!state::is_empty(store, &database)?)
}

/// Where the settings put the roots of a database under a definition, in words.
fn places_roots<S: Store>(databases: &Databases<S>, dbd: &Dbd) -> Option<String> {
    databases.placement(dbd).ok().map(|placement| placement.identity())
}

/// How a recorded layout is compared with what the system says now.
type Compare = fn(DbdName, &str, &str) -> hierarchy::Result<()>;

impl Verdict {
    /// A database that there is no more: it must be empty. The entries of an index go with it.
    fn judge_removal<S: Store>(&mut self, databases: &Databases<S>, old: &Dbd) -> Result<()> {
        let database = old.name;
        if old.organization.is_index() {
            self.gone.insert(database);
        } else if is_kept(old.organization) && has_data(databases, database)? {
            let message = format!("{database} holds data, and is to be removed");
            let help =
                format!("if its data may go, run `holdfast db empty {database} --yes` first");
            let (severity, code) = (Severity::Error, "HFG301");
            self.remarks.push(Remark { severity, code, database, message, help });
        }
        Ok(())
    }

    /// `moves`: roots go elsewhere under the new definition, a list of the settings not being what
    /// says where they go.
    fn judge_changes(&mut self, old: &Dbd, new: &Dbd, moves: bool) {
        let database = new.name;
        for change in compare(old, new) {
            let message = format!("{database} holds data, and {}", change.what);
            match change.effect {
                Effect::Harmless => {}
                Effect::BuildIndex(index) => {
                    self.due.insert(index);
                    let help = format!("then run `holdfast index build {database} {index}`");
                    let (severity, code) = (Severity::Warning, "HFG303");
                    self.remarks.push(Remark { severity, code, database, message, help });
                }
                Effect::Moves if !moves => {}
                Effect::Moves | Effect::Reload => self.refuse_reload(database, message),
                Effect::LosesData => {
                    let help = format!(
                        "if its data may go, run `holdfast db empty {database} --yes` first"
                    );
                    let (severity, code) = (Severity::Error, "HFG301");
                    self.remarks.push(Remark { severity, code, database, message, help });
                }
            }
        }
        let is_kept = |name: DbdName| new.secondary_indexes().any(|(_, _, one, _)| one.dbd == name);
        let gone = old.secondary_indexes().map(|(_, _, child, _)| child.dbd);
        self.gone.extend(gone.filter(|name| !is_kept(*name)));
    }

    /// Whether stored keys and values are what the new definitions say.
    fn judge_layout<S: Store>(
        &mut self,
        databases: &Databases<S>,
        new: &std::sync::Arc<Dbd>,
        definitions: &Overlay<'_>,
    ) -> Result<()> {
        let database = new.name;
        let is_refused = |one: &Remark| one.severity == Severity::Error && one.database == database;
        let Some(record) = state::state_of(&databases.store, database)? else { return Ok(()) };
        if self.remarks.iter().any(is_refused) {
            return Ok(());
        }
        let (placement, compare): (_, Compare) = match databases.placement(new) {
            // A list that cannot be had says nothing of where roots went.
            Err(error) if is_without_list(&error) => {
                (databases.placement_to_read(new)?, state::compare_to_read)
            }
            placement => (placement?, state::compare),
        };
        let layout = state::layout_of(new, definitions, placement, &record.layout)?;
        if let Err(differs) = compare(database, &record.layout, &layout) {
            self.refuse_reload(database, differs.to_string());
            return Ok(());
        }
        for (index, segment) in state::unnumbered(new, definitions, &record.layout) {
            self.due_with_rewriting(database, index, segment);
        }
        Ok(())
    }

    /// An index whose build writes its source segments again, too: they lack what tells equal keys
    /// apart.
    fn due_with_rewriting(&mut self, database: DbdName, index: DbdName, segment: SegmentName) {
        let message = format!(
            "{database} holds data, and building {index} also writes every {segment} again: equal \
             keys are told apart by a number that is kept with each {segment}"
        );
        let help = format!(
            "then run `holdfast index build {database} {index}`; no unload and no load is needed"
        );
        self.due.insert(index);
        let (severity, code) = (Severity::Warning, "HFG304");
        self.remarks.push(Remark { severity, code, database, message, help });
    }

    /// The entries of an index follow its database.
    fn judge_index<S: Store>(
        &mut self,
        databases: &Databases<S>,
        old: &Dbd,
        new: &Dbd,
    ) -> Result<()> {
        let index = new.name;
        let changes = compare(old, new);
        let is_stored = databases.store.set(index.text())?.is_some();
        if !is_stored || changes.iter().all(|change| change.effect == Effect::Harmless) {
            return Ok(());
        }
        let target = old.segments.iter().flat_map(|segment| &segment.children).next();
        let Some(target) = target.map(|child| child.dbd) else { return Ok(()) };
        if !has_data(databases, target)? {
            return Ok(());
        }
        self.due.insert(index);
        for change in changes {
            let message = format!("{target} holds data, and {}", change.what);
            let help = format!("then run `holdfast index build {target} {index}`");
            let (severity, code) = (Severity::Warning, "HFG303");
            self.remarks.push(Remark { severity, code, database: index, message, help });
        }
        Ok(())
    }

    fn refuse_reload(&mut self, database: DbdName, message: String) {
        let help = format!(
            "run `holdfast unload {database} FILE` under the old definition, `holdfast db empty \
             {database} --yes`, `holdfast gen`, and `holdfast load {database} FILE`"
        );
        let (severity, code) = (Severity::Error, "HFG302");
        self.remarks.push(Remark { severity, code, database, message, help });
    }

    /// Records which indexes have to be built: before the definitions are stored.
    pub(super) fn record_due<S: Store>(&self, store: &S) -> Result<()> {
        for index in &self.due {
            state::set_due(store, *index, true)?;
        }
        Ok(())
    }

    /// Drops the entries of indexes that there are no more: behind that.
    pub(super) fn drop_gone<S: Store>(&self, store: &S) -> Result<()> {
        for index in &self.gone {
            if let Some(set) = store.set(index.text())? {
                store.drop_set(set)?;
            }
            state::set_due(store, *index, false)?;
        }
        Ok(())
    }
}
