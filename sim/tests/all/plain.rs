//! One plain life of a system, on a simulated and on a real disk.

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use btree::Tree;
use holdfast_sim::machine::Make;
use seam::sim::{SimConfig, SimDisk};
use uow::UowOptions;

fn life(make: &Make, config: uow::KernelConfig, parts: uow::Parts) {
    uow::Kernel::create(&parts, &config).unwrap();
    let kernel = uow::Kernel::open(parts.clone(), config.clone()).unwrap();
    let set = make.create_set(&kernel, "one").unwrap();
    for round in 0..60_u32 {
        let mut uow = kernel.begin(UowOptions::default()).unwrap();
        let tree = Tree::new(&kernel, &set);
        for n in 0..10_u32 {
            let key = (round * 7919 + n * 104_729) % 5_000;
            let value = vec![round as u8; 100 + (key % 100) as usize];
            tree.put(&mut uow, format!("key{key:06}").as_bytes(), &value).unwrap();
        }
        if round % 5 == 4 {
            uow.backout().unwrap();
        } else {
            uow.commit().unwrap();
        }
    }
    let before = Tree::new(&kernel, &set).check().unwrap();
    holdfast_sim::verify::wait_for_quiet(&kernel).unwrap();
    eprintln!("{before:?}\n{:?}", kernel.statistics());
    kernel.close().unwrap();
    drop((set, kernel));
    let kernel = uow::Kernel::open(parts, config).unwrap();
    let report = kernel.restart_report().unwrap();
    eprintln!("{report:?}");
    assert!(report.orderly);
    assert_eq!(report.redone, 0);
    let set = kernel.set_named("one").unwrap();
    assert_eq!(Tree::new(&kernel, &set).check().unwrap(), before);
    kernel.close().unwrap();
}

#[test]
fn a_system_lives_in_simulation() {
    let make = Make::small();
    let disk = SimDisk::new();
    seam::sim::run(SimConfig::new(1), disk, |seam| {
        life(&make, make.config(), make.parts(seam.clone()));
    })
    .expect_completed();
}

#[test]
fn a_system_lives_on_a_real_disk() {
    let make = Make::small();
    let seam = seam::Seam::real();
    let home = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("plain");
    let _ = std::fs::remove_dir_all(&home);
    let mut parts = make.parts(seam.clone());
    parts.home = home.clone();
    let config = make.config_at(&home, vec![home.join("log")]);
    life(&make, config, parts);
}
