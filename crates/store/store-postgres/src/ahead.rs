//! Taking spare names into use and away (`spare` says what they are), for a unit of work.

use std::sync::Arc;

use store::{LockMode, Result};
use tokio_postgres::types::Type;

use crate::spare::{Ahead, FRESH, Parameter, Spare, TAKE_AWAY};
use crate::state::UnitState;

/// Has a unit of work's spare names known to those who may want one.
pub(crate) fn begin(unit: &mut UnitState) {
    if unit.ahead.is_none() {
        let (spare, since) = (Arc::<Spare>::default(), unit.shared.now());
        unit.member.spares.enter(unit.number, Arc::clone(&spare));
        unit.ahead = Some(Ahead { spare, since });
        unit.member.ring();
    }
}

/// Takes a spare name into use. Answers the mode in which the engine has it, and whether that may
/// do without asking the engine.
pub(crate) fn take(unit: &UnitState, name: &[u8]) -> Option<(LockMode, bool)> {
    let ahead = unit.ahead.as_ref()?;
    let mode = ahead.spare.lock().remove(name)?;
    Some((mode, unit.shared.now().saturating_sub(ahead.since) < FRESH))
}

/// Makes a name spare that the engine has for this unit of work.
pub(crate) fn keep(unit: &UnitState, name: Vec<u8>, mode: LockMode) {
    if let Some(ahead) = &unit.ahead {
        ahead.spare.lock().insert(name, mode);
        unit.shared.notify();
    }
}

/// Notes that these names were taken now.
pub(crate) fn add(unit: &mut UnitState, names: Vec<Vec<u8>>, mode: LockMode) {
    let now = unit.shared.now();
    if let Some(ahead) = &mut unit.ahead {
        ahead.since = now;
        ahead.spare.lock().extend(names.into_iter().map(|name| (name, mode)));
    }
}

/// Every spare name, which nobody takes into use or away any more.
pub(crate) fn drain(unit: &UnitState) -> Vec<Vec<u8>> {
    let spare = unit.ahead.as_ref().map(|ahead| std::mem::take(&mut *ahead.spare.lock()));
    spare.unwrap_or_default().into_keys().collect()
}

/// Ends all this for a unit of work that ends. How many names the engine still has for it beside
/// those in use.
pub(crate) fn end(unit: &UnitState) -> usize {
    unit.member.spares.leave(unit.number);
    drain(unit).len()
}

/// Gives these names of the unit of work back.
pub(crate) fn give_back(unit: &UnitState, names: &[Vec<u8>]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    delete(unit, &names.iter().map(|name| &name[..]).collect::<Vec<_>>(), unit.number)?;
    unit.shared.notify();
    Ok(())
}

/// Takes a name away from units of work of this system that have it spare. Whether any had.
pub(crate) fn take_away(unit: &UnitState, name: &[u8]) -> Result<bool> {
    let mut any = false;
    for (other, spare) in unit.member.spares.all() {
        if other == unit.number {
            continue;
        }
        any |= spare.take_away(name, || delete(unit, &[name], other))?;
    }
    Ok(any)
}

fn delete(unit: &UnitState, names: &[&[u8]], of: i64) -> Result<()> {
    let mut connection = unit.shared.calls.take(unit.member.system)?;
    let (system, units) = (unit.member.system, vec![of; names.len()]);
    let away: [Parameter<'_>; 3] =
        [(&system, Type::INT4), (&names, Type::BYTEA_ARRAY), (&units, Type::INT8_ARRAY)];
    let done = connection
        .ask(&unit.shared.counters, async |client| client.execute_typed(TAKE_AWAY, &away).await);
    done.map(drop)
}
