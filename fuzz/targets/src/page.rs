//! A sealed control interval: its trailer, and that nothing but what was sealed there opens.

use std::sync::Arc;

use base::{CiNumber, DataSetId, KeyGeneration, SystemId};
use seal::{Format, PageSealer, TestKeys, Trailer};
use seam::entropy::OsEntropy;

use crate::input::Input;

const UNIT_BYTES: usize = 4096;

/// Any bytes as a page, then a sealed page with some bytes changed.
pub fn fuzz(bytes: &[u8]) {
    let _ = Trailer::decode(bytes);
    let mut input = Input::new(bytes);
    let format = if input.byte().is_multiple_of(2) { Format::Sealed } else { Format::Plain };
    let sealer = sealer(format);
    // As it comes. A plain page's checksum is no secret, but it is 128 bits.
    let mut page = input.rest().to_vec();
    page.resize(UNIT_BYTES, 0);
    assert!(sealer.open(CiNumber(7), &mut page).is_err(), "bytes out of nowhere opened");
    // Sealed, then changed.
    let mut page = vec![0x5a; UNIT_BYTES];
    let prefix = sealer.seal(CiNumber(7), &mut page).expect("a page is sealed");
    let sealed = page.clone();
    while !input.is_empty() {
        let (at, mask) = (usize::from(input.word()) % UNIT_BYTES, input.byte());
        page[at] ^= mask;
    }
    let changed = page != sealed;
    match sealer.open(CiNumber(7), &mut page) {
        Ok(found) => {
            assert!(!changed, "a changed page opened");
            assert_eq!(found, prefix);
            assert_eq!(page[..UNIT_BYTES - 48], [0x5a; UNIT_BYTES - 48]);
        }
        Err(_) => assert!(changed, "an unchanged page did not open"),
    }
}

fn sealer(format: Format) -> PageSealer {
    let keys = Arc::new(TestKeys::new(1));
    let (system, set) = (SystemId([3; 16]), DataSetId(5));
    let generation = KeyGeneration(1);
    PageSealer::new(keys, Arc::new(OsEntropy), system, set, "data", format, generation)
}

/// No change, a change in the body, one in the trailer, and a page of its own.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut page = vec![1; UNIT_BYTES];
    let _ = sealer(Format::Sealed).seal(CiNumber(9), &mut page);
    let trailer = page[UNIT_BYTES - 48..].to_vec();
    vec![vec![0], vec![1], vec![0, 7, 0, 1], vec![1, 0xd2, 0x0f, 1], trailer, page]
}
