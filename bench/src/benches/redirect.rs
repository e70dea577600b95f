//! Redirected clusters: rows into PostgreSQL, requests at a handler, and what an OPEN pays that is
//! redirected nowhere.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use redirect_postgres::{Databases, SCHEME};
use redirector::{Registry, send};
use seam::Seam;
use store::{Store as _, Unit as _};
use store_kernel::KernelStore;
use store_postgres::Session;
use vsam::handler::{Described, Handlers};
use vsam::{
    Catalog, ClusterAttributes, DataSetName, Definition, Entry as CatalogEntry, Failure, File,
    Intent, KeyField, OpenMode, OpenOptions, Position, RecordOwner, Redirection, Search, SourceId,
    Target, unit_options,
};

use super::{Benchmark, Context, PlotBuilder, track};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Track, Work, interleave, ratio};
use crate::kernel::{self, failed};
use crate::ours::{Checkpoints, Form, StoreSetup};
use crate::peers::postgres;
use crate::workload::{Deadline, Random};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "redirect",
    title: "Redirected clusters",
    about: "A keyed cluster of 100-byte records with a record map of ten fields: changes that are \
            committed here, 500 in a unit of work, and sent on to PostgreSQL, beside the same \
            changes of a cluster that is redirected nowhere, and beside a program that inserts the \
            same rows in PostgreSQL itself, 500 in a statement; reads by key of a cluster whose \
            records are there. Then OPEN and CLOSE of a cluster that is redirected nowhere, in a \
            catalog without redirections and in one with 200.",
    takes: "2 minutes",
    run,
};

const RECORD_BYTES: usize = 100;
const IN_UNIT: u64 = 500;
const REDIRECTED: u64 = 200;
const OPEN_LIMIT: f64 = 1.05;
const SENT: &str = "changed and sent on";
const PLAIN: &str = "changed only";
const OWN: &str = "PostgreSQL, INSERT of 500 rows";
const READ: &str = "read by key at the handler";
const ALONE: &str = "OPEN and CLOSE, nothing redirected";
const BESIDE: &str = "OPEN and CLOSE beside redirected clusters";

const BOOK: &str = "       01 R.
          05 NUMB PIC 9(8).
          05 NAME PIC X(20).
          05 TOWN PIC X(20).
          05 BALANCE PIC S9(9)V99 COMP-3.
          05 LIMIT PIC S9(9) COMP.
          05 RATE PIC S9(3)V9(4).
          05 KIND PIC X.
          05 OPENED PIC 9(8).
          05 CLOSED PIC 9(8).
          05 REMARK PIC X(18).
";

fn record_of(number: u64) -> Vec<u8> {
    let mut random = Random::new(number);
    let mut record = format!("{number:08}{:<20}{:<20}", "A NAME", "A TOWN").into_bytes();
    for _ in 0..5 {
        let pair = random.below(100) as u8;
        record.push(((pair / 10) << 4) | (pair % 10));
    }
    record.push(0x0c);
    record.extend_from_slice(&(random.below(1 << 30) as u32).to_be_bytes());
    record.extend_from_slice(format!("{:07}K2026112700000000", random.below(1000)).as_bytes());
    record.resize(RECORD_BYTES, b' ');
    record
}

fn attributes() -> ClusterAttributes {
    let key = KeyField { offset: 0, bytes: 8 };
    ClusterAttributes {
        record_map: Some(BOOK.into()),
        ..ClusterAttributes::keyed(key, RECORD_BYTES as u32)
    }
}

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let catalog = catalog(context, "ours")?;
    let server = match context.postgres() {
        Ok(server) => Some(server),
        Err(BenchError::Missing { peer, reason }) => {
            document.add_missing(peer, &reason);
            None
        }
        Err(error) => return Err(error),
    };
    if let Some(server) = &server {
        document.describe_peer(postgres::NAME, &server.version()?, &postgres::Server::settings());
        rows(context, document, &catalog, server)?;
    }
    opens(context, document)
}

fn rows(
    context: &Context,
    document: &mut Document,
    catalog: &Catalog<KernelStore>,
    server: &postgres::Server,
) -> Result<()> {
    let url = server.url();
    catalog.set_handlers(handlers());
    let plain = RefCell::new(Caller::create(catalog, "BENCH.PLAIN", None)?);
    let vsam = redirection(RecordOwner::Vsam, &url, "sent_on");
    let sent = RefCell::new(Caller::create(catalog, "BENCH.SENT", Some(vsam))?);
    let redir = redirection(RecordOwner::Handler, &url, "there");
    let there = RefCell::new(Caller::create(catalog, "BENCH.THERE", Some(redir))?);
    let loaded = context.settings.pick(20_000, 1_000);
    there.borrow_mut().load(loaded)?;
    let own = RefCell::new(Own::open(&url)?);
    let scope = || server.scope();
    let mut entries = vec![
        Entry::new(PLAIN, |slice| plain.borrow_mut().drive(slice, false)),
        Entry::new(SENT, |slice| sent.borrow_mut().drive(slice, true)).with_scope(scope()),
        Entry::new(OWN, |slice| own.borrow_mut().drive(slice)).with_scope(scope()),
        Entry::new(READ, |slice| there.borrow_mut().read(slice, loaded)).with_scope(scope()),
    ];
    let tracks = interleave(&context.settings, &mut entries)?;
    drop(entries);
    sent.borrow().confirm(server, "sent_on")?;
    let mut plot = PlotBuilder::new("Rows a second", "rows/s", Shape::Bars, "");
    plot.column("");
    plot.tracks(&tracks, Sample::rate);
    plot.finish(document);
    for (name, suffix) in [(PLAIN, "_change"), (SENT, "_sent_on"), (READ, "_read_there")] {
        if let Some(one) = track(&tracks, name) {
            document.add_ours(one, suffix);
        }
    }
    if let Some(own) = track(&tracks, OWN) {
        document.add_peer(postgres::NAME, own, "_insert");
    }
    Ok(())
}

/// What an OPEN pays that is redirected nowhere.
fn opens(context: &Context, document: &mut Document) -> Result<()> {
    let (alone, beside) = (catalog(context, "alone")?, catalog(context, "beside")?);
    let name = define(&alone, "BENCH.PLAIN")?;
    define(&beside, "BENCH.PLAIN")?;
    for number in 0..REDIRECTED {
        let named = define(&beside, &format!("BENCH.R{number}"))?;
        let to = redirection(RecordOwner::Vsam, "postgres://nobody@nowhere/none", "none");
        beside.redirect(&named, &to).map_err(failed)?;
    }
    for number in 0..REDIRECTED {
        define(&alone, &format!("BENCH.R{number}"))?;
    }
    let open = |catalog: &Catalog<KernelStore>, slice| -> Result<Work> {
        let (deadline, mut work) = (Deadline::after(slice), Work::default());
        while !deadline.passed() {
            let options = OpenOptions::default();
            let file = catalog.open_file(&name, OpenMode::InputOutput, &options);
            file.map_err(failed)?.close().map_err(failed)?;
            work.operations += 1;
        }
        Ok(work)
    };
    let mut entries = vec![
        Entry::new(ALONE, |slice| open(&alone, slice)),
        Entry::new(BESIDE, |slice| open(&beside, slice)),
    ];
    let tracks = interleave(&context.settings, &mut entries)?;
    drop(entries);
    judge_opens(document, &tracks);
    Ok(())
}

fn judge_opens(document: &mut Document, tracks: &[Track]) {
    let mut plot = PlotBuilder::new("CPU for OPEN and CLOSE", "us", Shape::Bars, "");
    plot.column("");
    plot.tracks(tracks, Sample::cpu_us);
    plot.finish(document);
    let pair = track(tracks, BESIDE).zip(track(tracks, ALONE));
    let share = pair.map(|(beside, alone)| ratio(beside, alone, Sample::cpu_us));
    for (name, suffix) in [(ALONE, "_open"), (BESIDE, "_open_beside_redirected")] {
        if let Some(one) = track(tracks, name) {
            document.add_ours(one, suffix);
        }
    }
    if let Some(share) = &share {
        document.figures.insert("open_share".into(), Figure::new(share, "x"));
    }
    let name = "OPEN of what is redirected nowhere, CPU beside redirected clusters";
    let value = share.map(|share| share.median);
    document.checks.push(Check::at_most(name, value, OPEN_LIMIT, "x"));
}

fn handlers() -> Arc<dyn Handlers> {
    Arc::new(Registry::default().with(SCHEME, Arc::new(Databases::default())))
}

fn redirection(owner: RecordOwner, url: &str, table: &str) -> Redirection {
    let mut source = [0; 16];
    let kept = table.len().min(16);
    source[..kept].copy_from_slice(&table.as_bytes()[..kept]);
    let (to, object) = (url.to_owned(), table.to_owned());
    Redirection { owner, to, object, page: None, source: SourceId(source) }
}

fn catalog(context: &Context, name: &str) -> Result<Catalog<KernelStore>> {
    let folder = context.folder.join(name);
    std::fs::create_dir_all(&folder).map_err(BenchError::system("create", &folder))?;
    let (form, checkpoints) = (Form::Sealed, Checkpoints::Default);
    let pool_bytes = context.settings.pick(256 << 20, 32 << 20);
    let setup = StoreSetup { folder, form, copies: 2, pool_bytes, checkpoints, buffered: true };
    Catalog::open(kernel::create(&setup)?, Seam::real().clock).map_err(failed)
}

fn define(catalog: &Catalog<KernelStore>, name: &str) -> Result<DataSetName> {
    let name = DataSetName::parse(name).map_err(failed)?;
    let definition = Definition::Cluster(attributes());
    catalog.define(&name, definition, None).map_err(failed)?;
    Ok(name)
}

fn refused(failure: &Failure) -> BenchError {
    failed(format!("a request ended with {failure:?}"))
}

/// One caller of a cluster.
struct Caller {
    catalog: Catalog<KernelStore>,
    entry: Option<CatalogEntry>,
    // Positions go before their file.
    position: Position<KernelStore>,
    file: File<KernelStore>,
    next: u64,
    random: Random,
}

impl Caller {
    fn create(
        catalog: &Catalog<KernelStore>,
        name: &str,
        to: Option<Redirection>,
    ) -> Result<Caller> {
        let name = define(catalog, name)?;
        let mut entry = None;
        if let Some(to) = to {
            let redirected = catalog.redirect(&name, &to).map_err(failed)?;
            if let Some(described) = Described::of(&redirected) {
                handlers().prepare(&described).map_err(failed)?;
            }
            entry = Some(redirected);
        }
        let options = OpenOptions::default();
        let file = catalog.open_file(&name, OpenMode::InputOutput, &options).map_err(failed)?;
        let position = file.position().map_err(|failure| refused(&failure))?;
        let (catalog, random) = (catalog.clone(), Random::new(1));
        Ok(Caller { catalog, entry, position, file, next: 0, random })
    }

    /// Inserts records in a unit of work.
    fn load(&mut self, count: u64) -> Result<()> {
        let mut unit = self.catalog.store().begin(unit_options()).map_err(failed)?;
        for number in self.next..self.next + count {
            let put = self.file.put(&mut unit, &mut self.position, &record_of(number));
            put.map_err(|failure| refused(&failure))?;
        }
        self.next += count;
        unit.commit().map(drop).map_err(failed)
    }

    fn drive(&mut self, slice: Duration, sends: bool) -> Result<Work> {
        let (deadline, mut work) = (Deadline::after(slice), Work::default());
        while !deadline.passed() {
            self.load(IN_UNIT)?;
            work.operations += IN_UNIT;
            // A sender takes what several units of work have left.
            if sends && work.operations.is_multiple_of(4 * IN_UNIT) {
                self.send()?;
            }
        }
        if sends {
            self.send()?;
        }
        work.bytes = work.operations * RECORD_BYTES as u64;
        Ok(work)
    }

    fn send(&self) -> Result<()> {
        let Some(entry) = &self.entry else { return Ok(()) };
        send(&self.catalog, entry, &mut |_| true).map(drop).map_err(failed)
    }

    fn read(&mut self, slice: Duration, loaded: u64) -> Result<Work> {
        let (deadline, mut work) = (Deadline::after(slice), Work::default());
        let mut unit = self.catalog.store().begin(unit_options()).map_err(failed)?;
        let mut record = Vec::new();
        while !deadline.passed() {
            let key = format!("{:08}", self.random.below(loaded));
            let search = Search::equal(Target::Key(key.as_bytes()));
            let (file, position) = (&self.file, &mut self.position);
            let read = file.get(&mut unit, position, &search, Intent::Look, &mut record);
            read.map_err(|failure| refused(&failure))?;
            work.operations += 1;
        }
        unit.backout().map_err(failed)?;
        work.bytes = work.operations * RECORD_BYTES as u64;
        Ok(work)
    }

    /// Every record that was put is there.
    fn confirm(&self, server: &postgres::Server, table: &str) -> Result<()> {
        let rows = server.number(&format!("SELECT count(*) FROM {table}"))?;
        match rows == self.next {
            true => Ok(()),
            false => Err(failed(format!("{rows} rows of {} were sent on", self.next))),
        }
    }
}

/// A program that inserts the same rows itself.
struct Own {
    session: Session,
    next: u64,
}

impl Own {
    fn open(url: &str) -> Result<Own> {
        let mut session = Session::open(url, Duration::from_secs(60)).map_err(failed)?;
        let table = "CREATE TABLE own (numb numeric(8) PRIMARY KEY, name text, town text, \
                     balance numeric(11,2), lim numeric(10), rate numeric(7,4), kind text, \
                     opened numeric(8), closed numeric(8), remark text)";
        session.run(async |client| client.batch_execute(table).await).map_err(failed)?;
        Ok(Own { session, next: 0 })
    }

    fn drive(&mut self, slice: Duration) -> Result<Work> {
        let (deadline, mut work) = (Deadline::after(slice), Work::default());
        while !deadline.passed() {
            let rows: Vec<String> = (self.next..self.next + IN_UNIT)
                .map(|number| {
                    format!(
                        "({number}, 'A NAME', 'A TOWN', 12345.67, 99, 0.0{:03}, 'K', 20261127, \
                         0, '')",
                        number % 1000
                    )
                })
                .collect();
            let sql = format!("INSERT INTO own VALUES {}", rows.join(","));
            self.session.run(async |client| client.batch_execute(&sql).await).map_err(failed)?;
            self.next += IN_UNIT;
            work.operations += IN_UNIT;
        }
        work.bytes = work.operations * RECORD_BYTES as u64;
        Ok(work)
    }
}
