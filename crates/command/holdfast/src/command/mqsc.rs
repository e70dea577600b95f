//! `holdfast mqsc`: commands of the queue manager, as `runmqsc` takes them.
//!
//! 1. Called by the name `runmqsc`, the program takes that program's options; the folder of the
//!    system comes from the variable `HOLDFAST_SYSTEM` then.
//! 2. The exit code is that of `runmqsc`: 0; 10 if a command was not processed; 20 if none could
//!    be.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use mqsc::dump::{Selection, dump};
use mqsc::session::Answer;
use mqsc::{Console, Frame, session};
use operations::messages::{self, MqscRequest, manager_name};
use operations::verbs::Operation;
use queue_manager::QueueManager;
use store_any::AnyStore;
use system::{AnySystem, Home as _, SystemError};

use super::DONE;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::{SystemArgs, any_options, perform};
use crate::output::warn;

/// The variable that names the system for `runmqsc`.
const SYSTEM_VARIABLE: &str = "HOLDFAST_SYSTEM";

/// Run commands of the queue manager (MQSC), started or stopped
///
/// Reads commands from standard input, or from a file, to its end or to the command END, and
/// answers as runmqsc does. Exit codes: 0 every command was processed, 10 one was not, 20 none
/// could be.
#[derive(Args, Debug)]
#[command(after_help = "Example: echo 'DISPLAY QUEUE(*)' | holdfast mqsc -s /srv/bank; \
everything as commands: holdfast mqsc -s /srv/bank --dump > bank.mqsc")]
pub(crate) struct MqscArgs {
    #[command(flatten)]
    system: SystemArgs,
    /// The queue manager; it has the name of the system's folder in upper case
    #[arg(value_name = "QMGR")]
    manager: Option<String>,
    /// Read the commands from this file
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Do not repeat the commands in the output
    #[arg(short = 'e', long)]
    no_echo: bool,
    /// Read the commands and say what is wrong with them, but do nothing
    #[arg(short = 'v', long)]
    check: bool,
    /// Write everything that is defined as commands that make it again
    #[arg(long, conflicts_with_all = ["file", "check", "no_echo"])]
    dump: bool,
    /// With --dump: only objects with this name; * at its end stands for anything
    #[arg(short, long, value_name = "NAME", default_value = "*", requires = "dump")]
    name: String,
}

/// The words of a command line: those of `runmqsc` as this program's own.
pub(crate) fn clear(words: Vec<OsString>) -> Vec<OsString> {
    let called = words.first().map(Path::new).and_then(Path::file_name);
    if called.is_none_or(|name| name != "runmqsc") {
        return words;
    }
    let mut clear: Vec<OsString> = vec!["holdfast".into(), "mqsc".into()];
    if let Some(folder) = std::env::var_os(SYSTEM_VARIABLE) {
        clear.extend(["--system".into(), folder]);
    }
    clear.extend(words.into_iter().skip(1));
    clear
}

pub(super) fn run(context: &mut Context, args: &MqscArgs) -> Result<ExitCode> {
    let dir = &args.system.system;
    let name = manager_name(dir);
    if let Some(wanted) = args.manager.as_ref().filter(|wanted| **wanted != name) {
        let what = format!("the queue manager of {} is {name}, not {wanted}", dir.display());
        return Err(Failure::usage(what, "Name it so, or name another system."));
    }
    let banner = format!("Holdfast {} MQSC", env!("CARGO_PKG_VERSION"));
    let frame = Frame { banner, manager: name, echo: !args.no_echo };
    let passphrase = args.system.passphrase.get()?;
    let system = match AnySystem::open(&context.seam, dir, &passphrase, any_options()) {
        Ok(system) => system,
        Err(SystemError::InUse { .. }) if !args.dump => return in_use(context, args, &frame),
        Err(error) => {
            if !args.dump {
                let refused = session::not_run(&frame, &error.to_string());
                seam::standard::output().write_all(refused.as_bytes())?;
            }
            Failure::from(error).tell(context.output.is_json());
            return Ok(ExitCode::from(session::EXIT_NOT_RUN));
        }
    };
    system.notes().iter().for_each(warn);
    let done = in_system(context, args, &frame, &system);
    match (done, system.close()) {
        (Ok(code), Ok(())) => Ok(code),
        (Ok(_), Err(error)) => Err(error.into()),
        (Err(failure), _) => Err(failure),
    }
}

fn in_system(
    context: &Context,
    args: &MqscArgs,
    frame: &Frame,
    system: &AnySystem,
) -> Result<ExitCode> {
    let _alone = system.alone()?;
    let options = messages::options(&frame.manager, &context.seam);
    let manager: QueueManager<AnyStore> = QueueManager::open(&system.databases(), options)
        .map_err(|error| Failure::Error(Box::new(error)))?;
    if args.dump {
        let now_ms = context.seam.clock.utc_us() / 1_000;
        let selection = Selection { name: args.name.clone(), now_ms, ..Selection::default() };
        seam::standard::output().write_all(dump(&manager, &selection).as_bytes())?;
        return DONE;
    }
    let input = input_of(args)?;
    let console = Console::new(&manager.commanded_by(messages::operator()));
    let summary = session::run(frame, input, seam::standard::output(), |text| match args.check {
        true => console.verify(text),
        false => console.execute(text),
    })?;
    Ok(ExitCode::from(summary.exit_code()))
}

/// The process that has the system open carries the commands out.
fn in_use(context: &Context, args: &MqscArgs, frame: &Frame) -> Result<ExitCode> {
    let (dir, passphrase) = (&args.system.system, &args.system.passphrase);
    let mut failure = None;
    let summary = session::run(frame, input_of(args)?, seam::standard::output(), |text| {
        let asked = MqscRequest { text: text.to_owned(), check: args.check };
        if failure.is_none() {
            match perform(context, dir, passphrase, &Operation::Mqsc(asked)) {
                Ok(answer) => return answer,
                Err(error) => failure = Some(error),
            }
        }
        Answer { failed: true, ..Answer::default() }
    })?;
    match failure {
        Some(failure) => Err(failure),
        None => Ok(ExitCode::from(summary.exit_code())),
    }
}

#[allow(clippy::disallowed_methods)] // people's files are no part of a system
fn input_of(args: &MqscArgs) -> Result<Box<dyn BufRead>> {
    let Some(file) = &args.file else { return Ok(Box::new(io::stdin().lock())) };
    let opened = File::open(file).map_err(|error| {
        let what = format!("{}: {error}", file.display());
        Failure::other(what, "Name a file that can be read.")
    })?;
    Ok(Box::new(BufReader::new(opened)))
}
