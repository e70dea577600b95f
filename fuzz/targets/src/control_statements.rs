//! Control statements of the DL/I test program: decks that people write.

/// A deck is read, run against a program that echoes, and reported, whatever its bytes.
///
/// # Panics
/// If a report is not as it should be.
pub fn fuzz(bytes: &[u8]) {
    dltest::exercise(bytes);
}

/// Decks with every kind of card.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let card = |words: &[(usize, &str)]| {
        let mut card = " ".repeat(80);
        for (column, word) in words {
            card.replace_range(column - 1..column - 1 + word.len(), word);
        }
        card + "\n"
    };
    let plain = [
        card(&[(1, "S"), (3, "1"), (5, "1"), (7, "1"), (9, "1"), (16, "1")]),
        card(&[(1, "U"), (3, "A COMMENT")]),
        card(&[(1, "T"), (3, "A COMMENT THAT IS SHOWN")]),
        card(&[(1, "L"), (10, "GU"), (16, "SHOP"), (24, "(NUMBER  = 0042)")]),
        card(&[(1, "E"), (5, "01"), (8, "OK"), (11, "SHOP"), (20, "0004"), (24, "0042")]),
        card(&[(1, "E"), (5, "0006"), (10, "DATA"), (16, "0042AB")]),
        card(&[(1, "L"), (5, "0003"), (10, "GN")]),
        card(&[(1, "L"), (10, "CHKP"), (16, "STEP0001")]),
    ];
    let longer = [
        card(&[(1, "S"), (16, "SHOPDB"), (24, "1")]),
        card(&[(1, "L"), (10, "ISRT"), (16, "SHOP"), (24, "*D"), (72, "X")]),
        card(&[(10, "CONT"), (16, "VISIT")]),
        card(&[(1, "L"), (4, "V"), (5, "0040"), (10, "DATA"), (16, "0042PARIS"), (72, "X")]),
        card(&[(4, "P"), (5, "0003"), (16, "+123")]),
        card(&[(4, "X"), (5, "0002"), (16, "0102")]),
        card(&[(1, "L"), (10, "GHU"), (16, "SHOP"), (24, "*L(NUMBER  =(0001*NUMBER  =(0009)")]),
        card(&[(1, "WTO"), (5, "TO THE OPERATOR")]),
        card(&[(1, "E"), (2, "H"), (5, "02"), (8, "GE")]),
        "/*\n".to_owned(),
    ];
    let decks = [plain.concat(), longer.concat(), controlled(card).concat(), " CALL GU\n".into()];
    decks.map(String::into_bytes).to_vec()
}

/// Cards that control the run, and what they bring with them.
fn controlled(card: impl Fn(&[(usize, &str)]) -> String) -> Vec<String> {
    vec![
        card(&[(1, "O"), (3, "ABORT=5,DUMP")]),
        card(&[(1, "S2222 2 2 2"), (15, "1SHOPS"), (30, "AIB")]),
        card(&[(1, "CTL"), (10, "PUNC"), (16, "OTHER,DATAL,PCBL,AIB,START=00000010,INCR=10")]),
        card(&[(1, "L"), (5, "0003"), (10, "STAK")]),
        card(&[(1, "L"), (10, "ISRT"), (16, "SHOP")]),
        card(&[(1, "LKPV0100"), (10, "DATA"), (16, "0042PARIS")]),
        card(&[(1, "EH AIB"), (8, "0900"), (13, "0000")]),
        card(&[(1, "E LV0006"), (10, "DATA"), (16, "0042")]),
        card(&[(1, "L"), (10, "END")]),
        card(&[(1, "E"), (8, "OK")]),
        card(&[(1, "L"), (10, "SKIP")]),
        card(&[(1, "L"), (10, "GU")]),
        card(&[(1, "L"), (10, "START")]),
        card(&[(1, "CTL"), (10, "NPUN")]),
        card(&[(1, "ABEND")]),
    ]
}
