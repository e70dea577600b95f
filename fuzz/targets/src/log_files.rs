//! The log's files: segment headers, group headers, records, over two copies.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use base::{GroupNumber, Lsn, SystemId, UowId};
use seal::TestKeys;
use seam::Seam;
use seam::sim::SimDisk;
use seam::stop::StopSwitch;
use wal::{Beginning, Log, LogConfig, LogEnv, LogEvents, LogStart, scan};

use crate::input::{Input, simulated, spoil};

struct Template {
    disk: SimDisk,
    /// What was appended, in order.
    bodies: Vec<Vec<u8>>,
}

static TEMPLATE: LazyLock<Template> = LazyLock::new(|| {
    let disk = SimDisk::new();
    let bodies = simulated(&disk, |seam| {
        let env = env(&seam);
        Log::create(&env, &config()).expect("a log on an empty disk");
        let (log, _) = Log::open(env, config(), LogStart::NEW).expect("a new log opens");
        let mut bodies = Vec::new();
        for number in 0..40_usize {
            let body = vec![number as u8; number * 37 % 900];
            let place = log.append(64, 0, UowId(1), Lsn::NONE, &[&body]).expect("there is room");
            bodies.push(body);
            if number % 3 == 0 {
                log.wait_durable(place.end).expect("it becomes durable");
            }
        }
        log.close().expect("it closes");
        bodies
    });
    disk.settle();
    Template { disk, bodies }
});

struct Silent;

impl LogEvents for Silent {
    fn copy_lost(&self, _copy: u8, _from: GroupNumber, _why: &str) -> Result<(), String> {
        Ok(())
    }

    fn copy_back(&self, _: u8) -> Result<(), String> {
        Ok(())
    }

    fn ahead(&self, _: Option<Beginning>) -> Result<(), String> {
        Ok(())
    }
}

pub(crate) fn env(seam: &Seam) -> LogEnv {
    LogEnv {
        seam: seam.clone(),
        keys: Arc::new(TestKeys::new(1)),
        system: SystemId([3; 16]),
        stop: Arc::new(StopSwitch::default()),
        events: Arc::new(Silent),
    }
}

pub(crate) fn config() -> LogConfig {
    LogConfig {
        segment_bytes: 40 << 10,
        segments_min: 2,
        segments_max: 8,
        ring_bytes: 32 << 10,
        group_bytes_max: 8 << 10,
        ..LogConfig::new(vec![PathBuf::from("/one"), PathBuf::from("/two")])
    }
}

/// A spoilt log opens with what was appended, or the first part of it, or says why not. A sound one
/// opens whole.
pub fn fuzz(bytes: &[u8]) {
    let disk = TEMPLATE.disk.snapshot();
    spoil(&disk, &mut Input::new(bytes));
    simulated(&disk, |seam| {
        let _ = scan(&env(&seam), &config(), &LogStart::NEW, &mut |_| {});
        let Ok((log, opened)) = Log::open(env(&seam), config(), LogStart::NEW) else { return };
        let mut records = log.read(Lsn::FIRST, opened.end);
        let mut expected = TEMPLATE.bodies.iter();
        while let Some(record) = records.next().expect("what opened can be read") {
            assert_eq!(Some(record.body), expected.next().map(Vec::as_slice));
        }
        assert!(!bytes.is_empty() || expected.next().is_none(), "a sound log lacks its end");
        let _ = log.close();
    });
}

/// No change, changes in headers of either copy, a cut, two blocks exchanged.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    vec![
        vec![],
        vec![0, 1, 4, 0, 1, 1],
        vec![0, 1, 6, 2, 1, 1],
        vec![1, 1, 6, 4, 1, 1, 3, 1, 6, 4, 1, 1],
        vec![2, 2, 0, 8, 0],
        vec![0, 3, 0, 2, 0, 3],
    ]
}
