//! Programs that are executables of their own: scripts of Python and virtual machines of Java,
//! in regions and as batch message programs, over one database.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use crate::common::in_time::{EndInTime as _, RunInTime as _};
use crate::common::terminal::{Terminal, put_online, started};
use crate::common::{Folder, SECRET, command, init, on};

fn application() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../apps/languages");
    folder.canonicalize().unwrap()
}

/// The library that was built with this test.
fn library() -> PathBuf {
    let library = std::env::current_exe().unwrap().with_file_name("libholdfast.so");
    assert!(library.exists(), "{} is not beside the test", library.display());
    library
}

fn header() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/program-library");
    folder.join("include").canonicalize().unwrap()
}

fn has(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output_in_time().is_ok();
    if !is_there {
        eprintln!("skipped: {program} is not installed");
    }
    is_there
}

/// A system with the database of notes, whose programs lie in these folders.
fn notes(folder: &Folder, programs: &[PathBuf]) -> PathBuf {
    let dir = folder.join("system");
    init(&dir, &[]);
    put_online(
        &dir,
        &[
            ("programs", format!("{programs:?}")),
            ("regions", "[{ classes = [1], count = 1 }]".to_owned()),
        ],
    );
    let own = |name: &str| application().join(name).display().to_string();
    on(SECRET, &["gen", "-s"], &dir, &[&own("dbd"), &own("psb")]).done();
    on(SECRET, &["define", "-s"], &dir, &[&own("notes.defs")]).done();
    dir
}

fn start(dir: &Path, java: &Path) -> (Child, String) {
    let mut command = command(Some(SECRET));
    command.env("HOLDFAST_LIBRARY", library()).env("HOLDFAST_JAVA", java);
    started(&mut command, dir)
}

fn stop(dir: &Path, mut system: Child) {
    on(SECRET, &["stop", "-s"], dir, &[]).done();
    system.wait_in_time().unwrap();
}

#[test]
fn a_script_processes_transactions_and_is_backed_out_where_it_fails() {
    if !has("python3") {
        return;
    }
    let folder = Folder::new("python");
    let python = application().join("python");
    let dir = notes(&folder, std::slice::from_ref(&python));
    let (system, address) = start(&dir, &folder.join("none"));
    let mut terminal = Terminal::at(&address, "PYTHON1");
    assert_eq!(terminal.ask("NOTEPY MILK TWO BOTTLES"), "MILK 1 TWO BOTTLES");
    assert_eq!(terminal.ask("NOTEPY MILK ONE BOTTLE"), "MILK 2 ONE BOTTLE");
    let failed = terminal.ask("NOTEPY MILK FAIL");
    assert!(failed.starts_with("DFS555I TRAN NOTEPY ABEND S000,U4038"), "{failed}");
    assert_eq!(terminal.ask("NOTEPY MILK"), "MILK 2 ONE BOTTLE");
    assert_eq!(terminal.ask("NOTEPY BREAD"), "BREAD IS NOT NOTED");

    let program = python.join("LISTPY").display().to_string();
    let batch = ["--type", "bmp", "--psb", "LISTPY", "--program", &program];
    let mut listing = command(Some(SECRET));
    listing.env("HOLDFAST_LIBRARY", library()).args(["batch", "-s"]).arg(&dir).args(batch);
    let listed = listing.output_in_time().unwrap();
    let printed = String::from_utf8_lossy(&listed.stdout);
    assert!(listed.status.success(), "{printed}{}", String::from_utf8_lossy(&listed.stderr));
    assert!(printed.contains("MILK 2 ONE BOTTLE\n"), "{printed}");
    assert!(printed.contains("the program ended with return code 0, 2 calls"), "{printed}");
    stop(&dir, system);
    // A stopped system has no one to call.
    let batch = ["--psb", "LISTPY", "--program", &program];
    on(SECRET, &["batch", "-s"], &dir, &batch).failed("HFR032", &["LISTPY", "started"]);
}

#[test]
fn a_virtual_machine_of_java_processes_transactions() {
    if !has("javac") || !has("cc") {
        return;
    }
    let folder = Folder::new("java");
    let built = folder.join("built");
    let mut build = Command::new(application().join("java/build.sh"));
    let done = build.arg(&built).arg(header()).arg(library()).output_in_time().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let dir = notes(&folder, &[application().join("java")]);
    let (system, address) = start(&dir, &built);
    let mut terminal = Terminal::at(&address, "JAVA1");
    assert_eq!(terminal.ask("NOTEJV TEA GREEN"), "TEA 1 GREEN");
    assert_eq!(terminal.ask("NOTEJV TEA BLACK"), "TEA 2 BLACK");
    let failed = terminal.ask("NOTEJV TEA FAIL");
    assert!(failed.starts_with("DFS555I TRAN NOTEJV ABEND S000,U4038"), "{failed}");
    assert_eq!(terminal.ask("NOTEJV TEA"), "TEA 2 BLACK");
    stop(&dir, system);
}

/// Reads all notes by the calls that programs on the host make.
const READER: &str = r#"
#include <stdio.h>
#include <string.h>
#include "holdfast.h"
extern int CTDLI(const char *, ...);
int main(void) {
  char area[56];
  if (hf_begin() != 0) { fprintf(stderr, "%s\n", hf_error()); return 2; }
  if (hf_begin() != 0 || hf_pcb("NOTES") != 1 || hf_pcb("NOBODY") != -1) return 3;
  char *mask = hf_mask(hf_pcb("NOTES"));
  void *list[] = {"GU  ", mask, area, "NOTE     "};
  if (mask == NULL || hf_dli(4, list) != 0 || memcmp(mask + 10, "GE", 2) != 0) return 4;
  hf_answer answer;
  hf_bytes ssa = {"NOTE     ", 9};
  memset(area, ' ', sizeof area);
  memcpy(area, "SALT    00000001", 16);
  if (hf_call("ISRT", 1, area, sizeof area, sizeof area, &ssa, 1, NULL, 0, &answer) != 0) return 5;
  if (strcmp(answer.status, "  ") != 0 || strcmp(answer.segment, "NOTE    ") != 0) return 6;
  if (answer.level != 1 || answer.key_length != 8 || memcmp(answer.key, "SALT    ", 8)) return 7;
  char shorter[8] = "";
  if (hf_call("GU", 1, shorter, 0, sizeof shorter, &ssa, 1, NULL, 0, &answer) != 0) return 8;
  if (memcmp(shorter, "SALT    ", 8) != 0 || answer.area_length != 8) return 9;
  CTDLI("GU  ", mask, area, "NOTE     ", NULL);
  if (memcmp(mask + 10, "  ", 2) != 0 || memcmp(area, "SALT", 4) != 0) return 10;
  if (hf_call("GU", 9, NULL, 0, 0, NULL, 0, NULL, 0, &answer) != -1 || !*hf_error()) return 11;
  if (hf_call("TOOLONG", 1, NULL, 0, 0, NULL, 0, NULL, 0, &answer) != -1) return 12;
  if (hf_end(0) != 0 || hf_end(1) != -1) return 13;
  return 0;
}
"#;

#[test]
fn an_executable_of_c_makes_calls_either_way_and_takes_its_work_back() {
    if !has("cc") {
        return;
    }
    let folder = Folder::new("executable-of-c");
    let dir = notes(&folder, &[]);
    let (source, program) = (folder.join("reader.c"), folder.join("READER"));
    std::fs::write(&source, READER).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-Wall", "-Werror", "-I"]).arg(header()).arg("-o").arg(&program);
    compiler.arg(&source).arg(library());
    compiler.arg(format!("-Wl,-rpath,{}", library().parent().unwrap().display()));
    let built = compiler.output_in_time().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    // By itself it is nobody's program.
    let alone = Command::new(&program).output_in_time().unwrap();
    assert_eq!(alone.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&alone.stderr).contains("HFR031"));
    let (system, _) = start(&dir, &folder.join("none"));
    let path = program.display().to_string();
    let batch = ["--type", "bmp", "--psb", "LISTPY", "--program", &path];
    // It has taken its work back, and says so; what the first run has inserted the second does not
    // find.
    for _ in 0..2 {
        let ended = on(SECRET, &["batch", "-s"], &dir, &batch);
        assert_eq!(ended.code, 1, "{}{}", ended.out, ended.err);
        assert!(ended.err.contains("abend U4038: the program says"), "{}", ended.err);
    }
    stop(&dir, system);
}
