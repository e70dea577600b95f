//! The control file: two slots, one of which is always whole.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use base::{Lsn, SystemId};
use seal::TestKeys;
use seam::sim::SimDisk;
use uow::Protection;
use uow::control::{ControlBlock, ControlFile, ControlKeys};

use crate::input::{Input, simulated, spoil};

const PATH: &str = "/control";

struct Template {
    disk: SimDisk,
    /// What the file has said, oldest first.
    states: Vec<ControlBlock>,
}

static TEMPLATE: LazyLock<Template> = LazyLock::new(|| {
    let disk = SimDisk::new();
    let states = simulated(&disk, |seam| {
        let path = Path::new(PATH);
        let created = ControlFile::create(&seam, path, &keys(), &protection());
        created.expect("a control file on an empty disk");
        let (control, first) = ControlFile::open(&seam, path, &keys()).expect("it opens");
        let mut states = vec![first];
        for lsn in [100, 200, 300] {
            control.update(|block| block.checkpoint = Lsn(lsn)).expect("it is written");
            states.push(control.block());
        }
        states
    });
    disk.settle();
    Template { disk, states }
});

fn keys() -> ControlKeys {
    ControlKeys {
        keys: Arc::new(TestKeys::new(1)),
        label: "system".into(),
        system: SystemId([3; 16]),
    }
}

fn protection() -> Protection {
    Protection {
        edition: 1,
        log_copies: 2,
        exceptions: ["HISTORY".to_owned()].into(),
        anchor: Some("/mnt/other/anchor".into()),
        ..Protection::SEALED
    }
}

/// A spoilt file says what one of its slots has said, or nothing.
pub fn fuzz(bytes: &[u8]) {
    let disk = TEMPLATE.disk.snapshot();
    spoil(&disk, &mut Input::new(bytes));
    let opened = simulated(&disk, |seam| ControlFile::open(&seam, Path::new(PATH), &keys()));
    if let Ok((control, block)) = opened {
        assert_eq!(control.protection(), protection(), "it binds what it never bound");
        assert!(TEMPLATE.states[2..].contains(&block), "it says what it never said: {block:?}");
    }
}

/// No change, and a change in either slot.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    vec![vec![], vec![0, 1, 2, 0, 1, 1], vec![0, 1, 2, 2, 1, 1], vec![0, 3, 0, 0, 0, 1]]
}
