//! A session runs steps without the passphrase once it was given it, until it is told to forget,
//! and for nothing else than programs.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::in_time::RunInTime as _;
use crate::common::shop::SHOP;
use crate::common::{Ended, Folder, SECRET, command, on, system_of};

/// A command without a passphrase.
fn without<S: AsRef<OsStr>>(words: &[S]) -> Ended {
    Ended::of(&command(None).args(words).stdin(Stdio::null()).output_in_time().unwrap())
}

/// Steps run their programs one behind the other, and each compiler is asked once what it is.
fn steps_of_programs_run(folder: &Folder, place: &str) {
    let c = "int DLITCBL(void) { return 0; }\n";
    let cobol = "       IDENTIFICATION DIVISION.\n       PROGRAM-ID. EMPTY1.\n       PROCEDURE \
                 DIVISION.\n           GOBACK.\n";
    for (compiler, name, text) in [("cc", "empty.c", c), ("cobc", "empty.cbl", cobol)] {
        if Command::new(compiler).arg("--version").output_in_time().is_err() {
            eprintln!("skipped: {compiler} is not installed");
            continue;
        }
        let program = folder.join(name);
        fs::write(&program, text).unwrap();
        let words = ["batch", "-s", place, "--psb", "CLERK", "--program"];
        let words: Vec<_> = words.iter().map(OsStr::new).chain([program.as_os_str()]).collect();
        let printed = || {
            let all = fs::read_dir(Path::new(place).join("programs"));
            let names = all
                .into_iter()
                .flatten()
                .map(|one| one.unwrap().file_name().into_string().unwrap());
            names.filter(|name| name.starts_with("compiler-")).collect::<BTreeSet<_>>()
        };
        let before = printed();
        assert!(without(&words).done().out.contains("return code 0"));
        let asked = printed();
        // A compiler that starts another one is asked each time.
        assert!(asked.len() <= before.len() + 1);
        assert!(without(&words).done().out.contains("return code 0"));
        assert_eq!(printed(), asked);
        // What was kept and is not as it was is asked for again.
        for name in asked.difference(&before) {
            let expected_text = Path::new(place).join("programs").join(name).join("says");
            let kept = fs::read(&expected_text).unwrap();
            fs::write(&expected_text, "something else").unwrap();
            assert!(without(&words).done().out.contains("return code 0"));
            assert_eq!(fs::read(&expected_text).unwrap(), kept);
        }
    }
}

#[test]
fn a_session_holds_what_opens_a_system_until_it_is_told_to_forget() {
    let (folder, dir) = system_of("session", SHOP, "");
    let place = dir.to_str().unwrap();
    let step = ["dltest", "-s", place, "--psb", "CLERK"];
    let locked = without(&step);
    assert_ne!(locked.code, 0, "{}", locked.out);

    on("a guess", &["keys", "unlock"], &dir, &[]).failed("HFS027", &[]);
    assert_ne!(without(&step).code, 0);
    let unlocked = on(SECRET, &["keys", "unlock"], &dir, &["--for", "1h"]);
    if unlocked.err.contains("keyring cannot be used") {
        eprintln!("skipped: {}", unlocked.err);
        return;
    }
    unlocked.done();
    without(&step).done();
    steps_of_programs_run(&folder, place);
    // Whatever shows or changes more than a program may asks as before.
    assert_ne!(without(&["keys", "list", place]).code, 0);
    let written = fs::read_to_string("/proc/keys").unwrap_or_default();
    assert!(!written.contains(SECRET), "{written}");

    without(&["keys", "lock", place]).done();
    assert_ne!(without(&step).code, 0);
}
