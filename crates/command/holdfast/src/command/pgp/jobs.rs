//! The job control of the older programs CSDFILEN and CSDFILDE, over OpenPGP files.
//!
//! ```text
//! | DD       | is                                                        |
//! |----------|-----------------------------------------------------------|
//! | SYSUT1   | the input                                                 |
//! | SYSUT2   | the output, which is replaced as a data set would be      |
//! | SYSIN    | the cards; needed to encrypt                              |
//! | SYSPRINT | the report; standard output without                       |
//! ```
//!
//! 1. The report is written in any case in which the cards could be read; it says how it ended.
//! 2. A file that is there already is replaced only when its successor is whole.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use facility::{Job, Program, Protection};
use openpgp::pgp::crypto::sym::SymmetricKeyAlgorithm;
use openpgp::pgp::types::{CompressionAlgorithm, Password};
use openpgp::{CipherBlock, CipherBlocks, Error, Reading, Stats, Target, Writing};
use region::Dd;
use serde_json::json;

use super::super::DONE;
use super::super::batch::dds_of;
use super::decrypt::{refuse_bad, tell_signatures};
use super::encrypt::write_message;
use super::files::{Cost, Pair, is_pipe, place, shown, to_place, watched};
use super::keyring::small;
use super::{RingArgs, add_recipient};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::{utc, warn};
use crate::standard::is_special;
use crate::text::{count, on_one_line};

#[derive(Args, Debug)]
pub(super) struct JobArgs {
    #[command(flatten)]
    ring: RingArgs,
    /// A file by its DD name: SYSUT1, SYSUT2, SYSIN, SYSPRINT
    #[arg(long, value_name = "NAME=PATH", required = true)]
    dd: Vec<String>,
}

#[derive(Args, Debug)]
pub(super) struct DecryptJobArgs {
    #[command(flatten)]
    step: JobArgs,
    /// Write the file though a signature of a key that is known is bad; without, that ends with 5
    #[arg(long)]
    allow_bad_signature: bool,
}

/// Makes sure that what is written goes into no other file of the step, and none of a system.
fn own_files(dds: &[Dd]) -> Result<()> {
    let written = |dd: &Dd| matches!(dd.name.as_str(), "SYSUT2" | "SYSPRINT");
    let files: Vec<_> =
        dds.iter().filter(|dd| !is_pipe(&dd.path) && !is_special(&dd.path)).collect();
    for (index, one) in files.iter().enumerate() {
        if written(one) {
            Target::spare(&one.path)?;
        }
        let same = |other: &&&Dd| place(&one.path) == place(&other.path);
        let others = files[index + 1..].iter().filter(|other| written(one) || written(other));
        if let Some(other) = others.into_iter().find(same) {
            let path = shown(&one.path);
            let what = format!("DD {} and DD {} are one file, {path}", one.name, other.name);
            return Err(Failure::usage(what, "Give each a file of its own."));
        }
    }
    Ok(())
}

/// The files of a step.
struct Files {
    pair: Pair,
    cards: Option<PathBuf>,
    report: Option<PathBuf>,
}

const NAMES: [&str; 4] = ["SYSUT1", "SYSUT2", "SYSIN", "SYSPRINT"];

impl Files {
    fn of(args: &JobArgs) -> Result<Files> {
        let dds = dds_of(&args.dd)?;
        if let Some(other) = dds.iter().find(|dd| !NAMES.contains(&dd.name.as_str())) {
            let what = format!("the step has no DD {}", other.name);
            return Err(Failure::usage(what, format!("Its DDs are {}.", NAMES.join(", "))));
        }
        own_files(&dds)?;
        let path = |name: &str| {
            let found = dds.iter().find(|dd: &&Dd| dd.name == name);
            found.map(|dd| dd.path.clone())
        };
        let needed = |name: &str| {
            let what = format!("the step has no DD {name}");
            path(name).ok_or_else(|| Failure::usage(what, format!("Add --dd {name}=PATH.")))
        };
        let pair = Pair { from: needed("SYSUT1")?, to: Some(needed("SYSUT2")?) };
        Ok(Files { pair, cards: path("SYSIN"), report: path("SYSPRINT") })
    }

    fn job(&self, program: Program) -> Result<Job> {
        let Some(cards) = &self.cards else {
            if program == Program::Decrypt {
                return Ok(Job::parse(program, b"")?);
            }
            let what = "the step has no DD SYSIN, whose cards say what opens the output";
            return Err(Failure::usage(what, "Add --dd SYSIN=PATH, with a card RSA=label."));
        };
        let bytes = zeroize::Zeroizing::new(small(cards)?);
        let read = Job::parse(program, &bytes);
        read.map_err(|error| Failure::from(error).about(shown(cards)))
    }
}

pub(super) fn encrypt(context: &mut Context, args: &JobArgs) -> Result<ExitCode> {
    let files = Files::of(args)?;
    let job = files.job(Program::Encrypt)?;
    run(context, "CSDFILEN", &files, &job, |context, stats, job| {
        let store = args.ring.store(context)?;
        let cipher = match job.key_bits {
            128 => SymmetricKeyAlgorithm::AES128,
            _ => SymmetricKeyAlgorithm::AES256,
        };
        let mut writing = Writing {
            cipher: Some(cipher),
            compression: job.compression.map(|level| (CompressionAlgorithm::ZIP, u32::from(level))),
            name: job.description.clone().unwrap_or_default().into_bytes(),
            ..Writing::default()
        };
        match &job.protection {
            Protection::Keys(labels) => {
                for label in labels {
                    add_recipient(&store, label, &mut writing)?;
                }
            }
            Protection::Passphrase(word) => writing.passphrases.push(Password::from(&word[..])),
        }
        write_message(context, &writing, true, &files.pair, stats)?;
        Ok(job.description.clone())
    })
}

pub(super) fn decrypt(context: &mut Context, args: &DecryptJobArgs) -> Result<ExitCode> {
    let may_be_bad = args.allow_bad_signature;
    let args = &args.step;
    let files = Files::of(args)?;
    let job = files.job(Program::Decrypt)?;
    run(context, "CSDFILDE", &files, &job, |context, stats, job| {
        let store = args.ring.store(context)?;
        let mut reading = Reading {
            ask: Some(args.ring.asking(context)),
            token_keys: store.token_keys(&args.ring.tokens(context))?,
            certificates: store.certificates()?,
            must_be_encrypted: true,
            ..Reading::default()
        };
        match &job.protection {
            Protection::Keys(labels) if labels.is_empty() => reading.keys = store.secrets(false)?,
            Protection::Keys(labels) => {
                for label in labels {
                    // Those in tokens are there in any case.
                    if store.token(&store.find(label)?)?.is_none() {
                        reading.keys.push(super::secret(&store, label)?);
                    }
                }
            }
            Protection::Passphrase(word) => {
                reading.passphrases.push(Password::from(&word[..]));
            }
        }
        let mut input = watched(context, &files.pair.from)?;
        let mut target = to_place(context, files.pair.to.as_deref(), true)?;
        let opened = reading.run(&mut input, &mut target, stats)?;
        refuse_bad(&files.pair.from, &opened.bad, may_be_bad)?;
        target.release()?;
        tell_signatures(&store, &opened)?;
        let name = String::from_utf8_lossy(&opened.name).into_owned();
        Ok(Some(name).filter(|name| !name.is_empty()))
    })
}

/// Runs a step and reports on it (1). The work gives the description that goes along.
fn run(
    context: &mut Context,
    program: &str,
    files: &Files,
    job: &Job,
    work: impl FnOnce(&mut Context, &Stats, &Job) -> Result<Option<String>>,
) -> Result<ExitCode> {
    for note in &job.notes {
        warn(note);
    }
    let stats = Stats::default();
    let started = context.seam.clock.utc_us();
    let (begin, cpu) = (context.seam.clock.monotonic(), seam::clock::process_cpu_us());
    let done = work(context, &stats, job);
    let elapsed = context.seam.clock.monotonic().saturating_sub(begin).as_secs_f64();
    let cpu = (seam::clock::process_cpu_us() - cpu) as f64 / 1e6;
    let cost = Cost::new(&stats, elapsed, cpu);
    let report = Report { program, started, files, job, stats: &stats, cost, done: &done };
    if context.output.is_json() && done.is_ok() {
        context.output.value(&report.value())?;
    }
    match (&files.report, context.output.is_json()) {
        (Some(path), _) if !is_pipe(path) => report.write(context, path)?,
        (_, false) if !files.pair.is_stream() => {
            context.output.line(report.text().trim_end())?;
            context.output.flush()?;
        }
        _ => {}
    }
    done.map(drop)?;
    DONE
}

struct Report<'a> {
    program: &'a str,
    /// In microseconds since 1970.
    started: u64,
    files: &'a Files,
    job: &'a Job,
    stats: &'a Stats,
    cost: Cost,
    done: &'a Result<Option<String>>,
}

impl Report<'_> {
    fn text(&self) -> String {
        let CipherBlocks { count: blocks, longest, shortest } = self.stats.cipher_blocks();
        let shown = |path: Option<&Path>| path.map_or("-".into(), shown);
        let time = |block: CipherBlock| format!("{:.6} s", block.cpu_us as f64 / 1e6);
        let length = |block: CipherBlock| format!("{} bytes", count(block.bytes));
        let description = self.done.as_ref().ok().and_then(Option::as_deref);
        let mut lines = vec![
            ("started", utc(self.started)),
            ("SYSUT1", shown(Some(&self.files.pair.from))),
            ("SYSUT2", shown(self.files.pair.to.as_deref())),
            ("description", on_one_line(description.unwrap_or("-")).into_owned()),
            ("data key", format!("AES, {} bits", self.job.key_bits)),
            ("opened by", self.opened_by()),
            ("bytes read", count(self.stats.bytes_in())),
            ("bytes written", count(self.stats.bytes_out())),
            ("elapsed time", format!("{:.3} s", self.cost.elapsed_s)),
            ("throughput", format!("{:.2} MB/s", self.cost.size_mb / self.cost.elapsed_s)),
            ("CPU time", format!("{:.3} s", self.cost.cpu_s)),
            ("cipher blocks", count(blocks)),
            ("longest cipher time", time(longest)),
            ("length of that block", length(longest)),
            ("shortest cipher time", time(shortest)),
            ("length of that block", length(shortest)),
        ];
        if self.program == "CSDFILDE" {
            lines.retain(|(name, _)| *name != "data key");
        }
        let ended = match self.done {
            Ok(_) => "done".to_owned(),
            Err(failure) => {
                let (code, what, _) = failure.parts();
                format!("failed: {what} ({code})")
            }
        };
        lines.push(("result", ended));
        let mut text = format!("{}  Holdfast {}\n", self.program, env!("CARGO_PKG_VERSION"));
        for note in &self.job.notes {
            text += &format!("  note: {note}\n");
        }
        for (name, value) in lines {
            text += &format!("  {name:<22} {value}\n");
        }
        text
    }

    fn opened_by(&self) -> String {
        match &self.job.protection {
            Protection::Passphrase(_) => "a passphrase".to_owned(),
            Protection::Keys(labels) if labels.is_empty() => "any key of the ring".to_owned(),
            Protection::Keys(labels) => labels.join(", "),
        }
    }

    fn value(&self) -> serde_json::Value {
        let CipherBlocks { count: blocks, longest, shortest } = self.stats.cipher_blocks();
        json!({
            "program": self.program,
            "input": self.files.pair.from.to_string_lossy(),
            "output": self.files.pair.to.as_deref().map(Path::to_string_lossy),
            "description": self.done.as_ref().ok().and_then(Option::as_deref),
            "bytes_in": self.stats.bytes_in(), "bytes_out": self.stats.bytes_out(),
            "elapsed_s": self.cost.elapsed_s, "cpu_s": self.cost.cpu_s,
            "mb_per_s": self.cost.size_mb / self.cost.elapsed_s, "cipher_blocks": blocks,
            "longest_cipher_us": longest.cpu_us, "longest_cipher_bytes": longest.bytes,
            "shortest_cipher_us": shortest.cpu_us, "shortest_cipher_bytes": shortest.bytes,
        })
    }

    fn write(&self, context: &Context, path: &Path) -> Result<()> {
        let mut target = to_place(context, Some(path), true)?;
        let failed = |source| Error::Io { what: format!("writing {}", shown(path)), source };
        target.write_all(self.text().as_bytes()).map_err(failed)?;
        Ok(target.release()?)
    }
}
