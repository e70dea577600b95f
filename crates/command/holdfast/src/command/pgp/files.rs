//! What every command over files shares: which files, where the output goes, what it cost.
//!
//! 1. Output appears under its name only when everything about it is right ([`Target`]); a stream
//!    that is sealed may go out as it comes.
//! 2. Results go to standard output, unless that is the data: then to standard error.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use openpgp::{Error, STAGES, Stages, Stats, Target};
use serde_json::{Value, json};

use super::RingArgs;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::say;
use crate::progress::Progress;
use crate::standard::is_special;
use crate::text::{bytes, on_one_line};

/// What all of them take: which files, and how.
#[derive(Args, Debug)]
pub(super) struct FileArgs {
    #[command(flatten)]
    pub(super) ring: RingArgs,
    /// The files; standard input without, or for -
    file: Vec<PathBuf>,
    /// Where to; for standard input, standard output without
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Replace files that are there already
    #[arg(long)]
    pub(super) yes: bool,
    /// Say what it cost: bytes, time, CPU time, by stage
    #[arg(long)]
    stats: bool,
    /// Read and write in threads of their own
    #[arg(long, value_enum, default_value = "on", value_name = "ON|OFF")]
    async_io: Switch,
    /// Encipher and decipher in threads of their own
    #[arg(long, value_enum, default_value = "on", value_name = "ON|OFF")]
    async_cipher: Switch,
    /// Compress and decompress in threads of their own
    #[arg(long, value_enum, default_value = "on", value_name = "ON|OFF")]
    async_compress: Switch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl FileArgs {
    pub(super) fn stages(&self) -> Stages {
        Stages {
            io: self.async_io == Switch::On,
            cipher: self.async_cipher == Switch::On,
            compress: self.async_compress == Switch::On,
            ..Stages::default()
        }
    }

    /// Each input with the place of its output.
    pub(super) fn pairs(&self, name: impl Fn(&Path) -> Result<PathBuf>) -> Result<Vec<Pair>> {
        if self.output.is_some() && self.file.len() > 1 {
            let what = format!("{} files cannot go to one", self.file.len());
            return Err(Failure::usage(what, "Leave out --output, or name one file."));
        }
        if self.file.is_empty() {
            let pair = Pair { from: PathBuf::from("-"), to: self.output.clone() };
            spare_each_other(std::slice::from_ref(&pair))?;
            return Ok(vec![pair]);
        }
        let pairs = self.file.iter().map(|from| {
            let to = match (&self.output, is_pipe(from)) {
                (Some(to), _) => Some(to.clone()),
                (None, true) => None,
                // What is not there has no name for what is made of it, but that is not why.
                (None, false) => Some(name(from).map_err(|unnamed| match is_missing(from) {
                    true => Error::Missing(shown(from)).into(),
                    false => unnamed,
                })?),
            };
            Ok(Pair { from: from.clone(), to })
        });
        let pairs = pairs.collect::<Result<Vec<Pair>>>()?;
        spare_each_other(&pairs)?;
        Ok(pairs)
    }
}

/// An input and the place of its output; none is standard output.
pub(super) struct Pair {
    pub(super) from: PathBuf,
    pub(super) to: Option<PathBuf>,
}

impl Pair {
    /// Whether the output goes to standard output.
    pub(super) fn is_stream(&self) -> bool {
        self.to.as_deref().is_none_or(is_pipe)
    }
}

/// Makes sure that no output takes the place of an input, of another output, or of a file of a
/// system.
fn spare_each_other(pairs: &[Pair]) -> Result<()> {
    let is_file = |path: &&Path| !is_pipe(path) && !is_special(path);
    for (index, pair) in pairs.iter().enumerate() {
        let Some(to) = pair.to.as_deref().filter(is_file) else { continue };
        Target::spare(to)?;
        let to = place(to);
        let mut inputs = pairs.iter().filter(|other| !is_pipe(&other.from));
        if inputs.any(|other| place(&other.from) == to) {
            let what = format!("{} would be replaced by what is made of it", shown(&to));
            return Err(Failure::usage(what, "Give --output another name."));
        }
        let mut others = pairs[index + 1..].iter().filter(|other| other.to.is_some());
        let same = |other: &&Pair| other.to.as_deref().is_some_and(|path| place(path) == to);
        if let Some(other) = others.find(same) {
            let (one, other) = (shown(&pair.from), shown(&other.from));
            let what = format!("{one} and {other} would both become {}", shown(&to));
            return Err(Failure::usage(what, "Give each to a command of its own, with --output."));
        }
    }
    Ok(())
}

/// Does the work for each file. Of several, one that fails does not stop the others: it is told,
/// and the command ends as the first of these would have.
pub(super) fn each(
    context: &mut Context,
    pairs: Vec<Pair>,
    mut work: impl FnMut(&mut Context, Pair) -> Result<()>,
) -> Result<ExitCode> {
    let is_alone = pairs.len() == 1;
    let mut ending = None;
    for pair in pairs {
        let name = pair.from.clone();
        match work(context, pair) {
            Err(failure) if is_alone || matches!(failure, Failure::ReaderGone) => {
                return Err(failure);
            }
            Err(failure) => {
                failure.tell_of(&name, context.output.is_json());
                ending.get_or_insert(failure.exit_code());
            }
            Ok(()) => {}
        }
    }
    Ok(ending.unwrap_or(ExitCode::SUCCESS))
}

/// Where a file is, or is to be, whatever links lead there.
pub(super) fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let in_folder = || {
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

/// The name of a file for people, whatever strangers have put into it.
pub(super) fn shown(path: &Path) -> String {
    on_one_line(&path.to_string_lossy()).into_owned()
}

pub(super) fn is_pipe(path: &Path) -> bool {
    path == Path::new("-")
}

/// Whether there is no file of this name.
pub(super) fn is_missing(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// A file, or standard input.
pub(super) fn input(path: &Path) -> Result<Box<dyn Read + Send>> {
    if is_pipe(path) {
        return Ok(Box::new(io::stdin()));
    }
    #[allow(clippy::disallowed_methods)] // people's files are no part of a system
    let file = std::fs::File::open(path);
    let failed = |source| Error::Io { what: format!("opening {}", shown(path)), source };
    let file = file.map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::Missing(shown(path)),
        _ => failed(source),
    })?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()).into());
    }
    Ok(Box::new(file))
}

/// The place of an output.
pub(super) fn to_place(context: &Context, path: Option<&Path>, replace: bool) -> Result<Target> {
    match path.filter(|path| !is_pipe(path)) {
        Some(path) if is_special(path) => {
            Target::spare(path)?;
            // What others have written into a file that is open already stays.
            let file = match path.is_file() {
                true => std::fs::File::options().append(true).open(path),
                false => std::fs::File::options().write(true).open(path),
            };
            let failed = |source| Error::Io { what: format!("opening {}", shown(path)), source };
            Ok(Target::stream(&context.seam, Box::new(file.map_err(failed)?)))
        }
        Some(path) => Ok(Target::file(&context.seam, path, replace)?),
        None => Ok(Target::stream(&context.seam, Box::new(seam::standard::output()))),
    }
}

/// No reader waits for what is shorter, in bytes; and until then, one who reads may be asked for a
/// passphrase.
const LONG: u64 = 1 << 20;

/// An input that shows how far it has been read.
pub(super) struct Watched {
    input: Box<dyn Read + Send>,
    name: String,
    progress: Progress,
    done: u64,
    total: u64,
}

impl Read for Watched {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.done += read as u64;
        if self.done >= LONG {
            self.progress.show(&self.name, self.done, self.total, "bytes");
        }
        Ok(read)
    }
}

pub(super) fn watched(context: &Context, path: &Path) -> Result<Watched> {
    let total = match is_pipe(path) {
        true => 0,
        false => path.metadata().map_or(0, |about| about.len()),
    };
    Ok(Watched {
        input: input(path)?,
        name: shown(path),
        progress: Progress::new(&context.seam),
        done: 0,
        total,
    })
}

/// Runs one file and says what it cost.
pub(super) fn timed<T>(
    context: &mut Context,
    args: &FileArgs,
    pair: &Pair,
    work: impl FnOnce(&mut Context, &Stats) -> Result<T>,
) -> Result<(T, Value)> {
    let stats = Stats::default();
    let (begin, cpu) = (context.seam.clock.monotonic(), seam::clock::process_cpu_us());
    let done = work(context, &stats)?;
    let elapsed = context.seam.clock.monotonic().saturating_sub(begin).as_secs_f64();
    let cpu = (seam::clock::process_cpu_us() - cpu) as f64 / 1e6;
    let cost = Cost::new(&stats, elapsed, cpu);
    if args.stats && !context.output.is_json() {
        cost.tell(&pair.from, &stats);
    }
    Ok((done, cost.value(pair, &stats)))
}

/// What a file cost.
pub(super) struct Cost {
    /// The larger side, which is what people call the size of the data, in megabytes.
    pub(super) size_mb: f64,
    pub(super) elapsed_s: f64,
    pub(super) cpu_s: f64,
}

impl Cost {
    pub(super) fn new(stats: &Stats, elapsed_s: f64, cpu_s: f64) -> Cost {
        let size_mb = stats.bytes_in().max(stats.bytes_out()) as f64 / 1e6;
        Cost { size_mb, elapsed_s: elapsed_s.max(1e-9), cpu_s: cpu_s.max(1e-9) }
    }

    /// How much of all processors it used.
    fn utilization_percent(&self) -> f64 {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        self.cpu_s / self.elapsed_s / processors as f64 * 100.0
    }

    /// One row of a table, and a line for each stage.
    fn tell(&self, name: &Path, stats: &Stats) {
        let head = ["input", "output", "elapsed s", "MB/s", "CPU %", "CPU s", "MB per CPU second"];
        let row = [
            bytes(stats.bytes_in()),
            bytes(stats.bytes_out()),
            format!("{:.2}", self.elapsed_s),
            format!("{:.2}", self.size_mb / self.elapsed_s),
            format!("{:.1}", self.utilization_percent()),
            format!("{:.2}", self.cpu_s),
            format!("{:.2}", self.size_mb / self.cpu_s),
        ];
        let wide = |cells: &[&str]| {
            let cells = cells.iter().zip(head).zip(&row);
            let cells = cells.map(|((cell, head), value)| {
                format!("{cell:>width$}", width = head.len().max(value.len()))
            });
            cells.collect::<Vec<_>>().join("  ")
        };
        say(format_args!("{}", shown(name)));
        say(format_args!("  {}", wide(&head)));
        say(format_args!("  {}", wide(&row.each_ref().map(String::as_str))));
        for (stage, name) in STAGES {
            let seconds = stats.cpu_us(stage) as f64 / 1e6;
            if seconds > 0.0 {
                say(format_args!("    {name:<8} {seconds:.2} CPU s"));
            }
        }
    }

    fn value(&self, pair: &Pair, stats: &Stats) -> Value {
        let stages = STAGES.map(|(stage, name)| (name, stats.cpu_us(stage) as f64 / 1e6));
        json!({
            "input": pair.from.to_string_lossy(),
            "output": pair.to.as_deref().map(Path::to_string_lossy),
            "bytes_in": stats.bytes_in(), "bytes_out": stats.bytes_out(),
            "elapsed_s": self.elapsed_s, "mb_per_s": self.size_mb / self.elapsed_s,
            "cpu_percent": self.utilization_percent(),
            "cpu_s": self.cpu_s, "mb_per_cpu_s": self.size_mb / self.cpu_s,
            "stages_cpu_s": stages.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        })
    }
}

/// A result for programs; a stream of data leaves no room for one.
pub(super) fn report(context: &mut Context, pair: &Pair, value: &Value) -> Result<()> {
    if !context.output.is_json() {
        return Ok(());
    }
    if pair.is_stream() {
        say(value);
        return Ok(());
    }
    context.output.value(value)
}
