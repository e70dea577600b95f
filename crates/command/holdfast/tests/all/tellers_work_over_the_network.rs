//! The bank's tellers at their terminals, and those of its bureau's customers: over TCP, through
//! COBOL message programs, killed in the middle of it; the terminals' own ledger decides.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::common::in_time::{EndInTime as _, RunInTime as _, first_line};
use crate::common::{Ended, Folder, SECRET, command, init, on, pause, run};

fn application() -> PathBuf {
    let bank = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../apps/bank");
    bank.canonicalize().unwrap()
}

/// An application in a system of its own, loaded, with its online side defined and a door on a port
/// of its own.
struct Application<'a> {
    /// Where its sources are.
    folder: PathBuf,
    /// Where copy members are besides.
    copies: Vec<PathBuf>,
    /// What it adds to the configuration.
    settings: String,
    /// The load program, and its files by DD.
    load: (&'a str, Vec<(&'a str, PathBuf)>),
    /// Its transactions.
    resources: &'a str,
}

impl Application<'_> {
    fn install(&self, folder: &Folder) -> PathBuf {
        let dir = folder.join("system");
        init(&dir, &[]);
        let config = dir.join("holdfast.toml");
        let mut text = std::fs::read_to_string(&config).unwrap() + &self.settings;
        let text_of = |path: &Path| path.display().to_string();
        let mut copies = vec![text_of(&self.folder.join("copy"))];
        copies.extend(self.copies.iter().map(|path| text_of(path)));
        for (name, values) in [
            ("ims_connect", vec!["127.0.0.1:0".to_owned()]),
            ("programs", vec![text_of(&self.folder.join("cobol"))]),
            ("include", copies.clone()),
        ] {
            let begin = format!("#: {name} = ");
            let line = text.lines().find(|line| line.starts_with(&begin)).unwrap();
            text = text.replace(&line.to_owned(), &format!("{name} = {values:?}"));
        }
        std::fs::write(&config, text).unwrap();
        let [dbd, psb] = ["dbd", "psb"].map(|name| text_of(&self.folder.join(name)));
        on(SECRET, &["gen", "-s"], &dir, &[&dbd, &psb]).done();
        let (program, files) = &self.load;
        let source = text_of(&self.folder.join("cobol").join(program).with_extension("cbl"));
        let mut args: Vec<String> =
            ["--psb", program, "--program", &source].map(str::to_owned).into();
        copies.iter().for_each(|copy| args.extend(["-I".to_owned(), copy.clone()]));
        for (dd, path) in files {
            args.extend(["--dd".to_owned(), format!("{dd}={}", path.display())]);
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        on(SECRET, &["batch", "-s"], &dir, &args).done();
        let resources = text_of(&self.folder.join(self.resources));
        on(SECRET, &["define", "-s"], &dir, &[&resources]).done();
        dir
    }
}

/// The bank.
pub(crate) fn bank(folder: &Folder) -> PathBuf {
    let bank = application();
    let file = |name: &str| bank.join("data").join(name).with_extension("dat");
    let files = [
        ("CUSTIN", file("custin")),
        ("ACCTIN", file("acctin")),
        ("POSTIN", file("postin")),
        ("BRANIN", file("branin")),
        ("HISTIN", file("histin")),
    ];
    let settings = std::fs::read_to_string(bank.join("holdfast.toml.part")).unwrap();
    let load = ("BANKLOAD", files.into());
    let (copies, resources) = (Vec::new(), "online.defs");
    Application { folder: bank, copies, settings, load, resources }.install(folder)
}

/// What its bureau runs for others.
fn bureau(folder: &Folder) -> PathBuf {
    let bank = application();
    let bureau = bank.join("online");
    let part = std::fs::read_to_string(bureau.join("holdfast.toml.part")).unwrap();
    let settings = format!("\n[randomizer.BANKRAND]\nkind = \"hash\"\n{part}");
    let load = ("BURLOAD", vec![("SYSIN", bureau.join("load.card"))]);
    let (copies, resources) = (vec![bank.join("copy")], "bureau.defs");
    Application { folder: bureau, copies, settings, load, resources }.install(folder)
}

/// Starts the system; answers its process and the address of its door.
fn started(dir: &Path) -> (Child, String) {
    let mut command = command(Some(SECRET));
    command.args(["--json", "start", "-s"]).arg(dir).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let line = first_line(&mut child);
    let answer: Value = serde_json::from_str(&line).unwrap();
    (child, answer["ims_connect"].as_str().unwrap().to_owned())
}

fn terminals(plan: &str, address: &str, ledger: &Path, (from, seconds): (u64, &str)) -> Command {
    let plan = application().join(plan);
    let mut drive = command(None);
    drive.args(["--json", "drive", "--connect", address, "--terminals", "8", "--time", seconds]);
    drive.args(["--warm-up", "0", "--ramp", "0", "--patience", "5", "--from", &from.to_string()]);
    drive.arg("--ledger").arg(ledger).arg(plan).stdout(Stdio::piped()).stderr(Stdio::piped());
    drive
}

fn numbers(ledger: &Value, what: &str) -> Vec<u64> {
    ledger[what].as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).collect()
}

/// How often each transaction's entry stands in what a database holds, by its number.
pub(crate) fn entries(unloaded: &[u8]) -> BTreeMap<u64, usize> {
    let mut found = BTreeMap::new();
    for window in unloaded.windows(17).filter(|window| window.starts_with(b"19960401")) {
        let digits = std::str::from_utf8(&window[8..]).unwrap_or_default();
        if let Ok(reference) = digits.parse::<u64>() {
            *found.entry(reference).or_default() += 1;
        }
    }
    found
}

pub(crate) fn unloaded(dir: &Path, folder: &Folder, database: &str) -> Vec<u8> {
    let file = folder.join(database);
    let path = file.display().to_string();
    run(["unload", "-s", &dir.display().to_string(), database, &path]).done();
    std::fs::read(file).unwrap()
}

const TELLERS: &str = "tellers.toml";

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
        let from = 900_000_000 + turn * 1_000;
        terminals(TELLERS, &address, &warm, (from, "2")).output_in_time().unwrap();
        let text = std::fs::read_to_string(&warm).unwrap_or_default();
        serde_json::from_str::<Value>(&text)
            .is_ok_and(|answer| !numbers(&answer, "confirmed").is_empty())
    });
    assert!(is_warm, "no transaction is ever confirmed");
    let mut drive = terminals(TELLERS, &address, &first, (0, "8")).spawn().unwrap();
    pause(5_000);
    system.kill().unwrap();
    system.wait_in_time().unwrap();
    drive.wait_in_time().unwrap();
    let (mut system, address) = started(&dir);
    let second = folder.join("second.json");
    terminals(TELLERS, &address, &second, (100_000_000, "5")).output_in_time().unwrap();
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

#[test]
fn inventory_hotel_and_warehouse_post_what_terminals_send_exactly_once() {
    if Command::new("cobc").arg("--version").output_in_time().is_err() {
        eprintln!("skipped: cobc is not installed (Debian package gnucobol3)");
        return;
    }
    let folder = Folder::new("bureau");
    let dir = bureau(&folder);
    let (mut system, address) = started(&dir);
    let mut ledgers = Vec::new();
    let mut is_complete = false;
    // The first transactions of each kind wait for the compiler, as long as it takes.
    for turn in 0..60 {
        let ledger = folder.join(&format!("ledger-{turn}"));
        let from = 1 + turn * 1_000_000;
        let drive = terminals("online/mix.toml", &address, &ledger, (from, "3"));
        let ended = { drive }.output_in_time().unwrap();
        let report: Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!(report["wrong"], 0, "{report}");
        let text = std::fs::read_to_string(&ledger).unwrap();
        ledgers.push(serde_json::from_str::<Value>(&text).unwrap());
        let count = |kind: &str| report["kinds"][kind]["count"].as_u64().unwrap_or_default();
        is_complete = ["INVT", "HOTL", "WHSE"].iter().all(|kind| count(kind) > 0);
        if is_complete {
            break;
        }
    }
    assert!(is_complete, "not all transactions are ever confirmed");
    on(SECRET, &["stop", "-s"], &dir, &[]).done();
    system.wait_in_time().unwrap();
    let databases = ["INVSTOCK", "HOTGUEST", "WHSORDER"];
    let databases = databases.map(|name| entries(&unloaded(&dir, &folder, name)));
    let found = |number: u64| -> usize {
        databases.iter().map(|one| one.get(&number).copied().unwrap_or_default()).sum()
    };
    for ledger in &ledgers {
        for number in numbers(ledger, "confirmed") {
            assert_eq!(found(number), 1, "{number}");
        }
        for number in numbers(ledger, "unknown") {
            assert!(found(number) <= 1, "{number}");
        }
    }
}

/// A small random generator, so that a run can be repeated.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// The processes that run programs of a system.
fn region_processes(system: &Child) -> Vec<u32> {
    let is_region = |pid: &u32| {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}"));
        let parent = read("stat").ok().and_then(|stat| {
            let fields = stat[stat.rfind(')')? + 1..].split_whitespace().nth(1)?.parse::<u32>();
            fields.ok()
        });
        parent == Some(system.id()) && read("cmdline").is_ok_and(|line| line.contains("region"))
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(is_region).collect()
}

/// One round: terminals whose ledger counts, others that are killed, regions that are killed, and
/// at the end perhaps the system. Answers the system if it lives.
fn round_of_kills(
    dice: &mut Dice,
    (mut system, address): (Child, String),
    (dir, ledger): (&Path, &Path),
    from: u64,
) -> Option<(Child, String)> {
    let other = ledger.with_extension("other");
    let mut drive = terminals(TELLERS, &address, ledger, (from, "4")).spawn().unwrap();
    let second = (from + 50_000, "4");
    let mut victim = terminals(TELLERS, &address, &other, second).spawn().unwrap();
    let kills_system = dice.below(2) == 0;
    for _ in 0..4 {
        pause(200 + dice.below(500));
        match dice.below(3) {
            0 => victim.kill().unwrap(),
            _ => {
                let regions = region_processes(&system);
                if !regions.is_empty() {
                    let pid = regions[dice.below(regions.len() as u64) as usize].to_string();
                    let _ = Command::new("kill").args(["-9", &pid]).output_in_time();
                }
                // A program whose process dies has failed; three times in a row it is stopped.
                for command in ["/STA PGM ALL", "/STA TRAN ALL"] {
                    on(SECRET, &["cmd", "-s"], dir, &[command]).done();
                }
            }
        }
    }
    if kills_system {
        system.kill().unwrap();
        system.wait_in_time().unwrap();
    }
    drive.wait_in_time().unwrap();
    let _ = victim.kill();
    victim.wait_in_time().unwrap();
    (!kills_system).then_some((system, address))
}

/// For 12 seconds, or as many as `HOLDFAST_ONLINE_SECONDS` says; `HOLDFAST_SEED` repeats a run.
#[test]
fn clients_regions_and_the_system_are_killed_and_every_ledger_holds() {
    if Command::new("cobc").arg("--version").output_in_time().is_err() {
        eprintln!("skipped: cobc is not installed (Debian package gnucobol3)");
        return;
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seconds = number("HOLDFAST_ONLINE_SECONDS").unwrap_or(12);
    let seed = number("HOLDFAST_SEED").unwrap_or_else(|| u64::from(std::process::id())).max(1);
    eprintln!("seed {seed}");
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let folder = Folder::new("killed-tellers");
    let dir = bank(&folder);
    let begun = std::time::Instant::now();
    let (mut running, mut ledgers, mut round) = (None, Vec::new(), 0);
    while begun.elapsed().as_secs() < seconds || round < 2 {
        let system = running.take().unwrap_or_else(|| started(&dir));
        let ledger = folder.join(&format!("round-{round}"));
        running = round_of_kills(&mut dice, system, (&dir, &ledger), 100_000 * (round + 1));
        ledgers.push(ledger);
        round += 1;
    }
    let (mut system, _) = running.unwrap_or_else(|| started(&dir));
    on(SECRET, &["stop", "-s"], &dir, &[]).done();
    system.wait_in_time().unwrap();
    let [history, customers] =
        ["BANKHIST", "BANKCUST"].map(|name| entries(&unloaded(&dir, &folder, name)));
    assert_eq!(history, customers, "seed {seed}: every transaction is whole or is not there");
    assert!(history.values().all(|count| *count == 1), "seed {seed}: something is doubled");
    let mut confirmed = 0;
    for file in ledgers {
        let text = std::fs::read_to_string(&file).unwrap();
        let ledger: Value = serde_json::from_str(&text).unwrap();
        for reference in numbers(&ledger, "confirmed") {
            assert!(history.contains_key(&reference), "seed {seed}: {reference} is lost");
            confirmed += 1;
        }
    }
    eprintln!("{round} rounds, {confirmed} transactions confirmed");
}

/// The story: it reached nobody, and all was well.
#[test]
fn terminals_that_reach_nobody_are_no_good_end() {
    let folder = Folder::new("tellers-nobody");
    let plan = folder.join("plan");
    std::fs::write(&plan, "[[mix]]\nname = \"pay\"\nsegments = [\"PAY {unique:4}\"]\n").unwrap();
    // A port that was free just now.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut drive = command(None);
    drive.args(["drive", "--connect", &address, "--terminals", "2", "--time", "0.2"]);
    drive.args(["--warm-up", "0", "--ramp", "0"]).arg(&plan);
    let ended = Ended::of(&drive.output_in_time().unwrap());
    assert_eq!(ended.code, 1, "{}{}", ended.out, ended.err);
    assert!(ended.err.contains("no transaction was confirmed"), "{}", ended.err);
}
