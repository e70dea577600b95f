//! Definition files of transactions, programs, routing codes and databases: macros and commands.

use std::path::Path;

use macros::Folders;
use resources::{Change, read};

/// Each definition that is taken from a file is the same again, written as a command; what is wrong
/// is said with its place.
///
/// # Panics
/// If it is not.
pub fn fuzz(bytes: &[u8]) {
    let folders = Folders::default();
    let parsed = read(Path::new("any"), bytes, &folders);
    for said in &parsed.diagnostics {
        assert!(said.card > 0 && said.column > 0, "{said:?}");
    }
    for change in &parsed.changes {
        let Change::Create(one) = change else { continue };
        let text = one.command();
        let again = read(Path::new("again"), text.as_bytes(), &folders);
        assert!(!again.has_errors(), "{text}: {:?}", again.diagnostics);
        assert_eq!(again.changes, [Change::Create(one.clone())], "{text}");
    }
}

/// Commands, and macros.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "CREATE PGM NAME(P) SET(LANG(COBOL));\nCREATE TRAN NAME(A,B) SET(PGM(P),CLASS(4)) /* x */\n\
         UPD TRAN NAME(A*) SET(RESP(Y))\nDELETE DB NAME(%X)",
        "         APPLCTN PSB=P,PGMTYPE=(TP,,4),SCHDTYP=PARALLEL\n         TRANSACT \
         CODE=(A,B),PRTY=(7,10,2),SPA=(100,STRUNC),MSGTYPE=(,RESPONSE)\n         RTCODE CODE=C\n",
        "         DATABASE DBD=D,ACCESS=UP\n         END\n",
    ];
    texts.map(|text| text.as_bytes().to_vec()).into()
}
