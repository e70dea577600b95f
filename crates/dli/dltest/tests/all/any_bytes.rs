//! No bytes make reading a deck, running it or reporting it panic.

use holdfast_dltest::exercise;
use proptest::prelude::*;

const WORDS: &[(usize, &str)] = &[
    (1, "S"),
    (1, "L"),
    (1, "E"),
    (1, "U"),
    (1, "T"),
    (1, "N"),
    (1, "."),
    (1, "O"),
    (1, "WTO"),
    (1, "?"),
    (2, "H"),
    (3, "8"),
    (3, "1"),
    (4, "V"),
    (4, "Z"),
    (5, "02"),
    (5, "0003"),
    (5, "9999"),
    (5, "X"),
    (8, "OK"),
    (8, "GB"),
    (10, "GU"),
    (10, "ISRT"),
    (10, "DATA"),
    (10, "CONT"),
    (4, "AIB"),
    (1, "CTL"),
    (1, "ABEND"),
    (10, "STAK"),
    (10, "END"),
    (10, "SKIP"),
    (10, "START"),
    (10, "PUNC  OTHER,DATAL,PCBL,AIB,START=00000001"),
    (10, "PUNC  OTHER,DATAS,PCBS"),
    (10, "NPUN"),
    (3, "ABORT=1"),
    (8, "0104 0208"),
    (15, "2"),
    (30, "AIB"),
    (2, "K"),
    (3, "P"),
    (3, "L"),
    (11, "ROOT"),
    (16, "ROOT"),
    (16, "0"),
    (20, "0002"),
    (24, "*D"),
    (24, "(KEY      =A)"),
    (24, "*L(KEY     =(A*KEY     =B)"),
    (24, "(KEY     EQ"),
    (72, "X"),
    (73, "00010000"),
];

fn deck() -> impl Strategy<Value = String> {
    let word = prop::sample::select(WORDS);
    let card = prop::collection::vec(word, 0..6).prop_map(|words| crate::support::card(&words));
    prop::collection::vec(card, 0..20).prop_map(|cards| cards.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn bytes(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        exercise(&bytes);
    }

    #[test]
    fn cards_of_known_words(deck in deck()) {
        exercise(deck.as_bytes());
    }

    #[test]
    fn cards_of_known_words_without_line_ends(deck in deck()) {
        exercise(deck.replace('\n', "").as_bytes());
    }
}
