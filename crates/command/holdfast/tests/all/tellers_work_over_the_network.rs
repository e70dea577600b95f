//! The bank's tellers at their terminals: over TCP, through COBOL message programs, killed in the
//! middle of it; the terminals' own ledger decides.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::common::in_time::{EndInTime as _, RunInTime as _, first_line};
use crate::common::{Folder, SECRET, command, init, on, pause, run};

/// The bank, loaded, with its online side defined and a door on a port of its own.
fn bank(folder: &Folder) -> PathBuf {
    let bank = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../apps/bank");
    let bank = bank.canonicalize().unwrap();
    let dir = folder.join("system");
    init(&dir, &[]);
    let config = dir.join("holdfast.toml");
    let part = std::fs::read_to_string(bank.join("holdfast.toml.part")).unwrap();
    let mut text = std::fs::read_to_string(&config).unwrap() + &part;
    for (name, value) in [
        ("ims_connect", "127.0.0.1:0".to_owned()),
        ("programs", bank.join("cobol").display().to_string()),
        ("include", bank.join("copy").display().to_string()),
    ] {
        let line = text.lines().find(|line| line.starts_with(&format!("#: {name} = "))).unwrap();
        text = text.replace(&line.to_owned(), &format!("{name} = [{value:?}]"));
    }
    std::fs::write(&config, text).unwrap();
    let [dbd, psb] = ["dbd", "psb"].map(|name| bank.join(name).display().to_string());
    on(SECRET, &["gen", "-s"], &dir, &[&dbd, &psb]).done();
    let source = bank.join("cobol/BANKLOAD.cbl").display().to_string();
    let copy = bank.join("copy").display().to_string();
    let mut args: Vec<String> =
        ["--psb", "BANKLOAD", "--program", &source, "-I", &copy].map(str::to_owned).into();
    for (dd, file) in
        [("CUSTIN", "custin"), ("ACCTIN", "acctin"), ("POSTIN", "postin"), ("BRANIN", "branin")]
            .into_iter()
            .chain([("HISTIN", "histin")])
    {
        let path = bank.join("data").join(file).with_extension("dat");
        args.extend(["--dd".to_owned(), format!("{dd}={}", path.display())]);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    on(SECRET, &["batch", "-s"], &dir, &args).done();
    let defs = bank.join("online.defs").display().to_string();
    on(SECRET, &["define", "-s"], &dir, &[&defs]).done();
    dir
}

/// Starts the system; answers its process and the address of its door.
fn started(dir: &Path) -> (Child, String) {
    let mut command = command(Some(SECRET));
    command.args(["--json", "start", "-s"]).arg(dir).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let line = first_line(&mut child);
    let told: Value = serde_json::from_str(&line).unwrap();
    (child, told["ims_connect"].as_str().unwrap().to_owned())
}

fn terminals(address: &str, ledger: &Path, from: u64, seconds: &str) -> Command {
    let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../apps/bank/tellers.toml");
    let mut drive = command(None);
    drive.args(["drive", "--connect", address, "--terminals", "8", "--time", seconds]);
    drive.args(["--warm-up", "0", "--ramp", "0", "--patience", "5", "--from", &from.to_string()]);
    drive.arg("--ledger").arg(ledger).arg(plan).stdout(Stdio::piped()).stderr(Stdio::piped());
    drive
}

fn numbers(ledger: &Value, what: &str) -> Vec<u64> {
    ledger[what].as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).collect()
}

/// How often each transaction's entry stands in what a database holds, by its number.
fn entries(unloaded: &[u8]) -> BTreeMap<u64, usize> {
    let mut found = BTreeMap::new();
    for window in unloaded.windows(17).filter(|window| window.starts_with(b"19960401")) {
        let digits = std::str::from_utf8(&window[8..]).unwrap_or_default();
        if let Ok(reference) = digits.parse::<u64>() {
            *found.entry(reference).or_default() += 1;
        }
    }
    found
}

fn unloaded(dir: &Path, folder: &Folder, database: &str) -> Vec<u8> {
    let file = folder.join(database);
    let path = file.display().to_string();
    run(["unload", "-s", &dir.display().to_string(), database, &path]).done();
    std::fs::read(file).unwrap()
}

#[test]
fn what_a_terminal_was_told_is_there_once_after_a_kill() {
    if Command::new("cobc").arg("--version").output_in_time().is_err() {
        eprintln!("skipped: cobc is not installed (Debian package gnucobol3)");
        return;
    }
    let folder = Folder::new("tellers");
    let dir = bank(&folder);
    let (mut system, address) = started(&dir);
    let first = folder.join("first.json");
    // The first transaction waits for the compiler, as long as it takes.
    let warm = folder.join("warm.json");
    let is_warm = (0..60).any(|turn| {
        terminals(&address, &warm, 900_000_000 + turn * 1_000, "2").output_in_time().unwrap();
        let text = std::fs::read_to_string(&warm).unwrap_or_default();
        serde_json::from_str::<Value>(&text)
            .is_ok_and(|told| !numbers(&told, "confirmed").is_empty())
    });
    assert!(is_warm, "no transaction is ever confirmed");
    let mut drive = terminals(&address, &first, 0, "8").spawn().unwrap();
    pause(5_000);
    system.kill().unwrap();
    system.wait_in_time().unwrap();
    drive.wait_in_time().unwrap();
    let (mut system, address) = started(&dir);
    let second = folder.join("second.json");
    terminals(&address, &second, 100_000_000, "5").output_in_time().unwrap();
    on(SECRET, &["stop", "-s"], &dir, &[]).done();
    system.wait_in_time().unwrap();
    let [history, customers] =
        ["BANKHIST", "BANKCUST"].map(|name| entries(&unloaded(&dir, &folder, name)));
    let count = |database: &BTreeMap<u64, usize>, reference: u64| {
        database.get(&reference).copied().unwrap_or_default()
    };
    for file in [&first, &second] {
        let ledger: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let confirmed = numbers(&ledger, "confirmed");
        assert!(!confirmed.is_empty(), "{ledger}");
        for reference in confirmed {
            assert_eq!(count(&history, reference), 1, "{reference} of {}", file.display());
            assert_eq!(count(&customers, reference), 1, "{reference} of {}", file.display());
        }
        for reference in numbers(&ledger, "unknown") {
            let found = [count(&history, reference), count(&customers, reference)];
            assert!(found == [0, 0] || found == [1, 1], "{reference} is half there: {found:?}");
        }
    }
}
