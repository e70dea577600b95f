//! What programs try in order to be nobody's: to hide a process, to outlive what knows them, to
//! read what a session holds, and to go on when their system has gone.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::in_time::{EndInTime as _, RunInTime as _, first_line};
use crate::common::shop::SHOP;
use crate::common::{Ended, Folder, SECRET, command, on, run_as, start, system_of};

const HOLDFAST: &str = env!("CARGO_BIN_EXE_holdfast");

const HEAD: &str = "#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
int DLITCBL(void *io, void *shop)
{
";

/// A system with a shop; nothing where there is no compiler.
fn shop(test: &str) -> Option<(Folder, PathBuf)> {
    if Command::new("cc").arg("--version").output_in_time().is_err() {
        eprintln!("skipped: cc is not installed");
        return None;
    }
    Some(system_of(test, SHOP, ""))
}

/// A job of a program in C.
fn job(folder: &Folder, dir: &Path, kind: &str, body: &str) -> Command {
    let program = folder.join("program.c");
    fs::write(&program, format!("{HEAD}{body}\n}}\n")).unwrap();
    let mut job = command((kind == "dli").then_some(SECRET));
    job.args(["batch", "--psb", "CLERK", "--type", kind, "-s"]).arg(dir);
    job.arg("--program").arg(program);
    job
}

fn stop(dir: &Path, system: Child) {
    run_as(SECRET, [std::ffi::OsStr::new("stop"), "-s".as_ref(), dir.as_os_str()]).done();
    Ended::of(&system.finish_in_time().unwrap()).done();
}

/// What a process of nobody's has written when it is done.
fn printed(path: &Path) -> String {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(path).unwrap_or_default();
        if text.ends_with("done\n") {
            return text;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "{text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_program_hides_no_process_from_the_operators_door() {
    let Some((folder, dir)) = shop("hides") else { return };
    let (hidden, left) = (folder.join("hidden"), folder.join("left"));
    let stop_to = |path: &Path, seconds: u32| {
        format!(
            r#""sleep {seconds}; ({HOLDFAST} stop -s {}; echo done) >{} 2>&1 </dev/null""#,
            dir.display(),
            path.display()
        )
    };
    // It tries not to adopt, and to have a brother. Then orphans try to stop the system: one while
    // the program has closed its connection, one when the program has ended.
    let body = format!(
        r#"int reaper = prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
        printf("reaper %d %d\n", reaper, errno);
        int brother = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
        printf("brother %d %d\n", brother, errno);
        if (brother == 0) _exit(0);
        fflush(stdout);
        if (fork() == 0) {{
            setsid();
            if (fork() == 0) execl("/bin/sh", "sh", "-c", {hidden}, NULL);
            _exit(0);
        }}
        wait(NULL);
        if (fork() == 0) {{
            setsid();
            close(1); close(2);
            if (fork() == 0) execl("/bin/sh", "sh", "-c", {left}, NULL);
            _exit(0);
        }}
        wait(NULL);
        for (int at = 3; at < 100; at++) close(at);
        sleep(2);
        return 0;"#,
        hidden = stop_to(&hidden, 1),
        left = stop_to(&left, 4),
    );
    let system = start(&dir);
    let mut job = job(&folder, &dir, "bmp", &body);
    let ended = Ended::of(&job.output_in_time().unwrap());
    assert!(ended.out.contains("reaper -1 1\nbrother -1 1\n"), "{}{}", ended.out, ended.err);
    for path in [hidden, left] {
        let printed = printed(&path);
        assert!(printed.contains("commands are not for programs"), "{printed}");
    }
    on(SECRET, &["db", "status", "-s"], &dir, &["SHOP"]).done();
    stop(&dir, system);
}

#[test]
fn a_program_reads_no_keyring() {
    let Some((folder, dir)) = shop("keyring") else { return };
    // The session's and the user's keyring by their numbers, which stand for the process that asks.
    let body = r#"printf("%ld", syscall(SYS_keyctl, 0, -3, 0)); printf(" %d\n", errno);
        printf("%ld", syscall(SYS_keyctl, 10, -5, "user", "holdfast", 0)); printf(" %d\n", errno);
        printf("%ld", syscall(SYS_request_key, "user", "holdfast", 0, 0)); printf(" %d\n", errno);
        printf("%ld", syscall(SYS_add_key, "user", "x", "y", 1, -3)); printf(" %d\n", errno);
        return 0;"#;
    let refused = "-1 1\n".repeat(4);
    let alone = Ended::of(&job(&folder, &dir, "dli", body).output_in_time().unwrap()).done();
    assert!(alone.out.contains(&refused), "{}", alone.out);
    let system = start(&dir);
    let ended = Ended::of(&job(&folder, &dir, "bmp", body).output_in_time().unwrap()).done();
    assert!(ended.out.contains(&refused), "{}", ended.out);
    stop(&dir, system);
}

#[test]
fn a_program_that_computes_ends_soon_after_its_system() {
    let Some((folder, dir)) = shop("outlives") else { return };
    let alone = r#"puts("in"); fflush(stdout); for (volatile long at = 0;; at++);"#;
    let deaf = r#"signal(SIGTERM, SIG_IGN); if (fork() == 0) for (;;) pause();
        puts("in"); fflush(stdout); for (volatile long at = 0;; at++);"#;
    for (is_stopped, body) in [(true, alone), (false, deaf)] {
        let mut system = start(&dir);
        let mut job = job(&folder, &dir, "bmp", body);
        job.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut job = job.spawn().unwrap();
        assert_eq!(first_line(&mut job), "in");
        let begun = Instant::now();
        if is_stopped {
            stop(&dir, system);
        } else {
            system.kill().unwrap();
            system.wait_in_time().unwrap();
        }
        // A process that is left of the program would keep its output open.
        let ended = Ended::of(&job.finish_in_time().unwrap());
        assert_eq!(ended.code, 1, "{}", ended.err);
        assert!(
            ended.err.contains("abend HFR027: the system has stopped or died"),
            "{}",
            ended.err
        );
        assert!(begun.elapsed() > Duration::from_secs(4), "it had time to end by itself");
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    }
}
