//! The queue manager on the kernel: a machine that crashes, and what is there afterwards.

use std::path::Path;
use std::sync::Arc;

use queue_manager::options::value::{get, put};
use queue_manager::options::{ConnectOptions, GetOptions, PutOptions};
use queue_manager::{MessageDescriptor, Options, QueueManager, Reason};
use seam::Seam;
use seam::sim::{self, CrashStyle, End, Rng, SimConfig, SimDisk};
use seam::sync::Mutex;
use store_kernel::{KernelStore, StoreDefaults};
use uow::Kernel;

use crate::common::{ALL, Calls, persistent};

pub(crate) fn simulated(seam: &Seam, new: bool) -> KernelStore {
    let (parts, config) = test_store::setup(seam, Path::new("/home"));
    if new {
        seam::disk::make_dir(&*seam.disk, Path::new("/home/data")).expect("folders can be made");
        Kernel::create(&parts, &config).expect("a system can be made");
    }
    let kernel = Kernel::open(parts, config).expect("a system can be opened");
    KernelStore::new(&kernel, StoreDefaults::default()).expect("a store")
}

pub(crate) fn open_on(store: &KernelStore, seam: &Seam) -> QueueManager<KernelStore> {
    let options = Options {
        clock: Arc::clone(&seam.clock),
        entropy: Arc::clone(&seam.entropy),
        ..Options::new("QM1")
    };
    QueueManager::open(store, options).expect("the queue manager opens")
}

/// Units of work, each of which moves something: a number comes to `A`; later it goes from `A`
/// to `B` with a long copy of itself.
#[derive(Clone, Default)]
struct Ledger {
    /// Numbers whose arrival on `A` was acknowledged.
    arrived: Vec<u32>,
    /// Numbers whose move to `B` was acknowledged.
    moved: Vec<u32>,
    /// The number of the unit of work under way.
    under_way: Option<u32>,
}

const NUMBERS: u32 = 12;

fn first_life(disk: &SimDisk, seed: u64, crash_after: u64) -> (End, Ledger) {
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    let (answer, medium) = (Arc::clone(&ledger), disk.clone());
    let outcome = sim::run(SimConfig::new(seed), disk.clone(), move |seam| {
        let store = simulated(&seam, true);
        let manager = open_on(&store, &seam);
        for name in ["A", "B"] {
            let kind = queue_manager::objects::Kind::QueueLocal;
            manager.define(kind, name, &[], false, None).expect("it is defined");
        }
        let mut client = manager.connect(ConnectOptions::default()).expect("it connects");
        let a = client.open_queue("A", ALL).expect("it opens");
        let b = client.open_queue("B", ALL).expect("it opens");
        medium.crash_after(crash_after);
        for number in 0..NUMBERS {
            answer.lock().under_way = Some(number);
            let bytes = number.to_le_bytes();
            client.put_with(a, persistent(), put::SYNCPOINT, &bytes).expect("it is put");
            if number.is_multiple_of(3) {
                client.back().expect("it backs out");
                continue;
            }
            client.commit().expect("it commits");
            answer.lock().arrived.push(number);
            if number.is_multiple_of(2) {
                let options = &mut GetOptions::new(get::SYNCPOINT);
                let mut md = MessageDescriptor { msg_id: [0; 24], ..Default::default() };
                let (_, data) = client.get_with(a, &mut md, options).expect("it is there");
                let found = u32::from_le_bytes(data.try_into().expect("a number"));
                answer.lock().under_way = Some(found);
                let long = found.to_le_bytes().repeat(10_000);
                let options = &mut PutOptions::new(put::SYNCPOINT);
                client.put(b, &mut persistent(), options, &long).expect("it is put");
                client.commit().expect("it commits");
                answer.lock().moved.push(found);
            }
        }
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
        let mut all = [Vec::new(), Vec::new()];
        for (name, found) in ["A", "B"].iter().zip(&mut all) {
            let q = client.open_queue(name, ALL).expect("it opens");
            loop {
                let mut md = MessageDescriptor::default();
                match client.get_with(q, &mut md, &mut GetOptions::default()) {
                    Ok((_, data)) => {
                        let number = u32::from_le_bytes(data[..4].try_into().expect("a number"));
                        let whole = if *name == "A" { 1 } else { 10_000 };
                        assert_eq!(data, number.to_le_bytes().repeat(whole));
                        found.push(number);
                    }
                    Err(failed) => {
                        assert_eq!(failed.0, Reason::NO_MSG_AVAILABLE);
                        break;
                    }
                }
            }
        }
        let [on_a, on_b] = all;
        for number in 0..NUMBERS {
            let count = |of: &[u32]| of.iter().filter(|found| **found == number).count();
            let (a, b) = (count(&on_a), count(&on_b));
            let may_be = ledger.under_way == Some(number);
            assert!(a + b <= 1, "{number} is there {a} times on A and {b} times on B");
            if number.is_multiple_of(3) {
                assert_eq!(a + b, 0, "{number} was backed out");
            } else if ledger.arrived.contains(&number) {
                assert_eq!(a + b, 1, "{number} arrived, durably");
            } else {
                assert!(a + b == 0 || may_be, "{number} was never put");
            }
            if ledger.moved.contains(&number) {
                assert_eq!(b, 1, "{number} was moved, durably");
            } else {
                assert!(b == 0 || may_be, "{number} was not moved");
            }
        }
        assert!(on_a.is_sorted() && on_b.is_sorted());
        store.kernel().close().expect("the system closes in order");
    });
    outcome.expect_completed();
}

#[test]
fn what_was_committed_is_there_exactly_once_after_a_crash_at_any_write() {
    let (mut crashes, mut ended, mut crash_after) = (0, 0, 0);
    while ended < 3 {
        crash_after += 1 + crash_after / 8;
        let seed = 500 + crash_after % 7;
        let disk = SimDisk::new();
        let (end, ledger) = first_life(&disk, seed, crash_after);
        assert_eq!(end, End::Crashed, "crash after write {crash_after}");
        let done = ledger.under_way == Some(NUMBERS - 1) && ledger.moved.len() == 4;
        crashes += u32::from(!done);
        ended += u32::from(done);
        let mut rng = Rng::stream(seed + crash_after, "crash");
        let style = if rng.one_in(3) { CrashStyle::DropAll } else { CrashStyle::Random };
        second_life(disk.crash_image(&mut rng, style), seed, ledger);
    }
    assert!(crashes > 5, "only {crashes} crashes before all was done");
}
