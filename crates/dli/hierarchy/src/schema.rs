//! How the segments of one database become keys (H2).
//!
//! Owns the *path*: the key of a segment with everything above it, from the root down. Hierarchic
//! order is the order of paths as bytes, and what lies beneath a segment begins with its path.
//!
//! | part | bytes | where |
//! |---|---|---|
//! | partition | 2, big endian | HALDB only; names the tree and is not stored in it |
//! | anchor | 4 | where a randomizer places the roots |
//! | root key | its length | in the database's collation |
//! | position | see [`twin`] | behind every key that is not unique, or instead of one |
//! | code | 1 | for each level below the root: the segment type |
//! | key | its length | then again position, code, key and so on |
//!
//! Invariants:
//! 1. A part's length follows from the types above it and from its own first bytes, so a path can
//!    be taken apart from its front without other knowledge.
//! 2. A segment's path never changes, so paths can be stored as references (H8).

use std::sync::Arc;

use definitions::{Compression, Dbd, FieldType, Organization, Segment, SegmentName};
use placement::{Collation, Placement};

use crate::twin;

/// Levels of a hierarchy at most.
pub const LEVELS_MAX: usize = 15;
/// Bytes that name the partition, in front of the paths of a HALDB.
pub const PARTITION_BYTES: usize = 2;
/// Bytes of a root's anchor.
pub const ANCHOR_BYTES: usize = 4;

/// The place of a segment type in its database, counted from 0: its code less one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeAt(pub u8);

impl TypeAt {
    /// The root's.
    pub const ROOT: TypeAt = TypeAt(0);

    /// The segment code, which stands in paths.
    #[must_use]
    pub fn code(self) -> u8 {
        self.0.wrapping_add(1)
    }

    /// The type of a segment code.
    #[must_use]
    pub fn of_code(code: u8) -> Option<TypeAt> {
        code.checked_sub(1).map(TypeAt)
    }

    /// As an index into [`Schema::types`].
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A sequence field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyField {
    /// Where it begins in the segment.
    pub offset: usize,
    /// Its length.
    pub len: usize,
    /// Whether twins must differ in it.
    pub unique: bool,
}

/// A segment type as it is stored.
#[derive(Clone, Debug)]
pub struct SegmentType {
    /// Its name.
    pub name: SegmentName,
    /// Its level, from 1.
    pub level: u8,
    /// Its physical parent.
    pub parent: Option<TypeAt>,
    /// Its sequence field.
    pub key: Option<KeyField>,
    /// The longest length.
    pub max: usize,
    /// The shortest length.
    pub min: usize,
    /// Whether it begins with LL.
    pub variable: bool,
    /// How it is compressed.
    pub compression: Option<Compression>,
    /// Whether another type lies beneath it.
    pub has_children: bool,
    /// Only shows what another segment stores: nothing of this type is stored.
    pub is_virtual: bool,
    /// Stores the path of a logical parent in front of its data.
    pub is_logical_child: bool,
    /// May be deleted on one path and live on another.
    pub is_logical_parent: bool,
    /// A logical child or a logical parent lies beneath it, for which it stays when it is deleted.
    pub is_above_logical: bool,
    /// Carries a number of its own, by which index entries are ordered and told apart.
    pub has_identity: bool,
    /// How its key is ordered.
    pub collation: Collation,
}

impl SegmentType {
    /// Whether a position stands in its path.
    #[must_use]
    pub fn has_position(&self) -> bool {
        self.key.is_none_or(|key| !key.unique)
    }

    /// Whether something stands in front of its data in the store ([`crate::value`]).
    #[must_use]
    pub fn has_header(&self) -> bool {
        self.compression.is_some() || self.has_identity || self.may_outlive()
    }

    /// Whether it may stay in the store after it was deleted, marked so: it lives on for what
    /// leads to it on another path.
    #[must_use]
    pub fn may_outlive(&self) -> bool {
        self.is_logical_child || self.is_logical_parent || self.is_above_logical
    }
}

/// The levels of a path: what stands where in its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    len: u8,
    types: [TypeAt; LEVELS_MAX],
    ends: [u16; LEVELS_MAX],
}

impl Levels {
    /// No levels.
    pub const NONE: Levels =
        Levels { len: 0, types: [TypeAt::ROOT; LEVELS_MAX], ends: [0; LEVELS_MAX] };

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the path of the segment at `level`, from 1, ends; 0 for level 0.
    #[must_use]
    pub fn end(&self, level: usize) -> usize {
        match level.checked_sub(1) {
            Some(at) => self.ends.get(at).copied().map_or(0, usize::from),
            None => 0,
        }
    }

    /// The type of the segment at `level`, from 1.
    #[must_use]
    pub fn type_at(&self, level: usize) -> TypeAt {
        level.checked_sub(1).and_then(|at| self.types.get(at).copied()).unwrap_or(TypeAt::ROOT)
    }

    /// Adds a level below the others; `false` if it is one too many.
    pub fn push(&mut self, of: TypeAt, end: usize) -> bool {
        let (at, Ok(end)) = (self.len(), u16::try_from(end)) else { return false };
        if at == LEVELS_MAX {
            return false;
        }
        self.types[at] = of;
        self.ends[at] = end;
        self.len += 1;
        true
    }

    /// Forgets the levels that end behind so many bytes.
    pub fn keep(&mut self, bytes: usize) {
        while !self.is_empty() && self.end(self.len()) > bytes {
            self.len -= 1;
        }
    }

    /// The levels down to `level`.
    #[must_use]
    pub fn down_to(&self, level: usize) -> Levels {
        // One by one: they may have just been written so.
        let mut levels = Levels::NONE;
        for at in 0..level.min(self.len()).min(LEVELS_MAX) {
            levels.types[at] = self.types[at];
            levels.ends[at] = self.ends[at];
            levels.len += 1;
        }
        levels
    }

    /// Forgets the levels behind `level`.
    pub fn truncate(&mut self, level: usize) {
        self.len = self.len.min(u8::try_from(level).unwrap_or(u8::MAX));
    }
}

/// A database as keys: its segment types and where its roots go.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Its definition.
    pub dbd: Arc<Dbd>,
    /// Where its roots go.
    pub placement: Arc<Placement>,
    /// Its segment types by code.
    pub types: Vec<SegmentType>,
    /// Bytes in front of a root's key: partition and anchor.
    front: u8,
    partitioned: bool,
}

impl Schema {
    /// The schema of a physical database. `with_identity` tells the types that carry a number,
    /// `elsewhere` those whose pair is stored in their place.
    #[must_use]
    pub fn new(
        dbd: &Arc<Dbd>,
        placement: Arc<Placement>,
        with_identity: impl Fn(TypeAt) -> bool,
        elsewhere: impl Fn(TypeAt) -> bool,
    ) -> Schema {
        let partitioned = dbd.organization.is_partitioned();
        let hashed = placement.is_hashed();
        let front =
            if partitioned { PARTITION_BYTES } else { 0 } + if hashed { ANCHOR_BYTES } else { 0 };
        let types = dbd.segments.iter().enumerate();
        let types = types.map(|(at, segment)| {
            // A DBD has 255 segment types at most.
            let at = TypeAt(at as u8);
            let mut kind = segment_type(dbd, segment, at, elsewhere(at));
            kind.has_identity = with_identity(at);
            let key = segment.key().map_or(FieldType::Hexadecimal, |key| key.kind_of_data);
            kind.collation = placement.collation().of_field(key);
            kind
        });
        let mut types: Vec<SegmentType> = types.collect();
        mark_above_logical(&mut types);
        Schema { types, dbd: Arc::clone(dbd), placement, front: front as u8, partitioned }
    }

    /// A segment type.
    #[must_use]
    pub fn of(&self, at: TypeAt) -> &SegmentType {
        &self.types[at.index()]
    }

    /// A segment type by its name.
    #[must_use]
    pub fn find(&self, name: SegmentName) -> Option<TypeAt> {
        self.dbd.position(name).and_then(|at| u8::try_from(at).ok()).map(TypeAt)
    }

    /// Whether its paths begin with a partition.
    #[must_use]
    pub fn is_partitioned(&self) -> bool {
        self.partitioned
    }

    /// How many bytes of a path the partition takes.
    #[must_use]
    pub fn partition_bytes(&self) -> usize {
        if self.partitioned { PARTITION_BYTES } else { 0 }
    }

    /// Whether a randomizer places its roots.
    #[must_use]
    pub fn is_hashed(&self) -> bool {
        self.placement.is_hashed()
    }

    /// The organization.
    #[must_use]
    pub fn organization(&self) -> Organization {
        self.dbd.organization
    }

    /// The collation of a type's key (H4).
    #[must_use]
    pub fn key_collation(&self, of: TypeAt) -> Collation {
        self.types[of.index()].collation
    }

    /// The key in the tree of a partition, if the path lies in that one.
    #[must_use]
    #[inline]
    pub fn in_tree<'p>(&self, partition: u16, path: &'p [u8]) -> Option<&'p [u8]> {
        if !self.partitioned {
            return Some(path);
        }
        let (number, key) = path.split_first_chunk::<PARTITION_BYTES>()?;
        (u16::from_be_bytes(*number) == partition).then_some(key)
    }

    /// The partition and the key in its tree.
    #[must_use]
    pub fn split<'p>(&self, path: &'p [u8]) -> (u16, &'p [u8]) {
        match path.split_first_chunk::<PARTITION_BYTES>() {
            Some((partition, key)) if self.partitioned => (u16::from_be_bytes(*partition), key),
            _ => (0, path),
        }
    }

    /// Bytes in front of a root's key, partition and anchor.
    #[must_use]
    pub fn front(&self) -> usize {
        usize::from(self.front)
    }

    /// How long the part of a segment's path is that stands at the beginning of `bytes`: its key
    /// and its position. `None` if there is no such part.
    #[must_use]
    pub fn part_len(&self, of: TypeAt, bytes: &[u8]) -> Option<usize> {
        let kind = self.types.get(of.index())?;
        let key = kind.key.map_or(0, |key| key.len);
        let position = match kind.has_position() {
            true => twin::len(bytes.get(key..)?)?,
            false => 0,
        };
        let len = key + position;
        (len <= bytes.len()).then_some(len)
    }

    /// How long that part is where a key of a tree begins with it: a root's has its anchor in
    /// front, but no partition.
    #[must_use]
    pub fn tree_part_len(&self, of: TypeAt, bytes: &[u8]) -> Option<usize> {
        let anchor = if of == TypeAt::ROOT && self.is_hashed() { ANCHOR_BYTES } else { 0 };
        Some(anchor + self.part_len(of, bytes.get(anchor..)?)?)
    }

    /// Takes a path apart, as far as `levels` does not tell it yet. `false` if it is none.
    #[must_use]
    pub fn parse(&self, path: &[u8], levels: &mut Levels) -> bool {
        self.parse_behind(0, path, levels)
    }

    /// [`parse`](Schema::parse) of a path whose first bytes are left out.
    #[must_use]
    pub fn parse_behind(&self, left_out: usize, path: &[u8], levels: &mut Levels) -> bool {
        if levels.is_empty() {
            let front = self.front();
            let Some(root) = path.get(front - left_out..) else { return false };
            let Some(len) = self.part_len(TypeAt::ROOT, root) else { return false };
            levels.push(TypeAt::ROOT, front + len);
        }
        loop {
            let end = levels.end(levels.len());
            let rest = path.get(end - left_out..);
            let Some((code, rest)) = rest.and_then(<[u8]>::split_first) else {
                return left_out + path.len() == end;
            };
            let Some(of) = TypeAt::of_code(*code) else { return false };
            let Some(kind) = self.types.get(of.index()) else { return false };
            if kind.parent != Some(levels.type_at(levels.len())) {
                return false;
            }
            let Some(len) = self.part_len(of, rest) else { return false };
            if !levels.push(of, end + 1 + len) {
                return false;
            }
        }
    }

    /// The key in the part of a path that belongs to `of`, which ends at `end` and whose parent's
    /// path ends at `above`, as the program knows it.
    pub fn key_of(&self, of: TypeAt, path: &[u8], above: usize, to: &mut Vec<u8>) {
        let from = if of == TypeAt::ROOT { self.front() } else { above + 1 };
        let len = self.of(of).key.map_or(0, |key| key.len);
        let Some(key) = path.get(from..from + len) else { return };
        let at = to.len();
        to.extend_from_slice(key);
        self.key_collation(of).revert(&mut to[at..]);
    }

    /// Appends a key as it stands in paths.
    pub fn put_key(&self, of: TypeAt, key: &[u8], to: &mut Vec<u8>) {
        let at = to.len();
        to.extend_from_slice(key);
        self.key_collation(of).apply(&mut to[at..]);
    }

    /// The types beneath a type that are its children, in order.
    pub fn children(&self, of: TypeAt) -> impl Iterator<Item = TypeAt> + '_ {
        let types = self.types.iter().enumerate().skip(of.index() + 1);
        types.filter(move |(_, kind)| kind.parent == Some(of)).map(|(at, _)| TypeAt(at as u8))
    }
}

fn segment_type(dbd: &Dbd, segment: &Segment, at: TypeAt, elsewhere: bool) -> SegmentType {
    let key = segment.key().and_then(|field| {
        Some(KeyField {
            offset: field.offset()?,
            len: usize::from(field.len),
            unique: segment.has_unique_key(),
        })
    });
    let is_logical_parent = segment.children.iter().any(|child| {
        child.indexed.is_none() && child.pointer != Some(definitions::LchildPointer::Indx)
    }) && !dbd.organization.is_index();
    let is_virtual = segment.is_virtual() || elsewhere;
    SegmentType {
        name: segment.name,
        level: segment.level,
        parent: segment.parent.map(TypeAt),
        key,
        max: usize::from(segment.max),
        min: usize::from(segment.min),
        variable: segment.variable,
        compression: segment.compression.clone(),
        has_children: dbd.segments.iter().any(|one| one.parent == Some(at.0)),
        is_virtual,
        is_logical_child: segment.logical_parent.is_some() && !is_virtual,
        is_logical_parent,
        is_above_logical: false,
        has_identity: false,
        collation: Collation::Binary,
    }
}

fn mark_above_logical(types: &mut [SegmentType]) {
    // Children stand behind their parents.
    for at in (0..types.len()).rev() {
        if types[at].may_outlive()
            && let Some(parent) = types[at].parent
        {
            types[parent.index()].is_above_logical = true;
        }
    }
}

/// Writes the first key behind everything that begins with `prefix`; `false` if there is none.
pub fn behind(prefix: &[u8], to: &mut Vec<u8>) -> bool {
    let Some(last) = prefix.iter().rposition(|byte| *byte != 0xFF) else { return false };
    to.clear();
    to.extend_from_slice(&prefix[..=last]);
    to[last] += 1;
    true
}
