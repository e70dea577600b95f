//! The peers as keepers of a hierarchy: rows keyed by path, read in order and replaced.
//!
//! 1. A unit of work of a peer is what one of Holdfast is: so many calls, of which every eleventh
//!    replaces the row read last, committed durably at its end.
//! 2. A read copies the row and its key into the caller's memory, as a DL/I call does.
//! 3. Behind the last row a peer goes on with the first.

use std::path::Path;

use super::{lmdb, rocksdb, sqlite};
use crate::error::{BenchError, Result};
use crate::ledger::{self, PATH_BYTES_MAX, SEGMENT_BYTES_MAX, Segments};

/// Of so many calls one is a replace.
pub(crate) const CALLS_PER_REPLACE: u64 = 11;

/// A peer that keeps the ledger.
pub(crate) trait PathPeer {
    /// "SQLite" and so on.
    fn name(&self) -> &'static str;
    /// As the library says.
    fn version(&self) -> String;
    /// The settings that matter for a comparison.
    fn settings(&self) -> String;
    /// Loads all segments.
    fn load(&mut self, segments: &mut Segments) -> Result<()>;
    /// A unit of work of `calls` calls from behind the row that `at` is on.
    fn unit(&mut self, at: &mut Row, calls: u64) -> Result<()>;
    /// Rows and sum of all balances.
    fn total(&mut self) -> Result<(u64, u64)>;
}

/// The caller's memory: the row that was read last.
pub(crate) struct Row {
    path: [u8; PATH_BYTES_MAX],
    path_bytes: usize,
    data: [u8; SEGMENT_BYTES_MAX],
    data_bytes: usize,
}

impl Row {
    /// Before the first one.
    pub(crate) fn none() -> Row {
        let (path, data) = ([0; PATH_BYTES_MAX], [0; SEGMENT_BYTES_MAX]);
        Row { path, path_bytes: 0, data, data_bytes: 0 }
    }

    /// Its path; empty before the first one.
    pub(super) fn path(&self) -> &[u8] {
        &self.path[..self.path_bytes]
    }

    /// Its data.
    pub(super) fn data(&self) -> &[u8] {
        &self.data[..self.data_bytes]
    }

    /// Takes a copy; whether the row can be one of a ledger.
    #[must_use]
    pub(super) fn take(&mut self, path: &[u8], data: &[u8]) -> bool {
        let (to_path, to_data) = (self.path.get_mut(..path.len()), self.data.get_mut(..data.len()));
        let (Some(to_path), Some(to_data)) = (to_path, to_data) else { return false };
        to_path.copy_from_slice(path);
        to_data.copy_from_slice(data);
        (self.path_bytes, self.data_bytes) = (path.len(), data.len());
        !path.is_empty()
    }

    /// Changes the data as a replace does.
    pub(super) fn change(&mut self) {
        ledger::change(&mut self.data[..self.data_bytes]);
    }
}

/// What a peer answers if a row is none of a ledger.
pub(super) fn foreign(peer: &'static str) -> BenchError {
    BenchError::subject(peer, "read a row", "it is none of the ledger")
}

/// How a peer is opened in an empty folder of its own, with a cache of so many bytes.
type Opening = fn(&Path, u64) -> Result<Box<dyn PathPeer>>;

const OPENINGS: [(&str, Opening); 3] = [
    (rocksdb::NAME, |folder, cache| Ok(Box::new(rocksdb::Paths::create(folder, cache)?))),
    (sqlite::NAME, |folder, cache| Ok(Box::new(sqlite::Paths::create(folder, cache)?))),
    (lmdb::NAME, |folder, _| Ok(Box::new(lmdb::Paths::create(folder)?))),
];

/// The peers of this machine, loaded, and why the others are missing.
#[derive(Default)]
pub(crate) struct PathPeers {
    /// Open and loaded.
    pub(crate) open: Vec<Box<dyn PathPeer>>,
    /// Not installed: name and reason.
    pub(crate) missing: Vec<(&'static str, String)>,
}

/// Opens every peer that is installed and loads so many ledgers into it.
pub(crate) fn open_all(folder: &Path, cache_bytes: u64, ledgers: u64) -> Result<PathPeers> {
    let mut peers = PathPeers::default();
    for (name, opening) in OPENINGS {
        let own = folder.join(name);
        std::fs::create_dir_all(&own).map_err(BenchError::system("create", &own))?;
        match opening(&own, cache_bytes) {
            Ok(mut peer) => {
                eprintln!("  {name}: loading {} rows", ledgers * ledger::SEGMENTS);
                peer.load(&mut Segments::of(ledgers))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Around the end and over units of work: each replace counts once, and every row is there.
    #[test]
    fn no_peer_loses_a_replace() {
        let folder = std::env::temp_dir().join(format!("holdfast-paths-{}", std::process::id()));
        let mut peers = open_all(&folder, 1 << 20, 10).unwrap();
        assert_eq!(peers.open.len() + peers.missing.len(), OPENINGS.len());
        for peer in &mut peers.open {
            let mut at = Row::none();
            for _ in 0..5 {
                peer.unit(&mut at, 110).unwrap();
            }
            let expected = (10 * ledger::SEGMENTS, 5 * 110 / CALLS_PER_REPLACE);
            assert_eq!(peer.total().unwrap(), expected, "{}", peer.name());
            // 500 reads of 130 rows: the last one is row 109, the fourth segment of ledger 8.
            assert_eq!(at.path(), b"00000008\x020001\x030001", "{}", peer.name());
        }
        drop(peers);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
