//! Devices that are full.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::stage::{LONG, Stage, With, library};

/// Runs `fill.cbl` on a file that may have 8 KiB.
fn fill(stage: &Stage, path: &str, records: usize, closes: bool) -> (String, String, bool) {
    let program = stage.compile("fill", With::Library);
    let limit = format!("trap '' XFSZ; ulimit -f 8; exec {}", program.display());
    let mut shell = Command::new("bash");
    shell.args(["-c", &limit]).env("LD_LIBRARY_PATH", library()).env("DD_LFILE", path);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = shell.spawn().expect("a shell");
    let closes = if closes { 'Y' } else { 'N' };
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(format!("{records}\n{closes}\n").as_bytes()).expect("the program reads it");
    drop(input);
    let output = seam::process::finish(child, LONG).expect("it ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.success())
}

#[test]
fn a_full_device_is_told_at_the_write_or_at_the_close_and_never_forgotten() {
    let stage = Stage::new("full");
    let path = stage.path("LFILE").display().to_string();
    let (printed, ..) = fill(&stage, &path, 10, true);
    assert_eq!(printed, "OPEN 00\nCLOSE 00\n");
    assert_eq!(stage.bytes("LFILE").len(), 1010);
    // More than there is room for, but less than a buffer: CLOSE says it.
    let (printed, ..) = fill(&stage, &path, 200, true);
    assert_eq!(printed, "OPEN 00\nCLOSE 34\n");
    // More than a buffer: the WRITE that comes to it does, and the CLOSE again.
    let (printed, ..) = fill(&stage, &path, 5000, true);
    assert_eq!(printed, "OPEN 00\nWRITE 34\nCLOSE 34\n");
}

#[test]
fn what_a_program_leaves_open_is_written_at_its_end_or_the_program_fails() {
    let stage = Stage::new("left");
    let path = stage.path("LFILE").display().to_string();
    let (printed, errors, well) = fill(&stage, &path, 10, false);
    assert!(well, "{errors}");
    assert_eq!((printed.as_str(), stage.bytes("LFILE").len()), ("OPEN 00\n", 1010));
    let (printed, errors, well) = fill(&stage, &path, 200, false);
    assert_eq!(printed, "OPEN 00\n");
    assert!(!well && errors.contains("LFILE was not closed") && errors.contains("34"), "{errors}");
}

#[test]
fn a_device_that_is_always_full_takes_no_record() {
    let stage = Stage::new("dev-full");
    let (printed, ..) = fill(&stage, "/dev/full", 10, true);
    assert_eq!(printed, "OPEN 00\nWRITE 34\nCLOSE 34\n");
}
