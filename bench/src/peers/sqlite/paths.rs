//! The ledger in SQLite: a table without row ids, keyed by path.

use super::*;
use crate::ledger::{self, Segments};
use crate::peers::paths::{CALLS_PER_REPLACE, PathPeer, Row, foreign};

/// An open database with the ledger and its statements.
pub(crate) struct Paths {
    base: Sqlite,
    cache_bytes: u64,
    next: *mut c_void,
    replace: *mut c_void,
    add: *mut c_void,
    all: *mut c_void,
}

impl Paths {
    /// A new database in an empty folder.
    pub(crate) fn create(folder: &Path, cache_bytes: u64) -> Result<Paths> {
        let base = Sqlite::create(folder)?;
        base.execute(&format!("PRAGMA cache_size=-{}", cache_bytes >> 10))?;
        base.execute(
            "CREATE TABLE ledger (path BLOB PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID",
        )?;
        Ok(Paths {
            next: base.prepare("SELECT data, path FROM ledger WHERE path > ?1 ORDER BY path")?,
            replace: base.prepare("UPDATE ledger SET data = ?2 WHERE path = ?1")?,
            add: base.prepare("INSERT INTO ledger (path, data) VALUES (?1, ?2)")?,
            all: base.prepare("SELECT data FROM ledger")?,
            base,
            cache_bytes,
        })
    }

    fn bind_blob(&self, statement: *mut c_void, index: c_int, bytes: &[u8]) -> Result<()> {
        // SAFETY: the statement is reset; the bytes stay until it has been stepped or bound anew,
        // which the callers see to.
        let code = unsafe {
            let (at, length) = (bytes.as_ptr().cast(), bytes.len() as c_int);
            self.base.api.sqlite3_bind_blob(statement, index, at, length, ptr::null())
        };
        self.base.expect("bind", code, OK)
    }

    fn reset(&self, statement: *mut c_void) {
        // SAFETY: the statement was prepared on the open handle; a reset is always allowed.
        unsafe { self.base.api.sqlite3_reset(statement) };
    }

    /// Steps `next`; `false` behind the end. SQLite may show a row again that was replaced while
    /// the statement stood on it; such a row is passed over.
    fn step(&self, at: &mut Row) -> Result<bool> {
        loop {
            // SAFETY: the statement was prepared on the open handle.
            let code = unsafe { self.base.api.sqlite3_step(self.next) };
            if code != ROW {
                return self.base.expect("read", code, DONE).map(|()| false);
            }
            let taken = self.base.column(self.next, 1, |path| {
                let is_new = path != at.path();
                is_new.then(|| self.base.column(self.next, 0, |data| at.take(path, data)))
            });
            match taken {
                Some(true) => return Ok(true),
                Some(false) => return Err(foreign(NAME)),
                None => {}
            }
        }
    }

    fn read(&self, at: &mut Row) -> Result<()> {
        if self.step(at)? {
            return Ok(());
        }
        self.reset(self.next);
        self.bind_blob(self.next, 1, &[0])?;
        match self.step(at)? {
            true => Ok(()),
            false => Err(foreign(NAME)),
        }
    }

    fn write(&self, statement: *mut c_void, path: &[u8], data: &[u8]) -> Result<()> {
        self.bind_blob(statement, 1, path)?;
        self.bind_blob(statement, 2, data)?;
        self.base.run(statement)
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
        let usual = SETTINGS.replace("cache_size=-524288; ", "");
        format!("{usual}; cache of {} MiB, WITHOUT ROWID", self.cache_bytes >> 20)
    }

    fn load(&mut self, segments: &mut Segments) -> Result<()> {
        self.base.run(self.base.begin)?;
        while let Some(row) = segments.next() {
            self.write(self.add, row.path, row.data)?;
        }
        self.base.run(self.base.commit)?;
        self.base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    fn unit(&mut self, at: &mut Row, calls: u64) -> Result<()> {
        self.base.run(self.base.begin)?;
        // The search happens with the first step, while this copy is there.
        let from = if at.path().is_empty() { vec![0] } else { at.path().to_vec() };
        self.bind_blob(self.next, 1, &from)?;
        for call in 1..=calls {
            if call % CALLS_PER_REPLACE == 0 {
                at.change();
                self.write(self.replace, at.path(), at.data())?;
            } else {
                self.read(at)?;
            }
        }
        self.reset(self.next);
        self.base.run(self.base.commit)
    }

    fn total(&mut self) -> Result<(u64, u64)> {
        let mut total = (0, 0);
        self.base.each_of(self.all, |data| {
            ledger::add_to_total(&mut total, data);
            true
        })?;
        Ok(total)
    }
}

impl Drop for Paths {
    fn drop(&mut self) {
        // SAFETY: each was prepared once and is finalized once, before the handle closes.
        unsafe {
            for statement in [self.next, self.replace, self.add, self.all] {
                self.base.api.sqlite3_finalize(statement);
            }
        }
    }
}
