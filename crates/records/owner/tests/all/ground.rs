//! Owners for tests, and programs that use their files.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use file_handler::body::{Body, Found, Place, Which};
use file_handler::data_set::{DataSets as _, Opening};
use file_handler::fcd::{Access, KeyDefinition, OpenMode, Organization};
use file_handler::machine::Shape;
use file_handler::{Carrier as _, FileStatus};
use owner::{Admission, Applid, Files, Options, Owners, Places, Server, Service, Who};
use seam::Seam;
use seam::clock::Clock;
use store::Store;
use store_kernel::{KernelStore, StoreDefaults};
use uow::{Kernel, KernelConfig, Parts, PoolPlan};
use vsam::{
    AlternateIndexAttributes, Catalog, ClusterAttributes, DataSetName, Definition, KeyField,
    PathAttributes,
};

static LAST: AtomicU32 = AtomicU32::new(0);

/// A folder of its own.
pub(crate) fn folder(test: &str) -> PathBuf {
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    let name = format!("owner-{test}-{}-{number}", std::process::id());
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// A kernel in a folder that is removed with it.
pub(crate) struct Ground {
    pub(crate) store: KernelStore,
    kernel: Arc<Kernel>,
    folder: PathBuf,
}

impl Ground {
    pub(crate) fn new(test: &str) -> Ground {
        let folder = folder(test);
        let parts = || Parts {
            seam: Seam::real(),
            keys: Arc::new(seal::TestKeys::new(1)),
            system: base::SystemId([7; 16]),
            home: folder.clone(),
            resource: Arc::new(btree::TreeResource),
            override_stale: false,
            offline: Vec::new(),
        };
        let mut config = KernelConfig::new(&folder);
        config.log.segment_bytes = 4 << 20;
        config.log.ring_bytes = 4 << 20;
        config.log.segments_min = 2;
        config.pools = vec![PoolPlan { name: "default".into(), unit_bytes: 8192, frames: 512 }];
        Kernel::create(&parts(), &config).unwrap();
        let kernel = Kernel::open(parts(), config).unwrap();
        let store = KernelStore::new(&kernel, StoreDefaults::default()).unwrap();
        Ground { store, kernel, folder }
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        self.kernel.abandon();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Lets processes of this machine in, and ANNA by her password.
pub(crate) struct Users;

impl Admission for Users {
    fn admits(&self, who: &Who<'_>) -> bool {
        match who {
            Who::Local(peer) => peer.process == std::process::id(),
            Who::Remote { user, password } => *user == "ANNA" && *password == b"secret",
        }
    }
}

/// A system that owns accounts.
pub(crate) struct Owner<S: Store> {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) catalog: Catalog<S>,
    pub(crate) server: Option<Server<S>>,
    pub(crate) folder: PathBuf,
}

pub(crate) fn named(name: &str) -> DataSetName {
    DataSetName::parse(name).unwrap()
}

impl<S: Store> Owner<S> {
    pub(crate) fn over(store: S, options: Options) -> Owner<S> {
        Owner::with_clock(store, options, Seam::real().clock)
    }

    pub(crate) fn with_clock(store: S, options: Options, clock: Arc<dyn Clock>) -> Owner<S> {
        let folder = folder("socket");
        std::fs::create_dir_all(&folder).unwrap();
        let catalog = Catalog::open(store, Seam::real().clock).unwrap();
        accounts(&catalog);
        let mut owner = Owner { clock, catalog, server: None, folder };
        owner.start(options);
        owner
    }

    pub(crate) fn start(&mut self, options: Options) {
        let names = BTreeMap::from([
            ("ACCOUNT".to_owned(), "BANK.ACCOUNT".to_owned()),
            ("NAMES".to_owned(), "BANK.NAMES".to_owned()),
        ]);
        let catalog = self.catalog.clone();
        let service = Service {
            files: Arc::new(Files { applid: Applid::parse("BANK").unwrap(), names }),
            catalog: Box::new(move || Some(catalog.clone())),
            admission: Box::new(Users),
            clock: Arc::clone(&self.clock),
        };
        let socket = self.folder.join(owner::place::SOCKET);
        self.server = Some(Server::start(Options { socket, ..options }, service).unwrap());
    }

    /// A program that finds the owner by its folder.
    pub(crate) fn program(&self) -> Program {
        Program::with(&[("HOLDFAST_OWNER_BANK", self.folder.to_str().unwrap())])
    }
}

impl<S: Store> Drop for Owner<S> {
    fn drop(&mut self) {
        self.server = None;
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A keyed cluster of 20 bytes with its key at the front, and an index over bytes 6 to 9; share
/// options keep a second writer out.
fn accounts<S: Store>(catalog: &Catalog<S>) {
    let define = |name: &str, definition| catalog.define(&named(name), definition, None).unwrap();
    let cluster = ClusterAttributes::keyed(KeyField { offset: 0, bytes: 6 }, 20);
    define("BANK.ACCOUNT", Definition::Cluster(ClusterAttributes { reuse: true, ..cluster }));
    let key = KeyField { offset: 6, bytes: 4 };
    let index = AlternateIndexAttributes::new(named("BANK.ACCOUNT"), key);
    let index = AlternateIndexAttributes { unique: false, upgrade: true, ..index };
    define("BANK.BYNAME", Definition::AlternateIndex(index));
    catalog.build_index(&named("BANK.BYNAME")).unwrap();
    let path = PathAttributes { entry: named("BANK.BYNAME"), update: true };
    define("BANK.NAMES", Definition::Path(path));
}

/// A program outside.
pub(crate) struct Program {
    pub(crate) owners: Owners,
}

/// A file of one.
pub(crate) struct File(pub(crate) Box<dyn Body>);

impl Program {
    pub(crate) fn with(variables: &[(&str, &str)]) -> Program {
        let variables = variables.iter();
        let variables: BTreeMap<String, OsString> =
            variables.map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect();
        Program { owners: Owners::new(None, Places::given(variables), |_| {}) }
    }

    pub(crate) fn open(&mut self, mode: OpenMode, access: Access) -> File {
        self.opens("#VSAM.#CICS.BANK/ACCOUNT", mode, access).unwrap()
    }

    pub(crate) fn opens(
        &mut self,
        name: &str,
        mode: OpenMode,
        access: Access,
    ) -> Result<File, FileStatus> {
        let key = |offset, bytes, duplicates| KeyDefinition {
            offset,
            bytes,
            duplicates,
            sparse: None,
            rest: Vec::new(),
        };
        let opening = Opening {
            data_set: name.to_owned(),
            paths: vec![None, Some("#VSAM.#CICS.BANK/NAMES".to_owned())],
            shape: Shape {
                organization: Organization::Indexed,
                least: 20,
                most: 20,
                optional: false,
            },
            mode,
            access,
            keys: vec![key(0, 6, false), key(6, 4, true)],
        };
        self.owners.open(&opening).map(|(body, _)| File(body))
    }

    /// Begins or ends a unit of work.
    pub(crate) fn unit(&mut self, code: u8) -> FileStatus {
        let line = self.owners.line("#VSAM.#CICS.BANK/ACCOUNT").unwrap().unwrap();
        let mut answer = Vec::new();
        assert!(line.lock().carry(&[code], &mut answer));
        FileStatus(*answer.first_chunk().unwrap())
    }

    /// Loads accounts `AA0000` and so on, each with the same few names.
    pub(crate) fn load(&mut self, count: u32) {
        let mut file = self.open(OpenMode::Output, Access::Sequential);
        for number in 0..count {
            assert!(file.write(&account(number, "ANNA")).is_done());
        }
        file.0.close().unwrap();
    }
}

/// An account.
pub(crate) fn account(number: u32, name: &str) -> String {
    format!("AA{number:04}{name:<14}")
}

fn text(found: Result<Found, FileStatus>, record: &[u8]) -> Result<String, FileStatus> {
    found.map(|_| String::from_utf8_lossy(record).trim_end().to_owned())
}

impl File {
    pub(crate) fn write(&mut self, record: &str) -> FileStatus {
        let place = Place { in_sequence: true, number: 0, options: 0 };
        self.0.write(record.as_bytes(), place).map_or_else(|status| status, |found| found.status)
    }

    pub(crate) fn next(&mut self) -> Result<String, FileStatus> {
        let mut record = Vec::new();
        text(self.0.read_next(false, &mut record), &record)
    }

    pub(crate) fn previous(&mut self) -> Result<String, FileStatus> {
        let mut record = Vec::new();
        text(self.0.read_next(true, &mut record), &record)
    }

    pub(crate) fn read(&mut self, key: &str) -> Result<String, FileStatus> {
        let mut record = Vec::new();
        let which = Which::Key { number: 0, value: key.as_bytes() };
        text(self.0.read(which, &mut record), &record)
    }

    pub(crate) fn rewrite(&mut self, record: &str) -> FileStatus {
        let which = Which::Key { number: 0, value: &record.as_bytes()[..6] };
        self.0.rewrite(record.as_bytes(), which).unwrap_or_else(|status| status)
    }

    pub(crate) fn delete(&mut self, key: &str) -> FileStatus {
        let which = Which::Key { number: 0, value: key.as_bytes() };
        self.0.delete(which).map_or_else(|status| status, |()| FileStatus::DONE)
    }
}

/// A certificate's file of the doors' tests.
pub(crate) fn certificate(name: &str) -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    crates.join("doors/ims-connect/tests/certificates").join(name)
}
