//! Locks on names: asked for, waited for, given back.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use store::{Grant, LockMode, LockName, Result, StoreError, Wait};

use crate::error::strange;
use crate::state::UnitState;

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
    let wanted = held.map_or(mode, |held| held.join(mode));
    if held == Some(wanted) {
        return Ok(Grant::Again);
    }
    let shared = Arc::clone(&unit.shared);
    let start = shared.now();
    let mut pause = PAUSE_FIRST;
    let mut asked = 0_u64;
    loop {
        // What rings while the engine answers must not be slept through.
        let rung = *shared.given_back.lock();
        match ask(unit, &bytes, wanted, wait != Wait::No) {
            Ok(GRANTED) => break,
            Ok(BUSY) => (),
            Ok(DEADLOCK) => return unit.doomed(StoreError::Deadlock),
            Ok(_) => {
                unit.member.lose();
                let why = "this system was ended by another one, and its locks with it";
                return unit.doomed(StoreError::Unavailable(why.into()));
            }
            Err(error) => return unit.doomed(error),
        }
        asked += 1;
        if asked == 1 && wait != Wait::No {
            shared.counters.lock_waits.fetch_add(1, Relaxed);
        }
        let passed = shared.now().saturating_sub(start);
        let left = match wait {
            Wait::No => return Ok(Grant::Busy),
            Wait::Forever => Duration::MAX,
            Wait::AtMost(time) => time.saturating_sub(passed),
        };
        if left.is_zero() {
            if let Err(error) = leave(unit) {
                return unit.doomed(error);
            }
            return Ok(Grant::Busy);
        }
        let mut given_back = shared.given_back.lock();
        if *given_back == rung {
            shared.freed.wait_for(&mut given_back, pause.min(left));
        }
        drop(given_back);
        pause = (pause * 2).min(PAUSE_MAX);
        unit.check()?;
    }
    unit.held.insert(bytes, wanted);
    unit.forget_pages();
    Ok(if held.is_some() { Grant::Again } else { Grant::New })
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
    if unit.held.remove(&bytes).is_none() {
        return Ok(false);
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
