//! Physically paired logical children as utilities see them: two sides of one thing.
//!
//! Of two types that are physically paired one is stored ([`crate::relation`]); on the host each
//! database has its own. So an unload of the database that does not store them gives them as it
//! shows them, and a load of it takes them:
//!
//! ```text
//!   load of the side that is shown ──▶ waiting set ──┐
//!                                                    ├──▶ compared, one by one; then it is emptied
//!   load of the side that is stored ──▶ segments ────┘
//! ```
//!
//! | part of a key of the waiting set | bytes |
//! |---|---|
//! | path of the parent, in the database that shows them | its length |
//! | number of the segment in the input | 8, big endian |
//!
//! The value is the segment as it came. The set is `DBD.SEGMENT.WAITING`, by the names of the type
//! that is stored.
//!
//! Invariants:
//! 1. What waits has not been compared. Programs get to no database for which something waits.
//! 2. After a comparison both sides are the same segments with the same data, and logical twins
//!    that no unique key orders stand in the order of the side that is shown.
//! 3. A segment that was deleted on the path of the side that is shown comes on the side that is
//!    stored alone, and says so. One that does not say so, from a host, is marked, if its delete
//!    rule lets that be (DLI-12.74). Everything else that does not match is refused:
//!    nothing is made up.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use definitions::DeleteRule;
use store::{KeyRange, Read, SetId, Store, Unit, UnitOptions};

use crate::change::{Segment, Work};
use crate::database::Database;
use crate::display::shown;
use crate::error::{Damaged, HierarchyError, Refused, Result};
use crate::input::Others;
use crate::record::is_empty_set;
use crate::relation::Relation;
use crate::schema::TypeAt;
use crate::target::Target;
use crate::value::{Deleted, Stored};

/// Changes of a comparison that are committed together.
const BATCH: usize = 4096;
/// Bytes of an input number.
const NUMBER_BYTES: usize = 8;

const REMEDY: &str = "Load both databases from files that were unloaded at the same time.";

impl Database {
    /// The relation whose child a type of this database shows, if it is physically paired.
    pub(crate) fn pair_of(&self, of: TypeAt) -> Option<&Relation> {
        self.as_parent.iter().find(|relation| relation.shown == Some(of))
    }

    /// Where the segments of a type that is shown wait; none if none ever did.
    ///
    /// # Errors
    /// If the store refuses.
    pub(crate) fn waiting_set<S: Store>(store: &S, of: &Relation) -> Result<Option<SetId>> {
        Ok(store.set(&waiting_name(of))?)
    }

    /// The same set, made if it is not there.
    pub(crate) fn make_waiting_set<S: Store>(&self, store: &S, of: &Relation) -> Result<SetId> {
        let attributes = self.set_attributes();
        crate::database::make_set(store, &waiting_name(of), &attributes)
    }

    /// The database for which segments of this one wait, with the type of which they are.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn waits_for<S: Store>(&self, store: &S) -> Result<Option<&Relation>> {
        for relation in self.as_parent.iter().filter(|relation| relation.shown.is_some()) {
            if let Some(set) = Database::waiting_set(store, relation)?
                && !is_empty_set(store, set)?
            {
                return Ok(Some(relation));
            }
        }
        Ok(None)
    }

    /// Forgets what waits for other databases.
    pub(crate) fn forget_waiting<S: Store>(&self, store: &S) -> Result<()> {
        for relation in self.as_parent.iter().filter(|relation| relation.shown.is_some()) {
            if let Some(set) = Database::waiting_set(store, relation)? {
                store.empty_set(set)?;
            }
        }
        Ok(())
    }

    /// Compares what waits in this database, or for it, with what is stored, where both sides are
    /// loaded. Answers how many segments came on one side only.
    pub(crate) fn compare_pairs<S: Store>(&self, store: &S, others: Others<'_>) -> Result<u64> {
        let mut alone = 0;
        for relation in self.as_child.iter().filter(|relation| relation.shown.is_some()) {
            let parents = others(relation.parent_dbd)?;
            alone += Comparison::of(store, relation, self, &parents)?;
        }
        for relation in self.as_parent.iter().filter(|relation| relation.shown.is_some()) {
            let children = others(relation.child_dbd)?;
            let is_loaded = children.name() == self.name() || !children.is_empty(store)?;
            if is_loaded && children.name() != self.name() {
                alone += Comparison::of(store, relation, &children, self)?;
            }
        }
        Ok(alone)
    }
}

fn waiting_name(of: &Relation) -> String {
    format!("{}.{}.WAITING", of.child_dbd, of.child_name)
}

/// What is shown in place of stored segments, while their parents are walked.
pub(crate) struct Shown<'p, S: Store> {
    store: &'p S,
    unit: S::Unit,
    sides: Vec<(&'p Relation, TypeAt, Arc<Database>)>,
    /// The places of what comes next, and whose it is: the path of the parent, and the code.
    due: BTreeMap<Vec<u8>, usize>,
    value: Vec<u8>,
    expanded: Vec<u8>,
    turned: Vec<u8>,
}

impl<'p, S: Store> Shown<'p, S> {
    pub(crate) fn of(
        store: &'p S,
        database: &'p Database,
        others: Others<'_>,
    ) -> Result<Shown<'p, S>> {
        let mut sides = Vec::new();
        for relation in &database.as_parent {
            if let Some(of) = relation.shown {
                sides.push((relation, of, others(relation.child_dbd)?));
            }
        }
        let unit = store.begin(UnitOptions::READ_ONLY)?;
        let (value, expanded, turned) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Shown { store, unit, sides, due: BTreeMap::new(), value, expanded, turned })
    }

    /// A segment was given that may be the parent of some.
    pub(crate) fn below(&mut self, of: TypeAt, path: &[u8]) {
        for (at, (relation, shown, _)) in self.sides.iter().enumerate() {
            if relation.parent == of {
                self.due.insert([path, &[shown.code()]].concat(), at);
            }
        }
    }

    /// Gives those that stand in front of a path; all of them behind the last one.
    pub(crate) fn before(
        &mut self,
        path: Option<&[u8]>,
        give: &mut impl FnMut(TypeAt, Deleted, &[u8]) -> Result<()>,
    ) -> Result<()> {
        while let Some(first) = self.due.first_entry() {
            if path.is_some_and(|path| path < first.key().as_slice()) {
                break;
            }
            let (mut parent, at) = first.remove_entry();
            parent.pop();
            self.give(at, &parent, give)?;
        }
        Ok(())
    }

    fn give(
        &mut self,
        at: usize,
        parent: &[u8],
        give: &mut impl FnMut(TypeAt, Deleted, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let (relation, of, children) = &self.sides[at];
        let (mut cursor, mut end) = (self.store.cursor(relation.set)?, Vec::new());
        store::Cursor::limit(&mut cursor, KeyRange::prefix(parent, &mut end));
        while let Some(entry) = self.unit.next(&mut cursor, Read::Unlocked)? {
            let path = entry.value.to_vec();
            let (set, key) = children.locate(&path)?;
            if !self.unit.get(set, key, Read::Unlocked, &mut self.value)? {
                return Err(children.damaged(Damaged("a relation leads to no logical child")));
            }
            let kind = children.schema.of(relation.child);
            let stored = Stored::read(kind, &self.value).map_err(|what| children.damaged(what))?;
            if stored.is_deleted_logically {
                continue;
            }
            let data = stored.data(&mut self.expanded).map_err(|what| children.damaged(what))?;
            children.turn(relation, &path, data, &mut self.turned)?;
            give(*of, Deleted::default(), &self.turned)?;
        }
        Ok(())
    }
}

/// A stored segment that is compared.
struct Side {
    /// As it is shown.
    data: Vec<u8>,
    path: Vec<u8>,
}

/// Segments beneath one parent, as they wait or as relations lead to them: the rest of each key,
/// and its value.
struct Group {
    parent: Vec<u8>,
    entries: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The entries of a set by the path of a parent that its keys begin with.
struct Groups<'g, S: Store> {
    database: &'g Database,
    parent: TypeAt,
    cursor: S::Cursor,
    /// The first entry of the next group.
    held: Option<(Vec<u8>, Vec<u8>)>,
    /// Whether the end was seen: what is changed in the last group would come behind it.
    is_over: bool,
}

impl<'g, S: Store> Groups<'g, S> {
    fn of(store: &S, set: SetId, database: &'g Database, parent: TypeAt) -> Result<Groups<'g, S>> {
        Ok(Groups { database, parent, cursor: store.cursor(set)?, held: None, is_over: false })
    }

    fn next(&mut self, unit: &mut S::Unit) -> Result<Option<Group>> {
        let mut group: Option<Group> = None;
        loop {
            let entry = match self.held.take() {
                Some(entry) => entry,
                None if self.is_over => return Ok(group),
                None => match unit.next(&mut self.cursor, Read::Unlocked)? {
                    Some(entry) => (entry.key.to_vec(), entry.value.to_vec()),
                    None => {
                        self.is_over = true;
                        return Ok(group);
                    }
                },
            };
            let len = self.database.parent_len(self.parent, &entry.0);
            let Some(len) = len else {
                let what = Damaged("a relation names no logical parent");
                return Err(self.database.damaged(what));
            };
            let (parent, rest) = entry.0.split_at(len);
            match &mut group {
                Some(group) if group.parent != parent => {
                    self.held = Some(entry);
                    break;
                }
                Some(group) => group.entries.push((rest.to_vec(), entry.1)),
                None => {
                    let entries = vec![(rest.to_vec(), entry.1)];
                    group = Some(Group { parent: parent.to_vec(), entries });
                }
            }
        }
        Ok(group)
    }
}

/// A comparison of two sides.
struct Comparison<'c, S: Store> {
    store: &'c S,
    relation: &'c Relation,
    children: &'c Database,
    parents: &'c Database,
    shown: TypeAt,
    unit: S::Unit,
    changed: usize,
    work: Work,
    alone: u64,
}

impl<'c, S: Store> Comparison<'c, S> {
    /// Compares the two sides of a relation, if anything waits.
    fn of(
        store: &'c S,
        relation: &'c Relation,
        children: &'c Database,
        parents: &'c Database,
    ) -> Result<u64> {
        let waiting = Database::waiting_set(store, relation)?;
        let (Some(shown), Some(waiting)) = (relation.shown, waiting) else { return Ok(0) };
        if is_empty_set(store, waiting)? {
            return Ok(0);
        }
        let unit = store.begin(UnitOptions::default())?;
        let work = Work::default();
        let mut comparison = Comparison {
            store,
            relation,
            children,
            parents,
            shown,
            unit,
            changed: 0,
            work,
            alone: 0,
        };
        comparison.all(waiting)?;
        let Comparison { unit, alone, .. } = comparison;
        unit.commit()?;
        store.empty_set(waiting)?;
        Ok(alone)
    }

    fn all(&mut self, waiting: SetId) -> Result<()> {
        let mut reader = self.store.begin(UnitOptions::READ_ONLY)?;
        let (parents, parent) = (self.parents, self.relation.parent);
        let mut shown = Groups::<S>::of(self.store, waiting, parents, parent)?;
        let mut stored = Groups::<S>::of(self.store, self.relation.set, parents, parent)?;
        let (mut one, mut other) = (shown.next(&mut reader)?, stored.next(&mut reader)?);
        while one.is_some() || other.is_some() {
            let order = match (&one, &other) {
                (Some(one), Some(other)) => one.parent.cmp(&other.parent),
                (Some(_), None) => std::cmp::Ordering::Less,
                _ => std::cmp::Ordering::Greater,
            };
            let of_shown = if order.is_le() { one.take() } else { None };
            let of_stored = if order.is_ge() { other.take() } else { None };
            let parent = of_shown.as_ref().or(of_stored.as_ref()).map(|one| one.parent.clone());
            let list = |group: &mut Option<Group>| {
                group.take().map_or_else(Vec::new, |group| group.entries)
            };
            let (mut of_shown, mut of_stored) = (of_shown, of_stored);
            let (came, entries) = (list(&mut of_shown), list(&mut of_stored));
            self.group(&parent.unwrap_or_default(), came, entries)?;
            if order.is_le() {
                one = shown.next(&mut reader)?;
            }
            if order.is_ge() {
                other = stored.next(&mut reader)?;
            }
        }
        reader.commit()?;
        Ok(())
    }

    /// Compares what is beneath one parent.
    fn group(
        &mut self,
        parent: &[u8],
        came: Vec<(Vec<u8>, Vec<u8>)>,
        entries: Vec<(Vec<u8>, Vec<u8>)>,
    ) -> Result<()> {
        let mut sides: BTreeMap<Vec<u8>, VecDeque<(usize, Vec<u8>)>> = BTreeMap::new();
        for (at, (_, path)) in entries.into_iter().enumerate() {
            if let Some(Side { data, path }) = self.side(path)? {
                sides.entry(data).or_default().push_back((at, path));
            }
        }
        let (mut matched, mut lone) = (Vec::with_capacity(came.len()), Vec::new());
        for (number, data) in came {
            match sides.get_mut(&data).and_then(VecDeque::pop_front) {
                Some(side) => matched.push(side),
                None => lone.push((number, data)),
            }
        }
        sides.retain(|_, paths| !paths.is_empty());
        for (number, data) in lone {
            self.came_alone(parent, &number, &data, &sides)?;
        }
        for (data, paths) in sides {
            for (_, path) in paths {
                self.stored_alone(&path, &data)?;
            }
        }
        if !self.relation.unique && !matched.is_sorted_by_key(|(at, _)| *at) {
            self.put_in_order(&matched)?;
        }
        Ok(())
    }

    /// A stored segment as it is shown; none if it was deleted there.
    fn side(&mut self, path: Vec<u8>) -> Result<Option<Side>> {
        let segment = self.segment(&path)?;
        let children = self.children;
        let kind = children.schema.of(self.relation.child);
        let failed = |what| children.damaged(what);
        let stored = Stored::read(kind, &segment.value).map_err(failed)?;
        if stored.is_deleted_logically {
            return Ok(None);
        }
        let (mut expanded, mut data) = (Vec::new(), Vec::new());
        let own = stored.data(&mut expanded).map_err(failed)?;
        children.turn(self.relation, &path, own, &mut data)?;
        Ok(Some(Side { data, path }))
    }

    fn segment(&mut self, path: &[u8]) -> Result<Segment> {
        let (set, key) = self.children.locate(path)?;
        let mut value = Vec::new();
        if !self.unit.get(set, key, Read::Unlocked, &mut value)? {
            let what = Damaged("a relation leads to no logical child");
            return Err(self.children.damaged(what));
        }
        let levels = self.children.parse(path)?;
        Ok(Segment { path: path.to_vec(), levels, value })
    }

    /// A segment that came for the side that is shown, and is not stored.
    fn came_alone(
        &mut self,
        parent: &[u8],
        number: &[u8],
        data: &[u8],
        stored: &BTreeMap<Vec<u8>, VecDeque<(usize, Vec<u8>)>>,
    ) -> Result<()> {
        let relation = self.relation;
        let (from, kind) = (relation.parent_key_at, self.children.schema.of(relation.child));
        let dbd = &self.children.schema.dbd;
        let len = kind.parent.map_or(0, |above| dbd.concatenated_key_len(above.index()) as usize);
        let key = |data: &[u8]| data.get(from..from + len).map(<[u8]>::to_vec);
        let (database, child) = (relation.child_dbd, relation.child_name);
        let differs = stored.keys().any(|other| key(other) == key(data));
        let why = match differs {
            true => format!("{child} in {database} is the same segment and has other data"),
            false => format!("it is not in {database}, as {child}"),
        };
        let number = number.first_chunk::<NUMBER_BYTES>().map(|number| u64::from_be_bytes(*number));
        Err(self.mismatch(
            self.parents,
            self.shown,
            number,
            &self.parents.shown_key(parent),
            data,
            why,
        ))
    }

    /// A stored segment that did not come for the side that is shown.
    fn stored_alone(&mut self, path: &[u8], data: &[u8]) -> Result<()> {
        let rule = &self.children.schema.dbd.segments[self.relation.child.index()].rules.delete;
        if *rule == DeleteRule::Virtual {
            let parents = self.parents;
            let (database, shown) = (parents.name(), parents.schema.of(self.shown).name);
            let why = format!("it did not come with {database}, as {shown}");
            let key = self.children.shown_key(path);
            return Err(self.mismatch(self.children, self.relation.child, None, &key, data, why));
        }
        let mut segment = self.segment(path)?;
        let target = Target { store: self.store, unit: &mut self.unit };
        let deleted = Deleted { physically: false, logically: true };
        self.children.mark(target, &mut segment, deleted, &mut self.work)?;
        self.children.keep(&mut self.unit, &segment)?;
        self.alone += 1;
        self.changed()
    }

    /// Gives segments new identities, so that they stand in this order.
    fn put_in_order(&mut self, matched: &[(usize, Vec<u8>)]) -> Result<()> {
        let count = u32::try_from(matched.len()).unwrap_or(u32::MAX);
        let first = self.store.draw(self.children.identities(), count)?;
        let is_last = self.relation.place == definitions::TwinPlace::Last;
        for (at, (_, path)) in (0_u64..).zip(matched) {
            let identity = first + if is_last { at } else { u64::from(count) - 1 - at };
            let mut segment = self.segment(path)?;
            let (store, unit) = (self.store, &mut self.unit);
            self.children.renumber(store, unit, &mut segment, identity, &mut self.work)?;
            self.changed()?;
        }
        Ok(())
    }

    /// Commits now and then.
    fn changed(&mut self) -> Result<()> {
        self.changed += 1;
        if self.changed.is_multiple_of(BATCH) {
            let next = self.store.begin(UnitOptions::default())?;
            std::mem::replace(&mut self.unit, next).commit()?;
        }
        Ok(())
    }

    fn mismatch(
        &self,
        database: &Database,
        of: TypeAt,
        number: Option<u64>,
        above: &str,
        data: &[u8],
        why: String,
    ) -> HierarchyError {
        let encoding = database.schema.placement.encoding();
        HierarchyError::Refused(Box::new(Refused {
            database: database.name(),
            number,
            segment: Some(database.schema.of(of).name),
            key: format!("{above}, {}", shown(data, encoding)),
            why,
            remedy: REMEDY,
        }))
    }
}
