//! The same over the kernel: what was answered with 201 and is persistent outlives a crash.

use queue_manager::{Options, QueueManager};
use test_store::Machine;

use crate::common::{QUEUE, manager_on, opened_on};

#[test]
fn what_was_confirmed_is_there_after_a_crash_and_what_was_got_is_not() {
    let machine = Machine::new("rest-kernel");
    let message = format!("{QUEUE}/message");
    let kept = machine.start();
    {
        let door = opened_on(manager_on(&kept), None);
        for number in 0..5 {
            let persistent = [("ibm-mq-md-persistence", "persistent")];
            assert_eq!(door.put(&message, &persistent, &number.to_string()).status, 201);
        }
        assert_eq!(door.take(&message).body, "0");
        assert_eq!(door.take(&message).body, "1");
        kept.kernel().abandon();
    }
    drop(kept);
    let again = machine.start();
    let manager = QueueManager::open(&again, Options::new("QM1")).unwrap();
    let door = opened_on(manager, None);
    for number in 2..5 {
        assert_eq!(door.take(&message).body, number.to_string());
    }
    assert_eq!(door.take(&message).status, 204);
    drop(door);
    again.kernel().abandon();
}
