//! A system without processes: programs are closures, partners note what they are told.
#![allow(dead_code, unreachable_pub)] // each test uses its part

use std::sync::Arc;

use holdfast_control::{
    AlternatePcb, Control, Ending, NoSystem, Options, ProgramMessages, Region, Scheduled,
};
use otma::{
    CommitMode, Event, Input, Manager, Name, Outcome, Output, Partner, Segments, SyncLevel, Ticket,
};
use region::Abend;
use resources::{Change, Definition, Kind};
use schedule::messages::{Messages, TerminalPcb};
use seam::Seam;
use seam::sync::{Condvar, Mutex};
use store::{Store, Unit, UnitOptions};
use store_suite::model::ModelStore;

pub type Program = ProgramMessages<ModelStore>;

pub fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}

/// What a partner was told.
#[derive(Default)]
pub struct Ear {
    events: Mutex<Vec<(Ticket, Event)>>,
    arrived: Mutex<Vec<Name>>,
    changed: Condvar,
}

impl Partner for Ear {
    fn event(&self, ticket: Ticket, event: Event) {
        self.events.lock().push((ticket, event));
        self.changed.notify_all();
    }

    fn arrived(&self, tpipe: Name) {
        self.arrived.lock().push(tpipe);
    }
}

impl Ear {
    pub fn events(&self) -> Vec<(Ticket, Event)> {
        self.events.lock().clone()
    }

    pub fn tpipes(&self) -> Vec<Name> {
        self.arrived.lock().clone()
    }

    pub fn outputs(&self) -> Vec<Output> {
        let output = |(_, event)| match event {
            Event::Output(output) => Some(output),
            _ => None,
        };
        self.events().into_iter().filter_map(output).collect()
    }

    pub fn outcomes(&self) -> Vec<Outcome> {
        let outcome = |(_, event)| match event {
            Event::Ended(outcome) => Some(outcome),
            _ => None,
        };
        self.events().into_iter().filter_map(outcome).collect()
    }

    /// Waits until an output has come.
    pub fn wait_for_output(&self) -> (Ticket, Output) {
        let mut events = self.events.lock();
        loop {
            let found = events.iter().find_map(|(ticket, event)| match event {
                Event::Output(output) => Some((*ticket, output.clone())),
                _ => None,
            });
            match found {
                Some(found) => return found,
                None => self.changed.wait(&mut events),
            }
        }
    }
}

pub fn texts(output: &Output) -> Vec<String> {
    output.segments.data().map(|data| String::from_utf8_lossy(data).into_owned()).collect()
}

pub fn segments(lines: &[&str]) -> Segments {
    let mut segments = Segments::new();
    lines.iter().for_each(|line| segments.push([0; 2], line.as_bytes()).expect("short"));
    segments
}

pub fn segment(text: &str) -> Vec<u8> {
    [&(text.len() as u16 + 4).to_be_bytes()[..], &[0, 0], text.as_bytes()].concat()
}

/// An input of mode 0 without confirmation.
pub fn input(transaction: &str, lines: &[&str]) -> Input {
    Input {
        transaction: name(transaction),
        segments: segments(lines),
        client: name("CLIENT1"),
        tpipe: Name::BLANK,
        terminal: Name::BLANK,
        mod_name: Name::BLANK,
        identity: otma::Identity::default(),
        mode: CommitMode::CommitThenSend,
        sync_level: SyncLevel::None,
        encoding: otma::Encoding::Ascii,
        options: otma::InputOptions::default(),
        correlator: None,
    }
}

/// The same in mode 1.
pub fn direct(transaction: &str, lines: &[&str]) -> Input {
    Input { mode: CommitMode::SendThenCommit, ..input(transaction, lines) }
}

pub struct House {
    pub store: ModelStore,
    pub control: Control<ModelStore>,
}

impl House {
    pub fn new(options: Options, commands: &[&str]) -> House {
        let store = ModelStore::new();
        let house = House::on(store, options);
        house.define(commands);
        house
    }

    pub fn on(store: ModelStore, options: Options) -> House {
        let control = Control::open(&store, &Seam::real(), Arc::new(NoSystem), options);
        House { store, control: control.expect("it opens") }
    }

    /// What is there after a crash.
    pub fn crash(self, options: Options) -> House {
        House::on(self.store.crash(), options)
    }

    /// `T PGM P CLASS 4`: a transaction with its attributes; its program is defined with it.
    pub fn define(&self, transactions: &[&str]) {
        for line in transactions {
            let words: Vec<&str> = line.split(' ').collect();
            let program = format!("P{}", words[0]);
            let mut one = Definition::new(Kind::Transaction, name(words[0]));
            one.set("PGM", &program).expect("a name");
            for pair in words[1..].chunks(2) {
                one.set(pair[0], pair[1]).expect("an attribute");
            }
            let program = Definition::new(Kind::Program, name(&program));
            let changes = [Change::Put(program), Change::Put(one)];
            self.control.apply(&changes).expect("they fit");
        }
    }

    pub fn submit(&self, input: Input) -> (Ticket, Arc<Ear>) {
        let ear = Arc::new(Ear::default());
        let ticket = self.control.submit(input, Arc::clone(&ear) as _).expect("it is taken in");
        (ticket, ear)
    }

    pub fn region(&self) -> Region<ModelStore> {
        self.control.region(&[1, 2, 3], "MPP1", false)
    }

    /// Runs one program, which answers every message by what `body` does with it.
    pub fn run(&self, body: impl FnMut(&mut Program, &str) -> Result<(), Abend>) -> Ending {
        let region = self.region();
        let scheduled = region.next().expect("there is work");
        self.run_scheduled(&region, scheduled, &[], body)
    }

    pub fn run_scheduled(
        &self,
        region: &Region<ModelStore>,
        scheduled: Scheduled<ModelStore>,
        alternates: &[AlternatePcb],
        mut body: impl FnMut(&mut Program, &str) -> Result<(), Abend>,
    ) -> Ending {
        let mut program = region.messages(&scheduled, alternates);
        let ending = loop {
            match self.turn(&mut program, &mut body) {
                Ok(true) => {}
                Ok(false) => break Ending::Normal,
                Err(Abend { code, text }) => break Ending::Abend { code, text },
            }
        };
        drop(program);
        region.ended(scheduled, &ending);
        ending
    }

    /// One unit of work; `false` if there was no message.
    pub fn turn(
        &self,
        program: &mut Program,
        body: &mut impl FnMut(&mut Program, &str) -> Result<(), Abend>,
    ) -> Result<bool, Abend> {
        let mut unit = self.store.begin(UnitOptions::default()).expect("a unit of work");
        let first = match program.next_message(&mut unit) {
            Ok(Some(segment)) => segment.bytes[4..].to_vec(),
            Ok(None) => return Ok(false),
            Err(abend) => return Err(abend),
        };
        let text = String::from_utf8_lossy(&first).into_owned();
        let done = body(program, &text).and_then(|()| program.prepare(&mut unit));
        if let Err(abend) = done {
            unit.backout().expect("backout");
            program.backed_out(false);
            return Err(abend);
        }
        match program.queue() {
            Some((sink, token)) => unit.commit_queued(&sink, token).expect("commit"),
            None => {
                unit.commit().expect("commit");
                program.committed();
            }
        }
        Ok(true)
    }

    /// Everything that waits on a tpipe, taken and delivered.
    pub fn drain(&self, tpipe: &str) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        while let Some(output) = self.control.take(name(tpipe)).expect("the store works") {
            found.push(texts(&output));
            let done = Box::new(|done: Result<(), otma::Refusal>| done.expect("durable"));
            let settled = otma::Settlement::Delivered;
            self.control.settle(name(tpipe), output.id, settled, done).expect("it was taken");
        }
        found
    }
}

pub fn abend(code: &str) -> Abend {
    Abend { code: code.to_owned(), text: String::new() }
}

pub fn reply(program: &mut Program, text: &str) {
    assert_eq!(program.insert(TerminalPcb::Io, &segment(text), None), *b"  ");
}
