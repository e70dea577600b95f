//! The readable report and the lines of JSON.

use std::io::{Error, Write};

use base::Coded;
use codec::CodePage;
use holdfast_dltest::{
    Deck, Feedback, JsonLines, PcbChoice, Program, Report, Request, RunError, run,
};

use crate::support::{Answer, Script, deck};

fn reported(deck: &Deck, answers: &[Answer], page: CodePage) -> String {
    let mut out = Vec::new();
    run(deck, &mut Script::new(answers), &mut Report::new(&mut out, page)).expect("it is good");
    String::from_utf8(out).expect("it is text")
}

#[test]
fn a_call_is_shown_with_its_ssas_data_and_pcb() {
    let cards = [
        "U the first",
        "S 1 1 1 1 1    CUSTDB",
        "L        GU    ROOT    *D(KEY     >=A1&KEY     <=B1)                   X",
        "               CHILD",
        "E   02 OK",
        "E   03",
        "?",
    ];
    let answer: Answer = ("GA", 2, "CHILD", "A1\x01", &[b'x'; 130]);
    let expected = format!(
        "\
U the first
PCB     CUSTDB
CALL    GU    card 3
  SSA   ROOT      *D        KEY      >= 'A1'
                          & KEY      <= 'B1'
  SSA   CHILD
  DATA  {}
        {}
  PCB   LEVEL 02  SEGMENT CHILD     STATUS 'GA'  KEY LENGTH 3
  KEY   A1.
        430
        111
  EQUAL  card 5
  DIFFERENT  card 6: level: 03 expected, 02 returned
  DIFFERENT  card 6: status: '  ' expected, 'GA' returned
WRONG   HFC001 card 7, column 1: '?' is no type of card. Begin the card with S, L, E, U, T, N, \
O, CTL, WTO, ABEND or a point.
",
        "x".repeat(100),
        "x".repeat(30),
    );
    assert_eq!(reported(&deck(&cards), &[answer], CodePage::Ascii), expected);
}

#[test]
fn options_leave_parts_out() {
    let cards = ["S 00 0 0 0", "T gone", "U kept", "L      2 GN", "E      OK"];
    assert_eq!(reported(&deck(&cards), &[], CodePage::Ascii), "U kept\n");
    let cards = ["S 0 1 0 0 0", "L      2 GN"];
    let expected = "CALL    GN    card 2, 1 of 2\nCALL    GN    card 2, 2 of 2\n";
    assert_eq!(reported(&deck(&cards), &[], CodePage::Ascii), expected);
}

#[test]
fn a_2_shows_parts_with_a_difference_only() {
    let cards = [
        "S 2 2 0 2",
        "T never, for its call is as expected",
        "L        GU",
        "E      OK",
        "T of the second call",
        "L        GN",
        "E      OK",
        "E      GB",
        "L        GNP",
    ];
    let answers: [Answer; 2] = [("  ", 1, "ROOT", "A1", b"A1"), ("GE", 0, "", "", b"")];
    let expected = "\
U of the second call
CALL    GN    card 6
  PCB   LEVEL 00  SEGMENT           STATUS 'GE'  KEY LENGTH 0
  DIFFERENT  card 7: status: OK expected, 'GE' returned
  DIFFERENT  card 8: status: 'GB' expected, 'GE' returned
";
    assert_eq!(reported(&deck(&cards), &answers, CodePage::Ascii), expected);
}

#[test]
fn aibs_are_shown_if_they_are_used() {
    let text =
        reported(&deck(&["S                            AIB", "L        GN"]), &[], CodePage::Ascii);
    assert!(text.contains("  AIB   RETURN CODE 00000000  REASON CODE 00000000\n"), "{text}");
}

#[test]
fn data_is_shown_in_its_code_page() {
    let answer: Answer = ("  ", 1, "ROOT", "", &[0xc1, 0xf1]);
    let text = reported(&deck(&["L        GN"]), &[answer], CodePage::Cp037);
    assert!(text.contains("  DATA  A1\n"), "{text}");
}

#[test]
fn json_has_a_line_a_call() {
    let cards = ["U x", "L        GU    ROOT    (KEY      =A1)", "E      GE", "L        GB", "?"];
    let answers: [Answer; 2] = [("  ", 1, "ROOT", "A1", b"A1\xff"), ("GB", 0, "", "", b"")];
    let (mut lines, mut notes) = (Vec::new(), Vec::new());
    let mut json = JsonLines::new(&mut lines, &mut notes);
    run(&deck(&cards), &mut Script::new(&answers), &mut json).expect("it is good");
    let expected = concat!(
        r#"{"call":"GU","ssas":["ROOT    (KEY      =A1)"],"status":"  ","level":1,"#,
        r#""segment":"ROOT","kfb_len":2,"key":"4131","data":"4131ff","#,
        r#""compared":[{"card":3,"equal":false,"differences":"#,
        r#"["status: 'GE' expected, '  ' returned"]}]}"#,
        "\n",
        r#"{"call":"GB","ssas":[],"status":"GB","level":0,"#,
        r#""segment":"","kfb_len":0,"key":"","data":""}"#,
        "\n",
    );
    assert_eq!(String::from_utf8(lines).expect("it is text"), expected);
    let notes = String::from_utf8(notes).expect("it is text");
    assert!(notes.starts_with("card 3: status: 'GE' expected, '  ' returned\nHFC001 card 5, "));
}

#[test]
fn the_data_that_a_call_was_given_is_shown() {
    // ISRT, REPL and DLET return nothing into the area.
    let cards =
        ["L        ISRT  ROOT", "L      4 DATA  A1xy", "E      OK", "E   01 II", "E      OK"];
    let answers: [Answer; 1] = [("II", 1, "ROOT", "A1", b"")];
    let text = reported(&deck(&cards), &answers, CodePage::Ascii);
    assert!(text.contains("  SSA   ROOT\n  DATA  A1xy\n  PCB   LEVEL 01"), "{text}");
    let (mut lines, mut notes) = (Vec::new(), Vec::new());
    let mut json = JsonLines::new(&mut lines, &mut notes);
    run(&deck(&cards), &mut Script::new(&answers), &mut json).expect("it is good");
    let line: serde_json::Value = serde_json::from_slice(&lines).expect("it is one line");
    assert_eq!(line["data"], "41317879");
    let equal: Vec<_> = line["compared"].as_array().expect("a list").iter().collect();
    assert_eq!(equal.len(), 3);
    assert_eq!((&equal[0]["equal"], &equal[1]["equal"]), (&false.into(), &true.into()));
    assert_eq!((&equal[1]["card"], &equal[1]["differences"]), (&4.into(), &serde_json::json!([])));
}

#[test]
fn a_line_is_written_though_the_next_call_ends_the_run() {
    let deck = deck(&["L        GU", "E      GB", "L        ROLL"]);
    let (mut lines, mut notes) = (Vec::new(), Vec::new());
    let mut json = JsonLines::new(&mut lines, &mut notes);
    run(&deck, &mut Abending, &mut json).expect_err("the program ends");
    let line: serde_json::Value = serde_json::from_slice(&lines).expect("it is one line");
    assert_eq!((&line["call"], &line["compared"][0]["equal"]), (&"GU".into(), &false.into()));
}

/// Nothing can be written to it.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(Error::other("the disk is full"))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// An abend of a program.
#[derive(Debug, thiserror::Error)]
#[error("abend U0778")]
struct Abend;

impl Coded for Abend {
    fn code(&self) -> base::Code {
        base::Code("HFI999")
    }

    fn remedy(&self) -> String {
        "Look at the last calls.".to_owned()
    }
}

struct Abending;

impl Program for Abending {
    type Error = Abend;

    fn choose(&mut self, _: &PcbChoice) -> Result<bool, Abend> {
        Ok(true)
    }

    fn pcbs(&self) -> Vec<String> {
        Vec::new()
    }

    fn call(&mut self, request: &Request<'_>, _: &mut [u8]) -> Result<Feedback, Abend> {
        if request.function.bytes() == *b"ROLL" { Err(Abend) } else { Ok(Feedback::default()) }
    }
}

#[test]
fn what_ends_a_run_is_said() {
    let deck = deck(&["L        GU", "L        ROLL", "L        GU"]);
    let mut report = Report::new(Vec::new(), CodePage::Ascii);
    let error = run(&deck, &mut Abending, &mut report).expect_err("the program ends");
    assert_eq!((error.code().0, error.to_string().as_str()), ("HFI999", "card 2: abend U0778"));
    assert_eq!(error.remedy(), "Look at the last calls.");
    let mut report = Report::new(Vec::new(), CodePage::Ascii);
    let error = run(&self::deck(&["ABEND"]), &mut Abending, &mut report).expect_err("it ends");
    assert_eq!((error.code().0, error.remedy().is_empty()), ("HFC016", false));
    let mut report = Report::new(Full, CodePage::Ascii);
    let error = run(&deck, &mut Abending, &mut report).expect_err("the report ends");
    assert!(matches!(error, RunError::Report(_)));
    assert_eq!((error.code().0, error.remedy().is_empty()), ("HFC020", false));
}
