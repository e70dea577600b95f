//! What all units of work of a store in this process share: the way to the engine, the membership,
//! who waits for names.

use std::sync::Arc;
use std::time::Duration;

use seam::Seam;
use seam::sync::{Condvar, Mutex};
use store::{Capabilities, Result, StoreError};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use crate::connection::{Connection, Counters, commit_replicated};
use crate::error::Fault;
use crate::member::{Gone, Member};
use crate::options::EngineOptions;
use crate::pool::{Common, Pool};
use crate::sealer::Sealer;

pub(crate) struct Shared {
    pub(crate) seam: Seam,
    pub(crate) options: EngineOptions,
    pub(crate) capabilities: Capabilities,
    pub(crate) calls: Arc<Pool>,
    pub(crate) snapshots: Arc<Pool>,
    pub(crate) sealer: Sealer,
    pub(crate) counters: Arc<Counters>,
    pub(crate) identity: [u8; 16],
    pub(crate) gone: Arc<Gone>,
    common: Common,
    membership: Mutex<Membership>,
    /// How often a name was given back here, for those who wait for one.
    pub(crate) given_back: Mutex<u64>,
    pub(crate) freed: Condvar,
}

/// The membership that units of work begin under.
struct Membership {
    member: Arc<Member>,
    /// How many rest on this one: as long as there are any, it is not followed by another.
    rests: usize,
}

fn capabilities(options: &EngineOptions) -> Capabilities {
    Capabilities {
        name: "postgresql",
        key_bytes_max: 2_000,
        value_bytes_max: 1 << 20,
        lock_name_bytes_max: 1_024,
        unit_bytes_max: Some(options.unit_bytes_max),
        unit_writes_max: Some(options.unit_writes_max),
        unit_age_max: Some(options.unit_age_max),
        savepoints_max: u32::MAX,
        durable: true,
        strict: true,
        waits: false,
        caller_locking: true,
        reads_uncommitted: false,
        early_release: false,
        commit_order: false,
        cheap_range_delete: false,
    }
}

/// What was changed is known to one node alone: it may be there after a failover, or not.
pub(crate) fn alone() -> StoreError {
    StoreError::Unavailable("no standby has what was changed".into())
}

fn without_right() -> StoreError {
    let why = "the connection that showed that this system lives was lost, and with it the right \
               to the databases that this work rests on: somebody else may be at work on them";
    StoreError::Unavailable(why.into())
}

impl Shared {
    /// What a store shares from now on, which is a member over this connection.
    pub(crate) fn open(
        common: Common,
        connection: Connection,
        identity: [u8; 16],
        options: EngineOptions,
        seam: &Seam,
    ) -> Result<Shared> {
        let sealer = Sealer::new(options.sealing.clone(), &identity, &*seam.entropy)?;
        let gone = Arc::new(Gone::default());
        let member = Member::enter(&gone, connection, common.class, &options.system)?;
        Ok(Shared {
            seam: seam.clone(),
            capabilities: capabilities(&options),
            calls: Pool::new(common.clone(), options.connections_max),
            snapshots: Pool::new(common.clone(), options.connections_max),
            sealer,
            counters: Arc::clone(&common.counters),
            identity,
            gone,
            common,
            membership: Mutex::new(Membership { member, rests: 0 }),
            given_back: Mutex::new(0),
            freed: Condvar::new(),
            options,
        })
    }

    /// The membership that units of work begin under now; a new one if the last was lost and
    /// nothing rests on that.
    pub(crate) fn member(&self) -> Result<Arc<Member>> {
        let mut membership = self.membership.lock();
        if membership.member.is_lost() {
            if membership.rests > 0 {
                return Err(without_right());
            }
            self.calls.clear();
            self.snapshots.clear();
            let connection = self.common.connect()?;
            let (class, name) = (self.common.class, &self.options.system);
            membership.member = Member::enter(&self.gone, connection, class, name)?;
        }
        Ok(Arc::clone(&membership.member))
    }

    /// Has all that begins from now on rest on this membership.
    pub(crate) fn rest_on(&self, member: &Arc<Member>) -> Result<()> {
        let mut membership = self.membership.lock();
        if member.is_lost() || !Arc::ptr_eq(member, &membership.member) {
            return Err(without_right());
        }
        membership.rests += 1;
        Ok(())
    }

    pub(crate) fn rest_no_more(&self) {
        self.membership.lock().rests -= 1;
    }

    /// Notes that the engine has confirmed a commit.
    pub(crate) fn confirm(&self, lane: i64, number: i64) {
        self.common.history.confirm(lane, number, self.now());
    }

    /// A connection that belongs to no pool.
    pub(crate) fn connect(&self) -> Result<Connection> {
        self.common.connect()
    }

    /// One exchange that belongs to no unit of work.
    pub(crate) fn ask<T>(
        &self,
        work: impl AsyncFnOnce(&Client) -> std::result::Result<T, tokio_postgres::Error>,
    ) -> Result<T> {
        let mut connection = self.calls.take(self.member()?.system)?;
        connection.ask(&self.counters, work)
    }

    /// One statement that changes something and belongs to no unit of work, in a transaction of its
    /// own, which is over when a standby has it.
    pub(crate) fn change(
        &self,
        query: &str,
        parameters: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>> {
        let mut connection = self.calls.take(self.member()?.system)?;
        let (begun, rows, ended) = connection
            .exchange(&self.counters, async |client| {
                futures_util::join!(
                    client.batch_execute("BEGIN"),
                    client.query_typed(query, parameters),
                    commit_replicated(client),
                )
            })
            .map_err(|fault| connection.judge(fault))?;
        let done = begun.and(rows).and_then(|rows| ended.map(|()| rows));
        let rows = done.map_err(|error| connection.judge(Fault::of(&error)))?;
        if connection.was_alone() {
            return Err(alone());
        }
        Ok(rows)
    }

    /// Tells those who wait in this process that a name was given back.
    pub(crate) fn notify(&self) {
        *self.given_back.lock() += 1;
        self.freed.notify_all();
    }

    pub(crate) fn now(&self) -> Duration {
        self.seam.clock.monotonic()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.membership.lock().member.stop();
    }
}
