//! Restart after a kill, and what checkpoints cost those who wait for an answer.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::child::{ChildArguments, Load};
use super::commit::drive;
use super::{Benchmark, Context, PlotBuilder};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Spread, interleave, ratio};
use crate::ours::{Checkpoints, Form, Kernel, Store, StoreSetup};
use crate::peers::postgres::{self, Server};
use crate::workload;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "restart",
    title: "Restart and checkpoints",
    about: "A process under load is killed (SIGKILL) with 1 GiB of log since its checkpoint, and \
            opened again; then once more with checkpoints as shipped. Beside it PostgreSQL after \
            an immediate stop. Last, answers with 8 in flight while checkpoints are taken one \
            after the other, against the same without.",
    takes: "5 minutes",
    run,
};

const REDO_MB_S: f64 = 150.0;
const RESTART_SECONDS: f64 = 10.0;
const TAIL_RATIO: f64 = 2.0;
const POOL_BYTES: u64 = 512 << 20;
const IN_FLIGHT: usize = 8;

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let records = context.settings.pick(1_000_000, 100_000);
    let log_bytes = context.settings.pick(1 << 30, 64 << 20);
    let mut plot = PlotBuilder::new("Log read and applied at restart", "MB/s", Shape::Bars, "");
    plot.column("");
    let mut redo = None;
    let mut shipped = None;
    if let Some(kernel) = context.kernel {
        let measured = redo_rate(context, kernel, records, log_bytes, document)?;
        let quartiles = [measured.first_quartile, measured.third_quartile];
        plot.value("Holdfast", measured.median, Some(quartiles));
        redo = Some(measured.median);
        shipped = Some(as_shipped(context, kernel, records, document)?);
    }
    if let Some(rate) = postgres_redo_rate(context, records, log_bytes, document)? {
        plot.value(postgres::NAME, rate, None);
    }
    plot.finish(document);
    let tail = match context.kernel {
        Some(kernel) => Some(tail_ratio(context, kernel, records, document)?),
        None => None,
    };
    let name = format!("redo of {} MiB of log after a kill", log_bytes >> 20);
    document.checks.push(Check::at_least(&name, redo, REDO_MB_S, "MB/s"));
    let name = "restart after a kill, checkpoints as shipped";
    document.checks.push(Check::at_most(name, shipped, RESTART_SECONDS, "s"));
    let name = "response p99 during checkpoints against without";
    document.checks.push(Check::at_most(name, tail, TAIL_RATIO, "x"));
    Ok(())
}

/// Loads, kills, opens: the spread of the redo rates in MB/s.
fn redo_rate(
    context: &Context,
    kernel: &dyn Kernel,
    records: u64,
    log_bytes: u64,
    document: &mut Document,
) -> Result<Spread> {
    let mut rates = Vec::new();
    let mut seconds = Vec::new();
    for round in 0..context.settings.pick(3, 1) {
        let folder = fresh(context, &format!("kill-{round}"))?;
        let arguments = ChildArguments::until_log(&folder, records, POOL_BYTES, log_bytes);
        let (taken, redo_rate) = kill_and_open(kernel, &arguments, records)?;
        eprintln!("    killed; open again after {taken:.2} s, redo {redo_rate:.0} MB/s");
        seconds.push(taken);
        rates.push(redo_rate);
        let _ = fs::remove_dir_all(&folder);
    }
    let rates = Spread::of(rates);
    document.figures.insert("redo_rate".into(), Figure::new(&rates, "MB/s"));
    let seconds = Spread::of(seconds);
    document.figures.insert("restart_seconds".into(), Figure::new(&seconds, "s"));
    Ok(rates)
}

fn as_shipped(
    context: &Context,
    kernel: &dyn Kernel,
    records: u64,
    document: &mut Document,
) -> Result<f64> {
    let folder = fresh(context, "shipped")?;
    let load_seconds = context.settings.pick(60, 5);
    let arguments = ChildArguments::for_seconds(&folder, records, POOL_BYTES, load_seconds);
    let (taken, _) = kill_and_open(kernel, &arguments, records)?;
    document.figures.insert("restart_as_shipped".into(), Figure::single(taken, "s"));
    let _ = fs::remove_dir_all(&folder);
    Ok(taken)
}

/// Seconds until the store takes calls again, and its redo rate in MB/s.
fn kill_and_open(
    kernel: &dyn Kernel,
    arguments: &ChildArguments,
    records: u64,
) -> Result<(f64, f64)> {
    let mut load = Load::start(arguments)?;
    load.wait_ready()?;
    load.kill()?;
    let begin = Instant::now();
    let (store, restart) = kernel.open_store(&arguments.setup())?;
    let taken = begin.elapsed().as_secs_f64();
    let found = count(&*store)?;
    if found != records {
        let reason = format!("{records} records were loaded, {found} are there after a kill");
        return Err(BenchError::subject("holdfast", "keep every record", reason));
    }
    Ok((taken, restart.redo_bytes as f64 / 1e6 / restart.redo_seconds))
}

fn count(store: &dyn Store) -> Result<u64> {
    let mut session = store.session()?;
    let mut records = 0;
    session.scan(&workload::key(0), &mut |_, _| {
        records += 1;
        true
    })?;
    Ok(records)
}

fn postgres_redo_rate(
    context: &Context,
    records: u64,
    log_bytes: u64,
    document: &mut Document,
) -> Result<Option<f64>> {
    let mut server = match context.postgres() {
        Err(error @ BenchError::Missing { .. }) => {
            document.add_missing(postgres::NAME, &error.to_string());
            return Ok(None);
        }
        other => other?,
    };
    server.load(records)?;
    document.describe_peer(postgres::NAME, &server.version()?, &Server::settings());
    while server.log_bytes_since_checkpoint()? < log_bytes {
        server.update_all()?;
    }
    let written = server.log_bytes_since_checkpoint()?;
    server.crash()?;
    let seconds = server.start()?.as_secs_f64();
    let rate = written as f64 / 1e6 / seconds;
    eprintln!("    {}: open again after {seconds:.2} s, redo {rate:.0} MB/s", postgres::NAME);
    let figures = &mut document.peers.entry(postgres::NAME.into()).or_default().figures;
    figures.insert("redo_rate".into(), Figure::single(rate, "MB/s"));
    figures.insert("restart_seconds".into(), Figure::single(seconds, "s"));
    figures.insert("redo_bytes".into(), Figure::single(written as f64, "B"));
    document.notes.push(POSTGRES_KIND.into());
    Ok(Some(rate))
}

const POSTGRES_KIND: &str = "PostgreSQL's log comes from updates of the whole table in key order, \
                             which are easier to redo than random ones; its rate counts the whole \
                             start.";

/// Slices with checkpoints one after the other against slices without: the ratio of the p99s.
fn tail_ratio(
    context: &Context,
    kernel: &dyn Kernel,
    records: u64,
    document: &mut Document,
) -> Result<f64> {
    let folder = fresh(context, "tail")?;
    let (form, checkpoints) = (Form::Sealed, Checkpoints::OnlyWhenAsked);
    let setup =
        StoreSetup { folder, form, copies: 2, pool_bytes: POOL_BYTES, checkpoints, buffered: true };
    let store = kernel.create_store(&setup)?;
    store.load(&mut (0..records).map(|id| (workload::key(id), workload::value(id))))?;
    let store = &*store;
    let mut entries = [
        Entry::new("without checkpoints", |slice| drive(store, records, IN_FLIGHT, slice)),
        Entry::new("during checkpoints", |slice| {
            let over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let checkpoints = scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        store.checkpoint()?;
                    }
                    Ok(())
                });
                let work = drive(store, records, IN_FLIGHT, slice);
                over.store(true, Ordering::Relaxed);
                checkpoints.join().expect("a checkpoint does not panic")?;
                work
            })
        }),
    ];
    let settings = context.settings.with_slice(Duration::from_secs(2), Duration::from_millis(300));
    let tracks = interleave(&settings, &mut entries)?;
    document.add_ours(&tracks[0], "_without_checkpoints");
    document.add_ours(&tracks[1], "_during_checkpoints");
    let p99 = |sample: &Sample| sample.work.latency.as_ref().map_or(f64::NAN, |l| l.p99 as f64);
    let spread = ratio(&tracks[1], &tracks[0], p99);
    let figure = Figure::new(&spread, "x");
    document.figures.insert("latency_p99_during_checkpoints_against_without".into(), figure);
    Ok(spread.median)
}

fn fresh(context: &Context, name: &str) -> Result<std::path::PathBuf> {
    let folder = context.folder.join(name);
    fs::create_dir_all(&folder).map_err(BenchError::system("create", &folder))?;
    Ok(folder)
}
