//! Conversion and re-key: what an operator may ask for of the form of data sets.
//!
//! 1. Everything is checked before anything is begun: a request that cannot be done as a whole
//!    changes nothing.
//! 2. A re-key draws a new generation of a label only if some data set uses the current one
//!    already: a request that is repeated after a crash goes on where it was. Keys of the log and
//!    of the system are drawn behind those of data sets, so that their age tells which were drawn.
//! 3. Whoever waits for a conversion may go away; it goes on without him.
//! 4. Which keys data sets go over to is decided by one request at a time: another one finds what
//!    was begun.
//! 5. RECON is told when a conversion begins, and when its end is seen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use base::KeyGeneration;
use seal::{Form, Format, KeyProvider as _};
use serde::{Deserialize, Serialize};
use space::DataSet;
use uow::{ConversionStatus, UowError, describe};

use super::{Refusal, Talk};
use crate::{LABELS, System, SystemError};

/// What is to become of data sets.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Conversion {
    /// Their names.
    pub sets: Vec<String>,
    /// All data sets of these databases, too; for layers that know databases.
    pub databases: Vec<String>,
    /// Every data set that is sealed; for a re-key.
    pub all: bool,
    /// The log, too; for a re-key.
    pub log: bool,
    /// Whether they shall be plain; for a conversion.
    pub plain: bool,
    /// The most bytes to convert in a second, for each data set; 0: no limit.
    pub bytes_per_second: u64,
    /// Return at once; it goes on by itself.
    pub no_wait: bool,
}

/// Which conversions are meant, and what of them changes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Steering {
    /// The data sets; none: all that are being converted.
    pub sets: Vec<String>,
    /// The most bytes to convert in a second from now on; 0: no limit.
    pub bytes_per_second: Option<u64>,
}

/// How the conversion of a data set is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Converting {
    /// The data set.
    pub set: String,
    /// What it was.
    pub from: String,
    /// What it becomes.
    pub to: String,
    /// Intervals that are done.
    pub done: u32,
    /// Intervals there are.
    pub intervals: u32,
    /// The most bytes to convert in a second; 0: no limit.
    pub bytes_per_second: u64,
    /// Whether somebody has it wait.
    pub paused: bool,
    /// Why it cannot go on, if it cannot.
    pub trouble: Option<String>,
}

/// What came of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Converted {
    /// Data sets that are what they were asked to be.
    pub done: Vec<String>,
    /// Data sets that were so before.
    pub unchanged: Vec<String>,
    /// What is still under way.
    pub under_way: Vec<Converting>,
    /// New generations of labels.
    pub generations: BTreeMap<String, u32>,
}

/// Between two looks at conversions that somebody waits for.
const LOOK: Duration = Duration::from_millis(50);

/// Converts data sets to plain or sealed.
///
/// # Errors
/// A name that is none, a conversion that is under way; what the kernel says.
pub fn convert(
    system: &System,
    asked: &Conversion,
    talk: &mut Talk<'_>,
) -> Result<Converted, Refusal> {
    let alone = system.changing_forms();
    let sets = named(system, &asked.sets)?;
    let mut converted = Converted::default();
    let mut plans = Vec::new();
    for set in sets {
        let definition = set.definition();
        let to = match asked.plain {
            true => Form::PLAIN,
            // What is sealed stays so; for another key there is re-key.
            false if definition.format == Format::Sealed => definition.form(),
            false => Form::sealed(system.keys().current(&definition.label)?),
        };
        plan(&set, to, &mut plans, &mut converted)?;
    }
    begin(system, &plans, asked)?;
    drop(alone);
    wait(system, &plans, asked, converted, talk)
}

/// Has data sets, the log, or both go over to a new key.
///
/// # Errors
/// As for [`convert`]; a data set that is plain.
pub fn rekey(
    system: &System,
    asked: &Conversion,
    talk: &mut Talk<'_>,
) -> Result<Converted, Refusal> {
    let alone = system.changing_forms();
    let sealed = |set: &Arc<DataSet>| set.definition().format == Format::Sealed;
    let sets = match asked.all {
        true => system.kernel().all_sets().into_iter().filter(sealed).collect(),
        false => named(system, &asked.sets)?,
    };
    if let Some(set) = sets.iter().find(|set| !sealed(set)) {
        return Err(SystemError::PlainSet { name: set.name().to_owned() }.into());
    }
    let (mut converted, mut plans) = (Converted::default(), Vec::new());
    let mut by_label: BTreeMap<String, Vec<Arc<DataSet>>> = BTreeMap::new();
    for set in sets {
        by_label.entry(set.definition().label.clone()).or_default().push(set);
    }
    let mut taken_up_us = None;
    for (label, sets) in by_label {
        let to = target(system, &label, &sets, &mut converted)?;
        if !converted.generations.contains_key(&label) {
            taken_up_us = taken_up_us.max(drawn_us(system, &label));
        }
        let to = Form::sealed(to);
        sets.iter().try_for_each(|set| plan(set, to, &mut plans, &mut converted))?;
    }
    renew_others(system, asked, taken_up_us, &mut converted)?;
    begin(system, &plans, asked)?;
    drop(alone);
    wait(system, &plans, asked, converted, talk)
}

/// The generation that data sets of one label go over to: a new one, unless a re-key is taken up
/// that was begun before.
fn target(
    system: &System,
    label: &str,
    sets: &[Arc<DataSet>],
    converted: &mut Converted,
) -> Result<KeyGeneration, Refusal> {
    let current = system.keys().current(label)?;
    let under_way = |set: &Arc<DataSet>| set.definition().conversion.is_some();
    let has_it = |set: &Arc<DataSet>| set.definition().generation == current;
    if sets.iter().any(under_way) || !sets.iter().any(has_it) {
        return Ok(current);
    }
    let new = system.keys().new_generation(label)?;
    converted.generations.insert(label.to_owned(), new.0);
    Ok(new)
}

/// When the newest key of a label was drawn: UTC in microseconds.
fn drawn_us(system: &System, label: &str) -> Option<u64> {
    let keys = system.keys().list();
    keys.iter().find(|key| key.label == label && key.current).map(|key| key.created_us)
}

/// New keys for what is no data set: the log has its own at once, the system's own files with the
/// next start. If a re-key is taken up whose data sets go over to keys that were drawn at some
/// time, keys that were drawn behind these were drawn for it.
fn renew_others(
    system: &System,
    asked: &Conversion,
    taken_up_us: Option<u64>,
    converted: &mut Converted,
) -> Result<(), Refusal> {
    let log = system.kernel().log();
    let mut renew = |label: &str| {
        let is_drawn = taken_up_us.is_some() && drawn_us(system, label) >= taken_up_us;
        if !is_drawn {
            let new = system.keys().new_generation(label)?;
            converted.generations.insert(label.to_owned(), new.0);
        }
        Ok::<_, Refusal>(())
    };
    if (asked.log || asked.all) && log.is_sealed() {
        renew(log.key_label())?;
        log.renew_key()?;
        // So that there is something to seal with it, and the older log is soon not needed.
        system.kernel().checkpoint_now(false)?;
    }
    if asked.all {
        renew(LABELS[0])?;
    }
    Ok(())
}

/// Notes what has to be done for a data set to have a form; what was begun before is taken up.
fn plan(
    set: &Arc<DataSet>,
    to: Form,
    plans: &mut Vec<(Arc<DataSet>, Form)>,
    converted: &mut Converted,
) -> Result<(), Refusal> {
    let definition = set.definition();
    match (definition.form() == to, definition.conversion.is_some()) {
        (true, false) => converted.unchanged.push(set.name().to_owned()),
        (false, true) => return Err(UowError::Converting { name: set.name().to_owned() }.into()),
        _ => plans.push((Arc::clone(set), to)),
    }
    Ok(())
}

/// Begins what is planned.
fn begin(
    system: &System,
    plans: &[(Arc<DataSet>, Form)],
    asked: &Conversion,
) -> Result<(), Refusal> {
    let rate = asked.bytes_per_second;
    for (set, to) in plans {
        if set.definition().conversion.is_none() {
            match system.kernel().convert(set, *to, rate) {
                // Somebody else has asked for the same, and it is done.
                Err(UowError::SameForm { .. }) => {}
                begun => begun?,
            }
            continue;
        }
        match system.kernel().steer_conversion(set, false, Some(rate)) {
            // It has come to its end since.
            Err(UowError::NotConverting { .. }) => {}
            taken_up => taken_up?,
        }
    }
    // RECON knows both forms of what is under way, and the new one alone when it is over: from it
    // follows which keys are needed (K18).
    Ok(system.update_recon()?)
}

/// Waits for what was begun, if that is wanted.
fn wait(
    system: &System,
    plans: &[(Arc<DataSet>, Form)],
    asked: &Conversion,
    mut converted: Converted,
    talk: &mut Talk<'_>,
) -> Result<Converted, Refusal> {
    let names: BTreeSet<&str> = plans.iter().map(|(set, _)| set.name()).collect();
    let mine = || {
        let all = system.kernel().conversions();
        all.into_iter().filter(|one| names.contains(&one.name[..])).collect::<Vec<_>>()
    };
    let mut left = mine();
    while !asked.no_wait && left.iter().any(|one| !one.paused) {
        if let Some((name, why)) =
            left.iter().find_map(|one| Some((&one.name, one.trouble.clone()?)))
        {
            return Err(SystemError::ConversionStuck { name: name.clone(), why }.into());
        }
        system.kernel().stop_switch().check().map_err(UowError::from)?;
        tell(plans, &left, talk)?;
        system.kernel().seam().clock.sleep(LOOK);
        left = mine();
    }
    system.update_recon()?;
    let under_way: BTreeSet<String> = left.iter().map(|one| one.name.clone()).collect();
    let all = names.into_iter().map(str::to_owned);
    converted.done = all.filter(|name| !under_way.contains(name)).collect();
    converted.under_way = left.into_iter().map(Converting::from).collect();
    Ok(converted)
}

/// Says how far conversions are, all together.
fn tell(
    plans: &[(Arc<DataSet>, Form)],
    left: &[ConversionStatus],
    talk: &mut Talk<'_>,
) -> Result<(), Refusal> {
    let bytes = |intervals: u32, unit: usize| u64::from(intervals) * unit as u64;
    let total = plans.iter().map(|(set, _)| bytes(set.intervals(), set.unit_bytes())).sum();
    let missing = left.iter().map(|one| bytes(one.intervals - one.done, one.unit_bytes));
    let done = u64::saturating_sub(total, missing.sum());
    let object = left.iter().find(|one| !one.paused).map_or("data sets", |one| &one.name);
    talk.progress(object, done >> 20, total >> 20, "MiB")
}

/// The conversions that are not over.
pub(super) fn status(system: &System) -> Vec<Converting> {
    system.kernel().conversions().into_iter().map(Converting::from).collect()
}

/// Has conversions wait, or go on, and how fast.
pub(super) fn steer(
    system: &System,
    asked: &Steering,
    paused: bool,
) -> Result<Vec<Converting>, Refusal> {
    let sets = match asked.sets.is_empty() {
        true => {
            let all = system.kernel().conversions();
            all.iter().filter_map(|one| system.kernel().set(one.set)).collect()
        }
        false => named(system, &asked.sets)?,
    };
    for set in sets {
        match system.kernel().steer_conversion(&set, paused, asked.bytes_per_second) {
            // It has come to its end since.
            Err(UowError::NotConverting { .. }) if asked.sets.is_empty() => {}
            steered => steered?,
        }
    }
    Ok(status(system))
}

fn named(system: &System, names: &[String]) -> Result<Vec<Arc<DataSet>>, Refusal> {
    let unique: BTreeSet<&String> = names.iter().collect();
    let find = |name: &String| {
        let set = system.kernel().set_named(name);
        set.ok_or_else(|| UowError::NoSuchSet { name: name.clone() }.into())
    };
    unique.into_iter().map(find).collect()
}

impl From<ConversionStatus> for Converting {
    fn from(status: ConversionStatus) -> Converting {
        Converting {
            set: status.name,
            from: describe(status.from),
            to: describe(status.to),
            done: status.done,
            intervals: status.intervals,
            bytes_per_second: status.bytes_per_second,
            paused: status.paused,
            trouble: status.trouble,
        }
    }
}
