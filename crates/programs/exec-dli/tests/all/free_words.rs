//! Words that only GnuCOBOL reserves are names for programs of the mainframe.

#![allow(clippy::disallowed_methods)] // writes the program that a compiler gets

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command as Process;

use holdfast_exec_dli::{CONFIGURATION, CONFIGURATION_NAME};

/// Words that the mainframe's compilers reserve, as far as the compiler here knows them. EQUALS is
/// one with EQUAL to its scanner.
const RESERVED: &str = "\
    ACCEPT ACCESS ADD ADDRESS ADVANCING AFTER ALL ALLOCATE ALPHABET ALPHABETIC ALPHABETIC-LOWER \
    ALPHABETIC-UPPER ALPHANUMERIC ALPHANUMERIC-EDITED ALSO ALTER ALTERNATE AND ANY APPLY ARE \
    AREA AREAS ASCENDING ASSIGN AT AUTHOR BEFORE BINARY BLANK BLOCK BOTTOM BY CALL CANCEL CD CF \
    CH CHARACTER CHARACTERS CLASS CLASS-ID CLOSE COBOL CODE CODE-SET COLLATING COLUMN COMMA \
    COMMON COMMUNICATION COMP COMP-1 COMP-2 COMP-3 COMP-4 COMP-5 COMPUTATIONAL COMPUTATIONAL-1 \
    COMPUTATIONAL-2 COMPUTATIONAL-3 COMPUTATIONAL-4 COMPUTATIONAL-5 COMPUTE CONFIGURATION \
    CONTAINS CONTENT CONTINUE CONTROL CONTROLS CONVERTING COPY CORR CORRESPONDING COUNT CURRENCY \
    DATA DATE DATE-COMPILED DATE-WRITTEN DAY DAY-OF-WEEK DE DEBUGGING DECIMAL-POINT DECLARATIVES \
    DEFAULT DELETE DELIMITED DELIMITER DEPENDING DESCENDING DESTINATION DETAIL DISPLAY DIVIDE \
    DIVISION DOWN DUPLICATES DYNAMIC EGI ELSE EMI ENABLE END END-ACCEPT END-ADD END-CALL \
    END-COMPUTE END-DELETE END-DISPLAY END-DIVIDE END-EVALUATE END-IF END-JSON END-MULTIPLY \
    END-OF-PAGE END-PERFORM END-READ END-RECEIVE END-RETURN END-REWRITE END-SEARCH END-START \
    END-STRING END-SUBTRACT END-UNSTRING END-WRITE END-XML ENTRY ENVIRONMENT EOP EQUAL EQUALS \
    ERROR ESI EVALUATE EVERY EXCEPTION EXHIBIT EXIT EXTEND EXTERNAL FACTORY FALSE FD FILE \
    FILE-CONTROL FILLER FINAL FIRST FOOTING FOR FREE FROM FULL FUNCTION FUNCTION-POINTER \
    GENERATE GIVING GLOBAL GO GOBACK GREATER GROUP GROUP-USAGE HEADING HIGH-VALUE HIGH-VALUES \
    I-O I-O-CONTROL ID IDENTIFICATION IF IN INDEX INDEXED INDICATE INHERITS INITIAL INITIALIZE \
    INITIATE INPUT INPUT-OUTPUT INSPECT INSTALLATION INTO INVALID INVOKE IS JSON JSON-CODE JUST \
    JUSTIFIED KEY LABEL LAST LEADING LEFT LENGTH LESS LIMIT LIMITS LINAGE LINAGE-COUNTER LINE \
    LINE-COUNTER LINES LINKAGE LOCAL-STORAGE LOCK LOW-VALUE LOW-VALUES MEMORY MERGE MESSAGE \
    METHOD METHOD-ID MODE MODULES MOVE MULTIPLE MULTIPLY NATIONAL NATIONAL-EDITED NATIVE \
    NEGATIVE NEXT NO NOT NULL NULLS NUMBER NUMERIC NUMERIC-EDITED OBJECT OBJECT-COMPUTER OCCURS \
    OF OFF OMITTED ON OPEN OPTIONAL OR ORDER ORGANIZATION OTHER OUTPUT OVERFLOW OVERRIDE \
    PACKED-DECIMAL PADDING PAGE PAGE-COUNTER PASSWORD PERFORM PF PH PIC PICTURE PLUS POINTER \
    POSITION POSITIVE PRINTING PROCEDURE PROCEDURE-POINTER PROCEDURES PROCEED PROCESSING PROGRAM \
    PROGRAM-ID PURGE QUEUE QUOTE QUOTES RANDOM RD READ RECEIVE RECORD RECORDING RECORDS \
    REDEFINES REEL REFERENCE REFERENCES RELATIVE RELEASE REMAINDER REMOVAL RENAMES REPLACE \
    REPLACING REPORT REPORTING REPORTS REPOSITORY RERUN RESERVE RESET RETURN RETURN-CODE \
    RETURNING REVERSED REWIND REWRITE RF RH RIGHT ROUNDED RUN SAME SD SEARCH SECTION SECURITY \
    SEGMENT SEGMENT-LIMIT SELECT SELF SEND SENTENCE SEPARATE SEQUENCE SEQUENTIAL SET SIGN SIZE \
    SORT SORT-MERGE SORT-RETURN SOURCE SOURCE-COMPUTER SPACE SPACES SPECIAL-NAMES STANDARD \
    STANDARD-1 STANDARD-2 START STATUS STOP STRING SUB-QUEUE-1 SUB-QUEUE-2 SUB-QUEUE-3 SUBTRACT \
    SUM SUPER SUPPRESS SYMBOLIC SYNC SYNCHRONIZED TABLE TALLY TALLYING TAPE TERMINATE TEST TEXT \
    THAN THEN THROUGH THRU TIME TIMES TITLE TO TOP TRAILING TRANSFORM TRUE TYPE UNIT UNSTRING \
    UNTIL UP UPON USAGE USE USING VALUE VALUES VARYING VOLATILE WHEN WHEN-COMPILED WITH WORDS \
    WORKING-STORAGE WRITE WRITE-ONLY XML XML-CODE ZERO ZEROES ZEROS";

/// The words in front of a list's lines.
fn listed(option: &str) -> Vec<String> {
    let output = Process::new("cobc").arg(option).output().expect("cobc runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_word = |word: &&str| {
        let is_letter = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
        word.chars().all(is_letter) && word.contains(|c: char| c.is_ascii_uppercase())
    };
    let first = text.lines().filter_map(|line| line.split_whitespace().next());
    first.filter(is_word).map(str::to_owned).collect()
}

/// The story: a program with an item TIMESTAMP did not compile.
#[test]
fn every_word_that_the_mainframe_does_not_reserve_may_be_a_name() {
    if Process::new("cobc").arg("--version").output().is_err() {
        eprintln!("skipped: cobc is not installed (Debian package gnucobol3)");
        return;
    }
    let reserved: BTreeSet<&str> = RESERVED.split_ascii_whitespace().collect();
    let words: BTreeSet<String> = ["--list-reserved", "--list-mnemonics", "--list-intrinsics"]
        .into_iter()
        .flat_map(listed)
        .chain(["TIMESTAMP".to_owned()])
        .filter(|word| !reserved.contains(word.as_str()))
        .collect();
    assert!(words.len() > 600 && words.contains("BELL"), "{}", words.len());
    let mut text = String::from(
        "       IDENTIFICATION DIVISION.\n       PROGRAM-ID. ALLWORDS.\n       DATA DIVISION.\n\
         \x20      WORKING-STORAGE SECTION.\n       01  GROUP-OF-ALL.\n",
    );
    for word in &words {
        text += &format!("           05  {word}\n               PIC X(4).\n");
    }
    text += "       PROCEDURE DIVISION.\n       FIRST-PARAGRAPH.\n";
    for word in &words {
        text += &format!(
            "           MOVE 'A' TO {word}.\n           IF {word}\n             = 'B' DISPLAY 'B' \
             {word}\n           END-IF.\n"
        );
    }
    text += "           GOBACK.\n";
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("all-words");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("allwords.cbl"), text).expect("the program");
    std::fs::write(folder.join(CONFIGURATION_NAME), CONFIGURATION).expect("the configuration");
    let mut compile = Process::new("cobc");
    compile.current_dir(&folder).arg(format!("-conf={CONFIGURATION_NAME}"));
    let output = compile.args(["-fsyntax-only", "allwords.cbl"]).output().expect("cobc runs");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{printed}");
}
