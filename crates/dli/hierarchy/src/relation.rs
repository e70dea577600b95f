//! Logical relationships: who the logical children of a segment are (H8).
//!
//! A logical child stores the path of its logical parent. The other direction is a set of its own.
//!
//! | part of the key | bytes | where |
//! |---|---|---|
//! | path of the logical parent | as in [`crate::schema`] | always |
//! | key | its length | if the logical twins have a sequence field |
//! | order | 8 | if that is not unique, or there is none: the child's identity, or its inverse |
//! | path of the child | its length | if it is unique, and the child was deleted on this path |
//!
//! The value is the path of the logical child.
//!
//! Invariants:
//! 1. Each logical child that lives on some path has one entry, under the parent whose path it
//!    stores. One that was deleted on its logical path makes room for another one of its key.
//! 2. Identities ascend with time, so `LAST` orders equal twins by them and `FIRST` by their
//!    inverse; `HERE` counts as `FIRST`, for no program stands on both paths at once.
//! 3. The key of logical twins is what a program sees on the logical path: in the area the
//!    concatenated key of the physical parent stands in place of the logical one's (DLI-12.71).
//! 4. Of two types that are physically paired one is stored; the other one shows it, as a virtual
//!    logical child does. How loads and unloads treat both sides: `crate::pair`.

use std::sync::Arc;

use definitions::resolve::Definitions;
use definitions::{Dbd, DbdName, Organization, Segment, SegmentName, TwinPlace};
use store::SetId;

use crate::error::Result;
use crate::schema::TypeAt;

/// The length field of a segment of variable length.
const LL_BYTES: usize = 2;

/// A logical child type and its logical parent.
#[derive(Clone, Debug)]
pub struct Relation {
    /// The database of the logical child.
    pub child_dbd: DbdName,
    /// The logical child.
    pub child: TypeAt,
    /// Its name.
    pub child_name: SegmentName,
    /// The database of the logical parent.
    pub parent_dbd: DbdName,
    /// The logical parent.
    pub parent: TypeAt,
    /// Where the logical parent's concatenated key begins in the child: behind LL, if it has one.
    pub parent_key_at: usize,
    /// Its bytes.
    pub parent_key_len: usize,
    /// Whether a type shows the child below its logical parent: a virtual one, or its pair.
    pub has_path: bool,
    /// That type, in the logical parent's database, if the two are physically paired.
    pub shown: Option<TypeAt>,
    /// Where the logical twins' key comes from, in the child as it is stored.
    pub key: Vec<KeyPart>,
    /// Whether logical twins must differ in their key.
    pub unique: bool,
    /// Where a new twin goes that no unique key places.
    pub place: TwinPlace,
    /// The set of its entries.
    pub set: SetId,
}

/// A piece of the key of logical twins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPart {
    /// Of the logical child's data as it is stored, from an offset on.
    Child {
        /// Where it begins.
        offset: usize,
        /// Its length.
        len: usize,
    },
    /// Of the concatenated key of its physical parent.
    PhysicalParent {
        /// Where it begins.
        offset: usize,
        /// Its length.
        len: usize,
    },
}

/// The relations of a database's logical children, and of its logical parents.
pub(crate) fn open(
    dbd: &Arc<Dbd>,
    definitions: &dyn Definitions,
    mut make_set: impl FnMut(&str) -> Result<SetId>,
) -> Result<(Vec<Relation>, Vec<Relation>)> {
    let (mut as_child, mut as_parent) = (Vec::new(), Vec::new());
    if dbd.organization == Organization::Logical {
        return Ok((as_child, as_parent));
    }
    for (at, segment) in dbd.segments.iter().enumerate() {
        if is_stored_child(dbd, at, definitions) {
            as_child.extend(relation(dbd, at, definitions, &mut make_set)?);
        }
        for child in segment.children.iter().filter(|child| child.indexed.is_none()) {
            let Some(of) = definitions.dbd(child.dbd) else { continue };
            let Some(at) = of.position(child.segment) else { continue };
            let names = of.segments[at].logical_parent.as_ref();
            let is_ours =
                names.is_some_and(|one| (one.segment, one.dbd) == (segment.name, dbd.name));
            if is_ours && is_stored_child(&of, at, definitions) {
                as_parent.extend(relation(&of, at, definitions, &mut make_set)?);
            }
        }
    }
    Ok((as_child, as_parent))
}

/// Whether a type is a logical child that is stored: not virtual, and not the pair of one that is.
fn is_stored_child(dbd: &Arc<Dbd>, at: usize, definitions: &dyn Definitions) -> bool {
    let segment = &dbd.segments[at];
    let is_real = segment.logical_parent.is_some() && !segment.is_virtual();
    is_real && stored_for(dbd, at, definitions).is_none()
}

/// Whether another type stores what a physically paired one shows.
pub(crate) fn is_elsewhere(dbd: &Arc<Dbd>, at: TypeAt, definitions: &dyn Definitions) -> bool {
    stored_for(dbd, at.index(), definitions).is_some()
}

/// The type, of a database, that is stored in place of a physically paired one; `None` if that is
/// stored itself.
#[must_use]
pub fn stored_for(
    dbd: &Arc<Dbd>,
    at: usize,
    definitions: &dyn Definitions,
) -> Option<(DbdName, TypeAt)> {
    let (other, place) = partner(dbd, at, definitions)?;
    // The one that has dependents, and the same one whichever is asked about.
    let rank = |dbd: &Dbd, at: usize| {
        let has_dependents = dbd.segments.iter().any(|one| one.parent.map(usize::from) == Some(at));
        (!has_dependents, dbd.name, at)
    };
    // A DBD has 255 segment types at most.
    (rank(&other, place) < rank(dbd, at)).then_some((other.name, TypeAt(place as u8)))
}

/// The other one of two physically paired types.
fn partner(dbd: &Dbd, at: usize, definitions: &dyn Definitions) -> Option<(Arc<Dbd>, usize)> {
    let segment = dbd.segments.get(at)?;
    let logical = segment.logical_parent.as_ref().filter(|_| !segment.is_virtual())?;
    let of = definitions.dbd(logical.dbd)?;
    let mut children = of.segment(logical.segment)?.children.iter();
    let ours = children.find(|child| (child.segment, child.dbd) == (segment.name, dbd.name))?;
    let place = of.position(ours.pair?)?;
    let pair = &of.segments[place];
    (pair.logical_parent.is_some() && !pair.is_virtual()).then_some((of, place))
}

fn relation(
    dbd: &Arc<Dbd>,
    at: usize,
    definitions: &dyn Definitions,
    make_set: &mut impl FnMut(&str) -> Result<SetId>,
) -> Result<Option<Relation>> {
    let segment = &dbd.segments[at];
    let Some(logical) = &segment.logical_parent else { return Ok(None) };
    let Some(of) = definitions.dbd(logical.dbd) else { return Ok(None) };
    let Some(parent) = of.position(logical.segment) else { return Ok(None) };
    let set = make_set(&format!("{}.{}.LOGICAL", dbd.name, segment.name))?;
    let lchild = of.segments[parent]
        .children
        .iter()
        .find(|child| (child.segment, child.dbd) == (segment.name, dbd.name));
    let parent_key_len = of.concatenated_key_len(parent) as usize;
    let above = segment.parent.map_or(0, |up| dbd.concatenated_key_len(usize::from(up)) as usize);
    // The key on the logical path is that of the type which shows this one there.
    let shows = |one: &&Segment| {
        let source = one.sources.first().map(|source| (source.segment, source.dbd));
        one.parent.map(usize::from) == Some(parent) && source == Some((segment.name, dbd.name))
    };
    let pair = lchild.and_then(|child| child.pair).and_then(|name| of.segment(name));
    let pair = pair.or_else(|| of.segments.iter().find(shows));
    let unique = pair.is_some_and(Segment::has_unique_key);
    let parent_key_at = if segment.variable { LL_BYTES } else { 0 };
    let parts = pair.and_then(Segment::key).map_or_else(Vec::new, |field| {
        let from = field.offset().unwrap_or(0).saturating_sub(parent_key_at);
        let parts = key_parts(from, from + usize::from(field.len), above, parent_key_len);
        parts.into_iter().map(|part| part.behind(parent_key_at)).collect()
    });
    let place = lchild.and_then(|child| child.place).or(pair.map(|pair| pair.rules.place));
    Ok(Some(Relation {
        child_dbd: dbd.name,
        child: TypeAt(at as u8),
        child_name: segment.name,
        parent_dbd: of.name,
        parent: TypeAt(parent as u8),
        parent_key_at,
        parent_key_len,
        has_path: pair.is_some(),
        shown: pair.filter(|pair| !pair.is_virtual()).and_then(|pair| {
            of.position(pair.name).and_then(|at| u8::try_from(at).ok()).map(TypeAt)
        }),
        key: parts,
        unique,
        place: place.unwrap_or(TwinPlace::Last),
        set,
    }))
}

/// Where the bytes `from..to` of a virtual child come from: in front stands the concatenated key
/// of the physical parent, behind it the intersection data.
fn key_parts(from: usize, to: usize, above: usize, parent_key_len: usize) -> Vec<KeyPart> {
    let mut parts = Vec::with_capacity(2);
    if from < above {
        let len = to.min(above) - from;
        parts.push(KeyPart::PhysicalParent { offset: from, len });
    }
    if to > above {
        let start = from.max(above);
        let offset = start - above + parent_key_len;
        parts.push(KeyPart::Child { offset, len: to - start });
    }
    parts
}

impl KeyPart {
    /// The same bytes of a child that has something in front.
    fn behind(self, bytes: usize) -> KeyPart {
        match self {
            KeyPart::Child { offset, len } => KeyPart::Child { offset: offset + bytes, len },
            physical => physical,
        }
    }
}

impl Relation {
    /// The concatenated key of the logical parent at the beginning of a child.
    #[must_use]
    pub fn parent_key<'c>(&self, child: &'c [u8]) -> &'c [u8] {
        let key = self.parent_key_at..self.parent_key_at + self.parent_key_len;
        child.get(key).unwrap_or(&[])
    }

    /// A child with another key in place of the `len` bytes at its beginning: as it is stored, or
    /// as it is seen on the logical path.
    pub fn exchange(&self, child: &[u8], len: usize, key: &[u8], to: &mut Vec<u8>) {
        let at = self.parent_key_at.min(child.len());
        to.clear();
        to.extend_from_slice(&child[..at]);
        to.extend_from_slice(key);
        to.extend_from_slice(child.get(at + len..).unwrap_or(&[]));
        if at == LL_BYTES
            && let Ok(ll) = u16::try_from(to.len())
        {
            to[..LL_BYTES].copy_from_slice(&ll.to_be_bytes());
        }
    }

    /// The key of a logical twin without its position; `physical` is the concatenated key of the
    /// child's physical parent.
    pub fn put_key(&self, child: &[u8], physical: &[u8], to: &mut Vec<u8>) {
        for part in &self.key {
            let (bytes, offset, len) = match *part {
                KeyPart::Child { offset, len } => (child, offset, len),
                KeyPart::PhysicalParent { offset, len } => (physical, offset, len),
            };
            let from = offset.min(bytes.len());
            let field = &bytes[from..(offset + len).min(bytes.len()).max(from)];
            to.extend_from_slice(field);
            to.resize(to.len() + len - field.len(), 0);
        }
    }

    /// The length of that key.
    #[must_use]
    pub fn key_len(&self) -> usize {
        self.key
            .iter()
            .map(|part| match part {
                KeyPart::Child { len, .. } | KeyPart::PhysicalParent { len, .. } => *len,
            })
            .sum()
    }
}
