//! A folder to work in, and programs that get their input and give everything back.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // the same as in the tests
#![allow(dead_code)] // each test uses a part

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// A folder, gone with the test.
pub(crate) struct Place(pub(crate) PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Place {
        let folder = std::env::temp_dir().join(format!("hf-sop-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Place(folder)
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.join(name), bytes).unwrap();
    }

    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// Runs a program in the folder.
    pub(crate) fn run(&self, program: &str, words: &[&str], input: &[u8]) -> Output {
        let mut command = Command::new(program);
        command.current_dir(&self.0).args(words).env("SECRET", "a secret word");
        finish(&mut command, input)
    }

    /// Runs `holdfast-sop`.
    pub(crate) fn sop(&self, words: &[&str], input: &[u8]) -> Output {
        self.run(OURS, words, input)
    }

    /// Runs a program that has to work.
    pub(crate) fn works_in(&self, program: &str, words: &[&str], input: &[u8]) -> Vec<u8> {
        let output = self.run(program, words, input);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {words:?}: {printed}");
        output.stdout
    }

    /// Runs `holdfast-sop`, which has to work.
    pub(crate) fn works(&self, words: &[&str], input: &[u8]) -> Vec<u8> {
        self.works_in(OURS, words, input)
    }

    /// Runs `holdfast-sop`, which has to end with this code and to give nothing out.
    pub(crate) fn fails(&self, words: &[&str], input: &[u8], code: i32) {
        let output = self.sop(words, input);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {printed}");
        assert!(output.stdout.is_empty(), "{words:?} gave something out");
        assert!(!printed.is_empty() && !printed.contains("a secret word"), "{words:?}: {printed}");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) const OURS: &str = env!("CARGO_BIN_EXE_holdfast-sop");

/// Longer than any program of a test takes on any machine.
pub(crate) const LONG: Duration = Duration::from_secs(600);

/// Runs a command with this input.
pub(crate) fn finish(command: &mut Command, input: &[u8]) -> Output {
    seam::process::heed_signals(command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // A program may answer, or refuse, before it has read everything.
    let feeding = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = seam::process::finish(child, LONG).expect("the program ends");
    feeding.join().expect("the input goes in");
    output
}
