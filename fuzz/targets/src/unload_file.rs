//! Unload files: a database as it comes from a host, or from another system.

use unload::{Deleted, Reader, Writer};

/// A genuine file; its story stands beside it.
const GENUINE: &[u8] = include_bytes!("../../../crates/dli/unload/tests/data/pautdb-hd-unload.dat");

/// Bytes are read as an unload file; one that is read is written again to the same.
///
/// # Panics
/// If it is not.
pub fn fuzz(bytes: &[u8]) {
    unload::exercise(bytes);
}

/// The genuine file's beginning: cut off, and made whole with a trailer that fits.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut reader = Reader::new(GENUINE).expect("the genuine file is right");
    let segments = reader.segments().to_vec();
    let mut whole = Writer::new(Vec::new(), &segments).expect("its segments are right");
    for _ in 0..6 {
        let record = reader.next_record().expect("the genuine file is right");
        let record = record.expect("the genuine file has more records");
        whole.segment(record.segment.code, record.data).expect("what was read can be written");
    }
    let root = segments[0].code;
    let deleted = Deleted { physically: true, logically: true };
    whole.marked(root, deleted, &[1; 100]).expect("a root can follow");
    let empty = Writer::new(Vec::new(), &segments).expect("its segments are right");
    vec![
        GENUINE[..1024].to_vec(),
        whole.finish().expect("memory can be written"),
        empty.finish().expect("memory can be written"),
    ]
}
