//! Crashes while requests are on their way, at whatever moment: each request is processed once,
//! as a ledger in the store says, and answered once.

use std::collections::BTreeMap;
use std::time::Duration;

use control::ProgramMessages;
use region::Abend;
use seam::clock::{Clock as _, RealClock};
use store::{Read, SetAttributes, SetId, Store, Unit};
use store_kernel::KernelStore;
use store_suite::model::ModelStore;

use crate::common::*;

const LEDGER: &str = "LEDGER";
const REQUESTS: u32 = 120;

fn number_of(text: &str) -> u32 {
    text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap()
}

/// Counts each number in the ledger, and answers with it.
fn count<S: Store>(
    ledger: SetId,
) -> impl FnMut(&mut ProgramMessages<S>, &mut S::Unit, &str) -> Result<(), Abend> + Send + 'static {
    move |program, unit, text| {
        let number = number_of(text);
        let lost =
            |error: store::StoreError| Abend { code: "U0777".to_owned(), text: error.to_string() };
        let mut count = Vec::new();
        let _ = unit.get(ledger, &number.to_be_bytes(), Read::Update, &mut count).map_err(lost)?;
        count.push(1);
        unit.put(ledger, &number.to_be_bytes(), &count).map_err(lost)?;
        reply(program, &format!("DONE {number}"));
        Ok(())
    }
}

fn ledger_of<S: Store>(store: &S) -> SetId {
    match store.set(LEDGER).unwrap() {
        Some(set) => set,
        None => store.create_set(LEDGER, &SetAttributes::default()).unwrap(),
    }
}

/// Starts with programs and the bridge.
fn started<S: Store>(store: &S, is_new: bool) -> World<S> {
    let ledger = ledger_of(store);
    let world = if is_new { World::new(store, &["COUNT"]) } else { World::on(store) };
    world.with_programs(count(ledger)).bridged()
}

fn took<S: Store>(world: &World<S>, answers: &mut BTreeMap<u32, u32>, wait: i32) -> bool {
    let Some((_, data)) = world.next(REPLIES, wait) else { return false };
    let number = number_of(&String::from_utf8_lossy(&data[4..]));
    *answers.entry(number).or_default() += 1;
    true
}

fn check<S: Store>(world: &World<S>, store: &S, mut answers: BTreeMap<u32, u32>) {
    while answers.len() < REQUESTS as usize {
        assert!(took(world, &mut answers, 30_000), "{} answers", answers.len());
    }
    assert!(!took(world, &mut answers, 50), "an answer came twice");
    assert!(answers.values().all(|count| *count == 1), "{answers:?}");
    let mut unit = store.begin(store::UnitOptions::READ_ONLY).unwrap();
    for number in 0..REQUESTS {
        let mut count = Vec::new();
        let key = number.to_be_bytes();
        assert!(unit.get(ledger_of(store), &key, Read::Shared, &mut count).unwrap(), "{number}");
        assert_eq!(count, [1], "request {number} was processed more than once");
    }
    unit.backout().unwrap();
    assert_eq!((world.depth(BRIDGE), world.depth(DEAD)), (0, 0));
}

#[test]
fn each_request_is_processed_and_answered_once_over_crashes() {
    for seed in 0..6_u64 {
        let mut store = ModelStore::new();
        let mut world = started(&store, true);
        for number in 0..REQUESTS {
            world.send(request(), &segment(&format!("COUNT {number}")));
        }
        for life in 0..4 {
            // Each life ends at another place of the way.
            RealClock::new().sleep(Duration::from_micros(300 + 700 * ((seed * 7 + life * 5) % 11)));
            let survivor = store.crash();
            world.end();
            store = survivor;
            world = started(&store, false);
        }
        check(&world, &store, BTreeMap::new());
        world.end();
    }
}

#[test]
fn each_request_is_processed_and_answered_once_over_crashes_of_the_kernel() {
    let machine = Machine::new("ims-bridge-crash");
    let mut store: KernelStore = machine.start();
    let mut world = started(&store, true);
    for number in 0..REQUESTS {
        world.send(request(), &segment(&format!("COUNT {number}")));
    }
    let mut answers = BTreeMap::new();
    for life in 1..4_usize {
        while answers.len() < life * 10 {
            assert!(took(&world, &mut answers, 30_000));
        }
        store.kernel().abandon();
        world.end();
        drop(store);
        store = machine.start();
        world = started(&store, false);
    }
    check(&world, &store, answers);
    world.end();
}

#[test]
fn what_was_answered_before_the_bridge_came_is_answered_by_it() {
    let store = ModelStore::new();
    let mut world = started(&store, true);
    world.send(request(), &segment("COUNT 1"));
    assert_eq!(world.receive(REPLIES).1, segment("DONE 1"));
    // A request that waits when the bridge goes is taken by the next one.
    world.without_bridge();
    world.send(request(), &segment("COUNT 2"));
    assert_eq!(world.depth(BRIDGE), 1);
    world.end();
    let world = started(&store.crash(), false);
    assert_eq!(world.receive(REPLIES).1, segment("DONE 2"));
    world.end();
}
