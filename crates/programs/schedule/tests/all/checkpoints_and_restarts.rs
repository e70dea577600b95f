//! A checkpoint keeps everything together, and a restart finds all of it again (DLI-12.51 to
//! DLI-12.54 and DLI-12.63).

use crate::support::{ALONE, CLERK, Caller, Shop};
use definitions::Function;
use holdfast_schedule::{CHECKPOINTS, Event, Options, Record};
use region::{Ending, Reply, Request, Server as _};
use seam::Seam;
use store::Capabilities;
use store_suite::model::ModelStore;

const NORMAL: &[u8] = b"              ";

fn work(id: &str) -> Vec<u8> {
    format!("{id:<14}").into_bytes()
}

fn restarted(checkpoint: &str) -> Options {
    Options { checkpoint: Some(checkpoint.to_owned()), ..Options::default() }
}

/// The restart of a step of that name.
fn again(step: &str, checkpoint: &str) -> Options {
    Options { step: step.to_owned(), ..restarted(checkpoint) }
}

/// A step that takes these checkpoints.
fn begun(shop: &Shop, step: &str, ids: &[&[u8; 8]]) -> Caller {
    let mut caller = shop.program_with(ALONE, Options { step: step.to_owned(), ..restarted("") });
    assert_eq!(caller.service(b"XRST", NORMAL, &[]), "  ");
    ids.iter().for_each(|id| assert_eq!(caller.service(b"CHKP", *id, &[]), "  "));
    caller
}

/// The checkpoint that a restart comes to, or why there is none.
fn came_to(shop: &Shop, options: Options) -> String {
    let mut caller = shop.program_with(ALONE, options);
    let answer = caller.call(0, b"XRST", Some(NORMAL), (&[], &[]));
    caller.abend();
    match answer {
        Ok(answer) => String::from_utf8_lossy(&answer.area).trim_end().to_owned(),
        Err(abend) => {
            assert_eq!(abend.code, "U0102");
            abend.text
        }
    }
}

/// Reads an order, makes a customer and a bill of it.
fn step(caller: &mut Caller) -> bool {
    let order = caller.get(2, b"GN  ", &[]);
    if order.status == *b"GB" {
        return false;
    }
    assert_eq!(order.status, *b"  ");
    let key = String::from_utf8_lossy(&order.area).into_owned();
    caller.customer(1, &key);
    assert_eq!(caller.status(3, b"ISRT", Some(&order.area), &[]), "  ");
    true
}

/// Takes three steps, a checkpoint with two areas, and one more step; then it dies.
fn first_run(shop: &Shop) {
    shop.write("orders", b"0001000200030004000500060007");
    let mut caller = shop.program(CLERK);
    assert_eq!(caller.service(b"XRST", NORMAL, &[b"....", b"....."]), "  ");
    (0..3).for_each(|_| assert!(step(&mut caller)));
    assert_eq!(caller.get(1, b"GU  ", &[b"CUSTOMER(CUSTNO  = 0002)"]).status, *b"  ");
    assert_eq!(caller.service(b"CHKP", b"CKPT0001", &[b"FOUR", b"FIVE5"]), "  ");
    assert!(step(&mut caller));
    caller.abend();
    assert_eq!(shop.customers(), ["0001", "0002", "0003"], "the step behind is backed out");
    assert_eq!(shop.read("bills"), b"0001000200030004", "output is as it was");
}

/// Restarts and finishes; every order must be there exactly once.
fn second_run(shop: &Shop, mut caller: Caller, area: &[u8]) {
    let answer = caller.call(0, b"XRST", Some(area), (&[], &[b"....", b"......."]));
    let answer = answer.expect("a restart");
    assert_eq!(answer.status, *b"  ");
    assert_eq!(answer.area, b"CKPT0001    ");
    assert_eq!(answer.more, [b"FOUR".to_vec(), b"FIVE5..".to_vec()]);
    while step(&mut caller) {}
    caller.end().expect("a commit");
    let all = ["0001", "0002", "0003", "0004", "0005", "0006", "0007"];
    assert_eq!(shop.customers(), all);
    assert_eq!(shop.read("bills"), all.concat().as_bytes());
}

#[test]
fn a_program_goes_on_where_its_checkpoint_was() {
    let shop = Shop::new("goes-on");
    first_run(&shop);
    second_run(&shop, shop.program(CLERK), &work("CKPT0001"));
}

/// What was left of a killed program wrote its buffer over what its restart had written.
#[test]
fn what_a_program_that_is_gone_had_not_written_is_not_written() {
    for (ending, left) in [(Ending::Gone, &b""[..]), (Ending::Abend, b"0001")] {
        let shop = Shop::new(&format!("gone-{ending:?}"));
        let mut schedule = shop.schedule(CLERK, Options::default()).expect("a schedule");
        let (mut bill, mut reply) = (*b"0001", Reply::default());
        let request = Request {
            function: Function::of(*b"ISRT"),
            of_command: false,
            pcb: Some(3),
            area: Some(&mut bill),
            ssas: &[],
            more: &mut [],
            aib: None,
        };
        schedule.call(request, &mut reply);
        schedule.end(ending).expect("a backout");
        assert_eq!(shop.read("bills"), left, "{ending:?}");
    }
}

#[test]
fn last_is_the_newest_checkpoint() {
    let shop = Shop::new("last");
    first_run(&shop);
    second_run(&shop, shop.program(CLERK), &work("LAST"));
}

#[test]
fn a_checkpoint_that_is_given_from_outside_wins() {
    let shop = Shop::new("outside");
    first_run(&shop);
    let caller = shop.program_with(CLERK, restarted("CKPT0001"));
    second_run(&shop, caller, &work("OTHER"));
    let caller = shop.program_with(CLERK, restarted("LAST"));
    drop(caller);
}

#[test]
fn a_time_stamp_names_a_checkpoint() {
    let shop = Shop::new("stamp");
    first_run(&shop);
    let record = Record::decode(&shop.entries(CHECKPOINTS)[0]).expect("a record");
    let Event::Checkpoint(checkpoint) = record.event else { panic!("{record:?}") };
    second_run(&shop, shop.program(CLERK), &checkpoint.stamp);
}

/// A step had ended normally; run again with LAST it did what stood behind its last checkpoint a
/// second time.
#[test]
fn there_is_nothing_to_go_back_to_behind_a_normal_end() {
    let shop = Shop::new("ended");
    begun(&shop, "TELLER", &[b"CKPT0001", b"CKPT0002"]).end().expect("an end");
    assert_eq!(shop.entries(CHECKPOINTS).len(), 3);
    let why = came_to(&shop, again("TELLER", "LAST"));
    assert!(why.contains("step TELLER of PSB ALONE has ended normally behind checkpoint CKPT0002"));
    assert!(why.contains("Start it without --ckptid"), "{why}");
    let why = came_to(&shop, again("TELLER", "CKPT0002"));
    assert!(why.contains("step TELLER of PSB ALONE has ended normally since"), "{why}");
    assert!(why.contains("holdfast backout --list --db SHOPDB"), "{why}");
    // The next run died before it took a checkpoint: it is to begin at the front again.
    begun(&shop, "TELLER", &[]).abend();
    assert!(came_to(&shop, again("TELLER", "LAST")).contains("has ended normally"));
    begun(&shop, "TELLER", &[b"CKPT0007"]).abend();
    assert_eq!(came_to(&shop, again("TELLER", "LAST")), "CKPT0007");
}

/// The databases stood behind the newest checkpoint, and an older one was gone on from: what lay
/// between was done twice.
#[test]
fn an_older_checkpoint_than_the_newest_is_refused() {
    let shop = Shop::new("older");
    begun(&shop, "TELLER", &[b"CKPT0001", b"CKPT0002"]).abend();
    let why = came_to(&shop, again("TELLER", "CKPT0001"));
    assert!(why.contains("has gone on to checkpoint CKPT0002"), "{why}");
    assert!(why.contains("Restart it with LAST"), "{why}");
    assert_eq!(came_to(&shop, again("TELLER", "CKPT0002")), "CKPT0002");
}

/// A step that died and was begun anew from the front, without a checkpoint, has ended.
#[test]
fn an_end_is_told_where_an_earlier_run_has_left_checkpoints() {
    let shop = Shop::new("anew");
    begun(&shop, "TELLER", &[b"CKPT0001"]).abend();
    assert_eq!(came_to(&shop, again("TELLER", "LAST")), "CKPT0001");
    for _ in 0..2 {
        begun(&shop, "TELLER", &[]).end().expect("an end");
        assert_eq!(shop.entries(CHECKPOINTS).len(), 2, "one end is enough");
    }
    assert!(came_to(&shop, again("TELLER", "LAST")).contains("has ended normally"));
}

/// An end and what the program did before it are one unit of work: here both fit in no unit of
/// this store, so neither is there.
#[test]
fn a_step_whose_end_is_backed_out_goes_back_to_its_checkpoint() {
    let mut shop = Shop::new("failed-end");
    let small = Capabilities { unit_writes_max: Some(1), ..ModelStore::CAPABILITIES };
    shop.store = ModelStore::with(small, Seam::real().clock);
    let mut caller = begun(&shop, "TELLER", &[b"CKPT0001"]);
    caller.customer(2, "0001");
    caller.end().expect_err("no room for the end");
    assert!(shop.customers().is_empty());
    assert_eq!(came_to(&shop, again("TELLER", "LAST")), "CKPT0001");
}

/// Two steps with one PSB were restarted from each other's checkpoints.
#[test]
fn steps_that_share_a_psb_have_checkpoints_of_their_own() {
    let shop = Shop::new("steps");
    let one = begun(&shop, "ONE", &[b"CKPT0001"]);
    begun(&shop, "TWO", &[b"CKPT0001", b"CKPT0002"]).end().expect("an end");
    one.abend();
    assert_eq!(came_to(&shop, again("ONE", "LAST")), "CKPT0001");
    assert!(came_to(&shop, again("TWO", "LAST")).contains("has ended normally"));
    let why = came_to(&shop, again("ONE", "CKPT0002"));
    assert!(why.contains("no checkpoint CKPT0002 of step ONE"), "{why}");
    assert!(why.contains("of step TWO"), "{why}");
    let why = came_to(&shop, again("THREE", "LAST"));
    assert!(why.contains("no checkpoint LAST of step THREE"), "{why}");
    let named = |step: &str| shop.schedule(ALONE, again(step, "LAST")).is_ok();
    assert!(named("A.LONGER_NAME") && !named("A B") && !named(&"X".repeat(65)));
}

#[test]
fn the_database_is_found_by_its_saved_key() {
    let shop = Shop::new("found");
    let mut caller = shop.program(ALONE);
    assert_eq!(caller.service(b"XRST", NORMAL, &[]), "  ");
    ["0001", "0002"].iter().for_each(|key| caller.customer(2, key));
    assert_eq!(caller.get(2, b"GU  ", &[b"CUSTOMER(CUSTNO  = 0002)"]).status, *b"  ");
    assert_eq!(caller.service(b"CHKP", b"HERE", &[]), "AB", "an id has 8 bytes");
    assert_eq!(caller.service(b"CHKP", b"HERE    ", &[]), "  ");
    caller.abend();
    let mut caller = shop.program_with(ALONE, restarted("HERE"));
    assert_eq!(caller.service(b"XRST", NORMAL, &[]), "  ");
    let area = b"01ORDER   ";
    let made = caller.call(2, b"ISRT", Some(area), (&[b"ORDER    "], &[])).expect("an answer");
    assert_eq!((made.status, &made.key[..]), (*b"  ", &b"000201"[..]), "below the saved position");
}

#[test]
fn what_cannot_be_restarted_ends_with_u0102() {
    let shop = Shop::new("cannot");
    first_run(&shop);
    let cannot = |mut caller: Caller, area: &[u8], more: &[&[u8]], word: &str| {
        let abend = caller.call(0, b"XRST", Some(area), (&[], more)).expect_err("no restart");
        assert_eq!(abend.code, "U0102");
        assert!(abend.text.contains(word), "{}", abend.text);
        caller.abend();
    };
    cannot(shop.program(CLERK), &work("NONE"), &[], "CKPT0001");
    cannot(shop.program_with(CLERK, restarted("NONE")), NORMAL, &[], "no checkpoint NONE");
    let three: [&[u8]; 3] = [b"....", b"....", b"...."];
    cannot(shop.program(CLERK), &work("LAST"), &three, "3 areas");
    cannot(shop.program(ALONE), &work("LAST"), &[], "none at all");
    shop.write("orders", b"0001");
    cannot(shop.program(CLERK), &work("LAST"), &[], "orders");
    // A program that was to be restarted, but does not ask for it.
    let mut caller = shop.program_with(CLERK, restarted("LAST"));
    let early = caller.call(1, b"GN  ", Some(&[0; 64]), (&[], &[])).expect_err("an abend");
    assert_eq!(early.code, "U0102");
    assert!(shop.schedule(CLERK, restarted("NINECHARS")).is_err());
}

#[test]
fn calls_in_the_wrong_place_are_refused() {
    let shop = Shop::new("wrong");
    let mut caller = shop.program(ALONE);
    assert_eq!(caller.service(b"CHKP", b"BASIC001", &[]), "  ");
    assert_eq!(caller.service(b"CHKP", b"SYMB0001", &[b"AREA"]), "AD", "without XRST");
    assert_eq!(caller.status(0, b"CHKP", None, &[]), "AB");
    assert_eq!(caller.service(b"XRST", NORMAL, &[]), "AD", "behind another call");
    assert!(shop.entries(CHECKPOINTS).is_empty(), "basic checkpoints keep nothing");
    caller.end().expect("an end");
    let mut caller = shop.program(ALONE);
    let eight: Vec<&[u8]> = vec![b"AREA"; 8];
    assert_eq!(caller.service(b"XRST", NORMAL, &eight), "AP");
    assert_eq!(caller.service(b"XRST", NORMAL, &[]), "  ");
    assert_eq!(caller.service(b"XRST", NORMAL, &[]), "AD", "twice");
    assert_eq!(caller.service(b"CHKP", b"CKPT0001", &eight), "AP");
    assert_eq!(caller.service(b"CHKP", b"CKPT0001", &eight[..7]), "  ");
    assert_eq!(shop.entries(CHECKPOINTS).len(), 1);
    caller.end().expect("an end");
}

#[test]
fn every_sync_point_commits_and_loses_positions() {
    let shop = Shop::new("sync");
    for (key, function) in [("0001", b"CHKP"), ("0002", b"SYNC")] {
        let mut caller = shop.program(ALONE);
        caller.customer(2, key);
        assert_eq!(caller.service(function, b"CKPT0001", &[]), "  ");
        assert_eq!(caller.get(2, b"GNP ", &[]).status, *b"GP");
        caller.customer(2, "0009");
        caller.abend();
    }
    assert_eq!(shop.customers(), ["0001", "0002"]);
}
