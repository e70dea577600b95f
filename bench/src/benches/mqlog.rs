//! What logging messages of 1 MB costs: the table of the seed, from dual logs to everything sealed.

use std::time::Duration;

use queue_manager::options::value::{get, open, put};
use queue_manager::options::{ConnectOptions, GetOptions, Handle, ObjectDescriptor, PutOptions};
use queue_manager::{Connection, MessageDescriptor};
use store_kernel::KernelStore;

use super::mq::{Keeping, QUEUE, Site};
use super::{Benchmark, Context, PlotBuilder, track};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Track, Work, interleave, ratio};
use crate::kernel::failed;
use crate::ours::Form;
use crate::workload::{Deadline, Random};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "mqlog",
    title: "Logging messages of 1 MB",
    about: "Three programs put a persistent message of 1 MB, commit, get it, commit. Two copies of \
            the log, in clear; with an archive in two folders; with the archive sealed; with log \
            and pages sealed, too. Embedded callers, so that the CPU is the queue manager's, until \
            nothing waits to be archived; and once more by the message queue interface, with the \
            programs and what carries their messages.",
    takes: "3 minutes",
    run,
};

const PROGRAMS: usize = 3;
const MESSAGE_BYTES: usize = 1_000_000;
const POOL_BYTES: u64 = 256 << 20;
/// CPU for a megabyte of messages with everything.
const CPU_US_LIMIT: f64 = 600.0;
/// What sealing may make of it.
const SEALING_LIMIT: f64 = 1.1;
const STEPS: [(&str, Form, Option<Form>); 4] = [
    (LOGS, Form::Plain, None),
    (ARCHIVED, Form::Plain, Some(Form::Plain)),
    ("archive sealed", Form::Plain, Some(Form::Sealed)),
    (SEALED, Form::Sealed, Some(Form::Sealed)),
];
const LOGS: &str = "dual logs";
const ARCHIVED: &str = "dual logs and archives";
const SEALED: &str = "everything sealed";
const BY_PROGRAMS: &str = "everything sealed, by MQI";

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let settings =
        context.settings.with_slice(Duration::from_millis(1_000), Duration::from_millis(150));
    let pool_bytes = context.settings.pick(POOL_BYTES, 64 << 20);
    let mut sites = Vec::new();
    for (name, form, archive) in STEPS {
        let keeping = Keeping { form, log: form, archive, pool_bytes };
        sites.push((name, Site::create(&context.folder.join(name), keeping)?));
    }
    let mut message = vec![0; MESSAGE_BYTES];
    Random::new(1).fill(&mut message);
    let message = &message[..];
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (name, site) in &sites {
        entries.push(Entry::new(*name, move |slice| embedded(site, message, slice)));
    }
    if let Some((_, sealed)) = sites.last() {
        entries.push(Entry::new(BY_PROGRAMS, move |slice| by_programs(sealed, message, slice)));
    }
    let tracks = interleave(&settings, &mut entries)?;
    drop(entries);
    for (name, site) in &sites {
        site.confirm(0)?;
        let before = site.logged();
        one(site, message)?;
        let logged = (site.logged() - before) as f64 / MESSAGE_BYTES as f64;
        let figure = format!("logged_for_a_byte_{}", name.replace(' ', "_"));
        document.figures.insert(figure, Figure::single(logged, "bytes"));
    }
    let mut plot = PlotBuilder::new("CPU for a MB of messages", "us", Shape::Bars, "");
    plot.column("");
    plot.tracks(&tracks, cpu_a_megabyte);
    plot.finish(document);
    for one in &tracks {
        let suffix = format!("_{}", one.name.replace([' ', ','], "_").replace("__", "_"));
        document.add_ours(one, &suffix);
        let name = format!("cpu_a_mb{suffix}");
        document.figures.insert(name, Figure::new(&one.spread(cpu_a_megabyte), "us"));
    }
    judge(document, &tracks);
    Ok(())
}

fn cpu_a_megabyte(sample: &Sample) -> f64 {
    sample.cpu_seconds * 1e6 / (sample.work.bytes as f64 / 1e6)
}

fn judge(document: &mut Document, tracks: &[Track]) {
    let (Some(clear), Some(sealed)) = (track(tracks, ARCHIVED), track(tracks, SEALED)) else {
        return;
    };
    let cpu = sealed.spread(cpu_a_megabyte).median;
    let name = "a MB put and got, dual logs, archives, all sealed, CPU";
    document
        .checks
        .push(Check::at_most(name, Some(cpu), CPU_US_LIMIT, "us").noted("the seed: 2,640"));
    let added = ratio(sealed, clear, cpu_a_megabyte).median;
    let name = "the same against everything in clear";
    document.checks.push(Check::at_most(name, Some(added), SEALING_LIMIT, "x"));
}

/// A connection that puts and gets without a socket between.
struct Caller {
    connection: Connection<KernelStore>,
    handle: Handle,
    buffer: Vec<u8>,
}

fn refused(error: queue_manager::Failed) -> BenchError {
    failed(format!("a call ended with reason {}", error.0.0))
}

impl Caller {
    fn connect(site: &Site) -> Result<Caller> {
        let mut connection = site.manager.connect(ConnectOptions::default()).map_err(refused)?;
        let mut queue = ObjectDescriptor::queue(QUEUE);
        let opened = connection.open(&mut queue, open::INPUT_SHARED | open::OUTPUT);
        let handle = opened.map_err(refused)?.0;
        Ok(Caller { connection, handle, buffer: Vec::new() })
    }

    fn turn(&mut self, message: &[u8]) -> Result<()> {
        let Caller { connection, handle, buffer } = self;
        let mut descriptor = MessageDescriptor { persistence: 1, ..MessageDescriptor::default() };
        let mut options = PutOptions::new(put::SYNCPOINT);
        connection.put(*handle, &mut descriptor, &mut options, message).map_err(refused)?;
        connection.commit().map_err(refused)?;
        let mut options = GetOptions::new(get::SYNCPOINT);
        options.match_options = 0;
        let room = 2 * MESSAGE_BYTES;
        let got = connection.get(*handle, &mut descriptor, &mut options, room, buffer);
        got.map_err(refused)?;
        if buffer.len() != message.len() {
            return Err(failed("a message has another length"));
        }
        connection.commit().map(drop).map_err(refused)
    }
}

fn one(site: &Site, message: &[u8]) -> Result<()> {
    Caller::connect(site)?.turn(message)
}

/// Runs so many programs until the slice is over, and then until nothing waits to be archived.
fn programs<P: Send>(
    site: &Site,
    slice: Duration,
    connect: impl Fn() -> Result<P>,
    turn: impl Fn(&mut P) -> Result<()> + Sync,
) -> Result<Work> {
    site.forget_archives();
    let mut all = (0..PROGRAMS).map(|_| connect()).collect::<Result<Vec<P>>>()?;
    let deadline = Deadline::after(slice);
    let counts: Vec<Result<u64>> = std::thread::scope(|scope| {
        let turn = &turn;
        let body = move |program: &mut P| {
            let mut count = 0;
            deadline.until(|| {
                turn(program)?;
                count += 1;
                Ok(())
            })?;
            Ok(count)
        };
        let threads: Vec<_> = all.iter_mut().map(|one| scope.spawn(move || body(one))).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<u64>>| {
            thread.join().unwrap_or_else(|_| Err(failed("a program ended")))
        };
        threads.into_iter().map(join).collect()
    });
    let operations = counts.into_iter().sum::<Result<u64>>()?;
    site.settle()?;
    let bytes = operations * MESSAGE_BYTES as u64;
    Ok(Work { operations, bytes, latency: None })
}

fn embedded(site: &Site, message: &[u8], slice: Duration) -> Result<Work> {
    programs(site, slice, || Caller::connect(site), |caller| caller.turn(message))
}

fn by_programs(site: &Site, message: &[u8], slice: Duration) -> Result<Work> {
    programs(
        site,
        slice,
        || site.program(),
        |program| {
            program.put(message, true)?;
            program.commit()?;
            match program.get(true, Duration::from_secs(30))? {
                Some(length) if length == message.len() as u64 => program.commit(),
                _ => Err(failed("a message did not come, or with another length")),
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_of_the_table_moves_its_messages() {
        let context = super::super::tests::context("mqlog");
        for (name, form, archive) in STEPS {
            let keeping = Keeping { form, log: form, archive, pool_bytes: 16 << 20 };
            let site = Site::create(&context.folder.join(name), keeping).unwrap();
            let message = vec![1; MESSAGE_BYTES];
            let work = embedded(&site, &message, Duration::from_millis(20)).unwrap();
            assert_eq!(work.bytes, work.operations * MESSAGE_BYTES as u64);
            by_programs(&site, &message, Duration::from_millis(20)).unwrap();
            site.confirm(0).unwrap();
        }
        std::fs::remove_dir_all(&context.folder).unwrap();
    }
}
