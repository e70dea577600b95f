//! DLET where logical relationships are: the delete rules (DLI-12.74).
//!
//! An occurrence may be deleted on its physical path, on its logical path, or on both. What is
//! deleted on one path stays in the store as long as something leads to it on another one, or
//! something beneath it stays; then it is marked ([`hierarchy::value`]).
//!
//! | rule | logical child | logical parent | physical parent |
//! |---|---|---|---|
//! | P | first on its logical path, else DX | DX while children live | |
//! | L | on the path used | on its physical path; its children still reach it | |
//! | V | on both paths | as L, and by itself with its last child | |
//! | B | as L | as L | by itself when no child is left on the logical path |
//!
//! With a logical parent the logical path of its children goes: they are deleted there, whatever
//! their own rule says.
//!
//! Invariants:
//! 1. What must not be deleted is found before anything is: DX leaves everything.
//! 2. Nothing stays in the store that no path leads to and nothing hangs on.
//! 3. What cannot go by itself, because a rule beneath it forbids that, stays.

use std::sync::Arc;

use definitions::DeleteRule;
use hierarchy::{Database, Deleted, HierarchyError, Result, Segment, Stored, TypeAt};
use store::{Cursor, KeyRange, Read, Store, Unit};

use crate::context::CallContext;
use crate::pcb::DbPcb;

/// Deleted on the logical path.
const LOGICALLY: Deleted = Deleted { physically: false, logically: true };

/// A logical child that was deleted on a path.
struct Left {
    database: Arc<Database>,
    path: Vec<u8>,
    of: TypeAt,
    logical_parent: Vec<u8>,
}

fn rule(database: &Database, of: TypeAt) -> DeleteRule {
    database.schema.dbd.segments[of.index()].rules.delete
}

/// Whether a logical child can be met on a logical path.
fn has_logical_path(database: &Database, of: TypeAt) -> bool {
    database.relation_of(of).is_some_and(|relation| relation.has_path)
}

fn stored<'s>(database: &Database, segment: &'s Segment) -> Result<Stored<'s>> {
    let kind = database.schema.of(segment.of());
    Stored::read(kind, &segment.value).map_err(|what| database.damaged(what))
}

/// Whether a logical child is met on its logical path.
fn lives_logically(database: &Database, segment: &Segment) -> Result<bool> {
    let has_path = has_logical_path(database, segment.of());
    Ok(has_path && !stored(database, segment)?.is_deleted_logically)
}

/// Reads the segment at a path.
fn read<U: Unit>(unit: &mut U, database: &Database, path: &[u8]) -> Result<Option<Segment>> {
    let (set, key) = database.locate(path)?;
    let mut value = Vec::new();
    if !unit.get(set, key, Read::Unlocked, &mut value)? {
        return Ok(None);
    }
    Ok(Some(Segment { path: path.to_vec(), levels: database.parse(path)?, value }))
}

/// Whether a logical parent has children that live on some path, but for those that `leaves`.
fn has_children<S: Store>(
    context: &mut CallContext<'_, S>,
    database: &Database,
    of: TypeAt,
    path: &[u8],
    leaves: impl Fn(&[u8]) -> bool,
) -> Result<bool> {
    for relation in database.as_parent.iter().filter(|relation| relation.parent == of) {
        let is_ours = relation.child_dbd == database.name();
        let (mut cursor, mut end) = (context.store.cursor(relation.set)?, Vec::new());
        cursor.limit(KeyRange::prefix(path, &mut end));
        while let Some(entry) = context.unit.next(&mut cursor, Read::Unlocked)? {
            if !is_ours || !leaves(entry.value) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The logical children that are met below a logical parent on their logical path.
fn logical_children<S: Store>(
    context: &mut CallContext<'_, S>,
    database: &Database,
    of: TypeAt,
    path: &[u8],
) -> Result<Vec<(Arc<Database>, Segment)>> {
    let view = context.view;
    let mut all = Vec::new();
    for relation in database.as_parent.iter().filter(|one| one.parent == of && one.has_path) {
        let Some(children) = view.named(relation.child_dbd) else {
            return Err(HierarchyError::NoDefinition(relation.child_dbd));
        };
        let (mut cursor, mut end) = (context.store.cursor(relation.set)?, Vec::new());
        cursor.limit(KeyRange::prefix(path, &mut end));
        while let Some(entry) = context.unit.next(&mut cursor, Read::Unlocked)? {
            let child = entry.value.to_vec();
            if let Some(segment) = read(context.unit, children, &child)?
                && lives_logically(children, &segment)?
            {
                all.push((Arc::clone(children), segment));
            }
        }
    }
    Ok(all)
}

/// Whether anything beneath a segment is in the store.
fn has_dependents<S: Store>(
    context: &mut CallContext<'_, S>,
    database: &Database,
    path: &[u8],
) -> Result<bool> {
    let (set, key) = database.locate(path)?;
    let (mut cursor, mut end) = (context.store.cursor(set)?, Vec::new());
    cursor.limit(KeyRange::prefix(key, &mut end));
    while let Some(entry) = context.unit.next(&mut cursor, Read::Unlocked)? {
        if entry.key != key {
            return Ok(true);
        }
    }
    Ok(false)
}

impl<S: Store> DbPcb<S> {
    /// Deletes a segment of a type that [may outlive](hierarchy::SegmentType::may_outlive), on its
    /// physical or its logical path. `false`, and nothing is deleted, where a rule forbids it.
    pub(crate) fn delete_by_rules(
        &mut self,
        context: &mut CallContext<'_, S>,
        database: &Arc<Database>,
        path: &[u8],
        logically: bool,
    ) -> Result<bool> {
        let mut left = Vec::new();
        let done = match logically {
            true => self.delete_logically(context, database, path, &mut left)?,
            false => self.delete_physically(context, database, path, &mut left)?,
        };
        while let Some(child) = left.pop() {
            self.follow_child(context, &child, &mut left)?;
        }
        Ok(done)
    }

    /// On the logical path, which under rule P comes first and is free.
    fn delete_logically(
        &mut self,
        context: &mut CallContext<'_, S>,
        database: &Arc<Database>,
        path: &[u8],
        left: &mut Vec<Left>,
    ) -> Result<bool> {
        let Some(mut segment) = read(context.unit, database, path)? else { return Ok(true) };
        let one = stored(database, &segment)?;
        let (of, is_deleted) = (segment.of(), one.is_deleted);
        if rule(database, of) == DeleteRule::Virtual && !is_deleted {
            return self.delete_physically(context, database, path, left);
        }
        let logical_parent = one.logical_parent.to_vec();
        self.lock_for_change(context, database, path)?;
        self.lock_logical_parent(context, database, of, &logical_parent)?;
        let target = context.target();
        database.mark(target, &mut segment, LOGICALLY, &mut self.work)?;
        database.keep(context.unit, &segment)?;
        if is_deleted {
            self.prune(context, database, path)?;
        }
        left.push(Left { database: Arc::clone(database), path: path.to_vec(), of, logical_parent });
        Ok(true)
    }

    /// On the physical path, with everything beneath.
    fn delete_physically(
        &mut self,
        context: &mut CallContext<'_, S>,
        database: &Arc<Database>,
        path: &[u8],
        left: &mut Vec<Left>,
    ) -> Result<bool> {
        self.lock_gap_behind(context, database, path)?;
        self.lock_for_change(context, database, path)?;
        let mut all = database.with_dependents(context.store, &mut *context.unit, path)?;
        if !self.may_go(context, database, &all)? {
            return Ok(false);
        }
        let mut orphans = Vec::new();
        for at in 0..all.len() {
            let segment = &mut all[at];
            let one = stored(database, segment)?;
            if one.is_deleted {
                continue;
            }
            let of = segment.of();
            let is_child = database.schema.of(of).is_logical_child;
            let stays = has_logical_path(database, of) && rule(database, of) != DeleteRule::Virtual;
            if is_child {
                let (path, logical_parent) = (segment.path.clone(), one.logical_parent.to_vec());
                self.lock_logical_parent(context, database, of, &logical_parent)?;
                left.push(Left { database: Arc::clone(database), path, of, logical_parent });
            }
            let gone = Deleted { physically: true, logically: is_child && !stays };
            let target = context.target();
            database.mark(target, segment, gone, &mut self.work)?;
            let path = all[at].path.clone();
            self.orphan(context, database, of, &path, &mut all, &mut orphans)?;
        }
        self.keep_what_stays(context, database, &all)?;
        for child in orphans {
            self.prune(context, &child.database, &child.path)?;
            left.push(child);
        }
        Ok(true)
    }

    /// Deletes the children of a logical parent on their logical path, which is gone with it.
    /// Those that are among `all` are marked there.
    fn orphan(
        &mut self,
        context: &mut CallContext<'_, S>,
        database: &Arc<Database>,
        of: TypeAt,
        path: &[u8],
        all: &mut [Segment],
        orphans: &mut Vec<Left>,
    ) -> Result<()> {
        for (children, mut child) in logical_children(context, database, of, path)? {
            let is_ours = children.name() == database.name();
            let among = all.binary_search_by(|one| one.path.cmp(&child.path));
            let target = context.target();
            if let (true, Ok(at)) = (is_ours, among) {
                children.mark(target, &mut all[at], LOGICALLY, &mut self.work)?;
                continue;
            }
            self.lock_for_change(context, &children, &child.path)?;
            let target = context.target();
            children.mark(target, &mut child, LOGICALLY, &mut self.work)?;
            children.keep(context.unit, &child)?;
            let (of, logical_parent) = (child.of(), path.to_vec());
            orphans.push(Left { database: children, path: child.path, of, logical_parent });
        }
        Ok(())
    }

    /// Stores those of deleted segments that something still leads to, and erases the others; from
    /// the last one up, so that it is known what stays beneath each.
    fn keep_what_stays(
        &mut self,
        context: &mut CallContext<'_, S>,
        database: &Database,
        all: &[Segment],
    ) -> Result<()> {
        let mut kept: Option<&Segment> = None;
        for segment in all.iter().rev() {
            let above_kept = kept.is_some_and(|kept| kept.path.starts_with(&segment.path));
            let stays = above_kept
                || lives_logically(database, segment)?
                || has_children(context, database, segment.of(), &segment.path, |_| false)?;
            match stays {
                true => {
                    database.keep(context.unit, segment)?;
                    kept = Some(segment);
                }
                false => database.erase(context.unit, &segment.path)?,
            }
        }
        Ok(())
    }

    /// Locks the record of a child's logical parent: who its children are changes (H8).
    fn lock_logical_parent(
        &self,
        context: &mut CallContext<'_, S>,
        database: &Database,
        of: TypeAt,
        parent: &[u8],
    ) -> Result<()> {
        let view = context.view;
        let relation = database.relation_of(of);
        match relation.and_then(|relation| view.named(relation.parent_dbd)) {
            Some(parents) if !parent.is_empty() => self.lock_for_change(context, parents, parent),
            _ => Ok(()),
        }
    }

    /// Whether the rules let all of these go on their physical path.
    fn may_go(
        &self,
        context: &mut CallContext<'_, S>,
        database: &Database,
        all: &[Segment],
    ) -> Result<bool> {
        let leaves = |path: &[u8]| {
            let at = all.binary_search_by(|one| one.path.as_slice().cmp(path));
            at.is_ok_and(|at| stored(database, &all[at]).is_ok_and(|one| !one.is_deleted))
        };
        for segment in all {
            let (of, one) = (segment.of(), stored(database, segment)?);
            if one.is_deleted || rule(database, of) != DeleteRule::Physical {
                continue;
            }
            if lives_logically(database, segment)?
                || has_children(context, database, of, &segment.path, leaves)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What goes by itself with a child: its logical parent under rule V, its physical parent
    /// under rule B; and what had stayed for it alone.
    fn follow_child(
        &mut self,
        context: &mut CallContext<'_, S>,
        child: &Left,
        left: &mut Vec<Left>,
    ) -> Result<()> {
        let view = context.view;
        let Left { database, path, of, logical_parent } = child;
        let Some(relation) = database.relation_of(*of) else { return Ok(()) };
        let Some(parents) = view.named(relation.parent_dbd) else {
            return Err(HierarchyError::NoDefinition(relation.parent_dbd));
        };
        if let Some(parent) = read(context.unit, parents, logical_parent)? {
            if stored(parents, &parent)?.is_deleted {
                self.prune(context, parents, logical_parent)?;
            } else if rule(parents, relation.parent) == DeleteRule::Virtual
                && !has_children(context, parents, relation.parent, logical_parent, |_| false)?
            {
                self.delete_physically(context, parents, logical_parent, left)?;
            }
        }
        let levels = database.parse(path)?;
        let above = levels.len().saturating_sub(1);
        let bidirectional = rule(database, levels.type_at(above)) == DeleteRule::Bidirectional;
        if !relation.has_path || above == 0 || !bidirectional {
            return Ok(());
        }
        let physical = &path[..levels.end(above)];
        let Some(parent) = read(context.unit, database, physical)? else { return Ok(()) };
        if !stored(database, &parent)?.is_deleted
            && !has_logical_twins(context, database, *of, physical)?
        {
            self.delete_physically(context, database, physical, left)?;
        }
        Ok(())
    }

    /// Takes a deleted segment out of the store if nothing needs it any more, and then what had
    /// stayed above it for it alone.
    fn prune(
        &mut self,
        context: &mut CallContext<'_, S>,
        database: &Database,
        path: &[u8],
    ) -> Result<()> {
        let levels = database.parse(path)?;
        for level in (1..=levels.len()).rev() {
            let path = &path[..levels.end(level)];
            let Some(segment) = read(context.unit, database, path)? else { continue };
            let is_needed = !stored(database, &segment)?.is_deleted
                || lives_logically(database, &segment)?
                || has_children(context, database, segment.of(), path, |_| false)?
                || has_dependents(context, database, path)?;
            if is_needed {
                break;
            }
            self.lock_for_change(context, database, path)?;
            database.erase(context.unit, path)?;
        }
        Ok(())
    }
}

/// Whether a logical child of a type under a physical parent is met on its logical path.
fn has_logical_twins<S: Store>(
    context: &mut CallContext<'_, S>,
    database: &Database,
    of: TypeAt,
    parent: &[u8],
) -> Result<bool> {
    let mut prefix = parent.to_vec();
    prefix.push(of.code());
    let (set, key) = database.locate(&prefix)?;
    let front = prefix.len() - key.len();
    let (mut cursor, mut end) = (context.store.cursor(set)?, Vec::new());
    cursor.limit(KeyRange::prefix(key, &mut end));
    while let Some(entry) = context.unit.next(&mut cursor, Read::Unlocked)? {
        let path = [&prefix[..front], entry.key].concat();
        let levels = database.parse(&path)?;
        let twin = Segment { path, levels, value: entry.value.to_vec() };
        if twin.of() == of && lives_logically(database, &twin)? {
            return Ok(true);
        }
    }
    Ok(false)
}
