//! The verbs of the archive.

use std::path::PathBuf;

use archive::{ArchiveError, Archiver, CopyFault, Cure, Discord, Kept, Needs, Span};
use base::{DataSetId, GroupNumber, Lsn};
use recon::State;
use recovery::log_filter;
use serde::{Deserialize, Serialize};
use uow::UowError;

use super::{OperatorError, Refusal, Talk};
use crate::archives::{AccumulationStatus, ArchiveStatus};
use crate::verify::audit::{self, ArchiveDiscord};
use crate::{System, SystemError};

/// Which archives.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WhichArchives {
    /// The first group of one; all if it is left out.
    pub first_group: Option<u64>,
    /// For a verification: make damaged copies anew.
    pub repair: bool,
    /// For a deletion: only say what would go.
    pub check: bool,
}

/// A copy of an archive that is not what it should be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ArchiveFault {
    /// The first group of the archive; 0 for an accumulation.
    pub first_group: u64,
    /// The file.
    pub file: String,
    /// What is wrong with it.
    pub why: String,
    /// How it was repaired, if it was.
    pub repaired: Option<String>,
}

/// What reading archives from front to back found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VerifiedArchives {
    /// How many were read.
    pub archives: u64,
    /// Copies that are not what they should be.
    pub faults: Vec<ArchiveFault>,
    /// Groups that no archive has, from one to before another.
    pub gaps: Vec<(u64, u64)>,
    /// What archives, RECON and the log say against each other.
    pub discords: Vec<ArchiveDiscord>,
}

fn archiver(system: &System) -> Result<&Archiver, Refusal> {
    let none = || ArchiveError::Config { why: "no folder is named, so nothing is archived".into() };
    system.archiver().ok_or_else(|| SystemError::from(none()).into())
}

fn refusal_of(error: ArchiveError) -> Refusal {
    SystemError::from(error).into()
}

/// Archives what was logged so far.
pub(super) fn now(system: &System) -> Result<Vec<ArchiveStatus>, Refusal> {
    let made = archiver(system)?.archive_now().map_err(refusal_of)?;
    Ok(made.iter().map(ArchiveStatus::of).collect())
}

/// The archives, oldest first.
pub(super) fn list(system: &System) -> Result<Vec<ArchiveStatus>, Refusal> {
    let archives = archiver(system)?.catalog().list();
    Ok(archives.iter().map(ArchiveStatus::of).collect())
}

/// What archives, RECON and the log say against each other; what RECON does not know it is told if
/// that is wished.
fn discords(system: &System, which: &WhichArchives) -> Result<Vec<ArchiveDiscord>, Refusal> {
    let archiver = archiver(system)?;
    let state = || State::clone(&system.recon().state());
    let mut found = audit::in_use(system.kernel(), archiver.catalog(), &mut { state });
    found.retain(|one| which.first_group.is_none_or(|group| one.from.0 == group));
    let away = recovery::folders_away(&*system.kernel().seam().disk, &state());
    let mut listed = Vec::new();
    for discord in &found {
        let mut one = ArchiveDiscord::of(system.dir(), &state(), &away, discord);
        let repaired = match discord.cure {
            Cure::Record if which.repair => record(archiver, discord),
            Cure::Log if which.repair => write_again(archiver, &state(), discord.from),
            _ => Ok(None),
        };
        match repaired {
            Ok(how) => one.repaired = how,
            Err(why) => one.why = format!("{}; it cannot be repaired: {why}", one.why),
        }
        listed.push(one);
    }
    Ok(listed)
}

/// What was done to what was wrong with an archive, if anything; or why it could not be done.
type Repaired = Result<Option<String>, String>;

/// Tells RECON of an archive.
fn record(archiver: &Archiver, discord: &Discord) -> Repaired {
    let list = archiver.catalog().list();
    let copy = list.iter().find(|copy| copy.info.from == discord.from);
    copy.map_or(Ok(()), |copy| archiver.registry().archived(&copy.info, &copy.files))?;
    Ok(Some("RECON was told of it".into()))
}

/// Writes an archive again from the log, which may have its groups yet.
fn write_again(archiver: &Archiver, state: &State, from: GroupNumber) -> Repaired {
    let list = archiver.catalog().list();
    let in_catalog = list.iter().find(|copy| copy.info.from == from).map(|copy| copy.info.to);
    let recorded = state.archives.values().find(|one| one.first_group == from);
    let recorded = recorded.map(|one| GroupNumber(one.last_group.0 + 1));
    let behind = list.iter().map(|copy| copy.info.from).find(|behind| *behind > from);
    let to = in_catalog.or(recorded).or(behind).ok_or("nobody knows where it ended")?;
    archiver.write_again(from, to).map_err(|error| error.to_string())?;
    Ok(Some("written again from the log".into()))
}

/// Makes a copy of an archive anew from the other one; or all of them from the log, if none is
/// whole.
fn repair(archiver: &Archiver, state: &State, fault: &CopyFault) -> Repaired {
    let catalog = archiver.catalog();
    if fault.is_foreign() {
        return Err("it is another system's: move it away".into());
    }
    // Another fault of the same archive may have been repaired, and this one with it.
    let is_whole = catalog.verify(fault.from).is_ok_and(|found| found.is_empty());
    if is_whole {
        return Ok(Some("made anew with its copy".into()));
    }
    match catalog.repair(fault.from, &fault.path) {
        Ok(()) => Ok(Some("made anew from its copy".into())),
        Err(none @ (ArchiveError::Damaged { .. } | ArchiveError::NoSuch { .. })) => {
            let written = write_again(archiver, state, fault.from);
            written.map_err(|why| format!("{none}; {why}"))
        }
        // The other copy may be whole: it is not set aside for another one.
        Err(error) => Err(error.to_string()),
    }
}

/// Reads archives from front to back, on every copy, and holds them against RECON and each other.
pub(super) fn verify(
    system: &System,
    which: &WhichArchives,
    talk: &mut Talk<'_>,
) -> Result<VerifiedArchives, Refusal> {
    let archiver = archiver(system)?;
    let (catalog, state) = (archiver.catalog(), system.recon().state());
    let mut archives = catalog.list();
    if let Some(group) = which.first_group.map(GroupNumber) {
        archives.retain(|copy| copy.info.from == group);
        let known = |fault: &CopyFault| fault.from == group;
        let recorded = |one: &recon::Archive| one.first_group == group;
        let is_known = catalog.faults().iter().any(known) || state.archives.values().any(recorded);
        if archives.is_empty() && !is_known {
            return Err(refusal_of(ArchiveError::NoSuch { group }));
        }
    }
    let mut found = catalog.faults();
    found.retain(|fault| !archives.iter().any(|copy| copy.info.from == fault.from));
    found.retain(|fault| which.first_group.is_none_or(|group| fault.from.0 == group));
    let total = archives.len() as u64;
    for (number, copy) in archives.iter().enumerate() {
        talk.progress("archive", number as u64, total, "files")?;
        found.extend(catalog.verify(copy.info.from).map_err(refusal_of)?);
    }
    let mut faults = Vec::new();
    for fault in found {
        let mut why = fault.why.to_string();
        let repaired = if which.repair { repair(archiver, &state, &fault) } else { Ok(None) };
        let repaired = repaired.unwrap_or_else(|error| {
            why = format!("{why}; it cannot be made anew: {error}");
            None
        });
        let file = fault.path.display().to_string();
        faults.push(ArchiveFault { first_group: fault.from.0, file, why, repaired });
    }
    if which.first_group.is_none() {
        faults.extend(accumulation_faults(archiver, which.repair));
    }
    let gaps: Vec<(u64, u64)> = catalog.gaps().iter().map(|(from, to)| (from.0, to.0)).collect();
    let discords = discords(system, which)?;
    Ok(VerifiedArchives { archives: total, faults, gaps, discords })
}

/// What is wrong with accumulations. The archives that one was made of serve instead, so that a
/// damaged file of it is deleted if that is wished.
fn accumulation_faults(archiver: &Archiver, repair: bool) -> Vec<ArchiveFault> {
    let catalog = archiver.catalog();
    let found = catalog.damaged_accumulations().into_iter();
    let listed = found.map(|(path, error)| {
        let deleted = repair.then(|| catalog.delete_damaged(&path, &**archiver.registry()));
        let (why, repaired) = match deleted {
            None => (format!("{error}; the archives it was made of serve instead"), None),
            Some(Ok(())) => (error.to_string(), Some("deleted: its archives serve".to_owned())),
            Some(Err(other)) => (format!("{error}; it cannot be deleted: {other}"), None),
        };
        ArchiveFault { first_group: 0, file: path.display().to_string(), why, repaired }
    });
    listed.collect()
}

/// A folder of the archive.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchiveFolder {
    /// Its path, from the system's folder on.
    pub folder: PathBuf,
}

/// Begins anew in a folder whose archives are lost.
pub(super) fn begin(system: &System, asked: &ArchiveFolder) -> Result<Vec<ArchiveStatus>, Refusal> {
    archiver(system)?.accept_empty(&system.dir().join(&asked.folder)).map_err(refusal_of)?;
    list(system)
}

/// Deletes one archive, or all that policy lets go and no recovery needs; and what is unreadable on
/// all copies and was needed by none.
pub(super) fn delete(
    system: &System,
    which: &WhichArchives,
    talk: &mut Talk<'_>,
) -> Result<DeletedArchives, Refusal> {
    let archiver = archiver(system)?;
    let (catalog, registry) = (archiver.catalog(), archiver.registry());
    let unread = delete_unread(system, which)?;
    let mut stays = None;
    let mut archives = match which.first_group.map(GroupNumber) {
        Some(group) => {
            let mut one = catalog.list();
            one.retain(|copy| copy.info.from == group);
            if one.is_empty() && unread.is_empty() {
                return Err(refusal_of(ArchiveError::NoSuch { group }));
            }
            let mut asked = one.iter().filter(|_| which.check);
            asked
                .try_for_each(|copy| catalog.may_go(copy.info.from, &**registry))
                .map_err(refusal_of)?;
            one
        }
        None => {
            let needs = Needs::of(&**registry).map_err(|why| OperatorError::Broken { why })?;
            stays = catalog.oldest_kept(&catalog.config().keep, &needs);
            catalog.expired(&catalog.config().keep, needs.from())
        }
    };
    let by_policy = which.first_group.is_none();
    let mut kept = Vec::new();
    for (number, copy) in archives.iter().enumerate().filter(|_| !which.check) {
        talk.progress("archive", number as u64, archives.len() as u64, "files")?;
        match catalog.delete(copy.info.from, &**registry) {
            // Somebody else has asked for the same.
            Err(ArchiveError::NoSuch { .. }) if by_policy => {}
            // An image copy that has been begun since needs it.
            Err(ArchiveError::Needed { .. }) if by_policy => kept.push(copy.info.from),
            deleted => deleted.map_err(refusal_of)?,
        }
    }
    archives.retain(|copy| !kept.contains(&copy.info.from));
    if by_policy && !which.check {
        catalog.delete_accumulations(&**registry).map_err(refusal_of)?;
    }
    let deleted = unread.into_iter().chain(archives.iter().map(ArchiveStatus::of)).collect();
    let stays = stays.map(|(from, Kept { why, advice })| {
        format!("The oldest one, from group {}, stays: {why}. {advice}", from.0)
    });
    Ok(DeletedArchives { deleted, stays })
}

/// What deleting archives came to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DeletedArchives {
    /// Those that are gone, or would go.
    pub deleted: Vec<ArchiveStatus>,
    /// Why the oldest one stayed, as a sentence, if policy was asked.
    pub stays: Option<String>,
}

/// Deletes archives that cannot be read from any copy and that no recovery needs: one, or all.
fn delete_unread(system: &System, which: &WhichArchives) -> Result<Vec<ArchiveStatus>, Refusal> {
    let archiver = archiver(system)?;
    let (catalog, registry) = (archiver.catalog(), archiver.registry());
    let state = system.recon().state();
    let wanted = match which.first_group.map(GroupNumber) {
        Some(group) => {
            catalog.unread_archives().into_iter().filter(|one| one.from == group).collect()
        }
        None => {
            let unread = catalog.expired_unread(&**registry);
            unread.map_err(|why| OperatorError::Broken { why })?
        }
    };
    let gone = wanted.iter().map(|one| {
        match which.check {
            true => catalog.unread_may_go(one.from, &**registry),
            false => catalog.delete_unread(one.from, &**registry),
        }
        .map_err(refusal_of)?;
        Ok(ArchiveStatus::of_unread(one, &state))
    });
    gone.collect()
}

/// What to accumulate.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Merge {
    /// Data sets by name.
    pub sets: Vec<String>,
    /// All data sets of these databases, too; for layers that know databases.
    pub databases: Vec<String>,
    /// From which position on; from where the last accumulation of these sets ends, or from the
    /// oldest archive, if it is left out.
    pub from: Option<u64>,
}

/// The data sets with those whose place they took, each where it counts.
fn spans(system: &System, names: &[String]) -> Result<Vec<Span>, Refusal> {
    let state = system.recon().state();
    let mut spans = Vec::new();
    for name in names {
        let set = system.kernel().set_named(name);
        let set = set.ok_or_else(|| UowError::NoSuchSet { name: name.clone() })?;
        spans.extend(state.lineage(set.id()));
    }
    Ok(spans)
}

/// Merges the archived changes of some data sets, so that their recovery reads less.
///
/// # Errors
/// No archive, no such data set, whatever reading and writing say.
pub fn accumulate(
    system: &System,
    merge: &Merge,
    talk: &mut Talk<'_>,
) -> Result<Vec<AccumulationStatus>, Refusal> {
    let archiver = archiver(system)?;
    let (catalog, spans) = (archiver.catalog(), spans(system, &merge.sets)?);
    let list = catalog.list();
    let whole = list.iter().rev().map(|copy| copy.info.whole).find(|whole| *whole != Lsn::NONE);
    let oldest = list.first().map(|copy| copy.info.first);
    let known = catalog.accumulations();
    let last = known.iter().filter(|one| one.info.has(&spans, Lsn(0))).map(|one| one.info.end);
    // Archives behind the last accumulation may have been deleted since: what is left is merged.
    let from = merge.from.map(Lsn).or(last.max().max(oldest));
    let (from, to) = match (from, whole) {
        (Some(from), Some(to)) if from < to => (from, to),
        _ => return Ok(Vec::new()),
    };
    let ids: Vec<DataSetId> =
        spans.iter().filter(|span| span.meets(from, to)).map(|span| span.set).collect();
    if ids.is_empty() {
        // A recovery to a point has made all of it void.
        return Ok(Vec::new());
    }
    let mut ended = None;
    let made = catalog.accumulate(&ids, from..to, log_filter, &**archiver.registry(), &mut |at| {
        let (read, all) = (at.0.saturating_sub(from.0), to.0 - from.0);
        talk.progress("log", read, all, "bytes").map_err(|refusal| {
            ended = Some(refusal);
            ArchiveError::Accumulation { why: "nobody waits for it any more".into() }
        })
    });
    if let Some(refusal) = ended {
        return Err(refusal);
    }
    let made = made.map_err(refusal_of)?;
    let name = |id: &DataSetId| system.kernel().set(*id).map(|set| set.name().to_owned());
    Ok(vec![AccumulationStatus {
        sets: made.info.sets.iter().filter_map(name).collect(),
        first_lsn: made.info.first.0,
        end_lsn: made.info.end.0,
        records: made.info.records,
        file_bytes: made.info.file_bytes(),
        files: made.files.iter().map(|path| path.display().to_string()).collect(),
    }])
}
