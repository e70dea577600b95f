//! Writing the pieces of a value that does not fit into a leaf, and taking them back.

use base::CiNumber;
use pool::ExclusiveCi;
use space::Purpose;
use uow::{Undo, UowError};

use crate::TreeError;
use crate::overflow::{Reference, piece_bytes_max};
use crate::records::{Fields, kind};
use crate::tree::Tree;

/// How the writer of a chain logs a piece.
type LogPiece<'a> = dyn FnMut(&[&[u8]], &mut ExclusiveCi<'_>) -> Result<(), TreeError> + 'a;

/// Writes a value as a chain. `prepare` is called before each latch, `log` under it.
pub(crate) fn write(
    tree: Tree<'_>,
    value: &[u8],
    near: Option<CiNumber>,
    prepare: &mut dyn FnMut(usize) -> Result<(), TreeError>,
    log: &mut LogPiece<'_>,
) -> Result<Reference, TreeError> {
    let first = tree.allocate(near, Purpose::Work)?;
    let mut unused = first;
    let written = write_from(tree, value, first, &mut unused, prepare, log);
    if written.is_err() {
        // What no record names yet would be lost; what records name is freed by undo.
        let _ = tree.kernel.release_interval(tree.set, unused);
    }
    written.map(|()| Reference { len: value.len() as u32, first })
}

/// Writes the pieces. `unused` is always the one interval that is given out and not yet known to
/// any record of the tree.
fn write_from(
    tree: Tree<'_>,
    value: &[u8],
    first: CiNumber,
    unused: &mut CiNumber,
    prepare: &mut dyn FnMut(usize) -> Result<(), TreeError>,
    log: &mut LogPiece<'_>,
) -> Result<(), TreeError> {
    let piece_bytes = piece_bytes_max(tree.set.usable_bytes());
    let mut rest = value.chunks(piece_bytes).enumerate().peekable();
    let mut ci = first;
    while let Some((number, data)) = rest.next() {
        prepare(data.len() + 64)?;
        let page = tree.set.pin_fresh(ci)?;
        let next = match rest.peek() {
            Some(_) => Some(tree.allocate(Some(ci), Purpose::Work)?),
            None => None,
        };
        let fields =
            Fields::new().ci(ci).u32(next.map_or(0, |ci| ci.0)).ci(first).u32(number as u32);
        let mut page = page.exclusive();
        log(&[fields.bytes(), data], &mut page)?;
        ci = next.unwrap_or(ci);
        *unused = ci;
    }
    Ok(())
}

/// Undoes the writing of a piece: the interval becomes free.
pub(crate) fn undo_piece(
    tree: Tree<'_>,
    undo: &mut Undo<'_>,
    ci: CiNumber,
) -> Result<(), UowError> {
    let mut page = tree.set.pin(ci)?.exclusive();
    let fields = Fields::new().ci(ci);
    undo.compensate(tree.set, kind::FREE, &[fields.bytes()], &mut page)?;
    drop(page);
    tree.kernel.release_interval(tree.set, ci)
}
