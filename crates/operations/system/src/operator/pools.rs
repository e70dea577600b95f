//! The verbs of buffer pools.
//!
//! A pool changes in the running system first and then in the configuration's file, so that the
//! next start finds it as it was left. If the file cannot be changed, nothing is changed; if it
//! cannot be written after all, the change lasts until the next start, and that is said.

use std::collections::BTreeMap;

use seam::sync::MutexGuard;
use serde::{Deserialize, Serialize};
use uow::{PoolPlan, UowError};

use super::Refusal;
use crate::config::{Bytes, PoolSettings};
use crate::{System, SystemConfig, SystemError};

/// What `pool resize` is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResizePool {
    /// The pool.
    pub name: String,
    /// How many frames it shall have.
    pub frames: Option<usize>,
    /// Or how much memory they shall take.
    pub bytes: Option<u64>,
}

/// What `pool add` is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddPool {
    /// Its name.
    pub name: String,
    /// The unit of its intervals, in bytes.
    pub unit: u64,
    /// How much memory its frames take.
    pub bytes: u64,
}

/// What `pool delete` is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeletePool {
    /// The pool.
    pub name: String,
}

/// What `pool assign` is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssignPool {
    /// The pool.
    pub name: String,
    /// The data set that it shall hold.
    pub data_set: String,
}

/// What changing a pool took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedPool {
    /// The pool.
    pub name: String,
    /// Its frames before.
    pub before: usize,
    /// Its frames now.
    pub frames: usize,
    /// What they take.
    pub bytes: u64,
    /// Intervals that went to another frame, or another pool.
    pub carried: usize,
    /// Intervals that are not in memory any more.
    pub dropped: usize,
    /// How long it took.
    pub elapsed_us: u64,
}

/// Gives a pool another size.
pub(super) fn resize(system: &System, asked: &ResizePool) -> Result<ChangedPool, Refusal> {
    let ResizePool { name, frames, bytes } = asked.clone();
    let alone = system.configuring();
    let unit = system.kernel().pool(&name)?.unit_bytes() as u64;
    let frames = frames.or(bytes.map(|bytes| (bytes / unit) as usize)).unwrap_or(0);
    let settings = settings(unit, frames);
    changed(system, alone, &name, settings.clone(), |pools| {
        let pool = pools.entry(name.clone()).or_insert(settings);
        pool.bytes = Bytes(unit * frames as u64);
    })
    .and_then(|change| {
        change.apply(|| {
            let resized = system.kernel().resize_pool(&name, frames)?;
            Ok((resized.before, resized.carried, resized.dropped))
        })
    })
}

/// Makes a pool.
pub(super) fn add(system: &System, asked: &AddPool) -> Result<ChangedPool, Refusal> {
    let AddPool { name, unit, bytes } = asked.clone();
    if !is_name(&name) {
        let bounds = format!("1 to {NAME_BYTES_MAX} letters, digits and the signs . - _ $ # @");
        let why = format!("{name:?} is no name of a pool: {bounds}");
        return Err(SystemError::Unusable { why }.into());
    }
    let alone = system.configuring();
    let frames = bytes.checked_div(unit).unwrap_or(0) as usize;
    let settings = settings(unit, frames);
    changed(system, alone, &name, settings.clone(), |pools| {
        pools.insert(name.clone(), settings);
    })
    .and_then(|change| {
        change.apply(|| {
            let plan = PoolPlan { name: name.clone(), unit_bytes: unit as usize, frames };
            system.kernel().add_pool(&plan)?;
            Ok((0, 0, 0))
        })
    })
}

/// Names of pools are like those of labels: they stand in settings and tables.
fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-_$#@".contains(&byte);
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(fits)
}

/// The longest name of a new pool.
const NAME_BYTES_MAX: usize = 64;

/// Takes a pool away.
pub(super) fn delete(system: &System, asked: &DeletePool) -> Result<ChangedPool, Refusal> {
    let DeletePool { name } = asked.clone();
    let alone = system.configuring();
    let pool = system.kernel().unused_pool(&name)?;
    let before = pool.frames();
    changed(system, alone, &name, settings(pool.unit_bytes() as u64, 0), |pools| {
        pools.remove(&name);
    })
    .and_then(|change| {
        change.apply(|| {
            system.kernel().delete_pool(&name)?;
            Ok((before, 0, 0))
        })
    })
}

/// Moves a data set to another pool.
pub(super) fn assign(system: &System, asked: &AssignPool) -> Result<ChangedPool, Refusal> {
    let AssignPool { name, data_set } = asked.clone();
    let alone = system.configuring();
    let pool = system.kernel().pool(&name)?;
    let (unit, frames) = (pool.unit_bytes() as u64, pool.frames());
    let settings = settings(unit, frames);
    changed(system, alone, &name, settings.clone(), |pools| {
        pools.values_mut().for_each(|pool| pool.data_sets.retain(|set| *set != data_set));
        pools.entry(name.clone()).or_insert(settings).data_sets.push(data_set.clone());
    })
    .and_then(|change| {
        change.apply(|| {
            let moved = system.kernel().assign_set(&data_set, &name)?;
            Ok((frames, moved.carried, moved.dropped))
        })
    })
}

fn settings(unit: u64, frames: usize) -> PoolSettings {
    let bytes = Bytes(unit.saturating_mul(frames as u64));
    PoolSettings { unit: Bytes(unit), bytes, data_sets: Vec::new() }
}

/// A change of the configuration that waits for that of the system.
struct Change<'s> {
    system: &'s System,
    name: String,
    settings: PoolSettings,
    config: crate::config::ChangedConfig,
    _alone: MutexGuard<'s, ()>,
}

/// Prepares a change: the configuration as it will be has been read and found good. What the
/// caller has looked up, he did when nobody else could change it.
fn changed<'s>(
    system: &'s System,
    alone: MutexGuard<'s, ()>,
    name: &str,
    settings: PoolSettings,
    change: impl FnOnce(&mut BTreeMap<String, PoolSettings>),
) -> Result<Change<'s>, Refusal> {
    let disk = system.kernel().seam().disk.as_ref();
    let config = SystemConfig::change_pools(disk, system.dir(), change)?;
    Ok(Change { system, name: name.to_owned(), settings, config, _alone: alone })
}

impl Change<'_> {
    /// Changes the system, then the file. `in_system` gives the frames before, and how many
    /// intervals were carried and dropped.
    fn apply(
        self,
        in_system: impl FnOnce() -> Result<(usize, usize, usize), UowError>,
    ) -> Result<ChangedPool, Refusal> {
        let seam = self.system.kernel().seam();
        let begun = seam.clock.monotonic();
        let (before, carried, dropped) = in_system()?;
        let took = seam.clock.monotonic().saturating_sub(begun);
        self.config.write(seam.disk.as_ref()).map_err(|error| SystemError::ChangedInUseOnly {
            what: format!("pool {}", self.name),
            why: error.to_string(),
        })?;
        let Bytes(bytes) = self.settings.bytes;
        Ok(ChangedPool {
            name: self.name,
            before,
            frames: (bytes / self.settings.unit.0.max(1)) as usize,
            bytes,
            carried,
            dropped,
            elapsed_us: took.as_micros() as u64,
        })
    }
}
