//! What programs, compilers and the processes they start get of a system: their calls' results, and
//! neither its passphrase nor what operators may do. Signals that are to be ignored end no job.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::in_time::{EndInTime as _, RunInTime as _, first_line};
use crate::common::shop::SHOP;
use crate::common::{Ended, Folder, SECRET, command, on, run_as, start, system_of};

const HOLDFAST: &str = env!("CARGO_BIN_EXE_holdfast");

/// A system with a shop and a program in C; nothing where there is no compiler.
fn shop(test: &str, body: &str) -> Option<(Folder, PathBuf, PathBuf)> {
    if Command::new("cc").arg("--version").output_in_time().is_err() {
        eprintln!("skipped: cc is not installed");
        return None;
    }
    let (folder, dir) = system_of(test, SHOP, "");
    let program = folder.join("program.c");
    fs::write(&program, source(body)).unwrap();
    Some((folder, dir, program))
}

fn source(body: &str) -> String {
    let head =
        "#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n";
    format!("{head}int DLITCBL(void *io, void *shop)\n{{\n{body}\n}}\n")
}

fn words(dir: &Path, program: &Path, more: &[&str]) -> Vec<String> {
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let mut words = vec!["batch".to_owned(), "-s".to_owned(), text(dir)];
    words.extend(["--psb".into(), "CLERK".into(), "--program".into(), text(program)]);
    words.extend(more.iter().map(|word| (*word).to_owned()));
    words
}

/// `nohup holdfast batch`, or a job in the background of a shell: a hangup ended it all the same.
#[test]
fn a_job_that_is_to_ignore_signals_goes_on_and_so_does_its_program() {
    let body = r#"raise(SIGHUP); raise(SIGINT); puts("in"); fflush(stdout); sleep(1);
        puts("out"); return 0;"#;
    let Some((_folder, dir, program)) = shop("nohup", body) else { return };
    let job = command(Some(SECRET));
    let program_of_job = job.get_program().to_owned();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP INT; exec \"$0\" \"$@\""]).arg(program_of_job);
    shell.args(words(&dir, &program, &[])).env("HOLDFAST_PASSPHRASE", SECRET);
    seam::process::heed_signals(&mut shell);
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut job = shell.spawn().unwrap();
    assert_eq!(first_line(&mut job), "in");
    let process = rustix::process::Pid::from_child(&job);
    for signal in [rustix::process::Signal::HUP, rustix::process::Signal::INT] {
        rustix::process::kill_process(process, signal).unwrap();
    }
    let ended = Ended::of(&job.finish_in_time().unwrap()).done();
    assert!(ended.out.contains("out") && ended.out.contains("return code 0"), "{}", ended.out);
}

/// The story: a process that ignores the ends of its children, as some schedulers do, was told that
/// work was not started which was done and committed.
#[test]
fn a_job_whose_parent_ignores_ends_of_processes_says_how_its_program_ended() {
    let Some((_folder, dir, program)) = shop("ends", "puts(\"RAN\"); return 4;") else { return };
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' CHLD XFSZ; exec \"$0\" \"$@\"", HOLDFAST]);
    shell.args(words(&dir, &program, &[])).env("HOLDFAST_PASSPHRASE", SECRET);
    let ended = Ended::of(&shell.output_in_time().unwrap());
    assert!(ended.out.contains("RAN") && ended.out.contains("return code 4"), "{}", ended.out);
    assert!(!ended.err.contains("HFR017"), "{}", ended.err);
}

#[test]
fn programs_and_compilers_see_no_password_of_an_engine() {
    let body =
        "puts(getenv(\"PGPASSWORD\") || getenv(\"PGPASSFILE\") ? \"SEEN\" : \"NOT\"); return 0;";
    let Some((_folder, dir, program)) = shop("engine-secrets", body) else { return };
    let mut job = command(Some(SECRET));
    job.env("PGPASSWORD", "hidden").env("PGPASSFILE", "/none").args(words(&dir, &program, &[]));
    let ended = Ended::of(&job.output_in_time().unwrap()).done();
    assert!(ended.out.contains("NOT") && !ended.out.contains("SEEN"), "{}", ended.out);
}

#[test]
fn compilers_see_no_passphrase() {
    let Some((folder, dir, program)) = shop("compilers", "return 0;") else { return };
    let (tools, seen) = (folder.join("tools"), folder.join("seen"));
    fs::create_dir(&tools).unwrap();
    let path = std::env::var("PATH").unwrap();
    let script = format!("#!/bin/sh\nenv >> '{}'\nPATH='{path}' exec cc \"$@\"\n", seen.display());
    fs::write(tools.join("cc"), script).unwrap();
    fs::set_permissions(tools.join("cc"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut job = command(Some(SECRET));
    job.env("PATH", format!("{}:{path}", tools.display())).env("HOLDFAST_PGP_PIN", "12345678");
    job.args(words(&dir, &program, &[]));
    Ended::of(&job.output_in_time().unwrap()).done();
    let seen = fs::read_to_string(seen).unwrap();
    assert!(seen.contains("PATH="), "it ran: {seen}");
    assert!(!seen.contains(SECRET) && !seen.contains("12345678"), "{seen}");
}

/// A program turned the system's data sets to plain, read them, and turned them back.
#[test]
fn programs_of_a_started_system_give_no_operators_commands_and_start_no_programs() {
    let Some((folder, dir, program)) = shop("guests", "return 0;") else { return };
    let place = dir.display();
    let (inner, apart) = (folder.join("inner.c"), folder.join("apart"));
    fs::write(&inner, source("puts(\"INNER RAN\"); return 0;")).unwrap();
    // Even if it knows the passphrase; by itself, by a child, by one that leaves its parents.
    let holdfast = format!("HOLDFAST_PASSPHRASE=\\\"$KNOWN\\\" {HOLDFAST}");
    let body = format!(
        r#"system("{holdfast} convert -s {place} --db SHOP --to plain 2>&1");
        system("{holdfast} db status -s {place} SHOP 2>&1");
        system("{holdfast} batch -s {place} --psb CLERK --type bmp --program {inner} 2>&1");
        system("(setsid sh -c 'sleep 1; {holdfast} db status -s {place} SHOP' >{apart} 2>&1 &)");
        sleep(3);
        return 0;"#,
        inner = inner.display(),
        apart = apart.display(),
    );
    fs::write(&program, source(&body)).unwrap();
    let system = start(&dir);
    let mut job = command(None);
    job.args(words(&dir, &program, &["--type", "bmp"])).env("KNOWN", SECRET);
    let ended = Ended::of(&job.output_in_time().unwrap()).done();
    assert_eq!(ended.out.matches("(HFY029)").count(), 2, "{}", ended.out);
    assert!(ended.out.contains("(HFR015)") && !ended.out.contains("INNER RAN"), "{}", ended.out);
    let apart = fs::read_to_string(apart).unwrap();
    assert!(apart.contains("(HFY029)"), "{apart}");
    // Another user is not kept from anything.
    on(SECRET, &["db", "status", "-s"], &dir, &["SHOP"]).done();
    run_as(SECRET, [OsStr::new("stop"), OsStr::new("-s"), dir.as_os_str()]).done();
    Ended::of(&system.finish_in_time().unwrap()).done();
}

#[test]
fn what_lowers_protection_in_a_started_system_needs_its_passphrase() {
    let (_folder, dir) = system_of("lower", SHOP, "");
    let system = start(&dir);
    let convert = |passphrase: Option<&str>| {
        let mut command = command(passphrase);
        command.args(["convert", "-s"]).arg(&dir).args(["--db", "SHOP", "--to", "plain"]);
        Ended::of(&command.output_in_time().unwrap())
    };
    let without = convert(None);
    assert_eq!(without.code, 2, "{}", without.err);
    assert!(without.err.contains("a passphrase is needed"), "{}", without.err);
    assert!(convert(Some("another")).err.contains("passphrase"));
    let forms = on(SECRET, &["sets", "list", "--json", "-s"], &dir, &[]);
    assert!(!forms.out.contains("plain"), "{}", forms.out);
    // Looking is free.
    let mut status = command(None);
    status.args(["db", "status", "-s"]).arg(&dir).arg("SHOP");
    Ended::of(&status.output_in_time().unwrap()).done();
    convert(Some(SECRET)).done();
    run_as(SECRET, [OsStr::new("stop"), OsStr::new("-s"), dir.as_os_str()]).done();
    Ended::of(&system.finish_in_time().unwrap()).done();
}

/// What begins a command under the eyes of a tracer, as a process of the same user can.
const TRACER: &str = r"
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(words[1], words + 1);
        return 99;
    }
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
        ptrace(PTRACE_CONT, child, 0, WSTOPSIG(status) == 5 ? 0 : WSTOPSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
";

#[test]
fn no_key_is_taken_out_in_a_process_that_is_traced() {
    let Some((folder, dir, _program)) = shop("traced", "return 0;") else { return };
    let (source, tracer) = (folder.join("tracer.c"), folder.join("tracer"));
    fs::write(&source, TRACER).unwrap();
    let mut cc = Command::new("cc");
    assert!(cc.arg("-o").arg(&tracer).arg(&source).output_in_time().unwrap().status.success());
    let mut traced = Command::new(&tracer);
    traced.args([HOLDFAST, "status"]).arg(&dir).env("HOLDFAST_PASSPHRASE", SECRET);
    let ended = Ended::of(&traced.output_in_time().unwrap());
    ended.failed("HFY031", &["traces this one"]);
    on(SECRET, &["status"], &dir, &[]).done();
}

/// While programs are served no process of the same user can open the memory of the started system.
#[test]
fn the_memory_of_a_started_system_is_roots() {
    use std::os::unix::fs::MetadataExt as _;

    let (_folder, dir) = system_of("memory", SHOP, "");
    let system = start(&dir);
    // What may not be dumped belongs to root in /proc, whichever user runs it.
    let about = fs::metadata(format!("/proc/{}/mem", system.id())).unwrap();
    assert_eq!((about.uid(), about.gid()), (0, 0));
    let limits = fs::read_to_string(format!("/proc/{}/limits", system.id())).unwrap();
    let cores = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(cores.split_whitespace().filter(|word| *word == "0").count(), 2, "{cores}");
    run_as(SECRET, [OsStr::new("stop"), OsStr::new("-s"), dir.as_os_str()]).done();
    Ended::of(&system.finish_in_time().unwrap()).done();
}
