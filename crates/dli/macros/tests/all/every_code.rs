//! Each code of a diagnostic with a source that provokes it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use codec::CodePage;
use holdfast_macros::{CODES, CopyMembers, Sources, read};

struct Members;

impl CopyMembers for Members {
    fn find(&self, name: &str) -> Option<(PathBuf, Vec<u8>)> {
        let text = match name {
            "SELF" => " COPY SELF\n".to_owned(),
            // Each copies the next one.
            _ => {
                let number: u32 = name.strip_prefix('C')?.parse().ok()?;
                format!(" COPY C{}\n", number + 1)
            }
        };
        Some((PathBuf::from(name), text.into_bytes()))
    }
}

/// A card with a mark in column 72.
fn more(text: &str) -> String {
    format!("{text:<71}X\n")
}

fn of_cards() -> Vec<(&'static str, Vec<u8>)> {
    let ebcdic = CodePage::Cp037.encode("         DBD   NAME=LEDGER").expect("it is in 037");
    let text = |text: String| text.into_bytes();
    vec![
        ("HFA001", b"\tEND\n".to_vec()),
        ("HFA002", b" end\n".to_vec()),
        ("HFA003", b" A \xe4\n".to_vec()),
        ("HFA004", b" A \x01\n".to_vec()),
        ("HFA005", text(format!("{:<90}A\n", " END"))),
        ("HFA006", ebcdic),
        ("HFA007", b"//A JOB\n".to_vec()),
        ("HFA008", vec![b' '; (64 << 20) + 1]),
        ("HFA010", text(more(" A B,") + "    C=D\n")),
        ("HFA011", text(more(" A B,") + "* C\n")),
        ("HFA012", text(more(" A B,"))),
        ("HFA013", b" A B,\n".to_vec()),
        ("HFA014", text(more(" A B") + "               CC=D\n")),
        ("HFA015", text(more(" A B,") + &more("               C,").repeat(1000))),
        ("HFA016", text(more("* A") + "               B\n")),
        ("HFA020", b"1A END\n".to_vec()),
        ("HFA021", b"A\n".to_vec()),
        ("HFA022", b" A=B\n".to_vec()),
        ("HFA023", b"-INC A\n".to_vec()),
        ("HFA030", b" A 'B\n".to_vec()),
        ("HFA031", b" A (B\n".to_vec()),
        ("HFA032", b" A (B)C\n".to_vec()),
        ("HFA033", text(format!(" A {}{}\n", "(".repeat(17), ")".repeat(17)))),
    ]
}

const OF_EXPANSION: &[(&str, &str)] = &[
    ("HFA040", " COPY\n"),
    ("HFA041", " COPY A\n"),
    ("HFA042", " COPY SELF\n"),
    ("HFA043", " COPY C0\n"),
    ("HFA050", "&A AREAD\n"),
    ("HFA051", " A &B\n"),
    ("HFA052", "&A SETA 1+\n"),
    ("HFA053", " AGO .A\n"),
    ("HFA054", ".A AGO .A\n"),
    ("HFA055", " MEND\n"),
    ("HFA056", " MACRO\n M\n M\n MEND\n M\n"),
    ("HFA057", "&A SETC (4096)'AB'\n"),
    ("HFA058", " MACRO\n M\n MEND\n M A=B\n"),
    ("HFA059", " LCLA &A\n&A SETC 'B'\n"),
    ("HFA060", " MNOTE 'A'\n"),
];

#[test]
fn every_code_is_said_when_it_should_be() {
    let mut sources = of_cards();
    sources.extend(OF_EXPANSION.iter().map(|(code, text)| (*code, text.as_bytes().to_vec())));
    sources.push(("HFA099", "A\n".repeat(1000).into_bytes()));
    let mut provoked = BTreeSet::new();
    for (code, bytes) in sources {
        let program = read(&mut Sources::new(), Path::new("any"), &bytes, &Members);
        let printed: Vec<&str> = program.diagnostics.iter().map(|printed| printed.code).collect();
        assert!(printed.contains(&code), "{code} is not among {printed:?}");
        provoked.insert(code);
    }
    let known: BTreeSet<&str> = CODES.iter().map(|(code, _)| *code).collect();
    assert_eq!(known.len(), CODES.len());
    assert_eq!(provoked, known);
}
