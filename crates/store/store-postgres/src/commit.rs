//! Commits: sent in one flight, repeated where the engine could not place them, resolved where the
//! answer was lost.
//!
//! A flight is BEGIN, the function `hf_commit` with everything that was read and written, COMMIT,
//! and the names given back; the names only if the number of this commit stands in the lane, which
//! is so exactly when it happened.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use store::{CommitToken, Resolution, Result, StoreError};
use tokio_postgres::types::{ToSql, Type};

use crate::ahead;
use crate::connection::{Counters, Lane, commit_replicated, stamp_of, token_of};
use crate::error::{EngineError, Fault, strange};
use crate::names;
use crate::pool::Taken;
use crate::read_set::Columns;
use crate::shared::Shared;
use crate::state::UnitState;

/// How often a commit is repeated before it is a conflict.
const TRIES_MAX: u32 = 30;
const PAUSE_FIRST: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// Whether a commit has given the names back.
pub(crate) enum Names {
    Free,
    Held,
}

/// What is to be written, in the columns that the engine takes.
struct Writes {
    sets: Vec<i32>,
    puts: Vec<Vec<u8>>,
    values: Vec<Vec<u8>>,
    deleted: Vec<Vec<u8>>,
}

pub(crate) fn commit(unit: &mut UnitState) -> Result<Names> {
    unit.spared = ahead::end(unit);
    if unit.overlay.is_empty() && unit.seen.is_empty() {
        return release_reader(unit);
    }
    let writes = writes_of(unit);
    let mut pause = PAUSE_FIRST;
    for attempt in 1..=TRIES_MAX {
        let mut connection = connection_of(unit)?;
        let fault = match fly(unit, &mut connection, &writes) {
            Ok(names) => return settle(unit, names),
            Err((Fault::Lost(why), Some(token))) => {
                connection.break_off();
                drop(connection);
                return match ask_soon(unit, token, &why)? {
                    Resolution::Committed => settle(unit, Names::Held),
                    // Nothing of it happened or will; but who saw the connection go cannot know
                    // whether the engine still has the names.
                    Resolution::BackedOut => Err(StoreError::Conflict(
                        format!("the engine went away before it had committed: {why}").into(),
                    )),
                };
            }
            Err((fault, _)) => fault,
        };
        match fault {
            Fault::Retry(_) if attempt < TRIES_MAX => {
                drop(connection);
                unit.shared.counters.commit_retries.fetch_add(1, Relaxed);
                // By their numbers, so that two that met do not meet again.
                let spread = Duration::from_micros((unit.number as u64).wrapping_mul(7919) % 1_000);
                unit.shared.seam.clock.sleep(pause + spread);
                pause = (pause * 2).min(PAUSE_MAX);
            }
            Fault::Fenced(_) => {
                unit.member.lose();
                return Err(fault.into_error());
            }
            fault => return Err(connection.judge(fault)),
        }
    }
    Err(StoreError::Conflict("the engine did not find a place for it".into()))
}

/// One that has only read under names, if anything: whether they were still held decides.
fn release_reader(unit: &mut UnitState) -> Result<Names> {
    let held = (unit.held.len() + unit.claimed.len() + unit.spared) as i64;
    if held == 0 && unit.ahead.is_none() {
        return Ok(Names::Held);
    }
    if names::release_all(unit)? < held {
        unit.member.lose();
        let why = "this system was ended by another one, and its locks with it";
        return Err(StoreError::Unavailable(why.into()));
    }
    Ok(Names::Free)
}

fn settle(unit: &mut UnitState, names: Names) -> Result<Names> {
    if unit.overlay.is_empty() {
        return release_reader(unit);
    }
    unit.shared.counters.commits.fetch_add(1, Relaxed);
    Ok(names)
}

/// The connection that has the snapshot, or any.
fn connection_of(unit: &mut UnitState) -> Result<Taken> {
    let Some(mut connection) = unit.snapshot.take() else {
        return unit.shared.calls.take(unit.member.system);
    };
    // The flight begins with the end of what runs there.
    connection.in_snapshot = true;
    Ok(connection)
}

fn writes_of(unit: &UnitState) -> Writes {
    let sets = unit.written.iter().map(|set| set.0 as i32).collect();
    let mut writes = Writes { sets, puts: Vec::new(), values: Vec::new(), deleted: Vec::new() };
    for (key, change) in unit.overlay.all() {
        match change {
            Some(value) => {
                writes.values.push(unit.shared.sealer.seal(key, value));
                writes.puts.push(key.to_vec());
            }
            None => writes.deleted.push(key.to_vec()),
        }
    }
    writes
}

/// How the transaction of a commit begins, at the level that it needs.
fn begin_of(unit: &UnitState, in_snapshot: bool) -> String {
    let level = match (unit.guarded || !unit.seen.is_empty(), !unit.overlay.is_empty()) {
        (true, true) => "SERIALIZABLE",
        (true, false) => "SERIALIZABLE READ ONLY",
        (false, _) => "READ COMMITTED",
    };
    let before = if in_snapshot { "COMMIT; " } else { "" };
    // A flight that was cut in the middle must not keep its rows locked.
    format!(
        "{before}BEGIN ISOLATION LEVEL {level}; SET LOCAL idle_in_transaction_session_timeout TO 5000"
    )
}

/// Sends everything at once. A loss comes with the token to ask by, if anything was to be changed.
fn fly(
    unit: &UnitState,
    connection: &mut Taken,
    writes: &Writes,
) -> std::result::Result<Names, (Fault, Option<CommitToken>)> {
    let changes = !unit.overlay.is_empty();
    let held = !unit.held.is_empty() || !unit.claimed.is_empty() || unit.ahead.is_some();
    let names = changes && held;
    connection.lane.number += 1;
    let lane = if changes { connection.lane } else { Lane::default() };
    let token = changes.then(|| token_of(lane));
    let begin = begin_of(unit, std::mem::take(&mut connection.in_snapshot));
    let statements = connection.statements();
    let columns = unit.seen.columns();
    let Columns { from, to, count, sum } = &columns;
    let (system, stamp) = (unit.member.system, stamp_of(lane));
    let commit: [&(dyn ToSql + Sync); 12] = [
        &lane.lane,
        &lane.number,
        &system,
        &writes.sets,
        &stamp,
        from,
        to,
        count,
        sum,
        &writes.puts,
        &writes.values,
        &writes.deleted,
    ];
    let release: [&(dyn ToSql + Sync); 4] = [&system, &unit.number, &lane.lane, &lane.number];
    let flown = connection.exchange(&unit.shared.counters, async |client| {
        futures_util::join!(
            client.batch_execute(&begin),
            client.execute(&statements.commit, &commit),
            commit_replicated(client),
            async {
                match names {
                    true => client.execute(&statements.release, &release).await.map(|_| true),
                    false => Ok(false),
                }
            },
        )
    });
    let (begun, written, committed, released) = flown.map_err(|fault| (fault, token))?;
    // What the engine refused did not happen, whatever came after it.
    for refused in [begun.as_ref().err(), written.as_ref().err(), committed.as_ref().err()] {
        let fault = refused.map(Fault::of);
        if let Some(fault) = fault
            && !matches!(fault, Fault::Lost(_))
        {
            return Err((fault, None));
        }
    }
    match committed {
        Ok(()) if changes && connection.was_alone() => {
            return Err((Fault::Lost("no standby has the commit".into()), token));
        }
        Ok(()) if changes => unit.shared.confirm(lane.lane, lane.number),
        Ok(()) => (),
        Err(error) => return Err((Fault::of(&error), token)),
    }
    match released {
        Ok(true) => Ok(Names::Free),
        _ => Ok(Names::Held),
    }
}

/// Asks until the engine answers, or for as long as the options say.
fn ask_soon(unit: &UnitState, token: CommitToken, why: &str) -> Result<Resolution> {
    let shared = &unit.shared;
    let deadline = shared.now() + shared.options.resolve_within;
    loop {
        match resolve(shared, token) {
            Ok(resolution) => return Ok(resolution),
            Err(StoreError::Unavailable(_)) if shared.now() < deadline => {
                shared.seam.clock.sleep(PAUSE_MAX * 2);
            }
            Err(StoreError::Unavailable(_)) => return Err(StoreError::CommitUnknown(token)),
            Err(error) => {
                let _ = why;
                return Err(error);
            }
        }
    }
}

/// What became of a commit. Whatever of it is still under way has ended when this answers, and
/// nothing more can be committed in its lane.
pub(crate) fn resolve(shared: &Arc<Shared>, token: CommitToken) -> Result<Resolution> {
    let number_at = |at: usize| base::bytes::get_u64(&token.0, at).swap_bytes() as i64;
    let (lane, number) = (number_at(0), number_at(8));
    let counters: &Counters = &shared.counters;
    let mut connection = shared.connect()?;
    let fence = "UPDATE lanes SET fenced = true, since = now() WHERE lane = $1 RETURNING number";
    let rows = connection.ask(counters, async |client| {
        client.batch_execute("BEGIN").await?;
        let rows = client.query_typed(fence, &[(&lane, Type::INT8)]).await?;
        // Once this has reached a standby, so has everything before it.
        commit_replicated(client).await?;
        Ok(rows)
    })?;
    if connection.was_alone() {
        return Err(StoreError::Unavailable("no standby has the engine's commits".into()));
    }
    let Some(row) = rows.first() else {
        return Err(StoreError::beneath(EngineError::Forgotten(token)));
    };
    let last: i64 = row.try_get(0).map_err(strange)?;
    if last != number {
        return Ok(Resolution::BackedOut);
    }
    shared.confirm(lane, number);
    Ok(Resolution::Committed)
}
