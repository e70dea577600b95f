//! Programs of one system: who is kept away, and what a deadlock comes to (DLI-1 and
//! DLI-12.41).

use std::sync::Barrier;

use crate::support::{ALONE, CLERK, Caller, LOADER, Shop};
use base::Coded as _;
use holdfast_schedule::{Options, RegionKind};

fn online() -> Options {
    Options { kind: RegionKind::Bmp, ..Options::default() }
}

const GREEDY: &str = "
         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=AE,KEYLEN=4
         SENSEG NAME=CUSTOMER,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=GREEDY
";

const READER: &str = "
         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=G,KEYLEN=4
         SENSEG NAME=CUSTOMER,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=READER
";

#[test]
fn exclusive_use_keeps_updates_away_until_the_program_ends() {
    let shop = Shop::new("exclusive");
    let greedy = shop.program_with(GREEDY, online());
    let refused = shop.schedule(ALONE, online()).err().expect("a refusal");
    assert_eq!(refused.code().0, "HFJ003");
    assert!(refused.to_string().contains("SHOPDB while PSB GREEDY"), "{refused}");
    assert!(shop.schedule(GREEDY, online()).is_err());
    drop(shop.program_with(READER, online()));
    drop(greedy);
    drop(shop.program_with(ALONE, online()));
    drop(shop.program_with(GREEDY, online()));
}

#[test]
fn a_load_has_the_database_to_itself() {
    let shop = Shop::new("load-online");
    let refused = shop.schedule(LOADER, online()).err().expect("a refusal");
    assert_eq!(refused.code().0, "HFJ002");
    assert!(refused.remedy().contains("--type dli"));
}

/// Two programs each change a customer, and then want the other's.
fn meet(shop: &Shop, (psb, pcb): (&str, usize), group: &[u8]) -> Vec<String> {
    let mut first = shop.program_with(ALONE, online());
    first.customer(2, "0001");
    first.customer(2, "0002");
    first.end().expect("a commit");
    let both = Barrier::new(2);
    let work = |mine: &str, other: &str| {
        let mut caller = shop.program_with(psb, online());
        assert_eq!(caller.service(b"INIT", group, &[]), "  ");
        let change = |caller: &mut Caller, key: &str| {
            let ssa = format!("CUSTOMER(CUSTNO  = {key})");
            let got = caller.call(pcb, b"GHU ", Some(&[0; 20]), (&[ssa.as_bytes()], &[]));
            match got {
                Ok(got) if got.status == *b"  " => {
                    caller.status(pcb, b"REPL", Some(format!("{key:19}X").as_bytes()), &[])
                }
                Ok(got) => String::from_utf8_lossy(&got.status).into_owned(),
                Err(abend) => abend.code,
            }
        };
        assert_eq!(change(&mut caller, mine), "  ");
        both.wait();
        let outcome = change(&mut caller, other);
        if outcome == "BC" {
            // Backed out, and free to try again.
            assert_eq!(change(&mut caller, mine), "  ");
        }
        match outcome.starts_with('U') {
            true => caller.abend(),
            false => caller.end().expect("a commit"),
        }
        outcome
    };
    let mut outcomes: Vec<String> = std::thread::scope(|scope| {
        let one = scope.spawn(|| work("0001", "0002"));
        let two = scope.spawn(|| work("0002", "0001"));
        vec![one.join().expect("a program"), two.join().expect("a program")]
    });
    outcomes.sort();
    outcomes
}

#[test]
fn a_deadlock_ends_one_program_or_tells_it_bc() {
    let (alone, group_b) = ((ALONE, 2), b"\0\x11\0\0STATUS GROUPB");
    let shop = Shop::new("deadlock");
    assert_eq!(meet(&shop, alone, b"\0\x0B\0\0DBQUERY"), ["  ", "U0777"]);
    let shop = Shop::new("deadlock-bc");
    assert_eq!(meet(&shop, alone, group_b), ["  ", "BC"]);
    // What was written to a sequential file is not rolled back with the databases (DLI-12.55).
    let with_files = (CLERK, 1);
    let shop = Shop::new("deadlock-files");
    assert_eq!(meet(&shop, with_files, group_b), ["  ", "U0777"]);
    let mut shop = Shop::new("deadlock-files-bc");
    shop.limits = |psb| psb.gsam_backout = true;
    assert_eq!(meet(&shop, with_files, group_b), ["  ", "BC"]);
}
