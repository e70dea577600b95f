//! Translated programs, compiled and run with GnuCOBOL where it is installed.
//!
//! The entry that programs call is here a few lines of C that print what they were given; the test
//! decodes it. Without `cobc` these tests say so and pass.

#![allow(clippy::disallowed_methods)] // writes the programs that a compiler gets

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Output};

use holdfast_exec_dli::plan::{Action, Items, SegmentSize, Segments, plan};
use holdfast_exec_dli::{
    CONFIGURATION, CONFIGURATION_NAME, Members, Options, Translation, decode, translate,
};

/// Prints descriptor, numbers and the first bytes of the first item; sets DIBSTAT.
const STUB: &str = r#"
#include <stdio.h>
static void hex(const unsigned char *at, int len) {
    while (len-- > 0) printf("%02X", *at++);
}
void HFEXDLI(const unsigned char *text, char *dib, const int *numbers, const unsigned char *item) {
    hex(text, text[2] * 256 + text[3]);
    printf(" [");
    for (int at = 0; at < text[5]; at++) printf("%d,", numbers[at]);
    printf("] ");
    if (text[4] > 0) hex(item, 6);
    printf("\n");
    dib[2] = dib[3] = ' ';
}
"#;

const PROGRAMS: [&str; 7] =
    ["teller.cbl", "reader.cbl", "copied.cbl", "plain.cbl", "free.cbl", "verbs.cbl", "words.cbl"];

struct Folder;

impl Members for Folder {
    fn member(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(programs().join(format!("{name}.cpy"))).ok()
    }
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// A program that is ended, and named, if it takes longer than any does on any machine.
fn limited(program: impl AsRef<std::ffi::OsStr>) -> Process {
    let mut process = Process::new("timeout");
    process.args(["--verbose", "600"]).arg(program);
    process
}

fn has_compiler() -> bool {
    let found = limited("cobc").arg("--version").output().is_ok_and(|done| done.status.success());
    if !found {
        eprintln!("skipped: cobc is not installed (Debian package gnucobol3)");
    }
    found
}

/// A new folder below the build's own.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(path.join("members")).expect("a folder");
    std::fs::write(path.join(CONFIGURATION_NAME), CONFIGURATION).expect("the configuration");
    path
}

fn translated(file: &str) -> Translation {
    let source = std::fs::read(programs().join(file)).expect("a program");
    translate(&source, &Options { file, is_free: false }, &Folder)
}

fn put(folder: &Path, file: &str, translation: &Translation) {
    std::fs::write(folder.join(file), &translation.text).expect("the program");
    for member in &translation.members {
        let path = folder.join("members").join(format!("{}.cpy", member.name));
        std::fs::write(path, &member.text).expect("a member");
    }
}

fn compile(folder: &Path, arguments: &[&str]) -> Output {
    let mut process = limited("cobc");
    process.current_dir(folder).arg(format!("-conf={CONFIGURATION_NAME}"));
    process.args(["-I", "members", "-I"]).arg(programs()).args(arguments);
    process.output().expect("cobc runs and ends")
}

fn output_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_program_compiles() {
    if !has_compiler() {
        return;
    }
    for file in PROGRAMS {
        let translation = translated(file);
        assert_eq!(translation.diagnostics, [], "{file}");
        let folder = folder(&format!("compiles-{file}"));
        put(&folder, file, &translation);
        let free = if file == "free.cbl" { "-free" } else { "-fixed" };
        let output = compile(&folder, &["-C", free, file]);
        assert!(output.status.success(), "{file}: {}", output_text(&output));
        assert_eq!(output_text(&output), "", "{file}");
    }
}

#[test]
fn the_longest_command_compiles() {
    if !has_compiler() {
        return;
    }
    // 112 items in 14 levels.
    let condition = |n: usize| format!("           FIELD{} = AN-ITEM ({n})\n", n % 8);
    let level = |at: usize| {
        let conditions: Vec<String> = (1..=8).map(|n| condition(at * 8 + n)).collect();
        let conditions = conditions.join("           AND\n");
        format!("           SEGMENT(S{at}) WHERE(\n{conditions}           )\n")
    };
    let levels: String = (0..14).map(level).collect();
    let source = format!(
        "       IDENTIFICATION DIVISION.\n       PROGRAM-ID. LONGEST.\n       DATA DIVISION.\n\
         \x20      WORKING-STORAGE SECTION.\n\
         \x20      01 T. 05 AN-ITEM PIC X(9) OCCURS 120.\n\
         \x20      PROCEDURE DIVISION.\n           EXEC DLI GU USING PCB(1)\n{levels}\
         \x20          END-EXEC\n           GOBACK.\n"
    );
    let file = "longest.cbl";
    let translation = translate(source.as_bytes(), &Options { file, is_free: false }, &Folder);
    assert_eq!(translation.diagnostics, []);
    let folder = folder("longest");
    put(&folder, file, &translation);
    let output = compile(&folder, &["-m", file]);
    assert!(output.status.success(), "{}", output_text(&output));
}

#[test]
fn messages_name_the_line_of_the_command() {
    if !has_compiler() {
        return;
    }
    let folder = folder("messages");
    let file = "teller.cbl";
    let source = std::fs::read_to_string(programs().join(file)).expect("a program");
    let source = source.replace("IX                     PIC", "IY                     PIC");
    let source = source.replace("CHECKPOINT-ID          PIC", "CHECKPOINT-NO          PIC");
    let source = source.replace("TO RETURN-CODE", "TO RETURN-NODE");
    let translation = translate(source.as_bytes(), &Options { file, is_free: false }, &Folder);
    put(&folder, file, &translation);
    let output = output_text(&compile(&folder, &["-C", file]));
    // Two commands, and a plain statement between them.
    for line in ["teller.cbl:36: error", "teller.cbl:35: error", "teller.cbl:47: error"] {
        assert!(output.contains(line), "{line} in {output}");
    }
}

struct Passed(Vec<i32>);

impl Items for Passed {
    fn number(&mut self, slot: u8) -> i32 {
        self.0[usize::from(slot)]
    }

    fn item(&mut self, _parameter: u8, length: usize) -> Option<Vec<u8>> {
        b"VALUE.....VALUE.....VALUE.....VALUE.....VALUE.....VALUE....."
            .get(..length)
            .map(<[u8]>::to_vec)
    }
}

struct Sizes;

impl Segments for Sizes {
    fn size(&self, _pcb: u16, _segment: &[u8; 8]) -> Option<SegmentSize> {
        None
    }
}

/// Function code and SSAs of a printed call.
fn call(line: &str) -> (String, Vec<String>) {
    let (hex, rest) = line.split_once(' ').expect("a descriptor");
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
    let bytes: Vec<u8> = (0..hex.len() / 2).map(|at| digits(at * 2)).collect();
    let numbers = rest.trim_start_matches('[').split(']').next().expect("numbers");
    let numbers = numbers.split(',').filter_map(|number| number.parse().ok()).collect();
    let command = decode(&bytes).expect("a command");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match plan(&command, &mut Passed(numbers), &Sizes).expect("a plan").action {
        Action::Call(call) => {
            (text(&call.function.bytes()), call.ssas.iter().map(|ssa| text(ssa)).collect())
        }
        other => (format!("{other:?}"), Vec::new()),
    }
}

#[test]
fn a_running_program_passes_what_its_commands_say() {
    if !has_compiler() {
        return;
    }
    let folder = folder("runs");
    put(&folder, "teller.cbl", &translated("teller.cbl"));
    std::fs::write(folder.join("HFEXDLI.c"), STUB).expect("the stub");
    for arguments in [["-m", "HFEXDLI.c"], ["-x", "teller.cbl"]] {
        let output = compile(&folder, &arguments);
        assert!(output.status.success(), "{}", output_text(&output));
    }
    let mut program = limited(folder.join("teller"));
    program.current_dir(&folder).env("COB_LIBRARY_PATH", ".");
    let output = program.output().expect("the program runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 5, "{printed} {}", output_text(&output));
    assert_eq!(output.status.code(), Some(5), "the program goes on behind its commands");
    let (function, ssas) = call(lines[0]);
    assert_eq!(function, "GHU ");
    assert_eq!(ssas[0], "CUSTOMER*D(CUSTNO  EQVALUE.)");
    let expected = "ACCOUNT *LQA(ACCTNO  GTVALUE.&KIND    NECLOSED|BALANCE LEVALUE.)";
    assert_eq!(ssas[1], expected);
    // PCB, key area, customer, account, and the items of the last conditions.
    assert!(lines[0].contains(" [2,24,36,16,6,6,] "), "{}", lines[0]);
    assert_eq!(call(lines[1]).0, "GHNP");
    assert_eq!(call(lines[2]), ("REPL".into(), vec!["ACCOUNT  ".into()]));
    assert_eq!(call(lines[3]), ("GHN ".into(), vec![]));
    assert!(lines[3].contains(" [3,24,] "), "{}", lines[3]);
    assert_eq!(call(lines[4]).0, "CHKP");
    assert!(lines[4].ends_with(" [2,] 54454C4C3030"), "{}", lines[4]);
}
