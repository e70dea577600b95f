//! Pools grow, shrink, come and go, in a system in use and in one that is stopped, and the
//! configuration is kept in step without losing what people have written into it.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::path::Path;

use crate::common::{DEMO, Folder, Worker, bank, on};
use serde_json::Value;

fn pool(dir: &Path, name: &str) -> Value {
    let pools = on(DEMO, &["pool", "list", "-s"], dir, &["--json"]).done().json();
    pools.as_array().unwrap().iter().find(|pool| pool["name"] == name).cloned().unwrap_or_default()
}

fn resize(dir: &Path, name: &str, frames: &str) -> Value {
    on(DEMO, &["pool", "resize", "-s"], dir, &[name, "--frames", frames, "--json"]).done().json()
}

#[test]
fn pools_change_while_the_bank_runs() {
    let folder = Folder::new("pools");
    let dir = bank(&folder, &[]);
    let file = dir.join("holdfast.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("[pool.default]", "# as large as it can be\n[pool.default]"))
        .unwrap();
    let mut worker = Worker::start(&dir, 60);
    for frames in ["3000", "200", "5000", "100"] {
        let changed = resize(&dir, "default", frames);
        assert_eq!(changed["frames"].to_string(), frames);
        assert_eq!(pool(&dir, "default")["frames"].to_string(), frames);
    }
    on(DEMO, &["pool", "add", "-s"], &dir, &["more", "--unit", "16 KiB", "--bytes", "1 MiB"])
        .done();
    assert_eq!(pool(&dir, "more")["frames"], 64);
    let add = ["more", "--unit", "16 KiB", "--bytes", "1 MiB"];
    on(DEMO, &["pool", "add", "-s"], &dir, &add).failed("HFP008", &["more"]);
    for name in ["", "x]\n[y", "two words", &"x".repeat(65)] {
        let add = [name, "--unit", "16 KiB", "--bytes", "1 MiB"];
        on(DEMO, &["pool", "add", "-s"], &dir, &add).failed("HFY013", &["no name of a pool"]);
    }
    on(DEMO, &["pool", "delete", "-s"], &dir, &["nothing"]).failed("HFU020", &["nothing"]);
    on(DEMO, &["pool", "delete", "-s"], &dir, &["default"]).failed("HFU021", &["default"]);
    let few = ["default", "--frames", "3"];
    on(DEMO, &["pool", "resize", "-s"], &dir, &few).failed("HFY013", &["3 frames"]);
    // A data set moves while it is worked on, and is where it was put at the next start.
    let hot = ["hot", "--unit", "8 KiB", "--bytes", "4 MiB"];
    on(DEMO, &["pool", "add", "-s"], &dir, &hot).done();
    let sets = on(DEMO, &["sets", "list", "--json"], &dir, &[]).done().json();
    let units = |set: &&Value| set["interval_bytes"] == 8192;
    let set = sets.as_array().unwrap().iter().find(units).unwrap();
    let name = set["name"].as_str().unwrap().to_owned();
    on(DEMO, &["pool", "assign", "-s"], &dir, &["default", &name]).done();
    on(DEMO, &["pool", "assign", "-s"], &dir, &["hot", &name]).done();
    on(DEMO, &["pool", "delete", "-s"], &dir, &["hot"]).failed("HFU021", &[&name]);
    on(DEMO, &["pool", "assign", "-s"], &dir, &["more", &name]).failed("HFU023", &["16384"]);
    worker.finish();
    on(DEMO, &["verify"], &dir, &[]).done();
    let mut worker = Worker::start(&dir, 61);
    let sets = on(DEMO, &["sets", "list", "--json"], &dir, &[]).done().json();
    let set = sets.as_array().unwrap().iter().find(|set| set["name"] == *name).unwrap();
    assert_eq!(set["pool"], "hot");
    worker.finish();
    // What was changed stays, and so does what people wrote.
    assert_eq!(pool(&dir, "default")["frames"], 100);
    assert_eq!(pool(&dir, "more")["frames"], 64);
    assert_eq!(resize(&dir, "more", "32")["before"], 64);
    on(DEMO, &["pool", "delete", "-s"], &dir, &["more"]).failed("HFU022", &["16384"]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("# as large as it can be\n[pool.default]"), "{text}");
    assert!(text.contains("bytes = \"512 KiB\""), "{text}");
}
