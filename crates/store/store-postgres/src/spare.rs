//! Spare names: held in the engine for a unit of work that does not need them at the moment, so
//! that whoever walks from record to record needs no round trip for each lock and each release.
//!
//! The names of the records that come next are taken together with the page that shows them, and
//! a name that was given back on the way stays until the next page is read. Whoever wants such a
//! name has it: a unit of work of this system takes it away itself (`ahead`), for those of
//! other systems the thread that watches over the membership does ([`Spares::wanted`]).
//!
//! Invariants:
//! 1. What stands in a page and belongs to a spare name was read after the name was had, and the
//!    name was held ever since. So taking the name into use reads and asks nothing.
//! 2. A spare name is taken into use or taken away under the mutex of its unit of work, and who
//!    takes it away keeps that until the engine no longer has it: never both.
//! 3. A unit of work that waits for a name has no spare ones, so they close no circle.
//! 4. Spare names serve for [`FRESH`] after they were taken: what was added between them meanwhile
//!    is missed for no longer.
//! 5. Nobody holds two of these mutexes, or waits for one while it has a connection of a pool.
//! 6. What takes a name away and is not answered may be carried out later, when its unit of work
//!    has the name again. So that unit of work is doomed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use seam::sync::{Mutex, MutexGuard};
use store::LockMode;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use crate::error::Fault;

/// For how long spare names and what was read with them serve.
pub(crate) const FRESH: Duration = Duration::from_secs(1);

/// Gives names back, each with the unit of work that has it.
pub(crate) const TAKE_AWAY: &str = "DELETE FROM held USING unnest($2, $3) AS away(name, unit) \
     WHERE held.name = away.name AND held.system = $1 AND held.unit = away.unit";
const WANTED: &str = "SELECT h.name, h.unit FROM waiting w JOIN held h ON h.name = w.name \
     WHERE h.system = $1 AND (w.system, w.unit) <> (h.system, h.unit)";

/// What a statement is sent with, and of which type that is.
pub(crate) type Parameter<'p> = (&'p (dyn ToSql + Sync), Type);

/// The spare names of a unit of work.
#[derive(Default)]
pub(crate) struct Spare {
    names: Mutex<BTreeMap<Vec<u8>, LockMode>>,
    /// See invariant 6. Set under the mutex.
    spoiled: AtomicBool,
}

impl Spare {
    pub(crate) fn lock(&self) -> MutexGuard<'_, BTreeMap<Vec<u8>, LockMode>> {
        self.names.lock()
    }

    /// Whether a name may yet be given back in the engine that the unit of work has again.
    pub(crate) fn is_spoiled(&self) -> bool {
        self.spoiled.load(Ordering::SeqCst)
    }

    /// Takes a name away, and has `delete` give it back in the engine. Whether it was there.
    pub(crate) fn take_away<E>(
        &self,
        name: &[u8],
        delete: impl FnOnce() -> Result<(), E>,
    ) -> Result<bool, E> {
        let mut names = self.lock();
        if names.remove(name).is_none() {
            return Ok(false);
        }
        let done = delete();
        if done.is_err() {
            self.spoiled.store(true, Ordering::SeqCst);
        }
        done.map(|()| true)
    }
}

/// Those of all units of work of a membership.
#[derive(Default)]
pub(crate) struct Spares(Mutex<BTreeMap<i64, Arc<Spare>>>);

impl Spares {
    /// Whether any unit of work may have some.
    pub(crate) fn are_possible(&self) -> bool {
        !self.0.lock().is_empty()
    }

    pub(crate) fn enter(&self, unit: i64, spare: Arc<Spare>) {
        self.0.lock().insert(unit, spare);
    }

    pub(crate) fn leave(&self, unit: i64) {
        self.0.lock().remove(&unit);
    }

    pub(crate) fn all(&self) -> Vec<(i64, Arc<Spare>)> {
        self.0.lock().iter().map(|(unit, spare)| (*unit, Arc::clone(spare))).collect()
    }

    fn of(&self, unit: i64) -> Option<Arc<Spare>> {
        self.0.lock().get(&unit).map(Arc::clone)
    }

    /// Takes away what others wait for. `ask` sends a statement and answers rows.
    pub(crate) fn wanted(
        &self,
        system: i32,
        mut ask: impl FnMut(&str, &[Parameter<'_>]) -> Result<Vec<Row>, Fault>,
    ) -> Result<(), Fault> {
        if self.all().iter().all(|(_, spare)| spare.lock().is_empty()) {
            return Ok(());
        }
        for row in ask(WANTED, &[(&system, Type::INT4)])? {
            let (name, unit): (Vec<u8>, i64) = (row.try_get(0)?, row.try_get(1)?);
            let Some(spare) = self.of(unit) else { continue };
            spare.take_away(&name, || {
                let (names, units) = (vec![&name[..]], vec![unit]);
                let away: [Parameter<'_>; 3] = [
                    (&system, Type::INT4),
                    (&names, Type::BYTEA_ARRAY),
                    (&units, Type::INT8_ARRAY),
                ];
                ask(TAKE_AWAY, &away).map(drop)
            })?;
        }
        Ok(())
    }
}

/// What a unit of work has of this.
pub(crate) struct Ahead {
    pub(crate) spare: Arc<Spare>,
    /// When the newest ones were taken.
    pub(crate) since: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_whose_taking_away_is_not_answered_spoils_its_unit_of_work() {
        let spare = Spare::default();
        for name in [b"A", b"B"] {
            spare.lock().insert(name.to_vec(), LockMode::Exclusive);
        }
        assert_eq!(spare.take_away(b"C", || Err("lost")), Ok(false));
        assert_eq!(spare.take_away(b"A", || Ok::<_, &str>(())), Ok(true));
        assert!(!spare.is_spoiled());
        assert_eq!(spare.take_away(b"B", || Err("lost")), Err("lost"));
        assert!(spare.is_spoiled() && spare.lock().is_empty());
    }
}
