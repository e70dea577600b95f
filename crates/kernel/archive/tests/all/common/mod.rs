//! A log with an archive in folders of their own, on real files.

#![allow(clippy::unwrap_used)] // the same as in the tests
#![allow(dead_code)] // each test file uses its part

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use base::{GroupNumber, Lsn, SystemId};
use holdfast_archive::{
    ArchiveCatalog, ArchiveConfig, ArchiveEnv, Archiver, LogSource, NoRegistry,
};
use seal::{Format, TestKeys};
use seam::Seam;
use seam::stop::StopSwitch;
use wal::{Log, LogConfig, LogEnv, LogEvents, LogStart};

struct Nobody;

impl LogEvents for Nobody {
    fn copy_lost(&self, _: u8, _: GroupNumber, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn copy_back(&self, _: u8) -> Result<(), String> {
        Ok(())
    }
}

/// A running log with its archive.
pub(crate) struct Bench {
    dir: PathBuf,
    pub(crate) config: ArchiveConfig,
    pub(crate) system: SystemId,
    log_config: LogConfig,
    running: Option<(Arc<Log>, Archiver)>,
    from: Lsn,
}

impl Bench {
    pub(crate) fn new(folders: usize, change: impl FnOnce(&mut ArchiveConfig)) -> Bench {
        Bench::of(SystemId([4; 16]), folders, change)
    }

    pub(crate) fn of(
        system: SystemId,
        folders: usize,
        change: impl FnOnce(&mut ArchiveConfig),
    ) -> Bench {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, SeqCst);
        let name = format!("holdfast-archive-{}-{number}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        let folder = |copy| dir.join(format!("archive-{copy}"));
        let mut config = ArchiveConfig::new((0..folders).map(folder).collect());
        change(&mut config);
        let log_config = LogConfig {
            segment_bytes: 64 << 10,
            segments_min: 2,
            segments_max: 8,
            ring_bytes: 64 << 10,
            group_bytes_max: 16 << 10,
            ..LogConfig::new(vec![dir.join("log")])
        };
        let mut bench = Bench { dir, config, system, log_config, running: None, from: Lsn::FIRST };
        Log::create(&bench.log_env(), &bench.log_config).unwrap();
        bench.start().unwrap();
        bench
    }

    fn log_env(&self) -> LogEnv {
        LogEnv {
            seam: Seam::real(),
            keys: Arc::new(TestKeys::new(2)),
            system: self.system,
            stop: Arc::new(StopSwitch::default()),
            events: Arc::new(Nobody),
        }
    }

    pub(crate) fn env(&self) -> ArchiveEnv {
        ArchiveEnv {
            seam: Seam::real(),
            keys: Arc::new(TestKeys::new(2)),
            system: self.system,
            key_label: "log".into(),
            format: Format::Sealed,
            plain: wal::PlainSpan::NONE,
            dated: |record| (record.kind == 9).then_some(1_000_000 + record.uow.0),
        }
    }

    pub(crate) fn start(&mut self) -> Result<(), String> {
        let catalog = ArchiveCatalog::open(self.env(), self.config.clone()).unwrap();
        catalog.prepare().unwrap();
        let start = LogStart {
            from: self.from,
            archived: catalog.archived_to().unwrap_or_default(),
            proven: catalog.proven(),
            ..LogStart::NEW
        };
        let opened = Log::open(self.log_env(), self.log_config.clone(), start);
        let (log, _) = opened.map_err(|error| error.to_string())?;
        let catalog = Arc::new(catalog);
        let archiver = Archiver::start(catalog, Arc::clone(&log), Arc::new(NoRegistry)).unwrap();
        self.running = Some((log, archiver));
        Ok(())
    }

    pub(crate) fn stop(&mut self) {
        let (log, archiver) = self.running.take().unwrap();
        archiver.end();
        self.from = log.segments().last().unwrap().first;
        log.close().unwrap();
    }

    pub(crate) fn restart(&mut self) {
        self.stop();
        self.start().unwrap();
    }

    pub(crate) fn end(&self) {
        let (log, archiver) = self.running.as_ref().unwrap();
        archiver.end();
        log.close().unwrap();
    }

    pub(crate) fn log(&self) -> &Arc<Log> {
        &self.running.as_ref().unwrap().0
    }

    pub(crate) fn archiver(&self) -> &Archiver {
        &self.running.as_ref().unwrap().1
    }

    pub(crate) fn source(&self) -> LogSource {
        let catalog = Arc::clone(self.archiver().catalog());
        LogSource::new(Some(catalog), Some(Arc::clone(self.log())))
    }

    pub(crate) fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    #[allow(clippy::disallowed_methods)] // a fault comes past the seam
    pub(crate) fn copy(&self, from: &Path, to: &Path) {
        std::fs::copy(from, to).unwrap();
    }

    #[allow(clippy::disallowed_methods)] // a fault comes past the seam
    pub(crate) fn remove(&self, path: &Path) {
        std::fs::remove_file(path).unwrap();
    }

    /// The files of the log as they are.
    #[allow(clippy::disallowed_methods)] // looks past the seam
    pub(crate) fn copy_of_log(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let names = std::fs::read_dir(self.dir.join("log")).unwrap();
        names.map(|name| name.unwrap().path()).map(|path| (path.clone(), bytes(&path))).collect()
    }

    /// The log as it was.
    pub(crate) fn put_back(&self, files: &[(PathBuf, Vec<u8>)]) {
        for name in self.copy_of_log() {
            self.remove(&name.0);
        }
        files.iter().for_each(|(path, bytes)| put(path, bytes));
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// A body that says which one it is.
pub(crate) fn body(index: u64, len: usize) -> Vec<u8> {
    let mut body = index.to_le_bytes().repeat(len / 8 + 1);
    body.truncate(len);
    body
}

/// Changes bytes of a file.
pub(crate) fn spoil(path: &Path, offset: u64, with: &[u8]) {
    let mut all = bytes(path);
    all[offset as usize..offset as usize + with.len()].copy_from_slice(with);
    put(path, &all);
}

/// The bytes of a file.
#[allow(clippy::disallowed_methods)] // looks past the seam
pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// Puts bytes in the place of a file's.
#[allow(clippy::disallowed_methods)] // a fault comes past the seam
pub(crate) fn put(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}
