//! Whose the outputs on a tpipe are, and who is told of them.

use std::sync::Arc;

use crate::common::*;
use holdfast_control::{AlternatePcb, Options, Profile};
use otma::{Identity, Input, Manager, Name, Output, Partner, Reason, Settlement};
use schedule::messages::{Messages, TerminalPcb};

fn options() -> Options {
    Options { any_terminal: true, ..Options::default() }
}

fn of(user: &str) -> Identity {
    Identity { user: name(user), group: Name::BLANK }
}

/// A system with users, whose outputs of `ECHO` go to the terminal that the input names, too.
fn house() -> House {
    let house = House::new(options(), &["ECHO"]);
    house.control.put_user(name("ANNA"), b"SECRET").expect("durable");
    house
}

fn from(user: &str, client: &str, text: &str) -> Input {
    Input { identity: of(user), client: name(client), ..input("ECHO", &[text]) }
}

/// Processes one input, which is answered, and has another tpipe told, if one is named.
fn process(house: &House, other: &str) {
    let region = house.region();
    let scheduled = region.next().expect("there is work");
    let pcb = AlternatePcb { number: 1, modifiable: true, ..AlternatePcb::default() };
    house.run_scheduled(&region, scheduled, &[pcb], |program, text| {
        reply(program, text);
        if !other.is_empty() {
            assert_eq!(program.change(1, name(other).0), *b"  ");
            let events = program.insert(TerminalPcb::Alternate(1), &segment("TOLD"), None);
            assert_eq!(events, *b"  ");
        }
        Ok(())
    });
}

/// What a user gets from a tpipe, which stays there.
fn fetched(house: &House, tpipe: &str, user: &str) -> Result<Option<String>, Reason> {
    let output = house.control.fetch(name(tpipe), of(user)).map_err(|refusal| refusal.reason)?;
    Ok(output.map(|output: Output| {
        let done = Box::new(|done: Result<(), otma::Refusal>| done.expect("nothing to do"));
        let kept = house.control.settle(name(tpipe), output.id, Settlement::Kept, done);
        kept.expect("it was taken");
        texts(&output).concat()
    }))
}

fn permit(house: &House, tpipe: &str, users: &[&str]) {
    let permitted = users.iter().map(|one| name(one)).collect();
    let profile = Profile { class: name("TPIPE"), resource: name(tpipe), permitted };
    house.control.protect(&profile).expect("durable");
}

fn watch(house: &House, tpipe: &str, user: &str) -> (Arc<Ear>, Arc<dyn Partner>) {
    let ear = Arc::new(Ear::default());
    let partner: Arc<dyn Partner> = Arc::clone(&ear) as _;
    house.control.watch(name(tpipe), name(user), &partner);
    (ear, partner)
}

// Whoever was let in had any tpipe's outputs.
#[test]
fn an_answer_is_fetched_by_who_has_asked_unless_a_profile_permits_it_to_others() {
    let house = house();
    house.submit(from("ANNA", "C1", "ECHO 1"));
    process(&house, "");
    let house = house.crash(options());
    let events = || Ok(Some("ECHO 1".to_owned()));
    assert_eq!(fetched(&house, "C1", "BERT"), Err(Reason::NotAuthorized));
    assert_eq!(fetched(&house, "C1", "ANNA"), events());
    permit(&house, "C1", &["BERT"]);
    assert_eq!(fetched(&house, "C1", "ANNA"), Err(Reason::NotAuthorized));
    assert_eq!(fetched(&house, "C1", "BERT"), events());
    permit(&house, "C*", &["CARL"]);
    assert_eq!(fetched(&house, "C1", "CARL"), Err(Reason::NotAuthorized), "the longest counts");
    assert_eq!(house.control.unprotect(name("TPIPE"), name("C1")).ok(), Some(true));
    assert_eq!(fetched(&house, "C1", "CARL"), events());
}

#[test]
fn what_a_program_sends_elsewhere_is_who_has_that_tpipes() {
    let house = house();
    let (_, partner) = watch(&house, "PRINTER", "PAULA");
    assert_eq!(fetched(&house, "PRINTER", "ANNA"), Err(Reason::NotAuthorized));
    house.submit(from("ANNA", "C1", "ECHO 1"));
    process(&house, "PRINTER");
    house.submit(from("ANNA", "C1", "ECHO 2"));
    process(&house, "NOBODYS");
    for user in ["ANNA", "BERT"] {
        assert_eq!(fetched(&house, "PRINTER", user), Err(Reason::NotAuthorized));
        assert_eq!(fetched(&house, "NOBODYS", user), Ok(Some("TOLD".to_owned())));
    }
    assert_eq!(fetched(&house, "PRINTER", "PAULA"), Ok(Some("TOLD".to_owned())));
    // It is hers as long as something waits there, if she does not, and over a restart.
    house.control.unwatch(name("PRINTER"), &partner);
    assert_eq!(fetched(&house, "PRINTER", "BERT"), Err(Reason::NotAuthorized));
    let house = house.crash(options());
    assert_eq!(fetched(&house, "PRINTER", "BERT"), Err(Reason::NotAuthorized));
    assert_eq!(house.drain("PRINTER"), [["TOLD"]]);
    assert_eq!(fetched(&house, "PRINTER", "BERT"), Ok(None));
}

#[test]
fn anothers_tpipe_is_no_terminal_without_a_profile() {
    let house = house();
    let (_, partner) = watch(&house, "C1", "ANNA");
    let as_terminal = |user: &str| {
        let terminal = name("C1");
        let one = Input { terminal, ..from(user, "C2", "ECHO 1") };
        let taken = house.control.submit(one, Arc::new(Ear::default()) as _);
        taken.map(drop).map_err(|refusal| refusal.text)
    };
    let refused = || Err("DFS1292E SECURITY VIOLATION, TPIPE=C1".to_owned());
    assert_eq!((as_terminal("ANNA"), as_terminal("BERT")), (Ok(()), refused()));
    permit(&house, "C1", &["ANNA", "BERT"]);
    assert_eq!(as_terminal("BERT"), Ok(()));
    assert_eq!(house.control.unprotect(name("TPIPE"), name("C1")).ok(), Some(true));
    assert_eq!(as_terminal("BERT"), refused());
    house.control.unwatch(name("C1"), &partner);
    assert_eq!(as_terminal("BERT"), Ok(()), "nobody has it any more");
}

#[test]
fn without_users_everybody_fetches_everything() {
    let house = House::new(options(), &["ECHO"]);
    let (_, _partner) = watch(&house, "C1", "ANNA");
    house.submit(from("ANNA", "C1", "ECHO 1"));
    process(&house, "");
    assert_eq!(fetched(&house, "C1", "BERT"), Ok(Some("ECHO 1".to_owned())));
    assert_eq!(fetched(&house, "C1", ""), Ok(Some("ECHO 1".to_owned())));
}

// Who came later took the place of who had waited, and that one heard nothing.
#[test]
fn all_who_wait_at_a_tpipe_are_told_until_they_wait_no_more() {
    let house = House::new(options(), &["ECHO"]);
    let [one, two, three] = ["ANNA", "BERT", "CARL"].map(|user| watch(&house, "C1", user));
    house.control.unwatch(name("C1"), &two.1);
    let ear = Arc::clone(&three.0);
    drop(three);
    house.submit(from("ANNA", "C1", "ECHO 1"));
    process(&house, "");
    assert_eq!((one.0.tpipes(), two.0.tpipes()), (vec![name("C1")], vec![]));
    assert_eq!(ear.tpipes(), [name("C1")], "it is there as long as somebody has it");
}

// Who came while another one had the only output heard nothing when that one gave it back.
#[test]
fn who_has_found_nothing_is_told_of_an_output_that_comes_back() {
    let house = House::new(options(), &["ECHO"]);
    house.submit(from("ANNA", "C1", "ECHO 1"));
    process(&house, "");
    let output = house.control.take(name("C1")).expect("the store works").expect("it is there");
    assert!(house.control.take(name("C1")).expect("the store works").is_none());
    let (ear, _partner) = watch(&house, "C1", "BERT");
    assert_eq!(ear.tpipes(), []);
    let done = Box::new(|done: Result<(), otma::Refusal>| done.expect("nothing to do"));
    let kept = house.control.settle(name("C1"), output.id, Settlement::Kept, done);
    kept.expect("it was taken");
    assert_eq!(ear.tpipes(), [name("C1")]);
}

// The first output of a tpipe kept all behind it from their users.
#[test]
fn two_users_outputs_on_one_tpipe_are_fetched_by_each_in_any_order() {
    let house = house();
    house.submit(from("ANNA", "C1", "ECHO 1"));
    process(&house, "");
    house.submit(from("BERT", "C1", "ECHO 2"));
    process(&house, "");
    let house = house.crash(options());
    assert_eq!(fetched(&house, "C1", "BERT"), Ok(Some("ECHO 2".to_owned())));
    assert_eq!(fetched(&house, "C1", "ANNA"), Ok(Some("ECHO 1".to_owned())));
    assert_eq!(fetched(&house, "C1", "CARL"), Err(Reason::NotAuthorized));
    // Who waits there is not sent away because of others' outputs.
    let (_, _partner) = watch(&house, "C1", "CARL");
    assert_eq!(fetched(&house, "C1", "CARL"), Ok(None));
    assert_eq!(fetched(&house, "C1", "ANNA"), Ok(Some("ECHO 1".to_owned())), "it is hers still");
}

// Behind a thousand of others' outputs nobody found his own; and all of them were read at once to
// look for it.
#[test]
fn who_has_outputs_behind_many_of_another_users_gets_them() {
    let house = house();
    for _ in 0..1_001 {
        house.submit(from("BERT", "C1", "ECHO 1"));
    }
    house.submit(from("ANNA", "C1", "ECHO 2"));
    process(&house, "");
    assert_eq!(house.control.queued(name("C1")), 1_002);
    assert_eq!(fetched(&house, "C1", "ANNA"), Ok(Some("ECHO 2".to_owned())));
    let house = house.crash(options());
    assert_eq!(fetched(&house, "C1", "ANNA"), Ok(Some("ECHO 2".to_owned())));
    assert_eq!(fetched(&house, "C1", "CARL"), Err(Reason::NotAuthorized));
}

// A tpipe stayed his who had waited there once, as long as another's outputs lay there.
#[test]
fn who_waits_at_a_tpipe_no_more_keeps_nobody_from_it() {
    let house = house();
    house.submit(from("ANNA", "C1", "ECHO 1"));
    process(&house, "");
    let house = house.crash(options());
    let (_, partner) = watch(&house, "C1", "BERT");
    house.control.unwatch(name("C1"), &partner);
    assert_eq!(fetched(&house, "C1", "ANNA"), Ok(Some("ECHO 1".to_owned())));
    assert_eq!(fetched(&house, "C1", "BERT"), Err(Reason::NotAuthorized));
    drop(watch(&house, "C1", "BERT"));
    assert_eq!(fetched(&house, "C1", "ANNA"), Ok(Some("ECHO 1".to_owned())), "he is gone");
}
