//! `holdfast idcams`: control statements of access method services over a system's catalogs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

use base::Coded;
use clap::Args;
use idcams::{Dd, IdcamsError, Machine, Output as OutputFile, execute};
use operations::clusters::files::Answerer;
use operations::clusters::{Executed, IdcamsRequest};
use operations::verbs::{Operation, answer_of};
use seam::Seam;
use serde_json::Value;
use system::operator;
use vsam::Catalog;

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::open_files::{Identity, Mark, OpenFiles};
use crate::operate::{SystemArgs, with};
use crate::output::Output;
use crate::progress::Progress;
use crate::standard::Guarded;
use crate::text::harmless;

/// The longest text of statements.
const STATEMENTS_BYTES_MAX: u64 = 64 << 20;
/// The greatest condition code that is a success.
const SUCCESS_MAX: u32 = 4;

/// Define, copy, print and list data sets with IDCAMS control statements
///
/// Statements come from standard input, or from --dd SYSIN=PATH; what they answer goes to standard
/// output, or to --dd SYSPRINT=PATH. Columns 2 to 72 are read; - or + at the end of a line goes on
/// in the next. A system that is started executes them beside its programs; files are this
/// command's all the same.
///
/// Exit codes: 0 if the greatest condition code is 0 or 4, 1 if it is more, 2 for wrong usage.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: holdfast idcams -s /srv/bank --dd IN=accounts.txt,text <<'END'
  DEFINE CLUSTER (NAME(BANK.ACCT) INDEXED KEYS(8 0) RECORDSIZE(100 200))
  IF LASTCC = 0 THEN -
    REPRO INFILE(IN) OUTDATASET(BANK.ACCT)
  LISTCAT ENTRIES(BANK.ACCT) ALL
END")]
pub(crate) struct IdcamsArgs {
    #[command(flatten)]
    system: SystemArgs,
    /// What INFILE(NAME) and OUTFILE(NAME) mean: a data set of the catalog, or a file; its records
    /// are lines (PATH,text), of one length (PATH,fb=80), or behind descriptor words (PATH,vb;
    /// PATH,bdw in blocks with words of their own).
    /// Without that they are as the cluster on the other side has them
    #[arg(long = "dd", value_name = "NAME=DSN|PATH[,FORM]")]
    dds: Vec<String>,
}

pub(super) fn run(context: &mut Context, args: &IdcamsArgs) -> Result<ExitCode> {
    let mut dds = dds_of(&args.dds)?;
    if let Some(sysprint) = dds.iter().find(|given| given.dd.name == "SYSPRINT") {
        refuse_same(&sysprint.dd.target, &dds)?;
    }
    let statements = statements(take(&mut dds, "SYSIN").as_deref())?;
    let sysprint = take(&mut dds, "SYSPRINT");
    executed(context, &args.system, dds, &statements, sysprint.as_deref())
}

/// Executes a statement that lists something, as another command spells it.
pub(super) fn listing(
    context: &mut Context,
    system: &SystemArgs,
    statement: &str,
) -> Result<ExitCode> {
    executed(context, system, Vec::new(), statement, None)
}

/// Executes statements that copy files, which DD names of `--dd` stand for.
pub(super) fn copying(
    context: &mut Context,
    system: &SystemArgs,
    dds: &[String],
    statements: &str,
    sysprint: Option<&Path>,
) -> Result<ExitCode> {
    let dds = dds_of(dds)?;
    if let Some(sysprint) = sysprint {
        refuse_same(sysprint, &dds)?;
    }
    executed(context, system, dds, statements, sysprint)
}

fn executed(
    context: &mut Context,
    args: &SystemArgs,
    dds: Vec<Given>,
    statements: &str,
    sysprint: Option<&Path>,
) -> Result<ExitCode> {
    if let Some(code) = in_use(context, args, &dds, statements, sysprint)? {
        return Ok(code);
    }
    with(context, args, |context, _, databases| {
        let catalog = Catalog::open(databases.store.clone(), context.seam.clock.clone());
        let catalog = catalog.map_err(failed)?;
        catalog.set_handlers(operations::redirections::handlers());
        let dds: Vec<Dd> = dds.into_iter().map(|given| given.dd).collect();
        printed(context, &args.system, sysprint, |machine, out| {
            let done = execute(&catalog, statements, &dds, machine, out).map_err(failed)?;
            Ok(Some(Executed::from(done)))
        })
        .map(|code| code.unwrap_or(ExitCode::FAILURE))
    })
}

/// Has `work` done with the machine's files and SYSPRINT, and tells what came of it; `None` if
/// nothing was done.
fn printed(
    context: &mut Context,
    dir: &Path,
    sysprint: Option<&Path>,
    work: impl FnOnce(&mut Files<'_>, &mut dyn Write) -> Result<Option<Executed>>,
) -> Result<Option<ExitCode>> {
    let seam = context.seam.clone();
    let guarded = Guarded::of(&seam, dir, context.output.is_json())?;
    let progress = Progress::new(&seam);
    let mut machine = Files { seam: &seam, guarded, progress, open: OpenFiles::default() };
    let mut lines = Vec::new();
    let done = match sysprint {
        Some(path) => {
            let mut file = machine.write(path, false).map_err(|error| unusable(path, &error))?;
            let mut out = BufWriter::new(&mut file);
            let done = work(&mut machine, &mut out)?;
            out.flush().map_err(|error| unusable(path, &error))?;
            drop(out);
            file.finish().map_err(|error| unusable(path, &error))?;
            done
        }
        None if context.output.is_json() => {
            let mut text = Vec::new();
            let done = work(&mut machine, &mut text)?;
            lines = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
            done
        }
        None => {
            let mut out = Lines { output: &mut context.output, rest: Vec::new() };
            work(&mut machine, &mut out)?
        }
    };
    machine.progress.clear();
    let Some(done) = done else { return Ok(None) };
    if context.output.is_json() {
        context.output.document(&report(&done, &lines)?)?;
    }
    Ok(Some(match done.condition_code <= SUCCESS_MAX {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }))
}

/// Has the process that has the system open execute the statements; `None` if there is none.
fn in_use(
    context: &mut Context,
    args: &SystemArgs,
    dds: &[Given],
    statements: &str,
    sysprint: Option<&Path>,
) -> Result<Option<ExitCode>> {
    let (dir, passphrase) = (&args.system, &args.passphrase);
    let targets: Vec<PathBuf> = dds.iter().map(|given| given.dd.target.clone()).collect();
    let dds = dds.iter().map(|given| given.operand.clone()).collect();
    let request = Operation::Idcams(IdcamsRequest { dds }).request()?;
    let seam = context.seam.clone();
    printed(context, dir, sysprint, |machine, out| {
        let mut progress = Progress::new(&seam);
        let mut tell = |at: &operator::Progress| {
            progress.show(&at.object, at.done, at.total, &at.unit);
        };
        let mut client = Answerer::new(statements, targets, machine, out);
        let mut respond = |question: &Value, given: &[u8], back: &mut Vec<u8>| {
            client.answer(question, given, back)
        };
        let talk: (&mut dyn FnMut(&operator::Progress), operator::Respond<'_>) =
            (&mut tell, &mut respond);
        let mut passphrase = || passphrase.get();
        let answer = operator::call_and_answer(&seam, dir, &request, &mut passphrase, talk);
        progress.clear();
        if let Some(error) = client.failure() {
            return Err(failed(IdcamsError::Sysprint(error)));
        }
        Ok(answer?.map(|answer| answer_of(dir, answer)).transpose()?)
    })
}

fn failed(error: impl Coded + 'static) -> Failure {
    Failure::Error(Box::new(error))
}

fn report(done: &Executed, lines: &[String]) -> Result<Value> {
    let mut report = serde_json::to_value(done).map_err(io::Error::from)?;
    report["sysprint"] = lines.into();
    Ok(report)
}

/// A DD, and how it was written.
struct Given {
    dd: Dd,
    operand: String,
}

fn dds_of(operands: &[String]) -> Result<Vec<Given>> {
    let mut dds: Vec<Given> = Vec::new();
    for operand in operands {
        let Some(dd) = Dd::parse(operand) else {
            let what = format!("{operand} is no DD");
            let remedy = "Write it as in --dd IN=accounts.txt,text or --dd IN=BANK.ACCT.";
            return Err(Failure::usage(what, remedy));
        };
        if dds.iter().any(|other| other.dd.name == dd.name) {
            let what = format!("there are two files for DD {}", dd.name);
            return Err(Failure::usage(what, "Give each name once."));
        }
        dds.push(Given { dd, operand: operand.clone() });
    }
    Ok(dds)
}

/// Refuses SYSPRINT where another DD is the same file: it is cut before anything is read.
fn refuse_same(sysprint: &Path, dds: &[Given]) -> Result<()> {
    let Some(identity) = Identity::at(sysprint) else { return Ok(()) };
    let is_same = |given: &&Given| {
        given.dd.name != "SYSPRINT" && Identity::at(&given.dd.target) == Some(identity)
    };
    match dds.iter().find(is_same) {
        None => Ok(()),
        Some(other) => {
            let what = format!("SYSPRINT and DD {} are one file", other.dd.name);
            Err(Failure::usage(what, "Give SYSPRINT a file of its own."))
        }
    }
}

/// Takes a DD of this command's own out.
fn take(dds: &mut Vec<Given>, name: &str) -> Option<PathBuf> {
    let at = dds.iter().position(|given| given.dd.name == name)?;
    Some(dds.swap_remove(at).dd.target)
}

#[allow(clippy::disallowed_methods)] // people's files are no part of a system
fn statements(path: Option<&Path>) -> Result<String> {
    let mut bytes = Vec::new();
    match path {
        Some(path) => {
            let file = File::open(path).map_err(|error| unusable(path, &error))?;
            let read = file.take(STATEMENTS_BYTES_MAX + 1).read_to_end(&mut bytes);
            read.map_err(|error| unusable(path, &error))?;
        }
        None => {
            io::stdin().take(STATEMENTS_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        }
    }
    if bytes.len() as u64 > STATEMENTS_BYTES_MAX {
        return Err(Failure::other("there are too many statements", "Run them in parts."));
    }
    String::from_utf8(bytes).map_err(|error| {
        let what = format!("the statements are no text in UTF-8: {error}");
        Failure::other(what, "Convert them before, as with iconv -f IBM037.")
    })
}

fn unusable(path: &Path, error: &io::Error) -> Failure {
    let what = format!("{} cannot be used: {error}", path.display());
    Failure::other(what, "Check the path and the permissions.")
}

/// SYSPRINT on standard output.
struct Lines<'o> {
    output: &'o mut Output,
    rest: Vec<u8>,
}

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        while let Some(at) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=at).collect();
            let line = String::from_utf8_lossy(&line);
            let written = self.output.raw(&harmless(line.trim_end_matches('\n')));
            written.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The machine's files.
struct Files<'s> {
    seam: &'s Seam,
    guarded: Guarded<'s>,
    progress: Progress,
    open: OpenFiles,
}

/// A file that is being read.
struct Source {
    file: File,
    _mark: Rc<Mark>,
}

impl Read for Source {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.file.read(bytes)
    }
}

/// A file that is being written.
struct Written {
    file: File,
    /// The folder where its name may be new.
    folder: PathBuf,
    _mark: Rc<Mark>,
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl OutputFile for Written {
    fn finish(&mut self) -> io::Result<()> {
        self.make_durable(&[
            io::ErrorKind::PermissionDenied,
            io::ErrorKind::InvalidInput,
            io::ErrorKind::Unsupported,
        ])
    }

    fn finish_for_good(&mut self) -> io::Result<()> {
        // What it was copied from is deleted next: its name has to be there, too.
        self.make_durable(&[])
    }
}

impl Files<'_> {
    fn check(&self, path: &Path) -> io::Result<()> {
        let checked = self.guarded.check("the file", path);
        checked.map_err(|failure| io::Error::other(failure.shown()))
    }
}

impl Written {
    /// Makes the file durable, and its name; where its folder may be written but not read, or
    /// knows no such thing, it says one of `allowed`.
    #[allow(clippy::disallowed_methods)] // people's files are no part of a system
    fn make_durable(&mut self, allowed: &[io::ErrorKind]) -> io::Result<()> {
        // Pipes and devices keep nothing.
        if !self.file.metadata()?.is_file() {
            return Ok(());
        }
        self.file.sync_all()?;
        match File::open(&self.folder).and_then(|folder| folder.sync_all()) {
            Err(error) if allowed.contains(&error.kind()) => Ok(()),
            other => other,
        }
    }
}

/// The folder in which a file stands, where its links lead.
fn folder_of(path: &Path) -> io::Result<PathBuf> {
    let path = fs::canonicalize(path)?;
    Ok(path.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned))
}

#[allow(clippy::disallowed_methods)] // people's files are no part of a system
impl Machine for Files<'_> {
    fn read(&mut self, path: &Path) -> io::Result<Box<dyn Read>> {
        self.open.check_read(path)?;
        let file = File::open(path)?;
        let mark = self.open.note(&file, false)?;
        Ok(Box::new(Source { file, _mark: mark }))
    }

    fn write(&mut self, path: &Path, append: bool) -> io::Result<Box<dyn OutputFile>> {
        self.check(path)?;
        self.open.check_write(path)?;
        let mut options = OpenOptions::new();
        options.create(true).write(true).append(append).truncate(!append);
        let file = options.open(path)?;
        let folder = match file.metadata()?.is_file() {
            true => folder_of(path)?,
            false => PathBuf::new(),
        };
        let mark = self.open.note(&file, true)?;
        Ok(Box::new(Written { file, folder, _mark: mark }))
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
    }

    fn exists(&mut self, path: &Path) -> bool {
        path.exists()
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.check(path)?;
        fs::remove_file(path)
    }

    fn now_us(&self) -> u64 {
        self.seam.clock.utc_us()
    }

    fn progress(&mut self, what: &str, records: u64) -> io::Result<()> {
        self.progress.show(what, records, 0, "records");
        Ok(())
    }
}
