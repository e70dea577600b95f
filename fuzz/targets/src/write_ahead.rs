//! The write-ahead data set: entries over two files, of a log that lacks what they hold.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use base::{GroupNumber, Lsn, UowId};
use seam::sim::SimDisk;
use seam::sync::Mutex;
use wal::{Beginning, Log, LogConfig, LogEnv, LogError, LogEvents, LogStart, WadsConfig, scan};

use crate::input::{Input, simulated, spoil_those};
use crate::log_files;

/// Notes what the control file of a system would say.
#[derive(Default)]
struct Noted(Mutex<Option<Beginning>>);

impl LogEvents for Noted {
    fn copy_lost(&self, _: u8, _: GroupNumber, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn copy_back(&self, _: u8) -> Result<(), String> {
        Ok(())
    }

    fn ahead(&self, holds: Option<Beginning>) -> Result<(), String> {
        *self.0.lock() = holds;
        Ok(())
    }
}

struct Template {
    disk: SimDisk,
    start: LogStart,
    /// What was acknowledged, in order.
    bodies: Vec<Vec<u8>>,
}

static TEMPLATE: LazyLock<Template> = LazyLock::new(|| {
    let disk = SimDisk::new();
    let running = disk.clone();
    simulated(&disk, |seam| {
        let noted = Arc::new(Noted::default());
        let env = LogEnv { events: Arc::clone(&noted) as _, ..log_files::env(&seam) };
        Log::create(&env, &config()).expect("a log on an empty disk");
        let (log, _) = Log::open(env, config(), LogStart::NEW).expect("a new log opens");
        let mut bodies = Vec::new();
        for number in 0..30_usize {
            let body = vec![number as u8; number * 53 % 900];
            let place = log.append(64, 0, UowId(1), Lsn::NONE, &[&body]).expect("there is room");
            bodies.push(body);
            log.wait_durable(place.end).expect("it becomes durable");
        }
        // As a power failure leaves it now.
        let disk = running.snapshot();
        let start = LogStart { ahead: *noted.0.lock(), ..LogStart::NEW };
        assert!(start.ahead.is_some(), "the log lacks something");
        log.close().expect("it closes");
        Template { disk, start, bodies }
    })
});

fn config() -> LogConfig {
    let folders = vec![PathBuf::from("/ahead-1"), PathBuf::from("/ahead-2")];
    let wads = WadsConfig { bytes: 32 << 10, ..WadsConfig::new(folders) };
    LogConfig { wads: Some(wads), ..log_files::config() }
}

/// A log opens with what was acknowledged, in order, and all of it if only one file is spoilt; or
/// it says why not.
pub fn fuzz(bytes: &[u8]) {
    let disk = TEMPLATE.disk.snapshot();
    let mut paths = disk.paths();
    paths.retain(|path| path.to_string_lossy().starts_with("/ahead"));
    spoil_those(&disk, &paths, &mut Input::new(bytes));
    let content =
        |disk: &SimDisk, path: &PathBuf| disk.read_raw(path, 0, disk.len_raw(path) as usize);
    let is_whole = |path: &&PathBuf| content(&disk, path) == content(&TEMPLATE.disk, path);
    let whole = paths.iter().filter(is_whole).count();
    simulated(&disk, |seam| {
        let env = log_files::env(&seam);
        let looked = scan(&env, &config(), &TEMPLATE.start, &mut |_| {});
        let opened = Log::open(env, config(), TEMPLATE.start);
        assert_eq!(looked.is_ok(), opened.is_ok(), "a look and a start say the same");
        let (log, opened) = match opened {
            Ok(opened) => opened,
            Err(
                LogError::Damaged { .. } | LogError::NoWads { .. } | LogError::FutureVersion { .. },
            ) if whole == 0 => {
                return;
            }
            Err(error) => panic!("{whole} files are whole: {error}"),
        };
        let mut records = log.read(Lsn::FIRST, opened.end);
        let mut expected = TEMPLATE.bodies.iter();
        while let Some(record) = records.next().expect("what opened can be read") {
            assert_eq!(Some(record.body), expected.next().map(Vec::as_slice));
        }
        assert!(whole == 0 || expected.next().is_none(), "one file alone has everything");
        log.close().expect("it closes");
    });
}

/// No change; an entry of one file, of both; a version; a cut; two entries exchanged.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    vec![
        vec![],
        vec![0, 1, 4, 0, 1, 1],
        vec![0, 1, 4, 2, 1, 1, 1, 1, 4, 2, 1, 1],
        vec![1, 0, 0, 2, 6, b'H', b'F', b'L', b'W', 2, 0],
        vec![0, 2, 0, 8],
        vec![0, 3, 0, 2, 0, 3, 1, 3, 0, 4, 0, 1],
    ]
}
