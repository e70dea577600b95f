//! A whole system whose files were spoilt while it was down: restart repairs them, names the
//! damage, or shows a state that was once committed. It never shows anything else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use base::{DataSetId, KeyGeneration, SystemId};
use btree::{Bound, Cursor, Tree, TreeResource, format_empty};
use seal::{Format, TestKeys};
use seam::Seam;
use seam::sim::SimDisk;
use space::Definition;
use uow::{Kernel, KernelConfig, Parts, PoolPlan, UowOptions};

use crate::input::{Input, simulated, spoil};

const HOME: &str = "/system";
const UNIT_BYTES: usize = 4096;

type Contents = BTreeMap<Vec<u8>, Vec<u8>>;

struct Template {
    disk: SimDisk,
    /// What the data set held after each commit, from none to all.
    states: Vec<Contents>,
}

static TEMPLATE: LazyLock<Template> = LazyLock::new(|| {
    let disk = SimDisk::new();
    let states = simulated(&disk, |seam| {
        let path = Path::new(HOME);
        seam::disk::make_dir(&*seam.disk, &path.join("data")).expect("an empty disk");
        Kernel::create(&parts(&seam), &config()).expect("a system on an empty disk");
        let kernel = Kernel::open(parts(&seam), config()).expect("a new system opens");
        kernel.create_set(definition(), &format_empty).expect("a data set");
        let states = fill(&kernel);
        kernel.abandon();
        states
    });
    disk.settle();
    Template { disk, states }
});

/// Commits units of work, with the pages written in the middle, and leaves one open.
fn fill(kernel: &Arc<Kernel>) -> Vec<Contents> {
    let set = kernel.set_named("data").expect("it was made");
    let tree = Tree::new(kernel, &set);
    let begin = || kernel.begin(UowOptions::default()).expect("a unit of work");
    let mut states = vec![Contents::new()];
    for number in 0..24_u32 {
        let mut contents = states[states.len() - 1].clone();
        let mut unit = begin();
        for part in 0..4 {
            let key = format!("key{:03}", (number * 7 + part * 13) % 60).into_bytes();
            let value = vec![number as u8; 50 + part as usize * 60];
            tree.put(&mut unit, &key, &value).expect("room for a record");
            contents.insert(key, value);
        }
        unit.commit().expect("a commit");
        states.push(contents);
        if number == 14 {
            kernel.write_out().expect("pages are written");
        }
    }
    let mut open = begin();
    tree.put(&mut open, b"key000", b"never committed").expect("room for a record");
    let logged = kernel.log().next_lsn();
    kernel.log().wait_durable(logged).expect("the log is written");
    states
}

pub(crate) fn config() -> KernelConfig {
    let mut config = KernelConfig::new(Path::new(HOME));
    config.log.copies = vec![PathBuf::from("/log1"), PathBuf::from("/log2")];
    config.log.segment_bytes = 128 << 10;
    config.log.segments_min = 2;
    config.log.group_bytes_max = 16 << 10;
    config.log.ring_bytes = 32 << 10;
    let pool = PoolPlan { name: "pool".into(), unit_bytes: UNIT_BYTES, frames: 64 };
    config.pools = vec![pool];
    config.checkpoint_interval = Duration::from_secs(3600);
    config
}

pub(crate) fn parts(seam: &Seam) -> Parts {
    Parts {
        seam: seam.clone(),
        keys: Arc::new(TestKeys::new(1)),
        system: SystemId([7; 16]),
        home: HOME.into(),
        resource: Arc::new(TreeResource),
        override_stale: false,
        offline: Vec::new(),
    }
}

pub(crate) fn definition() -> Definition {
    Definition {
        id: DataSetId(0),
        name: "data".into(),
        ci_bytes: UNIT_BYTES as u32,
        format: Format::Sealed,
        label: "data".into(),
        generation: KeyGeneration(1),
        pool: String::new(),
        file_intervals: 0,
        folders: vec!["data".into()],
        attributes: Vec::new(),
        conversion: None,
        permit: None,
    }
}

/// Spoils any files of the system, starts it and reads everything.
///
/// # Panics
/// If what it reads was never committed, or if it does not start although nothing was spoilt.
pub fn fuzz(bytes: &[u8]) {
    let disk = TEMPLATE.disk.snapshot();
    spoil(&disk, &mut Input::new(bytes));
    let contents = simulated(&disk, |seam| {
        let kernel = Kernel::open(parts(&seam), config()).ok()?;
        let contents = read(&kernel);
        kernel.abandon();
        contents
    });
    match contents {
        Some(contents) => assert!(TEMPLATE.states.contains(&contents), "a state that never was"),
        None => assert!(!bytes.is_empty(), "a sound system did not start"),
    }
    if bytes.is_empty() {
        let last = &TEMPLATE.states[TEMPLATE.states.len() - 1];
        assert_eq!(read_again(&disk).as_ref(), Some(last), "a commit was lost");
    }
}

/// What the data set holds; nothing if there is none or damage is in the way.
fn read(kernel: &Arc<Kernel>) -> Option<Contents> {
    let Some(set) = kernel.set_named("data") else { return Some(Contents::new()) };
    let tree = Tree::new(kernel, &set);
    let mut cursor = Cursor::new();
    cursor.seek(Bound::At(b""));
    let mut contents = Contents::new();
    while cursor.next(&tree).ok()? {
        contents.insert(cursor.key().to_vec(), cursor.value().to_vec());
    }
    Some(contents)
}

/// The same after a second restart.
fn read_again(disk: &SimDisk) -> Option<Contents> {
    simulated(disk, |seam| read(&Kernel::open(parts(&seam), config()).ok()?))
}

/// No change; damage in the log, in the control file, in a data set; blocks exchanged, files cut.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![vec![]];
    for file in 0..8 {
        seeds.push(vec![file, 1, 4, 2, 1, 1]);
        seeds.push(vec![file, 3, 0, 2, 0, 3]);
        seeds.push(vec![file, 2, 0, 8, 0]);
    }
    seeds
}
