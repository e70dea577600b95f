//! Locks on names: asked for, waited for, given back.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use store::{Grant, LockMode, LockName, Result, StoreError, Wait};

use tokio_postgres::types::ToSql;

use crate::ahead;
use crate::cursor::EngineCursor;
use crate::error::strange;
use crate::pages::{Page, Rows};
use crate::read_set::successor;
use crate::state::UnitState;
use crate::walk::NAMES_MAX;

/// How long one who waits lets pass before it asks again, unless somebody rings.
const PAUSE_FIRST: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(20);

/// What the engine's function answers.
const GRANTED: i32 = 0;
const BUSY: i32 = 1;
const DEADLOCK: i32 = 2;

/// A name as the engine knows it. Keys of entries that were claimed stand apart, behind a 1.
pub(crate) fn bytes_of(name: LockName<'_>) -> Vec<u8> {
    [&[0][..], &name.space.to_be_bytes(), name.name].concat()
}

fn number_of(mode: LockMode) -> i16 {
    match mode {
        LockMode::IntentShared => 0,
        LockMode::IntentExclusive => 1,
        LockMode::Shared => 2,
        LockMode::SharedIntentExclusive => 3,
        LockMode::Update => 4,
        LockMode::Exclusive => 5,
    }
}

pub(crate) fn lock(
    unit: &mut UnitState,
    name: LockName<'_>,
    mode: LockMode,
    wait: Wait,
) -> Result<Grant> {
    let bytes = bytes_of(name);
    let held = unit.held.get(&bytes).copied();
    let mut wanted = held.map_or(mode, |held| held.join(mode));
    if held == Some(wanted) {
        return Ok(Grant::Again);
    }
    let grant = if held.is_some() { Grant::Again } else { Grant::New };
    let spare = match held {
        Some(_) => None,
        None => ahead::take(unit, &bytes),
    };
    if let Some((had, is_fresh)) = spare {
        wanted = had.join(mode);
        if is_fresh && had == wanted {
            unit.held.insert(bytes, wanted);
            return Ok(grant);
        }
    }
    let first = if unit.ahead.is_some() { Wait::No } else { wait };
    let asked = match request(unit, &bytes, wanted, first) {
        Ok(BUSY) if wait != first => {
            // Whoever waits keeps nobody else waiting for what it does not need.
            let mut given_up = ahead::drain(unit);
            if spare.is_some() {
                given_up.push(bytes.clone());
                wanted = mode;
            }
            let given_up = ahead::give_back(unit, &given_up);
            given_up.and_then(|()| request(unit, &bytes, wanted, wait))
        }
        asked => asked,
    };
    match asked.and_then(|answer| outcome(unit, answer)) {
        Ok(true) => {
            unit.held.insert(bytes, wanted);
            unit.forget_pages();
            Ok(grant)
        }
        Ok(false) => {
            if let Some((had, _)) = spare
                && wait == Wait::No
            {
                ahead::keep(unit, bytes, had);
            }
            Ok(Grant::Busy)
        }
        Err(error) => unit.doomed(error),
    }
}

/// Whether an answer grants a name; why it never will.
pub(crate) fn outcome(unit: &UnitState, answer: i32) -> Result<bool> {
    match answer {
        GRANTED => Ok(true),
        BUSY => Ok(false),
        DEADLOCK => Err(StoreError::Deadlock),
        _ => {
            unit.member.lose();
            let why = "this system was ended by another one, and its locks with it";
            Err(StoreError::Unavailable(why.into()))
        }
    }
}

/// Asks for a name until it is granted, the time is over or the unit of work is to end.
fn request(unit: &mut UnitState, bytes: &[u8], wanted: LockMode, wait: Wait) -> Result<i32> {
    let shared = Arc::clone(&unit.shared);
    let start = shared.now();
    let mut pause = PAUSE_FIRST;
    let mut asked = 0_u64;
    loop {
        // What rings while the engine answers must not be slept through.
        let rung = *shared.given_back.lock();
        match ask(unit, bytes, wanted, wait != Wait::No)? {
            BUSY => (),
            other => return Ok(other),
        }
        if ahead::take_away(unit, bytes)? {
            continue;
        }
        asked += 1;
        if asked == 1 && wait != Wait::No {
            shared.counters.lock_waits.fetch_add(1, Relaxed);
        }
        let passed = shared.now().saturating_sub(start);
        let left = match wait {
            Wait::No => return Ok(BUSY),
            Wait::Forever => Duration::MAX,
            Wait::AtMost(time) => time.saturating_sub(passed),
        };
        if left.is_zero() {
            leave(unit)?;
            return Ok(BUSY);
        }
        let mut given_back = shared.given_back.lock();
        if *given_back == rung {
            shared.freed.wait_for(&mut given_back, pause.min(left));
        }
        drop(given_back);
        pause = (pause * 2).min(PAUSE_MAX);
        unit.check()?;
    }
}

/// Locks the name of the key that a cursor stands on, and with it those of keys that follow, which
/// it reads besides.
pub(crate) fn lock_along(
    unit: &mut UnitState,
    cursor: &mut EngineCursor,
    stored: &[u8],
    mode: LockMode,
) -> Result<Grant> {
    let bytes = [&[0][..], stored].concat();
    // What was taken ahead a while ago is asked for again, and read again.
    let spare = ahead::take(unit, &bytes);
    if let Some((had, true)) = spare
        && had.covers(mode)
    {
        unit.held.insert(bytes.clone(), had);
        unit.along.insert(bytes, had);
        cursor.walk.go_on(stored);
        return Ok(Grant::New);
    }
    ahead::begin(unit);
    for again in [false, true] {
        let taken = ask_along(unit, cursor, stored, mode);
        match taken.and_then(|answer| outcome(unit, answer)) {
            Ok(true) => {
                unit.held.insert(bytes.clone(), mode);
                unit.along.insert(bytes, mode);
                return Ok(Grant::New);
            }
            Ok(false) => match ahead::take_away(unit, &bytes) {
                Ok(true) if !again => (),
                Ok(_) => break,
                Err(error) => return unit.doomed(error),
            },
            Err(error) => return unit.doomed(error),
        }
    }
    if spare.is_some()
        && let Err(error) = ahead::give_back(unit, &[bytes])
    {
        return unit.doomed(error);
    }
    Ok(Grant::Busy)
}

/// One exchange: spare names are given back, the name is asked for, those that follow, and then the
/// entries are read.
fn ask_along(
    unit: &mut UnitState,
    cursor: &mut EngineCursor,
    stored: &[u8],
    mode: LockMode,
) -> Result<i32> {
    let left = ahead::drain(unit);
    let (_, to) = cursor.forward();
    let (rows, goes_on) = cursor.walk.rows_at(&unit.pages, stored);
    let (limit, within) = (rows as i64, (rows - rows / 8) as i64);
    let most = if goes_on { NAMES_MAX as i64 } else { 0 };
    let (number, system, name) = (number_of(mode), unit.member.system, [&[0][..], stored].concat());
    let (chosen, wait) = (unit.options.victim_count as i32, false);
    let mut connection = unit.shared.calls.take(system)?;
    let statements = connection.statements();
    let lock: [&(dyn ToSql + Sync); 6] = [&name, &system, &unit.number, &number, &wait, &chosen];
    let next: [&(dyn ToSql + Sync); 8] =
        [&system, &unit.number, &number, &stored, &to, &within, &most, &left];
    let page: [&(dyn ToSql + Sync); 3] = [&stored, &to, &limit];
    let (answer, names, read) = connection.ask(&unit.shared.counters, async |client| {
        let (answer, names, read) = futures_util::join!(
            client.query_one(&statements.lock, &lock),
            client.query_one(&statements.ahead, &next),
            client.query(&statements.forward, &page),
        );
        Ok((answer?, names?, read?))
    })?;
    drop(connection);
    let answer: i32 = answer.try_get(0).map_err(strange)?;
    let names: Vec<Vec<u8>> = names.try_get(0).map_err(strange)?;
    if answer != GRANTED {
        return Ok(answer);
    }
    unit.forget_pages();
    let read = Rows::read(&read, false)?;
    let full = (names.len() == NAMES_MAX).then(|| {
        let last = names.iter().max().map_or(stored, |name| &name[1..]);
        read.below(&successor(last))
    });
    ahead::add(unit, names, mode);
    let to = match read.get(read.len().saturating_sub(1)) {
        Some(last) if read.len() >= rows => successor(last.key),
        _ => to,
    };
    let page = unit.pages.keep(Page { from: stored.to_vec(), to, rows: read, firm: false });
    cursor.ahead.note(rows, page.rows.len(), page.rows.bytes(), &page.to);
    cursor.walk.note(stored, rows, (page.rows.len(), page.rows.bytes()), full);
    Ok(answer)
}

fn ask(unit: &UnitState, name: &[u8], mode: LockMode, wait: bool) -> Result<i32> {
    let mut connection = unit.shared.calls.take(unit.member.system)?;
    let (statements, system) = (connection.statements(), unit.member.system);
    let chosen = unit.options.victim_count as i32;
    let row = connection.ask(&unit.shared.counters, async |client| {
        client
            .query_one(
                &statements.lock,
                &[&name, &system, &unit.number, &number_of(mode), &wait, &chosen],
            )
            .await
    })?;
    row.try_get(0).map_err(strange)
}

/// Leaves the queue that the unit of work stands in.
fn leave(unit: &UnitState) -> Result<()> {
    let mut connection = unit.shared.calls.take(unit.member.system)?;
    let (statements, system) = (connection.statements(), unit.member.system);
    let done = connection.ask(&unit.shared.counters, async |client| {
        client.execute(&statements.leave, &[&system, &unit.number]).await
    });
    done.map(drop)
}

pub(crate) fn unlock(unit: &mut UnitState, name: LockName<'_>) -> Result<bool> {
    let bytes = bytes_of(name);
    let Some(mode) = unit.held.remove(&bytes) else { return Ok(false) };
    if unit.along.remove(&bytes) == Some(mode) {
        ahead::keep(unit, bytes, mode);
        return Ok(true);
    }
    let freed = || {
        let mut connection = unit.shared.calls.take(unit.member.system)?;
        let (statements, system) = (connection.statements(), unit.member.system);
        let row = connection.ask(&unit.shared.counters, async |client| {
            client.query_one(&statements.unlock, &[&bytes, &system, &unit.number]).await
        })?;
        row.try_get::<_, bool>(0).map_err(strange)
    };
    match freed() {
        Ok(true) => {
            unit.shared.notify();
            Ok(true)
        }
        Ok(false) => {
            unit.member.lose();
            let why = "a name that was locked is no longer: this system was ended by another one";
            unit.doomed(StoreError::Unavailable(why.into()))
        }
        Err(error) => unit.doomed(error),
    }
}

/// Gives back every name of a unit of work that ends; later, if the engine cannot be reached now.
pub(crate) fn release(unit: &UnitState) {
    if unit.member.is_lost() {
        return;
    }
    if release_all(unit).is_err() {
        unit.member.release_later(unit.number);
    }
    unit.shared.notify();
}

/// Gives back every name; answers how many the engine knew of.
pub(crate) fn release_all(unit: &UnitState) -> Result<i64> {
    let mut connection = unit.shared.calls.take(unit.member.system)?;
    let (statements, system) = (connection.statements(), unit.member.system);
    let none = 0_i64;
    let row = connection.ask(&unit.shared.counters, async |client| {
        client.query_one(&statements.release, &[&system, &unit.number, &none, &none]).await
    })?;
    row.try_get(0).map_err(strange)
}
