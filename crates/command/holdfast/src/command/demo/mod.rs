//! `holdfast demo`: a bank that is killed again and again and loses nothing.
//!
//! | file | owns |
//! |---|---|
//! | `bank` | accounts, transfers, the journal |
//! | `ledger` | the proof that nothing is lost, halved or doubled |
//! | `worker`, `frames`, `child` | the process that transfers, and how it is listened to and killed |
//! | `torture` | files spoilt at random, and repaired |
//! | `disaster` | what is spoilt beyond repairing, and put back or restored |
//! | `figures` | what was measured |

mod bank;
mod child;
mod disaster;
mod figures;
mod frames;
mod ledger;
mod torture;
mod worker;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, value_parser};
use seal::{Format, KdfCost, Passphrase};
use system::{InitOptions, System};

use super::DONE;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::warn;
use crate::progress::Progress;
use crate::text::{count, microseconds};
use bank::Bank;
use child::{Worker, WorkerState};
use figures::{Figures, Load};
use ledger::Ledger;
use torture::Torture;
pub(crate) use worker::WorkerArgs;

/// The hidden subcommand that the working process runs.
pub(crate) const WORKER: &str = "demo-worker";

/// Demonstrate a system: a bank under load, killed again and again, proven each time
///
/// Makes a sealed system with two copies of the log, loads accounts, transfers between them in a
/// process that is killed with SIGKILL in the middle, restarts it, and proves that every transfer
/// that was acknowledged is there exactly once. Then prints figures.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast demo --seconds 60 --dir /srv/demo")]
pub(crate) struct DemoArgs {
    /// How long it may take, about
    #[arg(long, default_value_t = 120, value_name = "N")]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    seconds: u64,
    /// Where to make the system, and to leave it; without it a temporary folder is used
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// How often to kill the working process
    #[arg(long, default_value_t = 5, value_name = "N")]
    kills: u32,
    /// How often to spoil files at random, besides, and have them repaired; fewer times if the
    /// seconds are over before
    #[arg(long, default_value_t = 0, value_name = "N")]
    damage: u32,
    /// How many accounts the bank has
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    #[arg(value_parser = value_parser!(u32).range(2..100_000_000))]
    accounts: u32,
    /// Threads that transfer
    #[arg(long, default_value_t = 2, value_name = "N")]
    #[arg(value_parser = value_parser!(u16).range(1..1000))]
    threads: u16,
    /// How many transfers each life of the working process makes at most, though there be time
    #[arg(long, value_name = "N")]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    transfers: Option<u64>,
    /// Make the system in clear, to see what sealing hides
    #[arg(long)]
    plain: bool,
    /// Do not measure what encryption costs
    #[arg(long)]
    no_comparison: bool,
}

/// What all parts of a demonstration share.
pub(crate) struct Setup {
    pub(crate) passphrase: String,
    pub(crate) accounts: u32,
    pub(crate) threads: u16,
    pub(crate) transfers: Option<u64>,
    quick: bool,
}

/// The passphrase of a demonstration: it is printed, for it protects nothing.
const PASSPHRASE: &str = "demo";
/// With more kills than this, or less to do, everything is small: it is a test then.
const KILLS_SHOWN_MAX: u32 = 20;

pub(super) fn run(context: &mut Context, args: &DemoArgs) -> Result<ExitCode> {
    let setup = Setup {
        passphrase: PASSPHRASE.into(),
        accounts: args.accounts,
        threads: args.threads,
        transfers: args.transfers,
        quick: args.kills > KILLS_SHOWN_MAX
            || args.seconds < 20
            || args.damage > 0
            || args.transfers.is_some(),
    };
    let place = match &args.dir {
        Some(dir) => Place { base: dir.clone(), kept: true },
        None => {
            let name = format!("holdfast-demo-{}", std::process::id());
            Place { base: std::env::temp_dir().join(name), kept: false }
        }
    };
    let mut stage = Stage::new(context);
    let figures = play(context, args, &setup, &place, &mut stage)?;
    drop(stage);
    match context.output.is_json() {
        true => context.output.document(&figures)?,
        false => tell(context, &figures, &place)?,
    }
    let holds = figures.violations.is_empty() && figures.findings == 0;
    if holds { DONE } else { Ok(ExitCode::FAILURE) }
}

/// The working process's side.
pub(super) fn work(context: &Context, args: &WorkerArgs) -> Result<ExitCode> {
    match worker::work(&context.seam, args) {
        true => DONE,
        false => Ok(ExitCode::FAILURE),
    }
}

/// Where the demonstration lies; removed at the end unless it was asked for.
struct Place {
    base: PathBuf,
    kept: bool,
}

impl Place {
    fn system(&self) -> PathBuf {
        self.base.join("bank")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.kept {
            remove_folder(&self.base);
        }
    }
}

/// Says what happens, on standard error.
struct Stage {
    progress: Progress,
}

impl Stage {
    fn new(context: &Context) -> Stage {
        Stage { progress: Progress::new(&context.seam) }
    }

    /// A line that stays.
    fn act(&mut self, text: &str) {
        self.progress.clear();
        eprintln!("{text}");
    }
}

fn play(
    context: &Context,
    args: &DemoArgs,
    setup: &Setup,
    place: &Place,
    stage: &mut Stage,
) -> Result<Figures> {
    let begun = context.seam.clock.monotonic();
    let mut figures = Figures { accounts: args.accounts, ..Figures::default() };
    let dir = place.system();
    let format = if args.plain { Format::Plain } else { Format::Sealed };
    stage.act(&format!("making a {format} system with two logs in {}", dir.display()));
    make_system(context, setup, &dir, format)?;
    let system = open_system(context, setup, &dir)?;
    stage.act(&format!("loading {} accounts", count(u64::from(args.accounts))));
    let start = context.seam.clock.monotonic();
    Bank::found(system.store(), args.accounts)?;
    figures.load_ms = (context.seam.clock.monotonic() - start).as_secs_f64() * 1e3;
    system.close()?;

    // The comparison, and all restarts, take their share of the time.
    let total = args.seconds as f64;
    let compared = if args.no_comparison { 0.0 } else { (total / 8.0).clamp(2.0, 12.0) };
    let spent = (context.seam.clock.monotonic() - begun).as_secs_f64();
    let left = (total - spent - 2.0 * compared).max(0.2 * f64::from(args.kills + 1));
    let mut runs = Runs {
        context,
        setup,
        dir: &dir,
        ledger: Ledger::new(args.accounts),
        load: Load::default(),
        last: frames::Progress::default(),
    };
    if args.damage > 0 {
        runs.tortured(args, place, &mut figures, stage)?;
    }
    for run in (1..=args.kills + 1).filter(|_| args.damage == 0) {
        let rest = left - (context.seam.clock.monotonic() - begun).as_secs_f64() + spent;
        let share = (rest / f64::from(args.kills + 2 - run)).max(0.1);
        let killed = run <= args.kills;
        runs.one(run, share, killed, &mut figures, stage)?;
        if !figures.violations.is_empty() {
            break;
        }
    }
    figures.add(&runs.load);
    figures.response_us_p50 = runs.last.response_us_p50;
    figures.response_us_p99 = runs.last.response_us_p99;
    figures.serial_share = runs.last.serial_share;
    verify(context, setup, &dir, &mut figures, stage)?;
    if !args.no_comparison {
        stage.act("measuring what encryption costs: the same load in clear and sealed, in turn");
        let say = &mut |text: &str| stage.progress.say(text);
        let cost = figures::cost_of_encryption(context, setup, &place.base, compared, say)?;
        figures.encryption = Some(cost);
    }
    Ok(figures)
}

/// The lives of the working process.
struct Runs<'a> {
    context: &'a Context,
    setup: &'a Setup,
    dir: &'a Path,
    ledger: Ledger,
    load: Load,
    last: frames::Progress,
}

impl Runs<'_> {
    /// Lives after which the system is spoilt and repaired.
    fn tortured(
        &mut self,
        args: &DemoArgs,
        place: &Place,
        figures: &mut Figures,
        stage: &mut Stage,
    ) -> Result<()> {
        let passphrase = place.base.join("passphrase");
        seam::fresh::replace_small(&*self.context.seam.disk, &passphrase, PASSPHRASE.as_bytes())?;
        let mut torture = Torture::new(self.context, self.dir, &place.base)?;
        torture.prepare()?;
        let begun = self.context.seam.clock.monotonic();
        let share = args.seconds as f64 / f64::from(args.damage) / 4.0;
        for run in 1..=args.damage {
            let mut worker = Worker::start(self.dir, self.setup, run)?;
            self.watch(&mut worker, share.min(3.0), figures.kills, stage)?;
            let acted = torture.operate();
            let killed = run % 3 != 0;
            let mut state = if killed { worker.kill()? } else { worker.finish()? };
            if let Some(text) = &state.error {
                return Err(child::reported(text));
            }
            figures.kills += u32::from(killed);
            let acted = acted.map_err(|failure| failure.within("an operator's command"))?;
            let done = torture.round()?;
            stage.act(&format!("{run}: {acted}; then {done}"));
            self.prove(run, killed, &mut state, figures, stage)?;
            let spent = (self.context.seam.clock.monotonic() - begun).as_secs_f64();
            if !figures.violations.is_empty() || spent > args.seconds as f64 {
                break;
            }
        }
        Ok(())
    }

    /// One life: start, watch, kill or finish, restart, prove.
    fn one(
        &mut self,
        run: u32,
        seconds: f64,
        killed: bool,
        figures: &mut Figures,
        stage: &mut Stage,
    ) -> Result<()> {
        let mut worker = Worker::start(self.dir, self.setup, run)?;
        self.watch(&mut worker, seconds, figures.kills, stage)?;
        let mut state = if killed { worker.kill()? } else { worker.finish()? };
        self.load.add(&state.so_far);
        if state.so_far.transfers > 0 {
            self.last = state.so_far.clone();
        }
        if let Some(text) = &state.error {
            return Err(child::reported(text));
        }
        figures.kills += u32::from(killed);
        self.prove(run, killed, &mut state, figures, stage)
    }

    /// Watches the process work for about so many seconds.
    fn watch(
        &self,
        worker: &mut Worker,
        seconds: f64,
        kills: u32,
        stage: &mut Stage,
    ) -> Result<()> {
        let clock = &self.context.seam.clock;
        let begun = clock.monotonic();
        let mut before = (0.0, 0);
        let mut rate = 0.0;
        loop {
            clock.sleep(Duration::from_millis(if self.setup.quick { 5 } else { 50 }));
            let now = (clock.monotonic() - begun).as_secs_f64();
            let (ready, so_far, acknowledged) = worker.so_far();
            if now - before.0 >= 0.5 {
                rate = (acknowledged - before.1) as f64 / (now - before.0);
                before = (now, acknowledged);
            }
            stage.progress.say(&format!(
                "{} transfers/s, half answered within {}, 99 % within {}; {} in all, {kills} kills",
                count(rate as u64),
                microseconds(so_far.response_us_p50),
                microseconds(so_far.response_us_p99),
                count(acknowledged as u64 + self.ledger.transfers),
            ));
            if worker.has_ended() {
                return Ok(()); // What it has to say is heard where it is ended.
            }
            let enough = self.setup.transfers.is_some_and(|max| acknowledged as u64 >= max);
            if ready.is_some() && acknowledged > 0 && (enough || now >= seconds) {
                return Ok(());
            }
            if now > seconds + PATIENCE_SECONDS {
                let what = "the working process does not get to work";
                return Err(Failure::other(what, "Look at its system with `holdfast status`."));
            }
        }
    }

    /// Restarts the system and holds the bank against the ledger.
    fn prove(
        &mut self,
        run: u32,
        killed: bool,
        state: &mut WorkerState,
        figures: &mut Figures,
        stage: &mut Stage,
    ) -> Result<()> {
        let system = open_system(self.context, self.setup, self.dir)?;
        let Some(bank) = Bank::find(system.store())? else {
            figures.violations.push("the bank's sets are gone".into());
            return Ok(());
        };
        let before = self.ledger.transfers;
        let acknowledged = state.acknowledged.len() as u64;
        let wrong = self.ledger.prove(system.store(), &bank, run, &mut state.acknowledged)?;
        let journaled = self.ledger.transfers - before;
        figures.acknowledged += acknowledged;
        figures.journaled += journaled;
        let restart = system.status().restart;
        let restart_ms = restart.as_ref().map_or(0.0, |restart| restart.elapsed_ms);
        if killed {
            figures.restart_ms.push(restart_ms);
            figures.backed_out += restart.map_or(0, |restart| restart.backed_out);
        }
        system.close()?;
        let verdict = if wrong.is_empty() { "all there, exactly once" } else { "NOT ALL IS WELL" };
        let event = if killed { "killed" } else { "ended in order" };
        if !self.setup.quick || !wrong.is_empty() {
            stage.act(&format!(
                "{event} after {} transfers acknowledged; restart took {restart_ms:.0} ms; \
                 {} in the journal: {verdict}",
                count(acknowledged),
                count(journaled)
            ));
        }
        figures.violations.extend(wrong);
        Ok(())
    }
}

/// A working process that has acknowledged nothing for so long never will.
const PATIENCE_SECONDS: f64 = 60.0;

fn verify(
    context: &Context,
    setup: &Setup,
    dir: &Path,
    figures: &mut Figures,
    stage: &mut Stage,
) -> Result<()> {
    let passphrase = Passphrase::from(setup.passphrase.as_str());
    let report = system::verify(&context.seam, dir, &passphrase, &mut |phase| {
        stage.progress.show(phase.object, phase.done, phase.total, phase.unit);
    })?;
    figures.findings = report.findings.len();
    let verdict = match figures.findings {
        0 => "everything on disk proves itself".to_owned(),
        many => format!("{many} things are wrong on disk; run `holdfast verify`"),
    };
    stage.act(&verdict);
    Ok(())
}

pub(crate) fn make_system(
    context: &Context,
    setup: &Setup,
    dir: &Path,
    format: Format,
) -> Result<()> {
    let mut options = InitOptions { cost: KdfCost::default(), ..InitOptions::default() };
    let config = &mut options.config;
    config.log.copies = vec!["log".into(), "log-copy".into()];
    config.log.segment_bytes.0 = 32 << 20;
    (config.log.format, config.data.format) = (format, format);
    if setup.quick {
        options.cost = KdfCost { memory_kib: 1024, passes: 1, lanes: 1 };
        config.log.segment_bytes.0 = 8 << 20;
        config.pools.values_mut().for_each(|pool| pool.bytes.0 /= 8);
        config.checkpoint.log_bytes.0 = 8 << 20;
        config.checkpoint.redo_bytes_max.0 = 16 << 20;
    }
    let passphrase = Passphrase::from(setup.passphrase.as_str());
    System::init(&context.seam, dir, &passphrase, &options)?;
    Ok(())
}

pub(crate) fn open_system(context: &Context, setup: &Setup, dir: &Path) -> Result<System> {
    let passphrase = Passphrase::from(setup.passphrase.as_str());
    Ok(System::open(&context.seam, dir, &passphrase, crate::operate::options())?)
}

/// Removes a folder that the demonstration made.
pub(crate) fn remove_folder(dir: &Path) {
    if let Err(error) = std::fs::remove_dir_all(dir)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        warn(format!("{} cannot be removed: {error}", dir.display()));
    }
}

fn tell(context: &mut Context, figures: &Figures, place: &Place) -> Result<()> {
    let output = &mut context.output;
    output.line("")?;
    let slowest = figures.restart_ms.iter().copied().fold(0.0, f64::max);
    let proof = if figures.violations.is_empty() { "holds" } else { "FAILS" };
    output.line(format!(
        "the proof {proof}: {} kills, {} transfers acknowledged, {} in the journal",
        figures.kills,
        count(figures.acknowledged),
        count(figures.journaled)
    ))?;
    for violation in &figures.violations {
        output.line(format!("  {violation}"))?;
    }
    let loaded = f64::from(figures.accounts) / figures.load_ms.max(0.001) * 1e3;
    let rows: Vec<(&str, String)> = vec![
        ("load of accounts", format!("{}/s", count(loaded as u64))),
        ("transfers", format!("{}/s", count(figures.transfers_per_second as u64))),
        ("response, half within", microseconds(figures.response_us_p50)),
        ("response, 99 % within", microseconds(figures.response_us_p99)),
        ("CPU time a transfer", format!("{:.1} us", figures.cpu_us_per_transfer)),
        ("log, each of two copies", format!("{:.1} MB/s", figures.log_megabytes_per_second)),
        ("transfers a log write", format!("{:.1}", figures.transfers_per_log_write)),
        ("serial share", format!("{:.4}", figures.serial_share)),
        ("slowest restart", format!("{slowest:.0} ms")),
        ("backed out by restarts", count(figures.backed_out)),
    ];
    for (name, value) in rows {
        output.line(format!("  {name:<26} {value:>14}"))?;
    }
    if let Some(encryption) = &figures.encryption {
        output.line(format!(
            "  {:<26} {:>+12.1} % of CPU time ({:.1} us clear, {:.1} us sealed; a short run)",
            "encryption",
            encryption.cost_percent,
            encryption.plain_cpu_us_per_transfer,
            encryption.sealed_cpu_us_per_transfer
        ))?;
    }
    output.line("")?;
    let dir = place.system();
    let dir = dir.display();
    if place.kept {
        output.line(format!(
            "the system is in {dir}, its passphrase is \"{PASSPHRASE}\"; look at it:"
        ))?;
        output.line(format!("  export HOLDFAST_PASSPHRASE={PASSPHRASE}"))?;
        for line in ["status", "verify", "log segments", "keys list"] {
            output.line(format!("  holdfast {line} {dir}"))?;
        }
        return Ok(());
    }
    output.line("make your own:  holdfast init DIR;  holdfast --help  says what else there is")
}
