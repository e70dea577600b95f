//! Verifying a database: its hierarchy, its indexes and its logical relationships against each
//! other.
//!
//! | what | against what |
//! |---|---|
//! | every key | is a path, beneath a parent that is there, in the partition and at the anchor that the placement says |
//! | every value | can be read, has a length that the definition allows, and the key of its path |
//! | every source segment | has its entry in each index, as it would be made now |
//! | every index entry | leads to a source whose entry it is |
//! | every logical child | has a logical parent, and its entry in the relation |
//! | every entry of a relation | leads from a parent to a child, both there |
//!
//! Invariants:
//! 1. Nothing is changed, and nothing that is found ends the search: the first
//!    [`FINDINGS_MAX`] findings are kept, the others counted.
//! 2. Entries are looked through one by one only where their number is not that of the segments
//!    which have found theirs: no two segments have one entry in common.

use std::sync::Arc;

use definitions::{DbdName, SegmentName};
use store::{Read, Store, Unit, UnitOptions};

use crate::arrange::check_data;
use crate::count::count_entries;
use crate::database::Database;
use crate::display::shown;
use crate::error::Result;
use crate::index::{IndexEntry, IndexTree, Source};
use crate::input::Others;
use crate::relation::Relation;
use crate::schema::{LEVELS_MAX, Levels, TypeAt};
use crate::value::Stored;
use crate::walk::{Found, Seen};

/// An entry that is not there. One that was lost cannot be told from one that was deleted.
const MISSING: &str =
    "its entry is missing, unless a program deleted it that uses the index as a database";

/// Findings that are kept.
pub const FINDINGS_MAX: usize = 1_000;

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The database, or the index.
    pub database: DbdName,
    /// The segment type, where it is known.
    pub segment: Option<SegmentName>,
    /// The concatenated key, for people; of an entry its key.
    pub key: String,
    /// What is wrong.
    pub what: String,
    /// The command that repairs it.
    pub remedy: String,
}

/// What a verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// How many more findings there were.
    pub unlisted: u64,
    /// Segments that were verified.
    pub segments: u64,
    /// Index entries that were verified.
    pub entries: u64,
    /// Logical children that were verified.
    pub relations: u64,
}

impl Report {
    fn add(&mut self, finding: Finding) {
        match self.findings.len() < FINDINGS_MAX {
            true => self.findings.push(finding),
            false => self.unlisted += 1,
        }
    }
}

impl Database {
    /// Verifies everything. `progress` is told how many segments were verified.
    ///
    /// # Errors
    /// If the store refuses, or a database of logical parents or children cannot be opened.
    pub fn verify<S: Store>(
        &self,
        store: &S,
        others: Others<'_>,
        progress: impl FnMut(u64),
    ) -> Result<Report> {
        let parents: Vec<Arc<Database>> =
            self.as_child.iter().map(|one| others(one.parent_dbd)).collect::<Result<_>>()?;
        let trees = self.index_trees(None)?;
        let mut verifier = Verifier::new(store, self, &parents, trees, true)?;
        verifier.segments(progress)?;
        verifier.count_entries()?;
        for relation in &self.as_parent {
            let children = others(relation.child_dbd)?;
            verifier.relation_entries(relation, self, &children)?;
        }
        Ok(verifier.report)
    }

    /// Verifies one or all secondary indexes against their segments.
    ///
    /// # Errors
    /// [`crate::HierarchyError::NoIndex`], or if the store refuses.
    pub fn verify_indexes<S: Store>(
        &self,
        store: &S,
        only: Option<DbdName>,
        progress: impl FnMut(u64),
    ) -> Result<Report> {
        let trees = self.index_trees(only)?;
        let mut verifier = Verifier::new(store, self, &[], trees, false)?;
        verifier.segments(progress)?;
        verifier.count_entries()?;
        Ok(verifier.report)
    }
}

/// A verification on its way.
struct Verifier<'v, S: Store> {
    store: &'v S,
    database: &'v Database,
    /// The logical parents' databases, in the order of [`Database::as_child`].
    parents: &'v [Arc<Database>],
    trees: Vec<&'v IndexTree>,
    /// How many sources found their entry, for each index.
    matched: Vec<u64>,
    /// How many children found theirs, for each relation.
    related: Vec<u64>,
    /// Whether more than indexes is verified.
    all: bool,
    unit: S::Unit,
    report: Report,
    scratch: Scratch,
}

/// Buffers that are used again.
#[derive(Default)]
struct Scratch {
    expanded: Vec<u8>,
    concatenated: Vec<u8>,
    value: Vec<u8>,
    entry: IndexEntry,
}

/// Which levels of the path before are there.
struct Above {
    path: Vec<u8>,
    levels: Levels,
    there: [bool; LEVELS_MAX],
}

impl Above {
    /// Goes on to a path; whether its parent is there.
    fn follow(&mut self, seen: &Seen<'_>) -> bool {
        let len = seen.levels.len();
        let same = self.path.iter().zip(seen.path).take_while(|(a, b)| a == b).count();
        let known = |level: usize| {
            level <= self.levels.len()
                && seen.levels.end(level) <= same
                && seen.levels.end(level) == self.levels.end(level)
        };
        let mut there = [false; LEVELS_MAX];
        for level in 1..len {
            there[level - 1] = known(level) && self.there[level - 1];
        }
        there[len - 1] = true;
        let has_parent = len < 2 || there[len - 2];
        self.path.clear();
        self.path.extend_from_slice(seen.path);
        (self.levels, self.there) = (*seen.levels, there);
        has_parent
    }
}

impl<'v, S: Store> Verifier<'v, S> {
    fn new(
        store: &'v S,
        database: &'v Database,
        parents: &'v [Arc<Database>],
        trees: Vec<&'v IndexTree>,
        all: bool,
    ) -> Result<Verifier<'v, S>> {
        Ok(Verifier {
            store,
            database,
            parents,
            matched: vec![0; trees.len()],
            related: vec![0; database.as_child.len()],
            trees,
            all,
            unit: store.begin(UnitOptions::READ_ONLY)?,
            report: Report::default(),
            scratch: Scratch::default(),
        })
    }

    fn segments(&mut self, mut progress: impl FnMut(u64)) -> Result<()> {
        let (store, database) = (self.store, self.database);
        let mut above =
            Above { path: Vec::new(), levels: Levels::NONE, there: [false; LEVELS_MAX] };
        database.walk_entries(store, |found| {
            let seen = match found {
                Found::Segment(seen) => seen,
                Found::Foreign(key) => {
                    let key = shown(key, database.schema.placement.encoding());
                    let what = "a stored key is no path of a segment".to_owned();
                    self.wrong(None, key, what, reload(self.database.name()));
                    return Ok(());
                }
            };
            self.report.segments += 1;
            progress(self.report.segments);
            if !above.follow(&seen) {
                self.wrong_at(&seen, "its parent is missing".into());
            }
            self.segment(&seen)
        })
    }

    fn segment(&mut self, seen: &Seen<'_>) -> Result<()> {
        let kind = self.database.schema.of(seen.of);
        let stored = match Stored::read(kind, seen.value) {
            Ok(stored) => stored,
            Err(what) => {
                self.wrong_at(seen, what.to_string());
                return Ok(());
            }
        };
        let mut expanded = std::mem::take(&mut self.scratch.expanded);
        match stored.data(&mut expanded) {
            Err(what) => self.wrong_at(seen, what.to_string()),
            Ok(data) => self.data(seen, &stored, data)?,
        }
        self.scratch.expanded = expanded;
        Ok(())
    }

    fn data(&mut self, seen: &Seen<'_>, stored: &Stored<'_>, data: &[u8]) -> Result<()> {
        let database = self.database;
        let kind = database.schema.of(seen.of);
        if let Err(why) = check_data(kind, data) {
            self.wrong_at(seen, why);
            return Ok(());
        }
        let key = kind.key.map_or(&[][..], |key| &data[key.offset..key.offset + key.len]);
        let concatenated = &mut self.scratch.concatenated;
        concatenated.clear();
        let above = seen.levels.end(seen.levels.len() - 1);
        database.schema.key_of(seen.of, seen.path, above, concatenated);
        if key != concatenated.as_slice() {
            let key = shown(key, database.schema.placement.encoding());
            self.wrong_at(seen, format!("its data has another key, {key}"));
        }
        if seen.of == TypeAt::ROOT && database.knows_placing {
            let front = &mut self.scratch.value;
            front.clear();
            let takes = database.put_front(key, front);
            if !takes || !seen.path.starts_with(front) {
                let what = "it is not in the partition or at the anchor of its key";
                self.wrong_at(seen, what.into());
            }
        }
        if kind.has_identity && stored.identity == 0 {
            self.wrong_at(seen, "it has no identity".into());
        }
        if !stored.is_deleted {
            self.index_entries(seen, stored, data)?;
        }
        match kind.is_logical_child && self.all {
            true => self.logical_child(seen, stored, data),
            false => Ok(()),
        }
    }

    fn index_entries(&mut self, seen: &Seen<'_>, stored: &Stored<'_>, data: &[u8]) -> Result<()> {
        if self.trees.iter().all(|tree| tree.source != seen.of) {
            return Ok(());
        }
        let database = self.database;
        let Scratch { concatenated, value, entry, .. } = &mut self.scratch;
        concatenated.clear();
        database.concatenate(seen.path, seen.levels, concatenated);
        let source = Source::new(stored, data, seen.path, concatenated, database.blank);
        let mut lacking = Vec::new();
        for (at, tree) in self.trees.iter().enumerate().filter(|(_, one)| one.source == seen.of) {
            if !tree.make(database.schema.placement.collation(), &source, entry) {
                continue;
            }
            self.report.entries += 1;
            let found = self.unit.get(tree.set, &entry.key, Read::Unlocked, value)?;
            match found {
                true if is_value(tree, value, &entry.value) => self.matched[at] += 1,
                true => lacking.push((tree.index.dbd, "its entry leads to something else")),
                false => lacking.push((tree.index.dbd, MISSING)),
            }
        }
        for (index, what) in lacking {
            self.wrong_index(index, Some(seen), String::new(), what.into());
        }
        Ok(())
    }

    fn logical_child(&mut self, seen: &Seen<'_>, stored: &Stored<'_>, data: &[u8]) -> Result<()> {
        let database = self.database;
        let at = database.as_child.iter().position(|one| one.child == seen.of);
        let Some(at) = at.filter(|_| !stored.is_remnant()) else { return Ok(()) };
        self.report.relations += 1;
        let (relation, parents) = (&database.as_child[at], &self.parents[at]);
        let name = parents.schema.of(relation.parent).name;
        let (of, path) = (parents.name(), stored.logical_parent);
        let key = parents.shown_key(path);
        let value = &mut self.scratch.value;
        let is_path = parents.parent_len(relation.parent, path) == Some(path.len());
        let located = is_path.then(|| parents.locate(path).ok()).flatten();
        let is_there = match located {
            None => false,
            // One that was deleted on its physical path lives on for its children.
            Some((set, key)) => self.unit.get(set, key, Read::Unlocked, value)?,
        };
        if !is_there {
            let what = format!("its logical parent, {name} in {of} with key {key}, is missing");
            let again = reload(database.name());
            let remedy = format!("holdfast load {of} FILE if it was emptied, otherwise {again}");
            self.wrong_with(seen, what, remedy);
        }
        let Some((set, key)) = database.relation_entry(seen.of, seen.path, stored, data)? else {
            return Ok(());
        };
        match self.unit.get(set, &key, Read::Unlocked, &mut self.scratch.value)? {
            true if self.scratch.value == seen.path => self.related[at] += 1,
            _ => {
                let what = format!("{name} in {of} does not lead to it, its logical child");
                self.wrong_at(seen, what);
            }
        }
        Ok(())
    }

    /// Looks for entries that no segment has claimed.
    fn count_entries(&mut self) -> Result<()> {
        for at in 0..self.trees.len() {
            let tree = self.trees[at];
            if count_entries(self.store, tree.set)? != self.matched[at] {
                self.stray_entries(tree)?;
            }
        }
        let database = self.database;
        for at in 0..if self.all { database.as_child.len() } else { 0 } {
            let relation = &database.as_child[at];
            if count_entries(self.store, relation.set)? != self.related[at] {
                self.relation_entries(relation, &self.parents[at], database)?;
            }
        }
        Ok(())
    }

    /// Looks through the entries of an index for those that are nobody's.
    fn stray_entries(&mut self, tree: &IndexTree) -> Result<()> {
        let database = self.database;
        let encoding = database.schema.placement.encoding();
        let mut unit = self.store.begin(UnitOptions::READ_ONLY)?;
        let mut cursor = self.store.cursor(tree.set)?;
        while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
            let what = match tree.source_of(entry.value) {
                None => "an entry is too short for the path of a source",
                Some((path, _)) => match self.is_entry_of(tree, path, entry.key)? {
                    true => continue,
                    false => "an entry leads to no source whose entry it is",
                },
            };
            self.wrong_index(tree.index.dbd, None, shown(entry.key, encoding), what.into());
        }
        unit.commit()?;
        Ok(())
    }

    /// Whether the segment under a path has that entry.
    fn is_entry_of(&mut self, tree: &IndexTree, path: &[u8], key: &[u8]) -> Result<bool> {
        let database = self.database;
        let Ok(levels) = database.parse(path) else { return Ok(false) };
        let Ok((set, in_set)) = database.locate(path) else { return Ok(false) };
        let Scratch { expanded, concatenated, value, entry } = &mut self.scratch;
        let of = levels.type_at(levels.len());
        if of != tree.source || !self.unit.get(set, in_set, Read::Unlocked, value)? {
            return Ok(false);
        }
        let Ok(stored) = Stored::read(database.schema.of(of), value) else { return Ok(false) };
        let Ok(data) = stored.data(expanded) else { return Ok(false) };
        if stored.is_deleted {
            return Ok(false);
        }
        concatenated.clear();
        database.concatenate(path, &levels, concatenated);
        let source = Source::new(&stored, data, path, concatenated, database.blank);
        Ok(tree.make(database.schema.placement.collation(), &source, entry) && entry.key == key)
    }

    /// Looks through the entries of a relation: each leads from a parent to a child.
    fn relation_entries(
        &mut self,
        relation: &Relation,
        parents: &Database,
        children: &Database,
    ) -> Result<()> {
        let encoding = parents.schema.placement.encoding();
        let mut unit = self.store.begin(UnitOptions::READ_ONLY)?;
        let mut cursor = self.store.cursor(relation.set)?;
        while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
            let Some(len) = parents.parent_len(relation.parent, entry.key) else {
                let key = shown(entry.key, encoding);
                self.wrong_relation(relation, key, "an entry has no path of a logical parent");
                continue;
            };
            let value = &mut self.scratch.value;
            let parent = &entry.key[..len];
            let has_parent = match parents.locate(parent) {
                Ok((set, key)) => self.unit.get(set, key, Read::Unlocked, value)?,
                Err(_) => false,
            };
            let child = children.parse(entry.value).ok();
            let child = child.filter(|child| child.type_at(child.len()) == relation.child);
            let names_parent = match child.and_then(|_| children.locate(entry.value).ok()) {
                None => false,
                Some((set, key)) => {
                    self.unit.get(set, key, Read::Unlocked, value)?
                        && Stored::read(children.schema.of(relation.child), value)
                            .is_ok_and(|stored| stored.logical_parent == parent)
                }
            };
            let key = parents.shown_key(parent);
            if !has_parent {
                self.wrong_relation(relation, key, "the logical parent of an entry is missing");
            } else if !names_parent {
                self.wrong_relation(relation, key, "an entry leads to no logical child of it");
            }
        }
        unit.commit()?;
        Ok(())
    }

    fn wrong_at(&mut self, seen: &Seen<'_>, what: String) {
        self.wrong_with(seen, what, reload(self.database.name()));
    }

    fn wrong_with(&mut self, seen: &Seen<'_>, what: String, remedy: String) {
        let segment = self.database.schema.of(seen.of).name;
        let key = self.database.shown_key(seen.path);
        self.wrong(Some(segment), key, what, remedy);
    }

    fn wrong(&mut self, segment: Option<SegmentName>, key: String, what: String, remedy: String) {
        if !self.all {
            return;
        }
        let database = self.database.name();
        self.report.add(Finding { database, segment, key, what, remedy });
    }

    fn wrong_index(&mut self, index: DbdName, at: Option<&Seen<'_>>, key: String, what: String) {
        let database = self.database.name();
        let segment = at.map(|seen| self.database.schema.of(seen.of).name);
        let key = at.map_or(key, |seen| self.database.shown_key(seen.path));
        let remedy = format!("`holdfast index build {database} {index}`");
        self.report.add(Finding { database: index, segment, key, what, remedy });
    }

    fn wrong_relation(&mut self, relation: &Relation, key: String, what: &str) {
        let (database, segment) = (relation.child_dbd, Some(relation.child_name));
        let (what, remedy) = (what.to_owned(), reload(database));
        self.report.add(Finding { database, segment, key, what, remedy });
    }
}

/// Whether a stored value is the one that an entry should have, with or without user data.
fn is_value(tree: &IndexTree, stored: &[u8], made: &[u8]) -> bool {
    let user_data = stored.strip_prefix(made);
    user_data.is_some_and(|rest| rest.is_empty() || tree.user_len() > 0)
}

/// How a database whose segments are wrong is put right.
fn reload(database: DbdName) -> String {
    format!("`holdfast db empty {database} --yes`, then `holdfast load {database} FILE`")
}
