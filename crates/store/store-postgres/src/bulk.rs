//! What concerns sets as a whole: dropped, emptied, loaded; the numbers drawn from them.

use std::sync::Arc;

use store::{LoadSource, Result, SetId, StoreError};
use tokio_postgres::types::{ToSql, Type};

use crate::connection::{commit_replicated, stamp_of, token_of};
use crate::error::{Fault, strange};
use crate::pool::Taken;
use crate::sets::{Sets, back, check_entry, front, tokened};
use crate::shared::{Shared, alone};

/// How often something that concerns a whole set is repeated.
const TRIES_MAX: u32 = 30;
/// A load sends so much at once.
const BATCH_ROWS: usize = 1_000;
const BATCH_BYTES: usize = 1 << 20;

pub(crate) fn drop_set(shared: &Arc<Shared>, sets: &Sets, set: SetId) -> Result<()> {
    remove(
        shared,
        sets,
        set,
        "WITH moved AS (SELECT nextval('set_changes')) DELETE FROM sets \
         USING moved WHERE id = $1 RETURNING id",
    )?;
    shared.gone.note(set);
    sets.forget(set);
    Ok(())
}

pub(crate) fn empty_set(shared: &Arc<Shared>, sets: &Sets, set: SetId) -> Result<()> {
    remove(shared, sets, set, "SELECT id FROM sets WHERE id = $1")
}

/// Removes all entries of a set, in one order with all commits, if the query finds the set.
fn remove(shared: &Arc<Shared>, sets: &Sets, set: SetId, query: &str) -> Result<()> {
    sets.find(shared, set)?;
    let (id, from, to) = (set.0 as i32, front(set), back(set));
    let one = [(&id as &(dyn ToSql + Sync), Type::INT4)];
    let range = [(&from as &(dyn ToSql + Sync), Type::BYTEA), (&to, Type::BYTEA)];
    let mut tries = 0;
    loop {
        let mut connection = shared.calls.take(shared.member()?.system)?;
        connection.lane.number += 1;
        let (statements, lane) = (connection.statements(), connection.lane);
        let (nobody, none, texts) = (Vec::<i32>::new(), Vec::<&[u8]>::new(), Vec::<&str>::new());
        let (numbers, stamp) = (Vec::<i64>::new(), stamp_of(lane));
        // Nothing but the proof that this system was not ended.
        let lives: [&(dyn ToSql + Sync); 12] = [
            &lane.lane,
            &lane.number,
            &lane.system,
            &nobody,
            &stamp,
            &none,
            &none,
            &numbers,
            &texts,
            &none,
            &none,
            &none,
        ];
        let (begun, lives, found, removed, ended) = connection
            .exchange(&shared.counters, async |client| {
                futures_util::join!(
                    client.batch_execute("BEGIN ISOLATION LEVEL SERIALIZABLE"),
                    client.execute(&statements.commit, &lives),
                    client.query_typed(query, &one),
                    client.execute_typed("DELETE FROM entries WHERE k >= $1 AND k < $2", &range),
                    commit_replicated(client),
                )
            })
            .map_err(|fault| connection.judge(fault))?;
        tries += 1;
        let done = begun.and_then(|()| Ok((lives?, found?, removed?, ended?)));
        if done.is_ok() && connection.was_alone() {
            return Err(alone());
        }
        match done.map_err(Fault::from) {
            Ok((_, found, ..)) if found.is_empty() => {
                sets.forget(set);
                return Err(StoreError::NoSuchSet(set));
            }
            Ok(_) => return Ok(()),
            Err(Fault::Retry(_)) if tries < TRIES_MAX => (),
            Err(fault) => return Err(connection.judge(fault)),
        }
    }
}

pub(crate) fn draw(shared: &Arc<Shared>, sets: &Sets, set: SetId, count: u32) -> Result<u64> {
    sets.find(shared, set)?;
    let (id, count) = (set.0 as i32, i64::from(count));
    // A number that a standby does not have would be drawn once more after a failover.
    let rows = shared.change(
        "UPDATE sets SET drawn = drawn + $2 \
         WHERE id = $1 AND drawn <= 9223372036854775807 - $2 RETURNING drawn - $2 + 1",
        &[(&id, Type::INT4), (&count, Type::INT8)],
    )?;
    match rows.first() {
        Some(row) => Ok(row.try_get::<_, i64>(0).map_err(strange)? as u64),
        None if sets.list(shared)?.iter().any(|info| info.id == set) => {
            Err(StoreError::NoSpace("the set's sequence".into()))
        }
        None => {
            sets.forget(set);
            Err(StoreError::NoSuchSet(set))
        }
    }
}

pub(crate) fn load(
    shared: &Arc<Shared>,
    sets: &Sets,
    set: SetId,
    source: &mut impl LoadSource,
) -> Result<u64> {
    sets.find(shared, set)?;
    let mut connection = shared.calls.take(shared.member()?.system)?;
    let loaded = load_through(shared, sets, &mut connection, set, source);
    if loaded.is_err() && !connection.is_broken() {
        let ended = connection
            .exchange(&shared.counters, async |client| client.batch_execute("ROLLBACK").await);
        if !matches!(ended, Ok(Ok(()))) {
            connection.break_off();
        }
    }
    loaded
}

#[derive(Default)]
struct Batch {
    keys: Vec<Vec<u8>>,
    values: Vec<Vec<u8>>,
    bytes: usize,
}

fn load_through(
    shared: &Arc<Shared>,
    sets: &Sets,
    connection: &mut Taken,
    set: SetId,
    source: &mut impl LoadSource,
) -> Result<u64> {
    let known = sets.find(shared, set)?;
    let (from, to) = (front(set), back(set));
    let there = connection.ask(&shared.counters, async |client| {
        client.batch_execute("BEGIN ISOLATION LEVEL SERIALIZABLE").await?;
        client
            .query_typed(
                "SELECT 1 FROM entries WHERE k >= $1 AND k < $2 LIMIT 1",
                &[(&from, Type::BYTEA), (&to, Type::BYTEA)],
            )
            .await
    })?;
    if !there.is_empty() {
        return Err(StoreError::SetNotEmpty(set));
    }
    connection.lane.number += 1;
    let (mut batch, mut last, mut count) = (Batch::default(), None::<Vec<u8>>, 0_u64);
    while let Some(entry) = source.next_entry()? {
        check_entry(&shared.capabilities, entry.key, entry.value)?;
        if last.as_ref().is_some_and(|last| entry.key <= &last[..]) {
            return Err(StoreError::OutOfOrder(count + 1));
        }
        let last = last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(entry.key);
        let stored = known.stored(entry.key);
        let value = match known.tokens {
            None => shared.sealer.seal(&stored, entry.value),
            Some(_) => shared.sealer.seal(&stored, &tokened(entry.key, entry.value)),
        };
        batch.bytes += stored.len() + value.len();
        batch.keys.push(stored);
        batch.values.push(value);
        count += 1;
        if batch.keys.len() >= BATCH_ROWS || batch.bytes >= BATCH_BYTES {
            send(shared, connection, set, &std::mem::take(&mut batch))?;
        }
    }
    send(shared, connection, set, &batch)?;
    let token = token_of(connection.lane);
    let ended = connection
        .exchange(&shared.counters, async |client| commit_replicated(client).await)
        .and_then(|answer| Ok(answer?));
    match ended {
        Ok(()) if connection.was_alone() => {
            // The next commit there would have its number, and nobody could ask for this one.
            connection.break_off();
            Err(StoreError::CommitUnknown(token))
        }
        Ok(()) => Ok(count),
        Err(Fault::Lost(_)) => {
            connection.break_off();
            Err(StoreError::CommitUnknown(token))
        }
        Err(fault) => Err(connection.judge(fault)),
    }
}

fn send(shared: &Shared, connection: &mut Taken, set: SetId, batch: &Batch) -> Result<()> {
    let statements = connection.statements();
    let (lane, sets, none) = (connection.lane, [set.0 as i32], Vec::<&[u8]>::new());
    let (numbers, texts, stamp) = (Vec::<i64>::new(), Vec::<&str>::new(), stamp_of(lane));
    let parameters: [&(dyn ToSql + Sync); 12] = [
        &lane.lane,
        &lane.number,
        &lane.system,
        &&sets[..],
        &stamp,
        &none,
        &none,
        &numbers,
        &texts,
        &batch.keys,
        &batch.values,
        &none,
    ];
    let sent = connection.ask(&shared.counters, async |client| {
        client.execute(&statements.commit, &parameters).await
    });
    sent.map(drop)
}
