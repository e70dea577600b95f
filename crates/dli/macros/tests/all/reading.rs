//! One DBD as shops have it, in many disguises: all of them say the same.

use std::path::Path;

use codec::CodePage;
use holdfast_macros::{NoMembers, Program, Severity, Sources, Value, read};

/// Cards of 80 columns. `+` in column 72 continues; the numbers behind are not looked at.
fn bank() -> String {
    let cards = [
        ("* customers with their accounts", ' '),
        ("         PRINT NOGEN", ' '),
        ("         DBD   NAME=BANKDB,ACCESS=(HIDAM,OSAM),           the database", '+'),
        ("               REMARKS='Customers, and what they own. R&&D''s copy,", '+'),
        ("               (not the bank''s)'", ' '),
        ("DSG1     DATASET DD1=BANK,SIZE=(4096),SCAN=5", ' '),
        ("         SEGM  NAME=CUSTOMER,PARENT=0,BYTES=(200,50),     root", '+'),
        ("               POINTER=(TB,,CTR),                         null element", '+'),
        ("                                                         a comment", '+'),
        ("               RULES=(LLL,LAST)                           the end", ' '),
        ("         FIELD NAME=(CUSTNO,SEQ,U),BYTES=8,START=1,TYPE=C", ' '),
        ("         LCHILD NAME=((((INDEX,BANKIX)))),POINTER=INDX", ' '),
        ("         FIELD NAME=OPENED,BYTES=10,START=9,              text, 'and'", '+'),
        ("               DATATYPE=DATE,EXTERNALNAME=", ' '),
        ("         DFSMARSH ENCODING='Cp037',PATTERN='yyyy-MM-dd''T''HH:mm',  p", '+'),
        ("               INTERNALTYPECONVERTER=CHAR", ' '),
        ("         DBDGEN", ' '),
        ("         FINISH", ' '),
        ("         END", ' '),
    ];
    let numbered = cards.iter().enumerate();
    numbered.map(|(index, (text, mark))| format!("{text:<71}{mark}{index:08}\n")).collect()
}

fn read_bytes(bytes: &[u8]) -> (Program, Vec<String>) {
    let mut sources = Sources::new();
    let program = read(&mut sources, Path::new("bank.dbd"), bytes, &NoMembers);
    let shown = program.diagnostics.iter().map(|printed| sources.show(printed)).collect();
    (program, shown)
}

fn written(value: &Value) -> String {
    match value {
        Value::Empty(_) => "-".into(),
        Value::Word(word) => word.text.clone(),
        Value::Quoted(word) => format!("'{}'", word.text),
        Value::List(values, _) => {
            format!("({})", values.iter().map(written).collect::<Vec<_>>().join(" "))
        }
    }
}

fn summary(program: &Program) -> Vec<String> {
    let one = |statement: &holdfast_macros::Statement| {
        let mut text = statement.op.text.clone();
        if let Some(label) = &statement.label {
            text = format!("{}: {text}", label.text);
        }
        for operand in &statement.operands {
            let keyword = operand.keyword.as_ref().map_or("", |word| word.text.as_str());
            text.push_str(&format!(" {keyword}={}", written(&operand.value)));
        }
        text
    };
    program.statements.iter().map(one).collect()
}

#[test]
fn a_database_is_read_as_it_was_written() {
    let (program, shown) = read_bytes(bank().as_bytes());
    assert_eq!(shown, [""; 0]);
    // The text runs up to column 71 and goes on in column 16.
    let remarks = "REMARKS='Customers, and what they own. R&D's copy,    (not the bank's)'";
    let summary = summary(&program);
    assert_eq!(summary[0], format!("DBD NAME=BANKDB ACCESS=(HIDAM OSAM) {remarks}"));
    let expected = [
        "DSG1: DATASET DD1=BANK SIZE=(4096) SCAN=5",
        "SEGM NAME=CUSTOMER PARENT=0 BYTES=(200 50) POINTER=(TB - CTR) RULES=(LLL LAST)",
        "FIELD NAME=(CUSTNO SEQ U) BYTES=8 START=1 TYPE=C",
        "LCHILD NAME=((((INDEX BANKIX)))) POINTER=INDX",
        "FIELD NAME=OPENED BYTES=10 START=9 DATATYPE=DATE EXTERNALNAME=-",
        "DFSMARSH ENCODING='Cp037' PATTERN='yyyy-MM-dd'T'HH:mm' INTERNALTYPECONVERTER=CHAR",
        "DBDGEN",
        "FINISH",
        "END",
    ];
    assert_eq!(summary[1..], expected);
}

#[test]
fn the_disguise_does_not_matter() {
    let plain = bank();
    let (program, _) = read_bytes(plain.as_bytes());
    let cards: Vec<&str> = plain.lines().collect();
    let mut ebcdic = CodePage::Cp037.encode(&cards.concat()).unwrap();
    let disguises = [
        ("CRLF", plain.replace('\n', "\r\n").into_bytes()),
        ("fixed cards", cards.concat().into_bytes()),
        ("EBCDIC", ebcdic.clone()),
        ("no last line end", plain.trim_end().as_bytes().to_vec()),
        ("a byte order mark", format!("\u{feff}{plain}").into_bytes()),
        ("an end-of-file mark", format!("{plain}\u{1a}").into_bytes()),
    ];
    for (what, bytes) in disguises {
        let (disguised, shown) = read_bytes(&bytes);
        assert_eq!(disguised.statements, program.statements, "{what}");
        assert_eq!(shown, [""; 0], "{what}");
    }
    // Whatever stands in columns 73 to 80.
    for (index, byte) in ebcdic.iter_mut().enumerate() {
        if index % 80 >= 72 {
            *byte = (index * 37) as u8;
        }
    }
    assert_eq!(read_bytes(&ebcdic).0.statements, program.statements);
}

#[test]
fn cards_may_be_short() {
    let short: String = bank()
        .lines()
        .map(|card| if card[71..].starts_with('+') { &card[..72] } else { card[..71].trim_end() })
        .map(|card| format!("{card}\n"))
        .collect();
    assert_eq!(read_bytes(short.as_bytes()).0, read_bytes(bank().as_bytes()).0);
}

#[test]
fn small_letters_and_tabs_are_warned_about_once() {
    let text = "\tdbd\tname=a,access=hsam\tcomment\n\tdbdgen\n\tend\n";
    let (program, shown) = read_bytes(text.as_bytes());
    assert_eq!(summary(&program), ["DBD NAME=A ACCESS=HSAM", "DBDGEN", "END"]);
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert!(program.diagnostics.iter().all(|printed| printed.severity == Severity::Warning));
    let keyword = program.statements[0].operands[0].place;
    assert_eq!((keyword.card, keyword.column, keyword.len), (1, 17, 6));
}

#[test]
fn carets_are_right_behind_tabs_and_in_ebcdic() {
    let carets = |bytes: &[u8]| {
        let (_, shown) = read_bytes(bytes);
        let text = shown.last().expect("something is wrong").clone();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let at = lines[4].find('^').expect("carets");
        (lines[3][at..].to_owned(), lines[4][at..].to_owned())
    };
    let wrong = "(A)B";
    let expected = ("B,C=D".to_owned(), "^".to_owned());
    assert_eq!(carets(format!("\tSEGM\tNAME={wrong},C=D\n").as_bytes()), expected);
    let card = format!("{:<80}", format!("         SEGM  NAME={wrong},C=D"));
    let mut bytes = CodePage::Cp037.encode(&card).unwrap();
    bytes.extend(CodePage::Cp037.encode(&format!("{:<80}", "         END")).unwrap());
    assert_eq!(carets(&bytes), expected);
    let text = format!("         SEGM  X='äöü',NAME={wrong},C=D\n");
    let (_, shown) = read_bytes(text.as_bytes());
    let carets = shown[0].lines().nth(4).expect("carets");
    let card = shown[0].lines().nth(3).expect("a card");
    let column = carets.chars().position(|ch| ch == '^').expect("carets");
    assert_eq!(card.chars().nth(column), Some('B'));
}

#[test]
fn several_members_in_one_file_come_one_behind_the_other() {
    let (program, shown) = read_bytes(bank().repeat(3).as_bytes());
    assert_eq!(shown, [""; 0]);
    let ends = program.statements.iter().filter(|statement| statement.op.text == "END");
    assert_eq!(ends.count(), 3);
}

#[test]
fn what_is_no_source_at_all_has_few_statements_and_an_end() {
    let text = "fn main() {\n    println!(\"{}\", 1);\n}\n".repeat(2000);
    let (program, shown) = read_bytes(text.as_bytes());
    assert!(!shown.is_empty() && shown.len() < 600, "{}", shown.len());
    assert!(program.statements.len() <= 6000);
    let (program, _) = read_bytes(&[0x7f, b'E', b'L', b'F', 0, 0xff, 0xfe].repeat(10_000));
    assert!(program.statements.len() < 1000);
}
