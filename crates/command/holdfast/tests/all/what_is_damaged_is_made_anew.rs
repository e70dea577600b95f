//! What is damaged and need not be read is thrown away: an index is built from its database, and a
//! database is emptied and loaded.
#![allow(clippy::disallowed_methods)] // damages files on purpose, behind the command's back
#![allow(clippy::unwrap_used)] // an unwrap is an assertion here

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::common::in_time::EndInTime as _;
use crate::common::shop::SHOP;
use crate::common::{Ended, Folder, SECRET, data_file, init, issue, on, patch, start};
use serde_json::Value;

/// The first interval that holds keys, in bytes.
const TREE: usize = 4 * INTERVAL;
const INTERVAL: usize = 8192;
/// So many customers make a tree of several intervals.
const MANY: usize = 900;

struct Shop {
    folder: Folder,
    dir: PathBuf,
}

impl Shop {
    /// So many customers, and no image copy. If there are many, the log has been used again, so
    /// that it brings nothing back.
    fn new(test: &str, customers: usize) -> Shop {
        let folder = Folder::new(test);
        let dir = folder.join("system");
        init(&dir, &["--segments-max", "5"]);
        let sources = folder.join("sources");
        fs::write(&sources, SHOP).unwrap();
        on(SECRET, &["gen", "-s"], &dir, &[sources.to_str().unwrap()]).done();
        let shop = Shop { folder, dir };
        let insert = |at| format!("{:15}CUST\n{}", "L        ISRT", data(at, ""));
        shop.call(&(0..customers).map(insert).collect::<String>());
        for letter in ["A", "B"].repeat(if customers < MANY { 0 } else { 8 }) {
            let letters = letter.repeat(192);
            let replace = |at| {
                let get = format!("{:15}CUST    (CK       ={at:04})\n", "L        GHU");
                format!("{get}L        REPL\n{}", data(at, &letters))
            };
            shop.call(&(0..customers).map(replace).collect::<String>());
        }
        shop
    }

    /// Runs these control statements.
    fn call(&self, cards: &str) {
        issue(&self.dir, &["--psb", "CLERK", "--pcb", "2"], cards).done();
    }

    /// Has changes that go on into another segment of the log, and kills the system.
    fn changed_and_killed(&self) {
        let get = |at: usize| format!("{:15}CUST    (CK       ={at:04})\n", "L        GHU");
        let change = |at, letters: &str| format!("{}L        REPL\n{}", get(at), data(at, letters));
        let mut system = start(&self.dir);
        let newest = self.newest_segment();
        let options = ["--psb", "CLERK", "--pcb", "2", "--type", "bmp"];
        for letter in ["C", "D"].iter().cycle().take_while(|_| self.newest_segment() == newest) {
            let changes = (0..MANY).map(|at| change(at, &letter.repeat(192)));
            issue(&self.dir, &options, &changes.collect::<String>()).done();
        }
        system.kill().unwrap();
        system.wait_in_time().unwrap();
    }

    fn newest_segment(&self) -> u64 {
        let all = on(SECRET, &["log", "segments"], &self.dir, &["--json"]).done().json();
        let first = |segment: &Value| segment["first_lsn"].as_u64().unwrap();
        all.as_array().unwrap().iter().map(first).max().unwrap()
    }

    fn run(&self, words: &[&str], rest: &[&str]) -> Ended {
        on(SECRET, &[words, &["-s"]].concat(), &self.dir, rest)
    }

    fn unload(&self, name: &str) -> String {
        let path = self.folder.join(name).to_str().unwrap().to_owned();
        self.run(&["unload"], &["SHOP", &path, "--replace"]).done();
        path
    }

    /// Everything in a data set that holds keys.
    fn spoil(&self, set: &str) {
        self.spoil_only(set, 0..usize::MAX);
    }

    /// Those intervals of a data set's tree, the first of which is its root.
    fn spoil_only(&self, set: &str, meant: Range<usize>) {
        patch(&data_file(&self.dir, set), |bytes| {
            let intervals = bytes[TREE..].chunks_mut(INTERVAL);
            for interval in intervals.skip(meant.start).take(meant.len()) {
                interval.iter_mut().step_by(512).for_each(|byte| *byte ^= 0x55);
            }
        });
    }

    /// What `verify` says, which finds damage.
    fn damage(&self) -> String {
        let found = on(SECRET, &["verify"], &self.dir, &[]);
        assert_eq!(found.code, 1, "{}", found.out);
        found.out
    }

    fn is_sound(&self) {
        on(SECRET, &["verify"], &self.dir, &[]).done();
        self.run(&["db", "verify"], &["SHOP"]).done();
    }
}

/// The cards with a customer's data: 56 bytes stand in each.
fn data(at: usize, letters: &str) -> String {
    let data = format!("{at:04}{:04}{letters}", at * 7919 % 10_000);
    let pieces: Vec<&[u8]> = data.as_bytes().chunks(56).collect();
    let card = |(index, piece): (usize, &&[u8])| {
        let word = if index == 0 { "L        DATA" } else { "         CONT" };
        let more = if index + 1 < pieces.len() { "X" } else { "" };
        format!("{word:15}{:56}{more}\n", String::from_utf8_lossy(piece))
    };
    pieces.iter().enumerate().map(card).collect()
}

/// What an unload holds, but for when it was made.
fn segments(path: &str) -> Vec<u8> {
    let file = fs::read(Path::new(path)).unwrap();
    let head = usize::from(u16::from_be_bytes([file[0], file[1]]));
    file[head..].to_vec()
}

#[test]
fn a_damaged_index_is_built_from_its_database() {
    for (test, customers) in [("small-index", 3), ("large-index", MANY)] {
        let shop = Shop::new(test, customers);
        let before = segments(&shop.unload("before"));
        let command = format!("holdfast index build -s {} SHOP SHOPY", shop.dir.display());
        for repair in [false, true] {
            shop.spoil("SHOPY");
            let found = shop.damage();
            // What was made anew the log has all of: that is recovered.
            assert!(repair || customers < MANY || found.contains(&command), "{found}");
            match repair {
                true => on(SECRET, &["verify"], &shop.dir, &["--repair"]).done(),
                false => shop.run(&["index", "build"], &["SHOP", "SHOPY"]).done(),
            };
            shop.is_sound();
            assert_eq!(segments(&shop.unload("after")), before);
        }
    }
}

#[test]
fn a_damaged_database_is_emptied_and_loaded() {
    for (test, customers) in [("small-database", 3), ("large-database", MANY)] {
        let shop = Shop::new(test, customers);
        let unloaded = shop.unload("before");
        let command = format!("holdfast db empty -s {} SHOP --yes", shop.dir.display());
        // Everything, the root alone, and what is beneath it.
        let beneath = usize::from(customers >= MANY);
        let damages = [
            (&["SHOP"][..], 0..usize::MAX),
            (&["SHOP", "SHOPY"], 0..usize::MAX),
            (&["SHOP"], 0..1),
            (&["SHOP", "SHOPY"], beneath..usize::MAX),
        ];
        for (round, (sets, meant)) in damages.into_iter().enumerate() {
            sets.iter().for_each(|set| shop.spoil_only(set, meant.clone()));
            let found = shop.damage();
            // What was made anew the log has all of: that is recovered.
            assert!(round > 0 || customers < MANY || found.contains(&command), "{found}");
            shop.run(&["db", "empty"], &["SHOP", "--yes"]).done();
            shop.run(&["load"], &["SHOP", &unloaded]).done();
            shop.is_sound();
            assert_eq!(segments(&shop.unload("after")), segments(&unloaded));
        }
    }
}

#[test]
fn what_nothing_brings_back_keeps_nobody_from_the_rest() {
    let shop = Shop::new("given-up", 300);
    let unloaded = shop.unload("before");
    let restart = |rest: &[&str]| on(SECRET, &["restart"], &shop.dir, rest);
    for (set, remake) in [("SHOPY", "index"), ("SHOP", "database")] {
        fs::remove_file(data_file(&shop.dir, set)).unwrap();
        restart(&[]).failed("HFD001", &[set]);
        // The log has all of it here: that is said before it is given up.
        restart(&["--without", set]).failed("HFY100", &["holdfast recover", set]);
        restart(&["--without", set, "--without", "SHOPX", "--yes"]).failed("HFY100", &["SHOPX"]);
        restart(&["--without", set, "--yes"]).done();
        let found = on(SECRET, &["verify"], &shop.dir, &[]);
        assert_eq!(found.code, 1);
        assert!(found.out.contains("offline"), "{}", found.out);
        shop.run(&["db", "verify"], &["SHOP"]).failed("HFU024", &[set]);
        if remake == "index" {
            shop.run(&["index", "build"], &["SHOP"]).done();
        } else {
            shop.run(&["db", "empty"], &["SHOP", "--yes"]).done();
            shop.run(&["load"], &["SHOP", &unloaded]).done();
        }
        shop.is_sound();
        assert_eq!(segments(&shop.unload("after")), segments(&unloaded));
    }
}

#[test]
fn what_is_offline_is_dropped_only_if_that_is_meant() {
    let shop = Shop::new("dropped", 30);
    let before = segments(&shop.unload("before"));
    let drop = |rest: &[&str]| on(SECRET, &["sets", "drop"], &shop.dir, rest);
    fs::remove_file(data_file(&shop.dir, "SHOPY")).unwrap();
    on(SECRET, &["restart"], &shop.dir, &["--without", "SHOPY", "--yes"]).done();
    drop(&["SHOPY"]).failed("HFY100", &["holdfast recover", "--yes"]);
    drop(&["SHOPY", "--yes"]).done();
    // No program uses an index that is empty.
    let refused = shop.run(&["db", "verify"], &["SHOP"]);
    assert_eq!(refused.code, 1, "{}", refused.out);
    shop.run(&["index", "build"], &["SHOP", "SHOPY"]).done();
    shop.is_sound();
    assert_eq!(segments(&shop.unload("after")), before);
}

#[test]
fn what_was_started_without_is_recovered_all_the_same() {
    let shop = Shop::new("recovered", 30);
    let before = segments(&shop.unload("before"));
    fs::remove_file(data_file(&shop.dir, "SHOP")).unwrap();
    on(SECRET, &["restart"], &shop.dir, &["--without", "SHOP", "--yes"]).done();
    shop.run(&["recover"], &["--set", "SHOP"]).done();
    shop.is_sound();
    assert_eq!(segments(&shop.unload("after")), before);
}

#[test]
fn the_log_of_what_a_system_starts_without_is_kept() {
    let shop = Shop::new("kept-log", MANY);
    let copies = shop.folder.join("copies");
    shop.run(&["image-copy"], &["--set", "SHOP", "--to", copies.to_str().unwrap()]).done();
    shop.changed_and_killed();
    ["SHOP", "SHOPY"].iter().for_each(|set| fs::remove_file(data_file(&shop.dir, set)).unwrap());
    // One of them can be had.
    let without = ["--without", "SHOP", "--without", "SHOPY"];
    let refused = on(SECRET, &["restart"], &shop.dir, &without);
    let refused = refused.failed("HFY100", &["would be given up", "--set SHOP --without SHOPY"]);
    shop.run(&["recover"], &["--set", "SHOP"]).failed("HFD001", &["--without SHOPY"]);
    shop.run(&["recover"], &["--db", "SHOP"]).failed("HFV002", &["--set SHOP --without SHOPY"]);
    // A user who starts without it loses nothing.
    on(SECRET, &["restart"], &shop.dir, &[&without[..], &["--yes"]].concat()).done();
    on(SECRET, &["restart"], &shop.dir, &[]).done();
    // As it is named.
    let named = refused.err.split('`').find(|text| text.starts_with("holdfast recover")).unwrap();
    let named = named.split(' ').skip(1).filter(|word| !["--without", "SHOPY"].contains(word));
    crate::common::run(named).done();
    shop.run(&["index", "build"], &["SHOP", "SHOPY"]).done();
    shop.is_sound();
    let unloaded = fs::read(shop.unload("after")).unwrap();
    let customers =
        |letter: u8| unloaded.windows(192).filter(|data| **data == [letter; 192]).count();
    assert_eq!(customers(b'C').max(customers(b'D')), MANY);
}
