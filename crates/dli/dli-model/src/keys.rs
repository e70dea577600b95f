//! Keys of occurrences in their physical databases, and the bytes of a logical child seen from
//! either end.
//!
//! Invariants:
//! 1. The key at the front of a logical child is that of the end it is not seen from (DLI-12.71).

use definitions::FieldKind;

use crate::bytes::part;
use crate::forest::{Forest, Id, Type};
use crate::types::{Databases, is_virtual, key_part};

/// The physical concatenated key of an occurrence.
pub(crate) fn concatenated_key(forest: &Forest, dbds: &Databases, id: Id) -> Vec<u8> {
    let mut levels: Vec<Vec<u8>> = forest.upward(id).map(|one| key(forest, dbds, one)).collect();
    levels.reverse();
    levels.concat()
}

/// The key of an occurrence in its physical database.
pub(crate) fn key(forest: &Forest, dbds: &Databases, id: Id) -> Vec<u8> {
    let occurrence = forest.get(id);
    let at = usize::from(occurrence.kind.code).saturating_sub(1);
    let segment = dbds.get(&occurrence.kind.dbd).and_then(|dbd| dbd.segments.get(at));
    let is_key = |field: &&definitions::Field| matches!(field.kind, FieldKind::Key { .. });
    let Some(field) = segment.and_then(|segment| segment.fields.iter().find(is_key)) else {
        return Vec::new();
    };
    part(&occurrence.data, field.offset().unwrap_or(0), usize::from(field.len)).to_vec()
}

/// DLI-12.71: from the logical side the key is the physical parent's.
pub(crate) fn image_as(forest: &Forest, dbds: &Databases, kind: Type, id: Id) -> Vec<u8> {
    let occurrence = forest.get(id);
    let data = &occurrence.data;
    if kind == occurrence.kind || !is_virtual(dbds, kind) {
        return data.clone();
    }
    let key = occurrence.parent.map_or_else(Vec::new, |up| concatenated_key(forest, dbds, up));
    let (at, len) = key_part(dbds, occurrence.kind);
    with_key(data, at, len, &key)
}

/// A child with another key at its front.
pub(crate) fn with_key(data: &[u8], at: usize, len: usize, key: &[u8]) -> Vec<u8> {
    let rest = data.get(at + len..).unwrap_or(&[]);
    let mut image = [part(data, 0, at), key, rest].concat();
    if at == 2 {
        let ll = u16::try_from(image.len()).unwrap_or(u16::MAX);
        image[..2].copy_from_slice(&ll.to_be_bytes());
    }
    image
}
