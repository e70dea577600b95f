//! Transactions of 24 DL/I calls over full-function databases, beside the same in PostgreSQL.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::CStr;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ::drive::{Ask, Flow, Random as Chance};
use base::stats::Histogram;
use otma::Segments;
use parking_lot::Mutex;
use store::CommitSink;

use super::bureau::{self, Caller, Size, Wanted};
use super::cobol::write;
use super::msgqueue::Quiet;
use super::started::{System, quoted, terminals};
use super::{Benchmark, Context, PlotBuilder, track};
use crate::databases::Site;
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Track, Work, interleave, ratio};
use crate::kernel::failed;
use crate::ours::{Checkpoints, Form, StoreSetup};
use crate::peers::postgres::{self, Callers, Server, Statement};
use crate::workload::{self, Deadline, Random};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "fullfunction",
    title: "Transactions over full-function databases",
    about: "The bureau's inventory, hotel and warehouse transactions of apps/bank/online, 24 DL/I \
            calls each over HDAM, HIDAM and PHIDAM, durable, 64 in flight: an embedded caller, \
            sealed and plain; a started system with COBOL regions and 64 terminals over TCP, \
            without the driver's CPU; PostgreSQL with 64 clients, the same in stored procedures.",
    takes: "3 minutes",
    run,
};

const IN_FLIGHT: usize = 64;
const POOL_BYTES: u64 = 256 << 20;
const EMBEDDED_US_LIMIT: f64 = 30.0;
const COBOL_US_LIMIT: f64 = 90.0;
const SEALING_PERCENT_LIMIT: f64 = 4.0;
const PEER_LIMIT: f64 = 3.0;

const SEALED: &str = "embedded, sealed";
const PLAIN: &str = "embedded, plain";
const COBOL: &str = "COBOL regions over TCP";

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let size = context.settings.pick(Size::FULL, Size::SMALL);
    let sides = [Form::Sealed, Form::Plain].map(|form| Embedded::new(context, form, size));
    let [sealed, plain] = sides;
    let (sealed, plain) = (sealed?, plain?);
    let online = online(context, document, size)?;
    let peer = peer(context, document, size)?;
    let mut entries = vec![
        Entry::new(SEALED, |slice| sealed.slice(IN_FLIGHT, slice)),
        Entry::new(PLAIN, |slice| plain.slice(IN_FLIGHT, slice)),
    ];
    if let Some(online) = &online {
        let entry = Entry::new(COBOL, |slice| online.slice(slice));
        entries.push(entry.with_scope(online.system.scope()));
    }
    if let Some(peer) = &peer {
        let entry = Entry::new(postgres::NAME, |slice| peer.slice(slice));
        entries.push(entry.with_scope(peer.server.scope()));
    }
    let tracks = interleave(&context.settings, &mut entries)?;
    drop(entries);
    sealed.confirm()?;
    plain.confirm()?;
    peer.as_ref().map_or(Ok(()), Peer::confirm)?;
    online.map_or(Ok(()), |mut online| online.system.stop())?;
    file(document, &tracks);
    document.notes.push(STATEMENTS.into());
    Ok(())
}

const STATEMENTS: &str = "PostgreSQL makes the gets within a parent that follow one another by one \
                          statement; all of a transaction is one call of a procedure and one \
                          round trip. The embedded caller has no messages; the COBOL regions take \
                          theirs from terminals over TCP and answer them. `cpu_per_operation` of \
                          the embedded caller and of PostgreSQL has the clients' CPU in it, that \
                          of COBOL regions has not.";

fn file(document: &mut Document, tracks: &[Track]) {
    for (name, suffix) in [(SEALED, "_sealed"), (PLAIN, "_plain"), (COBOL, "_cobol")] {
        if let Some(track) = track(tracks, name) {
            document.add_ours(track, suffix);
        }
    }
    if let Some(track) = track(tracks, postgres::NAME) {
        document.add_peer(postgres::NAME, track, "");
    }
    for (title, unit, of) in [
        ("CPU for a transaction", "us", Sample::cpu_us as fn(&Sample) -> f64),
        ("Transactions", "1/s", Sample::rate),
    ] {
        let mut plot = PlotBuilder::new(title, unit, Shape::Bars, "");
        plot.column("");
        plot.tracks(tracks, of);
        plot.finish(document);
    }
    let cpu = |name| track(tracks, name).map(|track| track.spread(Sample::cpu_us).median);
    let against = |a, b| Some(ratio(track(tracks, a)?, track(tracks, b)?, Sample::cpu_us));
    let name = "embedded, sealed, CPU for a transaction of 24 calls";
    document.checks.push(Check::at_most(name, cpu(SEALED), EMBEDDED_US_LIMIT, "us"));
    let name = "COBOL regions, sealed, CPU for a transaction of 24 calls";
    document.checks.push(Check::at_most(name, cpu(COBOL), COBOL_US_LIMIT, "us"));
    let sealing = against(SEALED, PLAIN).map(|spread| (spread.median - 1.0) * 100.0);
    let name = "what sealing adds, CPU";
    document.checks.push(Check::at_most(name, sealing, SEALING_PERCENT_LIMIT, "%"));
    for (name, side, figure) in [
        ("embedded, transactions for a CPU second against PostgreSQL", SEALED, "embedded"),
        ("COBOL regions, transactions for a CPU second against PostgreSQL", COBOL, "cobol"),
    ] {
        let times = against(postgres::NAME, side);
        if let Some(times) = &times {
            let figure = format!("against_postgresql_{figure}");
            document.figures.insert(figure, Figure::new(times, "x"));
        }
        let times = times.map(|times| times.median);
        document.checks.push(Check::at_least(name, times, PEER_LIMIT, "x"));
    }
}

/// The databases in a store within this process.
struct Embedded {
    caller: RefCell<Caller>,
    site: Site,
    size: Size,
    random: RefCell<Random>,
    sink: Arc<dyn CommitSink>,
    done: AtomicU64,
}

impl Embedded {
    fn new(context: &Context, form: Form, size: Size) -> Result<Embedded> {
        let folder = context.folder.join(form.words());
        std::fs::create_dir_all(&folder).map_err(BenchError::system("create", &folder))?;
        let checkpoints = Checkpoints::Default;
        let pool_bytes = context.settings.pick(POOL_BYTES, POOL_BYTES / 8);
        let setup = StoreSetup { folder, form, copies: 2, pool_bytes, checkpoints, buffered: true };
        let site = bureau::create(&setup, size)?;
        let caller = RefCell::new(Caller::new(&site, 1)?);
        let (random, sink) = (RefCell::new(Random::new(7)), Arc::new(Quiet));
        Ok(Embedded { caller, site, size, random, sink, done: AtomicU64::new(0) })
    }

    /// Transactions by one caller with queued commits, so many not yet durable.
    fn slice(&self, in_flight: usize, slice: Duration) -> Result<Work> {
        let log = self.site.store.kernel().log();
        let (deadline, latency) = (Deadline::after(slice), Histogram::default());
        let (mut caller, mut random) = (self.caller.borrow_mut(), self.random.borrow_mut());
        let mut waiting = VecDeque::with_capacity(in_flight);
        let (mut operations, mut now) = (0, Instant::now());
        loop {
            let over = deadline.passed_at(now);
            if !over {
                let reference = self.done.fetch_add(1, Ordering::Relaxed) + 1;
                let program = caller.transact(self.size.draw(&mut random), reference)?;
                // One caller never waits in a circle, so nothing was done again.
                if program.take_calls() != bureau::CALLS {
                    return Err(failed("a transaction has another number of calls"));
                }
                program.commit_queued(&self.sink)?;
                waiting.push_back((log.next_lsn(), now));
                now = Instant::now();
            }
            let Some((oldest, _)) = waiting.front() else { break };
            if !over && waiting.len() < in_flight {
                continue;
            }
            log.wait_durable(*oldest).map_err(failed)?;
            let durable = log.durable();
            now = Instant::now();
            while let Some((_, since)) = waiting.pop_front_if(|(at, _)| *at <= durable) {
                latency.record((now - since).as_nanos() as u64);
                operations += 1;
            }
        }
        Ok(Work { operations, bytes: 0, latency: workload::quantiles(&latency) })
    }

    /// Each transaction has left its segment.
    fn confirm(&self) -> Result<()> {
        same(bureau::done(&self.site, self.size)?, self.done.load(Ordering::Relaxed), "holdfast")
    }
}

fn same(found: u64, done: u64, subject: &'static str) -> Result<()> {
    match found == done {
        true => Ok(()),
        false => {
            let reason = format!("{done} transactions done, {found} found");
            Err(BenchError::subject(subject, "keep every transaction", reason))
        }
    }
}

/// A started system with the COBOL programs.
struct Online {
    system: System,
    address: SocketAddr,
    work: Arc<dyn ::drive::Work>,
}

/// What terminals send.
struct Terminals {
    size: Size,
    random: Mutex<Random>,
    next: AtomicU64,
}

impl ::drive::Work for Terminals {
    fn ask(&self, _terminal: u32, _number: u64, _chance: &mut Chance) -> Ask {
        let reference = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let wanted: Wanted = self.size.draw(&mut self.random.lock());
        let mut segments = Segments::new();
        // It is short.
        let _ = segments.push([0, 0], wanted.input(reference).as_bytes());
        Ask { segments, flow: Flow::Plain }
    }

    fn check(
        &self,
        _terminal: u32,
        _number: u64,
        ask: &Ask,
        reply: &Segments,
    ) -> std::result::Result<(), String> {
        let sent = ask.segments.data().next().and_then(|data| data.get(8..17));
        let reply: Vec<u8> = reply.data().flatten().copied().collect();
        let posted = [sent.unwrap_or_default(), b" POSTED"].concat();
        match reply.starts_with(&posted) {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&reply).into_owned()),
        }
    }
}

/// The folder of the application.
fn application() -> Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../apps/bank");
    folder.canonicalize().map_err(BenchError::system("find", &folder))
}

fn online(context: &Context, document: &mut Document, size: Size) -> Result<Option<Online>> {
    let created = System::create(context, "system", POOL_BYTES);
    let mut system = match created {
        Err(error @ BenchError::Missing { .. }) => {
            document.notes.push(format!("{COBOL}: {error}"));
            return Ok(None);
        }
        other => other?,
    };
    eprintln!("  a system with the COBOL programs");
    let bank = application()?;
    let bureau = bank.join("online");
    let read =
        |path: PathBuf| std::fs::read_to_string(&path).map_err(BenchError::system("read", &path));
    let part = read(bureau.join("holdfast.toml.part"))?;
    let copies = [bureau.join("copy"), bank.join("copy")].map(|path| path.display().to_string());
    let settings = [
        ("ims_connect", "[\"127.0.0.1:0\"]".to_owned()),
        ("programs", quoted(&bureau.join("cobol"))),
        ("include", format!("{copies:?}")),
    ];
    system.configure(&settings, &format!("\n[randomizer.BANKRAND]\nkind = \"hash\"\n{part}"))?;
    let path = |name: &str| bureau.join(name).display().to_string();
    system.run("gen", &[&path("dbd"), &path("psb")])?;
    let card = context.folder.join("card");
    write(&card, &size.card())?;
    let dd = format!("SYSIN={}", card.display());
    let mut load = vec!["--psb", "BURLOAD", "--dd", &dd, "-I", &copies[0], "-I", &copies[1]];
    let program = path("cobol/BURLOAD.cbl");
    load.extend(["--program", &program]);
    system.run("batch", &load)?;
    system.run("define", &[&path("bureau.defs")])?;
    let address = system.start()?;
    let (random, next) = (Mutex::new(Random::new(9)), AtomicU64::new(0));
    let work = Arc::new(Terminals { size, random, next });
    let online = Online { system, address, work };
    // Compiles the programs.
    online.slice(Duration::from_secs(2))?;
    Ok(Some(online))
}

impl Online {
    fn slice(&self, slice: Duration) -> Result<Work> {
        terminals(self.address, IN_FLIGHT as u32, slice, &self.work)
    }
}

/// PostgreSQL with the bureau's tables and procedures.
struct Peer {
    callers: RefCell<Callers>,
    server: Server,
    size: Size,
    next: AtomicU64,
    done: AtomicU64,
}

/// The calls of its procedures.
const PROCEDURES: &[Statement] = &[
    (c"invt", c"SELECT invt($1::bigint, $2::bigint, $3::bigint, $4::bigint)", 4),
    (c"hotl", c"SELECT hotl($1::bigint, $2::bigint, $3::bigint, $4::bigint)", 4),
    (c"whse", c"SELECT whse($1::bigint, $2::bigint, $3::bigint, $4::bigint)", 4),
];

fn peer(context: &Context, document: &mut Document, size: Size) -> Result<Option<Peer>> {
    let server = match context.postgres() {
        Ok(server) => server,
        Err(error @ BenchError::Missing { .. }) => {
            document.add_missing(postgres::NAME, &error.to_string());
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    document.describe_peer(postgres::NAME, &server.version()?, &Server::settings());
    let mut sql = include_str!("../peers/bureau.sql").to_owned();
    for (name, number) in [
        ("_ITEMS_", size.items),
        ("_SUPPLIERS_", size.suppliers),
        ("_HOTELS_", size.hotels),
        ("_GUESTS_", size.guests),
        ("_DISTRICTS_", size.districts),
    ] {
        sql = sql.replace(name, &number.to_string());
    }
    server.execute(&sql)?;
    server.execute("VACUUM ANALYZE")?;
    server.execute("CHECKPOINT")?;
    let callers = RefCell::new(Callers::open(&server, IN_FLIGHT, PROCEDURES)?);
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    Ok(Some(Peer { callers, server, size, next, done }))
}

impl Peer {
    fn slice(&self, slice: Duration) -> Result<Work> {
        let (next, size) = (&self.next, self.size);
        let next = move |random: &mut Random| -> (&'static CStr, [u64; 4]) {
            let reference = next.fetch_add(1, Ordering::Relaxed) + 1;
            match size.draw(random) {
                Wanted::Inventory { item, supplier, quantity } => {
                    (c"invt", [reference, item, supplier, quantity])
                }
                Wanted::Hotel { guest, hotel, day } => (c"hotl", [reference, guest, hotel, day]),
                Wanted::Warehouse { district, item, quantity } => {
                    (c"whse", [reference, district, item, quantity])
                }
            }
        };
        let work = self.callers.borrow_mut().call(slice, &next)?;
        self.done.fetch_add(work.operations, Ordering::Relaxed);
        Ok(work)
    }

    /// Each transaction has left its row.
    fn confirm(&self) -> Result<()> {
        let found = self.server.number(
            "SELECT (SELECT count(*) FROM movement) + (SELECT count(*) FROM stay) \
             + (SELECT count(*) FROM orders)",
        )?;
        same(found, self.done.load(Ordering::Relaxed), postgres::NAME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_side_loses_a_transaction() {
        let context = super::super::tests::context("fullfunction");
        let side = Embedded::new(&context, Form::Sealed, Size::SMALL).unwrap();
        assert!(side.slice(8, Duration::from_millis(50)).unwrap().operations > 0);
        side.confirm().unwrap();
        side.done.fetch_add(1, Ordering::Relaxed);
        assert!(side.confirm().is_err());
        let mut document = super::super::tests::empty_document();
        if let Some(peer) = peer(&context, &mut document, Size::SMALL).unwrap() {
            assert!(peer.slice(Duration::from_millis(200)).unwrap().operations > 0);
            peer.confirm().unwrap();
        }
        drop(side);
        std::fs::remove_dir_all(&context.folder).unwrap();
    }
}
