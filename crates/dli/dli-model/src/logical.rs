//! Logical relationships: what is at the other end of a logical child (DLI-12.71 to DLI-12.73).
//!
//! A logical child is stored once, on its physical path, as the destination's concatenated key
//! and the intersection data; its virtual pair is the same occurrence seen from the other end.
//!
//! Invariants:
//! 1. A virtual chain under a logical parent holds the children that lead to it, in the order of
//!    the virtual child's key or of the `RULES=` of its LCHILD.

use definitions::{Rule, TwinPlace};

use crate::area::Given;
use crate::bytes::{Status, part};
use crate::forest::{Id, Type};
use crate::keys::{self, concatenated_key, image_as, with_key};
use crate::lens::{Lens, Node, destination, kind_seen_from, twins};
use crate::model::Model;
use crate::types::{
    destination_type, is_child, is_virtual, key_part, pair, parent_type, segment_of, stored,
    twin_rule,
};

/// DLI-12.69: under PROCSEQ neither the target nor its parents are inserted or deleted.
pub(crate) fn is_fixed(lens: &Lens<'_>, seg: usize) -> bool {
    if lens.view.sequence.is_none() {
        return false;
    }
    // The target, and what stands above it physically, whatever the view makes of that.
    let target = Type::of(&lens.seg(0).home);
    let mut up = std::iter::successors(Some(target), |kind| lens.parent_type(*kind));
    up.any(|kind| kind == Type::of(&lens.seg(seg).home))
}

/// The end of a node under which segments of a type stand.
pub(crate) fn end_of_type(lens: &Lens<'_>, above: Option<&Node>, kind: Type) -> Option<Id> {
    let node = above?;
    let ends = [Some(node.id), destination(lens, node)];
    let fits = |end: &Id| lens.parent_type(kind) == Some(kind_seen_from(lens, node, *end));
    ends.into_iter().flatten().find(fits)
}

/// The occurrence of a type with that concatenated key.
fn find(model: &Model, kind: Type, key: &[u8]) -> Option<Id> {
    let is = |id: &Id| concatenated_key(&model.forest, &model.dbds, *id) == key;
    model.forest.of_type(kind).find(is)
}

/// Stores a new segment under a parent; a logical child with its destination parent (DLI-12.72).
pub(crate) fn store(
    model: &mut Model,
    pcb: usize,
    (seg, parent): (usize, Option<Id>),
    given: &Given,
    at: usize,
) -> Result<Id, Status> {
    let segment = &model.pcbs[pcb].view.segments[seg];
    let home = Type::of(&segment.home);
    let loading = model.pcbs[pcb].view.options.is_load();
    if !is_child(&model.dbds, home) {
        return Ok(model.forest.insert(home, parent, given.image.clone(), at));
    }
    let from_virtual = is_virtual(&model.dbds, home);
    let other = match destination_for(model, home, given) {
        // DLI-12.50: a load does not need the logical parent yet.
        Err(_) if loading && !from_virtual => None,
        other => Some(other?),
    };
    if !from_virtual {
        let id = model.forest.insert(home, parent, given.image.clone(), at);
        join(model, id, other, None)?;
        return Ok(id);
    }
    // DLI-12.71: stored with the key of the logical parent.
    let real = stored(&model.dbds, home);
    let key = parent.map_or_else(Vec::new, |up| concatenated_key(&model.forest, &model.dbds, up));
    let (offset, len) = key_part(&model.dbds, home);
    let image = with_key(&given.image, offset, len, &key);
    let chain = model.forest.chain(real, other).to_vec();
    let place = place(model, real, &chain, &image, false)?;
    let id = model.forest.insert(real, other, image, place);
    join(model, id, parent, Some(at))?;
    Ok(id)
}

/// Links a child with its logical parent, in the chain of its virtual pair.
fn join(model: &mut Model, id: Id, other: Option<Id>, at: Option<usize>) -> Result<(), Status> {
    model.forest.get_mut(id).logical_parent = other;
    let kind = model.forest.get(id).kind;
    let (Some(other), Some(pair)) = (other, pair(&model.dbds, kind)) else { return Ok(()) };
    let chain = twins(&model.forest, pair, other).to_vec();
    let at = match at {
        Some(at) => at,
        None => {
            let image = image_as(&model.forest, &model.dbds, pair, id);
            place(model, pair, &chain, &image, true)?
        }
    };
    model.forest.logical.entry((pair, other)).or_default().insert(at, id);
    Ok(())
}

/// Links the children whose logical parent was loaded after them.
pub(crate) fn link(model: &mut Model) -> Result<(), Status> {
    let kinds: Vec<Type> = model
        .dbds
        .values()
        .flat_map(|dbd| dbd.segments.iter().map(|one| Type { dbd: dbd.name, code: one.code }))
        .filter(|kind| is_child(&model.dbds, *kind) && !is_virtual(&model.dbds, *kind))
        .collect();
    for kind in kinds {
        let lonely = model.forest.of_type(kind);
        let lonely: Vec<Id> =
            lonely.filter(|id| model.forest.get(*id).logical_parent.is_none()).collect();
        for id in lonely {
            let (at, len) = key_part(&model.dbds, kind);
            let key = part(&model.forest.get(id).data, at, len).to_vec();
            let Some(other) = destination_type(&model.dbds, kind) else { continue };
            if let Some(other) = find(model, other, &key) {
                join(model, id, Some(other), None)?;
            }
        }
    }
    Ok(())
}

/// The place of a segment in a chain on a path that the call does not use: overrides do not
/// count there, and HERE is FIRST (DLI-12.29). II if the unique key is there.
fn place(
    model: &Model,
    kind: Type,
    chain: &[Id],
    image: &[u8],
    is_logical: bool,
) -> Result<usize, Status> {
    let segment = segment_of(&model.dbds, kind).ok_or(b"IX")?;
    let rule = twin_rule(&model.dbds, kind);
    let by_rule = |range: std::ops::Range<usize>| match rule {
        TwinPlace::Last => range.end,
        TwinPlace::First | TwinPlace::Here => range.start,
    };
    let Some(field) = segment.key() else { return Ok(by_rule(0..chain.len())) };
    let key_of =
        |image: &[u8]| part(image, field.offset().unwrap_or(0), usize::from(field.len)).to_vec();
    let key = key_of(image);
    let of = |id: &Id| key_of(&image_as(&model.forest, &model.dbds, kind, *id));
    let from = chain.iter().position(|id| of(id) >= key).unwrap_or(chain.len());
    let to = chain.iter().position(|id| of(id) > key).unwrap_or(chain.len());
    if !segment.has_unique_key() {
        return Ok(by_rule(from..to));
    }
    let is_gone = |id: &Id| {
        let one = model.forest.get(*id);
        if is_logical { one.gone_logically } else { one.gone }
    };
    if chain[from..to].iter().all(is_gone) { Ok(from) } else { Err(b"II") }
}

/// DLI-12.72: the destination parent of a new child, made or replaced as its insert rule says.
fn destination_for(model: &mut Model, home: Type, given: &Given) -> Result<Id, Status> {
    let kind = destination_type(&model.dbds, home).ok_or(b"IX")?;
    let (at, len) = key_part(&model.dbds, home);
    let key = part(&given.image, at, len).to_vec();
    let there = find(model, kind, &key);
    let Some(data) = &given.joined else { return there.ok_or(b"IX") };
    let segment = segment_of(&model.dbds, kind).ok_or(b"IX")?;
    let rule = segment.rules.insert;
    let own =
        segment.key().map_or((0, 0), |field| (field.offset().unwrap_or(0), usize::from(field.len)));
    let above = key.len().saturating_sub(own.1);
    if part(data, own.0, own.1) != &key[above..] {
        return Err(b"IX");
    }
    if let Some(id) = there {
        if rule == Rule::Virtual {
            model.forest.get_mut(id).data.clone_from(data);
        }
        return Ok(id);
    }
    let parent = match parent_type(&model.dbds, kind) {
        Some(up) => Some(find(model, up, &key[..above]).ok_or(b"IX")?),
        None => None,
    };
    let chain = model.forest.chain(kind, parent).to_vec();
    let place = match parent {
        None => place_of_root(model, kind, &chain, &key),
        Some(_) => place(model, kind, &chain, data, false)?,
    };
    Ok(model.forest.insert(kind, parent, data.clone(), place))
}

/// The place of a new root, in the randomizer's order where there is one.
fn place_of_root(model: &Model, kind: Type, chain: &[Id], key: &[u8]) -> usize {
    let hashed = model.dbds.get(&kind.dbd).is_some_and(|dbd| dbd.organization.is_hashed());
    let rank = |key: &[u8]| {
        let order = if hashed { (model.order)(kind.dbd, key) } else { Vec::new() };
        (order, key.to_vec())
    };
    let of = |id: &Id| rank(&keys::key(&model.forest, &model.dbds, *id));
    chain.iter().position(|id| of(id) >= rank(key)).unwrap_or(chain.len())
}

/// Puts new bytes in place of a segment and its destination parent (DLI-12.73).
///
/// decision: the replace rule of a logical child itself has no effect.
pub(crate) fn replace(
    model: &mut Model,
    pcb: usize,
    node: &Node,
    image: &[u8],
    joined: Option<Vec<u8>>,
) -> Result<(), Status> {
    let lens = model.lens(pcb);
    let old = lens.image(node);
    let home = Type::of(&lens.seg(node.seg).home);
    let mut data = image.to_vec();
    if is_child(&model.dbds, home) {
        let (at, len) = key_part(&model.dbds, home);
        // The destination's key cannot change, whether it is in the sequence field or not.
        if part(&old, at, len) != part(image, at, len) {
            return Err(b"DA");
        }
        if is_virtual(&model.dbds, home) {
            let stored = model.forest.get(node.id);
            let (offset, size) = key_part(&model.dbds, stored.kind);
            let key = part(&stored.data, offset, size).to_vec();
            data = with_key(image, at, len, &key);
        }
    }
    let other = destination(&lens, node);
    if let (Some(joined), Some(other), Some(about)) =
        (joined, other, &lens.seg(node.seg).destination)
        && model.forest.get(other).data != joined
    {
        let before = &model.forest.get(other).data;
        let key = about.key.map_or((0, 0), |key| (usize::from(key.offset), usize::from(key.len)));
        if part(before, key.0, key.1) != part(&joined, key.0, key.1) {
            return Err(b"DA");
        }
        match about.rules.replace {
            Rule::Physical => return Err(b"RX"),
            Rule::Logical => {}
            Rule::Virtual => model.forest.get_mut(other).data = joined,
        }
    }
    model.forest.get_mut(node.id).data = data;
    Ok(())
}
