//! Archives of the log: headers, groups as they are and compressed, over two copies.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use archive::{
    ArchiveCatalog, ArchiveConfig, ArchiveEnv, ArchiveError, Archiver, Concern, LogSource,
    NoRegistry, Span,
};
use base::{DataSetId, GroupNumber, Lsn, SystemId, UowId};
use seal::{Format, TestKeys};
use seam::Seam;
use seam::sim::SimDisk;
use seam::stop::StopSwitch;
use wal::{Log, LogConfig, LogEnv, LogEvents, LogStart, Record};

use crate::input::{Input, simulated, spoil};

const SYSTEM: SystemId = SystemId([3; 16]);

struct Template {
    /// The archives alone, as they are and compressed.
    disks: [SimDisk; 2],
    /// What they hold, in order.
    bodies: Vec<Vec<u8>>,
}

static TEMPLATE: LazyLock<Template> = LazyLock::new(|| {
    let bodies: Vec<Vec<u8>> = (0..40_usize).map(|n| vec![n as u8; n * 37 % 900]).collect();
    Template { disks: [None, Some(3)].map(|level| archived(&bodies, level)), bodies }
});

fn archived(bodies: &[Vec<u8>], compress: Option<i32>) -> SimDisk {
    let disk = SimDisk::new();
    simulated(&disk, |seam| {
        let log_config = LogConfig {
            segment_bytes: 40 << 10,
            segments_min: 2,
            ring_bytes: 32 << 10,
            group_bytes_max: 8 << 10,
            ..LogConfig::new(vec![PathBuf::from("/log")])
        };
        let log_env = LogEnv {
            seam: seam.clone(),
            keys: Arc::new(TestKeys::new(1)),
            system: SYSTEM,
            stop: Arc::new(StopSwitch::default()),
            events: Arc::new(Silent),
        };
        Log::create(&log_env, &log_config).expect("a log on an empty disk");
        let start = LogStart { archived: GroupNumber(1), ..LogStart::NEW };
        let (log, _) = Log::open(log_env, log_config, start).expect("a new log opens");
        let catalog =
            ArchiveCatalog::open(env(&seam), config(compress)).expect("an empty catalog opens");
        catalog.prepare().expect("its folders can be made");
        let archiver = Archiver::start(Arc::new(catalog), Arc::clone(&log), Arc::new(NoRegistry));
        let archiver = archiver.expect("it starts");
        for (number, body) in bodies.iter().enumerate() {
            let place = log.append(64, 0, UowId(1), Lsn::NONE, &[body]).expect("there is room");
            if number % 3 == 0 {
                log.wait_durable(place.end).expect("it becomes durable");
            }
        }
        archiver.archive_now().expect("everything can be archived");
        let whole = archiver.catalog().newest().map_or(Lsn::NONE, |newest| newest.info.whole);
        let range = Lsn::FIRST..whole;
        let merged =
            archiver.catalog().accumulate(&SETS, range, concern, &NoRegistry, &mut |_| Ok(()));
        merged.expect("it can be accumulated");
        archiver.end();
        log.close().expect("it closes");
    });
    for path in disk.paths().iter().filter(|path| path.starts_with("/log")) {
        disk.truncate(path, 0);
    }
    disk.settle();
    disk
}

/// All records are of one data set.
const SETS: [DataSetId; 1] = [DataSetId(1)];

fn concern(_: &Record<'_>) -> Concern {
    Concern::Set(SETS[0])
}

struct Silent;

impl LogEvents for Silent {
    fn copy_lost(&self, _copy: u8, _from: GroupNumber, _why: &str) -> Result<(), String> {
        Ok(())
    }

    fn copy_back(&self, _: u8) -> Result<(), String> {
        Ok(())
    }
}

fn env(seam: &Seam) -> ArchiveEnv {
    ArchiveEnv {
        seam: seam.clone(),
        keys: Arc::new(TestKeys::new(1)),
        system: SYSTEM,
        key_label: "log".into(),
        format: Format::Sealed,
        plain: wal::PlainSpan::NONE,
        dated: |_| None,
    }
}

fn config(compress: Option<i32>) -> ArchiveConfig {
    let folders = vec![PathBuf::from("/archive/one"), PathBuf::from("/archive/two")];
    ArchiveConfig { compress, ..ArchiveConfig::new(folders) }
}

/// Spoilt archives give what was logged, or the first part of it, or say why not. Sound ones give
/// everything. What is repaired is sound.
pub fn fuzz(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let kind = usize::from(input.byte()) % 2;
    let disk = TEMPLATE.disks[kind].snapshot();
    spoil(&disk, &mut input);
    simulated(&disk, |seam| {
        let Ok(catalog) = ArchiveCatalog::open(env(&seam), config(None)) else { return };
        let catalog = Arc::new(catalog);
        let source = LogSource::new(Some(Arc::clone(&catalog)), None);
        let mut expected = TEMPLATE.bodies.iter();
        if let Ok(mut records) = source.read(Lsn::FIRST, Lsn(u64::MAX)) {
            while let Ok(Some(record)) = records.next() {
                assert_eq!(Some(record.body), expected.next().map(Vec::as_slice));
            }
        }
        let mut expected_of_set = TEMPLATE.bodies.iter();
        let range = Lsn::FIRST..source.end();
        let spans = SETS.map(Span::whole);
        let merged = source.each_of::<ArchiveError>(&spans, range, concern, &mut |record| {
            assert_eq!(Some(record.body), expected_of_set.next().map(Vec::as_slice));
            Ok(true)
        });
        let whole = expected_of_set.next().is_none();
        assert!(bytes.len() > 1 || (merged.is_ok() && whole), "sound accumulations lack records");
        assert!(bytes.len() > 1 || expected.next().is_none(), "sound archives lack their end");
        for copy in catalog.list() {
            for fault in catalog.verify(copy.info.from).unwrap_or_default() {
                if catalog.repair(fault.from, &fault.path).is_ok() {
                    let left = catalog.verify(copy.info.from).unwrap_or_default();
                    assert!(left.iter().all(|left| left.path != fault.path), "{left:?}");
                }
            }
        }
    });
}

/// No change, changes in headers and groups of either copy, a cut, two blocks exchanged.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let steps: [&[u8]; 6] = [
        &[],
        &[0, 1, 4, 0, 1, 1],
        &[0, 1, 6, 2, 1, 1],
        &[1, 1, 6, 4, 1, 1, 3, 1, 6, 4, 1, 1],
        &[2, 2, 0, 8, 0],
        &[0, 3, 0, 2, 0, 3],
    ];
    let kinds = (0..2_u8).flat_map(|kind| steps.map(|steps| [&[kind], steps].concat()));
    kinds.collect()
}
