//! The connections of a store, so many and no more.
//!
//! Whoever needs one takes it for one exchange, or for as long as a snapshot is read; a drop gives
//! it back. Two pools, one for each purpose, keep units of work that hold a snapshot from waiting
//! for each other. A connection that broke, or that commits for a system that was ended, is
//! closed instead.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use seam::clock::Clock;
use seam::sync::{Condvar, Mutex};
use store::{Result, StoreError};

use crate::connection::{Connection, Counters};
use crate::error::Fault;
use crate::history::History;
use crate::options::Address;

/// Makes and keeps connections.
pub(crate) struct Pool {
    address: Address,
    schema: String,
    class: i32,
    most: usize,
    answer_within: Duration,
    connection_within: Duration,
    clock: Arc<dyn Clock>,
    counters: Arc<Counters>,
    history: Arc<History>,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    open: usize,
}

/// What every connection of a store has in common.
#[derive(Clone)]
pub(crate) struct Common {
    pub(crate) address: Address,
    pub(crate) schema: String,
    pub(crate) class: i32,
    pub(crate) answer_within: Duration,
    pub(crate) connection_within: Duration,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) history: Arc<History>,
}

impl Common {
    /// A connection that belongs to no pool and commits for nobody.
    pub(crate) fn connect(&self) -> Result<Connection> {
        let mut connection = Connection::open(
            &self.address,
            &self.schema,
            self.answer_within,
            &self.counters,
            &self.history,
        )
        .map_err(Fault::into_error)?;
        let now = self.clock.monotonic();
        connection.prove(&self.history, now, &self.counters).map_err(Fault::into_error)?;
        Ok(connection)
    }
}

impl Pool {
    pub(crate) fn new(common: Common, most: usize) -> Arc<Pool> {
        Arc::new(Pool {
            address: common.address,
            schema: common.schema,
            class: common.class,
            most: most.max(1),
            answer_within: common.answer_within,
            connection_within: common.connection_within,
            clock: common.clock,
            counters: common.counters,
            history: common.history,
            state: Mutex::default(),
            freed: Condvar::new(),
        })
    }

    /// A connection that commits for this system.
    pub(crate) fn take(self: &Arc<Pool>, system: i32) -> Result<Taken> {
        let deadline = self.clock.monotonic() + self.connection_within;
        let mut state = self.state.lock();
        loop {
            while let Some(connection) = state.idle.pop() {
                let is_current = self.history.is_current(connection.timeline());
                if connection.lane.system == system && is_current && !connection.is_broken() {
                    return Ok(self.taken(connection));
                }
                state.open -= 1;
            }
            if state.open < self.most {
                state.open += 1;
                break;
            }
            let left = deadline.saturating_sub(self.clock.monotonic());
            if left.is_zero() {
                return Err(StoreError::Unavailable(
                    format!(
                        "all {} connections are in use, and none came free within {:?}",
                        self.most, self.connection_within
                    )
                    .into(),
                ));
            }
            self.freed.wait_for(&mut state, left);
        }
        drop(state);
        let opened = self.open(system);
        if opened.is_err() {
            self.close_one();
        }
        Ok(self.taken(opened.map_err(Fault::into_error)?))
    }

    fn taken(self: &Arc<Pool>, connection: Connection) -> Taken {
        Taken { pool: Arc::clone(self), connection: Some(connection) }
    }

    fn open(&self, system: i32) -> std::result::Result<Connection, Fault> {
        let (address, counters, history) = (&self.address, &self.counters, &self.history);
        let mut connection =
            Connection::open(address, &self.schema, self.answer_within, counters, history)?;
        connection.prove(history, self.clock.monotonic(), counters)?;
        connection.prepare(counters)?;
        connection.enlist(system, self.class, counters)?;
        Ok(connection)
    }

    fn close_one(&self) {
        self.state.lock().open -= 1;
        self.freed.notify_one();
    }

    /// Closes what nobody uses: after the engine was away, or has ended this system.
    pub(crate) fn clear(&self) {
        let mut state = self.state.lock();
        let idle = std::mem::take(&mut state.idle);
        state.open -= idle.len();
        drop(state);
        self.freed.notify_all();
    }
}

/// A connection in use.
pub(crate) struct Taken {
    pool: Arc<Pool>,
    connection: Option<Connection>,
}

impl Deref for Taken {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("it is there until the drop")
    }
}

impl DerefMut for Taken {
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("it is there until the drop")
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if connection.is_broken() {
            drop(connection);
            self.pool.close_one();
            return;
        }
        self.pool.state.lock().idle.push(connection);
        self.pool.freed.notify_one();
    }
}
