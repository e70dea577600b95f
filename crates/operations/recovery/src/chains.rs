//! Long values that no data set holds any more, from the log: it has every piece that was written.
//!
//! Invariants:
//! 1. A value is given only if all its pieces were seen, in their order, as the newest chain at its
//!    place before it was given up.
//! 2. What a recovery has made void is never taken for it.

use std::collections::BTreeMap;

use base::{CiNumber, DataSetId, Lsn};
use btree::records::{Record as TreeRecord, kind as tree_kind};
use uow::record::{CatalogRecord, KernelRecord, Recovered};
use wal::Record;

use crate::RecoveryError;
use crate::recover::History;

/// A value that is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// Its data set's number then.
    pub(crate) set: DataSetId,
    /// The first of its intervals.
    pub(crate) first: CiNumber,
    /// Its length.
    pub(crate) len: usize,
    /// The record that gave it up.
    pub(crate) until: Lsn,
}

/// What was seen of a chain.
#[derive(Default)]
struct Chain {
    begun: Lsn,
    pieces: u32,
    value: Vec<u8>,
}

/// Looks for long values in the log from a position on; what is not wholly there is `None`.
pub(crate) fn from_log(
    history: &dyn History,
    from: Lsn,
    wanted: &[Wanted],
) -> Result<Vec<Option<Vec<u8>>>, RecoveryError> {
    let mut found = vec![None; wanted.len()];
    let Some(to) = wanted.iter().map(|one| one.until).max() else { return Ok(found) };
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|at| wanted[*at].until);
    let mut due = order.into_iter().peekable();
    let mut chains = BTreeMap::new();
    history.each(from, to.plus(1), &mut |record| {
        while let Some(at) = due.next_if(|at| wanted[*at].until <= record.lsn) {
            let Wanted { set, first, len, .. } = wanted[at];
            let chain: Option<&Chain> = chains.get(&(set, first));
            let whole = chain.filter(|chain| chain.value.len() == len);
            found[at] = whole.map(|chain| chain.value.clone());
        }
        see(&mut chains, wanted, record);
        Ok(due.peek().is_some())
    })?;
    Ok(found)
}

fn see(
    chains: &mut BTreeMap<(DataSetId, CiNumber), Chain>,
    wanted: &[Wanted],
    record: &Record<'_>,
) {
    let change = match KernelRecord::of(record) {
        Ok(KernelRecord::Change(change)) => change,
        Ok(KernelRecord::Catalog(CatalogRecord::Recovered(done))) => {
            return moved(chains, &done);
        }
        // A record that does not decode is for the reader that needs it: what is not seen is not
        // given.
        Err(_)
        | Ok(
            KernelRecord::Commit { .. }
            | KernelRecord::BackedOut { .. }
            | KernelRecord::FreesAtCommit(_)
            | KernelRecord::UndoEnd(_)
            | KernelRecord::UndoSkipped(_)
            | KernelRecord::Checkpoint(_)
            | KernelRecord::Catalog(_)
            | KernelRecord::GivenOut(_)
            | KernelRecord::TakenBack(_)
            | KernelRecord::Write(_),
        ) => return,
    };
    if change.kind != tree_kind::OVERFLOW {
        return;
    }
    let Ok(TreeRecord::Overflow(piece)) = TreeRecord::decode(change.kind, change.body) else {
        return;
    };
    if !wanted.iter().any(|one| one.first == piece.first) {
        return;
    }
    let place = (change.set, piece.first);
    if piece.number == 0 {
        chains.insert(place, Chain { begun: record.lsn, ..Chain::default() });
    }
    match chains.get_mut(&place) {
        Some(chain) if chain.pieces == piece.number => {
            chain.pieces += 1;
            chain.value.extend_from_slice(piece.data);
        }
        _ => drop(chains.remove(&place)),
    }
}

/// Chains of data sets whose places others have taken go on under the new numbers.
fn moved(chains: &mut BTreeMap<(DataSetId, CiNumber), Chain>, done: &Recovered) {
    for (old, new) in &done.sets {
        let of_old: Vec<_> = chains.extract_if(.., |(set, _), _| set == old).collect();
        let counts = of_old.into_iter().filter(|(_, chain)| chain.begun < done.to);
        chains.extend(counts.map(|((_, first), chain)| ((*new, first), chain)));
    }
}
