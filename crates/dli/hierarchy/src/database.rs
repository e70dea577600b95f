//! A database: its schema, and the sets of the store that hold it.
//!
//! | set | holds |
//! |---|---|
//! | `DBD` | all segments of a database that is not partitioned |
//! | `DBD.PARTITION` | those of one partition |
//! | the name of an index DBD | the entries of a secondary index ([`crate::index`]) |
//! | `DBD.SEGMENT.LOGICAL` | where the logical children of a parent are ([`crate::relation`]) |
//! | `DBD.SEGMENT.WAITING` | the other side of a physical pair, until both are loaded (`crate::pair`) |
//!
//! Invariants:
//! 1. A segment's parent is there as long as the segment is. What was deleted and lives on for
//!    another path is there and marked ([`crate::value`]).
//! 2. Segments, index entries and relations change in one unit of work, together.

use std::sync::Arc;

use definitions::resolve::{Definitions, resolve_dbd};
use definitions::{Dbd, DbdName, Organization};
use placement::Placement;
use store::{Locking, SetAttributes, SetId, Store};

use crate::error::{Damaged, HierarchyError, Result};
use crate::index::IndexTree;
use crate::layout;
use crate::record;
use crate::relation::{self, Relation};
use crate::schema::{ANCHOR_BYTES, Levels, Schema, TypeAt};

/// A database and its sets.
#[derive(Clone, Debug)]
pub struct Database {
    /// How its segments become keys.
    pub schema: Schema,
    /// The set of each partition; one if it has none.
    pub sets: Vec<SetId>,
    /// Its secondary indexes.
    pub indexes: Vec<IndexTree>,
    /// The logical relationships of its logical children.
    pub as_child: Vec<Relation>,
    /// The logical relationships of its logical parents.
    pub as_parent: Vec<Relation>,
    /// The byte that stands for a blank in its data.
    pub blank: u8,
    /// For each type, whether deleting it has to look at every segment beneath.
    linked: Vec<bool>,
    /// The partitions that are offline for the program that opened it.
    offline: Vec<u16>,
    /// How its sets and those of its indexes are kept when they are made.
    kept: Vec<Kept>,
    /// Whether the settings say what placed its roots: nothing but a look may do without.
    pub(crate) knows_placing: bool,
}

/// How a set is kept when it is made.
#[derive(Clone, Debug)]
struct Kept {
    set: SetId,
    name: String,
    attributes: SetAttributes,
    /// The database or the index whose settings say so.
    set_by: DbdName,
}

/// A set whose control intervals are not those that the settings say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlike {
    /// Its name.
    pub set: String,
    /// The database or the index whose settings say otherwise.
    pub set_by: DbdName,
    /// Bytes of its intervals.
    pub has: u32,
    /// Bytes that the settings say.
    pub wanted: u32,
}

impl Database {
    /// Opens a database, and makes the sets that it does not have yet. `placements` says where
    /// roots go, of this database and of its indexes.
    ///
    /// # Errors
    /// If a definition is missing, the organization is not kept in the store, the configuration
    /// does not fit, or the store refuses.
    pub fn open<S: Store>(
        store: &S,
        name: DbdName,
        definitions: &dyn Definitions,
        placements: &mut dyn FnMut(&Dbd) -> Result<Placement>,
    ) -> Result<Database> {
        let dbd = definitions.dbd(name).ok_or(HierarchyError::NoDefinition(name))?;
        if !is_kept(dbd.organization) {
            return Err(HierarchyError::not_kept(&dbd));
        }
        let placement = placements(&dbd)?;
        let own = attributes(&dbd, &placement, None);
        let (as_child, as_parent) =
            relation::open(&dbd, definitions, |set| make_set(store, set, &own))?;
        let (indexes, _) = resolve_dbd(&dbd, definitions);
        let mut trees = Vec::with_capacity(indexes.len());
        let mut kept: Vec<Kept> = Vec::new();
        let at = |code: u8| TypeAt(code.saturating_sub(1));
        for index in indexes {
            let dbd_of = definitions.dbd(index.dbd);
            let its = dbd_of.as_ref().map(|of| placements(of)).transpose()?.map(Arc::new);
            let set = match (&dbd_of, &its) {
                (Some(of), Some(placement)) => attributes(of, placement, Some(&own)),
                _ => own.clone(),
            };
            let prefix_bytes = IndexTree::prefix_bytes(&index);
            let set_by = match its.as_ref().is_some_and(|its| interval_bytes(its).is_some()) {
                true => index.dbd,
                false => name,
            };
            let attributes = SetAttributes { prefix_bytes, ..set };
            kept.push(Kept::make(store, index.dbd.text().into(), attributes, set_by)?);
            let set = kept[kept.len() - 1].set;
            let (source, target) = (at(index.source_code), at(index.target_code));
            let target_level = usize::from(dbd.segments[target.index()].level);
            let placement = its;
            trees.push(IndexTree { index, set, source, target, target_level, placement });
        }
        let blank = placement.encoding().blank();
        let prefix_bytes = record_prefix(&dbd, &placement);
        let placement = Arc::new(placement);
        let mut sets = Vec::with_capacity(placement.partitions().len());
        for partition in placement.partitions() {
            let set = match partition.name.is_empty() {
                true => name.text().to_owned(),
                false => format!("{name}.{}", partition.name),
            };
            let interval_bytes = partition.interval_bytes.or(own.interval_bytes);
            let attributes = SetAttributes { interval_bytes, prefix_bytes, ..own.clone() };
            kept.push(Kept::make(store, set, attributes, name)?);
            sets.push(kept[kept.len() - 1].set);
        }
        let elsewhere = |one| relation::is_elsewhere(&dbd, one, definitions);
        let schema = Schema::new(&dbd, placement, |_| false, elsewhere);
        let mut database = Database {
            schema,
            sets,
            indexes: trees,
            as_child,
            as_parent,
            blank,
            linked: Vec::new(),
            offline: Vec::new(),
            kept,
            knows_placing: true,
        };
        database.linked = database.find_linked();
        database.find_identities(store)?;
        Ok(database)
    }

    /// Finds out which types carry an identity: those of stored data as it is recorded, those of
    /// an empty database as they need it.
    fn find_identities<S: Store>(&mut self, store: &S) -> Result<()> {
        let types = (0..self.schema.types.len()).map(|at| TypeAt(at as u8));
        let needing: Vec<TypeAt> = types.filter(|of| self.needs_identity(*of)).collect();
        let recorded = record::state_of(store, self.name())?;
        let carrying: Option<Vec<TypeAt>> = recorded.map(|record| {
            layout::with_identity(&record.layout)
                .filter_map(|name| self.schema.find(name))
                .collect()
        });
        let lacks = |carrying: &Vec<TypeAt>| needing.iter().any(|of| !carrying.contains(of));
        let is_stored_without = match carrying.as_ref().is_some_and(lacks) {
            true => record::holds_something(store, self.name())?,
            false => false,
        };
        for of in needing {
            let given = !is_stored_without || self.orders_children(of);
            self.schema.types[of.index()].has_identity = given;
        }
        for of in carrying.into_iter().flatten() {
            self.schema.types[of.index()].has_identity = true;
        }
        Ok(())
    }

    /// Whether segments of this type need an identity: to order equal index entries, or equal
    /// logical twins.
    pub(crate) fn needs_identity(&self, of: TypeAt) -> bool {
        let mut trees = self.indexes.iter().filter(|tree| tree.source == of);
        self.orders_children(of) || trees.any(|tree| IndexTree::needs_identity(&tree.index))
    }

    /// Whether equal logical twins of this type are told apart by their identities.
    fn orders_children(&self, of: TypeAt) -> bool {
        self.as_child.iter().any(|relation| relation.child == of && !relation.unique)
    }

    /// Whether an index needs an identity of this type that its stored segments do not carry.
    #[must_use]
    pub fn lacks_identity(&self, of: TypeAt) -> bool {
        self.needs_identity(of) && !self.schema.of(of).has_identity
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> DbdName {
        self.schema.dbd.name
    }

    /// The set and the key in it of a path.
    ///
    /// # Errors
    /// If the path names a partition that is not there; [`HierarchyError::Offline`].
    pub fn locate<'p>(&self, path: &'p [u8]) -> Result<(SetId, &'p [u8])> {
        let (partition, key) = self.schema.split(path);
        match self.set_of(partition)? {
            Some(set) => Ok((set, key)),
            None => Err(self.damaged(Damaged("a path leads into a partition that is not there"))),
        }
    }

    /// The set of a partition; `None` behind the last one.
    ///
    /// # Errors
    /// [`HierarchyError::Offline`].
    #[inline]
    pub fn set_of(&self, partition: u16) -> Result<Option<SetId>> {
        if self.offline.contains(&partition) {
            return Err(self.is_offline(partition));
        }
        Ok(self.sets.get(usize::from(partition)).copied())
    }

    /// Keeps the users of this database out of these partitions.
    pub(crate) fn keep_out_of(&mut self, offline: Vec<u16>) {
        self.offline = offline;
    }

    /// The partitions that no program gets to through this database.
    #[must_use]
    pub fn offline(&self) -> &[u16] {
        &self.offline
    }

    #[cold]
    fn is_offline(&self, partition: u16) -> HierarchyError {
        let name = self.schema.placement.partitions().get(usize::from(partition));
        let partition = name.map_or_else(String::new, |one| one.name.clone());
        HierarchyError::Offline { database: self.name(), partition }
    }

    /// The set whose sequence gives segments their identities: one for all partitions, for their
    /// segments meet in indexes and relations.
    #[must_use]
    pub fn identities(&self) -> SetId {
        self.sets[0]
    }

    /// The concatenated key of a path, appended to `to`.
    pub fn concatenate(&self, path: &[u8], levels: &Levels, to: &mut Vec<u8>) {
        for level in 1..=levels.len() {
            let above = levels.end(level - 1);
            self.schema.key_of(levels.type_at(level), &path[..levels.end(level)], above, to);
        }
    }

    /// Takes a path apart.
    ///
    /// # Errors
    /// If it is none of this database.
    pub fn parse(&self, path: &[u8]) -> Result<Levels> {
        let mut levels = Levels::NONE;
        match self.schema.parse(path, &mut levels) {
            true => Ok(levels),
            false => Err(self.damaged(Damaged("a stored key is no path of a segment"))),
        }
    }

    /// The path of the target that an entry leads to.
    ///
    /// # Errors
    /// If the entry leads to no path of this database.
    pub fn target_of<'v>(&self, tree: &IndexTree, value: &'v [u8]) -> Result<Option<&'v [u8]>> {
        let Some((path, _)) = tree.source_of(value) else { return Ok(None) };
        let levels = self.parse(path)?;
        Ok(Some(&path[..levels.end(tree.target_level)]))
    }

    /// Whether deleting a segment of this type has to look at what lies beneath, one by one (H7).
    #[must_use]
    pub fn is_linked(&self, of: TypeAt) -> bool {
        self.linked[of.index()]
    }

    /// How its sets are kept.
    pub(crate) fn set_attributes(&self) -> SetAttributes {
        attributes(&self.schema.dbd, &self.schema.placement, None)
    }

    /// Its sets whose control intervals are not those that the settings say, which was changed
    /// since they were made.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn unlike<S: Store>(&self, store: &S) -> Result<Vec<Unlike>> {
        let mut unlike = Vec::new();
        for Kept { set, name, attributes, set_by } in &self.kept {
            let Some(wanted) = attributes.interval_bytes else { continue };
            if let Some(has) = store.interval_bytes(*set)?.filter(|has| *has != wanted) {
                unlike.push(Unlike { set: name.clone(), set_by: *set_by, has, wanted });
            }
        }
        Ok(unlike)
    }

    /// Makes those sets anew as the settings say. The database must be empty, and has to be opened
    /// again.
    ///
    /// # Errors
    /// [`HierarchyError::NotEmpty`], or if the store refuses.
    pub fn recreate<S: Store>(&self, store: &S) -> Result<()> {
        if !self.is_empty(store)? {
            return Err(HierarchyError::NotEmpty(self.name()));
        }
        for unlike in self.unlike(store)? {
            let Some(kept) = self.kept.iter().find(|one| one.name == unlike.set) else { continue };
            store.drop_set(kept.set)?;
            make_set(store, &kept.name, &kept.attributes)?;
        }
        Ok(())
    }

    /// Whether it holds no segments.
    pub(crate) fn is_empty<S: Store>(&self, store: &S) -> Result<bool> {
        for set in &self.sets {
            if !record::is_empty_set(store, *set)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Names this database in an error about its bytes.
    #[must_use]
    pub fn damaged(&self, what: Damaged) -> HierarchyError {
        HierarchyError::Damaged { database: self.name(), what }
    }

    fn find_linked(&self) -> Vec<bool> {
        let types = &self.schema.types;
        let mut linked: Vec<bool> = (0..types.len())
            .map(|at| self.indexes.iter().any(|tree| tree.source.index() == at))
            .collect();
        // Children stand behind their parents.
        for at in (0..types.len()).rev() {
            if let Some(parent) = types[at].parent.filter(|_| linked[at]) {
                linked[parent.index()] = true;
            }
        }
        linked
    }
}

/// Whether databases of that organization are kept as paths in the store.
#[must_use]
pub fn is_kept(organization: Organization) -> bool {
    use Organization::{Hdam, Hidam, Hisam, Hsam, Phdam, Phidam, Shisam, Shsam};
    matches!(organization, Hsam | Shsam | Hisam | Shisam | Hdam | Hidam | Phdam | Phidam)
}

impl Kept {
    fn make<S: Store>(
        store: &S,
        name: String,
        attributes: SetAttributes,
        set_by: DbdName,
    ) -> Result<Kept> {
        Ok(Kept { set: make_set(store, &name, &attributes)?, name, attributes, set_by })
    }
}

/// The control interval that the settings say for the first partition, or for all of it.
fn interval_bytes(placement: &Placement) -> Option<u32> {
    placement.partitions().first().and_then(|one| one.interval_bytes)
}

/// How the sets of a database are kept; an index that has no settings is kept as its database.
fn attributes(dbd: &Dbd, placement: &Placement, above: Option<&SetAttributes>) -> SetAttributes {
    let interval_bytes = interval_bytes(placement);
    let pool = placement.pool().map(str::to_owned);
    SetAttributes {
        locking: Locking::Caller,
        interval_bytes: interval_bytes.or(above.and_then(|one| one.interval_bytes)),
        pool: pool.or_else(|| above.and_then(|one| one.pool.clone())),
        key_label: None,
        plain: placement.plain().or(above.and_then(|one| one.plain)),
        free_percent: free_percent(dbd),
        prefix_bytes: 0,
    }
}

/// How many bytes the keys of a database record have in common; 0 if its root has no key of its
/// own.
fn record_prefix(dbd: &Dbd, placement: &Placement) -> u16 {
    let root = dbd.segments.first().filter(|root| root.has_unique_key());
    let anchor = if placement.is_hashed() { ANCHOR_BYTES as u16 } else { 0 };
    root.and_then(|root| root.key()).map_or(0, |key| anchor + key.len)
}

/// `FRSPC=`: the free space of each interval, as far as it makes sense for a tree.
fn free_percent(dbd: &Dbd) -> u8 {
    let given = dbd.data_sets.first().and_then(|set| set.free_space.second).unwrap_or(0);
    u8::try_from(given.min(80)).unwrap_or(0)
}

/// The set of that name, made if it is not there.
pub(crate) fn make_set<S: Store>(
    store: &S,
    name: &str,
    attributes: &SetAttributes,
) -> Result<SetId> {
    if let Some(set) = store.set(name)? {
        return Ok(set);
    }
    match store.create_set(name, attributes) {
        // Another caller was faster.
        Err(store::StoreError::SetExists(_)) => {
            Ok(store.set(name)?.ok_or(store::StoreError::SetExists(name.into()))?)
        }
        made => Ok(made?),
    }
}
