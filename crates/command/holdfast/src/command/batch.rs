//! `holdfast batch`: runs a program with its PSB and its files, as a job step does.
//!
//! The program runs in a process of its own (`guest`). Here it is compiled, its files are made
//! ready, its process is started and waited for, and what came of it is told.

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::sync::Arc;

use clap::{Args, ValueEnum, ValueHint};
use jobs::alone::{Alone, Reporting};
use jobs::job::{Job, JobFile, Kind, PROGRAMS, PcbOrder, READ, SOCKET, absolute, named};
use jobs::leftovers::{self, Detail};
use jobs::programs::{connect, library, prepare};
use region::bmp;
use region::grace_period::Watch;
use region::host::{self, Ended, Report};
use region::layout::{PcbKind, PcbLayout};
use region::program::{CobolFile, Language, Prepared};
use region::{Dd, Files, Link as _, RECORDS, Server as _, without_dd};
use seal::Passphrase;
use serde_json::json;
use system::{Places, SystemConfig};

use super::guest;
use crate::cancel::Cancel;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::any_options;
use crate::output::{NOTICES, say, warn};
use crate::passphrase::{self, PassphraseArgs};
use crate::standard::{Guarded, is_special};

/// How a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum RegionType {
    /// With the databases to itself; the system must be stopped
    Dli,
    /// The same
    Dbb,
    /// Beside other programs, in a started system
    Bmp,
}

impl From<RegionType> for Kind {
    fn from(kind: RegionType) -> Kind {
        match kind {
            RegionType::Dli => Kind::Dli,
            RegionType::Dbb => Kind::Dbb,
            RegionType::Bmp => Kind::Bmp,
        }
    }
}

/// The order of bytes in the binary fields of PCBs.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ByteOrder {
    /// As COMP has it
    Big,
    /// As the machine and COMP-5 have it
    Native,
}

impl From<ByteOrder> for PcbOrder {
    fn from(order: ByteOrder) -> PcbOrder {
        match order {
            ByteOrder::Big => PcbOrder::Big,
            ByteOrder::Native => PcbOrder::Native,
        }
    }
}

/// Run a program with its PSB, as a job step does
///
/// FILE is a COBOL source (compiled with GnuCOBOL), a C source, or a shared object. What it was
/// compiled to is kept in the system's folder and used again while nothing changes.
///
/// The program's normal end is a commit, whatever its return code; an abend backs out to the last
/// checkpoint. The command ends with 0 if the return code is 0, else with 1.
///
/// With --json standard output is for the report alone: what the program displays goes to standard
/// error unless SYSOUT names a file, and no file of the program, and no trace, may be /dev/stdout.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  holdfast batch -s /srv/bank --psb TELLER --program teller.cbl -I copy \\
      --dd TRANIN=today.dat --dd REJOUT=rejects.dat --dd SYSIN=teller.cards
  holdfast batch -s /srv/bank --psb TELLER --program teller.cbl -I copy \\
      --dd TRANIN=today.dat --dd REJOUT=rejects.dat --ckptid LAST
  holdfast batch -s /srv/bank --psb TELLER --program teller.cbl --type bmp
  holdfast batch -s /srv/bank --psb LATE --program late.cbl --type bmp --in LATE")]
pub(crate) struct BatchArgs {
    /// The system's folder
    #[arg(short, long, value_name = "DIR")]
    system: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// The program's PSB
    #[arg(long, value_name = "NAME")]
    psb: String,
    /// The program
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    program: PathBuf,
    /// The region type
    #[arg(long = "type", value_name = "TYPE", default_value = "dli", ignore_case = true)]
    kind: RegionType,
    /// A file of the program: GSAM's, a COBOL ASSIGN's, SYSIN, SYSOUT; with ,text its lines become
    /// records, with ,rdw records have descriptor words; //DSN is a cluster or path of the catalog,
    /// //GROUP(0) a generation; /ONE:/TWO are read one after the other; ,disp=new:catlg:delete
    /// behind it is what JCL has as DISP; may be repeated
    #[arg(long = "dd", value_name = "NAME=PATH[,text|,rdw|,bdw][,disp=...]|//DSN")]
    dds: Vec<String>,
    /// What the program gets as its command line
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    parm: Option<String>,
    /// The program's entry, if it is not the usual one
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Restart from this checkpoint of the step, whatever the program says: an id, a time stamp, or
    /// LAST, the newest one, unless the step has ended normally since
    #[arg(long, value_name = "ID|LAST")]
    ckptid: Option<String>,
    /// The step's name, which tells apart whose checkpoints are whose under one PSB; the program's
    /// if left out
    #[arg(long, value_name = "NAME")]
    step: Option<String>,
    /// The transaction whose messages the program gets, until there are none (QC); with --type bmp
    #[arg(long = "in", value_name = "TRAN")]
    input: Option<String>,
    /// Where the messages of the program's I/O PCB go, a transaction or terminal, if it gets none
    /// itself; with --type bmp
    #[arg(long = "out", value_name = "NAME", conflicts_with = "input")]
    output: Option<String>,
    /// The order of bytes in PCBs; big for COBOL, native for C if left out
    #[arg(long, value_name = "ORDER", ignore_case = true)]
    pcb_order: Option<ByteOrder>,
    /// A folder with copy members; may be repeated
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// The source is in free format from its first line on
    #[arg(long)]
    free: bool,
    /// Record every call in this file; as JSON if its name ends with .json or .jsonl
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Compile the program, schedule the PSB, look at the files, but do not run the program
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(context: &mut Context, args: &BatchArgs) -> Result<ExitCode> {
    if let Some(lost) = args.include.iter().find(|folder| !folder.is_dir()) {
        let what = format!("{} is no folder to find copy members in", lost.display());
        return Err(Failure::usage(what, "Correct the path behind -I."));
    }
    if (args.input.is_some() || args.output.is_some()) && args.kind != RegionType::Bmp {
        let what = "messages are there in started systems alone";
        return Err(Failure::usage(what, "Add --type bmp, or leave out --in and --out."));
    }
    let cancel = Cancel::watch()?;
    let json = context.output.is_json();
    // What is no system is said before anything is compiled.
    let guarded = Guarded::of(&context.seam, &args.system, json)?;
    let dds = dds_of_step(&args.dds, &guarded, args.trace.as_deref())?;
    let mut job = job_of(args, &dds)?;
    let notes = leftovers::clear(&*context.seam.disk, &job.system, Detail::Removed);
    notes.iter().for_each(warn);
    let prepared = prepare(&*context.seam.disk, &job)?;
    if prepared.is_fresh() && !prepared.warnings().trim().is_empty() {
        warn(prepared.warnings().trim_end());
    }
    job.compiled = prepared.kept_as().map(str::to_owned);
    let library = library(&*context.seam.disk, &job, &prepared, &dds)?;
    library.warnings.iter().for_each(warn);
    job.makes_no_calls = !prepared.makes_calls() && !library.makes_calls;
    let called = [prepared.files(), &library.files].concat();
    let unnamed = without_dd(&called, &dds);
    if !unnamed.is_empty() {
        let names = unnamed.join(", ");
        warn(format!(
            "no --dd for {names}: the program has such a file, and can open it only if it is OPTIONAL"
        ));
    }
    let all = [called.as_slice(), &library.other_files].concat();
    // Of a program in another language than COBOL it cannot be told which files it has.
    let is_cobol = prepared.language() == Language::Cobol;
    for file in &mut job.files {
        let has_it = |own: &CobolFile| own.name.eq_ignore_ascii_case(file.dd());
        file.is_own = !is_cobol || all.iter().any(has_it);
    }
    // What `,text` means for a file that is not the program's own, its PSB says.
    let is_own =
        |dd: &&Dd| !dd.text || all.iter().any(|file| file.name.eq_ignore_ascii_case(&dd.name));
    let own: Vec<Dd> = dds.iter().filter(is_own).cloned().collect();
    let disk = Arc::clone(&context.seam.disk);
    let scratch = job.system.join(PROGRAMS).join(RECORDS);
    let mut files = Files::prepare(&*disk, &own, &all, &library, &scratch)?;
    let disposed = files.take_dispositions();
    if args.dry_run {
        files.finish(&*disk)?;
        return dry_run(context, &job, &prepared, &args.passphrase);
    }
    let report = play(context, &job, (&files, &cancel), &args.passphrase)?;
    let finished = files.finish(&*disk);
    let ended = disposed.end(&*disk, matches!(report.ended, Ended::Normal { .. }));
    let code = tell(context, &report)?;
    finished?;
    ended?;
    Ok(code)
}

/// DDs that are written before the program's first call.
const WRITTEN: [&str; 2] = ["SYSOUT", "PUNCHDD"];

/// The DDs of a step, of which none is what may not be written to; the same for its trace.
pub(super) fn dds_of_step(
    operands: &[String],
    guarded: &Guarded<'_>,
    trace: Option<&Path>,
) -> Result<Vec<Dd>> {
    let dds = dds_of(operands)?;
    let on_disk = |dd: &&Dd| dd.data_set().is_none();
    for dd in dds.iter().filter(on_disk).filter(|dd| !READ.contains(&dd.name.as_str())) {
        guarded.check(&format!("--dd {}", dd.name), &dd.path)?;
    }
    trace.map_or(Ok(()), |trace| guarded.check("--trace", trace))?;
    let files = dds.iter().filter(on_disk).filter(|dd| dd.name != "STEPLIB");
    let files = files.map(|dd| (dd.name.as_str(), dd.path.as_path()));
    let (mut all, mut written) = (named(files.clone()), named(files.filter(is_written)));
    let trace = trace.filter(|trace| !is_special(trace));
    all.extend(trace.map(|trace| ("--trace".to_owned(), trace.to_owned())));
    written.extend(trace.map(|trace| ("--trace".to_owned(), trace.to_owned())));
    schedule::refuse_same_files(guarded.disk, &written, &all)
        .map_err(|error| Failure::Error(Box::new(error)))?;
    Ok(dds)
}

fn is_written((name, _): &(&str, &Path)) -> bool {
    WRITTEN.contains(name)
}

pub(super) fn dds_of(operands: &[String]) -> Result<Vec<Dd>> {
    let mut dds: Vec<Dd> = Vec::new();
    for operand in operands {
        let dd = Dd::parse(operand).map_err(|error| {
            Failure::usage(error, "Write it as in --dd INFILE=input.dat or --dd IN=lines.txt,text.")
        })?;
        if dds.iter().any(|other| other.name == dd.name) {
            let what = format!("there are two files for DD {}", dd.name);
            return Err(Failure::usage(what, "Give each DD once."));
        }
        dds.push(dd);
    }
    Ok(dds)
}

fn job_of(args: &BatchArgs, dds: &[Dd]) -> Result<Job> {
    let folders = args.include.iter().map(|folder| absolute(folder));
    // Data sets of the catalog are the server's business, and no files of the machine.
    let on_disk = dds.iter().filter(|dd| dd.data_set().is_none());
    Ok(Job {
        system: absolute(&args.system)?,
        kind: args.kind.into(),
        psb: args.psb.to_ascii_uppercase(),
        program: absolute(&args.program)?,
        files: on_disk.map(JobFile::of).collect::<jobs::Result<_>>()?,
        include: folders.collect::<jobs::Result<_>>()?,
        free: args.free,
        entry: args.entry.clone(),
        parm: args.parm.clone(),
        checkpoint: args.ckptid.clone(),
        step: args.step.clone(),
        pcb_order: args.pcb_order.map(PcbOrder::from),
        trace: args.trace.as_deref().map(absolute).transpose()?,
        compiled: None,
        makes_no_calls: false,
        input: args.input.as_deref().map(str::to_ascii_uppercase),
        output: args.output.as_deref().map(str::to_ascii_uppercase),
    })
}

/// Runs the program's process.
fn play(
    context: &mut Context,
    job: &Job,
    (files, cancel): (&Files, &Cancel),
    passphrase: &PassphraseArgs,
) -> Result<Report> {
    let own = std::env::current_exe().map_err(|error| {
        Failure::other(format!("this command cannot find itself: {error}"), "Install it again.")
    })?;
    let mut command = match job.kind {
        // It opens the system's engine itself.
        Kind::Dli | Kind::Dbb => seam::process::ourselves(own),
        Kind::Bmp => seam::process::command(own),
    };
    let config = SystemConfig::read_any(&*context.seam.disk, &job.system)?;
    let spared = std::env::join_paths(Places::of(&config, &job.system).folders());
    command.env(seam::system_files::SPARED, spared.unwrap_or_default());
    if context.output.is_json() {
        command.arg("--json");
        // Standard output is for the report alone.
        let stderr = std::io::stderr().as_fd().try_clone_to_owned()?;
        command.stdout(Stdio::from(stderr));
    }
    command.arg(guest::NAME).arg(job.to_text()?);
    // Who calls a started system needs no key, and gets nothing to find one with.
    let handover = match job.kind {
        Kind::Dli | Kind::Dbb => {
            let module = passphrase::given(passphrase.token_module.as_ref()).map(PathBuf::as_path);
            let secret = passphrase.get_for(&context.seam, &job.system)?;
            Some(passphrase::hand_over(&mut command, &secret, module)?)
        }
        Kind::Bmp => None,
    };
    context.output.flush()?;
    let socket = job.system.join(SOCKET);
    let (mut started, mut watch) = (None, None);
    let report = host::run(&mut command, files, |process| {
        started = Some(process);
        watch = (job.kind == Kind::Bmp).then(|| Watch::over(&socket, process)).flatten();
        cancel.pass_to(process);
    });
    cancel.over();
    let outlived = watch.and_then(Watch::over_with);
    let mut report = report?;
    if job.input.is_some() || job.output.is_some() {
        report.has_queues();
    }
    if let Some(error) = &outlived {
        report.ended_because(error);
    }
    if let (Kind::Bmp, Some(process)) = (job.kind, started)
        && !matches!(report.ended, Ended::NotStarted(_))
    {
        // What is said of its end is so when it is said.
        let waited = bmp::wait_for_end_of(&socket, process);
        if waited.is_err() && outlived.is_none() && !matches!(report.ended, Ended::Normal { .. }) {
            warn(
                "the system has stopped meanwhile: its next start backs out what the program had \
                 not committed",
            );
        }
    }
    drop(handover);
    Ok(report)
}

fn tell(context: &mut Context, report: &Report) -> Result<ExitCode> {
    let code = ExitCode::from(report.exit_code());
    report.notes.iter().for_each(warn);
    let printed = match (context.output.is_json(), &report.ended) {
        (true, _) => context.output.document(&report.json()),
        (false, Ended::Normal { .. }) => context.output.line(report),
        (false, _) => {
            say(format!("error: {report}"));
            Ok(())
        }
    };
    let printed = printed.and_then(|()| context.output.flush());
    printed.map_err(|failure| match (failure, &report.ended) {
        (Failure::ReaderGone, _) => Failure::ReaderGone,
        (failure, Ended::Normal { .. }) => failure.within("the program's changes are committed"),
        (failure, _) => failure,
    })?;
    Ok(code)
}

/// Opens the stopped system of a job, and schedules its PSB in this process.
pub(super) fn serve(context: &Context, job: &Job, passphrase: &Passphrase) -> Result<Alone> {
    let reporting = Reporting { notices: NOTICES, counts_calls: false };
    Ok(Alone::open(&context.seam, job, passphrase, any_options(), reporting)?)
}

/// Says what would run, and that it could.
fn dry_run(
    context: &mut Context,
    job: &Job,
    prepared: &Prepared,
    passphrase: &PassphraseArgs,
) -> Result<ExitCode> {
    let layouts: Vec<PcbLayout> = match job.kind {
        Kind::Bmp => connect(job)?.layouts().to_vec(),
        Kind::Dli | Kind::Dbb => {
            let secret = passphrase.get_for(&context.seam, &job.system)?;
            let mut server = serve(context, job, &secret)?;
            let layouts = server.pcbs().to_vec();
            server
                .end(region::Ending::Abend)
                .map_err(|failure| Failure::other(failure.text, failure.remedy))?;
            layouts
        }
    };
    let entries = prepared.entries(job.entry.as_deref()).join(" or ");
    let listed: Vec<&PcbLayout> = layouts.iter().filter(|layout| layout.listed).collect();
    let output = &mut context.output;
    if output.is_json() {
        let pcbs: Vec<_> = listed
            .iter()
            .map(|layout| json!({ "name": layout.title(), "kind": kind_of(layout) }))
            .collect();
        let program = prepared.source();
        let psb = &job.psb;
        output
            .document(&json!({ "psb": psb, "program": program, "entry": entries, "pcbs": pcbs }))?;
        return super::DONE;
    }
    output.line(format_args!("program {}, entered at {entries}", prepared.source().display()))?;
    output.line(format_args!("PSB {}, which passes {} PCBs", job.psb, listed.len()))?;
    for (at, layout) in listed.iter().enumerate() {
        output.line(format_args!("  {:>2}  {:<8}  {}", at + 1, layout.title(), kind_of(layout)))?;
    }
    output.line("nothing was run")?;
    super::DONE
}

fn kind_of(layout: &PcbLayout) -> String {
    let text = region::layout::text;
    match &layout.kind {
        PcbKind::Io(_) => "I/O".to_owned(),
        PcbKind::Alternate { .. } => "alternate".to_owned(),
        PcbKind::Database(database) => {
            let options = text(&database.options);
            format!("{} {}, PROCOPT {options}", text(&database.organization), text(&database.dbd))
        }
        PcbKind::Gsam(gsam) => {
            format!("GSAM {}, PROCOPT {}", text(&gsam.dbd), text(&gsam.options))
        }
    }
}
