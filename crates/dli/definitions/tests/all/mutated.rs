//! Sources with mistakes at random places: nothing panics, and what is delivered is sound.

use std::path::Path;

use holdfast_definitions as definitions;

use definitions::change::compare;
use definitions::resolve::{Nothing, Overlay};
use definitions::{Member, Severity, compile, decode, encode};
use macros::Sources;
use proptest::prelude::*;

use crate::samples::{DATABASES, LENDING};
use crate::support::{NoCopies, cards};

/// What a slip of the hand may put into a card.
const SLIPS: &[&str] = &[
    "", ",", "(", ")", "=", "'", " ", "0", "9", "99999", "A", "/", "X'", "((", "))", ",,", "-",
    "NAME=", "PARENT=", "BYTES=", "SEQ", "LOAN", "MEMBER", "\u{e9}",
];

fn check(text: &str) -> Result<(), TestCaseError> {
    let mut sources = Sources::new();
    let program = macros::read(&mut sources, Path::new("TEST"), text.as_bytes(), &NoCopies);
    let compiled = compile(&program);
    let mut overlay = Overlay::new(&Nothing);
    for one in compiled.members {
        prop_assert_eq!(one.member.is_some(), one.errors == 0);
        let Some(member) = one.member else { continue };
        match &member {
            Member::Dbd(dbd) => {
                prop_assert!(dbd.is_sound(), "{dbd:?}");
                let _ = compare(dbd, dbd);
            }
            Member::Psb(psb) => prop_assert!(psb.is_sound(), "{psb:?}"),
        }
        let again = decode(&encode(&member));
        prop_assert_eq!(again.as_ref(), Ok(&member));
        overlay.add(member);
    }
    for finding in overlay.resolve().findings {
        prop_assert!(finding.severity > Severity::Note, "{finding}");
    }
    for diagnostic in &compiled.diagnostics {
        prop_assert!(!sources.show(diagnostic).is_empty());
    }
    Ok(())
}

proptest! {
    #[test]
    fn slips_never_panic(
        slips in proptest::collection::vec(
            (any::<prop::sample::Index>(), 0_usize..4, 0..SLIPS.len()), 1..5),
    ) {
        let mut text: String = DATABASES.iter().map(|text| cards(text)).collect();
        text.push_str(&cards(LENDING));
        for (at, cut, slip) in slips {
            let mut at = at.index(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let mut end = (at + cut).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            text.replace_range(at..end, SLIPS[slip]);
        }
        check(&text)?;
    }
}
