//! The proof of the transaction manager over the kernel: clients submit, regions process, clients
//! fetch, and the machine crashes at any write, with what everybody was told kept outside.
//!
//! Programs write the number of each input into a ledger in the store and answer with it; some hand
//! it on to another transaction, some converse with a terminal, some end in a deadlock, some abend.
//! Some inputs expire, and operators stop a transaction and start it again. After every restart,
//! and when everything has come to its end, this must hold:
//! 1. no input was processed twice;
//! 2. an input of mode 0 that was accepted is processed once, or is a dead letter, never both;
//! 3. an input of mode 1 whose client was told that it is committed was processed, and answered
//!    before;
//! 4. the output of each processed input of mode 0 comes, and once its delivery was settled it
//!    never comes again;
//! 5. in the end nothing waits and nothing is in anybody's hands;
//! 6. inputs of mode 0 of one transaction are processed in the order in which they came, and their
//!    outputs come in it;
//! 7. no program is given an input that has expired;
//! 8. a scratch pad area is as far as the ledger that was changed in the same turns;
//! 9. what operators were told to be stopped is stopped after a restart.

mod known;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use control::{
    AlternatePcb, Control, Ending, NoSystem, Options, ProgramMessages, Region, Scheduled,
};
use otma::{
    CommitMode, Encoding, Identity, Input, InputOptions, Manager, Name, Reason, Refusal, Segments,
    Settlement, SyncLevel,
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

use self::known::{Ear, Known, Life};
use crate::dli::life::{created, machine};
use crate::machine::Make;
use crate::verify::{self, Wrong};

/// Transactions: the first two answer, `TALK` converses, `HAND` hands its input on to `LAST`.
const CODES: [&str; 5] = ["ONE", "TWO", "HAND", "TALK", "LAST"];
/// Those of them that clients send.
const SENT: usize = 4;
/// The one that operators stop and start.
const STOPPED: &str = "TWO";
/// Bytes of a scratch pad area; its last one counts turns.
const SPA_BYTES: usize = 20;
/// Turns of a conversation.
const TURNS: u8 = 4;
/// How long inputs live that do not live for ever.
const LIVES: Duration = Duration::from_millis(300);
/// How long programs are kept from them.
const TOO_LONG: Duration = Duration::from_millis(1_700);
/// Where outputs wait.
const CLIENTS: u64 = 2;
/// Regions at once.
const REGIONS: u64 = 2;
/// How often it is looked whether everything has come to its end.
const LOOK: Duration = Duration::from_millis(5);
/// How often at most.
const LOOKS_MAX: u32 = 20_000;

type Manages = Control<KernelStore>;

/// What the lives of a system were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lived {
    /// Crashes survived.
    pub crashes: u64,
    /// Inputs that were accepted or committed, as clients know.
    pub inputs: usize,
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap_or(Name::BLANK)
}

fn number_of(text: &str) -> u32 {
    text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// The key under which the ledger has how far a transaction is.
fn place_of(code: &str) -> Vec<u8> {
    format!("LAST {code}").into_bytes()
}

fn broken(why: String) -> Wrong {
    Wrong::Broken(why)
}

fn input(code: &str, number: u32, client: u64, direct: bool) -> Result<Input, Wrong> {
    let mut segments = Segments::new();
    let text = format!("{code} {number} {}", if direct { 'D' } else { 'Q' });
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
    life: Life,
}

impl Office {
    fn open(seam: &Seam, make: &Make, known: &Arc<Mutex<Known>>) -> Result<Office, Wrong> {
        let kernel = make.open(seam);
        let kernel = kernel.map_err(|error| Wrong::refused(&error).when("it does not start"))?;
        let defaults = StoreDefaults {
            interval_bytes: make.ci_bytes,
            format: if make.sealed { Format::Sealed } else { Format::Plain },
            ..StoreDefaults::default()
        };
        let store = KernelStore::new(&kernel, defaults).map_err(|error| Wrong::refused(&error))?;
        let options = Options { failures_max: u32::MAX, ..Options::default() };
        let control = Control::open(&store, seam, Arc::new(NoSystem), options);
        let control = control.map_err(|error| Wrong::refused(&error))?;
        let ledger = match store.set("LEDGER").map_err(|error| Wrong::refused(&error))? {
            Some(set) => set,
            None => {
                let made = store.create_set("LEDGER", &SetAttributes::default());
                made.map_err(|error| Wrong::refused(&error))?
            }
        };
        let (known, life) = (Arc::clone(known), Life::default());
        let office = Office { kernel, store, control, ledger, known, life };
        office.judge_stopped()?;
        office.define()?;
        office.operate(true)?;
        Ok(office)
    }

    fn define(&self) -> Result<(), Wrong> {
        let mut changes = Vec::new();
        for code in CODES {
            let program = format!("P{code}");
            let mut one = Definition::new(ResourceKind::Transaction, name(code));
            let size = SPA_BYTES.to_string();
            let talks = [("CONV", "Y"), ("SPASZ", &size)];
            let more = if code == "TALK" { &talks[..] } else { &[] };
            for (attribute, value) in [&[("PGM", &*program)][..], more].concat() {
                one.set(attribute, value).map_err(|error| broken(format!("{error:?}")))?;
            }
            let program = Definition::new(ResourceKind::Program, name(&program));
            changes.extend([Change::Put(program), Change::Put(one)]);
        }
        self.control.apply(&changes).map(drop).map_err(|error| Wrong::refused(&error))
    }

    /// Whether what operators were told of the transaction that they stop is so.
    fn judge_stopped(&self) -> Result<(), Wrong> {
        let shown = self.control.command(&format!("/DIS TRAN {STOPPED}"), Name::BLANK);
        let is_stopped = shown.lines.iter().any(|line| line.contains("STATUS: STOP"));
        match self.known.lock().stopped {
            Some(shared) if shared != is_stopped => {
                Err(broken(format!("{STOPPED}: told {shared}, stopped {is_stopped}")))
            }
            _ => Ok(()),
        }
    }

    /// Operators stop a transaction, or start it.
    fn operate(&self, start: bool) -> Result<(), Wrong> {
        self.known.lock().stopped = None;
        let verb = if start { "START" } else { "STOP" };
        let answered = self.control.command(&format!("/{verb} TRAN {STOPPED}"), Name::BLANK);
        if !answered.done {
            return Err(broken(answered.lines.join("; ")));
        }
        self.known.lock().stopped = Some(!start);
        Ok(())
    }

    /// Clients send inputs that nobody processes in time.
    fn submit_too_early(&self, seam: &Seam, rng: &mut Rng) -> Result<(), Wrong> {
        self.submit(rng.below(3) as u32, Some(LIVES), rng)?;
        seam.clock.sleep(TOO_LONG);
        if rng.one_in(2) {
            self.control.tick();
        }
        Ok(())
    }

    fn now_ms(&self) -> u64 {
        self.kernel.seam().clock.utc_us() / 1_000
    }

    /// Clients send so many inputs more.
    fn submit(&self, inputs: u32, lives: Option<Duration>, rng: &mut Rng) -> Result<(), Wrong> {
        for _ in 0..inputs {
            let number = self.known.lock().number();
            let (code, direct) = (CODES[rng.index(SENT)], rng.one_in(3));
            let mut one = input(code, number, rng.below(CLIENTS), direct)?;
            one.options.expires_in = lives;
            let ear = Arc::new(Ear { number, direct, known: Arc::clone(&self.known) });
            match self.control.submit(one, ear) {
                // A conversation has one input at a time.
                Err(refusal) if refusal.reason == Reason::Conversation => {}
                submitted => {
                    submitted.map_err(|refusal| broken(format!("refused: {refusal:?}")))?;
                    if let Some(lives) = lives {
                        self.life.expires(number, self.now_ms(), lives);
                    }
                }
            }
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
        let mut unit = begun.map_err(|error| Wrong::refused(&error))?;
        let asked_at = self.now_ms();
        let mut spa = None;
        let (mut text, terminal) = match program.next_message(&mut unit) {
            Ok(Some(segment)) => (segment.bytes.to_vec(), segment.io.map(|io| io.terminal)),
            Ok(None) => return Ok(Ok(false)),
            Err(abend) => return Ok(Err(abend)),
        };
        if program.is_scratch_pad(&text) {
            let next = program.next_segment();
            let next = next.map_err(|status| broken(format!("GN answers {status:?}")))?;
            spa = Some(std::mem::replace(&mut text, next.bytes.to_vec()));
        }
        let mut text = String::from_utf8_lossy(&text[4..]).into_owned();
        if spa.is_some()
            && let Some(rest) = text.find(' ')
        {
            // Whatever a terminal sends within a conversation is for that, and in its order.
            text.replace_range(..rest, "TALK");
        }
        self.life.given(number_of(&text), asked_at).map_err(broken)?;
        // A program that fails ends its conversation; the ledger would not know.
        let may_fail = spa.is_none();
        if let Some(spa) = spa {
            self.converse(program, &mut unit, spa, &terminal.unwrap_or_default())?;
        }
        let done = match self.work(program, &mut unit, &text)? {
            () if rng.one_in(8) => Err(abend("U0777")),
            () if may_fail && rng.one_in(12) => Err(abend("S0C7")),
            () => program.prepare(&mut unit),
        };
        if let Err(abend) = done {
            unit.backout().map_err(|error| Wrong::refused(&error))?;
            program.backed_out(false);
            return Ok(Err(abend));
        }
        let queued = if rng.one_in(2) { program.queue() } else { None };
        let committed = match queued {
            Some((sink, token)) => unit.commit_queued(&sink, token),
            None => unit.commit().map(|_| program.committed()),
        };
        committed.map_err(|error| Wrong::refused(&error)).map(|()| Ok(true))
    }

    /// A turn of a conversation: its scratch pad area and the ledger count together.
    fn converse(
        &self,
        program: &mut ProgramMessages<KernelStore>,
        unit: &mut <KernelStore as Store>::Unit,
        mut spa: Vec<u8>,
        terminal: &[u8],
    ) -> Result<(), Wrong> {
        let (key, mut turns) = ([b"TURNS ", terminal].concat(), Vec::new());
        unit.get(self.ledger, &key, Read::Update, &mut turns).map_err(|e| Wrong::refused(&e))?;
        let kept = turns.first().copied().unwrap_or_default() % TURNS;
        let count = spa[SPA_BYTES - 1];
        if count != kept {
            return Err(broken(format!("the scratch pad counts {count} turns, the ledger {kept}")));
        }
        spa[SPA_BYTES - 1] = count + 1;
        if count + 1 == TURNS {
            spa[6..14].fill(b' ');
        }
        unit.put(self.ledger, &key, &[count + 1]).map_err(|error| Wrong::refused(&error))?;
        match program.insert(TerminalPcb::Io, &spa, None) {
            status if status == *b"  " => Ok(()),
            status => Err(broken(format!("ISRT of the scratch pad answers {status:?}"))),
        }
    }

    /// Notes that a transaction processes an input: none of mode 0 that came before may follow.
    fn keep_place(
        &self,
        unit: &mut <KernelStore as Store>::Unit,
        text: &str,
        number: u32,
    ) -> Result<(), Wrong> {
        let (Some(code), true) = (text.split(' ').next(), text.ends_with('Q')) else {
            return Ok(());
        };
        let (key, mut last) = (place_of(code), Vec::new());
        unit.get(self.ledger, &key, Read::Update, &mut last).map_err(|e| Wrong::refused(&e))?;
        let last = last.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
        if number == last || self.known.lock().came_before(number, last) {
            return Err(broken(format!("{code} was given input {number} behind input {last}")));
        }
        let put = unit.put(self.ledger, &key, &number.to_be_bytes());
        put.map(drop).map_err(|error| Wrong::refused(&error))
    }

    /// What a program does with an input.
    fn work(
        &self,
        program: &mut ProgramMessages<KernelStore>,
        unit: &mut <KernelStore as Store>::Unit,
        text: &str,
    ) -> Result<(), Wrong> {
        let number = number_of(text);
        self.keep_place(unit, text, number)?;
        let mut words = text.split(' ');
        let (code, mode) = (words.next().unwrap_or_default(), words.nth(1).unwrap_or_default());
        let (pcb, answer) = match code {
            "HAND" => {
                let changed = program.change(1, *b"LAST    ");
                if changed != *b"  " {
                    return Err(broken(format!("CHNG answers {changed:?}")));
                }
                (TerminalPcb::Alternate(1), format!("LAST {number} {mode}"))
            }
            _ => {
                let (key, mut count) = (number.to_be_bytes(), Vec::new());
                let read = unit.get(self.ledger, &key, Read::Update, &mut count);
                read.map_err(|error| Wrong::refused(&error))?;
                count.push(1);
                let put = unit.put(self.ledger, &key, &count);
                put.map_err(|error| Wrong::refused(&error))?;
                (TerminalPcb::Io, format!("DONE {number} {code} {mode}"))
            }
        };
        let length = (answer.len() as u16 + 4).to_be_bytes();
        let segment = [&length[..], &[0, 0], answer.as_bytes()].concat();
        match program.insert(pcb, &segment, None) {
            status if status == *b"  " => Ok(()),
            status => Err(broken(format!("ISRT answers {status:?}"))),
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
            let fetched = self.life.fetched(&self.known.lock(), client, &text, number);
            fetched.map_err(broken)?;
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
        let mut unit = unit.map_err(|error| Wrong::refused(&error))?;
        let mut count = Vec::new();
        let read = unit.get(self.ledger, &number.to_be_bytes(), Read::Shared, &mut count);
        read.map_err(|error| Wrong::refused(&error))?;
        unit.backout().map_err(|error| Wrong::refused(&error))?;
        Ok(count.len())
    }

    /// What must hold at any time.
    fn judge(&self) -> Result<(), Wrong> {
        let known = self.known.lock().clone();
        if let Some(why) = known.wrong() {
            return Err(broken(why));
        }
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
            for letter in letters.map_err(|error| Wrong::refused(&error))? {
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
    let mut rng = Rng::stream(plan.seed, "clients");
    office.submit_too_early(seam, &mut rng)?;
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
    office.submit(plan.inputs, None, &mut rng)?;
    if rng.one_in(2) {
        office.operate(false)?;
        seam.clock.sleep(LOOK);
        office.operate(true)?;
    }
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
    kernel.close().map_err(|error| Wrong::refused(&error).when("it does not stop"))
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
        let (make, shared) = (make.clone(), Arc::clone(&known));
        let body = move |seam: &Seam| live(seam, &make, &shared, plan);
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
    let (into, shared) = (Arc::clone(&points), Arc::clone(&known));
    disk.observe(move |disk, event| {
        if matches!(event.kind, EventKind::Write | EventKind::Sync | EventKind::SyncDir) {
            let what = format!("{:?} of {}", event.kind, event.path.display());
            into.lock().push((what, disk.snapshot(), shared.lock().clone()));
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
