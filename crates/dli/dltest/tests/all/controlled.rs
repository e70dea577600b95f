//! Stacks, skipping, options, AIBs and lengths: what is issued and compared then.

use codec::CodePage;
use holdfast_dltest::{AibCodes, Report, RunError, Summary, parse_merged, run};

use crate::support::{Answer, FINE, Notes, Script, calls, card, deck, errors};

const GB: Answer = ("GB", 0, "", "", b"");
const GE: Answer = ("GE", 0, "", "", b"");

fn ran(cards: &[&str], answers: &[Answer]) -> (Vec<String>, Vec<String>, Summary) {
    let (mut script, mut notes) = (Script::new(answers), Notes::default());
    let summary = run(&deck(cards), &mut script, &mut notes).expect("nothing can fail");
    let functions = script.asked.iter().map(|asked| asked.0.trim_end().to_owned());
    (functions.collect(), notes.0, summary)
}

#[test]
fn a_stack_is_gone_through_as_often_as_it_says() {
    let cards = ["L        GU", "L      3 STAK", "L        GN", "L        REPL", "L        END"];
    let (functions, notes, _) = ran(&cards, &[]);
    assert_eq!(functions, ["GU", "GN", "REPL", "GN", "REPL", "GN", "REPL"]);
    assert!(notes.is_empty());
    let (functions, ..) = ran(&["L        STAK", "L        GN", "L        END"], &[]);
    assert_eq!(functions, ["GN"], "once, if it says nothing");
}

#[test]
fn gb_ends_the_innermost_repetition() {
    let cards = [
        "L   9999 STAK",
        "L        GN",
        "E      OK",
        "L        REPL",
        "L        END",
        "L        GU",
    ];
    let (functions, notes, _) = ran(&cards, &[FINE, FINE, GB]);
    assert_eq!(functions, ["GN", "REPL", "GN", "GU"]);
    assert_eq!(notes, ["3: ", "3: status: OK expected, 'GB' returned"]);
    // That of the call, if it has one.
    let cards = ["L      2 STAK", "L   9999 GN", "L        GU", "L        END"];
    let (functions, ..) = ran(&cards, &[FINE, GB, FINE, GB]);
    assert_eq!(functions, ["GN", "GN", "GU", "GN", "GU"]);
}

#[test]
fn a_comparison_behind_a_stack_is_with_its_last_call() {
    let cards = ["L      2 STAK", "L        GN", "L        END", "E   01 OK", "E      GE"];
    let (functions, notes, summary) = ran(&cards, &[FINE, GE]);
    assert_eq!(functions, ["GN", "GN"]);
    assert_eq!(
        notes,
        ["4: level: 01 expected, 00 returned; status: OK expected, 'GE' returned", "5: ",]
    );
    assert_eq!((summary.compared, summary.different), (2, 1));
    let (_, notes, _) = ran(&["L        STAK", "L        END", "E      OK"], &[]);
    assert!(notes[0].starts_with("HFC011 card 1, column 1: nothing is compared"), "{notes:?}");
}

#[test]
fn comparisons_and_data_belong_to_the_calls_in_a_stack() {
    let cards = [
        "L      2 STAK",
        "L        ISRT  ROOT",
        "L        DATA  A1",
        "E      II",
        "L        END",
        "U behind",
    ];
    let (_, notes, summary) = ran(&cards, &[FINE, ("II", 0, "", "", b"")]);
    assert_eq!(notes, ["4: status: 'II' expected, '  ' returned", "4: "]);
    assert_eq!((summary.calls, summary.wrong), (2, 0));
}

#[test]
fn what_stands_between_skip_and_start_is_passed_over() {
    let cards = [
        "L        GU",
        "L        SKIP",
        "? not even read",
        "L        ISRT  ROOT",
        "L        DATA  A1",
        "L        START",
        "L        GN",
        "L        START",
        "L        SKIP",
        "L        GNP",
    ];
    let (functions, notes, summary) = ran(&cards, &[]);
    assert_eq!(functions, ["GU", "GN"]);
    assert!(notes.is_empty() && summary.is_good());
}

#[test]
fn abort_ends_the_run_after_so_many_differences() {
    let cards = ["O ABORT=2", "L        GU", "EH     GE", "L     10 GN"];
    let (functions, _, summary) = ran(&cards, &[]);
    assert_eq!((functions.len(), summary.ended_by, summary.different), (2, Some(3), 2));
    let cards = ["O DUMP,ABORT=2", "O ABORT=0", "L        GU", "EH     GE", "L     10 GN"];
    assert_eq!(ran(&cards, &[]).0.len(), 11);
}

#[test]
fn options_of_column_3_are_a_sum() {
    for (option, ends) in [(" ", false), ("1", false), ("8", true), ("9", true), ("F", true)] {
        let compare = format!("E {option}    GE");
        let (functions, ..) = ran(&["L        GU", &compare, "L        GN"], &[]);
        assert_eq!(functions.len(), if ends { 1 } else { 2 }, "{option}");
    }
}

#[test]
fn an_abend_card_ends_the_run_as_an_abend() {
    let deck = deck(&["L        GU", "ABEND", "L        GN"]);
    let (mut script, mut notes) = (Script::default(), Notes::default());
    let error = run(&deck, &mut script, &mut notes).expect_err("it ends");
    assert!(matches!(error, RunError::Abend(2)));
    assert_eq!(script.asked.len(), 1);
}

#[test]
fn aibs_are_compared_if_they_are_used() {
    let cards = [
        "L        GU",
        "E  AIB 0900",
        "S             1CUST          AIB",
        "L        GN",
        "EH AIB 0900 0000",
        "L        GN",
        "E  AIB 0104 208",
        "L        GN",
        "S              2",
        "L        GN",
    ];
    let codes = AibCodes { return_code: 0x900, reason: 0 };
    let mut script = Script { codes, ..Script::default() };
    let mut notes = Notes::default();
    let summary = run(&deck(&cards), &mut script, &mut notes).expect("nothing can fail");
    assert_eq!(
        notes.0,
        [
            "HFC008 card 2, column 4: the call used no AIB",
            "5: ",
            "7: return code: x'0104' expected, x'0900' returned; \
             reason code: x'0208' expected, x'0000' returned",
        ],
        "a comparison that is not held ends the one that was"
    );
    assert_eq!((summary.compared, summary.different, summary.wrong), (2, 1, 1));
}

#[test]
fn the_length_in_front_of_a_segment_is_compared_if_l_says_so() {
    let path: Answer = ("  ", 2, "CHILD", "A1B1", b"\0\x06FOURA1");
    for (cards, printed) in [
        (["E LV0006 DATA  FOUR", "E  P0002 DATA  A1"], ["2: ", "3: "]),
        (["E LV0007 DATA  FOURA", "E   0001 DATA  1"], ["2: length 7 expected, 6 returned", "3: "]),
        (["E L 0006 DATA  FOUR", "E   0002 DATA  A1"], ["2: ", "3: "]),
    ] {
        let (_, notes, _) = ran(&["L        GU", cards[0], cards[1]], &[path]);
        assert_eq!(notes, printed, "{cards:?}");
    }
    let (_, notes, _) = ran(&["L        GU", "E LV     DATA  FOUR"], &[path]);
    assert!(notes[0].starts_with("HFC004 card 2, column 5"), "{notes:?}");
}

#[test]
fn k_lengthens_data_and_p_repeats_it() {
    let mut script = Script::default();
    let cards = ["L        ISRT  ROOT", "LKP 0010 DATA  AB", "LKPV0008 DATA  CD"];
    run(&deck(&cards), &mut script, &mut Notes::default()).expect("nothing can fail");
    let (_, _, lengths, area) = &script.asked[0];
    assert_eq!(lengths, &[2510, 2510]);
    assert!(area.starts_with(&format!("AB{:48}AB{:48}AB", "", "")));
}

#[test]
fn a_key_is_compared_as_far_as_the_cards_go() {
    let key = "A".repeat(60);
    let key: &'static str = Box::leak(key.into_boxed_str());
    let answer: Answer = ("  ", 1, "ROOT", key, b"");
    let compare = |text: &str| format!("E                  0060{text}");
    let (_, notes, _) = ran(&["L        GU", &compare(&key[..48])], &[answer]);
    assert_eq!(notes, ["2: "]);
    let (.., summary) = ran(&["L        GU", &compare(&key[..40])], &[answer]);
    assert_eq!(summary.different, 1, "blanks on the card are compared");
}

#[test]
fn a_second_stream_overrides_and_adds_by_the_numbers_in_the_last_columns() {
    let place = |text: &str, place: &str| card(&[(1, text), (73, place)]);
    let first = [
        place("L        GU    ROOT", "AA000010"),
        place("L        DLET", "AA000020"),
        place("L        GN", "AA000030"),
        card(&[(1, "U NOT NUMBERED")]),
    ];
    let second = [place("U NO DELETE TODAY", "AA000020"), place("L        GNP", "AA000025")];
    let deck = parse_merged(first.concat().as_bytes(), second.concat().as_bytes());
    let functions: Vec<_> = calls(&deck).iter().map(|call| call.function.bytes()).collect();
    assert_eq!(functions, [*b"GU  ", *b"GNP ", *b"GN  "]);
    let errors = errors(&deck);
    assert_eq!((errors.len(), errors[0].code, errors[0].card), (1, "HFC017", 4));
    assert!(errors[0].message.contains("SYSIN"), "{}", errors[0]);
}

#[test]
fn all_pcbs_are_listed_and_none_is_chosen() {
    let deck = deck(&["S 1 1 1 1 1    $LISTALL", "L        GU"]);
    let (mut script, mut text) = (Script::default(), Vec::new());
    run(&deck, &mut script, &mut Report::new(&mut text, CodePage::Ascii)).expect("nothing fails");
    let text = String::from_utf8(text).expect("text");
    assert!(text.starts_with("PCB     1     IOPCB\nPCB     2     CUSTDB\n"), "{text}");
    assert!(script.chosen.is_empty());
    assert_eq!(script.asked.len(), 1);
}

#[test]
fn a_record_of_undefined_length_is_its_data_alone() {
    let (mut script, mut notes) = (Script::default(), Notes::default());
    let cards = ["L        ISRT", "L  U   5 DATA  ABCDEFGH"];
    run(&deck(&cards), &mut script, &mut notes).expect("nothing fails");
    assert_eq!((&script.asked[0].2[..], &script.asked[0].3[..6]), (&[5][..], "ABCDE "));
}
