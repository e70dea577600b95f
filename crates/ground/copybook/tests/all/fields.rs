//! Values of fields: exact both ways, whatever the bytes are.
#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use codec::CodePage;
use holdfast_copybook::{Copybook, Fields, ValueKind};
use proptest::prelude::*;

const BOOK: &str = "       01 ACCOUNT.
          05 ACCT-NO      PIC X(4).
          05 OWNER-NAME   PIC X(6).
          05 BALANCE      PIC S9(5)V99 COMP-3.
          05 LIMIT        PIC S9(4) COMP.
          05 RATE         PIC S9V999.
          05 CHANGED      PIC S9(3) SIGN LEADING SEPARATE.
          05 TURNED       PIC S9(3) SIGN LEADING.
          05 THOUSANDS    PIC 9(2)PPP.
          05 FILLER       PIC X(2).
          05 COUNTED      PIC 9.
          05 RAW REDEFINES COUNTED PIC X.
          05 FACTOR       COMP-2.
          05 LINES OCCURS 1 TO 3 DEPENDING ON COUNTED.
             10 LINE-NO   PIC 9(2).
             10 LINE-TEXT PIC X(3).
";

fn fields(page: CodePage) -> Fields {
    let book = Copybook::parse("BOOK", BOOK.as_bytes(), &|_| None).unwrap();
    Fields::of(book.record(None).unwrap(), page).unwrap()
}

fn values() -> Vec<Option<String>> {
    let all = [
        "A1",
        "Müll",
        "-12345.67",
        "-32768",
        "-1.250",
        "-42",
        "-207",
        "17000",
        "2",
        "-0.1",
        "1",
        "one",
        "2",
        "two",
    ];
    let mut all: Vec<Option<String>> = all.iter().map(|text| Some((*text).to_owned())).collect();
    all.resize(16, None);
    all
}

#[test]
fn values_come_back_exactly_in_every_code_page() {
    for page in [CodePage::Ascii, CodePage::Latin1, CodePage::Cp037, CodePage::Cp273] {
        let fields = fields(page);
        let names: Vec<&str> = fields.all().iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names[..3], ["ACCT-NO", "OWNER-NAME", "BALANCE"]);
        assert_eq!(names[10..12], ["LINE-NO(1)", "LINE-TEXT(1)"]);
        let mut wanted = values();
        if page.is_ebcdic() {
            assert_eq!(fields.all()[9].value, ValueKind::Bytes);
            wanted[9] = Some("\\x00ff00ff00ff00ff".into());
        }
        let record = fields.record(&wanted, None).unwrap();
        assert_eq!(record.len(), fields.bytes_max() - 5, "{page:?}");
        assert_eq!(fields.values(&record), wanted, "{page:?}");
    }
}

#[test]
fn a_decimal_has_the_digits_that_its_bytes_can_have() {
    let fields = fields(CodePage::Ascii);
    let kinds: Vec<ValueKind> = fields.all()[2..8].iter().map(|field| field.value).collect();
    let decimal = |digits, scale| ValueKind::Decimal { digits, scale };
    let wanted = [(7, 2), (5, 0), (4, 3), (3, 0), (3, 0), (5, 0)];
    assert_eq!(kinds, wanted.map(|(digits, scale)| decimal(digits, scale)));
}

#[test]
fn a_value_that_does_not_fit_is_refused_and_names_its_field() {
    let fields = fields(CodePage::Ascii);
    let bad = [(0, "longer"), (2, "123456"), (2, "1.234"), (2, "x"), (3, "32768"), (7, "17001")];
    for (at, value) in bad {
        let mut all = values();
        all[at] = Some(value.into());
        let refused = fields.record(&all, None).unwrap_err();
        assert_eq!(refused.name, fields.all()[at].name);
    }
}

#[test]
fn a_changed_count_changes_the_length_and_what_no_field_says_stays() {
    let fields = fields(CodePage::Ascii);
    let mut old = fields.record(&values(), None).unwrap();
    let filler = fields.all()[8].offset - 2;
    old[filler..filler + 2].copy_from_slice(b"zz");
    let mut shorter = values();
    // What an occurrence had that is not there any more counts for nothing.
    shorter[8] = Some("1".into());
    let record = fields.record(&shorter, Some(&old)).unwrap();
    assert_eq!(record.len(), old.len() - 5);
    assert_eq!(&record[filler..filler + 2], b"zz");
    (shorter[12], shorter[13]) = (None, None);
    assert_eq!(fields.values(&record), shorter);
}

#[test]
fn something_behind_a_table_of_varying_length_is_refused() {
    let text = "       01 R.\n          05 N PIC 9.\n          05 T OCCURS 1 TO 3 DEPENDING ON N \
                PIC X.\n          05 BEHIND PIC X.\n";
    let book = Copybook::parse("BOOK", text.as_bytes(), &|_| None).unwrap();
    let refused = Fields::of(book.record(None).unwrap(), CodePage::Ascii).unwrap_err();
    assert!(refused.to_string().contains("is not the last"), "{refused}");
}

proptest! {
    #[test]
    fn any_bytes_come_back_over_themselves(
        record in prop::collection::vec(any::<u8>(), 1..70),
        ebcdic in any::<bool>(),
    ) {
        let fields = fields(if ebcdic { CodePage::Cp037 } else { CodePage::Ascii });
        let values = fields.values(&record);
        prop_assert_eq!(fields.record(&values, Some(&record)).unwrap(), record);
    }

    #[test]
    fn any_values_are_taken_or_refused(texts in prop::collection::vec(".{0,12}", 16)) {
        let fields = fields(CodePage::Ascii);
        let values: Vec<Option<String>> = texts.into_iter().map(Some).collect();
        let _ = fields.record(&values, None);
    }
}
