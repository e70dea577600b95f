//! Three nodes with a synchronous standby: leaders die and freeze under load, and every unit of
//! work that was acknowledged is there once, every other one not at all.
//!
//! It takes minutes and Debian's packages etcd-server and patroni, so that it runs only where
//! HOLDFAST_FAILOVERS says how many leaders are to be lost; `make soak` does.
#![allow(clippy::disallowed_methods)] // servers and their leases take real time

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::Nodes;
use holdfast_store_postgres::{EngineOptions, EngineStore};
use seam::Seam;
use seam::sync::Mutex;
use store::{
    CommitToken, Read, Resolution, Result, SetAttributes, SetId, Store, StoreError, Unit,
    UnitOptions,
};

const WORKERS: u64 = 4;
const ACCOUNTS: u64 = 40;
const BALANCE: i64 = 1_000;
/// How long a cluster may be without a leader that takes commits.
const GAP_MAX: Duration = Duration::from_secs(180);

/// One worker's ledger, which the engine's data has to agree with.
#[derive(Default)]
struct Ledger {
    acknowledged: u64,
    unknown: Vec<CommitToken>,
    refused: u64,
}

struct Bank<'a> {
    nodes: &'a Nodes,
    store: &'a EngineStore,
    set: SetId,
    commits: AtomicU64,
    over: AtomicBool,
    /// The last refusal, for whoever looks for why nothing goes on.
    refusal: Mutex<String>,
}

fn number(store: &mut impl Unit, set: SetId, key: &[u8]) -> Result<i64> {
    let mut value = Vec::new();
    let there = store.get(set, key, Read::Update, &mut value)?;
    let bytes = value.as_slice().try_into().unwrap_or_default();
    Ok(if there { i64::from_le_bytes(bytes) } else { 0 })
}

impl Bank<'_> {
    /// Moves one from an account to another, and counts the worker's unit of work.
    fn transfer(&self, worker: u64, turn: u64) -> Result<()> {
        let mut unit = self.store.begin(UnitOptions::default())?;
        let counter = format!("worker {worker}");
        let from = format!("account {:03}", (turn * 7 + worker * 10) % ACCOUNTS);
        let to = format!("account {:03}", (turn * 11 + worker * 3 + 1) % ACCOUNTS);
        let done = number(&mut unit, self.set, counter.as_bytes())?;
        unit.put(self.set, counter.as_bytes(), &(done + 1).to_le_bytes())?;
        let one = number(&mut unit, self.set, from.as_bytes())?;
        unit.put(self.set, from.as_bytes(), &(one - 1).to_le_bytes())?;
        let other = number(&mut unit, self.set, to.as_bytes())?;
        unit.put(self.set, to.as_bytes(), &(other + 1).to_le_bytes())?;
        unit.commit().map(drop)
    }

    fn work(&self, worker: u64) -> Ledger {
        let mut ledger = Ledger::default();
        let mut turn = 0;
        while !self.over.load(Ordering::Relaxed) {
            turn += 1;
            match self.transfer(worker, turn) {
                Ok(()) => {
                    ledger.acknowledged += 1;
                    self.commits.fetch_add(1, Ordering::Relaxed);
                }
                Err(StoreError::CommitUnknown(token)) => ledger.unknown.push(token),
                Err(error) => {
                    ledger.refused += 1;
                    *self.refusal.lock() = error.to_string();
                    if !error.is_retryable() {
                        thread::sleep(Duration::from_millis(100));
                    }
                }
            }
        }
        ledger
    }

    /// Waits until something is committed again; how long that took.
    fn goes_on(&self) -> Duration {
        let (begun, before) = (Instant::now(), self.commits.load(Ordering::Relaxed));
        while self.commits.load(Ordering::Relaxed) < before + 2 * WORKERS {
            if begun.elapsed() > GAP_MAX {
                let (leader, standbys) = (self.nodes.leader(), self.nodes.ask("standbys"));
                let refusal = self.refusal.lock();
                panic!(
                    "nothing is committed: {leader:?} leads {standbys}, last error {}",
                    *refusal
                );
            }
            thread::sleep(Duration::from_millis(20));
        }
        begun.elapsed()
    }
}

/// Loses one leader: it dies, or it freezes and comes back when another one leads.
fn lose_leader(bank: &Bank<'_>, freezes: bool) -> Duration {
    let nodes = bank.nodes;
    bank.goes_on();
    let leader = nodes.leader().expect("somebody leads");
    nodes.ask(&format!("{} {leader}", if freezes { "freeze" } else { "kill" }));
    let gap = bank.goes_on();
    nodes.ask(&format!("{} {leader}", if freezes { "thaw" } else { "start" }));
    let begun = Instant::now();
    while nodes.ask("standbys") != "1 2" {
        assert!(begun.elapsed() < GAP_MAX, "node {leader} does not come back");
        thread::sleep(Duration::from_secs(1));
    }
    gap
}

#[test]
fn leaders_are_lost_under_load_and_no_unit_of_work_is() {
    let Some(failovers) = std::env::var("HOLDFAST_FAILOVERS").ok() else {
        eprintln!("left out: HOLDFAST_FAILOVERS says how many leaders are to be lost");
        return;
    };
    let failovers: u32 = failovers.parse().expect("HOLDFAST_FAILOVERS is a number");
    let nodes = Nodes::start();
    let options = EngineOptions { schema: "nodes".into(), ..EngineOptions::default() };
    EngineStore::create(&nodes.url(), &options, &Seam::real()).unwrap();
    let store = EngineStore::open(&nodes.url(), options, &Seam::real()).unwrap();
    let set = store.create_set("BANK", &SetAttributes::default()).unwrap();
    let mut unit = store.begin(UnitOptions::default()).unwrap();
    for account in 0..ACCOUNTS {
        let key = format!("account {account:03}");
        unit.put(set, key.as_bytes(), &BALANCE.to_le_bytes()).unwrap();
    }
    unit.commit().unwrap();
    let bank = Bank {
        nodes: &nodes,
        store: &store,
        set,
        commits: AtomicU64::new(0),
        over: AtomicBool::new(false),
        refusal: Mutex::default(),
    };
    let ledgers: Vec<Ledger> = thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                scope.spawn({
                    let bank = &bank;
                    move || bank.work(worker)
                })
            })
            .collect();
        let may_freeze = nodes.ask("sound") == "yes";
        if !may_freeze {
            eprintln!("no leader freezes: this Patroni would take it back for the leader");
        }
        for turn in 0..failovers {
            let freezes = may_freeze && turn % 2 == 1;
            let gap = lose_leader(&bank, freezes);
            let how = if freezes { "froze" } else { "died" };
            eprintln!(
                "leader {} {how}: {:.1} s until the next commits",
                turn + 1,
                gap.as_secs_f64()
            );
        }
        bank.over.store(true, Ordering::Relaxed);
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    agree(&store, set, &ledgers);
}

/// What the engine has is what was acknowledged, and what turned out to be committed.
fn agree(store: &EngineStore, set: SetId, ledgers: &[Ledger]) {
    let mut unit = store.begin(UnitOptions::default()).unwrap();
    for (worker, ledger) in ledgers.iter().enumerate() {
        let resolved = ledger.unknown.iter().map(|token| store.resolve(*token).unwrap());
        let committed = resolved.filter(|one| *one == Resolution::Committed).count() as u64;
        let counted = number(&mut unit, set, format!("worker {worker}").as_bytes()).unwrap();
        eprintln!(
            "worker {worker}: {} acknowledged, {} in doubt ({committed} of them committed), {} refused",
            ledger.acknowledged,
            ledger.unknown.len(),
            ledger.refused
        );
        assert_eq!(counted as u64, ledger.acknowledged + committed, "of worker {worker}");
    }
    let balances = (0..ACCOUNTS)
        .map(|account| number(&mut unit, set, format!("account {account:03}").as_bytes()).unwrap());
    assert_eq!(balances.sum::<i64>(), ACCOUNTS as i64 * BALANCE, "money came or went");
}
