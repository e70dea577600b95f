//! Regions of all kinds: batch message programs, expedited inputs, commands about regions, programs
//! that end because they have changed, and what becomes of outputs that nobody takes.

use std::sync::Arc;

use crate::common::*;
use holdfast_control::{AlternatePcb, BatchStart, Ending, Options, Profile};
use otma::{
    CommitMode, Input, InputOptions, Manager, Name, Outcome, Reason, Settlement, SyncLevel,
};
use queues::QueueName;
use resources::{Change, Definition, Kind};
use schedule::messages::{Messages, TerminalPcb};
use seam::sim::{self, SimConfig, SimDisk};
use store::{Store, Unit, UnitOptions};

fn waiting(house: &House, transaction: &str) -> u64 {
    house.control.queue(QueueName::input(name(transaction))).waiting
}

fn put(house: &House, kind: Kind, of: &str, attributes: &[(&str, &str)]) {
    let mut one = Definition::new(kind, name(of));
    attributes.iter().for_each(|(name, value)| one.set(name, value).expect("an attribute"));
    house.control.apply(&[Change::Put(one)]).expect("it fits");
}

/// A system with a transaction of a batch message program.
fn nightly() -> House {
    let house = House::new(Options::default(), &["LATE", "ECHO"]);
    put(&house, Kind::Program, "PLATE", &[("BMPTYPE", "Y")]);
    house
}

const LATE: BatchStart = BatchStart { input: Name(*b"LATE    "), output: Name::BLANK };

#[test]
fn a_batch_message_program_gets_a_transactions_inputs_and_qc_behind_them() {
    let house = nightly();
    let ears: Vec<_> =
        (0..3).map(|number| house.submit(input("LATE", &[&format!("LATE {number}")])).1).collect();
    // Nobody else schedules it: a region takes what comes later for another one.
    house.submit(input("ECHO", &["ECHO"]));
    assert_eq!(house.region().next().map(|one| one.transaction.name), Some(name("ECHO")));

    let batch = house.control.batch_program(name("PLATE"), "NIGHT", LATE).expect("it begins");
    let shown = house.control.command("/DIS A", Name::BLANK).lines.join("\n");
    assert!(shown.contains("NIGHT    BMP  LATE      PLATE"), "{shown}");
    let mut program = batch.messages(&[]);
    let mut seen = Vec::new();
    let mut body = |program: &mut Program, text: &str| {
        seen.push(text.to_owned());
        assert!(program.queue().is_none(), "it waits for its commits");
        reply(program, &format!("{text} DONE"));
        Ok(())
    };
    while house.turn(&mut program, &mut body).expect("no abend") {}
    assert_eq!(seen, ["LATE 0", "LATE 1", "LATE 2"]);
    drop((program, batch));
    assert!(ears.iter().all(|ear| ear.outcomes() == [Outcome::Committed]));
    assert_eq!(house.drain("CLIENT1").len(), 3);
    let shown = house.control.command("/DIS A", Name::BLANK).lines.join("\n");
    assert!(shown.contains("BATCHREG BMP  NONE"), "{shown}");
}

// Regions were woken before its own place was free: they looked, and slept until something else
// came.
#[test]
fn what_a_batch_message_program_leaves_is_taken_by_a_region_that_waits() {
    for seed in 0..100 {
        let run = |_: seam::Seam| {
            let house = House::new(Options::default(), &["LATE"]);
            house.submit(input("LATE", &["LATE 1"]));
            let batch = house.control.batch_program(name("PLATE"), "NIGHT", LATE).expect("begins");
            let region = house.region();
            let waits = seam::thread::spawn("region", move || {
                let scheduled = region.next().expect("there is work");
                assert_eq!(scheduled.transaction.name, name("LATE"));
            });
            drop(batch);
            waits.expect("a thread").join();
        };
        sim::run(SimConfig::new(seed), SimDisk::new(), run).expect_completed();
    }
}

#[test]
fn what_a_batch_message_program_has_not_committed_waits_again() {
    let house = nightly();
    house.submit(input("LATE", &["LATE 1"]));
    let batch = house.control.batch_program(name("PLATE"), "NIGHT", LATE).expect("it begins");
    let mut program = batch.messages(&[]);
    let turn = house.turn(&mut program, &mut |_, _| Err(abend("S0C7")));
    assert!(turn.is_err());
    assert_eq!(waiting(&house, "LATE"), 0);
    drop((program, batch));
    assert_eq!(waiting(&house, "LATE"), 1);
    let start = BatchStart { input: name("NOTHERE"), ..LATE };
    let refused = house.control.batch_program(name("PLATE"), "NIGHT", start).err();
    assert_eq!(refused.map(|refusal| refusal.reason), Some(Reason::UnknownTransaction));
    assert!(house.control.command("/STO TRAN LATE", Name::BLANK).done);
    let refused = house.control.batch_program(name("PLATE"), "NIGHT", LATE).err();
    assert_eq!(refused.map(|refusal| refusal.reason), Some(Reason::TransactionStopped));
}

#[test]
fn a_batch_message_program_is_stopped_after_failures_in_a_row() {
    let house = nightly();
    let run = |ending: Ending| {
        let begun = house.control.batch_program(name("PLATE"), "NIGHT", LATE);
        begun.map(|batch| batch.ended(&ending)).map_err(|refusal| refusal.reason)
    };
    let abend = |code: &str| Ending::Abend { code: code.to_owned(), text: "why".to_owned() };
    let well = || Ending::Normal;
    let spared = [Ending::Lost, abend("U0777"), Ending::Lost, abend("U2478")];
    for ending in [abend("S0C7"), abend("S0C7"), well(), abend("S0C7"), abend("S0C7")] {
        assert_eq!(run(ending), Ok(()));
    }
    for ending in spared {
        assert_eq!(run(ending), Ok(()), "others are to blame");
    }
    assert_eq!(run(abend("U0778")), Ok(()));
    let notices = house.control.take_notices().join("\n");
    assert!(notices.contains("DFS554A PLATE LATE ABEND U0778: why"), "{notices}");
    assert!(notices.contains("PLATE and transaction LATE are stopped after 3"), "{notices}");
    assert_eq!(run(well()), Err(Reason::TransactionStopped));
    for command in ["/STA PGM PLATE", "/STA TRAN LATE"] {
        assert!(house.control.command(command, Name::BLANK).done);
    }
    assert_eq!(run(well()), Ok(()));
}

#[test]
fn what_a_batch_message_program_sends_goes_to_its_destination() {
    let house = nightly();
    let sends = |output: &str| {
        let start = BatchStart { input: Name::BLANK, output: name(output) };
        let batch = house.control.batch_program(name("PLATE"), "SENDS", start).expect("it begins");
        let mut program = batch.messages(&[]);
        let mut unit = house.store.begin(UnitOptions::default()).expect("a unit");
        assert!(program.next_message(&mut unit).expect("no abend").is_none());
        let status = program.insert(TerminalPcb::Io, &segment("ECHO SENT"), None);
        program.prepare(&mut unit).expect("it can");
        unit.commit().expect("durable");
        program.committed();
        status
    };
    assert_eq!(sends("ECHO"), *b"  ");
    assert_eq!(waiting(&house, "ECHO"), 1);
    assert_eq!(sends("PRINTER"), *b"  ");
    assert_eq!(house.drain("PRINTER"), [["ECHO SENT"]]);
    assert_eq!(sends(""), *b"QH");
}

#[test]
fn operators_end_programs_where_they_are() {
    let house = nightly();
    let tell = |command: &str| house.control.command(command, Name::BLANK);
    house.submit(input("ECHO", &["ONE"]));
    let region = house.region();
    let scheduled = region.next().expect("there is work");
    let number = region.id().0;
    for (command, why) in [
        ("/STOP REGION 99".to_owned(), "THERE IS NO SUCH REGION"),
        (format!("/STOP REGION {number} ABDUMP LATE"), "IT DOES NOT PROCESS THAT TRANSACTION"),
        (format!("/STOP REGION {number} ABDUMP ECHO"), "PROGRAMS CANNOT BE ENDED HERE"),
        (format!("/STOP REGION {number} TRANSACTION LATE"), "IT DOES NOT PROCESS TRANSACTION"),
        ("/STOP REGION".to_owned(), "PARAMETER MISSING"),
        ("/START REGION".to_owned(), "REGIONS CANNOT BE STARTED HERE"),
    ] {
        let answered = tell(&command);
        assert!(!answered.done && answered.lines[0].contains(why), "{:?}", answered.lines);
    }
    // It ends after its present message, and its region goes on.
    let mut turns = 0;
    house.run_scheduled(&region, scheduled, &[], |_, _| {
        turns += 1;
        house.submit(input("ECHO", &["MORE"]));
        assert!(tell(&format!("/STO REG {number} TRAN ECHO")).done);
        Ok(())
    });
    assert_eq!((turns, waiting(&house, "ECHO")), (1, 1));
    assert_eq!(region.next().map(|one| one.transaction.name), Some(name("ECHO")));
    assert!(tell("/STO REG JOBNAME MPP1").done);
    assert!(region.next().is_none());

    let start = BatchStart::default();
    let batch = house.control.batch_program(name("PLATE"), "NIGHT", start).expect("it begins");
    assert!(!tell("/STO REG JOBNAME NIGHT").done, "it gets no messages");
    assert!(!batch.is_ended());
    assert!(tell("/STO REG JOBNAME NIGHT ABDUMP").done);
    assert!(batch.is_ended());
}

/// A system with a Fast Path transaction `QUICK` and one that may be one, `MAYBE`.
fn fast() -> House {
    let house = House::new(Options::default(), &["ECHO"]);
    put(&house, Kind::Program, "PQUICK", &[("FP", "E")]);
    let exclusive = [("PGM", "PQUICK"), ("FP", "E"), ("RESP", "Y"), ("EMHBSZ", "20")];
    put(&house, Kind::Transaction, "QUICK", &exclusive);
    put(&house, Kind::Program, "PMAYBE", &[]);
    put(&house, Kind::Transaction, "MAYBE", &[("PGM", "PMAYBE"), ("FP", "P")]);
    put(&house, Kind::RoutingCode, "MAYBE", &[("PGM", "PQUICK")]);
    // FPATH=YES of a program with FPATH=YES.
    put(&house, Kind::Transaction, "SWIFT", &[("PGM", "PQUICK"), ("FP", "P")]);
    house
}

fn refused(house: &House, input: Input) -> Option<(Reason, String)> {
    let refused = house.control.submit(input, Arc::new(Ear::default()) as _).err();
    refused.map(|refusal| (refusal.reason, refusal.text))
}

#[test]
fn expedited_inputs_go_to_the_regions_of_their_routing_codes_program() {
    let house = fast();
    let (reason, text) = refused(&house, direct("QUICK", &["1"])).expect("nobody is there");
    assert_eq!(reason, Reason::TransactionStopped);
    assert_eq!(text, "DFS2529 NO FAST PATH REGION FOR ROUTING CODE QUICK");
    // One that may be expedited is queued then.
    house.submit(direct("MAYBE", &["QUEUED"]));
    assert_eq!(waiting(&house, "MAYBE"), 1);

    let region = house.control.expedited_region(name("PQUICK"), "IFP1");
    let shown = house.control.command("/DIS A", Name::BLANK).lines.join("\n");
    assert!(shown.contains("IFP1     FP             PQUICK   WAITING"), "{shown}");
    let (_, quick) = house.submit(direct("QUICK", &["ONE"]));
    let (_, maybe) = house.submit(direct("MAYBE", &["TWO"]));
    house.submit(direct("SWIFT", &["THREE"]));
    assert_eq!((waiting(&house, "QUICK"), waiting(&house, "MAYBE")), (0, 1));
    let scheduled = region.next().expect("there is work");
    assert_eq!(scheduled.program.name, name("PQUICK"));
    let mut seen = Vec::new();
    let control = house.control.clone();
    house.run_scheduled(&region, scheduled, &[], |program, text| {
        seen.push(text.to_owned());
        reply(program, &format!("{text}!"));
        if seen.len() == 3 {
            // It waits for more, until somebody ends it.
            control.renew(name("PQUICK"));
        }
        Ok(())
    });
    assert_eq!(seen, ["ONE", "TWO", "THREE"]);
    assert_eq!(texts(&quick.outputs()[0]), ["ONE!"]);
    assert_eq!(texts(&maybe.outputs()[0]), ["TWO!"]);
    assert_eq!(quick.outcomes(), [Outcome::Committed]);
}

#[test]
fn expedited_inputs_are_never_kept_and_their_answers_are_as_their_mode_demands() {
    let house = fast();
    let region = house.control.expedited_region(name("PQUICK"), "IFP1");
    let (_, ear) = house.submit(input("QUICK", &["LOST"]));
    assert_eq!(ear.events().len(), 1, "it is accepted");
    let too_long = refused(&house, direct("QUICK", &["IT IS MUCH TOO LONG"]));
    assert_eq!(too_long.map(|(reason, _)| reason), Some(Reason::TooLarge));
    let options = InputOptions { send_only: true, ..InputOptions::default() };
    let unanswered = refused(&house, Input { options, ..input("QUICK", &["1"]) });
    assert_eq!(unanswered.map(|(reason, _)| reason), Some(Reason::CommitMode));
    drop(region);
    // Nobody is there any more who would process it.
    let outcomes = ear.outcomes();
    let [Outcome::BackedOut(refusal)] = &outcomes[..] else { panic!("{outcomes:?}") };
    assert_eq!(refusal.text, "DFS2529 NO FAST PATH REGION FOR ROUTING CODE QUICK");
    let region = house.control.expedited_region(name("PQUICK"), "IFP1");
    house.submit(input("QUICK", &["LOST"]));
    let house = house.crash(Options::default());
    drop(region);
    assert_eq!(house.control.queue(QueueName::expedited(name("PQUICK"))).waiting, 0);

    // In mode 0 the output is in the unit of work of its program, and survives.
    let region = house.control.expedited_region(name("PQUICK"), "IFP1");
    let (_, ear) = house.submit(input("QUICK", &["KEPT"]));
    let scheduled = region.next().expect("there is work");
    let control = house.control.clone();
    house.run_scheduled(&region, scheduled, &[], |program, text| {
        reply(program, text);
        control.renew(name("PQUICK"));
        Ok(())
    });
    assert_eq!(ear.outcomes(), [Outcome::Committed]);
    drop(region);
    let house = house.crash(Options::default());
    assert_eq!(house.drain("CLIENT1"), [["KEPT"]]);
}

#[test]
fn a_program_that_fails_fast_tells_who_waits_and_is_stopped_in_the_end() {
    let house = fast();
    let region = house.control.expedited_region(name("PQUICK"), "IFP1");
    for _ in 0..3 {
        let (_, ear) = house.submit(direct("QUICK", &["BAD"]));
        let scheduled = region.next().expect("there is work");
        house.run_scheduled(&region, scheduled, &[], |_, _| Err(abend("S0C7")));
        let outcomes = ear.outcomes();
        let [Outcome::BackedOut(refusal)] = &outcomes[..] else { panic!("{outcomes:?}") };
        assert!(refusal.text.starts_with("DFS555I TRAN QUICK ABEND S0C7"), "{refusal}");
    }
    let (reason, _) = refused(&house, direct("QUICK", &["1"])).expect("it is stopped");
    assert_eq!(reason, Reason::TransactionStopped);
}

#[test]
fn a_program_that_waits_ends_when_it_has_changed_and_is_scheduled_again() {
    let house = House::new(Options::default(), &["ECHO WFI Y"]);
    house.submit(input("ECHO", &["ONE"]));
    let region = house.region();
    let scheduled = region.next().expect("there is work");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            house.run_scheduled(&region, scheduled, &[], |program, text| {
                reply(program, text);
                Ok(())
            })
        });
        while house.control.waiting_programs() != [name("PECHO")] {
            seam::thread::yield_now();
        }
        // A definition that changes is as good as a source that does.
        house.define(&["ECHO WFI Y CLASS 2"]);
        assert_eq!(waits.join().expect("it ends"), Ending::Normal);
    });
    house.submit(input("ECHO", &["TWO"]));
    let scheduled = region.next().expect("there is work");
    assert_eq!(scheduled.transaction.class.0, 2);
}

// It waited for another input with the first one's locks, log and replies in its hands, as long as
// nobody else needed its region.
#[test]
fn a_program_of_mode_mult_does_not_wait_while_its_unit_of_work_is_open() {
    for attributes in ["ECHO CMTMODE MULT", "ECHO CMTMODE MULT WFI Y"] {
        let house = House::new(Options::default(), &[attributes]);
        let (_, first) = house.submit(direct("ECHO", &["ONE"]));
        let (_, second) = house.submit(direct("ECHO", &["TWO"]));
        let region = house.control.region(&[1], "MPP1", true);
        let scheduled = region.next().expect("there is work");
        let mut program = region.messages(&scheduled, &[]);
        let mut unit = house.store.begin(UnitOptions::default()).expect("a unit of work");
        for _ in 0..2 {
            assert!(program.next_message(&mut unit).expect("no abend").is_some());
            reply(&mut program, "DONE");
        }
        std::thread::scope(|scope| {
            let next = scope.spawn(|| program.next_message(&mut unit).expect("no abend").is_none());
            while !next.is_finished() {
                if !house.control.waiting_programs().is_empty() {
                    house.control.shut_down();
                    panic!("it waits with inputs in hand");
                }
                seam::thread::yield_now();
            }
            assert!(next.join().expect("it ends"), "QC");
        });
        program.prepare(&mut unit).expect("it can");
        unit.commit().expect("durable");
        program.committed();
        for ear in [first, second] {
            assert_eq!(texts(&ear.outputs()[0]), ["DONE"]);
            assert_eq!(ear.outcomes(), [Outcome::Committed]);
        }
        drop(program);
        region.ended(scheduled, &Ending::Normal);
    }
}

#[test]
fn what_was_stopped_for_its_failures_stays_so_over_a_restart() {
    let house = House::new(Options { failures_max: 1, ..Options::default() }, &["BAD"]);
    house.submit(input("BAD", &["BAD"]));
    house.run(|_, _| Err(abend("S0C7")));
    let house = house.crash(Options::default());
    let shown = house.control.command("/DIS TRAN BAD", Name::BLANK).lines.join("\n");
    assert!(shown.contains("STATUS: USTOP, PSB STOPPED"), "{shown}");
    // It is still queued for.
    house.submit(input("BAD", &["LATER"]));
    for command in ["/STA PGM PBAD", "/STA TRAN BAD"] {
        assert!(house.control.command(command, Name::BLANK).done);
    }
    let house = house.crash(Options::default());
    house.run(|_, _| Ok(()));
    assert_eq!(waiting(&house, "BAD"), 0);
}

fn undelivered(options: InputOptions) -> House {
    let house = House::new(Options::default(), &["ECHO"]);
    let (ticket, _) = house.submit(Input { options, ..input("ECHO", &["ONE"]) });
    house.control.abandon(ticket);
    house.run(|program, text| {
        reply(program, text);
        Ok(())
    });
    house
}

#[test]
fn outputs_that_nobody_takes_are_kept_rerouted_or_discarded_as_their_input_says() {
    let plain = InputOptions::default();
    assert_eq!(undelivered(plain).drain("CLIENT1"), [["ONE"]]);
    let reroute = InputOptions { reroute: name("OTHER"), ..plain };
    let house = undelivered(reroute);
    assert_eq!(house.control.queued(name("CLIENT1")), 0);
    assert_eq!(house.drain("OTHER"), [["ONE"]]);
    let purge = InputOptions { purge_undeliverable: true, ..plain };
    let house = undelivered(purge);
    assert_eq!(house.control.queued(name("CLIENT1")), 0);
    // What nobody has asked an answer for is not undeliverable.
    let send_only = InputOptions { send_only: true, ..purge };
    assert_eq!(undelivered(send_only).drain("CLIENT1"), [["ONE"]]);
}

#[test]
fn an_output_that_a_client_could_not_take_goes_where_its_input_says() {
    let house = House::new(Options::default(), &["ECHO"]);
    let send = |reroute: Name| {
        let options = InputOptions { reroute, ..InputOptions::default() };
        house.submit(Input { options, ..input("ECHO", &["ONE"]) });
        house.run(|program, text| {
            reply(program, text);
            Ok(())
        });
        let output = house.control.take(name("CLIENT1")).expect("the store works");
        let done = Box::new(|done: Result<(), otma::Refusal>| done.expect("durable"));
        let id = output.expect("it is there").id;
        let rerouted = Settlement::Rerouted;
        house.control.settle(name("CLIENT1"), id, rerouted, done).expect("it was taken");
    };
    send(name("OTHER"));
    assert_eq!(house.control.queued(name("CLIENT1")), 0);
    assert_eq!(house.drain("OTHER"), [["ONE"]]);
    send(Name::BLANK);
    assert_eq!(house.drain("CLIENT1"), [["ONE"]]);
}

#[test]
fn a_conversation_with_ebcdic_names_its_next_transaction_in_ebcdic() {
    let house = House::new(Options::default(), &["TALK CONV Y SPASZ 30", "MORE CONV Y SPASZ 30"]);
    let say = |transaction: &str| Input {
        encoding: otma::Encoding::Ebcdic,
        mode: CommitMode::SendThenCommit,
        sync_level: SyncLevel::None,
        ..input(transaction, &["X"])
    };
    const MORE: &[u8] = b"\xd4\xd6\xd9\xc5\x40\x40\x40\x40";
    house.submit(say("TALK"));
    house.run(|program, _| {
        let spa = program.first_segment().expect("a scratch pad area").bytes.to_vec();
        assert_eq!(spa[6..14], *b"\xe3\xc1\xd3\xd2\x40\x40\x40\x40");
        let next = [&spa[..6], MORE, &spa[14..]].concat();
        assert_eq!(program.insert(TerminalPcb::Io, &next, None), *b"  ");
        Ok(())
    });
    // Whatever the terminal asks for, the conversation's transaction gets it.
    house.submit(say("TALK"));
    let region = house.region();
    let scheduled = region.next().expect("there is work");
    assert_eq!(scheduled.transaction.name, name("MORE"));
    house.run_scheduled(&region, scheduled, &[], |program, _| {
        let spa = program.first_segment().expect("a scratch pad area").bytes.to_vec();
        assert_eq!(spa[6..14], *MORE);
        let end = [&spa[..6], &[0x40; 8], &spa[14..]].concat();
        assert_eq!(program.insert(TerminalPcb::Io, &end, None), *b"  ");
        Ok(())
    });
    let shown = house.control.command("/DIS CONV", Name::BLANK).lines.join("\n");
    assert!(shown.contains("NO CONVERSATIONS"), "{shown}");
}

#[test]
fn profiles_say_who_may_use_a_transaction_and_what_auth_is_answered() {
    let house = House::new(Options::default(), &["ECHO", "OTHER"]);
    let protect = |class: &str, resource: &str, permitted: &[&str]| {
        let permitted = permitted.iter().map(|one| name(one)).collect();
        let profile = Profile { class: name(class), resource: name(resource), permitted };
        house.control.protect(&profile).expect("durable");
    };
    protect("TRAN", "ECHO", &["ANNA"]);
    protect("TRAN", "OTHER", &["CHIEFS"]);
    protect("VAULT", "GOLD*", &["ANNA"]);
    let (reason, text) = refused(&house, direct("ECHO", &["1"])).expect("nobody is not permitted");
    assert_eq!(reason, Reason::NotAuthorized);
    assert_eq!(text, "DFS1292E SECURITY VIOLATION, TRAN=ECHO");
    let identity = otma::Identity { user: name("ANNA"), group: Name::BLANK };
    house.submit(Input { identity, ..input("ECHO", &["1"]) });
    let region = house.region();
    let scheduled = region.next().expect("there is work");
    let pcb = AlternatePcb { number: 1, modifiable: true, ..AlternatePcb::default() };
    house.run_scheduled(&region, scheduled, &[pcb], |program, _| {
        let may = |class: &str, resource: &str| program.may_use(name(class).0, name(resource).0);
        assert_eq!(may("VAULT", "GOLD1"), Some(true));
        assert_eq!(may("TRAN", "OTHER"), Some(false));
        assert_eq!(may("VAULT", "SILVER"), None);
        assert_eq!(program.change(1, *b"OTHER   "), *b"A4");
        Ok(())
    });
}
