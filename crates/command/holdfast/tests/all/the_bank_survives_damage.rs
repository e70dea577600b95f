//! A bank whose files are spoilt at random between its lives, while operators do what they do: its
//! data is exactly right, or what is damaged is named and the named commands make it right.
//! `HOLDFAST_DAMAGE` says how often, `HOLDFAST_SECONDS` for about how long.
#![allow(clippy::unwrap_used)] // a scenario

use crate::common::{Folder, run};

#[test]
fn what_is_spoilt_at_random_is_made_right_by_the_commands_that_are_named() {
    let folder = Folder::new("torture");
    let base = folder.join("demo");
    let number = |name: &str, usual: &str| std::env::var(name).unwrap_or_else(|_| usual.into());
    let (damage, seconds) = (number("HOLDFAST_DAMAGE", "5"), number("HOLDFAST_SECONDS", "20"));
    let ended = run([
        "demo",
        "--no-comparison",
        "--accounts",
        "3000",
        "--damage",
        &damage,
        "--seconds",
        &seconds,
        "--dir",
        base.to_str().unwrap(),
    ]);
    // What was done stands there, round by round.
    assert_eq!(ended.code, 0, "{}\n{}", ended.out, ended.err);
}
