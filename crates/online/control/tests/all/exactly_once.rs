//! Random submissions, program ends, failures, settlements and crashes of the store, against
//! ledgers: one that programs keep in the database, and one that clients keep.
//!
//! 1. An input of mode 0 that was accepted is processed once, or is a dead letter, never both.
//! 2. An input of mode 1 is processed at most once; if its client was told that it is committed,
//!    it was.
//! 3. An output whose delivery was settled never comes again; that of every processed input of mode
//!    0 comes.
//! 4. In the end nothing waits and nothing is in anybody's hands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::common::*;
use holdfast_control::{Ending, Options};
use otma::{Event, Input, Manager, Name, Outcome, Reason, Settlement};
use queues::{Kind, QueueName};
use region::Abend;
use schedule::messages::Messages;
use seam::sync::Mutex;
use store::{Read, SetAttributes, SetId, Store, Unit, UnitOptions};
use store_suite::model::ModelStore;

struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % most
    }
}

const CODES: [&str; 3] = ["ONE", "TWO", "HAND"];

struct World {
    house: House,
    chance: Chance,
    seed: u64,
    /// What programs have done, by the input's number.
    ledger: SetId,
    next: u32,
    clients: BTreeMap<u32, (bool, Arc<Ear>)>,
    /// Numbers whose outputs were delivered, as their clients know.
    delivered: Arc<Mutex<BTreeSet<u32>>>,
    held: bool,
}

fn options() -> Options {
    Options { failures_max: u32::MAX, ..Options::default() }
}

fn number_of(text: &str) -> u32 {
    text.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a number")
}

impl World {
    fn new(seed: u64) -> World {
        let house = House::new(options(), &["ONE PARLIM 0", "TWO CMTMODE MULT", "HAND", "LAST"]);
        let ledger = house.store.create_set("LEDGER", &SetAttributes::default()).expect("a set");
        World {
            house,
            chance: Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            seed,
            ledger,
            next: 0,
            clients: BTreeMap::new(),
            delivered: Arc::default(),
            held: false,
        }
    }

    fn submit(&mut self) {
        self.next += 1;
        let code = CODES[self.chance.below(3) as usize];
        let text = format!("{code} {}", self.next);
        let is_direct = self.chance.below(3) == 0;
        let one = if is_direct { direct(code, &[&text]) } else { input(code, &[&text]) };
        let one = Input { client: name(&format!("C{}", self.chance.below(3))), ..one };
        let (ticket, ear) = self.house.submit(one);
        if is_direct && self.chance.below(8) == 0 {
            self.house.control.abandon(ticket);
        }
        self.clients.insert(self.next, (is_direct, ear));
    }

    /// Writes into the ledger and answers, or hands on to the transaction LAST.
    fn work(
        (ledger, chance): (SetId, &mut Chance),
        program: &mut Program,
        unit: &mut <ModelStore as Store>::Unit,
        text: &str,
    ) -> Result<(), Abend> {
        let number = number_of(text);
        if text.starts_with("HAND") {
            assert_eq!(program.change(1, *b"LAST    "), *b"  ");
            let alternate = schedule::messages::TerminalPcb::Alternate(1);
            let on = segment(&format!("LAST {number}"));
            assert_eq!(program.insert(alternate, &on, None), *b"  ");
        } else {
            let key = number.to_be_bytes();
            let mut count = Vec::new();
            let _ = unit.get(ledger, &key, Read::Update, &mut count).expect("the ledger");
            count.push(1);
            unit.put(ledger, &key, &count).expect("the ledger");
            reply(program, &format!("DONE {number}"));
        }
        match chance.below(10) {
            0 => Err(abend("S0C7")),
            1 | 2 => Err(abend("U0777")),
            _ => Ok(()),
        }
    }

    fn has_work(&self) -> bool {
        let all = self.house.control.queues(Kind::Input);
        all.iter().any(|(_, figures)| figures.waiting > 0)
    }

    /// Runs one program, until it has no more input or fails.
    fn run(&mut self) {
        if !self.has_work() {
            return;
        }
        let region = self.house.region();
        let scheduled = region.next().expect("there is work");
        let pcb =
            holdfast_control::AlternatePcb { number: 1, modifiable: true, ..Default::default() };
        let mut program = region.messages(&scheduled, &[pcb]);
        let mut given = 0;
        let ending = loop {
            if self.chance.below(12) == 0 {
                break Ending::Lost;
            }
            match self.turn(&mut program, &mut given) {
                Ok(true) => {}
                Ok(false) => break Ending::Normal,
                Err(Abend { code, text }) => break Ending::Abend { code, text },
            }
        };
        drop(program);
        region.ended(scheduled, &ending);
    }

    fn turn(&mut self, program: &mut Program, given: &mut u32) -> Result<bool, Abend> {
        let mut unit = self.house.store.begin(UnitOptions::default()).expect("a unit of work");
        let mut result = Ok(());
        let several = self.chance.below(3) + 1;
        let mut got = 0;
        while got < several && result.is_ok() {
            let text = match program.next_message(&mut unit)? {
                Some(segment) => String::from_utf8_lossy(&segment.bytes[4..]).into_owned(),
                None => break,
            };
            got += 1;
            *given += 1;
            let own = (self.ledger, &mut self.chance);
            result = World::work(own, program, &mut unit, &text);
            if result.is_ok() && self.chance.below(6) == 0 {
                // ROLB, and the same once more.
                unit.backout().expect("backout");
                program.backed_out(true);
                unit = self.house.store.begin(UnitOptions::default()).expect("a unit of work");
                if got > 1 {
                    result = Err(abend("U0777"));
                } else {
                    let own = (self.ledger, &mut self.chance);
                    result = World::work(own, program, &mut unit, &text);
                }
            }
        }
        if got == 0 {
            return Ok(false);
        }
        if let Err(abend) = result.and_then(|()| program.prepare(&mut unit)) {
            unit.backout().expect("backout");
            program.backed_out(false);
            return Err(abend);
        }
        if self.chance.below(8) == 0 {
            // The store refuses the commit: everything is taken back.
            let _ = program.queue();
            unit.backout().expect("backout");
            program.backed_out(false);
            return Err(abend("U0777"));
        }
        if !self.held && self.chance.below(2) == 0 {
            unit.commit().expect("commit");
            program.committed();
        } else {
            let (sink, token) = program.queue().expect("a program with an input goes on");
            unit.commit_queued(&sink, token).expect("commit");
        }
        Ok(true)
    }

    fn settle(&mut self) {
        let tpipe = name(&format!("C{}", self.chance.below(3)));
        let Some(output) = self.house.control.take(tpipe).expect("the store works") else { return };
        let text = texts(&output).join(" ");
        // The end of a program whose client has gone is told on its tpipe, too.
        let number = if text.starts_with("DONE") { number_of(&text) } else { 0 };
        assert!(!self.delivered.lock().contains(&number), "seed {}: {text} twice", self.seed);
        let settlement = match self.chance.below(4) {
            0 => Settlement::Kept,
            // It stays taken, until the system ends.
            1 => return,
            _ => Settlement::Delivered,
        };
        let delivered = Arc::clone(&self.delivered);
        let done = Box::new(move |done: Result<(), otma::Refusal>| {
            if number > 0 && done.is_ok() && settlement == Settlement::Delivered {
                delivered.lock().insert(number);
            }
        });
        self.house.control.settle(tpipe, output.id, settlement, done).expect("it was taken");
    }

    fn crash(mut self) -> World {
        self.house = self.house.crash(options());
        self.held = false;
        self
    }

    fn step(mut self) -> World {
        match self.chance.below(40) {
            0..=15 => self.submit(),
            16..=29 if !self.held => self.run(),
            30..=36 => self.settle(),
            37 if !self.held => {
                self.house.store.hold_log();
                self.held = true;
            }
            38 if self.held => {
                self.house.store.release_log();
                self.held = false;
            }
            39 if self.chance.below(3) == 0 => return self.crash(),
            _ => {}
        }
        self
    }

    fn count(&self, number: u32) -> usize {
        let mut unit = self.house.store.begin(UnitOptions::READ_ONLY).expect("a unit of work");
        let mut count = Vec::new();
        let _ = unit
            .get(self.ledger, &number.to_be_bytes(), Read::Shared, &mut count)
            .expect("the ledger");
        count.len()
    }

    /// Lets everything come to its end, then compares the ledgers.
    fn finish(mut self) {
        if self.held {
            self.house.store.release_log();
            self.held = false;
        }
        // What was taken and not settled comes again.
        self = self.crash();
        while self.has_work() {
            self.run();
        }
        let mut outputs = BTreeSet::new();
        for client in 0..3 {
            for lines in self.house.drain(&format!("C{client}")) {
                if lines[0].starts_with("DONE") {
                    let number = number_of(&lines[0]);
                    let twice = self.delivered.lock().contains(&number);
                    assert!(!twice && outputs.insert(number), "seed {}: {number}", self.seed);
                }
            }
        }
        let mut dead = BTreeSet::new();
        for code in CODES.iter().chain(&["LAST"]) {
            for letter in self.house.control.dead_letters(name(code), 10_000).expect("letters") {
                let text = letter.segments.data().next().map(<[u8]>::to_vec).unwrap_or_default();
                assert!(dead.insert(number_of(&String::from_utf8_lossy(&text))));
            }
        }
        for (number, (is_direct, ear)) in &self.clients {
            let count = self.count(*number);
            let at = format!("seed {}, input {number}, {:?}", self.seed, ear.events());
            assert!(count <= 1, "{at}: {count} times");
            let accepted = ear.events().iter().any(|(_, event)| *event == Event::Accepted);
            let outcomes = ear.outcomes();
            assert!(outcomes.len() <= 1, "{at}");
            if *is_direct {
                match outcomes.first() {
                    Some(Outcome::Committed) => assert_eq!(count, 1, "{at}"),
                    Some(Outcome::BackedOut(refusal)) if refusal.reason != Reason::Store => {
                        assert_eq!(count, 0, "{at}");
                    }
                    _ => {}
                }
            } else if accepted {
                let is_dead = usize::from(dead.contains(number));
                assert_eq!(count + is_dead, 1, "{at}: done {count}, dead {is_dead}");
                let has_come = self.delivered.lock().contains(number) || outputs.contains(number);
                assert_eq!(has_come, count == 1, "{at}");
            }
        }
        let control = &self.house.control;
        let left =
            |kind| control.queues(kind).iter().map(|(_, f)| f.waiting + f.taken).sum::<u64>();
        assert_eq!((left(Kind::Input), left(Kind::Output)), (0, 0), "seed {}", self.seed);
        assert_eq!(control.queue(QueueName::input(Name::BLANK)).coming, 0);
    }
}

#[test]
fn ledgers_agree_whatever_happens() {
    let text = std::env::var("HOLDFAST_SEEDS").unwrap_or_default();
    let range = text.split_once("..").map(|(from, to)| (from.parse(), to.parse()));
    let seeds = if let Some((Ok(from), Ok(to))) = range { from..to } else { 1..60_u64 };
    for seed in seeds {
        let mut world = World::new(seed);
        for _ in 0..250 {
            world = world.step();
        }
        world.finish();
    }
}

// What its unit of work had of it was committed with the rest, and no program could read it after
// the next start.
#[test]
fn an_input_that_does_not_fit_into_anothers_unit_of_work_leaves_nothing_there() {
    let house = House::new(options(), &["ECHO"]);
    let mut unit = house.store.begin(UnitOptions::default()).expect("a unit of work");
    let entering = house.control.submit_in(&mut unit, input("ECHO", &["ONE"])).expect("room");
    house.store.fill_log_after(2);
    let lines = vec!["X".repeat(30_000); 5];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let refused = house.control.submit_in(&mut unit, input("ECHO", &lines)).map(drop);
    assert_eq!(refused.map_err(|refusal| refusal.reason), Err(Reason::Store));
    house.store.fill_log(false);
    unit.commit().expect("commit");
    entering.settle(true);
    let house = house.crash(options());
    assert_eq!(house.control.queue(QueueName::input(name("ECHO"))).waiting, 1);
    let mut seen = Vec::new();
    let ending = house.run(|_, text| {
        seen.push(text.to_owned());
        Ok(())
    });
    assert_eq!((ending, seen), (Ending::Normal, vec!["ONE".to_owned()]));
}
