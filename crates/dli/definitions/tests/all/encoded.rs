//! Definitions to bytes and back, and bytes that are none.

use holdfast_definitions as definitions;

use definitions::{DecodeError, Member, decode, encode};
use proptest::prelude::*;

use crate::samples::{DATABASES, LENDING};
use crate::support::members;

fn all() -> Vec<Member> {
    let texts = DATABASES.iter().chain([&LENDING]);
    texts.flat_map(|text| members(text)).collect()
}

#[test]
fn every_member_comes_back() {
    for member in all() {
        let bytes = encode(&member);
        assert_eq!(decode(&bytes), Ok(member));
    }
}

#[test]
fn a_short_or_long_definition_is_refused() {
    for member in all() {
        let mut bytes = encode(&member);
        for len in 0..bytes.len() {
            assert!(decode(&bytes[..len]).is_err(), "{len} of {}", bytes.len());
        }
        bytes.push(0);
        assert!(matches!(decode(&bytes), Err(DecodeError::Damaged(_))));
    }
}

#[test]
fn the_future_is_refused_by_name() {
    let mut bytes = encode(&all()[0]);
    bytes[4] = 9;
    assert_eq!(decode(&bytes), Err(DecodeError::Future { found: 9, known: 1 }));
    bytes[4] = 0;
    assert_eq!(decode(&bytes), Err(DecodeError::Strange));
    bytes[0] = b'X';
    assert_eq!(decode(&bytes), Err(DecodeError::Strange));
    assert_eq!(decode(b""), Err(DecodeError::Strange));
}

#[test]
fn what_contradicts_itself_is_refused() {
    let mut seen = 0;
    for member in all() {
        let Member::Dbd(mut dbd) = member else { continue };
        if dbd.segments.len() < 2 {
            continue;
        }
        dbd.segments[1].parent = Some(1);
        let bytes = encode(&Member::Dbd(dbd));
        assert!(matches!(decode(&bytes), Err(DecodeError::Damaged(_))));
        seen += 1;
    }
    assert!(seen > 3);
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = decode(&bytes);
    }

    #[test]
    fn changed_bytes_never_panic_and_what_is_read_is_sound(
        which in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let members = all_encoded();
        let mut bytes = members[which.index(members.len())].clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(member) = decode(&bytes) {
            prop_assert_eq!(decode(&encode(&member)), Ok(member));
        }
    }
}

/// Encoded once, for compiling takes longer than a case.
fn all_encoded() -> &'static [Vec<u8>] {
    static ENCODED: std::sync::OnceLock<Vec<Vec<u8>>> = std::sync::OnceLock::new();
    ENCODED.get_or_init(|| all().iter().map(encode).collect())
}
