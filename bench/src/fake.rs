//! A kernel for the benchmarks' own tests: maps in memory, durable when somebody waits.
//!
//! It keeps the promises of [`crate::ours`] in the laziest way, so that a benchmark that counts
//! what is not durable, or has more in flight than it says, is found out.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::error::{BenchError, Result};
use crate::ours::{
    Kernel, Log, LogSetup, Position, Recovery, Restart, Sealer, Session, Store, StoreSetup,
};
use crate::workload::{Key, Value};

/// Everything it makes is empty and forgets itself when dropped.
pub(crate) struct FakeKernel;

/// A counter of positions that become durable when waited for.
#[derive(Default)]
pub(crate) struct Positions {
    last: AtomicU64,
    durable: AtomicU64,
    /// The most that ever was not durable at once.
    pub(crate) waiting_max: AtomicU64,
}

impl Positions {
    fn append(&self, amount: u64) -> Position {
        let end = self.last.fetch_add(amount, SeqCst) + amount;
        self.waiting_max.fetch_max(end.saturating_sub(self.durable.load(SeqCst)), SeqCst);
        Position(end)
    }

    fn wait(&self, position: Position) {
        self.durable.fetch_max(position.0, SeqCst);
    }
}

/// A log that only counts.
#[derive(Default)]
pub(crate) struct FakeLog(pub(crate) Positions);

/// A store in a map.
#[derive(Default)]
pub(crate) struct FakeStore {
    pub(crate) positions: Positions,
    records: Mutex<BTreeMap<Key, Value>>,
}

struct FakeSession<'a>(&'a FakeStore);

struct FakeSealer;

impl FakeStore {
    /// The sum of all balances.
    pub(crate) fn balances(&self) -> u64 {
        let mut total = (0, 0);
        let records = self.records.lock().unwrap();
        records.values().for_each(|value| crate::peers::add_to_total(&mut total, value));
        total.1
    }
}

impl Kernel for FakeKernel {
    fn version(&self) -> String {
        "a fake".into()
    }

    fn sealer(&self) -> Result<Box<dyn Sealer>> {
        Ok(Box::new(FakeSealer))
    }

    fn create_log(&self, _: &LogSetup) -> Result<Box<dyn Log>> {
        Ok(Box::new(FakeLog::default()))
    }

    fn create_store(&self, _: &StoreSetup) -> Result<Box<dyn Store>> {
        Ok(Box::new(FakeStore::default()))
    }

    fn open_store(&self, _: &StoreSetup) -> Result<(Box<dyn Store>, Restart)> {
        Err(BenchError::subject("fake", "open a store", "it forgot"))
    }
}

impl Sealer for FakeSealer {
    fn seal(&mut self, place: u64, block: &mut [u8]) -> Result<()> {
        block.iter_mut().for_each(|byte| *byte ^= place as u8 | 1);
        Ok(())
    }

    fn open(&mut self, place: u64, block: &mut [u8]) -> Result<()> {
        self.seal(place, block)
    }
}

impl Log for FakeLog {
    fn append(&self, record: &[u8]) -> Result<Position> {
        Ok(self.0.append(record.len() as u64))
    }

    fn wait_durable(&self, position: Position) -> Result<()> {
        self.0.wait(position);
        Ok(())
    }
}

impl Store for FakeStore {
    fn load(&self, records: &mut dyn Iterator<Item = (Key, Value)>) -> Result<()> {
        self.records.lock().unwrap().extend(records);
        Ok(())
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(FakeSession(self)))
    }

    fn durable(&self) -> Position {
        Position(self.positions.durable.load(SeqCst))
    }

    fn wait_durable(&self, position: Position) -> Result<()> {
        self.positions.wait(position);
        Ok(())
    }

    fn checkpoint(&self) -> Result<()> {
        Ok(())
    }

    fn resize_pool(&self, _frames: usize) -> Result<()> {
        Ok(())
    }

    fn add_pool(&self, _frames: usize) -> Result<()> {
        Ok(())
    }

    fn delete_pool(&self) -> Result<()> {
        Ok(())
    }

    fn log_bytes_since_checkpoint(&self) -> u64 {
        self.positions.last.load(SeqCst)
    }

    fn rekey(&self, _bytes_per_second: u64) -> Result<u64> {
        Ok(0)
    }

    fn pause_rekey(&self, _paused: bool) -> Result<()> {
        Ok(())
    }

    fn is_rekeying(&self) -> bool {
        false
    }

    fn image_copy(&self, _path: Option<&Path>, _bytes_per_second: u64) -> Result<u64> {
        Ok(1)
    }

    fn recover(&self) -> Result<Recovery> {
        Ok(Recovery::default())
    }

    fn budget_bytes(&self) -> u64 {
        0
    }
}

impl Session for FakeSession<'_> {
    fn update_queued(&mut self, key: &Key, change: &mut dyn FnMut(&mut [u8])) -> Result<Position> {
        let mut records = self.0.records.lock().unwrap();
        let missing = || BenchError::subject("fake", "update", "there is no such record");
        change(records.get_mut(key).ok_or_else(missing)?);
        Ok(self.0.positions.append(1))
    }

    fn get(&mut self, key: &Key, see: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let records = self.0.records.lock().unwrap();
        Ok(records.get(key).map(|value| see(value)).is_some())
    }

    fn scan(&mut self, from: &Key, see: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        let records = self.0.records.lock().unwrap();
        records.range(*from..).all(|(key, value)| see(key, value));
        Ok(())
    }
}
