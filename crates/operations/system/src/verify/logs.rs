//! The proof of the log of a system in use, and what repairs it.
//!
//! Invariants:
//! 1. What some copy or an archive has is repaired from there by one command. What is nowhere is
//!    named with what needs it.
//! 2. A group that is nowhere need not keep the system from being restarted: checkpoints bring a
//!    restart's beginning behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use base::{GroupNumber, Lsn};
use seam::failpoint::{Failpoint, armed};
use wal::{Log, LostGroup, ProofStep, Scanned};

use super::{Finding, Phase, Repair, Verifier, Watch};
use crate::protocol::{Refusal, Talk};
use crate::survey::{LogDamage, LostLogCopy};
use crate::{LogSurvey, Stopped, System, SystemError, archives};

/// What findings call it.
const AHEAD: &str = "write-ahead data set";

/// How soon a copy that was given up is looked at again.
const BUSY: Duration = Duration::from_millis(20);
/// What to do about a group that is nowhere.
const GONE: &str = "Bring back what has it, a disk or an archive. If it is gone for good, \
                    `holdfast repair --log --give-up` lets restart and archive go on behind it.";
/// And if a recovery would need it.
const COPY: &str = " Then `holdfast image-copy --all --to FOLDER`: recoveries from those copies \
                    need it no more.";
/// What to do about one that no start needs.
const NO_RECOVERY: &str = "No copy of it is left, and no recovery reads across it. Make image \
                           copies of everything now, `holdfast image-copy --all --to FOLDER`: \
                           recoveries from those need it no more.";
/// So many data sets are named.
const NAMED: usize = 5;

/// Damage as the log says it: where, and what.
type Damage = (PathBuf, u64, String);

impl Verifier {
    pub(super) fn running_log(
        &mut self,
        system: &System,
        watch: &mut Watch<'_>,
    ) -> Result<(), Refusal> {
        let mut damages: BTreeMap<GroupNumber, Vec<Damage>> = BTreeMap::new();
        let log = system.kernel().log();
        let copies = log.statistics().copies.iter().filter(|copy| copy.living).count();
        let proven = log.prove(
            &mut |scanned| {
                if let Scanned::Damage { number, path, offset, why } = scanned {
                    damages.entry(number).or_default().push((path, offset, why));
                }
            },
            &mut |ProofStep { done, total, bytes }| {
                watch.step(Phase { object: "log", done, total, unit: "groups" }, bytes)
            },
        );
        match proven {
            Ok(groups) => self.report.log_groups = groups,
            Err(error) => {
                let repair = vec![self.command("repair", &["--log"])];
                self.of_error("log", None, &error, repair);
            }
        }
        self.log_files(log, copies);
        let mut met = BTreeSet::new();
        for (number, damage) in damages {
            let headers = damage.iter().filter(|(_, offset, _)| *offset == 0).count();
            let nowhere = damage.len() - headers >= copies && !log.is_elsewhere(number);
            let meaning = nowhere.then(|| meaning(system, number));
            for (path, offset, what) in damage {
                if armed(Failpoint::DamageOverlooked) || !met.insert((path.clone(), offset)) {
                    continue;
                }
                let finding = self.group(number, (path, offset, what), meaning.as_ref());
                self.find(finding);
            }
        }
        Ok(())
    }

    /// Files that are gone, and those of the write-ahead data set that cannot be relied on.
    fn log_files(&mut self, log: &Log, copies: usize) {
        for (copy, info) in (1..).zip(log.statistics().copies).filter(|(_, info)| !info.living) {
            let why = info.trouble.unwrap_or_else(|| "it gets nothing any more".into());
            let repair = vec![self.command("log resync", &["--copy", &copy.to_string()])];
            self.find(lost_copy(copy, info.path, &why, repair));
        }
        for (copy, path) in log.missing_files() {
            let alone = copies == 1;
            let (remedy, repair) = match alone {
                true => (
                    "The open system still has it, and nobody will when it is stopped: make image \
                     copies of everything first.",
                    Vec::new(),
                ),
                false => (
                    "Have the copy made anew from the other one.",
                    vec![self.command("repair", &["--log"])],
                ),
            };
            self.find(Finding {
                object: format!("log copy {}", copy + 1),
                file: Some(path),
                offset: None,
                interval: None,
                what: "the file is gone from its folder".into(),
                remedy: remedy.into(),
                repair,
            });
        }
        for wal::AheadDamage { path, why } in log.prove_ahead() {
            let repair = vec![self.command("repair", &["--log"])];
            self.find(Finding {
                object: AHEAD.into(),
                file: Some(path),
                offset: None,
                interval: None,
                what: why,
                remedy: "Have it begun anew: the log takes over what it has, commits go on.".into(),
                repair,
            });
        }
    }

    /// Groups that no copy of the log of a stopped system has: a start goes on behind them.
    pub(super) fn passed_groups(&mut self, stopped: &Stopped, survey: &LogSurvey) {
        let state = self.recon.as_ref();
        let needed_from = state.map_or(Some(Lsn::NONE), recon::State::log_needed_from);
        for (LogDamage { number, path, offset, why }, end) in &survey.passed {
            let (remedy, repair) = if is_archived(stopped, *number) {
                let remedy = "An archive has it: a start puts it back; look at the device.";
                (remedy, vec![self.restart()])
            } else if needed_from.is_none_or(|from| from < *end) {
                (NO_RECOVERY, self.fresh_copies(None))
            } else {
                self.note(format!(
                    "log, {number}: {} at {offset}: {why}; neither a start nor a recovery needs it",
                    path.display()
                ));
                continue;
            };
            self.find(Finding {
                object: format!("log, {number}"),
                file: Some(path.clone()),
                offset: Some(*offset),
                interval: None,
                what: format!("{why}; no start needs it"),
                remedy: remedy.into(),
                repair,
            });
        }
    }

    /// Copies of the log of a stopped system that cannot be used at all: a start goes on without
    /// them.
    pub(super) fn lost_copies(&mut self, survey: &LogSurvey) {
        for LostLogCopy { number, path, why } in &survey.lost {
            let repair = vec![self.command("log resync", &["--copy", &number.to_string()])];
            self.find(lost_copy(*number, path.clone(), why, repair));
        }
    }

    /// A damaged group of one copy; `meaning` if it is nowhere.
    fn group(
        &self,
        number: GroupNumber,
        (path, offset, mut what): Damage,
        meaning: Option<&Meaning>,
    ) -> Finding {
        let mut remedy = "Another copy or an archive has it: have it written again; look at the \
                          device."
            .to_owned();
        if let Some(meaning) = meaning {
            what = format!("{what}; no copy has it, and no archive: {}", meaning.what);
            remedy.clone_from(&meaning.remedy);
        }
        Finding {
            object: format!("log, {number}"),
            file: Some(path),
            offset: Some(offset),
            interval: None,
            what,
            remedy,
            repair: vec![self.command("repair", &["--log"])],
        }
    }

    /// A stopped system may need what one file of its write-ahead data set has; the log has been
    /// walked with what the others gave.
    pub(super) fn stopped_ahead(&mut self, stopped: &Stopped, beginning: wal::Beginning) {
        for (path, found) in stopped.look_ahead(Some(beginning)) {
            let Err(what) = found else { continue };
            self.find(Finding {
                object: AHEAD.into(),
                file: Some(path),
                offset: None,
                interval: None,
                what,
                remedy: "The other file has what the log lacks: a start takes it over, and makes \
                         both anew; look at the device."
                    .into(),
                repair: vec![self.restart()],
            });
        }
    }

    /// The log of a stopped system cannot be walked: named with the file, and with a start if that
    /// brings the group back from an archive.
    pub(super) fn stopped_log(&mut self, stopped: &Stopped, error: &SystemError) {
        let (file, group) = match error {
            SystemError::Log(wal::LogError::Damaged { path, group, .. }) => {
                (Some(path.clone()), Some(*group))
            }
            SystemError::Log(
                wal::LogError::Missing { path } | wal::LogError::FutureVersion { path, .. },
            ) => (Some(path.clone()), None),
            _ => (None, None),
        };
        let archived = group.is_some_and(|group| is_archived(stopped, group));
        let repair = if archived { vec![self.restart()] } else { Vec::new() };
        self.of_error("log", file, error, repair);
    }
}

/// Whether an archive has a group.
fn is_archived(stopped: &Stopped, group: GroupNumber) -> bool {
    let (seam, dir) = (&stopped.seam, &stopped.dir);
    let keys = std::sync::Arc::clone(&stopped.keys) as _;
    let catalog = archives::looked_at(seam, &keys, &stopped.config, dir).ok().flatten();
    catalog.is_some_and(|catalog| archives::has_group(&catalog, group))
}

/// A copy of the log that gets nothing any more.
fn lost_copy(number: u8, path: PathBuf, why: &str, repair: Vec<Repair>) -> Finding {
    Finding {
        object: format!("log copy {number}"),
        file: Some(path),
        offset: None,
        interval: None,
        what: format!("it is lost: {why}"),
        remedy: "See that its folder is mounted, then have it brought back.".into(),
        repair,
    }
}

/// What it means that a group of the log is nowhere.
struct Meaning {
    what: String,
    remedy: String,
}

fn meaning(system: &System, number: GroupNumber) -> Meaning {
    let log = system.kernel().log();
    let Some((first, end)) = log.span_of(number) else {
        return Meaning { what: "it is of no use any more".into(), remedy: "Wait.".into() };
    };
    let restart =
        if log.restart_needs(number) { "a restart needs it" } else { "no restart needs it" };
    let sets = sets_that_need(system, end);
    let recoveries = match sets.len() {
        0 => "no recovery needs it".to_owned(),
        1..=NAMED => format!("a recovery of {} needs it", sets.join(", ")),
        count => format!("recoveries of {count} data sets need it, of {} too", sets[0]),
    };
    let what =
        format!("it holds log positions {:#x} to {:#x}; {restart}, {recoveries}", first.0, end.0);
    let mut remedy = GONE.to_owned();
    if !sets.is_empty() {
        remedy += COPY;
    }
    Meaning { what, remedy }
}

/// The data sets whose recovery to now reads the log before `end`.
fn sets_that_need(system: &System, end: Lsn) -> Vec<String> {
    let state = system.recon().state();
    let needs = |name: &str| {
        let newest = state.copies_of(name).into_iter().next();
        let chain = newest.and_then(|copy| state.chain_of(copy.number));
        // What its copies hold is read from the newest one on.
        chain.and_then(|chain| chain.last().map(|copy| copy.start)).is_none_or(|start| start < end)
    };
    let sets = system.kernel().all_sets();
    sets.iter().map(|set| set.name().to_owned()).filter(|name| needs(name)).collect()
}

/// Writes again what copies of the log lack. With `give_up` restarts and the archive go on behind
/// what is nowhere (2).
pub(super) fn repair(
    system: &System,
    give_up: bool,
    talk: &mut Talk<'_>,
) -> Result<String, Refusal> {
    let log = system.kernel().log();
    // What the archiver has taken from memory, and has not given its name yet, is of use here.
    if let Some(archiver) = system.archiver() {
        let _ = archiver.archive_now();
    }
    let mut ended = None;
    let repaired = log.repair(&mut |ProofStep { done, total, .. }| {
        ended = talk.progress("log", done, total, "groups").err();
        ended.is_none()
    });
    let repaired = repaired.map_err(SystemError::from)?;
    if let Some(refusal) = ended {
        return Err(refusal);
    }
    let wal::Repaired { copied, archived, files, lost } = repaired;
    let mut done = format!(
        "{copied} groups of the log are copied from the other copy, {archived} are put back from \
         archives, {files} headers are written anew"
    );
    if !log.prove_ahead().is_empty() {
        match log.renew_ahead().map_err(SystemError::from)? {
            None => done += "; the write-ahead data set begins anew",
            Some(trouble) => done = format!("{done}; {trouble}"),
        }
    }
    let Some(last) = lost.last() else {
        done += &recreate(system, talk)?;
        return Ok(done);
    };
    if give_up {
        go_on_behind(system, last.number)?;
    }
    // What nobody needs any more is gone by now.
    let needed = |one: &&LostGroup| log.restart_needs(one.number) || !give_up;
    let left: Vec<&LostGroup> = lost.iter().filter(needed).collect();
    let Some(first) = left.first() else {
        let sets = sets_that_need(system, last.end).len();
        let copies = match sets {
            0 => String::new(),
            _ => format!(": make image copies of {sets} data sets now, their recovery needs them"),
        };
        return Ok(format!("{done}; {} are given up{copies}", lost.len()));
    };
    let Meaning { what, remedy } = meaning(system, first.number);
    let groups = left.len() as u64;
    let why = format!("{}: {what}", first.why);
    Err(SystemError::LogLost { done, groups, first: first.number, why, remedy }.into())
}

/// Makes copies anew that lack a file; what was done, in words.
fn recreate(system: &System, talk: &mut Talk<'_>) -> Result<String, Refusal> {
    let log = system.kernel().log();
    let copies: BTreeSet<u8> = log.missing_files().into_iter().map(|(copy, _)| copy).collect();
    let mut done = String::new();
    for copy in copies {
        if !log.lose_copy(copy).map_err(SystemError::from)? {
            done += "; the only copy of the log lacks a file";
            continue;
        }
        let mut ended = None;
        let mut watch = |copied, about| {
            ended = talk.progress("log", copied, about, "bytes").err();
            ended.is_none()
        };
        let clock = &system.kernel().seam().clock;
        let bytes = loop {
            match log.resync(copy, 0, &mut watch) {
                // Somebody still writes to it.
                Err(wal::LogError::CopyBusy { .. }) => clock.sleep(BUSY),
                resynced => break resynced,
            }
        };
        if let Some(refusal) = ended {
            return Err(refusal);
        }
        let bytes = bytes.map_err(SystemError::from)?;
        done = format!("{done}; copy {} is made anew, {bytes} bytes", copy + 1);
    }
    Ok(done)
}

/// Has restarts begin, and the archive go on, behind group `last`.
fn go_on_behind(system: &System, last: GroupNumber) -> Result<(), Refusal> {
    let kernel = system.kernel();
    kernel.log().begin_segment();
    kernel.write_out()?;
    kernel.renew_control()?;
    if let Some(archiver) = system.archiver() {
        archiver.give_up(last);
        archiver.archive_now().map_err(SystemError::from)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use base::Coded;

    use super::*;

    #[test]
    fn a_lost_group_is_told_with_its_number_and_with_what_to_do() {
        let error = SystemError::LogLost {
            done: "2 groups are copied".into(),
            groups: 1,
            first: GroupNumber(7),
            why: "no archive".into(),
            remedy: "Copy everything.".into(),
        };
        let text = error.to_string();
        assert!(text.contains("2 groups") && text.contains("group7"), "{text}");
        assert_eq!(error.remedy(), "Copy everything.");
    }
}
