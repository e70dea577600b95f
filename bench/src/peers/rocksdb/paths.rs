//! The ledger in RocksDB: one column family, keyed by path, in transactions.

use super::*;
use crate::ledger::{self, Segments};
use crate::peers::paths::{CALLS_PER_REPLACE, PathPeer, Row, foreign};

/// An open transaction database with the ledger.
pub(crate) struct Paths {
    base: RocksDb,
    cache_bytes: u64,
    /// Null, or the transaction that ran last, to be used again.
    reused: Pointer,
}

impl Paths {
    /// A new database in an empty folder.
    pub(crate) fn create(folder: &Path, cache_bytes: u64) -> Result<Paths> {
        let cache = cache_bytes as usize;
        let base = RocksDb::create_with(folder, cache, WRITE_BUFFER_BYTES / 4)?;
        Ok(Paths { base, cache_bytes, reused: ptr::null_mut() })
    }
}

/// An iterator of a transaction, destroyed before that commits.
struct Steps<'d> {
    api: &'d Api,
    transaction: Pointer,
    iterator: Pointer,
}

impl Steps<'_> {
    /// Copies the row that the iterator is on; `false` behind the end.
    fn copy(&self, row: &mut Row) -> Result<bool> {
        let (mut path_bytes, mut data_bytes) = (0, 0);
        // SAFETY: the iterator lives; key and value stay until its next step.
        let is_row = unsafe {
            if self.api.rocksdb_iter_valid(self.iterator) == 0 {
                return Ok(false);
            }
            let path = self.api.rocksdb_iter_key(self.iterator, &mut path_bytes);
            let data = self.api.rocksdb_iter_value(self.iterator, &mut data_bytes);
            let path = std::slice::from_raw_parts(path.cast(), path_bytes);
            row.take(path, std::slice::from_raw_parts(data.cast(), data_bytes))
        };
        if is_row { Ok(true) } else { Err(foreign(NAME)) }
    }

    /// Stands on the row that was read last.
    fn return_to(&self, at: &mut Row) -> Result<()> {
        let from = at.path().to_vec();
        if from.is_empty() {
            return Ok(());
        }
        // SAFETY: the iterator lives; the key outlives the call.
        unsafe { self.api.rocksdb_iter_seek(self.iterator, from.as_ptr().cast(), from.len()) };
        match self.copy(at)? {
            true => Ok(()),
            false => Err(foreign(NAME)),
        }
    }

    fn next(&self, at: &mut Row) -> Result<()> {
        if !at.path().is_empty() {
            // SAFETY: the iterator is valid: it stands on the row that was read last.
            unsafe { self.api.rocksdb_iter_next(self.iterator) };
            if self.copy(at)? {
                return Ok(());
            }
        }
        // SAFETY: the iterator lives.
        unsafe { self.api.rocksdb_iter_seek_to_first(self.iterator) };
        match self.copy(at)? {
            true => Ok(()),
            false => Err(foreign(NAME)),
        }
    }

    fn replace(&self, row: &Row) -> Result<()> {
        let (path, data) = (row.path(), row.data());
        let mut error = ptr::null_mut();
        // SAFETY: the transaction is this thread's own; key and value outlive the call.
        unsafe {
            let (path_at, data_at) = (path.as_ptr().cast(), data.as_ptr().cast());
            self.api.rocksdb_transaction_put(
                self.transaction,
                path_at,
                path.len(),
                data_at,
                data.len(),
                &mut error,
            );
            check(self.api, "replace", error)
        }
    }
}

impl Drop for Steps<'_> {
    fn drop(&mut self) {
        // SAFETY: created once, destroyed once, before its transaction.
        unsafe { self.api.rocksdb_iter_destroy(self.iterator) };
    }
}

impl PathPeer for Paths {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> String {
        KeyedPeer::version(&self.base)
    }

    fn settings(&self) -> String {
        format!(
            "TransactionDB, transactions with an iterator and puts, sync=1, no compression, 64 MiB \
             write buffers, {} MiB block cache, log files recycled",
            self.cache_bytes >> 20
        )
    }

    fn load(&mut self, segments: &mut Segments) -> Result<()> {
        let row = || segments.next().map(|row| (row.path.to_vec(), row.data.to_vec()));
        self.base.fill(std::iter::from_fn(row))
    }

    fn unit(&mut self, at: &mut Row, calls: u64) -> Result<()> {
        let (api, base) = (&self.base.api, &self.base);
        // SAFETY: `reused` is null or a committed transaction of this thread; the iterator belongs
        // to the transaction that begins here.
        let steps = unsafe {
            let (database, write) = (base.database, base.synced);
            let own = api.rocksdb_transaction_begin(database, write, base.transaction, self.reused);
            self.reused = own;
            let iterator = api.rocksdb_transaction_create_iterator(own, base.reading);
            Steps { api, transaction: own, iterator }
        };
        steps.return_to(at)?;
        for call in 1..=calls {
            if call % CALLS_PER_REPLACE == 0 {
                at.change();
                steps.replace(at)?;
            } else {
                steps.next(at)?;
            }
        }
        drop(steps);
        let mut error = ptr::null_mut();
        // SAFETY: the transaction is live and this thread's own.
        unsafe {
            api.rocksdb_transaction_commit(self.reused, &mut error);
            check(api, "commit", error)
        }
    }

    fn total(&mut self) -> Result<(u64, u64)> {
        let mut total = (0, 0);
        self.base.each(|data| {
            ledger::add_to_total(&mut total, data);
            true
        });
        Ok(total)
    }
}

impl Drop for Paths {
    fn drop(&mut self) {
        if !self.reused.is_null() {
            // SAFETY: this thread's own, destroyed once, before the database closes.
            unsafe { self.base.api.rocksdb_transaction_destroy(self.reused) };
        }
    }
}
