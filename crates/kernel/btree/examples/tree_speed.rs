//! Times a tree in memory on the real machine, in nanoseconds of processor time an operation
//! (log and page writer included):
//! `cargo run --release --example tree_speed`.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;

use base::{DataSetId, KeyGeneration, SystemId};
use holdfast_btree::{Cursor, Tree, TreeResource, format_empty};
use seal::{Format, TestKeys};
use seam::Seam;
use space::Definition;
use uow::{Kernel, KernelConfig, Parts, PoolPlan, UowOptions};

/// Records: about 60 MB of leaves, more than the processor's caches hold. Another number may be
/// given as an argument.
const RECORDS: u64 = 500_000;

fn key(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seam = Seam::real();
    let home: PathBuf =
        std::env::temp_dir().join(format!("holdfast-tree-speed-{}", std::process::id()));
    seam::disk::make_dir(&*seam.disk, &home.join("data"))?;
    let mut config = KernelConfig::new(&home);
    config.pools = vec![PoolPlan { name: "pool".into(), unit_bytes: 4096, frames: 40_000 }];
    let parts = Parts {
        seam: seam.clone(),
        keys: Arc::new(TestKeys::new(1)),
        system: SystemId([1; 16]),
        home: home.clone(),
        resource: Arc::new(TreeResource),
        override_stale: false,
        offline: Vec::new(),
    };
    Kernel::create(&parts, &config)?;
    let kernel = Kernel::open(parts, config)?;
    let measured = measure(&kernel);
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

fn measure(kernel: &Arc<Kernel>) -> Result<(), Box<dyn std::error::Error>> {
    let set = kernel.create_set(
        Definition {
            id: DataSetId(0),
            name: "speed".into(),
            ci_bytes: 4096,
            format: Format::Sealed,
            label: "data".into(),
            generation: KeyGeneration(1),
            pool: String::new(),
            file_intervals: 0,
            folders: vec!["data".into()],
            attributes: Vec::new(),
            conversion: None,
            permit: None,
        },
        &format_empty,
    )?;
    let tree = Tree::new(kernel, &set);
    let records = std::env::args().nth(1).map_or(Ok(RECORDS), |text| text.parse())?;
    time("load", records, &mut || {
        let mut uow = kernel.begin(UowOptions::default())?;
        let sorted = (0..records).map(|number| (key(number * 2), [7_u8; 100]));
        tree.bulk_load(&mut uow, sorted, 10)?;
        uow.commit()?;
        Ok(())
    })?;
    reads(&tree, records)?;
    changes(kernel, &tree, records)?;
    println!("{:?}", tree.check()?);
    Ok(())
}

fn time(
    what: &str,
    times: u64,
    work: &mut dyn FnMut() -> Result<(), uow::UowError>,
) -> Result<(), uow::UowError> {
    let start = seam::clock::process_cpu_us();
    work()?;
    let us = seam::clock::process_cpu_us() - start;
    let ns = us as f64 * 1_000.0 / times as f64;
    println!("{what:32} {ns:7.0} ns");
    Ok(())
}

fn reads(tree: &Tree<'_>, records: u64) -> Result<(), uow::UowError> {
    let (mut value, mut next) = (Vec::new(), Vec::new());
    let mut cursor = Cursor::new();
    for _ in 0..3 {
        time("get, random", records, &mut || {
            for number in 0..records {
                let key = key(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % records * 2);
                assert!(tree.get(&key, &mut value)?);
            }
            Ok(())
        })?;
        time("look, random", records, &mut || {
            for number in 0..records {
                let key = key(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % records * 2);
                black_box(tree.look(&key, &mut next)?);
            }
            Ok(())
        })?;
        time("scan", records, &mut || {
            cursor.seek(holdfast_btree::Bound::At(b""));
            while cursor.next(tree)? {
                black_box((cursor.key(), cursor.value()));
            }
            Ok(())
        })?;
        time("scan backward", records, &mut || {
            cursor.seek(holdfast_btree::Bound::End);
            while cursor.previous(tree)? {
                black_box((cursor.key(), cursor.value()));
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn changes(kernel: &Arc<Kernel>, tree: &Tree<'_>, records: u64) -> Result<(), uow::UowError> {
    for round in 0..3_u64 {
        time("replace 8 bytes, random", 100_000, &mut || {
            let mut uow = kernel.begin(UowOptions::default())?;
            let mut value = [7; 100];
            value[40..48].copy_from_slice(&(round + 1).to_le_bytes());
            for number in 0..100_000_u64 {
                let key = key(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % records * 2);
                tree.put(&mut uow, &key, &value)?;
            }
            uow.commit()?;
            Ok(())
        })?;
        time("insert, random", 100_000, &mut || {
            let mut uow = kernel.begin(UowOptions::default())?;
            for number in round * 100_000..(round + 1) * 100_000 {
                let key = key((number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << 40)) | 1);
                tree.insert(&mut uow, &key, &[8; 100])?;
            }
            uow.commit()?;
            Ok(())
        })?;
    }
    for round in 0..3_u64 {
        time("remove, random", 100_000, &mut || {
            let mut uow = kernel.begin(UowOptions::default())?;
            for number in round * 100_000..(round + 1) * 100_000 {
                let key = key((number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << 40)) | 1);
                tree.remove(&mut uow, &key)?;
            }
            uow.commit()?;
            Ok(())
        })?;
    }
    Ok(())
}
