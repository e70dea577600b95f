//! The same over the kernel: what was answered with 201 and is persistent outlives a crash.

use std::sync::Arc;

use base::SystemId;
use queue_manager::{Options, QueueManager};
use seam::Seam;
use store_kernel::{KernelStore, StoreDefaults};
use uow::{Kernel, KernelConfig, Parts, PoolPlan};

use crate::common::{QUEUE, manager_on, opened_on};

fn setup(home: &std::path::Path) -> (Parts, KernelConfig) {
    let parts = Parts {
        seam: Seam::real(),
        keys: Arc::new(seal::TestKeys::new(1)),
        system: SystemId([7; 16]),
        home: home.to_owned(),
        resource: Arc::new(btree::TreeResource),
        override_stale: false,
        offline: Vec::new(),
    };
    let mut config = KernelConfig::new(home);
    config.log.segment_bytes = 8 << 20;
    config.log.ring_bytes = 4 << 20;
    config.log.segments_min = 2;
    config.pools = vec![PoolPlan { name: "default".into(), unit_bytes: 8192, frames: 1_024 }];
    (parts, config)
}

fn store(home: &std::path::Path) -> KernelStore {
    let (parts, config) = setup(home);
    let kernel = Kernel::open(parts, config).unwrap();
    KernelStore::new(&kernel, StoreDefaults::default()).unwrap()
}

#[test]
fn what_was_confirmed_is_there_after_a_crash_and_what_was_got_is_not() {
    let base = std::env::var_os("CARGO_TARGET_TMPDIR").map(std::path::PathBuf::from);
    let home = base.unwrap_or_else(std::env::temp_dir);
    let home = home.join(format!("holdfast-rest-kernel-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&home);
    let (parts, config) = setup(&home);
    Kernel::create(&parts, &config).unwrap();
    let message = format!("{QUEUE}/message");
    let kept = store(&home);
    {
        let door = opened_on(manager_on(&kept), None);
        for number in 0..5 {
            let persistent = [("ibm-mq-md-persistence", "persistent")];
            assert_eq!(door.put(&message, &persistent, &number.to_string()).status, 201);
        }
        assert_eq!(door.take(&message).body, "0");
        assert_eq!(door.take(&message).body, "1");
        kept.kernel().abandon();
    }
    drop(kept);
    let again = store(&home);
    let manager = QueueManager::open(&again, Options::new("QM1")).unwrap();
    let door = opened_on(manager, None);
    for number in 2..5 {
        assert_eq!(door.take(&message).body, number.to_string());
    }
    assert_eq!(door.take(&message).status, 204);
    drop(door);
    again.kernel().abandon();
    let _ = std::fs::remove_dir_all(&home);
}
