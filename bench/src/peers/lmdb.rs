//! LMDB, from Debian's liblmdb: one writer, copy on write, every commit synced.
//!
//! Declarations follow lmdb.h of LMDB 0.9. The environment is used by one thread at a time.
#![allow(unsafe_code)] // a C library: each call says why it is sound

mod paths;

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr;
use std::time::Duration;

use base::stats::Histogram;

pub(crate) use paths::Paths;

use super::KeyedPeer;
use crate::dynamic::{c_functions, text_of};
use crate::error::{BenchError, Result};
use crate::harness::Work;
use crate::workload::{self, Deadline, Random, VALUE_BYTES, Value, timed_until};

pub(crate) const NAME: &str = "LMDB";

/// `MDB_val`.
#[repr(C)]
struct Slice {
    length: usize,
    bytes: *const c_void,
}

c_functions! {
    /// The functions used.
    Api for "LMDB" in ["liblmdb.so.0"] {
        fn mdb_version(
            major: *mut c_int, minor: *mut c_int, patch: *mut c_int
        ) -> *const c_char;
        fn mdb_strerror(code: c_int) -> *const c_char;
        fn mdb_env_create(environment: *mut *mut c_void) -> c_int;
        fn mdb_env_set_mapsize(environment: *mut c_void, bytes: usize) -> c_int;
        fn mdb_env_open(
            environment: *mut c_void, path: *const c_char, flags: c_uint, mode: c_uint
        ) -> c_int;
        fn mdb_env_close(environment: *mut c_void);
        fn mdb_txn_begin(
            environment: *mut c_void, parent: *mut c_void, flags: c_uint,
            transaction: *mut *mut c_void
        ) -> c_int;
        fn mdb_txn_commit(transaction: *mut c_void) -> c_int;
        fn mdb_txn_abort(transaction: *mut c_void);
        fn mdb_dbi_open(
            transaction: *mut c_void, name: *const c_char, flags: c_uint, dbi: *mut c_uint
        ) -> c_int;
        fn mdb_get(
            transaction: *mut c_void, dbi: c_uint, key: *const Slice, data: *mut Slice
        ) -> c_int;
        fn mdb_put(
            transaction: *mut c_void, dbi: c_uint, key: *const Slice, data: *const Slice,
            flags: c_uint
        ) -> c_int;
        fn mdb_cursor_open(
            transaction: *mut c_void, dbi: c_uint, cursor: *mut *mut c_void
        ) -> c_int;
        fn mdb_cursor_get(
            cursor: *mut c_void, key: *mut Slice, data: *mut Slice, operation: c_uint
        ) -> c_int;
        fn mdb_cursor_put(
            cursor: *mut c_void, key: *const Slice, data: *const Slice, flags: c_uint
        ) -> c_int;
        fn mdb_cursor_close(cursor: *mut c_void);
    }
}

const CREATE: c_uint = 0x40000;
const READ_ONLY: c_uint = 0x20000;
const APPEND: c_uint = 0x20000;
const NEXT: c_uint = 8;
const NOT_FOUND: c_int = -30798;
const MAP_BYTES: usize = 4 << 30;
/// Gets that share a read transaction; beginning one is not what is measured.
const GETS_PER_TRANSACTION: u64 = 256;

/// An open environment with its one database.
pub(crate) struct Lmdb {
    api: Api,
    environment: *mut c_void,
    database: c_uint,
    records: u64,
}

/// A transaction that is aborted unless it was committed.
struct Transaction<'a> {
    owner: &'a Lmdb,
    handle: *mut c_void,
}

impl Lmdb {
    /// A new environment in an empty folder.
    pub(crate) fn create(folder: &Path) -> Result<Lmdb> {
        let api = Api::load()?;
        let path = CString::new(folder.to_string_lossy().as_bytes())
            .expect("a path that was just created has no zero byte");
        let mut environment = ptr::null_mut();
        // SAFETY: a place for one pointer.
        let code = unsafe { api.mdb_env_create(&mut environment) };
        let mut open = Lmdb { api, environment, database: 0, records: 0 };
        open.expect("create an environment", code)?;
        // SAFETY: the environment was created and not yet opened; the path outlives the call.
        unsafe {
            open.expect("set its size", api.mdb_env_set_mapsize(environment, MAP_BYTES))?;
            open.expect("open", api.mdb_env_open(environment, path.as_ptr(), 0, 0o600))?;
        }
        let transaction = open.begin(0)?;
        let mut database = 0;
        // SAFETY: a live write transaction and a place for the handle; null is the main database.
        let code =
            unsafe { api.mdb_dbi_open(transaction.handle, ptr::null(), CREATE, &mut database) };
        open.expect("open the database", code)?;
        transaction.commit()?;
        open.database = database;
        Ok(open)
    }

    fn expect(&self, action: &'static str, code: c_int) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: returns a constant string, or strerror's for codes of the system.
        let reason = unsafe { text_of(self.api.mdb_strerror(code)) };
        Err(BenchError::subject(NAME, action, reason))
    }

    fn begin(&self, flags: c_uint) -> Result<Transaction<'_>> {
        let mut handle = ptr::null_mut();
        // SAFETY: the environment is open; this thread has no other transaction open.
        let code = unsafe {
            self.api.mdb_txn_begin(self.environment, ptr::null_mut(), flags, &mut handle)
        };
        self.expect("begin", code)?;
        Ok(Transaction { owner: self, handle })
    }

    /// Reads all values in key order until `see` answers false.
    fn each(&self, mut see: impl FnMut(&[u8]) -> bool) -> Result<()> {
        let transaction = self.begin(READ_ONLY)?;
        let mut cursor = ptr::null_mut();
        // SAFETY: a live transaction and a place for the cursor.
        let code =
            unsafe { self.api.mdb_cursor_open(transaction.handle, self.database, &mut cursor) };
        self.expect("open a cursor", code)?;
        let (mut key, mut data) = (Slice::empty(), Slice::empty());
        let code = loop {
            // SAFETY: the cursor is open; key and data are places for slices into the map, which
            // stay valid while the transaction lives.
            let code = unsafe { self.api.mdb_cursor_get(cursor, &mut key, &mut data, NEXT) };
            // SAFETY: as above.
            if code != 0 || !see(unsafe { data.as_bytes() }) {
                break code;
            }
        };
        // SAFETY: opened above and closed once, before its read transaction ends.
        unsafe { self.api.mdb_cursor_close(cursor) };
        if code == NOT_FOUND { Ok(()) } else { self.expect("scan", code) }
    }
}

impl Transaction<'_> {
    fn get<T>(&self, id: u64, see: impl FnOnce(&[u8]) -> T) -> Result<T> {
        let key = workload::key(id);
        let mut data = Slice::empty();
        // SAFETY: the transaction lives; the key outlives the call.
        let code = unsafe {
            let (key, database) = (Slice::of(&key), self.owner.database);
            self.owner.api.mdb_get(self.handle, database, &key, &mut data)
        };
        self.owner.expect("get", code)?;
        // SAFETY: the slice lies in the map until the next write; `see` cannot keep it.
        Ok(see(unsafe { data.as_bytes() }))
    }

    fn put(&self, id: u64, value: &Value, flags: c_uint) -> Result<()> {
        let key = workload::key(id);
        // SAFETY: the transaction lives; key and value outlive the call, which copies them.
        let code = unsafe {
            let (key, data) = (Slice::of(&key), Slice::of(value));
            self.owner.api.mdb_put(self.handle, self.owner.database, &key, &data, flags)
        };
        self.owner.expect("put", code)
    }

    fn read_and_update(&self, id: u64) -> Result<()> {
        let mut value = self.get(id, |bytes| {
            let mut value = [0; VALUE_BYTES];
            value.copy_from_slice(bytes);
            value
        })?;
        workload::add_to_balance(&mut value, 1);
        self.put(id, &value, 0)
    }

    fn commit(mut self) -> Result<()> {
        let handle = std::mem::replace(&mut self.handle, ptr::null_mut());
        // SAFETY: the handle is live and given up here, whatever the outcome.
        let code = unsafe { self.owner.api.mdb_txn_commit(handle) };
        self.owner.expect("commit", code)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: live, neither committed nor aborted before.
            unsafe { self.owner.api.mdb_txn_abort(self.handle) };
        }
    }
}

impl Slice {
    fn empty() -> Slice {
        Slice { length: 0, bytes: ptr::null() }
    }

    fn of(bytes: &[u8]) -> Slice {
        Slice { length: bytes.len(), bytes: bytes.as_ptr().cast() }
    }

    /// # Safety
    ///
    /// The library must have filled this slice, and its transaction must outlive the result.
    unsafe fn as_bytes<'a>(&self) -> &'a [u8] {
        // SAFETY: the caller promises it.
        unsafe { std::slice::from_raw_parts(self.bytes.cast(), self.length) }
    }
}

impl KeyedPeer for Lmdb {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> String {
        let none = ptr::null_mut();
        // SAFETY: all three places may be null; returns a constant string.
        unsafe { text_of(self.api.mdb_version(none, none, none)) }
    }

    fn settings(&self) -> &'static str {
        "no flags: fdatasync at each commit; 4 GiB map"
    }

    fn grouping(&self) -> &'static str {
        "batched"
    }

    fn load(&mut self, records: u64) -> Result<()> {
        let transaction = self.begin(0)?;
        for id in 0..records {
            transaction.put(id, &workload::value(id), APPEND)?;
        }
        transaction.commit()?;
        self.records = records;
        Ok(())
    }

    fn commit(&self, in_flight: usize, slice: Duration) -> Result<Work> {
        let mut random = Random::new(1);
        let latency = Histogram::default();
        let groups = timed_until(Deadline::after(slice), &latency, || {
            let transaction = self.begin(0)?;
            for _ in 0..in_flight {
                transaction.read_and_update(random.below(self.records))?;
            }
            transaction.commit()
        })?;
        let operations = groups * in_flight as u64;
        Ok(Work { operations, bytes: 0, latency: workload::quantiles(&latency) })
    }

    fn get(&self, slice: Duration) -> Result<Work> {
        let mut transaction = self.begin(READ_ONLY)?;
        let mut left = GETS_PER_TRANSACTION;
        super::gets(self.records, slice, |id| {
            if left == 0 {
                // SAFETY: the read transaction is live, and given up before the next begins.
                unsafe { self.api.mdb_txn_abort(transaction.handle) };
                transaction.handle = ptr::null_mut();
                transaction = self.begin(READ_ONLY)?;
                left = GETS_PER_TRANSACTION;
            }
            left -= 1;
            transaction.get(id, |bytes| u64::from(bytes[8]))
        })
    }

    fn scan(&self, slice: Duration) -> Result<Work> {
        super::scans(slice, |see| self.each(see))
    }

    fn total(&self) -> Result<(u64, u64)> {
        let mut total = (0, 0);
        self.each(|value| {
            super::add_to_total(&mut total, value);
            true
        })?;
        Ok(total)
    }
}

impl Drop for Lmdb {
    fn drop(&mut self) {
        // SAFETY: created once, closed once; all transactions borrowed self and are gone.
        unsafe { self.api.mdb_env_close(self.environment) };
    }
}
