//! Programs run with their PSBs: a normal end is a commit, every other end is a backout, programs
//! of a started system do not lose each other's updates, a broken load is told.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use crate::common::in_time::{EndInTime as _, RunInTime as _, first_line};
use crate::common::{Ended, Folder, SECRET, command, issue, on, run, start, system_of};
use serde_json::Value;

const SOURCES: &str = "* A SHOP
         DBD   NAME=SHOPDB,ACCESS=(HDAM,OSAM),RMNAME=(HASHER,1,10)
         DATASET DD1=SHOPDD
         SEGM  NAME=CUSTOMER,PARENT=0,BYTES=20
         FIELD NAME=(CUSTNO,SEQ,U),START=1,BYTES=8
         DBDGEN
         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=A,KEYLEN=8
         SENSEG NAME=CUSTOMER,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=CLERK,CMPAT=YES
         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=L,KEYLEN=8
         SENSEG NAME=CUSTOMER,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=LOADER,CMPAT=YES
         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=G,KEYLEN=8
         SENSEG NAME=CUSTOMER,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=NARROW,SSASIZE=20
         DBD   NAME=ORDERS,ACCESS=(GSAM,BSAM)
         DATASET DD1=INFILE,RECFM=F,RECORD=8
         DBDGEN
         DBD   NAME=BILLS,ACCESS=(GSAM,BSAM)
         DATASET DD2=OUTFILE,RECFM=F,RECORD=8
         DBDGEN
SHOPPCB  PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=A,KEYLEN=8
         SENSEG NAME=CUSTOMER,PARENT=0
         PCB   TYPE=GSAM,DBDNAME=ORDERS,PROCOPT=GS
         PCB   TYPE=GSAM,DBDNAME=BILLS,PROCOPT=LS
         PSBGEN LANG=COBOL,PSBNAME=BATCH,CMPAT=YES
         END
";

/// What stands in front of every program of these tests.
const PRELUDE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
int CTDLI(), AIBTDLI();
struct pcb {
    char dbd[8], level[2], status[2], options[4], reserved[4], segment[8];
    int key_length, segments;
    char key[100];
};
struct aib {
    char id[8];
    int length;
    char subfunction[8], resource[8], resource2[8], reserved[8];
    int area_length, area_used, field, options, reserved2;
    int return_code, reason, extension;
    unsigned pcb, address2, address3;
    char token[16], return_token[8], reserved3[16];
};
static char area[64];
static void insert(struct pcb *shop, int key)
{
    sprintf(area, "%08d%012d", key, 0);
    CTDLI("ISRT", shop, area, "CUSTOMER ", NULL);
    if (memcmp(shop->status, "  ", 2)) {
        printf("ISRT %d: %.2s\n", key, shop->status);
        exit(16);
    }
}
"#;

/// A system with a shop, and a folder for programs.
struct Shop {
    folder: Folder,
    dir: PathBuf,
}

impl Shop {
    fn new(test: &str) -> Shop {
        let (folder, dir) = system_of(test, SOURCES, "");
        Shop { folder, dir }
    }

    fn program(&self, name: &str, body: &str) -> PathBuf {
        let path = self.folder.join(name);
        let entry =
            "int DLITCBL(struct pcb *io, struct pcb *shop, struct pcb *in, struct pcb *out)";
        fs::write(&path, format!("{PRELUDE}\n{entry}\n{body}")).unwrap();
        path
    }

    fn arguments(&self, program: &Path, rest: &[&str]) -> Vec<String> {
        let mut args = vec!["batch".to_owned(), "-s".to_owned(), text(&self.dir)];
        args.extend(["--program".to_owned(), text(program)]);
        args.extend(rest.iter().map(|word| (*word).to_owned()));
        args
    }

    fn batch(&self, program: &Path, rest: &[&str]) -> Ended {
        run(self.arguments(program, rest))
    }

    /// The customers' segments, from a test run of calls.
    fn customers(&self) -> Vec<String> {
        let ended = self.dltest(&["--psb", "CLERK", "--json"], "L   9999 GN\n").done();
        let lines = ended.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let found = lines.filter(|line| line["status"] == "  ");
        found.map(|line| unhex(line["data"].as_str().unwrap())).collect()
    }

    fn dltest(&self, rest: &[&str], cards: &str) -> Ended {
        issue(&self.dir, rest, cards)
    }

    fn start(&self) -> Child {
        start(&self.dir)
    }

    /// Who has what open, as RECON says.
    fn open(&self) -> Vec<String> {
        let printed = on(SECRET, &["recon", "list", "--json", "-s"], &self.dir, &[]).done().json();
        let word = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
        let all = printed["authorisations"].as_array().unwrap().iter();
        all.map(|one| ["psb", "database", "access"].map(|key| word(one, key)).join(" ")).collect()
    }

    /// Stops the system, which says what it warns of.
    fn stop(&self, child: Child) -> String {
        run([OsStr::new("stop"), OsStr::new("-s"), self.dir.as_os_str()]).done();
        Ended::of(&child.finish_in_time().unwrap()).done().err
    }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn unhex(digits: &str) -> String {
    let pair = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len() / 2).map(|at| char::from(pair(at * 2))).collect()
}

fn have_compiler() -> bool {
    let found = std::process::Command::new("cc").arg("--version").output_in_time().is_ok();
    if !found {
        eprintln!("skipped: cc is not installed");
    }
    found
}

#[test]
fn a_normal_end_commits_and_its_return_code_comes_out() {
    if !have_compiler() {
        return;
    }
    let shop = Shop::new("normal");
    let program = shop.program("fine.c", "{ insert(shop, 1); insert(shop, 2); return 0; }");
    let ended = shop.batch(&program, &["--psb", "clerk"]).done();
    assert!(ended.out.contains("return code 0, 2 calls"), "{}", ended.out);
    let program = shop.program("four.c", "{ insert(shop, 3); puts(\"SHOWN\"); return 4; }");
    let ended = shop.batch(&program, &["--psb", "CLERK", "--json"]);
    assert_eq!(ended.code, 1);
    assert_eq!(ended.json()["return_code"], 4);
    assert!(ended.err.contains("SHOWN"), "what it displays stands beside the report");
    let trace = text(&shop.folder.join("calls.jsonl"));
    let program = shop.program("stop.c", "{ insert(shop, 4); exit(0); }");
    shop.batch(&program, &["--psb", "CLERK", "--trace", &trace, "--type", "DBB"]).done();
    let call: Value = serde_json::from_str(fs::read_to_string(trace).unwrap().trim()).unwrap();
    assert_eq!((&call["call"], &call["key"]), (&"ISRT".into(), &"00000004".into()));
    let mut customers = shop.customers();
    customers.sort();
    assert_eq!(customers.len(), 4);
    assert!(customers[3].starts_with("00000004"), "{customers:?}");
}

#[test]
fn every_other_end_is_backed_out_and_the_last_calls_are_shown() {
    if !have_compiler() {
        return;
    }
    let shop = Shop::new("abend");
    for (name, body, code) in [
        ("abort.c", "{ insert(shop, 1); abort(); }", "SIGABRT"),
        ("killed.c", "{ insert(shop, 1); raise(SIGKILL); return 0; }", "S222"),
        ("address.c", "{ insert(shop, 1); *(volatile int *)16 = 1; return 0; }", "S0C4"),
        ("roll.c", "{ insert(shop, 1); CTDLI(\"ROLL\", io, NULL); return 0; }", "U0778"),
        ("nowhere.c", "{ insert(shop, 1); CTDLI(\"GU  \", 16, area, NULL); return 0; }", "U0476"),
    ] {
        let ended = shop.batch(&shop.program(name, body), &["--psb", "CLERK"]);
        assert_eq!(ended.code, 1, "{name}");
        assert!(ended.err.contains(code), "{name}: {}", ended.err);
        assert!(ended.err.contains("ISRT SHOPDB"), "{name}: {}", ended.err);
        assert!(shop.customers().is_empty(), "{name}");
    }
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    if !have_compiler() {
        return;
    }
    let shop = Shop::new("missing");
    let fine = shop.program("fine.c", "{ return 0; }");
    let expected_text = |ended: Ended, code: i32, words: &[&str]| {
        assert_eq!(ended.code, code, "{}", ended.err);
        words.iter().for_each(|word| assert!(ended.err.contains(word), "{word}: {}", ended.err));
    };
    expected_text(shop.batch(&fine, &["--psb", "NOBODY"]), 1, &["NOBODY", "holdfast gen"]);
    let absent = shop.folder.join("absent.cbl");
    expected_text(shop.batch(&absent, &["--psb", "CLERK"]), 1, &["absent.cbl"]);
    expected_text(
        shop.batch(&fine, &["--psb", "CLERK", "--type", "bmp"]),
        1,
        &["holdfast start -s"],
    );
    expected_text(shop.batch(&fine, &["--psb", "CLERK", "--dd", "NOPATH"]), 2, &["NOPATH"]);
    let twice = ["--psb", "CLERK", "--dd", "A=x", "--dd", "a=y"];
    expected_text(shop.batch(&fine, &twice), 2, &["DD A"]);
    expected_text(
        shop.batch(&fine, &["--psb", "CLERK", "--ckptid", "MUCHTOOLONG"]),
        1,
        &["MUCHTOOLONG"],
    );
    let broken = shop.program("broken.c", "{ return }");
    expected_text(shop.batch(&broken, &["--psb", "CLERK"]), 1, &["broken.c", "does not compile"]);
    expected_text(shop.dltest(&["--psb", "CLERK", "--pcb", "OTHER"], ""), 2, &["OTHER", "SHOPDB"]);
    let dry = shop.batch(&fine, &["--psb", "CLERK", "--dry-run"]).done();
    assert!(dry.out.contains("HDAM SHOPDB, PROCOPT A") && dry.out.contains("nothing was run"));
    run([OsStr::new("stop"), OsStr::new("-s"), shop.dir.as_os_str()]).failed("HFY100", &["not"]);
}

#[test]
fn programs_of_a_started_system_lose_no_updates() {
    if !have_compiler() {
        return;
    }
    let shop = Shop::new("started");
    let program = shop.program("first.c", "{ insert(shop, 1); return 0; }");
    shop.batch(&program, &["--psb", "CLERK"]).done();
    let system = shop.start();
    let counter = "{
        for (int time = 0; time < 150; time++) {
            CTDLI(\"GHU \", shop, area, \"CUSTOMER(CUSTNO  = 00000001)\", NULL);
            area[20] = 0;
            sprintf(area + 8, \"%012d\", atoi(area + 8) + 1);
            CTDLI(\"REPL\", shop, area, NULL);
            if (memcmp(shop->status, \"  \", 2)) return 8;
            CTDLI(\"CHKP\", io, \"CKPT0001\", NULL);
        }
        return 0;
    }";
    let program = shop.program("counter.c", counter);
    let rest = ["--psb", "CLERK", "--type", "bmp"];
    let begin = || {
        let mut command = command(None);
        command.args(shop.arguments(&program, &rest)).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [begin(), begin()];
    for child in both {
        Ended::of(&child.finish_in_time().unwrap()).done();
    }
    let beside = shop.batch(&program, &["--psb", "CLERK"]);
    assert!(beside.code == 1 && beside.err.contains("process"), "{}", beside.err);
    let cards = "L        GU    CUSTOMER(CUSTNO   =00000001)\n";
    let seen = shop.dltest(&["--psb", "CLERK", "--type", "bmp", "--json"], cards).done();
    assert_eq!(unhex(seen.json()["data"].as_str().unwrap()), "00000001000000000300");
    // One that dies in the middle, and one that the stop sends away.
    let program = shop.program("dies.c", "{ insert(shop, 7); raise(SIGKILL); return 0; }");
    assert_eq!(shop.batch(&program, &rest).code, 1);
    let warning = shop.stop(system);
    assert!(!warning.contains("backed out"), "who has just died is not sent away: {warning}");
    assert_eq!(shop.customers(), ["00000001000000000300"]);
    let system = shop.start();
    on(SECRET, &["db", "verify", "-s"], &shop.dir, &["SHOPDB"]).done();
    let program = shop.program(
        "stays.c",
        "{ insert(shop, 8); puts(\"in\"); fflush(stdout); \
                                           for (;;) CTDLI(\"GU  \", shop, area, NULL); }",
    );
    let mut command = command(None);
    command.args(shop.arguments(&program, &rest)).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    first_line(&mut child);
    assert_eq!(shop.open(), ["  update", "CLERK SHOPDB update"]);
    // What it has inserted is in flight: a status counts it, and a verification waits for its end.
    on(SECRET, &["db", "status", "-s"], &shop.dir, &["SHOPDB"]).done();
    let verify = |rest: &[&str]| on(SECRET, &["db", "verify", "-s"], &shop.dir, rest);
    verify(&["SHOPDB", "--wait", "1"]).failed("HFY017", &["SHOPDB"]);
    let warning = shop.stop(system);
    assert!(warning.contains("programs that were running are backed out: 1"), "{warning}");
    assert_eq!(Ended::of(&child.finish_in_time().unwrap()).code, 1);
    assert_eq!(shop.open(), [""; 0]);
    assert_eq!(shop.customers(), ["00000001000000000300"]);
}

/// Looks for the passphrase, which it does not itself contain, wherever a program can look: in its
/// environment, on its command line, in every page that it can read.
const SPY: &str = r#"
#include <stdint.h>
#include <unistd.h>
extern char **environ;
static unsigned char needle[] = {_NEEDLE_};
static int found_in(const unsigned char *at, size_t len)
{
    for (size_t i = 0; i + sizeof needle <= len; i++) {
        size_t j = 0;
        while (j < sizeof needle && at[i + j] == (needle[j] ^ 0x5a)) j++;
        if (j == sizeof needle) return 1;
    }
    return 0;
}
static void look(const char *path)
{
    static unsigned char text[1 << 20];
    FILE *file = fopen(path, "r");
    size_t len = file ? fread(text, 1, sizeof text, file) : 0;
    printf("%s: %s\n", path, found_in(text, len) ? "FOUND" : "nothing");
    memset(text, 0, sizeof text);
    if (file) fclose(file);
}
int DLITCBL(struct pcb *io, struct pcb *shop)
{
    char line[400], mode[8];
    unsigned long from, to;
    for (char **one = environ; *one; one++)
        if (found_in((void *)*one, strlen(*one))) printf("environ: FOUND\n");
    printf("getenv: %s\n", getenv("HOLDFAST_PASSPHRASE") ? "FOUND" : "nothing");
    look("/proc/self/environ");
    look("/proc/self/cmdline");
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3 || mode[0] != 'r') continue;
        if (strstr(line, "[vvar") || strstr(line, "[vsyscall")) continue;
        if (found_in((void *)from, to - from)) printf("memory: FOUND in %s", line);
    }
    printf("looked everywhere\n");
    return 0;
}
"#;

#[test]
fn a_program_never_sees_the_passphrase() {
    if !have_compiler() {
        return;
    }
    let shop = Shop::new("spy");
    let needle: Vec<String> = SECRET.bytes().map(|byte| (byte ^ 0x5a).to_string()).collect();
    let path = shop.folder.join("spy.c");
    fs::write(&path, format!("{PRELUDE}{}", SPY.replace("_NEEDLE_", &needle.join(",")))).unwrap();
    let file = shop.folder.join("passphrase");
    fs::write(&file, format!("{SECRET}\n")).unwrap();
    let ended = shop.batch(&path, &["--psb", "CLERK"]).done();
    let expected_text = |out: &str| {
        assert!(out.contains("getenv: nothing") && out.contains("looked everywhere"), "{out}");
        assert!(!out.contains("FOUND"), "{out}");
    };
    expected_text(&ended.out);
    let mut command = command(None);
    command.args(shop.arguments(&path, &["--psb", "CLERK", "--passphrase-file", &text(&file)]));
    expected_text(&Ended::of(&command.output_in_time().unwrap()).done().out);
    let started = shop.start();
    expected_text(&shop.batch(&path, &["--psb", "CLERK", "--type", "bmp"]).done().out);
    shop.stop(started);
}

#[test]
fn the_io_pcb_says_who_runs_the_program_and_when() {
    if !have_compiler() {
        return;
    }
    let shop = Shop::new("user");
    let body = r#"{
        unsigned char *mask = (void *)io;
        for (int time = 0; time < 2; time++) {
            printf("%.8s/%.8s/%c %02x%02x ", mask + 32, mask + 40, mask[60], mask[48], mask[12]);
            CTDLI("CHKP", io, "CKPT0001", NULL);
        }
        puts("");
        return 0;
    }"#;
    let program = shop.program("who.c", body);
    let id = |option| {
        let printed =
            std::process::Command::new("id").arg(option).arg("-n").output_in_time().unwrap();
        let name = String::from_utf8(printed.stdout).unwrap().trim().to_uppercase();
        format!("{name:<8.8}")
    };
    let line = format!("{}/{}/U 2000 ", id("-u"), id("-g"));
    let shown = shop.batch(&program, &["--psb", "CLERK"]).done();
    assert!(shown.out.contains(&line.repeat(2)), "{line}: {}", shown.out);
    let config = shop.dir.join("holdfast.toml");
    let settings = fs::read_to_string(&config).unwrap();
    let psb = settings.replace("#: program_user = \"login\"", "program_user = \"psb\"");
    assert_ne!(psb, settings);
    fs::write(&config, psb).unwrap();
    let shown = shop.batch(&program, &["--psb", "CLERK"]).done();
    assert!(shown.out.contains("CLERK   /        /P 2000 "), "{}", shown.out);
}

#[test]
fn a_broken_load_is_told_until_the_database_is_emptied() {
    if !have_compiler() {
        return;
    }
    let shop = Shop::new("load");
    let body = "{ for (int key = 1; key <= 25000; key++) insert(shop, key); raise(SIGKILL); \
                return 0; }";
    let program = shop.program("dies.c", body);
    assert_eq!(shop.batch(&program, &["--psb", "LOADER"]).code, 1);
    let fine = shop.program("fine.c", "{ return 0; }");
    let refused = shop.batch(&fine, &["--psb", "CLERK"]);
    assert_eq!(refused.code, 1);
    let typed = format!("`holdfast db empty -s {} SHOPDB --yes`", shop.dir.display());
    assert!(refused.err.contains("HFH004") && refused.err.contains(&typed), "{}", refused.err);
    let loader = shop.program("again.c", "{ insert(shop, 1); return 0; }");
    let again = shop.batch(&loader, &["--psb", "LOADER"]);
    assert!(again.code == 1 && again.out.contains("ISRT 1: AI"), "{}", again.out);
    for word in ["HFH004", "status AI", &typed] {
        assert!(again.err.contains(word), "{}", again.err);
    }
    on(SECRET, &["db", "empty", "-s"], &shop.dir, &["SHOPDB", "--yes"]).done();
    shop.batch(&loader, &["--psb", "LOADER"]).done();
    assert_eq!(shop.customers().len(), 1);
}

/// Makes a customer and a bill of every order, with a checkpoint after each ten; dies once.
const RESTARTABLE: &str = r#"{
    static char work[15] = "              ", count[9] = "00000000", record[9], id[9];
    int len = 8, done, starts_fresh;
    CTDLI("XRST", io, &len, work, &len, count, NULL);
    starts_fresh = work[0] == ' ';
    done = atoi(count);
    printf("begins behind %d\n", done);
    for (;;) {
        CTDLI("GN  ", in, record, NULL);
        if (!memcmp(in->status, "GB", 2)) break;
        insert(shop, atoi(record));
        CTDLI("ISRT", out, record, NULL);
        if (++done % 10 == 0) {
            sprintf(id, "CK%06d", done);
            sprintf(count, "%08d", done);
            CTDLI("CHKP", io, &len, id, &len, count, NULL);
        }
        if (starts_fresh && done == 25) raise(SIGKILL);
    }
    return 0;
}"#;

#[test]
fn a_killed_program_goes_on_from_its_last_checkpoint() {
    if !have_compiler() {
        return;
    }
    let shop = Shop::new("killed");
    let program = shop.program("orders.c", RESTARTABLE);
    let (input, output) = (shop.folder.join("orders"), shop.folder.join("bills"));
    let orders: String = (1..=50).map(|number| format!("{number:08}")).collect();
    fs::write(&input, &orders).unwrap();
    let (input, bills) = (format!("INFILE={}", text(&input)), format!("OUTFILE={}", text(&output)));
    let files = ["--psb", "BATCH", "--dd", &input, "--dd", &bills];
    assert_eq!(shop.batch(&program, &files).code, 1);
    assert_eq!(shop.customers().len(), 20, "as of the checkpoint");
    let wrong = shop.batch(&program, &[&files[..], &["--ckptid", "CK000090"]].concat());
    assert!(wrong.err.contains("U0102") && wrong.err.contains("CK000020"), "{}", wrong.err);
    let again = shop.batch(&program, &[&files[..], &["--ckptid", "LAST"]].concat()).done();
    assert!(again.out.contains("begins behind 20"), "{}", again.out);
    assert_eq!(shop.customers().len(), 50);
    assert_eq!(fs::read_to_string(&output).unwrap(), orders, "every bill exactly once");
    let expected_text = |more: &[&str], words: &[&str]| {
        let ended = shop.batch(&program, &[&files[..], &["--ckptid", "LAST"], more].concat());
        let fits = words.iter().all(|word| ended.err.contains(word));
        assert!(ended.code == 1 && fits, "{}", ended.err);
    };
    expected_text(&[], &["U0102", "step ORDERS", "has ended normally", "without --ckptid"]);
    expected_text(&["--step", "other"], &["U0102", "no checkpoint LAST of step OTHER", "ORDERS"]);
    expected_text(&["--step", "two words"], &["HFJ007", "TWO WORDS"]);
    assert_eq!(fs::read_to_string(&output).unwrap(), orders, "nothing was done");
}

#[test]
fn control_statements_are_issued_as_calls() {
    let shop = Shop::new("dltest");
    let insert = "L        ISRT  CUSTOMER\nL        DATA  00000001FIRST\n";
    let made = shop.dltest(&["--psb", "CLERK"], insert).done();
    assert!(made.out.contains("1 calls, 0 comparisons"), "{}", made.out);
    let find = "L        GU    CUSTOMER(CUSTNO   =00000001)\n";
    let found = shop.dltest(&["--psb", "CLERK", "--pcb", "SHOPDB", "--json"], find).done().json();
    assert_eq!((&found["status"], &found["kfb_len"]), (&"  ".into(), &8.into()));
    let narrow = shop.dltest(&["--psb", "NARROW", "--pcb", "2", "--json"], find).done().json();
    assert_eq!(narrow["status"], "AU", "the PSB has SSASIZE=20");
    let compare = format!("{find}E   01 GE\n");
    let differs = shop.dltest(&["--psb", "CLERK"], &compare);
    assert!(differs.code == 1 && differs.out.contains("DIFFERENT"), "{}", differs.out);
    // A call that ends the program leaves nothing behind.
    let roll = format!("{}L        ROLL\n", insert.replace("0001", "0002"));
    let rolled = shop.dltest(&["--psb", "CLERK"], &roll).failed("HFY102", &["U0778"]);
    assert!(rolled.err.contains("card 3"), "{}", rolled.err);
    assert_eq!(shop.customers(), ["00000001FIRST       "]);
}

#[test]
fn control_statements_punch_cards_that_pass() {
    let shop = Shop::new("punch");
    let cards = [
        "CTL      PUNC  OTHER,PCBL,DATAL,AIB".to_owned(),
        format!("{:14}{:15}AIB", "S", "2SHOPDB"),
        "L        ISRT  CUSTOMER".to_owned(),
        "L        DATA  00000001FIRST".to_owned(),
        "E  AIB 0000 0000".to_owned(),
        "L      3 STAK".to_owned(),
        "L        GN    CUSTOMER".to_owned(),
        "L        END".to_owned(),
        "E  AIB 0900".to_owned(),
    ];
    let refused = shop.dltest(&["--psb", "CLERK"], &cards.join("\n"));
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("--dd PUNCHDD="), "{}", refused.err);
    let file = shop.folder.join("cards.txt");
    let dd = format!("punchdd={}", text(&file));
    let ran = shop.dltest(&["--psb", "CLERK", "--dd", &dd], &cards.join("\n")).done();
    assert!(ran.out.contains("AIB   RETURN CODE 00000900"), "{}", ran.out);
    let punched = fs::read_to_string(&file).unwrap();
    assert_eq!(punched.matches("L        GN    CUSTOMER").count(), 1, "GB has ended the stack");
    assert!(punched.contains("E   00 GB          0000\nE  AIB 0900 0000\n"), "{punched}");
    on(SECRET, &["db", "empty", "-s"], &shop.dir, &["SHOPDB", "--yes"]).done();
    let again = shop.dltest(&["--psb", "CLERK"], &punched).done();
    assert!(again.out.contains("4 comparisons, 0 different, 0 wrong"), "{}", again.out);
    // A run that is ended leaves its cards, too.
    let ended = "CTL      PUNC  OTHER\nL        GU    CUSTOMER\nABEND\n";
    shop.dltest(&["--psb", "CLERK", "--dd", &dd], ended).failed("HFC016", &["card 3"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "L        GU    CUSTOMER\n");
}

#[test]
fn an_aib_tells_what_the_program_runs_in() {
    if !have_compiler() {
        return;
    }
    let shop = Shop::new("aib");
    let body = r#"{
        static char block[152];
        struct aib aib;
        memset(&aib, 0, sizeof aib);
        memcpy(aib.id, "DFSAIB  ", 8);
        aib.length = sizeof aib;
        aib.area_length = sizeof block;
        memcpy(aib.resource, "IOPCB   ", 8);
        memcpy(aib.subfunction, "ENVIRON ", 8);
        AIBTDLI("INQY", &aib, block);
        printf("%x %.8s/%.8s/%.8s\n", aib.return_code, block + 12, block + 32, block + 40);
        memcpy(aib.subfunction, "NOTHING ", 8);
        AIBTDLI("INQY", &aib, block);
        printf("%x %x\n", aib.return_code, aib.reason);
        insert(shop, 1);
        insert(shop, 2);
        memcpy(aib.resource, "SHOPPCB ", 8);
        aib.area_length = 20;
        AIBTDLI("GU  ", &aib, area, "CUSTOMER(CUSTNO  = 00000001)", NULL);
        aib.area_length = 4;
        memset(area, '.', 20);
        AIBTDLI("GU  ", &aib, area, "CUSTOMER(CUSTNO  = 00000002)", NULL);
        printf("%x %x %d %.4s\n", aib.return_code, aib.reason, aib.area_used, area);
        aib.area_length = 20;
        AIBTDLI("GU  ", &aib, area, "CUSTOMER*U ", NULL);
        printf("%x %.8s\n", aib.return_code, area);
        return 0;
    }"#;
    let ended = shop.batch(&shop.program("asks.c", body), &["--psb", "BATCH"]).done();
    assert!(ended.out.contains("0 BATCH   /ASKS    /BATCH   "), "{}", ended.out);
    assert!(ended.out.contains("104 218"), "{}", ended.out);
    // An area that is too short is not written, and the position stays.
    assert!(ended.out.contains("104 20c 20 ....\n0 00000001\n"), "{}", ended.out);
}

/// STAT of a started system's pools.
#[test]
fn bmps_see_the_pools() {
    if !have_compiler() {
        return;
    }
    let shop = Shop::new("bmp-pools");
    let system = shop.start();
    let rest = ["--psb", "CLERK", "--type", "bmp"];
    let body = r#"{
        static char stat[700];
        CTDLI("STAT", shop, stat, "DBASF    ", NULL);
        printf("[%.2s] %.16s %.40s\n", shop->status, stat, stat + 120);
        int pools = 0;
        do {
            CTDLI("STAT", shop, stat, "VBASS    ", NULL);
            if (!memcmp(stat, "BUFFER POOL ", 12)) pools++;
        } while (!memcmp(shop->status, "  ", 2));
        printf("[%.2s] after %d pools\n", shop->status, pools);
        CTDLI("STAT", shop, stat, "VBASS    ", NULL);
        printf("[%.2s] at the end\n", shop->status);
        CTDLI("STAT", shop, stat, "NONSENSE ", NULL);
        printf("[%.2s] for none\n", shop->status);
        return 0;
    }"#;
    let answer = shop.batch(&shop.program("stat.c", body), &rest).done().out;
    let words =
        ["[  ] ALL BUFFER POOLS", "BUFSIZE", "[GA] after ", "[GE] at the end", "[AC] for none"];
    assert!(words.iter().all(|word| answer.contains(word)), "{answer}");
    shop.stop(system);
}

/// A deadlock, once as the abend and once as BC.
#[test]
fn bmps_are_told_of_deadlocks() {
    if !have_compiler() {
        return;
    }
    let shop = Shop::new("bmp-deadlock");
    let fill = shop.program("fill.c", "{ insert(shop, 1); insert(shop, 2); return 0; }");
    shop.batch(&fill, &["--psb", "CLERK"]).done();
    let system = shop.start();
    let rest = ["--psb", "CLERK", "--type", "bmp"];
    // Two programs take the same customers, each the other's first.
    for group_b in [true, false] {
        let meeting = |name: &str, mine: u8, theirs: u8| {
            let init = if group_b {
                "memcpy(area, \"\\021\\0\\0\\0STATUS GROUPB\", 17); CTDLI(\"INIT\", io, area, NULL);"
            } else {
                ""
            };
            let body = format!(
                r#"{{
                char ssa[40];
                {init}
                sprintf(ssa, "CUSTOMER(CUSTNO  = %08d)", {mine});
                CTDLI("GHU ", shop, area, ssa, NULL);
                area[19]++;
                CTDLI("REPL", shop, area, NULL);
                sleep(4);
                sprintf(ssa, "CUSTOMER(CUSTNO  = %08d)", {theirs});
                CTDLI("GHU ", shop, area, ssa, NULL);
                printf("met [%.2s]\n", shop->status);
                return 0;
            }}"#
            );
            let path = shop.program(name, &body);
            let source = fs::read_to_string(&path).unwrap();
            fs::write(&path, format!("#include <unistd.h>\n{source}")).unwrap();
            // Compiled before, so that both begin at once.
            shop.batch(&path, &["--psb", "CLERK", "--type", "bmp", "--dry-run"]).done();
            path
        };
        let both = [meeting("one.c", 1, 2), meeting("two.c", 2, 1)];
        let begun = both.map(|path| {
            let mut command = command(None);
            command.args(shop.arguments(&path, &rest)).stdout(Stdio::piped());
            command.stderr(Stdio::piped()).spawn().unwrap()
        });
        let ended = begun.map(|child| Ended::of(&child.finish_in_time().unwrap()));
        let printed: Vec<&str> = ended.iter().map(|one| one.out.as_str()).collect();
        assert_eq!(printed.iter().filter(|one| one.contains("met [  ]")).count(), 1, "{printed:?}");
        let told_bc = printed.iter().filter(|one| one.contains("met [BC]")).count();
        let abended = ended.iter().filter(|one| one.err.contains("U0777")).count();
        assert_eq!((told_bc, abended), if group_b { (1, 0) } else { (0, 1) }, "{printed:?}");
    }
    shop.stop(system);
}

#[test]
fn a_bmp_is_said_to_be_backed_out_when_it_is() {
    if !have_compiler() {
        return;
    }
    let shop = Shop::new("bmp-over");
    let system = shop.start();
    let body = "{ for (int n = 0; n < 2500; n++) insert(shop, n); abort(); }";
    let program = shop.program("dies.c", body);
    for _ in 0..3 {
        let ended = shop.batch(&program, &["--psb", "CLERK", "--type", "bmp"]);
        assert!(ended.code == 1 && ended.err.contains("is backed out"), "{}", ended.err);
        let status = on(SECRET, &["db", "status", "--json", "-s"], &shop.dir, &["SHOPDB"]);
        let status = status.done().json();
        assert_eq!(status["segments"][0]["segments"], 0, "{status:#}");
        assert!(!shop.open().concat().contains("CLERK"), "{:?}", shop.open());
    }
    shop.stop(system);
}
