//! Definition files of online resources: system definition macros and commands.

use std::path::Path;

use macros::Folders;
use resources::{Change, Definition, read};

/// A file is read to its end. What it defines can be written as a command, and that defines the
/// same.
///
/// # Panics
/// If it does not.
pub fn fuzz(bytes: &[u8]) {
    let parsed = read(Path::new("any"), bytes, &Folders::default());
    for said in &parsed.diagnostics {
        assert!(said.card > 0 && said.column > 0, "{said:?}");
    }
    for change in &parsed.changes {
        let (Change::Create(one) | Change::Put(one)) = change else { continue };
        let again = read(Path::new("again"), one.command().as_bytes(), &Folders::default());
        let [Change::Create(same) | Change::Put(same)] = &again.changes[..] else {
            panic!("{} defines nothing: {:?}", one.command(), again.diagnostics);
        };
        assert_eq!(Definition::settings(same), one.settings(), "{}", one.command());
        assert_eq!((same.kind(), same.name()), (one.kind(), one.name()));
    }
}

/// Commands, and macros.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let commands = "CREATE PGM NAME(P) SET(LANG(COBOL));\nCREATE TRAN NAME(A,B) \
                    SET(PGM(P),CLASS(4)) /* x */\nUPD TRAN NAME(A*) SET(RESP(Y))\n\
                    DELETE DB NAME(%X)";
    let macros = "         APPLCTN PSB=P,PGMTYPE=(TP,,4),SCHDTYP=PARALLEL\n         TRANSACT \
                  CODE=(A,B),PRTY=(7,10,2),SPA=(100,STRUNC),MSGTYPE=(,RESPONSE)\n         RTCODE \
                  CODE=C\n";
    [commands, macros, "         DATABASE DBD=D,ACCESS=UP\n         END\n"]
        .map(|text| text.as_bytes().to_vec())
        .into()
}
