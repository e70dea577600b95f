//! Times the store in memory on the real machine, in nanoseconds of processor time an operation
//! (log and page writer included); the least of several rounds:
//!
//! `cargo run --release -p holdfast-store-kernel --example store_rate [RECORDS [WORD]]`
//!
//! With a word only the operations whose names contain it are timed.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::SystemId;
use holdfast_store_kernel::{KernelStore, StoreDefaults};
use seam::Seam;
use seam::clock::process_cpu_us;
use store::{
    CommitSink, Committed, Cursor, KeyRange, Pairs, Position, Read, Result, SetAttributes, SetId,
    Store, Unit, UnitOptions,
};
use uow::{Kernel, KernelConfig, Parts, PoolPlan};

/// 8 bytes of key and 92 of value each; the leaves do not fit into the processor's caches.
const RECORDS: u64 = 1_000_000;
const VALUE_BYTES: usize = 92;
const ROUNDS: usize = 5;

type AnyError = Box<dyn std::error::Error>;

fn main() -> std::result::Result<(), AnyError> {
    let records = std::env::args().nth(1).map_or(Ok(RECORDS), |text| text.parse())?;
    let only = std::env::args().nth(2).unwrap_or_default();
    let seam = Seam::real();
    let name = format!("holdfast-store-rate-{}", std::process::id());
    let home: PathBuf = std::env::temp_dir().join(name);
    seam::disk::make_dir(&*seam.disk, &home.join("data"))?;
    let kernel = open(&seam, &home, records)?;
    let store = KernelStore::new(&kernel, StoreDefaults::default())?;
    let measured = measure(&store, records, &only);
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

fn open(seam: &Seam, home: &Path, records: u64) -> std::result::Result<Arc<Kernel>, AnyError> {
    let mut config = KernelConfig::new(home);
    let frames = (records * 2 * 128 / 8192) as usize + 2_000;
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
    fn settled(&self, _token: u64, outcome: Result<Committed>) {
        assert!(outcome.is_ok());
    }
}

struct Bench<'s> {
    store: &'s KernelStore,
    set: SetId,
    records: u64,
    only: &'s str,
    sink: Arc<dyn CommitSink>,
    next: u64,
}

fn key(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

fn measure(store: &KernelStore, records: u64, only: &str) -> Result<()> {
    let set =
        store.create_set("RATE", &SetAttributes { free_percent: 10, ..Default::default() })?;
    let pairs = (0..records).map(|number| (key(number * 2), [7_u8; VALUE_BYTES]));
    store.load_sorted(set, &mut Pairs::new(pairs))?;
    let mut bench = Bench { store, set, records, only, sink: Arc::new(Deaf), next: 1 };
    bench.units()?;
    bench.gets()?;
    bench.scans()?;
    bench.changes()
}

impl Bench<'_> {
    /// Runs `work`, which does something so many times, some rounds, and prints what one costs.
    fn time(
        &mut self,
        what: &str,
        times: u64,
        work: &mut dyn FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        if !what.contains(self.only) {
            return Ok(());
        }
        let mut rounds = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let start = process_cpu_us();
            work(self)?;
            let us = process_cpu_us() - start;
            rounds.push(us as f64 * 1_000.0 / times as f64);
        }
        rounds.sort_by(f64::total_cmp);
        println!("{what:44} {:7.0} ns, in the middle {:7.0}", rounds[0], rounds[ROUNDS / 2]);
        Ok(())
    }

    /// The next of all records in an order without order.
    fn any(&mut self) -> [u8; 8] {
        self.next = self.next.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        key((self.next >> 20) % self.records * 2)
    }

    /// A key that is not there, below any record.
    fn gap(&mut self) -> [u8; 8] {
        let mut key = self.any();
        key[7] |= 1;
        key
    }

    fn begin(&self) -> Result<<KernelStore as Store>::Unit> {
        self.store.begin(UnitOptions::default())
    }

    fn queue(&self, unit: <KernelStore as Store>::Unit) -> Result<()> {
        unit.commit_queued(&self.sink, 0)
    }

    fn units(&mut self) -> Result<()> {
        self.time("a unit of work without a call", 200_000, &mut |bench| {
            (0..200_000).try_for_each(|_| bench.begin()?.commit().map(drop))
        })?;
        self.time("a unit of work with one shared get", 200_000, &mut |bench| {
            let mut value = Vec::new();
            for _ in 0..200_000 {
                let mut unit = bench.begin()?;
                assert!(unit.get(bench.set, &bench.any(), Read::Shared, &mut value)?);
                unit.commit()?;
            }
            Ok(())
        })
    }

    fn gets(&mut self) -> Result<()> {
        for (read, units) in [(Read::Unlocked, 1), (Read::Shared, 5_000), (Read::Update, 5_000)] {
            let each = 500_000 / units;
            let what = format!("random get, {read:?}, {each} a unit of work");
            self.time(&what, 500_000, &mut |bench| {
                let mut value = Vec::new();
                for _ in 0..units {
                    let mut unit = bench.begin()?;
                    for _ in 0..each {
                        assert!(unit.get(bench.set, &bench.any(), read, &mut value)?);
                        black_box(&value);
                    }
                    unit.commit()?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn scans(&mut self) -> Result<()> {
        for (read, forward) in [
            (Read::Unlocked, true),
            (Read::Unlocked, false),
            (Read::Shared, true),
            (Read::Shared, false),
        ] {
            let way = if forward { "forward" } else { "backward" };
            let what = format!("a scanned record, {read:?}, {way}");
            self.time(&what, self.records, &mut |bench| bench.scan(read, forward))?;
        }
        self.time("a short scan of 20 by prefix, Shared", 50_000, &mut |bench| {
            let mut cursor = bench.store.cursor(bench.set)?;
            for _ in 0..50_000 {
                let mut unit = bench.begin()?;
                let (from, mut to) = (bench.any(), [0; 8]);
                to.copy_from_slice(&key(u64::from_be_bytes(from) + 40));
                cursor.limit(KeyRange::between(&from, &to));
                cursor.seek(Position::Before(&from));
                while let Some(entry) = unit.next(&mut cursor, Read::Shared)? {
                    black_box(entry);
                }
                unit.commit()?;
            }
            Ok(())
        })
    }

    /// Reads everything, a thousand records a unit of work.
    fn scan(&self, read: Read, forward: bool) -> Result<()> {
        let mut cursor = self.store.cursor(self.set)?;
        cursor.seek(if forward { Position::Front } else { Position::Back });
        let mut more = true;
        while more {
            let mut unit = self.begin()?;
            for _ in 0..1_000 {
                let step = match forward {
                    true => unit.next(&mut cursor, read)?,
                    false => unit.previous(&mut cursor, read)?,
                };
                more = step.is_some();
                black_box(step);
                if !more {
                    break;
                }
            }
            unit.commit()?;
        }
        Ok(())
    }

    fn changes(&mut self) -> Result<()> {
        let mut bytes = [7; VALUE_BYTES];
        let mut round = 0_u64;
        self.time("replace, commit queued", 100_000, &mut |bench| {
            round += 1;
            bytes[40..48].copy_from_slice(&round.to_le_bytes());
            for _ in 0..100_000 {
                let mut unit = bench.begin()?;
                assert!(unit.replace(bench.set, &bench.any(), &bytes)?.is_done());
                bench.queue(unit)?;
            }
            bench.store.wait_durable()
        })?;
        self.time("get for update, replace, commit queued", 100_000, &mut |bench| {
            let mut value = Vec::new();
            for number in 0..100_000_u64 {
                let (mut unit, key) = (bench.begin()?, bench.any());
                assert!(unit.get(bench.set, &key, Read::Update, &mut value)?);
                value[40..48].copy_from_slice(&number.to_le_bytes());
                assert!(unit.replace(bench.set, &key, &value)?.is_done());
                bench.queue(unit)?;
            }
            bench.store.wait_durable()
        })?;
        self.time("insert, commit queued", 100_000, &mut |bench| {
            for _ in 0..100_000 {
                let (mut unit, key) = (bench.begin()?, bench.gap());
                let _ = unit.insert(bench.set, &key, &bytes)?;
                bench.queue(unit)?;
            }
            bench.store.wait_durable()
        })?;
        self.time("delete, insert, commit queued", 100_000, &mut |bench| {
            for _ in 0..100_000 {
                let (mut unit, key) = (bench.begin()?, bench.any());
                assert!(unit.delete(bench.set, &key)?.is_done());
                assert!(unit.insert(bench.set, &key, &bytes)?.is_done());
                bench.queue(unit)?;
            }
            bench.store.wait_durable()
        })
    }
}
