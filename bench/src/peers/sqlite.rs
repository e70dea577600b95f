//! SQLite, from Debian's libsqlite3: one connection, write-ahead log, every commit synced.
//!
//! Declarations follow sqlite3.h of SQLite 3.40. The handle is used by one thread at a time.
#![allow(unsafe_code)] // a C library: each call says why it is sound

mod paths;

use std::ffi::{CString, c_char, c_int, c_void};
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

pub(crate) const NAME: &str = "SQLite";

c_functions! {
    /// The functions used.
    Api for "SQLite" in ["libsqlite3.so.0"] {
        fn sqlite3_libversion() -> *const c_char;
        fn sqlite3_open_v2(
            file: *const c_char, handle: *mut *mut c_void, flags: c_int, vfs: *const c_char
        ) -> c_int;
        fn sqlite3_close(handle: *mut c_void) -> c_int;
        fn sqlite3_errmsg(handle: *mut c_void) -> *const c_char;
        fn sqlite3_exec(
            handle: *mut c_void, sql: *const c_char, row: *const c_void, context: *mut c_void,
            message: *mut *mut c_char
        ) -> c_int;
        fn sqlite3_prepare_v2(
            handle: *mut c_void, sql: *const c_char, length: c_int,
            statement: *mut *mut c_void, rest: *mut *const c_char
        ) -> c_int;
        fn sqlite3_bind_int64(statement: *mut c_void, index: c_int, value: i64) -> c_int;
        fn sqlite3_bind_blob(
            statement: *mut c_void, index: c_int, bytes: *const c_void, length: c_int,
            destructor: *const c_void
        ) -> c_int;
        fn sqlite3_step(statement: *mut c_void) -> c_int;
        fn sqlite3_reset(statement: *mut c_void) -> c_int;
        fn sqlite3_column_blob(statement: *mut c_void, column: c_int) -> *const c_void;
        fn sqlite3_column_bytes(statement: *mut c_void, column: c_int) -> c_int;
        fn sqlite3_finalize(statement: *mut c_void) -> c_int;
    }
}

const OPEN_READWRITE_CREATE: c_int = 0x2 | 0x4;
const OK: c_int = 0;
const ROW: c_int = 100;
const DONE: c_int = 101;

/// An open database with its prepared statements.
pub(crate) struct Sqlite {
    api: Api,
    handle: *mut c_void,
    records: u64,
    begin: *mut c_void,
    commit: *mut c_void,
    select: *mut c_void,
    update: *mut c_void,
    insert: *mut c_void,
    scan: *mut c_void,
}

impl Sqlite {
    /// A new database in an empty folder.
    pub(crate) fn create(folder: &Path) -> Result<Sqlite> {
        let api = Api::load()?;
        let file = c_text(&folder.join("records.sqlite").to_string_lossy());
        let mut handle = ptr::null_mut();
        // SAFETY: the name outlives the call and `handle` is a place for one pointer.
        let code = unsafe {
            api.sqlite3_open_v2(file.as_ptr(), &mut handle, OPEN_READWRITE_CREATE, ptr::null())
        };
        let none = ptr::null_mut();
        let mut open = Sqlite {
            api,
            handle,
            records: 0,
            begin: none,
            commit: none,
            select: none,
            update: none,
            insert: none,
            scan: none,
        };
        open.expect("open", code, OK)?;
        for pragma in SETTINGS.split("; ") {
            open.execute(&format!("PRAGMA {pragma}"))?;
        }
        open.execute("CREATE TABLE records (id INTEGER PRIMARY KEY, value BLOB NOT NULL)")?;
        open.begin = open.prepare("BEGIN IMMEDIATE")?;
        open.commit = open.prepare("COMMIT")?;
        open.select = open.prepare("SELECT value FROM records WHERE id = ?1")?;
        open.update = open.prepare("UPDATE records SET value = ?2 WHERE id = ?1")?;
        open.insert = open.prepare("INSERT INTO records (id, value) VALUES (?1, ?2)")?;
        open.scan = open.prepare("SELECT value FROM records ORDER BY id")?;
        Ok(open)
    }

    fn expect(&self, action: &'static str, code: c_int, wanted: c_int) -> Result<()> {
        if code == wanted {
            return Ok(());
        }
        // SAFETY: the handle is open; the message lives until the next call on it.
        let reason = unsafe { text_of(self.api.sqlite3_errmsg(self.handle)) };
        Err(BenchError::subject(NAME, action, format!("{reason} (code {code})")))
    }

    fn execute(&self, sql: &str) -> Result<()> {
        let text = c_text(sql);
        // SAFETY: the handle is open, the text outlives the call, no callback is asked for.
        let code = unsafe {
            let (none, no_message) = (ptr::null_mut(), ptr::null_mut());
            self.api.sqlite3_exec(self.handle, text.as_ptr(), ptr::null(), none, no_message)
        };
        self.expect("execute", code, OK)
    }

    fn prepare(&self, sql: &str) -> Result<*mut c_void> {
        let text = c_text(sql);
        let mut statement = ptr::null_mut();
        // SAFETY: the handle is open, the text outlives the call.
        let code = unsafe {
            let rest = ptr::null_mut();
            self.api.sqlite3_prepare_v2(self.handle, text.as_ptr(), -1, &mut statement, rest)
        };
        self.expect("prepare", code, OK)?;
        Ok(statement)
    }

    /// Runs a statement that returns no row.
    fn run(&self, statement: *mut c_void) -> Result<()> {
        // SAFETY: the statement was prepared on the open handle.
        let code = unsafe { self.api.sqlite3_step(statement) };
        // SAFETY: as above; a reset after a step is always allowed.
        unsafe { self.api.sqlite3_reset(statement) };
        self.expect("run a statement", code, DONE)
    }

    fn bind(&self, statement: *mut c_void, id: u64, value: Option<&[u8]>) -> Result<()> {
        // SAFETY: the statement is reset; a null destructor (SQLITE_STATIC) promises that the
        // bytes stay until the step, which the callers do within the value's life.
        unsafe {
            let code = self.api.sqlite3_bind_int64(statement, 1, id as i64);
            self.expect("bind", code, OK)?;
            if let Some(value) = value {
                let (bytes, length) = (value.as_ptr().cast(), value.len() as c_int);
                let code = self.api.sqlite3_bind_blob(statement, 2, bytes, length, ptr::null());
                self.expect("bind", code, OK)?;
            }
        }
        Ok(())
    }

    /// Gives a column of the statement's row.
    fn column<T>(&self, statement: *mut c_void, column: c_int, see: impl FnOnce(&[u8]) -> T) -> T {
        // SAFETY: the last step returned a row; the blob stays until the next step or reset, and
        // `see` cannot keep the slice.
        unsafe {
            let bytes = self.api.sqlite3_column_blob(statement, column);
            let length = self.api.sqlite3_column_bytes(statement, column) as usize;
            see(if bytes.is_null() {
                &[]
            } else {
                std::slice::from_raw_parts(bytes.cast(), length)
            })
        }
    }

    fn read(&self, id: u64) -> Result<Value> {
        self.bind(self.select, id, None)?;
        // SAFETY: the statement was prepared on the open handle.
        let code = unsafe { self.api.sqlite3_step(self.select) };
        self.expect("read", code, ROW)?;
        let value = self.column(self.select, 0, |bytes| {
            let mut value = [0; VALUE_BYTES];
            value.copy_from_slice(bytes);
            value
        });
        // SAFETY: as above.
        unsafe { self.api.sqlite3_reset(self.select) };
        Ok(value)
    }

    fn read_and_update(&self, id: u64) -> Result<()> {
        let mut value = self.read(id)?;
        workload::add_to_balance(&mut value, 1);
        self.bind(self.update, id, Some(&value))?;
        self.run(self.update)
    }

    /// Reads all records in order until `see` answers false.
    fn each(&self, see: impl FnMut(&[u8]) -> bool) -> Result<()> {
        self.each_of(self.scan, see)
    }

    /// Reads the first column of all rows of a statement until `see` answers false.
    fn each_of(&self, statement: *mut c_void, mut see: impl FnMut(&[u8]) -> bool) -> Result<()> {
        loop {
            // SAFETY: the statement was prepared on the open handle.
            let code = unsafe { self.api.sqlite3_step(statement) };
            let more = code == ROW && self.column(statement, 0, &mut see);
            if !more {
                // SAFETY: as above.
                unsafe { self.api.sqlite3_reset(statement) };
                return if code == ROW { Ok(()) } else { self.expect("scan", code, DONE) };
            }
        }
    }
}

const SETTINGS: &str = "journal_mode=WAL; synchronous=FULL; cache_size=-524288; \
                        locking_mode=EXCLUSIVE; temp_store=MEMORY";

impl KeyedPeer for Sqlite {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> String {
        // SAFETY: returns a constant string.
        unsafe { text_of(self.api.sqlite3_libversion()) }
    }

    fn settings(&self) -> &'static str {
        SETTINGS
    }

    fn grouping(&self) -> &'static str {
        "batched"
    }

    fn load(&mut self, records: u64) -> Result<()> {
        self.run(self.begin)?;
        for id in 0..records {
            self.bind(self.insert, id, Some(&workload::value(id)))?;
            self.run(self.insert)?;
        }
        self.run(self.commit)?;
        self.records = records;
        self.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    fn commit(&self, in_flight: usize, slice: Duration) -> Result<Work> {
        let mut random = Random::new(1);
        let latency = Histogram::default();
        let groups = timed_until(Deadline::after(slice), &latency, || {
            self.run(self.begin)?;
            for _ in 0..in_flight {
                self.read_and_update(random.below(self.records))?;
            }
            self.run(self.commit)
        })?;
        let operations = groups * in_flight as u64;
        Ok(Work { operations, bytes: 0, latency: workload::quantiles(&latency) })
    }

    fn get(&self, slice: Duration) -> Result<Work> {
        super::gets(self.records, slice, |id| self.read(id).map(|value| u64::from(value[8])))
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

impl Drop for Sqlite {
    fn drop(&mut self) {
        let statements =
            [self.begin, self.commit, self.select, self.update, self.insert, self.scan];
        // SAFETY: each statement is null or prepared and finalized once, then the handle closes.
        unsafe {
            for statement in statements {
                self.api.sqlite3_finalize(statement);
            }
            self.api.sqlite3_close(self.handle);
        }
    }
}

fn c_text(text: &str) -> CString {
    CString::new(text).expect("no statement and no path here has a zero byte")
}
