//! Who may issue commands over the wire, asked of the transaction manager itself.

use std::sync::Arc;

use control::{Anonymous, Control, NoSystem, Options as Behaviour, Profile};
use holdfast_ims_connect::Server;
use holdfast_ims_connect::wire::Request;
use seam::Seam;
use store_suite::model::ModelStore;

use crate::client::{Client, name, options, request, text};

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
