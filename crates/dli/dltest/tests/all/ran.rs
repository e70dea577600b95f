//! What calls are given, how often they are issued, and what comparisons find.

use holdfast_dltest::{Summary, run};

use crate::support::{Answer, FINE, Notes, Script, deck};

const GE: Answer = ("GE", 1, "ROOT", "A1", b"");
const GB: Answer = ("GB", 0, "", "", b"");

fn ran(cards: &[&str], answers: &[Answer]) -> (Script, Vec<String>, Summary) {
    let (mut script, mut notes) = (Script::new(answers), Notes::default());
    let summary = run(&deck(cards), &mut script, &mut notes).expect("nothing can fail");
    (script, notes.0, summary)
}

#[test]
fn a_repeated_call_ends_early_at_gb_only() {
    let (script, ..) = ran(&["L   0030 GN", "L      3 GNP"], &[FINE, GB, GE, GE, GE, FINE]);
    let functions: Vec<_> = script.asked.iter().map(|asked| asked.0.as_str()).collect();
    assert_eq!(functions, ["GN  ", "GN  ", "GNP ", "GNP ", "GNP "]);
}

#[test]
fn data_is_put_in_front_with_blanks_behind() {
    let (script, _, summary) = ran(
        &[
            "L        GHU   ROOT",
            "L        DLET",
            "L        ISRT  ROOT    *D",
            "L   0004 DATA  A1",
            "L  V   4 DATA  FOUR AND MORE",
            "L  Z   1 DATA  Z",
        ],
        &[],
    );
    assert!(script.asked[1].3.starts_with("A1 DATA "), "what the get left is there for DLET");
    let (_, _, lengths, area) = &script.asked[2];
    assert_eq!(lengths, &[4, 6, 5]);
    assert!(area.starts_with("A1  \0\x06FOUR\0\x05\0\0Z    "));
    assert_eq!((summary.calls, summary.is_good()), (3, true));
}

#[test]
fn differences_are_said_and_counted() {
    // The comparison, and what it says about FINE.
    for (text, printed) in [
        ("E", ""),
        ("E   01 OK ROOT     0002A1", ""),
        ("E      XX", ""),
        ("E   02", "level: 02 expected, 01 returned"),
        ("E      GE", "status: 'GE' expected, '  ' returned"),
        ("E         CHILD", "segment: 'CHILD' expected, 'ROOT' returned"),
        ("E                  0003", "key length: 3 expected, 2 returned"),
        ("E                      A2", "key: 'A2' expected, 'A1' returned"),
        ("E   02 GB", "level: 02 expected, 01 returned; status: 'GB' expected, '  ' returned"),
        ("E        DATA  A1 DATA", ""),
        ("E   0002 DATA  A1 OTHER", ""),
        ("E        DATA  A1 DOTA", "byte 5: x'4f' expected, x'41' returned"),
        ("E        DATA  A1 DATA AND MORE", "byte 9: x'41' expected, nothing returned"),
        ("E   0009 DATA  A1 DATA", "9 bytes expected, 7 returned"),
    ] {
        let (_, notes, summary) = ran(&["L        GU", text], &[]);
        assert_eq!(notes, [format!("2: {printed}")], "{text}");
        assert_eq!((summary.compared, summary.different), (1, u64::from(!printed.is_empty())));
    }
}

#[test]
fn ok_is_blank_ga_and_gk() {
    let statuses = ["  ", "GA", "GK", "GE", "GC"].map(|status| (status, 1, "ROOT", "", &b""[..]));
    for answer in statuses {
        let (.., summary) = ran(&["L        GN", "E      OK"], &[answer]);
        let is_ok = matches!(answer.0, "  " | "GA" | "GK");
        assert_eq!(summary.is_good(), is_ok, "{}", answer.0);
    }
}

#[test]
fn data_is_compared_segment_by_segment() {
    let path: Answer = ("  ", 2, "CHILD", "A1B1", b"A1  \0\x06FOUR");
    let cards = ["L        GU", "E   0004 DATA  A1", "E  V0004 DATA  FOUR"];
    let (_, notes, _) = ran(&cards, &[path]);
    assert_eq!(notes, ["2: ", "3: "]);
}

#[test]
fn a_held_comparison_lasts_until_another_one() {
    let cards = [
        "L        GU",
        "EH     OK",
        "L      2 GN",
        "U still held",
        "L        GN",
        "E      GE",
        "L        GN",
    ];
    let (_, notes, summary) = ran(&cards, &[FINE, FINE, GE, GE, GE]);
    let printed = "status: OK expected, 'GE' returned";
    assert_eq!(notes, ["2: ", "2: ", &format!("2: {printed}"), "6: "]);
    assert_eq!((summary.calls, summary.compared, summary.different), (5, 4, 1));
}

#[test]
fn an_8_ends_the_run_at_a_difference() {
    let cards = ["L        GU", "E 8    OK", "L      5 GN", "E 8    OK", "L        GN"];
    let (.., summary) = ran(&cards, &[FINE, FINE, GE]);
    assert_eq!((summary.calls, summary.ended_by, summary.different), (3, Some(4), 1));
    let (.., summary) = ran(&["L        GU", "E 8      DATA  B", "L        GN"], &[]);
    assert_eq!((summary.calls, summary.ended_by), (1, Some(2)));
}

#[test]
fn status_cards_choose_the_pcb() {
    let cards = [
        "S              CUSTDB",
        "L        GU",
        "S              NOWHERE",
        "L        GN",
        "S              2",
        "L        GNP",
    ];
    let (script, notes, summary) = ran(&cards, &[]);
    assert_eq!(script.chosen, ["Name(\"CUSTDB\")", "Name(\"NOWHERE\")", "Number(2)"]);
    assert_eq!(script.asked.len(), 2, "no call goes to another PCB than the cards say");
    let expected = [
        "HFC010 card 3, column 16: the program has no PCB NOWHERE",
        "HFC011 card 4, column 1: the call is left out: its PCB is not known",
    ];
    assert_eq!(notes, expected);
    assert_eq!(summary.wrong, 2);
}
