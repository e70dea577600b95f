//! The verbs of the archive.

use archive::{ArchiveError, Archiver};
use base::{DataSetId, GroupNumber, Lsn};
use recovery::concern;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uow::UowError;

use super::{OperatorError, Refusal, Request, Talk, done};
use crate::archives::{AccumulationStatus, ArchiveStatus};
use crate::{System, SystemError};

/// Which archives.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Which {
    /// The first group of one; all if it is left out.
    first_group: Option<u64>,
    /// `verify`: make damaged copies anew.
    repair: bool,
    /// `delete`: only say what would go.
    check: bool,
}

/// A copy of an archive that is not what it should be.
#[derive(Debug, Serialize, Deserialize)]
struct Fault {
    first_group: u64,
    file: String,
    why: String,
    repaired: bool,
}

fn archiver(system: &System) -> Result<&Archiver, Refusal> {
    let none = || ArchiveError::Config { why: "no folder is named, so nothing is archived".into() };
    system.archiver().ok_or_else(|| SystemError::from(none()).into())
}

fn told(error: ArchiveError) -> Refusal {
    SystemError::from(error).into()
}

/// Archives what was logged so far.
pub(super) fn now(system: &System, _: &Request, _: &mut Talk<'_>) -> Result<Value, Refusal> {
    let made = archiver(system)?.archive_now().map_err(told)?;
    done(&made.iter().map(ArchiveStatus::of).collect::<Vec<_>>())
}

/// The archives, oldest first.
pub(super) fn list(system: &System, _: &Request, _: &mut Talk<'_>) -> Result<Value, Refusal> {
    let archives = archiver(system)?.shelf().list();
    done(&archives.iter().map(ArchiveStatus::of).collect::<Vec<_>>())
}

/// Reads archives from front to back, on every copy.
pub(super) fn verify(
    system: &System,
    request: &Request,
    talk: &mut Talk<'_>,
) -> Result<Value, Refusal> {
    let which: Which = request.arguments()?;
    let shelf = archiver(system)?.shelf();
    let mut archives = shelf.list();
    if let Some(group) = which.first_group.map(GroupNumber) {
        archives.retain(|copy| copy.info.from == group);
        if archives.is_empty() {
            return Err(told(ArchiveError::NoSuch { group }));
        }
    }
    let mut found = shelf.faults();
    found.retain(|fault| !archives.iter().any(|copy| copy.info.from == fault.from));
    let total = archives.len() as u64;
    for (number, copy) in archives.iter().enumerate() {
        talk.progress("archive", number as u64, total, "files")?;
        found.extend(shelf.verify(copy.info.from).map_err(told)?);
    }
    let mut faults = Vec::new();
    for fault in found {
        let mut why = fault.why.to_string();
        let mut repaired = false;
        if which.repair {
            match shelf.repair(fault.from, &fault.path) {
                Ok(()) => repaired = true,
                Err(error) => why = format!("{why}; it cannot be made anew: {error}"),
            }
        }
        let file = fault.path.display().to_string();
        faults.push(Fault { first_group: fault.from.0, file, why, repaired });
    }
    let gaps: Vec<(u64, u64)> = shelf.gaps().iter().map(|(from, to)| (from.0, to.0)).collect();
    done(&serde_json::json!({ "archives": total, "faults": faults, "gaps": gaps }))
}

/// Deletes one archive, or all that policy lets go and no recovery needs.
pub(super) fn delete(
    system: &System,
    request: &Request,
    talk: &mut Talk<'_>,
) -> Result<Value, Refusal> {
    let which: Which = request.arguments()?;
    let archiver = archiver(system)?;
    let (shelf, registry) = (archiver.shelf(), archiver.registry());
    let archives = match which.first_group.map(GroupNumber) {
        Some(group) => {
            let mut one = shelf.list();
            one.retain(|copy| copy.info.from == group);
            if one.is_empty() {
                return Err(told(ArchiveError::NoSuch { group }));
            }
            one
        }
        None => {
            let needed = registry.needed_from().map_err(|why| OperatorError::Broken { why })?;
            shelf.expired(&shelf.config().keep, needed)
        }
    };
    for (number, copy) in archives.iter().enumerate().filter(|_| !which.check) {
        talk.progress("archive", number as u64, archives.len() as u64, "files")?;
        shelf.delete(copy.info.from, &**registry).map_err(told)?;
    }
    if which.first_group.is_none() && !which.check {
        shelf.delete_accumulations(&**registry).map_err(told)?;
    }
    done(&archives.iter().map(ArchiveStatus::of).collect::<Vec<_>>())
}

/// What to accumulate.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Merged {
    /// Data sets by name.
    sets: Vec<String>,
    /// A database: all data sets of its name, and those behind its name and a point.
    database: Option<String>,
    /// From which position on; from where the last accumulation of these sets ends, or from the
    /// oldest archive, if it is left out.
    from: Option<u64>,
}

impl Merged {
    fn ids(&self, system: &System) -> Result<Vec<DataSetId>, Refusal> {
        let all = system.kernel().all_sets();
        let named = |name: &String| {
            let set = all.iter().find(|set| set.name() == name);
            set.map(|set| set.id()).ok_or_else(|| UowError::NoSuchSet { name: name.clone() })
        };
        let mut ids = self.sets.iter().map(named).collect::<Result<Vec<_>, _>>()?;
        if let Some(database) = &self.database {
            let begins = format!("{database}.");
            let of =
                all.iter().filter(|set| set.name() == database || set.name().starts_with(&begins));
            let before = ids.len();
            ids.extend(of.map(|set| set.id()));
            if ids.len() == before {
                return Err(UowError::NoSuchSet { name: database.clone() }.into());
            }
        }
        Ok(ids)
    }
}

/// Merges the archived changes of some data sets, so that their recovery reads less.
pub(super) fn accumulate(
    system: &System,
    request: &Request,
    talk: &mut Talk<'_>,
) -> Result<Value, Refusal> {
    let merged: Merged = request.arguments()?;
    let archiver = archiver(system)?;
    let (shelf, ids) = (archiver.shelf(), merged.ids(system)?);
    let list = shelf.list();
    let whole = list.iter().rev().map(|copy| copy.info.whole).find(|whole| *whole != Lsn::NONE);
    let oldest = list.first().map(|copy| copy.info.first);
    let known = shelf.accumulations();
    let last = known.iter().filter(|one| one.info.covers(&ids)).map(|one| one.info.end).max();
    let from = merged.from.map(Lsn).or(last).or(oldest);
    let (from, to) = match (from, whole) {
        (Some(from), Some(to)) if from < to => (from, to),
        _ => return done(&Vec::<AccumulationStatus>::new()),
    };
    let mut ended = None;
    let made = shelf.accumulate(&ids, (from, to), concern, &**archiver.registry(), &mut |at| {
        let (read, all) = (at.0.saturating_sub(from.0), to.0 - from.0);
        talk.progress("log", read, all, "bytes").map_err(|refusal| {
            ended = Some(refusal);
            ArchiveError::Accumulation { why: "nobody waits for it any more".into() }
        })
    });
    if let Some(refusal) = ended {
        return Err(refusal);
    }
    let made = made.map_err(told)?;
    let name = |id: &DataSetId| system.kernel().set(*id).map(|set| set.name().to_owned());
    done(&[AccumulationStatus {
        sets: made.info.sets.iter().filter_map(name).collect(),
        first_lsn: made.info.first.0,
        end_lsn: made.info.end.0,
        records: made.info.records,
        file_bytes: made.info.file_bytes(),
        files: made.files.iter().map(|path| path.display().to_string()).collect(),
    }])
}
