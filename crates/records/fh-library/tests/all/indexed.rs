//! Indexed files: a table of requests, and what the rules of the language say of each.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::stage::{LONG, Stage, With, library};

/// Plays requests against the file of a stage and compares what each says.
fn play(stage: &Stage, table: &[(&str, &str)]) {
    let program = stage.compile("ixtable", With::Library);
    let mut command = Command::new(&program);
    command.env("LD_LIBRARY_PATH", library());
    for name in ["KFILE", "OFILE"] {
        command.env(format!("DD_{name}"), stage.path(name));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a program that was compiled");
    let requests: String = table.iter().map(|(request, _)| format!("{request}\n")).collect();
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(format!("{requests}.\n").as_bytes()).expect("the program reads it");
    drop(input);
    let output = seam::process::finish(child, LONG).expect("it ends");
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let mut printed = printed.lines().map(str::trim_end);
    for (at, (request, expected)) in table.iter().enumerate() {
        let found = printed.next().unwrap_or("nothing");
        assert_eq!(found, *expected, "request {at}: {request} {errors}");
    }
    assert_eq!(printed.next(), None);
}

/// Six records, written in any order.
const LOAD: [(&str, &str); 8] = [
    ("D OPEN    OU", "00"),
    ("D WRITE        CC01G1NAM3three", "00"),
    ("D WRITE        AA01G1NAM1one", "02"),
    ("D WRITE        BB01G2NAM2two", "00"),
    ("D WRITE        BB02G1NAM4four", "02"),
    ("D WRITE        BB03G3NAM5five", "00"),
    ("D WRITE        DD01G2NAM6six", "02"),
    ("D CLOSE", "00"),
];

fn after_load(table: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    LOAD.iter().chain(table).copied().collect()
}

#[test]
fn every_request_is_allowed_in_the_modes_that_the_language_says() {
    let stage = Stage::new("ix-modes");
    let table = [
        ("D CLOSE", "42"),
        ("D READ    NX", "47"),
        ("D WRITE        AA", "48"),
        ("D REWRITE      AA", "49"),
        ("D DELETE       AA", "49"),
        ("D START   EQ 0 AA", "47"),
        ("D OPEN    IN", "35"),
        ("D OPEN    IO", "35"),
        ("S OPEN    EX", "35"),
        ("D OPEN    OU", "00"),
        ("D OPEN    OU", "41"),
        ("D READ    NX", "47"),
        ("D START   EQ 0 AA", "47"),
        ("D REWRITE      AA", "49"),
        ("D DELETE       AA", "49"),
        ("D WRITE        AA01G1NAM1one", "00"),
        ("D CLOSE", "00"),
        ("D OPEN    IN", "00"),
        ("D WRITE        AA02G1NAM2two", "48"),
        ("D REWRITE      AA01G1NAM2two", "49"),
        ("D DELETE       AA01", "49"),
        ("D CLOSE", "00"),
        ("S OPEN    IO", "00"),
        ("S WRITE        BB01G1NAM2two", "48"),
        ("S REWRITE      AA01G1NAM2two", "43"),
        ("S DELETE", "43"),
        ("S READ", "00 AA01G1NAM1one"),
        ("S REWRITE      AA01G1NAM2two", "00"),
        ("S REWRITE      AA01G1NAM2two", "43"),
        ("S READ", "10"),
        ("S READ", "46"),
        ("S DELETE", "43"),
    ];
    play(&stage, &table);
}

#[test]
fn keys_have_the_statuses_of_the_language() {
    let stage = Stage::new("ix-keys");
    let table = after_load(&[
        ("D OPEN    IO", "00"),
        ("D WRITE        AA01G9NAM9again", "22"),
        ("D WRITE        AA09G9NAM1name", "22"),
        ("D READ       0 AA09", "23"),
        ("D READ       1 AA09G9", "23"),
        ("D READ       0 BB02", "00 BB02G1NAM4four"),
        ("D READ       2 ....  NAM5", "00 BB03G3NAM5five"),
        ("D REWRITE      ZZ01G1NAM7none", "23"),
        ("D REWRITE      BB03G3NAM1taken", "22"),
        ("D REWRITE      BB03G3NAM5same", "00"),
        ("D REWRITE      BB03G2NAM5moved", "02"),
        ("D DELETE       ZZ01", "23"),
        ("D DELETE       BB01", "00"),
        ("D READ       0 BB01", "23"),
        ("D READ       2 ....  NAM2", "23"),
        ("D WRITE        BB01G2NAM2back", "02"),
        ("D CLOSE", "00"),
        // The index of groups has the order of arrival.
        ("D OPEN    IN", "00"),
        ("D READ       1 ....G2", "02 DD01G2NAM6six"),
        ("D READ    NX", "02 BB03G2NAM5moved"),
        ("D READ    NX", "00 BB01G2NAM2back"),
        ("D READ    NX", "10"),
        ("D CLOSE", "00"),
        ("R OPEN    IO", "00"),
        ("R READ         CC01", "00 CC01G1NAM3three"),
        ("R READ       1 ....G1", "02 CC01G1NAM3three"),
        ("R REWRITE      AA01G4NAM1one", "00"),
        ("R DELETE       CC01", "00"),
        ("R READ       1 ....G1", "00 BB02G1NAM4four"),
        ("R WRITE        CC01G1NAM3again", "02"),
        ("R CLOSE", "00"),
    ]);
    play(&stage, &table);
}

#[test]
fn records_are_read_in_both_directions_from_wherever_start_leads() {
    let stage = Stage::new("ix-start");
    let table = after_load(&[
        ("D OPEN    IN", "00"),
        ("D READ    NX", "00 AA01G1NAM1one"),
        ("D READ    NX", "00 BB01G2NAM2two"),
        ("D READ    PR", "00 AA01G1NAM1one"),
        ("D READ    PR", "10"),
        ("D READ    PR", "46"),
        ("D START   EQ 0 BB02", "00"),
        ("D READ    NX", "00 BB02G1NAM4four"),
        ("D START   EQ 0 BB09", "23"),
        ("D READ    NX", "46"),
        ("D START   GT 0 BB02", "00"),
        ("D READ    NX", "00 BB03G3NAM5five"),
        ("D START   GE 0 BB09", "00"),
        ("D READ    NX", "00 CC01G1NAM3three"),
        ("D START   LT 0 BB02", "00"),
        ("D READ    PR", "00 BB01G2NAM2two"),
        ("D READ    PR", "00 AA01G1NAM1one"),
        ("D START   LE 0 BB09", "00"),
        ("D READ    NX", "00 BB03G3NAM5five"),
        ("D START   GT 0 DD01", "23"),
        ("D START   LT 0 AA01", "23"),
        ("D START   EQ P BB", "00"),
        ("D READ    NX", "00 BB01G2NAM2two"),
        ("D START   GT P BB", "00"),
        ("D READ    NX", "00 CC01G1NAM3three"),
        ("D START   LE P BB", "00"),
        ("D READ    PR", "00 BB03G3NAM5five"),
        ("D START   EQ 1 ....G1", "00"),
        ("D READ    NX", "02 CC01G1NAM3three"),
        ("D READ    NX", "02 AA01G1NAM1one"),
        ("D READ    NX", "00 BB02G1NAM4four"),
        ("D READ    NX", "02 BB01G2NAM2two"),
        ("D READ    PR", "02 BB02G1NAM4four"),
        ("D START   GT 1 ....G1", "00"),
        ("D READ    NX", "02 BB01G2NAM2two"),
        ("D START   LE 1 ....G2", "00"),
        ("D READ    PR", "02 DD01G2NAM6six"),
        ("D START   LT 1 ....G1", "23"),
        ("D START   EQ 2 ....  NAM6", "00"),
        ("D READ    PR", "00 DD01G2NAM6six"),
        ("D READ    PR", "00 BB03G3NAM5five"),
        ("D CLOSE", "00"),
        ("S OPEN    IN", "00"),
        ("S START   GE   BB03", "00"),
        ("S READ", "00 BB03G3NAM5five"),
        ("S START   EQ   ....G2", "00"),
        ("S READ", "02 BB01G2NAM2two"),
        ("S CLOSE", "00"),
    ]);
    play(&stage, &table);
}

#[test]
fn what_is_written_in_sequence_ascends() {
    let stage = Stage::new("ix-sequence");
    let table = [
        ("S OPEN    OU", "00"),
        ("S WRITE        BB01G1NAM1one", "00"),
        ("S WRITE        AA01G1NAM2two", "21"),
        ("S WRITE        BB01G1NAM2two", "22"),
        ("S WRITE        CC01G1NAM1taken", "22"),
        ("S WRITE        CC01G1NAM2two", "02"),
        ("S CLOSE", "00"),
        ("S OPEN    EX", "00"),
        ("S WRITE        BB05G1NAM3three", "21"),
        ("S WRITE        DD01G2NAM3three", "00"),
        ("S READ", "47"),
        ("S CLOSE", "00"),
        ("S OPEN    IO", "00"),
        ("S READ", "00 BB01G1NAM1one"),
        // The prime key of the record that was read stays.
        ("S REWRITE      BB02G1NAM1one", "21"),
        ("S READ", "00 CC01G1NAM2two"),
        ("S DELETE", "00"),
        ("S DELETE", "43"),
        ("S READ", "00 DD01G2NAM3three"),
        ("S REWRITE      DD01G1NAM3three", "02"),
        ("S READ", "10"),
        ("S CLOSE   LK", "00"),
        ("S OPEN    IN", "38"),
        ("D OPEN    IN", "00"),
        ("D READ    NX", "00 BB01G1NAM1one"),
        ("D READ    NX", "00 DD01G1NAM3three"),
        ("D READ    NX", "10"),
        ("D CLOSE", "00"),
    ];
    play(&stage, &table);
}

#[test]
fn optional_files_and_other_keys_have_their_statuses() {
    let stage = Stage::new("ix-optional");
    let table = after_load(&[
        ("W OPEN    IN", "39"),
        ("W OPEN    IO", "39"),
        ("O OPEN    IN", "05"),
        ("O READ    NX", "10"),
        ("O READ    NX", "46"),
        ("O READ         AA01", "23"),
        ("O START        AA01", "23"),
        ("O CLOSE", "00"),
        ("O OPEN    IO", "05"),
        ("O WRITE        AA01text", "00"),
        ("O CLOSE", "00"),
        ("O OPEN    IN", "00"),
        ("O READ    NX", "00 AA01text"),
        ("O CLOSE", "00"),
        // Two files of a program that change one file keep each other out.
        ("D OPEN    IO", "00"),
        ("R OPEN    IN", "93"),
        ("R OPEN    OU", "93"),
        ("D CLOSE", "00"),
        ("D OPEN    IN", "00"),
        ("R OPEN    IN", "00"),
    ]);
    play(&stage, &table);
}

#[test]
fn a_file_that_is_no_indexed_one_is_left_as_it_is() {
    let stage = Stage::new("ix-foreign");
    stage.write("KFILE", b"a text that somebody has written\n");
    let table = [
        ("D OPEN    IN", "39"),
        ("D OPEN    IO", "39"),
        ("D OPEN    OU", "39"),
        ("S OPEN    EX", "39"),
    ];
    play(&stage, &table);
    assert_eq!(stage.bytes("KFILE"), b"a text that somebody has written\n");
}

#[test]
fn files_that_the_run_time_has_made_are_read_as_before_and_replaced_by_ours() {
    let stage = Stage::new("ix-run-time");
    let written = stage.play("indexed", With::RunTime, &[]);
    assert!(written.contains("close twice      42"), "{written}");
    let theirs = stage.bytes("KFILE");
    assert_ne!(&theirs[..4], b"redb");
    let program = stage.compile("ixread", With::Library);
    let output = stage.run(&program, &[]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        printed.lines().map(str::trim_end).collect::<Vec<_>>(),
        ["00", "00 AA0001RED one", "00 BB0001BLUEtwo", "00 CC0001BLUEfour", "10", "00"]
    );
    let warned = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(warned.contains("KFILE was made by the COBOL run time"), "{warned}");
    // OPEN OUTPUT makes a file of ours of it.
    play(&stage, &[("D OPEN    OU", "00"), ("D CLOSE", "00")]);
    assert_eq!(&stage.bytes("KFILE")[..4], b"redb");
    assert!(!stage.path("KFILE.1").exists());
}

#[test]
fn a_kill_leaves_a_file_of_whole_requests() {
    use std::io::BufRead as _;
    let stage = Stage::new("ix-kill");
    let program = stage.compile("ixlong", With::Library);
    let run = |what: &str| {
        let mut command = Command::new(&program);
        command.env("LD_LIBRARY_PATH", library()).env("DD_KFILE", stage.path("KFILE"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a program that was compiled");
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(format!("{what}\n").as_bytes()).expect("the program reads it");
        child
    };
    let mut child = run("WRITE");
    let lines = std::io::BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut first = None;
    for _line in lines {
        // The first commit after that of the empty file makes it longer.
        let now = std::fs::metadata(stage.path("KFILE")).map_or(0, |file| file.len());
        if *first.get_or_insert(now) < now {
            break;
        }
    }
    child.kill().expect("it runs");
    seam::process::wait(&mut child, LONG).expect("it ends");
    let output = seam::process::finish(run("READ"), LONG).expect("it ends");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
    assert_eq!((lines[0], lines[2]), ("OPEN 00", "CLOSE 00"), "{printed}");
    let count = lines[1].strip_prefix("SAME ").unwrap_or_else(|| panic!("{printed}"));
    assert!(count.parse::<u64>().is_ok_and(|count| count > 0), "{printed}");
}
