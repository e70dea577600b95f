//! A system whose databases are on an engine: the bank runs there, several systems share it, who
//! dies loses nothing for the others, and what has no meaning there is told.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::common::in_time::{EndInTime as _, RunInTime as _};
use crate::common::postgres::Server;
use crate::common::{Ended, Folder, SECRET, command, init, issue, on, pause, run, start};

const SOURCES: &str = "         DBD   NAME=SHOPDB,ACCESS=(HDAM,OSAM),RMNAME=(HASHER,1,10)
         DATASET DD1=SHOPDD
         SEGM  NAME=CUSTOMER,PARENT=0,BYTES=20
         FIELD NAME=(CUSTNO,SEQ,U),START=1,BYTES=8
         DBDGEN
         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=A,KEYLEN=8
         SENSEG NAME=CUSTOMER,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=CLERK,CMPAT=YES
         END
";
const MORE: &str = "         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=G,KEYLEN=8
         SENSEG NAME=CUSTOMER,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=READER,CMPAT=YES
         END
";
const PRELUDE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>
int CTDLI();
struct pcb { char dbd[8], level[2], status[2], rest[100]; };
static char area[64];
static int insert(struct pcb *shop, int key)
{
    sprintf(area, "%08d%012d", key, 0);
    CTDLI("ISRT", shop, area, "CUSTOMER ", NULL);
    return memcmp(shop->status, "  ", 2);
}
int DLITCBL(struct pcb *io, struct pcb *shop)
"#;
const CUSTOMER_1: &str = "L        GU    CUSTOMER(CUSTNO   =00000001)\n";

/// Systems on an engine: copies of one folder, as they are made for other machines.
struct Systems {
    folder: Folder,
    dirs: Vec<PathBuf>,
}

impl Systems {
    fn on(server: &Server, count: usize) -> Systems {
        let folder = Folder::new("engine");
        let dirs: Vec<PathBuf> = (1..=count).map(|at| folder.join(&format!("s{at}"))).collect();
        let cheap = ["--guess-memory", "64 KiB", "--guess-passes", "1", "--engine"];
        on(SECRET, &["init"], &dirs[0], &[&cheap[..], &[&server.url()]].concat()).done();
        for other in &dirs[1..] {
            fs::create_dir(other).unwrap();
            for file in ["holdfast.toml", "holdfast.keys"] {
                fs::copy(dirs[0].join(file), other.join(file)).unwrap();
            }
        }
        Systems { folder, dirs }
    }

    fn generate(&self, at: usize, sources: &str) -> Ended {
        let path = self.folder.join("sources");
        fs::write(&path, sources).unwrap();
        on(SECRET, &["gen", "-s"], &self.dirs[at], &[path.to_str().unwrap()])
    }

    fn program(&self, name: &str, body: &str) -> PathBuf {
        let path = self.folder.join(name);
        fs::write(&path, format!("{PRELUDE}{body}")).unwrap();
        path
    }

    fn batch(&self, at: usize, program: &Path, more: &[&str]) -> Command {
        let mut command = command(Some(SECRET));
        command.arg("batch").arg("-s").arg(&self.dirs[at]).arg("--program").arg(program);
        command.args(["--psb", "CLERK"]).args(more);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn bmp(&self, at: usize, program: &Path) -> Child {
        self.batch(at, program, &["--type", "bmp"]).spawn().unwrap()
    }

    fn stop(&self, at: usize, child: Child) {
        on(SECRET, &["stop", "-s"], &self.dirs[at], &[]).done();
        Ended::of(&child.finish_in_time().unwrap()).done();
    }

    /// Customer 1, as a program in a started system sees it.
    fn customer(&self, at: usize) -> String {
        let rest = ["--psb", "CLERK", "--type", "bmp", "--json"];
        let seen = issue(&self.dirs[at], &rest, CUSTOMER_1).done().json();
        let digits = seen["data"].as_str().unwrap().to_owned();
        let pair = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
        (0..digits.len() / 2).map(|at| char::from(pair(at * 2))).collect()
    }
}

fn ended(child: Child) -> Ended {
    Ended::of(&child.finish_in_time().unwrap())
}

/// Waits until a program has said something.
fn printed(child: &mut Child) -> String {
    crate::common::in_time::first_line(child)
}

fn is_missing(compiler: &str) -> bool {
    let missing = Command::new(compiler).arg("--version").output_in_time().is_err();
    if missing {
        eprintln!("skipped: {compiler} is not installed");
    }
    missing
}

#[test]
fn the_bank_runs_on_an_engine() {
    let Some(server) = Server::start() else { return };
    if is_missing("cobc") {
        return;
    }
    let bank = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../apps/bank");
    let work = Folder::new("bank-engine");
    let mut command = Command::new("bash");
    command.arg(bank.join("run.sh")).arg(bank.join("data")).arg(work.join("work"));
    command.env("HOLDFAST", env!("CARGO_BIN_EXE_holdfast")).env("HOLDFAST_PASSPHRASE", SECRET);
    command.env("ENGINE", server.url());
    let ended = Ended::of(&command.output_in_time().expect("a shell")).done();
    assert!(ended.err.contains("the bank runs"), "{}", ended.err);
    // What left the process is sealed: names of customers are nowhere in the engine in clear.
    let customers = fs::read(bank.join("data/custin.dat")).unwrap();
    let name: String = String::from_utf8_lossy(&customers[8..20]).trim().to_owned();
    let hex: String = name.bytes().map(|byte| format!("{byte:02x}")).collect();
    let found = server.psql(&format!(
        "SELECT count(*) FROM holdfast.entries WHERE position('\\x{hex}'::bytea in v) > 0"
    ));
    assert_eq!(found, "0", "{name}");
    let there: u64 = server.psql("SELECT count(*) FROM holdfast.entries").parse().unwrap();
    assert!(there > 100, "{there}");
}

#[test]
fn what_has_no_meaning_on_an_engine_says_what_to_use_instead() {
    let Some(server) = Server::start() else { return };
    let systems = Systems::on(&server, 1);
    let dir = systems.dirs[0].to_str().unwrap();
    let files: Vec<_> = fs::read_dir(dir).unwrap().map(|one| one.unwrap().file_name()).collect();
    let mut files: Vec<String> = files
        .into_iter()
        .map(|one| one.into_string().unwrap())
        .filter(|one| one != "lock")
        .collect();
    files.sort();
    assert_eq!(files, ["holdfast.keys", "holdfast.toml"], "no log, no data, no RECON");
    for words in [
        &["restart", dir][..],
        &["log", "status", dir],
        &["archive", "list", "-s", dir],
        &["image-copy", "-s", dir, "--all", "--to", "/tmp"],
        &["recover", "-s", dir, "--all"],
        &["backout", "-s", dir, "--list"],
        &["recon", "list", "-s", dir],
        &["pool", "list", dir],
        &["sets", "list", dir],
        &["protect", dir],
        &["convert", dir, "--all", "--to", "plain"],
    ] {
        let ended = run(words);
        assert!(ended.code == 1 || ended.code == 2, "{words:?}: {}{}", ended.out, ended.err);
        if ended.code == 1 {
            ended.failed("HFY034", &["pg_basebackup", "docs/scale.md"]);
        }
    }
    // Nor do settings of such parts have an effect that is not noticed.
    let config = systems.dirs[0].join("holdfast.toml");
    let text = fs::read_to_string(&config).unwrap();
    assert!(!text.contains("[log]") && text.contains("[engine]"), "{text}");
    fs::write(&config, format!("{text}\n[log]\nstripes = 2\n")).unwrap();
    run(["status", dir]).failed("HFY003", &["the engine has"]);
    let with_password = text.replace("holdfast@", "holdfast:secret@");
    fs::write(&config, with_password).unwrap();
    run(["status", dir]).failed("HFY003", &["PGPASSWORD"]);
    let other = text.replace("store = \"", "store = \"0").replacen("0\"  #", "\"  #", 1);
    assert_ne!(other, text);
    fs::write(&config, text).unwrap();
    on(SECRET, &["status"], &systems.dirs[0], &[]).done();
    on("wrong", &["status"], &systems.dirs[0], &[]).failed("HFS027", &[]);
    // A schema that is there is not to be taken.
    let next = systems.folder.join("next");
    let url = server.url();
    on(SECRET, &["init"], &next, &["--engine", &url]).failed("HFG004", &["holdfast"]);
    assert!(!next.join("holdfast.toml").exists());
}

#[test]
fn systems_share_the_databases_of_an_engine() {
    let Some(server) = Server::start() else { return };
    if is_missing("cc") {
        return;
    }
    let systems = Systems::on(&server, 3);
    systems.generate(0, SOURCES).done();
    let first = systems.program("first.c", "{ return insert(shop, 1); }");
    ended(systems.batch(0, &first, &[]).spawn().unwrap()).done();
    let started = [start(&systems.dirs[0]), start(&systems.dirs[1])];
    let counter = systems.program(
        "counter.c",
        "{
        for (int time = 0; time < 60; time++) {
            CTDLI(\"GHU \", shop, area, \"CUSTOMER(CUSTNO  = 00000001)\", NULL);
            area[20] = 0;
            sprintf(area + 8, \"%012d\", atoi(area + 8) + 1);
            CTDLI(\"REPL\", shop, area, NULL);
            if (memcmp(shop->status, \"  \", 2)) return 8;
            CTDLI(\"CHKP\", io, \"CKPT0001\", NULL);
        }
        return 0;
    }",
    );
    let both = [systems.bmp(0, &counter), systems.bmp(1, &counter)];
    let mut both = both.map(ended);
    both.iter_mut().for_each(|one| assert_eq!(one.code, 0, "{}{}", one.out, one.err));
    assert_eq!(systems.customer(0), "00000001000000000120", "no update is lost");
    assert_eq!(systems.customer(1), "00000001000000000120");
    // One command shows all systems; a third one asks without being started.
    let status = on(SECRET, &["status", "--json"], &systems.dirs[2], &[]).done().json();
    let all = status["systems"].as_array().unwrap();
    let named = |dir: &PathBuf| {
        let dir = dir.to_str().unwrap();
        all.iter().filter(|one| one["name"].as_str().unwrap().ends_with(dir)).count()
    };
    assert_eq!([0, 1].map(|at| named(&systems.dirs[at])), [1, 1], "{all:?}");
    let answer = on(SECRET, &["status"], &systems.dirs[0], &[]).done();
    assert!(answer.out.contains("running") && answer.out.contains("programs"), "{}", answer.out);
    // Definitions are changed once, from anywhere, and seen by all; not under a program's feet.
    let waits = systems.program(
        "waits.c",
        "{ insert(shop, 7); puts(\"in\"); fflush(stdout); sleep(600); return 0; }",
    );
    let mut child = systems.bmp(1, &waits);
    assert_eq!(printed(&mut child).trim(), "in");
    systems.generate(2, MORE).failed("HFY038", &["at work", systems.dirs[1].to_str().unwrap()]);
    // The system under it dies: its unit of work ends, and its locks with it.
    let [one, mut two] = started;
    two.kill().unwrap();
    two.wait_in_time().unwrap();
    assert_eq!(ended(child).code, 1);
    let begun = std::time::Instant::now();
    while systems.generate(2, MORE).code != 0 {
        assert!(begun.elapsed().as_secs() < 60, "what a dead system held is free");
        pause(200);
    }
    let rest = ["--psb", "READER", "--type", "bmp"];
    issue(&systems.dirs[0], &rest, CUSTOMER_1).done();
    let seven = "L        GU    CUSTOMER(CUSTNO   =00000007)\n";
    let seen = issue(&systems.dirs[0], &rest, seven);
    assert!(seen.out.contains("GE"), "what was in flight is backed out: {}", seen.out);
    on(SECRET, &["db", "verify", "-s"], &systems.dirs[0], &["SHOPDB"]).done();
    on(SECRET, &["db", "status", "-s"], &systems.dirs[0], &["SHOPDB"]).done();
    on(SECRET, &["verify"], &systems.dirs[0], &[]).done();
    systems.stop(0, one);
}

#[test]
fn nothing_acknowledged_is_lost_when_program_or_backend_is_killed() {
    let Some(mut server) = Server::start() else { return };
    if is_missing("cc") {
        return;
    }
    let systems = Systems::on(&server, 2);
    systems.generate(0, SOURCES).done();
    // Each says a number once it is committed.
    let body = |first: u32| {
        format!(
            "{{ for (int n = {first}; n < {first} + 20000; n++) {{
                if (insert(shop, n)) return 8;
                CTDLI(\"CHKP\", io, \"CKPT0001\", NULL);
                if (memcmp(io->status, \"  \", 2)) return 9;
                printf(\"%d\\n\", n); fflush(stdout);
            }} return 0; }}"
        )
    };
    let mut acknowledged = Vec::new();
    for (round, what) in ["program", "backend", "engine"].into_iter().enumerate() {
        let system = start(&systems.dirs[0]);
        let name = format!("inserts{round}.c");
        let path = systems.program(&name, &body(1 + round as u32 * 1_000_000));
        let mut child = systems.bmp(0, &path);
        printed(&mut child);
        pause(300);
        match what {
            "program" => {
                child.kill().unwrap();
            }
            "backend" => {
                server.psql(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                     WHERE pid <> pg_backend_pid() AND usename = 'holdfast'",
                );
            }
            _ => server.crash_and_restart(),
        }
        let one = ended(child);
        let numbers = one.out.lines().filter_map(|line| line.trim().parse::<u32>().ok());
        acknowledged.extend(numbers);
        if what == "program" {
            systems.stop(0, system);
        } else {
            let mut system = system;
            system.kill().unwrap();
            system.wait_in_time().unwrap();
        }
    }
    assert!(acknowledged.len() > 10, "{acknowledged:?}");
    // Another system goes on where they were: everything acknowledged is there.
    let system = start(&systems.dirs[1]);
    on(SECRET, &["db", "verify", "-s"], &systems.dirs[1], &["SHOPDB"]).done();
    let cards: String = acknowledged
        .iter()
        .map(|number| format!("L        GU    CUSTOMER(CUSTNO   ={number:08})\n"))
        .collect();
    let rest = ["--psb", "CLERK", "--type", "bmp", "--json"];
    let seen = issue(&systems.dirs[1], &rest, &cards).done();
    let found = seen.out.lines().filter(|line| line.contains("\"status\":\"  \"")).count();
    assert_eq!(found, acknowledged.len(), "{}", seen.err);
    systems.stop(1, system);
}

#[test]
fn a_database_moves_to_an_engine_and_back_while_it_is_read() {
    let Some(server) = Server::start() else { return };
    if is_missing("cc") {
        return;
    }
    let systems = Systems::on(&server, 1);
    systems.generate(0, SOURCES).done();
    let [kernel, again] = ["kernel", "again"].map(|name| systems.folder.join(name));
    let sources = systems.folder.join("sources");
    for dir in [&kernel, &again] {
        init(dir, &[]);
        on(SECRET, &["gen", "-s"], dir, &[sources.to_str().unwrap()]).done();
    }
    let fills = systems.program(
        "fills.c",
        "{ for (int n = 1; n <= 3000; n++) if (insert(shop, n)) return 8; return 0; }",
    );
    let program = fills.to_str().unwrap();
    let clerk = ["--psb", "CLERK", "--program", program];
    on(SECRET, &["batch", "-s"], &kernel, &clerk).done();
    // The source is started, and a program reads it all the while.
    let started = start(&kernel);
    let reads = systems.program(
        "reads.c",
        "{
        puts(\"in\"); fflush(stdout);
        for (int n = 0; n < 300; n++) {
            CTDLI(\"GU  \", shop, area, \"CUSTOMER(CUSTNO  = 00000001)\", NULL);
            if (memcmp(shop->status, \"  \", 2)) return 8;
            usleep(10000);
        }
        return 0;
    }",
    );
    let mut command = command(Some(SECRET));
    command.arg("batch").arg("-s").arg(&kernel).arg("--program").arg(&reads);
    command.args(["--psb", "CLERK", "--type", "bmp"]);
    let mut reader = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert_eq!(printed(&mut reader).trim(), "in");
    let engine = &systems.dirs[0];
    let to = |dir: &Path| ["--json".into(), "--to".into(), dir.to_str().unwrap().to_owned()];
    let moves = |from: &Path, dir: &Path| {
        let rest = to(dir);
        let rest: Vec<&str> = rest.iter().map(String::as_str).chain(["SHOPDB"]).collect();
        on(SECRET, &["move", "-s"], from, &rest)
    };
    let there = moves(&kernel, engine).done().json();
    assert_eq!(there["segments"], 3000);
    ended(reader).done();
    // It is there already: nothing is loaded over it.
    assert_eq!(moves(&kernel, engine).code, 1);
    on(SECRET, &["stop", "-s"], &kernel, &[]).done();
    ended(started).done();
    on(SECRET, &["db", "verify", "-s"], engine, &["SHOPDB"]).done();
    // And back, from a system that is started, too.
    let started = start(engine);
    let back = moves(engine, &again).done().json();
    assert_eq!(back, there, "counts and digest are those of the first place");
    systems.stop(0, started);
    on(SECRET, &["db", "verify", "-s"], &again, &["SHOPDB"]).done();
    // Another definition gets nothing.
    let other = systems.folder.join("other");
    init(&other, &[]);
    let longer = SOURCES.replace("BYTES=20", "BYTES=21");
    fs::write(&sources, longer).unwrap();
    on(SECRET, &["gen", "-s"], &other, &[sources.to_str().unwrap()]).done();
    let refused = moves(&again, &other);
    assert!(refused.code == 1 && refused.err.contains("HFY112"), "{}", refused.err);
    on(SECRET, &["db", "status", "-s"], &other, &["SHOPDB"]).done();
}

#[test]
fn a_checkpoint_of_one_system_is_found_in_another() {
    let Some(server) = Server::start() else { return };
    if is_missing("cc") {
        return;
    }
    let systems = Systems::on(&server, 2);
    systems.generate(0, SOURCES).done();
    let restarts = systems.program(
        "restarts.c",
        "{
        int length = 4, number = 0, io_length = 64;
        char id[16] = \"            \";
        CTDLI(\"XRST\", io, &io_length, id, &length, &number, NULL);
        if (number == 0) {
            insert(shop, 1);
            number = 42;
            CTDLI(\"CHKP\", io, &io_length, \"SHOP0001\", &length, &number, NULL);
            insert(shop, 2);
            puts(\"in\"); fflush(stdout);
            sleep(600);
        }
        printf(\"number %d\\n\", number);
        return insert(shop, 3);
    }",
    );
    let mut one = start(&systems.dirs[0]);
    let mut child = systems.bmp(0, &restarts);
    assert_eq!(printed(&mut child).trim(), "in");
    one.kill().unwrap();
    one.wait_in_time().unwrap();
    assert_eq!(ended(child).code, 1);
    let two = start(&systems.dirs[1]);
    let more = ["--type", "bmp", "--ckptid", "LAST"];
    let again = ended(systems.batch(1, &restarts, &more).spawn().unwrap()).done();
    assert!(again.out.contains("number 42"), "{}{}", again.out, again.err);
    let cards = "L   9999 GN\n";
    let rest = ["--psb", "CLERK", "--type", "bmp", "--json"];
    let seen = issue(&systems.dirs[1], &rest, cards).done();
    let found = seen.out.lines().filter(|line| line.contains("\"status\":\"  \"")).count();
    assert_eq!(found, 2, "1 and 3, but not 2: {}", seen.out);
    systems.stop(1, two);
}
