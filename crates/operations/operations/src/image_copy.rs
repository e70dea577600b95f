//! Image copies of data sets and databases of an open system.
//!
//! Invariants:
//! 1. A database is copied with its indexes and its relations.
//! 2. Of all that there is, what waits for its recovery is left out, and named in the answer; by
//!    its name it is refused.

use std::path::PathBuf;

use recon::ImageCopy;
use recovery::{CopyFiles, CopyOptions, CopySink, copy_sets};
use serde::{Deserialize, Serialize};
use system::System;
use system::operator::Talk;
use uow::UowError;

use crate::moment::utc;
use crate::pipe::PipeSink;
use crate::selection::{Selection, names, register_databases};
use crate::{OperationsError, Result};

/// What `image-copy` is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CopyRequest {
    /// What is copied.
    pub which: Selection,
    /// A file goes into each.
    pub folders: Vec<PathBuf>,
    /// Or all of it into this pipe.
    #[serde(default)]
    pub pipe: Option<PathBuf>,
    /// Only what has changed since the newest copy of the same data sets.
    pub incremental: bool,
    /// Bytes read in a second at most; 0: no limit.
    pub rate: u64,
}

/// What `image-copy` did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Copied {
    /// The copy's number in RECON.
    pub number: u32,
    /// The copy that it goes on from; 0: none.
    pub base: u32,
    /// Its files; none if it went into a pipe.
    pub files: Vec<PathBuf>,
    /// The data sets in it.
    pub sets: Vec<String>,
    /// Where in the log a recovery goes on.
    pub start: u64,
    /// From where on any point can be recovered to.
    pub end: u64,
    /// Its length.
    pub bytes: u64,
    /// Control intervals in it.
    pub intervals: u64,
    /// Control intervals that were examined.
    pub looked_at: u64,
    /// Those of them that were copied out of a buffer pool.
    pub from_pool: u64,
    /// What was asked for by `--all`, and waits for its recovery: the copy has nothing of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offline: Vec<String>,
}

/// Copies what is named, into files or into a pipe.
///
/// # Errors
/// What is offline; what cannot be read or written; the end of the caller.
pub fn image_copy(system: &System, request: &CopyRequest, talk: &mut Talk<'_>) -> Result<Copied> {
    let (names, offline) = at_hand(system, names(system, &request.which)?, request.which.all)?;
    register_databases(system);
    system.update_recon()?;
    let now = system.kernel().seam().clock.utc_us();
    let name = format!("{}-{}.copy", label(&request.which), stamp(now));
    let paths: Vec<PathBuf> = request.folders.iter().map(|folder| folder.join(&name)).collect();
    let disk = system.kernel().seam().disk.as_ref();
    system.refuse_own_folders(&request.folders)?;
    recovery::refuse_away(disk, &system.recon().state(), &request.folders)?;
    let in_files = request.pipe.is_none();
    let since = if request.incremental { Some(base(system, &names, in_files)?) } else { None };
    let mut sink: Box<dyn CopySink> = match &request.pipe {
        Some(pipe) => Box::new(PipeSink::open(pipe, system.dir(), &system.kernel().seam().clock)?),
        None => Box::new(CopyFiles::begin(system.kernel().seam(), &paths)?),
    };
    let mut ended = None;
    let report = copy_sets(
        system.kernel(),
        &system.copy_keys(),
        system.recon(),
        &names,
        &mut *sink,
        &CopyOptions { since, bytes_per_second: request.rate },
        &mut |at| {
            ended = talk.progress(at.what, at.done, at.total, "bytes").err();
            ended.is_none()
        },
    );
    if let Some(refusal) = ended {
        return Err(refusal.into());
    }
    let report = report?;
    let copy = report.copy;
    Ok(Copied {
        number: copy.number,
        base: copy.base,
        files: copy.files.into_iter().map(|file| file.path).collect(),
        sets: names,
        start: copy.start.0,
        end: copy.end.0,
        bytes: copy.bytes,
        intervals: report.copied,
        looked_at: report.looked_at,
        from_pool: report.from_pool,
        offline,
    })
}

/// Data sets by name, apart from those that wait for their recovery: of all that there are these
/// are left out, by its name none can be copied.
fn at_hand(system: &System, names: Vec<String>, all: bool) -> Result<(Vec<String>, Vec<String>)> {
    let waiting = system.kernel().offline_sets();
    let is_offline = |name: &String| waiting.iter().any(|set| set.name == *name);
    let (offline, names): (Vec<String>, Vec<String>) = names.into_iter().partition(is_offline);
    let Some(first) = waiting.into_iter().find(|set| offline.contains(&set.name)) else {
        return Ok((names, offline));
    };
    match all && !names.is_empty() {
        true => Ok((names, offline)),
        false => Err(UowError::SetOffline { name: first.name, set: first.id }.into()),
    }
}

/// The newest copy that holds all of these data sets as they are. One in files goes on from what is
/// in files, too: else it would be of no use by itself.
fn base(system: &System, names: &[String], in_files: bool) -> Result<u32> {
    let state = system.recon().state();
    let id = |name: &String| system.kernel().set_named(name).map(|set| set.id());
    let holds = |copy: &&ImageCopy| {
        let mut each = names.iter();
        each.all(|name| copy.sets.iter().any(|set| set.name == *name && Some(set.set) == id(name)))
    };
    let usable = |copy: &&ImageCopy| !in_files || state.chain_at_hand(copy.number).is_some();
    let found = state.image_copies.values().rev().filter(usable).find(holds);
    found.map(|copy| copy.number).ok_or(OperationsError::NoBaseCopy)
}

/// What a copy's file is called.
fn label(which: &Selection) -> String {
    let one = which.databases.iter().chain(&which.sets).next();
    match (which.all, one) {
        (false, Some(name)) => {
            let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
            name.chars().map(|c| if safe(c) { c } else { '_' }).collect()
        }
        _ => "all".into(),
    }
}

/// A moment as part of a file's name, to the microsecond.
fn stamp(utc_us: u64) -> String {
    let digits: String = utc(utc_us).chars().filter(char::is_ascii_digit).collect();
    format!("{digits}{:06}", utc_us % 1_000_000)
}
