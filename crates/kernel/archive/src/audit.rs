//! The audit: archives held against what RECON wrote of them, against each other, and against the
//! log that goes on behind them.
//!
//! Invariants:
//! 1. Nothing is changed, and no block is read: that a file is whole its proof says
//!    ([`ArchiveCatalog::verify`]).
//! 2. What no recovery needs any more is told, too, and says so: it is no damage.
//! 3. A loss is named once: groups that are missing because an archive is are that archive's, and
//!    archives that are missing because their folder is not mounted are that folder's.

use std::path::PathBuf;

use base::{GroupNumber, Lsn};
use recon::{Archive, Span, State};

use crate::{Accumulation, ArchiveCatalog, ArchiveInfo, CatalogEntry};

/// Something that is wrong with archives and that no file shows by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discord {
    /// The group that the archive begins with, or the first one that is missing.
    pub from: GroupNumber,
    /// The file that it is about.
    pub path: Option<PathBuf>,
    /// What is wrong.
    pub why: String,
    /// What helps.
    pub cure: Cure,
}

/// What helps against a [`Discord`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cure {
    /// The folder is mounted again.
    Mount,
    /// RECON is told of the archive.
    Record,
    /// It is written again: the log still has its groups.
    Log,
    /// The right file is brought back, or everything is copied anew: until then it is needed.
    Copies,
    /// Nothing has to be done: no recovery needs it.
    Unneeded,
}

/// Where the oldest segment begins that the log still has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogBegins {
    /// Its first group.
    pub group: GroupNumber,
    /// Its first position.
    pub lsn: Lsn,
}

/// Holds the archives of a catalog against RECON, each other, and the log, as far as it is known
/// where that begins.
#[must_use]
pub fn audit(catalog: &ArchiveCatalog, state: &State, log: Option<LogBegins>) -> Vec<Discord> {
    let named = catalog.faults().iter().map(|fault| fault.from).collect();
    let (list, merged, needed) = (catalog.list(), catalog.accumulations(), state.log_needed());
    let audit = Audit { list, merged, named, away: catalog.away(), state, log, needed };
    let mut found = audit.folders();
    found.extend(audit.against_recon());
    found.extend(audit.unshelved());
    found.extend(audit.chain());
    found.extend(audit.gaps());
    found.extend(audit.beginning());
    found
}

struct Audit<'a> {
    list: Vec<CatalogEntry>,
    merged: Vec<Accumulation>,
    /// Archives with a file that says itself that it is damaged or missing.
    named: Vec<GroupNumber>,
    /// Folders that hold none of the archives that they must hold.
    away: Vec<PathBuf>,
    state: &'a State,
    log: Option<LogBegins>,
    /// What recoveries need of the log; all of it, if nothing says so.
    needed: Option<Vec<Span>>,
}

impl Audit<'_> {
    /// What helps against the loss of the log between two positions.
    fn cure(&self, from: Lsn, end: Lsn) -> Cure {
        if self.is_needed(from, end) { Cure::Copies } else { Cure::Unneeded }
    }

    /// The same, for groups that are in no archive.
    fn cure_of_loss(&self, group: GroupNumber, from: Lsn, end: Lsn) -> Cure {
        match self.cure(from, end) {
            Cure::Copies if self.log.is_some_and(|log| log.group <= group) => Cure::Log,
            cure => cure,
        }
    }

    /// The same, for an archive that RECON does not know: so it is after a crash between the record
    /// that it is deleted and its end. Policy finds it again.
    fn cure_of_stranger(&self, copy: &CatalogEntry) -> Cure {
        match self.cure(copy.info.first, copy.info.end) {
            Cure::Unneeded if self.log.is_none_or(|log| log.group > copy.info.from) => {
                Cure::Unneeded
            }
            _ => Cure::Record,
        }
    }

    /// Whether recoveries need log between two positions that no accumulation has.
    fn is_needed(&self, from: Lsn, end: Lsn) -> bool {
        let Some(spans) = &self.needed else { return true };
        let mut at = from;
        while let Some((next, _)) = recon::pieces(spans, at, end).first().copied() {
            let serves = |one: &&Accumulation| {
                one.info.first <= next && next < one.info.end && one.info.has(spans, next)
            };
            match self.merged.iter().filter(serves).map(|one| one.info.end).max() {
                Some(through) => at = through,
                None => return true,
            }
        }
        false
    }

    /// Folders that are not mounted, each once for all that it holds.
    fn folders(&self) -> Vec<Discord> {
        let records = self.away.iter().map(|folder| Discord {
            from: GroupNumber(0),
            path: Some(folder.clone()),
            why: "it holds none of the archives that it held: it is not mounted, or was emptied"
                .to_owned(),
            cure: Cure::Mount,
        });
        records.collect()
    }

    /// Whether RECON knows a file of an archive in a folder that is not mounted.
    fn is_away(&self, one: &Archive) -> bool {
        let folders = one.files.iter().filter(|file| !file.lost).filter_map(|f| f.path.parent());
        folders.into_iter().any(|folder| self.away.iter().any(|away| away == folder))
    }

    /// Each archive against the word of RECON.
    fn against_recon(&self) -> Vec<Discord> {
        let mut found = Vec::new();
        for copy in &self.list {
            let (from, path) = (copy.info.from, copy.files.first().cloned());
            let mut records = self.state.archives.values().filter(|one| one.first_group == from);
            let differences: Vec<String> = records
                .clone()
                .map(|one| difference(&copy.info, one).unwrap_or_default())
                .collect();
            if differences.iter().any(String::is_empty) {
                continue;
            }
            let (why, cure) = match (records.next(), differences.first()) {
                (Some(one), Some(differs)) => {
                    let why = format!("it is not the archive {} that RECON knows", one.number);
                    let (first, end) = (one.first.min(copy.info.first), one.end.max(copy.info.end));
                    (format!("{why}: {differs}"), self.cure(first, end))
                }
                _ => {
                    let why = "RECON does not know this archive".to_owned();
                    (why, self.cure_of_stranger(copy))
                }
            };
            found.push(Discord { from, path, why, cure });
        }
        found
    }

    /// Archives that RECON knows and no folder has.
    fn unshelved(&self) -> Vec<Discord> {
        let holds = |group| self.list.iter().any(|copy| copy.info.holds(group));
        // One that begins with the same group was held against it already.
        let begins = |group| self.list.iter().any(|copy| copy.info.from == group);
        let known = self.state.archives.values().filter(|one| {
            let is_there = holds(one.first_group) && holds(one.last_group);
            let is_reported = self.named.contains(&one.first_group) || self.is_away(one);
            !is_there && !begins(one.first_group) && !is_reported
        });
        let lost = known.map(|one| Discord {
            from: one.first_group,
            path: one.files.first().map(|file| file.path.clone()),
            why: format!(
                "archive {}, which RECON knows, is in no folder of the archive",
                one.number
            ),
            cure: self.cure_of_loss(one.first_group, one.first, one.end),
        });
        lost.collect()
    }

    /// Each archive goes on from the one before.
    fn chain(&self) -> Vec<Discord> {
        let pairs = self.list.windows(2).filter(|pair| {
            let (before, behind) = (&pair[0].info, &pair[1].info);
            before.to == behind.from && before.last != behind.previous
        });
        let broken = pairs.map(|pair| Discord {
            from: pair[1].info.from,
            path: pair[1].files.first().cloned(),
            why: format!("it does not go on from the archive of {}", pair[0].info.from),
            cure: self.cure(pair[1].info.first, pair[1].info.end),
        });
        broken.collect()
    }

    /// Groups between two archives, or between the newest one and the log, that none holds.
    fn gaps(&self) -> Vec<Discord> {
        let mut found = Vec::new();
        let begins = self.list.iter().map(|copy| (copy.info.from, copy.info.first));
        let log = self.log.iter().map(|log| (log.group, log.lsn));
        let mut before: Option<&ArchiveInfo> = None;
        for (at, (to, lsn)) in begins.chain(log).enumerate() {
            if let Some(before) = before.filter(|before| before.to < to)
                && !self.is_of_an_archive(before.to, to)
                && !self.state.is_lost(before.end, lsn)
            {
                let why = format!("no archive holds {} up to {to}", before.to);
                let cure = self.cure_of_loss(before.to, before.end, lsn);
                found.push(Discord { from: before.to, path: None, why, cure });
            }
            let here = self.list.get(at).map(|copy| &copy.info);
            before = here.into_iter().chain(before).max_by_key(|info| info.to);
        }
        found
    }

    /// Whether all groups of a gap are those of archives that RECON knows, or of damaged files.
    fn is_of_an_archive(&self, from: GroupNumber, to: GroupNumber) -> bool {
        let mut at = from;
        while at < to {
            let known = self.state.archives.values();
            let Some(one) =
                known.into_iter().find(|one| one.first_group <= at && at <= one.last_group)
            else {
                return false;
            };
            at = GroupNumber(one.last_group.0 + 1);
        }
        true
    }

    /// The oldest archive, or the log, reaches back to where recoveries begin.
    fn beginning(&self) -> Option<Discord> {
        let needed = self.needed.iter().flatten().map(|span| span.from).min()?;
        let archived = self.list.first().map(|copy| (copy.info.from, copy.info.first));
        let logged = self.log.map(|log| (log.group, log.lsn));
        let (from, oldest) = archived.into_iter().chain(logged).min()?;
        let known =
            || self.state.archives.values().any(|one| one.end > needed && one.first < oldest);
        let is_there = !self.is_needed(needed, oldest) || self.state.is_lost(needed, oldest);
        if is_there || known() {
            return None;
        }
        let why = format!("image copies need the log from {needed} on, and {oldest} is the oldest");
        Some(Discord { from, path: None, why, cure: Cure::Copies })
    }
}

/// How an archive differs from what RECON wrote of it, if it does.
fn difference(info: &ArchiveInfo, known: &Archive) -> Option<String> {
    // Where its files are, and what became of one, is no part of what it is.
    let is = info.entry(known.number, &[], &known.label);
    let pairs = [
        ("its last group", is.last_group.to_string(), known.last_group.to_string()),
        ("its first position", is.first.to_string(), known.first.to_string()),
        ("its end", is.end.to_string(), known.end.to_string()),
        ("its length", format!("{} bytes", is.bytes), format!("{} bytes", known.bytes)),
        ("its key", format!("{:?}", is.generations), format!("{:?}", known.generations)),
    ];
    let differs = pairs.into_iter().find(|(_, is, known)| is != known);
    match differs {
        Some((what, is, known)) => Some(format!("{what} is {is}, not {known}")),
        None if is.tag != known.tag => Some("its last group has another seal".to_owned()),
        None => None,
    }
}
