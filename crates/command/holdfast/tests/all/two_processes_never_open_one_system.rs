//! A running system is asked, not opened a second time; its keys are not changed behind its back.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::path::PathBuf;

use crate::common::in_time::RunInTime as _;
use crate::common::{DEMO, Folder, Worker, bank, command, on, pause};

#[test]
fn two_processes_never_open_one_system() {
    let folder = Folder::new("two");
    let dir = bank(&folder, &[]);
    let mut worker = Worker::start(&dir, 50);
    let pid = worker.child.id().to_string();
    for words in [&["log", "print"], &["keys", "master"]] {
        on(DEMO, words, &dir, &[]).failed("HFY005", &["process", &pid]);
    }
    // The process that has it proves it, when asked.
    assert!(on(DEMO, &["verify"], &dir, &[]).done().out.contains("in use"));
    on(DEMO, &["sets", "create"], &dir, &["A"]).failed("HFY005", &[&pid]);
    // Looking is possible, without a passphrase where the process answers.
    let ended = command(None).args(["status", "--json"]).arg(&dir).output_in_time().unwrap();
    let status = crate::common::Ended::of(&ended).done().json();
    assert_eq!(status["state"], "running");
    assert_eq!(status["process"]["pid"].to_string(), pid);
    on(DEMO, &["keys", "list"], &dir, &[]).done();
    assert!(on(DEMO, &["sets", "list"], &dir, &[]).done().out.contains("JOURNAL"));
    assert!(on(DEMO, &["log", "segments"], &dir, &[]).done().out.contains("current"));
    worker.finish();
    on(DEMO, &["verify"], &dir, &[]).done();
}

/// The lock is held on a file, which has a name that can be taken away: a second process made one
/// of its own, changed log and RECON, and removed the first one's socket.
#[test]
fn a_system_whose_lock_is_removed_or_replaced_is_still_open() {
    let folder = Folder::new("unlocked");
    let dir = bank(&folder, &[]);
    let mut worker = Worker::start(&dir, 51);
    let pid = worker.child.id().to_string();
    let lock = dir.join("lock");
    for replace in [false, true] {
        std::fs::remove_file(&lock).unwrap();
        if replace {
            std::fs::write(&lock, "").unwrap();
        }
        for words in [&["log", "print"], &["keys", "master"], &["sets", "create"]] {
            let more: &[&str] = if words[0] == "sets" { &["A"] } else { &[] };
            on(DEMO, words, &dir, more).failed("HFY005", &["process", &pid]);
        }
        assert!(dir.join("operator.sock").exists());
        let status = on(DEMO, &["status"], &dir, &[]).done().out;
        assert!(status.contains("the file `lock` was removed or replaced"), "{status}");
    }
    // Also a process that answers keeps others out.
    std::fs::remove_file(dir.join("operator.sock")).unwrap();
    on(DEMO, &["log", "print"], &dir, &[]).failed("HFY005", &["process"]);
    worker.finish();
    on(DEMO, &["verify"], &dir, &[]).done();
    let copy = folder.join("copy");
    let copied = std::process::Command::new("cp").arg("-a").args([&dir, &copy]).output_in_time();
    assert!(copied.unwrap().status.success());
    on(DEMO, &["sets", "create"], &copy, &["A"]).done();
}

#[test]
fn a_running_system_shows_everything_that_it_counts() {
    let folder = Folder::new("counts");
    let dir = bank(&folder, &[]);
    let mut worker = Worker::start(&dir, 51);
    pause(300);
    let status = on(DEMO, &["status"], &dir, &["--json"]).done().json();
    let number = |path: &str| status.pointer(path).and_then(serde_json::Value::as_f64);
    for counted in [
        "/uptime_seconds",
        "/process/cpu_us",
        "/process/resident_bytes",
        "/units/commits",
        "/log/groups",
        "/log/durable_lsn",
        "/log/flush_us/count",
        "/log/flush_us/p50",
        "/log/flush_us/p99",
        "/log/flush_us/max",
        "/log/group_bytes/p50",
        "/log/group_bytes/p99",
        "/locks/acquired",
        "/pools/0/hits",
        "/serial/cpu_ns",
        "/serial/total_ns",
        "/serial/share",
        "/cipher/megabytes_per_second",
        "/restart/elapsed_ms",
    ] {
        assert!(number(counted).is_some_and(|value| value > 0.0), "{counted}: {status}");
    }
    for named in ["/locks/wait_us/count", "/locks/held", "/locks/deadlocks", "/pools/0/steals"] {
        assert!(number(named).is_some(), "{named}: {status}");
    }
    assert!(number("/serial/share") < Some(0.5), "{status}");
    let copies = status["log"]["copies"].as_array().unwrap();
    assert!(copies.len() == 2 && copies.iter().all(|copy| copy["living"] == true), "{status}");
    let text = on(DEMO, &["status"], &dir, &[]).done().out;
    assert!(text.contains("serial share") && text.contains("running"), "{text}");
    // The socket is for the owner alone.
    use std::os::unix::fs::PermissionsExt;
    let about = std::fs::metadata(dir.join("operator.sock")).unwrap();
    assert_eq!(about.permissions().mode() & 0o777, 0o600);
    worker.finish();
    assert!(!dir.join("operator.sock").exists());
}

#[test]
fn guests_never_inherit_files_or_the_lock() {
    const CLOSED_ON_EXEC: u32 = 0o2_000_000;
    let folder = Folder::new("inherit");
    let dir = bank(&folder, &[]);
    let worker = Worker::start(&dir, 52);
    let process = PathBuf::from(format!("/proc/{}", worker.child.id()));
    let Ok(fds) = std::fs::read_dir(process.join("fd")) else {
        return; // Only root may look at a process that cannot be dumped.
    };
    let mut seen = Vec::new();
    for entry in fds {
        let number = entry.unwrap().file_name();
        let Ok(target) = std::fs::read_link(process.join("fd").join(&number)) else { continue };
        if !target.starts_with(&dir) {
            continue;
        }
        let text = std::fs::read_to_string(process.join("fdinfo").join(&number)).unwrap();
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
        let flags = u32::from_str_radix(flags.trim(), 8).unwrap();
        assert_ne!(flags & CLOSED_ON_EXEC, 0, "{} stays open in guests", target.display());
        seen.push(target);
    }
    assert!(seen.contains(&dir.join("lock")), "{seen:?}");
    assert!(seen.len() >= 6, "log, data, control and lock: {seen:?}");
}
