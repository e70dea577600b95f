//! Requests to keyed clusters without a COBOL program: reads, updates, inserts, alternate indexes,
//! and a scan over a cluster larger than its pool.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use ::vsam::{
    AlternateIndexAttributes, Catalog, ClusterAttributes, DataSetName, Definition, Failure, File,
    Intent, KeyField, LogicalReason, OpenMode, OpenOptions, Position, Search, Target, unit_options,
};
use seam::Seam;
use store::{CommitSink, Store as _, Unit as _, UnitOptions};
use store_kernel::{KernelStore, KernelUnit};

use super::msgqueue::Quiet;
use super::scan::{LARGE, MEMORY, READERS, reader_name, share_of_lower};
use super::{Benchmark, Context, PlotBuilder, track};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Spread, Track, Work, interleave};
use crate::kernel::{self, failed};
use crate::ours::{Checkpoints, Form, StoreSetup};
use crate::raw::RawFiles;
use crate::workload::{Deadline, Random};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "vsam",
    title: "Requests to clusters",
    about: "A keyed cluster of 1,000,000 records of 100 bytes, sealed, two copies of the log, one \
            caller: random and sequential reads, updates (GET for update and PUT), inserts, with \
            no alternate index and with one and two that follow; 500 changes in a unit of work. \
            Then a scan over a cluster four times its pool, against the lower of the device's \
            sequential rate and the scan in memory.",
    takes: "4 minutes",
    run,
};

const RECORD_BYTES: usize = 100;
/// Where the first alternate key begins, and how long each is.
const ALTERNATE: u32 = 8;
const ALTERNATE_BYTES: u32 = 8;
/// Keys from one loaded record to the next: there is room between for what is inserted.
const APART: u64 = 64;
/// From record to record; prime to the number of records.
const STRIDE: u64 = 7_919;
const IN_UNIT: u64 = 500;
const POOLS: u64 = 4;
const LARGE_SHARE: f64 = 0.8;
const INDEX_US_LIMIT: f64 = 1.5;
/// Promised CPU of requests, in microseconds.
const LIMITS: [(&str, f64); 4] =
    [("random read", 1.0), ("sequential read", 0.15), ("update", 2.0), ("insert", 3.0)];

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let (records, pool_bytes) = context.settings.pick((1_000_000, 1 << 30), (20_000, 64 << 20));
    let catalog = catalog(context, "memory", pool_bytes)?;
    eprintln!("  three clusters of {records} records");
    let none = RefCell::new(Caller::create(&catalog, "BENCH.NONE", 0, records)?);
    let one = RefCell::new(Caller::create(&catalog, "BENCH.ONE", 1, records)?);
    let two = RefCell::new(Caller::create(&catalog, "BENCH.TWO", 2, records)?);
    let contestants: [(&str, &RefCell<Caller>, Step); 9] = [
        ("random read", &none, Caller::read),
        ("sequential read", &none, Caller::next),
        ("update", &none, Caller::update),
        ("insert", &none, Caller::insert),
        ("insert, one index", &one, Caller::insert),
        ("insert, two indexes", &two, Caller::insert),
        ("other alternate keys", &none, Caller::turn),
        ("other alternate keys, one index", &one, Caller::turn),
        ("other alternate keys, two indexes", &two, Caller::turn),
    ];
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (name, caller, step) in contestants {
        entries.push(Entry::new(name, move |slice| caller.borrow_mut().drive(slice, step)));
    }
    let tracks = interleave(&context.settings, &mut entries)?;
    drop(entries);
    for caller in [&none, &one, &two] {
        caller.borrow_mut().confirm()?;
    }
    judge(document, &tracks);
    beyond_memory(context, document)
}

/// A request, or what belongs together; it is in the caller's unit of work.
type Step = fn(&mut Caller) -> Result<()>;

fn judge(document: &mut Document, tracks: &[Track]) {
    let mut plot = PlotBuilder::new("CPU for a request", "us", Shape::Bars, "");
    plot.column("");
    plot.tracks(tracks, Sample::cpu_us);
    plot.finish(document);
    for one in tracks {
        document.add_ours(one, &format!("_{}", one.name.replace(", ", "_").replace(' ', "_")));
    }
    for (name, limit) in LIMITS {
        let value = track(tracks, name).map(|one| one.spread(Sample::cpu_us).median);
        document.checks.push(Check::at_most(&format!("{name}, CPU"), value, limit, "us"));
    }
    for what in ["insert", "other alternate keys"] {
        let of = |indexes: &str| track(tracks, &format!("{what}{indexes}"));
        let each = of("").zip(of(", two indexes")).map(|(none, two)| {
            let rounds = none.samples.iter().zip(&two.samples);
            Spread::of(rounds.map(|(none, two)| (two.cpu_us() - none.cpu_us()) / 2.0).collect())
        });
        if let Some(each) = &each {
            let figure = format!("cpu_of_an_index_{}", what.replace(' ', "_"));
            document.figures.insert(figure, Figure::new(each, "us"));
        }
        let name = format!("{what}: what each alternate index adds, CPU");
        let value = each.map(|each| each.median);
        document.checks.push(Check::at_most(&name, value, INDEX_US_LIMIT, "us"));
    }
}

fn beyond_memory(context: &Context, document: &mut Document) -> Result<()> {
    let pool_bytes: u64 = context.settings.pick(128 << 20, 16 << 20);
    let settings = context.settings.with_slice(Duration::from_secs(2), Duration::from_millis(200));
    let files = RawFiles::prepare(context.folder.join("files"), 1, POOLS * pool_bytes)?;
    document.describe_peer(super::device::PEER, "", super::device::SETTINGS);
    let records = POOLS * pool_bytes / RECORD_BYTES as u64;
    let large = catalog(context, "large", pool_bytes)?;
    eprintln!("  a cluster of {records} records");
    let large = RefCell::new(Caller::create(&large, "BENCH.LARGE", 0, records)?);
    // One that its pool holds whole, and that nobody has changed since it was loaded.
    let memory = catalog(context, "small", pool_bytes)?;
    let records = records / POOLS / 2;
    let memory = RefCell::new(Caller::create(&memory, "BENCH.SMALL", 0, records)?);
    let mut entries = vec![
        Entry::new(LARGE, |slice| large.borrow_mut().drive(slice, Caller::next)),
        Entry::new(MEMORY, |slice| memory.borrow_mut().drive(slice, Caller::next)),
    ];
    for readers in READERS {
        let files = &files;
        let read = move |slice| files.read_sequentially(readers, slice);
        entries.push(Entry::new(reader_name(readers), read));
    }
    let tracks = interleave(&settings, &mut entries)?;
    drop(entries);
    let mut plot = PlotBuilder::new("Scan over four times the pool", "MB/s", Shape::Bars, "");
    plot.column("");
    plot.tracks(&tracks, Sample::megabytes_per_second);
    plot.finish(document);
    let share = share_of_lower(&tracks);
    if let (Some(share), Some(large)) = (&share, track(&tracks, LARGE)) {
        document.add_ours(large, "_scan_beyond_pool");
        document.figures.insert("scan_share_of_lower".into(), Figure::new(share, "x"));
    }
    let name = "scan of a cluster beyond its pool, of the lower of device and memory";
    let value = share.map(|share| share.median);
    document.checks.push(Check::at_least(name, value, LARGE_SHARE, "x"));
    Ok(())
}

fn catalog(context: &Context, name: &str, pool_bytes: u64) -> Result<Catalog<KernelStore>> {
    let folder = context.folder.join(name);
    std::fs::create_dir_all(&folder).map_err(BenchError::system("create", &folder))?;
    let (form, checkpoints) = (Form::Sealed, Checkpoints::Default);
    let setup = StoreSetup { folder, form, copies: 2, pool_bytes, checkpoints, buffered: true };
    Catalog::open(kernel::create(&setup)?, Seam::real().clock).map_err(failed)
}

fn refused(failure: &Failure) -> BenchError {
    failed(format!("a request ended with {failure:?}"))
}

fn record_of(key: u64, record: &mut [u8]) {
    record[..8].copy_from_slice(&key.to_be_bytes());
    Random::new(key).fill(&mut record[8..]);
}

/// One caller of a cluster.
struct Caller {
    catalog: Catalog<KernelStore>,
    name: DataSetName,
    file: Option<File<KernelStore>>,
    /// Where requests in sequence are, and where others.
    walking: Option<Position<KernelStore>>,
    position: Option<Position<KernelStore>>,
    unit: Option<KernelUnit>,
    sink: Arc<dyn CommitSink>,
    /// Changes since the last commit.
    changes: u64,
    records: u64,
    inserted: u64,
    random: Random,
    record: Vec<u8>,
}

impl Caller {
    /// A new cluster with so many alternate indexes, loaded.
    fn create(
        catalog: &Catalog<KernelStore>,
        name: &str,
        indexes: u32,
        records: u64,
    ) -> Result<Caller> {
        let name = DataSetName::parse(name).map_err(failed)?;
        let key = KeyField { offset: 0, bytes: 8 };
        let attributes = ClusterAttributes::keyed(key, RECORD_BYTES as u32);
        catalog.define(&name, Definition::Cluster(attributes), None).map_err(failed)?;
        for number in 0..indexes {
            let offset = ALTERNATE + number * ALTERNATE_BYTES;
            let key = KeyField { offset, bytes: ALTERNATE_BYTES };
            let index = name.with(&format!("AIX{number}")).map_err(failed)?;
            let attributes = AlternateIndexAttributes::new(name.clone(), key);
            let definition = Definition::AlternateIndex(attributes);
            catalog.define(&index, definition, None).map_err(failed)?;
        }
        load(catalog, &name, records)?;
        let options = OpenOptions::default();
        let file = catalog.open_file(&name, OpenMode::InputOutput, &options).map_err(failed)?;
        let walking = Some(file.position().map_err(|failure| refused(&failure))?);
        let position = Some(file.position().map_err(|failure| refused(&failure))?);
        Ok(Caller {
            catalog: catalog.clone(),
            name,
            file: Some(file),
            walking,
            position,
            unit: None,
            sink: Arc::new(Quiet),
            changes: 0,
            records,
            inserted: 0,
            random: Random::new(records),
            record: Vec::new(),
        })
    }

    fn drive(&mut self, slice: Duration, step: Step) -> Result<Work> {
        /// Requests between two looks at the clock.
        const STEPS: u64 = 64;
        let deadline = Deadline::after(slice);
        let mut work = Work::default();
        deadline.until(|| {
            for _ in 0..STEPS {
                step(self)?;
            }
            work.operations += STEPS;
            Ok(())
        })?;
        self.commit()?;
        self.catalog.store().wait_durable().map_err(failed)?;
        work.bytes = work.operations * RECORD_BYTES as u64;
        Ok(work)
    }

    fn commit(&mut self) -> Result<()> {
        self.changes = 0;
        match self.unit.take() {
            Some(unit) => unit.commit_queued(&self.sink, 0).map(drop).map_err(failed),
            None => Ok(()),
        }
    }

    /// A request in the unit of work: at the place of requests in sequence, or of those by key.
    fn request(
        &mut self,
        walks: bool,
        body: impl FnOnce(
            &File<KernelStore>,
            &mut KernelUnit,
            &mut Position<KernelStore>,
            &mut Vec<u8>,
        ) -> std::result::Result<(), Failure>,
    ) -> Result<()> {
        if self.unit.is_none() {
            self.unit = Some(self.catalog.store().begin(unit_options()).map_err(failed)?);
        }
        let position = if walks { &mut self.walking } else { &mut self.position };
        match (&self.file, &mut self.unit, position) {
            (Some(file), Some(unit), Some(position)) => {
                body(file, unit, position, &mut self.record).map_err(|failure| refused(&failure))
            }
            _ => Err(failed("the file is closed")),
        }
    }

    fn changed(&mut self) -> Result<()> {
        self.changes += 1;
        if self.changes < IN_UNIT { Ok(()) } else { self.commit() }
    }

    fn loaded_key(&mut self) -> [u8; 8] {
        (self.random.below(self.records) * APART).to_be_bytes()
    }

    fn read(&mut self) -> Result<()> {
        let key = self.loaded_key();
        self.request(false, |file, unit, position, record| {
            let search = Search::equal(Target::Key(&key));
            file.get(unit, position, &search, Intent::Look, record).map(drop)
        })
    }

    fn next(&mut self) -> Result<()> {
        self.request(true, |file, unit, position, record| {
            match file.get_next(unit, position, Intent::Look, record) {
                Err(failure) if failure.reason() == Some(LogicalReason::EndOfData) => {
                    let first = Search::equal(Target::First);
                    file.get(unit, position, &first, Intent::Look, record).map(drop)
                }
                other => other.map(drop),
            }
        })
    }

    fn update(&mut self) -> Result<()> {
        self.rewrite(RECORD_BYTES - 8)
    }

    /// Another content of the alternate keys.
    fn turn(&mut self) -> Result<()> {
        self.rewrite(ALTERNATE as usize)
    }

    /// Rewrites a record with other bytes from there on: eight at its end, or both alternate keys.
    fn rewrite(&mut self, from: usize) -> Result<()> {
        let (key, new) = (self.loaded_key(), [self.random.next(), self.random.next()]);
        self.request(false, |file, unit, position, record| {
            let search = Search::equal(Target::Key(&key));
            file.get(unit, position, &search, Intent::Update, record)?;
            for (to, value) in record[from..].chunks_exact_mut(8).zip(new) {
                to.copy_from_slice(&value.to_be_bytes());
            }
            file.rewrite(unit, position, record).map(drop)
        })?;
        self.changed()
    }

    fn insert(&mut self) -> Result<()> {
        let number = self.inserted;
        let place = number % self.records * STRIDE % self.records;
        let key = place * APART + 1 + number / self.records;
        self.inserted += 1;
        self.request(false, |file, unit, position, record| {
            record.resize(RECORD_BYTES, 0);
            record_of(key, record);
            file.put(unit, position, record).map(drop)
        })?;
        self.changed()
    }

    /// Every record that was loaded or inserted is there, in its base and in each index.
    fn confirm(&mut self) -> Result<()> {
        self.commit()?;
        let expected = self.records + self.inserted;
        (self.walking, self.position) = (None, None);
        if let Some(file) = self.file.take() {
            file.close().map_err(failed)?;
        }
        let entry = self.catalog.get(&self.name).map_err(failed)?;
        let indexes = entry.map(|entry| entry.related).unwrap_or_default();
        let mut unit = self.catalog.store().begin(UnitOptions::READ_ONLY).map_err(failed)?;
        for name in indexes.iter().chain([&self.name]) {
            let options = OpenOptions::default();
            let file = self.catalog.open_file(name, OpenMode::Input, &options).map_err(failed)?;
            let mut position = file.position().map_err(|failure| refused(&failure))?;
            let mut count = 0;
            while file.get_next(&mut unit, &mut position, Intent::Look, &mut self.record).is_ok() {
                count += 1;
            }
            if count != expected {
                return Err(failed(format!("{name} has {count} records, not {expected}")));
            }
        }
        unit.backout().map_err(failed)?;
        let options = OpenOptions::default();
        let opened = self.catalog.open_file(&self.name, OpenMode::InputOutput, &options);
        let file = opened.map_err(failed)?;
        self.walking = Some(file.position().map_err(|failure| refused(&failure))?);
        self.position = Some(file.position().map_err(|failure| refused(&failure))?);
        self.file = Some(file);
        Ok(())
    }
}

/// Loads records in bulk, as a cluster that is defined with SPEED is.
fn load(catalog: &Catalog<KernelStore>, name: &DataSetName, records: u64) -> Result<()> {
    let options = OpenOptions { bulk: true, ..OpenOptions::default() };
    let file = catalog.open_file(name, OpenMode::Output, &options).map_err(failed)?;
    let mut position = file.position().map_err(|failure| refused(&failure))?;
    let mut unit = catalog.store().begin(unit_options()).map_err(failed)?;
    let mut record = [0; RECORD_BYTES];
    for number in 0..records {
        record_of(number * APART, &mut record);
        file.put(&mut unit, &mut position, &record).map_err(|failure| refused(&failure))?;
    }
    unit.commit().map_err(failed)?;
    drop(position);
    file.close().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_does_what_it_is_counted_for() {
        let context = super::super::tests::context("vsam");
        let catalog = catalog(&context, "clusters", 16 << 20).unwrap();
        for indexes in [0, 2] {
            let name = format!("BENCH.WITH{indexes}");
            let mut caller = Caller::create(&catalog, &name, indexes, 2_000).unwrap();
            let steps: [Step; 5] =
                [Caller::read, Caller::next, Caller::update, Caller::insert, Caller::turn];
            for step in steps {
                let work = caller.drive(Duration::from_millis(20), step).unwrap();
                assert_eq!(work.bytes, work.operations * RECORD_BYTES as u64);
            }
            caller.confirm().unwrap();
            caller.inserted += 1;
            assert!(caller.confirm().is_err());
        }
        drop(catalog);
        std::fs::remove_dir_all(&context.folder).unwrap();
    }
}
