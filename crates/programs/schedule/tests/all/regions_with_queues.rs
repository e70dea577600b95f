//! Message programs with queues, in COBOL and C, in one process after the other: their puts and
//! gets end with their messages.

use queue_manager::objects::Kind;
use queue_manager::{Options, QueueManager};

use crate::message_regions::{Hall, code_of, have, normal, program};

fn hall(test: &str) -> Hall {
    let mut hall = Hall::new(test, &[]);
    let manager = QueueManager::open(&hall.shop.store, Options::new("QM1")).expect("it opens");
    manager.define(Kind::QueueLocal, "ORDERS", &[], false, None).expect("a queue");
    hall.manager = Some(manager);
    hall
}

fn depth(hall: &Hall) -> (u64, u64) {
    let manager = hall.manager.as_ref().expect("a queue manager");
    let status = manager.queue_status("ORDERS").expect("a queue");
    (status.depth, status.uncommitted)
}

#[test]
fn puts_and_gets_end_with_each_message_in_either_language() {
    if !have("cobc") || !have("cc") {
        return;
    }
    let mut hall = hall("mpp-queues");
    let programs = [program("QUEUES"), program("QUEUEC")];
    for round in 0..2 {
        for (at, program) in programs.iter().enumerate() {
            let name = format!("{round}{at}AA");
            hall.send(&[&format!("PUT {name}")]);
            hall.send(&["CMIT    "]);
            hall.send(&["BACK    "]);
            let report = hall.run(program);
            assert_eq!(report.ended, normal(), "{report}");
            let expected = [
                format!("PUT {name}00000000"),
                "CMIT    20120000".into(),
                format!("BACK{name}00000001"),
            ];
            assert_eq!(hall.texts(), expected);
            assert_eq!(depth(&hall), (0, 0));
            assert!(hall.shop.customers().contains(&name));
        }
    }
    hall.has_kept_its_process();
}

#[test]
fn what_a_message_program_did_before_it_rolled_back_is_undone_for_the_next_one() {
    if !have("cobc") || !have("cc") {
        return;
    }
    let mut hall = hall("mpp-queues-roll");
    let programs = [program("QUEUES"), program("QUEUEC")];
    hall.send(&["PUT 0001"]);
    hall.send(&["ROLL    "]);
    let report = hall.run(&programs[0]);
    assert_eq!(code_of(&report), "U0778", "{report}");
    assert_eq!((hall.texts().len(), depth(&hall)), (1, (1, 0)));
    hall.send(&["ROLL    "]);
    assert_eq!(code_of(&hall.run(&programs[1])), "U0778");
    assert_eq!(hall.shop.customers(), [""; 0]);
    hall.send(&["GET     "]);
    assert_eq!(hall.run(&programs[1]).ended, normal());
    assert_eq!(hall.texts(), ["GET 000100000002"]);
    assert_eq!(hall.shop.customers(), ["0001"]);
    assert_eq!(depth(&hall), (0, 0));
}
