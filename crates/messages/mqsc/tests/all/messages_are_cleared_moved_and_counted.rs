//! Commands about messages, handles and connections.

use mqsc::Console;
use queue_manager::MessageDescriptor;
use queue_manager::branch::{BranchCall, BranchId, WorkEnd};
use queue_manager::options::value::{open, put};
use queue_manager::options::{ObjectDescriptor, PutOptions};

use crate::common::{connected, done, manager, put_messages, refused};

#[test]
fn a_queue_with_messages_is_deleted_only_with_them() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "DEF QL(Q)");
    put_messages(&manager, "Q", 2);
    assert!(refused(&console, "DELETE QL(Q)").starts_with("AMQ8143E: "));
    assert!(done(&console, "DIS QL(Q) CURDEPTH").contains("CURDEPTH(2)"));
    done(&console, "DELETE QL(Q) PURGE");
    refused(&console, "DIS QL(Q)");
}

#[test]
fn messages_are_cleared_and_moved() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "DEF QL(FROM.Q)");
    done(&console, "DEF QL(TO.Q)");
    put_messages(&manager, "FROM.Q", 3);
    put_messages(&manager, "TO.Q", 1);
    let answer = done(&console, "MOVE QLOCAL(FROM.Q) TOQLOCAL(TO.Q) TYPE(ADD)");
    assert!(answer.contains("3 messages moved"), "{answer}");
    assert!(done(&console, "DIS QL(TO.Q) CURDEPTH").contains("CURDEPTH(4)"));
    assert!(done(&console, "CLEAR QLOCAL(TO.Q)").starts_with("AMQ8022I: "));
    assert!(done(&console, "DIS QL(TO.Q) CURDEPTH").contains("CURDEPTH(0)"));
    assert!(refused(&console, "CLEAR QLOCAL(NOWHERE)").starts_with("AMQ8147E: "));
    assert!(refused(&console, "MOVE QLOCAL(FROM.Q)").contains("needs TOQLOCAL"));
}

#[test]
fn a_retained_publication_is_cleared() {
    let manager = manager();
    let console = Console::new(&manager);
    let mut connection = connected(&manager);
    let mut options = PutOptions::new(put::RETAIN);
    let (mut topic, mut descriptor) =
        (ObjectDescriptor::topic("Sport/a"), MessageDescriptor::default());
    connection.put1(&mut topic, &mut descriptor, &mut options, b"kept").expect("it is published");
    let kept = || done(&console, "DIS QL(SYSTEM.RETAINED.PUB.QUEUE) CURDEPTH");
    assert!(kept().contains("CURDEPTH(1)"));
    assert!(refused(&console, "CLEAR TOPICSTR('Sport/a')").contains("needs CLRTYPE"));
    done(&console, "CLEAR TOPICSTR('Sport/b') CLRTYPE(RETAINED)");
    assert!(kept().contains("CURDEPTH(1)"));
    done(&console, "CLEAR TOPICSTR('Sport/a') CLRTYPE(RETAINED)");
    assert!(kept().contains("CURDEPTH(0)"));
    done(&console, "CLEAR TOPICSTR('Sport/a') CLRTYPE(RETAINED) SCOPE(LOCAL)");
}

#[test]
fn statistics_begin_again_when_they_are_reset() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "DEF QL(Q)");
    put_messages(&manager, "Q", 5);
    let answer = done(&console, "RESET QSTATS(Q)");
    assert!(answer.contains("MSGSIN(5)") && answer.contains("HIQDEPTH(5)"), "{answer}");
    assert!(done(&console, "RESET QSTATS(Q)").contains("MSGSIN(0)"));
}

#[test]
fn whoever_has_a_queue_open_is_shown_and_can_be_stopped() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "DEF QL(Q)");
    refused(&console, "DIS QSTATUS(Q) TYPE(HANDLE)");
    let mut connection = connected(&manager);
    let options = open::INPUT_SHARED | open::INQUIRE;
    connection.open(&mut ObjectDescriptor::queue("Q"), options).expect("it is there");
    let answer = done(&console, "DIS QSTATUS(Q) TYPE(HANDLE)");
    for part in ["TYPE(HANDLE)", "INPUT(SHARED)", "INQUIRE(YES)", "OUTPUT(NO)"] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    assert!(refused(&console, "DELETE QL(Q)").starts_with("AMQ8148E: "));
    let number = format!("{:016X}", connection.number());
    let answer = done(&console, "DIS CONN(*) TYPE(ALL) ALL");
    assert!(
        answer.contains(&format!("CONN({number})")) && answer.contains("OBJNAME(Q)"),
        "{answer}"
    );
    done(&console, &format!("STOP CONN({number})"));
    assert!(connection.commit().is_err(), "its calls fail from then on");
}

#[test]
fn branches_in_doubt_are_shown_and_decided() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "DEF QL(Q)");
    let mut connection = connected(&manager);
    let branch = BranchId::new(7, b"AB", b"C").expect("an identifier");
    let mut ask = |call: BranchCall| connection.branch(&call).expect("it is done");
    ask(BranchCall::Start(branch.clone()));
    ask(BranchCall::End(branch.clone(), WorkEnd::Done));
    assert!(done(&console, "DIS THREAD(*)").contains("STATUS(ENDED)"));
    let answer = refused(&console, "RESOLVE INDOUBT('7:4142:43') ACTION(COMMIT)");
    assert!(answer.contains("HFMC025"), "{answer}");
    ask(BranchCall::Commit { branch: branch.clone(), one_phase: true });
    refused(&console, "DIS THREAD(*)");
    ask(BranchCall::Start(branch.clone()));
    let (queue, _) =
        connection.open(&mut ObjectDescriptor::queue("Q"), open::OUTPUT).expect("it is there");
    let mut options = PutOptions { options: put::SYNCPOINT, ..PutOptions::default() };
    let mut descriptor = MessageDescriptor { persistence: 1, ..MessageDescriptor::default() };
    connection.put(queue, &mut descriptor, &mut options, b"held").expect("it is put");
    let mut ask = |call: BranchCall| connection.branch(&call).expect("it is done");
    ask(BranchCall::End(branch.clone(), WorkEnd::Done));
    ask(BranchCall::Prepare(branch.clone()));
    let answer = done(&console, "DIS THREAD(*) TYPE(INDOUBT)");
    for part in ["THREAD(7:4142:43)", "STATUS(PREPARED)", "MSGS(1)"] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    refused(&console, "DIS THREAD(*) TYPE(ACTIVE)");
    refused(&console, "RESOLVE INDOUBT('7:4142:44') ACTION(COMMIT)");
    refused(&console, "RESOLVE INDOUBT(nothing) ACTION(COMMIT)");
    refused(&console, "RESOLVE INDOUBT('7:4142:43')");
    done(&console, "RESOLVE INDOUBT('7:4142:43') ACTION(COMMIT)");
    assert!(done(&console, "DIS THREAD(*)").contains("STATUS(COMMITTED)"));
    assert_eq!(manager.queue_status("Q").expect("it is there").depth, 1);
}
