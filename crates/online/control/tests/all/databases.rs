//! Databases that operators stop, and transactions whose programs need them.

use std::sync::Arc;

use holdfast_control::{Checkpoint, Control, DatabaseState, DatabaseUse, Ending, Options, System};
use otma::Name;
use queues::QueueName;
use seam::Seam;
use seam::sync::Mutex;
use store_suite::model::ModelStore;

use crate::common::{House, abend, input, name, reply};

/// A system with one database, which the program of ECHO uses.
#[derive(Default)]
struct Shop(Mutex<Option<DatabaseUse>>);

impl Shop {
    fn is_stopped(&self) -> bool {
        *self.0.lock() == Some(DatabaseUse::Nothing)
    }
}

impl System for Shop {
    fn databases(&self) -> Vec<DatabaseState> {
        vec![DatabaseState { name: "SHOPDB".to_owned(), ..DatabaseState::default() }]
    }

    fn set_database(&self, _: &str, may: DatabaseUse) -> Result<(), String> {
        *self.0.lock() = Some(may);
        Ok(())
    }

    fn missing_database(&self, program: Name) -> Option<String> {
        (program == name("PECHO") && self.is_stopped()).then(|| "SHOPDB".to_owned())
    }

    fn checkpoint(&self, _: Checkpoint, _: bool) -> Result<(), String> {
        Ok(())
    }
}

fn open(store: ModelStore) -> (House, Arc<Shop>) {
    let shop = Arc::new(Shop::default());
    let control = Control::open(&store, &Seam::real(), Arc::clone(&shop) as _, Options::default());
    (House { store, control: control.expect("it opens") }, shop)
}

fn house() -> (House, Arc<Shop>) {
    let (house, shop) = open(ModelStore::new());
    house.define(&["ECHO", "OTHER"]);
    (house, shop)
}

fn tell(house: &House, command: &str) -> String {
    house.control.command(command, Name::BLANK).lines.join("\n")
}

fn waiting(house: &House) -> u64 {
    house.control.queue(QueueName::input(name("ECHO"))).waiting
}

#[test]
fn a_transaction_is_not_scheduled_while_a_database_of_its_program_is_stopped() {
    let (house, _) = house();
    assert!(tell(&house, "/STOP DB SHOPDB").starts_with("DFS058I"));
    house.submit(input("ECHO", &["1"]));
    house.submit(input("OTHER", &["1"]));
    let region = house.region();
    let scheduled = region.next().expect("there is work");
    assert_eq!(scheduled.transaction.name, name("OTHER"), "ECHO came first, and waits");
    drop(scheduled);
    assert!(tell(&house, "/DIS TRAN ECHO").contains("STATUS: SUSPENDED"));
    let notices = house.control.take_notices().join("\n");
    assert!(notices.contains("/START DB SHOPDB"), "{notices}");
    assert!(tell(&house, "/STOP TRAN OTHER").starts_with("DFS058I"));
    assert!(tell(&house, "/START DB SHOPDB ACCESS=RD").starts_with("DFS058I"));
    let scheduled = region.next().expect("it goes on");
    assert_eq!(scheduled.transaction.name, name("ECHO"));
}

#[test]
fn an_input_whose_program_met_a_stopped_database_waits_for_it() {
    let (house, _) = house();
    house.submit(input("ECHO", &["1"]));
    let ending = house.run(|_, _| {
        assert!(tell(&house, "/DBR DB SHOPDB NOFEOV").starts_with("DFS058I"));
        Err(abend("U3303"))
    });
    assert!(matches!(ending, Ending::Abend { .. }));
    assert_eq!(waiting(&house), 1);
    assert!(house.control.dead_letters(name("ECHO"), 9).expect("a store").is_empty());
    assert!(tell(&house, "/DIS TRAN ECHO").contains("STATUS: SUSPENDED"));
    assert!(tell(&house, "/START DB ALL").starts_with("DFS058I"));
    house.run(|program, _| {
        reply(program, "DONE");
        Ok(())
    });
    assert_eq!(house.drain("CLIENT1"), [["DONE"]]);
    // Without a stopped database the program is to blame.
    house.submit(input("ECHO", &["2"]));
    house.run(|_, _| Err(abend("U3303")));
    assert_eq!(house.control.dead_letters(name("ECHO"), 9).expect("a store").len(), 1);
}

#[test]
fn what_was_stopped_is_stopped_after_a_restart_and_wrong_words_are_told() {
    let (house, shop) = house();
    assert!(tell(&house, "/DBD DB SHOPDB").contains("DBDUMP COMMAND COMPLETED"));
    assert_eq!(*shop.0.lock(), Some(DatabaseUse::Reads));
    let (house, shop) = open(house.store.crash());
    assert_eq!(*shop.0.lock(), Some(DatabaseUse::Reads));
    assert!(tell(&house, "/STO DB SHOPDB NONE").contains("PARAMETER NONE INVALID"));
    assert!(shop.is_stopped());
    for (command, expected) in [
        ("/STA DB", "PARAMETER MISSING BEHIND DB"),
        ("/STA DB SHOPDB ACCESS=XX", "KEYWORD ACCESS INVALID"),
        ("/DBR", "COMMAND DBRECOVERY KEYWORD"),
        ("/DBR TRAN ECHO", "COMMAND DBRECOVERY KEYWORD TRAN"),
        ("/DBD DB", "PARAMETER MISSING BEHIND DB"),
        ("/STO DB NONE", "PARAMETER NONE INVALID"),
    ] {
        let events = tell(&house, command);
        assert!(events.starts_with("DFS1") && events.contains(expected), "{command}: {events}");
    }
    let (house, shop) = open(house.store.crash());
    assert!(shop.is_stopped());
    assert!(tell(&house, "/STA DB SHOPDB ACCESS=UP").starts_with("DFS058I"));
    let (_, shop) = open(house.store.crash());
    assert_eq!(*shop.0.lock(), None);
}
