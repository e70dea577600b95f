//! Tests of what macros, COPY and conditional assembly make of cards.

use std::path::{Path, PathBuf};

use crate::copy::CopyMembers;
use crate::diagnostic::{Severity, code};
use crate::sources::Sources;
use crate::statement::{Statement, Value};
use crate::{Program, read};

/// Members by name.
struct Members(&'static [(&'static str, &'static str)]);

impl CopyMembers for Members {
    fn find(&self, name: &str) -> Option<(PathBuf, Vec<u8>)> {
        let (_, text) = self.0.iter().find(|(known, _)| *known == name)?;
        Some((PathBuf::from(format!("lib/{name}")), text.as_bytes().to_vec()))
    }
}

fn written(value: &Value) -> String {
    match value {
        Value::Empty(_) => String::new(),
        Value::Word(word) => word.text.clone(),
        Value::Quoted(word) => format!("'{}'", word.text),
        Value::List(values, _) => {
            format!("({})", values.iter().map(written).collect::<Vec<_>>().join(","))
        }
    }
}

fn card(statement: &Statement) -> String {
    let operand = |operand: &crate::Operand| {
        let keyword = operand.keyword.as_ref().map(|word| format!("{}=", word.text));
        keyword.unwrap_or_default() + &written(&operand.value)
    };
    let operands: Vec<String> = statement.operands.iter().map(operand).collect();
    let label = statement.label.as_ref().map(|label| format!("{}: ", label.text));
    format!("{}{} {}", label.unwrap_or_default(), statement.op.text, operands.join(","))
}

fn expand_with(text: &str, members: &'static [(&'static str, &'static str)]) -> (Program, Sources) {
    let mut sources = Sources::new();
    let program = read(&mut sources, Path::new("a.dbd"), text.as_bytes(), &Members(members));
    (program, sources)
}

#[track_caller]
fn assert_made(text: &str, expected: &[&str]) {
    let (program, sources) = expand_with(text, &[]);
    let shown: Vec<String> =
        program.diagnostics.iter().map(|printed| sources.show(printed)).collect();
    assert_eq!(shown, [""; 0]);
    let made: Vec<String> = program.statements.iter().map(card).collect();
    let made: Vec<&str> = made.iter().map(|card| card.trim_end()).collect();
    assert_eq!(made, expected);
}

/// The values of V operands, after declarations in `before`.
#[track_caller]
fn assert_values(before: &str, shown: &str, expected: &str) {
    assert_made(&format!("{before} V {shown}\n"), &[&format!("V {expected}")]);
}

#[track_caller]
fn assert_codes(text: &str, expected: &[&str]) -> (Program, Sources) {
    let (program, sources) = expand_with(text, &[]);
    let codes: Vec<&str> = program.diagnostics.iter().map(|printed| printed.code).collect();
    assert_eq!(codes, expected, "{text}");
    (program, sources)
}

const PAIR: &str = concat!(
    "         MACRO\n",
    "&L       PAIR  &FIRST,&SECOND,&BYTES=40,&TAIL=\n",
    ".* an inner comment\n",
    "&L       SEGM  NAME=&FIRST,BYTES=&BYTES\n",
    "         SEGM  NAME=&SECOND,PARENT=(&FIRST,SNGL),BYTES=&BYTES.&TAIL\n",
    "         MEND\n",
);

#[test]
fn macros_have_positional_and_keyword_parameters_and_a_label() {
    assert_made(
        &format!("{PAIR}ROOT PAIR A,B,TAIL=0\n PAIR BYTES=8,C\n END\n"),
        &[
            "ROOT: SEGM NAME=A,BYTES=40",
            "SEGM NAME=B,PARENT=(A,SNGL),BYTES=400",
            "SEGM NAME=C,BYTES=8",
            "SEGM NAME=,PARENT=(C,SNGL),BYTES=8",
            "END",
        ],
    );
}

#[test]
fn statements_of_a_macro_point_at_the_call_and_name_the_macros_card() {
    let text = format!("{PAIR}         PAIR  A,B,X=1\n         PAIR  A,B)\n");
    let (program, sources) = assert_codes(&text, &[code::PARAMETER, code::STRAY_TEXT]);
    let place = program.statements[0].place;
    assert_eq!((place.card, place.column, place.len), (8, 10, 4));
    assert_eq!(program.statements[0].operands[0].value.place(), place);
    let shown = sources.show(&program.diagnostics[0]);
    assert!(shown.contains("a.dbd:7:20") && !shown.contains("note"), "{shown}");
    let shown = sources.show(&program.diagnostics[1]);
    for part in ["a.dbd:8:10", "PAIR  A,B)", "of the macro PAIR", "a.dbd:5:10", "PARENT=(&FIRST"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[test]
fn arguments_have_sublists_and_numbers() {
    let text = "
 MACRO
&L M &P
 V &P(1),&P(2,1),&P(2),&P(3),&SYSLIST(2)
 V &SYSLIST(2,2),&SYSLIST(0),&SYSNDX
&N SETA N'&SYSLIST
&K SETA K'&P
&T SETC T'&P
 V &N,&K,&T,&SYSMAC
 MEND
X M (A,(B,C)),(D,E)
 M
";
    let expected =
        ["V A,B,(B,C),,(D,E)", "V E,X,0001", "V 2,9,U,M", "V ,,,,", "V ,,0002", "V 0,0,O,M"];
    assert_made(text, &expected);
}

#[test]
fn a_dot_ends_a_name() {
    let before = "&A SETC 'X'\n&I SETA 7\n";
    assert_values(before, "&A.Y,&A..Y,&A&I,&I.0,'&A.&A',Y&A,A&&B", "XY,X.Y,X7,70,'XX',YX,A&B");
}

#[test]
fn small_letters_of_variables_stay_small_in_apostrophes_alone() {
    assert_made("&A SETC 'low'\n &A &A,'&A',C'&A'\n", &["LOW LOW,'low',C'low'"]);
}

#[test]
fn arithmetic() {
    for (expression, value) in [
        ("1+2*3", "7"),
        ("(1+2)*3", "9"),
        ("7/2", "3"),
        ("7/0", "0"),
        ("-7+2", "5"),
        ("-(2-5)", "3"),
        ("X'1F'+B'11'", "34"),
        ("C'A'", "193"),
        ("&A*&A", "25"),
        ("&T+1", "43"),
        ("K'&T", "2"),
        ("&R(2)-&R(1)", "10"),
    ] {
        let before = format!(
            "&A SETA 5\n&T SETC '42'\n LCLA &R(5)\n&R(1) SETA 10,20\n&V SETA {expression}\n"
        );
        assert_values(&before, "&V", value);
    }
}

#[test]
fn characters() {
    for (expression, value) in [
        ("'ABC'", "ABC"),
        ("'&T'(2,3)", "BCD"),
        ("'&T'(4,9)", "DE"),
        ("'&T'(4,*)", "DE"),
        ("'&T'(9,1)", ""),
        ("'A'.'B'", "AB"),
        ("'&T'(1,1).'-'.'&T'(&I,1)", "A-C"),
        ("'&T'(1,1)'&T'(5,1)", "AE"),
        ("(3)'AB'", "ABABAB"),
        ("'it''s'(4,1)", "s"),
        ("T'&T", "U"),
        ("'small'", "small"),
    ] {
        let before = format!("&T SETC 'ABCDE'\n&I SETA 3\n&V SETC {expression}\n");
        assert_values(&before, "'&V'", &format!("'{value}'"));
    }
}

#[test]
fn conditions() {
    for (condition, truth) in [
        ("&A EQ 5", 1),
        ("&A NE 5", 0),
        ("&A GT 4 AND &A LT 6", 1),
        ("NOT &A GE 5", 0),
        ("NOT (&A LE 4)", 1),
        ("&A EQ 1 OR &A EQ 5 AND 0", 0),
        ("(&A EQ 5 OR 1) AND (0)", 0),
        ("1 XOR 1", 0),
        ("1 AND NOT 0", 1),
        ("'&T' EQ 'AB'", 1),
        ("'&T'EQ'AB'", 1),
        ("'B' LT 'AB'", 1),
        ("'A' LT '1'", 1),
        ("'a' LT 'A'", 1),
        ("'&T'(1,1) EQ 'A' AND &B", 1),
        ("T'&T EQ 'U'", 1),
        ("((&A+1)*2 EQ 12)", 1),
        ("((&A EQ 5))", 1),
        ("&A", 1),
        ("&A-5", 0),
    ] {
        let before = format!("&A SETA 5\n&T SETC 'AB'\n&B SETB 1\n&V SETB ({condition})\n");
        assert_values(&before, "&V", &truth.to_string());
    }
}

#[test]
fn loops_and_branches_inside_of_macros() {
    let text = "
 MACRO
 FIELDS &COUNT,&KIND
 LCLA &I
.LOOP ANOP
&I SETA &I+1
 AIF (&I GT &COUNT).DONE
 AIF ('&KIND' EQ 'K' AND &I EQ 1).KEY,(&I EQ 3).LOOP
 FIELD NAME=F&I
 AGO .LOOP
.KEY FIELD NAME=(F&I,SEQ,U)
 AGO .LOOP
.DONE MEXIT
 FIELD NAME=NEVER
 MEND
 FIELDS 4,K
 FIELDS 1
";
    let expected = ["FIELD NAME=(F1,SEQ,U)", "FIELD NAME=F2", "FIELD NAME=F4", "FIELD NAME=F1"];
    assert_made(text, &expected);
}

#[test]
fn branches_may_lead_to_repair() {
    assert_made(" MACRO\n M\n AGO .END\n A NO\n.END MEND\n M\n A YES\n", &["A YES"]);
}

#[test]
fn branches_in_open_code_go_forward_and_back() {
    let text = "
&I SETA 0
.AGAIN A &I
&I SETA &I+1
 AIF (&I LT 3).AGAIN
 AGO (&I-1).ONE,.TWO,.THREE
 A NO
.ONE A ONE
.TWO A TWO
 AGO .END
.THREE A THREE
.END ANOP
";
    assert_made(text, &["A 0", "A 1", "A 2", "A TWO"]);
    let text = " AGO .OVER\n MACRO\n M\n.OVER A NO\n MEND\n.OVER A YES\n";
    assert_made(text, &["A YES"]);
}

#[test]
fn global_variables_are_shared_and_local_ones_are_not() {
    let text = "
 GBLC &G
&G SETC 'OPEN'
&L SETC 'LOCAL'
 MACRO
 M
 GBLC &G
 LCLC &L
 A &G,&L
&G SETC 'MACRO'
&L SETC 'OTHER'
 MEND
 M
 A &G,&L
";
    assert_made(text, &["A OPEN,", "A MACRO,LOCAL"]);
}

#[test]
fn macros_call_macros() {
    let text = "
 MACRO
 OUTER &X
 INNER &X,'&SYSNDX'
 A &SYSNDX
 MEND
 MACRO
 INNER &X,&Y
 B &X(1),&Y,&SYSNDX
 MEND
 OUTER (P,Q)
";
    let (program, _) = expand_with(text, &[]);
    assert_eq!(program.diagnostics, []);
    let made: Vec<String> = program.statements.iter().map(card).collect();
    assert_eq!(made, ["B P,'0001',0002", "A 0001"]);
    assert!(program.statements.iter().all(|statement| statement.place.card == 11));
}

#[test]
fn notes_of_macros_have_a_severity() {
    let text = " MNOTE 'A &&'\n MNOTE *,'B'\n MNOTE 4,'C'\n MNOTE 8,'D'\n";
    let (program, _) = assert_codes(text, &[code::MNOTE; 4]);
    let printed =
        |index: usize| (program.diagnostics[index].severity, &*program.diagnostics[index].message);
    assert_eq!(printed(0), (Severity::Note, "A &"));
    assert_eq!(printed(1), (Severity::Note, "B"));
    assert_eq!(printed(2), (Severity::Warning, "C"));
    assert_eq!(printed(3), (Severity::Error, "D"));
}

#[test]
fn what_is_not_supported_is_refused_at_its_card() {
    for text in [
        "&A AREAD",
        " AINSERT 'A',BACK",
        " OPSYN A",
        " ICTL 1",
        " PUNCH 'A'",
        " A &(B)",
        " A &SYSDATE",
        "&A SETA L'&B",
        " MACRO\n M\n MACRO\n N\n MEND\n MEND",
    ] {
        let (program, _) = assert_codes(&format!("{text}\n"), &[code::UNSUPPORTED]);
        assert_eq!(program.statements, [], "{text}");
        let help = program.diagnostics[0].help.as_deref().unwrap_or_default();
        assert!(help.contains("expanded source"), "{text}: {help}");
    }
}

#[test]
fn what_arranges_listings_is_dropped() {
    let text = " PRINT NOGEN\nX TITLE 'no end\n EJECT\n SPACE 2\n PUSH PRINT\n POP PRINT\n END\n";
    assert_made(text, &["END"]);
}

#[test]
fn wrong_statements_are_named() {
    for (text, expected) in [
        (" A &B", code::UNDEFINED),
        (" A '&'", code::EXPRESSION),
        ("&A SETA 1+", code::EXPRESSION),
        ("&A SETA 'X'", code::EXPRESSION),
        ("&A SETA 99999999999", code::EXPRESSION),
        ("&A SETA 2000000000*2", code::EXPRESSION),
        ("&A SETC X", code::EXPRESSION),
        ("&A SETC 'A'(0,1)", code::EXPRESSION),
        ("&A SETB (1 EQ)", code::EXPRESSION),
        ("&A SETB ('A' EQ 1)", code::EXPRESSION),
        ("&A SETA", code::EXPRESSION),
        ("A SETA 1", code::EXPRESSION),
        ("&A(0) SETA 1", code::EXPRESSION),
        (" AIF (1)", code::EXPRESSION),
        (" AIF 1", code::EXPRESSION),
        (" AIF (1 .A", code::EXPRESSION),
        (" AGO A", code::EXPRESSION),
        (" AGO .A", code::SEQUENCE_SYMBOL),
        (" AIF (1).A", code::SEQUENCE_SYMBOL),
        (" LCLA &A\n LCLC &A", code::VARIABLE),
        (" LCLA &A\n&A SETC 'B'", code::VARIABLE),
        (" LCLA 1", code::VARIABLE),
        (" MEND", code::MACRO),
        (" MEXIT", code::MACRO),
        (" MACRO\n M\n A B", code::MACRO),
        (" MACRO\n MEND", code::MACRO),
        (" MACRO\n M &A,&A\n MEND", code::MACRO),
        (" MACRO\n M A\n MEND", code::MACRO),
        (" MACRO\nL M\n MEND", code::MACRO),
        (" MACRO\n M &P\n&P SETC 'A'\n MEND\n M", code::VARIABLE),
        (" MACRO\n M &P\n LCLC &P\n MEND\n M", code::VARIABLE),
        (" MACRO\n M\n AGO .X\n MEND\n.X M", code::SEQUENCE_SYMBOL),
        (" MACRO\n M &P=\n MEND\n M Q=1", code::PARAMETER),
        (" COPY", code::COPY_NAME),
        (" COPY A,B", code::COPY_NAME),
        (" COPY 'A'", code::COPY_NAME),
        (" COPY A", code::COPY_MISSING),
    ] {
        let (program, sources) = assert_codes(&format!("{text}\n"), &[expected]);
        assert!(program.diagnostics[0].severity == Severity::Error, "{text}");
        assert!(sources.show(&program.diagnostics[0]).contains('^'), "{text}");
    }
}

#[test]
fn carets_stand_below_the_wrong_word() {
    let (program, sources) = assert_codes("         A     B,NAME=&NONE.X\n", &[code::UNDEFINED]);
    let shown = sources.show(&program.diagnostics[0]);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[3], " 1 |          A     B,NAME=&NONE.X");
    assert_eq!(lines[4], "   |                       ^^^^^");
}

#[test]
fn no_loop_is_without_end() {
    let doubling = "&A SETC 'X'\n.A ANOP\n&A SETC '&A&A'\n AGO .A\n";
    for (text, expected) in [
        (".A AGO .A\n", code::LOOP),
        (" ACTR 5\n.A AGO .A\n", code::LOOP),
        (" MACRO\n M\n.A AGO .A\n MEND\n M\n", code::LOOP),
        (" MACRO\n M\n M\n MEND\n M\n", code::CALL_DEPTH),
        (" MACRO\n M\n ACTR 1000000\n M\n M\n MEND\n M\n", code::LOOP),
        (" ACTR 1000000\n.A ANOP\n AGO .A\n", code::LOOP),
        (doubling, code::VALUE_SIZE),
    ] {
        let (program, _) = expand_with(text, &[]);
        let codes: Vec<&str> = program.diagnostics.iter().map(|printed| printed.code).collect();
        assert!(codes.contains(&expected), "{text}: {codes:?}");
    }
    let deep = format!("&A SETA {}1\n", "(".repeat(50));
    assert_codes(&deep, &[code::TOO_DEEP]);
    let deep = format!(" AIF ({}1).A\n", "(".repeat(50));
    assert_codes(&deep, &[code::EXPRESSION]);
}

const LIBRARY: &[(&str, &str)] = &[
    ("FIELDS", " FIELD NAME=A\n COPY MORE\n"),
    ("MORE", " FIELD NAME=B,\n"),
    ("SELF", " A 1\n COPY SELF\n"),
    ("PING", " COPY PONG\n"),
    ("PONG", " COPY PING\n"),
    ("TWICE", " COPY TWICE1\n COPY TWICE1\n"),
    ("TARGET", " A NO\n.HERE A YES\n"),
    ("BODY", " A &P\n"),
    ("LIBMAC", "* a comment\n MACRO\n&L LIBMAC &P\n&L A LIB&P\n MEND\n"),
    ("SEGM", " MACRO\n SEGM &P\n MEND\n"),
    ("NOMAC", " A 1\n"),
];

fn made_with_library(text: &str) -> (Vec<String>, Vec<&'static str>) {
    let (program, _) = expand_with(text, LIBRARY);
    let made = program.statements.iter().map(|statement| card(statement).trim_end().to_owned());
    (made.collect(), program.diagnostics.iter().map(|printed| printed.code).collect())
}

#[test]
fn members_are_copied_in() {
    let (made, codes) = made_with_library(" COPY FIELDS\n END\n");
    assert_eq!(made, ["FIELD NAME=A", "FIELD NAME=B", "END"]);
    assert_eq!(codes, [code::COMMA_WITHOUT_MARK]);
    let (made, codes) = made_with_library(" copy more   a comment\n");
    assert_eq!((made.len(), codes.len()), (1, 2));
    let (made, codes) = made_with_library(" AGO .HERE\n A NO\n COPY TARGET\n");
    assert_eq!((made, codes), (vec!["A YES".to_owned()], vec![]));
    let (made, codes) = made_with_library(" MACRO\n M &P\n COPY BODY\n MEND\n M X\n");
    assert_eq!((made, codes), (vec!["A X".to_owned()], vec![]));
}

#[test]
fn a_wrong_card_of_a_member_shows_where_it_was_copied() {
    let (program, sources) = expand_with(" END\n COPY FIELDS\n", LIBRARY);
    let shown = sources.show(&program.diagnostics[0]);
    for part in ["lib/MORE:1:", "MORE is copied at lib/FIELDS:2", "FIELDS is copied at a.dbd:2"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[test]
fn members_do_not_copy_themselves() {
    let (made, codes) = made_with_library(" COPY SELF\n END\n");
    assert_eq!((made.len(), codes), (2, vec![code::COPY_RECURSION]));
    let (made, codes) = made_with_library(" COPY PING\n END\n");
    assert_eq!((made.len(), codes), (1, vec![code::COPY_RECURSION]));
    let (made, codes) = made_with_library(" MACRO\n M\n COPY SELF\n MEND\n M\n");
    assert_eq!((made.len(), codes), (1, vec![code::COPY_RECURSION]));
}

/// Member C0 copies C1 twice, and so on.
struct Doubling;

impl CopyMembers for Doubling {
    fn find(&self, name: &str) -> Option<(PathBuf, Vec<u8>)> {
        let number: u32 = name.strip_prefix('C')?.parse().ok()?;
        let text = format!(" COPY C{0}\n COPY C{0}\n", number + 1);
        Some((PathBuf::from(name), text.into_bytes()))
    }
}

#[test]
fn copies_come_to_an_end() {
    let mut sources = Sources::new();
    let program = read(&mut sources, Path::new("a"), b" COPY C0\n", &Doubling);
    assert!(
        program
            .diagnostics
            .iter()
            .all(|printed| printed.code == code::COPY_LIMIT || printed.code == code::MORE)
    );
    assert!(!program.diagnostics.is_empty());
}

#[test]
fn macros_come_from_folders_but_not_those_of_the_host() {
    let (made, codes) = made_with_library("X LIBMAC 1\n LIBMAC 2\n SEGM A=B\n NOMAC\n");
    assert_eq!(made, ["X: A LIB1", "A LIB2", "SEGM A=B", "NOMAC"]);
    assert_eq!(codes, [""; 0]);
}
