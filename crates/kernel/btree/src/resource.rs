//! Redo and undo: what the kernel asks of the tree.
//!
//! A change is done by logging its record and applying the record, so what restart repeats is what
//! was done. Redo never trusts the body: whatever does not fit the interval is damage.

use std::sync::Arc;

use base::CiNumber;
use space::{DataSet, Header, ROOT};
use uow::{RecordDamage, Resource, Target, Undo, UowError};

use crate::node::{Kind, LEVEL_MAX, NodeBuilder, NodeDamage, NodeMut, NodeView, Split, Value};
use crate::records::{Piece, Record, Relocate};
use crate::tree::{Tree, format_empty};
use crate::{overflow, overflow_write, update};

/// The tree as the kernel's resource. It has no state.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeResource;

impl Resource for TreeResource {
    fn targets(&self, kind: u8, body: &[u8], out: &mut Vec<Target>) -> Result<(), RecordDamage> {
        let old = |ci| Target { ci, fresh: false, frees: false };
        let fresh = |ci| Target { ci, fresh: true, frees: false };
        let freed = |ci| Target { ci, fresh: true, frees: true };
        match Record::decode(kind, body)? {
            Record::Insert(entry) | Record::Remove(entry) => out.push(old(entry.ci)),
            Record::Replace(replace) => out.push(old(replace.ci)),
            Record::RemoveRun { ci, .. } => out.push(old(ci)),
            Record::Split { left, right, image, .. } => {
                out.push(old(left));
                // Only a deliberate bug logs a split without its right half.
                if !image.is_empty() {
                    out.push(fresh(right));
                }
            }
            Record::Post { parent, .. } => out.push(old(parent)),
            Record::RootSplit { left, right, .. } => {
                out.extend([fresh(ROOT), fresh(left), fresh(right)]);
            }
            Record::Merge { parent, left, right, .. } => {
                out.extend([old(parent), old(left), freed(right)]);
            }
            Record::RootCollapse { child, .. } => out.extend([fresh(ROOT), freed(child)]),
            Record::Relocate(moved) => {
                out.push(old(moved.parent));
                out.extend(moved.left.map(old));
                out.extend([fresh(moved.new), freed(moved.old)]);
            }
            Record::Overflow(piece) => out.push(fresh(piece.ci)),
            Record::Load { ci, .. } => out.push(fresh(ci)),
            Record::Free { ci } => out.push(freed(ci)),
            Record::LoadBegins => out.push(old(ROOT)),
            Record::Root { .. } => out.push(fresh(ROOT)),
        }
        Ok(())
    }

    fn redo(
        &self,
        kind: u8,
        body: &[u8],
        ci: CiNumber,
        page: &mut [u8],
    ) -> Result<(), RecordDamage> {
        match Record::decode(kind, body)? {
            Record::Insert(entry) => {
                let (mut leaf, count) = leaf(page)?;
                check(entry.slot <= count)?;
                leaf.insert(entry.slot, entry.key, entry.value).map_err(damage)
            }
            Record::Remove(entry) => {
                let (mut leaf, count) = leaf(page)?;
                check(entry.slot < count)?;
                leaf.remove(entry.slot);
                Ok(())
            }
            Record::Replace(replace) => {
                let (mut leaf, count) = leaf(page)?;
                check(replace.slot < count)?;
                let old = leaf.view().value_at(replace.slot);
                let new = replace.apply(old.bytes, false)?;
                let value = Value { bytes: &new, overflow: replace.is_overflow };
                leaf.replace_value(replace.slot, value).map_err(damage)
            }
            Record::RemoveRun { slot, entries, .. } => {
                let (mut leaf, count) = leaf(page)?;
                check(slot + entries.len() <= count)?;
                leaf.remove_run(slot..slot + entries.len());
                Ok(())
            }
            structure => redo_structure(&structure, ci, page),
        }
    }

    fn damage(&self, ci: CiNumber, page: &[u8]) -> Option<String> {
        if let Some(damage) = crate::node_damage(page) {
            return Some(damage.to_string());
        }
        let named = Header::read(page).ci;
        (named != ci).then(|| format!("it says that it is interval {named}"))
    }

    fn undo(
        &self,
        undo: &mut Undo<'_>,
        set: &DataSet,
        kind: u8,
        body: &[u8],
    ) -> Result<(), UowError> {
        let kernel = Arc::clone(undo.kernel());
        let tree = Tree::new(&kernel, set);
        let damaged = |damage: RecordDamage| UowError::Damaged {
            object: format!("a log record of data set {}", set.name()),
            why: damage.0,
        };
        match Record::decode(kind, body).map_err(damaged)? {
            Record::Insert(entry) => update::undo_insert(tree, undo, entry.key)?,
            Record::Remove(entry) => update::undo_remove(tree, undo, entry.key, entry.value, true)?,
            Record::Replace(replace) => update::undo_replace(tree, undo, &replace)?,
            Record::RemoveRun { entries, .. } => {
                for (key, value) in entries {
                    update::undo_remove(tree, undo, key, value, false)?;
                }
            }
            Record::Overflow(piece) => overflow_write::undo_piece(tree, undo, piece.ci)?,
            Record::LoadBegins => crate::load::undo_load(tree, undo)?,
            _ => {
                let name = crate::records::name_of(kind).unwrap_or("?");
                let why = format!("a record \"{name}\" is never undone");
                return Err(damaged(RecordDamage(why)));
            }
        }
        Ok(())
    }
}

/// The parts of structure changes, interval by interval.
fn redo_structure(record: &Record<'_>, ci: CiNumber, page: &mut [u8]) -> Result<(), RecordDamage> {
    match *record {
        Record::Split { left, right, left_count, separator, image } => {
            if ci == right {
                return load(page, image, right);
            }
            check(ci == left)?;
            let (mut node, count) = node(page)?;
            check(left_count <= count && fits_between(node.view(), separator))?;
            let split = Split { left_count, separator: separator.to_vec() };
            check(node.try_truncate_at(&split, right).is_ok())
        }
        Record::Post { slot, child, separator, .. } => insert_child(page, slot, separator, child),
        Record::RootSplit { left, right, separator, left_image, right_image } => match ci {
            _ if ci == left => load(page, left_image, left),
            _ if ci == right => load(page, right_image, right),
            _ => {
                check(ci == ROOT)?;
                new_root(page, left_image, separator, [left, right])
            }
        },
        Record::Merge { parent, left, right, slot, image } => match ci {
            _ if ci == right => {
                free(page, right);
                Ok(())
            }
            _ if ci == left => take_over(page, image),
            _ => {
                check(ci == parent)?;
                let (mut parent, count) = inner(page)?;
                check(slot < count && slot > 0)?;
                parent.remove(slot);
                Ok(())
            }
        },
        Record::RootCollapse { child, image } => {
            if ci == child {
                free(page, child);
                return Ok(());
            }
            check(ci == ROOT)?;
            load(page, image, ROOT)
        }
        Record::Relocate(moved) => relocate(&moved, ci, page),
        Record::Overflow(piece) => write_piece(page, piece),
        Record::Free { ci } => {
            free(page, ci);
            Ok(())
        }
        Record::LoadBegins => Ok(()),
        Record::Load { ci, image } => load(page, image, ci),
        Record::Root { image: [] } => {
            format_empty(page);
            Ok(())
        }
        Record::Root { image } => load(page, image, ROOT),
        _ => unreachable!("leaf records are redone elsewhere"),
    }
}

/// One interval's part of a node's move.
fn relocate(moved: &Relocate<'_>, ci: CiNumber, page: &mut [u8]) -> Result<(), RecordDamage> {
    match ci {
        _ if ci == moved.new => load(page, moved.image, moved.new),
        _ if ci == moved.old => {
            free(page, moved.old);
            Ok(())
        }
        _ if ci == moved.parent => {
            let (mut parent, count) = inner(page)?;
            check(moved.slot < count)?;
            parent.set_child(moved.slot, moved.new);
            Ok(())
        }
        _ => {
            check(Some(ci) == moved.left)?;
            node(page)?.0.set_right(Some(moved.new));
            Ok(())
        }
    }
}

/// The root becomes the parent of two nodes, of which `left_image` is one.
fn new_root(
    page: &mut [u8],
    left_image: &[u8],
    separator: &[u8],
    children: [CiNumber; 2],
) -> Result<(), RecordDamage> {
    let level = left_image.get(9).copied().unwrap_or(u8::MAX);
    check(level < LEVEL_MAX)?;
    check(separator.len() <= crate::node::key_bytes_max(page.len()))?;
    let [left, right] = children.map(|child| child.0.to_le_bytes());
    let mut root = NodeBuilder::new(page, Kind::Inner, level + 1, ROOT, b"");
    let built = root
        .push(b"", Value::inline(&left))
        .and_then(|()| root.push(separator, Value::inline(&right)))
        .and_then(|()| root.finish(None, None).map(|_| ()));
    built.map_err(damage)
}

/// A node takes over all that its right sibling had.
fn take_over(page: &mut [u8], image: &[u8]) -> Result<(), RecordDamage> {
    let mut copy = vec![0; page.len()];
    let right = NodeMut::load_image(&mut copy, image).map_err(damage)?;
    let (mut left, _) = node(page)?;
    let (low, high) = (left.view(), right.view());
    check((low.kind(), low.level()) == (high.kind(), high.level()))?;
    left.merge_from(high).map_err(damage)
}

fn check(holds: bool) -> Result<(), RecordDamage> {
    match holds {
        true => Ok(()),
        false => Err(RecordDamage("the interval is not as it was when the record was made".into())),
    }
}

fn damage(error: impl std::fmt::Display) -> RecordDamage {
    RecordDamage(error.to_string())
}

fn node(page: &mut [u8]) -> Result<(NodeMut<'_>, usize), RecordDamage> {
    let count = NodeView::opened(page).map_err(|error: NodeDamage| damage(error))?.count();
    Ok((NodeMut::new(page), count))
}

fn of_kind(page: &mut [u8], kind: Kind) -> Result<(NodeMut<'_>, usize), RecordDamage> {
    let (node, count) = node(page)?;
    check(node.view().kind() == kind)?;
    Ok((node, count))
}

fn leaf(page: &mut [u8]) -> Result<(NodeMut<'_>, usize), RecordDamage> {
    of_kind(page, Kind::Leaf)
}

fn inner(page: &mut [u8]) -> Result<(NodeMut<'_>, usize), RecordDamage> {
    of_kind(page, Kind::Inner)
}

fn insert_child(
    page: &mut [u8],
    slot: usize,
    separator: &[u8],
    child: CiNumber,
) -> Result<(), RecordDamage> {
    let (mut parent, count) = inner(page)?;
    check(slot > 0 && slot <= count)?;
    parent.insert(slot, separator, Value::inline(&child.0.to_le_bytes())).map_err(damage)
}

/// Whether a separator could be one of this node's.
fn fits_between(node: NodeView<'_>, separator: &[u8]) -> bool {
    separator.len() <= crate::node::key_bytes_max(node.bytes().len())
        && node.low_fence() < separator
}

fn load(page: &mut [u8], image: &[u8], number: CiNumber) -> Result<(), RecordDamage> {
    let mut node = NodeMut::load_image(page, image).map_err(damage)?;
    node.set_number(number);
    Ok(())
}

/// Makes an interval one that holds nothing.
fn free(page: &mut [u8], ci: CiNumber) {
    page.fill(0);
    Header::write(page, space::kind::FREE, 0, ci);
}

fn write_piece(page: &mut [u8], piece: Piece<'_>) -> Result<(), RecordDamage> {
    check(piece.data.len() <= overflow::piece_bytes_max(page.len()))?;
    overflow::format_piece(page, &piece);
    Ok(())
}
