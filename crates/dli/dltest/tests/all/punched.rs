//! What is punched, and that it passes when it is run.

use holdfast_dltest::{AibCodes, Both, Punch, run};

use crate::support::{Answer, FINE, Notes, Script, calls, deck};

const GE: Answer = ("GE", 0, "", "", b"");

fn punched(cards: &[&str], answers: &[Answer]) -> String {
    let deck = deck(cards);
    assert!(deck.punches());
    let mut out = Vec::new();
    let mut punch = Punch::new(&mut out, &deck);
    let codes = AibCodes { return_code: 0x900, reason: 0 };
    let mut script = Script { codes, ..Script::new(answers) };
    run(&deck, &mut script, &mut Both(&mut Notes::default(), &mut punch)).expect("it is good");
    let text = String::from_utf8(out).expect("it is text");
    passes(&text, answers, codes);
    text
}

/// Asserts that what was punched finds no difference when it is run.
fn passes(text: &str, answers: &[Answer], codes: AibCodes) {
    let deck = deck(&[text]);
    // Calls before the punching began have taken the first answers.
    let taken = usize::from(answers.len() > calls(&deck).len());
    let mut script = Script { codes, ..Script::new(&answers[taken..]) };
    let mut notes = Notes::default();
    let summary = run(&deck, &mut script, &mut notes).expect("it is good");
    assert!(summary.is_good(), "{text}\n{:?}", notes.0);
}

#[test]
fn cards_are_punched_with_what_came_back() {
    let cards = [
        "L        GN",
        "CTL      PUNC  OTHER,PCBS,DATAS",
        "U a comment",
        "S              CUSTDB",
        "L              ROOT    (KEY      =A1)                                  X",
        "               CHILD",
        "E      GE",
        "N ignored",
        "L      2 GN",
        "CTL      NPUN",
        "L        GU",
    ];
    let expected = "\
U a comment
S              CUSTDB
L        GN    ROOT    (KEY      =A1)                                  X
               CHILD
E   01    ROOT     0002A1
E   0007 DATA  A1 DATA
L        GN
E   01    ROOT     0002A1
E   0007 DATA  A1 DATA
L        GN
E   00 GE          0000
";
    assert_eq!(punched(&cards, &[FINE, FINE, FINE, GE, FINE]), expected);
}

#[test]
fn a_stack_is_punched_as_often_as_it_was_gone_through() {
    let cards = [
        "CTL      PUNC  OTHER,PCBL",
        "L      2 STAK",
        "L        GN",
        "L        END",
        "E      XX",
        "L        SKIP",
        "L        GU",
        "L        START",
    ];
    let expected = "\
L        GN
E   01    ROOT     0002A1
L        GN
E   00 GE          0000
";
    assert_eq!(punched(&cards, &[FINE, GE]), expected);
}

#[test]
fn long_keys_and_data_are_punched_in_full_if_asked() {
    let key: &'static str = Box::leak("K".repeat(110).into_boxed_str());
    let data: &'static [u8] = Box::leak(vec![b'D'; 4000].into_boxed_slice());
    let answer: Answer = ("  ", 1, "ROOT", key, data);
    let text = punched(&["CTL      PUNC  OTHER,PCBL,DATAL", "L        GU"], &[answer]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1], format!("E   01    ROOT     0110{}X", "K".repeat(48)));
    assert_eq!(lines[2], format!("{:15}{}X", "", "K".repeat(56)));
    assert_eq!(lines[3], format!("{:15}{}", "", "K".repeat(6)));
    assert_eq!(lines[4], format!("E   3808 DATA  {}X", "D".repeat(56)));
    assert_eq!(lines[4 + 68], format!("E   0192 DATA  {}X", "D".repeat(56)));
    assert_eq!(lines.len(), 4 + 68 + 4);
    let text = punched(&["CTL      PUNC  OTHER,PCBS,DATAS", "L        GU"], &[answer]);
    assert_eq!(text.lines().count(), 3);
}

#[test]
fn bytes_that_would_break_a_card_are_not_punched() {
    let answer: Answer = ("  ", 1, "ROOT", "A\nB", b"A\x01\nB\x0c");
    let text = punched(&["CTL      PUNC  OTHER,PCBL,DATAL", "L        GU"], &[answer]);
    assert_eq!(text, "L        GU\nE   01    ROOT     0003\nE   0002 DATA  A\x01\n");
    let answer: Answer = ("  ", 1, "ROOT", "", b"AB\x0c");
    punched(&["CTL      PUNC  OTHER,DATAL", "L        GU"], &[answer]);
}

#[test]
fn aibs_are_punched_and_cards_are_numbered() {
    let cards = [
        "S              2             AIB",
        "CTL      PUNC  OTHER,AIB,START=00000100,INCR=5",
        "S              2             AIB",
        "L        GU",
        "  ",
    ];
    let text = punched(&cards, &[GE]);
    let expected = [
        ("S              2             AIB", 100),
        ("L        GU", 105),
        ("E  AIB 0900 0000", 110),
    ];
    let lines = expected.map(|(text, number)| format!("{text:72}{number:08}\n"));
    assert_eq!(text, lines.concat());
}

#[test]
fn nothing_is_punched_unasked() {
    assert!(!deck(&["CTL      NPUN", "L        GU"]).punches());
    assert!(deck(&["L        STAK", "CTL      PUNC  OTHER", "L        END"]).punches());
}
