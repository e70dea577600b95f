//! What a fuzzer does with this crate.

use crate::{Reader, UnloadError, Writer};

/// Reads bytes as an unload file. If they are one, writes it again and reads that; what comes
/// must be the same.
///
/// # Panics
/// If it is not: that is the bug that is looked for.
pub fn exercise(bytes: &[u8]) {
    let Ok(written) = copy(bytes) else { return };
    let again = copy(&written).expect("what was written is an unload file");
    assert_eq!(written, again, "a file that was written is written the same again");
}

/// Reads a file and writes it again.
fn copy(bytes: &[u8]) -> Result<Vec<u8>, UnloadError> {
    let mut reader = Reader::new(bytes)?;
    let mut writer = Writer::new(Vec::new(), reader.segments())?;
    while let Some(record) = reader.next_record()? {
        let (code, deleted) = (record.segment.code, record.deleted);
        writer.marked(code, deleted, record.data).expect("what was read can be written");
    }
    assert_eq!(reader.counts(), writer.counts());
    writer.finish()
}
