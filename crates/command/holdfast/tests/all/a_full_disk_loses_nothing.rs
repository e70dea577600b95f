//! A disk that is full: making a system fails cleanly, a running one tells who cannot grow,
//! everything can still be read and freed, what a program displays is not lost unseen, and
//! everything that was acknowledged is there once there is room again.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::in_time::{EndInTime as _, RunInTime as _};
use crate::common::shop::SHOP;
use crate::common::{DEMO, Ended, Folder, SECRET, Worker, bank, findings, issue, on, pause};

/// The command under a limit on the length of files: the nearest thing to a full disk that needs
/// no privileges. The signal that comes with it is ignored, so that writes fail instead.
fn limited(kib: u64, passphrase: Option<&str>, args: &[&std::ffi::OsStr]) -> Command {
    let mut command = Command::new("bash");
    let script = format!("trap '' XFSZ; ulimit -f {kib}; exec \"$0\" \"$@\"");
    command.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_holdfast")).args(args);
    command.env_remove("HOLDFAST_PASSPHRASE");
    if let Some(passphrase) = passphrase {
        command.env("HOLDFAST_PASSPHRASE", passphrase);
    }
    command
}

#[test]
fn a_system_that_finds_no_room_is_not_made_by_half() {
    let folder = Folder::new("no-room");
    let dir = folder.join("bank");
    let args = ["init".as_ref(), dir.as_os_str(), "--guess-memory".as_ref(), "64 KiB".as_ref()];
    let ended = Ended::of(&limited(1024, Some(SECRET), &args).output_in_time().unwrap());
    assert_eq!(ended.code, 1, "{}", ended.err);
    assert!(
        ended.err.contains("segment-000") || ended.err.contains("double-write"),
        "{}",
        ended.err
    );
    on(SECRET, &["status"], &dir, &[]).failed("HFY001", &["holdfast.toml"]);
    assert!(
        crate::common::files(&dir).is_empty(),
        "nothing is left: {:?}",
        crate::common::files(&dir).keys()
    );
    // With room the same command works in the same place.
    crate::common::init(&dir, &[]);
}

/// The longest file of a system, in KiB.
fn longest(dir: &Path) -> u64 {
    let lengths = crate::common::files(dir).into_values().map(|bytes| bytes.len() as u64);
    lengths.max().unwrap().div_ceil(1024)
}

#[test]
fn a_data_set_that_cannot_grow_says_so_and_loses_nothing() {
    let folder = Folder::new("full");
    let dir = bank(&folder, &[]);
    let limit = longest(&dir).max(8 << 10);
    // The journal grows with every transfer, until its file may not become longer.
    let words = ["demo-worker".as_ref(), dir.as_os_str()];
    let mut command = limited(limit, None, &words);
    command.args(["--run", "90", "--accounts", "3000"]);
    let mut worker = Worker::start_command(command);
    let begun = std::time::Instant::now();
    let status = loop {
        if let Some(status) = worker.child.try_wait().unwrap() {
            break status;
        }
        assert!(begun.elapsed().as_secs() < 120, "it meets the limit");
        pause(50);
    };
    assert!(!status.success());
    let journal = std::fs::metadata(crate::common::data_file(&dir, "JOURNAL")).unwrap().len();
    assert!(journal.div_ceil(1024) <= limit, "{journal}");
    assert!(findings(&dir).is_empty(), "nothing is damaged");
    // With room again everybody works.
    Worker::start(&dir, 91).finish();
    on(DEMO, &["verify"], &dir, &[]).done();
}

/// A small device of its own, if this process may have one.
struct Device(PathBuf);

impl Device {
    fn new(folder: &Folder, mib: u64) -> Option<Device> {
        let place = folder.join("device");
        std::fs::create_dir(&place).unwrap();
        let device = Device(place);
        device.mount(&format!("size={mib}m")).then_some(device)
    }

    fn mount(&self, options: &str) -> bool {
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", options, "none"]).arg(&self.0);
        command.output_in_time().is_ok_and(|output| output.status.success())
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output_in_time();
    }
}

#[test]
fn a_device_without_room_stops_nobody_for_good() {
    let folder = Folder::new("device");
    let Some(device) = Device::new(&folder, 90) else {
        eprintln!("skipped: only root may mount a device; the limit on files has its own test");
        return;
    };
    let base = device.0.join("demo");
    let quick = ["--seconds", "1", "--kills", "0", "--accounts", "3000", "--no-comparison"];
    let mut args = vec!["demo", "--dir", base.to_str().unwrap()];
    args.extend(quick);
    crate::common::run(args).done();
    let dir = base.join("bank");

    // Another file takes what is left.
    let filler = device.0.join("filler");
    let mut file = std::fs::File::create(&filler).unwrap();
    let piece = vec![1_u8; 64 << 10];
    while file.write_all(&piece).is_ok() {}
    drop(file);
    let mut command = crate::common::command(None);
    command.arg("demo-worker").arg(&dir).args(["--run", "95", "--accounts", "3000"]);
    let mut worker = Worker::start_command(command);
    let begun = std::time::Instant::now();
    while worker.child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed().as_secs() < 120, "it meets the end of the device");
        pause(50);
    }
    assert!(!worker.child.wait_in_time().unwrap().success());

    assert!(findings(&dir).is_empty(), "nothing is damaged: {:?}", findings(&dir));
    std::fs::remove_file(&filler).unwrap();
    on(DEMO, &["restart"], &dir, &[]).done();
    Worker::start(&dir, 96).finish();
    on(DEMO, &["verify"], &dir, &[]).done();
}

/// Takes all that is left of a device.
fn fill(device: &Device) -> PathBuf {
    let filler = device.0.join("filler");
    let mut file = std::fs::File::create(&filler).unwrap();
    for bytes in [64 << 10, 4 << 10, 1] {
        let piece = vec![1_u8; bytes];
        while file.write_all(&piece).is_ok() {}
    }
    filler
}

/// Control statements that insert customers.
fn customers(numbers: std::ops::Range<u32>) -> String {
    let one = |number: u32| format!("L        ISRT  CUST\nL        DATA  {number:04}TOWN\n");
    numbers.map(one).collect()
}

/// A system on a device of its own, with some customers.
fn shop_on(device: &Device, folder: &Folder) -> PathBuf {
    let (dir, sources) = (device.0.join("system"), folder.join("sources"));
    crate::common::init(&dir, &[]);
    std::fs::write(&sources, SHOP).unwrap();
    on(SECRET, &["gen", "-s"], &dir, &[sources.to_str().unwrap()]).done();
    issue(&dir, &["--psb", "CLERK"], &customers(0..3_000)).done();
    dir
}

#[test]
fn a_full_device_is_read_and_freed_from_inside() {
    let folder = Folder::new("full-device");
    let Some(device) = Device::new(&folder, 60) else {
        eprintln!("skipped: only root may mount a device");
        return;
    };
    let dir = shop_on(&device, &folder);
    fill(&device);
    // A program takes the rest.
    let full = issue(&dir, &["--psb", "CLERK"], &customers(3_000..9_900));
    assert!(full.code == 1 && full.err.contains("HFT006"), "{}", full.err);

    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for round in 0..3 {
        let status = on(SECRET, &["db", "status", "--json", "-s"], &dir, &["SHOP"]).done().json();
        assert_eq!(status["segments"][0]["segments"], 3_000, "{status:#}");
        on(SECRET, &["db", "verify", "-s"], &dir, &["SHOP"]).done();
        on(SECRET, &["status"], &dir, &[]).done();
        on(SECRET, &["verify"], &dir, &[]).done();
        on(SECRET, &["restart"], &dir, &[]).done();
        on(SECRET, &["recon", "list", "-s"], &dir, &[]).done();
        let read = issue(&dir, &["--psb", "CLERK"], "L   0020 GN\n").done();
        assert!(!read.err.contains("HFN"), "{}", read.err);
        let unloaded = path(&format!("unloaded-{round}"));
        on(SECRET, &["unload", "-s"], &dir, &["SHOP", &unloaded]).done();
    }
    let doctor = on(SECRET, &["doctor", "-s"], &dir, &[]);
    assert_eq!(doctor.code, 1, "{}", doctor.out);
    for word in ["IMPAIRED   device of", "it is full", "db empty -s", "recon change -s"] {
        assert!(doctor.out.contains(word), "\"{word}\" expected in: {}", doctor.out);
    }

    on(SECRET, &["db", "empty", "-s"], &dir, &["SHOP", "--yes"]).done();
    issue(&dir, &["--psb", "CLERK"], &customers(0..500)).done();
    on(SECRET, &["sets", "drop"], &dir, &["SHOPY", "--yes"]).done();
    on(SECRET, &["verify"], &dir, &[]).done();
}

#[test]
fn what_a_program_displays_on_a_full_device_is_not_lost_unseen() {
    let folder = Folder::new("full-output");
    let has_compiler = Command::new("cc").arg("--version").output_in_time().is_ok();
    let Some(device) = Device::new(&folder, 1).filter(|_| has_compiler) else {
        eprintln!("skipped: only root may mount a device, and cc is needed");
        return;
    };
    let (_shop, dir) = crate::common::system_of("full-output-shop", SHOP, "");
    let program = folder.join("talker.c");
    let body = "#include <stdio.h>\nint CTDLI();\nvoid CEE3ABD(int *, int *);\n\
        static char area[200] = \"0001TOWN\";\nstatic int code = 777, at_once;\n\
        int DLITCBL(void *io, void *shop) {\n\
        CTDLI(\"ISRT\", shop, area, \"CUST     \", (char *) 0);\n\
        for (int n = 0; n < LINES; n++) printf(\"line %d of what it displays\\n\", n);\n\
        ENDING return 0; }\n";
    let batch = |lines: &str, ending: &str| {
        let text = body.replace("LINES", lines).replace("ENDING", ending);
        std::fs::write(&program, text).unwrap();
        let output = format!("SYSOUT={}", device.0.join("output").display());
        let program = program.to_str().unwrap();
        let rest = ["--psb", "CLERK", "--program", program, "--dd", &output];
        on(SECRET, &["batch", "-s"], &dir, &rest)
    };
    let lost = batch("200000", "");
    assert_eq!(lost.code, 1, "{}{}", lost.out, lost.err);
    for word in ["HFR025", "device/output", "backed out"] {
        assert!(lost.err.contains(word), "\"{word}\" expected in: {}", lost.err);
    }
    let status = on(SECRET, &["db", "status", "--json", "-s"], &dir, &["SHOP"]).done().json();
    assert_eq!(status["segments"][0]["segments"], 0, "{status:#}");
    // An abend that comes first says so, too.
    let abend = batch("200000", "CEE3ABD(&code, &at_once);");
    assert_eq!(abend.code, 1, "{}{}", abend.out, abend.err);
    for word in ["U0777", "SYSOUT", "device/output"] {
        assert!(abend.err.contains(word), "\"{word}\" expected in: {}", abend.err);
    }
    batch("10", "").done();
}

#[test]
fn a_log_copy_or_a_system_that_finds_no_room_asks_for_room() {
    let folder = Folder::new("small");
    let Some(small) = Device::new(&folder, 4) else {
        eprintln!("skipped: only root may mount a device");
        return;
    };
    let archive = folder.join("archive");
    let dir = bank(&folder, &[]);
    let settings = dir.join("holdfast.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let folders = format!("[archive]\nfolders = [{:?}]", archive.to_str().unwrap());
    std::fs::write(&settings, text.replace("[archive]", &folders)).unwrap();
    let mut worker = Worker::idle(&dir);
    std::fs::rename(dir.join("log-copy"), folder.join("lost")).unwrap();
    let is_lost = || {
        let status = on(DEMO, &["status", "--json"], &dir, &[]).done().json();
        status["log"]["copies"].to_string().contains("false")
    };
    while !is_lost() {
        pause(200);
    }
    let to = small.0.join("log");
    let to = ["--copy", "2", "--to", to.to_str().unwrap()];
    let refused = on(DEMO, &["log", "resync", "-s"], &dir, &to);
    refused.failed("HFL010", &["Make room"]);
    on(DEMO, &["log", "resync", "-s"], &dir, &["--copy", "2"]).failed("HFL010", &["Make room"]);
    let elsewhere = folder.join("elsewhere");
    let to = ["--copy", "2", "--to", elsewhere.to_str().unwrap()];
    on(DEMO, &["log", "resync", "-s"], &dir, &to).done();
    worker.finish();

    on(DEMO, &["archive", "now", "-s"], &dir, &[]).done();
    let (again, keys) = (small.0.join("bank"), dir.join("holdfast.keys"));
    let from = ["--keys", keys.to_str().unwrap(), "--archives", archive.to_str().unwrap()];
    on(DEMO, &["restore"], &again, &from).failed("HFL010", &["Make room"]);
    assert!(crate::common::files(&again).is_empty(), "the command can be given again");
}
