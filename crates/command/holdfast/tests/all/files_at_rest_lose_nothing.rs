//! `holdfast pgp` where something goes wrong around it: a disk that is full, a reader that goes
//! away, a signal, another command on the same key ring.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at files from outside

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use crate::common::in_time::{EndInTime as _, RunInTime as _};

const HOLDFAST: &str = env!("CARGO_BIN_EXE_holdfast");

/// A folder with a key ring in it, gone with the test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let folder = std::env::temp_dir().join(format!("hf-rest-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let place = Place(folder);
        place.works("holdfast pgp generate --alias me --no-passphrase 'Ada <ada@example.org>'");
        place
    }

    fn command(&self, script: &str) -> Command {
        let mut command = Command::new("bash");
        seam::process::heed_signals(&mut command);
        command.current_dir(&self.0).arg("-c");
        command.arg(script.replace("holdfast ", &format!("{HOLDFAST} ")));
        command.env("HOLDFAST_PGP_HOME", self.0.join("ring"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, script: &str) -> Output {
        self.command(script).output_in_time().unwrap()
    }

    fn works(&self, script: &str) -> Vec<u8> {
        let output = self.run(script);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}: {printed}");
        output.stdout
    }

    /// Runs what has to fail, and leave the folder as it is.
    fn fails(&self, script: &str, code: i32, word: &str) {
        let before = self.names();
        let output = self.run(script);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{script}: {printed}");
        assert!(printed.contains(word), "{script}: {printed}");
        assert_eq!(self.names(), before, "{script}");
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_full_disk_loses_nothing_and_leaves_nothing() {
    let place = Place::new("full");
    fs::write(place.0.join("pay"), vec![3; 3_000_000]).unwrap();
    // A limit on the size of files stands for a device without room.
    let limited = "ulimit -f 64; trap '' XFSZ;";
    for stages in ["on", "off"] {
        let options = format!("-r me --compress none --async-io {stages} --async-cipher {stages}");
        place.fails(&format!("{limited} holdfast pgp encrypt {options} pay"), 1, "too large");
    }
    place.works("holdfast pgp encrypt -r me --compress none pay");
    let message = fs::read(place.0.join("pay.pgp")).unwrap();
    place.fails(&format!("{limited} holdfast pgp encrypt --yes -r me --compress none pay"), 1, "");
    assert!(fs::read(place.0.join("pay.pgp")).unwrap() == message, "the old file stands");
    place.fails(&format!("{limited} holdfast pgp decrypt -o again pay.pgp"), 1, "too large");
    place.fails("holdfast pgp decrypt -o - pay.pgp >/dev/full", 1, "No space left");
    for options in ["", "--unverified-stream"] {
        let closed = format!("holdfast pgp decrypt {options} -o - pay.pgp >&-");
        place.fails(&closed, 1, "standard output was closed");
    }
    place.works("holdfast pgp decrypt -o again pay.pgp && cmp pay again");
}

#[test]
fn a_reader_that_goes_away_ends_the_command_and_leaves_nothing() {
    let place = Place::new("pipe");
    fs::write(place.0.join("pay"), vec![3; 20_000_000]).unwrap();
    place.works("holdfast pgp encrypt -r me --compress none pay");
    let before = place.names();
    for option in ["", "--unverified-stream"] {
        let script = format!("holdfast pgp decrypt {option} -o - pay.pgp 2>said | head -c 5");
        assert_eq!(place.works(&script), [3; 5]);
        fs::remove_file(place.0.join("said")).unwrap();
        assert_eq!(place.names(), before);
    }
}

#[test]
fn what_streams_unverified_says_so_and_still_ends_with_an_error() {
    let place = Place::new("stream");
    fs::write(place.0.join("pay"), vec![3; 3_000_000]).unwrap();
    place.works("holdfast pgp encrypt -r me --compress none pay");
    let mut message = fs::read(place.0.join("pay.pgp")).unwrap();
    let last = message.len() - 30;
    message[last] ^= 1;
    fs::write(place.0.join("bad.pgp"), &message).unwrap();
    place.fails("holdfast pgp decrypt -o bad bad.pgp", 3, "damaged");
    let output = place.run("holdfast pgp decrypt -o - bad.pgp");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0));
    let output = place.run("holdfast pgp decrypt --unverified-stream -o - bad.pgp");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("before it has been checked"), "{printed}");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_signal_leaves_no_file_behind() {
    let place = Place::new("signal");
    let before = place.names();
    for (signal, code) in [("INT", Some(130)), ("TERM", Some(143)), ("KILL", None)] {
        let mut command = place.command("exec holdfast pgp encrypt -r me -o out");
        let mut child: Child = command.stdin(Stdio::piped()).spawn().unwrap();
        // More than a pipe holds: once it is taken, the command is at work.
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&[1; 1_000_000]).unwrap();
        assert_eq!(place.names(), before, "while it works");
        let id = child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-s", signal, &id])
                .output_in_time()
                .unwrap()
                .status
                .success()
        );
        assert_eq!(child.wait_in_time().unwrap().code(), code);
        assert_eq!(place.names(), before, "after {signal}");
    }
}

#[test]
fn what_a_killed_command_left_goes_with_the_next_one() {
    let place = Place::new("left");
    fs::write(place.0.join("pay"), b"pay of May").unwrap();
    place.works("holdfast pgp encrypt -r me pay");
    let before = place.names();
    fs::write(place.0.join(".pay.pgp.holdfast.part"), b"half of it").unwrap();
    let others = place.0.join(".pay.pgp.part");
    fs::write(&others, b"of another program").unwrap();
    place.works("holdfast pgp encrypt --yes -r me pay");
    fs::remove_file(others).unwrap();
    assert_eq!(place.names(), before);
    place.works("holdfast pgp decrypt -o again pay.pgp && cmp pay again");
}

#[test]
fn commands_at_once_on_one_key_ring_lose_nothing_of_each_other() {
    let place = Place::new("ring");
    let mut scripts = Vec::new();
    for number in 0..12 {
        scripts.push(format!("holdfast pgp generate --alias k{number} --no-passphrase K{number}"));
        scripts.push(format!("holdfast pgp alias name{number} me"));
    }
    let children: Vec<Child> =
        scripts.iter().map(|script| place.command(script).spawn().unwrap()).collect();
    for child in children {
        let output = child.finish_in_time().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let list = String::from_utf8(place.works("holdfast pgp list --json")).unwrap();
    for number in 0..12 {
        for name in [format!("\"k{number}\""), format!("\"name{number}\"")] {
            assert!(list.contains(&name), "{name} is lost: {list}");
        }
    }
}

#[test]
fn output_goes_where_links_lead_and_never_in_place_of_a_device() {
    let place = Place::new("links");
    fs::write(place.0.join("pay"), b"at rest").unwrap();
    place.works("touch real; chmod 640 real; ln -s real link; ln -s nothing dangling");
    place.works("holdfast pgp encrypt -r me --yes -o link pay && test -L link");
    place.works("holdfast pgp decrypt -o - real | cmp - pay");
    place.works("test $(stat -c %a real) = 640");
    place.works("holdfast pgp encrypt -r me -o dangling pay && test -f nothing -a -L dangling");
    // What this process has open is written to, also by a link.
    place.works("ln -s /proc/self/fd/1 out; echo before > all");
    place.works("holdfast pgp decrypt -o out real >> all && test -L out");
    assert_eq!(fs::read(place.0.join("all")).unwrap(), b"before\nat rest");
    place.works("mkfifo pipe; echo RSA=me > cards");
    let step = "holdfast pgp csdfilen --dd SYSUT1=pay --dd SYSIN=cards --dd SYSUT2=o";
    let report = place.works(&format!("cat pipe & {step} --dd SYSPRINT=pipe; wait; test -p pipe"));
    assert!(String::from_utf8_lossy(&report).contains("result"));
    let report = place.works(&format!("{step} --dd SYSPRINT=/dev/stdout | cat"));
    assert!(String::from_utf8_lossy(&report).contains("result"));
}

#[test]
fn odd_names_and_a_deaf_standard_error_stop_nothing() {
    let place = Place::new("odd");
    place.works("echo one > $'bad\\xffname'; echo two > other");
    place.works("holdfast pgp encrypt -r me $'bad\\xffname' other");
    place.works("holdfast pgp --json decrypt --yes $'bad\\xffname.pgp' other.pgp");
    place.works("holdfast pgp sign --with me -o signed other");
    place.works("holdfast pgp verify --stats signed 2> /dev/full");
    place.works("holdfast pgp decrypt -o no other 2> /dev/full; test $? = 6 -a ! -e no");
}

#[test]
fn signals_that_are_to_be_ignored_end_nothing() {
    let place = Place::new("nohup");
    place.works("mkfifo in");
    let begin = "(trap '' HUP; exec holdfast pgp encrypt -r me -o out in) & pid=$!; exec 3> in;";
    place.works(&format!("{begin} kill -HUP $pid; echo data >&3; exec 3>&-; wait $pid"));
    assert!(place.0.join("out").is_file());
    let begin = begin.replace("trap '' HUP;", "").replace("-o out", "-o no");
    place.works(&format!("{begin} kill -HUP $pid; wait $pid; test $? = 129 -a ! -e no"));
}

/// The story: with standard output closed, what should have gone there was lost, and all was well.
#[test]
fn whoever_closes_standard_output_is_told_that_nothing_went_there() {
    let place = Place::new("closed");
    fs::write(place.0.join("pay"), vec![3; 300_000]).unwrap();
    for words in [
        "export me",
        "export me --secret --armor",
        "sign --with me -o - pay",
        "sign --detached --with me -o - pay",
        "encrypt -r me -o - pay",
        "encrypt -r me <pay",
        "compress -o - pay",
    ] {
        place.fails(&format!("holdfast pgp {words} >&-"), 1, "standard output was closed");
    }
}
