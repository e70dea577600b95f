//! Tests of how cards become lines.

use super::*;

fn read_text(text: &str) -> (Vec<Line>, Vec<&'static str>) {
    let cards: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut log = Log::default();
    let lines = read(SourceId(0), &cards, &mut log);
    (lines, log.into_diagnostics().iter().map(|printed| printed.code).collect())
}

/// A card with a mark in column 72.
fn more(text: &str) -> String {
    format!("{text:<71}X\n")
}

#[track_caller]
fn assert_operands(text: &str, operands: &str, codes: &[&str]) {
    let (lines, printed) = read_text(text);
    assert_eq!(lines.first().map(|line| string(&line.operands)).as_deref(), Some(operands));
    assert_eq!(printed, codes);
}

#[test]
fn a_card_has_label_operation_operands_and_comment() {
    let (lines, printed) = read_text("ROOT     SEGM  NAME=A,BYTES=40   the root's segment\n");
    assert_eq!(string(&lines[0].label), "ROOT");
    assert_eq!(string(&lines[0].op), "SEGM");
    assert_eq!(string(&lines[0].operands), "NAME=A,BYTES=40");
    let place = lines[0].place();
    assert_eq!((place.card, place.column, place.len), (1, 10, 4));
    assert!(printed.is_empty());
}

#[test]
fn comments_and_blank_cards_go() {
    let (lines, printed) = read_text("* A\n\n.* B\n         DBDGEN\n");
    assert_eq!((lines.len(), lines[0].card), (1, 4));
    assert!(printed.is_empty());
}

#[test]
fn operands_break_after_any_comma_with_comments_behind() {
    let text = more("         SEGM  NAME=A,    a comment, with a comma and an 'apostrophe")
        + &more("               PARENT=((R,       the root")
        + "               SNGL)),BYTES=4    the end";
    assert_operands(&text, "NAME=A,PARENT=((R,SNGL)),BYTES=4", &[]);
}

#[test]
fn operands_run_over_column_71() {
    let head = format!("{:<60}", "         DBD");
    let text = more(&format!("{head}NAME=LEDGER")) + "               AB";
    assert_operands(&text, "NAME=LEDGERAB", &[]);
}

#[test]
fn operands_may_begin_on_the_second_card() {
    let text = more("         DBD") + "               NAME=A  comment";
    assert_operands(&text, "NAME=A", &[]);
}

#[test]
fn texts_in_apostrophes_span_cards() {
    let head = "         DBD   NAME=A,REMARKS='it is";
    let text = more(head) + "               small, isn''t it' comment";
    let (lines, printed) = read_text(&text);
    let operands = string(&lines[0].operands);
    let gap = " ".repeat(71 - head.len());
    assert_eq!(operands, format!("NAME=A,REMARKS='it is{gap}small, isn''t it'"));
    assert!(printed.is_empty());
}

#[test]
fn any_mark_continues_and_columns_73_to_80_are_nothing() {
    let text = format!(
        "{:<71}*{:<8}\n{:<72}SEQ00020\n",
        "         SEGM  NAME=A,", "SEQ00010", "               BYTES=4"
    );
    assert_operands(&text, "NAME=A,BYTES=4", &[]);
}

#[test]
fn comments_are_continued_too() {
    let text = more("         SEGM  NAME=A     a comment that is")
        + &more("               longer than the card")
        + "               and ends here";
    assert_operands(&text, "NAME=A", &[]);
}

#[test]
fn text_before_column_16_is_an_error() {
    let text = more("         SEGM  NAME=A,") + "            BYTES=4";
    assert_operands(&text, "NAME=A,BYTES=4", &[code::BEFORE_COLUMN_16]);
    let text = more("         SEGM  NAME=A") + "         SEGM  NAME=B";
    let (lines, printed) = read_text(&text);
    assert_eq!((lines.len(), printed), (2, vec![code::BEFORE_COLUMN_16]));
    let text = more("         SEGM  NAME=A,") + "         SEGM  NAME=B";
    assert_eq!(read_text(&text).0.len(), 2);
}

#[test]
fn a_forgotten_mark_is_an_error_but_understood() {
    let text = "         SEGM  NAME=A,\n               BYTES=4\n";
    assert_operands(text, "NAME=A,BYTES=4", &[code::COMMA_WITHOUT_MARK]);
    let text = "         SEGM  NAME=A,\n         FIELD NAME=B\n";
    assert_operands(text, "NAME=A,", &[code::COMMA_WITHOUT_MARK]);
    assert_eq!(read_text(text).0.len(), 2);
}

#[test]
fn operands_behind_a_comment_are_not_lost_in_silence() {
    let text = more("         SEGM  NAME=A") + "               BYTES=4";
    assert_operands(&text, "NAME=A", &[code::READ_AS_COMMENT]);
    let text = more("         SEGM  NAME=A,") + "                 BYTES=4";
    let (_, printed) = read_text(&text);
    assert_eq!(printed, [code::READ_AS_COMMENT, code::COMMA_WITHOUT_MARK]);
    let text = more("         SEGM  NAME=A,")
        + &more("                         only a comment")
        + "               BYTES=4";
    assert_operands(&text, "NAME=A,BYTES=4", &[]);
}

#[test]
fn a_comment_inside_of_a_statement_is_an_error() {
    let text = more("         SEGM  NAME=A,") + "* no\n               BYTES=4";
    assert_operands(&text, "NAME=A,BYTES=4", &[code::COMMENT_INSIDE]);
}

#[test]
fn a_marked_comment_takes_the_next_card_with_it_unless_that_is_a_box() {
    let text = more("* a comment") + "                goes on\n         DBDGEN\n";
    let (lines, printed) = read_text(&text);
    assert_eq!((lines.len(), printed), (1, vec![code::COMMENT_CONTINUED]));
    let text = more("* a box") + &more("* of comments") + "         DBDGEN\n";
    let (lines, printed) = read_text(&text);
    assert_eq!((lines.len(), printed.len()), (1, 0));
}

#[test]
fn a_file_that_ends_too_early_is_named() {
    assert_operands(&more("         SEGM  NAME=A,"), "NAME=A,", &[code::ENDS_CONTINUED]);
    assert_operands(&more("         SEGM  NAME=A"), "NAME=A", &[code::ENDS_CONTINUED]);
    let text = "         DBD   NAME=A,REMARKS='no end";
    assert_operands(text, "NAME=A,REMARKS='no end", &[code::QUOTE]);
}

#[test]
fn small_letters_become_capitals_outside_of_apostrophes() {
    let text = "root     segm  name=a,remarks='As It Is'  comment\n  dbdgen\n";
    let (lines, printed) = read_text(text);
    assert_eq!(string(&lines[0].op), "SEGM");
    assert_eq!(string(&lines[0].operands), "NAME=A,REMARKS='As It Is'");
    assert_eq!(printed, [code::LOWER_CASE]);
    assert!(read_text("         DBDGEN  comment 'small'\n").1.is_empty());
    assert!(read_text("         DBD   NAME=A,REMARKS='small'\n").1.is_empty());
}

#[test]
fn small_letters_stay_in_what_only_describes() {
    for (text, operands, printed) in [
        (
            "         DFSMARSH ENCODING=Cp1047,URL=http://a.b/C",
            "ENCODING=Cp1047,URL=http://a.b/C",
            &[][..],
        ),
        (
            "         DFSMAP NAME=(byKind,'As Is'),x=y",
            "NAME=(byKind,'As Is'),X=y",
            &[code::LOWER_CASE],
        ),
        ("         FIELD NAME=A,EXTERNALNAME=anAge", "NAME=A,EXTERNALNAME=anAge", &[]),
        (
            "         FIELD EXTERNALNAME=(a,b),NAME=c",
            "EXTERNALNAME=(a,b),NAME=C",
            &[code::LOWER_CASE],
        ),
        ("         FIELD NAME=(remarks=a)", "NAME=(REMARKS=A)", &[code::LOWER_CASE]),
    ] {
        let (lines, found) = read_text(text);
        assert_eq!(string(&lines[0].operands), operands, "{text}");
        assert_eq!(found, printed, "{text}");
    }
}

#[test]
fn attributes_do_not_open_texts() {
    assert_operands("         X     A=L'FIELD,B=C comment", "A=L'FIELD,B=C", &[]);
}

#[test]
fn expressions_have_blanks_in_parentheses() {
    let text = "         AIF   ('&A' EQ 'B' AND (&C LT 2)).END  comment";
    assert_operands(text, "('&A' EQ 'B' AND (&C LT 2)).END", &[]);
}

#[test]
fn what_arranges_listings_is_not_looked_at() {
    assert_operands("         TITLE 'no end", "", &[]);
    assert_operands("         DBDGEN  don't mind", "", &[]);
}

#[test]
fn what_is_no_statement_is_named() {
    assert_eq!(read_text("LABEL\n").1, [code::NO_OPERATION]);
    assert_eq!(read_text("         NAME=A\n").1, [code::OPERATION]);
    assert_eq!(read_text("1A       DBDGEN\n").1, [code::LABEL]);
    assert_eq!(read_text("-INC MEMBER\n++INCLUDE MEMBER\n").1, [code::INCLUDE; 2]);
    let (lines, printed) = read_text("//A JOB\n//B EXEC\n         DBDGEN\n/*\n");
    assert_eq!((lines.len(), printed), (1, vec![code::JOB_CONTROL]));
}

#[test]
fn a_file_of_marks_is_cut_into_statements() {
    let cards = more("         A     B,") + &more(&format!("{:15}B,", "")).repeat(2 * CARDS_MAX);
    let (lines, printed) = read_text(&cards);
    assert!(lines.len() > 1 || !printed.is_empty());
    assert!(printed.contains(&code::TOO_MANY_CARDS));
}
