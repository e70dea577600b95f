//! Catalogs for tests, on the model of a store and on the kernel, and a machine in memory.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)] // the same as in the tests
#![allow(dead_code, unreachable_pub)] // each test uses its part

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use base::SystemId;
use holdfast_idcams::{Dd, Machine, Output, Summary, execute};
use seam::Seam;
use store::Store;
use store_kernel::{KernelStore, StoreDefaults};
use store_suite::model::ModelStore;
use uow::{Kernel, KernelConfig, Parts, PoolPlan};
use vsam::Catalog;

type Files = Rc<RefCell<BTreeMap<PathBuf, Vec<u8>>>>;

/// A machine whose files are in memory.
#[derive(Clone, Default)]
pub struct Memory {
    pub files: Files,
    /// Programs may be at work on the data sets.
    pub is_shared: bool,
    /// What happens elsewhere when a file is ended.
    pub meanwhile: Option<Meanwhile>,
}

pub type Meanwhile = Rc<RefCell<dyn FnMut()>>;

struct Written {
    files: Files,
    path: PathBuf,
    bytes: Vec<u8>,
    meanwhile: Option<Meanwhile>,
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for Written {
    fn finish(&mut self) -> io::Result<()> {
        self.files.borrow_mut().insert(self.path.clone(), self.bytes.clone());
        if let Some(meanwhile) = &self.meanwhile {
            (meanwhile.borrow_mut())();
        }
        Ok(())
    }
}

impl Machine for Memory {
    fn read(&mut self, path: &Path) -> io::Result<Box<dyn Read>> {
        let files = self.files.borrow();
        let bytes = files.get(path).cloned().ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(io::Cursor::new(bytes)))
    }

    fn write(&mut self, path: &Path, append: bool) -> io::Result<Box<dyn Output>> {
        let old = self.files.borrow().get(path).cloned().filter(|_| append);
        let bytes = old.unwrap_or_default();
        let (files, meanwhile) = (self.files.clone(), self.meanwhile.clone());
        Ok(Box::new(Written { files, path: path.into(), bytes, meanwhile }))
    }

    fn exists(&mut self, path: &Path) -> bool {
        self.files.borrow().contains_key(path)
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.files.borrow_mut().remove(path).map(|_| ()).ok_or(io::ErrorKind::NotFound.into())
    }

    fn is_alone(&self) -> bool {
        !self.is_shared
    }

    fn now_us(&self) -> u64 {
        1_735_689_600_000_000
    }
}

/// A catalog with a machine, and what was last printed.
pub struct Site<S: Store> {
    pub catalog: Catalog<S>,
    pub machine: Memory,
    pub printed: String,
    dds: Vec<Dd>,
}

impl<S: Store> Site<S> {
    fn on(store: S) -> Site<S> {
        let catalog = Catalog::open(store, Seam::real().clock).expect("a catalog");
        Site { catalog, machine: Memory::default(), printed: String::new(), dds: Vec::new() }
    }

    /// Gives a DD, as `--dd` does.
    pub fn dd(&mut self, text: &str) -> &mut Self {
        self.dds.push(Dd::parse(text).expect("a DD"));
        self
    }

    /// Places a file.
    pub fn file(&mut self, path: &str, bytes: impl Into<Vec<u8>>) -> &mut Self {
        self.machine.files.borrow_mut().insert(PathBuf::from(path), bytes.into());
        self
    }

    /// A file's bytes.
    pub fn bytes(&self, path: &str) -> Vec<u8> {
        self.machine.files.borrow().get(Path::new(path)).cloned().unwrap_or_default()
    }

    /// Executes statements.
    pub fn execute(&mut self, text: &str) -> Summary {
        let mut printed = Vec::new();
        let done = execute(&self.catalog, text, &self.dds, &mut self.machine, &mut printed);
        self.printed = String::from_utf8(printed).expect("text");
        done.expect("SYSPRINT can be written")
    }

    /// Executes statements that end with a condition code.
    #[track_caller]
    pub fn run(&mut self, code: u32, text: &str) -> &str {
        let summary = self.execute(text);
        assert_eq!(summary.code, code, "{}", self.printed);
        &self.printed
    }

    /// Executes one that has to be told by these words.
    #[track_caller]
    pub fn expected_text(&mut self, code: u32, text: &str, words: &[&str]) {
        self.run(code, text);
        for word in words {
            assert!(self.printed.contains(word), "{word} is not in:\n{}", self.printed);
        }
    }
}

/// On the model of a store.
pub fn model() -> Site<ModelStore> {
    Site::on(ModelStore::new())
}

/// On the kernel; what has to be kept comes with it.
pub fn kernel(name: &str) -> (Site<KernelStore>, Running) {
    let folder = Folder::new(name);
    let parts = Parts {
        seam: Seam::real(),
        keys: Arc::new(seal::TestKeys::new(1)),
        system: SystemId([7; 16]),
        home: folder.0.clone(),
        resource: Arc::new(btree::TreeResource),
        override_stale: false,
        offline: Vec::new(),
    };
    let mut config = KernelConfig::new(&folder.0);
    config.log.segment_bytes = 4 << 20;
    config.log.ring_bytes = 4 << 20;
    config.log.segments_min = 2;
    config.pools = vec![PoolPlan { name: "default".into(), unit_bytes: 8192, frames: 256 }];
    Kernel::create(&parts, &config).expect("a system can be made");
    let kernel = Kernel::open(parts, config).expect("a system can be opened");
    let store = KernelStore::new(&kernel, StoreDefaults::default()).expect("a store");
    (Site::on(store), Running { kernel, _folder: folder })
}

/// A kernel that is abandoned when the test is over.
pub struct Running {
    kernel: Arc<Kernel>,
    _folder: Folder,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kernel.abandon();
    }
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let base = std::env::var_os("CARGO_TARGET_TMPDIR").map(PathBuf::from);
        let base = base.unwrap_or_else(std::env::temp_dir);
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("holdfast-idcams-{name}-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The definition of a keyed cluster: keys of 4, records up to 80.
pub const ACCOUNTS: &str = " DEFINE CLUSTER (NAME(BANK.ACCT) INDEXED KEYS(4 0) -\n   \
                            RECORDSIZE(20 80) VOLUMES(SYSDA1) SHAREOPTIONS(2 3))\n";

/// Records `0001 name-1` and so on, as lines.
pub fn lines(numbers: impl IntoIterator<Item = u32>) -> String {
    numbers.into_iter().map(|number| format!("{number:04} name-{number}\n")).collect()
}
