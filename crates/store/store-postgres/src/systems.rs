//! Which systems live on an engine, and what they hold there.

use std::sync::Arc;

use store::{LockName, Result};
use tokio_postgres::types::Type;

use crate::error::strange;
use crate::names::bytes_of;
use crate::shared::Shared;
use crate::{EngineStore, EngineUnit};

/// A system that lives on the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivingSystem {
    /// Its number, which no other one ever has.
    pub number: i32,
    /// What it calls itself.
    pub name: String,
    /// Since when, in microseconds since 1970-01-01 UTC.
    pub since_utc_us: u64,
    /// Names that it has locked.
    pub held: u64,
    /// Its units of work that wait for a name.
    pub waiting: u64,
    /// Its units of work that hold the name that was asked about.
    pub holding: u64,
}

/// As long as it lives, a store enters its engine under no new membership.
pub struct Carried(Arc<Shared>);

impl Drop for Carried {
    fn drop(&mut self) {
        self.0.rest_no_more();
    }
}

impl EngineUnit {
    /// Whether the membership that it began under lasts, and with it what it has locked.
    #[must_use]
    pub fn lasts(&self) -> bool {
        !self.state.member.is_lost()
    }

    /// Has everything that this store begins rest on the membership of this unit of work, to the
    /// end of the answer: if that is lost, and with it what the unit of work has locked, whatever
    /// begins later is refused instead of entering the engine anew.
    ///
    /// # Errors
    /// If it is lost already.
    pub fn carry_all(&self) -> Result<Carried> {
        self.state.shared.rest_on(&self.state.member)?;
        Ok(Carried(Arc::clone(&self.state.shared)))
    }
}

impl EngineStore {
    /// The systems that live, ordered by their numbers; `name` says whose holders are counted.
    /// What dead ones have left is cleared away first.
    ///
    /// # Errors
    /// If the engine cannot be asked.
    pub fn systems(&self, name: LockName<'_>) -> Result<Vec<LivingSystem>> {
        let bytes = bytes_of(name);
        let rows = self.shared.ask(async |client| {
            client.query_typed("SELECT hf_purge_dead()", &[]).await?;
            client
                .query_typed(
                    "SELECT a.system, a.name, (extract(epoch FROM a.since) * 1000000)::int8, \
                     (SELECT count(*) FROM held h WHERE h.system = a.system), \
                     (SELECT count(*) FROM waiting w WHERE w.system = a.system), \
                     (SELECT count(*) FROM held h WHERE h.system = a.system AND h.name = $1) \
                     FROM alive a ORDER BY a.system",
                    &[(&bytes, Type::BYTEA)],
                )
                .await
        })?;
        let system = |row: &tokio_postgres::Row| {
            let count = |at| row.try_get::<_, i64>(at).map(i64::unsigned_abs);
            Ok(LivingSystem {
                number: row.try_get(0)?,
                name: row.try_get(1)?,
                since_utc_us: count(2)?,
                held: count(3)?,
                waiting: count(4)?,
                holding: count(5)?,
            })
        };
        let systems: std::result::Result<_, _> = rows.iter().map(system).collect();
        systems.map_err(strange)
    }
}
