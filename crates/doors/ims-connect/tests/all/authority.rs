//! Who may issue commands over the wire, asked of the transaction manager itself.

use std::sync::Arc;

use control::{Anonymous, Control, NoSystem, Options as Behaviour, Profile};
use holdfast_ims_connect::Server;
use holdfast_ims_connect::wire::{Function, Request, f5};
use otma::{Identity, Manager as _, Name};
use seam::Seam;
use store_suite::model::ModelStore;

use crate::client::{Client, bare, name, options, request, status, text};

type Manages = Control<ModelStore>;

fn start(anonymous: Anonymous) -> (Server, Manages) {
    let behaviour =
        Behaviour { data_stores: vec![name("HFST")], anonymous, ..Behaviour::default() };
    let system = Arc::new(NoSystem);
    let manager = Control::open(&ModelStore::new(), &Seam::real(), system, behaviour);
    let manager = manager.expect("an empty store");
    let server = Server::start(options(), Arc::new(manager.clone())).expect("it starts");
    (server, manager)
}

fn permit(manager: &Manages, class: &str, resource: &str, who: &[&str]) {
    let permitted = who.iter().map(|one| name(one)).collect();
    let profile = Profile { class: name(class), resource: name(resource), permitted };
    manager.protect(&profile).expect("durable");
}

/// A command of a user, who says to be in the group of operators.
fn command_of(user: &str, command: &str) -> Request {
    let mut request = request(&format!("C{user}"), command.as_bytes());
    request.irm.user = name(user);
    request.irm.group = name("OPS");
    request.irm.password = name("SECRET");
    request
}

fn identity(user: &str) -> Identity {
    Identity { user: name(user), group: Name::BLANK }
}

/// A user's connection.
struct Session(Client, String);

impl Session {
    fn of(server: &Server, user: &str) -> Session {
        Session(Client::connect(server.address()), user.to_owned())
    }

    fn ask(&mut self, command: &str) -> String {
        let Session(client, user) = self;
        text(&client.ask(&command_of(user, command)))
    }
}

#[test]
fn a_user_issues_those_commands_alone_that_a_profile_permits() {
    let (server, manager) = start(Anonymous::WithoutUsers);
    let users = ["ANNA", "BERT", "CARL"];
    users.iter().for_each(|user| manager.put_user(name(user), b"SECRET").expect("durable"));
    let [mut anna, mut bert, mut carl] = users.map(|user| Session::of(&server, user));
    let refused = |verb: &str| format!("DFS1292E SECURITY VIOLATION, COMMAND={verb}");
    assert_eq!(anna.ask("/DIS Q"), refused("DIS"));
    assert_eq!(bert.ask("/DIS Q"), refused("DIS"));
    permit(&manager, "CMD", "DISPLAY", &["ANNA", "OPS"]);
    permit(&manager, "CMD", "*", &["OPS"]);
    permit(&manager, "GROUP", "OPS", &["BERT"]);
    assert!(anna.ask("/DIS Q").contains("QUEUE"));
    assert_eq!(anna.ask("/STOP TRAN ALL"), refused("STO"));
    assert!(bert.ask("/DISPLAY Q").contains("QUEUE"));
    assert!(bert.ask("/STOP TRAN NONE").starts_with("DFS121"));
    // That he says to be an operator makes him none.
    for (command, verb) in [("/CHE FREEZE", "CHE"), ("/DIS Q", "DIS"), ("/", ""), ("/Q", "Q")] {
        assert_eq!(carl.ask(command), refused(verb), "{command}");
    }
    assert!(carl.ask("/EXIT").starts_with("DFS577"));
    assert!(manager.unprotect(name("GROUP"), name("OPS")).expect("durable"));
    assert_eq!(bert.ask("/DIS Q"), refused("DIS"));
}

#[test]
fn a_resume_gives_nothing_that_is_another_users() {
    let (server, manager) = start(Anonymous::WithoutUsers);
    ["ANNA", "BERT"].iter().for_each(|user| {
        manager.put_user(name(user), b"SECRET").expect("durable");
    });
    permit(&manager, "TPIPE", "ACCOUNTS", &["ANNA"]);
    let resume = |user: &str, timer: u8| {
        let mut resume = bare(&format!("C{user}{timer}"), Function::ResumeTpipe);
        (resume.irm.user, resume.irm.password) = (name(user), name("SECRET"));
        (resume.irm.reroute, resume.irm.f5) = (name("ACCOUNTS"), f5::SINGLE_WAIT);
        resume.irm.timer = timer;
        resume
    };
    let mut anna = Client::connect(server.address());
    assert_eq!(status(&anna.ask(&resume("ANNA", 0x02))), (0x28, 0x02), "nothing waits");
    let mut bert = Client::connect(server.address());
    assert_eq!(status(&bert.ask(&resume("BERT", 0x02))), (0x10, 0x1a));
    assert!(bert.ended());
    // Without a profile it is hers as well, who has waited there and is still connected.
    assert!(manager.unprotect(name("TPIPE"), name("ACCOUNTS")).expect("durable"));
    let mut bert = Client::connect(server.address());
    assert_eq!(status(&bert.ask(&resume("BERT", 0x03))), (0x10, 0x1a));
}

// The tpipe stayed the first one's: the other was sent away from his own client id.
#[test]
fn a_connection_that_goes_on_for_another_user_has_nothing_of_the_first_one() {
    let (server, manager) = start(Anonymous::WithoutUsers);
    ["ANNA", "BERT"].iter().for_each(|user| {
        manager.put_user(name(user), b"SECRET").expect("durable");
    });
    let mut client = Client::connect(server.address());
    for user in ["ANNA", "BERT", "ANNA"] {
        let mut resume = bare("C1", Function::ResumeTpipe);
        (resume.irm.user, resume.irm.password) = (name(user), name("SECRET"));
        (resume.irm.f5, resume.irm.timer) = (f5::SINGLE_WAIT, 0x02);
        assert_eq!(status(&client.ask(&resume)), (0x28, 0x02), "nothing waits");
        assert!(manager.fetch(name("C1"), identity(user)).is_ok(), "it is his");
        let other = if user == "ANNA" { "BERT" } else { "ANNA" };
        assert!(manager.fetch(name("C1"), identity(other)).is_err());
    }
}

#[test]
fn who_names_no_user_issues_commands_only_while_the_door_keeps_to_this_machine() {
    let display = request("C1", b"/DIS Q");
    let (server, manager) = start(Anonymous::WithoutUsers);
    let mut client = Client::connect(server.address());
    assert!(text(&client.ask(&display)).contains("QUEUE"));
    permit(&manager, "CMD", "DIS", &["ANNA"]);
    assert!(text(&client.ask(&display)).starts_with("DFS1292E"), "it is protected now");
    let (server, manager) = start(Anonymous::Always);
    let mut client = Client::connect(server.address());
    assert!(text(&client.ask(&display)).starts_with("DFS1292E"), "anybody may come here");
    permit(&manager, "CMD", "DIS", &["*"]);
    assert!(text(&client.ask(&display)).contains("QUEUE"));
}
