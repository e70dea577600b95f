//! A job step: the program that is to run, its PSB, its files.
//!
//! The same job goes, as JSON, from the command to the program's process, and from there to a
//! started system.
//!
//! Invariants:
//! 1. Paths in a job are absolute: a started system works in another folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use definitions::resolve::ResolvedPsb;
use gsam::FileSpec;
use region::Dd;
use schedule::{STEP_BYTES_MAX, outputs_of, refuse_same_files};
use seam::disk::Disk;
use serde::{Deserialize, Serialize};
use system::Places;

use crate::error::{JobsError, Result};
use crate::special_files::is_special;

/// The socket in a system's folder at which programs call a started system.
pub const SOCKET: &str = "regions.sock";
/// The folder in a system's folder for compiled programs.
pub const PROGRAMS: &str = "programs";

/// DD names that steps have and that are not needed here, or that the region itself takes.
const OF_STEPS: [&str; 24] = [
    "CEEDUMP", "DFSCTL", "DFSHALDB", "DFSRESLB", "DFSSTAT", "DFSVSAMP", "IEFRDER", "IEFRDER2",
    "IMS", "IMSERR", "IMSLOGR", "IMSUDUMP", "JOBLIB", "PROCLIB", "RECON1", "RECON2", "RECON3",
    "STEPLIB", "SYSABEND", "SYSIN", "SYSOUT", "SYSPRINT", "SYSPUNCH", "SYSUDUMP",
];

/// DDs that are only read.
pub const READ: [&str; 3] = ["STEPLIB", "SYSIN", "SYSIN2"];

/// How a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// With the databases to itself; the system must be stopped.
    Dli,
    /// The same.
    Dbb,
    /// Beside other programs, in a started system.
    Bmp,
}

/// The order of bytes in the binary fields of PCBs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PcbOrder {
    /// As COMP has it.
    Big,
    /// As the machine and COMP-5 have it.
    Native,
}

/// A job step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The system's folder.
    pub system: PathBuf,
    /// How the program runs.
    pub kind: Kind,
    /// Its PSB.
    pub psb: String,
    /// The program.
    pub program: PathBuf,
    /// Its files.
    pub files: Vec<JobFile>,
    /// Folders with copy members.
    pub include: Vec<PathBuf>,
    /// Whether the source is in free format.
    pub free: bool,
    /// Where it is entered, if that is not where it begins.
    pub entry: Option<String>,
    /// What it is given.
    pub parm: Option<String>,
    /// The checkpoint that it goes on from.
    pub checkpoint: Option<String>,
    /// The step's name, if it is not the program's.
    pub step: Option<String>,
    /// The order of bytes in its PCBs.
    pub pcb_order: Option<PcbOrder>,
    /// Where its calls are recorded.
    pub trace: Option<PathBuf>,
    /// What the program was compiled to, so that its process need not find that out again.
    #[serde(default)]
    pub compiled: Option<String>,
    /// Whether the program makes no calls, so that it has no sync points.
    #[serde(default)]
    pub makes_no_calls: bool,
    /// The transaction whose inputs the program gets.
    #[serde(default)]
    pub input: Option<String>,
    /// Where its messages go, if it gets none.
    #[serde(default)]
    pub output: Option<String>,
}

/// A file of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JobFile {
    dd: String,
    path: PathBuf,
    text: bool,
    /// Whether the program itself has such a file, or may have it.
    #[serde(default)]
    pub is_own: bool,
}

impl JobFile {
    /// The file of a DD.
    ///
    /// # Errors
    /// If its path means nothing.
    pub fn of(dd: &Dd) -> Result<JobFile> {
        let text = dd.text;
        let (dd, path) = (dd.name.clone(), absolute(&dd.path)?);
        Ok(JobFile { dd, path, text, is_own: false })
    }

    /// Its DD name.
    #[must_use]
    pub fn dd(&self) -> &str {
        &self.dd
    }
}

/// A path that means the same in every folder.
///
/// # Errors
/// If it is empty, or the present folder is gone.
pub fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| JobsError::Path { path: path.to_owned(), error })
}

impl Job {
    /// As text that another process reads.
    ///
    /// # Errors
    /// If a path in it is no text.
    pub fn to_text(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| JobsError::Handover { error })
    }

    /// From the text of another process.
    ///
    /// # Errors
    /// If it is no job.
    pub fn from_text(text: &[u8]) -> Result<Job> {
        serde_json::from_slice(text).map_err(|error| JobsError::NoJob { error })
    }

    /// The file that a DD names.
    pub(crate) fn file(&self, dd: &str) -> Option<FileSpec> {
        let file = self.files.iter().find(|file| file.dd == dd)?;
        Some(FileSpec { path: file.path.clone(), text: file.text })
    }

    /// Which files were not asked for: neither the program, nor its PSB, nor a database.
    pub(crate) fn unused(
        &self,
        asked: &BTreeSet<String>,
        of_databases: &BTreeSet<String>,
    ) -> Vec<String> {
        let is_used = |file: &&JobFile| {
            let dd = file.dd.as_str();
            let is_of_step = OF_STEPS.contains(&dd) || dd.starts_with("SORTWK");
            file.is_own || is_of_step || asked.contains(dd) || of_databases.contains(dd)
        };
        let unused = self.files.iter().filter(|file| !is_used(file));
        let psb = &self.psb;
        let warnings = unused.map(|JobFile { dd, .. }| {
            format!(
                "--dd {dd} is not used: neither the program nor a GSAM database of PSB {psb} has a \
                 file of that name"
            )
        });
        warnings.collect()
    }

    /// The program's name, as JCL would have it.
    pub(crate) fn program_name(&self) -> String {
        let stem = self.program.file_stem().unwrap_or_default();
        stem.to_string_lossy().chars().take(8).collect()
    }

    /// Whose checkpoints its own are: the PSB and the step.
    #[must_use]
    pub fn step(&self) -> String {
        format!("{} {}", self.psb.to_ascii_uppercase(), self.step_name())
    }

    /// The step's name: as it was given, or the whole name of the program. Its case says nothing.
    #[must_use]
    pub fn step_name(&self) -> String {
        let name = self.step.clone().unwrap_or_else(|| {
            let stem = self.program.file_stem().unwrap_or_default().to_string_lossy();
            let mut stem = stem.replace([' ', '\0'], "_");
            stem.truncate(stem.floor_char_boundary(STEP_BYTES_MAX));
            stem
        });
        name.to_ascii_uppercase()
    }
}

/// Files as messages name them, but for devices: those have any number of users.
#[must_use]
pub fn named<'a>(files: impl Iterator<Item = (&'a str, &'a Path)>) -> Vec<(String, PathBuf)> {
    let files = files.filter(|(_, path)| !is_special(path));
    files.map(|(name, path)| (format!("DD {name}"), path.to_owned())).collect()
}

/// Refuses files of a job that are the system's, and outputs that are other files of the job. A
/// started system does not take anybody's word for that.
pub(crate) fn check_files(
    disk: &dyn Disk,
    psb: &ResolvedPsb,
    job: &Job,
    places: Option<&Places>,
) -> Result<()> {
    let files = job.files.iter().filter(|file| !READ.contains(&file.dd()));
    if let Some(places) = places {
        for file in files {
            places.refuse_own(disk, &format!("--dd {}", file.dd), &file.path)?;
        }
    }
    let outputs = outputs_of(psb);
    let files = job.files.iter().filter(|file| file.dd != "STEPLIB");
    let files = files.map(|file| (file.dd.as_str(), file.path.as_path()));
    let written = named(files.clone().filter(|(dd, _)| outputs.iter().any(|one| one == dd)));
    Ok(refuse_same_files(disk, &written, &named(files))?)
}
