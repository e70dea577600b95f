//! What it costs that a store may be one of two: the same calls on a kernel's store and on the same
//! one behind [`AnyStore`], in turns, in nanoseconds of processor time a call, the least of rounds:
//!
//! `cargo run --release -p holdfast-store-any --example dispatch_cost`

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;

use base::SystemId;
use holdfast_store_any::AnyStore;
use seam::Seam;
use seam::clock::process_cpu_us;
use store::{
    Cursor as _, Pairs, Position, Read, Result, SetAttributes, SetId, Store, Unit as _, UnitOptions,
};
use store_kernel::{KernelStore, StoreDefaults};
use uow::{Kernel, KernelConfig, Parts, PoolPlan};

const RECORDS: u64 = 100_000;
const CALLS: u64 = 1_000_000;
const ROUNDS: usize = 7;

type AnyError = Box<dyn std::error::Error>;

fn main() -> std::result::Result<(), AnyError> {
    let seam = Seam::real();
    let name = format!("holdfast-dispatch-cost-{}", std::process::id());
    let home: PathBuf = std::env::temp_dir().join(name);
    seam::disk::make_dir(&*seam.disk, &home.join("data"))?;
    let mut config = KernelConfig::new(&home);
    config.pools = vec![PoolPlan { name: "pool".into(), unit_bytes: 8192, frames: 8_000 }];
    let parts = Parts {
        seam: seam.clone(),
        keys: Arc::new(seal::TestKeys::new(1)),
        system: SystemId([1; 16]),
        home: home.clone(),
        resource: Arc::new(btree::TreeResource),
        override_stale: false,
        offline: Vec::new(),
    };
    Kernel::create(&parts, &config)?;
    let kernel = Kernel::open(parts, config)?;
    let own = KernelStore::new(&kernel, StoreDefaults::default())?;
    let set = own.create_set("COST", &SetAttributes::default())?;
    let pairs = (0..RECORDS).map(|number| (number.to_be_bytes(), [7_u8; 92]));
    own.load_sorted(set, &mut Pairs::new(pairs))?;
    let any = AnyStore::Kernel(own.clone());
    let mut least = [f64::MAX; 4];
    for _ in 0..ROUNDS {
        let all = [gets(&own, set)?, gets(&any, set)?, steps(&own, set)?, steps(&any, set)?];
        least.iter_mut().zip(all).for_each(|(least, one)| *least = least.min(one));
    }
    println!("get:  kernel {:6.1} ns, behind AnyStore {:6.1} ns", least[0], least[1]);
    println!("next: kernel {:6.1} ns, behind AnyStore {:6.1} ns", least[2], least[3]);
    drop((own, any));
    kernel.close()?;
    for path in [home.join("data"), home.join("log"), home.clone()] {
        for file in seam.disk.list(&path).unwrap_or_default() {
            let _ = seam.disk.remove(&file);
        }
    }
    Ok(())
}

fn cost(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = process_cpu_us();
    work()?;
    Ok((process_cpu_us() - start) as f64 * 1_000.0 / CALLS as f64)
}

fn gets<S: Store>(store: &S, set: SetId) -> Result<f64> {
    let mut unit = store.begin(UnitOptions::READ_ONLY)?;
    let (mut value, mut next) = (Vec::new(), 1_u64);
    cost(|| {
        for _ in 0..CALLS {
            next = next.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            let key = ((next >> 20) % RECORDS).to_be_bytes();
            black_box(unit.get(set, &key, Read::Unlocked, &mut value)?);
        }
        Ok(())
    })
}

fn steps<S: Store>(store: &S, set: SetId) -> Result<f64> {
    let mut unit = store.begin(UnitOptions::READ_ONLY)?;
    let mut cursor = store.cursor(set)?;
    cost(|| {
        for _ in 0..CALLS {
            if black_box(unit.next(&mut cursor, Read::Unlocked)?).is_none() {
                cursor.seek(Position::Front);
            }
        }
        Ok(())
    })
}
