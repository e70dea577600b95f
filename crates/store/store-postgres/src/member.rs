//! A system's membership: the sign that it lives, which others see in the engine.
//!
//! The sign is a session-level advisory lock, held by a connection of its own. If that connection
//! goes, so does the sign, and whoever waits for a name of this system may end it: its names are
//! free, and none of its commits succeeds any more, because each commit asks for the system's row
//! in the table `alive` and for its lane. That row stands in an unlogged table, as the names do: a
//! crash of the engine, or another leader, empties all of them together, and with the names nobody
//! keeps the right to commit what was done under them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use seam::sync::{Condvar, Mutex};
use store::{Result, SetId, StoreError};
use tokio_postgres::types::Type;

use crate::connection::{Connection, Counters};
use crate::error::Fault;
use crate::spare::Spares;

/// How soon the engine notices that a machine is gone. Engines of other makes may not know these.
const LIFE_SIGNS: &str = "SET tcp_keepalives_idle TO 10; SET tcp_keepalives_interval TO 5; \
                          SET tcp_keepalives_count TO 3; SET tcp_user_timeout TO 25000";
/// How often the sign of life is looked at.
const BEAT: Duration = Duration::from_secs(1);
/// How often, within that, it is asked whether others wait for names that are spare here.
const LOOK: Duration = Duration::from_millis(20);
const LOOKS: u32 = 50;

/// The sets that were there and were dropped, by whatever system. Their numbers do not come again.
#[derive(Default)]
pub(crate) struct Gone {
    sets: Mutex<BTreeSet<SetId>>,
    drops: AtomicU64,
}

impl Gone {
    pub(crate) fn holds(&self, set: SetId) -> bool {
        self.sets.lock().contains(&set)
    }

    /// Moves whenever sets have gone.
    pub(crate) fn drops(&self) -> u64 {
        self.drops.load(Ordering::Acquire)
    }

    pub(crate) fn note(&self, set: SetId) {
        self.sets.lock().insert(set);
        self.drops.fetch_add(1, Ordering::Release);
    }
}

/// One membership, from a system's entry to its end.
pub(crate) struct Member {
    pub(crate) system: i32,
    lost: AtomicBool,
    units: AtomicI64,
    /// Units of work whose names could not be given back yet.
    leftover: Mutex<Vec<i64>>,
    /// Names that its units of work hold and do not need.
    pub(crate) spares: Spares,
    stopping: Mutex<bool>,
    bell: Condvar,
}

impl Member {
    fn of(system: i32) -> Member {
        Member {
            system,
            lost: AtomicBool::new(false),
            units: AtomicI64::new(0),
            leftover: Mutex::default(),
            spares: Spares::default(),
            stopping: Mutex::default(),
            bell: Condvar::new(),
        }
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }

    /// Notes that the engine or its other users have ended this membership.
    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::SeqCst);
        self.bell.notify_all();
    }

    pub(crate) fn next_unit(&self) -> i64 {
        self.units.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Has a unit of work's names given back later.
    pub(crate) fn release_later(&self, unit: i64) {
        self.leftover.lock().push(unit);
        self.bell.notify_all();
    }

    /// Has its thread look at spare names from now on.
    pub(crate) fn ring(&self) {
        self.bell.notify_all();
    }

    /// Ends the membership in order, from its own thread.
    pub(crate) fn stop(&self) {
        *self.stopping.lock() = true;
        self.bell.notify_all();
    }

    /// Enters a system, and starts the thread that watches over it.
    pub(crate) fn enter(
        gone: &Arc<Gone>,
        mut connection: Connection,
        class: i32,
        name: &str,
    ) -> Result<Arc<Member>> {
        // Looking after the membership is not what the store's figures are about.
        let counters = Arc::new(Counters::default());
        // What the dead have left is cleared first, so that numbers of lanes do not pile up.
        let entered = connection
            .exchange(&counters, async |client| {
                // The lock says that the system lives: a machine that lost its power must not hold
                // it until the engine's own patience ends, which is hours.
                let _ = client.batch_execute(LIFE_SIGNS).await;
                client.batch_execute("SET statement_timeout TO 0; SELECT hf_purge_dead()").await?;
                let rows = client.query_typed("SELECT nextval('system_ids')::int4", &[]).await?;
                let system: i32 = rows[0].try_get(0)?;
                client
                    .query_typed(
                        "SELECT pg_advisory_lock_shared($1, $2)",
                        &[(&class, Type::INT4), (&system, Type::INT4)],
                    )
                    .await?;
                client
                    .execute_typed(
                        "INSERT INTO alive VALUES ($1, $2, now())",
                        &[(&system, Type::INT4), (&name, Type::TEXT)],
                    )
                    .await?;
                Ok::<i32, tokio_postgres::Error>(system)
            })
            .and_then(|answer| Ok(answer?))
            .map_err(Fault::into_error)?;
        let member = Arc::new(Member::of(entered));
        let watched = Watch {
            member: Arc::clone(&member),
            gone: Arc::clone(gone),
            connection,
            counters,
            sets: -1,
            there: BTreeSet::new(),
        };
        seam::thread::spawn("engine-member", move || watched.run()).map_err(|error| {
            StoreError::Unavailable(format!("no thread to be had: {error}").into())
        })?;
        Ok(member)
    }
}

struct Watch {
    member: Arc<Member>,
    gone: Arc<Gone>,
    connection: Connection,
    counters: Arc<Counters>,
    sets: i64,
    there: BTreeSet<SetId>,
}

impl Watch {
    fn run(mut self) {
        let mut looks = 0;
        loop {
            let spares = self.member.spares.are_possible();
            {
                let mut stopping = self.member.stopping.lock();
                if !*stopping && !self.member.is_lost() {
                    self.member.bell.wait_for(&mut stopping, if spares { LOOK } else { BEAT });
                }
                if *stopping {
                    break;
                }
            }
            let overdue = !self.member.leftover.lock().is_empty();
            looks = if spares && !overdue { (looks + 1) % LOOKS } else { 0 };
            let is_well = match looks {
                0 => self.beat().is_ok(),
                _ => self.give_up_wanted().is_ok(),
            };
            if self.member.is_lost() || !is_well {
                break;
            }
        }
        // In order, if the engine can be reached; otherwise the lost connection says it.
        self.member.lose();
        let system = self.member.system;
        let _ = self.connection.exchange(&self.counters, async |client| {
            client.query_typed("SELECT hf_purge($1)", &[(&system, Type::INT4)]).await
        });
    }

    /// Whether the system still lives, in the engine's eyes too.
    fn beat(&mut self) -> std::result::Result<(), Fault> {
        let system = self.member.system;
        let rows = self.connection.exchange(&self.counters, async |client| {
            client
                .query_typed(
                    "SELECT last_value FROM set_changes \
                     WHERE EXISTS (SELECT 1 FROM alive WHERE system = $1)",
                    &[(&system, Type::INT4)],
                )
                .await
        })??;
        let row = rows.first().ok_or_else(|| Fault::Fenced("it is no longer listed".into()))?;
        let sets: i64 = row.try_get(0)?;
        if sets != self.sets {
            self.look_at_sets()?;
            self.sets = sets;
        }
        let leftover = std::mem::take(&mut *self.member.leftover.lock());
        for unit in leftover {
            self.connection.exchange(&self.counters, async |client| {
                client
                    .query_typed(
                        "SELECT hf_release($1, $2, 0, 0)",
                        &[(&system, Type::INT4), (&unit, Type::INT8)],
                    )
                    .await
            })??;
        }
        Ok(())
    }

    /// Gives up the spare names that others wait for.
    fn give_up_wanted(&mut self) -> std::result::Result<(), Fault> {
        let (member, counters) = (Arc::clone(&self.member), Arc::clone(&self.counters));
        member.spares.wanted(member.system, |query, parameters| {
            let rows = self
                .connection
                .exchange(&counters, async |client| client.query_typed(query, parameters).await);
            Ok::<_, Fault>(rows??)
        })
    }

    fn look_at_sets(&mut self) -> std::result::Result<(), Fault> {
        let rows = self.connection.exchange(&self.counters, async |client| {
            client.query_typed("SELECT id FROM sets", &[]).await
        })??;
        let ids = rows.iter().map(|row| Ok(SetId(row.try_get::<_, i32>(0)? as u32)));
        let there = ids.collect::<std::result::Result<BTreeSet<_>, tokio_postgres::Error>>()?;
        self.there.difference(&there).for_each(|set| self.gone.note(*set));
        self.there = there;
        Ok(())
    }
}
