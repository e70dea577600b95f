//! Messages against a ledger: random puts, takings, backouts and crashes; nothing is lost, doubled
//! or out of its order.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use holdfast_queues::{Kind, Limits, Looked, QueueError, QueueName, Queues};
use otma::Name;
use seam::clock::{Clock as _, RealClock};
use store::{Store, Unit, UnitOptions};
use store_suite::model::ModelStore;

/// The first bytes of a message.
fn owner(message: &[u8]) -> Name {
    message.first_chunk().map_or(Name::BLANK, |owner| Name(*owner))
}

fn open(store: &ModelStore) -> Queues<ModelStore> {
    Queues::open(store, Arc::new(RealClock::new()), Limits::default(), owner).expect("queues")
}

fn queue(number: usize) -> QueueName {
    QueueName::input(Name::new(&format!("Q{number}")).expect("a name"))
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

fn message(number: u64, bytes: usize) -> Vec<u8> {
    let mut message = number.to_le_bytes().to_vec();
    message.resize(8 + bytes, number as u8);
    message
}

#[test]
fn random_units_of_work_and_crashes_agree_with_a_ledger() {
    for seed in 1..40_u64 {
        let mut chance = Chance(seed * 0x9e37_79b9);
        let mut store = ModelStore::new();
        let mut queues = open(&store);
        let mut ledger: BTreeMap<usize, VecDeque<Vec<u8>>> = BTreeMap::new();
        let mut number = 0;
        for _ in 0..200 {
            let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
            let (mut put, mut taken) = (Vec::new(), Vec::new());
            for _ in 0..chance.below(4) {
                number += 1;
                let to = chance.below(3);
                let bytes = message(number, [0, 100, 40_000, 70_000][chance.below(4)]);
                let pending = queues.put(&mut unit, queue(to), None, &bytes).expect("room");
                put.push((to, bytes, pending));
            }
            for _ in 0..chance.below(4) {
                let from = chance.below(3);
                let Some(held) = queues.take(queue(from)) else { continue };
                let bytes = queues.read(&held).expect("it is there");
                queues.remove(&mut unit, &held).expect("it is there");
                taken.push((from, bytes, held));
            }
            match chance.below(8) {
                0 => {
                    // The system ends with everything that is in flight.
                    drop(unit);
                    store = store.crash();
                    queues = open(&store);
                }
                1 | 2 => {
                    unit.backout().expect("backout");
                    put.into_iter().for_each(|(_, _, pending)| queues.forget(pending));
                    taken.into_iter().for_each(|(_, _, held)| queues.put_back(held));
                }
                _ => {
                    unit.commit().expect("commit");
                    for (from, bytes, held) in taken {
                        let expected = ledger.entry(from).or_default().pop_front();
                        assert_eq!(expected.as_ref(), Some(&bytes), "seed {seed}");
                        queues.gone(held);
                    }
                    for (to, bytes, pending) in put {
                        ledger.entry(to).or_default().push_back(bytes);
                        queues.appear(&[pending]);
                    }
                }
            }
            for number in 0..3 {
                let depth = ledger.get(&number).map_or(0, VecDeque::len) as u64;
                let figures = queues.figures(queue(number));
                assert_eq!((figures.waiting, figures.taken), (depth, 0), "seed {seed}");
            }
        }
        for (from, waiting) in &ledger {
            for bytes in waiting {
                let held = queues.take(queue(*from)).expect("nothing is lost");
                assert_eq!(&queues.read(&held).expect("it is there"), bytes);
                queues.put_back(queues.take_arrival(queue(*from), 0).unwrap_or(held));
                let held = queues.take(queue(*from)).expect("it is back in its place");
                queues.gone(held);
            }
        }
    }
}

// Its first piece was committed with the others, and after the next start it was there without an
// end.
#[test]
fn a_unit_of_work_that_goes_on_has_nothing_of_what_did_not_fit() {
    let store = ModelStore::new();
    let queues = open(&store);
    let large = message(1, 100_000);
    let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
    let first = queues.put_whole(&mut unit, queue(1), None, b"first").expect("room");
    store.fill_log_after(2);
    let refused = queues.put_whole(&mut unit, queue(1), None, &large);
    assert!(matches!(refused, Err(QueueError::Store(_))), "{refused:?}");
    store.fill_log(false);
    let second = queues.put_whole(&mut unit, queue(1), None, &large).expect("room");
    unit.commit().expect("commit");
    queues.appear(&[first, second]);
    let store = store.crash();
    let queues = open(&store);
    assert_eq!(queues.figures(queue(1)).waiting, 2);
    let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
    let first = queues.take(queue(1)).expect("it is there");
    let second = queues.take(queue(1)).expect("it is there");
    store.fill_log_after(2);
    queues.remove_whole(&mut unit, &first).expect("room");
    assert!(queues.remove_whole(&mut unit, &second).is_err());
    unit.commit().expect("commit");
    let queues = open(&store.crash());
    let second = queues.take(queue(1)).expect("it is there");
    assert_eq!(queues.read(&second).expect("whole"), large);
    assert!(queues.take(queue(1)).is_none());
}

#[test]
fn somebodys_messages_are_found_behind_any_number_of_others() {
    let store = ModelStore::new();
    let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
    let queues = open(&store);
    for number in 0..9_000 {
        let owner = if number == 8_500 { "ANNA" } else { "BERT" };
        let owner = Name::new(owner).expect("a name").0;
        let text = [&owner[..], &[7; 10]].concat();
        let pending = queues.put(&mut unit, queue(1), None, &text).expect("room");
        queues.appear(&[pending]);
    }
    unit.commit().expect("commit");
    drop(queues);
    let queues = open(&store.crash());
    let of = |user: &str, looked: &mut Looked| {
        let user = Name::new(user).expect("a name");
        queues.take_owned(queue(1), looked, |owner| owner == user)
    };
    let mut looked = Looked::default();
    let held = of("ANNA", &mut looked).expect("it is there");
    assert!(looked.others);
    assert_eq!(queues.read(&held).expect("it is there")[..4], *b"ANNA");
    queues.put_back(held);
    assert!(of("ANNA", &mut looked).is_none(), "it has been looked at");
    assert!(of("CARL", &mut Looked::default()).is_none());
    let mut looked = Looked::default();
    let first = of("BERT", &mut looked).expect("it is there");
    let second = of("BERT", &mut looked).expect("it is there");
    assert!(!looked.others && first.arrival() < second.arrival());
    assert_eq!(queues.figures(queue(1)).waiting, 8_998);
    assert_eq!(queues.take_owned(queue(2), &mut looked, |_| true).map(|one| one.arrival()), None);
    drop((first, second));
}

#[test]
fn a_full_queue_warns_and_refuses() {
    let store = ModelStore::new();
    let limits = Limits { queue_messages_max: 100, ..Limits::default() };
    let queues = Queues::open(&store, Arc::new(RealClock::new()), limits, owner).expect("queues");
    let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
    for number in 0..100 {
        let pending = queues.put(&mut unit, queue(1), None, &message(number, 1)).expect("room");
        queues.appear(&[pending]);
    }
    let refused = queues.put(&mut unit, queue(1), None, b"one more");
    assert!(matches!(refused, Err(QueueError::QueueFull { most: 100, .. })), "{refused:?}");
    assert_eq!(queues.take_warnings(), ["queue TRAN Q1 has 75 of 100 messages"]);
    let dead = QueueName::dead_letter(queue(1).name);
    queues.forget(queues.put(&mut unit, dead, None, b"dead").expect("always room"));
    assert_eq!(queues.totals().messages, 100);
}

#[test]
fn volatile_messages_stand_in_line_and_end_with_the_system() {
    let store = ModelStore::new();
    let queues = open(&store);
    let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
    let first = queues.put(&mut unit, queue(1), None, b"first").expect("room");
    let second = queues.put_volatile(queue(1), None, b"second").expect("room");
    queues.appear(&[second]);
    unit.commit().expect("commit");
    queues.appear(&[first]);
    let held = queues.take(queue(1)).expect("one waits");
    assert_eq!(queues.read(&held).expect("it is there"), b"first");
    queues.put_back(held);
    let held = queues.take(queue(1)).expect("one waits");
    assert!(!queues.is_volatile(&held) && !queues.is_old(&held));
    let second = queues.take(queue(1)).expect("one waits");
    assert_eq!(queues.read(&second).expect("it is there"), b"second");
    drop((held, second));
    let again = open(&store.crash());
    let held = again.take(queue(1)).expect("one waits");
    assert!(again.is_old(&held));
    assert!(again.take(queue(1)).is_none());
}

#[test]
fn records_are_replaced_and_found_again() {
    let mut store = ModelStore::new();
    let name = Name::new("TERM1").expect("a name");
    for bytes in [70_000, 10] {
        let queues = open(&store);
        let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
        queues.keep(&mut unit, Kind::Conversation, name, &vec![1; bytes]).expect("room");
        unit.commit().expect("commit");
        store = store.crash();
        let found = open(&store).records(Kind::Conversation).expect("records");
        assert_eq!(found, [(name, vec![1; bytes])]);
    }
}

#[test]
fn what_expires_is_found() {
    let store = ModelStore::new();
    let queues = open(&store);
    for (lives, text) in [(0, "late"), (99, "not yet")] {
        let lives = Some(Duration::from_secs(lives));
        let pending = queues.put_volatile(queue(1), lives, text.as_bytes()).expect("room");
        queues.appear(&[pending]);
    }
    // Moments are kept in whole seconds.
    RealClock::new().sleep(Duration::from_millis(1_001));
    let expired = queues.take_expired(10);
    assert_eq!(expired.len(), 1);
    assert_eq!(queues.figures(queue(1)).waiting, 1);
}
