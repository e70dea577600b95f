//! The double-write area: two slots of sealed intervals behind a sealed header.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use base::{CiNumber, DataSetId, Lsn, SystemId};
use pool::BatchEntry;
use pool::double_write::{DoubleWrite, DoubleWriteKeys};
use seal::{Format, TestKeys};
use seam::Seam;
use seam::sim::SimDisk;

use crate::input::{Input, simulated, spoil};

const UNIT_BYTES: usize = 4096;

static TEMPLATE: LazyLock<SimDisk> = LazyLock::new(|| {
    let disk = SimDisk::new();
    simulated(&disk, |seam| {
        let area = open(&seam);
        let mut buffer = DoubleWrite::buffer();
        for batch in [1, 2, 3] {
            let entries: Vec<_> = (0..batch as u32).map(|n| (entry(n), UNIT_BYTES)).collect();
            let bytes = entries.len() * UNIT_BYTES;
            DoubleWrite::units(&mut buffer)[..bytes].fill(batch as u8);
            area.write(batch, &entries, &mut buffer, bytes).expect("a batch is written");
        }
    });
    disk.settle();
    disk
});

fn entry(number: u32) -> BatchEntry {
    BatchEntry {
        set: DataSetId(7),
        ci: CiNumber(number),
        tag_prefix: u64::from(number) + 1,
        page_lsn: Lsn(64),
    }
}

fn open(seam: &Seam) -> DoubleWrite {
    let keys = DoubleWriteKeys {
        keys: Arc::new(TestKeys::new(1)),
        label: "system".into(),
        format: Format::Sealed,
        system: SystemId([3; 16]),
    };
    DoubleWrite::open(seam, Path::new("/double-write"), keys).expect("the area opens")
}

/// A spoilt area gives back batches that were written, with the entries that they had.
pub fn fuzz(bytes: &[u8]) {
    let disk = TEMPLATE.snapshot();
    spoil(&disk, &mut Input::new(bytes));
    let found = simulated(&disk, |seam| open(&seam).found());
    for batch in found.unwrap_or_default() {
        assert!([2, 3].contains(&batch.batch), "batch {} was never there", batch.batch);
        assert_eq!(batch.units.len() as u64, batch.batch);
        for (number, (set, ci, prefix, unit)) in batch.units.iter().enumerate() {
            assert_eq!((*set, ci.0 as usize), (DataSetId(7), number));
            assert_eq!((*prefix as usize, unit.len()), (number + 1, UNIT_BYTES));
        }
    }
}

/// No change, and a change in either slot's header.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    vec![vec![], vec![0, 1, 6, 0, 1, 1], vec![0, 1, 10, 0, 1, 1], vec![0, 2, 0, 4, 0]]
}
