//! What the scenarios share: the real command, folders of their own, and looking at files.
#![allow(dead_code)] // each scenario uses a part
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

pub(crate) mod in_time;
pub(crate) mod pautdb;
pub(crate) mod place;
pub(crate) mod postgres;
pub(crate) mod shop;
pub(crate) mod terminal;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use in_time::EndInTime as _;
pub(crate) use in_time::first_line;

/// The passphrase of the systems that scenarios make themselves.
pub(crate) const SECRET: &str = "correct horse battery staple";
/// The passphrase of systems that `demo` makes.
pub(crate) const DEMO: &str = "demo";

/// A folder that goes away with the scenario.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("holdfast-test-{name}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// How a command ended.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    pub(crate) fn of(output: &Output) -> Ended {
        Ended {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// It ended well.
    #[track_caller]
    pub(crate) fn done(self) -> Ended {
        assert_eq!(self.code, 0, "out: {}\nerr: {}", self.out, self.err);
        self
    }

    /// It failed, and its error has this code and mentions all of these.
    #[track_caller]
    pub(crate) fn failed(self, code: &str, words: &[&str]) -> Ended {
        assert_eq!(self.code, 1, "out: {}\nerr: {}", self.out, self.err);
        assert!(self.err.contains(&format!("({code})")), "{code} expected in: {}", self.err);
        for word in words {
            assert!(self.err.contains(word), "\"{word}\" expected in: {}", self.err);
        }
        // An error says what to do: a second line.
        assert!(self.err.trim().lines().count() >= 2, "no remedy: {}", self.err);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|e| panic!("{e}: {}\n{}", self.out, self.err))
    }
}

/// The command with a passphrase in its environment.
pub(crate) fn command(passphrase: Option<&str>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdfast"));
    command.env_remove("HOLDFAST_PASSPHRASE").env_remove("HOLDFAST_NEW_PASSPHRASE");
    // Scenarios are also run in the background, by `nohup`, and send signals all the same.
    seam::process::heed_signals(&mut command);
    command.stdin(Stdio::null());
    if let Some(passphrase) = passphrase {
        command.env("HOLDFAST_PASSPHRASE", passphrase);
    }
    command
}

pub(crate) fn run_as<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(
    passphrase: &str,
    args: I,
) -> Ended {
    run_within(passphrase, args, in_time::LONG)
}

/// The same for a command that may take long.
pub(crate) fn run_within<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(
    passphrase: &str,
    args: I,
    limit: Duration,
) -> Ended {
    let output = seam::process::output(command(Some(passphrase)).args(args), limit);
    Ended::of(&output.unwrap())
}

pub(crate) fn run<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(args: I) -> Ended {
    run_as(SECRET, args)
}

/// Makes a small system quickly.
pub(crate) fn init(dir: &Path, more: &[&str]) -> Ended {
    let small = ["--segment-bytes", "1 MiB", "--guess-memory", "64 KiB", "--guess-passes", "1"];
    let mut args: Vec<&OsStr> = vec!["init".as_ref(), dir.as_ref()];
    args.extend(small.iter().chain(more).map(OsStr::new));
    let ended = run(args).done();
    // Every start takes the pools' memory, which is most of what a command costs otherwise.
    let (config, size) = (dir.join("holdfast.toml"), "\nbytes = \"");
    let text = fs::read_to_string(&config).unwrap();
    let text = text.replace(&format!("{size}256 MiB"), &format!("{size}16 MiB"));
    let text = text.replace(&format!("{size}64 MiB"), &format!("{size}4 MiB"));
    // How full the device of the tests is must change nothing.
    fs::write(config, text.replace("[warn]\n", "[warn]\ndevice_free_percent = 0\n")).unwrap();
    ended
}

/// A small system that knows some definitions; `settings` are added to its own.
pub(crate) fn system_of(test: &str, sources: &str, settings: &str) -> (Folder, PathBuf) {
    let folder = Folder::new(test);
    let dir = folder.join("system");
    init(&dir, &[]);
    let config = dir.join("holdfast.toml");
    let text = fs::read_to_string(&config).unwrap() + settings;
    fs::write(&config, text).unwrap();
    let path = folder.join("sources");
    fs::write(&path, sources).unwrap();
    on(SECRET, &["gen", "-s"], &dir, &[path.to_str().unwrap()]).done();
    (folder, dir)
}

/// A subcommand with a folder behind it, and then the rest.
pub(crate) fn on(passphrase: &str, words: &[&str], dir: &Path, rest: &[&str]) -> Ended {
    let mut args: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
    args.push(dir.as_ref());
    args.extend(rest.iter().map(OsStr::new));
    run_as(passphrase, args)
}

/// Starts a system that scenarios make, for programs, and waits until it says so.
pub(crate) fn start(dir: &Path) -> Child {
    let mut command = command(Some(SECRET));
    command.arg("start").arg("-s").arg(dir).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let line = first_line(&mut child);
    assert!(line.contains("started"), "{line}");
    child
}

/// Issues the calls on control statements in a system that scenarios make.
pub(crate) fn issue(dir: &Path, rest: &[&str], cards: &str) -> Ended {
    let mut command = command(Some(SECRET));
    command.arg("dltest").arg("-s").arg(dir).args(rest);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // Somebody must read what it says meanwhile.
        let writer = scope.spawn(move || stdin.write_all(cards.as_bytes()));
        let ended = Ended::of(&child.finish_in_time().unwrap());
        // One that refuses its arguments reads nothing.
        let _ = writer.join().unwrap();
        ended
    })
}

/// A system with a bank in it, stopped in order. Answers its folder.
pub(crate) fn bank(folder: &Folder, more: &[&str]) -> PathBuf {
    let base = folder.join("demo");
    let mut args: Vec<&OsStr> = vec!["demo".as_ref(), "--dir".as_ref(), base.as_ref()];
    // So few that its log stays within the first segment, however fast the machine is.
    let few = ["--accounts", "3000", "--transfers", "2000", "--kills", "0", "--no-comparison"];
    args.extend(few.iter().chain(more).map(OsStr::new));
    run(args).done();
    base.join("bank")
}

/// A process that works on the bank.
pub(crate) struct Worker {
    pub(crate) child: Child,
    pub(crate) stdin: Option<ChildStdin>,
}

impl Worker {
    /// Starts it and waits until it says how it is.
    pub(crate) fn start(dir: &Path, run: u32) -> Worker {
        Worker::begin(dir, &["--run", &run.to_string()], 100)
    }

    /// One that makes so many transfers.
    pub(crate) fn for_some(dir: &Path, transfers: u64) -> Worker {
        let max = transfers.to_string();
        Worker::begin(dir, &["--run", "8", "--transfers", &max], transfers)
    }

    /// One that has the system open and does nothing.
    pub(crate) fn idle(dir: &Path) -> Worker {
        Worker::begin(dir, &["--run", "1", "--threads", "0"], 0)
    }

    /// Starts it and waits for so many commits.
    fn begin(dir: &Path, more: &[&str], commits: u64) -> Worker {
        let mut command = command(None);
        command.arg("demo-worker").arg(dir).args(["--accounts", "3000"]).args(more);
        let worker = Worker::start_command(command);
        let begun = Instant::now();
        loop {
            let status = on(DEMO, &["status", "--json"], dir, &[]);
            if status.code == 0 && status.json()["units"]["commits"].as_u64() >= Some(commits) {
                return worker;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{}{}", status.out, status.err);
            pause(20);
        }
    }

    pub(crate) fn start_command(mut command: Command) -> Worker {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let _ = stdin.write_all(format!("{DEMO}\n").as_bytes());
        // Somebody must read what it says, or it would wait.
        let mut stdout = child.stdout.take().unwrap();
        drain(move || {
            let mut buffer = [0; 4096];
            while stdout.read(&mut buffer).is_ok_and(|count| count > 0) {}
        });
        Worker { child, stdin: Some(stdin) }
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait_in_time().unwrap();
    }

    pub(crate) fn finish(&mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait_in_time().unwrap().success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait_in_time();
    }
}

fn drain(body: impl FnOnce() + Send + 'static) {
    std::thread::spawn(body);
}

pub(crate) fn pause(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}

/// Every file below a folder with its bytes, sockets and the lock left out.
pub(crate) fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(files(&entry.path()));
        } else if kind.is_file() && entry.file_name() != "lock" {
            found.insert(entry.path(), fs::read(entry.path()).unwrap());
        }
    }
    found
}

/// Changes bytes of a file in place.
pub(crate) fn patch(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// The one file of a data set.
pub(crate) fn data_file(dir: &Path, set: &str) -> PathBuf {
    let names = fs::read_dir(dir.join("data")).unwrap();
    let mut paths = names.map(|entry| entry.unwrap().path());
    let is_wanted = |path: &PathBuf| {
        path.file_name().unwrap().to_string_lossy().starts_with(&format!("{set}."))
    };
    paths.find(is_wanted).unwrap()
}

/// The findings of a verification that must have failed, or not.
#[track_caller]
pub(crate) fn findings(dir: &Path) -> Vec<Value> {
    let before = files(dir);
    let ended = on(DEMO, &["verify", "--json"], dir, &[]);
    assert_eq!(files(dir), before, "verify changes nothing");
    let report = ended.json();
    let findings = report["findings"].as_array().unwrap().clone();
    assert_eq!(ended.code, i32::from(!findings.is_empty()), "{}", ended.err);
    findings
}

/// Whether a finding is about this file.
pub(crate) fn is_about(finding: &Value, path: &Path) -> bool {
    finding["file"].as_str().is_some_and(|file| Path::new(file) == path)
}

/// The names under which a small file grows before it takes the place of the one of that name.
pub(crate) fn hidden_names(name: &str) -> Vec<String> {
    let numbers = (1..100).map(|number| format!(".{number}"));
    let all = std::iter::once(String::new()).chain(numbers);
    all.map(|number| format!(".{name}.holdfast{number}.part")).collect()
}
