//! Branches of global transactions: what they put and got, and what becomes of it.

use queue_manager::branch::{
    BranchAnswer, BranchCall, BranchError, BranchId, BranchState, LISTED_MAX, WorkEnd,
};
use queue_manager::options::ConnectOptions;
use queue_manager::options::value::{get, put};
use queue_manager::{MessageDescriptor, Outcome, Reason, Users};

use crate::common::{ALL, Calls, Client, System, persistent, reason};

fn branch(number: u8) -> BranchId {
    BranchId::new(1, &[number; 20], &[number]).expect("an identifier")
}

/// What a transaction manager does, in a few words.
trait Manages {
    fn asked(&mut self, call: BranchCall) -> Result<BranchAnswer, BranchError>;
    fn done(&mut self, call: BranchCall) {
        assert_eq!(self.asked(call.clone()), Ok(BranchAnswer::Done), "{call:?}");
    }
    fn start(&mut self, number: u8) {
        self.done(BranchCall::Start(branch(number)));
    }
    fn end(&mut self, number: u8) {
        self.done(BranchCall::End(branch(number), WorkEnd::Done));
    }
    fn prepare(&mut self, number: u8) {
        self.done(BranchCall::Prepare(branch(number)));
    }
    fn decide(&mut self, number: u8) {
        self.done(BranchCall::Commit { branch: branch(number), one_phase: false });
    }
    fn back_out(&mut self, number: u8) {
        self.done(BranchCall::BackOut(branch(number)));
    }
    fn in_doubt(&mut self) -> Vec<BranchId> {
        match self.asked(BranchCall::Recover) {
            Ok(BranchAnswer::Listed(listed)) => listed,
            other => panic!("no list, but {other:?}"),
        }
    }
}

impl Manages for Client {
    fn asked(&mut self, call: BranchCall) -> Result<BranchAnswer, BranchError> {
        self.branch(&call)
    }
}

/// A queue `IN` with two messages, and `OUT`.
fn system() -> System {
    let system = System::new();
    system.queue("IN", &[("HARDENBO", "HARDENBO")]);
    system.queue("OUT", &[]);
    let mut client = system.connect();
    let queue = client.open_queue("IN", ALL).expect("it opens");
    client.put_text(queue, "first");
    client.put_text(queue, "second");
    system
}

/// A branch that gets the first message and puts one, ended.
fn work(client: &mut Client, number: u8) {
    client.start(number);
    let from = client.open_queue("IN", ALL).expect("it opens");
    let to = client.open_queue("OUT", ALL).expect("it opens");
    assert_eq!(client.get_text(from, get::SYNCPOINT), Ok("first".into()));
    client.put_in_unit(to, "made of first");
    client.end(number);
}

/// All messages of a queue.
fn all(system: &System, queue: &str) -> Vec<String> {
    let mut client = system.connect();
    let queue = client.open_queue(queue, ALL).expect("it opens");
    let mut found = Vec::new();
    while let Ok(text) = client.next(queue) {
        found.push(text);
    }
    found
}

#[test]
fn a_prepared_branch_is_hidden_until_somebody_decides() {
    let system = system();
    let mut client = system.connect();
    work(&mut client, 1);
    client.prepare(1);
    drop(client);
    let mut other = system.connect();
    let (from, to) = (other.open_queue("IN", ALL), other.open_queue("OUT", ALL));
    let (from, to) = (from.expect("it opens"), to.expect("it opens"));
    assert_eq!(other.next(to), Err(Reason::NO_MSG_AVAILABLE));
    assert_eq!(other.next(from), Ok("second".into()), "the first one is held");
    assert_eq!(other.next(from), Err(Reason::NO_MSG_AVAILABLE));
    assert_eq!(other.in_doubt(), [branch(1)]);
    other.decide(1);
    assert_eq!(other.next(to), Ok("made of first".into()));
    assert_eq!(other.next(from), Err(Reason::NO_MSG_AVAILABLE));
    assert!(other.in_doubt().is_empty());
    drop(other);
    let again = system.restarted();
    assert!(all(&again, "IN").is_empty() && all(&again, "OUT").is_empty());
}

#[test]
fn a_prepared_branch_that_is_backed_out_gives_back_what_it_got() {
    let system = system();
    let mut client = system.connect();
    work(&mut client, 1);
    client.prepare(1);
    client.back_out(1);
    assert_eq!(all(&system, "IN"), ["first", "second"]);
    assert!(all(&system, "OUT").is_empty());
    let again = system.restarted();
    assert!(all(&again, "IN").is_empty() && all(&again, "OUT").is_empty());
}

#[test]
fn a_prepared_branch_outlives_a_restart() {
    for commits in [true, false] {
        let system = system();
        let mut client = system.connect();
        work(&mut client, 1);
        client.prepare(1);
        drop(client);
        let again = system.restarted();
        let mut client = again.connect();
        let to = client.open_queue("OUT", ALL).expect("it opens");
        assert_eq!(client.next(to), Err(Reason::NO_MSG_AVAILABLE));
        assert_eq!(client.in_doubt(), [branch(1)]);
        let known = again.manager.branches();
        assert_eq!((known[0].state, known[0].messages), (BranchState::Prepared, 2));
        if commits {
            client.decide(1);
            assert_eq!(all(&again, "OUT"), ["made of first"]);
            assert_eq!(all(&again, "IN"), ["second"]);
        } else {
            client.back_out(1);
            let from = client.open_queue("IN", ALL).expect("it opens");
            let mut md = MessageDescriptor::default();
            let mut options = queue_manager::options::GetOptions::new(get::NO_SYNCPOINT);
            let (_, data) = client.get_with(from, &mut md, &mut options).expect("it is back");
            assert_eq!((&*data, md.backout_count), (&b"first"[..], 1));
            assert_eq!(all(&again, "IN"), ["second"]);
            assert!(all(&again, "OUT").is_empty());
        }
        let last = again.restarted();
        assert!(last.manager.branches().is_empty());
        assert!(all(&last, "IN").is_empty() && all(&last, "OUT").is_empty());
    }
}

#[test]
fn a_branch_that_is_not_prepared_ends_with_its_connection() {
    let system = system();
    let mut client = system.connect();
    work(&mut client, 1);
    drop(client);
    let mut client = system.connect();
    client.start(2);
    let to = client.open_queue("OUT", ALL).expect("it opens");
    client.put_in_unit(to, "in the middle");
    assert_eq!(client.disconnect(), Ok(Outcome::OK));
    assert!(system.manager.branches().is_empty());
    assert_eq!(all(&system, "IN"), ["first", "second"]);
    assert!(all(&system, "OUT").is_empty());
    let mut client = system.connect();
    let asked = client.asked(BranchCall::Prepare(branch(1)));
    assert_eq!(asked, Err(BranchError::Unknown));
}

#[test]
fn one_phase_does_without_being_prepared() {
    let system = system();
    let mut client = system.connect();
    work(&mut client, 1);
    client.done(BranchCall::Commit { branch: branch(1), one_phase: true });
    assert_eq!(all(&system, "IN"), ["second"]);
    assert_eq!(all(&system, "OUT"), ["made of first"]);
    client.start(2);
    client.end(2);
    let nothing = client.asked(BranchCall::Prepare(branch(2)));
    assert_eq!(nothing, Ok(BranchAnswer::ReadOnly));
    let over = client.asked(BranchCall::Commit { branch: branch(2), one_phase: false });
    assert_eq!(over, Err(BranchError::Unknown));
}

#[test]
fn a_branch_gets_what_it_has_put_and_keeps_what_is_not_persistent() {
    let system = system();
    let mut client = system.connect();
    let to = client.open_queue("OUT", ALL).expect("it opens");
    client.start(1);
    client.put_in_unit(to, "put and got");
    assert_eq!(client.get_text(to, get::SYNCPOINT), Ok("put and got".into()));
    let passing = MessageDescriptor { persistence: 0, ..persistent() };
    client.put_with(to, passing, put::SYNCPOINT, b"passing").expect("it is put");
    client.put_in_unit(to, "kept");
    client.end(1);
    client.prepare(1);
    client.decide(1);
    assert_eq!(all(&system, "OUT"), ["passing", "kept"]);
    // Over a restart, what is not persistent is gone, and the rest is not.
    client.start(2);
    client.put_in_unit(to, "put and got");
    assert_eq!(client.get_text(to, get::SYNCPOINT), Ok("put and got".into()));
    let passing = MessageDescriptor { persistence: 0, ..persistent() };
    client.put_with(to, passing, put::SYNCPOINT, b"passing").expect("it is put");
    client.put_in_unit(to, "kept");
    client.end(2);
    client.prepare(2);
    let again = system.restarted();
    again.connect().decide(2);
    assert_eq!(all(&again, "OUT"), ["kept"]);
}

#[test]
fn nobody_but_the_transaction_manager_ends_a_branch() {
    let system = system();
    let mut client = system.connect();
    client.start(1);
    assert_eq!(reason(client.commit()), Reason::ENVIRONMENT_ERROR);
    assert_eq!(reason(client.back()), Reason::ENVIRONMENT_ERROR);
    assert_eq!(reason(client.begin()), Reason::ENVIRONMENT_ERROR);
    let mut other = system.connect();
    let refused = |client: &mut Client, call, why| assert_eq!(client.asked(call), Err(why));
    refused(&mut other, BranchCall::Start(branch(1)), BranchError::Exists);
    refused(&mut other, BranchCall::Join(branch(1)), BranchError::Protocol);
    refused(&mut other, BranchCall::Prepare(branch(1)), BranchError::Protocol);
    refused(&mut other, BranchCall::End(branch(1), WorkEnd::Done), BranchError::Protocol);
    refused(&mut other, BranchCall::BackOut(branch(9)), BranchError::Unknown);
    refused(&mut other, BranchCall::Forget(branch(1)), BranchError::Protocol);
    refused(&mut client, BranchCall::Start(branch(2)), BranchError::Protocol);
    client.end(1);
    let two_phase = BranchCall::Commit { branch: branch(1), one_phase: false };
    refused(&mut other, two_phase, BranchError::Protocol);
    let to = other.open_queue("OUT", ALL).expect("it opens");
    other.put_in_unit(to, "of its own");
    refused(&mut other, BranchCall::Start(branch(2)), BranchError::Outside);
    assert_eq!(other.commit(), Ok(Outcome::OK));
    // It goes on elsewhere.
    other.done(BranchCall::Join(branch(1)));
    other.put_in_unit(to, "joined");
    other.done(BranchCall::End(branch(1), WorkEnd::Suspended));
    refused(&mut other, BranchCall::Prepare(branch(1)), BranchError::Protocol);
    other.put_text(to, "meanwhile");
    other.done(BranchCall::Resume(branch(1)));
    other.put_in_unit(to, "resumed");
    other.end(1);
    other.prepare(1);
    other.decide(1);
    assert_eq!(all(&system, "OUT"), ["of its own", "joined", "meanwhile", "resumed"]);
}

#[test]
fn a_branch_whose_work_failed_can_only_be_backed_out() {
    let system = system();
    let mut client = system.connect();
    for prepares in [true, false] {
        client.start(1);
        let to = client.open_queue("OUT", ALL).expect("it opens");
        client.put_in_unit(to, "in vain");
        client.done(BranchCall::End(branch(1), WorkEnd::Failed));
        let asked = match prepares {
            true => BranchCall::Prepare(branch(1)),
            false => BranchCall::Commit { branch: branch(1), one_phase: true },
        };
        assert_eq!(client.asked(asked), Err(BranchError::BackedOut));
        assert!(system.manager.branches().is_empty());
    }
    assert!(all(&system, "OUT").is_empty());
}

#[test]
fn an_operator_decides_and_the_transaction_manager_hears_of_it() {
    let system = system();
    let mut client = system.connect();
    work(&mut client, 1);
    let early = system.manager.decide_branch(&branch(1), true);
    assert_eq!(early, Err(BranchError::Protocol), "it is not prepared");
    client.prepare(1);
    assert_eq!(system.manager.decide_branch(&branch(1), true), Ok(()));
    assert_eq!(all(&system, "OUT"), ["made of first"]);
    let again = system.restarted();
    let mut client = again.connect();
    assert_eq!(client.in_doubt(), [branch(1)], "it is not forgotten");
    let commit = BranchCall::Commit { branch: branch(1), one_phase: false };
    assert_eq!(client.asked(commit), Err(BranchError::DecidedCommit));
    client.done(BranchCall::Forget(branch(1)));
    assert!(client.in_doubt().is_empty());
    assert!(again.restarted().manager.branches().is_empty());
}

/// Users of whom one administers.
struct OneAdministrator;

impl Users for OneAdministrator {
    fn is_administrator(&self, user: &str) -> bool {
        user == "root"
    }
    fn groups(&self, _: &str) -> Vec<String> {
        Vec::new()
    }
}

#[test]
fn a_prepared_branch_is_its_users_and_administrators_affair() {
    let options = queue_manager::Options {
        users: Some(std::sync::Arc::new(OneAdministrator)),
        ..queue_manager::Options::new("QM1")
    };
    let store = store_suite::model::ModelStore::new();
    let manager = queue_manager::QueueManager::open(&store, options).expect("it opens");
    let kind = queue_manager::objects::Kind::QueueLocal;
    manager.define(kind, "OUT", &[], false, None).expect("it is defined");
    let connect = |user: &str| {
        let who = ConnectOptions { user: user.into(), ..ConnectOptions::default() };
        manager.connect(who).expect("it connects")
    };
    let mut anna = connect("anna");
    anna.start(1);
    let to = anna.open_queue("OUT", ALL).expect("it opens");
    anna.put_in_unit(to, "hers");
    anna.end(1);
    anna.prepare(1);
    let mut otto = connect("otto");
    assert!(otto.in_doubt().is_empty());
    assert_eq!(otto.asked(BranchCall::BackOut(branch(1))), Err(BranchError::Unknown));
    assert_eq!(connect("anna").in_doubt(), [branch(1)]);
    connect("root").decide(1);
}

// One answer had all of them, and was too long to be sent: no manager learned of any.
#[test]
fn branches_in_doubt_are_told_list_by_list() {
    let system = system();
    let mut client = system.connect();
    system.queue("MANY", &[("MAXDEPTH", "999999")]);
    let to = client.open_queue("MANY", ALL).expect("it opens");
    let count = LISTED_MAX + 1;
    let number = |at: usize| BranchId::new(1, &at.to_be_bytes(), &[]).expect("one");
    for at in 0..count {
        client.done(BranchCall::Start(number(at)));
        let md = MessageDescriptor { persistence: 0, ..MessageDescriptor::default() };
        client.put_with(to, md, put::SYNCPOINT, b"").expect("it is put");
        client.done(BranchCall::End(number(at), WorkEnd::Done));
        client.done(BranchCall::Prepare(number(at)));
    }
    let first = client.in_doubt();
    assert_eq!((first.len(), first.last()), (LISTED_MAX, Some(&number(LISTED_MAX - 1))));
    let more = |after: usize| BranchCall::RecoverAfter(number(after));
    let rest = client.asked(more(LISTED_MAX - 1));
    assert_eq!(rest, Ok(BranchAnswer::Listed(vec![number(LISTED_MAX)])));
    assert_eq!(client.asked(more(LISTED_MAX)), Ok(BranchAnswer::Listed(Vec::new())));
}
