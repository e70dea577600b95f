//! Random programs: the engine against plain vectors that say what is right.
//!
//! The model knows a queue as a vector of messages in the order of getting, and a unit of work as
//! two lists. It is written from the rules that programs depend on: priority and then arrival;
//! puts that appear at the commit, gets that return in their place at the backout; identifiers
//! that select; what is not persistent goes with a restart.

use queue_manager::options::value::{get, matching, put};
use queue_manager::options::{ConnectOptions, GetOptions, Handle};
use queue_manager::{Connection, MessageDescriptor, Options, QueueManager, Reason};
use seam::sim::Rng;
use store::Store;

use crate::common::{ALL, Calls, persistent};

/// A message as the model knows it.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    order: (i32, u64),
    correl: u8,
    persistent: bool,
    text: String,
    backouts: i32,
    /// The client whose unit of work holds it, and how.
    held: Option<(usize, Held)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Held {
    Put,
    Got,
    PutAndGot,
}

#[derive(Default)]
struct Model {
    queue: Vec<Known>,
    arrivals: u64,
}

impl Model {
    fn put(
        &mut self,
        client: Option<usize>,
        priority: i32,
        correl: u8,
        persistent: bool,
    ) -> String {
        self.arrivals += 1;
        let order = (-priority, self.arrivals);
        let text = format!("message {}", self.arrivals);
        let held = client.map(|client| (client, Held::Put));
        let one = Known { order, correl, persistent, text: text.clone(), backouts: 0, held };
        let at = self.queue.partition_point(|other| other.order < order);
        self.queue.insert(at, one);
        text
    }

    /// What a client gets: the first that it may have.
    fn get(&mut self, client: usize, in_unit: bool, correl: Option<u8>) -> Option<(String, i32)> {
        let may = |one: &Known| {
            let free = one.held.is_none() || (in_unit && one.held == Some((client, Held::Put)));
            free && correl.is_none_or(|correl| one.correl == correl)
        };
        let at = self.queue.iter().position(may)?;
        let found = (self.queue[at].text.clone(), self.queue[at].backouts);
        if in_unit {
            let own = self.queue[at].held.is_some();
            let how = if own { Held::PutAndGot } else { Held::Got };
            self.queue[at].held = Some((client, how));
        } else {
            self.queue.remove(at);
        }
        Some(found)
    }

    fn end(&mut self, client: usize, committed: bool) {
        self.queue.retain_mut(|one| {
            let Some((_, how)) = one.held.filter(|(holder, _)| *holder == client) else {
                return true;
            };
            one.held = None;
            if !committed && how == Held::Got {
                one.backouts += 1;
            }
            (how == Held::Put) == committed && how != Held::PutAndGot
        });
    }

    /// Clients end with the system, and so does what is not persistent.
    fn restart(&mut self) {
        self.queue.retain_mut(|one| {
            let stays =
                one.persistent && !matches!(one.held, Some((_, Held::Put | Held::PutAndGot)));
            one.held = None;
            stays
        });
    }
}

const CLIENTS: usize = 3;

fn connect<S: Store>(manager: &QueueManager<S>) -> Vec<(Connection<S>, Handle)> {
    let one = |_| {
        let mut client = manager.connect(ConnectOptions::default()).expect("it connects");
        let q = client.open_queue("Q", ALL).expect("it opens");
        (client, q)
    };
    (0..CLIENTS).map(one).collect()
}

fn open<S: Store>(store: &S) -> QueueManager<S> {
    let manager = QueueManager::open(store, Options::new("QM1")).expect("it opens");
    if manager.queue_status("Q").is_none() {
        let kind = queue_manager::objects::Kind::QueueLocal;
        manager.define(kind, "Q", &[], false, None).expect("it is defined");
    }
    manager
}

/// One call of a client, made to both.
fn step<S: Store>(rng: &mut Rng, model: &mut Model, clients: &mut [(Connection<S>, Handle)]) {
    let number = rng.below(CLIENTS as u64) as usize;
    let (client, q) = &mut clients[number];
    let in_unit = rng.below(2) == 0;
    match rng.below(10) {
        0..=3 => {
            let (priority, correl) = (rng.below(3) as i32 * 4, rng.below(4) as u8 + 1);
            let is_persistent = rng.below(3) > 0;
            let holder = in_unit.then_some(number);
            let text = model.put(holder, priority, correl, is_persistent);
            let md = MessageDescriptor {
                priority,
                persistence: i32::from(is_persistent),
                correl_id: [correl; 24],
                ..persistent()
            };
            // Some are so long that they stand in chunks.
            let data =
                if rng.below(20) == 0 { format!("{text}{}", " ".repeat(40_000)) } else { text };
            let options = if in_unit { put::SYNCPOINT } else { put::NO_SYNCPOINT };
            client.put_with(*q, md, options, data.as_bytes()).expect("it is put");
        }
        4..=7 => {
            let correl = (rng.below(3) == 0).then(|| rng.below(4) as u8 + 1);
            let expected = model.get(number, in_unit, correl);
            let mut md = MessageDescriptor {
                correl_id: correl.map_or([0; 24], |correl| [correl; 24]),
                ..MessageDescriptor::default()
            };
            let options = if in_unit { get::SYNCPOINT } else { get::NO_SYNCPOINT };
            let mut options =
                GetOptions { match_options: matching::CORREL_ID, ..GetOptions::new(options) };
            let found = match client.get_with(*q, &mut md, &mut options) {
                Ok((_, data)) => {
                    let text = String::from_utf8(data).expect("text");
                    Some((text.trim_end().to_owned(), md.backout_count))
                }
                Err(failed) => {
                    assert_eq!(failed.0, Reason::NO_MSG_AVAILABLE);
                    None
                }
            };
            assert_eq!(found, expected, "client {number}, {correl:?} of {:?}", model.queue);
        }
        8 => {
            client.commit().expect("it commits");
            model.end(number, true);
        }
        _ => {
            client.back().expect("it backs out");
            model.end(number, false);
        }
    }
}

/// Browses all that everybody sees.
fn compare<S: Store>(model: &Model, manager: &QueueManager<S>) {
    let mut client = manager.connect(ConnectOptions::default()).expect("it connects");
    let q = client.open_queue("Q", ALL).expect("it opens");
    let mut seen = Vec::new();
    while let Ok(text) = client.get_text(q, get::BROWSE_NEXT) {
        seen.push(text.trim_end().to_owned());
    }
    let free = model.queue.iter().filter(|one| one.held.is_none());
    assert_eq!(seen, free.map(|one| one.text.clone()).collect::<Vec<_>>());
    let counted = model
        .queue
        .iter()
        .filter(|one| !matches!(one.held, Some((_, Held::Got | Held::PutAndGot))));
    let status = manager.queue_status("Q").expect("a queue");
    assert_eq!(status.depth, counted.count() as u64);
}

#[test]
fn the_engine_does_what_plain_vectors_do_on_the_model_of_a_store() {
    for seed in 0..40 {
        let store = store_suite::model::ModelStore::new();
        let mut rng = Rng::new(seed);
        let mut model = Model::default();
        for _ in 0..3 {
            let manager = open(&store);
            compare(&model, &manager);
            let mut clients = connect(&manager);
            for _ in 0..rng.below(120) {
                step(&mut rng, &mut model, &mut clients);
            }
            compare(&model, &manager);
            // Their connections break: that is a backout, and counts as one.
            drop(clients);
            (0..CLIENTS).for_each(|number| model.end(number, false));
            compare(&model, &manager);
            model.restart();
        }
    }
}

#[test]
fn the_engine_does_what_plain_vectors_do_on_the_kernel_through_crashes() {
    for seed in 0..6 {
        let machine = test_store::Machine::new(&format!("mq-model-{seed}"));
        let mut rng = Rng::new(seed);
        let mut model = Model::default();
        for _ in 0..3 {
            let store = machine.start();
            let manager = open(&store);
            compare(&model, &manager);
            let mut clients = connect(&manager);
            for _ in 0..rng.below(100) {
                step(&mut rng, &mut model, &mut clients);
            }
            compare(&model, &manager);
            // The system ends in the middle of everything.
            store.kernel().abandon();
            drop(clients);
            model.restart();
        }
    }
}
