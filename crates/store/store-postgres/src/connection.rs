//! A connection: one session with the engine, driven by whoever calls.
//!
//! Invariants:
//! 1. The thread that calls drives the session itself, in a small runtime that belongs to the
//!    connection: no call changes threads.
//! 2. Every exchange ends within its time. One that does not leaves the connection broken, and a
//!    broken one is never used again.
//! 3. A connection is to a server that leads, with the newest timeline that was seen, and after
//!    [`Connection::prove`] with everything that was confirmed ([`History`]).
//! 4. "Committed" means: by the leader and its synchronous standby ([`commit_replicated`],
//!    [`watched`]).
//! 5. What [`Connection::exchange`] sends at once is answered in one round trip, and counted so.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::{Poll, ready};
use std::time::Duration;

use store::{CommitToken, Result, StoreError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Runtime;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Config, Error, NoTls, SimpleQueryMessage, Statement};

use crate::error::Fault;
use crate::history::{History, Timeline};
use crate::options::{Address, Protection};

/// What the store has asked of its engine since it was opened.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) round_trips: AtomicU64,
    pub(crate) commits: AtomicU64,
    pub(crate) commit_retries: AtomicU64,
    pub(crate) connections: AtomicU64,
    pub(crate) lock_waits: AtomicU64,
}

type Link = Pin<Box<dyn Future<Output = std::result::Result<(), Error>> + Send>>;

/// What drives a session: whoever waits for an answer.
pub(crate) struct Wire {
    runtime: Runtime,
    /// Gone when the connection has ended: with it go the places where answers are waited for.
    link: Option<Link>,
    alone: Arc<AtomicBool>,
}

impl Wire {
    /// Whether the engine has warned of a commit since this was asked last.
    fn was_alone(&self) -> bool {
        self.alone.swap(false, Relaxed)
    }

    /// Waits for what was asked over the session; `None` if it takes longer than `within`.
    pub(crate) fn drive<T>(
        &mut self,
        within: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let link = &mut self.link;
        let answer = self.runtime.block_on(async {
            let mut work = pin!(work);
            let both = poll_fn(|context| {
                if let Poll::Ready(answer) = work.as_mut().poll(context) {
                    return Poll::Ready(answer);
                }
                let ended =
                    link.as_mut().is_some_and(|link| link.as_mut().poll(context).is_ready());
                if ended {
                    // Whoever still waits learns now that nothing will come.
                    *link = None;
                    context.waker().wake_by_ref();
                }
                // What was sent a moment ago may have its answer in the same packet.
                Poll::Pending
            });
            tokio::time::timeout(within, both).await
        });
        answer.ok()
    }
}

/// Ends a transaction.
///
/// The engine's own time limit is lifted before: it would end the wait for a synchronous standby,
/// too, and the engine would say "committed", with a warning, of what one node alone has.
pub(crate) async fn commit_replicated(client: &Client) -> std::result::Result<(), Error> {
    let (_, committed) = futures_util::join!(
        client.batch_execute("SET LOCAL statement_timeout TO 0"),
        client.batch_execute("COMMIT"),
    );
    committed
}

/// The other end of a session. Notes in `alone` that the engine has warned of a commit which no
/// standby has: an operator has cancelled its wait.
fn watched<S, T>(mut session: tokio_postgres::Connection<S, T>, alone: Arc<AtomicBool>) -> Link
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    Box::pin(poll_fn(move |context| {
        loop {
            match ready!(session.poll_message(context)) {
                None => return Poll::Ready(Ok(())),
                Some(Err(error)) => return Poll::Ready(Err(error)),
                Some(Ok(AsyncMessage::Notice(notice))) => {
                    // Of warnings without a code of their own no other comes with a commit.
                    if *notice.code() == SqlState::WARNING {
                        alone.store(true, Relaxed);
                    }
                }
                Some(Ok(_)) => (),
            }
        }
    }))
}

/// The other end of a session with a server.
struct Reached {
    client: Client,
    link: Link,
    alone: Arc<AtomicBool>,
    timeline: Timeline,
}

/// Connects to a host, if it leads and was not replaced.
async fn reach(
    host: Config,
    protection: &Protection,
    answer_within: Duration,
    history: &History,
) -> std::result::Result<Reached, Fault> {
    let alone = Arc::new(AtomicBool::new(false));
    let (client, mut link) =
        connect_to(host, protection, answer_within, Arc::clone(&alone)).await?;
    let timeline = timeline_of(&client, &mut link).await?;
    history.see(timeline)?;
    Ok(Reached { client, link, alone, timeline })
}

/// Which timeline a server leads.
async fn timeline_of(client: &Client, link: &mut Link) -> std::result::Result<Timeline, Fault> {
    let mut asked = pin!(client.simple_query(Timeline::QUESTION));
    let answer = poll_fn(|context| {
        if let Poll::Ready(answer) = asked.as_mut().poll(context) {
            return Poll::Ready(answer.map_err(Fault::from));
        }
        match link.as_mut().poll(context) {
            Poll::Ready(ended) => Poll::Ready(Err(ended.err().map_or_else(
                || Fault::Lost("the server has closed the connection".into()),
                Fault::from,
            ))),
            Poll::Pending => Poll::Pending,
        }
    });
    match answer.await {
        Ok(messages) => Ok(messages
            .iter()
            .find_map(|message| match message {
                SimpleQueryMessage::Row(row) => row.get(0).map(Timeline::of_answer),
                _ => None,
            })
            .unwrap_or(Timeline::UNKNOWN)),
        // An engine of another make has no such function.
        Err(Fault::Refused { .. }) => Ok(Timeline::UNKNOWN),
        Err(fault) => Err(fault),
    }
}

/// Connects to a host, if it leads.
async fn connect_to(
    mut host: Config,
    protection: &Protection,
    answer_within: Duration,
    alone: Arc<AtomicBool>,
) -> std::result::Result<(Client, Link), Error> {
    host.application_name("holdfast");
    host.connect_timeout(answer_within);
    host.keepalives_idle(Duration::from_secs(30));
    host.tcp_user_timeout(answer_within);
    Ok(match protection {
        Protection::None => {
            let (client, link) = host.connect(NoTls).await?;
            (client, watched(link, alone))
        }
        Protection::Tls(tls) => {
            let (client, link) = host.connect(tls.clone()).await?;
            (client, watched(link, alone))
        }
    })
}

/// Connects.
pub(crate) fn connect(
    address: &Address,
    answer_within: Duration,
    history: &History,
) -> std::result::Result<(Wire, Client, Timeline), Fault> {
    let lost = |error: std::io::Error| Fault::Lost(error.to_string());
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(lost)?;
    // All hosts at once: one that is frozen takes a connection and never answers, and whoever
    // tried it first would never come to the next.
    let tried = address
        .hosts
        .iter()
        .map(|host| Box::pin(reach(host.clone(), &address.protection, answer_within, history)));
    let connecting = futures_util::future::select_ok(tried);
    let (reached, _others) = runtime
        .block_on(async { tokio::time::timeout(answer_within, connecting).await })
        .map_err(|_| Fault::Lost(format!("no connection within {answer_within:?}")))??;
    let Reached { client, link, alone, timeline } = reached;
    Ok((Wire { runtime, link: Some(link), alone }, client, timeline))
}

/// A session.
pub(crate) struct Connection {
    wire: Wire,
    client: Client,
    timeline: Timeline,
    broken: bool,
    answer_within: Duration,
    statements: Option<Arc<Statements>>,
    /// Under which number it commits, for which system, and how often it has.
    pub(crate) lane: Lane,
    /// Whether a transaction that sees a snapshot is open, which the next flight ends first.
    pub(crate) in_snapshot: bool,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Lane {
    pub(crate) lane: i64,
    pub(crate) system: i32,
    pub(crate) number: i64,
}

/// A number that no other commit writes beside its entries.
pub(crate) fn stamp_of(lane: Lane) -> i64 {
    let mut mixed = (lane.lane as u64).rotate_left(40) ^ lane.number as u64;
    // The finish of SplitMix64: every bit of the number moves every bit of the stamp.
    for (shift, factor) in [(30, 0xbf58_476d_1ce4_e5b9_u64), (27, 0x94d0_49bb_1331_11eb)] {
        mixed = (mixed ^ mixed >> shift).wrapping_mul(factor);
    }
    (mixed ^ mixed >> 31) as i64
}

pub(crate) fn token_of(lane: Lane) -> CommitToken {
    let mut token = [0; 16];
    token[..8].copy_from_slice(&lane.lane.to_be_bytes());
    token[8..].copy_from_slice(&lane.number.to_be_bytes());
    CommitToken(token)
}

/// What a store sends again and again.
pub(crate) struct Statements {
    pub(crate) forward: Statement,
    pub(crate) backward: Statement,
    pub(crate) lock: Statement,
    pub(crate) ahead: Statement,
    pub(crate) unlock: Statement,
    pub(crate) leave: Statement,
    pub(crate) release: Statement,
    pub(crate) claim: Statement,
    pub(crate) check: Statement,
    pub(crate) commit: Statement,
}

const FORWARD: &str =
    "SELECT k, v, stamp FROM entries WHERE k >= $1 AND k < $2 ORDER BY k LIMIT $3";
const BACKWARD: &str =
    "SELECT k, v, stamp FROM entries WHERE k >= $1 AND k < $2 ORDER BY k DESC LIMIT $3";

const MISSING: &str = "SELECT count(*) FROM unnest($1, $2) AS confirmed (lane, number) \
     WHERE NOT EXISTS (SELECT 1 FROM lanes \
     WHERE lanes.lane = confirmed.lane AND lanes.number >= confirmed.number)";

impl Connection {
    /// Connects, with `schema` as the place of all names.
    pub(crate) fn open(
        address: &Address,
        schema: &str,
        answer_within: Duration,
        counters: &Counters,
        history: &History,
    ) -> std::result::Result<Connection, Fault> {
        let (wire, client, timeline) = connect(address, answer_within, history)?;
        counters.connections.fetch_add(1, Relaxed);
        let mut connection = Connection {
            wire,
            client,
            timeline,
            broken: false,
            answer_within,
            statements: None,
            lane: Lane::default(),
            in_snapshot: false,
        };
        // A sequential scan would lock whole tables for the engine's check of serializability.
        let settings = format!(
            "SET search_path TO {schema}; SET enable_seqscan TO off; SET enable_bitmapscan TO off; \
             SET enable_hashjoin TO off; SET enable_mergejoin TO off; SET enable_sort TO off; \
             SET plan_cache_mode TO force_generic_plan; SET jit TO off; \
             SET client_min_messages TO warning; SET statement_timeout TO {}",
            answer_within.as_millis()
        );
        connection.exchange(counters, async |client| client.batch_execute(&settings).await)??;
        Ok(connection)
    }

    /// Proves that the server has what was confirmed to this store.
    pub(crate) fn prove(
        &mut self,
        history: &History,
        now: Duration,
        counters: &Counters,
    ) -> std::result::Result<(), Fault> {
        let (lanes, numbers) = history.confirmed(now);
        if lanes.is_empty() {
            return Ok(());
        }
        let missing = self.exchange(counters, async |client| {
            let confirmed: [(&(dyn ToSql + Sync), Type); 2] =
                [(&lanes, Type::INT8_ARRAY), (&numbers, Type::INT8_ARRAY)];
            client
                .query_typed(MISSING, &confirmed)
                .await?
                .first()
                .map_or(Ok(0), |row| row.try_get(0))
        })??;
        match missing {
            0 => Ok(()),
            lanes => Err(Fault::Unconfirmed(lanes)),
        }
    }

    /// Which timeline the server leads.
    pub(crate) fn timeline(&self) -> Timeline {
        self.timeline
    }

    /// Prepares what the store's schema must be there for.
    pub(crate) fn prepare(&mut self, counters: &Counters) -> std::result::Result<(), Fault> {
        let statements = self.exchange(counters, async |client| {
            let (forward, backward, lock, unlock, leave) = futures_util::try_join!(
                client.prepare(FORWARD),
                client.prepare(BACKWARD),
                client.prepare("SELECT hf_lock($1, $2, $3, $4, $5, $6)"),
                client.prepare("SELECT hf_unlock($1, $2, $3)"),
                client.prepare("DELETE FROM waiting WHERE system = $1 AND unit = $2"),
            )?;
            let (ahead, release, claim, check, commit) = futures_util::try_join!(
                client.prepare("SELECT hf_ahead($1, $2, $3, $4, $5, $6, $7, $8)"),
                client.prepare("SELECT hf_release($1, $2, $3, $4)"),
                client.prepare("SELECT k, v, stamp FROM hf_claim($1, $2, $3, $4, $5)"),
                client.prepare("SELECT hf_check($1, $2, $3, $4)"),
                client
                    .prepare("SELECT hf_commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"),
            )?;
            Ok::<_, Error>(Statements {
                forward,
                backward,
                lock,
                ahead,
                unlock,
                leave,
                release,
                claim,
                check,
                commit,
            })
        })??;
        self.statements = Some(Arc::new(statements));
        Ok(())
    }

    /// Takes a number to commit under, for a system that lives.
    pub(crate) fn enlist(
        &mut self,
        system: i32,
        class: i32,
        counters: &Counters,
    ) -> std::result::Result<(), Fault> {
        // The lock keeps whoever would end the system away while the row comes to be.
        let both = [(&class as &(dyn ToSql + Sync), Type::INT4), (&system, Type::INT4)];
        let (begun, locked, row, ended) = self.exchange(counters, async |client| {
            futures_util::join!(
                client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED"),
                client.query_typed("SELECT pg_advisory_xact_lock_shared($1, $2)", &both),
                client.query_typed(
                    "INSERT INTO lanes (lane, system, number) \
                     SELECT nextval('lane_ids'), system, 0 FROM alive WHERE system = $1 \
                     RETURNING lane",
                    &both[1..]
                ),
                commit_replicated(client),
            )
        })?;
        begun?;
        locked?;
        let rows = row?;
        ended?;
        if self.was_alone() {
            return Err(Fault::Lost("no standby has the number to commit under".into()));
        }
        let row = rows.first().ok_or_else(|| Fault::Fenced(format!("system {system} is gone")))?;
        self.lane = Lane { lane: row.try_get(0)?, system, number: 0 };
        Ok(())
    }

    /// Whether the engine has warned, since this was asked last, that what it called committed may
    /// be known to no standby.
    pub(crate) fn was_alone(&self) -> bool {
        self.wire.was_alone()
    }

    /// Whether it may not be used again.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken || self.client.is_closed()
    }

    /// What was prepared.
    pub(crate) fn statements(&self) -> Arc<Statements> {
        Arc::clone(self.statements.as_ref().expect("a pool prepares what it gives out"))
    }

    /// Never to be used again.
    pub(crate) fn break_off(&mut self) {
        self.broken = true;
    }

    /// Sends what `work` sends at once and waits for the answers. The outer error is the loss of
    /// the connection or of patience.
    pub(crate) fn exchange<T>(
        &mut self,
        counters: &Counters,
        work: impl AsyncFnOnce(&Client) -> T,
    ) -> std::result::Result<T, Fault> {
        counters.round_trips.fetch_add(1, Relaxed);
        let within = self.answer_within + Duration::from_secs(2);
        let answer = self.wire.drive(within, work(&self.client));
        answer.ok_or_else(|| {
            self.broken = true;
            Fault::Lost(format!("the engine did not answer within {within:?}"))
        })
    }

    /// The same where an error of the engine is the answer.
    pub(crate) fn ask<T>(
        &mut self,
        counters: &Counters,
        work: impl AsyncFnOnce(&Client) -> std::result::Result<T, Error>,
    ) -> Result<T> {
        let answer = self.exchange(counters, work).and_then(|answer| Ok(answer?));
        answer.map_err(|fault| self.judge(fault))
    }

    /// Notes what a fault says about the connection itself, and answers it as an error.
    pub(crate) fn judge(&mut self, fault: Fault) -> StoreError {
        if matches!(fault, Fault::Lost(_)) {
            self.broken = true;
        }
        fault.into_error()
    }
}
