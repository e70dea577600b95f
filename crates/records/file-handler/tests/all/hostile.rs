//! Blocks, requests and answers that nobody would make.

use file_handler::fcd::{FCD_BYTES, Fcd};
use file_handler::wire::Request;
use file_handler::{Handler, wire};
use proptest::prelude::*;

use crate::program::{Memory, Names};

/// Operations with blocks of any bytes.
fn blocks() -> impl Strategy<Value = Vec<(u8, Vec<u8>)>> {
    let block = prop::collection::vec(any::<u8>(), FCD_BYTES);
    prop::collection::vec((any::<u8>(), block), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_block_gets_a_status(
        blocks in blocks(),
        keys in prop::collection::vec(any::<u8>(), 0..200),
        sound in any::<bool>(),
    ) {
        let mut handler = Handler::new(Box::new(Names::default()), None);
        let mut memory = Memory { keys, record: vec![0; 64], ..Memory::default() };
        memory.name = b"/proc/holdfast/not/there".to_vec();
        for (code, bytes) in blocks {
            let mut fcd = Fcd::default();
            if sound {
                fcd.0[5..].copy_from_slice(&bytes[5..]);
                fcd.set_record_limits(u32::from(bytes[92]), u32::from(bytes[96]) + 1);
            } else {
                fcd.0.copy_from_slice(&bytes);
            }
            handler.call([0xfa, code], 1, &mut fcd, &mut memory);
            let status = fcd.status();
            prop_assert!(status[0].is_ascii_digit(), "{status:?}");
        }
        prop_assert!(handler.close_all().is_empty());
    }

    #[test]
    fn any_bytes_are_a_request_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Some(request) = Request::read(&bytes) {
            let mut again = Vec::new();
            request.write(&mut again);
            prop_assert_eq!(Request::read(&again), Some(request));
        }
        let _ = wire::Answer::read(&bytes);
    }
}
