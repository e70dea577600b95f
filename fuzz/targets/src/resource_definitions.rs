//! Definition files of transactions, programs, routing codes and databases: macros or commands.

use std::path::Path;

use macros::Folders;
use resources::{Change, Definition, Repository, read};
use store_suite::model::ModelStore;

/// Whatever a file says, it is read to its end, and what is wrong has its place. What it defines is
/// stored or refused as a whole, is the same after a restart, and can be written down as a command
/// that defines it again.
///
/// # Panics
/// If not.
pub fn fuzz(bytes: &[u8]) {
    let folders = Folders::default();
    let parsed = read(Path::new("any"), bytes, &folders);
    for printed in &parsed.diagnostics {
        assert!(printed.card > 0 && printed.column > 0, "{printed:?}");
        assert!(printed.to_string().contains(printed.code), "{printed:?}");
    }
    if parsed.has_errors() {
        return;
    }
    let store = ModelStore::new();
    let repository = Repository::open(&store).expect("an empty store");
    let stored = repository.apply(&parsed.changes);
    let all = repository.all();
    if stored.is_err() {
        assert!(all.is_empty(), "a part of what was refused is stored: {all:?}");
    }
    let again = Repository::open(&store.crash()).expect("what was written is read");
    assert_eq!(again.all(), all);
    for definition in all.values() {
        assert_eq!(written_down(definition, &folders).as_ref(), Some(definition));
    }
}

/// What the command that a definition is shown as defines.
fn written_down(definition: &Definition, folders: &Folders) -> Option<Definition> {
    let command = definition.command();
    let parsed = read(Path::new("command"), command.as_bytes(), folders);
    assert!(!parsed.has_errors(), "{command}: {:?}", parsed.diagnostics);
    match parsed.changes.as_slice() {
        [Change::Create(one)] => Some(one.clone()),
        _ => None,
    }
}

/// Files of both forms.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let files = [
        "CREATE PGM NAME(P) SET(LANG(COBOL),SCHDTYPE(SERIAL))\nCREATE TRAN NAME(A,B) \
         SET(PGM(P),CLASS(4),NPRI(7),LPRI(10),LCT(2),PLCT(3),PARLIM(0),SEGSZ(90)) /* x */\n\
         UPD TRAN NAME(A*) SET(RESP(Y),CONV(Y),SPASZ(100))\nDELETE DB NAME(%X)\n",
        "CREATE PGM NAME(P) SET(FP(E))\nCREATE RTC NAME(R) SET(PGM(P),INQ(Y))\n\
         CREATE DB NAME(D) SET(ACCTYPE(READ),RESIDENT(Y))\nCREATE TRAN NAME(F) \
         SET(PGM(P),FP(E),EMHBSZ(200),EXPRTIME(30),WFI(Y),SERIAL(Y))\n",
        "         APPLCTN PSB=P,PGMTYPE=(TP,,4),SCHDTYP=PARALLEL\n         TRANSACT \
         CODE=(A,B),PRTY=(7,10,2),SPA=(100,STRUNC),MSGTYPE=(,RESPONSE),PROCLIM=(5,10)\n\
         \x20        RTCODE CODE=C\n         DATABASE DBD=D,ACCESS=UP\n         END\n",
        "         APPLCTN PSB=NIGHT,PGMTYPE=BATCH,FPATH=YES\n         TRANSACT CODE=N,\
         MODE=SNGL,\nEDIT=(ULC),INQUIRY=(YES,NORECOV),SEGNO=2,SEGSIZE=80,MAXRGN=3\n",
    ];
    files.iter().map(|file| file.as_bytes().to_vec()).collect()
}
