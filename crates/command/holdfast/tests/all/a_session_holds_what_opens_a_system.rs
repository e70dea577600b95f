//! A session runs steps without the passphrase once it was given it, until it is told to forget,
//! and for nothing else than programs.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::ffi::OsStr;
use std::process::Stdio;

use crate::common::in_time::RunInTime as _;
use crate::common::shop::SHOP;
use crate::common::{Ended, SECRET, command, on, system_of};

/// A command without a passphrase.
fn without<S: AsRef<OsStr>>(words: &[S]) -> Ended {
    Ended::of(&command(None).args(words).stdin(Stdio::null()).output_in_time().unwrap())
}

#[test]
fn a_session_holds_what_opens_a_system_until_it_is_told_to_forget() {
    let (_folder, dir) = system_of("session", SHOP, "");
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
    // Whatever shows or changes more than a program may asks as before.
    assert_ne!(without(&["keys", "list", place]).code, 0);
    let written = std::fs::read_to_string("/proc/keys").unwrap_or_default();
    assert!(!written.contains(SECRET), "{written}");

    without(&["keys", "lock", place]).done();
    assert_ne!(without(&step).code, 0);
}
