//! What RECON says, and what it is told of image copies whose files have moved or are gone.
//!
//! Invariants:
//! 1. A file is recorded as that of a copy only after it was read whole and proven.

use std::path::{Path, PathBuf};

use recon::{ArchiveFile, CopyKind, ImageCopy, Recon, Record, State};
use recovery::{CopyFiles, CopyKeys, Progress, RecoveryError};
use seam::Seam;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use system::operator::Talk;
use system::{System, SystemError};

use crate::Result;

/// What RECON of an open system says.
///
/// # Errors
/// As [`System::update_recon`].
pub fn list(system: &System) -> Result<Value> {
    system.update_recon()?;
    Ok(document(&system.recon().state()))
}

/// What RECON is to say of an image copy from now on.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeRequest {
    /// The number of the image copy.
    pub copy: u32,
    /// Its files stand in this folder now.
    pub moved_to: Option<PathBuf>,
    /// It stands in this file now. If neither is named, its files are gone for good.
    pub file: Option<PathBuf>,
}

/// Changes what RECON of an open system says of an image copy.
///
/// # Errors
/// As [`change_recon`].
pub fn change(system: &System, request: &ChangeRequest, talk: &mut Talk<'_>) -> Result<Changed> {
    let seam = system.kernel().seam();
    let changed = change_recon(seam, &system.copy_keys(), system.recon(), request, &mut |at| {
        let _ = talk.progress(at.what, at.done, at.total, "bytes");
    })?;
    Ok(changed)
}

/// What RECON says of an image copy from now on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Changed {
    /// Its number.
    pub image_copy: u32,
    /// Where it stands.
    pub files: Vec<PathBuf>,
    /// What is to be known of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Changes what RECON says of an image copy.
///
/// # Errors
/// If there is no such copy, or the file that is named is not one of its own.
pub fn change_recon(
    seam: &Seam,
    keys: &CopyKeys,
    recon: &Recon,
    request: &ChangeRequest,
    progress: &mut dyn FnMut(Progress<'_>),
) -> std::result::Result<Changed, SystemError> {
    let state = recon.state();
    let copy = state.image_copies.get(&request.copy);
    let copy = copy.ok_or(SystemError::NoSuchCopy { number: request.copy })?;
    let mut warnings = Vec::new();
    let mut prove = |file: &Path| {
        warnings.extend(proven(seam, keys, copy, file, progress)?);
        Ok::<(), SystemError>(())
    };
    let files = match (&request.file, &request.moved_to) {
        (Some(file), _) => {
            prove(file)?;
            vec![file.clone()]
        }
        (None, Some(folder)) => moved(seam, copy, folder, &mut prove)?,
        (None, None) => {
            recon.add(vec![Record::ImageCopyGone(request.copy)])?;
            return Ok(Changed { image_copy: request.copy, files: Vec::new(), warnings });
        }
    };
    let known = files.iter().map(|path| ArchiveFile { path: path.clone(), lost: false }).collect();
    recon.add(vec![Record::ImageCopy(ImageCopy { files: known, ..copy.clone() })])?;
    Ok(Changed { image_copy: request.copy, files, warnings })
}

/// Whether a copy stands in this file, which is read whole to know that. One that is damaged serves
/// as far as it proves itself, if there is none that is whole; what is wrong is returned then.
fn proven(
    seam: &Seam,
    keys: &CopyKeys,
    copy: &ImageCopy,
    file: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> std::result::Result<Option<String>, SystemError> {
    let what = file.display().to_string();
    let tell = &mut |done, total| progress(Progress { what: &what, done, total });
    let Some(error) = CopyFiles::is_of(seam, file, copy, keys, tell)? else { return Ok(None) };
    let others = copy.files.iter().filter(|other| other.path != file);
    for other in others {
        if matches!(CopyFiles::is_of(seam, &other.path, copy, keys, tell), Ok(None)) {
            return Err(error.into());
        }
    }
    Ok(Some(format!(
        "{error}; what of it proves itself serves recoveries, together with other files of the \
         copy; `holdfast verify` says what repairs it"
    )))
}

/// The files of a copy of which one stands in a folder now, where it is looked for and proven. The
/// other one, which has the same name, keeps its place.
fn moved(
    seam: &Seam,
    copy: &ImageCopy,
    folder: &Path,
    prove: &mut dyn FnMut(&Path) -> std::result::Result<(), SystemError>,
) -> std::result::Result<Vec<PathBuf>, SystemError> {
    let refuse = |why: String| RecoveryError::NotMoved { number: copy.number, why };
    let is_there = |path: &PathBuf| seam.disk.exists(path).unwrap_or(false);
    let places = copy.files.iter().filter_map(|file| Some(folder.join(file.path.file_name()?)));
    let place = places.clone().find(is_there).or_else(|| places.clone().next());
    let place = place.ok_or_else(|| refuse("it went to standard output".into()))?;
    let mut files: Vec<PathBuf> = copy.files.iter().map(|file| file.path.clone()).collect();
    let standing = files.iter().filter(|path| is_there(path)).count();
    if standing == 2 && !files.contains(&place) {
        let where_to = files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        return Err(refuse(format!("it still stands in {}", where_to.join(" and "))).into());
    }
    if !is_there(&place) {
        return Err(refuse(format!("{} is not there", place.display())).into());
    }
    prove(&place)?;
    match files.iter().position(|path| !is_there(path)) {
        _ if files.contains(&place) => {}
        Some(missing) => files[missing] = place,
        None => files.push(place),
    }
    Ok(files)
}

/// What RECON says, as JSON.
#[must_use]
pub fn document(state: &State) -> Value {
    let files = |files: &[ArchiveFile]| -> Vec<Value> {
        files.iter().map(|file| json!({ "path": file.path, "lost": file.lost })).collect()
    };
    let sets = state.sets.values().map(|set| {
        let generations: Vec<u32> = set.generations.iter().map(|one| one.0).collect();
        let sealed = set.protection == recon::Protection::Sealed;
        json!({
            "number": set.set.0, "name": set.name, "sealed": sealed, "label": set.label,
            "generations": generations, "made": set.made.0,
        })
    });
    let databases =
        state.databases.values().map(|one| json!({ "name": one.name, "sets": one.sets }));
    let archives = state.archives.values().map(|one| {
        json!({
            "number": one.number, "files": files(&one.files), "first": one.first.0,
            "end": one.end.0, "from_us": one.from_us, "to_us": one.to_us, "bytes": one.bytes,
        })
    });
    let accumulations = state.accumulations.values().map(|one| {
        json!({
            "number": one.number, "files": files(&one.files), "first": one.first.0,
            "end": one.end.0, "bytes": one.bytes,
        })
    });
    let copies = state.image_copies.values().map(|one| {
        let sets: Vec<&str> = one.sets.iter().map(|set| set.name.as_str()).collect();
        let kind = if one.kind == CopyKind::Full { "full" } else { "incremental" };
        json!({
            "number": one.number, "kind": kind, "base": one.base, "files": files(&one.files),
            "sets": sets, "start": one.start.0, "end": one.end.0, "from_us": one.from_us,
            "to_us": one.to_us, "bytes": one.bytes,
        })
    });
    let recoveries = state.recoveries.values().map(|one| {
        let number = |set: &base::DataSetId| set.0;
        json!({
            "number": one.number, "sets": one.sets.iter().map(number).collect::<Vec<_>>(),
            "became": one.became.iter().map(number).collect::<Vec<_>>(),
            "copies": one.copies, "to": one.to.0, "void_to": one.void_to.0,
            "utc_us": one.utc_us, "to_point": one.to_point,
        })
    });
    let open = state.authorised.iter().map(|one| {
        json!({
            "process": one.process, "psb": one.psb, "database": one.database,
            "access": one.access, "since_us": one.since_us,
        })
    });
    json!({
        "authorisations": open.collect::<Vec<_>>(),
        "reached": state.reached.lsn.0,
        "archived": state.archived.0,
        "data_sets": sets.collect::<Vec<_>>(),
        "databases": databases.collect::<Vec<_>>(),
        "archives": archives.collect::<Vec<_>>(),
        "accumulations": accumulations.collect::<Vec<_>>(),
        "image_copies": copies.collect::<Vec<_>>(),
        "recoveries": recoveries.collect::<Vec<_>>(),
    })
}
