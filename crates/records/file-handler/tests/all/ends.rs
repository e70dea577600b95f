//! What is written behind the end of a file, and what is not written for want of room.
#![allow(clippy::unwrap_used)] // a test that fails says where

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use file_handler::Handler;
use file_handler::fcd::{Access, Organization};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::program::{
    CLOSE, DELETE, File, NEXT, Names, OPEN_EXTEND, OPEN_INPUT, OPEN_IO, OPEN_OUTPUT, Program, READ,
    REWRITE, WRITE,
};

/// A file, and a program that has it as FILE.
struct Stage {
    path: PathBuf,
    program: Program,
}

impl Stage {
    fn new(form: &str, settings: &[(&str, &str)]) -> Stage {
        static NEXT_STAGE: AtomicU32 = AtomicU32::new(0);
        let number = NEXT_STAGE.fetch_add(1, Relaxed);
        let name = format!("holdfast-ends-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut names = Names::default();
        names.0.insert("DD_FILE".into(), format!("{}{form}", path.display()));
        names.0.extend(settings.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        Stage { path, program: Program { handler: Handler::new(Box::new(names), None) } }
    }

    fn write(&self, bytes: &[u8]) {
        std::fs::write(&self.path, bytes).unwrap();
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).unwrap()
    }

    /// Opens the file, writes a record, closes it; answers the three statuses.
    fn add(&mut self, file: &mut File, open: u8, text: &str) -> [String; 3] {
        let p = &mut self.program;
        file.fcd.set_record_bytes(text.len() as u32);
        [file.ask(p, open), file.record(text).ask(p, WRITE), file.ask(p, CLOSE)]
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn sequential(least: u32, most: u32) -> File {
    let mut file = File::new("FILE", Organization::Sequential, Access::Sequential, most);
    file.fcd.set_record_limits(least, most);
    file
}

fn lines(most: u32) -> File {
    let mut file = File::new("FILE", Organization::LineSequential, Access::Sequential, most);
    file.fcd.set_record_limits(0, most);
    file
}

/// A file that ends behind a record, and the same with a part of one more.
type Ends = (&'static [u8], &'static [u8]);

#[test]
fn nothing_is_written_behind_a_part_of_a_record() {
    let fixed: Ends = (b"AAAAAAAAAA", b"AAAAAAAAAABBBB");
    let cases: [(u32, &str, &str, Ends); 6] = [
        (10, "", "", fixed),
        (1, "", "0", (b"\0\x03\0\0abc", b"\0\x03\0\0abc\0\x05\0\0ab")),
        (1, "", "1", (b"\0\0\0\x03abc", b"\0\0\0\x03abc\0\0")),
        (1, "", "2", (b"\x03\0\0\0abc", b"\x03\0\0\0abc\x09\0\0\0a")),
        (1, "", "3", (b"\0\x03abc", b"\0\x03abc\0\x04abc")),
        // A word that counts less than itself is none.
        (1, ",rdw", "", (b"\0\x07\0\0abc", b"\0\x07\0\0abc\0\x03\0\0")),
    ];
    for (least, form, number, (whole, cut)) in cases {
        for (form, open) in [(form.to_owned(), OPEN_EXTEND), (format!("{form},mod"), OPEN_OUTPUT)] {
            let output_text = format!("{form} {number} {open}");
            let mut stage = Stage::new(&form, &[("COB_VARSEQ_FORMAT", number)]);
            let mut file = sequential(least, 10);
            stage.write(cut);
            assert_eq!(
                stage.add(&mut file, open, "0123456789"),
                ["30", "48", "42"],
                "{output_text}"
            );
            assert_eq!(stage.bytes(), cut, "{output_text}");
            stage.write(whole);
            assert_eq!(
                stage.add(&mut file, open, "0123456789"),
                ["00", "00", "00"],
                "{output_text}"
            );
            let bytes = stage.bytes();
            assert!(bytes.starts_with(whole) && bytes.ends_with(b"0123456789"), "{output_text}");
            assert!(stage.add(&mut file, open, "Y").starts_with(&["00".into()]), "{output_text}");
        }
    }
}

#[test]
fn blocks_of_records_have_words_of_their_own() {
    let mut stage = Stage::new(",bdw", &[]);
    let mut file = sequential(1, 20_000);
    let p = &mut stage.program;
    let records: Vec<String> =
        [3, 20_000, 1, 19_000, 5].iter().map(|bytes| "x".repeat(*bytes)).collect();
    for (open, part) in [(OPEN_OUTPUT, &records[..4]), (OPEN_EXTEND, &records[4..])] {
        assert_eq!(file.ask(p, open), "00");
        for record in part {
            file.fcd.set_record_bytes(record.len() as u32);
            assert_eq!(file.record(record).ask(p, WRITE), "00");
        }
        assert_eq!(file.ask(p, CLOSE), "00");
    }
    let bytes = std::fs::read(&stage.path).unwrap();
    // The word, and three records with theirs; then one; then what was added.
    let (first, second, third) = (4 + 7 + 20_004 + 5, 4 + 19_004, 4 + 9);
    assert_eq!(bytes.len(), first + second + third);
    for (at, bytes_of_block) in [(0, first), (first, second), (first + second, third)] {
        let word = [&(bytes_of_block as u16).to_be_bytes()[..], &[0, 0]].concat();
        assert_eq!(bytes[at..at + 4], word);
    }
    assert_eq!(file.ask(p, OPEN_IO), "00");
    for record in &records {
        assert_eq!(file.ask(p, NEXT), "00");
        assert_eq!(file.memory.record[..record.len()], *record.as_bytes());
    }
    // The last one is replaced where it stands.
    file.fcd.set_record_bytes(5);
    assert_eq!(file.record("again").ask(p, REWRITE), "00");
    assert_eq!(file.ask(p, NEXT), "10");
    assert_eq!(file.ask(p, CLOSE), "00");
    assert!(stage.bytes().ends_with(b"\0\x09\0\0again"));
    // A block that is cut between two of its records, a record beyond its block, no word.
    let mut file = sequential(1, 10);
    for cut in [&b"\0\x0e\0\0\0\x05\0\0a"[..], b"\0\x08\0\0\0\x05\0\0a", b"\0\x05\0\0a", b"\0\x09"]
    {
        stage.write(cut);
        assert_eq!(stage.add(&mut file, OPEN_EXTEND, "new")[0], "30", "{cut:?}");
        let p = &mut stage.program;
        assert_eq!(file.ask(p, OPEN_INPUT), "00");
        let read = [file.ask(p, NEXT), file.ask(p, NEXT)];
        assert!(read.contains(&"30".into()), "{cut:?}: {read:?}");
        assert_eq!(file.ask(p, CLOSE), "00");
    }
}

#[test]
fn a_disk_that_is_no_reel_is_told_at_open_without_rewind() {
    let mut stage = Stage::new("", &[]);
    let (p, mut file) = (&mut stage.program, sequential(10, 10));
    for (code, status) in [(0x05, "07"), (0x04, "07"), (0x08, "00"), (OPEN_INPUT, "00")] {
        assert_eq!(file.ask(p, code), status, "{code}");
        assert_eq!(file.ask(p, CLOSE), "00");
    }
}

#[test]
fn a_printed_file_is_extended_behind_the_last_whole_record() {
    let mut stage = Stage::new("", &[]);
    let mut file = sequential(10, 10);
    let printed = b"\x0cAAAAAAAAAA\n\n\nBBBBBBBBBB\n";
    stage.write(printed);
    assert_eq!(stage.add(&mut file, OPEN_EXTEND, "CCCCCCCCCC"), ["00", "00", "00"]);
    assert_eq!(stage.bytes(), [&printed[..], b"CCCCCCCCCC"].concat());
    stage.write(&printed[..19]);
    assert_eq!(stage.add(&mut file, OPEN_EXTEND, "CCCCCCCCCC")[0], "30");
}

#[test]
fn a_line_without_an_end_stays_a_line_of_its_own() {
    let cases: [(&str, &[u8], &[u8]); 5] = [
        ("", b"one\ntwo", b"one\ntwo\nnew\n"),
        ("", b"one\n", b"one\nnew\n"),
        ("", b"", b"new\n"),
        ("", b"one\x0c", b"one\x0cnew\n"),
        // The end of line is a character of the record.
        ("COB_LS_NULLS", b"one\0\n", b"one\0\n\nnew\n"),
    ];
    for (setting, before, after) in cases {
        let mut stage = Stage::new("", &[(setting, "1")]);
        stage.write(before);
        assert_eq!(stage.add(&mut lines(10), OPEN_EXTEND, "new"), ["00", "00", "00"]);
        assert_eq!(stage.bytes(), after, "{before:?}");
    }
    // What was opened and not written stays as it is.
    let mut stage = Stage::new("", &[]);
    stage.write(b"one");
    let mut file = lines(10);
    assert_eq!(file.ask(&mut stage.program, OPEN_EXTEND), "00");
    assert_eq!(file.ask(&mut stage.program, CLOSE), "00");
    assert_eq!(stage.bytes(), b"one");
    let mut stage = Stage::new("", &[("COB_LS_NULLS", "1")]);
    stage.write(b"one\0\0\0");
    assert_eq!(stage.add(&mut lines(10), OPEN_EXTEND, "new")[0], "30");
    assert_eq!(stage.bytes(), b"one\0\0\0");
    stage.write(b"one\0\0");
    assert_eq!(stage.add(&mut lines(10), OPEN_EXTEND, "new")[0], "00");
    assert_eq!(stage.bytes(), b"one\0\0\nnew\n");
}

/// Says to a test that it is the process of its own that a limit needs.
const ALONE: &str = "HOLDFAST_TEST_ALONE";

/// Runs a test in a process of its own, where no signal comes of a file that is too long. Whether
/// this is that process.
fn is_alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut shell = Command::new("bash");
    shell.args(["-c", "trap '' XFSZ; exec \"$0\" --exact \"$1\" --nocapture"]);
    shell.arg(std::env::current_exe().unwrap()).arg(test).env(ALONE, "1");
    let output = seam::process::output(&mut shell, Duration::from_secs(600)).unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output_text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output_text.contains("1 passed"), "{output_text}");
    false
}

/// How long files may become.
fn limit(bytes: Option<u64>) {
    let now = getrlimit(Resource::Fsize);
    let limit = Rlimit { current: bytes.or(now.maximum), maximum: now.maximum };
    setrlimit(Resource::Fsize, limit).unwrap();
}

fn text(number: u32) -> String {
    let text = format!("{number:08}");
    format!("{text}{}", "x".repeat(1000 - text.len()))
}

#[test]
fn a_record_without_room_that_is_written_again_is_there_once() {
    if !is_alone("ends::a_record_without_room_that_is_written_again_is_there_once") {
        return;
    }
    // Within the first buffer, the second, and within the record that is refused.
    for most in [30_500, 65_900, 70_500, 131_500] {
        for (form, mut file) in [
            ("", sequential(1000, 1000)),
            (",rdw", sequential(1, 1000)),
            ("", lines(1000)),
            (",bdw", sequential(1, 1000)),
        ] {
            let mut stage = Stage::new(form, &[]);
            let p = &mut stage.program;
            file.fcd.set_record_bytes(1000);
            assert_eq!(file.ask(p, OPEN_OUTPUT), "00");
            limit(Some(most));
            let (mut number, mut refused) = (0, 0);
            while number < 200 {
                match &*file.record(&text(number)).ask(p, WRITE) {
                    "00" => number += 1,
                    status => {
                        assert_eq!(status, "34");
                        // It is tried at once, and refused, until there is room.
                        assert_eq!(file.record(&text(number)).ask(p, WRITE), "34");
                        refused += 1;
                        limit(None);
                    }
                }
            }
            limit(None);
            assert_eq!(refused, 1);
            assert_eq!(file.ask(p, CLOSE), "00");
            assert_eq!(file.ask(p, OPEN_INPUT), "00");
            for number in 0..200 {
                assert_eq!(file.ask(p, NEXT), "00", "{most} {form} {number}");
                assert_eq!(file.text(), text(number), "{most} {form}");
            }
            assert_eq!(file.ask(p, NEXT), "10");
            assert_eq!(file.ask(p, CLOSE), "00");
        }
    }
}

#[test]
fn a_slot_or_a_record_without_room_is_as_it_was_before() {
    if !is_alone("ends::a_slot_or_a_record_without_room_is_as_it_was_before") {
        return;
    }
    let mut stage = Stage::new("", &[]);
    let mut file = File::new("FILE", Organization::Relative, Access::Dynamic, 1000);
    let p = &mut stage.program;
    assert_eq!(file.ask(p, OPEN_OUTPUT), "00");
    for number in 1..=10 {
        assert_eq!(file.number(number).record(&text(number as u32)).ask(p, WRITE), "00");
    }
    assert_eq!(file.ask(p, CLOSE), "00");
    let whole = std::fs::read(&stage.path).unwrap();
    assert_eq!(file.ask(p, OPEN_IO), "00");
    // Within slot 11, 13, and 5, each of 1008 bytes.
    for (number, most, code) in
        [(11, 10_500, WRITE), (13, 12_500, WRITE), (5, 4_500, REWRITE), (5, 4_036, DELETE)]
    {
        limit(Some(most));
        assert_eq!(file.number(number).record("new").ask(p, code), "34", "{number}");
        limit(None);
        assert!(std::fs::read(&stage.path).unwrap() == whole, "{number}");
    }
    assert_eq!(file.number(5).ask(p, READ), "00");
    assert_eq!(file.text(), text(5));
    assert_eq!(file.number(11).record("new").ask(p, WRITE), "00");
    assert_eq!(file.ask(p, CLOSE), "00");

    let mut stage = Stage::new("", &[]);
    let (p, mut file) = (&mut stage.program, sequential(1000, 1000));
    let whole = [text(1), text(2)].concat();
    std::fs::write(&stage.path, &whole).unwrap();
    assert_eq!(file.ask(p, OPEN_IO), "00");
    assert_eq!(file.ask(p, NEXT), "00");
    assert_eq!(file.ask(p, NEXT), "00");
    limit(Some(1500));
    assert_eq!(file.record("new").ask(p, REWRITE), "34");
    limit(None);
    assert!(std::fs::read(&stage.path).unwrap() == whole.as_bytes());
}
