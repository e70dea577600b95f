//! No bytes make reading panic, and what can be read is written again the same.

use holdfast_unload::exercise;
use proptest::prelude::*;

use crate::support::{GENUINE, offsets};

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        exercise(&bytes);
    }

    #[test]
    fn the_genuine_file_changed_in_places(
        changes in proptest::collection::vec((0..226_usize, 0..100_usize, any::<u8>()), 1..6),
    ) {
        let (mut file, offsets) = (GENUINE.to_vec(), offsets(GENUINE));
        for (record, at, byte) in changes {
            let at = (offsets[record] + at).min(file.len() - 1);
            file[at] = byte;
        }
        exercise(&file);
    }

    #[test]
    fn the_genuine_file_with_records_moved(
        records in proptest::collection::vec(0..226_usize, 0..12),
        cut in 0..300_usize,
    ) {
        let mut offsets = offsets(GENUINE);
        offsets.push(GENUINE.len());
        let mut file = GENUINE[..88].to_vec();
        for record in records {
            file.extend(&GENUINE[offsets[record]..offsets[record + 1]]);
        }
        file.extend(&GENUINE[offsets[225]..]);
        file.truncate(file.len().saturating_sub(cut.saturating_sub(200)));
        exercise(&file);
    }
}

#[test]
fn the_genuine_file() {
    exercise(GENUINE);
}
