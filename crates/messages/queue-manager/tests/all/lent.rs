//! Units of work that are lent to a connection, with records of another owner in them: a machine
//! that crashes, and what is there afterwards.

use std::sync::Arc;

use queue_manager::objects::Kind;
use queue_manager::options::value::put;
use queue_manager::options::{ConnectOptions, GetOptions, PutOptions};
use queue_manager::{MessageDescriptor, Reason};
use seam::sim::{self, CrashStyle, End, Rng, SimConfig, SimDisk};
use seam::sync::Mutex;
use store::{Read, SetAttributes, SetId, Store, Unit, UnitOptions};
use store_kernel::KernelStore;

use crate::common::{ALL, Calls, System, persistent};
use crate::kernel::{open_on, simulated};

const NUMBERS: u32 = 10;

/// Numbers whose unit of work was acknowledged, and the one under way.
#[derive(Clone, Default)]
struct Ledger {
    done: Vec<u32>,
    under_way: Option<u32>,
}

fn records<S: Store>(store: &S) -> SetId {
    let known = store.set("RECORDS").expect("a store");
    known.unwrap_or_else(|| store.create_set("RECORDS", &SetAttributes::default()).expect("a set"))
}

/// Numbers wait on `A`. Each unit of work gets one, keeps a record of it, and puts it on `B`; one
/// of three is backed out the first time.
fn first_life(disk: &SimDisk, seed: u64, crash_after: u64) -> (End, Ledger) {
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    let (answer, medium) = (Arc::clone(&ledger), disk.clone());
    let outcome = sim::run(SimConfig::new(seed), disk.clone(), move |seam| {
        let store = simulated(&seam, true);
        let (manager, set) = (open_on(&store, &seam), records(&store));
        for name in ["A", "B"] {
            manager.define(Kind::QueueLocal, name, &[], false, None).expect("it is defined");
        }
        let mut client = manager.connect(ConnectOptions::default()).expect("it connects");
        let a = client.open_queue("A", ALL).expect("it opens");
        let b = client.open_queue("B", ALL).expect("it opens");
        for number in 0..NUMBERS {
            let bytes = number.to_le_bytes();
            client.put_with(a, persistent(), put::NO_SYNCPOINT, &bytes).expect("it is put");
        }
        medium.crash_after(crash_after);
        let mut unit = None;
        for turn in 0.. {
            // The message comes first in one half of them, the record in the other.
            let mut own = store.begin(UnitOptions::default()).expect("a unit of work");
            if turn % 2 == 0 {
                own.put(set, b"turn", &u32::to_le_bytes(turn)).expect("it is kept");
                unit = Some(own);
            } else {
                drop(own);
            }
            client.lend(unit.take());
            let (mut md, mut data) = (MessageDescriptor::default(), Vec::new());
            let got = client.get(a, &mut md, &mut GetOptions::default(), 100, &mut data);
            unit = client.leave();
            if got.is_err_and(|failed| failed.0 == Reason::NO_MSG_AVAILABLE) {
                break;
            }
            let number = u32::from_le_bytes(data.clone().try_into().expect("a number"));
            answer.lock().under_way = Some(number);
            let kept = unit.as_mut().expect("a get of a persistent message begins one");
            kept.put(set, &data, b"done").expect("it is kept");
            client.lend(unit.take());
            let options = &mut PutOptions::new(0);
            client.put(b, &mut persistent(), options, &data).expect("it is put");
            let ends = client.leave().expect("it has begun");
            if number.is_multiple_of(3) && md.backout_count == 0 {
                ends.backout().expect("it backs out");
                client.settle_in(false, &mut unit);
            } else {
                ends.commit().expect("it commits");
                client.settle_in(true, &mut unit);
                answer.lock().done.push(number);
            }
            assert!(unit.is_none() && !client.has_work());
        }
        sim::crash();
    });
    let ledger = ledger.lock().clone();
    (outcome.end, ledger)
}

fn on_queue(client: &mut queue_manager::Connection<KernelStore>, name: &str) -> Vec<u32> {
    let q = client.open_queue(name, ALL).expect("it opens");
    let mut found = Vec::new();
    loop {
        let mut md = MessageDescriptor::default();
        match client.get_with(q, &mut md, &mut GetOptions::default()) {
            Ok((_, data)) => found.push(u32::from_le_bytes(data.try_into().expect("a number"))),
            Err(failed) => {
                assert_eq!(failed.0, Reason::NO_MSG_AVAILABLE);
                return found;
            }
        }
    }
}

fn second_life(disk: SimDisk, seed: u64, ledger: Ledger) {
    let outcome = sim::run(SimConfig::new(seed), disk, move |seam| {
        let store = simulated(&seam, false);
        let (manager, set) = (open_on(&store, &seam), records(&store));
        let mut client = manager.connect(ConnectOptions::default()).expect("it connects");
        let (on_a, on_b) = (on_queue(&mut client, "A"), on_queue(&mut client, "B"));
        let mut unit = store.begin(UnitOptions::READ_ONLY).expect("a unit of work");
        for number in 0..NUMBERS {
            let key = number.to_le_bytes();
            let kept = unit.get(set, &key, Read::Shared, &mut Vec::new()).expect("a store");
            let count = |of: &[u32]| of.iter().filter(|found| **found == number).count();
            let (a, b) = (count(&on_a), count(&on_b));
            assert_eq!(a + b, 1, "{number} is there {a} times on A and {b} times on B");
            assert_eq!(kept, b == 1, "{number} has moved if it has a record");
            if ledger.done.contains(&number) {
                assert!(kept, "{number} was acknowledged");
            } else {
                assert!(!kept || ledger.under_way == Some(number), "{number} was not done");
            }
        }
        drop(unit);
        store.kernel().close().expect("the system closes in order");
    });
    outcome.expect_completed();
}

#[test]
fn messages_and_records_of_a_lent_unit_of_work_are_whole_or_absent_after_a_crash_at_any_write() {
    let (mut crashes, mut ended, mut crash_after) = (0, 0, 0);
    while ended < 3 {
        crash_after += 1 + crash_after / 8;
        let seed = 900 + crash_after % 7;
        let disk = SimDisk::new();
        let (end, ledger) = first_life(&disk, seed, crash_after);
        assert_eq!(end, End::Crashed, "crash after write {crash_after}");
        let done = ledger.done.len() == NUMBERS as usize;
        crashes += u32::from(!done);
        ended += u32::from(done);
        let mut rng = Rng::stream(seed + crash_after, "crash");
        let style = if rng.one_in(3) { CrashStyle::DropAll } else { CrashStyle::Random };
        second_life(disk.crash_image(&mut rng, style), seed, ledger);
    }
    assert!(crashes > 5, "only {crashes} crashes before all was done");
}

#[test]
fn a_message_that_stays_got_is_got_in_the_unit_of_work_that_follows() {
    use queue_manager::options::value::get;
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let q = client.open_queue("Q", ALL).expect("it opens");
    client.put_text(q, "poison");
    client.put_text(q, "other");
    let mut unit = None;
    client.lend(unit.take());
    let marked = get::SYNCPOINT | get::MARK_SKIP_BACKOUT;
    assert_eq!(client.get_text(q, marked).as_deref(), Ok("poison"));
    assert_eq!(client.get_text(q, 0).as_deref(), Ok("other"));
    client.leave().expect("it has begun").backout().expect("it backs out");
    client.settle_in(false, &mut unit);
    assert!(unit.is_some() && client.has_work(), "one of them is got in it");
    assert_eq!(system.depth("Q"), 1);
    unit.take().expect("it has begun").commit().expect("it commits");
    client.settle_in(true, &mut unit);
    assert!(unit.is_none() && !client.has_work());
    assert_eq!(system.restarted().depth("Q"), 1);
    assert_eq!(client.next(q).as_deref(), Ok("other"));
}
