//! Whatever stands in a definition file: it is read to an end, and said where it is wrong.

use std::path::Path;

use holdfast_resources::read;
use macros::Folders;

const SEEDS: [&str; 3] = [
    "CREATE PGM NAME(P) SET(LANG(COBOL));\nCREATE TRAN NAME(A,B) SET(PGM(P),CLASS(4)) /* x */\n\
     UPD TRAN NAME(A*) SET(RESP(Y))\nDELETE DB NAME(%X)",
    "         APPLCTN PSB=P,PGMTYPE=(TP,,4),SCHDTYP=PARALLEL\n         TRANSACT \
     CODE=(A,B),PRTY=(7,10,2),SPA=(100,STRUNC),MSGTYPE=(,RESPONSE)\n         RTCODE CODE=C\n",
    "         DATABASE DBD=D,ACCESS=UP\n         END\n",
];

#[test]
fn neighbours_of_good_files_are_read_to_their_end() {
    let folders = Folders::default();
    let mut random: u64 = 0x1234_5678_9abc_def1;
    let mut below = |most: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 11) as usize % most
    };
    for round in 0..6_000 {
        let mut bytes = SEEDS[round % SEEDS.len()].as_bytes().to_vec();
        for _ in 0..below(4) {
            if bytes.is_empty() {
                break;
            }
            let at = below(bytes.len());
            match below(4) {
                0 => drop(bytes.remove(at)),
                1 => bytes[at] = below(256) as u8,
                2 => bytes.insert(at, b"(),;='*/ \n"[below(10)]),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let parsed = read(Path::new("any"), &bytes, &folders);
        for printed in &parsed.diagnostics {
            assert!(printed.to_string().contains(printed.code), "{printed:?}");
            assert!(printed.card > 0 && printed.column > 0, "{printed:?}");
        }
    }
}

#[test]
fn a_file_that_is_none_is_not_talked_about_for_ever() {
    let text = format!("CREATE TRAN {}", "X(( ".repeat(50_000));
    let parsed = read(Path::new("any"), text.as_bytes(), &Folders::default());
    assert!(parsed.has_errors() && parsed.diagnostics.len() <= 500);
    assert!(parsed.changes.is_empty());
}

/// A macro took what a command would have refused: nobody could have named it afterwards.
#[test]
fn a_mask_is_no_name_in_a_macro_either() {
    for code in ["*A", "A*", "B%"] {
        let text = format!("         APPLCTN PSB=P\n         TRANSACT CODE={code}\n");
        let parsed = read(Path::new("any"), text.as_bytes(), &Folders::default());
        assert!(parsed.diagnostics.iter().any(|printed| printed.code == "HFG804"), "{code}");
    }
}
