//! Turns segments that come in hierarchic order into the entries that they are stored as.
//!
//! Owns the path that was placed last, from which the place of the next segment follows.
//!
//! Invariants:
//! 1. A segment stands beneath the last one of its parent's type, which came before it.
//! 2. Twins that no unique key orders get positions in the order in which they come, also when
//!    equal keys do not come one behind the other.
//! 3. What is refused is named with its number, type and key; then nothing may follow.

use std::sync::Arc;

use definitions::Organization::{Hidam, Hisam, Phidam, Shisam};
use store::Store;

use crate::database::Database;
use crate::display::shown;
use crate::error::{HierarchyError, Refused, Result};
use crate::fill::Filler;
use crate::index::{IndexEntry, Source};
use crate::input::Given;
use crate::schema::{LEVELS_MAX, Levels, SegmentType, TypeAt};
use crate::twin;
use crate::value::Stored;

/// Identities that are drawn at once.
const IDENTITIES: u32 = 1 << 16;

/// What to do about a segment that does not fit.
pub(crate) const COMPARE: &str =
    "Compare the file with the definition, or correct the program that wrote it.";

/// The segments of one type under one parent, so far.
#[derive(Clone, Debug, Default)]
struct Twins {
    /// The parent's number; 0 is none.
    parent: u64,
    /// The key of the last one, as it stands in paths, with what stands in front of a root's.
    last: Vec<u8>,
    /// The position of the last one, and the highest one.
    position: Vec<u8>,
    highest: Vec<u8>,
    /// Whether a key came that was lower than the one before it.
    descended: bool,
}

/// Where segments are placed.
pub(crate) struct Arranger<'d, S> {
    store: &'d S,
    database: &'d Database,
    /// The logical parents' databases, in the order of [`Database::as_child`].
    parents: &'d [Arc<Database>],
    /// The path that was placed last, and its value.
    pub(crate) path: Vec<u8>,
    pub(crate) levels: Levels,
    pub(crate) value: Vec<u8>,
    /// The numbers of the segments on the path.
    numbers: [u64; LEVELS_MAX],
    twins: Vec<Twins>,
    part: Vec<u8>,
    parent_path: Vec<u8>,
    concatenated: Vec<u8>,
    entry: IndexEntry,
    identities: std::ops::Range<u64>,
}

impl<'d, S: Store> Arranger<'d, S> {
    pub(crate) fn new(
        store: &'d S,
        database: &'d Database,
        parents: &'d [Arc<Database>],
    ) -> Arranger<'d, S> {
        Arranger {
            store,
            database,
            parents,
            path: Vec::with_capacity(256),
            levels: Levels::NONE,
            value: Vec::new(),
            numbers: [0; LEVELS_MAX],
            twins: vec![Twins::default(); database.schema.types.len()],
            part: Vec::new(),
            parent_path: Vec::new(),
            concatenated: Vec::new(),
            entry: IndexEntry::default(),
            identities: 0..0,
        }
    }

    /// Places a segment: path and value are its own then, and `derived` gets its index entries
    /// and its relation.
    pub(crate) fn place(
        &mut self,
        number: u64,
        Given { of, data, deleted }: Given<'_>,
        derived: &mut Filler<'_, S>,
    ) -> Result<()> {
        let Some(kind) = self.database.schema.types.get(of.index()) else {
            let code = of.code();
            return Err(self.refused(number, None, &[], format!("no segment has code {code}")));
        };
        let refuse = |this: &Self, why: String| {
            let key = kind.key.and_then(|key| data.get(key.offset..key.offset + key.len));
            Err(this.refused(number, Some(of), key.unwrap_or(&[]), why))
        };
        if kind.is_virtual {
            return refuse(self, "it is a virtual segment, which is not stored".into());
        }
        if let Err(why) = self.fits(kind, data) {
            return refuse(self, why);
        }
        let above = usize::from(kind.level) - 1;
        self.levels.truncate(above);
        self.path.truncate(self.levels.end(above));
        let key = kind.key.map_or(&[][..], |key| &data[key.offset..key.offset + key.len]);
        if let Err(why) = self.put_part(of, key) {
            return refuse(self, why);
        }
        let most = self.store.capabilities().key_bytes_max;
        let fits = self.path.len() + self.part.len() <= most.min(usize::from(u16::MAX));
        self.path.extend_from_slice(&self.part);
        if !fits || !self.levels.push(of, self.path.len()) {
            let why = format!("with all keys above it its key has more than {most} bytes");
            return refuse(self, why);
        }
        self.numbers[above] = number;
        if let Err(why) = self.find_logical_parent(of, data)? {
            return refuse(self, why);
        }
        let identity = if kind.has_identity { self.draw()? } else { 0 };
        let parent_path = std::mem::take(&mut self.parent_path);
        let stored = Stored {
            is_deleted: deleted.physically,
            is_deleted_logically: deleted.logically && kind.is_logical_child,
            identity,
            logical_parent: &parent_path,
            ..Stored::new(data)
        };
        stored.write(kind, &mut self.value);
        let done = self.derive(number, of, &stored, data, derived);
        self.parent_path = parent_path;
        done
    }

    /// The path of the parent of a segment that is not stored here, but shown for its pair.
    pub(crate) fn parent_of(&self, number: u64, of: TypeAt, data: &[u8]) -> Result<&[u8]> {
        let kind = self.database.schema.of(of);
        match self.fits(kind, data) {
            Ok(()) => Ok(&self.path[..self.levels.end(usize::from(kind.level) - 1)]),
            Err(why) => Err(self.refused(number, Some(of), &[], why)),
        }
    }

    /// Whether data can be a segment of that type, and its parent came before it.
    fn fits(&self, kind: &SegmentType, data: &[u8]) -> std::result::Result<(), String> {
        check_data(kind, data)?;
        let above = usize::from(kind.level) - 1;
        let has_parent = self.levels.len() >= above
            && (above == 0 || kind.parent == Some(self.levels.type_at(above)));
        if has_parent { Ok(()) } else { Err("its parent did not come before it".into()) }
    }

    /// Makes the part of the path that is this segment's own; `Err` says why it has no place.
    fn put_part(&mut self, of: TypeAt, key: &[u8]) -> std::result::Result<(), String> {
        let (database, schema) = (self.database, &self.database.schema);
        let kind = schema.of(of);
        self.part.clear();
        if of == TypeAt::ROOT {
            let highest = matches!(schema.organization(), Hisam | Shisam | Hidam | Phidam);
            if highest && !key.is_empty() && key.iter().all(|byte| *byte == 0xFF) {
                return Err("no root can have the highest key".into());
            }
            if !database.put_front(key, &mut self.part) {
                return Err("no partition or randomizer takes its key (status FM)".into());
            }
        } else {
            self.part.push(of.code());
        }
        schema.put_key(of, key, &mut self.part);
        let parent = match usize::from(kind.level) {
            1 => u64::MAX,
            level => self.numbers[level - 2],
        };
        let twins = &mut self.twins[of.index()];
        let is_first = twins.parent != parent;
        let single = schema.dbd.segments[of.index()].pointers.has("NOTWIN");
        if single && !is_first && of != TypeAt::ROOT {
            return Err("it is defined with NOTWIN, and its parent has one already".into());
        }
        if kind.has_position() {
            let at = self.part.len();
            match self.part.as_slice().cmp(&twins.last) {
                _ if is_first => {
                    twins.descended = false;
                    twins.highest.clear();
                    twin::only(&mut self.part);
                }
                order if twins.descended || order.is_lt() => {
                    twins.descended = true;
                    twin::behind(&twins.highest, &mut self.part);
                }
                std::cmp::Ordering::Equal => twin::behind(&twins.position, &mut self.part),
                _ => twin::only(&mut self.part),
            }
            twins.position.clear();
            twins.position.extend_from_slice(&self.part[at..]);
            if twins.position > twins.highest {
                twins.highest.clone_from(&twins.position);
            }
            twins.last.clear();
            twins.last.extend_from_slice(&self.part[..at]);
        }
        twins.parent = parent;
        Ok(())
    }

    /// Finds the path of the logical parent that a logical child names. Whether it is there is
    /// found out behind the last segment.
    fn find_logical_parent(
        &mut self,
        of: TypeAt,
        data: &[u8],
    ) -> Result<std::result::Result<(), String>> {
        self.parent_path.clear();
        let Some(at) = self.database.as_child.iter().position(|one| one.child == of) else {
            return Ok(Ok(()));
        };
        let (relation, parents) = (&self.database.as_child[at], &self.parents[at]);
        let name = || format!("{} in {}", parents.schema.of(relation.parent).name, parents.name());
        let key = relation.parent_key(data);
        if key.len() < relation.parent_key_len {
            let why = format!("it is too short for the key of its logical parent, {}", name());
            return Ok(Err(why));
        }
        let itself = parents.name() == self.database.name();
        if itself && !parents.has_computed_paths(relation.parent) {
            let why = "its logical parent is in the same database and has no unique key: such a \
                       database can be loaded by programs only";
            return Ok(Err(why.into()));
        }
        let store = self.store;
        let found = parents.path_of_key(relation.parent, key, &mut self.parent_path, |path| {
            parents.first_twin(store, path)
        })?;
        if !found {
            let key = shown(key, parents.schema.placement.encoding());
            return Ok(Err(format!("its logical parent, {} with key {key}, is missing", name())));
        }
        Ok(Ok(()))
    }

    /// Adds the index entries and the relation of the segment that was placed.
    fn derive(
        &mut self,
        number: u64,
        of: TypeAt,
        stored: &Stored<'_>,
        data: &[u8],
        derived: &mut Filler<'_, S>,
    ) -> Result<()> {
        let database = self.database;
        let mut trees = database.indexes.iter().filter(|tree| tree.source == of).peekable();
        if trees.peek().is_some() && !stored.is_deleted {
            self.concatenated.clear();
            database.concatenate(&self.path, &self.levels, &mut self.concatenated);
            let joined = &self.concatenated[..];
            let source = Source::new(stored, data, &self.path, joined, database.blank);
            let collation = database.schema.placement.collation();
            for tree in trees {
                if tree.make(collation, &source, &mut self.entry) {
                    let slot = derived.slot(tree.set)?;
                    derived.add(slot, &self.entry.key, &self.entry.value, number);
                }
            }
        }
        if database.schema.of(of).is_logical_child
            && let Some((set, key)) = database.relation_entry(of, &self.path, stored, data)?
        {
            let slot = derived.slot(set)?;
            derived.add(slot, &key, &self.path, number);
        }
        Ok(())
    }

    fn draw(&mut self) -> Result<u64> {
        if let Some(identity) = self.identities.next() {
            return Ok(identity);
        }
        let first = self.store.draw(self.database.identities(), IDENTITIES)?;
        self.identities = first + 1..first + u64::from(IDENTITIES);
        Ok(first)
    }

    fn refused(&self, number: u64, of: Option<TypeAt>, key: &[u8], why: String) -> HierarchyError {
        let kind = of.map(|of| self.database.schema.of(of));
        let mut levels = self.levels;
        levels.truncate(kind.map_or(0, |kind| usize::from(kind.level) - 1));
        let mut concatenated = Vec::new();
        self.database.concatenate(&self.path, &levels, &mut concatenated);
        concatenated.extend_from_slice(key);
        HierarchyError::Refused(Box::new(Refused {
            database: self.database.name(),
            number: Some(number),
            segment: kind.map(|kind| kind.name),
            key: shown(&concatenated, self.database.schema.placement.encoding()),
            why,
            remedy: COMPARE,
        }))
    }
}

/// Whether data can be a segment of that type; `Err` says why not.
pub(crate) fn check_data(kind: &SegmentType, data: &[u8]) -> std::result::Result<(), String> {
    let (len, min, max) = (data.len(), kind.min, kind.max);
    if !kind.variable && len != max {
        return Err(format!("it has {len} bytes, and its definition says {max}"));
    }
    if kind.variable {
        let stated = data.first_chunk().map_or(0, |ll| usize::from(u16::from_be_bytes(*ll)));
        if stated != len {
            return Err(format!("its length field says {stated}, and it has {len} bytes"));
        }
        if !(min..=max).contains(&len) {
            return Err(format!("it has {len} bytes, and its definition says {min} to {max}"));
        }
    }
    match kind.key {
        Some(key) if key.offset + key.len > len => Err("it ends before its key does".into()),
        _ => Ok(()),
    }
}
