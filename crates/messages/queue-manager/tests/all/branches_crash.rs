//! Branches of global transactions on a machine that crashes: the transaction manager's decisions
//! are kept elsewhere, and come true.

use std::collections::BTreeSet;
use std::sync::Arc;

use queue_manager::Reason;
use queue_manager::branch::{BranchAnswer, BranchCall, BranchId, WorkEnd};
use queue_manager::objects::Kind;
use queue_manager::options::value::{get, put};
use queue_manager::options::{ConnectOptions, GetOptions};
use queue_manager::{Connection, MessageDescriptor};
use seam::sim::{self, CrashStyle, End, Rng, SimConfig, SimDisk};
use seam::sync::Mutex;
use store_kernel::KernelStore;

use crate::common::{ALL, Calls, persistent};
use crate::kernel::{open_on, simulated};

const NUMBERS: u32 = 9;

/// What the transaction manager knows.
#[derive(Clone, Default)]
struct Ledger {
    /// Branches that it has decided to commit, each after it was prepared.
    decided: BTreeSet<u32>,
    /// Branches under way, or backed out.
    begun: BTreeSet<u32>,
    done: bool,
}

fn branch(number: u32) -> BranchId {
    BranchId::new(1, &number.to_be_bytes(), b"queues").expect("an identifier")
}

fn ask(client: &mut Connection<KernelStore>, call: &BranchCall) -> BranchAnswer {
    client.branch(call).expect("it is done")
}

fn first_life(disk: &SimDisk, seed: u64, crash_after: u64) -> (End, Ledger) {
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    let (answer, medium) = (Arc::clone(&ledger), disk.clone());
    let outcome = sim::run(SimConfig::new(seed), disk.clone(), move |seam| {
        let store = simulated(&seam, true);
        let manager = open_on(&store, &seam);
        for name in ["A", "B"] {
            manager.define(Kind::QueueLocal, name, &[], false, None).expect("it is defined");
        }
        let mut client = manager.connect(ConnectOptions::default()).expect("it connects");
        let a = client.open_queue("A", ALL).expect("it opens");
        let b = client.open_queue("B", ALL).expect("it opens");
        for number in 0..NUMBERS {
            // Some are long, and stand in chunks.
            let data = number.to_le_bytes().repeat(if number % 2 == 0 { 1 } else { 30_000 });
            client.put_with(a, persistent(), put::NO_SYNCPOINT, &data).expect("it is put");
        }
        medium.crash_after(crash_after);
        for number in 0..NUMBERS {
            answer.lock().begun.insert(number);
            ask(&mut client, &BranchCall::Start(branch(number)));
            let mut md = MessageDescriptor::default();
            let options = &mut GetOptions::new(get::SYNCPOINT);
            let (_, data) = client.get_with(a, &mut md, options).expect("it is there");
            client.put_with(b, persistent(), put::SYNCPOINT, &data).expect("it is put");
            ask(&mut client, &BranchCall::End(branch(number), WorkEnd::Done));
            ask(&mut client, &BranchCall::Prepare(branch(number)));
            if number % 3 == 2 {
                ask(&mut client, &BranchCall::BackOut(branch(number)));
                // It is in front of the others again: what follows takes it.
                continue;
            }
            answer.lock().decided.insert(number);
            ask(&mut client, &BranchCall::Commit { branch: branch(number), one_phase: false });
        }
        answer.lock().done = true;
        sim::crash();
    });
    let ledger = ledger.lock().clone();
    (outcome.end, ledger)
}

fn second_life(disk: SimDisk, seed: u64, ledger: Ledger) {
    let outcome = sim::run(SimConfig::new(seed), disk, move |seam| {
        let store = simulated(&seam, false);
        let manager = open_on(&store, &seam);
        let mut client = manager.connect(ConnectOptions::default()).expect("it connects");
        let BranchAnswer::Listed(listed) = ask(&mut client, &BranchCall::Recover) else {
            panic!("no list");
        };
        for one in listed {
            let number = (0..NUMBERS).find(|number| branch(*number) == one).expect("a known one");
            assert!(ledger.begun.contains(&number));
            match ledger.decided.contains(&number) {
                true => ask(&mut client, &BranchCall::Commit { branch: one, one_phase: false }),
                false => ask(&mut client, &BranchCall::BackOut(one)),
            };
        }
        let mut counts = Vec::new();
        let mut numbers = Vec::new();
        for name in ["A", "B"] {
            let queue = client.open_queue(name, ALL).expect("it opens");
            let mut count = 0;
            loop {
                let mut md = MessageDescriptor::default();
                let mut options = GetOptions::new(get::NO_SYNCPOINT);
                match client.get_with(queue, &mut md, &mut options) {
                    Ok((_, data)) => {
                        let number = u32::from_le_bytes(data[..4].try_into().expect("a number"));
                        let whole = if number % 2 == 0 { 1 } else { 30_000 };
                        assert!(data == number.to_le_bytes().repeat(whole));
                        numbers.push(number);
                        count += 1;
                    }
                    Err(failed) => {
                        assert_eq!(failed.0, Reason::NO_MSG_AVAILABLE);
                        break;
                    }
                }
            }
            counts.push(count);
        }
        numbers.sort_unstable();
        assert_eq!(numbers, (0..NUMBERS).collect::<Vec<_>>(), "each is there once");
        assert_eq!(counts[1], ledger.decided.len(), "what was decided has come true, and no more");
        store.kernel().close().expect("the system closes in order");
    });
    outcome.expect_completed();
}

#[test]
fn decisions_about_prepared_branches_come_true_after_a_crash_at_any_write() {
    let (mut crashes, mut ended, mut crash_after) = (0, 0, 0);
    while ended < 2 {
        crash_after += 1 + crash_after / 8;
        let seed = 900 + crash_after % 7;
        let disk = SimDisk::new();
        let (end, ledger) = first_life(&disk, seed, crash_after);
        assert_eq!(end, End::Crashed, "crash after write {crash_after}");
        crashes += u32::from(!ledger.done);
        ended += u32::from(ledger.done);
        let mut rng = Rng::stream(seed + crash_after, "crash");
        let style = if rng.one_in(3) { CrashStyle::DropAll } else { CrashStyle::Random };
        second_life(disk.crash_image(&mut rng, style), seed, ledger);
    }
    assert!(crashes > 5, "only {crashes} crashes before all was done");
}
