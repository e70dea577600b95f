//! Commands about channels reach the door that runs them; what is kept is shown and changed
//! without.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mqsc::Console;
use queue_manager::channel::{
    BatchNumber, ChannelError, ChannelState, ChannelType, Initiator, ListenerStatus,
    ReceiverOptions, Sequence, StopRequest,
};
use queue_manager::{Options, QueueManager};
use seam::sync::Mutex;
use store_suite::model::ModelStore;

use crate::common::{done, manager, refused};

/// Notes what it is asked for.
#[derive(Default)]
struct Fake(Mutex<Vec<String>>);

impl Initiator for Fake {
    fn start(&self, channel: &str) -> Result<(), ChannelError> {
        self.0.lock().push(format!("start {channel}"));
        Ok(())
    }

    fn stop(&self, request: &StopRequest) -> usize {
        self.0.lock().push(format!("stop {} {:?}", request.channel, request.mode));
        0
    }

    fn ping(&self, channel: &str, bytes: usize) -> Result<(), ChannelError> {
        self.0.lock().push(format!("ping {channel} {bytes}"));
        Ok(())
    }

    fn listen(&self, name: &str) -> Result<SocketAddr, ChannelError> {
        self.0.lock().push(format!("listen {name}"));
        Ok(SocketAddr::from(([127, 0, 0, 1], 1414)))
    }

    fn end_listener(&self, name: &str) -> bool {
        self.0.lock().push(format!("end {name}"));
        true
    }

    fn listeners(&self) -> Vec<ListenerStatus> {
        vec![ListenerStatus {
            name: "L1".into(),
            address: SocketAddr::from(([127, 0, 0, 1], 1414)),
            started_ms: 1,
            connections: 2,
        }]
    }
}

#[test]
fn commands_reach_whoever_runs_channels() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "DEFINE QLOCAL(X) USAGE(XMITQ)");
    done(&console, "DEFINE CHANNEL(C) CHLTYPE(SDR) XMITQ(X) CONNAME('h(1)')");
    done(&console, "DEFINE LISTENER(L1) TRPTYPE(TCP) PORT(0)");
    assert!(refused(&console, "START CHANNEL(C)").contains("in a started system only"));
    let fake = Arc::new(Fake::default());
    manager.channels().attach(Some(Arc::clone(&fake) as _));
    assert!(done(&console, "START CHANNEL(C)").starts_with("AMQ8018I: "));
    done(&console, "STOP CHANNEL(C) MODE(FORCE)");
    done(&console, "PING CHANNEL(C)");
    done(&console, "START LISTENER(L1)");
    done(&console, "STOP LISTENER(L1)");
    assert!(refused(&console, "STOP CHANNEL(C) STATUS(INACTIVE)").starts_with("AMQ9533E: "));
    assert!(refused(&console, "START CHANNEL(NONE)").starts_with("AMQ8147E: "));
    assert!(refused(&console, "START LISTENER(NONE)").starts_with("AMQ8147E: "));
    assert!(refused(&console, "PING CHANNEL(C) DATALEN(1)").contains("from 16 to 32768"));
    let asked = fake.0.lock().clone();
    let expected =
        ["start C", "stop C Force", "ping C 64", "listen L1", "end L1", "stop C Quiesce"];
    assert_eq!(asked, expected);
    let shown = done(&console, "DISPLAY LSSTATUS(*) ALL");
    assert!(shown.contains("LISTENER(L1)") && shown.contains("PORT(1414)"), "{shown}");
    assert!(done(&console, "DISPLAY QMSTATUS").contains("CHINIT(RUNNING)"));
}

#[test]
fn a_channel_that_was_stopped_is_shown_so_until_it_is_started() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "DEFINE CHANNEL(R) CHLTYPE(RCVR)");
    assert!(refused(&console, "DISPLAY CHSTATUS(*)").starts_with("AMQ8420I: "));
    done(&console, "STOP CHANNEL(R)");
    let shown = done(&console, "DISPLAY CHSTATUS(R)");
    assert!(shown.starts_with("AMQ8417I: ") && shown.contains("STATUS(STOPPED)"), "{shown}");
    assert!(manager.channels().is_stopped("R"));
    manager.channels().attach(Some(Arc::new(Fake::default())));
    done(&console, "START CHANNEL(R)");
    assert!(refused(&console, "DISPLAY CHSTATUS(R)").starts_with("AMQ8420I: "));
}

#[test]
fn a_channel_that_runs_is_shown_with_what_it_does() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "DEFINE CHANNEL(R) CHLTYPE(RCVR)");
    let instance = manager.channels().instance("R", ChannelType::Receiver);
    instance.update(|status| {
        status.state = ChannelState::Running;
        status.partner = "QM2".into();
        status.traffic.messages = 7;
    });
    let shown = done(&console, "DISPLAY CHSTATUS(R) MSGS WHERE(STATUS EQ RUNNING)");
    assert!(shown.contains("RQMNAME(QM2)") && shown.contains("MSGS(7)"), "{shown}");
    let refused = refused(&console, "RESET CHANNEL(NONE)");
    assert!(refused.starts_with("AMQ8147E: "), "{refused}");
    drop(instance);
    assert!(!manager.channels().statuses().iter().any(|one| one.channel == "R"));
}

#[test]
fn numbers_are_reset_and_shown() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "DEFINE QLOCAL(X) USAGE(XMITQ)");
    done(&console, "DEFINE CHANNEL(C) CHLTYPE(SDR) XMITQ(X) CONNAME('h(1)')");
    done(&console, "RESET CHANNEL(C) SEQNUM(8)");
    let shown = done(&console, "DISPLAY CHSTATUS(C) SAVED");
    assert!(shown.contains("LASTSEQNO(7)") && shown.contains("SAVED"), "{shown}");
    let answer = refused(&console, "RESOLVE CHANNEL(C) ACTION(COMMIT)");
    assert!(answer.contains("no batch in doubt"), "{answer}");
    assert!(refused(&console, "RESOLVE CHANNEL(C)").contains("ACTION"));
}

#[test]
fn a_new_queue_manager_has_the_records_that_others_have() {
    let store = ModelStore::new();
    let manager = QueueManager::open(&store, Options::new("QM1")).unwrap();
    let console = Console::new(&manager);
    let shown = done(&console, "DISPLAY CHLAUTH(*)");
    for words in [
        "CHLAUTH(*) TYPE(BLOCKUSER)",
        "USERLIST(*MQADMIN)",
        "CHLAUTH(SYSTEM.*) TYPE(ADDRESSMAP)",
        "USERSRC(NOACCESS)",
        "CHLAUTH(SYSTEM.ADMIN.SVRCONN) TYPE(ADDRESSMAP)",
    ] {
        let squeezed = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(squeezed.contains(words), "{words}: {shown}");
    }
    // They are records like others, and stay away once they were removed.
    done(&console, "SET CHLAUTH('*') TYPE(BLOCKUSER) USERLIST('eve') ACTION(ADD)");
    assert!(done(&console, "DISPLAY CHLAUTH(*)").contains("*MQADMIN"));
    done(&console, "SET CHLAUTH('*') TYPE(BLOCKUSER) ACTION(REMOVEALL)");
    drop(console);
    drop(manager);
    let manager = QueueManager::open(&store, Options::new("QM1")).unwrap();
    let shown = done(&Console::new(&manager), "DISPLAY CHLAUTH(*)");
    assert!(!shown.contains("BLOCKUSER") && shown.contains("SYSTEM."), "{shown}");
}

#[test]
fn a_reset_says_what_it_did_at_the_receiving_end() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "DEFINE CHANNEL(R) CHLTYPE(RCVR)");
    let text = done(&console, "RESET CHANNEL(R) SEQNUM(8)");
    assert!(text.trim_end().ends_with("Channel reset complete."), "{text}");
    let options = || ReceiverOptions {
        user: "holdfast".into(),
        checks_context: false,
        connection_name: String::new(),
        uses_dead_letters: true,
        sequence_max: 999_999_999,
        retries: 0,
        retry_wait: Duration::ZERO,
    };
    for partner in ["QM2", "QM3"] {
        let mut receiver = manager.channels().receiver("R", partner, options()).unwrap();
        receiver.take_over(BatchNumber(1), Sequence(4)).unwrap();
    }
    assert!(manager.channels().is_known_as("R", "QM2", Some("CN=two")).unwrap());
    let text = done(&console, "RESET CHANNEL(R) SEQNUM(8)");
    assert!(text.contains("The next message of QM2, QM3 has number 8."), "{text}");
    assert!(text.contains("QM2 may come with another certificate."), "{text}");
    for (_, state) in manager.channels().partners("R").unwrap() {
        assert_eq!(state.sequence, Sequence(7));
    }
    // While one of them is there, nothing is reset.
    let _there = manager.channels().receiver("R", "QM3", options()).unwrap();
    assert!(refused(&console, "RESET CHANNEL(R) SEQNUM(1)").contains("in use"));
    assert_eq!(manager.channels().partners("R").unwrap()[0].1.sequence, Sequence(7));
}
