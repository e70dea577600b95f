//! The subcommands: one file each. To add one, add its file, its arguments to [`Command`] and its
//! line to [`dispatch`].

mod amqp;
mod archive;
mod backout;
mod batch;
mod bench;
mod convert;
mod copy;
mod db;
mod demo;
mod dltest;
mod doctor;
mod doors;
mod drive;
mod engine;
mod r#gen;
mod guest;
mod idcams;
mod image_copy;
mod ims_bridge;
mod index;
mod init;
mod keys;
mod listen;
mod load;
mod log;
mod look;
mod manual;
mod map;
mod mapping;
mod message_channels;
mod messages;
mod r#move;
mod mq;
mod mq_clients;
mod mqsc;
mod on_engine;
mod online;
mod partition;
mod pgp;
mod pool;
mod protect;
mod recmap;
mod recon;
mod records;
mod recover;
mod redirect;
mod repair;
mod rest;
mod restart;
mod restore;
mod sets;
mod start;
mod status;
mod stop;
mod transactions;
mod unload;
mod verify;
mod web;

use std::process::ExitCode;

pub(crate) use mqsc::clear as mqsc_words;
pub(crate) use pgp::facility::{Rewritten, clear as facility_words};

use clap::{Parser, Subcommand};
use facility::Secrets;
use seam::Seam;

use crate::context::Context;
use crate::failure::{Failure, Result};
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
    Doctor(doctor::DoctorArgs),
    Restart(restart::RestartArgs),
    Protect(protect::ProtectArgs),
    Log(log::LogArgs),
    Sets(sets::SetsArgs),
    Archive(archive::ArchiveArgs),
    Pool(pool::PoolArgs),
    ImageCopy(image_copy::ImageCopyArgs),
    Recover(recover::RecoverArgs),
    Backout(backout::BackoutArgs),
    Recon(recon::ReconArgs),
    Restore(restore::RestoreArgs),
    Repair(repair::RepairArgs),
    Gen(r#gen::GenArgs),
    Batch(batch::BatchArgs),
    Dltest(dltest::DltestArgs),
    Start(start::StartArgs),
    Cmd(transactions::CmdArgs),
    Tran(transactions::TranArgs),
    Pgm(transactions::PgmArgs),
    Define(transactions::DefineArgs),
    User(transactions::UserArgs),
    Drive(drive::DriveArgs),
    Stop(stop::StopArgs),
    Idcams(idcams::IdcamsArgs),
    Copy(copy::CopyArgs),
    Recmap(recmap::RecmapArgs),
    Look(look::LookArgs),
    Redirect(redirect::RedirectArgs),
    Load(load::LoadArgs),
    Unload(unload::UnloadArgs),
    Index(index::IndexArgs),
    Db(db::DbArgs),
    Move(r#move::MoveArgs),
    Mqsc(mqsc::MqscArgs),
    Mq(mq::MqArgs),
    Engine(engine::EngineArgs),
    Bench(bench::BenchArgs),
    Demo(demo::DemoArgs),
    Pgp(pgp::PgpArgs),
    Manual(manual::ManualArgs),
    Completions(manual::CompletionsArgs),
    #[command(hide = true, name = demo::WORKER)]
    Worker(demo::WorkerArgs),
    #[command(hide = true, name = guest::NAME)]
    Guest(guest::GuestArgs),
    /// The process of a message region
    #[command(hide = true, name = guest::REGION)]
    RegionProcess,
}

/// Runs a command line.
pub(crate) fn run(cli: Cli, given: Secrets) -> Result<ExitCode> {
    let mut context = Context { seam: Seam::real(), output: Output::new(cli.json), given };
    let code = dispatch(&mut context, cli.command)?;
    context.output.flush()?;
    Ok(code)
}

/// Runs another command line within a command, silently.
fn again(context: &Context, words: &[String]) -> Result<ExitCode> {
    let cli = Cli::try_parse_from(words)
        .map_err(|error| Failure::usage(error, "Use the same release of Holdfast everywhere."))?;
    let mut silent =
        Context { seam: context.seam.clone(), output: Output::silent(), given: Secrets::default() };
    dispatch(&mut silent, cli.command)
}

fn dispatch(context: &mut Context, command: Command) -> Result<ExitCode> {
    match command {
        Command::Init(args) => init::run(context, &args),
        Command::Keys(args) => keys::run(context, &args),
        Command::Convert(args) => convert::run(context, &args),
        Command::Rekey(args) => convert::rekey(context, &args),
        Command::Status(args) => status::run(context, &args),
        Command::Verify(args) => verify::run(context, &args),
        Command::Doctor(args) => doctor::run(context, &args),
        Command::Restart(args) => restart::run(context, &args),
        Command::Protect(args) => protect::run(context, &args),
        Command::Log(args) => log::run(context, &args),
        Command::Sets(args) => sets::run(context, &args),
        Command::Archive(args) => archive::run(context, &args),
        Command::Pool(args) => pool::run(context, &args),
        Command::ImageCopy(args) => image_copy::run(context, &args),
        Command::Recover(args) => recover::run(context, &args),
        Command::Backout(args) => backout::run(context, &args),
        Command::Recon(args) => recon::run(context, &args),
        Command::Restore(args) => restore::run(context, &args),
        Command::Repair(args) => repair::run(context, &args),
        Command::Gen(args) => r#gen::run(context, &args),
        Command::Batch(args) => batch::run(context, &args),
        Command::Dltest(args) => dltest::run(context, &args),
        Command::Start(args) => start::run(context, &args),
        Command::Cmd(args) => transactions::command(context, &args),
        Command::Tran(args) => transactions::transactions(context, &args),
        Command::Pgm(args) => transactions::programs(context, &args),
        Command::Define(args) => transactions::define(context, &args),
        Command::User(args) => transactions::user(context, &args),
        Command::Drive(args) => drive::run(context, &args),
        Command::Stop(args) => stop::run(context, &args),
        Command::Idcams(args) => idcams::run(context, &args),
        Command::Copy(args) => copy::run(context, &args),
        Command::Recmap(args) => recmap::run(context, &args),
        Command::Look(args) => look::run(context, &args),
        Command::Redirect(args) => redirect::run(context, &args),
        Command::Load(args) => load::run(context, &args),
        Command::Unload(args) => unload::run(context, &args),
        Command::Index(args) => index::run(context, &args),
        Command::Db(args) => db::run(context, &args),
        Command::Move(args) => r#move::run(context, &args),
        Command::Mqsc(args) => mqsc::run(context, &args),
        Command::Mq(args) => mq::run(context, &args),
        Command::Engine(args) => engine::run(context, &args),
        Command::Bench(args) => bench::run(context, &args),
        Command::Demo(args) => demo::run(context, &args),
        Command::Pgp(args) => pgp::run(context, &args),
        Command::Manual(args) => manual::run(context, &args),
        Command::Completions(args) => manual::completions(context, &args),
        Command::Worker(args) => demo::work(context, &args),
        Command::Guest(args) => guest::run(context, &args),
        Command::RegionProcess => guest::run_region(),
    }
}

/// A command that is done.
const DONE: Result<ExitCode> = Ok(ExitCode::SUCCESS);
