//! What a program's process puts into its region's mailbox, for the messages of a transaction.
//!
//! | bytes | |
//! |---|---|
//! | 1 | flags: 1 a conversation, 2 mode MULT, 4 inputs of mode 1, 8 the program ends by an abend |
//! | 2 + n | each message of the mailbox, behind its length |
//!
//! The schedule, the transaction manager and its queues are those of a running system, over the
//! store's model. Two inputs wait for the program; it has alternate PCBs of every kind.
//!
//! Invariants, whatever the program says:
//! 1. When it has ended nothing is in anybody's hands, and nothing is on its way.
//! 2. Each input waits, or has ended once.
//! 3. What waits can be fetched, and is there after a crash.

use std::collections::BTreeSet;
use std::sync::Arc;

use control::{
    AlternatePcb, Control, Ending as Fate, NoSystem, Options as Behaviour, Region, Scheduled,
};
use definitions::compile;
use definitions::resolve::{Nothing, Overlay, ResolvedPsb};
use macros::{NoMembers, Sources, read};
use otma::{
    CommitMode, Encoding, Event, Identity, Input as Arriving, InputOptions, Manager, Name, Partner,
    Segments, SyncLevel, Ticket,
};
use parking_lot::Mutex;
use queues::{Kind, QueueName};
use region::wire::{Served, Work, serve};
use region::{Ending, Server as _};
use resources::{Change, Definition, Kind as ResourceKind};
use schedule::{Environment, Intents, Mode, NoPools, Options, RegionKind, Schedule};
use seam::Seam;
use store_suite::model::ModelStore;

use crate::call_buffers::call_of;
use crate::input::Input;

const SOURCE: &str = "\
\x20PCB TYPE=TP,LTERM=PRINTER
 PCB TYPE=TP,MODIFY=YES
 PCB TYPE=TP,MODIFY=YES,EXPRESS=YES
 PCB TYPE=TP,MODIFY=YES,ALTRESP=YES
 PCB TYPE=TP,LTERM=TERM1,SAMETRM=YES
 PSBGEN PSBNAME=TELLER,LANG=COBOL
";

const TALKS: u8 = 1;
const MULTIPLE: u8 = 2;
const DIRECT: u8 = 4;
const ABENDS: u8 = 8;
/// Inputs that wait for the program.
const INPUTS: usize = 2;
/// Transactions: one in a conversation, one that answers, and one that others hand inputs on to.
const TALK: &str = "TALK";
const TELL: &str = "TELL";
const NEXT: &str = "NEXT";

type Manages = Control<ModelStore>;

fn name(text: &str) -> Name {
    Name::new(text).unwrap_or_default()
}

/// Notes which inputs have ended.
#[derive(Default)]
struct Ear(Mutex<BTreeSet<Ticket>>);

impl Partner for Ear {
    fn event(&self, ticket: Ticket, event: Event) {
        if let Event::Ended(_) = event {
            assert!(self.0.lock().insert(ticket), "an input ends twice");
        }
    }
}

fn alternates() -> [AlternatePcb; 5] {
    let pcb = |number| AlternatePcb { number, modifiable: true, ..AlternatePcb::default() };
    let fixed =
        |number, to| AlternatePcb { destination: name(to), modifiable: false, ..pcb(number) };
    [
        fixed(1, "PRINTER"),
        pcb(2),
        AlternatePcb { express: true, ..pcb(3) },
        AlternatePcb { response: true, ..pcb(4) },
        AlternatePcb { same_terminal: true, ..fixed(5, "TERM1") },
    ]
}

/// The program's PSB.
fn with_psb<T>(work: impl FnOnce(&Overlay<'static>, &ResolvedPsb) -> T) -> T {
    thread_local! {
        static KNOWN: (Overlay<'static>, ResolvedPsb) = {
            let bytes = SOURCE.as_bytes();
            let program = read(&mut Sources::new(), "teller".as_ref(), bytes, &NoMembers);
            let compiled = compile(&program);
            assert!(compiled.members.iter().all(|one| one.errors == 0), "{compiled:?}");
            let mut overlay = Overlay::new(&Nothing);
            compiled.members.into_iter().filter_map(|one| one.member).for_each(|member| {
                overlay.add(member);
            });
            let mut psbs = overlay.resolve().psbs;
            (overlay, psbs.pop().expect("the teller's PSB"))
        };
    }
    KNOWN.with(|(overlay, psb)| work(overlay, psb))
}

fn define(manager: &Manages) {
    let mut changes = Vec::new();
    for (code, attributes) in [
        (TALK, &[("CONV", "Y"), ("SPASZ", "30")][..]),
        (TELL, &[("SEGNO", "3"), ("SEGSZ", "60")]),
        (NEXT, &[]),
    ] {
        let program = name(&format!("P{code}"));
        changes.push(Change::Put(Definition::new(ResourceKind::Program, program)));
        let mut one = Definition::new(ResourceKind::Transaction, name(code));
        one.set("PGM", &program.text()).expect("a name");
        for (attribute, value) in attributes {
            one.set(attribute, value).expect("an attribute");
        }
        changes.push(Change::Put(one));
    }
    manager.apply(&changes).expect("they fit");
}

fn submit(manager: &Manages, code: &str, direct: bool) -> Arc<Ear> {
    let ear = Arc::new(Ear::default());
    for number in 0..INPUTS {
        let mut segments = Segments::new();
        for text in [&format!("{code} {number}"), "MORE"] {
            segments.push([0; 2], text.as_bytes()).expect("short");
        }
        let input = Arriving {
            transaction: name(code),
            segments,
            // A terminal in a conversation has one input at a time.
            client: name(&format!("TERM{number}")),
            tpipe: Name::BLANK,
            terminal: Name::BLANK,
            mod_name: Name::BLANK,
            identity: Identity::default(),
            mode: if direct { CommitMode::SendThenCommit } else { CommitMode::CommitThenSend },
            sync_level: SyncLevel::None,
            encoding: Encoding::Ascii,
            options: InputOptions::default(),
            correlator: None,
        };
        manager.submit(input, Arc::clone(&ear) as _).expect("it is taken in");
    }
    ear
}

/// Takes bytes as all that a program says until it ends.
///
/// # Panics
/// If an invariant is broken.
pub fn fuzz(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let flags = input.byte();
    let is = |bit: u8| flags & bit != 0;
    let store = ModelStore::new();
    let behaviour = Behaviour { any_terminal: true, ..Behaviour::default() };
    let open = |store: &ModelStore| {
        Control::open(store, &Seam::real(), Arc::new(NoSystem), behaviour.clone())
    };
    let manager = open(&store).expect("an empty store");
    define(&manager);
    let code = if is(TALKS) { TALK } else { TELL };
    let ear = submit(&manager, code, is(DIRECT));
    let region = manager.region(&[1], "MPP1", false);
    let scheduled = region.next().expect("inputs wait");
    let fate = perform(&store, &region, &scheduled, flags, &mut input);
    region.ended(scheduled, &fate);
    drop(region);

    let ended = ear.0.lock().len();
    // One of mode 1 that was handed on without an answer ends with whom it was handed to.
    let others: &[&str] = if is(DIRECT) { &[TALK, TELL, NEXT] } else { &[code] };
    let waiting = |code: &&str| manager.queue(QueueName::input(name(code))).waiting as usize;
    let waiting: usize = others.iter().map(waiting).sum();
    assert!(waiting + ended >= INPUTS, "an input is nowhere: {fate:?}");
    let before = depths(&manager);
    if !is(DIRECT) {
        drop(manager);
        let manager = open(&store.crash()).expect("what was written is read");
        assert_eq!(depths(&manager), before, "a crash changes nothing");
        return fetch_all(&manager);
    }
    fetch_all(&manager);
}

/// The program: what it says, and how it ends.
fn perform(
    store: &ModelStore,
    region: &Region<ModelStore>,
    scheduled: &Scheduled<ModelStore>,
    flags: u8,
    input: &mut Input<'_>,
) -> Fate {
    let mut schedule = with_psb(|overlay, psb| {
        let environment = Environment {
            store,
            seam: &Seam::real(),
            psb,
            definitions: overlay,
            open: &mut |name| panic!("no PCB is for database {name}"),
            files: &|_| None,
            pools: Arc::new(NoPools),
            intents: &Arc::new(Intents::default()),
            catalogs: &Arc::default(),
        };
        let options = Options {
            kind: RegionKind::Mpp,
            transaction: scheduled.transaction.name.text(),
            mode: if flags & MULTIPLE != 0 { Mode::Multiple } else { Mode::Single },
            tell: |_| (),
            ..Options::default()
        };
        Schedule::new(environment, options).expect("a schedule")
    });
    schedule = schedule.with_messages(Box::new(region.messages(scheduled, &alternates())));
    let (mut work, mut answer) = (Work::default(), Vec::new());
    let abend = |code: &str| Fate::Abend { code: code.to_owned(), text: String::new() };
    while !input.rest().is_empty() {
        let length = usize::from(input.word());
        let message = input.take(length);
        match serve(message, &mut work, &mut schedule, &mut answer) {
            Ok(Served::Call) if answer.first().is_none_or(|flags| flags & 1 == 0) => {}
            // Whoever speaks for a program whose bytes make no sense ends it.
            Ok(Served::Call) | Err(_) => {
                let _ = schedule.end(Ending::Abend);
                return abend("U0778");
            }
            Ok(Served::End) if answer.first().is_none_or(|flags| flags & 1 == 0) => {
                return Fate::Normal;
            }
            Ok(Served::End) => return abend("U0844"),
        }
    }
    if flags & ABENDS != 0 {
        let _ = schedule.end(Ending::Abend);
        return abend("S0C7");
    }
    match schedule.end(Ending::Normal) {
        Ok(()) => Fate::Normal,
        Err(_) => abend("U0844"),
    }
}

/// How many messages wait in each queue. Nothing else may be left of any.
fn depths(manager: &Manages) -> Vec<(QueueName, u64)> {
    let kinds = [Kind::Input, Kind::Output, Kind::DeadLetter, Kind::Expedited];
    let all = kinds.into_iter().flat_map(|kind| manager.queues(kind));
    let waiting = all.map(|(queue, figures)| {
        assert_eq!((figures.taken, figures.coming), (0, 0), "{queue} is in somebody's hands");
        (queue, figures.waiting)
    });
    waiting.filter(|(_, waiting)| *waiting > 0).collect()
}

/// Clients fetch what waits for them, and find messages.
fn fetch_all(manager: &Manages) {
    for (queue, waiting) in depths(manager) {
        match queue.kind {
            Kind::Output => {
                for _ in 0..waiting {
                    let output = manager.take(queue.name).expect("the store works");
                    let output = output.expect("it waits");
                    assert!(output.segments.iter().all(|one| one.len() >= 4));
                    let done = Box::new(|done: Result<(), _>| done.expect("durable"));
                    let settled = otma::Settlement::Delivered;
                    manager.settle(queue.name, output.id, settled, done).expect("it was taken");
                }
            }
            Kind::DeadLetter => {
                let letters = manager.dead_letters(queue.name, INPUTS + 1);
                assert_eq!(letters.expect("the store works").len() as u64, waiting);
            }
            _ => {}
        }
    }
}

/// A call of a PCB with an area, behind its length.
fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u16).to_le_bytes()[..], message].concat()
}

/// A segment.
fn segment(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u16 + 4).to_be_bytes()[..], &[0, 0], text].concat()
}

/// A scratch pad area that goes on with a transaction; blank ends the conversation.
fn spa(transaction: &[u8; 8]) -> Vec<u8> {
    [&[0, 30, 0, 0, 0, 0][..], transaction, &[7; 16]].concat()
}

/// Programs that answer, hand on, purge, converse, return to a point, ask, and end in every way.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let room = [b' '; 80];
    let get = |function| call_of(function, 0, &[], &room);
    let insert = |pcb, text: &[u8]| call_of(b"ISRT", pcb, &[], &segment(text));
    let change = |pcb, to: &[u8; 8]| call_of(b"CHNG", pcb, &[], to);
    let read = [get(b"GU  "), get(b"GN  "), get(b"GN  ")];
    let answers = [insert(0, b"DONE"), insert(0, b"AND MORE"), insert(1, b"PRINTED")];
    let hands_on = [change(2, b"NEXT    "), insert(2, b"NEXT 1"), call_of(b"PURG", 2, &[], b"")];
    let expresses = [
        change(3, b"TERM9   "),
        insert(3, b"AT ONCE"),
        call_of(b"PURG", 3, &[b"MODNAME1"], &segment(b"AND AGAIN")),
    ];
    let responds = [change(4, b"TERM0   "), insert(4, b"INSTEAD"), insert(5, b"SAME")];
    let others = [
        call_of(b"SETO", 2, &[b"PRTO=\0\x08"], b"OPTIONS"),
        call_of(b"AUTH", 0, &[], b"\0\x14\0\0TRAN    NEXT    "),
        call_of(b"SETS", 0, &[b"TOK1"], b"KEPT"),
        insert(1, b"FORGOTTEN"),
        call_of(b"ROLS", 0, &[b"TOK1"], &[b' '; 8]),
        call_of(b"ROLB", 0, &[], &room),
        call_of(b"CHKP", 0, &[], b"CHKP0001"),
    ];
    let talks = [
        call_of(b"ISRT", 0, &[], &spa(b"TALK    ")),
        insert(0, b"GO ON"),
        get(b"GU  "),
        call_of(b"ISRT", 0, &[], &spa(b"        ")),
        call_of(b"ISRT", 2, &[], &spa(b"NEXT    ")),
    ];
    let program = |flags: u8, calls: &[&[Vec<u8>]]| {
        let calls = calls.iter().flat_map(|calls| calls.iter().flat_map(|call| framed(call)));
        std::iter::once(flags).chain(calls).collect::<Vec<u8>>()
    };
    let again = [get(b"GU  "), insert(0, b"DONE"), get(b"GU  ")];
    vec![
        program(0, &[&read, &answers, &again]),
        program(MULTIPLE, &[&read, &hands_on, &again, &expresses]),
        program(DIRECT, &[&read, &hands_on, &answers]),
        program(ABENDS, &[&read, &expresses, &answers]),
        program(0, &[&read, &responds]),
        program(MULTIPLE | DIRECT, &[&read, &others, &again]),
        program(0, &[&read, &others]),
        program(TALKS, &[&read, &talks]),
        program(TALKS | DIRECT | ABENDS, &[&read, &talks]),
        program(0, &[&read, &answers, &[crate::call_buffers::end()]]),
    ]
}
