//! Transactions from submission to reply, in all their ways, with programs that are closures.

use std::sync::Arc;
use std::time::Duration;

use crate::common::*;
use holdfast_control::{AlternatePcb, Anonymous, Ending, OnFailure, Options};
use otma::{
    Answer, CommitMode, Event, Input, InputOptions, Manager, Name, Outcome, Reason, Settlement,
    SyncLevel,
};
use queues::{Kind, QueueName};
use schedule::messages::{Messages, TerminalPcb};

#[test]
fn an_input_of_mode_0_is_answered_on_its_tpipe() {
    let house = House::new(Options::default(), &["ECHO"]);
    let (ticket, ear) = house.submit(input("ECHO", &["ECHO ONE", "TWO"]));
    let watch: Arc<dyn otma::Partner> = Arc::clone(&ear) as _;
    house.control.watch(name("CLIENT1"), Name::BLANK, &watch);
    assert_eq!(ear.events(), [(ticket, Event::Accepted)]);
    let mut statuses = Vec::new();
    house.run(|program, text| {
        assert_eq!(program.next_segment().map(|one| one.bytes.len()), Ok(7));
        statuses.push(program.next_segment().err());
        reply(program, &format!("{text}!"));
        Ok(())
    });
    assert_eq!(statuses, [Some(*b"QD")]);
    assert_eq!(ear.outcomes(), [Outcome::Committed]);
    assert_eq!(ear.tpipes(), [name("CLIENT1")]);
    let taken = house.control.take_reply(name("CLIENT1"), ticket).expect("the store works");
    let taken = taken.expect("it is there");
    assert!(taken.wants_answer && !taken.more_queued);
    assert_eq!(house.control.queued(name("CLIENT1")), 0);
    let kept = house.control.settle(
        name("CLIENT1"),
        taken.id,
        Settlement::Kept,
        Box::new(|done| done.expect("nothing to do")),
    );
    kept.expect("it was taken");
    assert_eq!(house.drain("CLIENT1"), [["ECHO ONE!"]]);
    let again = house.control.settle(
        name("CLIENT1"),
        taken.id,
        Settlement::Delivered,
        Box::new(|_| panic!("it was settled before")),
    );
    assert_eq!(again.map_err(|refusal| refusal.reason), Err(Reason::NothingWaiting));
}

#[test]
fn an_input_of_mode_1_is_answered_when_its_work_is_durable() {
    let house = House::new(Options::default(), &["ECHO"]);
    let (ticket, ear) = house.submit(direct("ECHO", &["ONE"]));
    house.store.hold_log();
    let region = house.region();
    let scheduled = region.next().expect("there is work");
    house.control.terminal(name("LTERM2"));
    let mut program = region.messages(&scheduled, &alternates());
    let turn = house.turn(&mut program, &mut |program, text| {
        reply(program, text);
        // There is something in the unit of work that becomes durable.
        assert_eq!(program.change(1, *b"LTERM2  "), *b"  ");
        assert_eq!(program.insert(TerminalPcb::Alternate(1), &segment("X"), None), *b"  ");
        Ok(())
    });
    assert_eq!(turn, Ok(true));
    assert_eq!(ear.events(), [(ticket, Event::Accepted)], "it is not durable yet");
    house.store.release_log();
    assert_eq!(ear.outputs().iter().map(texts).collect::<Vec<_>>(), [["ONE"]]);
    assert_eq!(ear.outcomes(), [Outcome::Committed]);
    drop(program);
    region.ended(scheduled, &Ending::Normal);
    assert_eq!(house.control.queue(QueueName::input(name("ECHO"))).taken, 0);
}

fn confirmed(answer: Option<Answer>) -> (House, Arc<Ear>, Ending) {
    let options = Options { answer_wait: Duration::from_millis(300), ..Options::default() };
    let house = House::new(options, &["ECHO"]);
    let one = Input { sync_level: SyncLevel::Confirm, ..direct("ECHO", &["ONE"]) };
    let (_, ear) = house.submit(one);
    let (control, listener) = (house.control.clone(), Arc::clone(&ear));
    let client = seam::thread::spawn("client", move || {
        let (ticket, output) = listener.wait_for_output();
        assert!(output.wants_answer);
        assert_eq!(listener.outcomes(), []);
        if let Some(answer) = answer {
            control.answer(ticket, answer);
        }
    });
    let ending = house.run(|program, text| {
        reply(program, text);
        Ok(())
    });
    client.expect("a thread").join();
    (house, ear, ending)
}

#[test]
fn a_sync_point_waits_for_the_answer_to_a_confirmed_output() {
    let (house, ear, ending) = confirmed(Some(Answer::Ack));
    assert_eq!((ear.outcomes(), ending), (vec![Outcome::Committed], Ending::Normal));
    assert_eq!(house.control.statistics().committed, 1);
    for answer in [Some(Answer::Nak { reason: 7, retain: false }), None] {
        let (house, ear, ending) = confirmed(answer);
        assert!(matches!(ending, Ending::Abend { code, .. } if code == "U0119"));
        let outcomes = ear.outcomes();
        let [Outcome::BackedOut(refusal)] = &outcomes[..] else { panic!("{outcomes:?}") };
        assert_eq!(refusal.reason, Reason::OutputRefused);
        assert_eq!(house.control.queue(QueueName::input(name("ECHO"))).taken, 0);
        let (_, ear) = house.submit(direct("ECHO", &["TWO"]));
        house.run(|program, text| {
            reply(program, text);
            Ok(())
        });
        assert_eq!(ear.outcomes(), [Outcome::Committed], "the program is not to blame");
    }
}

/// An input whose client confirms, in a unit of work that has changed something; the log is full
/// before the client would answer.
fn confirmed_with_a_full_log(answer: Option<Answer>) -> (Arc<Ear>, Ending) {
    let house = House::new(Options { any_terminal: true, ..Options::default() }, &["ECHO"]);
    let one = Input { sync_level: SyncLevel::Confirm, ..direct("ECHO", &["ONE"]) };
    let (_, ear) = house.submit(one);
    let (store, control) = (house.store.clone(), house.control.clone());
    let listener = Arc::clone(&ear);
    let client = seam::thread::spawn("client", move || {
        let (ticket, _) = listener.wait_for_output();
        store.fill_log(true);
        if let Some(answer) = answer {
            control.answer(ticket, answer);
        }
    });
    let region = house.region();
    let scheduled = region.next().expect("there is work");
    let ending = house.run_scheduled(&region, scheduled, &alternates(), |program, text| {
        reply(program, text);
        let printed = program.insert(TerminalPcb::Alternate(4), &segment("LOGGED"), None);
        assert_eq!(printed, *b"  ");
        Ok(())
    });
    client.expect("a thread").join();
    (ear, ending)
}

// A client that never answered kept the log full for two minutes, and everybody else waiting.
#[test]
fn a_sync_point_that_keeps_the_log_full_does_not_wait_for_its_client() {
    let (ear, ending) = confirmed_with_a_full_log(None);
    let Ending::Abend { code, text } = ending else { panic!("{ending:?}") };
    assert_eq!(code, "U0119");
    assert!(text.contains("the log is full"), "{text}");
    let outcomes = ear.outcomes();
    let [Outcome::BackedOut(refusal)] = &outcomes[..] else { panic!("{outcomes:?}") };
    assert_eq!(refusal.reason, Reason::OutputRefused);
    let (ear, ending) = confirmed_with_a_full_log(Some(Answer::Ack));
    assert_eq!((ear.outcomes(), ending), (vec![Outcome::Committed], Ending::Normal));
}

// It became a dead letter, and the third one had program and transaction stopped.
#[test]
fn an_input_that_meets_a_full_log_is_processed_later_and_stops_nothing() {
    let house =
        House::new(Options { failures_max: 1, retries_max: 0, ..Options::default() }, &["ECHO"]);
    let (_, ear) = house.submit(input("ECHO", &["ONE"]));
    house.store.fill_log(true);
    let run = || {
        house.run(|program, text| {
            reply(program, text);
            Ok(())
        })
    };
    for _ in 0..2 {
        let ending = run();
        assert!(matches!(&ending, Ending::Abend { code, .. } if code == "U0616"), "{ending:?}");
    }
    house.store.fill_log(false);
    assert_eq!(run(), Ending::Normal);
    assert_eq!(ear.outcomes(), [Outcome::Committed]);
    assert!(house.control.dead_letters(name("ECHO"), 9).expect("a store").is_empty());
    assert_eq!(house.control.take_notices(), Vec::<String>::new());
}

// The replies became inputs of it: without the right to it, though it was stopped, and without an
// end where the program was its own.
#[test]
fn a_terminal_with_the_name_of_a_transaction_makes_no_inputs_of_its_replies() {
    let house = House::new(Options::default(), &["ECHO"]);
    let payroll = name("PAYROLL");
    house.submit(Input { client: payroll, ..input("ECHO", &["ONE"]) });
    let (_, ear) = house.submit(Input { terminal: payroll, ..direct("ECHO", &["TWO"]) });
    // It is defined when both are there already.
    house.define(&["PAYROLL"]);
    house.run(|program, text| {
        reply(program, text);
        Ok(())
    });
    assert_eq!(house.control.queue(QueueName::input(payroll)), queues::Figures::default());
    assert_eq!(house.drain("PAYROLL"), [["ONE"]]);
    assert_eq!(texts(&ear.outputs()[0]), ["TWO"]);
    // From now on no terminal is called so; a client may be.
    let from = Input { terminal: payroll, ..direct("ECHO", &["1"]) };
    let refused = house.control.submit(from, Arc::new(Ear::default()) as _);
    assert_eq!(refused.map_err(|refusal| refusal.reason), Err(Reason::NotAuthorized));
    house.submit(Input {
        client: payroll,
        terminal: payroll,
        tpipe: payroll,
        ..input("ECHO", &["3"])
    });
    house.run(|program, text| {
        reply(program, text);
        Ok(())
    });
    assert_eq!(house.control.queue(QueueName::input(payroll)), queues::Figures::default());
    assert_eq!(house.drain("PAYROLL"), [["3"]]);
}

#[test]
fn unknown_and_stopped_transactions_are_refused() {
    let house = House::new(Options::default(), &["ECHO"]);
    let refused = |code: &str| {
        let ear = Arc::new(Ear::default());
        let answer = house.control.submit(input(code, &["X"]), Arc::clone(&ear) as _);
        assert!(ear.events().is_empty());
        answer.expect_err("it is refused")
    };
    let unknown = refused("NONE");
    assert_eq!(unknown.reason, Reason::UnknownTransaction);
    assert!(unknown.text.starts_with("DFS064 "), "{unknown}");
    let stopped = house.control.command("/STO TRAN ECHO", Name::BLANK);
    assert!(stopped.done && stopped.lines[0].starts_with("DFS058I "), "{stopped:?}");
    let answer = refused("ECHO");
    assert_eq!(answer.reason, Reason::TransactionStopped);
    assert!(answer.text.starts_with("DFS065 "), "{answer}");
    house.control.shut_down();
    assert_eq!(refused("ECHO").reason, Reason::ShuttingDown);
    assert!(house.region().next().is_none());
}

#[test]
fn a_failing_program_is_stopped_and_its_inputs_are_dead_letters() {
    let house = House::new(Options { failures_max: 2, ..Options::default() }, &["BAD"]);
    for number in 0..2 {
        let (_, ear) = house.submit(input("BAD", &[&format!("BAD {number}")]));
        house.run(|_, _| Err(abend("S0C7")));
        let outcomes = ear.outcomes();
        let [Outcome::BackedOut(refusal)] = &outcomes[..] else { panic!("{outcomes:?}") };
        assert_eq!(refusal.reason, Reason::ProgramFailed);
        assert!(refusal.text.starts_with("DFS555I TRAN BAD ABEND S0C7"), "{refusal}");
    }
    let letters = house.control.dead_letters(name("BAD"), 9).expect("the store works");
    assert_eq!(letters.len(), 2);
    assert!(letters[0].reason.contains("BAD 0"));
    assert_eq!(house.control.discard(name("BAD"), letters[0].arrival).ok(), Some(true));
    house.submit(input("BAD", &["LATER"]));
    let shown = house.control.command("/DIS TRAN BAD", Name::BLANK).lines.join("\n");
    assert!(shown.contains("STATUS: USTOP, PSB STOPPED"), "{shown}");
    assert!(house.control.take_notices().iter().any(|text| text.contains("are stopped")));
    for command in ["/START PGM PBAD", "/STA TRAN BAD"] {
        assert!(house.control.command(command, Name::BLANK).done);
    }
    house.run(|_, _| Ok(()));
    assert_eq!(house.control.queue(QueueName::input(name("BAD"))).waiting, 0);
}

#[test]
fn a_deadlocks_victim_is_scheduled_again_unseen() {
    let house = House::new(Options::default(), &["ECHO"]);
    let (_, ear) = house.submit(direct("ECHO", &["ONE"]));
    let (_, other) = house.submit(input("ECHO", &["TWO"]));
    for _ in 0..3 {
        house.run(|program, text| {
            assert_eq!(text, "ONE");
            reply(program, "never sent");
            Err(abend("U0777"))
        });
    }
    assert_eq!((ear.events().len(), other.events().len()), (1, 1));
    house.run(|program, text| {
        reply(program, text);
        Ok(())
    });
    assert_eq!(ear.outputs().iter().map(texts).collect::<Vec<_>>(), [["ONE"]]);
    assert_eq!(other.outcomes(), [Outcome::Committed]);
    assert_eq!(house.control.statistics().rescheduled, 3);
}

#[test]
fn a_failed_input_waits_again_if_that_is_configured() {
    let options = Options { on_failure: OnFailure::Requeue, failures_max: 1, ..Options::default() };
    let house = House::new(options, &["BAD"]);
    let (_, ear) = house.submit(input("BAD", &["ONE"]));
    house.run(|_, _| Err(abend("U0001")));
    assert_eq!(ear.outcomes(), []);
    assert_eq!(house.control.queue(QueueName::input(name("BAD"))).waiting, 1);
    let _ = house.control.command("/STA PGM PBAD", Name::BLANK);
    let _ = house.control.command("/STA TRAN BAD", Name::BLANK);
    house.run(|_, _| Ok(()));
    assert_eq!(ear.outcomes(), [Outcome::Committed]);
}

fn alternates() -> [AlternatePcb; 4] {
    let one = AlternatePcb::default();
    [
        AlternatePcb { number: 1, modifiable: true, ..one },
        AlternatePcb { number: 2, modifiable: true, express: true, ..one },
        AlternatePcb { number: 3, modifiable: true, response: true, ..one },
        AlternatePcb { number: 4, destination: name("PRINTER"), ..one },
    ]
}

#[test]
fn alternate_pcbs_answer_with_the_status_codes() {
    let house = House::new(Options::default(), &["ECHO SEGSZ 20 SEGNO 2", "OTHER"]);
    house.control.terminal(name("LTERM2"));
    house.submit(input("ECHO", &["ONE"]));
    let region = house.region();
    let scheduled = region.next().expect("there is work");
    let long = segment("A SEGMENT THAT IS TOO LONG");
    let short = segment("SHORT");
    house.run_scheduled(&region, scheduled, &alternates(), |program, _| {
        let alt = TerminalPcb::Alternate;
        assert_eq!(program.change(1, *b"NOWHERE "), *b"A1");
        assert_eq!(program.change(4, *b"LTERM2  "), *b"A2");
        assert_eq!(program.insert(alt(1), &short, None), *b"A3");
        assert_eq!(program.purge(alt(1), None, None), *b"A3");
        assert_eq!(program.insert(alt(4), &short, None), *b"QH");
        assert_eq!(program.insert(TerminalPcb::Io, &long, None), *b"A6");
        assert_eq!(program.insert(TerminalPcb::Io, &short[..4], None), *b"QF");
        assert_eq!(program.change(3, *b"OTHER   "), *b"  ");
        assert_eq!(program.insert(alt(3), &short, None), *b"AA");
        assert_eq!(program.change(3, *b"LTERM2  "), *b"  ");
        assert_eq!(program.insert(TerminalPcb::Io, &short, Some(*b"MOD     ")), *b"  ");
        assert_eq!(program.insert(TerminalPcb::Io, &short, Some(*b"MOD     ")), *b"A5");
        assert_eq!(program.insert(alt(3), &short, None), *b"A8");
        assert_eq!(program.insert(TerminalPcb::Io, &short, None), *b"  ");
        assert_eq!(program.insert(TerminalPcb::Io, &short, None), *b"A7");
        assert_eq!(program.change(1, *b"LTERM2  "), *b"  ");
        assert_eq!(program.insert(alt(1), &short, None), *b"  ");
        assert_eq!(program.change(1, *b"OTHER   "), *b"A2");
        assert_eq!(program.destination(alt(1)), *b"LTERM2  ");
        Ok(())
    });
    assert_eq!(house.drain("LTERM2"), [["SHORT"]]);
    assert_eq!(house.drain("CLIENT1"), [["SHORT", "SHORT"]]);
}

#[test]
fn what_an_express_pcb_purges_stays_sent() {
    let house = House::new(Options::default(), &["BAD"]);
    house.control.terminal(name("LTERM2"));
    house.submit(input("BAD", &["ONE"]));
    let region = house.region();
    let scheduled = region.next().expect("there is work");
    house.run_scheduled(&region, scheduled, &alternates(), |program, _| {
        for (pcb, text) in [(1, "FORGOTTEN"), (2, "SENT")] {
            let alt = TerminalPcb::Alternate(pcb);
            assert_eq!(program.change(pcb, *b"LTERM2  "), *b"  ");
            assert_eq!(program.insert(alt, &segment(text), None), *b"  ");
            assert_eq!(program.purge(alt, Some(&segment("NEXT")), None), *b"  ");
        }
        Err(abend("U0100"))
    });
    assert_eq!(house.drain("LTERM2"), [["SENT"]]);
}

#[test]
fn another_program_can_answer_in_place_of_the_first() {
    let house = House::new(Options::default(), &["ECHO", "OTHER CLASS 3"]);
    let (_, ear) = house.submit(direct("ECHO", &["ONE"]));
    let region = house.region();
    let scheduled = region.next().expect("there is work");
    house.run_scheduled(&region, scheduled, &alternates(), |program, text| {
        assert_eq!(program.change(1, *b"OTHER   "), *b"  ");
        let alt = TerminalPcb::Alternate(1);
        assert_eq!(program.insert(alt, &segment(&format!("{text} MORE")), None), *b"  ");
        Ok(())
    });
    assert_eq!(ear.outcomes(), []);
    house.run(|program, text| {
        reply(program, text);
        Ok(())
    });
    assert_eq!(ear.outputs().iter().map(texts).collect::<Vec<_>>(), [["ONE MORE"]]);
    assert_eq!(ear.outcomes(), [Outcome::Committed]);
    assert!(house.control.queues(Kind::Output).is_empty());
}

#[test]
fn who_wants_to_know_is_told_that_there_is_no_reply() {
    let house = House::new(Options::default(), &["MUTE"]);
    let options = InputOptions { tell_if_no_reply: true, ..InputOptions::default() };
    let (_, ear) = house.submit(Input { options, ..direct("MUTE", &["ONE"]) });
    house.submit(Input { options, ..input("MUTE", &["TWO"]) });
    house.run(|_, _| Ok(()));
    assert!(texts(&ear.outputs()[0])[0].starts_with("DFS2082 "));
    assert!(house.drain("CLIENT1")[0][0].starts_with("DFS2082 "));
}

#[test]
fn what_an_operator_has_stopped_is_stopped_after_a_crash() {
    let mut house = House::new(Options::default(), &["ONE", "TWO", "THREE"]);
    for command in ["/STO TRAN ONE", "/STO PGM PTWO"] {
        assert!(house.control.command(command, Name::BLANK).done);
    }
    let refused = |house: &House, transaction: &str| {
        let one = direct(transaction, &[&format!("{transaction} 1")]);
        let refused = house.control.submit(one, Arc::new(Ear::default()) as _);
        refused.err().map(|refusal| refusal.reason)
    };
    for _ in 0..2 {
        assert_eq!(refused(&house, "ONE"), Some(Reason::TransactionStopped));
        assert_eq!(refused(&house, "TWO"), Some(Reason::TransactionStopped));
        assert_eq!(refused(&house, "THREE"), None);
        house = house.crash(Options::default());
    }
    assert!(house.control.command("/STA TRAN ONE", Name::BLANK).done);
    assert!(house.control.command("/STA PGM PTWO", Name::BLANK).done);
    house = house.crash(Options::default());
    assert_eq!([refused(&house, "ONE"), refused(&house, "TWO")], [None, None]);
}

#[test]
fn a_stop_goes_with_its_transaction() {
    let house = House::new(Options::default(), &["ONE"]);
    assert!(house.control.command("/STO TRAN ONE", Name::BLANK).done);
    let (kind, name) = (resources::Kind::Transaction, "ONE".to_owned());
    house.control.apply(&[resources::Change::Delete { kind, name }]).expect("it is there");
    house.define(&["ONE"]);
    let house = house.crash(Options::default());
    let taken = house.control.submit(direct("ONE", &["1"]), Arc::new(Ear::default()) as _);
    assert!(taken.is_ok(), "{:?}", taken.map_err(|refusal| refusal.text));
}

#[test]
fn commands_are_answered_as_operators_know_them() {
    let alone = Options { anonymous: Anonymous::WithoutUsers, ..Options::default() };
    let house = House::new(alone, &["PART CLASS 4 NPRI 7 LPRI 10 LCT 2", "ECHO"]);
    house.submit(input("PART", &["X"]));
    let (_, ear) = house.submit(direct("/DIS", &["/DIS TRAN PART NONE"]));
    let lines = texts(&ear.outputs()[0]);
    assert_eq!(lines[0], "   TRAN     CLS ENQCT   QCT   LCT  PLCT CP NP LP SEGSZ SEGNO PARLM  RC");
    assert_eq!(lines[1], "   PART       4     1     1     2 65535  7  7 10     0     0  NONE   0");
    assert_eq!(lines[2], "      PSBNAME: PPART");
    assert!(lines[3].starts_with("DFS121 ") && lines[3].contains("NONE"), "{lines:?}");
    let stamp = lines.last().expect("a stamp").trim();
    assert!(stamp.len() == 14 && stamp.starts_with('*') && stamp.ends_with('*'), "{stamp}");
    let mut ebcdic = direct("/DIS", &[]);
    ebcdic.encoding = otma::Encoding::Ebcdic;
    ebcdic.segments.push([0; 2], b"\x61\xC4\xC9\xE2\x40\xD8").expect("short");
    let (_, ear) = house.submit(ebcdic);
    let output = &ear.outputs()[0];
    assert_eq!(output.encoding, otma::Encoding::Ascii, "it says so");
    assert!(texts(output)[0].contains("CLS  PRTY MSGCT TRAN"), "{:?}", texts(output));
    for (command, expected) in [
        ("/DIS PGM ALL", "PPART    PART     TP"),
        ("/DISPLAY A", "REGID JOBNAME  TYPE TRAN/STEP PROGRAM"),
        ("/DIS Q", "PART"),
        ("/DIS POOL", "MESSAGE QUEUES    MESSAGES"),
        ("/DIS NONSENSE", "DFS165"),
        ("/STOP TRAN", "DFS121"),
        ("/STOP TRAN NOTHERE", "DFS121"),
        ("/CHE FREEZE", "DFS165"),
        ("/NONSENSE", "DFS165"),
        ("/", "DFS165"),
    ] {
        let lines = house.control.command(command, Name::BLANK).lines.join("\n");
        assert!(lines.contains(expected), "{command}: {lines}");
    }
}

#[test]
fn what_waits_for_too_long_is_told_so() {
    let house = House::new(Options::default(), &["ECHO"]);
    let options = InputOptions { expires_in: Some(Duration::ZERO), ..InputOptions::default() };
    let (_, ear) = house.submit(Input { options, ..input("ECHO", &["LATE"]) });
    let (_, other) = house.submit(input("ECHO", &["IN TIME"]));
    seam::clock::Clock::sleep(&seam::clock::RealClock::new(), Duration::from_millis(1_001));
    house.run(|_, text| {
        assert_eq!(text, "IN TIME");
        Ok(())
    });
    let outcomes = ear.outcomes();
    let [Outcome::BackedOut(refusal)] = &outcomes[..] else { panic!("{outcomes:?}") };
    assert_eq!(refusal.reason, Reason::Expired);
    assert_eq!(other.outcomes(), [Outcome::Committed]);
    assert_eq!(house.control.dead_letters(name("ECHO"), 9).map(|all| all.len()).ok(), Some(1));
}

#[test]
fn a_client_that_goes_takes_its_waiting_input_of_mode_1_along() {
    let house = House::new(Options::default(), &["ECHO"]);
    let (ticket, ear) = house.submit(direct("ECHO", &["GONE"]));
    let (other, still) = house.submit(input("ECHO", &["GOES ON"]));
    house.control.abandon(ticket);
    house.control.abandon(other);
    house.run(|program, text| {
        assert_eq!(text, "GOES ON");
        reply(program, text);
        Ok(())
    });
    assert_eq!((ear.events().len(), still.events().len()), (1, 1));
    assert_eq!(house.drain("CLIENT1"), [["GOES ON"]]);
}

#[test]
fn a_program_stays_for_more_input_unless_others_need_the_region() {
    let house = House::new(Options::default(), &["ECHO", "OTHER"]);
    house.submit(input("ECHO", &["ONE"]));
    let region = house.control.region(&[1], "MPP1", true);
    let scheduled = region.next().expect("there is work");
    let mut seen = 0;
    let control = house.control.clone();
    house.run_scheduled(&region, scheduled, &[], |_, _| {
        seen += 1;
        let next = if seen < 3 { "ECHO" } else { "OTHER" };
        let ear = Arc::new(Ear::default());
        control.submit(input(next, &["MORE"]), ear).expect("it is taken in");
        Ok(())
    });
    assert_eq!(seen, 3);
    let next = region.next().expect("there is work");
    assert_eq!(next.transaction.name, name("OTHER"));
}

#[test]
fn nobody_without_a_name_is_let_in_once_there_are_users() {
    let with = |anonymous| House::new(Options { anonymous, ..Options::default() }, &[]);
    assert!(!with(Anonymous::Never).control.allows_anonymous());
    let house = with(Anonymous::WithoutUsers);
    assert!(house.control.allows_anonymous());
    let user = name("ANNA");
    house.control.put_user(user, b"secret").expect("the store works");
    assert!(!house.control.allows_anonymous());
    assert_eq!(house.control.remove_user(user).ok(), Some(true));
    assert!(!house.control.allows_anonymous(), "the last one that goes opens no door");
    let house = with(Anonymous::Always);
    house.control.put_user(user, b"secret").expect("the store works");
    assert!(house.control.allows_anonymous());
}

#[test]
fn users_are_checked_by_their_passwords() {
    let house = House::new(Options::default(), &[]);
    let (user, group) = (name("ANNA"), name("GROUP1"));
    house.control.put_user(user, b"secret").expect("the store works");
    let checked = house.control.authenticate(user, group, b"secret").expect("it fits");
    assert_eq!((checked.user, checked.group), (user, group));
    let wrong = house.control.authenticate(user, group, b"guess").expect_err("it is wrong");
    let unknown = house.control.authenticate(name("BOB"), group, b"guess").expect_err("unknown");
    assert_eq!(wrong, unknown);
    assert_eq!(house.control.remove_user(user).ok(), Some(true));
    assert!(house.control.authenticate(user, group, b"secret").is_err());
    assert!(house.control.data_store(name("IMS1")).is_ok());
    let other = house.control.data_store(name("IMS2")).expect_err("there is none");
    assert_eq!(other.reason, Reason::UnknownDataStore);
    assert_eq!(direct("X", &[]).mode, CommitMode::SendThenCommit);
}
