//! Connections that are cut between any two bytes, and systems that are killed: each message
//! arrives once, in its order.

use queue_manager::objects::Kind;
use store_kernel::KernelStore;
use test_store::Machine;

use crate::common::{Proxy, System, fresh, loopback, next, send, start_at};

const MESSAGES: u32 = 60;

/// Numbers that look random, always the same.
fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

#[test]
fn cuts_between_any_two_bytes_lose_and_double_nothing() {
    for seed in 1..=3 {
        let mut seed = seed;
        let (one, two) = (fresh("QM1"), fresh("QM2"));
        // The partner's words are few: a welcome of some 60 bytes, confirmations of 20.
        let cuts = (0..12).map(|_| 20 + random(&mut seed) % 150).collect();
        let proxy = Proxy::to(two.address(), cuts);
        one.leads_to("QM2", proxy.address(), &[]);
        two.receives("TO.QM2", &[]);
        two.define(Kind::QueueLocal, "IN", &[]);
        for number in 0..MESSAGES {
            one.send(("IN", "QM2"), &number.to_string());
        }
        for number in 0..MESSAGES {
            assert_eq!(two.next("IN"), number.to_string());
        }
        one.until("TO.QM2", |status| {
            status.is_some_and(|one| {
                !one.progress.in_doubt && one.progress.last_sequence.0 == u64::from(MESSAGES)
            })
        });
        assert!(proxy.cuts_left() < 12, "something was cut");
        assert_eq!((one.depth("QM2"), two.depth("IN")), (0, 0));
        assert_eq!(one.depth("SYSTEM.DEAD.LETTER.QUEUE"), 0);
    }
}

/// A system on a disk, which can be killed.
struct Killable {
    machine: Machine,
    name: &'static str,
    running: Option<(KernelStore, System<KernelStore>)>,
}

impl Killable {
    fn new(name: &'static str) -> Killable {
        let mut one =
            Killable { machine: Machine::new(&format!("channels-{name}")), name, running: None };
        one.start();
        one
    }

    fn start(&mut self) {
        let store = self.machine.start();
        let system = start_at(&store, self.name, None, loopback());
        self.running = Some((store, system));
    }

    fn system(&self) -> &System<KernelStore> {
        &self.running.as_ref().expect("it runs").1
    }

    /// Ends without writing anything, and starts again.
    fn kill(&mut self) {
        if let Some((store, system)) = self.running.take() {
            store.kernel().abandon();
            drop(system);
            drop(store);
        }
        self.start();
    }
}

#[test]
fn kills_of_either_end_and_cuts_lose_and_double_nothing() {
    let mut seed = 11;
    let (mut one, mut two) = (Killable::new("QM1"), Killable::new("QM2"));
    let cuts = (0..6).map(|_| 30 + random(&mut seed) % 200).collect();
    let proxy = Proxy::to(two.system().address(), cuts);
    one.system().leads_to("QM2", proxy.address(), &[]);
    two.system().receives("TO.QM2", &[]);
    two.system().define(Kind::QueueLocal, "IN", &[("MAXDEPTH", "100000")]);
    let mut got = Vec::new();
    for round in 0..8 {
        for number in 0..10 {
            // What this has put is acknowledged, and so kept.
            send(&one.system().manager, ("IN", "QM2"), &format!("{round}-{number}"));
        }
        // Some of them are carried before something is killed.
        let some = random(&mut seed) % 8;
        for _ in 0..some {
            let Some(text) = next(&two.system().manager, "IN", 2_000) else { break };
            got.push(text);
        }
        match random(&mut seed) % 3 {
            0 => one.kill(),
            1 => two.kill(),
            _ => {
                one.kill();
                two.kill();
            }
        }
        proxy.lead_to(two.system().address());
    }
    let expected: Vec<String> =
        (0..8).flat_map(|round| (0..10).map(move |number| format!("{round}-{number}"))).collect();
    while got.len() < expected.len() {
        got.push(two.system().next("IN"));
    }
    assert_eq!(got, expected);
    assert_eq!(next(&two.system().manager, "IN", 0), None);
    one.system().until("TO.QM2", |status| status.is_some_and(|one| !one.progress.in_doubt));
    assert_eq!(one.system().depth("QM2"), 0);
}

#[test]
fn a_batch_in_doubt_is_resolved_by_the_next_start_without_another_message() {
    let (mut one, two) = (Killable::new("QM3"), fresh("QM4"));
    two.receives("TO.QM4", &[]);
    two.define(Kind::QueueLocal, "IN", &[]);
    // A partner that never confirms: its words are cut behind the welcome.
    let proxy = Proxy::to(two.address(), vec![70; 500]);
    one.system().leads_to("QM4", proxy.address(), &[("SHORTTMR", "60")]);
    send(&one.system().manager, ("IN", "QM4"), "doubtful");
    assert_eq!(two.next("IN"), "doubtful");
    one.system().until("TO.QM4", |status| status.is_some_and(|one| one.state.word() == "RETRYING"));
    let doubt = one.system().manager.channels().sender_state("TO.QM4").expect("it is kept");
    assert!(!doubt.in_doubt.is_none());
    proxy.lead_to(loopback());
    let values = [("CONNAME", format!("127.0.0.1({})", two.address().port()))];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str().into()));
    one.system().manager.alter(Kind::Channel, "TO.QM4", &values).expect("it is altered");
    one.kill();
    one.system().until("TO.QM4", |status| {
        status.is_some_and(|one| one.state.word() == "RUNNING" && one.progress.last_sequence.0 == 1)
    });
    assert_eq!(one.system().depth("QM4"), 0);
    assert_eq!(next(&two.manager, "IN", 0), None);
}
