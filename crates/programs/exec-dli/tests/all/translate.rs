//! What a translation makes of a source, and what it says about one that cannot be translated.

use std::collections::BTreeMap;

use holdfast_exec_dli::{
    CODES, Member, Members, NoMembers, Options, ProgramFacts, Translation, translate,
};

const OPTIONS: Options<'_> = Options { file: "teller.cbl", is_free: false };

struct Copies<'a>(BTreeMap<&'a str, &'a str>);

impl Members for Copies<'_> {
    fn member(&self, name: &str) -> Option<Vec<u8>> {
        self.0.get(name).map(|text| text.as_bytes().to_vec())
    }
}

/// A program with this in its PROCEDURE DIVISION; that is line 6.
fn program(body: &str) -> String {
    let lines: Vec<String> = body.lines().map(|line| format!("           {line}\n")).collect();
    format!(
        "       IDENTIFICATION DIVISION.\n       PROGRAM-ID. TELLER.\n       DATA DIVISION.\n       \
         WORKING-STORAGE SECTION.\n       PROCEDURE DIVISION.\n{}           GOBACK.\n",
        lines.concat()
    )
}

fn translated(body: &str) -> Translation {
    translate(program(body).as_bytes(), &OPTIONS, &NoMembers)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The lines of a member without those that only say where they belong.
fn lines(member: &Member) -> Vec<String> {
    let is_code = |line: &&str| !line.starts_with("#line") && !line.contains(">>SOURCE");
    text(&member.text).lines().filter(is_code).map(str::to_owned).collect()
}

#[test]
fn a_command_becomes_a_copy_in_its_place() {
    let source = program("EXEC DLI GU USING PCB(N)\nSEGMENT(CUST) INTO(AREA-1)\nEND-EXEC.");
    let made = translate(source.as_bytes(), &OPTIONS, &NoMembers);
    assert_eq!(made.diagnostics, []);
    let out = text(&made.text);
    assert_eq!(out.len(), source.len());
    let line = |number: usize| out.lines().nth(number - 1).unwrap_or_default().trim();
    let squeezed = line(4).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!([&squeezed, line(6), line(7), line(8)], ["COPY HFX001.", "COPY", "", "HFX000. ."]);
    assert_eq!(line(9), "GOBACK.");
    let expected = [
        "COMPUTE HFX-NUMBER (1) = N",
        "MOVE LENGTH OF AREA-1 TO HFX-NUMBER (2)",
        "CALL \"HFEXDLI\" USING BY REFERENCE",
        "X\"0101001601020101000A000000044355535\
         40F000101\"",
        "DIBVER HFX-NUMBERS",
        "AREA-1",
        "RETURNING OMITTED END-CALL",
    ];
    let expected: Vec<&str> = expected.into_iter().collect();
    let lines = lines(&made.members[0]);
    assert_eq!(lines.len(), expected.len(), "{lines:?}");
    assert_eq!([&lines[..3], &lines[4..]].concat(), [&expected[..3], &expected[4..]].concat());
    assert!(text(&made.members[0].text).contains("#line 6 \"teller.cbl\"\n"));
    assert!(text(&made.members[1].text).contains("05 DIBKFBL PIC S9(4) COMP."));
}

#[test]
fn long_commands_stay_within_the_compilers_lines() {
    let long = "A-VERY-LONG-NAME-OF-AN-ITEM OF ANOTHER-VERY-LONG-NAME (INDEX-1, INDEX-2)";
    let wheres: Vec<String> = (0..30).map(|n| format!("FIELD{n} = {long} OR")).collect();
    let body = format!(
        "EXEC DLI GU USING PCB(1) SEGMENT(A) WHERE(\n{}\nB = '{}')\nEND-EXEC",
        wheres.join("\n"),
        "X".repeat(40)
    );
    // The names are too long for columns 8 to 72.
    let source = program(&body).replace("IDENTIFICATION", ">>SOURCE FREE\nIDENTIFICATION");
    let made = translate(source.as_bytes(), &OPTIONS, &NoMembers);
    assert_eq!(made.diagnostics, []);
    let widest = text(&made.members[0].text).lines().map(str::len).max();
    assert!(widest < Some(300), "{widest:?}");
}

#[test]
fn what_is_no_command_is_left_alone() {
    let body = "* EXEC DLI\nDISPLAY 'EXEC DLI GU END-EXEC'.\nREPLACE ==EXEC DLI X== BY ==Y==.\n\
                COPY A REPLACING ==EXEC DLI. END-EXEC== BY ==B==.\n*> EXEC DLI\nCALL 'CBLTDLI'.";
    let source = program(body).replace("           *", "      *");
    let made = translate(source.as_bytes(), &OPTIONS, &NoMembers);
    assert_eq!(made.diagnostics, []);
    assert_eq!(text(&made.text), source);
    assert_eq!(made.members, []);
}

#[test]
fn facts_are_those_that_a_region_needs() {
    let source = "       ID DIVISION.\n       PROGRAM-ID. \"one\" IS INITIAL.\n       PROCEDURE \
                  DIVISION USING BY REFERENCE IO-PCB, DB-PCB\n           BY VALUE X RETURNING \
                  R.\n           EXEC DLI TERM END-EXEC.\n       END PROGRAM one.\n       ID \
                  DIVISION.\n       PROGRAM-ID. TWO.\n       PROCEDURE DIVISION.\n           \
                  ENTRY 'DLITCBL' USING A.\n";
    let made = translate(source.as_bytes(), &OPTIONS, &NoMembers);
    let one = ProgramFacts {
        program_id: "ONE".into(),
        has_using: true,
        using_count: 3,
        has_entry_dlitcbl: false,
        uses_exec_dli: true,
    };
    let two = ProgramFacts {
        program_id: "TWO".into(),
        has_entry_dlitcbl: true,
        ..ProgramFacts::default()
    };
    assert_eq!(made.programs, [one, two]);
}

#[test]
fn a_program_that_copies_commands_gets_the_members_translated() {
    let copies = Copies(BTreeMap::from([
        ("GETIT", "           EXEC DLI GU USING PCB(1) SEGMENT(A) INTO(B)\n           END-EXEC.\n"),
        ("DIBBY", "       01 DIB.\n          05 DIBVER PIC XX.\n"),
    ]));
    let source = program("COPY GETIT.").replace("SECTION.", "SECTION. COPY DIBBY.");
    let made = translate(source.as_bytes(), &OPTIONS, &copies);
    assert_eq!(made.diagnostics, []);
    let names: Vec<&str> = made.members.iter().map(|member| member.name.as_str()).collect();
    assert_eq!(names, ["HFX000", "HFX001", "GETIT"]);
    assert!(text(&made.members[0].text).contains("#line 1 \"GETIT\""));
    assert!(text(&made.members[2].text).starts_with("           COPY "));
    assert!(!text(&made.members[1].text).contains("DIBVER"), "the program declares its own");
    assert!(made.programs[0].uses_exec_dli);
}

#[test]
fn cards_are_blanked_and_nothing_else() {
    let source = program("DISPLAY 'A'.");
    let with = format!("       CBL APOST,LIB\r\n000010 PROCESS XREF\n{source}");
    let made = translate(with.as_bytes(), &OPTIONS, &NoMembers);
    let expected = format!("{}\r\n{}\n{source}", " ".repeat(20), " ".repeat(19));
    assert_eq!(text(&made.text), expected);
}

#[test]
fn a_diagnostic_points_at_the_word() {
    let made = translated("MOVE 1 TO A\nEXEC DLI GU USING PCB(1)\n  SEGMENTS(CUST) END-EXEC.");
    let shown = made.diagnostics[0].to_string();
    let expected = "error HFX021: SEGMENTS is no option of EXEC DLI\n  --> teller.cbl:8:14\n   \
                    |\n 8 |              SEGMENTS(CUST) END-EXEC.\n   |              ^^^^^^^^\n  = \
                    help: ";
    assert!(shown.starts_with(expected), "{shown}");
}

/// Bodies of programs, each with the code that it provokes.
const WRONG: &[(&str, &str)] = &[
    ("HFX001", "EXEC CICS RETURN END-EXEC."),
    ("HFX001", "EXEC SQL COMMIT END-EXEC."),
    ("HFX002", "EXEC DLI TERM."),
    ("HFX002", "EXEC DLI TERM\nEXEC DLI TERM END-EXEC."),
    ("HFX005", "COPY ROUND."),
    ("HFX007", "COPY '../ROLL.cpy'."),
    ("HFX009", "EXAMINE NAME-IN REPLACING ALL ' ' BY '-'."),
    ("HFX020", "EXEC DLI FETCH END-EXEC."),
    ("HFX020", "EXEC DLI END-EXEC."),
    ("HFX021", "EXEC DLI GU USING PCB(1) INTOO(A) END-EXEC."),
    ("HFX021", "EXEC DLI GU. USING PCB(1) END-EXEC."),
    ("HFX022", "EXEC DLI GU USING PCB(1) SEGMENT(A) FROM(B) END-EXEC."),
    ("HFX023", "EXEC DLI GU USING PCB(1) PCB(2) END-EXEC."),
    ("HFX023", "EXEC DLI SYMCHKP ID(A) AREA1(B) AREA1(C) END-EXEC."),
    ("HFX024", "EXEC DLI GU SEGMENT(A) END-EXEC."),
    ("HFX024", "EXEC DLI GU USING PCB(1) FIRST END-EXEC."),
    ("HFX024", "EXEC DLI GU USING PCB(1) SEGMENT(A) FIELDLENGTH(3) END-EXEC."),
    ("HFX024", "EXEC DLI ISRT USING PCB(1) SEGMENT(A) END-EXEC."),
    ("HFX025", "EXEC DLI GU USING PCB END-EXEC."),
    ("HFX025", "EXEC DLI GU USING PCB() END-EXEC."),
    ("HFX025", "EXEC DLI GU USING PCB(1, 2) END-EXEC."),
    ("HFX025", "EXEC DLI GU USING PCB('A') END-EXEC."),
    ("HFX025", "EXEC DLI GU USING PCB(1) SEGMENT(A) LOCKED(B) END-EXEC."),
    ("HFX025", "EXEC DLI GU USING PCB(1) SEGMENT(A) INTO('B') END-EXEC."),
    ("HFX026", "EXEC DLI GU USING PCB(1) SEGMENT(TOO-LONG-A) END-EXEC."),
    ("HFX026", "EXEC DLI GU USING PCB(1) SEGMENT(1A) END-EXEC."),
    ("HFX026", "EXEC DLI GU USING PCB(1) SEGMENT(()) END-EXEC."),
    ("HFX027", "EXEC DLI GU USING PCB(1) SEGMENT(A) WHERE(B) END-EXEC."),
    ("HFX027", "EXEC DLI GU USING PCB(1) SEGMENT(A) WHERE(B = AND) END-EXEC."),
    ("HFX027", "EXEC DLI GU USING PCB(1) SEGMENT(A) WHERE(B = C OR) END-EXEC."),
    ("HFX028", "EXEC DLI GN USING PCB(1) SEGMENT(A) WHERE(B=C)\nFIELDLENGTH(1,2) END-EXEC."),
    ("HFX029", "EXEC DLI ISRT USING PCB(1) SEGMENT(A) FROM(B) SEGMENT(C)\nEND-EXEC."),
    ("HFX029", "EXEC DLI REPL USING PCB(1) SEGMENT(A) SEGMENT(C) FROM(D)\nEND-EXEC."),
    ("HFX029", "EXEC DLI DLET USING PCB(1) SEGMENT(A) FROM(B) SEGMENT(C)\nFROM(D) END-EXEC."),
    ("HFX030", "EXEC DLI GU USING PCB(1) FIRST LAST SEGMENT(A) END-EXEC."),
    ("HFX030", "EXEC DLI GU USING PCB(1) SEGMENT(A) KEYS(B) WHERE(C=D)\nEND-EXEC."),
    ("HFX032", "EXEC DLI GU USING PCB(1 SEGMENT(A) END-EXEC."),
    ("HFX033", "EXEC DLI SYMCHKP ID(A) AREA2(B) END-EXEC."),
    ("HFX033", "EXEC DLI SYMCHKP ID(A) LENGTH1(B) END-EXEC."),
    ("HFX034", "EXEC DLI GU WHERE(K=V) SEGMENT(A) INTO(B) END-EXEC."),
    ("HFX034", "EXEC DLI GU USING PCB(2) INTO(B) SEGMENT(A) END-EXEC."),
    ("HFX034", "EXEC DLI GN USING PCB(2) WHERE(K=V) INTO(B) END-EXEC."),
];

#[test]
fn a_ring_of_members_is_named_where_it_closes_and_followed_no_further() {
    let first = "           COPY SECOND.\n".repeat(500);
    let second = "           COPY third.\n".repeat(500);
    let third = "           MOVE 1 TO A.\n           COPY FIRST.\n           COPY 'Third'.\n";
    let copies = Copies(BTreeMap::from([
        ("FIRST", &first[..]),
        ("SECOND", &second[..]),
        ("third", third),
        ("Third", third),
    ]));
    let made = translate(program("COPY FIRST.").as_bytes(), &OPTIONS, &copies);
    let printed = |at: usize| {
        let wrong = &made.diagnostics[at];
        (wrong.code, &wrong.file[..], wrong.line, &wrong.message[..])
    };
    let closed = "member FIRST copies itself through SECOND, third";
    assert_eq!(printed(0), ("HFX005", "third", 2, closed));
    assert_eq!(printed(1), ("HFX005", "third", 3, "member Third copies itself"));
}

#[test]
fn every_code_is_provoked() {
    let roll = "           EXEC DLI ROLB END-EXEC.\n";
    let round = "           COPY ROUND.\n";
    let copies = Copies(BTreeMap::from([("ROUND", round), ("../ROLL.cpy", roll)]));
    let mut provoked: Vec<String> = Vec::new();
    let mut check = |code: &str, source: &str| {
        let made = translate(source.as_bytes(), &OPTIONS, &copies);
        let first = made.diagnostics.first();
        assert_eq!(first.map(|printed| printed.code), Some(code), "{source}\n{first:?}");
        provoked.push(code.to_owned());
    };
    for (code, body) in WRONG {
        check(code, &program(body));
    }
    let early = program("").replace("DATA DIVISION.", "DATA DIVISION. EXEC DLI TERM END-EXEC.");
    check("HFX003", &early);
    let sql = program("").replace("DATA DIVISION.", "DATA DIVISION. EXEC SQL INCLUDE A END-EXEC.");
    check("HFX001", &sql);
    let broken = program("EXEC DLI TERM END-\n-EXEC.").replace("           -", "      -    ");
    let line = "           EXEC DLI TERM END-";
    check("HFX006", &broken.replace(line, &format!("{line:<72}")));
    let many = "           EXEC DLI ROLB END-EXEC\n".repeat(36 * 36 * 36 + 1);
    check("HFX004", &program("").replace("           GOBACK", &format!("{many}           GOBACK")));
    let segments: Vec<String> = (0..16).map(|n| format!("SEGMENT(A{n})\n")).collect();
    let deep = format!("EXEC DLI GU USING PCB(1)\n{}END-EXEC.", segments.concat());
    check("HFX031", &program(&deep));
    let chain: Vec<(String, String)> = (0..60)
        .map(|n| (format!("DEEP{n}"), format!("           COPY DEEP{}.\n", n + 1)))
        .collect();
    let chain = Copies(chain.iter().map(|(name, text)| (&name[..], &text[..])).collect());
    let made = translate(program("COPY DEEP0.").as_bytes(), &OPTIONS, &chain);
    assert_eq!(made.diagnostics.len(), 1, "{:?}", made.diagnostics);
    provoked.push(made.diagnostics[0].code.to_owned());
    for meaning in CODES {
        assert!(provoked.iter().any(|code| code == meaning.code), "{} is not", meaning.code);
    }
}

/// The compiler spoke of a syntax error, often at another word than the one that it did not know.
#[test]
fn what_only_os_vs_cobol_knows_is_named_with_what_to_write() {
    for (body, word, help) in [
        ("EXAMINE A OF B (I, 2) TALLYING UNTIL FIRST 'X'", "EXAMINE", "INSPECT item TALLYING"),
        ("EXAMINE A REPLACING ALL 'X' BY 'Y'", "EXAMINE", "REPLACING stays"),
        ("DISPLAY A. NOTE THIS IS DONE ONCE", "NOTE", "asterisk in column 7"),
        ("MOVE CURRENT-DATE TO TODAY", "CURRENT-DATE", "FROM DATE"),
        ("IF A MOVE TIME-OF-DAY TO B", "TIME-OF-DAY", "FROM TIME"),
    ] {
        let printed = translated(&format!("{body}.")).diagnostics;
        let [one] = printed.as_slice() else { panic!("{body}: {printed:?}") };
        assert_eq!((one.code, one.line, one.len), ("HFX009", 6, word.len()), "{body}");
        assert_eq!(one.column, 12 + body.find(word).unwrap(), "{body}");
        assert!(one.help.contains(help) && one.message.contains("OS/VS COBOL"), "{one}");
    }
}

#[test]
fn the_same_words_as_names_of_a_program_are_left_alone() {
    for body in [
        "PERFORM EXAMINE. MOVE NOTE TO A. MOVE A TO NOTE",
        "PERFORM NOTE.\nNOTE.\n    DISPLAY NOTE.\nNOTE SECTION.\nEXAMINE.\n    EXIT",
        "MOVE FUNCTION CURRENT-DATE TO A. MOVE FUNCTION CURRENT-DATE (1:8) TO B",
        "PERFORM EXAMINE INSPECT A TALLYING B FOR ALL 'X'",
        "DISPLAY 'EXAMINE A TALLYING'",
    ] {
        assert_eq!(translated(&format!("{body}.")).diagnostics, [], "{body}");
    }
    let moved = program("MOVE CURRENT-DATE TO A.");
    for own in [
        "DATA DIVISION.\n       WORKING-STORAGE SECTION.\n       01 CURRENT-DATE PIC X(8).",
        "ENVIRONMENT DIVISION.\n       CONFIGURATION SECTION.\n       REPOSITORY. FUNCTION ALL \
         INTRINSIC.\n       DATA DIVISION.",
    ] {
        let source = moved.replace("DATA DIVISION.", own);
        assert_eq!(translate(source.as_bytes(), &OPTIONS, &NoMembers).diagnostics, [], "{own}");
    }
}
