//! Times requests through an owner's socket, in microseconds of processor time of both sides (they
//! are one process here; log and page writer included); the least of several rounds:
//!
//! `cargo run --release -p holdfast-owner --example outside [RECORDS]`

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::SystemId;
use file_handler::body::{Body, Place, Which};
use file_handler::data_set::{DataSets as _, Opening};
use file_handler::fcd::{Access, KeyDefinition, OpenMode, Organization};
use file_handler::machine::Shape;
use owner::{Admission, Applid, Files, Options, Owners, Places, Server, Service, Who};
use seam::Seam;
use seam::clock::process_cpu_us;
use store_kernel::{KernelStore, StoreDefaults};
use uow::{Kernel, KernelConfig, Parts, PoolPlan};
use vsam::{Catalog, ClusterAttributes, DataSetName, Definition, KeyField};

type AnyError = Box<dyn std::error::Error>;

const RECORD_BYTES: usize = 100;
const ROUNDS: u64 = 3;

struct Anybody;

impl Admission for Anybody {
    fn admits(&self, _: &Who<'_>) -> bool {
        true
    }
}

fn main() -> Result<(), AnyError> {
    let records: u64 = std::env::args().nth(1).map_or(Ok(100_000), |text| text.parse())?;
    let seam = Seam::real();
    let memory = Path::new("/dev/shm");
    let parent = if memory.exists() { memory.to_owned() } else { std::env::temp_dir() };
    let home: PathBuf = parent.join(format!("holdfast-outside-{}", std::process::id()));
    seam::disk::make_dir(&*seam.disk, &home.join("data"))?;
    let kernel = open(&seam, &home, records)?;
    let store = KernelStore::new(&kernel, StoreDefaults::default())?;
    let catalog = Catalog::open(store, Arc::clone(&seam.clock))?;
    let cluster = ClusterAttributes::keyed(KeyField { offset: 0, bytes: 8 }, RECORD_BYTES as u32);
    catalog.define(&DataSetName::parse("BENCH.K")?, Definition::Cluster(cluster), None)?;
    let applid = Applid::parse("BENCH").ok_or("a name")?;
    let service = Service {
        files: Arc::new(Files { applid, names: BTreeMap::new() }),
        catalog: Box::new(move || Some(catalog.clone())),
        admission: Box::new(Anybody),
        clock: Arc::clone(&seam.clock),
    };
    let socket = home.join(owner::place::SOCKET);
    let server = Server::start(Options { socket, ..Options::default() }, service)?;
    let measured = measure(&home, records);
    server.close();
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

fn file(owners: &mut Owners, mode: OpenMode, access: Access) -> Result<Box<dyn Body>, AnyError> {
    let key =
        KeyDefinition { offset: 0, bytes: 8, duplicates: false, sparse: None, rest: Vec::new() };
    let opening = Opening {
        data_set: "#VSAM.#CICS.BENCH/BENCH.K".into(),
        paths: vec![None],
        shape: Shape {
            organization: Organization::Indexed,
            least: RECORD_BYTES,
            most: RECORD_BYTES,
            optional: false,
        },
        mode,
        access,
        keys: vec![key],
    };
    let opened = owners.open(&opening).map_err(|status| format!("open: {status}"))?;
    Ok(opened.0)
}

fn record(number: u64) -> Vec<u8> {
    let mut record = format!("{number:08}").into_bytes();
    record.resize(RECORD_BYTES, b'.');
    record
}

/// Does something so often, and says what each took.
fn timed(what: &str, count: u64, mut body: impl FnMut(u64) -> bool) -> Result<(), AnyError> {
    let begun = process_cpu_us();
    let failed = (0..count).filter(|number| !body(*number)).count();
    let took = process_cpu_us() - begun;
    if failed > 0 {
        return Err(format!("{what}: {failed} requests failed").into());
    }
    println!("{what:<24} {:8.2} us", took as f64 / count as f64);
    Ok(())
}

fn measure(home: &Path, records: u64) -> Result<(), AnyError> {
    let variable = ("HOLDFAST_OWNER_BENCH".to_owned(), OsString::from(home));
    let places = Places::given(BTreeMap::from([variable]));
    let mut owners = Owners::new(None, places, |text| eprintln!("{text}"));
    let place = Place { in_sequence: true, number: 0, options: 0 };
    let mut load = file(&mut owners, OpenMode::Output, Access::Sequential)?;
    timed("load", records, |number| load.write(&record(number), place).is_ok())?;
    load.close().map_err(|status| format!("close: {status}"))?;
    let any = |number: u64| number.wrapping_mul(7_919) % records;
    let mut found = Vec::new();
    for _ in 0..ROUNDS {
        let mut reads = file(&mut owners, OpenMode::Input, Access::Dynamic)?;
        timed("read in sequence", records, |_| reads.read_next(false, &mut found).is_ok())?;
        timed("read any", records, |number| {
            let key = format!("{:08}", any(number));
            reads.read(Which::Key { number: 0, value: key.as_bytes() }, &mut found).is_ok()
        })?;
        reads.close().map_err(|status| format!("close: {status}"))?;
        let mut changes = file(&mut owners, OpenMode::InputOutput, Access::Random)?;
        timed("rewrite any", records, |number| {
            let record = record(any(number));
            changes.rewrite(&record, Which::Key { number: 0, value: &record[..8] }).is_ok()
        })?;
        changes.close().map_err(|status| format!("close: {status}"))?;
    }
    Ok(())
}
