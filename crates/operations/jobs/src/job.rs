//! A job step: the program that is to run, its PSB, its files; and how its PSB is scheduled.
//!
//! The same job goes, as JSON, from the command to the program's process, and from there to a
//! started system.
//!
//! Invariants:
//! 1. Paths in a job are absolute: a started system works in another folder.
//! 2. Whoever serves a program of type DLI or DBB closes the system when the program is over.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Code, Coded};
use clap::ValueEnum;
use control::{AlternatePcb, BatchProgram};
use definitions::PsbName;
use definitions::resolve::{Definitions as _, ResolvedKind, ResolvedPsb, resolve_psb};
use gsam::FileSpec;
use operations::Databases;
use operations::messages::Messages;
use otma::Name;
use placement::{Compat, FileUnit, ProgramUser};
use region::encoding::Converted;
use region::shape::PcbShape;
use region::{Abend, Dd, Ending, Reply, Request, Server};
use resources::Mode as CommitMode;
use schedule::{
    Catalogs, Environment, Intents, Mode, Options, PoolFigures, Pools, RegionKind, STEP_BYTES_MAX,
    Schedule, User, claims_of, outputs_of, refuse_same_files,
};
use seam::Seam;
use serde::{Deserialize, Serialize};
use store_any::AnyStore;
use system::{AnySystem, Authorised, Authoriser, InUse, Places};
use uow::Kernel;

use crate::encoding::conversions;
use crate::failure::{Failure, Result};
use crate::output::{say, warn};
use crate::standard::is_special;

/// The socket in a system's folder at which programs call a started system.
pub(crate) const SOCKET: &str = "regions.sock";
/// The folder in a system's folder for compiled programs.
pub(crate) const PROGRAMS: &str = "programs";

/// DD names that steps have and nobody needs here, or that the region itself takes.
const OF_STEPS: [&str; 24] = [
    "CEEDUMP", "DFSCTL", "DFSHALDB", "DFSRESLB", "DFSSTAT", "DFSVSAMP", "IEFRDER", "IEFRDER2",
    "IMS", "IMSERR", "IMSLOGR", "IMSUDUMP", "JOBLIB", "PROCLIB", "RECON1", "RECON2", "RECON3",
    "STEPLIB", "SYSABEND", "SYSIN", "SYSOUT", "SYSPRINT", "SYSPUNCH", "SYSUDUMP",
];

/// DDs that are only read.
pub(crate) const READ: [&str; 3] = ["STEPLIB", "SYSIN", "SYSIN2"];

/// How a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// With the databases to itself; the system must be stopped
    Dli,
    /// The same
    Dbb,
    /// Beside other programs, in a started system
    Bmp,
}

/// The order of bytes in the binary fields of PCBs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PcbOrder {
    /// As COMP has it
    Big,
    /// As the machine and COMP-5 have it
    Native,
}

/// A job step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) system: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) psb: String,
    pub(crate) program: PathBuf,
    pub(crate) files: Vec<JobFile>,
    pub(crate) include: Vec<PathBuf>,
    pub(crate) free: bool,
    pub(crate) entry: Option<String>,
    pub(crate) parm: Option<String>,
    pub(crate) checkpoint: Option<String>,
    /// The step's name, if it is not the program's.
    pub(crate) step: Option<String>,
    pub(crate) pcb_order: Option<PcbOrder>,
    pub(crate) trace: Option<PathBuf>,
    /// What the program was compiled to, so that its process need not find that out again.
    #[serde(default)]
    pub(crate) compiled: Option<String>,
    /// Whether the program makes no calls, so that it has no sync points.
    #[serde(default)]
    pub(crate) makes_no_calls: bool,
    /// The transaction whose inputs the program gets.
    #[serde(default)]
    pub(crate) input: Option<String>,
    /// Where its messages go, if it gets none.
    #[serde(default)]
    pub(crate) output: Option<String>,
}

/// A file of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JobFile {
    dd: String,
    path: PathBuf,
    text: bool,
    /// Whether the program itself has such a file, or may have it.
    #[serde(default)]
    pub(crate) is_own: bool,
}

impl JobFile {
    pub(crate) fn of(dd: &Dd) -> Result<JobFile> {
        let text = dd.text;
        let (dd, path) = (dd.name.clone(), absolute(&dd.path)?);
        Ok(JobFile { dd, path, text, is_own: false })
    }

    /// Its DD name.
    pub(crate) fn dd(&self) -> &str {
        &self.dd
    }
}

/// A path that means the same in every folder.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| {
        Failure::other(format!("{}: {error}", path.display()), "Give another path.")
    })
}

impl Job {
    /// As text that another process reads.
    pub(crate) fn to_text(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| {
            Failure::other(
                format!("the job cannot be handed to its process: {error}"),
                "Give paths without characters that are no UTF-8.",
            )
        })
    }

    /// From the text of another process.
    pub(crate) fn from_text(text: &[u8]) -> Result<Job> {
        serde_json::from_slice(text).map_err(|error| {
            Failure::other(
                format!("what was handed over is no job: {error}"),
                "Use the same release of Holdfast on both sides.",
            )
        })
    }

    /// The file that a DD names.
    fn file(&self, dd: &str) -> Option<FileSpec> {
        let file = self.files.iter().find(|file| file.dd == dd)?;
        Some(FileSpec { path: file.path.clone(), text: file.text })
    }

    /// Says which files nobody has asked for: neither the program, nor its PSB, nor a database.
    fn warn_of_unused(&self, asked: &BTreeSet<String>, of_databases: &BTreeSet<String>) {
        let is_used = |file: &&JobFile| {
            let dd = file.dd.as_str();
            let is_of_step = OF_STEPS.contains(&dd) || dd.starts_with("SORTWK");
            file.is_own || is_of_step || asked.contains(dd) || of_databases.contains(dd)
        };
        for JobFile { dd, .. } in self.files.iter().filter(|file| !is_used(file)) {
            let psb = &self.psb;
            warn(format!(
                "--dd {dd} is not used: neither the program nor a GSAM database of PSB {psb} has a \
                 file of that name"
            ));
        }
    }

    /// The program's name, as JCL would have it.
    fn program_name(&self) -> String {
        let stem = self.program.file_stem().unwrap_or_default();
        stem.to_string_lossy().chars().take(8).collect()
    }

    /// Whose checkpoints its own are: the PSB and the step.
    pub(crate) fn step(&self) -> String {
        format!("{} {}", self.psb.to_ascii_uppercase(), self.step_name())
    }

    /// The step's name: as it was given, or the whole name of the program. Its case says nothing.
    pub(crate) fn step_name(&self) -> String {
        let name = self.step.clone().unwrap_or_else(|| {
            let stem = self.program.file_stem().unwrap_or_default().to_string_lossy();
            let mut stem = stem.replace([' ', '\0'], "_");
            stem.truncate(stem.floor_char_boundary(STEP_BYTES_MAX));
            stem
        });
        name.to_ascii_uppercase()
    }
}

/// A PSB of the system, fitted to its databases.
pub(crate) fn psb_of(databases: &Databases<AnyStore>, text: &str) -> Result<ResolvedPsb> {
    let shown = text.to_ascii_uppercase();
    let psb = PsbName::new(&shown).and_then(|name| databases.repository.psb(name));
    let psb = psb.ok_or_else(|| {
        Failure::other(
            format!("there is no PSB {shown}"),
            "Correct the name, or compile its source with `holdfast gen`.",
        )
    })?;
    let (resolved, findings) = resolve_psb(&psb, &databases.repository);
    resolved.ok_or_else(|| {
        let why = findings.iter().map(|finding| finding.message.clone());
        Failure::other(
            format!(
                "PSB {shown} does not fit its databases: {}",
                why.collect::<Vec<_>>().join("; ")
            ),
            "Compile the PSB and its DBDs again with `holdfast gen`.",
        )
    })
}

/// The terms on which a program runs in a system.
#[derive(Clone, Default)]
pub(crate) struct Terms {
    /// Its number, 0 for one that is alone.
    pub(crate) owner: u64,
    pub(crate) compat: Compat,
    /// What the programs of the system have claimed.
    pub(crate) intents: Arc<Intents>,
    /// The catalog of their clusters.
    pub(crate) catalogs: Arc<Catalogs<AnyStore>>,
    /// Their queue manager, if the system has one.
    pub(crate) messages: Option<Arc<Messages>>,
    /// Who tells RECON what they have open.
    pub(crate) authoriser: Option<Authoriser>,
    /// Where no program may write: the system's own files.
    pub(crate) places: Option<Arc<Places>>,
}

/// A PSB that is scheduled, and what RECON or the engine was told of it. The program comes to its
/// end before they hear of that.
pub(crate) struct Scheduled {
    schedule: Converted<Schedule<AnyStore>>,
    _authorised: Option<Authorised>,
    in_use: Option<InUse>,
    /// As the transaction manager knows it; until its messages are settled.
    batch: Option<BatchProgram<AnyStore>>,
}

impl Scheduled {
    /// The same with the right to be at work on the databases of an engine.
    pub(crate) fn by_right_of(self, in_use: Option<InUse>) -> Scheduled {
        Scheduled { in_use, ..self }
    }

    /// What was called so far.
    fn tally(&self) -> &schedule::Tally {
        self.schedule.inner().tally()
    }
}

impl Server for Scheduled {
    fn pcbs(&self) -> &[PcbShape] {
        self.schedule.pcbs()
    }

    fn call(&mut self, request: Request<'_>, reply: &mut Reply) {
        // Without its right somebody else may have the databases to himself by now.
        if self.in_use.as_ref().is_some_and(|right| !right.lasts()) {
            let text = "the system has lost its connection to the engine, and the program its \
                        right to the databases; start it again from its last checkpoint";
            return reply.abend("U0844", text);
        }
        if self.batch.as_ref().is_some_and(BatchProgram::is_ended) {
            return reply.abend("U0474", "an operator has ended the program (/STOP REGION)");
        }
        self.schedule.call(request, reply);
    }

    fn file(&mut self, request: &[u8], answer: &mut Vec<u8>) -> std::result::Result<(), Abend> {
        if self.in_use.as_ref().is_some_and(|right| !right.lasts()) {
            let text = "the system has lost its connection to the engine, and the program its \
                        right to the files; start it again from its last checkpoint";
            return Err(Abend { code: "U0844".to_owned(), text: text.to_owned() });
        }
        self.schedule.file(request, answer)
    }

    fn messages(&mut self, request: &[u8], answer: &mut Vec<u8>) -> std::result::Result<(), Abend> {
        self.schedule.messages(request, answer)
    }

    fn end(&mut self, ending: Ending) -> std::result::Result<(), region::Failure> {
        // A normal end is a commit, which needs the right too.
        let lasts = self.in_use.as_ref().is_none_or(InUse::lasts);
        self.schedule.end(if lasts { ending } else { Ending::Abend })
    }
}

/// Schedules the PSB of a job; `batch` is how the transaction manager knows it, if there is one.
pub(crate) fn schedule(
    seam: &Seam,
    pools: Arc<dyn Pools>,
    databases: &Databases<AnyStore>,
    (job, batch): (&Job, Option<BatchProgram<AnyStore>>),
    terms: &Terms,
) -> Result<Scheduled> {
    let psb = psb_of(databases, &job.psb)?;
    check_files(seam, &psb, job, terms)?;
    let asked = RefCell::new(BTreeSet::new());
    let files = |dd: &str| {
        asked.borrow_mut().insert(dd.to_owned());
        job.file(dd)
    };
    let options = Options {
        kind: match job.kind {
            Kind::Dli | Kind::Dbb => RegionKind::Batch,
            Kind::Bmp => RegionKind::Bmp,
        },
        owner: terms.owner,
        program: job.program_name(),
        step: job.step_name(),
        checkpoint: job.checkpoint.clone(),
        user: user_of(&terms.compat),
        batch_log: terms.compat.batch_log,
        files_apart: job.makes_no_calls && terms.compat.file_unit == FileUnit::Request,
        tell: |text| say(text),
        transaction: job.input.clone().unwrap_or_default(),
        // Without inputs a GU ends no unit of work.
        mode: match batch.as_ref().and_then(BatchProgram::mode) {
            Some(CommitMode::Single) => Mode::Single,
            _ => Mode::Multiple,
        },
        ..Options::default()
    };
    let place = Place { seam, pools, databases, terms };
    let mut schedule = place.schedule(&psb, &files, options)?;
    let alternates = alternates(&psb);
    let has_messages = job.input.is_some() || job.output.is_some() || !alternates.is_empty();
    if let Some(batch) = batch.as_ref().filter(|_| has_messages) {
        schedule = schedule.with_messages(Box::new(batch.messages(&alternates)));
    }
    // What a started system would say, nobody who runs a program hears.
    if job.kind != Kind::Bmp {
        job.warn_of_unused(&asked.borrow(), &databases.dd_names());
    }
    let schedule = place.converted(&psb, schedule)?;
    Ok(Scheduled { schedule, _authorised: authorised(&psb, terms), in_use: None, batch })
}

/// The alternate PCBs of a PSB, by their numbers.
pub(crate) fn alternates(psb: &ResolvedPsb) -> Vec<AlternatePcb> {
    let all = psb.pcbs.iter().enumerate().filter_map(|(slot, pcb)| match &pcb.kind {
        ResolvedKind::Terminal(terminal) => Some(AlternatePcb {
            number: slot + 1,
            destination: terminal
                .destination
                .and_then(|name| Name::new(name.text()))
                .unwrap_or_default(),
            modifiable: terminal.modifiable,
            express: terminal.express,
            response: terminal.alternate_response,
            same_terminal: terminal.same_terminal,
        }),
        _ => None,
    });
    all.collect()
}

/// Where PSBs are scheduled.
pub(crate) struct Place<'a> {
    pub(crate) seam: &'a Seam,
    pub(crate) pools: Arc<dyn Pools>,
    pub(crate) databases: &'a Databases<AnyStore>,
    pub(crate) terms: &'a Terms,
}

impl Place<'_> {
    /// A PSB, scheduled.
    pub(crate) fn schedule(
        &self,
        psb: &ResolvedPsb,
        files: &dyn Fn(&str) -> Option<FileSpec>,
        options: Options,
    ) -> Result<Schedule<AnyStore>> {
        let environment = Environment {
            store: &self.databases.store,
            seam: self.seam,
            psb,
            definitions: &self.databases.repository,
            open: &mut |name| self.databases.open(name),
            files,
            pools: Arc::clone(&self.pools),
            intents: &self.terms.intents,
            catalogs: &self.terms.catalogs,
        };
        let schedule = Schedule::new(environment, options);
        let schedule = schedule.map_err(|error| Failure::Error(Box::new(error)))?;
        Ok(match &self.terms.messages {
            Some(messages) => {
                let messages = Arc::clone(messages);
                schedule.with_queues(messages, &seam::user::own().name)
            }
            None => schedule,
        })
    }

    /// The same with its data converted where databases are in another code page.
    pub(crate) fn converted(
        &self,
        psb: &ResolvedPsb,
        schedule: Schedule<AnyStore>,
    ) -> Result<Converted<Schedule<AnyStore>>> {
        let without_map = self.terms.compat.ebcdic_without_map;
        Ok(Converted::new(schedule, conversions(self.databases, psb, without_map)?))
    }
}

/// Files as messages name them, but for devices: those have any number of users.
pub(crate) fn named<'a>(
    files: impl Iterator<Item = (&'a str, &'a Path)>,
) -> Vec<(String, PathBuf)> {
    let files = files.filter(|(_, path)| !is_special(path));
    files.map(|(name, path)| (format!("DD {name}"), path.to_owned())).collect()
}

/// Refuses files of a job that are the system's, and outputs that are other files of the job. A
/// started system does not take anybody's word for that.
fn check_files(seam: &Seam, psb: &ResolvedPsb, job: &Job, terms: &Terms) -> Result<()> {
    let disk = seam.disk.as_ref();
    let files = job.files.iter().filter(|file| !READ.contains(&file.dd()));
    if let Some(places) = &terms.places {
        for file in files {
            places.refuse_own(disk, &format!("--dd {}", file.dd), &file.path)?;
        }
    }
    let outputs = outputs_of(psb);
    let files = job.files.iter().filter(|file| file.dd != "STEPLIB");
    let files = files.map(|file| (file.dd.as_str(), file.path.as_path()));
    let written = named(files.clone().filter(|(dd, _)| outputs.iter().any(|one| one == dd)));
    refuse_same_files(disk, &written, &named(files))
        .map_err(|error| Failure::Error(Box::new(error)))
}

/// Tells RECON what a program has open, before it makes its first call.
pub(crate) fn authorised(psb: &ResolvedPsb, terms: &Terms) -> Option<Authorised> {
    let claims = claims_of(psb);
    let open = claims.iter().map(|(dbd, access)| (dbd.text(), *access));
    match terms.authoriser.as_ref()?.authorise(psb.name.text(), open) {
        Ok(authorised) => Some(authorised),
        Err(error) => {
            warn(format!("RECON does not know of {}: {error}", psb.name));
            None
        }
    }
}

/// Whom a program's I/O PCB names. A started system lets in its own user alone, so that is who runs
/// programs of type BMP, too.
fn user_of(compat: &Compat) -> Option<User> {
    let seam::user::User { name, group } = seam::user::own();
    (compat.program_user == ProgramUser::Login).then_some(User { name, group })
}

/// The buffer pools of a system, for STAT.
pub(crate) struct KernelPools(pub(crate) Arc<Kernel>);

impl Pools for KernelPools {
    fn figures(&self) -> Vec<PoolFigures> {
        let pools = self.0.statistics().pools;
        pools
            .into_iter()
            .map(|stats| PoolFigures {
                name: stats.name,
                buffer_bytes: stats.unit_bytes as u64,
                buffers: stats.frames as u64,
                free: stats.free as u64,
                found: stats.hits,
                reads: stats.reads,
                writes: stats.writes,
                steals: stats.steals,
                waits: stats.waits,
                sequential_reads: stats.multi_block_reads,
                sequential_blocks: stats.multi_block_intervals,
            })
            .collect()
    }
}

/// A PSB that is scheduled for the only program that uses the system.
pub(crate) struct Alone {
    schedule: Scheduled,
    catalogs: Arc<Catalogs<AnyStore>>,
    system: Option<AnySystem>,
    /// Say on standard error what was called.
    tells: bool,
}

impl Alone {
    pub(crate) fn new(
        schedule: Scheduled,
        system: AnySystem,
        (catalogs, tells): (Arc<Catalogs<AnyStore>>, bool),
    ) -> Alone {
        Alone { schedule, catalogs, system: Some(system), tells }
    }

    /// Sends on what the program has changed in redirected clusters.
    fn send_on(&self) {
        if let Some(AnySystem::Kernel(system)) = &self.system {
            let store = AnyStore::Kernel(system.store().clone());
            let clock = &system.kernel().seam().clock;
            let catalog = || self.catalogs.get(&store, clock).ok();
            redirector::send_rest(&store, &catalog, |what| warn(what));
        }
    }
}

impl Server for Alone {
    fn pcbs(&self) -> &[PcbShape] {
        self.schedule.pcbs()
    }

    fn call(&mut self, request: Request<'_>, reply: &mut Reply) {
        self.schedule.call(request, reply);
    }

    fn file(&mut self, request: &[u8], answer: &mut Vec<u8>) -> std::result::Result<(), Abend> {
        self.schedule.file(request, answer)
    }

    fn messages(&mut self, request: &[u8], answer: &mut Vec<u8>) -> std::result::Result<(), Abend> {
        self.schedule.messages(request, answer)
    }

    fn end(&mut self, ending: Ending) -> std::result::Result<(), region::Failure> {
        let ended = self.schedule.end(ending);
        self.send_on();
        if self.tells && self.schedule.tally().all() > 0 {
            eprintln!("calls: {}", self.schedule.tally());
        }
        if let Some(system) = self.system.take()
            && let Err(error) = system.close()
        {
            // What was committed is on disk; the next start does what is left.
            warn(format!("the system was not closed in order: {error} ({})", error.code()));
        }
        ended
    }
}

/// A failure as an error of the layers below, for those who want one.
#[derive(Debug)]
pub(crate) struct Told {
    code: Code,
    what: String,
    remedy: String,
}

impl From<Failure> for Told {
    fn from(failure: Failure) -> Told {
        let (_, _, remedy) = failure.parts();
        Told { code: failure.code(), what: failure.shown(), remedy }
    }
}

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Told {}

impl Coded for Told {
    fn code(&self) -> Code {
        self.code
    }

    fn remedy(&self) -> String {
        self.remedy.clone()
    }
}
