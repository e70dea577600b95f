//! The subcommands: one file each. To add one, add its file, its arguments to [`Command`] and its
//! line to [`run`].

mod archive;
mod batch;
mod bench;
mod convert;
mod db;
mod demo;
mod dltest;
mod r#gen;
mod guest;
mod image_copy;
mod index;
mod init;
mod keys;
mod load;
mod log;
mod partition;
mod pool;
mod recon;
mod recover;
mod restart;
mod restore;
mod sets;
mod start;
mod status;
mod stop;
mod unload;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use seam::Seam;

use crate::failure::Result;
use crate::output::Output;

/// Holdfast: an encrypted transaction platform.
///
/// A system is a folder: configuration, keys, log and data sets. `init` makes one; the other
/// commands take its folder first. Exit codes: 0 done, 1 failed, 2 wrong usage.
#[derive(Parser, Debug)]
#[command(name = "holdfast", version, max_term_width = 100)]
#[command(after_help = "Example: holdfast init /srv/bank && holdfast status /srv/bank")]
pub(crate) struct Cli {
    /// Print results, and errors, as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Init(init::InitArgs),
    Keys(keys::KeysArgs),
    Convert(convert::ConvertArgs),
    Rekey(convert::RekeyArgs),
    Status(status::StatusArgs),
    Verify(verify::VerifyArgs),
    Restart(restart::RestartArgs),
    Log(log::LogArgs),
    Sets(sets::SetsArgs),
    Archive(archive::ArchiveArgs),
    Pool(pool::PoolArgs),
    ImageCopy(image_copy::ImageCopyArgs),
    Recover(recover::RecoverArgs),
    Recon(recon::ReconArgs),
    Restore(restore::RestoreArgs),
    Gen(r#gen::GenArgs),
    Batch(batch::BatchArgs),
    Dltest(dltest::DltestArgs),
    Start(start::StartArgs),
    Stop(stop::StopArgs),
    Load(load::LoadArgs),
    Unload(unload::UnloadArgs),
    Index(index::IndexArgs),
    Db(db::DbArgs),
    Bench(bench::BenchArgs),
    Demo(demo::DemoArgs),
    #[command(hide = true, name = demo::WORKER)]
    Worker(demo::WorkerArgs),
    #[command(hide = true, name = guest::NAME)]
    Guest(guest::GuestArgs),
}

/// What every subcommand is given.
pub(crate) struct Context {
    /// Disk, clock, entropy.
    pub(crate) seam: Seam,
    /// Standard output.
    pub(crate) output: Output,
}

/// Runs a command line.
pub(crate) fn run(cli: Cli) -> Result<ExitCode> {
    // Whatever the command reads next, it may be a secret (K22). What the operating system refuses
    // is said by whoever opens a system.
    let _notes = system::hygiene::protect_process();
    let mut context = Context { seam: Seam::real(), output: Output::new(cli.json) };
    let code = match cli.command {
        Command::Init(args) => init::run(&mut context, &args),
        Command::Keys(args) => keys::run(&mut context, &args),
        Command::Convert(args) => convert::run(&mut context, &args),
        Command::Rekey(args) => convert::rekey(&mut context, &args),
        Command::Status(args) => status::run(&mut context, &args),
        Command::Verify(args) => verify::run(&mut context, &args),
        Command::Restart(args) => restart::run(&mut context, &args),
        Command::Log(args) => log::run(&mut context, &args),
        Command::Sets(args) => sets::run(&mut context, &args),
        Command::Archive(args) => archive::run(&mut context, &args),
        Command::Pool(args) => pool::run(&mut context, &args),
        Command::ImageCopy(args) => image_copy::run(&mut context, &args),
        Command::Recover(args) => recover::run(&mut context, &args),
        Command::Recon(args) => recon::run(&mut context, &args),
        Command::Restore(args) => restore::run(&mut context, &args),
        Command::Gen(args) => r#gen::run(&mut context, &args),
        Command::Batch(args) => batch::run(&mut context, &args),
        Command::Dltest(args) => dltest::run(&mut context, &args),
        Command::Start(args) => start::run(&mut context, &args),
        Command::Stop(args) => stop::run(&mut context, &args),
        Command::Load(args) => load::run(&mut context, &args),
        Command::Unload(args) => unload::run(&mut context, &args),
        Command::Index(args) => index::run(&mut context, &args),
        Command::Db(args) => db::run(&mut context, &args),
        Command::Bench(args) => bench::run(&context, &args),
        Command::Demo(args) => demo::run(&mut context, &args),
        Command::Worker(args) => demo::work(&context, &args),
        Command::Guest(args) => guest::run(&context, &args),
    }?;
    context.output.flush()?;
    Ok(code)
}

/// A command that is done.
const DONE: Result<ExitCode> = Ok(ExitCode::SUCCESS);
