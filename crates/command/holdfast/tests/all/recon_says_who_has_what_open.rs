//! Who has a system open stands in RECON; what a killed process leaves there is named, can be ended
//! by hand, and is taken over by the next start.
#![allow(clippy::unwrap_used)] // a scenario

use std::path::Path;
use std::process::Child;

use crate::common::in_time::EndInTime as _;
use crate::common::{Ended, Folder, SECRET, init, on, run, start};

fn killed(mut child: Child) {
    child.kill().unwrap();
    child.wait_in_time().unwrap();
}

/// The processes that RECON names.
fn processes(dir: &Path) -> Vec<u64> {
    let printed = on(SECRET, &["recon", "list", "--json", "-s"], dir, &[]).done().json();
    let all = printed["authorisations"].as_array().unwrap().iter();
    all.map(|one| one["process"].as_u64().unwrap()).collect()
}

fn check(dir: &Path) -> Ended {
    on(SECRET, &["recon", "check", "-s"], dir, &[])
}

#[test]
fn whoever_was_killed_is_named_until_the_next_start() {
    let folder = Folder::new("open");
    let dir = folder.join("system");
    init(&dir, &[]);
    assert_eq!(processes(&dir), [0_u64; 0]);

    let child = start(&dir);
    let first = child.id();
    assert_eq!(processes(&dir), [u64::from(first)]);
    check(&dir).done();
    let by_hand = ["--ended", &first.to_string()];
    on(SECRET, &["recon", "change", "-s"], &dir, &by_hand).failed("HFY005", &["process"]);
    killed(child);
    let found = check(&dir);
    assert!(found.code == 1 && found.out.contains(&format!("process {first} is gone")));

    let child = start(&dir);
    let second = child.id();
    assert_eq!(processes(&dir), [u64::from(second)]);
    killed(child);
    let by_hand = ["--ended", &second.to_string()];
    let ended = on(SECRET, &["recon", "change", "-s"], &dir, &by_hand).done();
    assert!(ended.out.contains("ended: 1") && ended.err.contains("in flight"), "{}", ended.err);
    assert_eq!(processes(&dir), [0_u64; 0]);
    check(&dir).done();

    let child = start(&dir);
    run(["stop", "-s", dir.to_str().unwrap()]).done();
    Ended::of(&child.finish_in_time().unwrap()).done();
    assert_eq!(processes(&dir), [0_u64; 0]);
}
