//! What `deploy/three-nodes` writes on an operator's machine.
#![allow(clippy::unwrap_used)] // a test that fails says where

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_node_of_three_has_all_that_is_to_be_filled_in() {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("three-nodes");
    let _ = fs::remove_dir_all(&root);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/three-nodes/node.sh");
    let node = |number: &str| {
        let mut command = Command::new("bash");
        command.arg(&script).args([number, "10.0.0.1", "10.0.0.2", "db3.example"]);
        command.env("ROOT", &root).output().unwrap()
    };
    let etc = root.join("etc/holdfast-engine");
    let text = |name: &str| fs::read_to_string(etc.join(name)).unwrap();
    let first = node("2");
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let passwords = text("passwords");
    let patroni = text("patroni.yml");
    assert!(!patroni.contains('%'), "{patroni}");
    for wanted in [
        "name: n2\n",
        "listen: \"10.0.0.2:5432\"",
        "hosts: \"10.0.0.1:2379,10.0.0.2:2379,db3.example:2379\"",
        "\"hostssl replication replicator 10.0.0.1/32 scram-sha-256\"",
        "\"hostssl replication replicator db3.example scram-sha-256\"",
        "synchronous_mode_strict: true",
        "mode: required",
    ] {
        assert!(patroni.contains(wanted), "{wanted} is not in {patroni}");
    }
    for line in passwords.lines() {
        assert!(line.len() == 32 && patroni.contains(line), "{line}");
    }
    assert!(text("etcd.env").contains("n3=http://db3.example:2380\n"));
    // Run again, it keeps the passwords.
    assert!(node("3").status.success());
    assert_eq!(text("passwords"), passwords);
    assert!(text("patroni.yml").contains("name: n3\n"));
    for wrong in ["4", "0", "n1"] {
        assert!(!node(wrong).status.success(), "{wrong}");
    }
}
