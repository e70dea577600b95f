//! The file of an image copy, from front to back.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use btree::{Tree, format_empty};
use recon::{Recon, Setup};
use recovery::{CopyFiles, CopyInfo, CopyKeys, CopyOptions, copy_sets};
use seal::TestKeys;
use seam::Seam;
use seam::disk::{Create, Open};
use seam::sim::SimDisk;
use uow::{Kernel, UowOptions};

use crate::input::{Input, simulated, spoil};
use crate::restart::{config, definition, parts};

const COPY: &str = "/copy";

struct Template {
    /// The copy, and nothing else.
    disk: SimDisk,
    info: CopyInfo,
}

static TEMPLATE: LazyLock<Template> = LazyLock::new(|| {
    let disk = SimDisk::new();
    simulated(&disk, |seam| make(&seam));
    let copy = SimDisk::new();
    let info = simulated(&copy, |seam| {
        let how = Open { create: Create::New, write: true, direct: false, dsync: false };
        let file = seam.disk.open(COPY.as_ref(), how).expect("an empty disk takes it");
        let bytes = disk.read_raw(COPY, 0, disk.len_raw(COPY) as usize);
        file.write_at(&bytes, 0).expect("an empty disk takes it");
        read(&seam).expect("a sound copy proves itself")
    });
    copy.settle();
    Template { disk: copy, info }
});

fn keys(seam: &Seam) -> CopyKeys {
    let (keys, system) = (Arc::new(TestKeys::new(1)), parts(seam).system);
    CopyKeys { keys, label: "system".into(), system }
}

/// Makes a system with a data set, and copies it.
fn make(seam: &Seam) {
    Kernel::create(&parts(seam), &config()).expect("an empty disk takes it");
    let kernel = Kernel::open(parts(seam), config()).expect("a new system opens");
    let set = kernel.create_set(definition(), &format_empty).expect("a data set");
    let tree = Tree::new(&kernel, &set);
    let mut unit = kernel.begin(UowOptions::default()).expect("a unit of work");
    for number in 0..60_u32 {
        let value = vec![number as u8; 40 + number as usize * 11];
        tree.put(&mut unit, &number.to_be_bytes(), &value).expect("room for a record");
    }
    unit.commit().expect("a commit");
    let setup = Setup {
        seam: seam.clone(),
        keys: Arc::new(TestKeys::new(1)),
        label: "system".into(),
        system: parts(seam).system,
        folders: [PathBuf::from("/recon"), PathBuf::from("/recon")],
        compact_bytes: 1 << 20,
    };
    Recon::create(&setup, &[]).expect("an empty disk takes it");
    let (recon, _) = Recon::open(setup).expect("it opens");
    let mut files = CopyFiles::begin(seam, &[PathBuf::from(COPY)]).expect("a new file");
    let (names, options) = (["data".to_owned()], CopyOptions::default());
    let keys = keys(seam);
    let copied = copy_sets(&kernel, &keys, &recon, &names, &mut files, &options, &mut |_| true);
    copied.expect("a sound system is copied");
    kernel.close().expect("it stops in order");
}

fn read(seam: &Seam) -> Option<CopyInfo> {
    CopyFiles::verify(seam, Path::new(COPY), &keys(seam), &mut |_, _| ()).ok()
}

/// A spoilt copy is refused, or says exactly what the sound one says.
///
/// # Panics
/// If it says anything else.
pub fn fuzz(bytes: &[u8]) {
    let disk = TEMPLATE.disk.snapshot();
    spoil(&disk, &mut Input::new(bytes));
    let Some(info) = simulated(&disk, |seam| read(&seam)) else {
        assert!(!bytes.is_empty(), "a sound copy is refused");
        return;
    };
    let sound = &TEMPLATE.info;
    assert_eq!((info.tag, info.end, info.moment), (sound.tag, sound.end, sound.moment.clone()));
    assert_eq!((info.sets, info.intervals), (sound.sets.clone(), sound.intervals.clone()));
}

/// No change; damage in the head, in a payload, among intervals; a file that is cut.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    vec![
        vec![],
        vec![0, 1, 1, 0, 1, 1],
        vec![0, 1, 7, 0, 4, 1, 2, 3, 4],
        vec![0, 1, 0, 4, 1, 128],
        vec![0, 2, 0, 2],
        vec![0, 3, 0, 2, 0, 1],
    ]
}
