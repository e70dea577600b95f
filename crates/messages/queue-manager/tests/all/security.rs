//! Authority records: no user needs one until there is one; then who has none may do nothing.

use std::sync::Arc;

use queue_manager::objects::{Kind, Value};
use queue_manager::options::value::{open, put};
use queue_manager::options::{ConnectOptions, ObjectDescriptor, PutOptions};
use queue_manager::{Answer, Connection, MessageDescriptor, Options, QueueManager, Reason, Users};
use store_suite::model::ModelStore;

use crate::common::{Calls, reason};

pub(crate) struct People;

impl Users for People {
    fn is_administrator(&self, user: &str) -> bool {
        user == "root"
    }

    fn groups(&self, user: &str) -> Vec<String> {
        if user == "ann" { vec!["clerks".into()] } else { Vec::new() }
    }
}

pub(crate) fn manager() -> QueueManager<ModelStore> {
    let options = Options { users: Some(Arc::new(People)), ..Options::new("QM1") };
    let manager = QueueManager::open(&ModelStore::new(), options).expect("it opens");
    for name in ["APP.IN", "APP.DEEP.IN"] {
        manager.define(Kind::QueueLocal, name, &[], false, None).expect("it is defined");
    }
    manager
}

pub(crate) fn grant(
    manager: &QueueManager<ModelStore>,
    (profile, of_type): (&str, &str),
    (entity, entity_type): (&str, &str),
    list: &[&str],
) {
    let name = format!("{profile}/{of_type}/{entity_type}/{entity}");
    let list = list.iter().map(|one| (*one).to_owned()).collect();
    let values = [
        ("PROFILE", Value::from(profile)),
        ("OBJTYPE", Value::from(of_type)),
        ("ENTITY", Value::from(entity)),
        ("ENTTYPE", Value::from(entity_type)),
        ("AUTHLIST", Value::List(list)),
    ];
    manager.define(Kind::AuthorityRecord, &name, &values, false, None).expect("it is defined");
}

pub(crate) fn connect(
    manager: &QueueManager<ModelStore>,
    user: &str,
) -> Answer<Connection<ModelStore>> {
    manager.connect(ConnectOptions { user: user.into(), ..ConnectOptions::default() })
}

#[test]
fn without_a_record_everybody_may_do_everything() {
    let manager = manager();
    let mut bob = connect(&manager, "bob").expect("he connects");
    assert!(bob.open_queue("APP.IN", open::OUTPUT | open::INPUT_SHARED).is_ok());
}

#[test]
fn from_the_first_record_on_users_may_what_records_say() {
    let manager = manager();
    grant(&manager, ("SELF", "QMGR"), ("bob", "PRINCIPAL"), &["CONNECT"]);
    grant(&manager, ("SELF", "QMGR"), ("clerks", "GROUP"), &["CONNECT"]);
    grant(&manager, ("APP.*", "QUEUE"), ("bob", "PRINCIPAL"), &["PUT"]);
    grant(&manager, ("APP.**", "QUEUE"), ("clerks", "GROUP"), &["GET", "BROWSE"]);
    assert_eq!(reason(connect(&manager, "eve")), Reason::NOT_AUTHORIZED);
    let mut bob = connect(&manager, "bob").expect("he connects");
    assert!(bob.open_queue("APP.IN", open::OUTPUT).is_ok());
    assert_eq!(reason(bob.open_queue("APP.IN", open::INPUT_SHARED)), Reason::NOT_AUTHORIZED);
    assert_eq!(reason(bob.open_queue("APP.DEEP.IN", open::OUTPUT)), Reason::NOT_AUTHORIZED);
    let mut ann = connect(&manager, "ann").expect("she connects");
    assert!(ann.open_queue("APP.DEEP.IN", open::BROWSE | open::INPUT_SHARED).is_ok());
    let mut root = connect(&manager, "root").expect("the administrator connects");
    assert!(root.open_queue("APP.DEEP.IN", open::OUTPUT | open::SET).is_ok());
}

#[test]
fn the_most_particular_profile_counts() {
    let manager = manager();
    grant(&manager, ("SELF", "QMGR"), ("bob", "PRINCIPAL"), &["CONNECT"]);
    grant(&manager, ("**", "QUEUE"), ("bob", "PRINCIPAL"), &["PUT", "GET"]);
    grant(&manager, ("APP.IN", "QUEUE"), ("bob", "PRINCIPAL"), &["PUT"]);
    let mut bob = connect(&manager, "bob").expect("he connects");
    assert_eq!(reason(bob.open_queue("APP.IN", open::INPUT_SHARED)), Reason::NOT_AUTHORIZED);
    assert!(bob.open_queue("APP.DEEP.IN", open::INPUT_SHARED).is_ok());
}

#[test]
fn topics_are_decided_by_the_topic_objects_above_them() {
    let manager = manager();
    let prices = [("TOPICSTR", Value::from("prices"))];
    manager.define(Kind::Topic, "PRICES", &prices, false, None).expect("it is defined");
    grant(&manager, ("SELF", "QMGR"), ("bob", "PRINCIPAL"), &["CONNECT"]);
    grant(&manager, ("PRICES", "TOPIC"), ("bob", "PRINCIPAL"), &["PUB"]);
    let mut bob = connect(&manager, "bob").expect("he connects");
    let mut fruit = ObjectDescriptor::topic("prices/fruit");
    assert!(bob.open(&mut fruit, open::OUTPUT).is_ok());
    let mut other = ObjectDescriptor::topic("pricesofhouses");
    assert_eq!(reason(bob.open(&mut other, open::OUTPUT)), Reason::NOT_AUTHORIZED);
}

#[test]
fn who_comes_by_a_door_puts_nothing_where_it_is_carried_out() {
    let manager = manager();
    let alias = [("TARGET", Value::from("SYSTEM.ADMIN.COMMAND.QUEUE"))];
    manager.define(Kind::QueueAlias, "ALIAS", &alias, false, None).expect("it is defined");
    let user =
        ConnectOptions { user: "bob".into(), may_command: false, ..ConnectOptions::default() };
    let mut guest = manager.connect(user).expect("he connects");
    for queue in ["SYSTEM.ADMIN.COMMAND.QUEUE", "ALIAS", "SYSTEM.CHANNEL.INITQ"] {
        assert_eq!(reason(guest.open_queue(queue, open::OUTPUT)), Reason::NOT_AUTHORIZED);
    }
    assert!(guest.open_queue("APP.IN", open::OUTPUT).is_ok());
    assert!(guest.open_queue("SYSTEM.ADMIN.COMMAND.QUEUE", open::INQUIRE).is_ok());
    // Programs of this machine do, while no record is kept; partners without a user never.
    let mut bob = connect(&manager, "bob").expect("he connects");
    assert!(bob.open_queue("ALIAS", open::OUTPUT).is_ok());
    assert!(manager.may_administer("bob") && !manager.may_administer("@channel"));
}

#[test]
fn what_a_queue_names_as_its_initiation_queue_is_one_where_puts_are_carried_out() {
    let manager = manager();
    manager.define(Kind::QueueLocal, "APP.INITQ", &[], false, None).expect("it is defined");
    let user =
        ConnectOptions { user: "bob".into(), may_command: false, ..ConnectOptions::default() };
    let mut guest = manager.connect(user).expect("he connects");
    assert!(guest.open_queue("APP.INITQ", open::OUTPUT).is_ok());
    let named = [("INITQ", Value::from("APP.INITQ"))];
    manager.alter(Kind::QueueLocal, "APP.IN", &named).expect("it is altered");
    assert_eq!(reason(guest.open_queue("APP.INITQ", open::OUTPUT)), Reason::NOT_AUTHORIZED);
    // Messages that wait there may still start something.
    let none = [("INITQ", Value::from(""))];
    manager.alter(Kind::QueueLocal, "APP.IN", &none).expect("it is altered");
    assert_eq!(reason(guest.open_queue("APP.INITQ", open::OUTPUT)), Reason::NOT_AUTHORIZED);
}

// It took the name while no such queue was there, and was asked about no more.
#[test]
fn who_comes_by_a_door_makes_no_queue_from_which_things_are_carried_out() {
    let manager = manager();
    let model = [("DEFTYPE", Value::from("PERMDYN"))];
    manager.define(Kind::QueueModel, "MODEL", &model, false, None).expect("it is defined");
    let named = [("INITQ", Value::from("APP.INITQ"))];
    manager.alter(Kind::QueueLocal, "APP.IN", &named).expect("it is altered");
    let command = "SYSTEM.ADMIN.COMMAND.QUEUE";
    manager.delete(Kind::QueueLocal, command, true).expect("it is deleted");
    let user =
        ConnectOptions { user: "bob".into(), may_command: false, ..ConnectOptions::default() };
    let mut guest = manager.connect(user).expect("he connects");
    let model = |name: &str| ObjectDescriptor {
        dynamic_q_name: name.into(),
        ..ObjectDescriptor::queue("MODEL")
    };
    for name in ["APP.INITQ", command] {
        for how in [open::OUTPUT, open::INPUT_SHARED, open::BROWSE, open::INQUIRE] {
            assert_eq!(reason(guest.open(&mut model(name), how)), Reason::NOT_AUTHORIZED);
        }
        let mut options = PutOptions::new(put::NO_SYNCPOINT);
        let mut md = MessageDescriptor::default();
        let refused = guest.put1(&mut model(name), &mut md, &mut options, b"TM  ");
        assert_eq!(reason(refused), Reason::NOT_AUTHORIZED);
        assert!(manager.object(Kind::QueueLocal, name).is_none());
    }
    assert!(guest.open(&mut model("OTHER.*"), open::OUTPUT).is_ok());
    let mut bob = connect(&manager, "bob").expect("he connects");
    assert!(bob.open(&mut model("APP.INITQ"), open::OUTPUT).is_ok());
}

#[test]
fn a_handle_that_was_there_before_puts_nothing_where_things_are_carried_out_now() {
    let manager = manager();
    manager.define(Kind::QueueLocal, "LATER", &[], false, None).expect("it is defined");
    let user =
        ConnectOptions { user: "bob".into(), may_command: false, ..ConnectOptions::default() };
    let mut guest = manager.connect(user).expect("he connects");
    let held = guest.open_queue("LATER", open::OUTPUT).expect("it is open");
    let mut bob = connect(&manager, "bob").expect("he connects");
    let own = bob.open_queue("LATER", open::OUTPUT).expect("it is open");
    let put = put::NO_SYNCPOINT;
    assert!(guest.put_with(held, MessageDescriptor::default(), put, b"x").is_ok());
    let named = [("INITQ", Value::from("LATER"))];
    manager.alter(Kind::QueueLocal, "APP.IN", &named).expect("it is altered");
    let refused = guest.put_with(held, MessageDescriptor::default(), put, b"TM  ");
    assert_eq!(reason(refused), Reason::NOT_AUTHORIZED);
    assert!(bob.put_with(own, MessageDescriptor::default(), put, b"TM  ").is_ok());
}

#[test]
fn who_puts_what_others_have_made_can_have_nothing_of_it_carried_out() {
    let manager = manager();
    let mut owner = manager.connect(ConnectOptions::default()).expect("it connects");
    let mut moves = |queue: &str, options: i32| {
        let (mut md, mut options) = (MessageDescriptor::default(), PutOptions::new(options));
        owner.put1(&mut ObjectDescriptor::queue(queue), &mut md, &mut options, b"TM  ")
    };
    let guarded = put::NO_SYNCPOINT | put::NOT_CARRIED_OUT;
    let initiation = "SYSTEM.DEFAULT.INITIATION.QUEUE";
    for queue in [initiation, "SYSTEM.ADMIN.COMMAND.QUEUE"] {
        assert_eq!(reason(moves(queue, guarded)), Reason::NOT_AUTHORIZED);
    }
    assert!(moves("APP.IN", guarded).is_ok());
    assert!(moves(initiation, put::NO_SYNCPOINT).is_ok());
}
