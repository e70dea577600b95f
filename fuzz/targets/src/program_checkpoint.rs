//! Symbolic checkpoints of programs, as their set holds them: whoever can forge a plain data set
//! chooses these bytes.

use gsam::Place;
use schedule::Checkpoint;

/// What decodes encodes to the same bytes.
///
/// # Panics
/// If not.
pub fn fuzz(bytes: &[u8]) {
    let Some(checkpoint) = Checkpoint::decode(bytes) else { return };
    assert_eq!(checkpoint.encode(), bytes);
}

/// A checkpoint of a program that has positions, one that has none, and one with all that there
/// can be.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let path = b"\x02\0\0\0\x03\x000042\x03\x81\x05\0";
    let places =
        [Place::Closed.encode(), Place::Input { offset: 16, records: 2 }.encode(), path.to_vec()];
    let tail = b"four".to_vec();
    let written = Place::Output { offset: 4100, records: 41, tail }.encode();
    vec![
        record(&[b"AREA ONE", b"", &[0; 40]], &[(b'F', &places[1]), (b'D', &places[2])]),
        record(&[], &[]),
        record(&[&b"7"[..]; 7], &[(b'F', &places[0]), (b'D', b"\0\0"), (b'F', &written)]),
    ]
}

/// A record as `schedule` lays it out.
fn record(areas: &[&[u8]], places: &[(u8, &[u8])]) -> Vec<u8> {
    let mut out = b"\x01CKPT000100003251159599".to_vec();
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
    use super::*;

    #[test]
    fn every_seed_is_a_checkpoint() {
        for seed in seeds() {
            let checkpoint = Checkpoint::decode(&seed).expect("a checkpoint");
            assert_eq!(&checkpoint.id, b"CKPT0001");
        }
    }
}
