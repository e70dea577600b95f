//! The proof of the transaction manager over the kernel: clients submit, regions process, clients
//! fetch, and the machine crashes at any write, with what everybody was told kept outside.
//!
//! Programs write the number of each input into a ledger in the store and answer with it; some hand
//! it on to another transaction, some end in a deadlock, some abend. After every restart, and when
//! everything has come to its end, this must hold:
//! 1. no input was processed twice;
//! 2. an input of mode 0 that was accepted is processed once, or is a dead letter, never both;
//! 3. an input of mode 1 whose client was told that it is committed was processed;
//! 4. the output of each processed input of mode 0 comes, and once its delivery was settled it
//!    never comes again;
//! 5. in the end nothing waits and nothing is in anybody's hands.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use control::{
    AlternatePcb, Control, Ending, NoSystem, Options, ProgramMessages, Region, Scheduled,
};
use otma::{
    CommitMode, Encoding, Event, Identity, Input, InputOptions, Manager, Name, Outcome, Partner,
    Refusal, Segments, Settlement, SyncLevel, Ticket,
};
use parking_lot::Mutex;
use queues::Kind;
use region::Abend;
use resources::{Change, Definition, Kind as ResourceKind};
use schedule::messages::{Messages, TerminalPcb};
use seal::Format;
use seam::Seam;
use seam::sim::{CrashStyle, End, EventKind, Rng, SimConfig, SimDisk};
use store::{Read, SetAttributes, SetId, Store, Unit, UnitOptions};
use store_kernel::{KernelStore, StoreDefaults};
use uow::Kernel;

use crate::dli::life::{created, machine};
use crate::machine::Make;
use crate::verify::{self, Wrong};

/// Transactions: the first two answer, `HAND` hands its input on to `LAST`.
const CODES: [&str; 4] = ["ONE", "TWO", "HAND", "LAST"];
/// Where outputs wait.
const CLIENTS: u64 = 2;
/// Regions at once.
const REGIONS: u64 = 2;
/// How often it is looked whether everything has come to its end.
const LOOK: Duration = Duration::from_millis(5);
/// How often at most.
const LOOKS_MAX: u32 = 20_000;

type Manages = Control<KernelStore>;

/// What clients know, whatever happens to the machine.
#[derive(Clone, Debug, Default)]
struct Known {
    next: u32,
    /// Inputs of mode 0 that were accepted.
    accepted: BTreeSet<u32>,
    /// Inputs of mode 1 that were told to be committed.
    committed: BTreeSet<u32>,
    /// Outputs that clients have, and asked to be settled: with a crash they may come once more.
    settling: BTreeSet<u32>,
    /// Outputs whose delivery was settled, durably.
    delivered: BTreeSet<u32>,
}

/// What the lives of a system were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lived {
    /// Crashes survived.
    pub crashes: u64,
    /// Inputs that were accepted or committed, as clients know.
    pub inputs: usize,
}

/// A client's ear for one input.
struct Ear {
    number: u32,
    direct: bool,
    known: Arc<Mutex<Known>>,
}

impl Partner for Ear {
    fn event(&self, _ticket: Ticket, event: Event) {
        let mut known = self.known.lock();
        let _ = match (event, self.direct) {
            (Event::Accepted, false) => known.accepted.insert(self.number),
            (Event::Ended(Outcome::Committed), true) => known.committed.insert(self.number),
            _ => false,
        };
    }
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap_or(Name::BLANK)
}

fn number_of(text: &str) -> u32 {
    text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

fn input(code: &str, number: u32, client: u64, direct: bool) -> Result<Input, Wrong> {
    let mut segments = Segments::new();
    let text = format!("{code} {number}");
    let pushed = segments.push([0; 2], text.as_bytes());
    pushed.map_err(|_| Wrong::Broken("a short segment is refused".into()))?;
    Ok(Input {
        transaction: name(code),
        segments,
        client: name(&format!("C{client}")),
        tpipe: Name::BLANK,
        terminal: Name::BLANK,
        mod_name: Name::BLANK,
        identity: Identity::default(),
        mode: if direct { CommitMode::SendThenCommit } else { CommitMode::CommitThenSend },
        sync_level: SyncLevel::None,
        encoding: Encoding::Ascii,
        options: InputOptions::default(),
        correlator: None,
    })
}

fn abend(code: &str) -> Abend {
    Abend { code: code.to_owned(), text: String::new() }
}

/// A started system.
struct Office {
    kernel: Arc<Kernel>,
    store: KernelStore,
    control: Manages,
    ledger: SetId,
    known: Arc<Mutex<Known>>,
}

impl Office {
    fn open(seam: &Seam, make: &Make, known: &Arc<Mutex<Known>>) -> Result<Office, Wrong> {
        let kernel = make.open(seam);
        let kernel = kernel.map_err(|error| Wrong::said(&error).when("it does not start"))?;
        let defaults = StoreDefaults {
            interval_bytes: make.ci_bytes,
            format: if make.sealed { Format::Sealed } else { Format::Plain },
            ..StoreDefaults::default()
        };
        let store = KernelStore::new(&kernel, defaults).map_err(|error| Wrong::said(&error))?;
        let options = Options { failures_max: u32::MAX, ..Options::default() };
        let control = Control::open(&store, seam, Arc::new(NoSystem), options);
        let control = control.map_err(|error| Wrong::said(&error))?;
        let ledger = match store.set("LEDGER").map_err(|error| Wrong::said(&error))? {
            Some(set) => set,
            None => {
                let made = store.create_set("LEDGER", &SetAttributes::default());
                made.map_err(|error| Wrong::said(&error))?
            }
        };
        let office = Office { kernel, store, control, ledger, known: Arc::clone(known) };
        office.define()?;
        Ok(office)
    }

    fn define(&self) -> Result<(), Wrong> {
        let mut changes = Vec::new();
        for code in CODES {
            let program = format!("P{code}");
            let mut one = Definition::new(ResourceKind::Transaction, name(code));
            one.set("PGM", &program).map_err(|error| Wrong::Broken(format!("{error:?}")))?;
            let program = Definition::new(ResourceKind::Program, name(&program));
            changes.extend([Change::Put(program), Change::Put(one)]);
        }
        self.control.apply(&changes).map(drop).map_err(|error| Wrong::said(&error))
    }

    /// Clients send so many inputs more.
    fn submit(&self, inputs: u32, rng: &mut Rng) -> Result<(), Wrong> {
        for _ in 0..inputs {
            let number = {
                let mut known = self.known.lock();
                known.next += 1;
                known.next
            };
            let (code, direct) = (CODES[rng.index(3)], rng.one_in(3));
            let one = input(code, number, rng.below(CLIENTS), direct)?;
            let ear = Arc::new(Ear { number, direct, known: Arc::clone(&self.known) });
            let submitted = self.control.submit(one, ear);
            submitted.map_err(|refusal| Wrong::Broken(format!("refused: {refusal:?}")))?;
            seam::thread::yield_now();
        }
        Ok(())
    }

    /// A region: takes programs until the system is to end.
    fn serve(&self, seed: u64) -> Result<(), Wrong> {
        let mut rng = Rng::stream(seed, "region");
        let region = self.control.region(&[1, 2, 3], "MPP1", false);
        while let Some(scheduled) = region.next() {
            let ending = self.run(&region, &scheduled, &mut rng)?;
            region.ended(scheduled, &ending);
        }
        Ok(())
    }

    /// A program, from its first message to its end.
    fn run(
        &self,
        region: &Region<KernelStore>,
        scheduled: &Scheduled<KernelStore>,
        rng: &mut Rng,
    ) -> Result<Ending, Wrong> {
        let pcb = AlternatePcb { number: 1, modifiable: true, ..Default::default() };
        let mut program = region.messages(scheduled, &[pcb]);
        loop {
            if rng.one_in(15) {
                return Ok(Ending::Lost);
            }
            match self.turn(&mut program, rng)? {
                Ok(true) => {}
                Ok(false) => return Ok(Ending::Normal),
                Err(Abend { code, text }) => return Ok(Ending::Abend { code, text }),
            }
        }
    }

    /// A unit of work of a program; `false` if no message was there.
    fn turn(
        &self,
        program: &mut ProgramMessages<KernelStore>,
        rng: &mut Rng,
    ) -> Result<Result<bool, Abend>, Wrong> {
        let begun = self.store.begin(UnitOptions::default());
        let mut unit = begun.map_err(|error| Wrong::said(&error))?;
        let text = match program.next_message(&mut unit) {
            Ok(Some(segment)) => String::from_utf8_lossy(&segment.bytes[4..]).into_owned(),
            Ok(None) => return Ok(Ok(false)),
            Err(abend) => return Ok(Err(abend)),
        };
        let done = match self.work(program, &mut unit, &text)? {
            () if rng.one_in(8) => Err(abend("U0777")),
            () if rng.one_in(12) => Err(abend("S0C7")),
            () => program.prepare(&mut unit),
        };
        if let Err(abend) = done {
            unit.backout().map_err(|error| Wrong::said(&error))?;
            program.backed_out(false);
            return Ok(Err(abend));
        }
        let queued = if rng.one_in(2) { program.queue() } else { None };
        let committed = match queued {
            Some((sink, token)) => unit.commit_queued(&sink, token),
            None => unit.commit().map(|_| program.committed()),
        };
        committed.map_err(|error| Wrong::said(&error)).map(|()| Ok(true))
    }

    /// What a program does with an input.
    fn work(
        &self,
        program: &mut ProgramMessages<KernelStore>,
        unit: &mut <KernelStore as Store>::Unit,
        text: &str,
    ) -> Result<(), Wrong> {
        let number = number_of(text);
        let (pcb, answer) = match text.starts_with("HAND") {
            true => {
                let changed = program.change(1, *b"LAST    ");
                if changed != *b"  " {
                    return Err(Wrong::Broken(format!("CHNG answers {changed:?}")));
                }
                (TerminalPcb::Alternate(1), format!("LAST {number}"))
            }
            false => {
                let (key, mut count) = (number.to_be_bytes(), Vec::new());
                let read = unit.get(self.ledger, &key, Read::Update, &mut count);
                read.map_err(|error| Wrong::said(&error))?;
                count.push(1);
                let put = unit.put(self.ledger, &key, &count);
                put.map_err(|error| Wrong::said(&error))?;
                (TerminalPcb::Io, format!("DONE {number}"))
            }
        };
        let length = (answer.len() as u16 + 4).to_be_bytes();
        let segment = [&length[..], &[0, 0], answer.as_bytes()].concat();
        match program.insert(pcb, &segment, None) {
            status if status == *b"  " => Ok(()),
            status => Err(Wrong::Broken(format!("ISRT answers {status:?}"))),
        }
    }

    /// A client fetches what waits for it.
    fn fetch(&self, client: u64, rng: &mut Rng) -> Result<(), Wrong> {
        let tpipe = name(&format!("C{client}"));
        let refused = |refusal: Refusal| Wrong::Broken(format!("{tpipe}: {refusal:?}"));
        while let Some(output) = self.control.take(tpipe).map_err(refused)? {
            let first = output.segments.data().next().map(<[u8]>::to_vec).unwrap_or_default();
            let text = String::from_utf8_lossy(&first).into_owned();
            // What else comes tells of programs that failed.
            let number = if text.starts_with("DONE") { number_of(&text) } else { 0 };
            if self.known.lock().delivered.contains(&number) {
                return Err(Wrong::Broken(format!("output {number} comes again")));
            }
            let settlement = match rng.one_in(6) {
                true => Settlement::Kept,
                false => Settlement::Delivered,
            };
            if settlement == Settlement::Delivered {
                self.known.lock().settling.insert(number);
            }
            let known = Arc::clone(&self.known);
            let done = Box::new(move |done: Result<(), Refusal>| {
                if number > 0 && done.is_ok() && settlement == Settlement::Delivered {
                    known.lock().delivered.insert(number);
                }
            });
            let settled = self.control.settle(tpipe, output.id, settlement, done);
            settled.map_err(refused)?;
            seam::thread::yield_now();
        }
        Ok(())
    }

    /// How often an input was processed.
    fn processed(&self, number: u32) -> Result<usize, Wrong> {
        let unit = self.store.begin(UnitOptions::READ_ONLY);
        let mut unit = unit.map_err(|error| Wrong::said(&error))?;
        let mut count = Vec::new();
        let read = unit.get(self.ledger, &number.to_be_bytes(), Read::Shared, &mut count);
        read.map_err(|error| Wrong::said(&error))?;
        unit.backout().map_err(|error| Wrong::said(&error))?;
        Ok(count.len())
    }

    /// What must hold at any time.
    fn judge(&self) -> Result<(), Wrong> {
        let known = self.known.lock().clone();
        for number in 1..=known.next {
            let count = self.processed(number)?;
            if count > 1 {
                return Err(Wrong::Broken(format!("input {number} was processed {count} times")));
            }
            if count == 0 && known.committed.contains(&number) {
                return Err(Wrong::Broken(format!(
                    "input {number} was committed and is not there"
                )));
            }
            if count == 0 && known.delivered.contains(&number) {
                return Err(Wrong::Broken(format!("output {number} has no input")));
            }
        }
        Ok(())
    }

    /// Whether every input has come to its end and every output was fetched.
    fn is_done(&self) -> bool {
        let left = |kind| {
            let all = self.control.queues(kind);
            all.iter().map(|(_, figures)| figures.waiting + figures.taken).sum::<u64>()
        };
        self.control.is_quiet() && left(Kind::Input) + left(Kind::Output) == 0
    }

    /// What must hold when everything has come to its end.
    fn judge_the_end(&self) -> Result<(), Wrong> {
        self.judge()?;
        let mut dead = BTreeSet::new();
        for code in CODES {
            let letters = self.control.dead_letters(name(code), 10_000);
            for letter in letters.map_err(|error| Wrong::said(&error))? {
                let first = letter.segments.data().next().map(<[u8]>::to_vec).unwrap_or_default();
                let number = number_of(&String::from_utf8_lossy(&first));
                if !dead.insert(number) {
                    return Err(Wrong::Broken(format!("dead letter {number} is there twice")));
                }
            }
        }
        let known = self.known.lock().clone();
        for number in &known.accepted {
            let (count, is_dead) = (self.processed(*number)?, dead.contains(number));
            if count + usize::from(is_dead) != 1 {
                let what = format!("input {number}: processed {count}, dead letter {is_dead}");
                return Err(Wrong::Broken(what));
            }
            if known.settling.contains(number) != (count == 1) {
                return Err(Wrong::Broken(format!("the output of input {number} never came")));
            }
        }
        Ok(())
    }
}

/// One life: starts, judges, processes what is left and some more, and ends in order.
fn live(seam: &Seam, make: &Make, known: &Arc<Mutex<Known>>, plan: Plan) -> Result<(), Wrong> {
    let office = Arc::new(Office::open(seam, make, known)?);
    office.judge()?;
    let wrong = Arc::new(Mutex::new(None));
    let regions = (0..REGIONS).map(|region| {
        let (office, wrong) = (Arc::clone(&office), Arc::clone(&wrong));
        seam::thread::spawn(&format!("region {region}"), move || {
            if let Err(why) = office.serve(plan.seed ^ region) {
                *wrong.lock() = Some(why);
            }
        })
    });
    let regions: Vec<_> = regions.collect();
    let mut rng = Rng::stream(plan.seed, "clients");
    office.submit(plan.inputs, &mut rng)?;
    for look in 0.. {
        if wrong.lock().is_some() || (look > 0 && office.is_done()) {
            break;
        }
        if look == LOOKS_MAX {
            return Err(Wrong::Broken("it does not come to its end".into()));
        }
        for client in 0..CLIENTS {
            office.fetch(client, &mut rng)?;
        }
        seam.clock.sleep(LOOK);
    }
    office.control.shut_down();
    for region in regions {
        region.map_err(|error| Wrong::Broken(error.to_string()))?.join();
    }
    if let Some(why) = wrong.lock().take() {
        return Err(why);
    }
    office.judge_the_end()?;
    let kernel = Arc::clone(&office.kernel);
    drop(office);
    verify::check_sets(&kernel)?;
    verify::wait_for_quiet(&kernel)?;
    kernel.close().map_err(|error| Wrong::said(&error).when("it does not stop"))
}

/// What is drawn for one life.
#[derive(Clone, Copy)]
struct Plan {
    seed: u64,
    inputs: u32,
}

/// Lives of a system that is crashed at random writes, and comes to its end.
///
/// # Errors
/// The first thing that is wrong.
pub fn live_through(seed: u64) -> Result<Lived, String> {
    lives(seed).map_err(|why| why.to_string())
}

fn lives(seed: u64) -> Result<Lived, Wrong> {
    let mut rng = Rng::stream(seed, "online");
    let make = machine(&mut rng);
    let mut disk = created(&make, seed)?;
    let known = Arc::new(Mutex::new(Known::default()));
    let crashes = 1 + rng.below(4);
    let mut life = 0;
    loop {
        if life < crashes {
            let writes = [20, 60, 200][rng.index(3)];
            disk.crash_after(5 + rng.below(writes));
        }
        let plan = Plan { seed: rng.word() >> 1, inputs: 4 + rng.below(8) as u32 };
        let (make, told) = (make.clone(), Arc::clone(&known));
        let body = move |seam: &Seam| live(seam, &make, &told, plan);
        let (outcome, result) = verify::run_to_end(SimConfig::new(plan.seed), &disk, body);
        match (&outcome.end, result) {
            (End::Completed, Some(result)) => {
                result.map_err(|why| why.when(&format!("life {life}")))?;
                if life >= crashes {
                    break;
                }
            }
            (End::Crashed, _) => {}
            _ => return Err(Wrong::Broken(format!("life {life}: {outcome}"))),
        }
        life += 1;
        let style = [CrashStyle::DropAll, CrashStyle::Random, CrashStyle::TearAll][rng.index(3)];
        disk = disk.crash_image(&mut rng, style);
    }
    let known = known.lock();
    Ok(Lived { crashes, inputs: known.accepted.len() + known.committed.len() })
}

/// One life whose disk is kept at each of its writes and syncs; each of these disks is crashed, and
/// the system comes to its end there. Answers how many there were.
///
/// # Errors
/// The first disk on which something is wrong.
pub fn sweep(make: &Make, seed: u64, inputs: u32) -> Result<usize, Wrong> {
    let disk = created(make, seed)?;
    let known = Arc::new(Mutex::new(Known::default()));
    let points: Arc<Mutex<Vec<(String, SimDisk, Known)>>> = Arc::default();
    let (into, told) = (Arc::clone(&points), Arc::clone(&known));
    disk.observe(move |disk, event| {
        if matches!(event.kind, EventKind::Write | EventKind::Sync | EventKind::SyncDir) {
            let what = format!("{:?} of {}", event.kind, event.path.display());
            into.lock().push((what, disk.snapshot(), told.lock().clone()));
        }
    });
    let once = |disk: &SimDisk, known: &Arc<Mutex<Known>>, plan: Plan| {
        let (make, known) = (make.clone(), Arc::clone(known));
        verify::run(plan.seed, disk, move |seam| live(seam, &make, &known, plan))
    };
    once(&disk, &known, Plan { seed, inputs })?;
    disk.stop_observing();
    let mut rng = Rng::stream(seed, "online sweep");
    let mut images = 0;
    for (number, (what, disk, there)) in std::mem::take(&mut *points.lock()).into_iter().enumerate()
    {
        for style in [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random] {
            let image = disk.crash_image(&mut rng, style);
            let known = Arc::new(Mutex::new(there.clone()));
            images += 1;
            let plan = Plan { seed: rng.word() >> 1, inputs: 1 };
            once(&image, &known, plan).map_err(|why| {
                why.when(&format!("seed {seed}, crashed at event {number}, {what} ({style:?})"))
            })?;
        }
    }
    Ok(images)
}
