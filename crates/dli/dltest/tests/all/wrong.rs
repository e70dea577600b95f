//! Wrong cards: every code, with its card and column, and what is read on.

use std::collections::BTreeSet;

use base::Coded;
use holdfast_dltest::{CODES, run};

use crate::support::{Notes, Script, calls, card, deck, errors};

/// Decks, the code of the one error in each, its card and column, and the calls that are left.
fn cases() -> Vec<(Vec<String>, &'static str, u32, u8, usize)> {
    let marked = |text: &str| format!("{text:71}X");
    let cards = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    vec![
        (cards(&["?        GU", "L        GN"]), "HFC001", 1, 1, 1),
        (cards(&["         GU", "L        GN"]), "HFC001", 1, 1, 1),
        (cards(&["WRITE", "L        GN"]), "HFC001", 1, 1, 1),
        (cards(&["L        DATA  A", "L        GN"]), "HFC002", 1, 10, 1),
        (cards(&["E      OK", "L        GN"]), "HFC002", 1, 1, 1),
        (cards(&["L        GU", "S 1", "E      OK"]), "HFC002", 3, 1, 1),
        (cards(&["L              ROOT", "L        GN"]), "HFC003", 1, 10, 1),
        (cards(&["L   30X  GN", "E      GB", "L        DATA  A"]), "HFC004", 1, 5, 0),
        (cards(&["L      0 GN", "L        GN"]), "HFC004", 1, 5, 1),
        (cards(&["L        ISRT", "L   A    DATA  B", "L        GN"]), "HFC004", 2, 5, 1),
        (cards(&["L        GN", "E                  00A0"]), "HFC004", 2, 20, 1),
        (cards(&["L        GN", "E   A    DATA  B"]), "HFC004", 2, 5, 1),
        (cards(&["S 1 1 X 1 1", "L        GN"]), "HFC005", 1, 7, 1),
        (vec![marked("L        GN    ROOT"), "S".into()], "HFC006", 1, 72, 1),
        (vec![marked("L        GN    ROOT")], "HFC006", 1, 72, 1),
        (vec![marked("L        GN    ROOT"), "E        DATA  A".into()], "HFC006", 1, 72, 1),
        (cards(&["L        GN", "E   AB"]), "HFC007", 2, 5, 1),
        (cards(&["O ABORT=X", "L        GN"]), "HFC004", 1, 2, 1),
        (cards(&["L   99X  STAK", "L        GN", "L        END"]), "HFC004", 1, 5, 0),
        (cards(&["L        END", "L        GN"]), "HFC013", 1, 10, 1),
        (cards(&["L        GU", "L        STAK", "L        GN"]), "HFC013", 2, 10, 1),
        (
            cards(&["L        STAK", "L        GN", "L        STAK", "L        END"]),
            "HFC013",
            1,
            10,
            0,
        ),
        (cards(&["CTL      PUNK OTHER", "L        GN"]), "HFC014", 1, 10, 1),
        (cards(&["CTL      PUNC  OTHER,ALL", "L        GN"]), "HFC014", 1, 16, 1),
        (cards(&["CTL      PUNC  OTHER,START=0", "L        GN"]), "HFC014", 1, 16, 1),
        (cards(&["L        GN", "E  AIB 01G4"]), "HFC015", 2, 8, 1),
        (cards(&["L        GN", "E  AIB 0104 +208"]), "HFC015", 2, 13, 1),
        (cards(&["L        GN", "L        CONT  X"]), "HFC012", 2, 10, 1),
    ]
}

#[test]
fn wrong_cards_are_said_and_the_rest_is_read() {
    for (cards, code, number, column, left) in cases() {
        let texts: Vec<&str> = cards.iter().map(String::as_str).collect();
        let deck = deck(&texts);
        let errors = errors(&deck);
        assert_eq!(errors.len(), 1, "{cards:?}: {errors:?}");
        let found = (errors[0].code, errors[0].card, errors[0].column);
        assert_eq!(found, (code, number, column), "{cards:?}");
        assert!(!errors[0].remedy().is_empty());
        assert_eq!(calls(&deck).len(), left, "{cards:?}");
    }
}

#[test]
fn data_can_be_too_long_for_the_area() {
    let data: String = (0..30).map(|_| card(&[(1, "L"), (5, "9999"), (10, "DATA")])).collect();
    let text = format!("L        ISRT  ROOT\n{data}L        GN\n");
    let (mut script, mut notes) = (Script::default(), Notes::default());
    run(&deck(&[&text]), &mut script, &mut notes).expect("nothing can fail");
    assert_eq!(script.asked.len(), 1, "the call is left out, the next one is issued");
    assert!(notes.0[0].starts_with("HFC009 card 27, column 5: the data does not fit"));
}

#[test]
fn every_code_is_provoked_somewhere() {
    let mut provoked: BTreeSet<&str> = cases().iter().map(|case| case.1).collect();
    // In the tests above, in those of runs, of merges, and of reports.
    provoked.extend(["HFC008", "HFC009", "HFC010", "HFC011", "HFC016", "HFC017", "HFC020"]);
    assert_eq!(provoked, CODES.iter().map(|known| known.code).collect());
}
