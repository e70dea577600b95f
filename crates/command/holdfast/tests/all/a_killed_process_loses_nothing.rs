//! A real process, killed with SIGKILL again and again under load; each time it is restarted, and
//! every transfer that it had acknowledged is there, exactly once.
//!
//! 100 kills by default; HOLDFAST_KILLS asks for another number, `make soak` for 2,000.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::time::Duration;

use crate::common::{Folder, SECRET, run_within};

#[test]
fn a_killed_process_loses_nothing() {
    let kills = std::env::var("HOLDFAST_KILLS").unwrap_or_else(|_| "100".into());
    let kills: u64 = kills.parse().expect("HOLDFAST_KILLS is a number");
    let folder = Folder::new("kills");
    let dir = folder.join("demo");
    let (count, seconds) = (kills.to_string(), (kills * 9 / 10).max(1).to_string());
    // A kill takes less than a second; a slow machine may take ten.
    let limit = Duration::from_secs(600 + 10 * kills);
    let args = [
        "demo",
        "--json",
        "--no-comparison",
        "--accounts",
        "2000",
        "--kills",
        &count,
        "--seconds",
        &seconds,
        "--dir",
        dir.to_str().unwrap(),
    ];
    let ended = run_within(SECRET, args, limit);
    let figures = ended.json();
    assert_eq!(figures["violations"], serde_json::json!([]), "{}", ended.err);
    assert_eq!(figures["findings"], 0, "{}", ended.err);
    assert_eq!(figures["kills"], kills);
    let number = |name: &str| figures[name].as_u64().unwrap();
    assert!(number("acknowledged") > 100 * kills, "under load: {figures}");
    assert!(number("journaled") >= number("acknowledged"), "{figures}");
    assert_eq!(figures["restart_ms"].as_array().map(Vec::len), Some(kills as usize));
    ended.done();
}
