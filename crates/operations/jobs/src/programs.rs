//! How a program is made ready, and how one reaches a started system.

use std::path::PathBuf;

use region::program::{Library, Prepared, Workshop};
use region::{Dd, Preprocessor, bmp};
use seam::disk::Disk;

use crate::error::{JobsError, Result};
use crate::job::{Job, PROGRAMS, SOCKET};

/// Makes a job's program ready: compiled, unless that was done before.
///
/// # Errors
/// If it cannot be compiled.
pub fn prepare(disk: &dyn Disk, job: &Job) -> Result<Prepared> {
    with_compiler(disk, job, |compiler| {
        let known = job.compiled.as_ref();
        match known.and_then(|name| compiler.prepared_as(&job.program, name)) {
            Some(prepared) => Ok(prepared),
            None => Ok(compiler.prepare(&job.program)?),
        }
    })
}

/// Makes ready what the program calls.
///
/// # Errors
/// If it cannot be compiled.
pub fn library(disk: &dyn Disk, job: &Job, program: &Prepared, dds: &[Dd]) -> Result<Library> {
    let folders = dds.iter().filter(|dd| dd.name == "STEPLIB").flat_map(Dd::folders);
    let folders: Vec<PathBuf> = folders.collect();
    with_compiler(disk, job, |compiler| Ok(compiler.library(program, &folders)?))
}

fn with_compiler<T>(
    disk: &dyn Disk,
    job: &Job,
    work: impl FnOnce(&Workshop<'_>) -> Result<T>,
) -> Result<T> {
    let cache = job.system.join(PROGRAMS);
    seam::disk::make_dir(disk, &cache)
        .map_err(|error| JobsError::Folder { path: cache.clone(), error })?;
    let workshop = Workshop {
        disk,
        cache,
        copy_folders: job.include.clone(),
        translate: &Preprocessor { is_free: job.free },
        options: options_of(job),
    };
    work(&workshop)
}

/// What the compiler of COBOL is told besides.
fn options_of(job: &Job) -> Vec<String> {
    let is_c = job.program.extension().is_some_and(|one| one.eq_ignore_ascii_case("c"));
    if job.free && !is_c { vec!["-free".to_owned()] } else { Vec::new() }
}

/// Connects to the started system of a job.
///
/// # Errors
/// If it is not started, or refuses the job.
pub fn connect(job: &Job) -> Result<bmp::Connection> {
    let text = job.to_text()?;
    let path = job.system.join(SOCKET);
    bmp::Connection::open(&path, text.as_bytes()).map_err(|error| match error {
        region::RegionError::NoSystem { .. } => JobsError::NotStarted { dir: job.system.clone() },
        error => error.into(),
    })
}
