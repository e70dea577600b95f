//! Conversations: their turns, whose they are, and what ends them.

use std::sync::Arc;

use crate::common::*;
use holdfast_control::{AlternatePcb, Ending, OnFailure, Options};
use otma::{Answer, Input, Manager, Name, Outcome, Reason, SyncLevel};
use queues::QueueName;
use schedule::messages::{Messages, TerminalPcb};

fn spa_of(program: &mut Program) -> Vec<u8> {
    program.first_segment().map(|one| one.bytes.to_vec()).expect("a scratch pad area")
}

#[test]
fn a_conversation_keeps_its_scratch_pad_over_turns_and_crashes() {
    let mut house = House::new(Options::default(), &["TALK CONV Y SPASZ 30"]);
    for turn in 0..3 {
        let code = if turn == 0 { "TALK" } else { "IGNORED" };
        let (_, ear) = house.submit(direct(code, &[&format!("TURN {turn}")]));
        let busy = house.control.submit(direct("TALK", &["X"]), Arc::clone(&ear) as _);
        assert_eq!(busy.map_err(|refusal| refusal.reason), Err(Reason::Conversation));
        house.run(|program, _| {
            let mut spa = spa_of(program);
            assert_eq!((spa.len(), spa[14]), (30, turn));
            let text = program.next_segment().map(|one| one.bytes[4..].to_vec());
            assert_eq!(text, Ok(format!("TURN {turn}").into_bytes()));
            spa[14] += 1;
            if turn == 2 {
                spa[6..14].fill(b' ');
            }
            assert!(program.is_scratch_pad(&spa));
            assert_eq!(program.insert(TerminalPcb::Io, &spa, None), *b"  ");
            assert_eq!(program.insert(TerminalPcb::Io, &spa, None), *b"X5");
            reply(program, "GO ON");
            Ok(())
        });
        let outputs = ear.outputs();
        assert_eq!(texts(&outputs[0]), ["GO ON"]);
        assert_eq!(outputs[0].in_conversation, turn < 2);
        if turn == 0 {
            house = house.crash(Options::default());
        }
    }
    assert_eq!(house.control.statistics().conversations, 0);
    let exit = house.control.command("/EXIT", name("CLIENT1"));
    assert!(!exit.done);
}

#[test]
fn a_conversation_can_be_ended_from_its_terminal() {
    let house = House::new(Options::default(), &["TALK CONV Y SPASZ 30"]);
    house.submit(direct("TALK", &["ONE"]));
    house.run(|program, _| {
        reply(program, "GO ON");
        Ok(())
    });
    assert_eq!(house.control.statistics().conversations, 1);
    let (_, ear) = house.submit(direct("/EXIT", &["/EXIT"]));
    assert_eq!(ear.outcomes(), [Outcome::Answered]);
    assert!(texts(&ear.outputs()[0])[0].contains("EXIT COMMAND COMPLETED"));
    let house = house.crash(Options::default());
    assert_eq!(house.control.statistics().conversations, 0);
}

// Who said to be a terminal had its conversation, whoever had begun it.
#[test]
fn a_conversation_is_its_users_alone() {
    let mut house = House::new(Options::default(), &["TALK CONV Y SPASZ 30", "ECHO"]);
    house.control.put_user(name("ANNA"), b"SECRET").expect("durable");
    let from = |user: &str, client: &str, transaction: &str| Input {
        identity: otma::Identity { user: name(user), group: Name::BLANK },
        client: name(client),
        terminal: name("LTERM1"),
        ..direct(transaction, &[transaction])
    };
    let refused = |house: &House, input: Input| {
        let refused = house.control.submit(input, Arc::new(Ear::default()) as _);
        refused.map(drop).map_err(|refusal| refusal.reason)
    };
    house.submit(from("ANNA", "C1", "TALK"));
    for turn in 0..2 {
        for (user, client) in [("BERT", "C1"), ("BERT", "C2"), ("", "C1")] {
            for transaction in ["TALK", "ECHO", "/EXIT"] {
                let other = from(user, client, transaction);
                assert_eq!(refused(&house, other), Err(Reason::Conversation), "{turn} {user}");
            }
        }
        if turn == 0 {
            house.run(|program, _| {
                reply(program, "GO ON");
                Ok(())
            });
            house = house.crash(Options::default());
        }
    }
    assert_eq!(refused(&house, from("ANNA", "C2", "/EXIT")), Ok(()), "by another client");
    assert_eq!(house.control.statistics().conversations, 0);
    assert_eq!(refused(&house, from("BERT", "C1", "TALK")), Ok(()), "it is over");
}

#[test]
fn an_operator_ends_the_conversation_of_any_terminal() {
    let house = House::new(Options::default(), &["TALK CONV Y SPASZ 30"]);
    house.submit(direct("TALK", &["ONE"]));
    house.run(|program, _| {
        reply(program, "GO ON");
        Ok(())
    });
    let exit = |text: &str| house.control.command(text, Name::BLANK).done;
    assert!(!exit("/EXIT") && !exit("/EXIT CONVERSATION LTERM NOBODY"));
    assert!(!exit("/EXIT CONVERSATION LTERM A.NAME.THAT.IS.NONE"));
    assert!(exit("/EXIT CONVERSATION 0001 LTERM CLIENT1."));
    assert_eq!(house.control.statistics().conversations, 0);
}

// It was forgotten before that was durable, and was back after the next start.
#[test]
fn a_conversation_whose_end_cannot_be_written_goes_on() {
    let house = House::new(Options::default(), &["TALK CONV Y SPASZ 30"]);
    house.submit(direct("TALK", &["ONE"]));
    let turn = |house: &House| {
        house.run(|program, _| {
            reply(program, "GO ON");
            Ok(())
        })
    };
    turn(&house);
    house.store.fill_log(true);
    let (_, ear) = house.submit(direct("/EXIT", &["/EXIT"]));
    assert!(texts(&ear.outputs()[0])[0].contains("the log is full"), "{:?}", ear.outputs());
    assert!(!house.control.command("/EXIT", name("CLIENT1")).done);
    house.store.fill_log(false);
    assert_eq!(house.control.statistics().conversations, 1);
    house.submit(direct("TALK", &["TWO"]));
    assert_eq!(turn(&house), Ending::Normal);
    assert!(house.control.command("/EXIT", name("CLIENT1")).done);
}

// The other transaction's name was not that of the conversation, which stayed in its program's
// hands until a restart: every input and every /EXIT was refused.
#[test]
fn a_turn_that_was_handed_on_and_refused_can_be_taken_again() {
    let codes = ["TALK CONV Y SPASZ 30", "MORE CONV Y SPASZ 30"];
    let house = House::new(Options::default(), &codes);
    let one = Input { sync_level: SyncLevel::Confirm, ..direct("TALK", &["ONE"]) };
    let (_, ear) = house.submit(one);
    let region = house.region();
    let scheduled = region.next().expect("there is work");
    let pcb = AlternatePcb { number: 1, destination: name("MORE"), ..AlternatePcb::default() };
    let handed_on = house.run_scheduled(&region, scheduled, &[pcb], |program, _| {
        let mut spa = spa_of(program);
        spa[14] = 7;
        for segment in [&spa, &segment("MORE")] {
            assert_eq!(program.insert(TerminalPcb::Alternate(1), segment, None), *b"  ");
        }
        Ok(())
    });
    assert_eq!(handed_on, Ending::Normal);
    let busy = house.control.submit(direct("TALK", &["TWO"]), Arc::clone(&ear) as _);
    assert_eq!(busy.map(drop).map_err(|refusal| refusal.reason), Err(Reason::Conversation));
    let (control, listener) = (house.control.clone(), Arc::clone(&ear));
    let client = seam::thread::spawn("client", move || {
        let (ticket, _) = listener.wait_for_output();
        control.answer(ticket, Answer::Nak { reason: 8, retain: false });
    });
    let refused = house.run(|program, _| {
        assert_eq!(spa_of(program)[14], 7);
        let text = program.next_segment().map(|one| one.bytes[4..].to_vec());
        assert_eq!(text, Ok(b"MORE".to_vec()));
        reply(program, "GO ON");
        Ok(())
    });
    client.expect("a thread").join();
    assert!(matches!(&refused, Ending::Abend { code, .. } if code == "U0119"), "{refused:?}");
    assert_eq!(house.control.statistics().conversations, 1);
    house.submit(direct("IGNORED", &["TWO"]));
    let again = house.run(|program, _| {
        assert_eq!(spa_of(program)[6..10], *b"TALK");
        reply(program, "GO ON");
        Ok(())
    });
    assert_eq!(again, Ending::Normal);
    assert!(house.control.command("/EXIT", name("CLIENT1")).done);
}

/// A conversation with one turn behind it, and the next one's input, of mode 0.
fn second_turn(options: Options) -> House {
    let house = House::new(options, &["TALK CONV Y SPASZ 30"]);
    house.submit(input("TALK", &["ONE"]));
    house.run(|program, _| {
        let mut spa = spa_of(program);
        spa[14] = 7;
        assert_eq!(program.insert(TerminalPcb::Io, &spa, None), *b"  ");
        reply(program, "GO ON");
        Ok(())
    });
    house.submit(input("TALK", &["TWO"]));
    house
}

/// Whether the input of the second turn is taken in for one, and finds what the first has kept.
fn goes_on(house: &House) {
    let more = house.control.submit(input("TALK", &["THREE"]), Arc::new(Ear::default()) as _);
    let reason = more.map(drop).map_err(|refusal| refusal.reason);
    assert_eq!(reason, Err(Reason::Conversation), "its input waits");
    let ending = house.run(|program, _| {
        assert_eq!(spa_of(program)[14], 7);
        reply(program, "GO ON");
        Ok(())
    });
    assert_eq!(ending, Ending::Normal);
}

// It was dropped in a commit of its own: its input was then processed as a first turn.
#[test]
fn a_conversation_ends_in_one_commit_with_the_input_that_failed_in_it() {
    for room in 0..8 {
        let house = second_turn(Options::default());
        let dead = |house: &House| house.control.queue(QueueName::dead_letter(name("TALK")));
        house.run(|_, _| {
            house.store.fill_log_after(room);
            Err(abend("U0001"))
        });
        house.store.fill_log(false);
        let is_over = dead(&house).waiting == 1;
        assert_eq!(house.control.statistics().conversations, u64::from(!is_over), "{room}");
        if !is_over {
            goes_on(&house);
            continue;
        }
        let house = house.crash(Options::default());
        assert_eq!((dead(&house).waiting, house.control.statistics().conversations), (1, 0));
        assert_eq!(house.control.queue(QueueName::input(name("TALK"))).waiting, 0);
    }
}

#[test]
fn a_turn_that_waits_again_waits_in_its_conversation() {
    let options = Options { on_failure: OnFailure::Requeue, ..Options::default() };
    let house = second_turn(options);
    house.run(|_, _| Err(abend("U0001")));
    goes_on(&house);
}

// Whose program fails has no conversation any more; where that cannot be written, it has it still.
#[test]
fn a_turn_in_memory_that_fails_ends_its_conversation_if_that_can_be_written() {
    for is_full in [false, true] {
        let house = House::new(Options::default(), &["TALK CONV Y SPASZ 30"]);
        let turn = |text: &str, ends: bool| {
            let (_, ear) = house.submit(direct("TALK", &[text]));
            house.run(|program, _| {
                reply(program, "GO ON");
                house.store.fill_log(is_full && ends);
                if ends { Err(abend("U0001")) } else { Ok(()) }
            });
            house.store.fill_log(false);
            ear.outcomes().len()
        };
        assert_eq!((turn("ONE", false), turn("TWO", true)), (1, 1));
        assert_eq!(house.control.statistics().conversations, u64::from(is_full));
        assert_eq!(house.control.take_notices().iter().any(|one| one.contains("goes on")), is_full);
        assert_eq!(turn("THREE", false), 1);
        let house = house.crash(Options::default());
        assert_eq!(house.control.statistics().conversations, 1);
    }
}

// A blank user was its owner: once there were users, nobody could go on with it.
#[test]
fn a_conversation_from_before_there_were_users_is_whose_who_goes_on_with_it() {
    let mut house = House::new(Options::default(), &["TALK CONV Y SPASZ 30"]);
    let from = |user: &str| {
        let user = Name::new(user).unwrap_or_default();
        let identity = otma::Identity { user, group: Name::BLANK };
        Input { identity, ..direct("TALK", &["TALK"]) }
    };
    let turn = |house: &House, user: &str| {
        house.submit(from(user));
        house.run(|program, _| {
            reply(program, "GO ON");
            Ok(())
        });
    };
    turn(&house, "");
    house.control.put_user(name("ANNA"), b"SECRET").expect("durable");
    for _ in 0..2 {
        turn(&house, "ANNA");
        for other in ["BERT", ""] {
            let refused = house.control.submit(from(other), Arc::new(Ear::default()) as _);
            let refused = refused.map(drop).map_err(|refusal| refusal.reason);
            assert_eq!(refused, Err(Reason::Conversation), "{other}");
        }
        house = house.crash(Options::default());
    }
}
