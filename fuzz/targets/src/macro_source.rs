//! Macro source: DBDs and PSBs as people send them.

use std::path::{Path, PathBuf};

use codec::CodePage;
use macros::{CopyMembers, Sources, read};

/// A macro and members that copy each other.
struct Members;

impl CopyMembers for Members {
    fn find(&self, name: &str) -> Option<(PathBuf, Vec<u8>)> {
        let text = match name {
            "M" => " MACRO\n&L M &P,&Q=1\n&L A &P(1),&Q,NAME=(&P)\n M &P\n MEND\n",
            "A" => " COPY B\n FIELD NAME=A\n",
            "B" => " COPY A\n",
            _ => return None,
        };
        Some((PathBuf::from(name), text.as_bytes().to_vec()))
    }
}

/// It is read twice to the same statements; every place and every diagnostic can be shown.
///
/// # Panics
/// If not.
pub fn fuzz(bytes: &[u8]) {
    let mut sources = Sources::new();
    let program = read(&mut sources, Path::new("any"), bytes, &Members);
    assert_eq!(program, read(&mut Sources::new(), Path::new("any"), bytes, &Members));
    for statement in &program.statements {
        assert!(sources.card(statement.place).is_some(), "{statement:?}");
        for operand in &statement.operands {
            assert!(sources.card(operand.value.place()).is_some(), "{operand:?}");
        }
    }
    for printed in &program.diagnostics {
        assert!(sources.show(printed).contains(printed.code));
    }
}

/// A database with everything that cards may have, the same in EBCDIC, and macros.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let cards = [
        "* customers",
        "         DBD   NAME=BANKDB,ACCESS=(HIDAM,OSAM),           the database X",
        "               REMARKS='it''s R&&D''s'",
        "ROOT     SEGM  NAME=CUSTOMER,PARENT=0,BYTES=(200,50),,PTR=((TB,,CTR))",
        "         FIELD NAME=(NO,SEQ,U),BYTES=8,START=1,CONST=X'40',L=L'NO",
        "         COPY  A",
        "         END",
    ];
    let fixed: String = cards.iter().map(|card| format!("{card:<80}")).collect();
    let expanded = " GBLC &G\n MACRO\n&L F &N,&K=1,&O=(A,B)\n LCLA &I\n ACTR 40\n.S ANOP\n\
                    &I SETA &I+1\n AIF (&I GT &N OR '&O(1)'(1,1) NE 'A').E\n\
                    &L FIELD NAME=F&I.X,&K=&SYSNDX\n AGO .S\n.E MNOTE 4,'&G'\n MEND\n\
                    &G SETC 'AB'.'C'(1,*)\nX F 3,K=B\n M (A,'B')\n";
    vec![
        cards.join("\n").into_bytes(),
        CodePage::Cp037.encode(&fixed).unwrap_or_default(),
        expanded.as_bytes().to_vec(),
        b"\tdbd\tname=a\r\n\tend\r\n".to_vec(),
    ]
}
