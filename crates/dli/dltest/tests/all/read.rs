//! Cards and the statements they say, rule by rule.

use holdfast_dltest::{
    Form, Item, Options, PcbChoice, Print, PrintOptions, Status, StatusCheck, parse,
};

use crate::support::{calls, card, deck, errors, ssas};

/// A card's text up to column 71, with a mark in 72.
fn marked(text: &str) -> String {
    format!("{text:71}X")
}

#[test]
fn a_call_has_function_and_ssa_in_their_columns() {
    // The card, the function, and the SSAs.
    let cases: [(&str, &[u8; 4], &[&str]); 8] = [
        ("L        GU", b"GU  ", &[]),
        ("L        GHNP  ROOT", b"GHNP", &["ROOT     "]),
        ("L        GN    LONGNAME", b"GN  ", &["LONGNAME "]),
        ("L        GN    ROOT    *D", b"GN  ", &["ROOT    *D "]),
        ("L        GU    ROOT    (KEY      =A1)", b"GU  ", &["ROOT    (KEY      =A1)"]),
        ("L        GU    ROOT    *DP(KEY     = A  )", b"GU  ", &["ROOT    *DP(KEY     = A  )"]),
        ("L        UG    ROOT", b"UG  ", &["ROOT     "]),
        ("L        GU    ROOT    (KEY      =A1", b"GU  ", &["ROOT    (KEY      =A1 "]),
    ];
    for (text, function, expected) in cases {
        let deck = deck(&[text]);
        let calls = calls(&deck);
        assert_eq!(
            (&calls[0].function.bytes(), ssas(calls[0])),
            (function, strings(expected)),
            "{text}"
        );
        assert_eq!((calls[0].repeat, deck.items.len()), (1, 1));
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn what_stands_behind_column_71_carries_nothing() {
    let text = card(&[(1, "L"), (10, "GU"), (16, "ROOT"), (73, "00010000")]);
    let deck = parse(text.as_bytes());
    assert_eq!(ssas(calls(&deck)[0]), ["ROOT     "]);
    assert!(errors(&deck).is_empty());
}

#[test]
fn repeat_counts_stand_in_columns_5_to_8() {
    for (text, repeat) in [("L   0030 GNP", 30), ("L      2 GN", 2), ("L   9999 GN", 9999)] {
        assert_eq!(calls(&deck(&[text]))[0].repeat, repeat);
    }
}

#[test]
fn ssas_continue_on_cards_with_blank_first_columns() {
    let deck = deck(&[
        &marked("L        GU    ROOT    *D(KEY      =A1)"),
        // A function on a continuation is ignored.
        &marked("         GNP   CHILD   (NAME    >=B)"),
        &marked(""),
        "               GRAND",
        "L        GN",
    ]);
    let calls = calls(&deck);
    let expected = ["ROOT    *D(KEY      =A1)", "CHILD   (NAME    >=B)", "GRAND    "];
    assert_eq!(ssas(calls[0]), expected);
    assert_eq!((&calls[1].function.bytes(), calls.len()), (b"GN  ", 2));
    assert!(errors(&deck).is_empty());
}

#[test]
fn a_value_keeps_its_position_over_cont() {
    let first = marked("L        GU    ROOT    (NAME    = LONG VALUE");
    let deck = deck(&[&first, "         CONT       )"]);
    let value = format!("{:37}{:5}", "LONG VALUE", "");
    assert_eq!(ssas(calls(&deck)[0]), [format!("ROOT    (NAME    = {value})")]);
    // On an L card as well, and with further SSAs behind.
    let deck = self::deck(&[&first, &marked("L        CONT  )"), "               CHILD"]);
    assert_eq!(ssas(calls(&deck)[0])[1], "CHILD    ");
    assert_eq!(calls(&deck).len(), 1);
}

#[test]
fn data_belongs_to_the_call_before_it() {
    let deck = deck(&[
        "L        ISRT  ROOT",
        "U between",
        "L        DATA  A1 FIRST",
        &marked("L        ISRT  ROOT    *D"),
        &marked("               CHILD"),
        &marked("         DATA  A2"),
        "         CONT  B7",
        "L      8 DATA  EIGHT",
    ]);
    let calls = calls(&deck);
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0].data[0].text, format!("{:56}", "A1 FIRST").as_bytes());
    assert_eq!(ssas(calls[1]), ["ROOT    *D ", "CHILD    "]);
    let [long, eight] = &calls[1].data[..] else { panic!("there are two pieces") };
    assert_eq!(long.text, format!("{:56}{:56}", "A2", "B7").as_bytes());
    assert_eq!((long.length, long.len(), eight.length), (None, 112, Some(8)));
    assert!(errors(&deck).is_empty());
}

#[test]
fn data_can_follow_a_continued_call_on_an_l_card() {
    let deck =
        deck(&[&marked("L        CHKP"), &marked("L        DATA  ID"), "L  V   4 DATA  FOUR"]);
    let call = calls(&deck)[0];
    assert_eq!((call.data.len(), call.ssas.len(), errors(&deck).len()), (2, 0, 0));
}

#[test]
fn column_72_decides_before_column_1_does() {
    // An L card behind a continued call is more of it, whatever function it names.
    let deck = deck(&[
        &marked("L        GU    ROOT    (KEY      =A1)"),
        &marked("L        GU    CHILD   (NAME     =B)"),
        &marked("L    10  GNP"),
        &marked("L   01   ISRT  GRAND"),
        "L        DATA  LAST",
        "L        GN    ROOT",
        &marked("L     x  GN    ROOT"),
        "L        GU    CHILD",
        "L        GN",
    ]);
    let calls = calls(&deck);
    let expected = ["ROOT    (KEY      =A1)", "CHILD   (NAME     =B)", "GRAND    "];
    assert_eq!((ssas(calls[0]), calls[0].repeat), (strings(&expected), 1));
    assert_eq!(calls[0].data[0].text, format!("{:56}", "LAST").as_bytes());
    // A wrong call is left out with all that continues it.
    let functions: Vec<_> =
        calls.iter().map(|call| (call.function.bytes(), call.ssas.len())).collect();
    assert_eq!(functions, [(*b"GU  ", 3), (*b"GN  ", 1), (*b"GN  ", 0)]);
    let errors = errors(&deck);
    assert_eq!((errors.len(), errors[0].card, errors[0].column), (1, 7, 5));
}

#[test]
fn forms_of_data_stand_in_column_4() {
    for (column, form) in [
        (" ", Form::Plain),
        ("P", Form::Plain),
        ("V", Form::Variable),
        ("M", Form::Variable),
        ("Z", Form::Message),
    ] {
        let deck = deck(&["L        ISRT  ROOT", &format!("L  {column}0004 DATA  FOUR")]);
        assert_eq!(calls(&deck)[0].data[0].form, form);
    }
}

#[test]
fn blank_types_and_functions_are_those_before() {
    let deck = deck(&[
        "L        GU    ROOT",
        "               CHILD",
        "L        DATA  A",
        "L              GRAND",
        "         GN",
        "U one",
        "  two",
    ]);
    let calls = calls(&deck);
    let functions: Vec<_> = calls.iter().map(|call| call.function.bytes()).collect();
    assert_eq!(functions, [*b"GU  ", *b"GU  ", *b"GU  ", *b"GN  "]);
    let texts = deck.items.iter().filter(|item| matches!(item, Item::Comment { .. }));
    assert_eq!(texts.count(), 2);
}

#[test]
fn status_cards_choose_options_and_pcb() {
    let all = PrintOptions::default();
    let none = PrintOptions {
        comments: Print::Never,
        aib: Print::Never,
        call: Print::Never,
        compare: Print::Never,
        pcb: Print::Never,
        segment: Print::Never,
    };
    let number = |number| Some(PcbChoice::Number(number));
    let name = |name: &str| Some(PcbChoice::Name(name.to_owned()));
    let cases = [
        ("S 111 1 1 1    CUSTDB", Some(all), name("CUSTDB")),
        ("S 100 0 0 0    12", Some(PrintOptions { comments: Print::Always, ..none }), number(12)),
        ("S 1 1 1 1 1", Some(PrintOptions { aib: Print::Never, ..all }), None),
        ("S     1", Some(PrintOptions { compare: Print::Always, ..none }), None),
        ("S              CUSTPCB", None, name("CUSTPCB")),
        ("S                    2", None, number(2)),
        ("S 2", Some(PrintOptions { comments: Print::IfDifferent, ..none }), None),
        ("S             1CUSTPCB", None, Some(PcbChoice::Own("CUSTPCB".into()))),
        ("S             2CUSTDB", None, Some(PcbChoice::Database("CUSTDB".into()))),
        ("S             32", None, Some(PcbChoice::NthDatabase(2))),
        ("S             4      2", None, Some(PcbChoice::Nth(2))),
    ];
    for (text, print, pcb) in cases {
        let uses_aib = pcb.as_ref().map(|_| false);
        let status = Status { card: 1, print, pcb, uses_aib, lists: false };
        assert_eq!(deck(&[text]).items, [Item::Status(status)], "{text}");
    }
    let aib = deck(&["S1111 1 1 1   1IOPCB         AIB"]);
    let [Item::Status(status)] = &aib.items[..] else { panic!("there is one status") };
    assert_eq!((status.uses_aib, &status.pcb), (Some(true), &Some(PcbChoice::Own("IOPCB".into()))));
    assert!(deck(&["SA1             CUSTDB"]).items.is_empty(), "A is about the output alone");
}

#[test]
fn comparisons_belong_to_the_call_before_them() {
    let deck = deck(&[
        "L        GU    ROOT",
        "U between",
        "EH8 02 OK CHILD    0004A1B2",
        "E",
        "E      XX",
        "E 8    GE",
        "E   0004 DATA  A1 B",
    ]);
    let call = calls(&deck)[0];
    let [full, blank, any, code] = &call.checks.pcb[..] else { panic!("there are four") };
    assert_eq!((full.is_held, full.ends_at_difference, full.level), (true, true, Some(2)));
    assert_eq!((full.status, full.key_length), (StatusCheck::Good, Some(4)));
    assert_eq!(full.segment.as_deref(), Some(&b"CHILD"[..]));
    assert_eq!(full.key.as_deref(), Some(&b"A1B2"[..]));
    assert_eq!((blank.status, blank.level), (StatusCheck::Code(*b"  "), None));
    assert_eq!(any.status, StatusCheck::Any);
    assert_eq!((code.status, code.ends_at_difference), (StatusCheck::Code(*b"GE"), true));
    assert_eq!(call.checks.data[0].piece.length, Some(4));
}

#[test]
fn keys_and_data_to_compare_can_continue() {
    let deck = deck(&[
        "L        GU    ROOT",
        &format!("{:23}{:48}X", "E                  0050", "A"),
        "               BC",
        &marked("E        DATA  A"),
        "               B",
    ]);
    let call = calls(&deck)[0];
    let key = call.checks.pcb[0].key.as_deref().expect("there is a key");
    assert_eq!(key, format!("{:48}BC", "A").as_bytes());
    assert_eq!(call.checks.data[0].piece.text.len(), 112);
    assert!(errors(&deck).is_empty());
}

#[test]
fn comments_are_kept_and_ignored_cards_are_not() {
    let deck = deck(&[
        "U one",
        "T two",
        "WTO three",
        "WTOR four",
        "N GU",
        ". GU",
        "O ABORT=0",
        "",
        "/*",
        "?",
    ]);
    let comment = |card, text: &str, is_conditional| {
        let text = text.into();
        Item::Comment { card, text, is_conditional }
    };
    let options = Item::Options(Options { card: 7, abort: Some(0) });
    assert_eq!(
        deck.items,
        [
            comment(1, " one", false),
            comment(2, " two", true),
            comment(3, " three", false),
            comment(4, " four", false),
            options
        ]
    );
}

#[test]
fn an_ignored_call_ignores_its_continuation() {
    let deck = deck(&[&marked("N        GU    ROOT"), "               CHILD", "L        GN"]);
    assert_eq!((calls(&deck).len(), deck.items.len()), (1, 1));
    // Within a call it does no harm.
    let deck = self::deck(&[&marked("L        GU    ROOT"), "N note", "               CHILD"]);
    assert_eq!(ssas(calls(&deck)[0]).len(), 2);
}
