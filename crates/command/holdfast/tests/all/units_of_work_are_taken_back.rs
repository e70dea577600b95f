//! Transfers that were committed are taken back, in a stopped bank, and others that came behind are
//! named.
#![allow(clippy::unwrap_used)] // a scenario

use std::path::Path;

use crate::common::{DEMO, Ended, Folder, run_as};

fn on(words: &[&str], dir: &Path, rest: &[&str]) -> Ended {
    let mut args: Vec<&str> = words.to_vec();
    args.extend(["-s", dir.to_str().unwrap()]);
    args.extend(rest);
    run_as(DEMO, args)
}

#[test]
fn the_newest_transfer_goes_and_an_older_one_needs_those_behind_it() {
    let folder = Folder::new("backout");
    let dir = folder.join("demo");
    let text = dir.to_str().unwrap().to_owned();
    // So few accounts that every transfer is in the way of some other one.
    let few = ["demo", "--seconds", "2", "--kills", "0", "--accounts", "8", "--dir", &text];
    run_as(DEMO, few).done();
    let bank = dir.join("bank");

    let list = on(&["backout"], &bank, &["--list", "--set", "JOURNAL", "--json"]).done().json();
    let units = list.as_array().unwrap();
    assert_eq!(units.len(), 100, "{list}");
    let number = |at: usize| units[at]["unit"].as_u64().unwrap();
    let (old, newest) = (number(0).to_string(), number(99).to_string());
    assert_eq!(units[99]["sets"]["ACCOUNTS"], 2, "{list}");

    on(&["backout"], &bank, &[&old]).failed("HFV011", &["since", "uow"]);
    let check = on(&["backout"], &bank, &["--check", &newest, "--json"]).done().json();
    assert_eq!((&check["done"], &check["by"]), (&false.into(), &0.into()), "{check}");
    assert_eq!(check["sets"]["ACCOUNTS"], 2);
    let done = on(&["backout"], &bank, &[&format!("uow{newest}"), "--json"]).done().json();
    assert_eq!(done["sets"], check["sets"]);
    let by = format!("uow{}", done["by"]);
    // A user who did not hear of its end runs it again.
    let again = on(&["backout"], &bank, &[&newest]).done().out;
    assert!(again.contains(&format!("done already, by {by}:")), "{again}");

    // It is a unit of work like any other, across a restart, and goes itself.
    run_as(DEMO, ["restart", bank.to_str().unwrap()]).done();
    let since = format!("{:#x}", units[99]["committed"].as_u64().unwrap());
    let list = on(&["backout"], &bank, &["--list", "--since", &since, "--json"]).done().json();
    assert_eq!(list.as_array().unwrap().len(), 2, "{list}");
    on(&["backout"], &bank, &[&by]).done();
    // Now it is there again.
    on(&["backout"], &bank, &[&newest]).failed("HFV011", &[&by]);
    run_as(DEMO, ["verify", bank.to_str().unwrap()]).done();

    let nowhere = ["--list", "--set", "NOSUCH"];
    on(&["backout"], &bank, &nowhere).failed("HFV001", &["NOSUCH"]);
    on(&["backout"], &bank, &["uow999999999"]).failed("HFV010", &["nothing of it"]);
    assert_eq!(on(&["backout"], &bank, &["nonsense"]).code, 2);
    assert_eq!(on(&["backout"], &bank, &[]).code, 2);
}
