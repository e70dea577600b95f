//! Long values that no data set holds any more, from the log: it has every piece that was written.
//!
//! Invariants:
//! 1. A value is given only if all its pieces were seen, in their order, as the newest chain at its
//!    place before it was given up.
//! 2. What a recovery has made void is never taken for it.

use std::collections::BTreeMap;

use base::{CiNumber, DataSetId, Lsn};
use btree::records::{Record as TreeRecord, kind as tree_kind};
use log::Record;
use uow::record::{Change, Recovered, kind};

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
    if record.kind == kind::SETS_RECOVERED
        && let Some(done) = Recovered::decode(record.body)
    {
        for (old, new) in done.sets {
            let (of_old, others) = std::mem::take(chains)
                .into_iter()
                .partition::<BTreeMap<_, _>, _>(|((set, _), _)| *set == old);
            *chains = others;
            let counts = of_old.into_iter().filter(|(_, chain)| chain.begun < done.to);
            chains.extend(counts.map(|((_, first), chain)| ((new, first), chain)));
        }
    }
    if record.kind != tree_kind::OVERFLOW {
        return;
    }
    let Some(change) = Change::decode(record.flags, record.body) else { return };
    let Ok(TreeRecord::Overflow(piece)) = TreeRecord::decode(record.kind, change.body) else {
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
