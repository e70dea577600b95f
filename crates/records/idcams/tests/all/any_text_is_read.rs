//! Any text is statements; none does harm.

use holdfast_idcams::{Statement, statements_of};
use proptest::prelude::*;

use super::common::model;

/// Pieces of statements, so that chance makes ones that are almost right.
fn piece() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "DEFINE",
        "CLUSTER",
        "(",
        ")",
        "NAME",
        "(A.B)",
        "KEYS(4 0)",
        "REPRO",
        "INFILE(X)",
        "IF",
        "LASTCC",
        "=",
        "0",
        "THEN",
        "ELSE",
        "DO",
        "END",
        "SET",
        "MAXCC",
        "-",
        "+",
        "\n",
        " -\n ",
        "/*",
        "*/",
        "'",
        "X'",
        "C1'",
        ";",
        ",",
        "PRINT",
        "DELETE A.*",
        "LISTCAT",
        "ALL",
        "ALTER A",
        "NEWNAME(B)",
        "PARM",
        "MARGINS(1 80)",
        "CANCEL",
        "RECORDSIZE(1 2)",
        "ENTRIES(",
        "GDG(+1)",
        "IMPORT",
        "OBJECTS((A NEWNAME(B)))",
        "SNAP",
        "VERIFY DATASET(A)",
        "4294967296",
        "**",
    ]);
    prop_oneof![9 => words.prop_map(str::to_owned), 1 => ".{0,12}"]
}

proptest! {
    #[test]
    fn any_text_is_statements(text in ".{0,400}") {
        let _ = statements_of(&text);
    }

    #[test]
    fn pieces_of_statements_are_executed_without_harm(
        pieces in prop::collection::vec(piece(), 0..40),
    ) {
        let text = format!(" {}\n", pieces.join(" "));
        let mut site = model();
        let summary = site.execute(&text);
        prop_assert!(summary.code <= 16);
        let last = site.printed.trim_end().lines().last().unwrap_or_default().to_owned();
        prop_assert!(last.starts_with("IDC0002I"), "{}", site.printed);
    }
}

#[test]
fn statements_have_their_lines_and_faults_their_places() {
    let steps = statements_of(" VERIFY DATASET(A)\n\n PRINT IFILE(A) -\n   FROB\n");
    assert_eq!((steps[1].first, steps[1].last), (3, 4));
    let Statement::Wrong(fault) = &steps[1].statement else { panic!("{:?}", steps[1]) };
    assert_eq!((fault.place.line, fault.place.column), (4, 4));
}
