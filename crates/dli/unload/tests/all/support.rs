//! What several tests need: the genuine file, types, and reading a file to its end.

use holdfast_unload::{Counts, Name, Reader, SegmentType, UnloadError, Writer};

/// A file of a host: 22 roots of 100 bytes, 202 dependents of 200 bytes.
pub(crate) const GENUINE: &[u8] = include_bytes!("../data/pautdb-hd-unload.dat");

/// A segment as a test compares it.
pub(crate) type Segment = (u8, String, Vec<u8>);

pub(crate) fn segment_type(code: u8, level: u8, name: &str, stored_length: u16) -> SegmentType {
    SegmentType { code, level, name: Name::new(name).expect("a name"), stored_length }
}

/// All segments of a file, and the counts of its trailer.
pub(crate) fn read(file: &[u8]) -> Result<(Vec<Segment>, Vec<Counts>), UnloadError> {
    let mut reader = Reader::new(file)?;
    let mut segments = Vec::new();
    while let Some(record) = reader.next_record()? {
        let name = record.segment.name.to_string();
        segments.push((record.segment.code, name, record.data.to_vec()));
    }
    let trailer = reader.trailer().expect("the trailer was read").to_vec();
    assert_eq!(reader.counts().len(), trailer.len());
    Ok((segments, trailer))
}

/// A file of segments of those types.
pub(crate) fn write(
    types: &[SegmentType],
    segments: &[(u8, &[u8])],
) -> Result<Vec<u8>, UnloadError> {
    let mut writer = Writer::new(Vec::new(), types)?;
    for (code, data) in segments {
        writer.segment(*code, data)?;
    }
    writer.finish()
}

/// Where each record of a file begins.
pub(crate) fn offsets(file: &[u8]) -> Vec<usize> {
    let mut offsets = vec![0];
    loop {
        let at = offsets[offsets.len() - 1];
        let next = at + usize::from(u16::from_be_bytes([file[at], file[at + 1]]));
        if next >= file.len() {
            return offsets;
        }
        offsets.push(next);
    }
}
