//! Deleting an object deletes the authority records of its name.

use mqsc::Console;
use queue_manager::objects::Kind;

use crate::common::{Manager, done, manager};

fn records(manager: &Manager) -> Vec<String> {
    let all = manager.list(Kind::AuthorityRecord, "*");
    let mut shown: Vec<String> = all
        .iter()
        .map(|one| format!("{} {}", one.text_of("OBJTYPE"), one.text_of("PROFILE")))
        .collect();
    shown.sort();
    shown
}

fn with_records() -> Manager {
    let manager = manager();
    let console = Console::new(&manager);
    for command in [
        "DEF QL(A.Q)",
        "DEF CHL(A.Q) CHLTYPE(SVRCONN)",
        "SET AUTHREC PROFILE(A.Q) OBJTYPE(QUEUE) GROUP('staff') AUTHADD(PUT)",
        "SET AUTHREC PROFILE(A.Q) OBJTYPE(QUEUE) PRINCIPAL('joe') AUTHADD(GET)",
        "SET AUTHREC PROFILE(A.Q) OBJTYPE(CHANNEL) GROUP('staff') AUTHADD(DSP)",
        "SET AUTHREC PROFILE('A.*') OBJTYPE(QUEUE) GROUP('staff') AUTHADD(PUT)",
    ] {
        done(&console, command);
    }
    manager
}

#[test]
fn records_of_an_object_alone_go_with_it_unless_they_are_to_stay() {
    let manager = with_records();
    done(&Console::new(&manager), "DELETE QL(A.Q) AUTHREC(NO)");
    assert_eq!(records(&manager), ["CHANNEL A.Q", "QUEUE A.*", "QUEUE A.Q", "QUEUE A.Q"]);
    done(&Console::new(&manager), "DEF QL(A.Q)");
    done(&Console::new(&manager), "DELETE QL(A.Q)");
    assert_eq!(records(&manager), ["CHANNEL A.Q", "QUEUE A.*"]);
    done(&Console::new(&manager), "DELETE CHL(A.Q) AUTHREC(YES)");
    assert_eq!(records(&manager), ["QUEUE A.*"]);
}

#[test]
fn the_last_record_stays_so_that_nobody_gets_rights_by_a_deletion() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "DEF QL(A.Q)");
    done(&console, "SET AUTHREC PROFILE(A.Q) OBJTYPE(QUEUE) GROUP('staff') AUTHADD(PUT)");
    done(&console, "DELETE QL(A.Q)");
    assert_eq!(records(&manager), ["QUEUE A.Q"]);
}
