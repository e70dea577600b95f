//! RocksDB, from Debian's librocksdb: pessimistic transactions of independent callers, each
//! committed with a synced write-ahead log. RocksDB groups them by itself.
//!
//! Declarations follow rocksdb/c.h of RocksDB 7.8. The database handle may be used by any number
//! of threads at once; a transaction by one at a time.
#![allow(unsafe_code)] // a C library: each call says why it is sound

mod paths;

use std::ffi::{CString, c_char, c_int, c_uchar, c_void};
use std::path::Path;
use std::ptr;
use std::time::Duration;

use base::stats::Histogram;

pub(crate) use paths::Paths;

use super::KeyedPeer;
use crate::dynamic::{c_functions, text_of};
use crate::error::{BenchError, Result};
use crate::harness::Work;
use crate::raw::on_threads;
use crate::workload::{self, Deadline, Random, VALUE_BYTES, timed_until};

pub(crate) const NAME: &str = "RocksDB";

type Pointer = *mut c_void;

c_functions! {
    /// The functions used.
    Api for "RocksDB" in ["librocksdb.so.7.8", "librocksdb.so.8.9", "librocksdb.so.9.10"] {
        fn rocksdb_options_create() -> Pointer;
        fn rocksdb_options_destroy(options: Pointer);
        fn rocksdb_options_set_create_if_missing(options: Pointer, yes: c_uchar);
        fn rocksdb_options_set_write_buffer_size(options: Pointer, bytes: usize);
        fn rocksdb_options_set_max_write_buffer_number(options: Pointer, number: c_int);
        fn rocksdb_options_set_compression(options: Pointer, kind: c_int);
        fn rocksdb_options_set_recycle_log_file_num(options: Pointer, number: usize);
        fn rocksdb_options_set_block_based_table_factory(options: Pointer, table: Pointer);
        fn rocksdb_block_based_options_create() -> Pointer;
        fn rocksdb_block_based_options_destroy(table: Pointer);
        fn rocksdb_block_based_options_set_block_cache(table: Pointer, cache: Pointer);
        fn rocksdb_cache_create_lru(bytes: usize) -> Pointer;
        fn rocksdb_cache_destroy(cache: Pointer);
        fn rocksdb_transactiondb_options_create() -> Pointer;
        fn rocksdb_transactiondb_options_destroy(options: Pointer);
        fn rocksdb_transaction_options_create() -> Pointer;
        fn rocksdb_transaction_options_destroy(options: Pointer);
        fn rocksdb_writeoptions_create() -> Pointer;
        fn rocksdb_writeoptions_destroy(options: Pointer);
        fn rocksdb_writeoptions_set_sync(options: Pointer, yes: c_uchar);
        fn rocksdb_readoptions_create() -> Pointer;
        fn rocksdb_readoptions_destroy(options: Pointer);
        fn rocksdb_flushoptions_create() -> Pointer;
        fn rocksdb_flushoptions_destroy(options: Pointer);
        fn rocksdb_transactiondb_open(
            options: Pointer, transactions: Pointer, path: *const c_char,
            error: *mut *mut c_char
        ) -> Pointer;
        fn rocksdb_transactiondb_close(database: Pointer);
        fn rocksdb_transactiondb_flush(
            database: Pointer, options: Pointer, error: *mut *mut c_char
        );
        fn rocksdb_transactiondb_write(
            database: Pointer, options: Pointer, batch: Pointer, error: *mut *mut c_char
        );
        fn rocksdb_transactiondb_get(
            database: Pointer, options: Pointer, key: *const c_char, key_bytes: usize,
            value_bytes: *mut usize, error: *mut *mut c_char
        ) -> *mut c_char;
        fn rocksdb_transactiondb_create_iterator(database: Pointer, options: Pointer) -> Pointer;
        fn rocksdb_transaction_create_iterator(
            transaction: Pointer, options: Pointer
        ) -> Pointer;
        fn rocksdb_iter_seek(iterator: Pointer, key: *const c_char, key_bytes: usize);
        fn rocksdb_iter_key(iterator: Pointer, bytes: *mut usize) -> *const c_char;
        fn rocksdb_iter_seek_to_first(iterator: Pointer);
        fn rocksdb_iter_valid(iterator: Pointer) -> c_uchar;
        fn rocksdb_iter_next(iterator: Pointer);
        fn rocksdb_iter_value(iterator: Pointer, bytes: *mut usize) -> *const c_char;
        fn rocksdb_iter_destroy(iterator: Pointer);
        fn rocksdb_writebatch_create() -> Pointer;
        fn rocksdb_writebatch_destroy(batch: Pointer);
        fn rocksdb_writebatch_clear(batch: Pointer);
        fn rocksdb_writebatch_put(
            batch: Pointer, key: *const c_char, key_bytes: usize, value: *const c_char,
            value_bytes: usize
        );
        fn rocksdb_transaction_begin(
            database: Pointer, write: Pointer, options: Pointer, reused: Pointer
        ) -> Pointer;
        fn rocksdb_transaction_get_for_update(
            transaction: Pointer, options: Pointer, key: *const c_char, key_bytes: usize,
            value_bytes: *mut usize, exclusive: c_uchar, error: *mut *mut c_char
        ) -> *mut c_char;
        fn rocksdb_transaction_put(
            transaction: Pointer, key: *const c_char, key_bytes: usize, value: *const c_char,
            value_bytes: usize, error: *mut *mut c_char
        );
        fn rocksdb_transaction_commit(transaction: Pointer, error: *mut *mut c_char);
        fn rocksdb_transaction_destroy(transaction: Pointer);
        fn rocksdb_free(memory: Pointer);
    }
}

const CACHE_BYTES: usize = 512 << 20;
const WRITE_BUFFER_BYTES: usize = 256 << 20;
const RECORDS_PER_BATCH: u64 = 10_000;

/// An open transaction database and its options.
pub(crate) struct RocksDb {
    api: Api,
    database: Pointer,
    synced: Pointer,
    unsynced: Pointer,
    reading: Pointer,
    transaction: Pointer,
    records: u64,
}

// SAFETY: RocksDB documents the database and constant options as safe for use by many threads; the
// pointers themselves change only in `create` and `drop`, which own the value.
unsafe impl Sync for RocksDb {}

impl RocksDb {
    /// A new database in an empty folder.
    pub(crate) fn create(folder: &Path) -> Result<RocksDb> {
        RocksDb::create_with(folder, CACHE_BYTES, WRITE_BUFFER_BYTES)
    }

    /// The same with a cache and write buffers of other sizes.
    fn create_with(folder: &Path, cache_bytes: usize, buffer_bytes: usize) -> Result<RocksDb> {
        let api = Api::load()?;
        let path = CString::new(folder.to_string_lossy().as_bytes())
            .expect("a path that was just created has no zero byte");
        let mut error = ptr::null_mut();
        // SAFETY: options are created, set, used and destroyed here in the order of the header's
        // examples; the database keeps shared copies of what it needs.
        unsafe {
            let options = api.rocksdb_options_create();
            api.rocksdb_options_set_create_if_missing(options, 1);
            api.rocksdb_options_set_write_buffer_size(options, buffer_bytes);
            api.rocksdb_options_set_max_write_buffer_number(options, 4);
            api.rocksdb_options_set_compression(options, 0);
            api.rocksdb_options_set_recycle_log_file_num(options, 4);
            let table = api.rocksdb_block_based_options_create();
            let cache = api.rocksdb_cache_create_lru(cache_bytes);
            api.rocksdb_block_based_options_set_block_cache(table, cache);
            api.rocksdb_options_set_block_based_table_factory(options, table);
            let locks = api.rocksdb_transactiondb_options_create();
            let database =
                api.rocksdb_transactiondb_open(options, locks, path.as_ptr(), &mut error);
            api.rocksdb_transactiondb_options_destroy(locks);
            api.rocksdb_block_based_options_destroy(table);
            api.rocksdb_cache_destroy(cache);
            api.rocksdb_options_destroy(options);
            check(&api, "open", error)?;
            let synced = api.rocksdb_writeoptions_create();
            api.rocksdb_writeoptions_set_sync(synced, 1);
            Ok(RocksDb {
                api,
                database,
                synced,
                unsynced: api.rocksdb_writeoptions_create(),
                reading: api.rocksdb_readoptions_create(),
                transaction: api.rocksdb_transaction_options_create(),
                records: 0,
            })
        }
    }

    /// Writes records in batches, and out of the write buffers.
    fn fill<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        &self,
        records: impl Iterator<Item = (K, V)>,
    ) -> Result<()> {
        let (api, database) = (&self.api, self.database);
        let mut error = ptr::null_mut();
        // SAFETY: the batch is this thread's own, destroyed once; puts copy key and value.
        unsafe {
            let batch = api.rocksdb_writebatch_create();
            let mut records = records.peekable();
            let mut held = 0;
            while let Some((key, value)) = records.next() {
                let (key, value) = (key.as_ref(), value.as_ref());
                let (key_at, value_at) = (key.as_ptr().cast(), value.as_ptr().cast());
                api.rocksdb_writebatch_put(batch, key_at, key.len(), value_at, value.len());
                held += 1;
                if held == RECORDS_PER_BATCH || records.peek().is_none() {
                    api.rocksdb_transactiondb_write(database, self.unsynced, batch, &mut error);
                    check(api, "load", error)?;
                    api.rocksdb_writebatch_clear(batch);
                    held = 0;
                }
            }
            api.rocksdb_writebatch_destroy(batch);
            let flush = api.rocksdb_flushoptions_create();
            api.rocksdb_transactiondb_flush(database, flush, &mut error);
            api.rocksdb_flushoptions_destroy(flush);
            check(api, "flush", error)
        }
    }

    /// One transaction; `reused` is null or a committed transaction of this thread, and becomes
    /// the one that ran.
    fn read_and_update(&self, reused: &mut Pointer, id: u64) -> Result<()> {
        let key = workload::key(id);
        let (key, key_bytes) = (key.as_ptr().cast(), key.len());
        let mut error = ptr::null_mut();
        let mut length = 0;
        // SAFETY: the transaction is this thread's own; key and value outlive the calls; memory
        // that the library handed out is freed by it, once.
        unsafe {
            let api = &self.api;
            let (database, write) = (self.database, self.synced);
            let own = api.rocksdb_transaction_begin(database, write, self.transaction, *reused);
            *reused = own;
            let found = api.rocksdb_transaction_get_for_update(
                own,
                self.reading,
                key,
                key_bytes,
                &mut length,
                1,
                &mut error,
            );
            check(api, "get for update", error)?;
            let mut value = copy(api, found, length)?;
            workload::add_to_balance(&mut value, 1);
            let bytes = value.as_ptr().cast();
            api.rocksdb_transaction_put(own, key, key_bytes, bytes, value.len(), &mut error);
            check(api, "put", error)?;
            api.rocksdb_transaction_commit(own, &mut error);
            check(api, "commit", error)
        }
    }

    /// Reads all values in key order until `see` answers false.
    fn each(&self, mut see: impl FnMut(&[u8]) -> bool) {
        // SAFETY: the iterator is created, used by this thread alone and destroyed here; a value's
        // bytes stay until the next step, and `see` cannot keep them.
        unsafe {
            let api = &self.api;
            let iterator = api.rocksdb_transactiondb_create_iterator(self.database, self.reading);
            api.rocksdb_iter_seek_to_first(iterator);
            while api.rocksdb_iter_valid(iterator) != 0 {
                let mut length = 0;
                let bytes = api.rocksdb_iter_value(iterator, &mut length);
                if !see(std::slice::from_raw_parts(bytes.cast(), length)) {
                    break;
                }
                api.rocksdb_iter_next(iterator);
            }
            api.rocksdb_iter_destroy(iterator);
        }
    }
}

/// Turns the library's error string into an error, and frees it.
///
/// # Safety
///
/// `error` is null or a string that the library handed out.
unsafe fn check(api: &Api, action: &'static str, error: *mut c_char) -> Result<()> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the caller promises it; the text is copied before it is freed.
    let reason = unsafe {
        let reason = text_of(error);
        api.rocksdb_free(error.cast());
        reason
    };
    Err(BenchError::subject(NAME, action, reason))
}

/// Copies a value that the library handed out, and frees it.
///
/// # Safety
///
/// `found` is null or points to `length` bytes that the library handed out.
unsafe fn copy(api: &Api, found: *mut c_char, length: usize) -> Result<workload::Value> {
    let mut value = [0; VALUE_BYTES];
    if found.is_null() || length != VALUE_BYTES {
        return Err(BenchError::subject(NAME, "get", format!("a value of {length} bytes")));
    }
    // SAFETY: the caller promises it; it is freed once, here.
    unsafe {
        value.copy_from_slice(std::slice::from_raw_parts(found.cast(), length));
        api.rocksdb_free(found.cast());
    }
    Ok(value)
}

impl KeyedPeer for RocksDb {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> String {
        // The C interface of 7.8 has no function for it; the name of the library has it.
        "Debian's librocksdb".into()
    }

    fn settings(&self) -> &'static str {
        "TransactionDB, get_for_update + put, sync=1, no compression, 256 MiB write buffers, \
         512 MiB block cache, log files recycled"
    }

    fn grouping(&self) -> &'static str {
        "callers"
    }

    fn load(&mut self, records: u64) -> Result<()> {
        self.fill((0..records).map(|id| (workload::key(id), workload::value(id))))?;
        self.records = records;
        Ok(())
    }

    fn commit(&self, in_flight: usize, slice: Duration) -> Result<Work> {
        let latency = Histogram::default();
        let deadline = Deadline::after(slice);
        let caller = |number: usize| -> Result<u64> {
            let mut random = Random::new(number as u64);
            let mut transaction = ptr::null_mut();
            let done = timed_until(deadline, &latency, || {
                self.read_and_update(&mut transaction, random.below(self.records))
            });
            if !transaction.is_null() {
                // SAFETY: this thread's own, ended or to be rolled back by its destruction.
                unsafe { self.api.rocksdb_transaction_destroy(transaction) };
            }
            done
        };
        let operations = on_threads(in_flight, &caller)?;
        Ok(Work { operations, bytes: 0, latency: workload::quantiles(&latency) })
    }

    fn get(&self, slice: Duration) -> Result<Work> {
        super::gets(self.records, slice, |id| {
            let key = workload::key(id);
            let (mut length, mut error) = (0, ptr::null_mut());
            // SAFETY: the key outlives the call; the value is freed by `copy`.
            let value = unsafe {
                let key_at = key.as_ptr().cast();
                let found = self.api.rocksdb_transactiondb_get(
                    self.database,
                    self.reading,
                    key_at,
                    key.len(),
                    &mut length,
                    &mut error,
                );
                check(&self.api, "get", error)?;
                copy(&self.api, found, length)?
            };
            Ok(u64::from(value[8]))
        })
    }

    fn scan(&self, slice: Duration) -> Result<Work> {
        super::scans(slice, |see| {
            self.each(see);
            Ok(())
        })
    }

    fn total(&self) -> Result<(u64, u64)> {
        let mut total = (0, 0);
        self.each(|value| {
            super::add_to_total(&mut total, value);
            true
        });
        Ok(total)
    }
}

impl Drop for RocksDb {
    fn drop(&mut self) {
        // SAFETY: each was created once; no thread uses them any more, for self is owned here.
        unsafe {
            self.api.rocksdb_transactiondb_close(self.database);
            self.api.rocksdb_writeoptions_destroy(self.synced);
            self.api.rocksdb_writeoptions_destroy(self.unsynced);
            self.api.rocksdb_readoptions_destroy(self.reading);
            self.api.rocksdb_transaction_options_destroy(self.transaction);
        }
    }
}
