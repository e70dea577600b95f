//! Maps: what is converted how, what needs a choice, what is refused; and what is found convertible
//! comes back.
#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use codec::CodePage;
use codec::transcode::Transcoder;
use holdfast_copybook::{Bundle, CopybookError, Direction, Findings, Map};
use proptest::prelude::*;

fn bundle(map: &str, book: &str) -> Result<Bundle, CopybookError> {
    let member = |name: &str| (name == "BOOK").then(|| book.as_bytes().to_vec());
    Bundle::gather(map, &member)
}

fn map(map: &str, book: &str) -> Map {
    bundle(map, book).unwrap().map().unwrap()
}

fn refused(text: &str, book: &str, words: &str) {
    let printed = bundle(text, book).unwrap_err().to_string();
    assert!(printed.contains(words), "{printed}");
}

fn page() -> Transcoder {
    Transcoder::new(CodePage::Cp037).unwrap()
}

const ONE: &str = "[segment.S]\ncopybook = \"BOOK\"\n";

const FIELDS: &str = "
       01  S.
           05  KEY-1 PIC X(4).
           05  N1 PIC S9(3).
           05  N2 PIC 9(3).
           05  N3 PIC S9(3) SIGN LEADING.
           05  N4 PIC S9(3) SIGN TRAILING SEPARATE.
           05  P1 PIC S9(3) COMP-3.
           05  B1 PIC S9(4) COMP.
";

#[test]
fn fields_are_converted_by_what_they_are() {
    let map = map(ONE, FIELDS);
    let segment = map.segment("S").unwrap();
    segment.fits(21, false).unwrap();
    assert!(segment.fits(22, false).is_err() && segment.fits(22, true).is_ok());
    let host =
        b"\xc1\xc2\x40\xff\xf1\xf2\xd3\xf1\xf2\xf3\xd1\xf2\xf3\xf1\xf2\xf3\x60\x12\x3d\xc1\xf0";
    let here = b"AB \xff12s123q23123-\x12\x3d\xc1\xf0";
    let mut bytes = *host;
    let mut findings = Findings::default();
    segment.check(&page(), Direction::FromEbcdic, &bytes, 1, &mut findings);
    assert_eq!(findings, Findings::default());
    assert!(segment.convert(&page(), Direction::FromEbcdic, &mut bytes));
    assert_eq!(bytes, *here);
    assert!(segment.convert(&page(), Direction::ToEbcdic, &mut bytes));
    assert_eq!(bytes, *host);
    // A sign of the same meaning is counted; a number that is none is named; blanks are kept.
    for (at, byte, wrong, signs) in [(6, 0xf3, 0, 1), (9, 0xc3, 0, 1), (8, 0x40, 1, 0)] {
        let (mut bytes, mut findings) = (*host, Findings::default());
        bytes[at] = byte;
        segment.check(&page(), Direction::FromEbcdic, &bytes, 7, &mut findings);
        assert_eq!((findings.wrong, findings.signs), (wrong, signs), "{at}");
        assert_eq!(findings.refuse().is_err(), wrong > 0);
    }
    let (mut blank, mut findings) = (*host, Findings::default());
    blank[4..17].fill(0x40);
    segment.check(&page(), Direction::FromEbcdic, &blank, 1, &mut findings);
    assert_eq!(findings, Findings::default());
}

#[test]
fn numbers_that_did_not_change_keep_their_bytes() {
    let map = map(ONE, "01 S. 05 A PIC S9(3). 05 B PIC S9(3).");
    let segment = map.segment("S").unwrap();
    let old = b"\xf1\xf2\xf3\xf4\xf5\xf6";
    let mut bytes = *old;
    assert!(segment.convert(&page(), Direction::FromEbcdic, &mut bytes));
    assert_eq!(&bytes, b"123456");
    bytes[5] = b'7';
    assert!(segment.convert_keeping(&page(), old, &mut bytes));
    assert_eq!(&bytes, b"\xf1\xf2\xf3\xf4\xf5\xc7");
}

#[test]
fn nothing_is_guessed_where_items_redefine_each_other() {
    let book = "01 S. 05 K PIC X. 05 A PIC X(4). 05 B REDEFINES A PIC S9(7) COMP-3.";
    refused(ONE, book, "A, B redefine each other");
    let kinds = "[[segment.S.record]]\nwhen = \"K = 'P', 'Q'\"\ncopybook = \"BOOK\"\n\
                 redefines = [\"B\"]\n[[segment.S.record]]\ncopybook = \"BOOK\"\n\
                 redefines = [\"A\"]\n";
    let map = map(kinds, book);
    let segment = map.segment("S").unwrap();
    let convert = |bytes: &[u8; 5]| {
        let mut bytes = *bytes;
        assert!(segment.convert(&page(), Direction::FromEbcdic, &mut bytes));
        bytes
    };
    assert_eq!(convert(b"\xd7\xc1\x40\x40\x4c"), *b"P\xc1\x40\x40\x4c");
    assert_eq!(convert(b"\xd8\xc1\x40\x40\x4c"), *b"Q\xc1\x40\x40\x4c");
    assert_eq!(convert(b"\xe7\xc1\xc2\xc3\xc4"), *b"XABCD");
    assert_eq!(segment.classes(0, 1).map(<[_]>::len), Some(1));
    assert!(segment.classes(1, 4).is_none());
    // The same either way needs no choice.
    bundle(ONE, "01 S. 05 A PIC X(4). 05 B REDEFINES A PIC 9(4).").unwrap();
    refused(ONE, "01 S. 05 A PIC G(4) DISPLAY-1.", "double-byte");
    bundle(&format!("{ONE}binary = [\"A\"]\n"), "01 S. 05 A PIC G(4) DISPLAY-1.").unwrap();
}

#[test]
fn tables_are_as_long_as_their_data_says() {
    let book = "01 S. 05 N PIC 9(2). 05 T OCCURS 0 TO 3 DEPENDING ON N. 10 A PIC X. 10 B PIC \
                S9(3) COMP-3. 05 Z PIC X(2).";
    let map = map(ONE, book);
    let segment = map.segment("S").unwrap();
    let host = b"\xf0\xf2\xc1\x12\x3c\xc2\x45\x6d\xc3\xc4";
    let mut bytes = *host;
    assert!(segment.convert(&page(), Direction::FromEbcdic, &mut bytes));
    assert_eq!(bytes, *b"02A\x12\x3cB\x45\x6dCD");
    assert!(segment.convert(&page(), Direction::ToEbcdic, &mut bytes));
    assert_eq!(bytes, *host);
    assert!(segment.classes(0, 2).is_some() && segment.classes(2, 1).is_none());
}

/// The letter A and the digit 1 with a sign are one byte on the host; a number's class was used.
#[test]
fn where_characters_and_digits_redefine_each_other_everything_comes_back() {
    for book in [
        "01 S. 05 K9 PIC 9. 05 KX REDEFINES K9 PIC X.",
        "01 S. 05 KX PIC X. 05 K9 REDEFINES KX PIC 9.",
        "01 S. 05 G. 10 A PIC 9 OCCURS 3. 10 B PIC X. 05 T REDEFINES G PIC X(3). 05 U PIC S9.",
        "01 S. 05 A PIC 9(2). 05 B REDEFINES A. 10 C PIC 9. 10 D PIC X(5).",
    ] {
        let map = map(ONE, book);
        let segment = map.segment("S").unwrap();
        for byte in 0..=255_u8 {
            let mut host = vec![byte; segment.bytes_max()];
            if book.contains("S9") {
                host[4] = 0xc1;
            }
            let mut bytes = host.clone();
            assert!(segment.convert(&page(), Direction::FromEbcdic, &mut bytes));
            let there = page().byte(Direction::FromEbcdic, codec::transcode::Class::Text, byte);
            let text = bytes.len().min(3);
            assert_eq!(bytes[..text], vec![there; text], "{book} X'{byte:02X}'");
            assert!(segment.convert(&page(), Direction::ToEbcdic, &mut bytes));
            assert_eq!(bytes, host, "{book} X'{byte:02X}'");
        }
    }
    // Who says that it is a number has one.
    let named = format!("{ONE}redefines = [\"K9\"]\n");
    let map = map(&named, "01 S. 05 K9 PIC 9. 05 KX REDEFINES K9 PIC X.");
    let mut bytes = *b"\xc1";
    assert!(map.segment("S").unwrap().convert(&page(), Direction::FromEbcdic, &mut bytes));
    assert_eq!(bytes, *b"1");
    refused(ONE, "01 S. 05 A PIC S9. 05 B REDEFINES A PIC X.", "redefine each other");
    refused(ONE, "01 S. 05 A PIC S9. 05 B REDEFINES A PIC 9.", "redefine each other");
}

/// The last digit kept a number's class: the letters ABA became AB1.
#[test]
fn what_is_converted_as_characters_comes_back() {
    let map = map(ONE, FIELDS);
    let segment = map.segment("S").unwrap();
    let host =
        b"\xc1\xc2\x40\xff\xe7\xe8\xe9\xc1\xc2\xc1\xd1\xc5\xc9\xc1\xc2\xc3\x60\x12\x3d\xc1\xf0";
    let here = b"AB \xffXYZABAJEIABC-\x12\x3d\xc1\xf0";
    let mut bytes = *host;
    for (way, wanted) in [(Direction::FromEbcdic, here), (Direction::ToEbcdic, host)] {
        let mut findings = Findings::with_texts();
        segment.check(&page(), way, &bytes, 1, &mut findings);
        segment.convert_as_text(&page(), way, &mut bytes, 1, &mut findings);
        assert_eq!(bytes, *wanted);
        assert_eq!((findings.texts, findings.wrong), (4, 0), "{findings:?}");
        findings.refuse().unwrap();
        assert!(findings.first_text.unwrap().to_string().contains("N1"));
    }
    // Letters that are a sign here would be a number, and come back as that.
    let (mut bytes, mut findings) = (*host, Findings::with_texts());
    bytes[4..7].copy_from_slice(b"\xf1\xf2\x97");
    segment.convert_as_text(&page(), Direction::FromEbcdic, &mut bytes, 9, &mut findings);
    let printed = findings.refuse().unwrap_err().to_string();
    assert!(printed.contains("N1 at offset 4: X'F1F297' would not come back"), "{printed}");
}

/// A counter that could not be read counted as nothing, one beyond the bounds as the bound.
#[test]
fn tables_whose_counters_cannot_be_read_are_refused() {
    let way = Direction::FromEbcdic;
    let check = |counter: &str, host: &[u8]| {
        let book = format!(
            "01 S. 05 N {counter}. 05 T OCCURS 1 TO 3 DEPENDING ON N. 10 A PIC X. 05 Z PIC X."
        );
        let map = map(ONE, &book);
        let segment = map.segment("S").unwrap();
        let (mut findings, mut bytes) = (Findings::default(), host.to_vec());
        segment.check(&page(), way, host, 1, &mut findings);
        assert_eq!(segment.convert_whole(&page(), way, &mut bytes), findings.wrong == 0);
        let printed = findings.refuse().err().map(|error| error.to_string());
        printed
            .map(|printed| assert!(printed.contains("N at offset 0"), "{printed}"))
            .map_or(bytes, |()| vec![])
    };
    assert_eq!(check("PIC 9", b"\xf2\xc1\xc2\xc3"), b"2ABC");
    assert_eq!(check("PIC S9(2) SIGN LEADING", b"\xc0\xf2\xc1\xc2\xc3"), b"02ABC");
    assert_eq!(check("PIC 9(2) COMP-3", b"\x00\x2f\xc1\xc2\xc3"), b"\x00\x2fABC");
    assert_eq!(check("PIC 9(2) COMP", b"\x00\x02\xc1\xc2\xc3"), b"\x00\x02ABC");
    // Nothing was ever put there.
    assert_eq!(check("PIC 9", &[0; 5]), [0; 5]);
    for (counter, host) in [
        ("PIC 9", &b"\xf0\xc1\xc2\xc3"[..]),
        ("PIC 9", b"\xf4\xc1\xc2\xc3"),
        ("PIC 9", b"\x40\xc1\xc2\xc3"),
        ("PIC S9(2) SIGN LEADING", b"\xd0\xf2\xc1\xc2\xc3"),
        ("PIC S9(2) SIGN LEADING", b"\xf0\xd2\xc1\xc2\xc3"),
        ("PIC 9(2) COMP-3", b"\x00\xc2\xc1\xc2\xc3"),
        ("PIC 9(2) COMP", b"\x00\x04\xc1\xc2\xc3"),
        ("PIC 9(2) COMP", b"\xff\xff\xc1\xc2\xc3"),
        ("PIC 9(2) COMP", b"\x40"),
    ] {
        assert!(check(counter, host).is_empty(), "{counter} {host:02x?}");
    }
    // What is behind the table's occurrences is told; what no occurrence could have is refused.
    let map = map(ONE, "01 S. 05 N PIC 9. 05 T OCCURS 1 TO 3 DEPENDING ON N. 10 A PIC X.");
    let segment = map.segment("S").unwrap();
    let found = |host: &[u8]| {
        let mut findings = Findings::default();
        segment.check(&page(), way, host, 1, &mut findings);
        (findings.wrong, findings.unused)
    };
    assert_eq!(found(b"\xf1\xc1"), (0, 0));
    assert_eq!(found(b"\xf1\xc1\x40\x40"), (0, 0));
    assert_eq!(found(b"\xf1\xc1\xc2\xc3"), (0, 1));
    assert_eq!(found(b"\xf1\xc1\xc2\xc3\xc4"), (1, 1));
}

#[test]
fn wrong_maps_and_descriptions_are_named() {
    refused("[segment.S]\ncopybooks = 1\n", "", "unknown field");
    refused("[segment.S]\n", "", "`copybook` is missing");
    refused("codepage = \"latin1\"\n", "", "1141");
    refused(ONE, "01 A PIC X. 01 B PIC X.", "2 records");
    refused(ONE, "01 A PIC Q.", "symbol Q");
    refused(ONE, "01 A. 05 B PIC X", "no period");
    refused(ONE, "01 A. COPY NONE.", "no member NONE");
    refused(ONE, "01 A. COPY BOOK.", "copy each other");
    refused(&format!("{ONE}redefines = [\"NONE\"]\n"), "01 A PIC X.", "no item NONE");
    let when =
        |text: &str| format!("[[segment.S.record]]\nwhen = \"{text}\"\ncopybook = \"BOOK\"\n");
    refused(&when("NONE = 'A'"), "01 A PIC X.", "NONE");
    refused(&when("A ="), "01 A PIC X.", "no value");
    refused(&when("B = 'X'"), "01 A. 05 B PIC X OCCURS 3.", "no place of its own");
    let again = bundle(ONE, FIELDS).unwrap();
    assert_eq!(Bundle::decode(&again.encode()), Ok(again.clone()));
    let mut future = again.encode();
    future[4] = 2;
    assert!(Bundle::decode(&future).unwrap_err().to_string().contains("later version"));
    assert!(Bundle::decode(&again.encode()[..20]).is_err());
}

#[test]
fn texts_that_take_long_are_refused() {
    let many = "05 A PIC X. ".repeat(20_001);
    refused(ONE, &format!("01 S. {many}"), "more than 20000 entries");
    let pairs = "==A== BY ==B== ".repeat(501);
    refused(ONE, &format!("01 S PIC X. COPY BOOK REPLACING {pairs}."), "more than 500 words");
    refused(ONE, &"A ".repeat(400_002), "more than 400000 words");
    refused(ONE, "01 S. 05 A OCCURS 99999999. 10 B PIC X(99999).", "ends behind byte");
    let doubled = "COPY BOOK. ".repeat(100);
    refused(ONE, &format!("{doubled}{}", "* ".repeat(1000)), "deep");
}

proptest! {
    #[test]
    fn what_is_found_convertible_comes_back(data in prop::collection::vec(any::<u8>(), 21)) {
        let map = map(ONE, FIELDS);
        let segment = map.segment("S").unwrap();
        for (way, back) in [
            (Direction::FromEbcdic, Direction::ToEbcdic),
            (Direction::ToEbcdic, Direction::FromEbcdic),
        ] {
            let mut findings = Findings::default();
            segment.check(&page(), way, &data, 1, &mut findings);
            let mut bytes = data.clone();
            prop_assert!(segment.convert(&page(), way, &mut bytes));
            prop_assert!(segment.convert(&page(), back, &mut bytes));
            if findings == Findings::default() {
                prop_assert_eq!(&bytes, &data);
            }
            let differ = bytes != data;
            prop_assert!(!differ || findings.wrong + findings.signs > 0);
        }
    }
}
