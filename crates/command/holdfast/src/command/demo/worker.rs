//! The working process: opens the system and transfers until it is told to end, or is killed.
//!
//! 1. A transfer is reported as acknowledged only once its commit is durable.
//! 2. It ends when its standard input does: in order, and also if the watching process dies.

use std::io::{self, Read as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use base::Coded;
use base::stats::{Counter, Histogram};
use clap::Args;
use seal::Passphrase;
use seam::Seam;
use seam::sync::{Condvar, Mutex};
use store::{CommitSink, Committed, Store, StoreError, Unit, UnitOptions};
use system::System;

use super::bank::{Bank, Number, Transfer};
use super::frames::{Frame, Progress, Ready};
use crate::operate::options;

/// The process that `demo` starts, kills and starts again
#[derive(Args, Clone, Debug)]
pub(crate) struct WorkerArgs {
    /// The system's folder; the passphrase is the first line of standard input
    pub(crate) dir: PathBuf,
    /// Which life of the process this is
    #[arg(long)]
    pub(crate) run: u32,
    /// Threads that transfer
    #[arg(long, default_value_t = 2)]
    pub(crate) threads: u16,
    /// Transfers that each thread has in flight
    #[arg(long, default_value_t = 64)]
    pub(crate) window: usize,
    /// Accounts of the bank
    #[arg(long)]
    pub(crate) accounts: u32,
    /// Transfers that it makes at most
    #[arg(long)]
    pub(crate) transfers: Option<u64>,
}

/// How often acknowledgements are reported, and how often figures.
const REPORT: Duration = Duration::from_millis(10);
const FIGURES_EACH: u32 = 20;
/// Times that a transfer is tried before its error counts.
const TRIES_MAX: u32 = 100;

/// Runs until standard input ends. Errors have been reported as a frame.
pub(crate) fn work(seam: &Seam, args: &WorkerArgs) -> bool {
    let done = try_to_work(seam, args);
    if let Err(text) = &done {
        // If even that cannot be written, there is no reader of it.
        let _ = Frame::Error(text.clone()).write(&mut io::stdout());
    }
    done.is_ok()
}

fn explained(error: &dyn Coded) -> String {
    format!("{error} ({})\n{}", error.code(), error.remedy())
}

fn try_to_work(seam: &Seam, args: &WorkerArgs) -> Result<(), String> {
    let start = seam.clock.monotonic();
    let passphrase = first_line()?;
    let system = System::open(seam, &args.dir, &passphrase, options());
    let system = system.map_err(|error| explained(&error))?;
    let bank = Bank::find(system.store()).map_err(|error| explained(&error))?;
    let bank = bank.ok_or("there is no bank in this system\nLet `holdfast demo` make it.")?;
    let open_ms = (seam.clock.monotonic() - start).as_secs_f64() * 1e3;
    say(&Frame::Ready(json(&Ready { open_ms })))?;
    let office = Arc::new(Office::new(seam, args));
    let threads = start_threads(&system, bank, args, &office)?;
    let ended = Arc::clone(&office);
    let watch = move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        ended.ended.store(true, Ordering::SeqCst);
    };
    seam::thread::spawn("stdin", watch).map_err(|error| format!("{error}\n"))?;
    let mut rounds = 0_u32;
    while !office.ended.load(Ordering::SeqCst) {
        seam.clock.sleep(REPORT);
        office.report()?;
        rounds += 1;
        if rounds.is_multiple_of(FIGURES_EACH) {
            say(&Frame::SoFar(json(&office.figures(&system))))?;
        }
    }
    office.settled.notify_all();
    threads.into_iter().for_each(seam::thread::JoinHandle::join);
    system.store().wait_durable().map_err(|error| explained(&error))?;
    office.wait_for_all();
    office.report()?;
    let figures = office.figures(&system);
    system.close().map_err(|error| explained(&error))?;
    say(&Frame::Finished(json(&figures)))
}

/// The passphrase, and not a byte more.
fn first_line() -> Result<Passphrase, String> {
    let mut line = Vec::with_capacity(4096);
    let mut byte = [0];
    while line.len() < 4096 {
        match io::stdin().read(&mut byte) {
            Ok(1) if byte[0] != b'\n' => line.push(byte[0]),
            _ => break,
        }
    }
    Ok(Passphrase::new(line))
}

fn say(frame: &Frame) -> Result<(), String> {
    frame.write(&mut io::stdout()).map_err(|error| format!("nobody listens: {error}\n"))
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Where transfers in flight are known.
struct Office {
    seam: Seam,
    run: u32,
    window: usize,
    /// How many transfers may yet be begun.
    left: AtomicU64,
    started: Duration,
    started_cpu_us: u64,
    ended: AtomicBool,
    /// What is acknowledged and not yet reported.
    acknowledged: Mutex<Vec<(u16, u64)>>,
    settled: Condvar,
    /// One for each thread.
    lanes: Vec<Lane>,
    responses: Histogram,
    transfers: Counter,
    refused: Counter,
    failure: Mutex<Option<String>>,
}

struct Lane {
    /// Transfers begun, and those of them that are settled.
    begun: AtomicU64,
    settled: AtomicU64,
    /// When each transfer in flight was begun, in nanoseconds.
    times: Vec<AtomicU64>,
}

impl Office {
    fn new(seam: &Seam, args: &WorkerArgs) -> Office {
        let lane = |_| Lane {
            begun: AtomicU64::new(0),
            settled: AtomicU64::new(0),
            times: (0..args.window).map(|_| AtomicU64::new(0)).collect(),
        };
        Office {
            seam: seam.clone(),
            run: args.run,
            window: args.window,
            left: AtomicU64::new(args.transfers.unwrap_or(u64::MAX)),
            started: seam.clock.monotonic(),
            started_cpu_us: seam::clock::process_cpu_us(),
            ended: AtomicBool::new(false),
            acknowledged: Mutex::default(),
            settled: Condvar::new(),
            lanes: (0..args.threads).map(lane).collect(),
            responses: Histogram::default(),
            transfers: Counter::default(),
            refused: Counter::default(),
            failure: Mutex::default(),
        }
    }

    fn now_ns(&self) -> u64 {
        self.seam.clock.monotonic().as_nanos() as u64
    }

    /// Tells the watching process what is acknowledged, or why no more will be.
    fn report(&self) -> Result<(), String> {
        let numbers = std::mem::take(&mut *self.acknowledged.lock());
        if !numbers.is_empty() {
            say(&Frame::Acknowledged(numbers))?;
        }
        self.failure.lock().take().map_or(Ok(()), Err)
    }

    fn figures(&self, system: &System) -> Progress {
        let responses = self.responses.quantiles();
        let status = system.status();
        Progress {
            transfers: self.transfers.get(),
            refused: self.refused.get(),
            seconds: (self.seam.clock.monotonic() - self.started).as_secs_f64(),
            cpu_us: seam::clock::process_cpu_us() - self.started_cpu_us,
            response_us_p50: responses.p50,
            response_us_p99: responses.p99,
            log_bytes: status.log.bytes + status.log.padding_bytes,
            log_groups: status.log.groups,
            serial_share: status.serial.share,
        }
    }

    /// Waits until a thread has room for another transfer, and one may be begun. `false` when it
    /// shall end.
    fn wait_for_room(&self, lane: &Lane) -> bool {
        let is_full = || {
            let settled = lane.settled.load(Ordering::Acquire);
            lane.begun.load(Ordering::Relaxed) - settled >= self.window as u64
        };
        if is_full() {
            let mut waiting = self.acknowledged.lock();
            while is_full() && !self.ended.load(Ordering::SeqCst) {
                self.settled.wait_for(&mut waiting, Duration::from_millis(100));
            }
        }
        !self.ended.load(Ordering::SeqCst) && self.take_one()
    }

    /// Takes one of the transfers that may yet be begun. `false` if there is none.
    fn take_one(&self) -> bool {
        let less = |left: u64| left.checked_sub(1);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    fn wait_for_all(&self) {
        let mut waiting = self.acknowledged.lock();
        let in_flight =
            |lane: &Lane| lane.begun.load(Ordering::Acquire) > lane.settled.load(Ordering::Acquire);
        for _ in 0..100 {
            if !self.lanes.iter().any(in_flight) {
                return;
            }
            self.settled.wait_for(&mut waiting, Duration::from_millis(50));
        }
    }

    fn fail(&self, text: String) {
        self.failure.lock().get_or_insert(text);
    }
}

const SEQUENCE_BITS: u32 = 48;

impl CommitSink for Office {
    fn settled(&self, token: u64, outcome: Result<Committed, StoreError>) {
        let (thread, sequence) = (token >> SEQUENCE_BITS, token & ((1 << SEQUENCE_BITS) - 1));
        let lane = &self.lanes[thread as usize];
        match outcome {
            Ok(_) => {
                let begun = lane.times[sequence as usize % self.window].load(Ordering::Relaxed);
                self.responses.record(self.now_ns().saturating_sub(begun) / 1_000);
                self.transfers.one();
                self.acknowledged.lock().push((thread as u16, sequence));
            }
            Err(error) => self.fail(explained(&error)),
        }
        lane.settled.fetch_add(1, Ordering::Release);
    }

    fn batch_settled(&self) {
        self.settled.notify_all();
    }
}

fn start_threads(
    system: &System,
    bank: Bank,
    args: &WorkerArgs,
    office: &Arc<Office>,
) -> Result<Vec<seam::thread::JoinHandle>, String> {
    let mut handles = Vec::new();
    for thread in 0..args.threads {
        let (store, office, accounts) = (system.store().clone(), Arc::clone(office), args.accounts);
        let mut seed = [0; 8];
        office.seam.entropy.fill(&mut seed).map_err(|error| format!("{error}\n"))?;
        let dice = Dice(u64::from_le_bytes(seed) | 1);
        let body = move || {
            if let Err(error) = transfer_on(&store, bank, thread, accounts, dice, &office) {
                office.fail(explained(&error));
            }
        };
        let handle = seam::thread::spawn(&format!("teller-{thread}"), body);
        handles.push(handle.map_err(|error| format!("{error}\n"))?);
    }
    Ok(handles)
}

/// Transfers until the office closes.
fn transfer_on<S: Store>(
    store: &S,
    bank: Bank,
    thread: u16,
    accounts: u32,
    mut dice: Dice,
    office: &Arc<Office>,
) -> Result<(), StoreError> {
    let sink: Arc<dyn CommitSink> = Arc::clone(office) as Arc<dyn CommitSink>;
    let lane = &office.lanes[usize::from(thread)];
    let mut scratch = Vec::new();
    while office.wait_for_room(lane) {
        let sequence = lane.begun.load(Ordering::Relaxed);
        let number = Number { run: office.run, thread, sequence };
        let from = dice.below(accounts);
        let to = (from + 1 + dice.below(accounts - 1)) % accounts;
        let transfer = Transfer { number, from, to, amount: 1 + i64::from(dice.below(100)) };
        lane.times[sequence as usize % office.window].store(office.now_ns(), Ordering::Relaxed);
        let token = u64::from(thread) << SEQUENCE_BITS | sequence;
        let mut options = UnitOptions::default();
        for last in (0..TRIES_MAX).map(|attempt| attempt + 1 == TRIES_MAX) {
            let mut unit = store.begin(options)?;
            match bank.transfer(&mut unit, &transfer, &mut scratch) {
                Ok(true) => {
                    lane.begun.fetch_add(1, Ordering::AcqRel);
                    if let Err(error) = unit.commit_queued(&sink, token) {
                        // The sink is not told: what was counted as begun counts as settled.
                        lane.settled.fetch_add(1, Ordering::Release);
                        return Err(error);
                    }
                    break;
                }
                Ok(false) => {
                    office.refused.one();
                    office.left.fetch_add(1, Ordering::Relaxed);
                    unit.backout()?;
                    break;
                }
                Err(error) if error.is_retryable() && !last => {
                    options.victim_count += 1;
                    unit.backout()?;
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Numbers that look like chance.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((base::hash::avalanche(self.0) >> 32) * u64::from(limit)) >> 32) as u32
    }
}
