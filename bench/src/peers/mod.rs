//! The peers: what else could hold the same records on the same machine in the same run.
//!
//! 1. Every peer stores the same records (see [`crate::workload`]) and runs the same transaction.
//! 2. Every peer is set to be as durable as the benchmark says, and otherwise kindly: memory for
//!    all of its data, no compression, no background work that a short run would have to pay.
//! 3. RocksDB and PostgreSQL group the commits of independent callers by themselves, so "N in
//!    flight" is N callers. SQLite, LMDB and redb cannot; there it is N transactions batched into
//!    one commit by one caller, the best that a group commit could do for them.
//! 4. None of them encrypts.
//! 5. [`KeyedPeer::total`] shows that no update was lost and none was only pretended.

pub(crate) mod brokers;
mod lmdb;
pub(crate) mod openssl;
pub(crate) mod paths;
pub(crate) mod postgres;
#[cfg(feature = "redb")]
mod redb;
mod rocksdb;
mod sqlite;

use std::path::Path;
use std::time::Duration;

use crate::error::{BenchError, Result};
use crate::harness::Work;
use crate::workload::{Deadline, RECORD_BYTES, Random};

/// A peer that runs inside this process.
pub(crate) trait KeyedPeer {
    /// "SQLite" and so on.
    fn name(&self) -> &'static str;
    /// As the library says.
    fn version(&self) -> String;
    /// The settings that matter for a comparison.
    fn settings(&self) -> &'static str;
    /// How `in_flight` comes about: "callers" or "batched".
    fn grouping(&self) -> &'static str;
    /// Loads records 0 .. `records`.
    fn load(&mut self, records: u64) -> Result<()>;
    /// Durable read + update transactions on random records.
    fn commit(&self, in_flight: usize, slice: Duration) -> Result<Work>;
    /// Gets of random records, one caller.
    fn get(&self, slice: Duration) -> Result<Work>;
    /// Scans in key order from the start, again and again, one caller.
    fn scan(&self, slice: Duration) -> Result<Work>;
    /// Number of records and sum of all balances.
    fn total(&self) -> Result<(u64, u64)>;
}

/// How a peer is opened in an empty folder of its own.
type Opening = fn(&Path) -> Result<Box<dyn KeyedPeer>>;

/// The embedded peers by name, and how to open each.
pub(crate) fn embedded() -> Vec<(&'static str, Opening)> {
    vec![
        (rocksdb::NAME, |folder| Ok(Box::new(rocksdb::RocksDb::create(folder)?))),
        (sqlite::NAME, |folder| Ok(Box::new(sqlite::Sqlite::create(folder)?))),
        (lmdb::NAME, |folder| Ok(Box::new(lmdb::Lmdb::create(folder)?))),
        #[cfg(feature = "redb")]
        (redb::NAME, |folder| Ok(Box::new(redb::Redb::create(folder)?))),
        #[cfg(not(feature = "redb"))]
        ("redb", |_| {
            let reason = "this program was built without the feature \"redb\"".into();
            Err(BenchError::Missing { peer: "redb", reason })
        }),
    ]
}

/// The embedded peers of this machine.
#[derive(Default)]
pub(crate) struct Embedded {
    /// Open and loaded.
    pub(crate) open: Vec<Box<dyn KeyedPeer>>,
    /// Not installed: name and reason.
    pub(crate) missing: Vec<(&'static str, String)>,
}

/// Opens every embedded peer that is installed, each in a folder of its own, and loads it.
pub(crate) fn open_all(folder: &Path, records: u64) -> Result<Embedded> {
    let mut peers = Embedded::default();
    for (name, opening) in embedded() {
        let own = folder.join(name);
        std::fs::create_dir_all(&own).map_err(BenchError::system("create", &own))?;
        match opening(&own) {
            Ok(mut peer) => {
                eprintln!("  {name}: loading {records} records");
                peer.load(records)?;
                peers.open.push(peer);
            }
            Err(error @ BenchError::Missing { .. }) => {
                eprintln!("  {error}");
                peers.missing.push((name, error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(peers)
}

/// Gets random records until the slice is over. One get is too short to be timed by itself.
pub(crate) fn gets(
    records: u64,
    slice: Duration,
    mut get: impl FnMut(u64) -> Result<u64>,
) -> Result<Work> {
    let deadline = Deadline::after(slice);
    let mut random = Random::new(2);
    let (mut operations, mut seen) = (0, 0);
    deadline.until(|| {
        for _ in 0..GETS_PER_GLANCE {
            seen ^= get(random.below(records))?;
        }
        operations += GETS_PER_GLANCE;
        Ok(())
    })?;
    std::hint::black_box(seen);
    Ok(Work { operations, bytes: operations * RECORD_BYTES as u64, latency: None })
}

/// Scans from the start, again and again, until the slice is over.
pub(crate) fn scans(
    slice: Duration,
    mut scan: impl FnMut(&mut dyn FnMut(&[u8]) -> bool) -> Result<()>,
) -> Result<Work> {
    let deadline = Deadline::after(slice);
    let (mut operations, mut seen) = (0_u64, 0_u64);
    while !deadline.passed() {
        scan(&mut |value| {
            seen ^= u64::from(value[value.len() - 1]);
            operations += 1;
            !operations.is_multiple_of(RECORDS_PER_GLANCE) || !deadline.passed()
        })?;
    }
    std::hint::black_box(seen);
    Ok(Work { operations, bytes: operations * RECORD_BYTES as u64, latency: None })
}

/// Adds a record to (records, sum of balances).
pub(crate) fn add_to_total(total: &mut (u64, u64), value: &[u8]) {
    let mut balance = [0; 8];
    balance.copy_from_slice(&value[..8]);
    total.0 += 1;
    total.1 += u64::from_le_bytes(balance);
}

/// Looking at the clock costs as much as a tenth of a get.
const GETS_PER_GLANCE: u64 = 256;
/// And as much as several scanned records.
const RECORDS_PER_GLANCE: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    /// Every peer that is installed does what it is measured for: each update counts once, a scan
    /// sees every record. Missing peers are passed over: the benchmark reports them by name.
    #[test]
    fn no_peer_loses_an_update() {
        let folder = std::env::temp_dir().join(format!("holdfast-peers-{}", std::process::id()));
        let slice = Duration::from_millis(30);
        let peers = open_all(&folder, 1_000).unwrap();
        assert_eq!(peers.open.len() + peers.missing.len(), embedded().len());
        for peer in &peers.open {
            let mut updates = 0;
            for in_flight in [1, 8] {
                let work = peer.commit(in_flight, slice).unwrap();
                assert!(work.operations > 0, "{}", peer.name());
                updates += work.operations;
            }
            assert_eq!(peer.total().unwrap(), (1_000, updates), "{}", peer.name());
            assert!(peer.get(slice).unwrap().operations > 0, "{}", peer.name());
            let scanned = peer.scan(slice).unwrap();
            assert_eq!(scanned.bytes, scanned.operations * RECORD_BYTES as u64);
        }
        drop(peers);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
