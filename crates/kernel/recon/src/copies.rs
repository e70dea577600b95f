//! Which copy of RECON is right.
//!
//! Invariants:
//! 1. A copy that another one calls stale is not believed (K9); of the others the one with the
//!    newest entry is.
//! 2. If what is believed lacks an entry that a damaged copy proves to have had, nothing is
//!    believed (K20).
//! 3. Looking changes nothing; putting the other copy right is for whoever opens RECON.

use std::io;
use std::path::{Path, PathBuf};

use seal::Tag;
use seam::disk::{Disk, read_small};

use crate::entry::{Chain, FileFault, Keys, walk};
use crate::state::State;
use crate::{ReconError, Record};

/// Files longer than this are not RECON's.
const FILE_BYTES_MAX: usize = 512 << 20;

/// How a copy was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyReport {
    /// The file.
    pub path: PathBuf,
    /// Its newest entry; `None` if nothing of it can be used.
    pub newest: Option<u64>,
    /// What is wrong with it, as a sentence without an end.
    pub wrong: Option<String>,
}

/// What a look at RECON found.
#[derive(Clone, Debug)]
pub struct Reading {
    /// What it says.
    pub state: State,
    /// Each copy.
    pub copies: Vec<CopyReport>,
    /// The newest entry.
    pub newest: u64,
}

/// The copy that is believed.
pub(crate) struct Chosen {
    pub(crate) reading: Reading,
    /// Which one it is, from 0.
    pub(crate) copy: usize,
    /// Its valid bytes, whole blocks.
    pub(crate) bytes: Vec<u8>,
    pub(crate) tag: Tag,
    /// The copies that hold exactly the same, and nothing behind it.
    pub(crate) alike: Vec<bool>,
    /// How far copies hold the same from their beginning, if all of them that is valid is the same:
    /// what such a one lacks can be added, and what stands behind it cleared.
    pub(crate) same: Vec<Option<u64>>,
}

struct Found {
    bytes: Vec<u8>,
    chain: Chain,
    state: State,
}

/// Reads all copies and finds the one to believe.
pub(crate) fn choose(
    disk: &dyn Disk,
    paths: &[PathBuf],
    keys: &Keys,
) -> Result<Chosen, ReconError> {
    let read: Vec<Result<Found, Unusable>> =
        paths.iter().map(|path| read_one(disk, path, keys)).collect();
    let reports: Vec<CopyReport> =
        read.iter().zip(paths).map(|(found, path)| report(path, found)).collect();
    if read.iter().all(|found| matches!(found, Err(Unusable::Missing))) {
        return Err(ReconError::Missing { paths: paths.to_vec() });
    }
    let copy = newest_of(&read, paths)?;
    let damage = || reports.iter().filter_map(|report| report.wrong.clone());
    let Some(copy) = copy else { return Err(refusal(read, paths, &damage().collect::<Vec<_>>())) };
    let Ok(best) = &read[copy] else {
        return Err(refusal(read, paths, &damage().collect::<Vec<_>>()));
    };
    let newest = best.newest();
    let proven = read.iter().flatten().filter_map(|found| Some(found.chain.broken.as_ref()?.1));
    // A stale copy may be damaged as it likes: what it lacks is known not to be there.
    if proven.max().is_some_and(|number| number > newest) && best.state.stale == 0 {
        return Err(ReconError::Damaged { why: damage().collect::<Vec<_>>().join("; ") });
    }
    let tag = best.tag();
    let mut bytes = best.bytes.clone();
    // With padding that a crash has cut off: whoever goes on goes on behind it.
    bytes.resize(best.chain.bytes as usize, 0);
    // Zeros behind it are room for what will be added.
    let alike = |found: &Result<Found, Unusable>| {
        found.as_ref().is_ok_and(|found| {
            let rest = found.bytes.strip_prefix(bytes.as_slice());
            rest.is_some_and(|rest| rest.iter().all(|byte| *byte == 0))
        })
    };
    let same = |found: &Result<Found, Unusable>| {
        let Found { bytes: has, chain, .. } = found.as_ref().ok()?;
        // Padding that was cut off shares a block with the last entry (K19).
        let valid = has.get(..chain.bytes as usize).filter(|_| chain.broken.is_none())?;
        bytes.starts_with(valid).then_some(chain.bytes)
    };
    Ok(Chosen {
        copy,
        alike: read.iter().map(alike).collect(),
        same: read.iter().map(same).collect(),
        bytes,
        tag,
        reading: Reading { state: best.state.clone(), copies: reports, newest },
    })
}

impl Found {
    fn newest(&self) -> u64 {
        self.chain.entries.last().map_or(0, |entry| entry.number)
    }

    fn tag(&self) -> Tag {
        self.chain.entries.last().map_or(Tag([0; 16]), |entry| entry.tag)
    }
}

enum Unusable {
    Missing,
    Unread(io::Error),
    Bad(FileFault),
}

fn read_one(disk: &dyn Disk, path: &Path, keys: &Keys) -> Result<Found, Unusable> {
    let bytes = read_small(disk, path, FILE_BYTES_MAX).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Unusable::Missing,
        _ => Unusable::Unread(error),
    })?;
    if bytes.is_empty() {
        return Err(Unusable::Bad(FileFault::Damaged("it is empty".into())));
    }
    let chain = walk(&bytes, keys).map_err(Unusable::Bad)?;
    let records: Vec<Record> =
        chain.entries.iter().flat_map(|entry| entry.records.iter().cloned()).collect();
    Ok(Found { bytes, chain, state: State::of(&records) })
}

fn report(path: &Path, found: &Result<Found, Unusable>) -> CopyReport {
    let wrong = |why: String| Some(format!("{}: {why}", path.display()));
    let (newest, wrong) = match found {
        Ok(found) => match &found.chain.broken {
            Some((why, last)) => {
                let text = format!("{why}, and it had entries up to {last}");
                (Some(found.newest()), wrong(text))
            }
            None => (Some(found.newest()), None),
        },
        Err(Unusable::Missing) => (None, wrong("it is missing".into())),
        Err(Unusable::Unread(error)) => (None, wrong(format!("it cannot be read: {error}"))),
        Err(Unusable::Bad(fault)) => (None, wrong(fault.to_string())),
    };
    CopyReport { path: path.to_owned(), newest, wrong }
}

/// The copy with the newest entry that no other one calls stale.
fn newest_of(
    read: &[Result<Found, Unusable>],
    paths: &[PathBuf],
) -> Result<Option<usize>, ReconError> {
    let usable: Vec<(usize, &Found)> = read
        .iter()
        .enumerate()
        .filter_map(|(at, found)| Some((at, found.as_ref().ok()?)))
        .collect();
    let called_stale = |at: usize| {
        usable.iter().any(|(other, found)| *other != at && usize::from(found.state.stale) == at + 1)
    };
    let believed: Vec<&(usize, &Found)> =
        usable.iter().filter(|(at, _)| !called_stale(*at)).collect();
    if believed.is_empty() && !usable.is_empty() {
        let why = "each says that the other is stale".into();
        return Err(ReconError::Conflict { why });
    }
    if let [(one, first), (other, second)] = believed[..]
        && first.newest() == second.newest()
        && first.tag() != second.tag()
    {
        let (one, other) = (paths[*one].display(), paths[*other].display());
        let why = format!("{one} and {other} have different entries {}", first.newest());
        return Err(ReconError::Conflict { why });
    }
    // The first of two that are equally new.
    let best = believed.iter().rev().max_by_key(|(_, found)| found.newest());
    Ok(best.map(|(at, _)| *at))
}

/// Why there is nothing to believe.
fn refusal(read: Vec<Result<Found, Unusable>>, paths: &[PathBuf], damage: &[String]) -> ReconError {
    for (found, path) in read.into_iter().zip(paths) {
        let path = path.clone();
        match found {
            Err(Unusable::Bad(FileFault::Future(version))) => {
                return ReconError::Future { path, version };
            }
            Err(Unusable::Bad(FileFault::Foreign(found))) => {
                return ReconError::Foreign { path, found };
            }
            Err(Unusable::Bad(FileFault::Key(error))) => return error.into(),
            Err(Unusable::Unread(error)) => return ReconError::Io { path, verb: "read", error },
            _ => {}
        }
    }
    ReconError::Damaged { why: damage.join("; ") }
}
