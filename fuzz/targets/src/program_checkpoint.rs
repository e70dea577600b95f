//! Checkpoints of programs and ends of steps, as their set holds them: whoever can forge a plain
//! data set chooses these bytes.

use gsam::Place;
use schedule::Record;

/// What decodes encodes to the same bytes, or with those of an older version to as much.
///
/// # Panics
/// If not.
pub fn fuzz(bytes: &[u8]) {
    let Some(mut record) = Record::decode(bytes) else { return };
    let encoded = record.encode();
    if record.step.is_some() && record.position.is_some() {
        return assert_eq!(encoded, bytes);
    }
    record.step.get_or_insert_default();
    record.position.get_or_insert_default();
    assert_eq!(Record::decode(&encoded), Some(record));
}

/// A checkpoint of a program that has positions, one that has none, and one with all that there
/// can be, as all versions have them; and an end.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let path = b"\x02\0\0\0\x03\x000042\x03\x81\x05\0";
    let places =
        [Place::Closed.encode(), Place::Input { offset: 16, records: 2 }.encode(), path.to_vec()];
    let tail = b"four".to_vec();
    let written = Place::Output { offset: 4100, records: 41, tail }.encode();
    let checkpoints = [
        checkpoint(&[b"AREA ONE", b"", &[0; 40]], &[(b'F', &places[1]), (b'D', &places[2])]),
        checkpoint(&[], &[]),
        checkpoint(&[&b"7"[..]; 7], &[(b'F', &places[0]), (b'D', b"\0\0"), (b'F', &written)]),
    ];
    let front = [b"\x01".as_slice(), b"\x02C\x06TELLER", b"\x03C\x06TELLER\x07\0\0\0\0\0\0\0"];
    let all =
        front.iter().flat_map(|front| checkpoints.iter().map(move |one| [*front, one].concat()));
    all.chain([b"\x02E\x06TELLER        00003251159599".to_vec()]).collect()
}

/// A checkpoint as `schedule` lays it out.
fn checkpoint(areas: &[&[u8]], places: &[(u8, &[u8])]) -> Vec<u8> {
    let mut out = b"CKPT000100003251159599".to_vec();
    out.push(areas.len() as u8);
    let push = |out: &mut Vec<u8>, bytes: &[u8]| {
        out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        out.extend_from_slice(bytes);
    };
    areas.iter().for_each(|area| push(&mut out, area));
    out.extend_from_slice(&(places.len() as u16).to_le_bytes());
    for (slot, (kind, place)) in places.iter().enumerate() {
        out.extend_from_slice(&(slot as u16).to_le_bytes());
        out.extend_from_slice(b"SHOPDB  ");
        out.push(*kind);
        push(&mut out, place);
    }
    out
}

#[cfg(test)]
mod tests {
    use schedule::Event;

    use super::*;

    #[test]
    fn every_seed_is_a_record() {
        for seed in seeds() {
            let record = Record::decode(&seed).expect("a record");
            if let Event::Checkpoint(checkpoint) = record.event {
                assert_eq!(&checkpoint.id, b"CKPT0001");
            }
        }
    }
}
