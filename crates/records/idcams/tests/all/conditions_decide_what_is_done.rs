//! Condition codes: of commands, of IF, of SET, at the end.

use super::common::{ACCOUNTS, model};

#[test]
fn what_is_done_depends_on_condition_codes() {
    let mut site = model();
    site.expected_text(
        0,
        " DELETE BANK.ACCT PURGE\n IF LASTCC <= 8 THEN SET MAXCC = 0\n",
        &["IDC3012I ENTRY BANK.ACCT NOT FOUND", "IDC0551I", "MAXIMUM CONDITION CODE WAS 0"],
    );
    let text = format!(
        " IF MAXCC = 0 THEN DO\n {ACCOUNTS} VERIFY DATASET(BANK.ACCT)\n END\n ELSE DO\n \
         DELETE BANK.ACCT\n END\n"
    );
    site.expected_text(
        0,
        &text,
        &["IDC0512I NAME GENERATED-(D) BANK.ACCT.DATA", "(I) BANK.ACCT.INDEX"],
    );
    site.expected_text(
        12,
        &format!("{ACCOUNTS} IF LASTCC = 12 THEN -\n DELETE BANK.ACCT\n"),
        &["IDC3013I DUPLICATE DATA SET NAME", "FUNCTION TERMINATED", "(C) BANK.ACCT DELETED"],
    );
}

#[test]
fn a_wrong_command_is_left_out_and_a_wrong_modal_command_ends_all() {
    let mut site = model();
    let text = format!(" DEFINE CLUSTER (NAM(X))\n{ACCOUNTS}");
    let summary = site.execute(&text);
    let codes: Vec<(u32, String, u32)> =
        summary.commands.iter().map(|done| (done.line, done.command.clone(), done.code)).collect();
    assert_eq!(codes, [(1, String::new(), 12), (2, "DEFINE".into(), 0)]);
    assert!(site.printed.contains("IDC3211I line 1, column 18: 'NAM'"), "{}", site.printed);
    site.expected_text(
        16,
        " IF LASTCC = 0\n VERIFY DATASET(A)\n",
        &["IDC3226I", "CONDITION CODE IS 16"],
    );
    site.expected_text(
        16,
        " SET MAXCC = 16\n VERIFY DATASET(A)\n",
        &["MAXIMUM CONDITION CODE WAS 16"],
    );
    assert!(!site.printed.contains("IDC3012I"));
    site.expected_text(0, " CANCEL\n VERIFY DATASET(A)\n", &["CANCEL"]);
}

#[test]
fn statements_are_shown_before_their_messages() {
    let mut site = model();
    site.run(0, ACCOUNTS);
    let shown = site.printed.find("RECORDSIZE(20 80)").expect("the statement");
    let answer = site.printed.find("IDC0001I").expect("its end");
    assert!(shown < answer && site.printed.lines().all(|line| line.chars().count() <= 120));
}

#[test]
fn what_stands_behind_the_margin_is_told() {
    let mut site = model();
    let text = format!(" VERIFY DATASET(A){}COUNT(1)\n", " ".repeat(70));
    site.expected_text(12, &text, &["columns behind 72 are not read"]);
}
