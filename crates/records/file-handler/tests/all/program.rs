//! A program without a program: memory of its own, and control blocks.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

use file_handler::fcd::{Access, Fcd, Organization};
use file_handler::name::Variables;
use file_handler::{Caller, Carrier, Clusters, FileStatus, Handler, Native, Remote};
use seam::Seam;
use seam::sync::Mutex;
use store::{Store, Unit, UnitOptions};
use store_kernel::{KernelStore, StoreDefaults};
use uow::{Kernel, KernelConfig, Parts, PoolPlan};
use vsam::{
    AlternateIndexAttributes, Catalog, ClusterAttributes, DataSetName, Definition, KeyField,
    PathAttributes,
};

/// Each case runs over the model of the store and over the kernel.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod on_the_model {
            $(#[test]
            fn $name() {
                super::$name($crate::program::Owner::over(store_suite::model::ModelStore::new()));
            })*
        }
        mod on_the_kernel {
            $(#[test]
            fn $name() {
                let ground = $crate::program::Ground::new(stringify!($name));
                super::$name($crate::program::Owner::over(ground.store.clone()));
            })*
        }
    };
}
pub(crate) use on_both;

/// Names by which files are found.
#[derive(Clone, Default)]
pub(crate) struct Names(pub(crate) BTreeMap<String, String>);

impl Variables for Names {
    fn get(&self, name: &OsStr) -> Option<OsString> {
        self.0.get(name.to_str()?).map(OsString::from)
    }
}

/// Whoever has the catalog, with a unit of work that somebody else commits.
pub(crate) struct Owner<S: Store> {
    pub(crate) store: S,
    pub(crate) catalog: Catalog<S>,
    clusters: Clusters<S>,
    unit: Option<S::Unit>,
}

impl<S: Store> Owner<S> {
    pub(crate) fn over(store: S) -> Owner<S> {
        let catalog = Catalog::open(store.clone(), Seam::real().clock).expect("a catalog");
        let clusters = Clusters::new(catalog.clone());
        Owner { store, catalog, clusters, unit: None }
    }

    /// A second program's, over the same catalog.
    pub(crate) fn beside(&self) -> Owner<S> {
        let clusters = Clusters::new(self.catalog.clone());
        Owner { store: self.store.clone(), catalog: self.catalog.clone(), clusters, unit: None }
    }

    pub(crate) fn define(&self, name: &str, definition: Definition) {
        self.catalog.define(&named(name), definition, None).unwrap_or_else(|e| panic!("{e}"));
    }

    pub(crate) fn commit(&mut self) {
        if let Some(unit) = self.unit.take() {
            unit.commit().expect("a commit");
        }
    }

    pub(crate) fn back_out(&mut self) {
        if let Some(unit) = self.unit.take() {
            unit.backout().expect("a backout");
        }
    }
}

/// A kernel in a folder that is removed with it.
pub(crate) struct Ground {
    pub(crate) store: KernelStore,
    kernel: Arc<Kernel>,
    folder: PathBuf,
}

impl Ground {
    pub(crate) fn new(test: &str) -> Ground {
        let name = format!("file-handler-{test}-{}", std::process::id());
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
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
        Kernel::create(&parts(), &config).expect("a kernel");
        let kernel = Kernel::open(parts(), config).expect("a kernel");
        let store = KernelStore::new(&kernel, StoreDefaults::default()).expect("a store");
        Ground { store, kernel, folder }
    }

    /// Whether a unit of work waits for another.
    pub(crate) fn is_waited_in(&self) -> bool {
        self.kernel.locks().print().iter().any(|held| held.waiting)
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        self.kernel.abandon();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub(crate) fn named(name: &str) -> DataSetName {
    DataSetName::parse(name).expect("a name")
}

/// A keyed cluster of 20 bytes with its key at the front, and an index over bytes 6 to 9.
pub(crate) fn accounts<S: Store>(owner: &Owner<S>) {
    let cluster = ClusterAttributes::keyed(KeyField { offset: 0, bytes: 6 }, 20);
    owner.define("BANK.ACCOUNT", Definition::Cluster(ClusterAttributes { reuse: true, ..cluster }));
    let key = KeyField { offset: 6, bytes: 4 };
    let index = AlternateIndexAttributes::new(named("BANK.ACCOUNT"), key);
    let index = AlternateIndexAttributes { unique: false, upgrade: true, ..index };
    owner.define("BANK.BYNAME", Definition::AlternateIndex(index));
    owner.catalog.build_index(&named("BANK.BYNAME")).expect("an empty index");
    let path = PathAttributes { entry: named("BANK.BYNAME"), update: true };
    owner.define("BANK.NAMES", Definition::Path(path));
}

struct Direct<S: Store>(Arc<Mutex<Owner<S>>>);

impl<S: Store> Carrier for Direct<S> {
    fn carry(&mut self, request: &[u8], answer: &mut Vec<u8>) -> bool {
        let mut owner = self.0.lock();
        let Owner { store, clusters, unit, .. } = &mut *owner;
        let unit = match unit {
            Some(unit) => unit,
            none => none.insert(store.begin(UnitOptions::default()).expect("a unit of work")),
        };
        clusters.serve(unit, request, answer).is_ok()
    }
}

/// A program.
pub(crate) struct Program {
    pub(crate) handler: Handler,
}

impl Program {
    pub(crate) fn over<S: Store>(owner: &Arc<Mutex<Owner<S>>>, names: &[(&str, &str)]) -> Program {
        let names = names.iter().map(|(name, value)| (format!("DD_{name}"), (*value).to_owned()));
        let names = Names(names.collect());
        let remote = Remote::new(Box::new(Direct(Arc::clone(owner))));
        Program { handler: Handler::new(Box::new(names), Some(Box::new(remote))) }
    }
}

/// A file of a program, with its memory.
pub(crate) struct File {
    pub(crate) fcd: Fcd,
    pub(crate) memory: Memory,
}

/// What a block's addresses lead to.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) name: Vec<u8>,
    pub(crate) keys: Vec<u8>,
    pub(crate) record: Vec<u8>,
    pub(crate) identity: u64,
    pub(crate) number: u64,
    pub(crate) number_max: u64,
}

impl Caller for Memory {
    fn identity(&mut self, _fcd: &mut Fcd) -> u64 {
        self.identity
    }

    fn recall(&mut self, identity: u64) {
        assert_eq!(identity, self.identity);
    }

    fn name(&mut self, _fcd: &Fcd) -> Vec<u8> {
        self.name.clone()
    }

    fn keys(&mut self, _fcd: &Fcd) -> Vec<u8> {
        self.keys.clone()
    }

    fn get(&mut self, _fcd: &Fcd, offset: usize, len: usize, out: &mut Vec<u8>) {
        let end = offset.saturating_add(len).min(self.record.len());
        out.extend_from_slice(&self.record[offset.min(end)..end]);
    }

    fn put(&mut self, _fcd: &Fcd, record: &[u8], fill: usize) {
        let len = record.len().min(self.record.len());
        self.record[..len].copy_from_slice(&record[..len]);
        let end = fill.min(self.record.len()).max(len);
        self.record[len..end].fill(b' ');
    }

    fn depending(&mut self) -> Option<u32> {
        None
    }

    fn tell_length(&mut self, _length: u32) {}

    fn number_most(&mut self) -> u64 {
        self.number_max
    }

    fn tell_number(&mut self, number: u64) -> bool {
        self.number = number;
        number <= self.number_max
    }

    fn closed(&mut self) {}

    fn native(&mut self, _request: Native, _fcd: &mut Fcd) -> Option<FileStatus> {
        None
    }
}

impl File {
    pub(crate) fn new(name: &str, organization: Organization, access: Access, most: u32) -> File {
        let mut fcd = Fcd::default();
        fcd.set_organization(organization);
        fcd.set_access(access);
        fcd.set_record_limits(most, most);
        fcd.set_record_bytes(most);
        let memory = Memory {
            name: name.as_bytes().to_vec(),
            record: vec![b' '; most as usize],
            identity: name.bytes().fold(7, |sum, byte| sum * 31 + u64::from(byte)),
            number_max: 9999,
            ..Memory::default()
        };
        File { fcd, memory }
    }

    /// With these keys: offset, bytes, duplicates.
    pub(crate) fn with_keys(mut self, keys: &[(u32, u32, bool)]) -> File {
        let first = 14 + 16 * keys.len();
        let mut bytes = vec![0; first + 10 * keys.len()];
        bytes[7] = keys.len() as u8;
        for (number, (offset, len, duplicates)) in keys.iter().enumerate() {
            let (key, part) = (14 + 16 * number, first + 10 * number);
            bytes[key + 1] = 1;
            bytes[key + 3] = part as u8;
            bytes[key + 4] = u8::from(*duplicates) << 6;
            bytes[part + 2..part + 6].copy_from_slice(&offset.to_be_bytes());
            bytes[part + 6..part + 10].copy_from_slice(&len.to_be_bytes());
        }
        self.memory.keys = bytes;
        self
    }

    /// An account of `accounts`.
    pub(crate) fn accounts(access: Access) -> File {
        let file = File::new("ACCOUNT", Organization::Indexed, access, 20);
        file.with_keys(&[(0, 6, false), (6, 4, true)])
    }

    pub(crate) fn record(&mut self, text: &str) -> &mut File {
        self.memory.record.fill(b' ');
        self.memory.record[..text.len()].copy_from_slice(text.as_bytes());
        self
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.memory.record).trim_end().to_owned()
    }

    pub(crate) fn key(&mut self, key: u16, bytes: u16) -> &mut File {
        self.fcd.set_key_of_reference(key);
        self.fcd.set_key_bytes(bytes);
        self
    }

    pub(crate) fn number(&mut self, number: u64) -> &mut File {
        self.fcd.set_relative_key(number);
        self
    }

    /// Makes a request, and gives back its status.
    pub(crate) fn ask(&mut self, program: &mut Program, code: u8) -> String {
        program.handler.call([0xfa, code], 4096, &mut self.fcd, &mut self.memory);
        String::from_utf8_lossy(&self.fcd.status()).into_owned()
    }
}

pub(crate) const OPEN_INPUT: u8 = 0x00;
pub(crate) const OPEN_OUTPUT: u8 = 0x01;
pub(crate) const OPEN_IO: u8 = 0x02;
pub(crate) const OPEN_EXTEND: u8 = 0x03;
pub(crate) const CLOSE: u8 = 0x80;
pub(crate) const NEXT: u8 = 0xf5;
pub(crate) const PREVIOUS: u8 = 0xf9;
pub(crate) const READ: u8 = 0xf6;
pub(crate) const WRITE: u8 = 0xf3;
pub(crate) const REWRITE: u8 = 0xf4;
pub(crate) const DELETE: u8 = 0xf7;
pub(crate) const START_EQUAL: u8 = 0xe8;
pub(crate) const START_NOT_LESS: u8 = 0xeb;
pub(crate) const START_GREATER: u8 = 0xea;
pub(crate) const DELETE_FILE: u8 = 0xf8;
