//! What a persistent message of 1 KB costs: CPU microseconds for a put and a get, on the kernel,
//! with an empty queue and with a million messages waiting.
//!
//! `cargo run --release -p holdfast-queue-manager --example put_get [DEEP]`
#![allow(clippy::disallowed_methods)] // a program of its own, on folders of its own

use std::path::Path;
use std::sync::Arc;

use base::SystemId;
use queue_manager::objects::Kind;
use queue_manager::options::value::{get, matching, open, put};
use queue_manager::options::{ConnectOptions, GetOptions, Handle, ObjectDescriptor, PutOptions};
use queue_manager::{Connection, MessageDescriptor, Options, QueueManager};
use seam::Seam;
use store_kernel::{KernelStore, StoreDefaults};
use uow::{Kernel, KernelConfig, Parts, PoolPlan};

const PAIRS: u32 = 20_000;
const BATCH: u32 = 100;

fn kernel(home: &Path) -> KernelStore {
    let parts = || Parts {
        seam: Seam::real(),
        keys: Arc::new(seal::TestKeys::new(1)),
        system: SystemId([7; 16]),
        home: home.to_owned(),
        resource: Arc::new(btree::TreeResource),
        override_stale: false,
        offline: Vec::new(),
    };
    let mut config = KernelConfig::new(home);
    config.log.segment_bytes = 64 << 20;
    config.log.segments_min = 2;
    let pool = PoolPlan { name: "default".into(), unit_bytes: 8192, frames: 32_768 };
    config.pools = vec![pool];
    Kernel::create(&parts(), &config).expect("a system can be made");
    let kernel = Kernel::open(parts(), config).expect("a system can be opened");
    KernelStore::new(&kernel, StoreDefaults::default()).expect("a store")
}

fn descriptor(number: u32) -> MessageDescriptor {
    let mut md = MessageDescriptor { persistence: 1, priority: 0, ..Default::default() };
    md.correl_id[..4].copy_from_slice(&number.to_le_bytes());
    md
}

/// Puts and gets by correlation, so many pairs in a unit of work. Answers CPU microseconds a pair.
fn pairs(client: &mut Connection<KernelStore>, q: Handle, each: u32) -> f64 {
    let data = [7; 1_024];
    let mut buffer = Vec::new();
    let before = seam::clock::process_cpu_us();
    for batch in 0..PAIRS / each {
        let first = u32::MAX - batch * each;
        for number in 0..each {
            let options = &mut PutOptions::new(put::SYNCPOINT);
            client.put(q, &mut descriptor(first - number), options, &data).expect("a put");
        }
        client.commit().expect("a commit");
        for number in 0..each {
            let mut options = GetOptions::new(get::SYNCPOINT);
            options.match_options = matching::CORREL_ID;
            let mut md = descriptor(first - number);
            client.get(q, &mut md, &mut options, 4_096, &mut buffer).expect("a get");
        }
        client.commit().expect("a commit");
    }
    (seam::clock::process_cpu_us() - before) as f64 / f64::from(PAIRS / each * each)
}

fn main() {
    let deep = std::env::args().nth(1).and_then(|deep| deep.parse().ok()).unwrap_or(1_000_000_u32);
    let home = std::env::temp_dir().join(format!("holdfast-put-get-{}", std::process::id()));
    let store = kernel(&home);
    let manager = QueueManager::open(&store, Options::new("QM1")).expect("it opens");
    let depth = [("MAXDEPTH", 999_999_999.into())];
    manager.define(Kind::QueueLocal, "Q", &depth, false, None).expect("a queue");
    let mut client = manager.connect(ConnectOptions::default()).expect("a connection");
    let options = open::INPUT_SHARED | open::OUTPUT;
    let (q, _) = client.open(&mut ObjectDescriptor::queue("Q"), options).expect("it opens");
    println!("empty, 1 in a unit of work: {:.1} us a pair", pairs(&mut client, q, 1));
    println!("empty, {BATCH} in a unit of work: {:.1} us a pair", pairs(&mut client, q, BATCH));
    for number in 0..deep {
        let put = &mut PutOptions::new(put::SYNCPOINT);
        client.put(q, &mut descriptor(number), put, &[7; 1_024]).expect("a put");
        if number % 5_000 == 4_999 {
            client.commit().expect("a commit");
        }
    }
    client.commit().expect("a commit");
    println!("{deep} deep, 1 in a unit of work: {:.1} us a pair", pairs(&mut client, q, 1));
    println!(
        "{deep} deep, {BATCH} in a unit of work: {:.1} us a pair",
        pairs(&mut client, q, BATCH)
    );
    store.kernel().abandon();
    let _ = std::fs::remove_dir_all(&home);
}
