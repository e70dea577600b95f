//! Times requests to a keyed cluster in memory on the real machine, in nanoseconds of processor
//! time a request (log and page writer included); the least of several rounds:
//!
//! `cargo run --release -p holdfast-vsam --example requests [RECORDS] [WORDS]`
//!
//! With words, only what has them in its name, for a profile.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::SystemId;
use seam::Seam;
use seam::clock::process_cpu_us;
use store::{CommitSink, Committed, Store, Unit};
use store_kernel::{KernelStore, KernelUnit, StoreDefaults};
use uow::{Kernel, KernelConfig, Parts, PoolPlan};
use vsam::{
    AlternateIndexAttributes, Catalog, ClusterAttributes, DataSetName, Definition, File, Intent,
    KeyField, OpenMode, OpenOptions, PathAttributes, Position, Search, Target,
};

/// 100 bytes: a key of 8, another that is unique but for one in a hundred, of 8.
const RECORD_BYTES: usize = 100;
const KEY: KeyField = KeyField { offset: 0, bytes: 8 };
const OTHER: KeyField = KeyField { offset: 8, bytes: 8 };
const ROUNDS: usize = 5;
/// Requests in a unit of work.
const UNIT: u64 = 1_000;

type AnyError = Box<dyn std::error::Error>;

fn main() -> Result<(), AnyError> {
    let records = std::env::args().nth(1).map_or(Ok(1_000_000), |text| text.parse())?;
    let seam = Seam::real();
    let memory = Path::new("/dev/shm");
    let parent = if memory.exists() { memory.to_owned() } else { std::env::temp_dir() };
    let home: PathBuf = parent.join(format!("holdfast-requests-{}", std::process::id()));
    seam::disk::make_dir(&*seam.disk, &home.join("data"))?;
    let kernel = open(&seam, &home, records)?;
    let store = KernelStore::new(&kernel, StoreDefaults::default())?;
    let catalog = Catalog::open(store, Arc::clone(&seam.clock))?;
    let measured = measure(&catalog, records);
    drop(catalog);
    let closed = kernel.close();
    for path in [home.join("data"), home.join("log"), home.clone()] {
        for file in seam.disk.list(&path).unwrap_or_default() {
            let _ = seam.disk.remove(&file);
        }
    }
    println!("empty folders are left in {}", home.display());
    measured?;
    Ok(closed?)
}

fn open(seam: &Seam, home: &Path, records: u64) -> Result<Arc<Kernel>, AnyError> {
    let mut config = KernelConfig::new(home);
    let frames = (records * 4 * 160 / 8192) as usize + 4_000;
    config.pools = vec![PoolPlan { name: "pool".into(), unit_bytes: 8192, frames }];
    let parts = Parts {
        seam: seam.clone(),
        keys: Arc::new(seal::TestKeys::new(1)),
        system: SystemId([1; 16]),
        home: home.to_owned(),
        resource: Arc::new(btree::TreeResource),
        override_stale: false,
        offline: Vec::new(),
    };
    Kernel::create(&parts, &config)?;
    Ok(Kernel::open(parts, config)?)
}

/// Nobody: what is settled is not of interest here.
struct Deaf;

impl CommitSink for Deaf {
    fn settled(&self, _token: u64, outcome: store::Result<Committed>) {
        assert!(outcome.is_ok());
    }
}

fn name(text: &str) -> Result<DataSetName, AnyError> {
    Ok(DataSetName::parse(text)?)
}

/// Record number `number` of those with even keys.
fn record(number: u64, other: u64) -> [u8; RECORD_BYTES] {
    let mut record = [b'.'; RECORD_BYTES];
    record[..8].copy_from_slice(&number.to_be_bytes());
    record[8..16].copy_from_slice(&(other / 100 * 7_919).to_be_bytes());
    record
}

struct Bench<'c> {
    catalog: &'c Catalog<KernelStore>,
    file: File<KernelStore>,
    position: Position<KernelStore>,
    records: u64,
    next: u64,
    sink: Arc<dyn CommitSink>,
}

fn measure(catalog: &Catalog<KernelStore>, records: u64) -> Result<(), AnyError> {
    for (cluster, indexes) in [("PLAIN", 0), ("ONE", 1), ("TWO", 2)] {
        let attributes = ClusterAttributes::keyed(KEY, RECORD_BYTES as u32);
        catalog.define(&name(cluster)?, Definition::Cluster(attributes), None)?;
        for at in 0..indexes {
            let attributes = AlternateIndexAttributes::new(name(cluster)?, OTHER);
            let index = name(&format!("{cluster}.I{at}"))?;
            catalog.define(&index, Definition::AlternateIndex(attributes), None)?;
            let path = PathAttributes { entry: index, update: true };
            let path_name = name(&format!("{cluster}.P{at}"))?;
            catalog.define(&path_name, Definition::Path(path), None)?;
        }
        load(catalog, cluster, records)?;
        let options = OpenOptions::default();
        let file = catalog.open_file(&name(cluster)?, OpenMode::InputOutput, &options)?;
        let position = file.position()?;
        let sink = Arc::new(Deaf);
        let mut bench = Bench { catalog, file, position, records, next: 1, sink };
        println!("{indexes} alternate indexes");
        if indexes == 0 {
            bench.reads()?;
        }
        bench.changes()?;
        let Bench { file, position, .. } = bench;
        drop(position);
        file.close()?;
        if indexes == 1 {
            by_path(catalog, records)?;
        }
        catalog.delete(&name(cluster)?, vsam::DeleteOptions::default())?;
    }
    Ok(())
}

fn load(catalog: &Catalog<KernelStore>, cluster: &str, records: u64) -> Result<(), AnyError> {
    let start = process_cpu_us();
    let options = OpenOptions { bulk: true, ..OpenOptions::default() };
    let file = catalog.open_file(&name(cluster)?, OpenMode::Output, &options)?;
    let mut position = file.position()?;
    let mut unit = catalog.store().begin(vsam::unit_options())?;
    for number in 0..records {
        file.put(&mut unit, &mut position, &record(number * 2, number))?;
    }
    unit.commit()?;
    drop(position);
    file.close()?;
    let us = process_cpu_us() - start;
    println!("{:44} {:7.0} ns", "load in bulk, indexes included", us as f64 * 1e3 / records as f64);
    Ok(())
}

fn time(
    what: &str,
    times: u64,
    mut work: impl FnMut() -> Result<(), AnyError>,
) -> Result<(), AnyError> {
    if std::env::args().nth(2).is_some_and(|words| !what.contains(&words)) {
        return Ok(());
    }
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = process_cpu_us();
        work()?;
        rounds.push((process_cpu_us() - start) as f64 * 1e3 / times as f64);
    }
    rounds.sort_by(f64::total_cmp);
    println!("{what:44} {:7.0} ns, in the middle {:7.0}", rounds[0], rounds[ROUNDS / 2]);
    Ok(())
}

impl Bench<'_> {
    /// The next of all records in an order without order.
    fn any(&mut self) -> u64 {
        self.next = self.next.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        (self.next >> 20) % self.records
    }

    fn in_units(
        &mut self,
        times: u64,
        mut request: impl FnMut(&mut Self, &mut KernelUnit) -> Result<(), AnyError>,
    ) -> Result<(), AnyError> {
        for _ in 0..times / UNIT {
            let mut unit = self.catalog.store().begin(vsam::unit_options())?;
            for _ in 0..UNIT {
                request(self, &mut unit)?;
            }
            unit.commit_queued(&self.sink, 0)?;
        }
        Ok(())
    }

    fn reads(&mut self) -> Result<(), AnyError> {
        let (mut buffer, times) = (Vec::new(), 500_000);
        time("random read", times, || {
            self.in_units(times, |bench, unit| {
                let key = (bench.any() * 2).to_be_bytes();
                let search = Search::equal(Target::Key(&key));
                bench.file.get(unit, &mut bench.position, &search, Intent::Look, &mut buffer)?;
                Ok(())
            })
        })?;
        let records = self.records / UNIT * UNIT;
        time("sequential read", records, || {
            let Bench { file, position, catalog, .. } = &mut *self;
            let mut unit = catalog.store().begin(vsam::unit_options())?;
            file.point(&mut unit, position, &Search::equal(Target::First))?;
            for _ in 0..records {
                file.get_next(&mut unit, position, Intent::Look, &mut buffer)?;
            }
            unit.commit()?;
            Ok(())
        })
    }

    fn changes(&mut self) -> Result<(), AnyError> {
        let (mut buffer, times) = (Vec::new(), 200_000);
        time("update: read for update, rewrite", times, || {
            self.in_units(times, |bench, unit| {
                let key = (bench.any() * 2).to_be_bytes();
                let search = Search::equal(Target::Key(&key));
                let Bench { file, position, .. } = bench;
                file.get(unit, position, &search, Intent::Update, &mut buffer)?;
                buffer[50] ^= 1;
                file.rewrite(unit, position, &buffer)?;
                Ok(())
            })
        })?;
        time("update that changes the alternate keys", times, || {
            self.in_units(times, |bench, unit| {
                let (number, other) = (bench.any(), bench.any());
                let search = (number * 2).to_be_bytes();
                let search = Search::equal(Target::Key(&search));
                let Bench { file, position, .. } = bench;
                file.get(unit, position, &search, Intent::Update, &mut buffer)?;
                file.rewrite(unit, position, &record(number * 2, other))?;
                Ok(())
            })
        })?;
        time("insert at random", times, || {
            self.in_units(times, |bench, unit| {
                // Nothing stands at odd keys; what is drawn twice is refused.
                let number = bench.any();
                let _ = bench.file.put(unit, &mut bench.position, &record(number * 2 + 1, number));
                Ok(())
            })
        })
    }
}

fn by_path(catalog: &Catalog<KernelStore>, records: u64) -> Result<(), AnyError> {
    let file = catalog.open_file(&name("ONE.P0")?, OpenMode::Input, &OpenOptions::default())?;
    let mut position = file.position()?;
    let (mut buffer, times) = (Vec::new(), records.min(500_000));
    time("sequential read by a path", times, || {
        let mut unit = catalog.store().begin(vsam::unit_options())?;
        file.point(&mut unit, &mut position, &Search::equal(Target::First))?;
        for _ in 0..times {
            file.get_next(&mut unit, &mut position, Intent::Look, &mut buffer)?;
        }
        unit.commit()?;
        Ok(())
    })
}
