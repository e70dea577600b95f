//! The definition of a data set, as log, checkpoint and header interval carry it.

use base::{CiNumber, DataSetId, KeyGeneration};
use seal::{Form, Format};
use space::{Conversion, Definition};

/// What decodes encodes to something that decodes to the same.
pub fn fuzz(bytes: &[u8]) {
    let Ok(definition) = Definition::decode(bytes) else { return };
    let again = Definition::decode(&definition.encode());
    assert_eq!(again.as_ref().ok(), Some(&definition));
    assert!(definition.unit_bytes().is_multiple_of(4096));
    let _ = (definition.file_name(0), definition.file_name(u32::MAX));
}

/// A small definition and one with everything in it.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let from = Form::PLAIN;
    let conversion = Conversion { from, next: CiNumber(9), bytes_per_second: 0, paused: false };
    let converting = Definition { conversion: Some(conversion), ..sample("A", 1) };
    vec![sample("A", 1).encode(), sample("PAYROLL.MASTER", 4).encode(), converting.encode()]
}

pub(crate) fn sample(name: &str, folders: usize) -> Definition {
    Definition {
        id: DataSetId(7),
        name: name.into(),
        ci_bytes: 4096,
        format: Format::Sealed,
        label: "data".into(),
        generation: KeyGeneration(1),
        pool: "4K".into(),
        file_intervals: 1000,
        folders: (0..folders).map(|number| format!("sets/{number}")).collect(),
        attributes: vec![1, 2, 3],
        conversion: None,
        permit: None,
    }
}
